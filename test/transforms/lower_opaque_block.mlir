// RUN: weft-opt %s -p convert-blocks-to-opaque,lower-opaque-block | filecheck %s

// CHECK-LABEL: tir.prim_func @a_predicate_becomes_a_branch
// CHECK:         tir.block @statement(%i_1: opaque 5, %k_1: opaque 7) = [%i, %k] reads
// CHECK:           [[N:%.+]] = arith.constant 32 : index
// CHECK-NEXT:      [[C:%.+]] = arith.cmpi slt, %{{.+}}, [[N]] : index
// CHECK-NEXT:      scf.if [[C]] {
// CHECK:             memref.store
tir.prim_func @a_predicate_becomes_a_branch(%x: memref<32xf32>, %y: memref<32xf32>) {
  tir.for %i = 0 to 5 {
    tir.for %k = 0 to 7 {
      tir.block @b(%v: spatial 32) = [%i * 7 + %k] where [%i * -7 + %k * -1 + 31] reads(%x[%v] : memref<32xf32>) writes(%y[%v] : memref<32xf32>) {
        %0 = memref.load %x[%v] : memref<32xf32>
        memref.store %0, %y[%v] : memref<32xf32>
      }
    }
  }
}

// A loop that only the predicate speaks of becomes an iterator; one that is subtracted from nothing is compared with >=.
// CHECK-LABEL: tir.prim_func @several_conditions_hold_together
// CHECK:         tir.block @statement(%i_1: opaque 8, %k_1: opaque 4) = [%i, %k]
// CHECK:           arith.cmpi slt, %k_1, %i_1 : index
// CHECK:           [[TWO:%.+]] = arith.constant 2 : index
// CHECK-NEXT:      arith.cmpi sge, %i_1, [[TWO]] : index
// CHECK-NEXT:      arith.andi
// CHECK-NEXT:      scf.if
tir.prim_func @several_conditions_hold_together(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.for %k = 0 to 4 {
      tir.block @b(%v: partial opaque 8) = [%i] where [%i - %k - 1, %i - 2] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
        %0 = memref.load %x[%v] : memref<8xf32>
        memref.store %0, %y[%v] : memref<8xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @outer_blocks_loops_of_one_iteration_and_notes_are_gone
// CHECK:         tir.for %i = 0 to 4 {
// CHECK-NEXT:      tir.for %k = 0 to 1 annotations {note = 1 : i64} {
// CHECK-NEXT:        tir.block @statement(%i_1: opaque 4) = [%i] reads({{.+}}) attributes {pragma_kept = 1 : i64} {
tir.prim_func @outer_blocks_loops_of_one_iteration_and_notes_are_gone(%x: memref<4xf32>, %y: memref<4xf32>) {
  tir.for %i = 0 to 4 {
    tir.for %one = 0 to 1 {
      tir.outer_block @o {
        tir.for %k = 0 to 1 annotations {note = 1} {
          tir.block @b(%v: spatial 4) = [%i + %one] reads(%x[%v] : memref<4xf32>) writes(%y[%v] : memref<4xf32>) attributes {pragma_kept = 1, script = "gone"} {
            %0 = memref.load %x[%v] : memref<4xf32>
            memref.store %0, %y[%v] : memref<4xf32>
          }
        }
      }
    }
  }
}
