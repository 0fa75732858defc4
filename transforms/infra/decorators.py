"""Passes made of Python functions and classes: TVM's `module_pass`, `function_pass`, `prim_func_pass`.

    @module_pass(opt_level=1)
    def add_helper(mod: ModuleOp, ctx: PassContext) -> ModuleOp: ...

    @function_pass(opt_level=1, required=["infer-type"])
    class Renamed:
        def __init__(self, suffix): ...
        def transform_function(self, func, mod, ctx): ...

    module = add_helper(module)
    module = Renamed("_x")(module)

A decorated function is a pass; a decorated class is a class of passes, whose instances forward unknown attributes to
the instance of the class. `ctx` is the current `PassContext`; its `ir_context` is the xDSL context. A transformation
may change what it is given and return it, or return something new; returning nothing is an error, except that a
prim-func pass deletes the function by it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeAlias, cast, overload

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ...dialects.relay.core import FuncOp
from .context import PassContext
from .info import PassInfo
from .passes import Pass, relay_functions
from .walk import erase

if TYPE_CHECKING:
    from ...dialects.tir.core import PrimFuncOp

ModuleTransform: TypeAlias = Callable[[ModuleOp, PassContext], ModuleOp]
FunctionTransform: TypeAlias = Callable[[FuncOp, ModuleOp, PassContext], FuncOp]
PrimFuncTransform: TypeAlias = "Callable[[PrimFuncOp, ModuleOp, PassContext], PrimFuncOp | None]"


class _Decorator(Protocol):
    """What `module_pass(opt_level=...)` gives: makes a pass of a function, and of a class something that makes passes
    of the arguments of the class."""

    @overload
    def __call__(self, target: type, /) -> Callable[..., Pass]: ...
    @overload
    def __call__(self, target: Callable[..., object], /) -> Pass: ...


@dataclass(frozen=True)
class _Decorated(Pass):
    """A pass that calls what a user wrote."""

    method: ClassVar[str]
    """The method that a decorated class has."""

    target: ClassVar[Callable[..., object]]
    """What was decorated."""

    def __init__(self, *args: object, **kwargs: object):
        target = type(self).target
        object.__setattr__(self, "_inst", target(*args, **kwargs) if inspect.isclass(target) else target)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    @property
    def info(self) -> PassInfo:
        return replace(super().info, title=self.name)

    @property
    def transform(self) -> Callable[..., object]:
        return getattr(self._inst, self.method) if inspect.isclass(type(self).target) else self._inst

    def __getattr__(self, name: str) -> Callable[..., object]:
        if name == "_inst":
            raise AttributeError(name)
        return getattr(self._inst, name)


class _DecoratedModulePass(_Decorated):
    method = "transform_module"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        result = self.transform(op, PassContext.current())
        if not isinstance(result, ModuleOp):
            raise TypeError(f"the module pass {self.name} must return a builtin.module, got {result!r}")
        if result is not op:
            _take_over(op, result)


def _take_over(module: ModuleOp, source: ModuleOp) -> None:
    """Make `module` what `source` is."""
    for old in list(module.ops):
        erase(old, safe_erase=False)
    for new in list(source.ops):
        new.detach()
        module.body.block.add_op(new)
    module.attributes = dict(source.attributes)
    module.properties = dict(source.properties)


class _DecoratedFunctionPass(_Decorated):
    method = "transform_function"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in relay_functions(op, self.name):
            result = self.transform(func, op, PassContext.current())
            if not isinstance(result, FuncOp):
                raise TypeError(f"the function pass {self.name} must return a relay.func, got {result!r}")
            _put_in_place_of(func, result)


class _DecoratedPrimFuncPass(_Decorated):
    method = "transform_function"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from ...dialects.tir.core import PrimFuncOp

        for func in [f for f in op.ops if isinstance(f, PrimFuncOp)]:
            result = self.transform(func, op, PassContext.current())
            if result is None:
                erase(func)
            elif isinstance(result, PrimFuncOp):
                _put_in_place_of(func, result)
            else:
                raise TypeError(f"the prim-func pass {self.name} must return a tir.prim_func or None, got {result!r}")


def _put_in_place_of(old: Operation, new: Operation) -> None:
    if new is not old:
        assert old.parent is not None
        if new.parent is not None:
            new.detach()
        old.parent.insert_op_before(new, old)
        erase(old)


def _decorate(
    kind: type[_Decorated],
    what: str,
    target: Callable[..., object] | None,
    opt_level: int | None,
    name: str | None,
    required: Sequence[str] | None,
) -> Pass | Callable[..., Pass] | _Decorator:
    if opt_level is None:
        raise ValueError(f"please provide opt_level for the {what} pass")
    if required is not None and not isinstance(required, (list, tuple)):
        raise TypeError(f"required is expected to be a list or tuple of pass names, got {required!r}")

    def decorate(target: Callable[..., object], /) -> Pass | Callable[..., Pass]:
        if not callable(target):
            raise TypeError(f"a {what} pass is made of a function or a class, got {target!r}")
        if inspect.isclass(target) and not hasattr(target, kind.method):
            raise TypeError(f"the class {target.__name__} has no method {kind.method}, so it is no {what} pass")
        pass_name = name or target.__name__
        cls = type(
            target.__name__,
            (kind,),
            {
                "__doc__": target.__doc__,
                "__module__": target.__module__,
                "name": pass_name,
                "opt_level": opt_level,
                "required": tuple(required or ()),
                "target": target if inspect.isclass(target) else staticmethod(target),
            },
        )
        made = cast(Callable[..., Pass], cls)
        return made if inspect.isclass(target) else made()

    return cast(_Decorator, decorate) if target is None else decorate(target)


@overload
def module_pass(
    pass_func: None = None,
    opt_level: int | None = None,
    name: str | None = None,
    required: Sequence[str] | None = None,
) -> _Decorator: ...
@overload
def module_pass(
    pass_func: type,
    opt_level: int | None = None,
    name: str | None = None,
    required: Sequence[str] | None = None,
) -> Callable[..., Pass]: ...
@overload
def module_pass(
    pass_func: Callable[..., object],
    opt_level: int | None = None,
    name: str | None = None,
    required: Sequence[str] | None = None,
) -> Pass: ...
def module_pass(
    pass_func: Callable[..., object] | None = None,
    opt_level: int | None = None,
    name: str | None = None,
    required: Sequence[str] | None = None,
) -> Pass | Callable[..., Pass] | _Decorator:
    """Make a module pass of a function `(mod, ctx) -> mod`, or of a class with such a `transform_module`.

    Args:
        opt_level: the level from which on it runs; must be given.
        name: the pass's name; that of the function or class where none is given.
        required: names of the passes it needs.

    Raises:
        ValueError: no `opt_level`.
        TypeError: `required` is not a list or tuple, or what is decorated is neither function nor class.
    """
    return _decorate(_DecoratedModulePass, "module", pass_func, opt_level, name, required)


@overload
def function_pass(
    pass_func: None = None,
    opt_level: int | None = None,
    name: str | None = None,
    required: Sequence[str] | None = None,
) -> _Decorator: ...
@overload
def function_pass(
    pass_func: type,
    opt_level: int | None = None,
    name: str | None = None,
    required: Sequence[str] | None = None,
) -> Callable[..., Pass]: ...
@overload
def function_pass(
    pass_func: Callable[..., object],
    opt_level: int | None = None,
    name: str | None = None,
    required: Sequence[str] | None = None,
) -> Pass: ...
def function_pass(
    pass_func: Callable[..., object] | None = None,
    opt_level: int | None = None,
    name: str | None = None,
    required: Sequence[str] | None = None,
) -> Pass | Callable[..., Pass] | _Decorator:
    """Make a function pass of a function `(func, mod, ctx) -> func`, or of a class with such a `transform_function`.

    It runs on every `relay.func` that is not marked `Compiler`, `Extern` or `SkipOptimization`, nor primitive.
    Arguments and errors are those of `module_pass`.
    """
    return _decorate(_DecoratedFunctionPass, "function", pass_func, opt_level, name, required)


@overload
def prim_func_pass(
    pass_func: None = None,
    opt_level: int | None = None,
    name: str | None = None,
    required: Sequence[str] | None = None,
) -> _Decorator: ...
@overload
def prim_func_pass(
    pass_func: type,
    opt_level: int | None = None,
    name: str | None = None,
    required: Sequence[str] | None = None,
) -> Callable[..., Pass]: ...
@overload
def prim_func_pass(
    pass_func: Callable[..., object],
    opt_level: int | None = None,
    name: str | None = None,
    required: Sequence[str] | None = None,
) -> Pass: ...
def prim_func_pass(
    pass_func: Callable[..., object] | None = None,
    opt_level: int | None = None,
    name: str | None = None,
    required: Sequence[str] | None = None,
) -> Pass | Callable[..., Pass] | _Decorator:
    """Make a pass over `tir.prim_func`s of a function `(func, mod, ctx) -> func | None`, or of a class with such a
    `transform_function`; `None` deletes the function.

    Arguments and errors are those of `module_pass`.
    """
    return _decorate(_DecoratedPrimFuncPass, "prim-func", pass_func, opt_level, name, required)
