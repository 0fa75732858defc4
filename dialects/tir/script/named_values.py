"""Which values of a block's body have names in its text, and in its tree: `x: T.float32 = ...`.

One that is used several times has, unless it is a constant, an index that short arithmetic gives, or an element that
can be read again. So has an element that is read before it is written and used after that, and a choice in which such
an element is read.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from ...support.interned import index
from ...support.walking import in_order
from ..affine import Range, affine_of, over_dimensions
from ..blocks import BlockOp
from ..calls import CallOp
from ..checks import CheckOp
from ..integers import value_range
from ..symbols import as_affine, greatest

MANY = 16
"""More operations than are written out again for each of several uses."""

FLOAT_PREDICATES = ("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true")  # fmt: skip  # noqa: E501
INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")


class NamedValues:
    """The values of the body or the init of one block that have names: `named`."""

    def __init__(self, block: BlockOp, region: Region):
        self.block = block
        self.dims: dict[SSAValue, AffineExpr] = over_dimensions(region.block.args)
        self.ranges: dict[SSAValue, Range] = {
            v: (0, max(greatest(as_affine(extent)) - 1, 0))
            for v, extent in zip(region.block.args, block.sizes, strict=True)
        }
        self.order = {op: number for number, op in enumerate(in_order(region))}
        self.named = self._named()

    def affine(self, value: SSAValue) -> AffineExpr | None:
        """What an index is over the iterators, where it is affine."""
        return affine_of(value, self.dims) if value.type == index else None

    def is_without_sign(self, op: arith.FloorDivSIOp | arith.DivUIOp | arith.RemUIOp) -> bool:
        """Whether `//` and `%` mean operations without a sign here."""
        positive = isinstance(op.rhs.owner, arith.ConstantOp) and not is_constant(op.rhs, (0,), below=True)
        return op.lhs.type == index and positive and value_range(op.lhs, self.ranges)[0] >= 0

    def is_read_for_nothing(self, op: Operation) -> bool:
        """Whether `op` has a result that nothing uses, and elements are read for it: such a statement says
        what the block reads, and no more."""
        if len(op.results) != 1 or op.results[0].uses:
            return False
        pending: list[Operation] = [op]
        while pending:
            each = pending.pop()
            if any(isinstance(inner, memref.LoadOp | CallOp) for inner in each.walk()):
                return True
            pending += [v.owner for v in each.operands if isinstance(v.owner, Operation) and v not in self.named]
        return False

    def _named(self) -> set[SSAValue]:
        named: set[SSAValue] = set()
        for op in self.order:
            if not self._is_statement_level(op):
                continue
            if isinstance(op, CheckOp):
                named.add(op.result)
            for result in op.results:
                if len(list(result.uses)) > 1 and not self._is_cheap(result):
                    named.add(result)
        stores: dict[SSAValue, list[int]] = {}
        for op in self.order:
            if isinstance(op, memref.StoreOp):
                stores.setdefault(op.memref, []).append(self.order[op])
            elif isinstance(op, CallOp):
                if not op.is_pure and any(r.uses for r in op.results):
                    named |= set(op.results) | set(self._expression(op).results)
                for buffer, effect in op.buffers:
                    if effect.writes:
                        stores.setdefault(buffer, []).append(self.order[op])
        loops = [(self.order[op], self._end(op)) for op in self.order if isinstance(op, scf.WhileOp)]
        for op in self.order:
            if isinstance(op, memref.LoadOp) and op.memref in stores:
                whole = self._expression(op)
                if not self._is_statement_level(whole):
                    continue
                for result in whole.results:
                    last = max(self._roots(result, named), default=-1)
                    # in a loop that begins after the load, what stands behind the last use comes before it, too
                    last = max([last, *(end for begin, end in loops if self.order[op] < begin < last)])
                    if any(self.order[op] < store < last for store in stores[op.memref]):
                        named.add(result)
        return named

    def _expression(self, op: Operation) -> Operation:
        """The outermost branch with results that `op` stands in, which is an expression; else `op` itself."""
        whole, parent = op, op.parent_op()
        while parent is not None and parent is not self.block:
            if isinstance(parent, scf.IfOp) and parent.results:
                whole = parent
            parent = parent.parent_op()
        return whole

    def _end(self, loop: scf.WhileOp) -> int:
        """The number of the last operation in a loop."""
        return max((self.order[op] for region in loop.regions for op in in_order(region)), default=self.order[loop])

    def _is_statement_level(self, op: Operation) -> bool:
        """Whether `op` stands among statements, and not in a branch that is an expression."""
        parent = op.parent_op()
        while isinstance(parent, scf.IfOp | scf.WhileOp):
            if parent.before_region.is_ancestor(op) if isinstance(parent, scf.WhileOp) else parent.results:
                return False
            parent = parent.parent_op()
        return parent is self.block

    def _is_cheap(self, value: SSAValue) -> bool:
        """Whether a value may be written out wherever it is used."""
        if isinstance(value, BlockArgument) or self.affine(value) is not None:
            return True
        match value.owner:
            case arith.ConstantOp():
                return True
            case memref.LoadOp() as load:
                return all(self.affine(each) is not None for each in load.indices)
            case arith.IndexCastOp() as cast:
                return self._is_cheap(cast.input) or self._is_place(value)
            case _:
                return self._is_place(value)

    def _is_place(self, value: SSAValue) -> bool:
        """Whether a value without a name is an index, in one list of statements, that short arithmetic gives."""
        if value.type != index or value.name_hint is not None or not isinstance(owner := value.owner, Operation):
            return False
        if any(use.operation.parent is not owner.parent for use in value.uses):
            return False
        pending, seen = [value], 0
        while pending and seen <= MANY:
            each = pending.pop().owner
            if isinstance(each, Operation):
                if not each.name.startswith("arith."):
                    return False
                pending += each.operands
                seen += 1
        return seen <= MANY

    def _roots(self, value: SSAValue, named: set[SSAValue]) -> list[int]:
        """Where the statements stand that a value is part of."""
        found: list[int] = []
        pending, seen = [value], {value}
        while pending:
            for use in pending.pop().uses:
                user = use.operation
                if isinstance(user, scf.YieldOp):
                    parent = user.parent_op()
                    assert parent is not None
                    user = parent
                results = list(user.results)
                if not results or any(result in named for result in results):
                    found.append(self.order.get(user, -1))
                    continue
                for result in results:
                    if result not in seen:
                        seen.add(result)
                        pending.append(result)
        return found


def is_constant(value: SSAValue, wanted: Sequence[int], below: bool = False) -> bool:
    """Whether a value is one of the constants, or `below` the first."""
    op = value.owner
    if not isinstance(op, arith.ConstantOp) or not isinstance(op.value, IntegerAttr):
        return False
    data = op.value.value.data
    return data in wanted or (below and data < wanted[0])
