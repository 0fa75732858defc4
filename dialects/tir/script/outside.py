"""Calls out of a block: `T.call_extern("float32", "cosf", x)`, `T.call_packed("show", A)`, and what they are given.

    A.data, A.access_ptr("r"), T.address_of(A[vi, 0])

A buffer is given as its first element's address, or to Python as an array. What the function does with it is said by
`access_ptr`, else by the block's `T.reads` and `T.writes`; where neither does, it may be read and written.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TypeGuard

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute

from ...support.hints import isa
from ..calls import AddressOfOp, CallOp, Convention, Effect, is_passed
from . import words
from .emitter import Value
from .expressions import Expressions, Term
from .scope import Buffer, NotStatic

_MASKS = {1: Effect.READ, 2: Effect.WRITE, 3: Effect.READ_WRITE}
"""What TVM's `access_ptr` says by a number."""


def call_of(
    kind: Convention, is_typed: bool, pure: bool, at: Expressions, node: ast.Call, given: Sequence[ast.expr]
) -> Term:
    """A call of a function outside.

    Raises:
        Diagnostic: it takes no such arguments.
    """
    error = at.scope.source.error
    result = _result(at, given[0]) if is_typed else None
    by_name = {keyword.arg: keyword.value for keyword in node.keywords}
    if not is_typed and (dtype := by_name.get("dtype")) is not None:
        result = _result(at, dtype)
    named, *arguments = given[1 if is_typed else 0 :]
    match named:
        case ast.Call(func=func, args=[text]) if at.scope.word(func) == "llvm_lookup_intrinsic_id":
            named, arguments = text, arguments[1:]  # TVM says there how many arguments tell variants apart
        case _:
            pass
    callee = _text(at, named)
    effects: list[Effect] = []
    values = [value for each in arguments for value in _arguments(kind, at, each, effects)]
    at.emitter.location = at.scope.source.location(node)
    op = CallOp(kind, callee, [value.ssa for value in values], effects, result, pure=pure)
    at.emitter.insert(op)
    at.emitter.effect([buffer for buffer, effect in op.buffers if effect.writes])
    if not op.results:
        return 0
    if result is not None and not is_passed(result) and kind != Convention.INTRIN:
        raise error(node, f"a function gives int32, int64, float32 or float64, not {words.type_name(result)}")
    return Value(op.results[0])


DEVICE_CALLS = (
    "tvm_access_ptr", "tvm_fill_fragment", "tvm_load_matrix_sync", "tvm_store_matrix_sync", "tvm_mma_sync",
    "tvm_bmma_sync", "ptx_mma", "ptx_mma_sp", "ptx_ldmatrix", "ptx_cp_async", "ptx_commit_group", "ptx_wait_group",
    "mma_fill", "mma_store", "start_profile_intrinsic", "end_profile_intrinsic",
)  # fmt: skip
"""Words that call what only some devices have: functions of C of these names, to a schedule, and to all that compiles
where there are none."""


def device_call(word: str, at: Expressions, node: ast.Call, given: Sequence[ast.expr]) -> Term:
    """A call of one of `DEVICE_CALLS`.

    Raises:
        Diagnostic: it takes no such arguments.
    """
    numbers = [ast.Constant(int(bool(n.value))) if _is_truth(n) else n for n in given]  # C is passed no truths
    named = ast.Call(node.func, [ast.Constant(""), ast.Constant(word), *numbers], [])
    made = ast.fix_missing_locations(ast.copy_location(named, node))
    return call_of(Convention.EXTERN, True, False, at, made, made.args)


def _is_truth(node: ast.expr) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


def touch(at: Expressions, node: ast.expr) -> Term:
    """`T.evaluate(A.access_ptr("r"))` or `T.evaluate(A.data)`, which says that something is done with a buffer, and not
    what."""
    call = ast.fix_missing_locations(ast.copy_location(ast.Call(node, [], []), node))
    return device_call("tvm_access_ptr", at, call, [node])


def is_access(at: Expressions, node: ast.expr) -> bool:
    """Whether a node is the address of a buffer, perhaps with what is done there."""
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr="data"):
            return isinstance(at.scope.local.get(name), Buffer)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="access_ptr")):
            return isinstance(at.scope.local.get(name), Buffer)
        case ast.Call(func=func):
            return at.scope.word(func) == "address_of"
        case _:
            return False


def _result(at: Expressions, node: ast.expr) -> Attribute | None:
    """The type of a result by its dtype; none for `""` and `"void"`."""
    name = _text(at, node)
    if name in ("", "void", "handle"):
        return None
    if name not in words.DTYPES:
        raise at.scope.source.error(node, f"there is no dtype {name!r}")
    return words.element_type(name)


def _text(at: Expressions, node: ast.expr) -> str:
    try:
        found = at.scope.static(node)
    except NotStatic:
        found = None
    if not isinstance(found, str):
        raise at.scope.source.error(node, "a text that is known here is wanted")
    return found


def _arguments(kind: Convention, at: Expressions, node: ast.expr, effects: list[Effect]) -> list[Value]:
    """One argument as values: an address may be followed by an offset and an extent."""
    match node:
        case ast.Call(func=func, args=[_, place, offset, extent, mask]) if at.scope.word(func) == "tvm_access_ptr":
            name = place.value if isinstance(place, ast.Attribute) and place.attr == "data" else place
            whole = ast.Call(ast.Attribute(name, "access_ptr", ast.Load()), [mask], [])
            rest = [offset, extent]
        case ast.Call(func=ast.Attribute(attr="access_ptr") as func, args=[mask], keywords=keywords) if (
            keywords and is_access(at, node)
        ):
            by_name = {keyword.arg: keyword.value for keyword in keywords}
            if not by_name.keys() <= {"offset", "extent"}:
                raise at.scope.source.error(node, "access_ptr takes the access, an offset and an extent")
            whole = ast.Call(func, [mask], [])
            rest = [by_name.get("offset", ast.copy_location(ast.Constant(0), node))]
            rest += [by_name["extent"]] if "extent" in by_name else []
        case ast.Call(func=func, args=[data, shape, strides, _, _, offset]) if (
            kind == Convention.PACKED and at.scope.word(func) == "tvm_stack_make_array"
        ):
            return [_array(at, node, data, (shape, strides, offset), effects)]
        case _:
            return [_argument(kind, at, node, effects)]
    whole = ast.fix_missing_locations(ast.copy_location(whole, node))
    return [_argument(kind, at, whole, effects), *(_argument(kind, at, each, effects) for each in rest)]


def _array(
    at: Expressions, node: ast.Call, data: ast.expr, layout: tuple[ast.expr, ast.expr, ast.expr], effects: list[Effect]
) -> Value:
    """`T.tvm_stack_make_array(A.data, shape, 0, 2, 0.0, 0)`, which is the buffer, if that has this shape."""
    made = _argument(Convention.PACKED, at, data, effects)
    shape, strides, offset = layout
    extents = shape.args if isinstance(shape, ast.Call) and at.scope.word(shape.func) == "tvm_stack_make_shape" else []
    try:
        given = [at.scope.static(each) for each in extents], at.scope.static(strides), at.scope.static(offset)
    except NotStatic:
        given = None
    if not isa(made.type, MemRefType[Attribute]) or given != (list(made.type.get_shape()), 0, 0):
        raise at.scope.source.error(
            node, "an array is all of a buffer, of its own shape", hint="T.call_packed(name, A)"
        )
    return made


def _argument(kind: Convention, at: Expressions, node: ast.expr, effects: list[Effect]) -> Value:
    """One argument: a scalar, a buffer, or the address of an element, whose effect is added to `effects`."""
    error = at.scope.source.error
    match node:
        case ast.Name(id=name) if isinstance(buffer := at.scope.local.get(name), Buffer):
            effects.append(_declared(at, name))
            return Value(buffer.ssa)
        case ast.Attribute(value=ast.Name(id=name), attr="data") if isinstance(
            buffer := at.scope.local.get(name), Buffer
        ):
            effects.append(_declared(at, name))
            return Value(buffer.ssa)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="access_ptr"), args=args, keywords=keywords) if (
            isinstance(buffer := at.scope.local.get(name), Buffer)
        ):
            masks = [*args[:1], *(k.value for k in keywords if k.arg == "access_mask")]
            if len(masks) != 1 or len(args) + len(keywords) != 1:
                raise error(node, "access_ptr takes what is done with the buffer", 'one of "r", "w", "rw"')
            effects.append(_mask(at, masks[0]))
            return Value(buffer.ssa)
        case ast.Call(func=func, args=[ast.Subscript(value=ast.Name(id=name)) as place, *more]) if at.scope.word(
            func
        ) == "address_of" and isinstance(buffer := at.scope.local.get(name), Buffer):
            effects.append(_mask(at, more[0]) if more else _declared(at, name))
            return Value(at.emitter.insert(AddressOfOp(buffer.ssa, at.indices(buffer, place))).results[0])
        case ast.Constant(value=str(text)) if kind == Convention.EXTERN:
            effects.append(Effect.READ)
            return Value(at.scope.text(text))
        case _:
            pass
    value = at.value(node)
    if kind != Convention.INTRIN and not is_passed(value.type):
        given = words.type_name(value.type)
        hint = "T.cast it first"
        raise error(node, f"a function takes int32, int64, float32, float64 and index, not {given}", hint)
    return value


def _mask(at: Expressions, node: ast.expr) -> Effect:
    found = at.scope.static(node)
    if isinstance(found, int) and found in _MASKS:
        return _MASKS[found]
    if found in tuple(Effect):
        return Effect(str(found))
    raise at.scope.source.error(node, "a buffer is read, written or both", 'one of "r", "w", "rw"')


def _declared(at: Expressions, name: str) -> Effect:
    """What the block says of a buffer; all, where it says nothing."""
    reads, writes = (word not in at.effects or name in at.effects[word] for word in ("reads", "writes"))
    if reads and not writes:
        return Effect.READ
    return Effect.WRITE if writes and not reads else Effect.READ_WRITE
