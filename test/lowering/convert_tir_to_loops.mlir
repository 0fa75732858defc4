// RUN: weft-opt %s -p convert-tir-to-loops | filecheck %s

// CHECK-LABEL: func.func private @one_thread_runs_what_is_not_parallel.nest_0(%x: memref<32xf32> {weft.may_alias}, %y: memref<32xf32> {weft.may_alias}) {
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %c8 = arith.constant 8 : index
// CHECK-NEXT:    %c4 = arith.constant 4 : index
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    scf.for %i = %c0 to %c4 step %c1 {
// CHECK-NEXT:      scf.for %j = %c0 to %c8 step %c1 {
// CHECK-NEXT:        %0 = arith.muli %i, %c8 : index
// CHECK-NEXT:        %1 = arith.addi %0, %j : index
// CHECK-NEXT:        %2 = memref.load %x[%1] : memref<32xf32>
// CHECK-NEXT:        %3 = arith.addf %2, %2 : f32
// CHECK-NEXT:        %4 = arith.addi %0, %j : index
// CHECK-NEXT:        memref.store %3, %y[%4] : memref<32xf32>
// CHECK-NEXT:      } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
// CHECK-LABEL: func.func @one_thread_runs_what_is_not_parallel(%x: memref<32xf32>, %y: memref<32xf32>, %slots: !rt.slots<1>, %num_threads: index)
// CHECK-NEXT:      attributes {weft.in_place = array<i64: 0, 1>} {
// CHECK-NEXT:    rt.share %slots[0] {
// CHECK-NEXT:      func.call @one_thread_runs_what_is_not_parallel.nest_0(%x, %y) : (memref<32xf32>, memref<32xf32>) -> ()
// CHECK-NEXT:    } : !rt.slots<1>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
tir.prim_func @one_thread_runs_what_is_not_parallel(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  tir.for %i = 0 to 4 {
    tir.for unrolled %j = 0 to 8 {
      tir.block @double(%vi: spatial 4, %vj: spatial 8) = [%i, %j]
          reads(%x[%vi, %vj] : memref<4x8xf32>) writes(%y[%vi, %vj] : memref<4x8xf32>) {
        %0 = memref.load %x[%vi, %vj] : memref<4x8xf32>
        %1 = arith.addf %0, %0 : f32
        memref.store %1, %y[%vi, %vj] : memref<4x8xf32>
      }
    }
  }
}

// CHECK-LABEL: func.func private @threads_share_a_parallel_loop.nest_0(%y: memref<100xf32>, %first: index, %last: index) {
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    scf.for %i = %first to %last step %c1 {
// CHECK-NEXT:      %c = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:      memref.store %c, %y[%i] : memref<100xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
// CHECK-LABEL: func.func @threads_share_a_parallel_loop(%y: memref<100xf32>, %slots: !rt.slots<1>, %num_threads: index) {
// CHECK-NEXT:    %0 = arith.constant 100 : index
// CHECK-NEXT:    rt.share %slots[0] for %first to %last of %0 threads %num_threads {
// CHECK-NEXT:      func.call @threads_share_a_parallel_loop.nest_0(%y, %first, %last) : (memref<100xf32>, index, index) -> ()
// CHECK-NEXT:    } : !rt.slots<1>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
tir.prim_func @threads_share_a_parallel_loop(%y: memref<100xf32>) {
  tir.for parallel %i = 0 to 100 {
    tir.block @fill(%v: spatial 100) = [%i] reads() writes(%y[%v] : memref<100xf32>) {
      %c = arith.constant 1.0 : f32
      memref.store %c, %y[%v] : memref<100xf32>
    }
  }
}

// CHECK-LABEL: func.func private @shares_are_counted_from_where_the_loop_starts.nest_0(
// CHECK:         %[[FIRST:.*]] = arith.addi %first, %c2 : index
// CHECK-NEXT:    %[[LAST:.*]] = arith.addi %last, %c2 : index
// CHECK-NEXT:    scf.for %i = %[[FIRST]] to %[[LAST]] step %c1 {
// CHECK-NEXT:      %[[PLACE:.*]] = arith.addi %i, %cm2 : index
// CHECK-NEXT:      %{{.*}} = memref.load %x[%[[PLACE]]] : memref<8xf32>
// CHECK-LABEL: func.func @shares_are_counted_from_where_the_loop_starts(
// CHECK:         %[[COUNT:.*]] = arith.constant 8 : index
// CHECK-NEXT:    rt.share %slots[0] for %first to %last of %[[COUNT]] threads %num_threads {
tir.prim_func @shares_are_counted_from_where_the_loop_starts(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for parallel %i = 2 to 10 {
    tir.block @copy(%v: spatial 8) = [%i - 2] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}

// CHECK-LABEL: func.func private @a_vectorized_loop_becomes_vectors.nest_0(%x: memref<64xf32> {weft.may_alias}, %s: memref<4xf32>, %y: memref<64xf32> {weft.may_alias}) {
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %c16 = arith.constant 16 : index
// CHECK-NEXT:    %c4 = arith.constant 4 : index
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    scf.for %i = %c0 to %c4 step %c1 {
// CHECK-NEXT:      %0 = arith.muli %i, %c16 : index
// CHECK-NEXT:      %1 = vector.load %x[%0] : memref<64xf32>, vector<16xf32>
// CHECK-NEXT:      %2 = memref.load %s[%i] : memref<4xf32>
// CHECK-NEXT:      %3 = vector.broadcast %2 : f32 to vector<16xf32>
// CHECK-NEXT:      %4 = arith.mulf %1, %3 : vector<16xf32>
// CHECK-NEXT:      vector.store %4, %y[%0] : memref<64xf32>, vector<16xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
// CHECK-LABEL: func.func @a_vectorized_loop_becomes_vectors(%x: memref<64xf32>, %s: memref<4xf32>, %y: memref<64xf32>, %slots: !rt.slots<1>, %num_threads: index)
// CHECK-NEXT:      attributes {weft.in_place = array<i64: 0, 2>} {
// CHECK-NEXT:    rt.share %slots[0] {
// CHECK-NEXT:      func.call @a_vectorized_loop_becomes_vectors.nest_0(%x, %s, %y) : (memref<64xf32>, memref<4xf32>, memref<64xf32>) -> ()
// CHECK-NEXT:    } : !rt.slots<1>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
tir.prim_func @a_vectorized_loop_becomes_vectors(%x: memref<4x16xf32>, %s: memref<4xf32>, %y: memref<4x16xf32>) {
  tir.for %i = 0 to 4 {
    tir.for vectorized %j = 0 to 16 {
      tir.block @scale(%vi: spatial 4, %vj: spatial 16) = [%i, %j]
          reads(%x[%vi, %vj] : memref<4x16xf32>, %s[%vi] : memref<4xf32>)
          writes(%y[%vi, %vj] : memref<4x16xf32>) {
        %0 = memref.load %x[%vi, %vj] : memref<4x16xf32>
        %1 = memref.load %s[%vi] : memref<4xf32>
        %2 = arith.mulf %0, %1 : f32
        memref.store %2, %y[%vi, %vj] : memref<4x16xf32>
      }
    }
  }
}

// CHECK-LABEL: func.func private @a_length_that_is_no_power_of_two_is_masked.nest_0(%x: memref<6xf32> {weft.may_alias}, %y: memref<6xf32> {weft.may_alias}) {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %0 = arith.constant dense<0.000000e+00> : vector<8xf32>
// CHECK-NEXT:    %1 = arith.constant dense<[true, true, true, true, true, true, false, false]> : vector<8xi1>
// CHECK-NEXT:    %2 = vector.maskedload %x[%c0], %1, %0 : memref<6xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
// CHECK-NEXT:    %3 = arith.constant dense<[true, true, true, true, true, true, false, false]> : vector<8xi1>
// CHECK-NEXT:    vector.maskedstore %y[%c0], %3, %2 : memref<6xf32>, vector<8xi1>, vector<8xf32>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
// CHECK-LABEL: func.func @a_length_that_is_no_power_of_two_is_masked(%x: memref<6xf32>, %y: memref<6xf32>, %slots: !rt.slots<1>, %num_threads: index)
// CHECK-NEXT:      attributes {weft.in_place = array<i64: 0, 1>} {
// CHECK-NEXT:    rt.share %slots[0] {
// CHECK-NEXT:      func.call @a_length_that_is_no_power_of_two_is_masked.nest_0(%x, %y) : (memref<6xf32>, memref<6xf32>) -> ()
// CHECK-NEXT:    } : !rt.slots<1>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
tir.prim_func @a_length_that_is_no_power_of_two_is_masked(%x: memref<6xf32>, %y: memref<6xf32>) {
  tir.for vectorized %j = 0 to 6 {
    tir.block @copy(%v: spatial 6) = [%j] reads(%x[%v] : memref<6xf32>) writes(%y[%v] : memref<6xf32>) {
      %0 = memref.load %x[%v] : memref<6xf32>
      memref.store %0, %y[%v] : memref<6xf32>
    }
  }
}

// CHECK-LABEL: func.func private @elements_apart_are_put_together.nest_0(%x: memref<32xf32>, %y: memref<4xf32>) {
// CHECK-NEXT:    %c24 = arith.constant 24 : index
// CHECK-NEXT:    %c16 = arith.constant 16 : index
// CHECK-NEXT:    %c8 = arith.constant 8 : index
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %0 = arith.constant dense<0.000000e+00> : vector<4xf32>
// CHECK-NEXT:    %1 = memref.load %x[%c0] : memref<32xf32>
// CHECK-NEXT:    %2 = vector.insert %1, %0 [0] : f32 into vector<4xf32>
// CHECK-NEXT:    %3 = arith.addi %c0, %c8 : index
// CHECK-NEXT:    %4 = memref.load %x[%3] : memref<32xf32>
// CHECK-NEXT:    %5 = vector.insert %4, %2 [1] : f32 into vector<4xf32>
// CHECK-NEXT:    %6 = arith.addi %c0, %c16 : index
// CHECK-NEXT:    %7 = memref.load %x[%6] : memref<32xf32>
// CHECK-NEXT:    %8 = vector.insert %7, %5 [2] : f32 into vector<4xf32>
// CHECK-NEXT:    %9 = arith.addi %c0, %c24 : index
// CHECK-NEXT:    %10 = memref.load %x[%9] : memref<32xf32>
// CHECK-NEXT:    %11 = vector.insert %10, %8 [3] : f32 into vector<4xf32>
// CHECK-NEXT:    vector.store %11, %y[%c0] : memref<4xf32>, vector<4xf32>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
// CHECK-LABEL: func.func @elements_apart_are_put_together(%x: memref<32xf32>, %y: memref<4xf32>, %slots: !rt.slots<1>, %num_threads: index) {
// CHECK-NEXT:    rt.share %slots[0] {
// CHECK-NEXT:      func.call @elements_apart_are_put_together.nest_0(%x, %y) : (memref<32xf32>, memref<4xf32>) -> ()
// CHECK-NEXT:    } : !rt.slots<1>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
tir.prim_func @elements_apart_are_put_together(%x: memref<32xf32>, %y: memref<4xf32>) {
  tir.for vectorized %j = 0 to 4 {
    tir.block @pick(%v: spatial 4) = [%j] reads(%x[%v * 8] : memref<32xf32>) writes(%y[%v] : memref<4xf32>) {
      %c8 = arith.constant 8 : index
      %p = arith.muli %v, %c8 : index
      %0 = memref.load %x[%p] : memref<32xf32>
      memref.store %0, %y[%v] : memref<4xf32>
    }
  }
}

// CHECK-LABEL: func.func private @elements_close_to_each_other_are_picked.nest_0(%x: memref<16xf32>, %y: memref<4xf32>) {
// CHECK-NEXT:    %c6 = arith.constant 6 : index
// CHECK-NEXT:    %c4 = arith.constant 4 : index
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %0 = vector.load %x[%c0] : memref<16xf32>, vector<4xf32>
// CHECK-NEXT:    %1 = arith.addi %c0, %c4 : index
// CHECK-NEXT:    %2 = vector.load %x[%1] : memref<16xf32>, vector<4xf32>
// CHECK-NEXT:    %3 = vector.shuffle %0, %2 [0, 3, 0, 0] : vector<4xf32>, vector<4xf32>
// CHECK-NEXT:    %4 = arith.addi %c0, %c6 : index
// CHECK-NEXT:    %5 = vector.load %x[%4] : memref<16xf32>, vector<4xf32>
// CHECK-NEXT:    %6 = vector.shuffle %3, %5 [0, 1, 4, 7] : vector<4xf32>, vector<4xf32>
// CHECK-NEXT:    vector.store %6, %y[%c0] : memref<4xf32>, vector<4xf32>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
tir.prim_func @elements_close_to_each_other_are_picked(%x: memref<16xf32>, %y: memref<4xf32>) {
  tir.for vectorized %j = 0 to 4 {
    tir.block @pick(%v: spatial 4) = [%j] reads(%x[%v * 3] : memref<16xf32>) writes(%y[%v] : memref<4xf32>) {
      %c3 = arith.constant 3 : index
      %p = arith.muli %v, %c3 : index
      %0 = memref.load %x[%p] : memref<16xf32>
      memref.store %0, %y[%v] : memref<4xf32>
    }
  }
}

// CHECK-LABEL: func.func private @a_square_is_turned_in_registers.nest_0(%x: memref<16xf32>, %y: memref<16xf32>) {
// CHECK-NEXT:    %c3 = arith.constant 3 : index
// CHECK-NEXT:    %c2 = arith.constant 2 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %c12 = arith.constant 12 : index
// CHECK-NEXT:    %c8 = arith.constant 8 : index
// CHECK-NEXT:    %c4 = arith.constant 4 : index
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %0 = vector.load %x[%c0] : memref<16xf32>, vector<4xf32>
// CHECK-NEXT:    %1 = vector.load %x[%c4] : memref<16xf32>, vector<4xf32>
// CHECK-NEXT:    %2 = vector.load %x[%c8] : memref<16xf32>, vector<4xf32>
// CHECK-NEXT:    %3 = vector.load %x[%c12] : memref<16xf32>, vector<4xf32>
// CHECK-NEXT:    %4 = vector.shuffle %0, %2 [0, 4, 1, 5] : vector<4xf32>, vector<4xf32>
// CHECK-NEXT:    %5 = vector.shuffle %0, %2 [2, 6, 3, 7] : vector<4xf32>, vector<4xf32>
// CHECK-NEXT:    %6 = vector.shuffle %1, %3 [0, 4, 1, 5] : vector<4xf32>, vector<4xf32>
// CHECK-NEXT:    %7 = vector.shuffle %1, %3 [2, 6, 3, 7] : vector<4xf32>, vector<4xf32>
// CHECK-NEXT:    %8 = vector.shuffle %4, %6 [0, 4, 1, 5] : vector<4xf32>, vector<4xf32>
// CHECK-NEXT:    %9 = vector.shuffle %4, %6 [2, 6, 3, 7] : vector<4xf32>, vector<4xf32>
// CHECK-NEXT:    %10 = vector.shuffle %5, %7 [0, 4, 1, 5] : vector<4xf32>, vector<4xf32>
// CHECK-NEXT:    %11 = vector.shuffle %5, %7 [2, 6, 3, 7] : vector<4xf32>, vector<4xf32>
// CHECK-NEXT:    vector.store %8, %y[%c0] : memref<16xf32>, vector<4xf32>
// CHECK-NEXT:    vector.store %9, %y[%c4] : memref<16xf32>, vector<4xf32>
// CHECK-NEXT:    vector.store %10, %y[%c8] : memref<16xf32>, vector<4xf32>
// CHECK-NEXT:    vector.store %11, %y[%c12] : memref<16xf32>, vector<4xf32>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
tir.prim_func @a_square_is_turned_in_registers(%x: memref<4x4xf32>, %y: memref<4x4xf32>) {
  tir.for unrolled %i = 0 to 4 {
    tir.for vectorized %j = 0 to 4 {
      tir.block @turn(%v: spatial 4, %w: spatial 4) = [%i, %j]
          reads(%x[%w, %v] : memref<4x4xf32>) writes(%y[%v, %w] : memref<4x4xf32>) {
        %0 = memref.load %x[%w, %v] : memref<4x4xf32>
        memref.store %0, %y[%v, %w] : memref<4x4xf32>
      }
    }
  }
}

// CHECK-LABEL: func.func private @rows_longer_than_columns_are_several_columns.nest_0(%x: memref<12xf32>, %y: memref<12xf32>) {
// CHECK-NEXT:    %c9 = arith.constant 9 : index
// CHECK-NEXT:    %c6 = arith.constant 6 : index
// CHECK-NEXT:    %c2 = arith.constant 2 : index
// CHECK-NEXT:    %c3 = arith.constant 3 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %c8 = arith.constant 8 : index
// CHECK-NEXT:    %c4 = arith.constant 4 : index
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %0 = vector.load %x[%c0] : memref<12xf32>, vector<4xf32>
// CHECK-NEXT:    %1 = vector.load %x[%c4] : memref<12xf32>, vector<4xf32>
// CHECK-NEXT:    %2 = vector.load %x[%c8] : memref<12xf32>, vector<4xf32>
// CHECK-NEXT:    %3 = vector.shuffle %0, %2 [0, 4, 1, 5] : vector<4xf32>, vector<4xf32>
// CHECK-NEXT:    %4 = vector.shuffle %0, %2 [2, 6, 3, 7] : vector<4xf32>, vector<4xf32>
// CHECK-NEXT:    %5 = vector.shuffle %1, %2 [0, 4, 1, 5] : vector<4xf32>, vector<4xf32>
// CHECK-NEXT:    %6 = vector.shuffle %1, %2 [2, 6, 3, 7] : vector<4xf32>, vector<4xf32>
// CHECK-NEXT:    %7 = vector.shuffle %3, %5 [0, 4, 1, 5] : vector<4xf32>, vector<4xf32>
// CHECK-NEXT:    %8 = vector.shuffle %3, %5 [2, 6, 3, 7] : vector<4xf32>, vector<4xf32>
// CHECK-NEXT:    %9 = vector.shuffle %4, %6 [0, 4, 1, 5] : vector<4xf32>, vector<4xf32>
// CHECK-NEXT:    %10 = vector.shuffle %4, %6 [2, 6, 3, 7] : vector<4xf32>, vector<4xf32>
// CHECK-NEXT:    %11 = arith.constant dense<[true, true, true, false]> : vector<4xi1>
// CHECK-NEXT:    vector.maskedstore %y[%c0], %11, %7 : memref<12xf32>, vector<4xi1>, vector<4xf32>
// CHECK-NEXT:    %12 = arith.constant dense<[true, true, true, false]> : vector<4xi1>
// CHECK-NEXT:    vector.maskedstore %y[%c3], %12, %8 : memref<12xf32>, vector<4xi1>, vector<4xf32>
// CHECK-NEXT:    %13 = arith.constant dense<[true, true, true, false]> : vector<4xi1>
// CHECK-NEXT:    vector.maskedstore %y[%c6], %13, %9 : memref<12xf32>, vector<4xi1>, vector<4xf32>
// CHECK-NEXT:    %14 = arith.constant dense<[true, true, true, false]> : vector<4xi1>
// CHECK-NEXT:    vector.maskedstore %y[%c9], %14, %10 : memref<12xf32>, vector<4xi1>, vector<4xf32>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
tir.prim_func @rows_longer_than_columns_are_several_columns(%x: memref<3x4xf32>, %y: memref<4x3xf32>) {
  tir.for unrolled %i = 0 to 4 {
    tir.for vectorized %j = 0 to 3 {
      tir.block @turn(%v: spatial 4, %w: spatial 3) = [%i, %j]
          reads(%x[%w, %v] : memref<3x4xf32>) writes(%y[%v, %w] : memref<4x3xf32>) {
        %0 = memref.load %x[%w, %v] : memref<3x4xf32>
        memref.store %0, %y[%v, %w] : memref<4x3xf32>
      }
    }
  }
}

// CHECK-LABEL: func.func private @a_buffer_that_is_written_too_is_read_step_by_step.nest_0(%x: memref<8xf32>) {
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %c4 = arith.constant 4 : index
// CHECK-NEXT:    %c2 = arith.constant 2 : index
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    scf.for %i = %c0 to %c2 step %c1 {
// CHECK-NEXT:      %0 = arith.addi %i, %c4 : index
// CHECK-NEXT:      %1 = vector.load %x[%0] : memref<8xf32>, vector<2xf32>
// CHECK-NEXT:      %2 = arith.addi %0, %c1 : index
// CHECK-NEXT:      %3 = vector.load %x[%2] : memref<8xf32>, vector<2xf32>
// CHECK-NEXT:      %4 = vector.shuffle %1, %3 [0, 3] : vector<2xf32>, vector<2xf32>
// CHECK-NEXT:      %5 = arith.muli %i, %c2 : index
// CHECK-NEXT:      vector.store %4, %x[%5] : memref<8xf32>, vector<2xf32>
// CHECK-NEXT:    } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
tir.prim_func @a_buffer_that_is_written_too_is_read_step_by_step(%x: memref<4x2xf32>) {
  tir.for unrolled %i = 0 to 2 {
    tir.for vectorized %j = 0 to 2 {
      tir.block @turn(%v: spatial 2, %w: spatial 2) = [%i, %j]
          reads(%x[%w + 2, %v] : memref<4x2xf32>) writes(%x[%v, %w] : memref<4x2xf32>) {
        %c2 = arith.constant 2 : index
        %p = arith.addi %w, %c2 : index
        %0 = memref.load %x[%p, %v] : memref<4x2xf32>
        memref.store %0, %x[%v, %w] : memref<4x2xf32>
      }
    }
  }
}

// CHECK-LABEL: func.func private @what_does_not_write_neighbours_stays_a_loop.nest_0(%x: memref<4xf32>, %y: memref<32xf32>) {
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %c8 = arith.constant 8 : index
// CHECK-NEXT:    %c4 = arith.constant 4 : index
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    scf.for %j = %c0 to %c4 step %c1 {
// CHECK-NEXT:      %0 = memref.load %x[%j] : memref<4xf32>
// CHECK-NEXT:      %1 = arith.muli %j, %c8 : index
// CHECK-NEXT:      memref.store %0, %y[%1] : memref<32xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
// CHECK-LABEL: func.func @what_does_not_write_neighbours_stays_a_loop(%x: memref<4xf32>, %y: memref<32xf32>, %slots: !rt.slots<1>, %num_threads: index) {
// CHECK-NEXT:    rt.share %slots[0] {
// CHECK-NEXT:      func.call @what_does_not_write_neighbours_stays_a_loop.nest_0(%x, %y) : (memref<4xf32>, memref<32xf32>) -> ()
// CHECK-NEXT:    } : !rt.slots<1>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
tir.prim_func @what_does_not_write_neighbours_stays_a_loop(%x: memref<4xf32>, %y: memref<32xf32>) {
  tir.for vectorized %j = 0 to 4 {
    tir.block @spread(%v: spatial 4) = [%j] reads(%x[%v] : memref<4xf32>) writes(%y[%v * 8] : memref<32xf32>) {
      %c8 = arith.constant 8 : index
      %p = arith.muli %v, %c8 : index
      %0 = memref.load %x[%v] : memref<4xf32>
      memref.store %0, %y[%p] : memref<32xf32>
    }
  }
}

// CHECK-LABEL: func.func private @lanes_that_branch_apart_stay_a_loop.nest_0(%x: memref<4xf32> {weft.may_alias}, %y: memref<4xf32> {weft.may_alias}) {
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %c4 = arith.constant 4 : index
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    scf.for %j = %c0 to %c4 step %c1 {
// CHECK-NEXT:      %c2 = arith.constant 2 : index
// CHECK-NEXT:      %c = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:      %low = arith.cmpi slt, %j, %c2 : index
// CHECK-NEXT:      %0 = scf.if %low -> (f32) {
// CHECK-NEXT:        %1 = memref.load %x[%j] : memref<4xf32>
// CHECK-NEXT:        scf.yield %1 : f32
// CHECK-NEXT:      } else {
// CHECK-NEXT:        scf.yield %c : f32
// CHECK-NEXT:      }
// CHECK-NEXT:      memref.store %0, %y[%j] : memref<4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
// CHECK-LABEL: func.func @lanes_that_branch_apart_stay_a_loop(%x: memref<4xf32>, %y: memref<4xf32>, %slots: !rt.slots<1>, %num_threads: index)
// CHECK-NEXT:      attributes {weft.in_place = array<i64: 0, 1>} {
// CHECK-NEXT:    rt.share %slots[0] {
// CHECK-NEXT:      func.call @lanes_that_branch_apart_stay_a_loop.nest_0(%x, %y) : (memref<4xf32>, memref<4xf32>) -> ()
// CHECK-NEXT:    } : !rt.slots<1>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
tir.prim_func @lanes_that_branch_apart_stay_a_loop(%x: memref<4xf32>, %y: memref<4xf32>) {
  tir.for vectorized %j = 0 to 4 {
    tir.block @half(%v: spatial 4) = [%j] reads(%x[%v] : memref<4xf32>) writes(%y[%v] : memref<4xf32>) {
      %c2 = arith.constant 2 : index
      %c = arith.constant 0.0 : f32
      %low = arith.cmpi slt, %v, %c2 : index
      %0 = scf.if %low -> (f32) {
        %1 = memref.load %x[%v] : memref<4xf32>
        scf.yield %1 : f32
      } else {
        scf.yield %c : f32
      }
      memref.store %0, %y[%v] : memref<4xf32>
    }
  }
}

// CHECK-LABEL: func.func private @a_guarded_read_becomes_a_branch_around_vectors.nest_0(%x: memref<16xf32>, %y: memref<20xf32>) {
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %cm4 = arith.constant -4 : index
// CHECK-NEXT:    %c4 = arith.constant 4 : index
// CHECK-NEXT:    %c5 = arith.constant 5 : index
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    scf.for %i = %c0 to %c5 step %c1 {
// CHECK-NEXT:      %c1_1 = arith.constant 1 : index
// CHECK-NEXT:      %c = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:      %inside = arith.cmpi sge, %i, %c1_1 : index
// CHECK-NEXT:      %0 = scf.if %inside -> (vector<4xf32>) {
// CHECK-NEXT:        %1 = arith.muli %i, %c4 : index
// CHECK-NEXT:        %2 = arith.addi %1, %cm4 : index
// CHECK-NEXT:        %3 = vector.load %x[%2] : memref<16xf32>, vector<4xf32>
// CHECK-NEXT:        scf.yield %3 : vector<4xf32>
// CHECK-NEXT:      } else {
// CHECK-NEXT:        %4 = vector.broadcast %c : f32 to vector<4xf32>
// CHECK-NEXT:        scf.yield %4 : vector<4xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:      %5 = arith.muli %i, %c4 : index
// CHECK-NEXT:      vector.store %0, %y[%5] : memref<20xf32>, vector<4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
// CHECK-LABEL: func.func @a_guarded_read_becomes_a_branch_around_vectors(%x: memref<16xf32>, %y: memref<20xf32>, %slots: !rt.slots<1>, %num_threads: index) {
// CHECK-NEXT:    rt.share %slots[0] {
// CHECK-NEXT:      func.call @a_guarded_read_becomes_a_branch_around_vectors.nest_0(%x, %y) : (memref<16xf32>, memref<20xf32>) -> ()
// CHECK-NEXT:    } : !rt.slots<1>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
tir.prim_func @a_guarded_read_becomes_a_branch_around_vectors(%x: memref<4x4xf32>, %y: memref<5x4xf32>) {
  tir.for %i = 0 to 5 {
    tir.for vectorized %j = 0 to 4 {
      tir.block @pad(%v: spatial 5, %w: spatial 4) = [%i, %j]
          reads(%x[%v - 1, %w] : memref<4x4xf32>) writes(%y[%v, %w] : memref<5x4xf32>) {
        %c1 = arith.constant 1 : index
        %c = arith.constant 0.0 : f32
        %inside = arith.cmpi sge, %v, %c1 : index
        %0 = scf.if %inside -> (f32) {
          %row = arith.subi %v, %c1 : index
          %1 = memref.load %x[%row, %w] : memref<4x4xf32>
          scf.yield %1 : f32
        } else {
          scf.yield %c : f32
        }
        memref.store %0, %y[%v, %w] : memref<5x4xf32>
      }
    }
  }
}

// CHECK-LABEL: func.func private @init_runs_at_the_first_step.nest_0(%x: memref<32xf32>, %y: memref<4xf32>) {
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %c8 = arith.constant 8 : index
// CHECK-NEXT:    %c4 = arith.constant 4 : index
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    scf.for %i = %c0 to %c4 step %c1 {
// CHECK-NEXT:      scf.for %k = %c0 to %c8 step %c1 {
// CHECK-NEXT:        %0 = arith.cmpi eq, %k, %c0 : index
// CHECK-NEXT:        scf.if %0 {
// CHECK-NEXT:          %1 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:          memref.store %1, %y[%i] : memref<4xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:        %2 = memref.load %y[%i] : memref<4xf32>
// CHECK-NEXT:        %3 = arith.muli %i, %c8 : index
// CHECK-NEXT:        %4 = arith.addi %3, %k : index
// CHECK-NEXT:        %5 = memref.load %x[%4] : memref<32xf32>
// CHECK-NEXT:        %6 = arith.addf %2, %5 : f32
// CHECK-NEXT:        memref.store %6, %y[%i] : memref<4xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
// CHECK-LABEL: func.func @init_runs_at_the_first_step(%x: memref<32xf32>, %y: memref<4xf32>, %slots: !rt.slots<1>, %num_threads: index) {
// CHECK-NEXT:    rt.share %slots[0] {
// CHECK-NEXT:      func.call @init_runs_at_the_first_step.nest_0(%x, %y) : (memref<32xf32>, memref<4xf32>) -> ()
// CHECK-NEXT:    } : !rt.slots<1>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
tir.prim_func @init_runs_at_the_first_step(%x: memref<4x8xf32>, %y: memref<4xf32>) {
  tir.for %i = 0 to 4 {
    tir.for %k = 0 to 8 {
      tir.block @sum(%vi: spatial 4, %vk: reduce 8) = [%i, %k]
          reads(%x[%vi, %vk] : memref<4x8xf32>) writes(%y[%vi] : memref<4xf32>) {
        %0 = memref.load %y[%vi] : memref<4xf32>
        %1 = memref.load %x[%vi, %vk] : memref<4x8xf32>
        %2 = arith.addf %0, %1 : f32
        memref.store %2, %y[%vi] : memref<4xf32>
      } init(%wi, %wk) {
        %3 = arith.constant 0.0 : f32
        memref.store %3, %y[%wi] : memref<4xf32>
      }
    }
  }
}

// CHECK-LABEL: func.func private @init_does_not_run_at_a_later_step.nest_0(%x: memref<32xf32>, %y: memref<4xf32>) {
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %c8 = arith.constant 8 : index
// CHECK-NEXT:    %c7 = arith.constant 7 : index
// CHECK-NEXT:    %c4 = arith.constant 4 : index
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    scf.for %i = %c0 to %c4 step %c1 {
// CHECK-NEXT:      scf.for %k = %c0 to %c7 step %c1 {
// CHECK-NEXT:        %0 = arith.cmpi eq, %k, %c0 : index
// CHECK-NEXT:        scf.if %0 {
// CHECK-NEXT:          %1 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:          memref.store %1, %y[%i] : memref<4xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:        %2 = memref.load %y[%i] : memref<4xf32>
// CHECK-NEXT:        %3 = arith.muli %i, %c8 : index
// CHECK-NEXT:        %4 = arith.addi %3, %k : index
// CHECK-NEXT:        %5 = memref.load %x[%4] : memref<32xf32>
// CHECK-NEXT:        %6 = arith.addf %2, %5 : f32
// CHECK-NEXT:        memref.store %6, %y[%i] : memref<4xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:      %7 = memref.load %y[%i] : memref<4xf32>
// CHECK-NEXT:      %8 = arith.muli %i, %c8 : index
// CHECK-NEXT:      %9 = arith.addi %8, %c7 : index
// CHECK-NEXT:      %10 = memref.load %x[%9] : memref<32xf32>
// CHECK-NEXT:      %11 = arith.addf %7, %10 : f32
// CHECK-NEXT:      memref.store %11, %y[%i] : memref<4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
// CHECK-LABEL: func.func @init_does_not_run_at_a_later_step(%x: memref<32xf32>, %y: memref<4xf32>, %slots: !rt.slots<1>, %num_threads: index) {
// CHECK-NEXT:    rt.share %slots[0] {
// CHECK-NEXT:      func.call @init_does_not_run_at_a_later_step.nest_0(%x, %y) : (memref<32xf32>, memref<4xf32>) -> ()
// CHECK-NEXT:    } : !rt.slots<1>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
tir.prim_func @init_does_not_run_at_a_later_step(%x: memref<4x8xf32>, %y: memref<4xf32>) {
  tir.for %i = 0 to 4 {
    tir.for %k = 0 to 7 {
      tir.block @sum(%vi: spatial 4, %vk: reduce 8) = [%i, %k]
          reads(%x[%vi, %vk] : memref<4x8xf32>) writes(%y[%vi] : memref<4xf32>) {
        %0 = memref.load %y[%vi] : memref<4xf32>
        %1 = memref.load %x[%vi, %vk] : memref<4x8xf32>
        %2 = arith.addf %0, %1 : f32
        memref.store %2, %y[%vi] : memref<4xf32>
      } init(%wi, %wk) {
        %3 = arith.constant 0.0 : f32
        memref.store %3, %y[%wi] : memref<4xf32>
      }
    }
    tir.block @sum(%vi: spatial 4, %vk: reduce 8) = [%i, 7]
        reads(%x[%vi, %vk] : memref<4x8xf32>) writes(%y[%vi] : memref<4xf32>) {
      %0 = memref.load %y[%vi] : memref<4xf32>
      %1 = memref.load %x[%vi, %vk] : memref<4x8xf32>
      %2 = arith.addf %0, %1 : f32
      memref.store %2, %y[%vi] : memref<4xf32>
    } init(%wi, %wk) {
      %3 = arith.constant 0.0 : f32
      memref.store %3, %y[%wi] : memref<4xf32>
    }
  }
}

// CHECK-LABEL: func.func private @a_predicate_becomes_a_branch.nest_0(%y: memref<50xf32>) {
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %c49 = arith.constant 49 : index
// CHECK-NEXT:    %cm1 = arith.constant -1 : index
// CHECK-NEXT:    %cm16 = arith.constant -16 : index
// CHECK-NEXT:    %c16 = arith.constant 16 : index
// CHECK-NEXT:    %c4 = arith.constant 4 : index
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    scf.for %o = %c0 to %c4 step %c1 {
// CHECK-NEXT:      scf.for %i = %c0 to %c16 step %c1 {
// CHECK-NEXT:        %0 = arith.muli %o, %cm16 : index
// CHECK-NEXT:        %1 = arith.muli %i, %cm1 : index
// CHECK-NEXT:        %2 = arith.addi %0, %1 : index
// CHECK-NEXT:        %3 = arith.addi %2, %c49 : index
// CHECK-NEXT:        %4 = arith.cmpi sge, %3, %c0 : index
// CHECK-NEXT:        scf.if %4 {
// CHECK-NEXT:          %c = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:          %5 = arith.muli %o, %c16 : index
// CHECK-NEXT:          %6 = arith.addi %5, %i : index
// CHECK-NEXT:          memref.store %c, %y[%6] : memref<50xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
// CHECK-LABEL: func.func @a_predicate_becomes_a_branch(%y: memref<50xf32>, %slots: !rt.slots<1>, %num_threads: index) {
// CHECK-NEXT:    rt.share %slots[0] {
// CHECK-NEXT:      func.call @a_predicate_becomes_a_branch.nest_0(%y) : (memref<50xf32>) -> ()
// CHECK-NEXT:    } : !rt.slots<1>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
tir.prim_func @a_predicate_becomes_a_branch(%y: memref<50xf32>) {
  tir.for %o = 0 to 4 {
    tir.for %i = 0 to 16 {
      tir.block @b(%v: spatial 50) = [%o * 16 + %i] where [%o * -16 + %i * -1 + 49]
          reads() writes(%y[%v] : memref<50xf32>) {
        %c = arith.constant 0.0 : f32
        memref.store %c, %y[%v] : memref<50xf32>
      }
    }
  }
}

// CHECK-LABEL: func.func private @a_shared_buffer_becomes_an_argument.nest_0(%x: memref<32xf32> {weft.may_alias}, %y: memref<32xf32> {weft.may_alias}, %0: memref<32xf32>,
// CHECK-NEXT:      %first: index, %last: index) {
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %c8 = arith.constant 8 : index
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    scf.for %i = %first to %last step %c1 {
// CHECK-NEXT:      scf.for %j = %c0 to %c8 step %c1 {
// CHECK-NEXT:        %1 = arith.muli %i, %c8 : index
// CHECK-NEXT:        %2 = arith.addi %1, %j : index
// CHECK-NEXT:        %3 = memref.load %x[%2] : memref<32xf32>
// CHECK-NEXT:        %4 = arith.addi %1, %j : index
// CHECK-NEXT:        memref.store %3, %0[%4] : memref<32xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
// CHECK-LABEL: func.func private @a_shared_buffer_becomes_an_argument.nest_1(%x: memref<32xf32> {weft.may_alias}, %y: memref<32xf32> {weft.may_alias}, %0: memref<32xf32>,
// CHECK-NEXT:      %first: index, %last: index) {
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %c8 = arith.constant 8 : index
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    scf.for %k = %first to %last step %c1 {
// CHECK-NEXT:      scf.for %l = %c0 to %c8 step %c1 {
// CHECK-NEXT:        %1 = arith.muli %k, %c8 : index
// CHECK-NEXT:        %2 = arith.addi %1, %l : index
// CHECK-NEXT:        %3 = memref.load %0[%2] : memref<32xf32>
// CHECK-NEXT:        %4 = arith.addi %1, %l : index
// CHECK-NEXT:        memref.store %3, %y[%4] : memref<32xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
// CHECK-LABEL: func.func @a_shared_buffer_becomes_an_argument(%x: memref<32xf32>, %y: memref<32xf32>, %0: memref<32xf32>, %slots: !rt.slots<2>, %num_threads: index)
// CHECK-NEXT:      attributes {weft.in_place = array<i64: 0, 1>} {
// CHECK-NEXT:    %1 = arith.constant 4 : index
// CHECK-NEXT:    rt.share %slots[0] for %first to %last of %1 threads %num_threads {
// CHECK-NEXT:      func.call @a_shared_buffer_becomes_an_argument.nest_0(%x, %y, %0, %first, %last) : (memref<32xf32>, memref<32xf32>, memref<32xf32>, index, index) -> ()
// CHECK-NEXT:    } : !rt.slots<2>
// CHECK-NEXT:    %2 = arith.constant 4 : index
// CHECK-NEXT:    rt.share %slots[1] for %first_1 to %last_1 of %2 threads %num_threads {
// CHECK-NEXT:      func.call @a_shared_buffer_becomes_an_argument.nest_1(%x, %y, %0, %first_1, %last_1)
// CHECK-NEXT:          : (memref<32xf32>, memref<32xf32>, memref<32xf32>, index, index) -> ()
// CHECK-NEXT:    } : !rt.slots<2>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
tir.prim_func @a_shared_buffer_becomes_an_argument(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  %0 = tir.alloc_buffer "global" : memref<4x8xf32>
  tir.for parallel %i = 0 to 4 {
    tir.for %j = 0 to 8 {
      tir.block @first(%vi: spatial 4, %vj: spatial 8) = [%i, %j]
          reads(%x[%vi, %vj] : memref<4x8xf32>) writes(%0[%vi, %vj] : memref<4x8xf32>) {
        %1 = memref.load %x[%vi, %vj] : memref<4x8xf32>
        memref.store %1, %0[%vi, %vj] : memref<4x8xf32>
      }
    }
  }
  tir.for parallel %k = 0 to 4 {
    tir.for %l = 0 to 8 {
      tir.block @second(%vk: spatial 4, %vl: spatial 8) = [%k, %l]
          reads(%0[%vk, %vl] : memref<4x8xf32>) writes(%y[%vk, %vl] : memref<4x8xf32>) {
        %2 = memref.load %0[%vk, %vl] : memref<4x8xf32>
        memref.store %2, %y[%vk, %vl] : memref<4x8xf32>
      }
    }
  }
}

// CHECK-LABEL: func.func private @a_private_buffer_shrinks_to_what_one_iteration_needs.nest_0(%x: memref<24xf32> {weft.may_alias}, %y: memref<24xf32> {weft.may_alias}) {
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %c6 = arith.constant 6 : index
// CHECK-NEXT:    %c4 = arith.constant 4 : index
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %0 = memref.alloca() {alignment = 64 : i64} : memref<8xf32>
// CHECK-NEXT:    scf.for %i = %c0 to %c4 step %c1 {
// CHECK-NEXT:      %1 = arith.muli %i, %c6 : index
// CHECK-NEXT:      %2 = arith.constant dense<0.000000e+00> : vector<8xf32>
// CHECK-NEXT:      %3 = arith.constant dense<[true, true, true, true, true, true, false, false]> : vector<8xi1>
// CHECK-NEXT:      %4 = vector.maskedload %x[%1], %3, %2 : memref<24xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
// CHECK-NEXT:      vector.store %4, %0[%c0] : memref<8xf32>, vector<8xf32>
// CHECK-NEXT:      scf.for %l = %c0 to %c6 step %c1 {
// CHECK-NEXT:        %5 = memref.load %0[%l] : memref<8xf32>
// CHECK-NEXT:        %6 = arith.addi %1, %l : index
// CHECK-NEXT:        memref.store %5, %y[%6] : memref<24xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
// CHECK-LABEL: func.func @a_private_buffer_shrinks_to_what_one_iteration_needs(%x: memref<24xf32>, %y: memref<24xf32>, %slots: !rt.slots<1>, %num_threads: index)
// CHECK-NEXT:      attributes {weft.in_place = array<i64: 0, 1>} {
// CHECK-NEXT:    rt.share %slots[0] {
// CHECK-NEXT:      func.call @a_private_buffer_shrinks_to_what_one_iteration_needs.nest_0(%x, %y) : (memref<24xf32>, memref<24xf32>) -> ()
// CHECK-NEXT:    } : !rt.slots<1>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
tir.prim_func @a_private_buffer_shrinks_to_what_one_iteration_needs(%x: memref<4x6xf32>, %y: memref<4x6xf32>) {
  %0 = tir.alloc_buffer "local" : memref<4x6xf32>
  tir.for %i = 0 to 4 {
    tir.for vectorized %j = 0 to 6 {
      tir.block @first(%vi: spatial 4, %vj: spatial 6) = [%i, %j]
          reads(%x[%vi, %vj] : memref<4x6xf32>) writes(%0[%vi, %vj] : memref<4x6xf32>) {
        %1 = memref.load %x[%vi, %vj] : memref<4x6xf32>
        memref.store %1, %0[%vi, %vj] : memref<4x6xf32>
      }
    }
    tir.for %l = 0 to 6 {
      tir.block @second(%vk: spatial 4, %vl: spatial 6) = [%i, %l]
          reads(%0[%vk, %vl] : memref<4x6xf32>) writes(%y[%vk, %vl] : memref<4x6xf32>) {
        %2 = memref.load %0[%vk, %vl] : memref<4x6xf32>
        memref.store %2, %y[%vk, %vl] : memref<4x6xf32>
      }
    }
  }
}

// A row of six is followed by dimensions of one: it has room for the eight lanes all the same.
// CHECK-LABEL: func.func private @a_row_before_dimensions_of_one_has_room_for_all_lanes.nest_0
// CHECK:         memref.alloca() {alignment = 64 : i64} : memref<8xf32>
// CHECK:         vector.store %{{.*}}, %{{.*}}[%c0] : memref<8xf32>, vector<8xf32>
tir.prim_func @a_row_before_dimensions_of_one_has_room_for_all_lanes(%x: memref<4x6xf32>, %y: memref<4x6xf32>) {
  %0 = tir.alloc_buffer "local" : memref<4x6x1x1xf32>
  tir.for %i = 0 to 4 {
    tir.for vectorized %j = 0 to 6 {
      tir.block @first(%vi: spatial 4, %vj: spatial 6) = [%i, %j]
          reads(%x[%vi, %vj] : memref<4x6xf32>) writes(%0[%vi, %vj, 0, 0] : memref<4x6x1x1xf32>) {
        %c0 = arith.constant 0 : index
        %1 = memref.load %x[%vi, %vj] : memref<4x6xf32>
        memref.store %1, %0[%vi, %vj, %c0, %c0] : memref<4x6x1x1xf32>
      }
    }
    tir.for %l = 0 to 6 {
      tir.block @second(%vk: spatial 4, %vl: spatial 6) = [%i, %l]
          reads(%0[%vk, %vl, 0, 0] : memref<4x6x1x1xf32>) writes(%y[%vk, %vl] : memref<4x6xf32>) {
        %c0 = arith.constant 0 : index
        %2 = memref.load %0[%vk, %vl, %c0, %c0] : memref<4x6x1x1xf32>
        memref.store %2, %y[%vk, %vl] : memref<4x6xf32>
      }
    }
  }
}

// A single number has no row: every lane reads it.
// CHECK-LABEL: func.func private @a_number_beside_masked_lanes_has_no_room.nest_0
// CHECK:         memref.alloca() {alignment = 64 : i64} : memref<1xf32>
// CHECK:         vector.broadcast %{{.*}} : f32 to vector<8xf32>
// CHECK:         vector.maskedstore
tir.prim_func @a_number_beside_masked_lanes_has_no_room(%x: memref<1xf32>, %y: memref<6xf32>) {
  %0 = tir.alloc_buffer "local" : memref<f32>
  tir.for %once = 0 to 1 {
    tir.block @first() = [] reads(%x[0] : memref<1xf32>) writes(%0[] : memref<f32>) {
      %c0 = arith.constant 0 : index
      %1 = memref.load %x[%c0] : memref<1xf32>
      memref.store %1, %0[] : memref<f32>
    }
    tir.for vectorized %j = 0 to 6 {
      tir.block @second(%vj: spatial 6) = [%j] reads(%0[] : memref<f32>) writes(%y[%vj] : memref<6xf32>) {
        %2 = memref.load %0[] : memref<f32>
        memref.store %2, %y[%vj] : memref<6xf32>
      }
    }
  }
}

// CHECK-LABEL: func.func private @a_place_that_depends_on_data_is_computed.nest_0(%t: memref<24xf32>, %n: memref<4xindex>, %y: memref<12xf32>) {
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %c3 = arith.constant 3 : index
// CHECK-NEXT:    %c4 = arith.constant 4 : index
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    scf.for %i = %c0 to %c4 step %c1 {
// CHECK-NEXT:      scf.for %j = %c0 to %c3 step %c1 {
// CHECK-NEXT:        %0 = memref.load %n[%i] : memref<4xindex>
// CHECK-NEXT:        %1 = arith.muli %0, %c3 : index
// CHECK-NEXT:        %2 = arith.addi %c0, %1 : index
// CHECK-NEXT:        %3 = arith.addi %2, %j : index
// CHECK-NEXT:        %4 = memref.load %t[%3] : memref<24xf32>
// CHECK-NEXT:        %5 = arith.muli %i, %c3 : index
// CHECK-NEXT:        %6 = arith.addi %5, %j : index
// CHECK-NEXT:        memref.store %4, %y[%6] : memref<12xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
// CHECK-LABEL: func.func @a_place_that_depends_on_data_is_computed(%t: memref<24xf32>, %n: memref<4xindex>, %y: memref<12xf32>, %slots: !rt.slots<1>, %num_threads: index) {
// CHECK-NEXT:    rt.share %slots[0] {
// CHECK-NEXT:      func.call @a_place_that_depends_on_data_is_computed.nest_0(%t, %n, %y) : (memref<24xf32>, memref<4xindex>, memref<12xf32>) -> ()
// CHECK-NEXT:    } : !rt.slots<1>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
tir.prim_func @a_place_that_depends_on_data_is_computed(%t: memref<8x3xf32>, %n: memref<4xindex>, %y: memref<4x3xf32>) {
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 3 {
      tir.block @gather(%v: spatial 4, %w: spatial 3) = [%i, %j]
          reads(%n[%v] : memref<4xindex>, %t : memref<8x3xf32>) writes(%y[%v, %w] : memref<4x3xf32>) {
        %0 = memref.load %n[%v] : memref<4xindex>
        %1 = memref.load %t[%0, %w] : memref<8x3xf32>
        memref.store %1, %y[%v, %w] : memref<4x3xf32>
      }
    }
  }
}

// CHECK-LABEL: func.func private @quotients_are_computed_once.nest_0(%x: memref<32xf32>, %y: memref<32xf32>) {
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %c8 = arith.constant 8 : index
// CHECK-NEXT:    %c4 = arith.constant 4 : index
// CHECK-NEXT:    %c32 = arith.constant 32 : index
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    scf.for %i = %c0 to %c32 step %c1 {
// CHECK-NEXT:      %0 = arith.remui %i, %c4 : index
// CHECK-NEXT:      %1 = arith.muli %0, %c8 : index
// CHECK-NEXT:      %2 = arith.divui %i, %c4 : index
// CHECK-NEXT:      %3 = arith.addi %1, %2 : index
// CHECK-NEXT:      %4 = memref.load %x[%3] : memref<32xf32>
// CHECK-NEXT:      memref.store %4, %y[%i] : memref<32xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
// CHECK-LABEL: func.func @quotients_are_computed_once(%x: memref<32xf32>, %y: memref<32xf32>, %slots: !rt.slots<1>, %num_threads: index) {
// CHECK-NEXT:    rt.share %slots[0] {
// CHECK-NEXT:      func.call @quotients_are_computed_once.nest_0(%x, %y) : (memref<32xf32>, memref<32xf32>) -> ()
// CHECK-NEXT:    } : !rt.slots<1>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
tir.prim_func @quotients_are_computed_once(%x: memref<4x8xf32>, %y: memref<32xf32>) {
  tir.for %i = 0 to 32 {
    tir.block @flat(%v: spatial 32) = [%i]
        reads(%x[%v mod 4, %v floordiv 4] : memref<4x8xf32>) writes(%y[%v] : memref<32xf32>) {
      %c4 = arith.constant 4 : index
      %q = arith.divui %v, %c4 : index
      %r = arith.remui %v, %c4 : index
      %0 = memref.load %x[%r, %q] : memref<4x8xf32>
      memref.store %0, %y[%v] : memref<32xf32>
    }
  }
}

// CHECK-LABEL: func.func @nothing_to_do_is_nothing_done(%x: memref<0xf32>, %slots: !rt.slots<1>, %num_threads: index) attributes {note} {
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
tir.prim_func @nothing_to_do_is_nothing_done(%x: memref<0x3xf32>) attributes {note} {
}

// CHECK-LABEL: func.func private @a_loop_without_iterations_is_kept.nest_0(%y: memref<0xf32>) {
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    scf.for %i = %c0 to %c0 step %c1 {
// CHECK-NEXT:      %c = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:      memref.store %c, %y[%i] : memref<0xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
// CHECK-LABEL: func.func @a_loop_without_iterations_is_kept(%y: memref<0xf32>, %slots: !rt.slots<1>, %num_threads: index) {
// CHECK-NEXT:    rt.share %slots[0] {
// CHECK-NEXT:      func.call @a_loop_without_iterations_is_kept.nest_0(%y) : (memref<0xf32>) -> ()
// CHECK-NEXT:    } : !rt.slots<1>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
tir.prim_func @a_loop_without_iterations_is_kept(%y: memref<0xf32>) {
  tir.for %i = 0 to 0 {
    tir.block @b(%v: spatial 0) = [%i] reads() writes(%y[%v] : memref<0xf32>) {
      %c = arith.constant 0.0 : f32
      memref.store %c, %y[%v] : memref<0xf32>
    }
  }
}

// CHECK-LABEL: func.func private @a_scalar_needs_no_loop.nest_0(%x: memref<1xf32> {weft.may_alias}, %y: memref<1xf32> {weft.may_alias}) {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %0 = memref.load %x[%c0] : memref<1xf32>
// CHECK-NEXT:    memref.store %0, %y[%c0] : memref<1xf32>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
// CHECK-LABEL: func.func @a_scalar_needs_no_loop(%x: memref<1xf32>, %y: memref<1xf32>, %slots: !rt.slots<1>, %num_threads: index)
// CHECK-NEXT:      attributes {weft.in_place = array<i64: 0, 1>} {
// CHECK-NEXT:    rt.share %slots[0] {
// CHECK-NEXT:      func.call @a_scalar_needs_no_loop.nest_0(%x, %y) : (memref<1xf32>, memref<1xf32>) -> ()
// CHECK-NEXT:    } : !rt.slots<1>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
tir.prim_func @a_scalar_needs_no_loop(%x: memref<f32>, %y: memref<f32>) {
  tir.block @copy() = [] reads(%x[] : memref<f32>) writes(%y[] : memref<f32>) {
    %0 = memref.load %x[] : memref<f32>
    memref.store %0, %y[] : memref<f32>
  }
}

// A kernel that makes checks takes a record, and says what they are.
// CHECK-LABEL: func.func private @a_check_tells_the_record.nest_0(%n: memref<4xindex>, %x: memref<8xf32>, %y: memref<4xf32>, %record: !rt.record) {
// CHECK:         %[[AT:.*]] = memref.load %n
// CHECK-NEXT:    rt.check %[[AT]] of %[[AT]] in 8 else %record[0]
// CHECK:         rt.check %[[AT]] of %[[AT]] in 9 else %record[1]
// CHECK-LABEL: func.func @a_check_tells_the_record(%n: memref<4xindex>, %x: memref<8xf32>, %y: memref<4xf32>, %record: !rt.record, %slots: !rt.slots<1>, %num_threads: index)
// CHECK-NEXT:    attributes {weft.checks = [{text = "first", file = "{{.*}}",
// CHECK:         line = {{[0-9]+}} : i64
// CHECK:         column = {{[0-9]+}} : i64
// CHECK:         {text = "second"
// CHECK:         func.call @a_check_tells_the_record.nest_0(%n, %x, %y, %record)
tir.prim_func @a_check_tells_the_record(%n: memref<4xindex>, %x: memref<8xf32>, %y: memref<4xf32>) {
  tir.for %i = 0 to 4 {
    tir.block @take(%v: spatial 4) = [%i] reads(%n[%v] : memref<4xindex>, %x : memref<8xf32>) writes(%y[%v] : memref<4xf32>) {
      %0 = memref.load %n[%v] : memref<4xindex>
      %1 = tir.check %0 of %0 in 8 "first"
      %2 = memref.load %x[%1] : memref<8xf32>
      %unused = tir.check %0 of %0 in 9 "second"
      memref.store %2, %y[%v] : memref<4xf32>
    }
  }
}

// Where a row is found by more than sums and quotients, or by data, its elements are neighbours all the same.
// CHECK-LABEL: func.func private @rows_found_by_whatever_means_are_read_as_vectors
// CHECK: %[[ROW:.*]] = arith.minsi
// CHECK: %[[FROM:.*]] = arith.muli %[[ROW]], %c4
// CHECK: vector.load %x[{{.*}}] : memref<32xf32>, vector<4xf32>
// CHECK: %[[WHICH:.*]] = memref.load %r[{{.*}}] : memref<8xindex>
// CHECK: vector.load %x[{{.*}}] : memref<32xf32>, vector<4xf32>
// CHECK: vector.store
tir.prim_func @rows_found_by_whatever_means_are_read_as_vectors(%x: memref<8x4xf32>, %r: memref<8xindex>, %y: memref<8x4xf32>) {
  tir.for %i = 0 to 8 {
    tir.for vectorized %j = 0 to 4 {
      tir.block @rows(%vi: spatial 8, %vj: spatial 4) = [%i, %j]
          reads(%x : memref<8x4xf32>, %r[%vi] : memref<8xindex>) writes(%y[%vi, %vj] : memref<8x4xf32>) {
        %c3 = arith.constant 3 : index
        %0 = arith.minsi %vi, %c3 : index
        %1 = memref.load %x[%0, %vj] : memref<8x4xf32>
        %2 = memref.load %r[%vi] : memref<8xindex>
        %3 = memref.load %x[%2, %vj] : memref<8x4xf32>
        %4 = arith.addf %1, %3 : f32
        memref.store %4, %y[%vi, %vj] : memref<8x4xf32>
      }
    }
  }
}

// CHECK-LABEL: func.func private @columns_found_by_data_are_read_one_by_one
// CHECK-NOT: vector
// CHECK: func.return
tir.prim_func @columns_found_by_data_are_read_one_by_one(%x: memref<8x4xf32>, %y: memref<8x4xf32>) {
  tir.for %i = 0 to 8 {
    tir.for vectorized %j = 0 to 4 {
      tir.block @columns(%vi: spatial 8, %vj: spatial 4) = [%i, %j] reads(%x : memref<8x4xf32>) writes(%y[%vi, %vj] : memref<8x4xf32>) {
        %c2 = arith.constant 2 : index
        %0 = arith.minsi %vj, %c2 : index
        %1 = memref.load %x[%vi, %0] : memref<8x4xf32>
        memref.store %1, %y[%vi, %vj] : memref<8x4xf32>
      }
    }
  }
}

// -----

// Threads go through blocks of channels side by side where they read more data than weights (64 columns of 4 KiB, 2 KiB
// of weights), and one after the other where they read more weights.
// CHECK-LABEL: func.func @more_data
// CHECK: rt.share {{.*}} of %{{.*}} threads %num_threads rows 2 {
tir.prim_func @more_data(%x: memref<64x16xf32>, %w: memref<2x16xf32>, %y: memref<2x64x16xf32>) {
  tir.for parallel %j = 0 to 128 {
    tir.for %k = 0 to 16 {
      tir.block @y(%a: spatial 2, %b: spatial 64, %c: spatial 16) = [%j floordiv 64, %j mod 64, %k]
          reads(%x[%b, %c] : memref<64x16xf32>, %w[%a, %c] : memref<2x16xf32>) writes(%y[%a, %b, %c] : memref<2x64x16xf32>) {
        %0 = memref.load %x[%b, %c] : memref<64x16xf32>
        %1 = memref.load %w[%a, %c] : memref<2x16xf32>
        %2 = arith.mulf %0, %1 : f32
        memref.store %2, %y[%a, %b, %c] : memref<2x64x16xf32>
      }
    }
  }
}

// CHECK-LABEL: func.func @more_weights
// CHECK: rt.share {{.*}} of %{{.*}} threads %num_threads {
tir.prim_func @more_weights(%x: memref<16x16xf32>, %w: memref<8x16x16xf32>, %y: memref<8x16x16xf32>) {
  tir.for parallel %j = 0 to 128 {
    tir.for %k = 0 to 16 {
      tir.for %l = 0 to 16 {
        tir.block @y(%a: spatial 8, %b: spatial 16, %c: spatial 16, %d: reduce 16) = [%j floordiv 16, %j mod 16, %k, %l]
            reads(%x[%b, %d] : memref<16x16xf32>, %w[%a, %d, %c] : memref<8x16x16xf32>) writes(%y[%a, %b, %c] : memref<8x16x16xf32>) {
          %0 = memref.load %x[%b, %d] : memref<16x16xf32>
          %1 = memref.load %w[%a, %d, %c] : memref<8x16x16xf32>
          %2 = arith.mulf %0, %1 : f32
          %3 = memref.load %y[%a, %b, %c] : memref<8x16x16xf32>
          %4 = arith.addf %3, %2 : f32
          memref.store %4, %y[%a, %b, %c] : memref<8x16x16xf32>
        }
      }
    }
  }
}

// CHECK-LABEL: func.func @a_sum_of_few_blocks
// CHECK: rt.share {{.*}} of %{{.*}} threads %num_threads rows 2 {
// CHECK-LABEL: func.func @a_sum_of_many_blocks
// CHECK: rt.share {{.*}} of %{{.*}} threads %num_threads {
tir.prim_func @a_sum_of_few_blocks(%x: memref<2x64xf32>, %y: memref<2x64xf32>) {
  tir.for parallel %j = 0 to 128 {
    tir.block @y(%a: spatial 2, %b: spatial 64) = [%j floordiv 64, %j mod 64] reads(%x[%a, %b] : memref<2x64xf32>) writes(%y[%a, %b] : memref<2x64xf32>) {
      %0 = memref.load %x[%a, %b] : memref<2x64xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %y[%a, %b] : memref<2x64xf32>
    }
  }
}
tir.prim_func @a_sum_of_many_blocks(%x: memref<16x8xf32>, %y: memref<16x8xf32>) {
  tir.for parallel %j = 0 to 128 {
    tir.block @y(%a: spatial 16, %b: spatial 8) = [%j floordiv 8, %j mod 8] reads(%x[%a, %b] : memref<16x8xf32>) writes(%y[%a, %b] : memref<16x8xf32>) {
      %0 = memref.load %x[%a, %b] : memref<16x8xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %y[%a, %b] : memref<16x8xf32>
    }
  }
}

// Strips are parts of one dimension: whoever goes through them in order has a part of it.
// CHECK-LABEL: func.func @strips_of_a_dimension
// CHECK: rt.share {{.*}} of %{{.*}} threads %num_threads {
tir.prim_func @strips_of_a_dimension(%x: memref<64xf32>, %y: memref<2x2x32xf32>) {
  tir.for parallel %j = 0 to 128 {
    tir.block @y(%s: spatial 2, %a: spatial 2, %b: spatial 32) = [%j floordiv 64, %j floordiv 32 mod 2, %j mod 32]
        reads(%x[%s * 32 + %b] : memref<64xf32>) writes(%y[%s, %a, %b] : memref<2x2x32xf32>) {
      %c32 = arith.constant 32 : index
      %0 = arith.muli %s, %c32 : index
      %1 = arith.addi %0, %b : index
      %2 = memref.load %x[%1] : memref<64xf32>
      memref.store %2, %y[%s, %a, %b] : memref<2x2x32xf32>
    }
  }
}

// CHECK-LABEL: func.func @an_iterator_that_was_fused_of_blocks_and_rows
// CHECK: rt.share {{.*}} of %{{.*}} threads %num_threads rows 2 {
tir.prim_func @an_iterator_that_was_fused_of_blocks_and_rows(%x: memref<2x64xf32>, %y: memref<2x64xf32>) {
  tir.for parallel %j = 0 to 128 {
    tir.block @y(%ab: spatial 128) = [%j] reads(%x[%ab floordiv 64, %ab mod 64] : memref<2x64xf32>) writes(%y[%ab floordiv 64, %ab mod 64] : memref<2x64xf32>) {
      %c64 = arith.constant 64 : index
      %a = arith.divui %ab, %c64 : index
      %b = arith.remui %ab, %c64 : index
      %0 = memref.load %x[%a, %b] : memref<2x64xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %y[%a, %b] : memref<2x64xf32>
    }
  }
}

// CHECK-LABEL: func.func private @shares_have_slices_of_what_is_as_long_as_a_symbol.nest_0(%y: memref<?xf32>, %m: index, %n: index, %t: memref<?xf32>, %first: index,
// CHECK-NEXT:          %last: index, %slice: index) {
// CHECK:         scf.for %i = %first to %last step %c1 {
// CHECK:             %[[LENGTH:.*]] = arith.divui %{{.*}}, %c32 : index
// CHECK-NEXT:        %[[ROWS:.*]] = arith.muli %slice, %[[LENGTH]] : index
// CHECK-NEXT:        %[[WHOLE:.*]] = arith.muli %[[ROWS]], %c32 : index
// CHECK-NEXT:        %[[LINES:.*]] = arith.muli %slice, %c16 : index
// CHECK-NEXT:        %[[START:.*]] = arith.addi %[[WHOLE]], %[[LINES]] : index
// CHECK-NEXT:        %[[PLACE:.*]] = arith.addi %[[START]], %j : index
// CHECK-NEXT:        memref.store %{{.*}}, %t[%[[PLACE]]] : memref<?xf32>
// CHECK-LABEL: func.func @shares_have_slices_of_what_is_as_long_as_a_symbol(
// CHECK:           attributes {weft.workspace_shapes = [affine_map<()[s0, s1, s2] -> (64, 1, ((((s2 + 15) floordiv 32) * 32) + 16))>]
// CHECK:         %[[SHARES:.*]] = arith.minsi %c64, %m : index
// CHECK-NEXT:    rt.share %slots[0] for %first to %last of %[[SHARES]] threads %num_threads {
// CHECK-NEXT:      %[[FROM:.*]] = arith.muli %first, %m : index
// CHECK-NEXT:      %[[A:.*]] = arith.divui %[[FROM]], %[[SHARES]] : index
// CHECK-NEXT:      %[[TO:.*]] = arith.muli %last, %m : index
// CHECK-NEXT:      %[[B:.*]] = arith.divui %[[TO]], %[[SHARES]] : index
// CHECK-NEXT:      func.call @shares_have_slices_of_what_is_as_long_as_a_symbol.nest_0(%y, %m, %n, %t, %[[A]], %[[B]], %first)
tir.prim_func @shares_have_slices_of_what_is_as_long_as_a_symbol(%y: memref<?x?xf32>, %m: index, %n: index) shapes(%y[%m, %n]) {
  %t = tir.alloc_buffer "local" [%m, %n] : memref<?x?xf32>
  tir.for parallel %i = 0 to %m {
    tir.for %j = 0 to %n {
      tir.block @fill(%v: spatial %m, %w: spatial %n) = [%i, %j] reads() writes(%t[%v, %w] : memref<?x?xf32>) {
        %0 = arith.constant 1.0 : f32
        memref.store %0, %t[%v, %w] : memref<?x?xf32>
      }
    }
    tir.for %k = 0 to %n {
      tir.block @copy(%v: spatial %m, %w: spatial %n) = [%i, %k]
          reads(%t[%v, %w] : memref<?x?xf32>) writes(%y[%v, %w] : memref<?x?xf32>) {
        %1 = memref.load %t[%v, %w] : memref<?x?xf32>
        memref.store %1, %y[%v, %w] : memref<?x?xf32>
      }
    }
  }
}
// CHECK-LABEL: func.func private @one_share_has_one_slice.nest_0(%y: memref<?xf32>, %n: index, %t: memref<?xf32>) {
// CHECK:           memref.store %{{.*}}, %t[%i] : memref<?xf32>
// CHECK-LABEL: func.func @one_share_has_one_slice(
// CHECK:         attributes {weft.workspace_shapes = [affine_map<()[s0, s1] -> (1, ((((s1 + 15) floordiv 32) * 32) + 16))>]} {
tir.prim_func @one_share_has_one_slice(%y: memref<?xf32>, %n: index) shapes(%y[%n]) {
  %t = tir.alloc_buffer "local" [%n] : memref<?xf32>
  tir.for %once = 0 to 1 {
    tir.for %i = 0 to %n {
      tir.block @fill(%v: spatial %n) = [%i] reads() writes(%t[%v] : memref<?xf32>) {
        %0 = arith.constant 1.0 : f32
        memref.store %0, %t[%v] : memref<?xf32>
      }
    }
    tir.for %j = 0 to %n {
      tir.block @copy(%v: spatial %n) = [%j] reads(%t[%v] : memref<?xf32>) writes(%y[%v] : memref<?xf32>) {
        %1 = memref.load %t[%v] : memref<?xf32>
        memref.store %1, %y[%v] : memref<?xf32>
      }
    }
  }
}

// CHECK-LABEL: func.func private @steps_are_taken_in_lanes.nest_0(%x: memref<11xf32>, %s: memref<1xf32>) {
// CHECK:         %[[A:.*]] = vector.load %x[%c0] : memref<11xf32>, vector<4xf32>
// CHECK-NEXT:    %[[B:.*]] = vector.load %x[%c4] : memref<11xf32>, vector<4xf32>
// CHECK:         %[[MASK:.*]] = arith.constant dense<[true, true, true, false]> : vector<4xi1>
// CHECK-NEXT:    %[[C:.*]] = vector.maskedload %x[%c8], %[[MASK]], %{{[0-9]+}} : memref<11xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
// CHECK-NEXT:    %[[NOTHING:.*]] = arith.constant dense<-0.000000e+00> : vector<4xf32>
// CHECK-NEXT:    %[[D:.*]] = vector.shuffle %[[C]], %[[NOTHING]] [0, 1, 2, 4] : vector<4xf32>, vector<4xf32>
// CHECK-NEXT:    %[[E:.*]] = arith.addf %[[A]], %[[B]] fastmath<reassoc> : vector<4xf32>
// CHECK-NEXT:    %[[F:.*]] = arith.addf %[[E]], %[[D]] fastmath<reassoc> : vector<4xf32>
// CHECK-NEXT:    %[[SOFAR:.*]] = memref.load %s[%c0] : memref<1xf32>
// CHECK-NEXT:    %[[SUM:.*]] = vector.reduction <add>, %[[F]], %[[SOFAR]] fastmath<reassoc> : vector<4xf32> into f32
// CHECK-NEXT:    memref.store %[[SUM]], %s[%c0] : memref<1xf32>
tir.prim_func @steps_are_taken_in_lanes(%x: memref<11xf32>, %s: memref<1xf32>) {
  tir.for %once = 0 to 1 {
    tir.block @start(%v: spatial 1) = [0] reads() writes(%s[%v] : memref<1xf32>) {
      %0 = arith.constant 0.0 : f32
      memref.store %0, %s[%v] : memref<1xf32>
    }
    tir.for %k = 0 to 11 annotations {lanes = 4 : i64} {
      tir.block @sum(%v: spatial 1, %vk: reduce 11) = [0, %k] reads(%x[%vk] : memref<11xf32>) writes(%s[%v] : memref<1xf32>) {
        %1 = memref.load %x[%vk] : memref<11xf32>
        %2 = memref.load %s[%v] : memref<1xf32>
        %3 = arith.addf %2, %1 fastmath<reassoc> : f32
        memref.store %3, %s[%v] : memref<1xf32>
      }
    }
  }
}

// Of what is left, as much is read as a vectorised loop over the same steps stores at once.
// CHECK-LABEL: func.func private @steps_that_are_left_are_read_as_they_are_stored.nest_0(%x: memref<10xf32>, %s: memref<1xf32>) {
// CHECK:         %[[A:.*]] = vector.load %x[%c0] : memref<10xf32>, vector<8xf32>
// CHECK-NEXT:    %[[B:.*]] = vector.load %x[%c8] : memref<10xf32>, vector<2xf32>
// CHECK-NEXT:    %[[NOTHING:.*]] = arith.constant dense<-0.000000e+00> : vector<2xf32>
// CHECK-NEXT:    %[[C:.*]] = vector.shuffle %[[B]], %[[NOTHING]] [0, 1, 2, 2, 2, 2, 2, 2] : vector<2xf32>, vector<2xf32>
// CHECK-NEXT:    %{{.*}} = arith.addf %[[A]], %[[C]] fastmath<reassoc> : vector<8xf32>
tir.prim_func @steps_that_are_left_are_read_as_they_are_stored(%x: memref<10xf32>, %s: memref<1xf32>) {
  tir.for %once = 0 to 1 {
    tir.block @start(%v: spatial 1) = [0] reads() writes(%s[%v] : memref<1xf32>) {
      %0 = arith.constant 0.0 : f32
      memref.store %0, %s[%v] : memref<1xf32>
    }
    tir.for %k = 0 to 10 annotations {lanes = 8 : i64} {
      tir.block @sum(%v: spatial 1, %vk: reduce 10) = [0, %k] reads(%x[%vk] : memref<10xf32>) writes(%s[%v] : memref<1xf32>) {
        %1 = memref.load %x[%vk] : memref<10xf32>
        %2 = memref.load %s[%v] : memref<1xf32>
        %3 = arith.addf %2, %1 fastmath<reassoc> : f32
        memref.store %3, %s[%v] : memref<1xf32>
      }
    }
  }
}
// CHECK-LABEL: func.func private @sums_in_order_are_not_taken_in_lanes.nest_0(%x: memref<11xf32>, %s: memref<1xf32>) {
// CHECK:         scf.for %k = %c0 to %c11 step %c1 {
// CHECK-NEXT:      %{{.*}} = memref.load %x[%k] : memref<11xf32>
tir.prim_func @sums_in_order_are_not_taken_in_lanes(%x: memref<11xf32>, %s: memref<1xf32>) {
  tir.for %once = 0 to 1 {
    tir.block @start(%v: spatial 1) = [0] reads() writes(%s[%v] : memref<1xf32>) {
      %0 = arith.constant 0.0 : f32
      memref.store %0, %s[%v] : memref<1xf32>
    }
    tir.for %k = 0 to 11 annotations {lanes = 4 : i64} {
      tir.block @sum(%v: spatial 1, %vk: reduce 11) = [0, %k] reads(%x[%vk] : memref<11xf32>) writes(%s[%v] : memref<1xf32>) {
        %1 = memref.load %x[%vk] : memref<11xf32>
        %2 = memref.load %s[%v] : memref<1xf32>
        %3 = arith.addf %2, %1 : f32
        memref.store %3, %s[%v] : memref<1xf32>
      }
    }
  }
}

// The last lanes of a row that has room for whole vectors are written with those behind, which mean nothing: so these
// are numbers where the row is multiplied, and not what a stack held before.
// CHECK-LABEL: func.func private @last_lanes_of_a_row_are_not_masked.nest_0
// CHECK:         %row = memref.alloca() {alignment = 64 : i64} : memref<128xf32>
// CHECK:         vector.maskedload %x
// CHECK-NOT:     vector.maskedstore %row
// CHECK:         vector.store {{.*}}, %row
// CHECK:         func.return
tir.prim_func @last_lanes_of_a_row_are_not_masked(%x: memref<4x26xf32>, %y: memref<4x26xf32>) {
  %row = tir.alloc_buffer "local" : memref<4x26xf32>
  tir.for %n = 0 to 1 {
    tir.for %i = 0 to 4 {
      tir.for vectorized %j = 0 to 16 {
        tir.block @first(%a: spatial 4, %b: partial spatial 26) = [%i, %j] reads(%x[%a, %b] : memref<4x26xf32>) writes(%row[%a, %b] : memref<4x26xf32>) {
          %0 = memref.load %x[%a, %b] : memref<4x26xf32>
          memref.store %0, %row[%a, %b] : memref<4x26xf32>
        }
      }
      tir.for vectorized %k = 0 to 10 {
        tir.block @last(%c: spatial 4, %d: partial spatial 26) = [%i, %k + 16] reads(%x[%c, %d] : memref<4x26xf32>) writes(%row[%c, %d] : memref<4x26xf32>) {
          %1 = memref.load %x[%c, %d] : memref<4x26xf32>
          memref.store %1, %row[%c, %d] : memref<4x26xf32>
        }
      }
    }
    tir.for %m = 0 to 4 {
      tir.for %l = 0 to 26 {
        tir.block @read(%e: spatial 4, %f: spatial 26) = [%m, %l] reads(%row[%e, %f] : memref<4x26xf32>) writes(%y[%e, %f] : memref<4x26xf32>) {
          %2 = memref.load %row[%e, %f] : memref<4x26xf32>
          memref.store %2, %y[%e, %f] : memref<4x26xf32>
        }
      }
    }
  }
}

// Two threads are worth waking for 4096 steps: of vectors of 16 elements, those of 2048 are a part.
// CHECK-LABEL: func.func @few_steps_are_shared_out_where_the_call_says_that_there_are_many(
// CHECK:         %[[VECTORS:.*]] = arith.divui %n, %c16 : index
// CHECK-NEXT:    %[[WHOLE:.*]] = arith.divui %[[VECTORS]], %c128 : index
// CHECK-NEXT:    %[[PARTS:.*]] = arith.maxsi %[[WHOLE]], %c1 : index
// CHECK-NEXT:    rt.share %slots[0] for %first to %last of %[[PARTS]] threads %num_threads {
// CHECK-NEXT:      %[[FROM:.*]] = arith.muli %first, %[[VECTORS]] : index
// CHECK-NEXT:      %[[A:.*]] = arith.divui %[[FROM]], %[[PARTS]] : index
// CHECK-NEXT:      %[[TO:.*]] = arith.muli %last, %[[VECTORS]] : index
// CHECK-NEXT:      %[[B:.*]] = arith.divui %[[TO]], %[[PARTS]] : index
// CHECK-NEXT:      func.call @few_steps_are_shared_out_where_the_call_says_that_there_are_many.nest_0(%y, %n, %[[A]], %[[B]])
tir.prim_func @few_steps_are_shared_out_where_the_call_says_that_there_are_many(%y: memref<?xf32>, %n: index) shapes(%y[%n]) {
  tir.for parallel %i = 0 to %n floordiv 16 {
    tir.for vectorized %j = 0 to 16 {
      tir.block @double(%v: partial spatial %n) = [%i * 16 + %j] reads(%y[%v] : memref<?xf32>) writes(%y[%v] : memref<?xf32>) {
        %0 = memref.load %y[%v] : memref<?xf32>
        %1 = arith.addf %0, %0 : f32
        memref.store %1, %y[%v] : memref<?xf32>
      }
    }
  }
}
// What a step takes that branches, nothing says.
// CHECK-LABEL: func.func @steps_that_branch_are_each_worth_a_thread(
// CHECK:         rt.share %slots[0] for %first to %last of %n threads %num_threads {
tir.prim_func @steps_that_branch_are_each_worth_a_thread(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) shapes(%x[%n], %y[%n]) {
  tir.for parallel %i = 0 to %n {
    tir.block @root(%v: spatial %n) = [%i] reads(%x[%v] : memref<?xf32>) writes(%y[%v] : memref<?xf32>) {
      %zero = arith.constant 0.0 : f32
      %0 = memref.load %x[%v] : memref<?xf32>
      %is_positive = arith.cmpf ogt, %0, %zero : f32
      scf.if %is_positive {
        %1 = math.sqrt %0 : f32
        memref.store %1, %y[%v] : memref<?xf32>
      }
    }
  }
}
