"""Compute in floats of half the width what gains by it, and bears it.

    %y = relay.nn.dense %x, %w            %x1 = relay.cast %x {f16};  %w1 = relay.cast %w {f16}
    %z = relay.nn.relu %y           ->    %y = relay.nn.dense %x1, %w1 {out_dtype = "float16"}
    %p = relay.nn.softmax %z              %z = relay.nn.relu %y
                                          %p = relay.nn.softmax (relay.cast %z {f32})

Each operator's class says what it is (`PRECISION`), unless a rule that is registered does (`op_rules.PRECISION`).
ALWAYS: its f32 operands are converted, and its result is short. FOLLOW: so only if all its f32 operands are short
already, are arguments or constants. NEVER: short operands are converted back. Sums of products and of elements are
formed in f32 whatever the type. A value is converted once to each type, and a conversion of a conversion is the value
itself. Floats of other types than f32, integers and truth values are left alone. Calls, branches, function values and
data types take and give what they did; a function that nothing calls gives short results, unless
`keep-orig-output-dtype`. `fold-constant` should follow, for the weights.

`missing-op-mode` says what is done about an operator that its class says nothing of, and that is no arithmetic on
single elements: 0 refuse it, 1 take it for FOLLOW with a remark, 2 without.

Counterpart of TVM's `ToMixedPrecision`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias, cast

from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, FunctionType, StringAttr, TensorType, TupleType, f32
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...dialects.relay.base import RelayOp, Value, tensor, tensors_in
from ...dialects.relay.core import ConstantOp, FuncOp, ReturnOp, TupleGetOp, TupleOp
from ...dialects.relay.ops.creation import FullOp, OnesOp, ZerosOp
from ...dialects.relay.ops.elementwise import CastOp
from ...dialects.relay.precision import Precision
from ...dialects.relay.types import tuple_type
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.dtypes import dtype_name, scalar_type
from ..infra import FunctionPass, remarks, report_changed
from .op_rules import precision_rule
from .symbol_names import is_referred_to

Casts: TypeAlias = dict[tuple[SSAValue, Attribute], SSAValue]

NAME = "to-mixed-precision"


@dataclass(frozen=True)
class ToMixedPrecisionPass(FunctionPass):
    """Options: `mixed-precision-type` is float16, bfloat16, or float64, whose floats are not short but long;
    `missing-op-mode` 0, 1 or 2; `keep-orig-output-dtype`."""

    name = NAME
    opt_level: ClassVar[int] = 0
    required: ClassVar[tuple[str, ...]] = ("infer-type",)
    tvm_name: ClassVar[str | None] = "ToMixedPrecision"
    ranges: ClassVar[dict[str, tuple[int, int | None]]] = {"missing_op_mode": (0, 2)}

    mixed_precision_type: str = "float16"
    missing_op_mode: int = 1
    keep_orig_output_dtype: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mixed_precision_type not in ("float16", "bfloat16", "float64"):
            raise ValueError(
                f"the option 'mixed-precision-type' is float16, bfloat16 or float64, not {self.mixed_precision_type!r}"
            )

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        keep = self.keep_orig_output_dtype or is_referred_to(func)
        converter = _Converter(scalar_type(self.mixed_precision_type), self.missing_op_mode, keep)
        converter.run(func.body.block, {})
        func.function_type = FunctionType.from_lists(
            func.function_type.inputs.data, [value.type for value in func.return_op.arguments]
        )
        report_changed(converter.changed)


@dataclass
class _Converter:
    short: Attribute
    missing_op_mode: int
    keep_results: bool
    original: dict[SSAValue, Attribute] = field(default_factory=dict[SSAValue, Attribute])
    """The types that values of another type now had."""
    casts: Casts = field(default_factory=dict["tuple[SSAValue, Attribute]", SSAValue])
    """Values by what they are in another type, of the block that is walked over and those around it."""
    changed: bool = False

    def run(self, block: Block, outer: Casts) -> None:
        mine = self.casts = dict(outer)
        for op in list(block.ops):
            match op:
                case TupleOp():
                    self._retype(op, TupleOp(*op.fields))
                case TupleGetOp():
                    self._retype(op, TupleGetOp(op.tuple, op.index.value.data))
                case RelayOp():
                    self._convert(op)
                case ReturnOp() if not self.keep_results:
                    pass
                case _:
                    for index, operand in enumerate(op.operands):
                        op.operands[index] = self._cast(operand, self.original.get(operand, operand.type), op)
                    for inner in [inner for region in op.regions for inner in region.blocks]:
                        self.run(inner, mine)
                        self.casts = mine

    def _category(self, op: RelayOp) -> Precision:
        rule = precision_rule(type(op))
        known = op.precision() if rule is None else rule(op, dtype_name(self.short))
        if known is None:
            if self.missing_op_mode == 0:
                hint = "the class says so by `PRECISION`; missing-op-mode=1 takes it for FOLLOW"
                raise Diagnostic.at(op, f"it is not known whether {op.name} can be computed in short floats", hint=hint)
            if self.missing_op_mode == 1:
                remarks.missed(NAME, op, "its class does not say of which kind it is: taken for FOLLOW")
        return known or Precision.FOLLOW

    def _convert(self, op: RelayOp) -> None:
        category = self._category(op)
        elements = [type.element_type for type in tensors_in(*op.operand_types)]
        foreign = any(isinstance(each, AnyFloat) and each not in (f32, self.short) for each in elements)
        if category is Precision.FOLLOW:
            short = isinstance(op, CastOp)  # which asks for all that the operand has
            ready = all(self._is_ready(value, already=short) for value in op.operands)
            category = Precision.ALWAYS if ready else Precision.NEVER
        if category is Precision.ALWAYS and not foreign and self._shorten(op):
            return
        operands = [self._cast(value, self.original.get(value, value.type), op) for value in op.operands]
        if any(new is not old for new, old in zip(operands, op.operands, strict=True)):
            for index, operand in enumerate(operands):
                op.operands[index] = operand

    def _is_ready(self, value: SSAValue, *, already: bool) -> bool:
        """Whether a value is of short floats, or one to be converted: a constant, or an argument."""
        elements = [type.element_type for type in tensors_in(value.type)]
        short = all(not isinstance(each, AnyFloat) or each == self.short for each in elements)
        return short or (not already and (isinstance(value, BlockArgument) or isinstance(value.owner, ConstantOp)))

    def _shorten(self, op: RelayOp) -> bool:
        """Put an operator on short floats in the place of `op`; return whether there is one."""
        mark = op.prev_op
        known = dict(self.casts)
        operands = [self._cast(value, self._shortened(value.type), op) for value in op.operands]
        properties: dict[str, Value] = dict(op.properties)
        gives_floats = any(type.element_type == f32 for type in tensors_in(*op.result_types))
        for name in ("out_dtype", "dtype"):
            told = name == "out_dtype" or isinstance(op, ZerosOp | OnesOp | FullOp)
            if told and gives_floats and isinstance(op.properties.get(name), StringAttr):
                properties[name] = dtype_name(self.short)
        new: RelayOp | None = None
        try:
            new = type(op)(*operands, **properties)
            new.verify_()
        except VerifyException as error:
            remarks.missed(NAME, op, f"it cannot be computed in {self.short}: {error}")
            if new is not None:
                new.erase()
            self.casts.clear()
            self.casts.update(known)
            self._drop_since(mark, op)
            return False
        self._retype(op, new)
        return True

    def _drop_since(self, mark: Operation | None, op: Operation) -> None:
        while (last := op.prev_op) is not None and last is not mark:
            last.detach()
            last.erase()

    def _retype(self, op: Operation, new: Operation) -> None:
        """Let `new` take the place of `op` if it has other operands, properties or results."""
        same = [a.type for a in op.results] == [b.type for b in new.results]
        if same and list(op.operands) == list(new.operands) and op.properties == new.properties:
            new.erase()
            return
        block = op.parent
        assert block is not None
        new.location = op.location
        block.insert_op_before(new, op)
        for old, result in zip(op.results, new.results, strict=True):
            result.name_hint = old.name_hint
            self.original[result] = self.original.pop(old, old.type)
            old.replace_all_uses_with(result)
        op.detach()
        op.erase()
        self.changed = True

    def _shortened(self, type: Attribute) -> Attribute:
        """A type with short floats for those of 32 bits."""
        if isinstance(type, TupleType):
            return tuple_type(*map(self._shortened, type.types))
        if isinstance(type, TensorType) and (given := tensor(cast(Attribute, type))).element_type == f32:
            return TensorType(self.short, given.get_shape())
        return cast(Attribute, type)

    def _cast(self, value: SSAValue, type: Attribute, at: Operation) -> SSAValue:
        """A value as one of another type, which differs in its floats only."""
        if value.type == type:
            return value
        if (value, type) in self.casts:
            return self.casts[value, type]
        if isinstance(type, TupleType):
            owner = value.owner
            fields: Sequence[SSAValue] = (
                owner.fields
                if isinstance(owner, TupleOp)
                else [self._insert(TupleGetOp(value, index), at) for index in range(len(type.types))]
            )
            new = self._insert(TupleOp(*(self._cast(f, t, at) for f, t in zip(fields, type.types, strict=True))), at)
        else:
            new = self._insert(CastOp(value, dtype=dtype_name(tensor(type).element_type)), at)
        self.casts[value, type] = new
        self.casts[new, value.type] = value
        return new

    def _insert(self, new: Operation, at: Operation) -> SSAValue:
        block = at.parent
        assert block is not None
        block.insert_op_before(new, at)
        new.location = at.location
        self.changed = True
        return new.results[0]
