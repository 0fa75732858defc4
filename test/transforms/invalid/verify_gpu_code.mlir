// RUN: weft-opt %s -p verify-gpu-code --verify-diagnostics --split-input-file

tir.prim_func @too_many_threads(%x: memref<2048xf32>, %y: memref<2048xf32>) {
  // expected-error @+1 {{a block has 2048 threads, and the target has at most 1024}}
  tir.for thread_binding "threadIdx.x" %t = 0 to 2048 {
    tir.block @copy(%v: spatial 2048) = [%t] reads(%x[%v] : memref<2048xf32>) writes(%y[%v] : memref<2048xf32>) {
      %0 = memref.load %x[%v] : memref<2048xf32>
      memref.store %0, %y[%v] : memref<2048xf32>
    }
  }
}

// -----

tir.prim_func @nobody_runs_it(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %t = 0 to 8 {
    // expected-error @+1 {{block @copy is run by the host, which cannot touch the memory of a GPU}}
    tir.block @copy(%v: spatial 8) = [%t] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}

// -----

tir.prim_func @a_loop_of_processors(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{a parallel loop is shared by the threads of a processor, not of a GPU}}
  tir.for parallel %t = 0 to 8 {
    tir.block @copy(%v: spatial 8) = [%t] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}

// -----

tir.prim_func @blocks_in_a_serial_loop(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %s = 0 to 2 {
    // expected-error @+1 {{a loop bound to blockIdx.x stands in one that is not bound to blocks}}
    tir.for thread_binding "blockIdx.x" %t = 0 to 4 {
      tir.block @copy(%v: spatial 8) = [%s * 4 + %t] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
    }
  }
}

// -----

tir.prim_func @virtual_threads(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{there is no axis 'vthread' in a launch}}
  tir.for thread_binding "vthread" %t = 0 to 8 {
    tir.block @copy(%v: spatial 8) = [%t] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}

// -----

tir.prim_func @too_much_shared_memory(%x: memref<16384xf32>, %y: memref<16384xf32>) {
  // expected-error @+1 {{a block's threads share 65,536 bytes, and the target has 49,152}}
  %s = tir.alloc_buffer "shared" : memref<16384xf32>
  tir.for thread_binding "threadIdx.x" %t = 0 to 1 {
    tir.for %i = 0 to 16384 {
    tir.block @fill(%v: spatial 16384) = [%i] reads(%x[%v] : memref<16384xf32>) writes(%s[%v] : memref<16384xf32>) {
      %0 = memref.load %x[%v] : memref<16384xf32>
      memref.store %0, %s[%v] : memref<16384xf32>
    }
    }
    tir.for %i = 0 to 16384 {
    tir.block @copy(%v: spatial 16384) = [%i] reads(%s[%v] : memref<16384xf32>) writes(%y[%v] : memref<16384xf32>) {
      %0 = memref.load %s[%v] : memref<16384xf32>
      memref.store %0, %y[%v] : memref<16384xf32>
    }
    }
  }
}

// -----

tir.prim_func @shared_by_two_launches(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{memory of the scope "shared" is gone when a launch ends, and 2 nests use it, a launch each}}
  %s = tir.alloc_buffer "shared" : memref<8xf32>
  tir.for thread_binding "threadIdx.x" %t = 0 to 8 {
    tir.block @fill(%v: spatial 8) = [%t] reads(%x[%v] : memref<8xf32>) writes(%s[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %s[%v] : memref<8xf32>
    }
  }
  tir.for thread_binding "threadIdx.x" %t = 0 to 8 {
    tir.block @copy(%v: spatial 8) = [%t] reads(%s[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %s[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}

// -----

tir.prim_func @other_memory(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{the scope is "texture", and code for a GPU has global, local, shared, shared.dyn memory}}
  %s = tir.alloc_buffer "texture" : memref<8xf32>
  tir.for thread_binding "threadIdx.x" %t = 0 to 8 {
    tir.block @copy(%v: spatial 8) = [%t] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}

// -----

tir.prim_func @a_function_of_the_host(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for thread_binding "threadIdx.x" %t = 0 to 8 {
    tir.block @call(%v: spatial 8) = [%t] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      // expected-error @+1 {{calls cosf, a function of the host, which a GPU cannot}}
      %1 = tir.call pure extern "cosf"(%0) : (f32) -> f32
      memref.store %1, %y[%v] : memref<8xf32>
    }
  }
}
