// RUN: weft-opt %s -p label-ops | filecheck %s

// CHECK-LABEL: relay.func @first
// CHECK-SAME: hash = "[[HASH:[0-9a-f]+]]"
// CHECK-SAME: layout = "NHWC"
relay.func @first(%x: tensor<1x4x4x2xf32>) -> tensor<1x3x3x2xf32> {
  %0 = relay.nn.max_pool2d %x {pool_size = array<i64: 2, 2>, layout = "NHWC"} : (tensor<1x4x4x2xf32>) -> tensor<1x3x3x2xf32>
  relay.return %0 : tensor<1x3x3x2xf32>
}

// CHECK-LABEL: relay.func @equal_but_for_names
// CHECK-SAME: hash = "[[HASH]]"
relay.func @equal_but_for_names(%y: tensor<1x4x4x2xf32>) -> tensor<1x3x3x2xf32> {
  %z = relay.nn.max_pool2d %y {pool_size = array<i64: 2, 2>, layout = "NHWC"} : (tensor<1x4x4x2xf32>) -> tensor<1x3x3x2xf32>
  relay.return %z : tensor<1x3x3x2xf32>
}

// CHECK-LABEL: relay.func @labelled_already
// CHECK-SAME: hash = "mine"
relay.func @labelled_already(%x: tensor<2xf32>) -> tensor<2xf32> attributes {hash = "mine"} {
  relay.return %x : tensor<2xf32>
}
