// RUN: weft-opt %s -p inline --split-input-file | filecheck %s

// CHECK-LABEL: relay.func @a_private_function_is_put_where_it_is_called
// CHECK-NEXT: %0 = relay.add %x, %x
// CHECK-NEXT: %1 = relay.add %0, %0
// CHECK-NEXT: relay.return %1
// CHECK-NOT: @twice
relay.func @a_private_function_is_put_where_it_is_called(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.call @twice(%0) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %1 : tensor<4xf32>
}
relay.func private @twice(%p: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.add %p, %p : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: relay.func @calls_within_calls
// CHECK-NEXT: relay.exp
// CHECK-NEXT: relay.tanh
// CHECK-NEXT: relay.return
relay.func @calls_within_calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.call @outer(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
// A function that is not private stays for others.
// CHECK: relay.func @outer
// CHECK-NEXT: relay.exp
// CHECK-NEXT: relay.tanh
relay.func @outer(%p: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %p : tensor<4xf32>
  %1 = relay.call @inner(%0) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %1 : tensor<4xf32>
}
relay.func private @inner(%p: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.tanh %p : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: relay.func @an_argument_that_is_returned
// CHECK-NEXT: relay.return %y, %x
relay.func @an_argument_that_is_returned(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0, %1 = relay.call @swap(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  relay.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
relay.func private @swap(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  relay.return %b, %a : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: relay.func @a_kernel_is_left_alone
// CHECK-NEXT: relay.call @kernel
relay.func @a_kernel_is_left_alone(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.call @kernel(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
relay.func private @kernel(%p: tensor<4xf32>) -> tensor<4xf32> attributes {primitive} {
  %0 = relay.exp %p : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// -----

// A function that calls itself is called, and so is a function of a circle; the others of the circle are put in place.

// CHECK-LABEL: relay.func @circles
// CHECK-NEXT: relay.call @again
// CHECK-NEXT: relay.call @even
// CHECK-LABEL: relay.func private @again
// CHECK-NEXT: relay.call @again
// CHECK-LABEL: relay.func private @even
// CHECK-NEXT: relay.exp
// CHECK-NEXT: relay.call @even
// CHECK-NOT: @odd
relay.func @circles(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = relay.call @again(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.call @even(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
relay.func private @again(%p: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.call @again(%p) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
relay.func private @even(%p: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.call @odd(%p) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
relay.func private @odd(%p: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %p : tensor<4xf32>
  %1 = relay.call @even(%0) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %1 : tensor<4xf32>
}

// -----

// A function value that is made in sight is called as its function.

// CHECK-LABEL: relay.func @a_known_function_value
// CHECK-NEXT: relay.add %y, %x
// CHECK-NEXT: relay.return
relay.func @a_known_function_value(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.closure @plus(%x) : (tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>)
  %0 = relay.apply %f(%y) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
relay.func private @plus(%p: tensor<4xf32>, %q: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.add %q, %p : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// -----

// One that is not stays, and so does its function, which is called elsewhere, too.

// CHECK-LABEL: relay.func @a_function_value_that_is_given_away
// CHECK-NEXT: relay.exp
// CHECK-NEXT: relay.closure @more
// CHECK: relay.func private @more
relay.func @a_function_value_that_is_given_away(%x: tensor<4xf32>) -> (tensor<4xf32>, (tensor<4xf32>) -> tensor<4xf32>) {
  %0 = relay.call @more(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %f = relay.closure @more() : () -> ((tensor<4xf32>) -> tensor<4xf32>)
  relay.return %0, %f : tensor<4xf32>, (tensor<4xf32>) -> tensor<4xf32>
}
relay.func private @more(%p: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %p : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// -----

// What is called with open extents that it knows asks for them, where it is called.

// CHECK-LABEL: relay.func @a_function_of_known_extents_where_they_are_open
// CHECK-NEXT: relay.call @known
// CHECK: relay.func private @known
relay.func @a_function_of_known_extents_where_they_are_open(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.call @known(%x) : (tensor<?xf32>) -> tensor<?xf32>
  relay.return %0 : tensor<?xf32>
}
relay.func private @known(%p: tensor<3xf32>) -> tensor<3xf32> {
  %0 = relay.negative %p : tensor<3xf32>
  relay.return %0 : tensor<3xf32>
}

// -----

// CHECK-LABEL: relay.func @a_function_of_any_type
// CHECK-NEXT: relay.add %x, %x
// CHECK-NOT: @first
relay.func @a_function_of_any_type(%x: tensor<?xf32>, %y: tensor<2xf32>) -> tensor<?xf32> {
  %0 = relay.call @first(%x, %y) : (tensor<?xf32>, tensor<2xf32>) -> tensor<?xf32>
  %1 = relay.add %0, %0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  relay.return %1 : tensor<?xf32>
}
relay.func private @first(%a: !relay.param<"T">, %b: tensor<2xf32>) -> !relay.param<"T"> {
  relay.return %a : !relay.param<"T">
}

// -----

// CHECK-LABEL: relay.func @types_within_a_function_of_any_type
// CHECK-NEXT: relay.if %c : (tensor<i1>) -> tensor<2xf32>
// CHECK-NOT: relay.param
relay.func @types_within_a_function_of_any_type(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = relay.call @choose(%c, %x, %x) : (tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  relay.return %0 : tensor<2xf32>
}
relay.func private @choose(%c: tensor<i1>, %a: !relay.param<"T">, %b: !relay.param<"T">) -> !relay.param<"T"> {
  %0 = relay.if %c : (tensor<i1>) -> !relay.param<"T"> {
    relay.yield %a : !relay.param<"T">
  } else {
    relay.yield %b : !relay.param<"T">
  }
  relay.return %0 : !relay.param<"T">
}

// -----

// A function that stays, though it is called once, has what it calls itself all the same.
// CHECK-LABEL: relay.func @what_stays_is_inlined_into
// CHECK-NEXT: relay.tanh
// CHECK-NEXT: relay.call @stays
// CHECK: relay.func private @stays
// CHECK-NEXT: relay.exp %p
// CHECK-NEXT: relay.negative
// CHECK-NOT: relay.func
relay.func @what_stays_is_inlined_into(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.call @once(%x) : (tensor<?xf32>) -> tensor<?xf32>
  relay.return %0 : tensor<?xf32>
}
relay.func private @once(%p: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.tanh %p : tensor<?xf32>
  %1 = relay.call @stays(%0) : (tensor<?xf32>) -> tensor<?xf32>
  relay.return %1 : tensor<?xf32>
}
relay.func private @stays(%p: tensor<3xf32>) -> tensor<3xf32> {
  %0 = relay.call @twice_over(%p) : (tensor<3xf32>) -> tensor<3xf32>
  relay.return %0 : tensor<3xf32>
}
relay.func private @twice_over(%p: tensor<3xf32>) -> tensor<3xf32> {
  %0 = relay.exp %p : tensor<3xf32>
  %1 = relay.negative %0 : tensor<3xf32>
  relay.return %1 : tensor<3xf32>
}

// -----

// A function whose turns are scanned stays, though it is called once beside that.
// CHECK-LABEL: relay.func @what_is_scanned_stays
// CHECK-NEXT: %0 = relay.add %h, %h
// CHECK-NEXT: relay.scan @turn
// CHECK: relay.func private @turn
relay.func @what_is_scanned_stays(%x: tensor<9x4xf32>, %h: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.call @turn(%h, %h) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.scan @turn() over(%x) from(%0) {turns = 9, gathered = array<i64>, directions = array<i64: 0>}
    : () over(tensor<9x4xf32>) from(tensor<4xf32>) -> tensor<4xf32>
  relay.return %1 : tensor<4xf32>
}
relay.func private @turn(%x: tensor<4xf32>, %h: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.add %h, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
