"""What is seen to be right is what xDSL's constraint finds right."""

import pytest
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FlatSymbolRefAttrConstr,
    IntAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute
from xdsl.irdl import (
    AllOf,
    AnyAttr,
    AttrConstraint,
    BaseAttr,
    EqAttrConstraint,
    ParamAttrConstraint,
    RangeOf,
    VarConstraint,
    VerificationContext,
)
from xdsl.utils.exceptions import VerifyException

from weft.dialects.support.plain_constraints import anything, sees, sees_of_each

ATTRIBUTES: list[Attribute] = [
    IntegerAttr(1, i32),
    IntegerAttr(1, i64),
    IntegerType(32),
    IntAttr(3),
    StringAttr("s"),
    UnitAttr(),
    ArrayAttr([]),
    ArrayAttr([StringAttr("a"), StringAttr("b")]),
    ArrayAttr([StringAttr("a"), UnitAttr()]),
    DenseArrayBase.from_list(i64, [1, 2]),
    DenseArrayBase.from_list(i32, [1, 2]),
    SymbolRefAttr("flat"),
    SymbolRefAttr("a", ["nested"]),
]
PLAIN: list[AttrConstraint] = [
    AnyAttr(),
    BaseAttr(StringAttr),
    EqAttrConstraint(UnitAttr()),
    BaseAttr(StringAttr) | BaseAttr(UnitAttr),
    IntegerAttr.constr(i32),
    DenseArrayBase.constr(i64) | BaseAttr(StringAttr),
    ArrayAttr.constr(BaseAttr(StringAttr)),
    FlatSymbolRefAttrConstr,
    SymbolNameConstraint(),
]


def is_right(constraint: AttrConstraint, attribute: Attribute) -> bool:
    try:
        constraint.verify(attribute, VerificationContext())
    except VerifyException:
        return False
    return True


@pytest.mark.parametrize("constraint", PLAIN, ids=str)
def test_what_is_seen_to_be_right_is_right_and_the_other_way_round(constraint: AttrConstraint) -> None:
    see = sees(constraint)
    assert see is not None
    assert [see(attribute) for attribute in ATTRIBUTES] == [is_right(constraint, each) for each in ATTRIBUTES]


def test_what_depends_on_other_attributes_is_left_to_the_constraint() -> None:
    shared = VarConstraint("T", AnyAttr())
    assert sees(shared) is None and sees(ParamAttrConstraint(IntegerAttr, (AnyAttr(), shared))) is None
    assert sees(AllOf((BaseAttr(StringAttr), AnyAttr()))) is None
    assert sees_of_each(RangeOf(shared), 0, None) is None


def test_a_constraint_made_from_one_of_xdsls_is_left_to_itself() -> None:
    class Never(BaseAttr[StringAttr]):
        def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
            raise VerifyException("never")

    assert sees(Never(StringAttr)) is None


def test_how_many_there_are_is_seen_only_where_it_is_known() -> None:
    strings = RangeOf(BaseAttr(StringAttr))
    one = strings.of_length(1)
    assert sees_of_each(strings, 0, None) is not None and sees_of_each(RangeOf(AnyAttr()), 0, None) is anything
    assert sees_of_each(one, 1, 1) is not None and sees_of_each(one, 0, None) is None
