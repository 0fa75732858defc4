// RUN: weft-opt %s -p thread-sync | filecheck %s
// RUN: weft-opt %s -p thread-sync,thread-sync | filecheck %s

// CHECK-LABEL: tir.prim_func @what_another_thread_wrote_is_waited_for
// CHECK:         tir.block @fill
// CHECK:         tir.storage_sync "shared"
// CHECK-NEXT:    tir.block @turn
// CHECK-NOT:     tir.storage_sync
tir.prim_func @what_another_thread_wrote_is_waited_for(%x: memref<8xf32>, %y: memref<8xf32>) {
  %s = tir.alloc_buffer "shared" : memref<8xf32>
  tir.for thread_binding "threadIdx.x" %t = 0 to 8 {
    tir.block @fill(%v: spatial 8) = [%t] reads(%x[%v] : memref<8xf32>) writes(%s[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %s[%v] : memref<8xf32>
    }
    tir.block @turn(%v: spatial 8) = [%t] reads(%s[7 - %v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %c7 = arith.constant 7 : index
      %i = arith.subi %c7, %v : index
      %0 = memref.load %s[%i] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_thread_does_not_wait_for_itself
// CHECK-NOT:     tir.storage_sync
// CHECK-LABEL: tir.prim_func @threads_wait_before_a_loop_and_not_in_it
tir.prim_func @a_thread_does_not_wait_for_itself(%x: memref<8xf32>, %y: memref<8xf32>) {
  %s = tir.alloc_buffer "shared" : memref<8xf32>
  tir.for thread_binding "threadIdx.x" %t = 0 to 8 {
    tir.block @fill(%v: spatial 8) = [%t] reads(%x[%v] : memref<8xf32>) writes(%s[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %s[%v] : memref<8xf32>
    }
    tir.block @copy(%v: spatial 8) = [%t] reads(%s[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %s[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}

// The second time around, the loop writes what other threads perhaps still read.
// CHECK:         tir.for %k = 0 to 4 {
// CHECK-NEXT:      tir.storage_sync "shared"
// CHECK-NEXT:      tir.block @load
// CHECK:           tir.storage_sync "shared"
// CHECK-NEXT:      tir.for %j = 0 to 8 {
// CHECK-NEXT:        tir.block @add
// CHECK-NOT:     tir.storage_sync
tir.prim_func @threads_wait_before_a_loop_and_not_in_it(%x: memref<4x8xf32>, %y: memref<8xf32>) {
  %s = tir.alloc_buffer "shared" : memref<8xf32>
  tir.for thread_binding "threadIdx.x" %t = 0 to 8 {
    tir.for %k = 0 to 4 {
      tir.block @load(%vk: spatial 4, %v: spatial 8) = [%k, %t] reads(%x[%vk, %v] : memref<4x8xf32>) writes(%s[%v] : memref<8xf32>) {
        %0 = memref.load %x[%vk, %v] : memref<4x8xf32>
        memref.store %0, %s[%v] : memref<8xf32>
      }
      tir.for %j = 0 to 8 {
        tir.block @add(%v: spatial 8, %vk: reduce 4, %vj: reduce 8) = [%t, %k, %j] reads(%s[%vj] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
          %0 = memref.load %s[%vj] : memref<8xf32>
          %1 = memref.load %y[%v] : memref<8xf32>
          %2 = arith.addf %1, %0 : f32
          memref.store %2, %y[%v] : memref<8xf32>
        } init(%v_1, %vk_1, %vj_1) {
          %3 = arith.constant 0.0 : f32
          memref.store %3, %y[%v_1] : memref<8xf32>
        }
      }
    }
  }
}

// A thread may be an iteration ahead of another where a loop stands around those of threads.
// CHECK-LABEL: tir.prim_func @loops_of_threads_beside_each_other
// CHECK:         tir.for %k = 0 to 4 {
// CHECK-NEXT:      tir.storage_sync "shared"
// CHECK-NEXT:      tir.for thread_binding "threadIdx.x" %t = 0 to 8 {
// CHECK:           tir.storage_sync "shared"
// CHECK-NEXT:      tir.for thread_binding "threadIdx.x" %u = 0 to 8 {
tir.prim_func @loops_of_threads_beside_each_other(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  %s = tir.alloc_buffer "shared" : memref<8xf32>
  tir.for %k = 0 to 4 {
    tir.for thread_binding "threadIdx.x" %t = 0 to 8 {
      tir.block @load(%vk: spatial 4, %v: spatial 8) = [%k, %t] reads(%x[%vk, %v] : memref<4x8xf32>) writes(%s[%v] : memref<8xf32>) {
        %0 = memref.load %x[%vk, %v] : memref<4x8xf32>
        memref.store %0, %s[%v] : memref<8xf32>
      }
    }
    tir.for thread_binding "threadIdx.x" %u = 0 to 8 {
      tir.block @copy(%vk: spatial 4, %v: spatial 8) = [%k, %u] reads(%s[%v] : memref<8xf32>) writes(%y[%vk, %v] : memref<4x8xf32>) {
        %0 = memref.load %s[%v] : memref<8xf32>
        memref.store %0, %y[%vk, %v] : memref<4x8xf32>
      }
    }
  }
}

// Memory of a thread's own, and the memory of all, need no waiting.
// CHECK-LABEL: tir.prim_func @other_memory_is_left_alone
// CHECK-NOT:     tir.storage_sync
tir.prim_func @other_memory_is_left_alone(%x: memref<8xf32>, %y: memref<8xf32>) {
  %s = tir.alloc_buffer "local" : memref<8xf32>
  tir.for thread_binding "threadIdx.x" %t = 0 to 8 {
    tir.block @fill(%v: spatial 8) = [%t] reads(%x[%v] : memref<8xf32>) writes(%s[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %s[%v] : memref<8xf32>
    }
    tir.block @copy(%v: spatial 8) = [%t] reads(%s[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %s[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}

// Memory of all threads is memory that those of a block have together.
// CHECK-LABEL: tir.prim_func @threads_wait_for_what_others_wrote_to_global_memory
// CHECK:         tir.block @fill
// CHECK:         tir.storage_sync "shared"
// CHECK-NEXT:    tir.for thread_binding "threadIdx.x"
// CHECK-NEXT:      tir.block @turn
// CHECK-NOT:     tir.storage_sync
tir.prim_func @threads_wait_for_what_others_wrote_to_global_memory(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  %g = tir.alloc_buffer "global" : memref<4x8xf32>
  tir.for thread_binding "blockIdx.x" %b = 0 to 4 {
    tir.for thread_binding "threadIdx.x" %t = 0 to 8 {
      tir.block @fill(%w: spatial 4, %v: spatial 8) = [%b, %t] reads(%x[%w, %v] : memref<4x8xf32>) writes(%g[%w, %v] : memref<4x8xf32>) {
        %0 = memref.load %x[%w, %v] : memref<4x8xf32>
        memref.store %0, %g[%w, %v] : memref<4x8xf32>
      }
    }
    tir.for thread_binding "threadIdx.x" %t = 0 to 8 {
      tir.block @turn(%w: spatial 4, %v: spatial 8) = [%b, %t] reads(%g[%w, 7 - %v] : memref<4x8xf32>) writes(%y[%w, %v] : memref<4x8xf32>) {
        %c7 = arith.constant 7 : index
        %i = arith.subi %c7, %v : index
        %0 = memref.load %g[%w, %i] : memref<4x8xf32>
        memref.store %0, %y[%w, %v] : memref<4x8xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_thread_does_not_wait_for_its_own_in_global_memory
// CHECK-NOT:     tir.storage_sync
tir.prim_func @a_thread_does_not_wait_for_its_own_in_global_memory(%x: memref<8x4xf32>, %y: memref<8xf32>) {
  tir.for thread_binding "threadIdx.x" %t = 0 to 8 {
    tir.block @start(%v: spatial 8) = [%t] reads() writes(%y[%v] : memref<8xf32>) {
      %0 = arith.constant 0.0 : f32
      memref.store %0, %y[%v] : memref<8xf32>
    }
    tir.for %k = 0 to 4 {
      tir.block @add(%v: spatial 8, %r: reduce 4) = [%t, %k] reads(%x[%v, %r] : memref<8x4xf32>, %y[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
        %0 = memref.load %x[%v, %r] : memref<8x4xf32>
        %1 = memref.load %y[%v] : memref<8xf32>
        %2 = arith.addf %1, %0 : f32
        memref.store %2, %y[%v] : memref<8xf32>
      }
    }
  }
}

// A thread may have begun with the next iteration, whose elements are another one's in this.
// CHECK-LABEL: tir.prim_func @threads_may_be_in_different_iterations_of_a_loop_around
// CHECK:         tir.for %k = 0 to 4
// CHECK-NEXT:      tir.storage_sync "shared"
// CHECK-NEXT:      tir.for thread_binding "threadIdx.x"
tir.prim_func @threads_may_be_in_different_iterations_of_a_loop_around(%x: memref<8xf32>, %y: memref<4x8xf32>) {
  %s = tir.alloc_buffer "shared" : memref<16xf32>
  tir.for %k = 0 to 4 {
    tir.for thread_binding "threadIdx.x" %t = 0 to 8 {
      tir.block @fill(%v: spatial 8, %w: spatial 4) = [%t, %k] reads(%x[%v] : memref<8xf32>) writes(%s[%v + %w] : memref<16xf32>) {
        %0 = memref.load %x[%v] : memref<8xf32>
        %p = arith.addi %v, %w : index
        memref.store %0, %s[%p] : memref<16xf32>
      }
      tir.block @take(%v: spatial 8, %w: spatial 4) = [%t, %k] reads(%s[%v + %w] : memref<16xf32>) writes(%y[%w, %v] : memref<4x8xf32>) {
        %p = arith.addi %v, %w : index
        %0 = memref.load %s[%p] : memref<16xf32>
        memref.store %0, %y[%w, %v] : memref<4x8xf32>
      }
    }
  }
}
