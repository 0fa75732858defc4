"""The natural numbers of `nat.rly` from integers, and back: what TVM's `relay.testing` has of them.

prelude = relay.Prelude()
prelude.mod.import_from_std("nat.rly")
two = relay.create_executor(mod=prelude.mod).evaluate(prelude.nat_double(relay.testing.make_nat_expr(prelude, 1)))
relay.testing.count(prelude, two)                                                     # 2
"""

from __future__ import annotations

from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError
from .data import Constructor, ConstructorValue
from .expr import Expr
from .prelude import Prelude


def _constructors(prelude: Prelude) -> tuple[Constructor, Constructor]:
    """`z` and `s`."""
    _, zero, next_one = prelude.mod.get_type("nat")
    assert isinstance(zero, Constructor) and isinstance(next_one, Constructor)
    return zero, next_one


@checked
def count(prelude: Prelude, n: ConstructorValue) -> int:
    """The integer that a natural number is.

    Raises:
        UsageError: the module has no `nat`, or it is no number.
    """
    zero, next_one = _constructors(prelude)
    number, value = 0, n
    while value.tag == next_one.tag and len(value.fields) == 1 and isinstance(value.fields[0], ConstructorValue):
        number, value = number + 1, value.fields[0]
    if value.tag != zero.tag or value.fields:
        raise UsageError(f"a value of {value.constructor!r} is no natural number")
    return number


def _checked(n: int) -> int:
    if n < 0:
        raise UsageError(f"{n} is no natural number")
    return n


@checked
def make_nat_value(prelude: Prelude, n: int) -> ConstructorValue:
    """An integer as a value of `nat`.

    Raises:
        UsageError: the module has no `nat`, or the integer is negative.
    """
    zero, next_one = _constructors(prelude)
    value = ConstructorValue(zero.tag, (), zero)
    for _ in range(_checked(n)):
        value = ConstructorValue(next_one.tag, (value,), next_one)
    return value


@checked
def make_nat_expr(prelude: Prelude, n: int) -> Expr:
    """An integer as an expression that makes a `nat`.

    Raises:
        UsageError: the module has no `nat`, or the integer is negative.
    """
    zero, next_one = _constructors(prelude)
    made = zero()
    for _ in range(_checked(n)):
        made = next_one(made)
    return made
