// RUN: weft-opt %s -O3 -p lazy-gradient-init | filecheck %s
// RUN: weft-opt %s -O3 -p LazyGradientInit --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// REMARK: gradients are added up from their first terms

// CHECK-LABEL: relay.func @zeros_that_are_added
// CHECK-NEXT:    %z = relay.zeros
// CHECK-NEXT:    %y = relay.add %x, %z
// CHECK-NEXT:    relay.return %y
relay.func @zeros_that_are_added(%x: tensor<4xf32>) -> tensor<4xf32> {
  %z = relay.zeros {shape = array<i64: 4>, dtype = "float32"} : tensor<4xf32>
  %y = relay.add %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %y : tensor<4xf32>
}
