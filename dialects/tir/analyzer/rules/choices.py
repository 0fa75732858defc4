"""Rules of minimum, maximum and choice between two values."""

from __future__ import annotations

from ..build import all_of, any_of, maximum, minimum, negate, select, truncdiv
from ..pattern import C, K, M, P, Q, V, W, X, Y, Z, common, row

CHOICES = (
    # one side is known to be chosen
    row("min(x, y) = x for x <= y", minimum(X, Y), X, X <= Y),
    row("max(x, y) = x for x >= y", maximum(X, Y), X, X >= Y),
    # absorption and distribution
    row("min(x, max(x, y)) = x", minimum(X, maximum(X, Y)), X),
    row("max(x, min(x, y)) = x", maximum(X, minimum(X, Y)), X),
    row(
        "min(max(x, y), max(x, z)) = max(x, min(y, z))",
        minimum(maximum(X, Y), maximum(X, Z)),
        maximum(X, minimum(Y, Z)),
    ),
    row(
        "max(min(x, y), min(x, z)) = min(x, max(y, z))",
        maximum(minimum(X, Y), minimum(X, Z)),
        minimum(X, maximum(Y, Z)),
    ),
    # common terms and factors leave
    row("min(x, y) = z + min(x - z, y - z)", minimum(X, Y), Z + minimum(X - Z, Y - Z), let={Z: common(X, Y)}),
    row("max(x, y) = z + max(x - z, y - z)", maximum(X, Y), Z + maximum(X - Z, Y - Z), let={Z: common(X, Y)}),
    row("min(k*x, k*y) = k*min(x, y) for k > 0", minimum(K * X, K * Y), K * minimum(X, Y), K > 0),
    row("max(k*x, k*y) = k*max(x, y) for k > 0", maximum(K * X, K * Y), K * maximum(X, Y), K > 0),
    row("min(k*x, k*y) = k*max(x, y) for k < 0", minimum(K * X, K * Y), K * maximum(X, Y), K < 0),
    row("max(k*x, k*y) = k*min(x, y) for k < 0", maximum(K * X, K * Y), K * minimum(X, Y), K < 0),
    row("min(x floordiv c, y floordiv c) = min(x, y) floordiv c", minimum(X // C, Y // C), minimum(X, Y) // C, C > 0),
    row("max(x floordiv c, y floordiv c) = max(x, y) floordiv c", maximum(X // C, Y // C), maximum(X, Y) // C, C > 0),
    row("min(k*x, 0) = k*min(x, 0) for k > 0", minimum(K * X, 0), K * minimum(X, 0), K > 0),
    row("max(k*x, 0) = k*max(x, 0) for k > 0", maximum(K * X, 0), K * maximum(X, 0), K > 0),
    row("min(k*x, 0) = k*max(x, 0) for k < 0", minimum(K * X, 0), K * maximum(X, 0), K < 0),
    row("max(k*x, 0) = k*min(x, 0) for k < 0", maximum(K * X, 0), K * minimum(X, 0), K < 0),
    row("min(k - x, m) = k - max(x, k - m)", minimum(K - X, M), K - maximum(X, K - M)),
    row("max(k - x, m) = k - min(x, k - m)", maximum(K - X, M), K - minimum(X, K - M)),
    row(
        "min(x truncdiv c, y truncdiv c) = min(x, y) truncdiv c",
        minimum(truncdiv(X, C), truncdiv(Y, C)),
        truncdiv(minimum(X, Y), C),
        C > 0,
    ),
    row(
        "max(x truncdiv c, y truncdiv c) = max(x, y) truncdiv c",
        maximum(truncdiv(X, C), truncdiv(Y, C)),
        truncdiv(maximum(X, Y), C),
        C > 0,
    ),
    # choices by the same condition
    row(
        "min(x if p else y, v if p else w) = min(x, v) if p else min(y, w)",
        minimum(select(P, X, Y), select(P, V, W)),
        select(P, minimum(X, V), minimum(Y, W)),
    ),
    row(
        "max(x if p else y, v if p else w) = max(x, v) if p else max(y, w)",
        maximum(select(P, X, Y), select(P, V, W)),
        select(P, maximum(X, V), maximum(Y, W)),
    ),
    row("(x if q else y) if p else y = x if p and q else y", select(P, select(Q, X, Y), Y), select(all_of(P, Q), X, Y)),
    row(
        "(y if q else x) if p else y = x if p and not q else y",
        select(P, select(Q, Y, X), Y),
        select(all_of(P, negate(Q)), X, Y),
    ),
    row("x if p else (x if q else y) = x if p or q else y", select(P, X, select(Q, X, Y)), select(any_of(P, Q), X, Y)),
    # a condition as a number
    row("1 if p else 0 = p", select(P, 1, 0), P),
    row("0 if p else 1 = not p", select(P, 0, 1), negate(P)),
    row("q if p else 0 = p and q", select(P, Q, 0), all_of(P, Q)),
    row("0 if p else q = q and not p", select(P, 0, Q), all_of(negate(P), Q)),
    row("1 if p else q = p or q", select(P, 1, Q), any_of(P, Q)),
    row("q if p else 1 = q or not p", select(P, Q, 1), any_of(negate(P), Q)),
)
