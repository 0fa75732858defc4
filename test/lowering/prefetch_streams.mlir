// RUN: weft-opt %s -p 'prefetch-streams{machine="l1=48K"}' | filecheck %s
// RUN: weft-opt %s -p 'prefetch-streams{machine="l1=48K"},convert-loops-to-llvm' | filecheck %s --check-prefix LLVM

// Eight rows use each vector of %w, whose place moves with the step and with the column: it is asked for 32 vectors,
// 2048 bytes, before, once for each column. The vector of %x is used once, and %near fits in the nearest cache.
// CHECK-LABEL: func.func @weights_are_asked_for_once_for_each_column
// CHECK:         scf.for %k = %c0 to %c512 step %c1 {
// CHECK-NEXT:      %0 = arith.constant 32 : index
// CHECK-NEXT:      %later = arith.addi %k, %0 : index
// CHECK-NEXT:      scf.for %column = %c0 to %c2 step %c1 {
// CHECK-NEXT:        %1 = arith.muli %later, %c16 : index
// CHECK-NEXT:        %2 = arith.muli %column, %c8192 : index
// CHECK-NEXT:        %3 = arith.addi %1, %2 : index
// CHECK-NEXT:        memref.prefetch %w[%3], read, locality<3>, data : memref<16384xf32>
// CHECK-NEXT:      } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
// CHECK-NEXT:      scf.for %row = %c0 to %c8 step %c1 {
// CHECK-NOT:     memref.prefetch
// CHECK:         func.return
// LLVM-LABEL: llvm.func @weights_are_asked_for_once_for_each_column
// LLVM:         %[[BEGIN:.*]] = llvm.getelementptr %w[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// LLVM:         ^bb2(%column: i64):
// LLVM:         %[[PLACE:.*]] = llvm.getelementptr %[[BEGIN]][%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// LLVM-NEXT:    "llvm.intr.prefetch"(%[[PLACE]]) <{rw = 0 : i32, hint = 3 : i32, cache = 1 : i32}> : (!llvm.ptr) -> ()
func.func @weights_are_asked_for_once_for_each_column(%x: memref<65536xf32>, %w: memref<16384xf32>, %near: memref<8192xf32>, %y: memref<128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c512 = arith.constant 512 : index
  %c8192 = arith.constant 8192 : index
  scf.for %k = %c0 to %c512 step %c1 {
    scf.for %row = %c0 to %c8 step %c1 {
      %0 = arith.muli %row, %c8192 : index
      %1 = arith.muli %k, %c16 : index
      %2 = arith.addi %0, %1 : index
      %3 = vector.load %x[%2] : memref<65536xf32>, vector<16xf32>
      scf.for %column = %c0 to %c2 step %c1 {
        %4 = arith.muli %k, %c16 : index
        %5 = arith.muli %column, %c8192 : index
        %6 = arith.addi %4, %5 : index
        %7 = vector.load %w[%6] : memref<16384xf32>, vector<16xf32>
        %8 = vector.load %near[%4] : memref<8192xf32>, vector<16xf32>
        %9 = arith.mulf %3, %7 : vector<16xf32>
        %10 = arith.addf %8, %9 : vector<16xf32>
        %11 = arith.muli %row, %c16 : index
        vector.store %10, %y[%11] : memref<128xf32>, vector<16xf32>
      } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
    } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
  }
  func.return
}

// Forty-eight columns are 3072 bytes in each step: four steps of those are a quarter of the nearest cache, 48 KiB.
// CHECK-LABEL: func.func @no_more_is_asked_for_than_stays_near
// CHECK:         scf.for %k = %c0 to %c512 step %c1 {
// CHECK-NEXT:      %0 = arith.constant 4 : index
// CHECK-NEXT:      %later = arith.addi %k, %0 : index
func.func @no_more_is_asked_for_than_stays_near(%w: memref<393216xf32>, %y: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c48 = arith.constant 48 : index
  %c512 = arith.constant 512 : index
  %c8192 = arith.constant 8192 : index
  scf.for %k = %c0 to %c512 step %c1 {
    scf.for %row = %c0 to %c8 step %c1 {
      scf.for %column = %c0 to %c48 step %c1 {
        %0 = arith.muli %k, %c16 : index
        %1 = arith.muli %column, %c8192 : index
        %2 = arith.addi %0, %1 : index
        %3 = vector.load %w[%2] : memref<393216xf32>, vector<16xf32>
        vector.store %3, %y[%c0] : memref<16xf32>, vector<16xf32>
      } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
    } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
  }
  func.return
}

// Four rows use each vector; the other loop does not move its vector; and the place of the last is read from memory.
// CHECK-LABEL: func.func @what_is_used_seldom_stands_still_or_is_found_in_memory_is_not_asked_for
// CHECK-NOT:     memref.prefetch
func.func @what_is_used_seldom_stands_still_or_is_found_in_memory_is_not_asked_for(%w: memref<16384xf32>, %at: memref<512xindex>, %y: memref<128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c512 = arith.constant 512 : index
  scf.for %k = %c0 to %c512 step %c1 {
    scf.for %row = %c0 to %c4 step %c1 {
      %0 = arith.muli %k, %c16 : index
      %1 = vector.load %w[%0] : memref<16384xf32>, vector<16xf32>
      %2 = arith.muli %row, %c16 : index
      vector.store %1, %y[%2] : memref<128xf32>, vector<16xf32>
    } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
  }
  scf.for %k = %c0 to %c512 step %c1 {
    scf.for %row = %c0 to %c8 step %c1 {
      %0 = vector.load %w[%c16] : memref<16384xf32>, vector<16xf32>
      %1 = memref.load %at[%k] : memref<512xindex>
      %2 = vector.load %w[%1] : memref<16384xf32>, vector<16xf32>
      %3 = arith.addf %0, %2 : vector<16xf32>
      %4 = arith.muli %row, %c16 : index
      vector.store %3, %y[%4] : memref<128xf32>, vector<16xf32>
    } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
  }
  func.return
}

// A place may be found by division: the divisor is not zero.
// CHECK-LABEL: func.func @places_found_by_division_are_asked_for
// CHECK:         %[[LATER:.*]] = arith.divui %later, %c16 : index
// CHECK-NEXT:    %[[AT:.*]] = arith.muli %[[LATER]], %c16 : index
// CHECK-NEXT:    memref.prefetch %w[%[[AT]]], read, locality<3>, data : memref<16384xf32>
func.func @places_found_by_division_are_asked_for(%w: memref<16384xf32>, %y: memref<128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c512 = arith.constant 512 : index
  scf.for %k = %c0 to %c512 step %c1 {
    scf.for %row = %c0 to %c8 step %c1 {
      %0 = arith.divui %k, %c16 : index
      %1 = arith.muli %0, %c16 : index
      %2 = vector.load %w[%1] : memref<16384xf32>, vector<16xf32>
      %3 = arith.muli %row, %c16 : index
      vector.store %2, %y[%3] : memref<128xf32>, vector<16xf32>
    } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
  }
  func.return
}

// Sixteen tiles of rows go by before the columns of %w change, which lie one behind the other: each step of each tile
// asks for a vector of the next columns as well, of 2 * 512 the (%tile mod 16 * 1024 + %k * 2) / 16-th, counted in parts
// of 2^20.
// CHECK-LABEL: func.func @the_next_columns_are_asked_for_while_the_rows_go_by
// CHECK:         scf.for %k = %c0 to %c512 step %c1 {
// CHECK-NEXT:      %[[ROWS:.*]] = arith.constant 16 : index
// CHECK-NEXT:      %[[ROW:.*]] = arith.remui %tile, %[[ROWS]] : index
// CHECK-NEXT:      %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-NEXT:      %[[VECTORS:.*]] = arith.constant 67108864 : index
// CHECK-NEXT:      %[[BEFORE:.*]] = arith.muli %[[ROW]], %[[VECTORS]] : index
// CHECK-NEXT:      %[[INNER:.*]] = arith.constant 131072 : index
// CHECK-NEXT:      %[[STEP:.*]] = arith.muli %k, %[[INNER]] : index
// CHECK-NEXT:      %[[AT:.*]] = arith.addi %[[BEFORE]], %[[STEP]] : index
// CHECK-NEXT:      %[[NEXT:.*]] = arith.addi %tile, %[[ROWS]] : index
// CHECK-NEXT:      %[[WHOLE:.*]] = arith.constant 20 : index
// CHECK-NEXT:      %[[VECTOR:.*]] = arith.shrui %[[AT]], %[[WHOLE]] : index
// CHECK-NEXT:      %[[PANEL:.*]] = arith.divui %[[NEXT]], %c16 : index
// CHECK-NEXT:      %[[FIRST:.*]] = arith.muli %[[PANEL]], %c16384 : index
// CHECK-NEXT:      %[[COLUMN:.*]] = arith.muli %[[ZERO]], %c8192 : index
// CHECK-NEXT:      %[[BASE:.*]] = arith.addi %[[FIRST]], %[[COLUMN]] : index
// CHECK-NEXT:      %[[OFFSET:.*]] = arith.muli %[[VECTOR]], %c16 : index
// CHECK-NEXT:      %[[PLACE:.*]] = arith.addi %[[BASE]], %[[OFFSET]] : index
// CHECK-NEXT:      memref.prefetch %w[%[[PLACE]]], read, locality<2>, data : memref<131072xf32>
// CHECK:           memref.prefetch %w[%{{.*}}], read, locality<3>, data : memref<131072xf32>
// CHECK-NOT:     memref.prefetch
// CHECK:         func.return
func.func @the_next_columns_are_asked_for_while_the_rows_go_by(%w: memref<131072xf32>, %y: memref<128xf32>, %first: index, %last: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c512 = arith.constant 512 : index
  %c8192 = arith.constant 8192 : index
  %c16384 = arith.constant 16384 : index
  scf.for %tile = %first to %last step %c1 {
    scf.for %k = %c0 to %c512 step %c1 {
      scf.for %row = %c0 to %c8 step %c1 {
        scf.for %column = %c0 to %c2 step %c1 {
          %0 = arith.divui %tile, %c16 : index
          %1 = arith.muli %0, %c16384 : index
          %2 = arith.muli %column, %c8192 : index
          %3 = arith.addi %1, %2 : index
          %4 = arith.muli %k, %c16 : index
          %5 = arith.addi %3, %4 : index
          %6 = vector.load %w[%5] : memref<131072xf32>, vector<16xf32>
          %7 = arith.muli %row, %c16 : index
          vector.store %6, %y[%7] : memref<128xf32>, vector<16xf32>
        } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
      } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
    }
  }
  func.return
}

// Four rows use a vector too seldom to ask for what streams by soon: a vector of the next columns in a step is all.
// CHECK-LABEL: func.func @four_rows_ask_for_the_next_columns_alone
// CHECK:         memref.prefetch %w[%{{.*}}], read, locality<2>, data : memref<131072xf32>
// CHECK-NOT:     memref.prefetch
// CHECK:         func.return
func.func @four_rows_ask_for_the_next_columns_alone(%w: memref<131072xf32>, %y: memref<128xf32>, %first: index, %last: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c512 = arith.constant 512 : index
  %c8192 = arith.constant 8192 : index
  %c16384 = arith.constant 16384 : index
  scf.for %tile = %first to %last step %c1 {
    scf.for %k = %c0 to %c512 step %c1 {
      scf.for %row = %c0 to %c4 step %c1 {
        scf.for %column = %c0 to %c2 step %c1 {
          %0 = arith.divui %tile, %c16 : index
          %1 = arith.muli %0, %c16384 : index
          %2 = arith.muli %column, %c8192 : index
          %3 = arith.addi %1, %2 : index
          %4 = arith.muli %k, %c16 : index
          %5 = arith.addi %3, %4 : index
          %6 = vector.load %w[%5] : memref<131072xf32>, vector<16xf32>
          %7 = arith.muli %row, %c16 : index
          vector.store %6, %y[%7] : memref<128xf32>, vector<16xf32>
        } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
      } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
    }
  }
  func.return
}

// Columns that do not follow each other, few tiles of rows, and a tile that moves by itself: this vector alone.
// CHECK-LABEL: func.func @columns_that_lie_apart_few_rows_and_tiles_that_move
// CHECK-COUNT-3: memref.prefetch %{{.*}}, read, locality<3>
// CHECK-NOT:     memref.prefetch
// CHECK:         func.return
func.func @columns_that_lie_apart_few_rows_and_tiles_that_move(%w: memref<131072xf32>, %y: memref<128xf32>, %first: index, %last: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c512 = arith.constant 512 : index
  %c8192 = arith.constant 8192 : index
  %c16384 = arith.constant 16384 : index
  scf.for %tile = %first to %last step %c1 {
    scf.for %k = %c0 to %c512 step %c1 {
      scf.for %row = %c0 to %c8 step %c1 {
        scf.for %column = %c0 to %c2 step %c1 {
          %0 = arith.divui %tile, %c16 : index
          %1 = arith.muli %0, %c16384 : index
          %2 = arith.muli %column, %c16384 : index
          %3 = arith.addi %1, %2 : index
          %4 = arith.muli %k, %c16 : index
          %5 = arith.addi %3, %4 : index
          %6 = vector.load %w[%5] : memref<131072xf32>, vector<16xf32>
          %7 = arith.muli %row, %c16 : index
          vector.store %6, %y[%7] : memref<128xf32>, vector<16xf32>
        } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
      } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
    }
    scf.for %k = %c0 to %c512 step %c1 {
      scf.for %row = %c0 to %c8 step %c1 {
        %0 = arith.divui %tile, %c3 : index
        %1 = arith.muli %0, %c8192 : index
        %2 = arith.muli %k, %c16 : index
        %3 = arith.addi %1, %2 : index
        %4 = vector.load %w[%3] : memref<131072xf32>, vector<16xf32>
        vector.store %4, %y[%c0] : memref<128xf32>, vector<16xf32>
      } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
    }
    scf.for %k = %c0 to %c512 step %c1 {
      scf.for %row = %c0 to %c8 step %c1 {
        %0 = arith.muli %tile, %c8192 : index
        %1 = arith.muli %k, %c16 : index
        %2 = arith.addi %0, %1 : index
        %3 = vector.load %w[%2] : memref<131072xf32>, vector<16xf32>
        vector.store %3, %y[%c0] : memref<128xf32>, vector<16xf32>
      } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
    }
  }
  func.return
}

// Four tiles of rows share what asking for the next panel takes; three do not, nor those that are not counted from zero on.
// CHECK-LABEL: func.func @four_tiles_of_rows_are_enough
// CHECK:         locality<2>
// CHECK:         locality<3>
// CHECK-NOT:     locality<2>
// CHECK:         locality<3>
// CHECK-NOT:     locality<2>
// CHECK:         locality<3>
// CHECK-NOT:     memref.prefetch
// CHECK:         func.return
func.func @four_tiles_of_rows_are_enough(%w: memref<131072xf32>, %y: memref<128xf32>, %first: index, %last: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  %c16 = arith.constant 16 : index
  %c1024 = arith.constant 1024 : index
  %c16384 = arith.constant 16384 : index
  scf.for %tile = %first to %last step %c1 {
    scf.for %k = %c0 to %c1024 step %c1 {
      scf.for %row = %c0 to %c8 step %c1 {
        %0 = arith.divui %tile, %c4 : index
        %1 = arith.muli %0, %c16384 : index
        %2 = arith.muli %k, %c16 : index
        %3 = arith.addi %1, %2 : index
        %4 = vector.load %w[%3] : memref<131072xf32>, vector<16xf32>
        vector.store %4, %y[%c0] : memref<128xf32>, vector<16xf32>
      } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
    }
    scf.for %k = %c0 to %c1024 step %c1 {
      scf.for %row = %c0 to %c8 step %c1 {
        %0 = arith.divui %tile, %c3 : index
        %1 = arith.muli %0, %c16384 : index
        %2 = arith.muli %k, %c16 : index
        %3 = arith.addi %1, %2 : index
        %4 = vector.load %w[%3] : memref<131072xf32>, vector<16xf32>
        vector.store %4, %y[%c0] : memref<128xf32>, vector<16xf32>
      } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
    }
  }
  scf.for %panel = %first to %last step %c1 {
    scf.for %tile = %c1 to %c12 step %c1 {
      scf.for %k = %c0 to %c1024 step %c1 {
        scf.for %row = %c0 to %c8 step %c1 {
          %0 = arith.muli %panel, %c1 : index
          %1 = arith.muli %0, %c16384 : index
          %2 = arith.muli %k, %c16 : index
          %3 = arith.addi %1, %2 : index
          %4 = vector.load %w[%3] : memref<131072xf32>, vector<16xf32>
          vector.store %4, %y[%c0] : memref<128xf32>, vector<16xf32>
        } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
      }
    }
  }
  func.return
}

// Tiles of rows with a loop of their own: twelve of them share what the next %panel streams by.
// CHECK-LABEL: func.func @rows_that_leave_a_rest_have_a_loop_of_their_own
// CHECK:           scf.for %k = %c0 to %c1024 step %c1 {
// CHECK:             %[[VECTORS:.*]] = arith.constant 89479168 : index
// CHECK-NEXT:        %[[BEFORE:.*]] = arith.muli %tile, %[[VECTORS]] : index
// CHECK:             %[[AT:.*]] = arith.addi %[[BEFORE]], %{{.*}} : index
// CHECK-NEXT:        %[[NEXT:.*]] = arith.addi %panel, %c1 : index
// CHECK-NEXT:        %[[WHOLE:.*]] = arith.constant 20 : index
// CHECK-NEXT:        %[[VECTOR:.*]] = arith.shrui %[[AT]], %[[WHOLE]] : index
// CHECK-NEXT:        %[[FIRST:.*]] = arith.muli %[[NEXT]], %c16384 : index
// CHECK:             memref.prefetch %w[%{{.*}}], read, locality<2>, data : memref<131072xf32>
func.func @rows_that_leave_a_rest_have_a_loop_of_their_own(%w: memref<131072xf32>, %y: memref<128xf32>, %first: index, %last: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  %c16 = arith.constant 16 : index
  %c1024 = arith.constant 1024 : index
  %c16384 = arith.constant 16384 : index
  scf.for %panel = %first to %last step %c1 {
    scf.for %tile = %c0 to %c12 step %c1 {
      scf.for %k = %c0 to %c1024 step %c1 {
        scf.for %row = %c0 to %c8 step %c1 {
          %0 = arith.muli %panel, %c16384 : index
          %1 = arith.muli %k, %c16 : index
          %2 = arith.addi %0, %1 : index
          %3 = vector.load %w[%2] : memref<131072xf32>, vector<16xf32>
          vector.store %3, %y[%c0] : memref<128xf32>, vector<16xf32>
        } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
      }
    }
  }
  func.return
}

// How many tiles of rows there are is known at the call only: their number's inverse is found once, in parts of 2^20, and
// nothing is asked for ahead where there is one.
// CHECK-LABEL: func.func @rows_of_open_number
// CHECK:         scf.for %image = %c0 to %images step %c1 {
// CHECK-NEXT:      %[[ONE:.*]] = arith.constant 1 : index
// CHECK-NEXT:      %[[WHOLE:.*]] = arith.constant 1048576 : index
// CHECK-NEXT:      %[[NONE:.*]] = arith.constant 0 : index
// CHECK-NEXT:      %[[SOME:.*]] = arith.maxui %tiles, %[[ONE]] : index
// CHECK-NEXT:      %[[COUNT:.*]] = arith.muli %[[SOME]], %images : index
// CHECK-NEXT:      %[[PART:.*]] = arith.divui %[[WHOLE]], %[[COUNT]] : index
// CHECK-NEXT:      %[[ALONE:.*]] = arith.cmpi eq, %[[COUNT]], %[[ONE]] : index
// CHECK-NEXT:      %[[EACH:.*]] = arith.select %[[ALONE]], %[[NONE]], %[[PART]] : index
// CHECK-NEXT:      scf.for %tile = %c0 to %tiles step %c1 {
// CHECK-NEXT:        scf.for %k = %c0 to %c1024 step %c1 {
// CHECK:               %[[BEFORE:.*]] = arith.muli %image, %tiles : index
// CHECK-NEXT:          %[[TILE:.*]] = arith.addi %[[BEFORE]], %tile : index
// CHECK:               %[[PANEL:.*]] = arith.muli %{{.*}}, %[[EACH]] : index
// CHECK-NEXT:          %[[PARTS:.*]] = arith.muli %[[TILE]], %[[PANEL]] : index
// CHECK:               %[[AT:.*]] = arith.addi %[[PARTS]], %{{.*}} : index
// CHECK:               arith.shrui %[[AT]], %{{.*}} : index
// CHECK:               memref.prefetch %w[%{{.*}}], read, locality<2>, data : memref<131072xf32>
func.func @rows_of_open_number(%w: memref<131072xf32>, %y: memref<128xf32>, %first: index, %last: index, %images: index, %tiles: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c1024 = arith.constant 1024 : index
  %c16384 = arith.constant 16384 : index
  scf.for %panel = %first to %last step %c1 {
    scf.for %image = %c0 to %images step %c1 {
      scf.for %tile = %c0 to %tiles step %c1 {
        scf.for %k = %c0 to %c1024 step %c1 {
          scf.for %row = %c0 to %c8 step %c1 {
            %0 = arith.muli %panel, %c16384 : index
            %1 = arith.muli %k, %c16 : index
            %2 = arith.addi %0, %1 : index
            %3 = vector.load %w[%2] : memref<131072xf32>, vector<16xf32>
            vector.store %3, %y[%c0] : memref<128xf32>, vector<16xf32>
          } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
        }
      }
    }
  }
  func.return
}

// What such tiles leave is computed in tiles of few rows, for which nothing that streams by is asked for: the first asks for
// the first column of the next panel instead, the second for the second one, each for a vector in a step. One before which no
// tile has gone asks for what is read anyway.
// CHECK-LABEL: func.func @rests_of_an_open_number_of_rows
// CHECK:           scf.for %tile = %c0 to %tiles step %c1 {
// CHECK:               memref.prefetch %w{{.*}}, read, locality<2>
// CHECK:               memref.prefetch %w{{.*}}, read, locality<3>
// CHECK:           scf.for %tile_1 = %c0 to %four step %c1 {
// CHECK-NEXT:        scf.for %k_1 = %c0 to %c1024 step %c1 {
// CHECK-NOT:           locality<3>
// CHECK:               %[[NONE:.*]] = arith.cmpi eq, %tiles, %{{.*}} : index
// CHECK:               %[[FAR:.*]] = arith.select %[[NONE]], %{{.*}}, %c1 : index
// CHECK-NEXT:          %[[NEXT:.*]] = arith.addi %panel, %[[FAR]] : index
// CHECK-NEXT:          %[[COLUMN:.*]] = arith.constant 0 : index
// CHECK:               %[[PLACE:.*]] = arith.addi %[[COLUMN]], %{{.*}} : index
// CHECK-NEXT:          %[[PANEL:.*]] = arith.muli %[[NEXT]], %c32768 : index
// CHECK-NEXT:          arith.muli %[[PLACE]], %c16 : index
// CHECK:               memref.prefetch %w{{.*}}, read, locality<2>
// CHECK:           scf.for %tile_2 = %c0 to %two step %c1 {
// CHECK:               %[[BEFORE:.*]] = arith.addi %four, %tiles : index
// CHECK:               arith.cmpi eq, %[[BEFORE]], %{{.*}} : index
// CHECK:               %[[COLUMN_2:.*]] = arith.constant 1024 : index
// CHECK:               arith.addi %[[COLUMN_2]], %{{.*}} : index
// CHECK:               memref.prefetch %w{{.*}}, read, locality<2>
func.func @rests_of_an_open_number_of_rows(%w: memref<262144xf32>, %y: memref<128xf32>, %first: index, %last: index, %tiles: index, %four: index, %two: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c1024 = arith.constant 1024 : index
  %c16384 = arith.constant 16384 : index
  %c32768 = arith.constant 32768 : index
  scf.for %panel = %first to %last step %c1 {
    scf.for %tile = %c0 to %tiles step %c1 {
      scf.for %k = %c0 to %c1024 step %c1 {
        scf.for %row = %c0 to %c8 step %c1 {
          scf.for %column = %c0 to %c2 step %c1 {
            %0 = arith.muli %panel, %c32768 : index
            %1 = arith.muli %k, %c16 : index
            %2 = arith.addi %0, %1 : index
            %3 = arith.muli %column, %c16384 : index
            %4 = arith.addi %2, %3 : index
            %5 = vector.load %w[%4] : memref<262144xf32>, vector<16xf32>
            vector.store %5, %y[%c0] : memref<128xf32>, vector<16xf32>
          } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
        } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
      }
    }
    scf.for %tile = %c0 to %four step %c1 {
      scf.for %k = %c0 to %c1024 step %c1 {
        scf.for %row = %c0 to %c4 step %c1 {
          scf.for %column = %c0 to %c2 step %c1 {
            %0 = arith.muli %panel, %c32768 : index
            %1 = arith.muli %k, %c16 : index
            %2 = arith.addi %0, %1 : index
            %3 = arith.muli %column, %c16384 : index
            %4 = arith.addi %2, %3 : index
            %5 = vector.load %w[%4] : memref<262144xf32>, vector<16xf32>
            vector.store %5, %y[%c0] : memref<128xf32>, vector<16xf32>
          } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
        } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
      }
    }
    scf.for %tile = %c0 to %two step %c1 {
      scf.for %k = %c0 to %c1024 step %c1 {
        scf.for %row = %c0 to %c2 step %c1 {
          scf.for %column = %c0 to %c2 step %c1 {
            %0 = arith.muli %panel, %c32768 : index
            %1 = arith.muli %k, %c16 : index
            %2 = arith.addi %0, %1 : index
            %3 = arith.muli %column, %c16384 : index
            %4 = arith.addi %2, %3 : index
            %5 = vector.load %w[%4] : memref<262144xf32>, vector<16xf32>
            vector.store %5, %y[%c0] : memref<128xf32>, vector<16xf32>
          } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
        } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
      }
    }
  }
  func.return
}

// Sixteen steps go through a line for each of eight rows, then through one 256 KiB farther: each step asks for a line of
// the next block. Where blocks lie next to each other, %near, a processor looks by itself, and %small stays in a cache.
// CHECK-LABEL: func.func @lines_of_the_next_block_are_asked_for
// CHECK:         scf.for %block = %c0 to %c64 step %c1 {
// CHECK-NEXT:      scf.for %k = %c0 to %c16 step %c1 {
// CHECK-NEXT:        %0 = arith.addi %block, %c1 : index
// CHECK-NEXT:        %1 = arith.constant 0 : index
// CHECK-NEXT:        %2 = arith.muli %0, %c65536 : index
// CHECK-NEXT:        %3 = arith.muli %k, %c16 : index
// CHECK-NEXT:        %4 = arith.addi %2, %3 : index
// CHECK-NEXT:        %5 = arith.addi %4, %1 : index
// CHECK-NEXT:        memref.prefetch %x[%5], read, locality<3>, data : memref<4194304xf32>
// CHECK-NEXT:        scf.for %row = %c0 to %c8 step %c1 {
// CHECK-NOT:     memref.prefetch
// CHECK:         func.return
func.func @lines_of_the_next_block_are_asked_for(%x: memref<4194304xf32>, %near: memref<4194304xf32>, %small: memref<65536xf32>, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c1024 = arith.constant 1024 : index
  %c65536 = arith.constant 65536 : index
  scf.for %block = %c0 to %c64 step %c1 {
    scf.for %k = %c0 to %c16 step %c1 {
      scf.for %row = %c0 to %c8 step %c1 {
        %0 = arith.muli %block, %c65536 : index
        %1 = arith.muli %row, %c16 : index
        %2 = arith.addi %0, %1 : index
        %3 = arith.addi %2, %k : index
        %4 = memref.load %x[%3] : memref<4194304xf32>
        %5 = arith.muli %block, %c128 : index
        %6 = arith.addi %5, %1 : index
        %7 = arith.addi %6, %k : index
        %8 = memref.load %near[%7] : memref<4194304xf32>
        %9 = arith.muli %block, %c1024 : index
        %10 = arith.addi %9, %1 : index
        %11 = arith.addi %10, %k : index
        %12 = memref.load %small[%11] : memref<65536xf32>
        %13 = arith.mulf %4, %8 : f32
        %14 = arith.mulf %13, %12 : f32
        memref.store %14, %y[%row] : memref<8xf32>
      } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
    }
  }
  func.return
}

// Blocks of eight channels of seven by seven pixels are 1568 bytes: few are in a page, and each is asked for.
// CHECK-LABEL: func.func @lines_of_small_images_are_asked_for
// CHECK:             memref.prefetch %x
// CHECK-NOT:         memref.prefetch
// CHECK:         func.return
func.func @lines_of_small_images_are_asked_for(%x: memref<200704xf32>, %y: memref<5xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : index
  %c392 = arith.constant 392 : index
  %c512 = arith.constant 512 : index
  scf.for %block = %c0 to %c512 step %c1 {
    scf.for %k = %c0 to %c8 step %c1 {
      scf.for %row = %c0 to %c5 step %c1 {
        %0 = arith.muli %block, %c392 : index
        %1 = arith.muli %row, %c8 : index
        %2 = arith.addi %0, %1 : index
        %3 = arith.addi %2, %k : index
        %4 = memref.load %x[%3] : memref<200704xf32>
        memref.store %4, %y[%row] : memref<5xf32>
      } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
    }
  }
  func.return
}

// Twenty rows of eight scalars, two of which share a line: ten lines, of which each of eight steps asks for one or two.
// CHECK-LABEL: func.func @lines_that_rows_share_are_asked_for_once
// CHECK:           memref.prefetch %x
// CHECK:           memref.prefetch %x
// CHECK-NOT:       memref.prefetch
// CHECK:         func.return
func.func @lines_that_rows_share_are_asked_for_once(%x: memref<4194304xf32>, %y: memref<20xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c20 = arith.constant 20 : index
  %c64 = arith.constant 64 : index
  %c65536 = arith.constant 65536 : index
  scf.for %block = %c0 to %c64 step %c1 {
    scf.for %k = %c0 to %c8 step %c1 {
      scf.for %row = %c0 to %c20 step %c1 {
        %0 = arith.muli %block, %c65536 : index
        %1 = arith.muli %row, %c8 : index
        %2 = arith.addi %0, %1 : index
        %3 = arith.addi %2, %k : index
        %4 = memref.load %x[%3] : memref<4194304xf32>
        memref.store %4, %y[%row] : memref<20xf32>
      } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
    }
  }
  func.return
}

// What a function has copied side by side for itself is a stream as well, if the nearest cache does not hold it.
// CHECK-LABEL: func.func @a_copy_of_its_own_is_asked_for
// CHECK:         memref.prefetch %copy
// CHECK-NOT:     memref.prefetch
// CHECK:         func.return
func.func @a_copy_of_its_own_is_asked_for(%y: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c256 = arith.constant 256 : index
  %c16 = arith.constant 16 : index
  %copy = memref.alloca() {alignment = 64 : i64} : memref<16384xf32>
  %near = memref.alloca() {alignment = 64 : i64} : memref<8192xf32>
  scf.for %k = %c0 to %c256 step %c1 {
    scf.for %row = %c0 to %c8 step %c1 {
      %0 = arith.muli %k, %c16 : index
      %1 = vector.load %copy[%0] : memref<16384xf32>, vector<16xf32>
      %2 = vector.load %near[%0] : memref<8192xf32>, vector<16xf32>
      %3 = arith.addf %1, %2 : vector<16xf32>
      vector.store %3, %y[%row] : memref<64xf32>, vector<16xf32>
    } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
  }
  func.return
}
