// RUN: weft-opt %s -p simplify-inference | filecheck %s

// CHECK-LABEL: relay.func @batch_norm_becomes_scale_and_shift
// CHECK: %[[D:.*]] = relay.sqrt
// CHECK: %[[S:.*]] = relay.divide %g, %[[D]]
// CHECK: %[[M:.*]] = relay.multiply %m, %[[S]]
// CHECK: %[[B:.*]] = relay.subtract %b, %[[M]]
// CHECK: relay.expand_dims %[[S]] {axis = 1 : i64, num_newaxis = 2 : i64}
// CHECK: relay.multiply %x
// CHECK: relay.expand_dims %[[B]]
// CHECK: %[[Y:.*]] = relay.add
// CHECK: relay.return %[[Y]]
relay.func @batch_norm_becomes_scale_and_shift(%x: tensor<?x3x4x4xf32>, %g: tensor<3xf32>, %b: tensor<3xf32>, %m: tensor<3xf32>) -> tensor<?x3x4x4xf32> {
  %v = relay.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %t = relay.nn.batch_norm %x, %g, %b, %m, %v : (tensor<?x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tuple<tensor<?x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>>
  %0 = relay.tuple_get %t[0] : tuple<tensor<?x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>> -> tensor<?x3x4x4xf32>
  relay.return %0 : tensor<?x3x4x4xf32>
}

// Along the last axis nothing is expanded; without scale and center gamma and beta are not read.
// CHECK-LABEL: relay.func @batch_norm_along_the_last_axis
// CHECK-NEXT: %v = relay.constant
// CHECK-NOT: expand_dims
// CHECK-NOT: %g
// CHECK: relay.return
relay.func @batch_norm_along_the_last_axis(%x: tensor<2x3xf32>, %g: tensor<3xf32>, %m: tensor<3xf32>) -> tensor<2x3xf32> {
  %v = relay.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %t = relay.nn.batch_norm %x, %g, %g, %m, %v {scale = false, center = false} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tuple<tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>>
  %0 = relay.tuple_get %t[0] : tuple<tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>> -> tensor<2x3xf32>
  relay.return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: relay.func @the_statistics_of_batch_norm_are_left_alone
// CHECK: relay.nn.batch_norm
// CHECK-NEXT:     : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tuple<tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>>
// CHECK-NEXT: relay.tuple_get %t[1]
relay.func @the_statistics_of_batch_norm_are_left_alone(%x: tensor<2x3xf32>, %g: tensor<3xf32>) -> tensor<3xf32> {
  %v = relay.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %t = relay.nn.batch_norm %x, %g, %g, %g, %v : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tuple<tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>>
  %0 = relay.tuple_get %t[1] : tuple<tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>> -> tensor<3xf32>
  relay.return %0 : tensor<3xf32>
}

// CHECK-LABEL: relay.func @dropout_disappears
// CHECK-NEXT: relay.nn.relu %x
relay.func @dropout_disappears(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = relay.nn.dropout %x : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %0 = relay.tuple_get %t[0] : tuple<tensor<4xf32>, tensor<4xf32>> -> tensor<4xf32>
  %1 = relay.nn.relu %0 : tensor<4xf32>
  relay.return %1 : tensor<4xf32>
}

// CHECK-LABEL: relay.func @dropout_whose_mask_is_used_stays
// CHECK-NEXT: relay.nn.dropout
// CHECK-NEXT: relay.tuple_get %t[1]
// CHECK-NEXT: relay.return %x
relay.func @dropout_whose_mask_is_used_stays(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = relay.nn.dropout %x : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %0 = relay.tuple_get %t[0] : tuple<tensor<4xf32>, tensor<4xf32>> -> tensor<4xf32>
  %1 = relay.tuple_get %t[1] : tuple<tensor<4xf32>, tensor<4xf32>> -> tensor<4xf32>
  relay.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: relay.func @layer_norm_becomes_mean_and_variance
// CHECK: relay.mean %x {axis = array<i64: 2>, keepdims = true}
// CHECK: relay.variance %x
// CHECK-NOT: layer_norm
// CHECK: relay.return
relay.func @layer_norm_becomes_mean_and_variance(%x: tensor<2x3x4xf32>, %g: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<2x3x4xf32> {
  %0 = relay.nn.layer_norm %x, %g, %b : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  relay.return %0 : tensor<2x3x4xf32>
}

// CHECK-LABEL: relay.func @instance_norm_keeps_batch_and_channels
// CHECK: relay.mean %x {axis = array<i64: 2>, keepdims = true}
// CHECK-NOT: instance_norm
// CHECK: relay.return
relay.func @instance_norm_keeps_batch_and_channels(%x: tensor<2x3x4xf32>, %g: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<2x3x4xf32> {
  %0 = relay.nn.instance_norm %x, %g, %b : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  relay.return %0 : tensor<2x3x4xf32>
}

// CHECK-LABEL: relay.func @group_norm_reduces_over_its_groups
// CHECK: relay.reshape %x {newshape = array<i64: 2, 2, 2, 3>}
// CHECK: relay.mean %{{.*}} {axis = array<i64: 2, 3>, keepdims = true}
// CHECK: relay.reshape %{{.*}} {newshape = array<i64: 2, 4, 3>}
// CHECK-NOT: group_norm
// CHECK: relay.return
relay.func @group_norm_reduces_over_its_groups(%x: tensor<2x4x3xf32>, %g: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<2x4x3xf32> {
  %0 = relay.nn.group_norm %x, %g, %b {num_groups = 2 : i64} : (tensor<2x4x3xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x3xf32>
  relay.return %0 : tensor<2x4x3xf32>
}

// CHECK-LABEL: relay.func @group_norm_of_open_extents_takes_the_channels_apart_and_together
// CHECK: relay.reshape %x {newshape = array<i64: 0, -4, 2, 2, 0>} : (tensor<?x4x?xf32>) -> tensor<?x2x2x?xf32>
// CHECK: relay.reshape %{{.*}} {newshape = array<i64: 0, -3, 0>} : (tensor<?x2x2x?xf32>) -> tensor<?x4x?xf32>
relay.func @group_norm_of_open_extents_takes_the_channels_apart_and_together(%x: tensor<?x4x?xf32>, %g: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<?x4x?xf32> {
  %0 = relay.nn.group_norm %x, %g, %b {num_groups = 2 : i64} : (tensor<?x4x?xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4x?xf32>
  relay.return %0 : tensor<?x4x?xf32>
}

// CHECK-LABEL: relay.func @group_norm_of_channels_that_its_vectors_count
// CHECK: relay.reshape %x {newshape = array<i64: 0, -4, 3, 1, 0>} : (tensor<2x?x3xf32>) -> tensor<2x3x1x3xf32>
// CHECK: relay.reshape %{{.*}} {newshape = array<i64: 0, -3, 0>} : (tensor<2x3x1x3xf32>) -> tensor<2x3x3xf32>
// CHECK-NOT: group_norm
// CHECK: relay.return
relay.func @group_norm_of_channels_that_its_vectors_count(%x: tensor<2x?x3xf32>, %g: tensor<3xf32>) -> tensor<2x3x3xf32> {
  %0 = relay.nn.group_norm %x, %g, %g {num_groups = 3 : i64} : (tensor<2x?x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x3xf32>
  relay.return %0 : tensor<2x3x3xf32>
}

// CHECK-LABEL: relay.func @group_norm_of_an_open_number_of_channels
// CHECK: relay.reshape %x {newshape = array<i64: 0, -4, 3, -1, 0>} : (tensor<2x?x3xf32>) -> tensor<2x3x?x3xf32>
// CHECK-NOT: group_norm
// CHECK: relay.return
relay.func @group_norm_of_an_open_number_of_channels(%x: tensor<2x?x3xf32>, %g: tensor<?xf32>) -> tensor<2x?x3xf32> {
  %0 = relay.nn.group_norm %x, %g, %g {num_groups = 3 : i64} : (tensor<2x?x3xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<2x?x3xf32>
  relay.return %0 : tensor<2x?x3xf32>
}

// CHECK-LABEL: relay.func @l2_normalize_divides_by_the_length
// CHECK: relay.sum %{{.*}} {axis = array<i64: 1>, keepdims = true}
// CHECK: relay.maximum
// CHECK: relay.sqrt
// CHECK: relay.divide %x
relay.func @l2_normalize_divides_by_the_length(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = relay.nn.l2_normalize %x {eps = 1.0e-06 : f64, axis = array<i64: 1>} : tensor<2x4xf32>
  relay.return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: relay.func @squares_of_half_width_floats_are_formed_in_f32
// CHECK: %[[X:.*]] = relay.cast %x {dtype = "float32"}
// CHECK: relay.variance %[[X]]
// CHECK: %[[Y:.*]] = relay.add %{{.*}} -> tensor<2x3x4xf32>
// CHECK: relay.cast %[[Y]] {dtype = "float16"}
relay.func @squares_of_half_width_floats_are_formed_in_f32(%x: tensor<2x3x4xf16>, %g: tensor<4xf16>, %b: tensor<4xf16>) -> tensor<2x3x4xf16> {
  %0 = relay.nn.layer_norm %x, %g, %b : (tensor<2x3x4xf16>, tensor<4xf16>, tensor<4xf16>) -> tensor<2x3x4xf16>
  relay.return %0 : tensor<2x3x4xf16>
}

// CHECK-LABEL: relay.func @weights_of_open_extents_meet_data_less_their_zero_point
// CHECK: %[[X:.*]] = relay.subtract
// CHECK: %[[W:.*]] = relay.subtract
// CHECK: relay.nn.conv2d %[[X]], %[[W]] {padding = array<i64: 1, 1>, out_dtype = "int32"}
relay.func @weights_of_open_extents_meet_data_less_their_zero_point(%x: tensor<1x4x5x5xui8>, %w: tensor<?x4x?x?xi8>) -> tensor<1x?x?x?xi32> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<3> : tensor<i32>
  %n = relay.constant dense<0> : tensor<i32>
  %0 = relay.qnn.conv2d %x, %w, %z, %n, %s, %s {padding = array<i64: 1, 1>} : (tensor<1x4x5x5xui8>, tensor<?x4x?x?xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x?x?x?xi32>
  relay.return %0 : tensor<1x?x?x?xi32>
}
