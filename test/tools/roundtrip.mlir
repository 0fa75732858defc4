// RUN: weft-opt %s --verify-roundtrip | filecheck %s
// RUN: weft-opt %s | weft-opt | filecheck %s
// RUN: weft-opt %s --mlir-print-op-generic | weft-opt - | filecheck %s
// RUN: weft-opt %s --mlir-print-op-generic | filecheck %s --check-prefix=GENERIC

// CHECK:       builtin.module {
// CHECK-NEXT:    relay.func @a_module_survives_being_printed(%x: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:      %c = relay.constant dense<2.000000e+00> : tensor<4xf32>
// CHECK-NEXT:      %t = relay.tuple(%x, %c)
// CHECK-NEXT:      %y = relay.tuple_get %t[1]
// CHECK-NEXT:      relay.return %y : tensor<4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:  }

// GENERIC:       "relay.func"() <{
// GENERIC:         "relay.return"(%y) : (tensor<4xf32>) -> ()
relay.func @a_module_survives_being_printed(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = relay.constant dense<2.0> : tensor<4xf32>
  %t = relay.tuple(%x, %c) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %y = relay.tuple_get %t[1] : tuple<tensor<4xf32>, tensor<4xf32>> -> tensor<4xf32>
  relay.return %y : tensor<4xf32>
}
