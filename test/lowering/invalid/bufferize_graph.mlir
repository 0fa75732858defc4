// RUN: weft-opt %s -p bufferize-graph --remarks --verify-diagnostics --split-input-file

// expected-error @+1 {{argument x has the dynamic type tensor<?xf32>}}
relay.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  relay.return %x : tensor<?xf32>
}

// -----

relay.func @an_operator_that_no_kernel_can_compute(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{cannot become a kernel: weft.dialects.relay.ops.annotation.OnDeviceOp lacks `compute`}}
  %0 = relay.on_device %x {virtual_device = #relay.virtual_device<cpu>} : tensor<8xf32>
  relay.return %0 : tensor<8xf32>
}

// -----

relay.func @call_of_nothing(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{there is no function @k}}
  %0 = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  relay.return %0 : tensor<8xf32>
}

// -----

// expected-remark @+1 {{the attribute 'compiler' has no effect}}
relay.func @attributes(%x: tensor<2xf32>) -> tensor<2xf32> attributes {compiler = "other"} {
  // expected-remark @+1 {{the attribute 'note' has no effect}}
  %0 = relay.call_lowered @kernel_of_attributes(%x) {note} : (tensor<2xf32>) -> tensor<2xf32>
  relay.return %0 : tensor<2xf32>
}
func.func private @kernel_of_attributes(memref<2xf32>, memref<2xf32>, !rt.slots<1>, index) -> ()

// -----

relay.func @what_is_updated_is_not_returned(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{updates memory of the caller's, but its results are not returned, each once}}
  %0 = relay.call_lowered @k(%x) {updates} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = relay.call_lowered @k(%0) : (tensor<2xf32>) -> tensor<2xf32>
  relay.return %1 : tensor<2xf32>
}
func.func private @k(memref<2xf32>, memref<2xf32>, !rt.slots<1>, index) -> ()

// -----

// expected-error @+1 {{argument a has the type bf16, and a graph is of tensors}}
relay.func @numbers(%a: bf16) -> bf16 {
  relay.return %a : bf16
}

// -----

relay.func @a_view_of_unknown_extents(%x: tensor<8xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{does not say the extents of its result, tensor<?xf32>, as 'shapes'}}
  %0 = relay.view %x : (tensor<8xf32>) -> tensor<?xf32>
  relay.return %0 : tensor<?xf32>
}

// -----

relay.func @a_symbol_that_is_none(%x: tensor<1xi64>) -> tensor<1xi64> {
  // expected-error @+1 {{decides symbol 1 of a graph that has 0}}
  relay.read_extent %x {symbol = 1 : i64} : tensor<1xi64>
  relay.return %x : tensor<1xi64>
}
