// RUN: weft-opt %s -p plan-and-update-buffer-allocation-location | filecheck %s

// CHECK-LABEL: tir.prim_func @a_buffer_moves_into_the_loop_that_uses_it
// CHECK-NEXT:    tir.for %i = 0 to 4 {
// CHECK-NEXT:      %b = tir.alloc_buffer
// CHECK-NEXT:      tir.for %j
tir.prim_func @a_buffer_moves_into_the_loop_that_uses_it(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  %b = tir.alloc_buffer "global" : memref<4x8xf32>
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 8 {
      tir.block @b(%vi: spatial 4, %vj: spatial 8) = [%i, %j] reads(%x[%vi, %vj] : memref<4x8xf32>) writes(%b[%vi, %vj] : memref<4x8xf32>) {
        %0 = memref.load %x[%vi, %vj] : memref<4x8xf32>
        memref.store %0, %b[%vi, %vj] : memref<4x8xf32>
      }
    }
    tir.for %k = 0 to 8 {
      tir.block @y(%vi: spatial 4, %vk: spatial 8) = [%i, %k] reads(%b[%vi, %vk] : memref<4x8xf32>) writes(%y[%vi, %vk] : memref<4x8xf32>) {
        %0 = memref.load %b[%vi, %vk] : memref<4x8xf32>
        memref.store %0, %y[%vi, %vk] : memref<4x8xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @what_an_iteration_leaves_to_the_next_stays
// CHECK-NEXT:    %b = tir.alloc_buffer
// CHECK-NEXT:    tir.for %i = 0 to 4 {
tir.prim_func @what_an_iteration_leaves_to_the_next_stays(%x: memref<4xf32>, %y: memref<4xf32>) {
  %b = tir.alloc_buffer "global" : memref<4xf32>
  tir.for %i = 0 to 4 {
    tir.block @b(%vi: opaque 4) = [%i] reads(%x[%vi] : memref<4xf32>) writes(%b[%vi] : memref<4xf32>) {
      %0 = memref.load %x[%vi] : memref<4xf32>
      memref.store %0, %b[%vi] : memref<4xf32>
    }
    tir.block @y(%vi: opaque 4) = [%i] reads(%b[0] : memref<4xf32>) writes(%y[%vi] : memref<4xf32>) {
      %zero = arith.constant 0 : index
      %0 = memref.load %b[%zero] : memref<4xf32>
      memref.store %0, %y[%vi] : memref<4xf32>
    }
  }
}

// CHECK-LABEL: tir.prim_func @two_nests_share_a_buffer_around_them
// CHECK-NEXT:    %b = tir.alloc_buffer
tir.prim_func @two_nests_share_a_buffer_around_them(%x: memref<4xf32>, %y: memref<4xf32>) {
  %b = tir.alloc_buffer "global" : memref<4xf32>
  tir.for %i = 0 to 4 {
    tir.block @b(%vi: spatial 4) = [%i] reads(%x[%vi] : memref<4xf32>) writes(%b[%vi] : memref<4xf32>) {
      %0 = memref.load %x[%vi] : memref<4xf32>
      memref.store %0, %b[%vi] : memref<4xf32>
    }
  }
  tir.for %j = 0 to 4 {
    tir.block @y(%vj: spatial 4) = [%j] reads(%b[%vj] : memref<4xf32>) writes(%y[%vj] : memref<4xf32>) {
      %0 = memref.load %b[%vj] : memref<4xf32>
      memref.store %0, %y[%vj] : memref<4xf32>
    }
  }
}

// CHECK-LABEL: tir.prim_func @the_lanes_of_a_vector_share_a_buffer
// CHECK-NEXT:    %b = tir.alloc_buffer
// CHECK-NEXT:    tir.for vectorized
tir.prim_func @the_lanes_of_a_vector_share_a_buffer(%x: memref<4xf32>, %y: memref<4xf32>) {
  %b = tir.alloc_buffer "global" : memref<4xf32>
  tir.for vectorized %i = 0 to 4 {
    tir.block @b(%vi: spatial 4) = [%i] reads(%x[%vi] : memref<4xf32>) writes(%b[%vi] : memref<4xf32>) {
      %0 = memref.load %x[%vi] : memref<4xf32>
      memref.store %0, %b[%vi] : memref<4xf32>
    }
    tir.block @y(%vi: spatial 4) = [%i] reads(%b[%vi] : memref<4xf32>) writes(%y[%vi] : memref<4xf32>) {
      %0 = memref.load %b[%vi] : memref<4xf32>
      memref.store %0, %y[%vi] : memref<4xf32>
    }
  }
}

// CHECK-LABEL: tir.prim_func @the_innermost_loop_has_it
// CHECK-NEXT:    tir.for %i = 0 to 4 {
// CHECK-NEXT:      tir.for %j = 0 to 8 {
// CHECK-NEXT:        %b = tir.alloc_buffer
tir.prim_func @the_innermost_loop_has_it(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  %b = tir.alloc_buffer "global" : memref<4x8xf32>
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 8 {
      tir.block @b(%vi: spatial 4, %vj: spatial 8) = [%i, %j] reads(%x[%vi, %vj] : memref<4x8xf32>) writes(%b[%vi, %vj] : memref<4x8xf32>) {
        %0 = memref.load %x[%vi, %vj] : memref<4x8xf32>
        memref.store %0, %b[%vi, %vj] : memref<4x8xf32>
      }
      tir.block @y(%vi: spatial 4, %vk: spatial 8) = [%i, %j] reads(%b[%vi, %vk] : memref<4x8xf32>) writes(%y[%vi, %vk] : memref<4x8xf32>) {
        %0 = memref.load %b[%vi, %vk] : memref<4x8xf32>
        memref.store %0, %y[%vi, %vk] : memref<4x8xf32>
      }
    }
  }
}

// A sum goes on from one iteration of %k to the next: its buffer does not begin anew there.
// CHECK-LABEL: tir.prim_func @a_sum_that_is_carried
// CHECK:         tir.for %i = 0 to 4 {
// CHECK-NEXT:      %b = tir.alloc_buffer "global" : memref<4xf32>
// CHECK-NEXT:      tir.for %k = 0 to 8 {
tir.prim_func @a_sum_that_is_carried(%x: memref<4x8xf32>) {
  %b = tir.alloc_buffer "global" : memref<4xf32>
  tir.for %i = 0 to 4 {
    tir.for %k = 0 to 8 {
      tir.block @sum(%v: spatial 4, %s: reduce 8) = [%i, %k]
          reads(%x[%v, %s] : memref<4x8xf32>) writes(%b[%v] : memref<4xf32>) {
        %0 = memref.load %b[%v] : memref<4xf32>
        %1 = memref.load %x[%v, %s] : memref<4x8xf32>
        %2 = arith.addf %0, %1 : f32
        memref.store %2, %b[%v] : memref<4xf32>
      } init(%w, %t) {
        %3 = arith.constant 0.0 : f32
        memref.store %3, %b[%w] : memref<4xf32>
      }
    }
  }
}

// Whose a buffer is that a launch has, its scope says; only the loop over what it holds at one time is asked about.
// CHECK-LABEL: tir.prim_func @what_a_launch_has_lives_within_it
// CHECK-NEXT:    tir.for thread_binding "blockIdx.x" %i = 0 to 2 {
// CHECK-NEXT:      tir.for thread_binding "threadIdx.x" %t = 0 to 4 {
// CHECK-NEXT:        tir.for %k = 0 to 3 {
// CHECK-NEXT:          %s = tir.alloc_buffer "shared" : memref<2x4xf32>
// CHECK-NEXT:          tir.block @copy
tir.prim_func @what_a_launch_has_lives_within_it(%x: memref<2x3x4xf32>, %y: memref<2x3x4xf32>) {
  %s = tir.alloc_buffer "shared" : memref<2x4xf32>
  tir.for thread_binding "blockIdx.x" %i = 0 to 2 {
    tir.for thread_binding "threadIdx.x" %t = 0 to 4 {
      tir.for %k = 0 to 3 {
        tir.block @copy(%u: spatial 2, %v: spatial 3, %w: spatial 4) = [%i, %k, %t] reads(%x[%u, %v, %w] : memref<2x3x4xf32>) writes(%s[%u, %w] : memref<2x4xf32>) {
          %0 = memref.load %x[%u, %v, %w] : memref<2x3x4xf32>
          memref.store %0, %s[%u, %w] : memref<2x4xf32>
        }
        tir.block @out(%u: spatial 2, %v: spatial 3, %w: spatial 4) = [%i, %k, %t] reads(%s[%u, %w] : memref<2x4xf32>) writes(%y[%u, %v, %w] : memref<2x3x4xf32>) {
          %0 = memref.load %s[%u, %w] : memref<2x4xf32>
          memref.store %0, %y[%u, %v, %w] : memref<2x3x4xf32>
        }
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_buffer_of_two_nests_is_left_where_it_stands
// CHECK-NEXT:    %b = tir.alloc_buffer
// CHECK-NEXT:    tir.for %n
tir.prim_func @a_buffer_of_two_nests_is_left_where_it_stands(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>) {
  %b = tir.alloc_buffer "global" : memref<4xf32>
  tir.for %n = 0 to 4 {
    tir.block @z(%vn: spatial 4) = [%n] reads(%x[%vn] : memref<4xf32>) writes(%z[%vn] : memref<4xf32>) {
      %0 = memref.load %x[%vn] : memref<4xf32>
      memref.store %0, %z[%vn] : memref<4xf32>
    }
  }
  tir.for %i = 0 to 4 {
    tir.block @b(%vi: spatial 4) = [%i] reads(%x[%vi] : memref<4xf32>) writes(%b[%vi] : memref<4xf32>) {
      %0 = memref.load %x[%vi] : memref<4xf32>
      memref.store %0, %b[%vi] : memref<4xf32>
    }
  }
  tir.for %j = 0 to 4 {
    tir.block @y(%vj: spatial 4) = [%j] reads(%b[%vj] : memref<4xf32>) writes(%y[%vj] : memref<4xf32>) {
      %0 = memref.load %b[%vj] : memref<4xf32>
      memref.store %0, %y[%vj] : memref<4xf32>
    }
  }
}
