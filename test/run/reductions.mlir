// RUN: weft-run %s --function '*' --compare interpreter --quiet | filecheck %s

// Reductions over each axis and set of axes.

// CHECK: @sum_0
// CHECK-NEXT: equal to interpreter
relay.func @sum_0(%x: tensor<3x5x7xf32>) -> tensor<5x7xf32> {
  %y = relay.sum %x {axis = array<i64: 0>} : (tensor<3x5x7xf32>) -> tensor<5x7xf32>
  relay.return %y : tensor<5x7xf32>
}

// CHECK: @sum_1
// CHECK-NEXT: equal to interpreter
relay.func @sum_1(%x: tensor<3x5x7xf32>) -> tensor<3x7xf32> {
  %y = relay.sum %x {axis = array<i64: 1>} : (tensor<3x5x7xf32>) -> tensor<3x7xf32>
  relay.return %y : tensor<3x7xf32>
}

// CHECK: @sum_2
// CHECK-NEXT: equal to interpreter
relay.func @sum_2(%x: tensor<3x5x7xf32>) -> tensor<3x5xf32> {
  %y = relay.sum %x {axis = array<i64: 2>} : (tensor<3x5x7xf32>) -> tensor<3x5xf32>
  relay.return %y : tensor<3x5xf32>
}

// CHECK: @sum_0_1
// CHECK-NEXT: equal to interpreter
relay.func @sum_0_1(%x: tensor<3x5x7xf32>) -> tensor<7xf32> {
  %y = relay.sum %x {axis = array<i64: 0, 1>} : (tensor<3x5x7xf32>) -> tensor<7xf32>
  relay.return %y : tensor<7xf32>
}

// CHECK: @sum_0_2
// CHECK-NEXT: equal to interpreter
relay.func @sum_0_2(%x: tensor<3x5x7xf32>) -> tensor<5xf32> {
  %y = relay.sum %x {axis = array<i64: 0, 2>} : (tensor<3x5x7xf32>) -> tensor<5xf32>
  relay.return %y : tensor<5xf32>
}

// CHECK: @sum_1_2
// CHECK-NEXT: equal to interpreter
relay.func @sum_1_2(%x: tensor<3x5x7xf32>) -> tensor<3xf32> {
  %y = relay.sum %x {axis = array<i64: 1, 2>} : (tensor<3x5x7xf32>) -> tensor<3xf32>
  relay.return %y : tensor<3xf32>
}

// CHECK: @sum_0_1_2
// CHECK-NEXT: equal to interpreter
relay.func @sum_0_1_2(%x: tensor<3x5x7xf32>) -> tensor<f32> {
  %y = relay.sum %x {axis = array<i64: 0, 1, 2>} : (tensor<3x5x7xf32>) -> tensor<f32>
  relay.return %y : tensor<f32>
}

// CHECK: @mean_0
// CHECK-NEXT: equal to interpreter
relay.func @mean_0(%x: tensor<3x5x7xf32>) -> tensor<5x7xf32> {
  %y = relay.mean %x {axis = array<i64: 0>} : (tensor<3x5x7xf32>) -> tensor<5x7xf32>
  relay.return %y : tensor<5x7xf32>
}

// CHECK: @mean_1
// CHECK-NEXT: equal to interpreter
relay.func @mean_1(%x: tensor<3x5x7xf32>) -> tensor<3x7xf32> {
  %y = relay.mean %x {axis = array<i64: 1>} : (tensor<3x5x7xf32>) -> tensor<3x7xf32>
  relay.return %y : tensor<3x7xf32>
}

// CHECK: @mean_2
// CHECK-NEXT: equal to interpreter
relay.func @mean_2(%x: tensor<3x5x7xf32>) -> tensor<3x5xf32> {
  %y = relay.mean %x {axis = array<i64: 2>} : (tensor<3x5x7xf32>) -> tensor<3x5xf32>
  relay.return %y : tensor<3x5xf32>
}

// CHECK: @mean_0_1
// CHECK-NEXT: equal to interpreter
relay.func @mean_0_1(%x: tensor<3x5x7xf32>) -> tensor<7xf32> {
  %y = relay.mean %x {axis = array<i64: 0, 1>} : (tensor<3x5x7xf32>) -> tensor<7xf32>
  relay.return %y : tensor<7xf32>
}

// CHECK: @mean_0_2
// CHECK-NEXT: equal to interpreter
relay.func @mean_0_2(%x: tensor<3x5x7xf32>) -> tensor<5xf32> {
  %y = relay.mean %x {axis = array<i64: 0, 2>} : (tensor<3x5x7xf32>) -> tensor<5xf32>
  relay.return %y : tensor<5xf32>
}

// CHECK: @mean_1_2
// CHECK-NEXT: equal to interpreter
relay.func @mean_1_2(%x: tensor<3x5x7xf32>) -> tensor<3xf32> {
  %y = relay.mean %x {axis = array<i64: 1, 2>} : (tensor<3x5x7xf32>) -> tensor<3xf32>
  relay.return %y : tensor<3xf32>
}

// CHECK: @mean_0_1_2
// CHECK-NEXT: equal to interpreter
relay.func @mean_0_1_2(%x: tensor<3x5x7xf32>) -> tensor<f32> {
  %y = relay.mean %x {axis = array<i64: 0, 1, 2>} : (tensor<3x5x7xf32>) -> tensor<f32>
  relay.return %y : tensor<f32>
}

// CHECK: @max_0
// CHECK-NEXT: equal to interpreter
relay.func @max_0(%x: tensor<3x5x7xf32>) -> tensor<5x7xf32> {
  %y = relay.max %x {axis = array<i64: 0>} : (tensor<3x5x7xf32>) -> tensor<5x7xf32>
  relay.return %y : tensor<5x7xf32>
}

// CHECK: @max_1
// CHECK-NEXT: equal to interpreter
relay.func @max_1(%x: tensor<3x5x7xf32>) -> tensor<3x7xf32> {
  %y = relay.max %x {axis = array<i64: 1>} : (tensor<3x5x7xf32>) -> tensor<3x7xf32>
  relay.return %y : tensor<3x7xf32>
}

// CHECK: @max_2
// CHECK-NEXT: equal to interpreter
relay.func @max_2(%x: tensor<3x5x7xf32>) -> tensor<3x5xf32> {
  %y = relay.max %x {axis = array<i64: 2>} : (tensor<3x5x7xf32>) -> tensor<3x5xf32>
  relay.return %y : tensor<3x5xf32>
}

// CHECK: @max_0_1
// CHECK-NEXT: equal to interpreter
relay.func @max_0_1(%x: tensor<3x5x7xf32>) -> tensor<7xf32> {
  %y = relay.max %x {axis = array<i64: 0, 1>} : (tensor<3x5x7xf32>) -> tensor<7xf32>
  relay.return %y : tensor<7xf32>
}

// CHECK: @max_0_2
// CHECK-NEXT: equal to interpreter
relay.func @max_0_2(%x: tensor<3x5x7xf32>) -> tensor<5xf32> {
  %y = relay.max %x {axis = array<i64: 0, 2>} : (tensor<3x5x7xf32>) -> tensor<5xf32>
  relay.return %y : tensor<5xf32>
}

// CHECK: @max_1_2
// CHECK-NEXT: equal to interpreter
relay.func @max_1_2(%x: tensor<3x5x7xf32>) -> tensor<3xf32> {
  %y = relay.max %x {axis = array<i64: 1, 2>} : (tensor<3x5x7xf32>) -> tensor<3xf32>
  relay.return %y : tensor<3xf32>
}

// CHECK: @max_0_1_2
// CHECK-NEXT: equal to interpreter
relay.func @max_0_1_2(%x: tensor<3x5x7xf32>) -> tensor<f32> {
  %y = relay.max %x {axis = array<i64: 0, 1, 2>} : (tensor<3x5x7xf32>) -> tensor<f32>
  relay.return %y : tensor<f32>
}

// CHECK: @min_0
// CHECK-NEXT: equal to interpreter
relay.func @min_0(%x: tensor<3x5x7xf32>) -> tensor<5x7xf32> {
  %y = relay.min %x {axis = array<i64: 0>} : (tensor<3x5x7xf32>) -> tensor<5x7xf32>
  relay.return %y : tensor<5x7xf32>
}

// CHECK: @min_1
// CHECK-NEXT: equal to interpreter
relay.func @min_1(%x: tensor<3x5x7xf32>) -> tensor<3x7xf32> {
  %y = relay.min %x {axis = array<i64: 1>} : (tensor<3x5x7xf32>) -> tensor<3x7xf32>
  relay.return %y : tensor<3x7xf32>
}

// CHECK: @min_2
// CHECK-NEXT: equal to interpreter
relay.func @min_2(%x: tensor<3x5x7xf32>) -> tensor<3x5xf32> {
  %y = relay.min %x {axis = array<i64: 2>} : (tensor<3x5x7xf32>) -> tensor<3x5xf32>
  relay.return %y : tensor<3x5xf32>
}

// CHECK: @prod_0
// CHECK-NEXT: equal to interpreter
relay.func @prod_0(%x: tensor<3x5x7xf32>) -> tensor<5x7xf32> {
  %y = relay.prod %x {axis = array<i64: 0>} : (tensor<3x5x7xf32>) -> tensor<5x7xf32>
  relay.return %y : tensor<5x7xf32>
}

// CHECK: @prod_1
// CHECK-NEXT: equal to interpreter
relay.func @prod_1(%x: tensor<3x5x7xf32>) -> tensor<3x7xf32> {
  %y = relay.prod %x {axis = array<i64: 1>} : (tensor<3x5x7xf32>) -> tensor<3x7xf32>
  relay.return %y : tensor<3x7xf32>
}

// CHECK: @prod_2
// CHECK-NEXT: equal to interpreter
relay.func @prod_2(%x: tensor<3x5x7xf32>) -> tensor<3x5xf32> {
  %y = relay.prod %x {axis = array<i64: 2>} : (tensor<3x5x7xf32>) -> tensor<3x5xf32>
  relay.return %y : tensor<3x5xf32>
}

// CHECK: @keepdims
// CHECK-NEXT: equal to interpreter
relay.func @keepdims(%x: tensor<3x5x7xf32>) -> tensor<3x1x1xf32> {
  %y = relay.sum %x {axis = array<i64: 1, 2>, keepdims = true} : (tensor<3x5x7xf32>) -> tensor<3x1x1xf32>
  relay.return %y : tensor<3x1x1xf32>
}

// CHECK: @long_rows
// CHECK-NEXT: equal to interpreter
relay.func @long_rows(%x: tensor<3x1009xf32>) -> tensor<3xf32> {
  %y = relay.sum %x {axis = array<i64: 1>} : (tensor<3x1009xf32>) -> tensor<3xf32>
  relay.return %y : tensor<3xf32>
}

// CHECK: @long_columns
// CHECK-NEXT: equal to interpreter
relay.func @long_columns(%x: tensor<1009x3xf32>) -> tensor<3xf32> {
  %y = relay.max %x {axis = array<i64: 0>} : (tensor<1009x3xf32>) -> tensor<3xf32>
  relay.return %y : tensor<3xf32>
}

// CHECK: @argmax_0
// CHECK-NEXT: equal to interpreter
relay.func @argmax_0(%x: tensor<3x5x7xf32>) -> tensor<5x7xi32> {
  %y = relay.argmax %x {axis = array<i64: 0>} : (tensor<3x5x7xf32>) -> tensor<5x7xi32>
  relay.return %y : tensor<5x7xi32>
}

// CHECK: @argmax_1
// CHECK-NEXT: equal to interpreter
relay.func @argmax_1(%x: tensor<3x5x7xf32>) -> tensor<3x7xi32> {
  %y = relay.argmax %x {axis = array<i64: 1>} : (tensor<3x5x7xf32>) -> tensor<3x7xi32>
  relay.return %y : tensor<3x7xi32>
}

// CHECK: @argmax_2
// CHECK-NEXT: equal to interpreter
relay.func @argmax_2(%x: tensor<3x5x7xf32>) -> tensor<3x5xi32> {
  %y = relay.argmax %x {axis = array<i64: 2>} : (tensor<3x5x7xf32>) -> tensor<3x5xi32>
  relay.return %y : tensor<3x5xi32>
}

// CHECK: @argmin_0
// CHECK-NEXT: equal to interpreter
relay.func @argmin_0(%x: tensor<3x5x7xf32>) -> tensor<5x7xi32> {
  %y = relay.argmin %x {axis = array<i64: 0>} : (tensor<3x5x7xf32>) -> tensor<5x7xi32>
  relay.return %y : tensor<5x7xi32>
}

// CHECK: @argmin_1
// CHECK-NEXT: equal to interpreter
relay.func @argmin_1(%x: tensor<3x5x7xf32>) -> tensor<3x7xi32> {
  %y = relay.argmin %x {axis = array<i64: 1>} : (tensor<3x5x7xf32>) -> tensor<3x7xi32>
  relay.return %y : tensor<3x7xi32>
}

// CHECK: @argmin_2
// CHECK-NEXT: equal to interpreter
relay.func @argmin_2(%x: tensor<3x5x7xf32>) -> tensor<3x5xi32> {
  %y = relay.argmin %x {axis = array<i64: 2>} : (tensor<3x5x7xf32>) -> tensor<3x5xi32>
  relay.return %y : tensor<3x5xi32>
}

// CHECK: @all
// CHECK-NEXT: equal to interpreter
relay.func @all(%c: tensor<3x5x7xi1>) -> tensor<3x7xi1> {
  %y = relay.all %c {axis = array<i64: 1>} : (tensor<3x5x7xi1>) -> tensor<3x7xi1>
  relay.return %y : tensor<3x7xi1>
}

// CHECK: @any
// CHECK-NEXT: equal to interpreter
relay.func @any(%c: tensor<3x5x7xi1>) -> tensor<3x7xi1> {
  %y = relay.any %c {axis = array<i64: 1>} : (tensor<3x5x7xi1>) -> tensor<3x7xi1>
  relay.return %y : tensor<3x7xi1>
}

// CHECK: @sum_of_integers
// CHECK-NEXT: equal to interpreter
relay.func @sum_of_integers(%i: tensor<3x5xi64>) -> tensor<3xi64> {
  %y = relay.sum %i {axis = array<i64: 1>} : (tensor<3x5xi64>) -> tensor<3xi64>
  relay.return %y : tensor<3xi64>
}

// CHECK: @cumsum
// CHECK-NEXT: equal to interpreter
relay.func @cumsum(%x: tensor<3x5x7xf32>) -> tensor<3x5x7xf32> {
  %y = relay.cumsum %x {axis = 1 : i64} : (tensor<3x5x7xf32>) -> tensor<3x5x7xf32>
  relay.return %y : tensor<3x5x7xf32>
}
