"""Integer arithmetic under TVM's names (`tvm.arith`): what is known of index expressions, and simpler forms of them.

from weft import arith

x, y = arith.var("x"), arith.var("y")
analyzer = arith.Analyzer()
with analyzer.constraint_scope(arith.all(y >= 0, y < 32)):
    assert analyzer.can_prove_equal(arith.floordiv(x * 32 + y, 64), x // 2)

`a.equal(b)` is the condition that two are equal: `==` compares the expressions themselves.
"""

from typing import TYPE_CHECKING

from .dialects.support.lazy import lazy_names

if TYPE_CHECKING:
    from .dialects.tir.analyzer.analyzer import Analyzer as Analyzer
    from .dialects.tir.analyzer.answers import NEG_INF as NEG_INF
    from .dialects.tir.analyzer.answers import POS_INF as POS_INF
    from .dialects.tir.analyzer.answers import ConstIntBound as ConstIntBound
    from .dialects.tir.analyzer.answers import IntervalSet as IntervalSet
    from .dialects.tir.analyzer.answers import ModularSet as ModularSet
    from .dialects.tir.analyzer.answers import Range as Range
    from .dialects.tir.analyzer.constraints import IntConstraints as IntConstraints
    from .dialects.tir.analyzer.constraints import IntConstraintsTransform as IntConstraintsTransform
    from .dialects.tir.analyzer.equations import deduce_bound as deduce_bound
    from .dialects.tir.analyzer.equations import detect_clip_bound as detect_clip_bound
    from .dialects.tir.analyzer.equations import detect_linear_equation as detect_linear_equation
    from .dialects.tir.analyzer.functions import Not as Not
    from .dialects.tir.analyzer.functions import Select as Select
    from .dialects.tir.analyzer.functions import all as all
    from .dialects.tir.analyzer.functions import any as any
    from .dialects.tir.analyzer.functions import bitwise_and as bitwise_and
    from .dialects.tir.analyzer.functions import const as const
    from .dialects.tir.analyzer.functions import evaluate as evaluate
    from .dialects.tir.analyzer.functions import floordiv as floordiv
    from .dialects.tir.analyzer.functions import floormod as floormod
    from .dialects.tir.analyzer.functions import if_then_else as if_then_else
    from .dialects.tir.analyzer.functions import indexdiv as indexdiv
    from .dialects.tir.analyzer.functions import indexmod as indexmod
    from .dialects.tir.analyzer.functions import is_const as is_const
    from .dialects.tir.analyzer.functions import let as let
    from .dialects.tir.analyzer.functions import max as max
    from .dialects.tir.analyzer.functions import min as min
    from .dialects.tir.analyzer.functions import shift_left as shift_left
    from .dialects.tir.analyzer.functions import shift_right as shift_right
    from .dialects.tir.analyzer.functions import substitute as substitute
    from .dialects.tir.analyzer.functions import truncdiv as truncdiv
    from .dialects.tir.analyzer.functions import truncmod as truncmod
    from .dialects.tir.analyzer.iter_forms import IterMapResult as IterMapResult
    from .dialects.tir.analyzer.iter_forms import detect_iter_map as detect_iter_map
    from .dialects.tir.analyzer.iter_forms import inverse_affine_iter_map as inverse_affine_iter_map
    from .dialects.tir.analyzer.iter_forms import iter_map_simplify as iter_map_simplify
    from .dialects.tir.analyzer.iter_forms import normalize_iter_map_to_expr as normalize_iter_map_to_expr
    from .dialects.tir.analyzer.iter_forms import subspace_divide as subspace_divide
    from .dialects.tir.analyzer.iter_map import IterMark as IterMark
    from .dialects.tir.analyzer.iter_map import IterSplitExpr as IterSplitExpr
    from .dialects.tir.analyzer.iter_map import IterSumExpr as IterSumExpr
    from .dialects.tir.analyzer.narrowing import narrow_predicate_expression as narrow_predicate_expression
    from .dialects.tir.analyzer.nodes import IntExpr as IntExpr
    from .dialects.tir.analyzer.regions import estimate_region_lower_bound as estimate_region_lower_bound
    from .dialects.tir.analyzer.regions import estimate_region_strict_bound as estimate_region_strict_bound
    from .dialects.tir.analyzer.regions import estimate_region_upper_bound as estimate_region_upper_bound
    from .dialects.tir.analyzer.regions import eval_set as eval_set
    from .dialects.tir.analyzer.regions import intersect as intersect
    from .dialects.tir.analyzer.regions import union as union
    from .dialects.tir.analyzer.regions import union_lower_bound as union_lower_bound
    from .dialects.tir.analyzer.solve_equations import solve_linear_equations as solve_linear_equations
    from .dialects.tir.analyzer.solve_inequalities import solve_linear_inequalities as solve_linear_inequalities
    from .dialects.tir.analyzer.variables import cast as cast
    from .dialects.tir.analyzer.variables import size_var as size_var
    from .dialects.tir.analyzer.variables import var as var

_find, _names, __all__ = lazy_names(__name__, __file__)


def __dir__() -> list[str]:
    return _names()


def __getattr__(name: str) -> object:
    return _find(name)
