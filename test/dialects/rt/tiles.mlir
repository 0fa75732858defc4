// RUN: weft-opt %s | filecheck %s

func.func @tiles(%config: memref<64xi8>, %a: memref<1024xi8>, %b: memref<1024xi8>, %c: memref<256xi32>, %i: index) {
  rt.tile_config %config : memref<64xi8>
  rt.tile_zero 0
  rt.tile_load 1, %a[%i] rows 16 stride 64 : memref<1024xi8>
  rt.tile_load 2, %b[%i] rows 16 stride 64 : memref<1024xi8>
  rt.tile_dot "u8s8" 0, 1, 2
  rt.tile_store 0, %c[%i] rows 16 stride 16 : memref<256xi32>
  rt.tile_release
  func.return
}

// Rows of what is read may lie over one another.
func.func @windows(%a: memref<288xi8>, %i: index) {
  rt.tile_load 1, %a[%i] rows 16 stride 16 bytes 48 : memref<288xi8>
  func.return
}

// CHECK-LABEL: func.func @tiles
// CHECK-NEXT:   rt.tile_config %{{.*}} : memref<64xi8>
// CHECK-NEXT:   rt.tile_zero 0
// CHECK-NEXT:   rt.tile_load 1, %{{.*}}[%{{.*}}] rows 16 stride 64 : memref<1024xi8>
// CHECK-NEXT:   rt.tile_load 2, %{{.*}}[%{{.*}}] rows 16 stride 64 : memref<1024xi8>
// CHECK-NEXT:   rt.tile_dot "u8s8" 0, 1, 2
// CHECK-NEXT:   rt.tile_store 0, %{{.*}}[%{{.*}}] rows 16 stride 16 : memref<256xi32>
// CHECK-NEXT:   rt.tile_release

// CHECK-LABEL: func.func @windows
// CHECK-NEXT:   rt.tile_load 1, %{{.*}}[%{{.*}}] rows 16 stride 16 bytes 48 : memref<288xi8>
