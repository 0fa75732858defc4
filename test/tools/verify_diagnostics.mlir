// What was reported and what was expected are compared both ways.
// RUN: not weft-opt %s --verify-diagnostics --split-input-file 2>&1 | filecheck %s

// CHECK:      {{.*}}verify_diagnostics.mlir:[[# @LINE + 4]]:23: error: unexpected error: value '%b' is used but not defined
// CHECK-NEXT:   %y = arith.addi %a, %b : i32
// CHECK-NEXT:                       ^~
func.func @error_that_nobody_expects(%a: i32) {
  %y = arith.addi %a, %b : i32
  func.return
}

// -----

// CHECK:      {{.*}}verify_diagnostics.mlir:[[# @LINE + 2]]:6: error: expected error was not reported: never said
func.func @error_that_does_not_come() {
  // expected-error@+1 {{never said}}
  func.return
}

// -----

// The right text in the wrong line is two mistakes.
// CHECK: error: unexpected error: value '%b'
// CHECK: error: expected error was not reported: value '%b'
func.func @error_in_another_line(%a: i32) {
  // expected-error@+2 {{value '%b' is used but not defined}}
  %y = arith.addi %a, %b : i32
  func.return
}

// -----

// The same text twice must be reported twice.
// CHECK: error: expected error was not reported: value '%b'
func.func @one_error_expected_twice(%a: i32) {
  // expected-error@+2 {{value '%b'}}
  // expected-error@+1 {{value '%b'}}
  %y = arith.addi %a, %b : i32
  func.return
}

// -----

// CHECK: error: this is not a regular expression
func.func @bad_expression() {
  // expected-error-re {{(}}
  func.return
}

// -----

// All is well here.
// CHECK-NOT: verify_diagnostics.mlir
func.func @error_as_expected(%a: i32) {
  %y = arith.addi %a, %b : i32 // expected-error {{value '%b'}}
  func.return
}
