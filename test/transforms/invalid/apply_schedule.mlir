// RUN: weft-opt %s -p apply-schedule --verify-diagnostics --split-input-file

tir.prim_func @copy(%x: memref<64xf32>, %y: memref<64xf32>) {
  tir.for %i = 0 to 64 {
    tir.block @copy(%v: spatial 64) = [%i] reads(%x[%v] : memref<64xf32>) writes(%y[%v] : memref<64xf32>) {
      %0 = memref.load %x[%v] : memref<64xf32>
      memref.store %0, %y[%v] : memref<64xf32>
    }
  }
}
schedule.sequence @a_block_that_is_not_there on @copy {
  // expected-error @+1 {{@copy has no block @kopy}}
  %b = schedule.get_block @kopy
}

// -----

tir.prim_func @copy(%x: memref<64xf32>, %y: memref<64xf32>) {
  tir.for %i = 0 to 64 {
    tir.block @copy(%v: spatial 64) = [%i] reads(%x[%v] : memref<64xf32>) writes(%y[%v] : memref<64xf32>) {
      %0 = memref.load %x[%v] : memref<64xf32>
      memref.store %0, %y[%v] : memref<64xf32>
    }
  }
}
schedule.sequence @a_stale_handle on @copy {
  %b = schedule.get_block @copy
  %i = schedule.get_loops %b -> 1
  %o, %l = schedule.split %i, [?, 16] -> 2
  // expected-error @+1 {{the handle %i is stale: schedule.split has made 2 loops of it}}
  schedule.unroll %i
}

// -----

tir.prim_func @copy(%x: memref<64xf32>, %y: memref<64xf32>) {
  tir.for %i = 0 to 64 {
    tir.block @copy(%v: spatial 64) = [%i] reads(%x[%v] : memref<64xf32>) writes(%y[%v] : memref<64xf32>) {
      %0 = memref.load %x[%v] : memref<64xf32>
      memref.store %0, %y[%v] : memref<64xf32>
    }
  }
}
schedule.sequence @more_loops_than_there_are on @copy {
  %b = schedule.get_block @copy
  // expected-error @+1 {{schedule.get_loops gives 1 handles here, not 2}}
  %i, %j = schedule.get_loops %b -> 2
}

// -----

// expected-error @+1 {{there is no function @kopy}}
schedule.sequence @a_function_that_is_not_there on @kopy {
}

// -----

tir.prim_func @copy(%x: memref<64xf32>, %y: memref<64xf32>) {
  tir.for %i = 0 to 64 {
    tir.block @copy(%v: spatial 64) = [%i] reads(%x[%v] : memref<64xf32>) writes(%y[%v] : memref<64xf32>) {
      %0 = memref.load %x[%v] : memref<64xf32>
      memref.store %0, %y[%v] : memref<64xf32>
    }
  }
}
schedule.sequence @a_decision_that_does_not_fit on @copy {
  %b = schedule.get_block @copy
  %i = schedule.get_loops %b -> 1
  // expected-error @+1 {{the decision [4, 8] does not divide its 64 iterations}}
  %m, %n = schedule.sample_perfect_tile %i {max_innermost = 16, decision = [4, 8]} -> 2
}
