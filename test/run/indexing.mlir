// RUN: weft-run %s --function '*' --compare interpreter --quiet --input 'i=4x2xi32=[0, 1, 1, 0, 1, 1, 0, 0]' --input 'j=5xi64=[6, 0, 3, 3, 5]' --input 'g=2x3xi64=[0, 4, 2, 3, 1, 1]' --input 'n=2x6xi64=[0, 1, 2, 3, 0, 1, 4, 3, 2, 1, 0, 4]' --input 'h=2x3xi32=[0, 3, 1, 2, 2, 0]' | filecheck %s

// Reading and writing where other tensors say.

// CHECK: @take_0
// CHECK-NEXT: equal to interpreter
relay.func @take_0(%x: tensor<2x5x3xf32>, %i: tensor<4x2xi32>) -> tensor<4x2x5x3xf32> {
  %y = relay.take %x, %i {axis = 0 : i64} : (tensor<2x5x3xf32>, tensor<4x2xi32>) -> tensor<4x2x5x3xf32>
  relay.return %y : tensor<4x2x5x3xf32>
}

// CHECK: @take_1
// CHECK-NEXT: equal to interpreter
relay.func @take_1(%x: tensor<2x5x3xf32>, %i: tensor<4x2xi32>) -> tensor<2x4x2x3xf32> {
  %y = relay.take %x, %i {axis = 1 : i64} : (tensor<2x5x3xf32>, tensor<4x2xi32>) -> tensor<2x4x2x3xf32>
  relay.return %y : tensor<2x4x2x3xf32>
}

// CHECK: @take_2
// CHECK-NEXT: equal to interpreter
relay.func @take_2(%x: tensor<2x5x3xf32>, %i: tensor<4x2xi32>) -> tensor<2x5x4x2xf32> {
  %y = relay.take %x, %i {axis = 2 : i64} : (tensor<2x5x3xf32>, tensor<4x2xi32>) -> tensor<2x5x4x2xf32>
  relay.return %y : tensor<2x5x4x2xf32>
}

// CHECK: @take_rows_by_i64
// CHECK-NEXT: equal to interpreter
relay.func @take_rows_by_i64(%x: tensor<7x16xf32>, %j: tensor<5xi64>) -> tensor<5x16xf32> {
  %y = relay.take %x, %j {axis = 0 : i64} : (tensor<7x16xf32>, tensor<5xi64>) -> tensor<5x16xf32>
  relay.return %y : tensor<5x16xf32>
}

// CHECK: @gather
// CHECK-NEXT: equal to interpreter
relay.func @gather(%x: tensor<2x5xf32>, %g: tensor<2x3xi64>) -> tensor<2x3xf32> {
  %y = relay.gather %x, %g {axis = 1 : i64} : (tensor<2x5xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>
  relay.return %y : tensor<2x3xf32>
}

// CHECK: @gather_nd
// CHECK-NEXT: equal to interpreter
relay.func @gather_nd(%x: tensor<4x5x3xf32>, %n: tensor<2x6xi64>) -> tensor<6x3xf32> {
  %y = relay.gather_nd %x, %n : (tensor<4x5x3xf32>, tensor<2x6xi64>) -> tensor<6x3xf32>
  relay.return %y : tensor<6x3xf32>
}

// CHECK: @scatter_elements
// CHECK-NEXT: equal to interpreter
relay.func @scatter_elements(%x: tensor<2x5xf32>, %g: tensor<2x3xi64>, %u: tensor<2x3xf32>) -> tensor<2x5xf32> {
  %y = relay.scatter_elements %x, %g, %u {axis = 1 : i64, reduction = "add"} : (tensor<2x5xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<2x5xf32>
  relay.return %y : tensor<2x5xf32>
}

// CHECK: @where_all_tensors
// CHECK-NEXT: equal to interpreter
relay.func @where_all_tensors(%c: tensor<2x4xi1>, %x: tensor<2x4xf32>, %y: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %z = relay.where %c, %x, %y : (tensor<2x4xi1>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  relay.return %z : tensor<2x4xf32>
}

// CHECK: @where_on_integers
// CHECK-NEXT: equal to interpreter
relay.func @where_on_integers(%c: tensor<4xi1>, %a: tensor<4xi64>, %b: tensor<4xi64>) -> tensor<4xi64> {
  %y = relay.where %c, %a, %b : (tensor<4xi1>, tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  relay.return %y : tensor<4xi64>
}

// CHECK: @one_hot
// CHECK-NEXT: equal to interpreter
relay.func @one_hot(%h: tensor<2x3xi32>, %on: tensor<f32>, %off: tensor<f32>) -> tensor<2x3x4xf32> {
  %y = relay.one_hot %h, %on, %off {depth = 4 : i64, axis = -1 : i64, dtype = "float32"} : (tensor<2x3xi32>, tensor<f32>, tensor<f32>) -> tensor<2x3x4xf32>
  relay.return %y : tensor<2x3x4xf32>
}

// CHECK: @sort
// CHECK-NEXT: equal to interpreter
relay.func @sort(%x: tensor<3x17xf32>) -> tensor<3x17xf32> {
  %y = relay.sort %x {axis = 1 : i64} : (tensor<3x17xf32>) -> tensor<3x17xf32>
  relay.return %y : tensor<3x17xf32>
}

// CHECK: @argsort
// CHECK-NEXT: equal to interpreter
relay.func @argsort(%x: tensor<3x17xf32>) -> tensor<3x17xi64> {
  %y = relay.argsort %x {axis = 1 : i64, dtype = "int64"} : (tensor<3x17xf32>) -> tensor<3x17xi64>
  relay.return %y : tensor<3x17xi64>
}

// CHECK: @indices_in_the_graph
// CHECK-NEXT: equal to interpreter
relay.func @indices_in_the_graph(%x: tensor<7x4xf32>) -> tensor<3x4xf32> {
  %i = relay.constant dense<[6, 0, 3]> : tensor<3xi64>
  %y = relay.take %x, %i {axis = 0 : i64} : (tensor<7x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  relay.return %y : tensor<3x4xf32>
}
