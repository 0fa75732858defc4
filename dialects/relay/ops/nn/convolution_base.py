"""What convolutions share: their operands, types, and one formula.

All are one formula; what differs is which dimension of which layout an index goes to:

    out[n, oc, oh, ow] = sum_{ic, kh, kw} data[n, g(oc) + ic, oh*sh + kh*dh - ph, ow*sw + kw*dw - pw] * weight[oc, ic, kh, kw]

with `g(oc) = oc // (OC / groups) * (IC / groups)`, the first channel of the group.
"""  # noqa: E501

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from xdsl.dialects.builtin import IntegerAttr, TensorType, i64
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, opt_prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from .... import te
from ....support.dtypes import numpy_dtype
from ....te.assume import agree, at_most
from ...base import DYNAMIC, Fusion, FusionPattern, RelayOp, int_list, integer, ints, shape_of, string, tensor
from ...inference import by_types
from ...layout import Layout, parse_layout, transform_array, unblocked
from ...nn_common import (
    Window,
    accumulator,
    narrow,
    normalize_padding,
    optional_int,
    pad_stage,
    per_axis,
    result_element,
    widened,
)
from ...planes import Planes
from ...precision import Precision
from .convolution_gradient import PlainConvolution, convolution_gradient

if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    from ...base import NDArray
    from ...gradient import Gradient, Terms


def convolve(x: npt.NDArray[Any], weight: npt.NDArray[Any], window: Window, groups: int) -> NDArray:
    """The convolution of an array `[N, IC, *spatial]`, already padded, with `[OC, IC/groups, *taps]`, in NumPy."""
    import numpy as np

    if x.dtype == np.bool_:  # NumPy's sum of truth values is their disjunction
        sums = cast("npt.NDArray[np.uint8]", convolve(x.astype(np.uint8), weight.astype(np.uint8), window, groups))
        return (sums & 1).astype(np.bool_)
    rank = len(window.kernel)
    views: npt.NDArray[Any] = window.views(x)  # [n, ic, *places, *taps]
    if groups == 1:
        taps = (1, *range(2 + rank, 2 + 2 * rank))
        result = np.tensordot(views, weight, (taps, tuple(range(1, 2 + rank))))  # [n, *places, oc]
        return np.moveaxis(result, -1, 1)
    per_group = x.shape[1] // groups
    views = views.reshape(x.shape[0], groups, per_group, *views.shape[2:])
    kernels = weight.reshape(groups, weight.shape[0] // groups, *weight.shape[1:])
    place, tap = "xyz"[:rank], "uvw"[:rank]
    result = np.einsum(f"ngc{place}{tap},goc{tap}->ngo{place}", views, kernels, optimize=True)
    return result.reshape(x.shape[0], weight.shape[0], *result.shape[3:])


class ConvolutionBase(RelayOp, ABC):
    """The operands and properties of convolutions, transposed ones too. `SPATIAL` are the letters of their axes."""

    SPATIAL: ClassVar[str] = "HW"
    KERNEL: ClassVar[str] = "OI"
    """The first two axes of the plain kernel."""

    PRECISION: ClassVar[Precision | None] = Precision.ALWAYS
    LAYOUTS: ClassVar[tuple[str, ...]] = ("data_layout", "kernel_layout")
    IMPLIED: ClassVar[tuple[str, ...]] = ("channels",)

    data = operand_def(TensorType)
    weight = operand_def(TensorType)
    result = result_def(TensorType)

    strides = int_list([1, 1])
    padding = int_list([0, 0])
    dilation = int_list([1, 1])
    groups = integer(1)
    channels = opt_prop_def(IntegerAttr.constr(i64))
    kernel_size = int_list([])
    data_layout = string("NCHW")
    kernel_layout = string("OIHW")
    out_layout = string("")
    out_dtype = string("")

    traits = traits_def(Pure(), FusionPattern(Fusion.OUT_ELEMWISE_FUSABLE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def layouts(self) -> tuple[Layout, Layout, Layout]:
        """The layouts of data, kernel and result."""
        data = unblocked(self.data_layout.data, "NC" + self.SPATIAL, "data_layout")
        kernel = unblocked(self.kernel_layout.data, "OI" + self.SPATIAL, "kernel_layout")
        return data, kernel, unblocked(self.out_layout.data or data.text, "NC" + self.SPATIAL, "out_layout")

    def default_layout(self, layout: str) -> str | None:
        """The channels of the kernel stand where those of the data do."""
        if layout == "NC" + self.SPATIAL:
            return self.KERNEL + self.SPATIAL
        if layout == f"N{self.SPATIAL}C":
            depthwise = self.group_count() > 1 and shape_of(self.weight)[self.layouts()[1].position("I")] == 1
            return self.SPATIAL + ("OI" if depthwise and self.KERNEL == "OI" else "IO")
        return "HWOI" if layout == "HWNC" else None

    def group_count(self) -> int:
        return self.groups.value.data

    def implied(self) -> Mapping[int, Attribute]:
        """The weight's, where the numbers of channels and taps are told."""
        if self.channels is None or not self.kernel_size:
            return {}
        data, kernel, _ = self.layouts()
        type, groups = tensor(self.data), self.group_count()
        inputs, outputs = data.extents(type.get_shape())["C"], self.channels.value.data
        taps = per_axis(ints(self.kernel_size), len(self.SPATIAL), "kernel_size")
        if groups < 1 or outputs % groups or (inputs != DYNAMIC and inputs % groups):
            return {}
        if self.KERNEL == "OI":
            inputs = DYNAMIC if inputs == DYNAMIC else inputs // groups
        else:
            outputs //= groups
        extents = {"O": outputs, "I": inputs, **dict(zip(self.SPATIAL, taps, strict=True))}
        return {list(self.operands).index(self.weight): TensorType(type.element_type, kernel.shape(extents))}

    def taps(self, weight_shape: Sequence[int]) -> tuple[int, ...]:
        """The kernel's extents along the spatial axes, in the order of `SPATIAL`."""
        kernel = self.layouts()[1]
        return tuple(weight_shape[kernel.position(letter)] for letter in self.SPATIAL)

    def window(self, weight_shape: Sequence[int]) -> Window:
        """Kernel size, strides, dilation and padding of the spatial axes, in the order of `SPATIAL`."""
        rank = len(self.SPATIAL)
        return Window(
            self.taps(weight_shape),
            per_axis(ints(self.strides), rank, "strides"),
            per_axis(ints(self.dilation), rank, "dilation"),
            *normalize_padding(ints(self.padding), rank),
        )

    def plain(self, g: Gradient) -> PlainConvolution:
        """The convolution whose gradient is wanted, in the plain layouts.

        Raises:
            VerifyException: a shape is not static, or data and weight differ in type.
        """
        g.static()
        data, weight = g.inputs
        if data.type.element_type != weight.type.element_type:
            types = f"{data.type.element_type} and {weight.type.element_type}"
            raise VerifyException(f"its operands have elements of {types}")
        layouts = tuple(layout.text for layout in self.layouts())
        return PlainConvolution(layouts, self.KERNEL + self.SPATIAL, self.window(weight.shape))

    def macs(self) -> int:
        """For each element of the result all taps of each input channel of a group."""
        layout, kernel, _ = self.layouts()
        channels, taps = layout.extents(shape_of(self.data))["C"], kernel.extents(shape_of(self.weight))
        window = [taps[letter] for letter in self.SPATIAL]
        seeing = self.seeing()
        channels = channels * seeing.seen if seeing is not None and channels != DYNAMIC else channels
        return self.mac_product(*shape_of(self.result), *window, channels) // self.group_count()

    def seeing(self) -> Planes | None:
        """How images that are planes of volumes are seen by those of the result; `None` where they are images."""
        return None

    def check_operands(self) -> None:
        """
        Raises:
            VerifyException: the operands do not have the shapes of their layouts, or `kernel_size`, or differ in type.
        """
        layout, kernel, _ = self.layouts()
        data, weight = tensor(self.data), tensor(self.weight)
        layout.check(data.get_shape(), "the data")
        kernel.check(weight.get_shape(), "the weight")
        if self.group_count() < 1:
            raise VerifyException(f"'groups' must be at least 1, got {self.group_count()}")
        if data.element_type != weight.element_type and not self.out_dtype.data:
            raise VerifyException(f"data and weight have element types {data.element_type} and {weight.element_type}")
        taps = self.taps(weight.get_shape())
        said = per_axis(ints(self.kernel_size), len(taps), "kernel_size") if self.kernel_size else taps
        if said != taps and DYNAMIC not in taps:
            raise VerifyException(f"'kernel_size' is {list(ints(self.kernel_size))}, but the weight has {list(taps)}")

    def check_channels(self, data: Sequence[int], weight: Sequence[int]) -> None:
        """
        Raises:
            VerifyException: the channels of data and weight do not fit the groups.
        """
        raise NotImplementedError

    def check_blocks(self) -> None:
        """
        Raises:
            VerifyException: the result cannot hold its channels in the blocks of its layout.
        """
        _, kernel, out = self.layouts()
        if kernel.block("O") != out.block("C"):
            raise VerifyException(f"the blocks of output channels differ: {kernel.text} and {out.text}")

    def output_channels(self, weight: Sequence[int]) -> int:
        """How many channels the result has, `DYNAMIC` where the weight's shape does not say.

        Raises:
            VerifyException: `channels` is given, and is another number (rounded up to whole blocks).
        """
        kernel = self.layouts()[1]
        outputs, block = kernel.extents(weight)["O"], kernel.block("O")
        channels = optional_int(self.channels)
        if channels is not None and outputs not in (DYNAMIC, -(-channels // block) * block):
            raise VerifyException(f"'channels' is {channels}, but the weight has {outputs} output channels")
        return outputs

    def output_extents(self, extents: Sequence[int], window: Window) -> tuple[int, ...]:
        """The spatial extents of the result, for those of the data."""
        return window.outputs(extents)

    @by_types
    def infer(self) -> Sequence[Attribute]:
        layout, _, out = self.layouts()
        self.check_operands()
        data, weight = tensor(self.data), shape_of(self.weight)
        self.check_channels(data.get_shape(), weight)
        self.check_blocks()
        extents = layout.extents(data.get_shape())
        window = self.window(weight)
        places = (DYNAMIC,) * len(self.SPATIAL)
        if DYNAMIC not in window.kernel:
            places = self.output_extents([extents[letter] for letter in self.SPATIAL], window)
        extents |= {"C": self.output_channels(weight), **dict(zip(self.SPATIAL, places, strict=True))}
        if (seeing := self.seeing()) is not None:
            extents["N"] = seeing.volumes(extents["N"]) * seeing.made
        return [TensorType(result_element(data.element_type, self.out_dtype.data), out.shape(extents))]

    def result_extents(self, data: te.Tensor, weight: te.Tensor) -> tuple[int, ...]:
        """The shape of the result, where extents may be symbols."""
        declared = tensor(self.result).get_shape()
        if DYNAMIC not in declared:
            return declared
        layout, _, out = self.layouts()
        extents = layout.extents(data.shape)
        places = self.output_extents([extents[letter] for letter in self.SPATIAL], self.window(weight.shape))
        extents |= {"C": self.output_channels(weight.shape), **dict(zip(self.SPATIAL, places, strict=True))}
        if (seeing := self.seeing()) is not None:
            extents["N"] = seeing.volumes(extents["N"]) * seeing.made
        return out.shape(extents)


class Convolution(ConvolutionBase, ABC):
    """What the convolutions share."""

    def pad_amounts(self, shape: Sequence[int], window: Window) -> tuple[dict[int, int], dict[int, int]]:
        """What to pad before and after each dimension of the data."""
        data = self.layouts()[0]
        positions = [data.position(letter) for letter in self.SPATIAL]
        reach = window.reach([shape[p] for p in positions])
        return dict(zip(positions, window.before, strict=True)), dict(zip(positions, reach, strict=True))

    def check_channels(self, data: Sequence[int], weight: Sequence[int]) -> None:
        """
        Raises:
            VerifyException: the channels of data and weight do not fit the groups.
        """
        layout, kernel, _ = self.layouts()
        groups = self.group_count()
        ic, per_group = data[layout.position("C")], weight[kernel.position("I")]
        oc = weight[kernel.position("O")]
        held, taken = layout.block("C"), kernel.block("I")
        if (seeing := self.seeing()) is not None and per_group != DYNAMIC:
            if per_group % seeing.seen or groups > 1:
                raise VerifyException(f"the weight {list(weight)} does not see {seeing.seen} planes in one group")
            per_group //= seeing.seen
        if held % taken:
            raise VerifyException(f"the blocks of input channels differ: {layout.text} and {kernel.text}")
        needed = -(-per_group * groups * taken // held)
        if DYNAMIC not in (ic, per_group) and ic != needed:
            raise VerifyException(
                f"the data {list(data)} has {ic} {layout.text} channels, but the weight {list(weight)} takes "
                f"{per_group} {kernel.text} channels in each of {groups} groups"
            )
        if oc != DYNAMIC and oc % groups:
            raise VerifyException(f"{oc} output channels do not divide into {groups} groups")

    def source_channel(
        self, out: dict[str, te.Expr], ic: te.Expr, ic_inner: te.Expr, data: te.Tensor, weight: te.Tensor
    ) -> dict[str, te.Expr]:
        """Where input channel (`ic`, `ic_inner`) of the group of an output element stands in the data."""
        groups = self.group_count()
        layout, kernel, _ = self.layouts()
        parts = layout.block("C") // kernel.block("I")
        if groups > 1:
            outputs = weight.shape[kernel.position("O")] // groups
            ic = out["C"] // outputs * weight.shape[kernel.position("I")] + ic
        if parts == 1:
            return {"C": ic, "c": ic_inner}
        return {"C": ic // parts, "c": ic % parts * kernel.block("I") + ic_inner}

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        data, weight = inputs
        layout, kernel, out_layout = self.layouts()
        result = tensor(self.result)
        sum_type = accumulator(result.element_type)
        window = self.window(weight.shape)
        amounts, images = self.pad_amounts(data.shape, window), layout.position("N")
        seeing, channels = self.seeing(), weight.shape[kernel.position("I")]
        have = data.shape[layout.position("C")]
        if isinstance(have, te.Expr) or isinstance(channels, te.Expr):  # that numbers fit is known from the types
            held, wanted = have * layout.block("C"), channels * kernel.block("I") * self.group_count()
            if seeing is not None or not agree(held, wanted):
                raise TypeError("te: it is not known whether the channels of the data are those of the weight")
        made, groups = weight.shape[kernel.position("O")], self.group_count()
        if isinstance(made, te.Expr) and groups > 1 and not at_most(made, made // groups * groups):
            raise TypeError("te: it is not known whether the groups have as many channels each")
        planes: list[te.IterVar] = []
        if seeing is None:
            padded = pad_stage(data, *amounts)
        else:
            padded, channels = seeing.pad_stage(data, images, *amounts), channels // seeing.seen
            planes.append(te.reduce_axis(seeing.seen, "plane"))
        blocked = "i" in kernel.names
        ic: te.Expr = te.reduce_axis(channels, "ic_outer" if blocked else "ic")
        inner = kernel.inner_axes("I")
        parts = [te.reduce_axis(axis.factor, "ic_inner" if n == 0 else "ic_part") for n, axis in enumerate(inner)]
        ic_inner: te.Expr = te.const(0, te.index)
        for axis, part in zip(inner, parts, strict=True):
            ic_inner = ic_inner * axis.factor + part if part is not parts[0] else part
        taps = window.taps(self.SPATIAL)
        axes = (*planes, ic, *taps, *parts) if blocked else (*planes, ic, *taps)
        if groups > 1 and channels * kernel.block("I") == 1:  # depthwise
            ic, ic_inner, parts, axes = te.const(0, te.index), te.const(0, te.index), [], taps

        def body(*indices: te.IterVar) -> te.Expr:
            out: dict[str, te.Expr] = dict(zip(out_layout.names, indices, strict=True))
            read = {"N": out["N"], **self.source_channel(out, ic, ic_inner, data, weight)}
            taken = {"O": out["C"], "o": out.get("c", ic_inner), "I": ic}
            if seeing is not None:
                read["N"] = seeing.place(seeing.volumes(data.shape[images]), out["N"], planes[0])
                taken["I"] = planes[0] * channels + ic
            for axis, (letter, k) in enumerate(zip(self.SPATIAL, taps, strict=True)):
                read[letter] = window.tap(axis, out[letter], k)
                taken[letter] = k
            rest = iter(parts)
            place = [next(rest, ic_inner) if name == "i" else taken[name] for name in kernel.names]
            lhs, rhs = padded[layout.arrange(read)], weight[tuple(place)]
            return te.sum(te.cast(lhs, sum_type) * te.cast(rhs, sum_type), axes)

        name = self.name.removeprefix("relay.nn.").removeprefix("contrib_")
        return narrow(te.compute(self.result_extents(data, weight), body, name), result.element_type)

    def numpy(self, *inputs: NDArray) -> NDArray | None:
        import numpy as np

        data, weight = inputs
        layout, kernel, out_layout = self.layouts()
        result = tensor(self.result).element_type
        window = self.window(weight.shape)
        before, after = self.pad_amounts(data.shape, window)
        data = np.pad(data, [(before.get(d, 0), after.get(d, 0)) for d in range(data.ndim)])
        plain = transform_array(widened(data, result), layout, parse_layout("NC" + self.SPATIAL))
        taps = transform_array(widened(weight, result), kernel, parse_layout("OI" + self.SPATIAL))
        groups = self.array_groups(plain)
        if (seeing := self.seeing()) is None:
            plain = plain[:, : taps.shape[1] * groups]
        else:
            plain = seeing.see(plain[:, : taps.shape[1] // seeing.seen])
        out = transform_array(convolve(plain, taps, window, groups), parse_layout("NC" + self.SPATIAL), out_layout)
        return out.astype(numpy_dtype(result), copy=False)

    def array_groups(self, plain: NDArray) -> int:
        """The groups of an array whose second axis are the channels, those that fill the last block included."""
        return self.group_count()

    def gradient(self, g: Gradient) -> Terms:
        return convolution_gradient(g, self.plain(g), self.group_count())
