// RUN: weft-opt %s -p defunctionalization --verify-diagnostics --split-input-file

// A caller would have to make values of the new data type.

// expected-error @+1 {{its callers would have to make its data}}
relay.func @main(%f: (tensor<4xf32>) -> tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.apply %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %y : tensor<4xf32>
}

// -----

relay.adt @held {held((tensor<4xf32>) -> tensor<4xf32>)}
relay.adt @tree<"T"> {tree(!relay.param<"T">, !relay.adt<@held>)}
// expected-error @+1 {{its callers would have to make its data}}
relay.func @main(%f: !relay.adt<@tree, [tensor<f32>]>, %x: tensor<4xf32>) -> tensor<4xf32> {
  relay.return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{a function value in @other, which stays as it is, would not become data}}
relay.func @other(%f: (tensor<4xf32>) -> tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> attributes {Compiler = "other"} {
  %y = relay.apply %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %y : tensor<4xf32>
}

// -----

// expected-error @+1 {{@nest holds itself with ever other types, function types among them}}
relay.adt @nest<"T"> {end(), nest(() -> !relay.param<"T">, !relay.adt<@nest, [tuple<!relay.param<"T">, !relay.param<"T">>]>)}
relay.func private @nested(%x: !relay.adt<@nest, [tensor<i32>]>) -> tensor<i32> {
  %zero = relay.constant dense<0> : tensor<i32>
  relay.return %zero : tensor<i32>
}
