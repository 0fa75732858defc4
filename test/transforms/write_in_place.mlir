// RUN: weft-opt %s -p write-in-place --split-input-file | filecheck %s

// A chain of kernels that overwrite what they read has one buffer; the graph's own input and output stay apart.
// CHECK-LABEL: mem.graph @a_chain_has_one_buffer
// CHECK-NEXT:    %a = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.call @relu(%x) writes(%a)
// CHECK-NEXT:    mem.call @relu(%a) writes(%a)
// CHECK-NEXT:    mem.call @relu(%a) writes(%a)
// CHECK-NEXT:    mem.call @relu(%a) writes(%y)
func.func private @relu(memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) attributes {weft.in_place = array<i64: 0, 1>}
mem.graph @a_chain_has_one_buffer(%x: memref<8xf32>) writes(%y: memref<8xf32>) {
  %a = mem.alloc : memref<8xf32>
  %b = mem.alloc : memref<8xf32>
  %c = mem.alloc : memref<8xf32>
  mem.call @relu(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
  mem.call @relu(%a) writes(%b) : (memref<8xf32>) writes(memref<8xf32>)
  mem.call @relu(%b) writes(%c) : (memref<8xf32>) writes(memref<8xf32>)
  mem.call @relu(%c) writes(%y) : (memref<8xf32>) writes(memref<8xf32>)
}

// -----

// What is needed later is not overwritten, nor is a constant; of two inputs that die the first is.
// CHECK-LABEL: mem.graph @only_what_dies_is_overwritten
// CHECK:         mem.call @add(%a, %w) writes(%b)
// CHECK-NEXT:    mem.call @add(%b, %a) writes(%b)
// CHECK-NEXT:    mem.call @add(%b, %b) writes(%y)
func.func private @add(memref<8xf32>, memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) attributes {weft.in_place = array<i64: 0, 2, 1, 2>}
mem.graph @only_what_dies_is_overwritten(%x: memref<8xf32>) writes(%y: memref<8xf32>) {
  %w = mem.constant dense<2.0> : tensor<8xf32> as tensor<8xf32> : memref<8xf32>
  %a = mem.alloc : memref<8xf32>
  %b = mem.alloc : memref<8xf32>
  %c = mem.alloc : memref<8xf32>
  mem.call @add(%x, %x) writes(%a) : (memref<8xf32>, memref<8xf32>) writes(memref<8xf32>)
  mem.call @add(%a, %w) writes(%b) : (memref<8xf32>, memref<8xf32>) writes(memref<8xf32>)
  mem.call @add(%b, %a) writes(%c) : (memref<8xf32>, memref<8xf32>) writes(memref<8xf32>)
  mem.call @add(%c, %c) writes(%y) : (memref<8xf32>, memref<8xf32>) writes(memref<8xf32>)
}

// -----

// A buffer that is read twice, by one input that may be overwritten and one that may not, stays.
// CHECK-LABEL: mem.graph @every_reading_counts
// CHECK:         mem.call @k(%a, %a) writes(%b)
func.func private @k(memref<8xf32>, memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) attributes {weft.in_place = array<i64: 0, 2>}
func.func private @relu(memref<8xf32>, memref<8xf32>, !rt.slots<1>, index)
mem.graph @every_reading_counts(%x: memref<8xf32>) writes(%y: memref<8xf32>) {
  %a = mem.alloc : memref<8xf32>
  %b = mem.alloc : memref<8xf32>
  mem.call @relu(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
  mem.call @k(%a, %a) writes(%b) : (memref<8xf32>, memref<8xf32>) writes(memref<8xf32>)
  mem.call @relu(%b) writes(%y) : (memref<8xf32>) writes(memref<8xf32>)
}

// -----

// A reshape is seen through, a part of a buffer is not all of it, and its other parts are needed.
// CHECK-LABEL: mem.graph @views_are_what_they_are_of
// CHECK:         %b = mem.alias %a : memref<2x8xf32> to memref<16xf32>
// CHECK:         mem.call @relu16(%a_1) writes(%b)
// CHECK:         mem.call @relu8(%p) writes(%c)
func.func private @relu16(memref<16xf32>, memref<16xf32>, !rt.slots<1>, index) attributes {weft.in_place = array<i64: 0, 1>}
func.func private @relu8(memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) attributes {weft.in_place = array<i64: 0, 1>}
func.func private @make(memref<2x8xf32>, memref<2x8xf32>, !rt.slots<1>, index)
func.func private @all(memref<16xf32>, memref<8xf32>, memref<16xf32>, !rt.slots<1>, index)
mem.graph @views_are_what_they_are_of(%x: memref<2x8xf32>) writes(%y: memref<16xf32>) {
  %a = mem.alloc : memref<2x8xf32>
  %a_1 = mem.alias %a : memref<2x8xf32> to memref<16xf32>
  %b = mem.alloc : memref<16xf32>
  %p = mem.part %b[32] : memref<16xf32> to memref<8xf32>
  %c = mem.alloc : memref<8xf32>
  mem.call @make(%x) writes(%a) : (memref<2x8xf32>) writes(memref<2x8xf32>)
  mem.call @relu16(%a_1) writes(%b) : (memref<16xf32>) writes(memref<16xf32>)
  mem.call @relu8(%p) writes(%c) : (memref<8xf32>) writes(memref<8xf32>)
  mem.call @all(%b, %c) writes(%y) : (memref<16xf32>, memref<8xf32>) writes(memref<16xf32>)
}

// -----

// One output takes the place of an input; another one of the same call does not, though nobody needs the first.
// CHECK-LABEL: mem.graph @two_outputs_are_two_buffers
// CHECK:         mem.call @two(%a) writes(%a, %c)
func.func private @two(memref<8xf32>, memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) attributes {weft.in_place = array<i64: 0, 1, 0, 2>}
mem.graph @two_outputs_are_two_buffers(%x: memref<8xf32>) writes(%y: memref<8xf32>) {
  %a = mem.alloc : memref<8xf32>
  %b = mem.alloc : memref<8xf32>
  %c = mem.alloc : memref<8xf32>
  %d = mem.alloc : memref<8xf32>
  mem.call @two(%x) writes(%a, %d) : (memref<8xf32>) writes(memref<8xf32>, memref<8xf32>)
  mem.call @two(%a) writes(%b, %c) : (memref<8xf32>) writes(memref<8xf32>, memref<8xf32>)
  mem.call @two(%c) writes(%y, %d) : (memref<8xf32>) writes(memref<8xf32>, memref<8xf32>)
}

// -----

// What is written before the call holds something else meanwhile.
// CHECK-LABEL: mem.graph @what_is_in_use_stays
// CHECK:         mem.call @relu(%x) writes(%b)
// CHECK-NEXT:    mem.call @relu(%x) writes(%a)
// CHECK-NEXT:    mem.call @take(%b) writes(%y)
// CHECK-NEXT:    mem.call @relu(%a) writes(%b)
func.func private @relu(memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) attributes {weft.in_place = array<i64: 0, 1>}
func.func private @take(memref<8xf32>, memref<8xf32>, !rt.slots<1>, index)
mem.graph @what_is_in_use_stays(%x: memref<8xf32>) writes(%y: memref<8xf32>, %z: memref<8xf32>) {
  %a = mem.alloc : memref<8xf32>
  %b = mem.alloc : memref<8xf32>
  mem.call @relu(%x) writes(%b) : (memref<8xf32>) writes(memref<8xf32>)
  mem.call @relu(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
  mem.call @take(%b) writes(%y) : (memref<8xf32>) writes(memref<8xf32>)
  mem.call @relu(%a) writes(%b) : (memref<8xf32>) writes(memref<8xf32>)
  mem.call @take(%b) writes(%z) : (memref<8xf32>) writes(memref<8xf32>)
}
