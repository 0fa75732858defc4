// RUN: rm -f %t.jsonl
// RUN: weft-tune %s --records %t.jsonl --threads 1 --trials 3 --rounds 2 | filecheck %s
// RUN: weft-tune %t.jsonl --report %t.svg | filecheck %s --check-prefix=REPORT
// RUN: filecheck %s --check-prefix=SVG --input-file %t.svg
// RUN: weft-run %s --threads 1 --tuning-records %t.jsonl --compare interpreter --quiet | filecheck %s --check-prefix=EQUAL

// CHECK: 1 kernels, 3 schedules measured now; faster ones for:
// CHECK: an inference: {{.*}} ms by the rules
// REPORT: measured best used default us seconds failed kernel
// REPORT-NEXT: 3 {{.*}} fused_nn_contrib_dense_pack_add
// REPORT-NEXT: time went into: propose {{.*}} s, compile {{.*}} s, check {{.*}} s, time
// SVG: <svg
// SVG: polyline
// SVG: fused_nn_contrib_dense_pack_add
// SVG: </svg>
// EQUAL: equal to interpreter
relay.func @main(%x: tensor<8x32xf32>, %b: tensor<64xf32>) -> tensor<8x64xf32> {
  %w = relay.constant dense<0.5> : tensor<64x32xf32>
  %0 = relay.nn.dense %x, %w {units = 64 : i64} : (tensor<8x32xf32>, tensor<64x32xf32>) -> tensor<8x64xf32>
  %1 = relay.nn.bias_add %0, %b : (tensor<8x64xf32>, tensor<64xf32>) -> tensor<8x64xf32>
  relay.return %1 : tensor<8x64xf32>
}
