// RUN: weft-run %s --function '*' --compare interpreter --quiet --input 'a_i8=8xi8=[7, -7, 127, -128, 100, -1, 13, 0]' --input 'b_i8=8xi8=[3, 3, 2, 2, 5, 6, 1, 4]' --input 'a_i16=8xi16=[7, -7, 32767, -32768, 100, -1, 13, 0]' --input 'b_i16=8xi16=[3, 3, 2, 2, 5, 6, 1, 4]' --input 'a_i32=8xi32=[7, -7, 2147483647, -2147483648, 100, -1, 13, 0]' --input 'b_i32=8xi32=[3, 3, 2, 2, 5, 6, 1, 4]' --input 'a_i64=8xi64=[7, -7, 9223372036854775807, -9223372036854775808, 100, -1, 13, 0]' --input 'b_i64=8xi64=[3, 3, 2, 2, 5, 6, 1, 4]' --input 'a_ui8=8xui8=[7, 250, 255, 0, 100, 1, 13, 0]' --input 'b_ui8=8xui8=[3, 3, 2, 2, 5, 6, 1, 4]' --input 'a_ui16=8xui16=[7, 250, 65535, 0, 100, 1, 13, 0]' --input 'b_ui16=8xui16=[3, 3, 2, 2, 5, 6, 1, 4]' --input 'a_ui32=8xui32=[7, 250, 4294967295, 0, 100, 1, 13, 0]' --input 'b_ui32=8xui32=[3, 3, 2, 2, 5, 6, 1, 4]' --input 'a_ui64=8xui64=[7, 250, 18446744073709551615, 0, 100, 1, 13, 0]' --input 'b_ui64=8xui64=[3, 3, 2, 2, 5, 6, 1, 4]' | filecheck %s

// Arithmetic on integers of every width, signed and not, with operands at the ends of their ranges.

// CHECK: @i8
// CHECK-NEXT: equal to interpreter
relay.func @i8(%a_i8: tensor<8xi8>, %b_i8: tensor<8xi8>) -> (tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
  %0 = relay.add %a_i8, %b_i8 : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  %1 = relay.subtract %a_i8, %b_i8 : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  %2 = relay.multiply %a_i8, %b_i8 : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  %3 = relay.maximum %a_i8, %b_i8 : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  %4 = relay.minimum %a_i8, %b_i8 : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  %5 = relay.floor_divide %a_i8, %b_i8 : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  %6 = relay.floor_mod %a_i8, %b_i8 : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  %7 = relay.trunc_divide %a_i8, %b_i8 : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  %8 = relay.trunc_mod %a_i8, %b_i8 : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  %9 = relay.bitwise_and %a_i8, %b_i8 : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  %10 = relay.bitwise_or %a_i8, %b_i8 : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  %11 = relay.bitwise_xor %a_i8, %b_i8 : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  %12 = relay.left_shift %a_i8, %b_i8 : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  %13 = relay.right_shift %a_i8, %b_i8 : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  %14 = relay.not_equal %a_i8, %b_i8 : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi1>
  %15 = relay.less %a_i8, %b_i8 : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi1>
  %16 = relay.less_equal %a_i8, %b_i8 : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi1>
  relay.return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16 : tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
}

// CHECK: @i16
// CHECK-NEXT: equal to interpreter
relay.func @i16(%a_i16: tensor<8xi16>, %b_i16: tensor<8xi16>) -> (tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
  %0 = relay.add %a_i16, %b_i16 : (tensor<8xi16>, tensor<8xi16>) -> tensor<8xi16>
  %1 = relay.subtract %a_i16, %b_i16 : (tensor<8xi16>, tensor<8xi16>) -> tensor<8xi16>
  %2 = relay.multiply %a_i16, %b_i16 : (tensor<8xi16>, tensor<8xi16>) -> tensor<8xi16>
  %3 = relay.maximum %a_i16, %b_i16 : (tensor<8xi16>, tensor<8xi16>) -> tensor<8xi16>
  %4 = relay.minimum %a_i16, %b_i16 : (tensor<8xi16>, tensor<8xi16>) -> tensor<8xi16>
  %5 = relay.floor_divide %a_i16, %b_i16 : (tensor<8xi16>, tensor<8xi16>) -> tensor<8xi16>
  %6 = relay.floor_mod %a_i16, %b_i16 : (tensor<8xi16>, tensor<8xi16>) -> tensor<8xi16>
  %7 = relay.trunc_divide %a_i16, %b_i16 : (tensor<8xi16>, tensor<8xi16>) -> tensor<8xi16>
  %8 = relay.trunc_mod %a_i16, %b_i16 : (tensor<8xi16>, tensor<8xi16>) -> tensor<8xi16>
  %9 = relay.bitwise_and %a_i16, %b_i16 : (tensor<8xi16>, tensor<8xi16>) -> tensor<8xi16>
  %10 = relay.bitwise_or %a_i16, %b_i16 : (tensor<8xi16>, tensor<8xi16>) -> tensor<8xi16>
  %11 = relay.bitwise_xor %a_i16, %b_i16 : (tensor<8xi16>, tensor<8xi16>) -> tensor<8xi16>
  %12 = relay.left_shift %a_i16, %b_i16 : (tensor<8xi16>, tensor<8xi16>) -> tensor<8xi16>
  %13 = relay.right_shift %a_i16, %b_i16 : (tensor<8xi16>, tensor<8xi16>) -> tensor<8xi16>
  %14 = relay.not_equal %a_i16, %b_i16 : (tensor<8xi16>, tensor<8xi16>) -> tensor<8xi1>
  %15 = relay.less %a_i16, %b_i16 : (tensor<8xi16>, tensor<8xi16>) -> tensor<8xi1>
  %16 = relay.less_equal %a_i16, %b_i16 : (tensor<8xi16>, tensor<8xi16>) -> tensor<8xi1>
  relay.return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16 : tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
}

// CHECK: @i32
// CHECK-NEXT: equal to interpreter
relay.func @i32(%a_i32: tensor<8xi32>, %b_i32: tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
  %0 = relay.add %a_i32, %b_i32 : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  %1 = relay.subtract %a_i32, %b_i32 : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  %2 = relay.multiply %a_i32, %b_i32 : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  %3 = relay.maximum %a_i32, %b_i32 : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  %4 = relay.minimum %a_i32, %b_i32 : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  %5 = relay.floor_divide %a_i32, %b_i32 : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  %6 = relay.floor_mod %a_i32, %b_i32 : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  %7 = relay.trunc_divide %a_i32, %b_i32 : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  %8 = relay.trunc_mod %a_i32, %b_i32 : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  %9 = relay.bitwise_and %a_i32, %b_i32 : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  %10 = relay.bitwise_or %a_i32, %b_i32 : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  %11 = relay.bitwise_xor %a_i32, %b_i32 : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  %12 = relay.left_shift %a_i32, %b_i32 : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  %13 = relay.right_shift %a_i32, %b_i32 : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  %14 = relay.not_equal %a_i32, %b_i32 : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
  %15 = relay.less %a_i32, %b_i32 : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
  %16 = relay.less_equal %a_i32, %b_i32 : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
  relay.return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16 : tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
}

// CHECK: @i64
// CHECK-NEXT: equal to interpreter
relay.func @i64(%a_i64: tensor<8xi64>, %b_i64: tensor<8xi64>) -> (tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
  %0 = relay.add %a_i64, %b_i64 : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi64>
  %1 = relay.subtract %a_i64, %b_i64 : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi64>
  %2 = relay.multiply %a_i64, %b_i64 : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi64>
  %3 = relay.maximum %a_i64, %b_i64 : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi64>
  %4 = relay.minimum %a_i64, %b_i64 : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi64>
  %5 = relay.floor_divide %a_i64, %b_i64 : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi64>
  %6 = relay.floor_mod %a_i64, %b_i64 : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi64>
  %7 = relay.trunc_divide %a_i64, %b_i64 : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi64>
  %8 = relay.trunc_mod %a_i64, %b_i64 : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi64>
  %9 = relay.bitwise_and %a_i64, %b_i64 : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi64>
  %10 = relay.bitwise_or %a_i64, %b_i64 : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi64>
  %11 = relay.bitwise_xor %a_i64, %b_i64 : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi64>
  %12 = relay.left_shift %a_i64, %b_i64 : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi64>
  %13 = relay.right_shift %a_i64, %b_i64 : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi64>
  %14 = relay.not_equal %a_i64, %b_i64 : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi1>
  %15 = relay.less %a_i64, %b_i64 : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi1>
  %16 = relay.less_equal %a_i64, %b_i64 : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi1>
  relay.return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16 : tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
}

// CHECK: @ui8
// CHECK-NEXT: equal to interpreter
relay.func @ui8(%a_ui8: tensor<8xui8>, %b_ui8: tensor<8xui8>) -> (tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
  %0 = relay.add %a_ui8, %b_ui8 : (tensor<8xui8>, tensor<8xui8>) -> tensor<8xui8>
  %1 = relay.subtract %a_ui8, %b_ui8 : (tensor<8xui8>, tensor<8xui8>) -> tensor<8xui8>
  %2 = relay.multiply %a_ui8, %b_ui8 : (tensor<8xui8>, tensor<8xui8>) -> tensor<8xui8>
  %3 = relay.maximum %a_ui8, %b_ui8 : (tensor<8xui8>, tensor<8xui8>) -> tensor<8xui8>
  %4 = relay.minimum %a_ui8, %b_ui8 : (tensor<8xui8>, tensor<8xui8>) -> tensor<8xui8>
  %5 = relay.floor_divide %a_ui8, %b_ui8 : (tensor<8xui8>, tensor<8xui8>) -> tensor<8xui8>
  %6 = relay.floor_mod %a_ui8, %b_ui8 : (tensor<8xui8>, tensor<8xui8>) -> tensor<8xui8>
  %7 = relay.trunc_divide %a_ui8, %b_ui8 : (tensor<8xui8>, tensor<8xui8>) -> tensor<8xui8>
  %8 = relay.trunc_mod %a_ui8, %b_ui8 : (tensor<8xui8>, tensor<8xui8>) -> tensor<8xui8>
  %9 = relay.bitwise_and %a_ui8, %b_ui8 : (tensor<8xui8>, tensor<8xui8>) -> tensor<8xui8>
  %10 = relay.bitwise_or %a_ui8, %b_ui8 : (tensor<8xui8>, tensor<8xui8>) -> tensor<8xui8>
  %11 = relay.bitwise_xor %a_ui8, %b_ui8 : (tensor<8xui8>, tensor<8xui8>) -> tensor<8xui8>
  %12 = relay.left_shift %a_ui8, %b_ui8 : (tensor<8xui8>, tensor<8xui8>) -> tensor<8xui8>
  %13 = relay.right_shift %a_ui8, %b_ui8 : (tensor<8xui8>, tensor<8xui8>) -> tensor<8xui8>
  %14 = relay.not_equal %a_ui8, %b_ui8 : (tensor<8xui8>, tensor<8xui8>) -> tensor<8xi1>
  %15 = relay.less %a_ui8, %b_ui8 : (tensor<8xui8>, tensor<8xui8>) -> tensor<8xi1>
  %16 = relay.less_equal %a_ui8, %b_ui8 : (tensor<8xui8>, tensor<8xui8>) -> tensor<8xi1>
  relay.return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16 : tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
}

// CHECK: @ui16
// CHECK-NEXT: equal to interpreter
relay.func @ui16(%a_ui16: tensor<8xui16>, %b_ui16: tensor<8xui16>) -> (tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
  %0 = relay.add %a_ui16, %b_ui16 : (tensor<8xui16>, tensor<8xui16>) -> tensor<8xui16>
  %1 = relay.subtract %a_ui16, %b_ui16 : (tensor<8xui16>, tensor<8xui16>) -> tensor<8xui16>
  %2 = relay.multiply %a_ui16, %b_ui16 : (tensor<8xui16>, tensor<8xui16>) -> tensor<8xui16>
  %3 = relay.maximum %a_ui16, %b_ui16 : (tensor<8xui16>, tensor<8xui16>) -> tensor<8xui16>
  %4 = relay.minimum %a_ui16, %b_ui16 : (tensor<8xui16>, tensor<8xui16>) -> tensor<8xui16>
  %5 = relay.floor_divide %a_ui16, %b_ui16 : (tensor<8xui16>, tensor<8xui16>) -> tensor<8xui16>
  %6 = relay.floor_mod %a_ui16, %b_ui16 : (tensor<8xui16>, tensor<8xui16>) -> tensor<8xui16>
  %7 = relay.trunc_divide %a_ui16, %b_ui16 : (tensor<8xui16>, tensor<8xui16>) -> tensor<8xui16>
  %8 = relay.trunc_mod %a_ui16, %b_ui16 : (tensor<8xui16>, tensor<8xui16>) -> tensor<8xui16>
  %9 = relay.bitwise_and %a_ui16, %b_ui16 : (tensor<8xui16>, tensor<8xui16>) -> tensor<8xui16>
  %10 = relay.bitwise_or %a_ui16, %b_ui16 : (tensor<8xui16>, tensor<8xui16>) -> tensor<8xui16>
  %11 = relay.bitwise_xor %a_ui16, %b_ui16 : (tensor<8xui16>, tensor<8xui16>) -> tensor<8xui16>
  %12 = relay.left_shift %a_ui16, %b_ui16 : (tensor<8xui16>, tensor<8xui16>) -> tensor<8xui16>
  %13 = relay.right_shift %a_ui16, %b_ui16 : (tensor<8xui16>, tensor<8xui16>) -> tensor<8xui16>
  %14 = relay.not_equal %a_ui16, %b_ui16 : (tensor<8xui16>, tensor<8xui16>) -> tensor<8xi1>
  %15 = relay.less %a_ui16, %b_ui16 : (tensor<8xui16>, tensor<8xui16>) -> tensor<8xi1>
  %16 = relay.less_equal %a_ui16, %b_ui16 : (tensor<8xui16>, tensor<8xui16>) -> tensor<8xi1>
  relay.return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16 : tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
}

// CHECK: @ui32
// CHECK-NEXT: equal to interpreter
relay.func @ui32(%a_ui32: tensor<8xui32>, %b_ui32: tensor<8xui32>) -> (tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
  %0 = relay.add %a_ui32, %b_ui32 : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
  %1 = relay.subtract %a_ui32, %b_ui32 : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
  %2 = relay.multiply %a_ui32, %b_ui32 : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
  %3 = relay.maximum %a_ui32, %b_ui32 : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
  %4 = relay.minimum %a_ui32, %b_ui32 : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
  %5 = relay.floor_divide %a_ui32, %b_ui32 : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
  %6 = relay.floor_mod %a_ui32, %b_ui32 : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
  %7 = relay.trunc_divide %a_ui32, %b_ui32 : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
  %8 = relay.trunc_mod %a_ui32, %b_ui32 : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
  %9 = relay.bitwise_and %a_ui32, %b_ui32 : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
  %10 = relay.bitwise_or %a_ui32, %b_ui32 : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
  %11 = relay.bitwise_xor %a_ui32, %b_ui32 : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
  %12 = relay.left_shift %a_ui32, %b_ui32 : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
  %13 = relay.right_shift %a_ui32, %b_ui32 : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
  %14 = relay.not_equal %a_ui32, %b_ui32 : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xi1>
  %15 = relay.less %a_ui32, %b_ui32 : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xi1>
  %16 = relay.less_equal %a_ui32, %b_ui32 : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xi1>
  relay.return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16 : tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
}

// CHECK: @ui64
// CHECK-NEXT: equal to interpreter
relay.func @ui64(%a_ui64: tensor<8xui64>, %b_ui64: tensor<8xui64>) -> (tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
  %0 = relay.add %a_ui64, %b_ui64 : (tensor<8xui64>, tensor<8xui64>) -> tensor<8xui64>
  %1 = relay.subtract %a_ui64, %b_ui64 : (tensor<8xui64>, tensor<8xui64>) -> tensor<8xui64>
  %2 = relay.multiply %a_ui64, %b_ui64 : (tensor<8xui64>, tensor<8xui64>) -> tensor<8xui64>
  %3 = relay.maximum %a_ui64, %b_ui64 : (tensor<8xui64>, tensor<8xui64>) -> tensor<8xui64>
  %4 = relay.minimum %a_ui64, %b_ui64 : (tensor<8xui64>, tensor<8xui64>) -> tensor<8xui64>
  %5 = relay.floor_divide %a_ui64, %b_ui64 : (tensor<8xui64>, tensor<8xui64>) -> tensor<8xui64>
  %6 = relay.floor_mod %a_ui64, %b_ui64 : (tensor<8xui64>, tensor<8xui64>) -> tensor<8xui64>
  %7 = relay.trunc_divide %a_ui64, %b_ui64 : (tensor<8xui64>, tensor<8xui64>) -> tensor<8xui64>
  %8 = relay.trunc_mod %a_ui64, %b_ui64 : (tensor<8xui64>, tensor<8xui64>) -> tensor<8xui64>
  %9 = relay.bitwise_and %a_ui64, %b_ui64 : (tensor<8xui64>, tensor<8xui64>) -> tensor<8xui64>
  %10 = relay.bitwise_or %a_ui64, %b_ui64 : (tensor<8xui64>, tensor<8xui64>) -> tensor<8xui64>
  %11 = relay.bitwise_xor %a_ui64, %b_ui64 : (tensor<8xui64>, tensor<8xui64>) -> tensor<8xui64>
  %12 = relay.left_shift %a_ui64, %b_ui64 : (tensor<8xui64>, tensor<8xui64>) -> tensor<8xui64>
  %13 = relay.right_shift %a_ui64, %b_ui64 : (tensor<8xui64>, tensor<8xui64>) -> tensor<8xui64>
  %14 = relay.not_equal %a_ui64, %b_ui64 : (tensor<8xui64>, tensor<8xui64>) -> tensor<8xi1>
  %15 = relay.less %a_ui64, %b_ui64 : (tensor<8xui64>, tensor<8xui64>) -> tensor<8xi1>
  %16 = relay.less_equal %a_ui64, %b_ui64 : (tensor<8xui64>, tensor<8xui64>) -> tensor<8xi1>
  relay.return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16 : tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
}
