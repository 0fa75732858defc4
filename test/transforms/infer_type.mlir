// RUN: weft-opt %s -p infer-type | filecheck %s

// CHECK-LABEL: relay.func @a_dynamic_dimension_becomes_static_where_the_operands_fix_it
// CHECK-SAME: -> tensor<2x3xf32>
// CHECK: relay.nn.dense %x, %w : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
// CHECK: relay.return %0 : tensor<2x3xf32>
relay.func @a_dynamic_dimension_becomes_static_where_the_operands_fix_it(%x: tensor<2x4xf32>, %w: tensor<3x4xf32>) -> tensor<?x3xf32> {
  %0 = relay.nn.dense %x, %w : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<?x3xf32>
  relay.return %0 : tensor<?x3xf32>
}

// CHECK-LABEL: relay.func @a_call_takes_the_types_of_its_callee
// CHECK: relay.call @a_dynamic_dimension_becomes_static_where_the_operands_fix_it(%x, %w) : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
// CHECK: relay.tuple(%0) : (tensor<2x3xf32>) -> tuple<tensor<2x3xf32>>
relay.func @a_call_takes_the_types_of_its_callee(%x: tensor<2x4xf32>, %w: tensor<3x4xf32>) -> tuple<tensor<?x3xf32>> {
  %0 = relay.call @a_dynamic_dimension_becomes_static_where_the_operands_fix_it(%x, %w) : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<?x3xf32>
  %1 = relay.tuple(%0) : (tensor<?x3xf32>) -> tuple<tensor<?x3xf32>>
  relay.return %1 : tuple<tensor<?x3xf32>>
}

// CHECK-LABEL: relay.func @what_stays_unknown_stays_dynamic
// CHECK: relay.nn.dense %x, %w : (tensor<?x4xf32>, tensor<3x4xf32>) -> tensor<?x3xf32>
relay.func @what_stays_unknown_stays_dynamic(%x: tensor<?x4xf32>, %w: tensor<3x4xf32>) -> tensor<?x3xf32> {
  %0 = relay.nn.dense %x, %w : (tensor<?x4xf32>, tensor<3x4xf32>) -> tensor<?x3xf32>
  relay.return %0 : tensor<?x3xf32>
}

// What is scanned says what a turn takes; one that is scanned with other tensors, too, is written once more.

// CHECK: relay.func private @turn(%x: tensor<2xf32>, %h: tensor<2xf32>) -> tensor<2xf32>
// CHECK: relay.func private @turn_1(%x: tensor<3xf32>, %h: tensor<3xf32>) -> tensor<3xf32>
relay.func private @turn(%x: tensor<?xf32>, %h: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.add %h, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  relay.return %0 : tensor<?xf32>
}

// CHECK-LABEL: relay.func @known_by_now
// CHECK-NEXT: relay.scan @turn_1() over(%x) from(%h)
// CHECK-SAME: turns = 9
// CHECK-NEXT: over(tensor<9x3xf32>) from(tensor<3xf32>) -> tensor<3xf32>, tensor<9x3xf32>
// CHECK: relay.scan @turn() over(%y) from(%g)
relay.func @known_by_now(%x: tensor<9x3xf32>, %h: tensor<3xf32>, %y: tensor<?x2xf32>, %g: tensor<2xf32>) -> (tensor<9x3xf32>, tensor<2xf32>) {
  %last, %all = relay.scan @turn() over(%x) from(%h) {turns = 9, gathered = array<i64: 0>, directions = array<i64: 0, 0>}
    : () over(tensor<9x3xf32>) from(tensor<3xf32>) -> tensor<3xf32>, tensor<9x3xf32>
  %other = relay.scan @turn() over(%y) from(%g) {gathered = array<i64>, directions = array<i64: 0>}
    : () over(tensor<?x2xf32>) from(tensor<2xf32>) -> tensor<2xf32>
  relay.return %all, %other : tensor<9x3xf32>, tensor<2xf32>
}
