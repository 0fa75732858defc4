// RUN: weft-opt %s -p unroll-loop | filecheck %s
// RUN: weft-opt %s -p 'unroll-loop{auto-max-extent=4 explicit-unroll=false}' | filecheck %s --check-prefix=MARK
// RUN: weft-opt %s -p 'unroll-loop{auto-max-step=8}' | filecheck %s --check-prefix=STEPS
// RUN: weft-opt %s -p 'unroll-loop{auto-max-extent=1 explicit-unroll=false}' | filecheck %s --check-prefix=ONE
// RUN: weft-opt %s -p 'unroll-loop{only-pragmas explicit-unroll=false}' | filecheck %s --check-prefix=PRAGMAS

// CHECK-LABEL: tir.prim_func @a_loop_that_is_unrolled_is_written_out
// CHECK-NEXT:    tir.for %i = 0 to 4 {
// CHECK-NEXT:      tir.block @b(%vi: spatial 4, %vj: spatial 2) = [%i, 0] reads() writes(%y[%vi, %vj] : memref<4x2xf32>) {
// CHECK-NEXT:        memref.store %z, %y[%vi, %vj] : memref<4x2xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:      tir.block @b(%vi_1: spatial 4, %vj_1: spatial 2) = [%i, 1] reads() writes(%y[%vi_1, %vj_1] : memref<4x2xf32>) {
// CHECK-NEXT:        memref.store %z, %y[%vi_1, %vj_1] : memref<4x2xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
// MARK-LABEL: tir.prim_func @a_loop_that_is_unrolled_is_written_out
// MARK-NEXT:    tir.for unrolled %i = 0 to 4 {
// MARK-NEXT:      tir.for unrolled %j = 0 to 2 {
// STEPS-LABEL: tir.prim_func @a_loop_that_is_unrolled_is_written_out
// STEPS-COUNT-8: tir.block @b
// STEPS-NOT:   tir.for
tir.prim_func @a_loop_that_is_unrolled_is_written_out(%y: memref<4x2xf32>, %z: f32) {
  tir.for %i = 0 to 4 {
    tir.for unrolled %j = 0 to 2 {
      tir.block @b(%vi: spatial 4, %vj: spatial 2) = [%i, %j] reads() writes(%y[%vi, %vj] : memref<4x2xf32>) {
        memref.store %z, %y[%vi, %vj] : memref<4x2xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @loops_whose_iterations_run_at_once_stay
// CHECK:         tir.for parallel %i = 0 to 2 {
// CHECK-NEXT:      tir.for vectorized %j = 0 to 4 {
// MARK-LABEL: tir.prim_func @loops_whose_iterations_run_at_once_stay
// MARK:          tir.for parallel %i = 0 to 2 {
// MARK-NEXT:       tir.for vectorized %j = 0 to 4 {
// STEPS-LABEL: tir.prim_func @loops_whose_iterations_run_at_once_stay
// STEPS:         tir.for parallel %i = 0 to 2 {
// STEPS-NEXT:      tir.for vectorized %j = 0 to 4 {
tir.prim_func @loops_whose_iterations_run_at_once_stay(%y: memref<2x4xf32>, %z: f32) {
  tir.for parallel %i = 0 to 2 {
    tir.for vectorized %j = 0 to 4 {
      tir.block @b(%vi: spatial 2, %vj: spatial 4) = [%i, %j] reads() writes(%y[%vi, %vj] : memref<2x4xf32>) {
        memref.store %z, %y[%vi, %vj] : memref<2x4xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_loop_of_a_size_stays
// CHECK:         tir.for unrolled %i = 0 to %n {
tir.prim_func @a_loop_of_a_size_stays(%y: memref<?xf32>, %n: index) shapes(%y[%n]) {
  tir.for unrolled %i = 0 to %n {
    tir.block @b(%vi: spatial %n) = [%i] reads() writes(%y[%vi] : memref<?xf32>) {
      %z = arith.constant 0.0 : f32
      memref.store %z, %y[%vi] : memref<?xf32>
    }
  }
}

// CHECK-LABEL: tir.prim_func @what_speaks_of_loops_speaks_of_those_that_are_left
// CHECK-NEXT:    tir.for %j = 0 to 4 {
// CHECK-NEXT:      tir.block @b(%j_1: opaque 4) = [%j] reads() writes(%x[0, %j_1] : memref<3x4xf32>) {
// CHECK:         tir.for %j_2 = 0 to 4 {
// CHECK-NEXT:      tir.block @b(%j_3: opaque 4) = [%j_2] reads() writes(%x[1, %j_3] : memref<3x4xf32>) {
// CHECK:         tir.for %j_4 = 0 to 4 {
// CHECK-NEXT:      tir.block @b(%j_5: opaque 4) = [%j_4] reads() writes(%x[2, %j_5] : memref<3x4xf32>) {
tir.prim_func @what_speaks_of_loops_speaks_of_those_that_are_left(%x: memref<3x4xf32>) {
  tir.for unrolled %i = 0 to 3 {
    tir.for %j = 0 to 4 {
      tir.block @b(%u: opaque 3, %v: opaque 4) = [%i, %j] reads() writes(%x[%u, %v] : memref<3x4xf32>) {
        %0 = arith.constant 1.0 : f32
        memref.store %0, %x[%u, %v] : memref<3x4xf32>
      }
    }
  }
}

// PRAGMAS:       tir.prim_func @pragmas_say_how_far_a_loop_and_those_in_it_are_unrolled
// PRAGMAS-NEXT:    tir.for %i = 0 to 3 {
// PRAGMAS-NEXT:      tir.for unrolled %j = 0 to 4 {
// PRAGMAS:         tir.for unrolled %k = 0 to 4 {
// PRAGMAS:         tir.for %l = 0 to 4 {
// PRAGMAS:       tir.prim_func
// CHECK-LABEL: tir.prim_func @pragmas_say_how_far_a_loop_and_those_in_it_are_unrolled
// CHECK-NEXT:    tir.for %i = 0 to 3 {
// CHECK-NEXT:      tir.block @b
// CHECK-COUNT-3:   tir.block @b
// CHECK-NOT:       tir.block @b
// CHECK:         tir.for unrolled %k = 0 to 4 {
// CHECK-NEXT:      tir.block @c
// CHECK:         tir.for %l = 0 to 4 {
// CHECK-NEXT:      tir.block @d
tir.prim_func @pragmas_say_how_far_a_loop_and_those_in_it_are_unrolled(%x: memref<3x4xf32>, %y: memref<4xf32>, %w: memref<4xf32>, %z: f32) {
  tir.for %i = 0 to 3 annotations {pragma_auto_unroll_max_step = 4} {
    tir.for %j = 0 to 4 {
      tir.block @b(%u: spatial 3, %v: spatial 4) = [%i, %j] reads() writes(%x[%u, %v] : memref<3x4xf32>) {
        memref.store %z, %x[%u, %v] : memref<3x4xf32>
      }
    }
  }
  tir.for %k = 0 to 4 annotations {pragma_auto_unroll_max_step = 4, pragma_unroll_explicit = 0} {
    tir.block @c(%v: spatial 4) = [%k] reads() writes(%y[%v] : memref<4xf32>) {
      memref.store %z, %y[%v] : memref<4xf32>
    }
  }
  tir.for %l = 0 to 4 {
    tir.block @d(%v: spatial 4) = [%l] reads() writes(%w[%v] : memref<4xf32>) {
      memref.store %z, %w[%v] : memref<4xf32>
    }
  }
}

// ONE-LABEL: tir.prim_func @a_loop_of_one_iteration_around_others_is_none
// ONE-NEXT:    tir.block @first
// ONE:         tir.for %j = 0 to 4 {
tir.prim_func @a_loop_of_one_iteration_around_others_is_none(%x: memref<4xf32>, %y: memref<4xf32>, %z: f32) {
  tir.for %i = 0 to 1 {
    tir.block @first(%v: partial spatial 4) = [%i * 2] reads() writes(%y[%v] : memref<4xf32>) {
      memref.store %z, %y[%v] : memref<4xf32>
    }
    tir.for %j = 0 to 4 {
      tir.block @b(%v: spatial 4) = [%j] reads() writes(%x[%v] : memref<4xf32>) {
        memref.store %z, %x[%v] : memref<4xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @an_outer_block_keeps_a_loop_that_does_nothing
// CHECK:       tir.outer_block @o {
// CHECK-NEXT:    tir.for unrolled %i = 0 to 0 {
tir.prim_func @an_outer_block_keeps_a_loop_that_does_nothing(%y: memref<4xf32>, %z: f32) {
  tir.for %j = 0 to 4 {
    tir.block @y(%v: spatial 4) = [%j] reads() writes(%y[%v] : memref<4xf32>) {
      memref.store %z, %y[%v] : memref<4xf32>
    }
  }
  tir.outer_block @o {
    tir.for unrolled %i = 0 to 0 {
      tir.block @w(%v: partial spatial 4) = [%i] reads() writes(%y[%v] : memref<4xf32>) {
        memref.store %z, %y[%v] : memref<4xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @what_is_left_of_a_block_of_which_iterations_are_written_out_is_partial
// CHECK:       tir.block @g(%v: opaque 3, %w: partial opaque 3) = [%i, 0]
tir.prim_func @what_is_left_of_a_block_of_which_iterations_are_written_out_is_partial(%y: memref<3x3xf32>, %z: f32) {
  tir.for %i = 0 to 3 {
    tir.block @g(%v: opaque 3, %w: opaque 3) = [%i, 0] reads() writes(%y[%v, %w] : memref<3x3xf32>) {
      memref.store %z, %y[%v, %w] : memref<3x3xf32>
    }
    tir.for unrolled %j = 1 to 3 {
      tir.block @g(%v: opaque 3, %w: opaque 3) = [%i, %j] reads() writes(%y[%v, %w] : memref<3x3xf32>) {
        memref.store %z, %y[%v, %w] : memref<3x3xf32>
      }
    }
  }
}
