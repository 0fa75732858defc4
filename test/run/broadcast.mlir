// RUN: weft-run %s --function '*' --compare interpreter --quiet --threads 2 | filecheck %s

// Operands of different shapes.

// CHECK: @row
// CHECK-NEXT: equal to interpreter
relay.func @row(%a: tensor<3x5xf32>, %b: tensor<5xf32>) -> tensor<3x5xf32> {
  %y = relay.add %a, %b : (tensor<3x5xf32>, tensor<5xf32>) -> tensor<3x5xf32>
  relay.return %y : tensor<3x5xf32>
}

// CHECK: @column
// CHECK-NEXT: equal to interpreter
relay.func @column(%a: tensor<3x5xf32>, %b: tensor<3x1xf32>) -> tensor<3x5xf32> {
  %y = relay.add %a, %b : (tensor<3x5xf32>, tensor<3x1xf32>) -> tensor<3x5xf32>
  relay.return %y : tensor<3x5xf32>
}

// CHECK: @scalar_left
// CHECK-NEXT: equal to interpreter
relay.func @scalar_left(%a: tensor<f32>, %b: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %y = relay.subtract %a, %b : (tensor<f32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  relay.return %y : tensor<3x5xf32>
}

// CHECK: @outer_product
// CHECK-NEXT: equal to interpreter
relay.func @outer_product(%a: tensor<7x1xf32>, %b: tensor<1x13xf32>) -> tensor<7x13xf32> {
  %y = relay.multiply %a, %b : (tensor<7x1xf32>, tensor<1x13xf32>) -> tensor<7x13xf32>
  relay.return %y : tensor<7x13xf32>
}

// CHECK: @both_sides
// CHECK-NEXT: equal to interpreter
relay.func @both_sides(%a: tensor<2x1x5x1xf32>, %b: tensor<3x1x4xf32>) -> tensor<2x3x5x4xf32> {
  %y = relay.maximum %a, %b : (tensor<2x1x5x1xf32>, tensor<3x1x4xf32>) -> tensor<2x3x5x4xf32>
  relay.return %y : tensor<2x3x5x4xf32>
}

// CHECK: @channels
// CHECK-NEXT: equal to interpreter
relay.func @channels(%a: tensor<1x6x7x7xf32>, %b: tensor<6x1x1xf32>) -> tensor<1x6x7x7xf32> {
  %y = relay.add %a, %b : (tensor<1x6x7x7xf32>, tensor<6x1x1xf32>) -> tensor<1x6x7x7xf32>
  relay.return %y : tensor<1x6x7x7xf32>
}

// CHECK: @scalars
// CHECK-NEXT: equal to interpreter
relay.func @scalars(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %y = relay.divide %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
  relay.return %y : tensor<f32>
}

// CHECK: @one_element
// CHECK-NEXT: equal to interpreter
relay.func @one_element(%a: tensor<1x1xf32>, %b: tensor<1xf32>) -> tensor<1x1xf32> {
  %y = relay.add %a, %b : (tensor<1x1xf32>, tensor<1xf32>) -> tensor<1x1xf32>
  relay.return %y : tensor<1x1xf32>
}

// CHECK: @where
// CHECK-NEXT: equal to interpreter
relay.func @where(%c: tensor<2x1xi1>, %x: tensor<2x4xf32>, %v: tensor<f32>) -> tensor<2x4xf32> {
  %y = relay.where %c, %x, %v : (tensor<2x1xi1>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  relay.return %y : tensor<2x4xf32>
}

// CHECK: @broadcast_to
// CHECK-NEXT: equal to interpreter
relay.func @broadcast_to(%x: tensor<3x1xf32>) -> tensor<2x3x4xf32> {
  %y = relay.broadcast_to %x {shape = array<i64: 2, 3, 4>} : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
  relay.return %y : tensor<2x3x4xf32>
}
