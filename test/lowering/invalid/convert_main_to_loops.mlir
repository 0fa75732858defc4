// RUN: weft-opt %s -p convert-main-to-loops --verify-diagnostics --split-input-file

// expected-error @+1 {{argument x has the dynamic type tensor<?xf32>}}
relay.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  relay.return %x : tensor<?xf32>
}

// -----

relay.func @an_operator_that_no_kernel_can_compute(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{cannot become a kernel: weft.dialects.relay.ops.annotation.OnDeviceOp lacks `compute`}}
  %0 = relay.on_device %x {virtual_device = "cpu"} : tensor<8xf32>
  relay.return %0 : tensor<8xf32>
}

// -----

relay.func @call_of_nothing(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{there is no function @k}}
  %0 = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  relay.return %0 : tensor<8xf32>
}
