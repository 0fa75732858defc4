// RUN: weft-opt %s --compile-from=tir --compile-to=loops | weft-opt -p convert-loops-to-llvm,convert-control-to-llvm | filecheck %s
// RUN: weft-opt %s --compile-from=tir --compile-to=loops | weft-opt -p convert-loops-to-llvm,convert-control-to-llvm | weft-opt | filecheck %s --check-prefix=HEAP

// HEAP-DAG: llvm.func internal @weft_heap_new(
// HEAP-DAG: llvm.func internal @weft_heap_release(
// HEAP-DAG: llvm.func internal @weft_heap_end(
// HEAP-DAG: llvm.func internal @weft_heap_grow(

// The constant that the program hands on has a function that says where it is.

// CHECK:       llvm.func internal @constant_0_address() -> i64

// The entry says what the program takes and gives.

// CHECK:       llvm.func @weft_run(%inputs: !llvm.ptr, %outputs: !llvm.ptr, %{{arena[_0-9]*}}: !llvm.ptr, %{{num_threads[_0-9]*}}: i64) -> i64
// CHECK-NEXT:    weft.inputs = [{name = "c", type = tensor<i1>}, {name = "x", type = tensor<4xf32>}]
// CHECK-NEXT:    weft.outputs = [{name = "out", type = tensor<4xf32>}]

// A machine, frames, a value for each input, and one for the constant.

// CHECK:         llvm.call @weft_heap_grow
// CHECK:         llvm.call @weft_heap_new
// CHECK:         llvm.call @weft_heap_new
// CHECK:         llvm.call @constant_0_address

// The condition is looked at. In either branch what is not needed there is released.

// CHECK:         llvm.icmp "ne" %{{.*}} : i8
// CHECK:         llvm.call @weft_heap_release
// CHECK:         llvm.call @main_segment_run
// CHECK:         llvm.call @weft_heap_release
// CHECK:         llvm.call @memcpy
// CHECK:         llvm.call @weft_heap_end
// CHECK:         llvm.return

// The segment has an entry of its own, which threads run.

// CHECK:       llvm.func internal @main_segment_run(
// CHECK:         llvm.call @weft_pool_2_run
relay.func @main(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %k = relay.constant dense<1.0> : tensor<4xf32>
  %y = relay.if %c : (tensor<i1>) -> tensor<4xf32> {
    %0 = relay.call_lowered @double(%x) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %0 : tensor<4xf32>
  } else {
    relay.yield %k : tensor<4xf32>
  }
  relay.return %y : tensor<4xf32>
}
tir.prim_func @double(%p0: memref<4xf32>, %out: memref<4xf32>) {
  tir.for %i = 0 to 4 {
    tir.block @add(%vi: spatial 4) = [%i] reads(%p0[%vi] : memref<4xf32>) writes(%out[%vi] : memref<4xf32>) {
      %0 = memref.load %p0[%vi] : memref<4xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %out[%vi] : memref<4xf32>
    }
  }
}
