// RUN: weft-opt %s --split-input-file --verify-diagnostics

// Which elements are touched, data says: what is not shown is refused, or asserted.

tir.prim_func @k(%i: memref<8xi64>, %x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for parallel %j = 0 to 8 {
    // expected-error @+1 {{it stands in a parallel loop: it is not shown that no two iterations of %j meet: perhaps block @move writes the same element of %y in several iterations of %j}}
    tir.block @move(%v: spatial 8) = [%j]
        reads(%i[%v] : memref<8xi64>, %x[%v] : memref<8xf32>) writes(%y : memref<8xf32>) {
      %0 = memref.load %i[%v] : memref<8xi64>
      %1 = arith.index_cast %0 : i64 to index
      %2 = memref.load %x[%v] : memref<8xf32>
      memref.store %2, %y[%1] : memref<8xf32>
    }
  }
}

// -----

tir.prim_func @asserted(%i: memref<8xi64>, %x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for parallel %j = 0 to 8 annotations {independent} {
    tir.block @move(%v: spatial 8) = [%j]
        reads(%i[%v] : memref<8xi64>, %x[%v] : memref<8xf32>) writes(%y : memref<8xf32>) {
      %0 = memref.load %i[%v] : memref<8xi64>
      %1 = arith.index_cast %0 : i64 to index
      %2 = memref.load %x[%v] : memref<8xf32>
      memref.store %2, %y[%1] : memref<8xf32>
    }
  }
}

// -----

// What is certainly wrong cannot be asserted away.

tir.prim_func @k(%x: memref<8xf32>, %y: memref<4xf32>) {
  tir.for parallel %j = 0 to 8 annotations {independent} {
    // expected-error @+1 {{it stands in a parallel loop, %j, whose iterations depend on each other}}
    tir.block @halve(%v: spatial 8) = [%j] reads(%x[%v] : memref<8xf32>) writes(%y[%v floordiv 2] : memref<4xf32>) {
      %c2 = arith.constant 2 : index
      %0 = arith.divui %v, %c2 : index
      %1 = memref.load %x[%v] : memref<8xf32>
      memref.store %1, %y[%0] : memref<4xf32>
    }
  }
}

// -----

// A vector is read where another block of the same loop has written.

tir.prim_func @k(%i: memref<8xi64>, %x: memref<8xf32>, %t: memref<8xf32>, %y: memref<8xf32>) {
  tir.for vectorized %j = 0 to 8 {
    // expected-error @+1 {{it stands in a vectorized loop: it is not shown that no two iterations of %j meet: perhaps block @first writes elements of %t that block @second touches in other iterations of %j}}
    tir.block @first(%v: spatial 8) = [%j] reads(%x[%v] : memref<8xf32>) writes(%t[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %t[%v] : memref<8xf32>
    }
    tir.block @second(%v: spatial 8) = [%j]
        reads(%i[%v] : memref<8xi64>, %t : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %i[%v] : memref<8xi64>
      %1 = arith.index_cast %0 : i64 to index
      %2 = memref.load %t[%1] : memref<8xf32>
      memref.store %2, %y[%v] : memref<8xf32>
    }
  }
}

// -----

// Written only where data says so.

relay.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  relay.return %y : tensor<8xf32>
}
tir.prim_func @k(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %j = 0 to 8 {
    tir.block @some(%v: spatial 8) = [%j] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %zero = arith.constant 0.0 : f32
      %0 = memref.load %x[%v] : memref<8xf32>
      %1 = arith.cmpf ogt, %0, %zero : f32
      scf.if %1 {
        // expected-error @+1 {{%y is written only where data says so: nothing shows that all of its elements are}}
        memref.store %0, %y[%v] : memref<8xf32>
      }
    }
  }
}

// -----

relay.func @both_branches(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  relay.return %y : tensor<8xf32>
}
tir.prim_func @k(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %j = 0 to 8 {
    tir.block @all(%v: spatial 8) = [%j] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %zero = arith.constant 0.0 : f32
      %one = arith.constant 1.0 : f32
      %0 = memref.load %x[%v] : memref<8xf32>
      %1 = arith.cmpf ogt, %0, %zero : f32
      scf.if %1 {
        memref.store %0, %y[%v] : memref<8xf32>
      } else {
        %2 = arith.cmpf ogt, %0, %one : f32
        scf.if %2 {
          memref.store %one, %y[%v] : memref<8xf32>
        } else {
          memref.store %zero, %y[%v] : memref<8xf32>
        }
      }
    }
  }
}

// -----

relay.func @filled_before(%i: tensor<8xi64>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %y = relay.call_lowered @k(%i, %x) : (tensor<8xi64>, tensor<8xf32>) -> tensor<8xf32>
  relay.return %y : tensor<8xf32>
}
tir.prim_func @k(%i: memref<8xi64>, %x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %j = 0 to 8 {
    tir.block @fill(%v: spatial 8) = [%j] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
  tir.for %j = 0 to 8 {
    tir.block @move(%v: spatial 8) = [%j]
        reads(%i[%v] : memref<8xi64>, %x[%v] : memref<8xf32>) writes(%y : memref<8xf32>) {
      %0 = memref.load %i[%v] : memref<8xi64>
      %1 = arith.index_cast %0 : i64 to index
      %2 = memref.load %x[%v] : memref<8xf32>
      memref.store %2, %y[%1] : memref<8xf32>
    }
  }
}

// -----

// One of the branches writes elsewhere.

relay.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  relay.return %y : tensor<8xf32>
}
tir.prim_func @k(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %j = 0 to 8 {
    tir.block @some(%v: spatial 8) = [%j] reads(%x[%v] : memref<8xf32>) writes(%y : memref<8xf32>) {
      %c7 = arith.constant 7 : index
      %zero = arith.constant 0.0 : f32
      %0 = memref.load %x[%v] : memref<8xf32>
      %1 = arith.cmpf ogt, %0, %zero : f32
      scf.if %1 {
        // expected-error @+1 {{%y is written only where data says so}}
        memref.store %0, %y[%v] : memref<8xf32>
      } else {
        %2 = arith.subi %c7, %v : index
        memref.store %0, %y[%2] : memref<8xf32>
      }
    }
  }
}

// -----

// A buffer of the function's own, written where data says so and read everywhere.

tir.prim_func @k(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = tir.alloc_buffer "global" : memref<8xf32>
  tir.for %j = 0 to 8 {
    tir.block @some(%v: spatial 8) = [%j] reads(%x[%v] : memref<8xf32>) writes(%t[%v] : memref<8xf32>) {
      %zero = arith.constant 0.0 : f32
      %0 = memref.load %x[%v] : memref<8xf32>
      %1 = arith.cmpf ogt, %0, %zero : f32
      scf.if %1 {
        memref.store %0, %t[%v] : memref<8xf32>
      }
    }
  }
  tir.for %j = 0 to 8 {
    tir.block @all(%v: spatial 8) = [%j] reads(%t[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      // expected-error @+1 {{block @all reads %t at any index, where nothing is written to it, unless data says so}}
      %0 = memref.load %t[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}

// -----

// An iterator bound to itself.

tir.prim_func @k(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    // expected-error @+1 {{which is not defined where it stands}}
    tir.block @a(%v: spatial 8) = [%v] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}
