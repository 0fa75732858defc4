// RUN: weft-opt %s -p separate-pools | filecheck %s

// CHECK-LABEL: relay.func @a_large_window_goes_along_one_axis_then_the_other
// CHECK-NEXT: %y = relay.nn.max_pool2d %x {pool_size = array<i64: 5, 1>, padding = array<i64: 2, 0, 2, 0>}
// CHECK-NEXT: relay.nn.max_pool2d %y {pool_size = array<i64: 1, 5>, padding = array<i64: 0, 2, 0, 2>}
// CHECK-NEXT: relay.return
relay.func @a_large_window_goes_along_one_axis_then_the_other(%x: tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32> {
  %y = relay.nn.max_pool2d %x {pool_size = array<i64: 5, 5>, padding = array<i64: 2, 2>} : (tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
  relay.return %y : tensor<1x2x8x8xf32>
}

// The axis with the larger stride leaves fewer windows for the other.
// CHECK-LABEL: relay.func @strides_dilation_layout_and_ceil_mode_stay
// CHECK-NEXT: %y = relay.nn.max_pool2d %x {pool_size = array<i64: 1, 5>, strides = array<i64: 1, 3>, padding = array<i64: 0, 1, 0, 2>, layout = "NHWC", ceil_mode = true}
// CHECK-NEXT:     : (tensor<1x12x16x2xf32>) -> tensor<1x12x6x2xf32>
// CHECK-NEXT: relay.nn.max_pool2d %y {pool_size = array<i64: 6, 1>, dilation = array<i64: 2, 1>, padding = array<i64: 3, 0, 4, 0>, layout = "NHWC",
// CHECK-NEXT:     ceil_mode = true}
// CHECK-NEXT: relay.return
relay.func @strides_dilation_layout_and_ceil_mode_stay(%x: tensor<1x12x16x2xf32>) -> tensor<1x9x6x2xf32> {
  %y = relay.nn.max_pool2d %x {pool_size = array<i64: 6, 5>, strides = array<i64: 1, 3>, dilation = array<i64: 2, 1>, padding = array<i64: 3, 1, 4, 2>, layout = "NHWC", ceil_mode = true} : (tensor<1x12x16x2xf32>) -> tensor<1x9x6x2xf32>
  relay.return %y : tensor<1x9x6x2xf32>
}

// Of three axes one at a time; what is left of the last two is small enough.
// CHECK-LABEL: relay.func @axes_are_taken_off_as_long_as_it_pays
// CHECK-NEXT: relay.nn.max_pool3d %x {pool_size = array<i64: 3, 1, 1>
// CHECK-NEXT: relay.nn.max_pool3d %y {pool_size = array<i64: 1, 3, 3>
// CHECK-NEXT: relay.return
relay.func @axes_are_taken_off_as_long_as_it_pays(%x: tensor<1x1x6x6x6xf32>) -> tensor<1x1x4x4x4xf32> {
  %y = relay.nn.max_pool3d %x {pool_size = array<i64: 3, 3, 3>} : (tensor<1x1x6x6x6xf32>) -> tensor<1x1x4x4x4xf32>
  relay.return %y : tensor<1x1x4x4x4xf32>
}

// CHECK-LABEL: relay.func @small_windows_and_such_that_do_not_overlap_stay
// CHECK: relay.nn.max_pool2d %x {pool_size = array<i64: 3, 3>
// CHECK-NEXT: relay.nn.max_pool2d %x {pool_size = array<i64: 5, 5>, strides = array<i64: 5, 5>}
// CHECK-NEXT: relay.nn.max_pool2d %x {pool_size = array<i64: 1, 9>}
// CHECK-NEXT: relay.nn.avg_pool2d %x {pool_size = array<i64: 9, 9>}
// CHECK-NEXT: relay.return
relay.func @small_windows_and_such_that_do_not_overlap_stay(%x: tensor<1x1x15x15xf32>) -> (tensor<1x1x13x13xf32>, tensor<1x1x3x3xf32>, tensor<1x1x15x7xf32>, tensor<1x1x7x7xf32>) {
  %0 = relay.nn.max_pool2d %x {pool_size = array<i64: 3, 3>} : (tensor<1x1x15x15xf32>) -> tensor<1x1x13x13xf32>
  %1 = relay.nn.max_pool2d %x {pool_size = array<i64: 5, 5>, strides = array<i64: 5, 5>} : (tensor<1x1x15x15xf32>) -> tensor<1x1x3x3xf32>
  %2 = relay.nn.max_pool2d %x {pool_size = array<i64: 1, 9>} : (tensor<1x1x15x15xf32>) -> tensor<1x1x15x7xf32>
  %3 = relay.nn.avg_pool2d %x {pool_size = array<i64: 9, 9>} : (tensor<1x1x15x15xf32>) -> tensor<1x1x7x7xf32>
  relay.return %0, %1, %2, %3 : tensor<1x1x13x13xf32>, tensor<1x1x3x3xf32>, tensor<1x1x15x7xf32>, tensor<1x1x7x7xf32>
}
