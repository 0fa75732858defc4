"""Integer arithmetic under TVM's names (`tvm.arith`): what is known of index expressions, and simpler forms of them.

from weft import arith

x, y = arith.var("x"), arith.var("y")
analyzer = arith.Analyzer()
with analyzer.constraint_scope(arith.all(y >= 0, y < 32)):
    assert analyzer.can_prove_equal(arith.floordiv(x * 32 + y, 64), x // 2)

Tensor expressions over `weft.te.var` and axes are taken as well. `a.equal(b)` is the condition that two are equal, since
`==` compares the expressions themselves.
"""

from typing import TYPE_CHECKING

from .transforms.infra.lazy import lazy_names

if TYPE_CHECKING:
    from .dialects.tir.analyzer.analyzer import Analyzer as Analyzer
    from .dialects.tir.analyzer.answers import NEG_INF as NEG_INF
    from .dialects.tir.analyzer.answers import POS_INF as POS_INF
    from .dialects.tir.analyzer.answers import ConstIntBound as ConstIntBound
    from .dialects.tir.analyzer.answers import IntervalSet as IntervalSet
    from .dialects.tir.analyzer.answers import ModularSet as ModularSet
    from .dialects.tir.analyzer.answers import Range as Range
    from .dialects.tir.analyzer.build import all_of as all
    from .dialects.tir.analyzer.build import any_of as any
    from .dialects.tir.analyzer.build import ceildiv as ceildiv
    from .dialects.tir.analyzer.build import floor_divide as floordiv
    from .dialects.tir.analyzer.build import floor_remainder as floormod
    from .dialects.tir.analyzer.build import maximum as max
    from .dialects.tir.analyzer.build import minimum as min
    from .dialects.tir.analyzer.build import opposite as Not
    from .dialects.tir.analyzer.build import select as if_then_else
    from .dialects.tir.analyzer.build import select as Select
    from .dialects.tir.analyzer.build import trunc_divide as truncdiv
    from .dialects.tir.analyzer.build import trunc_remainder as truncmod
    from .dialects.tir.analyzer.convert import evaluate as evaluate
    from .dialects.tir.analyzer.nodes import IntExpr as IntExpr
    from .dialects.tir.analyzer.nodes import as_expr as const
    from .dialects.tir.analyzer.variables import cast as cast
    from .dialects.tir.analyzer.variables import size_var as size_var
    from .dialects.tir.analyzer.variables import var as var

_find, _names, __all__ = lazy_names(__name__, __file__)


def __dir__() -> list[str]:
    return _names()


def __getattr__(name: str) -> object:
    return _find(name)
