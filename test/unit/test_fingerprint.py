"""Operations that differ have other fingerprints; those that are the same, the same."""

import pytest
from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.cf import Cf
from xdsl.dialects.func import Func
from xdsl.parser import Parser

from weft.dialects.support.fingerprint import fingerprint

TEXT = """
func.func @f(%x: f32, %c: i1) -> f32 attributes {a = 1 : i64, b = "b"} {
  %k = arith.constant 0.0 : f32
  cf.cond_br %c, ^one(%x : f32), ^two
^one(%v: f32):
  %s = arith.addf %x, %k : f32
  func.return %s : f32
^two:
  func.return %k : f32
}
"""

CHANGES = [
    ("0.0", "-0.0"),
    ("0.0", "1.0"),
    ("addf %x, %k", "addf %k, %x"),
    ("addf %x, %k", "addf %v, %k"),
    ("addf", "mulf"),
    ("%v: f32", "%w: f32"),
    ("@f", "@g"),
    ("1 : i64", "1 : i32"),
    ('b = "b"', 'c = "b"'),
    ("^one(%x : f32), ^two", "^two, ^one(%x : f32)"),
    ("return %s", "return %x"),
    ("%k = arith.constant", "%l = arith.constant 2.0 : f32\n  %k = arith.constant"),
]


def of(text: str) -> str:
    context = Context()
    for dialect in (Builtin, Func, Arith, Cf):
        context.load_dialect(dialect)
    return fingerprint(Parser(context, text).parse_module())


def test_what_is_the_same_has_one_fingerprint() -> None:
    assert of(TEXT) == of(TEXT.replace("\n", "\n\n")) == of(TEXT)


@pytest.mark.parametrize("change", CHANGES, ids=[new.split("\n")[0] for _, new in CHANGES])
def test_what_differs_has_another(change: tuple[str, str]) -> None:
    changed = TEXT.replace(*change)
    assert changed != TEXT and of(changed) != of(TEXT)
    assert of(changed) == of(changed)


def test_names_of_values_count() -> None:
    assert of(TEXT.replace("%s", "%t")) != of(TEXT)
