// RUN: weft-opt %s -p first-order-gradient --split-input-file | filecheck %s

// CHECK-LABEL: relay.func @the_result_comes_first_then_a_gradient_for_each_argument
// CHECK-SAME:  -> tuple<tensor<4xf32>, tuple<tensor<4xf32>>>
// CHECK-NEXT:    %y = relay.tanh %x : tensor<4xf32>
// CHECK-NEXT:    %0 = relay.ones_like %y : tensor<4xf32>
// CHECK-NEXT:    %1 = relay.multiply %y, %y
// CHECK-NEXT:    %2 = relay.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %3 = relay.subtract %2, %1
// CHECK-NEXT:    %4 = relay.multiply %0, %3
// CHECK-NEXT:    %5 = relay.tuple(%4)
// CHECK-NEXT:    %6 = relay.tuple(%y, %5)
// CHECK-NEXT:    relay.return %6
relay.func @the_result_comes_first_then_a_gradient_for_each_argument(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.tanh %x : tensor<4xf32>
  relay.return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: relay.func @gradients_of_a_value_with_two_uses_are_added
// CHECK:         %[[A:.*]] = relay.multiply %0, %y
// CHECK:         relay.add
relay.func @gradients_of_a_value_with_two_uses_are_added(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.negative %x : tensor<4xf32>
  %z = relay.multiply %y, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %z : tensor<4xf32>
}

// -----

// CHECK-LABEL: relay.func @a_repeated_operand_has_the_sum
// CHECK:         %[[G:.*]] = relay.collapse_sum_to %{{.*}} {shape = array<i64: 4>}
// CHECK:         relay.tuple(%{{.*}}, %[[G]])
relay.func @a_repeated_operand_has_the_sum(%x: tensor<2x4xf32>, %b: tensor<4xf32>) -> tensor<2x4xf32> {
  %y = relay.add %x, %b : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  relay.return %y : tensor<2x4xf32>
}

// -----

// CHECK-LABEL: relay.func @what_nothing_depends_on_has_zeros
// CHECK-DAG:     relay.zeros_like %i : tensor<2xi32>
// CHECK-DAG:     relay.zeros_like %u : tensor<3xf32>
relay.func @what_nothing_depends_on_has_zeros(%x: tensor<5xf32>, %i: tensor<2xi32>, %u: tensor<3xf32>) -> tensor<2xf32> {
  %y = relay.take %x, %i {axis = 0 : i64} : (tensor<5xf32>, tensor<2xi32>) -> tensor<2xf32>
  relay.return %y : tensor<2xf32>
}

// -----

// Nothing is computed for the tuple's sake.
// CHECK-LABEL: relay.func @tuples_are_seen_through
// CHECK-SAME:  -> tuple<tensor<4xf32>, tuple<tuple<tensor<4xf32>, tensor<4xf32>>>>
// CHECK:         %[[X:.*]] = relay.exp
// CHECK-NOT:     relay.exp
// CHECK:         relay.zeros_like
relay.func @tuples_are_seen_through(%t: tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32> {
  %a = relay.tuple_get %t[0] : tuple<tensor<4xf32>, tensor<4xf32>> -> tensor<4xf32>
  %b = relay.exp %a : tensor<4xf32>
  %p = relay.tuple(%b, %t) : (tensor<4xf32>, tuple<tensor<4xf32>, tensor<4xf32>>) -> tuple<tensor<4xf32>, tuple<tensor<4xf32>, tensor<4xf32>>>
  %y = relay.tuple_get %p[0] : tuple<tensor<4xf32>, tuple<tensor<4xf32>, tensor<4xf32>>> -> tensor<4xf32>
  relay.return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: relay.func @calls_are_inlined
// CHECK-NOT:     relay.call
// CHECK:         relay.return
// CHECK-NOT:   @square
relay.func @calls_are_inlined(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.call @square(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %y : tensor<4xf32>
}
relay.func private @square(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.multiply %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: relay.func @an_operator_without_gradient_may_stand_beside_the_way
// CHECK:         relay.argmax
// CHECK-NOT:     relay.zeros_like %x
relay.func @an_operator_without_gradient_may_stand_beside_the_way(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<i32>) {
  %y = relay.exp %x : tensor<4xf32>
  %i = relay.argmax %x : (tensor<4xf32>) -> tensor<i32>
  relay.return %y, %i : tensor<4xf32>, tensor<i32>
}

// -----

// CHECK-LABEL: relay.func @what_gives_no_floats_has_zeros
// CHECK:         %[[Y:.*]] = relay.less %x, %c
// CHECK:         %[[DX:.*]] = relay.zeros_like %x
// CHECK:         %[[DC:.*]] = relay.zeros_like %c
// CHECK:         %[[G:.*]] = relay.tuple(%[[DX]], %[[DC]])
// CHECK:         relay.tuple(%[[Y]], %[[G]])
relay.func @what_gives_no_floats_has_zeros(%x: tensor<4xf32>, %c: tensor<4xf32>) -> tensor<4xi1> {
  %y = relay.less %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  relay.return %y : tensor<4xi1>
}
