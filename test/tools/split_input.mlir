// RUN: not weft-opt %s --split-input-file 2>&1 | filecheck %s
// RUN: not weft-opt %s --split-input-file -o %t.never_written 2> %t.err
// RUN: not weft-opt %t.never_written 2>&1 | filecheck %s --check-prefix=MISSING

// A mistake in one module does not keep the others from being processed.
// CHECK:      {{.*}}split_input.mlir:[[# @LINE + 12]]:3: error: operation 'func.retrun' is not registered
// CHECK:      func.func @first()
// CHECK:      // -----
// CHECK-NEXT: builtin.module {
// CHECK-NEXT:   func.func @third()
// MISSING:    never_written: error: cannot be read: no such file or directory
func.func @first() {
  func.return
}
// -----

func.func @second() {
  func.retrun
}

// -----
func.func @third() {
  func.return
}
