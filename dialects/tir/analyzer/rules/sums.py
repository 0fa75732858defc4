"""Rules of sums: quotient and remainder of one number are put together again, and choices take in what cancels there.

`K * f(X) + Z` takes one term of a sum and all others; a row whose result is not smaller is not applied, so that `Z`
moves in where it cancels and stays outside where it does not.
"""

from __future__ import annotations

from ..build import maximum, minimum, select, truncdiv, truncmod
from ..pattern import A, C, D, E, K, L, M, P, V, W, X, Y, Z, lower, row

SUMS = (
    # x = y*(x floordiv y) + x mod y
    row(
        "k*y*(x floordiv y) + k*(x mod y) = k*x",
        K * (X % Y) + Z,
        K * X + Z - K * Y * (X // Y),
        cancels=(Z, Z - K * Y * (X // Y)),
    ),
    row(
        "k*c*(x floordiv c) + k*(y mod c) = k*x for c | x - y",
        M * (X // C) + K * (Y % C) + Z,
        K * X + Z,
        C > 0,
        M.equal(K * C),
        ((X - Y) % C).equal(0),
    ),
    row(
        "k*c*((l*(x mod a) + y) floordiv c) + k*((l*x + y) mod c) = k*l*(x mod a) + k*y for c | l*a",
        M * ((L * (X % A) + Y) // C) + K * ((L * X + Y) % C) + Z,
        K * L * (X % A) + K * Y + Z,
        A > 0,
        C > 0,
        M.equal(K * C),
        (L * A % C).equal(0),
    ),
    row(
        "k*x - k*(x mod y) = k*y*(x floordiv y)",
        -K * (X % Y) + Z,
        K * Y * (X // Y) + Z - K * X,
        cancels=(Z, Z - K * X),
    ),
    row(
        "k*x - k*c*(x floordiv c) = k*(x mod c)",
        M * (X // C) + Z,
        K * (X % C) + Z - K * X,
        C > 0,
        M.equal(-K * C),
        let={K: -M // C},
        cancels=(Z, Z - K * X),
        strictly=False,
    ),
    row(
        "k*x - k*c*(x truncdiv c) = k*(x truncmod c)",
        M * truncdiv(X, C) + Z,
        K * truncmod(X, C) + Z - K * X,
        C > 0,
        M.equal(-K * C),
        let={K: -M // C},
        cancels=(Z, Z - K * X),
        strictly=False,
    ),
    row(
        "k*(x floordiv d mod c) + k*c*(x floordiv (c*d)) = k*(x floordiv d)",
        K * ((X // D) % C) + Z,
        K * (X // D) + Z - K * C * (X // E),
        C > 0,
        D > 0,
        let={E: C * D},
        cancels=(Z, Z - K * C * (X // E)),
    ),
    row(
        "k*(x floordiv d) - k*c*(x floordiv (c*d)) = k*(x floordiv d mod c)",
        K * (X // D) + M * (X // E) + Z,
        K * ((X // D) % C) + Z,
        C > 0,
        D > 0,
        E.equal(C * D),
        M.equal(-K * C),
        let={C: E // D},
    ),
    row(
        "k*(x truncdiv d truncmod c) + k*c*(x truncdiv (c*d)) = k*(x truncdiv d)",
        K * truncmod(truncdiv(X, D), C) + Z,
        K * truncdiv(X, D) + Z - K * C * truncdiv(X, E),
        C > 0,
        D > 0,
        let={E: C * D},
        cancels=(Z, Z - K * C * truncdiv(X, E)),
    ),
    row(
        "l*d*(x floordiv d mod c) + l*(x mod d) = l*(x mod (c*d))",
        K * ((X // D) % C) + M * (X % D) + Z,
        M * (X % E) + Z,
        C > 0,
        D > 0,
        K.equal(M * D),
        let={E: C * D},
    ),
    row(
        "(x mod c + y) floordiv c + x floordiv c = (x + y) floordiv c",
        K * ((X % C + Y) // C) + K * (X // C) + Z,
        K * ((X + Y) // C) + Z,
        C > 0,
    ),
    row(
        "k*y*(x truncdiv y) + k*(x truncmod y) = k*x",
        K * truncmod(X, Y) + Z,
        K * X + Z - K * Y * truncdiv(X, Y),
        cancels=(Z, Z - K * Y * truncdiv(X, Y)),
    ),
    row(
        "k*(x floordiv c) - k*(y floordiv c) = k*m for x - y == c*m",
        K * (X // C) + L * (Y // C) + Z,
        K * M + Z,
        C > 0,
        L.equal(-K),
        (X - Y).equal(C * M),
        let={M: lower(X - Y) // C},
    ),
    row(
        "k*(x floordiv c) - k*(y floordiv c) = k*((y mod c + x - y) floordiv c)",
        K * (X // C) + L * (Y // C) + Z,
        K * ((Y % C + X - Y) // C) + Z,
        C > 0,
        K > 0,
        L.equal(-K),
    ),
    # sums of choices
    row(
        "k*min(x, y) - k*min(v, w) = k*(x - v) for x - v == y - w",
        K * minimum(X, Y) + L * minimum(V, W) + Z,
        K * (X - V) + Z,
        L.equal(-K),
        (X - V - Y + W).equal(0),
    ),
    row(
        "k*max(x, y) - k*max(v, w) = k*(x - v) for x - v == y - w",
        K * maximum(X, Y) + L * maximum(V, W) + Z,
        K * (X - V) + Z,
        L.equal(-K),
        (X - V - Y + W).equal(0),
    ),
    row("min(x, y) * max(x, y) = x*y", minimum(X, Y) * maximum(X, Y), X * Y),
    row("min(x, y) + max(x, y) = x + y", K * minimum(X, Y) + K * maximum(X, Y) + Z, K * X + K * Y + Z),
    row(
        "k*min(x, y) + z = min(k*x + z, k*y + z) for k > 0", K * minimum(X, Y) + Z, minimum(K * X + Z, K * Y + Z), K > 0
    ),
    row(
        "k*min(x, y) + z = max(k*x + z, k*y + z) for k < 0", K * minimum(X, Y) + Z, maximum(K * X + Z, K * Y + Z), K < 0
    ),
    row(
        "k*max(x, y) + z = max(k*x + z, k*y + z) for k > 0", K * maximum(X, Y) + Z, maximum(K * X + Z, K * Y + Z), K > 0
    ),
    row(
        "k*max(x, y) + z = min(k*x + z, k*y + z) for k < 0", K * maximum(X, Y) + Z, minimum(K * X + Z, K * Y + Z), K < 0
    ),
    row("k*(x if p else y) + z = k*x + z if p else k*y + z", K * select(P, X, Y) + Z, select(P, K * X + Z, K * Y + Z)),
    row(
        "k*(x if p else y) + m*(v if p else w) = k*x + m*v if p else k*y + m*w",
        K * select(P, X, Y) + M * select(P, V, W) + Z,
        select(P, K * X + M * V, K * Y + M * W) + Z,
    ),
)
