// RUN: weft-opt %s -p verify-gpu-code | filecheck %s
// RUN: not weft-opt %s -p 'verify-gpu-code{max-threads-per-block=16}' 2>&1 | filecheck %s --check-prefix=FEW

// FEW: error: 'tir.for': a block has 32 threads, and the target has at most 16

// CHECK-LABEL: tir.prim_func @a_launch_within_the_limits_stays_as_it_is
// CHECK-NEXT:    tir.for thread_binding "blockIdx.x" %b = 0 to 2 {
// CHECK-NEXT:      tir.for thread_binding "threadIdx.x" %t = 0 to 32 {
tir.prim_func @a_launch_within_the_limits_stays_as_it_is(%x: memref<64xf32>, %y: memref<64xf32>) {
  tir.for thread_binding "blockIdx.x" %b = 0 to 2 {
    tir.for thread_binding "threadIdx.x" %t = 0 to 32 {
      tir.block @copy(%v: spatial 64) = [%b * 32 + %t] reads(%x[%v] : memref<64xf32>) writes(%y[%v] : memref<64xf32>) {
      %0 = memref.load %x[%v] : memref<64xf32>
      memref.store %0, %y[%v] : memref<64xf32>
    }
    }
  }
}
