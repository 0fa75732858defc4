// RUN: weft-opt %s -p plan-devices --verify-diagnostics --split-input-file

relay.func @two_notes_without_a_way_between_them(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %x : tensor<4xf32>
  %1 = relay.on_device %0 {virtual_device = #relay.virtual_device<cpu>} : tensor<4xf32>
  // expected-error @+1 {{something would have to be on <cpu> and on <cuda> at once}}
  %2 = relay.on_device %0 {virtual_device = #relay.virtual_device<cuda>} : tensor<4xf32>
  %3 = relay.on_device %1 {constrain_body = false} : tensor<4xf32>
  %4 = relay.add %3, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %4 : tensor<4xf32>
}

// -----

relay.func @two_places_of_one_variable(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>> {
  %0 = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.on_device %0 {virtual_device = #relay.virtual_device<cpu>} : tensor<4xf32>
  %2 = relay.add %b, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{something would have to be on <cpu> and on <cuda> at once}}
  %3 = relay.on_device %2 {virtual_device = #relay.virtual_device<cuda>} : tensor<4xf32>
  %4 = relay.tuple(%1, %3) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  relay.return %4 : tuple<tensor<4xf32>, tensor<4xf32>>
}

// -----

relay.func @calls_from_two_devices(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.on_device %x {virtual_device = #relay.virtual_device<cpu>, constrain_result = true} : tensor<4xf32>
  %1 = relay.call @callee(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.on_device %y {virtual_device = #relay.virtual_device<cuda>, constrain_result = true} : tensor<4xf32>
  // expected-error @+1 {{something would have to be on <cuda> and on <cpu> at once}}
  %3 = relay.call @callee(%2) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %3 : tensor<4xf32>
}

relay.func private @callee(%x: tensor<4xf32>) -> tensor<4xf32> {
  relay.return %x : tensor<4xf32>
}

// -----

relay.func @the_condition_is_elsewhere(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.on_device %c {virtual_device = #relay.virtual_device<cpu>, constrain_result = true} : tensor<i1>
  %1 = relay.on_device %x {virtual_device = #relay.virtual_device<cuda>, constrain_result = true} : tensor<4xf32>
  // expected-error @+1 {{something would have to be on <cpu> and on <cuda> at once}}
  %2 = relay.if %0 : (tensor<i1>) -> tensor<4xf32> {
    relay.yield %1 : tensor<4xf32>
  } else {
    relay.yield %1 : tensor<4xf32>
  }
  relay.return %2 : tensor<4xf32>
}

// -----

relay.func @a_shape_on_a_device(%x: tensor<4x8xf32>) -> tensor<2xi64> {
  %0 = relay.vm.shape_of %x : (tensor<4x8xf32>) -> tensor<2xi64>
  // expected-error @+1 {{something would have to be on <cpu, id = 0> and on <cuda> at once}}
  %1 = relay.device_copy %0 {src_virtual_device = #relay.virtual_device<cuda>, dst_virtual_device = #relay.virtual_device<cpu>} : tensor<2xi64>
  relay.return %1 : tensor<2xi64>
}

// -----

builtin.module attributes {relay.devices = [#relay.virtual_device<cpu, target = "llvm">, #relay.virtual_device<cuda>]} {
  relay.func @a_device_that_the_module_does_not_list(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{there is no opencl among the devices given, which are cpu, cuda}}
    %0 = relay.on_device %x {virtual_device = #relay.virtual_device<opencl>} : tensor<4xf32>
    relay.return %0 : tensor<4xf32>
  }
}

// -----

// expected-error @+1 {{two targets are given for cpu devices}}
builtin.module attributes {relay.devices = [#relay.virtual_device<cpu, target = "llvm">, #relay.virtual_device<cpu, target = "c">]} {
}

// -----

// expected-error @+1 {{a device that a module lists has a type, unlike <?, memory_scope = "global">}}
builtin.module attributes {relay.devices = [#relay.virtual_device<?, memory_scope = "global">]} {
}

// -----

// expected-error @+1 {{expected a list of devices, got "cpu"}}
builtin.module attributes {relay.devices = "cpu"} {
}

// -----

// expected-error @+1 {{param_virtual_devices lists 2 devices for 1 arguments}}
relay.func @too_many_places(%x: tensor<4xf32>) -> tensor<4xf32> attributes {param_virtual_devices = [#relay.virtual_device<cpu>, #relay.virtual_device<cpu>]} {
  relay.return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{expected a list of devices, got 7}}
relay.func @places_that_are_none(%x: tensor<4xf32>) -> tensor<4xf32> attributes {result_virtual_devices = 7} {
  relay.return %x : tensor<4xf32>
}

// -----

relay.func @an_operation_of_another_dialect(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.on_device %x {virtual_device = #relay.virtual_device<cpu>} : tensor<4xf32>
  // expected-error @+1 {{nothing is known of where its operands and results are}}
  %1 = "test.op"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %1 : tensor<4xf32>
}
