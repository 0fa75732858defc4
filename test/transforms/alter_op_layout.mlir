// RUN: weft-opt %s -O3 -p 'alter-op-layout{vector-bytes=16},fold-constant' | filecheck %s
// RUN: weft-opt %s -O3 -p 'alter-op-layout{vector-bytes=16 dot=vnni}' | filecheck %s --check-prefix=BYTES
// RUN: weft-opt %s -O3 -p 'alter-op-layout{vector-bytes=16 winograd=2}' | filecheck %s --check-prefix=SMALL
// RUN: weft-opt %s -O3 --pass-config relay.winograd=0 -p 'alter-op-layout{vector-bytes=16}' | filecheck %s --check-prefix=DIRECT

// Vectors of 16 bytes: blocks of 4 floats. Constants are splats to keep the text short.

// The graph's input and its result are plain; between them there is no border. Three channels are blocks of one.
// CHECK-LABEL: relay.func @a_chain_of_convolutions_stays_in_blocks
// CHECK-NEXT: relay.constant {{.*}} : tensor<2x3x3x3x1x4xf32>
// CHECK-NEXT: relay.reshape %x {newshape = array<i64: 1, 3, 6, 6, 1>}
// CHECK-NEXT: relay.nn.contrib_conv2d_NCHWc {{.*}}padding = array<i64: 1, 1>, data_layout = "NCHW1c", kernel_layout = "OIHW1i4o", out_layout = "NCHW4c"
// CHECK-NEXT:     : (tensor<1x3x6x6x1xf32>, tensor<2x3x3x3x1x4xf32>) -> tensor<1x2x6x6x4xf32>
// CHECK-NEXT: relay.constant {{.*}}
// CHECK-NEXT:     : tensor<1x2x1x1x4xf32>
// CHECK-NEXT: relay.add {{.*}} -> tensor<1x2x6x6x4xf32>
// CHECK-NEXT: relay.nn.relu
// CHECK-NEXT: relay.nn.max_pool2d {{.*}}layout = "NCHW4c"
// CHECK-NEXT: relay.constant
// CHECK-NEXT: relay.nn.contrib_conv2d_NCHWc {{.*}}kernel_layout = "OIHW4i4o"
// CHECK-NEXT:     : (tensor<1x2x3x3x4xf32>, tensor<2x2x1x1x4x4xf32>) -> tensor<1x2x3x3x4xf32>
// CHECK-NEXT: relay.layout_transform {{.*}}{src_layout = "NCHW4c", dst_layout = "NCHW"}
// CHECK-NEXT: relay.nn.batch_flatten
relay.func @a_chain_of_convolutions_stays_in_blocks(%x: tensor<1x3x6x6xf32>) -> tensor<1x72xf32> {
  %v = relay.constant dense<0.5> : tensor<8x3x3x3xf32>
  %b = relay.constant dense<[[[1.0]],[[2.0]],[[3.0]],[[4.0]],[[5.0]],[[6.0]],[[7.0]],[[8.0]]]> : tensor<8x1x1xf32>
  %w = relay.constant dense<0.25> : tensor<8x8x1x1xf32>
  %0 = relay.nn.conv2d %x, %v {padding = array<i64: 1, 1>} : (tensor<1x3x6x6xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32>
  %1 = relay.add %0, %b : (tensor<1x8x6x6xf32>, tensor<8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %2 = relay.nn.relu %1 : tensor<1x8x6x6xf32>
  %3 = relay.nn.max_pool2d %2 {pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x8x6x6xf32>) -> tensor<1x8x3x3xf32>
  %4 = relay.nn.conv2d %3, %w : (tensor<1x8x3x3xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x3x3xf32>
  %5 = relay.nn.batch_flatten %4 : (tensor<1x8x3x3xf32>) -> tensor<1x72xf32>
  relay.return %5 : tensor<1x72xf32>
}

// Both branches are in blocks; the input of the block is transformed once, for three users.
// CHECK-LABEL: relay.func @a_residual_block_has_one_border_on_each_side
// CHECK: relay.layout_transform %x {src_layout = "NCHW", dst_layout = "NCHW4c"}
// CHECK-NOT: layout_transform
// CHECK: relay.add %{{.*}}, %{{.*}} : (tensor<?x1x4x4x4xf32>, tensor<?x1x4x4x4xf32>)
// CHECK: relay.layout_transform {{.*}} {src_layout = "NCHW4c", dst_layout = "NCHW"}
// CHECK-NEXT: relay.return
relay.func @a_residual_block_has_one_border_on_each_side(%x: tensor<?x4x4x4xf32>) -> tensor<?x4x4x4xf32> {
  %w = relay.constant dense<0.25> : tensor<4x4x1x1xf32>
  %0 = relay.nn.conv2d %x, %w : (tensor<?x4x4x4xf32>, tensor<4x4x1x1xf32>) -> tensor<?x4x4x4xf32>
  %1 = relay.nn.conv2d %x, %w : (tensor<?x4x4x4xf32>, tensor<4x4x1x1xf32>) -> tensor<?x4x4x4xf32>
  %2 = relay.add %0, %1 : (tensor<?x4x4x4xf32>, tensor<?x4x4x4xf32>) -> tensor<?x4x4x4xf32>
  %3 = relay.add %x, %2 : (tensor<?x4x4x4xf32>, tensor<?x4x4x4xf32>) -> tensor<?x4x4x4xf32>
  relay.return %3 : tensor<?x4x4x4xf32>
}

// CHECK-LABEL: relay.func @depthwise_convolutions_have_blocks_too
// CHECK: relay.nn.contrib_depthwise_conv2d_NCHWc {{.*}}
// CHECK-NEXT:       {{.*}}groups = 8 : i64{{.*}}kernel_layout = "OIHW1i4o"
relay.func @depthwise_convolutions_have_blocks_too(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
  %w = relay.constant dense<0.25> : tensor<8x1x3x3xf32>
  %0 = relay.nn.conv2d %x, %w {groups = 8 : i64, padding = array<i64: 1, 1>} : (tensor<1x8x4x4xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x4x4xf32>
  relay.return %0 : tensor<1x8x4x4xf32>
}

// The input is 49 times as large as the result: to transform it would cost more than is gained.
// CHECK-LABEL: relay.func @a_depthwise_convolution_between_plain_values_may_stay_plain
// CHECK-NOT: layout_transform
// CHECK: relay.nn.conv2d
relay.func @a_depthwise_convolution_between_plain_values_may_stay_plain(%x: tensor<1x8x7x14xf32>) -> tensor<1x8x1x2xf32> {
  %w = relay.constant dense<0.25> : tensor<8x1x7x7xf32>
  %0 = relay.nn.conv2d %x, %w {groups = 8 : i64, strides = array<i64: 7, 7>} : (tensor<1x8x7x14xf32>, tensor<8x1x7x7xf32>) -> tensor<1x8x1x2xf32>
  relay.return %0 : tensor<1x8x1x2xf32>
}

// Padding may go either way: the border is where there are fewer elements, before it.
// CHECK-LABEL: relay.func @the_border_is_where_there_are_few_elements
// CHECK: relay.layout_transform {{.*}} : (tensor<1x4x2x2xf32>) -> tensor<1x1x2x2x4xf32>
// CHECK: relay.nn.pad {{.*}} -> tensor<1x1x4x2x4xf32>
// CHECK: relay.nn.contrib_conv2d_NCHWc
// CHECK: relay.layout_transform {{.*}} : (tensor<1x1x4x2x4xf32>) -> tensor<1x4x4x2xf32>
// CHECK: relay.nn.pad {{.*}} -> tensor<1x4x6x2xf32>
relay.func @the_border_is_where_there_are_few_elements(%x: tensor<1x4x2x2xf32>) -> tensor<1x4x6x2xf32> {
  %w = relay.constant dense<0.25> : tensor<4x4x1x1xf32>
  %z = relay.constant dense<0.0> : tensor<f32>
  %0 = relay.nn.pad %x, %z {pad_width = array<i64: 0, 0, 0, 0, 1, 1, 0, 0>} : (tensor<1x4x2x2xf32>, tensor<f32>) -> tensor<1x4x4x2xf32>
  %1 = relay.nn.conv2d %0, %w : (tensor<1x4x4x2xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x4x2xf32>
  %2 = relay.nn.pad %1, %z {pad_width = array<i64: 0, 0, 0, 0, 1, 1, 0, 0>} : (tensor<1x4x4x2xf32>, tensor<f32>) -> tensor<1x4x6x2xf32>
  relay.return %2 : tensor<1x4x6x2xf32>
}

// The mean leaves one pixel, whose layouts are all the same order: a reshape, which costs nothing.
// CHECK-LABEL: relay.func @means_over_pixels_and_gates
// CHECK: relay.nn.contrib_conv2d_NCHWc
// CHECK-NEXT:     : (tensor<1x1x4x4x4xf32>, tensor<2x1x1x1x4x4xf32>) -> tensor<1x2x4x4x4xf32>
// CHECK-NEXT: relay.mean %{{.*}} {axis = array<i64: 2, 3>, keepdims = true} : {{.*}} -> tensor<1x2x1x1x4xf32>
// CHECK-NEXT: relay.sigmoid
// CHECK-NEXT: relay.multiply {{.*}} : (tensor<1x2x4x4x4xf32>, tensor<1x2x1x1x4xf32>)
// CHECK-NEXT: relay.nn.global_avg_pool2d {{.*}}layout = "NCHW4c"
// CHECK-NEXT: relay.mean
// CHECK-NEXT: relay.reshape {{.*}} -> tensor<1x8x1x1xf32>
// CHECK-NEXT: relay.reshape {{.*}} -> tensor<1x8xf32>
// CHECK-NEXT: relay.reshape {{.*}} -> tensor<1x8x1x1xf32>
// CHECK-NEXT: relay.return
relay.func @means_over_pixels_and_gates(%x: tensor<1x4x4x4xf32>) -> (tensor<1x8x1x1xf32>, tensor<1x8xf32>) {
  %w = relay.constant dense<0.25> : tensor<8x4x1x1xf32>
  %0 = relay.nn.conv2d %x, %w : (tensor<1x4x4x4xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x4x4xf32>
  %1 = relay.mean %0 {axis = array<i64: 2, 3>, keepdims = true} : (tensor<1x8x4x4xf32>) -> tensor<1x8x1x1xf32>
  %2 = relay.sigmoid %1 : tensor<1x8x1x1xf32>
  %3 = relay.multiply %0, %2 : (tensor<1x8x4x4xf32>, tensor<1x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  %4 = relay.nn.global_avg_pool2d %3 : (tensor<1x8x4x4xf32>) -> tensor<1x8x1x1xf32>
  %5 = relay.mean %3 {axis = array<i64: -1, -2>} : (tensor<1x8x4x4xf32>) -> tensor<1x8xf32>
  relay.return %4, %5 : tensor<1x8x1x1xf32>, tensor<1x8xf32>
}

// CHECK-LABEL: relay.func @broadcast_operands_of_any_rank
// CHECK: relay.nn.contrib_conv2d_NCHWc
// CHECK: relay.multiply %{{.*}}, %c
// CHECK: relay.layout_transform {{.*}} : (tensor<1x8x4x4xf32>) -> tensor<1x2x4x4x4xf32>
// CHECK: relay.subtract
// CHECK: relay.reshape %q {newshape = array<i64: 1, 1, 4, 4, 1>}
// CHECK: relay.maximum
// CHECK: relay.reshape %r {newshape = array<i64: 1, 2, 1, 1, 4>}
// CHECK: relay.add
// CHECK: relay.where %{{.*}}, %{{.*}}, %c : (tensor<1x2x4x4x4xi1>, tensor<1x2x4x4x4xf32>, tensor<f32>)
relay.func @broadcast_operands_of_any_rank(%x: tensor<1x4x4x4xf32>, %p: tensor<8x4x4xf32>, %q: tensor<4x4xf32>, %r: tensor<8xf32>) -> tensor<1x4x4x4xf32> {
  %v = relay.constant dense<0.25> : tensor<4x8x1x1xf32>
  %w = relay.constant dense<0.25> : tensor<8x4x1x1xf32>
  %c = relay.constant dense<2.0> : tensor<f32>
  %0 = relay.nn.conv2d %x, %w : (tensor<1x4x4x4xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x4x4xf32>
  %1 = relay.multiply %0, %c : (tensor<1x8x4x4xf32>, tensor<f32>) -> tensor<1x8x4x4xf32>
  %2 = relay.subtract %p, %1 : (tensor<8x4x4xf32>, tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  %3 = relay.maximum %2, %q : (tensor<1x8x4x4xf32>, tensor<4x4xf32>) -> tensor<1x8x4x4xf32>
  %4 = relay.nn.bias_add %3, %r : (tensor<1x8x4x4xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>
  %5 = relay.greater %4, %1 : (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xi1>
  %6 = relay.where %5, %4, %c : (tensor<1x8x4x4xi1>, tensor<1x8x4x4xf32>, tensor<f32>) -> tensor<1x8x4x4xf32>
  %7 = relay.nn.conv2d %6, %v : (tensor<1x8x4x4xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x4x4xf32>
  relay.return %7 : tensor<1x4x4x4xf32>
}

// CHECK-LABEL: relay.func @channels_are_joined_and_split_in_blocks
// CHECK: relay.concatenate {{.*}} -> tensor<1x3x4x4x4xf32>
// CHECK-NEXT: relay.split {{.*}} -> tuple<tensor<1x1x4x4x4xf32>, tensor<1x2x4x4x4xf32>>
// CHECK: relay.nn.pad {{.*}} {pad_width = array<i64: 0, 0, 0, 0, 1, 1, 0, 0, 0, 0>} : {{.*}} -> tensor<1x2x6x4x4xf32>
relay.func @channels_are_joined_and_split_in_blocks(%x: tensor<1x4x4x4xf32>) -> (tensor<1x4x4x4xf32>, tensor<1x4x6x4xf32>) {
  %u = relay.constant dense<0.25> : tensor<4x4x1x1xf32>
  %v = relay.constant dense<0.25> : tensor<4x8x1x1xf32>
  %w = relay.constant dense<0.25> : tensor<8x4x1x1xf32>
  %z = relay.constant dense<0.0> : tensor<f32>
  %0 = relay.nn.conv2d %x, %w : (tensor<1x4x4x4xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x4x4xf32>
  %t = relay.tuple(%0, %x) : (tensor<1x8x4x4xf32>, tensor<1x4x4x4xf32>) -> tuple<tensor<1x8x4x4xf32>, tensor<1x4x4x4xf32>>
  %1 = relay.concatenate %t {axis = 1 : i64} : (tuple<tensor<1x8x4x4xf32>, tensor<1x4x4x4xf32>>) -> tensor<1x12x4x4xf32>
  %s = relay.split %1 {indices_or_sections = array<i64: 4>, axis = 1 : i64} : (tensor<1x12x4x4xf32>) -> tuple<tensor<1x4x4x4xf32>, tensor<1x8x4x4xf32>>
  %2 = relay.tuple_get %s[0] : tuple<tensor<1x4x4x4xf32>, tensor<1x8x4x4xf32>> -> tensor<1x4x4x4xf32>
  %3 = relay.tuple_get %s[1] : tuple<tensor<1x4x4x4xf32>, tensor<1x8x4x4xf32>> -> tensor<1x8x4x4xf32>
  %4 = relay.nn.pad %3, %z {pad_width = array<i64: 0, 0, 0, 0, 1, 1, 0, 0>} : (tensor<1x8x4x4xf32>, tensor<f32>) -> tensor<1x8x6x4xf32>
  %5 = relay.nn.conv2d %2, %u : (tensor<1x4x4x4xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x4x4xf32>
  %6 = relay.nn.conv2d %4, %v : (tensor<1x8x6x4xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x6x4xf32>
  relay.return %5, %6 : tensor<1x4x4x4xf32>, tensor<1x4x6x4xf32>
}

// The first field has an odd number of channels and the second one is in blocks: all become plain.
// CHECK-LABEL: relay.func @channels_that_no_block_divides_are_joined_plain
// CHECK: relay.layout_transform %{{.*}} {src_layout = "NCHW4c", dst_layout = "NCHW"}
// CHECK: relay.concatenate {{.*}} -> tensor<1x11x4x4xf32>
relay.func @channels_that_no_block_divides_are_joined_plain(%x: tensor<1x4x4x4xf32>, %y: tensor<1x3x4x4xf32>) -> tensor<1x11x4x4xf32> {
  %w = relay.constant dense<0.25> : tensor<8x4x1x1xf32>
  %0 = relay.nn.conv2d %x, %w : (tensor<1x4x4x4xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x4x4xf32>
  %t = relay.tuple(%y, %0) : (tensor<1x3x4x4xf32>, tensor<1x8x4x4xf32>) -> tuple<tensor<1x3x4x4xf32>, tensor<1x8x4x4xf32>>
  %1 = relay.concatenate %t {axis = 1 : i64} : (tuple<tensor<1x3x4x4xf32>, tensor<1x8x4x4xf32>>) -> tensor<1x11x4x4xf32>
  relay.return %1 : tensor<1x11x4x4xf32>
}

// 6 columns fill one block and half of another; the rest of the weight is zero.
// CHECK-LABEL: relay.func @dense_layers_are_packed
// CHECK: relay.constant {{.*}} : tensor<2x3x4xf32>
// CHECK: relay.nn.contrib_dense_pack %x, {{.*}}units = 6 : i64, weight_layout = "NK4n"
// CHECK: relay.reshape %y {newshape = array<i64: -1, 3>}
// CHECK: relay.nn.contrib_dense_pack
// CHECK: relay.reshape {{.*}} -> tensor<2x5x4xf32>
relay.func @dense_layers_are_packed(%x: tensor<?x3xf32>, %y: tensor<2x5x3xf32>) -> (tensor<?x6xf32>, tensor<2x5x4xf32>) {
  %v = relay.constant dense<0.25> : tensor<6x3xf32>
  %w = relay.constant dense<0.5> : tensor<3x4xf32>
  %0 = relay.nn.dense %x, %v : (tensor<?x3xf32>, tensor<6x3xf32>) -> tensor<?x6xf32>
  %1 = relay.nn.matmul %y, %w : (tensor<2x5x3xf32>, tensor<3x4xf32>) -> tensor<2x5x4xf32>
  relay.return %0, %1 : tensor<?x6xf32>, tensor<2x5x4xf32>
}

// Two channels fill half of a vector, in blocks of two as in blocks of four.
// CHECK-LABEL: relay.func @two_channels_make_a_block_of_two
// CHECK: relay.nn.contrib_conv2d_NCHWc {{.*}}out_layout = "NCHW2c"
relay.func @two_channels_make_a_block_of_two(%x: tensor<1x4x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = relay.constant dense<0.25> : tensor<2x4x1x1xf32>
  %0 = relay.nn.conv2d %x, %w : (tensor<1x4x4x4xf32>, tensor<2x4x1x1xf32>) -> tensor<1x2x4x4xf32>
  relay.return %0 : tensor<1x2x4x4xf32>
}

// Six channels fill three halves of two vectors. The next convolution reads but the six, by blocks of two.
// CHECK-LABEL: relay.func @a_last_block_is_filled_up
// CHECK: relay.constant {{.*}} : tensor<2x1x1x1x4x4xf32>
// CHECK: relay.nn.contrib_conv2d_NCHWc {{.*}}out_layout = "NCHW4c"{{.*}}
// CHECK-NEXT:       {{.*}} -> tensor<1x2x4x4x4xf32>
// CHECK: relay.constant {{.*}}
// CHECK-NEXT:       : tensor<1x2x1x1x4xf32>
// CHECK: relay.add
// CHECK: relay.constant {{.*}} : tensor<1x3x1x1x2x4xf32>
// CHECK: relay.nn.contrib_conv2d_NCHWc {{.*}}data_layout = "NCHW4c", kernel_layout = "OIHW2i4o"
// CHECK: relay.mean {{.*}} -> tensor<1x2x1x1x4xf32>
// CHECK: relay.layout_transform {{.*}} {src_layout = "NCHW4c", dst_layout = "NCHW", extents = array<i64: 0, 6, 0, 0>}
// CHECK-NEXT:     : (tensor<1x2x1x1x4xf32>) -> tensor<1x6x1x1xf32>
// CHECK-NEXT: relay.reshape {{.*}} -> tensor<1x6xf32>
relay.func @a_last_block_is_filled_up(%x: tensor<1x4x4x4xf32>) -> (tensor<1x4x4x4xf32>, tensor<1x6xf32>) {
  %w = relay.constant dense<0.25> : tensor<6x4x1x1xf32>
  %v = relay.constant dense<0.25> : tensor<4x6x1x1xf32>
  %b = relay.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>
  %0 = relay.nn.conv2d %x, %w : (tensor<1x4x4x4xf32>, tensor<6x4x1x1xf32>) -> tensor<1x6x4x4xf32>
  %1 = relay.nn.bias_add %0, %b : (tensor<1x6x4x4xf32>, tensor<6xf32>) -> tensor<1x6x4x4xf32>
  %2 = relay.nn.conv2d %1, %v : (tensor<1x6x4x4xf32>, tensor<4x6x1x1xf32>) -> tensor<1x4x4x4xf32>
  %3 = relay.mean %1 {axis = array<i64: 2, 3>} : (tensor<1x6x4x4xf32>) -> tensor<1x6xf32>
  relay.return %2, %3 : tensor<1x4x4x4xf32>, tensor<1x6xf32>
}

// CHECK-LABEL: relay.func @one_channel_stays_plain
// CHECK: relay.nn.conv2d
relay.func @one_channel_stays_plain(%x: tensor<1x4x4x4xf32>) -> tensor<1x1x4x4xf32> {
  %w = relay.constant dense<0.25> : tensor<1x4x1x1xf32>
  %0 = relay.nn.conv2d %x, %w : (tensor<1x4x4x4xf32>, tensor<1x4x1x1xf32>) -> tensor<1x1x4x4xf32>
  relay.return %0 : tensor<1x1x4x4xf32>
}

// Groups of four channels fill vectors. Of groups of two, two share one, with zeros for the other's data.
// CHECK-LABEL: relay.func @groups_of_several_channels
// CHECK: relay.constant {{.*}} : tensor<2x1x1x1x4x4xf32>
// CHECK: relay.nn.contrib_conv2d_NCHWc {{.*}}groups = 2 : i64{{.*}}kernel_layout = "OIHW4i4o"
// CHECK: relay.nn.contrib_conv2d_NCHWc {{.*}}groups = 2 : i64{{.*}}kernel_layout = "OIHW4i4o"
relay.func @groups_of_several_channels(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
  %w = relay.constant dense<0.25> : tensor<8x4x1x1xf32>
  %v = relay.constant dense<0.25> : tensor<8x2x1x1xf32>
  %0 = relay.nn.conv2d %x, %w {groups = 2 : i64} : (tensor<1x8x4x4xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x4x4xf32>
  %1 = relay.nn.conv2d %0, %v {groups = 4 : i64} : (tensor<1x8x4x4xf32>, tensor<8x2x1x1xf32>) -> tensor<1x8x4x4xf32>
  relay.return %1 : tensor<1x8x4x4xf32>
}

// Groups of six channels are blocks of six, a vector of four and a half one, and what reads their results has them too.
// CHECK-LABEL: relay.func @groups_that_are_no_vectors
// CHECK: relay.nn.contrib_conv2d_NCHWc {{.*}}groups = 2 : i64, data_layout = "NCHW4c", kernel_layout = "OIHW2i6o", out_layout = "NCHW6c"
// CHECK-NEXT:     : (tensor<1x3x4x4x4xf32>, tensor<2x3x1x1x2x6xf32>) -> tensor<1x2x4x4x6xf32>
// CHECK-NEXT: relay.nn.relu {{.*}} : tensor<1x2x4x4x6xf32>
// CHECK: relay.nn.contrib_conv2d_NCHWc {{.*}}data_layout = "NCHW6c", kernel_layout = "OIHW6i4o"
relay.func @groups_that_are_no_vectors(%x: tensor<1x12x4x4xf32>) -> tensor<1x4x4x4xf32> {
  %w = relay.constant dense<0.25> : tensor<12x6x1x1xf32>
  %v = relay.constant dense<0.25> : tensor<4x12x1x1xf32>
  %0 = relay.nn.conv2d %x, %w {groups = 2 : i64} : (tensor<1x12x4x4xf32>, tensor<12x6x1x1xf32>) -> tensor<1x12x4x4xf32>
  %1 = relay.nn.relu %0 : tensor<1x12x4x4xf32>
  %2 = relay.nn.conv2d %1, %v : (tensor<1x12x4x4xf32>, tensor<4x12x1x1xf32>) -> tensor<1x4x4x4xf32>
  relay.return %2 : tensor<1x4x4x4xf32>
}

// CHECK-LABEL: relay.func @groups_of_odd_numbers_stay_plain
// CHECK: relay.nn.conv2d
relay.func @groups_of_odd_numbers_stay_plain(%x: tensor<1x6x4x4xf32>) -> tensor<1x6x4x4xf32> {
  %w = relay.constant dense<0.25> : tensor<6x3x1x1xf32>
  %0 = relay.nn.conv2d %x, %w {groups = 2 : i64} : (tensor<1x6x4x4xf32>, tensor<6x3x1x1xf32>) -> tensor<1x6x4x4xf32>
  relay.return %0 : tensor<1x6x4x4xf32>
}

// CHECK-LABEL: relay.func @a_weight_known_only_at_run_time_stays_plain
// CHECK: relay.nn.conv2d
relay.func @a_weight_known_only_at_run_time_stays_plain(%x: tensor<1x8x4x4xf32>, %w: tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32> {
  %0 = relay.nn.conv2d %x, %w : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  relay.return %0 : tensor<1x8x4x4xf32>
}

// CHECK-LABEL: relay.func @what_looks_across_channels_gets_plain_values
// CHECK: relay.layout_transform {{.*}}{src_layout = "NCHW4c", dst_layout = "NCHW"}
// CHECK-NEXT: relay.nn.lrn
// CHECK-NEXT: relay.nn.softmax
relay.func @what_looks_across_channels_gets_plain_values(%x: tensor<1x4x4x4xf32>) -> tensor<1x8x4x4xf32> {
  %w = relay.constant dense<0.25> : tensor<8x4x1x1xf32>
  %0 = relay.nn.conv2d %x, %w : (tensor<1x4x4x4xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x4x4xf32>
  %1 = relay.nn.lrn %0 : tensor<1x8x4x4xf32>
  %2 = relay.nn.softmax %1 {axis = 1 : i64} : tensor<1x8x4x4xf32>
  relay.return %2 : tensor<1x8x4x4xf32>
}

// Bytes are multiplied as the target's instruction takes them, here without by with a sign, four steps of each column
// side by side; what that adds is taken away again. Six steps are filled up to eight.
// BYTES-LABEL: relay.func @a_product_of_bytes_is_of_those_that_the_target_multiplies
// BYTES: relay.nn.pad %x{{.*}}pad_width = array<i64: 0, 0, 0, 2>
// BYTES: relay.sum {{.*}}axis = array<i64: 1>
// BYTES: relay.multiply
// BYTES: relay.bitwise_xor
// BYTES: relay.cast {{.*}} -> tensor<3x8xui8>
// BYTES: relay.layout_transform %w {src_layout = "NK", dst_layout = "NK4n4k"} : (tensor<8x6xi8>) -> tensor<2x2x4x4xi8>
// BYTES: relay.nn.contrib_dense_pack {{.*}}units = 8 : i64, weight_layout = "NK4n4k", out_dtype = "int32"
// BYTES: relay.subtract
relay.func @a_product_of_bytes_is_of_those_that_the_target_multiplies(%x: tensor<3x6xi8>) -> tensor<3x8xi32> {
  %w = relay.constant dense<2> : tensor<8x6xi8>
  %y = relay.nn.dense %x, %w {out_dtype = "int32"} : (tensor<3x6xi8>, tensor<8x6xi8>) -> tensor<3x8xi32>
  relay.return %y : tensor<3x8xi32>
}

// A weight that few rows are multiplied with, and that is no constant, is not put in order for them.
// BYTES-LABEL: relay.func @a_product_of_bytes_with_few_rows_stays
// BYTES-NEXT: relay.nn.dense
relay.func @a_product_of_bytes_with_few_rows_stays(%x: tensor<3x8xui8>, %w: tensor<8x8xi8>) -> tensor<3x8xi32> {
  %y = relay.nn.dense %x, %w {out_dtype = "int32"} : (tensor<3x8xui8>, tensor<8x8xi8>) -> tensor<3x8xi32>
  relay.return %y : tensor<3x8xi32>
}

// In a batch each matrix is put in order, of any extents. Steps of which there may be any number are filled up to a multiple
// of four, after it was asked that both sides have as many; columns are filled up, too, and left out again.
// BYTES-LABEL: relay.func @a_batch_of_products_of_bytes_is_put_in_order_as_it_runs
// BYTES: relay.slice_like %x
// BYTES: relay.slice_like %y
// BYTES: relay.layout_transform {{.*}}dst_layout = "ABC4c"
// BYTES: relay.layout_transform {{.*}}src_layout = "BNK", dst_layout = "BNK4n4k"
// BYTES: relay.nn.contrib_dense_pack {{.*}}weight_layout = "BNK4n4k", out_dtype = "int32"
// BYTES: relay.slice_like {{.*}}axes = array<i64: 2>
relay.func @a_batch_of_products_of_bytes_is_put_in_order_as_it_runs(%x: tensor<2x20x?xui8>, %y: tensor<2x?x?xi8>) -> tensor<2x20x?xi32> {
  %z = relay.nn.batch_matmul %x, %y {out_dtype = "int32"} : (tensor<2x20x?xui8>, tensor<2x?x?xi8>) -> tensor<2x20x?xi32>
  relay.return %z : tensor<2x20x?xi32>
}

// In tiles of 4x4 results a quarter of the products is left. The weight is transformed when the model is compiled.
// CHECK-LABEL: relay.func @large_convolutions_of_three_taps_are_computed_in_tiles
// CHECK: relay.constant {{.*}} : tensor<6x6x8x8x4x4xf32>
// CHECK: relay.nn.contrib_conv2d_winograd_without_weight_transform {{.*}}
// CHECK-NEXT:       {{.*}}tile_size = 4 : i64, {{.*}}kernel_layout = "HWOI4i4o"
// SMALL-LABEL: relay.func @large_convolutions_of_three_taps_are_computed_in_tiles
// SMALL: relay.nn.contrib_conv2d_winograd_weight_transform {{.*}}tile_size = 2 : i64
// SMALL: relay.nn.contrib_conv2d_winograd_without_weight_transform {{.*}}
// SMALL-NEXT:       {{.*}}tile_size = 2 : i64
// DIRECT-LABEL: relay.func @large_convolutions_of_three_taps_are_computed_in_tiles
// DIRECT-NOT: winograd
relay.func @large_convolutions_of_three_taps_are_computed_in_tiles(%x: tensor<2x32x20x20xf32>) -> tensor<2x32x20x20xf32> {
  %w = relay.constant dense<0.25> : tensor<32x32x3x3xf32>
  %0 = relay.nn.conv2d %x, %w {padding = array<i64: 1, 1>, kernel_size = array<i64: 3, 3>} : (tensor<2x32x20x20xf32>, tensor<32x32x3x3xf32>) -> tensor<2x32x20x20xf32>
  relay.return %0 : tensor<2x32x20x20xf32>
}

// CHECK-LABEL: relay.func @any_number_of_images_other_steps_and_wide_floats_are_computed_as_they_stand
// CHECK-NOT: winograd
// CHECK: relay.return
relay.func @any_number_of_images_other_steps_and_wide_floats_are_computed_as_they_stand(%x: tensor<?x32x20x20xf32>, %y: tensor<2x32x20x20xf32>, %z: tensor<2x32x20x20xf64>) {
  %v = relay.constant dense<0.25> : tensor<32x32x3x3xf32>
  %w = relay.constant dense<0.25> : tensor<32x32x3x3xf64>
  %0 = relay.nn.conv2d %x, %v : (tensor<?x32x20x20xf32>, tensor<32x32x3x3xf32>) -> tensor<?x32x18x18xf32>
  %1 = relay.nn.conv2d %y, %v {strides = array<i64: 2, 2>} : (tensor<2x32x20x20xf32>, tensor<32x32x3x3xf32>) -> tensor<2x32x9x9xf32>
  %2 = relay.nn.conv2d %y, %v {dilation = array<i64: 2, 2>, padding = array<i64: 1, 1>} : (tensor<2x32x20x20xf32>, tensor<32x32x3x3xf32>) -> tensor<2x32x18x18xf32>
  %3 = relay.nn.conv2d %z, %w : (tensor<2x32x20x20xf64>, tensor<32x32x3x3xf64>) -> tensor<2x32x18x18xf64>
  relay.return
}

// CHECK-LABEL: relay.func @upsampling_stays_in_blocks
// CHECK: relay.nn.upsampling {{.*}}layout = "NCHW4c"
// CHECK: relay.nn.contrib_conv2d_NCHWc
relay.func @upsampling_stays_in_blocks(%x: tensor<1x8x3x2xf32>) -> tensor<1x8x6x4xf32> {
  %w = relay.constant dense<0.5> : tensor<8x8x1x1xf32>
  %0 = relay.nn.upsampling %x {scale_h = 2.0 : f64, scale_w = 2.0 : f64, method = "bilinear"} : (tensor<1x8x3x2xf32>) -> tensor<1x8x6x4xf32>
  %1 = relay.nn.conv2d %0, %w : (tensor<1x8x6x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x4xf32>
  relay.return %1 : tensor<1x8x6x4xf32>
}

// CHECK-LABEL: relay.func @resized_images_stay_in_blocks
// CHECK: relay.image.resize2d {{.*}}{size = array<i64: 5, 7>, method = "cubic", layout = "NCHW4c"} : (tensor<1x2x3x2x4xf32>) -> tensor<1x2x5x7x4xf32>
// CHECK: relay.nn.contrib_conv2d_NCHWc
relay.func @resized_images_stay_in_blocks(%x: tensor<1x8x3x2xf32>) -> tensor<1x8x5x7xf32> {
  %w = relay.constant dense<0.5> : tensor<8x8x1x1xf32>
  %0 = relay.image.resize2d %x {size = array<i64: 5, 7>, method = "cubic"} : (tensor<1x8x3x2xf32>) -> tensor<1x8x5x7xf32>
  %1 = relay.nn.conv2d %0, %w : (tensor<1x8x5x7xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x5x7xf32>
  relay.return %1 : tensor<1x8x5x7xf32>
}

// CHECK-LABEL: relay.func @resized_images_of_channels_last_stay_as_they_are
// CHECK: relay.image.resize2d {{.*}}layout = "NHWC"
relay.func @resized_images_of_channels_last_stay_as_they_are(%x: tensor<1x8x3x2xf32>) -> tensor<1x8x6x4xf32> {
  %w = relay.constant dense<0.5> : tensor<8x8x1x1xf32>
  %0 = relay.image.resize2d %x {size = array<i64: 3, 4>, layout = "NHWC"} : (tensor<1x8x3x2xf32>) -> tensor<1x3x4x2xf32>
  %1 = relay.reshape %0 {newshape = array<i64: 1, 8, 1, 3>} : (tensor<1x3x4x2xf32>) -> tensor<1x8x1x3xf32>
  %2 = relay.image.resize2d %1 {size = array<i64: 6, 4>} : (tensor<1x8x1x3xf32>) -> tensor<1x8x6x4xf32>
  %3 = relay.nn.conv2d %2, %w : (tensor<1x8x6x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x4xf32>
  relay.return %3 : tensor<1x8x6x4xf32>
}

// A vector of channels goes to one pixel; the cut is along rows and columns.
// CHECK-LABEL: relay.func @pixels_made_of_channels_and_cut_stay_in_blocks
// CHECK: relay.add {{.*}} -> tensor<2x8x3x2x4xf32>
// CHECK-NEXT: relay.reshape {{.*}}{newshape = array<i64: 2, 2, 2, 2, 3, 2, 4>}
// CHECK-NEXT: relay.transpose {{.*}}{axes = array<i64: 0, 3, 4, 1, 5, 2, 6>}
// CHECK-NEXT: relay.reshape {{.*}}{newshape = array<i64: 2, 2, 6, 4, 4>}
// CHECK-NEXT: relay.strided_slice {{.*}}{begin = array<i64: 0, 1, -1>, end = array<i64: 2, 6, -4>, strides = array<i64: 1, 2, -1>, axes = array<i64: 0, 2, 3>}
// CHECK-NEXT:     {{.*}} -> tensor<2x2x3x3x4xf32>
// CHECK-NEXT: relay.constant
// CHECK-NEXT: relay.nn.contrib_conv2d_NCHWc
relay.func @pixels_made_of_channels_and_cut_stay_in_blocks(%x: tensor<2x8x3x2xf32>, %b: tensor<32x1x1xf32>) -> tensor<2x8x3x3xf32> {
  %v = relay.constant dense<0.5> : tensor<32x8x1x1xf32>
  %w = relay.constant dense<0.25> : tensor<8x8x1x1xf32>
  %0 = relay.nn.conv2d %x, %v : (tensor<2x8x3x2xf32>, tensor<32x8x1x1xf32>) -> tensor<2x32x3x2xf32>
  %1 = relay.add %0, %b : (tensor<2x32x3x2xf32>, tensor<32x1x1xf32>) -> tensor<2x32x3x2xf32>
  %2 = relay.nn.depth_to_space %1 {block_size = 2 : i64} : (tensor<2x32x3x2xf32>) -> tensor<2x8x6x4xf32>
  %3 = relay.strided_slice %2 {begin = array<i64: 0, 0, 1, -1>, end = array<i64: 2, 8, 6, -4>, strides = array<i64: 1, 1, 2, -1>} : (tensor<2x8x6x4xf32>) -> tensor<2x8x3x3xf32>
  %4 = relay.nn.conv2d %3, %w : (tensor<2x8x3x3xf32>, tensor<8x8x1x1xf32>) -> tensor<2x8x3x3xf32>
  relay.return %4 : tensor<2x8x3x3xf32>
}

// Not so channels of one pixel that are spread over blocks, and a cut through the channels or along the batch.
// CHECK-LABEL: relay.func @channels_of_one_pixel_in_several_blocks_are_plain
// CHECK: relay.nn.depth_to_space {{.*}} -> tensor<2x6x6x4xf32>
// CHECK: relay.nn.depth_to_space {{.*}}mode = "CRD"
// CHECK: relay.strided_slice {{.*}}(tensor<2x24x3x2xf32>) -> tensor<1x8x3x2xf32>
relay.func @channels_of_one_pixel_in_several_blocks_are_plain(%x: tensor<2x8x3x2xf32>, %b: tensor<24x1x1xf32>) -> (tensor<2x6x6x4xf32>, tensor<2x6x6x4xf32>, tensor<1x8x3x2xf32>) {
  %v = relay.constant dense<0.5> : tensor<24x8x1x1xf32>
  %0 = relay.nn.conv2d %x, %v : (tensor<2x8x3x2xf32>, tensor<24x8x1x1xf32>) -> tensor<2x24x3x2xf32>
  %1 = relay.add %0, %b : (tensor<2x24x3x2xf32>, tensor<24x1x1xf32>) -> tensor<2x24x3x2xf32>
  %2 = relay.nn.depth_to_space %1 {block_size = 2 : i64} : (tensor<2x24x3x2xf32>) -> tensor<2x6x6x4xf32>
  %3 = relay.nn.depth_to_space %1 {block_size = 2 : i64, mode = "CRD"} : (tensor<2x24x3x2xf32>) -> tensor<2x6x6x4xf32>
  %4 = relay.strided_slice %1 {begin = array<i64: 1, 3>, end = array<i64: 2, 11>} : (tensor<2x24x3x2xf32>) -> tensor<1x8x3x2xf32>
  relay.return %2, %3, %4 : tensor<2x6x6x4xf32>, tensor<2x6x6x4xf32>, tensor<1x8x3x2xf32>
}

// Two and three images along the axes, the last of which have no 20th row and 21st column of their own.
// CHECK-LABEL: relay.func @taps_that_lie_apart_are_neighbours_in_more_images
// CHECK: relay.nn.pad {{.*}}pad_width = array<i64: 0, 0, 0, 0, 0, 1, 0, 1, 0, 0>{{.*}} -> tensor<2x8x20x21x4xf32>
// CHECK-NEXT: relay.reshape {{.*}}{newshape = array<i64: 2, 8, 10, 2, 7, 3, 4>}
// CHECK-NEXT: relay.transpose {{.*}}{axes = array<i64: 0, 3, 5, 1, 2, 4, 6>}
// CHECK-NEXT: relay.reshape {{.*}}{newshape = array<i64: 12, 8, 10, 7, 4>}
// CHECK-NEXT: relay.nn.contrib_conv2d_winograd_without_weight_transform {{.*}}
// CHECK-NEXT:     {{.*}}padding = array<i64: 1, 0, 1, 1>{{.*}}
// CHECK-NEXT:     {{.*}} -> tensor<12x8x10x6x4xf32>
// CHECK-NEXT: relay.reshape {{.*}}{newshape = array<i64: 2, 2, 3, 8, 10, 6, 4>}
// CHECK-NEXT: relay.transpose {{.*}}{axes = array<i64: 0, 3, 4, 1, 5, 2, 6>}
// CHECK-NEXT: relay.reshape {{.*}}{newshape = array<i64: 2, 8, 20, 18, 4>}
// CHECK-NEXT: relay.strided_slice {{.*}}{begin = array<i64: 0, 0>, end = array<i64: 19, 17>, axes = array<i64: 2, 3>}
// DIRECT-LABEL: relay.func @taps_that_lie_apart_are_neighbours_in_more_images
// DIRECT: relay.nn.contrib_conv2d_NCHWc {{.*}}
// DIRECT-NEXT:       {{.*}}dilation = array<i64: 2, 3>
relay.func @taps_that_lie_apart_are_neighbours_in_more_images(%x: tensor<2x32x19x20xf32>) -> tensor<2x32x19x17xf32> {
  %v = relay.constant dense<0.25> : tensor<32x32x3x3xf32>
  %0 = relay.nn.conv2d %x, %v {dilation = array<i64: 2, 3>, padding = array<i64: 2, 0, 2, 3>} : (tensor<2x32x19x20xf32>, tensor<32x32x3x3xf32>) -> tensor<2x32x19x17xf32>
  relay.return %0 : tensor<2x32x19x17xf32>
}

// The instruction sums four products: of input channels that are neighbours.
// BYTES-LABEL: relay.func @a_convolution_of_bytes_sums_four_channels_at_once
// BYTES: relay.layout_transform {{.*}}{src_layout = "OIHW", dst_layout = "OIHW1i4o4i"} : (tensor<8x8x3x3xi8>) -> tensor<2x2x3x3x1x4x4xi8>
// BYTES: relay.layout_transform %x {src_layout = "NCHW", dst_layout = "NCHW4c"}
// BYTES: relay.nn.contrib_conv2d_NCHWc {{.*}}
// BYTES-NEXT:       {{.*}}kernel_layout = "OIHW1i4o4i"{{.*}}
// BYTES-NEXT:       {{.*}} -> tensor<1x2x5x5x4xi32>
// CHECK-LABEL: relay.func @a_convolution_of_bytes_sums_four_channels_at_once
// CHECK: relay.nn.contrib_conv2d_NCHWc {{.*}}
// CHECK-NEXT:       {{.*}}kernel_layout = "OIHW4i4o"{{.*}}
// CHECK-NEXT:       {{.*}} -> tensor<1x2x5x5x4xi32>
relay.func @a_convolution_of_bytes_sums_four_channels_at_once(%x: tensor<1x8x5x5xui8>) -> tensor<1x8x5x5xi32> {
  %w = relay.constant dense<3> : tensor<8x8x3x3xi8>
  %y = relay.nn.conv2d %x, %w {padding = array<i64: 1, 1>, out_dtype = "int32"} : (tensor<1x8x5x5xui8>, tensor<8x8x3x3xi8>) -> tensor<1x8x5x5xi32>
  relay.return %y : tensor<1x8x5x5xi32>
}

// BYTES-LABEL: relay.func @a_convolution_of_bytes_of_three_channels_is_in_blocks_too
// BYTES: relay.nn.contrib_conv2d_NCHWc {{.*}}kernel_layout = "OIHW1i4o"
relay.func @a_convolution_of_bytes_of_three_channels_is_in_blocks_too(%x: tensor<1x3x5x5xui8>) -> tensor<1x8x3x3xi32> {
  %w = relay.constant dense<3> : tensor<8x3x3x3xi8>
  %y = relay.nn.conv2d %x, %w {out_dtype = "int32"} : (tensor<1x3x5x5xui8>, tensor<8x3x3x3xi8>) -> tensor<1x8x3x3xi32>
  relay.return %y : tensor<1x8x3x3xi32>
}

// A function that sees a value which is computed in blocks now sees it plain.
// CHECK-LABEL: relay.func @what_a_function_sees_is_plain
// CHECK: %[[B:.*]] = relay.nn.relu {{.*}}4xf32>
// CHECK: %[[P:.*]] = relay.layout_transform %[[B]] {{.*}}dst_layout = "NCHW"
// CHECK: relay.fn()
// CHECK-NEXT: relay.tanh %[[P]]
relay.func @what_a_function_sees_is_plain(%x: tensor<1x8x5x5xf32>) -> (tensor<1x8x5x5xf32>, tensor<1x8x5x5xf32>) {
  %v = relay.constant dense<0.5> : tensor<8x8x1x1xf32>
  %0 = relay.nn.conv2d %x, %v : (tensor<1x8x5x5xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x5x5xf32>
  %1 = relay.nn.relu %0 : tensor<1x8x5x5xf32>
  %f = relay.fn() -> tensor<1x8x5x5xf32> {
    %2 = relay.tanh %1 : tensor<1x8x5x5xf32>
    relay.yield %2 : tensor<1x8x5x5xf32>
  }
  %3 = relay.apply %f() : () -> tensor<1x8x5x5xf32>
  %4 = relay.nn.conv2d %1, %v : (tensor<1x8x5x5xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x5x5xf32>
  relay.return %3, %4 : tensor<1x8x5x5xf32>, tensor<1x8x5x5xf32>
}

// What a branch sees is in plain order; convolutions in it have blocks of their own.

// CHECK-LABEL: relay.func @a_branch
// CHECK:         %1 = relay.nn.contrib_conv2d_NCHWc
// CHECK-NEXT:        : (tensor<1x3x6x6x1xf32>, tensor<2x3x3x3x1x4xf32>) -> tensor<1x2x6x6x4xf32>
// CHECK-NEXT:    %2 = relay.layout_transform %1 {src_layout = "NCHW4c", dst_layout = "NCHW"}
// CHECK-NEXT:    relay.if
// CHECK:         relay.nn.contrib_conv2d_NCHWc
// CHECK:         } else {
// CHECK-NEXT:      relay.yield %2 : tensor<1x8x6x6xf32>
relay.func @a_branch(%x: tensor<1x3x6x6xf32>, %c: tensor<i1>) -> tensor<1x8x6x6xf32> {
  %w = relay.constant dense<0.5> : tensor<8x3x3x3xf32>
  %v = relay.constant dense<0.5> : tensor<8x8x1x1xf32>
  %0 = relay.nn.conv2d %x, %w {padding = array<i64: 1, 1>} : (tensor<1x3x6x6xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32>
  %y = relay.if %c : (tensor<i1>) -> tensor<1x8x6x6xf32> {
    %1 = relay.nn.conv2d %0, %v : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
    relay.yield %1 : tensor<1x8x6x6xf32>
  } else {
    relay.yield %0 : tensor<1x8x6x6xf32>
  }
  relay.return %y : tensor<1x8x6x6xf32>
}

// Each matrix of the batch stands in blocks of columns; one for all of the batch multiplies the rows of all.
// CHECK-LABEL: relay.func @a_batch_of_constant_matrices_is_packed
// CHECK: relay.nn.contrib_dense_pack %x, {{.*}}"BNK4n"} : (tensor<2x5x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x5x6xf32>
// CHECK: relay.reshape {{.*}} : (tensor<2x5x6xf32>) -> tensor<10x6xf32>
// CHECK: relay.nn.contrib_dense_pack {{.*}}"NK4n"} : (tensor<10x6xf32>, tensor<2x6x4xf32>) -> tensor<10x7xf32>
// CHECK: relay.reshape {{.*}} -> tensor<2x5x7xf32>
relay.func @a_batch_of_constant_matrices_is_packed(%x: tensor<2x5x3xf32>) -> tensor<2x5x7xf32> {
  %w = relay.constant dense<0.25> : tensor<2x6x3xf32>
  %v = relay.constant dense<0.5> : tensor<1x6x7xf32>
  %0 = relay.nn.batch_matmul %x, %w : (tensor<2x5x3xf32>, tensor<2x6x3xf32>) -> tensor<2x5x6xf32>
  %1 = relay.nn.batch_matmul %0, %v {transpose_b = false} : (tensor<2x5x6xf32>, tensor<1x6x7xf32>) -> tensor<2x5x7xf32>
  relay.return %1 : tensor<2x5x7xf32>
}

// CHECK-LABEL: relay.func @a_transposed_first_factor_of_a_batch_stays
// CHECK: relay.nn.batch_matmul
relay.func @a_transposed_first_factor_of_a_batch_stays(%x: tensor<2x3x5xf32>) -> tensor<2x5x6xf32> {
  %w = relay.constant dense<0.25> : tensor<2x6x3xf32>
  %0 = relay.nn.batch_matmul %x, %w {transpose_a = true} : (tensor<2x3x5xf32>, tensor<2x6x3xf32>) -> tensor<2x5x6xf32>
  relay.return %0 : tensor<2x5x6xf32>
}

// CHECK-LABEL: relay.func @weights_of_few_bits_are_packed_as_they_are
// CHECK: relay.nn.contrib_dense_few_bits {{.*}}weight_layout = "NK4n"}
// CHECK-NEXT: (tensor<1x8xf32>, tensor<2x4x4xui8>, tensor<2x2x4xf32>, tensor<f32>)
relay.func @weights_of_few_bits_are_packed_as_they_are(%x: tensor<1x8xf32>) -> tensor<1x6xf32> {
  %w = relay.constant dense<57> : tensor<1x4x6xui8>
  %s = relay.constant dense<0.5> : tensor<1x2x6xf32>
  %z = relay.constant dense<8.0> : tensor<f32>
  %0 = relay.nn.contrib_dense_few_bits %x, %w, %s, %z {units = 6 : i64, weight_layout = "NK6n"} : (tensor<1x8xf32>, tensor<1x4x6xui8>, tensor<1x2x6xf32>, tensor<f32>) -> tensor<1x6xf32>
  relay.return %0 : tensor<1x6xf32>
}
