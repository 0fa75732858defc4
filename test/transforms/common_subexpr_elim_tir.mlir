// RUN: weft-opt %s -p common-subexpr-elim-tir | filecheck %s

// CHECK-LABEL: tir.prim_func @equal_expressions_are_computed_once
// CHECK:           %0 = memref.load %x[%v] : memref<8xf32>
// CHECK-NEXT:      %1 = math.exp %0 : f32
// CHECK-NEXT:      %2 = arith.mulf %1, %1 : f32
// CHECK-NEXT:      memref.store %2, %y[%v] : memref<8xf32>
tir.prim_func @equal_expressions_are_computed_once(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block @b(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      %1 = math.exp %0 : f32
      %2 = memref.load %x[%v] : memref<8xf32>
      %3 = math.exp %2 : f32
      %4 = arith.mulf %1, %3 : f32
      memref.store %4, %y[%v] : memref<8xf32>
    }
  }
}

// CHECK-LABEL: tir.prim_func @an_element_is_read_again_after_a_store
// CHECK:           memref.load
// CHECK:           memref.store
// CHECK-NEXT:      memref.load
tir.prim_func @an_element_is_read_again_after_a_store(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block @b(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>)
        writes(%x[%v] : memref<8xf32>, %y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      %1 = math.exp %0 : f32
      memref.store %1, %x[%v] : memref<8xf32>
      %2 = memref.load %x[%v] : memref<8xf32>
      %3 = math.exp %2 : f32
      memref.store %3, %y[%v] : memref<8xf32>
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_call_with_effects_is_made_twice
// CHECK:           tir.call packed "test.next"
// CHECK-NEXT:      tir.call packed "test.next"
tir.prim_func @a_call_with_effects_is_made_twice(%y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block @b(%v: spatial 8) = [%i] reads() writes(%y[%v] : memref<8xf32>) {
      %0 = tir.call packed "test.next"() : () -> f32
      %1 = tir.call packed "test.next"() : () -> f32
      %2 = arith.addf %0, %1 : f32
      memref.store %2, %y[%v] : memref<8xf32>
    }
  }
}
