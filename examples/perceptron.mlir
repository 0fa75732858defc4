relay.func @main(%x: tensor<1x64xf32>) -> tensor<1x10xf32> {
  // The arrays are in perceptron.weights.npz, beside this file.
  %w1 = relay.constant #relay.resource<"w1"> : tensor<32x64xf32>
  %b1 = relay.constant #relay.resource<"b1"> : tensor<32xf32>
  %w2 = relay.constant #relay.resource<"w2"> : tensor<10x32xf32>
  %0 = relay.nn.dense %x, %w1 {units = 32 : i64} : (tensor<1x64xf32>, tensor<32x64xf32>) -> tensor<1x32xf32>
  %1 = relay.nn.bias_add %0, %b1 : (tensor<1x32xf32>, tensor<32xf32>) -> tensor<1x32xf32>
  %2 = relay.nn.relu %1 : tensor<1x32xf32>
  %3 = relay.nn.dense %2, %w2 {units = 10 : i64} : (tensor<1x32xf32>, tensor<10x32xf32>) -> tensor<1x10xf32>
  %y = relay.nn.softmax %3 : tensor<1x10xf32>
  relay.return %y : tensor<1x10xf32>
}
