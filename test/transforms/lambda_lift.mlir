// RUN: weft-opt %s -p lambda-lift --split-input-file | filecheck %s

// CHECK-LABEL: relay.func @what_a_function_sees_is_given_to_it
// CHECK-NEXT:    %f = relay.closure @what_a_function_sees_is_given_to_it_fn(%x) : (tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>)
// CHECK-NEXT:    %y = relay.apply %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK:       relay.func private @what_a_function_sees_is_given_to_it_fn(%x: tensor<4xf32>, %a: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    %0 = relay.add %a, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    relay.return %0 : tensor<4xf32>
relay.func @what_a_function_sees_is_given_to_it(%x: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = relay.add %a, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %0 : tensor<4xf32>
  }
  %y = relay.apply %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %y : tensor<4xf32>
}

// -----

// The inner one sees %x by way of the outer one.

// CHECK-LABEL: relay.func @functions_within_functions
// CHECK-NEXT:    %f = relay.closure @functions_within_functions_fn_1(%x)
// CHECK:       relay.func private @functions_within_functions_fn(%x: tensor<4xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>)
// CHECK:       relay.func private @functions_within_functions_fn_1(%x: tensor<4xf32>, %a: tensor<4xf32>)
// CHECK-NEXT:    %g = relay.closure @functions_within_functions_fn(%x, %a) :
// CHECK-NEXT:    relay.return %g
relay.func @functions_within_functions(%x: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn(%a: tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>) {
    %g = relay.fn(%b: tensor<4xf32>) -> tensor<4xf32> {
      %0 = relay.add %x, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %1 = relay.add %0, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      relay.yield %1 : tensor<4xf32>
    }
    relay.yield %g : (tensor<4xf32>) -> tensor<4xf32>
  }
  %h = relay.apply %f(%x) : (tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>)
  %y = relay.apply %h(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: relay.func @a_function_for_another_compiler_stays
// CHECK-NEXT:    relay.fn
relay.func @a_function_for_another_compiler_stays(%x: tensor<4xf32>) attributes {Compiler = "other"} {
  %f = relay.fn(%a: tensor<4xf32>) -> tensor<4xf32> {
    relay.yield %x : tensor<4xf32>
  }
  relay.return
}
