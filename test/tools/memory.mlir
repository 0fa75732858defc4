// RUN: weft-opt %s -p plan-memory --mlir-pass-statistics 2>&1 | filecheck %s --check-prefix=FIGURES
// RUN: weft-opt %s -p plan-memory --emit=memory.svg | filecheck %s --check-prefix=PICTURE
// RUN: not weft-opt %s --emit=memory.svg 2>&1 | filecheck %s --check-prefix=UNPLANNED
// RUN: not weft-opt %s -p plan-memory{pools=40} 2>&1 | filecheck %s --check-prefix=FULL
// RUN: weft-opt %s -p plan-memory{alignment=4\ pools=32,40} | filecheck %s --check-prefix=POOLS

// FIGURES: plan-memory
// FIGURES-NEXT: 128 bytes planned
// FIGURES-NEXT: 128 bytes needed at one time (lower bound)
// FIGURES-NEXT: 192 bytes without reuse

// PICTURE: <svg xmlns="http://www.w3.org/2000/svg" width="1232" height="552">
// PICTURE: @main: 3 buffers in 128 bytes; 64 are needed at one time, 96 without reuse; 4 steps
// PICTURE: <rect class="field" x="16" y="40" width="1200" height="480"/>
// PICTURE-NEXT: <rect x="16.00" y="400.00" width="600.00" height="120.00" fill="hsl(0,60%,75%)"><title>%a : memref&lt;8xf32&gt;, 32 bytes at 0, steps 0 to 1</title></rect>
// PICTURE-NEXT: <title>%b : memref&lt;8xf32&gt;, 32 bytes at 64, steps 1 to 2</title>
// PICTURE-NEXT: <title>%c : memref&lt;8xf32&gt;, 32 bytes at 0, steps 2 to 3</title>
// PICTURE-NEXT: <path d="M16.00,400.00 316.00,400.00 316.00,280.00 616.00,280.00

// UNPLANNED: error: there is no graph whose memory is planned
// UNPLANNED: plan-memory

// FULL: error: 'mem.alloc': there is no room for memref<8xf32> in pools of 40 bytes
// FULL: 128 bytes are needed at one time

// POOLS:      %pool = mem.pool : memref<32xi8>
// POOLS-NEXT: %pool_1 = mem.pool : memref<32xi8>
// POOLS:      %a = mem.alloc at [[ONE:%[a-z_1]+]][0]
// POOLS-NOT:  %b = mem.alloc at [[ONE]][0]
// POOLS:      %c = mem.alloc at [[ONE]][0]

mem.graph @main(%x: memref<8xf32>) writes(%out: memref<8xf32>) {
  %a = mem.alloc : memref<8xf32>
  mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
  %b = mem.alloc : memref<8xf32>
  mem.call @k(%a) writes(%b) : (memref<8xf32>) writes(memref<8xf32>)
  %c = mem.alloc : memref<8xf32>
  mem.call @k(%b) writes(%c) : (memref<8xf32>) writes(memref<8xf32>)
  mem.call @k(%c) writes(%out) : (memref<8xf32>) writes(memref<8xf32>)
}
