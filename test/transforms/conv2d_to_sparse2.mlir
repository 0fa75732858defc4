// RUN: weft-opt %s -O4 -p "conv2d-to-sparse2{layout=NHWC kernel-size=1 block=2,1 sparsity-threshold=0.5}" --remarks 2>&1 | filecheck %s

// CHECK: remark: {{.*}}too few of its blocks are zeros (3 are not)
// CHECK: remark: {{.*}}its weight is no constant
// CHECK: remark: {{.*}}it computes with f16, f32, and not with floats of one type

// CHECK-LABEL: relay.func @a_weight_of_zeros_is_sparse
// CHECK: %0 = relay.constant dense<{{\[\[\[}}5.000000e+00], [7.000000e+00]]]> : tensor<1x2x1xf32>
// CHECK-NEXT: %1 = relay.constant dense<2> : tensor<1xi32>
// CHECK-NEXT: %2 = relay.constant dense<[0, 0, 1]> : tensor<3xi32>
// CHECK-NEXT: relay.nn.sparse_conv2d %x, %0, %1, %2
relay.func @a_weight_of_zeros_is_sparse(%x: tensor<1x5x5x3xf32>) -> tensor<1x5x5x4xf32> {
  %w = relay.constant dense<[[[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 5.0, 7.0]]]]> : tensor<1x1x3x4xf32>
  %0 = relay.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x5x3xf32>, tensor<1x1x3x4xf32>) -> tensor<1x5x5x4xf32>
  relay.return %0 : tensor<1x5x5x4xf32>
}

// CHECK-LABEL: relay.func @a_weight_of_other_numbers_stays
// CHECK: relay.nn.conv2d
relay.func @a_weight_of_other_numbers_stays(%x: tensor<1x5x5x3xf32>) -> tensor<1x5x5x2xf32> {
  %w = relay.constant dense<1.0> : tensor<1x1x3x2xf32>
  %0 = relay.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x5x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x5x5x2xf32>
  relay.return %0 : tensor<1x5x5x2xf32>
}

// CHECK-LABEL: relay.func @a_weight_that_is_given_stays
// CHECK: relay.nn.conv2d
relay.func @a_weight_that_is_given_stays(%x: tensor<1x5x5x3xf32>, %w: tensor<1x1x3x2xf32>) -> tensor<1x5x5x2xf32> {
  %0 = relay.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x5x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x5x5x2xf32>
  relay.return %0 : tensor<1x5x5x2xf32>
}

// CHECK-LABEL: relay.func @a_weight_whose_sums_are_wider_stays
// CHECK: relay.nn.conv2d
relay.func @a_weight_whose_sums_are_wider_stays(%x: tensor<1x5x5x3xf16>) -> tensor<1x5x5x2xf32> {
  %w = relay.constant dense<0.0> : tensor<1x1x3x2xf16>
  %0 = relay.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO", out_dtype = "float32"} : (tensor<1x5x5x3xf16>, tensor<1x1x3x2xf16>) -> tensor<1x5x5x2xf32>
  relay.return %0 : tensor<1x5x5x2xf32>
}
