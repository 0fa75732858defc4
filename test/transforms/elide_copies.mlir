// RUN: weft-opt %s -p elide-copies | filecheck %s

// CHECK-LABEL: func.func private @k(memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
func.func private @k(memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()

// CHECK-LABEL: mem.graph @a_reshape_is_an_alias(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
// CHECK-NEXT:    %a = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %b = mem.alias %a : memref<8xf32> to memref<2x4xf32>
// CHECK-NEXT:    mem.call @l(%b) writes(%out) : (memref<2x4xf32>) writes(memref<8xf32>)
// CHECK-NEXT:  }
mem.graph @a_reshape_is_an_alias(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
  %a = mem.alloc : memref<8xf32>
  mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
  %b = mem.alloc : memref<2x4xf32>
  mem.copy %a to %b by @reshape : memref<8xf32> to memref<2x4xf32>
  mem.call @l(%b) writes(%out) : (memref<2x4xf32>) writes(memref<8xf32>)
}

// CHECK-LABEL: mem.graph @a_slice_is_a_part(%x: memref<8xf32>) writes(%out: memref<4xf32>) {
// CHECK-NEXT:    %a = mem.alloc : memref<2x4xf32>
// CHECK-NEXT:    mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<2x4xf32>)
// CHECK-NEXT:    %b = mem.part %a[16] : memref<2x4xf32> to memref<1x4xf32>
// CHECK-NEXT:    %c = mem.part %b[8] : memref<1x4xf32> to memref<2xf32>
// CHECK-NEXT:    mem.call @l(%b, %c) writes(%out) : (memref<1x4xf32>, memref<2xf32>) writes(memref<4xf32>)
// CHECK-NEXT:  }
mem.graph @a_slice_is_a_part(%x: memref<8xf32>) writes(%out: memref<4xf32>) {
  %a = mem.alloc : memref<2x4xf32>
  mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<2x4xf32>)
  %b = mem.alloc : memref<1x4xf32>
  mem.copy %a to %b by @slice {offset = 16 : i64} : memref<2x4xf32> to memref<1x4xf32>
  %c = mem.alloc : memref<2xf32>
  mem.copy %b to %c by @slice {offset = 8 : i64} : memref<1x4xf32> to memref<2xf32>
  mem.call @l(%b, %c) writes(%out) : (memref<1x4xf32>, memref<2xf32>) writes(memref<4xf32>)
}

// CHECK-LABEL: mem.graph @a_slice_of_what_is_laid_elsewhere_is_there(%x: memref<8xf32>) writes(%out: memref<4xf32>) {
// CHECK-NEXT:    %c = mem.alloc : memref<16xf32>
// CHECK-NEXT:    %a = mem.part %c[0] : memref<16xf32> to memref<8xf32>
// CHECK-NEXT:    mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %h = mem.part %a[16] : memref<8xf32> to memref<4xf32>
// CHECK-NEXT:    %b = mem.part %c[32] : memref<16xf32> to memref<8xf32>
// CHECK-NEXT:    mem.call @k(%h) writes(%b) : (memref<4xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    mem.call @l(%c) writes(%out) : (memref<16xf32>) writes(memref<4xf32>)
// CHECK-NEXT:  }
mem.graph @a_slice_of_what_is_laid_elsewhere_is_there(%x: memref<8xf32>) writes(%out: memref<4xf32>) {
  %a = mem.alloc : memref<8xf32>
  mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
  %h = mem.alloc : memref<4xf32>
  mem.copy %a to %h by @slice {offset = 16 : i64} : memref<8xf32> to memref<4xf32>
  %b = mem.alloc : memref<8xf32>
  mem.call @k(%h) writes(%b) : (memref<4xf32>) writes(memref<8xf32>)
  %c = mem.alloc : memref<16xf32>
  mem.copy %a, %b to %c by @concat : memref<8xf32>, memref<8xf32> to memref<16xf32>
  mem.call @l(%c) writes(%out) : (memref<16xf32>) writes(memref<4xf32>)
}

// CHECK-LABEL: mem.graph @slices_that_are_copied(%x: memref<8xf32>) writes(%out: memref<4xf32>, %y: memref<4xf32>) {
// CHECK-NEXT:    %a = mem.alloc : memref<4xf32>
// CHECK-NEXT:    mem.copy %x to %a by @slice {offset = 16 : i64} : memref<8xf32> to memref<4xf32>
// CHECK-NEXT:    %b = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.call @k(%a) writes(%b) : (memref<4xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %c = mem.alloc : memref<4xf32>
// CHECK-NEXT:    mem.copy %b to %c by @slice {offset = 0 : i64} : memref<8xf32> to memref<4xf32>
// CHECK-NEXT:    mem.call @k(%c) writes(%b) : (memref<4xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    mem.call @l(%b, %c) writes(%out) : (memref<8xf32>, memref<4xf32>) writes(memref<4xf32>)
// CHECK-NEXT:    mem.copy %b to %y by @slice {offset = 16 : i64} : memref<8xf32> to memref<4xf32>
// CHECK-NEXT:  }
mem.graph @slices_that_are_copied(%x: memref<8xf32>) writes(%out: memref<4xf32>, %y: memref<4xf32>) {
  %a = mem.alloc : memref<4xf32>
  mem.copy %x to %a by @slice {offset = 16 : i64} : memref<8xf32> to memref<4xf32>
  %b = mem.alloc : memref<8xf32>
  mem.call @k(%a) writes(%b) : (memref<4xf32>) writes(memref<8xf32>)
  %c = mem.alloc : memref<4xf32>
  mem.copy %b to %c by @slice {offset = 0 : i64} : memref<8xf32> to memref<4xf32>
  mem.call @k(%c) writes(%b) : (memref<4xf32>) writes(memref<8xf32>)
  mem.call @l(%b, %c) writes(%out) : (memref<8xf32>, memref<4xf32>) writes(memref<4xf32>)
  mem.copy %b to %y by @slice {offset = 16 : i64} : memref<8xf32> to memref<4xf32>
}

// CHECK-LABEL: mem.graph @a_reshape_of_an_input_is_the_input(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
// CHECK-NEXT:    %b = mem.alias %x : memref<8xf32> to memref<2x4xf32>
// CHECK-NEXT:    mem.call @l(%b) writes(%out) : (memref<2x4xf32>) writes(memref<8xf32>)
// CHECK-NEXT:  }
mem.graph @a_reshape_of_an_input_is_the_input(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
  %b = mem.alloc : memref<2x4xf32>
  mem.copy %x to %b : memref<8xf32> to memref<2x4xf32>
  mem.call @l(%b) writes(%out) : (memref<2x4xf32>) writes(memref<8xf32>)
}

// CHECK-LABEL: mem.graph @what_is_written_again_later_is_copied(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
// CHECK-NEXT:    %a = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %b = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.copy %a to %b : memref<8xf32> to memref<8xf32>
// CHECK-NEXT:    mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    mem.call @l(%a, %b) writes(%out) : (memref<8xf32>, memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:  }
mem.graph @what_is_written_again_later_is_copied(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
  %a = mem.alloc : memref<8xf32>
  mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
  %b = mem.alloc : memref<8xf32>
  mem.copy %a to %b : memref<8xf32> to memref<8xf32>
  mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
  mem.call @l(%a, %b) writes(%out) : (memref<8xf32>, memref<8xf32>) writes(memref<8xf32>)
}

// CHECK-LABEL: mem.graph @what_a_part_of_is_written_again_is_copied(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
// CHECK-NEXT:    %a = mem.alloc : memref<8xf32>
// CHECK-NEXT:    %half = mem.part %a[16] : memref<8xf32> to memref<4xf32>
// CHECK-NEXT:    mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %b = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.copy %a to %b : memref<8xf32> to memref<8xf32>
// CHECK-NEXT:    mem.call @k(%x) writes(%half) : (memref<8xf32>) writes(memref<4xf32>)
// CHECK-NEXT:    mem.call @l(%a, %b) writes(%out) : (memref<8xf32>, memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:  }
mem.graph @what_a_part_of_is_written_again_is_copied(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
  %a = mem.alloc : memref<8xf32>
  %half = mem.part %a[16] : memref<8xf32> to memref<4xf32>
  mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
  %b = mem.alloc : memref<8xf32>
  mem.copy %a to %b : memref<8xf32> to memref<8xf32>
  mem.call @k(%x) writes(%half) : (memref<8xf32>) writes(memref<4xf32>)
  mem.call @l(%a, %b) writes(%out) : (memref<8xf32>, memref<8xf32>) writes(memref<8xf32>)
}

// CHECK-LABEL: mem.graph @a_target_that_is_written_by_others_is_copied_to(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
// CHECK-NEXT:    %b = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.copy %x to %b : memref<8xf32> to memref<8xf32>
// CHECK-NEXT:    mem.call @l(%b) writes(%out) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    mem.call @k(%out) writes(%b) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:  }
mem.graph @a_target_that_is_written_by_others_is_copied_to(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
  %b = mem.alloc : memref<8xf32>
  mem.copy %x to %b : memref<8xf32> to memref<8xf32>
  mem.call @l(%b) writes(%out) : (memref<8xf32>) writes(memref<8xf32>)
  mem.call @k(%out) writes(%b) : (memref<8xf32>) writes(memref<8xf32>)
}

// CHECK-LABEL: mem.graph @what_has_a_place_keeps_it(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
// CHECK-NEXT:    %pool = mem.pool : memref<32xi8>
// CHECK-NEXT:    %b = mem.alloc at %pool[0] : memref<8xf32> in memref<32xi8>
// CHECK-NEXT:    mem.copy %x to %b : memref<8xf32> to memref<8xf32>
// CHECK-NEXT:    mem.call @l(%b) writes(%out) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:  }
mem.graph @what_has_a_place_keeps_it(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
  %pool = mem.pool : memref<32xi8>
  %b = mem.alloc at %pool[0] : memref<8xf32> in memref<32xi8>
  mem.copy %x to %b : memref<8xf32> to memref<8xf32>
  mem.call @l(%b) writes(%out) : (memref<8xf32>) writes(memref<8xf32>)
}

// CHECK-LABEL: mem.graph @parts_are_computed_in_their_places(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
// CHECK-NEXT:    %c = mem.alloc : memref<16xf32>
// CHECK-NEXT:    %a = mem.part %c[0] : memref<16xf32> to memref<8xf32>
// CHECK-NEXT:    mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %b = mem.part %c[32] : memref<16xf32> to memref<8xf32>
// CHECK-NEXT:    mem.call @k(%a) writes(%b) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    mem.call @l(%c) writes(%out) : (memref<16xf32>) writes(memref<8xf32>)
// CHECK-NEXT:  }
mem.graph @parts_are_computed_in_their_places(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
  %a = mem.alloc : memref<8xf32>
  mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
  %b = mem.alloc : memref<8xf32>
  mem.call @k(%a) writes(%b) : (memref<8xf32>) writes(memref<8xf32>)
  %c = mem.alloc : memref<16xf32>
  mem.copy %a, %b to %c by @concat : memref<8xf32>, memref<8xf32> to memref<16xf32>
  mem.call @l(%c) writes(%out) : (memref<16xf32>) writes(memref<8xf32>)
}

// CHECK-LABEL: mem.graph @a_concatenation_of_a_concatenation(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
// CHECK-NEXT:    %e = mem.alloc : memref<24xf32>
// CHECK-NEXT:    %c = mem.part %e[32] : memref<24xf32> to memref<16xf32>
// CHECK-NEXT:    %a = mem.part %c[0] : memref<16xf32> to memref<8xf32>
// CHECK-NEXT:    mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %b = mem.part %c[32] : memref<16xf32> to memref<8xf32>
// CHECK-NEXT:    mem.call @k(%a) writes(%b) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %d = mem.part %e[0] : memref<24xf32> to memref<8xf32>
// CHECK-NEXT:    mem.call @k(%a) writes(%d) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    mem.call @l(%e) writes(%out) : (memref<24xf32>) writes(memref<8xf32>)
// CHECK-NEXT:  }
mem.graph @a_concatenation_of_a_concatenation(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
  %a = mem.alloc : memref<8xf32>
  mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
  %b = mem.alloc : memref<8xf32>
  mem.call @k(%a) writes(%b) : (memref<8xf32>) writes(memref<8xf32>)
  %c = mem.alloc : memref<16xf32>
  mem.copy %a, %b to %c by @concat : memref<8xf32>, memref<8xf32> to memref<16xf32>
  %d = mem.alloc : memref<8xf32>
  mem.call @k(%a) writes(%d) : (memref<8xf32>) writes(memref<8xf32>)
  %e = mem.alloc : memref<24xf32>
  mem.copy %d, %c to %e by @concat : memref<8xf32>, memref<16xf32> to memref<24xf32>
  mem.call @l(%e) writes(%out) : (memref<24xf32>) writes(memref<8xf32>)
}

// CHECK-LABEL: mem.graph @the_second_concatenation_of_a_part_is_copied(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
// CHECK-NEXT:    %c = mem.alloc : memref<16xf32>
// CHECK-NEXT:    %a = mem.part %c[0] : memref<16xf32> to memref<8xf32>
// CHECK-NEXT:    mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %b = mem.part %c[32] : memref<16xf32> to memref<8xf32>
// CHECK-NEXT:    mem.call @k(%a) writes(%b) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %d = mem.alloc : memref<16xf32>
// CHECK-NEXT:    mem.copy %b, %a to %d by @concat : memref<8xf32>, memref<8xf32> to memref<16xf32>
// CHECK-NEXT:    mem.call @l(%c, %d) writes(%out) : (memref<16xf32>, memref<16xf32>) writes(memref<8xf32>)
// CHECK-NEXT:  }
mem.graph @the_second_concatenation_of_a_part_is_copied(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
  %a = mem.alloc : memref<8xf32>
  mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
  %b = mem.alloc : memref<8xf32>
  mem.call @k(%a) writes(%b) : (memref<8xf32>) writes(memref<8xf32>)
  %c = mem.alloc : memref<16xf32>
  mem.copy %a, %b to %c by @concat : memref<8xf32>, memref<8xf32> to memref<16xf32>
  %d = mem.alloc : memref<16xf32>
  mem.copy %b, %a to %d by @concat : memref<8xf32>, memref<8xf32> to memref<16xf32>
  mem.call @l(%c, %d) writes(%out) : (memref<16xf32>, memref<16xf32>) writes(memref<8xf32>)
}

// CHECK-LABEL: mem.graph @inputs_and_constants_are_copied_to_a_concatenation(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
// CHECK-NEXT:    %a = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %c = mem.alloc : memref<16xf32>
// CHECK-NEXT:    mem.copy %a, %x to %c by @concat : memref<8xf32>, memref<8xf32> to memref<16xf32>
// CHECK-NEXT:    %w = mem.constant dense<2.000000e+00> : tensor<8xf32> as tensor<8xf32> : memref<8xf32>
// CHECK-NEXT:    %d = mem.alloc : memref<16xf32>
// CHECK-NEXT:    mem.copy %a, %w to %d by @concat : memref<8xf32>, memref<8xf32> to memref<16xf32>
// CHECK-NEXT:    mem.call @l(%c, %d) writes(%out) : (memref<16xf32>, memref<16xf32>) writes(memref<8xf32>)
// CHECK-NEXT:  }
mem.graph @inputs_and_constants_are_copied_to_a_concatenation(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
  %a = mem.alloc : memref<8xf32>
  mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
  %c = mem.alloc : memref<16xf32>
  mem.copy %a, %x to %c by @concat : memref<8xf32>, memref<8xf32> to memref<16xf32>
  %w = mem.constant dense<2.0> : tensor<8xf32> as tensor<8xf32> : memref<8xf32>
  %d = mem.alloc : memref<16xf32>
  mem.copy %a, %w to %d by @concat : memref<8xf32>, memref<8xf32> to memref<16xf32>
  mem.call @l(%c, %d) writes(%out) : (memref<16xf32>, memref<16xf32>) writes(memref<8xf32>)
}

// CHECK-LABEL: mem.graph @a_part_that_stands_twice_is_copied(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
// CHECK-NEXT:    %a = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %c = mem.alloc : memref<16xf32>
// CHECK-NEXT:    mem.copy %a, %a to %c by @concat : memref<8xf32>, memref<8xf32> to memref<16xf32>
// CHECK-NEXT:    mem.call @l(%c) writes(%out) : (memref<16xf32>) writes(memref<8xf32>)
// CHECK-NEXT:  }
mem.graph @a_part_that_stands_twice_is_copied(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
  %a = mem.alloc : memref<8xf32>
  mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
  %c = mem.alloc : memref<16xf32>
  mem.copy %a, %a to %c by @concat : memref<8xf32>, memref<8xf32> to memref<16xf32>
  mem.call @l(%c) writes(%out) : (memref<16xf32>) writes(memref<8xf32>)
}

// CHECK-LABEL: mem.graph @a_result_is_computed_in_the_callers_buffer(%x: memref<8xf32>) writes(%out: memref<2x4xf32>) {
// CHECK-NEXT:    %a = mem.alias %out : memref<2x4xf32> to memref<8xf32>
// CHECK-NEXT:    mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %b = mem.alias %a : memref<8xf32> to memref<2x4xf32>
// CHECK-NEXT:  }
mem.graph @a_result_is_computed_in_the_callers_buffer(%x: memref<8xf32>) writes(%out: memref<2x4xf32>) {
  %a = mem.alloc : memref<8xf32>
  mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
  %b = mem.alias %a : memref<8xf32> to memref<2x4xf32>
  mem.copy %b to %out : memref<2x4xf32> to memref<2x4xf32>
}

// CHECK-LABEL: mem.graph @what_is_returned_twice_is_copied_once(%x: memref<8xf32>) writes(%out0: memref<8xf32>, %out1: memref<8xf32>) {
// CHECK-NEXT:    mem.call @k(%x) writes(%out0) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    mem.copy %out0 to %out1 : memref<8xf32> to memref<8xf32>
// CHECK-NEXT:  }
mem.graph @what_is_returned_twice_is_copied_once(%x: memref<8xf32>) writes(%out0: memref<8xf32>, %out1: memref<8xf32>) {
  %a = mem.alloc : memref<8xf32>
  mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
  mem.copy %a to %out0 : memref<8xf32> to memref<8xf32>
  mem.copy %a to %out1 : memref<8xf32> to memref<8xf32>
}

// CHECK-LABEL: mem.graph @an_input_that_is_returned_is_copied(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
// CHECK-NEXT:    mem.copy %x to %out : memref<8xf32> to memref<8xf32>
// CHECK-NEXT:  }
mem.graph @an_input_that_is_returned_is_copied(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
  mem.copy %x to %out : memref<8xf32> to memref<8xf32>
}

// CHECK-LABEL: mem.graph @a_concatenation_that_is_returned_is_copied(%x: memref<8xf32>) writes(%out: memref<16xf32>) {
// CHECK-NEXT:    %c = mem.alloc : memref<16xf32>
// CHECK-NEXT:    %a = mem.part %c[0] : memref<16xf32> to memref<8xf32>
// CHECK-NEXT:    mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %b = mem.part %c[32] : memref<16xf32> to memref<8xf32>
// CHECK-NEXT:    mem.call @k(%a) writes(%b) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    mem.copy %c to %out : memref<16xf32> to memref<16xf32>
// CHECK-NEXT:  }
mem.graph @a_concatenation_that_is_returned_is_copied(%x: memref<8xf32>) writes(%out: memref<16xf32>) {
  %a = mem.alloc : memref<8xf32>
  mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
  %b = mem.alloc : memref<8xf32>
  mem.call @k(%a) writes(%b) : (memref<8xf32>) writes(memref<8xf32>)
  %c = mem.alloc : memref<16xf32>
  mem.copy %a, %b to %c by @concat : memref<8xf32>, memref<8xf32> to memref<16xf32>
  mem.copy %c to %out : memref<16xf32> to memref<16xf32>
}

// CHECK-LABEL: mem.graph @an_output_that_is_in_use_before_is_copied_to(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
// CHECK-NEXT:    mem.call @k(%x) writes(%out) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %a = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.call @k(%out) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    mem.copy %a to %out : memref<8xf32> to memref<8xf32>
// CHECK-NEXT:  }
mem.graph @an_output_that_is_in_use_before_is_copied_to(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
  mem.call @k(%x) writes(%out) : (memref<8xf32>) writes(memref<8xf32>)
  %a = mem.alloc : memref<8xf32>
  mem.call @k(%out) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
  mem.copy %a to %out : memref<8xf32> to memref<8xf32>
}

// CHECK-LABEL: mem.graph @sizes_that_are_not_known(%x: memref<?xf32>, %n: memref<1xi64>) writes(%out: memref<?xf32>) {
// CHECK-NEXT:    %size = arith.constant 4 : index
// CHECK-NEXT:    mem.call @k(%x) writes(%out) : (memref<?xf32>) writes(memref<?xf32>)
// CHECK-NEXT:  }
mem.graph @sizes_that_are_not_known(%x: memref<?xf32>, %n: memref<1xi64>) writes(%out: memref<?xf32>) {
  %size = arith.constant 4 : index
  %a = mem.alloc(%size) : memref<?xf32>
  mem.copy %x to %a : memref<?xf32> to memref<?xf32>
  mem.call @k(%a) writes(%out) : (memref<?xf32>) writes(memref<?xf32>)
}

// CHECK-LABEL: mem.graph @a_copy_between_devices_stays
// CHECK:         mem.copy %a to %b : memref<8xf32> to memref<8xf32, #relay.virtual_device<ext_dev, id = 0>>
// CHECK:         mem.copy %c to %out : memref<8xf32, #relay.virtual_device<ext_dev, id = 0>> to memref<8xf32>
mem.graph @a_copy_between_devices_stays(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
  %a = mem.alloc : memref<8xf32>
  mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
  %b = mem.alloc : memref<8xf32, #relay.virtual_device<ext_dev, id = 0>>
  mem.copy %a to %b : memref<8xf32> to memref<8xf32, #relay.virtual_device<ext_dev, id = 0>>
  %c = mem.alloc : memref<8xf32, #relay.virtual_device<ext_dev, id = 0>>
  mem.call @k(%b) writes(%c) : (memref<8xf32, #relay.virtual_device<ext_dev, id = 0>>) writes(memref<8xf32, #relay.virtual_device<ext_dev, id = 0>>)
  mem.copy %c to %out : memref<8xf32, #relay.virtual_device<ext_dev, id = 0>> to memref<8xf32>
}

// A kernel that made nothing but copies is not declared any more; one that has a body, or is called, stays.

// CHECK-NOT: @join_in_place
// CHECK-LABEL: func.func private @join_elsewhere
func.func private @join_in_place()
func.func private @join_elsewhere()

// CHECK-LABEL: mem.graph @a_kernel_that_makes_no_copy_is_dropped
// CHECK: by @join_elsewhere
mem.graph @a_kernel_that_makes_no_copy_is_dropped(%x: memref<8xf32>) writes(%out: memref<16xf32>) {
  %a = mem.alloc : memref<8xf32>
  mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
  %b = mem.alloc : memref<8xf32>
  mem.call @k(%x) writes(%b) : (memref<8xf32>) writes(memref<8xf32>)
  %c = mem.alloc : memref<16xf32>
  mem.copy %a, %b to %c by @join_in_place : memref<8xf32>, memref<8xf32> to memref<16xf32>
  %d = mem.alloc : memref<24xf32>
  mem.copy %c, %x to %d by @join_elsewhere : memref<16xf32>, memref<8xf32> to memref<24xf32>
  mem.call @l(%d) writes(%out) : (memref<24xf32>) writes(memref<16xf32>)
}
