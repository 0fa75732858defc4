// RUN: weft-opt %s -p canonicalize | filecheck %s

// CHECK-LABEL: relay.func @operators_that_keep_the_type_are_dropped
relay.func @operators_that_keep_the_type_are_dropped(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: %y = relay.exp %x : tensor<2x3xf32>
  // CHECK-NEXT: relay.return %y : tensor<2x3xf32>
  %0 = relay.reshape %x {newshape = array<i64: 2, -1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = relay.cast %0 {dtype = "float32"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = relay.copy %1 : tensor<2x3xf32>
  %3 = relay.squeeze %2 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = relay.broadcast_to %3 {shape = array<i64: 2, 3>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = relay.expand_dims %4 {axis = 0 : i64, num_newaxis = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = relay.transpose %5 {axes = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = relay.exp %6 : tensor<2x3xf32>
  relay.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: relay.func @operators_that_change_the_type_stay
relay.func @operators_that_change_the_type_stay(%x: tensor<2x3xf32>) -> tensor<3x2xi32> {
  // CHECK-NEXT: relay.reshape
  // CHECK-NEXT: relay.cast
  %0 = relay.reshape %x {newshape = array<i64: 3, 2>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = relay.cast %0 {dtype = "int32"} : (tensor<3x2xf32>) -> tensor<3x2xi32>
  relay.return %1 : tensor<3x2xi32>
}

// Of a square matrix, a transpose keeps the type but not the elements.
// CHECK-LABEL: relay.func @a_transpose_of_a_square_stays
relay.func @a_transpose_of_a_square_stays(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  // CHECK-NEXT: relay.transpose
  %0 = relay.transpose %x : (tensor<3x3xf32>) -> tensor<3x3xf32>
  relay.return %0 : tensor<3x3xf32>
}

// Types with dynamic extents are equal though the extents may not be.
// CHECK-LABEL: relay.func @operators_that_may_change_dynamic_extents_stay
relay.func @operators_that_may_change_dynamic_extents_stay(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  // CHECK-NEXT: relay.reshape
  // CHECK-NEXT: relay.broadcast_to_like
  %0 = relay.reshape %x {newshape = array<i64: 2, -1>} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = relay.broadcast_to_like %0, %y : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  relay.return %1 : tensor<?x?xf32>
}

// CHECK-LABEL: relay.func @a_cast_of_dynamic_extents_is_dropped
relay.func @a_cast_of_dynamic_extents_is_dropped(%x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK-NEXT: relay.return %x
  %0 = relay.cast %x {dtype = "float32"} : (tensor<?xf32>) -> tensor<?xf32>
  relay.return %0 : tensor<?xf32>
}

// CHECK-LABEL: relay.func @a_field_of_a_tuple_made_here_is_the_value
relay.func @a_field_of_a_tuple_made_here_is_the_value(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  // CHECK-NEXT: relay.return %y : tensor<3xf32>
  %t = relay.tuple(%x, %y) : (tensor<2xf32>, tensor<3xf32>) -> tuple<tensor<2xf32>, tensor<3xf32>>
  %1 = relay.tuple_get %t[1] : tuple<tensor<2xf32>, tensor<3xf32>> -> tensor<3xf32>
  relay.return %1 : tensor<3xf32>
}

// CHECK-LABEL: relay.func @a_field_of_a_tuple_from_elsewhere_stays
relay.func @a_field_of_a_tuple_from_elsewhere_stays(%t: tuple<tensor<2xf32>>) -> tensor<2xf32> {
  // CHECK-NEXT: relay.tuple_get
  %0 = relay.tuple_get %t[0] : tuple<tensor<2xf32>> -> tensor<2xf32>
  relay.return %0 : tensor<2xf32>
}

// A tuple with other uses stays for them.
// CHECK-LABEL: relay.func @a_tuple_with_two_uses_stays
relay.func @a_tuple_with_two_uses_stays(%x: tensor<2xf32>) -> (tuple<tensor<2xf32>>, tensor<2xf32>) {
  // CHECK-NEXT: %t = relay.tuple
  // CHECK-NEXT: relay.return %t, %x
  %t = relay.tuple(%x) : (tensor<2xf32>) -> tuple<tensor<2xf32>>
  %0 = relay.tuple_get %t[0] : tuple<tensor<2xf32>> -> tensor<2xf32>
  relay.return %t, %0 : tuple<tensor<2xf32>>, tensor<2xf32>
}
