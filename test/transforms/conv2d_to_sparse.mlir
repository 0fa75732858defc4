// RUN: weft-opt %s -O4 -p "conv2d-to-sparse{weight-name=w weight-shape=3,2,1,3,3 layout=NCHW}" --remarks 2>&1 | filecheck %s

// CHECK: remark: {{.*}}%w is left as it is: it takes steps
// CHECK: remark: {{.*}}%w is left as it is: its layouts are NHWC, HWIO, NHWC
// CHECK: remark: {{.*}}%w is left as it is: it is not only the weight of convolutions

// CHECK-LABEL: relay.func @a_weight_is_taken_by_its_parts(%x: tensor<1x3x5x5xf32>, %w.data: tensor<3x2x1xf32>, %w.indices: tensor<3xi32>, %w.indptr: tensor<3xi32>)
// CHECK: %0 = relay.nn.sparse_conv2d %x, %w.data, %w.indices, %w.indptr {layout = "NCHW"}
// CHECK-NEXT:       : {{.*}} -> tensor<1x4x5x5xf32>
// CHECK-NEXT: relay.nn.relu %0
relay.func @a_weight_is_taken_by_its_parts(%x: tensor<1x3x5x5xf32>, %w: tensor<4x3x1x1xf32>) -> tensor<1x4x5x5xf32> {
  %0 = relay.nn.conv2d %x, %w : (tensor<1x3x5x5xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x5x5xf32>
  %1 = relay.nn.relu %0 : tensor<1x4x5x5xf32>
  relay.return %1 : tensor<1x4x5x5xf32>
}

// CHECK-LABEL: relay.func @one_in_steps_of_two_stays
// CHECK-NEXT: relay.nn.conv2d
relay.func @one_in_steps_of_two_stays(%x: tensor<1x3x5x5xf32>, %w: tensor<4x3x1x1xf32>) -> tensor<1x4x3x3xf32> {
  %0 = relay.nn.conv2d %x, %w {strides = array<i64: 2, 2>} : (tensor<1x3x5x5xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x3x3xf32>
  relay.return %0 : tensor<1x4x3x3xf32>
}

// CHECK-LABEL: relay.func @one_of_another_layout_stays
// CHECK-NEXT: relay.nn.conv2d
relay.func @one_of_another_layout_stays(%x: tensor<1x5x5x3xf32>, %w: tensor<1x1x3x4xf32>) -> tensor<1x5x5x4xf32> {
  %0 = relay.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x5x3xf32>, tensor<1x1x3x4xf32>) -> tensor<1x5x5x4xf32>
  relay.return %0 : tensor<1x5x5x4xf32>
}

// CHECK-LABEL: relay.func @a_weight_that_is_read_as_it_is_stays
// CHECK-NEXT: relay.nn.conv2d
relay.func @a_weight_that_is_read_as_it_is_stays(%x: tensor<1x3x5x5xf32>, %w: tensor<4x3x1x1xf32>) -> tuple<tensor<1x4x5x5xf32>, tensor<4x3x1x1xf32>> {
  %0 = relay.nn.conv2d %x, %w : (tensor<1x3x5x5xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x5x5xf32>
  %1 = relay.abs %w : tensor<4x3x1x1xf32>
  %2 = relay.tuple(%0, %1) : (tensor<1x4x5x5xf32>, tensor<4x3x1x1xf32>) -> tuple<tensor<1x4x5x5xf32>, tensor<4x3x1x1xf32>>
  relay.return %2 : tuple<tensor<1x4x5x5xf32>, tensor<4x3x1x1xf32>>
}
