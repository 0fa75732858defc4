// RUN: weft-import %inputs/perceptron.onnxtxt --shape x=3x4 | filecheck %s
// RUN: weft-import %inputs/perceptron.onnxtxt --shape x=3x4 --mlir-print-debuginfo | filecheck %s --check-prefix=LOC
// RUN: weft-import %inputs/perceptron.onnxtxt | filecheck %s --check-prefix=DYNAMIC
// RUN: weft-import %inputs/perceptron.onnxtxt -o %t.mlir && weft-opt %t.mlir | filecheck %s --check-prefix=DYNAMIC
// RUN: weft-import --list-operators | filecheck %s --check-prefix=LIST

// CHECK:      relay.func @main(%x: tensor<3x4xf32>) -> tensor<3x2xf32> attributes {input_names = ["x"], output_names = ["y"]} {
// CHECK-NEXT:   %weight = relay.constant dense<{{.*}}>
// CHECK-NEXT:       : tensor<2x4xf32>
// CHECK-NEXT:   %bias = relay.constant dense<[5.000000e-01, -5.000000e-01]> : tensor<2xf32>
// CHECK-NEXT:   %0 = relay.nn.dense %x, %weight {units = 2 : i64}
// CHECK-NEXT:   %linear = relay.nn.bias_add %0, %bias
// CHECK-NEXT:   %y = relay.nn.relu %linear : tensor<3x2xf32>
// CHECK-NEXT:   relay.return %y : tensor<3x2xf32>
// CHECK-NEXT: }

// LOC:        relay.constant
// LOC-NEXT:       : tensor<2x4xf32> loc("weight"("{{.*}}perceptron.onnxtxt":0:0))
// LOC:        relay.nn.dense {{.*}}
// LOC-NEXT:       {{.*}} loc("fc"("{{.*}}perceptron.onnxtxt":0:0))
// LOC:        relay.nn.relu {{.*}} loc("act"("{{.*}}perceptron.onnxtxt":0:0))

// DYNAMIC:    relay.func @main(%x: tensor<?x4xf32>) -> tensor<?x2xf32>

// LIST:       {{^}}Conv{{$}}
// LIST:       {{^}}Loop{{$}}
// LIST:       {{^}}Softmax{{$}}
