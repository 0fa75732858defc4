// RUN: weft-opt %s -p fake-quantization-to-integer | filecheck %s

// CHECK-LABEL: relay.func @a_convolution_and_its_bias
// CHECK-NOT: relay.qnn.dequantize
// CHECK: %[[C:.*]] = relay.qnn.conv2d %x, %w, {{.*}}
// CHECK-NEXT:       {{.*}} -> tensor<1x2x4x4xi32>
// CHECK: %[[B:.*]] = relay.constant dense<[8, -4]> : tensor<2xi32>
// CHECK: %[[S:.*]] = relay.nn.bias_add %[[C]], %[[B]]
// CHECK: %[[M:.*]] = relay.maximum %[[S]], {{.*}} : (tensor<1x2x4x4xi32>, tensor<i32>)
// CHECK: relay.qnn.requantize %[[M]]
// CHECK-NOT: relay.qnn.quantize
// CHECK: relay.return
relay.func @a_convolution_and_its_bias(%x: tensor<1x3x4x4xi8>, %w: tensor<2x3x1x1xi8>) -> tensor<1x2x4x4xi8> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<0> : tensor<i32>
  %b = relay.constant dense<[2.0, -1.0]> : tensor<2xf32>
  %0 = relay.qnn.dequantize %x, %s, %z : (tensor<1x3x4x4xi8>, tensor<f32>, tensor<i32>) -> tensor<1x3x4x4xf32>
  %1 = relay.qnn.dequantize %w, %s, %z : (tensor<2x3x1x1xi8>, tensor<f32>, tensor<i32>) -> tensor<2x3x1x1xf32>
  %2 = relay.nn.conv2d %0, %1 : (tensor<1x3x4x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x4x4xf32>
  %3 = relay.nn.bias_add %2, %b : (tensor<1x2x4x4xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %4 = relay.nn.relu %3 : tensor<1x2x4x4xf32>
  %5 = relay.qnn.quantize %4, %s, %z {out_dtype = "int8"} : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<i32>) -> tensor<1x2x4x4xi8>
  relay.return %5 : tensor<1x2x4x4xi8>
}

// CHECK-LABEL: relay.func @a_region_with_a_sine_stays
// CHECK: relay.qnn.dequantize
// CHECK: relay.sin
// CHECK: relay.qnn.quantize
relay.func @a_region_with_a_sine_stays(%x: tensor<4xi8>) -> tensor<4xi8> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<0> : tensor<i32>
  %0 = relay.qnn.dequantize %x, %s, %z : (tensor<4xi8>, tensor<f32>, tensor<i32>) -> tensor<4xf32>
  %1 = relay.sin %0 : tensor<4xf32>
  %2 = relay.qnn.quantize %1, %s, %z {out_dtype = "int8"} : (tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  relay.return %2 : tensor<4xi8>
}
