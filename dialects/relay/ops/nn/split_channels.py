"""Convolutions whose layouts may hold channels in blocks of any size: `NCHW16c`, `OIHW4i8o`.

Blocks say where a channel stands, and nothing else: those of the result need not be those of the kernel. Channels are
counted through all blocks, and every operand is read where its layout has them:

    out[split(n, oc, oh, ow)] = sum_{ic, kh, kw} data[split(n, g(oc) + ic, ..)] * weight[split(oc, ic, kh, kw)]
"""

from __future__ import annotations

import re
from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.utils.exceptions import VerifyException

from .... import te
from ...base import DYNAMIC, shape_of, tensor
from ...layout import Layout, in_blocks
from ...nn_common import accumulator, narrow, pad_stage
from .convolution_base import Convolution


class SplitChannels(Convolution, ABC):
    """A convolution that takes channels in blocks."""

    def layouts(self) -> tuple[Layout, Layout, Layout]:
        data = in_blocks(self.data_layout.data, "NC" + self.SPATIAL, "NC", "data_layout")
        kernel = in_blocks(self.kernel_layout.data, "OI" + self.SPATIAL, "OI", "kernel_layout")
        out = self.out_layout.data
        return data, kernel, in_blocks(out, "NC" + self.SPATIAL, "NC", "out_layout") if out else data

    def default_layout(self, layout: str) -> str | None:
        """To channels in blocks, those of the kernel in such: `OIHW16i16o` to `NCHW16c`."""
        blocks = re.fullmatch(f"NC{self.SPATIAL}([1-9][0-9]*)c", layout)
        if blocks is None:
            return super().default_layout(layout)
        inputs = shape_of(self.weight)[self.layouts()[1].position("I")]
        inner = 1 if self.group_count() > 1 and inputs == 1 else blocks[1]
        return f"OI{self.SPATIAL}{inner}i{blocks[1]}o"

    def has_blocks(self) -> bool:
        """Whether channels of an operand or of the result stand in blocks."""
        return any(layout.is_blocked for layout in self.layouts())

    def check_blocks(self) -> None:
        """
        Raises:
            VerifyException: the result's channels do not fill its blocks.
        """
        _, kernel, out = self.layouts()
        made, block = kernel.extents(tensor(self.weight).get_shape())["O"], out.block("C")
        if made != DYNAMIC and made % block:
            raise VerifyException(f"{made} output channels do not divide into blocks of {block} ({out.text})")

    def check_channels(self, data: Sequence[int], weight: Sequence[int]) -> None:
        if not self.has_blocks():
            return super().check_channels(data, weight)
        layout, kernel, _ = self.layouts()
        groups, taps = self.group_count(), kernel.extents(weight)
        held, per_group, outputs = layout.extents(data)["C"], taps["I"], taps["O"]
        if DYNAMIC not in (held, per_group) and held != per_group * groups:
            raise VerifyException(
                f"the data {list(data)} ({layout.text}) has {held} channels, but the weight {list(weight)} "
                f"({kernel.text}) takes {per_group} in each of {groups} groups"
            )
        if outputs != DYNAMIC and outputs % groups:
            raise VerifyException(f"{outputs} output channels do not divide into {groups} groups")
        return None

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        if not self.has_blocks():
            return super().compute(*inputs)
        data, weight = inputs
        layout, kernel, out = self.layouts()
        if DYNAMIC in (*tensor(self.data).get_shape(), *tensor(self.weight).get_shape()):
            raise TypeError("te: a convolution of channels in blocks needs extents that are known")
        result = tensor(self.result)
        wide, window, groups = accumulator(result.element_type), self.window(weight.shape), self.group_count()
        padded = pad_stage(data, *self.pad_amounts(data.shape, window))
        extents, block = kernel.extents(weight.shape), kernel.block("I")
        outer = te.reduce_axis(extents["I"] // block, "ic_outer" if block > 1 else "ic")
        parts = [te.reduce_axis(block, "ic_inner")] if block > 1 else []
        taps = window.taps(self.SPATIAL)
        ic: te.Expr = outer * block + parts[0] if parts else outer

        def body(*indices: te.IterVar) -> te.Expr:
            place = out.join(indices)
            channel = place["C"] // (extents["O"] // groups) * extents["I"] + ic if groups > 1 else ic
            read: dict[str, te.Expr] = {"N": place["N"], "C": channel}
            taken: dict[str, te.Expr] = {"O": place["C"], "I": ic}
            for axis, (letter, k) in enumerate(zip(self.SPATIAL, taps, strict=True)):
                read[letter] = window.tap(axis, place[letter], k)
                taken[letter] = k
            lhs, rhs = padded[layout.split(read)], weight[kernel.split(taken)]
            return te.sum(te.cast(lhs, wide) * te.cast(rhs, wide), (outer, *taps, *parts))

        name = self.name.removeprefix("relay.nn.")
        assert isinstance(self.result.type, TensorType)
        return narrow(te.compute(result.get_shape(), body, name), result.element_type)
