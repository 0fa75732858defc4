"""Rules for func, scf and cf: structured control flow becomes blocks of the llvm dialect.

A loop is tested at its end, where its latch carries the loop's annotation; a test in front is made only where the
bounds do not show that the loop runs at all:

    scf.for %i = %lb to %ub step %s        %enter = llvm.icmp "slt" %lb, %ub
    { body }                          ->   llvm.cond_br %enter, ^body(%lb), ^exit
                                         ^body(%i): body
                                           %next = llvm.add %i, %s overflow<nsw>
                                           %more = llvm.icmp "slt" %next, %ub
                                           llvm.cond_br %more, ^body(%next), ^exit {loop_annotation = ...}
                                         ^exit:

Where steps are of 1 and only vectors are stored, the test is whether `%next` is another number than `%ub`, so that
any number that goes along with it may take the place of `%i`. Where LLVM has vectors to make of scalars itself, the
order tells it how far `%i` goes.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import cf, func, llvm, scf
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerAttr, SymbolRefAttr, i1, i32, i64
from xdsl.ir import Attribute, SSAValue

from ...dialects.extensions.llvm_loop_annotation import LOOP_ANNOTATION, LoopAnnotationAttr
from .fills import filled
from .function import OVERFLOW, FunctionLowering, Rules
from .types import VOID, LoweringError, value_type

RULES = Rules()

_NE: dict[str, Attribute] = {"predicate": IntegerAttr(1, i64)}
_SLT: dict[str, Attribute] = {"predicate": IntegerAttr(2, i64)}


def result_type(types: Sequence[Attribute]) -> Attribute:
    """What a function with these results returns in the llvm dialect: nothing, a value, or a struct of values."""
    if not types:
        return VOID
    lowered = [value_type(type) for type in types]
    return lowered[0] if len(lowered) == 1 else llvm.LLVMStructType.from_type_list(lowered)


@RULES.rule(func.ReturnOp)
def return_rule(lowering: FunctionLowering, op: func.ReturnOp) -> None:
    values = lowering.get_all(op.operands)
    if len(values) > 1:
        struct = result_type([value.type for value in op.operands])
        packed = lowering.add(llvm.UndefOp, (), struct)
        for position, value in enumerate(values):
            properties = {"position": DenseArrayBase.from_list(i64, [position])}
            packed = lowering.add(llvm.InsertValueOp, (packed, value), struct, properties)
        values = [packed]
    lowering.add_op(llvm.ReturnOp.create(operands=values))


@RULES.rule(func.CallOp)
def call_rule(lowering: FunctionLowering, op: func.CallOp) -> None:
    types = [result.type for result in op.results]
    returned = result_type(types)
    call = llvm.CallOp(
        SymbolRefAttr(op.callee.root_reference, ArrayAttr([])),
        *lowering.get_all(op.operands),
        return_type=None if not types else returned,
    )
    lowering.add_op(call)
    if len(types) == 1:
        lowering.set(op.results[0], call.results[0])
    for position, result in enumerate(op.results if len(types) > 1 else ()):
        properties = {"position": DenseArrayBase.from_list(i64, [position])}
        value = lowering.add(llvm.ExtractValueOp, (call.results[0],), value_type(result.type), properties)
        lowering.set(result, value)


@RULES.rule(scf.ForOp)
def for_rule(lowering: FunctionLowering, op: scf.ForOp) -> None:
    first, end, step = (lowering.static(value) for value in (op.lb, op.ub, op.step))
    if step is not None and step <= 0:
        raise LoweringError(op, f"the step is {step}; it must be positive")
    trips = None if first is None or end is None or step is None else max(0, -((first - end) // step))
    initial = [lowering.get(value) for value in op.iter_args]
    if trips == 0:
        _set_all(lowering, op.results, initial)
    elif trips == 1:
        for argument, value in zip(op.body.block.args, (op.lb, *op.iter_args), strict=True):
            lowering.alias(argument, value)
        _set_all(lowering, op.results, lowering.get_all(lowering.lower(op.body.block).operands))
    else:
        _lower_loop(lowering, op, initial, trips, counts_up_from_zero=first is not None and first >= 0)


def _lower_loop(
    lowering: FunctionLowering, op: scf.ForOp, initial: list[SSAValue], trips: int | None, counts_up_from_zero: bool
) -> None:
    first, end, step = lowering.get_all((op.lb, op.ub, op.step))
    types = [value.type for value in initial]
    body, after = lowering.new_block([first.type, *types]), lowering.new_block(types)
    if trips is not None:
        lowering.branch(body, [first, *initial])
    else:
        enter = lowering.add(llvm.ICmpOp, (first, end), i1, _SLT)
        lowering.branch_if(enter, (body, [first, *initial]), (after, initial))
    lowering.begin_loop(body)
    _set_all(lowering, op.body.block.args, body.args)
    annotation = op.attributes.get(LOOP_ANNOTATION)
    group = annotation.hints().get("parallelAccesses") if isinstance(annotation, LoopAnnotationAttr) else None
    before, lowering.fills = lowering.fills, 0
    with lowering.in_group(group):
        carried = lowering.get_all(lowering.lower(op.body.block).operands)
    lowering.fills, annotation = filled(op, trips, lowering.fills, annotation)
    lowering.fills += before
    following = lowering.add(llvm.AddOp, (body.args[0], step), first.type, OVERFLOW[3 if counts_up_from_zero else 1])
    hits_end = lowering.static(op.step) == 1 and not lowering.stores_scalars
    more = lowering.add(llvm.ICmpOp, (following, end), i1, _NE if hits_end else _SLT)
    attributes = {} if annotation is None else {LOOP_ANNOTATION: annotation}
    lowering.branch_if(more, (body, [following, *carried]), (after, carried), attributes)
    lowering.end_loop(after)
    _set_all(lowering, op.results, after.args)


@RULES.rule(scf.IfOp)
def if_rule(lowering: FunctionLowering, op: scf.IfOp) -> None:
    known = lowering.static(op.cond)
    if known is not None:
        taken = op.true_region if known else op.false_region
        values = lowering.get_all(lowering.lower(taken.block).operands) if taken.blocks else []
        _set_all(lowering, op.results, values)
        return
    after = lowering.new_block([value_type(result.type) for result in op.results])
    then = lowering.new_block()
    otherwise = lowering.new_block() if op.false_region.blocks else after
    lowering.branch_if(lowering.get(op.cond), (then, ()), (otherwise, ()))
    for region, block in ((op.true_region, then), (op.false_region, otherwise)):
        if block is not after:
            lowering.start(block)
            lowering.branch(after, lowering.get_all(lowering.lower(region.block).operands))
    lowering.start(after)
    _set_all(lowering, op.results, after.args)


@RULES.rule(scf.WhileOp)
def while_rule(lowering: FunctionLowering, op: scf.WhileOp) -> None:
    before, after = op.before_region.block, op.after_region.block
    test = lowering.new_block([value_type(argument.type) for argument in before.args])
    body, end = (lowering.new_block([value_type(argument.type) for argument in after.args]) for _ in range(2))
    lowering.branch(test, lowering.get_all(op.arguments))
    lowering.start(test)
    _set_all(lowering, before.args, test.args)
    condition, *values = lowering.get_all(lowering.lower(before).operands)
    lowering.branch_if(condition, (body, values), (end, values))
    lowering.start(body)
    _set_all(lowering, after.args, body.args)
    lowering.branch(test, lowering.get_all(lowering.lower(after).operands))
    lowering.start(end)
    _set_all(lowering, op.results, end.args)


@RULES.rule(scf.ExecuteRegionOp)
def execute_region_rule(lowering: FunctionLowering, op: scf.ExecuteRegionOp) -> None:
    if len(op.region.blocks) != 1:
        raise LoweringError(op, "has more than one block")
    _set_all(lowering, op.results, lowering.get_all(lowering.lower(op.region.block).operands))


@RULES.rule(scf.IndexSwitchOp)
def index_switch_rule(lowering: FunctionLowering, op: scf.IndexSwitchOp) -> None:
    after = lowering.new_block([value_type(result.type) for result in op.results])
    selector = lowering.get(op.arg)
    for case, region in zip(op.cases.get_values(), op.case_regions, strict=True):
        equal = lowering.add(llvm.ICmpOp, (selector, lowering.integer(case)), i1, {"predicate": IntegerAttr(0, i64)})
        then, otherwise = lowering.new_block(), lowering.new_block()
        lowering.branch_if(equal, (then, ()), (otherwise, ()))
        lowering.start(then)
        lowering.branch(after, lowering.get_all(lowering.lower(region.block).operands))
        lowering.start(otherwise)
    lowering.branch(after, lowering.get_all(lowering.lower(op.default_region.block).operands))
    lowering.start(after)
    _set_all(lowering, op.results, after.args)


@RULES.rule(cf.BranchOp)
def branch_rule(lowering: FunctionLowering, op: cf.BranchOp) -> None:
    lowering.branch(lowering.blocks[op.successor], lowering.get_all(op.arguments))


@RULES.rule(cf.ConditionalBranchOp)
def conditional_branch_rule(lowering: FunctionLowering, op: cf.ConditionalBranchOp) -> None:
    then = lowering.blocks[op.then_block], lowering.get_all(op.then_arguments)
    otherwise = lowering.blocks[op.else_block], lowering.get_all(op.else_arguments)
    lowering.branch_if(lowering.get(op.cond), then, otherwise)


@RULES.rule(cf.AssertOp)
def assert_rule(lowering: FunctionLowering, op: cf.AssertOp) -> None:
    """Print the message and stop the process, as upstream does; what is printed is out before the process ends."""
    failed, after = lowering.new_block(), lowering.new_block()
    lowering.branch_if(lowering.get(op.arg), (after, ()), (failed, ()))
    lowering.start(failed)
    message = lowering.symbol_address(lowering.symbols.string(op.msg.data))
    lowering.call_runtime("puts", [message], i32)
    every_stream = lowering.add_op_with_result(llvm.ZeroOp.build(result_types=[llvm.LLVMPointerType()]))
    lowering.call_runtime("fflush", [every_stream], i32)
    lowering.call_runtime_procedure("abort", [])
    lowering.add_op(llvm.UnreachableOp.create())
    lowering.start(after)


def _set_all(lowering: FunctionLowering, values: Sequence[SSAValue], lowered: Sequence[SSAValue]) -> None:
    for value, new in zip(values, lowered, strict=True):
        lowering.set(value, new)
