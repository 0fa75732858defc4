"""From TVMScript to `tir.prim_func`: a decorated Python function, or a text of functions and modules.

The text is Python's, read by `ast`: loops, blocks and buffers become operations (`function_parser`), names that the
text does not define are Python's, where the function was defined. What has no meaning is refused where it stands.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import overload

from xdsl.dialects.builtin import ModuleOp

from ...support.arguments import checked
from ...support.diagnostics import Diagnostic
from ..functions import PrimFuncOp
from ..legality.midway import verify_midway
from .function_parser import FunctionParser
from .modules import IRModule
from .scope import Scope, Words, harmless
from .source import Source


@overload
def prim_func(function: Callable[..., object], *, check_well_formed: bool = ...) -> PrimFuncOp: ...
@overload
def prim_func(
    function: None = None, *, check_well_formed: bool = ...
) -> Callable[[Callable[..., object]], PrimFuncOp]: ...


@checked
def prim_func(
    function: Callable[..., object] | None = None, *, check_well_formed: bool = False
) -> PrimFuncOp | Callable[[Callable[..., object]], PrimFuncOp]:
    """A decorator: the `tir.prim_func` that a Python function in TVMScript's syntax stands for.

    Whether it may run is asked by what compiles it: accesses outside of buffers, values that nothing has written,
    iterations that race are refused there, at their place in the Python source. Before, it can be looked at, scheduled
    and transformed; the interpreter stops where it goes wrong. `@T.prim_func(check_well_formed=True)` asks at once.

    Raises:
        Diagnostic: something in it has no meaning, or is not well formed, if that is asked; at its place in the Python
            source.
    """
    if function is None:
        return lambda given: _of_function(given, check_well_formed)
    return _of_function(function, check_well_formed)


def _of_function(function: Callable[..., object], check_well_formed: bool) -> PrimFuncOp:
    source = Source.of_function(function)
    tree = source.tree().body
    if len(tree) != 1 or not isinstance(node := tree[0], ast.FunctionDef):
        raise Diagnostic("prim_func is for functions that are defined by def", source.place(tree[0]))
    made = FunctionParser(source, Scope.of_function(function), node).parse()
    return _checked(source, [made])[0] if check_well_formed else made


@checked
def from_source(text: str, file: str = "<script>", *, check_well_formed: bool = False) -> PrimFuncOp | IRModule:
    """What a piece of TVMScript stands for: a function, or a module where there are several or a class. With
    `check_well_formed` they are verified at once, as `prim_func` says.

    Raises:
        Diagnostic: as `prim_func` says.
    """
    source = Source.of_text(text, file)
    names = dict(harmless())
    functions: list[PrimFuncOp] = []
    is_module = False
    for node in source.tree().body:
        match node:
            case ast.ImportFrom() | ast.Import():
                for alias in node.names:
                    if (alias.asname or alias.name) in ("T", "tir") or alias.name in ("tir", "script"):
                        names[alias.asname or alias.name] = Words()
            case ast.FunctionDef():
                functions.append(FunctionParser(source, _with_words(names), node).parse())
            case ast.ClassDef(body=body):
                is_module = True
                for inner in body:
                    if isinstance(inner, ast.FunctionDef):
                        functions.append(FunctionParser(source, _with_words(names), inner).parse())
                    elif not isinstance(inner, ast.Pass | ast.Expr):
                        raise Diagnostic("a module holds functions only", source.place(inner))
            case ast.Expr(value=ast.Constant()):
                pass
            case _:
                raise Diagnostic("only imports, functions and a module's class may stand here", source.place(node))
    if not functions:
        raise Diagnostic("the text defines no function", source.place(ast.Module([], [])))
    checked = _checked(source, functions) if check_well_formed else functions
    return checked[0] if len(checked) == 1 and not is_module else IRModule(checked)


def _with_words(names: Mapping[str, object]) -> Mapping[str, object]:
    return {"T": Words(), **names}


def _checked(source: Source, functions: Sequence[PrimFuncOp]) -> list[PrimFuncOp]:
    """The functions, verified; they may be in the middle of being scheduled."""
    module = ModuleOp(list(functions))
    try:
        verify_midway(module)
    except Diagnostic as error:
        raise source.with_text(error) from None
    for function in functions:
        function.detach()
    return list(functions)
