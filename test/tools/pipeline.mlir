// RUN: weft-opt %s -p "builtin.module(canonicalize,cse)" | filecheck %s
// RUN: weft-opt %s --pass-pipeline=canonicalize,cse | filecheck %s
// RUN: weft-opt %s -p "any(cse,fuse-ops{max-depth=4})" -o %t --dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=DUMP
// RUN: weft-opt %s --compile-to=graph -O0 -o %t --dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=PHASES
// RUN: not weft-opt %s -p canonicalise 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not weft-opt %s -p "cse,canonicalize{depth=3}" 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not weft-opt %s -p "cse,,dce" 2>&1 | filecheck %s --check-prefix=SYNTAX
// RUN: not weft-opt %s -p "builtin.module(cse" 2>&1 | filecheck %s --check-prefix=OPEN
// RUN: not weft-opt %s --disable-pass=canonicalise 2>&1 | filecheck %s --check-prefix=DISABLED
// RUN: not weft-opt %s --pass-config=canonicalise 2>&1 | filecheck %s --check-prefix=CONFIG
// RUN: weft-opt %s -p cse --compile-to=loops | filecheck %s
// RUN: not weft-opt %s --verify-eech 2>&1 | filecheck %s --check-prefix=FLAG
// RUN: not weft-opt %s --canonicalize 2>&1 | filecheck %s --check-prefix=PASSFLAG

// DUMP:         builtin.module(any(cse,fuse-ops{max-depth=4}))
// PHASES:       builtin.module(specialize-functions,remove-unused-functions,{{.*}}plan-devices)
// UNKNOWN:      <pipeline>:1:1: error: no pass is named 'canonicalise'
// UNKNOWN-NEXT: canonicalise
// UNKNOWN-NEXT: ^~~~~~~~~~~~
// UNKNOWN-NEXT: hint: did you mean 'canonicalize'

// OPTION:       <pipeline>:1:5: error: the pass 'canonicalize' has no option 'depth'
// SYNTAX:       <pipeline>:1:5: error: expected the name of a pass
// OPEN:         <pipeline>:1:1: error: the group 'builtin.module' is not closed
// DISABLED:     --disable-pass: error: no pass is named 'canonicalise'
// DISABLED:     hint: did you mean 'canonicalize'
// CONFIG:       --pass-config: error: 'canonicalise' is not of the form KEY=VALUE
// FLAG:         weft-opt: error: unrecognized arguments: --verify-eech
// FLAG-NEXT:    hint: did you mean '--verify-each'?
// PASSFLAG:     weft-opt: error: unrecognized arguments: --canonicalize
// PASSFLAG:     hint: to run the pass canonicalize: -p canonicalize

// CHECK-LABEL: func.func @a_pipeline_runs_its_passes
// CHECK-NEXT:    %c = arith.constant 1 : i32
// CHECK-NEXT:    func.return %c, %c
func.func @a_pipeline_runs_its_passes() -> (i32, i32) {
  %c = arith.constant 1 : i32
  %d = arith.constant 1 : i32
  func.return %c, %d : i32, i32
}
