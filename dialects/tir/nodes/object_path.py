"""`tir.ObjectPath`: where in a tree of nodes something stands.

path = tir.ObjectPath.root().attr("body").attr("seq").array_index(2)
str(path)                                                               # <root>.body.seq[2]
"""

from __future__ import annotations

from dataclasses import dataclass

from ...support.arguments import checked_methods
from ...support.diagnostics import UsageError


@checked_methods
@dataclass(frozen=True)
class ObjectPath:
    """A place, as the steps that lead to it from the root. Counterpart of TVM's `ObjectPath`."""

    steps: tuple[tuple[str, object], ...] = ()
    """What each step is, and which one."""
    root_name: str | None = None

    @staticmethod
    def root(root_name: str | None = None) -> ObjectPath:
        """The whole."""
        return ObjectPath((), root_name)

    def attr(self, attr_key: str | None) -> ObjectPath:
        """A part by its name; where the other tree has one more, none."""
        return self._then("attr", attr_key)

    def array_index(self, index: int) -> ObjectPath:
        """An element."""
        return self._then("index", index)

    def missing_array_element(self, index: int) -> ObjectPath:
        """The place of an element that the other tree has."""
        return self._then("missing index", index)

    def map_value(self, key: object) -> ObjectPath:
        """What there is for a key."""
        return self._then("key", key)

    def missing_map_entry(self) -> ObjectPath:
        """The place of what the other tree has for a key."""
        return self._then("missing key", None)

    def _then(self, kind: str, which: object) -> ObjectPath:
        return ObjectPath((*self.steps, (kind, which)), self.root_name)

    @property
    def parent(self) -> ObjectPath | None:
        """What it is a part of; the root is part of nothing."""
        return ObjectPath(self.steps[:-1], self.root_name) if self.steps else None

    def __len__(self) -> int:
        """How many places lead to it, the root and itself among them."""
        return len(self.steps) + 1

    def get_prefix(self, length: int) -> ObjectPath:
        """The place that the first `length` places lead to.

        Raises:
            UsageError: there are not as many.
        """
        if not 1 <= length <= len(self):
            raise UsageError(f"{self} has prefixes of 1 to {len(self)} places, and none of {length}")
        return ObjectPath(self.steps[: length - 1], self.root_name)

    def is_prefix_of(self, other: ObjectPath) -> bool:
        """Whether `other` is here, or within."""
        return len(self) <= len(other) and other.get_prefix(len(self)) == self

    def __str__(self) -> str:
        text = self.root_name or "<root>"
        for kind, which in self.steps:
            match kind:
                case "attr":
                    text += f".{which}" if which is not None else ".<missing>"
                case "index":
                    text += f"[{which}]"
                case "missing index":
                    text += f"[<missing element #{which}>]"
                case "key":
                    text += f"[{which!r}]" if isinstance(which, str) else f"[{which}]"
                case _:
                    text += "[<missing entry>]"
        return text

    __repr__ = __str__
