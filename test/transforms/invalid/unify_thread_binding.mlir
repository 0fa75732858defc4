// RUN: weft-opt %s -p unify-thread-binding --split-input-file --verify-diagnostics

tir.prim_func @extents_that_differ_are_refused(%x: memref<2x4xf32>, %y: memref<2x8xf32>) {
  tir.for thread_binding "blockIdx.x" %i = 0 to 2 {
    tir.for thread_binding "threadIdx.x" %t = 0 to 4 {
      tir.block @a(%u: spatial 2, %v: spatial 4) = [%i, %t] reads() writes(%x[%u, %v] : memref<2x4xf32>) {
        %0 = arith.constant 1.0 : f32
        memref.store %0, %x[%u, %v] : memref<2x4xf32>
      }
    }
    // expected-error@+1 {{this loop along threadIdx.x has 8 iterations, another one of its launch 4}}
    tir.for thread_binding "threadIdx.x" %s = 0 to 8 {
      tir.block @b(%u: spatial 2, %v: spatial 8) = [%i, %s] reads() writes(%y[%u, %v] : memref<2x8xf32>) {
        %0 = arith.constant 1.0 : f32
        memref.store %0, %y[%u, %v] : memref<2x8xf32>
      }
    }
  }
}

// -----

tir.prim_func @what_the_first_thread_does_alone_is_refused(%x: memref<2xf32>, %y: memref<2x8xf32>) {
  tir.for thread_binding "blockIdx.x" %i = 0 to 2 {
    // expected-error@+1 {{block @a stands in no loop along threadIdx.x: the first thread alone runs it}}
    tir.block @a(%u: spatial 2) = [%i] reads() writes(%x[%u] : memref<2xf32>) {
      %0 = arith.constant 1.0 : f32
      memref.store %0, %x[%u] : memref<2xf32>
    }
    tir.for thread_binding "threadIdx.x" %s = 0 to 8 {
      tir.block @b(%u: spatial 2, %v: spatial 8) = [%i, %s] reads() writes(%y[%u, %v] : memref<2x8xf32>) {
        %0 = arith.constant 1.0 : f32
        memref.store %0, %y[%u, %v] : memref<2x8xf32>
      }
    }
  }
}

// -----

// The second loop reads what other threads wrote in the first.
// expected-error@+1 {{one loop for each axis of a launch is not valid}}
tir.prim_func @what_other_threads_wrote_is_not_read_at_once(%x: memref<2x8xf32>, %y: memref<2x8xf32>) {
  tir.for thread_binding "blockIdx.x" %i = 0 to 2 {
    tir.for thread_binding "threadIdx.x" %t = 0 to 8 {
      tir.block @a(%u: spatial 2, %v: spatial 8) = [%i, %t] reads() writes(%x[%u, %v] : memref<2x8xf32>) {
        %0 = arith.constant 1.0 : f32
        memref.store %0, %x[%u, %v] : memref<2x8xf32>
      }
    }
    tir.for thread_binding "threadIdx.x" %s = 0 to 8 {
      tir.block @b(%u: spatial 2, %v: spatial 8) = [%i, %s] reads(%x[%u, %v * -1 + 7] : memref<2x8xf32>) writes(%y[%u, %v] : memref<2x8xf32>) {
        %c = arith.constant 7 : index
        %n = arith.subi %c, %v : index
        %0 = memref.load %x[%u, %n] : memref<2x8xf32>
        memref.store %0, %y[%u, %v] : memref<2x8xf32>
      }
    }
  }
}
