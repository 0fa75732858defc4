// RUN: weft-opt %s -p lower-te --remarks --verify-diagnostics --split-input-file

// expected-error @+1 {{cannot lower tensor<?xf32> to a loop nest: it has a dynamic dimension}}
relay.func private @dynamic(%p0: tensor<?xf32>) -> tensor<?xf32> attributes {primitive} {
  %0 = relay.nn.relu %p0 : tensor<?xf32>
  relay.return %0 : tensor<?xf32>
}

// -----

relay.func private @large_constant(%p0: tensor<2xf32>) -> tensor<2xf32> attributes {primitive} {
  // expected-error @+1 {{a constant of shape [2] stands inside a fused function}}
  %c = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
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
  // expected-error @+1 {{copies from 'cpu' to 'cuda', but code is made for 'cpu' alone}}
  %0 = relay.device_copy %p0 {src_virtual_device = "cpu", dst_virtual_device = "cuda"} : tensor<2xf32>
  relay.return %0 : tensor<2xf32>
}

// -----

relay.func private @to_another_scope(%p0: tensor<2xf32>) -> tensor<2xf32> attributes {primitive} {
  // expected-remark @+1 {{'cpu@global' is 'cpu': there is one processor, and one memory}}
  %0 = relay.device_copy %p0 {src_virtual_device = "cpu", dst_virtual_device = "cpu@global"} : tensor<2xf32>
  relay.return %0 : tensor<2xf32>
}
