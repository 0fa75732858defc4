// RUN: weft-opt %s --verify-diagnostics --split-input-file

// Calls of kernels that are not lowered yet: the kernel fits the call.

relay.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{the kernel has 1 buffers, not 1 and 1 more}}
  %y = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  relay.return %y : tensor<8xf32>
}
tir.prim_func @k(%x: memref<8xf32>) {
}

// -----

relay.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{the kernel's %y is memref<8xi32>, not tensor<8xf32>}}
  %y = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  relay.return %y : tensor<8xf32>
}
tir.prim_func @k(%x: memref<8xf32>, %y: memref<8xi32>) {
}

// -----

relay.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  relay.return %y : tensor<8xf32>
}
// expected-error @+1 {{nothing is written to %y, which its calls take as a result}}
tir.prim_func @k(%x: memref<8xf32>, %y: memref<8xf32>) {
}

// -----

relay.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  relay.return %y : tensor<8xf32>
}
tir.prim_func @k(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 4 {
    tir.block @half(%v: partial spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      // expected-error @+1 {{%y is written from 0 to 3 only in dimension 0, of extent 8}}
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}

// -----

relay.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  relay.return %y : tensor<8xf32>
}
tir.prim_func @k(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 5 {
    tir.block @some(%v: spatial 5) = [%i]
        reads(%x[%v * 2 - %v floordiv 4] : memref<8xf32>) writes(%y[%v * 2 - %v floordiv 4] : memref<8xf32>) {
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %a = arith.muli %v, %c2 : index
      %b = arith.floordivsi %v, %c4 : index
      %c = arith.subi %a, %b : index
      %0 = memref.load %x[%c] : memref<8xf32>
      // expected-error @+1 {{no more than 5 of the 8 elements of %y are written}}
      memref.store %0, %y[%c] : memref<8xf32>
    }
  }
}

// -----

relay.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  relay.return %y : tensor<8xf32>
}
tir.prim_func @k(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    // expected-error @+1 {{no element of %y is written: the conditions never hold}}
    tir.block @never(%v: spatial 8) = [%i] where [%i - 9]
        reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}

// -----

relay.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = relay.call_lowered @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  relay.return %y : tensor<8xf32>
}
tir.prim_func @k(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block @both(%v: spatial 8) = [%i]
        reads(%x[%v] : memref<8xf32>) writes(%x[%v] : memref<8xf32>, %y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      // expected-error @+1 {{block @both writes %x, which calls of the kernel give it}}
      memref.store %0, %x[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}

// -----

relay.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = relay.call_lowered @k(%x) {copies} : (tensor<8xf32>) -> tensor<8xf32>
  relay.return %y : tensor<8xf32>
}
tir.prim_func @k(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block @double(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      // expected-error @+1 {{said to do nothing but copy its inputs, one after the other, but computes}}
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %y[%v] : memref<8xf32>
    }
  }
}

// -----

relay.func @main(%x: tensor<2x4xf32>) -> tensor<4x2xf32> {
  %y = relay.call_lowered @k(%x) {copies} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  relay.return %y : tensor<4x2xf32>
}
tir.prim_func @k(%x: memref<2x4xf32>, %y: memref<4x2xf32>) {
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 2 {
      tir.block @transpose(%v: spatial 4, %w: spatial 2) = [%i, %j]
          reads(%x[%w, %v] : memref<2x4xf32>) writes(%y[%v, %w] : memref<4x2xf32>) {
        %0 = memref.load %x[%w, %v] : memref<2x4xf32>
        // expected-error @+1 {{but element 3 of what it copies becomes element 6}}
        memref.store %0, %y[%v, %w] : memref<4x2xf32>
      }
    }
  }
}

// -----

relay.func @main(%x: tensor<8xf32>) -> tensor<4xf32> {
  %y = relay.call_lowered @k(%x) {copies, start = 4 : i64} : (tensor<8xf32>) -> tensor<4xf32>
  relay.return %y : tensor<4xf32>
}
tir.prim_func @k(%x: memref<8xf32>, %y: memref<4xf32>) {
  tir.for %i = 0 to 4 {
    tir.block @slice(%v: spatial 4) = [%i] reads(%x[%v + 3] : memref<8xf32>) writes(%y[%v] : memref<4xf32>) {
      %c3 = arith.constant 3 : index
      %0 = arith.addi %v, %c3 : index
      %1 = memref.load %x[%0] : memref<8xf32>
      // expected-error @+1 {{but element -1 of what it copies becomes element 0}}
      memref.store %1, %y[%v] : memref<4xf32>
    }
  }
}
