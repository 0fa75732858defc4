// RUN: weft-opt %s -p remove-no-op | filecheck %s
// RUN: weft-opt %s -p "remove-no-op{use-dataflow-analysis=true}" | filecheck %s --check-prefix=FLOW

// CHECK-LABEL: tir.prim_func @what_does_nothing_goes(%x: memref<8xf32>) {
// CHECK-NEXT:  }
tir.prim_func @what_does_nothing_goes(%x: memref<8xf32>) {
  %unused = tir.alloc_buffer "global" : memref<4xf32>
  tir.for %i = 0 to 8 {
    tir.for %j = 0 to 4 {
    }
  }
  tir.for %i = 0 to 8 {
    tir.block @own(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%x[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      %1 = math.exp %0 : f32
      memref.store %0, %x[%v] : memref<8xf32>
    }
  }
  tir.for %i = 0 to 8 {
    tir.block @never(%v: partial spatial 8) = [%i] where [%i - 8] reads() writes(%x[%v] : memref<8xf32>) {
      %0 = arith.constant 1.0 : f32
      memref.store %0, %x[%v] : memref<8xf32>
    }
  }
}

// CHECK-LABEL: tir.prim_func @what_does_something_stays
// CHECK:           tir.call extern "work"
// CHECK:           tir.assert
// CHECK:           scf.if
// CHECK-NEXT:        memref.store
// CHECK-NOT:       math.exp
// CHECK-NOT:       scf.if
tir.prim_func @what_does_something_stays(%x: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block @b(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%x[%v] : memref<8xf32>) {
      tir.call extern "work"() : () -> ()
      %zero = arith.constant 0.0 : f32
      %0 = memref.load %x[%v] : memref<8xf32>
      %1 = arith.cmpf olt, %0, %zero : f32
      tir.assert %1 "negative"
      scf.if %1 {
        memref.store %zero, %x[%v] : memref<8xf32>
      }
      scf.if %1 {
        %2 = math.exp %0 : f32
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @an_element_that_was_written_meanwhile_is_stored
// CHECK:           memref.store
// CHECK-NEXT:      memref.store
tir.prim_func @an_element_that_was_written_meanwhile_is_stored(%x: memref<8xf32>, %z: f32) {
  tir.for %i = 0 to 8 {
    tir.block @b(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%x[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %z, %x[%v] : memref<8xf32>
      memref.store %0, %x[%v] : memref<8xf32>
    }
  }
}

// CHECK-LABEL: tir.prim_func @what_is_left_of_an_unrolled_loop_is_partial
// CHECK-NEXT:    tir.block @b(%v: partial spatial 2) = [0]
// CHECK-NOT:     tir.block @b
tir.prim_func @what_is_left_of_an_unrolled_loop_is_partial(%x: memref<2xf32>) {
  tir.block @b(%v: spatial 2) = [0] reads(%x[%v] : memref<2xf32>) writes(%x[%v] : memref<2xf32>) {
    %0 = memref.load %x[%v] : memref<2xf32>
    %1 = math.exp %0 : f32
    memref.store %1, %x[%v] : memref<2xf32>
  }
  tir.block @b(%w: spatial 2) = [1] reads(%x[%w] : memref<2xf32>) writes(%x[%w] : memref<2xf32>) {
    %0 = memref.load %x[%w] : memref<2xf32>
    memref.store %0, %x[%w] : memref<2xf32>
  }
}

// What is written again is not idle where something has read it in between, which is looked for in all of a function.
// FLOW-LABEL: tir.prim_func @what_is_read_before_it_is_written_again_stays
// FLOW:           tir.block @first
// FLOW:             memref.store
// FLOW:           tir.block @reader
// FLOW:           tir.block @again
tir.prim_func @what_is_read_before_it_is_written_again_stays(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block @first(%v: spatial 8) = [%i] reads() writes(%x[%v] : memref<8xf32>) {
      %0 = arith.constant 1.0 : f32
      memref.store %0, %x[%v] : memref<8xf32>
    }
  }
  tir.for %j = 0 to 8 {
    tir.block @reader(%v: spatial 8) = [%j] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
  tir.for %k = 0 to 8 {
    tir.block @again(%v: spatial 8) = [%k] reads() writes(%x[%v] : memref<8xf32>) {
      %0 = arith.constant 2.0 : f32
      memref.store %0, %x[%v] : memref<8xf32>
    }
  }
}
