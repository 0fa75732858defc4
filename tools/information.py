"""What `weft-opt` can tell about itself: dialects, passes, operations, versions."""

from __future__ import annotations

import dataclasses
import inspect
import textwrap
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from typing import get_type_hints

from xdsl.ir import Dialect, Operation
from xdsl.irdl import IRDLOperation, OpDef
from xdsl.passes import ModulePass
from xdsl.utils.hints import type_repr

from ..dialects import get_all_dialects
from ..dialects.support.diagnostics import UsageError, did_you_mean
from ..transforms.infra.registry import all_dialects, all_passes, canonical_name, get_pass_type, own_passes
from .options import Options


def print_information(options: Options) -> int:
    """Print what the options ask for on standard output.

    Raises:
        UsageError: nothing has the name to be explained.
    """
    if options.version:
        print(versions())
    if options.show_dialects:
        print(dialect_list())
    if options.list_passes:
        print(pass_list())
    if options.explain is not None:
        print(explain(options.explain))
    return 0


def versions() -> str:
    """Weft and the packages that its output depends on."""

    def of(package: str) -> str:
        try:
            return f"{package} {version(package)}"
        except PackageNotFoundError:
            return f"{package} (not installed)"

    return "\n".join(of(package) for package in ("weft", "xdsl", "llvmlite", "numpy"))


def dialect_list() -> str:
    """The names of all dialects, Weft's own first."""
    own = sorted(get_all_dialects())
    others = sorted(set(all_dialects()) - set(own))
    return f"Available dialects: {', '.join(own)}\n\nof xDSL and plug-ins:\n{_columns(others)}"


def pass_list() -> str:
    """All passes; Weft's own with a summary."""
    own = own_passes()
    width = max(map(len, own), default=0)
    lines = [f"  {name:<{width}}  {_summary(factory())}" for name, factory in own.items()]
    others = sorted(set(all_passes()) - set(own))
    return "\n".join(["Available passes:", *lines, "", "of xDSL and plug-ins:", _columns(others)])


def _columns(names: Iterable[str]) -> str:
    return textwrap.fill(", ".join(names), 100, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)


def _summary(thing: type) -> str:
    return _doc(thing).split("\n")[0]


def _doc(thing: type) -> str:
    return inspect.cleandoc(thing.__dict__.get("__doc__") or "")


def explain(name: str) -> str:
    """A description of the operation, pass or dialect `name`.

    Raises:
        UsageError: there is none.
    """
    dialects = all_dialects()
    if (operation := _find_operation(name)) is not None:
        return explain_operation(operation)
    if canonical_name(name) is not None:
        return explain_pass(get_pass_type(name))
    if name in dialects:
        return explain_dialect(dialects[name]())
    known = {*all_passes(), *dialects, *(op.name for d in _dialects_to_suggest(name) for op in d.operations)}
    raise UsageError(f"there is no operation, pass or dialect '{name}'", hint=did_you_mean(name, known))


def _find_operation(name: str) -> type[Operation] | None:
    dialect_name, dot, _ = name.partition(".")
    factory = all_dialects().get(dialect_name)
    if factory is None or not dot:
        return None
    return next((op for op in factory().operations if op.name == name), None)


def _dialects_to_suggest(name: str) -> list[Dialect]:
    dialects = all_dialects()
    first = name.partition(".")[0]
    return [dialects[n]() for n in dict.fromkeys((*get_all_dialects(), first)) if n in dialects]


def explain_dialect(dialect: Dialect) -> str:
    """A dialect's operations, attributes and types."""
    operations = list(dialect.operations)
    width = max((len(op.name) for op in operations), default=0)
    lines = [f"dialect {dialect.name}", "", "operations:"]
    lines += [f"  {op.name:<{width}}  {_summary(op)}" for op in sorted(operations, key=lambda op: op.name)]
    if attributes := list(dialect.attributes):
        lines += ["", "attributes and types:"]
        lines += [f"  {a.name}  {_summary(a)}" for a in sorted(attributes, key=lambda a: a.name)]
    return "\n".join(lines)


def explain_operation(operation: type[Operation]) -> str:
    """An operation's documentation, operands, attributes, results and traits."""
    lines = [f"operation {operation.name}", "", _doc(operation)]
    if issubclass(operation, IRDLOperation):
        lines += _definition(operation.get_irdl_definition())
    lines.append(f"\ndefined in {operation.__module__}.{operation.__name__}")
    return "\n".join(lines)


def _definition(definition: OpDef) -> list[str]:
    lines: list[str] = []
    groups: list[tuple[str, list[str]]] = [
        ("operands", [name for name, _ in definition.operands]),
        ("properties", list(definition.properties)),
        ("attributes", list(definition.attributes)),
        ("regions", [name for name, _ in definition.regions]),
        ("results", [name for name, _ in definition.results]),
        ("traits", sorted(type(trait).__name__.lstrip("_") for trait in definition.traits.traits)),
    ]
    for title, names in groups:
        if names:
            lines.append(f"\n{title}: {', '.join(names)}")
    return lines


def explain_pass(pass_type: type[ModulePass]) -> str:
    """A pass's documentation, level, requirements and options."""
    module_doc = inspect.getdoc(inspect.getmodule(pass_type)) or ""
    lines = ["\n\n".join(filter(None, (f"pass {pass_type.name}", module_doc, _doc(pass_type))))]
    options = [f for f in dataclasses.fields(pass_type) if f.init and f.name != "name"]
    option_names = {option.name for option in options}
    for attribute, title in (("tvm_name", "in TVM"), ("opt_level", "opt level"), ("required", "requires")):
        value: object = getattr(pass_type, attribute, None)
        if value and attribute not in option_names:
            lines.append(f"\n{title}: {', '.join(map(str, value)) if isinstance(value, tuple) else value}")  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if options:
        hints = get_type_hints(pass_type)
        lines.append("\noptions:")
        for option in options:
            default = "" if option.default is dataclasses.MISSING else f" = {option.default}"
            lines.append(f"  {option.name.replace('_', '-')}: {type_repr(hints[option.name])}{default}")
    lines.append(f"\ndefined in {pass_type.__module__}.{pass_type.__name__}")
    return "\n".join(lines)
