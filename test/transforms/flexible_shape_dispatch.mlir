// RUN: weft-opt %s -p "flexible-shape-dispatch{input-indices=0,1}" | filecheck %s
// RUN: weft-opt %s -p "flexible-shape-dispatch{axis=1 input-indices=0}" | filecheck %s --check-prefix ONE

// CHECK-LABEL: relay.func @main
// CHECK-SAME: %x: tensor<?x8xf32>, %y: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32>
// CHECK-NEXT: dim_names = {{\[\[}}"size", ""], ["size", ""], ["", ""]]
// CHECK: relay.nn.dense {{.*}} -> tensor<?x8xf32>
// CHECK: relay.add {{.*}} -> tensor<?x8xf32>
// CHECK-NEXT: relay.return

// ONE-LABEL: relay.func @main
// ONE-SAME: %x: tensor<4x?xf32>
// ONE: relay.nn.dense {{.*}} -> tensor<4x8xf32>
relay.func @main(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %0 = relay.nn.dense %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = relay.add %0, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  relay.return %1 : tensor<4x8xf32>
}
