"""The calls of expressions: `T.exp(x)`, `T.cast(x, "int32")`, `T.if_then_else(c, a, b)`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, Float32Type, IndexType, IntegerType
from xdsl.ir import Attribute

from ...support.diagnostics import did_you_mean
from ..assumptions import UndefOp
from ..calls import Convention
from ..dot import WIDTH, DotOp
from . import words
from .emitter import Value
from .expressions import Expressions, Term
from .outside import DEVICE_CALLS, call_of, device_call
from .scope import Constant, NotStatic


@dataclass(frozen=True)
class Call:
    """A word, the names of its parameters, how many of them are needed, and what it means."""

    parameters: tuple[str, ...]
    meaning: Callable[[Expressions, ast.Call, Sequence[ast.expr]], Term]
    needed: int | None = None
    is_variadic: bool = False
    """Whether any number of arguments follow."""


_ACROSS = (
    "a reduction across threads is that of a block, and lowered later",
    "reduce in a block with an init, in a loop of T.thread_binding",
)
REFUSED: dict[str, tuple[str, str]] = {
    "ret": ("a function gives its result by a statement", "T.evaluate(T.ret(x))"),
    "comm_reducer": _ACROSS,
    "tvm_thread_allreduce": _ACROSS,
}
"""TVM's words that have no meaning here: why, and what to do instead."""


def call(at: Expressions, node: ast.Call, word: str | None) -> Term:
    """What a call of `T.word` is worth; of one of Python's functions, where there is no word.

    Raises:
        Diagnostic: there is no such word, or it takes other arguments.
    """
    error = at.scope.source.error
    if word is None:
        return _astype(at, node) if _is_astype(at, node) else _python(at, node)
    name = words.ALIASES.get(word, word)
    if name.startswith(("arith.", "math.")):
        given: dict[str, object] = {k.arg or "**": _static(at, k.value) for k in node.keywords}
        return at.spell(node, name, node.args, given)
    if (found := CALLS.get(name)) is None:
        if name in REFUSED:
            raise error(node.func, *REFUSED[name])
        hint = did_you_mean(f"T.{word}", [f"T.{each}" for each in (*CALLS, *words.ALIASES)])
        raise error(node.func, f"there is no T.{word} in an expression", hint)
    stated = next((k for k in node.keywords if k.arg == "dtype" and "dtype" not in found.parameters), None)
    if stated is not None and not found.is_variadic:
        without = ast.Call(node.func, node.args, [k for k in node.keywords if k is not stated])
        return _stated(at, call(at, ast.copy_location(without, node), word), stated.value, word)
    named = {keyword.arg for keyword in node.keywords} & {"dtype"}  # the others keep their order beside it, as in TVM
    places = [each for each in found.parameters if each not in named]
    if len(places) < len(node.args) == len(found.parameters) and not found.is_variadic:
        raise error(node, f"T.{word} is given dtype twice")
    arguments = dict(zip(places, node.args, strict=False))
    if len(node.args) > len(found.parameters) and not found.is_variadic:
        raise error(node, f"T.{word} takes {', '.join(found.parameters) or 'nothing'}: {len(node.args)} are given")
    for keyword in () if found.is_variadic else node.keywords:
        if keyword.arg not in found.parameters:
            raise error(keyword, f"T.{word} takes {', '.join(found.parameters)}, not {keyword.arg}")
        if keyword.arg in arguments:
            raise error(keyword, f"T.{word} is given {keyword.arg} twice")
        arguments[keyword.arg] = keyword.value
    if found.is_variadic:
        if any(keyword.arg != "dtype" for keyword in node.keywords):
            raise error(node, f"T.{word} takes its arguments by position")
        dtypes = [keyword.value for keyword in node.keywords if "dtype" in found.parameters]
        every = [*dtypes, *node.args]
        if len(every) < len(found.parameters):
            raise error(node, f"T.{word} is not given {', '.join(found.parameters[len(every) :])}")
        return found.meaning(at, node, every)
    needed = len(found.parameters) if found.needed is None else found.needed
    if missing := [each for each in found.parameters[:needed] if each not in arguments]:
        raise error(node, f"T.{word} is not given {', '.join(missing)}")
    ordered = [arguments[each] for each in found.parameters if each in arguments]
    return found.meaning(at, node, ordered)


def _is_astype(at: Expressions, node: ast.Call) -> bool:
    """Whether a call is the conversion of a scalar that is known only when the function runs."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr != "astype":
        return False
    try:
        at.scope.static(node.func)
    except NotStatic:
        return True
    return False


def _astype(at: Expressions, node: ast.Call) -> Term:
    """`A[vi].astype("int32")`."""
    assert isinstance(node.func, ast.Attribute)
    if len(node.args) != 1 or node.keywords:
        raise at.scope.source.error(node, "astype takes a dtype", 'A[vi].astype("float32")')
    return _cast(at, node, [node.func.value, node.args[0]])


def _python(at: Expressions, node: ast.Call) -> Term:
    """What a function that is Python's makes of scalars."""
    from .python_calls import called  # which needs `te`, and few texts do

    return called(at, node, _python_function(at, node))


def python_values(at: Expressions, node: ast.Call, count: int) -> list[Term]:
    """The same of one that makes several values of them."""
    from .python_calls import called_for

    return called_for(at, node, _python_function(at, node), count)


def _python_function(at: Expressions, node: ast.Call) -> Callable[..., object]:
    """The function that a call is of.

    Raises:
        Diagnostic: it is none of Python's.
    """
    try:
        function = at.scope.static(node.func)
    except NotStatic:
        function = None
    if not callable(function):
        hint = "only T.*, and Python's functions of expressions, can"
        raise at.scope.source.error(node, f"'{ast.unparse(node.func)}' cannot be called here", hint)
    return function


def _stated(at: Expressions, term: Term, node: ast.expr, word: str) -> Term:
    """A term of which the text says the dtype too, as TVM prints it.

    Raises:
        Diagnostic: it is of another.
    """
    type, _ = _dtype(at, node)
    if not isinstance(term, Value):
        return at.as_value(term, node, type)
    if term.type != type and not (isinstance(term.type, IndexType) and isinstance(type, IntegerType)):
        raise at.scope.source.error(
            node, f"T.{word} gives {words.type_name(term.type)} here, not {words.type_name(type)}"
        )
    return term


def _static(at: Expressions, node: ast.expr) -> object:
    try:
        return at.scope.static(node)
    except NotStatic as error:
        raise at.scope.source.error(node, "this must be known when the function is read") from error


def _dtype(at: Expressions, node: ast.expr) -> tuple[Attribute, bool]:
    """An element type by name, and whether it is unsigned."""
    name = _static(at, node)
    if not isinstance(name, str) or name not in words.DTYPES:
        hint = did_you_mean(str(name), words.DTYPES) or f"known: {', '.join(words.DTYPES)}"
        raise at.scope.source.error(node, f"there is no dtype {name!r}", hint)
    return words.element_type(name), name.startswith("uint")


def _literal(name: str, at: Expressions, node: ast.Call, given: Sequence[ast.expr]) -> Term:
    """`T.float32(1.5)`, `T.float32("inf")`, or a conversion."""
    type, unsigned = words.element_type(name), name.startswith("uint")
    term = at.term(given[0])
    if isinstance(term, str):
        if not isinstance(type, AnyFloat) or term not in ("inf", "-inf", "nan"):
            raise at.scope.source.error(given[0], f"{term!r} is no {name}")
        term = float(term)
    if not isinstance(term, Value) and not isinstance(type, AnyFloat):
        term = int(term)
    return at.as_value(term, given[0], type, unsigned)


def _let(at: Expressions, node: ast.Call, given: Sequence[ast.expr]) -> Term:
    """`T.let(x, A[vi], x * x)`: the last, where the name is the value."""
    name, value, body = given
    if not isinstance(name, ast.Name):
        raise at.scope.source.error(name, "T.let gives a value a name")
    term = at.term(value)
    if (declared := at.scope.declared.get(name.id)) is not None:
        if not isinstance(term, Value):
            term = at.value(value, declared)
        elif term.type != declared and not isinstance(term.type, IndexType):
            own, wanted = words.type_name(term.type), words.type_name(declared)
            raise at.scope.source.error(value, f"'{name.id}' is a {wanted}, and its value a {own}", "T.cast it")
    outer, at.scope.local = at.scope.local, dict(at.scope.local)
    at.scope.local[name.id] = term if isinstance(term, Value) else Constant(term)
    result = at.term(body)
    at.scope.local = outer
    return result


def _cast(at: Expressions, node: ast.Call, given: Sequence[ast.expr]) -> Term:
    type, unsigned = _dtype(at, given[1])
    return at.value(given[0], type, unsigned)


def _reinterpret(at: Expressions, node: ast.Call, given: Sequence[ast.expr]) -> Term:
    type, unsigned = _dtype(at, given[0])
    value = at.value(given[1])
    if words.bits(value.type) != words.bits(type):
        raise at.scope.source.error(node, "the bits of a type are reinterpreted as one of the same width")
    return value if value.type == type else Value(at.emitter.pure(arith.BitcastOp(value.ssa, type)), unsigned)


def _unary(name: str, at: Expressions, node: ast.Call, given: Sequence[ast.expr]) -> Term:
    floats, integers = words.UNARY[name]
    value = at.value(given[0])
    if isinstance(value.type, AnyFloat):
        assert floats is not None
        return Value(at.emitter.pure(words.build(floats, value.ssa)))
    if integers is not None:
        return value if value.unsigned else Value(at.emitter.pure(words.build(integers, value.ssa)))
    if name in ("floor", "ceil", "trunc", "round"):
        return value
    raise at.scope.source.error(node, f"T.{name} is of floats, not {words.type_name(value.type)}", "T.cast it first")


def _sigmoid(at: Expressions, node: ast.Call, given: Sequence[ast.expr]) -> Term:
    pure = at.emitter.pure
    value = at.value(given[0])
    if not isinstance(value.type, AnyFloat):
        raise at.scope.source.error(node, "T.sigmoid is of floats", "T.cast it first")
    one = at.emitter.constant(1.0, value.type)
    exponential = pure(math.ExpOp(pure(arith.NegfOp(value.ssa))))
    return Value(pure(arith.DivfOp(one, pure(arith.AddfOp(one, exponential)))))


def _is(predicate: str, at: Expressions, node: ast.Call, given: Sequence[ast.expr]) -> Term:
    """`isnan`, `isinf`, `isfinite`."""
    value = at.value(given[0])
    if not isinstance(value.type, AnyFloat):
        return Value(at.emitter.constant(predicate == "olt", IntegerType(1)))
    if predicate == "uno":
        return Value(at.emitter.pure(arith.CmpfOp(value.ssa, value.ssa, "uno")))
    infinite = at.emitter.constant(float("inf"), value.type)
    return Value(at.emitter.pure(arith.CmpfOp(at.emitter.pure(math.AbsFOp(value.ssa)), infinite, predicate)))


def _select(at: Expressions, node: ast.Call, given: Sequence[ast.expr]) -> Term:
    condition = at.condition(given[0])
    a, b = at.together(node, at.term(given[1]), at.term(given[2]))
    return Value(at.emitter.pure(arith.SelectOp(condition, a.ssa, b.ssa)), a.unsigned)


def _binary(name: str, at: Expressions, node: ast.Call, given: Sequence[ast.expr]) -> Term:
    return at.combine(node, f"T.{name}", words.CALLS[name], at.term(given[0]), at.term(given[1]))


def _operator(op: ast.operator, at: Expressions, node: ast.Call, given: Sequence[ast.expr]) -> Term:
    return at.binary(node, op, at.term(given[0]), at.term(given[1]))


def _ceildiv(at: Expressions, node: ast.Call, given: Sequence[ast.expr]) -> Term:
    """`T.ceildiv(a, b)`, a quotient rounded up: `-(-a // b)`; of what has no sign one more where there is a rest."""
    left, right = at.together(node, at.term(given[0]), at.term(given[1]))
    if left.unsigned:
        rest = at.compare(node, ast.NotEq(), at.binary(node, ast.Mod(), left, right), 0)
        return at.binary(
            node, ast.Add(), at.binary(node, ast.FloorDiv(), left, right), at.emitter.cast(rest, left.type)
        )
    negated = at.binary(node, ast.FloorDiv(), at.binary(node, ast.Sub(), 0, left), right)
    return at.binary(node, ast.Sub(), 0, negated)


def _compare(op: ast.cmpop, at: Expressions, node: ast.Call, given: Sequence[ast.expr]) -> Term:
    return at.compare(node, op, at.term(given[0]), at.term(given[1]))


def _logic(op: ast.boolop, at: Expressions, node: ast.Call, given: Sequence[ast.expr]) -> Term:
    return at.term(ast.copy_location(ast.BoolOp(op, list(given)), node))


def _not(at: Expressions, node: ast.Call, given: Sequence[ast.expr]) -> Term:
    return at.term(ast.copy_location(ast.UnaryOp(ast.Not(), given[0]), node))


def _if_then_else(at: Expressions, node: ast.Call, given: Sequence[ast.expr]) -> Term:
    return at.term(ast.copy_location(ast.IfExp(*given[:3]), node))


def _dot(at: Expressions, node: ast.Call, given: Sequence[ast.expr]) -> Term:
    """`T.dot(c, [a0, a1, a2, a3], [b0, b1, b2, b3])`; bytes without a sign are known, or said to be such."""
    acc = at.value(given[0], IntegerType(32))
    sides: list[list[Value]] = []
    for side in given[1:3]:
        items = side.elts if isinstance(side, ast.List | ast.Tuple) else []
        values = [at.value(item) for item in items]
        if len(values) != WIDTH or any(value.type != IntegerType(8) for value in values):
            raise at.scope.source.error(
                side, f"T.dot takes {WIDTH} bytes on each side", "such as [A[0], A[1], A[2], A[3]]"
            )
        sides.append(values)
    said = [_static(at, flag) is True for flag in given[3:]] + [False] * (5 - len(given))
    unsigned = [flag or all(v.unsigned for v in side) for flag, side in zip(said, sides, strict=True)]
    lhs, rhs = ([value.ssa for value in side] for side in sides)
    return Value(at.emitter.pure(DotOp(acc.ssa, lhs, rhs, *unsigned)))


def _extreme(largest: bool, at: Expressions, node: ast.Call, given: Sequence[ast.expr]) -> Term:
    """`T.max_value("int8")`, `T.min_value("float32")`."""
    type, unsigned = _dtype(at, given[0])
    if isinstance(type, AnyFloat):
        if not isinstance(type, Float32Type) and type.bitwidth != 64:
            raise at.scope.source.error(node, "give the number itself", 'such as T.float16("inf")')
        number = 3.4028234663852886e38 if isinstance(type, Float32Type) else 1.7976931348623157e308
        return at.as_value(number if largest else -number, node, type)
    width = words.bits(type)
    low, high = (0, (1 << width) - 1) if unsigned else (-(1 << (width - 1)), (1 << (width - 1)) - 1)
    return at.as_value(high if largest else low, node, type, unsigned)


def _undef(at: Expressions, node: ast.Call, given: Sequence[ast.expr]) -> Term:
    """`T.undef(dtype="float32")`: a value that may be any."""
    type, unsigned = _dtype(at, given[0])
    return Value(at.emitter.insert(UndefOp(type)).results[0], unsigned)


def _function(name: str, at: Expressions, node: ast.Call, given: Sequence[ast.expr]) -> Term:
    """One of `tir`'s functions of scalars."""
    from ..nodes import functions  # which needs `te`, and few texts do
    from .python_calls import called

    made = ast.copy_location(ast.Call(node.func, list(given), []), node)
    return called(at, made, getattr(functions, name))


FUNCTIONS: Mapping[str, tuple[str, ...]] = {
    "exp10": ("x",), "hypot": ("x1", "x2"), "ldexp": ("x1", "x2"), "nextafter": ("x1", "x2"), "popcount": ("x",),
    "clz": ("x",), "q_multiply_shift": ("x", "y", "q", "s"), "infinity": ("dtype",),
    "q_multiply_shift_per_axis": ("x", "y", "ls", "rs", "q", "is_lshift_required", "is_rshift_required"),
}  # fmt: skip
"""Functions of scalars that are made of others, and their parameters."""

CALLED: Mapping[str, tuple[Convention, bool, bool]] = {
    "call_extern": (Convention.EXTERN, True, False),
    "call_pure_extern": (Convention.EXTERN, True, True),
    "call_llvm_intrin": (Convention.INTRIN, True, False),
    "call_llvm_pure_intrin": (Convention.INTRIN, True, True),
    "call_packed": (Convention.PACKED, False, False),
    "tvm_call_packed": (Convention.PACKED, False, False),
}
"""The words that call functions: what is called, whether a dtype comes first, and whether only the result matters."""

CALLS: Mapping[str, Call] = {
    **{
        name: Call(("dtype", "name") if typed else ("name",), partial(call_of, kind, typed, pure), is_variadic=True)
        for name, (kind, typed, pure) in CALLED.items()
    },
    **{name: Call((), partial(device_call, name), is_variadic=True) for name in DEVICE_CALLS},
    **{name: Call(("value",), partial(_literal, name)) for name in words.DTYPES},
    **{name: Call(("x",), partial(_unary, name)) for name in words.UNARY},
    **{name: Call(("x", "y"), partial(_binary, name)) for name in words.CALLS},
    **{name: Call(("x", "y"), partial(_operator, op)) for name, op in words.OPERATORS.items()},
    **{name: Call(("x", "y"), partial(_compare, op)) for name, op in words.COMPARISONS.items()},
    **{name: Call(parameters, partial(_function, name)) for name, parameters in FUNCTIONS.items()},
    "ceildiv": Call(("lhs", "rhs"), _ceildiv),
    "And": Call(("x", "y"), partial(_logic, ast.And())),
    "Or": Call(("x", "y"), partial(_logic, ast.Or())),
    "Not": Call(("x",), _not),
    **{name: Call(("var", "value", "body"), _let) for name in ("let", "Let")},
    "cast": Call(("value", "dtype"), _cast),
    "Cast": Call(("dtype", "value"), lambda at, node, given: _cast(at, node, given[::-1])),
    "reinterpret": Call(("dtype", "value"), _reinterpret),
    "sigmoid": Call(("x",), _sigmoid),
    "isnan": Call(("x",), partial(_is, "uno")),
    "isinf": Call(("x",), partial(_is, "oeq")),
    "isfinite": Call(("x",), partial(_is, "olt")),
    "Select": Call(("condition", "true_value", "false_value"), _select),
    "if_then_else": Call(("cond", "true_value", "false_value", "dtype"), _if_then_else, 3),
    "dot": Call(("acc", "lhs", "rhs", "lhs_unsigned", "rhs_unsigned"), _dot, 3),
    "likely": Call(("cond",), lambda at, node, given: at.term(given[0])),
    "meta_var": Call(("value",), lambda at, node, given: at.term(given[0])),
    "max_value": Call(("dtype",), partial(_extreme, True)),
    "min_value": Call(("dtype",), partial(_extreme, False)),
    "undef": Call(("dtype",), _undef),
    "check": Call(("at", "given", "extent", "text"), lambda at, node, given: at.check(node, given)),
}
"""Every call that an expression may have, but for operations by their own names."""
