"""Linear equations between integers, solved by bringing their matrix to diagonal form (Smith, 1861).

    x + y == 0, -5 <= x < 5, 0 <= y < 10     is     x = n0, y = -n0, -9 <= n0 < 1, n0 >= -5

With `u` and `v` invertible matrices of integers and `u a v` diagonal, `a x = b` is `(u a v) n = u b` for `x = v n`:
each of the new variables `n` has one value, or any.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...support.arguments import checked
from .analyzer import Analyzer
from .answers import Range
from .build import add, floordiv, floormod, zero
from .constraints import IntConstraints, IntConstraintsTransform, each_of, refuse_dependent
from .convert import substitute
from .deduce import detect_linear_equation
from .nodes import FALSE, TRUE, Const, ExprLike, IntExpr, Zero, as_expr
from .variables import var

Matrix = list[list[int]]


@checked
def solve_linear_equations(
    equations: Sequence[ExprLike], variables: Sequence[ExprLike] = (), ranges: Mapping[IntExpr, Range] | None = None
) -> IntConstraintsTransform:
    """`equations` over `variables` as a system of as few variables as it has freedom; those of the others that are not
    linear equations become relations of it, and so does what `ranges` say that it does not show. Variables that are
    not listed are parameters."""
    unknown = tuple(map(as_expr, variables))
    known = dict(ranges or {})
    given = tuple(each_of(list(map(as_expr, equations))))
    refuse_dependent(given, unknown)
    own = {v: each for v, each in known.items() if v in unknown}
    source = IntConstraints(unknown, own, given)
    if not unknown:
        return IntConstraintsTransform(source, source)
    matrix: Matrix = []
    wanted: list[IntExpr] = []
    others: list[IntExpr] = []
    for relation in given:
        found = detect_linear_equation(relation.args[0], unknown) if isinstance(relation, Zero) else None
        row = [] if found is None else [each.value for each in found[:-1] if isinstance(each, Const)]
        if found is None or len(row) != len(unknown):
            others.append(relation)
        else:
            matrix.append(row)
            wanted.append(found[-1] * -1)
    return _solved(source, known, matrix, wanted, others)


def _solved(
    source: IntConstraints,
    known: Mapping[IntExpr, Range],
    matrix: Matrix,
    wanted: Sequence[IntExpr],
    relations: list[IntExpr],
) -> IntConstraintsTransform:
    unknown = source.variables
    left, right, back = diagonalize(matrix, len(unknown))
    analyzer = Analyzer()
    for v, each in known.items():
        if v not in unknown:
            analyzer.bind(v, each)
    values: list[IntExpr] = []
    for number, row in enumerate(left):
        total = as_expr(0)
        for factor, side in zip(row, wanted, strict=True):
            total = add(total, side, factor)
        total = analyzer.simplify(total)
        pivot = matrix[number][number] if number < len(unknown) else 0
        if pivot == 0:
            relations.append(zero(total))
            continue
        if abs(pivot) != 1:
            relations.append(zero(analyzer.simplify(floormod(total, as_expr(abs(pivot))))))
        values.append(analyzer.simplify(floordiv(total * (1 if pivot > 0 else -1), as_expr(abs(pivot)))))
    free = range(len(values), len(unknown))
    fresh = [var(f"n{number}", "int64") for number in range(len(free))]
    for column in free:
        if next(row[column] for row in right if row[column]) < 0:
            for row in right:
                row[column] *= -1
            back[column] = [-each for each in back[column]]
    values += fresh
    there: dict[IntExpr, IntExpr] = {}
    for variable, row in zip(unknown, right, strict=True):
        total = as_expr(0)
        for factor, value in zip(row, values, strict=True):
            total = add(total, value, factor)
        there[variable] = analyzer.simplify(total)
    here: dict[IntExpr, IntExpr] = {}
    for column, n in zip(free, fresh, strict=True):
        total = as_expr(0)
        for factor, variable in zip(back[column], unknown, strict=True):
            total = add(total, variable, factor)
        here[n] = total
    spans = {v: (each.min, each.last) for v, each in source.ranges.items()}
    found: dict[IntExpr, Range] = {}
    for n, expr in here.items():
        low, high = analyzer.interval(expr, spans)
        if low is not None and high is not None and not {*low.variables, *high.variables} & {*unknown}:
            found[n] = Range(analyzer.simplify(low), analyzer.simplify(high + 1))
            analyzer.bind(n, found[n])
    bounds = [c for v, (low, high) in spans.items() for c in (there[v] >= low, there[v] <= high)]
    left_over = [analyzer.simplify(c) for c in (*(substitute(each, there) for each in relations), *bounds)]
    if FALSE in left_over:
        return IntConstraintsTransform(source, IntConstraints.nothing())
    rest = tuple(dict.fromkeys(each for each in left_over if each is not TRUE))
    return IntConstraintsTransform(source, IntConstraints(tuple(fresh), found, rest), there, here)


def diagonalize(matrix: Matrix, columns: int) -> tuple[Matrix, Matrix, Matrix]:
    """Make `matrix`, of so many columns, diagonal in place, zeros last: `left @ matrix @ right` is what it becomes.
    Gives `left`, `right` and the inverse of `right`."""
    rows = len(matrix)
    left, right, back = _identity(rows), _identity(columns), _identity(columns)

    def add_row(to: int, source: int, factor: int) -> None:
        for each in (matrix, left):
            each[to] = [a + factor * b for a, b in zip(each[to], each[source], strict=True)]

    def add_column(to: int, source: int, factor: int) -> None:
        for each in (*matrix, *right):
            each[to] += factor * each[source]
        back[source] = [a - factor * b for a, b in zip(back[source], back[to], strict=True)]

    def swap_columns(one: int, other: int) -> None:
        for each in (*matrix, *right):
            each[one], each[other] = each[other], each[one]
        back[one], back[other] = back[other], back[one]

    for k in range(min(rows, columns)):
        while True:
            places = [(abs(matrix[i][j]), i, j) for i in range(k, rows) for j in range(k, columns) if matrix[i][j]]
            if not places:
                return left, right, back
            _, i, j = min(places)
            for each in (matrix, left):
                each[k], each[i] = each[i], each[k]
            if j != k:
                swap_columns(k, j)
            pivot = matrix[k][k]
            for i in range(k + 1, rows):
                add_row(i, k, -(matrix[i][k] // pivot))
            for j in range(k + 1, columns):
                add_column(j, k, -(matrix[k][j] // pivot))
            if not any(matrix[i][k] for i in range(k + 1, rows)) and not any(matrix[k][k + 1 :]):
                break
    return left, right, back


def _identity(size: int) -> Matrix:
    return [[int(i == j) for j in range(size)] for i in range(size)]
