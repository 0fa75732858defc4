// RUN: not weft-run %s --input 'z=2xf32=1' 2>&1 | filecheck %s --check-prefix=NAME
// RUN: not weft-run %s --input 'xx=3xf32=1' 2>&1 | filecheck %s --check-prefix=MEANT
// RUN: not weft-run %s --input 'x=4xf32=1' 2>&1 | filecheck %s --check-prefix=SHAPE
// RUN: not weft-run %s --input 'x=3xf64=1' 2>&1 | filecheck %s --check-prefix=DTYPE
// RUN: not weft-run %s --input 'x=3xg32=1' 2>&1 | filecheck %s --check-prefix=TYPE
// RUN: not weft-run %s --input 'x=3xf32=[1, 2]' 2>&1 | filecheck %s --check-prefix=COUNT
// RUN: not weft-run %s --input 'n=i8=300' 2>&1 | filecheck %s --check-prefix=RANGE
// RUN: not weft-run %s --input 'x=@%t.missing.npy' 2>&1 | filecheck %s --check-prefix=FILE
// RUN: not weft-run %s --executor grap 2>&1 | filecheck %s --check-prefix=GRAPH
// RUN: not weft-run %s --compare intepreter 2>&1 | filecheck %s --check-prefix=COMPARE
// RUN: not weft-run %s --compare onnxruntime 2>&1 | filecheck %s --check-prefix=PEER
// RUN: not weft-run %s --function man 2>&1 | filecheck %s --check-prefix=FUNCTION
// RUN: weft-opt %s --compile-to=tir -o %t.tir.mlir
// RUN: sed '/relay.func @main/,/^  }/d' %t.tir.mlir > %t.kernels.mlir
// RUN: not weft-run %t.kernels.mlir 2>&1 | filecheck %s --check-prefix=KERNELS
// RUN: not weft-run %s --threads 0 2>&1 | filecheck %s --check-prefix=THREADS
// RUN: not weft-run %s --threads many 2>&1 | filecheck %s --check-prefix=MANY
// RUN: not weft-run %s --target llvm22 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not weft-run %s --treads 1 2>&1 | filecheck %s --check-prefix=FLAG
// RUN: weft-opt %s --compile-to=llvm -o %t.llvm.mlir
// RUN: not weft-run %t.llvm.mlir --compare interpreter 2>&1 | filecheck %s --check-prefix=LLVM
// RUN: not weft-run %s --compare interpreter,aot 2>&1 | filecheck %s --check-prefix=SELF
// RUN: not weft-run %s --executor interpreter --compare interpreter 2>&1 | filecheck %s --check-prefix=INTERPRETED
// RUN: weft-run %s --input 'x=3xf32=1' --input 'n=i8=1' --outputs %t.npz
// RUN: not weft-run %s --input 'x=3xf32=2' --input 'n=i8=1' --expect %t.npz 2>&1 | filecheck %s --check-prefix=DIFFERS
// RUN: not weft-run %s --inputs %t.npz 2>&1 | filecheck %s --check-prefix=ARRAYS
// RUN: not weft-bench %s --against onnxruntme 2>&1 | filecheck %s --check-prefix=BENCH
// RUN: not weft-bench %s --against onnxruntime 2>&1 | filecheck %s --check-prefix=EARLY
// RUN: not weft-tune %t.missing.onnx 2>&1 | filecheck %s --check-prefix=TUNE
// RUN: not weft-import %s 2>&1 | filecheck %s --check-prefix=IMPORT
// RUN: not weft-import --lsit-operators 2>&1 | filecheck %s --check-prefix=LIST

// Mistakes on the command line are found before anything runs.

// MANY: --threads: error: 'many' is no whole number
// EARLY-NOT: kernels
// EARLY: error: onnxruntime runs .onnx files only
// TUNE-NOT: timing
// TUNE: missing.onnx: error: no such file or directory
// IMPORT: error: this is not an ONNX model
// IMPORT: hint: modules in .mlir are compiled as they are: weft-run, weft.compile
// LIST: hint: did you mean '--list-operators'?
// NAME: --input: error: there is no input 'z'
// NAME-NEXT: hint: inputs: x, n
// ARRAYS: --inputs: error: there is no input
// MEANT: hint: did you mean 'x'?
// SHAPE: error: input 'x' is tensor<3xf32>, not float32 of shape [4]
// DTYPE: error: input 'x' is tensor<3xf32>, not float64 of shape [3]
// TYPE: error: input 'x': '3xg32' is not a tensor type like 2x3xf32
// COUNT: error: input 'x': the values have shape [2], the type [3]
// RANGE: error: input 'n': '300' holds what is not of type int8
// FILE: missing.npy: error: cannot be read: no such file or directory
// GRAPH: --executor: error: there is no executor 'grap'
// GRAPH-NEXT: hint: did you mean 'graph'?
// COMPARE: hint: did you mean 'interpreter'?
// PEER: error: onnxruntime runs .onnx files only
// FUNCTION: error: there is no function @man to run
// FUNCTION-NEXT: hint: did you mean 'main'?
// KERNELS: error: there is no function to run in this module, only kernels
// KERNELS-NEXT: hint: `weft.build` makes a function of a tir.prim_func
// THREADS: error: 0 threads: at least one is needed
// THREADS-NEXT: hint: without it there are as many as processors
// TARGET: error: unknown target kind 'llvm22'; kinds are llvm, c
// FLAG: hint: did you mean '--threads'?
// LLVM: error: the interpreter runs relay and tir, but this module is at the phase 'llvm'
// SELF: --compare: error: 'aot' is what runs already: a comparison with itself proves nothing
// SELF-NEXT: hint: compare with another: graph, interpreter, onnxruntime, openvino
// INTERPRETED: --compare: error: 'interpreter' is what runs already
// DIFFERS: error: output 'out0' differs from {{.*}} in 3 of 3 elements; at [0] it is 7.38{{.*}}, not 2.71
// BENCH: error: there is no peer 'onnxruntme'
// BENCH-NEXT: hint: did you mean 'onnxruntime'?
relay.func @main(%x: tensor<3xf32>, %n: tensor<i8>) -> (tensor<3xf32>, tensor<i8>) {
  %0 = relay.exp %x : tensor<3xf32>
  relay.return %0, %n : tensor<3xf32>, tensor<i8>
}
