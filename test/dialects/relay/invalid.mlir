// RUN: weft-opt %s --verify-diagnostics --split-input-file

// Element types

relay.func @exponential_of_integers(%x: tensor<4xi32>) {
  // expected-error@+1 {{expected a tensor of floats, got tensor<4xi32>}}
  %r = relay.exp %x : tensor<4xi32>
  relay.return
}

// -----

relay.func @negation_of_numbers_as_truth_values(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a tensor of truth values, got tensor<4xf32>}}
  %r = relay.logical_not %x : tensor<4xf32>
  relay.return
}

// -----

relay.func @bits_of_floats(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a tensor of integers, got tensor<4xf32>}}
  %r = relay.bitwise_not %x : tensor<4xf32>
  relay.return
}

// -----

relay.func @clip_to_what_is_no_number(%x: tensor<4xi8>) -> tensor<4xi8> {
  // expected-error@+1 {{'a_max' is not a number, and its elements are integers}}
  %r = relay.clip %x {a_min = 0.0 : f64, a_max = 0x7FF8000000000000 : f64} : tensor<4xi8>
  relay.return %r : tensor<4xi8>
}

// -----

relay.func @cast_to_a_type_that_is_none(%x: tensor<4xf32>) {
  // expected-error@+1 {{dtype: weft has no element type for dtype 'float33'}}
  %r = relay.cast %x {dtype = "float33"} : (tensor<4xf32>) -> tensor<4xf32>
  relay.return
}

// -----

relay.func @result_of_another_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{'relay.cast': has result type tensor<4xi64>, but its operands and attributes give tensor<4xi32>}}
  %r = relay.cast %x {dtype = "int32"} : (tensor<4xf32>) -> tensor<4xi64>
  relay.return
}

// -----

relay.func @test_with_a_result_that_is_no_truth_value(%x: tensor<4xf32>) {
  // expected-error@+1 {{but its operands and attributes give tensor<4xi1>}}
  %r = relay.isnan %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.return
}

// -----

// Broadcasting

relay.func @sum_of_different_element_types(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error@+1 {{operands have different element types: tensor<4xf32> and tensor<4xf64>}}
  %r = relay.add %x, %y : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  relay.return
}

// -----

relay.func @shapes_that_do_not_broadcast(%x: tensor<2x4xf32>, %y: tensor<3xf32>) {
  // expected-error@+1 {{shapes [2, 4] and [3] do not broadcast: dimensions 4 and 3 do not broadcast}}
  %r = relay.add %x, %y : (tensor<2x4xf32>, tensor<3xf32>) -> tensor<2x4xf32>
  relay.return
}

// -----

relay.func @sum_whose_result_does_not_broadcast(%x: tensor<2x1xf32>, %y: tensor<3xf32>) {
  // expected-error@+1 {{but its operands and attributes give tensor<2x3xf32>}}
  %r = relay.add %x, %y : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x1xf32>
  relay.return
}

// -----

relay.func @conjunction_of_numbers(%x: tensor<4xi32>) {
  // expected-error@+1 {{expected a tensor of truth values, got tensor<4xi32>}}
  %r = relay.logical_and %x, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  relay.return
}

// -----

relay.func @bits_of_two_floats(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a tensor of integers, got tensor<4xf32>}}
  %r = relay.bitwise_and %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return
}

// -----

relay.func @comparison_with_a_result_of_numbers(%x: tensor<4xf32>) {
  // expected-error@+1 {{but its operands and attributes give tensor<4xi1>}}
  %r = relay.less %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return
}

// -----

relay.func @choice_between_different_types(%c: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error@+1 {{the two sides have different element types: tensor<4xf32> and tensor<4xi32>}}
  %r = relay.where %c, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  relay.return
}

// -----

relay.func @broadcast_to_a_smaller_shape(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{shape [2, 3] does not broadcast to [3]}}
  %r = relay.broadcast_to %x {shape = array<i64: 3>} : (tensor<2x3xf32>) -> tensor<3xf32>
  relay.return
}

// -----

relay.func @broadcast_of_an_extent_that_is_not_one(%x: tensor<2xf32>) {
  // expected-error@+1 {{shapes [2] and [4] do not broadcast}}
  %r = relay.broadcast_to %x {shape = array<i64: 4>} : (tensor<2xf32>) -> tensor<4xf32>
  relay.return
}

// -----

relay.func @broadcast_like_a_smaller_tensor(%x: tensor<2x3xf32>, %y: tensor<3xf32>) {
  // expected-error@+1 {{shape [2, 3] does not broadcast to [3]}}
  %r = relay.broadcast_to_like %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3xf32>
  relay.return
}

// -----

// Reductions

relay.func @axis_out_of_range(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{axis 2 is out of range for a tensor of rank 2}}
  %r = relay.sum %x {axis = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2xf32>
  relay.return
}

// -----

relay.func @axis_listed_twice(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'axis' lists an axis twice: [0, -2]}}
  %r = relay.sum %x {axis = array<i64: 0, -2>} : (tensor<2x3xf32>) -> tensor<3xf32>
  relay.return
}

// -----

relay.func @place_of_an_element_where_there_is_none(%x: tensor<2x0xf32>) {
  // expected-error@+1 {{tensor<2x0xf32> has no elements along [1], and so none has a place}}
  %r = relay.argmax %x {axis = array<i64: 1>} : (tensor<2x0xf32>) -> tensor<2xi32>
  relay.return
}

// -----

relay.func @reduced_axis_that_stays(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{but its operands and attributes give tensor<2xf32>}}
  %r = relay.max %x {axis = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  relay.return
}

// -----

relay.func @conjunction_of_floats_along_an_axis(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{expected a tensor of truth values, got tensor<2x3xf32>}}
  %r = relay.all %x {axis = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  relay.return
}

// -----

relay.func @variance_with_a_mean_of_another_shape(%x: tensor<2x3xf32>, %m: tensor<2xf32>) {
  // expected-error@+1 {{the mean of tensor<2x3xf32> along [1] is not tensor<2xf32>}}
  %r = relay.variance %x, %m {axis = array<i64: 1>} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2xf32>
  relay.return
}

// -----

relay.func @place_of_a_maximum_as_a_float(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{but its operands and attributes give tensor<2xi32>}}
  %r = relay.argmax %x {axis = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  relay.return
}

// -----

relay.func @collapse_to_a_shape_that_does_not_broadcast(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{do not broadcast}}
  %r = relay.collapse_sum_to %x {shape = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2xf32>
  relay.return
}

// -----

relay.func @collapse_to_a_larger_shape(%x: tensor<1x3xf32>) {
  // expected-error@+1 {{tensor<1x3xf32> cannot be collapsed to shape [2, 3], which does not broadcast to it}}
  %r = relay.collapse_sum_to %x {shape = array<i64: 2, 3>} : (tensor<1x3xf32>) -> tensor<2x3xf32>
  relay.return
}

// -----

relay.func @collapse_like_a_tensor_that_does_not_broadcast(%x: tensor<2x3xf32>, %y: tensor<2xf32>) {
  // expected-error@+1 {{do not broadcast}}
  %r = relay.collapse_sum_like %x, %y : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2xf32>
  relay.return
}

// -----

// Shapes

relay.func @reshape_to_another_number_of_elements(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{a tensor of shape [2, 3] (6 elements) cannot be reshaped to [4, 2] (8 elements)}}
  %r = relay.reshape %x {newshape = array<i64: 4, 2>} : (tensor<2x3xf32>) -> tensor<4x2xf32>
  relay.return
}

// -----

relay.func @reshape_to_a_shape_that_does_not_divide(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{a tensor of shape [2, 3] cannot be reshaped to [4, ?]}}
  %r = relay.reshape %x {newshape = array<i64: 4, -1>} : (tensor<2x3xf32>) -> tensor<4x2xf32>
  relay.return
}

// -----

relay.func @reshape_with_two_unknowns(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'newshape' [-1, -1] has -1 twice}}
  %r = relay.reshape %x {newshape = array<i64: -1, -1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  relay.return
}

// -----

relay.func @reshape_that_copies_a_dimension_too_many(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'newshape' [0, 0, 0] asks for more dimensions than [2, 3] has}}
  %r = relay.reshape %x {newshape = array<i64: 0, 0, 0>} : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
  relay.return
}

// -----

relay.func @reshape_by_a_number_without_meaning(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'newshape' has -5, which means nothing}}
  %r = relay.reshape %x {newshape = array<i64: -5>} : (tensor<2x3xf32>) -> tensor<6xf32>
  relay.return
}

// -----

relay.func @reshape_that_splits_into_nothing(%x: tensor<6xf32>) {
  // expected-error@+1 {{'newshape' [-4, 2] has no two numbers after -4}}
  %r = relay.reshape %x {newshape = array<i64: -4, 2>} : (tensor<6xf32>) -> tensor<2x3xf32>
  relay.return
}

// -----

relay.func @reshape_that_splits_unevenly(%x: tensor<6xf32>) {
  // expected-error@+1 {{extent 6 cannot be split into 4 and -1}}
  %r = relay.reshape %x {newshape = array<i64: -4, 4, -1>} : (tensor<6xf32>) -> tensor<4x1xf32>
  relay.return
}

// -----

relay.func @reshape_like_another_number_of_elements(%x: tensor<2x3xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{a tensor of shape [2, 3] (6 elements) cannot be reshaped to [4] (4 elements)}}
  %r = relay.reshape_like %x, %y : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return
}

// -----

relay.func @reshape_like_beyond_the_rank(%x: tensor<2x3xf32>, %y: tensor<6xf32>) {
  // expected-error@+1 {{'lhs_begin' 3 and 'lhs_end' None do not fit a tensor of rank 2}}
  %r = relay.reshape_like %x, %y {lhs_begin = 3 : i64} : (tensor<2x3xf32>, tensor<6xf32>) -> tensor<6xf32>
  relay.return
}

// -----

relay.func @squeeze_of_an_extent_that_is_not_one(%x: tensor<1x3xf32>) {
  // expected-error@+1 {{dimension 1 of shape [1, 3] cannot be dropped: its extent is not one}}
  %r = relay.squeeze %x {axis = array<i64: 1>} : (tensor<1x3xf32>) -> tensor<1xf32>
  relay.return
}

// -----

relay.func @new_dimension_out_of_range(%x: tensor<3xf32>) {
  // expected-error@+1 {{axis 2 is out of range for a tensor of rank 2}}
  %r = relay.expand_dims %x {axis = 2 : i64} : (tensor<3xf32>) -> tensor<3x1xf32>
  relay.return
}

// -----

relay.func @negative_number_of_new_dimensions(%x: tensor<3xf32>) {
  // expected-error@+1 {{'num_newaxis' must not be negative, got -1}}
  %r = relay.expand_dims %x {axis = 0 : i64, num_newaxis = -1 : i64} : (tensor<3xf32>) -> tensor<3xf32>
  relay.return
}

// -----

relay.func @transpose_by_axes_that_are_no_order(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'axes' [0, 0] is not an order of 2 dimensions}}
  %r = relay.transpose %x {axes = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x2xf32>
  relay.return
}

// -----

relay.func @reverse_of_an_axis_out_of_range(%x: tensor<2xf32>) {
  // expected-error@+1 {{axis 1 is out of range for a tensor of rank 1}}
  %r = relay.reverse %x {axis = 1 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  relay.return
}

// -----

relay.func @repeat_of_nothing(%x: tensor<2xf32>) {
  // expected-error@+1 {{'repeats' must be at least 1, got 0}}
  %r = relay.repeat %x {repeats = 0 : i64, axis = 0 : i64} : (tensor<2xf32>) -> tensor<0xf32>
  relay.return
}

// -----

relay.func @negative_number_of_tiles(%x: tensor<2xf32>) {
  // expected-error@+1 {{'reps' must not be negative, got [-1]}}
  %r = relay.tile %x {reps = array<i64: -1>} : (tensor<2xf32>) -> tensor<2xf32>
  relay.return
}

// -----

// Slices, joins

relay.func @slice_with_too_few_ends(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{2 axes are sliced with 2 begins and 1 ends}}
  %r = relay.strided_slice %x {begin = array<i64: 0, 0>, end = array<i64: 2>} : (tensor<4x4xf32>) -> tensor<2x4xf32>
  relay.return
}

// -----

relay.func @slice_with_a_stride_of_zero(%x: tensor<4xf32>) {
  // expected-error@+1 {{1 axes cannot be sliced with strides [0]}}
  %r = relay.strided_slice %x {begin = array<i64: 0>, end = array<i64: 2>, strides = array<i64: 0>} : (tensor<4xf32>) -> tensor<2xf32>
  relay.return
}

// -----

relay.func @slice_in_an_unknown_mode(%x: tensor<4xf32>) {
  // expected-error@+1 {{'slice_mode' is "end" or "size", not "count"}}
  %r = relay.strided_slice %x {begin = array<i64: 0>, end = array<i64: 2>, slice_mode = "count"} : (tensor<4xf32>) -> tensor<2xf32>
  relay.return
}

// -----

relay.func @slice_of_an_axis_out_of_range(%x: tensor<4xf32>) {
  // expected-error@+1 {{axis 1 is out of range for a tensor of rank 1}}
  %r = relay.strided_slice %x {begin = array<i64: 0>, end = array<i64: 2>, axes = array<i64: 1>} : (tensor<4xf32>) -> tensor<2xf32>
  relay.return
}

// -----

relay.func @slice_like_a_larger_tensor(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error@+1 {{axis 0 of shape [4] cannot be cut to that of shape [5]}}
  %r = relay.slice_like %x, %y : (tensor<4xf32>, tensor<5xf32>) -> tensor<5xf32>
  relay.return
}

// -----

relay.func @split_into_unequal_parts(%x: tensor<4xf32>) {
  // expected-error@+1 {{an axis of extent 4 cannot be split into 3 equal parts}}
  %r = relay.split %x {indices_or_sections = 3 : i64} : (tensor<4xf32>) -> tuple<tensor<4xf32>>
  relay.return
}

// -----

relay.func @split_at_indices_out_of_order(%x: tensor<4xf32>) {
  // expected-error@+1 {{an axis of extent 4 cannot be split before indices [3, 1]}}
  %r = relay.split %x {indices_or_sections = array<i64: 3, 1>} : (tensor<4xf32>) -> tuple<tensor<4xf32>>
  relay.return
}

// -----

relay.func @split_behind_the_end(%x: tensor<4xf32>) {
  // expected-error@+1 {{an axis of extent 4 cannot be split before indices [5]}}
  %r = relay.split %x {indices_or_sections = array<i64: 5>} : (tensor<4xf32>) -> tuple<tensor<4xf32>>
  relay.return
}

// -----

relay.func @concatenation_of_nothing(%t: tuple<>) {
  // expected-error@+1 {{there is no tensor in the tuple}}
  %r = relay.concatenate %t : (tuple<>) -> tensor<4xf32>
  relay.return
}

// -----

relay.func @concatenation_of_different_element_types(%t: tuple<tensor<4xf32>, tensor<4xi32>>) {
  // expected-error@+1 {{the tuple's tensors do not go together: tensor<4xf32> and tensor<4xi32>}}
  %r = relay.concatenate %t : (tuple<tensor<4xf32>, tensor<4xi32>>) -> tensor<8xf32>
  relay.return
}

// -----

relay.func @concatenation_of_different_ranks(%t: tuple<tensor<4xf32>, tensor<4x1xf32>>) {
  // expected-error@+1 {{the tuple's tensors do not go together: tensor<4xf32> and tensor<4x1xf32>}}
  %r = relay.concatenate %t : (tuple<tensor<4xf32>, tensor<4x1xf32>>) -> tensor<8xf32>
  relay.return
}

// -----

relay.func @concatenation_along_the_wrong_axis(%t: tuple<tensor<2x4xf32>, tensor<3x4xf32>>) {
  // expected-error@+1 {{dimension 0 of the tuple's tensors has extents 2 and 3}}
  %r = relay.concatenate %t {axis = 1 : i64} : (tuple<tensor<2x4xf32>, tensor<3x4xf32>>) -> tensor<2x8xf32>
  relay.return
}

// -----

relay.func @stack_of_different_shapes(%t: tuple<tensor<4xf32>, tensor<5xf32>>) {
  // expected-error@+1 {{dimension 0 of the tuple's tensors has extents 4 and 5}}
  %r = relay.stack %t : (tuple<tensor<4xf32>, tensor<5xf32>>) -> tensor<2x4xf32>
  relay.return
}

// -----

// Indices that are data

relay.func @take_at_floats(%x: tensor<4xf32>, %i: tensor<2xf32>) {
  // expected-error@+1 {{expected a tensor of integers, got tensor<2xf32>}}
  %r = relay.take %x, %i {axis = 0 : i64} : (tensor<4xf32>, tensor<2xf32>) -> tensor<2xf32>
  relay.return
}

// -----

relay.func @take_in_an_unknown_mode(%x: tensor<4xf32>, %i: tensor<2xi32>) {
  // expected-error@+1 {{'mode' is one of clip, wrap, fast, error, not "raise"}}
  %r = relay.take %x, %i {axis = 0 : i64, mode = "raise"} : (tensor<4xf32>, tensor<2xi32>) -> tensor<2xf32>
  relay.return
}

// -----

relay.func @take_with_batch_dimensions_behind_the_axis(%x: tensor<2x4xf32>, %i: tensor<2x3xi32>) {
  // expected-error@+1 {{'batch_dims' 1 does not fit axis 0 and indices of rank 2}}
  %r = relay.take %x, %i {axis = 0 : i64, batch_dims = 1 : i64} : (tensor<2x4xf32>, tensor<2x3xi32>) -> tensor<2x3xf32>
  relay.return
}

// -----

relay.func @take_with_different_batches(%x: tensor<2x4xf32>, %i: tensor<3x3xi32>) {
  // expected-error@+1 {{batch dimension 0 has extents 2 and 3}}
  %r = relay.take %x, %i {axis = 1 : i64, batch_dims = 1 : i64} : (tensor<2x4xf32>, tensor<3x3xi32>) -> tensor<2x3xf32>
  relay.return
}

// -----

relay.func @gather_with_indices_of_another_rank(%x: tensor<2x4xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{data of rank 2 is gathered with indices of rank 1}}
  %r = relay.gather %x, %i {axis = 1 : i64} : (tensor<2x4xf32>, tensor<3xi32>) -> tensor<3xf32>
  relay.return
}

// -----

relay.func @gather_beyond_the_data(%x: tensor<2x4xf32>, %i: tensor<3x4xi32>) {
  // expected-error@+1 {{the indices reach beyond the data in dimension 0: 3 > 2}}
  %r = relay.gather %x, %i {axis = 1 : i64} : (tensor<2x4xf32>, tensor<3x4xi32>) -> tensor<3x4xf32>
  relay.return
}

// -----

relay.func @gather_nd_with_too_long_index_vectors(%x: tensor<2x4xf32>, %i: tensor<3x5xi32>) {
  // expected-error@+1 {{0 batch dimensions and 3 indices do not fit 2 dimensions}}
  %r = relay.gather_nd %x, %i : (tensor<2x4xf32>, tensor<3x5xi32>) -> tensor<5xf32>
  relay.return
}

// -----

relay.func @gather_nd_with_index_vectors_of_unknown_length(%x: tensor<2x4xf32>, %i: tensor<?x5xi32>) {
  // expected-error@+1 {{the length of the index vectors is dynamic, and 'index_rank' does not say it}}
  %r = relay.gather_nd %x, %i : (tensor<2x4xf32>, tensor<?x5xi32>) -> tensor<5xf32>
  relay.return
}

// -----

relay.func @one_hot_with_a_value_that_is_no_scalar(%i: tensor<3xi32>, %v: tensor<1xf32>) {
  // expected-error@+1 {{'on_value' and 'off_value' are scalars, not tensor<1xf32>}}
  %r = relay.one_hot %i, %v, %v {depth = 4 : i64, dtype = "float32"} : (tensor<3xi32>, tensor<1xf32>, tensor<1xf32>) -> tensor<3x4xf32>
  relay.return
}

// -----

relay.func @scatter_of_other_elements(%x: tensor<4xf32>, %i: tensor<2xi32>, %u: tensor<2xi32>) {
  // expected-error@+1 {{tensor<4xf32> cannot be updated from tensor<2xi32>: the element types differ}}
  %r = relay.scatter %x, %i, %u : (tensor<4xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4xf32>
  relay.return
}

// -----

relay.func @scatter_of_another_rank(%x: tensor<4xf32>, %i: tensor<2x1xi32>, %u: tensor<2x1xf32>) {
  // expected-error@+1 {{data of rank 1 is updated with indices of rank 2 and updates of rank 2}}
  %r = relay.scatter %x, %i, %u : (tensor<4xf32>, tensor<2x1xi32>, tensor<2x1xf32>) -> tensor<4xf32>
  relay.return
}

// -----

relay.func @scatter_of_fewer_updates_than_indices(%x: tensor<4xf32>, %i: tensor<2xi32>, %u: tensor<3xf32>) {
  // expected-error@+1 {{dimension 0 of indices and updates has extents 2 and 3}}
  %r = relay.scatter_add %x, %i, %u : (tensor<4xf32>, tensor<2xi32>, tensor<3xf32>) -> tensor<4xf32>
  relay.return
}

// -----

relay.func @scatter_beyond_the_data(%x: tensor<1x4xf32>, %i: tensor<2x2xi32>, %u: tensor<2x2xf32>) {
  // expected-error@+1 {{the indices reach beyond the data in dimension 0: 2 > 1}}
  %r = relay.scatter %x, %i, %u {axis = 1 : i64} : (tensor<1x4xf32>, tensor<2x2xi32>, tensor<2x2xf32>) -> tensor<1x4xf32>
  relay.return
}

// -----

relay.func @scatter_in_an_unknown_way(%x: tensor<4xf32>, %i: tensor<2xi32>, %u: tensor<2xf32>) {
  // expected-error@+1 {{'reduction' is one of update, add, mul, min, max, not "mean"}}
  %r = relay.scatter_elements %x, %i, %u {reduction = "mean"} : (tensor<4xf32>, tensor<2xi32>, tensor<2xf32>) -> tensor<4xf32>
  relay.return
}

// -----

relay.func @scatter_nd_of_updates_that_do_not_fit(%x: tensor<4x5xf32>, %i: tensor<1x3xi32>, %u: tensor<3xf32>) {
  // expected-error@+1 {{updates of shape [3] do not fit; expected [3, 5]}}
  %r = relay.scatter_nd %x, %i, %u : (tensor<4x5xf32>, tensor<1x3xi32>, tensor<3xf32>) -> tensor<4x5xf32>
  relay.return
}

// -----

relay.func @scatter_nd_by_too_long_index_vectors(%x: tensor<4xf32>, %i: tensor<2x3xi32>, %u: tensor<3xf32>) {
  // expected-error@+1 {{indices of shape [2, 3] do not name dimensions of data of rank 1}}
  %r = relay.scatter_nd %x, %i, %u : (tensor<4xf32>, tensor<2x3xi32>, tensor<3xf32>) -> tensor<4xf32>
  relay.return
}

// -----

relay.func @index_arrays_that_are_too_many(%t: tuple<tensor<4xf32>, tensor<2xi32>, tensor<2xi32>>) {
  // expected-error@+1 {{2 indices for data of rank 1}}
  %r = relay.adv_index %t : (tuple<tensor<4xf32>, tensor<2xi32>, tensor<2xi32>>) -> tensor<2xf32>
  relay.return
}

// -----

// Order, running sums, sequences

relay.func @sort_along_an_axis_out_of_range(%x: tensor<4xf32>) {
  // expected-error@+1 {{axis 1 is out of range for a tensor of rank 1}}
  %r = relay.sort %x {axis = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  relay.return
}

// -----

relay.func @order_along_an_axis_out_of_range(%x: tensor<4xf32>) {
  // expected-error@+1 {{axis -2 is out of range for a tensor of rank 1}}
  %r = relay.argsort %x {axis = -2 : i64} : (tensor<4xf32>) -> tensor<4xi32>
  relay.return
}

// -----

relay.func @an_extent_of_narrow_integers(%x: tensor<1xi32>, %m: tensor<1xi64>) {
  // expected-error@+1 {{an extent is a tensor<1xi64>, not tensor<1xi32>}}
  %r = relay.data_extent %x, %m : (tensor<1xi32>, tensor<1xi64>) -> tensor<1xi64>
  relay.return
}

// -----

relay.func @places_in_a_matrix(%x: tensor<2x2xf32>) {
  // expected-error@+1 {{expected a vector, got tensor<2x2xf32>}}
  %r = relay.compact %x : (tensor<2x2xf32>) -> tuple<tensor<4xi64>, tensor<1xi64>>
  relay.return
}

// -----

relay.func @different_rows_of_a_vector(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a matrix, got tensor<4xf32>}}
  %r = relay.unique_rows %x : (tensor<4xf32>) -> tuple<tensor<4xi64>, tensor<4xi64>, tensor<4xi64>, tensor<1xi64>>
  relay.return
}

// -----

relay.func @different_elements_of_a_matrix(%x: tensor<2x2xf32>) {
  // expected-error@+1 {{expected a vector, got tensor<2x2xf32>}}
  %r = relay.unique %x : (tensor<2x2xf32>) -> tuple<tensor<?xf32>, tensor<?xi32>, tensor<4xi32>, tensor<1xi32>>
  relay.return
}

// -----

relay.func @more_of_the_largest_than_there_are(%x: tensor<4xf32>) {
  // expected-error@+1 {{there are no 5 elements along an axis of extent 4}}
  %r = relay.topk %x {k = 5 : i64, ret_type = "values"} : (tensor<4xf32>) -> tensor<5xf32>
  relay.return
}

// -----

relay.func @top_k_of_an_unknown_kind(%x: tensor<4xf32>) {
  // expected-error@+1 {{'ret_type' is "both", "values" or "indices", not "all"}}
  %r = relay.topk %x {k = 2 : i64, ret_type = "all"} : (tensor<4xf32>) -> tensor<2xf32>
  relay.return
}

// -----

relay.func @search_for_values_of_another_type(%x: tensor<4xf32>, %v: tensor<2xi32>) {
  // expected-error@+1 {{tensor<2xi32> cannot be searched in tensor<4xf32>: the element types differ}}
  %r = relay.searchsorted %x, %v : (tensor<4xf32>, tensor<2xi32>) -> tensor<2xi32>
  relay.return
}

// -----

relay.func @search_without_a_row_for_each_row(%x: tensor<3x4xf32>, %v: tensor<2x5xf32>) {
  // expected-error@+1 {{tensor<3x4xf32> has no row for each row of tensor<2x5xf32>}}
  %r = relay.searchsorted %x, %v : (tensor<3x4xf32>, tensor<2x5xf32>) -> tensor<2x5xi32>
  relay.return
}

// -----

relay.func @running_sum_along_an_axis_out_of_range(%x: tensor<4xf32>) {
  // expected-error@+1 {{axis 1 is out of range for a tensor of rank 1}}
  %r = relay.cumsum %x {axis = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  relay.return
}

// -----

relay.func @mask_without_a_length_for_each_sequence(%x: tensor<3x2xf32>, %n: tensor<3xi32>) {
  // expected-error@+1 {{there are 2 sequences, but the lengths are tensor<3xi32>}}
  %r = relay.sequence_mask %x, %n : (tensor<3x2xf32>, tensor<3xi32>) -> tensor<3x2xf32>
  relay.return
}

// -----

relay.func @mask_along_the_third_axis(%x: tensor<3x2x4xf32>, %n: tensor<3xi32>) {
  // expected-error@+1 {{'axis' must be one of the first two of the data's 3, got 2}}
  %r = relay.sequence_mask %x, %n {axis = 2 : i64} : (tensor<3x2x4xf32>, tensor<3xi32>) -> tensor<3x2x4xf32>
  relay.return
}

// -----

relay.func @time_and_sequences_along_one_axis(%x: tensor<3x2xf32>, %n: tensor<3xi32>) {
  // expected-error@+1 {{'seq_axis' and 'batch_axis' are both 0}}
  %r = relay.reverse_sequence %x, %n {seq_axis = 0 : i64, batch_axis = 0 : i64} : (tensor<3x2xf32>, tensor<3xi32>) -> tensor<3x2xf32>
  relay.return
}

// -----

relay.func @lengths_that_wrap(%x: tensor<3x2xf32>, %n: tensor<3xi32>) {
  // expected-error@+1 {{'out_of_range' is one of clip, error, not "wrap"}}
  %r = relay.reverse_sequence %x, %n {out_of_range = "wrap"} : (tensor<3x2xf32>, tensor<3xi32>) -> tensor<3x2xf32>
  relay.return
}

// -----

relay.func @grid_of_a_matrix(%t: tuple<tensor<2x2xf32>>) {
  // expected-error@+1 {{expected vectors, got shapes [2, 2]}}
  %r = relay.meshgrid %t : (tuple<tensor<2x2xf32>>) -> tuple<tensor<2xf32>>
  relay.return
}

// -----

relay.func @grid_of_unknown_indexing(%t: tuple<tensor<2xf32>>) {
  // expected-error@+1 {{'indexing' is "ij" or "xy", not "yx"}}
  %r = relay.meshgrid %t {indexing = "yx"} : (tuple<tensor<2xf32>>) -> tuple<tensor<2xf32>>
  relay.return
}

// -----

relay.func @diagonal_outside_the_matrix(%x: tensor<3x4xf32>, %d: tensor<3xf32>) {
  // expected-error@+1 {{there are no diagonals 4 to 4 in a matrix of 3 rows, 4 columns}}
  %r = relay.matrix_set_diag %x, %d {k1 = 4 : i64, k2 = 4 : i64} : (tensor<3x4xf32>, tensor<3xf32>) -> tensor<3x4xf32>
  relay.return
}

// -----

relay.func @diagonal_of_another_length(%x: tensor<3x4xf32>, %d: tensor<4xf32>) {
  // expected-error@+1 {{the diagonals of tensor<3x4xf32> are tensor<3xf32>, not tensor<4xf32>}}
  %r = relay.matrix_set_diag %x, %d : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  relay.return
}

// -----

relay.func @diagonals_aligned_in_the_middle(%x: tensor<3x4xf32>, %d: tensor<3xf32>) {
  // expected-error@+1 {{'align' is two of LEFT and RIGHT with _ between, not "CENTER"}}
  %r = relay.matrix_set_diag %x, %d {align = "CENTER"} : (tensor<3x4xf32>, tensor<3xf32>) -> tensor<3x4xf32>
  relay.return
}

// -----

relay.func @permutation_that_is_no_vector(%x: tensor<2x2xi32>) {
  // expected-error@+1 {{expected a vector, got tensor<2x2xi32>}}
  %r = relay.invert_permutation %x : (tensor<2x2xi32>) -> tensor<2x2xi32>
  relay.return
}

// -----

relay.func @positions_unravelled_by_a_matrix(%x: tensor<2xi32>, %s: tensor<2x2xi32>) {
  // expected-error@+1 {{positions tensor<2xi32> cannot be unravelled by tensor<2x2xi32>}}
  %r = relay.unravel_index %x, %s : (tensor<2xi32>, tensor<2x2xi32>) -> tensor<2x2x2xi32>
  relay.return
}

// -----

// Creation

relay.func @value_that_is_no_scalar(%v: tensor<1xf32>) {
  // expected-error@+1 {{expected a scalar, got tensor<1xf32>}}
  %r = relay.full %v {shape = array<i64: 2>} : (tensor<1xf32>) -> tensor<2xf32>
  relay.return
}

// -----

relay.func @value_like_a_tensor_that_is_no_scalar(%x: tensor<2xf32>, %v: tensor<1xf32>) {
  // expected-error@+1 {{expected a scalar, got tensor<1xf32>}}
  %r = relay.full_like %x, %v : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
  relay.return
}

// -----

relay.func @zeros_of_another_shape() {
  // expected-error@+1 {{'relay.zeros': has result type tensor<3xf32>, but its operands and attributes give tensor<2xf32>}}
  %r = relay.zeros {shape = array<i64: 2>, dtype = "float32"} : tensor<3xf32>
  relay.return
}

// -----

relay.func @range_of_different_types(%a: tensor<f32>, %b: tensor<i32>) {
  // expected-error@+1 {{start, stop and step have different types: ['tensor<f32>', 'tensor<f32>', 'tensor<i32>']}}
  %r = relay.arange %a, %a, %b {dtype = "float32"} : (tensor<f32>, tensor<f32>, tensor<i32>) -> tensor<?xf32>
  relay.return
}

// -----

relay.func @triangle_of_a_vector(%x: tensor<4xf32>, %k: tensor<i64>) {
  // expected-error@+1 {{tensor<4xf32> has no last two dimensions}}
  %r = relay.trilu %x, %k : (tensor<4xf32>, tensor<i64>) -> tensor<4xf32>
  relay.return
}

// -----

relay.func @extents_of_another_number_of_dimensions(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'relay.shape_of': has result type tensor<3xi32>, but its operands and attributes give tensor<2xi32>}}
  %r = relay.shape_of %x : (tensor<2x3xf32>) -> tensor<3xi32>
  relay.return
}

// -----

// Sums of products

relay.func @equation_with_too_few_operands(%t: tuple<tensor<2x3xf32>, tensor<3x4xf32>>) {
  // expected-error@+1 {{equation 'ij->i' has 1 operands, but there are 2}}
  %r = relay.einsum %t {equation = "ij->i"} : (tuple<tensor<2x3xf32>, tensor<3x4xf32>>) -> tensor<2xf32>
  relay.return
}

// -----

relay.func @equation_for_another_rank(%t: tuple<tensor<2x3xf32>, tensor<3x4xf32>>) {
  // expected-error@+1 {{'ijk' in equation 'ijk,jk->i' does not fit an operand of rank 2}}
  %r = relay.einsum %t {equation = "ijk,jk->i"} : (tuple<tensor<2x3xf32>, tensor<3x4xf32>>) -> tensor<2xf32>
  relay.return
}

// -----

relay.func @equation_of_digits(%t: tuple<tensor<2x3xf32>, tensor<3x4xf32>>) {
  // expected-error@+1 {{'12' in equation '12,jk->j' is not a list of letters}}
  %r = relay.einsum %t {equation = "12,jk->j"} : (tuple<tensor<2x3xf32>, tensor<3x4xf32>>) -> tensor<2xf32>
  relay.return
}

// -----

relay.func @equation_with_extents_that_differ(%t: tuple<tensor<2x3xf32>, tensor<3x4xf32>>) {
  // expected-error@+1 {{the operands have extents 2 and 3 where equation "ij,ik->i" has one letter}}
  %r = relay.einsum %t {equation = "ij,ik->i"} : (tuple<tensor<2x3xf32>, tensor<3x4xf32>>) -> tensor<2xf32>
  relay.return
}

// -----

relay.func @equation_whose_result_has_a_new_letter(%t: tuple<tensor<2x3xf32>, tensor<3x4xf32>>) {
  // expected-error@+1 {{the result of equation 'ij,jk->z' has a letter twice, or one that no operand has}}
  %r = relay.einsum %t {equation = "ij,jk->z"} : (tuple<tensor<2x3xf32>, tensor<3x4xf32>>) -> tensor<2xf32>
  relay.return
}

// -----

relay.func @products_of_different_element_types(%t: tuple<tensor<2x3xf32>, tensor<3x4xf64>>) {
  // expected-error@+1 {{the operands must have one element type}}
  %r = relay.einsum %t {equation = "ij,jk->ik"} : (tuple<tensor<2x3xf32>, tensor<3x4xf64>>) -> tensor<2x4xf32>
  relay.return
}

// -----

relay.func @a_copy_that_is_shorter(%x: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{(tensor<4xf32>) one after the other are not tensor<8xf32>}}
  %0 = relay.call_lowered @k(%x) {copies} : (tensor<4xf32>) -> tensor<8xf32>
  relay.return %0 : tensor<8xf32>
}
func.func private @k() -> ()

// -----

relay.func @a_copy_from_behind_the_end(%x: tensor<4xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{(tensor<4xf32>) one after the other are not tensor<2xf32>}}
  %0 = relay.call_lowered @k(%x) {copies, start = 3 : i64} : (tensor<4xf32>) -> tensor<2xf32>
  relay.return %0 : tensor<2xf32>
}
func.func private @k() -> ()

// -----

relay.func @a_copy_from_before_the_start(%x: tensor<4xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{(tensor<4xf32>) has no elements from -1 on that are known}}
  %0 = relay.call_lowered @k(%x) {copies, start = -1 : i64} : (tensor<4xf32>) -> tensor<2xf32>
  relay.return %0 : tensor<2xf32>
}
func.func private @k() -> ()

// -----

relay.func @a_start_of_two(%x: tensor<4xf32>) -> tensor<7xf32> {
  // expected-error @+1 {{(tensor<4xf32>, tensor<4xf32>) has no elements from 1 on that are known}}
  %0 = relay.call_lowered @k(%x, %x) {copies, start = 1 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<7xf32>
  relay.return %0 : tensor<7xf32>
}
func.func private @k() -> ()

// -----

relay.func @a_start_of_what_is_computed(%x: tensor<4xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'start' is of what copies, and this is not said to}}
  %0 = relay.call_lowered @k(%x) {start = 2 : i64} : (tensor<4xf32>) -> tensor<2xf32>
  relay.return %0 : tensor<2xf32>
}
func.func private @k() -> ()

// -----

relay.func @a_copy_with_two_results(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-error @+1 {{copies give one tensor, not 2}}
  %0, %1 = relay.call_lowered @k(%x) {copies} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  relay.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
func.func private @k() -> ()

// -----

relay.func @a_call_of_no_kernel(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'relay.call_lowered': there is no function @nobody}}
  %0 = relay.call_lowered @nobody(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %x : tensor<4xf32>
}

// -----

relay.func @bits_of_another_width(%x: tensor<4xf32>) -> tensor<4xi64> {
  // expected-error@+1 {{f32 and i64 have not the same number of bits}}
  %0 = relay.reinterpret %x {dtype = "int64"} : (tensor<4xf32>) -> tensor<4xi64>
  relay.return %0 : tensor<4xi64>
}

// -----

relay.func @a_shape_of_an_open_rank(%x: tensor<2x6xf32>, %s: tensor<?xi64>) -> tensor<?x?xf32> {
  // expected-error@+1 {{the shape must be a vector of a known number of integers, got tensor<?xi64>}}
  %0 = relay.dyn.reshape %x, %s : (tensor<2x6xf32>, tensor<?xi64>) -> tensor<?x?xf32>
  relay.return %0 : tensor<?x?xf32>
}

// -----

relay.func @a_slice_of_more_dimensions_than_there_are(%x: tensor<6xf32>, %b: tensor<2xi64>) -> tensor<?xf32> {
  // expected-error@+1 {{begin, end and strides have not a number for each dimension of tensor<6xf32>}}
  %0 = relay.dyn.strided_slice %x, %b, %b, %b : (tensor<6xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?xf32>
  relay.return %0 : tensor<?xf32>
}

// -----

relay.func @a_shape_that_does_not_hold_the_elements(%x: tensor<6xf32>) -> tensor<?xf32> {
  %s = relay.constant dense<[4]> : tensor<1xi64>
  // expected-error@+1 {{6}}
  %0 = relay.dyn.reshape %x, %s : (tensor<6xf32>, tensor<1xi64>) -> tensor<?xf32>
  relay.return %0 : tensor<?xf32>
}

// -----

relay.func @a_score_that_is_no_field(%x: tensor<1x4x6xf32>, %t: tensor<f32>) -> tuple<tensor<1xi32>, tensor<1x4x6xf32>, tensor<1x4xi32>> {
  // expected-error@+1 {{'score_index' is 6, and no field of tensor<1x4x6xf32>}}
  %0 = relay.vision.get_valid_counts %x, %t {score_index = 6 : i64} : (tensor<1x4x6xf32>, tensor<f32>) -> tuple<tensor<1xi32>, tensor<1x4x6xf32>, tensor<1x4xi32>>
  relay.return %0 : tuple<tensor<1xi32>, tensor<1x4x6xf32>, tensor<1x4xi32>>
}

// -----

relay.func @boxes_of_too_few_fields(%x: tensor<1x4x5xf32>, %n: tensor<1xi32>, %i: tensor<1x4xi32>, %m: tensor<i32>, %t: tensor<f32>) -> tensor<1x4x5xf32> {
  // expected-error@+1 {{expected boxes [batch, boxes, at least 6 fields] of floats, got tensor<1x4x5xf32>}}
  %0 = relay.vision.non_max_suppression %x, %n, %i, %m, %t {return_indices = false} : (tensor<1x4x5xf32>, tensor<1xi32>, tensor<1x4xi32>, tensor<i32>, tensor<f32>) -> tensor<1x4x5xf32>
  relay.return %0 : tensor<1x4x5xf32>
}

// -----

relay.func @a_class_that_is_no_field(%x: tensor<1x4x6xf32>, %n: tensor<1xi32>, %i: tensor<1x4xi32>, %m: tensor<i32>, %t: tensor<f32>) -> tensor<1x4x6xf32> {
  // expected-error@+1 {{'id_index' is 6, and no field of tensor<1x4x6xf32>}}
  %0 = relay.vision.non_max_suppression %x, %n, %i, %m, %t {id_index = 6 : i64, return_indices = false} : (tensor<1x4x6xf32>, tensor<1xi32>, tensor<1x4xi32>, tensor<i32>, tensor<f32>) -> tensor<1x4x6xf32>
  relay.return %0 : tensor<1x4x6xf32>
}

// -----

relay.func @coordinates_before_the_first_field(%x: tensor<1x4x6xf32>, %n: tensor<1xi32>, %i: tensor<1x4xi32>, %m: tensor<i32>, %t: tensor<f32>) -> tensor<1x4x6xf32> {
  // expected-error@+1 {{'coord_start' is -1, and no field of tensor<1x4x6xf32>}}
  %0 = relay.vision.non_max_suppression %x, %n, %i, %m, %t {coord_start = -1 : i64, return_indices = false} : (tensor<1x4x6xf32>, tensor<1xi32>, tensor<1x4xi32>, tensor<i32>, tensor<f32>) -> tensor<1x4x6xf32>
  relay.return %0 : tensor<1x4x6xf32>
}

// -----

relay.func @scores_of_other_boxes(%b: tensor<1x4x4xf32>, %s: tensor<1x2x5xf32>, %m: tensor<i64>, %t: tensor<f32>) -> tuple<tensor<10x3xi64>, tensor<1xi64>> {
  // expected-error@+1 {{tensor<1x2x5xf32> are no scores of tensor<1x4x4xf32>}}
  %0 = relay.vision.all_class_non_max_suppression %b, %s, %m, %t, %t : (tensor<1x4x4xf32>, tensor<1x2x5xf32>, tensor<i64>, tensor<f32>, tensor<f32>) -> tuple<tensor<10x3xi64>, tensor<1xi64>>
  relay.return %0 : tuple<tensor<10x3xi64>, tensor<1xi64>>
}
