// RUN: weft-opt %s -p inject-virtual-thread | filecheck %s

// CHECK-LABEL: tir.prim_func @virtual_threads_are_serial_and_others_stay
// CHECK-NEXT:    tir.for thread_binding "threadIdx.x" %i = 0 to 4 {
// CHECK-NEXT:      tir.for %j = 0 to 2 {
tir.prim_func @virtual_threads_are_serial_and_others_stay(%y: memref<4x2xf32>, %z: f32) {
  tir.for thread_binding "threadIdx.x" %i = 0 to 4 {
    tir.for thread_binding "vthread.x" %j = 0 to 2 {
      tir.block @b(%vi: spatial 4, %vj: spatial 2) = [%i, %j] reads() writes(%y[%vi, %vj] : memref<4x2xf32>) {
        memref.store %z, %y[%vi, %vj] : memref<4x2xf32>
      }
    }
  }
}
