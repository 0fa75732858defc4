// RUN: weft-opt %s -p flatten-buffer | filecheck %s

// CHECK-LABEL: tir.prim_func @rows_lie_one_after_the_other
// CHECK-NEXT:    %b = tir.alloc_buffer "global" : memref<32xf32>
// CHECK:         writes(%b[%u * 8 + %v] : memref<32xf32>)
// CHECK:         reads(%b[%w * 8 + %t] : memref<32xf32>) writes(%y[%w, %t] : memref<4x8xf32>)
tir.prim_func @rows_lie_one_after_the_other(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  %b = tir.alloc_buffer "global" : memref<4x8xf32>
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 8 {
      tir.block @to(%u: spatial 4, %v: spatial 8) = [%i, %j] reads(%x[%u, %v] : memref<4x8xf32>) writes(%b[%u, %v] : memref<4x8xf32>) {
        %0 = memref.load %x[%u, %v] : memref<4x8xf32>
        memref.store %0, %b[%u, %v] : memref<4x8xf32>
      }
    }
  }
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 8 {
      tir.block @from(%w: spatial 4, %t: spatial 8) = [%i, %j] reads(%b[%w, %t] : memref<4x8xf32>) writes(%y[%w, %t] : memref<4x8xf32>) {
        %0 = memref.load %b[%w, %t] : memref<4x8xf32>
        memref.store %0, %y[%w, %t] : memref<4x8xf32>
      }
    }
  }
}

// What is said of the distance of rows is in the indices; what separates dimensions of memory stays.
// CHECK-LABEL: tir.prim_func @rows_that_lie_apart_and_memory_of_two_dimensions
// CHECK-NEXT:    %b = tir.alloc_buffer "global" : memref<44xf32>
// CHECK-NEXT:    %c = tir.alloc_buffer "global" {axis_separators = [1 : i64]} : memref<4x8xf32>
// CHECK:         writes(%b[%u * 11 + %v] : memref<44xf32>, %c[(%u floordiv 2) * 2 + %u mod 2, %v] : memref<4x8xf32>) {
// CHECK-NOT:     buffer_dim_align
tir.prim_func @rows_that_lie_apart_and_memory_of_two_dimensions(%x: memref<4x8xf32>) {
  %b = tir.alloc_buffer "global" : memref<4x8xf32>
  %c = tir.alloc_buffer "global" {axis_separators = [2]} : memref<2x2x8xf32>
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 8 {
      tir.block @to(%u: spatial 4, %v: spatial 8) = [%i, %j] reads(%x[%u, %v] : memref<4x8xf32>)
          writes(%b[%u, %v] : memref<4x8xf32>, %c[%u floordiv 2, %u mod 2, %v] : memref<2x2x8xf32>)
          attributes {buffer_dim_align = [[0, 0, 8, 3], [0, 1, 4, 0]]} {
        %two = arith.constant 2 : index
        %0 = memref.load %x[%u, %v] : memref<4x8xf32>
        memref.store %0, %b[%u, %v] : memref<4x8xf32>
        %1 = arith.divui %u, %two : index
        %2 = arith.remui %u, %two : index
        memref.store %0, %c[%1, %2, %v] : memref<2x2x8xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @what_a_call_is_handed_keeps_its_shape
// CHECK-NEXT:    %b = tir.alloc_buffer "global" : memref<4x8xf32>
tir.prim_func @what_a_call_is_handed_keeps_its_shape(%y: memref<1xf32>) {
  %b = tir.alloc_buffer "global" : memref<4x8xf32>
  tir.block @call() = [] reads() writes(%b : memref<4x8xf32>) {
    tir.call packed "fill"(w %b) : (memref<4x8xf32>) -> ()
  }
}

// CHECK-LABEL: tir.prim_func @open_rows_stay
// CHECK-NEXT:    %b = tir.alloc_buffer "global" [4, %n] : memref<4x?xf32>
tir.prim_func @open_rows_stay(%x: memref<4x?xf32>, %n: index) shapes(%x[4, %n]) {
  %b = tir.alloc_buffer "global" [4, %n] : memref<4x?xf32>
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to %n {
      tir.block @to(%u: spatial 4, %v: spatial %n) = [%i, %j] reads(%x[%u, %v] : memref<4x?xf32>) writes(%b[%u, %v] : memref<4x?xf32>) {
        %0 = memref.load %x[%u, %v] : memref<4x?xf32>
        memref.store %0, %b[%u, %v] : memref<4x?xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @rows_stay_that_alone_show_iterations_to_be_apart
// CHECK-NEXT:    %a = tir.alloc_buffer "global" : memref<3x9xf32>
// CHECK-NEXT:    %b = tir.alloc_buffer "global" : memref<27xf32>
tir.prim_func @rows_stay_that_alone_show_iterations_to_be_apart(%z: f32) {
  %a = tir.alloc_buffer "global" : memref<3x9xf32>
  %b = tir.alloc_buffer "global" : memref<3x9xf32>
  tir.for parallel %i = 0 to 3 {
    tir.for %j = 0 to 5 {
      tir.for %k = 0 to 2 {
        tir.block @to(%u: spatial 3, %v: opaque 5, %w: opaque 2) = [%i, %j, %k] reads() writes(%a[%u, %v * 2 + %w] : memref<3x9xf32>) {
          %two = arith.constant 2 : index
          %nine = arith.constant 9 : index
          %0 = arith.muli %v, %two : index
          %1 = arith.addi %0, %w : index
          %2 = arith.cmpi slt, %1, %nine : index
          scf.if %2 {
            memref.store %z, %a[%u, %1] : memref<3x9xf32>
          }
        }
      }
    }
    tir.for %l = 0 to 9 {
      tir.block @all(%u: spatial 3, %v: spatial 9) = [%i, %l] reads() writes(%b[%u, %v] : memref<3x9xf32>) {
        memref.store %z, %b[%u, %v] : memref<3x9xf32>
      }
    }
  }
}
