// RUN: weft-run %s --input c=i1=1 --compare interpreter --quiet --threads 2 | filecheck %s

// CHECK: equal to interpreter
relay.func private @turn(%x: tensor<4xf32>, %h: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.add %h, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.tanh %0 : tensor<4xf32>
  relay.return %1 : tensor<4xf32>
}
relay.func @turns_in_a_branch(%c: tensor<i1>, %x: tensor<7x4xf32>, %h: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.if %c : (tensor<i1>) -> tensor<4xf32> {
    %e = relay.exp %x : tensor<7x4xf32>
    %last = relay.scan @turn() over(%e) from(%h) {turns = 7, gathered = array<i64>, directions = array<i64: 0>}
      : () over(tensor<7x4xf32>) from(tensor<4xf32>) -> tensor<4xf32>
    %0 = relay.negative %last : tensor<4xf32>
    relay.yield %0 : tensor<4xf32>
  } else {
    relay.yield %h : tensor<4xf32>
  }
  relay.return %y : tensor<4xf32>
}
