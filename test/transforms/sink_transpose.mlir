// RUN: weft-opt %s -O3 -p sink-transpose | filecheck %s

// CHECK-LABEL: relay.func @bias_and_activation_stay_with_their_convolution
// CHECK-NEXT: %[[Y:.*]] = relay.nn.conv2d %x, %w
// CHECK-NEXT: %[[E:.*]] = relay.expand_dims %b {axis = 0 : i64, num_newaxis = 3 : i64}
// CHECK-NEXT: %[[B:.*]] = relay.transpose %[[E]] {axes = array<i64: 0, 3, 1, 2>}
// CHECK-NEXT: %[[A:.*]] = relay.add %[[Y]], %[[B]]
// CHECK-NEXT: %[[C:.*]] = relay.clip %[[A]]
// CHECK-NEXT: relay.nn.conv2d %[[C]], %w
// CHECK-NEXT: relay.return
relay.func @bias_and_activation_stay_with_their_convolution(%x: tensor<1x4x5x6xf32>, %w: tensor<4x4x1x1xf32>, %b: tensor<4xf32>) -> tensor<1x4x5x6xf32> {
  %0 = relay.nn.conv2d %x, %w : (tensor<1x4x5x6xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x5x6xf32>
  %1 = relay.transpose %0 {axes = array<i64: 0, 2, 3, 1>} : (tensor<1x4x5x6xf32>) -> tensor<1x5x6x4xf32>
  %2 = relay.add %1, %b : (tensor<1x5x6x4xf32>, tensor<4xf32>) -> tensor<1x5x6x4xf32>
  %3 = relay.clip %2 {a_min = 0.0, a_max = 6.0} : tensor<1x5x6x4xf32>
  %4 = relay.transpose %3 {axes = array<i64: 0, 3, 1, 2>} : (tensor<1x5x6x4xf32>) -> tensor<1x4x5x6xf32>
  %5 = relay.nn.conv2d %4, %w : (tensor<1x4x5x6xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x5x6xf32>
  relay.return %5 : tensor<1x4x5x6xf32>
}

// CHECK-LABEL: relay.func @the_transposed_operand_may_be_the_second_one
// CHECK: %[[A:.*]] = relay.subtract %{{.*}}, %x
// CHECK-NEXT: relay.return %[[A]]
relay.func @the_transposed_operand_may_be_the_second_one(%x: tensor<2x3x4xf32>, %b: tensor<3xf32>) -> tensor<2x3x4xf32> {
  %0 = relay.transpose %x {axes = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %1 = relay.subtract %b, %0 : (tensor<3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  %2 = relay.transpose %1 {axes = array<i64: 0, 2, 1>} : (tensor<2x4x3xf32>) -> tensor<2x3x4xf32>
  relay.return %2 : tensor<2x3x4xf32>
}

// What was transposed alike is added before, and transposed once.
// CHECK-LABEL: relay.func @of_two_transposes_alike_one_is_left
// CHECK-NEXT: %[[A:.*]] = relay.add %x, %y
// CHECK-NEXT: %[[T:.*]] = relay.transpose %[[A]] {axes = array<i64: 1, 0>}
// CHECK-NEXT: relay.return %[[T]]
relay.func @of_two_transposes_alike_one_is_left(%x: tensor<3x4xf32>, %y: tensor<3x4xf32>) -> tensor<4x3xf32> {
  %0 = relay.transpose %x {axes = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %1 = relay.transpose %y {axes = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %2 = relay.add %0, %1 : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  relay.return %2 : tensor<4x3xf32>
}

// A residual in the other order is read by both: it is transposed once, and the transpose behind it goes.
// CHECK-LABEL: relay.func @a_residual_is_transposed_where_that_saves_another
// CHECK-NEXT: %[[R:.*]] = relay.transpose %r {axes = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[A:.*]] = relay.add %x, %[[R]]
// CHECK-NEXT: %[[S:.*]] = relay.sigmoid %[[A]]
// CHECK-NEXT: relay.multiply %[[S]], %[[R]]
// CHECK-NEXT: relay.return
relay.func @a_residual_is_transposed_where_that_saves_another(%x: tensor<2x3x4xf32>, %r: tensor<2x4x3xf32>) -> tensor<2x3x4xf32> {
  %0 = relay.transpose %x {axes = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %1 = relay.add %0, %r : (tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  %2 = relay.sigmoid %1 : tensor<2x4x3xf32>
  %3 = relay.multiply %2, %r : (tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  %4 = relay.transpose %3 {axes = array<i64: 0, 2, 1>} : (tensor<2x4x3xf32>) -> tensor<2x3x4xf32>
  relay.return %4 : tensor<2x3x4xf32>
}

// CHECK-LABEL: relay.func @axes_are_renumbered
// CHECK: relay.concatenate %{{.*}} {axis = 1 : i64}
// CHECK: relay.nn.pad %{{.*}} {pad_width = array<i64: 0, 0, 0, 0, 1, 2, 0, 0>
// CHECK: relay.split %{{.*}} {indices_or_sections = 2 : i64, axis = 1 : i64}
// CHECK: relay.nn.softmax %{{.*}} {axis = 1 : i64}
// CHECK: relay.mean %{{.*}} {axis = array<i64: 2, 3>
// CHECK: relay.max %{{.*}} {axis = array<i64: 1>, keepdims = true
// CHECK-NOT: relay.transpose
// CHECK: relay.return
relay.func @axes_are_renumbered(%x: tensor<1x2x4x5xf32>, %y: tensor<1x2x4x5xf32>) -> (tensor<1x2xf32>, tensor<1x1x7x5xf32>) {
  %z = relay.constant dense<0.0> : tensor<f32>
  %0 = relay.transpose %x {axes = array<i64: 0, 2, 3, 1>} : (tensor<1x2x4x5xf32>) -> tensor<1x4x5x2xf32>
  %1 = relay.transpose %y {axes = array<i64: 0, 2, 3, 1>} : (tensor<1x2x4x5xf32>) -> tensor<1x4x5x2xf32>
  %t = relay.tuple(%0, %1) : (tensor<1x4x5x2xf32>, tensor<1x4x5x2xf32>) -> tuple<tensor<1x4x5x2xf32>, tensor<1x4x5x2xf32>>
  %2 = relay.concatenate %t {axis = -1 : i64} : (tuple<tensor<1x4x5x2xf32>, tensor<1x4x5x2xf32>>) -> tensor<1x4x5x4xf32>
  %3 = relay.nn.pad %2, %z {pad_width = array<i64: 0, 0, 1, 2, 0, 0, 0, 0>} : (tensor<1x4x5x4xf32>, tensor<f32>) -> tensor<1x7x5x4xf32>
  %s = relay.split %3 {indices_or_sections = 2 : i64, axis = 3 : i64} : (tensor<1x7x5x4xf32>) -> tuple<tensor<1x7x5x2xf32>, tensor<1x7x5x2xf32>>
  %4 = relay.tuple_get %s[0] : tuple<tensor<1x7x5x2xf32>, tensor<1x7x5x2xf32>> -> tensor<1x7x5x2xf32>
  %5 = relay.tuple_get %s[1] : tuple<tensor<1x7x5x2xf32>, tensor<1x7x5x2xf32>> -> tensor<1x7x5x2xf32>
  %6 = relay.nn.softmax %4 : tensor<1x7x5x2xf32>
  %7 = relay.mean %6 {axis = array<i64: 1, 2>} : (tensor<1x7x5x2xf32>) -> tensor<1x2xf32>
  %8 = relay.max %5 {axis = array<i64: 3>, keepdims = true} : (tensor<1x7x5x2xf32>) -> tensor<1x7x5x1xf32>
  %9 = relay.transpose %8 {axes = array<i64: 0, 3, 1, 2>} : (tensor<1x7x5x1xf32>) -> tensor<1x1x7x5xf32>
  relay.return %7, %9 : tensor<1x2xf32>, tensor<1x1x7x5xf32>
}

// Scales and zero points stand along an axis.
// CHECK-LABEL: relay.func @quantised_values_go_along
// CHECK-NEXT: %[[D:.*]] = relay.qnn.dequantize %x, %s, %z {axis = 1 : i64}
// CHECK-NEXT: %[[R:.*]] = relay.nn.relu %[[D]]
// CHECK-NEXT: %[[Q:.*]] = relay.qnn.quantize %[[R]], %s, %z {{{.*}}axis = 1 : i64
// CHECK-NEXT: relay.return %[[Q]]
relay.func @quantised_values_go_along(%x: tensor<1x2x4x5xi8>, %s: tensor<2xf32>, %z: tensor<2xi32>) -> tensor<1x2x4x5xi8> {
  %0 = relay.transpose %x {axes = array<i64: 0, 2, 3, 1>} : (tensor<1x2x4x5xi8>) -> tensor<1x4x5x2xi8>
  %1 = relay.qnn.dequantize %0, %s, %z {axis = -1 : i64} : (tensor<1x4x5x2xi8>, tensor<2xf32>, tensor<2xi32>) -> tensor<1x4x5x2xf32>
  %2 = relay.nn.relu %1 : tensor<1x4x5x2xf32>
  %3 = relay.qnn.quantize %2, %s, %z {axis = -1 : i64, out_dtype = "int8"} : (tensor<1x4x5x2xf32>, tensor<2xf32>, tensor<2xi32>) -> tensor<1x4x5x2xi8>
  %4 = relay.transpose %3 {axes = array<i64: 0, 3, 1, 2>} : (tensor<1x4x5x2xi8>) -> tensor<1x2x4x5xi8>
  relay.return %4 : tensor<1x2x4x5xi8>
}

// CHECK-LABEL: relay.func @open_extents_go_along
// CHECK-NEXT: %[[R:.*]] = relay.exp %x : tensor<?x3x?xf32>
// CHECK-NEXT: relay.return %[[R]]
relay.func @open_extents_go_along(%x: tensor<?x3x?xf32>) -> tensor<?x3x?xf32> {
  %0 = relay.transpose %x {axes = array<i64: 2, 0, 1>} : (tensor<?x3x?xf32>) -> tensor<?x?x3xf32>
  %1 = relay.exp %0 : tensor<?x?x3xf32>
  %2 = relay.transpose %1 {axes = array<i64: 1, 2, 0>} : (tensor<?x?x3xf32>) -> tensor<?x3x?xf32>
  relay.return %2 : tensor<?x3x?xf32>
}

// Who needs the transposed value gets it: one transpose instead of two.
// CHECK-LABEL: relay.func @a_transpose_stays_for_other_users
// CHECK-NEXT: %[[R:.*]] = relay.exp %x
// CHECK-NEXT: %[[T:.*]] = relay.transpose %[[R]] {axes = array<i64: 1, 0>}
// CHECK-NEXT: %[[F:.*]] = relay.nn.batch_flatten %[[T]]
// CHECK-NEXT: relay.return %[[F]], %[[R]]
relay.func @a_transpose_stays_for_other_users(%x: tensor<3x4xf32>) -> (tensor<4x3xf32>, tensor<3x4xf32>) {
  %0 = relay.transpose %x {axes = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %1 = relay.exp %0 : tensor<4x3xf32>
  %2 = relay.nn.batch_flatten %1 : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %3 = relay.transpose %1 {axes = array<i64: 1, 0>} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  relay.return %2, %3 : tensor<4x3xf32>, tensor<3x4xf32>
}

// CHECK-LABEL: relay.func @a_transpose_goes_behind_what_makes_less_of_it
// CHECK-NEXT: %[[M:.*]] = relay.max %x {axis = array<i64: 2>
// CHECK-NEXT: %[[T:.*]] = relay.transpose %[[M]] {axes = array<i64: 1, 0>}
// CHECK-NEXT: relay.return %[[T]]
relay.func @a_transpose_goes_behind_what_makes_less_of_it(%x: tensor<3x4x5xf32>) -> tensor<4x3xf32> {
  %0 = relay.transpose %x {axes = array<i64: 2, 1, 0>} : (tensor<3x4x5xf32>) -> tensor<5x4x3xf32>
  %1 = relay.max %0 {axis = array<i64: 0>} : (tensor<5x4x3xf32>) -> tensor<4x3xf32>
  relay.return %1 : tensor<4x3xf32>
}

// CHECK-LABEL: relay.func @one_that_nothing_undoes_stays
// CHECK-NEXT: relay.transpose
// CHECK-NEXT: relay.exp
// CHECK-NEXT: relay.return
relay.func @one_that_nothing_undoes_stays(%x: tensor<3x4xf32>) -> tensor<4x3xf32> {
  %0 = relay.transpose %x {axes = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %1 = relay.exp %0 : tensor<4x3xf32>
  relay.return %1 : tensor<4x3xf32>
}

// CHECK-LABEL: relay.func @where_another_transpose_would_take_its_place_it_stays
// CHECK-NEXT: relay.transpose %x
// CHECK-NEXT: relay.add
// CHECK-NEXT: relay.transpose
// CHECK-NEXT: relay.nn.batch_flatten
// CHECK-NEXT: relay.return
relay.func @where_another_transpose_would_take_its_place_it_stays(%x: tensor<2x3x4xf32>, %y: tensor<2x4x3xf32>) -> (tensor<2x3x4xf32>, tensor<2x12xf32>) {
  %0 = relay.transpose %x {axes = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %1 = relay.add %0, %y : (tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  %2 = relay.transpose %1 {axes = array<i64: 0, 2, 1>} : (tensor<2x4x3xf32>) -> tensor<2x3x4xf32>
  %3 = relay.nn.batch_flatten %1 : (tensor<2x4x3xf32>) -> tensor<2x12xf32>
  relay.return %2, %3 : tensor<2x3x4xf32>, tensor<2x12xf32>
}

// CHECK-LABEL: relay.func @of_two_that_do_not_undo_each_other_one_is_left
// CHECK-NEXT: relay.exp %x
// CHECK-NEXT: relay.transpose %{{.*}} {axes = array<i64: 2, 0, 1>}
// CHECK-NEXT: relay.return
relay.func @of_two_that_do_not_undo_each_other_one_is_left(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  %0 = relay.transpose %x {axes = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %1 = relay.exp %0 : tensor<2x4x3xf32>
  %2 = relay.transpose %1 {axes = array<i64: 1, 0, 2>} : (tensor<2x4x3xf32>) -> tensor<4x2x3xf32>
  relay.return %2 : tensor<4x2x3xf32>
}

// CHECK-LABEL: relay.func @what_is_told_its_layout_stays
// CHECK-NEXT: relay.transpose %x
// CHECK-NEXT: relay.nn.max_pool2d
// CHECK-NEXT: relay.transpose
// CHECK-NEXT: relay.return
relay.func @what_is_told_its_layout_stays(%x: tensor<1x5x6x4xf32>) -> tensor<1x4x5x4xf32> {
  %0 = relay.transpose %x {axes = array<i64: 0, 3, 1, 2>} : (tensor<1x5x6x4xf32>) -> tensor<1x4x5x6xf32>
  %1 = relay.nn.max_pool2d %0 {pool_size = array<i64: 2, 2>} : (tensor<1x4x5x6xf32>) -> tensor<1x4x4x5xf32>
  %2 = relay.transpose %1 {axes = array<i64: 0, 2, 3, 1>} : (tensor<1x4x4x5xf32>) -> tensor<1x4x5x4xf32>
  relay.return %2 : tensor<1x4x5x4xf32>
}

// CHECK-LABEL: relay.func @what_reads_elements_in_their_order_stays
// CHECK-NEXT: relay.transpose %x
// CHECK-NEXT: relay.reshape
// CHECK-NEXT: relay.transpose
// CHECK-NEXT: relay.return
relay.func @what_reads_elements_in_their_order_stays(%x: tensor<3x4xf32>) -> tensor<6x2xf32> {
  %0 = relay.transpose %x {axes = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %1 = relay.reshape %0 {newshape = array<i64: 2, 6>} : (tensor<4x3xf32>) -> tensor<2x6xf32>
  %2 = relay.transpose %1 {axes = array<i64: 1, 0>} : (tensor<2x6xf32>) -> tensor<6x2xf32>
  relay.return %2 : tensor<6x2xf32>
}

// CHECK-LABEL: relay.func @an_empty_tensor_stays
// CHECK-NEXT: relay.transpose %x
// CHECK-NEXT: relay.exp
// CHECK-NEXT: relay.transpose
// CHECK-NEXT: relay.return
relay.func @an_empty_tensor_stays(%x: tensor<0x4xf32>) -> tensor<0x4xf32> {
  %0 = relay.transpose %x {axes = array<i64: 1, 0>} : (tensor<0x4xf32>) -> tensor<4x0xf32>
  %1 = relay.exp %0 : tensor<4x0xf32>
  %2 = relay.transpose %1 {axes = array<i64: 1, 0>} : (tensor<4x0xf32>) -> tensor<0x4xf32>
  relay.return %2 : tensor<0x4xf32>
}

// What a branch reads of what is around it is in the order that it was.
// CHECK-LABEL: relay.func @a_branch_reads_it_as_it_was
// CHECK-NEXT: %[[E:.*]] = relay.exp %x : tensor<3x4xf32>
// CHECK-NEXT: relay.multiply %[[E]], %x
// CHECK-NEXT: %[[T:.*]] = relay.transpose %[[E]]
// CHECK: relay.if
// CHECK: relay.sum %[[T]]
relay.func @a_branch_reads_it_as_it_was(%x: tensor<3x4xf32>, %c: tensor<i1>) -> (tensor<3x4xf32>, tensor<4xf32>) {
  %0 = relay.transpose %x {axes = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %1 = relay.exp %0 : tensor<4x3xf32>
  %2 = relay.transpose %1 {axes = array<i64: 1, 0>} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %3 = relay.multiply %2, %x : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %4 = relay.if %c : (tensor<i1>) -> tensor<4xf32> {
    %5 = relay.sum %1 {axis = array<i64: 1>} : (tensor<4x3xf32>) -> tensor<4xf32>
    relay.yield %5 : tensor<4xf32>
  } else {
    %6 = relay.max %1 {axis = array<i64: 1>} : (tensor<4x3xf32>) -> tensor<4xf32>
    relay.yield %6 : tensor<4xf32>
  }
  relay.return %3, %4 : tensor<3x4xf32>, tensor<4xf32>
}

// CHECK-LABEL: relay.func @a_broadcast_of_full_rank_is_transposed_too
// CHECK-NEXT: %[[M:.*]] = relay.transpose %m {axes = array<i64: 0, 2, 1>} : (tensor<1x4x1xf32>) -> tensor<1x1x4xf32>
// CHECK-NEXT: %[[Y:.*]] = relay.multiply %x, %[[M]]
// CHECK-NEXT: relay.return %[[Y]]
relay.func @a_broadcast_of_full_rank_is_transposed_too(%x: tensor<2x3x4xf32>, %m: tensor<1x4x1xf32>) -> tensor<2x3x4xf32> {
  %0 = relay.transpose %x {axes = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %1 = relay.multiply %0, %m : (tensor<2x4x3xf32>, tensor<1x4x1xf32>) -> tensor<2x4x3xf32>
  %2 = relay.transpose %1 {axes = array<i64: 0, 2, 1>} : (tensor<2x4x3xf32>) -> tensor<2x3x4xf32>
  relay.return %2 : tensor<2x3x4xf32>
}

// CHECK-LABEL: relay.func @what_broadcasts_it_to_a_higher_rank_reads_it_as_it_was
// CHECK-NEXT: relay.transpose %x
// CHECK-NEXT: relay.add
// CHECK-NEXT: relay.return
relay.func @what_broadcasts_it_to_a_higher_rank_reads_it_as_it_was(%x: tensor<3x4xf32>, %y: tensor<2x4x3xf32>) -> tensor<2x4x3xf32> {
  %0 = relay.transpose %x {axes = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %1 = relay.add %0, %y : (tensor<4x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  relay.return %1 : tensor<2x4x3xf32>
}
