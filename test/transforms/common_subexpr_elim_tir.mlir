// RUN: weft-opt %s -p common-subexpr-elim-tir | filecheck %s
// RUN: weft-opt %s -p 'common-subexpr-elim-tir{identify-equiv-terms}' | filecheck %s --check-prefixes=CHECK,EQUIV
// RUN: weft-opt %s -p 'common-subexpr-elim-tir{enable-cse-tir=false}' | filecheck %s --check-prefix=OFF

// OFF-COUNT-2: math.exp
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

// CHECK-LABEL: tir.prim_func @integers_of_one_normal_form
// EQUIV:           %[[SUM:.*]] = arith.addi
// EQUIV-NEXT:      %[[PRODUCT:.*]] = arith.muli %[[SUM]], %c : i32
// EQUIV-NEXT:      arith.xori %[[PRODUCT]], %[[PRODUCT]] : i32
// EQUIV-NEXT:      memref.store
tir.prim_func @integers_of_one_normal_form(%x: memref<8xi32>, %y: memref<8xi32>) {
  tir.for %i = 0 to 8 {
    tir.block @b(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xi32>) writes(%y[%v] : memref<8xi32>) {
      %0 = memref.load %x[%v] : memref<8xi32>
      %1 = arith.index_cast %v : index to i32
      %c = arith.constant 3 : i32
      %2 = arith.addi %0, %1 : i32
      %3 = arith.muli %2, %c : i32
      %4 = arith.muli %1, %c : i32
      %5 = arith.muli %0, %c : i32
      %6 = arith.addi %4, %5 : i32
      %7 = arith.xori %6, %3 : i32
      memref.store %7, %y[%v] : memref<8xi32>
    }
  }
}

// CHECK-LABEL: tir.prim_func @what_is_equal_in_a_branch_is_not_known_outside
// EQUIV:           scf.if
// EQUIV:             arith.addi
// EQUIV:           arith.addi
tir.prim_func @what_is_equal_in_a_branch_is_not_known_outside(%x: memref<8xi32>, %y: memref<8xi32>) {
  tir.for %i = 0 to 8 {
    tir.block @b(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xi32>) writes(%y[%v] : memref<8xi32>) {
      %0 = memref.load %x[%v] : memref<8xi32>
      %c = arith.constant 3 : i32
      %p = arith.cmpi slt, %0, %c : i32
      scf.if %p {
        %1 = arith.addi %0, %c : i32
        memref.store %1, %y[%v] : memref<8xi32>
      }
      %2 = arith.addi %c, %0 : i32
      memref.store %2, %y[%v] : memref<8xi32>
    }
  }
}
