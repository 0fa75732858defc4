// RUN: weft-opt %s -p remove-assume | filecheck %s

// CHECK-LABEL: tir.prim_func @what_only_assumes_goes_with_its_loop
// CHECK-NOT:       tir.assume
// CHECK-NOT:       @promise
// CHECK:           tir.block @b
// CHECK-NEXT:        memref.load %x[%v]
// CHECK-NEXT:        memref.store
tir.prim_func @what_only_assumes_goes_with_its_loop(%x: memref<8xi32>, %y: memref<8xi32>, %z: memref<8xi32>) {
  tir.for %i = 0 to 8 {
    tir.block @promise(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xi32>) writes() {
      %zero = arith.constant 0 : i32
      %0 = memref.load %x[%v] : memref<8xi32>
      %holds = arith.cmpi eq, %0, %zero : i32
      tir.assume %holds
    }
  }
  tir.for %i = 0 to 8 {
    tir.block @b(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xi32>, %z[%v] : memref<8xi32>) writes(%y[%v] : memref<8xi32>) {
      %0 = memref.load %x[%v] : memref<8xi32>
      %1 = memref.load %z[%v] : memref<8xi32>
      %holds = arith.cmpi slt, %0, %1 : i32
      tir.assume %holds
      memref.store %0, %y[%v] : memref<8xi32>
    }
  }
}

// CHECK-LABEL: tir.prim_func @an_assertion_is_no_assumption
// CHECK:           tir.assert
tir.prim_func @an_assertion_is_no_assumption(%y: memref<8xf32>, %z: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block @b(%v: spatial 8) = [%i] reads(%z[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %z[%v] : memref<8xf32>
      %holds = arith.cmpf oeq, %0, %0 : f32
      tir.assert %holds "not a number"
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}
