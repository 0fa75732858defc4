"""A record is to its users what a frozen dataclass is."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace

import pytest

from weft.dialects.support.records import record


@record
class Lean:
    """A record."""

    name: str
    size: int = 3
    parts: tuple[int, ...] = ()
    notes: list[str] = field(default_factory=list[str])
    hidden: int = field(default=0, repr=False)

    @property
    def double(self) -> int:
        return 2 * self.size


@dataclass(frozen=True)
class Usual:
    """The same as a dataclass."""

    name: str
    size: int = 3
    parts: tuple[int, ...] = ()
    notes: list[str] = field(default_factory=list[str])
    hidden: int = field(default=0, repr=False)


@record
class Place:
    """One that can be hashed."""

    row: int
    column: int = 0


def test_a_record_is_made_and_shown_as_a_dataclass_is() -> None:
    for args, given in ((("a",), {}), (("a", 4), {"hidden": 1}), ((), {"name": "b", "parts": (1, 2)})):
        lean, usual = Lean(*args, **given), Usual(*args, **given)  # pyright: ignore
        assert repr(lean) == repr(usual).replace("Usual", "Lean")
        assert asdict(lean) == asdict(usual)
        assert asdict(replace(lean, size=9)) == asdict(replace(usual, size=9))
        assert [each.name for each in fields(lean)] == [each.name for each in fields(usual)]
        assert copy.copy(lean) == lean == pickle.loads(pickle.dumps(lean))
    assert Lean("a").double == 6 and Lean("a").notes is not Lean("a").notes


def test_records_are_equal_where_all_fields_are_and_the_class_is() -> None:
    assert Lean("a") == Lean("a") and Lean("a") != Lean("a", hidden=1)
    assert Lean("a") != Usual("a") and Place(1) != (1, 0)
    assert {Place(1): "one"}[Place(1, 0)] == "one" and len({Place(1), Place(0, 1), Place(1)}) == 2
    with pytest.raises(TypeError, match="unhashable"):
        hash(Lean("a"))


def test_a_record_is_not_changed() -> None:
    place = Place(1)
    with pytest.raises(FrozenInstanceError, match="Place is not changed: row"):
        place.row = 2  # pyright: ignore
    with pytest.raises(FrozenInstanceError, match="Place is not changed: row"):
        del place.row  # pyright: ignore
    assert place == Place(1)


@pytest.mark.parametrize(
    ("args", "given", "message"),
    [
        ((), {}, "Place lacks row"),
        ((1, 2, 3), {}, "Place takes row, column, each once"),
        ((1,), {"row": 1}, "each once"),
        ((1,), {"rwo": 1}, "each once"),
    ],
)
def test_a_record_is_given_its_fields_each_once(args: tuple[int, ...], given: dict[str, int], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Place(*args, **given)
