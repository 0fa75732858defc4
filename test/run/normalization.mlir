// RUN: weft-run %s --function '*' --compare interpreter --quiet --threads 2 | filecheck %s

// Softmax over each axis, and normalizations.

// CHECK: @softmax_axis_0
// CHECK-NEXT: equal to interpreter
relay.func @softmax_axis_0(%x: tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> {
  %y = relay.nn.softmax %x {axis = 0 : i64} : tensor<2x5x3x7xf32>
  relay.return %y : tensor<2x5x3x7xf32>
}

// CHECK: @softmax_axis_1
// CHECK-NEXT: equal to interpreter
relay.func @softmax_axis_1(%x: tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> {
  %y = relay.nn.softmax %x {axis = 1 : i64} : tensor<2x5x3x7xf32>
  relay.return %y : tensor<2x5x3x7xf32>
}

// CHECK: @softmax_axis_2
// CHECK-NEXT: equal to interpreter
relay.func @softmax_axis_2(%x: tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> {
  %y = relay.nn.softmax %x {axis = 2 : i64} : tensor<2x5x3x7xf32>
  relay.return %y : tensor<2x5x3x7xf32>
}

// CHECK: @softmax_axis_3
// CHECK-NEXT: equal to interpreter
relay.func @softmax_axis_3(%x: tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> {
  %y = relay.nn.softmax %x {axis = 3 : i64} : tensor<2x5x3x7xf32>
  relay.return %y : tensor<2x5x3x7xf32>
}

// CHECK: @log_softmax_axis_0
// CHECK-NEXT: equal to interpreter
relay.func @log_softmax_axis_0(%x: tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> {
  %y = relay.nn.log_softmax %x {axis = 0 : i64} : tensor<2x5x3x7xf32>
  relay.return %y : tensor<2x5x3x7xf32>
}

// CHECK: @log_softmax_axis_1
// CHECK-NEXT: equal to interpreter
relay.func @log_softmax_axis_1(%x: tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> {
  %y = relay.nn.log_softmax %x {axis = 1 : i64} : tensor<2x5x3x7xf32>
  relay.return %y : tensor<2x5x3x7xf32>
}

// CHECK: @log_softmax_axis_2
// CHECK-NEXT: equal to interpreter
relay.func @log_softmax_axis_2(%x: tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> {
  %y = relay.nn.log_softmax %x {axis = 2 : i64} : tensor<2x5x3x7xf32>
  relay.return %y : tensor<2x5x3x7xf32>
}

// CHECK: @log_softmax_axis_3
// CHECK-NEXT: equal to interpreter
relay.func @log_softmax_axis_3(%x: tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> {
  %y = relay.nn.log_softmax %x {axis = 3 : i64} : tensor<2x5x3x7xf32>
  relay.return %y : tensor<2x5x3x7xf32>
}

// CHECK: @softmax_long_row
// CHECK-NEXT: equal to interpreter
relay.func @softmax_long_row(%x: tensor<3x1000xf32>) -> tensor<3x1000xf32> {
  %y = relay.nn.softmax %x : tensor<3x1000xf32>
  relay.return %y : tensor<3x1000xf32>
}

// CHECK: @softmax_one_element
// CHECK-NEXT: equal to interpreter
relay.func @softmax_one_element(%x: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %y = relay.nn.softmax %x : tensor<4x1xf32>
  relay.return %y : tensor<4x1xf32>
}

// CHECK: @softmax_rank_1
// CHECK-NEXT: equal to interpreter
relay.func @softmax_rank_1(%x: tensor<17xf32>) -> tensor<17xf32> {
  %y = relay.nn.softmax %x : tensor<17xf32>
  relay.return %y : tensor<17xf32>
}

// CHECK: @softmax_f64
// CHECK-NEXT: equal to interpreter
relay.func @softmax_f64(%x: tensor<3x5xf64>) -> tensor<3x5xf64> {
  %y = relay.nn.softmax %x : tensor<3x5xf64>
  relay.return %y : tensor<3x5xf64>
}

// CHECK: @layer_norm_axis_minus_1
// CHECK-NEXT: equal to interpreter
relay.func @layer_norm_axis_minus_1(%x: tensor<3x5x7xf32>, %g: tensor<7xf32>, %b: tensor<7xf32>) -> tensor<3x5x7xf32> {
  %y = relay.nn.layer_norm %x, %g, %b {axis = -1 : i64} : (tensor<3x5x7xf32>, tensor<7xf32>, tensor<7xf32>) -> tensor<3x5x7xf32>
  relay.return %y : tensor<3x5x7xf32>
}

// CHECK: @layer_norm_axis_1
// CHECK-NEXT: equal to interpreter
relay.func @layer_norm_axis_1(%x: tensor<3x5x7xf32>, %g: tensor<5xf32>, %b: tensor<5xf32>) -> tensor<3x5x7xf32> {
  %y = relay.nn.layer_norm %x, %g, %b {axis = 1 : i64} : (tensor<3x5x7xf32>, tensor<5xf32>, tensor<5xf32>) -> tensor<3x5x7xf32>
  relay.return %y : tensor<3x5x7xf32>
}

// CHECK: @layer_norm_axis_0
// CHECK-NEXT: equal to interpreter
relay.func @layer_norm_axis_0(%x: tensor<3x5x7xf32>, %g: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<3x5x7xf32> {
  %y = relay.nn.layer_norm %x, %g, %b {axis = 0 : i64} : (tensor<3x5x7xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3x5x7xf32>
  relay.return %y : tensor<3x5x7xf32>
}

// CHECK: @batch_norm
// CHECK-NEXT: equal to interpreter
relay.func @batch_norm(%x: tensor<1x6x5x5xf32>, %g: tensor<6xf32>, %b: tensor<6xf32>, %m: tensor<6xf32>, %v: tensor<6xf32>) -> tensor<1x6x5x5xf32> {
  %0 = relay.abs %v : tensor<6xf32>
  %1 = relay.nn.batch_norm %x, %g, %b, %m, %0 : (tensor<1x6x5x5xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tuple<tensor<1x6x5x5xf32>, tensor<6xf32>, tensor<6xf32>>
  %y = relay.tuple_get %1[0] : tuple<tensor<1x6x5x5xf32>, tensor<6xf32>, tensor<6xf32>> -> tensor<1x6x5x5xf32>
  relay.return %y : tensor<1x6x5x5xf32>
}

// CHECK: @instance_norm
// CHECK-NEXT: equal to interpreter
relay.func @instance_norm(%x: tensor<1x6x5x5xf32>, %g: tensor<6xf32>, %b: tensor<6xf32>) -> tensor<1x6x5x5xf32> {
  %y = relay.nn.instance_norm %x, %g, %b : (tensor<1x6x5x5xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<1x6x5x5xf32>
  relay.return %y : tensor<1x6x5x5xf32>
}

// CHECK: @group_norm
// CHECK-NEXT: equal to interpreter
relay.func @group_norm(%x: tensor<1x6x5x5xf32>, %g: tensor<6xf32>, %b: tensor<6xf32>) -> tensor<1x6x5x5xf32> {
  %y = relay.nn.group_norm %x, %g, %b {num_groups = 3 : i64} : (tensor<1x6x5x5xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<1x6x5x5xf32>
  relay.return %y : tensor<1x6x5x5xf32>
}

// CHECK: @lrn
// CHECK-NEXT: equal to interpreter
relay.func @lrn(%x: tensor<1x6x5x5xf32>) -> tensor<1x6x5x5xf32> {
  %y = relay.nn.lrn %x {size = 3 : i64} : tensor<1x6x5x5xf32>
  relay.return %y : tensor<1x6x5x5xf32>
}

// CHECK: @l2_normalize
// CHECK-NEXT: equal to interpreter
relay.func @l2_normalize(%x: tensor<1x6x5x5xf32>) -> tensor<1x6x5x5xf32> {
  %y = relay.nn.l2_normalize %x {eps = 1.0e-06 : f64, axis = array<i64: 1>} : tensor<1x6x5x5xf32>
  relay.return %y : tensor<1x6x5x5xf32>
}

// Half-width floats whose squares, or the reciprocals of whose epsilons, these do not hold.

// CHECK: @layer_norm_of_large_half_width_floats
// CHECK-NEXT: equal to interpreter
relay.func @layer_norm_of_large_half_width_floats(%x: tensor<3x8xf16>, %g: tensor<8xf16>, %b: tensor<8xf16>) -> tensor<3x8xf16> {
  %c = relay.constant dense<4000.0> : tensor<f16>
  %0 = relay.multiply %x, %c : (tensor<3x8xf16>, tensor<f16>) -> tensor<3x8xf16>
  %y = relay.nn.layer_norm %0, %g, %b : (tensor<3x8xf16>, tensor<8xf16>, tensor<8xf16>) -> tensor<3x8xf16>
  relay.return %y : tensor<3x8xf16>
}

// CHECK: @instance_norm_of_large_half_width_floats
// CHECK-NEXT: equal to interpreter
relay.func @instance_norm_of_large_half_width_floats(%x: tensor<2x3x8xf16>, %g: tensor<3xf16>, %b: tensor<3xf16>) -> tensor<2x3x8xf16> {
  %c = relay.constant dense<4000.0> : tensor<f16>
  %0 = relay.multiply %x, %c : (tensor<2x3x8xf16>, tensor<f16>) -> tensor<2x3x8xf16>
  %y = relay.nn.instance_norm %0, %g, %b : (tensor<2x3x8xf16>, tensor<3xf16>, tensor<3xf16>) -> tensor<2x3x8xf16>
  relay.return %y : tensor<2x3x8xf16>
}

// CHECK: @group_norm_of_large_half_width_floats
// CHECK-NEXT: equal to interpreter
relay.func @group_norm_of_large_half_width_floats(%x: tensor<2x4x8xf16>, %g: tensor<4xf16>, %b: tensor<4xf16>) -> tensor<2x4x8xf16> {
  %c = relay.constant dense<4000.0> : tensor<f16>
  %0 = relay.multiply %x, %c : (tensor<2x4x8xf16>, tensor<f16>) -> tensor<2x4x8xf16>
  %y = relay.nn.group_norm %0, %g, %b {num_groups = 2 : i64} : (tensor<2x4x8xf16>, tensor<4xf16>, tensor<4xf16>) -> tensor<2x4x8xf16>
  relay.return %y : tensor<2x4x8xf16>
}

// CHECK: @l2_normalize_of_large_half_width_floats
// CHECK-NEXT: equal to interpreter
relay.func @l2_normalize_of_large_half_width_floats(%x: tensor<3x8xf16>) -> tensor<3x8xf16> {
  %c = relay.constant dense<4000.0> : tensor<f16>
  %0 = relay.multiply %x, %c : (tensor<3x8xf16>, tensor<f16>) -> tensor<3x8xf16>
  %y = relay.nn.l2_normalize %0 {eps = 1.0e-12 : f64, axis = array<i64: 1>} : tensor<3x8xf16>
  relay.return %y : tensor<3x8xf16>
}

// CHECK: @batch_norm_of_half_width_floats_that_do_not_vary
// CHECK-NEXT: equal to interpreter
relay.func @batch_norm_of_half_width_floats_that_do_not_vary(%x: tensor<2x3xf16>, %g: tensor<3xf16>, %b: tensor<3xf16>) -> tensor<2x3xf16> {
  %z = relay.constant dense<0.0> : tensor<3xf16>
  %t = relay.nn.batch_norm %x, %g, %b, %z, %z {epsilon = 1.0e-08 : f64} : (tensor<2x3xf16>, tensor<3xf16>, tensor<3xf16>, tensor<3xf16>, tensor<3xf16>) -> tuple<tensor<2x3xf16>, tensor<3xf16>, tensor<3xf16>>
  %y = relay.tuple_get %t[0] : tuple<tensor<2x3xf16>, tensor<3xf16>, tensor<3xf16>> -> tensor<2x3xf16>
  relay.return %y : tensor<2x3xf16>
}
