"""The extents of a graph's values where some are symbols, and what its small tensors of integers hold.

What an operator gives follows from what its `compute` makes of extents that are symbols, and so does what a shape that
is computed holds: `[n, m * 4, 64]`. That two extents have to be equal, for an addition to have a meaning, makes them
one: a symbol is put in the place of the other. Needs no types but those of the arguments, which symbols are given to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects.builtin import AnyFloat, IntegerType, TupleType
from xdsl.ir import Operation, SSAValue

from .. import te
from ..support.advice import give_shapes
from ..support.diagnostics import Diagnostic, Place
from ..support.symbols import is_table, lookup_symbol
from ..te.assume import Assumptions, assuming
from ..te.contents import MAX_ELEMENTS, Number, contents
from ..te.dim_equations import never_equal, solved
from ..te.dim_order import always_at_most
from ..te.dims import coefficient, data_var, is_told, substituted, terms_of, to_text
from .base import DYNAMIC, RelayOp, Tensor, flatten_types
from .computing import compute_results
from .core import CallOp, ConstantOp, FuncOp, PrimitiveOp, TupleGetOp, TupleOp
from .scan import ScanOp

Dims = tuple[te.Dim, ...]


@dataclass(frozen=True)
class Known:
    """What is known of a tensor: its extents, and what it holds where it is small."""

    dims: Dims
    contents: tuple[Number, ...] | None = None

    def tensor(self, type: Tensor, name: str = "p") -> te.Tensor:
        """A tensor of which as much is known."""
        given = te.placeholder(self.dims, type.element_type, name)
        return given if self.contents is None else _holding(given, self.contents)


def known_of(tensor: te.Tensor) -> Known:
    """What is known of a tensor."""
    scalar = isinstance(tensor.element_type, AnyFloat) and not tensor.dims
    found = contents(tensor) if scalar or isinstance(tensor.element_type, IntegerType) else None
    if found is None or all(number is None for number in found):
        return Known(tensor.dims)
    return Known(tensor.dims, tuple(found))


def _holding(given: te.Tensor, numbers: Sequence[Number]) -> te.Tensor:
    """A tensor like `given`, with elements that are known in their places."""
    sizes = [dim for dim in given.dims if isinstance(dim, int)]

    def literal(number: Number) -> te.Expr | None:
        if isinstance(number, te.Expr):
            return te.cast(number, given.element_type)
        return None if number is None else te.const(number, given.element_type)

    def body(*i: te.IterVar) -> te.Expr:
        position: te.Expr = te.const(0, te.index)
        for index, size in zip(i, sizes, strict=True):
            position = position * size + index
        chosen: te.Expr | None = None if numbers and None not in numbers else given[i] if i else given[()]
        for place, number in enumerate(numbers):
            if (value := literal(number)) is not None:
                chosen = value if chosen is None else te.select(position.equal(place), value, chosen)
        assert chosen is not None
        return chosen

    return te.compute(given.dims, body, given.name)


@dataclass
class Extents:
    """What is known of the values of a graph, one operation after the other."""

    known: dict[SSAValue, list[Known]] = field(default_factory=dict[SSAValue, list[Known]])
    values: dict[te.Var, te.Dim] = field(default_factory=dict[te.Var, te.Dim])
    """Symbols that are something else: what has to be equal is one."""
    others: list[tuple[te.Dim, te.Dim]] = field(default_factory=list[tuple[te.Dim, te.Dim]])
    """Extents, and what has to be equal to each, where no symbol follows from that: the lesser of 3 and `n`, and that
    of 3 and `m`."""
    at_most: list[tuple[te.Dim, te.Dim]] = field(default_factory=list[tuple[te.Dim, te.Dim]])
    """Pairs of which the first must not be above the second."""
    decided: dict[te.Var, te.Dim] = field(default_factory=dict[te.Var, te.Dim])
    """Symbols that data decides when the graph runs, and what they are at most."""
    depth: Callable[[te.Var], int] = lambda symbol: 0
    """How far inside of loops and branches what says a symbol stands: of two that are one the outer one stays."""

    def of(self, value: SSAValue) -> list[Known]:
        """What is known of a value's tensors."""
        known = self.known[value]
        if self.values or self.others:
            known = [self._resolved(each) for each in known]
        return known

    def resolved(self, dim: te.Dim) -> te.Dim:
        """An extent, without the symbols that are something else."""
        return substituted(dim, self.values) if self.values and isinstance(dim, te.Expr) else dim

    def _equal(self, dim: te.Dim) -> te.Dim:
        """The extent that a resolved one has to be equal to; itself, where there is none."""
        return next((one for one, other in self.others if te.same(dim, other)), dim)

    def _resolved(self, known: Known) -> Known:
        def resolved(dim: te.Dim) -> te.Dim:
            return self._equal(self.resolved(dim)) if isinstance(dim, te.Expr) else dim

        held = known.contents
        if held is not None:
            held = tuple(resolved(number) if isinstance(number, te.Expr) else number for number in held)
        return Known(tuple(map(resolved, known.dims)), held)

    def tensors(self, value: SSAValue) -> list[te.Tensor]:
        """Tensors of which as much is known as of the value's."""
        types = flatten_types([value.type])
        return [known.tensor(type) for known, type in zip(self.of(value), types, strict=True)]

    def add(self, op: Operation) -> None:
        """Find out about the results of an operation whose operands are known.

        Raises:
            Diagnostic: they do not follow; then nothing is known of them.
        """
        match op:
            case TupleOp():
                self.known[op.result] = [each for value in op.fields for each in self.known[value]]
            case TupleGetOp():
                assert isinstance(op.tuple.type, TupleType)
                widths = [len(flatten_types([type])) for type in op.tuple.type.types]
                start = sum(widths[: op.index.value.data])
                self.known[op.result] = self.known[op.tuple][start : start + widths[op.index.value.data]]
            case ConstantOp():
                self.known[op.result] = [known_of_constant(op)]
            case RelayOp() if op.SAYS_EXTENT and (known := self._decide(op)) is not None:
                self.note(op, [known])
            case PrimitiveOp():
                *inner, end = op.body.block.ops
                self.known |= {a: self.known[value] for a, value in zip(op.body.block.args, op.arguments, strict=True)}
                for each in inner:
                    self.add(each)
                self.note(op, [each for value in end.operands for each in self.of(value)])
            case CallOp() if (function := _callee(op)) is not None:
                self.enter(op, function)
            case ScanOp() if (function := _callee(op)) is not None:
                self.scan(op, function)
            case RelayOp():
                given = [tensor for operand in op.operands for tensor in self.tensors(operand)]
                self.note(op, self.asking(op, lambda: results_of(op, given)))
            case _:
                raise Diagnostic.at(op, "gives tensors of extents that do not follow from those that it takes")

    def enter(self, call: CallOp, function: FuncOp) -> None:
        """Find out about the results of a call of a function of operators, whose operands are known.

        Raises:
            Diagnostic: they do not follow; then nothing is known of them.
        """
        self.note(call, self._through(call, function, [each for value in call.arguments for each in self.of(value)]))

    def scan(self, op: ScanOp, function: FuncOp) -> None:
        """Find out about the results of turns of a function, whose operands are known. What tensors hold is another
        thing in each turn.

        Raises:
            Diagnostic: they do not follow, or data decides them; then nothing is known of them.
        """
        captured, rows, carried = (
            [known.dims for value in values for known in self.of(value)]
            for values in (op.captured, op.rows, op.carried)
        )
        given = [*captured, *(dims[1:] for dims in rows), *carried]
        decided = len(self.decided)
        results = [known.dims for known in self._through(op, function, [Known(dims) for dims in given])]
        if len(self.decided) > decided or any(self.depends_on_data(d) for dims in (*given, *rows) for d in dims):
            raise Diagnostic.at(op, "is a loop whose turns have extents that data decides", hint=give_shapes())
        turns = rows[0][0] if op.known_turns is None else op.known_turns
        same = [(dims[0], turns) for dims in rows]
        for before, after in zip(carried, results, strict=False):
            same += zip(before, after, strict=True)
        self.take(Assumptions(equal=same), op)
        gathered = [(turns, *results[number]) for number in op.gathered.get_values()]
        self.note(op, [self._resolved(Known(dims)) for dims in (*carried, *gathered)])

    def _through(self, call: Operation, function: FuncOp, given: Sequence[Known]) -> list[Known]:
        """What is known of the results of a function that is called; places are the call's where none is said."""
        inner = Extents(values=self.values, others=self.others, at_most=self.at_most, decided=self.decided)
        try:
            results = inner.through(function, given)
        except Diagnostic as error:
            if error.place is not None:
                raise
            raise type(error)(error.message, Place.of_location(call.location), hint=error.hint) from None
        self.values = inner.values
        return results

    def through(self, function: FuncOp, given: Sequence[Known]) -> list[Known]:
        """What is known of the results of a function of operators, of whose inputs this is `given`.

        Raises:
            Diagnostic: they do not follow.
        """
        remaining = iter(given)
        for argument in function.body.block.args:
            self.known[argument] = [next(remaining) for _ in flatten_types([argument.type])]
        for op in function.body.block.ops:
            if op is not function.return_op:
                self.add(op)
        return [each for value in function.return_op.arguments for each in self.of(value)]

    def _decide(self, op: RelayOp) -> Known | None:
        """A symbol of its own for an extent that data decides, unless it is known."""
        (count,), (most,) = self.of(op.operands[0]), self.of(op.operands[1])
        if count.contents is not None and None not in count.contents:
            return None
        bound = None if most.contents is None or len(most.contents) != 1 else most.contents[0]
        if bound is None or isinstance(bound, float):
            raise Diagnostic.at(op, "is an extent that data decides, of which no bound is known", hint=give_shapes())
        self._take_as_extent(bound)
        self.decided[symbol := data_var(f"data_{len(self.decided)}")] = self.resolved(bound)
        return Known(count.dims, (symbol,))

    def note(self, op: Operation, results: Sequence[Known]) -> None:
        """Say what is known of all results of an operation. What numbers that are told make an extent of is asked not
        to be below 0."""
        for known in results:
            for dim in known.dims:
                self._take_as_extent(dim)
        remaining = iter(results)
        for result in op.results:
            self.known[result] = [next(remaining) for _ in flatten_types([result.type])]

    def asking(self, op: Operation, compute: Callable[[], list[Known]]) -> list[Known]:
        """What `compute` gives; what it asks of extents is made so, or noted."""
        with assuming() as asked:
            results = compute()
        self.take(asked, op)
        return [self._resolved(each) for each in results]

    def take(self, asked: Assumptions, op: Operation) -> None:
        """Make extents equal that have to be, and note what else is asked.

        Raises:
            Diagnostic: they are not, whatever the symbols are.
        """
        for a, b in asked.equal:
            a, b = self._equal(self.resolved(a)), self._equal(self.resolved(b))
            if te.same(a, b):
                continue
            if self.depends_on_data(a) or self.depends_on_data(b):
                raise Diagnostic.at(
                    op, f"needs extents to be equal of which data decides: {to_text(a)} and {to_text(b)}"
                )
            if (found := solved(a, b)) is None:
                if never_equal(a, b):
                    raise Diagnostic.at(op, f"needs extents to be equal that differ: {to_text(a)} and {to_text(b)}")
                self.others.append((b, a) if isinstance(b, int) else (a, b))
                self.at_most += [(a, b), (b, a)]
                continue
            symbol, value = found
            if isinstance(value, te.Var) and self.depth(symbol) < self.depth(value):
                symbol, value = value, symbol
            self._replace(symbol, value)
        for a, b in asked.at_most:
            if (pair := self.asked_of_inputs(op, a, b)) is not None:
                self._ask_at_most(*pair)

    def _replace(self, symbol: te.Var, value: te.Dim) -> None:
        """Put something in the place of a symbol."""
        self.values = {key: substituted(dim, {symbol: value}) for key, dim in self.values.items()}
        self.values[symbol] = value

    def _take_as_extent(self, dim: te.Dim) -> None:
        """Ask that what is made of numbers that are told is not below 0."""
        if isinstance(dim, te.Expr) and any(map(is_told, te.variables([dim := self.resolved(dim)]))):
            if not always_at_most(0, dim):
                self._ask_at_most(0, dim)

    def _ask_at_most(self, a: te.Dim, b: te.Dim) -> None:
        """Note that `a` must not be above `b`. A number that is told, of which it follows that it is not below 0, is an
        extent like any other from there on."""
        if (a, b) not in self.at_most:
            self.at_most.append((a, b))
        terms, constant = terms_of(self.resolved(b) - self.resolved(a))
        rising = [term for term, factor in terms if factor > 0]
        if len(rising) == 1 and isinstance(told := rising[0], te.Var) and is_told(told) and constant <= 0:
            if all(always_at_most(0, term) for term, _ in terms if term is not told):
                self._replace(told, te.var(told.name))

    def asked_of_inputs(self, op: Operation, a: te.Dim, b: te.Dim) -> tuple[te.Dim, te.Dim] | None:
        """What is asked of inputs so that `a` is not above `b` whatever data decides; nothing where that is sure.

        Raises:
            Diagnostic: that is not known.
        """
        if not self.depends_on_data(a) and not self.depends_on_data(b):
            return a, b
        rest = self.resolved(b) - self.resolved(a)
        unknown = Diagnostic.at(
            op, f"needs {to_text(a)} to be at most {to_text(b)}, which data decides", hint=give_shapes()
        )
        while self.depends_on_data(rest):
            # The last one first: what it is at most may be said by those before.
            symbol = next(each for each in reversed(self.decided) if each in te.variables([rest]))
            if (factor := coefficient(rest, symbol)) is None:
                raise unknown
            worst = self.decided[symbol] if factor < 0 else 0
            rest = rest - symbol * factor + worst * factor
        if isinstance(rest, int) and rest < 0:
            raise unknown  # no inputs make it sure
        if always_at_most(0, rest):
            return None
        if isinstance(rest, te.Expr) and any(map(is_told, te.variables([rest]))):
            raise unknown  # what is told may depend on the same data: it is compared when both are known
        return 0, rest

    def depends_on_data(self, dim: te.Dim) -> bool:
        """Whether data decides, when the graph runs, what an extent is."""
        return bool(self.decided) and not self.decided.keys().isdisjoint(te.variables([self.resolved(dim)]))


def _callee(op: CallOp | ScanOp) -> FuncOp | None:
    """The function of operators that is called, if there is one where the operation stands."""
    module = op
    while module is not None and not is_table(type(module)):
        module = module.parent_op()
    callee = None if module is None else lookup_symbol(op, op.callee)
    return callee if isinstance(callee, FuncOp) else None


def known_of_constant(op: ConstantOp) -> Known:
    """What is known of a constant: its extents, and the elements of a small one of integers."""
    type = flatten_types([op.result.type])[0]
    shape = tuple(type.get_shape())
    real = isinstance(type.element_type, AnyFloat)
    array = op.numpy() if prod(shape) <= MAX_ELEMENTS else None
    if array is None or (real and shape and array.size):
        return Known(shape)
    return Known(shape, tuple(value.item() for value in array.reshape(-1)))


def results_of(op: RelayOp, given: Sequence[te.Tensor]) -> list[Known]:
    """What is known of an operator's results, from its `compute`.

    Raises:
        Diagnostic: it cannot be computed so.
    """
    try:
        dims = op.dims_of_results(given)
    except TypeError as error:
        if not str(error).startswith("te: "):
            raise
        raise Diagnostic.at(op, str(error).removeprefix("te: "), hint=give_shapes()) from error
    if dims is not None:
        return [Known(tuple(each)) for each in dims]
    return [known_of(tensor) for tensor in compute_results(op, given)]


def unknown(types: Sequence[Tensor], name: str) -> list[Known]:
    """What is known of tensors of which there are only types: each `?` is a symbol of its own."""
    return [
        Known(tuple(te.var(f"{name}_{d}") if n == DYNAMIC else n for d, n in enumerate(type.get_shape())))
        for type in types
    ]
