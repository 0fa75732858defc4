// RUN: weft-opt %s -p partition-graph --verify-diagnostics --split-input-file

relay.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.annotation.compiler_begin %x {compiler = "test"} : tensor<4xf32>
  // expected-error@+1 {{is in a region of 'test', and has an operand from outside of it}}
  %1 = relay.add %0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.annotation.compiler_end %1 {compiler = "test"} : tensor<4xf32>
  relay.return %2 : tensor<4xf32>
}

// -----

relay.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.abs %x : tensor<4xf32>
  // expected-error@+1 {{ends a region that nothing has begun}}
  %1 = relay.annotation.compiler_end %0 {compiler = "test"} : tensor<4xf32>
  relay.return %1 : tensor<4xf32>
}

// -----

relay.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.annotation.compiler_begin %x {compiler = "test"} : tensor<4xf32>
  %1 = relay.abs %0 : tensor<4xf32>
  // expected-error@+1 {{ends a region of 'test' for 'other'}}
  %2 = relay.annotation.compiler_end %1 {compiler = "other"} : tensor<4xf32>
  relay.return %2 : tensor<4xf32>
}

// -----

relay.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.annotation.compiler_begin %x {compiler = "test"} : tensor<4xf32>
  // expected-error@+1 {{is in a region of 'test', and used outside of it}}
  %1 = relay.abs %0 : tensor<4xf32>
  relay.return %1 : tensor<4xf32>
}

// -----

// The region's own result comes back into it, by another operator.
relay.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.annotation.compiler_begin %x {compiler = "test"} : tensor<4xf32>
  %1 = relay.abs %0 : tensor<4xf32>
  %2 = relay.annotation.compiler_end %1 {compiler = "test"} : tensor<4xf32>
  %3 = relay.tanh %2 : tensor<4xf32>
  %4 = relay.annotation.compiler_begin %3 {compiler = "test"} : tensor<4xf32>
  %5 = relay.add %1, %4 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{a region of 'test' needs a value that needs one of its results}}
  %6 = relay.annotation.compiler_end %5 {compiler = "test"} : tensor<4xf32>
  relay.return %6 : tensor<4xf32>
}
