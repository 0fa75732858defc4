// RUN: weft-bench %s --threads 1,2 --rounds 1 | filecheck %s
// RUN: weft-bench %s --threads 1 --rounds 1 --kernels --json %t.json | filecheck %s --check-prefix=KERNELS
// RUN: filecheck %s --check-prefix=JSON --input-file %t.json
// RUN: weft-bench %s --threads 1 --rounds 1 --kernels --warm | filecheck %s --check-prefix=WARM

// CHECK: model threads compile s weft ms min
// CHECK-NEXT: bench 1
// CHECK-NEXT: bench 2
// KERNELS: bench, 1 thread, kernels within the graph
// KERNELS-NEXT: kernel calls ms total ms share GFLOP/s GB/s of limit
// KERNELS: fused_exp_nn_relu 1
// KERNELS: all kernels 2
// KERNELS-NEXT: limits measured: {{[0-9]+}} GFLOP/s in float32; GB/s read from memory of 16 KiB {{[0-9]+}},
// WARM: bench, 1 thread, each kernel alone on warm buffers
// WARM: fused_exp_nn_relu 1
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
