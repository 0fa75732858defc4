// RUN: weft-opt %s -p split-args{max-function-args=3} | filecheck %s
// RUN: not weft-opt %s -p split-args{max-function-args=2} 2>&1 | filecheck %s --check-prefix WRONG

// WRONG: the option 'max-function-args' must be at least 3, or -1, not 2

// CHECK-LABEL: relay.func @five_tensors_take_three_steps
// CHECK: relay.concatenate {{.*}}tensor<2x2xf32>
// CHECK-NEXT: relay.annotation.stop_fusion
// CHECK: relay.concatenate {{.*}}tensor<2x2xf32>
// CHECK-NEXT: relay.annotation.stop_fusion
// CHECK: relay.concatenate {{.*}}tensor<2x4xf32>
// CHECK-NEXT: relay.annotation.stop_fusion
// CHECK: relay.concatenate {{.*}}tensor<2x5xf32>
// CHECK-NEXT: relay.return
relay.func @five_tensors_take_three_steps(%x: tensor<2x1xf32>, %y: tensor<2x1xf32>) -> tensor<2x5xf32> {
  %t = relay.tuple(%x, %y, %x, %x, %y) : (tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>) -> tuple<tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>>
  %0 = relay.concatenate %t {axis = -1 : i64} : (tuple<tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>>) -> tensor<2x5xf32>
  relay.return %0 : tensor<2x5xf32>
}

// CHECK-LABEL: relay.func @two_tensors_stay_one_step
// CHECK-NOT: relay.annotation.stop_fusion
// CHECK: relay.return
relay.func @two_tensors_stay_one_step(%x: tensor<2x1xf32>, %y: tensor<2x1xf32>) -> tensor<2x2xf32> {
  %t = relay.tuple(%x, %y) : (tensor<2x1xf32>, tensor<2x1xf32>) -> tuple<tensor<2x1xf32>, tensor<2x1xf32>>
  %0 = relay.concatenate %t {axis = 1 : i64} : (tuple<tensor<2x1xf32>, tensor<2x1xf32>>) -> tensor<2x2xf32>
  relay.return %0 : tensor<2x2xf32>
}
