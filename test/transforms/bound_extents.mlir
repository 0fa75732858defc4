// RUN: weft-opt %s -p bound-extents | filecheck %s

// CHECK-LABEL: relay.func @as_many_places_as_there_may_be_and_then_the_first_of_them
// CHECK: %{{.*}} = relay.compact %x : (tensor<9xf32>) -> tuple<tensor<9xi64>, tensor<1xi64>>
// CHECK: relay.data_extent %{{.*}}, %{{.*}} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
// CHECK: relay.dyn.strided_slice
// CHECK: relay.cast %{{.*}} {dtype = "int32"} : (tensor<?x1xi64>) -> tensor<?x1xi32>
relay.func @as_many_places_as_there_may_be_and_then_the_first_of_them(%x: tensor<9xf32>) -> tensor<?x1xi32> {
  %y = relay.argwhere %x : (tensor<9xf32>) -> tensor<?x1xi32>
  relay.return %y : tensor<?x1xi32>
}

// CHECK-LABEL: relay.func @places_in_a_matrix_are_taken_apart
// CHECK: relay.dyn.reshape
// CHECK: relay.compact
// CHECK: relay.unravel_index
relay.func @places_in_a_matrix_are_taken_apart(%x: tensor<?x3xf32>) -> tensor<?x2xi32> {
  %y = relay.argwhere %x : (tensor<?x3xf32>) -> tensor<?x2xi32>
  relay.return %y : tensor<?x2xi32>
}

// CHECK-LABEL: relay.func @different_elements_are_rows
// CHECK: relay.unique_rows %{{.*}} {sorted = false}
// CHECK: relay.take
relay.func @different_elements_are_rows(%x: tensor<5xf32>) -> tuple<tensor<?xf32>, tensor<?xi32>, tensor<5xi32>, tensor<1xi32>> {
  %y = relay.unique %x {sorted = false} : (tensor<5xf32>) -> tuple<tensor<?xf32>, tensor<?xi32>, tensor<5xi32>, tensor<1xi32>>
  relay.return %y : tuple<tensor<?xf32>, tensor<?xi32>, tensor<5xi32>, tensor<1xi32>>
}

// CHECK-LABEL: relay.func @what_has_extents_of_its_operands_stays
// CHECK-NEXT: relay.nn.relu
relay.func @what_has_extents_of_its_operands_stays(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = relay.nn.relu %x : tensor<?xf32>
  relay.return %y : tensor<?xf32>
}

// CHECK-LABEL: relay.func @rows_without_an_element_are_found_and_put_behind
// CHECK: relay.dyn.zeros
// CHECK: relay.scatter_add
// CHECK: relay.compact
// CHECK: relay.argsort
// CHECK-NOT: relay.sparse_fill_empty_rows
relay.func @rows_without_an_element_are_found_and_put_behind(%i: tensor<3x2xi64>, %v: tensor<3xf32>, %s: tensor<2xi64>, %d: tensor<f32>) -> tuple<tensor<?x2xi64>, tensor<?xf32>, tensor<?xi1>> {
  %y = relay.sparse_fill_empty_rows %i, %v, %s, %d : (tensor<3x2xi64>, tensor<3xf32>, tensor<2xi64>, tensor<f32>) -> tuple<tensor<?x2xi64>, tensor<?xf32>, tensor<?xi1>>
  relay.return %y : tuple<tensor<?x2xi64>, tensor<?xf32>, tensor<?xi1>>
}

// CHECK-LABEL: relay.func @what_the_others_leave_is_computed
// CHECK:         %[[SIZES:.*]] = relay.shape_of %x
// CHECK:         %[[HAVE:.*]] = relay.prod %[[SIZES]]
// CHECK:         %[[EACH:.*]] = relay.floor_divide %[[HAVE]], %{{.*}}
// CHECK:         %[[PARTS:.*]] = relay.tuple(%[[EACH]], %{{.*}})
// CHECK:         %[[SHAPE:.*]] = relay.concatenate %[[PARTS]]
// CHECK:         relay.dyn.reshape %x, %[[SHAPE]]
relay.func @what_the_others_leave_is_computed(%x: tensor<?x4xf32>, %n: tensor<1xi64>) -> tensor<?x?xf32> {
  %rest = relay.constant dense<-1> : tensor<1xi64>
  %parts = relay.tuple(%rest, %n) : (tensor<1xi64>, tensor<1xi64>) -> tuple<tensor<1xi64>, tensor<1xi64>>
  %shape = relay.concatenate %parts {axis = 0 : i64} : (tuple<tensor<1xi64>, tensor<1xi64>>) -> tensor<2xi64>
  %y = relay.dyn.reshape %x, %shape : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  relay.return %y : tensor<?x?xf32>
}

// What is computed of extents is followed as it is.
// CHECK-LABEL: relay.func @what_extents_leave_stays
// CHECK-NOT:     relay.floor_divide
// CHECK:         relay.dyn.reshape %x, %{{.*}}
relay.func @what_extents_leave_stays(%x: tensor<?x4xf32>, %z: tensor<?xf32>) -> tensor<?x?xf32> {
  %rest = relay.constant dense<-1> : tensor<1xi64>
  %n = relay.shape_of %z {dtype = "int64"} : (tensor<?xf32>) -> tensor<1xi64>
  %parts = relay.tuple(%rest, %n) : (tensor<1xi64>, tensor<1xi64>) -> tuple<tensor<1xi64>, tensor<1xi64>>
  %shape = relay.concatenate %parts {axis = 0 : i64} : (tuple<tensor<1xi64>, tensor<1xi64>>) -> tensor<2xi64>
  %y = relay.dyn.reshape %x, %shape : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  relay.return %y : tensor<?x?xf32>
}
