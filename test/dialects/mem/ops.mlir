// RUN: weft-opt %s | weft-opt | filecheck %s

// CHECK-LABEL: mem.graph @everything(%x: memref<8xf32>, %y: memref<8xf32, "cuda">) writes(%out: memref<16xf32>)
// CHECK-NEXT:     attributes {input_names = ["x", "y"], output_names = ["z"], note = "kept"} {
// CHECK-NEXT:    %arena = mem.pool : memref<768xi8>
// CHECK-NEXT:    %other = mem.pool : memref<64xi8, "cuda">
// CHECK-NEXT:    %a = mem.alloc : memref<8xf32>
// CHECK-NEXT:    %n = arith.constant 4 : index
// CHECK-NEXT:    %open = mem.alloc(%n, %n) : memref<?x2x?xf32>
// CHECK-NEXT:    %b = mem.alloc at %arena[448] : memref<8xf32> in memref<768xi8>
// CHECK-NEXT:    %c = mem.alloc at %other[0] : memref<8xf32, "cuda"> in memref<64xi8, "cuda">
// CHECK-NEXT:    %w = mem.constant dense<2> : tensor<8xui8> as tensor<8xui8> : memref<8xui8>
// CHECK-NEXT:    mem.call @k(%x, %w) writes(%a) workspaces(%b) : (memref<8xf32>, memref<8xui8>) writes(memref<8xf32>) workspaces(memref<8xf32>)
// CHECK-NEXT:    %d = mem.alias %a : memref<8xf32> to memref<2x4xf32>
// CHECK-NEXT:    %e = mem.part %d[16] : memref<2x4xf32> to memref<4xf32>
// CHECK-NEXT:    mem.copy %y to %c : memref<8xf32, "cuda"> to memref<8xf32, "cuda">
// CHECK-NEXT:    mem.copy %x, %e, %e to %out by @concatenate : memref<8xf32>, memref<4xf32>, memref<4xf32> to memref<16xf32>
// CHECK-NEXT:    mem.call @nothing() : ()
// CHECK-NEXT:  }
mem.graph @everything(%x: memref<8xf32>, %y: memref<8xf32, "cuda">) writes(%out: memref<16xf32>) attributes {input_names = ["x", "y"], output_names = ["z"], note = "kept"} {
  %arena = mem.pool : memref<768xi8>
  %other = mem.pool : memref<64xi8, "cuda">
  %a = mem.alloc : memref<8xf32>
  %n = arith.constant 4 : index
  %open = mem.alloc(%n, %n) : memref<?x2x?xf32>
  %b = mem.alloc at %arena[448] : memref<8xf32> in memref<768xi8>
  %c = mem.alloc at %other[0] : memref<8xf32, "cuda"> in memref<64xi8, "cuda">
  %w = mem.constant dense<2> : tensor<8xui8> as tensor<8xui8> : memref<8xui8>
  mem.call @k(%x, %w) writes(%a) workspaces(%b) : (memref<8xf32>, memref<8xui8>) writes(memref<8xf32>) workspaces(memref<8xf32>)
  %d = mem.alias %a : memref<8xf32> to memref<2x4xf32>
  %e = mem.part %d[16] : memref<2x4xf32> to memref<4xf32>
  mem.copy %y to %c : memref<8xf32, "cuda"> to memref<8xf32, "cuda">
  mem.copy %x, %e, %e to %out by @concatenate : memref<8xf32>, memref<4xf32>, memref<4xf32> to memref<16xf32>
// CHECK-LABEL: mem.graph @nothing() {
// CHECK-NEXT:  }
  mem.call @nothing() : ()
}

mem.graph @nothing() {
}

// CHECK-LABEL: mem.graph @sizes_are_known_when_it_is_called(%x: memref<?x8xf32>) writes(%y: memref<?x8xf32>) symbols(%n: index)
// CHECK-NEXT:    attributes {shapes = [affine_map<()[s0] -> (s0, 8)>, affine_map<()[s0] -> (s0, 8)>]} {
// CHECK-NEXT:    %m = mem.extent affine_map<()[s0] -> ((s0 * 2))>(%n)
// CHECK-NEXT:    %pool = mem.pool(%m) : memref<?x64xi8>
// CHECK-NEXT:    %a = mem.alloc(%m) at %pool[0] : memref<?x8xf32> in memref<?x64xi8>
// CHECK-NEXT:    mem.call @k(%x) writes(%a) extents(%n) : (memref<?x8xf32>) writes(memref<?x8xf32>)
// CHECK-NEXT:    mem.call @l(%a) writes(%y) extents(%n) : (memref<?x8xf32>) writes(memref<?x8xf32>)
mem.graph @sizes_are_known_when_it_is_called(%x: memref<?x8xf32>) writes(%y: memref<?x8xf32>) symbols(%n: index)
    attributes {shapes = [affine_map<()[s0] -> (s0, 8)>, affine_map<()[s0] -> (s0, 8)>]} {
  %m = mem.extent affine_map<()[s0] -> (s0 * 2)>(%n)
  %pool = mem.pool(%m) : memref<?x64xi8>
  %a = mem.alloc(%m) at %pool[0] : memref<?x8xf32> in memref<?x64xi8>
  mem.call @k(%x) writes(%a) extents(%n) : (memref<?x8xf32>) writes(memref<?x8xf32>)
  mem.call @l(%a) writes(%y) extents(%n) : (memref<?x8xf32>) writes(memref<?x8xf32>)
}

// CHECK-LABEL: mem.graph @turns
// CHECK: mem.scan @turn turns 9(%w) over(%x) from(%h) writes(%all, %kept) {directions = array<i64: 0, 1, 0>}
// CHECK-NEXT:     : (memref<4xf32>) over(memref<9x4xf32>) from(memref<4xf32>) writes(memref<9x4xf32>, memref<9x2xf32>)
mem.graph @turns(%w: memref<4xf32>, %x: memref<9x4xf32>, %h: memref<4xf32>) {
  %all = mem.alloc : memref<9x4xf32>
  %kept = mem.alloc : memref<9x2xf32>
  mem.scan @turn turns 9(%w) over(%x) from(%h) writes(%all, %kept) {directions = array<i64: 0, 1, 0>}
    : (memref<4xf32>) over(memref<9x4xf32>) from(memref<4xf32>) writes(memref<9x4xf32>, memref<9x2xf32>)
}

// CHECK-LABEL: mem.graph @as_many_turns_as_a_number_says
// CHECK: mem.scan @turn extents(%n) (%w) over(%x) from(%h) writes(%all) lasts(%last) {directions = array<i64: 0, 0>}
// CHECK-NEXT:     : (memref<4xf32>) over(memref<?x4xf32>) from(memref<4xf32>) writes(memref<?x4xf32>) lasts(memref<4xf32>)
mem.graph @as_many_turns_as_a_number_says(%w: memref<4xf32>, %x: memref<?x4xf32>, %h: memref<4xf32>) symbols(%n: index)
    attributes {shapes = [affine_map<() -> (4)>, affine_map<()[s0] -> (s0, 4)>, affine_map<() -> (4)>]} {
  %all = mem.alloc(%n) : memref<?x4xf32>
  %last = mem.alloc : memref<4xf32>
  mem.scan @turn extents(%n) (%w) over(%x) from(%h) writes(%all) lasts(%last) {directions = array<i64: 0, 0>}
    : (memref<4xf32>) over(memref<?x4xf32>) from(memref<4xf32>) writes(memref<?x4xf32>) lasts(memref<4xf32>)
}
