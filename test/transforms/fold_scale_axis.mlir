// RUN: weft-opt %s -O3 -p simplify-inference,fold-constant,fold-scale-axis | filecheck %s
// RUN: weft-opt %s -O2 -p simplify-inference,fold-constant,fold-scale-axis | filecheck %s --check-prefix=LEVEL2

// CHECK-LABEL: relay.func @batch_norm_after_a_convolution_leaves_one_addition
// CHECK-NEXT: relay.constant dense<[[{{\[\[}}2.000000e+00]], {{\[\[}}4.000000e+00]]], [{{\[\[}}9.000000e+00]], {{\[\[}}1.200000e+01]]]]>
// CHECK-NEXT: relay.nn.conv2d
// CHECK-NEXT: relay.constant dense<[{{\[\[}}-1.000000e+00]], {{\[\[}}-4.000000e+00]]]>
// CHECK-NEXT: relay.add
// CHECK-NEXT: relay.nn.relu
// CHECK-NEXT: relay.return
// LEVEL2-LABEL: relay.func @batch_norm_after_a_convolution_leaves_one_addition
// LEVEL2: relay.nn.conv2d
// LEVEL2: relay.multiply
// LEVEL2: relay.add
relay.func @batch_norm_after_a_convolution_leaves_one_addition(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = relay.constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]]> : tensor<2x2x1x1xf32>
  %g = relay.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %b = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %m = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %v = relay.constant dense<[1.0, 1.0]> : tensor<2xf32>
  %0 = relay.nn.conv2d %x, %w : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %t = relay.nn.batch_norm %0, %g, %b, %m, %v {epsilon = 0.0 : f64} : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tuple<tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>>
  %1 = relay.tuple_get %t[0] : tuple<tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>> -> tensor<1x2x4x4xf32>
  %2 = relay.nn.relu %1 : tensor<1x2x4x4xf32>
  relay.return %2 : tensor<1x2x4x4xf32>
}

// CHECK-LABEL: relay.func @batch_norm_before_a_convolution_leaves_one_addition
// CHECK-NEXT: relay.constant dense<[{{\[\[}}-5.000000e-01]], {{\[\[}}-1.333{{[0-9]+}}]]]>
// CHECK-NEXT: relay.add %x
// CHECK-NEXT: relay.nn.relu
// CHECK-NEXT: relay.constant dense<[[{{\[\[}}2.000000e+00]], {{\[\[}}6.000000e+00]]], [{{\[\[}}6.000000e+00]], {{\[\[}}1.200000e+01]]]]>
// CHECK-NEXT: relay.nn.conv2d
relay.func @batch_norm_before_a_convolution_leaves_one_addition(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = relay.constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]]> : tensor<2x2x1x1xf32>
  %g = relay.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %b = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %m = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %v = relay.constant dense<[1.0, 1.0]> : tensor<2xf32>
  %t = relay.nn.batch_norm %x, %g, %b, %m, %v {epsilon = 0.0 : f64} : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tuple<tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>>
  %1 = relay.tuple_get %t[0] : tuple<tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>> -> tensor<1x2x4x4xf32>
  %2 = relay.nn.relu %1 : tensor<1x2x4x4xf32>
  %3 = relay.nn.conv2d %2, %w : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  relay.return %3 : tensor<1x2x4x4xf32>
}

// As Caffe's models have it: a normalisation, and a scale and an offset of their own.
// CHECK-LABEL: relay.func @scale_after_batch_norm_disappears_too
// CHECK-NOT: relay.multiply
// CHECK: relay.nn.conv2d
// CHECK-NOT: relay.multiply
// CHECK: relay.return
relay.func @scale_after_batch_norm_disappears_too(%x: tensor<1x2x4x4xf32>, %y: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = relay.constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]]> : tensor<2x2x1x1xf32>
  %g = relay.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %b = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %m = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %v = relay.constant dense<[1.0, 1.0]> : tensor<2xf32>
  %s = relay.constant dense<[[[2.0]], [[4.0]]]> : tensor<2x1x1xf32>
  %0 = relay.nn.conv2d %x, %w : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %t = relay.nn.batch_norm %0, %g, %b, %m, %v : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tuple<tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>>
  %1 = relay.tuple_get %t[0] : tuple<tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>> -> tensor<1x2x4x4xf32>
  %2 = relay.multiply %1, %s : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %3 = relay.add %2, %s : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %4 = relay.nn.relu %3 : tensor<1x2x4x4xf32>
  relay.return %4 : tensor<1x2x4x4xf32>
}

// And before a convolution, behind a concatenation, which takes no factors: they go down into the next weights.
// CHECK-LABEL: relay.func @scale_after_batch_norm_of_joined_channels_disappears_too
// CHECK: relay.concatenate
// CHECK-NOT: relay.multiply
// CHECK: relay.return
relay.func @scale_after_batch_norm_of_joined_channels_disappears_too(%x: tensor<1x1x4x4xf32>, %y: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = relay.constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]]> : tensor<2x2x1x1xf32>
  %g = relay.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %v = relay.constant dense<[1.0, 1.0]> : tensor<2xf32>
  %s = relay.constant dense<[[[2.0]], [[4.0]]]> : tensor<2x1x1xf32>
  %p = relay.tuple(%x, %y) : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> tuple<tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>>
  %0 = relay.concatenate %p {axis = 1 : i64} : (tuple<tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>>) -> tensor<1x2x4x4xf32>
  %t = relay.nn.batch_norm %0, %g, %g, %g, %v : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tuple<tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>>
  %1 = relay.tuple_get %t[0] : tuple<tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>> -> tensor<1x2x4x4xf32>
  %2 = relay.multiply %1, %s : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %3 = relay.add %2, %s : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %4 = relay.nn.relu %3 : tensor<1x2x4x4xf32>
  %5 = relay.nn.conv2d %4, %w : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  relay.return %5 : tensor<1x2x4x4xf32>
}
