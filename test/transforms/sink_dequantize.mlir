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
