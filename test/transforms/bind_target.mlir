// RUN: weft-opt %s -p 'bind-target{target="cuda -arch=sm_90"}' | filecheck %s
// RUN: weft-opt %s -p bind-target | filecheck %s --check-prefix=HOST

// CHECK: tir.prim_func @bound_to_none(%x: memref<8xf32>) attributes {target = "cuda -arch=sm_90"} {
// HOST: tir.prim_func @bound_to_none(%x: memref<8xf32>) attributes {target = "llvm"} {
tir.prim_func @bound_to_none(%x: memref<8xf32>) {
}

// CHECK: tir.prim_func @bound_already(%x: memref<8xf32>) attributes {target = "c"} {
tir.prim_func @bound_already(%x: memref<8xf32>) attributes {target = "c"} {
}
