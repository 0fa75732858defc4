// RUN: weft-opt %s --verify-diagnostics --split-input-file

relay.func @a_condition_that_is_a_number(%c: tensor<f32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{the condition is a tensor<i1>, not tensor<f32>}}
  %y = relay.if %c : (tensor<f32>) -> tensor<4xf32> {
    relay.yield %x : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  relay.return %y : tensor<4xf32>
}

// -----

relay.func @branches_of_two_types(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.if %c : (tensor<i1>) -> tensor<4xf32> {
    relay.yield %x : tensor<4xf32>
  } else {
    // expected-error @+1 {{the second region yields (tensor<i1>), but its results are (tensor<4xf32>)}}
    relay.yield %c : tensor<i1>
  }
  relay.return %y : tensor<4xf32>
}

// -----

relay.func @a_branch_with_arguments(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{the first region has arguments: it sees what is defined around it}}
  %y = relay.if %c : (tensor<i1>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    relay.yield %a : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  relay.return %y : tensor<4xf32>
}

// -----

relay.func @a_branch_without_an_end(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{the second region does not end in relay.yield}}
  %y = relay.if %c : (tensor<i1>) -> tensor<4xf32> {
    relay.yield %x : tensor<4xf32>
  } else {
    "test.termop"() : () -> ()
  }
  relay.return %y : tensor<4xf32>
}

// -----

relay.func @a_function_that_yields_another_type(%x: tensor<4xf32>) {
  %f = relay.fn(%a: tensor<4xf32>) -> tensor<8xf32> {
    // expected-error @+1 {{the region yields (tensor<4xf32>), but its results are (tensor<8xf32>)}}
    relay.yield %a : tensor<4xf32>
  }
  relay.return
}

// -----

relay.func @arguments_that_are_not_the_types(%x: tensor<4xf32>) {
  // expected-error @+1 {{the region's arguments differ from the type (tensor<8xf32>) -> tensor<4xf32>}}
  %f = "relay.fn"() ({
  ^bb0(%a: tensor<4xf32>):
    relay.yield %a : tensor<4xf32>
  }) : () -> ((tensor<8xf32>) -> tensor<4xf32>)
  relay.return
}

// -----

relay.func @operands_of_another_type(%f: (tensor<4xf32>) -> tensor<4xf32>, %x: tensor<8xf32>) {
  // expected-error @+1 {{the operands (tensor<8xf32>) do not match the function (tensor<4xf32>) -> tensor<4xf32>}}
  %y = "relay.apply"(%f, %x) : ((tensor<4xf32>) -> tensor<4xf32>, tensor<8xf32>) -> tensor<4xf32>
  relay.return
}

// -----

relay.func @results_of_another_type(%f: (tensor<4xf32>) -> tensor<4xf32>, %x: tensor<4xf32>) {
  // expected-error @+1 {{the results (tensor<8xf32>) do not match the function (tensor<4xf32>) -> tensor<4xf32>}}
  %y = "relay.apply"(%f, %x) : ((tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  relay.return
}

// -----

relay.func @too_many_operands(%f: (tensor<4xf32>) -> tensor<4xf32>, %x: tensor<4xf32>) {
  // expected-error @+1 {{2 operands for (tensor<4xf32>) -> tensor<4xf32>}}
  %y = relay.apply %f(%x, %x) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return
}

// -----

relay.func @a_call_of_a_tensor(%f: tensor<4xf32>, %x: tensor<4xf32>) {
  // expected-error @+1 {{expected the type of the function}}
  %y = relay.apply %f(%x) : tensor<4xf32>
  relay.return
}

// -----

relay.func @a_reference_to_another_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{a reference to tensor<4xf32> has the type !relay.ref<tensor<4xf32>>, not !relay.ref<tensor<8xf32>>}}
  %r = relay.ref_create %x : (tensor<4xf32>) -> !relay.ref<tensor<8xf32>>
  relay.return
}

// -----

relay.func @a_value_of_another_type(%r: !relay.ref<tensor<4xf32>>) {
  // expected-error @+1 {{a reference to tensor<8xf32> has the type !relay.ref<tensor<8xf32>>, not !relay.ref<tensor<4xf32>>}}
  %x = relay.ref_read %r : (!relay.ref<tensor<4xf32>>) -> tensor<8xf32>
  relay.return
}

// -----

relay.func @a_write_of_another_type(%r: !relay.ref<tensor<4xf32>>, %x: tensor<8xf32>) {
  // expected-error @+1 {{a reference to tensor<8xf32> has the type !relay.ref<tensor<8xf32>>, not !relay.ref<tensor<4xf32>>}}
  relay.ref_write %r, %x : !relay.ref<tensor<4xf32>>, tensor<8xf32>
  relay.return
}

// -----

relay.func @a_row_of_another_width(%x: tensor<?x4xf32>, %i: tensor<i64>, %r: tensor<5xf32>) -> tensor<?x4xf32> {
  // expected-error @+1 {{tensor<5xf32> is no row of tensor<?x4xf32>}}
  %y = relay.set_row %x, %i, %r : (tensor<?x4xf32>, tensor<i64>, tensor<5xf32>) -> tensor<?x4xf32>
  relay.return %y : tensor<?x4xf32>
}

// -----

relay.func @a_row_at_places(%x: tensor<?x4xf32>, %i: tensor<1xi64>, %r: tensor<4xf32>) -> tensor<?x4xf32> {
  // expected-error @+1 {{the place is a tensor<i64>, not tensor<1xi64>}}
  %y = relay.set_row %x, %i, %r : (tensor<?x4xf32>, tensor<1xi64>, tensor<4xf32>) -> tensor<?x4xf32>
  relay.return %y : tensor<?x4xf32>
}

// -----

relay.func @an_end_without_a_region(%x: tensor<4xf32>) {
  // expected-error @+1 {{ends a region of relay.primitive, relay.if or relay.fn, but stands in 'relay.func'}}
  relay.yield %x : tensor<4xf32>
}

// -----

relay.func private @turn(%x: tensor<f32>, %h: tensor<4xf32>) -> tensor<4xf32> {
  relay.return %h : tensor<4xf32>
}
relay.func @fewer_rows_than_turns(%x: tensor<9xf32>, %h: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{tensor<9xf32> has no row for each of 10 turns}}
  %0 = relay.scan @turn() over(%x) from(%h) {turns = 10, gathered = array<i64>, directions = array<i64: 0>}
    : () over(tensor<9xf32>) from(tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// -----

relay.func private @turn(%x: tensor<2xf32>, %h: tensor<4xf32>) -> tensor<4xf32> {
  relay.return %h : tensor<4xf32>
}
relay.func @rows_of_another_type(%x: tensor<9xf32>, %h: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{a turn of @turn is (tensor<2xf32>, tensor<4xf32>) -> tensor<4xf32>, and not what is scanned}}
  %0 = relay.scan @turn() over(%x) from(%h) {turns = 9, gathered = array<i64>, directions = array<i64: 0>}
    : () over(tensor<9xf32>) from(tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// -----

relay.func private @turn(%x: tensor<f32>, %h: tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) {
  relay.return %h, %x : tensor<4xf32>, tensor<f32>
}
relay.func @a_result_that_is_neither_carried_nor_gathered(%x: tensor<9xf32>, %h: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{each result of a turn is carried or gathered, in rows of its type}}
  %0 = relay.scan @turn() over(%x) from(%h) {turns = 9, gathered = array<i64>, directions = array<i64: 0>}
    : () over(tensor<9xf32>) from(tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// -----

relay.func private @turn(%x: tensor<f32>, %h: tensor<4xf32>) -> tensor<4xf32> {
  relay.return %h : tensor<4xf32>
}
relay.func @gathered_is_no_result(%x: tensor<9xf32>, %h: tensor<4xf32>) -> tensor<9x4xf32> {
  // expected-error @+1 {{what is gathered is a result of a turn, of which @turn has 1: not 3}}
  %0, %1 = relay.scan @turn() over(%x) from(%h) {turns = 9, gathered = array<i64: 3>, directions = array<i64: 0, 0>}
    : () over(tensor<9xf32>) from(tensor<4xf32>) -> tensor<4xf32>, tensor<9x4xf32>
  relay.return %1 : tensor<9x4xf32>
}

// -----

relay.func private @turn(%x: tensor<f32>, %h: tensor<4xf32>) -> tensor<4xf32> {
  relay.return %h : tensor<4xf32>
}
relay.func @gathered_is_a_result_from_behind(%x: tensor<9xf32>, %h: tensor<4xf32>) -> tensor<9x4xf32> {
  // expected-error @+1 {{what is gathered is a result of a turn, of which @turn has 1: not -1}}
  %0, %1 = relay.scan @turn() over(%x) from(%h) {turns = 9, gathered = array<i64: -1>, directions = array<i64: 0, 0>}
    : () over(tensor<9xf32>) from(tensor<4xf32>) -> tensor<4xf32>, tensor<9x4xf32>
  relay.return %1 : tensor<9x4xf32>
}

// -----

relay.func private @turn(%h: tensor<4xf32>) -> tensor<4xf32> {
  relay.return %h : tensor<4xf32>
}
relay.func @less_than_no_turn(%h: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{there are 0 turns or more, not -1}}
  %0 = relay.scan @turn() over() from(%h) {turns = -1, gathered = array<i64>, directions = array<i64>}
    : () over() from(tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// -----

relay.func private @turn(%h: tensor<4xf32>) -> tensor<4xf32> {
  relay.return %h : tensor<4xf32>
}
relay.func @a_direction_too_few(%h: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{each of its rows has a direction, 0 or 1}}
  %0, %1 = relay.scan @turn() over() from(%h) {turns = 2, gathered = array<i64: 0>, directions = array<i64>}
    : () over() from(tensor<4xf32>) -> tensor<4xf32>, tensor<2x4xf32>
  relay.return %0 : tensor<4xf32>
}

// -----

relay.func @turns_of_nothing(%h: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{there is no relay.func @turn}}
  %0 = relay.scan @turn() over() from(%h) {turns = 2, gathered = array<i64>, directions = array<i64>}
    : () over() from(tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// -----

relay.func private @turn(%h: tensor<4xf32>) -> tensor<4xf32> {
  relay.return %h : tensor<4xf32>
}
relay.func @turns_that_nothing_counts(%h: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{there are as many turns as rows, of which there are none}}
  %0 = relay.scan @turn() over() from(%h) {gathered = array<i64>, directions = array<i64>}
    : () over() from(tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// -----

relay.func private @turn(%x: tensor<f32>, %h: tensor<4xf32>) -> tensor<4xf32> {
  relay.return %h : tensor<4xf32>
}
relay.func @rows_for_an_open_number_of_turns(%x: tensor<9xf32>, %h: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{tensor<9xf32> has no row for each turn}}
  %0 = relay.scan @turn() over(%x) from(%h) {gathered = array<i64>, directions = array<i64: 0>}
    : () over(tensor<9xf32>) from(tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
