"""What TVM's passes on TIR are here, and those on Relay that are none: a pass, something else that does the same, or
nothing, and why.

`docs/tir.md` and `docs/relay-passes.md` have the tables, and who asks for a pass that is none is told its row.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """How a thing of TVM's is here."""

    BUILT = "built"
    UPSTREAM = "replaced"
    OUT = "left out"


@dataclass(frozen=True)
class Row:
    """Things of TVM's, how they are here, the operations or passes that they are here, and what else is to be said."""

    names: tuple[str, ...]
    state: State
    by: tuple[str, ...] = ()
    note: str = ""


def built(names: str, *by: str, note: str = "") -> Row:
    return Row(tuple(names.split()), State.BUILT, by, note)


def upstream(names: str, *by: str, note: str = "") -> Row:
    return Row(tuple(names.split()), State.UPSTREAM, by, note)


def out(names: str, why: str) -> Row:
    return Row(tuple(names.split()), State.OUT, (), why)


LOOPS = "convert-tir-to-loops"

TIR_PASSES = (
    built("Simplify", "simplify"),
    built("RemoveNoOp", "remove-no-op"),
    built("LoopPartition", "loop-partition"),
    built("UnrollLoop", "unroll-loop"),
    built("StorageRewrite", "storage-rewrite", note="between kernels it is `plan-memory`"),
    built("CommonSubexprElimTIR", "common-subexpr-elim-tir", note="linear in a body's length"),
    built("InjectVirtualThread", "inject-virtual-thread", note="one after the other"),
    built("SkipAssert", "skip-assert"),
    built("ConvertForLoopsToSerial", "convert-for-loops-to-serial"),
    built("InstrumentBoundCheckers", "insert-bounds-checks"),
    built("LowerInitBlock", "lower-init-block"),
    built("ReduceBranchingThroughOvercompute", "reduce-branching-through-overcompute"),
    built("PlanAndUpdateBufferAllocationLocation", "plan-and-update-buffer-allocation-location"),
    built("FlattenBuffer", "flatten-buffer", note="of a function's own buffers; lowering flattens all memory"),
    built("VectorizeLoop", "vectorize-loop", note="a vector is its lanes; the compiler leaves loops to LLVM"),
    built("StorageFlatten", "storage-flatten", note="of the blocks that a function of `te` has here"),
    built("ConvertBlocksToOpaque", "convert-blocks-to-opaque"),
    built("CompactBufferAllocation", "compact-buffer-allocation"),
    built("LowerOpaqueBlock", "lower-opaque-block"),
    upstream("LowerMatchBuffer", note="elements of a sub-buffer are the buffer's when the text is read"),
    upstream("BF16Legalize BF16Promote BF16CastElimination BF16TypeLowering", "convert-loops-to-llvm"),
    upstream("LowerIntrin", "expand-math"),
    upstream("RenormalizeSplitPattern", "simplify", note="indices are affine, with one normal form"),
    upstream("NarrowDataType", "convert-loops-to-llvm", note="indices are `index`, and LLVM narrows those it can"),
    upstream("RewriteUnsafeSelect", note="the verifier: no access outside of a buffer is valid, guarded or not"),
    built("HoistExpression", "hoist-expression", note="in blocks bounds, to their predicates"),
    built("HoistIfThenElse InsertHoistIfThenElse", "hoist-if-then-else"),
    upstream("MakePackedAPI MakeUnpackedAPI", "add-entry-point", note="Weft's own calling convention"),
    upstream("SplitHostDevice", "convert-tir-to-gpu"),
    built("BindTarget", "bind-target", note="kernels of graphs are bound by the driver (`tir.target`)"),
    upstream("AnnotateEntryFunc", note="every function of a module that is built is one to be called"),
    upstream("VerifySSA OOBChecker", note="the verifier, after every phase; `weft.tir.analysis` asks it"),
    upstream(
        "UnifiedStaticMemoryPlanner AssignPoolInfo ConvertPoolAllocationsToOffsets CreateAllocatesForIO",
        "plan-memory",
        "materialize-memory",
    ),
    upstream(
        "BindParams ExtractPrimFuncConstants",
        note="weights are kept beside the code, or linked (`link-params`)",
    ),
    upstream(
        "Apply Filter",
        note="`weft.transform.prim_func_pass`; `tir.transform.Apply` and `Filter` make one of a function",
    ),
    upstream("PointerValueTypeRewrite", "convert-loops-to-llvm", note="pointers have no element type"),
    upstream("LowerTVMBuiltin LegalizePackedCalls", LOOPS, "convert-loops-to-llvm", note="of `tir.call packed`"),
    upstream("ApplyLayoutTransforms", "apply-schedule", note="`transform_layout` is a primitive"),
    upstream("InjectRollingBuffer", "apply-schedule", note="`rolling_buffer` is a primitive"),
    out("InjectPrefetch", "processors prefetch regular accesses themselves"),
    out(
        "InjectDoubleBuffer ManifestSharedMemoryLocalStage LowerAsyncDMA InjectPTXAsyncCopy",
        "they overlap copies with computing where a machine has copies that do not wait; processors have none",
    ),
    built("InjectSoftwarePipeline", "inject-software-pipeline", note="stages wait for what they copy"),
    built("ThreadSync", "thread-sync"),
    built("UnifyThreadBinding", "unify-thread-binding"),
    built("VerifyGPUCode", "verify-gpu-code", note="TVM's analysis of that name"),
    built("VerifyMemory", "verify-memory", note="asked by `verify-gpu-code` too"),
    upstream(
        "LowerDeviceStorageAccessInfo DecorateDeviceScope",
        "convert-tir-to-gpu",
        note="a nest is a launch, in which an axis has as many threads as its longest loop",
    ),
    out(
        "LowerWarpMemory InferFragment MergeDynamicSharedMemoryAllocations RemapThreadAxis",
        "of graphics processors: instructions of warps and tensor cores are not used",
    ),
    built("LowerCrossThreadReduction LowerThreadAllreduce", "lower-cross-thread-reduction"),
    out(
        "TextureFlatten LowerVtcmAlloc CoProcSync LiftAttrScope InjectCopyIntrin CombineContextCall "
        "HoistAllocates CopyComputeReordering MergeConstants RemoveConstDictAttribute",
        "of accelerators that Weft makes no code for",
    ),
    out("LowerCustomDatatypes", "element types are MLIR's; extensions add dialects"),
    built("RemoveAssume", "remove-assume"),
    built("RemoveStoreUndef", "remove-store-undef"),
    out(
        "RemoveWeightLayoutRewriteBlock",
        "there is nothing of the kind to remove: weights are packed when a model is compiled",
    ),
)
"""TVM's passes on TIR, by what they are here."""


RELAY_PASSES = (
    upstream("ManifestAlloc", "bufferize-graph"),
    upstream("ManifestLifetimes MemoryPlan AnnotateUsedMemory", "plan-memory"),
    upstream("RemoveStandaloneReshapes", "elide-copies"),
    out("ToCPS UnCPS", "function values and recursion are compiled as they are"),
    out("CapturePostDfsIndexInSpans CollagePartition", "Collage, a search over partitions, is not there"),
    upstream("AutoSchedulerLayoutRewrite MetaScheduleLayoutRewrite", "alter-op-layout", note="it packs weights"),
    upstream("QuantizePartition QuantizeCalibrate QuantizeRealize", note="steps of `relay.quantize.quantize`"),
    out("AnnotateMemoryScope", "there are no texture scopes"),
)
"""TVM's passes on Relay that are none here."""


def counterpart_hint(name: str) -> str | None:
    """What is to be said of a pass of TVM's that is none here; nothing where TVM has no such pass."""
    last = name.rpartition(".")[2]
    for row in (*TIR_PASSES, *RELAY_PASSES):
        if last in row.names:
            said = " and ".join(row.by)
            if row.state == State.OUT:
                return f"TVM's {last} is left out: {row.note}"
            return f"in place of TVM's {last}: {said}{'; ' if said and row.note else ''}{row.note}"
    return None
