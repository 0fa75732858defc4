// RUN: weft-opt %s -O4 -p fast-math | filecheck %s

// CHECK-LABEL: relay.func @exact_functions_become_fast_ones
// CHECK-NEXT: relay.fast_exp
// CHECK-NEXT: relay.fast_tanh
// CHECK-NEXT: relay.fast_erf
// CHECK-NEXT: relay.nn.fast_softmax {{.*}}{axis = 0 : i64}
// CHECK-NEXT: relay.return
relay.func @exact_functions_become_fast_ones(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = relay.exp %x : tensor<?x4xf32>
  %1 = relay.tanh %0 : tensor<?x4xf32>
  %2 = relay.erf %1 : tensor<?x4xf32>
  %3 = relay.nn.softmax %2 {axis = 0 : i64} : tensor<?x4xf32>
  relay.return %3 : tensor<?x4xf32>
}

// CHECK-LABEL: relay.func @others_stay
// CHECK-NEXT: relay.log
// CHECK-NEXT: relay.return
relay.func @others_stay(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.log %x : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
