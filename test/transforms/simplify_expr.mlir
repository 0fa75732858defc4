// RUN: weft-opt %s -p simplify-expr | filecheck %s

// CHECK-LABEL: relay.func @neutral_elements_are_dropped
// CHECK-NEXT: relay.return %x
relay.func @neutral_elements_are_dropped(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %zero = relay.constant dense<0.0> : tensor<f32>
  %one = relay.constant dense<1.0> : tensor<1xf32>
  %0 = relay.add %x, %zero : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %1 = relay.add %zero, %0 : (tensor<f32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %2 = relay.multiply %one, %1 : (tensor<1xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %3 = relay.divide %2, %one : (tensor<?x4xf32>, tensor<1xf32>) -> tensor<?x4xf32>
  %4 = relay.subtract %3, %zero : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  relay.return %4 : tensor<?x4xf32>
}

// CHECK-LABEL: relay.func @neutral_elements_may_be_whole_tensors
// CHECK: relay.multiply %x, %b
// CHECK-NEXT: relay.return
relay.func @neutral_elements_may_be_whole_tensors(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.constant dense<1.0> : tensor<4xf32>
  %b = relay.constant dense<[1.0, 1.0, 1.0, 2.0]> : tensor<4xf32>
  %0 = relay.multiply %x, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.multiply %0, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %1 : tensor<4xf32>
}

// CHECK-LABEL: relay.func @neutral_elements_that_widen_or_stand_on_the_left_stay
// CHECK: relay.add %x, %zeros
// CHECK: relay.subtract %zero, %x
// CHECK: relay.divide %one, %x
relay.func @neutral_elements_that_widen_or_stand_on_the_left_stay(%x: tensor<4xf32>) -> (tensor<1x4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zeros = relay.constant dense<[[0.0]]> : tensor<1x1xf32>
  %zero = relay.constant dense<0.0> : tensor<f32>
  %one = relay.constant dense<1.0> : tensor<f32>
  %0 = relay.add %x, %zeros : (tensor<4xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
  %1 = relay.subtract %zero, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.divide %one, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %0, %1, %2 : tensor<1x4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: relay.func @small_powers_are_products
// CHECK-NOT: relay.power
// CHECK: %[[SQUARE:.*]] = relay.multiply %x, %x
// CHECK: %[[TWO:.*]] = relay.multiply %x, %x
// CHECK-NEXT: %[[CUBE:.*]] = relay.multiply %[[TWO]], %x
// CHECK-NOT: relay.power
// CHECK: relay.return %x, %[[SQUARE]], %[[CUBE]]
relay.func @small_powers_are_products(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) {
  %one = relay.constant dense<1.0> : tensor<f32>
  %two = relay.constant dense<2.0> : tensor<1xf32>
  %three = relay.constant dense<3.0> : tensor<4xf32>
  %0 = relay.power %x, %one : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %1 = relay.power %x, %two : (tensor<?x4xf32>, tensor<1xf32>) -> tensor<?x4xf32>
  %2 = relay.power %x, %three : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  relay.return %0, %1, %2 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
}

// CHECK-LABEL: relay.func @other_powers_and_wider_ones_stay
// CHECK: relay.power %x, %half
// CHECK: relay.power %x, %twos
// CHECK: relay.power %two, %x
relay.func @other_powers_and_wider_ones_stay(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>, tensor<4xf32>) {
  %half = relay.constant dense<0.5> : tensor<f32>
  %twos = relay.constant dense<2.0> : tensor<3x1xf32>
  %two = relay.constant dense<2.0> : tensor<f32>
  %0 = relay.power %x, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = relay.power %x, %twos : (tensor<4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %2 = relay.power %two, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %0, %1, %2 : tensor<4xf32>, tensor<3x4xf32>, tensor<4xf32>
}

// CHECK-LABEL: relay.func @constants_are_added_first
// CHECK: %[[C:.*]] = relay.add %{{[ab]}}, %{{[ab]}} : (tensor<4xf32>, tensor<f32>)
// CHECK: relay.add %x, %[[C]]
// CHECK-NEXT: relay.return
relay.func @constants_are_added_first(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %a = relay.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %b = relay.constant dense<2.0> : tensor<f32>
  %0 = relay.add %a, %x : (tensor<4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = relay.add %0, %b : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  relay.return %1 : tensor<?x4xf32>
}

// CHECK-LABEL: relay.func @constants_that_round_or_are_infinite_together_are_added_one_by_one
// CHECK: relay.add %x, %
// CHECK-NEXT: relay.add
// CHECK-NEXT: relay.add
// CHECK-NEXT: relay.add
// CHECK-NEXT: relay.return
relay.func @constants_that_round_or_are_infinite_together_are_added_one_by_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.constant dense<12582912.0> : tensor<f32>
  %b = relay.constant dense<-12582912.0> : tensor<f32>
  %c = relay.constant dense<3.0e38> : tensor<f32>
  %0 = relay.add %x, %a : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = relay.add %0, %b : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = relay.add %1, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = relay.add %2, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  relay.return %3 : tensor<4xf32>
}

// CHECK-LABEL: relay.func @a_division_by_a_root_is_a_product
// CHECK-NEXT: relay.abs
// CHECK-NEXT: relay.rsqrt
// CHECK-NEXT: relay.multiply %x
relay.func @a_division_by_a_root_is_a_product(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.abs %x : tensor<4xf32>
  %1 = relay.sqrt %0 : tensor<4xf32>
  %2 = relay.divide %x, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %2 : tensor<4xf32>
}

// CHECK-LABEL: relay.func @a_fill_is_read_as_a_scalar
// CHECK-NEXT: %0 = relay.full
// CHECK-NEXT: relay.maximum %x, %v : (tensor<2x4xf32>, tensor<f32>)
// CHECK-NEXT: relay.add %y, %0
relay.func @a_fill_is_read_as_a_scalar(%x: tensor<2x4xf32>, %y: tensor<4xf32>, %v: tensor<f32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = relay.full %v {shape = array<i64: 2, 4>} : (tensor<f32>) -> tensor<2x4xf32>
  %1 = relay.maximum %x, %0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = relay.add %y, %0 : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  relay.return %1, %2 : tensor<2x4xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: relay.func @reshapes_in_a_row_become_one
// CHECK-NEXT: relay.reshape %x {newshape = array<i64: 3, 4>} : (tensor<2x6xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: relay.return %0, %x
relay.func @reshapes_in_a_row_become_one(%x: tensor<2x6xf32>) -> (tensor<3x4xf32>, tensor<2x6xf32>) {
  %0 = relay.expand_dims %x {axis = 1 : i64} : (tensor<2x6xf32>) -> tensor<2x1x6xf32>
  %1 = relay.reshape %0 {newshape = array<i64: 3, 4>} : (tensor<2x1x6xf32>) -> tensor<3x4xf32>
  %2 = relay.nn.batch_flatten %0 : (tensor<2x1x6xf32>) -> tensor<2x6xf32>
  relay.return %1, %2 : tensor<3x4xf32>, tensor<2x6xf32>
}

// CHECK-LABEL: relay.func @reshapes_keep_one_dynamic_dimension
// CHECK-NEXT: relay.reshape %x {newshape = array<i64: -1, 2>} : (tensor<?x6xf32>) -> tensor<?x2xf32>
relay.func @reshapes_keep_one_dynamic_dimension(%x: tensor<?x6xf32>) -> tensor<?x2xf32> {
  %0 = relay.reshape %x {newshape = array<i64: 0, 3, 2>} : (tensor<?x6xf32>) -> tensor<?x3x2xf32>
  %1 = relay.reshape %0 {newshape = array<i64: -1, 2>} : (tensor<?x3x2xf32>) -> tensor<?x2xf32>
  relay.return %1 : tensor<?x2xf32>
}

// CHECK-LABEL: relay.func @transposes_and_layouts_in_a_row_become_one
// CHECK:      relay.transpose %x {axes = array<i64: 1, 2, 0>}
// CHECK-NEXT: relay.transpose %y {axes = array<i64: 0, 2, 3, 1>}
// CHECK-NEXT: relay.return %0, %1, %y
relay.func @transposes_and_layouts_in_a_row_become_one(%x: tensor<2x3x4xf32>, %y: tensor<1x4x2x2xf32>) -> (tensor<3x4x2xf32>, tensor<1x2x2x4xf32>, tensor<1x4x2x2xf32>) {
  %0 = relay.transpose %x : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
  %1 = relay.transpose %0 {axes = array<i64: 1, 0, 2>} : (tensor<4x3x2xf32>) -> tensor<3x4x2xf32>
  %2 = relay.layout_transform %y {src_layout = "NCHW", dst_layout = "NCHW2c"} : (tensor<1x4x2x2xf32>) -> tensor<1x2x2x2x2xf32>
  %3 = relay.layout_transform %2 {src_layout = "NCHW2c", dst_layout = "NHWC"} : (tensor<1x2x2x2x2xf32>) -> tensor<1x2x2x4xf32>
  %4 = relay.layout_transform %2 {src_layout = "NCHW2c", dst_layout = "NCHW"} : (tensor<1x2x2x2x2xf32>) -> tensor<1x4x2x2xf32>
  relay.return %1, %3, %4 : tensor<3x4x2xf32>, tensor<1x2x2x4xf32>, tensor<1x4x2x2xf32>
}

// Three channels in blocks of two: the way back through the padded layout is not the identity on types.
// CHECK-LABEL: relay.func @a_padded_layout_in_between_stays
// CHECK-COUNT-2: relay.layout_transform
relay.func @a_padded_layout_in_between_stays(%y: tensor<1x3x2x2xf32>) -> tensor<1x4x2x2xf32> {
  %0 = relay.layout_transform %y {src_layout = "NCHW", dst_layout = "NCHW2c"} : (tensor<1x3x2x2xf32>) -> tensor<1x2x2x2x2xf32>
  %1 = relay.layout_transform %0 {src_layout = "NCHW2c", dst_layout = "NCHW"} : (tensor<1x2x2x2x2xf32>) -> tensor<1x4x2x2xf32>
  relay.return %1 : tensor<1x4x2x2xf32>
}

// CHECK-LABEL: relay.func @casts_that_lose_nothing_in_between_become_one
// CHECK-NEXT: relay.cast %x {dtype = "int32"} : (tensor<4xf32>) -> tensor<4xi32>
// CHECK-NEXT: %[[N:.*]] = relay.cast %x {dtype = "int8"}
// CHECK-NEXT: relay.cast %[[N]] {dtype = "float32"}
// CHECK-NEXT: relay.return
relay.func @casts_that_lose_nothing_in_between_become_one(%x: tensor<4xf32>) -> (tensor<4xi32>, tensor<4xf32>) {
  %0 = relay.cast %x {dtype = "float64"} : (tensor<4xf32>) -> tensor<4xf64>
  %1 = relay.cast %0 {dtype = "int32"} : (tensor<4xf64>) -> tensor<4xi32>
  %2 = relay.cast %x {dtype = "int8"} : (tensor<4xf32>) -> tensor<4xi8>
  %3 = relay.cast %2 {dtype = "float32"} : (tensor<4xi8>) -> tensor<4xf32>
  relay.return %1, %3 : tensor<4xi32>, tensor<4xf32>
}

// CHECK-LABEL: relay.func @operators_named_like_get_shapes_of_their_own
// CHECK: relay.zeros {shape = array<i64: 2, 3>, dtype = "float32"}
// CHECK: relay.full %v {shape = array<i64: 2, 3>, dtype = "float32"}
// CHECK: relay.reshape %y {newshape = array<i64: 2, 3>
// CHECK: relay.broadcast_to %v {shape = array<i64: 2, 3>}
// CHECK: relay.collapse_sum_to %z {shape = array<i64: 6>}
// CHECK: relay.cast %x {dtype = "int32"}
relay.func @operators_named_like_get_shapes_of_their_own(%x: tensor<2x3xf32>, %y: tensor<6xf32>, %v: tensor<f32>, %i: tensor<4xi32>, %z: tensor<6x6xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<6xf32>, tensor<2x3xi32>) {
  %0 = relay.zeros_like %x : tensor<2x3xf32>
  %1 = relay.full_like %x, %v : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = relay.reshape_like %y, %x : (tensor<6xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = relay.broadcast_to_like %v, %x : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = relay.collapse_sum_like %z, %y : (tensor<6x6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %5 = relay.cast_like %x, %i : (tensor<2x3xf32>, tensor<4xi32>) -> tensor<2x3xi32>
  relay.return %0, %1, %2, %3, %4, %5 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<6xf32>, tensor<2x3xi32>
}

// CHECK-LABEL: relay.func @likes_of_dynamic_shape_stay
// CHECK: relay.ones_like %x
relay.func @likes_of_dynamic_shape_stay(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = relay.ones_like %x : tensor<?x3xf32>
  relay.return %0 : tensor<?x3xf32>
}

// CHECK-LABEL: relay.func @ones_like_becomes_ones
// CHECK-NEXT: %y = relay.ones {shape = array<i64: 2, 3>, dtype = "float32"} : tensor<2x3xf32>
relay.func @ones_like_becomes_ones(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = relay.ones_like %x : tensor<2x3xf32>
  relay.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: relay.func @a_fill_on_the_left_becomes_its_scalar
// CHECK-NEXT: %y = relay.subtract %v, %x :
relay.func @a_fill_on_the_left_becomes_its_scalar(%x: tensor<2x3xf32>, %v: tensor<f32>) -> tensor<2x3xf32> {
  %f = relay.full %v {shape = array<i64: 2, 3>, dtype = "float32"} : (tensor<f32>) -> tensor<2x3xf32>
  %y = relay.subtract %f, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  relay.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: relay.func @a_reshape_to_the_shape_it_has_goes
// CHECK-NEXT: relay.return %x
relay.func @a_reshape_to_the_shape_it_has_goes(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = relay.reshape %x {newshape = array<i64: 2, 3>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  relay.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: relay.func @a_transpose_in_order_goes
// CHECK-NEXT: relay.return %x
relay.func @a_transpose_in_order_goes(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %y = relay.transpose %x {axes = array<i64: 0, 1>} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  relay.return %y : tensor<3x3xf32>
}

// CHECK-LABEL: relay.func @a_square_transpose_stays
// CHECK-NEXT: %y = relay.transpose %x {axes = array<i64: 1, 0>}
relay.func @a_square_transpose_stays(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %y = relay.transpose %x {axes = array<i64: 1, 0>} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  relay.return %y : tensor<3x3xf32>
}

// CHECK-LABEL: relay.func @a_layout_transform_to_the_same_layout_goes
// CHECK-NEXT: relay.return %x
relay.func @a_layout_transform_to_the_same_layout_goes(%x: tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  %y = relay.layout_transform %x {src_layout = "NCHW", dst_layout = "NCHW"} : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  relay.return %y : tensor<1x4x2x2xf32>
}

// CHECK-LABEL: relay.func @a_cast_to_the_type_it_has_goes
// CHECK-NEXT: relay.return %x
relay.func @a_cast_to_the_type_it_has_goes(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = relay.cast %x {dtype = "float32"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  relay.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: relay.func @a_clip_to_all_integers_of_a_type_goes
// CHECK-NEXT: %0 = relay.cast %x {dtype = "uint8"}
// CHECK-NEXT: relay.return %0
relay.func @a_clip_to_all_integers_of_a_type_goes(%x: tensor<4xi32>) -> tensor<4xui8> {
  %0 = relay.cast %x {dtype = "uint8"} : (tensor<4xi32>) -> tensor<4xui8>
  %1 = relay.clip %0 {a_min = 0.0 : f64, a_max = 255.0 : f64} : tensor<4xui8>
  relay.return %1 : tensor<4xui8>
}

// CHECK-LABEL: relay.func @a_clip_to_fewer_integers_stays
// CHECK-NEXT: relay.clip %x
// CHECK-NEXT: relay.clip %y
relay.func @a_clip_to_fewer_integers_stays(%x: tensor<4xi8>, %y: tensor<4xf32>) -> (tensor<4xi8>, tensor<4xf32>) {
  %0 = relay.clip %x {a_min = -127.0 : f64, a_max = 127.0 : f64} : tensor<4xi8>
  %1 = relay.clip %y {a_min = 0.0 : f64, a_max = 255.0 : f64} : tensor<4xf32>
  relay.return %0, %1 : tensor<4xi8>, tensor<4xf32>
}

// CHECK-LABEL: relay.func @casts_there_and_back_of_what_is_clipped_go
// CHECK-NEXT: %0 = relay.clip %x
// CHECK-NEXT: relay.return %0
relay.func @casts_there_and_back_of_what_is_clipped_go(%x: tensor<4xi32>) -> tensor<4xi32> {
  %0 = relay.clip %x {a_min = 0.0 : f64, a_max = 255.0 : f64} : tensor<4xi32>
  %1 = relay.cast %0 {dtype = "uint8"} : (tensor<4xi32>) -> tensor<4xui8>
  %2 = relay.cast %1 {dtype = "int32"} : (tensor<4xui8>) -> tensor<4xi32>
  relay.return %2 : tensor<4xi32>
}

// CHECK-LABEL: relay.func @casts_stay_where_a_bound_is_not_of_the_type_or_reals_are_cut
// CHECK-NEXT: relay.clip %x
// CHECK-NEXT: relay.cast
// CHECK-NEXT: relay.cast
// CHECK-NEXT: relay.clip %y
// CHECK-NEXT: relay.cast
// CHECK-NEXT: relay.cast
relay.func @casts_stay_where_a_bound_is_not_of_the_type_or_reals_are_cut(%x: tensor<4xi32>, %y: tensor<4xf32>) -> (tensor<4xi32>, tensor<4xf32>) {
  %0 = relay.clip %x {a_min = 0.0 : f64, a_max = 256.0 : f64} : tensor<4xi32>
  %1 = relay.cast %0 {dtype = "uint8"} : (tensor<4xi32>) -> tensor<4xui8>
  %2 = relay.cast %1 {dtype = "int32"} : (tensor<4xui8>) -> tensor<4xi32>
  %3 = relay.clip %y {a_min = 0.0 : f64, a_max = 255.0 : f64} : tensor<4xf32>
  %4 = relay.cast %3 {dtype = "uint8"} : (tensor<4xf32>) -> tensor<4xui8>
  %5 = relay.cast %4 {dtype = "float32"} : (tensor<4xui8>) -> tensor<4xf32>
  relay.return %2, %5 : tensor<4xi32>, tensor<4xf32>
}

// CHECK-LABEL: relay.func @the_order_of_quantised_numbers_is_that_of_integers
// CHECK-DAG: relay.argmax %x {axis = array<i64: 1>} : (tensor<2x4xi8>) -> tensor<2xi32>
// CHECK-DAG: relay.argmin %x {axis = array<i64: 1>} : (tensor<2x4xi8>) -> tensor<2xi32>
// CHECK-DAG: relay.argsort %x {axis = 1 : i64} : (tensor<2x4xi8>) -> tensor<2x4xi32>
relay.func @the_order_of_quantised_numbers_is_that_of_integers(%x: tensor<2x4xi8>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2x4xi32>) {
  %s = relay.constant dense<2.0> : tensor<f32>
  %z = relay.constant dense<3> : tensor<i32>
  %r = relay.qnn.dequantize %x, %s, %z : (tensor<2x4xi8>, tensor<f32>, tensor<i32>) -> tensor<2x4xf32>
  %0 = relay.argmax %r {axis = array<i64: 1>} : (tensor<2x4xf32>) -> tensor<2xi32>
  %1 = relay.argmin %r {axis = array<i64: 1>} : (tensor<2x4xf32>) -> tensor<2xi32>
  %2 = relay.argsort %r {axis = 1 : i64} : (tensor<2x4xf32>) -> tensor<2x4xi32>
  relay.return %0, %1, %2 : tensor<2xi32>, tensor<2xi32>, tensor<2x4xi32>
}

// CHECK-LABEL: relay.func @it_is_not_where_integers_are_long_or_scales_negative_or_many
// CHECK: %0 = relay.argmax %r
// CHECK: %1 = relay.argmax %n
// CHECK: %2 = relay.argmax %m
relay.func @it_is_not_where_integers_are_long_or_scales_negative_or_many(%x: tensor<2x4xi32>, %y: tensor<2x4xi8>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) {
  %s = relay.constant dense<2.0> : tensor<f32>
  %t = relay.constant dense<-2.0> : tensor<f32>
  %u = relay.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %z = relay.constant dense<3> : tensor<i32>
  %r = relay.qnn.dequantize %x, %s, %z : (tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> tensor<2x4xf32>
  %n = relay.qnn.dequantize %y, %t, %z : (tensor<2x4xi8>, tensor<f32>, tensor<i32>) -> tensor<2x4xf32>
  %m = relay.qnn.dequantize %y, %u, %z : (tensor<2x4xi8>, tensor<4xf32>, tensor<i32>) -> tensor<2x4xf32>
  %0 = relay.argmax %r {axis = array<i64: 1>} : (tensor<2x4xf32>) -> tensor<2xi32>
  %1 = relay.argmax %n {axis = array<i64: 1>} : (tensor<2x4xf32>) -> tensor<2xi32>
  %2 = relay.argmax %m {axis = array<i64: 1>} : (tensor<2x4xf32>) -> tensor<2xi32>
  relay.return %0, %1, %2 : tensor<2xi32>, tensor<2xi32>, tensor<2xi32>
}

// CHECK-LABEL: relay.func @the_hyperbolic_tangent_of_softplus_needs_no_logarithm
// CHECK-NOT: relay.log
// CHECK-NOT: relay.tanh
// CHECK: relay.return
relay.func @the_hyperbolic_tangent_of_softplus_needs_no_logarithm(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %one = relay.constant dense<1.0> : tensor<f32>
  %e = relay.exp %x : tensor<4xf32>
  %s = relay.add %e, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %l = relay.log %s : tensor<4xf32>
  %0 = relay.tanh %l : tensor<4xf32>
  %a = relay.abs %x : tensor<4xf32>
  %n = relay.negative %a : tensor<4xf32>
  %d = relay.exp %n : tensor<4xf32>
  %t = relay.add %one, %d : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %tail = relay.log %t : tensor<4xf32>
  %r = relay.nn.relu %x : tensor<4xf32>
  %p = relay.add %r, %tail : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.tanh %p : tensor<4xf32>
  %b = relay.subtract %t, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c = relay.subtract %d, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %f = relay.divide %c, %t : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %g = relay.add %tail, %f : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %q = relay.add %r, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.tanh %q : tensor<4xf32>
  relay.return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: relay.func @that_of_another_logarithm_stays
// CHECK: relay.tanh
// CHECK: relay.tanh
// CHECK: relay.tanh
// CHECK: relay.return
relay.func @that_of_another_logarithm_stays(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xbf16>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xbf16>) {
  %one = relay.constant dense<1.0> : tensor<f32>
  %two = relay.constant dense<2.0> : tensor<f32>
  %e = relay.exp %x : tensor<4xf32>
  %s = relay.add %e, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %l = relay.log %s : tensor<4xf32>
  %0 = relay.tanh %l : tensor<4xf32>
  %a = relay.abs %x : tensor<4xf32>
  %n = relay.negative %a : tensor<4xf32>
  %d = relay.exp %n : tensor<4xf32>
  %t = relay.add %one, %d : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %tail = relay.log %t : tensor<4xf32>
  %r = relay.nn.relu %y : tensor<4xf32>
  %p = relay.add %r, %tail : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.tanh %p : tensor<4xf32>
  %onez = relay.constant dense<1.0> : tensor<bf16>
  %ez = relay.exp %z : tensor<4xbf16>
  %sz = relay.add %ez, %onez : (tensor<4xbf16>, tensor<bf16>) -> tensor<4xbf16>
  %lz = relay.log %sz : tensor<4xbf16>
  %2 = relay.tanh %lz : tensor<4xbf16>
  relay.return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xbf16>
}

// CHECK-LABEL: relay.func @a_product_with_what_is_turned_reads_it_as_it_stands
// CHECK-NEXT: %y = relay.nn.matmul %x, %w {units = 5 : i64} : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: relay.return
relay.func @a_product_with_what_is_turned_reads_it_as_it_stands(%x: tensor<2x3xf32>, %w: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %0 = relay.transpose %w {axes = array<i64: 1, 0>} : (tensor<3x5xf32>) -> tensor<5x3xf32>
  %y = relay.nn.dense %x, %0 {units = 5 : i64} : (tensor<2x3xf32>, tensor<5x3xf32>) -> tensor<2x5xf32>
  relay.return %y : tensor<2x5xf32>
}

// Weights are packed by another pass, which knows dense layers.
// CHECK-LABEL: relay.func @a_product_with_weights_stays_a_dense_layer
// CHECK: relay.nn.dense
relay.func @a_product_with_weights_stays_a_dense_layer(%x: tensor<2x3xf32>) -> tensor<2x1xf32> {
  %w = relay.constant dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf32>
  %0 = relay.transpose %w {axes = array<i64: 1, 0>} : (tensor<3x1xf32>) -> tensor<1x3xf32>
  %y = relay.nn.dense %x, %0 : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x1xf32>
  relay.return %y : tensor<2x1xf32>
}

// A transpose beside a layout transformation is one with it; without blocks, both are a transpose.
// CHECK-LABEL: relay.func @transposes_are_part_of_layout_transformations
// CHECK-NEXT: relay.layout_transform %x {src_layout = "NHWC", dst_layout = "NCHW4c"} : (tensor<1x5x6x8xf32>) -> tensor<1x2x5x6x4xf32>
// CHECK-NEXT: relay.nn.relu
// CHECK-NEXT: relay.layout_transform %1 {src_layout = "NCHW4c", dst_layout = "NHWC"} : (tensor<1x2x5x6x4xf32>) -> tensor<1x5x6x8xf32>
// CHECK-NEXT: relay.return
relay.func @transposes_are_part_of_layout_transformations(%x: tensor<1x5x6x8xf32>) -> tensor<1x5x6x8xf32> {
  %0 = relay.transpose %x {axes = array<i64: 0, 3, 1, 2>} : (tensor<1x5x6x8xf32>) -> tensor<1x8x5x6xf32>
  %1 = relay.layout_transform %0 {src_layout = "NCHW", dst_layout = "NCHW4c"} : (tensor<1x8x5x6xf32>) -> tensor<1x2x5x6x4xf32>
  %2 = relay.nn.relu %1 : tensor<1x2x5x6x4xf32>
  %3 = relay.layout_transform %2 {src_layout = "NCHW4c", dst_layout = "NCHW"} : (tensor<1x2x5x6x4xf32>) -> tensor<1x8x5x6xf32>
  %4 = relay.transpose %3 {axes = array<i64: 0, 2, 3, 1>} : (tensor<1x8x5x6xf32>) -> tensor<1x5x6x8xf32>
  relay.return %4 : tensor<1x5x6x8xf32>
}

// CHECK-LABEL: relay.func @without_blocks_all_is_a_transpose
// CHECK-NEXT: relay.transpose %x {axes = array<i64: 2, 3, 1, 0>} : (tensor<2x3x4x5xf32>) -> tensor<4x5x3x2xf32>
// CHECK-NEXT: relay.return
relay.func @without_blocks_all_is_a_transpose(%x: tensor<2x3x4x5xf32>) -> tensor<4x5x3x2xf32> {
  %0 = relay.transpose %x {axes = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = relay.layout_transform %0 {src_layout = "NHWC", dst_layout = "HCNW"} : (tensor<2x4x5x3xf32>) -> tensor<4x3x2x5xf32>
  %2 = relay.transpose %1 {axes = array<i64: 0, 3, 1, 2>} : (tensor<4x3x2x5xf32>) -> tensor<4x5x3x2xf32>
  relay.return %2 : tensor<4x5x3x2xf32>
}

// What is cut off, and blocks in between, stay.
// CHECK-LABEL: relay.func @blocks_that_are_transposed_stay
// CHECK-NEXT: relay.transpose
// CHECK-NEXT: relay.layout_transform
// CHECK-NEXT: relay.layout_transform
// CHECK: relay.transpose
// CHECK-NEXT: relay.return
relay.func @blocks_that_are_transposed_stay(%x: tensor<1x5x6x2x4xf32>) -> tensor<1x5x7x6xf32> {
  %0 = relay.transpose %x {axes = array<i64: 0, 3, 1, 2, 4>} : (tensor<1x5x6x2x4xf32>) -> tensor<1x2x5x6x4xf32>
  %1 = relay.layout_transform %0 {src_layout = "NCHW4c", dst_layout = "NCHW2c"} : (tensor<1x2x5x6x4xf32>) -> tensor<1x4x5x6x2xf32>
  %2 = relay.layout_transform %1 {src_layout = "NCHW2c", dst_layout = "NCHW", extents = array<i64: 0, 7, 0, 0>} : (tensor<1x4x5x6x2xf32>) -> tensor<1x7x5x6xf32>
  %3 = relay.transpose %2 {axes = array<i64: 0, 2, 1, 3>} : (tensor<1x7x5x6xf32>) -> tensor<1x5x7x6xf32>
  relay.return %3 : tensor<1x5x7x6xf32>
}

// CHECK-LABEL: relay.func @blocks_that_come_and_go_leave_a_transpose
// CHECK-NEXT: relay.transpose %x {axes = array<i64: 1, 2, 3, 0>} : (tensor<1x8x5x6xf32>) -> tensor<8x5x6x1xf32>
// CHECK-NEXT: relay.return
relay.func @blocks_that_come_and_go_leave_a_transpose(%x: tensor<1x8x5x6xf32>) -> tensor<8x5x6x1xf32> {
  %0 = relay.layout_transform %x {src_layout = "NCHW", dst_layout = "NCHW4c"} : (tensor<1x8x5x6xf32>) -> tensor<1x2x5x6x4xf32>
  %1 = relay.layout_transform %0 {src_layout = "NCHW4c", dst_layout = "CHWN"} : (tensor<1x2x5x6x4xf32>) -> tensor<8x5x6x1xf32>
  relay.return %1 : tensor<8x5x6x1xf32>
}

// An extent that is open may not fill its blocks, which are padded then; blocks of four hold whole ones of two.
// CHECK-LABEL: relay.func @an_open_extent_may_be_padded_in_between
// CHECK-NEXT: relay.layout_transform %x
// CHECK-NEXT: relay.layout_transform %0
// CHECK-NEXT: relay.layout_transform %y {src_layout = "NC4c", dst_layout = "CN"}
// CHECK-NEXT: relay.return
relay.func @an_open_extent_may_be_padded_in_between(%x: tensor<2x?xf32>, %y: tensor<2x?x4xf32>) -> (tensor<2x?xf32>, tensor<?x2xf32>) {
  %0 = relay.layout_transform %x {src_layout = "NC", dst_layout = "NC4c"} : (tensor<2x?xf32>) -> tensor<2x?x4xf32>
  %1 = relay.layout_transform %0 {src_layout = "NC4c", dst_layout = "NC"} : (tensor<2x?x4xf32>) -> tensor<2x?xf32>
  %2 = relay.layout_transform %y {src_layout = "NC4c", dst_layout = "NC2c"} : (tensor<2x?x4xf32>) -> tensor<2x?x2xf32>
  %3 = relay.layout_transform %2 {src_layout = "NC2c", dst_layout = "CN"} : (tensor<2x?x2xf32>) -> tensor<?x2xf32>
  relay.return %1, %3 : tensor<2x?xf32>, tensor<?x2xf32>
}

// CHECK-LABEL: relay.func @attention_of_one_token_repeats_and_transposes_nothing
// CHECK: %[[Q:.*]] = relay.reshape %q {newshape = array<i64: 2, 2, 64>}
// CHECK-NEXT: %[[K:.*]] = relay.reshape %k {newshape = array<i64: 2, 7, 64>}
// CHECK-NEXT: %[[S:.*]] = relay.nn.batch_matmul %[[Q]], %[[K]] : (tensor<2x2x64xf32>, tensor<2x7x64xf32>) -> tensor<2x2x7xf32>
// CHECK: %[[W:.*]] = relay.nn.softmax
// CHECK: %[[V:.*]] = relay.reshape %v {newshape = array<i64: 2, 7, 64>}
// CHECK-NEXT: relay.nn.batch_matmul %{{.*}}, %[[V]] {transpose_b = false} : (tensor<2x2x7xf32>, tensor<2x7x64xf32>) -> tensor<2x2x64xf32>
// CHECK-NOT: broadcast_to
relay.func @attention_of_one_token_repeats_and_transposes_nothing(%q: tensor<4x1x64xf32>, %k: tensor<1x2x7x64xf32>, %v: tensor<1x2x7x64xf32>) -> tensor<1x1x256xf32> {
  %0 = relay.expand_dims %k {axis = 2 : i64} : (tensor<1x2x7x64xf32>) -> tensor<1x2x1x7x64xf32>
  %1 = relay.broadcast_to %0 {shape = array<i64: 1, 2, 2, 7, 64>} : (tensor<1x2x1x7x64xf32>) -> tensor<1x2x2x7x64xf32>
  %2 = relay.reshape %1 {newshape = array<i64: 1, 4, 7, 64>} : (tensor<1x2x2x7x64xf32>) -> tensor<1x4x7x64xf32>
  %3 = relay.transpose %2 {axes = array<i64: 0, 1, 3, 2>} : (tensor<1x4x7x64xf32>) -> tensor<1x4x64x7xf32>
  %4 = relay.reshape %3 {newshape = array<i64: 4, 64, 7>} : (tensor<1x4x64x7xf32>) -> tensor<4x64x7xf32>
  %5 = relay.nn.batch_matmul %q, %4 {transpose_b = false} : (tensor<4x1x64xf32>, tensor<4x64x7xf32>) -> tensor<4x1x7xf32>
  %6 = relay.nn.softmax %5 {axis = 2 : i64} : tensor<4x1x7xf32>
  %7 = relay.expand_dims %v {axis = 2 : i64} : (tensor<1x2x7x64xf32>) -> tensor<1x2x1x7x64xf32>
  %8 = relay.broadcast_to %7 {shape = array<i64: 1, 2, 2, 7, 64>} : (tensor<1x2x1x7x64xf32>) -> tensor<1x2x2x7x64xf32>
  %9 = relay.reshape %8 {newshape = array<i64: 4, 7, 64>} : (tensor<1x2x2x7x64xf32>) -> tensor<4x7x64xf32>
  %10 = relay.nn.batch_matmul %6, %9 {transpose_b = false} : (tensor<4x1x7xf32>, tensor<4x7x64xf32>) -> tensor<4x1x64xf32>
  %11 = relay.reshape %10 {newshape = array<i64: 1, 4, 1, 64>} : (tensor<4x1x64xf32>) -> tensor<1x4x1x64xf32>
  %12 = relay.transpose %11 {axes = array<i64: 0, 2, 1, 3>} : (tensor<1x4x1x64xf32>) -> tensor<1x1x4x64xf32>
  %13 = relay.reshape %12 {newshape = array<i64: 1, 1, 256>} : (tensor<1x1x4x64xf32>) -> tensor<1x1x256xf32>
  relay.return %13 : tensor<1x1x256xf32>
}

// CHECK-LABEL: relay.func @keys_of_an_open_number_are_read_where_they_are
// CHECK-NEXT: relay.nn.batch_matmul %q, %k : (tensor<4x2x32xf32>, tensor<4x?x32xf32>) -> tensor<4x2x?xf32>
relay.func @keys_of_an_open_number_are_read_where_they_are(%q: tensor<4x2x32xf32>, %k: tensor<4x?x32xf32>) -> tensor<4x2x?xf32> {
  %0 = relay.transpose %k {axes = array<i64: 0, 2, 1>} : (tensor<4x?x32xf32>) -> tensor<4x32x?xf32>
  %1 = relay.nn.batch_matmul %q, %0 {transpose_b = false} : (tensor<4x2x32xf32>, tensor<4x32x?xf32>) -> tensor<4x2x?xf32>
  relay.return %1 : tensor<4x2x?xf32>
}

// CHECK-LABEL: relay.func @heads_of_an_open_batch_are_moved_in_whole_rows
// CHECK: %[[K:.*]] = relay.transpose %k {axes = array<i64: 0, 2, 1, 3>}
// CHECK-NEXT: %[[R:.*]] = relay.reshape %[[K]] {newshape = array<i64: -1, 7, 32>
// CHECK-NEXT: relay.nn.batch_matmul %{{.*}}, %[[R]] : (tensor<?x1x32xf32>, tensor<?x7x32xf32>) -> tensor<?x1x7xf32>
relay.func @heads_of_an_open_batch_are_moved_in_whole_rows(%x: tensor<?x4x1x32xf32>, %k: tensor<?x7x4x32xf32>) -> tensor<?x1x7xf32> {
  %q = relay.reshape %x {newshape = array<i64: -1, 1, 32>} : (tensor<?x4x1x32xf32>) -> tensor<?x1x32xf32>
  %0 = relay.transpose %k {axes = array<i64: 0, 2, 3, 1>} : (tensor<?x7x4x32xf32>) -> tensor<?x4x32x7xf32>
  %1 = relay.reshape %0 {newshape = array<i64: -1, 32, 7>} : (tensor<?x4x32x7xf32>) -> tensor<?x32x7xf32>
  %2 = relay.nn.batch_matmul %q, %1 {transpose_b = false} : (tensor<?x1x32xf32>, tensor<?x32x7xf32>) -> tensor<?x1x7xf32>
  relay.return %2 : tensor<?x1x7xf32>
}

// CHECK-LABEL: relay.func @keys_of_an_open_number_and_batch_are_read_where_they_are
// CHECK: %[[K:.*]] = relay.reshape %k {newshape = array<i64: -3, 0, 0>} : (tensor<?x4x?x32xf32>) -> tensor<?x?x32xf32>
// CHECK-NEXT: relay.nn.batch_matmul %{{.*}}, %[[K]] : (tensor<?x1x32xf32>, tensor<?x?x32xf32>) -> tensor<?x1x?xf32>
relay.func @keys_of_an_open_number_and_batch_are_read_where_they_are(%x: tensor<?x4x1x32xf32>, %k: tensor<?x4x?x32xf32>) -> tensor<?x1x?xf32> {
  %q = relay.reshape %x {newshape = array<i64: -1, 1, 32>} : (tensor<?x4x1x32xf32>) -> tensor<?x1x32xf32>
  %0 = relay.transpose %k {axes = array<i64: 0, 1, 3, 2>} : (tensor<?x4x?x32xf32>) -> tensor<?x4x32x?xf32>
  %1 = relay.reshape %0 {newshape = array<i64: -3, 0, 0>} : (tensor<?x4x32x?xf32>) -> tensor<?x32x?xf32>
  %2 = relay.nn.batch_matmul %q, %1 {transpose_b = false} : (tensor<?x1x32xf32>, tensor<?x32x?xf32>) -> tensor<?x1x?xf32>
  relay.return %2 : tensor<?x1x?xf32>
}

// CHECK-LABEL: relay.func @what_is_reshaped_within_matrices_stays_transposed
// CHECK: relay.transpose
// CHECK: transpose_b = false
relay.func @what_is_reshaped_within_matrices_stays_transposed(%q: tensor<3x1x32xf32>, %k: tensor<2x3x?x32xf32>) -> tensor<3x1x?xf32> {
  %0 = relay.transpose %k {axes = array<i64: 0, 1, 3, 2>} : (tensor<2x3x?x32xf32>) -> tensor<2x3x32x?xf32>
  %1 = relay.reshape %0 {newshape = array<i64: 3, 32, -1>} : (tensor<2x3x32x?xf32>) -> tensor<3x32x?xf32>
  %2 = relay.nn.batch_matmul %q, %1 {transpose_b = false} : (tensor<3x1x32xf32>, tensor<3x32x?xf32>) -> tensor<3x1x?xf32>
  relay.return %2 : tensor<3x1x?xf32>
}

// CHECK-LABEL: relay.func @a_factor_for_many_rows_stays_transposed
// CHECK: relay.transpose
// CHECK: transpose_b = false
relay.func @a_factor_for_many_rows_stays_transposed(%q: tensor<4x3x32xf32>, %k: tensor<4x7x32xf32>) -> tensor<4x3x7xf32> {
  %0 = relay.transpose %k {axes = array<i64: 0, 2, 1>} : (tensor<4x7x32xf32>) -> tensor<4x32x7xf32>
  %1 = relay.nn.batch_matmul %q, %0 {transpose_b = false} : (tensor<4x3x32xf32>, tensor<4x32x7xf32>) -> tensor<4x3x7xf32>
  relay.return %1 : tensor<4x3x7xf32>
}

// CHECK-LABEL: relay.func @other_transposes_bytes_constants_and_open_rows_stay
// CHECK: relay.transpose %a
// CHECK: relay.transpose %b
// CHECK: relay.transpose %c
// CHECK: relay.transpose %k
relay.func @other_transposes_bytes_constants_and_open_rows_stay(%a: tensor<7x4x32xf32>, %b: tensor<4x7x32xi32>, %k: tensor<4x7x32xf32>, %x: tensor<4x1x7xf32>, %y: tensor<4x1x32xi32>, %q: tensor<4x1x32xf32>, %r: tensor<4x?x32xf32>) -> (tensor<4x1x32xf32>, tensor<4x1x7xi32>, tensor<4x1x7xf32>, tensor<4x?x7xf32>) {
  %c = relay.constant dense<1.0> : tensor<4x7x32xf32>
  %0 = relay.transpose %a {axes = array<i64: 1, 0, 2>} : (tensor<7x4x32xf32>) -> tensor<4x7x32xf32>
  %1 = relay.nn.batch_matmul %x, %0 {transpose_b = false} : (tensor<4x1x7xf32>, tensor<4x7x32xf32>) -> tensor<4x1x32xf32>
  %2 = relay.transpose %b {axes = array<i64: 0, 2, 1>} : (tensor<4x7x32xi32>) -> tensor<4x32x7xi32>
  %3 = relay.nn.batch_matmul %y, %2 {transpose_b = false} : (tensor<4x1x32xi32>, tensor<4x32x7xi32>) -> tensor<4x1x7xi32>
  %4 = relay.transpose %c {axes = array<i64: 0, 2, 1>} : (tensor<4x7x32xf32>) -> tensor<4x32x7xf32>
  %5 = relay.nn.batch_matmul %q, %4 {transpose_b = false} : (tensor<4x1x32xf32>, tensor<4x32x7xf32>) -> tensor<4x1x7xf32>
  %6 = relay.transpose %k {axes = array<i64: 0, 2, 1>} : (tensor<4x7x32xf32>) -> tensor<4x32x7xf32>
  %7 = relay.nn.batch_matmul %r, %6 {transpose_b = false} : (tensor<4x?x32xf32>, tensor<4x32x7xf32>) -> tensor<4x?x7xf32>
  relay.return %1, %3, %5, %7 : tensor<4x1x32xf32>, tensor<4x1x7xi32>, tensor<4x1x7xf32>, tensor<4x?x7xf32>
}

// CHECK-LABEL: relay.func @a_factor_repeated_for_its_rows_and_along_its_own_is_made
// CHECK: relay.broadcast_to %k
// CHECK: relay.broadcast_to %r
relay.func @a_factor_repeated_for_its_rows_and_along_its_own_is_made(%q: tensor<6x1x5xf32>, %k: tensor<3x1x1x9xf32>, %r: tensor<1x1x5x9xf32>) -> (tensor<6x1x9xf32>, tensor<6x1x9xf32>) {
  %0 = relay.broadcast_to %k {shape = array<i64: 3, 2, 5, 9>} : (tensor<3x1x1x9xf32>) -> tensor<3x2x5x9xf32>
  %1 = relay.reshape %0 {newshape = array<i64: 6, 5, 9>} : (tensor<3x2x5x9xf32>) -> tensor<6x5x9xf32>
  %2 = relay.nn.batch_matmul %q, %1 {transpose_b = false} : (tensor<6x1x5xf32>, tensor<6x5x9xf32>) -> tensor<6x1x9xf32>
  %3 = relay.broadcast_to %r {shape = array<i64: 3, 2, 5, 9>} : (tensor<1x1x5x9xf32>) -> tensor<3x2x5x9xf32>
  %4 = relay.reshape %3 {newshape = array<i64: 6, 5, 9>} : (tensor<3x2x5x9xf32>) -> tensor<6x5x9xf32>
  %5 = relay.nn.batch_matmul %q, %4 {transpose_b = false} : (tensor<6x1x5xf32>, tensor<6x5x9xf32>) -> tensor<6x1x9xf32>
  relay.return %2, %5 : tensor<6x1x9xf32>, tensor<6x1x9xf32>
}

// CHECK-LABEL: relay.func @a_factor_repeated_for_many_rows_or_along_its_own_is_made
// CHECK: relay.broadcast_to %k
// CHECK: relay.broadcast_to %r
relay.func @a_factor_repeated_for_many_rows_or_along_its_own_is_made(%q: tensor<6x8x5xf32>, %k: tensor<3x1x5x9xf32>, %p: tensor<6x1x5xf32>, %r: tensor<3x2x1x9xf32>) -> (tensor<6x8x9xf32>, tensor<6x1x9xf32>) {
  %0 = relay.broadcast_to %k {shape = array<i64: 3, 2, 5, 9>} : (tensor<3x1x5x9xf32>) -> tensor<3x2x5x9xf32>
  %1 = relay.reshape %0 {newshape = array<i64: 6, 5, 9>} : (tensor<3x2x5x9xf32>) -> tensor<6x5x9xf32>
  %2 = relay.nn.batch_matmul %q, %1 {transpose_b = false} : (tensor<6x8x5xf32>, tensor<6x5x9xf32>) -> tensor<6x8x9xf32>
  %3 = relay.broadcast_to %r {shape = array<i64: 3, 2, 5, 9>} : (tensor<3x2x1x9xf32>) -> tensor<3x2x5x9xf32>
  %4 = relay.reshape %3 {newshape = array<i64: 6, 5, 9>} : (tensor<3x2x5x9xf32>) -> tensor<6x5x9xf32>
  %5 = relay.nn.batch_matmul %p, %4 {transpose_b = false} : (tensor<6x1x5xf32>, tensor<6x5x9xf32>) -> tensor<6x1x9xf32>
  relay.return %2, %5 : tensor<6x8x9xf32>, tensor<6x1x9xf32>
}

// CHECK-LABEL: relay.func @a_transpose_that_moves_extents_of_one_is_a_reshape
// CHECK: relay.reshape %x {newshape = array<i64: 1, 1, -1, 64>
// CHECK-NEXT: relay.transpose %y {axes = array<i64: 0, 2, 3, 1>}
relay.func @a_transpose_that_moves_extents_of_one_is_a_reshape(%x: tensor<1x?x1x64xf32>, %y: tensor<1x8x1x1xf32>) -> (tensor<1x1x?x64xf32>, tensor<1x1x1x8xf32>) {
  %0 = relay.transpose %x {axes = array<i64: 0, 2, 1, 3>} : (tensor<1x?x1x64xf32>) -> tensor<1x1x?x64xf32>
  %1 = relay.transpose %y {axes = array<i64: 0, 2, 3, 1>} : (tensor<1x8x1x1xf32>) -> tensor<1x1x1x8xf32>
  relay.return %0, %1 : tensor<1x1x?x64xf32>, tensor<1x1x1x8xf32>
}

// CHECK-LABEL: relay.func @a_reduction_of_one_element_is_that_element
// CHECK-NEXT: %0 = relay.squeeze %x {axis = array<i64: 1, 3>} : (tensor<?x1x4x1xf32>) -> tensor<?x4xf32>
// CHECK-NEXT: %1 = relay.squeeze %x {axis = array<i64: 3>} : (tensor<?x1x4x1xf32>) -> tensor<?x1x4xf32>
// CHECK-NEXT: relay.return %x, %0, %1
relay.func @a_reduction_of_one_element_is_that_element(%x: tensor<?x1x4x1xf32>) -> (tensor<?x1x4x1xf32>, tensor<?x4xf32>, tensor<?x1x4xf32>) {
  %0 = relay.max %x {axis = array<i64: 1>, keepdims = true} : (tensor<?x1x4x1xf32>) -> tensor<?x1x4x1xf32>
  %1 = relay.mean %0 {axis = array<i64: 0, 2>, exclude = true} : (tensor<?x1x4x1xf32>) -> tensor<?x4xf32>
  %2 = relay.sum %0 {axis = array<i64: -1>} : (tensor<?x1x4x1xf32>) -> tensor<?x1x4xf32>
  relay.return %0, %1, %2 : tensor<?x1x4x1xf32>, tensor<?x4xf32>, tensor<?x1x4xf32>
}

// CHECK-LABEL: relay.func @a_reduction_of_what_may_be_none_stays
// CHECK-NEXT: relay.sum
// CHECK-NEXT: relay.variance
relay.func @a_reduction_of_what_may_be_none_stays(%x: tensor<?x1xf32>) -> (tensor<1xf32>, tensor<?x1xf32>) {
  %0 = relay.sum %x {axis = array<i64: 0>} : (tensor<?x1xf32>) -> tensor<1xf32>
  %1 = relay.variance %x, %x {axis = array<i64: 1>, keepdims = true} : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
  relay.return %0, %1 : tensor<1xf32>, tensor<?x1xf32>
}

// A 0 in a new shape is the extent that stands there: none of nothing.

// CHECK-LABEL: relay.func @a_transpose_of_nothing_stays
// CHECK-NEXT: relay.transpose %x {axes = array<i64: 1, 0, 2>} : (tensor<1x0x4xf32>) -> tensor<0x1x4xf32>
// CHECK-NEXT: relay.transpose %y {axes = array<i64: 1, 0, 2>} : (tensor<1x0x?xf32>) -> tensor<0x1x?xf32>
relay.func @a_transpose_of_nothing_stays(%x: tensor<1x0x4xf32>, %y: tensor<1x0x?xf32>) -> (tensor<0x1x4xf32>, tensor<0x1x?xf32>) {
  %0 = relay.transpose %x {axes = array<i64: 1, 0, 2>} : (tensor<1x0x4xf32>) -> tensor<0x1x4xf32>
  %1 = relay.transpose %y {axes = array<i64: 1, 0, 2>} : (tensor<1x0x?xf32>) -> tensor<0x1x?xf32>
  relay.return %0, %1 : tensor<0x1x4xf32>, tensor<0x1x?xf32>
}
