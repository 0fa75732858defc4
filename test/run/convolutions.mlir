// RUN: weft-run %s --function '*' --compare interpreter --quiet --threads 2 --rtol 1e-3 --atol 1e-4 | filecheck %s

// Convolutions: strides, padding, dilation, groups, sizes that no tile divides. On the layouts that the compiler
// chooses, and on those given.

// CHECK: @pointwise
// CHECK-NEXT: equal to interpreter
relay.func @pointwise(%x: tensor<1x16x7x7xf32>, %w: tensor<32x16x1x1xf32>) -> tensor<1x32x7x7xf32> {
  %y = relay.nn.conv2d %x, %w : (tensor<1x16x7x7xf32>, tensor<32x16x1x1xf32>) -> tensor<1x32x7x7xf32>
  relay.return %y : tensor<1x32x7x7xf32>
}

// CHECK: @odd_channels
// CHECK-NEXT: equal to interpreter
relay.func @odd_channels(%x: tensor<1x3x13x13xf32>, %w: tensor<5x3x3x3xf32>) -> tensor<1x5x13x13xf32> {
  %y = relay.nn.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>} : (tensor<1x3x13x13xf32>, tensor<5x3x3x3xf32>) -> tensor<1x5x13x13xf32>
  relay.return %y : tensor<1x5x13x13xf32>
}

// CHECK: @many_channels
// CHECK-NEXT: equal to interpreter
relay.func @many_channels(%x: tensor<1x32x9x9xf32>, %w: tensor<48x32x3x3xf32>) -> tensor<1x48x9x9xf32> {
  %y = relay.nn.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>} : (tensor<1x32x9x9xf32>, tensor<48x32x3x3xf32>) -> tensor<1x48x9x9xf32>
  relay.return %y : tensor<1x48x9x9xf32>
}

// CHECK: @batch_of_two
// CHECK-NEXT: equal to interpreter
relay.func @batch_of_two(%x: tensor<2x16x7x7xf32>, %w: tensor<16x16x3x3xf32>) -> tensor<2x16x5x5xf32> {
  %y = relay.nn.conv2d %x, %w : (tensor<2x16x7x7xf32>, tensor<16x16x3x3xf32>) -> tensor<2x16x5x5xf32>
  relay.return %y : tensor<2x16x5x5xf32>
}

// CHECK: @wide
// CHECK-NEXT: equal to interpreter
relay.func @wide(%x: tensor<1x3x9x109xf32>, %w: tensor<16x3x3x3xf32>) -> tensor<1x16x4x54xf32> {
  %y = relay.nn.conv2d %x, %w {strides = array<i64: 2, 2>} : (tensor<1x3x9x109xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x4x54xf32>
  relay.return %y : tensor<1x16x4x54xf32>
}

// CHECK: @stem
// CHECK-NEXT: equal to interpreter
relay.func @stem(%x: tensor<1x3x37x37xf32>, %w: tensor<16x3x7x7xf32>) -> tensor<1x16x19x19xf32> {
  %y = relay.nn.conv2d %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 3, 3, 3, 3>} : (tensor<1x3x37x37xf32>, tensor<16x3x7x7xf32>) -> tensor<1x16x19x19xf32>
  relay.return %y : tensor<1x16x19x19xf32>
}

// CHECK: @uneven_padding
// CHECK-NEXT: equal to interpreter
relay.func @uneven_padding(%x: tensor<1x8x7x7xf32>, %w: tensor<8x8x3x3xf32>) -> tensor<1x8x8x6xf32> {
  %y = relay.nn.conv2d %x, %w {padding = array<i64: 2, 0, 1, 1>} : (tensor<1x8x7x7xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x8x6xf32>
  relay.return %y : tensor<1x8x8x6xf32>
}

// CHECK: @different_strides
// CHECK-NEXT: equal to interpreter
relay.func @different_strides(%x: tensor<1x8x11x13xf32>, %w: tensor<8x8x3x3xf32>) -> tensor<1x8x5x4xf32> {
  %y = relay.nn.conv2d %x, %w {strides = array<i64: 2, 3>} : (tensor<1x8x11x13xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x5x4xf32>
  relay.return %y : tensor<1x8x5x4xf32>
}

// CHECK: @dilated
// CHECK-NEXT: equal to interpreter
relay.func @dilated(%x: tensor<1x8x13x13xf32>, %w: tensor<8x8x3x3xf32>) -> tensor<1x8x9x9xf32> {
  %y = relay.nn.conv2d %x, %w {dilation = array<i64: 2, 2>} : (tensor<1x8x13x13xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x9x9xf32>
  relay.return %y : tensor<1x8x9x9xf32>
}

// CHECK: @dilated_with_padding
// CHECK-NEXT: equal to interpreter
relay.func @dilated_with_padding(%x: tensor<1x16x13x13xf32>, %w: tensor<16x16x3x3xf32>) -> tensor<1x16x13x13xf32> {
  %y = relay.nn.conv2d %x, %w {dilation = array<i64: 2, 2>, padding = array<i64: 2, 2, 2, 2>} : (tensor<1x16x13x13xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x13x13xf32>
  relay.return %y : tensor<1x16x13x13xf32>
}

// CHECK: @rectangular_kernel
// CHECK-NEXT: equal to interpreter
relay.func @rectangular_kernel(%x: tensor<1x8x9x9xf32>, %w: tensor<16x8x1x5xf32>) -> tensor<1x16x9x9xf32> {
  %y = relay.nn.conv2d %x, %w {padding = array<i64: 0, 2, 0, 2>} : (tensor<1x8x9x9xf32>, tensor<16x8x1x5xf32>) -> tensor<1x16x9x9xf32>
  relay.return %y : tensor<1x16x9x9xf32>
}

// CHECK: @groups
// CHECK-NEXT: equal to interpreter
relay.func @groups(%x: tensor<1x16x7x7xf32>, %w: tensor<16x4x3x3xf32>) -> tensor<1x16x7x7xf32> {
  %y = relay.nn.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>, groups = 4 : i64} : (tensor<1x16x7x7xf32>, tensor<16x4x3x3xf32>) -> tensor<1x16x7x7xf32>
  relay.return %y : tensor<1x16x7x7xf32>
}

// CHECK: @groups_of_odd_size
// CHECK-NEXT: equal to interpreter
relay.func @groups_of_odd_size(%x: tensor<1x6x7x7xf32>, %w: tensor<9x2x3x3xf32>) -> tensor<1x9x5x5xf32> {
  %y = relay.nn.conv2d %x, %w {groups = 3 : i64} : (tensor<1x6x7x7xf32>, tensor<9x2x3x3xf32>) -> tensor<1x9x5x5xf32>
  relay.return %y : tensor<1x9x5x5xf32>
}

// CHECK: @depthwise
// CHECK-NEXT: equal to interpreter
relay.func @depthwise(%x: tensor<1x32x13x13xf32>, %w: tensor<32x1x3x3xf32>) -> tensor<1x32x13x13xf32> {
  %y = relay.nn.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>, groups = 32 : i64} : (tensor<1x32x13x13xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x13x13xf32>
  relay.return %y : tensor<1x32x13x13xf32>
}

// CHECK: @depthwise_stride
// CHECK-NEXT: equal to interpreter
relay.func @depthwise_stride(%x: tensor<1x24x13x13xf32>, %w: tensor<24x1x3x3xf32>) -> tensor<1x24x7x7xf32> {
  %y = relay.nn.conv2d %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>, groups = 24 : i64} : (tensor<1x24x13x13xf32>, tensor<24x1x3x3xf32>) -> tensor<1x24x7x7xf32>
  relay.return %y : tensor<1x24x7x7xf32>
}

// CHECK: @depthwise_multiplier
// CHECK-NEXT: equal to interpreter
relay.func @depthwise_multiplier(%x: tensor<1x5x7x7xf32>, %w: tensor<10x1x3x3xf32>) -> tensor<1x10x5x5xf32> {
  %y = relay.nn.conv2d %x, %w {groups = 5 : i64} : (tensor<1x5x7x7xf32>, tensor<10x1x3x3xf32>) -> tensor<1x10x5x5xf32>
  relay.return %y : tensor<1x10x5x5xf32>
}

// CHECK: @one_pixel
// CHECK-NEXT: equal to interpreter
relay.func @one_pixel(%x: tensor<1x16x1x1xf32>, %w: tensor<7x16x1x1xf32>) -> tensor<1x7x1x1xf32> {
  %y = relay.nn.conv2d %x, %w : (tensor<1x16x1x1xf32>, tensor<7x16x1x1xf32>) -> tensor<1x7x1x1xf32>
  relay.return %y : tensor<1x7x1x1xf32>
}

// CHECK: @kernel_as_large_as_the_image
// CHECK-NEXT: equal to interpreter
relay.func @kernel_as_large_as_the_image(%x: tensor<1x8x7x7xf32>, %w: tensor<11x8x7x7xf32>) -> tensor<1x11x1x1xf32> {
  %y = relay.nn.conv2d %x, %w : (tensor<1x8x7x7xf32>, tensor<11x8x7x7xf32>) -> tensor<1x11x1x1xf32>
  relay.return %y : tensor<1x11x1x1xf32>
}

// CHECK: @whole_batch_of_one_channel
// CHECK-NEXT: equal to interpreter
relay.func @whole_batch_of_one_channel(%x: tensor<3x1x5x5xf32>, %w: tensor<1x1x3x3xf32>) -> tensor<3x1x3x3xf32> {
  %y = relay.nn.conv2d %x, %w : (tensor<3x1x5x5xf32>, tensor<1x1x3x3xf32>) -> tensor<3x1x3x3xf32>
  relay.return %y : tensor<3x1x3x3xf32>
}

// CHECK: @double_precision
// CHECK-NEXT: equal to interpreter
relay.func @double_precision(%x: tensor<1x4x6x6xf64>, %w: tensor<4x4x3x3xf64>) -> tensor<1x4x4x4xf64> {
  %y = relay.nn.conv2d %x, %w : (tensor<1x4x6x6xf64>, tensor<4x4x3x3xf64>) -> tensor<1x4x4x4xf64>
  relay.return %y : tensor<1x4x4x4xf64>
}

// CHECK: @one_dimension
// CHECK-NEXT: equal to interpreter
relay.func @one_dimension(%x: tensor<1x6x17xf32>, %w: tensor<8x6x3xf32>) -> tensor<1x8x17xf32> {
  %y = relay.nn.conv1d %x, %w {padding = array<i64: 1>} : (tensor<1x6x17xf32>, tensor<8x6x3xf32>) -> tensor<1x8x17xf32>
  relay.return %y : tensor<1x8x17xf32>
}

// CHECK: @three_dimensions
// CHECK-NEXT: equal to interpreter
relay.func @three_dimensions(%x: tensor<1x4x5x6x7xf32>, %w: tensor<8x4x3x3x3xf32>) -> tensor<1x8x3x4x5xf32> {
  %y = relay.nn.conv3d %x, %w : (tensor<1x4x5x6x7xf32>, tensor<8x4x3x3x3xf32>) -> tensor<1x8x3x4x5xf32>
  relay.return %y : tensor<1x8x3x4x5xf32>
}

// Two volumes, whose planes convolutions in blocks see where they stand.
// CHECK: @volumes
// CHECK-NEXT: equal to interpreter
relay.func @volumes(%x: tensor<2x32x3x4x5xf32>) -> tensor<2x32x3x4x5xf32> {
  %a = relay.constant dense<0.0> : tensor<f32>
  %b = relay.constant dense<6.144> : tensor<f32>
  %s = relay.constant dense<0.001> : tensor<f32>
  %r = relay.arange %a, %b, %s {dtype = "float32"} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<6144xf32>
  %0 = relay.sin %r : tensor<6144xf32>
  %w = relay.reshape %0 {newshape = array<i64: 32, 32, 3, 1, 2>} : (tensor<6144xf32>) -> tensor<32x32x3x1x2xf32>
  %1 = relay.nn.conv3d %x, %w {padding = array<i64: 1, 0, 1, 1, 0, 0>} : (tensor<2x32x3x4x5xf32>, tensor<32x32x3x1x2xf32>) -> tensor<2x32x3x4x5xf32>
  %y = relay.nn.relu %1 : tensor<2x32x3x4x5xf32>
  relay.return %y : tensor<2x32x3x4x5xf32>
}

// CHECK: @transposed
// CHECK-NEXT: equal to interpreter
relay.func @transposed(%x: tensor<1x8x5x5xf32>, %w: tensor<8x4x3x3xf32>) -> tensor<1x4x9x9xf32> {
  %y = relay.nn.conv2d_transpose %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} : (tensor<1x8x5x5xf32>, tensor<8x4x3x3xf32>) -> tensor<1x4x9x9xf32>
  relay.return %y : tensor<1x4x9x9xf32>
}

// CHECK: @bias_relu_sum
// CHECK-NEXT: equal to interpreter
relay.func @bias_relu_sum(%x: tensor<1x16x9x9xf32>, %w: tensor<16x16x3x3xf32>, %b: tensor<16xf32>) -> tensor<1x16x9x9xf32> {
  %0 = relay.nn.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>} : (tensor<1x16x9x9xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x9x9xf32>
  %1 = relay.nn.bias_add %0, %b : (tensor<1x16x9x9xf32>, tensor<16xf32>) -> tensor<1x16x9x9xf32>
  %2 = relay.nn.relu %1 : tensor<1x16x9x9xf32>
  %y = relay.add %2, %x : (tensor<1x16x9x9xf32>, tensor<1x16x9x9xf32>) -> tensor<1x16x9x9xf32>
  relay.return %y : tensor<1x16x9x9xf32>
}
