// RUN: weft-opt %s -p 'fuse-ops{strategy=tvm}' | filecheck %s
// RUN: weft-opt %s -p 'fuse-ops{strategy=tvm opt-level=0}' | filecheck %s --check-prefix=LEVEL0
// RUN: weft-opt %s -p 'fuse-ops{strategy=tvm max-depth=2}' | filecheck %s --check-prefix=DEPTH2
// RUN: weft-opt %s -p 'fuse-ops{strategy=tvm link-params=true}' | filecheck %s --check-prefix=LINK

// CHECK-LABEL: relay.func @a_convolution_takes_in_what_follows_it
// CHECK-NEXT:    %0 = relay.primitive(%x, %w, %b) : {{.*}} {
// CHECK-NEXT:    ^bb0(%p0: tensor<1x3x8x8xf32>, %p1: tensor<4x3x3x3xf32>, %p2: tensor<4x1x1xf32>):
// CHECK-NEXT:      %1 = relay.nn.conv2d %p0, %p1
// CHECK-NEXT:      %2 = relay.add %1, %p2
// CHECK-NEXT:      %3 = relay.nn.relu %2
// CHECK-NEXT:      relay.yield %3
// CHECK-NEXT:    }
// CHECK-NEXT:    relay.return %0

// LEVEL0-LABEL: relay.func @a_convolution_takes_in_what_follows_it
// LEVEL0-NEXT:    relay.primitive
// LEVEL0-NEXT:    ^bb0
// LEVEL0-NEXT:      relay.nn.conv2d
// LEVEL0-NEXT:      relay.yield
// LEVEL0-NEXT:    }
// LEVEL0-NEXT:    relay.primitive
// LEVEL0-NEXT:    ^bb0
// LEVEL0-NEXT:      relay.add
// LEVEL0-NEXT:      relay.yield
// LEVEL0-NEXT:    }
// LEVEL0-NEXT:    relay.primitive
// LEVEL0-NEXT:    ^bb0
// LEVEL0-NEXT:      relay.nn.relu
// LEVEL0-NEXT:      relay.yield
// LEVEL0-NEXT:    }
// LEVEL0-NEXT:    relay.return

// DEPTH2-LABEL: relay.func @a_convolution_takes_in_what_follows_it
// DEPTH2-NEXT:    relay.primitive
// DEPTH2-NEXT:    ^bb0
// DEPTH2-NEXT:      relay.nn.conv2d
// DEPTH2-NEXT:      relay.add
// DEPTH2-NEXT:      relay.yield
// DEPTH2-NEXT:    }
// DEPTH2-NEXT:    relay.primitive
// DEPTH2-NEXT:    ^bb0
// DEPTH2-NEXT:      relay.nn.relu
relay.func @a_convolution_takes_in_what_follows_it(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4x1x1xf32>) -> tensor<1x4x6x6xf32> {
  %0 = relay.nn.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  %1 = relay.add %0, %b : (tensor<1x4x6x6xf32>, tensor<4x1x1xf32>) -> tensor<1x4x6x6xf32>
  %2 = relay.nn.relu %1 : tensor<1x4x6x6xf32>
  relay.return %2 : tensor<1x4x6x6xf32>
}

// CHECK-LABEL: relay.func @it_takes_in_a_sum_from_either_side
// CHECK-NEXT:    relay.primitive(%x, %w, %b)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      %1 = relay.nn.conv2d %p0, %p1
// CHECK-NEXT:      relay.add %p2, %1
// CHECK-NEXT:      relay.yield
relay.func @it_takes_in_a_sum_from_either_side(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4x1x1xf32>) -> tensor<1x4x6x6xf32> {
  %0 = relay.nn.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  %1 = relay.add %b, %0 : (tensor<4x1x1xf32>, tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  relay.return %1 : tensor<1x4x6x6xf32>
}

// CHECK-LABEL: relay.func @a_convolution_that_is_broadcast_stays_alone
// CHECK-NEXT:    relay.primitive(%x, %w)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      relay.nn.conv2d
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    relay.primitive(%0, %b)
relay.func @a_convolution_that_is_broadcast_stays_alone(%x: tensor<1x3x3x3xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4x6x6xf32>) -> tensor<1x4x6x6xf32> {
  %0 = relay.nn.conv2d %x, %w : (tensor<1x3x3x3xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x1x1xf32>
  %1 = relay.add %0, %b : (tensor<1x4x1x1xf32>, tensor<4x6x6xf32>) -> tensor<1x4x6x6xf32>
  relay.return %1 : tensor<1x4x6x6xf32>
}

// CHECK-LABEL: relay.func @a_convolution_does_not_take_in_a_transpose
// CHECK-NEXT:    relay.primitive(%x, %w)
// CHECK:           relay.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    relay.primitive(%0)
relay.func @a_convolution_does_not_take_in_a_transpose(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<6x6x4x1xf32> {
  %0 = relay.nn.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  %1 = relay.transpose %0 : (tensor<1x4x6x6xf32>) -> tensor<6x6x4x1xf32>
  relay.return %1 : tensor<6x6x4x1xf32>
}

// CHECK-LABEL: relay.func @two_convolutions_are_two_kernels
// CHECK-NEXT:    relay.primitive(%x, %w)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      relay.nn.conv2d
// CHECK-NEXT:      relay.nn.relu
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    relay.primitive(%0, %w)
relay.func @two_convolutions_are_two_kernels(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32> {
  %0 = relay.nn.conv2d %x, %w : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %1 = relay.nn.relu %0 : tensor<1x4x8x8xf32>
  %2 = relay.nn.conv2d %1, %w : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  relay.return %2 : tensor<1x4x8x8xf32>
}

// CHECK-LABEL: relay.func @of_two_convolutions_that_are_added_one_takes_in_the_sum
// CHECK:         relay.primitive(%x, %v)
// CHECK:           relay.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    relay.primitive(%x, %w, %0)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      relay.nn.conv2d
// CHECK-NEXT:      relay.add
// CHECK-NEXT:      relay.yield
relay.func @of_two_convolutions_that_are_added_one_takes_in_the_sum(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x1x1xf32>, %v: tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32> {
  %0 = relay.nn.conv2d %x, %w : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %1 = relay.nn.conv2d %x, %v : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %2 = relay.add %0, %1 : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  relay.return %2 : tensor<1x4x8x8xf32>
}

// CHECK-LABEL: relay.func @users_that_meet_again_are_fused
// CHECK-NEXT:    relay.primitive(%x)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      %1 = relay.exp %p0
// CHECK-NEXT:      %2 = relay.nn.relu %1
// CHECK-NEXT:      %3 = relay.tanh %1
// CHECK-NEXT:      relay.add %2, %3
// CHECK-NEXT:      relay.yield
relay.func @users_that_meet_again_are_fused(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %x : tensor<4xf32>
  %1 = relay.tanh %0 : tensor<4xf32>
  %2 = relay.nn.relu %0 : tensor<4xf32>
  %3 = relay.add %2, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %3 : tensor<4xf32>
}

// CHECK-LABEL: relay.func @users_that_do_not_meet_are_not_fused
// CHECK-NEXT:    relay.primitive(%x)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      relay.exp
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    relay.primitive(%0)
// CHECK:           relay.tanh
// CHECK:         relay.primitive(%0)
// CHECK:           relay.nn.relu
// CHECK:         relay.return %1, %2
relay.func @users_that_do_not_meet_are_not_fused(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = relay.exp %x : tensor<4xf32>
  %1 = relay.tanh %0 : tensor<4xf32>
  %2 = relay.nn.relu %0 : tensor<4xf32>
  relay.return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: relay.func @a_result_of_the_function_is_not_fused_into_its_users
// CHECK-NEXT:    relay.primitive(%x)
// CHECK:           relay.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    relay.primitive(%0)
// CHECK:         relay.return %0, %1
relay.func @a_result_of_the_function_is_not_fused_into_its_users(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = relay.exp %x : tensor<4xf32>
  %1 = relay.tanh %0 : tensor<4xf32>
  relay.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: relay.func @a_reduction_takes_in_what_it_reads_and_not_what_follows
// CHECK-NEXT:    relay.primitive(%x)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      relay.exp
// CHECK-NEXT:      relay.sum
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    relay.primitive(%0)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      relay.tanh
relay.func @a_reduction_takes_in_what_it_reads_and_not_what_follows(%x: tensor<4x4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %x : tensor<4x4xf32>
  %1 = relay.sum %0 {axis = array<i64: 1>} : (tensor<4x4xf32>) -> tensor<4xf32>
  %2 = relay.tanh %1 : tensor<4xf32>
  relay.return %2 : tensor<4xf32>
}

// CHECK-LABEL: relay.func @a_fused_concatenation_takes_in_its_parts
// CHECK-NEXT:    relay.primitive(%x, %y)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      relay.exp
// CHECK-NEXT:      relay.tanh
// CHECK-NEXT:      relay.tuple
// CHECK-NEXT:      relay.concatenate
// CHECK-NEXT:      relay.nn.relu
// CHECK-NEXT:      relay.yield
relay.func @a_fused_concatenation_takes_in_its_parts(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<8xf32> {
  %0 = relay.exp %x : tensor<4xf32>
  %1 = relay.tanh %y : tensor<4xf32>
  %2 = relay.tuple(%0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %3 = relay.concatenate %2 {axis = 0 : i64} : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<8xf32>
  %4 = relay.nn.relu %3 : tensor<8xf32>
  relay.return %4 : tensor<8xf32>
}

// CHECK-LABEL: relay.func @a_tuple_that_is_the_result_stays_outside
// CHECK-NEXT:    relay.primitive(%x)
// CHECK:           relay.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    %1 = relay.tuple(%0, %0)
// CHECK-NEXT:    relay.return %1
relay.func @a_tuple_that_is_the_result_stays_outside(%x: tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>> {
  %0 = relay.exp %x : tensor<4xf32>
  %1 = relay.tuple(%0, %0) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  relay.return %1 : tuple<tensor<4xf32>, tensor<4xf32>>
}

// CHECK-LABEL: relay.func @a_part_of_a_split_is_computed_with_it
// CHECK-NEXT:    relay.primitive(%x)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      relay.split
// CHECK-NEXT:      relay.tuple_get
// CHECK-NEXT:      relay.exp
// CHECK-NEXT:      relay.yield

// LEVEL0-LABEL: relay.func @a_part_of_a_split_is_computed_with_it
// LEVEL0-NEXT:    relay.primitive(%x)
// LEVEL0:           relay.yield
// LEVEL0-NEXT:    }
// LEVEL0-NEXT:    relay.tuple_get %0[1]
// LEVEL0-NEXT:    relay.primitive(%1)
relay.func @a_part_of_a_split_is_computed_with_it(%x: tensor<4xf32>) -> tensor<2xf32> {
  %0 = relay.split %x {indices_or_sections = array<i64: 2>, axis = 0 : i64} : (tensor<4xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  %1 = relay.tuple_get %0[1] : tuple<tensor<2xf32>, tensor<2xf32>> -> tensor<2xf32>
  %2 = relay.exp %1 : tensor<2xf32>
  relay.return %2 : tensor<2xf32>
}

// CHECK-LABEL: relay.func @a_field_of_an_argument_stays_outside
// CHECK-NEXT:    relay.tuple_get %t[0]
// CHECK-NEXT:    relay.return
relay.func @a_field_of_an_argument_stays_outside(%t: tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32> {
  %0 = relay.tuple_get %t[0] : tuple<tensor<2xf32>, tensor<2xf32>> -> tensor<2xf32>
  relay.return %0 : tensor<2xf32>
}

// CHECK-LABEL: relay.func @a_scalar_constant_goes_inside_and_a_tensor_does_not
// CHECK-NEXT:    %t = relay.constant dense<[1.000000e+00, 2.000000e+00]>
// CHECK-NEXT:    relay.primitive(%x, %t)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      %s = relay.constant dense<3.000000e+00> : tensor<f32>
// CHECK-NEXT:      relay.add %p0, %s
// CHECK-NEXT:      relay.multiply %1, %p1
// CHECK-NEXT:      relay.yield

// LEVEL0-LABEL: relay.func @a_scalar_constant_goes_inside_and_a_tensor_does_not
// LEVEL0:         relay.primitive(%x, %s)
// LEVEL0:         relay.primitive(%0, %t)

// LINK-LABEL: relay.func @a_scalar_constant_goes_inside_and_a_tensor_does_not
// LINK-NEXT:    relay.primitive(%x)
// LINK-NEXT:    ^bb0
// LINK-NEXT:      relay.constant dense<3.000000e+00> : tensor<f32>
// LINK-NEXT:      relay.add
// LINK-NEXT:      relay.constant dense<[1.000000e+00, 2.000000e+00]>
// LINK-NEXT:      relay.multiply
relay.func @a_scalar_constant_goes_inside_and_a_tensor_does_not(%x: tensor<2xf32>) -> tensor<2xf32> {
  %s = relay.constant dense<3.0> : tensor<f32>
  %t = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = relay.add %x, %s : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = relay.multiply %0, %t : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  relay.return %1 : tensor<2xf32>
}

// CHECK-LABEL: relay.func @a_half_precision_scalar_is_an_argument
// CHECK-NEXT:    %s = relay.constant
// CHECK-NEXT:    relay.primitive(%x, %s)
relay.func @a_half_precision_scalar_is_an_argument(%x: tensor<2xf16>) -> tensor<2xf16> {
  %s = relay.constant dense<3.0> : tensor<f16>
  %0 = relay.add %x, %s : (tensor<2xf16>, tensor<f16>) -> tensor<2xf16>
  relay.return %0 : tensor<2xf16>
}

// LINK-LABEL: relay.func @a_linked_constant_is_copied_into_every_kernel_that_reads_it
// LINK-NEXT:    relay.primitive(%x)
// LINK-NEXT:    ^bb0
// LINK-NEXT:      relay.constant
// LINK:         relay.primitive(%x)
// LINK-NEXT:    ^bb0
// LINK-NEXT:      relay.constant
// LINK:         relay.return
relay.func @a_linked_constant_is_copied_into_every_kernel_that_reads_it(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %t = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = relay.add %x, %t : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = relay.multiply %x, %t : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  relay.return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: relay.func @a_value_that_is_used_twice_is_one_argument
// CHECK-NEXT:    relay.primitive(%x) :
// CHECK-NEXT:    ^bb0(%p0: tensor<2xf32>):
// CHECK-NEXT:      relay.add %p0, %p0
relay.func @a_value_that_is_used_twice_is_one_argument(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = relay.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  relay.return %0 : tensor<2xf32>
}

// CHECK-LABEL: relay.func @reshapes_alone_are_marked
// CHECK-NEXT:    relay.primitive(%x) {reshape_only}
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      relay.expand_dims
// CHECK-NEXT:      relay.reshape
relay.func @reshapes_alone_are_marked(%x: tensor<2x2xf32>) -> tensor<4xf32> {
  %0 = relay.expand_dims %x {axis = 0 : i64} : (tensor<2x2xf32>) -> tensor<1x2x2xf32>
  %1 = relay.reshape %0 {newshape = array<i64: -1>} : (tensor<1x2x2xf32>) -> tensor<4xf32>
  relay.return %1 : tensor<4xf32>
}

// CHECK-LABEL: relay.func @a_reshape_with_other_work_is_not_marked
// CHECK-NEXT:    relay.primitive(%x) :
relay.func @a_reshape_with_other_work_is_not_marked(%x: tensor<2x2xf32>) -> tensor<4xf32> {
  %0 = relay.exp %x : tensor<2x2xf32>
  %1 = relay.reshape %0 {newshape = array<i64: -1>} : (tensor<2x2xf32>) -> tensor<4xf32>
  relay.return %1 : tensor<4xf32>
}

// CHECK-LABEL: relay.func @stop_fusion_keeps_operators_apart_and_goes_away
// CHECK-NEXT:    relay.primitive(%x)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      relay.exp
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    relay.primitive(%0)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      relay.tanh
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    relay.return
relay.func @stop_fusion_keeps_operators_apart_and_goes_away(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = relay.exp %x : tensor<2xf32>
  %1 = relay.annotation.stop_fusion %0 : tensor<2xf32>
  %2 = relay.tanh %1 : tensor<2xf32>
  relay.return %2 : tensor<2xf32>
}

// CHECK-LABEL: relay.func @dynamic_dimensions_that_are_alike_count_as_equal
// CHECK-NEXT:    relay.primitive(%x, %w, %y)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      relay.nn.dense
// CHECK-NEXT:      relay.add
// CHECK-NEXT:      relay.yield
relay.func @dynamic_dimensions_that_are_alike_count_as_equal(%x: tensor<?x4xf32>, %w: tensor<3x4xf32>, %y: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = relay.nn.dense %x, %w : (tensor<?x4xf32>, tensor<3x4xf32>) -> tensor<?x3xf32>
  %1 = relay.add %0, %y : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  relay.return %1 : tensor<?x3xf32>
}

// CHECK-LABEL: relay.func @empty_tensors_are_like_any_others
// CHECK-NEXT:    relay.primitive(%x)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      relay.exp
// CHECK-NEXT:      relay.nn.relu
// CHECK-NEXT:      relay.yield
relay.func @empty_tensors_are_like_any_others(%x: tensor<0x4xf32>) -> tensor<0x4xf32> {
  %0 = relay.exp %x : tensor<0x4xf32>
  %1 = relay.nn.relu %0 : tensor<0x4xf32>
  relay.return %1 : tensor<0x4xf32>
}

// CHECK-LABEL: relay.func @an_argument_is_returned_as_it_is
// CHECK-NEXT:    relay.return %x
relay.func @an_argument_is_returned_as_it_is(%x: tensor<4xf32>) -> tensor<4xf32> {
  relay.return %x : tensor<4xf32>
}

// CHECK-LABEL: relay.func @what_nothing_needs_is_dropped
// CHECK-NEXT:    relay.primitive(%x)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      relay.exp
// CHECK-NEXT:      relay.nn.relu
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    relay.return
relay.func @what_nothing_needs_is_dropped(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %x : tensor<4xf32>
  %dead = relay.tanh %0 : tensor<4xf32>
  %1 = relay.nn.relu %0 : tensor<4xf32>
  relay.return %1 : tensor<4xf32>
}

// CHECK-LABEL: relay.func @calls_stay_outside
// CHECK-NEXT:    relay.primitive(%x)
// CHECK:           relay.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    %1 = relay.call @an_argument_is_returned_as_it_is(%0)
// CHECK-NEXT:    relay.primitive(%1)
relay.func @calls_stay_outside(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %x : tensor<4xf32>
  %1 = relay.call @an_argument_is_returned_as_it_is(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.tanh %1 : tensor<4xf32>
  relay.return %2 : tensor<4xf32>
}

// CHECK-LABEL: relay.func @kernels_stay_as_they_are
// CHECK-NEXT:    relay.primitive(%x)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      relay.exp
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    relay.primitive(%0)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      relay.tanh
relay.func @kernels_stay_as_they_are(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.primitive(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%p0: tensor<4xf32>):
    %1 = relay.exp %p0 : tensor<4xf32>
    relay.yield %1 : tensor<4xf32>
  }
  %2 = relay.tanh %0 : tensor<4xf32>
  relay.return %2 : tensor<4xf32>
}

// CHECK-LABEL: relay.func @a_stateful_operator_that_nothing_reads_stays
// CHECK-NEXT:    relay.primitive(%x)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      relay.nn.dropout
// CHECK:         relay.return %x
relay.func @a_stateful_operator_that_nothing_reads_stays(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = relay.nn.dropout %x : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  relay.return %x : tensor<4xf32>
}

// CHECK-LABEL: relay.func @what_stands_in_a_region_is_fused_by_itself
// CHECK-NEXT:    %0 = relay.primitive(%x)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      relay.exp
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    %1 = relay.primitive(%0)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      relay.nn.relu
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    "test.op"() ({
// CHECK-NEXT:      %2 = relay.primitive(%0)
// CHECK-NEXT:      ^bb0
// CHECK-NEXT:        relay.tanh
// CHECK-NEXT:        relay.exp
// CHECK-NEXT:        relay.yield
// CHECK-NEXT:      }
// CHECK-NEXT:      "test.termop"(%2)
relay.func @what_stands_in_a_region_is_fused_by_itself(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %x : tensor<4xf32>
  %1 = relay.nn.relu %0 : tensor<4xf32>
  "test.op"() ({
    %2 = relay.tanh %0 : tensor<4xf32>
    %3 = relay.exp %2 : tensor<4xf32>
    "test.termop"(%3) : (tensor<4xf32>) -> ()
  }) : () -> ()
  relay.return %1 : tensor<4xf32>
}

// CHECK-LABEL: relay.func @an_operator_that_has_to_be_simplified_first_stays_outside
// CHECK-NEXT:    relay.primitive(%x)
// CHECK:         %1 = relay.nn.layer_norm %0, %s, %s
// CHECK-NEXT:    relay.return %1
relay.func @an_operator_that_has_to_be_simplified_first_stays_outside(%x: tensor<2x4xf32>, %s: tensor<4xf32>) -> tensor<2x4xf32> {
  %0 = relay.exp %x : tensor<2x4xf32>
  %1 = relay.nn.layer_norm %0, %s, %s : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  relay.return %1 : tensor<2x4xf32>
}
