"""Methods by their names, as TVM's modules have functions: `module["set_input"]("x", array)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from ..dialects.support.diagnostics import UsageError, did_you_mean


class NamedFunctions:
    """What has some of its methods by name: `FUNCTIONS` says which."""

    FUNCTIONS: ClassVar[tuple[str, ...]]

    def __getitem__(self, name: str) -> Callable[..., object]:
        """`module["set_input"]`: the method of a name.

        Raises:
            UsageError: there is none.
        """
        if name not in self.FUNCTIONS:
            hint = did_you_mean(name, self.FUNCTIONS) or f"there is {', '.join(self.FUNCTIONS)}"
            raise UsageError(f"a graph has no function '{name}'", hint=hint)
        return getattr(self, name)

    get_function = __getitem__
