// RUN: weft-opt %s -p flatten-atrous-conv,dead-code-elimination | filecheck %s

// CHECK-LABEL: relay.func @blocks_become_dilation
// CHECK-NEXT: relay.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO", padding = array<i64: 2, 2, 2, 2>, dilation = array<i64: 2, 2>}
// CHECK-NEXT:     : (tensor<1x5x5x2xf32>, tensor<3x3x2x3xf32>) -> tensor<1x5x5x3xf32>
// CHECK-NEXT: relay.return
relay.func @blocks_become_dilation(%x: tensor<1x5x5x2xf32>, %w: tensor<3x3x2x3xf32>) -> tensor<1x5x5x3xf32> {
  %0 = relay.nn.space_to_batch_nd %x {block_shape = array<i64: 2, 2>, paddings = array<i64: 2, 3, 2, 3>} : (tensor<1x5x5x2xf32>) -> tensor<4x5x5x2xf32>
  %1 = relay.nn.conv2d %0, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<4x5x5x2xf32>, tensor<3x3x2x3xf32>) -> tensor<4x3x3x3xf32>
  %2 = relay.nn.batch_to_space_nd %1 {block_shape = array<i64: 2, 2>, crops = array<i64: 0, 1, 0, 1>} : (tensor<4x3x3x3xf32>) -> tensor<1x5x5x3xf32>
  relay.return %2 : tensor<1x5x5x3xf32>
}

// Padding of the convolution counts blocks; its own dilation is multiplied.
// CHECK-LABEL: relay.func @padding_and_dilation_of_its_own
// CHECK-NEXT: relay.nn.conv2d %x, %w {{.*}}padding = array<i64: 3, 2, 3, 4>, dilation = array<i64: 6, 2>
// CHECK-NEXT:     : (tensor<2x9x4x1xf32>, tensor<2x2x1x1xf32>) -> tensor<2x9x8x1xf32>
// CHECK-NEXT: relay.return
relay.func @padding_and_dilation_of_its_own(%x: tensor<2x9x4x1xf32>, %w: tensor<2x2x1x1xf32>) -> tensor<2x9x8x1xf32> {
  %0 = relay.nn.space_to_batch_nd %x {block_shape = array<i64: 3, 2>} : (tensor<2x9x4x1xf32>) -> tensor<12x3x2x1xf32>
  %1 = relay.nn.conv2d %0, %w {data_layout = "NHWC", kernel_layout = "HWIO", padding = array<i64: 1, 1, 1, 2>, dilation = array<i64: 2, 1>} : (tensor<12x3x2x1xf32>, tensor<2x2x1x1xf32>) -> tensor<12x3x4x1xf32>
  %2 = relay.nn.batch_to_space_nd %1 {block_shape = array<i64: 3, 2>} : (tensor<12x3x4x1xf32>) -> tensor<2x9x8x1xf32>
  relay.return %2 : tensor<2x9x8x1xf32>
}

// CHECK-LABEL: relay.func @strides_and_cuts_beyond_the_padding_stay
// CHECK: relay.nn.batch_to_space_nd
// CHECK: relay.nn.batch_to_space_nd
relay.func @strides_and_cuts_beyond_the_padding_stay(%x: tensor<1x4x4x1xf32>, %w: tensor<1x1x1x1xf32>) -> (tensor<1x2x2x1xf32>, tensor<1x3x4x1xf32>) {
  %0 = relay.nn.space_to_batch_nd %x {block_shape = array<i64: 2, 2>} : (tensor<1x4x4x1xf32>) -> tensor<4x2x2x1xf32>
  %1 = relay.nn.conv2d %0, %w {data_layout = "NHWC", kernel_layout = "HWIO", strides = array<i64: 2, 2>} : (tensor<4x2x2x1xf32>, tensor<1x1x1x1xf32>) -> tensor<4x1x1x1xf32>
  %2 = relay.nn.batch_to_space_nd %1 {block_shape = array<i64: 2, 2>} : (tensor<4x1x1x1xf32>) -> tensor<1x2x2x1xf32>
  %3 = relay.nn.conv2d %0, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<4x2x2x1xf32>, tensor<1x1x1x1xf32>) -> tensor<4x2x2x1xf32>
  %4 = relay.nn.batch_to_space_nd %3 {block_shape = array<i64: 2, 2>, crops = array<i64: 1, 0, 0, 0>} : (tensor<4x2x2x1xf32>) -> tensor<1x3x4x1xf32>
  relay.return %2, %4 : tensor<1x2x2x1xf32>, tensor<1x3x4x1xf32>
}

// A quantised convolution pads with its zero point: with nothing else may blocks have been padded.
// CHECK-LABEL: relay.func @quantised_blocks_become_dilation
// CHECK: relay.qnn.conv2d %x, %w, %z, %z, %s, %s
// CHECK-NEXT: padding = array<i64: 2, 2, 2, 2>,
// CHECK-NEXT: dilation = array<i64: 2, 2>
// CHECK-NOT: relay.nn.batch_to_space_nd
// CHECK-LABEL: relay.func @padding_with_another_number_stays
// CHECK: relay.nn.batch_to_space_nd
relay.func @quantised_blocks_become_dilation(%x: tensor<1x5x5x2xi8>, %w: tensor<3x3x2x3xi8>) -> tensor<1x5x5x3xi32> {
  %z = relay.constant dense<0> : tensor<i32>
  %s = relay.constant dense<0.5> : tensor<f32>
  %0 = relay.nn.space_to_batch_nd %x {block_shape = array<i64: 2, 2>, paddings = array<i64: 2, 3, 2, 3>} : (tensor<1x5x5x2xi8>) -> tensor<4x5x5x2xi8>
  %1 = relay.qnn.conv2d %0, %w, %z, %z, %s, %s {data_layout = "NHWC", kernel_layout = "HWIO", channels = 3 : i64, kernel_size = array<i64: 3, 3>} : (tensor<4x5x5x2xi8>, tensor<3x3x2x3xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<4x3x3x3xi32>
  %2 = relay.nn.batch_to_space_nd %1 {block_shape = array<i64: 2, 2>, crops = array<i64: 0, 1, 0, 1>} : (tensor<4x3x3x3xi32>) -> tensor<1x5x5x3xi32>
  relay.return %2 : tensor<1x5x5x3xi32>
}
relay.func @padding_with_another_number_stays(%x: tensor<1x5x5x2xi8>, %w: tensor<3x3x2x3xi8>) -> tensor<1x5x5x3xi32> {
  %z = relay.constant dense<1> : tensor<i32>
  %s = relay.constant dense<0.5> : tensor<f32>
  %0 = relay.nn.space_to_batch_nd %x {block_shape = array<i64: 2, 2>, paddings = array<i64: 2, 3, 2, 3>} : (tensor<1x5x5x2xi8>) -> tensor<4x5x5x2xi8>
  %1 = relay.qnn.conv2d %0, %w, %z, %z, %s, %s {data_layout = "NHWC", kernel_layout = "HWIO", channels = 3 : i64, kernel_size = array<i64: 3, 3>} : (tensor<4x5x5x2xi8>, tensor<3x3x2x3xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<4x3x3x3xi32>
  %2 = relay.nn.batch_to_space_nd %1 {block_shape = array<i64: 2, 2>, crops = array<i64: 0, 1, 0, 1>} : (tensor<4x3x3x3xi32>) -> tensor<1x5x5x3xi32>
  relay.return %2 : tensor<1x5x5x3xi32>
}

// The one convolution would have a window larger than its image.
// CHECK-LABEL: relay.func @what_is_cut_off_altogether_stays
// CHECK: relay.nn.batch_to_space_nd
relay.func @what_is_cut_off_altogether_stays(%x: tensor<1x1x1x1xf32>, %w: tensor<1x3x1x1xf32>) -> tensor<1x2x0x1xf32> {
  %0 = relay.nn.space_to_batch_nd %x {block_shape = array<i64: 2, 2>, paddings = array<i64: 0, 1, 3, 2>} : (tensor<1x1x1x1xf32>) -> tensor<4x1x3x1xf32>
  %1 = relay.nn.conv2d %0, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<4x1x3x1xf32>, tensor<1x3x1x1xf32>) -> tensor<4x1x1x1xf32>
  %2 = relay.nn.batch_to_space_nd %1 {block_shape = array<i64: 2, 2>, crops = array<i64: 0, 0, 1, 1>} : (tensor<4x1x1x1xf32>) -> tensor<1x2x0x1xf32>
  relay.return %2 : tensor<1x2x0x1xf32>
}
