// RUN: weft-opt %s -p lower-init-block | filecheck %s

// CHECK-LABEL: tir.prim_func @the_branch_is_taken_in_the_first_step
// CHECK:         tir.block @sum(%vi: spatial 4, %vj: reduce 2, %vk: reduce 8)
// CHECK-NOT:     init
// CHECK:           [[Z:%.+]] = arith.constant 0 : index
// CHECK-NEXT:      [[J:%.+]] = arith.cmpi eq, %vj, [[Z]] : index
// CHECK-NEXT:      [[K:%.+]] = arith.cmpi eq, %vk, [[Z]] : index
// CHECK-NEXT:      [[B:%.+]] = arith.andi [[J]], [[K]] : i1
// CHECK-NEXT:      scf.if [[B]] {
// CHECK-NEXT:        [[S:%.+]] = arith.constant 0.0
// CHECK-NEXT:        memref.store [[S]], %y[%vi]
// CHECK-NEXT:      }
// CHECK-NEXT:      memref.load %y[%vi]
tir.prim_func @the_branch_is_taken_in_the_first_step(%x: memref<4x2x8xf32>, %y: memref<4xf32>) {
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 2 {
      tir.for %k = 0 to 8 {
        tir.block @sum(%vi: spatial 4, %vj: reduce 2, %vk: reduce 8) = [%i, %j, %k] reads(%x[%vi, %vj, %vk] : memref<4x2x8xf32>) writes(%y[%vi] : memref<4xf32>) {
          %0 = memref.load %y[%vi] : memref<4xf32>
          %1 = memref.load %x[%vi, %vj, %vk] : memref<4x2x8xf32>
          %2 = arith.addf %0, %1 : f32
          memref.store %2, %y[%vi] : memref<4xf32>
        } init(%wi, %wj, %wk) {
          %3 = arith.constant 0.0 : f32
          memref.store %3, %y[%wi] : memref<4xf32>
        }
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_reduction_of_one_step_has_no_branch
// CHECK-NOT:     scf.if
// CHECK:           memref.store
// CHECK:           memref.load %y[%vi]
tir.prim_func @a_reduction_of_one_step_has_no_branch(%x: memref<4x1xf32>, %y: memref<4xf32>) {
  tir.for %i = 0 to 4 {
    tir.block @sum(%vi: spatial 4, %vk: reduce 1) = [%i, 0] reads(%x[%vi, %vk] : memref<4x1xf32>) writes(%y[%vi] : memref<4xf32>) {
      %0 = memref.load %y[%vi] : memref<4xf32>
      %1 = memref.load %x[%vi, %vk] : memref<4x1xf32>
      %2 = arith.addf %0, %1 : f32
      memref.store %2, %y[%vi] : memref<4xf32>
    } init(%wi, %wk) {
      %3 = arith.constant 0.0 : f32
      memref.store %3, %y[%wi] : memref<4xf32>
    }
  }
}

// CHECK-LABEL: tir.prim_func @what_does_not_reduce_stays
// CHECK-NOT:     scf.if
tir.prim_func @what_does_not_reduce_stays(%y: memref<4xf32>, %z: f32) {
  tir.for %i = 0 to 4 {
    tir.block @b(%vi: spatial 4) = [%i] reads() writes(%y[%vi] : memref<4xf32>) {
      memref.store %z, %y[%vi] : memref<4xf32>
    }
  }
}

// The whole reduction is done again for each %again; its branch begins it each time.
// CHECK-LABEL: tir.prim_func @a_reduction_that_is_done_again
// CHECK:         arith.cmpi eq
// CHECK-NEXT:    scf.if
tir.prim_func @a_reduction_that_is_done_again(%x: memref<4x8xf32>, %y: memref<4xf32>) {
  tir.for %again = 0 to 2 {
    tir.for %i = 0 to 4 {
      tir.for %k = 0 to 8 {
        tir.block @sum(%v: spatial 4, %s: reduce 8) = [%i, %k]
            reads(%x[%v, %s] : memref<4x8xf32>) writes(%y[%v] : memref<4xf32>) {
          %0 = memref.load %y[%v] : memref<4xf32>
          %1 = memref.load %x[%v, %s] : memref<4x8xf32>
          %2 = arith.addf %0, %1 : f32
          memref.store %2, %y[%v] : memref<4xf32>
        } init(%w, %t) {
          %3 = arith.constant 0.0 : f32
          memref.store %3, %y[%w] : memref<4xf32>
        }
      }
    }
  }
}
