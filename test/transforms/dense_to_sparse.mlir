// RUN: weft-opt %s -O4 -p "dense-to-sparse{weight-name=w weight-shape=2,4,4,2,3}" --remarks 2>&1 | filecheck %s

// CHECK: remark: {{.*}}%w is left as it is: it is not only the weight of dense layers
// CHECK: remark: {{.*}}%w is left as it is: it computes with i32, i8, and not with floats of one type
// CHECK: remark: {{.*}}%w is left as it is: the data is of rank 3, and no matrix

// CHECK-LABEL: relay.func @a_weight_is_taken_by_its_parts(%x: tensor<3x8xf32>, %w.data: tensor<2x4x4xf32>, %w.indices: tensor<2xi32>, %w.indptr: tensor<3xi32>,
// CHECK: %[[Y:.*]] = relay.nn.sparse_dense %x, %w.data, %w.indices, %w.indptr
// CHECK-NEXT: relay.nn.bias_add %[[Y]], %b
relay.func @a_weight_is_taken_by_its_parts(%x: tensor<3x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>) -> tensor<3x8xf32> {
  %0 = relay.nn.dense %x, %w : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
  %1 = relay.nn.bias_add %0, %b : (tensor<3x8xf32>, tensor<8xf32>) -> tensor<3x8xf32>
  relay.return %1 : tensor<3x8xf32>
}

// CHECK-LABEL: relay.func @a_weight_that_is_read_as_it_is_stays(%x: tensor<3x8xf32>, %w: tensor<8x8xf32>)
// CHECK-NEXT: relay.nn.dense
relay.func @a_weight_that_is_read_as_it_is_stays(%x: tensor<3x8xf32>, %w: tensor<8x8xf32>) -> tuple<tensor<3x8xf32>, tensor<8x8xf32>> {
  %0 = relay.nn.dense %x, %w : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
  %1 = relay.abs %w : tensor<8x8xf32>
  %2 = relay.tuple(%0, %1) : (tensor<3x8xf32>, tensor<8x8xf32>) -> tuple<tensor<3x8xf32>, tensor<8x8xf32>>
  relay.return %2 : tuple<tensor<3x8xf32>, tensor<8x8xf32>>
}

// CHECK-LABEL: relay.func @another_argument_stays(%x: tensor<3x8xf32>, %v: tensor<8x8xf32>)
relay.func @another_argument_stays(%x: tensor<3x8xf32>, %v: tensor<8x8xf32>) -> tensor<3x8xf32> {
  %0 = relay.nn.dense %x, %v : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
  relay.return %0 : tensor<3x8xf32>
}

// CHECK-LABEL: relay.func @a_weight_of_integers_stays
// CHECK-NEXT: relay.nn.dense
relay.func @a_weight_of_integers_stays(%x: tensor<3x8xi8>, %w: tensor<8x8xi8>) -> tensor<3x8xi32> {
  %0 = relay.nn.dense %x, %w {out_dtype = "int32"} : (tensor<3x8xi8>, tensor<8x8xi8>) -> tensor<3x8xi32>
  relay.return %0 : tensor<3x8xi32>
}

// CHECK-LABEL: relay.func @a_weight_for_several_matrices_stays
// CHECK-NEXT: relay.nn.dense
relay.func @a_weight_for_several_matrices_stays(%x: tensor<2x3x8xf32>, %w: tensor<8x8xf32>) -> tensor<2x3x8xf32> {
  %0 = relay.nn.dense %x, %w : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  relay.return %0 : tensor<2x3x8xf32>
}
