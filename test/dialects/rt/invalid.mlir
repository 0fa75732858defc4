// RUN: weft-opt %s --verify-diagnostics --split-input-file

func.func @a_slot_that_is_not_there(%slots: !rt.slots<2>) {
  // expected-error @+1 {{there is no slot 2: !rt.slots<2> has 2}}
  rt.share %slots[2] {
  } : !rt.slots<2>
  func.return
}

// -----

func.func @bounds_without_an_extent(%slots: !rt.slots<1>) {
  // expected-error @+1 {{the region takes (index, index), not (): a loop that is not divided has no bounds}}
  "rt.share"(%slots) <{number = 0 : i64, operandSegmentSizes = array<i32: 1, 0, 0>}> ({
  ^bb0(%first: index, %last: index):
  }) : (!rt.slots<1>) -> ()
  func.return
}

// -----

func.func @an_extent_without_bounds(%slots: !rt.slots<1>, %n: index) {
  // expected-error @+1 {{the region takes (), not (index, index)}}
  "rt.share"(%slots, %n, %n) <{number = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 1>}> ({
  ^bb0:
  }) : (!rt.slots<1>, index, index) -> ()
  func.return
}

// -----

func.func @an_extent_for_nobody(%slots: !rt.slots<1>, %n: index) {
  // expected-error @+1 {{an extent and a number of threads are given together or not at all}}
  "rt.share"(%slots, %n) <{number = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0>}> ({
  ^bb0(%first: index, %last: index):
  }) : (!rt.slots<1>, index) -> ()
  func.return
}

// -----

func.func @rows_that_are_not_equal(%slots: !rt.slots<1>, %threads: index) {
  %extent = arith.constant 100 : index
  // expected-error @+1 {{3 rows are not equal parts of the iterations}}
  rt.share %slots[0] for %first to %last of %extent threads %threads rows 3 {
  } : !rt.slots<1>
  func.return
}

// -----

func.func @rows_of_who_knows_how_many(%slots: !rt.slots<1>, %extent: index) {
  // expected-error @+1 {{2 rows are not equal parts of the iterations}}
  rt.share %slots[0] for %first to %last of %extent threads %extent rows 2 {
  } : !rt.slots<1>
  func.return
}

// -----

func.func @a_share_within_a_share(%slots: !rt.slots<2>) {
  // expected-error @+1 {{a share cannot be shared again: its threads would wait for one another}}
  rt.share %slots[0] {
    rt.share %slots[1] {
    } : !rt.slots<2>
  } : !rt.slots<2>
  func.return
}

// -----

func.func @slots_outside_of_memory(%arena: memref<256xi8>) {
  // expected-error @+1 {{the slots end at byte 384, outside of memref<256xi8>}}
  %slots = rt.slots %arena[128] : memref<256xi8> to !rt.slots<2>
  func.return
}

// -----

func.func @slots_across_cache_lines(%arena: memref<256xi8>) {
  // expected-error @+1 {{the offset 64 is not a multiple of a slot's 128 bytes}}
  %slots = rt.slots %arena[64] : memref<256xi8> to !rt.slots<1>
  func.return
}

// -----

func.func @slots_of_floats(%arena: memref<256xf32>) {
  // expected-error @+1 {{slots stand in a memref of bytes, not in memref<256xf32>}}
  %slots = rt.slots %arena[0] : memref<256xf32> to !rt.slots<1>
  func.return
}

// -----

// expected-error @+1 {{there must be at least one slot, not 0}}
func.func private @no_slots(!rt.slots<0>) -> ()

// -----

func.func @a_record_of_no_bytes(%x: memref<64xf32>) {
  // expected-error @+1 {{a record stands in a memref of bytes, not in memref<64xf32>}}
  %record = rt.record %x[0] : memref<64xf32> to !rt.record
  func.return
}

// -----

func.func @a_record_that_is_not_aligned(%x: memref<640xi8>) {
  // expected-error @+1 {{the offset 8 is not a multiple of a record's 64 bytes}}
  %record = rt.record %x[8] : memref<640xi8> to !rt.record
  func.return
}

// -----

func.func @a_record_outside_of_the_arena(%x: memref<64xi8>) {
  // expected-error @+1 {{the record ends at byte 128, outside of memref<64xi8>}}
  %record = rt.record %x[64] : memref<64xi8> to !rt.record
  func.return
}

// -----

func.func @a_check_without_a_number(%record: !rt.record, %i: index) {
  // expected-error @+1 {{the number -1 is negative}}
  %0 = rt.check %i of %i in 3 else %record[-1]
  func.return
}

// -----

func.func @a_record_in_rows_of_bytes(%x: memref<64x8xi8>) {
  // expected-error @+1 {{a record stands in a memref of bytes, not in memref<64x8xi8>}}
  %record = rt.record %x[0] : memref<64x8xi8> to !rt.record
  func.return
}

// -----

func.func @a_dot_product_that_no_processor_has(%c: vector<4xi32>, %a: vector<16xi8>) {
  // expected-error @+1 {{there is no "pmaddubsw"; known: vnni, sdot, udot, pmaddwd}}
  %0 = rt.dot "pmaddubsw" %c, %a, %a : vector<4xi32>, vector<16xi8>
  func.return
}

// -----

func.func @bytes_for_an_instruction_of_16_bits(%c: vector<4xi32>, %a: vector<16xi8>) {
  // expected-error @+1 {{makes 4 or 8 or 16 sums of two products of 16 bits each}}
  %0 = rt.dot "pmaddwd" %c, %a, %a : vector<4xi32>, vector<16xi8>
  func.return
}

// -----

func.func @more_lanes_than_an_instruction_has(%c: vector<8xi32>, %a: vector<32xi8>) {
  // expected-error @+1 {{makes 2 or 4 sums of four products of bytes each}}
  %0 = rt.dot "sdot" %c, %a, %a : vector<8xi32>, vector<32xi8>
  func.return
}

// -----

// expected-error @+1 {{sources are of the languages c, not "fortran"}}
rt.source "fortran" "END"

// -----

// expected-error @+1 {{the source is empty}}
rt.source "c" " "

// -----

func.func @a_tile_that_is_not_there() {
  // expected-error @+1 {{a tile is 8, and can be 0 to 7}}
  rt.tile_zero 8
  func.return
}

// -----

func.func @a_tile_of_too_many_rows(%a: memref<4096xi8>, %i: index) {
  // expected-error @+1 {{the number of rows is 17, and can be 1 to 16}}
  rt.tile_load 0, %a[%i] rows 17 stride 64 : memref<4096xi8>
  func.return
}

// -----

func.func @rows_of_a_tile_over_one_another(%a: memref<4096xbf16>, %i: index) {
  // expected-error @+1 {{rows of 64 bytes lie 16 elements apart}}
  rt.tile_store 0, %a[%i] rows 16 stride 16 : memref<4096xbf16>
  func.return
}

// -----

func.func @a_row_of_a_tile_that_is_of_no_whole_words(%a: memref<4096xi8>, %i: index) {
  // expected-error @+1 {{a row of 30 bytes is of no whole numbers of 32 bits}}
  rt.tile_load 0, %a[%i] rows 16 stride 16 bytes 30 : memref<4096xi8>
  func.return
}

// -----

func.func @a_row_of_a_tile_that_is_too_long(%a: memref<4096xi8>, %i: index) {
  // expected-error @+1 {{the bytes of a row is 68, and can be 4 to 64}}
  rt.tile_load 0, %a[%i] rows 16 stride 68 bytes 68 : memref<4096xi8>
  func.return
}

// -----

func.func @a_tile_of_a_matrix(%a: memref<64x64xi8>, %i: index) {
  // expected-error @+1 {{memory of one dimension is read and written}}
  rt.tile_load 0, %a[%i] rows 16 stride 64 : memref<64x64xi8>
  func.return
}

// -----

func.func @a_product_of_tiles_that_there_is_not() {
  // expected-error @+1 {{there is no "f16"; known: bf16, s8s8, s8u8, u8s8, u8u8}}
  rt.tile_dot "f16" 0, 1, 2
  func.return
}

// -----

func.func @a_tile_multiplied_by_itself() {
  // expected-error @+1 {{the three tiles are different ones}}
  rt.tile_dot "bf16" 0, 1, 1
  func.return
}

// -----

func.func @a_configuration_of_another_size(%c: memref<32xi8>) {
  // expected-error @+1 {{a configuration is memref<64xi8>}}
  rt.tile_config %c : memref<32xi8>
  func.return
}

// -----

func.func @pairs_of_bytes(%acc: vector<16xf32>, %a: vector<64xi8>) {
  // expected-error @+1 {{makes 4 or 8 or 16 sums of two products of bf16 each}}
  %0 = rt.dot "bf16" %acc, %a, %a : vector<16xf32>, vector<64xi8>
  func.return
}
