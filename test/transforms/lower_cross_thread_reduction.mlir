// RUN: weft-opt %s -p lower-cross-thread-reduction | filecheck %s
// RUN: weft-opt %s -p lower-cross-thread-reduction,lower-cross-thread-reduction | filecheck %s

// CHECK-LABEL: tir.prim_func @each_thread_reduces_its_part
// CHECK:         %y_parts = tir.alloc_buffer "shared" : memref<5xf32>
// CHECK-NEXT:    tir.for thread_binding "threadIdx.x" %t = 0 to 5 {
// CHECK-NEXT:      %y_own = tir.alloc_buffer "local" : memref<1xf32>
// CHECK-NEXT:      tir.block @sum_start() = []
// CHECK:           tir.for %k = 0 to 4 {
// CHECK-NEXT:        tir.block @sum(%v: spatial 1, %v1: spatial 5, %v2: reduce 4) = [0, %t, %k] where [%k * -5 + 17 + %t * -1]
// CHECK-SAME:            reads(%x[%v2 * 5 + %v1] : memref<18xf32>)
// CHECK:           tir.block @sum_part
// CHECK:           tir.block @sum_4(%{{.*}}: spatial 5) = [%t] where [%t * -1 + 3, %t * -1]
// CHECK:           tir.block @sum_2(%{{.*}}: spatial 5) = [%t] where [%t * -1 + 1]
// CHECK:           tir.block @sum_1(%{{.*}}: spatial 5) = [%t] where [%t * -1]
// CHECK:           tir.block @sum_result(%{{.*}}: spatial 1, %{{.*}}: spatial 5) = [0, %t] where [%t * -1]
// CHECK-NEXT:          writes(%y[%v_1] : memref<1xf32>)
tir.prim_func @each_thread_reduces_its_part(%x: memref<18xf32>, %y: memref<1xf32>) {
  tir.for %k = 0 to 4 {
    tir.for thread_binding "threadIdx.x" %t = 0 to 5 {
      tir.block @sum(%v: spatial 1, %vk: reduce 18) = [0, %k * 5 + %t] where [17 - %k * 5 - %t]
          reads(%x[%vk] : memref<18xf32>) writes(%y[%v] : memref<1xf32>) {
        %0 = memref.load %y[%v] : memref<1xf32>
        %1 = memref.load %x[%vk] : memref<18xf32>
        %2 = arith.addf %0, %1 : f32
        memref.store %2, %y[%v] : memref<1xf32>
      } init(%v, %vk) {
        %0 = arith.constant 0.0 : f32
        memref.store %0, %y[%v] : memref<1xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @what_one_thread_reduces_stays
// CHECK-NOT:     "shared"
// CHECK:           } init(
tir.prim_func @what_one_thread_reduces_stays(%x: memref<8x4xf32>, %y: memref<8xf32>) {
  tir.for thread_binding "threadIdx.x" %t = 0 to 8 {
    tir.for %k = 0 to 4 {
      tir.block @sum(%v: spatial 8, %vk: reduce 4) = [%t, %k]
          reads(%x[%v, %vk] : memref<8x4xf32>) writes(%y[%v] : memref<8xf32>) {
        %0 = memref.load %y[%v] : memref<8xf32>
        %1 = memref.load %x[%v, %vk] : memref<8x4xf32>
        %2 = arith.addf %0, %1 : f32
        memref.store %2, %y[%v] : memref<8xf32>
      } init(%v, %vk) {
        %0 = arith.constant 0.0 : f32
        memref.store %0, %y[%v] : memref<8xf32>
      }
    }
  }
}
