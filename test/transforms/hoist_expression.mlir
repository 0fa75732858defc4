// RUN: weft-opt %s -p hoist-expression | filecheck %s
// RUN: weft-opt %s -p hoist-expression{hoisted-conditionals=3} | filecheck %s --check-prefix WHOLE
// RUN: weft-opt %s -p hoist-expression{hoisted-conditionals=14} | filecheck %s --check-prefix NEVER

// CHECK-LABEL: tir.prim_func @each_part_of_an_and_goes_as_far_out_as_it_may
// CHECK:           tir.block @b(%u: partial opaque 4, %v: opaque 8) = [%i, %j] where [%i * -1 + 2]
// CHECK-NOT:         arith.andi
// CHECK:             scf.if
// WHOLE-LABEL: tir.prim_func @each_part_of_an_and_goes_as_far_out_as_it_may
// WHOLE:           tir.block @b(%u: opaque 4, %v: opaque 8) = [%i, %j] reads()
// NEVER-LABEL: tir.prim_func @each_part_of_an_and_goes_as_far_out_as_it_may
// NEVER-NOT:       where
tir.prim_func @each_part_of_an_and_goes_as_far_out_as_it_may(%y: memref<4x8xf32>) {
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 8 {
      tir.block @b(%u: opaque 4, %v: opaque 8) = [%i, %j] reads() writes(%y[%u, %v] : memref<4x8xf32>) {
        %3 = arith.constant 3 : index
        %one = arith.constant 1.0 : f32
        %0 = arith.cmpi slt, %u, %3 : index
        %1 = arith.cmpi sgt, %v, %3 : index
        %2 = arith.andi %0, %1 : i1
        scf.if %2 {
          memref.store %one, %y[%u, %v] : memref<4x8xf32>
        }
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @branches_within_each_other
// CHECK:           tir.block @b(%i_1: partial opaque 4, %j_1: partial opaque 8, %k_1: opaque 2) = [%i, %j, %k] where [%j + -2, %j * -1 + 2, %i + -1]
// CHECK-NOT:         scf.if
// WHOLE-LABEL: tir.prim_func @branches_within_each_other
// WHOLE-NOT:         scf.if
// WHOLE:         tir.prim_func
tir.prim_func @branches_within_each_other(%y: memref<4x8x2xf32>) {
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 8 {
      tir.for %k = 0 to 2 {
        tir.block @b(%i_1: opaque 4, %j_1: opaque 8, %k_1: opaque 2) = [%i, %j, %k] reads() writes(%y[%i_1, %j_1, %k_1] : memref<4x8x2xf32>) {
          %1 = arith.constant 1 : index
          %2 = arith.constant 2 : index
          %one = arith.constant 1.0 : f32
          %0 = arith.cmpi eq, %j_1, %2 : index
          scf.if %0 {
            %3 = arith.cmpi sge, %i_1, %1 : index
            scf.if %3 {
              memref.store %one, %y[%i_1, %j_1, %k_1] : memref<4x8x2xf32>
            }
          }
        }
      }
    }
  }
}

// Another block stands in the innermost loop; a branch has a second side; data decides; a block has its own iterators.
// CHECK-LABEL: tir.prim_func @what_stays
// CHECK-NOT:     where
tir.prim_func @what_stays(%x: memref<4xf32>, %y: memref<4x8xf32>, %z: memref<4x8xf32>) {
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 8 {
      tir.block @a(%u: opaque 4, %v: opaque 8) = [%i, %j] reads() writes(%y[%u, %v] : memref<4x8xf32>) {
        %3 = arith.constant 3 : index
        %one = arith.constant 1.0 : f32
        %0 = arith.cmpi slt, %u, %3 : index
        scf.if %0 {
          memref.store %one, %y[%u, %v] : memref<4x8xf32>
        }
      }
      tir.block @b(%u: opaque 4, %v: opaque 8) = [%i, %j] reads() writes(%z[%u, %v] : memref<4x8xf32>) {
        %one = arith.constant 1.0 : f32
        memref.store %one, %z[%u, %v] : memref<4x8xf32>
      }
    }
  }
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 8 {
      tir.block @c(%u: opaque 4, %v: opaque 8) = [%i, %j] reads() writes(%y[%u, %v] : memref<4x8xf32>) {
        %3 = arith.constant 3 : index
        %one = arith.constant 1.0 : f32
        %two = arith.constant 2.0 : f32
        %0 = arith.cmpi slt, %u, %3 : index
        scf.if %0 {
          memref.store %one, %y[%u, %v] : memref<4x8xf32>
        } else {
          memref.store %two, %y[%u, %v] : memref<4x8xf32>
        }
      }
    }
  }
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 8 {
      tir.block @d(%u: opaque 4, %v: opaque 8) = [%i, %j] reads(%x[%u] : memref<4xf32>) writes(%y[%u, %v] : memref<4x8xf32>) {
        %one = arith.constant 1.0 : f32
        %0 = memref.load %x[%u] : memref<4xf32>
        %1 = arith.cmpf olt, %0, %one : f32
        scf.if %1 {
          memref.store %one, %y[%u, %v] : memref<4x8xf32>
        }
      }
    }
  }
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 8 {
      tir.block @e(%u: spatial 4, %v: spatial 8) = [%i, %j] reads() writes(%y[%u, %v] : memref<4x8xf32>) {
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
