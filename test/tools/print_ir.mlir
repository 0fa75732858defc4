// Reports are on standard error, in the format that tools for mlir-opt's output read.
// RUN: weft-opt %s -p cse,dce --mlir-print-ir-after-all 2>&1 | filecheck %s --check-prefix=ALL
// RUN: weft-opt %s -p cse,dce --mlir-print-ir-before=dce 2>&1 | filecheck %s --check-prefix=BEFORE
// RUN: weft-opt %s -p cse,dce --mlir-print-ir-after=cse 2>&1 | filecheck %s --check-prefix=AFTER
// RUN: weft-opt %s -p cse,dce --mlir-print-ir-after-change 2>&1 | filecheck %s --check-prefix=CHANGE
// RUN: weft-opt %s -p cse,dce --mlir-print-ir-after-all --mlir-timing --mlir-pass-statistics | filecheck %s --check-prefix=STDOUT
// RUN: weft-opt %s -p cse,dce --mlir-timing 2>&1 | filecheck %s --check-prefix=TIMING
// RUN: weft-opt %s -p cse,dce --mlir-pass-statistics 2>&1 | filecheck %s --check-prefix=STATISTICS

// ALL:        // -----// IR Dump After CommonSubexpressionElimination (cse) //----- //
// ALL-NEXT:   builtin.module {
// ALL:        // -----// IR Dump After DeadCodeElimination (dce) //----- //

// BEFORE-NOT: IR Dump After
// BEFORE:     // -----// IR Dump Before DeadCodeElimination (dce) //----- //
// BEFORE-NOT: IR Dump

// AFTER:      // -----// IR Dump After CommonSubexpressionElimination (cse) //----- //
// AFTER-NOT:  IR Dump

// CHANGE:     // -----// IR Dump After CommonSubexpressionElimination (cse) //----- //
// CHANGE-NOT: IR Dump

// STDOUT-NOT: IR Dump
// STDOUT-NOT: Execution time
// STDOUT:     func.func

// TIMING:     Execution time report
// TIMING:     Total Execution Time: {{[0-9.]+}} seconds
// TIMING-DAG: {{[0-9.]+ \( *[0-9.]+%\)}}  cse
// TIMING-DAG: {{[0-9.]+ \( *[0-9.]+%\)}}  dce

// STATISTICS: cse  5 -> 4 ops (-1 arith.constant)
// STATISTICS: dce  4 -> 4 ops
func.func @passes_are_looked_at() -> (i32, i32) {
  %c = arith.constant 1 : i32
  %d = arith.constant 1 : i32
  func.return %c, %d : i32, i32
}
