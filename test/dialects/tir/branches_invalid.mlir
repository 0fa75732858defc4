// RUN: weft-opt %s --split-input-file --verify-diagnostics

// Conditions of branches are known where an access is made. One that is outside at a point where they hold is refused;
// where data has a say, one that is outside wherever it may be made.

tir.prim_func @a_branch_that_keeps_it_inside(%x: memref<16xf32>, %t: memref<4xf32>, %y: memref<16xf32>) {
  tir.for %i = 0 to 16 {
    tir.block @b(%v: spatial 16) = [%i] reads(%x[%v] : memref<16xf32>, %t[%v] : memref<4xf32>) writes(%y[%v] : memref<16xf32>) {
      %zero = arith.constant 0.0 : f32
      %a = memref.load %x[%v] : memref<16xf32>
      %c4 = arith.constant 4 : index
      %c = arith.cmpi slt, %v, %c4 : index
      %0 = scf.if %c -> (f32) {
        %1 = memref.load %t[%v] : memref<4xf32>
        scf.yield %1 : f32
      } else {
        scf.yield %zero : f32
      }
      %s = arith.addf %0, %a : f32
      memref.store %s, %y[%v] : memref<16xf32>
    }
  }
}

// -----

tir.prim_func @a_branch_without_a_sign(%x: memref<16xf32>, %t: memref<4xf32>, %y: memref<16xf32>) {
  tir.for %i = 0 to 16 {
    tir.block @b(%v: spatial 16) = [%i] reads(%x[%v] : memref<16xf32>, %t[%v] : memref<4xf32>) writes(%y[%v] : memref<16xf32>) {
      %zero = arith.constant 0.0 : f32
      %a = memref.load %x[%v] : memref<16xf32>
      %c4 = arith.constant 4 : index
      %c = arith.cmpi ult, %v, %c4 : index
      %0 = scf.if %c -> (f32) {
        %1 = memref.load %t[%v] : memref<4xf32>
        scf.yield %1 : f32
      } else {
        scf.yield %zero : f32
      }
      %s = arith.addf %0, %a : f32
      memref.store %s, %y[%v] : memref<16xf32>
    }
  }
}

// -----

tir.prim_func @a_branch_that_lets_one_through(%x: memref<16xf32>, %t: memref<4xf32>, %y: memref<16xf32>) {
  tir.for %i = 0 to 16 {
    tir.block @b(%v: spatial 16) = [%i] reads(%x[%v] : memref<16xf32>, %t[%v] : memref<4xf32>) writes(%y[%v] : memref<16xf32>) {
      %zero = arith.constant 0.0 : f32
      %a = memref.load %x[%v] : memref<16xf32>
      %c4 = arith.constant 4 : index
      %c = arith.cmpi sle, %v, %c4 : index
      %0 = scf.if %c -> (f32) {
        // expected-error @+1 {{block @b reads %t outside: index 4 in dimension 0 where %v = 4, of extent 4}}
        %1 = memref.load %t[%v] : memref<4xf32>
        scf.yield %1 : f32
      } else {
        scf.yield %zero : f32
      }
      %s = arith.addf %0, %a : f32
      memref.store %s, %y[%v] : memref<16xf32>
    }
  }
}

// -----

tir.prim_func @a_branch_on_something_else(%x: memref<16xf32>, %t: memref<4xf32>, %y: memref<16xf32>) {
  tir.for %i = 0 to 16 {
    tir.block @b(%v: spatial 16) = [%i] reads(%x[%v] : memref<16xf32>, %t[%v] : memref<4xf32>) writes(%y[%v] : memref<16xf32>) {
      %zero = arith.constant 0.0 : f32
      %a = memref.load %x[%v] : memref<16xf32>
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %r = arith.remui %v, %c2 : index
      %c = arith.cmpi eq, %r, %c0 : index
      %0 = scf.if %c -> (f32) {
        // expected-error @+1 {{block @b reads %t outside: index 4 in dimension 0 where %v = 4, of extent 4}}
        %1 = memref.load %t[%v] : memref<4xf32>
        scf.yield %1 : f32
      } else {
        scf.yield %zero : f32
      }
      %s = arith.addf %0, %a : f32
      memref.store %s, %y[%v] : memref<16xf32>
    }
  }
}

// -----

tir.prim_func @the_other_side_of_a_branch(%x: memref<16xf32>, %t: memref<4xf32>, %y: memref<16xf32>) {
  tir.for %i = 0 to 16 {
    tir.block @b(%v: spatial 16) = [%i] reads(%x[%v] : memref<16xf32>, %t[%v] : memref<4xf32>) writes(%y[%v] : memref<16xf32>) {
      %zero = arith.constant 0.0 : f32
      %a = memref.load %x[%v] : memref<16xf32>
      %c4 = arith.constant 4 : index
      %true = arith.constant true
      %d = arith.cmpi sge, %v, %c4 : index
      %c = arith.xori %d, %true : i1
      %0 = scf.if %c -> (f32) {
        %1 = memref.load %t[%v] : memref<4xf32>
        scf.yield %1 : f32
      } else {
        scf.yield %zero : f32
      }
      %s = arith.addf %0, %a : f32
      memref.store %s, %y[%v] : memref<16xf32>
    }
  }
}

// -----

tir.prim_func @one_of_two_conditions(%x: memref<16xf32>, %t: memref<4xf32>, %y: memref<16xf32>) {
  tir.for %i = 0 to 16 {
    tir.block @b(%v: spatial 16) = [%i] reads(%x[%v] : memref<16xf32>, %t[%v] : memref<4xf32>) writes(%y[%v] : memref<16xf32>) {
      %zero = arith.constant 0.0 : f32
      %a = memref.load %x[%v] : memref<16xf32>
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %d = arith.cmpi slt, %v, %c2 : index
      %e = arith.cmpi eq, %v, %c3 : index
      %c = arith.ori %d, %e : i1
      %0 = scf.if %c -> (f32) {
        %1 = memref.load %t[%v] : memref<4xf32>
        scf.yield %1 : f32
      } else {
        scf.yield %zero : f32
      }
      %s = arith.addf %0, %a : f32
      memref.store %s, %y[%v] : memref<16xf32>
    }
  }
}

// -----

tir.prim_func @one_of_two_conditions_lets_one_through(%x: memref<16xf32>, %t: memref<4xf32>, %y: memref<16xf32>) {
  tir.for %i = 0 to 16 {
    tir.block @b(%v: spatial 16) = [%i] reads(%x[%v] : memref<16xf32>, %t[%v] : memref<4xf32>) writes(%y[%v] : memref<16xf32>) {
      %zero = arith.constant 0.0 : f32
      %a = memref.load %x[%v] : memref<16xf32>
      %c2 = arith.constant 2 : index
      %c7 = arith.constant 7 : index
      %d = arith.cmpi slt, %v, %c2 : index
      %e = arith.cmpi eq, %v, %c7 : index
      %c = arith.ori %d, %e : i1
      %0 = scf.if %c -> (f32) {
        // expected-error @+1 {{block @b reads %t outside: index 7 in dimension 0 where %v = 7, of extent 4}}
        %1 = memref.load %t[%v] : memref<4xf32>
        scf.yield %1 : f32
      } else {
        scf.yield %zero : f32
      }
      %s = arith.addf %0, %a : f32
      memref.store %s, %y[%v] : memref<16xf32>
    }
  }
}

// -----

tir.prim_func @integers_are_compared(%x: memref<16xf32>, %t: memref<4xf32>, %y: memref<16xf32>) {
  tir.for %i = 0 to 16 {
    tir.block @b(%v: spatial 16) = [%i] reads(%x[%v] : memref<16xf32>, %t[%v] : memref<4xf32>) writes(%y[%v] : memref<16xf32>) {
      %zero = arith.constant 0.0 : f32
      %a = memref.load %x[%v] : memref<16xf32>
      %n = arith.index_cast %v : index to i32
      %k4 = arith.constant 4 : i32
      %c = arith.cmpi sle, %n, %k4 : i32
      %0 = scf.if %c -> (f32) {
        // expected-error @+1 {{block @b reads %t outside: index 4 in dimension 0 where %v = 4, of extent 4}}
        %1 = memref.load %t[%v] : memref<4xf32>
        scf.yield %1 : f32
      } else {
        scf.yield %zero : f32
      }
      %s = arith.addf %0, %a : f32
      memref.store %s, %y[%v] : memref<16xf32>
    }
  }
}

// -----

// Left to --bounds-checks.
tir.prim_func @data_decides(%x: memref<16xf32>, %t: memref<4xf32>, %y: memref<16xf32>) {
  tir.for %i = 0 to 16 {
    tir.block @b(%v: spatial 16) = [%i] reads(%x[%v] : memref<16xf32>, %t[%v] : memref<4xf32>) writes(%y[%v] : memref<16xf32>) {
      %zero = arith.constant 0.0 : f32
      %a = memref.load %x[%v] : memref<16xf32>
      %c = arith.cmpf ogt, %a, %zero : f32
      %0 = scf.if %c -> (f32) {
        %1 = memref.load %t[%v] : memref<4xf32>
        scf.yield %1 : f32
      } else {
        scf.yield %zero : f32
      }
      %s = arith.addf %0, %a : f32
      memref.store %s, %y[%v] : memref<16xf32>
    }
  }
}

// -----

tir.prim_func @data_decides_besides(%x: memref<16xf32>, %t: memref<4xf32>, %y: memref<16xf32>) {
  tir.for %i = 0 to 16 {
    tir.block @b(%v: spatial 16) = [%i] reads(%x[%v] : memref<16xf32>, %t[%v] : memref<4xf32>) writes(%y[%v] : memref<16xf32>) {
      %zero = arith.constant 0.0 : f32
      %a = memref.load %x[%v] : memref<16xf32>
      %c4 = arith.constant 4 : index
      %d = arith.cmpf ogt, %a, %zero : f32
      %e = arith.cmpi slt, %v, %c4 : index
      %c = arith.andi %d, %e : i1
      %0 = scf.if %c -> (f32) {
        %1 = memref.load %t[%v] : memref<4xf32>
        scf.yield %1 : f32
      } else {
        scf.yield %zero : f32
      }
      %s = arith.addf %0, %a : f32
      memref.store %s, %y[%v] : memref<16xf32>
    }
  }
}

// -----

tir.prim_func @data_decides_on_what_is_never_inside(%x: memref<16xf32>, %t: memref<4xf32>, %y: memref<16xf32>) {
  tir.for %i = 0 to 16 {
    tir.block @b(%v: spatial 16) = [%i] reads(%x[%v] : memref<16xf32>, %t[%v] : memref<4xf32>) writes(%y[%v] : memref<16xf32>) {
      %zero = arith.constant 0.0 : f32
      %a = memref.load %x[%v] : memref<16xf32>
      %c4 = arith.constant 4 : index
      %d = arith.cmpf ogt, %a, %zero : f32
      %e = arith.cmpi sge, %v, %c4 : index
      %c = arith.andi %d, %e : i1
      %0 = scf.if %c -> (f32) {
        // expected-error @+1 {{block @b reads %t outside: index 4 in dimension 0 where %v = 4, of extent 4}}
        %1 = memref.load %t[%v] : memref<4xf32>
        scf.yield %1 : f32
      } else {
        scf.yield %zero : f32
      }
      %s = arith.addf %0, %a : f32
      memref.store %s, %y[%v] : memref<16xf32>
    }
  }
}

// -----

tir.prim_func @a_product_is_an_index(%x: memref<16xf32>, %t: memref<4xf32>, %y: memref<16xf32>) {
  tir.for %i = 0 to 16 {
    tir.block @b(%v: spatial 16) = [%i] reads(%x[%v] : memref<16xf32>, %t : memref<4xf32>) writes(%y[%v] : memref<16xf32>) {
      %zero = arith.constant 0.0 : f32
      %a = memref.load %x[%v] : memref<16xf32>
      %c2 = arith.constant 2 : index
      %p = arith.muli %v, %v : index
      %c = arith.cmpi sle, %v, %c2 : index
      %0 = scf.if %c -> (f32) {
        // expected-error @+1 {{block @b reads %t outside: index 4 in dimension 0 where %v = 2, of extent 4}}
        %1 = memref.load %t[%p] : memref<4xf32>
        scf.yield %1 : f32
      } else {
        scf.yield %zero : f32
      }
      %s = arith.addf %0, %a : f32
      memref.store %s, %y[%v] : memref<16xf32>
    }
  }
}

// -----

tir.prim_func @a_product_that_stays_inside(%x: memref<16xf32>, %t: memref<4xf32>, %y: memref<16xf32>) {
  tir.for %i = 0 to 16 {
    tir.block @b(%v: spatial 16) = [%i] reads(%x[%v] : memref<16xf32>, %t : memref<4xf32>) writes(%y[%v] : memref<16xf32>) {
      %zero = arith.constant 0.0 : f32
      %a = memref.load %x[%v] : memref<16xf32>
      %c2 = arith.constant 2 : index
      %p = arith.muli %v, %v : index
      %c = arith.cmpi slt, %v, %c2 : index
      %0 = scf.if %c -> (f32) {
        %1 = memref.load %t[%p] : memref<4xf32>
        scf.yield %1 : f32
      } else {
        scf.yield %zero : f32
      }
      %s = arith.addf %0, %a : f32
      memref.store %s, %y[%v] : memref<16xf32>
    }
  }
}

// -----

tir.prim_func @a_branch_gives_an_index(%t: memref<4xf32>, %y: memref<16xf32>) {
  tir.for %i = 0 to 16 {
    tir.block @b(%v: spatial 16) = [%i] reads(%t : memref<4xf32>) writes(%y[%v] : memref<16xf32>) {
      %c4 = arith.constant 4 : index
      %c5 = arith.constant 5 : index
      %e = arith.cmpi slt, %v, %c4 : index
      %p = scf.if %e -> (index) {
        scf.yield %v : index
      } else {
        %q = arith.subi %v, %c5 : index
        scf.yield %q : index
      }
      // expected-error @+1 {{block @b reads %t outside: index -1 in dimension 0 where %v = 4, of extent 4}}
      %0 = memref.load %t[%p] : memref<4xf32>
      memref.store %0, %y[%v] : memref<16xf32>
    }
  }
}

// -----

tir.prim_func @a_branch_gives_an_index_and_another_says_where(%t: memref<4xf32>, %y: memref<16xf32>) {
  tir.for %i = 0 to 16 {
    tir.block @b(%v: spatial 16) = [%i] reads(%t : memref<4xf32>) writes(%y[%v] : memref<16xf32>) {
      %zero = arith.constant 0.0 : f32
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %e = arith.cmpi slt, %v, %c4 : index
      %p = scf.if %e -> (index) {
        scf.yield %v : index
      } else {
        %q = arith.subi %v, %c8 : index
        scf.yield %q : index
      }
      %c = scf.if %e -> (i1) {
        scf.yield %e : i1
      } else {
        %f = arith.cmpi ult, %p, %c4 : index
        scf.yield %f : i1
      }
      %0 = scf.if %c -> (f32) {
        %1 = memref.load %t[%p] : memref<4xf32>
        scf.yield %1 : f32
      } else {
        scf.yield %zero : f32
      }
      memref.store %0, %y[%v] : memref<16xf32>
    }
  }
}

// -----

tir.prim_func @a_choice_is_an_index(%x: memref<16xf32>, %t: memref<4xf32>, %y: memref<16xf32>) {
  tir.for %i = 0 to 16 {
    tir.block @b(%v: spatial 16) = [%i] reads(%x[%v] : memref<16xf32>, %t : memref<4xf32>) writes(%y[%v] : memref<16xf32>) {
      %zero = arith.constant 0.0 : f32
      %a = memref.load %x[%v] : memref<16xf32>
      %c4 = arith.constant 4 : index
      %c = arith.constant true
      %e = arith.cmpi slt, %v, %c4 : index
      %p = arith.select %e, %v, %c4 : index
      %0 = scf.if %c -> (f32) {
        // expected-error @+1 {{block @b reads %t outside: index 4 in dimension 0 where %v = 4, of extent 4}}
        %1 = memref.load %t[%p] : memref<4xf32>
        scf.yield %1 : f32
      } else {
        scf.yield %zero : f32
      }
      %s = arith.addf %0, %a : f32
      memref.store %s, %y[%v] : memref<16xf32>
    }
  }
}

// -----

tir.prim_func @a_choice_that_stays_inside(%x: memref<16xf32>, %t: memref<4xf32>, %y: memref<16xf32>) {
  tir.for %i = 0 to 16 {
    tir.block @b(%v: spatial 16) = [%i] reads(%x[%v] : memref<16xf32>, %t : memref<4xf32>) writes(%y[%v] : memref<16xf32>) {
      %zero = arith.constant 0.0 : f32
      %a = memref.load %x[%v] : memref<16xf32>
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %c = arith.constant true
      %e = arith.cmpi slt, %v, %c4 : index
      %p = arith.select %e, %v, %c3 : index
      %0 = scf.if %c -> (f32) {
        %1 = memref.load %t[%p] : memref<4xf32>
        scf.yield %1 : f32
      } else {
        scf.yield %zero : f32
      }
      %s = arith.addf %0, %a : f32
      memref.store %s, %y[%v] : memref<16xf32>
    }
  }
}

// -----

tir.prim_func @a_product_is_compared(%x: memref<16xf32>, %t: memref<4xf32>, %y: memref<16xf32>) {
  tir.for %i = 0 to 16 {
    tir.block @b(%v: spatial 16) = [%i] reads(%x[%v] : memref<16xf32>, %t[%v] : memref<4xf32>) writes(%y[%v] : memref<16xf32>) {
      %zero = arith.constant 0.0 : f32
      %a = memref.load %x[%v] : memref<16xf32>
      %c17 = arith.constant 17 : index
      %p = arith.muli %v, %v : index
      %c = arith.cmpi slt, %p, %c17 : index
      %0 = scf.if %c -> (f32) {
        // expected-error @+1 {{block @b reads %t outside: index 4 in dimension 0 where %v = 4, of extent 4}}
        %1 = memref.load %t[%v] : memref<4xf32>
        scf.yield %1 : f32
      } else {
        scf.yield %zero : f32
      }
      %s = arith.addf %0, %a : f32
      memref.store %s, %y[%v] : memref<16xf32>
    }
  }
}

// -----

// What a choice does not take is read all the same: it guards nothing.
tir.prim_func @a_choice_between_values(%t: memref<4xf32>, %y: memref<16xf32>) {
  tir.for %i = 0 to 16 {
    tir.block @b(%v: spatial 16) = [%i] reads(%t[%v] : memref<4xf32>) writes(%y[%v] : memref<16xf32>) {
      %zero = arith.constant 0.0 : f32
      %c4 = arith.constant 4 : index
      %c = arith.cmpi slt, %v, %c4 : index
      // expected-error @+1 {{block @b reads %t outside: index 4 in dimension 0 where %v = 4, of extent 4}}
      %0 = memref.load %t[%v] : memref<4xf32>
      %1 = arith.select %c, %0, %zero : f32
      memref.store %1, %y[%v] : memref<16xf32>
    }
  }
}

// -----

// What follows an assertion is done even where it fails, and no code is made for an assumption.
tir.prim_func @an_assertion_guards_nothing(%t: memref<4xf32>, %y: memref<16xf32>) {
  tir.for %i = 0 to 16 {
    tir.block @b(%v: spatial 16) = [%i] reads(%t[%v] : memref<4xf32>) writes(%y[%v] : memref<16xf32>) {
      %c4 = arith.constant 4 : index
      %c = arith.cmpi slt, %v, %c4 : index
      tir.assert %c "there are only four"
      // expected-error @+1 {{block @b reads %t outside: index 4 in dimension 0 where %v = 4, of extent 4}}
      %0 = memref.load %t[%v] : memref<4xf32>
      memref.store %0, %y[%v] : memref<16xf32>
    }
  }
}

// -----

tir.prim_func @sizes_that_are_open(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) shapes(%x[%n], %y[%n + 2]) {
  tir.for %i = 0 to %n + 2 {
    tir.block @pad(%v: spatial %n + 2) = [%i] reads(%x[%v - 1] : memref<?xf32>) writes(%y[%v] : memref<?xf32>) {
      %zero = arith.constant 0.0 : f32
      %c1 = arith.constant 1 : index
      %0 = arith.subi %v, %c1 : index
      %from = arith.cmpi sge, %v, %c1 : index
      %to = arith.cmpi sle, %0, %n : index
      %c = arith.andi %from, %to : i1
      %1 = scf.if %c -> (f32) {
        // expected-error @+1 {{block @pad reads %x outside: index 1 in dimension 0 where %v = 2, of extent 1 (for %n = 1)}}
        %2 = memref.load %x[%0] : memref<?xf32>
        scf.yield %2 : f32
      } else {
        scf.yield %zero : f32
      }
      memref.store %1, %y[%v] : memref<?xf32>
    }
  }
}
