// RUN: weft-opt %s -p inline --verify-diagnostics

relay.func @a_function_that_calls_itself(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.call @again(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
relay.func private @again(%p: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{@again calls itself}}
  %0 = relay.call @again(%p) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
