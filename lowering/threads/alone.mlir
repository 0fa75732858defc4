// What stands for the pool (`pool.mlir`) on systems for which there is none: the caller does all work itself.

llvm.mlir.global weak @weft_pool_2() {alignment = 8 : i64} : !llvm.ptr {
  %null = llvm.mlir.zero : !llvm.ptr
  llvm.return %null : !llvm.ptr
}

llvm.func weak @weft_pool_2_run(%body: !llvm.ptr, %context: !llvm.ptr, %threads: i64) attributes {no_unwind} {
  %caller = llvm.mlir.constant(0 : i64) : i64
  llvm.call %body(%context, %caller) : !llvm.ptr, (!llvm.ptr, i64) -> ()
  llvm.return
}

// One thread has done every share when it comes to wait.
llvm.func weak @weft_pool_2_wait(%done: !llvm.ptr, %shares: i32) attributes {no_unwind} {
  llvm.return
}

llvm.func weak @weft_pool_2_wake(%done: !llvm.ptr) attributes {no_unwind} {
  llvm.return
}

llvm.func weak @weft_pool_2_limit(%limit: i32) -> i32 attributes {no_unwind} {
  %one = llvm.mlir.constant(1 : i32) : i32
  llvm.return %one : i32
}
