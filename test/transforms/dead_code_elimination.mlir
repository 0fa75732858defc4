// RUN: weft-opt %s -p dead-code-elimination | filecheck %s

// CHECK-LABEL: relay.func @a_chain_without_users_goes_at_once
// CHECK-NEXT: %0 = relay.nn.relu %x : tensor<4xf32>
// CHECK-NEXT: relay.return %0
relay.func @a_chain_without_users_goes_at_once(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.nn.relu %x : tensor<4xf32>
  %1 = relay.nn.relu %0 : tensor<4xf32>
  %2 = relay.nn.relu %1 : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// CHECK-LABEL: relay.func @tuples_and_constants_without_users_go
// CHECK-NEXT: relay.return %x
relay.func @tuples_and_constants_without_users_go(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = relay.constant dense<1.0> : tensor<4xf32>
  %t = relay.tuple(%c, %x) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %y = relay.tuple_get %t[1] : tuple<tensor<4xf32>, tensor<4xf32>> -> tensor<4xf32>
  relay.return %x : tensor<4xf32>
}

// CHECK-LABEL: relay.func @a_stateful_operator_stays
// CHECK-NEXT: relay.nn.dropout %x
relay.func @a_stateful_operator_stays(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = relay.nn.dropout %x : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  relay.return %x : tensor<4xf32>
}

// CHECK-LABEL: relay.func @a_call_of_an_impure_function_stays
// CHECK-NEXT: relay.call @a_stateful_operator_stays(%x)
// CHECK-NEXT: relay.return %x
relay.func @a_call_of_an_impure_function_stays(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.call @a_stateful_operator_stays(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.call @a_chain_without_users_goes_at_once(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %x : tensor<4xf32>
}

// CHECK-LABEL: relay.func @an_operator_with_a_user_stays
// CHECK-NEXT: relay.nn.relu
relay.func @an_operator_with_a_user_stays(%x: tensor<0xf32>) -> tensor<0xf32> {
  %0 = relay.nn.relu %x : tensor<0xf32>
  relay.return %0 : tensor<0xf32>
}

// CHECK-LABEL: relay.func @a_call_of_a_function_value_without_effects_goes
// CHECK-NEXT: relay.return %x
relay.func @a_call_of_a_function_value_without_effects_goes(%x: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = relay.exp %a : tensor<4xf32>
    relay.yield %0 : tensor<4xf32>
  }
  %1 = relay.apply %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %x : tensor<4xf32>
}

// CHECK-LABEL: relay.func @a_call_of_a_function_value_with_an_effect_stays
// CHECK: relay.apply
// CHECK-NEXT: relay.return %x
relay.func @a_call_of_a_function_value_with_an_effect_stays(%x: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = relay.call @a_stateful_operator_stays(%a) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %0 : tensor<4xf32>
  }
  %1 = relay.apply %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %x : tensor<4xf32>
}
