// RUN: weft-opt %s -p partial-evaluate | filecheck %s

relay.adt @choice {left(tensor<2xf32>), right()}

relay.func private @chosen(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = relay.if %c : (tensor<i1>) -> tensor<2xf32> {
    %1 = relay.exp %x : tensor<2xf32>
    relay.yield %1 : tensor<2xf32>
  } else {
    relay.yield %x : tensor<2xf32>
  }
  relay.return %0 : tensor<2xf32>
}

// CHECK-LABEL: relay.func @a_call_with_a_known_condition
// CHECK-NEXT: relay.exp %x
// CHECK-NEXT: relay.return
relay.func @a_call_with_a_known_condition(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = relay.constant dense<1.0> : tensor<f32>
  %b = relay.constant dense<2.0> : tensor<f32>
  %c = relay.less %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %0 = relay.call @chosen(%c, %x) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  relay.return %0 : tensor<2xf32>
}

// CHECK-LABEL: relay.func @data_that_is_made_in_sight
// CHECK-NEXT: relay.exp %x
// CHECK-NEXT: relay.return
relay.func @data_that_is_made_in_sight(%x: tensor<2xf32>) -> tensor<2xf32> {
  %d = relay.construct "left"(%x) : (tensor<2xf32>) -> !relay.adt<@choice>
  %0 = relay.match %d : (!relay.adt<@choice>) -> tensor<2xf32>
  case left(%v: tensor<2xf32>) {
    %1 = relay.exp %v : tensor<2xf32>
    relay.yield %1 : tensor<2xf32>
  } default {
    relay.yield %x : tensor<2xf32>
  }
  relay.return %0 : tensor<2xf32>
}

// CHECK-LABEL: relay.func @a_function_value_with_one_call
// CHECK-NEXT: relay.add %x, %x
// CHECK-NEXT: relay.return
relay.func @a_function_value_with_one_call(%x: tensor<2xf32>) -> tensor<2xf32> {
  %f = relay.fn(%a: tensor<2xf32>) -> tensor<2xf32> {
    %0 = relay.add %a, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    relay.yield %0 : tensor<2xf32>
  }
  %1 = relay.apply %f(%x) : (tensor<2xf32>) -> tensor<2xf32>
  relay.return %1 : tensor<2xf32>
}

// CHECK-LABEL: relay.func @a_condition_that_is_an_argument_stays
// CHECK: relay.if %c
relay.func @a_condition_that_is_an_argument_stays(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = relay.if %c : (tensor<i1>) -> tensor<2xf32> {
    relay.yield %x : tensor<2xf32>
  } else {
    %1 = relay.exp %x : tensor<2xf32>
    relay.yield %1 : tensor<2xf32>
  }
  relay.return %0 : tensor<2xf32>
}
