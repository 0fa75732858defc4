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
