// RUN: weft-opt %s -p inject-software-pipeline,simplify | filecheck %s

// CHECK-LABEL: tir.prim_func @copies_run_beside_the_computing_of_the_iteration_before
// CHECK-NEXT:    tir.outer_block @outer {
// CHECK-NEXT:    %b = tir.alloc_buffer "global" : memref<2x4xf32>
// CHECK-NEXT:    tir.outer_block @outer {
// CHECK-NEXT:    tir.for %j = 0 to 4 {
// CHECK-NEXT:      tir.block @copy(%j_1: opaque 4) = [%j] reads(%x[0, %j_1] : memref<8x4xf32>) writes(%b[0, %j_1] : memref<2x4xf32>)
// CHECK:         tir.outer_block @outer {
// CHECK-NEXT:    tir.for %i = 0 to 7 annotations {kept = 1 : i64} {
// CHECK-NEXT:      tir.for %j_2 = 0 to 4 {
// CHECK-NEXT:        tir.block @copy(%i_1: opaque 7, %j_3: opaque 4) = [%i, %j_2] reads(%x[%i_1 + 1, %j_3] : memref<8x4xf32>)
// CHECK-NEXT:            writes(%b[(%i_1 + 1) mod 2, %j_3] : memref<2x4xf32>)
// CHECK:           tir.for %j_4 = 0 to 4 {
// CHECK-NEXT:        tir.block @negate(%i_2: opaque 7, %j_5: opaque 4) = [%i, %j_4] reads(%b[%i_2 mod 2, %j_5] : memref<2x4xf32>)
// CHECK-NEXT:            writes(%y[%i_2, %j_5] : memref<8x4xf32>)
// CHECK:         tir.for %j_6 = 0 to 4 {
// CHECK-NEXT:      tir.block @negate(%j_7: opaque 4) = [%j_6] reads(%b[1, %j_7] : memref<2x4xf32>) writes(%y[7, %j_7] : memref<8x4xf32>)
tir.prim_func @copies_run_beside_the_computing_of_the_iteration_before(%x: memref<8x4xf32>, %y: memref<8x4xf32>) {
  tir.for %i = 0 to 8 annotations {software_pipeline_stage = [0, 1], software_pipeline_order = [0, 1], kept = 1} {
    %b = tir.alloc_buffer "global" : memref<4xf32>
    tir.for %j = 0 to 4 {
      tir.block @copy(%v: opaque 8, %w: opaque 4) = [%i, %j] reads(%x[%v, %w] : memref<8x4xf32>) writes(%b[%w] : memref<4xf32>) {
        %0 = memref.load %x[%v, %w] : memref<8x4xf32>
        memref.store %0, %b[%w] : memref<4xf32>
      }
    }
    tir.for %j = 0 to 4 {
      tir.block @negate(%v: opaque 8, %w: opaque 4) = [%i, %j] reads(%b[%w] : memref<4xf32>) writes(%y[%v, %w] : memref<8x4xf32>) {
        %0 = memref.load %b[%w] : memref<4xf32>
        %1 = arith.negf %0 : f32
        memref.store %1, %y[%v, %w] : memref<8x4xf32>
      }
    }
  }
}

// Where the stages are further apart, iterations that are not there yet, or no more, are left out.
// CHECK-LABEL: tir.prim_func @what_fills_and_empties_a_long_pipeline_are_loops
// CHECK:         tir.for unrolled %i = 0 to 2 {
// CHECK-NEXT:      tir.block @a(%i_1: opaque 2) = [%i] reads(%x[%i_1] : memref<8xf32>) writes(%y[%i_1] : memref<8xf32>)
// CHECK:           tir.block @b(%i_2: partial opaque 2) = [%i] where [%i + -1] reads(%x[%i_2 + -1] : memref<8xf32>)
// CHECK:         tir.for %i_3 = 0 to 6 {
// CHECK:           tir.block @c
// CHECK:         tir.for unrolled %i_7 = 0 to 2 {
// CHECK-NEXT:      tir.block @b(%i_8: partial opaque 2) = [%i_7] where [%i_7 * -1]
// CHECK:           tir.block @c(%i_9: opaque 2) = [%i_7] reads(%x[%i_9 + 6] : memref<8xf32>)
tir.prim_func @what_fills_and_empties_a_long_pipeline_are_loops(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>, %t: memref<8xf32>) {
  tir.for %i = 0 to 8 annotations {software_pipeline_stage = [0, 1, 2], software_pipeline_order = [0, 1, 2]} {
    tir.block @a(%v: opaque 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
    tir.block @b(%v: opaque 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%z[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %z[%v] : memref<8xf32>
    }
    tir.block @c(%v: opaque 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%t[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %t[%v] : memref<8xf32>
    }
  }
}
