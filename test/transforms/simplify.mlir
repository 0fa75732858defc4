// RUN: weft-opt %s -p simplify | filecheck %s

// CHECK-LABEL: tir.prim_func @bindings_and_predicates_are_in_normal_form
// CHECK:           tir.block @b(%v: spatial 32) = [%i * 4 + %j] reads()
tir.prim_func @bindings_and_predicates_are_in_normal_form(%x: memref<32xf32>, %z: f32) {
  tir.for %i = 0 to 8 {
    tir.for %j = 0 to 4 {
      tir.block @b(%v: spatial 32) = [%i * 4 + (%i * 4 + %j) mod 4] where [31 - %i * 4 - %j]
          reads() writes(%x[%v] : memref<32xf32>) {
        memref.store %z, %x[%v] : memref<32xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @what_the_extents_decide_is_not_asked
// CHECK:           tir.block @b
// CHECK-NEXT:      memref.store %a, %x[%v] : memref<8xf32>
// CHECK-NEXT:    }
tir.prim_func @what_the_extents_decide_is_not_asked(%x: memref<8xf32>, %a: f32, %b: f32) {
  tir.for %i = 0 to 8 {
    tir.block @b(%v: spatial 8) = [%i]
        reads() writes(%x[%v] : memref<8xf32>) {
      %c8 = arith.constant 8 : index
      %c0 = arith.constant 0 : index
      %below = arith.cmpi slt, %v, %c8 : index
      %least = arith.cmpi sge, %v, %c0 : index
      %both = arith.andi %below, %least : i1
      scf.if %both {
        %0 = arith.select %below, %a, %b : f32
        memref.store %0, %x[%v] : memref<8xf32>
      } else {
        memref.store %b, %x[%v] : memref<8xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @what_differs_from_iteration_to_iteration_is_asked
// CHECK:           arith.cmpi slt
// CHECK:           scf.if
tir.prim_func @what_differs_from_iteration_to_iteration_is_asked(%x: memref<8xf32>, %a: f32) {
  tir.for %i = 0 to 8 {
    tir.block @b(%v: spatial 8) = [%i] reads() writes(%x[%v] : memref<8xf32>) {
      %c7 = arith.constant 7 : index
      %below = arith.cmpi slt, %v, %c7 : index
      scf.if %below {
        memref.store %a, %x[%v] : memref<8xf32>
      }
    }
  }
}
