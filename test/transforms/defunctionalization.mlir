// RUN: weft-opt %s -p defunctionalization --split-input-file | filecheck %s

// CHECK: relay.adt @function {adder_fn(tensor<2xf32>), open(), function_values_are_returned_kept_and_captured_fn(!relay.adt<@function>, !relay.adt<@function>)}
// CHECK-LABEL: relay.func @function_values_are_returned_kept_and_captured
// CHECK:         relay.ref_create %f : (!relay.adt<@function>) -> !relay.ref<!relay.adt<@function>>
// CHECK:         relay.construct "function_values_are_returned_kept_and_captured_fn"(%g, %u)
// CHECK-NEXT:               :
// CHECK-NOT: relay.{{fn|closure|apply}}
// CHECK: relay.func private @apply(
relay.func private @adder(%a: tensor<2xf32>) -> ((tensor<2xf32>) -> tensor<2xf32>) {
  %f = relay.fn(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = relay.add %x, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    relay.yield %0 : tensor<2xf32>
  }
  relay.return %f : (tensor<2xf32>) -> tensor<2xf32>
}
relay.func private @open(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.tanh %x : tensor<?xf32>
  relay.return %0 : tensor<?xf32>
}
relay.func private @twice(%f: (tensor<2xf32>) -> tensor<2xf32>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = relay.apply %f(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = relay.apply %f(%0) : (tensor<2xf32>) -> tensor<2xf32>
  relay.return %1 : tensor<2xf32>
}
relay.func @function_values_are_returned_kept_and_captured(%a: tensor<2xf32>, %c: tensor<i1>) -> tensor<2xf32> {
  %f = relay.call @adder(%a) : (tensor<2xf32>) -> ((tensor<2xf32>) -> tensor<2xf32>)
  %o = relay.closure @open() : () -> ((tensor<2xf32>) -> tensor<2xf32>)
  %r = relay.ref_create %f : ((tensor<2xf32>) -> tensor<2xf32>) -> !relay.ref<(tensor<2xf32>) -> tensor<2xf32>>
  %g = relay.if %c : (tensor<i1>) -> ((tensor<2xf32>) -> tensor<2xf32>) {
    relay.yield %o : (tensor<2xf32>) -> tensor<2xf32>
  } else {
    relay.ref_write %r, %o : !relay.ref<(tensor<2xf32>) -> tensor<2xf32>>, (tensor<2xf32>) -> tensor<2xf32>
    relay.yield %f : (tensor<2xf32>) -> tensor<2xf32>
  }
  %h = relay.ref_read %r : (!relay.ref<(tensor<2xf32>) -> tensor<2xf32>>) -> ((tensor<2xf32>) -> tensor<2xf32>)
  %t = relay.tuple(%g, %h) : ((tensor<2xf32>) -> tensor<2xf32>, (tensor<2xf32>) -> tensor<2xf32>) -> tuple<(tensor<2xf32>) -> tensor<2xf32>, (tensor<2xf32>) -> tensor<2xf32>>
  %u = relay.tuple_get %t[1] : tuple<(tensor<2xf32>) -> tensor<2xf32>, (tensor<2xf32>) -> tensor<2xf32>> -> (tensor<2xf32>) -> tensor<2xf32>
  %both = relay.fn(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = relay.apply %g(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %1 = relay.apply %u(%0) : (tensor<2xf32>) -> tensor<2xf32>
    relay.yield %1 : tensor<2xf32>
  }
  %y = relay.call @twice(%both, %a) : ((tensor<2xf32>) -> tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  relay.return %y : tensor<2xf32>
}

// -----

// What stands for functions of a parameter stands in a type without it.

// CHECK:      relay.adt @function {from_fn(tensor<i32>, tensor<i32>)}
// CHECK-NEXT: relay.adt @stream_1 {cons(tensor<i32>, !relay.adt<@function>)}
// CHECK-NEXT: relay.adt @box_1 {box(!relay.adt<@stream_1>)}
// CHECK-LABEL: relay.func @a_data_type_of_functions_is_written_for_its_types
// CHECK:      relay.func private @nth_1(%n: tensor<i32>, %s: !relay.adt<@stream_1>) -> tensor<i32> {
// CHECK:        relay.call @apply(%t) : (!relay.adt<@function>) -> !relay.adt<@stream_1>
relay.adt @stream<"T"> {cons(!relay.param<"T">, () -> !relay.adt<@stream, [!relay.param<"T">]>)}
relay.adt @box<"T"> {box(!relay.adt<@stream, [!relay.param<"T">]>)}
relay.func private @from(%x: tensor<i32>) -> !relay.adt<@stream, [tensor<i32>]> {
  %one = relay.constant dense<1> : tensor<i32>
  %f = relay.fn() -> !relay.adt<@stream, [tensor<i32>]> {
    %y = relay.add %x, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %0 = relay.call @from(%y) : (tensor<i32>) -> !relay.adt<@stream, [tensor<i32>]>
    relay.yield %0 : !relay.adt<@stream, [tensor<i32>]>
  }
  %s = relay.construct "cons"(%x, %f) : (tensor<i32>, () -> !relay.adt<@stream, [tensor<i32>]>) -> !relay.adt<@stream, [tensor<i32>]>
  relay.return %s : !relay.adt<@stream, [tensor<i32>]>
}
relay.func private @nth(%n: tensor<i32>, %s: !relay.adt<@stream, [!relay.param<"A">]>) -> !relay.param<"A"> {
  %zero = relay.constant dense<0> : tensor<i32>
  %one = relay.constant dense<1> : tensor<i32>
  %r = relay.match %s : (!relay.adt<@stream, [!relay.param<"A">]>) -> !relay.param<"A">
  case cons(%h: !relay.param<"A">, %t: () -> !relay.adt<@stream, [!relay.param<"A">]>) {
    %c = relay.greater %n, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %x = relay.if %c : (tensor<i1>) -> !relay.param<"A"> {
      %m = relay.subtract %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %rest = relay.apply %t() : () -> !relay.adt<@stream, [!relay.param<"A">]>
      %0 = relay.call @nth(%m, %rest) : (tensor<i32>, !relay.adt<@stream, [!relay.param<"A">]>) -> !relay.param<"A">
      relay.yield %0 : !relay.param<"A">
    } else {
      relay.yield %h : !relay.param<"A">
    }
    relay.yield %x : !relay.param<"A">
  }
  relay.return %r : !relay.param<"A">
}
relay.func @a_data_type_of_functions_is_written_for_its_types(%n: tensor<i32>, %x: tensor<i32>) -> tensor<i32> {
  %s = relay.call @from(%x) : (tensor<i32>) -> !relay.adt<@stream, [tensor<i32>]>
  %b = relay.construct "box"(%s) : (!relay.adt<@stream, [tensor<i32>]>) -> !relay.adt<@box, [tensor<i32>]>
  %y = relay.match %b : (!relay.adt<@box, [tensor<i32>]>) -> tensor<i32> case box(%z: !relay.adt<@stream, [tensor<i32>]>) {
    %0 = relay.call @nth(%n, %z) : (tensor<i32>, !relay.adt<@stream, [tensor<i32>]>) -> tensor<i32>
    relay.yield %0 : tensor<i32>
  }
  relay.return %y : tensor<i32>
}

// -----

// CHECK:      relay.adt @function {none()}
// CHECK-NEXT: relay.adt @held {box(!relay.adt<@function>), none()}
// CHECK-LABEL: relay.func @functions_that_nobody_makes
relay.adt @held {box((tensor<4xf32>) -> tensor<4xf32>), none()}
relay.func @functions_that_nobody_makes(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b = relay.construct "none"() : () -> !relay.adt<@held>
  %y = relay.match %b : (!relay.adt<@held>) -> tensor<4xf32>
  case box(%f: (tensor<4xf32>) -> tensor<4xf32>) {
    %0 = relay.apply %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %0 : tensor<4xf32>
  } case none() {
    relay.yield %x : tensor<4xf32>
  }
  relay.return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: relay.func @a_known_function_is_called
// CHECK-NEXT:    %y = relay.call @negated(%x) :
relay.func private @negated(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.negative %x : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
relay.func @a_known_function_is_called(%x: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.closure @negated() : () -> ((tensor<4xf32>) -> tensor<4xf32>)
  %y = relay.apply %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: relay.func @values_of_types_with_other_extents_meet
// CHECK: relay.func private @apply(%f: !relay.adt<@function>, %0: tensor<?xf32>) -> tensor<?xf32> {
// CHECK-NEXT: relay.match %f : (!relay.adt<@function>) -> tensor<?xf32> case values_of_types_with_other_extents_meet_fn(%{{.*}}: tensor<4xf32>) {
relay.func private @same(%x: !relay.param<"A">) -> !relay.param<"A"> {
  relay.return %x : !relay.param<"A">
}
relay.func private @rows(%f: (tensor<?xf32>) -> tensor<?xf32>, %x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.apply %f(%x) : (tensor<?xf32>) -> tensor<?xf32>
  relay.return %0 : tensor<?xf32>
}
relay.func @values_of_types_with_other_extents_meet(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %f = relay.fn(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = relay.multiply %a, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %0 : tensor<4xf32>
  }
  %g = relay.closure @same() : () -> ((tensor<4xf32>) -> tensor<4xf32>)
  %h = relay.if %c : (tensor<i1>) -> ((tensor<4xf32>) -> tensor<4xf32>) {
    relay.yield %f : (tensor<4xf32>) -> tensor<4xf32>
  } else {
    relay.yield %g : (tensor<4xf32>) -> tensor<4xf32>
  }
  %y = relay.call @rows(%h, %x) : ((tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: relay.func @no_function_values
relay.func @no_function_values(%x: tensor<4xf32>) -> tensor<4xf32> {
  relay.return %x : tensor<4xf32>
}
