// RUN: weft-opt %s -p loop-partition | filecheck %s

// CHECK-LABEL: tir.prim_func @a_loop_is_cut_where_its_predicate_begins_to_fail(%y: memref<50xf32>, %z: f32) {
// CHECK-NEXT:    tir.for %o = 0 to 3 {
// CHECK-NEXT:      tir.for vectorized %i = 0 to 16 {
// CHECK-NEXT:        tir.block @b(%v: spatial 50) = [%o * 16 + %i] reads() writes(%y[%v] : memref<50xf32>) {
// CHECK-NEXT:          memref.store %z, %y[%v] : memref<50xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    tir.for vectorized %i_1 = 0 to 2 {
// CHECK-NEXT:      tir.block @b(%v_1: spatial 50) = [%i_1 + 48] reads() writes(%y[%v_1] : memref<50xf32>) {
// CHECK-NEXT:        memref.store %z, %y[%v_1] : memref<50xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
tir.prim_func @a_loop_is_cut_where_its_predicate_begins_to_fail(%y: memref<50xf32>, %z: f32) {
  tir.for %o = 0 to 4 {
    tir.for vectorized %i = 0 to 16 {
      tir.block @b(%v: spatial 50) = [%o * 16 + %i] where [%o * -16 + %i * -1 + 49]
          reads() writes(%y[%v] : memref<50xf32>) {
        memref.store %z, %y[%v] : memref<50xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_rest_of_several_iterations_stays_a_loop(%y: memref<50xf32>, %z: f32) {
// CHECK-NEXT:    tir.for unrolled %i = 0 to 2 {
// CHECK-NEXT:      tir.for %o = 0 to 4 {
// CHECK-NEXT:        tir.block @b(%v: spatial 50) = [%o * 16 + %i] reads() writes(%y[%v] : memref<50xf32>) {
// CHECK-NEXT:          memref.store %z, %y[%v] : memref<50xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    tir.for unrolled %i_1 = 2 to 16 {
// CHECK-NEXT:      tir.for %o_1 = 0 to 3 {
// CHECK-NEXT:        tir.block @b(%v_1: spatial 50) = [%o_1 * 16 + %i_1] reads() writes(%y[%v_1] : memref<50xf32>) {
// CHECK-NEXT:          memref.store %z, %y[%v_1] : memref<50xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
tir.prim_func @a_rest_of_several_iterations_stays_a_loop(%y: memref<50xf32>, %z: f32) {
  tir.for unrolled %i = 0 to 16 {
    tir.for %o = 0 to 4 {
      tir.block @b(%v: spatial 50) = [%o * 16 + %i] where [%o * -16 + %i * -1 + 49]
          reads() writes(%y[%v] : memref<50xf32>) {
        memref.store %z, %y[%v] : memref<50xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_predicate_that_always_holds_is_dropped(%y: memref<64xf32>, %z: f32) {
// CHECK-NEXT:    tir.for %o = 0 to 4 {
// CHECK-NEXT:      tir.for %i = 0 to 16 {
// CHECK-NEXT:        tir.block @b(%v: spatial 64) = [%o * 16 + %i] reads() writes(%y[%v] : memref<64xf32>) {
// CHECK-NEXT:          memref.store %z, %y[%v] : memref<64xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
tir.prim_func @a_predicate_that_always_holds_is_dropped(%y: memref<64xf32>, %z: f32) {
  tir.for %o = 0 to 4 {
    tir.for %i = 0 to 16 {
      tir.block @b(%v: spatial 64) = [%o * 16 + %i] where [%o * -16 + %i * -1 + 63]
          reads() writes(%y[%v] : memref<64xf32>) {
        memref.store %z, %y[%v] : memref<64xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @two_loops_with_rests_are_cut_both(%y: memref<5x7xf32>, %z: f32) {
// CHECK-NEXT:    tir.for unrolled %c = 0 to 3 {
// CHECK-NEXT:      tir.for vectorized %d = 0 to 4 {
// CHECK-NEXT:        tir.block @b(%v: spatial 5, %w: spatial 7) = [%c, %d] reads() writes(%y[%v, %w] : memref<5x7xf32>) {
// CHECK-NEXT:          memref.store %z, %y[%v, %w] : memref<5x7xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    tir.for unrolled %c_1 = 0 to 3 {
// CHECK-NEXT:      tir.for vectorized %d_1 = 0 to 3 {
// CHECK-NEXT:        tir.block @b(%v_1: spatial 5, %w_1: spatial 7) = [%c_1, %d_1 + 4] reads() writes(%y[%v_1, %w_1] : memref<5x7xf32>) {
// CHECK-NEXT:          memref.store %z, %y[%v_1, %w_1] : memref<5x7xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    tir.for unrolled %c_2 = 0 to 2 {
// CHECK-NEXT:      tir.for vectorized %d_2 = 0 to 4 {
// CHECK-NEXT:        tir.block @b(%v_2: spatial 5, %w_2: spatial 7) = [%c_2 + 3, %d_2] reads() writes(%y[%v_2, %w_2] : memref<5x7xf32>) {
// CHECK-NEXT:          memref.store %z, %y[%v_2, %w_2] : memref<5x7xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    tir.for unrolled %c_3 = 0 to 2 {
// CHECK-NEXT:      tir.for vectorized %d_3 = 0 to 3 {
// CHECK-NEXT:        tir.block @b(%v_3: spatial 5, %w_3: spatial 7) = [%c_3 + 3, %d_3 + 4] reads() writes(%y[%v_3, %w_3] : memref<5x7xf32>) {
// CHECK-NEXT:          memref.store %z, %y[%v_3, %w_3] : memref<5x7xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
tir.prim_func @two_loops_with_rests_are_cut_both(%y: memref<5x7xf32>, %z: f32) {
  tir.for parallel %a = 0 to 2 {
    tir.for %b = 0 to 2 {
      tir.for unrolled %c = 0 to 3 {
        tir.for vectorized %d = 0 to 4 {
          tir.block @b(%v: spatial 5, %w: spatial 7) = [%a * 3 + %c, %b * 4 + %d]
              where [%a * -3 + %c * -1 + 4, %b * -4 + %d * -1 + 6]
              reads() writes(%y[%v, %w] : memref<5x7xf32>) {
            memref.store %z, %y[%v, %w] : memref<5x7xf32>
          }
        }
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @blocks_that_share_a_loop_are_cut_together(%x: memref<50xf32>, %y: memref<50xf32>, %z: f32) {
// CHECK-NEXT:    tir.for %o = 0 to 3 {
// CHECK-NEXT:      tir.for %i = 0 to 16 {
// CHECK-NEXT:        tir.block @first(%v: spatial 50) = [%o * 16 + %i] reads() writes(%x[%v] : memref<50xf32>) {
// CHECK-NEXT:          memref.store %z, %x[%v] : memref<50xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      tir.for %j = 0 to 16 {
// CHECK-NEXT:        tir.block @second(%w: spatial 50) = [%o * 16 + %j] reads() writes(%y[%w] : memref<50xf32>) {
// CHECK-NEXT:          memref.store %z, %y[%w] : memref<50xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    tir.for %o_1 = 0 to 1 {
// CHECK-NEXT:      tir.for %i_1 = 0 to 2 {
// CHECK-NEXT:        tir.block @first(%v_1: spatial 50) = [%i_1 + 48] reads() writes(%x[%v_1] : memref<50xf32>) {
// CHECK-NEXT:          memref.store %z, %x[%v_1] : memref<50xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      tir.for %j_1 = 0 to 2 {
// CHECK-NEXT:        tir.block @second(%w_1: spatial 50) = [%j_1 + 48] reads() writes(%y[%w_1] : memref<50xf32>) {
// CHECK-NEXT:          memref.store %z, %y[%w_1] : memref<50xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
tir.prim_func @blocks_that_share_a_loop_are_cut_together(%x: memref<50xf32>, %y: memref<50xf32>, %z: f32) {
  tir.for %o = 0 to 4 {
    tir.for %i = 0 to 16 {
      tir.block @first(%v: spatial 50) = [%o * 16 + %i] where [%o * -16 + %i * -1 + 49]
          reads() writes(%x[%v] : memref<50xf32>) {
        memref.store %z, %x[%v] : memref<50xf32>
      }
    }
    tir.for %j = 0 to 16 {
      tir.block @second(%w: spatial 50) = [%o * 16 + %j] where [%o * -16 + %j * -1 + 49]
          reads() writes(%y[%w] : memref<50xf32>) {
        memref.store %z, %y[%w] : memref<50xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_private_buffer_is_copied_with_the_rest(%y: memref<50xf32>, %z: f32) {
// CHECK-NEXT:    %tile = tir.alloc_buffer "local" : memref<50xf32>
// CHECK-NEXT:    %tile_1 = tir.alloc_buffer "local" : memref<50xf32>
// CHECK-NEXT:    tir.for %o = 0 to 3 {
// CHECK-NEXT:      tir.for %i = 0 to 16 {
// CHECK-NEXT:        tir.block @first(%v: spatial 50) = [%o * 16 + %i] reads() writes(%tile[%v] : memref<50xf32>) {
// CHECK-NEXT:          memref.store %z, %tile[%v] : memref<50xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      tir.for %j = 0 to 16 {
// CHECK-NEXT:        tir.block @second(%w: spatial 50) = [%o * 16 + %j] reads(%tile[%w] : memref<50xf32>) writes(%y[%w] : memref<50xf32>) {
// CHECK-NEXT:          %0 = memref.load %tile[%w] : memref<50xf32>
// CHECK-NEXT:          memref.store %0, %y[%w] : memref<50xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    tir.for %o_1 = 0 to 1 {
// CHECK-NEXT:      tir.for %i_1 = 0 to 2 {
// CHECK-NEXT:        tir.block @first(%v_1: spatial 50) = [%i_1 + 48] reads() writes(%tile_1[%v_1] : memref<50xf32>) {
// CHECK-NEXT:          memref.store %z, %tile_1[%v_1] : memref<50xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      tir.for %j_1 = 0 to 2 {
// CHECK-NEXT:        tir.block @second(%w_1: spatial 50) = [%j_1 + 48] reads(%tile_1[%w_1] : memref<50xf32>) writes(%y[%w_1] : memref<50xf32>) {
// CHECK-NEXT:          %1 = memref.load %tile_1[%w_1] : memref<50xf32>
// CHECK-NEXT:          memref.store %1, %y[%w_1] : memref<50xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
tir.prim_func @a_private_buffer_is_copied_with_the_rest(%y: memref<50xf32>, %z: f32) {
  %tile = tir.alloc_buffer "local" : memref<50xf32>
  tir.for %o = 0 to 4 {
    tir.for %i = 0 to 16 {
      tir.block @first(%v: spatial 50) = [%o * 16 + %i] where [%o * -16 + %i * -1 + 49]
          reads() writes(%tile[%v] : memref<50xf32>) {
        memref.store %z, %tile[%v] : memref<50xf32>
      }
    }
    tir.for %j = 0 to 16 {
      tir.block @second(%w: spatial 50) = [%o * 16 + %j] where [%o * -16 + %j * -1 + 49]
          reads(%tile[%w] : memref<50xf32>) writes(%y[%w] : memref<50xf32>) {
        %0 = memref.load %tile[%w] : memref<50xf32>
        memref.store %0, %y[%w] : memref<50xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_lower_bound_stays_a_predicate(%y: memref<50xf32>, %z: f32) {
// CHECK-NEXT:    tir.for %o = 0 to 60 {
// CHECK-NEXT:      tir.block @b(%v: spatial 50) = [%o + -10] where [%o + -10] reads() writes(%y[%v] : memref<50xf32>) {
// CHECK-NEXT:        memref.store %z, %y[%v] : memref<50xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
tir.prim_func @a_lower_bound_stays_a_predicate(%y: memref<50xf32>, %z: f32) {
  tir.for %o = 0 to 60 {
    tir.block @b(%v: spatial 50) = [%o + -10] where [%o + -10]
        reads() writes(%y[%v] : memref<50xf32>) {
      memref.store %z, %y[%v] : memref<50xf32>
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_predicate_on_a_quotient_stays(%y: memref<56xf32>, %z: f32) {
// CHECK-NEXT:    tir.for %o = 0 to 64 {
// CHECK-NEXT:      tir.block @b(%v: spatial 56) = [%o] where [(%o floordiv 7) * -7 + 49] reads() writes(%y[%v] : memref<56xf32>) {
// CHECK-NEXT:        memref.store %z, %y[%v] : memref<56xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
tir.prim_func @a_predicate_on_a_quotient_stays(%y: memref<56xf32>, %z: f32) {
  tir.for %o = 0 to 64 {
    tir.block @b(%v: spatial 56) = [%o] where [%o floordiv 7 * -7 + 49]
        reads() writes(%y[%v] : memref<56xf32>) {
      memref.store %z, %y[%v] : memref<56xf32>
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_loop_without_iterations_is_left_alone(%y: memref<50xf32>, %z: f32) {
// CHECK-NEXT:    tir.for %o = 0 to 0 {
// CHECK-NEXT:      tir.for %i = 0 to 16 {
// CHECK-NEXT:        tir.block @b(%v: partial spatial 50) = [%o * 16 + %i] where [%o * -16 + %i * -1 + 49] reads() writes(%y[%v] : memref<50xf32>) {
// CHECK-NEXT:          memref.store %z, %y[%v] : memref<50xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
tir.prim_func @a_loop_without_iterations_is_left_alone(%y: memref<50xf32>, %z: f32) {
  tir.for %o = 0 to 0 {
    tir.for %i = 0 to 16 {
      tir.block @b(%v: partial spatial 50) = [%o * 16 + %i] where [%o * -16 + %i * -1 + 49]
          reads() writes(%y[%v] : memref<50xf32>) {
        memref.store %z, %y[%v] : memref<50xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_block_that_never_runs_is_erased(%y: memref<50xf32>, %z: f32) {
// CHECK-NEXT:  }
tir.prim_func @a_block_that_never_runs_is_erased(%y: memref<50xf32>, %z: f32) {
  tir.for %o = 0 to 4 {
    tir.block @b(%v: partial spatial 50) = [%o] where [%o * -1 + -1]
        reads() writes(%y[%v] : memref<50xf32>) {
      memref.store %z, %y[%v] : memref<50xf32>
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_reduction_is_cut_too(%x: memref<50xf32>, %y: memref<f32>) {
// CHECK-NEXT:    tir.for %o = 0 to 3 {
// CHECK-NEXT:      tir.for %i = 0 to 16 {
// CHECK-NEXT:        tir.block @sum(%k: reduce 50) = [%o * 16 + %i] reads(%x[%k] : memref<50xf32>) writes(%y[] : memref<f32>) {
// CHECK-NEXT:          %0 = memref.load %y[] : memref<f32>
// CHECK-NEXT:          %1 = memref.load %x[%k] : memref<50xf32>
// CHECK-NEXT:          %2 = arith.addf %0, %1 : f32
// CHECK-NEXT:          memref.store %2, %y[] : memref<f32>
// CHECK-NEXT:        } init(%j) {
// CHECK-NEXT:          %3 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:          memref.store %3, %y[] : memref<f32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    tir.for %i_1 = 0 to 2 {
// CHECK-NEXT:      tir.block @sum(%k_1: reduce 50) = [%i_1 + 48] reads(%x[%k_1] : memref<50xf32>) writes(%y[] : memref<f32>) {
// CHECK-NEXT:        %4 = memref.load %y[] : memref<f32>
// CHECK-NEXT:        %5 = memref.load %x[%k_1] : memref<50xf32>
// CHECK-NEXT:        %6 = arith.addf %4, %5 : f32
// CHECK-NEXT:        memref.store %6, %y[] : memref<f32>
// CHECK-NEXT:      } init(%j_1) {
// CHECK-NEXT:        %7 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:        memref.store %7, %y[] : memref<f32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
tir.prim_func @a_reduction_is_cut_too(%x: memref<50xf32>, %y: memref<f32>) {
  tir.for %o = 0 to 4 {
    tir.for %i = 0 to 16 {
      tir.block @sum(%k: reduce 50) = [%o * 16 + %i] where [%o * -16 + %i * -1 + 49]
          reads(%x[%k] : memref<50xf32>) writes(%y[] : memref<f32>) {
        %0 = memref.load %y[] : memref<f32>
        %1 = memref.load %x[%k] : memref<50xf32>
        %2 = arith.addf %0, %1 : f32
        memref.store %2, %y[] : memref<f32>
      } init(%j) {
        %3 = arith.constant 0.0 : f32
        memref.store %3, %y[] : memref<f32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_loop_to_a_symbol_is_cut_where_the_last_part_begins
// CHECK-NEXT:    tir.for %a = 0 to %n floordiv 4 {
// CHECK-NEXT:      tir.for %b = 0 to 4 {
// CHECK-NEXT:        tir.block @copy(%v: spatial %n) = [%a * 4 + %b] reads
// CHECK:         tir.for %a_1 = 0 to 1 {
// CHECK-NEXT:      tir.for %b_1 = 0 to %n mod 4 {
// CHECK-NEXT:        tir.block @copy(%v_1: spatial %n) = [(%n floordiv 4) * 4 + %b_1] reads
tir.prim_func @a_loop_to_a_symbol_is_cut_where_the_last_part_begins(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) shapes(%x[%n], %y[%n]) {
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

// What windows leave of %n elements is no fewer than none, as the function may assume. A vector without lanes is none.
// CHECK-LABEL: tir.prim_func @a_loop_is_cut_where_what_is_assumed_says_that_it_may_be
// CHECK-NEXT:      attributes
// CHECK-NEXT:    tir.for %a = 0 to (%n + 2) floordiv 4 + -1 {
// CHECK-NEXT:      tir.for vectorized %b = 0 to 4 {
// CHECK-NEXT:        tir.block @copy(%v: spatial %n + -2) = [%a * 4 + %b] reads
// CHECK:           tir.for %a_1 = 0 to ((%n + 2) mod 4 + 3) floordiv 4 {
// CHECK-NEXT:      tir.for vectorized %b_1 = 0 to (%n + 2) mod 4 {
tir.prim_func @a_loop_is_cut_where_what_is_assumed_says_that_it_may_be(%x: memref<?xf32>, %y: memref<?xf32>, %n: index)
    shapes(%x[%n], %y[%n - 2]) attributes {assumed = [affine_map<()[s0, s1, s2] -> (s2 - 3)>]} {
  tir.for %a = 0 to (%n + 1) floordiv 4 {
    tir.for vectorized %b = 0 to 4 {
      tir.block @copy(%v: spatial %n - 2) = [%a * 4 + %b] where [%n - %a * 4 - %b - 3]
          reads(%x[%v + 2] : memref<?xf32>) writes(%y[%v] : memref<?xf32>) {
        %two = arith.constant 2 : index
        %0 = arith.addi %v, %two : index
        %1 = memref.load %x[%0] : memref<?xf32>
        memref.store %1, %y[%v] : memref<?xf32>
      }
    }
  }
}

// The threads of one launch run all of it, and those beyond the end do nothing.
// CHECK-LABEL: tir.prim_func @loops_of_threads_stay_whole
// CHECK-NEXT:    tir.for thread_binding "blockIdx.x" %o = 0 to 4 {
// CHECK-NEXT:      tir.for thread_binding "threadIdx.x" %i = 0 to 16 {
// CHECK-NEXT:        tir.block @b(%v: spatial 50) = [%o * 16 + %i] where [%o * -16 + 49 + %i * -1]
tir.prim_func @loops_of_threads_stay_whole(%y: memref<50xf32>, %z: f32) {
  tir.for thread_binding "blockIdx.x" %o = 0 to 4 {
    tir.for thread_binding "threadIdx.x" %i = 0 to 16 {
      tir.block @b(%v: spatial 50) = [%o * 16 + %i] where [49 - %o * 16 - %i] reads() writes(%y[%v] : memref<50xf32>) {
        memref.store %z, %y[%v] : memref<50xf32>
      }
    }
  }
}

// Of seven rows at most that are left, four, two and one, in tiles of known heights.
// CHECK-LABEL: tir.prim_func @the_rest_of_unrolled_rows_is_taken_in_halves
// CHECK-NEXT:    tir.for %a = 0 to %n floordiv 8 {
// CHECK-NEXT:      tir.for unrolled %b = 0 to 8 {
// CHECK-NEXT:        tir.block @copy(%v: spatial %n) = [%a * 8 + %b] reads
// CHECK:         tir.for %a_1 = 0 to (%n floordiv 4) mod 2 {
// CHECK-NEXT:      tir.for unrolled %b_1 = 0 to 4 {
// CHECK-NEXT:        tir.block @copy(%v_1: spatial %n) = [(%n floordiv 8) * 8 + %a_1 * 4 + %b_1] reads
// CHECK:         tir.for %a_2 = 0 to (%n floordiv 2) mod 2 {
// CHECK-NEXT:      tir.for unrolled %b_2 = 0 to 2 {
// CHECK-NEXT:        tir.block @copy(%v_2: spatial %n) = [(%n floordiv 4) * 4 + %a_2 * 2 + %b_2] reads
// CHECK:         tir.for %a_3 = 0 to %n mod 2 {
// CHECK-NEXT:      tir.for unrolled %b_3 = 0 to 1 {
// CHECK-NEXT:        tir.block @copy(%v_3: spatial %n) = [(%n floordiv 2) * 2 + %a_3 + %b_3]
tir.prim_func @the_rest_of_unrolled_rows_is_taken_in_halves(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) shapes(%x[%n], %y[%n]) {
  tir.for %a = 0 to (%n + 7) floordiv 8 {
    tir.for unrolled %b = 0 to 8 {
      tir.block @copy(%v: spatial %n) = [%a * 8 + %b] where [%n - %a * 8 - %b - 1] reads(%x[%v] : memref<?xf32>) writes(%y[%v] : memref<?xf32>) {
        %0 = memref.load %x[%v] : memref<?xf32>
        memref.store %0, %y[%v] : memref<?xf32>
      }
    }
  }
}

// All rows of a tile walk through 256 KiB of %w: there are tiles of every height. A rest is one of them, or, where it is
// of one row or two after a whole tile, taken together with that: of 9 rows 5 and 4, of 10 5 and 5.
// CHECK-LABEL: tir.prim_func @the_rest_of_rows_that_share_much_is_taken_at_once
// CHECK:         tir.for %a = 0 to {{.*}} + %n floordiv 8 + -1 {
// CHECK:         tir.for %a_1 = 0 to (%n mod 8 + 1) floordiv 8 {
// CHECK:             tir.for unrolled %b_1 = 0 to 7 {
// CHECK:         tir.for %a_2 = 0 to ((%n + 1) mod 8 + 1) floordiv 8 {
// CHECK:             tir.for unrolled %b_2 = 0 to 6 {
// CHECK:             tir.for unrolled %b_3 = 0 to 5 {
// CHECK:               [((%n + 3) floordiv 8) * 8 + %a_3 * 5 + %b_3 + -8, %c_3, %k_3]
// CHECK:             tir.for unrolled %b_4 = 0 to 4 {
// CHECK:             tir.for unrolled %b_5 = 0 to 3 {
// CHECK:             tir.for unrolled %b_6 = 0 to 2 {
// CHECK:             tir.for unrolled %b_7 = 0 to 1 {
tir.prim_func @the_rest_of_rows_that_share_much_is_taken_at_once(%x: memref<?x4096xf32>, %w: memref<4096x16xf32>, %y: memref<?x16xf32>, %n: index) shapes(%x[%n, 4096], %y[%n, 16]) {
  tir.for %a = 0 to (%n + 7) floordiv 8 {
    tir.for %k = 0 to 4096 {
      tir.for unrolled %b = 0 to 8 {
        tir.for vectorized %c = 0 to 16 {
          tir.block @sum(%v: spatial %n, %u: spatial 16, %r: reduce 4096) = [%a * 8 + %b, %c, %k] where [%n - %a * 8 - %b - 1]
              reads(%x[%v, %r] : memref<?x4096xf32>, %w[%r, %u] : memref<4096x16xf32>, %y[%v, %u] : memref<?x16xf32>) writes(%y[%v, %u] : memref<?x16xf32>) {
            %0 = memref.load %x[%v, %r] : memref<?x4096xf32>
            %1 = memref.load %w[%r, %u] : memref<4096x16xf32>
            %2 = arith.mulf %0, %1 : f32
            %3 = memref.load %y[%v, %u] : memref<?x16xf32>
            %4 = arith.addf %3, %2 : f32
            memref.store %4, %y[%v, %u] : memref<?x16xf32>
          }
        }
      }
    }
  }
}

// Vectors that are whole first, and then the lanes that are left.
// CHECK-LABEL: tir.prim_func @the_rest_of_unrolled_vectors_is_one_and_some_lanes
// CHECK-NEXT:    tir.for %a = 0 to %n floordiv 8 {
// CHECK:         tir.for %a_1 = 0 to (%n floordiv 4) mod 2 {
// CHECK-NEXT:      tir.for unrolled %b_1 = 0 to 1 {
// CHECK-NEXT:        tir.for vectorized %c_1 = 0 to 4 {
// CHECK:         tir.for %a_2 = 0 to (%n mod 4 + 3) floordiv 4 {
// CHECK-NEXT:      tir.for unrolled %b_2 = 0 to 1 {
// CHECK-NEXT:        tir.for vectorized %c_2 = 0 to %n mod 4 {
// CHECK-NEXT:          tir.block @copy(%v_2: spatial %n) = [(%n floordiv 4) * 4 + %a_2 * 4 + %b_2 * 4 + %c_2]
tir.prim_func @the_rest_of_unrolled_vectors_is_one_and_some_lanes(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) shapes(%x[%n], %y[%n]) {
  tir.for %a = 0 to (%n + 7) floordiv 8 {
    tir.for unrolled %b = 0 to 2 {
      tir.for vectorized %c = 0 to 4 {
        tir.block @copy(%v: spatial %n) = [%a * 8 + %b * 4 + %c] where [%n - %a * 8 - %b * 4 - %c - 1] reads(%x[%v] : memref<?xf32>) writes(%y[%v] : memref<?xf32>) {
          %0 = memref.load %x[%v] : memref<?xf32>
          memref.store %0, %y[%v] : memref<?xf32>
        }
      }
    }
  }
}

// A loop that asks for it is cut where branches are decided, at both ends.
// CHECK-LABEL: tir.prim_func @a_hinted_loop_is_cut_at_branches
// CHECK-NEXT:    tir.for %i = 0 to 3 annotations {kept = 1 : i64} {
// CHECK-NEXT:      tir.block @b(%i_1: opaque 3) = [%i] reads() writes(%y[%i_1] : memref<10xf32>)
// CHECK:         tir.for %i_2 = 0 to 5 annotations {kept = 1 : i64} {
// CHECK-NEXT:      tir.block @b(%i_3: opaque 5) = [%i_2] reads() writes(%y[%i_3 + 3] : memref<10xf32>)
// CHECK:         tir.for %i_4 = 0 to 2 annotations {kept = 1 : i64} {
// CHECK-NEXT:      tir.block @b(%i_5: opaque 2) = [%i_4] reads() writes(%y[%i_5 + 8] : memref<10xf32>)
tir.prim_func @a_hinted_loop_is_cut_at_branches(%y: memref<10xf32>) {
  tir.for %i = 0 to 10 annotations {pragma_loop_partition_hint = 1, kept = 1} {
    tir.block @b(%v: opaque 10) = [%i] reads() writes(%y[%v] : memref<10xf32>) {
      %3 = arith.constant 3 : index
      %8 = arith.constant 8 : index
      %one = arith.constant 1.0 : f32
      %two = arith.constant 2.0 : f32
      memref.store %one, %y[%v] : memref<10xf32>
      %low = arith.cmpi sge, %v, %3 : index
      %high = arith.cmpi slt, %v, %8 : index
      %within = arith.andi %low, %high : i1
      scf.if %within {
        memref.store %two, %y[%v] : memref<10xf32>
      }
    }
  }
}

// Whose blocks have iterators of their own is left alone.
// CHECK-LABEL: tir.prim_func @iterators_are_not_looked_into
// CHECK-NEXT:    tir.for %i = 0 to 10 {
tir.prim_func @iterators_are_not_looked_into(%y: memref<10xf32>) {
  tir.for %i = 0 to 10 annotations {pragma_loop_partition_hint = 1} {
    tir.block @b(%v: spatial 10) = [%i] reads() writes(%y[%v] : memref<10xf32>) {
      %3 = arith.constant 3 : index
      %one = arith.constant 1.0 : f32
      %two = arith.constant 2.0 : f32
      %low = arith.cmpi sge, %v, %3 : index
      %0 = arith.select %low, %one, %two : f32
      memref.store %0, %y[%v] : memref<10xf32>
    }
  }
}

// Schedule rules ask for parts: blocks keep their iterators, and have the side of a branch that is taken.
// CHECK-LABEL: tir.prim_func @parts_of_a_concatenation_are_loops_of_their_own
// CHECK:         tir.for parallel %i = 0 to 4 {
// CHECK-NEXT:      tir.for %j = 0 to 3 {
// CHECK-NEXT:        tir.block @b(%v: spatial 4, %w: spatial 10) = [%i, %j] reads(%a[%v, %w] : memref<4x3xf32>)
// CHECK-NOT:         scf.if
// CHECK:           tir.for %j_1 = 3 to 9 {
// CHECK-NEXT:        tir.block @b(%v_1: spatial 4, %w_1: spatial 10) = [%i, %j_1] reads(%b[%v_1, %w_1 + -3] : memref<4x6xf32>)
// CHECK-NOT:         scf.if
// CHECK:           tir.block @b(%v_2: spatial 4, %w_2: spatial 10) = [%i, 9] reads(%c[%v_2, %w_2 + -9] : memref<4x1xf32>)
// CHECK-NOT:         scf.if
tir.prim_func @parts_of_a_concatenation_are_loops_of_their_own(
    %a: memref<4x3xf32>, %b: memref<4x6xf32>, %c: memref<4x1xf32>, %y: memref<4x10xf32>) {
  tir.for parallel %i = 0 to 4 {
    tir.for %j = 0 to 10 annotations {parts} {
      tir.block @b(%v: spatial 4, %w: spatial 10) = [%i, %j]
          reads(%a[%v, %w] : memref<4x3xf32>, %b[%v, %w - 3] : memref<4x6xf32>, %c[%v, %w - 9] : memref<4x1xf32>)
          writes(%y[%v, %w] : memref<4x10xf32>) {
        %3 = arith.constant 3 : index
        %9 = arith.constant 9 : index
        %first = arith.cmpi slt, %w, %3 : index
        %0 = scf.if %first -> (f32) {
          %1 = memref.load %a[%v, %w] : memref<4x3xf32>
          scf.yield %1 : f32
        } else {
          %second = arith.cmpi slt, %w, %9 : index
          %2 = scf.if %second -> (f32) {
            %at = arith.subi %w, %3 : index
            %4 = memref.load %b[%v, %at] : memref<4x6xf32>
            scf.yield %4 : f32
          } else {
            %at = arith.subi %w, %9 : index
            %5 = memref.load %c[%v, %at] : memref<4x1xf32>
            scf.yield %5 : f32
          }
          scf.yield %2 : f32
        }
        memref.store %0, %y[%v, %w] : memref<4x10xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @rests_of_loops_and_register_tiles_have_the_same_heights(
// CHECK:         tir.for parallel %o = 0 to %n floordiv 3 {
// CHECK-NEXT:      tir.for unrolled %i = 0 to 3 {
// CHECK:           tir.for %k = 0 to 3 annotations {rolled} {
// CHECK:         tir.for parallel %o_1 = 0 to %n mod 3 {
// CHECK-NEXT:      tir.for unrolled %i_1 = 0 to 1 {
// CHECK:           tir.for %k_1 = 0 to 1 annotations {rolled} {
tir.prim_func @rests_of_loops_and_register_tiles_have_the_same_heights(
    %x: memref<?x4xf32>, %y: memref<?x4xf32>, %n: index) shapes(%x[%n, 4], %y[%n, 4]) {
  %t = tir.alloc_buffer "local" [%n, 4] : memref<?x4xf32>
  tir.for parallel %o = 0 to (%n + 2) floordiv 3 {
    tir.for unrolled %i = 0 to 3 {
      tir.for vectorized %j = 0 to 4 {
        tir.block @double(%v: spatial %n, %w: spatial 4) = [%o * 3 + %i, %j] where [%n - %o * 3 - %i - 1]
            reads(%x[%v, %w] : memref<?x4xf32>) writes(%t[%v, %w] : memref<?x4xf32>) {
          %0 = memref.load %x[%v, %w] : memref<?x4xf32>
          %1 = arith.addf %0, %0 : f32
          memref.store %1, %t[%v, %w] : memref<?x4xf32>
        }
      }
    }
    tir.for %k = 0 to 3 annotations {rolled} {
      tir.for vectorized %l = 0 to 4 {
        tir.block @copy(%v: spatial %n, %w: spatial 4) = [%o * 3 + %k, %l] where [%n - %o * 3 - %k - 1]
            reads(%t[%v, %w] : memref<?x4xf32>) writes(%y[%v, %w] : memref<?x4xf32>) {
          %0 = memref.load %t[%v, %w] : memref<?x4xf32>
          memref.store %0, %y[%v, %w] : memref<?x4xf32>
        }
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @what_was_shown_of_a_loop_is_kept_where_its_parts_hide_it(
// CHECK:         tir.for parallel %r = 0 to 4 annotations {independent} {
// CHECK-NEXT:      tir.for %o = 0 to %n floordiv 32 {
// CHECK:           tir.for %o_1 = 0 to (%n floordiv 16) mod 2 {
// CHECK:           tir.for %o_2 = 0 to (%n mod 16 + 15) floordiv 16 {
tir.prim_func @what_was_shown_of_a_loop_is_kept_where_its_parts_hide_it(
    %x: memref<4x?xf32>, %y: memref<4x?xf32>, %n: index) shapes(%x[4, %n], %y[4, %n]) {
  %t = tir.alloc_buffer "local" [4, %n] : memref<4x?xf32>
  tir.for parallel %r = 0 to 4 {
    tir.for %o = 0 to (%n + 31) floordiv 32 {
      tir.for unrolled %i = 0 to 2 {
        tir.for vectorized %j = 0 to 16 {
          tir.block @double(%u: spatial 4, %v: spatial %n) = [%r, %o * 32 + %i * 16 + %j] where [%n - %o * 32 - %i * 16 - %j - 1]
              reads(%x[%u, %v] : memref<4x?xf32>) writes(%t[%u, %v] : memref<4x?xf32>) {
            %0 = memref.load %x[%u, %v] : memref<4x?xf32>
            %1 = arith.addf %0, %0 : f32
            memref.store %1, %t[%u, %v] : memref<4x?xf32>
          }
        }
      }
    }
    tir.for %k = 0 to %n {
      tir.block @copy(%u: spatial 4, %v: spatial %n) = [%r, %k]
          reads(%t[%u, %v] : memref<4x?xf32>) writes(%y[%u, %v] : memref<4x?xf32>) {
        %0 = memref.load %t[%u, %v] : memref<4x?xf32>
        memref.store %0, %y[%u, %v] : memref<4x?xf32>
      }
    }
  }
}
