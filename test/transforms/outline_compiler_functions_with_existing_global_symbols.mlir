// RUN: weft-opt %s -p 'outline-compiler-functions-with-existing-global-symbols{compiler-filter=test}' | filecheck %s

// Regions and called function values become functions; of two with one symbol there is one; others stay.
// CHECK-LABEL: relay.func @main
// CHECK-NEXT:    %0 = relay.call @f(%x)
// CHECK-NEXT:    %1 = relay.call @f(%0)
// CHECK-NEXT:    %2 = relay.call @g(%1)
// CHECK-NEXT:    %3 = relay.primitive(%2) {Compiler = "other", global_symbol = "h"}
// CHECK:       relay.func private @f(%p: tensor<4xf32>) -> tensor<4xf32> attributes {Compiler = "test", global_symbol = "f", primitive} {
// CHECK:       relay.func private @g(%p: tensor<4xf32>) -> tensor<4xf32> attributes {Compiler = "test", global_symbol = "g", primitive} {
relay.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.primitive(%x) {Compiler = "test", global_symbol = "f"} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%p: tensor<4xf32>):
    %4 = relay.exp %p : tensor<4xf32>
    relay.yield %4 : tensor<4xf32>
  }
  %1 = relay.primitive(%0) {Compiler = "test", global_symbol = "f"} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%p: tensor<4xf32>):
    %4 = relay.exp %p : tensor<4xf32>
    relay.yield %4 : tensor<4xf32>
  }
  %g = relay.fn(%p: tensor<4xf32>) -> tensor<4xf32> attributes {Compiler = "test", global_symbol = "g"} {
    %4 = relay.tanh %p : tensor<4xf32>
    relay.yield %4 : tensor<4xf32>
  }
  %2 = relay.apply %g(%1) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = relay.primitive(%2) {Compiler = "other", global_symbol = "h"} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%p: tensor<4xf32>):
    %4 = relay.abs %p : tensor<4xf32>
    relay.yield %4 : tensor<4xf32>
  }
  relay.return %3 : tensor<4xf32>
}
