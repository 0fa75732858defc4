// RUN: weft-opt %s -p verify-memory | filecheck %s

// CHECK-LABEL: tir.prim_func @for_the_processor
// CHECK-LABEL: tir.prim_func @run_by_threads
tir.prim_func @for_the_processor(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block @copy(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}

tir.prim_func @run_by_threads(%x: memref<8xf32>, %y: memref<8xf32>) attributes {"tir.target" = "cuda"} {
  tir.for thread_binding "threadIdx.x" %i = 0 to 8 {
    tir.block @copy(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}
