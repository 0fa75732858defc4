// RUN: weft-opt %s -p vectorize-loop | filecheck %s
// RUN: weft-opt %s -p vectorize-loop,vectorize-loop | filecheck %s

// CHECK-LABEL: tir.prim_func @lanes_are_computed_before_one_is_stored
// CHECK:         tir.for %i = 0 to 3 {
// CHECK-NEXT:      tir.block @twice(%i_1: opaque 3) = [%i]
// CHECK-NOT:       memref.store
// CHECK-COUNT-2:     memref.load
// CHECK-NOT:       memref.load
// CHECK-COUNT-2:     memref.store
// CHECK-NOT:       tir.for
tir.prim_func @lanes_are_computed_before_one_is_stored(%x: memref<3x2xf32>, %y: memref<3x2xf32>) {
  tir.for %i = 0 to 3 {
    tir.for vectorized %j = 0 to 2 {
      tir.block @twice(%i_1: opaque 3, %j_1: spatial 2) = [%i, %j] reads(%x[%i_1, %j_1] : memref<3x2xf32>) writes(%y[%i_1, %j_1] : memref<3x2xf32>) {
        %0 = memref.load %x[%i_1, %j_1] : memref<3x2xf32>
        %1 = arith.addf %0, %0 : f32
        memref.store %1, %y[%i_1, %j_1] : memref<3x2xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_loop_in_a_vectorized_one_stands_around_the_lanes
// CHECK:         tir.for %k = 0 to 3 {
// CHECK-NEXT:      tir.block @copy(%k_1: opaque 3) = [%k]
// CHECK-COUNT-2:     memref.load
// CHECK-COUNT-2:     memref.store
tir.prim_func @a_loop_in_a_vectorized_one_stands_around_the_lanes(%x: memref<3x2xf32>, %y: memref<3x2xf32>) {
  tir.for vectorized %j = 0 to 2 {
    tir.for %k = 0 to 3 {
      tir.block @copy(%k_1: opaque 3, %j_1: spatial 2) = [%k, %j] reads(%x[%k_1, %j_1] : memref<3x2xf32>) writes(%y[%k_1, %j_1] : memref<3x2xf32>) {
        %0 = memref.load %x[%k_1, %j_1] : memref<3x2xf32>
        memref.store %0, %y[%k_1, %j_1] : memref<3x2xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @what_only_some_lanes_do_stays_a_loop
// CHECK:         tir.for %j = 0 to 2 {
// CHECK-NEXT:      tir.block @first(%j_1: opaque 2) = [%j]
tir.prim_func @what_only_some_lanes_do_stays_a_loop(%y: memref<2xf32>) {
  tir.for vectorized %j = 0 to 2 {
    tir.block @first(%j_1: spatial 2) = [%j] reads() writes(%y[%j_1] : memref<2xf32>) {
      %0 = arith.constant 1 : index
      %1 = arith.constant 1.0 : f32
      %2 = arith.cmpi slt, %j_1, %0 : index
      scf.if %2 {
        memref.store %1, %y[%j_1] : memref<2xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @what_is_left_of_a_block_of_which_iterations_are_written_out_is_partial
// CHECK:       tir.block @g(%v: opaque 3, %w: partial spatial 3) = [%i, 0]
tir.prim_func @what_is_left_of_a_block_of_which_iterations_are_written_out_is_partial(%y: memref<3x3xf32>, %z: f32) {
  tir.for %i = 0 to 3 {
    tir.block @g(%v: opaque 3, %w: spatial 3) = [%i, 0] reads() writes(%y[%v, %w] : memref<3x3xf32>) {
      memref.store %z, %y[%v, %w] : memref<3x3xf32>
    }
    tir.for vectorized %j = 1 to 3 {
      tir.block @g(%v: opaque 3, %w: spatial 3) = [%i, %j] reads() writes(%y[%v, %w] : memref<3x3xf32>) {
        memref.store %z, %y[%v, %w] : memref<3x3xf32>
      }
    }
  }
}
