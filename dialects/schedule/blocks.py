"""Instructions on where and how a block computes, and on what it computes into."""

from __future__ import annotations

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, BoolAttr, FloatAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import opt_prop_def, prop_def
from xdsl.utils.exceptions import VerifyException

from ..support.hints import isa
from .core import I64, Instruction, instruction


@instruction("block loop")
class ComputeAtOp(Instruction):
    """A producer is computed in a loop of its readers, as far as they need it there. With `preserve_unit_loops` it has
    a loop for each of its iterators there, even of one iteration. It stands before the first of the readers; with an
    `index`, before the statement of that number, or as early as it may (-2).

    ```mlir
    schedule.compute_at %b, %i
    schedule.compute_at %b, %j {preserve_unit_loops = true}
    schedule.compute_at %b, %j {index = -2 : i64}
    ```
    """

    preserve_unit_loops = opt_prop_def(BoolAttr)
    index = opt_prop_def(I64)


@instruction("block loop")
class ReverseComputeAtOp(Instruction):
    """A reader is computed in a loop of its producers, as far as they have come there: after all that the loop does, or
    with an `index` before the statement of that number, or as early as it may (-2).

    ```mlir
    schedule.reverse_compute_at %c, %i
    schedule.reverse_compute_at %c, %i {index = 1 : i64}
    ```
    """

    preserve_unit_loops = opt_prop_def(BoolAttr)
    index = opt_prop_def(I64)


@instruction("block")
class ComputeInlineOp(Instruction):
    """A block's formula stands where its result was read.

    ```mlir
    schedule.compute_inline %b
    ```
    """


@instruction("block")
class ReverseComputeInlineOp(Instruction):
    """An elementwise reader becomes part of its only producer.

    ```mlir
    schedule.reverse_compute_inline %c
    ```
    """


@instruction("block loop", gives="block")
class DecomposeReductionOp(Instruction):
    """What starts a reduction becomes a block of its own, before a loop; gives that block.

    ```mlir
    %init = schedule.decompose_reduction %b, %k
    ```
    """


@instruction("block loop", gives="block")
class DecomposePaddingOp(Instruction):
    """What a block pads with is written before a loop, and the block writes the rest; gives the block that fills.

    ```mlir
    %fill = schedule.decompose_padding %b, %i
    ```
    """


@instruction("block")
class PadEinsumOp(Instruction):
    """The iterators of a sum of products take so many more values each, for which zeros are added.

    ```mlir
    schedule.pad_einsum %b {padding = [0, 1, 1]}
    ```
    """

    padding = prop_def(ArrayAttr)

    def verify_parameters(self) -> None:
        if not isa(self.padding, ArrayAttr[IntegerAttr]):
            raise VerifyException("padding is a list of integers")


@instruction("loop", gives="block")
class RfactorOp(Instruction):
    """Each iteration of a reduction's loop sums on its own, in a buffer with one more dimension, `axis`; gives the
    block that does, and leaves the given one to add up.

    ```mlir
    %partial = schedule.rfactor %k {axis = 0}
    ```
    """

    axis = prop_def(I64)


@instruction("block block*", gives="block")
class CacheReadOp(Instruction):
    """What a block reads is copied to a buffer of its own first; gives the block that copies. Further blocks share the
    copy.

    ```mlir
    %copy = schedule.cache_read %b {index = 0, scope = "global"}
    ```
    """

    index = prop_def(I64)
    scope = prop_def(StringAttr)


@instruction("block block*", gives="block")
class CacheWriteOp(Instruction):
    """A block computes into a buffer of its own, which is copied then; gives the block that copies. Further blocks read
    the buffer of its own.

    ```mlir
    %copy = schedule.cache_write %b {index = 0, scope = "local"}
    ```
    """

    index = prop_def(I64)
    scope = prop_def(StringAttr)


@instruction("block", gives="block*")
class CacheInplaceOp(Instruction):
    """A block that reads and writes a buffer does so in a copy; gives the block that fills it, and the one that copies
    it back.

    ```mlir
    %fill, %back = schedule.cache_inplace %b {index = 0, scope = "local"} -> 2
    ```
    """

    index = prop_def(I64)
    scope = prop_def(StringAttr)


@instruction("block", gives="block*")
class CacheIndexOp(Instruction):
    """The indices that a block reads at are computed into buffers first, or with `cse_thresh` what it computes of its
    iterators at least so often; gives the blocks that compute them.

    ```mlir
    %index = schedule.cache_index %b {scope = "global"} -> 1
    %i_0, %i_1 = schedule.cache_index %b {scope = "global", cse_thresh = 4} -> 2
    ```
    """

    scope = prop_def(StringAttr)
    cse_thresh = opt_prop_def(I64)


class BufferInstruction(Instruction):
    """An instruction on one of the buffers that a block reads (`buffer = "read"`) or writes (`"write"`), by number."""

    buffer = prop_def(StringAttr)
    index = prop_def(I64)

    def verify_parameters(self) -> None:
        if self.buffer.data not in ("read", "write"):
            raise VerifyException('buffer is "read" or "write"')


@instruction("block", gives="block")
class ReindexOp(BufferInstruction):
    """What a block reads goes through a copy that is laid out as its iterators run; gives the block that copies.

    ```mlir
    %copy = schedule.reindex %b {buffer = "read", index = 0}
    ```
    """


@instruction("block", shown=("scope",))
class SetScopeOp(Instruction):
    """The buffer that a block writes lives in a scope.

    ```mlir
    schedule.set_scope %b, "local" {index = 0}
    ```
    """

    scope = prop_def(StringAttr)
    index = prop_def(I64)


@instruction("block")
class TransformLayoutOp(BufferInstruction):
    """A buffer is laid out anew: the element at some indices stands where the map leads. Where it leaves gaps, a
    number, or what a map from the new indices gives, stands there.

    ```mlir
    schedule.transform_layout %b {buffer = "write", index = 0, map = affine_map<(i, j) -> (j, i)>}
    ```
    """

    map = prop_def(AffineMapAttr)
    separators = opt_prop_def(ArrayAttr)
    pad_value = opt_prop_def()

    def verify_parameters(self) -> None:
        super().verify_parameters()
        if self.separators is not None and not isa(self.separators, ArrayAttr[IntegerAttr]):
            raise VerifyException("separators is a list of integers")
        if not isinstance(self.pad_value, IntegerAttr | FloatAttr | AffineMapAttr | None):
            raise VerifyException("pad_value is a number, or a map from the new indices to one")


@instruction("block")
class TransformBlockLayoutOp(Instruction):
    """A block is addressed by other iterators: those that the map makes of its own.

    ```mlir
    schedule.transform_block_layout %b {map = affine_map<(i, j) -> (i * 8 + j)>}
    ```
    """

    map = prop_def(AffineMapAttr)


@instruction("block")
class FuseItersOp(Instruction):
    """Two neighbouring iterators of a block become one, and so do their loops.

    ```mlir
    schedule.fuse_iters %b {first = 0}
    ```
    """

    first = prop_def(I64)


@instruction("block")
class FuseBufferDimsOp(BufferInstruction):
    """Two neighbouring dimensions of a buffer become one, which all its accesses reach by one fused iterator.

    ```mlir
    schedule.fuse_buffer_dims %b {buffer = "write", index = 0, first = 0}
    ```
    """

    first = prop_def(I64)


@instruction("block")
class StorageAlignOp(Instruction):
    """Neighbours along an axis of a buffer that a block writes lie a multiple of `factor`, and `offset`, elements
    apart.

    ```mlir
    schedule.storage_align %b {index = 0, axis = 0, factor = 32, offset = 8}
    ```
    """

    index = prop_def(I64)
    axis = prop_def(I64)
    factor = prop_def(I64)
    offset = prop_def(I64)


@instruction("block")
class RollingBufferOp(Instruction):
    """A buffer that a block writes keeps what the next iteration of a loop around needs too, and is no larger than what
    one iteration needs: it is written round and round.

    ```mlir
    schedule.rolling_buffer %b {index = 0}
    ```
    """

    index = prop_def(I64)


@instruction("block")
class SetAxisSeparatorOp(BufferInstruction):
    """The dimensions of a buffer between those of some numbers become dimensions of memory.

    ```mlir
    schedule.set_axis_separator %b {buffer = "write", index = 0, separators = [1]}
    ```
    """

    separators = prop_def(ArrayAttr)

    def verify_parameters(self) -> None:
        super().verify_parameters()
        if not isa(self.separators, ArrayAttr[IntegerAttr]):
            raise VerifyException("separators is a list of integers")


@instruction("block", shown=("dtype",))
class UnsafeSetDtypeOp(Instruction):
    """The buffer that a block writes holds another float type, whatever that does to the result.

    ```mlir
    schedule.unsafe_set_dtype %b, f16 {index = 0}
    ```
    """

    dtype = prop_def(Attribute)
    index = prop_def(I64)


@instruction("block|loop value*")
class AnnotateOp(Instruction):
    """A block or a loop carries a word for whoever reads it. Its value is written, or was sampled.

    ```mlir
    schedule.annotate %i {key = "pragma", value = 4}
    schedule.annotate %j, %a {key = "steps"}
    ```
    """

    key = prop_def(StringAttr)
    value = opt_prop_def(Attribute)

    def verify_parameters(self) -> None:
        if len(self.inputs) + (self.value is not None) != 2:
            raise VerifyException("an annotation has one value")


@instruction("block|loop")
class UnannotateOp(Instruction):
    """A block or a loop loses a word.

    ```mlir
    schedule.unannotate %i {key = "pragma"}
    ```
    """

    key = prop_def(StringAttr)


@instruction("loop", gives="block")
class BlockizeOp(Instruction):
    """A loop and what is in it are one block.

    ```mlir
    %b_o = schedule.blockize %i
    ```
    """

    preserve_unit_iters = opt_prop_def(BoolAttr)


@instruction("block|loop")
class TensorizeOp(Instruction):
    """A tensor intrinsic, known by name, computes what is in a loop or outer block.

    ```mlir
    schedule.tensorize %i {intrin = "dot_16x4"}
    schedule.tensorize %b {intrin = "dot_16x4"}
    ```
    """

    intrin = prop_def(StringAttr)
    preserve_unit_iters = opt_prop_def(BoolAttr)


OPS: list[type[Instruction]] = [
    ComputeAtOp, ReverseComputeAtOp, ComputeInlineOp, ReverseComputeInlineOp, DecomposeReductionOp, RfactorOp,
    DecomposePaddingOp, PadEinsumOp, SetAxisSeparatorOp, StorageAlignOp, RollingBufferOp,
    CacheReadOp, CacheWriteOp, CacheInplaceOp, CacheIndexOp, ReindexOp, SetScopeOp, TransformLayoutOp,
    TransformBlockLayoutOp, FuseItersOp, FuseBufferDimsOp,
    UnsafeSetDtypeOp, AnnotateOp, UnannotateOp, BlockizeOp, TensorizeOp,
]  # fmt: skip
