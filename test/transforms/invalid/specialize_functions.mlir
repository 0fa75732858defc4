// RUN: weft-opt %s -p specialize-functions --verify-diagnostics --split-input-file

relay.func private @grow(%n: tensor<i32>, %x: !relay.param<"A">) -> tensor<i32> {
  %t = relay.tuple(%x, %x) : (!relay.param<"A">, !relay.param<"A">) -> tuple<!relay.param<"A">, !relay.param<"A">>
  // expected-error @+1 {{@grow calls itself with ever other types: no number of functions would do}}
  %y = relay.call @grow(%n, %t) : (tensor<i32>, tuple<!relay.param<"A">, !relay.param<"A">>) -> tensor<i32>
  relay.return %y : tensor<i32>
}
relay.func @main(%n: tensor<i32>) -> tensor<i32> {
  %y = relay.call @grow(%n, %n) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  relay.return %y : tensor<i32>
}
