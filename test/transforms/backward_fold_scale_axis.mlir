// RUN: weft-opt %s -O3 -p backward-fold-scale-axis | filecheck %s

// CHECK-LABEL: relay.func @the_factors_climb_through_bias_and_relu_into_the_weights
// CHECK: %[[W:.*]] = relay.constant dense<{{.*}}2.000000e+00]], {{\[\[}}4.000000e+00]], {{\[\[}}6.000000e+00]]], {{.*}}9.000000e+00
// CHECK: %[[Y:.*]] = relay.nn.conv2d %x, %[[W]]
// CHECK: %[[B:.*]] = relay.constant dense<[{{\[\[}}2.000000e+00]], {{\[\[}}-3.000000e+00]]]>
// CHECK: %[[Z:.*]] = relay.add %[[Y]], %[[B]]
// CHECK: relay.nn.relu %[[Z]]
// CHECK-NEXT: relay.return
relay.func @the_factors_climb_through_bias_and_relu_into_the_weights(%x: tensor<?x3x4x4xf32>) -> tensor<?x2x4x4xf32> {
  %w = relay.constant dense<[[[[1.0]], [[2.0]], [[3.0]]], [[[3.0]], [[4.0]], [[5.0]]]]> : tensor<2x3x1x1xf32>
  %b = relay.constant dense<[[[1.0]], [[-1.0]]]> : tensor<2x1x1xf32>
  %s = relay.constant dense<[[[2.0]], [[3.0]]]> : tensor<2x1x1xf32>
  %0 = relay.nn.conv2d %x, %w : (tensor<?x3x4x4xf32>, tensor<2x3x1x1xf32>) -> tensor<?x2x4x4xf32>
  %1 = relay.add %0, %b : (tensor<?x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<?x2x4x4xf32>
  %2 = relay.nn.relu %1 : tensor<?x2x4x4xf32>
  %3 = relay.multiply %2, %s : (tensor<?x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<?x2x4x4xf32>
  relay.return %3 : tensor<?x2x4x4xf32>
}

// CHECK-LABEL: relay.func @the_factor_on_the_left_and_of_one_element
// CHECK: relay.multiply %w, %{{.*}} : (tensor<2x3xf32>, tensor<1x1xf32>)
// CHECK: relay.nn.dense
// CHECK-NEXT: relay.return
relay.func @the_factor_on_the_left_and_of_one_element(%x: tensor<4x3xf32>, %w: tensor<2x3xf32>) -> tensor<4x2xf32> {
  %s = relay.constant dense<-2.0> : tensor<f32>
  %0 = relay.nn.dense %x, %w : (tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<4x2xf32>
  %1 = relay.multiply %s, %0 : (tensor<f32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  relay.return %1 : tensor<4x2xf32>
}

// CHECK-LABEL: relay.func @both_sides_of_a_sum_take_the_factors
// CHECK: %[[V:.*]] = relay.multiply %v
// CHECK: relay.nn.conv2d %x, %[[V]]
// CHECK: %[[W:.*]] = relay.multiply %w
// CHECK: relay.nn.conv2d %x, %[[W]]
// CHECK: relay.subtract
// CHECK-NEXT: relay.return
relay.func @both_sides_of_a_sum_take_the_factors(%x: tensor<1x2x4x4xf32>, %v: tensor<2x2x1x1xf32>, %w: tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32> {
  %s = relay.constant dense<[[[2.0]], [[3.0]]]> : tensor<2x1x1xf32>
  %0 = relay.nn.conv2d %x, %v : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = relay.nn.conv2d %x, %w : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %2 = relay.subtract %0, %1 : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %3 = relay.multiply %2, %s : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  relay.return %3 : tensor<1x2x4x4xf32>
}

// CHECK-LABEL: relay.func @two_multiplications_in_a_row_become_one
// CHECK: %[[S:.*]] = relay.constant dense<[{{\[\[}}4.000000e+00]], {{\[\[}}9.000000e+00]]]>
// CHECK: relay.multiply %x, %[[S]]
// CHECK: relay.nn.max_pool2d
// CHECK-NEXT: relay.return
relay.func @two_multiplications_in_a_row_become_one(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x3x3xf32> {
  %s = relay.constant dense<[[[2.0]], [[3.0]]]> : tensor<2x1x1xf32>
  %0 = relay.multiply %x, %s : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = relay.nn.max_pool2d %0 {pool_size = array<i64: 2, 2>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x3x3xf32>
  %2 = relay.multiply %1, %s : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  relay.return %2 : tensor<1x2x3x3xf32>
}

// CHECK-LABEL: relay.func @grouped_convolutions_and_biases
// CHECK: relay.multiply %w, %{{.*}} : (tensor<2x1x3x3xf32>, tensor<2x1x1x1xf32>)
// CHECK: relay.nn.conv2d
// CHECK: relay.multiply %b, %{{.*}} : (tensor<2xf32>, tensor<2xf32>)
// CHECK: relay.nn.bias_add
// CHECK-NEXT: relay.return
relay.func @grouped_convolutions_and_biases(%x: tensor<1x2x4x4xf32>, %w: tensor<2x1x3x3xf32>, %b: tensor<2xf32>) -> tensor<1x2x4x4xf32> {
  %s = relay.constant dense<[[[2.0]], [[-3.0]]]> : tensor<2x1x1xf32>
  %0 = relay.nn.conv2d %x, %w {groups = 2 : i64, padding = array<i64: 1, 1>} : (tensor<1x2x4x4xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x4x4xf32>
  %1 = relay.nn.bias_add %0, %b : (tensor<1x2x4x4xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %2 = relay.multiply %1, %s : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  relay.return %2 : tensor<1x2x4x4xf32>
}

// CHECK-LABEL: relay.func @a_negative_factor_does_not_pass_relu
// CHECK: relay.nn.relu
// CHECK-NEXT: relay.multiply
// CHECK-NEXT: relay.return
relay.func @a_negative_factor_does_not_pass_relu(%x: tensor<1x2x4x4xf32>, %w: tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32> {
  %s = relay.constant dense<[[[2.0]], [[-3.0]]]> : tensor<2x1x1xf32>
  %0 = relay.nn.conv2d %x, %w : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = relay.nn.relu %0 : tensor<1x2x4x4xf32>
  %2 = relay.multiply %1, %s : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  relay.return %2 : tensor<1x2x4x4xf32>
}

// CHECK-LABEL: relay.func @a_value_with_two_users_is_not_scaled
// CHECK: relay.nn.conv2d %x, %w
// CHECK-NEXT: relay.multiply
relay.func @a_value_with_two_users_is_not_scaled(%x: tensor<1x2x4x4xf32>, %w: tensor<2x2x1x1xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
  %s = relay.constant dense<[[[2.0]], [[3.0]]]> : tensor<2x1x1xf32>
  %0 = relay.nn.conv2d %x, %w : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = relay.multiply %0, %s : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  relay.return %0, %1 : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
}

// CHECK-LABEL: relay.func @a_sum_with_something_as_large_is_not_scaled
// CHECK: relay.nn.conv2d %x, %w
// CHECK-NEXT: relay.add
// CHECK-NEXT: relay.multiply
relay.func @a_sum_with_something_as_large_is_not_scaled(%x: tensor<1x2x4x4xf32>, %w: tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32> {
  %s = relay.constant dense<[[[2.0]], [[3.0]]]> : tensor<2x1x1xf32>
  %0 = relay.nn.conv2d %x, %w : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = relay.add %0, %x : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %2 = relay.multiply %1, %s : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  relay.return %2 : tensor<1x2x4x4xf32>
}

// CHECK-LABEL: relay.func @factors_along_a_spatial_axis_stay
// CHECK: relay.nn.avg_pool2d
// CHECK-NEXT: relay.multiply
relay.func @factors_along_a_spatial_axis_stay(%x: tensor<1x2x2x2xf32>, %w: tensor<2x2x1x1xf32>) -> tensor<1x2x2x2xf32> {
  %s = relay.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %0 = relay.nn.conv2d %x, %w : (tensor<1x2x2x2xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x2x2xf32>
  %1 = relay.nn.avg_pool2d %0 {pool_size = array<i64: 3, 3>, padding = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %2 = relay.multiply %1, %s : (tensor<1x2x2x2xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  relay.return %2 : tensor<1x2x2x2xf32>
}

// CHECK-LABEL: relay.func @factors_known_only_at_run_time_stay
// CHECK: relay.nn.conv2d %x, %w
// CHECK-NEXT: relay.multiply
relay.func @factors_known_only_at_run_time_stay(%x: tensor<1x2x4x4xf32>, %w: tensor<2x2x1x1xf32>, %s: tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32> {
  %0 = relay.nn.conv2d %x, %w : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = relay.multiply %0, %s : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  relay.return %1 : tensor<1x2x4x4xf32>
}
