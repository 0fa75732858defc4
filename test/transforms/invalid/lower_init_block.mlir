// RUN: weft-opt %s -p lower-init-block --verify-diagnostics

tir.prim_func @threads_share_a_reduction(%x: memref<4x8xf32>, %y: memref<4xf32>) {
  tir.for %i = 0 to 4 {
    tir.for thread_binding "threadIdx.x" %k = 0 to 8 {
      // expected-error @+1 {{threads share the reduction of block @sum: none of its steps is the first}}
      tir.block @sum(%v: spatial 4, %s: reduce 8) = [%i, %k]
          reads(%x[%v, %s] : memref<4x8xf32>) writes(%y[%v] : memref<4xf32>) {
        %0 = memref.load %y[%v] : memref<4xf32>
        %1 = memref.load %x[%v, %s] : memref<4x8xf32>
        %2 = arith.addf %0, %1 : f32
        memref.store %2, %y[%v] : memref<4xf32>
      } init(%w, %t) {
        %3 = arith.constant 0.0 : f32
        memref.store %3, %y[%w] : memref<4xf32>
      }
    }
  }
}
