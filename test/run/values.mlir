// RUN: weft-run %s --input 'x=2x3xf32=[[1, 2, 3], [-4, -5, -6]]' | filecheck %s
// RUN: weft-run %s --input 'x=2x3xf32=[1, 2, 3, -4, -5, -6]' --executor interpreter | filecheck %s
// RUN: weft-run %s --input 'x=2x3xf32=1' | filecheck %s --check-prefix=SPLAT
// RUN: weft-opt %s --compile-to=schedule -o %t.schedule.mlir
// RUN: weft-run %t.schedule.mlir --input 'x=2x3xf32=[1, 2, 3, -4, -5, -6]' | filecheck %s
// RUN: weft-opt %s --compile-to=loops -o %t.loops.mlir
// RUN: weft-run %t.loops.mlir --input 'x=2x3xf32=[1, 2, 3, -4, -5, -6]' | filecheck %s
// RUN: weft-run %s --input 'x=2x3xf32=[1, 2, 3, -4, -5, -6]' --save %t.weft --outputs %t.npz
// RUN: weft-run %t.weft --input 'x=2x3xf32=[1, 2, 3, -4, -5, -6]' --expect %t.npz | filecheck %s --check-prefixes=CHECK,EXPECT

// What is printed, from text, from the phases in between, and from a saved executable.

// CHECK: out0: tensor<2x3xf32> =
// CHECK-NEXT: {{\[\[}}  2.,   4.,   6.],
// CHECK-NEXT: [ -8., -10., -12.]]
// CHECK-NEXT: out1: tensor<2xf32> = [  6., -15.]
// EXPECT: equal to {{.*}}values.mlir.tmp.npz: greatest difference 0

// SPLAT: out0: tensor<2x3xf32> =
// SPLAT-NEXT: {{\[\[}}2., 2., 2.],
// SPLAT-NEXT: [2., 2., 2.]]
// SPLAT-NEXT: out1: tensor<2xf32> = [3., 3.]
relay.func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2xf32>) {
  %0 = relay.add %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = relay.sum %x {axis = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  relay.return %0, %1 : tensor<2x3xf32>, tensor<2xf32>
}
