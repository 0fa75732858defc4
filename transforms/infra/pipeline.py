"""Pass pipelines as text, flat and nested.

    fold-constant,fuse-ops{opt-level=2 max-depth=4}
    builtin.module(relay.func(fold-constant,fuse-ops),tir.prim_func(tir-simplify))

Between passes stands a comma, between options a space; `-` and `_` are the same in option names; a bare option is true.
A group `relay.func(...)` or `tir.prim_func(...)` holds passes over such functions only; `builtin.module(...)` any. A
group is a `Sequential`, and runs each of its passes on all functions before the next one; but for
`apart(each(...),rest(...))`, which takes one function after the other out of the module and through all of `each`, then
the rest of the module through `rest` (`apart`).
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from types import NoneType, UnionType
from typing import Literal, get_args, get_origin

from xdsl.passes import ModulePass as XdslPass
from xdsl.utils.arg_spec import ArgSpec, ParameterListType, parse_spec
from xdsl.utils.exceptions import ArgSpecParseError

from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import Place, did_you_mean
from .adapt import adapted
from .errors import PipelineError, UnknownPassError
from .passes import FunctionPass, PrimFuncPass
from .registry import get_pass_type
from .sequential import Sequential

_ANCHORS: dict[str, tuple[type[XdslPass], ...]] = {
    "builtin.module": (XdslPass,),
    "any": (XdslPass,),
    "relay.func": (FunctionPass,),
    "tir.prim_func": (PrimFuncPass,),
    "apart": (),
    "each": (XdslPass,),
    "rest": (XdslPass,),
}
"""What groups may hold."""

_ELEMENT = re.compile(r"\s*([\w.-]+)\s*")
_OPTIONS = re.compile(r'\{(?:[^{}"\[\]]|"(?:\\.|[^"\\])*")*\}')


@checked
def parse_pipeline(text: str) -> Sequential:
    """The passes that `text` names, as one pass.

    A text that is one `builtin.module(...)` gives that group itself.

    Raises:
        PipelineError: the text is not well-formed, an option is unknown or ill-typed, or a pass does not fit its
            group; the message shows the place.
        UnknownPassError: there is no pass of a name; the message shows near ones.
    """
    # Open groups: (anchor, position, passes so far). An explicit stack: pipelines may be nested to any depth.
    groups: list[tuple[str, int, list[XdslPass]]] = [("builtin.module", 0, [])]
    position, expect_element = 0, True
    while position < len(text):
        if expect_element:
            match = _ELEMENT.match(text, position)
            if match is None:
                if text[position:].strip() == "" and len(groups) == 1 and not groups[0][2]:
                    break
                if text[position] == ")" and not groups[-1][2] and len(groups) > 1:  # an empty group
                    expect_element = False
                    continue
                raise _error(text, position, "expected the name of a pass")
            name, start, position = match.group(1), match.start(1), match.end()
            if position < len(text) and text[position] == "(":
                if name not in _ANCHORS:
                    hint = did_you_mean(name, _ANCHORS) or f"groups are {', '.join(_ANCHORS)}"
                    raise PipelineError(f"'{name}' cannot hold passes", _place(text, start, name), hint=hint)
                groups.append((name, start, []))
                position += 1
                continue
            options = ""
            if position < len(text) and text[position] == "{":
                if (match := _OPTIONS.match(text, position)) is None:
                    raise _error(text, position, "this '{' is not closed")
                options, position = match.group(), match.end()
            groups[-1][2].append(_make(text, start, name, options, groups[-1][0]))
            expect_element = False
        elif text[position].isspace():
            position += 1
        elif text[position] == ",":
            position, expect_element = position + 1, True
        elif text[position] == ")" and len(groups) > 1:
            anchor, start, passes = groups.pop()
            groups[-1][2].append(_group(text, start, anchor, passes, groups[-1][0]))
            position += 1
        else:
            raise _error(text, position, "expected ',' or the end of the pipeline")
    if len(groups) > 1:
        raise _error(text, groups[-1][1], f"the group '{groups[-1][0]}' is not closed")
    if expect_element and groups[0][2]:
        raise _error(text, len(text), "expected another pass after ','")
    passes = groups[0][2]
    if len(passes) == 1 and isinstance(only := passes[0], Sequential) and only.info.name == "builtin.module":
        return only
    return Sequential(passes)


def _group(text: str, start: int, anchor: str, passes: Sequence[XdslPass], around: str) -> Sequential:
    hint = "write apart(each(...),rest(...))"
    if (around == "apart") != (anchor in ("each", "rest")):
        raise PipelineError(f"'{anchor}' cannot stand in '{around}'", _place(text, start, anchor), hint=hint)
    if anchor != "apart":
        return _Group(passes, name=anchor)
    groups = {pass_.info.name: pass_ for pass_ in passes if isinstance(pass_, Sequential)}
    if [*groups] not in (["each"], ["each", "rest"]) or len(groups) != len(passes):
        raise PipelineError("'apart' holds 'each' and then 'rest'", _place(text, start, anchor), hint=hint)
    from .apart import Apart  # brings the dialects of functions, which most pipelines need not

    return Apart(groups["each"], groups.get("rest", Sequential()))


class _Group(Sequential):
    """A nested part of a pipeline; prints as it was written."""

    def __init__(self, passes: Sequence[XdslPass], name: str):
        super().__init__(passes, name=name)
        object.__setattr__(self, "sequence_info", dataclasses.replace(self.info, spec=f"{name}({self.members_text})"))

    def __str__(self) -> str:
        return self.info.spec


def _place(text: str, position: int, piece: str = "") -> Place:
    line = text.count("\n", 0, position) + 1
    begin = text.rfind("\n", 0, position) + 1
    return Place("<pipeline>", line, position - begin + 1, len(piece) or 1, text[begin:].partition("\n")[0])


def _error(text: str, position: int, message: str) -> PipelineError:
    return PipelineError(message, _place(text, position))


def _make(text: str, position: int, name: str, options: str, anchor: str) -> XdslPass:
    place = _place(text, position, name)
    try:
        pass_type = adapted(get_pass_type(name))
    except UnknownPassError as error:
        raise UnknownPassError(error.message, place, hint=error.hint) from None
    if anchor == "apart":
        hint = "write apart(each(...),rest(...))"
        raise PipelineError("'apart' holds 'each' and then 'rest'", place, hint=hint)
    if not issubclass(pass_type, _ANCHORS[anchor]):
        hint = f"write it outside of '{anchor}(...)'"
        raise PipelineError(f"'{name}' does not work on single functions", place, hint=hint)
    try:
        spec = parse_spec("x" + options)  # pass names are ours to judge, options xDSL's
    except ArgSpecParseError as error:
        reason = str(error).strip().splitlines()[-1].strip(" ^")
        hint = 'what is no number and no single word stands in quotes: {file="a.mlir"}'
        raise PipelineError(f"the options of '{name}' cannot be read: {reason}", place, hint=hint) from None
    except ValueError:  # Python reads whole numbers of some thousand digits at most
        raise PipelineError(f"the options of '{name}' cannot be read: a number is too long", place) from None
    known = pass_type.option_types()
    parameters: dict[str, ParameterListType] = {}
    for written, values in spec.normalize_parameter_names().parameters.items():
        option = pass_type.option_aliases.get(written, written)
        if option not in known:
            names = [n.replace("_", "-") for n in known]
            hint = did_you_mean(option.replace("_", "-"), names) or f"its options are: {', '.join(names) or 'none'}"
            raise PipelineError(f"the pass '{name}' has no option '{option.replace('_', '-')}'", place, hint=hint)
        parameters[option] = _as_expected(values, known[option])
    try:
        return pass_type.from_spec(ArgSpec(pass_type.name, parameters))
    except ValueError as error:
        for written, values in spec.normalize_parameter_names().parameters.items():
            option = pass_type.option_aliases.get(written, written)
            if str(error).startswith(f"Incompatible types: given {parameters[option]}, expected"):
                given = " ".join(str(value) for value in values) or "nothing"
                message = (
                    f"the option '{option.replace('_', '-')}' of '{name}' takes {_kind(known[option])}, not {given}"
                )
                raise PipelineError(message, _option_place(text, position, options, written)) from None
        raise PipelineError(f"{name}: {str(error)[:1].lower()}{str(error)[1:]}", place) from None


def _kind(expected: object) -> str:
    """What an option's type demands, in words."""
    if get_origin(expected) is Literal:
        return " or ".join(f"'{choice}'" for choice in get_args(expected))
    if isinstance(expected, UnionType):
        return " or ".join(_kind(each) for each in get_args(expected) if each is not NoneType)
    if get_origin(expected) is tuple:
        return "several of: " + _kind(get_args(expected)[0])
    known = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
    return known[expected] if isinstance(expected, type) and expected in known else str(expected)


def _option_place(text: str, position: int, options: str, written: str) -> Place:
    """Where an option of the pass at `position` stands, which has `options`."""
    found = re.search(rf"\b{written.replace('_', '[-_]')}\b[^\s}}]*", options)
    if found is None:
        return _place(text, position)
    return _place(text, text.index(options, position) + found.start(), found.group())


def _as_expected(values: ParameterListType, expected: object) -> ParameterListType:
    """A bare truth-valued option is true; a whole number does for a real one."""
    if values == () and expected in (bool, bool | None):
        return (True,)
    if expected in (float, float | None):
        return tuple(float(v) if type(v) is int else v for v in values)
    return values
