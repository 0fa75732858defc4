"""A dialect whose operations are imported a family at a time, when a context first meets one that is not there yet.

Of the operators of a large dialect a text has few, and to define them all takes longer than to read the text. xDSL's
own contexts know no dialect that is there in part: they ask for all `operations`, and get them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from types import ModuleType

from xdsl.context import Context
from xdsl.ir import Attribute, Dialect, Operation


@dataclass(frozen=True)
class Family:
    """A module of which `OPS` lists operations, all with names that begin with `prefix`."""

    module: str
    prefix: str

    def load(self) -> list[type[Operation]]:
        """Import it."""
        return _operations(import_module(self.module))


def _operations(module: ModuleType) -> list[type[Operation]]:
    return list(module.OPS)


class LazyDialect(Dialect):
    """A dialect of some operations that are there, and of families of others.

    Args:
        families: asked in this order for a name that has their prefix; those with longer prefixes stand first.
    """

    def __init__(
        self,
        name: str,
        operations: Sequence[type[Operation]],
        families: Sequence[Family],
        attributes: Sequence[type[Attribute]],
    ):
        super().__init__(name, list(operations), list(attributes))
        self.families = tuple(families)
        self._found = {op.name: op for op in operations}

    @property
    def operations(self) -> Iterator[type[Operation]]:
        """All of them, which imports what is not there."""
        there = list(super().operations)
        return chain(there, *(family.load() for family in self.families))

    def add(self, operation: type[Operation]) -> None:
        """Have an operation found by its name that is none of the dialect's own: one of the program that runs."""
        self._found[operation.name] = operation

    def find(self, name: str) -> type[Operation] | None:
        """The operation of a name; imports families until one has it."""
        for family in self.families:
            if name in self._found:
                break
            if name.startswith(family.prefix):
                self._found |= {op.name: op for op in family.load()}
        return self._found.get(name)


class LazyContext(Context):
    """A context that takes of a `LazyDialect` what it is asked for."""

    def clone(self) -> LazyContext:
        """Another context that knows the same."""
        copy = LazyContext(self.allow_unregistered)
        copy._loaded_dialects |= self._loaded_dialects
        copy._loaded_ops |= self._loaded_ops
        copy._loaded_attrs |= self._loaded_attrs
        copy._loaded_types |= self._loaded_types
        copy._registered_dialects |= self._registered_dialects
        return copy

    @property
    def loaded_ops(self) -> Iterable[type[Operation]]:
        """The operations of all dialects that are loaded."""
        for dialect in self._loaded_dialects.values():
            if isinstance(dialect, LazyDialect):
                self._loaded_ops |= {op.name: op for op in dialect.operations}
        return super().loaded_ops

    def load_registered_dialect(self, name: str) -> None:
        """Load a dialect; of one that is lazy, its attributes."""
        factory = self._registered_dialects.get(name)
        dialect = None if factory is None else factory()
        if not isinstance(dialect, LazyDialect):
            return super().load_registered_dialect(name)
        self._loaded_dialects[dialect.name] = dialect
        for attribute in dialect.attributes:
            self.load_attr_or_type(attribute)
        return None

    def _get_known_op(self, name: str) -> type[Operation] | None:
        if (known := super()._get_known_op(name)) is not None:
            return known
        dialect = self._loaded_dialects.get(name.partition(".")[0])
        if not isinstance(dialect, LazyDialect) or (found := dialect.find(name)) is None:
            return None
        self._loaded_ops[name] = found
        return found
