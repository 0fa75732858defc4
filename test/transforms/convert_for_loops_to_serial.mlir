// RUN: weft-opt %s -p convert-for-loops-to-serial | filecheck %s

// CHECK-LABEL: tir.prim_func @parallel_loops_are_serial_and_others_stay(%y: memref<8x4x4xf32>, %z: f32) {
// CHECK-NEXT:    tir.for %i = 0 to 8 {
// CHECK-NEXT:      tir.for unrolled %j = 0 to 4 {
// CHECK-NEXT:        tir.for vectorized %k = 0 to 4 {
tir.prim_func @parallel_loops_are_serial_and_others_stay(%y: memref<8x4x4xf32>, %z: f32) {
  tir.for parallel %i = 0 to 8 {
    tir.for unrolled %j = 0 to 4 {
      tir.for vectorized %k = 0 to 4 {
        tir.block @b(%vi: spatial 8, %vj: spatial 4, %vk: spatial 4) = [%i, %j, %k]
            reads() writes(%y[%vi, %vj, %vk] : memref<8x4x4xf32>) {
          memref.store %z, %y[%vi, %vj, %vk] : memref<8x4x4xf32>
        }
      }
    }
  }
}
