// RUN: weft-opt %s -p interleave-transposed-conv | filecheck %s
// RUN: weft-opt %s -p interleave-transposed-conv --remarks=interleave 2>&1 | filecheck %s --check-prefix=WHY

// Four taps at stride two are two taps for each of the four phases.
// CHECK-LABEL: relay.func @phases_become_channels
// CHECK-NEXT: relay.reshape %w {newshape = array<i64: 2, 3, 2, 2, 2, 2>}
// CHECK-NEXT: relay.transpose %{{.*}} {axes = array<i64: 3, 5, 1, 0, 2, 4>}
// CHECK-NEXT: relay.reshape %{{.*}} {newshape = array<i64: 12, 2, 2, 2>}
// CHECK-NEXT: relay.reverse %{{.*}} {axis = 2 : i64}
// CHECK-NEXT: relay.reverse %{{.*}} {axis = 3 : i64}
// CHECK-NEXT: relay.nn.conv2d %x, %{{.*}} {padding = array<i64: 1, 1, 1, 1>} {{.*}} -> tensor<2x12x6x4xf32>
// CHECK-NEXT: relay.nn.depth_to_space %{{.*}} {block_size = 2 : i64}
// CHECK-NEXT: relay.strided_slice %{{.*}} {begin = array<i64: 1, 1>, end = array<i64: 11, 7>, axes = array<i64: 2, 3>}
// CHECK-NEXT: relay.return
relay.func @phases_become_channels(%x: tensor<2x2x5x3xf32>, %w: tensor<2x3x4x4xf32>) -> tensor<2x3x10x6xf32> {
  %0 = relay.nn.conv2d_transpose %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} : (tensor<2x2x5x3xf32>, tensor<2x3x4x4xf32>) -> tensor<2x3x10x6xf32>
  relay.return %0 : tensor<2x3x10x6xf32>
}

// CHECK-LABEL: relay.func @one_tap_for_each_phase
// CHECK-NOT: relay.reverse
// CHECK: relay.nn.conv2d {{.*}} -> tensor<1x8x2x3xf32>
// CHECK-NEXT: relay.nn.depth_to_space
// CHECK-NEXT: relay.return
relay.func @one_tap_for_each_phase(%x: tensor<1x3x2x3xf32>, %w: tensor<3x2x2x2xf32>) -> tensor<1x2x4x6xf32> {
  %0 = relay.nn.conv2d_transpose %x, %w {strides = array<i64: 2, 2>} : (tensor<1x3x2x3xf32>, tensor<3x2x2x2xf32>) -> tensor<1x2x4x6xf32>
  relay.return %0 : tensor<1x2x4x6xf32>
}

// Three taps at stride two: the fourth is zero.
// CHECK-LABEL: relay.func @missing_taps_are_zeros
// CHECK: relay.nn.pad %w, %{{.*}} {pad_width = array<i64: 0, 0, 0, 0, 0, 1, 0, 1>}
// CHECK: relay.nn.conv2d %x, %{{.*}} {padding = array<i64: 1, 1, 1, 1>}
// CHECK: relay.strided_slice %{{.*}} {begin = array<i64: 1, 1>, end = array<i64: 9, 7>
relay.func @missing_taps_are_zeros(%x: tensor<1x2x4x3xf32>, %w: tensor<2x1x3x3xf32>) -> tensor<1x1x8x6xf32> {
  %0 = relay.nn.conv2d_transpose %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>, output_padding = array<i64: 1, 1>} : (tensor<1x2x4x3xf32>, tensor<2x1x3x3xf32>) -> tensor<1x1x8x6xf32>
  relay.return %0 : tensor<1x1x8x6xf32>
}

// Of four phases of 2x2 taps seven taps were zeros: each phase has its own where channels fill vectors.
// CHECK-LABEL: relay.func @phases_with_their_own_taps
// CHECK-NEXT: relay.strided_slice %w {begin = array<i64: 1, 1>, end = array<i64: 2, 2>, strides = array<i64: 2, 2>, axes = array<i64: 2, 3>}
// CHECK-NEXT:     : (tensor<2x16x3x3xf32>) -> tensor<2x16x1x1xf32>
// CHECK-NEXT: relay.transpose
// CHECK-NEXT: relay.nn.conv2d %x, %{{.*}} : (tensor<1x2x4x3xf32>, tensor<16x2x1x1xf32>) -> tensor<1x16x4x3xf32>
// CHECK-NEXT: relay.strided_slice %w {begin = array<i64: 1, 0>, end = array<i64: 2, 3>,
// CHECK-NEXT:     : (tensor<2x16x3x3xf32>) -> tensor<2x16x1x2xf32>
// CHECK-NEXT: relay.transpose
// CHECK-NEXT: relay.reverse %{{.*}} {axis = 3 : i64}
// CHECK-NEXT: relay.nn.conv2d %x, %{{.*}} {padding = array<i64: 0, 0, 0, 1>} : (tensor<1x2x4x3xf32>, tensor<16x2x1x2xf32>)
// CHECK-NEXT: relay.strided_slice %w {begin = array<i64: 0, 1>, end = array<i64: 3, 2>,
// CHECK: relay.nn.conv2d %x, %{{.*}} {padding = array<i64: 0, 0, 1, 0>}
// CHECK: relay.nn.conv2d %x, %{{.*}} {padding = array<i64: 0, 0, 1, 1>}
// CHECK: relay.concatenate
// CHECK-NEXT:     : (tuple<tensor<1x16x4x3xf32>, tensor<1x16x4x3xf32>, tensor<1x16x4x3xf32>, tensor<1x16x4x3xf32>>) -> tensor<1x64x4x3xf32>
// CHECK-NEXT: relay.nn.depth_to_space
// CHECK-NEXT: relay.return
relay.func @phases_with_their_own_taps(%x: tensor<1x2x4x3xf32>, %w: tensor<2x16x3x3xf32>) -> tensor<1x16x8x6xf32> {
  %0 = relay.nn.conv2d_transpose %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>, output_padding = array<i64: 1, 1>} : (tensor<1x2x4x3xf32>, tensor<2x16x3x3xf32>) -> tensor<1x16x8x6xf32>
  relay.return %0 : tensor<1x16x8x6xf32>
}

// Few places: an eighth of each axis was cut off. What a result of odd extents has not is cut off still.
// CHECK-LABEL: relay.func @phases_without_what_is_cut_off
// CHECK-COUNT-4: relay.nn.conv2d %x, {{.*}} -> tensor<1x16x4x4xf32>
// CHECK: relay.nn.depth_to_space
// CHECK-NEXT: relay.return
relay.func @phases_without_what_is_cut_off(%x: tensor<1x2x4x4xf32>, %w: tensor<2x16x4x4xf32>) -> tensor<1x16x8x8xf32> {
  %0 = relay.nn.conv2d_transpose %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} : (tensor<1x2x4x4xf32>, tensor<2x16x4x4xf32>) -> tensor<1x16x8x8xf32>
  relay.return %0 : tensor<1x16x8x8xf32>
}

// CHECK-LABEL: relay.func @a_result_of_odd_extents
// CHECK-COUNT-4: relay.nn.conv2d %x, {{.*}} -> tensor<1x16x4x4xf32>
// CHECK: relay.strided_slice %{{.*}} {begin = array<i64: 0, 0>, end = array<i64: 7, 7>
relay.func @a_result_of_odd_extents(%x: tensor<1x2x4x4xf32>, %w: tensor<2x16x3x3xf32>) -> tensor<1x16x7x7xf32> {
  %0 = relay.nn.conv2d_transpose %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} : (tensor<1x2x4x4xf32>, tensor<2x16x3x3xf32>) -> tensor<1x16x7x7xf32>
  relay.return %0 : tensor<1x16x7x7xf32>
}

// Together: phases without a tap, phases that do not see all data, few taps that are zeros.
// CHECK-LABEL: relay.func @together
// CHECK-COUNT-3: relay.nn.conv2d %
// CHECK-NOT: relay.nn.conv2d %
// CHECK: relay.return
relay.func @together(%x: tensor<1x2x4x4xf32>, %w: tensor<2x16x2x2xf32>, %v: tensor<2x16x3x3xf32>, %u: tensor<2x16x4x4xf32>, %y: tensor<1x2x40x40xf32>) -> (tensor<1x16x11x11xf32>, tensor<1x16x5x5xf32>, tensor<1x16x80x80xf32>) {
  %0 = relay.nn.conv2d_transpose %x, %w {strides = array<i64: 3, 3>} : (tensor<1x2x4x4xf32>, tensor<2x16x2x2xf32>) -> tensor<1x16x11x11xf32>
  %1 = relay.nn.conv2d_transpose %x, %v {strides = array<i64: 2, 2>, padding = array<i64: 2, 2>} : (tensor<1x2x4x4xf32>, tensor<2x16x3x3xf32>) -> tensor<1x16x5x5xf32>
  %2 = relay.nn.conv2d_transpose %y, %u {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} : (tensor<1x2x40x40xf32>, tensor<2x16x4x4xf32>) -> tensor<1x16x80x80xf32>
  relay.return %0, %1, %2 : tensor<1x16x11x11xf32>, tensor<1x16x5x5xf32>, tensor<1x16x80x80xf32>
}

// Without a stride it is a convolution whose kernel is turned round.
// CHECK-LABEL: relay.func @stride_one
// CHECK: relay.nn.conv2d %x, %{{.*}} {padding = array<i64: 1, 0, 2, 1>}
// CHECK-NOT: relay.nn.depth_to_space
// CHECK: relay.return
relay.func @stride_one(%x: tensor<1x2x4x3xf32>, %w: tensor<2x2x3x2xf32>) -> tensor<1x2x5x3xf32> {
  %0 = relay.nn.conv2d_transpose %x, %w {padding = array<i64: 1, 1, 0, 0>} : (tensor<1x2x4x3xf32>, tensor<2x2x3x2xf32>) -> tensor<1x2x5x3xf32>
  relay.return %0 : tensor<1x2x5x3xf32>
}

// CHECK-LABEL: relay.func @more_is_cut_off_after_than_a_place
// CHECK: relay.nn.conv2d
// CHECK: relay.strided_slice %{{.*}} {begin = array<i64: 2, 0>, end = array<i64: 4, 3>
relay.func @more_is_cut_off_after_than_a_place(%x: tensor<1x1x3x3xf32>, %w: tensor<1x1x5x4xf32>) -> tensor<1x1x2x3xf32> {
  %0 = relay.nn.conv2d_transpose %x, %w {strides = array<i64: 3, 3>, padding = array<i64: 2, 3, 7, 4>} : (tensor<1x1x3x3xf32>, tensor<1x1x5x4xf32>) -> tensor<1x1x2x3xf32>
  relay.return %0 : tensor<1x1x2x3xf32>
}

// CHECK-LABEL: relay.func @a_single_pixel_is_a_matrix_product
// CHECK: relay.nn.conv2d %x, %{{.*}} {padding = array<i64: 0, 0, 0, 0>} {{.*}} -> tensor<2x32x1x1xf32>
// CHECK: relay.nn.depth_to_space %{{.*}} {block_size = 4 : i64}
relay.func @a_single_pixel_is_a_matrix_product(%x: tensor<2x3x1x1xf32>, %w: tensor<3x2x4x3xf32>) -> tensor<2x2x4x3xf32> {
  %0 = relay.nn.conv2d_transpose %x, %w {strides = array<i64: 2, 1>} : (tensor<2x3x1x1xf32>, tensor<3x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  relay.return %0 : tensor<2x2x4x3xf32>
}

// Along one or three axes, and where strides differ, a transposition interleaves the phases.
// CHECK-LABEL: relay.func @one_axis
// CHECK-NEXT: relay.reshape %w {newshape = array<i64: 2, 3, 2, 2>}
// CHECK-NEXT: relay.transpose %{{.*}} {axes = array<i64: 3, 1, 0, 2>}
// CHECK-NEXT: relay.reshape %{{.*}} {newshape = array<i64: 6, 2, 2>}
// CHECK-NEXT: relay.reverse %{{.*}} {axis = 2 : i64}
// CHECK-NEXT: relay.nn.conv1d %x, %{{.*}} {padding = array<i64: 1, 1>} {{.*}} -> tensor<1x6x6xf32>
// CHECK-NEXT: relay.reshape %{{.*}} {newshape = array<i64: 1, 2, 3, 6>}
// CHECK-NEXT: relay.transpose %{{.*}} {axes = array<i64: 0, 2, 3, 1>}
// CHECK-NEXT: relay.reshape %{{.*}} {newshape = array<i64: 1, 3, 12>}
// CHECK-NEXT: relay.strided_slice %{{.*}} {begin = array<i64: 1>, end = array<i64: 11>, axes = array<i64: 2>}
relay.func @one_axis(%x: tensor<1x2x5xf32>, %w: tensor<2x3x4xf32>) -> tensor<1x3x10xf32> {
  %0 = relay.nn.conv1d_transpose %x, %w {strides = array<i64: 2>, padding = array<i64: 1>} : (tensor<1x2x5xf32>, tensor<2x3x4xf32>) -> tensor<1x3x10xf32>
  relay.return %0 : tensor<1x3x10xf32>
}

// CHECK-LABEL: relay.func @strides_differ
// CHECK: relay.nn.conv2d %x, {{.*}} -> tensor<1x4x3x4xf32>
// CHECK-NEXT: relay.reshape %{{.*}} {newshape = array<i64: 1, 2, 1, 2, 3, 4>}
// CHECK-NEXT: relay.transpose %{{.*}} {axes = array<i64: 0, 3, 4, 1, 5, 2>}
// CHECK-NEXT: relay.reshape %{{.*}} {newshape = array<i64: 1, 2, 6, 4>}
// CHECK-NEXT: relay.return
relay.func @strides_differ(%x: tensor<1x2x3x3xf32>, %w: tensor<2x2x2x2xf32>) -> tensor<1x2x6x4xf32> {
  %0 = relay.nn.conv2d_transpose %x, %w {strides = array<i64: 2, 1>} : (tensor<1x2x3x3xf32>, tensor<2x2x2x2xf32>) -> tensor<1x2x6x4xf32>
  relay.return %0 : tensor<1x2x6x4xf32>
}

// CHECK-LABEL: relay.func @three_axes
// CHECK: relay.nn.conv3d %x, {{.*}} -> tensor<1x24x2x2x2xf32>
// CHECK-NEXT: relay.reshape %{{.*}} {newshape = array<i64: 1, 2, 2, 2, 3, 2, 2, 2>}
// CHECK-NEXT: relay.transpose %{{.*}} {axes = array<i64: 0, 4, 5, 1, 6, 2, 7, 3>}
// CHECK-NEXT: relay.reshape %{{.*}} {newshape = array<i64: 1, 3, 4, 4, 4>}
// CHECK-NEXT: relay.return
relay.func @three_axes(%x: tensor<1x2x2x2x2xf32>, %w: tensor<2x3x2x2x2xf32>) -> tensor<1x3x4x4x4xf32> {
  %0 = relay.nn.conv3d_transpose %x, %w {strides = array<i64: 2, 2, 2>} : (tensor<1x2x2x2x2xf32>, tensor<2x3x2x2x2xf32>) -> tensor<1x3x4x4x4xf32>
  relay.return %0 : tensor<1x3x4x4x4xf32>
}

// CHECK-LABEL: relay.func @what_stays
// CHECK-COUNT-4: relay.nn.conv2d_transpose
// CHECK-NEXT: relay.return
// WHY: it has 2 groups
// WHY: its taps lie apart
// WHY: it is padded by more than its kernel
// WHY: its elements are i8, not floats, and its sums not of int32
relay.func @what_stays(%x: tensor<1x2x3x3xf32>, %w: tensor<2x2x2x2xf32>, %i: tensor<1x2x3x3xi8>, %wi: tensor<2x2x2x2xi8>) -> (tensor<1x4x4x4xf32>, tensor<1x2x5x5xf32>, tensor<1x2x2x2xf32>, tensor<1x2x4x4xi8>) {
  %0 = relay.nn.conv2d_transpose %x, %w {groups = 2 : i64} : (tensor<1x2x3x3xf32>, tensor<2x2x2x2xf32>) -> tensor<1x4x4x4xf32>
  %1 = relay.nn.conv2d_transpose %x, %w {dilation = array<i64: 2, 2>} : (tensor<1x2x3x3xf32>, tensor<2x2x2x2xf32>) -> tensor<1x2x5x5xf32>
  %3 = relay.nn.conv2d_transpose %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 2, 2>} : (tensor<1x2x3x3xf32>, tensor<2x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %4 = relay.nn.conv2d_transpose %i, %wi : (tensor<1x2x3x3xi8>, tensor<2x2x2x2xi8>) -> tensor<1x2x4x4xi8>
  relay.return %0, %1, %3, %4 : tensor<1x4x4x4xf32>, tensor<1x2x5x5xf32>, tensor<1x2x2x2xf32>, tensor<1x2x4x4xi8>
}

// Bytes whose products are summed in 32 bits; and not taken for such that wrap around in 8.
// CHECK-LABEL: relay.func @bytes
// CHECK: relay.nn.conv2d %x, %{{.*}} {{.*}}out_dtype = "int32"
// CHECK: relay.nn.depth_to_space
relay.func @bytes(%x: tensor<1x2x3x3xui8>, %w: tensor<2x2x2x2xi8>) -> tensor<1x2x6x6xi32> {
  %0 = relay.nn.conv2d_transpose %x, %w {strides = array<i64: 2, 2>, out_dtype = "int32"} : (tensor<1x2x3x3xui8>, tensor<2x2x2x2xi8>) -> tensor<1x2x6x6xi32>
  relay.return %0 : tensor<1x2x6x6xi32>
}
