// RUN: weft-bench %s --threads 1,2 --rounds 1 --kernels --json %t.json | filecheck %s
// RUN: filecheck %s --check-prefix=JSON --input-file %t.json

// CHECK: model threads compile s weft ms min
// CHECK-NEXT: bench 1
// CHECK-NEXT: bench 2
// CHECK: bench, 1 thread, each kernel alone on warm buffers
// CHECK-NEXT: kernel calls ms total ms share GFLOP/s GB/s
// CHECK: fused_exp_nn_relu 1
// CHECK: all kernels 2
// CHECK: bench, 2 threads
// JSON: "processor"
// JSON: "target": "llvm -mcpu=native"
// JSON: "median_ms"
// JSON: "flops": 1024
relay.func @main(%x: tensor<512xf32>) -> tensor<512xf32> {
  %0 = relay.exp %x : tensor<512xf32>
  %1 = relay.nn.relu %0 : tensor<512xf32>
  %2 = relay.annotation.stop_fusion %1 : tensor<512xf32>
  %3 = relay.negative %2 : tensor<512xf32>
  relay.return %3 : tensor<512xf32>
}
