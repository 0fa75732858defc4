// RUN: weft-opt %s --compile-to=fuse --emit=graph-json | filecheck %s
// RUN: weft-opt %s --emit=graph-json | filecheck %s
// RUN: weft-run %s --executor graph --compare aot,interpreter --quiet
// RUN: weft-run %s --compare graph --quiet

// A graph of kernels as TVM's graph executor reads it; kernels run one by one as they do all at once.

// CHECK:      {"op": "null", "name": "x", "inputs": []}
// CHECK:      {"op": "tvm_op", "name": "fused_nn_softmax", "attrs": {"func_name": "fused_nn_softmax", "num_inputs": "1",
// CHECK:      {"op": "tvm_op", "name": "reshape_nop"
// CHECK:      "heads": {{\[\[3, 0, 0\]\]}}
// CHECK:      "storage_id": ["list_int", [0, 1, 1, 2]]
relay.func @main(%x: tensor<4x6xf32>) -> tensor<8x3xf32> {
  %0 = relay.nn.softmax %x : tensor<4x6xf32>
  %1 = relay.reshape %0 {newshape = array<i64: 8, 3>} : (tensor<4x6xf32>) -> tensor<8x3xf32>
  %2 = relay.nn.softmax %1 : tensor<8x3xf32>
  relay.return %2 : tensor<8x3xf32>
}
