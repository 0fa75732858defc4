// RUN: weft-opt %s | filecheck %s
// RUN: weft-opt %s | weft-opt - | filecheck %s
// RUN: weft-opt %s --print-op-generic | weft-opt - | filecheck %s

// CHECK-LABEL: schedule.sequence @all on @f {
// CHECK-NEXT:    %b = schedule.get_block @dense
// CHECK-NEXT:    %c = schedule.get_block @relu in @f {number = 1}
// CHECK-NEXT:    %i, %j, %k = schedule.get_loops %b -> 3
// CHECK-NEXT:    %p = schedule.get_producers %c -> 1
// CHECK-NEXT:    %q = schedule.get_consumers %b -> 1
// CHECK-NEXT:    %r, %s = schedule.get_child_blocks %i -> 2
// CHECK-NEXT:    %m, %n = schedule.sample_perfect_tile %i {max_innermost = 16, decision = [4, 8]} -> 2
// CHECK-NEXT:    %o = schedule.sample_categorical {candidates = [16, 64], probs = [5.000000e-01 : f64, 5.000000e-01 : f64]}
// CHECK-NEXT:    %t = schedule.sample_compute_location %b {decision = -2}
// CHECK-NEXT:    schedule.enter_postproc
// CHECK-NEXT:    %io, %im, %ii = schedule.split %i, [?, %m, 4] -> 3
// CHECK-NEXT:    %f = schedule.fuse %io, %im
// CHECK-NEXT:    %g = schedule.merge %f, %j
// CHECK-NEXT:    schedule.reorder %k, %j
// CHECK-NEXT:    schedule.parallel %f
// CHECK-NEXT:    schedule.bind %j, "threadIdx.x"
// CHECK-NEXT:    %u = schedule.add_unit_loop %b
// CHECK-NEXT:    %v = schedule.cache_read %b, %c {index = 0, scope = "local"}
// CHECK-NEXT:    schedule.set_scope %b, "local" {index = 0}
// CHECK-NEXT:    schedule.unsafe_set_dtype %b, f16 {index = 0}
// CHECK-NEXT:    schedule.annotate %j {key = "pragma", value = [1, "a", true]}
// CHECK-NEXT:    schedule.transform_layout %b {buffer = "write", index = 0, map = affine_map<(d0, d1) -> (d1, d0)>}
schedule.sequence @all on @f {
  %b = schedule.get_block @dense
  %c = schedule.get_block @relu in @f {number = 1}
  %i, %j, %k = schedule.get_loops %b -> 3
  %p = schedule.get_producers %c -> 1
  %q = schedule.get_consumers %b -> 1
  %r, %s = schedule.get_child_blocks %i -> 2
  %m, %n = schedule.sample_perfect_tile %i {max_innermost = 16, decision = [4, 8]} -> 2
  %o = schedule.sample_categorical {candidates = [16, 64], probs = [0.5, 0.5]}
  %t = schedule.sample_compute_location %b {decision = -2}
  schedule.enter_postproc
  %io, %im, %ii = schedule.split %i, [?, %m, 4] -> 3
  %f = schedule.fuse %io, %im
  %g = schedule.merge %f, %j
  schedule.reorder %k, %j
  schedule.parallel %f
  schedule.bind %j, "threadIdx.x"
  %u = schedule.add_unit_loop %b
  %v = schedule.cache_read %b, %c {index = 0, scope = "local"}
  schedule.set_scope %b, "local" {index = 0}
  schedule.unsafe_set_dtype %b, f16 {index = 0}
  schedule.annotate %j {key = "pragma", value = [1, "a", true]}
  schedule.transform_layout %b {buffer = "write", index = 0, map = affine_map<(i, j) -> (j, i)>}
}
