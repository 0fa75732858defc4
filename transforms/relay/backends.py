"""Other compilers for parts of a graph: what they take, and what they make of it.

    class Blas(Backend):
        name = "blas"

        def supports(self, op): return isinstance(op, DenseOp)
        def lower(self, function): return ExternalKernel("packed", "blas.dense")

    register_backend(Blas())

`merge-composite` finds the patterns of a backend, `annotate-target` asks it which operators it takes, `partition-graph`
makes functions of the regions, marked with its name (`Compiler`), and lets it change them (`optimize`); `lower-te` asks
it for the kernel of each (`lower`). A kernel is a Python function by name, or a C function, whose source may come
along; its own constants, and what else it has to know, are passed to it as further buffers.

Backends are registered in Python, or named by the entry point `weft.backends` of a package. Counterpart of TVM's
`target.*` attributes of operators, `register_pattern_table` and `relay.ext.*` functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias, get_args

from xdsl.ir import Operation

from ...dialects.relay.core import FuncOp
from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError, did_you_mean
from ...dialects.support.plugins import backends as installed_backends
from ...dialects.support.plugins import loaded, note_change, warn
from .dataflow.match import Match
from .dataflow.pattern import DFPattern

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.generic]

Check: TypeAlias = Callable[[Match], bool]
PatternEntry: TypeAlias = tuple[str, DFPattern] | tuple[str, DFPattern, Check]
"""The name of a composite, `blas.dense_bias`, what it looks like, and whether a match is wanted."""

Language = Literal["packed", "c"]


@dataclass(frozen=True)
class ExternalKernel:
    """What computes a region: a function that takes the inputs, the constants, the metadata, then the outputs.

    Args:
        language: `packed`, a Python function that was registered with `weft.register_func`, or that the entry point
            `weft.functions` names, on NumPy arrays; or `c`, a C function on addresses.
        symbol: the function's name.
        constants: what it has to be given besides the region's inputs, in their order.
        metadata: what it has to know, as bytes: one more buffer of `uint8`, if there are any.
        source: for `c`, a C11 file that defines the function and becomes part of what is compiled; without one it is
            looked for in the process (`weft.load_library`).
    """

    language: Language
    symbol: str
    constants: Sequence[NDArray] = ()
    metadata: bytes = b""
    source: str = ""

    def __post_init__(self) -> None:
        if self.language not in get_args(Language):
            raise UsageError(f"the language of a kernel is one of {', '.join(get_args(Language))}, not {self.language}")
        if not self.symbol:
            raise UsageError("a kernel has a name")
        if self.source and self.language != "c":
            raise UsageError(f"'{self.symbol}' is a Python function, and has no C source")


class Backend:
    """A compiler for regions of a graph. A subclass has a name, and says what it takes and how it is computed."""

    name: ClassVar[str]

    def patterns(self) -> Sequence[PatternEntry]:
        """What it computes as a whole, the most wanted first. Names begin with the backend's, `blas.dense_bias`."""
        return ()

    def supports(self, op: Operation) -> bool:
        """Whether it computes an operator. Types are known."""
        return False

    def optimize(self, function: FuncOp) -> None:
        """Change the function of a region, in place, before anybody else sees it."""

    def lower(self, function: FuncOp) -> ExternalKernel:
        """What computes the function of a region, whose inputs and outputs are the kernel's, tuples opened.

        Raises:
            Diagnostic: it is no region that this backend can compute.
        """
        raise NotImplementedError


@dataclass
class _Registry:
    backends: dict[str, Backend] = field(default_factory=dict[str, Backend])
    asked: bool = False


_REGISTRY = _Registry()


@checked
def register_backend(backend: Backend, override: bool = False) -> Backend:
    """Make a backend known, for `annotate-target`, `lower-te` and the others, by its name.

    Raises:
        UsageError: it has no name, or there is another of that name and `override` does not say that it is replaced.
    """
    name = getattr(backend, "name", "")
    if not isinstance(name, str) or not name or name == "default":
        raise UsageError("a backend has a name, which is not 'default'", hint="set the class variable 'name'")
    if not override and name in backends() and backends()[name] is not backend:
        raise UsageError(f"there is a backend '{name}' already", hint="override=True replaces it")
    note_change(type(backend).__module__)
    _REGISTRY.backends[name] = backend
    return backend


@checked
def remove_backend(name: str) -> None:
    """Forget a backend, if there is one of that name."""
    note_change("")
    _REGISTRY.backends.pop(name, None)


def backends() -> Mapping[str, Backend]:
    """All backends by name: those registered, which come first, and those of installed packages."""
    if not _REGISTRY.asked:
        _REGISTRY.asked = True
        registered = dict(_REGISTRY.backends)
        for title, value in installed_backends():
            given = loaded(title, value) if isinstance(value, type) else value
            if not isinstance(given, Backend):
                warn(title, f"it is {type(given).__name__}, and no weft.Backend")
            elif getattr(given, "name", "") not in registered:
                loaded(title, partial(register_backend, given))
    return _REGISTRY.backends


def get_backend(name: str) -> Backend:
    """The backend of a name.

    Raises:
        UsageError: there is none.
    """
    if (found := backends().get(name)) is None:
        hint = did_you_mean(name, backends()) or "weft.register_backend makes one known"
        raise UsageError(f"there is no backend '{name}'", hint=hint)
    return found
