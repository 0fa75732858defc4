// RUN: weft-opt %s -p outline-segments --disable-pass lower-te --split-input-file | filecheck %s

// CHECK-LABEL: relay.func @kernels_between_branches
// CHECK-SAME:    attributes {control}
// CHECK-NEXT:    %0 = relay.call_lowered @kernels_between_branches_segment(%x) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %y = relay.if %c : (tensor<i1>) -> tensor<4xf32> {
// CHECK-NEXT:      %1 = relay.call_lowered @kernels_between_branches_segment_1(%0, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      relay.yield %1 : tensor<4xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      relay.yield %0 : tensor<4xf32>
// CHECK:         relay.return %y

// What nobody outside needs is no result; a constant is the segment's own.

// CHECK-LABEL: relay.func private @kernels_between_branches_segment(%x: tensor<4xf32>) -> tensor<4xf32> attributes {segment} {
// CHECK-NEXT:    %k = relay.constant dense<1.000000e+00> : tensor<4xf32>
// CHECK-NEXT:    %0 = relay.call_lowered @k(%x, %k)
// CHECK-NEXT:    %1 = relay.call_lowered @k(%0, %k)
// CHECK-NEXT:    relay.return %1
// CHECK-LABEL: relay.func private @kernels_between_branches_segment_1(%0: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> attributes {segment}
relay.func @kernels_between_branches(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %k = relay.constant dense<1.0> : tensor<4xf32>
  %0 = relay.call_lowered @k(%x, %k) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.call_lowered @k(%0, %k) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = relay.if %c : (tensor<i1>) -> tensor<4xf32> {
    %2 = relay.call_lowered @k(%1, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %2 : tensor<4xf32>
  } else {
    relay.yield %1 : tensor<4xf32>
  }
  relay.return %y : tensor<4xf32>
}
func.func private @k() -> ()

// -----

// A tuple that is only put together ends no segment.

// CHECK-LABEL: relay.func @tuples_between_kernels
// CHECK-NEXT:    relay.call_lowered @tuples_between_kernels_segment(%x)
// CHECK-NEXT:    relay.tuple
// CHECK-NEXT:    relay.ref_create
// CHECK-NEXT:    relay.return
relay.func @tuples_between_kernels(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.call_lowered @k(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %t = relay.tuple(%0, %x) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %1 = relay.call_lowered @k(%0, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = relay.ref_create %t : (tuple<tensor<4xf32>, tensor<4xf32>>) -> !relay.ref<tuple<tensor<4xf32>, tensor<4xf32>>>
  relay.return %1 : tensor<4xf32>
}
func.func private @k() -> ()

// -----

// Where nothing branches, everything stays.

// CHECK-LABEL: relay.func @a_graph(%x: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    relay.call_lowered @k
// CHECK-NEXT:    relay.return
relay.func @a_graph(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.call_lowered @k(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
func.func private @k() -> ()

// -----

// What a segment is given and gives is in the memory of the host: it says where it wants it, and the host copies. A copy
// is a kernel call with a device that it is from.

// CHECK-LABEL: relay.func @segments_on_several_devices
// CHECK-NOT:     attributes {param_virtual_devices
// CHECK:         relay.call_lowered @segments_on_several_devices_segment(%x)
// CHECK:         relay.ref_create
// CHECK:       relay.func private @segments_on_several_devices_segment(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT:      attributes {segment, param_virtual_devices = [#relay.virtual_device<cpu, id = 0>],
// CHECK-NEXT:          result_virtual_devices = [#relay.virtual_device<ext_dev, id = 0>, #relay.virtual_device<cpu, id = 0>]
relay.func @segments_on_several_devices(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.call_lowered @copy(%x) {src_virtual_device = #relay.virtual_device<cpu, id = 0>, virtual_device = #relay.virtual_device<ext_dev, id = 0>} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.call_lowered @k(%0, %0) {virtual_device = #relay.virtual_device<ext_dev, id = 0>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.call_lowered @k(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = relay.ref_create %1 : (tensor<4xf32>) -> !relay.ref<tensor<4xf32>>
  relay.return %2 : tensor<4xf32>
}
func.func private @k() -> ()
func.func private @copy() -> ()
