// RUN: weft-opt %s -p 'partition-graph{mod-name=net}' --split-input-file | filecheck %s
// RUN: weft-opt %s -p 'partition-graph{bind-constants=false}' --split-input-file | filecheck %s --check-prefix=UNBOUND

// One parameter for what enters twice, one result for what leaves twice; default bounds are dropped.
// CHECK-LABEL: relay.func @main
// CHECK-NEXT:    %0, %1 = relay.call @tvmgen_net_my_gen_main_0(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT:    %2 = relay.tanh %0
// CHECK-NEXT:    relay.return %2, %0, %1
// CHECK:       relay.func private @tvmgen_net_my_gen_main_0(%my_gen_0_i0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT:      attributes {global_symbol = "tvmgen_net_my_gen_main_0", Compiler = "my.gen", Inline, primitive} {
// CHECK-NEXT:    %0 = relay.add %my_gen_0_i0, %my_gen_0_i0
// CHECK-NEXT:    %1 = relay.exp %0
// CHECK-NEXT:    relay.return %0, %1
relay.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = relay.annotation.compiler_begin %x {compiler = "my.gen"} : tensor<4xf32>
  %1 = relay.annotation.compiler_begin %x {compiler = "my.gen"} : tensor<4xf32>
  %2 = relay.add %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = relay.annotation.compiler_end %2 {compiler = "my.gen"} : tensor<4xf32>
  %4 = relay.annotation.compiler_begin %3 {compiler = "default"} : tensor<4xf32>
  %5 = relay.tanh %4 : tensor<4xf32>
  %6 = relay.annotation.compiler_end %5 {compiler = "default"} : tensor<4xf32>
  %7 = relay.annotation.compiler_end %2 {compiler = "my.gen"} : tensor<4xf32>
  %8 = relay.exp %2 : tensor<4xf32>
  %9 = relay.annotation.compiler_end %8 {compiler = "my.gen"} : tensor<4xf32>
  relay.return %6, %7, %9 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Of a tuple the fields leave.
// CHECK-LABEL: relay.func @main
// CHECK-NEXT:    %0, %1 = relay.call @tvmgen_net_test_main_0(%x)
// CHECK-NEXT:    %2 = relay.tuple(%0, %1)
// CHECK-NEXT:    relay.return %2
relay.func @main(%x: tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>> {
  %0 = relay.annotation.compiler_begin %x {compiler = "test"} : tensor<4xf32>
  %1 = relay.abs %0 : tensor<4xf32>
  %2 = relay.exp %1 : tensor<4xf32>
  %3 = relay.tuple(%1, %2) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %4 = relay.annotation.compiler_end %3 {compiler = "test"} : tuple<tensor<4xf32>, tensor<4xf32>>
  relay.return %4 : tuple<tensor<4xf32>, tensor<4xf32>>
}

// -----

// A constant becomes part of the function, unless that is not wanted.
// CHECK-LABEL: relay.func @main
// CHECK:         relay.call @tvmgen_net_test_main_0(%x) :
// CHECK:       relay.func private @tvmgen_net_test_main_0(%test_0_i0: tensor<2xf32>)
// CHECK-NEXT:      attributes {global_symbol
// CHECK-NEXT:    %c = relay.constant
// UNBOUND-LABEL: relay.func @main
// UNBOUND:       relay.call @tvmgen_default_test_main_0(%x, %{{.*}}) :
relay.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = relay.annotation.compiler_begin %x {compiler = "test"} : tensor<2xf32>
  %1 = relay.annotation.compiler_begin %c {compiler = "test"} : tensor<2xf32>
  %2 = relay.add %0, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = relay.annotation.compiler_end %2 {compiler = "test"} : tensor<2xf32>
  relay.return %3 : tensor<2xf32>
}
