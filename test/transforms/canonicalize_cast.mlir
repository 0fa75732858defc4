// RUN: weft-opt %s -p canonicalize-cast | filecheck %s
// RUN: weft-opt %s -p canonicalize-cast --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// CHECK-LABEL: @every_further_consumer_gets_its_own_cast
// CHECK:         %c = relay.cast %x {dtype = "int32"}
// CHECK-NEXT:    %a = relay.add %c, %w
// CHECK-NEXT:    %[[OWN:.*]] = relay.cast %x {dtype = "int32"}
// CHECK-NEXT:    %b = relay.multiply %[[OWN]], %w
// CHECK-NEXT:    %[[THIRD:.*]] = relay.cast %x {dtype = "int32"}
// CHECK-NEXT:    %d = relay.subtract %w, %[[THIRD]]
// REMARK:        remark: [canonicalize-cast] passed: 'relay.multiply': has a widening cast of its own now
relay.func @every_further_consumer_gets_its_own_cast(%x: tensor<4xi8>, %w: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  %c = relay.cast %x {dtype = "int32"} : (tensor<4xi8>) -> tensor<4xi32>
  %a = relay.add %c, %w : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %b = relay.multiply %c, %w : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %d = relay.subtract %w, %c : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  relay.return %a, %b, %d : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}

// CHECK-LABEL: @an_operator_that_uses_a_cast_twice_is_one_consumer
// CHECK-COUNT-1: relay.cast
// CHECK-NEXT:    relay.add %c, %c
// CHECK-NEXT:    relay.return
relay.func @an_operator_that_uses_a_cast_twice_is_one_consumer(%x: tensor<4xi8>) -> tensor<4xi32> {
  %c = relay.cast %x {dtype = "int32"} : (tensor<4xi8>) -> tensor<4xi32>
  %a = relay.add %c, %c : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  relay.return %a : tensor<4xi32>
}

// CHECK-LABEL: @a_cast_with_one_consumer_stays
// CHECK:         relay.cast
// CHECK-NEXT:    relay.abs
// CHECK-NEXT:    relay.return
relay.func @a_cast_with_one_consumer_stays(%x: tensor<?xf16>) -> tensor<?xf32> {
  %c = relay.cast %x {dtype = "float32"} : (tensor<?xf16>) -> tensor<?xf32>
  %a = relay.abs %c : tensor<?xf32>
  relay.return %a : tensor<?xf32>
}

// CHECK-LABEL: @dynamic_shapes_are_no_matter
// CHECK:         relay.cast
// CHECK-NEXT:    relay.abs
// CHECK-NEXT:    relay.cast
// CHECK-NEXT:    relay.nn.relu
relay.func @dynamic_shapes_are_no_matter(%x: tensor<?xf16>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c = relay.cast %x {dtype = "float32"} : (tensor<?xf16>) -> tensor<?xf32>
  %a = relay.abs %c : tensor<?xf32>
  %b = relay.nn.relu %c : tensor<?xf32>
  relay.return %a, %b : tensor<?xf32>, tensor<?xf32>
}

// CHECK-LABEL: @empty_tensors_are_no_matter
// CHECK:         relay.cast
// CHECK-NEXT:    relay.abs
// CHECK-NEXT:    relay.cast
relay.func @empty_tensors_are_no_matter(%x: tensor<0xi8>) -> (tensor<0xf32>, tensor<0xf32>) {
  %c = relay.cast %x {dtype = "float32"} : (tensor<0xi8>) -> tensor<0xf32>
  %a = relay.abs %c : tensor<0xf32>
  %b = relay.nn.relu %c : tensor<0xf32>
  relay.return %a, %b : tensor<0xf32>, tensor<0xf32>
}

// CHECK-LABEL: @a_narrowing_cast_stays_shared
// CHECK:         relay.cast
// CHECK-NEXT:    relay.abs
// CHECK-NEXT:    relay.nn.relu
relay.func @a_narrowing_cast_stays_shared(%x: tensor<4xf32>) -> (tensor<4xf16>, tensor<4xf16>) {
  %c = relay.cast %x {dtype = "float16"} : (tensor<4xf32>) -> tensor<4xf16>
  %a = relay.abs %c : tensor<4xf16>
  %b = relay.nn.relu %c : tensor<4xf16>
  relay.return %a, %b : tensor<4xf16>, tensor<4xf16>
}

// CHECK-LABEL: @a_cast_to_a_type_as_wide_stays_shared
// CHECK:         relay.cast
// CHECK-NEXT:    relay.abs
// CHECK-NEXT:    relay.nn.relu
relay.func @a_cast_to_a_type_as_wide_stays_shared(%x: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c = relay.cast %x {dtype = "float32"} : (tensor<4xi32>) -> tensor<4xf32>
  %a = relay.abs %c : tensor<4xf32>
  %b = relay.nn.relu %c : tensor<4xf32>
  relay.return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @a_consumer_that_cannot_be_fused_with_a_cast_shares_it
// CHECK:         %c = relay.cast
// CHECK-NEXT:    %s = relay.nn.softmax %c
// CHECK-NEXT:    %a = relay.abs %c
// CHECK-NEXT:    relay.return
// REMARK:        remark: [canonicalize-cast] missed: 'relay.nn.softmax': shares a widening cast, and cannot be fused with one
relay.func @a_consumer_that_cannot_be_fused_with_a_cast_shares_it(%x: tensor<2x4xf16>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %c = relay.cast %x {dtype = "float32"} : (tensor<2x4xf16>) -> tensor<2x4xf32>
  %s = relay.nn.softmax %c {axis = -1 : i64} : tensor<2x4xf32>
  %a = relay.abs %c : tensor<2x4xf32>
  relay.return %s, %a : tensor<2x4xf32>, tensor<2x4xf32>
}
