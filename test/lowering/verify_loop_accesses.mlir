// RUN: weft-opt %s -p verify-loop-accesses --verify-diagnostics --split-input-file

func.func @a_loop_that_ends_with_the_buffer(%x: memref<8xf32>, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %0 = memref.load %x[%i] : memref<8xf32>
    memref.store %0, %y[%i] : memref<8xf32>
  }
  func.return
}

// -----

func.func @a_loop_that_goes_on_behind_it(%x: memref<8xf32>, %y: memref<9xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    // expected-error @+1 {{index 8 of dimension 0 of %x, whose extent is 8, lies outside, in iteration %i = 8}}
    %0 = memref.load %x[%i] : memref<8xf32>
    memref.store %0, %y[%i] : memref<9xf32>
  }
  func.return
}

// -----

func.func @a_vector_that_ends_behind_it(%x: memref<30xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %v = arith.constant dense<0.0> : vector<8xf32>
  scf.for %i = %c0 to %c32 step %c8 {
    // expected-error @+1 {{indices 24 to 31 of dimension 0 of %x, whose extent is 30, lie outside, in iteration %i = 3}}
    vector.store %v, %x[%i] : memref<30xf32>, vector<8xf32>
  }
  func.return
}

// -----

func.func @lanes_that_a_mask_leaves_out(%x: memref<30xf32>, %y: memref<30xf32>) {
  %c24 = arith.constant 24 : index
  %v = arith.constant dense<0.0> : vector<8xf32>
  %m = arith.constant dense<[true, true, true, true, true, true, false, false]> : vector<8xi1>
  vector.maskedstore %x[%c24], %m, %v : memref<30xf32>, vector<8xi1>, vector<8xf32>
  func.return
}

// -----

func.func @what_a_branch_leaves_out(%x: memref<8xf32>, %y: memref<9xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    %inside = arith.cmpi slt, %i, %c8 : index
    scf.if %inside {
      %0 = memref.load %x[%i] : memref<8xf32>
      memref.store %0, %y[%i] : memref<9xf32>
    } else {
      // expected-error @+1 {{index 8 of dimension 0 of %x, whose extent is 8, lies outside}}
      %1 = memref.load %x[%i] : memref<8xf32>
    }
  }
  func.return
}

// -----

func.func private @shares(%x: memref<8xf32>, %first: index, %last: index) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %first to %last step %c1 {
    // expected-error @+1 {{index 8 of dimension 0 of %x, whose extent is 8, lies outside, in iteration %i = 8}}
    memref.store %zero, %x[%i] : memref<8xf32>
  }
  func.return
}
func.func @a_loop_that_threads_share(%x: memref<8xf32>, %slots: !rt.slots<1>, %num_threads: index) {
  %c9 = arith.constant 9 : index
  rt.share %slots[0] for %first to %last of %c9 threads %num_threads {
    func.call @shares(%x, %first, %last) : (memref<8xf32>, index, index) -> ()
  } : !rt.slots<1>
  func.return
}

// -----

func.func @a_place_that_data_says_and_a_loop_of_unknown_length(%x: memref<8xf32>, %at: memref<8xi64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %a = memref.load %at[%c0] : memref<8xi64>
  %i = arith.index_cast %a : i64 to index
  %0 = memref.load %x[%i] : memref<8xf32>
  scf.for %j = %c0 to %n step %c1 {
    memref.store %0, %x[%c9] : memref<8xf32>
  }
  func.return
}

// -----

func.func @a_loop_without_iterations(%x: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0.0 : f32
  scf.for %j = %c0 to %c0 step %c1 {
    memref.store %zero, %x[%c9] : memref<8xf32>
  }
  func.return
}

// -----

func.func @a_branch_where_one_of_two_holds(%x: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  scf.for %i = %c0 to %c12 step %c1 {
    %first = arith.cmpi slt, %i, %c2 : index
    %last = arith.cmpi sge, %i, %c8 : index
    %either = arith.ori %first, %last : i1
    scf.if %either {
      // expected-error @+1 {{index 8 of dimension 0 of %x, whose extent is 8, lies outside, in iteration %i = 8}}
      %0 = memref.load %x[%i] : memref<8xf32>
    } else {
      %1 = memref.load %x[%i] : memref<8xf32>
    }
  }
  func.return
}

// -----

func.func @a_branch_everywhere_but_at_one_place(%x: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    %inside = arith.cmpi ne, %i, %c8 : index
    scf.if %inside {
      %0 = memref.load %x[%i] : memref<8xf32>
    }
    %late = arith.cmpi ne, %i, %c0 : index
    scf.if %late {
      // expected-error @+1 {{index 8 of dimension 0 of %x, whose extent is 8, lies outside, in iteration %i = 8}}
      %1 = memref.load %x[%i] : memref<8xf32>
    }
  }
  func.return
}

// -----

func.func @a_branch_on_data_as_well(%x: memref<8xf32>, %on: memref<9xi1>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    %last = arith.cmpi eq, %i, %c8 : index
    %says = memref.load %on[%i] : memref<9xi1>
    %both = arith.andi %last, %says : i1
    scf.if %both {
      %0 = memref.load %x[%i] : memref<8xf32>
    }
  }
  func.return
}
