// RUN: weft-opt %s -p convert-blocks-to-opaque | filecheck %s

// CHECK-LABEL: tir.prim_func @an_iterator_is_written_as_the_loops_that_it_is_bound_to
// CHECK:         tir.block @b(%i_1: opaque 4, %k_1: opaque 16) = [%i, %k] reads(%x[%i_1 * 16 + %k_1] : memref<64xf32>) writes(%y[%i_1 * 16 + %k_1] : memref<64xf32>) {
tir.prim_func @an_iterator_is_written_as_the_loops_that_it_is_bound_to(%x: memref<64xf32>, %y: memref<64xf32>) {
  tir.for %i = 0 to 4 {
    tir.for %k = 0 to 16 {
      tir.block @b(%v: spatial 64) = [%i * 16 + %k] reads(%x[%v] : memref<64xf32>) writes(%y[%v] : memref<64xf32>) {
        %0 = memref.load %x[%v] : memref<64xf32>
        memref.store %0, %y[%v] : memref<64xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @iterations_that_run_at_once_stay_spatial
// CHECK:         tir.block @b(%i_1: spatial 4, %k_1: opaque 16) = [%i, %k]
tir.prim_func @iterations_that_run_at_once_stay_spatial(%x: memref<64xf32>, %y: memref<64xf32>) {
  tir.for parallel %i = 0 to 4 {
    tir.for %k = 0 to 16 {
      tir.block @b(%v: spatial 64) = [%i * 16 + %k] reads(%x[%v] : memref<64xf32>) writes(%y[%v] : memref<64xf32>) {
        %0 = memref.load %x[%v] : memref<64xf32>
        memref.store %0, %y[%v] : memref<64xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_loop_that_begins_above_0_leaves_values_out
// CHECK:         tir.block @b(%i_1: partial opaque 10) = [%i] reads(%x[%i_1 + -2] : memref<8xf32>)
tir.prim_func @a_loop_that_begins_above_0_leaves_values_out(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 2 to 10 {
    tir.block @b(%v: spatial 8) = [%i - 2] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_block_whose_iterators_are_loop_variables_stays
// CHECK:         tir.block @b(%w: opaque 8, %v: spatial 4) = [%k, %i]
tir.prim_func @a_block_whose_iterators_are_loop_variables_stays(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  tir.for parallel %i = 0 to 4 {
    tir.for %k = 0 to 8 {
      tir.block @b(%w: opaque 8, %v: spatial 4) = [%k, %i] reads(%x[%v, %w] : memref<4x8xf32>) writes(%y[%v, %w] : memref<4x8xf32>) {
        %0 = memref.load %x[%v, %w] : memref<4x8xf32>
        memref.store %0, %y[%v, %w] : memref<4x8xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_size_of_the_function_is_an_extent
// CHECK:         tir.block @b(%i_1: opaque %n, %k_1: opaque 4) = [%i, %k] reads(%x[%i_1 * 4 + %k_1] : memref<?xf32>)
tir.prim_func @a_size_of_the_function_is_an_extent(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) shapes(%x[%n * 4], %y[%n * 4]) {
  tir.for %i = 0 to %n {
    tir.for %k = 0 to 4 {
      tir.block @b(%v: spatial %n * 4) = [%i * 4 + %k] reads(%x[%v] : memref<?xf32>) writes(%y[%v] : memref<?xf32>) {
        %0 = memref.load %x[%v] : memref<?xf32>
        memref.store %0, %y[%v] : memref<?xf32>
      }
    }
  }
}
