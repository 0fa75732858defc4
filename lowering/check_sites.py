"""What the checks of a compiled graph say when they fail: from the operations, by attributes, to the artefact.

A kernel says of each of its checks what the text is and which of the operators that were fused into it the check
belongs to (`weft.checks`, by the check's number). The graph's own function says, for every kernel call with a record,
in the order of the records, text and place of each: calls of one kernel stand for different layers of the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FusedLoc, IntegerAttr, LocationAttr, StringAttr, i64
from xdsl.ir import Attribute, Operation

from ..dialects.support.diagnostics import Diagnostic, Place
from ..dialects.support.hints import isa
from ..dialects.support.walking import within
from ..dialects.tir.calling import FAILED
from ..dialects.tir.calls import Convention
from ..dialects.tir.core import AssertOp, CallOp, CheckOp
from .abi import Site

CHECKS = "weft.checks"
"""Attribute of a kernel: its checks. Of a graph's function: those of each of its records."""
RECORDS = "weft.records"
"""Attribute of a graph's function: the byte of the arena from which on its records stand."""


Checked: TypeAlias = CheckOp | AssertOp | CallOp
"""What may fail while a kernel runs; of calls, those of Python functions."""
_CHECKED = (CheckOp, AssertOp, CallOp)


def checks_of(function: Operation) -> list[Checked]:
    """The checks in a function, in the order of their numbers."""
    found = cast("list[Checked]", [op for op in within(function) if type(op) in _CHECKED])
    return list(filter(_may_fail, found))


def _may_fail(op: Checked) -> bool:
    return not isinstance(op, CallOp) or op.kind == Convention.PACKED


def described(function: Operation, checks: Sequence[Checked]) -> ArrayAttr[Attribute]:
    """What a kernel says of its checks."""
    members = _members(function.location)
    return ArrayAttr([_described(check, members) for check in checks])


def _described(check: Checked, members: Sequence[LocationAttr]) -> DictionaryAttr:
    text = StringAttr(FAILED.format(name=check.callee.data)) if isinstance(check, CallOp) else check.text
    entries: dict[str, Attribute] = {"text": text}
    if check.location in members:
        entries["member"] = IntegerAttr(members.index(check.location), i64)
    elif (place := Place.of_location(check.location)) is not None:
        entries |= _place(place)
    return DictionaryAttr(entries)


def _members(location: LocationAttr) -> list[LocationAttr]:
    """The places of the operators that were fused into what stands at `location`."""
    if not isinstance(location, FusedLoc):
        return [location]
    inner = location.locations
    assert isa(inner, ArrayAttr[LocationAttr])
    return list(inner)


def _place(place: Place) -> dict[str, Attribute]:
    numbers = {"line": IntegerAttr(place.line, i64), "column": IntegerAttr(place.column, i64)}
    return {"file": StringAttr(place.file), **numbers}


def called(call: Operation, kernel: Operation) -> ArrayAttr[Attribute]:
    """What the checks of `kernel` say where `call` calls it.

    Raises:
        Diagnostic: the kernel takes a record, and does not say what its checks are.
    """
    sites = kernel.attributes.get(CHECKS)
    if not isa(sites, ArrayAttr[DictionaryAttr]):
        raise Diagnostic.at(kernel, f"it takes a record, but does not say what its checks are ({CHECKS})")
    members = _members(call.location)
    return ArrayAttr([_placed(site, members) for site in sites])


def _placed(site: DictionaryAttr, members: Sequence[LocationAttr]) -> DictionaryAttr:
    entries = {key: value for key, value in site.data.items() if key != "member"}
    member = site.data.get("member")
    number = member.value.data if isinstance(member, IntegerAttr) else 0
    if "file" not in entries and (place := Place.of_location(members[min(number, len(members) - 1)])) is not None:
        entries |= _place(place)
    return DictionaryAttr(entries)


def read_checks(attributes: Mapping[str, Attribute]) -> tuple[tuple[tuple[Site, ...], ...], int]:
    """The checks of each record of a graph, and where the records begin, from the attributes of its function."""
    records, start = attributes.get(CHECKS), attributes.get(RECORDS)
    if not isa(records, ArrayAttr[ArrayAttr[DictionaryAttr]]) or not isinstance(start, IntegerAttr):
        return (), 0
    return tuple(read_sites(record) for record in records), start.value.data


def read_sites(record: ArrayAttr[Attribute]) -> tuple[Site, ...]:
    """The checks of one record."""
    return tuple(_site(entry.data) for entry in record if isinstance(entry, DictionaryAttr))


def _site(entries: Mapping[str, Attribute]) -> Site:
    text, file = (value.data if isinstance(value := entries.get(key), StringAttr) else "" for key in ("text", "file"))
    line, column = (
        value.value.data if isinstance(value := entries.get(key), IntegerAttr) else 0 for key in ("line", "column")
    )
    return Site(text, file, line, column)
