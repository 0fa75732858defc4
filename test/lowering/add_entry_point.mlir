// RUN: weft-opt %s -p add-entry-point --split-input-file | filecheck %s

// The threads share a context: addresses of the inputs', the outputs' and the arena's memory, and how many they
// are, with a sign for every second one by the number that the pool gives it: it claims the last shares first. The
// counters at the start of the arena are cleared. The pool runs the graph on them, and returns when none is in it.

// CHECK-LABEL: llvm.func internal @weft_graph(%x: !llvm.ptr, %w: !llvm.ptr, %y: !llvm.ptr, %arena: !llvm.ptr, %num_threads: i64)
// CHECK:       llvm.func @weft_pool_2_run(!llvm.ptr, !llvm.ptr, i64)
// CHECK-LABEL: llvm.func internal @weft_thread(%0: !llvm.ptr, %1: i64) {
// CHECK:         %3 = llvm.load %2 : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT:    %4 = llvm.getelementptr %3[0] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK-NEXT:    %[[X:[0-9]+]] = llvm.load %4 : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT:    %6 = llvm.getelementptr %3[8] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK-NEXT:    %[[W:[0-9]+]] = llvm.load %6 : !llvm.ptr -> !llvm.ptr
// CHECK:         %10 = llvm.getelementptr %9[0] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK-NEXT:    %[[Y:[0-9]+]] = llvm.load %10 : !llvm.ptr -> !llvm.ptr
// CHECK:         llvm.getelementptr %0[16]
// CHECK-NEXT:    %[[ARENA:[0-9]+]] = llvm.load
// CHECK:         llvm.getelementptr %0[24]
// CHECK-NEXT:    %[[ALL:[0-9]+]] = llvm.load %{{[0-9]+}} : !llvm.ptr -> i64
// CHECK-NEXT:    %[[SIGN:[0-9]+]] = llvm.mlir.constant(63) : i64
// CHECK-NEXT:    %[[EVERY_SECOND:[0-9]+]] = llvm.shl %1, %[[SIGN]] : i64
// CHECK-NEXT:    %[[THREADS:[0-9]+]] = llvm.or %[[ALL]], %[[EVERY_SECOND]] : i64
// CHECK-NEXT:    llvm.call @weft_graph(%[[X]], %[[W]], %[[Y]], %[[ARENA]], %[[THREADS]])
// CHECK-NEXT:    llvm.return
// CHECK-LABEL: llvm.func @weft_run(%19: !llvm.ptr, %20: !llvm.ptr, %21: !llvm.ptr, %22: i64) -> i64 {
// CHECK:         %[[CONTEXT:[0-9]+]] = llvm.alloca
// CHECK:         %[[BYTES:[0-9]+]] = llvm.mlir.constant(256) : i64
// CHECK:         llvm.call_intrinsic "llvm.memset.p0.i64"(%21, %{{[0-9]+}}, %[[BYTES]], %{{[0-9]+}})
// CHECK:         llvm.store %19
// CHECK:         llvm.store %20
// CHECK:         llvm.store %21
// CHECK:         llvm.store %22
// CHECK-NOT:     llvm.cond_br
// CHECK:         %[[BODY:[0-9]+]] = llvm.mlir.addressof @weft_thread : !llvm.ptr
// CHECK-NEXT:    llvm.call @weft_pool_2_run(%[[BODY]], %[[CONTEXT]], %22)
// CHECK-NEXT:    %[[STATUS:[0-9]+]] = llvm.mlir.constant(0) : i64
// CHECK-NEXT:    llvm.return %[[STATUS]] : i64
llvm.func @main(%x: !llvm.ptr, %w: !llvm.ptr, %y: !llvm.ptr, %arena: !llvm.ptr, %num_threads: i64) attributes {weft.inputs = [{name = "x", type = tensor<8xf32>}, {name = "w", type = tensor<8xf32>}], weft.outputs = [{name = "y", type = tensor<8xf32>}], weft.counter_bytes = 256 : i64} {
  llvm.return
}

// -----

// Of several graphs, @main is run, wherever it stands.
// CHECK-LABEL: llvm.func @other(
// CHECK-LABEL: llvm.func internal @weft_graph(
// CHECK-LABEL: llvm.func @weft_run(
llvm.func @other(%arena: !llvm.ptr, %num_threads: i64) attributes {weft.inputs = [], weft.outputs = [], weft.counter_bytes = 128 : i64} {
  llvm.return
}
llvm.func @main(%arena: !llvm.ptr, %num_threads: i64) attributes {weft.inputs = [], weft.outputs = [], weft.counter_bytes = 128 : i64} {
  llvm.return
}

// -----

// What is declared already is not declared again.
// CHECK-LABEL: llvm.func internal @weft_graph(
// CHECK:       llvm.func @weft_pool_2_run
// CHECK-NEXT:  llvm.func internal @weft_thread
llvm.func @main(%arena: !llvm.ptr, %num_threads: i64) attributes {weft.inputs = [], weft.outputs = [], weft.counter_bytes = 128 : i64} {
  llvm.return
}
llvm.func @weft_pool_2_run(!llvm.ptr, !llvm.ptr, i64)

// -----

// Without a graph there is nothing to enter.
// CHECK-LABEL: llvm.func @kernel(
// CHECK-NOT:   weft_run
llvm.func @kernel(%x: !llvm.ptr) {
  llvm.return
}

// -----

// The entry gives the number of the first record that tells of a check.
// CHECK-LABEL: llvm.func @weft_run({{.*}}) -> i64 {
// CHECK:         llvm.call @weft_pool_2_run
// CHECK-NEXT:    %[[ZERO:[0-9]+]] = llvm.mlir.constant(0) : i64
// CHECK-NEXT:    %[[AT2:[0-9]+]] = llvm.getelementptr %{{[0-9]+}}[192]
// CHECK-NEXT:    %[[TOLD2:[0-9]+]] = llvm.load %[[AT2]]
// CHECK-NEXT:    %[[FAILED2:[0-9]+]] = llvm.icmp "ne" %[[TOLD2]], %[[ZERO]] : i64
// CHECK-NEXT:    %[[TWO:[0-9]+]] = llvm.mlir.constant(2) : i64
// CHECK-NEXT:    %[[LATER:[0-9]+]] = llvm.select %[[FAILED2]], %[[TWO]], %[[ZERO]] : i1, i64
// CHECK-NEXT:    %[[AT1:[0-9]+]] = llvm.getelementptr %{{[0-9]+}}[128]
// CHECK-NEXT:    %[[TOLD1:[0-9]+]] = llvm.load %[[AT1]]
// CHECK-NEXT:    %[[FAILED1:[0-9]+]] = llvm.icmp "ne" %[[TOLD1]], %[[ZERO]] : i64
// CHECK-NEXT:    %[[ONE:[0-9]+]] = llvm.mlir.constant(1) : i64
// CHECK-NEXT:    %[[STATUS:[0-9]+]] = llvm.select %[[FAILED1]], %[[ONE]], %[[LATER]] : i1, i64
// CHECK-NEXT:    llvm.return %[[STATUS]] : i64
llvm.func @main(%arena: !llvm.ptr, %num_threads: i64) attributes {weft.inputs = [], weft.outputs = [], weft.counter_bytes = 256 : i64, weft.checks = [[{text = "a"}], [{text = "b"}]], weft.records = 128 : i64} {
  llvm.return
}
