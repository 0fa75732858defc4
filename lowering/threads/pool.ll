@weft_pool_2_futex = internal constant i64 -1, align 8
@weft_pool_2 = weak global ptr null, align 8
declare ptr @aligned_alloc(i64, i64)
declare i32 @clock_gettime(i32, ptr)
declare void @free(ptr)
declare i32 @getpid()
declare ptr @memset(ptr, i32, i64)
declare i32 @pthread_attr_destroy(ptr)
declare i32 @pthread_attr_init(ptr)
declare i32 @pthread_attr_setdetachstate(ptr, i32)
declare i32 @pthread_attr_setstacksize(ptr, i64)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @sched_getaffinity(i32, i64, ptr)
declare i32 @sigfillset(ptr)
declare i64 @syscall(i64, ...)
declare i64 @sysconf(i32)
define weak void @weft_pool_2_run(ptr %a0, ptr %a1, i64 %a2) #0 {
b0:
  %several.1 = icmp sgt i64 %a2, 1
  br i1 %several.1, label %b1, label %b9
b1:
  %state.2 = call ptr @weft_pool_2_get()
  %failed.3 = icmp eq ptr %state.2, null
  br i1 %failed.3, label %b9, label %b2
b2:
  %limit_at.4 = getelementptr inbounds i8, ptr %state.2, i32 4
  %limit.5 = load atomic i32, ptr %limit_at.4 monotonic, align 4
  %within.6 = icmp ult i64 %a2, 4095
  %clamped.7 = select i1 %within.6, i64 %a2, i64 4095
  %asked.8 = trunc i64 %clamped.7 to i32
  %few.9 = icmp slt i32 %asked.8, %limit.5
  %used.10 = select i1 %few.9, i32 %asked.8, i32 %limit.5
  %helpers.11 = sub i32 %used.10, 1
  %helped.12 = icmp sgt i32 %helpers.11, 0
  br i1 %helped.12, label %b3, label %b9
b3:
  %slot.13 = call ptr @weft_pool_2_take(ptr %state.2)
  %full.14 = icmp eq ptr %slot.13, null
  br i1 %full.14, label %b9, label %b4
b4:
  %body_at.15 = getelementptr inbounds i8, ptr %slot.13, i32 8
  %context_at.16 = getelementptr inbounds i8, ptr %slot.13, i32 16
  store ptr %a0, ptr %body_at.15
  store ptr %a1, ptr %context_at.16
  %seats.17 = shl i32 %helpers.11, 12
  %open.18 = or i32 %seats.17, 16777216
  store atomic i32 %open.18, ptr %slot.13 release, align 4
  %bell.19 = getelementptr inbounds i8, ptr %state.2, i32 64
  %rung.20 = atomicrmw add ptr %bell.19, i32 1 seq_cst
  call void @weft_pool_2_hire(ptr %state.2, i32 %helpers.11)
  %idle_at.21 = getelementptr inbounds i8, ptr %state.2, i32 128
  %idle.22 = load atomic i32, ptr %idle_at.21 seq_cst, align 4
  %asleep.23 = icmp ne i32 %idle.22, 0
  br i1 %asleep.23, label %b5, label %b6
b5:
  call void @weft_pool_2_futex_wake(ptr %bell.19, i32 %helpers.11)
  br label %b6
b6:
  call void %a0(ptr %a1, i64 0)
  %last.24 = atomicrmw and ptr %slot.13, i32 -16773121 acq_rel
  %inside.25 = and i32 %last.24, 4095
  %busy.26 = icmp ne i32 %inside.25, 0
  br i1 %busy.26, label %b7, label %b8
b7:
  call void @weft_pool_2_left(ptr %slot.13)
  br label %b8
b8:
  store atomic i32 0, ptr %slot.13 release, align 4
  ret void
b9:
  call void %a0(ptr %a1, i64 0)
  ret void
}
define weak void @weft_pool_2_wait(ptr %a0, i32 %a1) #0 {
b0:
  %start.2 = call i64 @weft_pool_2_now()
  %deadline.3 = add i64 %start.2, 50000
  br label %b1
b1:
  %word.4 = load atomic i32, ptr %a0 acquire, align 4
  %count.5 = and i32 %word.4, 2147483647
  %ready.6 = icmp uge i32 %count.5, %a1
  br i1 %ready.6, label %b5, label %b2
b2:
  %now.7 = call i64 @weft_pool_2_now()
  %late.8 = icmp ugt i64 %now.7, %deadline.3
  br i1 %late.8, label %b3, label %b1
b3:
  %old.9 = atomicrmw or ptr %a0, i32 -2147483648 acquire
  br label %b4
b4:
  %seen.1 = phi i32 [ %old.9, %b3 ], [ %again.13, %b6 ]
  %counted.10 = and i32 %seen.1, 2147483647
  %enough.11 = icmp uge i32 %counted.10, %a1
  br i1 %enough.11, label %b5, label %b6
b5:
  ret void
b6:
  %expected.12 = or i32 %seen.1, -2147483648
  call void @weft_pool_2_futex_wait(ptr %a0, i32 %expected.12)
  %again.13 = load atomic i32, ptr %a0 acquire, align 4
  br label %b4
}
define weak void @weft_pool_2_wake(ptr %a0) #0 {
b0:
  call void @weft_pool_2_futex_wake(ptr %a0, i32 2147483647)
  ret void
}
define weak i32 @weft_pool_2_limit(i32 %a0) #0 {
b0:
  %state.1 = call ptr @weft_pool_2_get()
  %failed.2 = icmp eq ptr %state.1, null
  br i1 %failed.2, label %b1, label %b2
b1:
  ret i32 1
b2:
  %limit_at.3 = getelementptr inbounds i8, ptr %state.1, i32 4
  %old.4 = atomicrmw xchg ptr %limit_at.3, i32 %a0 monotonic
  ret i32 %old.4
}
define internal i64 @weft_pool_2_now() #0 {
b0:
  %time.1 = alloca { i64, i64 }, align 8
  %status.2 = call i32 @clock_gettime(i32 1, ptr %time.1)
  %rest_at.3 = getelementptr inbounds i8, ptr %time.1, i32 8
  %seconds.4 = load i64, ptr %time.1, align 8
  %rest.5 = load i64, ptr %rest_at.3, align 8
  %whole.6 = mul i64 %seconds.4, 1000000000
  %sum.7 = add i64 %whole.6, %rest.5
  ret i64 %sum.7
}
define internal void @weft_pool_2_futex_wait(ptr %a0, i32 %a1) #0 {
b0:
  %number.1 = load i64, ptr @weft_pool_2_futex, align 8
  %status.2 = call i64 (i64, ...) @syscall(i64 %number.1, ptr %a0, i32 128, i32 %a1, ptr null)
  ret void
}
define internal void @weft_pool_2_futex_wake(ptr %a0, i32 %a1) #0 {
b0:
  %number.1 = load i64, ptr @weft_pool_2_futex, align 8
  %status.2 = call i64 (i64, ...) @syscall(i64 %number.1, ptr %a0, i32 129, i32 %a1)
  ret void
}
define internal ptr @weft_pool_2_get() #0 {
b0:
  %process.2 = call i32 @getpid()
  %known.3 = load atomic ptr, ptr @weft_pool_2 acquire, align 8
  %none.4 = icmp eq ptr %known.3, null
  br i1 %none.4, label %b2, label %b1
b1:
  %maker.5 = load i32, ptr %known.3, align 4
  %same.6 = icmp eq i32 %maker.5, %process.2
  br i1 %same.6, label %b5, label %b2
b2:
  %new.7 = call ptr @aligned_alloc(i64 64, i64 4352)
  %failed.8 = icmp eq ptr %new.7, null
  br i1 %failed.8, label %b5, label %b3
b3:
  %cleared.9 = call ptr @memset(ptr %new.7, i32 0, i64 4352)
  store i32 %process.2, ptr %new.7, align 4
  %processors.10 = call i32 @weft_pool_2_processors()
  %limit_at.11 = getelementptr inbounds i8, ptr %new.7, i32 4
  store i32 %processors.10, ptr %limit_at.11, align 4
  %exchanged.12 = cmpxchg ptr @weft_pool_2, ptr %known.3, ptr %new.7 acq_rel acquire
  %won.13 = extractvalue { ptr, i1 } %exchanged.12, 1
  br i1 %won.13, label %b5, label %b4
b4:
  call void @free(ptr %new.7)
  %other.14 = extractvalue { ptr, i1 } %exchanged.12, 0
  br label %b5
b5:
  %state.1 = phi ptr [ %known.3, %b1 ], [ null, %b2 ], [ %new.7, %b3 ], [ %other.14, %b4 ]
  ret ptr %state.1
}
define internal i32 @weft_pool_2_processors() #0 {
b0:
  %mask.4 = alloca [128 x i64], align 8
  %cleared.5 = call ptr @memset(ptr %mask.4, i32 0, i64 1024)
  %status.6 = call i32 @sched_getaffinity(i32 0, i64 1024, ptr %mask.4)
  %known.7 = icmp eq i32 %status.6, 0
  br i1 %known.7, label %b1, label %b2
b1:
  %place.1 = phi i64 [ 0, %b0 ], [ %following.12, %b1 ]
  %sum.2 = phi i64 [ 0, %b0 ], [ %total.11, %b1 ]
  %at.8 = getelementptr inbounds i64, ptr %mask.4, i64 %place.1
  %word.9 = load i64, ptr %at.8, align 8
  %bits.10 = call i64 @llvm.ctpop.i64(i64 %word.9)
  %total.11 = add i64 %sum.2, %bits.10
  %following.12 = add i64 %place.1, 1
  %more.13 = icmp ult i64 %following.12, 128
  br i1 %more.13, label %b1, label %b3
b2:
  %answer.14 = call i64 @sysconf(i32 84)
  br label %b3
b3:
  %found.3 = phi i64 [ %total.11, %b1 ], [ %answer.14, %b2 ]
  %several.15 = icmp sgt i64 %found.3, 1
  %number.16 = select i1 %several.15, i64 %found.3, i64 1
  %result.17 = trunc i64 %number.16 to i32
  ret i32 %result.17
}
define internal ptr @weft_pool_2_take(ptr %a0) #0 {
b0:
  br label %b1
b1:
  %place.1 = phi i64 [ 256, %b0 ], [ %following.8, %b3 ]
  %slot.3 = getelementptr inbounds i8, ptr %a0, i64 %place.1
  %word.4 = load atomic i32, ptr %slot.3 monotonic, align 4
  %unused.5 = icmp eq i32 %word.4, 0
  br i1 %unused.5, label %b2, label %b3
b2:
  %exchanged.6 = cmpxchg ptr %slot.3, i32 0, i32 16777216 acquire monotonic
  %won.7 = extractvalue { i32, i1 } %exchanged.6, 1
  br i1 %won.7, label %b4, label %b3
b3:
  %following.8 = add i64 %place.1, 64
  %more.9 = icmp ult i64 %following.8, 4352
  br i1 %more.9, label %b1, label %b4
b4:
  %result.2 = phi ptr [ %slot.3, %b2 ], [ null, %b3 ]
  ret ptr %result.2
}
define internal void @weft_pool_2_left(ptr %a0) #0 {
b0:
  %start.2 = call i64 @weft_pool_2_now()
  %deadline.3 = add i64 %start.2, 50000
  br label %b1
b1:
  %word.4 = load atomic i32, ptr %a0 acquire, align 4
  %inside.5 = and i32 %word.4, 4095
  %empty.6 = icmp eq i32 %inside.5, 0
  br i1 %empty.6, label %b5, label %b2
b2:
  %now.7 = call i64 @weft_pool_2_now()
  %late.8 = icmp ugt i64 %now.7, %deadline.3
  br i1 %late.8, label %b3, label %b1
b3:
  %old.9 = atomicrmw or ptr %a0, i32 33554432 acquire
  br label %b4
b4:
  %seen.1 = phi i32 [ %old.9, %b3 ], [ %again.13, %b6 ]
  %still.10 = and i32 %seen.1, 4095
  %left.11 = icmp eq i32 %still.10, 0
  br i1 %left.11, label %b5, label %b6
b5:
  ret void
b6:
  %expected.12 = or i32 %seen.1, 33554432
  call void @weft_pool_2_futex_wait(ptr %a0, i32 %expected.12)
  %again.13 = load atomic i32, ptr %a0 acquire, align 4
  br label %b4
}
define internal void @weft_pool_2_hire(ptr %a0, i32 %a1) #0 {
b0:
  %workers.1 = getelementptr inbounds i8, ptr %a0, i32 192
  br label %b1
b1:
  %number.2 = load atomic i32, ptr %workers.1 monotonic, align 4
  %enough.3 = icmp sge i32 %number.2, %a1
  br i1 %enough.3, label %b5, label %b2
b2:
  %more.4 = add i32 %number.2, 1
  %exchanged.5 = cmpxchg ptr %workers.1, i32 %number.2, i32 %more.4 monotonic monotonic
  %won.6 = extractvalue { i32, i1 } %exchanged.5, 1
  br i1 %won.6, label %b3, label %b1
b3:
  %status.7 = call i32 @weft_pool_2_start(ptr %a0)
  %started.8 = icmp eq i32 %status.7, 0
  br i1 %started.8, label %b1, label %b4
b4:
  %counted.9 = atomicrmw sub ptr %workers.1, i32 1 monotonic
  br label %b5
b5:
  ret void
}
define internal i32 @weft_pool_2_start(ptr %a0) #0 {
b0:
  %thread.1 = alloca i64, align 8
  %attributes.2 = alloca [128 x i8], align 16
  %every.3 = alloca [128 x i8], align 16
  %before.4 = alloca [128 x i8], align 16
  %v.5 = call i32 @pthread_attr_init(ptr %attributes.2)
  %v.6 = call i32 @pthread_attr_setdetachstate(ptr %attributes.2, i32 1)
  %v.7 = call i32 @pthread_attr_setstacksize(ptr %attributes.2, i64 4194304)
  %v.8 = call i32 @sigfillset(ptr %every.3)
  %v.9 = call i32 @pthread_sigmask(i32 2, ptr %every.3, ptr %before.4)
  %status.10 = call i32 @pthread_create(ptr %thread.1, ptr %attributes.2, ptr @weft_pool_2_worker, ptr %a0)
  %v.11 = call i32 @pthread_sigmask(i32 2, ptr %before.4, ptr null)
  %v.12 = call i32 @pthread_attr_destroy(ptr %attributes.2)
  ret i32 %status.10
}
define internal ptr @weft_pool_2_worker(ptr %a0) #0 {
b0:
  %bell.3 = getelementptr inbounds i8, ptr %a0, i32 64
  %idle.4 = getelementptr inbounds i8, ptr %a0, i32 128
  br label %b1
b1:
  %heard.5 = load atomic i32, ptr %bell.3 acquire, align 4
  br label %b2
b2:
  %place.1 = phi i64 [ 256, %b1 ], [ %following.10, %b4 ]
  %slot.6 = getelementptr inbounds i8, ptr %a0, i64 %place.1
  %word.7 = load atomic i32, ptr %slot.6 monotonic, align 4
  br label %b3
b3:
  %seen.2 = phi i32 [ %word.7, %b2 ], [ %found.22, %b9 ]
  %seats.8 = and i32 %seen.2, 16773120
  %none.9 = icmp eq i32 %seats.8, 0
  br i1 %none.9, label %b4, label %b9
b4:
  %following.10 = add i64 %place.1, 64
  %more.11 = icmp ult i64 %following.10, 4352
  br i1 %more.11, label %b2, label %b5
b5:
  %start.12 = call i64 @weft_pool_2_now()
  %deadline.13 = add i64 %start.12, 100000
  br label %b6
b6:
  %now_at.14 = load atomic i32, ptr %bell.3 acquire, align 4
  %quiet.15 = icmp eq i32 %now_at.14, %heard.5
  br i1 %quiet.15, label %b7, label %b1
b7:
  %now.16 = call i64 @weft_pool_2_now()
  %late.17 = icmp ugt i64 %now.16, %deadline.13
  br i1 %late.17, label %b8, label %b6
b8:
  %counted.18 = atomicrmw add ptr %idle.4, i32 1 seq_cst
  call void @weft_pool_2_futex_wait(ptr %bell.3, i32 %heard.5)
  %uncounted.19 = atomicrmw sub ptr %idle.4, i32 1 monotonic
  br label %b1
b9:
  %joined.20 = sub i32 %seen.2, 4095
  %exchanged.21 = cmpxchg ptr %slot.6, i32 %seen.2, i32 %joined.20 acquire monotonic
  %found.22 = extractvalue { i32, i1 } %exchanged.21, 0
  %won.23 = extractvalue { i32, i1 } %exchanged.21, 1
  br i1 %won.23, label %b10, label %b3
b10:
  %body_at.24 = getelementptr inbounds i8, ptr %slot.6, i32 8
  %context_at.25 = getelementptr inbounds i8, ptr %slot.6, i32 16
  %body.26 = load ptr, ptr %body_at.24
  %context.27 = load ptr, ptr %context_at.25
  %seat.28 = lshr i32 %seats.8, 12
  %number.29 = zext i32 %seat.28 to i64
  call void %body.26(ptr %context.27, i64 %number.29)
  %before.30 = atomicrmw sub ptr %slot.6, i32 1 release
  %bits.31 = and i32 %before.30, 33558527
  %awaited.32 = icmp eq i32 %bits.31, 33554433
  br i1 %awaited.32, label %b11, label %b1
b11:
  call void @weft_pool_2_futex_wake(ptr %slot.6, i32 1)
  br label %b1
}
declare i64 @llvm.ctpop.i64(i64)
attributes #0 = { nounwind }
