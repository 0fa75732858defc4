// RUN: not weft-opt %s -p 'merge-composite{backend=nobody}' 2>&1 | filecheck %s
// RUN: not weft-opt %s -p merge-composite 2>&1 | filecheck %s --check-prefix=NONE

// The patterns of a table are Python: test/unit/test_compiler_regions.py has what they find.

// CHECK: error: there is no backend 'nobody'
// CHECK: hint: weft.register_backend makes one known
// NONE: error: merge-composite has no patterns
relay.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.nn.relu %x : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
