// RUN: weft-run %s --function '*' --compare interpreter,graph --quiet --threads 2 | filecheck %s
// RUN: weft-run %s --function '*' --compare interpreter --quiet --target c | filecheck %s
// RUN: weft-opt %s --compile-to=tir | weft-run - --function gathered --compare interpreter --bounds-checks --quiet | filecheck %s --check-prefix=TIR

// Turns of one function: carried in two places or where they are gathered, from the last row back, within branches.

relay.func private @turn(%w: tensor<4xf32>, %x: tensor<4xf32>, %n: tensor<i32>, %h: tensor<4xf32>, %c: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = relay.add %h, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.multiply %0, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.tanh %1 : tensor<4xf32>
  %3 = relay.multiply %2, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %s = relay.cast %n {dtype = "float32"} : (tensor<i32>) -> tensor<f32>
  %4 = relay.add %3, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  relay.return %h, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK: @gathered
// CHECK-NEXT: equal to interpreter
// TIR: equal to interpreter
relay.func @gathered(%w: tensor<4xf32>, %x: tensor<5x4xf32>, %n: tensor<5xi32>, %h: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<5x4xf32>, tensor<5x4xf32>) {
  %a, %b, %rows, %more = relay.scan @turn(%w) over(%x, %n) from(%h, %h)
    {turns = 5, gathered = array<i64: 2, 1>, directions = array<i64: 1, 0, 1, 1>}
    : (tensor<4xf32>) over(tensor<5x4xf32>, tensor<5xi32>) from(tensor<4xf32>, tensor<4xf32>)
    -> tensor<4xf32>, tensor<4xf32>, tensor<5x4xf32>, tensor<5x4xf32>
  relay.return %a, %b, %rows, %more : tensor<4xf32>, tensor<4xf32>, tensor<5x4xf32>, tensor<5x4xf32>
}

relay.func private @two_rounds(%x: tensor<4xf32>, %h: tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
  %last, %all = relay.scan @round(%x) over() from(%h) {turns = 3, gathered = array<i64: 0>, directions = array<i64: 0>}
    : (tensor<4xf32>) over() from(tensor<4xf32>) -> tensor<4xf32>, tensor<3x4xf32>
  relay.return %last, %all : tensor<4xf32>, tensor<3x4xf32>
}
relay.func private @round(%x: tensor<4xf32>, %h: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.subtract %x, %h : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// CHECK: @within_one_another
// CHECK-NEXT: equal to interpreter
relay.func @within_one_another(%x: tensor<6x4xf32>, %h: tensor<4xf32>) -> tensor<6x3x4xf32> {
  %last, %all = relay.scan @two_rounds() over(%x) from(%h) {turns = 6, gathered = array<i64: 1>, directions = array<i64: 1, 0>}
    : () over(tensor<6x4xf32>) from(tensor<4xf32>) -> tensor<4xf32>, tensor<6x3x4xf32>
  relay.return %all : tensor<6x3x4xf32>
}

// CHECK: @one_turn
// CHECK-NEXT: equal to interpreter
relay.func @one_turn(%x: tensor<4xf32>, %h: tensor<4xf32>) -> tensor<4xf32> {
  %last = relay.scan @round(%x) over() from(%h) {turns = 1, gathered = array<i64>, directions = array<i64>}
    : (tensor<4xf32>) over() from(tensor<4xf32>) -> tensor<4xf32>
  relay.return %last : tensor<4xf32>
}
