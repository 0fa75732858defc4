// RUN: weft-opt %s -p eliminate-common-subexpr | filecheck %s
// RUN: weft-opt %s -p 'eliminate-common-subexpr{skip="relay.nn.relu"}' | filecheck %s --check-prefix=SKIP

// CHECK-LABEL: relay.func @equal_operators_become_one
// CHECK-NEXT: %0 = relay.nn.relu %x
// CHECK-NEXT: %1 = relay.nn.prelu %0, %0
// SKIP-LABEL: relay.func @equal_operators_become_one
// SKIP-NEXT: %0 = relay.nn.relu %x
// SKIP-NEXT: %1 = relay.nn.relu %x
relay.func @equal_operators_become_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.nn.relu %x : tensor<4xf32>
  %1 = relay.nn.relu %x : tensor<4xf32>
  %2 = relay.nn.prelu %0, %1 {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %2 : tensor<4xf32>
}

// CHECK-LABEL: relay.func @equal_chains_become_one
// CHECK-NEXT: relay.nn.relu
// CHECK-NEXT: relay.nn.softmax
// CHECK-NEXT: relay.return %1, %1
relay.func @equal_chains_become_one(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %0 = relay.nn.relu %x : tensor<?x4xf32>
  %1 = relay.nn.softmax %0 : tensor<?x4xf32>
  %2 = relay.nn.relu %x : tensor<?x4xf32>
  %3 = relay.nn.softmax %2 : tensor<?x4xf32>
  relay.return %1, %3 : tensor<?x4xf32>, tensor<?x4xf32>
}

// CHECK-LABEL: relay.func @other_attributes_keep_operators_apart
// CHECK-NEXT: alpha = 1.000000e-01
// CHECK-NEXT: alpha = 2.000000e-01
relay.func @other_attributes_keep_operators_apart(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = relay.nn.leaky_relu %x {alpha = 0.1 : f64} : tensor<4xf32>
  %1 = relay.nn.leaky_relu %x {alpha = 0.2 : f64} : tensor<4xf32>
  relay.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: relay.func @equal_constants_and_projections_become_one
// CHECK-NEXT: %a = relay.constant
// CHECK-NEXT: %t = relay.tuple(%a, %x)
// CHECK-NEXT: %0 = relay.tuple_get %t[1]
// CHECK-NEXT: relay.return %0, %0
relay.func @equal_constants_and_projections_become_one(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %a = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %t = relay.tuple(%a, %x) : (tensor<2xf32>, tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  %u = relay.tuple(%b, %x) : (tensor<2xf32>, tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  %0 = relay.tuple_get %t[1] : tuple<tensor<2xf32>, tensor<2xf32>> -> tensor<2xf32>
  %1 = relay.tuple_get %u[1] : tuple<tensor<2xf32>, tensor<2xf32>> -> tensor<2xf32>
  relay.return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: relay.func @stateful_operators_and_calls_stay_two
// CHECK-COUNT-2: relay.nn.dropout
// CHECK-COUNT-2: relay.call
relay.func @stateful_operators_and_calls_stay_two(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = relay.nn.dropout %x : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %u = relay.nn.dropout %x : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %0, %1 = relay.call @stateful_operators_and_calls_stay_two(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %2, %3 = relay.call @stateful_operators_and_calls_stay_two(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  relay.return %1, %2 : tensor<4xf32>, tensor<4xf32>
}
