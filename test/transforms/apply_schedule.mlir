// RUN: weft-opt %s -p apply-schedule --split-input-file | filecheck %s

// A schedule in the module is applied to the function that it names, and is gone then.

// CHECK-LABEL: tir.prim_func @copy
// CHECK-NEXT:    tir.for parallel %i = 0 to 4 {
// CHECK-NEXT:      tir.for vectorized %i_1 = 0 to 16 {
// CHECK-NEXT:        tir.block @copy(%v: spatial 64) = [%i * 16 + %i_1]
// CHECK-NOT:   schedule.sequence
tir.prim_func @copy(%x: memref<64xf32>, %y: memref<64xf32>) {
  tir.for %i = 0 to 64 {
    tir.block @copy(%v: spatial 64) = [%i] reads(%x[%v] : memref<64xf32>) writes(%y[%v] : memref<64xf32>) {
      %0 = memref.load %x[%v] : memref<64xf32>
      memref.store %0, %y[%v] : memref<64xf32>
    }
  }
}
schedule.sequence @s on @copy {
  %b = schedule.get_block @copy
  %i = schedule.get_loops %b -> 1
  %n = schedule.sample_categorical {candidates = [8, 16], probs = [0.5, 0.5], decision = 1}
  %o, %l = schedule.split %i, [?, %n] -> 2
  schedule.vectorize %l
  schedule.parallel %o
}

// -----

// One without a name is for the only function there is.

// CHECK-LABEL: tir.prim_func @only
// CHECK-NEXT:    tir.for unrolled %i = 0 to 2 {
tir.prim_func @only(%x: memref<2xf32>, %y: memref<2xf32>) {
  tir.for %i = 0 to 2 {
    tir.block @b(%v: spatial 2) = [%i] reads(%x[%v] : memref<2xf32>) writes(%y[%v] : memref<2xf32>) {
      %0 = memref.load %x[%v] : memref<2xf32>
      memref.store %0, %y[%v] : memref<2xf32>
    }
  }
}
schedule.sequence @s {
  %b = schedule.get_block @b
  %i = schedule.get_loops %b -> 1
  schedule.unroll %i
}
