"""What TVM's TIR has, and where Weft has it: the rows of `docs/tir.md`. Those of its passes stand beside the passes."""

from __future__ import annotations

from weft.transforms.infra.counterparts import TIR_PASSES as PASSES
from weft.transforms.infra.counterparts import Row, State, built, out, upstream

__all__ = ["NODES", "NODE_TABLES", "PASSES", "Row", "State"]

EXPRESSIONS = (
    upstream("IntImm FloatImm", "arith.constant"),
    upstream("StringImm", "builtin.module", note="`StringAttr`: names, messages and annotations are attributes"),
    upstream("Var", "arith.constant", note="SSA values and block arguments; `tir.Var` in Python"),
    built("SizeVar", "tir.prim_func", note="an `index` argument after the buffers, which extents speak of"),
    built(
        "IterVar",
        "tir.block",
        "tir.for",
        note="iterators `spatial`, `reduce`, `opaque` of blocks; ThreadIndex, Unrolled, Vectorized, Parallelized are "
        "kinds of loops; Ordered is `opaque`; Tensorized is what `tensorize` leaves",
    ),
    upstream(
        "Cast",
        "arith.extf",
        "arith.truncf",
        "arith.sitofp",
        "arith.fptosi",
        "arith.extsi",
        "arith.trunci",
        "arith.index_cast",
    ),
    upstream("Add Sub Mul", "arith.addf", "arith.addi", "arith.subf", "arith.subi", "arith.mulf", "arith.muli"),
    upstream("Div Mod", "arith.divf", "arith.divsi", "arith.divui", "arith.remf", "arith.remsi", "arith.remui"),
    upstream("FloorDiv FloorMod", "arith.floordivsi", note="what is left of it is a subtraction"),
    upstream("Min Max", "arith.minimumf", "arith.maximumf", "arith.minsi", "arith.maxsi", "arith.minui", "arith.maxui"),
    upstream("EQ NE LT LE GT GE", "arith.cmpi", "arith.cmpf"),
    upstream("And Or Not", "arith.andi", "arith.ori", "arith.xori", note="on `i1`"),
    upstream("Select", "arith.select"),
    upstream("BufferLoad", "memref.load"),
    upstream("ProducerLoad", "memref.load", note="reads of tensors (`te`) become it"),
    out("Load", "TVM's own old form of BufferLoad"),
    upstream("Ramp Broadcast Shuffle", "memref.load", "memref.store", note="a vector in the text is its lanes"),
    upstream("Let", "arith.constant", note="an SSA value is a name; `T.let` and assignments give one"),
    built("Call", "tir.call", note="of functions; TVM's builtins are operations, below"),
    built(
        "Reduce CommReducer",
        "tir.block",
        note="`init`, and the body's combination, of several results too; `te.comm_reducer`, `tir.Reduce`",
    ),
    out("Any", "an extent that nothing is known of has no meaning in a loop nest; relay's `?` is one"),
)

STATEMENTS = (
    upstream("LetStmt", "arith.constant", note="an SSA value, seen to the end of its region"),
    built(
        "AttrStmt", "tir.for", "tir.block", note="annotations, whose known keys are typed (`T.attr`, `T.block_attr`)"
    ),
    built("AssertStmt", "tir.assert", note="what follows is still done, on no less memory; the run fails in the end"),
    out("Store", "TVM's own old form of BufferStore"),
    upstream("BufferStore", "memref.store"),
    upstream("BufferRealize ProducerRealize", "tir.alloc_buffer"),
    upstream("ProducerStore", "memref.store"),
    built("Allocate", "tir.alloc_buffer"),
    built("AllocateConst", "tir.alloc_buffer", note="one with a value"),
    upstream(
        "DeclBuffer", "memref.load", "memref.store", note="an element of a second name for memory is one of the first"
    ),
    upstream("SeqStmt", "builtin.module", note="a block of operations"),
    upstream("IfThenElse", "scf.if", note="in a block; around blocks it is their predicate, `where`"),
    built("Evaluate", "tir.call", note="a call whose result is not used; other values have no effect"),
    built("For", "tir.for"),
    upstream("While", "scf.while", note="in a block"),
    out("Prefetch", "processors prefetch regular accesses themselves; no schedule here has gained by it"),
    built("Block BlockRealize", "tir.block", "tir.outer_block"),
    built("BufferRegion", "tir.block", note="`reads` and `writes`: an element, or none for a place that data says"),
    upstream("MatchBufferRegion", "memref.load", "memref.store", note="an element of a part is one of the buffer"),
)

LOOP_KINDS = (
    built("serial parallel vectorized unrolled", "tir.for"),
    built("thread_binding", "tir.for", note="`T.thread_binding`, `T.launch_thread`; for the target `cuda`"),
)

DATA = (
    built("PrimFunc", "tir.prim_func"),
    upstream("Buffer", "builtin.module", note="a `memref` value; dense, from its memory's start"),
    built("scope", "tir.alloc_buffer", note="an open set of names; a target refuses those that it has not"),
    built("axis_separators", "tir.alloc_buffer", note="an attribute, for arguments of functions; processors have one"),
    built("buffer_dim_align", "tir.block", note="an attribute: rows that lie apart (`storage_align`)"),
    upstream(
        "strides elem_offset offset_factor",
        "memref.load",
        note="of names for memory that is there (`T.decl_buffer`); a buffer that is passed is dense",
    ),
    upstream("IndexMap", "builtin.module", note="`affine_map`"),
    upstream(
        "Layout BijectiveLayout",
        "builtin.module",
        note="`tir.layout` and `tir.bijective_layout`, of the strings of relay; `affine_map` in schedules",
    ),
)

BUILTINS = (
    built("call_extern call_pure_extern", "tir.call", note="C functions of the process, or of `weft.load_library`"),
    built(
        "tvm_call_packed",
        "tir.call",
        note="functions by name: Python's (`weft.register_func`), or C's (`weft_register_func` of a library)",
    ),
    built("call_llvm_intrin call_llvm_pure_intrin", "tir.call", note="LLVM's name of it, with the type"),
    built("address_of tvm_access_ptr", "tir.address_of", note="for calls; `access_ptr` says what is done with it"),
    upstream("if_then_else", "scf.if"),
    upstream("reinterpret", "arith.bitcast"),
    upstream("likely", "arith.constant", note="its argument: branches of boundaries are peeled or predicates"),
    upstream("bitwise_and bitwise_or bitwise_xor bitwise_not", "arith.andi", "arith.ori", "arith.xori"),
    upstream("shift_left shift_right", "arith.shli", "arith.shrsi", "arith.shrui"),
    upstream("fma", "math.fma"),
    upstream(
        "exp exp2 log log2 log10 log1p sqrt rsqrt sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh erf "
        "floor ceil trunc round fabs pow atan2 copysign",
        "math.exp",
        "math.exp2",
        "math.log",
        "math.log2",
        "math.log10",
        "math.log1p",
        "math.sqrt",
        "math.rsqrt",
        "math.sin",
        "math.cos",
        "math.tan",
        "math.sinh",
        "math.cosh",
        "math.tanh",
        "math.asin",
        "math.acos",
        "math.atan",
        "math.asinh",
        "math.acosh",
        "math.atanh",
        "math.erf",
        "math.floor",
        "math.ceil",
        "math.trunc",
        "math.roundeven",
        "math.absf",
        "math.powf",
        "math.atan2",
        "math.copysign",
    ),
    upstream("isnan isinf isfinite sigmoid fmod", "arith.cmpf", "arith.divf", "arith.remf"),
    upstream("q_multiply_shift q_multiply_shift_per_axis", "arith.muli", "arith.shrsi", note="of 64 bits, rounded"),
    built("clz popcount exp10 hypot ldexp nextafter", "tir.call", note="`llvm.ctlz`, `llvm.ctpop`, and C's functions"),
    upstream(
        "ret", "memref.store", note="to a buffer of one element, which callers of `weft.build`'s functions leave out"
    ),
    upstream(
        "lookup_param", "tir.prim_func", note="a parameter behind the buffers, by the constant's name; for calls only"
    ),
    built("assume", "tir.assume", note="passes may rely on it; no code is made for it"),
    built("undef", "tir.undef", note="stored, or computed with and stored: as if nothing were written"),
    out(
        "tvm_struct_get tvm_struct_set tvm_stack_alloca tvm_stack_make_shape tvm_stack_make_array "
        "tvm_check_return tvm_throw_last_error tvm_call_cpacked tvm_call_trace_packed",
        "TVM's calling convention; Weft's is in the lowering (`lowering/abi.py`)",
    ),
    built("tvm_storage_sync", "tir.storage_sync", note="of the scope `shared`, for the target `cuda`"),
    out(
        "tvm_warp_shuffle atomic_add",
        "of graphics processors: threads share a reduction through shared memory",
    ),
    built("tvm_thread_allreduce", "tir.block", note="a reduction's loop that is bound to threads of a block"),
    out(
        "ptx_* mma_* texture2d_load texture2d_store", "instructions of tensor cores and of textures, which are not used"
    ),
    out(
        "dma_copy dma_wait mem_copy nd_mem_alloc_with_scope vectorlow vectorhigh vectorcombine",
        "of accelerators and of TVM's executors",
    ),
    out("large_uint_imm prefetch", "a number of 64 bits is a literal; see Prefetch"),
)

NODE_TABLES = {
    "Expressions": EXPRESSIONS,
    "Statements": STATEMENTS,
    "Kinds of loops": LOOP_KINDS,
    "Functions and buffers": DATA,
    "Builtin functions": BUILTINS,
}
NODES = tuple(row for table in NODE_TABLES.values() for row in table)
