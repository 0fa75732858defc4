// RUN: weft-opt %s -p fold-constant | filecheck %s

// CHECK-LABEL: relay.func @a_chain_over_constants_becomes_one_constant
// CHECK-NEXT: %c = relay.constant dense<4.000000e+00> : tensor<4xf32>
// CHECK-NEXT: %0 = relay.add %x, %c
// CHECK-NEXT: relay.return %0
relay.func @a_chain_over_constants_becomes_one_constant(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.constant dense<1.0> : tensor<4xf32>
  %b = relay.add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c = relay.multiply %b, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %0 = relay.add %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// CHECK-LABEL: relay.func @a_value_with_several_users_is_stored_once
// CHECK-NEXT: %b = relay.constant dense<[2.000000e+00, 4.000000e+00]> : tensor<2xf32>
// CHECK-NEXT: %0 = relay.add %x, %b
// CHECK-NEXT: %c = relay.constant dense<[4.000000e+00, 8.000000e+00]> : tensor<2xf32>
// CHECK-NEXT: %1 = relay.multiply %0, %c
// CHECK-NEXT: relay.return %1, %b
relay.func @a_value_with_several_users_is_stored_once(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %a = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = relay.add %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %0 = relay.add %x, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %c = relay.add %b, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = relay.multiply %0, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  relay.return %1, %b : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: relay.func @a_projection_of_a_tuple_is_its_field
// CHECK-NEXT: relay.return %x
relay.func @a_projection_of_a_tuple_is_its_field(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %t = relay.tuple(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  %0 = relay.tuple_get %t[0] : tuple<tensor<2xf32>, tensor<2xf32>> -> tensor<2xf32>
  relay.return %0 : tensor<2xf32>
}

// CHECK-LABEL: relay.func @a_returned_tuple_of_constants_stays_a_tuple
// CHECK-NEXT: %0 = relay.constant dense<[2.000000e+00, 4.000000e+00]>
// CHECK-NEXT: %1 = relay.constant dense<[1.000000e+00, 2.000000e+00]>
// CHECK-NEXT: %t = relay.tuple(%0, %1)
// CHECK: relay.return %t
relay.func @a_returned_tuple_of_constants_stays_a_tuple() -> tuple<tensor<2xf32>, tensor<2xf32>> {
  %a = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = relay.add %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %t = relay.tuple(%b, %a) : (tensor<2xf32>, tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  relay.return %t : tuple<tensor<2xf32>, tensor<2xf32>>
}

// CHECK-LABEL: relay.func @a_stateful_operator_is_not_folded
// CHECK: relay.nn.dropout %a
relay.func @a_stateful_operator_is_not_folded() -> tensor<2xf32> {
  %a = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %t = relay.nn.dropout %a : (tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  %0 = relay.tuple_get %t[0] : tuple<tensor<2xf32>, tensor<2xf32>> -> tensor<2xf32>
  relay.return %0 : tensor<2xf32>
}

// CHECK-LABEL: relay.func @an_operator_on_an_argument_is_not_folded
// CHECK-NEXT: relay.constant
// CHECK-NEXT: relay.add %x, %a
relay.func @an_operator_on_an_argument_is_not_folded(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %a = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = relay.add %x, %a : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  relay.return %0 : tensor<?x2xf32>
}

// CHECK-LABEL: relay.func @an_empty_tensor_folds
// CHECK-NEXT: relay.constant dense<> : tensor<0xf32>
// CHECK-NEXT: relay.return
relay.func @an_empty_tensor_folds() -> tensor<0xf32> {
  %a = relay.constant dense<> : tensor<0xf32>
  %0 = relay.add %a, %a : (tensor<0xf32>, tensor<0xf32>) -> tensor<0xf32>
  relay.return %0 : tensor<0xf32>
}

// CHECK-LABEL: relay.func @a_resource_without_its_data_is_not_folded
// CHECK: relay.nn.relu %a
relay.func @a_resource_without_its_data_is_not_folded() -> tensor<64xf32> {
  %a = relay.constant #relay.resource<"w_0123"> : tensor<64xf32>
  %0 = relay.nn.relu %a : tensor<64xf32>
  relay.return %0 : tensor<64xf32>
}

// CHECK-LABEL: relay.func @shapes_that_are_static_fold
// CHECK-NEXT: relay.constant dense<[2, 3]> : tensor<2xi64>
// CHECK-NEXT: relay.constant dense<6> : tensor<i32>
// CHECK-NEXT: relay.return
relay.func @shapes_that_are_static_fold(%x: tensor<2x3xf32>) -> (tensor<2xi64>, tensor<i32>) {
  %0 = relay.shape_of %x {dtype = "int64"} : (tensor<2x3xf32>) -> tensor<2xi64>
  %1 = relay.ndarray_size %x {dtype = "int32"} : (tensor<2x3xf32>) -> tensor<i32>
  relay.return %0, %1 : tensor<2xi64>, tensor<i32>
}

// CHECK-LABEL: relay.func @an_operator_without_operands_stays_but_takes_part
// CHECK-NEXT: %0 = relay.ones
// CHECK-NEXT: %1 = relay.constant dense<[2.000000e+00, 3.000000e+00]>
// CHECK-NEXT: relay.return %0, %1
relay.func @an_operator_without_operands_stays_but_takes_part() -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = relay.ones {shape = array<i64: 2>, dtype = "float32"} : tensor<2xf32>
  %1 = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %2 = relay.add %0, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  relay.return %0, %2 : tensor<2xf32>, tensor<2xf32>
}

// -----

// What a branch sees of what is folded is a constant, and what it computes of that is folded in turn.

// CHECK-LABEL: relay.func @constants_that_a_branch_sees
// CHECK-NEXT:    %b = relay.constant dense<2.000000e+00> : tensor<4xf32>
// CHECK-NEXT:    relay.if %c
// CHECK-NEXT:      %0 = relay.constant dense<4.000000e+00> : tensor<4xf32>
// CHECK-NEXT:      relay.add %0, %x
// CHECK:         } else {
// CHECK-NEXT:      relay.yield %b
relay.func @constants_that_a_branch_sees(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.constant dense<1.0> : tensor<4xf32>
  %b = relay.add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = relay.if %c : (tensor<i1>) -> tensor<4xf32> {
    %0 = relay.add %b, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = relay.add %0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %1 : tensor<4xf32>
  } else {
    relay.yield %b : tensor<4xf32>
  }
  relay.return %y : tensor<4xf32>
}

// CHECK-LABEL: relay.func @the_branch_that_is_taken_stands_in_the_place_of_an_if
// CHECK-NEXT: %[[C:.*]] = relay.constant dense<6.000000e+00> : tensor<3xf32>
// CHECK-NEXT: %[[Y:.*]] = relay.add %x, %[[C]]
// CHECK-NEXT: relay.return %[[Y]]
relay.func @the_branch_that_is_taken_stands_in_the_place_of_an_if(%x: tensor<3xf32>) -> tensor<3xf32> {
  %t = relay.constant dense<true> : tensor<i1>
  %f = relay.logical_not %t : tensor<i1>
  %two = relay.constant dense<2.0> : tensor<3xf32>
  %four = relay.add %two, %two : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %0 = relay.if %f : (tensor<i1>) -> tensor<3xf32> {
    %1 = relay.multiply %four, %four : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    relay.yield %1 : tensor<3xf32>
  } else {
    %2 = relay.if %t : (tensor<i1>) -> tensor<3xf32> {
      %3 = relay.add %two, %two : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %4 = relay.add %3, %two : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %5 = relay.add %x, %4 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      relay.yield %5 : tensor<3xf32>
    } else {
      relay.yield %x : tensor<3xf32>
    }
    relay.yield %2 : tensor<3xf32>
  }
  relay.return %0 : tensor<3xf32>
}

// CHECK-LABEL: relay.func @an_if_whose_condition_is_given_stays
// CHECK: relay.if %c
relay.func @an_if_whose_condition_is_given_stays(%c: tensor<i1>, %x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = relay.if %c : (tensor<i1>) -> tensor<3xf32> {
    relay.yield %x : tensor<3xf32>
  } else {
    %1 = relay.exp %x : tensor<3xf32>
    relay.yield %1 : tensor<3xf32>
  }
  relay.return %0 : tensor<3xf32>
}

// CHECK-LABEL: relay.func @devices_of_constants_are_no_obstacle
// CHECK-NEXT: relay.constant dense<2.000000e+00>
// CHECK-NEXT: relay.on_device %0
// CHECK-NEXT: relay.add %1, %x
// CHECK-NEXT: relay.return
relay.func @devices_of_constants_are_no_obstacle(%x: tensor<1xf32>) -> tensor<1xf32> {
  %0 = relay.constant dense<1.0> : tensor<f32>
  %1 = relay.on_device %0 {virtual_device = #relay.virtual_device<cpu, id = 0>} : tensor<f32>
  %2 = relay.add %1, %1 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %3 = relay.on_device %2 {virtual_device = #relay.virtual_device<cpu, id = 0>} : tensor<f32>
  %4 = relay.add %3, %x : (tensor<f32>, tensor<1xf32>) -> tensor<1xf32>
  relay.return %4 : tensor<1xf32>
}
