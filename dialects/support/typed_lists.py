"""The lists of attributes `[1 : i64, 2 : i64]`, where all elements are numbers of one type: read in one match.

xDSL makes tokens of each number, colon, type and comma, which takes more than 50 us for an element. What is no such
list is left to the parser, which knows what is wrong with it, and where.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import cast

from xdsl.dialects.builtin import AnyFloat, ArrayAttr, FloatAttr, IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from .number_lists import COMMENT, FLOAT_TEXT, GAP_TEXT, INTEGER_TEXT

_G = GAP_TEXT
_NUMBER = rf"(?:{FLOAT_TEXT}|{INTEGER_TEXT})"
_TYPE = r"(?:[su]?i[0-9]+|index|b?f[0-9]+|tf32)\b"
_LIST = re.compile(
    rf"\[{_G}{_NUMBER}{_G}:{_G}(?P<type>{_TYPE})(?:{_G},{_G}{_NUMBER}{_G}:{_G}(?P=type)\b)*{_G}\]", re.ASCII
)
_ELEMENT = re.compile(rf"({_NUMBER}){_G}:", re.ASCII)


def typed_list(
    text: str, position: int, type_of: Callable[[int], Attribute]
) -> tuple[ArrayAttr[IntegerAttr[IntegerType | IndexType]] | ArrayAttr[FloatAttr], int] | None:
    """The list of numbers of one type whose bracket stands at `position`, and where it ends; none where no such list
    does, or a number is none of its type. `type_of` reads the type at a position."""
    if (match := _LIST.match(text, position)) is None:
        return None
    type = type_of(match.start("type"))
    numbers = cast("list[str]", _ELEMENT.findall(COMMENT.sub("", match.group())))
    try:
        if isinstance(type, AnyFloat):
            floats = {number: FloatAttr(float(number), type) for number in set(numbers)}
            return ArrayAttr([floats[number] for number in numbers]), match.end()
        if isinstance(type, IntegerType | IndexType):
            integer = cast("IntegerType | IndexType", type)
            integers = {number: IntegerAttr(int(number), integer) for number in set(numbers)}
            return ArrayAttr([integers[number] for number in numbers]), match.end()
    except (ValueError, OverflowError, VerifyException):
        pass
    return None
