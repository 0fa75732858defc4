// RUN: weft-run %s --function '*' --compare interpreter --quiet --threads 2 --rtol 1e-3 --atol 1e-4 | filecheck %s

// Matrix products whose sizes are prime, one, or even.

// CHECK: @dense_primes
// CHECK-NEXT: equal to interpreter
relay.func @dense_primes(%x: tensor<7x13xf32>, %w: tensor<11x13xf32>) -> tensor<7x11xf32> {
  %y = relay.nn.dense %x, %w {units = 11 : i64} : (tensor<7x13xf32>, tensor<11x13xf32>) -> tensor<7x11xf32>
  relay.return %y : tensor<7x11xf32>
}

// CHECK: @dense_one_row
// CHECK-NEXT: equal to interpreter
relay.func @dense_one_row(%x: tensor<1x37xf32>, %w: tensor<101x37xf32>) -> tensor<1x101xf32> {
  %y = relay.nn.dense %x, %w {units = 101 : i64} : (tensor<1x37xf32>, tensor<101x37xf32>) -> tensor<1x101xf32>
  relay.return %y : tensor<1x101xf32>
}

// CHECK: @dense_one_column
// CHECK-NEXT: equal to interpreter
relay.func @dense_one_column(%x: tensor<17x19xf32>, %w: tensor<1x19xf32>) -> tensor<17x1xf32> {
  %y = relay.nn.dense %x, %w {units = 1 : i64} : (tensor<17x19xf32>, tensor<1x19xf32>) -> tensor<17x1xf32>
  relay.return %y : tensor<17x1xf32>
}

// CHECK: @dense_large_primes
// CHECK-NEXT: equal to interpreter
relay.func @dense_large_primes(%x: tensor<67x131xf32>, %w: tensor<97x131xf32>) -> tensor<67x97xf32> {
  %y = relay.nn.dense %x, %w {units = 97 : i64} : (tensor<67x131xf32>, tensor<97x131xf32>) -> tensor<67x97xf32>
  relay.return %y : tensor<67x97xf32>
}

// CHECK: @dense_even
// CHECK-NEXT: equal to interpreter
relay.func @dense_even(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %y = relay.nn.dense %x, %w {units = 64 : i64} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  relay.return %y : tensor<64x64xf32>
}

// CHECK: @dense_one_product
// CHECK-NEXT: equal to interpreter
relay.func @dense_one_product(%x: tensor<5x1xf32>, %w: tensor<3x1xf32>) -> tensor<5x3xf32> {
  %y = relay.nn.dense %x, %w {units = 3 : i64} : (tensor<5x1xf32>, tensor<3x1xf32>) -> tensor<5x3xf32>
  relay.return %y : tensor<5x3xf32>
}

// CHECK: @dense_f64
// CHECK-NEXT: equal to interpreter
relay.func @dense_f64(%x: tensor<5x7xf64>, %w: tensor<3x7xf64>) -> tensor<5x3xf64> {
  %y = relay.nn.dense %x, %w {units = 3 : i64} : (tensor<5x7xf64>, tensor<3x7xf64>) -> tensor<5x3xf64>
  relay.return %y : tensor<5x3xf64>
}

// CHECK: @dense_f16
// CHECK-NEXT: equal to interpreter
relay.func @dense_f16(%x: tensor<5x7xf16>, %w: tensor<3x7xf16>) -> tensor<5x3xf16> {
  %y = relay.nn.dense %x, %w {units = 3 : i64} : (tensor<5x7xf16>, tensor<3x7xf16>) -> tensor<5x3xf16>
  relay.return %y : tensor<5x3xf16>
}

// CHECK: @matmul
// CHECK-NEXT: equal to interpreter
relay.func @matmul(%x: tensor<13x17xf32>, %w: tensor<17x23xf32>) -> tensor<13x23xf32> {
  %y = relay.nn.matmul %x, %w : (tensor<13x17xf32>, tensor<17x23xf32>) -> tensor<13x23xf32>
  relay.return %y : tensor<13x23xf32>
}

// CHECK: @matmul_transposed_a
// CHECK-NEXT: equal to interpreter
relay.func @matmul_transposed_a(%x: tensor<17x13xf32>, %w: tensor<17x23xf32>) -> tensor<13x23xf32> {
  %y = relay.nn.matmul %x, %w {transpose_a = true} : (tensor<17x13xf32>, tensor<17x23xf32>) -> tensor<13x23xf32>
  relay.return %y : tensor<13x23xf32>
}

// CHECK: @matmul_transposed_both
// CHECK-NEXT: equal to interpreter
relay.func @matmul_transposed_both(%x: tensor<17x13xf32>, %w: tensor<23x17xf32>) -> tensor<13x23xf32> {
  %y = relay.nn.matmul %x, %w {transpose_a = true, transpose_b = true} : (tensor<17x13xf32>, tensor<23x17xf32>) -> tensor<13x23xf32>
  relay.return %y : tensor<13x23xf32>
}

// CHECK: @batch_matmul
// CHECK-NEXT: equal to interpreter
relay.func @batch_matmul(%x: tensor<3x7x11xf32>, %w: tensor<3x13x11xf32>) -> tensor<3x7x13xf32> {
  %y = relay.nn.batch_matmul %x, %w : (tensor<3x7x11xf32>, tensor<3x13x11xf32>) -> tensor<3x7x13xf32>
  relay.return %y : tensor<3x7x13xf32>
}

// CHECK: @batch_matmul_large
// CHECK-NEXT: equal to interpreter
relay.func @batch_matmul_large(%x: tensor<2x37x64xf32>, %w: tensor<2x41x64xf32>) -> tensor<2x37x41xf32> {
  %y = relay.nn.batch_matmul %x, %w : (tensor<2x37x64xf32>, tensor<2x41x64xf32>) -> tensor<2x37x41xf32>
  relay.return %y : tensor<2x37x41xf32>
}

// CHECK: @batch_matmul_untransposed
// CHECK-NEXT: equal to interpreter
relay.func @batch_matmul_untransposed(%x: tensor<3x7x11xf32>, %w: tensor<3x11x5xf32>) -> tensor<3x7x5xf32> {
  %y = relay.nn.batch_matmul %x, %w {transpose_b = false} : (tensor<3x7x11xf32>, tensor<3x11x5xf32>) -> tensor<3x7x5xf32>
  relay.return %y : tensor<3x7x5xf32>
}

// CHECK: @batch_matmul_broadcast
// CHECK-NEXT: equal to interpreter
relay.func @batch_matmul_broadcast(%x: tensor<1x7x11xf32>, %w: tensor<3x13x11xf32>) -> tensor<3x7x13xf32> {
  %y = relay.nn.batch_matmul %x, %w : (tensor<1x7x11xf32>, tensor<3x13x11xf32>) -> tensor<3x7x13xf32>
  relay.return %y : tensor<3x7x13xf32>
}

// CHECK: @attention
// CHECK-NEXT: equal to interpreter
relay.func @attention(%q: tensor<2x9x8xf32>, %k: tensor<2x11x8xf32>, %v: tensor<2x11x8xf32>) -> tensor<2x9x8xf32> {
  %0 = relay.nn.batch_matmul %q, %k : (tensor<2x9x8xf32>, tensor<2x11x8xf32>) -> tensor<2x9x11xf32>
  %1 = relay.nn.softmax %0 : tensor<2x9x11xf32>
  %y = relay.nn.batch_matmul %1, %v {transpose_b = false} : (tensor<2x9x11xf32>, tensor<2x11x8xf32>) -> tensor<2x9x8xf32>
  relay.return %y : tensor<2x9x8xf32>
}
