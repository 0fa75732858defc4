"""Passes made of Python functions and classes: TVM's `module_pass`, `function_pass`, `prim_func_pass`.

    @module_pass(opt_level=1)
    def add_helper(mod: ModuleOp, ctx: PassContext) -> ModuleOp: ...

    @function_pass(opt_level=1, required=["infer-type"])
    class Marked:
        def __init__(self, mark): ...
        def transform_function(self, func, mod, ctx): ...

    module = add_helper(module)
    module = Marked("x")(module)

A decorated function is a pass; a decorated class is a class of passes, whose instances forward unknown attributes to
the instance of the class, and whose arguments are the options of the pass. A function that is returned in place of
another gets its name. `ctx` is the current `PassContext`; its `ir_context` is the xDSL context. A transformation
may change what it is given and return it, or return something new; returning nothing is an error, except that a
prim-func pass deletes the function by it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Protocol, Self, cast, get_type_hints, overload

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.utils.arg_spec import (
    ArgSpec,
    ParameterListType,
    _convert_arg_to_type,  # pyright: ignore[reportPrivateUsage]
)

from ...dialects.relay.core import FuncOp
from ...dialects.support.arguments import checked
from .context import PassContext
from .info import PassInfo
from .passes import FunctionPass, ModulePass, Pass, PrimFuncPass
from .walk import clone, erase

if TYPE_CHECKING:
    from ...dialects.tir.core import PrimFuncOp


class _Decorator(Protocol):
    """What `module_pass(opt_level=...)` gives: makes a pass of a function, and of a class something that makes passes
    of the arguments of the class."""

    @overload
    def __call__(self, target: type, /) -> Callable[..., Pass]: ...
    @overload
    def __call__(self, target: Callable[..., object], /) -> Pass: ...


class _MakesPasses(Protocol):
    """`module_pass` and its like: what they make depends on what they are given."""

    @overload
    def __call__(
        self,
        pass_func: None = None,
        opt_level: int | None = None,
        name: str | None = None,
        required: Sequence[str] | None = None,
    ) -> _Decorator: ...
    @overload
    def __call__(
        self,
        pass_func: type,
        opt_level: int | None = None,
        name: str | None = None,
        required: Sequence[str] | None = None,
    ) -> Callable[..., Pass]: ...
    @overload
    def __call__(
        self,
        pass_func: Callable[..., object],
        opt_level: int | None = None,
        name: str | None = None,
        required: Sequence[str] | None = None,
    ) -> Pass: ...


def _makes_passes(function: Callable[..., Pass | Callable[..., Pass] | _Decorator]) -> _MakesPasses:
    return cast(_MakesPasses, function)


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
        given = inspect.signature(target).bind(*args, **kwargs).arguments if inspect.isclass(target) else {}
        object.__setattr__(self, "_given", given)
        object.__setattr__(self, "given_options", frozenset(given))

    def given_option(self, name: str) -> object:
        """What the pass was made with, as `given_options` name it."""
        return cast("Mapping[str, object]", self._given)[name]

    @classmethod
    def option_types(cls) -> dict[str, object]:
        if not inspect.isclass(cls.target) or cls.target.__init__ is object.__init__:
            return {}
        hints = get_type_hints(cls.target.__init__)
        parameters = list(inspect.signature(cls.target).parameters.values())
        return {p.name: hints.get(p.name, _type_of(p.default)) for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD}

    @classmethod
    def from_spec(cls, spec: ArgSpec) -> Self:
        types = cls.option_types()
        given = spec.normalize_parameter_names().parameters
        return cls(**{name: _convert_arg_to_type(values, types[name]) for name, values in given.items()})

    def spec(self, *, include_default: bool = False) -> ArgSpec:
        given = cast("Mapping[str, object]", self._given)
        return ArgSpec(self.name, {n: values for n, v in given.items() if (values := _as_parameter(v)) is not None})

    def with_options(self, options: Mapping[str, object]) -> Self:
        return type(self)(**{**cast("Mapping[str, object]", self._given), **options})

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
        if name in ("_inst", "_given"):
            raise AttributeError(name)
        return getattr(self._inst, name)


def _as_parameter(value: object) -> ParameterListType | None:
    """An option's value as a pipeline has it; none where a pipeline cannot have it."""
    values = cast("tuple[object, ...]", value if isinstance(value, tuple) else (value,))
    plain = all(isinstance(each, str | int | float) for each in values)
    return cast(ParameterListType, values) if plain else None


def _type_of(default: object) -> object:
    """The type of an option without annotation: that of its default value."""
    return str if default is inspect.Parameter.empty else type(default)


class _DecoratedModulePass(_Decorated, ModulePass):
    method = "transform_module"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        result = self.transform(op, PassContext.current())
        if not isinstance(result, ModuleOp):
            raise TypeError(f"the module pass {self.name} must return a builtin.module, got {result!r}")
        if result is not op:
            _take_over(op, clone(result))


def _take_over(module: ModuleOp, source: ModuleOp) -> None:
    """Make `module` what `source` is."""
    for old in list(module.ops):
        erase(old, safe_erase=False)
    for new in list(source.ops):
        new.detach()
        module.body.block.add_op(new)
    module.attributes = dict(source.attributes)
    module.properties = dict(source.properties)


class _DecoratedFunctionPass(_Decorated, FunctionPass):
    method = "transform_function"

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        result = self.transform(func, func.parent_op(), PassContext.current())
        if not isinstance(result, FuncOp):
            raise TypeError(f"the function pass {self.name} must return a relay.func, got {result!r}")
        _put_in_place_of(func, result)


class _DecoratedPrimFuncPass(_Decorated, PrimFuncPass):
    method = "transform_function"

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        from ...dialects.tir.core import PrimFuncOp

        result = self.transform(func, func.parent_op(), PassContext.current())
        if result is None:
            erase(func)
        elif isinstance(result, PrimFuncOp):
            _put_in_place_of(func, result)
        else:
            raise TypeError(f"the prim-func pass {self.name} must return a tir.prim_func or None, got {result!r}")


def _put_in_place_of(old: FuncOp | PrimFuncOp, new: FuncOp | PrimFuncOp) -> None:
    """Have the module hold a copy of `new`, under the name of `old`, by which it is called."""
    if new is old:
        return
    assert old.parent is not None
    copy = clone(new)
    copy.properties["sym_name"] = StringAttr(old.sym_name.data)
    old.parent.insert_op_before(copy, old)
    erase(old, safe_erase=False)


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


@_makes_passes
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


@_makes_passes
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


@_makes_passes
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


@checked
def Apply(ftransform: Callable[..., object]) -> Pass:
    """A pass that makes each `tir` function what `ftransform` gives for it. Counterpart of TVM's Apply."""

    def apply(func: object, mod: object, ctx: object) -> object:
        return ftransform(func)

    return prim_func_pass(apply, opt_level=0, name="apply")


@checked
def Filter(fcond: Callable[..., object]) -> Pass:
    """A pass that leaves the `tir` functions for which `fcond` holds, and no others. Counterpart of TVM's Filter."""

    def kept(func: object, mod: object, ctx: object) -> object:
        return func if fcond(func) else None

    return prim_func_pass(kept, opt_level=0, name="filter")
