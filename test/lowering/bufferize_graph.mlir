// RUN: weft-opt %s -p bufferize-graph | filecheck %s

// CHECK-LABEL: func.func private @k(memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
func.func private @k(memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-LABEL: func.func private @two(memref<8xf32>, memref<8xf32>, memref<8xf32>, !rt.slots<2>, index) -> ()
func.func private @two(memref<8xf32>, memref<8xf32>, memref<8xf32>, !rt.slots<2>, index) -> ()
// CHECK-LABEL: func.func private @add(memref<8xf32>, memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
func.func private @add(memref<8xf32>, memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-LABEL: func.func private @with_workspace(memref<8xf32>, memref<8xf32>, memref<32xf32>, !rt.slots<2>, index) -> ()
func.func private @with_workspace(memref<8xf32>, memref<8xf32>, memref<32xf32>, !rt.slots<2>, index) -> ()
// CHECK-LABEL: func.func private @reshape(memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
func.func private @reshape(memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-LABEL: func.func private @concat(memref<8xf32>, memref<8xf32>, memref<16xf32>, !rt.slots<1>, index) -> ()
func.func private @concat(memref<8xf32>, memref<8xf32>, memref<16xf32>, !rt.slots<1>, index) -> ()
// CHECK-LABEL: func.func private @flat(memref<16xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
func.func private @flat(memref<16xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()

// CHECK-LABEL: mem.graph @a_result_is_computed_in_the_callers_buffer(%x: memref<8xf32>) writes(%out: memref<8xf32>)
// CHECK-NEXT:     attributes {input_names = ["x"], output_names = ["out"]} {
// CHECK-NEXT:    %0 = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.call @k(%x) writes(%0) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    mem.copy %0 to %out : memref<8xf32> to memref<8xf32>
// CHECK-NEXT:  }
relay.func @a_result_is_computed_in_the_callers_buffer(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  relay.return %0 : tensor<8xf32>
}

// CHECK-LABEL: mem.graph @what_lies_between_is_placed_in_the_arena(%x: memref<8xf32>) writes(%out: memref<8xf32>) attributes {input_names = ["x"], output_names = ["out"]} {
// CHECK-NEXT:    %0 = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.call @k(%x) writes(%0) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %1 = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.call @k(%0) writes(%1) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %2 = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.call @k(%1) writes(%2) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %3 = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.call @k(%2) writes(%3) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    mem.copy %3 to %out : memref<8xf32> to memref<8xf32>
// CHECK-NEXT:  }
relay.func @what_lies_between_is_placed_in_the_arena(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = relay.call_lowered @k(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = relay.call_lowered @k(%1) : (tensor<8xf32>) -> tensor<8xf32>
  %3 = relay.call_lowered @k(%2) : (tensor<8xf32>) -> tensor<8xf32>
  relay.return %3 : tensor<8xf32>
}

// CHECK-LABEL: mem.graph @several_users_keep_a_tensor(%x: memref<8xf32>) writes(%out: memref<8xf32>) attributes {input_names = ["x"], output_names = ["out"]} {
// CHECK-NEXT:    %0 = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.call @k(%x) writes(%0) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %1 = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.call @k(%0) writes(%1) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %2 = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.call @k(%1) writes(%2) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %3 = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.call @add(%0, %2) writes(%3) : (memref<8xf32>, memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    mem.copy %3 to %out : memref<8xf32> to memref<8xf32>
// CHECK-NEXT:  }
relay.func @several_users_keep_a_tensor(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = relay.call_lowered @k(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = relay.call_lowered @k(%1) : (tensor<8xf32>) -> tensor<8xf32>
  %3 = relay.call_lowered @add(%0, %2) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  relay.return %3 : tensor<8xf32>
}

// CHECK-LABEL: mem.graph @a_kernel_with_two_results(%x: memref<8xf32>) writes(%out0: memref<8xf32>, %out1: memref<8xf32>)
// CHECK-NEXT:     attributes {input_names = ["x"], output_names = ["out0", "out1"]} {
// CHECK-NEXT:    %0 = mem.alloc : memref<8xf32>
// CHECK-NEXT:    %1 = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.call @two(%x) writes(%0, %1) : (memref<8xf32>) writes(memref<8xf32>, memref<8xf32>)
// CHECK-NEXT:    mem.copy %1 to %out0 : memref<8xf32> to memref<8xf32>
// CHECK-NEXT:    mem.copy %0 to %out1 : memref<8xf32> to memref<8xf32>
// CHECK-NEXT:  }
relay.func @a_kernel_with_two_results(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0, %1 = relay.call_lowered @two(%x) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  relay.return %1, %0 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: mem.graph @a_workspace_is_placed_in_the_arena(%x: memref<8xf32>) writes(%out: memref<8xf32>) attributes {input_names = ["x"], output_names = ["out"]} {
// CHECK-NEXT:    %0 = mem.alloc : memref<8xf32>
// CHECK-NEXT:    %workspace = mem.alloc : memref<32xf32>
// CHECK-NEXT:    mem.call @with_workspace(%x) writes(%0) workspaces(%workspace) : (memref<8xf32>) writes(memref<8xf32>) workspaces(memref<32xf32>)
// CHECK-NEXT:    mem.copy %0 to %out : memref<8xf32> to memref<8xf32>
// CHECK-NEXT:  }
relay.func @a_workspace_is_placed_in_the_arena(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relay.call_lowered @with_workspace(%x) : (tensor<8xf32>) -> tensor<8xf32>
  relay.return %0 : tensor<8xf32>
}

// CHECK-LABEL: mem.graph @a_reshape_is_no_call(%x: memref<8xf32>) writes(%out: memref<2x4xf32>) attributes {input_names = ["x"], output_names = ["out"]} {
// CHECK-NEXT:    %0 = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.call @k(%x) writes(%0) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %1 = mem.alloc : memref<4x2xf32>
// CHECK-NEXT:    mem.copy %0 to %1 by @reshape : memref<8xf32> to memref<4x2xf32>
// CHECK-NEXT:    %2 = mem.alloc : memref<2x4xf32>
// CHECK-NEXT:    mem.copy %1 to %2 by @reshape : memref<4x2xf32> to memref<2x4xf32>
// CHECK-NEXT:    mem.copy %2 to %out : memref<2x4xf32> to memref<2x4xf32>
// CHECK-NEXT:  }
relay.func @a_reshape_is_no_call(%x: tensor<8xf32>) -> tensor<2x4xf32> {
  %0 = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = relay.call_lowered @reshape(%0) {copies} : (tensor<8xf32>) -> tensor<4x2xf32>
  %2 = relay.call_lowered @reshape(%1) {copies} : (tensor<4x2xf32>) -> tensor<2x4xf32>
  relay.return %2 : tensor<2x4xf32>
}

// CHECK-LABEL: mem.graph @a_reshape_of_an_input_is_copied(%x: memref<8xf32>) writes(%out: memref<2x4xf32>) attributes {input_names = ["x"], output_names = ["out"]} {
// CHECK-NEXT:    %0 = mem.alloc : memref<2x4xf32>
// CHECK-NEXT:    mem.copy %x to %0 by @reshape : memref<8xf32> to memref<2x4xf32>
// CHECK-NEXT:    mem.copy %0 to %out : memref<2x4xf32> to memref<2x4xf32>
// CHECK-NEXT:  }
relay.func @a_reshape_of_an_input_is_copied(%x: tensor<8xf32>) -> tensor<2x4xf32> {
  %0 = relay.call_lowered @reshape(%x) {copies} : (tensor<8xf32>) -> tensor<2x4xf32>
  relay.return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: mem.graph @parts_of_a_concatenation_are_computed_in_place(%x: memref<8xf32>) writes(%out: memref<8xf32>)
// CHECK-NEXT:     attributes {input_names = ["x"], output_names = ["out"]} {
// CHECK-NEXT:    %0 = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.call @k(%x) writes(%0) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %1 = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.call @k(%0) writes(%1) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %2 = mem.alloc : memref<16xf32>
// CHECK-NEXT:    mem.copy %0, %1 to %2 by @concat : memref<8xf32>, memref<8xf32> to memref<16xf32>
// CHECK-NEXT:    %3 = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.call @flat(%2) writes(%3) : (memref<16xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    mem.copy %3 to %out : memref<8xf32> to memref<8xf32>
// CHECK-NEXT:  }
relay.func @parts_of_a_concatenation_are_computed_in_place(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = relay.call_lowered @k(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = relay.call_lowered @concat(%0, %1) {copies} : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  %3 = relay.call_lowered @flat(%2) : (tensor<16xf32>) -> tensor<8xf32>
  relay.return %3 : tensor<8xf32>
}

// CHECK-LABEL: mem.graph @a_part_that_is_an_input_makes_it_a_call(%x: memref<8xf32>) writes(%out: memref<16xf32>) attributes {input_names = ["x"], output_names = ["out"]} {
// CHECK-NEXT:    %0 = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.call @k(%x) writes(%0) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %1 = mem.alloc : memref<16xf32>
// CHECK-NEXT:    mem.copy %x, %0 to %1 by @concat : memref<8xf32>, memref<8xf32> to memref<16xf32>
// CHECK-NEXT:    mem.copy %1 to %out : memref<16xf32> to memref<16xf32>
// CHECK-NEXT:  }
relay.func @a_part_that_is_an_input_makes_it_a_call(%x: tensor<8xf32>) -> tensor<16xf32> {
  %0 = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = relay.call_lowered @concat(%x, %0) {copies} : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  relay.return %1 : tensor<16xf32>
}

// CHECK-LABEL: mem.graph @a_part_that_stands_twice_makes_it_a_call(%x: memref<8xf32>) writes(%out: memref<16xf32>) attributes {input_names = ["x"], output_names = ["out"]} {
// CHECK-NEXT:    %0 = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.call @k(%x) writes(%0) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %1 = mem.alloc : memref<16xf32>
// CHECK-NEXT:    mem.copy %0, %0 to %1 by @concat : memref<8xf32>, memref<8xf32> to memref<16xf32>
// CHECK-NEXT:    mem.copy %1 to %out : memref<16xf32> to memref<16xf32>
// CHECK-NEXT:  }
relay.func @a_part_that_stands_twice_makes_it_a_call(%x: tensor<8xf32>) -> tensor<16xf32> {
  %0 = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = relay.call_lowered @concat(%0, %0) {copies} : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  relay.return %1 : tensor<16xf32>
}

// CHECK-LABEL: mem.graph @a_concatenation_that_is_returned_is_copied(%x: memref<8xf32>) writes(%out: memref<16xf32>)
// CHECK-NEXT:     attributes {input_names = ["x"], output_names = ["out"]} {
// CHECK-NEXT:    %0 = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.call @k(%x) writes(%0) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %1 = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.call @k(%0) writes(%1) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %2 = mem.alloc : memref<16xf32>
// CHECK-NEXT:    mem.copy %0, %1 to %2 by @concat : memref<8xf32>, memref<8xf32> to memref<16xf32>
// CHECK-NEXT:    mem.copy %2 to %out : memref<16xf32> to memref<16xf32>
// CHECK-NEXT:  }
relay.func @a_concatenation_that_is_returned_is_copied(%x: tensor<8xf32>) -> tensor<16xf32> {
  %0 = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = relay.call_lowered @k(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = relay.call_lowered @concat(%0, %1) {copies} : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  relay.return %2 : tensor<16xf32>
}

// CHECK-LABEL: mem.graph @a_part_that_is_returned_too_is_copied(%x: memref<8xf32>) writes(%out0: memref<16xf32>, %out1: memref<8xf32>)
// CHECK-NEXT:     attributes {input_names = ["x"], output_names = ["out0", "out1"]} {
// CHECK-NEXT:    %0 = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.call @k(%x) writes(%0) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %1 = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.call @k(%0) writes(%1) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %2 = mem.alloc : memref<16xf32>
// CHECK-NEXT:    mem.copy %0, %1 to %2 by @concat : memref<8xf32>, memref<8xf32> to memref<16xf32>
// CHECK-NEXT:    mem.copy %2 to %out0 : memref<16xf32> to memref<16xf32>
// CHECK-NEXT:    mem.copy %1 to %out1 : memref<8xf32> to memref<8xf32>
// CHECK-NEXT:  }
relay.func @a_part_that_is_returned_too_is_copied(%x: tensor<8xf32>) -> (tensor<16xf32>, tensor<8xf32>) {
  %0 = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = relay.call_lowered @k(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = relay.call_lowered @concat(%0, %1) {copies} : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  relay.return %2, %1 : tensor<16xf32>, tensor<8xf32>
}

// CHECK-LABEL: mem.graph @an_input_that_is_returned_is_copied(%x: memref<8xf32>) writes(%out: memref<8xf32>) attributes {input_names = ["x"], output_names = ["out"]} {
// CHECK-NEXT:    mem.copy %x to %out : memref<8xf32> to memref<8xf32>
// CHECK-NEXT:  }
relay.func @an_input_that_is_returned_is_copied(%x: tensor<8xf32>) -> tensor<8xf32> {
  relay.return %x : tensor<8xf32>
}

// CHECK-LABEL: mem.graph @what_is_returned_twice_is_copied_once(%x: memref<8xf32>) writes(%out0: memref<8xf32>, %out1: memref<8xf32>)
// CHECK-NEXT:     attributes {input_names = ["x"], output_names = ["out0", "out1"]} {
// CHECK-NEXT:    %0 = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.call @k(%x) writes(%0) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    mem.copy %0 to %out0 : memref<8xf32> to memref<8xf32>
// CHECK-NEXT:    mem.copy %0 to %out1 : memref<8xf32> to memref<8xf32>
// CHECK-NEXT:  }
relay.func @what_is_returned_twice_is_copied_once(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  relay.return %0, %0 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: mem.graph @equal_constants_are_one_global(%x: memref<2xf32>) writes(%out0: memref<2xf32>, %out1: memref<2xf32>)
// CHECK-NEXT:     attributes {input_names = ["x"], output_names = ["out0", "out1"]} {
// CHECK-NEXT:    %0 = mem.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32> as tensor<2xf32> : memref<2xf32>
// CHECK-NEXT:    %1 = mem.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32> as tensor<2xf32> : memref<2xf32>
// CHECK-NEXT:    mem.copy %0 to %out0 : memref<2xf32> to memref<2xf32>
// CHECK-NEXT:    mem.copy %1 to %out1 : memref<2xf32> to memref<2xf32>
// CHECK-NEXT:  }
relay.func @equal_constants_are_one_global(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  relay.return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: mem.graph @tuples_are_opened(%in0: memref<8xf32>, %in1: memref<8xf32>) writes(%out0: memref<8xf32>, %out1: memref<8xf32>)
// CHECK-NEXT:     attributes {input_names = ["in0", "in1"], output_names = ["out0", "out1"]} {
// CHECK-NEXT:    %0 = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.call @k(%in1) writes(%0) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %1 = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.call @k(%in0) writes(%1) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    mem.copy %0 to %out0 : memref<8xf32> to memref<8xf32>
// CHECK-NEXT:    mem.copy %1 to %out1 : memref<8xf32> to memref<8xf32>
// CHECK-NEXT:  }
relay.func @tuples_are_opened(%t: tuple<tensor<8xf32>, tuple<tensor<8xf32>>>) -> tuple<tensor<8xf32>, tensor<8xf32>> {
  %0 = relay.tuple_get %t[1] : tuple<tensor<8xf32>, tuple<tensor<8xf32>>> -> tuple<tensor<8xf32>>
  %1 = relay.tuple_get %0[0] : tuple<tensor<8xf32>> -> tensor<8xf32>
  %2 = relay.call_lowered @k(%1) : (tensor<8xf32>) -> tensor<8xf32>
  %3 = relay.tuple_get %t[0] : tuple<tensor<8xf32>, tuple<tensor<8xf32>>> -> tensor<8xf32>
  %4 = relay.call_lowered @k(%3) : (tensor<8xf32>) -> tensor<8xf32>
  %5 = relay.tuple(%2, %4) : (tensor<8xf32>, tensor<8xf32>) -> tuple<tensor<8xf32>, tensor<8xf32>>
  relay.return %5 : tuple<tensor<8xf32>, tensor<8xf32>>
}

// CHECK-LABEL: mem.graph @names_of_the_model_are_kept(%x: memref<8xui8>) writes(%out: memref<8xui8>) attributes {input_names = ["data"], output_names = ["prob"]} {
// CHECK-NEXT:    mem.copy %x to %out : memref<8xui8> to memref<8xui8>
// CHECK-NEXT:  }
relay.func @names_of_the_model_are_kept(%x: tensor<8xui8>) -> tensor<8xui8> attributes {input_names = ["data"], output_names = ["prob"]} {
  relay.return %x : tensor<8xui8>
}

// CHECK-LABEL: mem.graph @nothing_taken_nothing_given() attributes {input_names = [], output_names = []} {
// CHECK-NEXT:  }
relay.func @nothing_taken_nothing_given() {
  relay.return
}

// CHECK-LABEL: mem.graph @tensors_without_elements(%x: memref<0x3xf32>) writes(%out: memref<0x3xf32>) attributes {input_names = ["x"], output_names = ["out"]} {
// CHECK-NEXT:    mem.copy %x to %out : memref<0x3xf32> to memref<0x3xf32>
// CHECK-NEXT:  }
relay.func @tensors_without_elements(%x: tensor<0x3xf32>) -> tensor<0x3xf32> {
  relay.return %x : tensor<0x3xf32>
}

// CHECK-LABEL: relay.func private @fused(%p: tensor<8xf32>) -> tuple<tensor<8xf32>, tensor<8xf32>> attributes {primitive} {
// CHECK-NEXT:    %0 = relay.exp %p : tensor<8xf32>
// CHECK-NEXT:    %1 = relay.tuple(%0, %p) : (tensor<8xf32>, tensor<8xf32>) -> tuple<tensor<8xf32>, tensor<8xf32>>
// CHECK-NEXT:    relay.return %1 : tuple<tensor<8xf32>, tensor<8xf32>>
// CHECK-NEXT:  }
relay.func private @fused(%p: tensor<8xf32>) -> tuple<tensor<8xf32>, tensor<8xf32>> attributes {primitive} {
  %0 = relay.exp %p : tensor<8xf32>
  %1 = relay.tuple(%0, %p) : (tensor<8xf32>, tensor<8xf32>) -> tuple<tensor<8xf32>, tensor<8xf32>>
  relay.return %1 : tuple<tensor<8xf32>, tensor<8xf32>>
}

// CHECK-LABEL: mem.graph @kernels_that_are_not_lowered_yet(%x: memref<8xf32>) writes(%out0: memref<8xf32>, %out1: memref<8xf32>)
// CHECK-NEXT:     attributes {input_names = ["x"], output_names = ["out0", "out1"]} {
// CHECK-NEXT:    %0 = mem.alloc : memref<8xf32>
// CHECK-NEXT:    %1 = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.call @fused(%x) writes(%0, %1) : (memref<8xf32>) writes(memref<8xf32>, memref<8xf32>)
// CHECK-NEXT:    mem.copy %0 to %out0 : memref<8xf32> to memref<8xf32>
// CHECK-NEXT:    mem.copy %1 to %out1 : memref<8xf32> to memref<8xf32>
// CHECK-NEXT:  }
relay.func @kernels_that_are_not_lowered_yet(%x: tensor<8xf32>) -> tuple<tensor<8xf32>, tensor<8xf32>> {
  %0 = relay.call @fused(%x) : (tensor<8xf32>) -> tuple<tensor<8xf32>, tensor<8xf32>>
  relay.return %0 : tuple<tensor<8xf32>, tensor<8xf32>>
}

// CHECK-LABEL: relay.func private @fused_reshape(%p: tensor<8xf32>) -> tensor<4x2xf32> attributes {primitive} {
// CHECK-NEXT:    %0 = relay.reshape %p {newshape = array<i64: 2, 4>} : (tensor<8xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    %1 = relay.reshape %0 {newshape = array<i64: 4, 2>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
// CHECK-NEXT:    relay.return %1 : tensor<4x2xf32>
// CHECK-NEXT:  }
relay.func private @fused_reshape(%p: tensor<8xf32>) -> tensor<4x2xf32> attributes {primitive} {
  %0 = relay.reshape %p {newshape = array<i64: 2, 4>} : (tensor<8xf32>) -> tensor<2x4xf32>
  %1 = relay.reshape %0 {newshape = array<i64: 4, 2>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  relay.return %1 : tensor<4x2xf32>
}

// CHECK-LABEL: mem.graph @what_copies_is_seen_in_the_kernel(%x: memref<8xf32>) writes(%out: memref<4x2xf32>) attributes {input_names = ["x"], output_names = ["out"]} {
// CHECK-NEXT:    %0 = mem.alloc : memref<4x2xf32>
// CHECK-NEXT:    mem.copy %x to %0 by @fused_reshape : memref<8xf32> to memref<4x2xf32>
// CHECK-NEXT:    mem.copy %0 to %out : memref<4x2xf32> to memref<4x2xf32>
// CHECK-NEXT:  }
relay.func @what_copies_is_seen_in_the_kernel(%x: tensor<8xf32>) -> tensor<4x2xf32> {
  %0 = relay.call @fused_reshape(%x) : (tensor<8xf32>) -> tensor<4x2xf32>
  relay.return %0 : tensor<4x2xf32>
}

// CHECK-LABEL: mem.graph @what_a_call_updates_is_the_callers(%x: memref<8xf32>) writes(%out: memref<8xf32>)
// CHECK-NEXT:    mem.call @k(%x) writes(%out) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:  }
relay.func @what_a_call_updates_is_the_callers(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relay.call_lowered @k(%x) {updates} : (tensor<8xf32>) -> tensor<8xf32>
  relay.return %0 : tensor<8xf32>
}

// CHECK-LABEL: mem.graph @what_a_call_updates_has_the_extents_that_it_says(%x: memref<?xf32>) writes(%out: memref<?xf32>) symbols(%n: index)
// CHECK-NEXT:    attributes {input_names = ["x"], output_names = ["out"], symbol_names = ["n"], shapes = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> (s0)>]} {
// CHECK-NEXT:    mem.call @k(%x) writes(%out) extents(%n) : (memref<?xf32>) writes(memref<?xf32>)
// CHECK-NEXT:  }
relay.func @what_a_call_updates_has_the_extents_that_it_says(%x: tensor<?xf32>) -> tensor<?xf32> attributes {symbols = ["n"], shapes = [affine_map<()[s0] -> (s0)>]} {
  %0 = relay.call_lowered @k(%x) {updates, symbols = array<i64: 0>, shapes = [affine_map<()[s0] -> (s0)>]} : (tensor<?xf32>) -> tensor<?xf32>
  relay.return %0 : tensor<?xf32>
}

// CHECK-LABEL: mem.graph @buffers_are_where_the_plan_has_them(%x: memref<8xf32, #relay.virtual_device<ext_dev, id = 0>>) writes(%out: memref<8xf32>)
// CHECK-NEXT:    attributes {input_names = ["x"]
// CHECK-NEXT:    %w = mem.constant dense<2.000000e+00> : tensor<8xf32> as tensor<8xf32> : memref<8xf32, #relay.virtual_device<ext_dev, id = 0>>
// CHECK-NEXT:    %0 = mem.alloc : memref<8xf32, #relay.virtual_device<ext_dev, id = 0>>
// CHECK-NEXT:    mem.call @two(%x, %w) writes(%0) : (memref<8xf32, #relay.virtual_device<ext_dev, id = 0>>,
// CHECK-NEXT:        memref<8xf32, #relay.virtual_device<ext_dev, id = 0>>) writes(memref<8xf32, #relay.virtual_device<ext_dev, id = 0>>)
// CHECK-NEXT:    %1 = mem.alloc : memref<8xf32>
// CHECK-NEXT:    mem.copy %0 to %1 : memref<8xf32, #relay.virtual_device<ext_dev, id = 0>> to memref<8xf32>
// CHECK-NEXT:    mem.copy %1 to %out : memref<8xf32> to memref<8xf32>
// CHECK-NEXT:  }
relay.func @buffers_are_where_the_plan_has_them(%x: tensor<8xf32>) -> tensor<8xf32> attributes {param_virtual_devices = [#relay.virtual_device<ext_dev, id = 0>], result_virtual_devices = [#relay.virtual_device<cpu, id = 0>]} {
  %w = relay.constant {virtual_device = #relay.virtual_device<ext_dev, id = 0>} dense<2.0> : tensor<8xf32>
  %0 = relay.call_lowered @two(%x, %w) {virtual_device = #relay.virtual_device<ext_dev, id = 0>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = relay.call_lowered @k(%0) {virtual_device = #relay.virtual_device<cpu, id = 0>, src_virtual_device = #relay.virtual_device<ext_dev, id = 0>} : (tensor<8xf32>) -> tensor<8xf32>
  relay.return %1 : tensor<8xf32>
}
