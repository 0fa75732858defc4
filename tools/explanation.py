"""What `weft-opt --explain` says of an operation, an attribute or a type, a dialect, a pass, a phase."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterable
from typing import cast, get_type_hints

from xdsl.ir import Attribute, Dialect, Operation
from xdsl.irdl import AttrConstraint, IRDLOperation, OpDef, OperandDef, ResultDef
from xdsl.irdl.constraints import RangeLengthConstraint, RangeOf
from xdsl.irdl.operations import AttrOrPropDef
from xdsl.passes import ModulePass
from xdsl.utils.hints import type_repr

from ..dialects import get_all_dialects
from ..dialects.support.diagnostics import UsageError, did_you_mean
from ..transforms.infra.registry import all_dialects, all_passes, canonical_name, get_pass_type

PHASES = {
    "import": "`relay`, as the frontend reads it from the model.",
    "graph": "`relay`, after the graph's optimisations.",
    "fuse": "`relay`, operators grouped into kernels: one `relay.func` marked `relay.primitive` for each.",
    "tir": "`tir`: each kernel is a loop nest over blocks, from its operators' `compute`.",
    "schedule": "`tir`: loops ordered, tiled, vectorised and given to threads.",
    "loops": "`func`, `scf`, `memref`, `vector`, `arith`: kernels on buffers, and a main function that calls them.",
    "llvm": "The `llvm` dialect.",
    "object": "Machine code.",
}
"""What a module is made of after each phase."""

_NO_SUMMARY = re.compile(r"(No|Has no) options|Options?:|Runs ")


def explain(name: str) -> str:
    """A description of the operation, attribute, type, pass, dialect or phase `name`.

    Raises:
        UsageError: there is none.
    """
    dialects = all_dialects()
    if (operation := _find_operation(name)) is not None:
        return explain_operation(operation)
    if (attribute := _find_attribute(name)) is not None:
        return explain_attribute(attribute)
    if canonical_name(name) is not None:
        return explain_pass(get_pass_type(name))
    if name in dialects:
        return explain_dialect(dialects[name]())
    if name in PHASES:
        before = list(PHASES)[list(PHASES).index(name) - 1] if name != "import" else None
        after = f"\n\ncomes after: {before}" if before else ""
        return f"phase {name}\n\n{PHASES[name]}{after}\n\nto see it: weft-opt MODEL.mlir --compile-to={name}"
    what = "operation, attribute, type, pass, dialect or phase"
    raise UsageError(f"there is no {what} '{name}'", hint=_suggestion(name))


def _suggestion(name: str) -> str | None:
    """Names that end so come first: `conv2d` stands for `relay.nn.conv2d`."""
    operations = [op.name for dialect in _dialects_to_suggest(name) for op in dialect.operations]
    same = [op for op in operations if op.endswith(f".{name}")]
    if same:
        return f"did you mean {' or '.join(map(repr, same[:3]))}?"
    known = {*all_passes(), *all_dialects(), *PHASES, *operations}
    return did_you_mean(name, known)


def _find_operation(name: str) -> type[Operation] | None:
    dialect_name, dot, _ = name.partition(".")
    factory = all_dialects().get(dialect_name)
    if factory is None or not dot:
        return None
    return next((op for op in factory().operations if op.name == name), None)


def _find_attribute(name: str) -> type[Attribute] | None:
    name = name.removeprefix("#").removeprefix("!")
    dialect_name, dot, _ = name.partition(".")
    factory = all_dialects().get(dialect_name if dot else "builtin")
    if factory is None:
        return None
    return next((a for a in factory().attributes if a.name == name), None)


def _dialects_to_suggest(name: str) -> list[Dialect]:
    dialects = all_dialects()
    first = name.partition(".")[0]
    return [dialects[n]() for n in dict.fromkeys((*get_all_dialects(), first)) if n in dialects]


def doc_of(thing: type) -> str:
    """What a class says of itself, not what it inherits, nor what `dataclass` writes of its fields."""
    doc = thing.__dict__.get("__doc__") or ""
    return "" if doc.startswith(f"{thing.__name__}(") else inspect.cleandoc(doc)


def summary(thing: type) -> str:
    """The first sentence of a class's documentation, in one line."""
    return _first_sentence(doc_of(thing))


def pass_summary(pass_type: type[ModulePass]) -> str:
    """What a pass does, in one line: from its class, or its file where the class speaks of its options only."""
    own = doc_of(pass_type)
    if own and not _NO_SUMMARY.match(own):
        return _first_sentence(own)
    return _first_sentence(inspect.getdoc(inspect.getmodule(pass_type)) or own)


def _first_sentence(text: str) -> str:
    paragraph = " ".join(text.split("\n\n")[0].split())
    return re.split(r"(?<=[.:]) (?=[A-Z`%])", paragraph)[0].removesuffix(":")


def explain_dialect(dialect: Dialect) -> str:
    """A dialect's operations, attributes and types."""
    operations = list(dialect.operations)
    width = max((len(op.name) for op in operations), default=0)
    lines = [f"dialect {dialect.name}", "", "operations:"]
    lines += [f"  {op.name:<{width}}  {summary(op)}" for op in sorted(operations, key=lambda op: op.name)]
    if attributes := list(dialect.attributes):
        lines += ["", "attributes and types:"]
        lines += [f"  {a.name}  {summary(a)}" for a in sorted(attributes, key=lambda a: a.name)]
    return "\n".join(lines)


def explain_attribute(attribute: type[Attribute]) -> str:
    """The documentation of an attribute or a type."""
    lines = [f"attribute or type {attribute.name}", "", doc_of(attribute)]
    lines.append(f"\ndefined in {attribute.__module__}.{attribute.__name__}")
    return "\n".join(lines)


def explain_operation(operation: type[Operation]) -> str:
    """An operation's documentation, operands, attributes, results, traits, and its counterparts elsewhere."""
    lines = [f"operation {operation.name}", "", doc_of(operation)]
    if issubclass(operation, IRDLOperation):
        lines += _definition(operation.get_irdl_definition())
    if onnx := getattr(operation, "ONNX", ()):
        lines.append(f"\nin ONNX: {', '.join(onnx)}")
    if operation.name.startswith("relay."):
        lines.append(f"\nin TVM: {operation.name}")
    lines.append(f"\ndefined in {operation.__module__}.{operation.__name__}")
    return "\n".join(lines)


def _definition(definition: OpDef) -> list[str]:
    lines: list[str] = []
    groups: list[tuple[str, list[str]]] = [
        ("operands", [_value(name, value) for name, value in definition.operands]),
        ("properties", [_property(name, value) for name, value in definition.properties.items()]),
        ("attributes", [_property(name, value) for name, value in definition.attributes.items()]),
        ("regions", [name for name, _ in definition.regions]),
        ("results", [_value(name, value) for name, value in definition.results]),
        ("traits", sorted(map(_trait, definition.traits.traits))),
    ]
    for title, entries in groups:
        if entries:
            lines += [f"\n{title}:", *(f"  {entry}" for entry in entries)]
    return lines


def _value(name: str, definition: OperandDef | ResultDef) -> str:
    kind = type(definition).__name__
    how = "several of " if kind.startswith("Var") else "optional " if kind.startswith("Opt") else ""
    return f"{name}: {how}{_kinds(definition.constr)}"


def _property(name: str, definition: AttrOrPropDef) -> str:
    optional = "optional " if type(definition).__name__.startswith("Opt") else ""
    default = "" if definition.default_value is None else f" = {definition.default_value}"
    return f"{name}: {optional}{_kinds(definition.constr)}{default}"


def _kinds(constraint: object) -> str:
    """The attributes or types that a constraint lets through, by their names in the text."""
    if isinstance(constraint, RangeLengthConstraint):
        return _kinds(cast("RangeLengthConstraint[Attribute]", constraint).constraint)
    if isinstance(constraint, RangeOf):  # of each of several values
        return _kinds(cast("RangeOf[Attribute]", constraint).constr)
    bases = constraint.get_bases() if isinstance(constraint, AttrConstraint) else None
    names: Iterable[str] = sorted(base.name.removeprefix("builtin.") for base in bases or ())
    return " or ".join(names) or "any"


def _trait(trait: object) -> str:
    name = type(trait).__name__.lstrip("_")
    kind = getattr(trait, "kind", None)
    return name if kind is None else f"{name}({getattr(kind, 'name', kind)})"


def explain_pass(pass_type: type[ModulePass]) -> str:
    """A pass's documentation, level, requirements and options."""
    module_doc = inspect.getdoc(inspect.getmodule(pass_type)) or ""
    lines = ["\n\n".join(filter(None, (f"pass {pass_type.name}", module_doc, doc_of(pass_type))))]
    options = [f for f in dataclasses.fields(pass_type) if f.init and f.name != "name"]
    option_names = {option.name for option in options}
    for attribute, title in (("tvm_name", "in TVM"), ("opt_level", "opt level"), ("required", "requires")):
        value: object = getattr(pass_type, attribute, None)
        if value and attribute not in option_names:
            lines.append(f"\n{title}: {', '.join(map(str, value)) if isinstance(value, tuple) else value}")  # pyright: ignore[reportUnknownArgumentType]
    if options:
        hints = get_type_hints(pass_type)
        lines.append("\noptions:")
        for option in options:
            default = "" if option.default is dataclasses.MISSING else f" = {option.default}"
            lines.append(f"  {option.name.replace('_', '-')}: {type_repr(hints[option.name])}{default}")
    lines.append(f"\ndefined in {pass_type.__module__}.{pass_type.__name__}")
    return "\n".join(lines)
