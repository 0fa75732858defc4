// RUN: weft-opt %s -p 'attach-tuned-schedules{records="%inputs/tuned.jsonl"}' | filecheck %s
// RUN: weft-opt %s -p 'attach-tuned-schedules{records="%inputs/tuned.jsonl" target="llvm there"}' --remarks 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: weft-opt %s -p 'attach-tuned-schedules{records="%inputs/tuned.jsonl" threads=4}' --remarks 2>&1 | filecheck %s --check-prefix=THREADS
// RUN: weft-opt %s -p 'attach-tuned-schedules{records="%inputs/tuned.jsonl"},apply-schedule' | filecheck %s --check-prefix=APPLIED

// The fastest of those that gave the right result, whatever the function is called, beside each that it is for.
// CHECK-LABEL: tir.prim_func @called_otherwise
// CHECK: schedule.sequence @called_otherwise_tuned on @called_otherwise attributes {weft.tuned = "{{.*}}tuned.jsonl"} {
// CHECK: schedule.split {{.*}}, [?, 16] -> 2
// CHECK-NEXT: schedule.vectorize

// APPLIED: tir.for vectorized {{.*}} = 0 to 16
// APPLIED-NOT: schedule.

// TARGET: remark: [attach-tuned-schedules] missed: 'builtin.module': no record of {{.*}}tuned.jsonl is for llvm there
// TARGET: hint: they are for llvm here
// TARGET-NOT: _tuned

// THREADS: no record of {{.*}}tuned.jsonl is for as many threads: 4
// THREADS: hint: they are for 1
// THREADS-NOT: _tuned
tir.prim_func @called_otherwise(%a: memref<16x32xf32>, %y: memref<16x32xf32>) {
  tir.for %i = 0 to 16 {
    tir.for %j = 0 to 32 {
      tir.block @scale(%vi: spatial 16, %vj: spatial 32) = [%i, %j]
          reads(%a[%vi, %vj] : memref<16x32xf32>) writes(%y[%vi, %vj] : memref<16x32xf32>) {
        %0 = memref.load %a[%vi, %vj] : memref<16x32xf32>
        %1 = arith.addf %0, %0 : f32
        memref.store %1, %y[%vi, %vj] : memref<16x32xf32>
      }
    }
  }
}

// A function that computes something else has no record.
// CHECK-LABEL: tir.prim_func @other
// CHECK-NOT: on @other
tir.prim_func @other(%a: memref<16x32xf32>, %y: memref<16x32xf32>) {
  tir.for %i = 0 to 16 {
    tir.for %j = 0 to 32 {
      tir.block @scale(%vi: spatial 16, %vj: spatial 32) = [%i, %j]
          reads(%a[%vi, %vj] : memref<16x32xf32>) writes(%y[%vi, %vj] : memref<16x32xf32>) {
        %0 = memref.load %a[%vi, %vj] : memref<16x32xf32>
        %1 = arith.mulf %0, %0 : f32
        memref.store %1, %y[%vi, %vj] : memref<16x32xf32>
      }
    }
  }
}

// One that a schedule stands beside already is left to that.
// CHECK-LABEL: tir.prim_func @by_hand
// CHECK: schedule.sequence @mine on @by_hand {
// CHECK-NOT: schedule.sequence
tir.prim_func @by_hand(%a: memref<16x32xf32>, %y: memref<16x32xf32>) {
  tir.for %i = 0 to 16 {
    tir.for %j = 0 to 32 {
      tir.block @scale(%vi: spatial 16, %vj: spatial 32) = [%i, %j]
          reads(%a[%vi, %vj] : memref<16x32xf32>) writes(%y[%vi, %vj] : memref<16x32xf32>) {
        %0 = memref.load %a[%vi, %vj] : memref<16x32xf32>
        %1 = arith.addf %0, %0 : f32
        memref.store %1, %y[%vi, %vj] : memref<16x32xf32>
      }
    }
  }
}
schedule.sequence @mine on @by_hand {
  %b = schedule.get_block @scale
}
