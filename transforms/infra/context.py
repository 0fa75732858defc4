"""The context in which passes run: which ones are enabled, how they are configured, who looks on."""

from __future__ import annotations

import logging
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import cached_property
from types import MappingProxyType, TracebackType
from typing import Self, TypeVar, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...dialects.support.arguments import checked_methods
from ...dialects.support.diagnostics import did_you_mean
from . import remarks
from .config import ConfigOption, list_config_options, validate
from .errors import ConfigError
from .info import PassInfo
from .instruments import PassInstrument
from .registry import all_passes, canonical_name, is_known, kebab_case, new_ir_context

T = TypeVar("T")
_LOG = logging.getLogger("weft.passes")

DEFAULT_OPT_LEVEL = 2
MAX_OPT_LEVEL = 4


def checked_level(level: int) -> int:
    """`level`, which says which passes run.

    Raises:
        TypeError: it is no whole number.
        ConfigError: there is no such level.
    """
    if not isinstance(level, int) or isinstance(level, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"opt_level is expected to be a whole number, got {level!r}")
    if not 0 <= level <= MAX_OPT_LEVEL:
        raise ConfigError(f"there is no opt level {level}", hint=f"levels are 0 to {MAX_OPT_LEVEL}")
    return level


@checked_methods
class PassContext:
    """Opt level, required and disabled passes, configuration, instruments. TVM's `PassContext`.

    Scoped with `with`; contexts nest, and every thread has its own stack with a default context at the bottom:

        with PassContext(opt_level=3, disabled_pass=["fold-constant"], instruments=[PassTimingInstrument()]):
            module = Sequential([...])(module)

    Instruments' `enter_pass_ctx` runs before the context becomes current and `exit_pass_ctx` after it has ceased to be,
    so inside both `current()` is the outer context, as in TVM.

    Args:
        opt_level: passes of at most this level run; 0 to 4.
        required_pass: names of passes that run whatever their level.
        disabled_pass: names of passes that do not run.
        instruments: told about contexts entered and passes run.
        config: values of registered options; every option of every pass is one.
        remarks: functions that take the remarks of all passes run in the context.
        ir_context: the xDSL context that passes get; one that knows all dialects where none is given.

    Raises:
        TypeError: a list argument is not a list or tuple of names, or of instruments.
        ConfigError: an opt level or a pass that there is not, an unknown configuration key, a value of the wrong type.
    """

    def __init__(
        self,
        opt_level: int = DEFAULT_OPT_LEVEL,
        required_pass: Sequence[str] | None = None,
        disabled_pass: Sequence[str] | None = None,
        instruments: Sequence[PassInstrument] | None = None,
        config: Mapping[str, object] | None = None,
        *,
        remarks: Sequence[remarks.RemarkSink] = (),
        ir_context: Context | None = None,
    ):
        self.opt_level = checked_level(opt_level)
        self.required_pass = _pass_names("required_pass", required_pass)
        self.disabled_pass = _pass_names(DISABLED, disabled_pass)
        self.instruments = tuple(instruments or ())
        self.config = {**_SETTINGS.get(), **validate(config or {})}
        self.remarks = tuple(remarks)
        self.has_own_ir_context = ir_context is not None
        """Whether the xDSL context was given, and may know other dialects than those that are installed."""
        if ir_context is not None:
            self.ir_context = ir_context
        self.stands_for_default = False
        """Whether it is the default one with settings (`settled`)."""
        self._entered: list[AbstractContextManager[None]] = []

    def __repr__(self) -> str:
        given = {
            "required_pass": list(self.required_pass),
            "disabled_pass": list(self.disabled_pass),
            "instruments": [type(instrument).__name__ for instrument in self.instruments],
            "config": dict(self.config),
        }
        shown = "".join(f", {name}={value}" for name, value in given.items() if value)
        return f"PassContext(opt_level={self.opt_level}{shown})"

    @cached_property
    def ir_context(self) -> Context:
        """The xDSL context that passes get."""
        return new_ir_context()

    def enabled(self, info: PassInfo) -> bool:
        """The enable rule, in TVM's order: disabled is off, required is on, else the level decides."""
        if info.name in self.disabled_pass:
            return False
        return info.name in self.required_pass or self.opt_level >= info.opt_level

    def get_config(self, key: str, default: T) -> T:
        """The value of a configuration key, or `default` where the context does not set it."""
        return cast(T, self.config.get(key, default))

    @staticmethod
    def current() -> PassContext:
        """The innermost context entered in this thread, or the thread's default one."""
        if stack := _STACK.get():
            return stack[-1]
        default = getattr(_defaults, "context", None)
        if not isinstance(default, PassContext):
            default = _defaults.context = PassContext()
            default.config = {}  # whatever is settled where it is first asked for
        return default

    @contextmanager
    def at_level(
        self,
        opt_level: int,
        config: Mapping[str, object] | None = None,
        without: Sequence[str] = (),
        disabled_pass: Sequence[str] | None = None,
        also: Sequence[PassInstrument] = (),
        unheard: bool = False,
    ) -> Generator[PassContext]:
        """Be at another opt level in the `with` block, with more configuration, or without some, and with other passes
        disabled. All else stays: instruments are not entered again, and hear of what runs as before unless that is to
        be `unheard`, and so do those in `also`, after them.

        Raises:
            ConfigError: there is no such level, or an unknown key or a value of the wrong type.
        """
        kept = {key: value for key, value in self.config.items() if key not in without}
        settings = {**kept, **validate(config or {})}
        disabled = self.disabled_pass if disabled_pass is None else disabled_pass
        heard_by = (*(() if unheard else self.instruments), *also)
        other = PassContext(opt_level, self.required_pass, disabled, heard_by, settings)
        other.ir_context, other.has_own_ir_context = self.ir_context, self.has_own_ir_context
        stack = _STACK.get()
        _STACK.set((*stack, other))
        try:
            yield other
        finally:
            _STACK.set(stack)

    @staticmethod
    @contextmanager
    def settled(config: Mapping[str, object]) -> Generator[None]:
        """Have the current context, and those that are made in the `with` block, this configuration, unless they have
        their own: `with database, PassContext(3): ...` compiles with the database.

        Raises:
            ConfigError: an unknown key or a value of the wrong type.
        """
        token = _SETTINGS.set({**_SETTINGS.get(), **validate(config)})
        try:
            current = PassContext.current()
            with current.at_level(current.opt_level, config) as inner:
                inner.stands_for_default = current.is_default
                yield
        finally:
            _SETTINGS.reset(token)

    @property
    def is_default(self) -> bool:
        """Whether this is the context at the bottom of its thread's stack, which nobody entered."""
        return self.stands_for_default or getattr(_defaults, "context", None) is self

    @staticmethod
    def list_configs() -> dict[str, ConfigOption]:
        """Every configuration key with its type."""
        return list_config_options()

    def __enter__(self) -> Self:
        self._enter_instruments()
        sent = remarks.sent_to(self.remarks)
        sent.__enter__()
        self._entered.append(sent)
        _STACK.set((*_STACK.get(), self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        stack = _STACK.get()
        if not stack or stack[-1] is not self:
            raise RuntimeError("a PassContext was left that is not the current one")
        _STACK.set(stack[:-1])
        self._entered.pop().__exit__(None, None, None)
        self._exit_instruments()

    def override_instruments(self, instruments: Sequence[PassInstrument] | None) -> None:
        """Replace the instruments of a context in use: the old ones are exited, then the new ones entered.

        If an exit raises, the context is left without instruments.
        """
        self._exit_instruments()
        self.instruments = tuple(instruments or ())
        self._enter_instruments()

    def _enter_instruments(self) -> None:
        """Enter in order. If one raises, those that had entered are exited, and the context has no instruments left."""
        entered: list[PassInstrument] = []
        try:
            for instrument in self.instruments:
                instrument.enter_pass_ctx()
                entered.append(instrument)
        except Exception:
            _LOG.info("an instrument failed on entering the pass context; instruments are off")
            self.instruments = ()
            for instrument in entered:
                instrument.exit_pass_ctx()
            raise

    def _exit_instruments(self) -> None:
        """Exit in order. If one raises, the later ones are not told, and the context has no instruments left."""
        try:
            for instrument in self.instruments:
                instrument.exit_pass_ctx()
        except Exception:
            _LOG.info("an instrument failed on leaving the pass context; instruments are off")
            self.instruments = ()
            raise

    def before_pass(self, module: ModuleOp, info: PassInfo) -> bool:
        """Ask all instruments whether the pass should run, unless the context requires it; tell them if it will."""
        if info.name not in self.required_pass:
            answers = [instrument.should_run(module, info) for instrument in self.instruments]
            if not all(answers):
                return False
        for index, instrument in enumerate(self.instruments):
            try:
                instrument.run_before_pass(module, info)
            except Exception as error:
                self._tell_failure(self.instruments[:index], module, info, error)
                raise
        return True

    def after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        """Tell all instruments that the pass has run; if one raises, such as a verifier, the later ones are told of a
        failure instead."""
        for index, instrument in enumerate(self.instruments):
            try:
                instrument.run_after_pass(module, info)
            except Exception as error:
                self._tell_failure(self.instruments[index + 1 :], module, info, error)
                raise

    def after_failure(self, module: ModuleOp, info: PassInfo, error: Exception) -> None:
        """Tell all instruments that the pass has raised `error`."""
        self._tell_failure(self.instruments, module, info, error)

    @staticmethod
    def _tell_failure(
        instruments: Sequence[PassInstrument], module: ModuleOp, info: PassInfo, error: Exception
    ) -> None:
        for instrument in instruments:
            instrument.run_after_failure(module, info, error)


_STACK: ContextVar[tuple[PassContext, ...]] = ContextVar("weft_pass_contexts", default=())
_SETTINGS: ContextVar[Mapping[str, object]] = ContextVar("weft_pass_settings", default=MappingProxyType({}))
_defaults = threading.local()


DISABLED = "disabled_pass"


def _pass_names(what: str, names: Sequence[str] | None) -> tuple[str, ...]:
    """`names` as given and as the registry calls them, so that passes match whether or not they are registered."""
    if names is None:
        return ()
    for name in names:
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ConfigError(f"{what}: the name of a pass is a string, and not {name!r}")
        if not is_known(name):
            from .counterparts import counterpart_hint

            in_place = counterpart_hint(name)
            if in_place is not None and what == DISABLED:
                continue  # a pass of TVM's that is none here does not run
            hint = in_place or did_you_mean(kebab_case(name), all_passes()) or "`weft-opt --list-passes` lists them"
            raise ConfigError(f"{what}: no pass is named '{name}'", hint=hint)
    return tuple(dict.fromkeys(n for name in names for n in (name, canonical_name(name) or name)))
