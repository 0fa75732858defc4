// RUN: weft-opt %s -p legalize | filecheck %s
// RUN: weft-opt %s -p legalize{legalize-map-attr-name=FTVMQnnCanonicalize} | filecheck %s --check-prefix QNN

// CHECK-LABEL: relay.func @operators_without_a_rule_stay
// CHECK-NEXT: relay.exp
// CHECK-NEXT: relay.return
relay.func @operators_without_a_rule_stay(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %x : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// CHECK-LABEL: relay.func @operators_on_quantised_tensors_are_written_out
// CHECK: relay.qnn.dequantize
// QNN-LABEL: relay.func @operators_on_quantised_tensors_are_written_out
// QNN-NOT: relay.qnn
// QNN: relay.subtract
// QNN: relay.multiply
// QNN: relay.return
relay.func @operators_on_quantised_tensors_are_written_out(%x: tensor<2xi8>) -> tensor<2xf32> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<3> : tensor<i32>
  %0 = relay.qnn.dequantize %x, %s, %z : (tensor<2xi8>, tensor<f32>, tensor<i32>) -> tensor<2xf32>
  relay.return %0 : tensor<2xf32>
}
