// RUN: weft-opt %s | weft-opt | filecheck %s
// RUN: weft-opt %s --mlir-print-op-generic | weft-opt | filecheck %s

// CHECK-LABEL: relay.func @a_condition_with_two_results
relay.func @a_condition_with_two_results(%c: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %y, %z = relay.if %c : (tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT:   relay.yield %x, %x : tensor<4xf32>, tensor<4xf32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT:   relay.exp %x : tensor<4xf32>
  // CHECK-NEXT:   relay.yield %x, %{{.*}} : tensor<4xf32>, tensor<4xf32>
  // CHECK-NEXT: }
  %y, %z = relay.if %c : (tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
    relay.yield %x, %x : tensor<4xf32>, tensor<4xf32>
  } else {
    %0 = relay.exp %x : tensor<4xf32>
    relay.yield %x, %0 : tensor<4xf32>, tensor<4xf32>
  }
  relay.return %y, %z : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: relay.func @a_function_of_functions
relay.func @a_function_of_functions(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %twice = relay.fn(%f: (tensor<4xf32>) -> tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>) {
  // CHECK-NEXT: relay.fn(%a: tensor<4xf32>) -> tensor<4xf32> attributes {primitive} {
  // CHECK: relay.apply %{{.*}}(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %twice = relay.fn(%f: (tensor<4xf32>) -> tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>) {
    %g = relay.fn(%a: tensor<4xf32>) -> tensor<4xf32> attributes {primitive} {
      %0 = relay.apply %f(%a) : (tensor<4xf32>) -> tensor<4xf32>
      %1 = relay.apply %f(%0) : (tensor<4xf32>) -> tensor<4xf32>
      relay.yield %1 : tensor<4xf32>
    }
    relay.yield %g : (tensor<4xf32>) -> tensor<4xf32>
  }
  %exp = relay.fn(%a: tensor<4xf32>) -> tensor<4xf32> {
    %2 = relay.exp %a : tensor<4xf32>
    relay.yield %2 : tensor<4xf32>
  }
  %h = relay.apply %twice(%exp) : ((tensor<4xf32>) -> tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>)
  %y = relay.apply %h(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %y : tensor<4xf32>
}

// CHECK-LABEL: relay.func @a_row
relay.func @a_row(%x: tensor<?x4xf32>, %i: tensor<i64>, %r: tensor<4xf32>) -> tensor<?x4xf32> {
  // CHECK-NEXT: %y = relay.set_row %x, %i, %r : (tensor<?x4xf32>, tensor<i64>, tensor<4xf32>) -> tensor<?x4xf32>
  %y = relay.set_row %x, %i, %r : (tensor<?x4xf32>, tensor<i64>, tensor<4xf32>) -> tensor<?x4xf32>
  relay.return %y : tensor<?x4xf32>
}

// CHECK-LABEL: relay.func @a_function_of_nothing
relay.func @a_function_of_nothing(%r: !relay.ref<tensor<4xf32>>, %x: tensor<4xf32>) {
  // CHECK-NEXT: relay.fn() {
  // CHECK-NEXT:   relay.ref_write %r, %x : !relay.ref<tensor<4xf32>>, tensor<4xf32>
  // CHECK: relay.apply %{{.*}}() : () -> ()
  %f = relay.fn() {
    relay.ref_write %r, %x : !relay.ref<tensor<4xf32>>, tensor<4xf32>
    relay.yield
  }
  relay.apply %f() : () -> ()
  relay.return
}

// CHECK-LABEL: relay.func @devices
relay.func @devices(%t: tuple<tensor<2xf32>, tensor<3xi32>>) -> tuple<tensor<2xf32>, tensor<3xi32>> {
  // CHECK-NEXT: relay.on_device %t {virtual_device = #relay.virtual_device<cuda, id = 1, target = "cuda -arch=sm_80", memory_scope = "global">,
  // CHECK-NEXT:     constrain_result = true}
  %0 = relay.on_device %t {virtual_device = #relay.virtual_device<cuda, memory_scope = "global", target = "cuda -arch=sm_80", id = 1>, constrain_result = true} : tuple<tensor<2xf32>, tensor<3xi32>>
  // CHECK-NEXT: relay.on_device %0 {virtual_device = #relay.virtual_device<?, memory_scope = "shared">}
  %1 = relay.on_device %0 {virtual_device = #relay.virtual_device<?, memory_scope = "shared">} : tuple<tensor<2xf32>, tensor<3xi32>>
  // CHECK-NEXT: relay.on_device %1 {virtual_device = #relay.virtual_device<?>, constrain_body = false}
  %2 = relay.on_device %1 {virtual_device = #relay.virtual_device<?>, constrain_body = false} : tuple<tensor<2xf32>, tensor<3xi32>>
  // CHECK-NEXT: relay.device_copy %2 {src_virtual_device = #relay.virtual_device<cpu>, dst_virtual_device = #relay.virtual_device<hexagon>}
  %3 = relay.device_copy %2 {src_virtual_device = #relay.virtual_device<cpu>, dst_virtual_device = #relay.virtual_device<hexagon>} : tuple<tensor<2xf32>, tensor<3xi32>>
  relay.return %3 : tuple<tensor<2xf32>, tensor<3xi32>>
}

relay.func private @turn(%w: tensor<4xf32>, %x: tensor<f32>, %h: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = relay.multiply %h, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.add %0, %x : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  relay.return %1, %0 : tensor<4xf32>, tensor<4xf32>
}
// CHECK-LABEL: relay.func @turns_that_are_gathered
relay.func @turns_that_are_gathered(%w: tensor<4xf32>, %x: tensor<9xf32>, %h: tensor<4xf32>) -> tensor<9x4xf32> {
  // CHECK-NEXT: %last, %all = relay.scan @turn(%w) over(%x) from(%h) {turns = 9 : i64, gathered = array<i64: 1>, directions = array<i64: 0, 1>}
  // CHECK-NEXT: : (tensor<4xf32>) over(tensor<9xf32>) from(tensor<4xf32>) -> tensor<4xf32>, tensor<9x4xf32>
  %last, %all = relay.scan @turn(%w) over(%x) from(%h) {turns = 9, gathered = array<i64: 1>, directions = array<i64: 0, 1>}
    : (tensor<4xf32>) over(tensor<9xf32>) from(tensor<4xf32>) -> tensor<4xf32>, tensor<9x4xf32>
  relay.return %all : tensor<9x4xf32>
}

relay.func private @open_turn(%x: tensor<?xf32>, %h: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.add %h, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  relay.return %0 : tensor<?xf32>
}
// CHECK-LABEL: relay.func @as_many_turns_as_rows
relay.func @as_many_turns_as_rows(%x: tensor<?x?xf32>, %h: tensor<?xf32>) -> tensor<?x?xf32> {
  // CHECK-NEXT: %last, %all = relay.scan @open_turn() over(%x) from(%h) {gathered = array<i64: 0>, directions = array<i64: 0, 1>}
  %last, %all = relay.scan @open_turn() over(%x) from(%h) {gathered = array<i64: 0>, directions = array<i64: 0, 1>}
    : () over(tensor<?x?xf32>) from(tensor<?xf32>) -> tensor<?xf32>, tensor<?x?xf32>
  relay.return %all : tensor<?x?xf32>
}
