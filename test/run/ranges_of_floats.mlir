// RUN: weft-run %s -O0 --compare interpreter | filecheck %s

// Machine code rounds the sum of a start and a multiple once: where both cancel, that differs from the interpreter's by
// more than a few units of what is left.

// CHECK-LABEL: out: tensor<20xf32>
// CHECK: equal to interpreter
relay.func @main() -> tensor<20xf32> {
  %a = relay.constant dense<-1.0> : tensor<f32>
  %b = relay.constant dense<1.0> : tensor<f32>
  %s = relay.constant dense<0.1> : tensor<f32>
  %y = relay.arange %a, %b, %s {dtype = "float32"} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<20xf32>
  relay.return %y : tensor<20xf32>
}
