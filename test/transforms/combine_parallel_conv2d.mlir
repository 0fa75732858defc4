// RUN: weft-opt %s -O4 -p combine-parallel-conv2d{min-num-branches=2} | filecheck %s

// CHECK-LABEL: relay.func @arithmetic_that_follows_is_combined_too
// CHECK: %[[WS:.*]] = relay.concatenate %{{.*}}
// CHECK-NEXT: %[[Y:.*]] = relay.nn.conv2d %x, %[[WS]] {{.*}}-> tensor<1x5x4x4xf32>
// CHECK: %[[BS:.*]] = relay.concatenate %{{.*}}
// CHECK-NEXT: %[[Z:.*]] = relay.add %[[Y]], %[[BS]]
// CHECK-NEXT: %[[R:.*]] = relay.nn.relu %[[Z]]
// CHECK-NEXT: relay.strided_slice %[[R]] {begin = array<i64: 0, 0>, end = array<i64: -1, 2>, strides = array<i64: 1, 1>, slice_mode = "size"}
// CHECK-NEXT:     : (tensor<1x5x4x4xf32>) -> tensor<1x2x4x4xf32>
// CHECK-NEXT: relay.strided_slice %[[R]] {begin = array<i64: 0, 2>, end = array<i64: -1, 3>
relay.func @arithmetic_that_follows_is_combined_too(%x: tensor<1x3x4x4xf32>, %w1: tensor<2x3x1x1xf32>, %w2: tensor<3x3x1x1xf32>, %b1: tensor<2x1x1xf32>, %b2: tensor<3x1x1xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x3x4x4xf32>) {
  %0 = relay.nn.conv2d %x, %w1 : (tensor<1x3x4x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = relay.add %0, %b1 : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %2 = relay.nn.relu %1 : tensor<1x2x4x4xf32>
  %3 = relay.nn.conv2d %x, %w2 : (tensor<1x3x4x4xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x4x4xf32>
  %4 = relay.add %3, %b2 : (tensor<1x3x4x4xf32>, tensor<3x1x1xf32>) -> tensor<1x3x4x4xf32>
  %5 = relay.nn.relu %4 : tensor<1x3x4x4xf32>
  relay.return %2, %5 : tensor<1x2x4x4xf32>, tensor<1x3x4x4xf32>
}

// Channels last; what comes before the second weight moves behind it; other steps end the combining.
// CHECK-LABEL: relay.func @what_stands_between_moves_behind
// CHECK: relay.exp %w
// CHECK: relay.nn.conv2d {{.*}}
// CHECK-NEXT:       {{.*}}-> tensor<1x4x4x4xf32>
// CHECK: relay.nn.bias_add {{.*}} {axis = 3 : i64}
// CHECK: relay.strided_slice {{.*}}begin = array<i64: 0, 0, 0, 0>, end = array<i64: -1, -1, -1, 2>
// CHECK: relay.strided_slice
// CHECK: relay.tanh
// CHECK: relay.sigmoid
relay.func @what_stands_between_moves_behind(%x: tensor<1x4x4x3xf32>, %w: tensor<1x1x3x2xf32>, %b: tensor<2xf32>) -> tensor<1x4x4x2xf32> {
  %0 = relay.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO", channels = 2 : i64} : (tensor<1x4x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x4x4x2xf32>
  %1 = relay.nn.bias_add %0, %b {axis = 3 : i64} : (tensor<1x4x4x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  %2 = relay.tanh %1 : tensor<1x4x4x2xf32>
  %v = relay.exp %w : tensor<1x1x3x2xf32>
  %3 = relay.nn.conv2d %x, %v {data_layout = "NHWC", kernel_layout = "HWIO", channels = 2 : i64} : (tensor<1x4x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x4x4x2xf32>
  %4 = relay.nn.bias_add %3, %b {axis = 3 : i64} : (tensor<1x4x4x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  %5 = relay.sigmoid %4 : tensor<1x4x4x2xf32>
  %6 = relay.add %2, %5 : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  relay.return %6 : tensor<1x4x4x2xf32>
}

// CHECK-LABEL: relay.func @a_weight_made_of_the_other_result_keeps_two
// CHECK-NOT: relay.concatenate
// CHECK: relay.return
relay.func @a_weight_made_of_the_other_result_keeps_two(%x: tensor<3x3x1x1xf32>, %w: tensor<3x3x1x1xf32>) -> tensor<3x3x1x1xf32> {
  %0 = relay.nn.conv2d %x, %w : (tensor<3x3x1x1xf32>, tensor<3x3x1x1xf32>) -> tensor<3x3x1x1xf32>
  %1 = relay.nn.conv2d %x, %0 : (tensor<3x3x1x1xf32>, tensor<3x3x1x1xf32>) -> tensor<3x3x1x1xf32>
  %2 = relay.add %0, %1 : (tensor<3x3x1x1xf32>, tensor<3x3x1x1xf32>) -> tensor<3x3x1x1xf32>
  relay.return %2 : tensor<3x3x1x1xf32>
}

// CHECK-LABEL: relay.func @other_strides_groups_and_kernels_are_left
// CHECK-NOT: relay.concatenate
// CHECK: relay.return
relay.func @other_strides_groups_and_kernels_are_left(%x: tensor<1x2x4x4xf32>, %w: tensor<2x2x1x1xf32>, %v: tensor<2x1x1x1xf32>, %u: tensor<2x2x3x3xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x2x2xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x2x2xf32>) {
  %0 = relay.nn.conv2d %x, %w : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = relay.nn.conv2d %x, %w {strides = array<i64: 2, 2>} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x2x2xf32>
  %2 = relay.nn.conv2d %x, %v {groups = 2 : i64} : (tensor<1x2x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %3 = relay.nn.conv2d %x, %v {groups = 2 : i64} : (tensor<1x2x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %4 = relay.nn.conv2d %x, %u : (tensor<1x2x4x4xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x2x2xf32>
  relay.return %0, %1, %2, %3, %4 : tensor<1x2x4x4xf32>, tensor<1x2x2x2xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x2x2xf32>
}

// A factor of one channel must not be spread over others.
// CHECK-LABEL: relay.func @a_factor_that_is_broadcast_ends_the_combining
// CHECK: relay.nn.conv2d {{.*}}-> tensor<?x3x4x4xf32>
// CHECK: relay.strided_slice
// CHECK: relay.multiply %{{.*}}, %f
// CHECK: relay.multiply %{{.*}}, %f
relay.func @a_factor_that_is_broadcast_ends_the_combining(%x: tensor<?x2x4x4xf32>, %w1: tensor<1x2x1x1xf32>, %w2: tensor<2x2x1x1xf32>, %f1: tensor<1x1x1xf32>, %f2: tensor<1x1x1xf32>) -> (tensor<?x1x4x4xf32>, tensor<?x2x4x4xf32>) {
  %0 = relay.nn.conv2d %x, %w1 : (tensor<?x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<?x1x4x4xf32>
  %1 = relay.multiply %0, %f1 : (tensor<?x1x4x4xf32>, tensor<1x1x1xf32>) -> tensor<?x1x4x4xf32>
  %2 = relay.nn.conv2d %x, %w2 : (tensor<?x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<?x2x4x4xf32>
  %3 = relay.multiply %2, %f2 : (tensor<?x2x4x4xf32>, tensor<1x1x1xf32>) -> tensor<?x2x4x4xf32>
  relay.return %1, %3 : tensor<?x1x4x4xf32>, tensor<?x2x4x4xf32>
}
