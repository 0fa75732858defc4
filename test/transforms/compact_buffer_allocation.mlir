// RUN: weft-opt %s -p convert-blocks-to-opaque,compact-buffer-allocation | filecheck %s

// CHECK-LABEL: tir.prim_func @a_buffer_holds_what_one_iteration_uses
// CHECK:         tir.alloc_buffer "global" : memref<1x4xf32>
// CHECK:         writes(%b[0, %k_1] : memref<1x4xf32>)
// CHECK:         reads(%b[0, %k_3] : memref<1x4xf32>)
tir.prim_func @a_buffer_holds_what_one_iteration_uses(%x: memref<8x4xf32>, %y: memref<8x4xf32>) {
  tir.for %i = 0 to 8 {
    %b = tir.alloc_buffer "global" : memref<8x4xf32>
    tir.for %k = 0 to 4 {
      tir.block @to(%v: spatial 8, %w: spatial 4) = [%i, %k] reads(%x[%v, %w] : memref<8x4xf32>) writes(%b[%v, %w] : memref<8x4xf32>) {
        %0 = memref.load %x[%v, %w] : memref<8x4xf32>
        memref.store %0, %b[%v, %w] : memref<8x4xf32>
      }
    }
    tir.for %k = 0 to 4 {
      tir.block @from(%v: spatial 8, %w: spatial 4) = [%i, %k] reads(%b[%v, %w] : memref<8x4xf32>) writes(%y[%v, %w] : memref<8x4xf32>) {
        %0 = memref.load %b[%v, %w] : memref<8x4xf32>
        memref.store %0, %y[%v, %w] : memref<8x4xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @what_is_never_used_is_left_out
// CHECK:         tir.alloc_buffer "global" : memref<4xf32>
// CHECK:         writes(%b[%i_1] : memref<4xf32>)
tir.prim_func @what_is_never_used_is_left_out(%x: memref<8xf32>, %y: memref<4xf32>) {
  %b = tir.alloc_buffer "global" : memref<16xf32>
  tir.for %i = 0 to 4 {
    tir.block @to(%v: partial spatial 16) = [%i + 9] reads(%x[%v - 8] : memref<8xf32>) writes(%b[%v] : memref<16xf32>) {
      %c = arith.constant 8 : index
      %n = arith.subi %v, %c : index
      %0 = memref.load %x[%n] : memref<8xf32>
      memref.store %0, %b[%v] : memref<16xf32>
    }
  }
  tir.for %i = 0 to 4 {
    tir.block @from(%v: spatial 4) = [%i] reads(%b[%v + 9] : memref<16xf32>) writes(%y[%v] : memref<4xf32>) {
      %c = arith.constant 9 : index
      %n = arith.addi %v, %c : index
      %0 = memref.load %b[%n] : memref<16xf32>
      memref.store %0, %y[%v] : memref<4xf32>
    }
  }
}

// The next iteration reads what this one writes.
// CHECK-LABEL: tir.prim_func @what_is_carried_stays
// CHECK:         tir.alloc_buffer "global" : memref<9xf32>
tir.prim_func @what_is_carried_stays(%x: memref<9xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    %b = tir.alloc_buffer "global" : memref<9xf32>
    tir.block @begin(%v: partial opaque 8) = [%i] where [%i * -1] reads(%x[%v] : memref<9xf32>) writes(%b[%v] : memref<9xf32>) {
      %0 = memref.load %x[%v] : memref<9xf32>
      memref.store %0, %b[%v] : memref<9xf32>
    }
    tir.block @on(%v: opaque 8) = [%i] reads(%b[%v] : memref<9xf32>) writes(%b[%v + 1] : memref<9xf32>, %y[%v] : memref<8xf32>) {
      %one = arith.constant 1 : index
      %n = arith.addi %v, %one : index
      %0 = memref.load %b[%v] : memref<9xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %b[%n] : memref<9xf32>
      memref.store %1, %y[%v] : memref<8xf32>
    }
  }
}

// All iterations run at the same time, on one buffer.
// CHECK-LABEL: tir.prim_func @what_threads_have_together_stays
// CHECK:         tir.alloc_buffer "global" : memref<8xf32>
tir.prim_func @what_threads_have_together_stays(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for parallel %i = 0 to 8 {
    %b = tir.alloc_buffer "global" : memref<8xf32>
    tir.block @to(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%b[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %b[%v] : memref<8xf32>
    }
    tir.block @from(%v: spatial 8) = [%i] reads(%b[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %b[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}

// CHECK-LABEL: tir.prim_func @each_thread_has_its_own
// CHECK:         tir.alloc_buffer "local" : memref<1xf32>
tir.prim_func @each_thread_has_its_own(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for parallel %i = 0 to 8 {
    %b = tir.alloc_buffer "local" : memref<8xf32>
    tir.block @to(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%b[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %b[%v] : memref<8xf32>
    }
    tir.block @from(%v: spatial 8) = [%i] reads(%b[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %b[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}

// The threads of a block have shared memory together, those of another block theirs.
// CHECK-LABEL: tir.prim_func @each_block_of_threads_has_its_own
// CHECK:         tir.alloc_buffer "shared" : memref<1x8xf32>
// CHECK:         tir.alloc_buffer "local" : memref<1x1xf32>
tir.prim_func @each_block_of_threads_has_its_own(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  tir.for thread_binding "blockIdx.x" %i = 0 to 4 {
    tir.for thread_binding "threadIdx.x" %j = 0 to 8 {
      %s = tir.alloc_buffer "shared" : memref<4x8xf32>
      %l = tir.alloc_buffer "local" : memref<4x8xf32>
      tir.block @shared(%v: spatial 4, %w: spatial 8) = [%i, %j]
          reads(%x[%v, %w] : memref<4x8xf32>) writes(%s[%v, %w] : memref<4x8xf32>) {
        %0 = memref.load %x[%v, %w] : memref<4x8xf32>
        memref.store %0, %s[%v, %w] : memref<4x8xf32>
      }
      tir.block @local(%v: spatial 4, %w: spatial 8) = [%i, %j]
          reads(%s[%v, %w] : memref<4x8xf32>) writes(%l[%v, %w] : memref<4x8xf32>) {
        %0 = memref.load %s[%v, %w] : memref<4x8xf32>
        memref.store %0, %l[%v, %w] : memref<4x8xf32>
      }
      tir.block @from(%v: spatial 4, %w: spatial 8) = [%i, %j]
          reads(%l[%v, %w] : memref<4x8xf32>) writes(%y[%v, %w] : memref<4x8xf32>) {
        %0 = memref.load %l[%v, %w] : memref<4x8xf32>
        memref.store %0, %y[%v, %w] : memref<4x8xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @where_data_says_which_element_it_is_whole
// CHECK:         tir.alloc_buffer "global" : memref<8xf32>
tir.prim_func @where_data_says_which_element_it_is_whole(%x: memref<4xf32>, %p: memref<4xindex>, %y: memref<4xf32>) {
  %b = tir.alloc_buffer "global" : memref<8xf32>
  tir.for %i = 0 to 8 {
    tir.block @to(%v: spatial 8) = [%i] reads() writes(%b[%v] : memref<8xf32>) {
      %0 = arith.constant 1.0 : f32
      memref.store %0, %b[%v] : memref<8xf32>
    }
  }
  tir.for %i = 0 to 4 {
    tir.block @from(%v: spatial 4) = [%i] reads(%p[%v] : memref<4xindex>, %b : memref<8xf32>) writes(%y[%v] : memref<4xf32>) {
      %n = memref.load %p[%v] : memref<4xindex>
      %in = tir.check %n of %n in 8 "outside"
      %0 = memref.load %b[%in] : memref<8xf32>
      memref.store %0, %y[%v] : memref<4xf32>
    }
  }
}

// What is read under a branch was written where the predicate lets it be.
// CHECK-LABEL: tir.prim_func @padding_that_is_read_under_a_branch
// CHECK:         tir.alloc_buffer "global" : memref<9xf32>
tir.prim_func @padding_that_is_read_under_a_branch(%x: memref<112xf32>, %y: memref<56xf32>) {
  tir.for %h = 0 to 14 {
    %b = tir.alloc_buffer "global" : memref<112xf32>
    tir.for %i = 0 to 9 {
      tir.block @to(%vh: opaque 14, %v: opaque 9) = [%h, %i] where [%h * 8 + %i + -1]
          reads(%x[%vh * 8 + -1 + %v] : memref<112xf32>) writes(%b[%vh * 8 + -1 + %v] : memref<112xf32>) {
        %c8 = arith.constant 8 : index
        %c1 = arith.constant 1 : index
        %0 = arith.muli %vh, %c8 : index
        %1 = arith.subi %0, %c1 : index
        %2 = arith.addi %1, %v : index
        %3 = memref.load %x[%2] : memref<112xf32>
        memref.store %3, %b[%2] : memref<112xf32>
      }
    }
    tir.for %i = 0 to 4 {
      tir.for %k = 0 to 3 {
        tir.block @from(%vh: opaque 14, %v: opaque 4, %w: opaque 3) = [%h, %i, %k]
            reads(%b[%vh * 8 + %v * 2 + %w + -1] : memref<112xf32>) writes(%y[%vh * 4 + %v] : memref<56xf32>) {
          %c4 = arith.constant 4 : index
          %c2 = arith.constant 2 : index
          %c1 = arith.constant 1 : index
          %0 = arith.muli %vh, %c4 : index
          %1 = arith.addi %0, %v : index
          %2 = arith.muli %1, %c2 : index
          %3 = arith.addi %2, %w : index
          %4 = arith.cmpi sle, %c1, %3 : index
          %5 = arith.constant 0.0 : f32
          memref.store %5, %y[%1] : memref<56xf32>
          scf.if %4 {
            %6 = arith.subi %3, %c1 : index
            %7 = memref.load %b[%6] : memref<112xf32>
            memref.store %7, %y[%1] : memref<56xf32>
          }
        }
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_sum_that_begins_in_a_branch
// CHECK:         tir.alloc_buffer "global" : memref<1xf32>
tir.prim_func @a_sum_that_begins_in_a_branch(%x: memref<8x4xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    %b = tir.alloc_buffer "global" : memref<8xf32>
    tir.for %k = 0 to 4 {
      tir.block @sum(%v: opaque 8, %vk: opaque 4) = [%i, %k] reads(%x[%v, %vk] : memref<8x4xf32>, %b[%v] : memref<8xf32>)
          writes(%b[%v] : memref<8xf32>) {
        %c0 = arith.constant 0 : index
        %0 = arith.cmpi eq, %vk, %c0 : index
        scf.if %0 {
          %1 = arith.constant 0.0 : f32
          memref.store %1, %b[%v] : memref<8xf32>
        }
        %2 = memref.load %x[%v, %vk] : memref<8x4xf32>
        %3 = memref.load %b[%v] : memref<8xf32>
        %4 = arith.addf %2, %3 : f32
        memref.store %4, %b[%v] : memref<8xf32>
      }
    }
    tir.block @to(%v: opaque 8) = [%i] reads(%b[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %b[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}
