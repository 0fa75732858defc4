// RUN: weft-run %s --function '*' --compare interpreter --quiet | filecheck %s

// Pools: overlapping windows, padding on one side, rounding up, one to three dimensions.

// CHECK: @max_2x2
// CHECK-NEXT: equal to interpreter
relay.func @max_2x2(%x: tensor<1x5x8x8xf32>) -> tensor<1x5x4x4xf32> {
  %y = relay.nn.max_pool2d %x {pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x5x8x8xf32>) -> tensor<1x5x4x4xf32>
  relay.return %y : tensor<1x5x4x4xf32>
}

// CHECK: @max_overlapping
// CHECK-NEXT: equal to interpreter
relay.func @max_overlapping(%x: tensor<1x16x13x13xf32>) -> tensor<1x16x6x6xf32> {
  %y = relay.nn.max_pool2d %x {pool_size = array<i64: 3, 3>, strides = array<i64: 2, 2>} : (tensor<1x16x13x13xf32>) -> tensor<1x16x6x6xf32>
  relay.return %y : tensor<1x16x6x6xf32>
}

// CHECK: @max_padded
// CHECK-NEXT: equal to interpreter
relay.func @max_padded(%x: tensor<1x16x7x7xf32>) -> tensor<1x16x7x7xf32> {
  %y = relay.nn.max_pool2d %x {pool_size = array<i64: 3, 3>, padding = array<i64: 1, 1, 1, 1>} : (tensor<1x16x7x7xf32>) -> tensor<1x16x7x7xf32>
  relay.return %y : tensor<1x16x7x7xf32>
}

// CHECK: @max_uneven_padding
// CHECK-NEXT: equal to interpreter
relay.func @max_uneven_padding(%x: tensor<1x3x7x7xf32>) -> tensor<1x3x5x3xf32> {
  %y = relay.nn.max_pool2d %x {pool_size = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = array<i64: 2, 0, 2, 1>} : (tensor<1x3x7x7xf32>) -> tensor<1x3x5x3xf32>
  relay.return %y : tensor<1x3x5x3xf32>
}

// CHECK: @max_ceil
// CHECK-NEXT: equal to interpreter
relay.func @max_ceil(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32> {
  %y = relay.nn.max_pool2d %x {pool_size = array<i64: 3, 3>, strides = array<i64: 2, 2>, ceil_mode = true} : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>
  relay.return %y : tensor<1x4x4x4xf32>
}

// CHECK: @max_1d
// CHECK-NEXT: equal to interpreter
relay.func @max_1d(%x: tensor<2x3x11xf32>) -> tensor<2x3x5xf32> {
  %y = relay.nn.max_pool1d %x {pool_size = array<i64: 3>, strides = array<i64: 2>} : (tensor<2x3x11xf32>) -> tensor<2x3x5xf32>
  relay.return %y : tensor<2x3x5xf32>
}

// CHECK: @max_3d
// CHECK-NEXT: equal to interpreter
relay.func @max_3d(%x: tensor<1x2x5x5x5xf32>) -> tensor<1x2x2x2x2xf32> {
  %y = relay.nn.max_pool3d %x {pool_size = array<i64: 2, 2, 2>, strides = array<i64: 2, 2, 2>} : (tensor<1x2x5x5x5xf32>) -> tensor<1x2x2x2x2xf32>
  relay.return %y : tensor<1x2x2x2x2xf32>
}

// CHECK: @global_max
// CHECK-NEXT: equal to interpreter
relay.func @global_max(%x: tensor<1x19x7x7xf32>) -> tensor<1x19x1x1xf32> {
  %y = relay.nn.global_max_pool2d %x : (tensor<1x19x7x7xf32>) -> tensor<1x19x1x1xf32>
  relay.return %y : tensor<1x19x1x1xf32>
}

// CHECK: @avg_2x2
// CHECK-NEXT: equal to interpreter
relay.func @avg_2x2(%x: tensor<1x5x8x8xf32>) -> tensor<1x5x4x4xf32> {
  %y = relay.nn.avg_pool2d %x {pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x5x8x8xf32>) -> tensor<1x5x4x4xf32>
  relay.return %y : tensor<1x5x4x4xf32>
}

// CHECK: @avg_overlapping
// CHECK-NEXT: equal to interpreter
relay.func @avg_overlapping(%x: tensor<1x16x13x13xf32>) -> tensor<1x16x6x6xf32> {
  %y = relay.nn.avg_pool2d %x {pool_size = array<i64: 3, 3>, strides = array<i64: 2, 2>} : (tensor<1x16x13x13xf32>) -> tensor<1x16x6x6xf32>
  relay.return %y : tensor<1x16x6x6xf32>
}

// CHECK: @avg_padded
// CHECK-NEXT: equal to interpreter
relay.func @avg_padded(%x: tensor<1x16x7x7xf32>) -> tensor<1x16x7x7xf32> {
  %y = relay.nn.avg_pool2d %x {pool_size = array<i64: 3, 3>, padding = array<i64: 1, 1, 1, 1>} : (tensor<1x16x7x7xf32>) -> tensor<1x16x7x7xf32>
  relay.return %y : tensor<1x16x7x7xf32>
}

// CHECK: @avg_uneven_padding
// CHECK-NEXT: equal to interpreter
relay.func @avg_uneven_padding(%x: tensor<1x3x7x7xf32>) -> tensor<1x3x5x3xf32> {
  %y = relay.nn.avg_pool2d %x {pool_size = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = array<i64: 2, 0, 2, 1>} : (tensor<1x3x7x7xf32>) -> tensor<1x3x5x3xf32>
  relay.return %y : tensor<1x3x5x3xf32>
}

// CHECK: @avg_ceil
// CHECK-NEXT: equal to interpreter
relay.func @avg_ceil(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32> {
  %y = relay.nn.avg_pool2d %x {pool_size = array<i64: 3, 3>, strides = array<i64: 2, 2>, ceil_mode = true} : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>
  relay.return %y : tensor<1x4x4x4xf32>
}

// CHECK: @avg_1d
// CHECK-NEXT: equal to interpreter
relay.func @avg_1d(%x: tensor<2x3x11xf32>) -> tensor<2x3x5xf32> {
  %y = relay.nn.avg_pool1d %x {pool_size = array<i64: 3>, strides = array<i64: 2>} : (tensor<2x3x11xf32>) -> tensor<2x3x5xf32>
  relay.return %y : tensor<2x3x5xf32>
}

// CHECK: @avg_3d
// CHECK-NEXT: equal to interpreter
relay.func @avg_3d(%x: tensor<1x2x5x5x5xf32>) -> tensor<1x2x2x2x2xf32> {
  %y = relay.nn.avg_pool3d %x {pool_size = array<i64: 2, 2, 2>, strides = array<i64: 2, 2, 2>} : (tensor<1x2x5x5x5xf32>) -> tensor<1x2x2x2x2xf32>
  relay.return %y : tensor<1x2x2x2x2xf32>
}

// CHECK: @global_avg
// CHECK-NEXT: equal to interpreter
relay.func @global_avg(%x: tensor<1x19x7x7xf32>) -> tensor<1x19x1x1xf32> {
  %y = relay.nn.global_avg_pool2d %x : (tensor<1x19x7x7xf32>) -> tensor<1x19x1x1xf32>
  relay.return %y : tensor<1x19x1x1xf32>
}

// CHECK: @avg_with_padding_counted
// CHECK-NEXT: equal to interpreter
relay.func @avg_with_padding_counted(%x: tensor<1x4x7x7xf32>) -> tensor<1x4x7x7xf32> {
  %y = relay.nn.avg_pool2d %x {pool_size = array<i64: 3, 3>, padding = array<i64: 1, 1, 1, 1>, count_include_pad = true} : (tensor<1x4x7x7xf32>) -> tensor<1x4x7x7xf32>
  relay.return %y : tensor<1x4x7x7xf32>
}

// CHECK: @adaptive
// CHECK-NEXT: equal to interpreter
relay.func @adaptive(%x: tensor<1x3x7x5xf32>) -> tensor<1x3x2x3xf32> {
  %y = relay.nn.adaptive_avg_pool2d %x {output_size = array<i64: 2, 3>} : (tensor<1x3x7x5xf32>) -> tensor<1x3x2x3xf32>
  relay.return %y : tensor<1x3x2x3xf32>
}
