// RUN: weft-opt %s -O4 -p combine-parallel-dense{min-num-branches=2} | filecheck %s
// RUN: weft-opt %s -O4 -p 'combine-parallel-dense{min-num-branches=2 to-batch=false}' | filecheck %s --check-prefix FLAT

// CHECK-LABEL: relay.func @layers_become_a_batch
// CHECK: %[[X:.*]] = relay.stack
// CHECK: %[[W:.*]] = relay.stack
// CHECK: relay.nn.batch_matmul %[[X]], %[[W]] : (tensor<2x2x4xf32>, tensor<2x3x4xf32>) -> tensor<2x2x3xf32>
// CHECK: relay.expand_dims %b1
// CHECK: relay.expand_dims %b2
// CHECK: relay.add
// CHECK: relay.split {{.*}} {indices_or_sections = 2 : i64
// CHECK: relay.squeeze
// CHECK: relay.squeeze
// CHECK: relay.nn.dense %x, %w3
// FLAT-LABEL: relay.func @layers_become_a_batch
// FLAT: relay.nn.dense {{.*}}-> tensor<2x8xf32>
// FLAT: relay.strided_slice {{.*}}end = array<i64: -1, 3>
// FLAT: relay.strided_slice
// FLAT: relay.strided_slice {{.*}}begin = array<i64: 0, 6>, end = array<i64: -1, 2>
relay.func @layers_become_a_batch(%x: tensor<2x4xf32>, %w1: tensor<3x4xf32>, %w2: tensor<3x4xf32>, %w3: tensor<2x4xf32>, %b1: tensor<3xf32>, %b2: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x2xf32>) {
  %0 = relay.nn.dense %x, %w1 : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %1 = relay.add %0, %b1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %2 = relay.nn.dense %x, %w2 : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %3 = relay.add %2, %b2 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %4 = relay.nn.dense %x, %w3 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x2xf32>
  relay.return %1, %3, %4 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x2xf32>
}

// CHECK-LABEL: relay.func @a_dynamic_batch_is_left
// CHECK-NOT: relay.stack
// CHECK: relay.return
// FLAT-LABEL: relay.func @a_dynamic_batch_is_left
// FLAT: relay.nn.dense {{.*}}units = 6 : i64{{.*}}-> tensor<?x6xf32>
relay.func @a_dynamic_batch_is_left(%x: tensor<?x4xf32>, %w1: tensor<3x4xf32>, %w2: tensor<3x4xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>) {
  %0 = relay.nn.dense %x, %w1 {units = 3 : i64} : (tensor<?x4xf32>, tensor<3x4xf32>) -> tensor<?x3xf32>
  %1 = relay.nn.dense %x, %w2 {units = 3 : i64} : (tensor<?x4xf32>, tensor<3x4xf32>) -> tensor<?x3xf32>
  relay.return %0, %1 : tensor<?x3xf32>, tensor<?x3xf32>
}

// FLAT-LABEL: relay.func @a_bias_that_is_one_for_all_columns_is_repeated
// FLAT: %[[ONE:.*]] = relay.expand_dims %b1 {axis = -1 : i64}
// FLAT: %[[ROW:.*]] = relay.repeat %[[ONE]] {repeats = 3 : i64, axis = 0 : i64}
// FLAT: relay.tuple(%[[ROW]], %b2)
// FLAT: relay.add {{.*}} -> tensor<2x8xf32>
// FLAT: end = array<i64: -1, 3>
// FLAT: end = array<i64: -1, 5>
relay.func @a_bias_that_is_one_for_all_columns_is_repeated(%x: tensor<2x4xf32>, %w1: tensor<3x4xf32>, %w2: tensor<5x4xf32>, %b1: tensor<f32>, %b2: tensor<5xf32>) -> (tensor<2x3xf32>, tensor<2x5xf32>) {
  %0 = relay.nn.dense %x, %w1 : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %1 = relay.add %0, %b1 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = relay.nn.dense %x, %w2 : (tensor<2x4xf32>, tensor<5x4xf32>) -> tensor<2x5xf32>
  %3 = relay.add %2, %b2 : (tensor<2x5xf32>, tensor<5xf32>) -> tensor<2x5xf32>
  relay.return %1, %3 : tensor<2x3xf32>, tensor<2x5xf32>
}

// FLAT-LABEL: relay.func @what_is_added_may_have_more_dimensions_in_front
// FLAT: relay.repeat %b1 {repeats = 3 : i64, axis = 2 : i64} : (tensor<6x1x1xf32>) -> tensor<6x1x3xf32>
// FLAT: relay.concatenate {{.*}} {axis = 2 : i64}
// FLAT: relay.add {{.*}} -> tensor<6x2x8xf32>
// FLAT: end = array<i64: -1, -1, 3>
// FLAT: end = array<i64: -1, -1, 5>
relay.func @what_is_added_may_have_more_dimensions_in_front(%x: tensor<2x4xf32>, %w1: tensor<3x4xf32>, %w2: tensor<5x4xf32>, %b1: tensor<6x1x1xf32>, %b2: tensor<6x1x5xf32>) -> (tensor<6x2x3xf32>, tensor<6x2x5xf32>) {
  %0 = relay.nn.dense %x, %w1 : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %1 = relay.add %0, %b1 : (tensor<2x3xf32>, tensor<6x1x1xf32>) -> tensor<6x2x3xf32>
  %2 = relay.nn.dense %x, %w2 : (tensor<2x4xf32>, tensor<5x4xf32>) -> tensor<2x5xf32>
  %3 = relay.add %2, %b2 : (tensor<2x5xf32>, tensor<6x1x5xf32>) -> tensor<6x2x5xf32>
  relay.return %1, %3 : tensor<6x2x3xf32>, tensor<6x2x5xf32>
}

// FLAT-LABEL: relay.func @new_axes_are_put_in_once
// FLAT: relay.nn.dense
// FLAT-NEXT: relay.expand_dims {{.*}} -> tensor<2x24x1xf32>
// FLAT-NOT: relay.expand_dims
// FLAT: relay.add {{.*}} -> tensor<2x24x1xf32>
// FLAT-NEXT: relay.strided_slice {{.*}}begin = array<i64: 0, 0>, end = array<i64: -1, 16>
// FLAT: relay.strided_slice {{.*}}begin = array<i64: 0, 16>, end = array<i64: -1, 8>
relay.func @new_axes_are_put_in_once(%x: tensor<2x32xf32>, %w1: tensor<16x32xf32>, %w2: tensor<8x32xf32>, %b: tensor<16x1xf32>, %c: tensor<8x1xf32>) -> (tensor<2x16x1xf32>, tensor<2x8x1xf32>) {
  %0 = relay.nn.dense %x, %w1 : (tensor<2x32xf32>, tensor<16x32xf32>) -> tensor<2x16xf32>
  %1 = relay.nn.dense %x, %w2 : (tensor<2x32xf32>, tensor<8x32xf32>) -> tensor<2x8xf32>
  %2 = relay.expand_dims %0 {axis = 2 : i64} : (tensor<2x16xf32>) -> tensor<2x16x1xf32>
  %3 = relay.expand_dims %1 {axis = 2 : i64} : (tensor<2x8xf32>) -> tensor<2x8x1xf32>
  %4 = relay.add %2, %b : (tensor<2x16x1xf32>, tensor<16x1xf32>) -> tensor<2x16x1xf32>
  %5 = relay.add %3, %c : (tensor<2x8x1xf32>, tensor<8x1xf32>) -> tensor<2x8x1xf32>
  relay.return %4, %5 : tensor<2x16x1xf32>, tensor<2x8x1xf32>
}
