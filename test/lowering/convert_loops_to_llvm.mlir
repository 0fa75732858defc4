// RUN: weft-opt %s -p convert-loops-to-llvm --split-input-file | filecheck %s
// RUN: weft-opt %s -p 'convert-loops-to-llvm{vector-bytes=32}' --split-input-file | filecheck %s --check-prefix=WIDE

// A dense memref is stepped through by one getelementptr; its constant indices stand in it.
// WIDE-LABEL: llvm.func @an_access_is_one_address_and_one_load
// WIDE: attributes {no_unwind, passthrough = {{.*}}"alignstack", "32"
// CHECK-LABEL: llvm.func @an_access_is_one_address_and_one_load
// CHECK-SAME: (%m: !llvm.ptr {llvm.noalias}, %i: i64, %j: i64) -> f32 attributes {no_unwind}
// CHECK-NEXT: %0 = llvm.getelementptr inbounds %m[%i, %j, 3] : (!llvm.ptr, i64, i64) -> !llvm.ptr, !llvm.array<8 x !llvm.array<16 x f32>>
// CHECK-NEXT: %x = llvm.load %0 : !llvm.ptr -> f32
// CHECK-NEXT: llvm.return %x : f32
func.func @an_access_is_one_address_and_one_load(%m: memref<4x8x16xf32>, %i: index, %j: index) -> f32 {
  %c3 = arith.constant 3 : index
  %x = memref.load %m[%i, %j, %c3] : memref<4x8x16xf32>
  func.return %x : f32
}

// -----

// Strides that nest make nested arrays, too; the last one need not be 1.
// CHECK-LABEL: llvm.func @strides_that_nest
// CHECK: llvm.getelementptr inbounds %m[%i, %j] : (!llvm.ptr, i64, i64) -> !llvm.ptr, !llvm.array<10 x !llvm.array<2 x f64>>
func.func @strides_that_nest(%m: memref<4x8xf64, strided<[20, 2]>>, %i: index, %j: index) -> f64 {
  %x = memref.load %m[%i, %j] : memref<4x8xf64, strided<[20, 2]>>
  func.return %x : f64
}

// -----

// Others are multiplied out.
// CHECK-LABEL: llvm.func @strides_that_do_not_nest
// CHECK: %0 = llvm.mul %j, %c4 overflow<nsw> : i64
// CHECK-NEXT: %1 = llvm.add %i, %0 overflow<nsw> : i64
// CHECK-NEXT: llvm.getelementptr inbounds %m[%1] : (!llvm.ptr, i64) -> !llvm.ptr, f32
func.func @strides_that_do_not_nest(%m: memref<4x8xf32, strided<[1, 4]>>, %i: index, %j: index) -> f32 {
  %x = memref.load %m[%i, %j] : memref<4x8xf32, strided<[1, 4]>>
  func.return %x : f32
}

// -----

// CHECK-LABEL: llvm.func @bits_are_bytes_in_memory
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> i8
// CHECK-NEXT: %x = llvm.icmp "ne" %{{.*}}, %c0_i8 : i8
// CHECK: llvm.zext %x : i1 to i8
// CHECK-NEXT: llvm.store %{{.*}}, %{{.*}} : i8, !llvm.ptr
func.func @bits_are_bytes_in_memory(%m: memref<8xi1>, %i: index, %j: index) {
  %x = memref.load %m[%i] : memref<8xi1>
  memref.store %x, %m[%j] : memref<8xi1>
  func.return
}

// -----

// CHECK-LABEL: llvm.func @arguments_say_what_is_known
// CHECK-SAME: (%a: !llvm.ptr {llvm.noalias, llvm.align = 64 : i64}, %b: !llvm.ptr, %n: i64, %x: i8)
func.func @arguments_say_what_is_known(%a: memref<8xf32> {weft.align = 64 : i64}, %b: memref<8xf32> {weft.may_alias}, %n: index, %x: ui8) {
  func.return
}

// -----

// A loop whose bounds show that it runs has no test in front; the annotation moves to the branch at its end.
// CHECK-LABEL: llvm.func @a_loop_that_runs
// CHECK: llvm.br ^bb1(%c0 : i64)
// CHECK-NEXT: ^bb1(%i: i64):
// CHECK: %[[NEXT:.*]] = llvm.add %i, %c1 overflow<nsw,nuw> : i64
// CHECK-NEXT: %[[MORE:.*]] = llvm.icmp "slt" %[[NEXT]], %c6 : i64
// CHECK-NEXT: llvm.cond_br %[[MORE]], ^bb1(%[[NEXT]] : i64), ^bb2 {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
func.func @a_loop_that_runs(%m: memref<6xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  scf.for %i = %c0 to %c6 step %c1 {
    memref.store %x, %m[%i] : memref<6xf32>
  } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
  func.return
}

// -----

// CHECK-LABEL: llvm.func @a_loop_that_may_not_run
// CHECK: %0 = llvm.icmp "slt" %a, %b : i64
// CHECK-NEXT: llvm.cond_br %0, ^bb1(%a, %x : i64, f32), ^bb2(%x : f32)
// CHECK-NEXT: ^bb1(%i: i64, %sum: f32):
// CHECK-NEXT: %next = llvm.fadd %sum, %x {fastmathFlags = #llvm.fastmath<contract>} : f32
// CHECK-NEXT: %1 = llvm.add %i, %c1 overflow<nsw> : i64
// CHECK-NEXT: %2 = llvm.icmp "ne" %1, %b : i64
// CHECK-NEXT: llvm.cond_br %2, ^bb1(%1, %next : i64, f32), ^bb2(%next : f32)
// CHECK-NEXT: ^bb2(%r: f32):
// CHECK-NEXT: llvm.return %r : f32
func.func @a_loop_that_may_not_run(%a: index, %b: index, %x: f32) -> f32 {
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %a to %b step %c1 iter_args(%sum = %x) -> (f32) {
    %next = arith.addf %sum, %x fastmath<contract> : f32
    scf.yield %next : f32
  }
  func.return %r : f32
}

// -----

// CHECK-LABEL: llvm.func @a_loop_that_runs_once_is_its_body
// CHECK-NOT: llvm.br
// CHECK: llvm.getelementptr inbounds %m[2]
// CHECK-NOT: llvm.cond_br
// CHECK-LABEL: llvm.func @a_loop_that_never_runs_is_nothing
// CHECK-NEXT: llvm.return
func.func @a_loop_that_runs_once_is_its_body(%m: memref<6xf32>, %x: f32) {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c2 to %c3 step %c3 {
    memref.store %x, %m[%i] : memref<6xf32>
  }
  func.return
}

func.func @a_loop_that_never_runs_is_nothing(%m: memref<6xf32>, %x: f32) {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c3 to %c2 step %c3 {
    memref.store %x, %m[%i] : memref<6xf32>
  }
  func.return
}

// -----

// CHECK-LABEL: llvm.func @both_ways_of_an_if_meet
// CHECK: llvm.cond_br %c, ^bb{{.}}, ^bb{{.}}
// CHECK: llvm.br ^bb3(%x : f32)
// CHECK: %y = llvm.fneg %x : f32
// CHECK-NEXT: llvm.br ^bb3(%y : f32)
// CHECK-NEXT: ^bb3(%r: f32):
func.func @both_ways_of_an_if_meet(%c: i1, %x: f32) -> f32 {
  %r = scf.if %c -> (f32) {
    scf.yield %x : f32
  } else {
    %y = arith.negf %x : f32
    scf.yield %y : f32
  }
  func.return %r : f32
}

// -----

// CHECK-LABEL: llvm.func @a_while_tests_first
// CHECK: llvm.br ^bb1(%n : i64)
// CHECK-NEXT: ^bb1(%x: i64):
// CHECK: llvm.cond_br %more, ^bb2(%x : i64), ^bb3(%x : i64)
// CHECK: llvm.br ^bb1(%z : i64)
func.func @a_while_tests_first(%n: index) -> index {
  %c1 = arith.constant 1 : index
  %r = scf.while (%x = %n) : (index) -> (index) {
    %more = arith.cmpi sgt, %x, %c1 : index
    scf.condition(%more) %x : index
  } do {
  ^bb0(%y: index):
    %z = arith.divsi %y, %n : index
    scf.yield %z : index
  }
  func.return %r : index
}

// -----

// Allocations on the stack are made once, in front, wherever they stand.
// CHECK-LABEL: llvm.func @the_stack_is_taken_in_the_entry
// CHECK: %acc = llvm.alloca %c1 x !llvm.array<2 x !llvm.array<4 x vector<16xf32>>> {alignment = 64 : i64} : (i64) -> !llvm.ptr
// CHECK: llvm.br
// CHECK-NOT: llvm.alloca
// CHECK: llvm.return
func.func @the_stack_is_taken_in_the_entry(%n: index, %x: vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %c2 step %c1 {
    %acc = memref.alloca() : memref<2x4xvector<16xf32>>
    memref.store %x, %acc[%i, %n] : memref<2x4xvector<16xf32>>
  }
  func.return
}

// -----

// CHECK-LABEL: llvm.func @vectors
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
// CHECK: llvm.insertelement %s, %{{.*}}[%c0_i32 : i32] : vector<16xf32>
// CHECK-NEXT: %b = llvm.shufflevector
// CHECK-NEXT: %f = llvm.intr.fma(%b, %v, %v)
// CHECK-NEXT: %r = "llvm.intr.vector.reduce.fadd"(%s, %f) <{fastmathFlags = #llvm.fastmath<reassoc>}> : (f32, vector<16xf32>) -> f32
func.func @vectors(%m: memref<64xf32>, %i: index, %s: f32) -> f32 {
  %v = vector.load %m[%i] : memref<64xf32>, vector<16xf32>
  %b = vector.broadcast %s : f32 to vector<16xf32>
  %f = vector.fma %b, %v, %v : vector<16xf32>
  %r = vector.reduction <add>, %f, %s fastmath<reassoc> : vector<16xf32> into f32
  func.return %r : f32
}

// -----

// CHECK-LABEL: llvm.func @masks
// CHECK: %mask = llvm.icmp "slt" %cst, %{{.*}} : vector<4xi64>
// CHECK: %v = llvm.intr.masked.load %{{.*}}, %mask, %p {alignment = 4 : i32} : (!llvm.ptr, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
// CHECK: llvm.intr.masked.store %v, %{{.*}}, %mask {alignment = 4 : i32} : vector<4xf32>, vector<4xi1> into !llvm.ptr
func.func @masks(%m: memref<64xf32>, %n: index, %p: vector<4xf32>) {
  %mask = vector.create_mask %n : vector<4xi1>
  %v = vector.maskedload %m[%n], %mask, %p : memref<64xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  vector.maskedstore %m[%n], %mask, %v : memref<64xf32>, vector<4xi1>, vector<4xf32>
  func.return
}

// -----

// CHECK-LABEL: llvm.func @lanes_are_compared_and_selected
// CHECK: %c = llvm.fcmp "olt" %x, %y {fastmathFlags = #llvm.fastmath<nnan>} : vector<4xf32>
// CHECK-NEXT: %r = llvm.select %c, %x, %y : vector<4xi1>, vector<4xf32>
func.func @lanes_are_compared_and_selected(%x: vector<4xf32>, %y: vector<4xf32>) -> vector<4xf32> {
  %c = arith.cmpf olt, %x, %y fastmath<nnan> : vector<4xf32>
  %r = arith.select %c, %x, %y : vector<4xi1>, vector<4xf32>
  func.return %r : vector<4xf32>
}

// -----

// CHECK-LABEL: llvm.func @bf16_is_computed_in_f32
// CHECK: llvm.zext %x : i16 to i32
// CHECK: llvm.fadd %{{.*}}, %{{.*}} : f32
// CHECK: %z = llvm.trunc %{{.*}} : i32 to i16
func.func @bf16_is_computed_in_f32(%x: bf16, %y: bf16) -> bf16 {
  %z = arith.addf %x, %y : bf16
  func.return %z : bf16
}

// -----

// CHECK-LABEL: llvm.func @quotients_are_rounded_down
// CHECK: %0 = llvm.sdiv %x, %c7_i32 : i32
// CHECK-NEXT: %1 = llvm.mul %0, %c7_i32 : i32
// CHECK-NEXT: %2 = llvm.icmp "ne" %1, %x : i32
func.func @quotients_are_rounded_down(%x: i32) -> i32 {
  %y = arith.constant 7 : i32
  %z = arith.floordivsi %x, %y : i32
  func.return %z : i32
}

// -----

// By what may be 0, and the least integer by what may be -1. Vectors of floats are what processors divide.
// CHECK-LABEL: llvm.func @a_division_has_a_result_for_all_operands
// CHECK: %[[ZERO:.*]] = llvm.icmp "eq" %y, %c0_i32 : i32
// CHECK-NEXT: %[[MINUS:.*]] = llvm.icmp "eq" %y, %c_1_i32 : i32
// CHECK-NEXT: %[[LEAST:.*]] = llvm.icmp "eq" %x, %c_2147483648_i32 : i32
// CHECK-NEXT: %[[OVER:.*]] = llvm.and %[[MINUS]], %[[LEAST]] : i1
// CHECK-NEXT: %[[UNSAFE:.*]] = llvm.or %[[ZERO]], %[[OVER]] : i1
// CHECK-NEXT: %[[BY:.*]] = llvm.select %[[UNSAFE]], %c1_i32, %y : i1, i32
// CHECK-NEXT: %[[X:.*]] = llvm.sitofp %x : i32 to f64
// CHECK-NEXT: %[[Y:.*]] = llvm.sitofp %[[BY]] : i32 to f64
// CHECK-NEXT: %[[XY:.*]] = llvm.fdiv %[[X]], %[[Y]] : f64
// CHECK-NEXT: %[[Q:.*]] = llvm.fptosi %[[XY]] : f64 to i32
// CHECK-NEXT: llvm.select %[[ZERO]], %c0_i32, %[[Q]] : i1, i32
func.func @a_division_has_a_result_for_all_operands(%x: i32, %y: i32) -> i32 {
  %z = arith.divsi %x, %y : i32
  func.return %z : i32
}

// -----

// A literal is multiplied by the inverse of, in vectors too: that is left to LLVM.
// CHECK-LABEL: llvm.func @a_division_of_lanes_by_a_literal
// CHECK: llvm.sdiv %x, %{{.*}} : vector<4xi32>
func.func @a_division_of_lanes_by_a_literal(%x: vector<4xi32>) -> vector<4xi32> {
  %c7 = arith.constant 7 : i32
  %y = vector.broadcast %c7 : i32 to vector<4xi32>
  %z = arith.divsi %x, %y : vector<4xi32>
  func.return %z : vector<4xi32>
}

// -----

// Of 16 bits and fewer floats of 32 bits are enough, and of more than 32 bits no floats are. A GPU divides integers.
// CHECK-LABEL: llvm.func @divisions_of_other_widths
// CHECK: llvm.sitofp %x : i8 to f32
// CHECK: %[[Q:.*]] = llvm.fptosi %{{.*}} : f32 to i32
// CHECK-NEXT: llvm.trunc %[[Q]] : i32 to i8
// CHECK: llvm.uitofp %y : i16 to f32
// CHECK: %[[Q:.*]] = llvm.fptoui %{{.*}} : f32 to i32
// CHECK-NEXT: %[[W:.*]] = llvm.trunc %[[Q]] : i32 to i16
// CHECK-NEXT: llvm.mul %[[W]]
// CHECK-NOT: llvm.sitofp
// CHECK: llvm.sdiv %z
// CHECK-LABEL: llvm.func @divisions_of_a_kernel
// CHECK-NOT: llvm.uitofp
// CHECK: llvm.udiv %x
func.func @divisions_of_other_widths(%x: i8, %y: i16, %z: i64) -> (i8, i16, i64) {
  %a = arith.divsi %x, %x : i8
  %b = arith.remui %y, %y : i16
  %c = arith.divsi %z, %z : i64
  func.return %a, %b, %c : i8, i16, i64
}
func.func @divisions_of_a_kernel(%x: i32, %y: i32) -> i32 attributes {gpu.kernel} {
  %a = arith.divui %x, %y : i32
  func.return %a : i32
}

// -----

// What the operands show needs no care: a literal, the variable of a loop, what was made another number than 0.
// CHECK-LABEL: llvm.func @what_is_shown_costs_nothing
// CHECK-NOT: llvm.select
// CHECK: llvm.icmp "eq" %y
// CHECK-NEXT: %[[ONE:.*]] = llvm.select
// CHECK-NEXT: llvm.uitofp %y
// CHECK-NEXT: llvm.uitofp %[[ONE]]
// CHECK-NEXT: llvm.fdiv
// CHECK-NEXT: llvm.fptoui
// CHECK-NOT: llvm.select
// CHECK: llvm.return
func.func @what_is_shown_costs_nothing(%x: i32, %y: i32, %m: memref<8xi32>, %f: f32) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %i31 = arith.constant 31 : i32
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %low = arith.constant -128.0 : f32
  %is_zero = arith.cmpi eq, %y, %zero : i32
  %safe = arith.select %is_zero, %one, %y : i32
  %w = arith.divui %y, %safe : i32
  memref.store %w, %m[%c1] : memref<8xi32>
  scf.for %i = %c1 to %c8 step %c1 {
    %a = arith.index_cast %i : index to i32
    %q = arith.divsi %x, %a : i32
    %r = arith.shrsi %q, %a : i32
    %s = arith.shli %r, %i31 : i32
    %t = arith.maxsi %s, %one : i32
    %u = arith.remsi %x, %t : i32
    %v = arith.sitofp %a : i32 to f32
    %n = arith.fptosi %v : f32 to i32
    %o = arith.addi %u, %n : i32
    memref.store %o, %m[%i] : memref<8xi32>
  }
  func.return
}

// -----

// Of a float that was clipped, only NaN is left to be seen to.
// CHECK-LABEL: llvm.func @a_clipped_float_fits
// CHECK: %[[NAN:.*]] = llvm.fcmp "uno" %[[C:.*]], %[[C]] : f32
// CHECK-NEXT: %[[NUMBER:.*]] = llvm.select %[[NAN]], %{{.*}}, %[[C]] : i1, f32
// CHECK-NEXT: llvm.fptosi %[[NUMBER]] : f32 to i8
// CHECK-NOT: llvm.fcmp
// CHECK: llvm.return
func.func @a_clipped_float_fits(%f: f32) -> i8 {
  %low = arith.constant -128.0 : f32
  %high = arith.constant 127.0 : f32
  %below = arith.cmpf ogt, %low, %f : f32
  %a = arith.select %below, %low, %f : f32
  %above = arith.cmpf olt, %high, %a : f32
  %b = arith.select %above, %high, %a : f32
  %c = math.roundeven %b : f32
  %d = arith.fptosi %c : f32 to i8
  func.return %d : i8
}

// -----

// CHECK-LABEL: llvm.func internal @two_results_are_a_struct
// CHECK-SAME: -> !llvm.struct<(i64, f32)>
// CHECK: llvm.insertvalue
// CHECK-LABEL: llvm.func @a_call_takes_them_apart
// CHECK: %[[BOTH:.*]] = llvm.call @two_results_are_a_struct(%{{.*}}, %{{.*}}) : (i64, f32) -> !llvm.struct<(i64, f32)>
// CHECK-NEXT: llvm.extractvalue %[[BOTH]][0]
func.func private @two_results_are_a_struct(%n: index, %x: f32) -> (index, f32) {
  func.return %n, %x : index, f32
}

func.func @a_call_takes_them_apart(%n: index, %x: f32) -> f32 {
  %r:2 = func.call @two_results_are_a_struct(%n, %x) : (index, f32) -> (index, f32)
  func.return %r#1 : f32
}

// -----

// Shares are claimed by atomic operations; a count of done shares below zero says that somebody sleeps on it. Whoever
// does the last one goes on at once, without a claim that is in vain, having acquired what the others wrote.
// CHECK-LABEL: llvm.func @shares_are_claimed
// CHECK-SAME: (%slots: !llvm.ptr, %threads: i64)
// CHECK: %[[SLOT:.*]] = llvm.getelementptr inbounds %slots[128] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK-NEXT: %[[DONE:.*]] = llvm.getelementptr inbounds %[[SLOT]][64] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK-NEXT: %[[NUMBER:.*]] = llvm.and %threads, %c9223372036854775807 : i64
// CHECK-NEXT: %[[WANTED:.*]] = llvm.mul %[[NUMBER]], %c4 overflow<nuw> : i64
// CHECK-NEXT: %[[FEW:.*]] = llvm.icmp "ult" %[[WANTED]], %c100 : i64
// CHECK-NEXT: %[[SHARES:.*]] = llvm.select %[[FEW]], %[[WANTED]], %c100 : i1, i64
// CHECK-NEXT: %[[FROM_LAST:.*]] = llvm.icmp "slt" %threads, %c0 : i64
// CHECK-NEXT: %[[STEP:.*]] = llvm.select %[[FROM_LAST]], %c4294967296, %c1 : i1, i64
// CHECK-NEXT: %[[ODD:.*]] = llvm.select %[[FROM_LAST]], %c0, %c1 : i1, i64
// CHECK-NEXT: %[[TWICE:.*]] = llvm.add %[[NUMBER]], %[[ODD]] overflow<nuw> : i64
// CHECK-NEXT: %[[SIDE:.*]] = llvm.lshr %[[TWICE]], %c1 : i64
// CHECK-NEXT: %[[TIMES:.*]] = llvm.mul %[[SHARES]], %[[SIDE]] overflow<nuw> : i64
// CHECK-NEXT: %[[FAIR:.*]] = llvm.udiv %[[TIMES]], %[[NUMBER]] : i64
// CHECK-NEXT: %[[COUNT:.*]] = llvm.trunc %[[SHARES]] : i64 to i32
// CHECK-NEXT: llvm.br ^[[CLAIM:.*]](%c0 : i64)
// CHECK-NEXT: ^[[CLAIM]](%[[NEXT:.*]]: i64):
// CHECK-NEXT: %[[IS_OWN:.*]] = llvm.icmp "ult" %[[NEXT]], %[[FAIR]] : i64
// CHECK-NEXT: llvm.cond_br %[[IS_OWN]], ^[[TAKE:.*]], ^[[CONSIDER:.*]](%c0 : i64)
// What is the others' is taken after a while only, or where they are not at work.
// CHECK-NEXT: ^[[CONSIDER]](%[[LOOKS:.*]]: i64):
// CHECK-NEXT: %[[SEEN:.*]] = llvm.load %[[SLOT]] atomic monotonic {alignment = 8 : i64} : !llvm.ptr -> i64
// CHECK-NEXT: %[[SEEN_LOW:.*]] = llvm.and %[[SEEN]], %c4294967295 : i64
// CHECK-NEXT: %[[SEEN_HIGH:.*]] = llvm.lshr %[[SEEN]], %c32 : i64
// CHECK-NEXT: %[[CLAIMS:.*]] = llvm.add %[[SEEN_LOW]], %[[SEEN_HIGH]] overflow<nuw> : i64
// CHECK-NEXT: %[[THEIRS:.*]] = llvm.select %[[FROM_LAST]], %[[SEEN_LOW]], %[[SEEN_HIGH]] : i1, i64
// CHECK-NEXT: %[[ALL:.*]] = llvm.icmp "uge" %[[CLAIMS]], %[[SHARES]] : i64
// CHECK-NEXT: llvm.cond_br %[[ALL]], ^[[LOOK:.*]], ^[[WANTS:.*]]
// CHECK-NEXT: ^[[WANTS]]:
// CHECK-NEXT: %[[NOBODY:.*]] = llvm.icmp "eq" %[[THEIRS]], %c0 : i64
// CHECK-NEXT: %[[LATE:.*]] = llvm.icmp "eq" %[[LOOKS]], %c2048 : i64
// CHECK-NEXT: %[[AGAIN:.*]] = llvm.add %[[LOOKS]], %c1 overflow<nuw> : i64
// CHECK-NEXT: %[[TAKES:.*]] = llvm.or %[[NOBODY]], %[[LATE]] : i1
// CHECK-NEXT: llvm.cond_br %[[TAKES]], ^[[TAKE]], ^[[CONSIDER]](%[[AGAIN]] : i64)
// CHECK-NEXT: ^[[TAKE]]:
// CHECK-NEXT: %claimed = llvm.atomicrmw add %[[SLOT]], %[[STEP]] monotonic : !llvm.ptr, i64
// CHECK-NEXT: %[[LOW:.*]] = llvm.and %claimed, %c4294967295 : i64
// CHECK-NEXT: %[[HIGH:.*]] = llvm.lshr %claimed, %c32 : i64
// CHECK-NEXT: %[[BOTH:.*]] = llvm.add %[[LOW]], %[[HIGH]] overflow<nuw> : i64
// CHECK-NEXT: %[[LAST:.*]] = llvm.sub %[[SHARES]], %c1 : i64
// CHECK-NEXT: %[[BEFORE:.*]] = llvm.sub %[[LAST]], %[[HIGH]] : i64
// CHECK-NEXT: %share = llvm.select %[[FROM_LAST]], %[[BEFORE]], %[[LOW]] : i1, i64
// CHECK-NEXT: %[[OWN:.*]] = llvm.select %[[FROM_LAST]], %[[HIGH]], %[[LOW]] : i1, i64
// CHECK-NEXT: %[[FOLLOWING:.*]] = llvm.add %[[OWN]], %c1 overflow<nuw> : i64
// CHECK-NEXT: %[[MORE:.*]] = llvm.icmp "ult" %[[BOTH]], %[[SHARES]] : i64
// CHECK-NEXT: llvm.cond_br %[[MORE]], ^[[BODY:.*]], ^[[LOOK]]
// CHECK-NEXT: ^[[BODY]]:
// CHECK-NEXT: llvm.add %share, %c1 overflow<nuw> : i64
// CHECK: %first = llvm.udiv %{{.*}}, %[[SHARES]] : i64
// CHECK: %last = llvm.udiv %{{.*}}, %[[SHARES]] : i64
// CHECK-NEXT: llvm.call @body(%first, %last)
// CHECK-NEXT: %[[OLD:.*]] = llvm.atomicrmw add %[[DONE]], %c1_i32 acq_rel : !llvm.ptr, i32
// CHECK-NEXT: %[[LESS:.*]] = llvm.sub %[[COUNT]], %c1_i32 : i32
// CHECK-NEXT: %[[IS_LAST:.*]] = llvm.icmp "eq" %[[OLD]], %[[LESS]] : i32
// CHECK-NEXT: llvm.cond_br %[[IS_LAST]], ^[[AFTER:.*]], ^[[NOT_LAST:.*]]
// CHECK-NEXT: ^[[NOT_LAST]]:
// CHECK-NEXT: %[[ASLEEP:.*]] = llvm.icmp "slt" %[[OLD]], %c0_i32 : i32
// CHECK-NEXT: llvm.cond_br %[[ASLEEP]], ^[[WAKE:.*]], ^[[CLAIM]](%[[FOLLOWING]] : i64)
// CHECK-NEXT: ^[[WAKE]]:
// CHECK-NEXT: llvm.call @weft_pool_2_wake(%[[DONE]])
// CHECK-NEXT: llvm.br ^[[CLAIM]](%[[FOLLOWING]] : i64)
// CHECK-NEXT: ^[[LOOK]]:
// CHECK-NEXT: %[[NOW:.*]] = llvm.load %[[DONE]] atomic acquire {alignment = 4 : i64} : !llvm.ptr -> i32
// CHECK-NEXT: %[[READY:.*]] = llvm.and %[[NOW]], %c2147483647_i32 : i32
// CHECK-NEXT: %[[WAITS:.*]] = llvm.icmp "ult" %[[READY]], %[[COUNT]] : i32
// CHECK-NEXT: llvm.cond_br %[[WAITS]], ^[[WAIT:.*]], ^[[AFTER]]
// CHECK-NEXT: ^[[WAIT]]:
// CHECK-NEXT: llvm.call @weft_pool_2_wait(%[[DONE]], %[[COUNT]])
// CHECK-NEXT: llvm.br ^[[AFTER]]
// CHECK-NEXT: ^[[AFTER]]:
// CHECK-NEXT: llvm.return
func.func private @body(index, index) -> ()
func.func @shares_are_claimed(%slots: !rt.slots<2>, %threads: index) {
  %extent = arith.constant 100 : index
  rt.share %slots[1] for %first to %last of %extent threads %threads {
    func.call @body(%first, %last) : (index, index) -> ()
  } : !rt.slots<2>
  func.return
}

// -----

// Of rows, the first share of each comes before the second of any: 4 for each thread in whole columns of 3, of 100 or
// fewer in each row.
// CHECK-LABEL: llvm.func @shares_stand_in_rows
// CHECK: %[[UP:.*]] = llvm.add %{{.*}}, %c2 overflow<nuw> : i64
// CHECK-NEXT: %[[COLUMNS:.*]] = llvm.udiv %[[UP]], %c3 : i64
// CHECK-NEXT: %[[WANTED:.*]] = llvm.mul %[[COLUMNS]], %c3 overflow<nuw> : i64
// CHECK-NEXT: %[[FEW:.*]] = llvm.icmp "ult" %[[WANTED]], %c300 : i64
// CHECK-NEXT: %[[SHARES:.*]] = llvm.select %[[FEW]], %[[WANTED]], %c300 : i1, i64
// CHECK: llvm.sub
// CHECK-NEXT: llvm.sub
// CHECK-NEXT: %[[NUMBER:.*]] = llvm.select
// CHECK: %[[PER_ROW:.*]] = llvm.udiv %[[SHARES]], %c3 : i64
// CHECK-NEXT: %[[ROW:.*]] = llvm.urem %[[NUMBER]], %c3 : i64
// CHECK-NEXT: %[[COLUMN:.*]] = llvm.udiv %[[NUMBER]], %c3 : i64
// CHECK-NEXT: %[[START:.*]] = llvm.mul %[[ROW]], %[[PER_ROW]] overflow<nuw> : i64
// CHECK-NEXT: %share = llvm.add %[[START]], %[[COLUMN]] overflow<nuw> : i64
func.func private @body(index, index) -> ()
func.func @shares_stand_in_rows(%slots: !rt.slots<2>, %threads: index) {
  %extent = arith.constant 300 : index
  rt.share %slots[1] for %first to %last of %extent threads %threads rows 3 {
    func.call @body(%first, %last) : (index, index) -> ()
  } : !rt.slots<2>
  func.return
}

// -----

// What is not divided is one share.
// CHECK-LABEL: llvm.func @one_share
// CHECK: %claimed = llvm.atomicrmw add %slots, %c1 monotonic : !llvm.ptr, i64
// CHECK-NEXT: llvm.icmp "ult" %claimed, %c1 : i64
// CHECK: %[[OLD:.*]] = llvm.atomicrmw add %{{.*}}, %c1_i32 acq_rel : !llvm.ptr, i32
// CHECK: %[[IS_LAST:.*]] = llvm.icmp "eq" %[[OLD]], %{{.*}} : i32
// CHECK-NEXT: llvm.cond_br %[[IS_LAST]], ^[[AFTER:.*]], ^{{.*}}
// CHECK: llvm.call @weft_pool_2_wait
// CHECK-NEXT: llvm.br ^[[AFTER]]
func.func @one_share(%slots: !rt.slots<1>) {
  rt.share %slots[0] {
  } : !rt.slots<1>
  func.return
}

// -----

// A kernel that is only declared shares work too, by its type.
// CHECK-LABEL: llvm.func @kernel(!llvm.ptr, !llvm.ptr, i64)
// CHECK-LABEL: llvm.func @a_function_that_calls_a_declared_kernel
// CHECK-SAME: (%x: !llvm.ptr, %slots: !llvm.ptr, %n: i64)
func.func private @kernel(memref<8xf32>, !rt.slots<1>, index) -> ()
func.func @a_function_that_calls_a_declared_kernel(%x: memref<8xf32>, %slots: !rt.slots<1>, %n: index) {
  func.call @kernel(%x, %slots, %n) : (memref<8xf32>, !rt.slots<1>, index) -> ()
  func.return
}

// -----

// A function that claims shares of a loop, or waits for other threads, sees what they write: its buffers may alias.
// CHECK-LABEL: llvm.func @a_function_that_waits
// CHECK-SAME: (%{{m.*}}: !llvm.ptr, %{{n.*}}: i64)
// CHECK-LABEL: llvm.func @a_function_that_calls_one_that_waits
// CHECK-SAME: (%{{m.*}}: !llvm.ptr, %{{n.*}}: i64)
// CHECK-LABEL: llvm.func @a_function_that_runs_a_share
// CHECK-SAME: (%{{m.*}}: !llvm.ptr {llvm.noalias}, %{{n.*}}: i64)
func.func @a_function_that_waits(%m: memref<256xi8>, %n: index) {
  %slots = rt.slots %m[128] : memref<256xi8> to !rt.slots<1>
  rt.share %slots[0] {
  } : !rt.slots<1>
  func.return
}

func.func @a_function_that_calls_one_that_waits(%m: memref<256xi8>, %n: index) {
  func.call @a_function_that_waits(%m, %n) : (memref<256xi8>, index) -> ()
  func.return
}

func.func @a_function_that_runs_a_share(%m: memref<4xf32>, %n: index) {
  %x = memref.load %m[%n] : memref<4xf32>
  memref.store %x, %m[%n] : memref<4xf32>
  func.return
}

// -----

// CHECK-LABEL: llvm.func @views_are_addresses
// CHECK: %v = llvm.getelementptr inbounds %arena[64] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK-NEXT: %s = llvm.getelementptr inbounds %v[%i, 2] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<4 x f32>
// CHECK-NEXT: llvm.getelementptr inbounds %s[1, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.array<4 x f32>
func.func @views_are_addresses(%arena: memref<256xi8>, %i: index) -> f32 {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %v = memref.view %arena[%c64][] : memref<256xi8> to memref<4x4xf32>
  %s = memref.subview %v[%i, 2] [2, 2] [1, 1] : memref<4x4xf32> to memref<2x2xf32, strided<[4, 1], offset: ?>>
  %x = memref.load %s[%c1, %c1] : memref<2x2xf32, strided<[4, 1], offset: ?>>
  func.return %x : f32
}

// -----

// CHECK-LABEL: llvm.func @a_copy_is_rows_of_memcpy
// CHECK: "llvm.intr.memcpy"(%{{.*}}, %{{.*}}, %c16) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
// CHECK: llvm.cond_br
func.func @a_copy_is_rows_of_memcpy(%a: memref<8x4xf32, strided<[10, 1]>>, %b: memref<8x4xf32>) {
  "memref.copy"(%a, %b) : (memref<8x4xf32, strided<[10, 1]>>, memref<8x4xf32>) -> ()
  func.return
}

// -----

// CHECK-LABEL: llvm.func @memory_of_the_heap
// CHECK: %m = llvm.call @aligned_alloc(%c64, %c128) : (i64, i64) -> !llvm.ptr
// CHECK: llvm.call @free(%m) : (!llvm.ptr) -> ()
func.func @memory_of_the_heap() {
  %m = memref.alloc() : memref<20xf32>
  memref.dealloc %m : memref<20xf32>
  func.return
}

// -----

// CHECK-LABEL: llvm.func @a_failed_assertion_speaks
// CHECK: llvm.cond_br %c, ^bb{{.}}, ^bb{{.}}
// CHECK: llvm.mlir.addressof @weft_string_0
// CHECK: llvm.call @puts
// CHECK: llvm.call @fflush
// CHECK-NEXT: llvm.call @abort
// CHECK-NEXT: llvm.unreachable
func.func @a_failed_assertion_speaks(%c: i1) {
  cf.assert %c, "no"
  func.return
}

// -----

// CHECK-LABEL: llvm.func @functions_that_llvm_has
// CHECK: llvm.intr.sqrt(%x)
// CHECK: llvm.intr.floor
// CHECK: llvm.intr.copysign
// CHECK: "llvm.intr.ctlz"(%n) <{is_zero_poison = false}> : (i32) -> i32
func.func @functions_that_llvm_has(%x: f32, %n: i32) -> f32 {
  %a = math.sqrt %x : f32
  %b = math.floor %a : f32
  %c = math.copysign %b, %x : f32
  %d = math.ctlz %n : i32
  func.return %c : f32
}

// -----

// CHECK-LABEL: llvm.func @functions_that_the_c_library_has
// CHECK: llvm.call @erff
// CHECK: llvm.insertelement
func.func @functions_that_the_c_library_has(%x: vector<2xf32>) -> vector<2xf32> {
  %a = math.erf %x : vector<2xf32>
  func.return %a : vector<2xf32>
}

// -----

// Constants that are marked with an index are found through a table of pointers.
// CHECK-LABEL: llvm.func @globals
// CHECK: llvm.mlir.addressof @weft_constants
// CHECK-NEXT: llvm.getelementptr inbounds %{{.*}}[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
// CHECK-NEXT: %w = llvm.load
// CHECK: %g = llvm.mlir.addressof @g
"memref.global"() <{sym_name = "w", sym_visibility = "private", type = memref<4xf32>, constant, initial_value}> {weft.constant_index = 1 : i64} : () -> ()
"memref.global"() <{sym_name = "g", sym_visibility = "private", type = memref<2xf32>, constant, initial_value = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> ()
func.func @globals(%m: memref<4xf32>, %n: memref<2xf32>) {
  %w = memref.get_global @w : memref<4xf32>
  %g = memref.get_global @g : memref<2xf32>
  "memref.copy"(%w, %m) : (memref<4xf32>, memref<4xf32>) -> ()
  "memref.copy"(%g, %n) : (memref<2xf32>, memref<2xf32>) -> ()
  func.return
}

// -----

// Whoever is first to find a wrong index tells of it; all go on with one that is inside.
// CHECK-LABEL: llvm.func @a_check
// CHECK-SAME: (%arena: !llvm.ptr {llvm.noalias}, %at: i64, %given: i64) -> i64
// CHECK:         %record = llvm.getelementptr inbounds %arena[64]
// CHECK:         %[[INSIDE:.*]] = llvm.icmp "ult" %at, %c10 : i64
// CHECK-NEXT:    llvm.cond_br %[[INSIDE]], ^bb4(%at : i64), ^bb1
// CHECK-NEXT:  ^bb1:
// CHECK-NEXT:    %[[OLD:.*]] = llvm.cmpxchg %record, %c0, %c3 monotonic monotonic : !llvm.ptr, i64
// CHECK-NEXT:    %[[WON:.*]] = llvm.extractvalue %[[OLD]][1]
// CHECK-NEXT:    llvm.cond_br %[[WON]], ^bb2, ^bb3
// CHECK-NEXT:  ^bb2:
// CHECK:         llvm.store %given
// CHECK:         llvm.store %c10
// CHECK-NEXT:    llvm.br ^bb3
// CHECK-NEXT:  ^bb3:
// CHECK-NEXT:    %[[BELOW:.*]] = llvm.icmp "slt" %at, %c0
// CHECK-NEXT:    %[[END:.*]] = llvm.select %[[BELOW]], %c0, %c9
// CHECK-NEXT:    llvm.br ^bb4(%[[END]] : i64)
// CHECK-NEXT:  ^bb4(%[[RESULT:.*]]: i64):
// CHECK-NEXT:    llvm.return %[[RESULT]]
func.func @a_check(%arena: memref<128xi8>, %at: index, %given: index) -> index {
  %record = rt.record %arena[64] : memref<128xi8> to !rt.record
  %0 = rt.check %at of %given in 10 else %record[2]
  func.return %0 : index
}

// -----

// CHECK: llvm.mlir.global internal constant @wide(dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>) {addr_space = 0 : i32, alignment = 256 : i64}
"memref.global"() <{sym_name = "wide", sym_visibility = "private", type = memref<2xf32>, constant, initial_value = dense<[1.0, 2.0]> : tensor<2xf32>, alignment = 256 : i64}> : () -> ()

// -----

// What only one share calls is put into its place before LLVM takes pains with it: nobody else has a use for it. Not so
// what is called twice, or from outside of shares, or by other modules.
// CHECK: llvm.func internal @nest(%x: !llvm.ptr {{.*}}passthrough = ["alwaysinline"]}
// CHECK-NEXT: llvm.return
// CHECK: llvm.func internal @twice(
// CHECK-NOT: alwaysinline
// CHECK: llvm.func @kernel(
// WIDE: llvm.func internal @nest(%x: !llvm.ptr {{.*}}passthrough = ["alwaysinline", ["alignstack", "32"]]}
func.func private @nest(%x: memref<4xf32>) {
  func.return
}
func.func private @twice(%x: memref<4xf32>) {
  func.return
}
func.func @public(%x: memref<4xf32>) {
  func.return
}
func.func private @alone(%x: memref<4xf32>) {
  func.return
}
func.func @kernel(%x: memref<4xf32>, %slots: !rt.slots<4>) {
  rt.share %slots[0] {
    func.call @nest(%x) : (memref<4xf32>) -> ()
  } : !rt.slots<4>
  rt.share %slots[1] {
    func.call @twice(%x) : (memref<4xf32>) -> ()
  } : !rt.slots<4>
  rt.share %slots[2] {
    func.call @twice(%x) : (memref<4xf32>) -> ()
  } : !rt.slots<4>
  rt.share %slots[3] {
    func.call @public(%x) : (memref<4xf32>) -> ()
  } : !rt.slots<4>
  func.call @alone(%x) : (memref<4xf32>) -> ()
  func.return
}

// -----

// What depends on outer loops alone is computed there, once; vectors lie as far from there as the inner loop says. A
// division stays where it is, unless its divisor is a positive constant.
// CHECK-LABEL: llvm.func @sums_stand_in_the_outermost_loop
// CHECK:         ^bb1(%i: i64):
// CHECK-NEXT:      %[[ROW:.*]] = llvm.mul %i, %c64 : i64
// CHECK-NEXT:      %[[BEGIN:.*]] = llvm.getelementptr %x[%[[ROW]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:      %[[HALF:.*]] = llvm.udiv %i, %c2 : i64
// CHECK-NEXT:      %[[TO:.*]] = llvm.getelementptr inbounds %y[%[[HALF]]]
// CHECK-NEXT:      llvm.br ^bb2
// CHECK-NEXT:    ^bb2(%j: i64):
// CHECK-NEXT:      %[[COLUMN:.*]] = llvm.mul %j, %c16 : i64
// CHECK-NOT:       llvm.mul
// CHECK:           %[[PLACE:.*]] = llvm.getelementptr %[[BEGIN]][%[[COLUMN]]]
// CHECK-NEXT:      llvm.load %[[PLACE]]
// CHECK-NOT:       llvm.getelementptr
// CHECK:           llvm.udiv %i, %{{.*}} : i64
// CHECK:           llvm.store %{{.*}}, %[[TO]]
// CHECK:           llvm.icmp "ne"
func.func @sums_stand_in_the_outermost_loop(%x: memref<256xf32>, %y: memref<64xf32>, %z: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %0 = arith.muli %i, %c64 : index
      %1 = arith.muli %j, %c16 : index
      %2 = arith.addi %0, %1 : index
      %3 = vector.load %x[%2] : memref<256xf32>, vector<16xf32>
      %4 = arith.muli %i, %c64 : index
      %5 = arith.addi %4, %1 : index
      %6 = vector.load %x[%5] : memref<256xf32>, vector<16xf32>
      %7 = arith.addf %3, %6 : vector<16xf32>
      %8 = arith.cmpi ne, %n, %c0 : index
      scf.if %8 {
        %9 = arith.divui %i, %n : index
        vector.store %7, %z[%9] : memref<?xf32>, vector<16xf32>
      }
      %10 = arith.divui %i, %c2 : index
      vector.store %7, %y[%10] : memref<64xf32>, vector<16xf32>
    }
  }
  func.return
}

// -----

// So is an index that is chosen: the place in a padded row, say.
// CHECK-LABEL: llvm.func @a_choice_stands_in_the_outermost_loop
// CHECK:         ^bb1(%i: i64):
// CHECK-NEXT:      %[[INSIDE:.*]] = llvm.icmp "slt" %i, %n : i64
// CHECK-NEXT:      %[[AT:.*]] = llvm.select %[[INSIDE]], %i, %n : i1, i64
// CHECK-NEXT:      %[[FROM:.*]] = llvm.getelementptr inbounds %x[%[[AT]]]
// CHECK-NEXT:      llvm.br ^bb2
// CHECK-NEXT:    ^bb2(%j: i64):
// CHECK-NEXT:      llvm.load %[[FROM]]
func.func @a_choice_stands_in_the_outermost_loop(%x: memref<64xf32>, %y: memref<64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %0 = arith.cmpi slt, %i, %n : index
      %1 = arith.select %0, %i, %n : index
      %2 = vector.load %x[%1] : memref<64xf32>, vector<16xf32>
      vector.store %2, %y[%j] : memref<64xf32>, vector<16xf32>
    }
  }
  func.return
}

// -----

// Where scalars are stored, of which LLVM may make vectors, an address is one, and the order says how far a loop goes.
// CHECK-LABEL: llvm.func @loops_of_scalars_say_where_they_end
// CHECK:         ^bb2(%j: i64):
// CHECK:           %[[SUM:.*]] = llvm.add %{{.*}}, %j : i64
// CHECK-NEXT:      llvm.getelementptr inbounds %y[%[[SUM]]]
// CHECK:           llvm.icmp "slt"
func.func @loops_of_scalars_say_where_they_end(%x: f32, %y: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %0 = arith.muli %i, %c8 : index
      %1 = arith.addi %0, %j : index
      memref.store %x, %y[%1] : memref<64xf32>
    }
  }
  func.return
}

// -----

// LLVM makes one instruction of a loop that fills memory, and many stores of that afterwards: a loop around with more
// than 64 of them is not unrolled, if nothing is said of it. Loops around that one have as many as it has in a turn.
// CHECK-LABEL: llvm.func @many_rows_are_filled_in_a_loop
// CHECK:         llvm.cond_br %{{.*}}, ^bb3(%{{.*}}), ^bb4{{$}}
// CHECK:         llvm.cond_br %{{.*}}, ^bb2(%{{.*}}), ^bb5 {loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}
// CHECK:         llvm.cond_br %{{.*}}, ^bb1(%{{.*}}), ^bb6{{$}}
func.func @many_rows_are_filled_in_a_loop(%m: memref<16x100x231xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c81 = arith.constant 81 : index
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c81 step %c1 {
      scf.for %k = %c0 to %c81 step %c1 {
        %zero = arith.constant 0 : i8
        memref.store %zero, %m[%i, %j, %k] : memref<16x100x231xi8>
      }
    }
  }
  func.return
}

// -----

// Few rows, rows that are copied, and rows whose loop says that it is to be unrolled are left to LLVM.
// CHECK-LABEL: llvm.func @other_rows_are_left_to_llvm
// CHECK-NOT:     disable = true
// CHECK:         loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>
// CHECK-NOT:     disable = true
// CHECK:         llvm.return
func.func @other_rows_are_left_to_llvm(%m: memref<100x231xi8>, %n: memref<100x231xi8>, %zero: i8) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c81 = arith.constant 81 : index
  scf.for %j = %c0 to %c64 step %c1 {
    scf.for %k = %c0 to %c81 step %c1 {
      memref.store %zero, %m[%j, %k] : memref<100x231xi8>
    }
  }
  scf.for %j = %c0 to %c81 step %c1 {
    scf.for %k = %c0 to %c81 step %c1 {
      %0 = memref.load %n[%j, %k] : memref<100x231xi8>
      memref.store %0, %m[%j, %k] : memref<100x231xi8>
    }
  }
  scf.for %j = %c0 to %c81 step %c1 {
    scf.for %k = %c0 to %c81 step %c1 {
      memref.store %zero, %m[%j, %k] : memref<100x231xi8>
    }
  } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
  func.return
}
