"""`MultiLevelTilingWithIntrin` and `RewriteTensorize`: tiles around what a processor computes at once."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import StringAttr

from ..dialects.support.arguments import checked_methods
from ..dialects.tir.core import BlockOp, OuterBlockOp
from ..transforms.tir.intrinsics.tensor_intrin import TensorIntrin
from ..transforms.tir.schedule.errors import ScheduleError
from ..transforms.tir.scheduling.handles import BlockRV
from ..transforms.tir.scheduling.schedule import Schedule
from ..transforms.tir.scheduling.tensorizing import tile_with_tensor_intrin
from .conditions import handle_of_block
from .multi_level_tiling import MultiLevelTiling
from .postprocs import AUTO_TENSORIZE, functions_of
from .rule import Postproc


@checked_methods
@dataclass
class MultiLevelTilingWithIntrin(MultiLevelTiling):
    """Tiles a block so that a tensor intrinsic computes the innermost tile. Counterpart of TVM's rule of this name.

    The innermost tile becomes a block of its own, which says what is to compute it; `RewriteTensorize` lets it.

    Args:
        intrin_name: the intrinsic, known to `TensorIntrin`. A block that it cannot compute stays as it is.
    """

    intrin_name: str = ""

    def __init__(self, intrin_name: str, structure: str, **parameters: object):
        """`parameters` are those of `MultiLevelTiling`."""
        super().__init__(structure, **parameters)  # pyright: ignore[reportArgumentType]
        TensorIntrin.get(intrin_name)
        self.intrin_name = intrin_name

    def _innermost(self, sch: Schedule, block: BlockRV) -> BlockRV | None:
        """The block that the intrinsic is to compute; `None`, and `sch` as it was, where it cannot."""
        tried = sch.copy()
        try:
            if (loop := tile_with_tensor_intrin(tried, block, self.intrin_name)) is None:
                return None
            tried.decompose_reduction(block, tried.get_loops(block)[0])
            tried.tensorize(loop, self.intrin_name)
        except ScheduleError:
            return None
        loop = tile_with_tensor_intrin(sch, block, self.intrin_name)
        assert loop is not None
        tile = sch.blockize(loop)
        sch.annotate(tile, AUTO_TENSORIZE, self.intrin_name)
        return tile


@checked_methods
@dataclass
class RewriteTensorize(Postproc):
    """Lets tensor intrinsics compute the blocks that say so. Counterpart of TVM's postprocessor of this name.

    Args:
        vectorize_init_loop: the innermost loop of what begins such a block's reduction becomes a vector.
    """

    vectorize_init_loop: bool = False

    def apply(self, sch: Schedule) -> bool:
        """True; the words on the blocks are gone.

        Raises:
            ScheduleError: an intrinsic does not compute what its block does.
        """
        for func in functions_of(sch):
            for op in [op for op in func.walk() if isinstance(op, BlockOp | OuterBlockOp)]:
                asked = op.attributes.get(AUTO_TENSORIZE)
                if not isinstance(asked, StringAttr):
                    continue
                block = handle_of_block(sch, op)
                sch.unannotate(block, AUTO_TENSORIZE)
                if asked.data:
                    sch.tensorize(block, asked.data)
                elif self.vectorize_init_loop and (loops := sch.get_loops(block)):
                    sch.vectorize(loops[-1])
        return True
