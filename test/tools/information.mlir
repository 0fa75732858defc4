// RUN: weft-opt --show-dialects | filecheck %s --check-prefix=DIALECTS
// RUN: weft-opt --list-passes | filecheck %s --check-prefix=PASSES
// RUN: weft-opt --explain relay.tuple_get | filecheck %s --check-prefix=OP
// RUN: weft-opt --explain infer-type | filecheck %s --check-prefix=PASS
// RUN: weft-opt --explain InferType | filecheck %s --check-prefix=PASS
// RUN: weft-opt --explain relay | filecheck %s --check-prefix=DIALECT
// RUN: not weft-opt --explain relay.tuple_git 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: weft-opt --explain relay.nn.conv2d | filecheck %s --check-prefix=CONV
// RUN: not weft-opt --explain conv2d 2>&1 | filecheck %s --check-prefix=SHORT
// RUN: weft-opt --explain relay.abs | filecheck %s --check-prefix=ONNX
// RUN: weft-opt --explain fuse | filecheck %s --check-prefix=PHASE
// RUN: weft-opt --explain '#relay.resource' | filecheck %s --check-prefix=ATTRIBUTE
// RUN: weft-opt --version | filecheck %s --check-prefix=VERSION
// RUN: weft-opt --help | filecheck %s --check-prefix=HELP

// DIALECTS:  Available dialects: mem, relay, rt, schedule, tir
// DIALECTS:  arith
// PASSES:    Available passes:
// PASSES:    infer-type {{ *}}Bring result types up to date with what the operators say of them.
// PASSES:    of xDSL:
// PASSES:    canonicalize
// OP:        operation relay.tuple_get
// OP:        One field of a tuple.
// OP:        operands:
// OP-NEXT:   tuple: tuple
// OP:        properties:
// OP-NEXT:   index: integer
// OP:        defined in weft.dialects.relay.values.TupleGetOp
// PASS:      pass infer-type
// PASS:      defined in weft.transforms.relay.infer_type.InferTypePass
// DIALECT:   dialect relay
// DIALECT:   relay.tuple_get {{ *}}One field of a tuple.
// DIALECT:   attributes and types:
// DIALECT:   relay.resource
// UNKNOWN:   error: there is no operation, attribute, type, pass, dialect or phase 'relay.tuple_git'
// UNKNOWN:   hint: did you mean 'relay.tuple_get'
// CONV:      data: tensor
// CONV:      groups: integer = 1 : i64
// CONV:      FusionPattern(OUT_ELEMWISE_FUSABLE)
// CONV:      in TVM: relay.nn.conv2d
// ONNX:      in ONNX: Abs
// SHORT:     hint: did you mean 'relay.nn.conv2d' or 'relay.qnn.conv2d'?
// PHASE:     phase fuse
// PHASE:     comes after: graph
// ATTRIBUTE: attribute or type relay.resource
// VERSION:   weft
// VERSION:   xdsl
// HELP:      --mlir-print-ir-after-change
// HELP:      exit status: 0 all went well, 1 diagnostics, 2 wrong usage, 70 an internal error
