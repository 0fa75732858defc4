"""The forms in which a target is written: text with options, JSON, tags; each as a kind and its options."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import TypeAlias, cast

from ...dialects.support.diagnostics import UsageError, did_you_mean
from ...dialects.support.hints import is_sequence
from .target_kinds import COMPOSITE, TargetKind, kind_named, tags

Options: TypeAlias = dict[str, object]


class TargetError(UsageError, ValueError):
    """A target that cannot be read, or a processor that LLVM does not know."""


def read_text(text: str) -> tuple[TargetKind, Options] | Mapping[str, object]:
    """The kind and the options of `llvm -mcpu=native`, or of a tag with options; the object where it is JSON, or is as
    good as that: `composite -devices=llvm,cuda`. A value may be a word of its own: `-num-cores 4`.

    Raises:
        TargetError: there is no such kind, tag or option, or it is no text of a target.
    """
    if text.lstrip().startswith("{"):
        try:
            return cast("Mapping[str, object]", json.loads(text))
        except (ValueError, RecursionError) as error:
            raise TargetError(f"the target '{text}' is no JSON: {error}") from None
    try:
        name, *words = shlex.split(text) or [""]
    except ValueError as error:
        raise TargetError(f"the target '{text}' cannot be read: {str(error).lower()}") from None
    if name == COMPOSITE:
        return _composite(words)
    kind, options = _started(name)
    given: set[str] = set()
    known = [f"-{each}" for each in kind.options()]
    waiting = iter(words)
    for word in waiting:
        option, equals, value = word.removeprefix("-" if word.startswith("--") else "").partition("=")
        if option in known and not equals and (value := next(waiting, "")).startswith("-"):
            value = ""
        if option not in known:
            listed = ", ".join(f"{each}=" for each in known)
            raise TargetError(f"unknown target option '{word}'; options are {listed}", hint=did_you_mean(option, known))
        if not value:
            raise TargetError(f"the target option '{option}' has no value")
        if option in given:
            hint = "write -mattr=+avx2,+fma" if option == "-mattr" else None
            raise TargetError(f"the target option '{option}' stands twice", hint=hint)
        given.add(option)
        options[option[1:]] = value
    return kind, options


def _composite(words: Sequence[str]) -> Mapping[str, object]:
    """What `composite -host=llvm -devices=cuda` is as JSON: the host is one of its targets."""
    found: dict[str, str] = {}
    for word in words:
        option, _, value = word.lstrip("-").partition("=")
        if option not in ("devices", "host") or not value or option in found:
            raise TargetError(f"'{word}' says nothing of a composite target", hint="composite -host=llvm -devices=cuda")
        found[option] = value
    devices = list(filter(None, found.get("devices", "").split(",")))
    host = [found["host"]] if "host" in found and found["host"] not in devices else []
    return {"kind": COMPOSITE, "devices": [*host, *devices]}


def _started(name: str) -> tuple[TargetKind, Options]:
    """The kind and the options that the first word of a target stands for."""
    if "/" not in name:
        return _kind(name), {}
    return read_object({"tag": name})


def read_object(given: Mapping[str, object]) -> tuple[TargetKind, Options]:
    """The kind and the options of `{"kind": "llvm", "mcpu": "native", "mattr": ["+avx2"]}`, or of `{"tag": ...}` with
    what differs.

    Raises:
        TargetError: there is no such kind, tag or option, or a value is of no use.
    """
    fields = dict(given)
    if (tag := fields.pop("tag", None)) is not None:
        known = tags()
        if str(tag) not in known:
            raise TargetError(f"there is no tag '{tag}'", hint=did_you_mean(str(tag), known))
        fields = {**known[str(tag)], **fields}
    name = fields.pop("kind", None)
    if not isinstance(name, str):
        raise TargetError("a target says its kind", hint='{"kind": "llvm"}')
    kind = _kind(name)
    options: Options = {}
    for option, value in fields.items():
        if option not in kind.options():
            listed = ", ".join(kind.options())
            hint = did_you_mean(str(option), kind.options())
            raise TargetError(f"unknown target option '{option}'; options are {listed}", hint=hint)
        if option == "host":
            options[option] = value
        elif is_sequence(value):
            options[option] = ",".join(map(str, value))
        elif isinstance(value, str | int) and not isinstance(value, bool):
            options[option] = str(value)
        else:
            raise TargetError(f"the target option '{option}' is a text, a number or a list, not {value!r}")
    return kind, options


def _kind(name: str) -> TargetKind:
    try:
        return kind_named(name)
    except UsageError as error:
        raise TargetError(error.message, hint=error.hint) from None
