// RUN: weft-opt %s -p lower-te --split-input-file | filecheck %s
// RUN: weft-opt %s -p 'lower-te{pass-extents=true}' --split-input-file | filecheck %s --check-prefix SHARED

// CHECK-LABEL: relay.func @calls_become_calls_on_tensors(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT:    %0 = relay.call_lowered @one_operator(%x, %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT:    %1 = relay.call_lowered @one_operator(%0, %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT:    relay.return %1 : tensor<8xf32>
// CHECK-NEXT:  }
relay.func @calls_become_calls_on_tensors(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>) {
// CHECK-LABEL: tir.prim_func @one_operator(%p0: memref<8xf32>, %p1: memref<8xf32>, %out: memref<8xf32>) attributes {note = "kept"} {
// CHECK-NEXT:    tir.for %i = 0 to 8 {
// CHECK-NEXT:      tir.block @add(%vi: spatial 8) = [%i] reads(%p0[%vi] : memref<8xf32>, %p1[%vi] : memref<8xf32>) writes(%out[%vi] : memref<8xf32>) {
// CHECK-NEXT:        %0 = memref.load %p0[%vi] : memref<8xf32>
// CHECK-NEXT:        %1 = memref.load %p1[%vi] : memref<8xf32>
// CHECK-NEXT:        %2 = arith.addf %0, %1 fastmath<contract> : f32
// CHECK-NEXT:        memref.store %2, %out[%vi] : memref<8xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
  %0 = relay.call @one_operator(%x, %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = relay.call @one_operator(%0, %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  relay.return %1 : tensor<8xf32>
}

relay.func private @one_operator(%p0: tensor<8xf32>, %p1: tensor<8xf32>) -> tensor<8xf32> attributes {primitive, note = "kept"} {
  %0 = relay.add %p0, %p1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  relay.return %0 : tensor<8xf32>
}

// CHECK-LABEL: tir.prim_func @each_operator_is_a_stage(%p0: memref<2x3xf32>, %p1: memref<3xf32>, %out: memref<2x3xf32>) {
// CHECK-NEXT:    %add = tir.alloc_buffer "global" : memref<2x3xf32>
// CHECK-NEXT:    tir.for %i = 0 to 2 {
// CHECK-NEXT:      tir.for %j = 0 to 3 {
// CHECK-NEXT:        tir.block @add(%vi: spatial 2, %vj: spatial 3) = [%i, %j] reads(%p0[%vi, %vj] : memref<2x3xf32>, %p1[%vj] : memref<3xf32>)
// CHECK-NEXT:            writes(%add[%vi, %vj] : memref<2x3xf32>) {
// CHECK-NEXT:          %0 = memref.load %p0[%vi, %vj] : memref<2x3xf32>
// CHECK-NEXT:          %1 = memref.load %p1[%vj] : memref<3xf32>
// CHECK-NEXT:          %2 = arith.addf %0, %1 fastmath<contract> : f32
// CHECK-NEXT:          memref.store %2, %add[%vi, %vj] : memref<2x3xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    tir.for %i_1 = 0 to 2 {
// CHECK-NEXT:      tir.for %j_1 = 0 to 3 {
// CHECK-NEXT:        tir.block @relu(%vi_1: spatial 2, %vj_1: spatial 3) = [%i_1, %j_1] reads(%add[%vi_1, %vj_1] : memref<2x3xf32>)
// CHECK-NEXT:            writes(%out[%vi_1, %vj_1] : memref<2x3xf32>) {
// CHECK-NEXT:          %3 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:          %4 = memref.load %add[%vi_1, %vj_1] : memref<2x3xf32>
// CHECK-NEXT:          %5 = arith.cmpf ogt, %3, %4 : f32
// CHECK-NEXT:          %6 = arith.select %5, %3, %4 : f32
// CHECK-NEXT:          memref.store %6, %out[%vi_1, %vj_1] : memref<2x3xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
relay.func private @each_operator_is_a_stage(%p0: tensor<2x3xf32>, %p1: tensor<3xf32>) -> tensor<2x3xf32> attributes {primitive} {
  %0 = relay.add %p0, %p1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = relay.nn.relu %0 : tensor<2x3xf32>
  relay.return %1 : tensor<2x3xf32>
}

// CHECK-LABEL: tir.prim_func @a_reduction_has_an_init(%p0: memref<2x3xf32>, %out: memref<2xf32>) {
// CHECK-NEXT:    tir.for %i = 0 to 2 {
// CHECK-NEXT:      tir.for %k1 = 0 to 3 {
// CHECK-NEXT:        tir.block @sum(%vi: spatial 2, %vk1: reduce 3) = [%i, %k1] reads(%p0[%vi, %vk1] : memref<2x3xf32>) writes(%out[%vi] : memref<2xf32>) {
// CHECK-NEXT:          %0 = memref.load %p0[%vi, %vk1] : memref<2x3xf32>
// CHECK-NEXT:          %1 = memref.load %out[%vi] : memref<2xf32>
// CHECK-NEXT:          %2 = arith.addf %1, %0 fastmath<reassoc,contract> : f32
// CHECK-NEXT:          memref.store %2, %out[%vi] : memref<2xf32>
// CHECK-NEXT:        } init(%vi_1, %vk1_1) {
// CHECK-NEXT:          %3 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:          memref.store %3, %out[%vi_1] : memref<2xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
relay.func private @a_reduction_has_an_init(%p0: tensor<2x3xf32>) -> tensor<2xf32> attributes {primitive} {
  %0 = relay.sum %p0 {axis = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  relay.return %0 : tensor<2xf32>
}

// CHECK-LABEL: tir.prim_func @a_reduction_of_nothing_is_its_identity(%p0: memref<2x0xf32>, %out: memref<2xf32>) {
// CHECK-NEXT:    tir.for %i = 0 to 2 {
// CHECK-NEXT:      tir.block @sum(%vi: spatial 2) = [%i] reads() writes(%out[%vi] : memref<2xf32>) {
// CHECK-NEXT:        %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:        memref.store %0, %out[%vi] : memref<2xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
relay.func private @a_reduction_of_nothing_is_its_identity(%p0: tensor<2x0xf32>) -> tensor<2xf32> attributes {primitive} {
  %0 = relay.sum %p0 {axis = array<i64: 1>} : (tensor<2x0xf32>) -> tensor<2xf32>
  relay.return %0 : tensor<2xf32>
}

// CHECK-LABEL: tir.prim_func @a_tensor_without_elements_needs_no_block(%p0: memref<0x3xf32>, %out: memref<0x3xf32>) {
// CHECK-NEXT:  }
relay.func private @a_tensor_without_elements_needs_no_block(%p0: tensor<0x3xf32>) -> tensor<0x3xf32> attributes {primitive} {
  %0 = relay.nn.relu %p0 : tensor<0x3xf32>
  relay.return %0 : tensor<0x3xf32>
}

// CHECK-LABEL: tir.prim_func @an_extent_of_one_has_no_loop(%p0: memref<1x3xf32>, %out: memref<1x3xf32>) {
// CHECK-NEXT:    tir.for %j = 0 to 3 {
// CHECK-NEXT:      tir.block @relu(%vi: spatial 1, %vj: spatial 3) = [0, %j] reads(%p0[%vi, %vj] : memref<1x3xf32>) writes(%out[%vi, %vj] : memref<1x3xf32>) {
// CHECK-NEXT:        %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:        %1 = memref.load %p0[%vi, %vj] : memref<1x3xf32>
// CHECK-NEXT:        %2 = arith.cmpf ogt, %0, %1 : f32
// CHECK-NEXT:        %3 = arith.select %2, %0, %1 : f32
// CHECK-NEXT:        memref.store %3, %out[%vi, %vj] : memref<1x3xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
relay.func private @an_extent_of_one_has_no_loop(%p0: tensor<1x3xf32>) -> tensor<1x3xf32> attributes {primitive} {
  %0 = relay.nn.relu %p0 : tensor<1x3xf32>
  relay.return %0 : tensor<1x3xf32>
}

// CHECK-LABEL: tir.prim_func @a_literal_stands_where_it_is_used(%p0: memref<3xf32>, %out: memref<3xf32>) {
// CHECK-NEXT:    %constant = tir.alloc_buffer "global" : memref<f32>
// CHECK-NEXT:    tir.block @constant() = [] reads() writes(%constant[] : memref<f32>) {
// CHECK-NEXT:      %0 = arith.constant 2.000000e+00 : f32
// CHECK-NEXT:      memref.store %0, %constant[] : memref<f32>
// CHECK-NEXT:    }
// CHECK-NEXT:    tir.for %i = 0 to 3 {
// CHECK-NEXT:      tir.block @multiply(%vi: spatial 3) = [%i] reads(%p0[%vi] : memref<3xf32>, %constant[] : memref<f32>) writes(%out[%vi] : memref<3xf32>) {
// CHECK-NEXT:        %1 = memref.load %p0[%vi] : memref<3xf32>
// CHECK-NEXT:        %2 = memref.load %constant[] : memref<f32>
// CHECK-NEXT:        %3 = arith.mulf %1, %2 fastmath<contract> : f32
// CHECK-NEXT:        memref.store %3, %out[%vi] : memref<3xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
relay.func private @a_literal_stands_where_it_is_used(%p0: tensor<3xf32>) -> tensor<3xf32> attributes {primitive} {
  %c = relay.constant dense<2.0> : tensor<f32>
  %0 = relay.multiply %p0, %c : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  relay.return %0 : tensor<3xf32>
}

// CHECK-LABEL: tir.prim_func @constants_are_of_the_function(%p0: memref<2x3xf32>, %out: memref<6xf32>) {
// CHECK-NEXT:    %c = tir.alloc_buffer "global" = dense<[[1.000000e+00, 2.000000e+00, 3.000000e+00], [4.000000e+00, 5.000000e+00, 6.000000e+00]]> : tensor<2x3xf32>
// CHECK-NEXT:        : memref<2x3xf32>
// CHECK:              memref.load %c[%vi, %vj] : memref<2x3xf32>
// CHECK:          tir.block @constant(%vi_1: spatial 2, %vj_1: spatial 3) = [%i_1, %j_1] reads() writes(%constant[%vi_1, %vj_1] : memref<2x3xf32>) {
// CHECK-NEXT:          %3 = arith.constant 7.000000e+00 : f32
// CHECK:          tir.block @reshape(
relay.func private @constants_are_of_the_function(%p0: tensor<2x3xf32>) -> tensor<6xf32> attributes {primitive} {
  %c = relay.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %one = relay.constant dense<7.0> : tensor<2x3xf32>
  %shape = relay.constant dense<[6]> : tensor<1xi64>
  %0 = relay.multiply %p0, %c : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = relay.add %0, %one : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = relay.dyn.reshape %1, %shape : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<6xf32>
  relay.return %2 : tensor<6xf32>
}

// CHECK-LABEL: tir.prim_func @two_outputs(%p0: memref<3xf32>, %out: memref<3xf32>, %out1: memref<3xf32>) {
// CHECK-NEXT:    tir.for %i = 0 to 3 {
// CHECK-NEXT:      tir.block @relu(%vi: spatial 3) = [%i] reads(%p0[%vi] : memref<3xf32>) writes(%out[%vi] : memref<3xf32>) {
// CHECK-NEXT:        %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:        %1 = memref.load %p0[%vi] : memref<3xf32>
// CHECK-NEXT:        %2 = arith.cmpf ogt, %0, %1 : f32
// CHECK-NEXT:        %3 = arith.select %2, %0, %1 : f32
// CHECK-NEXT:        memref.store %3, %out[%vi] : memref<3xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    tir.for %i_1 = 0 to 3 {
// CHECK-NEXT:      tir.block @neg(%vi_1: spatial 3) = [%i_1] reads(%out[%vi_1] : memref<3xf32>) writes(%out1[%vi_1] : memref<3xf32>) {
// CHECK-NEXT:        %4 = memref.load %out[%vi_1] : memref<3xf32>
// CHECK-NEXT:        %5 = arith.negf %4 : f32
// CHECK-NEXT:        memref.store %5, %out1[%vi_1] : memref<3xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
relay.func private @two_outputs(%p0: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) attributes {primitive} {
  %0 = relay.nn.relu %p0 : tensor<3xf32>
  %1 = relay.negative %0 : tensor<3xf32>
  relay.return %0, %1 : tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: tir.prim_func @an_input_that_is_returned_is_copied(%p0: memref<3xf32>, %out: memref<3xf32>) {
// CHECK-NEXT:    tir.for %i = 0 to 3 {
// CHECK-NEXT:      tir.block @copy(%vi: spatial 3) = [%i] reads(%p0[%vi] : memref<3xf32>) writes(%out[%vi] : memref<3xf32>) {
// CHECK-NEXT:        %0 = memref.load %p0[%vi] : memref<3xf32>
// CHECK-NEXT:        memref.store %0, %out[%vi] : memref<3xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
relay.func private @an_input_that_is_returned_is_copied(%p0: tensor<3xf32>) -> tensor<3xf32> attributes {primitive} {
  relay.return %p0 : tensor<3xf32>
}

// CHECK-LABEL: tir.prim_func @what_is_returned_twice_is_copied_once(%p0: memref<3xf32>, %out: memref<3xf32>, %out1: memref<3xf32>) {
// CHECK-NEXT:    tir.for %i = 0 to 3 {
// CHECK-NEXT:      tir.block @neg(%vi: spatial 3) = [%i] reads(%p0[%vi] : memref<3xf32>) writes(%out[%vi] : memref<3xf32>) {
// CHECK-NEXT:        %0 = memref.load %p0[%vi] : memref<3xf32>
// CHECK-NEXT:        %1 = arith.negf %0 : f32
// CHECK-NEXT:        memref.store %1, %out[%vi] : memref<3xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    tir.for %i_1 = 0 to 3 {
// CHECK-NEXT:      tir.block @copy(%vi_1: spatial 3) = [%i_1] reads(%out[%vi_1] : memref<3xf32>) writes(%out1[%vi_1] : memref<3xf32>) {
// CHECK-NEXT:        %2 = memref.load %out[%vi_1] : memref<3xf32>
// CHECK-NEXT:        memref.store %2, %out1[%vi_1] : memref<3xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
relay.func private @what_is_returned_twice_is_copied_once(%p0: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) attributes {primitive} {
  %0 = relay.negative %p0 : tensor<3xf32>
  relay.return %0, %0 : tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: relay.func @tuples_are_opened(%t: tuple<tensor<1x2xf32>, tensor<1x3xf32>>) -> tensor<1x5xf32> {
// CHECK-NEXT:    %0 = relay.tuple_get %t[0] : tuple<tensor<1x2xf32>, tensor<1x3xf32>> -> tensor<1x2xf32>
// CHECK-NEXT:    %1 = relay.tuple_get %t[1] : tuple<tensor<1x2xf32>, tensor<1x3xf32>> -> tensor<1x3xf32>
// CHECK-NEXT:    %2 = relay.call_lowered @a_tuple_argument_is_several_buffers(%0, %1) : (tensor<1x2xf32>, tensor<1x3xf32>) -> tensor<1x5xf32>
// CHECK-NEXT:    relay.return %2 : tensor<1x5xf32>
// CHECK-NEXT:  }
relay.func @tuples_are_opened(%t: tuple<tensor<1x2xf32>, tensor<1x3xf32>>) -> tensor<1x5xf32> {
// CHECK-LABEL: tir.prim_func @a_tuple_argument_is_several_buffers(%p0: memref<1x2xf32>, %p1: memref<1x3xf32>, %out: memref<1x5xf32>) {
// CHECK-NEXT:    tir.for %j = 0 to 5 {
// CHECK-NEXT:      tir.block @concatenate(%vi: spatial 1, %vj: spatial 5) = [0, %j] reads(%p0[%vi, %vj] : memref<1x2xf32>, %p1[%vi, %vj + -2] : memref<1x3xf32>)
// CHECK-NEXT:          writes(%out[%vi, %vj] : memref<1x5xf32>) {
// CHECK-NEXT:        %0 = arith.constant 2 : index
// CHECK-NEXT:        %1 = arith.cmpi slt, %vj, %0 : index
// CHECK-NEXT:        %2 = scf.if %1 -> (f32) {
// CHECK-NEXT:          %3 = memref.load %p0[%vi, %vj] : memref<1x2xf32>
// CHECK-NEXT:          scf.yield %3 : f32
// CHECK-NEXT:        } else {
// CHECK-NEXT:          %4 = arith.constant 2 : index
// CHECK-NEXT:          %5 = arith.subi %vj, %4 : index
// CHECK-NEXT:          %6 = memref.load %p1[%vi, %5] : memref<1x3xf32>
// CHECK-NEXT:          scf.yield %6 : f32
// CHECK-NEXT:        }
// CHECK-NEXT:        memref.store %2, %out[%vi, %vj] : memref<1x5xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
  %0 = relay.call @a_tuple_argument_is_several_buffers(%t) : (tuple<tensor<1x2xf32>, tensor<1x3xf32>>) -> tensor<1x5xf32>
  relay.return %0 : tensor<1x5xf32>
}

relay.func private @a_tuple_argument_is_several_buffers(%p0: tuple<tensor<1x2xf32>, tensor<1x3xf32>>) -> tensor<1x5xf32> attributes {primitive} {
  %0 = relay.concatenate %p0 {axis = 1 : i64} : (tuple<tensor<1x2xf32>, tensor<1x3xf32>>) -> tensor<1x5xf32>
  relay.return %0 : tensor<1x5xf32>
}

// CHECK-LABEL: tir.prim_func @lays_one_after_the_other(%p0: memref<1x2xf32>, %p1: memref<1x3xf32>, %out: memref<1x5xf32>) {
// CHECK-NEXT:    tir.for %j = 0 to 5 {
// CHECK-NEXT:      tir.block @concatenate(%vi: spatial 1, %vj: spatial 5) = [0, %j] reads(%p0[%vi, %vj] : memref<1x2xf32>, %p1[%vi, %vj + -2] : memref<1x3xf32>)
// CHECK-NEXT:          writes(%out[%vi, %vj] : memref<1x5xf32>) {
// CHECK-NEXT:        %0 = arith.constant 2 : index
// CHECK-NEXT:        %1 = arith.cmpi slt, %vj, %0 : index
// CHECK-NEXT:        %2 = scf.if %1 -> (f32) {
// CHECK-NEXT:          %3 = memref.load %p0[%vi, %vj] : memref<1x2xf32>
// CHECK-NEXT:          scf.yield %3 : f32
// CHECK-NEXT:        } else {
// CHECK-NEXT:          %4 = arith.constant 2 : index
// CHECK-NEXT:          %5 = arith.subi %vj, %4 : index
// CHECK-NEXT:          %6 = memref.load %p1[%vi, %5] : memref<1x3xf32>
// CHECK-NEXT:          scf.yield %6 : f32
// CHECK-NEXT:        }
// CHECK-NEXT:        memref.store %2, %out[%vi, %vj] : memref<1x5xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
relay.func private @lays_one_after_the_other(%p0: tensor<1x2xf32>, %p1: tensor<1x3xf32>) -> tensor<1x5xf32> attributes {primitive} {
  %t = relay.tuple(%p0, %p1) : (tensor<1x2xf32>, tensor<1x3xf32>) -> tuple<tensor<1x2xf32>, tensor<1x3xf32>>
  %0 = relay.concatenate %t {axis = 1 : i64} : (tuple<tensor<1x2xf32>, tensor<1x3xf32>>) -> tensor<1x5xf32>
  relay.return %0 : tensor<1x5xf32>
}

// CHECK-LABEL: tir.prim_func @interleaves_its_arguments(%p0: memref<2x2xf32>, %p1: memref<2x3xf32>, %out: memref<2x5xf32>) {
// CHECK-NEXT:    tir.for %i = 0 to 2 {
// CHECK-NEXT:      tir.for %j = 0 to 5 {
// CHECK-NEXT:        tir.block @concatenate(%vi: spatial 2, %vj: spatial 5) = [%i, %j] reads(%p0[%vi, %vj] : memref<2x2xf32>, %p1[%vi, %vj + -2] : memref<2x3xf32>)
// CHECK-NEXT:            writes(%out[%vi, %vj] : memref<2x5xf32>) {
// CHECK-NEXT:          %0 = arith.constant 2 : index
// CHECK-NEXT:          %1 = arith.cmpi slt, %vj, %0 : index
// CHECK-NEXT:          %2 = scf.if %1 -> (f32) {
// CHECK-NEXT:            %3 = memref.load %p0[%vi, %vj] : memref<2x2xf32>
// CHECK-NEXT:            scf.yield %3 : f32
// CHECK-NEXT:          } else {
// CHECK-NEXT:            %4 = arith.constant 2 : index
// CHECK-NEXT:            %5 = arith.subi %vj, %4 : index
// CHECK-NEXT:            %6 = memref.load %p1[%vi, %5] : memref<2x3xf32>
// CHECK-NEXT:            scf.yield %6 : f32
// CHECK-NEXT:          }
// CHECK-NEXT:          memref.store %2, %out[%vi, %vj] : memref<2x5xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
relay.func private @interleaves_its_arguments(%p0: tensor<2x2xf32>, %p1: tensor<2x3xf32>) -> tensor<2x5xf32> attributes {primitive} {
  %t = relay.tuple(%p0, %p1) : (tensor<2x2xf32>, tensor<2x3xf32>) -> tuple<tensor<2x2xf32>, tensor<2x3xf32>>
  %0 = relay.concatenate %t {axis = 1 : i64} : (tuple<tensor<2x2xf32>, tensor<2x3xf32>>) -> tensor<2x5xf32>
  relay.return %0 : tensor<2x5xf32>
}

// CHECK-LABEL: relay.func @a_tuple_is_put_together_again(%x: tensor<4xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>> {
// CHECK-NEXT:    %0, %1 = relay.call_lowered @a_tuple_result_is_several_buffers(%x) : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
// CHECK-NEXT:    %2 = relay.tuple(%0, %1) : (tensor<2xf32>, tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
// CHECK-NEXT:    relay.return %2 : tuple<tensor<2xf32>, tensor<2xf32>>
// CHECK-NEXT:  }
relay.func @a_tuple_is_put_together_again(%x: tensor<4xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>> {
// CHECK-LABEL: tir.prim_func @a_tuple_result_is_several_buffers(%p0: memref<4xf32>, %out: memref<2xf32>, %out1: memref<2xf32>) {
// CHECK-NEXT:    tir.for %i = 0 to 2 {
// CHECK-NEXT:      tir.block @split(%vi: spatial 2) = [%i] reads(%p0[%vi] : memref<4xf32>) writes(%out[%vi] : memref<2xf32>) {
// CHECK-NEXT:        %0 = memref.load %p0[%vi] : memref<4xf32>
// CHECK-NEXT:        memref.store %0, %out[%vi] : memref<2xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    tir.for %i_1 = 0 to 2 {
// CHECK-NEXT:      tir.block @split_1(%vi_1: spatial 2) = [%i_1] reads(%p0[%vi_1 + 2] : memref<4xf32>) writes(%out1[%vi_1] : memref<2xf32>) {
// CHECK-NEXT:        %1 = arith.constant 2 : index
// CHECK-NEXT:        %2 = arith.addi %vi_1, %1 : index
// CHECK-NEXT:        %3 = memref.load %p0[%2] : memref<4xf32>
// CHECK-NEXT:        memref.store %3, %out1[%vi_1] : memref<2xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
  %0 = relay.call @a_tuple_result_is_several_buffers(%x) : (tensor<4xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  relay.return %0 : tuple<tensor<2xf32>, tensor<2xf32>>
}

relay.func private @a_tuple_result_is_several_buffers(%p0: tensor<4xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>> attributes {primitive} {
  %0 = relay.split %p0 {indices_or_sections = 2 : i64, axis = 0 : i64} : (tensor<4xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  relay.return %0 : tuple<tensor<2xf32>, tensor<2xf32>>
}

// CHECK-LABEL: tir.prim_func @a_place_that_depends_on_data_has_no_map(%p0: memref<8xf32>, %p1: memref<3xi64>, %out: memref<3xf32>) {
// CHECK-NEXT:    tir.for %i = 0 to 3 {
// CHECK-NEXT:      tir.block @take(%vi: spatial 3) = [%i] reads(%p1[%vi] : memref<3xi64>, %p0 : memref<8xf32>) writes(%out[%vi] : memref<3xf32>) {
// CHECK-NEXT:        %0 = arith.constant 0 : index
// CHECK-NEXT:        %1 = arith.constant 7 : index
// CHECK-NEXT:        %2 = memref.load %p1[%vi] : memref<3xi64>
// CHECK-NEXT:        %3 = arith.index_cast %2 : i64 to index
// CHECK-NEXT:        %4 = arith.minsi %3, %1 : index
// CHECK-NEXT:        %5 = arith.maxsi %4, %0 : index
// CHECK-NEXT:        %6 = memref.load %p0[%5] : memref<8xf32>
// CHECK-NEXT:        memref.store %6, %out[%vi] : memref<3xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
relay.func private @a_place_that_depends_on_data_has_no_map(%p0: tensor<8xf32>, %p1: tensor<3xi64>) -> tensor<3xf32> attributes {primitive} {
  %0 = relay.take %p0, %p1 {axis = 0 : i64} : (tensor<8xf32>, tensor<3xi64>) -> tensor<3xf32>
  relay.return %0 : tensor<3xf32>
}

// CHECK-LABEL: relay.func @a_call_says_that_the_kernel_only_copies(%x: tensor<1x2xf32>, %y: tensor<1x3xf32>) -> tensor<1x5xf32> {
// CHECK-NEXT:    %0 = relay.call_lowered @lays_one_after_the_other(%x, %y) {copies} : (tensor<1x2xf32>, tensor<1x3xf32>) -> tensor<1x5xf32>
// CHECK-NEXT:    relay.return %0 : tensor<1x5xf32>
// CHECK-NEXT:  }
relay.func @a_call_says_that_the_kernel_only_copies(%x: tensor<1x2xf32>, %y: tensor<1x3xf32>) -> tensor<1x5xf32> {
  %0 = relay.call @lays_one_after_the_other(%x, %y) : (tensor<1x2xf32>, tensor<1x3xf32>) -> tensor<1x5xf32>
  relay.return %0 : tensor<1x5xf32>
}

// CHECK-LABEL: relay.func @a_call_says_from_where_a_slice_copies(
// CHECK-NEXT:    %0 = relay.call_lowered @slices_a_row(%x) {copies, start = 3 : i64} : (tensor<2x3xf32>) -> tensor<1x2xf32>
// CHECK-NEXT:    %1 = relay.call_lowered @slices_a_column(%x) : (tensor<2x3xf32>) -> tensor<2x1xf32>
relay.func @a_call_says_from_where_a_slice_copies(%x: tensor<2x3xf32>) -> (tensor<1x2xf32>, tensor<2x1xf32>) {
  %0 = relay.call @slices_a_row(%x) : (tensor<2x3xf32>) -> tensor<1x2xf32>
  %1 = relay.call @slices_a_column(%x) : (tensor<2x3xf32>) -> tensor<2x1xf32>
  relay.return %0, %1 : tensor<1x2xf32>, tensor<2x1xf32>
}

// CHECK-LABEL: tir.prim_func @slices_a_row(
relay.func private @slices_a_row(%p0: tensor<2x3xf32>) -> tensor<1x2xf32> attributes {primitive} {
  %0 = relay.strided_slice %p0 {begin = array<i64: 1, 0>, end = array<i64: 2, 2>} : (tensor<2x3xf32>) -> tensor<1x2xf32>
  relay.return %0 : tensor<1x2xf32>
}

// CHECK-LABEL: tir.prim_func @slices_a_column(
relay.func private @slices_a_column(%p0: tensor<2x3xf32>) -> tensor<2x1xf32> attributes {primitive} {
  %0 = relay.strided_slice %p0 {begin = array<i64: 0, 1>, end = array<i64: 2, 2>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  relay.return %0 : tensor<2x1xf32>
}

// CHECK-LABEL: relay.func @a_call_of_what_interleaves_is_no_copy(%x: tensor<2x2xf32>, %y: tensor<2x3xf32>) -> tensor<2x5xf32> {
// CHECK-NEXT:    %0 = relay.call_lowered @interleaves_its_arguments(%x, %y) : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x5xf32>
// CHECK-NEXT:    relay.return %0 : tensor<2x5xf32>
// CHECK-NEXT:  }
relay.func @a_call_of_what_interleaves_is_no_copy(%x: tensor<2x2xf32>, %y: tensor<2x3xf32>) -> tensor<2x5xf32> {
  %0 = relay.call @interleaves_its_arguments(%x, %y) : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x5xf32>
  relay.return %0 : tensor<2x5xf32>
}

// CHECK-LABEL: relay.func @what_is_not_fused_yet_is_fused_first(%x: tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT:    %0 = relay.call_lowered @fused_nn_relu(%x) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT:    relay.return %0 : tensor<8xf32>
// CHECK-NEXT:  }
// CHECK-NEXT:  tir.prim_func @fused_nn_relu(%p0: memref<8xf32>, %out: memref<8xf32>) {
relay.func @what_is_not_fused_yet_is_fused_first(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relay.nn.relu %x : tensor<8xf32>
  relay.return %0 : tensor<8xf32>
}

// -----

// CHECK-LABEL: relay.func @calls_say_where_they_run
// CHECK-NEXT:      attributes {param_virtual_devices
// CHECK-NEXT:    %w = relay.constant {{.*}}dense<2.000000e+00> : tensor<8xf32>
// CHECK-NEXT:    %0 = relay.call_lowered @copy(%x) {virtual_device = #relay.virtual_device<ext_dev, id = 0>, src_virtual_device = #relay.virtual_device<cpu, id = 0>}
// CHECK-NEXT:        : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT:    %1 = relay.call_lowered @sum(%0, %w) {virtual_device = #relay.virtual_device<ext_dev, id = 0>}
// CHECK-NEXT:    %2 = relay.call_lowered @back(%1) {virtual_device = #relay.virtual_device<cpu, id = 0>, src_virtual_device = #relay.virtual_device<ext_dev, id = 0>}
// CHECK-NEXT:        : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT:    %3 = relay.call_lowered @sum(%2, %x) :
relay.func @calls_say_where_they_run(%x: tensor<8xf32>) -> tensor<8xf32> attributes {param_virtual_devices = [#relay.virtual_device<cpu, id = 0>], result_virtual_devices = [#relay.virtual_device<cpu, id = 0>]} {
  %w = relay.constant dense<2.0> : tensor<8xf32>
  %0 = relay.call @copy(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = relay.call @sum(%0, %w) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = relay.call @back(%1) : (tensor<8xf32>) -> tensor<8xf32>
  %3 = relay.call @sum(%2, %x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  relay.return %3 : tensor<8xf32>
}
relay.func private @sum(%p0: tensor<8xf32>, %p1: tensor<8xf32>) -> tensor<8xf32> attributes {primitive} {
  %0 = relay.add %p0, %p1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  relay.return %0 : tensor<8xf32>
}
relay.func private @copy(%p0: tensor<8xf32>) -> tensor<8xf32> attributes {primitive} {
  %0 = relay.device_copy %p0 {src_virtual_device = #relay.virtual_device<cpu, id = 0>, dst_virtual_device = #relay.virtual_device<ext_dev, id = 0>} : tensor<8xf32>
  relay.return %0 : tensor<8xf32>
}
relay.func private @back(%p0: tensor<8xf32>) -> tensor<8xf32> attributes {primitive} {
  %0 = relay.device_copy %p0 {src_virtual_device = #relay.virtual_device<ext_dev, id = 0>, dst_virtual_device = #relay.virtual_device<cpu, id = 0>} : tensor<8xf32>
  relay.return %0 : tensor<8xf32>
}

// -----

// A kernel that a graph with symbols calls, and one without them too, is two functions.

// CHECK-LABEL: relay.func private @with_symbols
// CHECK: relay.call_lowered @double(%x) :
// CHECK-LABEL: relay.func private @without
// CHECK: relay.call_lowered @double_1(%x) :
// CHECK-DAG: tir.prim_func @double(
// CHECK-DAG: tir.prim_func @double_1(
// CHECK-NOT: relay.call @
relay.func private @with_symbols(%x: tensor<2xi64>, %d: tensor<?xf32>) -> (tensor<2xi64>, tensor<?xf32>) attributes {segment} {
  %0 = relay.call @double(%x) : (tensor<2xi64>) -> tensor<2xi64>
  %1 = relay.call @negative(%d) : (tensor<?xf32>) -> tensor<?xf32>
  relay.return %0, %1 : tensor<2xi64>, tensor<?xf32>
}
relay.func private @without(%x: tensor<2xi64>) -> tensor<2xi64> attributes {segment} {
  %0 = relay.call @double(%x) : (tensor<2xi64>) -> tensor<2xi64>
  relay.return %0 : tensor<2xi64>
}
relay.func private @double(%p0: tensor<2xi64>) -> tensor<2xi64> attributes {primitive} {
  %0 = relay.add %p0, %p0 : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  relay.return %0 : tensor<2xi64>
}
relay.func private @negative(%p0: tensor<?xf32>) -> tensor<?xf32> attributes {primitive} {
  %0 = relay.negative %p0 : tensor<?xf32>
  relay.return %0 : tensor<?xf32>
}

// -----

// With `pass-extents`, functions that differ in outer extents alone share a kernel.

// SHARED-LABEL: relay.func @blocks_of_channels
// SHARED: %0 = relay.call_lowered @relu(%x) {sizes = array<i64: 2>} : (tensor<1x2x3x3x8xf32>) -> tensor<1x2x3x3x8xf32>
// SHARED-NEXT: %1 = relay.call_lowered @relu(%y) {sizes = array<i64: 5>} : (tensor<1x5x3x3x8xf32>) -> tensor<1x5x3x3x8xf32>
// SHARED-NEXT: %2 = relay.call_lowered @relu_2(%z) : (tensor<1x5x4x3x8xf32>) -> tensor<1x5x4x3x8xf32>
// SHARED: tir.prim_func @relu(%p0: memref<1x?x3x3x8xf32>, %out: memref<1x?x3x3x8xf32>, %n0: index)
// SHARED-NOT: @relu_1
// CHECK-LABEL: relay.func @blocks_of_channels
// CHECK: %0 = relay.call_lowered @relu(%x) :
// CHECK-NEXT: %1 = relay.call_lowered @relu_1(%y) :
relay.func @blocks_of_channels(%x: tensor<1x2x3x3x8xf32>, %y: tensor<1x5x3x3x8xf32>, %z: tensor<1x5x4x3x8xf32>) -> (tensor<1x2x3x3x8xf32>, tensor<1x5x3x3x8xf32>, tensor<1x5x4x3x8xf32>) {
  %0 = relay.call @relu(%x) : (tensor<1x2x3x3x8xf32>) -> tensor<1x2x3x3x8xf32>
  %1 = relay.call @relu_1(%y) : (tensor<1x5x3x3x8xf32>) -> tensor<1x5x3x3x8xf32>
  %2 = relay.call @relu_2(%z) : (tensor<1x5x4x3x8xf32>) -> tensor<1x5x4x3x8xf32>
  relay.return %0, %1, %2 : tensor<1x2x3x3x8xf32>, tensor<1x5x3x3x8xf32>, tensor<1x5x4x3x8xf32>
}
relay.func private @relu(%p0: tensor<1x2x3x3x8xf32>) -> tensor<1x2x3x3x8xf32> attributes {primitive} {
  %0 = relay.nn.relu %p0 : tensor<1x2x3x3x8xf32>
  relay.return %0 : tensor<1x2x3x3x8xf32>
}
relay.func private @relu_1(%p0: tensor<1x5x3x3x8xf32>) -> tensor<1x5x3x3x8xf32> attributes {primitive} {
  %0 = relay.nn.relu %p0 : tensor<1x5x3x3x8xf32>
  relay.return %0 : tensor<1x5x3x3x8xf32>
}
relay.func private @relu_2(%p0: tensor<1x5x4x3x8xf32>) -> tensor<1x5x4x3x8xf32> attributes {primitive} {
  %0 = relay.nn.relu %p0 : tensor<1x5x4x3x8xf32>
  relay.return %0 : tensor<1x5x4x3x8xf32>
}
