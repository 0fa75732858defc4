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
