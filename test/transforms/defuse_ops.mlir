// RUN: weft-opt %s -p defuse-ops --required-pass=defuse-ops | filecheck %s

// CHECK-LABEL: relay.func @regions_are_opened
// CHECK-NEXT:    %0 = relay.exp %x
// CHECK-NEXT:    %1 = relay.nn.relu %0
// CHECK-NEXT:    relay.return %1
relay.func @regions_are_opened(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.primitive(%x) : (tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%p0: tensor<?xf32>):
    %1 = relay.exp %p0 : tensor<?xf32>
    %2 = relay.nn.relu %1 : tensor<?xf32>
    relay.yield %2 : tensor<?xf32>
  }
  relay.return %0 : tensor<?xf32>
}

// CHECK-LABEL: relay.func @calls_of_kernels_are_opened_each_on_its_own
// CHECK-NEXT:    %0 = relay.subtract %x, %y
// CHECK-NEXT:    %1 = relay.subtract %0, %x
// CHECK-NEXT:    relay.return %1
relay.func @calls_of_kernels_are_opened_each_on_its_own(%x: tensor<0xf32>, %y: tensor<0xf32>) -> tensor<0xf32> {
  %0 = relay.call @fused_subtract(%x, %y) : (tensor<0xf32>, tensor<0xf32>) -> tensor<0xf32>
  %1 = relay.call @fused_subtract(%0, %x) : (tensor<0xf32>, tensor<0xf32>) -> tensor<0xf32>
  relay.return %1 : tensor<0xf32>
}

// CHECK-LABEL: relay.func @a_kernel_that_gives_its_argument_leaves_nothing
// CHECK-NEXT:    relay.return %x
relay.func @a_kernel_that_gives_its_argument_leaves_nothing(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.primitive(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%p0: tensor<4xf32>):
    relay.yield %p0 : tensor<4xf32>
  }
  relay.return %0 : tensor<4xf32>
}

// CHECK-LABEL: relay.func @calls_of_other_functions_stay
// CHECK-NEXT:    relay.call @regions_are_opened(%x)
relay.func @calls_of_other_functions_stay(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.call @regions_are_opened(%x) : (tensor<?xf32>) -> tensor<?xf32>
  relay.return %0 : tensor<?xf32>
}

// CHECK-NOT: @fused_subtract
relay.func private @fused_subtract(%p0: tensor<0xf32>, %p1: tensor<0xf32>) -> tensor<0xf32> attributes {primitive} {
  %0 = relay.subtract %p0, %p1 : (tensor<0xf32>, tensor<0xf32>) -> tensor<0xf32>
  relay.return %0 : tensor<0xf32>
}
