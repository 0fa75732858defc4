"""One registry of passes: what `-p`, `required`, `disabled_pass`, `get_pass` and `--list-passes` all look into.

A name is looked for among the passes registered at run time, then in the tables of the packages that Weft is made of
(`PASSES` dictionaries, fed in by `weft.universe`), then in every installed `xdsl.universe`: xDSL's own passes and those
of plug-ins. Pass modules are imported when a pass is first asked for.

TVM's CamelCase names are aliases: `FuseOps`, `relay._transform.FuseOps` and `fuse-ops` are the same pass. So are they
with the name spaces that TVM has them in, and with no others: `qnn.CanonicalizeOps` is another pass there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, ParamSpec, TypeAlias, TypeVar, cast, overload

from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import did_you_mean
from ...dialects.support.plugins import note_author, note_change
from .errors import UnknownPassError

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.ir import Dialect
    from xdsl.passes import ModulePass as XdslPass
    from xdsl.universe import Universe

    PassType = type[XdslPass]
    PassFactory: TypeAlias = Callable[[], PassType]
    P = TypeVar("P", bound=PassType)

Args = ParamSpec("Args")
Found = TypeVar("Found")

_registered: dict[str, PassFactory] = {}
"""Registered at run time, and the sources; the first one to name a pass wins."""

_dialects: dict[str, Callable[[], Dialect]] = {}

_own: set[str] = set()
"""The passes that Weft consists of."""

_noted: set[str] = set()
"""Names of passes that exist, whether or not they are registered."""

NAME_SPACES = frozenset(
    f"{outer}{inner}"
    for outer in ("", "tvm.")
    for inner in ("relay", "relay.transform", "relay._transform", "tir", "tir.transform", "transform", "_transform")
)
"""Where TVM has the passes whose names are aliases here."""


_conclusions: list[Callable[[], None]] = []
"""What forgets each of what was concluded."""


def concluded(find: Callable[Args, Found]) -> Callable[Args, Found]:
    """A function of hashable values and of the passes that are known, which is remembered until there are others."""
    remembered = cache(find)
    _conclusions.append(remembered.cache_clear)
    return cast("Callable[Args, Found]", remembered)


def add_passes(passes: Mapping[str, PassFactory]) -> None:
    """Make passes known: name -> function that imports and returns the class."""
    for name, factory in passes.items():
        _registered.setdefault(name, factory)
    _forget()


def add_universe(universe: Universe) -> None:
    """Make the passes and dialects of Weft's own universe known, be its entry point installed or not."""
    add_passes(universe.all_passes)
    _own.update(universe.all_passes)
    for name, factory in universe.all_dialects.items():
        _dialects.setdefault(name, factory)


def _forget() -> None:
    """What was concluded from the passes known so far is no longer certain."""
    for forget in _conclusions:
        forget()


def note_name(name: str) -> None:
    """A pass of this name exists, so that the name may be required, disabled, or printed around."""
    _noted.add(name)


def is_known(name: str) -> bool:
    """Whether there is a pass of this name, registered or not."""
    return name in _noted or canonical_name(name) is not None


@overload
def register_pass(pass_type: P, /) -> P: ...
@overload
def register_pass(pass_type: str, /) -> Callable[[P], P]: ...
@checked
def register_pass(pass_type: P | str, /) -> P | Callable[[P], P]:
    """Register a pass under its own name, or under the name given: `@register_pass`, `@register_pass("name")`. A pass
    that a decorator has made of a function is taken as well.

    A class registered under another name than its own is one more pass: its name is the one given, by which it is
    disabled, configured and required. Registering a second class under a name replaces the first, as TVM's
    `override=True` does.

    Raises:
        TypeError: what is registered is no pass.
    """
    from xdsl.passes import ModulePass as XdslPass

    if isinstance(pass_type, str):
        name = pass_type

        def register(given: P) -> P:
            what = cast(object, given)  # what is annotated, a user may not have kept to
            cls = what if isinstance(what, type) else type(what)
            if not issubclass(cls, XdslPass):
                raise TypeError(f"register_pass takes a pass, got {given!r}")
            note_author(cls.__module__)
            named = cls if cls.name == name else _renamed(cls, name)
            note_change(cls.__module__ if named is cls else "a pass")
            _registered[name] = lambda: named
            _forget()
            return given

        return register
    if not hasattr(pass_type, "name"):
        raise TypeError(f"register_pass takes a pass, got {pass_type!r}")
    return register_pass(pass_type.name)(pass_type)


def _renamed(cls: PassType, name: str) -> PassType:
    namespace = {"name": name, "tvm_name": None, "__doc__": cls.__doc__, "__module__": cls.__module__}
    return cast("PassType", type(cls.__name__, (cls,), namespace))


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


@concluded
def own_passes() -> dict[str, PassFactory]:
    """The passes that are Weft's own or were registered at run time, sorted by name."""
    return dict(sorted({**_own_tables(), **_registered}.items()))


def all_dialects() -> dict[str, Callable[[], Dialect]]:
    """Every dialect that a pass may meet: Weft's, plug-ins', xDSL's."""
    from ...dialects import get_all_dialects, get_extended_dialects

    return {**_installed().all_dialects, **get_extended_dialects(), **get_all_dialects(), **_dialects}


def outside_passes() -> dict[str, PassFactory]:
    """The passes that are neither Weft's nor xDSL's: of plug-ins, and registered at run time."""
    from xdsl.universe import XDSL_UNIVERSE

    known = {*_own, *_own_tables(), *XDSL_UNIVERSE.all_passes}
    return {name: factory for name, factory in all_passes().items() if name not in known}


@cache
def _own_tables() -> dict[str, PassFactory]:
    from .. import mem, relay, tir

    def loader(package: str, where: str) -> PassFactory:
        module, name = where.split(":")
        return lambda: getattr(import_module(f".{module}", package), name)

    passes = {name: loader(p.__name__, where) for p in (relay, tir, mem) for name, where in p.PASSES.items()}
    return {**passes, "print-ir": loader(__package__ or "", "print_ir:PrintIRPass")}


@cache
def _installed() -> Universe:
    """The universes of the environment; xDSL's alone where Weft runs uninstalled."""
    from xdsl.universe import XDSL_UNIVERSE, Universe

    from ...dialects.support.plugins import installed_universes

    if foreign := installed_universes(ours=False):
        _warn_of_taken_names(foreign)
    universes = [XDSL_UNIVERSE, *installed_universes()]  # the first one to name something wins
    return Universe(
        all_passes={name: load for u in reversed(universes) for name, load in u.all_passes.items()},
        all_dialects={name: load for u in reversed(universes) for name, load in u.all_dialects.items()},
    )


def _warn_of_taken_names(foreign: Sequence[Universe]) -> None:
    """Say which passes and dialects of plug-ins are not used, as another is called so."""
    from xdsl.universe import XDSL_UNIVERSE

    from ...dialects import get_all_dialects
    from ...dialects.support.plugins import warn_of_taken

    for what, known, brought in (
        ("pass", {*_own_tables(), *XDSL_UNIVERSE.all_passes}, [name for u in foreign for name in u.all_passes]),
        ("dialect", {*get_all_dialects(), *XDSL_UNIVERSE.all_dialects}, [n for u in foreign for n in u.all_dialects]),
    ):
        for name in dict.fromkeys(brought):
            if name in known or brought.count(name) > 1:
                warn_of_taken(what, name)


def is_registered(name: str) -> bool:
    """Whether a pass was registered at run time, by who runs this process."""
    return name in _registered


def kebab_case(name: str) -> str:
    """`FuseOps` -> `fuse-ops`, `CombineParallelConv2D` -> `combine-parallel-conv2d`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])", "-", name).lower()


@concluded
def _aliases() -> dict[str, str]:
    """Squeezed spelling -> pass name, for TVM names that are not the CamelCase of the pass's own; loads all passes."""
    aliases: dict[str, str] = {}
    for name, factory in own_passes().items():
        cls = factory()
        for known in (getattr(cls, "tvm_name", None), *getattr(cls, "tvm_parts", ())):
            if known:
                aliases[_squeeze(known)] = name
    return aliases


def _squeeze(name: str) -> str:
    return name.replace("-", "").replace("_", "").replace(" ", "").lower()


@concluded
def canonical_name(name: str) -> str | None:
    """The registry's name for `name`, which may be one of TVM's; `None` where there is no such pass."""
    own = own_passes()
    if name in own:
        return name
    if name in _installed().all_passes:
        return name
    space, dot, last = name.rpartition(".")  # `relay._transform.FuseOps`, `tir.transform.Simplify`
    if dot and (space not in NAME_SPACES or not last[:1].isupper()):
        return None
    squeezed = _squeeze(last)
    for candidate in own:
        if _squeeze(candidate) == squeezed:
            return candidate
    return _aliases().get(squeezed) if last[:1].isupper() else None


def get_pass_type(name: str) -> PassType:
    """The class of a pass.

    Raises:
        UnknownPassError: there is none; the message names near ones, or what does the same as TVM's pass.
    """
    found = canonical_name(name)
    if found is None:
        from .counterparts import counterpart_hint

        hint = counterpart_hint(name) or did_you_mean(kebab_case(name), all_passes())
        raise UnknownPassError(f"no pass is named '{name}'", hint=hint)
    factory = own_passes().get(found) or _installed().all_passes[found]
    pass_type = factory()
    note_author(pass_type.__module__)
    return pass_type


def new_ir_context() -> Context:
    """An xDSL context that knows every dialect there is; each is loaded when it is first met."""
    from ...dialects.support.lazy_dialect import LazyContext

    context = LazyContext()
    for name, factory in all_dialects().items():
        context.register_dialect(name, factory)
    return context
