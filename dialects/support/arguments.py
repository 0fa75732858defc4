"""What a public function is called with: refused by name where it is not what the signature says.

    @checked
    def load(path: str | os.PathLike[str], threads: int | None = None) -> Executable: ...

    load(5)     # ArgumentError: 'path' of weft.load is a str or a PathLike, and not an int: 5

The annotations and the docstring are all that there is to write: a rule is made of each annotation when the function is
called for the first time, and what the docstring says of an argument is the hint. What cannot be judged by looking
(arrays, protocols, names that only type checkers import) passes; the function itself says what is wrong with it.
"""

from __future__ import annotations

import builtins
import inspect
import re
import types
import typing
from collections import abc
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from numbers import Integral, Real
from typing import Any, ParamSpec, TypeVar, cast

from .diagnostics import UsageError, did_you_mean
from .records import record

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C")


class ArgumentError(UsageError, TypeError):
    """An argument is not of the type that it has to be of."""


@record
class Rule:
    """What values an annotation stands for, and the words for them."""

    fits: Callable[[object], bool]
    words: str
    element: Rule | None = None
    """That of the elements, where it is about a collection."""


ANYTHING = Rule(lambda value: True, "anything")


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Have a function check its arguments against its annotations.

    Raises (when the function is called):
        ArgumentError: an argument is not what its annotation says.
    """
    code = cast(types.FunctionType, function).__code__
    names = code.co_varnames[: code.co_argcount]
    has_rest = bool(code.co_flags & inspect.CO_VARARGS)
    rest = "*" + code.co_varnames[code.co_argcount + code.co_kwonlyargcount] if has_rest else ""
    takes_any = bool(code.co_flags & inspect.CO_VARKEYWORDS)
    keywords = code.co_varnames[code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount]
    rules: dict[str, Rule] = {}

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if not rules:
            rules.update(rules_of(function))
            rules.setdefault("return", ANYTHING)
        for name, value in zip(names, args, strict=False):
            if name in rules and not rules[name].fits(value):
                raise _refusal(call, name, rules[name], value)
        for name, value in kwargs.items():
            if name not in keywords and not takes_any:
                raise _unknown(call, name, keywords)
            if name in rules and not rules[name].fits(value):
                raise _refusal(call, name, rules[name], value)
        for value in args[len(names) :]:
            if not (rule := rules.get(rest, ANYTHING)).fits(value):
                raise _refusal(call, rest, rule, value)
        return function(*args, **kwargs)

    return call


def checked_methods(cls: type[C]) -> type[C]:
    """`checked`, for the constructor and the public methods of a class, static ones and the class's too: its own, and a
    constructor that `dataclass` has made."""
    for name in list(vars(cls)):
        if name in ("__init__", "__getitem__") or not name.startswith("_"):
            check_method(cls, name)
    return cls


def check_method(cls: type, name: str) -> None:
    """`checked`, for one method that a class defines itself; what is no method stays as it is."""
    method: object = vars(cls).get(name)
    kind = cast(Any, type(method))
    inner = getattr(method, "__func__", None) if kind in (staticmethod, classmethod) else method
    if isinstance(inner, types.FunctionType):
        made = checked(inner)
        setattr(cls, name, made if inner is method else kind(made))


def rules_of(function: Callable[..., object]) -> dict[str, Rule]:
    """The rule of each parameter that has one, by name; that of `*rest` is called `*rest`."""
    found: dict[str, Rule] = {}
    module = cast(types.FunctionType, function).__globals__
    for name, parameter in inspect.signature(function).parameters.items():
        annotated = parameter.annotation is not parameter.empty
        rule = rule_of(_evaluated(parameter.annotation, module)) if annotated else ANYTHING
        if rule is not ANYTHING and parameter.kind is not parameter.VAR_KEYWORD:
            found[f"*{name}" if parameter.kind is parameter.VAR_POSITIONAL else name] = rule
    return found


class _Unknown:
    """A name that only type checkers import, and whatever is made of it."""

    def __getattr__(self, name: str) -> _Unknown:
        return self

    def __getitem__(self, index: object) -> _Unknown:
        return self

    def __or__(self, other: object) -> _Unknown:
        return self

    __ror__ = __or__


class _Names(dict[str, object]):
    """The names of a module; an alias that is written as text is what the text means."""

    def __getitem__(self, name: str) -> object:
        value = super().__getitem__(name)
        return eval(value, {}, self) if isinstance(value, str) else value

    def __missing__(self, name: str) -> object:
        return getattr(builtins, name, _Unknown())


def _evaluated(annotation: object, module: Mapping[str, object]) -> object:
    """What an annotation's text means in a module."""
    return eval(annotation, {}, _Names(module)) if isinstance(annotation, str) else annotation


_CALLABLE = typing.get_origin(Callable[..., object])


def rule_of(annotation: Any) -> Rule:
    """The rule of an annotation that is no text; `ANYTHING` where values cannot be judged by it."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation is typing.Any or isinstance(annotation, str):
        return ANYTHING
    if annotation is None or annotation is types.NoneType:
        return Rule(lambda value: value is None, "None")
    if origin is typing.Annotated:
        return rule_of(arguments[0])
    if origin in (typing.Union, types.UnionType):
        return _either([rule_of(argument) for argument in arguments])
    if origin is typing.Literal:
        return Rule(lambda value: _is_one_of(value, arguments), " or ".join(map(repr, arguments)))
    if (origin or annotation) is _CALLABLE:
        return Rule(callable, "a function")
    if origin is type:
        return Rule(lambda value: isinstance(value, type), "a class")
    if isinstance(origin or annotation, type):
        return _of_class(origin or annotation, arguments)
    return ANYTHING


def _is_one_of(value: object, literals: tuple[object, ...]) -> bool:
    return any(type(value) is type(literal) and value == literal for literal in literals)


def _either(rules: list[Rule]) -> Rule:
    if ANYTHING in rules:
        return ANYTHING
    words = list(dict.fromkeys(rule.words for rule in rules))
    text = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
    element = next((rule.element for rule in rules if rule.element is not None), None)
    return Rule(lambda value: any(rule.fits(value) for rule in rules), text, element)


def _of_class(cls: type, arguments: tuple[Any, ...]) -> Rule:
    if getattr(cls, "_is_protocol", False) and not getattr(cls, "_is_runtime_protocol", False):
        return Rule(callable, "a function") if "__call__" in vars(cls) else ANYTHING
    if cls is object or cls.__name__.startswith("_"):  # as those of `npt.ArrayLike`
        return ANYTHING
    if issubclass(cls, typing.IO):
        return Rule(lambda value: hasattr(value, "write"), "a stream")
    if cls is int:
        return Rule(lambda value: _is_number(value, Integral), "an int")
    if cls is float:
        return Rule(lambda value: _is_number(value, Real), "a float")
    if issubclass(cls, abc.Mapping):
        return _mapping(arguments)
    if cls is tuple and arguments and arguments[-1] is not ...:
        return _fixed([rule_of(argument) for argument in arguments])
    if cls is not str and cls is not bytes and issubclass(cls, abc.Iterable) and cls.__module__ in _COLLECTIONS:
        return _collection(cast(type, cls), rule_of(arguments[0]) if arguments else ANYTHING)
    return Rule(lambda value: isinstance(value, cls), _with_article(cls.__name__))


def _is_number(value: object, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


_COLLECTIONS = ("builtins", "collections.abc", "typing")


def _mapping(arguments: tuple[Any, ...]) -> Rule:
    key, value = map(rule_of, arguments) if arguments else (ANYTHING, ANYTHING)

    def fits(given: object) -> bool:
        if not isinstance(given, abc.Mapping):
            return False
        return all(key.fits(k) and value.fits(v) for k, v in cast("Mapping[object, object]", given).items())

    return Rule(fits, f"a mapping from {_bare(key.words)} to {_bare(value.words)}")


def _fixed(elements: list[Rule]) -> Rule:
    """A tuple, or a list, of elements that differ."""

    def fits(given: object) -> bool:
        if not isinstance(given, tuple | list):
            return False
        values = cast("list[object]", given)
        return len(values) == len(elements) and all(e.fits(v) for e, v in zip(elements, values, strict=True))

    return Rule(fits, f"({', '.join(element.words for element in elements)})")


def _collection(cls: type, element: Rule) -> Rule:
    """A sequence or iterable: text is none, and what can be looked at twice is."""
    asked = abc.Sequence if cls in (list, tuple) else cls

    def fits(given: object) -> bool:
        if isinstance(given, str | bytes) or not isinstance(given, asked):
            return False
        again = cast("list[object]", given) if isinstance(given, list | tuple | set | frozenset) else []
        return all(map(element.fits, again))

    return Rule(fits, "a sequence" if element is ANYTHING else f"a sequence of {_bare(element.words)}", element)


def _bare(words: str) -> str:
    return words.removeprefix("a ").removeprefix("an ")


def _with_article(name: str) -> str:
    return f"an {name}" if name[0] in "AEIOUaeiou" else f"a {name}"


def _refusal(function: Callable[..., object], name: str, rule: Rule, value: object) -> ArgumentError:
    name = name.lstrip("*")
    return refusal(f"'{name}' of {_called(function)}", rule, value, _said_of(function, name))


def _unknown(function: Callable[..., object], name: str, keywords: Sequence[str]) -> ArgumentError:
    """What is told of an argument that a function does not take."""
    known = [each for each in keywords if each != "self" and not each.startswith("_")]
    hint = did_you_mean(name, known) or (f"it takes {', '.join(known)}" if known else None)
    return ArgumentError(f"{_called(function)} has no argument '{name}'", hint=hint)


def refusal(what: str, rule: Rule, value: object, hint: str | None = None) -> ArgumentError:
    """What is told of a value that a rule refuses; of a list the first element that does not fit."""
    judged = rule.element or ANYTHING
    for element in cast("list[object]", value) if isinstance(value, list | tuple) else ():
        if not judged.fits(element):
            return ArgumentError(f"{what} is {rule.words}, and has {_described(element)} in it", hint=hint)
    return ArgumentError(f"{what} is {rule.words}, and not {_described(cast(object, value))}", hint=hint)


def _called(function: Callable[..., object]) -> str:
    name = function.__name__ if "<locals>" in function.__qualname__ else function.__qualname__
    return name.removesuffix(".__init__")


def _described(value: object) -> str:
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return _shown(value) if value is None else f"{_shown(value)}, {_with_article(type(value).__name__)}"


def _shown(value: object) -> str:
    try:
        text = " ".join(repr(value).split())
    except Exception:  # whatever a foreign class does there
        text = "something"
    return text if len(text) <= 60 else f"{text[:50]} ..."


def _said_of(function: Callable[..., object], name: str) -> str | None:
    """What the docstring says of an argument, its own or that of its class."""
    module = cast(types.FunctionType, inspect.unwrap(function)).__globals__
    owner: object = module.get(function.__qualname__.split(".")[0])
    for doc in (inspect.getdoc(function), inspect.getdoc(owner) if isinstance(owner, type) else None):
        found = re.search(rf"^ +(?:\w+, )*{name}(?:, \w+)*: (.*(?:\n {{8}}.*)*)", doc or "", re.MULTILINE)
        if found is not None:
            return f"{name}: {' '.join(found[1].split())}".rstrip(".")
    return None
