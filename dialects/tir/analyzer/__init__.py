"""One analyzer of integers: index expressions, what is known of them, their normal forms, and what can be proved.

`nodes` and `build` are the expressions, `rules` the table of rewrites (each row is proved in the tests), `Analyzer` the
facts and the questions. docs/analyzer.md says what it knows.
"""

from .analyzer import (
    Analyzer,
    SimplificationDoesNotEnd,
    coefficient,
    depends_only_on,
    is_linear_in,
    without,
)
from .build import (
    all_of,
    any_of,
    ceildiv,
    maximum,
    minimum,
    negate,
    power_of_two,
    select,
    truncdiv,
    truncmod,
    wrap,
)
from .convert import dim, evaluate, from_affine, substitute, sym, to_affine
from .facts import Modular, Range
from .nodes import Const, Flag, IntExpr, Var, as_expr, const, var
from .positive import assume_positive
from .text import to_text

__all__ = [
    "Analyzer",
    "Const",
    "Flag",
    "IntExpr",
    "Modular",
    "Range",
    "SimplificationDoesNotEnd",
    "Var",
    "all_of",
    "any_of",
    "as_expr",
    "assume_positive",
    "ceildiv",
    "coefficient",
    "const",
    "depends_only_on",
    "dim",
    "evaluate",
    "from_affine",
    "is_linear_in",
    "maximum",
    "minimum",
    "negate",
    "power_of_two",
    "select",
    "substitute",
    "sym",
    "to_affine",
    "to_text",
    "truncdiv",
    "truncmod",
    "var",
    "without",
    "wrap",
]
