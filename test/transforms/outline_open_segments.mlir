// RUN: weft-opt %s -p outline-open-segments --split-input-file | filecheck %s

// Kernels that follow one another become a segment.

// CHECK-LABEL: relay.func @kernels_between_branches
// CHECK-SAME:    attributes {control}
// CHECK-NEXT:    %0 = relay.call_lowered @kernels_between_branches_segment(%x) : (tensor<?xf32>) -> tensor<?xf32>
// CHECK-NEXT:    %y = relay.if %c : (tensor<i1>) -> tensor<?xf32> {
// CHECK-NEXT:      %1 = relay.call_lowered @kernels_between_branches_segment_1(%0)
// CHECK-NEXT:      relay.yield %1
// CHECK:         relay.func private @kernels_between_branches_segment(%x: tensor<?xf32>) -> tensor<?xf32> attributes {segment} {
// CHECK-NEXT:    %0 = relay.call @k(%x)
// CHECK-NEXT:    %1 = relay.call @k(%0)
// CHECK-NEXT:    relay.return %1
relay.func @kernels_between_branches(%x: tensor<?xf32>, %c: tensor<i1>) -> tensor<?xf32> {
  %0 = relay.call @k(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %1 = relay.call @k(%0) : (tensor<?xf32>) -> tensor<?xf32>
  %y = relay.if %c : (tensor<i1>) -> tensor<?xf32> {
    %2 = relay.call @k(%1) : (tensor<?xf32>) -> tensor<?xf32>
    relay.yield %2 : tensor<?xf32>
  } else {
    relay.yield %1 : tensor<?xf32>
  }
  relay.return %y : tensor<?xf32>
}
relay.func private @k(%p: tensor<?xf32>) -> tensor<?xf32> attributes {primitive} {
  %0 = relay.exp %p : tensor<?xf32>
  relay.return %0 : tensor<?xf32>
}

// -----

// What kernels take is put together within the segment, what others need of it behind it.

// CHECK-LABEL: relay.func @kernels_of_tuples
// CHECK-NEXT:    %0, %1 = relay.call_lowered @kernels_of_tuples_segment(%x)
// CHECK-NEXT:    %u = relay.tuple(%1, %0)
// CHECK-NEXT:    relay.if
// CHECK:         relay.func private @kernels_of_tuples_segment(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) attributes {segment} {
// CHECK-NEXT:    %0 = relay.call @k(%x)
// CHECK-NEXT:    %1 = relay.tuple(%0, %x)
// CHECK-NEXT:    %2 = relay.call @join(%1)
// CHECK-NEXT:    relay.return %0, %2
relay.func @kernels_of_tuples(%x: tensor<?xf32>, %c: tensor<i1>) -> tuple<tensor<?xf32>, tensor<?xf32>> {
  %0 = relay.call @k(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %t = relay.tuple(%0, %x) : (tensor<?xf32>, tensor<?xf32>) -> tuple<tensor<?xf32>, tensor<?xf32>>
  %1 = relay.call @join(%t) : (tuple<tensor<?xf32>, tensor<?xf32>>) -> tensor<?xf32>
  %u = relay.tuple(%1, %0) : (tensor<?xf32>, tensor<?xf32>) -> tuple<tensor<?xf32>, tensor<?xf32>>
  %y = relay.if %c : (tensor<i1>) -> tuple<tensor<?xf32>, tensor<?xf32>> {
    relay.yield %u : tuple<tensor<?xf32>, tensor<?xf32>>
  } else {
    relay.yield %u : tuple<tensor<?xf32>, tensor<?xf32>>
  }
  relay.return %y : tuple<tensor<?xf32>, tensor<?xf32>>
}
relay.func private @k(%p: tensor<?xf32>) -> tensor<?xf32> attributes {primitive} {
  %0 = relay.exp %p : tensor<?xf32>
  relay.return %0 : tensor<?xf32>
}
relay.func private @join(%p: tuple<tensor<?xf32>, tensor<?xf32>>) -> tensor<?xf32> attributes {primitive} {
  %0 = relay.concatenate %p : (tuple<tensor<?xf32>, tensor<?xf32>>) -> tensor<?xf32>
  relay.return %0 : tensor<?xf32>
}

// -----

// Where every shape is known, and where nothing branches, everything stays.

// CHECK-LABEL: relay.func @known_shapes(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
// CHECK:         relay.call @k4(%x)
relay.func @known_shapes(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %y = relay.if %c : (tensor<i1>) -> tensor<4xf32> {
    %0 = relay.call @k4(%x) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %0 : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  relay.return %y : tensor<4xf32>
}
relay.func private @k4(%p: tensor<4xf32>) -> tensor<4xf32> attributes {primitive} {
  %0 = relay.exp %p : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: relay.func @a_graph(%x: tensor<?xf32>) -> tensor<?xf32> {
// CHECK-NEXT:    relay.call @k(%x)
relay.func @a_graph(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.call @k(%x) : (tensor<?xf32>) -> tensor<?xf32>
  relay.return %0 : tensor<?xf32>
}
relay.func private @k(%p: tensor<?xf32>) -> tensor<?xf32> attributes {primitive} {
  %0 = relay.exp %p : tensor<?xf32>
  relay.return %0 : tensor<?xf32>
}

// -----

// A segment takes a tuple's tensors.

// CHECK-LABEL: relay.func @a_tuple_is_given
// CHECK:         [[A:%[0-9a-z_]+]] = relay.tuple_get %s[0]
// CHECK-NEXT:    [[B:%[0-9a-z_]+]] = relay.tuple_get %s[1]
// CHECK-NEXT:    relay.call_lowered @a_tuple_is_given_segment([[A]], [[B]])
relay.func @a_tuple_is_given(%s: tuple<tensor<?xf32>, tensor<?xf32>>, %c: tensor<i1>) -> tensor<?xf32> {
  %y = relay.if %c : (tensor<i1>) -> tensor<?xf32> {
    %0 = relay.call @second(%s) : (tuple<tensor<?xf32>, tensor<?xf32>>) -> tensor<?xf32>
    relay.yield %0 : tensor<?xf32>
  } else {
    %1 = relay.tuple_get %s[0] : tuple<tensor<?xf32>, tensor<?xf32>> -> tensor<?xf32>
    relay.yield %1 : tensor<?xf32>
  }
  relay.return %y : tensor<?xf32>
}
relay.func private @second(%p: tuple<tensor<?xf32>, tensor<?xf32>>) -> tensor<?xf32> attributes {primitive} {
  %0 = relay.tuple_get %p[1] : tuple<tensor<?xf32>, tensor<?xf32>> -> tensor<?xf32>
  %1 = relay.exp %0 : tensor<?xf32>
  relay.return %1 : tensor<?xf32>
}

// -----

// A shape that is computed before a branch is computed again behind it, of the tensor that is there.

// CHECK-LABEL: relay.func @shapes_are_known_behind_a_branch
// CHECK-NEXT:    relay.if
// CHECK:         relay.call_lowered @shapes_are_known_behind_a_branch_segment_1(%z, %y)
// CHECK-NOT:     relay.func private @shapes_are_known_behind_a_branch_segment(
// CHECK:         relay.func private @shapes_are_known_behind_a_branch_segment_1(%z: tensor<?xf32>, %y: tensor<?x6xf32>)
// CHECK-NEXT:    %rows = relay.call @rows(%z)
// CHECK-NEXT:    %to = relay.call @twice(%rows)
// CHECK-NEXT:    relay.call @parts(%y, %to)
relay.func @shapes_are_known_behind_a_branch(%x: tensor<?x6xf32>, %z: tensor<?xf32>, %c: tensor<i1>) -> tensor<?x?xf32> {
  %rows = relay.call @rows(%z) : (tensor<?xf32>) -> tensor<1xi64>
  %to = relay.call @twice(%rows) : (tensor<1xi64>) -> tensor<2xi64>
  %y = relay.if %c : (tensor<i1>) -> tensor<?x6xf32> {
    %0 = relay.call @k(%x) : (tensor<?x6xf32>) -> tensor<?x6xf32>
    relay.yield %0 : tensor<?x6xf32>
  } else {
    relay.yield %x : tensor<?x6xf32>
  }
  %parts = relay.call @parts(%y, %to) : (tensor<?x6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  relay.return %parts : tensor<?x?xf32>
}
relay.func private @k(%p: tensor<?x6xf32>) -> tensor<?x6xf32> attributes {primitive} {
  %0 = relay.exp %p : tensor<?x6xf32>
  relay.return %0 : tensor<?x6xf32>
}
relay.func private @rows(%p: tensor<?xf32>) -> tensor<1xi64> attributes {primitive} {
  %0 = relay.shape_of %p {dtype = "int64"} : (tensor<?xf32>) -> tensor<1xi64>
  relay.return %0 : tensor<1xi64>
}
relay.func private @twice(%p: tensor<1xi64>) -> tensor<2xi64> attributes {primitive} {
  %0 = relay.add %p, %p : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %1 = relay.constant dense<-1> : tensor<1xi64>
  %2 = relay.tuple(%0, %1) : (tensor<1xi64>, tensor<1xi64>) -> tuple<tensor<1xi64>, tensor<1xi64>>
  %3 = relay.concatenate %2 {axis = 0 : i64} : (tuple<tensor<1xi64>, tensor<1xi64>>) -> tensor<2xi64>
  relay.return %3 : tensor<2xi64>
}
relay.func private @parts(%p: tensor<?x6xf32>, %to: tensor<2xi64>) -> tensor<?x?xf32> attributes {primitive} {
  %0 = relay.dyn.reshape %p, %to : (tensor<?x6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  relay.return %0 : tensor<?x?xf32>
}
