// RUN: weft-opt %s -p unify-thread-binding | filecheck %s

// CHECK-LABEL: tir.prim_func @loops_along_one_axis_are_one_loop
// CHECK:         tir.for thread_binding "blockIdx.x" %i = 0 to 8 {
// CHECK-NEXT:      tir.for thread_binding "threadIdx.x" %t = 0 to 4 {
// CHECK-NEXT:        tir.for %k = 0 to 2 {
// CHECK-NEXT:          tir.block @to(%v: spatial 8, %w: spatial 8) = [%i, %t * 2 + %k]
// CHECK:             tir.for %k_1 = 0 to 2 {
// CHECK-NEXT:          tir.block @from(%v_1: spatial 8, %w_1: spatial 8) = [%i, %t * 2 + %k_1]
tir.prim_func @loops_along_one_axis_are_one_loop(%x: memref<8x8xf32>, %y: memref<8x8xf32>, %z: memref<8x8xf32>) {
  tir.for thread_binding "blockIdx.x" %i = 0 to 8 {
    tir.for thread_binding "threadIdx.x" %t = 0 to 4 {
      tir.for %k = 0 to 2 {
        tir.block @to(%v: spatial 8, %w: spatial 8) = [%i, %t * 2 + %k] reads(%x[%v, %w] : memref<8x8xf32>) writes(%y[%v, %w] : memref<8x8xf32>) {
          %0 = memref.load %x[%v, %w] : memref<8x8xf32>
          memref.store %0, %y[%v, %w] : memref<8x8xf32>
        }
      }
    }
    tir.for thread_binding "threadIdx.x" %s = 0 to 4 {
      tir.for %k = 0 to 2 {
        tir.block @from(%v: spatial 8, %w: spatial 8) = [%i, %s * 2 + %k] reads(%y[%v, %w] : memref<8x8xf32>) writes(%z[%v, %w] : memref<8x8xf32>) {
          %0 = memref.load %y[%v, %w] : memref<8x8xf32>
          memref.store %0, %z[%v, %w] : memref<8x8xf32>
        }
      }
    }
  }
}

// Each launch has its own axes.
// CHECK-LABEL: tir.prim_func @launches_stay_apart
// CHECK:         tir.for thread_binding "threadIdx.x" %t = 0 to 4 {
// CHECK:         tir.for thread_binding "threadIdx.x" %s = 0 to 8 {
tir.prim_func @launches_stay_apart(%x: memref<4xf32>, %y: memref<8xf32>) {
  tir.for thread_binding "threadIdx.x" %t = 0 to 4 {
    tir.block @a(%v: spatial 4) = [%t] reads() writes(%x[%v] : memref<4xf32>) {
      %0 = arith.constant 1.0 : f32
      memref.store %0, %x[%v] : memref<4xf32>
    }
  }
  tir.for thread_binding "threadIdx.x" %s = 0 to 8 {
    tir.block @b(%v: spatial 8) = [%s] reads() writes(%y[%v] : memref<8xf32>) {
      %0 = arith.constant 1.0 : f32
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}
