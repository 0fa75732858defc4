"""What `relay.build` is told of how a program is to run, under TVM's names: `relay.backend.Executor` and `Runtime`.

    relay.build(module, executor=Executor("graph", {"link-params": True}), runtime=Runtime("cpp"))

`graph` runs kernel by kernel; `aot` is one function for the whole, as `weft.compile` makes it. Of the runtimes, `cpp`
is what runs here, and `crt`, which C programs on small machines are linked to, is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from .dialects.support.alignment import ALIGNMENT
from .dialects.support.arguments import checked_methods
from .dialects.support.diagnostics import UsageError, did_you_mean

_TYPES = {"IntImm": (bool, int), "runtime.String": (str,)}
"""What TVM calls the types of options, and Python's."""

_MEMORY = {"workspace-byte-alignment": "IntImm", "constant-byte-alignment": "IntImm"}


class _Choice:
    """One of several, with options."""

    KINDS: ClassVar[Mapping[str, Mapping[str, str]]]
    DEFAULTS: ClassVar[Mapping[str, Mapping[str, object]]] = {}

    def __init__(self, name: str, options: Mapping[str, object] | None = None):
        """
        Raises:
            UsageError: there is none of that name, or it has no such option, or one of another type.
        """
        known, what = self.list_registered_options(name), type(self).__name__
        for option, value in (options or {}).items():
            if option not in known:
                hint = did_you_mean(option, known)
                raise UsageError(f'Attribute "{option}" is not available on this {what}', hint=hint)
            if not isinstance(value, _TYPES[known[option]]):
                found = next((said for said, types in _TYPES.items() if isinstance(value, types)), type(value).__name__)
                raise UsageError(f'Attribute "{option}" should have type "{known[option]}" but instead found "{found}"')
        self.name = name
        self._options = {**self.DEFAULTS.get(name, {}), **(options or {})}

    @classmethod
    def list_registered(cls) -> list[str]:
        """The names that there are."""
        return list(cls.KINDS)

    @classmethod
    def list_registered_options(cls, name: object) -> dict[str, str]:
        """The options of one, by its name, each with what TVM calls its type.

        Raises:
            UsageError: there is none of that name.
        """
        if str(name) not in cls.KINDS:
            raise UsageError(f'{cls.__name__} "{name}" is not defined', hint=did_you_mean(str(name), cls.KINDS))
        return dict(cls.KINDS[str(name)])

    def __contains__(self, option: object) -> bool:
        return option in self._options

    def __getitem__(self, option: str) -> object:
        return self._options[option]

    __iter__ = None
    """Options are looked up by their names, not by numbers."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and (other.name, other._options) == (self.name, self._options)  # pyright: ignore

    def __hash__(self) -> int:
        return hash((self.name, tuple(sorted(self._options))))

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self._options})"


@checked_methods
class Executor(_Choice):
    """What calls the kernels of a program; `executor["link-params"]` is an option."""

    KINDS = {
        "aot": {"link-params": "IntImm", "unpacked-api": "IntImm", "interface-api": "runtime.String", **_MEMORY},
        "graph": {"link-params": "IntImm"},
    }
    DEFAULTS = {"aot": {"link-params": True}, "graph": {"link-params": False}}


@checked_methods
class Runtime(_Choice):
    """What a program is linked to; `runtime["system-lib"]` is an option, which changes nothing: `runtime.system_lib`
    finds every library that a process has."""

    KINDS = {"crt": {"system-lib": "IntImm"}, "cpp": {"system-lib": "IntImm"}}


def check_python_calls(executor: Executor) -> None:
    """Refuse what a program would have for callers in C alone: `export_library` makes functions for these anyway.

    Raises:
        UsageError: it is asked for, or for memory that is aligned to more than Weft's is.
    """
    if executor.name != "aot":
        return
    asked = {name: executor[name] for name in ("interface-api", "unpacked-api") if name in executor}
    if asked.get("interface-api", "packed") != "packed" or asked.get("unpacked-api"):
        raise UsageError(
            'relay.build takes interface-api == "packed" and unpacked-api == False',
            hint="export_library writes a header with functions for C, whatever these are",
        )
    for option in _MEMORY:
        if option in executor and (not isinstance(n := executor[option], int) or n < 1 or ALIGNMENT % n):
            raise UsageError(f'"{option}" is a divisor of {ALIGNMENT}, to which all memory is aligned, and not {n}')


def check_runtime(runtime: Runtime | None, function: str) -> None:
    """Refuse a runtime that what is built is not for.

    Raises:
        UsageError: it is none that runs here.
    """
    if runtime is None or runtime.name == "cpp":
        return
    raise UsageError(
        f"what {function} gives runs here, and is linked to no '{runtime}'",
        hint="export_library makes a library, for C as well, and weft.runtime.load_module reads it",
    )
