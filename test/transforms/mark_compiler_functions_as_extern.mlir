// RUN: weft-opt %s -p 'mark-compiler-functions-as-extern{compiler-filter=test}' | filecheck %s
// RUN: weft-opt %s -p 'mark-compiler-functions-as-extern' | filecheck %s --check-prefix=ALL

// CHECK:       relay.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {Extern} {
// CHECK:       relay.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> attributes {Compiler = "other", primitive} {
// ALL-COUNT-2: attributes {Extern} {
// ALL:         relay.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
relay.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {Compiler = "test", primitive} {
  %0 = relay.tanh %x : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
relay.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> attributes {Compiler = "other", primitive} {
  %0 = relay.tanh %x : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
relay.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
