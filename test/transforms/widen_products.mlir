// RUN: weft-opt %s -p 'infer-type,widen-products{types=float16}' | filecheck %s

// Each factor is converted once, and the sum, which had 32 bits already, is rounded as before.
// CHECK-LABEL: relay.func @products_of_halves
// CHECK-NEXT: %[[X:.*]] = relay.cast %x {dtype = "float32"} : (tensor<8x16xf16>) -> tensor<8x16xf32>
// CHECK-NEXT: %[[W:.*]] = relay.cast %w {dtype = "float32"} : (tensor<32x16xf16>) -> tensor<32x16xf32>
// CHECK-NEXT: %[[P:.*]] = relay.nn.dense %[[X]], %[[W]] : (tensor<8x16xf32>, tensor<32x16xf32>) -> tensor<8x32xf32>
// CHECK-NEXT: %y = relay.cast %[[P]] {dtype = "float16"} : (tensor<8x32xf32>) -> tensor<8x32xf16>
relay.func @products_of_halves(%x: tensor<8x16xf16>, %w: tensor<32x16xf16>) -> tensor<8x32xf16> {
  %y = relay.nn.dense %x, %w : (tensor<8x16xf16>, tensor<32x16xf16>) -> tensor<8x32xf16>
  relay.return %y : tensor<8x32xf16>
}

// CHECK-LABEL: relay.func @sums_that_stay_floats
// CHECK: %y = relay.nn.conv2d %0, %1
// CHECK-SAME: (tensor<1x3x9x9xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x7x7xf32>
// CHECK-NEXT: relay.return %y
relay.func @sums_that_stay_floats(%x: tensor<1x3x9x9xf16>, %w: tensor<4x3x3x3xf16>) -> tensor<1x4x7x7xf32> {
  %y = relay.nn.conv2d %x, %w {kernel_size = array<i64: 3, 3>, channels = 4 : i64, out_dtype = "float32"}
      : (tensor<1x3x9x9xf16>, tensor<4x3x3x3xf16>) -> tensor<1x4x7x7xf32>
  relay.return %y : tensor<1x4x7x7xf32>
}

// A matrix by itself is converted once.
// CHECK-LABEL: relay.func @a_square
// CHECK-NEXT: relay.cast %x
// CHECK-NEXT: relay.nn.batch_matmul %0, %0
relay.func @a_square(%x: tensor<2x8x8xf16>) -> tensor<2x8x8xf16> {
  %y = relay.nn.batch_matmul %x, %x : (tensor<2x8x8xf16>, tensor<2x8x8xf16>) -> tensor<2x8x8xf16>
  relay.return %y : tensor<2x8x8xf16>
}

// One row reads each weight once: what counts is the memory that they take. Open rows may be many.
// CHECK-LABEL: relay.func @few_rows
// CHECK-NEXT: relay.nn.dense %x, %w
// CHECK-NEXT: relay.return
relay.func @few_rows(%x: tensor<1x16xf16>, %w: tensor<32x16xf16>) -> tensor<1x32xf16> {
  %y = relay.nn.dense %x, %w : (tensor<1x16xf16>, tensor<32x16xf16>) -> tensor<1x32xf16>
  relay.return %y : tensor<1x32xf16>
}

// Two rows read each weight twice, which is measured to take less than a converted one, three do not.
// CHECK-LABEL: relay.func @two_rows
// CHECK-NEXT: relay.nn.dense %x, %w
// CHECK-NEXT: relay.return
relay.func @two_rows(%x: tensor<2x16xf16>, %w: tensor<32x16xf16>) -> tensor<2x32xf16> {
  %y = relay.nn.dense %x, %w : (tensor<2x16xf16>, tensor<32x16xf16>) -> tensor<2x32xf16>
  relay.return %y : tensor<2x32xf16>
}

// CHECK-LABEL: relay.func @three_rows
// CHECK-NEXT: relay.cast
// CHECK-NEXT: relay.cast
// CHECK-NEXT: relay.nn.dense %0, %1
relay.func @three_rows(%x: tensor<3x16xf16>, %w: tensor<32x16xf16>) -> tensor<3x32xf16> {
  %y = relay.nn.dense %x, %w : (tensor<3x16xf16>, tensor<32x16xf16>) -> tensor<3x32xf16>
  relay.return %y : tensor<3x32xf16>
}

// CHECK-LABEL: relay.func @open_rows
// CHECK: -> tensor<?x32xf32>
// CHECK-NEXT: relay.cast
relay.func @open_rows(%x: tensor<?x16xf16>, %w: tensor<32x16xf16>) -> tensor<?x32xf16> {
  %y = relay.nn.dense %x, %w : (tensor<?x16xf16>, tensor<32x16xf16>) -> tensor<?x32xf16>
  relay.return %y : tensor<?x32xf16>
}

// Those that the processor multiplies itself are not named, and stay; so do all other numbers.
// CHECK-LABEL: relay.func @other_numbers
// CHECK-NOT: relay.cast
// CHECK: relay.return
relay.func @other_numbers(%x: tensor<8x16xbf16>, %w: tensor<32x16xbf16>, %a: tensor<8x16xf32>, %b: tensor<32x16xf32>)
    -> tuple<tensor<8x32xbf16>, tensor<8x32xf32>> {
  %y = relay.nn.dense %x, %w : (tensor<8x16xbf16>, tensor<32x16xbf16>) -> tensor<8x32xbf16>
  %z = relay.nn.dense %a, %b : (tensor<8x16xf32>, tensor<32x16xf32>) -> tensor<8x32xf32>
  %t = relay.tuple(%y, %z) : (tensor<8x32xbf16>, tensor<8x32xf32>) -> tuple<tensor<8x32xbf16>, tensor<8x32xf32>>
  relay.return %t : tuple<tensor<8x32xbf16>, tensor<8x32xf32>>
}
