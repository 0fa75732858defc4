// RUN: weft-opt %s -p inline --split-input-file | filecheck %s

// CHECK-LABEL: relay.func @a_private_function_is_put_where_it_is_called
// CHECK-NEXT: %0 = relay.add %x, %x
// CHECK-NEXT: %1 = relay.add %0, %0
// CHECK-NEXT: relay.return %1
// CHECK-NOT: @twice
relay.func @a_private_function_is_put_where_it_is_called(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.call @twice(%0) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %1 : tensor<4xf32>
}
relay.func private @twice(%p: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.add %p, %p : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: relay.func @calls_within_calls
// CHECK-NEXT: relay.exp
// CHECK-NEXT: relay.tanh
// CHECK-NEXT: relay.return
relay.func @calls_within_calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.call @outer(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
// A function that is not private stays for others.
// CHECK: relay.func @outer
// CHECK-NEXT: relay.exp
// CHECK-NEXT: relay.tanh
relay.func @outer(%p: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %p : tensor<4xf32>
  %1 = relay.call @inner(%0) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %1 : tensor<4xf32>
}
relay.func private @inner(%p: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.tanh %p : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: relay.func @an_argument_that_is_returned
// CHECK-NEXT: relay.return %y, %x
relay.func @an_argument_that_is_returned(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0, %1 = relay.call @swap(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  relay.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
relay.func private @swap(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  relay.return %b, %a : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: relay.func @a_kernel_is_left_alone
// CHECK-NEXT: relay.call @kernel
relay.func @a_kernel_is_left_alone(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.call @kernel(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
relay.func private @kernel(%p: tensor<4xf32>) -> tensor<4xf32> attributes {primitive} {
  %0 = relay.exp %p : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
