// The threads of Weft: one pool for a process, which any number of threads may use at once.
//
// A caller hands over a region, `body(context, number)`, that several threads may run at once: the threads that run it
// claim shares of its work, and none waits for one that has claimed nothing. So a region needs no fixed number of
// threads. The caller's number is 0, that of a worker is its seat's, from 1 on: of two threads each has the same number in
// all regions, and can go on with what is in its processor's caches; of more, every second has an even one.
// The caller publishes it, wakes workers, runs it itself, and returns when no worker is inside it any more.
//
// State. `@weft_pool_2` points to it: 4352 bytes that are made when a region is first run, and never freed.
//
//      0  i32  the process that made it: after a fork, the child finds that it is another one, and makes its own
//      4  i32  threads that may work on a region, its caller included: the processors allowed, unless set
//     64  i32  bell: changes whenever a region is published; idle workers wait on it
//    128  i32  workers that wait on the bell, or are about to
//    192  i32  workers
//    256  64 slots of 64 bytes, each for one region:
//      0  i32  control word: bits 0-11 workers inside, bits 12-23 seats left, bit 24 taken, bit 25 caller waits
//      8  ptr  body
//     16  ptr  context
//
// Who may touch what, and in which order:
//
// * A slot belongs to the caller that has changed its control word from 0. It writes body and context, and opens the
//   slot by a release store of the seats. A worker takes a seat by an acquire exchange that changes the same word, so
//   it reads what the caller wrote before; and the slot cannot be closed and taken anew while a worker is inside, so
//   what it reads does not change. An exchange that succeeds on a slot that was meanwhile closed and opened again, with
//   an equal word, has joined the new region: that is as good.
// * Every change of the word while it is open is a read-modify-write, so all of them continue the release sequence of
//   those before. A worker leaves by a release decrement; the caller reads the word with acquire until nobody is
//   inside: what workers wrote in the region is then seen by the caller. It frees the slot by a release store of 0,
//   which the next caller acquires.
// * No wake is lost at the bell. A worker reads the bell (acquire), then looks through all slots, then counts itself
//   idle, then sleeps if the bell is still what it read: the kernel compares and sleeps in one step. A caller opens
//   the slot, then rings, then reads the count of idle workers. Ringing, counting and reading the count are seq_cst: if
//   the caller reads a count without the worker, then the bell rang before the worker counted itself, and the worker
//   does not fall asleep. If the worker read the bell after it rang, it finds the slot open.
// * No wake is lost at the end. The caller sets bit 25 by a read-modify-write and sleeps only while the word is what it
//   saw; the last worker inside sees the bit in what its decrement gives back. A slot is never freed memory, so the
//   wake that may come after the caller has returned finds a word, and at worst wakes somebody who looks and sleeps on.
// * `wait` on a loop's count of shares does the same with bit 31 of that count (see `lowering/loops_to_llvm/sharing.py`).
//
// A worker spins for 100 microseconds when it has nothing to do, and a thread that waits for others' shares or for a
// worker to leave for 50; then they sleep. A sleeping thread leaves its processor free, so that the system moves a
// thread there that has a share and no processor; yielding would not. Workers are detached and block all signals, so
// they keep no process from ending and take no signal from those who expect it.
//
// Linux only (futex; glibc and musl have the same constants used here). The number of the futex call is filled in
// for the processor. The code must stay in memory as long as the process: a shared library with it is linked with
// `-z nodelete`.

llvm.mlir.global internal constant @weft_pool_2_futex(-1 : i64) {alignment = 8 : i64} : i64
llvm.mlir.global weak @weft_pool_2() {alignment = 8 : i64} : !llvm.ptr {
  %null = llvm.mlir.zero : !llvm.ptr
  llvm.return %null : !llvm.ptr
}

llvm.func @aligned_alloc(i64, i64) -> !llvm.ptr
llvm.func @clock_gettime(i32, !llvm.ptr) -> i32
llvm.func @free(!llvm.ptr)
llvm.func @getpid() -> i32
llvm.func @memset(!llvm.ptr, i32, i64) -> !llvm.ptr
llvm.func @pthread_attr_destroy(!llvm.ptr) -> i32
llvm.func @pthread_attr_init(!llvm.ptr) -> i32
llvm.func @pthread_attr_setdetachstate(!llvm.ptr, i32) -> i32
llvm.func @pthread_attr_setstacksize(!llvm.ptr, i64) -> i32
llvm.func @pthread_create(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
llvm.func @pthread_sigmask(i32, !llvm.ptr, !llvm.ptr) -> i32
llvm.func @sched_getaffinity(i32, i64, !llvm.ptr) -> i32
llvm.func @sigfillset(!llvm.ptr) -> i32
llvm.func @syscall(i64, ...) -> i64
llvm.func @sysconf(i32) -> i64

// Run `body(context, number)` on this thread and on up to `threads - 1` workers.
llvm.func weak @weft_pool_2_run(%body: !llvm.ptr, %context: !llvm.ptr, %threads: i64) attributes {no_unwind} {
  %null = llvm.mlir.zero : !llvm.ptr
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %one_thread = llvm.mlir.constant(1 : i64) : i64
  %caller = llvm.mlir.constant(0 : i64) : i64
  %most = llvm.mlir.constant(4095 : i64) : i64
  %seat_shift = llvm.mlir.constant(12 : i32) : i32
  %taken = llvm.mlir.constant(16777216 : i32) : i32
  %closed = llvm.mlir.constant(-16773121 : i32) : i32
  %inside_mask = llvm.mlir.constant(4095 : i32) : i32
  %several = llvm.icmp "sgt" %threads, %one_thread : i64
  llvm.cond_br %several, ^share, ^alone
^alone:
  llvm.call %body(%context, %caller) : !llvm.ptr, (!llvm.ptr, i64) -> ()
  llvm.return
^share:
  %state = llvm.call @weft_pool_2_get() : () -> !llvm.ptr
  %failed = llvm.icmp "eq" %state, %null : !llvm.ptr
  llvm.cond_br %failed, ^alone, ^count
^count:
  %limit_at = llvm.getelementptr inbounds %state[4] : (!llvm.ptr) -> !llvm.ptr, i8
  %limit = llvm.load %limit_at atomic monotonic {alignment = 4 : i64} : !llvm.ptr -> i32
  %within = llvm.icmp "ult" %threads, %most : i64
  %clamped = llvm.select %within, %threads, %most : i1, i64
  %asked = llvm.trunc %clamped : i64 to i32
  %few = llvm.icmp "slt" %asked, %limit : i32
  %used = llvm.select %few, %asked, %limit : i1, i32
  %helpers = llvm.sub %used, %one : i32
  %helped = llvm.icmp "sgt" %helpers, %zero : i32
  llvm.cond_br %helped, ^take, ^alone
^take:
  %slot = llvm.call @weft_pool_2_take(%state) : (!llvm.ptr) -> !llvm.ptr
  %full = llvm.icmp "eq" %slot, %null : !llvm.ptr
  llvm.cond_br %full, ^alone, ^publish
^publish:
  %body_at = llvm.getelementptr inbounds %slot[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %context_at = llvm.getelementptr inbounds %slot[16] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %body, %body_at : !llvm.ptr, !llvm.ptr
  llvm.store %context, %context_at : !llvm.ptr, !llvm.ptr
  %seats = llvm.shl %helpers, %seat_shift : i32
  %open = llvm.or %seats, %taken : i32
  llvm.store %open, %slot atomic release {alignment = 4 : i64} : i32, !llvm.ptr
  %bell = llvm.getelementptr inbounds %state[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %rung = llvm.atomicrmw add %bell, %one seq_cst : !llvm.ptr, i32
  llvm.call @weft_pool_2_hire(%state, %helpers) : (!llvm.ptr, i32) -> ()
  %idle_at = llvm.getelementptr inbounds %state[128] : (!llvm.ptr) -> !llvm.ptr, i8
  %idle = llvm.load %idle_at atomic seq_cst {alignment = 4 : i64} : !llvm.ptr -> i32
  %asleep = llvm.icmp "ne" %idle, %zero : i32
  llvm.cond_br %asleep, ^wake, ^work
^wake:
  llvm.call @weft_pool_2_futex_wake(%bell, %helpers) : (!llvm.ptr, i32) -> ()
  llvm.br ^work
^work:
  llvm.call %body(%context, %caller) : !llvm.ptr, (!llvm.ptr, i64) -> ()
  %last = llvm.atomicrmw _and %slot, %closed acq_rel : !llvm.ptr, i32
  %inside = llvm.and %last, %inside_mask : i32
  %busy = llvm.icmp "ne" %inside, %zero : i32
  llvm.cond_br %busy, ^others, ^done
^others:
  llvm.call @weft_pool_2_left(%slot) : (!llvm.ptr) -> ()
  llvm.br ^done
^done:
  llvm.store %zero, %slot atomic release {alignment = 4 : i64} : i32, !llvm.ptr
  llvm.return
}

// Wait until `shares` shares are done, by the count at `done`, whose bit 31 says that somebody sleeps on it.
llvm.func weak @weft_pool_2_wait(%done: !llvm.ptr, %shares: i32) attributes {no_unwind} {
  %patience = llvm.mlir.constant(50000 : i64) : i64
  %waits = llvm.mlir.constant(-2147483648 : i32) : i32
  %mask = llvm.mlir.constant(2147483647 : i32) : i32
  %start = llvm.call @weft_pool_2_now() : () -> i64
  %deadline = llvm.add %start, %patience : i64
  llvm.br ^look
^look:
  %word = llvm.load %done atomic acquire {alignment = 4 : i64} : !llvm.ptr -> i32
  %count = llvm.and %word, %mask : i32
  %ready = llvm.icmp "uge" %count, %shares : i32
  llvm.cond_br %ready, ^end, ^spin
^spin:
  %now = llvm.call @weft_pool_2_now() : () -> i64
  %late = llvm.icmp "ugt" %now, %deadline : i64
  llvm.cond_br %late, ^announce, ^look
^announce:
  %old = llvm.atomicrmw _or %done, %waits acquire : !llvm.ptr, i32
  llvm.br ^test(%old : i32)
^test(%seen: i32):
  %counted = llvm.and %seen, %mask : i32
  %enough = llvm.icmp "uge" %counted, %shares : i32
  llvm.cond_br %enough, ^end, ^sleep
^sleep:
  %expected = llvm.or %seen, %waits : i32
  llvm.call @weft_pool_2_futex_wait(%done, %expected) : (!llvm.ptr, i32) -> ()
  %again = llvm.load %done atomic acquire {alignment = 4 : i64} : !llvm.ptr -> i32
  llvm.br ^test(%again : i32)
^end:
  llvm.return
}

// Wake everybody who waits on `done`.
llvm.func weak @weft_pool_2_wake(%done: !llvm.ptr) attributes {no_unwind} {
  %all = llvm.mlir.constant(2147483647 : i32) : i32
  llvm.call @weft_pool_2_futex_wake(%done, %all) : (!llvm.ptr, i32) -> ()
  llvm.return
}

// Set how many threads may work on a region, its caller included; gives what it was. Workers that exist stay.
llvm.func weak @weft_pool_2_limit(%limit: i32) -> i32 attributes {no_unwind} {
  %null = llvm.mlir.zero : !llvm.ptr
  %one = llvm.mlir.constant(1 : i32) : i32
  %state = llvm.call @weft_pool_2_get() : () -> !llvm.ptr
  %failed = llvm.icmp "eq" %state, %null : !llvm.ptr
  llvm.cond_br %failed, ^none, ^set
^none:
  llvm.return %one : i32
^set:
  %limit_at = llvm.getelementptr inbounds %state[4] : (!llvm.ptr) -> !llvm.ptr, i8
  %old = llvm.atomicrmw xchg %limit_at, %limit monotonic : !llvm.ptr, i32
  llvm.return %old : i32
}

// Nanoseconds of a clock that only goes forward.
llvm.func internal @weft_pool_2_now() -> i64 attributes {no_unwind} {
  %one = llvm.mlir.constant(1 : i32) : i32
  %monotonic = llvm.mlir.constant(1 : i32) : i32
  %billion = llvm.mlir.constant(1000000000 : i64) : i64
  %time = llvm.alloca %one x !llvm.struct<(i64, i64)> {alignment = 8 : i64} : (i32) -> !llvm.ptr
  %status = llvm.call @clock_gettime(%monotonic, %time) : (i32, !llvm.ptr) -> i32
  %rest_at = llvm.getelementptr inbounds %time[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %seconds = llvm.load %time {alignment = 8 : i64} : !llvm.ptr -> i64
  %rest = llvm.load %rest_at {alignment = 8 : i64} : !llvm.ptr -> i64
  %whole = llvm.mul %seconds, %billion : i64
  %sum = llvm.add %whole, %rest : i64
  llvm.return %sum : i64
}

// Sleep while the word is `expected`; may return early. 128: FUTEX_WAIT, of this process alone.
llvm.func internal @weft_pool_2_futex_wait(%word: !llvm.ptr, %expected: i32) attributes {no_unwind} {
  %null = llvm.mlir.zero : !llvm.ptr
  %wait = llvm.mlir.constant(128 : i32) : i32
  %at = llvm.mlir.addressof @weft_pool_2_futex : !llvm.ptr
  %number = llvm.load %at {alignment = 8 : i64} : !llvm.ptr -> i64
  %status = llvm.call @syscall(%number, %word, %wait, %expected, %null) vararg(!llvm.func<i64 (i64, ...)>) : (i64, !llvm.ptr, i32, i32, !llvm.ptr) -> i64
  llvm.return
}

// Wake up to `count` of those who sleep on the word. 129: FUTEX_WAKE, of this process alone.
llvm.func internal @weft_pool_2_futex_wake(%word: !llvm.ptr, %count: i32) attributes {no_unwind} {
  %wake = llvm.mlir.constant(129 : i32) : i32
  %at = llvm.mlir.addressof @weft_pool_2_futex : !llvm.ptr
  %number = llvm.load %at {alignment = 8 : i64} : !llvm.ptr -> i64
  %status = llvm.call @syscall(%number, %word, %wake, %count) vararg(!llvm.func<i64 (i64, ...)>) : (i64, !llvm.ptr, i32, i32) -> i64
  llvm.return
}

// This process's state, made where there is none; null where there is no memory for it.
llvm.func internal @weft_pool_2_get() -> !llvm.ptr attributes {no_unwind} {
  %null = llvm.mlir.zero : !llvm.ptr
  %zero = llvm.mlir.constant(0 : i32) : i32
  %line = llvm.mlir.constant(64 : i64) : i64
  %size = llvm.mlir.constant(4352 : i64) : i64
  %pool = llvm.mlir.addressof @weft_pool_2 : !llvm.ptr
  %process = llvm.call @getpid() : () -> i32
  %known = llvm.load %pool atomic acquire {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
  %none = llvm.icmp "eq" %known, %null : !llvm.ptr
  llvm.cond_br %none, ^make, ^check
^check:
  %maker = llvm.load %known {alignment = 4 : i64} : !llvm.ptr -> i32
  %same = llvm.icmp "eq" %maker, %process : i32
  llvm.cond_br %same, ^end(%known : !llvm.ptr), ^make
^make:
  %new = llvm.call @aligned_alloc(%line, %size) : (i64, i64) -> !llvm.ptr
  %failed = llvm.icmp "eq" %new, %null : !llvm.ptr
  llvm.cond_br %failed, ^end(%null : !llvm.ptr), ^fill
^fill:
  %cleared = llvm.call @memset(%new, %zero, %size) : (!llvm.ptr, i32, i64) -> !llvm.ptr
  llvm.store %process, %new {alignment = 4 : i64} : i32, !llvm.ptr
  %processors = llvm.call @weft_pool_2_processors() : () -> i32
  %limit_at = llvm.getelementptr inbounds %new[4] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %processors, %limit_at {alignment = 4 : i64} : i32, !llvm.ptr
  %exchanged = llvm.cmpxchg %pool, %known, %new acq_rel acquire : !llvm.ptr, !llvm.ptr
  %won = llvm.extractvalue %exchanged[1] : !llvm.struct<(!llvm.ptr, i1)>
  llvm.cond_br %won, ^end(%new : !llvm.ptr), ^lost
^lost:
  llvm.call @free(%new) : (!llvm.ptr) -> ()
  %other = llvm.extractvalue %exchanged[0] : !llvm.struct<(!llvm.ptr, i1)>
  llvm.br ^end(%other : !llvm.ptr)
^end(%state: !llvm.ptr):
  llvm.return %state : !llvm.ptr
}

// The processors that this process may use: those of its mask, or those that are on where there are over 8192.
llvm.func internal @weft_pool_2_processors() -> i32 attributes {no_unwind} {
  %one = llvm.mlir.constant(1 : i32) : i32
  %zero = llvm.mlir.constant(0 : i32) : i32
  %first = llvm.mlir.constant(0 : i64) : i64
  %next = llvm.mlir.constant(1 : i64) : i64
  %words = llvm.mlir.constant(128 : i64) : i64
  %bytes = llvm.mlir.constant(1024 : i64) : i64
  %online = llvm.mlir.constant(84 : i32) : i32
  %mask = llvm.alloca %one x !llvm.array<128 x i64> {alignment = 8 : i64} : (i32) -> !llvm.ptr
  %cleared = llvm.call @memset(%mask, %zero, %bytes) : (!llvm.ptr, i32, i64) -> !llvm.ptr
  %status = llvm.call @sched_getaffinity(%zero, %bytes, %mask) : (i32, i64, !llvm.ptr) -> i32
  %known = llvm.icmp "eq" %status, %zero : i32
  llvm.cond_br %known, ^count(%first, %first : i64, i64), ^ask
^ask:
  %answer = llvm.call @sysconf(%online) : (i32) -> i64
  llvm.br ^end(%answer : i64)
^count(%place: i64, %sum: i64):
  %at = llvm.getelementptr inbounds %mask[%place] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %word = llvm.load %at {alignment = 8 : i64} : !llvm.ptr -> i64
  %bits = llvm.intr.ctpop(%word) : (i64) -> i64
  %total = llvm.add %sum, %bits : i64
  %following = llvm.add %place, %next : i64
  %more = llvm.icmp "ult" %following, %words : i64
  llvm.cond_br %more, ^count(%following, %total : i64, i64), ^end(%total : i64)
^end(%found: i64):
  %several = llvm.icmp "sgt" %found, %next : i64
  %number = llvm.select %several, %found, %next : i1, i64
  %result = llvm.trunc %number : i64 to i32
  llvm.return %result : i32
}

// A free slot, taken; null where all are.
llvm.func internal @weft_pool_2_take(%state: !llvm.ptr) -> !llvm.ptr attributes {no_unwind} {
  %null = llvm.mlir.zero : !llvm.ptr
  %free = llvm.mlir.constant(0 : i32) : i32
  %taken = llvm.mlir.constant(16777216 : i32) : i32
  %first = llvm.mlir.constant(256 : i64) : i64
  %size = llvm.mlir.constant(64 : i64) : i64
  %end = llvm.mlir.constant(4352 : i64) : i64
  llvm.br ^look(%first : i64)
^look(%place: i64):
  %slot = llvm.getelementptr inbounds %state[%place] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %word = llvm.load %slot atomic monotonic {alignment = 4 : i64} : !llvm.ptr -> i32
  %unused = llvm.icmp "eq" %word, %free : i32
  llvm.cond_br %unused, ^try, ^next
^try:
  %exchanged = llvm.cmpxchg %slot, %free, %taken acquire monotonic : !llvm.ptr, i32
  %won = llvm.extractvalue %exchanged[1] : !llvm.struct<(i32, i1)>
  llvm.cond_br %won, ^found(%slot : !llvm.ptr), ^next
^next:
  %following = llvm.add %place, %size : i64
  %more = llvm.icmp "ult" %following, %end : i64
  llvm.cond_br %more, ^look(%following : i64), ^found(%null : !llvm.ptr)
^found(%result: !llvm.ptr):
  llvm.return %result : !llvm.ptr
}

// Wait until no worker is inside the region of a closed slot.
llvm.func internal @weft_pool_2_left(%slot: !llvm.ptr) attributes {no_unwind} {
  %patience = llvm.mlir.constant(50000 : i64) : i64
  %waits = llvm.mlir.constant(33554432 : i32) : i32
  %mask = llvm.mlir.constant(4095 : i32) : i32
  %zero = llvm.mlir.constant(0 : i32) : i32
  %start = llvm.call @weft_pool_2_now() : () -> i64
  %deadline = llvm.add %start, %patience : i64
  llvm.br ^look
^look:
  %word = llvm.load %slot atomic acquire {alignment = 4 : i64} : !llvm.ptr -> i32
  %inside = llvm.and %word, %mask : i32
  %empty = llvm.icmp "eq" %inside, %zero : i32
  llvm.cond_br %empty, ^end, ^spin
^spin:
  %now = llvm.call @weft_pool_2_now() : () -> i64
  %late = llvm.icmp "ugt" %now, %deadline : i64
  llvm.cond_br %late, ^announce, ^look
^announce:
  %old = llvm.atomicrmw _or %slot, %waits acquire : !llvm.ptr, i32
  llvm.br ^test(%old : i32)
^test(%seen: i32):
  %still = llvm.and %seen, %mask : i32
  %left = llvm.icmp "eq" %still, %zero : i32
  llvm.cond_br %left, ^end, ^sleep
^sleep:
  %expected = llvm.or %seen, %waits : i32
  llvm.call @weft_pool_2_futex_wait(%slot, %expected) : (!llvm.ptr, i32) -> ()
  %again = llvm.load %slot atomic acquire {alignment = 4 : i64} : !llvm.ptr -> i32
  llvm.br ^test(%again : i32)
^end:
  llvm.return
}

// Have at least `wanted` workers, as far as the system gives them.
llvm.func internal @weft_pool_2_hire(%state: !llvm.ptr, %wanted: i32) attributes {no_unwind} {
  %one = llvm.mlir.constant(1 : i32) : i32
  %zero = llvm.mlir.constant(0 : i32) : i32
  %workers = llvm.getelementptr inbounds %state[192] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.br ^look
^look:
  %number = llvm.load %workers atomic monotonic {alignment = 4 : i64} : !llvm.ptr -> i32
  %enough = llvm.icmp "sge" %number, %wanted : i32
  llvm.cond_br %enough, ^end, ^count
^count:
  %more = llvm.add %number, %one : i32
  %exchanged = llvm.cmpxchg %workers, %number, %more monotonic monotonic : !llvm.ptr, i32
  %won = llvm.extractvalue %exchanged[1] : !llvm.struct<(i32, i1)>
  llvm.cond_br %won, ^start, ^look
^start:
  %status = llvm.call @weft_pool_2_start(%state) : (!llvm.ptr) -> i32
  %started = llvm.icmp "eq" %status, %zero : i32
  llvm.cond_br %started, ^look, ^refused
^refused:
  %counted = llvm.atomicrmw sub %workers, %one monotonic : !llvm.ptr, i32
  llvm.br ^end
^end:
  llvm.return
}

// Start a worker: detached, 4 MiB of stack, all signals blocked. Gives the system's error number, or 0.
llvm.func internal @weft_pool_2_start(%state: !llvm.ptr) -> i32 attributes {no_unwind} {
  %one = llvm.mlir.constant(1 : i32) : i32
  %null = llvm.mlir.zero : !llvm.ptr
  %detached = llvm.mlir.constant(1 : i32) : i32
  %stack = llvm.mlir.constant(4194304 : i64) : i64
  %set_mask = llvm.mlir.constant(2 : i32) : i32
  %thread = llvm.alloca %one x i64 {alignment = 8 : i64} : (i32) -> !llvm.ptr
  %attributes = llvm.alloca %one x !llvm.array<128 x i8> {alignment = 16 : i64} : (i32) -> !llvm.ptr
  %every = llvm.alloca %one x !llvm.array<128 x i8> {alignment = 16 : i64} : (i32) -> !llvm.ptr
  %before = llvm.alloca %one x !llvm.array<128 x i8> {alignment = 16 : i64} : (i32) -> !llvm.ptr
  %0 = llvm.call @pthread_attr_init(%attributes) : (!llvm.ptr) -> i32
  %1 = llvm.call @pthread_attr_setdetachstate(%attributes, %detached) : (!llvm.ptr, i32) -> i32
  %2 = llvm.call @pthread_attr_setstacksize(%attributes, %stack) : (!llvm.ptr, i64) -> i32
  %3 = llvm.call @sigfillset(%every) : (!llvm.ptr) -> i32
  %4 = llvm.call @pthread_sigmask(%set_mask, %every, %before) : (i32, !llvm.ptr, !llvm.ptr) -> i32
  %worker = llvm.mlir.addressof @weft_pool_2_worker : !llvm.ptr
  %status = llvm.call @pthread_create(%thread, %attributes, %worker, %state) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
  %5 = llvm.call @pthread_sigmask(%set_mask, %before, %null) : (i32, !llvm.ptr, !llvm.ptr) -> i32
  %6 = llvm.call @pthread_attr_destroy(%attributes) : (!llvm.ptr) -> i32
  llvm.return %status : i32
}

// What a worker does for ever: look for a region with a seat, run it, spin a while, sleep.
llvm.func internal @weft_pool_2_worker(%state: !llvm.ptr) -> !llvm.ptr attributes {no_unwind} {
  %patience = llvm.mlir.constant(100000 : i64) : i64
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %seats_mask = llvm.mlir.constant(16773120 : i32) : i32
  %seat_shift = llvm.mlir.constant(12 : i32) : i32
  %seat_to_inside = llvm.mlir.constant(4095 : i32) : i32
  %last_mask = llvm.mlir.constant(33558527 : i32) : i32
  %last_and_awaited = llvm.mlir.constant(33554433 : i32) : i32
  %first = llvm.mlir.constant(256 : i64) : i64
  %size = llvm.mlir.constant(64 : i64) : i64
  %end = llvm.mlir.constant(4352 : i64) : i64
  %bell = llvm.getelementptr inbounds %state[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %idle = llvm.getelementptr inbounds %state[128] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.br ^scan
^scan:
  %heard = llvm.load %bell atomic acquire {alignment = 4 : i64} : !llvm.ptr -> i32
  llvm.br ^look(%first : i64)
^look(%place: i64):
  %slot = llvm.getelementptr inbounds %state[%place] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %word = llvm.load %slot atomic monotonic {alignment = 4 : i64} : !llvm.ptr -> i32
  llvm.br ^try(%word : i32)
^try(%seen: i32):
  %seats = llvm.and %seen, %seats_mask : i32
  %none = llvm.icmp "eq" %seats, %zero : i32
  llvm.cond_br %none, ^next, ^join
^join:
  // One seat less and one more inside: minus 4096, plus 1.
  %joined = llvm.sub %seen, %seat_to_inside : i32
  %exchanged = llvm.cmpxchg %slot, %seen, %joined acquire monotonic : !llvm.ptr, i32
  %found = llvm.extractvalue %exchanged[0] : !llvm.struct<(i32, i1)>
  %won = llvm.extractvalue %exchanged[1] : !llvm.struct<(i32, i1)>
  llvm.cond_br %won, ^work, ^try(%found : i32)
^work:
  %body_at = llvm.getelementptr inbounds %slot[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %context_at = llvm.getelementptr inbounds %slot[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %body = llvm.load %body_at : !llvm.ptr -> !llvm.ptr
  %context = llvm.load %context_at : !llvm.ptr -> !llvm.ptr
  %seat = llvm.lshr %seats, %seat_shift : i32
  %number = llvm.zext %seat : i32 to i64
  llvm.call %body(%context, %number) : !llvm.ptr, (!llvm.ptr, i64) -> ()
  %before = llvm.atomicrmw sub %slot, %one release : !llvm.ptr, i32
  %bits = llvm.and %before, %last_mask : i32
  %awaited = llvm.icmp "eq" %bits, %last_and_awaited : i32
  llvm.cond_br %awaited, ^wake, ^scan
^wake:
  llvm.call @weft_pool_2_futex_wake(%slot, %one) : (!llvm.ptr, i32) -> ()
  llvm.br ^scan
^next:
  %following = llvm.add %place, %size : i64
  %more = llvm.icmp "ult" %following, %end : i64
  llvm.cond_br %more, ^look(%following : i64), ^rest
^rest:
  %start = llvm.call @weft_pool_2_now() : () -> i64
  %deadline = llvm.add %start, %patience : i64
  llvm.br ^listen
^listen:
  %now_at = llvm.load %bell atomic acquire {alignment = 4 : i64} : !llvm.ptr -> i32
  %quiet = llvm.icmp "eq" %now_at, %heard : i32
  llvm.cond_br %quiet, ^spin, ^scan
^spin:
  %now = llvm.call @weft_pool_2_now() : () -> i64
  %late = llvm.icmp "ugt" %now, %deadline : i64
  llvm.cond_br %late, ^sleep, ^listen
^sleep:
  %counted = llvm.atomicrmw add %idle, %one seq_cst : !llvm.ptr, i32
  llvm.call @weft_pool_2_futex_wait(%bell, %heard) : (!llvm.ptr, i32) -> ()
  %uncounted = llvm.atomicrmw sub %idle, %one monotonic : !llvm.ptr, i32
  llvm.br ^scan
}
