// RUN: weft-opt %s -p storage-flatten | filecheck %s

// CHECK-LABEL: tir.prim_func @a_reduction_becomes_statements_over_flat_memory
// CHECK-NEXT:    %b = tir.alloc_buffer "global" : memref<8xf32>
// CHECK:           tir.block @statement(%i_1: opaque 2, %j_1: opaque 4) = [%i, %j]
// CHECK:             memref.store %{{.+}}, %b[%{{.+}}] : memref<8xf32>
// CHECK:             tir.block @statement(%{{.+}}: opaque 2, %{{.+}}: opaque 4) = [%{{.+}}, %k]
// CHECK:               scf.if
// CHECK-NOT:       init
tir.prim_func @a_reduction_becomes_statements_over_flat_memory(%x: memref<2x4xf32>, %y: memref<2xf32>) {
  %b = tir.alloc_buffer "global" : memref<2x4xf32>
  tir.for %i = 0 to 2 {
    tir.for %j = 0 to 4 {
      tir.block @b(%vi: spatial 2, %vj: spatial 4) = [%i, %j] reads(%x[%vi, %vj] : memref<2x4xf32>) writes(%b[%vi, %vj] : memref<2x4xf32>) {
        %0 = memref.load %x[%vi, %vj] : memref<2x4xf32>
        memref.store %0, %b[%vi, %vj] : memref<2x4xf32>
      }
    }
  }
  tir.for %i = 0 to 2 {
    tir.for %k = 0 to 4 {
      tir.block @y(%vi: spatial 2, %vk: reduce 4) = [%i, %k] reads(%b[%vi, %vk] : memref<2x4xf32>, %y[%vi] : memref<2xf32>) writes(%y[%vi] : memref<2xf32>) {
        %0 = memref.load %y[%vi] : memref<2xf32>
        %1 = memref.load %b[%vi, %vk] : memref<2x4xf32>
        %2 = arith.addf %0, %1 : f32
        memref.store %2, %y[%vi] : memref<2xf32>
      } init(%wi, %wk) {
        %c = arith.constant 0.0 : f32
        memref.store %c, %y[%wi] : memref<2xf32>
      }
    }
  }
}
