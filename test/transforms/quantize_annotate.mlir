// RUN: weft-opt %s -p quantize-annotate | filecheck %s
// RUN: weft-opt %s -p 'quantize-annotate{global-scale=4.0 weight-scale="max" skip-conv-layers=0}' | filecheck %s --check-prefix=SKIP

// What two products read is quantised once, and so is a weight of two; the pool behind one reads bytes.
// CHECK-LABEL: relay.func @what_two_products_read_is_quantised_once
// CHECK:       %[[S:.*]] = relay.constant dense<6.250000e-02> : tensor<f32>
// CHECK:       %[[Q:.*]] = relay.qnn.quantize %x, %[[S]], {{.*}} {{{.*}}simulated
// CHECK-NEXT:  %[[D:.*]] = relay.qnn.dequantize %[[Q]], %[[S]]
// CHECK:       dense<{{.*}}96{{.*}}-32{{.*}}> : tensor<2x1x1x1xi8>
// CHECK:       dense<7.812500e-03> : tensor<f32>
// CHECK:       %[[W:.*]] = relay.qnn.dequantize
// CHECK:       relay.nn.conv2d %[[D]], %[[W]]
// CHECK-NEXT:    {{.*}} = relay.nn.conv2d %[[D]], %[[W]]
// CHECK:       %[[P:.*]] = relay.qnn.dequantize
// CHECK:       relay.nn.max_pool2d %[[P]]
// SKIP-LABEL: relay.func @what_two_products_read_is_quantised_once
// SKIP:       relay.nn.conv2d %x, %w
// SKIP:       relay.constant dense<3.125000e-02>
// SKIP:       dense<{{.*}}127{{.*}}-42{{.*}}> : tensor<2x1x1x1xi8>
// SKIP:       relay.constant dense<0.0059{{.*}}> : tensor<f32>
// SKIP:       relay.nn.conv2d
// SKIP-NOT:   relay.qnn
// SKIP:       relay.nn.max_pool2d
relay.func @what_two_products_read_is_quantised_once(%x: tensor<1x1x4x4xf32>) -> (tensor<1x2x2x2xf32>, tensor<1x2x4x4xf32>) {
  %w = relay.constant dense<[[[[0.75]]], [[[-0.25]]]]> : tensor<2x1x1x1xf32>
  %a = relay.nn.conv2d %x, %w : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %b = relay.nn.conv2d %x, %w : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %r = relay.nn.relu %a : tensor<1x2x4x4xf32>
  %p = relay.nn.max_pool2d %r {pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  relay.return %p, %b : tensor<1x2x2x2xf32>, tensor<1x2x4x4xf32>
}

// A weight that is given at run time is no constant, and a pool that follows no product reads what it did.
// CHECK-LABEL: relay.func @what_is_no_constant_and_what_follows_no_product_stay
// CHECK-NOT:   relay.qnn
// SKIP-LABEL:  relay.func @what_is_no_constant_and_what_follows_no_product_stay
// SKIP-NOT:    relay.qnn
relay.func @what_is_no_constant_and_what_follows_no_product_stay(%x: tensor<2x4xf32>, %w: tensor<3x4xf32>, %i: tensor<1x2x4x4xf32>) -> (tensor<2x3xf32>, tensor<1x2x3x3xf32>) {
  %y = relay.nn.dense %x, %w : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %p = relay.nn.max_pool2d %i {pool_size = array<i64: 2, 2>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x3x3xf32>
  relay.return %y, %p : tensor<2x3xf32>, tensor<1x2x3x3xf32>
}

// Both factors of a product of batches of matrices may be data.
// CHECK-LABEL: relay.func @both_factors_may_be_data
// CHECK:       %[[X:.*]] = relay.qnn.dequantize
// CHECK:       %[[Y:.*]] = relay.qnn.dequantize
// CHECK:       relay.nn.batch_matmul %[[X]], %[[Y]]
// SKIP-LABEL:  relay.func @both_factors_may_be_data
// SKIP-COUNT-2: relay.qnn.dequantize
relay.func @both_factors_may_be_data(%x: tensor<1x2x4xf32>, %y: tensor<1x3x4xf32>) -> tensor<1x2x3xf32> {
  %z = relay.nn.batch_matmul %x, %y : (tensor<1x2x4xf32>, tensor<1x3x4xf32>) -> tensor<1x2x3xf32>
  relay.return %z : tensor<1x2x3xf32>
}
