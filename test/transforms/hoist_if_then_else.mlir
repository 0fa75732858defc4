// RUN: weft-opt %s -p hoist-if-then-else | filecheck %s

// CHECK-LABEL: tir.prim_func @a_branch_leaves_the_loops_that_it_does_not_speak_of
// CHECK-NEXT:    tir.for %i = 0 to %n {
// CHECK-NEXT:      tir.block
// CHECK:             scf.if
// CHECK:               scf.while
// CHECK:             } else {
// CHECK:               scf.while
tir.prim_func @a_branch_leaves_the_loops_that_it_does_not_speak_of(%y: memref<?x8xf32>, %n: index) shapes(%y[%n, 8]) {
  tir.for %i = 0 to %n {
    tir.for %j = 0 to 8 {
      tir.block @statement(%u: opaque %n, %v: opaque 8) = [%i, %j] reads() writes(%y[%u, %v] : memref<?x8xf32>) {
        %3 = arith.constant 3 : index
        %one = arith.constant 1.0 : f32
        %two = arith.constant 2.0 : f32
        %0 = arith.cmpi slt, %u, %3 : index
        scf.if %0 {
          memref.store %one, %y[%u, %v] : memref<?x8xf32>
        } else {
          memref.store %two, %y[%u, %v] : memref<?x8xf32>
        }
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_branch_with_one_side_becomes_a_predicate
// CHECK:           tir.block @statement(%i_1: partial opaque 4, %j_1: opaque 8) = [%i, %j] where [%i * -1 + 2]
// CHECK-NOT:         scf.if
tir.prim_func @a_branch_with_one_side_becomes_a_predicate(%y: memref<4x8xf32>) {
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 8 {
      tir.block @statement(%u: opaque 4, %v: opaque 8) = [%i, %j] reads() writes(%y[%u, %v] : memref<4x8xf32>) {
        %3 = arith.constant 3 : index
        %one = arith.constant 1.0 : f32
        %0 = arith.cmpi slt, %u, %3 : index
        scf.if %0 {
          memref.store %one, %y[%u, %v] : memref<4x8xf32>
        }
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_condition_that_reads_stays
// CHECK:           tir.block @statement(%u: opaque 8) = [%j]
// CHECK:             scf.if
// CHECK-NOT:       where
tir.prim_func @a_condition_that_reads_stays(%x: memref<1xi1>, %y: memref<8xf32>) {
  tir.for %j = 0 to 8 {
    tir.block @statement(%u: opaque 8) = [%j] reads(%x[0] : memref<1xi1>) writes(%y[%u] : memref<8xf32>) {
      %0 = arith.constant 0 : index
      %one = arith.constant 1.0 : f32
      %1 = memref.load %x[%0] : memref<1xi1>
      scf.if %1 {
        memref.store %one, %y[%u] : memref<8xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_condition_of_the_loop_stays
// CHECK:           tir.block @statement(%u: opaque 8) = [%j]
// CHECK:             scf.if
tir.prim_func @a_condition_of_the_loop_stays(%y: memref<8xf32>) {
  tir.for %j = 0 to 8 {
    tir.block @statement(%u: opaque 8) = [%j] reads() writes(%y[%u] : memref<8xf32>) {
      %3 = arith.constant 3 : index
      %one = arith.constant 1.0 : f32
      %two = arith.constant 2.0 : f32
      %0 = arith.cmpi slt, %u, %3 : index
      scf.if %0 {
        memref.store %one, %y[%u] : memref<8xf32>
      } else {
        memref.store %two, %y[%u] : memref<8xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @statements_beside_a_branch_keep_it
// CHECK:           tir.block @statement(%u: opaque 2, %v: opaque 8) = [%i, %j]
// CHECK:             scf.if
tir.prim_func @statements_beside_a_branch_keep_it(%y: memref<2x8xf32>) {
  tir.for %i = 0 to 2 {
    tir.for %j = 0 to 8 {
      tir.block @statement(%u: opaque 2, %v: opaque 8) = [%i, %j] reads() writes(%y[%u, %v] : memref<2x8xf32>) {
        %one = arith.constant 1.0 : f32
        memref.store %one, %y[%u, %v] : memref<2x8xf32>
      }
      tir.block @statement(%u: opaque 2, %v: opaque 8) = [%i, %j] reads() writes(%y[%u, %v] : memref<2x8xf32>) {
        %1 = arith.constant 1 : index
        %two = arith.constant 2.0 : f32
        %0 = arith.cmpi slt, %u, %1 : index
        scf.if %0 {
          memref.store %two, %y[%u, %v] : memref<2x8xf32>
        }
      }
    }
  }
}
