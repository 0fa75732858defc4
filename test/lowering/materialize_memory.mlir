// RUN: weft-opt %s -p materialize-memory | filecheck %s

// CHECK-LABEL: func.func private @k(memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
func.func private @k(memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-LABEL: func.func private @with_workspace(memref<8xf32>, memref<8xf32>, memref<32xf32>, !rt.slots<2>, index) -> ()
func.func private @with_workspace(memref<8xf32>, memref<8xf32>, memref<32xf32>, !rt.slots<2>, index) -> ()
// CHECK-LABEL: func.func private @concat(memref<8xf32>, memref<8xf32>, memref<16xf32>, !rt.slots<1>, index) -> ()
func.func private @concat(memref<8xf32>, memref<8xf32>, memref<16xf32>, !rt.slots<1>, index) -> ()
// CHECK-LABEL: func.func private @bytes(memref<8xi8>, memref<8xi8>, !rt.slots<1>, index) -> ()
func.func private @bytes(memref<8xi8>, memref<8xi8>, !rt.slots<1>, index) -> ()

// CHECK-LABEL: func.func @what_lies_between_is_placed_in_the_arena(%in: memref<8xf32>, %out: memref<8xf32>, %arena: memref<512xi8>, %num_threads: index)
// CHECK-NEXT:     attributes {weft.inputs = [{name = "x", type = tensor<8xf32>}], weft.outputs = [{name = "out", type = tensor<8xf32>}],
// CHECK-NEXT:     weft.counter_bytes = 384 : i64} {
// CHECK-NEXT:    %0 = arith.constant 384 : index
// CHECK-NEXT:    %a = memref.view %arena[%0][] : memref<512xi8> to memref<8xf32>
// CHECK-NEXT:    %slots = rt.slots %arena[0] : memref<512xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @k(%in, %a, %slots, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    %1 = arith.constant 448 : index
// CHECK-NEXT:    %b = memref.view %arena[%1][] : memref<512xi8> to memref<8xf32>
// CHECK-NEXT:    %slots_1 = rt.slots %arena[128] : memref<512xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @k(%a, %b, %slots_1, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    %slots_2 = rt.slots %arena[256] : memref<512xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @k(%b, %out, %slots_2, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
mem.graph @what_lies_between_is_placed_in_the_arena(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
  %pool = mem.pool : memref<128xi8>
  %a = mem.alloc at %pool[0] : memref<8xf32> in memref<128xi8>
  mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
  %b = mem.alloc at %pool[64] : memref<8xf32> in memref<128xi8>
  mem.call @k(%a) writes(%b) : (memref<8xf32>) writes(memref<8xf32>)
  mem.call @k(%b) writes(%out) : (memref<8xf32>) writes(memref<8xf32>)
}

// CHECK-LABEL: func.func @pools_come_one_behind_the_other(%in: memref<8xf32>, %out: memref<8xf32>, %arena: memref<512xi8>, %num_threads: index)
// CHECK-NEXT:     attributes {weft.inputs = [{name = "x", type = tensor<8xf32>}], weft.outputs = [{name = "out", type = tensor<8xf32>}],
// CHECK-NEXT:     weft.counter_bytes = 384 : i64} {
// CHECK-NEXT:    %0 = arith.constant 384 : index
// CHECK-NEXT:    %a = memref.view %arena[%0][] : memref<512xi8> to memref<8xf32>
// CHECK-NEXT:    %slots = rt.slots %arena[0] : memref<512xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @k(%in, %a, %slots, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    %1 = arith.constant 448 : index
// CHECK-NEXT:    %b = memref.view %arena[%1][] : memref<512xi8> to memref<8xf32>
// CHECK-NEXT:    %slots_1 = rt.slots %arena[128] : memref<512xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @k(%a, %b, %slots_1, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    %slots_2 = rt.slots %arena[256] : memref<512xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @k(%b, %out, %slots_2, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
mem.graph @pools_come_one_behind_the_other(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
  %pool0 = mem.pool : memref<32xi8>
  %pool1 = mem.pool : memref<32xi8>
  %a = mem.alloc at %pool0[0] : memref<8xf32> in memref<32xi8>
  mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
  %b = mem.alloc at %pool1[0] : memref<8xf32> in memref<32xi8>
  mem.call @k(%a) writes(%b) : (memref<8xf32>) writes(memref<8xf32>)
  mem.call @k(%b) writes(%out) : (memref<8xf32>) writes(memref<8xf32>)
}

// CHECK-LABEL: func.func @a_kernel_with_workspace_and_two_slots(%in: memref<8xf32>, %out: memref<8xf32>, %arena: memref<512xi8>, %num_threads: index)
// CHECK-NEXT:     attributes {weft.inputs = [{name = "x", type = tensor<8xf32>}], weft.outputs = [{name = "out", type = tensor<8xf32>}],
// CHECK-NEXT:     weft.counter_bytes = 384 : i64} {
// CHECK-NEXT:    %0 = arith.constant 384 : index
// CHECK-NEXT:    %t = memref.view %arena[%0][] : memref<512xi8> to memref<32xf32>
// CHECK-NEXT:    %slots = rt.slots %arena[0] : memref<512xi8> to !rt.slots<2>
// CHECK-NEXT:    func.call @with_workspace(%in, %out, %t, %slots, %num_threads) : (memref<8xf32>, memref<8xf32>, memref<32xf32>, !rt.slots<2>, index) -> ()
// CHECK-NEXT:    %slots_1 = rt.slots %arena[256] : memref<512xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @k(%in, %out, %slots_1, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
mem.graph @a_kernel_with_workspace_and_two_slots(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
  %pool = mem.pool : memref<128xi8>
  %t = mem.alloc at %pool[0] : memref<32xf32> in memref<128xi8>
  mem.call @with_workspace(%x) writes(%out) workspaces(%t) : (memref<8xf32>) writes(memref<8xf32>) workspaces(memref<32xf32>)
  mem.call @k(%x) writes(%out) : (memref<8xf32>) writes(memref<8xf32>)
}

// CHECK-LABEL: func.func @views_are_flat(%in: memref<8xf32>, %out: memref<8xf32>, %arena: memref<448xi8>, %num_threads: index)
// CHECK-NEXT:     attributes {weft.inputs = [{name = "x", type = tensor<2x4xf32>}], weft.outputs = [{name = "out", type = tensor<4x2xf32>}],
// CHECK-NEXT:     weft.counter_bytes = 384 : i64} {
// CHECK-NEXT:    %0 = arith.constant 384 : index
// CHECK-NEXT:    %a = memref.view %arena[%0][] : memref<448xi8> to memref<8xf32>
// CHECK-NEXT:    %slots = rt.slots %arena[0] : memref<448xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @k(%in, %a, %slots, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    %1 = arith.constant 416 : index
// CHECK-NEXT:    %c = memref.view %arena[%1][] : memref<448xi8> to memref<8xf32>
// CHECK-NEXT:    %slots_1 = rt.slots %arena[128] : memref<448xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @k(%a, %c, %slots_1, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    %slots_2 = rt.slots %arena[256] : memref<448xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @k(%c, %out, %slots_2, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
mem.graph @views_are_flat(%x: memref<2x4xf32>) writes(%out: memref<4x2xf32>) {
  %pool = mem.pool : memref<64xi8>
  %whole = mem.alloc at %pool[0] : memref<2x2x4xf32> in memref<64xi8>
  %a = mem.part %whole[0] : memref<2x2x4xf32> to memref<2x4xf32>
  %b = mem.part %whole[32] : memref<2x2x4xf32> to memref<2x4xf32>
  %c = mem.alias %b : memref<2x4xf32> to memref<8xf32>
  mem.call @k(%x) writes(%a) : (memref<2x4xf32>) writes(memref<2x4xf32>)
  mem.call @k(%a) writes(%c) : (memref<2x4xf32>) writes(memref<8xf32>)
  mem.call @k(%b) writes(%out) : (memref<2x4xf32>) writes(memref<4x2xf32>)
}

// CHECK-LABEL: func.func @copies_that_follow_one_another_are_one_share(%in: memref<8xf32>, %out0: memref<8xf32>, %out1: memref<8xf32>, %arena: memref<128xi8>,
// CHECK-NEXT:     %num_threads: index) attributes {weft.inputs = [{name = "x", type = tensor<8xf32>}],
// CHECK-NEXT:     weft.outputs = [{name = "out0", type = tensor<8xf32>}, {name = "out1", type = tensor<8xf32>}], weft.counter_bytes = 128 : i64} {
// CHECK-NEXT:    %slots = rt.slots %arena[0] : memref<128xi8> to !rt.slots<1>
// CHECK-NEXT:    rt.share %slots[0] {
// CHECK-NEXT:      "memref.copy"(%in, %out0) : (memref<8xf32>, memref<8xf32>) -> ()
// CHECK-NEXT:      "memref.copy"(%in, %out1) : (memref<8xf32>, memref<8xf32>) -> ()
// CHECK-NEXT:    } : !rt.slots<1>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
mem.graph @copies_that_follow_one_another_are_one_share(%x: memref<8xf32>) writes(%out0: memref<8xf32>, %out1: memref<8xf32>) {
  mem.copy %x to %out0 : memref<8xf32> to memref<8xf32>
  mem.copy %x to %out1 : memref<8xf32> to memref<8xf32>
}

// CHECK-LABEL: func.func @a_copy_by_a_kernel_is_a_call(%in: memref<8xf32>, %out: memref<16xf32>, %arena: memref<128xi8>, %num_threads: index)
// CHECK-NEXT:     attributes {weft.inputs = [{name = "x", type = tensor<8xf32>}], weft.outputs = [{name = "out", type = tensor<16xf32>}],
// CHECK-NEXT:     weft.counter_bytes = 128 : i64} {
// CHECK-NEXT:    %slots = rt.slots %arena[0] : memref<128xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @concat(%in, %in, %out, %slots, %num_threads) : (memref<8xf32>, memref<8xf32>, memref<16xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
mem.graph @a_copy_by_a_kernel_is_a_call(%x: memref<8xf32>) writes(%out: memref<16xf32>) {
  mem.copy %x, %x to %out by @concat : memref<8xf32>, memref<8xf32> to memref<16xf32>
}

// CHECK-LABEL: func.func @a_copy_between_calls(%in: memref<8xf32>, %out: memref<8xf32>, %arena: memref<320xi8>, %num_threads: index)
// CHECK-NEXT:     attributes {weft.inputs = [{name = "x", type = tensor<8xf32>}], weft.outputs = [{name = "out", type = tensor<8xf32>}],
// CHECK-NEXT:     weft.counter_bytes = 256 : i64} {
// CHECK-NEXT:    %0 = arith.constant 256 : index
// CHECK-NEXT:    %a = memref.view %arena[%0][] : memref<320xi8> to memref<8xf32>
// CHECK-NEXT:    %slots = rt.slots %arena[0] : memref<320xi8> to !rt.slots<1>
// CHECK-NEXT:    rt.share %slots[0] {
// CHECK-NEXT:      "memref.copy"(%in, %a) : (memref<8xf32>, memref<8xf32>) -> ()
// CHECK-NEXT:    } : !rt.slots<1>
// CHECK-NEXT:    %slots_1 = rt.slots %arena[128] : memref<320xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @k(%a, %out, %slots_1, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
mem.graph @a_copy_between_calls(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
  %pool = mem.pool : memref<64xi8>
  %a = mem.alloc at %pool[0] : memref<8xf32> in memref<64xi8>
  mem.copy %x to %a : memref<8xf32> to memref<8xf32>
  mem.call @k(%a) writes(%out) : (memref<8xf32>) writes(memref<8xf32>)
}

// CHECK-LABEL: func.func @equal_constants_are_one_global(%out0: memref<2xf32>, %out1: memref<2xf32>, %arena: memref<128xi8>, %num_threads: index)
// CHECK-NEXT:     attributes {weft.inputs = [], weft.outputs = [{name = "out0", type = tensor<2xf32>}, {name = "out1", type = tensor<2xf32>}],
// CHECK-NEXT:     weft.counter_bytes = 128 : i64} {
// CHECK-NEXT:    %a = memref.get_global @constant_0 : memref<2xf32>
// CHECK-NEXT:    %b = memref.get_global @constant_0 : memref<2xf32>
// CHECK-NEXT:    %slots = rt.slots %arena[0] : memref<128xi8> to !rt.slots<1>
// CHECK-NEXT:    rt.share %slots[0] {
// CHECK-NEXT:      "memref.copy"(%a, %out0) : (memref<2xf32>, memref<2xf32>) -> ()
// CHECK-NEXT:      "memref.copy"(%b, %out1) : (memref<2xf32>, memref<2xf32>) -> ()
// CHECK-NEXT:    } : !rt.slots<1>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
mem.graph @equal_constants_are_one_global() writes(%out0: memref<2xf32>, %out1: memref<2xf32>) {
  %a = mem.constant dense<[1.0, 2.0]> : tensor<2xf32> as tensor<2xf32> : memref<2xf32>
  %b = mem.constant dense<[1.0, 2.0]> : tensor<2xf32> as tensor<2xf32> : memref<2xf32>
  mem.copy %a to %out0 : memref<2xf32> to memref<2xf32>
  mem.copy %b to %out1 : memref<2xf32> to memref<2xf32>
}

// CHECK-LABEL: func.func @names_and_signs_are_kept(%in: memref<8xi8>, %out: memref<8xi8>, %arena: memref<128xi8>, %num_threads: index)
// CHECK-NEXT:     attributes {weft.inputs = [{name = "data", type = tensor<8xui8>}], weft.outputs = [{name = "prob", type = tensor<8xui8>}],
// CHECK-NEXT:     weft.counter_bytes = 128 : i64} {
// CHECK-NEXT:    %slots = rt.slots %arena[0] : memref<128xi8> to !rt.slots<1>
// CHECK-NEXT:    func.call @bytes(%in, %out, %slots, %num_threads) : (memref<8xi8>, memref<8xi8>, !rt.slots<1>, index) -> ()
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
mem.graph @names_and_signs_are_kept(%x: memref<8xui8>) writes(%out: memref<8xui8>) attributes {input_names = ["data"], output_names = ["prob"]} {
  mem.call @bytes(%x) writes(%out) : (memref<8xui8>) writes(memref<8xui8>)
}

// CHECK-LABEL: func.func @nothing_taken_nothing_given(%arena: memref<128xi8>, %num_threads: index)
// CHECK-NEXT:     attributes {weft.inputs = [], weft.outputs = [], weft.counter_bytes = 128 : i64} {
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
mem.graph @nothing_taken_nothing_given() {
}

// CHECK-LABEL: func.func @tensors_without_elements(%in: memref<0xf32>, %out: memref<0xf32>, %arena: memref<128xi8>, %num_threads: index)
// CHECK-NEXT:     attributes {weft.inputs = [{name = "x", type = tensor<0x3xf32>}], weft.outputs = [{name = "out", type = tensor<0x3xf32>}],
// CHECK-NEXT:     weft.counter_bytes = 128 : i64} {
// CHECK-NEXT:    %slots = rt.slots %arena[0] : memref<128xi8> to !rt.slots<1>
// CHECK-NEXT:    rt.share %slots[0] {
// CHECK-NEXT:      "memref.copy"(%in, %out) : (memref<0xf32>, memref<0xf32>) -> ()
// CHECK-NEXT:    } : !rt.slots<1>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
mem.graph @tensors_without_elements(%x: memref<0x3xf32>) writes(%out: memref<0x3xf32>) {
  mem.copy %x to %out : memref<0x3xf32> to memref<0x3xf32>
}

// Every call of a kernel that makes checks has a record behind the slots, and says where each check of it comes from.
// CHECK-LABEL: func.func @calls_with_checks_have_records
// CHECK:         weft.counter_bytes = 384 : i64,
// CHECK:         weft.checks = {{\[\[}}{text = "wrong"
// CHECK:         [{text = "wrong"
// CHECK:         weft.records = 256 : i64
// CHECK:         %record = rt.record %arena[256]
// CHECK-NEXT:    %slots = rt.slots %arena[0]
// CHECK-NEXT:    func.call @with_checks(%in, %{{.*}}, %record, %slots, %num_threads)
// CHECK:         %record_1 = rt.record %arena[320]
// CHECK-NEXT:    %slots_1 = rt.slots %arena[128]
// CHECK-NEXT:    func.call @with_checks(%{{.*}}, %out, %record_1, %slots_1, %num_threads)
mem.graph @calls_with_checks_have_records(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
  %pool = mem.pool : memref<64xi8>
  %a = mem.alloc at %pool[0] : memref<8xf32> in memref<64xi8>
  mem.call @with_checks(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
  mem.call @with_checks(%a) writes(%out) : (memref<8xf32>) writes(memref<8xf32>)
}
func.func private @with_checks(memref<8xf32>, memref<8xf32>, !rt.record, !rt.slots<1>, index) -> () attributes {weft.checks = [{text = "wrong", member = 0 : i64}]}
