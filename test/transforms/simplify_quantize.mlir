// RUN: weft-opt %s -p simplify-quantize | filecheck %s

// What is quantised only to be dequantised stays a float, within the bounds of the bytes.
// CHECK-LABEL: relay.func @a_pair_beside_a_sum
// CHECK: %2 = relay.round
// CHECK-NEXT: %3 = relay.constant dense<-3.000000e+00>
// CHECK-NEXT: %4 = relay.constant dense<2.520000e+02>
// CHECK-NEXT: %5 = relay.less %2, %3
// CHECK-NEXT: %6 = relay.where %5, %3, %2
// CHECK-NEXT: %7 = relay.greater %6, %4
// CHECK-NEXT: %8 = relay.where %7, %4, %6
// CHECK-NEXT: %9 = relay.multiply %8, %scale
// CHECK-NEXT: %y = relay.add %9, %r
// CHECK-NEXT: relay.return %y
relay.func @a_pair_beside_a_sum(%sums: tensor<4x8xi32>, %r: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %scale = relay.constant dense<0.5> : tensor<f32>
  %zf = relay.constant dense<3.0> : tensor<f32>
  %zi = relay.constant dense<3> : tensor<i32>
  %0 = relay.cast %sums {dtype = "float32"} : (tensor<4x8xi32>) -> tensor<4x8xf32>
  %1 = relay.multiply %0, %scale : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %2 = relay.round %1 : tensor<4x8xf32>
  %3 = relay.add %2, %zf : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %4 = relay.clip %3 {a_min = 0.0 : f64, a_max = 255.0 : f64} : tensor<4x8xf32>
  %5 = relay.cast %4 {dtype = "uint8"} : (tensor<4x8xf32>) -> tensor<4x8xui8>
  %6 = relay.cast %5 {dtype = "int32"} : (tensor<4x8xui8>) -> tensor<4x8xi32>
  %7 = relay.subtract %6, %zi : (tensor<4x8xi32>, tensor<i32>) -> tensor<4x8xi32>
  %8 = relay.cast %7 {dtype = "float32"} : (tensor<4x8xi32>) -> tensor<4x8xf32>
  %9 = relay.multiply %8, %scale : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %y = relay.add %9, %r : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  relay.return %y : tensor<4x8xf32>
}

// A float may be NaN, of which a byte is made that is not.
// CHECK-LABEL: relay.func @what_may_be_no_number
// CHECK: relay.cast {{.*}} {dtype = "uint8"}
// CHECK-NOT: relay.where
relay.func @what_may_be_no_number(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %scale = relay.constant dense<0.5> : tensor<f32>
  %2 = relay.round %x : tensor<4x8xf32>
  %4 = relay.clip %2 {a_min = 0.0 : f64, a_max = 255.0 : f64} : tensor<4x8xf32>
  %5 = relay.cast %4 {dtype = "uint8"} : (tensor<4x8xf32>) -> tensor<4x8xui8>
  %8 = relay.cast %5 {dtype = "float32"} : (tensor<4x8xui8>) -> tensor<4x8xf32>
  %9 = relay.multiply %8, %scale : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  relay.return %9 : tensor<4x8xf32>
}

// Nor does it go where the bytes are read beside, are others than those of the zero point, or wrap.
// CHECK-LABEL: relay.func @bytes_that_are_read_beside
// CHECK-NOT: relay.where
relay.func @bytes_that_are_read_beside(%sums: tensor<4x8xi32>) -> (tensor<4x8xf32>, tensor<4x8xui8>) {
  %scale = relay.constant dense<0.5> : tensor<f32>
  %1 = relay.cast %sums {dtype = "float32"} : (tensor<4x8xi32>) -> tensor<4x8xf32>
  %2 = relay.round %1 : tensor<4x8xf32>
  %4 = relay.clip %2 {a_min = 0.0 : f64, a_max = 255.0 : f64} : tensor<4x8xf32>
  %5 = relay.cast %4 {dtype = "uint8"} : (tensor<4x8xf32>) -> tensor<4x8xui8>
  %8 = relay.cast %5 {dtype = "float32"} : (tensor<4x8xui8>) -> tensor<4x8xf32>
  %9 = relay.multiply %8, %scale : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  relay.return %9, %5 : tensor<4x8xf32>, tensor<4x8xui8>
}

// CHECK-LABEL: relay.func @another_zero_point
// CHECK-NOT: relay.where
relay.func @another_zero_point(%sums: tensor<4x8xi32>) -> tensor<4x8xf32> {
  %scale = relay.constant dense<0.5> : tensor<f32>
  %zf = relay.constant dense<3.0> : tensor<f32>
  %zi = relay.constant dense<4> : tensor<i32>
  %1 = relay.cast %sums {dtype = "float32"} : (tensor<4x8xi32>) -> tensor<4x8xf32>
  %2 = relay.round %1 : tensor<4x8xf32>
  %3 = relay.add %2, %zf : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %4 = relay.clip %3 {a_min = 0.0 : f64, a_max = 255.0 : f64} : tensor<4x8xf32>
  %5 = relay.cast %4 {dtype = "uint8"} : (tensor<4x8xf32>) -> tensor<4x8xui8>
  %6 = relay.cast %5 {dtype = "int32"} : (tensor<4x8xui8>) -> tensor<4x8xi32>
  %7 = relay.subtract %6, %zi : (tensor<4x8xi32>, tensor<i32>) -> tensor<4x8xi32>
  %8 = relay.cast %7 {dtype = "float32"} : (tensor<4x8xi32>) -> tensor<4x8xf32>
  %9 = relay.multiply %8, %scale : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  relay.return %9 : tensor<4x8xf32>
}

// CHECK-LABEL: relay.func @bytes_that_wrap
// CHECK-NOT: relay.where
relay.func @bytes_that_wrap(%sums: tensor<4x8xi32>) -> tensor<4x8xf32> {
  %scale = relay.constant dense<0.5> : tensor<f32>
  %1 = relay.cast %sums {dtype = "float32"} : (tensor<4x8xi32>) -> tensor<4x8xf32>
  %2 = relay.round %1 : tensor<4x8xf32>
  %4 = relay.clip %2 {a_min = 0.0 : f64, a_max = 256.0 : f64} : tensor<4x8xf32>
  %5 = relay.cast %4 {dtype = "uint8"} : (tensor<4x8xf32>) -> tensor<4x8xui8>
  %8 = relay.cast %5 {dtype = "float32"} : (tensor<4x8xui8>) -> tensor<4x8xf32>
  %9 = relay.multiply %8, %scale : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  relay.return %9 : tensor<4x8xf32>
}

// CHECK-LABEL: relay.func @a_difference_that_wraps
// CHECK-NOT: relay.where
relay.func @a_difference_that_wraps(%sums: tensor<4x8xi32>) -> tensor<4x8xf32> {
  %scale = relay.constant dense<0.5> : tensor<f32>
  %zf = relay.constant dense<3.0> : tensor<f32>
  %zi = relay.constant dense<3> : tensor<ui8>
  %1 = relay.cast %sums {dtype = "float32"} : (tensor<4x8xi32>) -> tensor<4x8xf32>
  %2 = relay.round %1 : tensor<4x8xf32>
  %3 = relay.add %2, %zf : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %4 = relay.clip %3 {a_min = 0.0 : f64, a_max = 255.0 : f64} : tensor<4x8xf32>
  %5 = relay.cast %4 {dtype = "uint8"} : (tensor<4x8xf32>) -> tensor<4x8xui8>
  %7 = relay.subtract %5, %zi : (tensor<4x8xui8>, tensor<ui8>) -> tensor<4x8xui8>
  %8 = relay.cast %7 {dtype = "float32"} : (tensor<4x8xui8>) -> tensor<4x8xf32>
  %9 = relay.multiply %8, %scale : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  relay.return %9 : tensor<4x8xf32>
}

// What has overflowed between may be made NaN.
// CHECK-LABEL: relay.func @what_overflows_between
// CHECK-NOT: relay.where
relay.func @what_overflows_between(%sums: tensor<4x8xi32>) -> tensor<4x8xf32> {
  %scale = relay.constant dense<0.5> : tensor<f32>
  %large = relay.constant dense<1.0e+35> : tensor<f32>
  %small = relay.constant dense<0.0> : tensor<f32>
  %0 = relay.cast %sums {dtype = "float32"} : (tensor<4x8xi32>) -> tensor<4x8xf32>
  %1 = relay.multiply %0, %large : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %2 = relay.multiply %1, %small : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %3 = relay.round %2 : tensor<4x8xf32>
  %4 = relay.clip %3 {a_min = 5.0 : f64, a_max = 255.0 : f64} : tensor<4x8xf32>
  %5 = relay.cast %4 {dtype = "uint8"} : (tensor<4x8xf32>) -> tensor<4x8xui8>
  %8 = relay.cast %5 {dtype = "float32"} : (tensor<4x8xui8>) -> tensor<4x8xf32>
  %9 = relay.multiply %8, %scale : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  relay.return %9 : tensor<4x8xf32>
}

// Of two products that are added, the first waits in memory: as bytes.
// CHECK-LABEL: relay.func @two_products
// CHECK: %p4 = relay.cast %p3 {dtype = "uint8"}
// CHECK-NEXT: %p4_1 = relay.annotation.stop_fusion %p4
// CHECK-NEXT: %p5 = relay.cast %p4_1 {dtype = "float32"}
// CHECK-NOT: relay.cast {{.*}} {dtype = "uint8"}
// CHECK: relay.where
// CHECK: relay.return
relay.func @two_products(%x: tensor<4x8xui8>, %w: tensor<16x8xi8>) -> tensor<4x16xf32> {
  %scale = relay.constant dense<0.5> : tensor<f32>
  %p0 = relay.nn.dense %x, %w {out_dtype = "int32"} : (tensor<4x8xui8>, tensor<16x8xi8>) -> tensor<4x16xi32>
  %p1 = relay.cast %p0 {dtype = "float32"} : (tensor<4x16xi32>) -> tensor<4x16xf32>
  %p2 = relay.round %p1 : tensor<4x16xf32>
  %p3 = relay.clip %p2 {a_min = 0.0 : f64, a_max = 255.0 : f64} : tensor<4x16xf32>
  %p4 = relay.cast %p3 {dtype = "uint8"} : (tensor<4x16xf32>) -> tensor<4x16xui8>
  %p5 = relay.cast %p4 {dtype = "float32"} : (tensor<4x16xui8>) -> tensor<4x16xf32>
  %p6 = relay.multiply %p5, %scale : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %q0 = relay.nn.dense %x, %w {out_dtype = "int32"} : (tensor<4x8xui8>, tensor<16x8xi8>) -> tensor<4x16xi32>
  %q1 = relay.cast %q0 {dtype = "float32"} : (tensor<4x16xi32>) -> tensor<4x16xf32>
  %q2 = relay.round %q1 : tensor<4x16xf32>
  %q3 = relay.clip %q2 {a_min = 0.0 : f64, a_max = 255.0 : f64} : tensor<4x16xf32>
  %q4 = relay.cast %q3 {dtype = "uint8"} : (tensor<4x16xf32>) -> tensor<4x16xui8>
  %q5 = relay.cast %q4 {dtype = "float32"} : (tensor<4x16xui8>) -> tensor<4x16xf32>
  %q6 = relay.multiply %q5, %scale : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %y = relay.add %p6, %q6 : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  relay.return %y : tensor<4x16xf32>
}

// A `relay.nn.relu` is not needed before a bound that is no less; before one that is, it is.
// CHECK-LABEL: relay.func @relu_before_a_bound
// CHECK-NEXT: %scale = relay.constant
// CHECK-NEXT: %0 = relay.divide %x, %scale
relay.func @relu_before_a_bound(%x: tensor<4x8xf32>) -> tensor<4x8xui8> {
  %scale = relay.constant dense<0.5> : tensor<f32>
  %0 = relay.nn.relu %x : tensor<4x8xf32>
  %1 = relay.divide %0, %scale : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %2 = relay.round %1 : tensor<4x8xf32>
  %3 = relay.clip %2 {a_min = 0.0 : f64, a_max = 255.0 : f64} : tensor<4x8xf32>
  %4 = relay.cast %3 {dtype = "uint8"} : (tensor<4x8xf32>) -> tensor<4x8xui8>
  relay.return %4 : tensor<4x8xui8>
}

// CHECK-LABEL: relay.func @relu_that_is_needed
// CHECK: relay.nn.relu %x
relay.func @relu_that_is_needed(%x: tensor<4x8xf32>) -> tensor<4x8xi8> {
  %scale = relay.constant dense<0.5> : tensor<f32>
  %0 = relay.nn.relu %x : tensor<4x8xf32>
  %1 = relay.divide %0, %scale : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %2 = relay.round %1 : tensor<4x8xf32>
  %3 = relay.clip %2 {a_min = -128.0 : f64, a_max = 127.0 : f64} : tensor<4x8xf32>
  %4 = relay.cast %3 {dtype = "int8"} : (tensor<4x8xf32>) -> tensor<4x8xi8>
  relay.return %4 : tensor<4x8xi8>
}

// CHECK-LABEL: relay.func @no_bound_at_all
// CHECK: relay.nn.relu %x
relay.func @no_bound_at_all(%x: tensor<4x8xf32>) -> tensor<4x8xui8> {
  %scale = relay.constant dense<0.5> : tensor<f32>
  %0 = relay.nn.relu %x : tensor<4x8xf32>
  %1 = relay.divide %0, %scale : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %2 = relay.round %1 : tensor<4x8xf32>
  %3 = relay.clip %2 {a_min = 0x7FF8000000000000 : f64, a_max = 255.0 : f64} : tensor<4x8xf32>
  %4 = relay.cast %3 {dtype = "uint8"} : (tensor<4x8xf32>) -> tensor<4x8xui8>
  relay.return %4 : tensor<4x8xui8>
}
