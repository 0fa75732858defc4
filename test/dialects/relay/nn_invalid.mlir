// RUN: weft-opt %s --verify-diagnostics --split-input-file

relay.func @convolution_of_too_many_channels(%x: tensor<1x3x8x8xf32>, %w: tensor<4x2x3x3xf32>) -> tensor<1x4x6x6xf32> {
  // expected-error@+1 {{has 3 NCHW channels, but the weight [4, 2, 3, 3] takes 2 OIHW channels in each of 1 groups}}
  %r = relay.nn.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x6x6xf32>
  relay.return %r : tensor<1x4x6x6xf32>
}

// -----

relay.func @convolution_with_a_wrong_number_of_channels(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x5x6x6xf32> {
  // expected-error@+1 {{'channels' is 5, but the weight has 4 output channels}}
  %r = relay.nn.conv2d %x, %w {channels = 5 : i64} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x5x6x6xf32>
  relay.return %r : tensor<1x5x6x6xf32>
}

// -----

relay.func @convolution_with_a_wrong_kernel_size(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32> {
  // expected-error@+1 {{'kernel_size' is [5, 5], but the weight has [3, 3]}}
  %r = relay.nn.conv2d %x, %w {kernel_size = array<i64: 5, 5>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  relay.return %r : tensor<1x4x6x6xf32>
}

// -----

relay.func @window_larger_than_its_data(%x: tensor<1x3x2x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x1x6xf32> {
  // expected-error@+1 {{a window of 3 does not fit into spatial extent 2 with padding 0 and 0}}
  %r = relay.nn.conv2d %x, %w : (tensor<1x3x2x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x1x6xf32>
  relay.return %r : tensor<1x4x1x6xf32>
}

// -----

relay.func @three_values_of_padding(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32> {
  // expected-error@+1 {{'padding' has 3 values; expected 1, 2 or 4}}
  %r = relay.nn.conv2d %x, %w {padding = array<i64: 1, 1, 1>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
  relay.return %r : tensor<1x4x8x8xf32>
}

// -----

relay.func @stride_of_zero(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32> {
  // expected-error@+1 {{'strides' must be at least 1, got [0, 1]}}
  %r = relay.nn.conv2d %x, %w {strides = array<i64: 0, 1>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
  relay.return %r : tensor<1x4x8x8xf32>
}

// -----

relay.func @wrong_result_type(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32> {
  // expected-error@+1 {{has result type tensor<1x4x8x8xf32>, but its operands and attributes give tensor<1x4x6x6xf32>}}
  %r = relay.nn.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
  relay.return %r : tensor<1x4x8x8xf32>
}

// -----

relay.func @rows_of_a_convolution_in_blocks(%x: tensor<1x4x2x8x4xf32>, %w: tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32> {
  // expected-error@+1 {{data_layout NCHW4h is not an order of the axes NCHW, with blocks of NC at most}}
  %r = relay.nn.conv2d %x, %w {data_layout = "NCHW4h"} : (tensor<1x4x2x8x4xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32>
  relay.return %r : tensor<1x4x6x6xf32>
}

// -----

relay.func @channels_that_do_not_fill_their_blocks(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) -> tensor<1x2x6x6x4xf32> {
  // expected-error@+1 {{6 output channels do not divide into blocks of 4 (NCHW4c)}}
  %r = relay.nn.conv2d %x, %w {out_layout = "NCHW4c"} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x2x6x6x4xf32>
  relay.return %r : tensor<1x2x6x6x4xf32>
}

// -----

relay.func @other_channels_in_blocks(%x: tensor<1x2x8x8x4xf32>, %w: tensor<4x4x3x3xf32>) -> tensor<1x1x6x6x4xf32> {
  // expected-error@+1 {{has 8 channels, but the weight [4, 4, 3, 3] (OIHW) takes 4 in each of 1 groups}}
  %r = relay.nn.conv2d %x, %w {data_layout = "NCHW4c"} : (tensor<1x2x8x8x4xf32>, tensor<4x4x3x3xf32>) -> tensor<1x1x6x6x4xf32>
  relay.return %r : tensor<1x1x6x6x4xf32>
}

// -----

relay.func @different_element_types(%x: tensor<1x3x8x8xf16>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32> {
  // expected-error@+1 {{data and weight have element types f16 and f32}}
  %r = relay.nn.conv2d %x, %w : (tensor<1x3x8x8xf16>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  relay.return %r : tensor<1x4x6x6xf32>
}

// -----

relay.func @different_channel_blocks(%x: tensor<1x1x8x8x4xf32>, %w: tensor<1x1x3x3x3x4xf32>) -> tensor<1x1x6x6x4xf32> {
  // expected-error@+1 {{the blocks of input channels differ: NCHW4c and OIHW3i4o}}
  %r = relay.nn.contrib_conv2d_NCHWc %x, %w {data_layout = "NCHW4c", kernel_layout = "OIHW3i4o"} : (tensor<1x1x8x8x4xf32>, tensor<1x1x3x3x3x4xf32>) -> tensor<1x1x6x6x4xf32>
  relay.return %r : tensor<1x1x6x6x4xf32>
}

// -----

relay.func @too_many_groups_of_a_depthwise_convolution(%x: tensor<1x1x8x8x4xf32>, %w: tensor<1x1x3x3x1x4xf32>) -> tensor<1x1x6x6x4xf32> {
  // expected-error@+1 {{'groups' is 5, but the data has 1 blocks of channels}}
  %r = relay.nn.contrib_depthwise_conv2d_NCHWc %x, %w {data_layout = "NCHW4c", kernel_layout = "OIHW1i4o", groups = 5 : i64} : (tensor<1x1x8x8x4xf32>, tensor<1x1x3x3x1x4xf32>) -> tensor<1x1x6x6x4xf32>
  relay.return %r : tensor<1x1x6x6x4xf32>
}

// -----

relay.func @transposed_convolution_of_other_channels(%x: tensor<1x3x8x8xf32>, %w: tensor<2x4x3x3xf32>) -> tensor<1x4x10x10xf32> {
  // expected-error@+1 {{has 3 channels, the weight [2, 4, 3, 3] takes 2}}
  %r = relay.nn.conv2d_transpose %x, %w : (tensor<1x3x8x8xf32>, tensor<2x4x3x3xf32>) -> tensor<1x4x10x10xf32>
  relay.return %r : tensor<1x4x10x10xf32>
}

// -----

relay.func @dense_of_different_depths(%x: tensor<2x4xf32>, %w: tensor<3x5xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{operands [2, 4] and [3, 5] have 4 and 5 elements to sum over}}
  %r = relay.nn.dense %x, %w : (tensor<2x4xf32>, tensor<3x5xf32>) -> tensor<2x3xf32>
  relay.return %r : tensor<2x3xf32>
}

// -----

relay.func @dense_with_wrong_units(%x: tensor<2x4xf32>, %w: tensor<3x4xf32>) -> tensor<2x4xf32> {
  // expected-error@+1 {{'units' is 4, but the weight [3, 4] has 3}}
  %r = relay.nn.dense %x, %w {units = 4 : i64} : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  relay.return %r : tensor<2x4xf32>
}

// -----

relay.func @batches_that_do_not_broadcast(%x: tensor<2x3x4xf32>, %y: tensor<3x5x4xf32>) -> tensor<2x3x5xf32> {
  // expected-error@+1 {{dimensions 2 and 3 do not broadcast}}
  %r = relay.nn.batch_matmul %x, %y : (tensor<2x3x4xf32>, tensor<3x5x4xf32>) -> tensor<2x3x5xf32>
  relay.return %r : tensor<2x3x5xf32>
}

// -----

relay.func @bias_of_another_length(%x: tensor<2x3xf32>, %b: tensor<2xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{'bias' must have one element for each of axis 1 of tensor<2x3xf32>, got tensor<2xf32>}}
  %r = relay.nn.bias_add %x, %b : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  relay.return %r : tensor<2x3xf32>
}

// -----

relay.func @softmax_axis_out_of_range(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{axis 2 is out of range for a tensor of rank 2}}
  %r = relay.nn.softmax %x {axis = 2 : i64} : tensor<2x3xf32>
  relay.return %r : tensor<2x3xf32>
}

// -----

relay.func @softmax_of_integers(%x: tensor<2x3xi32>) -> tensor<2x3xi32> {
  // expected-error@+1 {{expected floating-point data}}
  %r = relay.nn.softmax %x : tensor<2x3xi32>
  relay.return %r : tensor<2x3xi32>
}

// -----

relay.func @statistics_of_another_axis(%x: tensor<2x3x4xf32>, %g: tensor<3xf32>) -> tensor<2x3x4xf32> {
  // expected-error@+1 {{'gamma' must have one element for each of axis 2}}
  %r = relay.nn.layer_norm %x, %g, %g : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  relay.return %r : tensor<2x3x4xf32>
}

// -----

relay.func @groups_that_do_not_divide_the_channels(%x: tensor<2x3x4xf32>, %g: tensor<3xf32>) -> tensor<2x3x4xf32> {
  // expected-error@+1 {{3 channels do not divide into 2 groups}}
  %r = relay.nn.group_norm %x, %g, %g {num_groups = 2 : i64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  relay.return %r : tensor<2x3x4xf32>
}

// -----

relay.func @padding_of_another_rank(%x: tensor<2x3xf32>, %v: tensor<f32>) -> tensor<2x4xf32> {
  // expected-error@+1 {{'pad_width' has 2 values for rank 2; expected two a dimension}}
  %r = relay.nn.pad %x, %v {pad_width = array<i64: 0, 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x4xf32>
  relay.return %r : tensor<2x4xf32>
}

// -----

relay.func @mirror_image_of_too_much(%x: tensor<2x3xf32>) -> tensor<2x6xf32> {
  // expected-error@+1 {{dimension 1 of 3 elements has no mirror image of 3}}
  %r = relay.nn.mirror_pad %x {pad_width = array<i64: 0, 0, 3, 0>, mode = "REFLECT"} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  relay.return %r : tensor<2x6xf32>
}

// -----

relay.func @unknown_method(%x: tensor<1x1x2x2xf32>) -> tensor<1x1x4x4xf32> {
  // expected-error@+1 {{'method' is "lanczos"; expected one of nearest_neighbor, linear, cubic}}
  %r = relay.image.resize2d %x {size = array<i64: 4, 4>, method = "lanczos"} : (tensor<1x1x2x2xf32>) -> tensor<1x1x4x4xf32>
  relay.return %r : tensor<1x1x4x4xf32>
}

// -----

relay.func @layouts_of_different_axes(%x: tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32> {
  // expected-error@+1 {{layouts NCHW and OIHW do not have the same axes}}
  %r = relay.layout_transform %x {src_layout = "NCHW", dst_layout = "OIHW"} : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  relay.return %r : tensor<1x1x2x2xf32>
}

// -----

relay.func @cropped_by_more_than_a_block(%x: tensor<1x2x2x2x4xf32>) -> tensor<1x4x2x2xf32> {
  // expected-error@+1 {{axis C of extent 8 in NCHW4c cannot hold just 4}}
  %r = relay.layout_transform %x {src_layout = "NCHW4c", dst_layout = "NCHW", extents = array<i64: 0, 4, 0, 0>} : (tensor<1x2x2x2x4xf32>) -> tensor<1x4x2x2xf32>
  relay.return %r : tensor<1x4x2x2xf32>
}

// -----

relay.func @block_of_another_size(%x: tensor<1x2x2x2x4xf32>) -> tensor<1x2x1x1x4xf32> {
  // expected-error@+1 {{the data has extent 4 where layout NCHW8c has a block of 8c}}
  %r = relay.nn.global_avg_pool2d %x {layout = "NCHW8c"} : (tensor<1x2x2x2x4xf32>) -> tensor<1x2x1x1x4xf32>
  relay.return %r : tensor<1x2x1x1x4xf32>
}

// -----

relay.func @pool_over_a_missing_axis(%x: tensor<1x2x2xf32>) -> tensor<1x2x1xf32> {
  // expected-error@+1 {{layout NCW has no whole axis H}}
  %r = relay.nn.global_avg_pool2d %x {layout = "NCW"} : (tensor<1x2x2xf32>) -> tensor<1x2x1xf32>
  relay.return %r : tensor<1x2x1xf32>
}

// -----

relay.func @depth_that_does_not_divide(%x: tensor<1x6x2x2xf32>) -> tensor<1x1x4x4xf32> {
  // expected-error@+1 {{the number of channels 6 does not divide by 4}}
  %r = relay.nn.depth_to_space %x {block_size = 2 : i64} : (tensor<1x6x2x2xf32>) -> tensor<1x1x4x4xf32>
  relay.return %r : tensor<1x1x4x4xf32>
}

// -----

relay.func @parametric_relu_with_another_number_of_slopes(%x: tensor<1x3x2x2xf32>, %a: tensor<4xf32>) {
  // expected-error@+1 {{alpha}}
  %r = relay.nn.prelu %x, %a : (tensor<1x3x2x2xf32>, tensor<4xf32>) -> tensor<1x3x2x2xf32>
  relay.return
}

// -----

relay.func @batch_norm_along_an_axis_out_of_range(%x: tensor<1x3xf32>, %v: tensor<3xf32>) {
  // expected-error@+1 {{axis 2 is out of range for a tensor of rank 2}}
  %r = relay.nn.batch_norm %x, %v, %v, %v, %v {axis = 2 : i64} : (tensor<1x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tuple<tensor<1x3xf32>, tensor<3xf32>, tensor<3xf32>>
  relay.return
}

// -----

relay.func @transformation_of_a_weight_of_five_taps(%w: tensor<4x3x5x5xf32>) {
  // expected-error@+1 {{expected a weight of 3x3 taps in OIHW, got [4, 3, 5, 5]}}
  %r = relay.nn.contrib_conv2d_winograd_weight_transform %w {tile_size = 4 : i64} : (tensor<4x3x5x5xf32>) -> tensor<6x6x4x3xf32>
  relay.return
}

// -----

relay.func @transformation_of_a_weight_along_one_axis(%w: tensor<4x3x3xf32>) {
  // expected-error@+1 {{expected a weight of 3x3 taps in OIHW, got [4, 3, 3]}}
  %r = relay.nn.contrib_conv2d_winograd_weight_transform %w {tile_size = 4 : i64} : (tensor<4x3x3xf32>) -> tensor<6x6x4x3xf32>
  relay.return
}

// -----

relay.func @transformation_for_tiles_of_three(%w: tensor<4x3x3x3xf32>) {
  // expected-error@+1 {{'tile_size' is 3; it can be 2 or 4}}
  %r = relay.nn.contrib_conv2d_winograd_weight_transform %w {tile_size = 3 : i64} : (tensor<4x3x3x3xf32>) -> tensor<5x5x4x3xf32>
  relay.return
}

// -----

relay.func @tiles_of_another_extent_than_the_weight_is_for(%x: tensor<1x3x8x8xf32>, %w: tensor<6x6x4x3xf32>) {
  // expected-error@+1 {{'tile_size' 2 needs 4x4 points, the weight has [6, 6, 4, 3]}}
  %r = relay.nn.contrib_conv2d_winograd_without_weight_transform %x, %w {tile_size = 2 : i64} : (tensor<1x3x8x8xf32>, tensor<6x6x4x3xf32>) -> tensor<1x4x6x6xf32>
  relay.return
}

// -----

relay.func @tiles_with_strides(%x: tensor<1x3x8x8xf32>, %w: tensor<4x4x4x3xf32>) {
  // expected-error@+1 {{strides, dilation and groups must be 1}}
  %r = relay.nn.contrib_conv2d_winograd_without_weight_transform %x, %w {tile_size = 2 : i64, strides = array<i64: 2, 2>} : (tensor<1x3x8x8xf32>, tensor<4x4x4x3xf32>) -> tensor<1x4x3x3xf32>
  relay.return
}

// -----

relay.func @tiles_of_any_number_of_channels(%x: tensor<1x?x8x8xf32>, %w: tensor<4x4x4x3xf32>) {
  // expected-error@+1 {{the channels and taps of its operands must be known}}
  %r = relay.nn.contrib_conv2d_winograd_without_weight_transform %x, %w {tile_size = 2 : i64} : (tensor<1x?x8x8xf32>, tensor<4x4x4x3xf32>) -> tensor<1x4x6x6xf32>
  relay.return
}

// -----

relay.func @packed_weight_with_another_number_of_elements(%x: tensor<2x5xf32>, %w: tensor<2x3x4xf32>) {
  // expected-error@+1 {{has 5 elements to sum over, the weight has 3}}
  %r = relay.nn.contrib_dense_pack %x, %w {weight_layout = "NK4n"} : (tensor<2x5xf32>, tensor<2x3x4xf32>) -> tensor<2x8xf32>
  relay.return
}

// -----

relay.func @packed_weights_of_another_batch(%x: tensor<2x2x3xf32>, %w: tensor<3x2x3x4xf32>) {
  // expected-error@+1 {{dimensions 2 and 3}}
  %r = relay.nn.contrib_dense_pack %x, %w {weight_layout = "BNK4n"} : (tensor<2x2x3xf32>, tensor<3x2x3x4xf32>) -> tensor<2x2x8xf32>
  relay.return
}

// -----

relay.func @packed_weights_of_a_batch_for_one_matrix(%x: tensor<2x3xf32>, %w: tensor<2x2x3x4xf32>) {
  // expected-error@+1 {{expected data of rank 3 or more, got [2, 3]}}
  %r = relay.nn.contrib_dense_pack %x, %w {weight_layout = "BNK4n"} : (tensor<2x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x8xf32>
  relay.return
}

// -----

relay.func @bytes_that_are_no_blocks(%x: tensor<2x6xf32>, %w: tensor<1x3x4xui8>, %s: tensor<1x2x4xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{3 bytes for each column are not 2 blocks}}
  %r = relay.nn.contrib_dense_few_bits %x, %w, %s, %z {units = 4 : i64, weight_layout = "NK4n"} : (tensor<2x6xf32>, tensor<1x3x4xui8>, tensor<1x2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  relay.return
}

// -----

relay.func @norm_along_an_axis_out_of_range(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{axis 2 is out of range for a tensor of rank 2}}
  %r = relay.nn.l2_normalize %x {eps = 1.0e-06 : f64, axis = array<i64: 2>} : tensor<2x4xf32>
  relay.return
}

// -----

relay.func @local_norm_over_nothing(%x: tensor<1x4x2x2xf32>) {
  // expected-error@+1 {{'size' must be at least 1, got 0}}
  %r = relay.nn.lrn %x {size = 0 : i64} : tensor<1x4x2x2xf32>
  relay.return
}

// -----

relay.func @dilation_with_a_stride_missing(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'strides' must be 2 values of at least 1, got [2]}}
  %r = relay.nn.dilate %x {strides = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<3x5xf32>
  relay.return
}

// -----

relay.func @upsampling_that_leaves_nothing(%x: tensor<1x1x2x2xf32>) {
  // expected-error@+1 {{a scale of 0.1 leaves nothing of axis H}}
  %r = relay.nn.upsampling %x {scale_h = 0.1 : f64, scale_w = 1.0 : f64} : (tensor<1x1x2x2xf32>) -> tensor<1x1x0x2xf32>
  relay.return
}

// -----

relay.func @upsampling_of_volumes_of_rank_4(%x: tensor<1x1x2x2xf32>) {
  // expected-error@+1 {{the data has rank 4, but layout NCDHW has 5 dimensions}}
  %r = relay.nn.upsampling3d %x {scale_d = 2.0 : f64} : (tensor<1x1x2x2xf32>) -> tensor<1x1x4x2xf32>
  relay.return
}

// -----

relay.func @flattening_of_a_scalar(%x: tensor<f32>) {
  // expected-error@+1 {{expected data of rank 1 or more, got a scalar}}
  %r = relay.nn.batch_flatten %x : (tensor<f32>) -> tensor<1x1xf32>
  relay.return
}

// -----

relay.func @space_that_its_blocks_do_not_divide(%x: tensor<1x3x4x3xf32>) {
  // expected-error@+1 {{the padded dimension 1}}
  %r = relay.nn.space_to_batch_nd %x {block_shape = array<i64: 2, 2>} : (tensor<1x3x4x3xf32>) -> tensor<4x2x2x3xf32>
  relay.return
}

// -----

relay.func @batch_that_its_blocks_do_not_divide(%x: tensor<3x2x2x3xf32>) {
  // expected-error@+1 {{the batch}}
  %r = relay.nn.batch_to_space_nd %x {block_shape = array<i64: 2, 2>} : (tensor<3x2x2x3xf32>) -> tensor<1x4x4x3xf32>
  relay.return
}

// -----

relay.func @crop_of_boxes_with_three_sides(%x: tensor<1x4x4x1xf32>, %b: tensor<2x3xf32>, %i: tensor<2xi32>) {
  // expected-error@+1 {{expected boxes [n, 4] and box indices [n], got [2, 3] and [2]}}
  %r = relay.image.crop_and_resize %x, %b, %i {crop_size = array<i64: 2, 2>, layout = "NHWC"} : (tensor<1x4x4x1xf32>, tensor<2x3xf32>, tensor<2xi32>) -> tensor<2x2x2x1xf32>
  relay.return
}

// -----

relay.func @grid_of_matrices_of_another_shape(%x: tensor<1x3x3xf32>) {
  // expected-error@+1 {{expected matrices [n, 2, 3] of floats, got tensor<1x3x3xf32>}}
  %r = relay.image.affine_grid %x {target_shape = array<i64: 4, 3>} : (tensor<1x3x3xf32>) -> tensor<1x2x4x3xf32>
  relay.return
}

// -----

relay.func @sample_with_a_grid_for_another_batch(%x: tensor<1x2x4x4xf32>, %g: tensor<2x2x3x3xf32>) {
  // expected-error@+1 {{there are 1 images, but 2 grids}}
  %r = relay.image.grid_sample %x, %g : (tensor<1x2x4x4xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  relay.return
}

// -----

relay.func @regions_of_four_numbers(%x: tensor<1x2x4x4xf32>, %rois: tensor<3x4xf32>) {
  // expected-error@+1 {{expected regions [r, 5], got tensor<3x4xf32>}}
  %r = relay.vision.roi_pool %x, %rois {pooled_size = array<i64: 2, 2>, spatial_scale = 1.0 : f64} : (tensor<1x2x4x4xf32>, tensor<3x4xf32>) -> tensor<3x2x2x2xf32>
  relay.return
}

// -----

relay.func @regions_aligned_in_an_unknown_mode(%x: tensor<1x2x4x4xf32>, %rois: tensor<3x5xf32>) {
  // expected-error@+1 {{'mode'}}
  %r = relay.vision.roi_align %x, %rois {pooled_size = array<i64: 2, 2>, spatial_scale = 1.0 : f64, mode = "sum"} : (tensor<1x2x4x4xf32>, tensor<3x5xf32>) -> tensor<3x2x2x2xf32>
  relay.return
}

// -----

relay.func @local_response_normalization_of_integers(%x: tensor<1x4x2x2xui16>) {
  // expected-error@+1 {{expected a tensor of floats, got tensor<1x4x2x2xui16>}}
  %r = relay.nn.lrn %x {size = 3 : i64} : tensor<1x4x2x2xui16>
  relay.return
}

// -----

relay.func @length_of_integers(%x: tensor<1x4x2x2xui16>) {
  // expected-error@+1 {{expected a tensor of floats, got tensor<1x4x2x2xui16>}}
  %r = relay.nn.l2_normalize %x {eps = 1.000000e-06 : f64, axis = array<i64: 1>} : tensor<1x4x2x2xui16>
  relay.return
}

// -----

relay.func @leaky_rectifier_of_integers(%x: tensor<1x4x2x2xui16>) {
  // expected-error@+1 {{expected a tensor of floats, got tensor<1x4x2x2xui16>}}
  %r = relay.nn.leaky_relu %x {alpha = 0.1 : f64} : tensor<1x4x2x2xui16>
  relay.return
}

// -----

relay.func @group_normalization_of_integers(%x: tensor<1x4x2x2xui16>, %v: tensor<4xui16>) {
  // expected-error@+1 {{expected a tensor of floats, got tensor<1x4x2x2xui16>}}
  %r = relay.nn.group_norm %x, %v, %v {num_groups = 2 : i64} : (tensor<1x4x2x2xui16>, tensor<4xui16>, tensor<4xui16>) -> tensor<1x4x2x2xui16>
  relay.return
}

// -----

relay.func @batch_normalization_of_integers(%x: tensor<1x4x2x2xui16>, %v: tensor<4xui16>) {
  // expected-error@+1 {{expected a tensor of floats, got tensor<1x4x2x2xui16>}}
  %r = relay.nn.batch_norm %x, %v, %v, %v, %v : (tensor<1x4x2x2xui16>, tensor<4xui16>, tensor<4xui16>, tensor<4xui16>, tensor<4xui16>) -> tuple<tensor<1x4x2x2xui16>, tensor<4xui16>, tensor<4xui16>>
  relay.return
}

// -----

relay.func @mean_of_truth_values(%x: tensor<1x4x2x2xi1>) {
  // expected-error@+1 {{expected a tensor of numbers to take the mean of, got tensor<1x4x2x2xi1>}}
  %r = relay.nn.avg_pool2d %x {pool_size = array<i64: 2, 2>} : (tensor<1x4x2x2xi1>) -> tensor<1x4x1x1xi1>
  relay.return
}

// -----

relay.func @adaptive_mean_of_truth_values(%x: tensor<1x4x2x2xi1>) {
  // expected-error@+1 {{expected a tensor of numbers to take the mean of, got tensor<1x4x2x2xi1>}}
  %r = relay.nn.adaptive_avg_pool2d %x {output_size = array<i64: 1, 1>} : (tensor<1x4x2x2xi1>) -> tensor<1x4x1x1xi1>
  relay.return
}

// -----

relay.func @images_without_elements_resized(%x: tensor<1x4x0x2xf32>) {
  // expected-error@+1 {{cannot resize images without elements, got tensor<1x4x0x2xf32>}}
  %r = relay.image.resize2d %x {size = array<i64: 3, 3>} : (tensor<1x4x0x2xf32>) -> tensor<1x4x3x3xf32>
  relay.return
}

// -----

relay.func @a_gradient_that_is_not_of_the_pool(%g: tensor<1x4x2x2xf32>, %x: tensor<1x4x8x8xf32>) {
  // expected-error@+1 {{the gradient of a pool of tensor<1x4x8x8xf32> is tensor<1x4x4x4xf32>, not tensor<1x4x2x2xf32>}}
  %r = relay.nn.max_pool2d_grad %g, %x {pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x4x2x2xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  relay.return
}

// -----

relay.func @entropy_of_other_classes(%p: tensor<2x3xf32>, %t: tensor<2x4xf32>) {
  // expected-error@+1 {{expected two tensors [n, classes] of one type, got tensor<2x3xf32> and tensor<2x4xf32>}}
  %r = relay.nn.cross_entropy %p, %t : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<f32>
  relay.return
}

// -----

relay.func @targets_of_other_places(%p: tensor<2x3x4xf32>, %t: tensor<2x5xi32>, %w: tensor<3xf32>) {
  // expected-error@+1 {{the targets of tensor<2x3x4xf32> are tensor<2x4xi32>, not tensor<2x5xi32>}}
  %r = relay.nn.nll_loss %p, %t, %w : (tensor<2x3x4xf32>, tensor<2x5xi32>, tensor<3xf32>) -> tensor<f32>
  relay.return
}

// -----

relay.func @a_gradient_that_is_not_of_the_convolution(%g: tensor<1x3x4x4xf32>, %x: tensor<1x2x4x4xf32>) {
  // expected-error@+1 {{the gradient of the convolution of tensor<1x2x4x4xf32> is tensor<1x3x2x2xf32>, not tensor<1x3x4x4xf32>}}
  %r = relay.nn.conv2d_backward_weight %g, %x {kernel_size = array<i64: 3, 3>} : (tensor<1x3x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<3x2x3x3xf32>
  relay.return
}

// -----

relay.func @offsets_for_another_kernel(%x: tensor<1x2x4x4xf32>, %o: tensor<1x8x4x4xf32>, %w: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{the offset is tensor<1x18x2x2xf32>, not tensor<1x8x4x4xf32>}}
  %r = relay.nn.deformable_conv2d %x, %o, %w : (tensor<1x2x4x4xf32>, tensor<1x8x4x4xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x2x2xf32>
  relay.return
}

// -----

relay.func @a_fraction_above_one(%x: tensor<4xi32>) {
  // expected-error@+1 {{'multiplier' is a fraction of 31 bits, not 2147483648}}
  %r = relay.fixed_point_multiply %x {multiplier = 2147483648 : i64, shift = 0 : i64} : tensor<4xi32>
  relay.return
}

// -----

relay.func @bounds_for_one_of_two_dimensions(%x: tensor<4x4xf32>, %v: tensor<2x2xf32>, %b: tensor<1xi64>) {
  // expected-error@+1 {{'begin' has one integer for each of 2 dimensions, but is tensor<1xi64>}}
  %r = relay.strided_set %x, %v, %b, %b, %b : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4x4xf32>
  relay.return
}

// -----

relay.func @images_that_are_smaller_than_displacements_reach(%a: tensor<1x2x4x6xf32>, %b: tensor<1x2x4x6xf32>) {
  // expected-error@+1 {{displacements and windows reach 2 over an extent of 4}}
  %r = relay.nn.correlation %a, %b {max_displacement = 2 : i64} : (tensor<1x2x4x6xf32>, tensor<1x2x4x6xf32>) -> tensor<1x25x1x2xf32>
  relay.return
}

// -----

relay.func @a_window_of_an_even_size(%a: tensor<1x2x4x6xf32>, %b: tensor<1x2x4x6xf32>) {
  // expected-error@+1 {{it needs a window of an odd size}}
  %r = relay.nn.correlation %a, %b {kernel_size = 2 : i64} : (tensor<1x2x4x6xf32>, tensor<1x2x4x6xf32>) -> tensor<1x9x2x4xf32>
  relay.return
}

// -----

relay.func @a_weight_for_other_channels(%x: tensor<1x2x4x4xf32>, %w: tensor<3x3x3xf32>) {
  // expected-error@+1 {{the data has 2 channels, but the weight has 3}}
  %r = relay.image.dilation2d %x, %w : (tensor<1x2x4x4xf32>, tensor<3x3x3xf32>) -> tensor<1x2x2x2xf32>
  relay.return
}

// -----

relay.func @a_value_between_that_the_elements_cannot_be(%x: tensor<1x2xui8>) -> tensor<1x4xui8> {
  // expected-error @+1 {{'dilation_value' is not of the type of the elements: te: -1.0 is no ui8}}
  %r = relay.nn.dilate %x {strides = array<i64: 1, 3>, dilation_value = -1.0 : f64} : (tensor<1x2xui8>) -> tensor<1x4xui8>
  relay.return %r : tensor<1x4xui8>
}

// -----

relay.func @images_that_are_no_volumes(%x: tensor<5x2x4xf32>) {
  // expected-error@+1 {{5 images are no volumes of 2 planes}}
  %r = relay.nn.contrib_see_planes %x {planes = array<i64: 2, 1, 1, 1, 0, 0>} : (tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
  relay.return
}

// -----

relay.func @images_of_which_nobody_knows_how_many_there_are(%x: tensor<?x2x4xf32>) {
  // expected-error@+1 {{? images are no volumes of 2 planes}}
  %r = relay.nn.contrib_see_planes %x {planes = array<i64: 2, 1, 1, 1, 0, 0>} : (tensor<?x2x4xf32>) -> tensor<?x2x4xf32>
  relay.return
}

// -----

relay.func @planes_without_numbers(%x: tensor<4x2x4xf32>) {
  // expected-error@+1 {{'planes' has six numbers, not 2}}
  %r = relay.nn.contrib_see_planes %x {planes = array<i64: 2, 1>} : (tensor<4x2x4xf32>) -> tensor<4x2x4xf32>
  relay.return
}

// -----

relay.func @more_planes_seen_than_there_are(%x: tensor<4x2x4xf32>) {
  // expected-error@+1 {{there are no planes [2, 4, 1, 1, 1, 0]}}
  %r = relay.nn.contrib_see_planes %x {planes = array<i64: 2, 4, 1, 1, 1, 0>} : (tensor<4x2x4xf32>) -> tensor<4x2x4xf32>
  relay.return
}

// -----

relay.func @a_weight_for_fewer_planes(%x: tensor<4x1x4x4x4xf32>, %w: tensor<1x3x3x3x4x4xf32>) {
  // expected-error@+1 {{does not see 2 planes in one group}}
  %r = relay.nn.contrib_conv2d_NCHWc %x, %w {data_layout = "NCHW4c", kernel_layout = "OIHW4i4o", planes = array<i64: 4, 2, 1, 1, 0, 0>} : (tensor<4x1x4x4x4xf32>, tensor<1x3x3x3x4x4xf32>) -> tensor<3x1x2x2x4xf32>
  relay.return
}
