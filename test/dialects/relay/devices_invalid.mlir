// RUN: weft-opt %s --verify-diagnostics --split-input-file

relay.func @a_device_that_there_is_not(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{there is no device type 'banana'; device types are cpu, cuda, cuda_host, opencl}}
  %0 = relay.on_device %x {virtual_device = #relay.virtual_device<banana>} : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// -----

relay.func @a_device_that_is_misspelt(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{did you mean 'cuda'?}}
  %0 = relay.on_device %x {virtual_device = #relay.virtual_device<cuba>} : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// -----

relay.func @text_is_no_device(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{relay.virtual_device}}
  %0 = relay.on_device %x {virtual_device = "cuda"} : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// -----

relay.func @a_device_without_a_type_or_a_question_mark(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{one of the device types cpu, cuda}}
  %0 = relay.on_device %x {virtual_device = #relay.virtual_device<>} : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// -----

relay.func @a_part_that_there_is_not(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{a device has no 'scope', but id, target, memory_scope}}
  %0 = relay.on_device %x {virtual_device = #relay.virtual_device<cuda, scope = "global">} : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// -----

relay.func @a_part_twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'id' is given twice}}
  %0 = relay.on_device %x {virtual_device = #relay.virtual_device<cuda, id = 1, id = 1>} : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// -----

relay.func @a_device_before_the_first(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{a device has an id from 0 on, not -1}}
  %0 = relay.on_device %x {virtual_device = #relay.virtual_device<cuda, id = -1>} : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// -----

relay.func @a_target_of_another_device(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{the target 'llvm -mcpu=native' is for cpu devices, and this one has the type cuda}}
  %0 = relay.on_device %x {virtual_device = #relay.virtual_device<cuda, target = "llvm -mcpu=native">} : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// -----

relay.func @a_target_that_there_is_not(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{there is no target kind 'llvmm'; target kinds are llvm, c, cuda}}
  %0 = relay.on_device %x {virtual_device = #relay.virtual_device<cpu, target = "llvmm">} : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// -----

relay.func @a_memory_scope_without_a_name(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{a memory scope has a name}}
  %0 = relay.on_device %x {virtual_device = #relay.virtual_device<cpu, memory_scope = "">} : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// -----

relay.func @a_note_that_constrains_to_nothing(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{virtual_device says nothing, so that neither body nor result can be constrained}}
  %0 = relay.on_device %x {virtual_device = #relay.virtual_device<?>} : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// -----

relay.func @a_copy_to_nowhere(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{dst_virtual_device says nothing: a copy is from a device to a device}}
  %0 = relay.device_copy %x {src_virtual_device = #relay.virtual_device<cpu>, dst_virtual_device = #relay.virtual_device<?>} : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}

// -----

relay.func @memory_nowhere(%n: tensor<i64>) -> !relay.storage {
  // expected-error @+1 {{memory is taken on a device of a known type}}
  %0 = relay.memory.alloc_storage %n, %n {virtual_device = #relay.virtual_device<?>, dtype = "float32"} : (tensor<i64>, tensor<i64>) -> !relay.storage
  relay.return %0 : !relay.storage
}

// -----

relay.func @extents_of_another_rank(%x: tensor<4x8xf32>) -> tensor<3xi64> {
  // expected-error @+1 {{the extents of tensor<4x8xf32> are a tensor<2xi64>, not tensor<3xi64>}}
  %0 = relay.vm.shape_of %x : (tensor<4x8xf32>) -> tensor<3xi64>
  relay.return %0 : tensor<3xi64>
}

// -----

relay.func @a_shape_of_another_rank(%x: tensor<4x8xf32>, %s: tensor<3xi64>) -> tensor<?x?xf32> {
  // expected-error @+1 {{the shape of a tensor<?x?xf32> has 2 extents, and is no tensor<3xi64>}}
  %0 = relay.vm.reshape_tensor %x, %s : (tensor<4x8xf32>, tensor<3xi64>) -> tensor<?x?xf32>
  relay.return %0 : tensor<?x?xf32>
}

// -----

relay.func @a_tensor_of_another_rank(%m: !relay.storage, %o: tensor<i64>, %s: tensor<3xi64>) -> tensor<2x2xf32> {
  // expected-error @+1 {{the shape of a tensor<2x2xf32> has 2 extents, and is no tensor<3xi64>}}
  %0 = relay.memory.alloc_tensor %m, %o, %s : (!relay.storage, tensor<i64>, tensor<3xi64>) -> tensor<2x2xf32>
  relay.return %0 : tensor<2x2xf32>
}

// -----

relay.func @a_function_that_writes_nothing(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{a function that writes nothing is not run}}
  relay.vm.invoke_tvm_op @f(%x), () : (tensor<4xf32>), ()
  relay.return %x : tensor<4xf32>
}
