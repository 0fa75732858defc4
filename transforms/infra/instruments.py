"""Pass instruments: objects that a `PassContext` tells about the passes it runs. The life-cycle is TVM's.

For every pass that is about to run: `should_run` of all instruments (a pass named in the context's `required_pass` is
not asked about), and unless one of them says no: `run_before_pass` of all, the pass, `run_after_pass` of all, or
`run_after_failure` of all where it raised. An exception in a hook ends the run at once; instruments that were told of
the pass's begin and not yet of its end are told of the failure.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from .info import PassInfo


class PassInstrument:
    """Base of instruments; each hook does nothing until it is overridden."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        warn_of_misspelt_hooks(cls)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def enter_pass_ctx(self) -> None:
        """The context is about to become current."""

    def exit_pass_ctx(self) -> None:
        """The context is no longer current, be it after an exception."""

    def should_run(self, module: ModuleOp, info: PassInfo) -> bool:
        """Whether the pass may run."""
        return True

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        """The pass is about to run."""

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        """The pass has run."""

    def run_after_failure(self, module: ModuleOp, info: PassInfo, error: Exception) -> None:
        """Called instead of `run_after_pass` where the pass, or another instrument's hook around it, has raised
        `error`; `module` is as it was left. Not in TVM, where a failing pass tells nobody."""


def pass_instrument(cls: type) -> Callable[..., PassInstrument]:
    """Class decorator: makes an instrument of a class that has some of the hooks, with no need to inherit.

    The instances forward every other attribute to the instance of the decorated class.

    Raises:
        TypeError: what is decorated is not a class.
    """
    if not inspect.isclass(cls):
        raise TypeError(f"pass_instrument decorates a class, got {cls!r}")
    if issubclass(cls, PassInstrument):
        return cls
    warn_of_misspelt_hooks(cls)

    class Instrument(_Forwarding):
        _type = cls

    Instrument.__name__, Instrument.__qualname__, Instrument.__doc__ = cls.__name__, cls.__qualname__, cls.__doc__
    Instrument.__module__ = cls.__module__
    return Instrument


HOOKS = tuple(name for name in vars(PassInstrument) if not name.startswith("_"))
_BEGINNINGS = {name[:4] for name in HOOKS}


def warn_of_misspelt_hooks(cls: type) -> None:
    """Warn of methods that are called nearly as a hook is, which nobody will call."""
    for name, value in vars(cls).items():
        if name in HOOKS or name[:4] not in _BEGINNINGS or not inspect.isfunction(value):
            continue
        from difflib import get_close_matches  # which takes long to import

        if near := get_close_matches(name, HOOKS, n=1, cutoff=0.85):
            warnings.warn(
                f"{cls.__qualname__}.{name} is no hook of an instrument; did you mean '{near[0]}'?", stacklevel=3
            )


class _Forwarding(PassInstrument):
    _type: type

    def __init__(self, *args: object, **kwargs: object):
        self._inst = self._type(*args, **kwargs)
        for hook in HOOKS:
            is_own = getattr(type(self), hook) is not getattr(PassInstrument, hook)  # of a class that goes on from this
            if not is_own and (method := getattr(self._inst, hook, None)) is not None:
                setattr(self, hook, method)

    def __getattr__(self, name: str) -> object:
        if name == "_inst":
            raise AttributeError(name)
        return getattr(self._inst, name)
