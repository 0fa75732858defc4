// RUN: weft-opt %s --verify-diagnostics --split-input-file

// expected-error @+1 {{the body's arguments differ from the type of @wrong_type}}
"tir.prim_func"() <{sym_name = "wrong_type", function_type = (memref<4xf32>) -> ()}> ({
^bb0(%x: memref<8xf32>):
}) : () -> ()

// -----

tir.prim_func @unknown_scope() {
  // expected-error @+1 {{unknown scope "shared"; known: global, local}}
  %0 = tir.alloc_buffer "shared" : memref<4xf32>
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
  tir.block @b(%v: spatial 4) = [0] reads(%x[(d0) -> (d0)] : memref<4xf32>) writes() {
    memref.store %z, %x[%v] : memref<4xf32>
  }
}

// -----

tir.prim_func @map_of_another_rank(%x: memref<4x4xf32>) {
  // expected-error @+1 {{the map (d0) -> (d0) does not lead from the block's 1 iterators to an element of memref<4x4xf32>}}
  tir.block @b(%v: spatial 4) = [0] reads(%x[(d0) -> (d0)] : memref<4x4xf32>) writes() {
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
