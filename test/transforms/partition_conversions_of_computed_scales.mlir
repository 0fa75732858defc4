// RUN: weft-opt %s -p partition-conversions | filecheck %s

// What is quantised by a scale that is computed stays where that is, and so does what is dequantised by one.
// CHECK:       relay.func @quantize_inputs
// CHECK-NOT:     relay.qnn.quantize
// CHECK:       relay.func @quantized_main
// CHECK:         relay.exp
// CHECK:         relay.qnn.quantize
// CHECK:         relay.qnn.dequantize
// CHECK:       relay.func @dequantize_outputs
// CHECK-NOT:     relay.qnn.dequantize
// CHECK:       relay.func @main
relay.func @main(%x: tensor<4xf32>, %s: tensor<f32>) -> tensor<4xf32> {
  %z = relay.constant dense<0> : tensor<i32>
  %t = relay.exp %s : tensor<f32>
  %q = relay.qnn.quantize %x, %t, %z {axis = -1 : i64, out_dtype = "int8"} : (tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  %y = relay.qnn.dequantize %q, %t, %z {axis = -1 : i64} : (tensor<4xi8>, tensor<f32>, tensor<i32>) -> tensor<4xf32>
  relay.return %y : tensor<4xf32>
}
