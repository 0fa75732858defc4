"""What to say about text that does not have an operation's form: an example of it, or the word that was meant."""

from __future__ import annotations

import inspect
import re
import sys
from difflib import get_close_matches
from enum import Enum

from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation

from .diagnostics import did_you_mean

MAX_EXAMPLE = 160


def example_of(op_type: type[Operation]) -> str | None:
    """The line of an operation's documentation that shows it, in the fenced example, and those that continue it."""
    doc = inspect.cleandoc(op_type.__dict__.get("__doc__") or "")
    for block in re.findall(r"```(?:mlir)?\n(.*?)```", doc, re.DOTALL):
        for line in re.sub(r"(?<=[^{\n])\n    +", " ", block).split("\n"):
            if op_type.name in line:
                line = line.strip()
                return line if len(line) <= MAX_EXAMPLE else line[: MAX_EXAMPLE - 4] + " ..."
    return None


def form_hint(op_type: type[Operation], found: str) -> str:
    """How to write an operation, where its text goes wrong at the word `found`."""
    doc = op_type.__dict__.get("__doc__") or ""
    words = {*re.findall(r"[a-z_]{4,}", doc), *_keywords(op_type)} - {found}
    if re.fullmatch(r"[a-z_]{4,}", found) and (near := get_close_matches(found, words, n=1, cutoff=0.8)):
        return f"did you mean '{near[0]}'?"
    if (example := example_of(op_type)) is not None:
        return f"it is written like this: {example}"
    return f"`weft-opt --explain {op_type.name}` describes the operation"


def _keywords(op_type: type[Operation]) -> set[str]:
    """The words of the enumerations that an operation's module has to do with."""
    things = [thing for thing in vars(sys.modules[op_type.__module__]).values() if isinstance(thing, type)]
    return {str(member.value) for thing in things if issubclass(thing, Enum) for member in thing}


def claim_properties(op: Operation) -> None:
    """Make properties of the attributes of `op` that are named so, as MLIR does: not every form tells them apart."""
    if isinstance(op, IRDLOperation) and op.attributes:
        for name in type(op).get_irdl_definition().properties.keys() & op.attributes.keys():
            if name not in op.properties:
                op.properties[name] = op.attributes.pop(name)


def misspelt_properties(op: Operation) -> list[tuple[str, str]]:
    """Attributes of `op` that mean nothing to it, and whose names are near those of properties it could have."""
    if not isinstance(op, IRDLOperation) or not op.attributes:
        return []
    definition = type(op).get_irdl_definition()
    free = [name for name in definition.properties if name not in op.properties or _is_default(op, name)]
    found: list[tuple[str, str]] = []
    for name in op.attributes:
        if "." not in name and name not in definition.attributes and (near := did_you_mean(name, free)) is not None:
            found.append((name, near))
    return found


def property_hint(op: Operation) -> str | None:
    """What may be meant by a property of `op` that its operation does not have."""
    if not isinstance(op, IRDLOperation):
        return None
    known = type(op).get_irdl_definition().properties
    return next((near for name in op.properties.keys() - known if (near := did_you_mean(name, known))), None)


def _is_default(op: IRDLOperation, name: str) -> bool:
    """Whether a property may have been filled in, as one with a default is where the text leaves it out."""
    return op.properties[name] == type(op).get_irdl_definition().properties[name].default_value
