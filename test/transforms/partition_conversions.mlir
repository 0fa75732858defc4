// RUN: weft-opt %s -p partition-conversions | filecheck %s

// CHECK:      relay.func @quantize_inputs(%x: tensor<2x4xf32>) -> tensor<2x4xi8>
// CHECK:        relay.qnn.quantize %x
// CHECK:      relay.func @quantized_main({{.*}}: tensor<2x4xi8>) -> tensor<2x3xi32>
// CHECK:        relay.qnn.dense
// CHECK:      relay.func @dequantize_outputs({{.*}}: tensor<2x3xi32>) -> tensor<2x3xf32>
// CHECK:        relay.qnn.dequantize
// CHECK:      relay.func @main(%x: tensor<2x4xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:   %[[A:.*]] = relay.call @quantize_inputs(%x)
// CHECK-NEXT:   %[[B:.*]] = relay.call @quantized_main(%[[A]])
// CHECK-NEXT:   %[[C:.*]] = relay.call @dequantize_outputs(%[[B]])
// CHECK-NEXT:   relay.return %[[C]]
relay.func @main(%x: tensor<2x4xf32>) -> tensor<2x3xf32> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<0> : tensor<i32>
  %w = relay.constant dense<2> : tensor<3x4xi8>
  %0 = relay.qnn.quantize %x, %s, %z {out_dtype = "int8"} : (tensor<2x4xf32>, tensor<f32>, tensor<i32>) -> tensor<2x4xi8>
  %1 = relay.qnn.dense %0, %w, %z, %z, %s, %s {units = 3 : i64} : (tensor<2x4xi8>, tensor<3x4xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<2x3xi32>
  %2 = relay.qnn.dequantize %1, %s, %z : (tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> tensor<2x3xf32>
  relay.return %2 : tensor<2x3xf32>
}

// With fully-integral, floats between what is quantised are refused, and what has computed scales stays in the middle:
// test/unit/test_relay_quantize.py.
