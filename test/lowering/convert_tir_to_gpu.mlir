// RUN: weft-opt %s -p thread-sync,convert-tir-to-gpu | filecheck %s
// RUN: weft-opt %s -p thread-sync,convert-tir-to-gpu,convert-loops-to-llvm | filecheck %s --check-prefix=LLVM
// RUN: weft-opt %s -p thread-sync,convert-tir-to-gpu,convert-loops-to-llvm --emit=asm --target=cuda | filecheck %s --check-prefix=PTX

// CHECK-LABEL: "memref.global"() <{sym_name = "what_another_thread_wrote_is_waited_for_kernel_0_shared_0", type = memref<8xf32, 3 : i64>
// CHECK:       func.func private @what_another_thread_wrote_is_waited_for_kernel_0(%x: memref<8xf32>, %y: memref<8xf32>)
// CHECK:         attributes {gpu.kernel, gpu.known_block_size = array<i32: 8, 1, 1>} {
// CHECK:         %threadIdx_x = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
// CHECK:         %s = "memref.memory_space_cast"(%{{.*}}) : (memref<8xf32, 3 : i64>) -> memref<8xf32>
// CHECK:         "gpu.barrier"() : () -> ()
// CHECK:       func.func @what_another_thread_wrote_is_waited_for(%x: memref<8xf32>, %y: memref<8xf32>) {
// CHECK:         "gpu.launch_func"(%c1, %c1, %c1, %c8, %c1, %c1, %x, %y)
// CHECK-NEXT:               <{kernel = @what_another_thread_wrote_is_waited_for_kernel_0,

// LLVM-LABEL: llvm.mlir.global internal @what_another_thread_wrote_is_waited_for_kernel_0_shared_0
// LLVM:       llvm.func @what_another_thread_wrote_is_waited_for_kernel_0
// LLVM:         nvvm.kernel, nvvm.reqntid = array<i32: 8, 1, 1>
// LLVM:         llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"() : () -> i32
// LLVM:         llvm.addrspacecast %{{.*}} : !llvm.ptr<3> to !llvm.ptr
// LLVM:         llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"
// LLVM:       llvm.func @what_another_thread_wrote_is_waited_for(!llvm.ptr, !llvm.ptr)
// LLVM-NEXT:      attributes {weft.launches = [{kernel = @what_another_thread_wrote_is_waited_for_kernel_0, grid = affine_map<() -> (1, 1, 1)>

// PTX-LABEL: .visible .entry what_another_thread_wrote_is_waited_for_kernel_0(
// PTX:       .reqntid 8
// PTX:       .shared .align 64 .b8 what_another_thread_wrote_is_waited_for_kernel_0_shared_0[32];
// PTX:       %tid.x
// PTX:       st.shared
// PTX:       bar.sync 0
// PTX:       ld.shared
// PTX:       st.global
tir.prim_func @what_another_thread_wrote_is_waited_for(%x: memref<8xf32>, %y: memref<8xf32>) {
  %s = tir.alloc_buffer "shared" : memref<8xf32>
  tir.for thread_binding "threadIdx.x" %t = 0 to 8 {
    tir.block @fill(%v: spatial 8) = [%t] reads(%x[%v] : memref<8xf32>) writes(%s[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %s[%v] : memref<8xf32>
    }
    tir.block @turn(%v: spatial 8) = [%t] reads(%s[7 - %v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %c7 = arith.constant 7 : index
      %i = arith.subi %c7, %v : index
      %0 = memref.load %s[%i] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}


// Each nest is a launch of its own, on the buffers that it uses; what lies between is the caller's to place.
// CHECK-LABEL: func.func private @two_nests_kernel_0(%x: memref<8xf32>, %t: memref<8xf32>)
// CHECK:       func.func private @two_nests_kernel_1(%y: memref<8xf32>, %t: memref<8xf32>)
// CHECK:       func.func @two_nests(%x: memref<8xf32>, %y: memref<8xf32>, %t: memref<8xf32>) {
// CHECK:         kernel = @two_nests_kernel_0
// CHECK:         kernel = @two_nests_kernel_1
tir.prim_func @two_nests(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = tir.alloc_buffer "global" : memref<8xf32>
  tir.for thread_binding "blockIdx.x" %i = 0 to 8 {
    tir.block @fill(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%t[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %t[%v] : memref<8xf32>
    }
  }
  tir.for thread_binding "blockIdx.x" %i = 0 to 8 {
    tir.block @copy(%v: spatial 8) = [%i] reads(%t[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %t[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}

// The longest loop of an axis says how many threads there are; beside a shorter one the others do nothing, and outside of
// all of them one works.
// CHECK-LABEL: func.func private @not_all_threads_work_kernel_0
// CHECK:         gpu.known_block_size = array<i32: 8, 1, 1>
// CHECK:         %[[SOME:.*]] = arith.cmpi slt, %threadIdx_x, %c4 : index
// CHECK-NEXT:    scf.if %[[SOME]] {
// CHECK:         %[[ONE:.*]] = arith.cmpi eq, %threadIdx_x, %c0 : index
// CHECK-NEXT:    scf.if %[[ONE]] {
tir.prim_func @not_all_threads_work(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<4xf32>, %w: memref<1xf32>, %f: memref<1xf32>) {
  tir.for %once = 0 to 1 {
    tir.for thread_binding "threadIdx.x" %i = 0 to 8 {
      tir.block @copy(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
    }
    tir.for thread_binding "threadIdx.x" %i = 0 to 4 {
      tir.block @some(%v: spatial 4) = [%i] reads(%x[%v] : memref<8xf32>) writes(%z[%v] : memref<4xf32>) {
        %0 = memref.load %x[%v] : memref<8xf32>
        memref.store %0, %z[%v] : memref<4xf32>
      }
    }
    tir.block @one(%v: spatial 1) = [%once] reads(%f[%v] : memref<1xf32>) writes(%w[%v] : memref<1xf32>) {
      %0 = memref.load %f[%v] : memref<1xf32>
      memref.store %0, %w[%v] : memref<1xf32>
    }
  }
}

// How many blocks there are follows from the sizes of a call; a kernel is given these too.
// CHECK-LABEL: func.func private @as_many_blocks_as_there_are_rows_kernel_0(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %m: index)
// CHECK:         %[[ROW:.*]] = arith.muli %blockIdx_y, %m : index
// CHECK:       func.func @as_many_blocks_as_there_are_rows(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %m: index) {
// CHECK:         %[[UP:.*]] = arith.addi %m, %c63 : index
// CHECK-NEXT:    %[[BLOCKS:.*]] = arith.divui %[[UP]], %c64 : index
// CHECK-NEXT:    "gpu.launch_func"(%[[BLOCKS]], %n, %c1, %c64, %c1, %c1, %x, %y, %n,
// LLVM-LABEL: llvm.func @as_many_blocks_as_there_are_rows(!llvm.ptr, !llvm.ptr, i64, i64)
// LLVM:           grid = affine_map<()[s0, s1, s2, s3] -> (((s3 + 63) floordiv 64), s2, 1)>, block = array<i64: 64, 1, 1>, arguments = array<i64: 0, 1, 2, 3>
// PTX-LABEL: .visible .entry as_many_blocks_as_there_are_rows_kernel_0(
// PTX:       .param .u64 as_many_blocks_as_there_are_rows_kernel_0_param_3
// PTX:       %ctaid.y
tir.prim_func @as_many_blocks_as_there_are_rows(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %n: index, %m: index) shapes(%x[%n, %m], %y[%n, %m]) {
  tir.for thread_binding "blockIdx.y" %i = 0 to %n {
    tir.for thread_binding "blockIdx.x" %j = 0 to (%m + 63) floordiv 64 {
      tir.for thread_binding "threadIdx.x" %t = 0 to 64 {
        tir.block @copy(%v: spatial %n, %w: spatial %m) = [%i, %j * 64 + %t] where [%j * -64 - %t + %m - 1]
            reads(%x[%v, %w] : memref<?x?xf32>) writes(%y[%v, %w] : memref<?x?xf32>) {
          %0 = memref.load %x[%v, %w] : memref<?x?xf32>
          memref.store %0, %y[%v, %w] : memref<?x?xf32>
        }
      }
    }
  }
}
