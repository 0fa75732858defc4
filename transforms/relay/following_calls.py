"""Which kernel calls can follow one another in one graph: those whose extents follow from what the graph takes.

A call does not where it is told something that the graph itself computes of data, without a bound: `dyn.tile` so often
as an element says; or where it needs extents to be equal that data decides. As the first of another graph it does: what
it is told is an input then, and is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from xdsl.ir import Operation, SSAValue

from ...dialects.relay.base import RelayOp, flatten_types, is_dynamic, tensor
from ...dialects.relay.core import CallOp, ConstantOp, FuncOp, TupleGetOp, TupleOp
from ...dialects.relay.extents import Extents, Known, unknown
from ...dialects.relay.graph_arguments import graph_symbols
from ...dialects.relay.scan import ScanOp
from ...dialects.relay.telling import is_telling, told_inputs
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.te.dims import told_var


def says_extents(function: FuncOp) -> bool:
    """Whether a kernel is told what extents its results have, or makes what others are told."""
    ops = [op for op in function.body.block.ops if isinstance(op, RelayOp)]
    return any(op.SAYS_EXTENT or op.told_extents() for op in ops)


class FollowingCalls:
    """The calls of one graph, as they are added to it."""

    def __init__(self, kernels: Mapping[str, FuncOp], graph: FuncOp | None = None):
        """`graph` is the function whose arguments, by their names, the graph takes."""
        self._kernels = kernels
        self._extents = Extents()
        if graph is not None:
            dims = iter(graph_symbols(graph)[1])
            for argument in graph.body.block.args:
                known = [Known(next(dims)) for _ in flatten_types([argument.type])]
                self._extents.known[argument] = _telling(argument, known)

    def add(self, call: CallOp | ScanOp) -> bool:
        """Whether a call of a kernel, or a scan, follows those that were added, which it is one of then. Of a graph
        that one did not follow nothing more is known."""
        if isinstance(call, ScanOp):
            return self._add_scan(call)
        kernel = self._kernels[call.callee.root_reference.data]
        extents = self._extents
        compared = len(extents.others)
        try:
            for value in call.arguments:
                self._know(value)
            given = [each for value in call.arguments for each in extents.of(value)]
            extents.enter(call, kernel)
        except Diagnostic:
            return False
        if len(extents.others) > compared:
            return False  # elements may say these extents, which are compared when it runs
        told = [given[number].contents for number in told_inputs(kernel)]
        return all(held is not None and None not in held for held in told)

    def _add_scan(self, scan: ScanOp) -> bool:
        compared = len(self._extents.others)
        try:
            for value in scan.operands:
                self._know(value)
            self._extents.add(scan)
        except Diagnostic:
            return False
        return len(self._extents.others) == compared

    def _know(self, value: SSAValue) -> None:
        """Find out about what a call takes."""
        if value in self._extents.known:
            return
        match value.owner:
            case TupleOp() | TupleGetOp() if any(self._is_known(each) for each in value.owner.operands):
                for operand in value.owner.operands:
                    self._know(operand)
                self._extents.add(value.owner)
            case ConstantOp():
                self._extents.add(value.owner)
            case _:
                self._extents.known[value] = _given(value)

    def _is_known(self, value: SSAValue) -> bool:
        """Whether a value is made of what calls of the graph give, or of constants."""
        if value in self._extents.known:
            return True
        owner = value.owner
        if isinstance(owner, TupleOp | TupleGetOp):
            return any(map(self._is_known, owner.operands))
        return isinstance(owner, ConstantOp)


def _given(value: SSAValue) -> list[Known]:
    """What is known of an input: each `?` of its type is a symbol of its own, and each element that may be one."""
    return _telling(value, unknown(flatten_types([value.type]), value.name_hint or "given"))


def _telling(value: SSAValue, known: list[Known]) -> list[Known]:
    """The same, with the elements of what may say extents."""
    if not is_telling(value.type):
        return known
    numbers = tuple(told_var(f"element_{place}") for place in range(prod(tensor(value).get_shape())))
    return [Known(known[0].dims, numbers)]


def is_cut(function: FuncOp, kernels: Mapping[str, FuncOp]) -> bool:
    """Whether some calls of a function without branches do not follow those before them, but can begin anew."""
    calls = [op for op in function.body.block.ops if isinstance(op, CallOp | ScanOp)]
    opened = [call for call in calls if isinstance(call, CallOp) and _is_open(call)]
    if not any(says_extents(kernels[call.callee.root_reference.data]) for call in opened):
        return False
    graph = FollowingCalls(kernels, function)
    for number, call in enumerate(calls):
        if not graph.add(call):
            return number > 0 and FollowingCalls(kernels).add(call)
    return False


def _is_open(op: Operation) -> bool:
    return any(is_dynamic(value.type) for value in (*op.operands, *op.results))
