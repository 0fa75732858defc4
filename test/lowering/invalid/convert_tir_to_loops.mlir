// RUN: weft-opt %s -p convert-tir-to-loops --verify-diagnostics --split-input-file

tir.prim_func @a_thread_that_processors_lack(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{a loop bound to a thread cannot be lowered for a processor, which has no such threads}}
  tir.for thread_binding "threadIdx.x" %i = 0 to 8 {
    tir.block @copy(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}

// -----

// expected-error @+1 {{%z is of type f32, and only buffers are passed to a kernel}}
tir.prim_func @an_argument_that_is_no_buffer(%y: memref<8xf32>, %z: f32) {
  tir.for %i = 0 to 8 {
    tir.block @fill(%v: spatial 8) = [%i] reads() writes(%y[%v] : memref<8xf32>) {
      memref.store %z, %y[%v] : memref<8xf32>
    }
  }
}

// -----

// expected-error @+1 {{%y has a layout or a memory space, which would be lost: memref<4x4xf32, strided<[8, 1]>>}}
tir.prim_func @a_layout(%y: memref<4x4xf32, strided<[8, 1]>>) {
}

// -----

tir.prim_func @a_memory_space() {
  // expected-error @+1 {{%t has a layout or a memory space, which would be lost: memref<4xf32, 1 : i64>}}
  %t = tir.alloc_buffer "global" : memref<4xf32, 1 : i64>
}

// -----

tir.prim_func @a_loop_in_a_block(%y: memref<8xf32>) {
  tir.block @fill() = [] reads() writes(%y : memref<8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %z = arith.constant 1.0 : f32
    // expected-error @+1 {{'scf.for': cannot be lowered in a tir.block}}
    scf.for %i = %c0 to %c8 step %c1 {
      memref.store %z, %y[%i] : memref<8xf32>
    }
  }
}

// -----

func.func private @log(f32) -> ()

tir.prim_func @a_call_in_a_block(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block @copy(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      // expected-error @+1 {{'func.call': cannot be lowered in a tir.block}}
      func.call @log(%0) : (f32) -> ()
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}

// -----

tir.prim_func @an_inner_parallel_loop_is_told_of(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  tir.for %i = 0 to 4 {
    // expected-remark @+1 {{only the outermost loop of a nest is shared by threads}}
    tir.for parallel %j = 0 to 8 {
      tir.block @copy(%v: spatial 4, %w: spatial 8) = [%i, %j]
          reads(%x[%v, %w] : memref<4x8xf32>) writes(%y[%v, %w] : memref<4x8xf32>) {
        %0 = memref.load %x[%v, %w] : memref<4x8xf32>
        memref.store %0, %y[%v, %w] : memref<4x8xf32>
      }
    }
  }
}

// -----

tir.prim_func @a_vector_of_loops_is_told_of(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  // expected-remark @+1 {{the loop is not vectorized: it holds more than blocks}}
  tir.for vectorized %i = 0 to 4 {
    tir.for %j = 0 to 8 {
      tir.block @copy(%v: spatial 4, %w: spatial 8) = [%i, %j]
          reads(%x[%v, %w] : memref<4x8xf32>) writes(%y[%v, %w] : memref<4x8xf32>) {
        %0 = memref.load %x[%v, %w] : memref<4x8xf32>
        memref.store %0, %y[%v, %w] : memref<4x8xf32>
      }
    }
  }
}

// -----

tir.prim_func @a_vector_that_starts_late_is_told_of(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-remark @+1 {{the loop is not vectorized: it starts at 4}}
  tir.for vectorized %i = 4 to 8 {
    tir.block @copy(%v: partial spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}

// -----

tir.prim_func @annotations_are_told_of(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-remark @+1 {{the loop's annotations have no effect}}
  tir.for %i = 0 to 8 annotations {pragma = 1 : i64} {
    tir.block @copy(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}

// -----

tir.prim_func @attributes(%x: memref<4xindex>) {
  // expected-remark @+1 {{attributes have no effect: note}}
  tir.for %i = 0 to 4 attributes {note} {
    // expected-remark @+1 {{attributes have no effect: pragma}}
    tir.block @b(%v: spatial 4) = [%i] reads() writes(%x[%v] : memref<4xindex>) attributes {pragma = 1 : i64} {
      memref.store %v, %x[%v] : memref<4xindex>
    }
  }
}
