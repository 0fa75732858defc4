// RUN: weft-opt %s --verify-diagnostics --split-input-file

mem.graph @reads_what_nothing_has_written() writes(%out: memref<8xf32>) {
  %a = mem.alloc : memref<8xf32>
  // expected-error @+1 {{reads %a, which nothing has written}}
  mem.call @k(%a) writes(%out) : (memref<8xf32>) writes(memref<8xf32>)
}

// -----

mem.graph @reads_an_output_that_nothing_has_written() writes(%out: memref<8xf32>) {
  // expected-error @+1 {{reads %out, which nothing has written}}
  mem.copy %out to %out : memref<8xf32> to memref<8xf32>
}

// -----

mem.graph @writes_an_input(%x: memref<8xf32>) {
  // expected-error @+1 {{writes %x, which is not the graph's to write}}
  mem.call @k() writes(%x) : () writes(memref<8xf32>)
}

// -----

mem.graph @writes_a_part_of_a_constant() {
  %w = mem.constant dense<2.0> : tensor<8xf32> as tensor<8xf32> : memref<8xf32>
  %a = mem.part %w[0] : memref<8xf32> to memref<4xf32>
  // expected-error @+1 {{writes %w, which is not the graph's to write}}
  mem.call @k() writes(%a) : () writes(memref<4xf32>)
}

// -----

mem.graph @copies_a_part_from_behind_the_end(%x: memref<8xf32>) writes(%out: memref<4xf32>) {
  // expected-error @+1 {{a kernel copies a part of one buffer; of 32 bytes, not 16 from byte 20 on}}
  mem.copy %x to %out by @slice {offset = 20 : i64} : memref<8xf32> to memref<4xf32>
}

// -----

mem.graph @copies_a_part_without_a_kernel(%x: memref<8xf32>) writes(%out: memref<4xf32>) {
  // expected-error @+1 {{a kernel copies a part of one buffer}}
  mem.copy %x to %out {offset = 0 : i64} : memref<8xf32> to memref<4xf32>
}

// -----

// expected-error @+1 {{never writes its output %out}}
mem.graph @never_writes_its_output() writes(%out: memref<8xf32>) {
}

// -----

mem.graph @overlapping_buffers(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
  %pool = mem.pool : memref<64xi8>
  %a = mem.alloc at %pool[0] : memref<8xf32> in memref<64xi8>
  mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
  // expected-error @+1 {{%b at bytes 16 to 48 overlaps %a at bytes 0 to 32, which is needed at the same time}}
  %b = mem.alloc at %pool[16] : memref<8xf32> in memref<64xi8>
  mem.call @k(%a) writes(%b) : (memref<8xf32>) writes(memref<8xf32>)
  mem.call @k(%b) writes(%out) : (memref<8xf32>) writes(memref<8xf32>)
}

// -----

mem.graph @a_view_makes_buffers_overlap(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
  %pool = mem.pool : memref<64xi8>
  %a = mem.alloc at %pool[0] : memref<8xf32> in memref<64xi8>
  %view = mem.part %a[0] : memref<8xf32> to memref<4xf32>
  mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
  %b = mem.alloc at %pool[32] : memref<8xf32> in memref<64xi8>
  mem.call @k(%a) writes(%b) : (memref<8xf32>) writes(memref<8xf32>)
  // expected-error @+1 {{%c at bytes 0 to 32 overlaps %a at bytes 0 to 32}}
  %c = mem.alloc at %pool[0] : memref<8xf32> in memref<64xi8>
  mem.call @k(%b) writes(%c) : (memref<8xf32>) writes(memref<8xf32>)
  mem.call @k(%c, %view) writes(%out) : (memref<8xf32>, memref<4xf32>) writes(memref<8xf32>)
}

// -----

mem.graph @outside_of_the_pool() {
  %pool = mem.pool : memref<64xi8>
  // expected-error @+1 {{bytes 48 to 80 are outside of the pool's 64}}
  %a = mem.alloc at %pool[48] : memref<8xf32> in memref<64xi8>
}

// -----

mem.graph @a_pool_of_another_device() {
  %pool = mem.pool : memref<64xi8, "cuda">
  // expected-error @+1 {{is planned into memory of another device}}
  %a = mem.alloc at %pool[0] : memref<8xf32> in memref<64xi8, "cuda">
}

// -----

mem.graph @a_place_in_what_is_no_pool(%x: memref<64xi8>) {
  // expected-error @+1 {{its place is not in a mem.pool}}
  %a = mem.alloc at %x[0] : memref<8xf32> in memref<64xi8>
}

// -----

mem.graph @a_pool_of_floats() {
  // expected-error @+1 {{a pool is so and so many bytes, not memref<8xf32>}}
  %pool = mem.pool : memref<8xf32>
}

// -----

mem.graph @an_extent_too_few() {
  // expected-error @+1 {{memref<?xf32> leaves 1 extents open, and 0 are given}}
  %a = mem.alloc : memref<?xf32>
}

// -----

mem.graph @a_place_for_a_size_that_is_not_known() {
  %pool = mem.pool : memref<64xi8>
  %n = arith.constant 4 : index
  // expected-error @+1 {{memref<?xf32> has no place that is known now: its size is not}}
  %a = mem.alloc(%n) at %pool[0] : memref<?xf32> in memref<64xi8>
}

// -----

mem.graph @an_alias_of_another_size(%x: memref<8xf32>) {
  // expected-error @+1 {{memref<8xf32> and memref<2x3xf32> are not as many elements of one type}}
  %a = mem.alias %x : memref<8xf32> to memref<2x3xf32>
}

// -----

mem.graph @an_alias_on_another_device(%x: memref<8xf32>) {
  // expected-error @+1 {{are not on the same device}}
  %a = mem.alias %x : memref<8xf32> to memref<8xf32, "cuda">
}

// -----

mem.graph @a_part_that_is_too_long(%x: memref<8xf32>) {
  // expected-error @+1 {{bytes 16 to 48 are outside of memref<8xf32>, which has 32}}
  %a = mem.part %x[16] : memref<8xf32> to memref<8xf32>
}

// -----

mem.graph @a_part_of_what_has_no_known_size(%x: memref<?xf32>) {
  // expected-error @+1 {{an extent is not}}
  %a = mem.part %x[16] : memref<?xf32> to memref<8xf32>
}

// -----

mem.graph @a_copy_that_does_not_fill(%x: memref<8xf32>) writes(%out: memref<12xf32>) {
  // expected-error @+1 {{32 bytes do not fill the target's 48}}
  mem.copy %x to %out : memref<8xf32> to memref<12xf32>
}

// -----

mem.graph @a_copy_of_what_has_no_known_size(%x: memref<?xf32>) writes(%out: memref<12xf32>) {
  // expected-error @+1 {{whether the target is filled is not known: an extent is not}}
  mem.copy %x to %out : memref<?xf32> to memref<12xf32>
}

// -----

mem.graph @a_constant_of_another_shape() {
  // expected-error @+1 {{memref<4xf32> does not hold tensor<8xf32>}}
  %w = mem.constant dense<2.0> : tensor<8xf32> as tensor<8xf32> : memref<4xf32>
}

// -----

// expected-error @+1 {{takes and gives buffers, not index}}
mem.graph @takes_a_number(%n: index) {
}

// -----

// expected-error @+1 {{1 names are given to 2 buffers}}
mem.graph @a_name_too_few(%x: memref<8xf32>, %y: memref<8xf32>) attributes {input_names = ["x"]} {
}

// -----

mem.graph @no_operation_on_memory(%x: memref<8xf32>) {
  // expected-error @+1 {{is no operation on memory}}
  "test.op"(%x) : (memref<8xf32>) -> ()
}

// -----

// expected-error @+1 {{() -> (8) does not say what the extents of memref<?xf32> are}}
mem.graph @shapes_are_those_of_the_buffers(%x: memref<?xf32>) symbols(%n: index) attributes {shapes = [affine_map<() -> (8)>]} {
}

// -----

mem.graph @a_pool_has_the_extents_of_what_lies_in_it() symbols(%n: index, %m: index) attributes {shapes = []} {
  %pool = mem.pool(%n) : memref<?x64xi8>
  // expected-error @+1 {{memref<?xf32> has no place that is known now in a pool of other extents}}
  %a = mem.alloc(%m) at %pool[0] : memref<?xf32> in memref<?x64xi8>
}

// -----

mem.graph @a_kernel_is_on_one_device(%x: memref<8xf32>) writes(%out: memref<8xf32, #relay.virtual_device<ext_dev>>) {
  // expected-error @+1 {{works on buffers of several devices}}
  mem.call @k(%x) writes(%out) : (memref<8xf32>) writes(memref<8xf32, #relay.virtual_device<ext_dev>>)
}

// -----

mem.graph @turns_without_a_row_each(%x: memref<8x4xf32>, %h: memref<4xf32>) {
  %two = mem.alloc : memref<2x4xf32>
  // expected-error @+1 {{memref<8x4xf32> has no rows for 9 turns}}
  mem.scan @turn turns 9() over(%x) from(%h) writes(%two) {directions = array<i64: 0, 0>}
    : () over(memref<8x4xf32>) from(memref<4xf32>) writes(memref<2x4xf32>)
}

// -----

mem.graph @what_is_carried_in_one_place(%h: memref<4xf32>) {
  %one = mem.alloc : memref<1x4xf32>
  // expected-error @+1 {{memref<1x4xf32> has no rows for 9 turns}}
  mem.scan @turn turns 9() over() from(%h) writes(%one) {directions = array<i64: 0>}
    : () over() from(memref<4xf32>) writes(memref<1x4xf32>)
}

// -----

mem.graph @what_is_carried_as_another_type(%h: memref<4xf32>) {
  %two = mem.alloc : memref<2x2xf32>
  // expected-error @+1 {{memref<4xf32> is carried, whose rows are memref<2xf32>}}
  mem.scan @turn turns 9() over() from(%h) writes(%two) {directions = array<i64: 0>}
    : () over() from(memref<4xf32>) writes(memref<2x2xf32>)
}

// -----

mem.graph @turns_that_read_what_nothing_has_written(%h: memref<4xf32>) {
  %x = mem.alloc : memref<9x4xf32>
  %two = mem.alloc : memref<2x4xf32>
  // expected-error @+1 {{reads %x, which nothing has written}}
  mem.scan @turn turns 9() over(%x) from(%h) writes(%two) {directions = array<i64: 0, 0>}
    : () over(memref<9x4xf32>) from(memref<4xf32>) writes(memref<2x4xf32>)
}

// -----

mem.graph @turns_that_nothing_counts(%h: memref<4xf32>) {
  %two = mem.alloc : memref<2x4xf32>
  // expected-error @+1 {{nothing says how many turns there are}}
  mem.scan @turn() over() from(%h) writes(%two) {directions = array<i64: 0>}
    : () over() from(memref<4xf32>) writes(memref<2x4xf32>)
}
