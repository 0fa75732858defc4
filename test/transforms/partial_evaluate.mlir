// RUN: weft-opt %s -p partial-evaluate | filecheck %s

relay.adt @choice {left(tensor<2xf32>), right()}

relay.func private @chosen(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = relay.if %c : (tensor<i1>) -> tensor<2xf32> {
    %1 = relay.exp %x : tensor<2xf32>
    relay.yield %1 : tensor<2xf32>
  } else {
    relay.yield %x : tensor<2xf32>
  }
  relay.return %0 : tensor<2xf32>
}

// CHECK-LABEL: relay.func @a_call_with_a_known_condition
// CHECK-NEXT: relay.exp %x
// CHECK-NEXT: relay.return
relay.func @a_call_with_a_known_condition(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = relay.constant dense<1.0> : tensor<f32>
  %b = relay.constant dense<2.0> : tensor<f32>
  %c = relay.less %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %0 = relay.call @chosen(%c, %x) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  relay.return %0 : tensor<2xf32>
}

// CHECK-LABEL: relay.func @data_that_is_made_in_sight
// CHECK-NEXT: relay.exp %x
// CHECK-NEXT: relay.return
relay.func @data_that_is_made_in_sight(%x: tensor<2xf32>) -> tensor<2xf32> {
  %d = relay.construct "left"(%x) : (tensor<2xf32>) -> !relay.adt<@choice>
  %0 = relay.match %d : (!relay.adt<@choice>) -> tensor<2xf32>
  case left(%v: tensor<2xf32>) {
    %1 = relay.exp %v : tensor<2xf32>
    relay.yield %1 : tensor<2xf32>
  } default {
    relay.yield %x : tensor<2xf32>
  }
  relay.return %0 : tensor<2xf32>
}

// CHECK-LABEL: relay.func @a_function_value_with_one_call
// CHECK-NEXT: relay.add %x, %x
// CHECK-NEXT: relay.return
relay.func @a_function_value_with_one_call(%x: tensor<2xf32>) -> tensor<2xf32> {
  %f = relay.fn(%a: tensor<2xf32>) -> tensor<2xf32> {
    %0 = relay.add %a, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    relay.yield %0 : tensor<2xf32>
  }
  %1 = relay.apply %f(%x) : (tensor<2xf32>) -> tensor<2xf32>
  relay.return %1 : tensor<2xf32>
}

// CHECK-LABEL: relay.func @a_condition_that_is_an_argument_stays
// CHECK: relay.if %c
relay.func @a_condition_that_is_an_argument_stays(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = relay.if %c : (tensor<i1>) -> tensor<2xf32> {
    relay.yield %x : tensor<2xf32>
  } else {
    %1 = relay.exp %x : tensor<2xf32>
    relay.yield %1 : tensor<2xf32>
  }
  relay.return %0 : tensor<2xf32>
}

relay.adt @list {nil(), cons(tensor<i32>, !relay.adt<@list>)}

relay.func private @triangle(%n: tensor<i32>) -> tensor<i32> {
  %zero = relay.constant dense<0> : tensor<i32>
  %one = relay.constant dense<1> : tensor<i32>
  %c = relay.equal %n, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %y = relay.if %c : (tensor<i1>) -> tensor<i32> {
    relay.yield %zero : tensor<i32>
  } else {
    %m = relay.subtract %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %0 = relay.call @triangle(%m) : (tensor<i32>) -> tensor<i32>
    %1 = relay.add %n, %0 : (tensor<i32>, tensor<i32>) -> tensor<i32>
    relay.yield %1 : tensor<i32>
  }
  relay.return %y : tensor<i32>
}

relay.func private @reversed(%l: !relay.adt<@list>, %to: !relay.adt<@list>) -> !relay.adt<@list> {
  %y = relay.match %l : (!relay.adt<@list>) -> !relay.adt<@list>
  case nil() {
    relay.yield %to : !relay.adt<@list>
  } case cons(%x: tensor<i32>, %rest: !relay.adt<@list>) {
    %0 = relay.construct "cons"(%x, %to) : (tensor<i32>, !relay.adt<@list>) -> !relay.adt<@list>
    %1 = relay.call @reversed(%rest, %0) : (!relay.adt<@list>, !relay.adt<@list>) -> !relay.adt<@list>
    relay.yield %1 : !relay.adt<@list>
  }
  relay.return %y : !relay.adt<@list>
}

relay.func private @forever(%n: tensor<i32>) -> tensor<i32> {
  %0 = relay.call @forever(%n) : (tensor<i32>) -> tensor<i32>
  relay.return %0 : tensor<i32>
}

// CHECK-LABEL: relay.func @recursion_on_a_number_that_is_known
// CHECK-NEXT: %0 = relay.constant dense<55> : tensor<i32>
// CHECK-NEXT: relay.return %0
relay.func @recursion_on_a_number_that_is_known() -> tensor<i32> {
  %ten = relay.constant dense<10> : tensor<i32>
  %0 = relay.call @triangle(%ten) : (tensor<i32>) -> tensor<i32>
  relay.return %0 : tensor<i32>
}

// CHECK-LABEL: relay.func @recursion_on_data_that_are_known
// CHECK-NOT: relay.call
// CHECK: %[[A:.*]] = relay.construct "cons"(%{{.*}}, %{{.*}})
// CHECK-NEXT: %[[B:.*]] = relay.construct "cons"(%{{.*}}, %[[A]])
// CHECK-NEXT: relay.return %[[B]]
relay.func @recursion_on_data_that_are_known() -> !relay.adt<@list> {
  %one = relay.constant dense<1> : tensor<i32>
  %two = relay.constant dense<2> : tensor<i32>
  %nil = relay.construct "nil"() : () -> !relay.adt<@list>
  %0 = relay.construct "cons"(%two, %nil) : (tensor<i32>, !relay.adt<@list>) -> !relay.adt<@list>
  %1 = relay.construct "cons"(%one, %0) : (tensor<i32>, !relay.adt<@list>) -> !relay.adt<@list>
  %2 = relay.call @reversed(%1, %nil) : (!relay.adt<@list>, !relay.adt<@list>) -> !relay.adt<@list>
  relay.return %2 : !relay.adt<@list>
}

// CHECK-LABEL: relay.func @recursion_without_an_end_stays
// CHECK: relay.call @forever
relay.func @recursion_without_an_end_stays() -> tensor<i32> {
  %ten = relay.constant dense<10> : tensor<i32>
  %0 = relay.call @forever(%ten) : (tensor<i32>) -> tensor<i32>
  relay.return %0 : tensor<i32>
}

// CHECK-LABEL: relay.func @recursion_on_an_argument_stays
// CHECK: relay.call @triangle(%n)
relay.func @recursion_on_an_argument_stays(%n: tensor<i32>) -> tensor<i32> {
  %0 = relay.call @triangle(%n) : (tensor<i32>) -> tensor<i32>
  relay.return %0 : tensor<i32>
}

// CHECK-LABEL: relay.func @a_reference_in_sight
// CHECK-NEXT: %[[E:.*]] = relay.exp %x
// CHECK-NEXT: %[[S:.*]] = relay.add %[[E]], %x
// CHECK-NEXT: relay.return %[[S]]
relay.func @a_reference_in_sight(%x: tensor<2xf32>) -> tensor<2xf32> {
  %r = relay.ref_create %x : (tensor<2xf32>) -> !relay.ref<tensor<2xf32>>
  %a = relay.ref_read %r : (!relay.ref<tensor<2xf32>>) -> tensor<2xf32>
  %s = relay.ref_create %a : (tensor<2xf32>) -> !relay.ref<tensor<2xf32>>
  %0 = relay.exp %a : tensor<2xf32>
  relay.ref_write %r, %0 : !relay.ref<tensor<2xf32>>, tensor<2xf32>
  %b = relay.ref_read %r : (!relay.ref<tensor<2xf32>>) -> tensor<2xf32>
  %c = relay.ref_read %s : (!relay.ref<tensor<2xf32>>) -> tensor<2xf32>
  %1 = relay.add %b, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  relay.return %1 : tensor<2xf32>
}

// CHECK-LABEL: relay.func @a_reference_that_a_branch_writes_stays
// CHECK-NEXT: relay.ref_create
relay.func @a_reference_that_a_branch_writes_stays(%c: tensor<i1>, %x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %r = relay.ref_create %x : (tensor<2xf32>) -> !relay.ref<tensor<2xf32>>
  %0 = relay.if %c : (tensor<i1>) -> tensor<2xf32> {
    relay.ref_write %r, %y : !relay.ref<tensor<2xf32>>, tensor<2xf32>
    relay.yield %x : tensor<2xf32>
  } else {
    relay.yield %y : tensor<2xf32>
  }
  %1 = relay.ref_read %r : (!relay.ref<tensor<2xf32>>) -> tensor<2xf32>
  %2 = relay.add %0, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  relay.return %2 : tensor<2xf32>
}

relay.adt @chain<"T"> {none(), link(!relay.param<"T">, !relay.adt<@chain, [!relay.param<"T">]>)}

relay.func private @total(%l: !relay.adt<@chain, [tensor<2xf32>]>, %s: tensor<2xf32>) -> tensor<2xf32> {
  %y = relay.match %l : (!relay.adt<@chain, [tensor<2xf32>]>) -> tensor<2xf32>
  case link(%h: tensor<2xf32>, %t: !relay.adt<@chain, [tensor<2xf32>]>) {
    %0 = relay.add %s, %h : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %1 = relay.call @total(%t, %0) : (!relay.adt<@chain, [tensor<2xf32>]>, tensor<2xf32>) -> tensor<2xf32>
    relay.yield %1 : tensor<2xf32>
  } default {
    relay.yield %s : tensor<2xf32>
  }
  relay.return %y : tensor<2xf32>
}

// CHECK-LABEL: relay.func @recursion_on_data_of_which_the_form_is_known
// CHECK-NEXT: %[[A:.*]] = relay.add %s, %y
// CHECK-NEXT: %[[B:.*]] = relay.add %[[A]], %x
// CHECK-NEXT: relay.return %[[B]]
relay.func @recursion_on_data_of_which_the_form_is_known(%x: tensor<2xf32>, %y: tensor<2xf32>, %s: tensor<2xf32>) -> tensor<2xf32> {
  %nil = relay.construct "none"() : () -> !relay.adt<@chain, [tensor<2xf32>]>
  %l = relay.construct "link"(%x, %nil) : (tensor<2xf32>, !relay.adt<@chain, [tensor<2xf32>]>) -> !relay.adt<@chain, [tensor<2xf32>]>
  %m = relay.construct "link"(%y, %l) : (tensor<2xf32>, !relay.adt<@chain, [tensor<2xf32>]>) -> !relay.adt<@chain, [tensor<2xf32>]>
  %0 = relay.call @total(%m, %s) : (!relay.adt<@chain, [tensor<2xf32>]>, tensor<2xf32>) -> tensor<2xf32>
  relay.return %0 : tensor<2xf32>
}
