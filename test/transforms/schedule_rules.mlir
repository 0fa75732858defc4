// RUN: weft-opt %s -p 'schedule-rules{vector-bytes=64 vector-registers=32}' | filecheck %s
// RUN: weft-opt %s -p 'schedule-rules{vector-bytes=64 vector-registers=32 dot=vnni}' | filecheck %s --check-prefix=VNNI
// CHECK-LABEL: tir.prim_func @small_elementwise_loops_become_one_serial_loop(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
// CHECK-NEXT:    tir.for %i_j = 0 to 32 {
// CHECK-NEXT:      tir.block @relu(%vi_vj: spatial 32) = [%i_j] reads(%x[%vi_vj floordiv 8, %vi_vj mod 8] : memref<4x8xf32>)
// CHECK-NEXT:          writes(%y[%vi_vj floordiv 8, %vi_vj mod 8] : memref<4x8xf32>) {
// CHECK-NEXT:        %0 = arith.constant 8 : index
// CHECK-NEXT:        %vi = arith.divui %vi_vj, %0 : index
// CHECK-NEXT:        %vj = arith.remui %vi_vj, %0 : index
// CHECK-NEXT:        %c = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:        %1 = memref.load %x[%vi, %vj] : memref<4x8xf32>
// CHECK-NEXT:        %2 = arith.maximumf %1, %c : f32
// CHECK-NEXT:        memref.store %2, %y[%vi, %vj] : memref<4x8xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
tir.prim_func @small_elementwise_loops_become_one_serial_loop(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 8 {
      tir.block @relu(%vi: spatial 4, %vj: spatial 8) = [%i, %j]
          reads(%x[%vi, %vj] : memref<4x8xf32>) writes(%y[%vi, %vj] : memref<4x8xf32>) {
        %c = arith.constant 0.0 : f32
        %0 = memref.load %x[%vi, %vj] : memref<4x8xf32>
        %1 = arith.maximumf %0, %c : f32
        memref.store %1, %y[%vi, %vj] : memref<4x8xf32>
      }
    }
  }
}
// CHECK-LABEL: tir.prim_func @large_elementwise_loops_run_in_parallel(%x: memref<128x100xf32>, %y: memref<100x128xf32>) {
// CHECK-NEXT:    tir.for parallel %j = 0 to 8 {
// CHECK-NEXT:      tir.for %i = 0 to 7 {
// CHECK-NEXT:        tir.for unrolled %i_1 = 0 to 16 {
// CHECK-NEXT:          tir.for vectorized %j_1 = 0 to 16 {
// CHECK-NEXT:            tir.block @transpose(%vi: spatial 100, %vj: spatial 128) = [%i * 16 + %i_1, %j * 16 + %j_1] where [%i * -16 + %i_1 * -1 + 99]
// CHECK-NEXT:                reads(%x[%vj, %vi] : memref<128x100xf32>) writes(%y[%vi, %vj] : memref<100x128xf32>) {
// CHECK-NEXT:              %0 = memref.load %x[%vj, %vi] : memref<128x100xf32>
// CHECK-NEXT:              memref.store %0, %y[%vi, %vj] : memref<100x128xf32>
// CHECK-NEXT:            }
// CHECK-NEXT:          }
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
tir.prim_func @large_elementwise_loops_run_in_parallel(%x: memref<128x100xf32>, %y: memref<100x128xf32>) {
  tir.for %i = 0 to 100 {
    tir.for %j = 0 to 128 {
      tir.block @transpose(%vi: spatial 100, %vj: spatial 128) = [%i, %j]
          reads(%x[%vj, %vi] : memref<128x100xf32>) writes(%y[%vi, %vj] : memref<100x128xf32>) {
        %0 = memref.load %x[%vj, %vi] : memref<128x100xf32>
        memref.store %0, %y[%vi, %vj] : memref<100x128xf32>
      }
    }
  }
}
// CHECK-LABEL: tir.prim_func @a_cheap_stage_is_inlined(%x: memref<8xf32>, %y: memref<8xf32>) {
// CHECK-NEXT:    tir.for %j = 0 to 8 {
// CHECK-NEXT:      tir.block @square(%w: spatial 8) = [%j] reads(%x[%w] : memref<8xf32>) writes(%y[%w] : memref<8xf32>) {
// CHECK-NEXT:        %0 = memref.load %x[%w] : memref<8xf32>
// CHECK-NEXT:        %1 = arith.addf %0, %0 : f32
// CHECK-NEXT:        %2 = arith.mulf %1, %1 : f32
// CHECK-NEXT:        memref.store %2, %y[%w] : memref<8xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
tir.prim_func @a_cheap_stage_is_inlined(%x: memref<8xf32>, %y: memref<8xf32>) {
  %0 = tir.alloc_buffer "global" : memref<8xf32>
  tir.for %i = 0 to 8 {
    tir.block @double(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%0[%v] : memref<8xf32>) {
      %1 = memref.load %x[%v] : memref<8xf32>
      %2 = arith.addf %1, %1 : f32
      memref.store %2, %0[%v] : memref<8xf32>
    }
  }
  tir.for %j = 0 to 8 {
    tir.block @square(%w: spatial 8) = [%j] reads(%0[%w] : memref<8xf32>) writes(%y[%w] : memref<8xf32>) {
      %3 = memref.load %0[%w] : memref<8xf32>
      %4 = arith.mulf %3, %3 : f32
      memref.store %4, %y[%w] : memref<8xf32>
    }
  }
}
// CHECK-LABEL: tir.prim_func @an_expensive_stage_that_is_read_twice_is_kept(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) {
// CHECK-NEXT:    %0 = tir.alloc_buffer "global" : memref<8xf32>
// CHECK-NEXT:    tir.for %i = 0 to 8 {
// CHECK-NEXT:      tir.block @exp(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%0[%v] : memref<8xf32>) {
// CHECK-NEXT:        %1 = memref.load %x[%v] : memref<8xf32>
// CHECK-NEXT:        %2 = math.exp %1 : f32
// CHECK-NEXT:        memref.store %2, %0[%v] : memref<8xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    tir.for %j = 0 to 8 {
// CHECK-NEXT:      tir.block @first(%w: spatial 8) = [%j] reads(%0[%w] : memref<8xf32>) writes(%y[%w] : memref<8xf32>) {
// CHECK-NEXT:        %3 = memref.load %0[%w] : memref<8xf32>
// CHECK-NEXT:        memref.store %3, %y[%w] : memref<8xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    tir.for %k = 0 to 8 {
// CHECK-NEXT:      tir.block @second(%u: spatial 8) = [%k] reads(%0[%u] : memref<8xf32>) writes(%z[%u] : memref<8xf32>) {
// CHECK-NEXT:        %4 = memref.load %0[%u] : memref<8xf32>
// CHECK-NEXT:        memref.store %4, %z[%u] : memref<8xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
tir.prim_func @an_expensive_stage_that_is_read_twice_is_kept(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) {
  %0 = tir.alloc_buffer "global" : memref<8xf32>
  tir.for %i = 0 to 8 {
    tir.block @exp(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%0[%v] : memref<8xf32>) {
      %1 = memref.load %x[%v] : memref<8xf32>
      %2 = math.exp %1 : f32
      memref.store %2, %0[%v] : memref<8xf32>
    }
  }
  tir.for %j = 0 to 8 {
    tir.block @first(%w: spatial 8) = [%j] reads(%0[%w] : memref<8xf32>) writes(%y[%w] : memref<8xf32>) {
      %3 = memref.load %0[%w] : memref<8xf32>
      memref.store %3, %y[%w] : memref<8xf32>
    }
  }
  tir.for %k = 0 to 8 {
    tir.block @second(%u: spatial 8) = [%k] reads(%0[%u] : memref<8xf32>) writes(%z[%u] : memref<8xf32>) {
      %5 = memref.load %0[%u] : memref<8xf32>
      memref.store %5, %z[%u] : memref<8xf32>
    }
  }
}

// CHECK-LABEL: tir.prim_func @an_expensive_stage_that_one_block_reads_twice_is_computed_once_there(%x: memref<8xf32>, %y: memref<8xf32>) {
// CHECK-NEXT:     tir.for %i = 0 to 8 {
// CHECK-NEXT:       tir.block @product(%vi: spatial 8) = [%i] reads(%x[%vi] : memref<8xf32>) writes(%y[%vi] : memref<8xf32>) {
// CHECK-NEXT:         %0 = memref.load %x[%vi] : memref<8xf32>
// CHECK-NEXT:         %1 = math.exp %0 : f32
// CHECK-NEXT:         %2 = memref.load %x[%vi] : memref<8xf32>
// CHECK-NEXT:         %3 = arith.addf %1, %2 : f32
// CHECK-NEXT:         %4 = arith.mulf %3, %1 : f32
// CHECK-NEXT:         memref.store %4, %y[%vi] : memref<8xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
tir.prim_func @an_expensive_stage_that_one_block_reads_twice_is_computed_once_there(%x: memref<8xf32>, %y: memref<8xf32>) {
  %e = tir.alloc_buffer "global" : memref<8xf32>
  %s = tir.alloc_buffer "global" : memref<8xf32>
  tir.for %i = 0 to 8 {
    tir.block @exp(%vi: spatial 8) = [%i] reads(%x[%vi] : memref<8xf32>) writes(%e[%vi] : memref<8xf32>) {
      %0 = memref.load %x[%vi] : memref<8xf32>
      %1 = math.exp %0 : f32
      memref.store %1, %e[%vi] : memref<8xf32>
    }
  }
  tir.for %i_1 = 0 to 8 {
    tir.block @sum(%vi_1: spatial 8) = [%i_1] reads(%e[%vi_1] : memref<8xf32>, %x[%vi_1] : memref<8xf32>) writes(%s[%vi_1] : memref<8xf32>) {
      %2 = memref.load %e[%vi_1] : memref<8xf32>
      %3 = memref.load %x[%vi_1] : memref<8xf32>
      %4 = arith.addf %2, %3 : f32
      memref.store %4, %s[%vi_1] : memref<8xf32>
    }
  }
  tir.for %i_2 = 0 to 8 {
    tir.block @product(%vi_2: spatial 8) = [%i_2] reads(%s[%vi_2] : memref<8xf32>, %e[%vi_2] : memref<8xf32>) writes(%y[%vi_2] : memref<8xf32>) {
      %5 = memref.load %s[%vi_2] : memref<8xf32>
      %6 = memref.load %e[%vi_2] : memref<8xf32>
      %7 = arith.mulf %5, %6 : f32
      memref.store %7, %y[%vi_2] : memref<8xf32>
    }
  }
}
// The accumulators are private, and set before the reduction's loop; what follows runs on the tile.
// CHECK-LABEL: tir.prim_func @a_product_of_matrices_is_tiled_with_what_follows(%x: memref<6x32xf32>, %w: memref<32x64xf32>, %y: memref<6x64xf32>) {
// CHECK-NEXT:    %0 = tir.alloc_buffer "local" : memref<6x64xf32>
// CHECK-NEXT:    tir.for %m_l = 0 to 1 {
// CHECK-NEXT:      tir.for unrolled %vi = 0 to 6 {
// CHECK-NEXT:        tir.for unrolled %vj = 0 to 4 {
// CHECK-NEXT:          tir.for vectorized %vj_1 = 0 to 16 {
// CHECK-NEXT:            tir.block @dense_init(%vi_1: spatial 6, %vj_2: spatial 64) = [%vi, %vj * 16 + %vj_1] reads() writes(%0[%vi_1, %vj_2] : memref<6x64xf32>) {
// CHECK-NEXT:              %1 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:              memref.store %1, %0[%vi_1, %vj_2] : memref<6x64xf32>
// CHECK-NEXT:            }
// CHECK-NEXT:          }
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      tir.for %vk = 0 to 32 {
// CHECK-NEXT:        tir.for unrolled %vi_2 = 0 to 6 {
// CHECK-NEXT:          tir.for unrolled %vj_3 = 0 to 4 {
// CHECK-NEXT:            tir.for vectorized %vj_4 = 0 to 16 {
// CHECK-NEXT:              tir.block @dense(%vi_3: spatial 6, %vj_5: spatial 64, %vk_1: reduce 32) = [%vi_2, %vj_3 * 16 + %vj_4, %vk]
// CHECK-NEXT:                  reads(%x[%vi_3, %vk_1] : memref<6x32xf32>, %w[%vk_1, %vj_5] : memref<32x64xf32>) writes(%0[%vi_3, %vj_5] : memref<6x64xf32>) {
// CHECK-NEXT:                %2 = memref.load %0[%vi_3, %vj_5] : memref<6x64xf32>
// CHECK-NEXT:                %3 = memref.load %x[%vi_3, %vk_1] : memref<6x32xf32>
// CHECK-NEXT:                %4 = memref.load %w[%vk_1, %vj_5] : memref<32x64xf32>
// CHECK-NEXT:                %5 = arith.mulf %3, %4 : f32
// CHECK-NEXT:                %6 = arith.addf %2, %5 : f32
// CHECK-NEXT:                memref.store %6, %0[%vi_3, %vj_5] : memref<6x64xf32>
// CHECK-NEXT:              }
// CHECK-NEXT:            }
// CHECK-NEXT:          }
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      tir.for unrolled %l = 0 to 6 {
// CHECK-NEXT:        tir.for unrolled %m = 0 to 4 {
// CHECK-NEXT:          tir.for vectorized %m_1 = 0 to 16 {
// CHECK-NEXT:            tir.block @relu(%vl: spatial 6, %vm: spatial 64) = [%l, %m_l * 64 + %m * 16 + %m_1] reads(%0[%vl, %vm] : memref<6x64xf32>)
// CHECK-NEXT:                writes(%y[%vl, %vm] : memref<6x64xf32>) {
// CHECK-NEXT:              %c = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:              %7 = memref.load %0[%vl, %vm] : memref<6x64xf32>
// CHECK-NEXT:              %8 = arith.maximumf %7, %c : f32
// CHECK-NEXT:              memref.store %8, %y[%vl, %vm] : memref<6x64xf32>
// CHECK-NEXT:            }
// CHECK-NEXT:          }
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
tir.prim_func @a_product_of_matrices_is_tiled_with_what_follows(%x: memref<6x32xf32>, %w: memref<32x64xf32>, %y: memref<6x64xf32>) {
  %0 = tir.alloc_buffer "global" : memref<6x64xf32>
  tir.for %i = 0 to 6 {
    tir.for %j = 0 to 64 {
      tir.for %k = 0 to 32 {
        tir.block @dense(%vi: spatial 6, %vj: spatial 64, %vk: reduce 32) = [%i, %j, %k]
            reads(%x[%vi, %vk] : memref<6x32xf32>, %w[%vk, %vj] : memref<32x64xf32>)
            writes(%0[%vi, %vj] : memref<6x64xf32>) {
          %1 = memref.load %0[%vi, %vj] : memref<6x64xf32>
          %2 = memref.load %x[%vi, %vk] : memref<6x32xf32>
          %3 = memref.load %w[%vk, %vj] : memref<32x64xf32>
          %4 = arith.mulf %2, %3 : f32
          %5 = arith.addf %1, %4 : f32
          memref.store %5, %0[%vi, %vj] : memref<6x64xf32>
        } init(%wi, %wj, %wk) {
          %6 = arith.constant 0.0 : f32
          memref.store %6, %0[%wi, %wj] : memref<6x64xf32>
        }
      }
    }
  }
  tir.for %l = 0 to 6 {
    tir.for %m = 0 to 64 {
      tir.block @relu(%vl: spatial 6, %vm: spatial 64) = [%l, %m]
          reads(%0[%vl, %vm] : memref<6x64xf32>) writes(%y[%vl, %vm] : memref<6x64xf32>) {
        %c = arith.constant 0.0 : f32
        %7 = memref.load %0[%vl, %vm] : memref<6x64xf32>
        %8 = arith.maximumf %7, %c : f32
        memref.store %8, %y[%vl, %vm] : memref<6x64xf32>
      }
    }
  }
}
// CHECK-LABEL: tir.prim_func @a_row_that_is_used_again_is_computed_in_its_iteration(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
// CHECK-NEXT:    %0 = tir.alloc_buffer "local" : memref<4xf32>
// CHECK-NEXT:    tir.for %l = 0 to 4 {
// CHECK-NEXT:      tir.block @sum_init(%vi: spatial 4) = [%l] reads() writes(%0[%vi] : memref<4xf32>) {
// CHECK-NEXT:        %1 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:        memref.store %1, %0[%vi] : memref<4xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:      tir.for %vk = 0 to 8 {
// CHECK-NEXT:        tir.block @sum(%vi_1: spatial 4, %vk_1: reduce 8) = [%l, %vk] reads(%x[%vi_1, %vk_1] : memref<4x8xf32>) writes(%0[%vi_1] : memref<4xf32>) {
// CHECK-NEXT:          %2 = memref.load %0[%vi_1] : memref<4xf32>
// CHECK-NEXT:          %3 = memref.load %x[%vi_1, %vk_1] : memref<4x8xf32>
// CHECK-NEXT:          %4 = arith.addf %2, %3 : f32
// CHECK-NEXT:          memref.store %4, %0[%vi_1] : memref<4xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      tir.for %m = 0 to 8 {
// CHECK-NEXT:        tir.block @divide(%vl: spatial 4, %vm: spatial 8) = [%l, %m] reads(%x[%vl, %vm] : memref<4x8xf32>, %0[%vl] : memref<4xf32>)
// CHECK-NEXT:            writes(%y[%vl, %vm] : memref<4x8xf32>) {
// CHECK-NEXT:          %5 = memref.load %x[%vl, %vm] : memref<4x8xf32>
// CHECK-NEXT:          %6 = memref.load %0[%vl] : memref<4xf32>
// CHECK-NEXT:          %7 = arith.divf %5, %6 : f32
// CHECK-NEXT:          memref.store %7, %y[%vl, %vm] : memref<4x8xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
tir.prim_func @a_row_that_is_used_again_is_computed_in_its_iteration(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  %0 = tir.alloc_buffer "global" : memref<4xf32>
  tir.for %i = 0 to 4 {
    tir.for %k = 0 to 8 {
      tir.block @sum(%vi: spatial 4, %vk: reduce 8) = [%i, %k]
          reads(%x[%vi, %vk] : memref<4x8xf32>) writes(%0[%vi] : memref<4xf32>) {
        %1 = memref.load %0[%vi] : memref<4xf32>
        %2 = memref.load %x[%vi, %vk] : memref<4x8xf32>
        %3 = arith.addf %1, %2 : f32
        memref.store %3, %0[%vi] : memref<4xf32>
      } init(%wi, %wk) {
        %4 = arith.constant 0.0 : f32
        memref.store %4, %0[%wi] : memref<4xf32>
      }
    }
  }
  tir.for %l = 0 to 4 {
    tir.for %m = 0 to 8 {
      tir.block @divide(%vl: spatial 4, %vm: spatial 8) = [%l, %m]
          reads(%x[%vl, %vm] : memref<4x8xf32>, %0[%vl] : memref<4xf32>)
          writes(%y[%vl, %vm] : memref<4x8xf32>) {
        %5 = memref.load %x[%vl, %vm] : memref<4x8xf32>
        %6 = memref.load %0[%vl] : memref<4xf32>
        %7 = arith.divf %5, %6 : f32
        memref.store %7, %y[%vl, %vm] : memref<4x8xf32>
      }
    }
  }
}
// CHECK-LABEL: tir.prim_func @a_place_that_depends_on_data_stays_in_its_loops(%t: memref<8x3xf32>, %n: memref<4xindex>, %y: memref<4x3xf32>) {
// CHECK-NEXT:    tir.for %i = 0 to 4 {
// CHECK-NEXT:      tir.for %j = 0 to 3 {
// CHECK-NEXT:        tir.block @gather(%v: spatial 4, %w: spatial 3) = [%i, %j] reads(%n[%v] : memref<4xindex>, %t : memref<8x3xf32>) writes(%y[%v, %w] : memref<4x3xf32>) {
// CHECK-NEXT:          %0 = memref.load %n[%v] : memref<4xindex>
// CHECK-NEXT:          %1 = memref.load %t[%0, %w] : memref<8x3xf32>
// CHECK-NEXT:          memref.store %1, %y[%v, %w] : memref<4x3xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
tir.prim_func @a_place_that_depends_on_data_stays_in_its_loops(%t: memref<8x3xf32>, %n: memref<4xindex>, %y: memref<4x3xf32>) {
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 3 {
      tir.block @gather(%v: spatial 4, %w: spatial 3) = [%i, %j]
          reads(%n[%v] : memref<4xindex>, %t : memref<8x3xf32>) writes(%y[%v, %w] : memref<4x3xf32>) {
        %0 = memref.load %n[%v] : memref<4xindex>
        %1 = memref.load %t[%0, %w] : memref<8x3xf32>
        memref.store %1, %y[%v, %w] : memref<4x3xf32>
      }
    }
  }
}
// CHECK-LABEL: tir.prim_func @what_has_a_loop_kind_is_left_alone(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
// CHECK-NEXT:    tir.for %i = 0 to 4 {
// CHECK-NEXT:      tir.for unrolled %j = 0 to 8 {
// CHECK-NEXT:        tir.block @copy(%vi: spatial 4, %vj: spatial 8) = [%i, %j] reads(%x[%vi, %vj] : memref<4x8xf32>) writes(%y[%vi, %vj] : memref<4x8xf32>) {
// CHECK-NEXT:          %0 = memref.load %x[%vi, %vj] : memref<4x8xf32>
// CHECK-NEXT:          memref.store %0, %y[%vi, %vj] : memref<4x8xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
tir.prim_func @what_has_a_loop_kind_is_left_alone(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  tir.for %i = 0 to 4 {
    tir.for unrolled %j = 0 to 8 {
      tir.block @copy(%vi: spatial 4, %vj: spatial 8) = [%i, %j]
          reads(%x[%vi, %vj] : memref<4x8xf32>) writes(%y[%vi, %vj] : memref<4x8xf32>) {
        %0 = memref.load %x[%vi, %vj] : memref<4x8xf32>
        memref.store %0, %y[%vi, %vj] : memref<4x8xf32>
      }
    }
  }
}
// CHECK-LABEL: tir.prim_func @what_never_runs_is_left_alone(%x: memref<0x8xf32>, %y: memref<0x8xf32>) {
// CHECK-NEXT:    tir.for %i = 0 to 0 {
// CHECK-NEXT:      tir.for %j = 0 to 8 {
// CHECK-NEXT:        tir.block @copy(%vi: spatial 0, %vj: spatial 8) = [%i, %j] reads(%x[%vi, %vj] : memref<0x8xf32>) writes(%y[%vi, %vj] : memref<0x8xf32>) {
// CHECK-NEXT:          %0 = memref.load %x[%vi, %vj] : memref<0x8xf32>
// CHECK-NEXT:          memref.store %0, %y[%vi, %vj] : memref<0x8xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
tir.prim_func @what_never_runs_is_left_alone(%x: memref<0x8xf32>, %y: memref<0x8xf32>) {
  tir.for %i = 0 to 0 {
    tir.for %j = 0 to 8 {
      tir.block @copy(%vi: spatial 0, %vj: spatial 8) = [%i, %j]
          reads(%x[%vi, %vj] : memref<0x8xf32>) writes(%y[%vi, %vj] : memref<0x8xf32>) {
        %0 = memref.load %x[%vi, %vj] : memref<0x8xf32>
        memref.store %0, %y[%vi, %vj] : memref<0x8xf32>
      }
    }
  }
}
// CHECK-LABEL: tir.prim_func @a_function_without_blocks_stays_empty(%x: memref<8xf32>) {
// CHECK-NEXT:  }
tir.prim_func @a_function_without_blocks_stays_empty(%x: memref<8xf32>) {
}
// CHECK-LABEL: tir.prim_func @one_element_needs_no_loop(%x: memref<f32>, %y: memref<f32>) {
// CHECK-NEXT:    tir.block @copy() = [] reads(%x[] : memref<f32>) writes(%y[] : memref<f32>) {
// CHECK-NEXT:      %0 = memref.load %x[] : memref<f32>
// CHECK-NEXT:      memref.store %0, %y[] : memref<f32>
// CHECK-NEXT:    }
// CHECK-NEXT:  }
tir.prim_func @one_element_needs_no_loop(%x: memref<f32>, %y: memref<f32>) {
  tir.block @copy() = [] reads(%x[] : memref<f32>) writes(%y[] : memref<f32>) {
    %0 = memref.load %x[] : memref<f32>
    memref.store %0, %y[] : memref<f32>
  }
}
// VNNI-LABEL: tir.prim_func @products_of_bytes_are_summed_four_at_a_time
// VNNI: tir.for %vk = 0 to 8 {
// VNNI: tir.for vectorized
// VNNI: tir.dot {{.*}} + unsigned ({{.*}}) * (
// CHECK-LABEL: tir.prim_func @products_of_bytes_are_summed_four_at_a_time(%a: memref<4x32xi8>, %b: memref<8x16x4xi8>, %c: memref<4x16xi32>) {
// CHECK-NEXT:    %c_local = tir.alloc_buffer "local" : memref<4x16xi32>
// CHECK-NEXT:    tir.for %i0 = 0 to 1 {
// CHECK-NEXT:      tir.for unrolled %vi = 0 to 4 {
// CHECK-NEXT:        tir.for vectorized %vj = 0 to 16 {
// CHECK-NEXT:          tir.block @product_init(%vi_1: spatial 4, %vj_1: spatial 16) = [%vi, %vj] reads() writes(%c_local[%vi_1, %vj_1] : memref<4x16xi32>) {
// CHECK-NEXT:            %zero = arith.constant 0 : i32
// CHECK-NEXT:            memref.store %zero, %c_local[%vi_1, %vj_1] : memref<4x16xi32>
// CHECK-NEXT:          }
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      tir.for %vk = 0 to 8 {
// CHECK-NEXT:        tir.for %vkk = 0 to 4 {
// CHECK-NEXT:          tir.for unrolled %vi_2 = 0 to 4 {
// CHECK-NEXT:            tir.for vectorized %vj_2 = 0 to 16 {
// CHECK-NEXT:              tir.block @product(%vi_3: spatial 4, %vj_3: spatial 16, %vk_1: reduce 8, %vkk_1: reduce 4) = [%vi_2, %vj_2, %vk, %vkk]
// CHECK-NEXT:                  reads(%a[%vi_3, %vk_1 * 4 + %vkk_1] : memref<4x32xi8>, %b[%vk_1, %vj_3, %vkk_1] : memref<8x16x4xi8>)
// CHECK-NEXT:                  writes(%c_local[%vi_3, %vj_3] : memref<4x16xi32>) {
// CHECK-NEXT:                %four = arith.constant 4 : index
// CHECK-NEXT:                %0 = arith.muli %vk_1, %four : index
// CHECK-NEXT:                %1 = arith.addi %0, %vkk_1 : index
// CHECK-NEXT:                %2 = memref.load %c_local[%vi_3, %vj_3] : memref<4x16xi32>
// CHECK-NEXT:                %3 = memref.load %a[%vi_3, %1] : memref<4x32xi8>
// CHECK-NEXT:                %4 = memref.load %b[%vk_1, %vj_3, %vkk_1] : memref<8x16x4xi8>
// CHECK-NEXT:                %5 = arith.extui %3 : i8 to i32
// CHECK-NEXT:                %6 = arith.extsi %4 : i8 to i32
// CHECK-NEXT:                %7 = arith.muli %5, %6 : i32
// CHECK-NEXT:                %8 = arith.addi %2, %7 : i32
// CHECK-NEXT:                memref.store %8, %c_local[%vi_3, %vj_3] : memref<4x16xi32>
// CHECK-NEXT:              }
// CHECK-NEXT:            }
// CHECK-NEXT:          }
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      tir.for unrolled %i0_1 = 0 to 4 {
// CHECK-NEXT:        tir.for vectorized %i1 = 0 to 16 {
// CHECK-NEXT:          tir.block @c_local(%v0: spatial 4, %v1: spatial 16) = [%i0 * 4 + %i0_1, %i1] reads(%c_local[%v0, %v1] : memref<4x16xi32>)
// CHECK-NEXT:              writes(%c[%v0, %v1] : memref<4x16xi32>) {
// CHECK-NEXT:            %9 = memref.load %c_local[%v0, %v1] : memref<4x16xi32>
// CHECK-NEXT:            memref.store %9, %c[%v0, %v1] : memref<4x16xi32>
// CHECK-NEXT:          }
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
tir.prim_func @products_of_bytes_are_summed_four_at_a_time(%a: memref<4x32xi8>, %b: memref<8x16x4xi8>,
    %c: memref<4x16xi32>) {
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 16 {
      tir.for %k = 0 to 8 {
        tir.for %kk = 0 to 4 {
          tir.block @product(%vi: spatial 4, %vj: spatial 16, %vk: reduce 8, %vkk: reduce 4) = [%i, %j, %k, %kk]
              reads(%a[%vi, %vk * 4 + %vkk] : memref<4x32xi8>, %b[%vk, %vj, %vkk] : memref<8x16x4xi8>)
              writes(%c[%vi, %vj] : memref<4x16xi32>) {
            %four = arith.constant 4 : index
            %0 = arith.muli %vk, %four : index
            %1 = arith.addi %0, %vkk : index
            %2 = memref.load %c[%vi, %vj] : memref<4x16xi32>
            %3 = memref.load %a[%vi, %1] : memref<4x32xi8>
            %4 = memref.load %b[%vk, %vj, %vkk] : memref<8x16x4xi8>
            %5 = arith.extui %3 : i8 to i32
            %6 = arith.extsi %4 : i8 to i32
            %7 = arith.muli %5, %6 : i32
            %8 = arith.addi %2, %7 : i32
            memref.store %8, %c[%vi, %vj] : memref<4x16xi32>
          } init(%vi, %vj, %vk, %vkk) {
            %zero = arith.constant 0 : i32
            memref.store %zero, %c[%vi, %vj] : memref<4x16xi32>
          }
        }
      }
    }
  }
}

// Channels stand in blocks of 16, so that what one iterator goes through is found by division: 16 of it are one vector.
// CHECK-LABEL: tir.prim_func @channels_in_blocks_are_taken_as_vectors(%x: memref<8x64x16xf32>, %y: memref<64x128xf32>) {
// CHECK-NEXT:    tir.for parallel %i = 0 to 64 {
// CHECK-NEXT:      tir.for %j = 0 to 8 {
// CHECK-NEXT:        tir.for vectorized %j_1 = 0 to 16 {
// CHECK-NEXT:          tir.block @exp(%vi: spatial 64, %vj: spatial 128) = [%i, %j * 16 + %j_1] reads(%x[%vj floordiv 16, %vi, %vj mod 16] : memref<8x64x16xf32>)
// CHECK-NEXT:              writes(%y[%vi, %vj] : memref<64x128xf32>) {
// CHECK-NEXT:            %c16 = arith.constant 16 : index
// CHECK-NEXT:            %block = arith.divui %vj, %c16 : index
// CHECK-NEXT:            %within = arith.remui %vj, %c16 : index
// CHECK-NEXT:            %0 = memref.load %x[%block, %vi, %within] : memref<8x64x16xf32>
// CHECK-NEXT:            %1 = math.exp %0 : f32
// CHECK-NEXT:            memref.store %1, %y[%vi, %vj] : memref<64x128xf32>
// CHECK-NEXT:          }
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
tir.prim_func @channels_in_blocks_are_taken_as_vectors(%x: memref<8x64x16xf32>, %y: memref<64x128xf32>) {
  tir.for %i = 0 to 64 {
    tir.for %j = 0 to 128 {
      tir.block @exp(%vi: spatial 64, %vj: spatial 128) = [%i, %j]
          reads(%x[%vj floordiv 16, %vi, %vj mod 16] : memref<8x64x16xf32>) writes(%y[%vi, %vj] : memref<64x128xf32>) {
        %c16 = arith.constant 16 : index
        %block = arith.divui %vj, %c16 : index
        %within = arith.remui %vj, %c16 : index
        %0 = memref.load %x[%block, %vi, %within] : memref<8x64x16xf32>
        %1 = math.exp %0 : f32
        memref.store %1, %y[%vi, %vj] : memref<64x128xf32>
      }
    }
  }
}

// Blocks of three are no vector, and neither are those of which the last is not whole.
// CHECK-LABEL: tir.prim_func @channels_in_odd_blocks_are_not(%x: memref<43x64x3xf32>, %y: memref<64x128xf32>, %z: memref<9x64x16xf32>, %u: memref<64x135xf32>) {
// CHECK-NEXT:    tir.for parallel %i = 0 to 64 {
// CHECK-NEXT:      tir.for %j = 0 to 128 {
// CHECK-NEXT:        tir.block @three(%vi: spatial 64, %vj: spatial 128) = [%i, %j] reads(%x[%vj floordiv 3, %vi, %vj mod 3] : memref<43x64x3xf32>)
// CHECK-NEXT:            writes(%y[%vi, %vj] : memref<64x128xf32>) {
// CHECK-NEXT:          %c3 = arith.constant 3 : index
// CHECK-NEXT:          %block = arith.divui %vj, %c3 : index
// CHECK-NEXT:          %within = arith.remui %vj, %c3 : index
// CHECK-NEXT:          %0 = memref.load %x[%block, %vi, %within] : memref<43x64x3xf32>
// CHECK-NEXT:          memref.store %0, %y[%vi, %vj] : memref<64x128xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    tir.for parallel %i_1 = 0 to 64 {
// CHECK-NEXT:      tir.for %j_1 = 0 to 135 {
// CHECK-NEXT:        tir.block @rest(%vi_1: spatial 64, %vj_1: spatial 135) = [%i_1, %j_1] reads(%z[%vj_1 floordiv 16, %vi_1, %vj_1 mod 16] : memref<9x64x16xf32>)
// CHECK-NEXT:            writes(%u[%vi_1, %vj_1] : memref<64x135xf32>) {
// CHECK-NEXT:          %c16 = arith.constant 16 : index
// CHECK-NEXT:          %block_1 = arith.divui %vj_1, %c16 : index
// CHECK-NEXT:          %within_1 = arith.remui %vj_1, %c16 : index
// CHECK-NEXT:          %1 = memref.load %z[%block_1, %vi_1, %within_1] : memref<9x64x16xf32>
// CHECK-NEXT:          memref.store %1, %u[%vi_1, %vj_1] : memref<64x135xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
tir.prim_func @channels_in_odd_blocks_are_not(%x: memref<43x64x3xf32>, %y: memref<64x128xf32>, %z: memref<9x64x16xf32>, %u: memref<64x135xf32>) {
  tir.for %i = 0 to 64 {
    tir.for %j = 0 to 128 {
      tir.block @three(%vi: spatial 64, %vj: spatial 128) = [%i, %j]
          reads(%x[%vj floordiv 3, %vi, %vj mod 3] : memref<43x64x3xf32>) writes(%y[%vi, %vj] : memref<64x128xf32>) {
        %c3 = arith.constant 3 : index
        %block = arith.divui %vj, %c3 : index
        %within = arith.remui %vj, %c3 : index
        %0 = memref.load %x[%block, %vi, %within] : memref<43x64x3xf32>
        memref.store %0, %y[%vi, %vj] : memref<64x128xf32>
      }
    }
  }
  tir.for %i = 0 to 64 {
    tir.for %j = 0 to 135 {
      tir.block @rest(%vi: spatial 64, %vj: spatial 135) = [%i, %j]
          reads(%z[%vj floordiv 16, %vi, %vj mod 16] : memref<9x64x16xf32>) writes(%u[%vi, %vj] : memref<64x135xf32>) {
        %c16 = arith.constant 16 : index
        %block = arith.divui %vj, %c16 : index
        %within = arith.remui %vj, %c16 : index
        %0 = memref.load %z[%block, %vi, %within] : memref<9x64x16xf32>
        memref.store %0, %u[%vi, %vj] : memref<64x135xf32>
      }
    }
  }
}

// Where they go to planes, the 16 of a line are read at once, and written to as many lines.
// CHECK-LABEL: tir.prim_func @channels_in_blocks_go_to_planes_in_strips(%x: memref<8x8x100x16xf32>, %y: memref<8x128x100xf32>) {
// CHECK-NEXT:    tir.for parallel %i_j = 0 to 64 {
// CHECK-NEXT:      tir.for %k = 0 to 7 {
// CHECK-NEXT:        tir.for unrolled %j = 0 to 16 {
// CHECK-NEXT:          tir.for vectorized %k_1 = 0 to 16 {
// CHECK-NEXT:            tir.block @planes(%vi: spatial 8, %vj: spatial 128, %vk: spatial 100) = [%i_j floordiv 8, (%i_j mod 8) * 16 + %j, %k * 16 + %k_1]
// CHECK-NEXT:                where [%k * -16 + %k_1 * -1 + 99] reads(%x[%vi, %vj floordiv 16, %vk, %vj mod 16] : memref<8x8x100x16xf32>)
// CHECK-NEXT:                writes(%y[%vi, %vj, %vk] : memref<8x128x100xf32>) {
// CHECK-NEXT:              %c16 = arith.constant 16 : index
// CHECK-NEXT:              %block = arith.divui %vj, %c16 : index
// CHECK-NEXT:              %within = arith.remui %vj, %c16 : index
// CHECK-NEXT:              %0 = memref.load %x[%vi, %block, %vk, %within] : memref<8x8x100x16xf32>
// CHECK-NEXT:              memref.store %0, %y[%vi, %vj, %vk] : memref<8x128x100xf32>
// CHECK-NEXT:            }
// CHECK-NEXT:          }
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
tir.prim_func @channels_in_blocks_go_to_planes_in_strips(%x: memref<8x8x100x16xf32>, %y: memref<8x128x100xf32>) {
  tir.for %i = 0 to 8 {
    tir.for %j = 0 to 128 {
      tir.for %k = 0 to 100 {
        tir.block @planes(%vi: spatial 8, %vj: spatial 128, %vk: spatial 100) = [%i, %j, %k]
            reads(%x[%vi, %vj floordiv 16, %vk, %vj mod 16] : memref<8x8x100x16xf32>) writes(%y[%vi, %vj, %vk] : memref<8x128x100xf32>) {
          %c16 = arith.constant 16 : index
          %block = arith.divui %vj, %c16 : index
          %within = arith.remui %vj, %c16 : index
          %0 = memref.load %x[%vi, %block, %vk, %within] : memref<8x8x100x16xf32>
          memref.store %0, %y[%vi, %vj, %vk] : memref<8x128x100xf32>
        }
      }
    }
  }
}

// The largest of each channel, of which the result has one more dimension of one element: the last that has more than
// one is the vectors'.
// CHECK-LABEL: tir.prim_func @a_reduction_whose_last_dimension_is_one_is_tiled(%x: memref<8x100x16xf32>, %y: memref<128x1xf32>) {
// CHECK-NEXT:    %y_local = tir.alloc_buffer "local" : memref<128x1xf32>
// CHECK-NEXT:    tir.for %i0 = 0 to 1 {
// CHECK-NEXT:      tir.for unrolled %vj = 0 to 8 {
// CHECK-NEXT:        tir.for vectorized %vj_1 = 0 to 16 {
// CHECK-NEXT:          tir.block @max_init(%vj_2: spatial 128, %vl: spatial 1) = [%vj * 16 + %vj_1, 0] reads() writes(%y_local[%vj_2, %vl] : memref<128x1xf32>) {
// CHECK-NEXT:            %low = arith.constant 0xff800000 : f32
// CHECK-NEXT:            memref.store %low, %y_local[%vj_2, %vl] : memref<128x1xf32>
// CHECK-NEXT:          }
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      tir.for %vk = 0 to 100 {
// CHECK-NEXT:        tir.for unrolled %vj_3 = 0 to 8 {
// CHECK-NEXT:          tir.for vectorized %vj_4 = 0 to 16 {
// CHECK-NEXT:            tir.block @max(%vj_5: spatial 128, %vl_1: spatial 1, %vk_1: reduce 100) = [%vj_3 * 16 + %vj_4, 0, %vk]
// CHECK-NEXT:                reads(%x[%vj_5 floordiv 16, %vk_1, %vj_5 mod 16] : memref<8x100x16xf32>) writes(%y_local[%vj_5, %vl_1] : memref<128x1xf32>) {
// CHECK-NEXT:              %c16 = arith.constant 16 : index
// CHECK-NEXT:              %block = arith.divui %vj_5, %c16 : index
// CHECK-NEXT:              %within = arith.remui %vj_5, %c16 : index
// CHECK-NEXT:              %0 = memref.load %x[%block, %vk_1, %within] : memref<8x100x16xf32>
// CHECK-NEXT:              %1 = memref.load %y_local[%vj_5, %vl_1] : memref<128x1xf32>
// CHECK-NEXT:              %2 = arith.maximumf %1, %0 fastmath<nsz> : f32
// CHECK-NEXT:              memref.store %2, %y_local[%vj_5, %vl_1] : memref<128x1xf32>
// CHECK-NEXT:            }
// CHECK-NEXT:          }
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      tir.for unrolled %i0_1 = 0 to 8 {
// CHECK-NEXT:        tir.for vectorized %i0_2 = 0 to 16 {
// CHECK-NEXT:          tir.block @y_local(%v0: spatial 128, %v1: spatial 1) = [%i0 * 128 + %i0_1 * 16 + %i0_2, 0] reads(%y_local[%v0, %v1] : memref<128x1xf32>)
// CHECK-NEXT:              writes(%y[%v0, %v1] : memref<128x1xf32>) {
// CHECK-NEXT:            %3 = memref.load %y_local[%v0, %v1] : memref<128x1xf32>
// CHECK-NEXT:            memref.store %3, %y[%v0, %v1] : memref<128x1xf32>
// CHECK-NEXT:          }
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
tir.prim_func @a_reduction_whose_last_dimension_is_one_is_tiled(%x: memref<8x100x16xf32>, %y: memref<128x1xf32>) {
  tir.for %j = 0 to 128 {
    tir.for %k = 0 to 100 {
      tir.block @max(%vj: spatial 128, %vl: spatial 1, %vk: reduce 100) = [%j, 0, %k]
          reads(%x[%vj floordiv 16, %vk, %vj mod 16] : memref<8x100x16xf32>) writes(%y[%vj, %vl] : memref<128x1xf32>) {
        %c16 = arith.constant 16 : index
        %block = arith.divui %vj, %c16 : index
        %within = arith.remui %vj, %c16 : index
        %0 = memref.load %x[%block, %vk, %within] : memref<8x100x16xf32>
        %1 = memref.load %y[%vj, %vl] : memref<128x1xf32>
        %2 = arith.maximumf %1, %0 fastmath<nsz> : f32
        memref.store %2, %y[%vj, %vl] : memref<128x1xf32>
      } init(%vj, %vl, %vk) {
        %low = arith.constant 0xFF800000 : f32
        memref.store %low, %y[%vj, %vl] : memref<128x1xf32>
      }
    }
  }
}

// Pixels out of channels: a line of these is read at once, and vectors go from pixel to pixel.
// CHECK-LABEL: tir.prim_func @channels_are_interleaved_as_pixels(
// CHECK-NEXT: tir.for parallel %r = 0 to 64 {
// CHECK-NEXT:   tir.for %c = 0 to 12 {
// CHECK-NEXT:     tir.for %l = 0 to 64 {
// CHECK-NEXT:       tir.for unrolled %l_1 = 0 to 2 {
// CHECK-NEXT:         tir.block @pixels(%vc: spatial 12, %vr: spatial 64, %vl: spatial 128) = [%c, %r, %l * 2 + %l_1]
tir.prim_func @channels_are_interleaved_as_pixels(%x: memref<2x64x64x16xf32>, %y: memref<12x64x128xf32>) {
  tir.for %c = 0 to 12 {
    tir.for %r = 0 to 64 {
      tir.for %l = 0 to 128 {
        tir.block @pixels(%vc: spatial 12, %vr: spatial 64, %vl: spatial 128) = [%c, %r, %l]
            reads(%x[%vl mod 2, %vr, %vl floordiv 2, %vc] : memref<2x64x64x16xf32>) writes(%y[%vc, %vr, %vl] : memref<12x64x128xf32>) {
          %c2 = arith.constant 2 : index
          %phase = arith.remui %vl, %c2 : index
          %place = arith.divui %vl, %c2 : index
          %0 = memref.load %x[%phase, %vr, %place, %vc] : memref<2x64x64x16xf32>
          memref.store %0, %y[%vc, %vr, %vl] : memref<12x64x128xf32>
        }
      }
    }
  }
}
// LLVM makes no vectors of what branches.
// CHECK-LABEL: tir.prim_func @exponentials_are_taken_in_vectors(
// CHECK-NEXT: tir.for %i_j = 0 to 7 {
// CHECK-NEXT: tir.for vectorized %i_j_1 = 0 to 16 {
// CHECK-NEXT: tir.block @exp(%vi_vj: spatial 100) = [%i_j * 16 + %i_j_1] where [%i_j * -16 + %i_j_1 * -1 + 99]
tir.prim_func @exponentials_are_taken_in_vectors(%x: memref<4x25xf32>, %y: memref<4x25xf32>) {
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 25 {
      tir.block @exp(%vi: spatial 4, %vj: spatial 25) = [%i, %j]
          reads(%x[%vi, %vj] : memref<4x25xf32>) writes(%y[%vi, %vj] : memref<4x25xf32>) {
        %0 = memref.load %x[%vi, %vj] : memref<4x25xf32>
        %1 = math.exp %0 : f32
        memref.store %1, %y[%vi, %vj] : memref<4x25xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @exponentials_of_an_open_number_are_taken_in_vectors(
// CHECK-NEXT: tir.for {{.*}}%i = 0 to (%n + 15) floordiv 16 {
// CHECK-NEXT: tir.for vectorized %i_1 = 0 to 16 {
// CHECK-NEXT: tir.block @exp(%vi: spatial %n) = [%i * 16 + %i_1] where [%i * -16 + %i_1 * -1 + %n + -1]
tir.prim_func @exponentials_of_an_open_number_are_taken_in_vectors(%x: memref<?xf32>, %y: memref<?xf32>, %n: index)
    shapes(%x[%n], %y[%n]) {
  tir.for %i = 0 to %n {
    tir.block @exp(%vi: spatial %n) = [%i] reads(%x[%vi] : memref<?xf32>) writes(%y[%vi] : memref<?xf32>) {
      %0 = memref.load %x[%vi] : memref<?xf32>
      %1 = math.exp %0 : f32
      memref.store %1, %y[%vi] : memref<?xf32>
    }
  }
}
// What a thread keeps of a row of an open length is its own, and as large as one row.
// CHECK-LABEL: tir.prim_func @rows_of_open_length_have_a_place_for_each_thread(
// CHECK: %t = tir.alloc_buffer "local" [%n, %m] : memref<?x?xf32>
// CHECK-NEXT: %s = tir.alloc_buffer "local" [%n] : memref<?xf32>
// CHECK-NEXT: tir.for parallel %i = 0 to %n {
tir.prim_func @rows_of_open_length_have_a_place_for_each_thread(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %n: index, %m: index)
    shapes(%x[%n, %m], %y[%n, %m]) {
  %t = tir.alloc_buffer "global" [%n, %m] : memref<?x?xf32>
  %s = tir.alloc_buffer "global" [%n] : memref<?xf32>
  tir.for %i = 0 to %n {
    tir.for %j = 0 to %m {
      tir.block @exp(%vi: spatial %n, %vj: spatial %m) = [%i, %j] reads(%x[%vi, %vj] : memref<?x?xf32>) writes(%t[%vi, %vj] : memref<?x?xf32>) {
        %0 = memref.load %x[%vi, %vj] : memref<?x?xf32>
        %1 = math.exp %0 : f32
        memref.store %1, %t[%vi, %vj] : memref<?x?xf32>
      }
    }
  }
  tir.for %i = 0 to %n {
    tir.for %j = 0 to %m {
      tir.block @sum(%vi: spatial %n, %vj: reduce %m) = [%i, %j] reads(%t[%vi, %vj] : memref<?x?xf32>, %s[%vi] : memref<?xf32>) writes(%s[%vi] : memref<?xf32>) {
        %0 = memref.load %t[%vi, %vj] : memref<?x?xf32>
        %1 = memref.load %s[%vi] : memref<?xf32>
        %2 = arith.addf %0, %1 fastmath<reassoc> : f32
        memref.store %2, %s[%vi] : memref<?xf32>
      } init(%vi, %vj) {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %s[%vi] : memref<?xf32>
      }
    }
  }
  tir.for %i = 0 to %n {
    tir.for %j = 0 to %m {
      tir.block @divide(%vi: spatial %n, %vj: spatial %m) = [%i, %j] reads(%t[%vi, %vj] : memref<?x?xf32>, %s[%vi] : memref<?xf32>) writes(%y[%vi, %vj] : memref<?x?xf32>) {
        %0 = memref.load %t[%vi, %vj] : memref<?x?xf32>
        %1 = memref.load %s[%vi] : memref<?xf32>
        %2 = arith.divf %0, %1 : f32
        memref.store %2, %y[%vi, %vj] : memref<?x?xf32>
      }
    }
  }
}
// Steps of long functions wait for each other: four registers are taken in turns, or two, of a row that fills them.
// CHECK-LABEL: tir.prim_func @functions_side_by_side(
// CHECK: tir.for vectorized %i_j_1 = 0 to 64 {
// CHECK-NEXT: tir.block @tanh
// CHECK: tir.for vectorized %i_j_3 = 0 to 32 {
// CHECK-NEXT: tir.block @atan
// CHECK: tir.for vectorized %i_j_5 = 0 to 16 {
// CHECK-NEXT: tir.block @erf
tir.prim_func @functions_side_by_side(%x: memref<40x16xf32>, %y: memref<40x16xf32>, %z: memref<40x16xf32>,
    %t: memref<5x16xf32>) {
  tir.for %i = 0 to 40 {
    tir.for %j = 0 to 16 {
      tir.block @tanh(%vi: spatial 40, %vj: spatial 16) = [%i, %j]
          reads(%x[%vi, %vj] : memref<40x16xf32>) writes(%y[%vi, %vj] : memref<40x16xf32>) {
        %0 = memref.load %x[%vi, %vj] : memref<40x16xf32>
        %1 = math.tanh %0 : f32
        memref.store %1, %y[%vi, %vj] : memref<40x16xf32>
      }
    }
  }
  tir.for %i = 0 to 40 {
    tir.for %j = 0 to 16 {
      tir.block @atan(%vi: spatial 40, %vj: spatial 16) = [%i, %j]
          reads(%x[%vi, %vj] : memref<40x16xf32>) writes(%z[%vi, %vj] : memref<40x16xf32>) {
        %0 = memref.load %x[%vi, %vj] : memref<40x16xf32>
        %1 = math.atan %0 : f32
        memref.store %1, %z[%vi, %vj] : memref<40x16xf32>
      }
    }
  }
  tir.for %i = 0 to 5 {
    tir.for %j = 0 to 16 {
      tir.block @erf(%vi: spatial 5, %vj: spatial 16) = [%i, %j]
          reads(%x[%vi, %vj] : memref<40x16xf32>) writes(%t[%vi, %vj] : memref<5x16xf32>) {
        %0 = memref.load %x[%vi, %vj] : memref<40x16xf32>
        %1 = math.erf %0 : f32
        memref.store %1, %t[%vi, %vj] : memref<5x16xf32>
      }
    }
  }
}
// Where data decides on places by long computations, channels that are taken from one place are taken one after the
// other: the place is found once.
// CHECK-LABEL: tir.prim_func @places_are_found_once(
// CHECK-NEXT: tir.for parallel %i_j = 0 to 1200 {
// CHECK-NEXT: tir.for %c = 0 to 8 {
// CHECK-NEXT: tir.block @sample(%vc: spatial 8, %vi: spatial 30, %vj: spatial 40) = [%c, %i_j floordiv 40, %i_j mod 40]
tir.prim_func @places_are_found_once(%x: memref<8x50xf32>, %at: memref<30x40xf32>, %y: memref<8x30x40xf32>) {
  tir.for %c = 0 to 8 {
    tir.for %i = 0 to 30 {
      tir.for %j = 0 to 40 {
        tir.block @sample(%vc: spatial 8, %vi: spatial 30, %vj: spatial 40) = [%c, %i, %j]
            reads(%at[%vi, %vj] : memref<30x40xf32>, %x : memref<8x50xf32>)
            writes(%y[%vc, %vi, %vj] : memref<8x30x40xf32>) {
          %c0 = arith.constant 0 : index
          %c49 = arith.constant 49 : index
          %half = arith.constant 0.5 : f32
          %0 = memref.load %at[%vi, %vj] : memref<30x40xf32>
          %1 = arith.addf %0, %half : f32
          %2 = arith.mulf %1, %half : f32
          %3 = arith.addf %2, %half : f32
          %4 = arith.mulf %3, %3 : f32
          %5 = arith.addf %4, %half : f32
          %6 = arith.mulf %5, %3 : f32
          %7 = arith.addf %6, %half : f32
          %8 = arith.mulf %7, %3 : f32
          %9 = math.floor %8 : f32
          %10 = arith.fptosi %9 : f32 to i64
          %11 = arith.index_cast %10 : i64 to index
          %12 = arith.maxsi %11, %c0 : index
          %13 = arith.minsi %12, %c49 : index
          %14 = memref.load %x[%vc, %13] : memref<8x50xf32>
          memref.store %14, %y[%vc, %vi, %vj] : memref<8x30x40xf32>
        }
      }
    }
  }
}

// One row of each matrix of a batch: its columns lie side by side, where those of other matrices are streams of their
// own, more than a processor follows.
// CHECK-LABEL: tir.prim_func @a_row_of_each_matrix(
// CHECK: tir.for %vk = 0 to 64 {
// CHECK-NEXT: tir.for unrolled %vj_3 = 0 to 22 {
// CHECK-NEXT: tir.for vectorized %vj_4 = 0 to 16 {
tir.prim_func @a_row_of_each_matrix(%a: memref<28x64xf32>, %b: memref<28x64x352xf32>, %c: memref<28x352xf32>) {
  tir.for %i = 0 to 28 {
    tir.for %j = 0 to 352 {
      tir.for %k = 0 to 64 {
        tir.block @product(%vi: spatial 28, %vj: spatial 352, %vk: reduce 64) = [%i, %j, %k]
            reads(%a[%vi, %vk] : memref<28x64xf32>, %b[%vi, %vk, %vj] : memref<28x64x352xf32>)
            writes(%c[%vi, %vj] : memref<28x352xf32>) {
          %1 = memref.load %a[%vi, %vk] : memref<28x64xf32>
          %2 = memref.load %b[%vi, %vk, %vj] : memref<28x64x352xf32>
          %3 = arith.mulf %1, %2 fastmath<contract> : f32
          %4 = memref.load %c[%vi, %vj] : memref<28x352xf32>
          %5 = arith.addf %4, %3 fastmath<reassoc,contract> : f32
          memref.store %5, %c[%vi, %vj] : memref<28x352xf32>
        } init(%wi, %wj, %wk) {
          %0 = arith.constant 0.0 : f32
          memref.store %0, %c[%wi, %wj] : memref<28x352xf32>
        }
      }
    }
  }
}
