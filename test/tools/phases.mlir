// RUN: weft-opt %s --compile-from=fuse --compile-to=tir --dump-phases-to=%t.phases | filecheck %s --check-prefix=NOTHING --allow-empty
// RUN: filecheck %s --check-prefix=FUSE < %t.phases/fuse.mlir
// RUN: filecheck %s --check-prefix=TIR < %t.phases/tir.mlir
// RUN: weft-opt %t.phases/tir.mlir --compile-from=tir --compile-to=loops | filecheck %s --check-prefix=LOOPS

// NOTHING-NOT: {{.}}
// FUSE:       relay.func private @exp
// TIR:        tir.prim_func @exp(
// TIR-NOT:    relay.func private
// TIR:        relay.call_lowered @exp(%x)
// LOOPS-NOT:  tir.
// LOOPS-NOT:  relay.
// LOOPS:      math.exp
// LOOPS:      func.func @main(
relay.func private @exp(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {primitive} {
  %y = relay.exp %x : tensor<4x8xf32>
  relay.return %y : tensor<4x8xf32>
}

relay.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = relay.call @exp(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  relay.return %y : tensor<4x8xf32>
}
