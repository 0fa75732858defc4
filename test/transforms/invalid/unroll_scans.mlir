// RUN: weft-opt %s -p unroll-scans{all=true} --verify-diagnostics --split-input-file

relay.func private @turn(%x: tensor<?xf32>, %h: tensor<2xf32>) -> tensor<2xf32> {
  %0 = relay.sum %x {axis = array<i64: 0>} : (tensor<?xf32>) -> tensor<f32>
  %1 = relay.add %h, %0 : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  relay.return %1 : tensor<2xf32>
}
relay.func @turns_of_open_rows(%x: tensor<?x?xf32>, %h: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{has rows of open extents, where its turns are to be calls}}
  %last = relay.scan @turn() over(%x) from(%h) {gathered = array<i64>, directions = array<i64: 0>}
    : () over(tensor<?x?xf32>) from(tensor<2xf32>) -> tensor<2xf32>
  relay.return %last : tensor<2xf32>
}

// -----

relay.func private @turn(%h: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.add %h, %h : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  relay.return %0 : tensor<?xf32>
}
relay.func @no_turn_of_open_rows(%h: tensor<?xf32>) -> tensor<0x?xf32> {
  // expected-error @+1 {{has no turns, and gives rows of an open extent, tensor<0x?xf32>}}
  %last, %all = relay.scan @turn() over() from(%h) {turns = 0, gathered = array<i64: 0>, directions = array<i64: 0>}
    : () over() from(tensor<?xf32>) -> tensor<?xf32>, tensor<0x?xf32>
  relay.return %all : tensor<0x?xf32>
}
