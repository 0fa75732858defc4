"""What TVM's expression visitors and mutators offer, as thin as SSA allows. Nothing here recurses.

    TVM                                   here
    NodeFunctor, ExprFunctor              OpFunctor: a table from operation type to method
    ExprVisitor, PostOrderVisit           OpVisitor, post_order_visit
    MixedModeVisitor(visit_limit)         DataflowVisitor(visit_limit)
    ExprMutator, MixedModeMutator         OpMutator
    ExprRewriter, PostOrderRewrite        an xDSL RewritePattern, post_order_rewrite
    Bind, SubstituteBoundVars             bind
    ExpandDataflow                        dataflow_post_order

A block is already the list that the traversals of TVM make of an expression, every operation stands in it once, and
types stand on values. So memo maps, let chains and re-inference have no counterpart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Generic, Protocol, TypeVar, cast

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Block, Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from ...dialects.relay.core import FuncOp
from ...dialects.support.diagnostics import Diagnostic
from .driver import RewriteDriver
from .walk import walk, walk_post_order

R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., object])


class _HasOpTypes(Protocol):
    visited_op_types: tuple[type[Operation], ...]


def visits(*op_types: type[Operation]) -> Callable[[F], F]:
    """Marks the method of an `OpFunctor` that is about operations of these types, and of types derived from them."""

    def mark(method: F) -> F:
        cast(_HasOpTypes, method).visited_op_types = op_types
        return method

    return mark


class OpFunctor(Generic[R]):
    """A function on operations with one method for each type of operation.

    class CountFlops(OpFunctor[int]):
        @visits(DenseOp)
        def dense(self, op: DenseOp) -> int: ...

    flops = CountFlops()(op)

    Where several methods are about a type, that of the most derived class is called.
    """

    _methods: ClassVar[dict[type[Operation], str]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._methods = {}
        for base in reversed(cls.__mro__):
            for name, method in vars(base).items():
                for op_type in cast("tuple[type[Operation], ...]", getattr(method, "visited_op_types", ())):
                    cls._methods[op_type] = name

    def __call__(self, op: Operation, *arguments: object) -> R:
        """The result of the method that is about `op`."""
        for op_type in type(op).__mro__:
            if (name := self._methods.get(cast("type[Operation]", op_type))) is not None:
                return cast(Callable[..., R], getattr(self, name))(op, *arguments)
        return self.default(op, *arguments)

    def default(self, op: Operation, *arguments: object) -> R:
        """What happens to an operation that no method is about.

        Raises:
            Diagnostic: always, unless overridden.
        """
        raise Diagnostic.at(op, f"{type(self).__name__} does not know this operation")


class OpVisitor(OpFunctor[None]):
    """Calls a method for every operation once, operands first; operations that no method is about are passed over."""

    def visit(self, root: Operation) -> None:
        """Visit what is nested in `root`, and then `root` itself."""
        for op in walk_post_order(root):
            self(op)

    def default(self, op: Operation, *arguments: object) -> None:
        pass


def post_order_visit(root: Operation, function: Callable[[Operation], object]) -> None:
    """Call `function` once for every operation in `root`, operands and nested operations first, `root` last."""
    for op in walk_post_order(root):
        function(op)


def values_used_by(op: Operation) -> Sequence[SSAValue]:
    """The operands of `op`, and what is used in its regions but defined outside of it."""
    if not op.regions:
        return op.operands
    nested = [inner for inner in walk(op) if inner is not op]
    inside: set[SSAValue] = {result for inner in nested for result in inner.results}
    inside.update(a for inner in (op, *nested) for region in inner.regions for b in region.blocks for a in b.args)
    captured = [v for inner in nested for v in inner.operands if v not in inside]
    return [*op.operands, *dict.fromkeys(captured)]


def dataflow_post_order(values: Iterable[SSAValue]) -> Iterator[Operation]:
    """The operations that `values` are computed from, each once and after those whose results it uses."""
    done: set[Operation] = set()
    stack: list[tuple[Operation, bool]] = [(v.op, False) for v in reversed(list(values)) if isinstance(v, OpResult)]
    while stack:
        op, expanded = stack.pop()
        if op in done:
            continue
        if expanded:
            done.add(op)
            yield op
            continue
        stack.append((op, True))
        used = reversed(values_used_by(op))
        stack.extend((v.op, False) for v in used if isinstance(v, OpResult) and v.op not in done)


class DataflowVisitor(OpVisitor):
    """Visits the operations that values are computed from, following operands: what is unused is not visited.

    Args:
        visit_limit: how many times an operation that is used several times is visited, from 1 to 9. Uses beyond the
            limit are only counted. Uses by what is visited count, and being asked for.

    `visit_counter` holds how many times each operation was reached.

    Raises:
        ValueError: `visit_limit` is not between 1 and 9.
    """

    def __init__(self, visit_limit: int = 1):
        if not 0 < visit_limit < 10:
            raise ValueError(f"visit_limit is between 1 and 9, got {visit_limit}")
        self.visit_limit = visit_limit
        self.visit_counter: Counter[Operation] = Counter()

    def visit_values(self, *values: SSAValue) -> None:
        """Visit what `values` are computed from: first visits in post-order, a further one at each further use."""
        for op in dataflow_post_order(values):
            for value in values_used_by(op):
                self._reach(value)
            self(op)
        for value in values:
            self._reach(value)

    def _reach(self, value: SSAValue) -> None:
        if isinstance(value, OpResult):
            self.visit_counter[value.op] += 1
            if 1 < self.visit_counter[value.op] <= self.visit_limit:
                self(value.op)


class OpMutator(OpFunctor[Sequence[SSAValue] | None]):
    """Rewrites every operation once, operands first; when a method is called its operation has the rewritten operands.

    A method makes new operations with `self.rewriter`, and returns the values to have in place of the results, or
    `None` to leave the operation. New operations are not visited. Operations that are not replaced stay the same
    objects, and `mutate` says whether anything changed.

    class ReluToClip(OpMutator):
        @visits(ReluOp)
        def relu(self, op: ReluOp) -> Sequence[SSAValue]:
            return self.rewriter.insert(ClipOp(op.data, a_min=0.0, a_max=6.0)).results
    """

    rewriter: PatternRewriter

    def mutate(self, root: Operation) -> bool:
        """Rewrite everything in `root`, but not `root` itself; return whether anything changed."""
        return post_order_rewrite(root, _Mutate(self))

    def default(self, op: Operation, *arguments: object) -> Sequence[SSAValue] | None:
        return None


class _Mutate(RewritePattern):
    def __init__(self, mutator: OpMutator):
        self._mutator = mutator
        self.pattern_name = type(mutator).__name__

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        self._mutator.rewriter = rewriter
        if (values := self._mutator(op)) is not None:
            rewriter.replace(op, [], values)


def post_order_rewrite(root: Operation, *patterns: RewritePattern) -> bool:
    """Apply the first of `patterns` that matches to each operation in `root` once, nested operations and operands
    first, and not to new operations; return whether anything changed. TVM's `PostOrderRewrite`."""
    return RewriteDriver(patterns, recursive=False, post_order=True).rewrite(root)


def bind(func: FuncOp, values: Mapping[int | str, Operation]) -> None:
    """Replace parameters of a function by what operations without operands give, such as constants; the parameters
    are dropped from the function's type. Counterpart of TVM's `Bind`, behind `bind_params_by_name`.

    Args:
        values: parameter, by number or name, -> an operation with one result, which is not in a block yet.

    Raises:
        Diagnostic: there is no such parameter, it is bound twice, or the operation does not fit it.
    """
    block = func.body.block
    bound: dict[int, Operation] = {}
    for parameter, op in values.items():
        index = _parameter_index(func, block, parameter)
        if index in bound:
            raise Diagnostic.at(func, f"the parameter {parameter!r} is bound twice")
        if op.operands or len(op.results) != 1 or op.parent is not None:
            raise Diagnostic.at(op, f"cannot be bound to the parameter {parameter!r}: it must stand alone")
        if op.results[0].type != block.args[index].type:
            message = f"has type {op.results[0].type}, but the parameter {parameter!r} has {block.args[index].type}"
            raise Diagnostic.at(op, message)
        bound[index] = op
    for index in sorted(bound, reverse=True):
        argument, op = block.args[index], bound[index]
        if (first := block.first_op) is None:
            block.add_op(op)
        else:
            block.insert_op_before(op, first)
        argument.replace_all_uses_with(op.results[0])
        block.erase_arg(argument)
    func.function_type = FunctionType.from_lists(block.arg_types, func.function_type.outputs.data)


def _parameter_index(func: FuncOp, block: Block, parameter: int | str) -> int:
    if isinstance(parameter, int):
        if 0 <= parameter < len(block.args):
            return parameter
    else:
        for argument in block.args:
            if argument.name_hint == parameter:
                return argument.index
    names = ", ".join(f"{a.index} ({a.name_hint})" if a.name_hint else str(a.index) for a in block.args)
    raise Diagnostic.at(func, f"@{func.sym_name.data} has no parameter {parameter!r}", hint=f"it has {names or 'none'}")
