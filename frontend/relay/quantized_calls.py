"""Rules by which operators are computed with integers, as TVM's `register_fake_quantization_to_integer` takes them.

    @relay.transform.register_fake_quantization_to_integer("sin")
    def by_table(call, types):
        result = types[call]                    # what the result is to stand for
        ...
        return [expression, TensorAffineType(scale, zero_point, "int8")]

A rule is given the call, whose `args` are integers where they are quantised, and says by what it is computed and which
numbers the integers of that stand for. `NotImplementedError` says that it cannot: then what is quantised stays as it
is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from xdsl.ir import Attribute, SSAValue

from ...dialects.relay.base import RelayOp, tensor
from ...dialects.support.diagnostics import Diagnostic, UsageError
from ...dialects.support.dtypes import dtype_name
from ...transforms.relay.affine_values import Affine, NotQuantizedError, known
from ...transforms.relay.quantized_rules import Quantized, Rule, Site
from .attrs import Attrs
from .expr import Expr, const, expr_of, operations_of
from .op_class import Op


@dataclass(frozen=True)
class TensorAffineType:
    """Which numbers the integers of a tensor stand for: `(q - zero_point) * scale`, with one scale, or one for each
    slice along `axis`; both are constants."""

    scale: Expr
    zero_point: Expr
    dtype: str
    axis: int = -1


@dataclass(frozen=True, eq=False)
class QuantizedCall:
    """A call of an operator, whose arguments are integers where they are quantised, and else what they were."""

    op: Op
    args: list[Expr]
    attrs: Attrs
    checked_type: Attribute
    """Of the result, as it is with floats."""


QuantizedRule: TypeAlias = (
    "Callable[[QuantizedCall, Mapping[QuantizedCall | Expr, TensorAffineType]], Sequence[Expr | TensorAffineType]]"
)
"""Given a call, and what it and its arguments stand for, an expression and what that stands for."""


class _Types(Mapping["QuantizedCall | Expr", TensorAffineType]):
    """What a call and its arguments stand for."""

    def __init__(self, found: Mapping[QuantizedCall | Expr, TensorAffineType]):
        self._found = found

    def __getitem__(self, of: QuantizedCall | Expr) -> TensorAffineType:
        if of not in self._found:
            raise NotQuantizedError("its rule asks what something stands for that nobody has quantised")
        return self._found[of]

    def __contains__(self, of: object) -> bool:
        return of in self._found

    def __iter__(self) -> Iterator[QuantizedCall | Expr]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


def integer_rule(function: QuantizedRule) -> Rule:
    """A function of expressions as a rule of `fake-quantization-to-integer`."""

    def rule(site: Site) -> Quantized:
        op = site.op
        integers = [site.values.get(value) for value in op.operands]
        args = [
            expr_of(value if found is None else found[0]) for value, found in zip(op.operands, integers, strict=True)
        ]
        call = QuantizedCall(Op(op.name.removeprefix("relay.")), args, Attrs(op), op.results[0].type)
        types: dict[QuantizedCall | Expr, TensorAffineType] = {
            arg: _affine_type(found[1]) for arg, found in zip(args, integers, strict=True) if found is not None
        }
        if site.wanted is not None:
            types[call] = _affine_type(site.wanted)
        try:
            given = list(function(call, _Types(types)))
        except NotImplementedError as error:
            raise NotQuantizedError(f"its rule says that it cannot{f': {error}' if str(error) else ''}") from None
        except Diagnostic as error:
            raise NotQuantizedError(f"its rule does not fit: {error.message}") from None
        if len(given) != 2 or not isinstance(given[0], Expr) or not isinstance(given[1], TensorAffineType):
            raise UsageError(f"the rule of {op.name} gives no expression and TensorAffineType, but {given}")
        return _taken(site, given[0]), _affine(op, given[0], given[1])

    return rule


def _affine_type(affine: Affine) -> TensorAffineType:
    scale, zero = (each.reshape(()) if each.size == 1 else each for each in (affine.scale, affine.zero))
    return TensorAffineType(const(scale), const(zero), affine.dtype, affine.axis)


def _affine(op: RelayOp, made: Expr, given: TensorAffineType) -> Affine:
    scale, zero = (known(each.value) for each in (given.scale, given.zero_point))
    if scale is None or zero is None:
        raise NotQuantizedError("its rule gives a scale or a zero point that is no constant")
    if (dtype := dtype_name(tensor(made.value).element_type)) != given.dtype:
        raise UsageError(f"the rule of {op.name} says {given.dtype} of integers that are {dtype}")
    return Affine(scale.astype(np.float32), zero.astype(np.int32), given.dtype, given.axis)


def _taken(site: Site, made: Expr) -> SSAValue:
    """The value of an expression, whose operations come behind those that were made before."""
    there = set(map(id, site.emit.ops))
    values: dict[SSAValue, SSAValue] = {}
    for op in operations_of([made.value]):
        if op.parent is None and id(op) not in there:
            copy = op.clone(values)
            site.emit.insert(copy)
            values.update(zip(op.results, copy.results, strict=True))
    return values.get(made.value, made.value)
