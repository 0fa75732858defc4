// RUN: weft-opt %s -O3 -p sink-reshape,dead-code-elimination | filecheck %s

// CHECK-LABEL: relay.func @the_arithmetic_behind_a_product_is_computed_in_its_shape
// CHECK-NEXT: relay.nn.dense
// CHECK-NEXT: relay.add %{{.*}}, %b : (tensor<6x4xf32>, tensor<4xf32>) -> tensor<6x4xf32>
// CHECK-NEXT: relay.erf %{{.*}} : tensor<6x4xf32>
// CHECK-NEXT: relay.multiply %{{.*}}, %{{.*}} : (tensor<6x4xf32>, tensor<6x4xf32>)
// CHECK-NEXT: relay.reshape %{{.*}} {newshape = array<i64: 2, 3, 4>
// CHECK-NEXT: relay.return
relay.func @the_arithmetic_behind_a_product_is_computed_in_its_shape(%x: tensor<6x5xf32>, %w: tensor<4x5xf32>, %b: tensor<4xf32>) -> tensor<2x3x4xf32> {
  %0 = relay.nn.dense %x, %w : (tensor<6x5xf32>, tensor<4x5xf32>) -> tensor<6x4xf32>
  %1 = relay.reshape %0 {newshape = array<i64: 2, 3, 4>} : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
  %2 = relay.add %1, %b : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  %3 = relay.erf %2 : tensor<2x3x4xf32>
  %4 = relay.multiply %1, %3 : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  relay.return %4 : tensor<2x3x4xf32>
}

// CHECK-LABEL: relay.func @an_operand_as_large_is_reshaped_too
// CHECK: relay.reshape %y {newshape = array<i64: 6, 4>
// CHECK: relay.add %{{.*}}, %{{.*}} : (tensor<6x4xf32>, tensor<6x4xf32>)
relay.func @an_operand_as_large_is_reshaped_too(%x: tensor<6x5xf32>, %w: tensor<4x5xf32>, %y: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = relay.nn.dense %x, %w : (tensor<6x5xf32>, tensor<4x5xf32>) -> tensor<6x4xf32>
  %1 = relay.reshape %0 {newshape = array<i64: 2, 3, 4>} : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
  %2 = relay.add %y, %1 : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  relay.return %2 : tensor<2x3x4xf32>
}

// CHECK-LABEL: relay.func @leading_ones_are_dropped_and_scalars_stay
// CHECK: relay.reshape %m {newshape = array<i64: 1, 4>
// CHECK: relay.add %{{.*}}, %{{.*}} : (tensor<6x4xf32>, tensor<1x4xf32>)
// CHECK: relay.divide %{{.*}}, %s : (tensor<6x4xf32>, tensor<f32>)
relay.func @leading_ones_are_dropped_and_scalars_stay(%x: tensor<6x5xf32>, %w: tensor<4x5xf32>, %m: tensor<1x1x4xf32>, %s: tensor<f32>) -> tensor<1x6x4xf32> {
  %0 = relay.nn.dense %x, %w : (tensor<6x5xf32>, tensor<4x5xf32>) -> tensor<6x4xf32>
  %1 = relay.expand_dims %0 {axis = 0 : i64} : (tensor<6x4xf32>) -> tensor<1x6x4xf32>
  %2 = relay.add %1, %m : (tensor<1x6x4xf32>, tensor<1x1x4xf32>) -> tensor<1x6x4xf32>
  %3 = relay.divide %2, %s : (tensor<1x6x4xf32>, tensor<f32>) -> tensor<1x6x4xf32>
  relay.return %3 : tensor<1x6x4xf32>
}

// CHECK-LABEL: relay.func @an_operand_along_a_dimension_that_changes_keeps_the_reshape
// CHECK: relay.reshape
// CHECK-NEXT: relay.add %{{.*}}, %b : (tensor<2x3x4xf32>, tensor<3x1xf32>)
relay.func @an_operand_along_a_dimension_that_changes_keeps_the_reshape(%x: tensor<6x5xf32>, %w: tensor<4x5xf32>, %b: tensor<3x1xf32>) -> tensor<2x3x4xf32> {
  %0 = relay.nn.dense %x, %w : (tensor<6x5xf32>, tensor<4x5xf32>) -> tensor<6x4xf32>
  %1 = relay.reshape %0 {newshape = array<i64: 2, 3, 4>} : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
  %2 = relay.add %1, %b : (tensor<2x3x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  relay.return %2 : tensor<2x3x4xf32>
}

// CHECK-LABEL: relay.func @a_reshape_of_something_else_stays
// CHECK-NEXT: relay.reshape
// CHECK-NEXT: relay.nn.relu
relay.func @a_reshape_of_something_else_stays(%x: tensor<6x4xf32>) -> tensor<2x3x4xf32> {
  %0 = relay.reshape %x {newshape = array<i64: 2, 3, 4>} : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
  %1 = relay.nn.relu %0 : tensor<2x3x4xf32>
  relay.return %1 : tensor<2x3x4xf32>
}

// CHECK-LABEL: relay.func @a_dynamic_shape_stays
// CHECK: relay.reshape
// CHECK-NEXT: relay.nn.relu
relay.func @a_dynamic_shape_stays(%x: tensor<?x5xf32>, %w: tensor<4x5xf32>) -> tensor<1x?x4xf32> {
  %0 = relay.nn.dense %x, %w : (tensor<?x5xf32>, tensor<4x5xf32>) -> tensor<?x4xf32>
  %1 = relay.reshape %0 {newshape = array<i64: 1, -1, 4>} : (tensor<?x4xf32>) -> tensor<1x?x4xf32>
  %2 = relay.nn.relu %1 : tensor<1x?x4xf32>
  relay.return %2 : tensor<1x?x4xf32>
}

// CHECK-LABEL: relay.func @open_dimensions_that_are_taken_apart_and_joined_again_are_left_as_they_are
// CHECK-NEXT:    relay.nn.batch_matmul %x, %x
// CHECK-NEXT:    relay.divide %{{.*}}, %s : (tensor<?x?x?xf32>, tensor<f32>)
// CHECK-NEXT:    relay.nn.softmax %{{.*}} {axis = 2 : i64} : tensor<?x?x?xf32>
// CHECK-NEXT:    relay.nn.batch_matmul
// CHECK-NEXT:    relay.return
relay.func @open_dimensions_that_are_taken_apart_and_joined_again_are_left_as_they_are(%x: tensor<?x?x8xf32>, %s: tensor<f32>) -> tensor<?x?x8xf32> {
  %0 = relay.nn.batch_matmul %x, %x : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x?xf32>
  %1 = relay.reshape %0 {newshape = array<i64: -4, -1, 3, 0, 0>} : (tensor<?x?x?xf32>) -> tensor<?x3x?x?xf32>
  %2 = relay.divide %1, %s : (tensor<?x3x?x?xf32>, tensor<f32>) -> tensor<?x3x?x?xf32>
  %3 = relay.nn.softmax %2 {axis = -1 : i64} : tensor<?x3x?x?xf32>
  %4 = relay.reshape %3 {newshape = array<i64: -3, 0, 0>} : (tensor<?x3x?x?xf32>) -> tensor<?x?x?xf32>
  %5 = relay.nn.batch_matmul %4, %x {transpose_b = false} : (tensor<?x?x?xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  relay.return %5 : tensor<?x?x8xf32>
}

// CHECK-LABEL: relay.func @an_open_dimension_that_changes_keeps_the_reshape
// CHECK:         relay.reshape
// CHECK-NEXT:    relay.add %{{.*}}, %b
relay.func @an_open_dimension_that_changes_keeps_the_reshape(%x: tensor<?x?x8xf32>, %b: tensor<3x1x1xf32>) -> tensor<?x3x?x?xf32> {
  %0 = relay.nn.batch_matmul %x, %x : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x?xf32>
  %1 = relay.reshape %0 {newshape = array<i64: -4, -1, 3, 0, 0>} : (tensor<?x?x?xf32>) -> tensor<?x3x?x?xf32>
  %2 = relay.add %1, %b : (tensor<?x3x?x?xf32>, tensor<3x1x1xf32>) -> tensor<?x3x?x?xf32>
  relay.return %2 : tensor<?x3x?x?xf32>
}

// CHECK-LABEL: relay.func @it_moves_behind_a_softmax_of_its_rows
// CHECK-NEXT:    %0 = relay.nn.batch_matmul %x, %x
// CHECK-NEXT:    %1 = relay.nn.softmax %0 {axis = 2 : i64} : tensor<6x4x4xf32>
// CHECK-NEXT:    %2 = relay.reshape %1
relay.func @it_moves_behind_a_softmax_of_its_rows(%x: tensor<6x4x4xf32>) -> tensor<2x3x4x4xf32> {
  %0 = relay.nn.batch_matmul %x, %x : (tensor<6x4x4xf32>, tensor<6x4x4xf32>) -> tensor<6x4x4xf32>
  %1 = relay.reshape %0 {newshape = array<i64: 2, 3, 4, 4>} : (tensor<6x4x4xf32>) -> tensor<2x3x4x4xf32>
  %2 = relay.nn.softmax %1 {axis = -1 : i64} : tensor<2x3x4x4xf32>
  relay.return %2 : tensor<2x3x4x4xf32>
}

// CHECK-LABEL: relay.func @it_moves_behind_reductions_of_its_rows
// CHECK:         %1 = relay.mean %0 {axis = array<i64: 2>, keepdims = true}
// CHECK-NEXT:    %2 = relay.variance %0, %1 {axis = array<i64: 2>}
// CHECK-NEXT:    relay.reshape %2
relay.func @it_moves_behind_reductions_of_its_rows(%x: tensor<6x4x4xf32>) -> tensor<2x3x4xf32> {
  %0 = relay.nn.batch_matmul %x, %x : (tensor<6x4x4xf32>, tensor<6x4x4xf32>) -> tensor<6x4x4xf32>
  %1 = relay.reshape %0 {newshape = array<i64: 2, 3, 4, 4>} : (tensor<6x4x4xf32>) -> tensor<2x3x4x4xf32>
  %2 = relay.mean %1 {axis = array<i64: 3>, keepdims = true} : (tensor<2x3x4x4xf32>) -> tensor<2x3x4x1xf32>
  %3 = relay.variance %1, %2 {axis = array<i64: 3>} : (tensor<2x3x4x4xf32>, tensor<2x3x4x1xf32>) -> tensor<2x3x4xf32>
  relay.return %3 : tensor<2x3x4xf32>
}

// CHECK-LABEL: relay.func @it_stays_before_a_softmax_along_what_it_changes
// CHECK:         relay.reshape
// CHECK-NEXT:    relay.nn.softmax
relay.func @it_stays_before_a_softmax_along_what_it_changes(%x: tensor<6x4x4xf32>) -> tensor<6x16xf32> {
  %0 = relay.nn.batch_matmul %x, %x : (tensor<6x4x4xf32>, tensor<6x4x4xf32>) -> tensor<6x4x4xf32>
  %1 = relay.reshape %0 {newshape = array<i64: 6, 16>} : (tensor<6x4x4xf32>) -> tensor<6x16xf32>
  %2 = relay.nn.softmax %1 {axis = -1 : i64} : tensor<6x16xf32>
  relay.return %2 : tensor<6x16xf32>
}

// CHECK-LABEL: relay.func @it_moves_behind_what_is_divided_by_the_means_of_its_rows
// CHECK-NEXT:    %0 = relay.nn.batch_matmul %x, %x
// CHECK-NEXT:    %1 = relay.mean %0 {axis = array<i64: 2>, keepdims = true}
// CHECK-NEXT:    %2 = relay.divide %0, %1 : (tensor<6x4x4xf32>, tensor<6x4x1xf32>) -> tensor<6x4x4xf32>
// CHECK-NEXT:    relay.reshape %2
relay.func @it_moves_behind_what_is_divided_by_the_means_of_its_rows(%x: tensor<6x4x4xf32>) -> tensor<2x3x4x4xf32> {
  %0 = relay.nn.batch_matmul %x, %x : (tensor<6x4x4xf32>, tensor<6x4x4xf32>) -> tensor<6x4x4xf32>
  %1 = relay.reshape %0 {newshape = array<i64: 2, 3, 4, 4>} : (tensor<6x4x4xf32>) -> tensor<2x3x4x4xf32>
  %2 = relay.mean %1 {axis = array<i64: 3>, keepdims = true} : (tensor<2x3x4x4xf32>) -> tensor<2x3x4x1xf32>
  %3 = relay.divide %1, %2 : (tensor<2x3x4x4xf32>, tensor<2x3x4x1xf32>) -> tensor<2x3x4x4xf32>
  relay.return %3 : tensor<2x3x4x4xf32>
}

// The means of a product's rows are reshaped, but what is divided by them is larger than they were.
// CHECK-LABEL: relay.func @a_smaller_operand_does_not_say_in_which_shape_to_compute
// CHECK:         relay.reshape %{{.*}} {newshape = array<i64: 2, 3, 4, 1>
// CHECK-NEXT:    relay.divide %y, %{{.*}} : (tensor<2x3x4x4xf32>, tensor<2x3x4x1xf32>) -> tensor<2x3x4x4xf32>
relay.func @a_smaller_operand_does_not_say_in_which_shape_to_compute(%x: tensor<6x4x4xf32>, %y: tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32> {
  %0 = relay.nn.batch_matmul %x, %x : (tensor<6x4x4xf32>, tensor<6x4x4xf32>) -> tensor<6x4x4xf32>
  %1 = relay.reshape %0 {newshape = array<i64: 2, 3, 4, 4>} : (tensor<6x4x4xf32>) -> tensor<2x3x4x4xf32>
  %2 = relay.mean %1 {axis = array<i64: 3>, keepdims = true} : (tensor<2x3x4x4xf32>) -> tensor<2x3x4x1xf32>
  %3 = relay.divide %y, %2 : (tensor<2x3x4x4xf32>, tensor<2x3x4x1xf32>) -> tensor<2x3x4x4xf32>
  relay.return %3 : tensor<2x3x4x4xf32>
}

// CHECK-LABEL: relay.func @nothing_moves_where_no_elements_leave_the_other_extents_open
// CHECK:         relay.reshape
// CHECK-NEXT:    relay.add %{{.*}}, %y : (tensor<2x3x0xf32>, tensor<2x3x1xf32>) -> tensor<2x3x0xf32>
relay.func @nothing_moves_where_no_elements_leave_the_other_extents_open(%x: tensor<7x5xf32>, %w: tensor<0x5xf32>, %y: tensor<2x3x1xf32>) -> tensor<2x3x0xf32> {
  %0 = relay.nn.dense %x, %w : (tensor<7x5xf32>, tensor<0x5xf32>) -> tensor<7x0xf32>
  %1 = relay.reshape %0 {newshape = array<i64: 2, 3, 0>, allowzero = true} : (tensor<7x0xf32>) -> tensor<2x3x0xf32>
  %2 = relay.add %1, %y : (tensor<2x3x0xf32>, tensor<2x3x1xf32>) -> tensor<2x3x0xf32>
  relay.return %2 : tensor<2x3x0xf32>
}

// CHECK-LABEL: relay.func @a_mask_for_each_sequence_and_all_heads(
// CHECK:         %[[JOINED:.*]] = relay.reshape %m {newshape = array<i64: -3, 0, 0>}
// CHECK-NEXT:    %[[EACH:.*]] = relay.repeat %[[JOINED]] {repeats = 3 : i64, axis = 0 : i64} : (tensor<2x1x7xf32>) -> tensor<6x1x7xf32>
// CHECK-NEXT:    %{{.*}} = relay.add %{{.*}}, %[[EACH]] : (tensor<6x5x7xf32>, tensor<6x1x7xf32>) -> tensor<6x5x7xf32>
relay.func @a_mask_for_each_sequence_and_all_heads(%q: tensor<6x5x4xf32>, %k: tensor<6x4x7xf32>, %m: tensor<2x1x1x7xf32>) -> tensor<2x3x5x7xf32> {
  %0 = relay.nn.batch_matmul %q, %k {transpose_b = false} : (tensor<6x5x4xf32>, tensor<6x4x7xf32>) -> tensor<6x5x7xf32>
  %1 = relay.reshape %0 {newshape = array<i64: 2, 3, 5, 7>} : (tensor<6x5x7xf32>) -> tensor<2x3x5x7xf32>
  %2 = relay.add %1, %m : (tensor<2x3x5x7xf32>, tensor<2x1x1x7xf32>) -> tensor<2x3x5x7xf32>
  relay.return %2 : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: relay.func @a_bias_for_each_head_of_all_sequences(
// CHECK:         %[[EACH:.*]] = relay.tile %{{.*}} {reps = array<i64: 2, 1, 1>} : (tensor<3x5x7xf32>) -> tensor<6x5x7xf32>
// CHECK-NEXT:    %{{.*}} = relay.add %{{.*}}, %[[EACH]] : (tensor<6x5x7xf32>, tensor<6x5x7xf32>) -> tensor<6x5x7xf32>
relay.func @a_bias_for_each_head_of_all_sequences(%q: tensor<6x5x4xf32>, %k: tensor<6x4x7xf32>, %m: tensor<1x3x5x7xf32>) -> tensor<2x3x5x7xf32> {
  %0 = relay.nn.batch_matmul %q, %k {transpose_b = false} : (tensor<6x5x4xf32>, tensor<6x4x7xf32>) -> tensor<6x5x7xf32>
  %1 = relay.reshape %0 {newshape = array<i64: 2, 3, 5, 7>} : (tensor<6x5x7xf32>) -> tensor<2x3x5x7xf32>
  %2 = relay.add %1, %m : (tensor<2x3x5x7xf32>, tensor<1x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  relay.return %2 : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: relay.func @a_mask_of_open_extents(
// CHECK:         %[[EACH:.*]] = relay.repeat %{{.*}} {repeats = 3 : i64, axis = 0 : i64} : (tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
// CHECK-NEXT:    %{{.*}} = relay.add %{{.*}}, %[[EACH]] : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
relay.func @a_mask_of_open_extents(%q0: tensor<?x3x?x4xf32>, %k0: tensor<?x3x4x?xf32>, %m: tensor<?x1x?x?xf32>) -> tensor<?x3x?x?xf32> {
  %q = relay.reshape %q0 {newshape = array<i64: -3, 0, 0>} : (tensor<?x3x?x4xf32>) -> tensor<?x?x4xf32>
  %k = relay.reshape %k0 {newshape = array<i64: -3, 0, 0>} : (tensor<?x3x4x?xf32>) -> tensor<?x4x?xf32>
  %0 = relay.nn.batch_matmul %q, %k {transpose_b = false} : (tensor<?x?x4xf32>, tensor<?x4x?xf32>) -> tensor<?x?x?xf32>
  %1 = relay.reshape %0 {newshape = array<i64: -4, -1, 3, 0, 0>} : (tensor<?x?x?xf32>) -> tensor<?x3x?x?xf32>
  %2 = relay.add %1, %m : (tensor<?x3x?x?xf32>, tensor<?x1x?x?xf32>) -> tensor<?x3x?x?xf32>
  relay.return %2 : tensor<?x3x?x?xf32>
}

// CHECK-LABEL: relay.func @a_bias_for_each_head_of_an_open_number_of_sequences_stays(
// CHECK-NOT:     relay.tile
relay.func @a_bias_for_each_head_of_an_open_number_of_sequences_stays(%q: tensor<?x?x4xf32>, %k: tensor<?x4x?xf32>, %m: tensor<1x3x?x?xf32>) -> tensor<?x3x?x?xf32> {
  %0 = relay.nn.batch_matmul %q, %k {transpose_b = false} : (tensor<?x?x4xf32>, tensor<?x4x?xf32>) -> tensor<?x?x?xf32>
  %1 = relay.reshape %0 {newshape = array<i64: -4, -1, 3, 0, 0>} : (tensor<?x?x?xf32>) -> tensor<?x3x?x?xf32>
  %2 = relay.add %1, %m : (tensor<?x3x?x?xf32>, tensor<1x3x?x?xf32>) -> tensor<?x3x?x?xf32>
  relay.return %2 : tensor<?x3x?x?xf32>
}
