"""One registry of passes: what `-p`, `required`, `disabled_pass`, `get_pass` and `--list-passes` all look into.

A name is looked for among the passes registered at run time, then in the tables of the packages that Weft is made of
(`PASSES` dictionaries, fed in by `weft.universe`), then in every installed `xdsl.universe`: xDSL's own passes and those
of plug-ins. Pass modules are imported when a pass is first asked for.

TVM's CamelCase names are aliases: `FuseOps`, `relay._transform.FuseOps` and `fuse-ops` are the same pass.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast, overload

from ...dialects.support.diagnostics import did_you_mean
from .errors import UnknownPassError

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.ir import Dialect
    from xdsl.passes import ModulePass as XdslPass
    from xdsl.universe import Universe

    from .passes import Pass

    PassType = type[XdslPass]
    PassFactory: TypeAlias = Callable[[], PassType]
    P = TypeVar("P", bound=PassType)

_registered: dict[str, PassFactory] = {}
"""Registered at run time, and the sources; the first one to name a pass wins."""

_dialects: dict[str, Callable[[], Dialect]] = {}


def add_passes(passes: Mapping[str, PassFactory]) -> None:
    """Make passes known: name -> function that imports and returns the class."""
    for name, factory in passes.items():
        _registered.setdefault(name, factory)
    _forget()


def add_universe(universe: Universe) -> None:
    """Make a universe's passes and dialects known without an installed entry point."""
    add_passes(universe.all_passes)
    for name, factory in universe.all_dialects.items():
        _dialects.setdefault(name, factory)


def _forget() -> None:
    """What was concluded from the passes known so far is no longer certain."""
    own_passes.cache_clear()
    canonical_name.cache_clear()
    _aliases.cache_clear()


@overload
def register_pass(pass_type: P, /) -> P: ...
@overload
def register_pass(pass_type: str, /) -> Callable[[P], P]: ...
def register_pass(pass_type: P | str, /) -> P | Callable[[P], P]:
    """Register a pass class under its own name, or under the name given: `@register_pass`, `@register_pass("name")`.

    Registering a second class under a name replaces the first, as TVM's `override=True` does.
    """
    if isinstance(pass_type, str):
        name = pass_type

        def register(cls: P) -> P:
            _registered[name] = lambda: cls
            _forget()
            return cls

        return register
    return register_pass(pass_type.name)(pass_type)


@contextmanager
def registered(*pass_types: PassType) -> Generator[None]:
    """Have pass classes registered in the `with` block only."""
    before = dict(_registered)
    for pass_type in pass_types:
        register_pass(pass_type)
    try:
        yield
    finally:
        _registered.clear()
        _registered.update(before)
        _forget()


def all_passes() -> dict[str, PassFactory]:
    """Every pass that can be asked for by name, sorted by name: Weft's, plug-ins', xDSL's."""
    return dict(sorted({**_installed().all_passes, **own_passes()}.items()))


@cache
def own_passes() -> dict[str, PassFactory]:
    """The passes that are Weft's own or were registered at run time, sorted by name."""
    return dict(sorted({**_own_tables(), **_registered}.items()))


def all_dialects() -> dict[str, Callable[[], Dialect]]:
    """Every dialect that a pass may meet: Weft's, plug-ins', xDSL's."""
    from ...dialects import get_all_dialects, get_extended_dialects

    return {**_installed().all_dialects, **get_extended_dialects(), **get_all_dialects(), **_dialects}


@cache
def _own_tables() -> dict[str, PassFactory]:
    from .. import relay, tir

    def loader(package: str, where: str) -> PassFactory:
        module, name = where.split(":")
        return lambda: getattr(import_module(f".{module}", package), name)

    passes = {name: loader(p.__name__, where) for p in (relay, tir) for name, where in p.PASSES.items()}
    return {**passes, "print-ir": loader(__package__ or "", "print_ir:PrintIRPass")}


@cache
def _installed() -> Universe:
    """The universes of the environment; xDSL's alone where Weft runs uninstalled."""
    from xdsl.universe import XDSL_UNIVERSE, Universe

    from ...dialects.support.plugins import installed_universes

    universes = [*installed_universes(), XDSL_UNIVERSE]  # the first one to name something wins
    return Universe(
        all_passes={name: load for u in reversed(universes) for name, load in u.all_passes.items()},
        all_dialects={name: load for u in reversed(universes) for name, load in u.all_dialects.items()},
    )


def kebab_case(name: str) -> str:
    """`FuseOps` -> `fuse-ops`, `CombineParallelConv2D` -> `combine-parallel-conv2d`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])", "-", name).lower()


@cache
def _aliases() -> dict[str, str]:
    """Squeezed spelling -> pass name, for TVM names that are not the CamelCase of the pass's own; loads all passes."""
    aliases: dict[str, str] = {}
    for name, factory in own_passes().items():
        if tvm_name := getattr(factory(), "tvm_name", None):
            aliases[_squeeze(tvm_name)] = name
    return aliases


def _squeeze(name: str) -> str:
    return name.replace("-", "").replace("_", "").replace(" ", "").lower()


@cache
def canonical_name(name: str) -> str | None:
    """The registry's name for `name`, which may be one of TVM's; `None` where there is no such pass."""
    own = own_passes()
    if name in own:
        return name
    last = name.rpartition(".")[2]  # `relay._transform.FuseOps`, `tir.transform.Simplify`
    squeezed = _squeeze(last)
    for candidate in own:
        if _squeeze(candidate) == squeezed:
            return candidate
    if name in _installed().all_passes:
        return name
    return _aliases().get(squeezed) if last[:1].isupper() else None


def get_pass_type(name: str) -> PassType:
    """The class of a pass.

    Raises:
        UnknownPassError: there is none; the message names near ones.
    """
    found = canonical_name(name)
    if found is None:
        raise UnknownPassError(f"no pass is named '{name}'", hint=did_you_mean(kebab_case(name), all_passes()))
    factory = own_passes().get(found) or _installed().all_passes[found]
    return factory()


def get_pass(name: str, **options: str | bool | float | tuple[str | bool | float, ...] | None) -> Pass:
    """An instance of a pass by name, with options as keyword arguments; xDSL's passes come adapted to `Pass`.

    Raises:
        UnknownPassError: there is no such pass.
    """
    return adapted(get_pass_type(name))(**options)  # pyright: ignore[reportCallIssue]


@cache
def adapted(cls: PassType) -> type[Pass]:
    """`cls` itself, or for a pass from elsewhere a subclass that can be called on a module as Weft's can."""
    from .passes import Pass

    if issubclass(cls, Pass):
        return cls
    namespace = {"__doc__": cls.__doc__, "__module__": cls.__module__}
    return cast("type[Pass]", type(cls.__name__, (cls, Pass), namespace))  # pyright: ignore[reportGeneralTypeIssues]


def new_ir_context() -> Context:
    """An xDSL context that knows every dialect there is; each is loaded when it is first met."""
    from xdsl.context import Context

    context = Context()
    for name, factory in all_dialects().items():
        context.register_dialect(name, factory)
    return context
