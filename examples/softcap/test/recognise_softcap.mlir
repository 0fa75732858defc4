// RUN: weft-opt %s -p recognise-softcap | filecheck %s
// RUN: weft-opt %s --compile-to=graph | filecheck %s --check-prefix=GRAPH
// RUN: weft-run %s --compare interpreter --quiet

// CHECK-LABEL: relay.func @main
// CHECK-NEXT:    %y = softcap.softcap %x {cap = 2.000000e+00 : f64} : tensor<2x4xf32> -> tensor<2x4xf32>
// CHECK-NEXT:    relay.return %y
// GRAPH: softcap.softcap %x {cap = 2.0
relay.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c = relay.constant dense<2.0> : tensor<f32>
  %0 = relay.divide %x, %c : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %1 = relay.tanh %0 : tensor<2x4xf32>
  %y = relay.multiply %c, %1 : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  relay.return %y : tensor<2x4xf32>
}

// CHECK-LABEL: relay.func @two_caps_are_no_softcap
// CHECK-NOT:     softcap
relay.func @two_caps_are_no_softcap(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c = relay.constant dense<2.0> : tensor<f32>
  %d = relay.constant dense<3.0> : tensor<f32>
  %0 = relay.divide %x, %c : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %1 = relay.tanh %0 : tensor<2x4xf32>
  %y = relay.multiply %1, %d : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  relay.return %y : tensor<2x4xf32>
}
