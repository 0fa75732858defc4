// RUN: weft-opt %s --verify-roundtrip | filecheck %s
// RUN: weft-opt %s --mlir-print-op-generic | weft-opt - | filecheck %s

// Properties that have their default values are not printed.
// CHECK-LABEL: relay.func @defaults_are_not_printed
relay.func @defaults_are_not_printed(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: relay.sum %x {axis = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  %0 = relay.sum %x {axis = array<i64: 1>, keepdims = false, exclude = false} : (tensor<2x3xf32>) -> tensor<2xf32>
  relay.return %0 : tensor<2xf32>
}

// An attribute that TVM leaves undefined is absent.
// CHECK-LABEL: relay.func @absent_attributes
relay.func @absent_attributes(%x: tensor<1x3xf32>) -> tensor<3x1xf32> {
  // CHECK-NEXT: relay.squeeze %x : (tensor<1x3xf32>) -> tensor<3xf32>
  %0 = relay.squeeze %x : (tensor<1x3xf32>) -> tensor<3xf32>
  // CHECK-NEXT: relay.squeeze %x {axis = array<i64>} : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %1 = relay.squeeze %x {axis = array<i64>} : (tensor<1x3xf32>) -> tensor<1x3xf32>
  // CHECK-NEXT: relay.transpose %1 : (tensor<1x3xf32>) -> tensor<3x1xf32>
  %2 = relay.transpose %1 : (tensor<1x3xf32>) -> tensor<3x1xf32>
  relay.return %2 : tensor<3x1xf32>
}

// CHECK-LABEL: relay.func @dynamic_dimensions
relay.func @dynamic_dimensions(%x: tensor<?x3x?xf32>, %y: tensor<3x1xf32>, %i: tensor<?xi64>) -> tensor<?xf32> {
  // A dynamic extent broadcasts with one to itself.
  // CHECK-NEXT: relay.add {{.*}} -> tensor<?x3x?xf32>
  %0 = relay.add %x, %y : (tensor<?x3x?xf32>, tensor<3x1xf32>) -> tensor<?x3x?xf32>
  // Extents that are dynamic before and after cancel out.
  // CHECK-NEXT: relay.reshape {{.*}} -> tensor<?x?x3xf32>
  %1 = relay.reshape %0 {newshape = array<i64: 0, -1, 3>} : (tensor<?x3x?xf32>) -> tensor<?x?x3xf32>
  // CHECK-NEXT: relay.reshape {{.*}} -> tensor<?x?xf32>
  %2 = relay.reshape %1 {newshape = array<i64: 0, -3>} : (tensor<?x?x3xf32>) -> tensor<?x?xf32>
  // CHECK-NEXT: relay.strided_slice {{.*}} -> tensor<2x?xf32>
  %3 = relay.strided_slice %2 {begin = array<i64: 1>, end = array<i64: 2>, slice_mode = "size"} : (tensor<?x?xf32>) -> tensor<2x?xf32>
  // CHECK-NEXT: relay.take {{.*}} -> tensor<2x?xf32>
  %4 = relay.take %3, %i {axis = 1 : i64} : (tensor<2x?xf32>, tensor<?xi64>) -> tensor<2x?xf32>
  // CHECK-NEXT: relay.split {{.*}} -> tuple<tensor<2x1xf32>, tensor<2x?xf32>>
  %5 = relay.split %4 {indices_or_sections = array<i64: 1>, axis = 1 : i64} : (tensor<2x?xf32>) -> tuple<tensor<2x1xf32>, tensor<2x?xf32>>
  // CHECK-NEXT: relay.concatenate {{.*}} -> tensor<2x?xf32>
  %6 = relay.concatenate %5 {axis = 1 : i64} : (tuple<tensor<2x1xf32>, tensor<2x?xf32>>) -> tensor<2x?xf32>
  // CHECK-NEXT: relay.max {{.*}} -> tensor<?xf32>
  %7 = relay.max %6 {axis = array<i64: 0>} : (tensor<2x?xf32>) -> tensor<?xf32>
  relay.return %7 : tensor<?xf32>
}

// A declared type may say more, or less, than what follows from the operands.
// CHECK-LABEL: relay.func @refined_types
relay.func @refined_types(%x: tensor<?xf32>, %y: tensor<4xf32>) -> tensor<?xf32> {
  // CHECK-NEXT: relay.reshape %x {newshape = array<i64: -1>} : (tensor<?xf32>) -> tensor<4xf32>
  %0 = relay.reshape %x {newshape = array<i64: -1>} : (tensor<?xf32>) -> tensor<4xf32>
  // CHECK-NEXT: relay.add %0, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<?xf32>
  %1 = relay.add %0, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<?xf32>
  relay.return %1 : tensor<?xf32>
}

// CHECK-LABEL: relay.func @operators_without_operands
relay.func @operators_without_operands() -> tensor<2x3xf16> {
  // CHECK-NEXT: relay.zeros {shape = array<i64: 2, 3>, dtype = "float16"} : tensor<2x3xf16>
  %0 = relay.zeros {shape = array<i64: 2, 3>, dtype = "float16"} : tensor<2x3xf16>
  relay.return %0 : tensor<2x3xf16>
}

// The extent of a range is known where its bounds are constants.
// CHECK-LABEL: relay.func @ranges
relay.func @ranges(%stop: tensor<i32>) -> (tensor<3xi32>, tensor<?xi32>) {
  %zero = relay.constant dense<0> : tensor<i32>
  %five = relay.constant dense<5> : tensor<i32>
  %two = relay.constant dense<2> : tensor<i32>
  // CHECK: relay.arange {{.*}} -> tensor<3xi32>
  %0 = relay.arange %zero, %five, %two {dtype = "int32"} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3xi32>
  // CHECK-NEXT: relay.arange {{.*}} -> tensor<?xi32>
  %1 = relay.arange %zero, %stop, %two {dtype = "int32"} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<?xi32>
  relay.return %0, %1 : tensor<3xi32>, tensor<?xi32>
}
