// RUN: weft-opt %s -p convert-blocks-to-opaque --split-input-file --verify-diagnostics

tir.prim_func @a_reduction_is_begun_first(%x: memref<4x8xf32>, %y: memref<4xf32>) {
  tir.for %i = 0 to 4 {
    tir.for %k = 0 to 8 {
      // expected-error@+1 {{block @sum has an init, which is for the first step of its reduction}}
      tir.block @sum(%v: spatial 4, %s: reduce 8) = [%i, %k] reads(%x[%v, %s] : memref<4x8xf32>) writes(%y[%v] : memref<4xf32>) {
        %0 = memref.load %y[%v] : memref<4xf32>
        %1 = memref.load %x[%v, %s] : memref<4x8xf32>
        %2 = arith.addf %0, %1 : f32
        memref.store %2, %y[%v] : memref<4xf32>
      } init(%w, %t) {
        %3 = arith.constant 0.0 : f32
        memref.store %3, %y[%w] : memref<4xf32>
      }
    }
  }
}

// -----

tir.prim_func @an_iterator_begins_at_0(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = -2 to 6 {
    // expected-error@+1 {{block @b stands in a loop that begins below 0, and an iterator begins at 0}}
    tir.block @b(%v: spatial 8) = [%i + 2] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}
