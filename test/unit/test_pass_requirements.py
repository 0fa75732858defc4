"""Required passes: order, caching, circles, what counts when a required pass is disabled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr

from weft.dialects.support.diagnostics import UsageError
from weft.transforms.infra import remarks, report_changed
from weft.transforms.infra.context import PassContext
from weft.transforms.infra.errors import RequirementError, UnknownPassError
from weft.transforms.infra.info import PassInfo
from weft.transforms.infra.instruments import PassInstrument
from weft.transforms.infra.passes import ModulePass
from weft.transforms.infra.registry import registered
from weft.transforms.infra.requirements import order_requirements
from weft.transforms.infra.sequential import Sequential

ran: list[str] = []


@dataclass(frozen=True)
class Noted(ModulePass):
    """A pass that writes down that it ran, and says whether it changed the module where `changes` is set."""

    changes: ClassVar[bool | None] = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        ran.append(self.name)
        if self.changes is not None:
            report_changed(self.changes)


def made(name: str, **declared: object) -> type[Noted]:
    return type(name, (Noted,), {"name": name, **declared})


@pytest.fixture(autouse=True)
def nothing_has_run() -> Iterator[None]:
    ran.clear()
    with PassContext(opt_level=2):
        yield


def run(*passes: type[Noted]) -> str:
    Sequential([p() for p in passes])(ModuleOp([]))
    return " ".join(ran)


A, B, C = made("t-a"), made("t-b"), made("t-c")


def test_one_level_of_requirements_runs_in_tvms_order():
    """TVM: for each pass in turn, its requirements in the order of the list, then the pass."""
    P, Q = made("t-p", required=("t-b", "t-a")), made("t-q", required=("t-a", "t-c"))
    with registered(A, B, C):
        assert run(P, Q) == "t-b t-a t-p t-a t-c t-q"


def test_requirements_are_transitive_and_come_before_what_needs_them():
    middle, P = made("t-middle", required=("t-a", "t-b")), made("t-p", required=("t-c", "t-middle"))
    with registered(A, B, C, middle):
        assert run(P) == "t-c t-a t-b t-middle t-p"


def test_a_requirement_shared_by_two_runs_once():
    left, right = made("t-left", required=("t-a",)), made("t-right", required=("t-a",))
    P = made("t-p", required=("t-left", "t-right"))
    with registered(A, left, right):
        assert [r.name for r in order_requirements(P().info)] == ["t-a", "t-left", "t-right"]
        assert run(P) == "t-a t-left t-right t-p"


def test_direct_calls_run_requirements_too():
    P = made("t-p", required=("t-a",))
    with registered(A):
        P()(ModuleOp([]))
    assert ran == ["t-a", "t-p"]


def test_a_requirement_that_still_holds_is_not_run_again():
    P, Q = made("t-p", required=("t-a",), preserves=("t-a",)), made("t-q", required=("t-a",))
    with registered(A):
        assert run(P, Q) == "t-a t-p t-q"


def test_a_pass_that_changed_nothing_undoes_nothing():
    P, Q = made("t-p", required=("t-a",), changes=False), made("t-q", required=("t-a",))
    with registered(A):
        assert run(P, Q) == "t-a t-p t-q"


def test_a_pass_that_says_it_changed_something_undoes_what_it_does_not_preserve():
    P, Q = made("t-p", required=("t-a",), changes=True), made("t-q", required=("t-a",))
    with registered(A):
        assert run(P, Q) == "t-a t-p t-a t-q"


def test_a_pass_that_preserves_all_keeps_everything():
    P, Q = made("t-p", required=("t-a", "t-b"), preserves=("*",)), made("t-q", required=("t-b", "t-a"))
    with registered(A, made("t-b", preserves=("t-a",))):
        assert run(P, Q) == "t-a t-b t-p t-q"


def test_a_pass_that_ran_on_its_own_account_satisfies_requirements():
    with registered(A):
        assert run(A, made("t-p", required=("t-a",))) == "t-a t-p"


def test_a_pass_can_establish_what_another_one_does():
    E = made("t-e", establishes=("t-a",))
    with registered(A):
        assert run(E, made("t-p", required=("t-a",))) == "t-e t-p"


def test_a_persistent_effect_holds_until_a_pass_names_it():
    types = made("t-types", persistent=True)
    needs, careless = made("t-needs", required=("t-types",)), made("t-careless", invalidates=("t-types",))
    with registered(types):
        assert run(needs, A, needs, careless, needs) == "t-types t-needs t-a t-needs t-careless t-types t-needs"


def test_what_holds_is_forgotten_when_the_run_ends():
    P = made("t-p", required=("t-a",), preserves=("*",))
    with registered(A):
        run(P)
        run(P)
    assert ran == ["t-a", "t-p"] * 2


def test_what_holds_is_known_inside_of_nested_sequences():
    P = made("t-p", required=("t-a",), preserves=("*",))
    with registered(A):
        Sequential([Sequential([P()]), Sequential([P()], required=["t-a"])])(ModuleOp([]))
    assert ran == ["t-a", "t-p", "t-p"]


def test_a_requirement_undone_by_another_one_is_run_again_after_it():
    B = made("t-b", invalidates=("t-a",))
    with registered(A, B):
        assert run(made("t-p", required=("t-a", "t-b"))) == "t-a t-b t-a t-p"


def test_two_requirements_that_undo_one_another_are_an_error():
    A, B = made("t-a", invalidates=("t-b",)), made("t-b", invalidates=("t-a",))
    with (
        registered(A, B),
        pytest.raises(RequirementError, match="requires both 't-a' and 't-b', which undo one another"),
    ):
        run(made("t-p", required=("t-a", "t-b")))


def test_a_circle_is_reported_with_its_path_before_anything_runs():
    X, Y, Z = made("t-x", required=("t-y",)), made("t-y", required=("t-z",)), made("t-z", required=("t-x",))
    with registered(X, Y, Z):
        with pytest.raises(RequirementError, match="in a circle: t-x -> t-y -> t-z -> t-x"):
            run(A, X)
        with pytest.raises(RequirementError, match="in a circle: t-x -> t-y -> t-z -> t-x"):
            run(made("t-p", required=("t-x",)))
    assert ran == []


def test_an_unknown_requirement_is_reported_with_near_names_before_anything_runs():
    with registered(made("t-simplify")), pytest.raises(UnknownPassError) as caught:
        run(A, made("t-p", required=("t-simplfy",)))
    assert caught.value.message == "no pass is named 't-simplfy', which 't-p' requires"
    assert caught.value.hint == "did you mean 't-simplify'?"
    assert isinstance(caught.value, UsageError) and ran == []


def test_requirements_of_passes_that_are_not_enabled_do_not_matter():
    with registered(A):
        assert run(made("t-p", required=("t-absent",), opt_level=3), A) == "t-a"


def test_a_required_pass_runs_though_it_is_disabled_or_above_the_level():
    high = made("t-high", opt_level=3)
    with registered(A, high), PassContext(opt_level=0, disabled_pass=["t-a"]), remarks.collect() as said:
        assert run(A, made("t-p", required=("t-a", "t-high"))) == "t-a t-high t-p"
    assert [r.message for r in said if r.pass_name == "t-high"] == [
        "runs although it is not enabled, because 't-p' requires it"
    ]


def test_an_instrument_can_keep_a_required_pass_from_running():
    class NotA(PassInstrument):
        def should_run(self, module: ModuleOp, info: PassInfo) -> bool:
            return info.name != "t-a"

    with registered(A), PassContext(instruments=[NotA()]):
        assert run(made("t-p", required=("t-a",))) == "t-p"


def test_a_required_pass_that_needs_options_is_an_error():
    @dataclass(frozen=True)
    class Needs(Noted):
        name = "t-needs-option"
        depth: int

    with (
        registered(Needs),
        pytest.raises(RequirementError, match="'t-needs-option', which cannot be run without depth"),
    ):
        run(made("t-p", required=("t-needs-option",)))


def test_requirements_may_be_given_by_tvms_names():
    with registered(made("t-infer-type", tvm_name="TInferType")):
        assert run(made("t-p", required=("TInferType",))) == "t-infer-type t-p"


def test_three_thousand_levels_of_requirements_do_not_overflow():
    passes = [made("t-0"), *(made(f"t-{i}", required=(f"t-{i - 1}",)) for i in range(1, 3_000))]
    with registered(*passes):
        assert len(order_requirements(passes[-1]().info)) == 2_999


def test_requirements_of_requirements_are_kept_valid():
    """What a required pass requires is undone by another thing that it requires: both are right when it runs."""
    b = made("t-b", invalidates=("t-a",))
    middle = made("t-middle", required=("t-a", "t-b"))
    P = made("t-p", required=("t-middle",))
    with registered(A, b, middle):
        assert run(P) == "t-a t-b t-a t-middle t-p"
        ran.clear()
        assert run(middle) == "t-a t-b t-a t-middle"


def test_what_is_run_again_has_its_own_requirements_made_right_first():
    b = made("t-b", invalidates=("t-middle", "t-a"))
    middle = made("t-middle", required=("t-a",))
    P = made("t-p", required=("t-middle", "t-b"))
    with registered(A, b, middle):
        assert run(P) == "t-a t-middle t-b t-a t-middle t-p"


def test_what_holds_needs_no_requirements_of_its_own():
    middle = made("t-middle", required=("t-a",))
    Q, P = made("t-q", preserves=("t-middle",)), made("t-p", required=("t-middle",))
    with registered(A, middle):
        assert run(middle, Q, P) == "t-a t-middle t-q t-p"
        ran.clear()
        assert run(made("t-middle", required=("t-a",), persistent=True), Q, P) == "t-a t-middle t-q t-p"


def test_a_requirement_that_can_be_seen_to_hold_does_not_run():
    @staticmethod
    def never_needed(module: ModuleOp) -> bool:
        return "done" in module.attributes

    seen = made("t-seen", required=("t-a",), holds_in=never_needed)
    P = made("t-p", required=("t-seen",))
    with registered(A, seen):
        Sequential([P()])(ModuleOp([], attributes={"done": UnitAttr()}))
        assert ran == ["t-p"]
        ran.clear()
        assert run(P) == "t-a t-seen t-p"


def test_two_requirements_deep_inside_that_undo_one_another_are_an_error():
    a, b = made("t-a", invalidates=("t-b",)), made("t-b", invalidates=("t-a",))
    middle = made("t-middle", required=("t-a", "t-b"))
    P = made("t-p", required=("t-middle",))
    with registered(a, b, middle), pytest.raises(RequirementError, match="'t-middle' requires both 't-a' and 't-b'"):
        run(P)


@pytest.mark.parametrize("wrong", ["t-absent", "t-x"])
def test_a_requirement_that_cannot_be_met_is_found_before_anything_runs_at_any_nesting(wrong: str):
    X = made("t-x", required=(wrong,))
    with registered(A, X):
        inner = Sequential([A(), Sequential([A(), X()])])
        with pytest.raises(UsageError, match=r"no pass is named|in a circle"):
            Sequential([A(), inner])(ModuleOp([]))
        with pytest.raises(UsageError, match=r"no pass is named|in a circle"):
            Sequential([A(), inner]).apply(Context(), ModuleOp([]))
    assert ran == []


def test_a_requirement_that_an_instrument_refuses_is_asked_for_once():
    class Refuse(PassInstrument):
        def should_run(self, module: ModuleOp, info: PassInfo) -> bool:
            return info.name != "t-a"

    b = made("t-b", invalidates=("t-a",))
    P = made("t-p", required=("t-a", "t-b"))
    with registered(A, b), PassContext(instruments=[Refuse()]):
        assert run(P) == "t-b t-p"
