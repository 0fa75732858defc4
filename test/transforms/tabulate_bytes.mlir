// RUN: weft-opt %s -p tabulate-bytes,dead-code-elimination | filecheck %s

// CHECK-LABEL: relay.func @from_a_byte_to_a_byte
// CHECK-NEXT: %0 = relay.constant #relay.resource<"table_{{.*}}"> : tensor<256xui8>
// CHECK-NEXT: %y = relay.take %0, %q : (tensor<256xui8>, tensor<64x64xui8>) -> tensor<64x64xui8>
// CHECK-NEXT: relay.return %y
relay.func @from_a_byte_to_a_byte(%q: tensor<64x64xui8>) -> tensor<64x64xui8> {
  %scale = relay.constant dense<0.00390625> : tensor<f32>
  %x = relay.cast %q {dtype = "float32"} : (tensor<64x64xui8>) -> tensor<64x64xf32>
  %0 = relay.multiply %x, %scale : (tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
  %1 = relay.sigmoid %0 : tensor<64x64xf32>
  %2 = relay.divide %1, %scale : (tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
  %3 = relay.round %2 : tensor<64x64xf32>
  %y = relay.cast %3 {dtype = "uint8"} : (tensor<64x64xf32>) -> tensor<64x64xui8>
  relay.return %y : tensor<64x64xui8>
}

// A byte with a sign is looked up by its bits. Where all extents of a constant are not one, its elements may be.
// CHECK-LABEL: relay.func @bytes_with_a_sign
// CHECK-NEXT: %0 = relay.reinterpret %q {dtype = "uint8"}
// CHECK-NEXT: %1 = relay.constant {{.*}} : tensor<256xi8>
// CHECK-NEXT: relay.take %1, %0
// CHECK-NEXT: relay.return
relay.func @bytes_with_a_sign(%q: tensor<4x512xi8>) -> tensor<4x512xi8> {
  %scale = relay.constant dense<64.0> : tensor<512xf32>
  %x = relay.cast %q {dtype = "float32"} : (tensor<4x512xi8>) -> tensor<4x512xf32>
  %0 = relay.divide %x, %scale : (tensor<4x512xf32>, tensor<512xf32>) -> tensor<4x512xf32>
  %1 = relay.tanh %0 : tensor<4x512xf32>
  %2 = relay.multiply %1, %scale : (tensor<4x512xf32>, tensor<512xf32>) -> tensor<4x512xf32>
  %y = relay.cast %2 {dtype = "int8"} : (tensor<4x512xf32>) -> tensor<4x512xi8>
  relay.return %y : tensor<4x512xi8>
}

// The last byte on the way is looked up; what is made of it elementwise is left to whoever reads it. Extents may be open.
// CHECK-LABEL: relay.func @the_last_byte_on_the_way
// CHECK-NEXT: %0 = relay.constant {{.*}} : tensor<256xui8>
// CHECK-NEXT: %b = relay.take %0, %q
// CHECK-NEXT: %x2 = relay.cast %b
// CHECK-NEXT: %y = relay.sum %x2
// CHECK-NEXT: relay.return %y, %x2
relay.func @the_last_byte_on_the_way(%q: tensor<?x64xui8>) -> (tensor<?xf32>, tensor<?x64xf32>) {
  %x = relay.cast %q {dtype = "float32"} : (tensor<?x64xui8>) -> tensor<?x64xf32>
  %0 = relay.sqrt %x : tensor<?x64xf32>
  %a = relay.cast %0 {dtype = "uint8"} : (tensor<?x64xf32>) -> tensor<?x64xui8>
  %x1 = relay.cast %a {dtype = "float32"} : (tensor<?x64xui8>) -> tensor<?x64xf32>
  %1 = relay.exp %x1 : tensor<?x64xf32>
  %b = relay.cast %1 {dtype = "uint8"} : (tensor<?x64xf32>) -> tensor<?x64xui8>
  %x2 = relay.cast %b {dtype = "float32"} : (tensor<?x64xui8>) -> tensor<?x64xf32>
  %y = relay.sum %x2 {axis = array<i64: 1>} : (tensor<?x64xf32>) -> tensor<?xf32>
  relay.return %y, %x2 : tensor<?xf32>, tensor<?x64xf32>
}

// One division is as fast as the look-up; few elements are not worth it; elements of constants differ; two tensors are
// read; and what is computed anyway.
// CHECK-LABEL: relay.func @what_is_left
// CHECK-NOT: relay.take
relay.func @what_is_left(%q: tensor<64x64xui8>, %r: tensor<64x64xui8>, %few: tensor<4x4xui8>)
    -> (tensor<64x64xui8>, tensor<4x4xui8>, tensor<64x64xui8>, tensor<64x64xui8>, tensor<64x64xui8>, tensor<64x64xf32>) {
  %x = relay.cast %q {dtype = "float32"} : (tensor<64x64xui8>) -> tensor<64x64xf32>
  %scale = relay.constant dense<3.0> : tensor<f32>
  %0 = relay.divide %x, %scale : (tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
  %one_division = relay.cast %0 {dtype = "uint8"} : (tensor<64x64xf32>) -> tensor<64x64xui8>

  %1 = relay.cast %few {dtype = "float32"} : (tensor<4x4xui8>) -> tensor<4x4xf32>
  %2 = relay.exp %1 : tensor<4x4xf32>
  %3 = relay.tanh %2 : tensor<4x4xf32>
  %few_elements = relay.cast %3 {dtype = "uint8"} : (tensor<4x4xf32>) -> tensor<4x4xui8>

  %scales = relay.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %each = relay.repeat %scales {repeats = 32 : i64, axis = 1 : i64} : (tensor<1x2xf32>) -> tensor<1x64xf32>
  %4 = relay.multiply %x, %each : (tensor<64x64xf32>, tensor<1x64xf32>) -> tensor<64x64xf32>
  %5 = relay.exp %4 : tensor<64x64xf32>
  %6 = relay.tanh %5 : tensor<64x64xf32>
  %scales_differ = relay.cast %6 {dtype = "uint8"} : (tensor<64x64xf32>) -> tensor<64x64xui8>

  %z = relay.cast %r {dtype = "float32"} : (tensor<64x64xui8>) -> tensor<64x64xf32>
  %7 = relay.divide %x, %z : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %8 = relay.exp %7 : tensor<64x64xf32>
  %two_tensors = relay.cast %8 {dtype = "uint8"} : (tensor<64x64xf32>) -> tensor<64x64xui8>

  %9 = relay.exp %x : tensor<64x64xf32>
  %10 = relay.tanh %9 : tensor<64x64xf32>
  %read_anyway = relay.cast %10 {dtype = "uint8"} : (tensor<64x64xf32>) -> tensor<64x64xui8>
  relay.return %one_division, %few_elements, %scales_differ, %two_tensors, %read_anyway, %10
      : tensor<64x64xui8>, tensor<4x4xui8>, tensor<64x64xui8>, tensor<64x64xui8>, tensor<64x64xui8>, tensor<64x64xf32>
}
