// RUN: weft-opt %s -p 'conv-to-conv2d{vector-bytes=64}' | filecheck %s
// RUN: weft-opt %s -p 'conv-to-conv2d{vector-bytes=64}' --remarks=conv-to 2>&1 | filecheck %s --check-prefix=WHY
// RUN: weft-opt %s -O3 -p 'conv-to-conv2d{vector-bytes=64},fold-constant,alter-op-layout{vector-bytes=64}' | filecheck %s --check-prefix=BLOCKS

// CHECK-LABEL: relay.func @one_axis_is_one_row
// CHECK: relay.reshape %x {newshape = array<i64: 2, 64, 1, 9>}
// CHECK-NEXT: relay.reshape %w {newshape = array<i64: 16, 64, 1, 3>}
// CHECK-NEXT: relay.nn.conv2d {{.*}}strides = array<i64: 1, 2>, padding = array<i64: 0, 3, 0, 2>, dilation = array<i64: 1, 2>
// CHECK-NEXT:     : (tensor<2x64x1x9xf32>, tensor<16x64x1x3xf32>) -> tensor<2x16x1x5xf32>
// CHECK-NEXT: relay.reshape {{.*}}{newshape = array<i64: 2, 16, 5>}
relay.func @one_axis_is_one_row(%x: tensor<2x64x9xf32>) -> tensor<2x16x5xf32> {
  %w = relay.constant dense<0.5> : tensor<16x64x3xf32>
  %0 = relay.nn.conv1d %x, %w {strides = array<i64: 2>, padding = array<i64: 3, 2>, dilation = array<i64: 2>} : (tensor<2x64x9xf32>, tensor<16x64x3xf32>) -> tensor<2x16x5xf32>
  relay.return %0 : tensor<2x16x5xf32>
}

// CHECK-LABEL: relay.func @a_chain_is_computed_along_two_axes
// CHECK: relay.nn.conv2d
// CHECK-NEXT: relay.reshape %b {newshape = array<i64: 1, 64, 1, 1>
// CHECK-NEXT: relay.add {{.*}} -> tensor<2x64x1x5xf32>
// CHECK-NEXT: relay.nn.relu {{.*}} : tensor<2x64x1x5xf32>
// CHECK-NOT: tensor<2x64x5xf32>
// CHECK: relay.nn.conv2d
relay.func @a_chain_is_computed_along_two_axes(%x: tensor<2x32x5xf32>, %b: tensor<64x1xf32>) -> tensor<2x64x5xf32> {
  %w = relay.constant dense<0.5> : tensor<64x32x3xf32>
  %v = relay.constant dense<0.5> : tensor<64x64x1xf32>
  %0 = relay.nn.conv1d %x, %w {padding = array<i64: 1>} : (tensor<2x32x5xf32>, tensor<64x32x3xf32>) -> tensor<2x64x5xf32>
  %1 = relay.add %0, %b : (tensor<2x64x5xf32>, tensor<64x1xf32>) -> tensor<2x64x5xf32>
  %2 = relay.nn.relu %1 : tensor<2x64x5xf32>
  %3 = relay.nn.conv1d %2, %v : (tensor<2x64x5xf32>, tensor<64x64x1xf32>) -> tensor<2x64x5xf32>
  relay.return %3 : tensor<2x64x5xf32>
}

// CHECK-LABEL: relay.func @a_chain_of_any_length_is_computed_along_two_axes
// CHECK: relay.reshape %x {newshape = array<i64: 0, 0, -4, 1, -1>}
// CHECK: relay.nn.conv2d
// CHECK-NEXT: relay.reshape %b {newshape = array<i64: 1, 64, 1, 1>
// CHECK-NEXT: relay.add {{.*}} -> tensor<?x64x1x?xf32>
// CHECK-NEXT: relay.nn.relu {{.*}} : tensor<?x64x1x?xf32>
// CHECK: relay.nn.conv2d
// CHECK-NEXT: relay.reshape %r {newshape = array<i64: 0, 0, -4, 1, -1>}
// CHECK-NEXT: relay.add {{.*}} -> tensor<?x64x1x?xf32>
// CHECK-NEXT: relay.reshape {{.*}} {newshape = array<i64: 0, 0, -3>}
// CHECK-NEXT: relay.return
relay.func @a_chain_of_any_length_is_computed_along_two_axes(%x: tensor<?x32x?xf32>, %b: tensor<64x1xf32>, %r: tensor<?x64x?xf32>) -> tensor<?x64x?xf32> {
  %w = relay.constant dense<0.5> : tensor<64x32x3xf32>
  %v = relay.constant dense<0.5> : tensor<64x64x1xf32>
  %0 = relay.nn.conv1d %x, %w {padding = array<i64: 1>} : (tensor<?x32x?xf32>, tensor<64x32x3xf32>) -> tensor<?x64x?xf32>
  %1 = relay.add %0, %b : (tensor<?x64x?xf32>, tensor<64x1xf32>) -> tensor<?x64x?xf32>
  %2 = relay.nn.relu %1 : tensor<?x64x?xf32>
  %3 = relay.nn.conv1d %2, %v : (tensor<?x64x?xf32>, tensor<64x64x1xf32>) -> tensor<?x64x?xf32>
  %4 = relay.add %3, %r : (tensor<?x64x?xf32>, tensor<?x64x?xf32>) -> tensor<?x64x?xf32>
  relay.return %4 : tensor<?x64x?xf32>
}

// Pools between convolutions are of one row too.
// CHECK-LABEL: relay.func @pools_are_of_one_row
// CHECK: relay.nn.conv2d
// CHECK: relay.nn.max_pool2d {{.*}}{pool_size = array<i64: 1, 3>, strides = array<i64: 1, 2>, padding = array<i64: 0, 1, 0, 0>, ceil_mode = true}
// CHECK-NEXT:     : (tensor<2x64x1x9xf32>) -> tensor<2x64x1x5xf32>
// CHECK-NEXT: relay.nn.avg_pool2d {{.*}}{pool_size = array<i64: 1, 2>{{.*}}, count_include_pad = true}
// CHECK-NEXT:     : (tensor<2x64x1x5xf32>)
// CHECK-NEXT: relay.reshape {{.*}}{newshape = array<i64: 2, 64, 4>}
relay.func @pools_are_of_one_row(%x: tensor<2x32x9xf32>) -> tensor<2x64x4xf32> {
  %w = relay.constant dense<0.5> : tensor<64x32x3xf32>
  %0 = relay.nn.conv1d %x, %w {padding = array<i64: 1>} : (tensor<2x32x9xf32>, tensor<64x32x3xf32>) -> tensor<2x64x9xf32>
  %1 = relay.nn.max_pool1d %0 {pool_size = array<i64: 3>, strides = array<i64: 2>, padding = array<i64: 1, 0>, ceil_mode = true} : (tensor<2x64x9xf32>) -> tensor<2x64x5xf32>
  %2 = relay.nn.avg_pool1d %1 {pool_size = array<i64: 2>, count_include_pad = true} : (tensor<2x64x5xf32>) -> tensor<2x64x4xf32>
  relay.return %2 : tensor<2x64x4xf32>
}

// CHECK-LABEL: relay.func @each_channel_by_itself
// CHECK: relay.nn.conv2d {{.*}}groups = 16 : i64
relay.func @each_channel_by_itself(%x: tensor<1x16x5xf32>) -> tensor<1x16x3xf32> {
  %w = relay.constant dense<0.5> : tensor<16x1x3xf32>
  %0 = relay.nn.conv1d %x, %w {groups = 16 : i64} : (tensor<1x16x5xf32>, tensor<16x1x3xf32>) -> tensor<1x16x3xf32>
  relay.return %0 : tensor<1x16x3xf32>
}

// Each of two planes of the result sees planes 0 and 3, or 2 and 5, of what is padded.
// CHECK-LABEL: relay.func @planes_are_channels
// BLOCKS-LABEL: relay.func @planes_are_channels
// BLOCKS-NOT: contrib_see_planes
// BLOCKS: relay.nn.contrib_conv2d_NCHWc {{.*}}
// BLOCKS-NEXT:       {{.*}}planes = array<i64: 3, 2, 2, 3, 2, 1>
// BLOCKS-LABEL: relay.func @one_plane_is_as_it_stands
// CHECK: relay.transpose %x {axes = array<i64: 0, 2, 1, 3, 4>}
// CHECK-NEXT: relay.reshape {{.*}}{newshape = array<i64: 6, 10, 4, 5>}
// CHECK-NEXT: relay.nn.contrib_see_planes {{.*}}{planes = array<i64: 3, 2, 2, 3, 2, 1>} : (tensor<6x10x4x5xf32>) -> tensor<4x20x4x5xf32>
// CHECK-NEXT: relay.transpose %w {axes = array<i64: 0, 2, 1, 3, 4>}
// CHECK-NEXT: relay.reshape {{.*}}{newshape = array<i64: 16, 20, 3, 3>}
// CHECK-NEXT: relay.nn.conv2d {{.*}}strides = array<i64: 1, 2>, padding = array<i64: 1, 0, 0, 1>{{.*}}
// CHECK-NEXT:     {{.*}} -> tensor<4x16x3x2xf32>
// CHECK-NEXT: relay.reshape {{.*}}{newshape = array<i64: 2, 2, 16, 3, 2>}
// CHECK-NEXT: relay.transpose {{.*}}{axes = array<i64: 0, 2, 1, 3, 4>}
relay.func @planes_are_channels(%x: tensor<2x10x3x4x5xf32>) -> tensor<2x16x2x3x2xf32> {
  %w = relay.constant dense<0.5> : tensor<16x10x2x3x3xf32>
  %0 = relay.nn.conv3d %x, %w {strides = array<i64: 2, 1, 2>, padding = array<i64: 2, 1, 0, 1, 0, 1>, dilation = array<i64: 3, 1, 1>} : (tensor<2x10x3x4x5xf32>, tensor<16x10x2x3x3xf32>) -> tensor<2x16x2x3x2xf32>
  relay.return %0 : tensor<2x16x2x3x2xf32>
}

// CHECK-LABEL: relay.func @one_plane_is_as_it_stands
// CHECK: relay.transpose %x
// CHECK-NEXT: relay.reshape {{.*}}{newshape = array<i64: 3, 20, 4, 4>}
// CHECK-NEXT: relay.reshape %w
// CHECK-NEXT: relay.nn.conv2d
relay.func @one_plane_is_as_it_stands(%x: tensor<1x20x3x4x4xf32>) -> tensor<1x16x3x2x2xf32> {
  %w = relay.constant dense<0.5> : tensor<16x20x1x3x3xf32>
  %0 = relay.nn.conv3d %x, %w : (tensor<1x20x3x4x4xf32>, tensor<16x20x1x3x3xf32>) -> tensor<1x16x3x2x2xf32>
  relay.return %0 : tensor<1x16x3x2x2xf32>
}

// CHECK-LABEL: relay.func @what_stays
// CHECK-COUNT-5: relay.nn.conv1d
// CHECK-NEXT: relay.return
// WHY: its weight is not a constant
// WHY: it has 2 groups
// WHY: 8 channels of sums of 192 terms do not pay for it
// WHY: 16 channels of sums of 64 terms do not pay for it
// WHY: its layouts are NWC, WIO, NWC
relay.func @what_stays(%x: tensor<1x64x5xf32>, %u: tensor<16x64x3xf32>) -> (tensor<1x16x3xf32>, tensor<1x16x3xf32>, tensor<1x8x3xf32>, tensor<1x16x5xf32>, tensor<1x62x16xf32>) {
  %g = relay.constant dense<0.5> : tensor<16x32x3xf32>
  %f = relay.constant dense<0.5> : tensor<8x64x3xf32>
  %p = relay.constant dense<0.5> : tensor<16x64x1xf32>
  %l = relay.constant dense<0.5> : tensor<3x5x16xf32>
  %0 = relay.nn.conv1d %x, %u : (tensor<1x64x5xf32>, tensor<16x64x3xf32>) -> tensor<1x16x3xf32>
  %1 = relay.nn.conv1d %x, %g {groups = 2 : i64} : (tensor<1x64x5xf32>, tensor<16x32x3xf32>) -> tensor<1x16x3xf32>
  %2 = relay.nn.conv1d %x, %f : (tensor<1x64x5xf32>, tensor<8x64x3xf32>) -> tensor<1x8x3xf32>
  %3 = relay.nn.conv1d %x, %p : (tensor<1x64x5xf32>, tensor<16x64x1xf32>) -> tensor<1x16x5xf32>
  %4 = relay.nn.conv1d %x, %l {data_layout = "NWC", kernel_layout = "WIO"} : (tensor<1x64x5xf32>, tensor<3x5x16xf32>) -> tensor<1x62x16xf32>
  relay.return %0, %1, %2, %3, %4 : tensor<1x16x3xf32>, tensor<1x16x3xf32>, tensor<1x8x3xf32>, tensor<1x16x5xf32>, tensor<1x62x16xf32>
}
