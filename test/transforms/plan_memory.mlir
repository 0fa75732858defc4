// RUN: weft-opt %s -p plan-memory | filecheck %s
// RUN: weft-opt %s -p plan-memory{strategy=tvm-greedy} | filecheck %s --check-prefix=TVM

// CHECK-LABEL: mem.graph @a_chain_needs_two_places(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
// CHECK-NEXT:    %pool = mem.pool : memref<128xi8>
// CHECK-NEXT:    %a = mem.alloc at %pool[0] : memref<8xf32> in memref<128xi8>
// CHECK-NEXT:    mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %b = mem.alloc at %pool[64] : memref<8xf32> in memref<128xi8>
// CHECK-NEXT:    mem.call @k(%a) writes(%b) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %c = mem.alloc at %pool[0] : memref<8xf32> in memref<128xi8>
// CHECK-NEXT:    mem.call @k(%b) writes(%c) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    mem.call @k(%c) writes(%out) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:  }
// TVM-LABEL: mem.graph @a_chain_needs_two_places(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
// TVM-NEXT:    %pool = mem.pool : memref<32xi8>
// TVM-NEXT:    %pool_1 = mem.pool : memref<32xi8>
// TVM-NEXT:    %a = mem.alloc at %pool[0] : memref<8xf32> in memref<32xi8>
// TVM-NEXT:    mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
// TVM-NEXT:    %b = mem.alloc at %pool_1[0] : memref<8xf32> in memref<32xi8>
// TVM-NEXT:    mem.call @k(%a) writes(%b) : (memref<8xf32>) writes(memref<8xf32>)
// TVM-NEXT:    %c = mem.alloc at %pool[0] : memref<8xf32> in memref<32xi8>
// TVM-NEXT:    mem.call @k(%b) writes(%c) : (memref<8xf32>) writes(memref<8xf32>)
// TVM-NEXT:    mem.call @k(%c) writes(%out) : (memref<8xf32>) writes(memref<8xf32>)
// TVM-NEXT:  }
mem.graph @a_chain_needs_two_places(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
  %a = mem.alloc : memref<8xf32>
  mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
  %b = mem.alloc : memref<8xf32>
  mem.call @k(%a) writes(%b) : (memref<8xf32>) writes(memref<8xf32>)
  %c = mem.alloc : memref<8xf32>
  mem.call @k(%b) writes(%c) : (memref<8xf32>) writes(memref<8xf32>)
  mem.call @k(%c) writes(%out) : (memref<8xf32>) writes(memref<8xf32>)
}

// CHECK-LABEL: mem.graph @an_alias_keeps_a_buffer(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
// CHECK-NEXT:    %pool = mem.pool : memref<192xi8>
// CHECK-NEXT:    %a = mem.alloc at %pool[0] : memref<8xf32> in memref<192xi8>
// CHECK-NEXT:    mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %view = mem.alias %a : memref<8xf32> to memref<2x4xf32>
// CHECK-NEXT:    %b = mem.alloc at %pool[64] : memref<8xf32> in memref<192xi8>
// CHECK-NEXT:    mem.call @k(%a) writes(%b) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %c = mem.alloc at %pool[128] : memref<8xf32> in memref<192xi8>
// CHECK-NEXT:    mem.call @k(%b) writes(%c) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    mem.call @k(%c, %view) writes(%out) : (memref<8xf32>, memref<2x4xf32>) writes(memref<8xf32>)
// CHECK-NEXT:  }
// TVM-LABEL: mem.graph @an_alias_keeps_a_buffer(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
// TVM-NEXT:    %pool = mem.pool : memref<32xi8>
// TVM-NEXT:    %pool_1 = mem.pool : memref<32xi8>
// TVM-NEXT:    %pool_2 = mem.pool : memref<32xi8>
// TVM-NEXT:    %a = mem.alloc at %pool[0] : memref<8xf32> in memref<32xi8>
// TVM-NEXT:    mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
// TVM-NEXT:    %view = mem.alias %a : memref<8xf32> to memref<2x4xf32>
// TVM-NEXT:    %b = mem.alloc at %pool_1[0] : memref<8xf32> in memref<32xi8>
// TVM-NEXT:    mem.call @k(%a) writes(%b) : (memref<8xf32>) writes(memref<8xf32>)
// TVM-NEXT:    %c = mem.alloc at %pool_2[0] : memref<8xf32> in memref<32xi8>
// TVM-NEXT:    mem.call @k(%b) writes(%c) : (memref<8xf32>) writes(memref<8xf32>)
// TVM-NEXT:    mem.call @k(%c, %view) writes(%out) : (memref<8xf32>, memref<2x4xf32>) writes(memref<8xf32>)
// TVM-NEXT:  }
mem.graph @an_alias_keeps_a_buffer(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
  %a = mem.alloc : memref<8xf32>
  mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
  %view = mem.alias %a : memref<8xf32> to memref<2x4xf32>
  %b = mem.alloc : memref<8xf32>
  mem.call @k(%a) writes(%b) : (memref<8xf32>) writes(memref<8xf32>)
  %c = mem.alloc : memref<8xf32>
  mem.call @k(%b) writes(%c) : (memref<8xf32>) writes(memref<8xf32>)
  mem.call @k(%c, %view) writes(%out) : (memref<8xf32>, memref<2x4xf32>) writes(memref<8xf32>)
}

// CHECK-LABEL: mem.graph @parts_need_the_whole_from_the_first_on(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
// CHECK-NEXT:    %pool = mem.pool : memref<128xi8>
// CHECK-NEXT:    %whole = mem.alloc at %pool[0] : memref<16xf32> in memref<128xi8>
// CHECK-NEXT:    %a = mem.part %whole[0] : memref<16xf32> to memref<8xf32>
// CHECK-NEXT:    mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %c = mem.alloc at %pool[64] : memref<8xf32> in memref<128xi8>
// CHECK-NEXT:    mem.call @k(%x) writes(%c) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    %b = mem.part %whole[32] : memref<16xf32> to memref<8xf32>
// CHECK-NEXT:    mem.call @k(%c) writes(%b) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    mem.call @k(%whole) writes(%out) : (memref<16xf32>) writes(memref<8xf32>)
// CHECK-NEXT:  }
// TVM-LABEL: mem.graph @parts_need_the_whole_from_the_first_on(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
// TVM-NEXT:    %pool = mem.pool : memref<64xi8>
// TVM-NEXT:    %pool_1 = mem.pool : memref<32xi8>
// TVM-NEXT:    %whole = mem.alloc at %pool[0] : memref<16xf32> in memref<64xi8>
// TVM-NEXT:    %a = mem.part %whole[0] : memref<16xf32> to memref<8xf32>
// TVM-NEXT:    mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
// TVM-NEXT:    %c = mem.alloc at %pool_1[0] : memref<8xf32> in memref<32xi8>
// TVM-NEXT:    mem.call @k(%x) writes(%c) : (memref<8xf32>) writes(memref<8xf32>)
// TVM-NEXT:    %b = mem.part %whole[32] : memref<16xf32> to memref<8xf32>
// TVM-NEXT:    mem.call @k(%c) writes(%b) : (memref<8xf32>) writes(memref<8xf32>)
// TVM-NEXT:    mem.call @k(%whole) writes(%out) : (memref<16xf32>) writes(memref<8xf32>)
// TVM-NEXT:  }
mem.graph @parts_need_the_whole_from_the_first_on(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
  %whole = mem.alloc : memref<16xf32>
  %a = mem.part %whole[0] : memref<16xf32> to memref<8xf32>
  mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
  %c = mem.alloc : memref<8xf32>
  mem.call @k(%x) writes(%c) : (memref<8xf32>) writes(memref<8xf32>)
  %b = mem.part %whole[32] : memref<16xf32> to memref<8xf32>
  mem.call @k(%c) writes(%b) : (memref<8xf32>) writes(memref<8xf32>)
  mem.call @k(%whole) writes(%out) : (memref<16xf32>) writes(memref<8xf32>)
}

// CHECK-LABEL: mem.graph @a_workspace_is_needed_once(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
// CHECK-NEXT:    %pool = mem.pool : memref<192xi8>
// CHECK-NEXT:    %a = mem.alloc at %pool[128] : memref<8xf32> in memref<192xi8>
// CHECK-NEXT:    %t = mem.alloc at %pool[0] : memref<32xf32> in memref<192xi8>
// CHECK-NEXT:    mem.call @k(%x) writes(%a) workspaces(%t) : (memref<8xf32>) writes(memref<8xf32>) workspaces(memref<32xf32>)
// CHECK-NEXT:    %u = mem.alloc at %pool[0] : memref<32xf32> in memref<192xi8>
// CHECK-NEXT:    mem.call @k(%a) writes(%out) workspaces(%u) : (memref<8xf32>) writes(memref<8xf32>) workspaces(memref<32xf32>)
// CHECK-NEXT:  }
// TVM-LABEL: mem.graph @a_workspace_is_needed_once(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
// TVM-NEXT:    %pool = mem.pool : memref<32xi8>
// TVM-NEXT:    %pool_1 = mem.pool : memref<128xi8>
// TVM-NEXT:    %a = mem.alloc at %pool[0] : memref<8xf32> in memref<32xi8>
// TVM-NEXT:    %t = mem.alloc at %pool_1[0] : memref<32xf32> in memref<128xi8>
// TVM-NEXT:    mem.call @k(%x) writes(%a) workspaces(%t) : (memref<8xf32>) writes(memref<8xf32>) workspaces(memref<32xf32>)
// TVM-NEXT:    %u = mem.alloc at %pool_1[0] : memref<32xf32> in memref<128xi8>
// TVM-NEXT:    mem.call @k(%a) writes(%out) workspaces(%u) : (memref<8xf32>) writes(memref<8xf32>) workspaces(memref<32xf32>)
// TVM-NEXT:  }
mem.graph @a_workspace_is_needed_once(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
  %a = mem.alloc : memref<8xf32>
  %t = mem.alloc : memref<32xf32>
  mem.call @k(%x) writes(%a) workspaces(%t) : (memref<8xf32>) writes(memref<8xf32>) workspaces(memref<32xf32>)
  %u = mem.alloc : memref<32xf32>
  mem.call @k(%a) writes(%out) workspaces(%u) : (memref<8xf32>) writes(memref<8xf32>) workspaces(memref<32xf32>)
}

// CHECK-LABEL: mem.graph @devices_have_pools_of_their_own(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
// CHECK-NEXT:    %pool = mem.pool : memref<64xi8>
// CHECK-NEXT:    %pool_1 = mem.pool : memref<128xi8, "cuda">
// CHECK-NEXT:    %a = mem.alloc at %pool_1[0] : memref<8xf32, "cuda"> in memref<128xi8, "cuda">
// CHECK-NEXT:    mem.copy %x to %a : memref<8xf32> to memref<8xf32, "cuda">
// CHECK-NEXT:    %b = mem.alloc at %pool_1[64] : memref<8xf32, "cuda"> in memref<128xi8, "cuda">
// CHECK-NEXT:    mem.call @k(%a) writes(%b) : (memref<8xf32, "cuda">) writes(memref<8xf32, "cuda">)
// CHECK-NEXT:    %c = mem.alloc at %pool[0] : memref<8xf32> in memref<64xi8>
// CHECK-NEXT:    mem.copy %b to %c : memref<8xf32, "cuda"> to memref<8xf32>
// CHECK-NEXT:    mem.call @k(%c) writes(%out) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:  }
// TVM-LABEL: mem.graph @devices_have_pools_of_their_own(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
// TVM-NEXT:    %pool = mem.pool : memref<32xi8>
// TVM-NEXT:    %pool_1 = mem.pool : memref<32xi8, "cuda">
// TVM-NEXT:    %pool_2 = mem.pool : memref<32xi8, "cuda">
// TVM-NEXT:    %a = mem.alloc at %pool_1[0] : memref<8xf32, "cuda"> in memref<32xi8, "cuda">
// TVM-NEXT:    mem.copy %x to %a : memref<8xf32> to memref<8xf32, "cuda">
// TVM-NEXT:    %b = mem.alloc at %pool_2[0] : memref<8xf32, "cuda"> in memref<32xi8, "cuda">
// TVM-NEXT:    mem.call @k(%a) writes(%b) : (memref<8xf32, "cuda">) writes(memref<8xf32, "cuda">)
// TVM-NEXT:    %c = mem.alloc at %pool[0] : memref<8xf32> in memref<32xi8>
// TVM-NEXT:    mem.copy %b to %c : memref<8xf32, "cuda"> to memref<8xf32>
// TVM-NEXT:    mem.call @k(%c) writes(%out) : (memref<8xf32>) writes(memref<8xf32>)
// TVM-NEXT:  }
mem.graph @devices_have_pools_of_their_own(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
  %a = mem.alloc : memref<8xf32, "cuda">
  mem.copy %x to %a : memref<8xf32> to memref<8xf32, "cuda">
  %b = mem.alloc : memref<8xf32, "cuda">
  mem.call @k(%a) writes(%b) : (memref<8xf32, "cuda">) writes(memref<8xf32, "cuda">)
  %c = mem.alloc : memref<8xf32>
  mem.copy %b to %c : memref<8xf32, "cuda"> to memref<8xf32>
  mem.call @k(%c) writes(%out) : (memref<8xf32>) writes(memref<8xf32>)
}

// CHECK-LABEL: mem.graph @what_has_a_place_keeps_it(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
// CHECK-NEXT:    %pool = mem.pool : memref<64xi8>
// CHECK-NEXT:    %a = mem.alloc at %pool[32] : memref<8xf32> in memref<64xi8>
// CHECK-NEXT:    mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:    mem.call @k(%a) writes(%out) : (memref<8xf32>) writes(memref<8xf32>)
// CHECK-NEXT:  }
// TVM-LABEL: mem.graph @what_has_a_place_keeps_it(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
// TVM-NEXT:    %pool = mem.pool : memref<64xi8>
// TVM-NEXT:    %a = mem.alloc at %pool[32] : memref<8xf32> in memref<64xi8>
// TVM-NEXT:    mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
// TVM-NEXT:    mem.call @k(%a) writes(%out) : (memref<8xf32>) writes(memref<8xf32>)
// TVM-NEXT:  }
mem.graph @what_has_a_place_keeps_it(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
  %pool = mem.pool : memref<64xi8>
  %a = mem.alloc at %pool[32] : memref<8xf32> in memref<64xi8>
  mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
  mem.call @k(%a) writes(%out) : (memref<8xf32>) writes(memref<8xf32>)
}

// CHECK-LABEL: mem.graph @buffers_without_elements_or_use(%x: memref<0xf32>) writes(%out: memref<0xf32>) {
// CHECK-NEXT:    %pool = mem.pool : memref<0xi8>
// CHECK-NEXT:    %a = mem.alloc at %pool[0] : memref<0xf32> in memref<0xi8>
// CHECK-NEXT:    mem.call @k(%x) writes(%a) : (memref<0xf32>) writes(memref<0xf32>)
// CHECK-NEXT:    mem.call @k(%a) writes(%out) : (memref<0xf32>) writes(memref<0xf32>)
// CHECK-NEXT:  }
// TVM-LABEL: mem.graph @buffers_without_elements_or_use(%x: memref<0xf32>) writes(%out: memref<0xf32>) {
// TVM-NEXT:    %pool = mem.pool : memref<0xi8>
// TVM-NEXT:    %a = mem.alloc at %pool[0] : memref<0xf32> in memref<0xi8>
// TVM-NEXT:    mem.call @k(%x) writes(%a) : (memref<0xf32>) writes(memref<0xf32>)
// TVM-NEXT:    mem.call @k(%a) writes(%out) : (memref<0xf32>) writes(memref<0xf32>)
// TVM-NEXT:  }
mem.graph @buffers_without_elements_or_use(%x: memref<0xf32>) writes(%out: memref<0xf32>) {
  %a = mem.alloc : memref<0xf32>
  mem.call @k(%x) writes(%a) : (memref<0xf32>) writes(memref<0xf32>)
  %unused = mem.alloc : memref<8xf32>
  mem.call @k(%a) writes(%out) : (memref<0xf32>) writes(memref<0xf32>)
}

// CHECK-LABEL: mem.graph @places_scale_with_extents
// CHECK-NEXT:    attributes {
// CHECK-NEXT:    %pool = mem.pool(%n) : memref<?x192xi8>
// CHECK-NEXT:    %a = mem.alloc(%n) at %pool[
// CHECK:         %c = mem.alloc(%n) at %pool[
mem.graph @places_scale_with_extents(%x: memref<?x16xf32>) writes(%y: memref<?x16xf32>) symbols(%n: index)
    attributes {shapes = [affine_map<()[s0] -> (s0, 16)>, affine_map<()[s0] -> (s0, 16)>]} {
  %a = mem.alloc(%n) : memref<?x16xf32>
  mem.call @k(%x) writes(%a) extents(%n) : (memref<?x16xf32>) writes(memref<?x16xf32>)
  %b = mem.alloc(%n) : memref<?x32xf32>
  mem.call @l(%a) writes(%b) extents(%n) : (memref<?x16xf32>) writes(memref<?x32xf32>)
  %c = mem.alloc(%n) : memref<?x16xf32>
  mem.call @l(%b) writes(%c) extents(%n) : (memref<?x32xf32>) writes(memref<?x16xf32>)
  mem.call @k(%c) writes(%y) extents(%n) : (memref<?x16xf32>) writes(memref<?x16xf32>)
}
