// RUN: weft-opt %s --emit=dot | filecheck %s
// RUN: weft-opt %s --compile-to=loops --emit=dot | filecheck %s --check-prefix=LOOPS

// CHECK:      digraph module {
// CHECK:        subgraph cluster_[[MAIN:n[0-9]+]] {
// CHECK-NEXT:     label="relay.func\l@main\l"
// CHECK:          [[X:n[0-9]+]] [label="%x\ltensor<2x6xf32>\l", shape=ellipse];
// CHECK-NEXT:     [[SPLIT:n[0-9]+]] [label="relay.split\lindices_or_sections = 2 : i64\laxis = 1 : i64\l{{.*}}tensor<2x3xf32>{{.*}}\l"];
// CHECK-NEXT:     [[FIRST:n[0-9]+]] [label="relay.tuple_get
// CHECK:          [[ADD:n[0-9]+]] [label="relay.add\ltensor<2x3xf32>\l"];
// CHECK-DAG:    [[X]] -> [[SPLIT]];
// CHECK-DAG:    [[FIRST]] -> [[ADD]] [headlabel="0"];
// CHECK:      }

// LOOPS:     subgraph cluster_{{n[0-9]+}} {
// LOOPS:       label="scf.for\l
// LOOPS:     -> {{n[0-9]+}} [headlabel="0", lhead=cluster_{{n[0-9]+}}];
relay.func @main(%x: tensor<2x6xf32>) -> tensor<2x3xf32> {
  %0 = relay.split %x {indices_or_sections = 2 : i64, axis = 1 : i64} : (tensor<2x6xf32>) -> tuple<tensor<2x3xf32>, tensor<2x3xf32>>
  %1 = relay.tuple_get %0[0] : tuple<tensor<2x3xf32>, tensor<2x3xf32>> -> tensor<2x3xf32>
  %2 = relay.tuple_get %0[1] : tuple<tensor<2x3xf32>, tensor<2x3xf32>> -> tensor<2x3xf32>
  %3 = relay.add %1, %2 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  relay.return %3 : tensor<2x3xf32>
}
