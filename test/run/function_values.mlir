// RUN: weft-run %s --function '*' --compare interpreter --quiet --threads 2 | filecheck %s
// RUN: weft-opt %s -p defunctionalization | weft-run - --function '*' --compare interpreter --quiet | filecheck %s
// RUN: weft-run %s --function '*' --executor interpreter --seed 1 | filecheck %s --check-prefix=INTERPRETED
// RUN: weft-opt %s -p defunctionalization | weft-run - --function '*' --executor interpreter --seed 1 | filecheck %s --check-prefix=INTERPRETED

// Function values and polymorphic functions: as they are, and as data and functions for one type each.

// INTERPRETED: @a_stream
// INTERPRETED-NEXT: out: tensor<i32> = 41
// CHECK: @a_stream
// CHECK-NEXT: equal to interpreter
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
relay.func @a_stream(%x: tensor<i32>) -> tensor<i32> {
  %n = relay.constant dense<37> : tensor<i32>
  %s = relay.call @from(%x) : (tensor<i32>) -> !relay.adt<@stream, [tensor<i32>]>
  %b = relay.construct "box"(%s) : (!relay.adt<@stream, [tensor<i32>]>) -> !relay.adt<@box, [tensor<i32>]>
  %y = relay.match %b : (!relay.adt<@box, [tensor<i32>]>) -> tensor<i32> case box(%z: !relay.adt<@stream, [tensor<i32>]>) {
    %0 = relay.call @nth(%n, %z) : (tensor<i32>, !relay.adt<@stream, [tensor<i32>]>) -> tensor<i32>
    relay.yield %0 : tensor<i32>
  }
  relay.return %y : tensor<i32>
}

// INTERPRETED: @a_polymorphic_function_on_a_list
// INTERPRETED-NEXT: out: tensor<2xf32> = [ 1.777077, -2.688448]
// CHECK: @a_polymorphic_function_on_a_list
// CHECK-NEXT: equal to interpreter
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
relay.func @a_polymorphic_function_on_a_list(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
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

// INTERPRETED: @functions_kept_in_tuples_and_references
// INTERPRETED-NEXT: out: tensor<2xf32> = [ 2.719521, -2.409315]
// CHECK: @functions_kept_in_tuples_and_references
// CHECK-NEXT: equal to interpreter
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
relay.func @functions_kept_in_tuples_and_references(%a: tensor<2xf32>, %c: tensor<i1>) -> tensor<2xf32> {
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

// INTERPRETED: @functions_of_other_extents
// INTERPRETED-NEXT: out: tensor<4xf32> = [ 1.729104, -1.428453,  1.027745,  1.882069]
// CHECK: @functions_of_other_extents
// CHECK-NEXT: equal to interpreter
relay.func private @same(%x: !relay.param<"A">) -> !relay.param<"A"> {
  relay.return %x : !relay.param<"A">
}
relay.func private @rows(%f: (tensor<?xf32>) -> tensor<?xf32>, %x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.apply %f(%x) : (tensor<?xf32>) -> tensor<?xf32>
  relay.return %0 : tensor<?xf32>
}
relay.func @functions_of_other_extents(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
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

// INTERPRETED: @functions_of_known_extents_where_they_are_open
// CHECK: @functions_of_known_extents_where_they_are_open
// CHECK-NEXT: equal to interpreter
relay.func private @again(%i: tensor<i32>, %f: (tensor<?xf32>) -> tensor<?xf32>, %x: tensor<?xf32>) -> tensor<?xf32> {
  %zero = relay.constant dense<0> : tensor<i32>
  %one = relay.constant dense<1> : tensor<i32>
  %c = relay.greater %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %y = relay.if %c : (tensor<i1>) -> tensor<?xf32> {
    %j = relay.subtract %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %0 = relay.apply %f(%x) : (tensor<?xf32>) -> tensor<?xf32>
    %1 = relay.call @again(%j, %f, %0) : (tensor<i32>, (tensor<?xf32>) -> tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    relay.yield %1 : tensor<?xf32>
  } else {
    relay.yield %x : tensor<?xf32>
  }
  relay.return %y : tensor<?xf32>
}
relay.func @functions_of_known_extents_where_they_are_open(%x: tensor<4xf32>) -> tensor<4xf32> {
  %i = relay.constant dense<3> : tensor<i32>
  %f = relay.fn(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = relay.multiply %a, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %0 : tensor<4xf32>
  }
  %y = relay.call @again(%i, %f, %x) : (tensor<i32>, (tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %y : tensor<4xf32>
}

// INTERPRETED: @tuples_of_functions_that_branches_give
// CHECK: @tuples_of_functions_that_branches_give
// CHECK-NEXT: equal to interpreter
relay.func @tuples_of_functions_that_branches_give(%x: tensor<3xf32>, %c: tensor<i1>) -> tensor<3xf32> {
  %t = relay.if %c : (tensor<i1>) -> tuple<tensor<3xf32>, (tensor<3xf32>) -> tensor<3xf32>> {
    %f = relay.fn(%a: tensor<3xf32>) -> tensor<3xf32> {
      %0 = relay.negative %a : tensor<3xf32>
      relay.yield %0 : tensor<3xf32>
    }
    %1 = relay.tuple(%x, %f) : (tensor<3xf32>, (tensor<3xf32>) -> tensor<3xf32>) -> tuple<tensor<3xf32>, (tensor<3xf32>) -> tensor<3xf32>>
    relay.yield %1 : tuple<tensor<3xf32>, (tensor<3xf32>) -> tensor<3xf32>>
  } else {
    %g = relay.fn(%b: tensor<3xf32>) -> tensor<3xf32> {
      %2 = relay.add %b, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      relay.yield %2 : tensor<3xf32>
    }
    %3 = relay.add %x, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %4 = relay.negative %3 : tensor<3xf32>
    %5 = relay.tuple(%4, %g) : (tensor<3xf32>, (tensor<3xf32>) -> tensor<3xf32>) -> tuple<tensor<3xf32>, (tensor<3xf32>) -> tensor<3xf32>>
    relay.yield %5 : tuple<tensor<3xf32>, (tensor<3xf32>) -> tensor<3xf32>>
  }
  %h = relay.tuple_get %t[1] : tuple<tensor<3xf32>, (tensor<3xf32>) -> tensor<3xf32>> -> (tensor<3xf32>) -> tensor<3xf32>
  %i = relay.tuple_get %t[0] : tuple<tensor<3xf32>, (tensor<3xf32>) -> tensor<3xf32>> -> tensor<3xf32>
  %y = relay.apply %h(%i) : (tensor<3xf32>) -> tensor<3xf32>
  relay.return %y : tensor<3xf32>
}
