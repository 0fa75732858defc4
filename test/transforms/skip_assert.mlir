// RUN: weft-opt %s -p skip-assert | filecheck %s

// CHECK-LABEL: tir.prim_func @an_assertion_goes_and_a_check_stays
// CHECK:           tir.check
// CHECK-NOT:       tir.assert
// CHECK:           memref.store
tir.prim_func @an_assertion_goes_and_a_check_stays(%x: memref<8xindex>, %y: memref<8xf32>, %z: f32) {
  tir.for %i = 0 to 8 {
    tir.block @b(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xindex>) writes(%y : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xindex>
      %1 = tir.check %0 of %0 in 8 "index {index} is not below {extent}"
      %holds = arith.constant true
      tir.assert %holds "always"
      memref.store %z, %y[%1] : memref<8xf32>
    }
  }
}
