// RUN: weft-opt %s -p fold-explicit-padding | filecheck %s

// CHECK-LABEL: relay.func @a_convolution_takes_zeros
// CHECK-NOT: relay.nn.pad
// CHECK: relay.nn.conv2d %x, %w {{.*}}padding = array<i64: 1, 2, 3, 4>
relay.func @a_convolution_takes_zeros(%x: tensor<?x2x4x4xf32>, %w: tensor<3x2x3x3xf32>) -> tensor<?x3x6x8xf32> {
  %z = relay.constant dense<0.0> : tensor<f32>
  %0 = relay.nn.pad %x, %z {pad_width = array<i64: 0, 0, 0, 0, 0, 2, 1, 3>} : (tensor<?x2x4x4xf32>, tensor<f32>) -> tensor<?x2x6x8xf32>
  %1 = relay.nn.conv2d %0, %w {padding = array<i64: 1, 1>} : (tensor<?x2x6x8xf32>, tensor<3x2x3x3xf32>) -> tensor<?x3x6x8xf32>
  relay.return %1 : tensor<?x3x6x8xf32>
}

// CHECK-LABEL: relay.func @a_maximum_pool_takes_the_least_value
// CHECK: relay.nn.max_pool2d %x {{.*}}padding = array<i64: 1, 0, 0, 0>
relay.func @a_maximum_pool_takes_the_least_value(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x3xf32> {
  %z = relay.constant dense<-3.40282347E+38> : tensor<f32>
  %0 = relay.nn.pad %x, %z {pad_width = array<i64: 0, 0, 0, 0, 1, 0, 0, 0>} : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x5x4xf32>
  %1 = relay.nn.max_pool2d %0 {pool_size = array<i64: 2, 2>} : (tensor<1x2x5x4xf32>) -> tensor<1x2x4x3xf32>
  relay.return %1 : tensor<1x2x4x3xf32>
}

// CHECK-LABEL: relay.func @an_average_pool_counts_the_zeros
// CHECK: relay.nn.avg_pool2d %x {{.*}}count_include_pad = true, padding = array<i64: 1, 0, 0, 0>
relay.func @an_average_pool_counts_the_zeros(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x3xf32> {
  %z = relay.constant dense<0.0> : tensor<f32>
  %0 = relay.nn.pad %x, %z {pad_width = array<i64: 0, 0, 0, 0, 1, 0, 0, 0>} : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x5x4xf32>
  %1 = relay.nn.avg_pool2d %0 {pool_size = array<i64: 2, 2>} : (tensor<1x2x5x4xf32>) -> tensor<1x2x4x3xf32>
  relay.return %1 : tensor<1x2x4x3xf32>
}

// The padding is used elsewhere: the convolution does without it all the same.
// CHECK-LABEL: relay.func @padding_with_two_users_stays_for_the_other
// CHECK: relay.nn.pad
// CHECK: relay.nn.conv2d %x
relay.func @padding_with_two_users_stays_for_the_other(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x1x1xf32>) -> (tensor<1x3x6x4xf32>, tensor<1x2x6x4xf32>) {
  %z = relay.constant dense<0.0> : tensor<f32>
  %0 = relay.nn.pad %x, %z {pad_width = array<i64: 0, 0, 0, 0, 1, 1, 0, 0>} : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x6x4xf32>
  %1 = relay.nn.conv2d %0, %w : (tensor<1x2x6x4xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x6x4xf32>
  relay.return %1, %0 : tensor<1x3x6x4xf32>, tensor<1x2x6x4xf32>
}

// CHECK-LABEL: relay.func @other_values_than_zero_stay
// CHECK: relay.nn.conv2d %{{[0-9]}}, %w
// CHECK: relay.nn.max_pool2d %{{[0-9]}}
relay.func @other_values_than_zero_stay(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x3x3xf32>) -> (tensor<1x3x4x2xf32>, tensor<1x2x5x3xf32>) {
  %z = relay.constant dense<1.0> : tensor<f32>
  %0 = relay.nn.pad %x, %z {pad_width = array<i64: 0, 0, 0, 0, 1, 1, 0, 0>} : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x6x4xf32>
  %1 = relay.nn.conv2d %0, %w : (tensor<1x2x6x4xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x4x2xf32>
  %2 = relay.nn.max_pool2d %0 {pool_size = array<i64: 2, 2>} : (tensor<1x2x6x4xf32>) -> tensor<1x2x5x3xf32>
  relay.return %1, %2 : tensor<1x3x4x2xf32>, tensor<1x2x5x3xf32>
}

// CHECK-LABEL: relay.func @padded_channels_and_edges_stay
// CHECK: relay.nn.conv2d %{{[0-9]}}, %w
// CHECK: relay.nn.avg_pool2d %{{[0-9]}}
relay.func @padded_channels_and_edges_stay(%x: tensor<1x1x4x4xf32>, %w: tensor<3x2x3x3xf32>) -> (tensor<1x3x2x2xf32>, tensor<1x1x5x3xf32>) {
  %z = relay.constant dense<0.0> : tensor<f32>
  %0 = relay.nn.pad %x, %z {pad_width = array<i64: 0, 0, 1, 0, 0, 0, 0, 0>} : (tensor<1x1x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %1 = relay.nn.conv2d %0, %w : (tensor<1x2x4x4xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x2x2xf32>
  %2 = relay.nn.pad %x, %z {pad_width = array<i64: 0, 0, 0, 0, 1, 1, 0, 0>, pad_mode = "edge"} : (tensor<1x1x4x4xf32>, tensor<f32>) -> tensor<1x1x6x4xf32>
  %3 = relay.nn.avg_pool2d %2 {pool_size = array<i64: 2, 2>} : (tensor<1x1x6x4xf32>) -> tensor<1x1x5x3xf32>
  relay.return %1, %3 : tensor<1x3x2x2xf32>, tensor<1x1x5x3xf32>
}

// CHECK-LABEL: relay.func @a_pool_that_does_not_count_its_padding_keeps_the_other
// CHECK: relay.nn.avg_pool2d %{{[0-9]}}
relay.func @a_pool_that_does_not_count_its_padding_keeps_the_other(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x7x5xf32> {
  %z = relay.constant dense<0.0> : tensor<f32>
  %0 = relay.nn.pad %x, %z {pad_width = array<i64: 0, 0, 0, 0, 1, 1, 0, 0>} : (tensor<1x1x4x4xf32>, tensor<f32>) -> tensor<1x1x6x4xf32>
  %1 = relay.nn.avg_pool2d %0 {pool_size = array<i64: 2, 2>, padding = array<i64: 1, 1>} : (tensor<1x1x6x4xf32>) -> tensor<1x1x7x5xf32>
  relay.return %1 : tensor<1x1x7x5xf32>
}

// A quantised convolution pads with its zero point.
// CHECK-LABEL: relay.func @the_zero_point_is_what_a_quantised_convolution_pads_with
// CHECK-NOT: relay.nn.pad
// CHECK: relay.qnn.conv2d %x, %w, %z, %zw, %s, %s
// CHECK: padding = array<i64: 1, 2, 1, 2>
// CHECK-LABEL: relay.func @what_is_not_the_zero_point_stays
// CHECK: relay.nn.pad
relay.func @the_zero_point_is_what_a_quantised_convolution_pads_with(%x: tensor<1x6x6x2xi8>, %w: tensor<3x3x2x4xi8>) -> tensor<1x6x8x4xi32> {
  %p = relay.constant dense<10> : tensor<i8>
  %z = relay.constant dense<10> : tensor<i32>
  %zw = relay.constant dense<1> : tensor<i32>
  %s = relay.constant dense<0.5> : tensor<f32>
  %0 = relay.nn.pad %x, %p {pad_width = array<i64: 0, 0, 1, 1, 2, 2, 0, 0>} : (tensor<1x6x6x2xi8>, tensor<i8>) -> tensor<1x8x10x2xi8>
  %1 = relay.qnn.conv2d %0, %w, %z, %zw, %s, %s {data_layout = "NHWC", kernel_layout = "HWIO", channels = 4 : i64, kernel_size = array<i64: 3, 3>} : (tensor<1x8x10x2xi8>, tensor<3x3x2x4xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x6x8x4xi32>
  relay.return %1 : tensor<1x6x8x4xi32>
}
relay.func @what_is_not_the_zero_point_stays(%x: tensor<1x6x6x2xi8>, %w: tensor<3x3x2x4xi8>) -> tensor<1x6x8x4xi32> {
  %p = relay.constant dense<0> : tensor<i8>
  %z = relay.constant dense<10> : tensor<i32>
  %zw = relay.constant dense<1> : tensor<i32>
  %s = relay.constant dense<0.5> : tensor<f32>
  %0 = relay.nn.pad %x, %p {pad_width = array<i64: 0, 0, 1, 1, 2, 2, 0, 0>} : (tensor<1x6x6x2xi8>, tensor<i8>) -> tensor<1x8x10x2xi8>
  %1 = relay.qnn.conv2d %0, %w, %z, %zw, %s, %s {data_layout = "NHWC", kernel_layout = "HWIO", channels = 4 : i64, kernel_size = array<i64: 3, 3>} : (tensor<1x8x10x2xi8>, tensor<3x3x2x4xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x6x8x4xi32>
  relay.return %1 : tensor<1x6x8x4xi32>
}
