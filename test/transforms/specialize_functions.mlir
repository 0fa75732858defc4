// RUN: weft-opt %s -p specialize-functions --split-input-file | filecheck %s

// CHECK-LABEL: relay.func @written_once_for_each_type
// CHECK: relay.closure @id_1() :
// CHECK: relay.call @map_1(%f, %l) :
// CHECK: relay.call @map_1(%g, %l1) :
// CHECK: relay.func private @id_1(%x: tensor<2xf32>) -> tensor<2xf32> {
// CHECK: relay.func private @map_1(
// CHECK: relay.call @map_1(%f, %t)
// CHECK-NOT: relay.func
relay.adt @list<"T"> {nil(), cons(!relay.param<"T">, !relay.adt<@list, [!relay.param<"T">]>)}
relay.func private @id(%x: !relay.param<"A">) -> !relay.param<"A"> {
  relay.return %x : !relay.param<"A">
}
relay.func private @map(%f: (!relay.param<"A">) -> !relay.param<"B">, %l: !relay.adt<@list, [!relay.param<"A">]>) -> !relay.adt<@list, [!relay.param<"B">]> {
  %y = relay.match %l : (!relay.adt<@list, [!relay.param<"A">]>) -> !relay.adt<@list, [!relay.param<"B">]>
  case cons(%h: !relay.param<"A">, %t: !relay.adt<@list, [!relay.param<"A">]>) {
    %z = relay.apply %f(%h) : (!relay.param<"A">) -> !relay.param<"B">
    %r = relay.call @map(%f, %t) : ((!relay.param<"A">) -> !relay.param<"B">, !relay.adt<@list, [!relay.param<"A">]>) -> !relay.adt<@list, [!relay.param<"B">]>
    %c = relay.construct "cons"(%z, %r) : (!relay.param<"B">, !relay.adt<@list, [!relay.param<"B">]>) -> !relay.adt<@list, [!relay.param<"B">]>
    relay.yield %c : !relay.adt<@list, [!relay.param<"B">]>
  } case nil() {
    %n = relay.construct "nil"() : () -> !relay.adt<@list, [!relay.param<"B">]>
    relay.yield %n : !relay.adt<@list, [!relay.param<"B">]>
  }
  relay.return %y : !relay.adt<@list, [!relay.param<"B">]>
}
relay.func @written_once_for_each_type(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
  %nil = relay.construct "nil"() : () -> !relay.adt<@list, [tensor<2xf32>]>
  %l = relay.construct "cons"(%b, %nil) : (tensor<2xf32>, !relay.adt<@list, [tensor<2xf32>]>) -> !relay.adt<@list, [tensor<2xf32>]>
  %f = relay.fn(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = relay.multiply %x, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    relay.yield %0 : tensor<2xf32>
  }
  %g = relay.closure @id() : () -> ((tensor<2xf32>) -> tensor<2xf32>)
  %l1 = relay.call @map(%f, %l) : ((tensor<2xf32>) -> tensor<2xf32>, !relay.adt<@list, [tensor<2xf32>]>) -> !relay.adt<@list, [tensor<2xf32>]>
  %l2 = relay.call @map(%g, %l1) : ((tensor<2xf32>) -> tensor<2xf32>, !relay.adt<@list, [tensor<2xf32>]>) -> !relay.adt<@list, [tensor<2xf32>]>
  %y = relay.match %l2 : (!relay.adt<@list, [tensor<2xf32>]>) -> tensor<2xf32>
  case cons(%h: tensor<2xf32>, %t: !relay.adt<@list, [tensor<2xf32>]>) {
    relay.yield %h : tensor<2xf32>
  } default {
    relay.yield %a : tensor<2xf32>
  }
  relay.return %y : tensor<2xf32>
}

// -----

// CHECK-LABEL: relay.func @calls_within_what_is_written
// CHECK: relay.func private @twisted_1(%x: tensor<4xf32>, %y: tensor<i32>) -> tuple<tensor<4xf32>, tensor<i32>> {
// CHECK-NEXT: relay.call @pair_1(%y, %x) : (tensor<i32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<i32>>
// CHECK: relay.func private @pair_1(%x: tensor<i32>, %y: tensor<4xf32>)
relay.func private @pair(%x: !relay.param<"A">, %y: !relay.param<"B">) -> tuple<!relay.param<"B">, !relay.param<"A">> {
  %t = relay.tuple(%y, %x) : (!relay.param<"B">, !relay.param<"A">) -> tuple<!relay.param<"B">, !relay.param<"A">>
  relay.return %t : tuple<!relay.param<"B">, !relay.param<"A">>
}
relay.func private @twisted(%x: !relay.param<"A">, %y: !relay.param<"B">) -> tuple<!relay.param<"A">, !relay.param<"B">> {
  %t = relay.call @pair(%y, %x) : (!relay.param<"B">, !relay.param<"A">) -> tuple<!relay.param<"A">, !relay.param<"B">>
  relay.return %t : tuple<!relay.param<"A">, !relay.param<"B">>
}
relay.func @calls_within_what_is_written(%x: tensor<4xf32>, %i: tensor<i32>) -> tensor<4xf32> {
  %t = relay.call @twisted(%x, %i) : (tensor<4xf32>, tensor<i32>) -> tuple<tensor<4xf32>, tensor<i32>>
  %y = relay.tuple_get %t[0] : tuple<tensor<4xf32>, tensor<i32>> -> tensor<4xf32>
  relay.return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: relay.func @a_parameter_of_the_body_alone
// CHECK: relay.construct "nil"() : () -> !relay.adt<@chain, [tuple<>]>
relay.adt @chain<"T"> {nil(), cons(!relay.param<"T">, !relay.adt<@chain, [!relay.param<"T">]>)}
relay.func private @first(%x: !relay.param<"A">) -> !relay.param<"A"> {
  %l = relay.construct "nil"() : () -> !relay.adt<@chain, [!relay.param<"C">]>
  %y = relay.match %l : (!relay.adt<@chain, [!relay.param<"C">]>) -> !relay.param<"A"> default {
    relay.yield %x : !relay.param<"A">
  }
  relay.return %y : !relay.param<"A">
}
relay.func @a_parameter_of_the_body_alone(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.call @first(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %y : tensor<4xf32>
}

// -----

// Nobody has written what it is used with.

// CHECK-LABEL: relay.func @who_is_not_called_stays(%x: !relay.param<"A">)
relay.func @who_is_not_called_stays(%x: !relay.param<"A">) -> !relay.param<"A"> {
  relay.return %x : !relay.param<"A">
}
