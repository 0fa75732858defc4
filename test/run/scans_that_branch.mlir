// RUN: weft-run %s --function turns_that_branch --compare interpreter --quiet --threads 2 | filecheck %s
// RUN: weft-run %s --function open_turns_that_branch --input rows=5x4xf32=0.5 --compare interpreter --quiet | filecheck %s

// CHECK: equal to interpreter
relay.func private @turn(%x: tensor<4xf32>, %c: tensor<4xf32>) -> tensor<4xf32> {
  %s = relay.sum %x {axis = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %z = relay.constant dense<0.0> : tensor<f32>
  %p = relay.greater %s, %z : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %y = relay.if %p : (tensor<i1>) -> tensor<4xf32> {
    %a = relay.add %c, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %a : tensor<4xf32>
  } else {
    %b = relay.subtract %c, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %b : tensor<4xf32>
  }
  relay.return %y : tensor<4xf32>
}
relay.func @turns_that_branch(%x: tensor<7x4xf32>, %h: tensor<4xf32>) -> tensor<7x4xf32> {
  %last, %all = relay.scan @turn() over(%x) from(%h) {turns = 7, gathered = array<i64: 0>, directions = array<i64: 0, 0>}
      : () over(tensor<7x4xf32>) from(tensor<4xf32>) -> tensor<4xf32>, tensor<7x4xf32>
  relay.return %all : tensor<7x4xf32>
}
relay.func @open_turns_that_branch(%rows: tensor<?x4xf32>, %h: tensor<4xf32>) -> tensor<?x4xf32> {
  %last, %all = relay.scan @turn() over(%rows) from(%h) {gathered = array<i64: 0>, directions = array<i64: 0, 0>}
      : () over(tensor<?x4xf32>) from(tensor<4xf32>) -> tensor<4xf32>, tensor<?x4xf32>
  relay.return %all : tensor<?x4xf32>
}
