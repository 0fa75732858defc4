// RUN: weft-opt %s -p gpu-schedule-rules | filecheck %s
// RUN: weft-opt %s -p gpu-schedule-rules --remarks 2>&1 | filecheck %s --check-prefix=REMARK
// RUN: weft-opt %s -p 'gpu-schedule-rules{max-threads-per-block=32}' | filecheck %s --check-prefix=FEW

// CHECK-LABEL: tir.prim_func @matmul
// CHECK-NEXT:    tir.for thread_binding "blockIdx.x" %i_j = 0 to 16 {
// CHECK-NEXT:      tir.for thread_binding "threadIdx.x" %i_j_1 = 0 to 256 {
// CHECK-NEXT:        tir.for %k = 0 to 32 {
// FEW-LABEL: tir.prim_func @matmul
// FEW-NEXT:    tir.for thread_binding "blockIdx.x" %i_j = 0 to 128 {
// FEW-NEXT:      tir.for thread_binding "threadIdx.x" %i_j_1 = 0 to 32 {
tir.prim_func @matmul(%a: memref<64x32xf32>, %b: memref<32x64xf32>, %c: memref<64x64xf32>) {
  tir.for %i = 0 to 64 {
    tir.for %j = 0 to 64 {
      tir.for %k = 0 to 32 {
        tir.block @matmul(%vi: spatial 64, %vj: spatial 64, %vk: reduce 32) = [%i, %j, %k]
            reads(%a[%vi, %vk] : memref<64x32xf32>, %b[%vk, %vj] : memref<32x64xf32>) writes(%c[%vi, %vj] : memref<64x64xf32>) {
          %0 = memref.load %c[%vi, %vj] : memref<64x64xf32>
          %1 = memref.load %a[%vi, %vk] : memref<64x32xf32>
          %2 = memref.load %b[%vk, %vj] : memref<32x64xf32>
          %3 = arith.mulf %1, %2 : f32
          %4 = arith.addf %0, %3 : f32
          memref.store %4, %c[%vi, %vj] : memref<64x64xf32>
        } init(%vi_1, %vj_1, %vk_1) {
          %5 = arith.constant 0.0 : f32
          memref.store %5, %c[%vi_1, %vj_1] : memref<64x64xf32>
        }
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_few_elements_are_one_block
// CHECK-NEXT:    tir.for thread_binding "threadIdx.x" %i = 0 to 100 {
tir.prim_func @a_few_elements_are_one_block(%x: memref<100xf32>, %y: memref<100xf32>) {
  tir.for %i = 0 to 100 {
    tir.block @copy(%v: spatial 100) = [%i] reads(%x[%v] : memref<100xf32>) writes(%y[%v] : memref<100xf32>) {
      %0 = memref.load %x[%v] : memref<100xf32>
      memref.store %0, %y[%v] : memref<100xf32>
    }
  }
}

// CHECK-LABEL: tir.prim_func @what_is_bound_stays
// CHECK-NEXT:    tir.for thread_binding "threadIdx.x" %t = 0 to 64 {
tir.prim_func @what_is_bound_stays(%x: memref<64xf32>, %y: memref<64xf32>) {
  tir.for thread_binding "threadIdx.x" %t = 0 to 64 {
    tir.block @copy(%v: spatial 64) = [%t] reads(%x[%v] : memref<64xf32>) writes(%y[%v] : memref<64xf32>) {
      %0 = memref.load %x[%v] : memref<64xf32>
      memref.store %0, %y[%v] : memref<64xf32>
    }
  }
}

// REMARK: the nest is run by one thread: there is nothing to divide
// CHECK-LABEL: tir.prim_func @one_thread_sums
// CHECK-NEXT:    tir.for thread_binding "threadIdx.x" %once = 0 to 1 {
// CHECK-NEXT:      tir.for %k = 0 to 8 {
tir.prim_func @one_thread_sums(%x: memref<8xf32>, %y: memref<1xf32>) {
  tir.for %k = 0 to 8 {
    tir.block @sum(%vk: reduce 8) = [%k] reads(%x[%vk] : memref<8xf32>) writes(%y[0] : memref<1xf32>) {
      %z = arith.constant 0 : index
      %0 = memref.load %y[%z] : memref<1xf32>
      %1 = memref.load %x[%vk] : memref<8xf32>
      %2 = arith.addf %0, %1 : f32
      memref.store %2, %y[%z] : memref<1xf32>
    } init(%vk_1) {
      %z = arith.constant 0 : index
      %3 = arith.constant 0.0 : f32
      memref.store %3, %y[%z] : memref<1xf32>
    }
  }
}

// A symbol divides nothing: loops in front of it have an axis of the grid each, as far as there are such.
// CHECK-LABEL: tir.prim_func @open_extents_are_axes_of_the_grid
// CHECK:         tir.for thread_binding "blockIdx.z" %j = 0 to %m {
// CHECK-NEXT:      tir.for thread_binding "blockIdx.y" %k = 0 to %n {
// CHECK-NEXT:        tir.for thread_binding "blockIdx.x" %l_p = 0 to (%m * 3 + 255) floordiv 256 {
// CHECK-NEXT:          tir.for thread_binding "threadIdx.x" %l_p_1 = 0 to 256 {
// CHECK-NEXT:            tir.for %i = 0 to %n {
tir.prim_func @open_extents_are_axes_of_the_grid(%x: memref<?x?x?x?x3xf32>, %y: memref<?x?x?x?x3xf32>, %n: index, %m: index)
    shapes(%x[%n, %m, %n, %m, 3], %y[%n, %m, %n, %m, 3]) {
  tir.for %i = 0 to %n {
    tir.for %j = 0 to %m {
      tir.for %k = 0 to %n {
        tir.for %l = 0 to %m {
          tir.for %p = 0 to 3 {
            tir.block @copy(%a: spatial %n, %b: spatial %m, %c: spatial %n, %d: spatial %m, %e: spatial 3) = [%i, %j, %k, %l, %p]
                reads(%x[%a, %b, %c, %d, %e] : memref<?x?x?x?x3xf32>) writes(%y[%a, %b, %c, %d, %e] : memref<?x?x?x?x3xf32>) {
              %0 = memref.load %x[%a, %b, %c, %d, %e] : memref<?x?x?x?x3xf32>
              memref.store %0, %y[%a, %b, %c, %d, %e] : memref<?x?x?x?x3xf32>
            }
          }
        }
      }
    }
  }
}
