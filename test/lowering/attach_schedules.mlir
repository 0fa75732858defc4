// RUN: weft-opt %s -p attach-schedules | filecheck %s
// RUN: weft-opt %s -p 'attach-schedules{target="c"},apply-schedule' | filecheck %s --check-prefix=APPLIED

// Rules come from users and packages; where there are none, schedules that stand there are all there is.

// CHECK-LABEL: tir.prim_func @no_rule_takes_it(
// CHECK-NOT:   schedule.sequence
// APPLIED-LABEL: tir.prim_func @no_rule_takes_it(
// APPLIED-NEXT:    tir.for %i = 0 to 8 {
tir.prim_func @no_rule_takes_it(%a: memref<8xf32>, %out: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block @exp(%vi: spatial 8) = [%i] reads(%a[%vi] : memref<8xf32>) writes(%out[%vi] : memref<8xf32>) {
      %0 = memref.load %a[%vi] : memref<8xf32>
      %1 = math.exp %0 : f32
      memref.store %1, %out[%vi] : memref<8xf32>
    }
  }
}

// CHECK-LABEL: tir.prim_func @has_one(
// CHECK:       schedule.sequence @mine on @has_one {
// APPLIED-LABEL: tir.prim_func @has_one(
// APPLIED-NEXT:    tir.for parallel %i = 0 to 8 {
tir.prim_func @has_one(%a: memref<8xf32>, %out: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block @exp(%vi: spatial 8) = [%i] reads(%a[%vi] : memref<8xf32>) writes(%out[%vi] : memref<8xf32>) {
      %0 = memref.load %a[%vi] : memref<8xf32>
      %1 = math.exp %0 : f32
      memref.store %1, %out[%vi] : memref<8xf32>
    }
  }
}
schedule.sequence @mine on @has_one {
  %b = schedule.get_block @exp
  %i = schedule.get_loops %b -> 1
  schedule.parallel %i
}
