// RUN: weft-opt %s | weft-opt | filecheck %s
// RUN: weft-opt %s --mlir-print-op-generic | weft-opt | filecheck %s

// CHECK: relay.adt @list<"T"> {nil(), cons(!relay.param<"T">, !relay.adt<@list, [!relay.param<"T">]>)}
relay.adt @list<"T"> {
  nil(),
  cons(!relay.param<"T">, !relay.adt<@list, [!relay.param<"T">]>)
}
// CHECK-NEXT: relay.adt @color {red(), green(), mixed(!relay.adt<@color>, !relay.adt<@color>)}
relay.adt @color {red(), green(), mixed(!relay.adt<@color>, !relay.adt<@color>)}

// CHECK-NEXT: relay.func @head_or(%l: !relay.adt<@list, [tensor<f32>]>, %zero: tensor<f32>) -> tensor<f32> {
relay.func @head_or(%l: !relay.adt<@list, [tensor<f32>]>, %zero: tensor<f32>) -> tensor<f32> {
  // CHECK-NEXT: %y = relay.match %l : (!relay.adt<@list, [tensor<f32>]>) -> tensor<f32> case cons(%h: tensor<f32>, %t: !relay.adt<@list, [tensor<f32>]>) {
  // CHECK-NEXT:   relay.yield %h : tensor<f32>
  // CHECK-NEXT: } default {
  // CHECK-NEXT:   relay.yield %zero : tensor<f32>
  // CHECK-NEXT: }
  %y = relay.match %l : (!relay.adt<@list, [tensor<f32>]>) -> tensor<f32>
  case cons(%h: tensor<f32>, %t: !relay.adt<@list, [tensor<f32>]>) {
    relay.yield %h : tensor<f32>
  } default {
    relay.yield %zero : tensor<f32>
  }
  relay.return %y : tensor<f32>
}

// CHECK: relay.func @colors() -> !relay.adt<@list, [!relay.adt<@color>]> {
relay.func @colors() -> !relay.adt<@list, [!relay.adt<@color>]> {
  // CHECK-NEXT: %r = relay.construct "red"() : () -> !relay.adt<@color>
  %r = relay.construct "red"() : () -> !relay.adt<@color>
  %n = relay.construct "nil"() : () -> !relay.adt<@list, [!relay.adt<@color>]>
  // CHECK: relay.construct "cons"(%r, %n) : (!relay.adt<@color>, !relay.adt<@list, [!relay.adt<@color>]>) -> !relay.adt<@list, [!relay.adt<@color>]>
  %l = relay.construct "cons"(%r, %n) : (!relay.adt<@color>, !relay.adt<@list, [!relay.adt<@color>]>) -> !relay.adt<@list, [!relay.adt<@color>]>
  relay.return %l : !relay.adt<@list, [!relay.adt<@color>]>
}

// A function with a type left open is called with any.

// CHECK: relay.func private @identity(%x: !relay.param<"T">) -> !relay.param<"T"> {
relay.func private @identity(%x: !relay.param<"T">) -> !relay.param<"T"> {
  relay.return %x : !relay.param<"T">
}

// CHECK: relay.func @open(%x: tensor<f32>, %c: !relay.adt<@color>)
relay.func @open(%x: tensor<f32>, %c: !relay.adt<@color>) -> (tensor<f32>, !relay.adt<@color>) {
  // CHECK-NEXT: relay.call @identity(%x) : (tensor<f32>) -> tensor<f32>
  %y = relay.call @identity(%x) : (tensor<f32>) -> tensor<f32>
  %d = relay.call @identity(%c) : (!relay.adt<@color>) -> !relay.adt<@color>
  relay.return %y, %d : tensor<f32>, !relay.adt<@color>
}

// CHECK: relay.func @a_part_of_a_call
relay.func @a_part_of_a_call(%l: !relay.adt<@list, [tensor<f32>]>) -> ((tensor<f32>) -> tensor<f32>) {
  // CHECK-NEXT: relay.closure @head_or(%l) : (!relay.adt<@list, [tensor<f32>]>) -> ((tensor<f32>) -> tensor<f32>)
  %f = relay.closure @head_or(%l) : (!relay.adt<@list, [tensor<f32>]>) -> ((tensor<f32>) -> tensor<f32>)
  relay.return %f : (tensor<f32>) -> tensor<f32>
}
