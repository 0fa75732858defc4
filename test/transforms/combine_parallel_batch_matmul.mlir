// RUN: weft-opt %s -O4 -p combine-parallel-batch-matmul{min-num-branches=2} | filecheck %s

// CHECK-LABEL: relay.func @right_sides_are_concatenated
// CHECK: relay.concatenate {{.*}} {axis = 1 : i64}
// CHECK: relay.nn.batch_matmul {{.*}}-> tensor<2x3x8xf32>
// CHECK: relay.nn.relu
// CHECK: relay.strided_slice {{.*}}begin = array<i64: 0, 0, 0>, end = array<i64: -1, -1, 5>
// CHECK: relay.strided_slice {{.*}}begin = array<i64: 0, 0, 5>, end = array<i64: -1, -1, 3>
relay.func @right_sides_are_concatenated(%x: tensor<2x3x4xf32>, %y1: tensor<2x5x4xf32>, %y2: tensor<2x3x4xf32>) -> (tensor<2x3x5xf32>, tensor<2x3x3xf32>) {
  %0 = relay.nn.batch_matmul %x, %y1 : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  %1 = relay.nn.relu %0 : tensor<2x3x5xf32>
  %2 = relay.nn.batch_matmul %x, %y2 : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x3xf32>
  %3 = relay.nn.relu %2 : tensor<2x3x3xf32>
  relay.return %1, %3 : tensor<2x3x5xf32>, tensor<2x3x3xf32>
}

// CHECK-LABEL: relay.func @plain_right_sides_along_their_last_axis
// CHECK: relay.concatenate {{.*}} {axis = 2 : i64}
relay.func @plain_right_sides_along_their_last_axis(%x: tensor<2x3x4xf32>, %y1: tensor<1x4x5xf32>, %y2: tensor<1x4x3xf32>) -> (tensor<2x3x5xf32>, tensor<2x3x3xf32>) {
  %0 = relay.nn.batch_matmul %x, %y1 {transpose_b = false} : (tensor<2x3x4xf32>, tensor<1x4x5xf32>) -> tensor<2x3x5xf32>
  %1 = relay.nn.batch_matmul %x, %y2 {transpose_b = false} : (tensor<2x3x4xf32>, tensor<1x4x3xf32>) -> tensor<2x3x3xf32>
  relay.return %0, %1 : tensor<2x3x5xf32>, tensor<2x3x3xf32>
}

// CHECK-LABEL: relay.func @batches_of_one_and_two_do_not_combine
// CHECK-NOT: relay.concatenate
// CHECK: relay.return
relay.func @batches_of_one_and_two_do_not_combine(%x: tensor<2x3x4xf32>, %y1: tensor<1x5x4xf32>, %y2: tensor<2x3x4xf32>) -> (tensor<2x3x5xf32>, tensor<2x3x3xf32>) {
  %0 = relay.nn.batch_matmul %x, %y1 : (tensor<2x3x4xf32>, tensor<1x5x4xf32>) -> tensor<2x3x5xf32>
  %1 = relay.nn.batch_matmul %x, %y2 : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x3xf32>
  relay.return %0, %1 : tensor<2x3x5xf32>, tensor<2x3x3xf32>
}
