"""Classes of values that take little time to make when a program starts.

    @record
    class Site:
        place: str
        number: int = 0

is `@dataclass(frozen=True)` to whoever uses it, `replace`, `asdict` and `fields` included. But its methods are the same
functions for all classes, where those of a dataclass are written and compiled for each, some half a millisecond of them
each time a process imports them. Making values takes up to twice as long instead, some microseconds: it is for what a
saved program is described by, and not for what is made by the thousand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, dataclass, fields
from typing import Any, NoReturn, TypeVar, cast, dataclass_transform

C = TypeVar("C", bound=type[object])


@dataclass_transform(frozen_default=True)
def record(cls: C) -> C:
    """Give a class of annotated fields the methods of a frozen dataclass. Its values are all in its fields."""
    made = dataclass(init=False, repr=False, eq=False)(cls)
    found = fields(cast("Any", made))
    names = tuple(each.name for each in found)
    defaults = {each.name: each.default for each in found if each.default is not MISSING}
    factories = {each.name: each.default_factory for each in found if each.default_factory is not MISSING}
    wanted = set(names)
    shown = tuple(each.name for each in found if each.repr)

    def init(self: object, /, *args: object, **given: object) -> None:
        values = self.__dict__
        values.update(zip(names, args, strict=False), **given)
        if len(args) + len(given) != len(names) or values.keys() != wanted:
            values.update(completed(args, given))

    def completed(args: tuple[object, ...], given: dict[str, object]) -> dict[str, object]:
        """The values of all fields, where not each is given once."""
        values = dict(zip(names, args, strict=False))
        if len(args) > len(names) or not values.keys().isdisjoint(given) or not given.keys() <= wanted:
            raise TypeError(f"{made.__name__} takes {', '.join(names)}, each once")
        values = {**defaults, **values, **given}
        for name, make in factories.items():
            if name not in values:
                values[name] = make()
        if len(values) < len(names):
            lacking = ", ".join(name for name in names if name not in values)
            raise TypeError(f"{made.__name__} lacks {lacking}")
        return values

    def equal(self: object, other: object) -> bool:
        return self.__dict__ == other.__dict__ if other.__class__ is self.__class__ else NotImplemented

    def text(self: object) -> str:
        return f"{made.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    def hashed(self: object) -> int:
        return hash(tuple([self.__dict__[name] for name in names]))

    methods: dict[str, Callable[..., Any]] = {
        "__init__": init,
        "__eq__": equal,
        "__hash__": hashed,
        "__repr__": text,
        "__setattr__": _refuse,
        "__delattr__": _refuse,
    }
    for name, method in methods.items():
        setattr(made, name, method)
    return made


def _refuse(self: object, name: str, *_: object) -> NoReturn:
    raise FrozenInstanceError(f"{type(self).__name__} is not changed: {name}")
