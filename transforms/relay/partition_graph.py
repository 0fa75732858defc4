"""Make a function of every region for another compiler, and call it.

    %0 = relay.annotation.compiler_begin %x {compiler = "test"}
    %1 = relay.nn.relu %0                                       %2 = relay.call @tvmgen_default_test_main_0(%x)
    %2 = relay.annotation.compiler_end %1 {compiler = "test"} ->
                                                                relay.func private @tvmgen_default_test_main_0(...)
                                                                  attributes {Compiler = "test", primitive, ...}

A value that enters several times is one parameter, one that leaves several times one result; of tuples the fields
leave.
Constants become part of the function, unless `bind-constants=false`. The backend of that name, if there is one, may
change the function (`Backend.optimize`). Bounds for `default` are dropped.

Names are TVM's: `tvmgen`, the name of the module, the compiler, the function, the number of the region.

Counterpart of TVM's `PartitionGraph`; where that gives a tuple, a function has several results here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...dialects.relay.core import CallOp, ConstantOp, FuncOp, ReturnOp, TupleOp
from ...dialects.relay.functions import COMPILER
from ...dialects.relay.ops.annotation import CompilerBeginOp, CompilerEndOp
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.unique_names import unique_symbols
from ..infra import ModulePass, report_changed
from ..infra.walk import clone, erase
from .backends import backends
from .compiler_regions.order import expression_order, reorder, sorted_by_definitions
from .compiler_regions.regions import (
    DEFAULT,
    CompilerRegion,
    CompilerRegions,
    beyond_bounds,
    bounds,
    drop_bound,
    partitionable,
)
from .dataflow.pattern import defining_op


@dataclass(frozen=True)
class PartitionGraphPass(ModulePass):
    """Regions between `compiler_begin` and `compiler_end` -> functions with `Compiler`, and calls of them."""

    name = "partition-graph"
    required: ClassVar[tuple[str, ...]] = ("infer-type",)
    tvm_name: ClassVar[str | None] = "PartitionGraph"

    mod_name: str = "default"
    """Part of the functions' names."""

    bind_constants: bool = True
    """Put constants that enter a region into its function."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """
        Raises:
            Diagnostic: regions are not bounded as they should be, or wait for one another.
        """
        names = unique_symbols(op)
        changed = False
        for function in [f for f in op.ops if isinstance(f, FuncOp) and partitionable(f)]:
            changed |= bool(bounds(function))
            _flatten_tuples(function)
            for bound in bounds(function):
                if bound.compiler.data == DEFAULT:
                    drop_bound(bound)
            for region in CompilerRegions(function):
                name = names.new(self._name(region, function))
                made = _function_of(region, name, self.bind_constants)
                op.body.block.add_op(made)
                if (backend := backends().get(region.target)) is not None:
                    backend.optimize(made)
        report_changed(changed)

    def _name(self, region: CompilerRegion, function: FuncOp) -> str:
        parts = ("tvmgen", self.mod_name, region.target, function.sym_name.data, str(region.number))
        return _plain("_".join(filter(None, parts)))


def _flatten_tuples(function: FuncOp) -> None:
    """Have the fields of a tuple leave a region in its place."""
    for end in [bound for bound in bounds(function) if isinstance(bound, CompilerEndOp)]:
        made = defining_op(end.data)
        if not isinstance(made, TupleOp):
            continue
        block = end.parent
        assert block is not None
        fields: list[SSAValue] = []
        for field in made.fields:
            block.insert_op_before(each := CompilerEndOp(field, compiler=end.compiler), end)
            each.location = end.location
            fields.append(each.result)
        block.insert_op_before(outside := TupleOp(*fields), end)
        outside.location = made.location
        end.result.replace_all_uses_with(outside.result)
        erase(end)
        if made.result.first_use is None:
            erase(made)


def _function_of(region: CompilerRegion, name: str, bind_constants: bool) -> FuncOp:
    """The function of a region, which is called in the region's place."""
    order = [op for op in expression_order(region.block) if op in region.ops]
    body = Block()
    values: dict[SSAValue, SSAValue] = {}
    parameters: dict[SSAValue, SSAValue] = {}
    arguments: list[SSAValue] = []
    bound: list[SSAValue] = []
    for op in order:
        if isinstance(op, CompilerEndOp):
            continue
        if isinstance(op, CompilerBeginOp):
            source = beyond_bounds(op.data)
            if source not in parameters:
                if bind_constants and _is_constant(source):
                    parameters[source] = _copied(source, body)
                    bound.append(source)
                else:
                    argument = body.insert_arg(op.result.type, len(body.args))
                    argument.name_hint = f"{_plain(region.target)}_{region.number}_i{region.inputs.index(op)}"
                    argument.location = op.location
                    arguments.append(op.data)
                    parameters[source] = argument
            values[op.result] = parameters[source]
            continue
        for operand in op.operands:
            if operand not in values:  # a constant, which need not enter
                values[operand] = _copied(operand, body)
        body.add_op(copy := clone(op, values))
        values.update(zip(op.results, copy.results, strict=True))
    results = list(dict.fromkeys(end.data for end in region.outputs))
    body.add_op(ReturnOp(*(values[result] for result in results)))
    type = FunctionType.from_lists([a.type for a in body.args], [r.type for r in results])
    marks: dict[str, Attribute] = {"global_symbol": StringAttr(name), COMPILER: StringAttr(region.target)}
    marks |= {"Inline": UnitAttr(), "primitive": UnitAttr()}
    function = FuncOp(name, type, Region(body), private=True, attributes=marks)
    function.location = region.outputs[0].location if region.outputs else order[0].location
    _call(region, order, name, arguments, results)
    for value in bound:
        _drop_unused(value)
    return function


def _plain(name: str) -> str:
    """A name of letters, digits and underscores."""
    return re.sub(r"[^A-Za-z0-9_]", "_", name)


def _is_constant(value: SSAValue) -> bool:
    made = defining_op(value)
    if isinstance(made, TupleOp):
        return all(isinstance(defining_op(field), ConstantOp) for field in made.fields)
    return isinstance(made, ConstantOp)


def _copied(value: SSAValue, body: Block) -> SSAValue:
    """A constant, or a tuple of constants, once more."""
    made = defining_op(value)
    assert made is not None
    fields: dict[SSAValue, SSAValue] = {operand: _copied(operand, body) for operand in made.operands}
    body.add_op(copy := clone(made, fields))
    return copy.results[0]


def _drop_unused(value: SSAValue) -> None:
    """Erase a constant, or a tuple of constants, that nothing uses any more."""
    made = defining_op(value)
    if made is not None and value.first_use is None:
        operands = list(made.operands)
        erase(made)
        for operand in operands:
            _drop_unused(operand)


def _call(
    region: CompilerRegion, order: list[Operation], name: str, arguments: list[SSAValue], results: list[SSAValue]
) -> None:
    """Put a call in the place of a region's operations."""
    call = CallOp(name, arguments, [result.type for result in results])
    call.location = order[-1].location
    region.block.insert_op_before(call, order[-1])
    new = dict(zip(results, call.results, strict=True))
    for end in region.outputs:
        new[end.data].name_hint = new[end.data].name_hint or end.result.name_hint or end.data.name_hint
        end.result.replace_all_uses_with(new[end.data])
    for op in dict.fromkeys((*order, *region.outputs)):  # some of which stand in branches
        if isinstance(op, CompilerEndOp):
            erase(op)
    for op in reversed(order):
        if not isinstance(op, CompilerEndOp):
            erase(op)
    allowed = sorted_by_definitions(region.block)
    if allowed is None:
        raise Diagnostic.at(
            call,
            f"a region of '{region.target}' needs a value that needs one of its results",
            hint="bound its parts apart, as merge-compiler-regions does",
        )
    reorder(region.block, allowed)
