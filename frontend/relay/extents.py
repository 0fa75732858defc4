"""Types of tensors whose extents may be left open, and variables of such types."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import ArrayAttr, IntAttr, TensorType
from xdsl.ir import Attribute, SSAValue

from ...dialects.relay.base import DYNAMIC, Tensor
from ...dialects.relay.functions import NamedBlock
from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError, did_you_mean
from ...dialects.support.dtypes import scalar_type
from ...dialects.support.element_types import MLIR_NAMES
from ...dialects.te.expr import Const as Number
from ...dialects.te.expr import Expr as IndexExpr
from ...dialects.te.expr import Var as Symbol


class AnyExtent:
    """An extent that is not known when the graph is made: TVM's `relay.Any()`."""

    def __repr__(self) -> str:
        return "relay.Any()"


Extent: TypeAlias = "int | AnyExtent | IndexExpr"
"""What an extent of a type may be: a number, TVM's `IntImm` among them, a variable of `te`, or not known. What is
computed of variables, `n * 2`, is not known."""


Shape: TypeAlias = "Sequence[Extent] | ArrayAttr[Attribute]"
"""Extents, or those of another type: `x.checked_type.shape`."""


class VariableBlock(NamedBlock):
    """Where a variable stands until a function takes it: with its name, and the symbols that its open extents were
    given as, in the order of its axes. Those of one function that were given as one symbol are one extent."""

    symbols: Sequence[Symbol | None] = ()


_SYMBOLS = "_relay_symbols"
"""Where Python's object of a type keeps the symbols that it was made of, for a variable; the type is one of `?`."""


@checked
def tensor_type(shape: Shape = (), dtype: str = "float32") -> Tensor:
    """The type of a tensor: TVM's `relay.TensorType(shape, dtype)`. An extent may be a variable, `te.var("n")`; the
    shape may be that of another type.

    Raises:
        UsageError: there is no such dtype, or an extent is negative.
    """
    try:
        element = scalar_type(dtype)
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"there is no element type '{dtype}'", hint=did_you_mean(dtype, MLIR_NAMES)) from error
    if isinstance(shape, ArrayAttr):
        shape = [AnyExtent() if n == IntAttr(DYNAMIC) else n.data for n in cast("ArrayAttr[IntAttr]", shape)]
    extents = [int(n.value) if isinstance(n, Number) else n for n in shape]
    extents = [DYNAMIC if isinstance(n, AnyExtent | IndexExpr) else int(n) for n in extents]
    if any(n < 0 and n != DYNAMIC for n in extents):
        raise UsageError(f"a shape has no negative extents: {list(extents)}")
    type = TensorType(element, extents)
    if any(isinstance(n, Symbol) for n in shape):
        object.__setattr__(type, _SYMBOLS, tuple(n if isinstance(n, Symbol) else None for n in shape))
    return type


def new_variable(name: str, type: Attribute) -> SSAValue:
    """A variable that no function has taken yet. What a text calls it is its name, so far as the text takes that."""
    block = VariableBlock(arg_types=[type])
    block.symbols = getattr(type, _SYMBOLS, ())
    block.name = name
    block.args[0].name_hint = _name_in_text(name)
    return block.args[0]


def _name_in_text(name: str) -> str | None:
    """What a text calls a variable of a name: letters, digits and `_ $ . -`, and no digit first."""
    if not SSAValue.is_valid_name(name):
        name = "v" + re.sub(r"[^\w$.-]", "_", name, flags=re.ASCII)
    return name or None
