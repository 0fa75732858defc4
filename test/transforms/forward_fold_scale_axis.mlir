// RUN: weft-opt %s -O3 -p forward-fold-scale-axis | filecheck %s

// CHECK-LABEL: relay.func @the_factors_go_down_through_bias_and_relu_into_the_weights
// CHECK: %[[B:.*]] = relay.constant dense<[{{\[\[}}5.000000e-01]], {{\[\[}}-2.500000e-01]]]>
// CHECK: %[[A:.*]] = relay.add %x, %[[B]]
// CHECK: relay.nn.relu %[[A]]
// CHECK: %[[W:.*]] = relay.multiply %w, %{{.*}} : (tensor<3x2x1x1xf32>, tensor<2x1x1xf32>)
// CHECK: relay.nn.conv2d %{{.*}}, %[[W]]
relay.func @the_factors_go_down_through_bias_and_relu_into_the_weights(%x: tensor<?x2x4x4xf32>, %w: tensor<3x2x1x1xf32>) -> tensor<?x3x4x4xf32> {
  %b = relay.constant dense<[[[1.0]], [[-1.0]]]> : tensor<2x1x1xf32>
  %s = relay.constant dense<[[[2.0]], [[4.0]]]> : tensor<2x1x1xf32>
  %0 = relay.multiply %x, %s : (tensor<?x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<?x2x4x4xf32>
  %1 = relay.add %0, %b : (tensor<?x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<?x2x4x4xf32>
  %2 = relay.nn.relu %1 : tensor<?x2x4x4xf32>
  %3 = relay.nn.conv2d %2, %w : (tensor<?x2x4x4xf32>, tensor<3x2x1x1xf32>) -> tensor<?x3x4x4xf32>
  relay.return %3 : tensor<?x3x4x4xf32>
}

// CHECK-LABEL: relay.func @every_user_takes_the_factors
// CHECK-NOT: relay.multiply %x
// CHECK: relay.nn.conv2d %x
// CHECK: relay.nn.conv2d %x
// CHECK: relay.return
relay.func @every_user_takes_the_factors(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x1x1xf32>) -> tensor<1x3x4x4xf32> {
  %s = relay.constant dense<[[[2.0]], [[-4.0]]]> : tensor<2x1x1xf32>
  %0 = relay.multiply %x, %s : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = relay.nn.conv2d %0, %w : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x4x4xf32>
  %2 = relay.nn.conv2d %0, %w : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x4x4xf32>
  %3 = relay.subtract %1, %2 : (tensor<1x3x4x4xf32>, tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  relay.return %3 : tensor<1x3x4x4xf32>
}

// CHECK-LABEL: relay.func @both_sides_of_a_sum_carry_the_factors
// CHECK-NEXT: relay.constant
// CHECK-NEXT: %[[R:.*]] = relay.nn.relu %x
// CHECK-NEXT: relay.subtract %[[R]], %x
// CHECK: relay.multiply %w
// CHECK: relay.nn.conv2d
relay.func @both_sides_of_a_sum_carry_the_factors(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x1x1xf32>) -> tensor<1x3x4x4xf32> {
  %s = relay.constant dense<[[[2.0]], [[4.0]]]> : tensor<2x1x1xf32>
  %0 = relay.multiply %x, %s : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = relay.nn.relu %0 : tensor<1x2x4x4xf32>
  %2 = relay.subtract %1, %0 : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %3 = relay.nn.conv2d %2, %w : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x4x4xf32>
  relay.return %3 : tensor<1x3x4x4xf32>
}

// Output channels of a grouped convolution see the factors of their group's channels alone.
// CHECK-LABEL: relay.func @grouped_convolutions
// CHECK: %[[S:.*]] = relay.squeeze {{.*}} -> tensor<4xf32>
// CHECK-NEXT: %[[F:.*]] = relay.reshape %[[S]] {newshape = array<i64: 2, 2, 1, 1>}
// CHECK-NEXT: relay.multiply %w, %[[F]]
relay.func @grouped_convolutions(%x: tensor<1x4x4x4xf32>, %w: tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32> {
  %s = relay.constant dense<[[[2.0]], [[3.0]], [[4.0]], [[5.0]]]> : tensor<4x1x1xf32>
  %0 = relay.multiply %x, %s : (tensor<1x4x4x4xf32>, tensor<4x1x1xf32>) -> tensor<1x4x4x4xf32>
  %1 = relay.nn.conv2d %0, %w {groups = 2 : i64} : (tensor<1x4x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  relay.return %1 : tensor<1x2x4x4xf32>
}

// CHECK-LABEL: relay.func @matrix_products
// CHECK: relay.multiply %w, %{{.*}} : (tensor<3x2xf32>, tensor<2xf32>)
// CHECK: relay.nn.dense %x
relay.func @matrix_products(%x: tensor<4x2xf32>, %w: tensor<3x2xf32>) -> tensor<4x3xf32> {
  %s = relay.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %0 = relay.multiply %s, %x : (tensor<2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %1 = relay.nn.dense %0, %w : (tensor<4x2xf32>, tensor<3x2xf32>) -> tensor<4x3xf32>
  relay.return %1 : tensor<4x3xf32>
}

// CHECK-LABEL: relay.func @a_negative_factor_does_not_pass_relu
// CHECK: relay.multiply %x
// CHECK-NEXT: relay.nn.relu
relay.func @a_negative_factor_does_not_pass_relu(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x1x1xf32>) -> tensor<1x3x4x4xf32> {
  %s = relay.constant dense<[[[2.0]], [[-4.0]]]> : tensor<2x1x1xf32>
  %0 = relay.multiply %x, %s : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = relay.nn.relu %0 : tensor<1x2x4x4xf32>
  %2 = relay.nn.conv2d %1, %w : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x4x4xf32>
  relay.return %2 : tensor<1x3x4x4xf32>
}

// CHECK-LABEL: relay.func @a_returned_product_stays
// CHECK: relay.multiply %x
relay.func @a_returned_product_stays(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x1x1xf32>) -> (tensor<1x3x4x4xf32>, tensor<1x2x4x4xf32>) {
  %s = relay.constant dense<[[[2.0]], [[4.0]]]> : tensor<2x1x1xf32>
  %0 = relay.multiply %x, %s : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = relay.nn.conv2d %0, %w : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x4x4xf32>
  relay.return %1, %0 : tensor<1x3x4x4xf32>, tensor<1x2x4x4xf32>
}

// CHECK-LABEL: relay.func @a_factor_of_zero_does_not_pass_a_sum
// CHECK: relay.multiply %x
// CHECK-NEXT: relay.add
relay.func @a_factor_of_zero_does_not_pass_a_sum(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x1x1xf32>) -> tensor<1x3x4x4xf32> {
  %b = relay.constant dense<[[[1.0]], [[-1.0]]]> : tensor<2x1x1xf32>
  %s = relay.constant dense<[[[2.0]], [[0.0]]]> : tensor<2x1x1xf32>
  %0 = relay.multiply %x, %s : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = relay.add %0, %b : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %2 = relay.nn.conv2d %1, %w : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x4x4xf32>
  relay.return %2 : tensor<1x3x4x4xf32>
}
