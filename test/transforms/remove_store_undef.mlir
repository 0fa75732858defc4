// RUN: weft-opt %s -p remove-store-undef | filecheck %s

// CHECK-LABEL: tir.prim_func @what_is_computed_from_any_value_is_not_stored
// CHECK-NOT:       tir.undef
// CHECK:           tir.for %i = 0 to 8
// CHECK-NOT:       tir.for
// CHECK:           memref.store %{{.*}}, %y[%v]
// CHECK-NOT:       memref.store
tir.prim_func @what_is_computed_from_any_value_is_not_stored(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block @a(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
      %1 = tir.undef : f32
      %2 = arith.addf %0, %1 : f32
      memref.store %2, %y[%v] : memref<8xf32>
    }
  }
  tir.for %i = 0 to 8 {
    tir.block @b(%v: spatial 8) = [%i] reads() writes(%y[%v] : memref<8xf32>) {
      %0 = tir.undef : f32
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}
