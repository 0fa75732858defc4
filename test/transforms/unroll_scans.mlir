// RUN: weft-opt %s --split-input-file -p unroll-scans{turns=2} | filecheck %s
// RUN: weft-opt %s --split-input-file -p unroll-scans{all=true} | filecheck %s --check-prefix=ALL

// Turns are written one after the other, first rows last where a direction says so.

relay.func private @turn(%w: tensor<4xf32>, %x: tensor<4xf32>, %h: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.multiply %h, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.add %0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %1 : tensor<4xf32>
}

// CHECK-LABEL: relay.func @two_turns
// CHECK-NEXT: %0 = relay.strided_slice %x {begin = array<i64: 1>, end = array<i64: 2>, axes = array<i64: 0>}
// CHECK-NEXT: %1 = relay.reshape %0 {newshape = array<i64: 4>}
// CHECK-NEXT: %2 = relay.multiply %h, %w
// CHECK-NEXT: %3 = relay.add %2, %1
// CHECK-NEXT: %4 = relay.strided_slice %x {begin = array<i64: 0>, end = array<i64: 1>, axes = array<i64: 0>}
// CHECK-NEXT: %5 = relay.reshape %4 {newshape = array<i64: 4>}
// CHECK-NEXT: %6 = relay.multiply %3, %w
// CHECK-NEXT: %last = relay.add %6, %5
// CHECK-NEXT: %7 = relay.tuple(%3, %last)
// CHECK-NEXT: %8 = relay.concatenate %7
// CHECK-NEXT: %all = relay.reshape %8 {newshape = array<i64: 2, 4>}
// CHECK-NEXT: relay.return %last, %all
relay.func @two_turns(%w: tensor<4xf32>, %x: tensor<2x4xf32>, %h: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x4xf32>) {
  %last, %all = relay.scan @turn(%w) over(%x) from(%h) {turns = 2, gathered = array<i64: 0>, directions = array<i64: 1, 0>}
    : (tensor<4xf32>) over(tensor<2x4xf32>) from(tensor<4xf32>) -> tensor<4xf32>, tensor<2x4xf32>
  relay.return %last, %all : tensor<4xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: relay.func @three_turns
// CHECK-NEXT: relay.scan @turn(%w)
// ALL-NOT: @turn
// ALL-LABEL: relay.func @three_turns
// ALL-COUNT-3: relay.add
// ALL-NOT: relay.scan
relay.func @three_turns(%w: tensor<4xf32>, %x: tensor<3x4xf32>, %h: tensor<4xf32>) -> tensor<4xf32> {
  %last = relay.scan @turn(%w) over(%x) from(%h) {turns = 3, gathered = array<i64>, directions = array<i64: 0>}
    : (tensor<4xf32>) over(tensor<3x4xf32>) from(tensor<4xf32>) -> tensor<4xf32>
  relay.return %last : tensor<4xf32>
}

relay.func private @count(%n: tensor<f32>, %h: tensor<f32>) -> tensor<f32> {
  %0 = relay.add %h, %n : (tensor<f32>, tensor<f32>) -> tensor<f32>
  relay.return %0 : tensor<f32>
}

// ALL-LABEL: relay.func @rows_that_are_numbers
// ALL: %[[joined:.*]] = relay.concatenate
// ALL-NEXT: relay.return %[[joined]] : tensor<2xf32>
relay.func @rows_that_are_numbers(%n: tensor<2xf32>, %h: tensor<f32>) -> tensor<2xf32> {
  %last, %all = relay.scan @count() over(%n) from(%h) {turns = 2, gathered = array<i64: 0>, directions = array<i64: 0, 1>}
    : () over(tensor<2xf32>) from(tensor<f32>) -> tensor<f32>, tensor<2xf32>
  relay.return %all : tensor<2xf32>
}

// -----

relay.func private @twice(%h: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.add %h, %h : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// CHECK-LABEL: relay.func @beside_an_open_extent
// CHECK-NEXT: relay.scan @twice()
// ALL-LABEL: relay.func @beside_an_open_extent
// ALL-COUNT-3: relay.add
relay.func @beside_an_open_extent(%x: tensor<?x4xf32>, %h: tensor<4xf32>) -> tensor<?x4xf32> {
  %last = relay.scan @twice() over() from(%h) {turns = 3, gathered = array<i64>, directions = array<i64>}
    : () over() from(tensor<4xf32>) -> tensor<4xf32>
  %y = relay.multiply %x, %last : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  relay.return %y : tensor<?x4xf32>
}

// ALL-LABEL: relay.func @no_turns
// ALL-NEXT: %all = relay.constant dense<> : tensor<0x4xf32>
// ALL-NEXT: relay.return %h, %all
relay.func @no_turns(%h: tensor<4xf32>) -> (tensor<4xf32>, tensor<0x4xf32>) {
  %last, %all = relay.scan @twice() over() from(%h) {turns = 0, gathered = array<i64: 0>, directions = array<i64: 0>}
    : () over() from(tensor<4xf32>) -> tensor<4xf32>, tensor<0x4xf32>
  relay.return %last, %all : tensor<4xf32>, tensor<0x4xf32>
}

// ALL-LABEL: relay.func private @twice_and_call
// ALL: relay.if
// ALL: relay.add
// ALL: relay.set_row
// ALL: relay.call @twice_and_call

// CHECK-LABEL: relay.func @as_many_turns_as_rows
// CHECK-NEXT: relay.scan @twice_and()
// ALL-LABEL: relay.func @as_many_turns_as_rows
// ALL: relay.call @twice_and_call
relay.func private @twice_and(%x: tensor<4xf32>, %h: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.add %h, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
relay.func @as_many_turns_as_rows(%x: tensor<?x4xf32>, %h: tensor<4xf32>) -> (tensor<4xf32>, tensor<?x4xf32>) {
  %last, %all = relay.scan @twice_and() over(%x) from(%h) {gathered = array<i64: 0>, directions = array<i64: 0, 1>}
    : () over(tensor<?x4xf32>) from(tensor<4xf32>) -> tensor<4xf32>, tensor<?x4xf32>
  relay.return %last, %all : tensor<4xf32>, tensor<?x4xf32>
}

// Turns that branch are calls.

// CHECK-LABEL: relay.func private @negate_or_not_call
// CHECK: relay.if
// CHECK: relay.call @negate_or_not_call
// CHECK-LABEL: relay.func @turns_that_branch
// CHECK-NOT: relay.scan
// CHECK: relay.call @negate_or_not_call
// ALL-LABEL: relay.func @turns_that_branch
// ALL-COUNT-4: relay.if
relay.func private @negate_or_not(%c: tensor<i1>, %h: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.if %c : (tensor<i1>) -> tensor<4xf32> {
    %1 = relay.negative %h : tensor<4xf32>
    relay.yield %1 : tensor<4xf32>
  } else {
    relay.yield %h : tensor<4xf32>
  }
  relay.return %0 : tensor<4xf32>
}
relay.func @turns_that_branch(%c: tensor<4xi1>, %h: tensor<4xf32>) -> (tensor<4xf32>, tensor<4x4xf32>) {
  %last, %all = relay.scan @negate_or_not() over(%c) from(%h) {turns = 4, gathered = array<i64: 0>, directions = array<i64: 0, 0>}
    : () over(tensor<4xi1>) from(tensor<4xf32>) -> tensor<4xf32>, tensor<4x4xf32>
  relay.return %last, %all : tensor<4xf32>, tensor<4x4xf32>
}
