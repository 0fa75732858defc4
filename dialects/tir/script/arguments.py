"""The arguments of a call in TVMScript: by position or by name, as nodes or as what they are worth."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from xdsl.ir import Attribute
from xdsl.utils.exceptions import ParseError

from ...support.hints import is_dict
from ...support.python_values import attribute_of
from .attributes import attribute_from_text
from .scope import Buffer, Handle, NotStatic, Scope


class Arguments:
    """The arguments of one call."""

    def __init__(self, scope: Scope, call: ast.Call, name: str):
        self.scope = scope
        self.call = call
        self.name = name
        self.by_name = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}

    def nodes(self, *names: str, optional: Sequence[str] = ()) -> list[ast.expr]:
        """The arguments `names`, all of which must be given; of `optional` ones, those given follow.

        Raises:
            Diagnostic: there are others, or too few.
        """
        every = [*names, *optional]
        given = dict(zip(every, self.call.args, strict=False))
        if len(self.call.args) > len(every):
            raise self.scope.source.error(self.call, f"{self.name} takes {', '.join(every) or 'no arguments'}")
        for keyword, value in self.by_name.items():
            if keyword not in every:
                hint = f"it takes {', '.join(every)}" if every else None
                raise self.scope.source.error(value, f"{self.name} takes no argument '{keyword}'", hint)
            if keyword in given:
                raise self.scope.source.error(value, f"{self.name} is given '{keyword}' twice")
            given[keyword] = value
        self.given = given
        if missing := [each for each in names if each not in given]:
            raise self.scope.source.error(self.call, f"{self.name} is not given {', '.join(missing)}")
        return [given[each] for each in every if each in given]

    def static(self, name: str, default: object) -> object:
        """What an argument that `nodes` has found is worth."""
        node = self.given.get(name)
        return default if node is None else self.literal(node)

    def literal(self, node: ast.expr) -> object:
        """What a node is worth: a Python value, or an attribute.

        Raises:
            Diagnostic: it is known only when the function runs.
        """
        return literal(self.scope, node)

    def dictionary(self, name: str) -> dict[str, Attribute]:
        """The only argument, a dictionary, as attributes."""
        (node,) = self.nodes(name)
        return attributes_of(self.scope, node)


def literal(scope: Scope, node: ast.expr) -> object:
    """What a node is worth when the function is read.

    Raises:
        Diagnostic: it is known only when the function runs.
    """
    match node:
        case ast.Call(func=func, args=[text]) if scope.word(func) == "attribute":
            try:
                return attribute_from_text(str(literal(scope, text)))
            except ParseError as error:
                raise scope.source.error(text, f"this is no attribute: {error.msg}") from error
        case ast.Call(func=func, args=[target]) if scope.word(func) == "target":
            return literal(scope, target)
        case ast.List(elts=elts) | ast.Tuple(elts=elts):
            return [literal(scope, each) for each in elts]
        case ast.Dict(keys=keys, values=values):
            return {
                str(literal(scope, key)): literal(scope, value)
                for key, value in zip(keys, values, strict=True)
                if key is not None
            }
        case _:
            pass
    if (word := scope.word(node)) is not None:
        return word  # T.float32 where a dtype is asked for
    if isinstance(node, ast.Name) and isinstance(scope.local.get(node.id), Buffer | Handle):
        return node.id  # no attribute holds a buffer: its name is what can be said of it
    try:
        return scope.static(node)
    except NotStatic as error:
        raise scope.source.error(node, "this must be known when the function is read") from error


def attributes_of(scope: Scope, node: ast.expr) -> dict[str, Attribute]:
    """A dictionary as attributes.

    Raises:
        Diagnostic: it is none, or a value has no attribute.
    """
    found = literal(scope, node)
    if not is_dict(found):
        raise scope.source.error(node, "a dictionary of names and values is wanted here")
    made: dict[str, Attribute] = {}
    for name, value in found.items():
        try:
            made[str(name)] = attribute_of(value)
        except TypeError as error:
            raise scope.source.error(node, f"'{name}': {error}") from error
    return made
