// RUN: weft-opt %s --verify-diagnostics --split-input-file

relay.func @undefined_value(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{value '%b' is used but not defined}}
  %t = relay.tuple(%x, %b) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  relay.return %x : tensor<4xf32>
}

// -----

func.func @use_before_definition() {
  // expected-error@+2 {{'arith.addi': uses '%z' before it is defined}}
  // expected-note@+2 {{it is defined here}}
  %y = arith.addi %z, %z : i32
  %z = arith.constant 1 : i32
  func.return
}

// -----

func.func @value_of_a_block_that_may_be_skipped(%c: i1) {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %x = arith.constant 1 : i32
  cf.br ^bb2
^bb2:
  // expected-error@+1 {{uses '%x', which is not defined on every way that leads here}}
  %y = arith.addi %x, %x : i32
  func.return
}

// -----

func.func @value_of_a_block_that_dominates(%c: i1) -> i32 {
  %x = arith.constant 1 : i32
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  cf.br ^bb2
^bb2:
  func.return %x : i32
}

// -----

func.func @value_of_another_function() {
  // expected-error@+1 {{value '%x' is used but not defined}}
  %y = arith.addi %x, %x : i32
  func.return
}
func.func @other() {
  %x = arith.constant 1 : i32
  func.return
}

// -----

%c = arith.constant 1 : i32
func.func @value_from_outside_an_isolated_operation() {
  // expected-error@+1 {{uses '%c', which is defined outside of the isolated operation around this one}}
  %y = arith.addi %c, %c : i32
  func.return
}

// -----

func.func @misspelt_operation() {
  // expected-error@+1 {{operation 'arith.constent' is not registered}}
  %z = arith.constent 1 : i32
  func.return
}

// -----

func.func @misspelt_dialect() {
  // expected-error@+1 {{operation 'arit.constant' is of no registered dialect}}
  %z = arit.constant 1 : i32
  func.return
}

// -----

func.func @type_that_the_operation_cannot_have(%a: i32) {
  // expected-error@+1 {{'arith.addf': Unexpected attribute i32}}
  %z = arith.addf %a, %a : i32
  func.return
}

// -----

func.func @type_that_the_operand_has_not() {
  // expected-note@+1 {{it is defined here}}
  %a = arith.constant 1 : i32
  // expected-error@+1 {{'%a' has type i32, but is used here as i64}}
  %z = arith.addi %a, %a : i64
  func.return
}

// -----

relay.func @verifier(%a: tensor<4xf32>) -> tensor<5xf32> {
  // expected-error@+1 {{'relay.return': returns (tensor<4xf32>), but @verifier is declared to return (tensor<5xf32>)}}
  relay.return %a : tensor<4xf32>
}

// -----

func.func @two_errors_are_both_reported(%a: i32) -> i64 {
  // expected-error-re@+1 {{'func.return': Expected .* \[i64\], got \[i32\]}}
  func.return %a : i32
}
func.func @second(%a: i32) -> i64 {
  // expected-error@+1 {{'func.return': Expected}}
  func.return %a : i32
}

// -----

func.func @no_terminator() { // expected-error {{must end with a terminator}}
  %z = arith.constant 1 : i32
}

// -----

// expected-error@+1 {{expected an operation}}
}

// -----

func.func private @defined_twice()
// expected-note@-1 {{the first one stands here}}
func.func private @defined_once()
// expected-error@+1 {{'func.func': there is another @defined_twice in this module}}
func.func private @defined_twice()
