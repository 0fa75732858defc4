// RUN: weft-opt %s -p eta-expand{expand-global-var=true} | filecheck %s

relay.func private @scaled(%s: tensor<f32>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = relay.multiply %x, %s : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  relay.return %0 : tensor<2xf32>
}

// CHECK-LABEL: relay.func @a_function_taken_as_a_value
// CHECK: %f = relay.fn(%{{.*}}: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT: relay.call @scaled(%s, %{{.*}})
// CHECK-NEXT: relay.yield
// CHECK: relay.apply %f(%x)
relay.func @a_function_taken_as_a_value(%s: tensor<f32>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %f = relay.closure @scaled(%s) : (tensor<f32>) -> ((tensor<2xf32>) -> tensor<2xf32>)
  %0 = relay.apply %f(%x) : (tensor<2xf32>) -> tensor<2xf32>
  relay.return %0 : tensor<2xf32>
}

// CHECK-LABEL: relay.func @calls_stay
// CHECK-NEXT: relay.call @scaled
relay.func @calls_stay(%s: tensor<f32>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = relay.call @scaled(%s, %x) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  relay.return %0 : tensor<2xf32>
}
