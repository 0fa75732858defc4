// RUN: %roundtrip
// RUN: weft-opt %s --mlir-print-op-generic | weft-opt - | filecheck %s

// CHECK-LABEL: tir.prim_func @a_function_takes_its_buffers_and_gives_nothing(%x: memref<4xf32>, %y: memref<4xf32>) {
tir.prim_func @a_function_takes_its_buffers_and_gives_nothing(%x: memref<4xf32>, %y: memref<4xf32>) {
}

// CHECK-LABEL: tir.prim_func @a_function_without_arguments() {
tir.prim_func @a_function_without_arguments() {
}

// CHECK-LABEL: tir.prim_func @a_function_has_attributes(%x: memref<f32>) attributes {note, count = 3 : i64} {
tir.prim_func @a_function_has_attributes(%x: memref<f32>) attributes {note, count = 3 : i64} {
}

// CHECK-LABEL: tir.prim_func @a_buffer_has_a_scope
tir.prim_func @a_buffer_has_a_scope() {
  // CHECK-NEXT: %shared = tir.alloc_buffer "global" : memref<4x0xf32>
  // CHECK-NEXT: %private = tir.alloc_buffer "local" {note = "tile"} : memref<7x2x16xbf16>
  %shared = tir.alloc_buffer "global" : memref<4x0xf32>
  %private = tir.alloc_buffer "local" {note = "tile"} : memref<7x2x16xbf16>
}

// CHECK-LABEL: tir.prim_func @a_loop_has_a_kind
tir.prim_func @a_loop_has_a_kind() {
  // CHECK-NEXT: tir.for %i = 0 to 4 {
  // CHECK-NEXT:   tir.for parallel %j = 0 to 4 {
  // CHECK-NEXT:     tir.for vectorized %k = 0 to 4 {
  // CHECK-NEXT:       tir.for unrolled %l = 0 to 4 {
  // CHECK-NEXT:         tir.for thread_binding "threadIdx.x" %m = 0 to 32 {
  tir.for serial %i = 0 to 4 {
    tir.for parallel %j = 0 to 4 {
      tir.for vectorized %k = 0 to 4 {
        tir.for unrolled %l = 0 to 4 {
          tir.for thread_binding "threadIdx.x" %m = 0 to 32 {
          }
        }
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_loop_has_bounds_annotations_and_attributes
tir.prim_func @a_loop_has_bounds_annotations_and_attributes() {
  // CHECK-NEXT: tir.for %i = 3 to 3 {
  tir.for %i = 3 to 3 {
  }
  // CHECK:      tir.for %j = -2 to 5 annotations {pragma = 1 : i64} attributes {note} {
  tir.for %j = -2 to 5 annotations {pragma = 1 : i64} attributes {note} {
  }
  // CHECK:      tir.for vectorized %k = 0 to 1 annotations {scope = "outer"} {
  tir.for vectorized %k = 0 to 1 annotations {scope = "outer"} {
  }
}

// CHECK-LABEL: tir.prim_func @a_block_binds_its_iterators_to_expressions
tir.prim_func @a_block_binds_its_iterators_to_expressions(%x: memref<4x64xf32>, %y: memref<4xf32>) {
  // CHECK:      tir.block @sum(%vi: spatial 4, %vk: reduce 64) = [%i, %k0 * 16 + %k1]
  // CHECK-SAME:   reads(%x[%vi, %vk] : memref<4x64xf32>) writes(%y[%vi] : memref<4xf32>) {
  // CHECK:      } init(%wi, %wk) {
  tir.for %i = 0 to 4 {
    tir.for %k0 = 0 to 4 {
      tir.for %k1 = 0 to 16 {
        tir.block @sum(%vi: spatial 4, %vk: reduce 64) = [%i, %k0 * 16 + %k1]
            reads(%x[%vi, %vk] : memref<4x64xf32>) writes(%y[%vi] : memref<4xf32>) {
          %0 = memref.load %y[%vi] : memref<4xf32>
          %1 = memref.load %x[%vi, %vk] : memref<4x64xf32>
          %2 = arith.addf %0, %1 : f32
          memref.store %2, %y[%vi] : memref<4xf32>
        } init(%wi, %wk) {
          %3 = arith.constant 0.0 : f32
          memref.store %3, %y[%wi] : memref<4xf32>
        }
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_block_runs_where_its_conditions_hold
tir.prim_func @a_block_runs_where_its_conditions_hold(%y: memref<50xf32>, %z: f32) {
  // CHECK: tir.block @b(%v: spatial 50) = [%o * 16 + %i] where [%o * -16 + %i * -1 + 49, %j + -1] reads() writes(%y
  tir.for %o = 0 to 4 {
    tir.for %i = 0 to 16 {
      tir.for %j = 0 to 2 {
        tir.block @b(%v: spatial 50) = [%o * 16 + %i] where [%o * -16 + %i * -1 + 49, %j + -1]
            reads() writes(%y[%v] : memref<50xf32>) {
          memref.store %z, %y[%v] : memref<50xf32>
        }
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @index_expressions_keep_their_structure
tir.prim_func @index_expressions_keep_their_structure() {
  // CHECK: tir.block @b(%a: spatial 9, %b: partial opaque 9, %c: partial spatial 9) =
  // CHECK-NEXT: [%i floordiv 2 + (%j mod 3) * 2, (%i + %j) ceildiv 4, ((%i * 2 + 1) floordiv 3) mod 2]
  // CHECK-SAME: reads() writes() attributes {note} {
  tir.for %i = 0 to 9 {
    tir.for %j = 0 to 9 {
      tir.block @b(%a: spatial 9, %b: partial opaque 9, %c: partial spatial 9) =
          [%i floordiv 2 + (%j mod 3) * 2, (%i + %j) ceildiv 4, ((%i * 2 + 1) floordiv 3) mod 2]
          reads() writes() attributes {note} {
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_block_may_have_no_iterators_and_no_loops
tir.prim_func @a_block_may_have_no_iterators_and_no_loops(%y: memref<f32>, %z: f32) {
  // CHECK-NEXT: tir.block @scalar() = [] reads() writes(%y[] : memref<f32>) {
  tir.block @scalar() = [] reads() writes(%y[] : memref<f32>) {
    memref.store %z, %y[] : memref<f32>
  }
}

// CHECK-LABEL: tir.prim_func @a_place_that_depends_on_data_has_no_map
tir.prim_func @a_place_that_depends_on_data_has_no_map(%t: memref<8xf32>, %n: memref<4xindex>, %y: memref<4xf32>) {
  // CHECK: tir.block @gather(%v: spatial 4) = [%i] reads(%n[%v] : memref<4xindex>, %t : memref<8xf32>) writes
  tir.for %i = 0 to 4 {
    tir.block @gather(%v: spatial 4) = [%i]
        reads(%n[%v] : memref<4xindex>, %t : memref<8xf32>) writes(%y[%v] : memref<4xf32>) {
      %0 = memref.load %n[%v] : memref<4xindex>
      %1 = memref.load %t[%0] : memref<8xf32>
      memref.store %1, %y[%v] : memref<4xf32>
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_header_that_is_too_wide_is_broken(%first_input: memref<1x128x28x28x16xf32>, %second_input: memref<1x128x28x28x16xf32>,
// CHECK-NEXT:          %output: memref<1x128x28x28x16xf32>) {
tir.prim_func @a_header_that_is_too_wide_is_broken(%first_input: memref<1x128x28x28x16xf32>, %second_input: memref<1x128x28x28x16xf32>, %output: memref<1x128x28x28x16xf32>) {
  tir.for %i = 0 to 128 {
    tir.for %j = 0 to 28 {
      tir.for %k = 0 to 28 {
        tir.for %l = 0 to 16 {
          // CHECK:      tir.block @add(%vn: spatial 1, %vi: spatial 128, %vj: spatial 28, %vk: spatial 28, %vl: spatial 16) = [0, %i, %j, %k, %l]
          // CHECK-NEXT:   {{^ +}}reads(%first_input[%vn, %vi, %vj, %vk, %vl] : memref<1x128x28x28x16xf32>, %second_input[%vn, %vi, %vj, %vk, %vl] : memref<1x128x28x28x16xf32>)
          // CHECK-NEXT:   {{^ +}}writes(%output[%vn, %vi, %vj, %vk, %vl] : memref<1x128x28x28x16xf32>) {
          tir.block @add(%vn: spatial 1, %vi: spatial 128, %vj: spatial 28, %vk: spatial 28, %vl: spatial 16) = [0, %i, %j, %k, %l] reads(%first_input[%vn, %vi, %vj, %vk, %vl] : memref<1x128x28x28x16xf32>, %second_input[%vn, %vi, %vj, %vk, %vl] : memref<1x128x28x28x16xf32>) writes(%output[%vn, %vi, %vj, %vk, %vl] : memref<1x128x28x28x16xf32>) {
            %0 = memref.load %first_input[%vn, %vi, %vj, %vk, %vl] : memref<1x128x28x28x16xf32>
            %1 = memref.load %second_input[%vn, %vi, %vj, %vk, %vl] : memref<1x128x28x28x16xf32>
            %2 = arith.addf %0, %1 : f32
            memref.store %2, %output[%vn, %vi, %vj, %vk, %vl] : memref<1x128x28x28x16xf32>
          }
        }
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_check_gives_an_index_that_is_inside
tir.prim_func @a_check_gives_an_index_that_is_inside(%n: memref<4xindex>, %x: memref<8xf32>, %y: memref<4xf32>) {
  tir.for %i = 0 to 4 {
    tir.block @take(%v: spatial 4) = [%i] reads(%n[%v] : memref<4xindex>, %x : memref<8xf32>) writes(%y[%v] : memref<4xf32>) {
      %0 = memref.load %n[%v] : memref<4xindex>
      // CHECK: %1 = tir.check %0 of %0 in 8 "{index} is not below {extent}"
      %1 = tir.check %0 of %0 in 8 "{index} is not below {extent}"
      %2 = memref.load %x[%1] : memref<8xf32>
      memref.store %2, %y[%v] : memref<4xf32>
    }
  }
}

// CHECK-LABEL: tir.prim_func @extents_are_symbols(%x: memref<?x4xf32>, %y: memref<?x4xf32>, %n: index) shapes(%x[%n, 4], %y[%n, 4]) {
// CHECK-NEXT:    %t = tir.alloc_buffer "global" [%n * 2 + 1] : memref<?xf32>
// CHECK-NEXT:    tir.for %a = 0 to (%n + 3) floordiv 4 {
// CHECK-NEXT:      tir.for %b = 0 to 4 {
// CHECK-NEXT:        tir.block @copy(%v: spatial %n, %w: partial spatial 4) = [%a * 4 + %b, %b] where [%n + %a * -4 + %b * -1 + -1] reads
tir.prim_func @extents_are_symbols(%x: memref<?x4xf32>, %y: memref<?x4xf32>, %n: index) shapes(%x[%n, 4], %y[%n, 4]) {
  %t = tir.alloc_buffer "global" [%n * 2 + 1] : memref<?xf32>
  tir.for %a = 0 to (%n + 3) floordiv 4 {
    tir.for %b = 0 to 4 {
      tir.block @copy(%v: spatial %n, %w: partial spatial 4) = [%a * 4 + %b, %b] where [%n - %a * 4 - %b - 1]
          reads(%x[%v, %w] : memref<?x4xf32>) writes(%y[%v, %w] : memref<?x4xf32>) {
        %0 = tir.check %v of %v within %n "{index} is outside of {extent}"
        %1 = memref.load %x[%v, %w] : memref<?x4xf32>
        memref.store %1, %y[%v, %w] : memref<?x4xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @an_iteration_reads_of_a_private_buffer_what_it_wrote
tir.prim_func @an_iteration_reads_of_a_private_buffer_what_it_wrote(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  %b = tir.alloc_buffer "local" : memref<8xf32>
  // CHECK: tir.for parallel %i = 0 to 4 {
  tir.for parallel %i = 0 to 4 {
    tir.for %j = 0 to 8 {
      tir.block @backwards(%v: spatial 4, %w: spatial 8) = [%i, %j * -1 + 7] reads(%x[%v, %w] : memref<4x8xf32>)
          writes(%b[%w] : memref<8xf32>) {
        %0 = memref.load %x[%v, %w] : memref<4x8xf32>
        memref.store %0, %b[%w] : memref<8xf32>
      }
    }
    tir.for %j0 = 0 to 2 {
      tir.for %j1 = 0 to 4 {
        tir.block @in_tiles(%v: spatial 4, %w: spatial 8) = [%i, %j0 * 4 + %j1] reads(%b[%w] : memref<8xf32>)
            writes(%y[%v, %w] : memref<4x8xf32>) {
          %0 = memref.load %b[%w] : memref<8xf32>
          memref.store %0, %y[%v, %w] : memref<4x8xf32>
        }
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @an_outer_block_holds_loops_and_blocks
tir.prim_func @an_outer_block_holds_loops_and_blocks(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for parallel %i = 0 to 2 {
    // CHECK: tir.outer_block @copy_o attributes {mark} {
    // CHECK-NEXT: tir.for %j = 0 to 4 {
    // CHECK-NEXT: tir.block @copy(%v: spatial 8) = [%i * 4 + %j]
    tir.outer_block @copy_o attributes {mark} {
      tir.for %j = 0 to 4 {
        tir.block @copy(%v: spatial 8) = [%i * 4 + %j] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
          %0 = memref.load %x[%v] : memref<8xf32>
          memref.store %0, %y[%v] : memref<8xf32>
        }
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_dot_product_of_four_bytes
tir.prim_func @a_dot_product_of_four_bytes(%x: memref<4xi8>, %y: memref<1xi32>) {
  tir.block @dot() = [] reads(%x[0] : memref<4xi8>) writes(%y[0] : memref<1xi32>) {
    %c0 = arith.constant 0 : index
    %c = arith.constant 0 : i32
    %a = memref.load %x[%c0] : memref<4xi8>
    // CHECK: %0 = tir.dot %c + unsigned (%a, %a, %a, %a) * (%a, %a, %a, %a)
    %0 = tir.dot %c + unsigned (%a, %a, %a, %a) * (%a, %a, %a, %a)
    // CHECK: %1 = tir.dot %0 + (%a, %a, %a, %a) * unsigned (%a, %a, %a, %a)
    %1 = tir.dot %0 + (%a, %a, %a, %a) * unsigned (%a, %a, %a, %a)
    memref.store %1, %y[%c0] : memref<1xi32>
  }
}

// CHECK-LABEL: tir.prim_func @a_block_calls_and_asserts
tir.prim_func @a_block_calls_and_asserts(%a: memref<4x16xf32>, %y: memref<4xf32>) {
  // CHECK-NEXT: %k = tir.alloc_buffer "global" = dense<[1, 2]> : tensor<2xi8> : memref<2xi8>
  %k = tir.alloc_buffer "global" = dense<[1, 2]> : tensor<2xi8> : memref<2xi8>
  tir.for %i = 0 to 4 {
    tir.block @b(%v: spatial 4) = [%i] reads(%a : memref<4x16xf32>, %y : memref<4xf32>) writes(%y : memref<4xf32>) {
      %c0 = arith.constant 0 : index
      %n = arith.constant 16 : i32
      // CHECK:      %p = tir.address_of %a[%v, %c0] : memref<4x16xf32>
      // CHECK-NEXT: tir.call extern "work"(r %p, %n, w %y) {note} : (memref<f32>, i32, memref<4xf32>) -> ()
      // CHECK-NEXT: %x = tir.call pure extern "one"() : () -> f32
      // CHECK-NEXT: tir.call packed "show"(rw %y, %x) : (memref<4xf32>, f32) -> ()
      %p = tir.address_of %a[%v, %c0] : memref<4x16xf32>
      tir.call extern "work"(r %p, %n, w %y) {note} : (memref<f32>, i32, memref<4xf32>) -> ()
      %x = tir.call pure extern "one"() : () -> f32
      tir.call packed "show"(rw %y, %x) : (memref<4xf32>, f32) -> ()
      %holds = arith.constant true
      // CHECK:      tir.assert %holds "it holds" {note}
      tir.assert %holds "it holds" {note}
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_block_assumes_and_leaves_open
tir.prim_func @a_block_assumes_and_leaves_open(%y: memref<4xf32>) {
  tir.for %i = 0 to 4 {
    tir.block @b(%v: spatial 4) = [%i] reads() writes(%y[%v] : memref<4xf32>) {
      %holds = arith.constant true
      // CHECK:      tir.assume %holds {note}
      tir.assume %holds {note}
      // CHECK-NEXT: %0 = tir.undef : f32
      %0 = tir.undef : f32
      memref.store %0, %y[%v] : memref<4xf32>
    }
  }
}

// CHECK-LABEL: tir.prim_func @threads_wait
// CHECK-NEXT:    tir.for thread_binding "threadIdx.x" %i = 0 to 8 {
// CHECK-NEXT:      tir.storage_sync "shared"
tir.prim_func @threads_wait() {
  tir.for thread_binding "threadIdx.x" %i = 0 to 8 {
    tir.storage_sync "shared"
  }
}
