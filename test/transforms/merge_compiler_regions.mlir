// RUN: weft-opt %s -p merge-compiler-regions | filecheck %s

// A chain becomes one region.
// CHECK-LABEL: relay.func @a_chain_is_one_region
// CHECK-NEXT:    %0 = relay.annotation.compiler_begin %x {compiler = "test"}
// CHECK-NEXT:    %1 = relay.abs %0
// CHECK-NEXT:    %2 = relay.exp %1
// CHECK-NEXT:    %3 = relay.annotation.compiler_end %2 {compiler = "test"}
// CHECK-NEXT:    relay.return %3
relay.func @a_chain_is_one_region(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.annotation.compiler_begin %x {compiler = "test"} : tensor<4xf32>
  %1 = relay.abs %0 : tensor<4xf32>
  %2 = relay.annotation.compiler_end %1 {compiler = "test"} : tensor<4xf32>
  %3 = relay.annotation.compiler_begin %2 {compiler = "test"} : tensor<4xf32>
  %4 = relay.exp %3 : tensor<4xf32>
  %5 = relay.annotation.compiler_end %4 {compiler = "test"} : tensor<4xf32>
  relay.return %5 : tensor<4xf32>
}

// The last operator of a diamond stays apart: a value of the region would go out and come back in.
// CHECK-LABEL: relay.func @a_diamond_is_cut
// CHECK:         %[[O1:.*]] = relay.abs
// CHECK:         %[[O2:.*]] = relay.nn.relu %[[O1]]
// CHECK-NEXT:    %[[E2:.*]] = relay.annotation.compiler_end %[[O2]] {compiler = "test"}
// CHECK:         relay.tanh
// CHECK:         relay.annotation.compiler_begin %[[E2]] {compiler = "test"}
// CHECK:         relay.add
relay.func @a_diamond_is_cut(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b1 = relay.annotation.compiler_begin %x {compiler = "test"} : tensor<4xf32>
  %o1 = relay.abs %b1 : tensor<4xf32>
  %e1 = relay.annotation.compiler_end %o1 {compiler = "test"} : tensor<4xf32>
  %e2 = relay.annotation.compiler_end %o1 {compiler = "test"} : tensor<4xf32>
  %b2 = relay.annotation.compiler_begin %e1 {compiler = "test"} : tensor<4xf32>
  %o2 = relay.nn.relu %b2 : tensor<4xf32>
  %e3 = relay.annotation.compiler_end %o2 {compiler = "test"} : tensor<4xf32>
  %b3 = relay.annotation.compiler_begin %e2 {compiler = "default"} : tensor<4xf32>
  %o3 = relay.tanh %b3 : tensor<4xf32>
  %e4 = relay.annotation.compiler_end %o3 {compiler = "default"} : tensor<4xf32>
  %b4 = relay.annotation.compiler_begin %e3 {compiler = "test"} : tensor<4xf32>
  %b5 = relay.annotation.compiler_begin %e4 {compiler = "test"} : tensor<4xf32>
  %o4 = relay.add %b4, %b5 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e5 = relay.annotation.compiler_end %o4 {compiler = "test"} : tensor<4xf32>
  relay.return %e5 : tensor<4xf32>
}
