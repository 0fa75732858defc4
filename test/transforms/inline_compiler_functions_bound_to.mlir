// RUN: weft-opt %s -p 'inline-compiler-functions-bound-to{global-vars=f}' | filecheck %s

// The function named and the composites within are put back; the other stays.
// CHECK-LABEL: relay.func @main
// CHECK-NEXT:    %0 = relay.abs %x
// CHECK-NEXT:    %1 = relay.exp %0
// CHECK-NEXT:    %2 = relay.call @g(%1)
// CHECK-NEXT:    relay.return %2
// CHECK-NOT:   @f
// CHECK:       relay.func private @g
relay.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.call @g(%0) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %1 : tensor<4xf32>
}
relay.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {Compiler = "test", primitive} {
  %0 = relay.primitive(%x) {Composite = "test.exp"} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%p: tensor<4xf32>):
    %1 = relay.abs %p : tensor<4xf32>
    %2 = relay.exp %1 : tensor<4xf32>
    relay.yield %2 : tensor<4xf32>
  }
  relay.return %0 : tensor<4xf32>
}
relay.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> attributes {Compiler = "test", primitive} {
  %0 = relay.tanh %x : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
