// RUN: weft-opt %s -p lower-te --remarks --verify-diagnostics --split-input-file

// expected-error @+1 {{cannot lower tensor<?xf32> to a loop nest: it has a dynamic dimension}}
relay.func private @dynamic(%p0: tensor<?xf32>) -> tensor<?xf32> attributes {primitive} {
  %0 = relay.nn.relu %p0 : tensor<?xf32>
  relay.return %0 : tensor<?xf32>
}

// -----

relay.func private @a_constant_without_its_file(%p0: tensor<2xf32>) -> tensor<2xf32> attributes {primitive} {
  // expected-error @+1 {{the data of this constant was not loaded}}
  %c = relay.constant #relay.resource<"c"> : tensor<2xf32>
  %0 = relay.add %p0, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  relay.return %0 : tensor<2xf32>
}

// -----

relay.func private @no_compute(%p0: tensor<2xf32>) -> tensor<2xf32> attributes {primitive} {
  // expected-error @+1 {{'relay.call': cannot become a loop nest: it has no compute}}
  %0 = relay.call @other(%p0) : (tensor<2xf32>) -> tensor<2xf32>
  relay.return %0 : tensor<2xf32>
}

relay.func private @other(%p0: tensor<2xf32>) -> tensor<2xf32> {
  relay.return %p0 : tensor<2xf32>
}

// -----

relay.func private @to_another_device(%p0: tensor<2xf32>) -> tensor<2xf32> attributes {primitive} {
  // expected-error @+1 {{cannot copy from <cpu> to <cuda>: code is made for cpu and ext_dev}}
  %0 = relay.device_copy %p0 {src_virtual_device = #relay.virtual_device<cpu>, dst_virtual_device = #relay.virtual_device<cuda>} : tensor<2xf32>
  relay.return %0 : tensor<2xf32>
}

// -----

relay.func private @to_another_scope(%p0: tensor<2xf32>) -> tensor<2xf32> attributes {primitive} {
  // expected-remark @+1 {{<cpu> and <cpu, memory_scope = "global"> are one memory: there is one processor}}
  %0 = relay.device_copy %p0 {src_virtual_device = #relay.virtual_device<cpu>, dst_virtual_device = #relay.virtual_device<cpu, memory_scope = "global">} : tensor<2xf32>
  relay.return %0 : tensor<2xf32>
}

// -----

relay.func @a_note_that_was_not_planned(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{is a note to plan-devices, which has not run}}
  %0 = relay.on_device %x {virtual_device = #relay.virtual_device<cpu>} : tensor<2xf32>
  relay.return %0 : tensor<2xf32>
}

// -----

// expected-error @+1 {{result 0 is on <cpu, id = 1>, but code is made for cpu and ext_dev}}
relay.func @a_result_elsewhere(%x: tensor<2xf32>) -> tensor<2xf32> attributes {result_virtual_devices = [#relay.virtual_device<cpu, id = 1>]} {
  relay.return %x : tensor<2xf32>
}
