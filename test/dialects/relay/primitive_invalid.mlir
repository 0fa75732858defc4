// RUN: weft-opt %s --verify-diagnostics --split-input-file

relay.func @arguments_differ_from_operands(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{the arguments of the region differ from the operands' types}}
  %y = relay.primitive(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%p0: tensor<4xf32>, %p1: tensor<4xf32>):
    relay.yield %p0 : tensor<4xf32>
  }
  relay.return %y : tensor<4xf32>
}

// -----

relay.func @results_differ_from_what_is_yielded(%x: tensor<4xf32>) -> tensor<8xf32> {
  %y = relay.primitive(%x) : (tensor<4xf32>) -> tensor<8xf32> {
  ^bb0(%p0: tensor<4xf32>):
    // expected-error@+1 {{yields (tensor<4xf32>), but its results are (tensor<8xf32>)}}
    relay.yield %p0 : tensor<4xf32>
  }
  relay.return %y : tensor<8xf32>
}

// -----

relay.func @a_region_with_another_end(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{the region does not end in relay.yield}}
  %y = relay.primitive(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%p0: tensor<4xf32>):
    "test.termop"() : () -> ()
  }
  relay.return %y : tensor<4xf32>
}
