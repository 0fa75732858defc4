// RUN: weft-opt %s --verify-diagnostics --split-input-file

relay.func @quantize_of_integers(%x: tensor<4xi32>, %s: tensor<f32>, %z: tensor<i32>) -> tensor<4xi8> {
  // expected-error@+1 {{expected a tensor of f32, got tensor<4xi32>}}
  %r = relay.qnn.quantize %x, %s, %z {out_dtype = "int8"} : (tensor<4xi32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  relay.return %r : tensor<4xi8>
}

// -----

relay.func @dequantize_of_floats(%x: tensor<4xf32>, %s: tensor<f32>, %z: tensor<i32>) -> tensor<4xf32> {
  // expected-error@+1 {{the data must be a tensor of integers, got tensor<4xf32>}}
  %r = relay.qnn.dequantize %x, %s, %z : (tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xf32>
  relay.return %r : tensor<4xf32>
}

// -----

relay.func @requantize_with_a_scale_for_other_slices(%x: tensor<2x4xi32>, %s: tensor<3xf32>, %z: tensor<i32>) -> tensor<2x4xi8> {
  // expected-error@+1 {{the scale of the input is tensor<3xf32>, which is not one number for each slice}}
  %r = relay.qnn.requantize %x, %s, %z, %s, %z {out_dtype = "int8"} : (tensor<2x4xi32>, tensor<3xf32>, tensor<i32>, tensor<3xf32>, tensor<i32>) -> tensor<2x4xi8>
  relay.return %r : tensor<2x4xi8>
}

// -----

relay.func @requantize_with_another_rounding(%x: tensor<4xi32>, %s: tensor<f32>, %z: tensor<i32>) -> tensor<4xi8> {
  // expected-error@+1 {{'rounding' is "DOWN"}}
  %r = relay.qnn.requantize %x, %s, %z, %s, %z {rounding = "DOWN"} : (tensor<4xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  relay.return %r : tensor<4xi8>
}

// -----

relay.func @add_of_different_types(%x: tensor<4xi8>, %y: tensor<4xui8>, %s: tensor<f32>, %z: tensor<i32>) -> tensor<4xi8> {
  // expected-error@+1 {{operands of element types tensor<4xi8> and tensor<4xui8>}}
  %r = relay.qnn.add %x, %y, %s, %z, %s, %z, %s, %z : (tensor<4xi8>, tensor<4xui8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  relay.return %r : tensor<4xi8>
}

// -----

relay.func @concatenate_without_a_scale_for_each(%x: tuple<tensor<4xi8>, tensor<4xi8>>, %ss: tuple<tensor<f32>>, %zz: tuple<tensor<i32>, tensor<i32>>, %s: tensor<f32>, %z: tensor<i32>) -> tensor<8xi8> {
  // expected-error@+1 {{tensors, scales and zero points are not of one number: 2, 1, 2}}
  %r = relay.qnn.concatenate %x, %ss, %zz, %s, %z : (tuple<tensor<4xi8>, tensor<4xi8>>, tuple<tensor<f32>>, tuple<tensor<i32>, tensor<i32>>, tensor<f32>, tensor<i32>) -> tensor<8xi8>
  relay.return %r : tensor<8xi8>
}

// -----

relay.func @dense_with_a_zero_point_of_f32(%x: tensor<2x4xi8>, %w: tensor<3x4xi8>, %z: tensor<f32>, %s: tensor<f32>) -> tensor<2x3xi32> {
  // expected-error@+1 {{the zero point of the data must be i32, got tensor<f32>}}
  %r = relay.qnn.dense %x, %w, %z, %z, %s, %s : (tensor<2x4xi8>, tensor<3x4xi8>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<2x3xi32>
  relay.return %r : tensor<2x3xi32>
}

// -----

relay.func @batch_matmul_in_16_bits(%x: tensor<2x3x4xi8>, %z: tensor<i32>, %s: tensor<f32>) -> tensor<2x3x3xi16> {
  // expected-error@+1 {{sums are of int32}}
  %r = relay.qnn.batch_matmul %x, %x, %z, %z, %s, %s {out_dtype = "int16"} : (tensor<2x3x4xi8>, tensor<2x3x4xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<2x3x3xi16>
  relay.return %r : tensor<2x3x3xi16>
}

// -----

relay.func @tanh_of_floats(%x: tensor<4xf32>, %s: tensor<f32>, %z: tensor<i32>) -> tensor<4xi8> {
  // expected-error@+1 {{the data must be a tensor of integers, got tensor<4xf32>}}
  %r = relay.qnn.tanh %x, %s, %z, %s, %z : (tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  relay.return %r : tensor<4xi8>
}

// -----

relay.func @quantised_channels_in_blocks(%x: tensor<1x1x5x5x4xi8>, %w: tensor<4x4x3x3xi8>, %z: tensor<i32>, %s: tensor<f32>) -> tensor<1x1x3x3x4xi32> {
  // expected-error@+1 {{data_layout NCHW4c is not an order of the axes NCHW}}
  %r = relay.qnn.conv2d %x, %w, %z, %z, %s, %s {channels = 4 : i64, kernel_size = array<i64: 3, 3>, data_layout = "NCHW4c"} : (tensor<1x1x5x5x4xi8>, tensor<4x4x3x3xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x1x3x3x4xi32>
  relay.return %r : tensor<1x1x3x3x4xi32>
}
