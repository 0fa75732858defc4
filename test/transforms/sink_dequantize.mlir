// RUN: weft-opt %s -O3 -p sink-dequantize,dead-code-elimination | filecheck %s
// RUN: weft-opt %s -O3 -p "sink-dequantize{data=uint8},dead-code-elimination" | filecheck %s --check-prefix=UNSIGNED

// CHECK-LABEL: relay.func @a_convolution_between_dequantize_and_quantize_is_one_of_bytes
// CHECK: %[[SUM:.*]] = relay.qnn.conv2d %x, %w
// CHECK: relay.cast %{{.*}} {dtype = "float32"}
// CHECK-NEXT: %[[FACTOR:.*]] = relay.constant dense<1.250000e-01>
// CHECK-NEXT: relay.multiply %{{.*}}, %[[FACTOR]]
// CHECK-NEXT: relay.round
// CHECK-NEXT: %[[ZERO:.*]] = relay.constant dense<1.000000e+00>
// CHECK-NEXT: relay.add %{{.*}}, %[[ZERO]]
// CHECK-NEXT: relay.clip %{{.*}} {a_min = -1.280000e+02 : f64, a_max = 1.270000e+02 : f64}
// CHECK-NEXT: relay.cast %{{.*}} {dtype = "int8"}
// CHECK-NEXT: relay.return
// UNSIGNED-LABEL: relay.func @a_convolution_between_dequantize_and_quantize_is_one_of_bytes
// UNSIGNED: %[[TOP:.*]] = relay.bitwise_xor %x
// UNSIGNED-NEXT: %[[MOVED:.*]] = relay.cast %[[TOP]] {dtype = "uint8"}
// UNSIGNED: %[[ZERO:.*]] = relay.constant dense<131>
// UNSIGNED: relay.qnn.conv2d %[[MOVED]], %w, %[[ZERO]]
relay.func @a_convolution_between_dequantize_and_quantize_is_one_of_bytes(%x: tensor<1x4x5x5xi8>, %w: tensor<8x4x3x3xi8>) -> tensor<1x8x3x3xi8> {
  %s = relay.constant dense<0.25> : tensor<f32>
  %t = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<3> : tensor<i32>
  %o = relay.constant dense<0> : tensor<i32>
  %u = relay.constant dense<1> : tensor<i32>
  %a = relay.qnn.dequantize %x, %s, %z : (tensor<1x4x5x5xi8>, tensor<f32>, tensor<i32>) -> tensor<1x4x5x5xf32>
  %b = relay.qnn.dequantize %w, %s, %o : (tensor<8x4x3x3xi8>, tensor<f32>, tensor<i32>) -> tensor<8x4x3x3xf32>
  %c = relay.nn.conv2d %a, %b : (tensor<1x4x5x5xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x3x3xf32>
  %y = relay.qnn.quantize %c, %t, %u {out_dtype = "int8"} : (tensor<1x8x3x3xf32>, tensor<f32>, tensor<i32>) -> tensor<1x8x3x3xi8>
  relay.return %y : tensor<1x8x3x3xi8>
}

// CHECK-LABEL: relay.func @a_bias_of_the_products_scale_is_added_to_the_sum
// CHECK: %[[SUM:.*]] = relay.qnn.dense %x, %w
// CHECK: %[[ALL:.*]] = relay.nn.bias_add %[[SUM]], %{{.*}} : (tensor<2x8xi32>, tensor<8xi32>)
// CHECK: relay.maximum %[[ALL]]
// CHECK: relay.qnn.dequantize
relay.func @a_bias_of_the_products_scale_is_added_to_the_sum(%x: tensor<2x4xui8>, %w: tensor<8x4xi8>) -> tensor<2x8xf32> {
  %s = relay.constant dense<0.25> : tensor<f32>
  %t = relay.constant dense<0.0625> : tensor<f32>
  %z = relay.constant dense<0> : tensor<i32>
  %bias = relay.constant dense<[1, 2, 3, 4, 5, 6, 7, 8]> : tensor<8xi32>
  %a = relay.qnn.dequantize %x, %s, %z : (tensor<2x4xui8>, tensor<f32>, tensor<i32>) -> tensor<2x4xf32>
  %b = relay.qnn.dequantize %w, %s, %z : (tensor<8x4xi8>, tensor<f32>, tensor<i32>) -> tensor<8x4xf32>
  %d = relay.qnn.dequantize %bias, %t, %z : (tensor<8xi32>, tensor<f32>, tensor<i32>) -> tensor<8xf32>
  %0 = relay.nn.dense %a, %b : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
  %1 = relay.nn.bias_add %0, %d : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  %2 = relay.nn.relu %1 : tensor<2x8xf32>
  relay.return %2 : tensor<2x8xf32>
}

// CHECK-LABEL: relay.func @a_bias_of_another_scale_stays_one_of_floats
// CHECK: relay.qnn.dense
// CHECK: relay.nn.bias_add %{{.*}}, %{{.*}} : (tensor<2x8xf32>, tensor<8xf32>)
relay.func @a_bias_of_another_scale_stays_one_of_floats(%x: tensor<2x4xui8>, %w: tensor<8x4xi8>) -> tensor<2x8xf32> {
  %s = relay.constant dense<2.5e-5> : tensor<f32>
  %t = relay.constant dense<6.0e-10> : tensor<f32>
  %z = relay.constant dense<0> : tensor<i32>
  %bias = relay.constant dense<[1, 2, 3, 4, 5, 6, 7, 8]> : tensor<8xi32>
  %a = relay.qnn.dequantize %x, %s, %z : (tensor<2x4xui8>, tensor<f32>, tensor<i32>) -> tensor<2x4xf32>
  %b = relay.qnn.dequantize %w, %s, %z : (tensor<8x4xi8>, tensor<f32>, tensor<i32>) -> tensor<8x4xf32>
  %d = relay.qnn.dequantize %bias, %t, %z : (tensor<8xi32>, tensor<f32>, tensor<i32>) -> tensor<8xf32>
  %0 = relay.nn.dense %a, %b : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
  %1 = relay.nn.bias_add %0, %d : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  relay.return %1 : tensor<2x8xf32>
}

// CHECK-LABEL: relay.func @weights_that_are_not_around_zero_stay
// CHECK: relay.nn.dense %{{.*}} : (tensor<2x4xf32>, tensor<8x4xf32>)
relay.func @weights_that_are_not_around_zero_stay(%x: tensor<2x4xui8>, %w: tensor<8x4xui8>) -> tensor<2x8xf32> {
  %s = relay.constant dense<0.25> : tensor<f32>
  %z = relay.constant dense<7> : tensor<i32>
  %a = relay.qnn.dequantize %x, %s, %z : (tensor<2x4xui8>, tensor<f32>, tensor<i32>) -> tensor<2x4xf32>
  %b = relay.qnn.dequantize %w, %s, %z : (tensor<8x4xui8>, tensor<f32>, tensor<i32>) -> tensor<8x4xf32>
  %0 = relay.nn.dense %a, %b : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
  relay.return %0 : tensor<2x8xf32>
}

// CHECK-LABEL: relay.func @sums_that_32_bits_might_not_hold_stay
// CHECK: relay.nn.dense %{{.*}} : (tensor<2x40000xf32>, tensor<8x40000xf32>)
relay.func @sums_that_32_bits_might_not_hold_stay(%x: tensor<2x40000xui8>, %w: tensor<8x40000xi8>) -> tensor<2x8xf32> {
  %s = relay.constant dense<0.25> : tensor<f32>
  %z = relay.constant dense<0> : tensor<i32>
  %a = relay.qnn.dequantize %x, %s, %z : (tensor<2x40000xui8>, tensor<f32>, tensor<i32>) -> tensor<2x40000xf32>
  %b = relay.qnn.dequantize %w, %s, %z : (tensor<8x40000xi8>, tensor<f32>, tensor<i32>) -> tensor<8x40000xf32>
  %0 = relay.nn.dense %a, %b : (tensor<2x40000xf32>, tensor<8x40000xf32>) -> tensor<2x8xf32>
  relay.return %0 : tensor<2x8xf32>
}

// CHECK-LABEL: relay.func @what_moves_elements_moves_bytes_and_equal_steps_meet
// CHECK: %[[A:.*]] = relay.nn.max_pool2d %x {{.*}} : (tensor<1x2x4x4xi8>)
// CHECK: %[[B:.*]] = relay.nn.batch_flatten %[[A]]
// CHECK-NEXT: relay.return %[[B]]
relay.func @what_moves_elements_moves_bytes_and_equal_steps_meet(%x: tensor<1x2x4x4xi8>) -> tensor<1x8xi8> {
  %s = relay.constant dense<0.25> : tensor<f32>
  %z = relay.constant dense<3> : tensor<i32>
  %a = relay.qnn.dequantize %x, %s, %z : (tensor<1x2x4x4xi8>, tensor<f32>, tensor<i32>) -> tensor<1x2x4x4xf32>
  %b = relay.nn.max_pool2d %a {pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %c = relay.nn.batch_flatten %b : (tensor<1x2x2x2xf32>) -> tensor<1x8xf32>
  %y = relay.qnn.quantize %c, %s, %z {out_dtype = "int8"} : (tensor<1x8xf32>, tensor<f32>, tensor<i32>) -> tensor<1x8xi8>
  relay.return %y : tensor<1x8xi8>
}

// CHECK-LABEL: relay.func @parts_are_quantised_before_they_are_joined
// CHECK: %[[B:.*]] = relay.qnn.quantize %y
// CHECK: %[[T:.*]] = relay.tuple(%x, %[[B]])
// CHECK: relay.concatenate %[[T]] {axis = 1 : i64} : (tuple<tensor<2x3xui8>, tensor<2x5xui8>>)
relay.func @parts_are_quantised_before_they_are_joined(%x: tensor<2x3xui8>, %y: tensor<2x5xf32>) -> tensor<2x8xui8> {
  %s = relay.constant dense<0.25> : tensor<f32>
  %z = relay.constant dense<3> : tensor<i32>
  %a = relay.qnn.dequantize %x, %s, %z : (tensor<2x3xui8>, tensor<f32>, tensor<i32>) -> tensor<2x3xf32>
  %t = relay.tuple(%a, %y) : (tensor<2x3xf32>, tensor<2x5xf32>) -> tuple<tensor<2x3xf32>, tensor<2x5xf32>>
  %c = relay.concatenate %t {axis = 1 : i64} : (tuple<tensor<2x3xf32>, tensor<2x5xf32>>) -> tensor<2x8xf32>
  %q = relay.qnn.quantize %c, %s, %z {out_dtype = "uint8"} : (tensor<2x8xf32>, tensor<f32>, tensor<i32>) -> tensor<2x8xui8>
  relay.return %q : tensor<2x8xui8>
}

// CHECK-LABEL: relay.func @floats_are_multiplied_by_the_bytes_of_a_weight
// CHECK: %[[SUM:.*]] = relay.nn.dense %x, %w {out_dtype = "float32"} : (tensor<2x4xf32>, tensor<3x4xi8>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[SCALE:.*]] = relay.constant dense<[2.500000e-01, 5.000000e-01, 1.000000e+00]> : tensor<3xf32>
// CHECK-NEXT: relay.multiply %[[SUM]], %[[SCALE]]
// CHECK: %[[MOVED:.*]] = relay.transpose %v
// CHECK: relay.nn.dense %x, %[[MOVED]] {out_dtype = "float32"} : (tensor<2x4xf32>, tensor<3x4xui8>) -> tensor<2x3xf32>
// CHECK-NEXT: relay.constant dense<2.500000e-01> : tensor<f32>
// CHECK-NEXT: relay.multiply
relay.func @floats_are_multiplied_by_the_bytes_of_a_weight(%x: tensor<2x4xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %w = relay.constant dense<[[-128, -1, 0, 127], [1, 2, 3, 4], [5, 6, 7, 8]]> : tensor<3x4xi8>
  %s = relay.constant dense<[0.25, 0.5, 1.0]> : tensor<3xf32>
  %z = relay.constant dense<0> : tensor<3xi32>
  %a = relay.qnn.dequantize %w, %s, %z {axis = 0 : i64} : (tensor<3x4xi8>, tensor<3xf32>, tensor<3xi32>) -> tensor<3x4xf32>
  %0 = relay.nn.dense %x, %a : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %v = relay.constant dense<[[1, 5, 9], [2, 6, 10], [3, 7, 11], [4, 8, 255]]> : tensor<4x3xui8>
  %t = relay.constant dense<0.25> : tensor<f32>
  %o = relay.constant dense<0> : tensor<i32>
  %b = relay.qnn.dequantize %v, %t, %o : (tensor<4x3xui8>, tensor<f32>, tensor<i32>) -> tensor<4x3xf32>
  %c = relay.transpose %b {axes = array<i64: 1, 0>} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %1 = relay.nn.dense %x, %c : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  relay.return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: relay.func @a_weight_around_128_gets_a_sign
// CHECK: %[[TOP:.*]] = relay.bitwise_xor %w
// CHECK-NEXT: %[[MOVED:.*]] = relay.cast %[[TOP]] {dtype = "int8"}
// CHECK-NEXT: relay.nn.dense %x, %[[MOVED]] {out_dtype = "float32"}
relay.func @a_weight_around_128_gets_a_sign(%x: tensor<2x4xf32>) -> tensor<2x1xf32> {
  %w = relay.constant dense<[[0, 127, 128, 255]]> : tensor<1x4xui8>
  %s = relay.constant dense<0.25> : tensor<f32>
  %z = relay.constant dense<128> : tensor<i32>
  %a = relay.qnn.dequantize %w, %s, %z : (tensor<1x4xui8>, tensor<f32>, tensor<i32>) -> tensor<1x4xf32>
  %0 = relay.nn.dense %x, %a : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<2x1xf32>
  relay.return %0 : tensor<2x1xf32>
}

// CHECK-LABEL: relay.func @other_weights_of_bytes_become_floats
// CHECK: %[[A:.*]] = relay.qnn.dequantize %w, %s, %z
// CHECK: relay.nn.dense %x, %[[A]] :
// CHECK: %[[B:.*]] = relay.qnn.dequantize %w, %t, %o
// CHECK: relay.nn.dense %x, %[[B]] :
// CHECK: %[[C:.*]] = relay.qnn.dequantize %v, %s, %p
// CHECK: relay.nn.dense %x, %[[C]] :
relay.func @other_weights_of_bytes_become_floats(%x: tensor<2x4xf32>, %v: tensor<1x4xi8>) -> (tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>) {
  %w = relay.constant dense<[[-128, -1, 0, 127]]> : tensor<1x4xi8>
  %s = relay.constant dense<0.25> : tensor<f32>
  %z = relay.constant dense<1> : tensor<i32>
  %a = relay.qnn.dequantize %w, %s, %z : (tensor<1x4xi8>, tensor<f32>, tensor<i32>) -> tensor<1x4xf32>
  %0 = relay.nn.dense %x, %a : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<2x1xf32>
  %t = relay.constant dense<[0.25, 0.5, 1.0, 2.0]> : tensor<4xf32>
  %o = relay.constant dense<0> : tensor<4xi32>
  %b = relay.qnn.dequantize %w, %t, %o {axis = 1 : i64} : (tensor<1x4xi8>, tensor<4xf32>, tensor<4xi32>) -> tensor<1x4xf32>
  %1 = relay.nn.dense %x, %b : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<2x1xf32>
  %p = relay.constant dense<0> : tensor<i32>
  %c = relay.qnn.dequantize %v, %s, %p : (tensor<1x4xi8>, tensor<f32>, tensor<i32>) -> tensor<1x4xf32>
  %2 = relay.nn.dense %x, %c : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<2x1xf32>
  relay.return %0, %1, %2 : tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>
}
