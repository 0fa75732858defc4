// RUN: weft-opt %s -p materialize-memory --verify-diagnostics --split-input-file

func.func private @says_nothing(memref<2xf32>, memref<2xf32>, !rt.record, !rt.slots<1>, index) -> ()
// expected-error @-1 {{it takes a record, but does not say what its checks are (weft.checks)}}
mem.graph @a_kernel_that_does_not_say_what_it_checks(%x: memref<2xf32>) writes(%out: memref<2xf32>) {
  mem.call @says_nothing(%x) writes(%out) : (memref<2xf32>) writes(memref<2xf32>)
}

// -----

mem.graph @a_kernel_that_there_is_not(%x: memref<2xf32>) writes(%out: memref<2xf32>) {
  // expected-error @+1 {{there is no function @k}}
  mem.call @k(%x) writes(%out) : (memref<2xf32>) writes(memref<2xf32>)
}

// -----

func.func private @k(memref<2xf32>, memref<4xf32>, !rt.slots<1>, index) -> ()
mem.graph @buffers_that_a_kernel_does_not_take(%x: memref<2xf32>) writes(%out: memref<2xf32>) {
  // expected-error @+1 {{passes (memref<2xf32>, memref<2xf32>) to @k, which takes (memref<2xf32>, memref<4xf32>)}}
  mem.call @k(%x) writes(%out) : (memref<2xf32>) writes(memref<2xf32>)
}

// -----

func.func private @k(memref<2xf32>, memref<2xf32>) -> ()
mem.graph @a_kernel_without_slots(%x: memref<2xf32>) writes(%out: memref<2xf32>) {
  // expected-error @+1 {{@k takes no slots to share its work by}}
  mem.call @k(%x) writes(%out) : (memref<2xf32>) writes(memref<2xf32>)
}

// -----

mem.graph @a_join_that_no_kernel_makes(%x: memref<2xf32>) writes(%out: memref<4xf32>) {
  // expected-error @+1 {{joins several buffers, and no kernel does that}}
  mem.copy %x, %x to %out : memref<2xf32>, memref<2xf32> to memref<4xf32>
}

// -----

mem.graph @another_device(%x: memref<2xf32>) writes(%out: memref<2xf32>) {
  // expected-error @+1 {{something is in the memory space "cuda", which is no device that programs run on}}
  %pool = mem.pool : memref<8xi8, "cuda">
  mem.copy %x to %out : memref<2xf32> to memref<2xf32>
}

// -----

func.func private @k(memref<2xf32>, memref<1xf32>, !rt.slots<1>, index) -> ()
mem.graph @a_part_of_an_output(%x: memref<2xf32>) writes(%out: memref<2xf32>) {
  // expected-error @+1 {{is a part of what is not in a pool, which has no memref}}
  %part = mem.part %out[4] : memref<2xf32> to memref<1xf32>
  mem.call @k(%x) writes(%part) : (memref<2xf32>) writes(memref<1xf32>)
}

// -----

func.func private @k(memref<?xf32>, memref<?xf32>, index, !rt.slots<1>, index) -> ()
mem.graph @a_kernel_that_is_not_passed_its_extents(%x: memref<2xf32>) writes(%out: memref<2xf32>) {
  // expected-error @+1 {{passes 0 extents to @k, which takes 1}}
  mem.call @k(%x) writes(%out) : (memref<2xf32>) writes(memref<2xf32>)
}

// -----

func.func private @k(memref<2xf32>, memref<2xf32>, !rt.slots<1>, index) -> ()
mem.graph @a_kernel_that_takes_no_extents(%x: memref<2xf32>) writes(%out: memref<2xf32>) {
  %n = mem.extent affine_map<() -> (2)>()
  // expected-error @+1 {{passes 1 extents to @k, which takes 0}}
  mem.call @k(%x) writes(%out) extents(%n) : (memref<2xf32>) writes(memref<2xf32>)
}
