// RUN: weft-opt %s --compile-to=loops --emit=c | filecheck %s
// RUN: not weft-opt %s --emit=c 2>&1 | filecheck %s --check-prefix=PHASE

// The phase of loops as C: constants where a caller puts them, kernels, the graph, and the entry for programs.

// CHECK: Made by Weft
// CHECK: #include <math.h>
// CHECK: const void *weft_constants[1];
// CHECK: static void fused_add_exp_nest_0(
// CHECK: expf(
// CHECK: static void softer_graph(
// CHECK: (const float *)weft_constants[0];
// CHECK: int64_t weft_run(void *const *inputs, void *const *outputs, void *arena, int64_t num_threads) {
// CHECK: int64_t softer(const float *x, float *out, int64_t num_threads) {

// PHASE: has no counterpart in C
// PHASE-NEXT: relay.func @softer
// PHASE: hint: C is made of a module at phase 'loops'
relay.func @softer(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %b = relay.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = relay.add %x, %b : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %y = relay.exp %0 : tensor<4x3xf32>
  relay.return %y : tensor<4x3xf32>
}
