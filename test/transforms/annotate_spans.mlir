// RUN: weft-opt %s -O3 -p annotate-spans | filecheck %s
// RUN: weft-opt %s -O3 -p AnnotateSpans | filecheck %s

// What comes from a file has its places already; see also test/unit/test_annotate_spans.py.

// CHECK-LABEL: relay.func @what_has_places
// CHECK-NEXT:    %y = relay.exp %x : tensor<4xf32>
// CHECK-NEXT:    relay.return %y : tensor<4xf32>
relay.func @what_has_places(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : tensor<4xf32>
  relay.return %y : tensor<4xf32>
}
