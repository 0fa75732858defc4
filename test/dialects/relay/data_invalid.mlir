// RUN: weft-opt %s --verify-diagnostics --split-input-file

relay.adt @list<"T"> {nil(), cons(!relay.param<"T">, !relay.adt<@list, [!relay.param<"T">]>)}
relay.func @a_constructor_that_is_not_there() -> !relay.adt<@list, [tensor<f32>]> {
  // expected-error @+1 {{@list has no constructor 'snoc', only nil, cons}}
  %l = relay.construct "snoc"() : () -> !relay.adt<@list, [tensor<f32>]>
  relay.return %l : !relay.adt<@list, [tensor<f32>]>
}

// -----

relay.adt @option<"T"> {none(), some(!relay.param<"T">)}
relay.func @a_field_of_another_type(%x: tensor<4xf32>) -> !relay.adt<@option, [tensor<f32>]> {
  // expected-error @+1 {{field 0 of 'some' is tensor<f32>, not tensor<4xf32>}}
  %l = relay.construct "some"(%x) : (tensor<4xf32>) -> !relay.adt<@option, [tensor<f32>]>
  relay.return %l : !relay.adt<@option, [tensor<f32>]>
}

// -----

relay.adt @option<"T"> {none(), some(!relay.param<"T">)}
relay.func @too_few_fields() -> !relay.adt<@option, [tensor<f32>]> {
  // expected-error @+1 {{'some' has 1 fields, not 0}}
  %l = relay.construct "some"() : () -> !relay.adt<@option, [tensor<f32>]>
  relay.return %l : !relay.adt<@option, [tensor<f32>]>
}

// -----

relay.adt @option<"T"> {none(), some(!relay.param<"T">)}
relay.func @too_many_types() -> !relay.adt<@option, [tensor<f32>, tensor<f32>]> {
  // expected-error @+1 {{gives 2 types, but @option takes 1}}
  %l = relay.construct "none"() : () -> !relay.adt<@option, [tensor<f32>, tensor<f32>]>
  relay.return %l : !relay.adt<@option, [tensor<f32>, tensor<f32>]>
}

// -----

relay.func @no_definition() -> !relay.adt<@nothing> {
  // expected-error @+1 {{there is no relay.adt @nothing}}
  %l = relay.construct "none"() : () -> !relay.adt<@nothing>
  relay.return %l : !relay.adt<@nothing>
}

// -----

relay.adt @tree {leaf(), node(!relay.adt<@tree>, !relay.adt<@tree>), other()}
relay.func @cases_that_are_missing(%t: !relay.adt<@tree>, %x: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{the cases do not cover @tree: node, other is not matched}}
  %y = relay.match %t : (!relay.adt<@tree>) -> tensor<f32>
  case leaf() {
    relay.yield %x : tensor<f32>
  }
  relay.return %y : tensor<f32>
}

// -----

relay.adt @option<"T"> {none(), some(!relay.param<"T">)}
relay.func @a_case_with_fields_of_another_type(%o: !relay.adt<@option, [tensor<f32>]>, %x: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{the case 'some' takes (tensor<f32>), not (tensor<i32>)}}
  %y = relay.match %o : (!relay.adt<@option, [tensor<f32>]>) -> tensor<f32>
  case some(%a: tensor<i32>) {
    relay.yield %x : tensor<f32>
  } default {
    relay.yield %x : tensor<f32>
  }
  relay.return %y : tensor<f32>
}

// -----

relay.adt @option<"T"> {none(), some(!relay.param<"T">)}
relay.func @a_case_of_another_result(%o: !relay.adt<@option, [tensor<f32>]>, %x: tensor<i32>) -> tensor<f32> {
  %y = relay.match %o : (!relay.adt<@option, [tensor<f32>]>) -> tensor<f32>
  case some(%a: tensor<f32>) {
    relay.yield %a : tensor<f32>
  } default {
    // expected-error @+1 {{the default yields (tensor<i32>), but its results are (tensor<f32>)}}
    relay.yield %x : tensor<i32>
  }
  relay.return %y : tensor<f32>
}

// -----

// expected-error @+1 {{'some' has a field of type !relay.param<"U">, but 'U' is no parameter}}
relay.adt @option<"T"> {none(), some(!relay.param<"U">)}

// -----

// expected-error @+1 {{a constructor stands twice}}
relay.adt @option<"T"> {none(), none()}

// -----

relay.func private @pair(%x: !relay.param<"T">, %y: !relay.param<"T">) -> !relay.param<"T"> {
  relay.return %x : !relay.param<"T">
}
relay.func @two_types_for_one(%x: tensor<f32>, %y: tensor<i32>) -> tensor<f32> {
  // expected-error @+1 {{the call's operands do not match the inputs of @pair}}
  %z = relay.call @pair(%x, %y) : (tensor<f32>, tensor<i32>) -> tensor<f32>
  relay.return %z : tensor<f32>
}

// -----

relay.func private @negate(%x: tensor<f32>) -> tensor<f32> {
  relay.return %x : tensor<f32>
}
relay.func @a_closure_that_is_given_too_much(%x: tensor<i32>) -> ((tensor<f32>) -> tensor<f32>) {
  // expected-error @+1 {{@negate is (tensor<f32>) -> tensor<f32>; with what is given, (tensor<i32>, tensor<f32>) -> tensor<f32> is wanted}}
  %f = relay.closure @negate(%x) : (tensor<i32>) -> ((tensor<f32>) -> tensor<f32>)
  relay.return %f : (tensor<f32>) -> tensor<f32>
}
