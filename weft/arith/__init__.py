"""Integer arithmetic under TVM's names (`tvm.arith`): what is known of index expressions, and simpler forms of them.

from weft import arith

x, y = arith.var("x"), arith.var("y")
analyzer = arith.Analyzer()
with analyzer.constraint_scope(arith.all(y >= 0, y < 32)):
    assert analyzer.can_prove_equal(arith.floordiv(x * 32 + y, 64), x // 2)

`a == b` is the condition that two are equal; where Python asks for its truth, whether they are one expression.

Expressions of `weft.te` and `weft.tir` may be given wherever these are: of them, answers are such expressions too.
"""

from typing import TYPE_CHECKING

from ..dialects.support.lazy import lazy_names

if TYPE_CHECKING:
    from ..dialects.te.arithmetic import Analyzer as Analyzer
    from ..dialects.te.arithmetic import Not as Not
    from ..dialects.te.arithmetic import Select as Select
    from ..dialects.te.arithmetic import all as all
    from ..dialects.te.arithmetic import any as any
    from ..dialects.te.arithmetic import bitwise_and as bitwise_and
    from ..dialects.te.arithmetic import deduce_bound as deduce_bound
    from ..dialects.te.arithmetic import detect_clip_bound as detect_clip_bound
    from ..dialects.te.arithmetic import detect_iter_map as detect_iter_map
    from ..dialects.te.arithmetic import detect_linear_equation as detect_linear_equation
    from ..dialects.te.arithmetic import estimate_region_lower_bound as estimate_region_lower_bound
    from ..dialects.te.arithmetic import estimate_region_strict_bound as estimate_region_strict_bound
    from ..dialects.te.arithmetic import estimate_region_upper_bound as estimate_region_upper_bound
    from ..dialects.te.arithmetic import eval_set as eval_set
    from ..dialects.te.arithmetic import evaluate as evaluate
    from ..dialects.te.arithmetic import floordiv as floordiv
    from ..dialects.te.arithmetic import floormod as floormod
    from ..dialects.te.arithmetic import if_then_else as if_then_else
    from ..dialects.te.arithmetic import indexdiv as indexdiv
    from ..dialects.te.arithmetic import indexmod as indexmod
    from ..dialects.te.arithmetic import inverse_affine_iter_map as inverse_affine_iter_map
    from ..dialects.te.arithmetic import is_const as is_const
    from ..dialects.te.arithmetic import iter_map_simplify as iter_map_simplify
    from ..dialects.te.arithmetic import let as let
    from ..dialects.te.arithmetic import max as max
    from ..dialects.te.arithmetic import min as min
    from ..dialects.te.arithmetic import narrow_predicate_expression as narrow_predicate_expression
    from ..dialects.te.arithmetic import neg_inf as neg_inf
    from ..dialects.te.arithmetic import pos_inf as pos_inf
    from ..dialects.te.arithmetic import shift_left as shift_left
    from ..dialects.te.arithmetic import shift_right as shift_right
    from ..dialects.te.arithmetic import solve_linear_equations as solve_linear_equations
    from ..dialects.te.arithmetic import solve_linear_inequalities as solve_linear_inequalities
    from ..dialects.te.arithmetic import subspace_divide as subspace_divide
    from ..dialects.te.arithmetic import substitute as substitute
    from ..dialects.te.arithmetic import truncdiv as truncdiv
    from ..dialects.te.arithmetic import truncmod as truncmod
    from ..dialects.tir.analyzer.answers import NEG_INF as NEG_INF
    from ..dialects.tir.analyzer.answers import POS_INF as POS_INF
    from ..dialects.tir.analyzer.answers import ConstIntBound as ConstIntBound
    from ..dialects.tir.analyzer.answers import IntervalSet as IntervalSet
    from ..dialects.tir.analyzer.answers import IntSet as IntSet
    from ..dialects.tir.analyzer.answers import ModularSet as ModularSet
    from ..dialects.tir.analyzer.answers import Range as Range
    from ..dialects.tir.analyzer.constraints import IntConstraints as IntConstraints
    from ..dialects.tir.analyzer.constraints import IntConstraintsTransform as IntConstraintsTransform
    from ..dialects.tir.analyzer.functions import const as const
    from ..dialects.tir.analyzer.iter_forms import IterMapResult as IterMapResult
    from ..dialects.tir.analyzer.iter_forms import normalize_iter_map_to_expr as normalize_iter_map_to_expr
    from ..dialects.tir.analyzer.iter_nodes import IterMapExpr as IterMapExpr
    from ..dialects.tir.analyzer.iter_nodes import IterMark as IterMark
    from ..dialects.tir.analyzer.iter_nodes import IterSplitExpr as IterSplitExpr
    from ..dialects.tir.analyzer.iter_nodes import IterSumExpr as IterSumExpr
    from ..dialects.tir.analyzer.nodes import IntExpr as IntExpr
    from ..dialects.tir.analyzer.regions import intersect as intersect
    from ..dialects.tir.analyzer.regions import union as union
    from ..dialects.tir.analyzer.regions import union_lower_bound as union_lower_bound
    from ..dialects.tir.analyzer.variables import cast as cast
    from ..dialects.tir.analyzer.variables import size_var as size_var
    from ..dialects.tir.analyzer.variables import var as var
    from ..dialects.tir.nodes.common_subexpressions import detect_common_subexpr as detect_common_subexpr
    from . import analyzer as analyzer
    from . import bound as bound
    from . import int_set as int_set
    from . import int_solver as int_solver
    from . import iter_affine_map as iter_affine_map
    from . import pattern as pattern

_find, _names, __all__ = lazy_names(__name__, __file__)


def __dir__() -> list[str]:
    return _names()


def __getattr__(name: str) -> object:
    return _find(name)
