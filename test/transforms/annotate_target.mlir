// RUN: weft-opt %s -p 'annotate-target{targets=test}' | filecheck %s
// RUN: weft-opt %s -p 'annotate-target{targets=test include-non-call-ops=false}' | filecheck %s --check-prefix=CALLS

// A composite is for the compiler that it is named after; each use has bounds of its own.
// CHECK-LABEL: relay.func @a_composite_goes_to_its_compiler
// CHECK-NEXT:    %0 = relay.annotation.compiler_begin %x {compiler = "test"} : tensor<4xf32>
// CHECK-NEXT:    %1 = relay.primitive(%0) {Composite = "test.relu"} : (tensor<4xf32>) -> tensor<4xf32> {
// CHECK:         %2 = relay.annotation.compiler_end %1 {compiler = "test"} : tensor<4xf32>
// CHECK-NEXT:    %3 = relay.annotation.compiler_begin %2 {compiler = "default"} : tensor<4xf32>
// CHECK-NEXT:    %4 = relay.annotation.compiler_end %1 {compiler = "test"} : tensor<4xf32>
// CHECK-NEXT:    %5 = relay.annotation.compiler_begin %4 {compiler = "default"} : tensor<4xf32>
// CHECK-NEXT:    %6 = relay.add %3, %5
// CHECK-NEXT:    %7 = relay.annotation.compiler_end %6 {compiler = "default"} : tensor<4xf32>
// CHECK-NEXT:    relay.return %7
relay.func @a_composite_goes_to_its_compiler(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.primitive(%x) {Composite = "test.relu"} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%p: tensor<4xf32>):
    %2 = relay.nn.relu %p : tensor<4xf32>
    relay.yield %2 : tensor<4xf32>
  }
  %1 = relay.add %0, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %1 : tensor<4xf32>
}

// So is one that is written as a function, and called.
// CHECK-LABEL: relay.func @a_composite_function_goes_to_its_compiler
// CHECK-NEXT:    %0 = relay.annotation.compiler_begin %x {compiler = "test"} : tensor<4xf32>
// CHECK-NEXT:    %1 = relay.primitive(%0) {Composite = "test.relu"} : (tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    ^bb0(%p: tensor<4xf32>):
// CHECK-NEXT:      %2 = relay.nn.relu %p : tensor<4xf32>
// CHECK-NEXT:      relay.yield %2 : tensor<4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %2 = relay.annotation.compiler_end %1 {compiler = "test"} : tensor<4xf32>
// CHECK-NEXT:    relay.return %2
relay.func @a_composite_function_goes_to_its_compiler(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.fn(%p: tensor<4xf32>) -> tensor<4xf32> attributes {Composite = "test.relu"} {
    %2 = relay.nn.relu %p : tensor<4xf32>
    relay.yield %2 : tensor<4xf32>
  }
  %1 = relay.apply %0(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %1 : tensor<4xf32>
}

// A tuple of what one compiler computes is that compiler's, or stands between.
// CHECK-LABEL: relay.func @a_tuple_goes_where_its_fields_come_from
// CHECK:         %[[A:.*]] = relay.annotation.compiler_end %{{.*}} {compiler = "test"}
// CHECK-NEXT:    %[[B:.*]] = relay.annotation.compiler_begin %[[A]] {compiler = "test"}
// CHECK:         %[[T:.*]] = relay.tuple
// CHECK-NEXT:    %[[E:.*]] = relay.annotation.compiler_end %[[T]] {compiler = "test"}
// CHECK-NEXT:    relay.return %[[E]]
// CALLS-LABEL: relay.func @a_tuple_goes_where_its_fields_come_from
// CALLS:         %[[A:.*]] = relay.annotation.compiler_end %{{.*}} {compiler = "test"}
// CALLS-NEXT:    %[[B:.*]] = relay.annotation.compiler_end %{{.*}} {compiler = "test"}
// CALLS-NEXT:    %[[T:.*]] = relay.tuple(%[[A]], %[[B]])
// CALLS-NEXT:    relay.return %[[T]]
relay.func @a_tuple_goes_where_its_fields_come_from(%x: tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>> {
  %0 = relay.primitive(%x) {Composite = "test.relu"} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%p: tensor<4xf32>):
    %2 = relay.nn.relu %p : tensor<4xf32>
    relay.yield %2 : tensor<4xf32>
  }
  %1 = relay.tuple(%0, %0) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  relay.return %1 : tuple<tensor<4xf32>, tensor<4xf32>>
}

// What another compiler has bounded stays.
// CHECK-LABEL: relay.func @what_is_bounded_stays
// CHECK-NEXT:    %0 = relay.annotation.compiler_begin %x {compiler = "other"}
// CHECK-NEXT:    %1 = relay.primitive
// CHECK:         %2 = relay.annotation.compiler_end %1 {compiler = "other"}
// CHECK-NEXT:    relay.return %2
relay.func @what_is_bounded_stays(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.annotation.compiler_begin %x {compiler = "other"} : tensor<4xf32>
  %1 = relay.primitive(%0) {Composite = "test.relu"} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%p: tensor<4xf32>):
    %3 = relay.nn.relu %p : tensor<4xf32>
    relay.yield %3 : tensor<4xf32>
  }
  %2 = relay.annotation.compiler_end %1 {compiler = "other"} : tensor<4xf32>
  relay.return %2 : tensor<4xf32>
}
