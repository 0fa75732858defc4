// RUN: weft-opt %s -p 'print-ir{header="before"},remove-unused-functions,PrintIR' 2>&1 | filecheck %s

// CHECK:       // PrintIR(before):
// CHECK-NEXT:  builtin.module {
// CHECK:         relay.func private @nobody_calls_it
// CHECK:       // PrintIR():
// CHECK-NEXT:  builtin.module {
// CHECK-NOT:     @nobody_calls_it
// CHECK:         relay.func @main

relay.func private @nobody_calls_it(%x: tensor<4xf32>) -> tensor<4xf32> {
  relay.return %x : tensor<4xf32>
}

relay.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  relay.return %x : tensor<4xf32>
}
