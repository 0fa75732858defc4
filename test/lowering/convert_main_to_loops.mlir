// RUN: weft-opt %s -p convert-main-to-loops | filecheck %s

func.func private @k(memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
func.func private @two(memref<8xf32>, memref<8xf32>, memref<8xf32>, !rt.slots<2>, index) -> ()
func.func private @add(memref<8xf32>, memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
func.func private @with_workspace(memref<8xf32>, memref<8xf32>, memref<32xf32>, !rt.slots<2>, index) -> () attributes {weft.workspaces = 1 : i64}
func.func private @reshape(memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> () attributes {reshape_only}
func.func private @concat(memref<8xf32>, memref<8xf32>, memref<16xf32>, !rt.slots<1>, index) -> () attributes {concat_only}
func.func private @flat(memref<16xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()

// CHECK-LABEL: func.func @a_result_is_computed_in_the_callers_buffer(%in: memref<8xf32>, %out: memref<8xf32>, %arena: memref<256xi8>, %num_threads: index) attributes {weft.inputs = [{name = "x", type = tensor<8xf32>}], weft.outputs = [{name = "out", type = tensor<8xf32>}], weft.counter_bytes = 256 : i64} {
// CHECK-NEXT:    %slots = rt.slots %arena[0] : memref<256xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @k(%in, %out, %slots, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
relay.func @a_result_is_computed_in_the_callers_buffer(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  relay.return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @what_lies_between_is_placed_in_the_arena(%in: memref<8xf32>, %out: memref<8xf32>, %arena: memref<768xi8>, %num_threads: index) attributes {weft.inputs = [{name = "x", type = tensor<8xf32>}], weft.outputs = [{name = "out", type = tensor<8xf32>}], weft.counter_bytes = 640 : i64} {
// CHECK-NEXT:    %0 = arith.constant 640 : index
// CHECK-NEXT:    %1 = memref.view %arena[%0][] : memref<768xi8> to memref<8xf32>
// CHECK-NEXT:    %2 = arith.constant 704 : index
// CHECK-NEXT:    %3 = memref.view %arena[%2][] : memref<768xi8> to memref<8xf32>
// CHECK-NEXT:    %4 = arith.constant 640 : index
// CHECK-NEXT:    %5 = memref.view %arena[%4][] : memref<768xi8> to memref<8xf32>
// CHECK-NEXT:    %slots = rt.slots %arena[0] : memref<768xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @k(%in, %1, %slots, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    %slots_1 = rt.slots %arena[128] : memref<768xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @k(%1, %3, %slots_1, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    %slots_2 = rt.slots %arena[256] : memref<768xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @k(%3, %5, %slots_2, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    %slots_3 = rt.slots %arena[384] : memref<768xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @k(%5, %out, %slots_3, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
relay.func @what_lies_between_is_placed_in_the_arena(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = relay.call_lowered @k(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = relay.call_lowered @k(%1) : (tensor<8xf32>) -> tensor<8xf32>
  %3 = relay.call_lowered @k(%2) : (tensor<8xf32>) -> tensor<8xf32>
  relay.return %3 : tensor<8xf32>
}

// CHECK-LABEL: func.func @several_users_keep_a_tensor(%in: memref<8xf32>, %out: memref<8xf32>, %arena: memref<832xi8>, %num_threads: index) attributes {weft.inputs = [{name = "x", type = tensor<8xf32>}], weft.outputs = [{name = "out", type = tensor<8xf32>}], weft.counter_bytes = 640 : i64} {
// CHECK-NEXT:    %0 = arith.constant 640 : index
// CHECK-NEXT:    %1 = memref.view %arena[%0][] : memref<832xi8> to memref<8xf32>
// CHECK-NEXT:    %2 = arith.constant 704 : index
// CHECK-NEXT:    %3 = memref.view %arena[%2][] : memref<832xi8> to memref<8xf32>
// CHECK-NEXT:    %4 = arith.constant 768 : index
// CHECK-NEXT:    %5 = memref.view %arena[%4][] : memref<832xi8> to memref<8xf32>
// CHECK-NEXT:    %slots = rt.slots %arena[0] : memref<832xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @k(%in, %1, %slots, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    %slots_1 = rt.slots %arena[128] : memref<832xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @k(%1, %3, %slots_1, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    %slots_2 = rt.slots %arena[256] : memref<832xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @k(%3, %5, %slots_2, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    %slots_3 = rt.slots %arena[384] : memref<832xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @add(%1, %5, %out, %slots_3, %num_threads) : (memref<8xf32>, memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
relay.func @several_users_keep_a_tensor(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = relay.call_lowered @k(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = relay.call_lowered @k(%1) : (tensor<8xf32>) -> tensor<8xf32>
  %3 = relay.call_lowered @add(%0, %2) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  relay.return %3 : tensor<8xf32>
}

// CHECK-LABEL: func.func @a_kernel_with_two_results(%in: memref<8xf32>, %out0: memref<8xf32>, %out1: memref<8xf32>, %arena: memref<384xi8>, %num_threads: index) attributes {weft.inputs = [{name = "x", type = tensor<8xf32>}], weft.outputs = [{name = "out0", type = tensor<8xf32>}, {name = "out1", type = tensor<8xf32>}], weft.counter_bytes = 384 : i64} {
// CHECK-NEXT:    %slots = rt.slots %arena[0] : memref<384xi8> to !rt.slots<2>
// CHECK-NEXT:    func.call @two(%in, %out1, %out0, %slots, %num_threads) : (memref<8xf32>, memref<8xf32>, memref<8xf32>, !rt.slots<2>, index) -> ()
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
relay.func @a_kernel_with_two_results(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0, %1 = relay.call_lowered @two(%x) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  relay.return %1, %0 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @a_workspace_is_placed_in_the_arena(%in: memref<8xf32>, %out: memref<8xf32>, %arena: memref<512xi8>, %num_threads: index) attributes {weft.inputs = [{name = "x", type = tensor<8xf32>}], weft.outputs = [{name = "out", type = tensor<8xf32>}], weft.counter_bytes = 384 : i64} {
// CHECK-NEXT:    %0 = arith.constant 384 : index
// CHECK-NEXT:    %1 = memref.view %arena[%0][] : memref<512xi8> to memref<32xf32>
// CHECK-NEXT:    %slots = rt.slots %arena[0] : memref<512xi8> to !rt.slots<2>
// CHECK-NEXT:    func.call @with_workspace(%in, %out, %1, %slots, %num_threads) : (memref<8xf32>, memref<8xf32>, memref<32xf32>, !rt.slots<2>, index) -> ()
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
relay.func @a_workspace_is_placed_in_the_arena(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relay.call_lowered @with_workspace(%x) : (tensor<8xf32>) -> tensor<8xf32>
  relay.return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @a_reshape_is_no_call(%in: memref<8xf32>, %out: memref<8xf32>, %arena: memref<256xi8>, %num_threads: index) attributes {weft.inputs = [{name = "x", type = tensor<8xf32>}], weft.outputs = [{name = "out", type = tensor<2x4xf32>}], weft.counter_bytes = 256 : i64} {
// CHECK-NEXT:    %slots = rt.slots %arena[0] : memref<256xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @k(%in, %out, %slots, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
relay.func @a_reshape_is_no_call(%x: tensor<8xf32>) -> tensor<2x4xf32> {
  %0 = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = relay.call_lowered @reshape(%0) : (tensor<8xf32>) -> tensor<4x2xf32>
  %2 = relay.call_lowered @reshape(%1) : (tensor<4x2xf32>) -> tensor<2x4xf32>
  relay.return %2 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @a_reshape_of_an_input_is_copied(%in: memref<8xf32>, %out: memref<8xf32>, %arena: memref<128xi8>, %num_threads: index) attributes {weft.inputs = [{name = "x", type = tensor<8xf32>}], weft.outputs = [{name = "out", type = tensor<2x4xf32>}], weft.counter_bytes = 128 : i64} {
// CHECK-NEXT:    %slots = rt.slots %arena[0] : memref<128xi8> to !rt.slots<1>
// CHECK-NEXT:    rt.share %slots[0] {
// CHECK-NEXT:      "memref.copy"(%in, %out) : (memref<8xf32>, memref<8xf32>) -> ()
// CHECK-NEXT:    } : !rt.slots<1>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
relay.func @a_reshape_of_an_input_is_copied(%x: tensor<8xf32>) -> tensor<2x4xf32> {
  %0 = relay.call_lowered @reshape(%x) : (tensor<8xf32>) -> tensor<2x4xf32>
  relay.return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @parts_of_a_concatenation_are_computed_in_place(%in: memref<8xf32>, %out: memref<8xf32>, %arena: memref<576xi8>, %num_threads: index) attributes {weft.inputs = [{name = "x", type = tensor<8xf32>}], weft.outputs = [{name = "out", type = tensor<8xf32>}], weft.counter_bytes = 512 : i64} {
// CHECK-NEXT:    %0 = arith.constant 512 : index
// CHECK-NEXT:    %1 = memref.view %arena[%0][] : memref<576xi8> to memref<16xf32>
// CHECK-NEXT:    %2 = arith.constant 512 : index
// CHECK-NEXT:    %3 = memref.view %arena[%2][] : memref<576xi8> to memref<8xf32>
// CHECK-NEXT:    %4 = arith.constant 544 : index
// CHECK-NEXT:    %5 = memref.view %arena[%4][] : memref<576xi8> to memref<8xf32>
// CHECK-NEXT:    %slots = rt.slots %arena[0] : memref<576xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @k(%in, %3, %slots, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    %slots_1 = rt.slots %arena[128] : memref<576xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @k(%3, %5, %slots_1, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    %slots_2 = rt.slots %arena[256] : memref<576xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @flat(%1, %out, %slots_2, %num_threads) : (memref<16xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
relay.func @parts_of_a_concatenation_are_computed_in_place(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = relay.call_lowered @k(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = relay.call_lowered @concat(%0, %1) : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  %3 = relay.call_lowered @flat(%2) : (tensor<16xf32>) -> tensor<8xf32>
  relay.return %3 : tensor<8xf32>
}

// CHECK-LABEL: func.func @a_part_that_is_an_input_makes_it_a_call(%in: memref<8xf32>, %out: memref<16xf32>, %arena: memref<448xi8>, %num_threads: index) attributes {weft.inputs = [{name = "x", type = tensor<8xf32>}], weft.outputs = [{name = "out", type = tensor<16xf32>}], weft.counter_bytes = 384 : i64} {
// CHECK-NEXT:    %0 = arith.constant 384 : index
// CHECK-NEXT:    %1 = memref.view %arena[%0][] : memref<448xi8> to memref<8xf32>
// CHECK-NEXT:    %slots = rt.slots %arena[0] : memref<448xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @k(%in, %1, %slots, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    %slots_1 = rt.slots %arena[128] : memref<448xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @concat(%in, %1, %out, %slots_1, %num_threads) : (memref<8xf32>, memref<8xf32>, memref<16xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
relay.func @a_part_that_is_an_input_makes_it_a_call(%x: tensor<8xf32>) -> tensor<16xf32> {
  %0 = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = relay.call_lowered @concat(%x, %0) : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  relay.return %1 : tensor<16xf32>
}

// CHECK-LABEL: func.func @a_part_that_stands_twice_makes_it_a_call(%in: memref<8xf32>, %out: memref<16xf32>, %arena: memref<448xi8>, %num_threads: index) attributes {weft.inputs = [{name = "x", type = tensor<8xf32>}], weft.outputs = [{name = "out", type = tensor<16xf32>}], weft.counter_bytes = 384 : i64} {
// CHECK-NEXT:    %0 = arith.constant 384 : index
// CHECK-NEXT:    %1 = memref.view %arena[%0][] : memref<448xi8> to memref<8xf32>
// CHECK-NEXT:    %slots = rt.slots %arena[0] : memref<448xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @k(%in, %1, %slots, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    %slots_1 = rt.slots %arena[128] : memref<448xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @concat(%1, %1, %out, %slots_1, %num_threads) : (memref<8xf32>, memref<8xf32>, memref<16xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
relay.func @a_part_that_stands_twice_makes_it_a_call(%x: tensor<8xf32>) -> tensor<16xf32> {
  %0 = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = relay.call_lowered @concat(%0, %0) : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  relay.return %1 : tensor<16xf32>
}

// CHECK-LABEL: func.func @a_concatenation_that_is_returned_is_copied(%in: memref<8xf32>, %out: memref<16xf32>, %arena: memref<448xi8>, %num_threads: index) attributes {weft.inputs = [{name = "x", type = tensor<8xf32>}], weft.outputs = [{name = "out", type = tensor<16xf32>}], weft.counter_bytes = 384 : i64} {
// CHECK-NEXT:    %0 = arith.constant 384 : index
// CHECK-NEXT:    %1 = memref.view %arena[%0][] : memref<448xi8> to memref<16xf32>
// CHECK-NEXT:    %2 = arith.constant 384 : index
// CHECK-NEXT:    %3 = memref.view %arena[%2][] : memref<448xi8> to memref<8xf32>
// CHECK-NEXT:    %4 = arith.constant 416 : index
// CHECK-NEXT:    %5 = memref.view %arena[%4][] : memref<448xi8> to memref<8xf32>
// CHECK-NEXT:    %slots = rt.slots %arena[0] : memref<448xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @k(%in, %3, %slots, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    %slots_1 = rt.slots %arena[128] : memref<448xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @k(%3, %5, %slots_1, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    %slots_2 = rt.slots %arena[256] : memref<448xi8> to !rt.slots<1>
// CHECK-NEXT:    rt.share %slots_2[0] {
// CHECK-NEXT:      "memref.copy"(%1, %out) : (memref<16xf32>, memref<16xf32>) -> ()
// CHECK-NEXT:    } : !rt.slots<1>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
relay.func @a_concatenation_that_is_returned_is_copied(%x: tensor<8xf32>) -> tensor<16xf32> {
  %0 = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = relay.call_lowered @k(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = relay.call_lowered @concat(%0, %1) : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  relay.return %2 : tensor<16xf32>
}

// CHECK-LABEL: func.func @a_part_that_is_returned_too_is_copied(%in: memref<8xf32>, %out0: memref<16xf32>, %out1: memref<8xf32>, %arena: memref<448xi8>, %num_threads: index) attributes {weft.inputs = [{name = "x", type = tensor<8xf32>}], weft.outputs = [{name = "out0", type = tensor<16xf32>}, {name = "out1", type = tensor<8xf32>}], weft.counter_bytes = 384 : i64} {
// CHECK-NEXT:    %0 = arith.constant 384 : index
// CHECK-NEXT:    %1 = memref.view %arena[%0][] : memref<448xi8> to memref<16xf32>
// CHECK-NEXT:    %2 = arith.constant 384 : index
// CHECK-NEXT:    %3 = memref.view %arena[%2][] : memref<448xi8> to memref<8xf32>
// CHECK-NEXT:    %4 = arith.constant 416 : index
// CHECK-NEXT:    %5 = memref.view %arena[%4][] : memref<448xi8> to memref<8xf32>
// CHECK-NEXT:    %slots = rt.slots %arena[0] : memref<448xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @k(%in, %3, %slots, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    %slots_1 = rt.slots %arena[128] : memref<448xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @k(%3, %5, %slots_1, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    %slots_2 = rt.slots %arena[256] : memref<448xi8> to !rt.slots<1>
// CHECK-NEXT:    rt.share %slots_2[0] {
// CHECK-NEXT:      "memref.copy"(%1, %out0) : (memref<16xf32>, memref<16xf32>) -> ()
// CHECK-NEXT:      "memref.copy"(%5, %out1) : (memref<8xf32>, memref<8xf32>) -> ()
// CHECK-NEXT:    } : !rt.slots<1>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
relay.func @a_part_that_is_returned_too_is_copied(%x: tensor<8xf32>) -> (tensor<16xf32>, tensor<8xf32>) {
  %0 = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = relay.call_lowered @k(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = relay.call_lowered @concat(%0, %1) : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  relay.return %2, %1 : tensor<16xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @an_input_that_is_returned_is_copied(%in: memref<8xf32>, %out: memref<8xf32>, %arena: memref<128xi8>, %num_threads: index) attributes {weft.inputs = [{name = "x", type = tensor<8xf32>}], weft.outputs = [{name = "out", type = tensor<8xf32>}], weft.counter_bytes = 128 : i64} {
// CHECK-NEXT:    %slots = rt.slots %arena[0] : memref<128xi8> to !rt.slots<1>
// CHECK-NEXT:    rt.share %slots[0] {
// CHECK-NEXT:      "memref.copy"(%in, %out) : (memref<8xf32>, memref<8xf32>) -> ()
// CHECK-NEXT:    } : !rt.slots<1>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
relay.func @an_input_that_is_returned_is_copied(%x: tensor<8xf32>) -> tensor<8xf32> {
  relay.return %x : tensor<8xf32>
}

// CHECK-LABEL: func.func @what_is_returned_twice_is_copied_once(%in: memref<8xf32>, %out0: memref<8xf32>, %out1: memref<8xf32>, %arena: memref<256xi8>, %num_threads: index) attributes {weft.inputs = [{name = "x", type = tensor<8xf32>}], weft.outputs = [{name = "out0", type = tensor<8xf32>}, {name = "out1", type = tensor<8xf32>}], weft.counter_bytes = 256 : i64} {
// CHECK-NEXT:    %slots = rt.slots %arena[0] : memref<256xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @k(%in, %out0, %slots, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    %slots_1 = rt.slots %arena[128] : memref<256xi8> to !rt.slots<1>
// CHECK-NEXT:    rt.share %slots_1[0] {
// CHECK-NEXT:      "memref.copy"(%out0, %out1) : (memref<8xf32>, memref<8xf32>) -> ()
// CHECK-NEXT:    } : !rt.slots<1>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
relay.func @what_is_returned_twice_is_copied_once(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  relay.return %0, %0 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @equal_constants_are_one_global(%in: memref<2xf32>, %out0: memref<2xf32>, %out1: memref<2xf32>, %arena: memref<128xi8>, %num_threads: index) attributes {weft.inputs = [{name = "x", type = tensor<2xf32>}], weft.outputs = [{name = "out0", type = tensor<2xf32>}, {name = "out1", type = tensor<2xf32>}], weft.counter_bytes = 128 : i64} {
// CHECK-NEXT:    %0 = memref.get_global @constant_0 : memref<2xf32>
// CHECK-NEXT:    %1 = memref.get_global @constant_0 : memref<2xf32>
// CHECK-NEXT:    %slots = rt.slots %arena[0] : memref<128xi8> to !rt.slots<1>
// CHECK-NEXT:    rt.share %slots[0] {
// CHECK-NEXT:      "memref.copy"(%0, %out0) : (memref<2xf32>, memref<2xf32>) -> ()
// CHECK-NEXT:      "memref.copy"(%1, %out1) : (memref<2xf32>, memref<2xf32>) -> ()
// CHECK-NEXT:    } : !rt.slots<1>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
relay.func @equal_constants_are_one_global(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  relay.return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @tuples_are_opened(%in0: memref<8xf32>, %in1: memref<8xf32>, %out0: memref<8xf32>, %out1: memref<8xf32>, %arena: memref<384xi8>, %num_threads: index) attributes {weft.inputs = [{name = "in0", type = tensor<8xf32>}, {name = "in1", type = tensor<8xf32>}], weft.outputs = [{name = "out0", type = tensor<8xf32>}, {name = "out1", type = tensor<8xf32>}], weft.counter_bytes = 384 : i64} {
// CHECK-NEXT:    %slots = rt.slots %arena[0] : memref<384xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @k(%in1, %out0, %slots, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    %slots_1 = rt.slots %arena[128] : memref<384xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @k(%in0, %out1, %slots_1, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    func.return
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

// CHECK-LABEL: func.func @names_of_the_model_are_kept(%in: memref<8xi8>, %out: memref<8xi8>, %arena: memref<128xi8>, %num_threads: index) attributes {weft.inputs = [{name = "data", type = tensor<8xui8>}], weft.outputs = [{name = "prob", type = tensor<8xui8>}], weft.counter_bytes = 128 : i64} {
// CHECK-NEXT:    %slots = rt.slots %arena[0] : memref<128xi8> to !rt.slots<1>
// CHECK-NEXT:    rt.share %slots[0] {
// CHECK-NEXT:      "memref.copy"(%in, %out) : (memref<8xi8>, memref<8xi8>) -> ()
// CHECK-NEXT:    } : !rt.slots<1>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
relay.func @names_of_the_model_are_kept(%x: tensor<8xui8>) -> tensor<8xui8> attributes {input_names = ["data"], output_names = ["prob"]} {
  relay.return %x : tensor<8xui8>
}

// CHECK-LABEL: func.func @nothing_taken_nothing_given(%arena: memref<128xi8>, %num_threads: index) attributes {weft.inputs = [], weft.outputs = [], weft.counter_bytes = 128 : i64} {
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
relay.func @nothing_taken_nothing_given() {
  relay.return
}

// CHECK-LABEL: func.func @tensors_without_elements(%in: memref<0xf32>, %out: memref<0xf32>, %arena: memref<128xi8>, %num_threads: index) attributes {weft.inputs = [{name = "x", type = tensor<0x3xf32>}], weft.outputs = [{name = "out", type = tensor<0x3xf32>}], weft.counter_bytes = 128 : i64} {
// CHECK-NEXT:    %slots = rt.slots %arena[0] : memref<128xi8> to !rt.slots<1>
// CHECK-NEXT:    rt.share %slots[0] {
// CHECK-NEXT:      "memref.copy"(%in, %out) : (memref<0xf32>, memref<0xf32>) -> ()
// CHECK-NEXT:    } : !rt.slots<1>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
relay.func @tensors_without_elements(%x: tensor<0x3xf32>) -> tensor<0x3xf32> {
  relay.return %x : tensor<0x3xf32>
}

// Every call of a kernel that makes checks has a record behind the slots, and says where each check of it comes from.
// CHECK-LABEL: func.func @calls_with_checks_have_records
// CHECK-SAME:    weft.counter_bytes = 512 : i64, weft.checks = {{\[\[}}{text = "wrong", file = {{.*}}}], [{text = "wrong", file = {{.*}}}]], weft.records = 384 : i64
// CHECK:         %record = rt.record %arena[384]
// CHECK-NEXT:    %slots = rt.slots %arena[0]
// CHECK-NEXT:    func.call @with_checks(%in, %{{.*}}, %record, %slots, %num_threads)
// CHECK-NEXT:    %record_1 = rt.record %arena[448]
// CHECK-NEXT:    %slots_1 = rt.slots %arena[128]
// CHECK-NEXT:    func.call @with_checks(%{{.*}}, %out, %record_1, %slots_1, %num_threads)
relay.func @calls_with_checks_have_records(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relay.call_lowered @with_checks(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = relay.call_lowered @with_checks(%0) : (tensor<8xf32>) -> tensor<8xf32>
  relay.return %1 : tensor<8xf32>
}
func.func private @with_checks(memref<8xf32>, memref<8xf32>, !rt.record, !rt.slots<1>, index) -> () attributes {weft.checks = [{text = "wrong", member = 0 : i64}]}
