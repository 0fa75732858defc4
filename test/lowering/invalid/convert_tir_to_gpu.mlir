// RUN: weft-opt %s -p convert-tir-to-gpu --verify-diagnostics --split-input-file

tir.prim_func @some_would_wait_forever(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<4xf32>) {
  tir.for %once = 0 to 1 {
    tir.for thread_binding "threadIdx.x" %i = 0 to 8 {
      tir.block @copy(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
    }
    tir.for thread_binding "threadIdx.x" %i = 0 to 4 {
      tir.block @some(%v: spatial 4) = [%i] reads(%x[%v] : memref<8xf32>) writes(%z[%v] : memref<4xf32>) {
        %0 = memref.load %x[%v] : memref<8xf32>
        memref.store %0, %z[%v] : memref<4xf32>
      }
      // expected-error @+1 {{not all threads of a block come here, so that they would wait forever}}
      tir.storage_sync "shared"
    }
  }
}

// -----

tir.prim_func @threads_are_known(%y: memref<?xf32>, %n: index) shapes(%y[%n]) {
  // expected-error @+1 {{the number of iterations of %i is known only when the function is called, and a block has as many threads as its code says}}
  tir.for thread_binding "threadIdx.x" %i = 0 to %n {
    tir.block @fill(%v: spatial %n) = [%i] reads() writes(%y[%v] : memref<?xf32>) {
      %0 = arith.constant 1.0 : f32
      memref.store %0, %y[%v] : memref<?xf32>
    }
  }
}

// -----

tir.prim_func @memory_of_a_thread_is_known(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %n: index, %m: index) shapes(%x[%n, %m], %y[%n, %m]) {
  // expected-error @+1 {{a thread's own memory has an extent that is known only when the function is called}}
  %t = tir.alloc_buffer "local" [%n, %m] : memref<?x?xf32>
  tir.for thread_binding "blockIdx.x" %i = 0 to %n {
    tir.for %j = 0 to %m {
      tir.block @fill(%v: spatial %n, %w: spatial %m) = [%i, %j] reads(%x[%v, %w] : memref<?x?xf32>) writes(%t[%v, %w] : memref<?x?xf32>) {
        %0 = memref.load %x[%v, %w] : memref<?x?xf32>
        memref.store %0, %t[%v, %w] : memref<?x?xf32>
      }
    }
    tir.for %j = 0 to %m {
      tir.block @copy(%v: spatial %n, %w: spatial %m) = [%i, %j] reads(%t[%v, %w] : memref<?x?xf32>) writes(%y[%v, %w] : memref<?x?xf32>) {
        %0 = memref.load %t[%v, %w] : memref<?x?xf32>
        memref.store %0, %y[%v, %w] : memref<?x?xf32>
      }
    }
  }
}
