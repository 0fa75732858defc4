// RUN: weft-opt %s -p first-order-gradient --split-input-file --verify-diagnostics

relay.func @an_operator_without_gradient_is_named(%x: tensor<2x3xf32>, %w: tensor<2x3x4xf32>) -> tensor<2x8xf32> {
  // expected-error@+1 {{has no gradient}}
  %y = relay.nn.contrib_dense_pack %x, %w {weight_layout = "NK4n"} : (tensor<2x3xf32>, tensor<2x3x4xf32>) -> tensor<2x8xf32>
  relay.return %y : tensor<2x8xf32>
}

// -----

relay.func @references_are_refused(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = relay.ref_create %x : (tensor<4xf32>) -> !relay.ref<tensor<4xf32>>
  // expected-error@+1 {{has no gradient}}
  %y = relay.ref_read %r : (!relay.ref<tensor<4xf32>>) -> tensor<4xf32>
  relay.return %y : tensor<4xf32>
}

// -----

// expected-error@+1 {{@again is called for its result, so it cannot give its gradients too}}
relay.func @again(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.if %c : (tensor<i1>) -> tensor<4xf32> {
    %0 = relay.call @again(%c, %x) : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %0 : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  relay.return %y : tensor<4xf32>
}

// -----

relay.func @a_form_without_gradient_says_why(%x: tensor<2x5xf32>, %i: tensor<2x3xi64>, %u: tensor<2x3xf32>) -> tensor<2x5xf32> {
  // expected-error@+1 {{has no gradient here: updates are brought in by mul}}
  %y = relay.scatter_elements %x, %i, %u {axis = 1 : i64, reduction = "mul"} : (tensor<2x5xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<2x5xf32>
  relay.return %y : tensor<2x5xf32>
}
