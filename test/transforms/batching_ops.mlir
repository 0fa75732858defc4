// RUN: weft-opt %s -O4 -p batching-ops | filecheck %s
// RUN: weft-opt %s -O3 -p batching-ops | filecheck %s --check-prefix LOW

// CHECK-LABEL: relay.func @three_of_a_kind_become_one
// CHECK: relay.nn.batch_matmul
// CHECK-NOT: relay.nn.dense
// LOW-LABEL: relay.func @three_of_a_kind_become_one
// LOW-NOT: relay.nn.batch_matmul
// LOW: relay.return
relay.func @three_of_a_kind_become_one(%x: tensor<2x4xf32>, %w1: tensor<3x4xf32>, %w2: tensor<3x4xf32>, %w3: tensor<3x4xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = relay.nn.dense %x, %w1 : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %1 = relay.nn.dense %x, %w2 : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %2 = relay.nn.dense %x, %w3 : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  relay.return %0, %1, %2 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: relay.func @two_of_a_kind_stay_two
// CHECK-NOT: relay.nn.batch_matmul
// CHECK: relay.return
relay.func @two_of_a_kind_stay_two(%x: tensor<2x4xf32>, %w1: tensor<3x4xf32>, %w2: tensor<3x4xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = relay.nn.dense %x, %w1 : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %1 = relay.nn.dense %x, %w2 : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  relay.return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}
