// RUN: weft-opt %s -p dynamic-to-static | filecheck %s

// CHECK-LABEL: relay.func @an_extent_that_is_computed_becomes_known
// CHECK-SAME: -> tensor<4xi32>
// CHECK: relay.add {{.*}} -> tensor<4xi32>
relay.func @an_extent_that_is_computed_becomes_known(%x: tensor<4xf32>, %y: tensor<1xi32>) -> tensor<?xi32> {
  %zero = relay.constant dense<0> : tensor<i32>
  %one = relay.constant dense<1> : tensor<i32>
  %n = relay.ndarray_size %x : (tensor<4xf32>) -> tensor<i32>
  %r = relay.arange %zero, %n, %one {dtype = "int32"} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<?xi32>
  %s = relay.add %r, %y : (tensor<?xi32>, tensor<1xi32>) -> tensor<?xi32>
  relay.return %s : tensor<?xi32>
}

// CHECK-LABEL: relay.func @a_shape_that_is_a_constant_becomes_a_property
// CHECK-NEXT: relay.reshape %x {newshape = array<i64: 8>}
// CHECK-NEXT: relay.add {{.*}} -> tensor<8xf32>
relay.func @a_shape_that_is_a_constant_becomes_a_property(%x: tensor<4x2xf32>, %y: tensor<8xf32>) -> tensor<?xf32> {
  %n = relay.constant dense<[8]> : tensor<1xi64>
  %0 = relay.dyn.reshape %x, %n : (tensor<4x2xf32>, tensor<1xi64>) -> tensor<?xf32>
  %1 = relay.add %0, %y : (tensor<?xf32>, tensor<8xf32>) -> tensor<?xf32>
  relay.return %1 : tensor<?xf32>
}

// CHECK-LABEL: relay.func @what_an_argument_says_stays_unknown
// CHECK: relay.exp %x : tensor<?xf32>
relay.func @what_an_argument_says_stays_unknown(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.exp %x : tensor<?xf32>
  relay.return %0 : tensor<?xf32>
}
