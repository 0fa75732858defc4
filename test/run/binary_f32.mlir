// RUN: weft-run %s --function '*' --compare interpreter --quiet --input 'a=29xf32=[nan, nan, 1, inf, -inf, inf, 0, -0.0, 0, 0, 1, -1, 7, -7, 7, -7, 5.5, -5.5, 2, 0.5, 1e-40, 3e38, 10, -8, 0, 1, -1, 7.5, 1e-40]' --input 'b=29xf32=[nan, 2, nan, inf, inf, -inf, 0, 0, 1, -1, 0, 0, 3, 3, -3, -3, 2, 2, 0.5, -2, 0.5, 10, 0, 3, -1, inf, inf, -0.3, -1e-39]' | filecheck %s

// Functions of two f32 on special values, among them NaN on either side, division by zero, signs of remainders.

// CHECK: @add
// CHECK-NEXT: equal to interpreter
relay.func @add(%a: tensor<29xf32>, %b: tensor<29xf32>) -> tensor<29xf32> {
  %y = relay.add %a, %b : (tensor<29xf32>, tensor<29xf32>) -> tensor<29xf32>
  relay.return %y : tensor<29xf32>
}

// CHECK: @subtract
// CHECK-NEXT: equal to interpreter
relay.func @subtract(%a: tensor<29xf32>, %b: tensor<29xf32>) -> tensor<29xf32> {
  %y = relay.subtract %a, %b : (tensor<29xf32>, tensor<29xf32>) -> tensor<29xf32>
  relay.return %y : tensor<29xf32>
}

// CHECK: @multiply
// CHECK-NEXT: equal to interpreter
relay.func @multiply(%a: tensor<29xf32>, %b: tensor<29xf32>) -> tensor<29xf32> {
  %y = relay.multiply %a, %b : (tensor<29xf32>, tensor<29xf32>) -> tensor<29xf32>
  relay.return %y : tensor<29xf32>
}

// CHECK: @divide
// CHECK-NEXT: equal to interpreter
relay.func @divide(%a: tensor<29xf32>, %b: tensor<29xf32>) -> tensor<29xf32> {
  %y = relay.divide %a, %b : (tensor<29xf32>, tensor<29xf32>) -> tensor<29xf32>
  relay.return %y : tensor<29xf32>
}

// CHECK: @maximum
// CHECK-NEXT: equal to interpreter
relay.func @maximum(%a: tensor<29xf32>, %b: tensor<29xf32>) -> tensor<29xf32> {
  %y = relay.maximum %a, %b : (tensor<29xf32>, tensor<29xf32>) -> tensor<29xf32>
  relay.return %y : tensor<29xf32>
}

// CHECK: @minimum
// CHECK-NEXT: equal to interpreter
relay.func @minimum(%a: tensor<29xf32>, %b: tensor<29xf32>) -> tensor<29xf32> {
  %y = relay.minimum %a, %b : (tensor<29xf32>, tensor<29xf32>) -> tensor<29xf32>
  relay.return %y : tensor<29xf32>
}

// CHECK: @power
// CHECK-NEXT: equal to interpreter
relay.func @power(%a: tensor<29xf32>, %b: tensor<29xf32>) -> tensor<29xf32> {
  %y = relay.power %a, %b : (tensor<29xf32>, tensor<29xf32>) -> tensor<29xf32>
  relay.return %y : tensor<29xf32>
}

// CHECK: @mod
// CHECK-NEXT: equal to interpreter
relay.func @mod(%a: tensor<29xf32>, %b: tensor<29xf32>) -> tensor<29xf32> {
  %y = relay.mod %a, %b : (tensor<29xf32>, tensor<29xf32>) -> tensor<29xf32>
  relay.return %y : tensor<29xf32>
}

// CHECK: @floor_mod
// CHECK-NEXT: equal to interpreter
relay.func @floor_mod(%a: tensor<29xf32>, %b: tensor<29xf32>) -> tensor<29xf32> {
  %y = relay.floor_mod %a, %b : (tensor<29xf32>, tensor<29xf32>) -> tensor<29xf32>
  relay.return %y : tensor<29xf32>
}

// CHECK: @floor_divide
// CHECK-NEXT: equal to interpreter
relay.func @floor_divide(%a: tensor<29xf32>, %b: tensor<29xf32>) -> tensor<29xf32> {
  %y = relay.floor_divide %a, %b : (tensor<29xf32>, tensor<29xf32>) -> tensor<29xf32>
  relay.return %y : tensor<29xf32>
}

// CHECK: @trunc_divide
// CHECK-NEXT: equal to interpreter
relay.func @trunc_divide(%a: tensor<29xf32>, %b: tensor<29xf32>) -> tensor<29xf32> {
  %y = relay.trunc_divide %a, %b : (tensor<29xf32>, tensor<29xf32>) -> tensor<29xf32>
  relay.return %y : tensor<29xf32>
}

// CHECK: @trunc_mod
// CHECK-NEXT: equal to interpreter
relay.func @trunc_mod(%a: tensor<29xf32>, %b: tensor<29xf32>) -> tensor<29xf32> {
  %y = relay.trunc_mod %a, %b : (tensor<29xf32>, tensor<29xf32>) -> tensor<29xf32>
  relay.return %y : tensor<29xf32>
}

// CHECK: @equal
// CHECK-NEXT: equal to interpreter
relay.func @equal(%a: tensor<29xf32>, %b: tensor<29xf32>) -> tensor<29xi1> {
  %y = relay.equal %a, %b : (tensor<29xf32>, tensor<29xf32>) -> tensor<29xi1>
  relay.return %y : tensor<29xi1>
}

// CHECK: @not_equal
// CHECK-NEXT: equal to interpreter
relay.func @not_equal(%a: tensor<29xf32>, %b: tensor<29xf32>) -> tensor<29xi1> {
  %y = relay.not_equal %a, %b : (tensor<29xf32>, tensor<29xf32>) -> tensor<29xi1>
  relay.return %y : tensor<29xi1>
}

// CHECK: @less
// CHECK-NEXT: equal to interpreter
relay.func @less(%a: tensor<29xf32>, %b: tensor<29xf32>) -> tensor<29xi1> {
  %y = relay.less %a, %b : (tensor<29xf32>, tensor<29xf32>) -> tensor<29xi1>
  relay.return %y : tensor<29xi1>
}

// CHECK: @less_equal
// CHECK-NEXT: equal to interpreter
relay.func @less_equal(%a: tensor<29xf32>, %b: tensor<29xf32>) -> tensor<29xi1> {
  %y = relay.less_equal %a, %b : (tensor<29xf32>, tensor<29xf32>) -> tensor<29xi1>
  relay.return %y : tensor<29xi1>
}

// CHECK: @greater
// CHECK-NEXT: equal to interpreter
relay.func @greater(%a: tensor<29xf32>, %b: tensor<29xf32>) -> tensor<29xi1> {
  %y = relay.greater %a, %b : (tensor<29xf32>, tensor<29xf32>) -> tensor<29xi1>
  relay.return %y : tensor<29xi1>
}

// CHECK: @greater_equal
// CHECK-NEXT: equal to interpreter
relay.func @greater_equal(%a: tensor<29xf32>, %b: tensor<29xf32>) -> tensor<29xi1> {
  %y = relay.greater_equal %a, %b : (tensor<29xf32>, tensor<29xf32>) -> tensor<29xi1>
  relay.return %y : tensor<29xi1>
}
