// RUN: weft-opt %s -p verify-memory --verify-diagnostics

tir.prim_func @partly_run_by_the_host(%x: memref<8xf32>, %y: memref<8xf32>) attributes {"tir.target" = "cuda"} {
  %z = tir.alloc_buffer "global" : memref<8xf32>
  tir.for thread_binding "threadIdx.x" %i = 0 to 8 {
    tir.block @copy(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%z[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %z[%v] : memref<8xf32>
    }
  }
  tir.for %i = 0 to 8 {
    // expected-error @+1 {{block @copy is run by the host, which cannot touch the memory of a GPU}}
    tir.block @copy(%v: spatial 8) = [%i] reads(%z[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %z[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}
