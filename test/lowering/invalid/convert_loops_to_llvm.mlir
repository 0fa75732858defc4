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
