// RUN: weft-opt --show-dialects | filecheck %s --check-prefix=DIALECTS
// RUN: weft-opt --list-passes | filecheck %s --check-prefix=PASSES
// RUN: weft-opt --explain relay.tuple_get | filecheck %s --check-prefix=OP
// RUN: weft-opt --explain infer-type | filecheck %s --check-prefix=PASS
// RUN: weft-opt --explain InferType | filecheck %s --check-prefix=PASS
// RUN: weft-opt --explain relay | filecheck %s --check-prefix=DIALECT
// RUN: not weft-opt --explain relay.tuple_git 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: weft-opt --version | filecheck %s --check-prefix=VERSION
// RUN: weft-opt --help | filecheck %s --check-prefix=HELP

// DIALECTS:  Available dialects: relay, tir
// DIALECTS:  arith
// PASSES:    Available passes:
// PASSES:    infer-type {{ *[A-Z].*}}
// PASSES:    of xDSL and plug-ins:
// PASSES:    canonicalize
// OP:        operation relay.tuple_get
// OP:        One field of a tuple.
// OP:        operands: tuple
// OP:        properties: index
// OP:        defined in weft.dialects.relay.core.TupleGetOp
// PASS:      pass infer-type
// PASS:      defined in weft.transforms.relay.infer_type.InferTypePass
// DIALECT:   dialect relay
// DIALECT:   relay.tuple_get {{ *}}One field of a tuple.
// DIALECT:   attributes and types:
// DIALECT:   relay.resource
// UNKNOWN:   error: there is no operation, pass or dialect 'relay.tuple_git'
// UNKNOWN:   hint: did you mean 'relay.tuple_get'
// VERSION:   weft
// VERSION:   xdsl
// HELP:      --mlir-print-ir-after-change
// HELP:      exit status: 0 all went well, 1 diagnostics, 2 wrong usage, 70 an internal error
