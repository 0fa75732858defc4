// RUN: weft-opt %s -p expand-math --split-input-file | filecheck %s

// The reduction rounds with a large number; nothing is called.
// CHECK-LABEL: func.func @exp
// CHECK: %[[SCALED:.*]] = arith.mulf %{{.*}}, %{{.*}} fastmath<contract> : f32
// CHECK-NEXT: %{{.*}} = arith.constant 0x4B400000 : f32
// CHECK-NEXT: %[[ROUNDED:.*]] = arith.addf %[[SCALED]], %{{.*}} : f32
// CHECK: arith.bitcast %[[ROUNDED]] : f32 to i32
// CHECK-NOT: math.
// CHECK: func.return
func.func @exp(%x: f32) -> f32 {
  %y = math.exp %x : f32
  func.return %y : f32
}

// -----

// CHECK-LABEL: func.func @vectors_are_expanded_whole
// CHECK: math.absf %x : vector<16xf32>
// CHECK: arith.cmpf ogt, %{{.*}}, %{{.*}} : vector<16xf32>
// CHECK-NEXT: arith.select %{{.*}}, %{{.*}}, %{{.*}} : vector<16xi1>, vector<16xf32>
// CHECK: math.copysign
// CHECK-NOT: math.tanh
// CHECK: func.return
func.func @vectors_are_expanded_whole(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.tanh %x : vector<16xf32>
  func.return %y : vector<16xf32>
}

// -----

// CHECK-LABEL: func.func @rare_functions_go_through_f64
// CHECK: %[[WIDE:.*]] = arith.extf %x : f32 to f64
// CHECK-NOT: math.sin
// CHECK: %y = arith.truncf %{{.*}} : f64 to f32
func.func @rare_functions_go_through_f64(%x: f32) -> f32 {
  %y = math.sin %x : f32
  func.return %y : f32
}

// -----

// CHECK-LABEL: func.func @short_floats_go_through_f32
// CHECK: arith.extf %x : bf16 to f32
// CHECK-NOT: f64
// CHECK: %y = arith.truncf %{{.*}} : f32 to bf16
func.func @short_floats_go_through_f32(%x: bf16) -> bf16 {
  %y = math.log %x : bf16
  func.return %y : bf16
}

// -----

// What LLVM has as an instruction stays, and so does what has no expansion.
// CHECK-LABEL: func.func @some_functions_stay
// CHECK-NEXT: math.sqrt
// CHECK-NEXT: math.floor
// CHECK-NEXT: math.erf %{{.*}} : f64
// CHECK-NEXT: func.return
func.func @some_functions_stay(%x: f64) -> f64 {
  %a = math.sqrt %x : f64
  %b = math.floor %a : f64
  %c = math.erf %b : f64
  func.return %c : f64
}

// -----

// CHECK-LABEL: func.func @integer_powers_are_loops
// CHECK: %[[LOOP:.*]], %{{.*}}, %{{.*}} = scf.for
// CHECK: scf.yield
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[LOOP]] : i32
func.func @integer_powers_are_loops(%x: i32, %n: i32) -> i32 {
  %y = math.ipowi %x, %n : i32
  func.return %y : i32
}

// -----

// Between bounds nothing overflows, nor becomes denormal where it is read: one scale does.
// CHECK-LABEL: func.func @an_exponential_between_bounds
// CHECK: arith.shli
// CHECK-NOT: arith.shrsi
// CHECK: func.return
func.func @an_exponential_between_bounds(%x: vector<16xf32>) -> vector<16xf32> {
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %least = arith.constant dense<-87.3> : vector<16xf32>
  %above = arith.cmpf ogt, %x, %zero : vector<16xf32>
  %power = arith.select %above, %zero, %x : vector<16xi1>, vector<16xf32>
  %below = arith.cmpf olt, %power, %least : vector<16xf32>
  %y = math.exp %power : vector<16xf32>
  %weight = arith.select %below, %zero, %y : vector<16xi1>, vector<16xf32>
  func.return %weight : vector<16xf32>
}

// -----

// Bounds that are said of each element of a vector, and on both sides.
// CHECK-LABEL: func.func @an_exponential_of_what_two_bounds_leave
// CHECK: arith.shli
// CHECK-NOT: arith.shrsi
// CHECK: func.return
func.func @an_exponential_of_what_two_bounds_leave(%x: vector<16xf32>) -> vector<16xf32> {
  %87 = arith.constant 87.0 : f32
  %m87 = arith.constant -87.0 : f32
  %most = vector.broadcast %87 : f32 to vector<16xf32>
  %also = vector.broadcast %87 : f32 to vector<16xf32>
  %least = vector.broadcast %m87 : f32 to vector<16xf32>
  %above = arith.cmpf ogt, %x, %most : vector<16xf32>
  %lowered = arith.select %above, %also, %x : vector<16xi1>, vector<16xf32>
  %below = arith.cmpf olt, %lowered, %least : vector<16xf32>
  %power = arith.select %below, %least, %lowered : vector<16xi1>, vector<16xf32>
  %y = math.exp %power : vector<16xf32>
  func.return %y : vector<16xf32>
}

// -----

// CHECK-LABEL: func.func @an_exponential_of_what_is_raised_too_little
// CHECK: arith.shrsi
func.func @an_exponential_of_what_is_raised_too_little(%x: f32) -> f32 {
  %most = arith.constant 87.0 : f32
  %least = arith.constant -88.0 : f32
  %above = arith.cmpf ogt, %x, %most : f32
  %lowered = arith.select %above, %most, %x : f32
  %below = arith.cmpf olt, %lowered, %least : f32
  %power = arith.select %below, %least, %lowered : f32
  %y = math.exp %power : f32
  func.return %y : f32
}

// -----

// CHECK-LABEL: func.func @an_exponential_that_is_read_outside_of_them_too
// CHECK: arith.shrsi
func.func @an_exponential_that_is_read_outside_of_them_too(%x: f32) -> (f32, f32) {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant -87.3 : f32
  %above = arith.cmpf ogt, %x, %zero : f32
  %power = arith.select %above, %zero, %x : f32
  %below = arith.cmpf olt, %power, %least : f32
  %y = math.exp %power : f32
  %weight = arith.select %below, %zero, %y : f32
  func.return %weight, %y : f32, f32
}

// -----

// CHECK-LABEL: func.func @an_exponential_that_may_be_too_small
// CHECK: arith.shrsi
func.func @an_exponential_that_may_be_too_small(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant -100.0 : f32
  %above = arith.cmpf ogt, %x, %zero : f32
  %power = arith.select %above, %zero, %x : f32
  %below = arith.cmpf olt, %power, %least : f32
  %y = math.exp %power : f32
  %weight = arith.select %below, %zero, %y : f32
  func.return %weight : f32
}

// -----

// A vector takes fewer steps where no lane is special: no scale is divided in two there.
// CHECK-LABEL: func.func @an_exponential_of_a_vector
// CHECK: %[[SIZE:.*]] = math.absf %x : vector<16xf32>
// CHECK: %[[SMALL:.*]] = arith.cmpf olt, %[[SIZE]], %{{.*}} : vector<16xf32>
// CHECK: %[[ALL:.*]] = vector.reduction <and>, %[[SMALL]] : vector<16xi1> into i1
// CHECK-NEXT: %y = scf.if %[[ALL]]
// CHECK-NOT: arith.shrsi
// CHECK: } else {
// CHECK: arith.shrsi
// CHECK: func.return
func.func @an_exponential_of_a_vector(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp %x : vector<16xf32>
  func.return %y : vector<16xf32>
}

// -----

// CHECK-LABEL: func.func @a_sine_of_a_scalar_does_not_branch
// CHECK-NOT: scf.if
// CHECK: func.return
func.func @a_sine_of_a_scalar_does_not_branch(%x: f32) -> f32 {
  %y = math.sin %x : f32
  func.return %y : f32
}

// -----

// The call is for large quotients and what is not finite.
// CHECK-LABEL: func.func @a_remainder
// CHECK: arith.divf %x, %y
// CHECK: scf.if
// CHECK: math.copysign
// CHECK: } else {
// CHECK: arith.remf %x, %y : f32
// CHECK: func.return
func.func @a_remainder(%x: f32, %y: f32) -> f32 {
  %z = arith.remf %x, %y : f32
  func.return %z : f32
}

// -----

// CHECK-LABEL: func.func @tensors_stay
// CHECK-NEXT: math.ipowi %x, %x : tensor<8xi32>
// CHECK-NEXT: math.exp %y : tensor<8xf32>
func.func @tensors_stay(%x: tensor<8xi32>, %y: tensor<8xf32>) -> (tensor<8xi32>, tensor<8xf32>) {
  %0 = math.ipowi %x, %x : tensor<8xi32>
  %1 = math.exp %y : tensor<8xf32>
  func.return %0, %1 : tensor<8xi32>, tensor<8xf32>
}
