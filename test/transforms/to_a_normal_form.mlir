// RUN: weft-opt %s -O3 -p to-a-normal-form | filecheck %s
// RUN: weft-opt %s -O3 -p ToANormalForm --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// REMARK: every result has a name already: the module is in A-normal form

// CHECK-LABEL: relay.func @a_value_that_both_branches_use
// CHECK-NEXT:    %s = relay.exp %x
// CHECK-NEXT:    %y = relay.if %c
// CHECK-NEXT:      %0 = relay.add %s, %s
// CHECK:         } else {
// CHECK-NEXT:      relay.yield %s
relay.func @a_value_that_both_branches_use(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %s = relay.exp %x : tensor<4xf32>
  %y = relay.if %c : (tensor<i1>) -> tensor<4xf32> {
    %0 = relay.add %s, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %0 : tensor<4xf32>
  } else {
    relay.yield %s : tensor<4xf32>
  }
  relay.return %y : tensor<4xf32>
}
