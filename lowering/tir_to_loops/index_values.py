"""Where operations are appended, and index expressions as SSA values."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from xdsl.dialects import arith
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr

from ...dialects.support.index_ops import index_binary, index_constant
from ...dialects.tir.affine import Linear, Range, expr_range, linear, linear_range, substitute
from ...dialects.tir.core import BlockOp, loop_range
from ...dialects.tir.symbols import MAX_EXTENT, Extent, as_affine, dimension, product


class IndexBuilder:
    """Appends operations at a moving insertion point, and computes index expressions there.

    Every loop variable of the function has one affine dimension for good, so index expressions of different blocks can
    be compared and added.
    """

    def __init__(self, entry: Block):
        self.entry = entry
        self.block = entry
        self.dims: dict[SSAValue, AffineExpr] = {}
        self.ranges: dict[AffineExpr, Range] = {}
        self.index_values: dict[AffineExpr, SSAValue] = {}
        self.constants: dict[int, SSAValue] = {}
        self._numbers: dict[SSAValue | None, int] = {}

    def insert(self, op: Operation) -> None:
        self.block.add_op(op)

    def emit(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    @contextmanager
    def into(self, block: Block) -> Generator[None]:
        """Append to `block` meanwhile; index values computed there are forgotten afterwards."""
        saved = self.block, dict(self.index_values)
        self.block = block
        yield
        self.block, self.index_values = saved

    def constant(self, value: int) -> SSAValue:
        """An index constant, at the function's entry."""
        if (known := self.constants.get(value)) is None:
            op = index_constant(value)
            first = self.entry.first_op
            if first is None:
                self.entry.add_op(op)
            else:
                self.entry.insert_op_before(op, first)
            op.result.name_hint = f"c{value}" if value >= 0 else f"cm{-value}"
            known = self.constants[value] = op.result
            self._numbers[known] = value
        return known

    def dim(self, var: SSAValue) -> AffineExpr:
        """The dimension that stands for a loop variable."""
        if (known := self.dims.get(var)) is None:
            known = self.dims[var] = dimension(len(self.dims))
            self.ranges[known] = loop_range(var)
        return known

    def argument(self, value: SSAValue, most: int) -> AffineExpr:
        """A dimension that stands for an argument of the function, from 0 to `most`."""
        known = self.dims[value] = dimension(len(self.dims))
        self.ranges[known] = (0, most)
        self.index_values[known] = value
        return known

    def as_value(self, number: int | SSAValue) -> SSAValue:
        """A number, or the constant."""
        return self.constant(number) if isinstance(number, int) else number

    def define_symbols(self, arguments: Sequence[tuple[int, SSAValue]]) -> None:
        """Let each symbol, by number, be an argument of the function that is built."""
        for number, argument in arguments:
            self.index_values[AffineExpr.symbol(number)] = argument
            self.ranges[AffineExpr.symbol(number)] = (0, MAX_EXTENT)

    def extent(self, extent: Extent) -> SSAValue:
        """The value of an extent; one that may be negative is so taken for 0."""
        form = linear(as_affine(extent), self.ranges)
        bounds = linear_range(form, self.ranges)
        value = self.index_value(form)
        if bounds is not None and bounds[0] >= 0:
            return value
        return self.emit(arith.MaxSIOp(value, self.constant(0)))

    def index_value(self, form: Linear) -> SSAValue:
        """The SSA value of an index expression in normal form. What is of outer loops is summed first: that may be done
        outside of inner ones."""
        total: SSAValue | None = None
        constant = form.constant
        for atom, factor in sorted(form.terms.items(), key=_innermost):
            if (number := self._numbers.get(self.index_values.get(atom))) is not None:
                constant += number * factor
                continue
            key = product(atom, AffineConstantExpr(factor))
            if (term := self.index_values.get(key)) is None:
                term = self._atom(atom)
                if factor != 1:
                    term = self.emit(index_binary(arith.MuliOp, term, self.constant(factor)))
                self.index_values[key] = term
            total = term if total is None else self.emit(index_binary(arith.AddiOp, total, term))
        if total is None:
            return self.constant(constant)
        return self.emit(index_binary(arith.AddiOp, total, self.constant(constant))) if constant else total

    def _atom(self, atom: AffineExpr) -> SSAValue:
        if (known := self.index_values.get(atom)) is not None:
            return known
        assert isinstance(atom, AffineBinaryOpExpr), atom
        if atom.kind == AffineBinaryOpKind.Mul:  # by a stride that is a symbol
            lhs, rhs = (self.index_value(linear(side, self.ranges)) for side in (atom.lhs, atom.rhs))
            value = self.index_values[atom] = self.emit(arith.MuliOp(lhs, rhs))
            return value
        inner = expr_range(atom.lhs, self.ranges)
        dividend = self.index_value(linear(atom.lhs, self.ranges))
        divisor = self.index_value(linear(atom.rhs, self.ranges))
        if inner is not None and inner[0] >= 0:
            op = arith.DivUIOp if atom.kind == AffineBinaryOpKind.FloorDiv else arith.RemUIOp
            value = self.emit(index_binary(op, dividend, divisor))
        else:
            value = self.emit(arith.FloorDivSIOp(dividend, divisor))
            if atom.kind == AffineBinaryOpKind.Mod:
                value = self.emit(arith.SubiOp(dividend, self.emit(arith.MuliOp(value, divisor))))
        self.index_values[atom] = value
        return value

    def over_loops(self, block: BlockOp, expr: AffineExpr) -> AffineExpr:
        """An expression over a block's loop variables, over the function's dimensions."""
        return substitute(expr, [self.dim(v) for v in block.loop_vars])

    def bindings(self, block: BlockOp) -> list[AffineExpr]:
        """What a block's iterators are bound to, over the function's dimensions."""
        return [self.over_loops(block, expr) for expr in block.bindings.data.results]


def _innermost(term: tuple[AffineExpr, int]) -> int:
    """The number of the innermost loop whose variable is in a term; loops get theirs from the outside in."""
    return max((each.position for each in term[0].dfs() if isinstance(each, AffineDimExpr)), default=-1)
