"""Which scalar operation each spelling of TVMScript stands for: tables that the parser and the printer both read.

An operation of `arith` or `math` that no table names, or one whose properties are not the usual ones, is spelled by
its own name: `T.arith.addf(a, b, fastmath="none")`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from xdsl.dialects import arith, math, memref
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, i1
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from ...extensions import arith as arith_extensions
from ...support.diagnostics import Diagnostic
from ...support.dtypes import dtype_name, scalar_type
from ...support.hints import isa
from ..affine import access_map_over, over_dimensions, simplify
from ..blocks import BlockOp
from ..float_flags import CONTRACT, NO_SIGNED_ZERO, NONE, REASSOCIATE
from .named_values import FLOAT_PREDICATES

OpType = type[Operation]

BINARY: Mapping[type[ast.operator], tuple[OpType | None, OpType | None, OpType | None]] = {
    ast.Add: (arith.AddfOp, arith.AddiOp, arith.AddiOp),
    ast.Sub: (arith.SubfOp, arith.SubiOp, arith.SubiOp),
    ast.Mult: (arith.MulfOp, arith.MuliOp, arith.MuliOp),
    ast.Div: (arith.DivfOp, None, None),
    ast.BitAnd: (None, arith.AndIOp, arith.AndIOp),
    ast.BitOr: (None, arith.OrIOp, arith.OrIOp),
    ast.BitXor: (None, arith.XOrIOp, arith.XOrIOp),
    ast.LShift: (None, arith.ShLIOp, arith.ShLIOp),
    ast.RShift: (None, arith.ShRSIOp, arith.ShRUIOp),
}
"""Python's operators: of floats, of signed and of unsigned integers. `//` and `%` are worked out by the parser."""

SYMBOLS: Mapping[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.LShift: "<<", ast.RShift: ">>", ast.FloorDiv: "//", ast.Mod: "%",
}  # fmt: skip

COMPARE: Mapping[type[ast.cmpop], tuple[str, str, str]] = {
    ast.Eq: ("oeq", "eq", "eq"), ast.NotEq: ("une", "ne", "ne"), ast.Lt: ("olt", "slt", "ult"),
    ast.LtE: ("ole", "sle", "ule"), ast.Gt: ("ogt", "sgt", "ugt"), ast.GtE: ("oge", "sge", "uge"),
}  # fmt: skip
"""Python's comparisons: predicates of floats, of signed and of unsigned integers."""

COMPARE_SYMBOLS: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip

UNARY: Mapping[str, tuple[OpType | None, OpType | None]] = {
    **{
        name: (getattr(math, f"{name.capitalize()}Op"), None)
        for name in (
            "exp", "exp2", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "sin", "cos", "tan", "sinh", "cosh",
            "tanh", "asin", "acos", "atan", "asinh", "acosh", "atanh", "erf", "floor", "ceil", "trunc",
        )
    },
    "round": (math.RoundEvenOp, None),
    "abs": (math.AbsFOp, math.AbsIOp),
}  # fmt: skip
"""`T.name(x)`: of floats, and of integers."""

CALLS: Mapping[str, tuple[OpType | None, OpType | None, OpType | None]] = {
    "max": (arith.MaximumfOp, arith.MaxSIOp, arith.MaxUIOp),
    "min": (arith.MinimumfOp, arith.MinSIOp, arith.MinUIOp),
    "pow": (math.PowFOp, math.IPowIOp, None),
    "atan2": (math.Atan2Op, None, None),
    "copysign": (math.CopySignOp, None, None),
    "fmod": (arith_extensions.RemFOp, None, None),
    "truncdiv": (None, arith.DivSIOp, arith.DivUIOp),
    "truncmod": (None, arith.RemSIOp, arith.RemUIOp),
}
"""`T.name(x, y)`: of floats, of signed and of unsigned integers."""

ALIASES: Mapping[str, str] = {
    "boolean": "bool",
    "fabs": "abs", "power": "pow", "nearbyint": "round", "indexdiv": "floordiv", "indexmod": "floormod",
    "FloorDiv": "floordiv", "FloorMod": "floormod", "Div": "div", "Mod": "truncmod", "Min": "min", "Max": "max",
}  # fmt: skip
"""Other names of the same calls."""

OPERATORS: Mapping[str, ast.operator] = {
    "floordiv": ast.FloorDiv(), "floormod": ast.Mod(), "bitwise_and": ast.BitAnd(), "bitwise_or": ast.BitOr(),
    "bitwise_xor": ast.BitXor(), "shift_left": ast.LShift(), "shift_right": ast.RShift(), "div": ast.Div(),
    "Add": ast.Add(), "Sub": ast.Sub(), "Mul": ast.Mult(),
}  # fmt: skip
"""Calls that are Python's operators by name."""

COMPARISONS: Mapping[str, ast.cmpop] = {
    "EQ": ast.Eq(), "NE": ast.NotEq(), "LT": ast.Lt(), "LE": ast.LtE(), "GT": ast.Gt(), "GE": ast.GtE(),
}  # fmt: skip

DTYPES = (
    "float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
    "uint64", "bool", "index",
)  # fmt: skip
"""Element types by name; `index` is the type of loop variables."""

USUAL_FLAGS: Mapping[OpType, Attribute] = {
    arith.AddfOp: CONTRACT, arith.SubfOp: CONTRACT, arith.MulfOp: CONTRACT,
    arith.MaximumfOp: NO_SIGNED_ZERO, arith.MinimumfOp: NO_SIGNED_ZERO,
}  # fmt: skip
"""What float operations may be changed into where nothing is said, as in tensor expressions; others: nothing."""

STEPS = (arith.AddfOp, arith.SubfOp, arith.MulfOp)
"""The operations whose order is free where they take a reduction's steps."""

SPELLED: Mapping[str, OpType] = {
    op.name: op
    for module in (arith_extensions, arith, math)
    for op in vars(module).values()
    if isinstance(op, type) and issubclass(op, Operation) and getattr(op, "name", "").startswith(("arith.", "math."))
}
"""The operations that can be spelled by their own name."""


def element_type(dtype: str) -> Attribute:
    """The type that a name of `DTYPES` stands for, in memory: integers have no sign there.

    Raises:
        Diagnostic: there is no such type.
    """
    if dtype == "index":
        return IndexType()
    try:
        type = scalar_type(dtype)
    except TypeError as error:
        raise Diagnostic(str(error)) from error
    return IntegerType(type.width.data) if isa(type, IntegerType) else type


def type_name(type: Attribute) -> str:
    """The name of a type in `DTYPES`.

    Raises:
        TypeError: it has none.
    """
    return "index" if isinstance(type, IndexType) else dtype_name(type)


def bits(type: Attribute) -> int:
    """How wide a scalar is."""
    if isa(type, AnyFloat):
        return type.bitwidth
    return type.width.data if isa(type, IntegerType) else 64


def build(kind: OpType, *arguments: object) -> Operation:
    """An operation of a class, by what its constructor takes."""
    make: Callable[..., Operation] = kind
    return make(*arguments)


def pick(ops: tuple[OpType | None, ...], type: Attribute, unsigned: bool) -> OpType | None:
    """Of the operations on floats, signed and unsigned integers, the one for a type."""
    if isinstance(type, AnyFloat):
        return ops[0]
    return ops[2 if unsigned and len(ops) > 2 else 1]


def conversion(source: Attribute, target: Attribute, unsigned: bool, to_unsigned: bool) -> OpType | None:
    """The one operation that converts, if there is one: not between types of the same class and width, nor to `i1`."""
    floats = isinstance(source, AnyFloat), isinstance(target, AnyFloat)
    if floats == (True, True):
        assert isinstance(source, AnyFloat) and isinstance(target, AnyFloat)
        if source.bitwidth == target.bitwidth:
            return None
        return arith.ExtFOp if target.bitwidth > source.bitwidth else arith.TruncFOp
    match source, target:
        case (IndexType(), IntegerType()) | (IntegerType(), IndexType()) if i1 not in (source, target):
            return arith.IndexCastOp
        case IntegerType(), IntegerType() if target != i1 and source != target:
            if bits(target) < bits(source):
                return arith.TruncIOp
            return arith.ExtUIOp if unsigned or source == i1 else arith.ExtSIOp
        case IntegerType(), _ if floats[1]:
            return arith.UIToFPOp if unsigned or source == i1 else arith.SIToFPOp
        case _, IntegerType() if floats[0] and target != i1:
            return arith.FPToUIOp if to_unsigned else arith.FPToSIOp
        case _:
            return None


def takes_a_step(op: Operation) -> bool:
    """Whether a sum, difference or product combines what a reduction has so far with its next step: it is written to
    the element that one of its operands was read from."""
    if type(op) not in STEPS:
        return False
    block = op.parent_op()
    if not isinstance(block, BlockOp) or not block.is_reduction or op.parent is not block.body.block:
        return False
    result = op.results[0]
    stores = [use.operation for use in result.uses]
    if len(stores) != 1 or not isinstance(store := stores[0], memref.StoreOp) or store.value is not result:
        return False
    return any(_same_element(block, operand, store) for operand in op.operands)


def _same_element(block: BlockOp, value: SSAValue, store: memref.StoreOp) -> bool:
    if not isinstance(value, OpResult) or not isinstance(load := value.op, memref.LoadOp):
        return False
    if load.memref is not store.memref:
        return False
    if tuple(load.indices) == tuple(store.indices):
        return True
    dims = over_dimensions(block.iters)
    read, written = access_map_over(load, dims), access_map_over(store, dims)
    if read is None or written is None:
        return False
    return [simplify(e) for e in read.results] == [simplify(e) for e in written.results]


def usual_flags(op: Operation) -> Attribute:
    """The `fastmath` flags that `op` has where the text says nothing."""
    return REASSOCIATE if takes_a_step(op) else USUAL_FLAGS.get(type(op), NONE)


def is_usual(op: Operation) -> bool:
    """Whether `op` has the properties that it has where the text says nothing."""
    flags = op.properties.get("fastmath")
    if flags is not None and flags != usual_flags(op):
        return False
    overflow = op.properties.get("overflowFlags")
    return overflow is None or overflow == arith.IntegerOverflowAttr("none")


def chosen_extremum(op: arith.SelectOp) -> str | None:
    """`max` or `min` where a choice is that of a number and a literal, the literal beside what is compared; else
    `None`."""
    test = op.cond.owner
    if not isinstance(test, arith.CmpfOp) or not is_usual(test) or test.lhs is not op.lhs or test.rhs is not op.rhs:
        return None
    if not isinstance(op.lhs.owner, arith.ConstantOp) or isinstance(op.rhs.owner, arith.ConstantOp):
        return None
    return {"ogt": "max", "olt": "min"}.get(FLOAT_PREDICATES[test.predicate.value.data])
