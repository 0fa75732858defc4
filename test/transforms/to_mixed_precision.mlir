// RUN: weft-opt %s -p to-mixed-precision | filecheck %s
// RUN: weft-opt %s -p 'to-mixed-precision{mixed-precision-type=bfloat16 keep-orig-output-dtype=true}' | filecheck %s --check-prefix KEEP
// RUN: weft-opt %s -p 'to-mixed-precision{mixed-precision-type=float64}' | filecheck %s --check-prefix LONG

// LONG-LABEL: relay.func @a_network
// LONG: relay.nn.dense {{.*}} {out_dtype = "float64"} : (tensor<2x4xf64>, tensor<3x4xf64>) -> tensor<2x3xf64>

// CHECK-LABEL: relay.func @a_network
// CHECK-SAME: -> tensor<2x3xf32>
// CHECK-NEXT: %[[X:.*]] = relay.cast %x {dtype = "float16"}
// CHECK-NEXT: %[[W:.*]] = relay.cast %w {dtype = "float16"}
// CHECK-NEXT: %[[Y:.*]] = relay.nn.dense %[[X]], %[[W]] {out_dtype = "float16"} : (tensor<2x4xf16>, tensor<3x4xf16>) -> tensor<2x3xf16>
// CHECK-NEXT: %[[B:.*]] = relay.cast %b {dtype = "float16"}
// CHECK-NEXT: %[[Z:.*]] = relay.nn.bias_add %[[Y]], %[[B]]
// CHECK-NEXT: %[[L:.*]] = relay.cast %[[Z]] {dtype = "float32"}
// CHECK-NEXT: %[[S:.*]] = relay.nn.softmax %[[L]]
// CHECK-NEXT: %[[A:.*]] = relay.add %[[S]], %[[L]] : (tensor<2x3xf32>, tensor<2x3xf32>)
// CHECK-NEXT: relay.return %[[A]]
relay.func @a_network(%x: tensor<2x4xf32>, %w: tensor<3x4xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = relay.nn.dense %x, %w : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %1 = relay.nn.bias_add %0, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %2 = relay.nn.softmax %1 : tensor<2x3xf32>
  %3 = relay.add %2, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  relay.return %3 : tensor<2x3xf32>
}

// CHECK-LABEL: relay.func @short_results_are_given_as_such
// CHECK-SAME: -> tuple<tensor<2x3xf16>, tensor<2xi32>>
// CHECK: relay.nn.relu {{.*}}tensor<2x3xf16>
// CHECK: relay.argmax {{.*}}(tensor<2x3xf16>) -> tensor<2xi32>
// KEEP-LABEL: relay.func @short_results_are_given_as_such
// KEEP-SAME: -> tuple<tensor<2x3xf32>, tensor<2xi32>>
// KEEP: relay.nn.dense {{.*}}out_dtype = "bfloat16"
// KEEP: relay.nn.relu {{.*}}tensor<2x3xbf16>
relay.func @short_results_are_given_as_such(%x: tensor<2x4xf32>, %w: tensor<3x4xf32>) -> tuple<tensor<2x3xf32>, tensor<2xi32>> {
  %0 = relay.nn.dense %x, %w : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %1 = relay.nn.relu %0 : tensor<2x3xf32>
  %2 = relay.argmax %1 {axis = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xi32>
  %3 = relay.tuple(%1, %2) : (tensor<2x3xf32>, tensor<2xi32>) -> tuple<tensor<2x3xf32>, tensor<2xi32>>
  relay.return %3 : tuple<tensor<2x3xf32>, tensor<2xi32>>
}

// What a branch sees and gives, and what is called, keep their types.
// CHECK-LABEL: relay.func @calls_and_branches_keep_their_types
// CHECK: %[[Y:.*]] = relay.nn.dense {{.*}}-> tensor<2x4xf16>
// CHECK: relay.if %c : (tensor<i1>) -> tensor<2x4xf32>
// CHECK-NEXT: %[[T:.*]] = relay.nn.relu %[[Y]] : tensor<2x4xf16>
// CHECK-NEXT: %[[U:.*]] = relay.cast %[[T]] {dtype = "float32"}
// CHECK-NEXT: relay.yield %[[U]]
// CHECK: %[[V:.*]] = relay.cast %[[Y]] {dtype = "float32"}
// CHECK-NEXT: relay.yield %[[V]]
// CHECK: relay.call @callee({{.*}}) : (tensor<2x4xf32>) -> tensor<2x4xf32>
relay.func @calls_and_branches_keep_their_types(%c: tensor<i1>, %x: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %0 = relay.nn.dense %x, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %1 = relay.if %c : (tensor<i1>) -> tensor<2x4xf32> {
    %3 = relay.nn.relu %0 : tensor<2x4xf32>
    relay.yield %3 : tensor<2x4xf32>
  } else {
    relay.yield %0 : tensor<2x4xf32>
  }
  %2 = relay.call @callee(%1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  relay.return %2 : tensor<2x4xf32>
}
// CHECK-LABEL: relay.func @callee
// CHECK-SAME: -> tensor<2x4xf32>
relay.func @callee(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = relay.nn.relu %x : tensor<2x4xf32>
  relay.return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: relay.func @doubles_integers_and_what_is_read_as_an_index_stay
// CHECK-NOT: f16
// CHECK: relay.return
relay.func @doubles_integers_and_what_is_read_as_an_index_stay(%x: tensor<2x4xf64>, %i: tensor<2xi32>, %p: tensor<2xf32>) -> (tensor<2x4xf64>, tensor<2xi32>, tensor<2xi32>, tensor<1x1xi32>) {
  %0 = relay.add %x, %x : (tensor<2x4xf64>, tensor<2x4xf64>) -> tensor<2x4xf64>
  %1 = relay.add %i, %i : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  %w = relay.constant dense<2> : tensor<1x2xi32>
  %3 = relay.nn.dense %w, %w : (tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<1x1xi32>
  %2 = relay.cast %p {dtype = "int32"} : (tensor<2xf32>) -> tensor<2xi32>
  relay.return %0, %1, %2, %3 : tensor<2x4xf64>, tensor<2xi32>, tensor<2xi32>, tensor<1x1xi32>
}

// CHECK-LABEL: relay.func @a_join_of_short_and_long_is_long
// CHECK: relay.nn.conv1d {{.*}}tensor<1x1x3xf16>
// CHECK: relay.concatenate {{.*}} -> tensor<1x2x3xf32>
relay.func @a_join_of_short_and_long_is_long(%x: tensor<1x1x3xf32>, %w: tensor<1x1x1xf32>) -> tensor<1x2x3xf32> {
  %0 = relay.nn.conv1d %x, %w : (tensor<1x1x3xf32>, tensor<1x1x1xf32>) -> tensor<1x1x3xf32>
  %1 = relay.exp %x : tensor<1x1x3xf32>
  %2 = relay.tuple(%0, %1) : (tensor<1x1x3xf32>, tensor<1x1x3xf32>) -> tuple<tensor<1x1x3xf32>, tensor<1x1x3xf32>>
  %3 = relay.concatenate %2 {axis = 1 : i64} : (tuple<tensor<1x1x3xf32>, tensor<1x1x3xf32>>) -> tensor<1x2x3xf32>
  relay.return %3 : tensor<1x2x3xf32>
}

// What was tried leaves nothing behind: scales are f32.

// CHECK-LABEL: relay.func @scales_of_quantised_values_stay
// CHECK-NOT: f16
// CHECK: relay.return
relay.func @scales_of_quantised_values_stay(%x: tensor<2x4xi8>) -> tensor<2x4xi8> {
  %s = relay.constant dense<5.0e-01> : tensor<f32>
  %z = relay.constant dense<3> : tensor<i32>
  %0 = relay.qnn.abs %x, %s, %z, %s, %z : (tensor<2x4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<2x4xi8>
  relay.return %0 : tensor<2x4xi8>
}

// CHECK-LABEL: relay.func @a_join_of_short_values_is_short
// CHECK: relay.concatenate {{.*}} -> tensor<1x2x3xf16>
relay.func @a_join_of_short_values_is_short(%x: tensor<1x1x3xf32>, %w: tensor<1x1x1xf32>) -> tensor<1x2x3xf32> {
  %0 = relay.nn.conv1d %x, %w : (tensor<1x1x3xf32>, tensor<1x1x1xf32>) -> tensor<1x1x3xf32>
  %1 = relay.tuple(%0, %0) : (tensor<1x1x3xf32>, tensor<1x1x3xf32>) -> tuple<tensor<1x1x3xf32>, tensor<1x1x3xf32>>
  %2 = relay.concatenate %1 {axis = 1 : i64} : (tuple<tensor<1x1x3xf32>, tensor<1x1x3xf32>>) -> tensor<1x2x3xf32>
  relay.return %2 : tensor<1x2x3xf32>
}
