// RUN: weft-opt %s -p simplify-expr | filecheck %s

// How several open extents are put together, a -1 does not say.
// CHECK-LABEL: relay.func @reshapes_of_several_dynamic_dimensions_stay
// CHECK-NEXT: relay.dyn.reshape %x, %s
// CHECK-NEXT: relay.expand_dims
relay.func @reshapes_of_several_dynamic_dimensions_stay(%x: tensor<?x?xf32>, %s: tensor<1xi64>) -> tensor<?x1xf32> {
  %0 = relay.dyn.reshape %x, %s : (tensor<?x?xf32>, tensor<1xi64>) -> tensor<?xf32>
  %1 = relay.expand_dims %0 {axis = 1 : i64} : (tensor<?xf32>) -> tensor<?x1xf32>
  relay.return %1 : tensor<?x1xf32>
}
