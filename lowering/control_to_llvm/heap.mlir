// The memory of a program that branches and calls: values with reference counts, and frames.
//
// A value is a block of memory that begins so:
//
//      0  i64  how many refer to it; the next of those that are to be given back, once nobody does
//      8  ptr  of one of more than 31 lines: the one before it among all such values that there are
//     16  ptr  the one after it
//     24  i32  tag: the constructor, or the function
//     28  i24  fields: how many other values it refers to
//     31  i8   of how many lines of 64 bytes it is; 0 of more than 31
//     32  ptr  each of them; where there are none, the address of a tensor's elements, which stand from byte 64 on or
//              are somebody else's: the caller's, or a constant's
//     40  i64  of a tensor in a program with open extents: each of its extents; where there are more than three, its
//              elements stand behind them
//
// A call of a program has a machine, 320 bytes:
//
//      8, 16   the last and the first of the values of more than 31 lines: so every one is given back when the call
//              ends, those that refer to one another in circles as well
//     24  ptr  frames
//     32  ptr  where they end
//     40  ptr  the last chunk, 16 KB that shorter values are cut from, one behind the other; the one before it stands
//              where it begins. All of them are given back when the call ends
//     48, 56   from where on, and until where, there is room in it; at first in memory that the caller has
//     64  ptr  for each number of lines from 1 up to 31, behind one for none, the first of the values of so many that
//              nobody refers to any more: the next of that size is the same memory, since what a turn of a loop makes,
//              another has just given back. They refer to one another where the count stands
//
// One thread alone runs what is here.

// A value with one that refers to it; null where there is no memory. `described`: tag, and fields above bit 32.
llvm.func internal @weft_heap_new(%machine: !llvm.ptr, %bytes: i64, %described: i64) -> !llvm.ptr attributes {no_unwind} {
  %null = llvm.mlir.zero : !llvm.ptr
  %line = llvm.mlir.constant(64 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %more = llvm.mlir.constant(63 : i64) : i64
  %whole = llvm.mlir.constant(-64 : i64) : i64
  %padded = llvm.add %bytes, %more : i64
  %size = llvm.and %padded, %whole : i64
  %bits = llvm.mlir.constant(6 : i64) : i64
  %classes = llvm.mlir.constant(32 : i64) : i64
  %zero = llvm.mlir.constant(0 : i64) : i64
  %top = llvm.mlir.constant(72057594037927936 : i64) : i64
  %chunk = llvm.mlir.constant(16384 : i64) : i64
  %lines = llvm.lshr %size, %bits : i64
  %is_short = llvm.icmp "ult" %lines, %classes : i64
  llvm.cond_br %is_short, ^short, ^long
^short:
  %kept_at = llvm.getelementptr inbounds %machine[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %list_at = llvm.getelementptr inbounds %kept_at[%lines] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %kept = llvm.load %list_at {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
  %is_kept = llvm.icmp "ne" %kept, %null : !llvm.ptr
  llvm.cond_br %is_kept, ^again, ^cut
^again:
  %next = llvm.load %kept {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
  llvm.store %next, %list_at {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
  llvm.br ^fill(%kept, %lines : !llvm.ptr, i64)
^cut:
  %room_at = llvm.getelementptr inbounds %machine[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %end_at = llvm.getelementptr inbounds %machine[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %room = llvm.load %room_at {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
  %end = llvm.load %end_at {alignment = 8 : i64} : !llvm.ptr -> i64
  %start = llvm.ptrtoint %room : !llvm.ptr to i64
  %left = llvm.sub %end, %start : i64
  %fits = llvm.icmp "ule" %size, %left : i64
  llvm.cond_br %fits, ^take(%room : !llvm.ptr), ^more_room
^more_room:
  %more_made = llvm.call @aligned_alloc(%line, %chunk) : (i64, i64) -> !llvm.ptr
  %no_more = llvm.icmp "eq" %more_made, %null : !llvm.ptr
  llvm.cond_br %no_more, ^done(%null : !llvm.ptr), ^link
^link:
  %chunks_at = llvm.getelementptr inbounds %machine[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %chunk_before = llvm.load %chunks_at {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
  llvm.store %chunk_before, %more_made {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
  llvm.store %more_made, %chunks_at {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
  %chunk_end = llvm.getelementptr inbounds %more_made[16384] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %chunk_end, %end_at {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
  %chunk_room = llvm.getelementptr inbounds %more_made[64] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.br ^take(%chunk_room : !llvm.ptr)
^take(%cut: !llvm.ptr):
  %behind = llvm.getelementptr inbounds %cut[%size] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  llvm.store %behind, %room_at {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
  llvm.br ^fill(%cut, %lines : !llvm.ptr, i64)
^long:
  %made = llvm.call @aligned_alloc(%line, %size) : (i64, i64) -> !llvm.ptr
  %failed = llvm.icmp "eq" %made, %null : !llvm.ptr
  llvm.cond_br %failed, ^done(%null : !llvm.ptr), ^list
^list:
  %first_at = llvm.getelementptr inbounds %machine[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %first = llvm.load %first_at {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
  %before_at = llvm.getelementptr inbounds %made[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %after_at = llvm.getelementptr inbounds %made[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %back_at = llvm.getelementptr inbounds %first[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %machine, %before_at {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
  llvm.store %first, %after_at {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
  llvm.store %made, %back_at {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
  llvm.store %made, %first_at {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
  llvm.br ^fill(%made, %zero : !llvm.ptr, i64)
^fill(%value: !llvm.ptr, %class: i64):
  %sized = llvm.mul %class, %top : i64
  %word = llvm.add %described, %sized : i64
  %described_at = llvm.getelementptr inbounds %value[24] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %one, %value {alignment = 8 : i64} : i64, !llvm.ptr
  llvm.store %word, %described_at {alignment = 8 : i64} : i64, !llvm.ptr
  llvm.br ^done(%value : !llvm.ptr)
^done(%result: !llvm.ptr):
  llvm.return %result : !llvm.ptr
}

// One less refers to a value. What nobody refers to is given back, and refers to nothing any more: a list that is
// threaded through the values themselves, for one may be as long as there is memory.
llvm.func internal @weft_heap_release(%machine: !llvm.ptr, %value: !llvm.ptr) attributes {no_unwind} {
  %null = llvm.mlir.zero : !llvm.ptr
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %half = llvm.mlir.constant(32 : i64) : i64
  %top = llvm.mlir.constant(56 : i64) : i64
  %mask = llvm.mlir.constant(16777215 : i64) : i64
  %count = llvm.load %value {alignment = 8 : i64} : !llvm.ptr -> i64
  %less = llvm.sub %count, %one : i64
  %dead = llvm.icmp "eq" %less, %zero : i64
  llvm.cond_br %dead, ^die(%value, %null : !llvm.ptr, !llvm.ptr), ^keep
^keep:
  llvm.store %less, %value {alignment = 8 : i64} : i64, !llvm.ptr
  llvm.return
^die(%dying: !llvm.ptr, %others: !llvm.ptr):
  %described_at = llvm.getelementptr inbounds %dying[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %described = llvm.load %described_at {alignment = 8 : i64} : !llvm.ptr -> i64
  %upper = llvm.lshr %described, %half : i64
  %fields = llvm.and %upper, %mask : i64
  llvm.br ^look(%zero, %others : i64, !llvm.ptr)
^look(%number: i64, %list: !llvm.ptr):
  %more = llvm.icmp "ult" %number, %fields : i64
  llvm.cond_br %more, ^field, ^free
^field:
  %fields_at = llvm.getelementptr inbounds %dying[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %field_at = llvm.getelementptr inbounds %fields_at[%number] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %field = llvm.load %field_at {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
  %following = llvm.add %number, %one : i64
  %held = llvm.load %field {alignment = 8 : i64} : !llvm.ptr -> i64
  %left = llvm.sub %held, %one : i64
  %last = llvm.icmp "eq" %left, %zero : i64
  llvm.cond_br %last, ^link, ^count
^count:
  llvm.store %left, %field {alignment = 8 : i64} : i64, !llvm.ptr
  llvm.br ^look(%following, %list : i64, !llvm.ptr)
^link:
  llvm.store %list, %field {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
  llvm.br ^look(%following, %field : i64, !llvm.ptr)
^free:
  %class = llvm.lshr %described, %top : i64
  %is_short = llvm.icmp "ne" %class, %zero : i64
  llvm.cond_br %is_short, ^hold, ^give
^hold:
  %kept_at = llvm.getelementptr inbounds %machine[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %list_at = llvm.getelementptr inbounds %kept_at[%class] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %kept = llvm.load %list_at {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
  llvm.store %kept, %dying {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
  llvm.store %dying, %list_at {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
  llvm.br ^done
^give:
  %before_at = llvm.getelementptr inbounds %dying[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %after_at = llvm.getelementptr inbounds %dying[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %before = llvm.load %before_at {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
  %after = llvm.load %after_at {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
  %before_next = llvm.getelementptr inbounds %before[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %after_back = llvm.getelementptr inbounds %after[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %after, %before_next {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
  llvm.store %before, %after_back {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
  llvm.call @free(%dying) : (!llvm.ptr) -> ()
  llvm.br ^done
^done:
  %none = llvm.icmp "eq" %list, %null : !llvm.ptr
  llvm.cond_br %none, ^end, ^next
^next:
  %rest = llvm.load %list {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
  llvm.br ^die(%list, %rest : !llvm.ptr, !llvm.ptr)
^end:
  llvm.return
}

// Give back all that a call has: values that there are still, chunks, and frames.
llvm.func internal @weft_heap_end(%machine: !llvm.ptr) attributes {no_unwind} {
  %null = llvm.mlir.zero : !llvm.ptr
  %first_at = llvm.getelementptr inbounds %machine[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %frames_at = llvm.getelementptr inbounds %machine[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %chunks_at = llvm.getelementptr inbounds %machine[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %first = llvm.load %first_at {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
  llvm.br ^look(%first : !llvm.ptr)
^look(%value: !llvm.ptr):
  %none = llvm.icmp "eq" %value, %machine : !llvm.ptr
  llvm.cond_br %none, ^chunks, ^free
^free:
  %after_at = llvm.getelementptr inbounds %value[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %after = llvm.load %after_at {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
  llvm.call @free(%value) : (!llvm.ptr) -> ()
  llvm.br ^look(%after : !llvm.ptr)
^chunks:
  %last = llvm.load %chunks_at {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
  llvm.br ^chunk(%last : !llvm.ptr)
^chunk(%each: !llvm.ptr):
  %is_last = llvm.icmp "eq" %each, %null : !llvm.ptr
  llvm.cond_br %is_last, ^frames, ^drop
^drop:
  %next = llvm.load %each {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
  llvm.call @free(%each) : (!llvm.ptr) -> ()
  llvm.br ^chunk(%next : !llvm.ptr)
^frames:
  %frames = llvm.load %frames_at {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
  llvm.call @free(%frames) : (!llvm.ptr) -> ()
  llvm.return
}

// Room for `needed` bytes from `frame` on; gives where that frame is then, null where there is no room.
llvm.func internal @weft_heap_grow(%machine: !llvm.ptr, %frame: !llvm.ptr, %needed: i64, %limit: i64) -> !llvm.ptr attributes {no_unwind} {
  %null = llvm.mlir.zero : !llvm.ptr
  %frames_at = llvm.getelementptr inbounds %machine[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %end_at = llvm.getelementptr inbounds %machine[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %frames = llvm.load %frames_at {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
  %base = llvm.ptrtoint %frames : !llvm.ptr to i64
  %place = llvm.ptrtoint %frame : !llvm.ptr to i64
  %used = llvm.sub %place, %base : i64
  %total = llvm.add %used, %needed : i64
  %size = llvm.add %total, %total : i64
  %too_much = llvm.icmp "ugt" %size, %limit : i64
  llvm.cond_br %too_much, ^fail, ^make
^make:
  %new = llvm.call @realloc(%frames, %size) : (!llvm.ptr, i64) -> !llvm.ptr
  %failed = llvm.icmp "eq" %new, %null : !llvm.ptr
  llvm.cond_br %failed, ^fail, ^note
^note:
  %end = llvm.getelementptr inbounds %new[%size] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  llvm.store %new, %frames_at {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
  llvm.store %end, %end_at {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
  %moved = llvm.getelementptr inbounds %new[%used] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  llvm.return %moved : !llvm.ptr
^fail:
  llvm.return %null : !llvm.ptr
}

llvm.func @aligned_alloc(i64, i64) -> !llvm.ptr
llvm.func @realloc(!llvm.ptr, i64) -> !llvm.ptr
llvm.func @free(!llvm.ptr)
