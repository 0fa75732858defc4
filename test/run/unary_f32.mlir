// RUN: weft-run %s --function '*' --compare interpreter --quiet --input 'x=35xf32=[nan, inf, -inf, 0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 0.9999999, -0.9999999, 3.1415927, 100, -100, 1000.5, 88, 89, -87, -88, -104, 1e-3, -1e-3, 1e-10, 1e-38, 1e-42, -1e-42, 3e38, -3e38, 8388607.5, -16777216, 2147483648, 5e9]' | filecheck %s

// Functions of one f32 on special values: NaN, infinities, both zeros, denormals, ties, ends of the range.

// CHECK: @abs
// CHECK-NEXT: equal to interpreter
relay.func @abs(%x: tensor<35xf32>) -> tensor<35xf32> {
  %y = relay.abs %x : tensor<35xf32>
  relay.return %y : tensor<35xf32>
}

// CHECK: @acos
// CHECK-NEXT: equal to interpreter
relay.func @acos(%x: tensor<35xf32>) -> tensor<35xf32> {
  %y = relay.acos %x : tensor<35xf32>
  relay.return %y : tensor<35xf32>
}

// CHECK: @acosh
// CHECK-NEXT: equal to interpreter
relay.func @acosh(%x: tensor<35xf32>) -> tensor<35xf32> {
  %y = relay.acosh %x : tensor<35xf32>
  relay.return %y : tensor<35xf32>
}

// CHECK: @asin
// CHECK-NEXT: equal to interpreter
relay.func @asin(%x: tensor<35xf32>) -> tensor<35xf32> {
  %y = relay.asin %x : tensor<35xf32>
  relay.return %y : tensor<35xf32>
}

// CHECK: @asinh
// CHECK-NEXT: equal to interpreter
relay.func @asinh(%x: tensor<35xf32>) -> tensor<35xf32> {
  %y = relay.asinh %x : tensor<35xf32>
  relay.return %y : tensor<35xf32>
}

// CHECK: @atan
// CHECK-NEXT: equal to interpreter
relay.func @atan(%x: tensor<35xf32>) -> tensor<35xf32> {
  %y = relay.atan %x : tensor<35xf32>
  relay.return %y : tensor<35xf32>
}

// CHECK: @atanh
// CHECK-NEXT: equal to interpreter
relay.func @atanh(%x: tensor<35xf32>) -> tensor<35xf32> {
  %y = relay.atanh %x : tensor<35xf32>
  relay.return %y : tensor<35xf32>
}

// CHECK: @ceil
// CHECK-NEXT: equal to interpreter
relay.func @ceil(%x: tensor<35xf32>) -> tensor<35xf32> {
  %y = relay.ceil %x : tensor<35xf32>
  relay.return %y : tensor<35xf32>
}

// CHECK: @cos
// CHECK-NEXT: equal to interpreter
relay.func @cos(%x: tensor<35xf32>) -> tensor<35xf32> {
  %y = relay.cos %x : tensor<35xf32>
  relay.return %y : tensor<35xf32>
}

// CHECK: @cosh
// CHECK-NEXT: equal to interpreter
relay.func @cosh(%x: tensor<35xf32>) -> tensor<35xf32> {
  %y = relay.cosh %x : tensor<35xf32>
  relay.return %y : tensor<35xf32>
}

// CHECK: @erf
// CHECK-NEXT: equal to interpreter
relay.func @erf(%x: tensor<35xf32>) -> tensor<35xf32> {
  %y = relay.erf %x : tensor<35xf32>
  relay.return %y : tensor<35xf32>
}

// CHECK: @exp
// CHECK-NEXT: equal to interpreter
relay.func @exp(%x: tensor<35xf32>) -> tensor<35xf32> {
  %y = relay.exp %x : tensor<35xf32>
  relay.return %y : tensor<35xf32>
}

// CHECK: @floor
// CHECK-NEXT: equal to interpreter
relay.func @floor(%x: tensor<35xf32>) -> tensor<35xf32> {
  %y = relay.floor %x : tensor<35xf32>
  relay.return %y : tensor<35xf32>
}

// CHECK: @log
// CHECK-NEXT: equal to interpreter
relay.func @log(%x: tensor<35xf32>) -> tensor<35xf32> {
  %y = relay.log %x : tensor<35xf32>
  relay.return %y : tensor<35xf32>
}

// CHECK: @log10
// CHECK-NEXT: equal to interpreter
relay.func @log10(%x: tensor<35xf32>) -> tensor<35xf32> {
  %y = relay.log10 %x : tensor<35xf32>
  relay.return %y : tensor<35xf32>
}

// CHECK: @log2
// CHECK-NEXT: equal to interpreter
relay.func @log2(%x: tensor<35xf32>) -> tensor<35xf32> {
  %y = relay.log2 %x : tensor<35xf32>
  relay.return %y : tensor<35xf32>
}

// CHECK: @negative
// CHECK-NEXT: equal to interpreter
relay.func @negative(%x: tensor<35xf32>) -> tensor<35xf32> {
  %y = relay.negative %x : tensor<35xf32>
  relay.return %y : tensor<35xf32>
}

// CHECK: @round
// CHECK-NEXT: equal to interpreter
relay.func @round(%x: tensor<35xf32>) -> tensor<35xf32> {
  %y = relay.round %x : tensor<35xf32>
  relay.return %y : tensor<35xf32>
}

// CHECK: @rsqrt
// CHECK-NEXT: equal to interpreter
relay.func @rsqrt(%x: tensor<35xf32>) -> tensor<35xf32> {
  %y = relay.rsqrt %x : tensor<35xf32>
  relay.return %y : tensor<35xf32>
}

// CHECK: @sigmoid
// CHECK-NEXT: equal to interpreter
relay.func @sigmoid(%x: tensor<35xf32>) -> tensor<35xf32> {
  %y = relay.sigmoid %x : tensor<35xf32>
  relay.return %y : tensor<35xf32>
}

// CHECK: @sign
// CHECK-NEXT: equal to interpreter
relay.func @sign(%x: tensor<35xf32>) -> tensor<35xf32> {
  %y = relay.sign %x : tensor<35xf32>
  relay.return %y : tensor<35xf32>
}

// CHECK: @sin
// CHECK-NEXT: equal to interpreter
relay.func @sin(%x: tensor<35xf32>) -> tensor<35xf32> {
  %y = relay.sin %x : tensor<35xf32>
  relay.return %y : tensor<35xf32>
}

// CHECK: @sinh
// CHECK-NEXT: equal to interpreter
relay.func @sinh(%x: tensor<35xf32>) -> tensor<35xf32> {
  %y = relay.sinh %x : tensor<35xf32>
  relay.return %y : tensor<35xf32>
}

// CHECK: @sqrt
// CHECK-NEXT: equal to interpreter
relay.func @sqrt(%x: tensor<35xf32>) -> tensor<35xf32> {
  %y = relay.sqrt %x : tensor<35xf32>
  relay.return %y : tensor<35xf32>
}

// CHECK: @tan
// CHECK-NEXT: equal to interpreter
relay.func @tan(%x: tensor<35xf32>) -> tensor<35xf32> {
  %y = relay.tan %x : tensor<35xf32>
  relay.return %y : tensor<35xf32>
}

// CHECK: @tanh
// CHECK-NEXT: equal to interpreter
relay.func @tanh(%x: tensor<35xf32>) -> tensor<35xf32> {
  %y = relay.tanh %x : tensor<35xf32>
  relay.return %y : tensor<35xf32>
}

// CHECK: @trunc
// CHECK-NEXT: equal to interpreter
relay.func @trunc(%x: tensor<35xf32>) -> tensor<35xf32> {
  %y = relay.trunc %x : tensor<35xf32>
  relay.return %y : tensor<35xf32>
}

// CHECK: @nn_relu
// CHECK-NEXT: equal to interpreter
relay.func @nn_relu(%x: tensor<35xf32>) -> tensor<35xf32> {
  %y = relay.nn.relu %x : tensor<35xf32>
  relay.return %y : tensor<35xf32>
}

// CHECK: @isnan
// CHECK-NEXT: equal to interpreter
relay.func @isnan(%x: tensor<35xf32>) -> tensor<35xi1> {
  %y = relay.isnan %x : (tensor<35xf32>) -> tensor<35xi1>
  relay.return %y : tensor<35xi1>
}

// CHECK: @isinf
// CHECK-NEXT: equal to interpreter
relay.func @isinf(%x: tensor<35xf32>) -> tensor<35xi1> {
  %y = relay.isinf %x : (tensor<35xf32>) -> tensor<35xi1>
  relay.return %y : tensor<35xi1>
}

// CHECK: @isfinite
// CHECK-NEXT: equal to interpreter
relay.func @isfinite(%x: tensor<35xf32>) -> tensor<35xi1> {
  %y = relay.isfinite %x : (tensor<35xf32>) -> tensor<35xi1>
  relay.return %y : tensor<35xi1>
}

// CHECK: @clip
// CHECK-NEXT: equal to interpreter
relay.func @clip(%x: tensor<35xf32>) -> tensor<35xf32> {
  %y = relay.clip %x {a_min = -1.5 : f64, a_max = 6.0 : f64} : tensor<35xf32>
  relay.return %y : tensor<35xf32>
}

// CHECK: @leaky_relu
// CHECK-NEXT: equal to interpreter
relay.func @leaky_relu(%x: tensor<35xf32>) -> tensor<35xf32> {
  %y = relay.nn.leaky_relu %x {alpha = 0.1 : f64} : tensor<35xf32>
  relay.return %y : tensor<35xf32>
}
