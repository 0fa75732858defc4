// RUN: weft-opt %s | weft-opt | filecheck %s

// CHECK-LABEL: func.func @a_loop_and_what_is_not_divided
// CHECK-NEXT:    %slots = rt.slots %arena[128] : memref<4096xi8> to !rt.slots<2>
// CHECK-NEXT:    rt.share %slots[0] for %first to %last of %extent threads %threads {
// CHECK-NEXT:      "test.op"(%first, %last) : (index, index) -> ()
// CHECK-NEXT:    } : !rt.slots<2>
// CHECK-NEXT:    rt.share %slots[1] {
// CHECK-NEXT:      "test.op"() : () -> ()
// CHECK-NEXT:    } {note = "alone"} : !rt.slots<2>
func.func @a_loop_and_what_is_not_divided(%arena: memref<4096xi8>, %extent: index, %threads: index) {
  %slots = rt.slots %arena[128] : memref<4096xi8> to !rt.slots<2>
  rt.share %slots[0] for %first to %last of %extent threads %threads {
    "test.op"(%first, %last) : (index, index) -> ()
  } : !rt.slots<2>
  rt.share %slots[1] {
    "test.op"() : () -> ()
  } {note = "alone"} : !rt.slots<2>
  func.return
}

// CHECK-LABEL: func.func @an_empty_share
// CHECK:         rt.share %slots[0] for %{{.*}} to %{{.*}} of %n threads %n {
// CHECK-NEXT:    } : !rt.slots<1>
func.func @an_empty_share(%slots: !rt.slots<1>, %n: index) {
  rt.share %slots[0] for %first to %last of %n threads %n {
  } : !rt.slots<1>
  func.return
}

// CHECK-LABEL: func.func @two_rows
// CHECK:         rt.share %slots[0] for %{{.*}} to %{{.*}} of %extent threads %threads rows 2 {
func.func @two_rows(%slots: !rt.slots<1>, %threads: index) {
  %extent = arith.constant 100 : index
  rt.share %slots[0] for %first to %last of %extent threads %threads rows 2 {
  } : !rt.slots<1>
  func.return
}

// CHECK-LABEL: func.func @an_empty_share_of_all_threads
// CHECK-NEXT:    rt.share %slots[0] {
// CHECK-NEXT:    } : !rt.slots<1>
func.func @an_empty_share_of_all_threads(%slots: !rt.slots<1>) {
  rt.share %slots[0] {} : !rt.slots<1>
  func.return
}

// CHECK: func.func private @declared(memref<8xf32>, !rt.slots<3>, index) -> ()
func.func private @declared(memref<8xf32>, !rt.slots<3>, index) -> ()

// CHECK-LABEL: func.func @a_check_tells_a_record
// CHECK-NEXT:    %record = rt.record %arena[64] : memref<4096xi8> to !rt.record
// CHECK-NEXT:    %0 = rt.check %at of %given in 10 else %record[2]
func.func @a_check_tells_a_record(%arena: memref<4096xi8>, %at: index, %given: index) -> index {
  %record = rt.record %arena[64] : memref<4096xi8> to !rt.record
  %0 = rt.check %at of %given in 10 else %record[2]
  func.return %0 : index
}

// CHECK-LABEL: func.func @a_dot_product_of_bytes_in_all_lanes
// CHECK-NEXT:    %0 = rt.dot "vnni" %c, %a, %b : vector<16xi32>, vector<64xi8>
func.func @a_dot_product_of_bytes_in_all_lanes(%c: vector<16xi32>, %a: vector<64xi8>, %b: vector<64xi8>)
    -> vector<16xi32> {
  %0 = rt.dot "vnni" %c, %a, %b : vector<16xi32>, vector<64xi8>
  func.return %0 : vector<16xi32>
}

// CHECK-LABEL: func.func @calls_and_constants
// CHECK-NEXT:    %0 = rt.call "cosf"(%x) : (f32) -> f32
// CHECK-NEXT:    rt.call "work"(%x) : (f32) -> ()
// CHECK-NEXT:    %s, %m = rt.call_packed "mean|float32[16]|float32"(%row) : (memref<16xf32>) -> (index, f32)
// CHECK-NEXT:    %c = rt.constant dense<[1, 2]> : tensor<2xi8> : memref<2xi8>
func.func @calls_and_constants(%x: f32, %row: memref<16xf32>) {
  %0 = rt.call "cosf"(%x) : (f32) -> f32
  rt.call "work"(%x) : (f32) -> ()
  %s, %m = rt.call_packed "mean|float32[16]|float32"(%row) : (memref<16xf32>) -> (index, f32)
  %c = rt.constant dense<[1, 2]> : tensor<2xi8> : memref<2xi8>
  func.return
}

// CHECK-LABEL: func.func @functions_come_with_their_source
// CHECK:         rt.call "half"(%x, %x) : (memref<1xf32>, memref<1xf32>) -> ()
// CHECK:       rt.source "c" "void half(const float *x, float *y) { *y = *x / 2; }\0A"
func.func @functions_come_with_their_source(%x: memref<1xf32>) {
  rt.call "half"(%x, %x) : (memref<1xf32>, memref<1xf32>) -> ()
  func.return
}
rt.source "c" "void half(const float *x, float *y) { *y = *x / 2; }\n"
