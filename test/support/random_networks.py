"""Random graphs for the passes of `relay`: what their patterns look for, often almost, with several uses, constants on
either side, tuples, and pieces within functions and branches.

What `weft.testing.random_graphs` draws from declarations seldom holds a pattern of five operators. Here an operator is
followed by what a pass might take it together with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from weft import relay
from weft.dialects.relay.base import RelayOp
from weft.dialects.relay.control import ApplyOp, FnOp
from weft.dialects.relay.core import ConstantOp, FuncOp, YieldOp
from weft.dialects.support.diagnostics import Diagnostic
from weft.frontend.relay.expr import Expr, Var

NDArray = npt.NDArray[np.generic]
T = TypeVar("T")

MAX_ELEMENTS = 6000


@dataclass
class Network:
    """A graph that grows at random; `grow` appends one operator or a few.

    Numbers are multiples of 1/8 and small, so that results do not depend on the order of sums more than they must.
    """

    random: Random
    dtype: str = "float32"
    params: list[Var] = field(default_factory=list[Var])
    values: list[Expr] = field(default_factory=list[Expr])

    def one_of(self, options: Sequence[T]) -> T:
        return options[self.random.randrange(len(options))]

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def array(self, shape: Sequence[int], dtype: str | None = None) -> NDArray:
        dtype = dtype or self.dtype
        generator = np.random.default_rng(self.random.randrange(2**32))
        if dtype.startswith("float"):
            return (generator.integers(-8, 9, shape) / 8).astype(dtype)
        return generator.integers(-4 if dtype.startswith("int") else 0, 5, shape).astype(dtype)

    def parameter(self, shape: Sequence[int], dtype: str | None = None) -> Var:
        made = relay.var(f"p{len(self.params)}", shape=tuple(shape), dtype=dtype or self.dtype)
        self.params.append(made)
        self.values.append(made)
        return made

    def known(self, shape: Sequence[int], dtype: str | None = None, constant: int = 80) -> Expr:
        """A constant, or sometimes a parameter; of all one number where that matters to a pass."""
        dtype = dtype or self.dtype
        if not self.chance(constant):
            return self.parameter(shape, dtype)
        if self.chance(20):
            value = self.one_of([0, 1, 1, 2])
            return relay.const(np.full(shape, value), dtype)
        return relay.const(self.array(shape, dtype), dtype)

    def operand_for(self, x: Expr) -> Expr:
        """What broadcasts with `x`: another value, a number, a vector along an axis, something of its shape."""
        shape = x.shape
        others = [v for v in self.values if v.dtype == x.dtype and v.shape == shape]
        if others and self.chance(35):
            return self.one_of(others)
        kind = self.random.randrange(4)
        if kind == 0 or not shape:
            return self.known((), x.dtype)
        if kind == 1:
            return self.known(shape, x.dtype)
        dropped = self.random.randrange(len(shape))
        axis = self.random.randrange(dropped, len(shape))
        return self.known([n if d == axis else 1 for d, n in enumerate(shape) if d >= dropped], x.dtype)

    def of_rank(self, *ranks: int) -> Expr:
        """A float value of one of these ranks, the last ones most often."""
        fitting = [v for v in self.values if len(v.shape) in ranks and v.dtype == self.dtype and 0 not in v.shape]
        if fitting and self.chance(85):
            return self.one_of(fitting[-4:] if self.chance(70) else fitting)
        rank = self.one_of(ranks)
        shapes = {1: (6,), 2: (4, 6), 3: (2, 4, 6), 4: (2, 4, 6, 6), 5: (1, 4, 4, 5, 4)}
        return self.parameter(shapes[rank])

    def any_value(self) -> Expr:
        return self.one_of(self.values[-5:] if self.chance(70) else self.values)

    def grow(self, growths: Sequence[Growth] = ()) -> None:
        """Append an operator, or several, of `growths` or any; nothing, where what was drawn does not fit."""
        try:
            made = self.one_of(growths or GROWTHS)(self)
        except (Diagnostic, VerifyException):
            return
        for each in made if isinstance(made, list) else [made]:
            if 0 < np.prod(each.shape, dtype=np.int64) <= MAX_ELEMENTS and -1 not in each.shape:
                self.values.append(each)

    def function(self) -> FuncOp:
        """The graph: what nobody uses is its results."""
        used = {id(operand) for v in self.values for operand in _operands(v)}
        results = [v for v in self.values if id(v.value) not in used and not isinstance(v, Var)] or self.values[-1:]
        if self.chance(30):
            results.append(self.one_of(self.values))
        params = relay.free_vars(relay.Tuple(results))
        return relay.Function(params, relay.Tuple(results) if len(results) > 1 else results[0])


def _operands(expr: Expr) -> list[SSAValue]:
    owner = expr.value.owner
    return list(owner.operands) if isinstance(owner, Operation) else []


Growth = Callable[[Network], "Expr | list[Expr]"]


def unary(n: Network) -> Expr:
    x = n.any_value()
    if not x.dtype.startswith("float"):
        return n.one_of([relay.abs, relay.negative, relay.copy])(x)
    names = (
        "nn.relu",
        "nn.relu",
        "negative",
        "abs",
        "tanh",
        "sigmoid",
        "sqrt",
        "copy",
        "floor",
        "exp",
        "erf",
        "nn.leaky_relu",
    )
    name = n.one_of(names)
    if name == "sqrt":
        x = relay.abs(x) + relay.const(1.0, x.dtype)
    if name == "exp":
        x = relay.clip(x, -4.0, 2.0)
    return relay.op.__getattr__("nn").__getattr__(name[3:])(x) if name.startswith("nn.") else getattr(relay, name)(x)


def clipped(n: Network) -> Expr:
    x = n.any_value()
    low = n.one_of([-2.0, -1.0, 0.0])
    made = relay.clip(x, low, low + n.one_of([0.0, 1.0, 3.0]))
    return relay.clip(made, -1.0, 6.0) if n.chance(30) else made


def binary(n: Network) -> Expr:
    x = n.any_value()
    y = n.operand_for(x)
    if n.chance(40):
        x, y = y, x
    if x.dtype.startswith("float") and n.chance(15):
        return relay.divide(x, relay.abs(y) + relay.const(0.5, x.dtype))
    if x.dtype.startswith("float") and n.chance(8):
        return relay.divide(x, relay.sqrt(relay.abs(y) + relay.const(0.5, x.dtype)))
    return n.one_of(
        [relay.add, relay.add, relay.multiply, relay.multiply, relay.subtract, relay.maximum, relay.minimum]
    )(x, y)


def chained(n: Network) -> Expr:
    """Constants that are regrouped: `(x + a) + b`, `(x * a) * b`, `(x + a) * b`."""
    x = n.any_value()
    for _ in range(2):
        y, op = n.operand_for(x), n.one_of([relay.add, relay.multiply, relay.subtract])
        x = op(x, y) if n.chance(60) else op(y, x)
    return x


def casts(n: Network) -> list[Expr]:
    x, made = n.any_value(), list[Expr]()
    for _ in range(n.random.randint(1, 3)):
        names = [d for d in ("float32", "float64", "int32", "int8", "uint8", "float16", "bool", "int64")]
        x = relay.cast(relay.clip(x, -2.0, 3.0) if x.dtype != "bool" else x, n.one_of(names))
        made.append(x)
    back = relay.cast(x, n.dtype)
    return [back] if n.chance(70) else [made[-1], back]


def shaped(n: Network) -> Expr:
    """Reshapes, transposes and the like, often two that come to nothing."""
    x = n.any_value()
    for _ in range(n.random.randint(1, 2)):
        rank = len(x.shape)
        match n.random.randrange(8):
            case 0:
                x = relay.reshape(x, n.one_of([(-1,), (1, -1), (0, -1), x.shape, (*x.shape, 1), (-3, -2)]))
            case 1:
                axes = list(range(rank))
                n.random.shuffle(axes)
                x = relay.transpose(x, axes if n.chance(80) else None)
            case 2:
                x = relay.expand_dims(x, n.random.randint(-rank - 1, rank), n.random.randint(0, 2))
            case 3:
                ones = [d for d, extent in enumerate(x.shape) if extent == 1]
                x = relay.squeeze(x, None if n.chance(40) else ones[:1])
            case 4:
                x = relay.nn.batch_flatten(x)
            case 5:
                x = relay.layout_transform(x, "NCHW", n.one_of(["NHWC", "NCHW2c", "NCHW"]))
            case 6:
                x = relay.reverse(x, n.random.randrange(max(rank, 1)))
            case _:
                x = relay.broadcast_to(x, (2, *x.shape)) if n.chance(50) else relay.broadcast_to(x, x.shape)
    return x


def sliced(n: Network) -> list[Expr]:
    x = n.any_value()
    rank = max(len(x.shape), 1)
    axis = n.random.randint(-rank, rank - 1)
    match n.random.randrange(5):
        case 0:
            parts = relay.split(x, n.one_of([2, 3, (1,), (1, 3)]), axis)
            return [parts[d] for d in range(len(parts)) if d == 0 or n.chance(70)]
        case 1:
            begin = [n.random.randint(-3, 2) for _ in range(rank)]
            end = [n.random.randint(-1, 6) for _ in range(rank)]
            return [relay.strided_slice(x, begin, end, [n.one_of([1, 1, 2])] * rank)]
        case 2:
            made = relay.strided_slice(x, [n.random.randint(0, 2)], [n.one_of([4, 5, 2**31 - 1])], axes=[axis])
            return [relay.strided_slice(made, [n.random.randint(0, 1)], [3], axes=[n.one_of([axis, axis, 0])])]
        case 3:
            return [relay.take(x, n.known((2,), "int32"), axis=axis, mode=n.one_of(["clip", "wrap"]))]
        case _:
            return [relay.slice_like(x, n.one_of(n.values))]


def joined(n: Network) -> list[Expr]:
    x = n.any_value()
    others = [v for v in n.values if v.dtype == x.dtype and v.shape == x.shape] or [x]
    fields = relay.Tuple([n.one_of(others) for _ in range(n.random.randint(1, 4))] + [x])
    axis = n.random.randint(-max(len(x.shape), 1), max(len(x.shape) - 1, 0))
    made = [relay.concatenate(fields, axis) if n.chance(70) else relay.stack(fields, axis)]
    if n.chance(20):
        made.append(fields[0] + fields[1])
    return made


def like(n: Network) -> Expr:
    x, y = n.any_value(), n.any_value()
    ops = (
        lambda: relay.zeros_like(x), lambda: relay.ones_like(x), lambda: relay.full_like(x, relay.const(2, x.dtype)),
        lambda: relay.reshape_like(x, y), lambda: relay.broadcast_to_like(x, y), lambda: relay.collapse_sum_like(x, y),
        lambda: relay.where(relay.greater(x, y), x, relay.zeros_like(x)),
        lambda: relay.full(relay.const(1, x.dtype), x.shape, x.dtype), lambda: relay.cast_like(x, y),
        lambda: relay.reshape(relay.shape_of(x), (-1,)),
    )  # fmt: skip
    return n.one_of(ops)()


def reduced(n: Network) -> Expr:
    x = n.any_value()
    axis = n.random.randint(-len(x.shape), len(x.shape) - 1) if x.shape else None
    op = n.one_of([relay.sum, relay.max, relay.mean, relay.min, relay.argmax])
    return op(x, axis if n.chance(80) else None, n.chance(50))


def scaled(n: Network, x: Expr, axis: int = 1) -> Expr:
    """What fold-scale-axis looks for: a product with a vector along an axis, relu between."""
    shape = [1] * (len(x.shape) - axis)
    shape[0] = x.shape[axis]
    kind = n.random.randrange(6)
    if kind == 0:
        return relay.nn.relu(x)
    scale = relay.const(np.abs(n.array(shape)) + 0.125) if n.chance(60) else n.known(shape)
    scale = relay.cast(scale, x.dtype)
    if kind == 1:
        return relay.add(x, scale) if n.chance(50) else relay.nn.bias_add(x, n.known((x.shape[axis],)), axis)
    if kind == 2:
        return relay.nn.relu(relay.multiply(scale, x))
    if kind == 3 and x.shape[axis] > 0:
        size = (x.shape[axis],)
        stats = [n.known(size), n.known(size), n.known(size), relay.const(np.abs(n.array(size)) + 0.5)]
        return relay.nn.batch_norm(x, *stats, axis=axis)[0]
    if kind == 4:
        return relay.multiply(x, n.known((), x.dtype))
    return relay.multiply(x, scale) if n.chance(50) else relay.multiply(scale, x)


def convolution(n: Network, x: Expr | None = None) -> Expr:
    nhwc = n.chance(25)
    x = n.of_rank(4) if x is None else x
    if x.shape[2] < 2 or x.shape[3] < 2:
        x = n.parameter((1, 4, 6, 6))
    channels = x.shape[3 if nhwc else 1]
    outs = n.one_of([4, 4, 8, 6])
    groups = n.one_of([1, 1, 1, channels, 2])
    taps = (n.one_of([1, 1, 2, 3]), n.one_of([1, 1, 3]))
    outs = channels * n.one_of([1, 2]) if groups == channels else outs
    if channels % groups or outs % groups:
        groups = 1
    shape = (outs, channels // groups, *taps)
    layouts = {"data_layout": "NCHW", "kernel_layout": "OIHW"}
    if nhwc:
        depthwise = groups == channels and groups > 1
        layouts = {"data_layout": "NHWC", "kernel_layout": "HWOI" if depthwise else "HWIO"}
        shape = (*taps, channels, outs // channels) if depthwise else (*taps, channels // groups, outs)
    padding = n.one_of([(0, 0), (1, 1), (1, 0, 2, 1)])
    attributes = dict(strides=n.one_of([(1, 1), (1, 1), (2, 2), (1, 2)]), dilation=n.one_of([(1, 1), (1, 1), (2, 1)]))
    if n.chance(20):
        widths = ((0, 0), (1, 1), (1, 2), (0, 0)) if nhwc else ((0, 0), (0, 0), (1, 1), (1, 2))
        x = relay.nn.pad(x, widths, n.one_of([0.0, 0.0, 1.0]))
    return relay.nn.conv2d(
        x, n.known(shape), padding=padding, groups=groups, channels=outs if n.chance(70) else None,
        kernel_size=taps, **attributes, **layouts,
    )  # fmt: skip


def scaled_convolution(n: Network) -> list[Expr]:
    x, made = n.of_rank(4), list[Expr]()
    for _ in range(n.random.randint(0, 2)):
        x = scaled(n, x)
        made.append(x)
    x = convolution(n, x)
    made.append(x)
    for _ in range(n.random.randint(0, 3)):
        x = scaled(n, x, n.one_of([1, 1, 3]))
        made.append(x)
    return [each for each in made[:-1] if n.chance(15)] + made[-1:]


def parallel_convolutions(n: Network) -> list[Expr]:
    x = n.of_rank(4)
    taps, padding = n.one_of([((1, 1), (0, 0)), ((3, 3), (1, 1))])
    made: list[Expr] = []
    for _ in range(n.random.randint(2, 4)):
        weight = n.known((n.one_of([2, 4, 3]), x.shape[1], *taps))
        y = relay.nn.conv2d(x, weight, padding=padding, kernel_size=taps)
        if n.chance(60):
            y = scaled(n, y)
        made.append(y)
    return [*made, relay.concatenate(relay.Tuple(made), 1)] if n.chance(30) else made


def transposed_convolution(n: Network) -> Expr:
    x = n.of_rank(4)
    return relay.nn.conv2d_transpose(
        x, n.known((x.shape[1], n.one_of([2, 4]), 3, 3)), strides=n.one_of([(1, 1), (2, 2)]),
        padding=n.one_of([(0, 0), (1, 1)]), kernel_size=(3, 3), output_padding=n.one_of([(0, 0), (0, 0), (1, 1)]),
    )  # fmt: skip


def atrous(n: Network) -> Expr:
    x = n.of_rank(4)
    block = n.one_of([(2, 2), (2, 1), (3, 3)])
    pads = [(n.random.randint(0, 3), n.random.randint(0, 3)) for _ in range(2)]
    y = relay.nn.space_to_batch_nd(relay.transpose(x, (0, 2, 3, 1)), block, pads)
    y = relay.nn.conv2d(
        y,
        n.known((3, 3, x.shape[1], 4)),
        kernel_size=(3, 3),
        data_layout="NHWC",
        kernel_layout="HWIO",
        padding=n.one_of([(0, 0), (1, 1)]),
    )
    return relay.nn.batch_to_space_nd(y, block, [(n.random.randint(0, 1), n.random.randint(0, 2)) for _ in range(2)])


def products(n: Network) -> list[Expr]:
    """Dense layers of one value, some with a bias, a scale, a transposed weight."""
    x = n.of_rank(2)
    made: list[Expr] = []
    for _ in range(n.random.randint(1, 4)):
        units = n.one_of([4, 4, 3, x.shape[1]])
        if n.chance(25):
            weight = relay.transpose(n.known((x.shape[1], units)), (1, 0) if n.chance(70) else None)
        else:
            weight = n.known((units, x.shape[1]))
        given = scaled(n, x, 1) if n.chance(25) else x
        y = relay.nn.dense(given, weight)
        if n.chance(50):
            y = scaled(n, y) if n.chance(50) else relay.add(y, n.known((units,)))
        made.append(y)
    return made


def batched_products(n: Network) -> list[Expr]:
    x = n.of_rank(3)
    made: list[Expr] = []
    for _ in range(n.random.randint(1, 4)):
        units, transposed = n.one_of([4, 3]), n.chance(70)
        batch = n.one_of([x.shape[0], x.shape[0], 1])
        shape = (batch, units, x.shape[2]) if transposed else (batch, x.shape[2], units)
        y = relay.nn.batch_matmul(x, n.known(shape, constant=40), transpose_b=transposed)
        if n.chance(40):
            y = relay.add(y, n.known((units,)))
        if n.chance(30):
            y = relay.reshape(y, (-1, units))
        made.append(y)
    return made


def pooled(n: Network) -> Expr:
    x = n.of_rank(4)
    if n.chance(30):
        x = relay.nn.pad(x, ((0, 0), (0, 0), (1, 0), (0, 1)), n.one_of([0.0, -1.0, -np.inf]))
    layout = n.one_of(["NCHW", "NCHW", "NHWC"])
    match n.random.randrange(4):
        case 0:
            return relay.nn.max_pool2d(
                x, (2, 2), (2, 2), padding=n.one_of([(0, 0), (1, 1)]), ceil_mode=n.chance(40), layout=layout
            )
        case 1:
            return relay.nn.avg_pool2d(
                x, (3, 2), n.one_of([(1, 1), (2, 2)]), padding=n.one_of([(0, 0), (1, 0, 1, 1)]), ceil_mode=n.chance(40),
                count_include_pad=n.chance(50), layout=layout,
            )  # fmt: skip
        case 2:
            return relay.nn.global_avg_pool2d(x, layout)
        case _:
            return relay.nn.adaptive_avg_pool2d(x, (2, 3), layout)


def normalised(n: Network) -> Expr:
    x = n.any_value()
    axis = n.random.randint(-len(x.shape), len(x.shape) - 1) if x.shape else 0
    match n.random.randrange(5):
        case 0:
            return relay.nn.softmax(x, axis)
        case 1:
            size = (x.shape[axis],) if x.shape else ()
            return relay.nn.layer_norm(x, n.known(size), n.known(size), axis, 0.125)
        case 2:
            return relay.nn.log_softmax(x, axis)
        case 3:
            return relay.nn.dropout(x)
        case _:
            return relay.nn.l2_normalize(x, 0.125, [axis])


def twice(n: Network) -> list[Expr]:
    """The same once more, or almost: what common subexpressions are."""
    x = n.any_value()
    other = n.operand_for(x)
    return [relay.add(x, other), relay.multiply(relay.add(x, other), relay.add(other, x))]


def dynamic(n: Network) -> Expr:
    """Extents that are operands, which constants tell."""
    x = n.any_value()
    shape = relay.const(np.array(x.shape, n.one_of(["int32", "int64"])))
    match n.random.randrange(4):
        case 0:
            return relay.reshape(x, shape)
        case 1:
            return relay.broadcast_to(relay.const(1, x.dtype), shape)
        case 2:
            return relay.reshape(x, relay.shape_of(x)) + relay.zeros(shape, x.dtype)
        case _:
            return relay.tile(x, relay.const(np.full(len(x.shape), 2), "int64"))


GROWTHS: Sequence[Growth] = (
    unary, unary, clipped, binary, binary, binary, chained, chained, casts, shaped, shaped, sliced, joined, like,
    reduced, convolution, scaled_convolution, scaled_convolution, parallel_convolutions, transposed_convolution, atrous,
    products, products, batched_products, pooled, normalised, twice, dynamic,
)  # fmt: skip


def random_network(random: Random, size: int = 8) -> ModuleOp:
    """A module whose `@main` is a graph of about `size` operators, of one element type for the most part."""
    network = Network(random, "float64" if random.random() < 0.3 else "float32")
    network.of_rank(network.one_of([2, 3, 4, 4, 4]))
    for _ in range(random.randint(2, size)):
        network.grow()
    module = relay.IRModule.from_expr(network.function())
    module.verify()
    return module


def enclose(module: ModuleOp, random: Random) -> None:
    """Put some operators into functions that are called at once: passes meet function values, and what is around."""
    (func,) = (op for op in module.ops if isinstance(op, FuncOp))
    ops = [op for op in func.body.block.ops if isinstance(op, RelayOp) and len(op.results) == 1]
    for op in random.sample(ops, min(len(ops), 2)):
        passed = [v for v in dict.fromkeys(op.operands) if isinstance(v.type, TensorType) and random.random() < 0.7]
        passed = [v for v in passed if not isinstance(v.owner, ConstantOp)]
        block = Block(arg_types=[v.type for v in passed])
        copy = op.clone(dict(zip(passed, block.args, strict=True)))
        block.add_ops([copy, YieldOp(copy.results[0])])
        type = FunctionType.from_lists([v.type for v in passed], [op.results[0].type])
        fn = FnOp(type, Region(block))
        call = ApplyOp(fn.result, passed)
        func.body.block.insert_ops_before([fn, call], op)
        op.results[0].replace_all_uses_with(call.res[0])
        op.detach()
        op.erase()


def arrays_of(func: FuncOp, seed: int) -> list[NDArray]:
    """An array for each parameter."""
    network = Network(Random(seed))
    made: list[NDArray] = []
    for argument in func.body.block.args:
        assert isinstance(argument, BlockArgument)
        expr = Var(argument)
        made.append(network.array(expr.shape, expr.dtype))
    return made
