// RUN: weft-opt %s -p convert-loops-to-llvm --remarks --verify-diagnostics --split-input-file

// expected-error @+1 {{memref<4xf32, 3 : i64> lies in a memory space of its own, and there is one memory here}}
func.func @an_argument_in_another_memory(%x: memref<4xf32, 3 : i64>) {
  func.return
}

// -----

func.func @a_buffer_in_another_memory() {
  // expected-error @+1 {{memref<4xf32, 3 : i64> lies in a memory space of its own, and there is one memory here}}
  %0 = memref.alloca() : memref<4xf32, 3 : i64>
  func.return
}

// -----

// expected-remark @+1 {{the attribute 'passthrough' has no effect}}
func.func @an_attribute_of_a_function(%x: memref<4xf32>) attributes {passthrough = ["cold"], weft.note = "kept"} {
  func.return
}

// -----

// expected-remark @+1 {{the attribute 'weft.alignment' has no effect}}
func.func @an_attribute_of_an_argument(%x: memref<4xf32> {weft.alignment = 64 : i64}) {
  func.return
}

// -----

func.func @an_attribute_of_an_operation(%x: memref<4xf32>, %i: index) -> f32 {
  // expected-remark @+1 {{the attribute 'loop_annotation' has no effect}}
  %0 = memref.load %x[%i] {loop_annotation = "none"} : memref<4xf32>
  func.return %0 : f32
}

// -----

func.func @no_function_of_a_gpu_waits_for_its_threads() {
  // expected-error @+1 {{'gpu.barrier': it is for functions that a GPU is launched with, which say 'gpu.kernel'}}
  "gpu.barrier"() : () -> ()
  func.return
}

// -----

func.func @no_function_of_a_gpu_has_a_thread_with_a_number() -> index {
  // expected-error @+1 {{'gpu.thread_id': it is for functions that a GPU is launched with, which say 'gpu.kernel'}}
  %0 = "gpu.thread_id"() {dimension = #gpu<dim x>} : () -> index
  func.return %0 : index
}

// -----

func.func @a_buffer_in_an_operation_of_the_llvm_dialect(%x: memref<4xf32>) {
  // expected-error @+1 {{it takes a value of type memref<4xf32>, which is none of the llvm dialect's}}
  %0 = "llvm.bitcast"(%x) : (memref<4xf32>) -> i64
  func.return
}

// -----

func.func @an_index_in_a_structure() {
  // expected-error @+1 {{it gives a value of type !llvm.struct<(index, i32)>, which is none of the llvm dialect's}}
  %0 = llvm.mlir.undef : !llvm.struct<(index, i32)>
  func.return
}

// -----

func.func @a_short_float_that_becomes_an_integer(%x: bf16) {
  // expected-error @+1 {{it takes a value of type bf16, which is none of the llvm dialect's}}
  %0 = llvm.fadd %x, %x : bf16
  func.return
}
