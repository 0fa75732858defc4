// RUN: weft-opt %s -p 'plan-devices{default-device=cuda}' | filecheck %s
// RUN: weft-opt %s -p 'plan-devices{default-device=cuda},plan-devices{default-device=opencl}' | filecheck %s

// Planning anew, with another default, changes nothing: a plan leaves nothing free.
// CHECK-LABEL: relay.func @a_note_between_two_devices_becomes_a_copy(%a: tensor<5x7xf32>, %b: tensor<5x7xf32>, %c: tensor<5x7xf32>, %d: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cpu, id = 0>, #relay.virtual_device<cpu, id = 0>, #relay.virtual_device<cuda, id = 0>,
// CHECK-NEXT:          #relay.virtual_device<cuda, id = 0>],
// CHECK-NEXT:          result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
// CHECK-NEXT:    %0 = relay.add %a, %b : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:    %1 = relay.device_copy %0 {src_virtual_device = #relay.virtual_device<cpu, id = 0>, dst_virtual_device = #relay.virtual_device<cuda, id = 0>}
// CHECK-NEXT:        : tensor<5x7xf32>
// CHECK-NEXT:    %2 = relay.add %c, %d : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:    %3 = relay.subtract %1, %2 : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:    relay.return %3 : tensor<5x7xf32>
// CHECK-NEXT:  }
relay.func @a_note_between_two_devices_becomes_a_copy(%a: tensor<5x7xf32>, %b: tensor<5x7xf32>, %c: tensor<5x7xf32>, %d: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = relay.add %a, %b : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %1 = relay.on_device %0 {virtual_device = #relay.virtual_device<cpu>} : tensor<5x7xf32>
  %2 = relay.add %c, %d : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %3 = relay.subtract %1, %2 : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  relay.return %3 : tensor<5x7xf32>
}

// What is free follows the result, which is on the default device.
// CHECK-LABEL: relay.func @what_nothing_constrains_goes_to_the_default(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>, %z: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cuda, id = 0>, #relay.virtual_device<cuda, id = 0>, #relay.virtual_device<cpu, id = 0>],
// CHECK-NEXT:          result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
// CHECK-NEXT:    %a = relay.add %x, %y : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:    %0 = relay.device_copy %z {src_virtual_device = #relay.virtual_device<cpu, id = 0>, dst_virtual_device = #relay.virtual_device<cuda, id = 0>}
// CHECK-NEXT:        : tensor<5x7xf32>
// CHECK-NEXT:    %1 = relay.multiply %a, %0 : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:    relay.return %1 : tensor<5x7xf32>
// CHECK-NEXT:  }
relay.func @what_nothing_constrains_goes_to_the_default(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>, %z: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %a = relay.add %x, %y : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %0 = relay.on_device %z {virtual_device = #relay.virtual_device<cpu>} : tensor<5x7xf32>
  %1 = relay.multiply %a, %0 : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  relay.return %1 : tensor<5x7xf32>
}

// What a note wants on a device, and nothing has elsewhere, is computed there: the constant is not copied.
// CHECK-LABEL: relay.func @what_is_free_follows_a_note_on_its_use(%x: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cuda, id = 0>], result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
// CHECK-NEXT:    %0 = relay.constant dense<2.000000e+00> : tensor<5x7xf32>
// CHECK-NEXT:    %1 = relay.exp %0 : tensor<5x7xf32>
// CHECK-NEXT:    %2 = relay.tanh %1 : tensor<5x7xf32>
// CHECK-NEXT:    %3 = relay.device_copy %2 {src_virtual_device = #relay.virtual_device<cpu, id = 0>, dst_virtual_device = #relay.virtual_device<cuda, id = 0>}
// CHECK-NEXT:        : tensor<5x7xf32>
// CHECK-NEXT:    %4 = relay.add %x, %3 : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:    relay.return %4 : tensor<5x7xf32>
// CHECK-NEXT:  }
relay.func @what_is_free_follows_a_note_on_its_use(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = relay.constant dense<2.0> : tensor<5x7xf32>
  %1 = relay.exp %0 : tensor<5x7xf32>
  %2 = relay.on_device %1 {virtual_device = #relay.virtual_device<cpu>, constrain_body = false, constrain_result = true} : tensor<5x7xf32>
  %3 = relay.tanh %2 : tensor<5x7xf32>
  %4 = relay.on_device %3 {virtual_device = #relay.virtual_device<cpu>} : tensor<5x7xf32>
  %5 = relay.add %x, %4 : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  relay.return %5 : tensor<5x7xf32>
}

// CHECK-LABEL: relay.func @a_note_that_nothing_contradicts_goes_away(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cuda, id = 0>, #relay.virtual_device<cuda, id = 0>],
// CHECK-NEXT:          result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
// CHECK-NEXT:    %0 = relay.add %x, %y : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:    relay.return %0 : tensor<5x7xf32>
// CHECK-NEXT:  }
relay.func @a_note_that_nothing_contradicts_goes_away(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = relay.on_device %x {virtual_device = #relay.virtual_device<cuda>} : tensor<5x7xf32>
  %1 = relay.add %0, %y : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  relay.return %1 : tensor<5x7xf32>
}

// CHECK-LABEL: relay.func @a_copy_from_a_device_to_itself_goes_away(%x: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cpu, id = 0>], result_virtual_devices = [#relay.virtual_device<cpu, id = 0>]} {
// CHECK-NEXT:    %0 = relay.exp %x : tensor<5x7xf32>
// CHECK-NEXT:    relay.return %0 : tensor<5x7xf32>
// CHECK-NEXT:  }
relay.func @a_copy_from_a_device_to_itself_goes_away(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = relay.device_copy %x {src_virtual_device = #relay.virtual_device<cpu>, dst_virtual_device = #relay.virtual_device<cpu>} : tensor<5x7xf32>
  %1 = relay.exp %0 : tensor<5x7xf32>
  relay.return %1 : tensor<5x7xf32>
}

// The note constrains the result as well, so that the function's is on the CPU.
// CHECK-LABEL: relay.func @a_note_on_the_result_of_a_function(%x: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cpu, id = 0>], result_virtual_devices = [#relay.virtual_device<cpu, id = 0>]} {
// CHECK-NEXT:    %0 = relay.exp %x : tensor<5x7xf32>
// CHECK-NEXT:    relay.return %0 : tensor<5x7xf32>
// CHECK-NEXT:  }
relay.func @a_note_on_the_result_of_a_function(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = relay.exp %x : tensor<5x7xf32>
  %1 = relay.on_device %0 {virtual_device = #relay.virtual_device<cpu>} : tensor<5x7xf32>
  relay.return %1 : tensor<5x7xf32>
}

// CHECK-LABEL: relay.func @a_field_is_copied_not_the_tuple(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cpu, id = 0>, #relay.virtual_device<cuda, id = 0>],
// CHECK-NEXT:          result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
// CHECK-NEXT:    %0 = relay.tuple(%x, %x) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tuple<tensor<5x7xf32>, tensor<5x7xf32>>
// CHECK-NEXT:    %1 = relay.tuple_get %0[0] : tuple<tensor<5x7xf32>, tensor<5x7xf32>> -> tensor<5x7xf32>
// CHECK-NEXT:    %2 = relay.device_copy %1 {src_virtual_device = #relay.virtual_device<cpu, id = 0>, dst_virtual_device = #relay.virtual_device<cuda, id = 0>}
// CHECK-NEXT:        : tensor<5x7xf32>
// CHECK-NEXT:    %3 = relay.add %2, %y : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:    relay.return %3 : tensor<5x7xf32>
// CHECK-NEXT:  }
relay.func @a_field_is_copied_not_the_tuple(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = relay.tuple(%x, %x) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tuple<tensor<5x7xf32>, tensor<5x7xf32>>
  %1 = relay.on_device %0 {virtual_device = #relay.virtual_device<cpu>} : tuple<tensor<5x7xf32>, tensor<5x7xf32>>
  %2 = relay.tuple_get %1[0] : tuple<tensor<5x7xf32>, tensor<5x7xf32>> -> tensor<5x7xf32>
  %3 = relay.add %2, %y : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  relay.return %3 : tensor<5x7xf32>
}

// CHECK-LABEL: relay.func @a_tuple_is_copied_where_it_is_used_whole(%x: tensor<5x7xf32>) -> tuple<tensor<5x7xf32>, tensor<5x7xf32>>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cpu, id = 0>], result_virtual_devices = [#relay.virtual_device<cpu, id = 0>]} {
// CHECK-NEXT:    %0 = relay.tuple(%x, %x) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tuple<tensor<5x7xf32>, tensor<5x7xf32>>
// CHECK-NEXT:    %1 = relay.tuple_get %0[1] : tuple<tensor<5x7xf32>, tensor<5x7xf32>> -> tensor<5x7xf32>
// CHECK-NEXT:    %2 = relay.tuple_get %0[0] : tuple<tensor<5x7xf32>, tensor<5x7xf32>> -> tensor<5x7xf32>
// CHECK-NEXT:    %3 = relay.tuple(%1, %2) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tuple<tensor<5x7xf32>, tensor<5x7xf32>>
// CHECK-NEXT:    relay.return %3 : tuple<tensor<5x7xf32>, tensor<5x7xf32>>
// CHECK-NEXT:  }
relay.func @a_tuple_is_copied_where_it_is_used_whole(%x: tensor<5x7xf32>) -> tuple<tensor<5x7xf32>, tensor<5x7xf32>> {
  %0 = relay.tuple(%x, %x) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tuple<tensor<5x7xf32>, tensor<5x7xf32>>
  %1 = relay.on_device %0 {virtual_device = #relay.virtual_device<cpu>} : tuple<tensor<5x7xf32>, tensor<5x7xf32>>
  %2 = relay.tuple_get %0[1] : tuple<tensor<5x7xf32>, tensor<5x7xf32>> -> tensor<5x7xf32>
  %3 = relay.on_device %2 {constrain_body = false} : tensor<5x7xf32>
  %4 = relay.tuple_get %1[0] : tuple<tensor<5x7xf32>, tensor<5x7xf32>> -> tensor<5x7xf32>
  %5 = relay.tuple(%3, %4) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tuple<tensor<5x7xf32>, tensor<5x7xf32>>
  relay.return %5 : tuple<tensor<5x7xf32>, tensor<5x7xf32>>
}

// CHECK-LABEL: relay.func @uses_share_a_copy(%x: tensor<5x7xf32>) -> tuple<tensor<5x7xf32>, tensor<5x7xf32>>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cpu, id = 0>], result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
// CHECK-NEXT:    %0 = relay.exp %x : tensor<5x7xf32>
// CHECK-NEXT:    %1 = relay.device_copy %0 {src_virtual_device = #relay.virtual_device<cpu, id = 0>, dst_virtual_device = #relay.virtual_device<cuda, id = 0>}
// CHECK-NEXT:        : tensor<5x7xf32>
// CHECK-NEXT:    %2 = relay.tanh %1 : tensor<5x7xf32>
// CHECK-NEXT:    %3 = relay.sqrt %1 : tensor<5x7xf32>
// CHECK-NEXT:    %4 = relay.add %3, %1 : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:    %5 = relay.tuple(%2, %4) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tuple<tensor<5x7xf32>, tensor<5x7xf32>>
// CHECK-NEXT:    relay.return %5 : tuple<tensor<5x7xf32>, tensor<5x7xf32>>
// CHECK-NEXT:  }
relay.func @uses_share_a_copy(%x: tensor<5x7xf32>) -> tuple<tensor<5x7xf32>, tensor<5x7xf32>> {
  %0 = relay.exp %x : tensor<5x7xf32>
  %1 = relay.on_device %0 {virtual_device = #relay.virtual_device<cpu>} : tensor<5x7xf32>
  %2 = relay.tanh %1 : tensor<5x7xf32>
  %3 = relay.on_device %0 {virtual_device = #relay.virtual_device<cpu>} : tensor<5x7xf32>
  %4 = relay.sqrt %3 : tensor<5x7xf32>
  %5 = relay.device_copy %0 {src_virtual_device = #relay.virtual_device<cpu, id = 0>, dst_virtual_device = #relay.virtual_device<cuda, id = 0>} : tensor<5x7xf32>
  %6 = relay.add %4, %5 : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %7 = relay.tuple(%2, %6) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tuple<tensor<5x7xf32>, tensor<5x7xf32>>
  relay.return %7 : tuple<tensor<5x7xf32>, tensor<5x7xf32>>
}

// CHECK-LABEL: relay.func @branches_share_a_copy(%c: tensor<i1>, %x: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cuda, id = 0>, #relay.virtual_device<cpu, id = 0>],
// CHECK-NEXT:          result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
// CHECK-NEXT:    %0 = relay.exp %x : tensor<5x7xf32>
// CHECK-NEXT:    %1 = relay.device_copy %0 {src_virtual_device = #relay.virtual_device<cpu, id = 0>, dst_virtual_device = #relay.virtual_device<cuda, id = 0>}
// CHECK-NEXT:        : tensor<5x7xf32>
// CHECK-NEXT:    %2 = relay.if %c : (tensor<i1>) -> tensor<5x7xf32> {
// CHECK-NEXT:      %3 = relay.tanh %1 : tensor<5x7xf32>
// CHECK-NEXT:      relay.yield %3 : tensor<5x7xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %4 = relay.sqrt %1 : tensor<5x7xf32>
// CHECK-NEXT:      relay.yield %4 : tensor<5x7xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    relay.return %2 : tensor<5x7xf32>
// CHECK-NEXT:  }
relay.func @branches_share_a_copy(%c: tensor<i1>, %x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = relay.exp %x : tensor<5x7xf32>
  %1 = relay.if %c : (tensor<i1>) -> tensor<5x7xf32> {
    %2 = relay.on_device %0 {virtual_device = #relay.virtual_device<cpu>} : tensor<5x7xf32>
    %3 = relay.tanh %2 : tensor<5x7xf32>
    relay.yield %3 : tensor<5x7xf32>
  } else {
    %4 = relay.on_device %0 {virtual_device = #relay.virtual_device<cpu>} : tensor<5x7xf32>
    %5 = relay.sqrt %4 : tensor<5x7xf32>
    relay.yield %5 : tensor<5x7xf32>
  }
  relay.return %1 : tensor<5x7xf32>
}

// CHECK-LABEL: relay.func @a_copy_in_one_branch_stays_there(%c: tensor<i1>, %x: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cuda, id = 0>, #relay.virtual_device<cpu, id = 0>],
// CHECK-NEXT:          result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
// CHECK-NEXT:    %0 = relay.exp %x : tensor<5x7xf32>
// CHECK-NEXT:    %1 = relay.if %c : (tensor<i1>) -> tensor<5x7xf32> {
// CHECK-NEXT:      %2 = relay.device_copy %0 {src_virtual_device = #relay.virtual_device<cpu, id = 0>, dst_virtual_device = #relay.virtual_device<cuda, id = 0>}
// CHECK-NEXT:          : tensor<5x7xf32>
// CHECK-NEXT:      relay.yield %2 : tensor<5x7xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %3 = relay.constant dense<2.000000e+00> : tensor<5x7xf32>
// CHECK-NEXT:      relay.yield %3 : tensor<5x7xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    relay.return %1 : tensor<5x7xf32>
// CHECK-NEXT:  }
relay.func @a_copy_in_one_branch_stays_there(%c: tensor<i1>, %x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = relay.exp %x : tensor<5x7xf32>
  %1 = relay.if %c : (tensor<i1>) -> tensor<5x7xf32> {
    %2 = relay.on_device %0 {virtual_device = #relay.virtual_device<cpu>} : tensor<5x7xf32>
    relay.yield %2 : tensor<5x7xf32>
  } else {
    %3 = relay.constant dense<2.0> : tensor<5x7xf32>
    relay.yield %3 : tensor<5x7xf32>
  }
  relay.return %1 : tensor<5x7xf32>
}

// CHECK-LABEL: relay.func @a_copy_is_not_moved_out_of_a_function(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cpu, id = 0>, #relay.virtual_device<cuda, id = 0>],
// CHECK-NEXT:          result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
// CHECK-NEXT:    %0 = relay.exp %x : tensor<5x7xf32>
// CHECK-NEXT:    %f = relay.fn(%a: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:        attributes {param_virtual_devices = [#relay.virtual_device<cuda, id = 0>], result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
// CHECK-NEXT:      %1 = relay.device_copy %0 {src_virtual_device = #relay.virtual_device<cpu, id = 0>, dst_virtual_device = #relay.virtual_device<cuda, id = 0>}
// CHECK-NEXT:          : tensor<5x7xf32>
// CHECK-NEXT:      %2 = relay.add %a, %1 : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      relay.yield %2 : tensor<5x7xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %g = relay.fn(%b: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:        attributes {param_virtual_devices = [#relay.virtual_device<cuda, id = 0>], result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
// CHECK-NEXT:      %3 = relay.device_copy %0 {src_virtual_device = #relay.virtual_device<cpu, id = 0>, dst_virtual_device = #relay.virtual_device<cuda, id = 0>}
// CHECK-NEXT:          : tensor<5x7xf32>
// CHECK-NEXT:      %4 = relay.subtract %b, %3 : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      relay.yield %4 : tensor<5x7xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %5 = relay.apply %f(%y) : (tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:    %6 = relay.apply %g(%5) : (tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:    relay.return %6 : tensor<5x7xf32>
// CHECK-NEXT:  }
relay.func @a_copy_is_not_moved_out_of_a_function(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = relay.exp %x : tensor<5x7xf32>
  %f = relay.fn(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
    %1 = relay.on_device %0 {virtual_device = #relay.virtual_device<cpu>} : tensor<5x7xf32>
    %2 = relay.add %a, %1 : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
    relay.yield %2 : tensor<5x7xf32>
  }
  %g = relay.fn(%b: tensor<5x7xf32>) -> tensor<5x7xf32> {
    %3 = relay.on_device %0 {virtual_device = #relay.virtual_device<cpu>} : tensor<5x7xf32>
    %4 = relay.subtract %b, %3 : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
    relay.yield %4 : tensor<5x7xf32>
  }
  %5 = relay.apply %f(%y) : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %6 = relay.apply %g(%5) : (tensor<5x7xf32>) -> tensor<5x7xf32>
  relay.return %6 : tensor<5x7xf32>
}

// Each of the two transitions is a copy.
// CHECK-LABEL: relay.func @a_note_on_a_note(%x: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<opencl, id = 0>], result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
// CHECK-NEXT:    %0 = relay.exp %x : tensor<5x7xf32>
// CHECK-NEXT:    %1 = relay.device_copy %0 {src_virtual_device = #relay.virtual_device<opencl, id = 0>, dst_virtual_device = #relay.virtual_device<cpu, id = 0>}
// CHECK-NEXT:        : tensor<5x7xf32>
// CHECK-NEXT:    %2 = relay.device_copy %1 {src_virtual_device = #relay.virtual_device<cpu, id = 0>, dst_virtual_device = #relay.virtual_device<cuda, id = 0>}
// CHECK-NEXT:        : tensor<5x7xf32>
// CHECK-NEXT:    %3 = relay.tanh %2 : tensor<5x7xf32>
// CHECK-NEXT:    relay.return %3 : tensor<5x7xf32>
// CHECK-NEXT:  }
relay.func @a_note_on_a_note(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = relay.exp %x : tensor<5x7xf32>
  %1 = relay.on_device %0 {virtual_device = #relay.virtual_device<opencl>} : tensor<5x7xf32>
  %2 = relay.on_device %1 {virtual_device = #relay.virtual_device<cpu>} : tensor<5x7xf32>
  %3 = relay.tanh %2 : tensor<5x7xf32>
  relay.return %3 : tensor<5x7xf32>
}

// CHECK-LABEL: relay.func @a_note_between_a_value_and_its_copy(%x: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<opencl, id = 0>], result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
// CHECK-NEXT:    %0 = relay.exp %x : tensor<5x7xf32>
// CHECK-NEXT:    %1 = relay.device_copy %0 {src_virtual_device = #relay.virtual_device<opencl, id = 0>, dst_virtual_device = #relay.virtual_device<cpu, id = 0>}
// CHECK-NEXT:        : tensor<5x7xf32>
// CHECK-NEXT:    %2 = relay.device_copy %1 {src_virtual_device = #relay.virtual_device<cpu, id = 0>, dst_virtual_device = #relay.virtual_device<cuda, id = 0>}
// CHECK-NEXT:        : tensor<5x7xf32>
// CHECK-NEXT:    relay.return %2 : tensor<5x7xf32>
// CHECK-NEXT:  }
relay.func @a_note_between_a_value_and_its_copy(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = relay.exp %x : tensor<5x7xf32>
  %1 = relay.on_device %0 {virtual_device = #relay.virtual_device<opencl>} : tensor<5x7xf32>
  %2 = relay.device_copy %1 {src_virtual_device = #relay.virtual_device<cpu>, dst_virtual_device = #relay.virtual_device<cuda>} : tensor<5x7xf32>
  relay.return %2 : tensor<5x7xf32>
}

// The second argument of %f is on the CPU, and so is that of %g, and so is %b.
// CHECK-LABEL: relay.func @constraints_flow_through_function_values(%a: tensor<5x7xf32>, %b: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cuda, id = 0>, #relay.virtual_device<cpu, id = 0>],
// CHECK-NEXT:          result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
// CHECK-NEXT:    %f = relay.fn(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:        attributes {param_virtual_devices = [#relay.virtual_device<cuda, id = 0>, #relay.virtual_device<cpu, id = 0>],
// CHECK-NEXT:            result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
// CHECK-NEXT:      %0 = relay.device_copy %y {src_virtual_device = #relay.virtual_device<cpu, id = 0>, dst_virtual_device = #relay.virtual_device<cuda, id = 0>}
// CHECK-NEXT:          : tensor<5x7xf32>
// CHECK-NEXT:      %1 = relay.add %x, %0 : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      relay.yield %1 : tensor<5x7xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %g = relay.fn(%h: (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>, %x_1: tensor<5x7xf32>, %y_1: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:        attributes {param_virtual_devices = [#relay.virtual_device<cuda, id = 0>, #relay.virtual_device<cuda, id = 0>, #relay.virtual_device<cpu, id = 0>],
// CHECK-NEXT:            result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
// CHECK-NEXT:      %2 = relay.apply %h(%x_1, %y_1) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      relay.yield %2 : tensor<5x7xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %3 = relay.apply %g(%f, %a, %b) : ((tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:    relay.return %3 : tensor<5x7xf32>
// CHECK-NEXT:  }
relay.func @constraints_flow_through_function_values(%a: tensor<5x7xf32>, %b: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %f = relay.fn(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> tensor<5x7xf32> {
    %0 = relay.on_device %y {virtual_device = #relay.virtual_device<cpu>} : tensor<5x7xf32>
    %1 = relay.add %x, %0 : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
    relay.yield %1 : tensor<5x7xf32>
  }
  %g = relay.fn(%h: (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>, %x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> tensor<5x7xf32> {
    %2 = relay.apply %h(%x, %y) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
    relay.yield %2 : tensor<5x7xf32>
  }
  %3 = relay.apply %g(%f, %a, %b) : ((tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  relay.return %3 : tensor<5x7xf32>
}

// Both arguments of the function that %g calls are where %z is: on the CPU.
// CHECK-LABEL: relay.func @the_arguments_of_a_function_that_is_passed(%z: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cpu, id = 0>], result_virtual_devices = [#relay.virtual_device<cpu, id = 0>]} {
// CHECK-NEXT:    %f = relay.fn(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:        attributes {param_virtual_devices = [#relay.virtual_device<cpu, id = 0>, #relay.virtual_device<cpu, id = 0>],
// CHECK-NEXT:            result_virtual_devices = [#relay.virtual_device<cpu, id = 0>]} {
// CHECK-NEXT:      %0 = relay.add %x, %y : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      relay.yield %0 : tensor<5x7xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %g = relay.fn(%h: (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>, %w: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:        attributes {param_virtual_devices = [#relay.virtual_device<cpu, id = 0>, #relay.virtual_device<cpu, id = 0>],
// CHECK-NEXT:            result_virtual_devices = [#relay.virtual_device<cpu, id = 0>]} {
// CHECK-NEXT:      %1 = relay.apply %h(%w, %w) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      relay.yield %1 : tensor<5x7xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %2 = relay.apply %g(%f, %z) : ((tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:    relay.return %2 : tensor<5x7xf32>
// CHECK-NEXT:  }
relay.func @the_arguments_of_a_function_that_is_passed(%z: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %f = relay.fn(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> tensor<5x7xf32> {
    %0 = relay.add %x, %y : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
    relay.yield %0 : tensor<5x7xf32>
  }
  %g = relay.fn(%h: (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>, %w: tensor<5x7xf32>) -> tensor<5x7xf32> {
    %1 = relay.apply %h(%w, %w) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
    relay.yield %1 : tensor<5x7xf32>
  }
  %2 = relay.on_device %z {virtual_device = #relay.virtual_device<cpu>, constrain_result = true} : tensor<5x7xf32>
  %3 = relay.apply %g(%f, %2) : ((tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %4 = relay.on_device %3 {constrain_body = false} : tensor<5x7xf32>
  relay.return %4 : tensor<5x7xf32>
}

// A closure lives where its result does: the call's is on the default device.
// CHECK-LABEL: relay.func @a_function_that_returns_a_function(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cuda, id = 0>, #relay.virtual_device<cpu, id = 0>],
// CHECK-NEXT:          result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
// CHECK-NEXT:    %f = relay.fn(%g: (tensor<5x7xf32>) -> tensor<5x7xf32>) -> ((tensor<5x7xf32>) -> tensor<5x7xf32>)
// CHECK-NEXT:        attributes {param_virtual_devices = [#relay.virtual_device<cuda, id = 0>], result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
// CHECK-NEXT:      %0 = relay.fn(%a: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:          attributes {param_virtual_devices = [#relay.virtual_device<cpu, id = 0>], result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
// CHECK-NEXT:        %1 = relay.device_copy %a {src_virtual_device = #relay.virtual_device<cpu, id = 0>, dst_virtual_device = #relay.virtual_device<cuda, id = 0>}
// CHECK-NEXT:            : tensor<5x7xf32>
// CHECK-NEXT:        %2 = relay.apply %g(%1) : (tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:        %3 = relay.add %2, %x : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:        relay.yield %3 : tensor<5x7xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:      relay.yield %0 : (tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %h = relay.fn(%b: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:        attributes {param_virtual_devices = [#relay.virtual_device<cuda, id = 0>], result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
// CHECK-NEXT:      %4 = relay.negative %b : tensor<5x7xf32>
// CHECK-NEXT:      relay.yield %4 : tensor<5x7xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %5 = relay.apply %f(%h) : ((tensor<5x7xf32>) -> tensor<5x7xf32>) -> ((tensor<5x7xf32>) -> tensor<5x7xf32>)
// CHECK-NEXT:    %6 = relay.apply %5(%y) : (tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:    %7 = relay.subtract %x, %6 : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:    relay.return %7 : tensor<5x7xf32>
// CHECK-NEXT:  }
relay.func @a_function_that_returns_a_function(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %f = relay.fn(%g: (tensor<5x7xf32>) -> tensor<5x7xf32>) -> ((tensor<5x7xf32>) -> tensor<5x7xf32>) {
    %0 = relay.fn(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
      %1 = relay.on_device %a {virtual_device = #relay.virtual_device<cpu>} : tensor<5x7xf32>
      %2 = relay.apply %g(%1) : (tensor<5x7xf32>) -> tensor<5x7xf32>
      %3 = relay.add %2, %x : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
      relay.yield %3 : tensor<5x7xf32>
    }
    relay.yield %0 : (tensor<5x7xf32>) -> tensor<5x7xf32>
  }
  %h = relay.fn(%b: tensor<5x7xf32>) -> tensor<5x7xf32> {
    %4 = relay.negative %b : tensor<5x7xf32>
    relay.yield %4 : tensor<5x7xf32>
  }
  %5 = relay.apply %f(%h) : ((tensor<5x7xf32>) -> tensor<5x7xf32>) -> ((tensor<5x7xf32>) -> tensor<5x7xf32>)
  %6 = relay.apply %5(%y) : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %7 = relay.subtract %x, %6 : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  relay.return %7 : tensor<5x7xf32>
}

// What is in a tuple is where the tuple is: arguments and result of the function too.
// CHECK-LABEL: relay.func @a_function_in_a_tuple(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cpu, id = 0>, #relay.virtual_device<cpu, id = 0>],
// CHECK-NEXT:          result_virtual_devices = [#relay.virtual_device<cpu, id = 0>]} {
// CHECK-NEXT:    %f = relay.fn(%a: tensor<5x7xf32>, %b: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:        attributes {param_virtual_devices = [#relay.virtual_device<cpu, id = 0>, #relay.virtual_device<cpu, id = 0>],
// CHECK-NEXT:            result_virtual_devices = [#relay.virtual_device<cpu, id = 0>]} {
// CHECK-NEXT:      %0 = relay.add %a, %b : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      relay.yield %0 : tensor<5x7xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %t = relay.tuple(%f, %x) : ((tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>, tensor<5x7xf32>)
// CHECK-NEXT:        -> tuple<(tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>, tensor<5x7xf32>>
// CHECK-NEXT:    %1 = relay.tuple_get %t[0] : tuple<(tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>, tensor<5x7xf32>> -> (tensor<5x7xf32>, tensor<5x7xf32>)
// CHECK-NEXT:        -> tensor<5x7xf32>
// CHECK-NEXT:    %2 = relay.tuple_get %t[1] : tuple<(tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>, tensor<5x7xf32>> -> tensor<5x7xf32>
// CHECK-NEXT:    %3 = relay.apply %1(%2, %y) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:    relay.return %3 : tensor<5x7xf32>
// CHECK-NEXT:  }
relay.func @a_function_in_a_tuple(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %f = relay.fn(%a: tensor<5x7xf32>, %b: tensor<5x7xf32>) -> tensor<5x7xf32> {
    %0 = relay.on_device %b {virtual_device = #relay.virtual_device<cpu>} : tensor<5x7xf32>
    %1 = relay.add %a, %0 : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
    relay.yield %1 : tensor<5x7xf32>
  }
  %t = relay.tuple(%f, %x) : ((tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>, tensor<5x7xf32>) -> tuple<(tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>, tensor<5x7xf32>>
  %2 = relay.tuple_get %t[0] : tuple<(tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>, tensor<5x7xf32>> -> (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %3 = relay.tuple_get %t[1] : tuple<(tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>, tensor<5x7xf32>> -> tensor<5x7xf32>
  %4 = relay.apply %2(%3, %y) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %5 = relay.on_device %4 {constrain_body = false} : tensor<5x7xf32>
  relay.return %5 : tensor<5x7xf32>
}

// The function is computed where its result is; the copy is made inside.
// CHECK-LABEL: relay.func @main_of_a_program(%x: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<opencl, id = 0>], result_virtual_devices = [#relay.virtual_device<cpu, id = 0>]} {
// CHECK-NEXT:    %0 = relay.call @a_part_of_a_program(%x) : (tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:    relay.return %0 : tensor<5x7xf32>
// CHECK-NEXT:  }
relay.func @main_of_a_program(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {

// CHECK-LABEL: relay.func private @a_part_of_a_program(%x: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<opencl, id = 0>], result_virtual_devices = [#relay.virtual_device<cpu, id = 0>]} {
// CHECK-NEXT:    %0 = relay.exp %x : tensor<5x7xf32>
// CHECK-NEXT:    %1 = relay.device_copy %0 {src_virtual_device = #relay.virtual_device<opencl, id = 0>, dst_virtual_device = #relay.virtual_device<cpu, id = 0>}
// CHECK-NEXT:        : tensor<5x7xf32>
// CHECK-NEXT:    relay.return %1 : tensor<5x7xf32>
// CHECK-NEXT:  }
  %0 = relay.call @a_part_of_a_program(%x) : (tensor<5x7xf32>) -> tensor<5x7xf32>
  relay.return %0 : tensor<5x7xf32>
}
relay.func private @a_part_of_a_program(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = relay.exp %x : tensor<5x7xf32>
  %1 = relay.on_device %0 {virtual_device = #relay.virtual_device<opencl>} : tensor<5x7xf32>
  %2 = relay.device_copy %1 {src_virtual_device = #relay.virtual_device<opencl>, dst_virtual_device = #relay.virtual_device<cpu>} : tensor<5x7xf32>
  relay.return %2 : tensor<5x7xf32>
}

// CHECK-LABEL: relay.func @what_a_function_was_given(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cpu, id = 0>, #relay.virtual_device<opencl, id = 0>],
// CHECK-NEXT:          result_virtual_devices = [#relay.virtual_device<opencl, id = 0>]} {
// CHECK-NEXT:    %0 = relay.device_copy %x {src_virtual_device = #relay.virtual_device<cpu, id = 0>, dst_virtual_device = #relay.virtual_device<opencl, id = 0>}
// CHECK-NEXT:        : tensor<5x7xf32>
// CHECK-NEXT:    %1 = relay.add %0, %y : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:    relay.return %1 : tensor<5x7xf32>
// CHECK-NEXT:  }
relay.func @what_a_function_was_given(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> tensor<5x7xf32> attributes {param_virtual_devices = [#relay.virtual_device<cpu>, #relay.virtual_device<?>], result_virtual_devices = [#relay.virtual_device<opencl>]} {
  %0 = relay.on_device %x {constrain_body = false} : tensor<5x7xf32>
  %1 = relay.add %0, %y : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  relay.return %1 : tensor<5x7xf32>
}

// CHECK-LABEL: relay.func @a_reference_is_where_its_value_is(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cuda, id = 0>, #relay.virtual_device<cpu, id = 0>],
// CHECK-NEXT:          result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
// CHECK-NEXT:    %r = relay.ref_create %x : (tensor<5x7xf32>) -> !relay.ref<tensor<5x7xf32>>
// CHECK-NEXT:    %0 = relay.device_copy %y {src_virtual_device = #relay.virtual_device<cpu, id = 0>, dst_virtual_device = #relay.virtual_device<cuda, id = 0>}
// CHECK-NEXT:        : tensor<5x7xf32>
// CHECK-NEXT:    relay.ref_write %r, %0 : !relay.ref<tensor<5x7xf32>>, tensor<5x7xf32>
// CHECK-NEXT:    %1 = relay.ref_read %r : (!relay.ref<tensor<5x7xf32>>) -> tensor<5x7xf32>
// CHECK-NEXT:    %2 = relay.add %x, %1 : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:    relay.return %2 : tensor<5x7xf32>
// CHECK-NEXT:  }
relay.func @a_reference_is_where_its_value_is(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %r = relay.ref_create %x : (tensor<5x7xf32>) -> !relay.ref<tensor<5x7xf32>>
  %0 = relay.on_device %y {virtual_device = #relay.virtual_device<cpu>} : tensor<5x7xf32>
  relay.ref_write %r, %0 : !relay.ref<tensor<5x7xf32>>, tensor<5x7xf32>
  %1 = relay.ref_read %r : (!relay.ref<tensor<5x7xf32>>) -> tensor<5x7xf32>
  %2 = relay.add %x, %1 : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  relay.return %2 : tensor<5x7xf32>
}

// CHECK-LABEL: relay.func @shapes_are_on_the_host(%x: tensor<5x7xf32>, %s: tensor<2xi64>) -> tensor<5x7xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cuda, id = 0>, #relay.virtual_device<cpu, id = 0>],
// CHECK-NEXT:          result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
// CHECK-NEXT:    %0 = relay.exp %x : tensor<5x7xf32>
// CHECK-NEXT:    %1 = relay.vm.shape_of %0 : (tensor<5x7xf32>) -> tensor<2xi64>
// CHECK-NEXT:    %2 = relay.add %1, %s : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
// CHECK-NEXT:    %3 = relay.vm.reshape_tensor %0, %2 : (tensor<5x7xf32>, tensor<2xi64>) -> tensor<5x7xf32>
// CHECK-NEXT:    relay.return %3 : tensor<5x7xf32>
// CHECK-NEXT:  }
relay.func @shapes_are_on_the_host(%x: tensor<5x7xf32>, %s: tensor<2xi64>) -> tensor<5x7xf32> {
  %0 = relay.exp %x : tensor<5x7xf32>
  %1 = relay.vm.shape_of %0 : (tensor<5x7xf32>) -> tensor<2xi64>
  %2 = relay.add %1, %s : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %3 = relay.vm.reshape_tensor %0, %2 : (tensor<5x7xf32>, tensor<2xi64>) -> tensor<5x7xf32>
  relay.return %3 : tensor<5x7xf32>
}

// CHECK-LABEL: relay.func @sizes_and_offsets_are_on_the_host(%size: tensor<i64>, %alignment: tensor<i64>, %shape: tensor<2xi64>) -> tensor<5x7xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cpu, id = 0>, #relay.virtual_device<cpu, id = 0>, #relay.virtual_device<cpu, id = 0>],
// CHECK-NEXT:          result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
// CHECK-NEXT:    %offset = relay.constant dense<0> : tensor<i64>
// CHECK-NEXT:    %0 = relay.memory.alloc_storage %size, %alignment {virtual_device = #relay.virtual_device<cuda>, dtype = "float32"}
// CHECK-NEXT:        : (tensor<i64>, tensor<i64>) -> !relay.storage
// CHECK-NEXT:    %1 = relay.memory.alloc_tensor %0, %offset, %shape : (!relay.storage, tensor<i64>, tensor<2xi64>) -> tensor<5x7xf32>
// CHECK-NEXT:    relay.return %1 : tensor<5x7xf32>
// CHECK-NEXT:  }
relay.func @sizes_and_offsets_are_on_the_host(%size: tensor<i64>, %alignment: tensor<i64>, %shape: tensor<2xi64>) -> tensor<5x7xf32> {
  %offset = relay.constant dense<0> : tensor<i64>
  %0 = relay.memory.alloc_storage %size, %alignment {virtual_device = #relay.virtual_device<cuda>, dtype = "float32"} : (tensor<i64>, tensor<i64>) -> !relay.storage
  %1 = relay.memory.alloc_tensor %0, %offset, %shape : (!relay.storage, tensor<i64>, tensor<2xi64>) -> tensor<5x7xf32>
  relay.return %1 : tensor<5x7xf32>
}

// CHECK-LABEL: relay.func @a_kernel_has_its_buffers_in_scopes(%x: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      attributes {result_virtual_devices = [#relay.virtual_device<cpu, id = 0, memory_scope = "outer">],
// CHECK-NEXT:          param_virtual_devices = [#relay.virtual_device<cpu, id = 0, memory_scope = "inner">]} {
// CHECK-NEXT:    %0 = relay.call_lowered @in_scopes(%x) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %1 = relay.device_copy %0 {src_virtual_device = #relay.virtual_device<cpu, id = 0, memory_scope = "other">,
// CHECK-NEXT:        dst_virtual_device = #relay.virtual_device<cpu, id = 0, memory_scope = "outer">} : tensor<4xf32>
// CHECK-NEXT:    relay.return %1 : tensor<4xf32>
// CHECK-NEXT:  }
relay.func @a_kernel_has_its_buffers_in_scopes(%x: tensor<4xf32>) -> tensor<4xf32> attributes {result_virtual_devices = [#relay.virtual_device<cpu, memory_scope = "outer">]} {

// CHECK-LABEL: tir.prim_func @in_scopes(%p: memref<4xf32, "inner">, %out: memref<4xf32, "other">) {
// CHECK-NEXT:    tir.for %i = 0 to 4 {
// CHECK-NEXT:      tir.block @copy(%v: spatial 4) = [%i] reads(%p[%v] : memref<4xf32, "inner">) writes(%out[%v] : memref<4xf32, "other">) {
// CHECK-NEXT:        %0 = memref.load %p[%v] : memref<4xf32, "inner">
// CHECK-NEXT:        memref.store %0, %out[%v] : memref<4xf32, "other">
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
  %0 = relay.call_lowered @in_scopes(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
tir.prim_func @in_scopes(%p: memref<4xf32, "inner">, %out: memref<4xf32, "other">) {
  tir.for %i = 0 to 4 {
    tir.block @copy(%v: spatial 4) = [%i]
        reads(%p[%v] : memref<4xf32, "inner">) writes(%out[%v] : memref<4xf32, "other">) {
      %0 = memref.load %p[%v] : memref<4xf32, "inner">
      memref.store %0, %out[%v] : memref<4xf32, "other">
    }
  }
}

// A kernel of fusion is on one device at each call; without places of its own it serves them all.
// CHECK-LABEL: relay.func @a_kernel_serves_all_devices(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> tuple<tensor<5x7xf32>, tensor<5x7xf32>>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cpu, id = 0>, #relay.virtual_device<opencl, id = 0>],
// CHECK-NEXT:          result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
// CHECK-NEXT:    %0 = relay.call @kernel(%x) : (tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:    %1 = relay.call @kernel(%y) : (tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:    %2 = relay.device_copy %0 {src_virtual_device = #relay.virtual_device<cpu, id = 0>, dst_virtual_device = #relay.virtual_device<cuda, id = 0>}
// CHECK-NEXT:        : tensor<5x7xf32>
// CHECK-NEXT:    %3 = relay.device_copy %1 {src_virtual_device = #relay.virtual_device<opencl, id = 0>, dst_virtual_device = #relay.virtual_device<cuda, id = 0>}
// CHECK-NEXT:        : tensor<5x7xf32>
// CHECK-NEXT:    %4 = relay.tuple(%2, %3) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tuple<tensor<5x7xf32>, tensor<5x7xf32>>
// CHECK-NEXT:    relay.return %4 : tuple<tensor<5x7xf32>, tensor<5x7xf32>>
// CHECK-NEXT:  }
relay.func @a_kernel_serves_all_devices(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> tuple<tensor<5x7xf32>, tensor<5x7xf32>> attributes {param_virtual_devices = [#relay.virtual_device<cpu>, #relay.virtual_device<opencl>]} {

// CHECK-LABEL: relay.func private @kernel(%p0: tensor<5x7xf32>) -> tensor<5x7xf32> attributes {primitive} {
// CHECK-NEXT:    %0 = relay.exp %p0 : tensor<5x7xf32>
// CHECK-NEXT:    relay.return %0 : tensor<5x7xf32>
// CHECK-NEXT:  }
  %0 = relay.call @kernel(%x) : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %1 = relay.call @kernel(%y) : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %2 = relay.on_device %0 {virtual_device = #relay.virtual_device<cpu>} : tensor<5x7xf32>
  %3 = relay.on_device %1 {virtual_device = #relay.virtual_device<opencl>} : tensor<5x7xf32>
  %4 = relay.tuple(%2, %3) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tuple<tensor<5x7xf32>, tensor<5x7xf32>>
  relay.return %4 : tuple<tensor<5x7xf32>, tensor<5x7xf32>>
}
relay.func private @kernel(%p0: tensor<5x7xf32>) -> tensor<5x7xf32> attributes {primitive} {
  %0 = relay.exp %p0 : tensor<5x7xf32>
  relay.return %0 : tensor<5x7xf32>
}

// Nothing else says where the first value is, so the note stays.
// CHECK-LABEL: relay.func @a_value_that_nothing_connects(%x: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cuda, id = 0>], result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
// CHECK-NEXT:    %c = relay.constant dense<2.000000e+00> : tensor<5x7xf32>
// CHECK-NEXT:    %0 = relay.on_device %c {virtual_device = #relay.virtual_device<cpu, id = 0>, constrain_result = true} : tensor<5x7xf32>
// CHECK-NEXT:    %1 = relay.exp %0 : tensor<5x7xf32>
// CHECK-NEXT:    %2 = relay.vm.shape_of %1 : (tensor<5x7xf32>) -> tensor<2xi64>
// CHECK-NEXT:    %3 = relay.vm.reshape_tensor %x, %2 : (tensor<5x7xf32>, tensor<2xi64>) -> tensor<5x7xf32>
// CHECK-NEXT:    relay.return %3 : tensor<5x7xf32>
// CHECK-NEXT:  }
relay.func @a_value_that_nothing_connects(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %c = relay.constant dense<2.0> : tensor<5x7xf32>
  %0 = relay.exp %c : tensor<5x7xf32>
  %1 = relay.on_device %0 {virtual_device = #relay.virtual_device<cpu>} : tensor<5x7xf32>
  %2 = relay.vm.shape_of %0 : (tensor<5x7xf32>) -> tensor<2xi64>
  %3 = relay.vm.reshape_tensor %x, %2 : (tensor<5x7xf32>, tensor<2xi64>) -> tensor<5x7xf32>
  relay.return %3 : tensor<5x7xf32>
}

// CHECK-LABEL: relay.func @a_dynamic_extent_is_copied_as_well(%x: tensor<?x7xf32>) -> tensor<?x7xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cpu, id = 0>], result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
// CHECK-NEXT:    %0 = relay.device_copy %x {src_virtual_device = #relay.virtual_device<cpu, id = 0>, dst_virtual_device = #relay.virtual_device<cuda, id = 0>}
// CHECK-NEXT:        : tensor<?x7xf32>
// CHECK-NEXT:    %1 = relay.exp %0 : tensor<?x7xf32>
// CHECK-NEXT:    relay.return %1 : tensor<?x7xf32>
// CHECK-NEXT:  }
relay.func @a_dynamic_extent_is_copied_as_well(%x: tensor<?x7xf32>) -> tensor<?x7xf32> {
  %0 = relay.on_device %x {virtual_device = #relay.virtual_device<cpu>} : tensor<?x7xf32>
  %1 = relay.exp %0 : tensor<?x7xf32>
  relay.return %1 : tensor<?x7xf32>
}

// CHECK-LABEL: relay.func @an_empty_tensor_is_copied_as_well(%x: tensor<0xf32>) -> tensor<0xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cpu, id = 0>], result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
// CHECK-NEXT:    %0 = relay.device_copy %x {src_virtual_device = #relay.virtual_device<cpu, id = 0>, dst_virtual_device = #relay.virtual_device<cuda, id = 0>}
// CHECK-NEXT:        : tensor<0xf32>
// CHECK-NEXT:    %1 = relay.exp %0 : tensor<0xf32>
// CHECK-NEXT:    relay.return %1 : tensor<0xf32>
// CHECK-NEXT:  }
relay.func @an_empty_tensor_is_copied_as_well(%x: tensor<0xf32>) -> tensor<0xf32> {
  %0 = relay.on_device %x {virtual_device = #relay.virtual_device<cpu>} : tensor<0xf32>
  %1 = relay.exp %0 : tensor<0xf32>
  relay.return %1 : tensor<0xf32>
}

// CHECK-LABEL: relay.func @a_note_nobody_uses_goes_away(%x: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cpu, id = 0>], result_virtual_devices = [#relay.virtual_device<cpu, id = 0>]} {
// CHECK-NEXT:    relay.return %x : tensor<5x7xf32>
// CHECK-NEXT:  }
relay.func @a_note_nobody_uses_goes_away(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = relay.on_device %x {virtual_device = #relay.virtual_device<cpu>} : tensor<5x7xf32>
  relay.return %x : tensor<5x7xf32>
}

// What a kernel leaves open, its calls say.
// CHECK-LABEL: relay.func @a_kernel_is_given_the_scopes_of_its_calls(%x: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cpu, id = 0, memory_scope = "inner">],
// CHECK-NEXT:          result_virtual_devices = [#relay.virtual_device<cpu, id = 0, memory_scope = "outer">]} {
// CHECK-NEXT:    %0 = relay.call_lowered @of_no_scope(%x) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    relay.return %0 : tensor<4xf32>
// CHECK-NEXT:  }
relay.func @a_kernel_is_given_the_scopes_of_its_calls(%x: tensor<4xf32>) -> tensor<4xf32> attributes {param_virtual_devices = [#relay.virtual_device<cpu, memory_scope = "inner">], result_virtual_devices = [#relay.virtual_device<cpu, memory_scope = "outer">]} {

// CHECK-LABEL: tir.prim_func @of_no_scope(%p: memref<4xf32, "inner">, %out: memref<4xf32, "outer">) {
// CHECK-NEXT:    tir.for %i = 0 to 4 {
// CHECK-NEXT:      tir.block @copy(%vi: spatial 4) = [%i] reads(%p[%vi] : memref<4xf32, "inner">) writes(%out[%vi] : memref<4xf32, "outer">) {
// CHECK-NEXT:        %0 = memref.load %p[%vi] : memref<4xf32, "inner">
// CHECK-NEXT:        memref.store %0, %out[%vi] : memref<4xf32, "outer">
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
  %0 = relay.call_lowered @of_no_scope(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

tir.prim_func @of_no_scope(%p: memref<4xf32>, %out: memref<4xf32>) {
  tir.for %i = 0 to 4 {
    tir.block @copy(%vi: spatial 4) = [%i] reads(%p[%vi] : memref<4xf32>) writes(%out[%vi] : memref<4xf32>) {
      %0 = memref.load %p[%vi] : memref<4xf32>
      memref.store %0, %out[%vi] : memref<4xf32>
    }
  }
}

// CHECK-LABEL: relay.func private @a_function_that_passes_leave_alone(%x: tensor<5x7xf32>) -> tensor<5x7xf32> attributes {Compiler = "x"} {
// CHECK-NEXT:    %0 = relay.on_device %x {virtual_device = #relay.virtual_device<cpu>} : tensor<5x7xf32>
// CHECK-NEXT:    relay.return %0 : tensor<5x7xf32>
// CHECK-NEXT:  }
relay.func private @a_function_that_passes_leave_alone(%x: tensor<5x7xf32>) -> tensor<5x7xf32> attributes {Compiler = "x"} {
  %0 = relay.on_device %x {virtual_device = #relay.virtual_device<cpu>} : tensor<5x7xf32>
  relay.return %0 : tensor<5x7xf32>
}

// CHECK-LABEL: relay.func @a_function_that_calls_itself(%c: tensor<i1>, %x: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cuda, id = 0>, #relay.virtual_device<cpu, id = 0>],
// CHECK-NEXT:          result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
// CHECK-NEXT:    %0 = relay.if %c : (tensor<i1>) -> tensor<5x7xf32> {
// CHECK-NEXT:      %1 = relay.call @a_function_that_calls_itself(%c, %x) : (tensor<i1>, tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      relay.yield %1 : tensor<5x7xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %2 = relay.constant dense<2.000000e+00> : tensor<5x7xf32>
// CHECK-NEXT:      relay.yield %2 : tensor<5x7xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    relay.return %0 : tensor<5x7xf32>
// CHECK-NEXT:  }
relay.func @a_function_that_calls_itself(%c: tensor<i1>, %x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = relay.if %c : (tensor<i1>) -> tensor<5x7xf32> {
    %1 = relay.on_device %x {virtual_device = #relay.virtual_device<cpu>} : tensor<5x7xf32>
    %2 = relay.on_device %1 {constrain_body = false} : tensor<5x7xf32>
    %3 = relay.call @a_function_that_calls_itself(%c, %2) : (tensor<i1>, tensor<5x7xf32>) -> tensor<5x7xf32>
    relay.yield %3 : tensor<5x7xf32>
  } else {
    %4 = relay.constant dense<2.0> : tensor<5x7xf32>
    relay.yield %4 : tensor<5x7xf32>
  }
  relay.return %0 : tensor<5x7xf32>
}

// CHECK-LABEL: relay.func @a_function_without_a_result(%r: !relay.ref<tensor<5x7xf32>>, %x: tensor<5x7xf32>)
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<opencl, id = 0>, #relay.virtual_device<cpu, id = 0>], result_virtual_devices = []} {
// CHECK-NEXT:    %0 = relay.device_copy %x {src_virtual_device = #relay.virtual_device<cpu, id = 0>, dst_virtual_device = #relay.virtual_device<opencl, id = 0>}
// CHECK-NEXT:        : tensor<5x7xf32>
// CHECK-NEXT:    relay.ref_write %r, %0 : !relay.ref<tensor<5x7xf32>>, tensor<5x7xf32>
// CHECK-NEXT:    relay.return
// CHECK-NEXT:  }
relay.func @a_function_without_a_result(%r: !relay.ref<tensor<5x7xf32>>, %x: tensor<5x7xf32>) attributes {param_virtual_devices = [#relay.virtual_device<opencl>, #relay.virtual_device<cpu>]} {
  %0 = relay.on_device %x {constrain_body = false} : tensor<5x7xf32>
  relay.ref_write %r, %0 : !relay.ref<tensor<5x7xf32>>, tensor<5x7xf32>
  relay.return
}

// Fields are where the value is, and so are what a match takes out of it and what it gives.
// CHECK-LABEL: relay.adt @list<"T"> {nil(), cons(!relay.param<"T">, !relay.adt<@list, [!relay.param<"T">]>)}
relay.adt @list<"T"> {nil(), cons(!relay.param<"T">, !relay.adt<@list, [!relay.param<"T">]>)}

// CHECK-LABEL: relay.func @a_value_of_a_data_type_is_where_its_fields_are(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cpu, id = 0>, #relay.virtual_device<cpu, id = 0>],
// CHECK-NEXT:          result_virtual_devices = [#relay.virtual_device<cpu, id = 0>]} {
// CHECK-NEXT:    %0 = relay.construct "nil"() : () -> !relay.adt<@list, [tensor<5x7xf32>]>
// CHECK-NEXT:    %1 = relay.construct "cons"(%y, %0) : (tensor<5x7xf32>, !relay.adt<@list, [tensor<5x7xf32>]>) -> !relay.adt<@list, [tensor<5x7xf32>]>
// CHECK-NEXT:    %2 = relay.construct "cons"(%x, %1) : (tensor<5x7xf32>, !relay.adt<@list, [tensor<5x7xf32>]>) -> !relay.adt<@list, [tensor<5x7xf32>]>
// CHECK-NEXT:    %3 = relay.match %2 {partial} : (!relay.adt<@list, [tensor<5x7xf32>]>)
// CHECK-NEXT:        -> tensor<5x7xf32> case cons(%z: tensor<5x7xf32>, %rest: !relay.adt<@list, [tensor<5x7xf32>]>) {
// CHECK-NEXT:      relay.yield %z : tensor<5x7xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    relay.return %3 : tensor<5x7xf32>
// CHECK-NEXT:  }
relay.func @a_value_of_a_data_type_is_where_its_fields_are(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = relay.on_device %y {virtual_device = #relay.virtual_device<cpu>, constrain_result = true} : tensor<5x7xf32>
  %1 = relay.construct "nil"() : () -> !relay.adt<@list, [tensor<5x7xf32>]>
  %2 = relay.construct "cons"(%0, %1) : (tensor<5x7xf32>, !relay.adt<@list, [tensor<5x7xf32>]>) -> !relay.adt<@list, [tensor<5x7xf32>]>
  %3 = relay.construct "cons"(%x, %2) : (tensor<5x7xf32>, !relay.adt<@list, [tensor<5x7xf32>]>) -> !relay.adt<@list, [tensor<5x7xf32>]>
  %4 = relay.match %3 {partial} : (!relay.adt<@list, [tensor<5x7xf32>]>) -> tensor<5x7xf32>
  case cons(%z: tensor<5x7xf32>, %rest: !relay.adt<@list, [tensor<5x7xf32>]>) {
    relay.yield %z : tensor<5x7xf32>
  }
  relay.return %4 : tensor<5x7xf32>
}

// CHECK-LABEL: relay.func @what_a_case_is_given_is_copied_where_it_is_noted(%l: !relay.adt<@list, [tensor<5x7xf32>]>, %x: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cpu, id = 0>, #relay.virtual_device<cpu, id = 0>],
// CHECK-NEXT:          result_virtual_devices = [#relay.virtual_device<cpu, id = 0>]} {
// CHECK-NEXT:    %0 = relay.match %l : (!relay.adt<@list, [tensor<5x7xf32>]>)
// CHECK-NEXT:        -> tensor<5x7xf32> case cons(%z: tensor<5x7xf32>, %rest: !relay.adt<@list, [tensor<5x7xf32>]>) {
// CHECK-NEXT:      %1 = relay.device_copy %z {src_virtual_device = #relay.virtual_device<cpu, id = 0>, dst_virtual_device = #relay.virtual_device<opencl, id = 0>}
// CHECK-NEXT:          : tensor<5x7xf32>
// CHECK-NEXT:      %2 = relay.exp %1 : tensor<5x7xf32>
// CHECK-NEXT:      %3 = relay.device_copy %2 {src_virtual_device = #relay.virtual_device<opencl, id = 0>, dst_virtual_device = #relay.virtual_device<cpu, id = 0>}
// CHECK-NEXT:          : tensor<5x7xf32>
// CHECK-NEXT:      relay.yield %3 : tensor<5x7xf32>
// CHECK-NEXT:    } default {
// CHECK-NEXT:      relay.yield %x : tensor<5x7xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    relay.return %0 : tensor<5x7xf32>
// CHECK-NEXT:  }
relay.func @what_a_case_is_given_is_copied_where_it_is_noted(%l: !relay.adt<@list, [tensor<5x7xf32>]>, %x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = relay.match %l : (!relay.adt<@list, [tensor<5x7xf32>]>) -> tensor<5x7xf32>
  case cons(%z: tensor<5x7xf32>, %rest: !relay.adt<@list, [tensor<5x7xf32>]>) {
    %1 = relay.on_device %z {virtual_device = #relay.virtual_device<cpu>} : tensor<5x7xf32>
    %2 = relay.exp %1 : tensor<5x7xf32>
    %3 = relay.on_device %2 {virtual_device = #relay.virtual_device<opencl>} : tensor<5x7xf32>
    relay.yield %3 : tensor<5x7xf32>
  } default {
    relay.yield %x : tensor<5x7xf32>
  }
  relay.return %0 : tensor<5x7xf32>
}

// CHECK-LABEL: relay.func @what_a_closure_is_given_is_where_its_function_wants_it(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cpu, id = 0>, #relay.virtual_device<opencl, id = 0>],
// CHECK-NEXT:          result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
// CHECK-NEXT:    %f = relay.closure @of_two(%x) : (tensor<5x7xf32>) -> ((tensor<5x7xf32>) -> tensor<5x7xf32>)
// CHECK-NEXT:    %0 = relay.apply %f(%y) : (tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:    relay.return %0 : tensor<5x7xf32>
// CHECK-NEXT:  }
relay.func @what_a_closure_is_given_is_where_its_function_wants_it(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> tensor<5x7xf32> {

// CHECK-LABEL: relay.func private @of_two(%a: tensor<5x7xf32>, %b: tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cpu, id = 0>, #relay.virtual_device<opencl, id = 0>],
// CHECK-NEXT:          result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
// CHECK-NEXT:    %0 = relay.device_copy %a {src_virtual_device = #relay.virtual_device<cpu, id = 0>, dst_virtual_device = #relay.virtual_device<cuda, id = 0>}
// CHECK-NEXT:        : tensor<5x7xf32>
// CHECK-NEXT:    relay.return %0 : tensor<5x7xf32>
// CHECK-NEXT:  }
  %f = relay.closure @of_two(%x) : (tensor<5x7xf32>) -> ((tensor<5x7xf32>) -> tensor<5x7xf32>)
  %0 = relay.apply %f(%y) : (tensor<5x7xf32>) -> tensor<5x7xf32>
  relay.return %0 : tensor<5x7xf32>
}
relay.func private @of_two(%a: tensor<5x7xf32>, %b: tensor<5x7xf32>) -> tensor<5x7xf32> attributes {param_virtual_devices = [#relay.virtual_device<cpu>, #relay.virtual_device<opencl>], result_virtual_devices = [#relay.virtual_device<cuda>]} {
  %0 = relay.on_device %a {constrain_body = false} : tensor<5x7xf32>
  relay.return %0 : tensor<5x7xf32>
}

// An id is one of a type: what is on a CPU is on the first, whatever the id of the result's device.
// CHECK-LABEL: relay.func @an_id_is_not_taken_from_a_device_of_another_type(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> (tensor<5x7xf32>, tensor<5x7xf32>)
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cuda, id = 3>, #relay.virtual_device<cpu, id = 0>],
// CHECK-NEXT:          result_virtual_devices = [#relay.virtual_device<cuda, id = 3>, #relay.virtual_device<cpu, id = 0>]} {
// CHECK-NEXT:    %0 = relay.exp %x : tensor<5x7xf32>
// CHECK-NEXT:    %1 = relay.exp %y : tensor<5x7xf32>
// CHECK-NEXT:    relay.return %0, %1 : tensor<5x7xf32>, tensor<5x7xf32>
// CHECK-NEXT:  }
relay.func @an_id_is_not_taken_from_a_device_of_another_type(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> (tensor<5x7xf32>, tensor<5x7xf32>) {
  %0 = relay.exp %x : tensor<5x7xf32>
  %1 = relay.on_device %0 {virtual_device = #relay.virtual_device<cuda, id = 3>, constrain_result = true} : tensor<5x7xf32>
  %2 = relay.exp %y : tensor<5x7xf32>
  %3 = relay.on_device %2 {virtual_device = #relay.virtual_device<cpu>} : tensor<5x7xf32>
  relay.return %1, %3 : tensor<5x7xf32>, tensor<5x7xf32>
}

// A memory scope is one of its kind of device: the host has none of that name.
// CHECK-LABEL: relay.func @a_memory_scope_stays_with_its_device(%x: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cpu, id = 0>],
// CHECK-NEXT:          result_virtual_devices = [#relay.virtual_device<cuda, id = 0, memory_scope = "inner">]} {
// CHECK-NEXT:    %0 = relay.device_copy %x {src_virtual_device = #relay.virtual_device<cpu, id = 0>,
// CHECK-NEXT:        dst_virtual_device = #relay.virtual_device<cuda, id = 0, memory_scope = "inner">} : tensor<4xf32>
// CHECK-NEXT:    relay.return %0 : tensor<4xf32>
// CHECK-NEXT:  }
relay.func @a_memory_scope_stays_with_its_device(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.device_copy %x {src_virtual_device = #relay.virtual_device<cpu>, dst_virtual_device = #relay.virtual_device<cuda, memory_scope = "inner">} : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// A parameter of types may stand for functions: their arguments and results are at one place then.
// CHECK-LABEL: relay.func private @same(%x: !relay.param<"A">) -> !relay.param<"A">
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cuda, id = 0>], result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
// CHECK-LABEL: relay.func @a_function_that_is_given_back(%x: tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT:      attributes {param_virtual_devices = [#relay.virtual_device<cuda, id = 0>], result_virtual_devices = [#relay.virtual_device<cuda, id = 0>]} {
relay.func private @same(%x: !relay.param<"A">) -> !relay.param<"A"> {
  relay.return %x : !relay.param<"A">
}
relay.func @a_function_that_is_given_back(%x: tensor<3xf32>) -> tensor<3xf32> {
  %f = relay.fn(%a: tensor<3xf32>) -> tensor<3xf32> {
    %0 = relay.negative %a : tensor<3xf32>
    relay.yield %0 : tensor<3xf32>
  }
  %g = relay.call @same(%f) : ((tensor<3xf32>) -> tensor<3xf32>) -> ((tensor<3xf32>) -> tensor<3xf32>)
  %y = relay.apply %g(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %z = relay.on_device %y {virtual_device = #relay.virtual_device<cuda>} : tensor<3xf32>
  relay.return %z : tensor<3xf32>
}
