"""What simplify and remove-no-op make of what buffers are known to hold, by the options that ask for it."""

# The bodies of the functions here are read by @T.prim_func, and are no Python to be checked.
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportUndefinedVariable=false
# pyright: reportOperatorIssue=false, reportGeneralTypeIssues=false, reportInvalidTypeForm=false, reportCallIssue=false

import re

import numpy as np
import pytest

import weft
from weft.dialects.support.verifier import verify
from weft.dialects.tir.core import PrimFuncOp
from weft.script import tir as T
from weft.tir import IRModule, from_source

HEAD = """@T.prim_func
def f(A: T.Buffer[(12,), "int32"], B: T.Buffer[(12,), "int32"], n: T.int32):
"""


def function(body: str) -> PrimFuncOp:
    """A function of two buffers and a size."""
    head = HEAD if re.search(r"\bn\b", body) else HEAD.replace(", n: T.int32", "")
    func = from_source(head + "".join(f"    {line}\n" for line in body.strip("\n").splitlines()))
    assert isinstance(func, PrimFuncOp)
    return func


def after(name: str, body: str, **options: bool) -> PrimFuncOp:
    """A function after a pass with these options, verified."""
    module = IRModule([function(body).clone()])
    with weft.PassContext(config={f"tir.{name}": options}):
        module = getattr(weft.tir.transform, name)()(module)
    verify(module)
    return module["f"]


def assert_becomes(body: str, expected: str, name: str = "Simplify", **options: bool) -> None:
    wanted = options or {"propagate_knowns_to_prove_conditional": True}
    T.assert_structural_equal(after(name, body, **wanted), function(expected))


def test_a_condition_follows_from_what_was_stored_before() -> None:
    store = "for i in range(12):\n    A[i] = i\n"
    test = "for j in range(12):\n    if A[j] == j:\n        B[j] = 42\n    else:\n        B[j] = 100\n"
    assert_becomes(store + test, store + "for j in range(12):\n    B[j] = 42\n")
    T.assert_structural_equal(after("Simplify", store + test), function(store + test))  # nobody asked for it


@pytest.mark.parametrize(
    "between",
    [
        "A[3] = 7",
        "for i in range(12):\n    if B[i] == 0:\n        A[i] = 7",
        "for i in range(12):\n    with T.block('c'):\n        vi = T.axis.spatial(12, i)\n"
        "        T.evaluate(T.call_extern('', 'touch', A.access_ptr('rw')))",
    ],
)
def test_what_is_written_in_between_is_not_known(between: str) -> None:
    body = f"for i in range(12):\n    A[i] = i\n{between}\nfor j in range(12):\n    if A[j] == j:\n        B[j] = 42\n"
    T.assert_structural_equal(after("Simplify", body, propagate_knowns_to_prove_conditional=True), function(body))


def test_a_condition_follows_from_what_is_assumed_of_elements_and_sizes() -> None:
    promise = "T.evaluate(T.assume(n == 3))\nfor i in range(12):\n    T.evaluate(T.assume(i < 9 or A[i] == 0))\n"
    test = """for i in range(12):
    if 9 <= i:
        if A[i] == 0 and n > 2:
            A[i] = 42
    else:
        if A[i] == 0:
            A[i] = 43
"""
    assert_becomes(
        promise + test, promise + test.replace("        if A[i] == 0 and n > 2:\n            A", "        A", 1)
    )


def test_an_assumption_under_a_condition_says_nothing_elsewhere() -> None:
    body = "if n == 5:\n    T.evaluate(T.assume(A[0] == 0))\nif A[0] == 0:\n    A[0] = 1\n"
    T.assert_structural_equal(after("Simplify", body, propagate_knowns_to_prove_conditional=True), function(body))


def test_an_element_that_an_iteration_may_have_written_is_not_known() -> None:
    body = """for i in range(12):
    A[i] = 0
for t in range(2):
    for i in range(12):
        if A[i] == 0:
            A[i] = 1
        else:
            B[i] = 1
"""
    T.assert_structural_equal(after("Simplify", body, propagate_knowns_to_prove_conditional=True), function(body))


def test_elements_that_are_known_are_literals_where_that_is_asked_for() -> None:
    body = "A[0] = 5\nA[0] = A[0] + 7\nB[0] = A[0]\n"
    assert_becomes(body, "A[0] = 5\nA[0] = 12\nB[0] = 12\n", propagate_knowns_to_simplify_expressions=True)


def test_less_is_proved_where_less_is_asked_for() -> None:
    body = "for i, j in T.grid(12, 12):\n    if i < j and j < 7:\n        if i < 7:\n            B[i] = 1\n"
    assert_becomes(
        body, body.replace("        if i < 7:\n            B", "        B"), transitively_prove_inequalities=True
    )
    kept = after("Simplify", body, transitively_prove_inequalities=False)
    T.assert_structural_equal(kept, function(body))


def test_an_or_of_ands_becomes_an_and_of_ors() -> None:
    body = "if (A[0] == 1 and A[1] == 2) or A[2] == 3:\n    B[0] = 1\n"
    wanted = "if (A[0] == 1 or A[2] == 3) and (A[1] == 2 or A[2] == 3):\n    B[0] = 1\n"
    assert_becomes(body, wanted, convert_boolean_to_and_of_ors=True)


def test_stores_that_are_overwritten_or_change_nothing_go() -> None:
    last = "for i in range(12):\n    A[i] = i\n"
    twice = "for i in range(12):\n    B[i] = 1\n    B[i] = 2\n"
    body = f"for i in range(4, 9):\n    A[i] = 100\n{twice}{last}{last}A[4] = 4\n"
    expected = f"for i in range(12):\n    B[i] = 2\n{last}"
    assert_becomes(body, expected, "RemoveNoOp", use_dataflow_analysis=True)
    T.assert_structural_equal(after("RemoveNoOp", body), function(body))


@pytest.mark.parametrize("later", ["B[0] = A[3]", "for i in range(4, 9):\n    A[i] = 2", "if n == 1:\n    A[3] = 2"])
def test_stores_that_are_read_or_not_overwritten_for_certain_stay(later: str) -> None:
    body = f"for i in range(12):\n    A[i] = 1\n{later}\n"
    T.assert_structural_equal(after("RemoveNoOp", body, use_dataflow_analysis=True), function(body))


BRANCHES = """for i in range(12):
    if {first}:
        A[i] = 1
for j in range(12):
    if {later}:
        A[j] = 2
"""


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("i < 9", "j < 9"),
        ("i < 7", "j // 4 < 2"),
        ("i < 7 and i % 2 == 1", "j < 8"),
        ("i == 5", "j >= 3"),
    ],
)
def test_a_store_goes_that_is_made_again_wherever_it_was_made(first: str, later: str) -> None:
    body = BRANCHES.format(first=first, later=later)
    assert_becomes(body, body[body.index("for j") :], "RemoveNoOp", use_dataflow_analysis=True)


@pytest.mark.parametrize(
    ("first", "later"),
    [("i < 9", "j < 8"), ("i < 9", "B[j] == 0"), ("i < 9", "j < 9 and B[j] == 0"), ("i < 9", "j < n")],
)
def test_a_store_stays_that_is_not_surely_made_again(first: str, later: str) -> None:
    body = BRANCHES.format(first=first, later=later)
    T.assert_structural_equal(after("RemoveNoOp", body, use_dataflow_analysis=True), function(body))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("A[j] = 2", "A[11 - j] = 2"),
        ("j in range(12)", "j in range(1, 12)"),
        ("A[j] = 2", "B[j] = A[j]\n        A[j] = 2"),
        ("for j", "B[0] = A[3]\nfor j"),
        ("        A[i] = 1", "        A[i] = 1\n    else:\n        A[i] = 0"),
        ("    if j < 9:\n        A", "    if j < 9:\n        B[j] = 0\n    else:\n        A"),
    ],
)
def test_a_store_to_elements_that_are_others_or_read_stays(old: str, new: str) -> None:
    body = BRANCHES.format(first="i < 9", later="j < 9")
    assert old in body
    body = body.replace(old, new)
    T.assert_structural_equal(after("RemoveNoOp", body, use_dataflow_analysis=True), function(body))


def test_a_side_of_a_branch_that_does_nothing_goes() -> None:
    body = "for i in range(12):\n    if i < 8:\n        T.evaluate(A[i])\n    else:\n        A[i] = 42\n"
    assert_becomes(
        body, "for i in range(12):\n    if not i < 8:\n        A[i] = 42\n", "RemoveNoOp", use_dataflow_analysis=False
    )
    body = "for i in range(12):\n    if i < 8:\n        A[i] = 42\n    else:\n        T.evaluate(A[i])\n"
    assert_becomes(
        body, "for i in range(12):\n    if i < 8:\n        A[i] = 42\n", "RemoveNoOp", use_dataflow_analysis=False
    )


def test_what_branches_leave_in_buffers_stays_what_it_was() -> None:
    source = """@T.prim_func
def f(A: T.Buffer[(100,), "float32"]):
    for i in range(100):
        if i % 3 == 0 and i < 70:
            A[i] = 1.0
    for i in range(100):
        if i < 80:
            if i % 3 == 0:
                A[i] = 2.0
    for i in range(100):
        if i < 90:
            T.evaluate(A[i])
        else:
            A[i] = 3.0
"""
    before, after_pass = run_after(source, "RemoveNoOp", use_dataflow_analysis=True)
    np.testing.assert_array_equal(after_pass, before)
    assert set(before) == {0, 2, 3}
    changed = weft.tir.transform.RemoveNoOp(use_dataflow_analysis=True)(IRModule([from_source(source)]))
    assert "T.float32(1)" not in changed.script() and "else" not in changed.script()


def test_results_stay_what_they_were() -> None:
    body = """for i in range(12):
    A[i] = 3
for i in range(12):
    if A[11 - i] == 3 and B[i] < 4:
        B[i] = A[i] + 1
    A[i] = i
"""
    options = {"propagate_knowns_to_prove_conditional": True, "propagate_knowns_to_simplify_expressions": True}
    results = [weft.build(func.clone()) for func in (function(body), after("Simplify", body, **options))]
    arrays = [[np.zeros(12, np.int32), np.arange(12, dtype=np.int32)] for _ in results]
    for run, (a, b) in zip(results, arrays, strict=True):
        run(a, b)
    np.testing.assert_array_equal(arrays[0], arrays[1])


def run_after(source: str, name: str, **options: bool) -> tuple[np.ndarray, np.ndarray]:
    """What a function of one buffer `A` leaves in it as machine code, before and after a pass with these options."""
    module = IRModule([from_source(source)])
    with weft.PassContext(config={f"tir.{name}": options}):
        changed = getattr(weft.tir.transform, name)()(IRModule([from_source(source)]))
    found: list[np.ndarray] = []
    for each in (module, changed):
        array = np.zeros((4, 4) if "(4, 4)" in source else (100,), np.int8 if "int8" in source else np.float32)
        weft.build(each)(array)
        found.append(array)
    return found[0], found[1]


def test_a_diagonal_does_not_overwrite_a_matrix() -> None:
    source = """@T.prim_func
def f(A: T.Buffer[(4, 4), "float32"]):
    for i, j in T.grid(4, 4):
        A[i, j] = 1.0
    for i in range(4):
        A[i, i] = 2.0
"""
    before, after_pass = run_after(source, "RemoveNoOp", use_dataflow_analysis=True)
    np.testing.assert_array_equal(before, np.ones((4, 4)) + np.eye(4))
    np.testing.assert_array_equal(after_pass, before)


def test_numbers_of_few_bits_wrap_around_and_prove_nothing() -> None:
    source = """@T.prim_func
def f(A: T.Buffer[(100,), "int8"]):
    for i in range(100):
        if T.cast(i, "int8") + T.cast(i, "int8") >= T.int8(0):
            A[i] = T.int8(1)
"""
    before, after_pass = run_after(source, "Simplify", propagate_knowns_to_prove_conditional=True)
    np.testing.assert_array_equal(before, np.arange(100) < 64)
    np.testing.assert_array_equal(after_pass, before)


def test_elements_that_are_stored_one_after_the_other_are_known() -> None:
    store = "with T.block('first'):\n    A[0] = 3\n    A[1] = 4\n    A[2] = 5\n    A[2] = 6\n"
    asked = "if A[{}] == {}:\n    B[{}] = 1\n"
    tests = "".join(asked.format(n, value, n) for n, value in ((0, 3), (1, 4), (2, 6)))
    assert_becomes(store + tests, store + "B[0] = 1\nB[1] = 1\nB[2] = 1\n")
    for other in ("A[n % 12] = 4", "A[1] = B[3]", "if B[3] == 0:\n        A[1] = 9"):
        body = store.replace("A[1] = 4", other) + asked.format(0, 3, 0)
        T.assert_structural_equal(after("Simplify", body, propagate_knowns_to_prove_conditional=True), function(body))


def test_other_elements_than_those_written_are_known_still() -> None:
    store = "for i in range(12):\n    A[i] = i * 2\n"
    asked = "if A[5] == 10:\n    B[5] = 1\n"
    assert_becomes(f"{store}A[4] = 7\n{asked}", f"{store}A[4] = 7\nB[5] = 1\n")
    body = f"{store}A[5] = 10 + n\n{asked}"
    T.assert_structural_equal(after("Simplify", body, propagate_knowns_to_prove_conditional=True), function(body))
