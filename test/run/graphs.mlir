// RUN: weft-run %s --function '*' --compare interpreter --quiet | filecheck %s
// RUN: weft-run %s --function '*' --compare interpreter --quiet -O 0 --threads 2 | filecheck %s

// How inputs, constants and results of a graph may be the same.

// CHECK: @output_is_the_input
// CHECK-NEXT: equal to interpreter
relay.func @output_is_the_input(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  relay.return %x : tensor<2x3xf32>
}

// CHECK: @output_is_a_constant
// CHECK-NEXT: equal to interpreter
relay.func @output_is_a_constant() -> (tensor<2x3xf32>) {
  %c = relay.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  relay.return %c : tensor<2x3xf32>
}

// CHECK: @the_same_output_twice
// CHECK-NEXT: equal to interpreter
relay.func @the_same_output_twice(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = relay.exp %x : tensor<2x3xf32>
  relay.return %0, %0 : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK: @input_and_result
// CHECK-NEXT: equal to interpreter
relay.func @input_and_result(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = relay.exp %x : tensor<2x3xf32>
  relay.return %x, %0, %x : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK: @two_results_of_which_one_is_read
// CHECK-NEXT: equal to interpreter
relay.func @two_results_of_which_one_is_read(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = relay.nn.dense %x, %x {units = 2 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  %1 = relay.exp %x : tensor<2x3xf32>
  %2 = relay.nn.relu %1 : tensor<2x3xf32>
  relay.return %1, %2 : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK: @output_is_a_reshape_of_the_input
// CHECK-NEXT: equal to interpreter
relay.func @output_is_a_reshape_of_the_input(%x: tensor<2x3xf32>) -> (tensor<6xf32>) {
  %0 = relay.reshape %x {newshape = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>
  relay.return %0 : tensor<6xf32>
}

// CHECK: @reshape_of_a_result_returned_too
// CHECK-NEXT: equal to interpreter
relay.func @reshape_of_a_result_returned_too(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<6xf32>) {
  %0 = relay.exp %x : tensor<2x3xf32>
  %1 = relay.reshape %0 {newshape = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>
  relay.return %0, %1 : tensor<2x3xf32>, tensor<6xf32>
}

// CHECK: @scalar
// CHECK-NEXT: equal to interpreter
relay.func @scalar(%s: tensor<f32>) -> (tensor<f32>) {
  %0 = relay.exp %s : tensor<f32>
  relay.return %0 : tensor<f32>
}

// CHECK: @unused_input
// CHECK-NEXT: equal to interpreter
relay.func @unused_input(%x: tensor<2x3xf32>, %u: tensor<5xi64>) -> (tensor<2x3xf32>) {
  %0 = relay.negative %x : tensor<2x3xf32>
  relay.return %0 : tensor<2x3xf32>
}

// CHECK: @all_constant
// CHECK-NEXT: equal to interpreter
relay.func @all_constant() -> (tensor<2x3xf32>) {
  %c = relay.constant dense<2.0> : tensor<2x3xf32>
  %0 = relay.exp %c : tensor<2x3xf32>
  relay.return %0 : tensor<2x3xf32>
}

// CHECK: @tuple_argument
// CHECK-NEXT: equal to interpreter
relay.func @tuple_argument(%t: tuple<tensor<2x3xf32>, tensor<2x3xf32>>) -> (tensor<2x3xf32>) {
  %0 = relay.tuple_get %t[0] : tuple<tensor<2x3xf32>, tensor<2x3xf32>> -> tensor<2x3xf32>
  %1 = relay.tuple_get %t[1] : tuple<tensor<2x3xf32>, tensor<2x3xf32>> -> tensor<2x3xf32>
  %2 = relay.subtract %0, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  relay.return %2 : tensor<2x3xf32>
}

// CHECK: @tuple_result
// CHECK-NEXT: equal to interpreter
relay.func @tuple_result(%x: tensor<2x3xf32>) -> (tuple<tensor<2x3xf32>, tensor<2x3xf32>>) {
  %0 = relay.exp %x : tensor<2x3xf32>
  %1 = relay.tuple(%x, %0) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tuple<tensor<2x3xf32>, tensor<2x3xf32>>
  relay.return %1 : tuple<tensor<2x3xf32>, tensor<2x3xf32>>
}

// CHECK: @call
// CHECK-NEXT: equal to interpreter
relay.func @call(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %0 = relay.call @twice(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = relay.exp %0 : tensor<2x3xf32>
  relay.return %1 : tensor<2x3xf32>
}

relay.func private @twice(%p: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = relay.add %p, %p : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  relay.return %0 : tensor<2x3xf32>
}

// CHECK: @diamond_and_chain
// CHECK-NEXT: equal to interpreter
relay.func @diamond_and_chain(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %0 = relay.exp %x : tensor<2x3xf32>
  %1 = relay.tanh %0 : tensor<2x3xf32>
  %2 = relay.sqrt %0 : tensor<2x3xf32>
  %3 = relay.add %1, %2 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = relay.nn.softmax %3 : tensor<2x3xf32>
  %5 = relay.multiply %4, %0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  relay.return %5 : tensor<2x3xf32>
}
