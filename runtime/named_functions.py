"""Methods by their names, as TVM's modules have functions: `module["set_input"]("x", array)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from ..dialects.support.arguments import checked_methods
from ..dialects.support.diagnostics import UsageError, did_you_mean


@checked_methods
class NamedFunctions:
    """What has some of its methods by name: `FUNCTIONS` says which."""

    FUNCTIONS: ClassVar[tuple[str, ...]]

    def __getitem__(self, name: str) -> Callable[..., object]:
        """`module["set_input"]`: the method of a name.

        Raises:
            UsageError: there is none.
            ArgumentError: the name is no string.
        """
        if name not in self.FUNCTIONS:
            hint = did_you_mean(name, self.FUNCTIONS) or f"there is {', '.join(self.FUNCTIONS)}"
            raise UsageError(f"there is no function '{name}'", hint=hint)
        return getattr(self, name)

    def get_function(self, name: str, query_imports: bool = False) -> Callable[..., object]:
        """The same. What imports no modules, as these, has no more functions with `query_imports`.

        Raises:
            UsageError: there is none.
        """
        return self[name]
