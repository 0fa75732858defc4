// RUN: weft-opt %s --verify-roundtrip | filecheck %s
// RUN: weft-opt %s --mlir-print-op-generic | weft-opt - | filecheck %s

// Properties that have their default values are not printed; those that are given stay as they are.
// CHECK-LABEL: relay.func @properties
relay.func @properties(%x: tensor<1x4x8x8xf32>, %w: tensor<8x2x3x3xf32>) -> tensor<1x8x4x4xf32> {
  // CHECK-NEXT: %y = relay.nn.conv2d %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>, groups = 2 : i64, channels = 8 : i64, kernel_size = array<i64: 3, 3>}
  // CHECK-NEXT:     :
  // CHECK-SAME: (tensor<1x4x8x8xf32>, tensor<8x2x3x3xf32>) -> tensor<1x8x4x4xf32>
  %y = relay.nn.conv2d %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>, dilation = array<i64: 1, 1>, groups = 2 : i64, channels = 8 : i64, kernel_size = array<i64: 3, 3>} : (tensor<1x4x8x8xf32>, tensor<8x2x3x3xf32>) -> tensor<1x8x4x4xf32>
  // CHECK-NEXT: relay.nn.leaky_relu %y {alpha = 2.000000e-01 : f64} : tensor<1x8x4x4xf32>
  %z = relay.nn.leaky_relu %y {alpha = 0.2 : f64} : tensor<1x8x4x4xf32>
  // CHECK-NEXT: relay.nn.softmax %z : tensor<1x8x4x4xf32>
  %s = relay.nn.softmax %z : tensor<1x8x4x4xf32>
  relay.return %s : tensor<1x8x4x4xf32>
}

// Dynamic dimensions stay dynamic through windows, channels come from the weight.
// CHECK-LABEL: relay.func @dynamic_dimensions
relay.func @dynamic_dimensions(%x: tensor<?x3x?x32xf32>, %w: tensor<8x3x3x3xf32>, %v: tensor<5x?xf32>) -> tensor<?x5xf32> {
  // CHECK-NEXT: relay.nn.conv2d {{.*}} -> tensor<?x8x?x30xf32>
  %0 = relay.nn.conv2d %x, %w : (tensor<?x3x?x32xf32>, tensor<8x3x3x3xf32>) -> tensor<?x8x?x30xf32>
  // CHECK-NEXT: relay.nn.max_pool2d {{.*}} -> tensor<?x8x?x15xf32>
  %1 = relay.nn.max_pool2d %0 {pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<?x8x?x30xf32>) -> tensor<?x8x?x15xf32>
  // CHECK-NEXT: relay.nn.batch_flatten {{.*}} -> tensor<?x?xf32>
  %2 = relay.nn.batch_flatten %1 : (tensor<?x8x?x15xf32>) -> tensor<?x?xf32>
  // CHECK-NEXT: relay.nn.dense {{.*}} -> tensor<?x5xf32>
  %3 = relay.nn.dense %2, %v : (tensor<?x?xf32>, tensor<5x?xf32>) -> tensor<?x5xf32>
  relay.return %3 : tensor<?x5xf32>
}

// A declared dimension may say more than what can be inferred.
// CHECK-LABEL: relay.func @declared_dimension
relay.func @declared_dimension(%x: tensor<2x?x3xf32>) -> tensor<2x12xf32> {
  // CHECK-NEXT: relay.nn.batch_flatten {{.*}} -> tensor<2x12xf32>
  %y = relay.nn.batch_flatten %x : (tensor<2x?x3xf32>) -> tensor<2x12xf32>
  relay.return %y : tensor<2x12xf32>
}

// CHECK-LABEL: relay.func @tuple_results
relay.func @tuple_results(%x: tensor<1x2x3x3xf32>, %c: tensor<2xf32>) -> tensor<1x2x3x3xf32> {
  // CHECK-NEXT: relay.nn.batch_norm {{.*}} {epsilon = 1.000000e-03 : f64, scale = false}
  // CHECK-NEXT:     : {{.*}} -> tuple<tensor<1x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>>
  %t = relay.nn.batch_norm %x, %c, %c, %c, %c {epsilon = 0.001 : f64, scale = false} : (tensor<1x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tuple<tensor<1x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>>
  %y = relay.tuple_get %t[0] : tuple<tensor<1x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>> -> tensor<1x2x3x3xf32>
  // CHECK: relay.nn.dropout
  %d = relay.nn.dropout %y : (tensor<1x2x3x3xf32>) -> tuple<tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>>
  %z = relay.tuple_get %d[0] : tuple<tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>> -> tensor<1x2x3x3xf32>
  relay.return %z : tensor<1x2x3x3xf32>
}

// Channels in blocks: the last one is not full, and cut off on the way back.
// CHECK-LABEL: relay.func @channel_blocks
relay.func @channel_blocks(%x: tensor<?x20x8x8xf32>, %w: tensor<2x2x1x1x16x16xf32>) -> tensor<?x20x4x4xf32> {
  // CHECK-NEXT: relay.layout_transform %x {src_layout = "NCHW", dst_layout = "NCHW16c"} : (tensor<?x20x8x8xf32>) -> tensor<?x2x8x8x16xf32>
  %0 = relay.layout_transform %x {src_layout = "NCHW", dst_layout = "NCHW16c"} : (tensor<?x20x8x8xf32>) -> tensor<?x2x8x8x16xf32>
  // CHECK-NEXT: relay.nn.contrib_conv2d_NCHWc
  %1 = relay.nn.contrib_conv2d_NCHWc %0, %w {data_layout = "NCHW16c", kernel_layout = "OIHW16i16o", channels = 20 : i64} : (tensor<?x2x8x8x16xf32>, tensor<2x2x1x1x16x16xf32>) -> tensor<?x2x8x8x16xf32>
  // CHECK-NEXT:     : (tensor<?x2x8x8x16xf32>, tensor<2x2x1x1x16x16xf32>) -> tensor<?x2x8x8x16xf32>
  // CHECK-NEXT: relay.nn.max_pool2d {{.*}} layout = "NCHW16c"
  %2 = relay.nn.max_pool2d %1 {pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>, layout = "NCHW16c"} : (tensor<?x2x8x8x16xf32>) -> tensor<?x2x4x4x16xf32>
  // CHECK-NEXT:     : (tensor<?x2x8x8x16xf32>) -> tensor<?x2x4x4x16xf32>
  // CHECK-NEXT: relay.layout_transform {{.*}} {src_layout = "NCHW16c", dst_layout = "NCHW", extents = array<i64: 0, 20, 0, 0>}
  // CHECK-NEXT:     : (tensor<?x2x4x4x16xf32>) -> tensor<?x20x4x4xf32>
  %3 = relay.layout_transform %2 {src_layout = "NCHW16c", dst_layout = "NCHW", extents = array<i64: 0, 20, 0, 0>} : (tensor<?x2x4x4x16xf32>) -> tensor<?x20x4x4xf32>
  relay.return %3 : tensor<?x20x4x4xf32>
}
