// RUN: weft-opt %s -p remove-unused-functions | filecheck %s
// RUN: weft-opt %s -p remove-unused-functions{entry=other} | filecheck %s --check-prefix=ENTRY

// What private functions nobody reaches disappears; recursion does not keep a function alive.

// CHECK: relay.func @main
// CHECK: relay.func private @called
// CHECK: relay.func private @called_by_called
// CHECK: relay.func @other
// CHECK-NOT: relay.func

// ENTRY-NOT: @main
// ENTRY: relay.func private @called_by_called
// ENTRY: relay.func @other
// ENTRY-NOT: relay.func
relay.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.call @called(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
relay.func private @called(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.call @called_by_called(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
relay.func private @called_by_called(%x: tensor<4xf32>) -> tensor<4xf32> {
  relay.return %x : tensor<4xf32>
}
relay.func private @recursive_but_unused(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.call @recursive_but_unused(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
relay.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.call @called_by_called(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
