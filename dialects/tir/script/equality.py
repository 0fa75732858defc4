"""Are two functions the same but for names? Loops, blocks, and what is computed in which order of writing.

What stands in an outer block is compared by what it does for the loops around, since its iterators may be cut in
several ways; so is a block whose iterators are loop variables, for which TVM has none. Expressions are compared as
trees: it is the same whether a subexpression is computed once or twice, and in which order values without effects are.
Indices are compared in affine normal form, and comparisons of them by what their difference is. What blocks declare to
read and write follows from their bodies, and is not compared; nor is what blocks are called, nor where among the
statements of its scope a buffer is allocated. Counterpart of TVM's `structural_equal`.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TypeAlias

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr

from ...support.arguments import checked
from ...support.dense import array_of
from ...support.differences import StructuralDifferenceError as StructuralDifferenceError
from ...support.walking import in_order
from ..affine import Range, affine_of, linear, over_dimensions, simplify, substitute
from ..asserts import AssertOp
from ..assumptions import AssumeOp
from ..blocks import BlockOp, iterator_ranges
from ..buffers import AllocBufferOp, shape_of
from ..calls import AddressOfOp, CallOp
from ..checks import CheckOp
from ..functions import PrimFuncOp
from ..loop_iterators import speaks_of_loops
from ..loops import ForOp, dimension_ranges, loop_range
from ..outer_blocks import OuterBlockOp
from ..symbols import is_symbol, product, quotient, remainder, replaced
from .printer import function_text

STATEMENTS = (ForOp, BlockOp, OuterBlockOp)
"""What is compared beside functions."""

Form: TypeAlias = "tuple[object, ...]"
"""A function, statement or expression as nested tuples, equal where they are the same."""


Compared: TypeAlias = PrimFuncOp | ModuleOp | ForOp | BlockOp | OuterBlockOp


@checked
def structural_equal(lhs: Compared, rhs: Compared) -> bool:
    """Whether two functions, modules of functions, loops or blocks are the same but for names of values, and for that
    of an only function, which TVM calls `main` where it makes a module of it. What a loop or block uses from outside is
    told apart by the order in which it is used."""
    if isinstance(lhs, STATEMENTS) or isinstance(rhs, STATEMENTS):
        if not (isinstance(lhs, STATEMENTS) and isinstance(rhs, STATEMENTS)):
            return False
        return _FunctionForm().statement(lhs) == _FunctionForm().statement(rhs)
    if isinstance(lhs, PrimFuncOp) and isinstance(rhs, PrimFuncOp):
        return _FunctionForm().form(lhs) == _FunctionForm().form(rhs)
    return _by_name(lhs) == _by_name(rhs)


def function_form(func: PrimFuncOp) -> Form:
    """What a function is but for names: equal to that of another where the two are the same."""
    return _FunctionForm().form(func)


def _by_name(op: PrimFuncOp | ModuleOp) -> Mapping[str, object]:
    """The forms of functions by name; that of an only function, which may be called so whatever its name, by `main`."""
    functions = [op] if isinstance(op, PrimFuncOp) else [each for each in op.ops if isinstance(each, PrimFuncOp)]
    names = ["main"] if len(functions) == 1 else [func.sym_name.data for func in functions]
    return {name: _FunctionForm().form(func) for name, func in zip(names, functions, strict=True)}


@checked
def structural_hash(op: Compared) -> int:
    """A number that is the same for what `structural_equal` takes for the same."""
    if isinstance(op, STATEMENTS):
        return hash(_FunctionForm().statement(op))
    if isinstance(op, PrimFuncOp):
        return hash(_FunctionForm().form(op))
    return hash(frozenset(_by_name(op).items()))


@checked
def assert_structural_equal(lhs: Compared, rhs: Compared) -> None:
    """Raise a `StructuralDifferenceError` that shows where two functions, modules, loops or blocks differ, unless they
    are the same."""
    if structural_equal(lhs, rhs):
        return
    left, right = (_text(op).splitlines() for op in (lhs, rhs))
    difference = "\n".join(difflib.unified_diff(left, right, "lhs", "rhs", lineterm="", n=3))
    raise StructuralDifferenceError(f"the functions differ:\n{difference or 'in types, flags or attributes only'}")


def _text(op: Compared) -> str:
    if isinstance(op, STATEMENTS):
        return str(op)
    functions = [op] if isinstance(op, PrimFuncOp) else [each for each in op.ops if isinstance(each, PrimFuncOp)]
    return "\n".join(function_text(func) for func in functions)


def _attributes(attributes: Mapping[str, Attribute]) -> Form:
    return tuple((name, str(attributes[name])) for name in sorted(attributes))


def _normal(expr: AffineExpr, ranges: Mapping[AffineExpr, Range]) -> AffineExpr:
    """The normal form of an index, with one division in place of two, and 0 for what has no other value."""
    if unit := [dim for dim, (low, high) in ranges.items() if low == high == 0]:
        last = max((dim.position for dim in ranges if isinstance(dim, AffineDimExpr)), default=-1)
        dims = [AffineExpr.dimension(number) for number in range(max(last, *expr.used_dims(), -1) + 1)]
        zero = AffineExpr.constant(0)
        expr = substitute(expr, [zero if dim in unit else dim for dim in dims])
    return simplify(_flat(simplify(expr, ranges)), ranges)


def _flat(expr: AffineExpr) -> AffineExpr:
    """An expression without divisions of divisions, by what is positive: `(x mod (a * b)) floordiv b` is `(x floordiv
    b) mod a`, `(x mod (a * b)) mod b` is `x mod b`, and `(x floordiv a) floordiv b` is `x floordiv (a * b)`."""
    if not isinstance(expr, AffineBinaryOpExpr):
        return expr
    expr = AffineBinaryOpExpr(expr.kind, _flat(expr.lhs), _flat(expr.rhs))
    match expr:
        case AffineBinaryOpExpr(
            AffineBinaryOpKind.FloorDiv, AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, x, first), divisor
        ):
            return _flat(quotient(x, simplify(product(first, divisor))))
        case AffineBinaryOpExpr(outer, AffineBinaryOpExpr(AffineBinaryOpKind.Mod, x, first), divisor) if (
            times := _quotient(first, divisor)
        ) is not None:
            if outer is AffineBinaryOpKind.Mod:
                return _flat(remainder(x, divisor))
            return remainder(_flat(quotient(x, divisor)), times) if outer is AffineBinaryOpKind.FloorDiv else expr
        case _:
            return expr


def _quotient(number: AffineExpr, divisor: AffineExpr) -> AffineExpr | None:
    """How many times a divisor, which is positive, is in a number that is a multiple of it; `None` where it is none."""
    if isinstance(divisor, AffineConstantExpr) and divisor.value < 1:
        return None
    times = simplify(quotient(number, divisor))
    return times if linear(product(times, divisor)) == linear(number) else None


def _shape(buffer: SSAValue) -> str:
    """The extents of a buffer, those that are symbols by their numbers."""
    return "" if is_symbol(buffer) else str([str(extent) for extent in shape_of(buffer)])


class _FunctionForm:
    """The form of one function. Values from outside of blocks are known by the order in which they appear."""

    def __init__(self) -> None:
        self.numbers: dict[SSAValue, int] = {}

    def number(self, value: SSAValue) -> int:
        return self.numbers.setdefault(value, len(self.numbers))

    def form(self, func: PrimFuncOp) -> Form:
        arguments = tuple((self.number(a), str(a.type), _shape(a)) for a in func.region.block.args)
        return ("function", arguments, _attributes(func.attributes), self._statements(func.region.block))

    def _statements(self, block: Block) -> Form:
        """What is done, in order, and what is allocated for it; buffers have their numbers by first use."""
        done = [self.statement(op) for op in block.ops if not isinstance(op, AllocBufferOp)]
        allocated = [(self.number(op.buffer), self._alloc(op)) for op in block.ops if isinstance(op, AllocBufferOp)]
        return (*(form for _, form in sorted(allocated, key=lambda each: str(each[0]))), *done)

    def _alloc(self, op: AllocBufferOp) -> Form:
        shape, attributes = _shape(op.buffer), _attributes(op.attributes)
        data = None if op.value is None else array_of(op.value).tobytes()
        return ("alloc", self.number(op.buffer), op.scope.data, shape, str(op.buffer.type), attributes, data)

    def statement(self, op: Operation) -> Form:
        match op:
            case ForOp():
                head = (self.number(op.var), op.start, str(op.size), op.kind.data)
                thread = None if op.thread is None else op.thread.data
                words = None if op.annotations is None else _attributes(op.annotations.data)
                return ("for", head, thread, words, _attributes(op.attributes), self._statements(op.body.block))
            case BlockOp():
                return self._block(op)
            case OuterBlockOp():
                inside = self._statements(op.body.block)
                return ("outer block", _attributes(op.attributes), inside)
            case _:
                return ("other", str(op))

    def _block(self, op: BlockOp) -> Form:
        variables = tuple(op.loop_vars)
        ranges = dimension_ranges(variables)
        used = [AffineExpr.dimension(self.number(v)) for v in variables]
        bindings, conditions = (
            tuple(str(replaced(_normal(expr, ranges), used)) for expr in exprs)
            for exprs in (op.bindings.data.results, op.conditions)
        )
        header: Form = (
            op.kinds,
            tuple(map(str, op.sizes)),
            () if _is_own(op) else tuple(sorted(op.partial_iters)),
            bindings,
            frozenset(conditions),
        )
        values: Mapping[AffineExpr, Range] = iterator_ranges(op)
        bound: list[AffineExpr] | None = None
        if speaks_of_loops(op):
            bound = [substitute(expr, used) for expr in op.bindings.data.results]
            values = {used[n]: loop_range(v) for n, v in enumerate(variables)}
            header = (frozenset(conditions),)
        elif _is_in_outer_block(op):
            # its iterators follow from those of the outer block: it is told by what it does for the loops
            bound = [substitute(expr, used) for expr in op.bindings.data.results]
            values = {used[n]: loop_range(v) for n, v in enumerate(variables)}
            pairs = zip(op.kinds, op.bindings.data.results, strict=True)
            moving = {n for n, dim in enumerate(used) if values[dim] != (0, 0)}
            kinds = frozenset((kind, str(used[d])) for kind, expr in pairs for d in expr.used_dims() if d in moving)
            header = (kinds, frozenset(conditions))
        init = None if op.init is None else _BodyForm(self, op.init.block, values, bound).effects
        body = _BodyForm(self, op.body.block, values, bound).effects
        return ("block", header, _attributes(op.attributes), init, body)


def _is_own(op: BlockOp) -> bool:
    """Whether a block writes buffers of the function's own only: it need not say then which iterators are partial."""
    return all(isinstance(buffer.owner, AllocBufferOp) for buffer in op.writes)


def _is_in_outer_block(op: Operation) -> bool:
    parent = op.parent_op()
    while isinstance(parent, ForOp):
        parent = parent.parent_op()
    return isinstance(parent, OuterBlockOp)


class _BodyForm:
    """The effects of a body, in order, with expressions as trees."""

    def __init__(
        self,
        function: _FunctionForm,
        block: Block,
        ranges: Mapping[AffineExpr, Range],
        bound: Sequence[AffineExpr] | None = None,
    ):
        self.function = function
        self.ranges = ranges
        self.bound = bound
        self.dims = over_dimensions(block.args)
        self.epochs: dict[SSAValue, int] = {}
        self.known: dict[SSAValue, bytes] = {}
        self.effects = self._effects(block)

    def _effects(self, block: Block) -> tuple[Form, ...]:
        found: list[Form] = []
        for op in block.ops:
            match op:
                case memref.StoreOp():
                    place = tuple(self.value(each) for each in op.indices)
                    found.append(("store", self.function.number(op.memref), place, self.value(op.value)))
                    self.epochs[op.memref] = self.epochs.get(op.memref, 0) + 1
                case memref.LoadOp():
                    self.value(op.res)  # what the buffer holds now
                case scf.IfOp() if not op.results:
                    sides = tuple(self._effects(r.block) if r.blocks else () for r in op.regions)
                    found.append(("if", self.value(op.cond), *sides))
                case scf.IfOp():
                    for region in op.regions:
                        found.extend(self._effects(region.block))
                    for result in op.results:
                        self.value(result)
                case scf.WhileOp():
                    condition = op.before_region.block.last_op
                    assert isinstance(condition, scf.ConditionOp)
                    self._change(op)
                    before = self._effects(op.before_region.block)
                    found.append(
                        ("while", before, self.value(condition.condition), self._effects(op.after_region.block))
                    )
                    self._change(op)
                case AssertOp():
                    found.append(("assert", self.value(op.condition), op.text.data))
                case AssumeOp():
                    found.append(("assume", self.value(op.condition)))
                case CallOp() if not op.is_pure:
                    found.append(self._call(op))
                    if op.results:
                        self.known[op.results[0]] = f"called {len(found)} {op.callee.data}".encode()
                    self._change(op)
                case scf.YieldOp() | scf.ConditionOp() | AddressOfOp():
                    pass
                case CheckOp():
                    found.append(("check", self.value(op.result)))
                case _ if not op.results:
                    found.append(("other", str(op)))
                case _:
                    pass
        return tuple(dict.fromkeys(found) if all(each[0] == "check" for each in found) else found)

    def _call(self, op: CallOp) -> Form:
        words = (op.convention.data, op.callee.data, tuple(effect.data for effect in op.effects))
        given = tuple(str(r.type) for r in op.results if r.uses)  # what nothing needs is as good as nothing
        return ("call", *words, tuple(self.value(v) for v in op.arguments), given)

    def _change(self, op: Operation) -> None:
        """What `op` writes is another than before."""
        for inner in (op, *(each for region in op.regions for each in in_order(region))):
            written = [inner.memref] if isinstance(inner, memref.StoreOp) else []
            if isinstance(inner, CallOp):
                written = [buffer for buffer, effect in inner.buffers if effect.writes]
            for buffer in written:
                self.epochs[buffer] = self.epochs.get(buffer, 0) + 1

    def value(self, value: SSAValue) -> bytes:
        """A digest of the value's expression: as a tree one whose parts are used twice has 2**depth nodes."""
        if (known := self.known.get(value)) is None:
            known = self.known[value] = sha256(repr(self._value(value)).encode()).digest()
        return known

    def _value(self, value: SSAValue) -> Form:
        if isinstance(value.type, IndexType) and (expr := affine_of(value, self.dims)) is not None:
            expr = expr if self.bound is None else substitute(expr, self.bound)
            return ("index", str(_normal(expr, self.ranges)))
        if isinstance(value, BlockArgument):
            return ("argument", self.function.number(value))
        if isinstance(value.owner, AllocBufferOp):
            return ("buffer", self.function.number(value))
        assert isinstance(value, OpResult)
        op = value.op
        match op:
            case memref.LoadOp():
                place = tuple(self.value(each) for each in op.indices)
                return ("load", self.function.number(op.memref), self.epochs.get(op.memref, 0), place)
            case scf.IfOp():
                sides: list[bytes] = []
                for region in op.regions:
                    end = region.block.last_op
                    assert isinstance(end, scf.YieldOp)
                    sides.append(self.value(end.operands[value.index]))
                return ("choice", self.value(op.cond), *sides)
            case CallOp():
                return self._call(op)
            case AddressOfOp():
                place = tuple(self.value(each) for each in op.indices)
                return ("address", self.function.number(op.memref), place)
            case arith.ConstantOp():
                return ("constant", str(op.value))
            case arith.CmpiOp() if (compared := self._comparison(op)) is not None:
                return compared
            case _:
                operands = tuple(self.value(each) for each in op.operands)
                words = (_attributes(op.properties), _attributes(op.attributes))
                return (op.name, operands, words, str(value.type), value.index)

    def _comparison(self, op: arith.CmpiOp) -> Form | None:
        """A comparison of indices by their difference: what is 0, or below 0, where it holds."""
        sides = [affine_of(each, self.dims) if isinstance(each.type, IndexType) else None for each in op.operands]
        lhs, rhs = sides
        if lhs is None or rhs is None:
            return None
        if self.bound is not None:
            lhs, rhs = substitute(lhs, self.bound), substitute(rhs, self.bound)

        def normal(difference: AffineExpr) -> str:
            return str(_normal(difference, self.ranges))

        match op.predicate.value.data:
            case 0 | 1 as kind:  # eq, ne
                return (("is 0", "is not 0")[kind], min(normal(lhs - rhs), normal(rhs - lhs)))
            case 2:  # slt
                return ("is below 0", normal(lhs - rhs))
            case 3:  # sle
                return ("is below 0", normal(lhs - rhs - 1))
            case 4:  # sgt
                return ("is below 0", normal(rhs - lhs))
            case 5:  # sge
                return ("is below 0", normal(rhs - lhs - 1))
            case _:  # of numbers without a sign
                return None
