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

// A branch says what holds in it, and the other side that it does not.
// CHECK-LABEL: tir.prim_func @branches_say_what_holds_in_them
// CHECK:           scf.if
// CHECK-NEXT:        memref.store %a
// CHECK-NEXT:      } else {
// CHECK-NEXT:        memref.store %b
// CHECK-NEXT:      }
// CHECK-NEXT:    }
tir.prim_func @branches_say_what_holds_in_them(%x: memref<8x8xf32>, %a: f32, %b: f32) {
  tir.for %i = 0 to 8 {
    tir.for %j = 0 to 8 {
      tir.block @b(%v: spatial 8, %w: spatial 8) = [%i, %j] reads() writes(%x[%v, %w] : memref<8x8xf32>) {
        %c1 = arith.constant 1 : index
        %next = arith.addi %w, %c1 : index
        %follows = arith.cmpi eq, %v, %next : index
        %above = arith.cmpi sgt, %v, %w : index
        scf.if %follows {
          scf.if %above {
            memref.store %a, %x[%v, %w] : memref<8x8xf32>
          } else {
            memref.store %b, %x[%v, %w] : memref<8x8xf32>
          }
        } else {
          %other = arith.cmpi ne, %v, %next : index
          scf.if %other {
            memref.store %b, %x[%v, %w] : memref<8x8xf32>
          }
        }
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @what_no_branch_decides_stays
// CHECK:           scf.if
// CHECK:             scf.if
// CHECK:               memref.store %a
tir.prim_func @what_no_branch_decides_stays(%x: memref<8x8xf32>, %a: f32) {
  tir.for %i = 0 to 8 {
    tir.for %j = 0 to 8 {
      tir.block @b(%v: spatial 8, %w: spatial 8) = [%i, %j] reads() writes(%x[%v, %w] : memref<8x8xf32>) {
        %above = arith.cmpi sge, %v, %w : index
        %strictly = arith.cmpi sgt, %v, %w : index
        scf.if %above {
          scf.if %strictly {
            memref.store %a, %x[%v, %w] : memref<8x8xf32>
          }
        }
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @one_side_of_and_follows_from_the_other
// CHECK:           [[C:%.+]] = arith.constant 3 : index
// CHECK-NEXT:      [[L:%.+]] = arith.cmpi slt, %v, [[C]] : index
// CHECK-NEXT:      scf.if [[L]] {
// CHECK-NEXT:        memref.store %a
tir.prim_func @one_side_of_and_follows_from_the_other(%x: memref<8xf32>, %a: f32) {
  tir.for %i = 0 to 8 {
    tir.block @b(%v: spatial 8) = [%i] reads() writes(%x[%v] : memref<8xf32>) {
      %c3 = arith.constant 3 : index
      %c5 = arith.constant 5 : index
      %less = arith.cmpi slt, %v, %c3 : index
      %below = arith.cmpi slt, %v, %c5 : index
      %both = arith.andi %below, %less : i1
      scf.if %both {
        memref.store %a, %x[%v] : memref<8xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @sides_that_exclude_each_other_never_hold
// CHECK-NOT:     scf.if
// CHECK:         }
tir.prim_func @sides_that_exclude_each_other_never_hold(%x: memref<8xf32>, %a: f32, %b: f32) {
  tir.for %i = 0 to 8 {
    tir.block @b(%v: spatial 8) = [%i] reads() writes(%x[%v] : memref<8xf32>) {
      %c3 = arith.constant 3 : index
      %c5 = arith.constant 5 : index
      %less = arith.cmpi slt, %v, %c3 : index
      %above = arith.cmpi sgt, %v, %c5 : index
      %never = arith.andi %above, %less : i1
      %up = arith.cmpi sge, %v, %c3 : index
      %always = arith.ori %up, %less : i1
      scf.if %never {
        memref.store %a, %x[%v] : memref<8xf32>
      }
      scf.if %always {
        memref.store %b, %x[%v] : memref<8xf32>
      }
    }
  }
}

// Integers that indices decide: a shift by less than their width is a product, and what may not fit has wrapped.
// CHECK-LABEL: tir.prim_func @shifts_of_indices_are_bounded
// CHECK-NOT:       arith.shli
// CHECK:           memref.store %a, %x[%v]
// CHECK-NOT:       scf.if
tir.prim_func @shifts_of_indices_are_bounded(%x: memref<16xf32>, %a: f32) {
  tir.for %i = 0 to 16 {
    tir.block @b(%v: spatial 16) = [%i] reads() writes(%x[%v] : memref<16xf32>) {
      %n = arith.index_cast %v : index to i32
      %c31 = arith.constant 31 : i32
      %most = arith.constant 1015808 : i32
      %shifted = arith.shli %c31, %n : i32
      %fits = arith.cmpi sle, %shifted, %most : i32
      scf.if %fits {
        memref.store %a, %x[%v] : memref<16xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @shifts_that_wrap_are_asked
// CHECK:           arith.shli
// CHECK:           scf.if
tir.prim_func @shifts_that_wrap_are_asked(%x: memref<16xf32>, %a: f32) {
  tir.for %i = 0 to 16 {
    tir.block @b(%v: spatial 16) = [%i] reads() writes(%x[%v] : memref<16xf32>) {
      %n = arith.index_cast %v : index to i32
      %big = arith.constant 131072 : i32
      %least = arith.constant 131072 : i32
      %shifted = arith.shli %big, %n : i32
      %fits = arith.cmpi sge, %shifted, %least : i32
      scf.if %fits {
        memref.store %a, %x[%v] : memref<16xf32>
      }
    }
  }
}
