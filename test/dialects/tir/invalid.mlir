// RUN: weft-opt %s --verify-diagnostics --split-input-file

// expected-error @+1 {{the body's arguments differ from the type of @wrong_type}}
"tir.prim_func"() <{sym_name = "wrong_type", function_type = (memref<4xf32>) -> ()}> ({
^bb0(%x: memref<8xf32>):
}) : () -> ()

// -----

tir.prim_func @unknown_scope() {
  // expected-error @+1 {{unknown scope "attic"; known: global, local, shared,}}
  %0 = tir.alloc_buffer "attic" : memref<4xf32>
}

// -----

tir.prim_func @unknown_loop_kind() {
  // expected-error @+1 {{unknown loop kind "fast"; known: serial, parallel, vectorized, unrolled, thread_binding}}
  "tir.for"() <{min = 0 : index, extent = 4 : index, kind = "fast"}> ({
  ^bb0(%i: index):
  }) : () -> ()
}

// -----

tir.prim_func @negative_extent() {
  // expected-error @+1 {{negative extent -1}}
  tir.for %i = 4 to 3 {
  }
}

// -----

tir.prim_func @loop_variable_of_another_type() {
  // expected-error @+1 {{the body takes one index argument}}
  "tir.for"() <{min = 0 : index, extent = 4 : index, kind = "serial"}> ({
  ^bb0(%i: i32):
  }) : () -> ()
}

// -----

tir.prim_func @thread_binding_without_a_thread() {
  // expected-error @+1 {{a thread is named by, and only by, a loop of kind thread_binding}}
  tir.for thread_binding %i = 0 to 4 {
  }
}

// -----

tir.prim_func @thread_of_a_serial_loop() {
  // expected-error @+1 {{a thread is named by, and only by, a loop of kind thread_binding}}
  "tir.for"() <{min = 0 : index, extent = 4 : index, kind = "serial", thread = "threadIdx.x"}> ({
  ^bb0(%i: index):
  }) : () -> ()
}

// -----

tir.prim_func @an_iterator_too_few() {
  tir.for %i = 0 to 4 {
    // expected-error @+1 {{1 iterators need as many kinds, extents and bindings}}
    tir.block @b(%v: spatial 4) = [%i, %i] reads() writes() {
    }
  }
}

// -----

tir.prim_func @unknown_iterator_kind() {
  // expected-error @+1 {{unknown iterator kind; known: spatial, reduce, opaque}}
  "tir.block"() <{sym_name = "b", iter_kinds = ["scan"], iter_extents = array<i64: 4>, bindings = affine_map<() -> (0)>, read_maps = [], write_maps = [], operandSegmentSizes = array<i32: 0, 0, 0>}> ({
  ^bb0(%v: index):
  }) : () -> ()
}

// -----

tir.prim_func @negative_iterator_extent() {
  // expected-error @+1 {{iterator 0 has the negative extent -4}}
  tir.block @b(%v: spatial -4) = [0] reads() writes() {
  }
}

// -----

tir.prim_func @iterator_of_another_type() {
  // expected-error @+1 {{iterators have type index}}
  "tir.block"() <{sym_name = "b", iter_kinds = ["spatial"], iter_extents = array<i64: 4>, bindings = affine_map<() -> (0)>, read_maps = [], write_maps = [], operandSegmentSizes = array<i32: 0, 0, 0>}> ({
  ^bb0(%v: i32):
  }) : () -> ()
}

// -----

tir.prim_func @bindings_over_other_dimensions() {
  // expected-error @+1 {{bindings and predicate are over the block's loop variables}}
  "tir.block"() <{sym_name = "b", iter_kinds = ["spatial"], iter_extents = array<i64: 4>, bindings = affine_map<(d0) -> (d0)>, read_maps = [], write_maps = [], operandSegmentSizes = array<i32: 0, 0, 0>}> ({
  ^bb0(%v: index):
  }) : () -> ()
}

// -----

tir.prim_func @predicate_over_other_dimensions() {
  // expected-error @+1 {{bindings and predicate are over the block's loop variables}}
  "tir.block"() <{sym_name = "b", iter_kinds = ["spatial"], iter_extents = array<i64: 4>, bindings = affine_map<() -> (0)>, predicate = affine_map<(d0) -> (d0)>, read_maps = [], write_maps = [], operandSegmentSizes = array<i32: 0, 0, 0>}> ({
  ^bb0(%v: index):
  }) : () -> ()
}

// -----

tir.prim_func @bound_to_what_is_no_loop(%n: index) {
  // expected-error @+1 {{an iterator can only be bound to variables of the loops around the block}}
  tir.block @b(%v: spatial 4) = [%n] reads() writes() {
  }
}

// -----

tir.prim_func @init_without_a_reduction() {
  // expected-error @+1 {{a block without reduction iterators has no init}}
  tir.block @b(%v: spatial 4) = [0] reads() writes() {
  } init(%w) {
  }
}

// -----

tir.prim_func @init_takes_too_little() {
  // expected-error @+1 {{init takes the same iterators as the body}}
  tir.block @b(%v: spatial 4, %k: reduce 4) = [0, 0] reads() writes() {
  } init(%w) {
  }
}

// -----

tir.prim_func @a_map_too_few(%x: memref<4xf32>) {
  // expected-error @+1 {{each buffer read or written has one map}}
  "tir.block"(%x) <{sym_name = "b", iter_kinds = [], iter_extents = array<i64>, bindings = affine_map<() -> ()>, read_maps = [], write_maps = [], operandSegmentSizes = array<i32: 0, 1, 0>}> ({
  ^bb0():
  }) : (memref<4xf32>) -> ()
}

// -----

tir.prim_func @reads_what_it_does_not_declare(%x: memref<4xf32>) {
  // expected-error @+1 {{the body touches a buffer that the block does not declare}}
  tir.block @b(%v: spatial 4) = [0] reads() writes() {
    %0 = memref.load %x[%v] : memref<4xf32>
  }
}

// -----

tir.prim_func @writes_what_it_declares_as_read(%x: memref<4xf32>, %z: f32) {
  // expected-error @+1 {{the body writes a buffer that the block only reads}}
  tir.block @b(%v: spatial 4) = [0] reads(%x[%v] : memref<4xf32>) writes() {
    memref.store %z, %x[%v] : memref<4xf32>
  }
}

// -----

tir.prim_func @map_of_another_rank(%x: memref<4x4xf32>) {
  // expected-error @+1 {{the map (d0) -> (d0) does not lead from the block's 1 iterators to an element of memref<4x4xf32>}}
  tir.block @b(%v: spatial 4) = [0] reads(%x[%v] : memref<4x4xf32>) writes() {
  }
}

// -----

tir.prim_func @map_that_is_none(%x: memref<4xf32>) {
  // expected-error @+1 {{a buffer's map is an affine map, or unit where it depends on data, not 4 : i64}}
  "tir.block"(%x) <{sym_name = "b", iter_kinds = [], iter_extents = array<i64>, bindings = affine_map<() -> ()>, read_maps = [4], write_maps = [], operandSegmentSizes = array<i32: 0, 1, 0>}> ({
  ^bb0():
  }) : (memref<4xf32>) -> ()
}

// -----

// expected-error @+1 {{expect symbol name}}
tir.prim_func no_name() {
}

// -----

tir.prim_func @iterator_without_a_kind() {
  // expected-error @+1 {{Expected `spatial`, `reduce`, or `opaque`.}}
  tir.block @b(%v: fast 4) = [0] reads() writes() {
  }
}

// -----

tir.prim_func @a_loop_longer_than_the_iterator(%x: memref<64xf32>, %y: memref<f32>) {
  tir.for %k = 0 to 128 {
    // expected-error @+1 {{iterator %vk of block @sum takes the value 64 where %k = 64, outside of its extent 64; its values run from 0 to 127}}
    tir.block @sum(%vk: reduce 64) = [%k] reads(%x[%vk] : memref<64xf32>) writes(%y[] : memref<f32>) {
      %0 = memref.load %y[] : memref<f32>
      %1 = memref.load %x[%vk] : memref<64xf32>
      %2 = arith.addf %0, %1 : f32
      memref.store %2, %y[] : memref<f32>
    }
  }
}

// -----

tir.prim_func @half_a_sum(%x: memref<64xf32>, %y: memref<f32>) {
  tir.for %k = 0 to 32 {
    // expected-error @+1 {{iterator %vk of block @sum does not take every value of its extent 64: its values run from 0 to 31, so a part of the reduction is left out}}
    tir.block @sum(%vk: reduce 64) = [%k] reads(%x[%vk] : memref<64xf32>) writes(%y[] : memref<f32>) {
      %0 = memref.load %y[] : memref<f32>
      %1 = memref.load %x[%vk] : memref<64xf32>
      %2 = arith.addf %0, %1 : f32
      memref.store %2, %y[] : memref<f32>
    }
  }
}

// -----

tir.prim_func @every_second_element(%y: memref<9xf32>, %z: f32) {
  tir.for %i = 0 to 5 {
    // expected-error @+1 {{iterator %v of block @b does not take every value of its extent 9: its loops have only 5 iterations, so elements are left out}}
    tir.block @b(%v: spatial 9) = [%i * 2] reads() writes(%y[%v] : memref<9xf32>) {
      memref.store %z, %y[%v] : memref<9xf32>
    }
  }
}

// -----

tir.prim_func @a_gap_between_two_parts(%y: memref<9xf32>, %z: f32) {
  tir.for %i = 0 to 3 {
    // expected-error @+1 {{its values run from 0 to 2, 5 to 8, so elements are left out}}
    tir.block @b(%v: spatial 9) = [%i] reads() writes(%y[%v] : memref<9xf32>) {
      memref.store %z, %y[%v] : memref<9xf32>
    }
  }
  tir.for %i = 5 to 9 {
    tir.block @b(%v: spatial 9) = [%i] reads() writes(%y[%v] : memref<9xf32>) {
      memref.store %z, %y[%v] : memref<9xf32>
    }
  }
}

// -----

tir.prim_func @a_loop_without_iterations(%y: memref<9xf32>, %z: f32) {
  tir.for %i = 0 to 0 {
    // expected-error @+1 {{its loops have no iterations, so elements are left out}}
    tir.block @b(%v: spatial 9) = [%i] reads() writes(%y[%v] : memref<9xf32>) {
      memref.store %z, %y[%v] : memref<9xf32>
    }
  }
}

// -----

tir.prim_func @a_predicate_that_lets_too_much_through(%y: memref<50xf32>, %z: f32) {
  tir.for %o = 0 to 4 {
    tir.for %i = 0 to 16 {
      // expected-error @+1 {{iterator %v of block @b takes the value 50 where %o = 3, %i = 2, outside of its extent 50}}
      tir.block @b(%v: spatial 50) = [%o * 16 + %i] where [%o * -16 + %i * -1 + 50] reads() writes(%y[%v] : memref<50xf32>) {
        memref.store %z, %y[%v] : memref<50xf32>
      }
    }
  }
}

// -----

tir.prim_func @a_negative_value(%y: memref<8xf32>, %z: f32) {
  tir.for %i = 0 to 8 {
    // expected-error @+1 {{iterator %v of block @b takes the value -1 where %i = 0, outside of its extent 8}}
    tir.block @b(%v: spatial 8) = [%i - 1] reads() writes(%y[%v] : memref<8xf32>) {
      memref.store %z, %y[%v] : memref<8xf32>
    }
  }
}

// -----

tir.prim_func @reads_outside_of_its_buffer(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block @b(%v: spatial 8) = [%i] reads(%x[%v + 1] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %c1 = arith.constant 1 : index
      %0 = arith.addi %v, %c1 : index
      // expected-error @+1 {{block @b reads %x outside: index 8 in dimension 0 where %v = 7, of extent 8}}
      %1 = memref.load %x[%0] : memref<8xf32>
      memref.store %1, %y[%v] : memref<8xf32>
    }
  }
}

// -----

tir.prim_func @writes_outside_of_its_buffer(%y: memref<4x7xf32>, %z: f32) {
  tir.for %i = 0 to 8 {
    tir.block @b(%v: spatial 8) = [%i] reads() writes(%y[0, %v] : memref<4x7xf32>) {
      %c0 = arith.constant 0 : index
      // expected-error @+1 {{block @b writes %y outside: index 7 in dimension 1 where %v = 7, of extent 7}}
      memref.store %z, %y[%c0, %v] : memref<4x7xf32>
    }
  }
}

// -----

tir.prim_func @a_parallel_reduction(%x: memref<64xf32>, %y: memref<f32>) {
  tir.for parallel %k = 0 to 64 {
    // expected-error @+1 {{block @sum stands in a parallel loop, %k, to which it binds iterator %vk, which is a reduction: its steps cannot run at the same time}}
    tir.block @sum(%vk: reduce 64) = [%k] reads(%x[%vk] : memref<64xf32>) writes(%y[] : memref<f32>) {
      %0 = memref.load %y[] : memref<f32>
      %1 = memref.load %x[%vk] : memref<64xf32>
      %2 = arith.addf %0, %1 : f32
      memref.store %2, %y[] : memref<f32>
    }
  }
}

// -----

tir.prim_func @a_reduction_bound_to_a_thread(%x: memref<64xf32>, %y: memref<f32>) {
  tir.for thread_binding "threadIdx.x" %k = 0 to 64 {
    // expected-error @+1 {{stands in a thread_binding loop, %k, to which it binds iterator %vk, which is a reduction}}
    tir.block @sum(%vk: reduce 64) = [%k] reads(%x[%vk] : memref<64xf32>) writes(%y[] : memref<f32>) {
      %0 = memref.load %y[] : memref<f32>
      %1 = memref.load %x[%vk] : memref<64xf32>
      %2 = arith.addf %0, %1 : f32
      memref.store %2, %y[] : memref<f32>
    }
  }
}

// -----

tir.prim_func @an_opaque_iterator_in_vector_lanes(%y: memref<8xf32>, %z: f32) {
  tir.for vectorized %i = 0 to 8 {
    // expected-error @+1 {{stands in a vectorized loop, %i, to which it binds iterator %v, which is opaque}}
    tir.block @b(%v: opaque 8) = [%i] reads() writes(%y[%v] : memref<8xf32>) {
      memref.store %z, %y[%v] : memref<8xf32>
    }
  }
}

// -----

tir.prim_func @threads_write_the_same_element(%x: memref<8xf32>, %y: memref<4xf32>) {
  tir.for parallel %i = 0 to 8 {
    // expected-error @+1 {{it stands in a parallel loop, %i, whose iterations depend on each other: block @b writes the same element of %y in several iterations of %i}}
    tir.block @b(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%y[%v floordiv 2] : memref<4xf32>) {
      %c2 = arith.constant 2 : index
      %0 = arith.divui %v, %c2 : index
      %1 = memref.load %x[%v] : memref<8xf32>
      memref.store %1, %y[%0] : memref<4xf32>
    }
  }
}

// -----

tir.prim_func @a_loop_that_the_block_does_not_use(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for parallel %i = 0 to 2 {
    tir.for %j = 0 to 8 {
      // expected-error @+1 {{block @b writes the same element of %y in several iterations of %i}}
      tir.block @b(%v: spatial 8) = [%j] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
        %0 = memref.load %x[%v] : memref<8xf32>
        memref.store %0, %y[%v] : memref<8xf32>
      }
    }
  }
}

// -----

// In iteration 1 of %b, @x writes y[2] in iteration 0 of %i, and @y, which has nothing of %b, in iteration 2 of it.
tir.prim_func @blocks_in_loops_of_which_each_uses_another(%y: memref<12xf32>, %z: f32) {
  tir.for %a = 0 to 3 {
    tir.for %b = 0 to 5 {
      tir.for parallel %i = 0 to 4 {
        // expected-error @+1 {{block @x and block @y write the same element of %y in several iterations of %i}}
        tir.block @x(%v: spatial 12) = [%b * 2 + %i] reads() writes(%y[%v] : memref<12xf32>) {
          memref.store %z, %y[%v] : memref<12xf32>
        }
        tir.block @y(%v: spatial 10) = [%a * 3 + %i] reads() writes(%y[%v] : memref<12xf32>) {
          memref.store %z, %y[%v] : memref<12xf32>
        }
      }
    }
  }
}

// -----

tir.prim_func @lanes_read_what_others_write(%y: memref<9xf32>) {
  tir.for vectorized %i = 0 to 8 {
    // expected-error @+1 {{block @b writes elements of %y that block @b touches in other iterations of %i}}
    tir.block @b(%v: spatial 8) = [%i] reads(%y[%v] : memref<9xf32>) writes(%y[%v + 1] : memref<9xf32>) {
      %c1 = arith.constant 1 : index
      %0 = arith.addi %v, %c1 : index
      %1 = memref.load %y[%v] : memref<9xf32>
      memref.store %1, %y[%0] : memref<9xf32>
    }
  }
}

// -----

tir.prim_func @threads_share_a_buffer(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for parallel %i = 0 to 8 {
    %t = tir.alloc_buffer "global" : memref<f32>
    // expected-error @+1 {{block @a writes the same element of %t in several iterations of %i}}
    tir.block @a(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%t[] : memref<f32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %t[] : memref<f32>
    }
    tir.block @b(%v: spatial 8) = [%i] reads(%t[] : memref<f32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %t[] : memref<f32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}

// -----

tir.prim_func @parallel_in_parallel(%y: memref<2x8xf32>, %z: f32) {
  tir.for parallel %i = 0 to 2 {
    // expected-error @+1 {{a parallel loop stands in another one, whose iterations are the threads' shares already}}
    tir.for parallel %j = 0 to 8 {
      tir.block @b(%v: spatial 2, %w: spatial 8) = [%i, %j] reads() writes(%y[%v, %w] : memref<2x8xf32>) {
        memref.store %z, %y[%v, %w] : memref<2x8xf32>
      }
    }
  }
}

// -----

tir.prim_func @a_private_buffer_that_threads_read(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{%t is of scope "local", each thread's own, but block @b and block @a, which use it, do not stand in the same parallel loops}}
  %t = tir.alloc_buffer "local" : memref<8xf32>
  tir.for %i = 0 to 8 {
    tir.block @a(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%t[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %t[%v] : memref<8xf32>
    }
  }
  tir.for parallel %i = 0 to 8 {
    tir.block @b(%v: spatial 8) = [%i] reads(%t[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %t[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}

// -----

tir.prim_func @a_store_outside_of_a_block(%y: memref<8xf32>, %z: f32) {
  tir.for %i = 0 to 8 {
    // expected-error @+1 {{stands among loops, where only tir.for, tir.block, tir.outer_block, tir.alloc_buffer and tir.storage_sync may}}
    memref.store %z, %y[%i] : memref<8xf32>
  }
}

// -----

tir.prim_func @an_operation_outside_of_all_loops(%y: memref<f32>) {
  // expected-error @+1 {{'arith.constant': stands among loops}}
  %z = arith.constant 1.0 : f32
}

// -----

tir.prim_func @declares_another_element(%x: memref<9xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    // expected-error @+1 {{the block declares to read %x at one place, but its body reads elsewhere}}
    tir.block @b(%v: spatial 8) = [%i] reads(%x[%v + 1] : memref<9xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<9xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}

// -----

tir.prim_func @declares_one_place_of_several(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    // expected-error @+1 {{but its body reads at several, or where data says}}
    tir.block @b(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %c0 = arith.constant 0 : index
      %0 = memref.load %x[%v] : memref<8xf32>
      %1 = memref.load %x[%c0] : memref<8xf32>
      %2 = arith.addf %0, %1 : f32
      memref.store %2, %y[%v] : memref<8xf32>
    }
  }
}

// -----

tir.prim_func @declares_a_read_that_is_none(%x: memref<8xf32>, %y: memref<8xf32>, %z: f32) {
  tir.for %i = 0 to 8 {
    // expected-error @+1 {{the block declares to read %x, but its body does not}}
    tir.block @b(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      memref.store %z, %y[%v] : memref<8xf32>
    }
  }
}

// -----

tir.prim_func @reads_what_it_declares_as_written(%y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    // expected-error @+1 {{the body reads %y, which the block does not declare to read}}
    tir.block @b(%v: spatial 8) = [%i] reads() writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %y[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}

// -----

tir.prim_func @the_same_buffer_twice(%y: memref<8xf32>, %z: f32) {
  tir.for %i = 0 to 8 {
    // expected-error @+1 {{a value stands twice among those that are written}}
    tir.block @b(%v: spatial 8) = [%i] reads() writes(%y[%v] : memref<8xf32>, %y[%v] : memref<8xf32>) {
      memref.store %z, %y[%v] : memref<8xf32>
    }
  }
}

// -----

tir.prim_func @init_uses_the_reductions_iterator(%y: memref<4x8xf32>, %z: f32) {
  tir.for %k = 0 to 8 {
    // expected-error @+1 {{init uses the reduction's iterator %vk, but runs once for all its values}}
    tir.block @b(%v: spatial 1, %vk: reduce 8) = [0, %k] reads() writes(%y[%v, %vk] : memref<4x8xf32>) {
      memref.store %z, %y[%v, %vk] : memref<4x8xf32>
    } init(%w, %l) {
      memref.store %z, %y[%w, %l] : memref<4x8xf32>
    }
  }
}

// -----

tir.prim_func @init_writes_elsewhere(%y: memref<f32>, %t: memref<f32>, %z: f32) {
  tir.for %k = 0 to 8 {
    // expected-error @+1 {{init writes a buffer that the body does not}}
    tir.block @b(%vk: reduce 8) = [%k] reads() writes(%y[] : memref<f32>, %t[] : memref<f32>) {
      memref.store %z, %y[] : memref<f32>
    } init(%l) {
      memref.store %z, %t[] : memref<f32>
    }
  }
}

// -----

tir.prim_func @init_reads_what_has_no_value(%y: memref<f32>, %z: f32) {
  tir.for %k = 0 to 8 {
    // expected-error @+1 {{init reads a buffer that the block writes, before it has a value}}
    tir.block @b(%vk: reduce 8) = [%k] reads() writes(%y[] : memref<f32>) {
      memref.store %z, %y[] : memref<f32>
    } init(%l) {
      %0 = memref.load %y[] : memref<f32>
      memref.store %0, %y[] : memref<f32>
    }
  }
}

// -----

tir.prim_func @a_product_of_loop_variables() {
  tir.for %i = 0 to 4 {
    // expected-error @+1 {{bindings and predicate multiply by constants or symbols, and divide by positive ones}}
    tir.block @b(%v: spatial 16) = [%i * %i] reads() writes() {
    }
  }
}

// -----

tir.prim_func @a_division_by_zero() {
  tir.for %i = 0 to 4 {
    // expected-error @+1 {{index expressions divide by constants that are positive, and by symbols}}
    tir.block @b(%v: spatial 16) = [%i floordiv 0] reads() writes() {
    }
  }
}

// -----

tir.prim_func @a_division_by_a_loop_variable() {
  tir.for %i = 0 to 4 {
    // expected-error @+1 {{bindings and predicate multiply by constants or symbols, and divide by positive ones}}
    tir.block @b(%v: spatial 16) = [8 floordiv %i] reads() writes() {
    }
  }
}

// -----

tir.prim_func @a_division_by_a_size_that_may_be_0(%x: memref<4xf32>, %n: index) {
  tir.for %i = 0 to 4 {
    // expected-error @+1 {{block @b is addressed by a quotient by %n, which is not shown to be positive where it runs}}
    tir.block @b(%v: spatial 4) = [%i floordiv %n] reads() writes() {
    }
  }
}

// -----

// expected-error @+1 {{symbol 0 of ()[s0] -> ((s0 + -1)) is argument 0 of @what_is_assumed_of_a_buffer}}
tir.prim_func @what_is_assumed_of_a_buffer(%x: memref<?xf32>, %n: index) shapes(%x[%n])
    attributes {assumed = [affine_map<()[s0] -> (s0 - 1)>]} {
}

// -----

// expected-error @+1 {{assumed has affine maps, of the function's sizes as symbols}}
tir.prim_func @what_is_assumed_is_no_map(%x: memref<?xf32>, %n: index) shapes(%x[%n]) attributes {assumed = 1 : i64} {
}

// -----

tir.prim_func @a_constant_divided_by_zero() {
  // expected-error @+1 {{index expressions divide by constants that are positive, and by symbols}}
  tir.block @b(%v: spatial 16) = [4 mod 0] reads() writes() {
  }
}

// -----

tir.prim_func @an_access_by_a_loop_variable(%y: memref<8xf32>, %z: f32) {
  tir.for %i = 0 to 8 {
    // expected-error @+1 {{an access is addressed by the block's iterators (%v), not by %i}}
    tir.block @b(%v: spatial 8) = [%i] reads() writes(%y[%i] : memref<8xf32>) {
      memref.store %z, %y[%v] : memref<8xf32>
    }
  }
}

// -----

tir.prim_func @a_partial_iterator_that_is_none() {
  // expected-error @+1 {{there are 1 iterators that can be partial, numbered from 0}}
  "tir.block"() <{sym_name = "b", iter_kinds = ["spatial"], iter_extents = array<i64: 1>, partial = array<i64: 1>, bindings = affine_map<() -> (0)>, read_maps = [], write_maps = [], operandSegmentSizes = array<i32: 0, 0, 0>}> ({
  ^bb0(%v: index):
  }) : () -> ()
}

// -----

tir.prim_func @a_check_of_a_negative_extent(%y: memref<4xindex>) {
  tir.for %i = 0 to 4 {
    tir.block @b(%v: spatial 4) = [%i] reads() writes(%y[%v] : memref<4xindex>) {
      // expected-error @+1 {{the extent -1 is negative}}
      %0 = tir.check %v of %v in -1 "never"
      memref.store %0, %y[%v] : memref<4xindex>
    }
  }
}

// -----

// expected-error @+1 {{%y is memref<?xf32>, and nothing says what its extents are: add shapes(%y[...])}}
tir.prim_func @an_extent_that_nothing_says(%y: memref<?xf32>) {
}

// -----

// expected-error @+1 {{%y is memref<?x8xf32>, but extent 1 is said to be 4}}
tir.prim_func @an_extent_that_is_another(%y: memref<?x8xf32>, %n: index) shapes(%y[%n, 4]) {
}

// -----

// expected-error @+1 {{buffers come first among the arguments, then the index arguments}}
tir.prim_func @a_symbol_before_a_buffer(%n: index, %y: memref<8xf32>) {
}

// -----

tir.prim_func @a_loop_to_another_loops_variable(%y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    // expected-error @+1 {{an extent may depend on the function's index arguments, which %i is not one of}}
    tir.for %j = 0 to %i {
    }
  }
}

// -----

tir.prim_func @a_loop_that_is_too_long(%y: memref<?xf32>, %z: f32, %n: index) shapes(%y[%n]) {
  tir.for %i = 0 to %n + 1 {
    // expected-error @+1 {{iterator %v of block @b takes the value 1 where %i = 1, outside of its extent 1; its values run from 0 to 1 (for %n = 1)}}
    tir.block @b(%v: spatial %n) = [%i] reads() writes(%y[%v] : memref<?xf32>) {
      memref.store %z, %y[%v] : memref<?xf32>
    }
  }
}

// -----

tir.prim_func @what_is_shown_of_all_sizes_does_not_show_that_a_buffer_has_values(%y: memref<?xf32>, %n: index) shapes(%y[%n]) {
  %b = tir.alloc_buffer "global" [%n] : memref<?xf32>
  tir.for %i = 0 to %n {
    tir.block @copy(%v: spatial %n) = [%i] reads(%b[%v] : memref<?xf32>) writes(%y[%v] : memref<?xf32>) {
      // expected-error @+1 {{block @copy reads %b before anything is written to it (for %n = 6)}}
      %0 = memref.load %b[%v] : memref<?xf32>
      memref.store %0, %y[%v] : memref<?xf32>
    }
  }
}

// -----

tir.prim_func @a_buffer_has_values_for_sizes_of_a_whole_tile_alone(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) shapes(%x[%n], %y[%n]) {
  %b = tir.alloc_buffer "global" [%n] : memref<?xf32>
  tir.for %i = 0 to %n floordiv 8 {
    tir.block @fill(%v: partial spatial %n) = [%i] reads(%x[%v] : memref<?xf32>) writes(%b[%v] : memref<?xf32>) {
      %0 = memref.load %x[%v] : memref<?xf32>
      memref.store %0, %b[%v] : memref<?xf32>
    }
  }
  tir.for %i = 0 to %n {
    tir.block @copy(%v: spatial %n) = [%i] reads(%b[%v floordiv 33] : memref<?xf32>) writes(%y[%v] : memref<?xf32>) {
      %c33 = arith.constant 33 : index
      %1 = arith.floordivsi %v, %c33 : index
      // expected-error @+1 {{(for %n = 6)}}
      %0 = memref.load %b[%1] : memref<?xf32>
      memref.store %0, %y[%v] : memref<?xf32>
    }
  }
}

// -----

tir.prim_func @a_private_sum_runs_on_from_one_run_of_a_parallel_loop_to_the_next(%x: memref<8xf32>, %y: memref<8xf32>) {
  %b = tir.alloc_buffer "local" : memref<1xf32>
  tir.for %k = 0 to 8 {
    tir.for parallel %i = 0 to 1 {
      // expected-error @+1 {{it is not shown that each iteration of %i writes what it reads of %b, each thread's own}}
      tir.block @sum(%v: spatial 1, %vk: reduce 8) = [%i, %k] reads(%x[%vk] : memref<8xf32>) writes(%b[%v] : memref<1xf32>) {
        %0 = memref.load %b[%v] : memref<1xf32>
        %1 = memref.load %x[%vk] : memref<8xf32>
        %2 = arith.addf %0, %1 : f32
        memref.store %2, %b[%v] : memref<1xf32>
      } init(%w, %wk) {
        %3 = arith.constant 0.0 : f32
        memref.store %3, %b[%w] : memref<1xf32>
      }
    }
  }
}

// -----

tir.prim_func @a_private_sum_runs_on_from_iteration_to_iteration(%x: memref<8xf32>, %y: memref<8xf32>) {
  %b = tir.alloc_buffer "local" : memref<1xf32>
  tir.for parallel %i = 0 to 8 {
    // expected-error @+1 {{block @sum reads an element of %b, each thread's own, that the same iteration of %i, a parallel loop, has not written}}
    tir.block @sum(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>, %b[0] : memref<1xf32>)
        writes(%b[0] : memref<1xf32>, %y[%v] : memref<8xf32>) {
      %c = arith.constant 0 : index
      %0 = memref.load %x[%v] : memref<8xf32>
      %1 = memref.load %b[%c] : memref<1xf32>
      %2 = arith.addf %0, %1 : f32
      memref.store %2, %b[%c] : memref<1xf32>
      memref.store %2, %y[%v] : memref<8xf32>
    }
  }
}

// -----

tir.prim_func @one_iteration_writes_a_private_buffer_for_all(%x: memref<8xf32>, %y: memref<8xf32>) {
  %b = tir.alloc_buffer "local" : memref<1xf32>
  tir.for thread_binding "threadIdx.x" %i = 0 to 8 {
    tir.block @first(%v: partial spatial 8) = [%i] where [-%i] reads(%x[%v] : memref<8xf32>)
        writes(%b[0] : memref<1xf32>) {
      %c = arith.constant 0 : index
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %b[%c] : memref<1xf32>
    }
    // expected-error @+1 {{that the same iteration of %i, a thread_binding loop, has not written}}
    tir.block @all(%v: spatial 8) = [%i] reads(%b[0] : memref<1xf32>) writes(%y[%v] : memref<8xf32>) {
      %c = arith.constant 0 : index
      %0 = memref.load %b[%c] : memref<1xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}

// -----

tir.prim_func @a_private_element_of_the_iteration_before(%x: memref<8xf32>, %y: memref<8xf32>) {
  %b = tir.alloc_buffer "local" : memref<9xf32>
  tir.for parallel %i = 0 to 8 {
    tir.block @next(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%b[%v + 1] : memref<9xf32>) {
      %c = arith.constant 1 : index
      %w = arith.addi %v, %c : index
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %b[%w] : memref<9xf32>
    }
    // expected-error @+1 {{block @this reads an element of %b, each thread's own}}
    tir.block @this(%v: spatial 8) = [%i] reads(%b[%v] : memref<9xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %b[%v] : memref<9xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}

// -----

tir.prim_func @half_of_a_private_row_is_written(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  %b = tir.alloc_buffer "local" : memref<8xf32>
  tir.for parallel %i = 0 to 4 {
    tir.for %j = 0 to 4 {
      tir.block @half(%v: spatial 4, %w: partial spatial 8) = [%i, %j * 2] reads(%x[%v, %w] : memref<4x8xf32>)
          writes(%b[%w] : memref<8xf32>) {
        %0 = memref.load %x[%v, %w] : memref<4x8xf32>
        memref.store %0, %b[%w] : memref<8xf32>
      }
    }
    tir.for %j = 0 to 8 {
      // expected-error @+1 {{block @all reads an element of %b}}
      tir.block @all(%v: spatial 4, %w: spatial 8) = [%i, %j] reads(%b[%w] : memref<8xf32>)
          writes(%y[%v, %w] : memref<4x8xf32>) {
        %0 = memref.load %b[%w] : memref<8xf32>
        memref.store %0, %y[%v, %w] : memref<4x8xf32>
      }
    }
  }
}

// -----

tir.prim_func @a_buffer_is_read_before_it_is_written(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = tir.alloc_buffer "global" : memref<8xf32>
  tir.for %i = 0 to 8 {
    tir.block @late(%v: spatial 8) = [%i] reads(%t[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      // expected-error @+1 {{block @late reads %t before anything is written to it}}
      %0 = memref.load %t[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
  tir.for %i = 0 to 8 {
    tir.block @early(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%t[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %t[%v] : memref<8xf32>
    }
  }
}

// -----

tir.prim_func @a_reduction_begins_without_a_value(%x: memref<8xf32>, %y: memref<1xf32>) {
  %t = tir.alloc_buffer "global" : memref<1xf32>
  tir.for %i = 0 to 8 {
    tir.block @sum(%o: spatial 1, %v: reduce 8) = [0, %i] reads(%x[%v] : memref<8xf32>) writes(%t[%o] : memref<1xf32>) {
      // expected-error @+1 {{block @sum reads %t before anything is written to it}}
      %0 = memref.load %t[%o] : memref<1xf32>
      %1 = memref.load %x[%v] : memref<8xf32>
      %2 = arith.addf %0, %1 : f32
      memref.store %2, %t[%o] : memref<1xf32>
    }
  }
}

// -----

tir.prim_func @what_is_read_is_not_what_is_written(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = tir.alloc_buffer "global" : memref<8xf32>
  tir.for %i = 0 to 8 {
    tir.block @early(%v: spatial 8) = [%i] where [%i - 3]
        reads(%x[%v] : memref<8xf32>) writes(%t[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %t[%v] : memref<8xf32>
    }
  }
  tir.for %i = 0 to 8 {
    tir.block @late(%v: spatial 8) = [%i] reads(%t[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      // expected-error @+1 {{block @late reads %t at index 0 of dimension 0, where nothing is written to it}}
      %0 = memref.load %t[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}

// -----

tir.prim_func @init_of_another_element(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.for %k = 0 to 2 {
      // expected-error @+1 {{init writes %y elsewhere than the body, which goes on from what stands there}}
      tir.block @a(%v: spatial 8, %w: reduce 2) = [%i, %k]
          reads(%x[%v] : memref<8xf32>) writes(%y : memref<8xf32>) {
        %0 = memref.load %y[%v] : memref<8xf32>
        %1 = memref.load %x[%v] : memref<8xf32>
        %2 = arith.addf %0, %1 : f32
        memref.store %2, %y[%v] : memref<8xf32>
      } init(%v, %w) {
        %0 = arith.constant 0.0 : f32
        %c0 = arith.constant 0 : index
        memref.store %0, %y[%c0] : memref<8xf32>
      }
    }
  }
}

// -----

tir.prim_func @init_reads_what_another_iteration_writes(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<9xf32>) {
  tir.for parallel %i = 0 to 8 {
    // expected-error @+1 {{block @fill writes elements of %z that block @sum touches in other iterations of %i}}
    tir.block @fill(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%z[%v] : memref<9xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %z[%v] : memref<9xf32>
    }
    tir.for %k = 0 to 2 {
      tir.block @sum(%v: spatial 8, %w: reduce 2) = [%i, %k]
          reads(%x[%v] : memref<8xf32>, %z[%v + 1] : memref<9xf32>) writes(%y[%v] : memref<8xf32>) {
        %0 = memref.load %y[%v] : memref<8xf32>
        %1 = memref.load %x[%v] : memref<8xf32>
        %2 = arith.addf %0, %1 : f32
        memref.store %2, %y[%v] : memref<8xf32>
      } init(%v, %w) {
        %c1 = arith.constant 1 : index
        %k1 = arith.addi %v, %c1 : index
        %0 = memref.load %z[%k1] : memref<9xf32>
        memref.store %0, %y[%v] : memref<8xf32>
      }
    }
  }
}

// -----

tir.prim_func @an_outer_block_is_not_empty(%x: memref<8xf32>) {
  // expected-error @+1 {{an outer block holds loops or blocks}}
  tir.outer_block @nothing {
  }
}

// -----

tir.prim_func @an_outer_block_holds_no_arithmetic(%x: memref<8xf32>) {
  tir.outer_block @one {
    // expected-error @+1 {{stands among loops}}
    %0 = arith.constant 1 : index
  }
}

// -----

tir.prim_func @a_dot_product_has_four_pairs(%x: memref<4xi8>, %y: memref<1xi32>) {
  tir.block @dot() = [] reads(%x[0] : memref<4xi8>) writes(%y[0] : memref<1xi32>) {
    %c0 = arith.constant 0 : index
    %c = arith.constant 0 : i32
    %a = memref.load %x[%c0] : memref<4xi8>
    // expected-error @+1 {{sums 4 products, not 4 by 3}}
    %0 = tir.dot %c + (%a, %a, %a, %a) * (%a, %a, %a)
    memref.store %0, %y[%c0] : memref<1xi32>
  }
}

// -----

tir.prim_func @waiting_for_global_memory() {
  tir.for thread_binding "threadIdx.x" %i = 0 to 8 {
    // expected-error @+1 {{threads wait for memory of the scope "shared", not "global"}}
    tir.storage_sync "global"
  }
}

// -----

tir.prim_func @loop_variable_in_a_block(%x: memref<4xf32>, %y: memref<4xf32>) {
  tir.for %i = 0 to 4 {
    tir.block @copy(%v: spatial 4) = [%i] reads(%x : memref<4xf32>) writes(%y[%v] : memref<4xf32>) {
      // expected-error @+1 {{block @copy uses %i, the variable of a loop around it}}
      %0 = memref.load %x[%i] : memref<4xf32>
      memref.store %0, %y[%v] : memref<4xf32>
    }
  }
}

// -----

// Each element is written once, as 200003 is prime; so many are not looked at.
tir.prim_func @parallel_loop_that_is_not_understood(%y: memref<200003xf32>, %z: f32) {
  tir.for parallel %i = 0 to 200003 {
    // expected-error @+1 {{it stands in a parallel loop: it is not shown that no two iterations of %i meet}}
    tir.block @scatter(%v: spatial 200003) = [%i] reads() writes(%y[(%v * 7) mod 200003] : memref<200003xf32>) {
      %c7 = arith.constant 7 : index
      %n = arith.constant 200003 : index
      %0 = arith.muli %v, %c7 : index
      %1 = arith.remui %0, %n : index
      memref.store %z, %y[%1] : memref<200003xf32>
    }
  }
}

// -----

tir.prim_func @parallel_loop_that_is_asserted(%y: memref<200003xf32>, %z: f32) {
  tir.for parallel %i = 0 to 200003 annotations {independent} {
    tir.block @scatter(%v: spatial 200003) = [%i] reads() writes(%y[(%v * 7) mod 200003] : memref<200003xf32>) {
      %c7 = arith.constant 7 : index
      %n = arith.constant 200003 : index
      %0 = arith.muli %v, %c7 : index
      %1 = arith.remui %0, %n : index
      memref.store %z, %y[%1] : memref<200003xf32>
    }
  }
}

// -----

tir.prim_func @what_may_be_any_decides_nothing(%y: memref<4xf32>) {
  tir.for %i = 0 to 4 {
    tir.block @b(%v: spatial 4) = [%i] reads() writes(%y : memref<4xf32>) {
      // expected-error @+1 {{a value that may be any is stored, and decides nothing}}
      %0 = tir.undef : index
      %c1 = arith.constant 1.0 : f32
      memref.store %c1, %y[%0] : memref<4xf32>
    }
  }
}

// -----

tir.prim_func @a_block_within_a_block(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block @outer(%vo: spatial 8) = [%i] reads(%x : memref<8xf32>) writes(%y : memref<8xf32>) {
      // expected-error @+1 {{'tir.block': stands in the body of block @outer, which loads, computes and stores elements}}
      tir.block @inner(%vi: spatial 8) = [%i] reads(%x[%vi] : memref<8xf32>) writes(%y[%vi] : memref<8xf32>) {
        %a = memref.load %x[%vi] : memref<8xf32>
        memref.store %a, %y[%vi] : memref<8xf32>
      }
    }
  }
}

// -----

tir.prim_func @a_loop_within_a_block(%x: memref<8xf32>, %y: memref<8xf32>, %c: i1) {
  tir.block @outer() = [] reads(%x : memref<8xf32>) writes(%y : memref<8xf32>) {
    scf.if %c {
      // expected-error @+1 {{'tir.for': stands in the body of block @outer, which loads, computes and stores elements}}
      tir.for %i = 0 to 8 {
        %a = memref.load %x[%i] : memref<8xf32>
        memref.store %a, %y[%i] : memref<8xf32>
      }
    }
  }
}

// -----

// expected-error @+1 {{an extent is divided by %n, which is not said to be positive}}
tir.prim_func @an_extent_divided_by_a_size_that_may_be_0(%x: memref<?xf32>, %n: index, %m: index) shapes(%x[%m floordiv %n]) {
}

// -----

// expected-error @+1 {{tir.scopes has a text for each of the first arguments}}
tir.prim_func @scopes_that_are_no_texts(%x: memref<8xf32>) attributes {tir.scopes = [1 : i64]} {
}

// -----

// expected-error @+1 {{tir.scopes has the scopes of buffers, and not of %n}}
tir.prim_func @a_size_in_a_scope(%x: memref<8xf32>, %n: index) attributes {tir.scopes = ["global", "shared"]} {
}
