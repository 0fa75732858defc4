"""Functions that are others for some targets: TVM's `tvm.target.generic_func`.

    @targets.generic_func
    def doubled(x): return x + x

    @doubled.register(["cuda", "gpu"])
    def doubled_on_gpus(x): return 2 * x

    with weft.Target("cuda"):
        doubled(1)                  # the second one

Which one is called is told by the keys of the target in scope, the first that one is registered for; without a target,
or where there is none for its keys, it is the default.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, overload

from ...dialects.support.arguments import checked, checked_methods
from ...dialects.support.diagnostics import UsageError, did_you_mean
from .target import Target

Implementation: TypeAlias = Callable[..., Any]

_NAMED: dict[str, GenericFunc] = {}


@checked_methods
class GenericFunc:
    """A function, and those that are called in its place for some targets.

    Raises:
        UsageError: it is called where it has neither an implementation for the target nor a default.
    """

    def __init__(self, name: str):
        self.name = name
        self._default: Implementation | None = None
        self._by_key: dict[str, Implementation] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.get_packed_func()(*args, **kwargs)

    def get_packed_func(self) -> Implementation:
        """The function for the target in scope.

        Raises:
            UsageError: there is none, and no default.
        """
        target = Target.current()
        for key in () if target is None else target.keys:
            if key in self._by_key:
                return self._by_key[key]
        if self._default is None:
            raise UsageError(f"the generic function '{self.name}' has nothing for {target or 'no target'}")
        return self._default

    def set_default(self, func: Implementation, allow_override: bool = False) -> None:
        """Have a function called where there is none for the target.

        Raises:
            UsageError: there is a default, and `allow_override` does not say that it is replaced.
        """
        if self._default is not None and not allow_override:
            raise UsageError(f"'{self.name}' has a default already", hint="allow_override=True replaces it")
        self._default = func

    @overload
    def register(self, func: Implementation, key_list: str | Sequence[str], allow_override: bool = ...) -> None: ...
    @overload
    def register(self, func: str | Sequence[str]) -> Callable[[Implementation], Implementation]: ...
    def register(
        self,
        func: Implementation | str | Sequence[str],
        key_list: str | Sequence[str] | None = None,
        allow_override: bool = False,
    ) -> Callable[[Implementation], Implementation] | None:
        """Have a function called for targets of some keys; with keys only, a decorator of that function.

        Raises:
            UsageError: there is one for such a key, and `allow_override` does not say that it is replaced; or it is
                not given a function and keys, or keys alone.
        """
        if not callable(func) and key_list is None:
            return lambda given: self._put(given, func, allow_override)
        if not callable(func) or key_list is None:
            raise UsageError(f"'{self.name}' is given a function and the keys of targets, or keys alone")
        self._put(func, key_list, allow_override)
        return None

    def _put(self, func: Implementation, keys: str | Sequence[str], allow_override: bool) -> Implementation:
        for key in [keys] if isinstance(keys, str) else keys:
            if key in self._by_key and not allow_override:
                hint = "allow_override=True replaces it"
                raise UsageError(f"'{self.name}' has a function for '{key}' already", hint=hint)
            self._by_key[key] = func
        return func


def generic_func(fdefault: Implementation) -> GenericFunc:
    """A function as the default of a generic one; a decorator."""
    made = GenericFunc(getattr(fdefault, "__name__", "function"))
    made.set_default(fdefault)
    made.__doc__ = fdefault.__doc__
    return made


@checked
def override_native_generic_func(func_name: str) -> Callable[[Implementation], GenericFunc]:
    """A decorator that makes a function the default of the generic one of a name, which others find by it."""

    def made_of(fdefault: Implementation) -> GenericFunc:
        made = _NAMED.setdefault(func_name, GenericFunc(func_name))
        made.set_default(fdefault, allow_override=True)
        return made

    return made_of


@checked
def get_native_generic_func(name: str) -> GenericFunc:
    """The generic function of a name.

    Raises:
        UsageError: there is none.
    """
    if name not in _NAMED:
        raise UsageError(f"there is no generic function '{name}'", hint=did_you_mean(name, _NAMED))
    return _NAMED[name]
