// RUN: weft-run %s --function '*' --executor interpreter --seed 1 | filecheck %s --check-prefix=INTERPRETED
// RUN: weft-run %s --function '*' --compare interpreter --quiet --threads 2 | filecheck %s

// Branches, calls, recursion, closures, references, data types.

// INTERPRETED: @a_branch
// CHECK: @a_branch
// CHECK-NEXT: equal to interpreter
relay.func @a_branch(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = relay.constant dense<0.0> : tensor<f32>
  %s = relay.sum %x {axis = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %c = relay.greater %s, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %y = relay.if %c : (tensor<i1>) -> tensor<4xf32> {
    %0 = relay.exp %x : tensor<4xf32>
    %1 = relay.add %0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %1 : tensor<4xf32>
  } else {
    %2 = relay.negative %x : tensor<4xf32>
    relay.yield %2 : tensor<4xf32>
  }
  %z = relay.multiply %y, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %z : tensor<4xf32>
}

// INTERPRETED: @branches_within_branches
// CHECK: @branches_within_branches
// CHECK-NEXT: equal to interpreter
relay.func @branches_within_branches(%a: tensor<i1>, %b: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = relay.exp %x : tensor<4xf32>
  %y, %z = relay.if %a : (tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = relay.if %b : (tensor<i1>) -> tensor<4xf32> {
      relay.yield %x : tensor<4xf32>
    } else {
      %1 = relay.tanh %e : tensor<4xf32>
      relay.yield %1 : tensor<4xf32>
    }
    relay.yield %0, %x : tensor<4xf32>, tensor<4xf32>
  } else {
    %2 = relay.negative %e : tensor<4xf32>
    relay.yield %e, %2 : tensor<4xf32>, tensor<4xf32>
  }
  relay.return %z, %y : tensor<4xf32>, tensor<4xf32>
}

// A loop: the call is the last thing that is done.
relay.func private @power_loop(%i: tensor<i32>, %n: tensor<i32>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %one = relay.constant dense<1> : tensor<i32>
  %c = relay.less %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %r = relay.if %c : (tensor<i1>) -> tensor<4xf32> {
    %j = relay.add %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %z = relay.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %0 = relay.call @power_loop(%j, %n, %x, %z) : (tensor<i32>, tensor<i32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %0 : tensor<4xf32>
  } else {
    relay.yield %y : tensor<4xf32>
  }
  relay.return %r : tensor<4xf32>
}

// INTERPRETED: @a_loop
// CHECK: @a_loop
// CHECK-NEXT: equal to interpreter
relay.func @a_loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = relay.constant dense<0> : tensor<i32>
  %n = relay.constant dense<7> : tensor<i32>
  %y = relay.call @power_loop(%zero, %n, %x, %x) : (tensor<i32>, tensor<i32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %y : tensor<4xf32>
}

relay.func private @fibonacci(%n: tensor<i64>) -> tensor<i64> {
  %one = relay.constant dense<1> : tensor<i64>
  %two = relay.constant dense<2> : tensor<i64>
  %c = relay.less %n, %two : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %y = relay.if %c : (tensor<i1>) -> tensor<i64> {
    relay.yield %n : tensor<i64>
  } else {
    %a = relay.subtract %n, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %b = relay.subtract %n, %two : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %f = relay.call @fibonacci(%a) : (tensor<i64>) -> tensor<i64>
    %g = relay.call @fibonacci(%b) : (tensor<i64>) -> tensor<i64>
    %0 = relay.add %f, %g : (tensor<i64>, tensor<i64>) -> tensor<i64>
    relay.yield %0 : tensor<i64>
  }
  relay.return %y : tensor<i64>
}

// INTERPRETED: @general_recursion
// CHECK: @general_recursion
// CHECK-NEXT: equal to interpreter
relay.func @general_recursion() -> tensor<i64> {
  %n = relay.constant dense<10> : tensor<i64>
  %y = relay.call @fibonacci(%n) : (tensor<i64>) -> tensor<i64>
  // INTERPRETED-NEXT: out: {{.*}} = 55
  relay.return %y : tensor<i64>
}

relay.func private @even(%n: tensor<i32>) -> tensor<i1> {
  %zero = relay.constant dense<0> : tensor<i32>
  %one = relay.constant dense<1> : tensor<i32>
  %c = relay.equal %n, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %y = relay.if %c : (tensor<i1>) -> tensor<i1> {
    relay.yield %c : tensor<i1>
  } else {
    %m = relay.subtract %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %0 = relay.call @odd(%m) : (tensor<i32>) -> tensor<i1>
    relay.yield %0 : tensor<i1>
  }
  relay.return %y : tensor<i1>
}

relay.func private @odd(%n: tensor<i32>) -> tensor<i1> {
  %zero = relay.constant dense<0> : tensor<i32>
  %one = relay.constant dense<1> : tensor<i32>
  %c = relay.not_equal %n, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %y = relay.if %c : (tensor<i1>) -> tensor<i1> {
    %m = relay.subtract %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %0 = relay.call @even(%m) : (tensor<i32>) -> tensor<i1>
    relay.yield %0 : tensor<i1>
  } else {
    relay.yield %c : tensor<i1>
  }
  relay.return %y : tensor<i1>
}

// INTERPRETED: @mutual_recursion
// CHECK: @mutual_recursion
// CHECK-NEXT: equal to interpreter
relay.func @mutual_recursion() -> (tensor<i1>, tensor<i1>) {
  %n = relay.constant dense<7> : tensor<i32>
  %y = relay.call @even(%n) : (tensor<i32>) -> tensor<i1>
  %z = relay.call @odd(%n) : (tensor<i32>) -> tensor<i1>
  // INTERPRETED-NEXT: out0{{.*}} False
  // INTERPRETED-NEXT: out1{{.*}} True
  relay.return %y, %z : tensor<i1>, tensor<i1>
}

// INTERPRETED: @functions_of_functions
// CHECK: @functions_of_functions
// CHECK-NEXT: equal to interpreter
relay.func @functions_of_functions(%x: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %twice = relay.fn(%f: (tensor<4xf32>) -> tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>) {
    %g = relay.fn(%a: tensor<4xf32>) -> tensor<4xf32> {
      %0 = relay.apply %f(%a) : (tensor<4xf32>) -> tensor<4xf32>
      %1 = relay.apply %f(%0) : (tensor<4xf32>) -> tensor<4xf32>
      relay.yield %1 : tensor<4xf32>
    }
    relay.yield %g : (tensor<4xf32>) -> tensor<4xf32>
  }
  %add = relay.fn(%a: tensor<4xf32>) -> tensor<4xf32> {
    %2 = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %2 : tensor<4xf32>
  }
  %h = relay.apply %twice(%add) : ((tensor<4xf32>) -> tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>)
  %k = relay.apply %twice(%h) : ((tensor<4xf32>) -> tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>)
  %y = relay.apply %k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %y : tensor<4xf32>
}

// INTERPRETED: @a_function_that_is_chosen
// CHECK: @a_function_that_is_chosen
// CHECK-NEXT: equal to interpreter
relay.func @a_function_that_is_chosen(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.if %c : (tensor<i1>) -> ((tensor<4xf32>) -> tensor<4xf32>) {
    %g = relay.fn(%a: tensor<4xf32>) -> tensor<4xf32> {
      %0 = relay.exp %a : tensor<4xf32>
      relay.yield %0 : tensor<4xf32>
    }
    relay.yield %g : (tensor<4xf32>) -> tensor<4xf32>
  } else {
    %h = relay.fn(%a: tensor<4xf32>) -> tensor<4xf32> {
      %1 = relay.add %a, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      relay.yield %1 : tensor<4xf32>
    }
    relay.yield %h : (tensor<4xf32>) -> tensor<4xf32>
  }
  %y = relay.apply %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = relay.apply %f(%y) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %z : tensor<4xf32>
}

relay.func private @bump(%r: !relay.ref<tensor<4xf32>>, %by: tensor<4xf32>) {
  %x = relay.ref_read %r : (!relay.ref<tensor<4xf32>>) -> tensor<4xf32>
  %y = relay.add %x, %by : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.ref_write %r, %y : !relay.ref<tensor<4xf32>>, tensor<4xf32>
  relay.return
}

// INTERPRETED: @references
// CHECK: @references
// CHECK-NEXT: equal to interpreter
relay.func @references(%x: tensor<4xf32>, %c: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
  %r = relay.ref_create %x : (tensor<4xf32>) -> !relay.ref<tensor<4xf32>>
  %before = relay.ref_read %r : (!relay.ref<tensor<4xf32>>) -> tensor<4xf32>
  relay.call @bump(%r, %x) : (!relay.ref<tensor<4xf32>>, tensor<4xf32>) -> ()
  relay.if %c : (tensor<i1>) -> () {
    relay.call @bump(%r, %x) : (!relay.ref<tensor<4xf32>>, tensor<4xf32>) -> ()
    relay.yield
  } else {
    relay.yield
  }
  %after = relay.ref_read %r : (!relay.ref<tensor<4xf32>>) -> tensor<4xf32>
  relay.return %before, %after : tensor<4xf32>, tensor<4xf32>
}

// A function that refers to itself by way of a reference that it sees: a circle in memory.

// INTERPRETED: @a_circle
// CHECK: @a_circle
// CHECK-NEXT: equal to interpreter
relay.func @a_circle(%x: tensor<f32>) -> tensor<f32> {
  %limit = relay.constant dense<100.0> : tensor<f32>
  %id = relay.fn(%a: tensor<f32>) -> tensor<f32> {
    relay.yield %a : tensor<f32>
  }
  %r = relay.ref_create %id : ((tensor<f32>) -> tensor<f32>) -> !relay.ref<(tensor<f32>) -> tensor<f32>>
  %f = relay.fn(%a: tensor<f32>) -> tensor<f32> {
    %c = relay.greater %a, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %y = relay.if %c : (tensor<i1>) -> tensor<f32> {
      relay.yield %a : tensor<f32>
    } else {
      %b = relay.add %a, %limit : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %self = relay.ref_read %r : (!relay.ref<(tensor<f32>) -> tensor<f32>>) -> ((tensor<f32>) -> tensor<f32>)
      %0 = relay.apply %self(%b) : (tensor<f32>) -> tensor<f32>
      relay.yield %0 : tensor<f32>
    }
    relay.yield %y : tensor<f32>
  }
  relay.ref_write %r, %f : !relay.ref<(tensor<f32>) -> tensor<f32>>, (tensor<f32>) -> tensor<f32>
  %y = relay.apply %f(%x) : (tensor<f32>) -> tensor<f32>
  relay.return %y : tensor<f32>
}

// INTERPRETED: @tuples_anywhere
// CHECK: @tuples_anywhere
// CHECK-NEXT: equal to interpreter
relay.func @tuples_anywhere(%t: tuple<tensor<2xf32>, tuple<tensor<3xi32>, tensor<2xf32>>>, %c: tensor<i1>) -> tuple<tuple<tensor<2xf32>, tensor<2xf32>>, tensor<3xi32>> {
  %a = relay.tuple_get %t[0] : tuple<tensor<2xf32>, tuple<tensor<3xi32>, tensor<2xf32>>> -> tensor<2xf32>
  %u = relay.tuple_get %t[1] : tuple<tensor<2xf32>, tuple<tensor<3xi32>, tensor<2xf32>>> -> tuple<tensor<3xi32>, tensor<2xf32>>
  %v = relay.if %c : (tensor<i1>) -> tuple<tensor<3xi32>, tensor<2xf32>> {
    %i = relay.tuple_get %u[0] : tuple<tensor<3xi32>, tensor<2xf32>> -> tensor<3xi32>
    %n = relay.negative %a : tensor<2xf32>
    %w = relay.tuple(%i, %n) : (tensor<3xi32>, tensor<2xf32>) -> tuple<tensor<3xi32>, tensor<2xf32>>
    relay.yield %w : tuple<tensor<3xi32>, tensor<2xf32>>
  } else {
    relay.yield %u : tuple<tensor<3xi32>, tensor<2xf32>>
  }
  %i = relay.tuple_get %v[0] : tuple<tensor<3xi32>, tensor<2xf32>> -> tensor<3xi32>
  %f = relay.tuple_get %v[1] : tuple<tensor<3xi32>, tensor<2xf32>> -> tensor<2xf32>
  %p = relay.tuple(%a, %f) : (tensor<2xf32>, tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  %q = relay.tuple(%p, %i) : (tuple<tensor<2xf32>, tensor<2xf32>>, tensor<3xi32>) -> tuple<tuple<tensor<2xf32>, tensor<2xf32>>, tensor<3xi32>>
  relay.return %q : tuple<tuple<tensor<2xf32>, tensor<2xf32>>, tensor<3xi32>>
}

relay.adt @list<"T"> {nil(), cons(!relay.param<"T">, !relay.adt<@list, [!relay.param<"T">]>)}

relay.func private @down_to_zero(%n: tensor<f32>) -> !relay.adt<@list, [tensor<f32>]> {
  %zero = relay.constant dense<0.0> : tensor<f32>
  %one = relay.constant dense<1.0> : tensor<f32>
  %c = relay.less %n, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %y = relay.if %c : (tensor<i1>) -> !relay.adt<@list, [tensor<f32>]> {
    %nil = relay.construct "nil"() : () -> !relay.adt<@list, [tensor<f32>]>
    relay.yield %nil : !relay.adt<@list, [tensor<f32>]>
  } else {
    %m = relay.subtract %n, %one : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %t = relay.call @down_to_zero(%m) : (tensor<f32>) -> !relay.adt<@list, [tensor<f32>]>
    %l = relay.construct "cons"(%n, %t) : (tensor<f32>, !relay.adt<@list, [tensor<f32>]>) -> !relay.adt<@list, [tensor<f32>]>
    relay.yield %l : !relay.adt<@list, [tensor<f32>]>
  }
  relay.return %y : !relay.adt<@list, [tensor<f32>]>
}

relay.func private @map(%f: (tensor<f32>) -> tensor<f32>, %l: !relay.adt<@list, [tensor<f32>]>) -> !relay.adt<@list, [tensor<f32>]> {
  %y = relay.match %l : (!relay.adt<@list, [tensor<f32>]>) -> !relay.adt<@list, [tensor<f32>]>
  case cons(%h: tensor<f32>, %t: !relay.adt<@list, [tensor<f32>]>) {
    %g = relay.apply %f(%h) : (tensor<f32>) -> tensor<f32>
    %rest = relay.call @map(%f, %t) : ((tensor<f32>) -> tensor<f32>, !relay.adt<@list, [tensor<f32>]>) -> !relay.adt<@list, [tensor<f32>]>
    %0 = relay.construct "cons"(%g, %rest) : (tensor<f32>, !relay.adt<@list, [tensor<f32>]>) -> !relay.adt<@list, [tensor<f32>]>
    relay.yield %0 : !relay.adt<@list, [tensor<f32>]>
  } case nil() {
    relay.yield %l : !relay.adt<@list, [tensor<f32>]>
  }
  relay.return %y : !relay.adt<@list, [tensor<f32>]>
}

relay.func private @fold(%f: (tensor<f32>, tensor<f32>) -> tensor<f32>, %x: tensor<f32>, %l: !relay.adt<@list, [tensor<f32>]>) -> tensor<f32> {
  %y = relay.match %l : (!relay.adt<@list, [tensor<f32>]>) -> tensor<f32>
  case cons(%h: tensor<f32>, %t: !relay.adt<@list, [tensor<f32>]>) {
    %z = relay.apply %f(%x, %h) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %0 = relay.call @fold(%f, %z, %t) : ((tensor<f32>, tensor<f32>) -> tensor<f32>, tensor<f32>, !relay.adt<@list, [tensor<f32>]>) -> tensor<f32>
    relay.yield %0 : tensor<f32>
  } default {
    relay.yield %x : tensor<f32>
  }
  relay.return %y : tensor<f32>
}

// INTERPRETED: @data_types
// CHECK: @data_types
// CHECK-NEXT: equal to interpreter
relay.func @data_types() -> tensor<f32> {
  %n = relay.constant dense<4.0> : tensor<f32>
  %l = relay.call @down_to_zero(%n) : (tensor<f32>) -> !relay.adt<@list, [tensor<f32>]>
  %square = relay.fn(%a: tensor<f32>) -> tensor<f32> {
    %0 = relay.multiply %a, %a : (tensor<f32>, tensor<f32>) -> tensor<f32>
    relay.yield %0 : tensor<f32>
  }
  %m = relay.call @map(%square, %l) : ((tensor<f32>) -> tensor<f32>, !relay.adt<@list, [tensor<f32>]>) -> !relay.adt<@list, [tensor<f32>]>
  %mix = relay.fn(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
    %1 = relay.multiply %a, %n : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %2 = relay.add %1, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
    relay.yield %2 : tensor<f32>
  }
  %zero = relay.constant dense<0.0> : tensor<f32>
  %y = relay.call @fold(%mix, %zero, %m) : ((tensor<f32>, tensor<f32>) -> tensor<f32>, tensor<f32>, !relay.adt<@list, [tensor<f32>]>) -> tensor<f32>
  // INTERPRETED-NEXT: out: {{.*}} = 4740
  relay.return %y : tensor<f32>
}
