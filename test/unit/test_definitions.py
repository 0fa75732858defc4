"""What definitions demand, taken apart, is what xDSL's whole check demands."""

import random
from collections.abc import Callable

import pytest
from xdsl.dialects import vector
from xdsl.dialects.builtin import (
    DenseArrayBase,
    Float32Type,
    IndexType,
    MemRefType,
    ModuleOp,
    StringAttr,
    VectorType,
    f32,
    f64,
    i32,
    i64,
)
from xdsl.dialects.test import TestOp as Values
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    opt_region_def,
    opt_successor_def,
    prop_def,
    region_def,
    var_operand_def,
    var_result_def,
)
from xdsl.utils.exceptions import VerifyException

from weft.dialects.support import operations
from weft.dialects.support.definitions import definition_check
from weft.dialects.support.verifier import find_failures

index = IndexType()


@irdl_op_definition
class SegmentedOp(IRDLOperation):
    """Operands of which an attribute says how many there are of each kind."""

    name = "test.segmented"
    first = operand_def(IndexType)
    some = var_operand_def(Float32Type)
    perhaps = opt_operand_def(IndexType)
    label = opt_prop_def(StringAttr)
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())


@irdl_op_definition
class VariadicOp(IRDLOperation):
    """One list of operands and one of results, regions of which one may lack, and perhaps a successor."""

    name = "test.variadic"
    first = operand_def(IndexType)
    some = var_operand_def(Float32Type)
    found = var_result_def(IndexType)
    body = region_def("single_block")
    other = opt_region_def("single_block")
    after = opt_successor_def()
    label = prop_def(StringAttr)


def refuses(check: Callable[[Operation], None], op: Operation) -> bool:
    try:
        check(op)
    except VerifyException:
        return True
    return False


TYPES: tuple[Attribute, ...] = (index, f32, i64)


def random_segmented(chooser: random.Random) -> Operation:
    sizes = [chooser.choice((0, 1, 1, 1, 2, -1)), chooser.randrange(3), chooser.choice((0, 1, 1, 2))]
    right = [index, *([f32] * max(sizes[1], 0)), *([index] * max(sizes[2], 0))]
    types = right if chooser.random() < 0.6 else chooser.choices(TYPES, k=chooser.randrange(4))
    element = chooser.choice((i32, i32, i32, i64))
    properties: dict[str, Attribute] = {}
    if chooser.random() < 0.9:
        properties["operandSegmentSizes"] = DenseArrayBase.from_list(element, sizes)
    if chooser.random() < 0.3:
        properties["label"] = chooser.choice((StringAttr("a"), index))
    if chooser.random() < 0.1:
        properties["unknown"] = index
    return SegmentedOp.create(operands=Values(result_types=types).results, properties=properties)


def random_variadic(chooser: random.Random) -> Operation:
    types = [index, *([f32] * chooser.randrange(3))] if chooser.random() < 0.6 else chooser.choices(TYPES, k=2)
    results = [index] * chooser.randrange(3) if chooser.random() < 0.7 else [f32]
    regions = [
        Region([Block() for _ in range(chooser.choice((1, 1, 1, 1, 1, 1, 0, 2)))])
        for _ in range(chooser.choice((1, 1, 2, 2, 0, 3)))
    ]
    return VariadicOp.create(
        operands=Values(result_types=types).results if chooser.random() < 0.9 else [],
        result_types=results,
        properties={"label": chooser.choice((StringAttr("a"), StringAttr("a"), StringAttr("a"), index))},
        regions=regions,
        successors=[Block() for _ in range(chooser.choice((0, 1, 1, 2)))],
    )


@pytest.mark.parametrize(("kind", "make"), [(SegmentedOp, random_segmented), (VariadicOp, random_variadic)])
def test_what_xdsl_refuses_is_refused_and_nothing_else(
    kind: type[IRDLOperation], make: Callable[[random.Random], Operation]
) -> None:
    definition = kind.get_irdl_definition()
    check, chooser = definition_check(definition), random.Random(1)
    found = [refuses(definition.verify, op) == refuses(check, op) for op in (make(chooser) for _ in range(400))]
    assert all(found)
    refused = sum(refuses(check, op) for op in (make(chooser) for _ in range(400)))
    assert 20 < refused < 380


@operations.irdl_op_definition
class QuickOp(IRDLOperation):
    """The operands of `SegmentedOp`."""

    name = "test.quick"
    first = operand_def(IndexType)
    some = var_operand_def(Float32Type)
    perhaps = opt_operand_def(IndexType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)


@pytest.mark.parametrize(("some", "perhaps"), [(0, 0), (2, 0), (0, 1), (3, 1)])
def test_operands_of_a_quickly_defined_operation_are_those_that_xdsl_gives(some: int, perhaps: int) -> None:
    values = Values(result_types=[index, *([f32] * some), *([index] * perhaps)]).results
    sizes = {"operandSegmentSizes": DenseArrayBase.from_list(i32, [1, some, perhaps])}
    ours = QuickOp.create(operands=values, properties=sizes)
    xdsls = SegmentedOp.create(operands=values, properties=sizes)
    assert (ours.first, tuple(ours.some), ours.perhaps) == (xdsls.first, tuple(xdsls.some), xdsls.perhaps)
    assert tuple(ours.some) == tuple(values[1 : 1 + some])


@pytest.mark.parametrize(("element", "indices", "right"), [(f32, 1, True), (f64, 1, False), (f32, 2, False)])
def test_an_access_to_a_vector_suits_its_buffer(element: Attribute, indices: int, right: bool) -> None:
    source = Values(result_types=[MemRefType(f32, [8]), index, VectorType(element, [4])])
    base, at, value = source.results
    load = vector.LoadOp(base, [at] * indices, VectorType(element, [4]))
    store = vector.StoreOp(value, base, [at] * indices)
    module = ModuleOp([source, load, store])
    assert len(find_failures(module)) == (0 if right else 2)
