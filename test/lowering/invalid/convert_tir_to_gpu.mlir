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

// expected-error @+1 {{has extents that are known only when it is called, and is launched with known ones}}
tir.prim_func @symbols(%y: memref<?xf32>, %n: index) shapes(%y[%n]) {
  tir.for %i = 0 to %n {
    tir.block @fill(%v: spatial %n) = [%i] reads() writes(%y[%v] : memref<?xf32>) {
      %0 = arith.constant 1.0 : f32
      memref.store %0, %y[%v] : memref<?xf32>
    }
  }
}
