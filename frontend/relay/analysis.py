"""Relay's analyses under TVM's names (`tvm.relay.analysis`): `weft.relay.analysis`.

    relay.analysis.get_total_mac_number(module)
    relay.analysis.list_op_freqs(module)               # {"nn.conv2d": 21, "nn.relu": 17, ...}
    relay.analysis.free_vars(x + y)                    # [x, y]

What TVM's functions take for an expression is here an expression, a `relay.func`, or a module.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TypeAlias

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Attribute, BlockArgument, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...dialects.relay.control import FnOp
from ...dialects.relay.core import ConstantOp, FuncOp, TupleOp
from ...dialects.relay.data import AdtOp, MatchOp
from ...dialects.relay.devices import VirtualDevice
from ...dialects.relay.types import AdtType, ParamType, is_complete, type_params
from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import Diagnostic, UsageError
from ...transforms.infra.visitors import dataflow_post_order
from ...transforms.infra.walk import walk
from ...transforms.relay.analysis.call_graph import CallGraph as CallGraph
from ...transforms.relay.analysis.counting import (
    element_types,
    layer_depth,
    main_function,
    op_frequencies,
    total_macs,
)
from ...transforms.relay.analysis.extraction import extract_intermediate, fused_functions
from ...transforms.relay.analysis.features import Feature as Feature
from ...transforms.relay.analysis.features import detect_features
from ...transforms.relay.analysis.liveness import Liveness as Liveness
from ...transforms.relay.analysis.virtual_devices import virtual_devices
from ...transforms.relay.fake_quantization_to_integer import fake_quantized_operators
from ...transforms.relay.simplify_fc_transpose import transposed_weights
from .calibration import get_calibration_data as get_calibration_data
from .expr import Expr, Function, Var, as_value, expr_of
from .expr import free_vars as _free_vars
from .kinds_of_types import check_kind as check_kind
from .matching import Pattern, unmatched_patterns

Graph: TypeAlias = "Expr | Operation | Region"
"""An expression, the body of a function, which is what that gives, a `relay.func`, a module, or another operation."""


def _root(graph: Graph) -> Operation:
    """The operation that holds a graph; an expression is one of a function of its free variables."""
    if isinstance(graph, Region):
        graph = Expr(as_value(graph)) if (around := graph.parent_op()) is None else around
    return Function(_free_vars(graph), graph) if isinstance(graph, Expr) else graph


def _opened(graph: Graph) -> Expr | Operation:
    """A graph, or what a function gives whose body it is."""
    return Expr(as_value(graph)) if isinstance(graph, Region) else graph


@checked
def post_order_visit(expr: Graph, fvisit: Callable[[Expr | Operation], object]) -> None:
    """Call `fvisit` once with every value that `expr` is made of, operands first: a `Var`, or an `Expr`. A function
    comes after what it gives, a module's functions one after the other."""
    expr = _opened(expr)
    if isinstance(expr, ModuleOp):
        for func in expr.ops:
            post_order_visit(func, fvisit)
        return
    if isinstance(expr, FuncOp):
        _visit(list(expr.return_op.arguments), fvisit)
        fvisit(expr)
    elif isinstance(expr, Expr):
        _visit([expr.value], fvisit)
    else:
        raise UsageError(f"expected an expression, a function or a module, got {expr.name}")


def _visit(values: list[SSAValue], fvisit: Callable[[Expr | Operation], object]) -> None:
    seen: set[SSAValue] = set()

    def visit(value: SSAValue) -> None:
        if value not in seen:
            seen.add(value)
            fvisit(Var(value) if isinstance(value, BlockArgument) else Expr(value))

    for op in dataflow_post_order(values):
        for value in (*op.operands, *op.results):
            visit(value)
    for value in values:
        visit(value)


@checked
def well_formed(expr: Graph) -> bool:
    """Whether a graph is right: every value is defined before it is used, and of the type that it is used as, as far as
    its type is known."""
    root = _root(expr)
    ops = list(walk(root))
    typed = [op for op in ops if _has_types(op)]
    try:
        if len(typed) == len(ops):
            root.verify()
        for op in typed:
            op.verify(verify_nested_ops=False)
    except (VerifyException, Diagnostic):
        return False
    return True


def _has_types(op: Operation) -> bool:
    """Whether all types are known of what an operation takes, gives and holds."""
    arguments = [argument for region in op.regions for block in region.blocks for argument in block.args]
    return all(is_complete(value.type) for value in (*op.operands, *op.results, *arguments))


@checked
def check_constant(expr: Graph) -> bool:
    """Whether an expression is a constant, or a tuple of constants."""
    expr = _opened(expr)
    if not isinstance(expr, Expr):
        return False
    pending = [expr.value]
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, TupleOp):
            pending.extend(owner.fields)
        elif not isinstance(owner, ConstantOp):
            return False
    return True


@checked
def check_basic_block_normal_form(expr: Graph) -> bool:
    """Whether what several branches share is computed before them: true of every graph that is `well_formed`."""
    return well_formed(expr)


@checked
def free_vars(expr: Graph) -> list[Var]:
    """The variables of an expression that no function binds, in the order in which they are met."""
    expr = _opened(expr)
    return _free_vars(expr) if isinstance(expr, Expr) else []


@checked
def bound_vars(expr: Graph) -> list[Var]:
    """The parameters of the functions in a graph, and what cases of a `match` bind, in the order of the text."""
    expr = _opened(expr)
    if isinstance(expr, Expr):
        return [variable for op in dataflow_post_order([expr.value]) for variable in bound_vars(op)]
    blocks = (block for op in walk(expr) for region in op.regions for block in region.blocks)
    return [Var(argument) for block in blocks for argument in block.args]


@checked
def all_vars(expr: Graph) -> list[Var]:
    """The variables of a graph, free and bound."""
    return [*free_vars(expr), *bound_vars(expr)]


@checked
def bound_type_vars(expr: Graph | Attribute) -> list[ParamType]:
    """The type variables of a type, or of the types of the functions in a graph, by name: what a function leaves open
    is for its calls to say."""
    if isinstance(expr, Attribute):
        return _type_vars([expr] if isinstance(expr, FunctionType) else [])
    expr = _opened(expr)
    if isinstance(expr, Expr):
        return _type_vars([op.function_type for root in dataflow_post_order([expr.value]) for op in _functions(root)])
    return _type_vars([op.function_type for op in _functions(expr)])


@checked
def free_type_vars(expr: Graph | Attribute) -> list[ParamType]:
    """The type variables that no function's type has, by name."""
    bound = bound_type_vars(expr)
    return [each for each in all_type_vars(expr) if each not in bound]


@checked
def all_type_vars(expr: Graph | Attribute) -> list[ParamType]:
    """The type variables of a type, or of all values in a graph, by name."""
    if isinstance(expr, Attribute):
        return _type_vars([expr])
    expr = _opened(expr)
    if isinstance(expr, Expr):
        roots = dataflow_post_order([expr.value])
        values = [expr.value, *(each.value for each in _free_vars(expr))]
    else:
        roots, values = [expr], []
    for op in (each for root in roots for each in walk(root)):
        values += [
            *op.results,
            *(argument for region in op.regions for block in region.blocks for argument in block.args),
        ]
    functions = [op.function_type for root in roots for op in _functions(root)]
    return _type_vars([*functions, *(value.type for value in values)])


def _functions(op: Operation) -> Iterator[FuncOp | FnOp]:
    return (each for each in walk(op) if isinstance(each, FuncOp | FnOp))


def _type_vars(types: Iterable[Attribute]) -> list[ParamType]:
    return [ParamType(label) for label in sorted({label for type in types for label in type_params(type)})]


@checked
def all_dtypes(expr: Graph) -> set[str]:
    """The names of the element types in a graph."""
    return element_types(_root(expr))


@checked
def get_total_mac_number(expr: Graph) -> int:
    """The multiplications with addition of convolutions and matrix products.

    Raises:
        Diagnostic: the number depends on an extent that is not known.
    """
    return total_macs(_root(expr))


@checked
def list_op_freqs(mod: Graph) -> dict[str, int]:
    """How often each operator stands in a graph, by name: `{"nn.conv2d": 21}`."""
    return op_frequencies(_root(mod))


@checked
def list_fake_quantized_op_freqs(mod: Graph) -> dict[str, int]:
    """How often each operator on floats stands between `qnn.dequantize` and `qnn.quantize`, by name."""
    return dict(Counter(fake_quantized_operators(_root(mod))))


@checked
def count_layers(expr: Graph, valid_ops: Collection[str]) -> int:
    """How many operators of these names stand behind one another at most, in `@main` of a module."""
    return layer_depth(main_function(_root(expr)), valid_ops)


@checked
def detect_feature(a: Graph, b: ModuleOp | None = None) -> set[Feature]:
    """Which parts of the language `a` makes use of, and the module `b` where it is given."""
    found = detect_features(_root(a))
    return found if b is None else found | detect_features(b)


@checked
def unmatched_cases(match: MatchOp | Expr, mod: ModuleOp | None = None) -> list[Pattern]:
    """Forms of values that a `relay.match` has no case for. A module that verifies has no such match, but partial ones.

    Raises:
        UsageError: it is no match, or its data type is not defined in `mod`, or in the module around it.
    """
    op = match.value.owner if isinstance(match, Expr) else match
    if not isinstance(op, MatchOp):
        if isinstance(match, Expr):
            return []  # of clauses of which the first is for any value
        raise UsageError("expected a relay.match")
    around = mod if mod is not None else op.get_toplevel_object()
    found = {
        each.sym_name.data: each
        for each in (around.ops if isinstance(around, ModuleOp) else ())
        if isinstance(each, AdtOp)
    }
    type = op.data.type
    assert isinstance(type, AdtType)
    if type.symbol not in found:
        raise UsageError(f"there is no data type @{type.symbol}", hint="give the module that defines it")
    return unmatched_patterns(op, found)


@checked
def search_fc_transpose(expr: FuncOp | ModuleOp) -> list[str]:
    """The names of the arguments that are transposed to be the weight of a dense layer: what
    `SimplifyFCTranspose` may be told to take transposed."""
    functions = [op for op in expr.ops if isinstance(op, FuncOp)] if isinstance(expr, ModuleOp) else [expr]
    return [argument.name_hint or "" for func in functions for argument in transposed_weights(func)]


@checked
def extract_fused_functions(mod: ModuleOp) -> dict[str, FuncOp]:
    """The kernels that fusion at level 3 makes of a module, each as a function `@main` of its own, by number."""
    return {str(index): func for index, func in enumerate(fused_functions(mod))}


@checked
def extract_intermdeiate_expr(mod: ModuleOp, expr_id: int) -> ModuleOp:
    """The module that gives what operation number `expr_id` of `@main` does (spelt as in TVM).

    Raises:
        UsageError: there is no such operation.
    """
    return extract_intermediate(mod, expr_id)


extract_intermediate_expr = extract_intermdeiate_expr


@checked
def recover_virtual_device_map(mod: ModuleOp, expr: FuncOp) -> dict[Expr, VirtualDevice]:
    """Where each value of a function of `mod` is, parameters first, once `plan-devices` has run: TVM's
    `RecoverVirtualDeviceMap`, `weft.get_global_func("relay.transform.RecoverVirtualDeviceMap")`.

    Raises:
        UsageError: the function is none of the module.
        Diagnostic: no plan satisfies what the module says.
    """
    if expr.parent_op() is not mod:
        raise UsageError(f"@{expr.sym_name.data} is no function of the module")
    return {expr_of(value): device for value, device in virtual_devices(mod, expr).items()}
