"""Operations made at random from the definitions of their classes, whatever they mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, cast

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    Float32Type,
    FloatAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    VectorType,
    f32,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.dialects.utils import BitEnumAttribute, EnumAttribute
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.ir.affine import AffineMap
from xdsl.irdl import (
    AttrSizedOperandSegments,
    AttrSizedResultSegments,
    OpDef,
    OptAttributeDef,
    OptionalDef,
    OptPropertyDef,
    RangeConstraint,
    VariadicDef,
    VerificationContext,
)

SCALARS: Sequence[Attribute] = (f32, i32, i64, i1, IndexType())
VECTORS: Sequence[Attribute] = tuple(VectorType(element, [4]) for element in (f32, i32, i1))
BUFFERS: Sequence[Attribute] = (MemRefType(f32, [8]), MemRefType(f32, [4, 4]), MemRefType(i8, [64]))
TENSORS: Sequence[Attribute] = (TensorType(f32, [8]), TensorType(i32, [8]), TensorType(f32, [4, 4]), TensorType(i1, []))
ATTRIBUTES: Sequence[Attribute] = (
    UnitAttr(),
    *(StringAttr(each) for each in ("k", "llvm", "add", "global", "shared", "serial", "c", "s8s8", "packed")),
    *(IntegerAttr(1, type) for type in (i64, i32, IndexType())),
    IntegerAttr(0, i1),
    FloatAttr(1.0, f32),
    SymbolRefAttr("k"),
    ArrayAttr([]),
    ArrayAttr([IntegerAttr(1, i64)]),
    *(DenseArrayBase.from_list(type, [1]) for type in (i64, i32)),
    DenseArrayBase.from_list(i64, []),
    FunctionType.from_lists([], []),
    AffineMapAttr(AffineMap.identity(1)),
    DictionaryAttr({}),
    DenseIntOrFPElementsAttr.from_list(VectorType(f32, [4]), [1.0] * 4),
    llvm.LLVMFunctionType([]),
    *SCALARS,
    *VECTORS,
    *BUFFERS,
)


class NotMadeError(Exception):
    """A class asks for what was not hit upon."""


class Maker:
    """Makes operations over some types; `terminators` end the regions of a dialect's operations."""

    def __init__(self, types: Sequence[Attribute], terminators: Mapping[str, Sequence[type[Operation]]]):
        self.types = types
        self.terminators = terminators
        self.fitting: dict[tuple[bool, int], tuple[object, Sequence[Attribute]]] = {}

    def make(self, kind: type[Operation], tries: int = 8) -> Operation | None:
        """An operation that its class takes, at the end of a block whose arguments it is given."""
        random = Random(kind.name)
        if not hasattr(kind, "get_irdl_definition"):
            return None
        for _ in range(tries):
            try:
                return self._make(kind, random)
            except Exception:  # what a class raises of what it cannot be
                continue
        return None

    def _pick(self, constraint: Any, types: bool, context: VerificationContext, random: Random) -> Attribute:
        while isinstance(constraint, RangeConstraint):
            inner = cast("Any", constraint)
            constraint = getattr(inner, "constraint", None) or inner.constr
        key = types, id(constraint)
        if key not in self.fitting:
            self.fitting[key] = constraint, self._fitting(constraint, types)
        fitting = self.fitting[key][1]
        for each in random.sample(fitting, len(fitting)):
            if _takes(constraint, each, context):
                return each
        raise NotMadeError

    def _fitting(self, constraint: Any, types: bool) -> Sequence[Attribute]:
        found: list[Any] = [each for each in (self.types if types else ATTRIBUTES) if _takes(constraint, each)]
        for base in () if found else constraint.get_bases() or ():
            if issubclass(base, BitEnumAttribute):
                found.append(base("none"))
            elif issubclass(base, EnumAttribute):
                found += [base(each) for each in cast("Any", base).enum_type]
        return found

    def _make(self, kind: type[Operation], random: Random) -> Operation:
        definition: OpDef = cast("Any", kind).get_irdl_definition()
        context = VerificationContext()
        parts: list[tuple[list[Attribute], list[int]]] = []
        for defs in (definition.operands, definition.results):
            types, sizes = list[Attribute](), list[int]()
            for _, each in defs:
                most = 1 if isinstance(each, OptionalDef) else 2
                sizes.append(random.randint(0, most) if isinstance(each, VariadicDef) else 1)
                types += [self._pick(each.constr, True, context, random) for _ in range(sizes[-1])]
            parts.append((types, sizes))
        (operands, operand_sizes), (results, result_sizes) = parts
        named: dict[bool, dict[str, Attribute]] = {True: {}, False: {}}
        for option in definition.options:
            if isinstance(option, AttrSizedOperandSegments | AttrSizedResultSegments):
                sizes = operand_sizes if isinstance(option, AttrSizedOperandSegments) else result_sizes
                named[option.as_property][option.attribute_name] = DenseArrayBase.from_list(i32, sizes)
        for is_property, wanted in ((True, definition.properties), (False, definition.attributes)):
            for name, each in wanted.items():
                if name in named[is_property] or (
                    isinstance(each, OptPropertyDef | OptAttributeDef) and random.random() < 0.8
                ):
                    continue
                named[is_property][name] = self._pick(each.constr, False, context, random)
        block = Block(arg_types=operands)
        op = kind.create(
            operands=list(block.args),
            result_types=results,
            properties=named[True],
            attributes=named[False],
            regions=[self._region(kind, random) for _ in definition.regions],
            successors=[Block() for _ in definition.successors],
        )
        block.add_op(op)
        op.verify_()
        return op

    def _region(self, kind: type[Operation], random: Random) -> Region:
        block = Block(arg_types=random.choice([[], [IndexType()], [f32], [f32, f32]]))
        ends = self.terminators.get(kind.name.split(".")[0], ())
        if ends:
            end = random.choice(ends)
            wants = len(cast("Any", end).get_irdl_definition().operands) > 0
            block.add_op(end.create(operands=list(block.args[:1]) if wants and random.random() < 0.5 else []))
        return Region(block)


def _takes(constraint: Any, each: Attribute, context: VerificationContext | None = None) -> bool:
    try:
        constraint.verify(each, context or VerificationContext())
    except Exception:  # a constraint may lean on what is not there
        return False
    return True


def constant(type: Attribute) -> Operation:
    """An operation that gives some value of a type of `SCALARS` or `VECTORS`."""
    number = 1.0 if isinstance(type, Float32Type) else 1
    if isinstance(type, Float32Type):
        return arith.ConstantOp(FloatAttr(number, type))
    if type in (i32, i64, i1, IndexType()):
        return arith.ConstantOp(IntegerAttr(1, cast("Any", type)))
    assert isinstance(type, VectorType)
    element = cast("VectorType[Any]", type).element_type
    values = [1.0 if isinstance(element, Float32Type) else 1] * 4
    return arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(cast("Any", type), values))
