// RUN: weft-opt %s -p 'convert-layout{desired-layouts="nn.conv2d:NCHW","nn.max_pool3d:NDHWC","qnn.conv2d:NCHW","nn.deformable_conv2d:NCHW","qnn.conv2d_transpose:NCHW","vision.roi_align:NCHW","nn.batch_norm:NHWC"}' | filecheck %s
// RUN: weft-opt %s -p 'convert-layout{desired-layouts="nn.conv2d:NCHW16c:OIHW16i16o"}' | filecheck %s --check-prefix=BLOCKS

// CHECK-LABEL: relay.func @arithmetic_and_pools_go_along
// CHECK: %[[X:.*]] = relay.layout_transform %x {src_layout = "NHWC", dst_layout = "NCHW"}
// CHECK-NEXT: %[[W:.*]] = relay.layout_transform %w {src_layout = "HWIO", dst_layout = "OIHW"}
// CHECK-NEXT: %[[Y:.*]] = relay.nn.conv2d %[[X]], %[[W]] {padding = array<i64: 1, 1>}
// CHECK-NEXT: %[[E:.*]] = relay.expand_dims %b {axis = 0 : i64, num_newaxis = 3 : i64}
// CHECK-NEXT: %[[B:.*]] = relay.layout_transform %[[E]] {src_layout = "NHWC", dst_layout = "NCHW"}
// CHECK-NEXT: %[[Z:.*]] = relay.add %[[Y]], %[[B]]
// CHECK-NEXT: %[[P:.*]] = relay.nn.max_pool2d %[[Z]] {pool_size = array<i64: 2, 2>}
// CHECK-NEXT: %[[R:.*]] = relay.layout_transform %[[P]] {src_layout = "NCHW", dst_layout = "NHWC"}
// CHECK-NEXT: relay.nn.batch_flatten %[[R]]
relay.func @arithmetic_and_pools_go_along(%x: tensor<1x4x4x3xf32>, %w: tensor<3x3x3x2xf32>, %b: tensor<2xf32>) -> tensor<1x18xf32> {
  %0 = relay.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO", padding = array<i64: 1, 1>} : (tensor<1x4x4x3xf32>, tensor<3x3x3x2xf32>) -> tensor<1x4x4x2xf32>
  %1 = relay.nn.bias_add %0, %b {axis = 3 : i64} : (tensor<1x4x4x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  %2 = relay.nn.max_pool2d %1 {pool_size = array<i64: 2, 2>, layout = "NHWC"} : (tensor<1x4x4x2xf32>) -> tensor<1x3x3x2xf32>
  %3 = relay.nn.batch_flatten %2 : (tensor<1x3x3x2xf32>) -> tensor<1x18xf32>
  relay.return %3 : tensor<1x18xf32>
}

// A transpose that undoes the conversion goes, before and behind.
// CHECK-LABEL: relay.func @transposes_cancel
// CHECK-NEXT: relay.layout_transform %w
// CHECK-NEXT: relay.nn.conv2d %x
// CHECK-NEXT: relay.return
relay.func @transposes_cancel(%x: tensor<1x3x4x4xf32>, %w: tensor<1x1x3x2xf32>) -> tensor<1x2x4x4xf32> {
  %t = relay.transpose %x {axes = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x4xf32>) -> tensor<1x4x4x3xf32>
  %0 = relay.nn.conv2d %t, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x4x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x4x4x2xf32>
  %1 = relay.transpose %0 {axes = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x2xf32>) -> tensor<1x2x4x4xf32>
  relay.return %1 : tensor<1x2x4x4xf32>
}

// CHECK-LABEL: relay.func @axes_are_renumbered
// CHECK: relay.nn.conv2d
// CHECK: relay.tuple(
// CHECK-NEXT: %[[C:.*]] = relay.concatenate {{.*}}{axis = 1 : i64}
// CHECK-NEXT: relay.nn.pad %[[C]], {{.*}}pad_width = array<i64: 0, 0, 0, 0, 1, 2, 0, 0>
// CHECK-NEXT: relay.strided_slice {{.*}}axes = array<i64: 0, 2, 3, 1>
// CHECK-NEXT:     : (tensor<1x4x7x4xf32>) -> tensor<1x4x5x4xf32>
// CHECK-NEXT: relay.split {{.*}}axis = 1 : i64
// CHECK: relay.nn.softmax {{.*}}{axis = 1 : i64}
// CHECK: relay.mean {{.*}}{axis = array<i64: 2, 3>}
// CHECK: relay.max {{.*}}{axis = array<i64: 1>, keepdims = true}
// CHECK-NEXT: relay.squeeze {{.*}}{axis = array<i64: 1>}
relay.func @axes_are_renumbered(%x: tensor<1x4x4x3xf32>, %w: tensor<1x1x3x2xf32>, %o: tensor<1x4x4x2xf32>) -> (tensor<1x2xf32>, tensor<1x5x4xf32>) {
  %z = relay.constant dense<0.0> : tensor<f32>
  %0 = relay.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x4x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x4x4x2xf32>
  %t = relay.tuple(%0, %o) : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tuple<tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>>
  %1 = relay.concatenate %t {axis = -1 : i64} : (tuple<tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>>) -> tensor<1x4x4x4xf32>
  %2 = relay.nn.pad %1, %z {pad_width = array<i64: 0, 0, 1, 2, 0, 0, 0, 0>} : (tensor<1x4x4x4xf32>, tensor<f32>) -> tensor<1x7x4x4xf32>
  %3 = relay.strided_slice %2 {begin = array<i64: 0, 1, 0, 0>, end = array<i64: 1, 6, 4, 4>} : (tensor<1x7x4x4xf32>) -> tensor<1x5x4x4xf32>
  %s = relay.split %3 {indices_or_sections = 2 : i64, axis = 3 : i64} : (tensor<1x5x4x4xf32>) -> tuple<tensor<1x5x4x2xf32>, tensor<1x5x4x2xf32>>
  %4 = relay.tuple_get %s[0] : tuple<tensor<1x5x4x2xf32>, tensor<1x5x4x2xf32>> -> tensor<1x5x4x2xf32>
  %5 = relay.tuple_get %s[1] : tuple<tensor<1x5x4x2xf32>, tensor<1x5x4x2xf32>> -> tensor<1x5x4x2xf32>
  %6 = relay.nn.softmax %4 : tensor<1x5x4x2xf32>
  %7 = relay.mean %6 {axis = array<i64: 1, 2>} : (tensor<1x5x4x2xf32>) -> tensor<1x2xf32>
  %8 = relay.max %5 {axis = array<i64: 3>, keepdims = true} : (tensor<1x5x4x2xf32>) -> tensor<1x5x4x1xf32>
  %9 = relay.squeeze %8 {axis = array<i64: 3>} : (tensor<1x5x4x1xf32>) -> tensor<1x5x4xf32>
  relay.return %7, %9 : tensor<1x2xf32>, tensor<1x5x4xf32>
}

// CHECK-LABEL: relay.func @places_along_axes_that_change_their_order_and_branches_see_plain_values
// CHECK: %[[C:.*]] = relay.nn.conv2d
// CHECK: %[[P:.*]] = relay.layout_transform %[[C]] {src_layout = "NCHW", dst_layout = "NHWC"}
// CHECK-NEXT: relay.argmax %[[P]] {axis = array<i64: 2, 3>}
// CHECK-NEXT: relay.if
// CHECK-NEXT: relay.exp %[[P]]
relay.func @places_along_axes_that_change_their_order_and_branches_see_plain_values(%c: tensor<i1>, %x: tensor<1x4x4x3xf32>, %w: tensor<1x1x3x2xf32>) -> (tensor<1x4xi32>, tensor<1x4x4x2xf32>) {
  %0 = relay.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x4x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x4x4x2xf32>
  %1 = relay.argmax %0 {axis = array<i64: 2, 3>} : (tensor<1x4x4x2xf32>) -> tensor<1x4xi32>
  %2 = relay.if %c : (tensor<i1>) -> tensor<1x4x4x2xf32> {
    %3 = relay.exp %0 : tensor<1x4x4x2xf32>
    relay.yield %3 : tensor<1x4x4x2xf32>
  } else {
    relay.yield %0 : tensor<1x4x4x2xf32>
  }
  relay.return %1, %2 : tensor<1x4xi32>, tensor<1x4x4x2xf32>
}

// CHECK-LABEL: relay.func @a_batch_norm_of_a_depthwise_convolution
// CHECK: relay.nn.conv2d {{.*}}groups = 3 : i64
// CHECK-NEXT: relay.nn.batch_norm
// CHECK-NEXT:     : (tensor<?x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tuple<tensor<?x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>>
// CHECK-NEXT: relay.tuple_get
// CHECK-NEXT: relay.layout_transform {{.*}}src_layout = "NCHW", dst_layout = "NHWC"
relay.func @a_batch_norm_of_a_depthwise_convolution(%x: tensor<?x4x4x3xf32>, %w: tensor<1x1x3x1xf32>, %v: tensor<3xf32>) -> tensor<?x4x4x3xf32> {
  %0 = relay.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWOI", groups = 3 : i64} : (tensor<?x4x4x3xf32>, tensor<1x1x3x1xf32>) -> tensor<?x4x4x3xf32>
  %1 = relay.nn.batch_norm %0, %v, %v, %v, %v {axis = 3 : i64} : (tensor<?x4x4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tuple<tensor<?x4x4x3xf32>, tensor<3xf32>, tensor<3xf32>>
  %2 = relay.tuple_get %1[0] : tuple<tensor<?x4x4x3xf32>, tensor<3xf32>, tensor<3xf32>> -> tensor<?x4x4x3xf32>
  relay.return %2 : tensor<?x4x4x3xf32>
}

// CHECK-LABEL: relay.func @a_pool_in_the_layout_that_is_wanted_of_it
// CHECK: relay.layout_transform %x {src_layout = "NCDHW", dst_layout = "NDHWC"}
// CHECK-NEXT: relay.nn.max_pool3d {{.*}}layout = "NDHWC"
relay.func @a_pool_in_the_layout_that_is_wanted_of_it(%x: tensor<1x3x2x2x2xf32>) -> tensor<1x3x1x1x1xf32> {
  %0 = relay.nn.max_pool3d %x {pool_size = array<i64: 2, 2, 2>} : (tensor<1x3x2x2x2xf32>) -> tensor<1x3x1x1x1xf32>
  relay.return %0 : tensor<1x3x1x1x1xf32>
}

// CHECK-LABEL: relay.func @what_is_in_the_layout_already_stays
// CHECK-NOT: relay.layout_transform
// CHECK: relay.return
relay.func @what_is_in_the_layout_already_stays(%x: tensor<1x3x4x4xf32>, %w: tensor<2x3x1x1xf32>) -> tensor<1x2x4x4xf32> {
  %0 = relay.nn.conv2d %x, %w : (tensor<1x3x4x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x4x4xf32>
  relay.return %0 : tensor<1x2x4x4xf32>
}

// Scales along the channels go along.
// CHECK-LABEL: relay.func @quantised_tensors
// CHECK: relay.layout_transform %x {src_layout = "NHWC", dst_layout = "NCHW"}
// CHECK: relay.layout_transform %w {src_layout = "HWIO", dst_layout = "OIHW"}
// CHECK: relay.qnn.conv2d {{.*}}
// CHECK-NEXT:       {{.*}}-> tensor<1x2x4x4xi32>
// CHECK-NEXT: %[[R:.*]] = relay.qnn.requantize {{.*}}axis = 1 : i64
// CHECK-NEXT:     : (tensor<1x2x4x4xi32>, tensor<2xf32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<1x2x4x4xi8>
// CHECK-NEXT: %[[X:.*]] = relay.layout_transform %y {src_layout = "NHWC", dst_layout = "NCHW"}
// CHECK-NEXT: relay.qnn.add %[[R]], %[[X]]
// CHECK-NEXT:     : (tensor<1x2x4x4xi8>, tensor<1x2x4x4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<1x2x4x4xi8>
// CHECK-NEXT: relay.qnn.tanh
// CHECK-NEXT: relay.layout_transform {{.*}}src_layout = "NCHW", dst_layout = "NHWC"
relay.func @quantised_tensors(%x: tensor<1x4x4x3xi8>, %w: tensor<1x1x3x2xi8>, %y: tensor<1x4x4x2xi8>) -> tensor<1x4x4x2xi8> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %v = relay.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %z = relay.constant dense<3> : tensor<i32>
  %0 = relay.qnn.conv2d %x, %w, %z, %z, %s, %s {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x4x4x3xi8>, tensor<1x1x3x2xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x4x4x2xi32>
  %1 = relay.qnn.requantize %0, %v, %z, %s, %z {axis = 3 : i64, out_dtype = "int8"} : (tensor<1x4x4x2xi32>, tensor<2xf32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<1x4x4x2xi8>
  %2 = relay.qnn.add %1, %y, %s, %z, %s, %z, %s, %z : (tensor<1x4x4x2xi8>, tensor<1x4x4x2xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<1x4x4x2xi8>
  %3 = relay.qnn.tanh %2, %s, %z, %s, %z : (tensor<1x4x4x2xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<1x4x4x2xi8>
  relay.return %3 : tensor<1x4x4x2xi8>
}

// CHECK-LABEL: relay.func @a_tuple_that_nobody_uses_stays
// CHECK: relay.nn.conv2d {{.*}}-> tensor<1x2x4x4xf32>
// CHECK: relay.return
relay.func @a_tuple_that_nobody_uses_stays(%x: tensor<1x4x4x3xf32>, %w: tensor<1x1x3x2xf32>) -> tensor<1x4x4x2xf32> {
  %0 = relay.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x4x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x4x4x2xf32>
  %1 = relay.tuple(%0, %0) : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tuple<tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>>
  relay.return %0 : tensor<1x4x4x2xf32>
}

// The offset stands as the data does.
// CHECK-LABEL: relay.func @offsets_have_the_layout_of_the_data
// CHECK: %[[X:.*]] = relay.layout_transform %x {src_layout = "NHWC", dst_layout = "NCHW"}
// CHECK-NEXT: %[[O:.*]] = relay.layout_transform %o {src_layout = "NHWC", dst_layout = "NCHW"}
// CHECK-NEXT: %[[W:.*]] = relay.layout_transform %w {src_layout = "HWIO", dst_layout = "OIHW"}
// CHECK-NEXT: relay.nn.deformable_conv2d %[[X]], %[[O]], %[[W]] :
relay.func @offsets_have_the_layout_of_the_data(%x: tensor<1x4x4x2xf32>, %o: tensor<1x2x2x18xf32>, %w: tensor<3x3x2x3xf32>) -> tensor<1x2x2x3xf32> {
  %0 = relay.nn.deformable_conv2d %x, %o, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x4x4x2xf32>, tensor<1x2x2x18xf32>, tensor<3x3x2x3xf32>) -> tensor<1x2x2x3xf32>
  relay.return %0 : tensor<1x2x2x3xf32>
}

// CHECK-LABEL: relay.func @transposed_convolutions_of_quantised_tensors
// CHECK: relay.layout_transform %w {src_layout = "HWIO", dst_layout = "IOHW"}
// CHECK: relay.qnn.conv2d_transpose {{.*}} {channels = 2 : i64, kernel_size = array<i64: 1, 1>}{{$}}
// CHECK-NEXT: : (tensor<1x3x4x4xi8>, tensor<3x2x1x1xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x2x4x4xi32>
relay.func @transposed_convolutions_of_quantised_tensors(%x: tensor<1x4x4x3xi8>, %w: tensor<1x1x3x2xi8>) -> tensor<1x4x4x2xi32> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<3> : tensor<i32>
  %0 = relay.qnn.conv2d_transpose %x, %w, %z, %z, %s, %s {channels = 2 : i64, kernel_size = array<i64: 1, 1>, data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x4x4x3xi8>, tensor<1x1x3x2xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x4x4x2xi32>
  relay.return %0 : tensor<1x4x4x2xi32>
}

// CHECK-LABEL: relay.func @regions_are_taken_of_images_in_the_layout_that_is_wanted
// CHECK: %[[X:.*]] = relay.layout_transform %x {src_layout = "NHWC", dst_layout = "NCHW"}
// CHECK-NEXT: %[[Y:.*]] = relay.vision.roi_align %[[X]], %r
// CHECK: relay.layout_transform %[[Y]] {src_layout = "NCHW", dst_layout = "NHWC"}
relay.func @regions_are_taken_of_images_in_the_layout_that_is_wanted(%x: tensor<1x6x6x2xf32>, %r: tensor<3x5xf32>) -> tensor<3x2x2x2xf32> {
  %0 = relay.vision.roi_align %x, %r {pooled_size = array<i64: 2, 2>, spatial_scale = 1.0 : f64, sample_ratio = 2 : i64, layout = "NHWC"} : (tensor<1x6x6x2xf32>, tensor<3x5xf32>) -> tensor<3x2x2x2xf32>
  relay.return %0 : tensor<3x2x2x2xf32>
}

// Places along two axes are counted row by row: rows and columns keep their order.
// CHECK-LABEL: relay.func @places_are_counted_in_the_order_of_the_axes
// CHECK: %[[Y:.*]] = relay.nn.conv2d
// CHECK-NEXT: relay.argmax %[[Y]] {axis = array<i64: 2, 3>}
// CHECK-NEXT: relay.layout_transform %[[Y]] {src_layout = "NCHW", dst_layout = "NHWC"}
// CHECK-NEXT: relay.argmax {{.*}} {axis = array<i64: 2, 3>}
relay.func @places_are_counted_in_the_order_of_the_axes(%x: tensor<1x4x4x3xf32>, %w: tensor<1x1x3x2xf32>) -> tuple<tensor<1x2xi32>, tensor<1x4xi32>> {
  %0 = relay.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x4x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x4x4x2xf32>
  %1 = relay.argmax %0 {axis = array<i64: 1, 2>} : (tensor<1x4x4x2xf32>) -> tensor<1x2xi32>
  %2 = relay.argmax %0 {axis = array<i64: 2, 3>} : (tensor<1x4x4x2xf32>) -> tensor<1x4xi32>
  %3 = relay.tuple(%1, %2) : (tensor<1x2xi32>, tensor<1x4xi32>) -> tuple<tensor<1x2xi32>, tensor<1x4xi32>>
  relay.return %3 : tuple<tensor<1x2xi32>, tensor<1x4xi32>>
}

// A sum of all elements says no axes.
// CHECK-LABEL: relay.func @all_elements_are_summed
// CHECK: %[[Y:.*]] = relay.nn.conv2d
// CHECK-NEXT: relay.sum %[[Y]] :
relay.func @all_elements_are_summed(%x: tensor<1x4x4x3xf32>, %w: tensor<1x1x3x2xf32>) -> tensor<f32> {
  %0 = relay.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x4x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x4x4x2xf32>
  %1 = relay.sum %0 : (tensor<1x4x4x2xf32>) -> tensor<f32>
  relay.return %1 : tensor<f32>
}

// CHECK-LABEL: relay.func @quantised_tensors_are_joined
// CHECK: %[[T:.*]] = relay.tuple(%[[Y:.*]], %[[Y]]) : (tensor<1x2x4x4xi8>
// CHECK-NEXT: relay.qnn.concatenate %[[T]], {{.*}} {axis = 1 : i64}
relay.func @quantised_tensors_are_joined(%x: tensor<1x4x4x3xi8>, %w: tensor<1x1x3x2xi8>) -> tensor<1x4x4x4xi8> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<3> : tensor<i32>
  %ss = relay.tuple(%s, %s) : (tensor<f32>, tensor<f32>) -> tuple<tensor<f32>, tensor<f32>>
  %zz = relay.tuple(%z, %z) : (tensor<i32>, tensor<i32>) -> tuple<tensor<i32>, tensor<i32>>
  %0 = relay.qnn.conv2d %x, %w, %z, %z, %s, %s {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x4x4x3xi8>, tensor<1x1x3x2xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x4x4x2xi32>
  %1 = relay.cast %0 {dtype = "int8"} : (tensor<1x4x4x2xi32>) -> tensor<1x4x4x2xi8>
  %2 = relay.tuple(%1, %1) : (tensor<1x4x4x2xi8>, tensor<1x4x4x2xi8>) -> tuple<tensor<1x4x4x2xi8>, tensor<1x4x4x2xi8>>
  %3 = relay.qnn.concatenate %2, %ss, %zz, %s, %z {axis = 3 : i64} : (tuple<tensor<1x4x4x2xi8>, tensor<1x4x4x2xi8>>, tuple<tensor<f32>, tensor<f32>>, tuple<tensor<i32>, tensor<i32>>, tensor<f32>, tensor<i32>) -> tensor<1x4x4x4xi8>
  relay.return %3 : tensor<1x4x4x4xi8>
}

// A layout that an operator has not to choose is no error.
// CHECK-LABEL: relay.func @norms_go_along_all_the_same
// CHECK: %[[Y:.*]] = relay.nn.conv2d
// CHECK-NEXT: relay.nn.batch_norm %[[Y]], %v, %v, %v, %v{{$}}
// CHECK-NEXT: : (tensor<1x2x4x4xf32>
relay.func @norms_go_along_all_the_same(%x: tensor<1x4x4x3xf32>, %w: tensor<1x1x3x2xf32>, %v: tensor<2xf32>) -> tensor<1x4x4x2xf32> {
  %0 = relay.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x4x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x4x4x2xf32>
  %1 = relay.nn.batch_norm %0, %v, %v, %v, %v {axis = 3 : i64} : (tensor<1x4x4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tuple<tensor<1x4x4x2xf32>, tensor<2xf32>, tensor<2xf32>>
  %2 = relay.tuple_get %1[0] : tuple<tensor<1x4x4x2xf32>, tensor<2xf32>, tensor<2xf32>> -> tensor<1x4x4x2xf32>
  relay.return %2 : tensor<1x4x4x2xf32>
}

// BLOCKS-LABEL: relay.func @fields_that_blocks_do_not_divide_are_joined_as_they_were
// BLOCKS: %[[plain:.*]] = relay.layout_transform {{.*}} {src_layout = "NCHW16c", dst_layout = "NCHW"}
// BLOCKS-NEXT: relay.tuple(%[[plain]], %y)
// BLOCKS-NEXT: relay.concatenate
relay.func @fields_that_blocks_do_not_divide_are_joined_as_they_were(%x: tensor<1x16x4x4xf32>, %y: tensor<1x8x4x4xf32>, %w: tensor<16x16x1x1xf32>) -> tensor<1x24x4x4xf32> {
  %0 = relay.nn.conv2d %x, %w : (tensor<1x16x4x4xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x4x4xf32>
  %1 = relay.tuple(%0, %y) : (tensor<1x16x4x4xf32>, tensor<1x8x4x4xf32>) -> tuple<tensor<1x16x4x4xf32>, tensor<1x8x4x4xf32>>
  %2 = relay.concatenate %1 {axis = 1 : i64} : (tuple<tensor<1x16x4x4xf32>, tensor<1x8x4x4xf32>>) -> tensor<1x24x4x4xf32>
  relay.return %2 : tensor<1x24x4x4xf32>
}

// BLOCKS-LABEL: relay.func @fields_that_are_joined_twice
// BLOCKS: relay.concatenate {{.*}} -> tensor<1x2x4x4x16xf32>
// BLOCKS: relay.concatenate {{.*}} -> tensor<1x1x8x4x16xf32>
relay.func @fields_that_are_joined_twice(%x: tensor<1x16x4x4xf32>, %w: tensor<16x16x1x1xf32>) -> tuple<tensor<1x32x4x4xf32>, tensor<1x16x8x4xf32>> {
  %0 = relay.nn.conv2d %x, %w : (tensor<1x16x4x4xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x4x4xf32>
  %r = relay.nn.relu %0 : tensor<1x16x4x4xf32>
  %1 = relay.tuple(%0, %r) : (tensor<1x16x4x4xf32>, tensor<1x16x4x4xf32>) -> tuple<tensor<1x16x4x4xf32>, tensor<1x16x4x4xf32>>
  %2 = relay.concatenate %1 {axis = 1 : i64} : (tuple<tensor<1x16x4x4xf32>, tensor<1x16x4x4xf32>>) -> tensor<1x32x4x4xf32>
  %3 = relay.concatenate %1 {axis = 2 : i64} : (tuple<tensor<1x16x4x4xf32>, tensor<1x16x4x4xf32>>) -> tensor<1x16x8x4xf32>
  %4 = relay.tuple(%2, %3) : (tensor<1x32x4x4xf32>, tensor<1x16x8x4xf32>) -> tuple<tensor<1x32x4x4xf32>, tensor<1x16x8x4xf32>>
  relay.return %4 : tuple<tensor<1x32x4x4xf32>, tensor<1x16x8x4xf32>>
}
