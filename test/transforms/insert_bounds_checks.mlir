// RUN: weft-opt %s -p insert-bounds-checks | filecheck %s

// CHECK-LABEL: tir.prim_func @an_index_that_is_data_is_checked
tir.prim_func @an_index_that_is_data_is_checked(%n: memref<4xindex>, %x: memref<8x3xf32>, %y: memref<4x3xf32>) {
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 3 {
      tir.block @take(%v: spatial 4, %w: spatial 3) = [%i, %j]
          reads(%n[%v] : memref<4xindex>, %x : memref<8x3xf32>) writes(%y[%v, %w] : memref<4x3xf32>) {
        // CHECK:      %0 = memref.load %n[%v] : memref<4xindex>
        // CHECK-NEXT: %1 = tir.check %0 of %0 in 8 "'memref.load': index {index} lies outside of dimension 0 of %x, whose extent is {extent}"
        // CHECK-NEXT: %2 = memref.load %x[%1, %w] : memref<8x3xf32>
        // CHECK-NEXT: memref.store %2, %y[%v, %w] : memref<4x3xf32>
        %0 = memref.load %n[%v] : memref<4xindex>
        %1 = memref.load %x[%0, %w] : memref<8x3xf32>
        memref.store %1, %y[%v, %w] : memref<4x3xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_write_is_checked_too
// CHECK:         %1 = tir.check %0 of %0 in 8 "'memref.store': index {index} lies outside of dimension 0 of %y, whose extent is {extent}"
// CHECK-NEXT:    memref.store %0, %y[%1] : memref<8xindex>
tir.prim_func @a_write_is_checked_too(%n: memref<4xindex>, %y: memref<8xindex>) {
  tir.for %i = 0 to 4 {
    tir.block @put(%v: opaque 4) = [%i] reads(%n[%v] : memref<4xindex>) writes(%y : memref<8xindex>) {
      %0 = memref.load %n[%v] : memref<4xindex>
      memref.store %0, %y[%0] : memref<8xindex>
    }
  }
}

// Clipped, taken modulo the extent, checked already: what leads to the index shows that it is inside.
// CHECK-LABEL: tir.prim_func @what_is_brought_inside_is_not_checked
// CHECK-COUNT-1: tir.check
// CHECK-NOT:   tir.check
// CHECK-LABEL: tir.prim_func @an_access_beyond_the_condition
tir.prim_func @what_is_brought_inside_is_not_checked(%n: memref<4xi32>, %x: memref<8xf32>, %y: memref<4xf32>) {
  tir.for %i = 0 to 4 {
    tir.block @take(%v: spatial 4) = [%i] reads(%n[%v] : memref<4xi32>, %x : memref<8xf32>) writes(%y[%v] : memref<4xf32>) {
      %zero = arith.constant 0 : index
      %seven = arith.constant 7 : index
      %eight = arith.constant 8 : index
      %0 = memref.load %n[%v] : memref<4xi32>
      %1 = arith.index_cast %0 : i32 to index
      %2 = arith.minsi %1, %seven : index
      %3 = arith.maxsi %2, %zero : index
      %a = memref.load %x[%3] : memref<8xf32>
      %4 = arith.floordivsi %1, %eight : index
      %5 = arith.muli %4, %eight : index
      %6 = arith.subi %1, %5 : index
      %b = memref.load %x[%6] : memref<8xf32>
      %7 = arith.remui %1, %eight : index
      %c = memref.load %x[%7] : memref<8xf32>
      %8 = tir.check %1 of %1 in 8 "mine"
      %d = memref.load %x[%8] : memref<8xf32>
      %9 = arith.addf %a, %b : f32
      %10 = arith.addf %c, %d : f32
      %11 = arith.addf %9, %10 : f32
      memref.store %11, %y[%v] : memref<4xf32>
    }
  }
}

// CHECK:       scf.if
// CHECK-NEXT:    %{{.*}} = tir.check %[[AT:.*]] of %[[AT]] in 8
// CHECK-NEXT:    memref.load %x
tir.prim_func @an_access_beyond_the_condition(%c: memref<i1>, %x: memref<8xf32>, %y: memref<4xf32>) {
  tir.for %i = 0 to 4 {
    tir.block @guarded(%v: spatial 4) = [%i] reads(%c[] : memref<i1>, %x[%v + 6] : memref<8xf32>) writes(%y[%v] : memref<4xf32>) {
      %six = arith.constant 6 : index
      %zero = arith.constant 0.0 : f32
      %0 = memref.load %c[] : memref<i1>
      %1 = arith.addi %v, %six : index
      %2 = scf.if %0 -> (f32) {
        %3 = memref.load %x[%1] : memref<8xf32>
        scf.yield %3 : f32
      } else {
        scf.yield %zero : f32
      }
      memref.store %2, %y[%v] : memref<4xf32>
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_buffer_without_elements_is_not_touched
// CHECK:         %1 = tir.check %0 of %0 in 0 "'memref.load'
// CHECK-NEXT:    %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:    memref.store %[[ZERO]], %y
tir.prim_func @a_buffer_without_elements_is_not_touched(%n: memref<4xindex>, %x: memref<0xf32>, %y: memref<4xf32>) {
  tir.for %i = 0 to 4 {
    tir.block @take(%v: spatial 4) = [%i] reads(%n[%v] : memref<4xindex>, %x : memref<0xf32>) writes(%y[%v] : memref<4xf32>) {
      %0 = memref.load %n[%v] : memref<4xindex>
      %1 = memref.load %x[%0] : memref<0xf32>
      memref.store %1, %y[%v] : memref<4xf32>
    }
  }
}

// The loops have more points than are looked at, and their ranges do not show that %v stays below 20000.
// CHECK-LABEL: tir.prim_func @an_iterator_that_may_leave_its_extent
// CHECK:         tir.check %v of %v in 20000 "'tir.block': iterator %v of block @b is {index}, but its extent is {extent}"
// CHECK-NEXT:    memref.store %z, %y[%0] : memref<20000xf32>
tir.prim_func @an_iterator_that_may_leave_its_extent(%y: memref<20000xf32>, %z: f32) {
  tir.for %i = 0 to 200 {
    tir.for %j = 0 to 200 {
      tir.block @b(%v: partial spatial 20000) = [%i * 200 + %j] where [%i * -1 + %j * -1 + 99] reads() writes(%y[%v] : memref<20000xf32>) {
        memref.store %z, %y[%v] : memref<20000xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @an_index_that_is_data_is_checked_against_a_symbol
// CHECK:         %[[EXTENT:.*]] = arith.addi %n, %{{.*}} : index
// CHECK-NEXT:    %[[PLACE:.*]] = tir.check %0 of %0 within %[[EXTENT]] "'memref.load'
// CHECK-NEXT:    memref.load %x[%[[PLACE]], %w] : memref<?x4xf32>
tir.prim_func @an_index_that_is_data_is_checked_against_a_symbol(%x: memref<?x4xf32>, %i: memref<8xindex>, %y: memref<8x4xf32>, %n: index) shapes(%x[%n + 1, 4]) {
  tir.for %a = 0 to 8 {
    tir.for %j = 0 to 4 {
      tir.block @take(%v: spatial 8, %w: spatial 4) = [%a, %j] reads(%i[%v] : memref<8xindex>, %x : memref<?x4xf32>) writes(%y[%v, %w] : memref<8x4xf32>) {
        %0 = memref.load %i[%v] : memref<8xindex>
        %1 = memref.load %x[%0, %w] : memref<?x4xf32>
        memref.store %1, %y[%v, %w] : memref<8x4xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @what_symbols_prove_is_not_checked
// CHECK-NOT:     tir.check
tir.prim_func @what_symbols_prove_is_not_checked(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) shapes(%x[%n], %y[%n]) {
  tir.for %a = 0 to (%n + 3) floordiv 4 {
    tir.for %b = 0 to 4 {
      tir.block @copy(%v: spatial %n) = [%a * 4 + %b] where [%n - %a * 4 - %b - 1] reads(%x[%n - %v - 1] : memref<?xf32>) writes(%y[%v] : memref<?xf32>) {
        %last = arith.constant 1 : index
        %0 = arith.subi %n, %v : index
        %1 = arith.subi %0, %last : index
        %2 = memref.load %x[%1] : memref<?xf32>
        memref.store %2, %y[%v] : memref<?xf32>
      }
    }
  }
}

// What is left of tiles of 8 is a tile of 4, or none, then tiles of 2.

// CHECK-LABEL: tir.prim_func @smaller_tiles_of_what_is_left_are_not_checked
// CHECK-NOT:     tir.check
tir.prim_func @smaller_tiles_of_what_is_left_are_not_checked(%x: memref<?xf32>, %n: index) shapes(%x[%n]) {
  tir.for %a = 0 to (%n floordiv 4) mod 2 {
    tir.for %b = 0 to 4 {
      tir.block @fill(%v: partial spatial %n) = [(%n floordiv 8) * 8 + %a * 4 + %b] reads() writes(%x[%v] : memref<?xf32>) {
        %z = arith.constant 0.0 : f32
        memref.store %z, %x[%v] : memref<?xf32>
      }
    }
  }
  tir.for %a = 0 to (%n floordiv 2) mod 2 {
    tir.for %b = 0 to 2 {
      tir.block @fill(%v: partial spatial %n) = [(%n floordiv 4) * 4 + %a * 2 + %b] reads() writes(%x[%v] : memref<?xf32>) {
        %z = arith.constant 0.0 : f32
        memref.store %z, %x[%v] : memref<?xf32>
      }
    }
  }
}
