@weft_pool_2 = weak global ptr null, align 8
define weak void @weft_pool_2_run(ptr %a0, ptr %a1, i64 %a2) #0 {
b0:
  call void %a0(ptr %a1, i64 0)
  ret void
}
define weak void @weft_pool_2_wait(ptr %a0, i32 %a1) #0 {
b0:
  ret void
}
define weak void @weft_pool_2_wake(ptr %a0) #0 {
b0:
  ret void
}
define weak i32 @weft_pool_2_limit(i32 %a0) #0 {
b0:
  ret i32 1
}
attributes #0 = { nounwind }
