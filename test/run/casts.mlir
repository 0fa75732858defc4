// RUN: weft-run %s --function '*' --compare interpreter --quiet --input 'x_f16=6xf16=[0, 1, 2.5, 3.9, 100, 0.1]' --input 'x_f32=6xf32=[0, 1, 2.5, 3.9, 100, 0.1]' --input 'x_f64=6xf64=[0, 1.000488281250909, 2.5, -3.9, 65519.99, 1e-7]' --input 'x_i1=6xi1=[false, true, true, false, true, false]' --input 'x_i8=6xi8=[0, 1, 2, 3, 100, 127]' --input 'x_i16=6xi16=[0, 1, 2, 3, 100, 127]' --input 'x_i32=6xi32=[0, 1, 2, 3, 100, 127]' --input 'x_i64=6xi64=[0, 1, 2, 3, 100, 127]' --input 'x_ui8=6xui8=[0, 1, 2, 3, 100, 127]' --input 'x_ui16=6xui16=[0, 1, 2, 3, 100, 127]' --input 'x_ui32=6xui32=[0, 1, 2, 3, 100, 127]' --input 'x_ui64=6xui64=[0, 1, 2, 3, 100, 127]' --input 'n_f32=4xf32=[-1.5, -2.9, -100, -0.0]' --input 'n_i8=4xi8=[-1, -2, -128, 5]' --input 'n_i64=4xi64=[-1, -300, 70000, 5]' --input 'n_i32=4xi32=[-1, -300, 70000, 5]' | filecheck %s

// From every dtype to every other one.

// CHECK: @from_f16
// CHECK-NEXT: equal to interpreter
relay.func @from_f16(%x_f16: tensor<6xf16>) -> (tensor<6xf32>, tensor<6xf64>, tensor<6xi1>, tensor<6xi8>, tensor<6xi16>, tensor<6xi32>, tensor<6xi64>, tensor<6xui8>, tensor<6xui16>, tensor<6xui32>, tensor<6xui64>) {
  %0 = relay.cast %x_f16 {dtype = "float32"} : (tensor<6xf16>) -> tensor<6xf32>
  %1 = relay.cast %x_f16 {dtype = "float64"} : (tensor<6xf16>) -> tensor<6xf64>
  %2 = relay.cast %x_f16 {dtype = "bool"} : (tensor<6xf16>) -> tensor<6xi1>
  %3 = relay.cast %x_f16 {dtype = "int8"} : (tensor<6xf16>) -> tensor<6xi8>
  %4 = relay.cast %x_f16 {dtype = "int16"} : (tensor<6xf16>) -> tensor<6xi16>
  %5 = relay.cast %x_f16 {dtype = "int32"} : (tensor<6xf16>) -> tensor<6xi32>
  %6 = relay.cast %x_f16 {dtype = "int64"} : (tensor<6xf16>) -> tensor<6xi64>
  %7 = relay.cast %x_f16 {dtype = "uint8"} : (tensor<6xf16>) -> tensor<6xui8>
  %8 = relay.cast %x_f16 {dtype = "uint16"} : (tensor<6xf16>) -> tensor<6xui16>
  %9 = relay.cast %x_f16 {dtype = "uint32"} : (tensor<6xf16>) -> tensor<6xui32>
  %10 = relay.cast %x_f16 {dtype = "uint64"} : (tensor<6xf16>) -> tensor<6xui64>
  relay.return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10 : tensor<6xf32>, tensor<6xf64>, tensor<6xi1>, tensor<6xi8>, tensor<6xi16>, tensor<6xi32>, tensor<6xi64>, tensor<6xui8>, tensor<6xui16>, tensor<6xui32>, tensor<6xui64>
}

// CHECK: @from_f32
// CHECK-NEXT: equal to interpreter
relay.func @from_f32(%x_f32: tensor<6xf32>) -> (tensor<6xf16>, tensor<6xf64>, tensor<6xi1>, tensor<6xi8>, tensor<6xi16>, tensor<6xi32>, tensor<6xi64>, tensor<6xui8>, tensor<6xui16>, tensor<6xui32>, tensor<6xui64>) {
  %0 = relay.cast %x_f32 {dtype = "float16"} : (tensor<6xf32>) -> tensor<6xf16>
  %1 = relay.cast %x_f32 {dtype = "float64"} : (tensor<6xf32>) -> tensor<6xf64>
  %2 = relay.cast %x_f32 {dtype = "bool"} : (tensor<6xf32>) -> tensor<6xi1>
  %3 = relay.cast %x_f32 {dtype = "int8"} : (tensor<6xf32>) -> tensor<6xi8>
  %4 = relay.cast %x_f32 {dtype = "int16"} : (tensor<6xf32>) -> tensor<6xi16>
  %5 = relay.cast %x_f32 {dtype = "int32"} : (tensor<6xf32>) -> tensor<6xi32>
  %6 = relay.cast %x_f32 {dtype = "int64"} : (tensor<6xf32>) -> tensor<6xi64>
  %7 = relay.cast %x_f32 {dtype = "uint8"} : (tensor<6xf32>) -> tensor<6xui8>
  %8 = relay.cast %x_f32 {dtype = "uint16"} : (tensor<6xf32>) -> tensor<6xui16>
  %9 = relay.cast %x_f32 {dtype = "uint32"} : (tensor<6xf32>) -> tensor<6xui32>
  %10 = relay.cast %x_f32 {dtype = "uint64"} : (tensor<6xf32>) -> tensor<6xui64>
  relay.return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10 : tensor<6xf16>, tensor<6xf64>, tensor<6xi1>, tensor<6xi8>, tensor<6xi16>, tensor<6xi32>, tensor<6xi64>, tensor<6xui8>, tensor<6xui16>, tensor<6xui32>, tensor<6xui64>
}

// CHECK: @from_f64
// CHECK-NEXT: equal to interpreter
relay.func @from_f64(%x_f64: tensor<6xf64>) -> (tensor<6xf16>, tensor<6xf32>, tensor<6xi1>, tensor<6xi16>, tensor<6xi32>, tensor<6xi64>) {
  %0 = relay.cast %x_f64 {dtype = "float16"} : (tensor<6xf64>) -> tensor<6xf16>
  %1 = relay.cast %x_f64 {dtype = "float32"} : (tensor<6xf64>) -> tensor<6xf32>
  %2 = relay.cast %x_f64 {dtype = "bool"} : (tensor<6xf64>) -> tensor<6xi1>
  %3 = relay.cast %x_f64 {dtype = "int16"} : (tensor<6xf64>) -> tensor<6xi16>
  %4 = relay.cast %x_f64 {dtype = "int32"} : (tensor<6xf64>) -> tensor<6xi32>
  %5 = relay.cast %x_f64 {dtype = "int64"} : (tensor<6xf64>) -> tensor<6xi64>
  relay.return %0, %1, %2, %3, %4, %5 : tensor<6xf16>, tensor<6xf32>, tensor<6xi1>, tensor<6xi16>, tensor<6xi32>, tensor<6xi64>
}

// CHECK: @from_i1
// CHECK-NEXT: equal to interpreter
relay.func @from_i1(%x_i1: tensor<6xi1>) -> (tensor<6xf16>, tensor<6xf32>, tensor<6xf64>, tensor<6xi8>, tensor<6xi16>, tensor<6xi32>, tensor<6xi64>, tensor<6xui8>, tensor<6xui16>, tensor<6xui32>, tensor<6xui64>) {
  %0 = relay.cast %x_i1 {dtype = "float16"} : (tensor<6xi1>) -> tensor<6xf16>
  %1 = relay.cast %x_i1 {dtype = "float32"} : (tensor<6xi1>) -> tensor<6xf32>
  %2 = relay.cast %x_i1 {dtype = "float64"} : (tensor<6xi1>) -> tensor<6xf64>
  %3 = relay.cast %x_i1 {dtype = "int8"} : (tensor<6xi1>) -> tensor<6xi8>
  %4 = relay.cast %x_i1 {dtype = "int16"} : (tensor<6xi1>) -> tensor<6xi16>
  %5 = relay.cast %x_i1 {dtype = "int32"} : (tensor<6xi1>) -> tensor<6xi32>
  %6 = relay.cast %x_i1 {dtype = "int64"} : (tensor<6xi1>) -> tensor<6xi64>
  %7 = relay.cast %x_i1 {dtype = "uint8"} : (tensor<6xi1>) -> tensor<6xui8>
  %8 = relay.cast %x_i1 {dtype = "uint16"} : (tensor<6xi1>) -> tensor<6xui16>
  %9 = relay.cast %x_i1 {dtype = "uint32"} : (tensor<6xi1>) -> tensor<6xui32>
  %10 = relay.cast %x_i1 {dtype = "uint64"} : (tensor<6xi1>) -> tensor<6xui64>
  relay.return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10 : tensor<6xf16>, tensor<6xf32>, tensor<6xf64>, tensor<6xi8>, tensor<6xi16>, tensor<6xi32>, tensor<6xi64>, tensor<6xui8>, tensor<6xui16>, tensor<6xui32>, tensor<6xui64>
}

// CHECK: @from_i8
// CHECK-NEXT: equal to interpreter
relay.func @from_i8(%x_i8: tensor<6xi8>) -> (tensor<6xf16>, tensor<6xf32>, tensor<6xf64>, tensor<6xi1>, tensor<6xi16>, tensor<6xi32>, tensor<6xi64>, tensor<6xui8>, tensor<6xui16>, tensor<6xui32>, tensor<6xui64>) {
  %0 = relay.cast %x_i8 {dtype = "float16"} : (tensor<6xi8>) -> tensor<6xf16>
  %1 = relay.cast %x_i8 {dtype = "float32"} : (tensor<6xi8>) -> tensor<6xf32>
  %2 = relay.cast %x_i8 {dtype = "float64"} : (tensor<6xi8>) -> tensor<6xf64>
  %3 = relay.cast %x_i8 {dtype = "bool"} : (tensor<6xi8>) -> tensor<6xi1>
  %4 = relay.cast %x_i8 {dtype = "int16"} : (tensor<6xi8>) -> tensor<6xi16>
  %5 = relay.cast %x_i8 {dtype = "int32"} : (tensor<6xi8>) -> tensor<6xi32>
  %6 = relay.cast %x_i8 {dtype = "int64"} : (tensor<6xi8>) -> tensor<6xi64>
  %7 = relay.cast %x_i8 {dtype = "uint8"} : (tensor<6xi8>) -> tensor<6xui8>
  %8 = relay.cast %x_i8 {dtype = "uint16"} : (tensor<6xi8>) -> tensor<6xui16>
  %9 = relay.cast %x_i8 {dtype = "uint32"} : (tensor<6xi8>) -> tensor<6xui32>
  %10 = relay.cast %x_i8 {dtype = "uint64"} : (tensor<6xi8>) -> tensor<6xui64>
  relay.return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10 : tensor<6xf16>, tensor<6xf32>, tensor<6xf64>, tensor<6xi1>, tensor<6xi16>, tensor<6xi32>, tensor<6xi64>, tensor<6xui8>, tensor<6xui16>, tensor<6xui32>, tensor<6xui64>
}

// CHECK: @from_i16
// CHECK-NEXT: equal to interpreter
relay.func @from_i16(%x_i16: tensor<6xi16>) -> (tensor<6xf16>, tensor<6xf32>, tensor<6xf64>, tensor<6xi1>, tensor<6xi8>, tensor<6xi32>, tensor<6xi64>, tensor<6xui8>, tensor<6xui16>, tensor<6xui32>, tensor<6xui64>) {
  %0 = relay.cast %x_i16 {dtype = "float16"} : (tensor<6xi16>) -> tensor<6xf16>
  %1 = relay.cast %x_i16 {dtype = "float32"} : (tensor<6xi16>) -> tensor<6xf32>
  %2 = relay.cast %x_i16 {dtype = "float64"} : (tensor<6xi16>) -> tensor<6xf64>
  %3 = relay.cast %x_i16 {dtype = "bool"} : (tensor<6xi16>) -> tensor<6xi1>
  %4 = relay.cast %x_i16 {dtype = "int8"} : (tensor<6xi16>) -> tensor<6xi8>
  %5 = relay.cast %x_i16 {dtype = "int32"} : (tensor<6xi16>) -> tensor<6xi32>
  %6 = relay.cast %x_i16 {dtype = "int64"} : (tensor<6xi16>) -> tensor<6xi64>
  %7 = relay.cast %x_i16 {dtype = "uint8"} : (tensor<6xi16>) -> tensor<6xui8>
  %8 = relay.cast %x_i16 {dtype = "uint16"} : (tensor<6xi16>) -> tensor<6xui16>
  %9 = relay.cast %x_i16 {dtype = "uint32"} : (tensor<6xi16>) -> tensor<6xui32>
  %10 = relay.cast %x_i16 {dtype = "uint64"} : (tensor<6xi16>) -> tensor<6xui64>
  relay.return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10 : tensor<6xf16>, tensor<6xf32>, tensor<6xf64>, tensor<6xi1>, tensor<6xi8>, tensor<6xi32>, tensor<6xi64>, tensor<6xui8>, tensor<6xui16>, tensor<6xui32>, tensor<6xui64>
}

// CHECK: @from_i32
// CHECK-NEXT: equal to interpreter
relay.func @from_i32(%x_i32: tensor<6xi32>) -> (tensor<6xf16>, tensor<6xf32>, tensor<6xf64>, tensor<6xi1>, tensor<6xi8>, tensor<6xi16>, tensor<6xi64>, tensor<6xui8>, tensor<6xui16>, tensor<6xui32>, tensor<6xui64>) {
  %0 = relay.cast %x_i32 {dtype = "float16"} : (tensor<6xi32>) -> tensor<6xf16>
  %1 = relay.cast %x_i32 {dtype = "float32"} : (tensor<6xi32>) -> tensor<6xf32>
  %2 = relay.cast %x_i32 {dtype = "float64"} : (tensor<6xi32>) -> tensor<6xf64>
  %3 = relay.cast %x_i32 {dtype = "bool"} : (tensor<6xi32>) -> tensor<6xi1>
  %4 = relay.cast %x_i32 {dtype = "int8"} : (tensor<6xi32>) -> tensor<6xi8>
  %5 = relay.cast %x_i32 {dtype = "int16"} : (tensor<6xi32>) -> tensor<6xi16>
  %6 = relay.cast %x_i32 {dtype = "int64"} : (tensor<6xi32>) -> tensor<6xi64>
  %7 = relay.cast %x_i32 {dtype = "uint8"} : (tensor<6xi32>) -> tensor<6xui8>
  %8 = relay.cast %x_i32 {dtype = "uint16"} : (tensor<6xi32>) -> tensor<6xui16>
  %9 = relay.cast %x_i32 {dtype = "uint32"} : (tensor<6xi32>) -> tensor<6xui32>
  %10 = relay.cast %x_i32 {dtype = "uint64"} : (tensor<6xi32>) -> tensor<6xui64>
  relay.return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10 : tensor<6xf16>, tensor<6xf32>, tensor<6xf64>, tensor<6xi1>, tensor<6xi8>, tensor<6xi16>, tensor<6xi64>, tensor<6xui8>, tensor<6xui16>, tensor<6xui32>, tensor<6xui64>
}

// CHECK: @from_i64
// CHECK-NEXT: equal to interpreter
relay.func @from_i64(%x_i64: tensor<6xi64>) -> (tensor<6xf16>, tensor<6xf32>, tensor<6xf64>, tensor<6xi1>, tensor<6xi8>, tensor<6xi16>, tensor<6xi32>, tensor<6xui8>, tensor<6xui16>, tensor<6xui32>, tensor<6xui64>) {
  %0 = relay.cast %x_i64 {dtype = "float16"} : (tensor<6xi64>) -> tensor<6xf16>
  %1 = relay.cast %x_i64 {dtype = "float32"} : (tensor<6xi64>) -> tensor<6xf32>
  %2 = relay.cast %x_i64 {dtype = "float64"} : (tensor<6xi64>) -> tensor<6xf64>
  %3 = relay.cast %x_i64 {dtype = "bool"} : (tensor<6xi64>) -> tensor<6xi1>
  %4 = relay.cast %x_i64 {dtype = "int8"} : (tensor<6xi64>) -> tensor<6xi8>
  %5 = relay.cast %x_i64 {dtype = "int16"} : (tensor<6xi64>) -> tensor<6xi16>
  %6 = relay.cast %x_i64 {dtype = "int32"} : (tensor<6xi64>) -> tensor<6xi32>
  %7 = relay.cast %x_i64 {dtype = "uint8"} : (tensor<6xi64>) -> tensor<6xui8>
  %8 = relay.cast %x_i64 {dtype = "uint16"} : (tensor<6xi64>) -> tensor<6xui16>
  %9 = relay.cast %x_i64 {dtype = "uint32"} : (tensor<6xi64>) -> tensor<6xui32>
  %10 = relay.cast %x_i64 {dtype = "uint64"} : (tensor<6xi64>) -> tensor<6xui64>
  relay.return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10 : tensor<6xf16>, tensor<6xf32>, tensor<6xf64>, tensor<6xi1>, tensor<6xi8>, tensor<6xi16>, tensor<6xi32>, tensor<6xui8>, tensor<6xui16>, tensor<6xui32>, tensor<6xui64>
}

// CHECK: @from_ui8
// CHECK-NEXT: equal to interpreter
relay.func @from_ui8(%x_ui8: tensor<6xui8>) -> (tensor<6xf16>, tensor<6xf32>, tensor<6xf64>, tensor<6xi1>, tensor<6xi8>, tensor<6xi16>, tensor<6xi32>, tensor<6xi64>, tensor<6xui16>, tensor<6xui32>, tensor<6xui64>) {
  %0 = relay.cast %x_ui8 {dtype = "float16"} : (tensor<6xui8>) -> tensor<6xf16>
  %1 = relay.cast %x_ui8 {dtype = "float32"} : (tensor<6xui8>) -> tensor<6xf32>
  %2 = relay.cast %x_ui8 {dtype = "float64"} : (tensor<6xui8>) -> tensor<6xf64>
  %3 = relay.cast %x_ui8 {dtype = "bool"} : (tensor<6xui8>) -> tensor<6xi1>
  %4 = relay.cast %x_ui8 {dtype = "int8"} : (tensor<6xui8>) -> tensor<6xi8>
  %5 = relay.cast %x_ui8 {dtype = "int16"} : (tensor<6xui8>) -> tensor<6xi16>
  %6 = relay.cast %x_ui8 {dtype = "int32"} : (tensor<6xui8>) -> tensor<6xi32>
  %7 = relay.cast %x_ui8 {dtype = "int64"} : (tensor<6xui8>) -> tensor<6xi64>
  %8 = relay.cast %x_ui8 {dtype = "uint16"} : (tensor<6xui8>) -> tensor<6xui16>
  %9 = relay.cast %x_ui8 {dtype = "uint32"} : (tensor<6xui8>) -> tensor<6xui32>
  %10 = relay.cast %x_ui8 {dtype = "uint64"} : (tensor<6xui8>) -> tensor<6xui64>
  relay.return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10 : tensor<6xf16>, tensor<6xf32>, tensor<6xf64>, tensor<6xi1>, tensor<6xi8>, tensor<6xi16>, tensor<6xi32>, tensor<6xi64>, tensor<6xui16>, tensor<6xui32>, tensor<6xui64>
}

// CHECK: @from_ui16
// CHECK-NEXT: equal to interpreter
relay.func @from_ui16(%x_ui16: tensor<6xui16>) -> (tensor<6xf16>, tensor<6xf32>, tensor<6xf64>, tensor<6xi1>, tensor<6xi8>, tensor<6xi16>, tensor<6xi32>, tensor<6xi64>, tensor<6xui8>, tensor<6xui32>, tensor<6xui64>) {
  %0 = relay.cast %x_ui16 {dtype = "float16"} : (tensor<6xui16>) -> tensor<6xf16>
  %1 = relay.cast %x_ui16 {dtype = "float32"} : (tensor<6xui16>) -> tensor<6xf32>
  %2 = relay.cast %x_ui16 {dtype = "float64"} : (tensor<6xui16>) -> tensor<6xf64>
  %3 = relay.cast %x_ui16 {dtype = "bool"} : (tensor<6xui16>) -> tensor<6xi1>
  %4 = relay.cast %x_ui16 {dtype = "int8"} : (tensor<6xui16>) -> tensor<6xi8>
  %5 = relay.cast %x_ui16 {dtype = "int16"} : (tensor<6xui16>) -> tensor<6xi16>
  %6 = relay.cast %x_ui16 {dtype = "int32"} : (tensor<6xui16>) -> tensor<6xi32>
  %7 = relay.cast %x_ui16 {dtype = "int64"} : (tensor<6xui16>) -> tensor<6xi64>
  %8 = relay.cast %x_ui16 {dtype = "uint8"} : (tensor<6xui16>) -> tensor<6xui8>
  %9 = relay.cast %x_ui16 {dtype = "uint32"} : (tensor<6xui16>) -> tensor<6xui32>
  %10 = relay.cast %x_ui16 {dtype = "uint64"} : (tensor<6xui16>) -> tensor<6xui64>
  relay.return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10 : tensor<6xf16>, tensor<6xf32>, tensor<6xf64>, tensor<6xi1>, tensor<6xi8>, tensor<6xi16>, tensor<6xi32>, tensor<6xi64>, tensor<6xui8>, tensor<6xui32>, tensor<6xui64>
}

// CHECK: @from_ui32
// CHECK-NEXT: equal to interpreter
relay.func @from_ui32(%x_ui32: tensor<6xui32>) -> (tensor<6xf16>, tensor<6xf32>, tensor<6xf64>, tensor<6xi1>, tensor<6xi8>, tensor<6xi16>, tensor<6xi32>, tensor<6xi64>, tensor<6xui8>, tensor<6xui16>, tensor<6xui64>) {
  %0 = relay.cast %x_ui32 {dtype = "float16"} : (tensor<6xui32>) -> tensor<6xf16>
  %1 = relay.cast %x_ui32 {dtype = "float32"} : (tensor<6xui32>) -> tensor<6xf32>
  %2 = relay.cast %x_ui32 {dtype = "float64"} : (tensor<6xui32>) -> tensor<6xf64>
  %3 = relay.cast %x_ui32 {dtype = "bool"} : (tensor<6xui32>) -> tensor<6xi1>
  %4 = relay.cast %x_ui32 {dtype = "int8"} : (tensor<6xui32>) -> tensor<6xi8>
  %5 = relay.cast %x_ui32 {dtype = "int16"} : (tensor<6xui32>) -> tensor<6xi16>
  %6 = relay.cast %x_ui32 {dtype = "int32"} : (tensor<6xui32>) -> tensor<6xi32>
  %7 = relay.cast %x_ui32 {dtype = "int64"} : (tensor<6xui32>) -> tensor<6xi64>
  %8 = relay.cast %x_ui32 {dtype = "uint8"} : (tensor<6xui32>) -> tensor<6xui8>
  %9 = relay.cast %x_ui32 {dtype = "uint16"} : (tensor<6xui32>) -> tensor<6xui16>
  %10 = relay.cast %x_ui32 {dtype = "uint64"} : (tensor<6xui32>) -> tensor<6xui64>
  relay.return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10 : tensor<6xf16>, tensor<6xf32>, tensor<6xf64>, tensor<6xi1>, tensor<6xi8>, tensor<6xi16>, tensor<6xi32>, tensor<6xi64>, tensor<6xui8>, tensor<6xui16>, tensor<6xui64>
}

// CHECK: @from_ui64
// CHECK-NEXT: equal to interpreter
relay.func @from_ui64(%x_ui64: tensor<6xui64>) -> (tensor<6xf16>, tensor<6xf32>, tensor<6xf64>, tensor<6xi1>, tensor<6xi8>, tensor<6xi16>, tensor<6xi32>, tensor<6xi64>, tensor<6xui8>, tensor<6xui16>, tensor<6xui32>) {
  %0 = relay.cast %x_ui64 {dtype = "float16"} : (tensor<6xui64>) -> tensor<6xf16>
  %1 = relay.cast %x_ui64 {dtype = "float32"} : (tensor<6xui64>) -> tensor<6xf32>
  %2 = relay.cast %x_ui64 {dtype = "float64"} : (tensor<6xui64>) -> tensor<6xf64>
  %3 = relay.cast %x_ui64 {dtype = "bool"} : (tensor<6xui64>) -> tensor<6xi1>
  %4 = relay.cast %x_ui64 {dtype = "int8"} : (tensor<6xui64>) -> tensor<6xi8>
  %5 = relay.cast %x_ui64 {dtype = "int16"} : (tensor<6xui64>) -> tensor<6xi16>
  %6 = relay.cast %x_ui64 {dtype = "int32"} : (tensor<6xui64>) -> tensor<6xi32>
  %7 = relay.cast %x_ui64 {dtype = "int64"} : (tensor<6xui64>) -> tensor<6xi64>
  %8 = relay.cast %x_ui64 {dtype = "uint8"} : (tensor<6xui64>) -> tensor<6xui8>
  %9 = relay.cast %x_ui64 {dtype = "uint16"} : (tensor<6xui64>) -> tensor<6xui16>
  %10 = relay.cast %x_ui64 {dtype = "uint32"} : (tensor<6xui64>) -> tensor<6xui32>
  relay.return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10 : tensor<6xf16>, tensor<6xf32>, tensor<6xf64>, tensor<6xi1>, tensor<6xi8>, tensor<6xi16>, tensor<6xi32>, tensor<6xi64>, tensor<6xui8>, tensor<6xui16>, tensor<6xui32>
}

// CHECK: @from_negative_f32
// CHECK-NEXT: equal to interpreter
relay.func @from_negative_f32(%n_f32: tensor<4xf32>) -> (tensor<4xf64>, tensor<4xi8>, tensor<4xi16>, tensor<4xi32>, tensor<4xi64>, tensor<4xi1>) {
  %0 = relay.cast %n_f32 {dtype = "float64"} : (tensor<4xf32>) -> tensor<4xf64>
  %1 = relay.cast %n_f32 {dtype = "int8"} : (tensor<4xf32>) -> tensor<4xi8>
  %2 = relay.cast %n_f32 {dtype = "int16"} : (tensor<4xf32>) -> tensor<4xi16>
  %3 = relay.cast %n_f32 {dtype = "int32"} : (tensor<4xf32>) -> tensor<4xi32>
  %4 = relay.cast %n_f32 {dtype = "int64"} : (tensor<4xf32>) -> tensor<4xi64>
  %5 = relay.cast %n_f32 {dtype = "bool"} : (tensor<4xf32>) -> tensor<4xi1>
  relay.return %0, %1, %2, %3, %4, %5 : tensor<4xf64>, tensor<4xi8>, tensor<4xi16>, tensor<4xi32>, tensor<4xi64>, tensor<4xi1>
}

// CHECK: @from_negative_i8
// CHECK-NEXT: equal to interpreter
relay.func @from_negative_i8(%n_i8: tensor<4xi8>) -> (tensor<4xf64>, tensor<4xf32>, tensor<4xi16>, tensor<4xi32>, tensor<4xi64>, tensor<4xi1>) {
  %0 = relay.cast %n_i8 {dtype = "float64"} : (tensor<4xi8>) -> tensor<4xf64>
  %1 = relay.cast %n_i8 {dtype = "float32"} : (tensor<4xi8>) -> tensor<4xf32>
  %2 = relay.cast %n_i8 {dtype = "int16"} : (tensor<4xi8>) -> tensor<4xi16>
  %3 = relay.cast %n_i8 {dtype = "int32"} : (tensor<4xi8>) -> tensor<4xi32>
  %4 = relay.cast %n_i8 {dtype = "int64"} : (tensor<4xi8>) -> tensor<4xi64>
  %5 = relay.cast %n_i8 {dtype = "bool"} : (tensor<4xi8>) -> tensor<4xi1>
  relay.return %0, %1, %2, %3, %4, %5 : tensor<4xf64>, tensor<4xf32>, tensor<4xi16>, tensor<4xi32>, tensor<4xi64>, tensor<4xi1>
}

// CHECK: @from_negative_i64
// CHECK-NEXT: equal to interpreter
relay.func @from_negative_i64(%n_i64: tensor<4xi64>) -> (tensor<4xf64>, tensor<4xf32>, tensor<4xi8>, tensor<4xi16>, tensor<4xi32>, tensor<4xi1>) {
  %0 = relay.cast %n_i64 {dtype = "float64"} : (tensor<4xi64>) -> tensor<4xf64>
  %1 = relay.cast %n_i64 {dtype = "float32"} : (tensor<4xi64>) -> tensor<4xf32>
  %2 = relay.cast %n_i64 {dtype = "int8"} : (tensor<4xi64>) -> tensor<4xi8>
  %3 = relay.cast %n_i64 {dtype = "int16"} : (tensor<4xi64>) -> tensor<4xi16>
  %4 = relay.cast %n_i64 {dtype = "int32"} : (tensor<4xi64>) -> tensor<4xi32>
  %5 = relay.cast %n_i64 {dtype = "bool"} : (tensor<4xi64>) -> tensor<4xi1>
  relay.return %0, %1, %2, %3, %4, %5 : tensor<4xf64>, tensor<4xf32>, tensor<4xi8>, tensor<4xi16>, tensor<4xi32>, tensor<4xi1>
}

// CHECK: @from_negative_i32
// CHECK-NEXT: equal to interpreter
relay.func @from_negative_i32(%n_i32: tensor<4xi32>) -> (tensor<4xf64>, tensor<4xf32>, tensor<4xi8>, tensor<4xi16>, tensor<4xi64>, tensor<4xi1>) {
  %0 = relay.cast %n_i32 {dtype = "float64"} : (tensor<4xi32>) -> tensor<4xf64>
  %1 = relay.cast %n_i32 {dtype = "float32"} : (tensor<4xi32>) -> tensor<4xf32>
  %2 = relay.cast %n_i32 {dtype = "int8"} : (tensor<4xi32>) -> tensor<4xi8>
  %3 = relay.cast %n_i32 {dtype = "int16"} : (tensor<4xi32>) -> tensor<4xi16>
  %4 = relay.cast %n_i32 {dtype = "int64"} : (tensor<4xi32>) -> tensor<4xi64>
  %5 = relay.cast %n_i32 {dtype = "bool"} : (tensor<4xi32>) -> tensor<4xi1>
  relay.return %0, %1, %2, %3, %4, %5 : tensor<4xf64>, tensor<4xf32>, tensor<4xi8>, tensor<4xi16>, tensor<4xi64>, tensor<4xi1>
}
