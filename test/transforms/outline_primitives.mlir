// RUN: weft-opt %s -p 'outline-primitives{pass-scalars=true}' | filecheck %s

// CHECK-LABEL: relay.func @a_kernel_becomes_a_function
// CHECK-NEXT:    %0 = relay.call @fused_exp_nn_relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    relay.return %0
relay.func @a_kernel_becomes_a_function(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.primitive(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%p0: tensor<4xf32>):
    %1 = relay.exp %p0 : tensor<4xf32>
    %2 = relay.nn.relu %1 : tensor<4xf32>
    relay.yield %2 : tensor<4xf32>
  }
  relay.return %0 : tensor<4xf32>
}

// CHECK-LABEL: relay.func @equal_kernels_share_it_whatever_their_values_are_called
// CHECK-NEXT:    %0 = relay.call @fused_exp_nn_relu(%x)
// CHECK-NEXT:    %1 = relay.call @fused_exp_nn_relu(%0)
// CHECK-NEXT:    relay.return %1
relay.func @equal_kernels_share_it_whatever_their_values_are_called(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.primitive(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%in: tensor<4xf32>):
    %a = relay.exp %in : tensor<4xf32>
    %b = relay.nn.relu %a : tensor<4xf32>
    relay.yield %b : tensor<4xf32>
  }
  %1 = relay.primitive(%0) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%p0: tensor<4xf32>):
    %2 = relay.exp %p0 : tensor<4xf32>
    %3 = relay.nn.relu %2 : tensor<4xf32>
    relay.yield %3 : tensor<4xf32>
  }
  relay.return %1 : tensor<4xf32>
}

// CHECK-LABEL: relay.func @another_shape_is_another_function
// CHECK-NEXT:    relay.call @fused_exp_nn_relu_1(%x)
relay.func @another_shape_is_another_function(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.primitive(%x) : (tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%p0: tensor<?xf32>):
    %1 = relay.exp %p0 : tensor<?xf32>
    %2 = relay.nn.relu %1 : tensor<?xf32>
    relay.yield %2 : tensor<?xf32>
  }
  relay.return %0 : tensor<?xf32>
}

// CHECK-LABEL: relay.func @another_wiring_is_another_function
// CHECK-NEXT:    relay.call @fused_subtract(%x, %x_1)
// CHECK-NEXT:    relay.call @fused_subtract_1(%x, %x_1)
// CHECK-NEXT:    relay.call @fused_subtract(%x_1, %x)
relay.func @another_wiring_is_another_function(%x: tensor<0xf32>, %x_1: tensor<0xf32>) -> (tensor<0xf32>, tensor<0xf32>, tensor<0xf32>) {
  %0 = relay.primitive(%x, %x_1) : (tensor<0xf32>, tensor<0xf32>) -> tensor<0xf32> {
  ^bb0(%p0: tensor<0xf32>, %p1: tensor<0xf32>):
    %1 = relay.subtract %p0, %p1 : (tensor<0xf32>, tensor<0xf32>) -> tensor<0xf32>
    relay.yield %1 : tensor<0xf32>
  }
  %2 = relay.primitive(%x, %x_1) : (tensor<0xf32>, tensor<0xf32>) -> tensor<0xf32> {
  ^bb0(%p0: tensor<0xf32>, %p1: tensor<0xf32>):
    %3 = relay.subtract %p1, %p0 : (tensor<0xf32>, tensor<0xf32>) -> tensor<0xf32>
    relay.yield %3 : tensor<0xf32>
  }
  %4 = relay.primitive(%x_1, %x) : (tensor<0xf32>, tensor<0xf32>) -> tensor<0xf32> {
  ^bb0(%p0: tensor<0xf32>, %p1: tensor<0xf32>):
    %5 = relay.subtract %p0, %p1 : (tensor<0xf32>, tensor<0xf32>) -> tensor<0xf32>
    relay.yield %5 : tensor<0xf32>
  }
  relay.return %0, %2, %4 : tensor<0xf32>, tensor<0xf32>, tensor<0xf32>
}

// CHECK-LABEL: relay.func @another_attribute_is_another_function
// CHECK-NEXT:    relay.call @fused_sum(%x)
// CHECK-NEXT:    relay.call @fused_sum_1(%x)
relay.func @another_attribute_is_another_function(%x: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = relay.primitive(%x) : (tensor<4x4xf32>) -> tensor<4xf32> {
  ^bb0(%p0: tensor<4x4xf32>):
    %1 = relay.sum %p0 {axis = array<i64: 0>} : (tensor<4x4xf32>) -> tensor<4xf32>
    relay.yield %1 : tensor<4xf32>
  }
  %2 = relay.primitive(%x) : (tensor<4x4xf32>) -> tensor<4xf32> {
  ^bb0(%p0: tensor<4x4xf32>):
    %3 = relay.sum %p0 {axis = array<i64: 1>} : (tensor<4x4xf32>) -> tensor<4xf32>
    relay.yield %3 : tensor<4xf32>
  }
  relay.return %0, %2 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: relay.func @names_that_are_taken_are_not_used
// CHECK-NEXT:    relay.call @fused_tanh_1(%x)
relay.func @names_that_are_taken_are_not_used(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.primitive(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%p0: tensor<4xf32>):
    %1 = relay.tanh %p0 : tensor<4xf32>
    relay.yield %1 : tensor<4xf32>
  }
  relay.return %0 : tensor<4xf32>
}

// CHECK-LABEL: relay.func @long_names_are_cut
// CHECK-NEXT:    relay.call @fused_logical_not_logical_not_logical_not_logical_not_logical_not_logical_not_lo_{{[0-9a-f]+}}_(%x)
relay.func @long_names_are_cut(%x: tensor<4xi1>) -> tensor<4xi1> {
  %0 = relay.primitive(%x) : (tensor<4xi1>) -> tensor<4xi1> {
  ^bb0(%p0: tensor<4xi1>):
    %1 = relay.logical_not %p0 : tensor<4xi1>
    %2 = relay.logical_not %1 : tensor<4xi1>
    %3 = relay.logical_not %2 : tensor<4xi1>
    %4 = relay.logical_not %3 : tensor<4xi1>
    %5 = relay.logical_not %4 : tensor<4xi1>
    %6 = relay.logical_not %5 : tensor<4xi1>
    %7 = relay.logical_not %6 : tensor<4xi1>
    relay.yield %7 : tensor<4xi1>
  }
  relay.return %0 : tensor<4xi1>
}

// CHECK-LABEL: relay.func @a_reshape_is_a_kernel_like_others
// CHECK-NEXT:    relay.call @fused_reshape(%x)
relay.func @a_reshape_is_a_kernel_like_others(%x: tensor<2x2xf32>) -> tensor<4xf32> {
  %0 = relay.primitive(%x) {reshape_only} : (tensor<2x2xf32>) -> tensor<4xf32> {
  ^bb0(%p0: tensor<2x2xf32>):
    %1 = relay.reshape %p0 {newshape = array<i64: -1>} : (tensor<2x2xf32>) -> tensor<4xf32>
    relay.yield %1 : tensor<4xf32>
  }
  relay.return %0 : tensor<4xf32>
}

// CHECK-LABEL: relay.func @what_computes_nothing_is_put_back
// CHECK-NEXT:    %0 = relay.tuple(%x, %x)
// CHECK-NEXT:    %1 = relay.tuple_get %0[0]
// CHECK-NEXT:    relay.return %1
relay.func @what_computes_nothing_is_put_back(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.primitive(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%p0: tensor<4xf32>):
    %1 = relay.tuple(%p0, %p0) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
    %2 = relay.tuple_get %1[0] : tuple<tensor<4xf32>, tensor<4xf32>> -> tensor<4xf32>
    relay.yield %2 : tensor<4xf32>
  }
  relay.return %0 : tensor<4xf32>
}

// CHECK-LABEL: relay.func @scalars_in_which_kernels_differ_are_arguments
// CHECK-NEXT:    %0 = relay.constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT:    %1 = relay.call @fused_multiply_add(%x, %0)
// CHECK-NEXT:    %2 = relay.constant dense<5.000000e+00> : tensor<f32>
// CHECK-NEXT:    relay.call @fused_multiply_add(%1, %2)
relay.func @scalars_in_which_kernels_differ_are_arguments(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.primitive(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%p0: tensor<4xf32>):
    %1 = relay.constant dense<2.000000e+00> : tensor<f32>
    %2 = relay.multiply %p0, %1 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %3 = relay.constant dense<3.000000e+00> : tensor<f32>
    %4 = relay.add %2, %3 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    relay.yield %4 : tensor<4xf32>
  }
  %5 = relay.primitive(%0) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%p0: tensor<4xf32>):
    %6 = relay.constant dense<5.000000e+00> : tensor<f32>
    %7 = relay.multiply %p0, %6 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %8 = relay.constant dense<3.000000e+00> : tensor<f32>
    %9 = relay.add %7, %8 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    relay.yield %9 : tensor<4xf32>
  }
  relay.return %5 : tensor<4xf32>
}

// CHECK-LABEL: relay.func @a_scalar_that_an_operator_chooses_by_stays
// CHECK-NEXT:    relay.call @fused_power(%x)
// CHECK-NEXT:    relay.call @fused_power_1(%x)
relay.func @a_scalar_that_an_operator_chooses_by_stays(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = relay.primitive(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%p0: tensor<4xf32>):
    %1 = relay.constant dense<2.000000e+00> : tensor<f32>
    %2 = relay.power %p0, %1 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    relay.yield %2 : tensor<4xf32>
  }
  %3 = relay.primitive(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%p0: tensor<4xf32>):
    %4 = relay.constant dense<3.000000e+00> : tensor<f32>
    %5 = relay.power %p0, %4 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    relay.yield %5 : tensor<4xf32>
  }
  relay.return %0, %3 : tensor<4xf32>, tensor<4xf32>
}

relay.func @fused_tanh(%x: tensor<4xf32>) -> tensor<4xf32> {
  relay.return %x : tensor<4xf32>
}

// CHECK-LABEL: relay.func private @fused_exp_nn_relu(%p0: tensor<4xf32>) -> tensor<4xf32> attributes {primitive} {
// CHECK-NEXT:    %0 = relay.exp %p0
// CHECK-NEXT:    %1 = relay.nn.relu %0
// CHECK-NEXT:    relay.return %1
// CHECK:       relay.func private @fused_exp_nn_relu_1(%p0: tensor<?xf32>)
// CHECK:       relay.func private @fused_reshape(%p0: tensor<2x2xf32>) -> tensor<4xf32> attributes {primitive} {
// CHECK:       relay.func private @fused_multiply_add(%p0: tensor<4xf32>, %p1: tensor<f32>) -> tensor<4xf32> attributes {primitive} {
// CHECK-NEXT:    %0 = relay.multiply %p0, %p1
// CHECK-NEXT:    %1 = relay.constant dense<3.000000e+00> : tensor<f32>
// CHECK-NEXT:    %2 = relay.add %0, %1
