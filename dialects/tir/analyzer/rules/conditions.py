"""Rules of conditions. Every comparison is `x >= 0`, `x == 0` or `x != 0` by the builders."""

from __future__ import annotations

from ..build import all_of, any_of, maximum, minimum, non_negative, truncdiv, zero
from ..pattern import C, K, L, M, X, Y, Z, row

CONDITIONS = (
    # decided
    row("x >= 0 = true where known", non_negative(X), 1, X >= 0),
    row("x >= 0 = false where known", non_negative(X), 0, X < 0),
    row("x == 0 = true where known", zero(X), 1, X >= 0, X <= 0),
    row("x == 0 = false where known", zero(X), 0, X.differs(0)),
    row("x >= 0 = x == 0 for x <= 0", non_negative(X), zero(X), X <= 0),
    # what is too small to matter
    row("c*x + y >= 0 = x >= 0 for 0 <= y < c", non_negative(C * X + Y), X >= 0, C > 0, Y >= 0, Y < C),
    row("x*y == 0 = x == 0 or y == 0", zero(X * Y), any_of(X.equal(0), Y.equal(0))),
    # quotients
    row("x floordiv c + y >= 0 = x + c*y >= 0", non_negative(X // C + Y), X + C * Y >= 0, C > 0),
    row("-(x floordiv c) + y >= 0 = c*y + c - 1 - x >= 0", non_negative(Y - X // C), C * Y + C - 1 - X >= 0, C > 0),
    row(
        "x truncdiv c + k >= 0 = x + c*k + c - 1 >= 0 for k >= 0",
        non_negative(truncdiv(X, C) + K),
        X + C * K + C - 1 >= 0,
        C > 0,
        K >= 0,
    ),
    row(
        "x truncdiv c + k >= 0 = x + c*k >= 0 for k < 0", non_negative(truncdiv(X, C) + K), X + C * K >= 0, C > 0, K < 0
    ),
    row(
        "-(x truncdiv c) + k >= 0 = c*k + c - 1 - x >= 0 for k >= 0",
        non_negative(K - truncdiv(X, C)),
        C * K + C - 1 - X >= 0,
        C > 0,
        K >= 0,
    ),
    row(
        "-(x truncdiv c) + k >= 0 = c*k - x >= 0 for k < 0",
        non_negative(K - truncdiv(X, C)),
        C * K - X >= 0,
        C > 0,
        K < 0,
    ),
    # minimum and maximum
    row(
        "min(x, y) + z >= 0 = x + z >= 0 and y + z >= 0",
        non_negative(minimum(X, Y) + Z),
        all_of(X + Z >= 0, Y + Z >= 0),
    ),
    row(
        "max(x, y) + z >= 0 = x + z >= 0 or y + z >= 0", non_negative(maximum(X, Y) + Z), any_of(X + Z >= 0, Y + Z >= 0)
    ),
    row("z - min(x, y) >= 0 = x <= z or y <= z", non_negative(Z - minimum(X, Y)), any_of(X <= Z, Y <= Z)),
    row("z - max(x, y) >= 0 = x <= z and y <= z", non_negative(Z - maximum(X, Y)), all_of(X <= Z, Y <= Z)),
    # two conditions, one of them idle, or both never
    row("x >= 0 and y >= 0 = x >= 0 for x <= y", all_of(X >= 0, Y >= 0), X >= 0, X <= Y),
    row("x >= 0 and y >= 0 = false for x + y < 0", all_of(X >= 0, Y >= 0), 0, X + Y < 0),
    row("x >= 0 and y >= 0 = x == 0 for x + y == 0", all_of(X >= 0, Y >= 0), X.equal(0), (X + Y).equal(0)),
    row("x == 0 and y >= 0 = x == 0 for x <= y", all_of(X.equal(0), Y >= 0), X.equal(0), X <= Y),
    row("x == 0 and y >= 0 = x == 0 for -x <= y", all_of(X.equal(0), Y >= 0), X.equal(0), -X <= Y),
    row("x == 0 and y >= 0 = false for y < x", all_of(X.equal(0), Y >= 0), 0, Y < X),
    row("x == 0 and y >= 0 = false for y < -x", all_of(X.equal(0), Y >= 0), 0, Y < -X),
    row("x == 0 and y == 0 = false for x != y", all_of(X.equal(0), Y.equal(0)), 0, X.differs(Y)),
    row("x == 0 and y != 0 = x == 0 for x != y", all_of(X.equal(0), Y.differs(0)), X.equal(0), X.differs(Y)),
    row("x == 0 and y != 0 = x == 0 for x != -y", all_of(X.equal(0), Y.differs(0)), X.equal(0), X.differs(-Y)),
    row("x >= 0 and y != 0 = x >= 1 for x == y", all_of(X >= 0, Y.differs(0)), X >= 1, X.equal(Y)),
    row("x >= 0 and y != 0 = x >= 1 for x == -y", all_of(X >= 0, Y.differs(0)), X >= 1, X.equal(-Y)),
    row("x >= 0 or y >= 0 = x >= 0 for x >= y", any_of(X >= 0, Y >= 0), X >= 0, X >= Y),
    row("x >= 0 or y >= 0 = true for x + y >= -1", any_of(X >= 0, Y >= 0), 1, X + Y >= -1),
    row("x >= 0 or y == 0 = x >= 0 for x >= y", any_of(X >= 0, Y.equal(0)), X >= 0, X >= Y),
    row("x >= 0 or y == 0 = x >= 0 for x >= -y", any_of(X >= 0, Y.equal(0)), X >= 0, X >= -Y),
    row("x != 0 or y == 0 = x != 0 for x != y", any_of(X.differs(0), Y.equal(0)), X.differs(0), X.differs(Y)),
    row("x != 0 or y == 0 = x != 0 for x != -y", any_of(X.differs(0), Y.equal(0)), X.differs(0), X.differs(-Y)),
    row("x != 0 or y != 0 = true for x != y", any_of(X.differs(0), Y.differs(0)), 1, X.differs(Y)),
    # quotient and remainder of one number
    row(
        "x floordiv c == -k and x mod c == -m = x == -c*k - m for 0 <= -m < c",
        all_of((X // C + K).equal(0), (X % C + M).equal(0)),
        (X + C * K + M).equal(0),
        C > 0,
        M <= 0,
        -M < C,
    ),
    row(
        "x floordiv c == -k and x mod c <= m = 0 <= x + c*k <= m for 0 <= m < c",
        all_of((X // C + K).equal(0), M >= X % C),
        all_of(X + C * K >= 0, M >= X + C * K),
        C > 0,
        M >= 0,
        M < C,
    ),
    row(
        "x floordiv c == -k and x mod c >= m = m <= x + c*k < c for 0 <= m < c",
        all_of((X // C + K).equal(0), X % C >= M),
        all_of(X + C * K >= M, X + C * K < C),
        C > 0,
        M >= 0,
        M < C,
    ),
    row(
        "x <= k and x mod c <= m = x <= l and x mod c <= m for l == k - k mod c + m < k",
        all_of(K >= X, M >= X % C),
        all_of(L >= X, M >= X % C),
        C > 0,
        M >= 0,
        M < K % C,
        L.equal(K - K % C + M),
        let={L: K - K % C + M},
        narrows=True,
    ),
    row(
        "c*x + z >= 0 and y >= 0 = x + z floordiv c == 0 for y == c - 1 - c*x - z",
        all_of(C * X + Z >= 0, Y >= 0),
        (X + Z // C).equal(0),
        C > 1,
        Y.equal(C - 1 - C * X - Z),
    ),
)
