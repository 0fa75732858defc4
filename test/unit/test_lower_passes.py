"""`weft.lower` under TVM's configuration: passes of one's own, loops without vectors, functions without assertions."""

# The bodies of the functions here are read by @T.prim_func, and are no Python to be checked.
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportUndefinedVariable=false
# pyright: reportOperatorIssue=false, reportGeneralTypeIssues=false, reportInvalidTypeForm=false, reportCallIssue=false
# ruff: noqa: F821

from typing import Any

import numpy as np
import pytest

import weft
from weft import te, tir
from weft.dialects.support.diagnostics import UsageError
from weft.lowering.lower_passes import lower_passes
from weft.script import tir as T
from weft.tir import stmt_functor


@tir.transform.prim_func_pass(opt_level=0, name="twice")
def twice(func: Any, mod: Any, ctx: Any) -> Any:
    def doubled(store: tir.BufferStore) -> tir.BufferStore:
        return tir.BufferStore(store.buffer, store.value * 2.0, store.indices)

    return func.with_body(stmt_functor.ir_transform(func.body, None, doubled, ["tir.BufferStore"]))


@tir.transform.prim_func_pass(opt_level=0, name="more")
def more(func: Any, mod: Any, ctx: Any) -> Any:
    def added(store: tir.BufferStore) -> tir.BufferStore:
        return tir.BufferStore(store.buffer, store.value + 1.0, store.indices)

    return func.with_body(stmt_functor.ir_transform(func.body, None, added, ["tir.BufferStore"]))


def scheduled() -> tuple[te.Schedule, list[te.Tensor]]:
    x = te.placeholder((8,), name="x")
    y = te.compute((8,), lambda i: x[i] + 1.0, name="y")
    s = te.create_schedule(y.op)
    s[y].vectorize(y.op.axis[0])
    return s, [x, y]


@pytest.mark.parametrize(("added", "wanted"), [([(0, twice), (0, more)], 5), ([(2, twice), (1, more)], 6), ([], 2)])
def test_passes_are_added_to_their_phases(added: list[object], wanted: float) -> None:
    result = np.zeros(8, np.float32)
    with weft.PassContext(config={"tir.add_lower_pass": added}):
        weft.build(*scheduled())(np.ones(8, np.float32), result)
    assert (result == wanted).all()


def test_what_is_no_pass_is_refused() -> None:
    for added in ([(4, twice)], [twice], [(0, "twice")]):
        with (
            weft.PassContext(config={"tir.add_lower_pass": added}),
            pytest.raises(UsageError, match="pairs of a phase, 0 to 3, and a pass"),
        ):
            weft.lower(*scheduled())


def test_vectorized_loops_are_serial_where_that_is_asked_for() -> None:
    assert "for vectorized" in str(weft.lower(*scheduled()))
    with weft.PassContext(config={"tir.disable_vectorize": True}):
        assert "for vectorized" not in str(weft.lower(*scheduled()))


@T.prim_func
def checked(A: T.Buffer[(8,), "float32"], B: T.Buffer[(8,), "float32"]):
    for i in range(8):
        with T.block("b"):
            vi = T.axis.spatial(8, i)
            assert A[vi] >= T.float32(0), "a number is negative"
            B[vi] = A[vi]


def test_assertions_are_left_out_where_that_is_asked_for() -> None:
    assert "tir.assert" in str(weft.lower(checked))
    with weft.PassContext(config={"tir.disable_assert": True, "tir.instrument_bound_checkers": False}):
        assert "tir.assert" not in str(weft.lower(checked))


@pytest.mark.parametrize(
    ("key", "name"),
    [("tir.disable_storage_rewrite", "storage-rewrite"), ("tir.disable_cse_tir", "common-subexpr-elim-tir")],
)
def test_passes_that_tvm_always_runs_run_where_they_are_said_not_to_be_disabled(key: str, name: str) -> None:
    for config, runs in (({}, False), ({key: True}, False), ({key: False}, True)):
        with weft.PassContext(config=config) as context:
            assert (name in [each.name for each in lower_passes(context, simple_mode=False)]) is runs
            weft.lower(checked)


def test_functions_are_changed_and_left_out_by_functions() -> None:
    module = tir.IRModule({"a": checked, "b": checked})
    assert list(tir.IRModule.of(tir.transform.Filter(lambda f: f.sym_name.data == "b")(module)).functions) == ["b"]
    marked = tir.transform.Apply(lambda f: f.with_attr("marked", 1))(module)
    assert str(marked).count("marked") == 2 and str(module).count("marked") == 0


@pytest.mark.parametrize(
    ("inline", "wanted"),
    [
        (te.AutoInlineElemWise, ["y", "z"]),
        (te.AutoInlineBroadcast, ["y", "z", "rows"]),
        (te.AutoInlineInjective, ["y", "z", "rows", "back"]),
    ],
)
def test_stages_of_a_kind_are_inlined(inline: Any, wanted: list[str]) -> None:
    x = te.placeholder((8,), name="x")
    y = te.compute((8,), lambda i: x[i] + 1.0, name="y")
    z = te.compute((8,), lambda i: y[i] * x[i], name="z")
    rows = te.compute((4, 8), lambda i, j: z[j], name="rows")
    back = te.compute((4, 8), lambda i, j: rows[i, 7 - j], name="back")
    k = te.reduce_axis((0, 8), "k")
    total = te.compute((4,), lambda i: te.sum(back[i, k], axis=k), name="total")
    out = te.compute((4,), lambda i: total[i] + 1.0, name="out")
    s = te.create_schedule(out.op)
    inline(s)
    assert [stage.tensor.name for stage in s.stages if stage.is_inlined] == wanted
    array, result = np.arange(8, dtype=np.float32), np.zeros(4, np.float32)
    weft.build(s, [x, out])(array, result)
    np.testing.assert_allclose(result, ((array + 1) * array).sum() + 1)


def test_a_stage_of_which_something_was_asked_stays() -> None:
    x = te.placeholder((8,), name="x")
    y = te.compute((8,), lambda i: x[i] + 1.0, name="y")
    z = te.compute((8,), lambda i: y[i] * 2.0, name="z")
    s = te.create_schedule(z.op)
    s[y].parallel(y.op.axis[0])
    te.AutoInlineInjective(s)
    assert not s[y].is_inlined


def test_expressions_are_written_alike() -> None:
    x, y = tir.Var("x"), tir.Var("y")
    deep = tir.analysis.expr_deep_equal
    assert deep(x + y, x + y) and not deep(x + y, y + x) and not deep(x + y, x - y)


def test_definitions_are_renewed() -> None:
    again = stmt_functor.renew_defs(checked)
    assert tir.structural_equal(again, checked)
    assert again.params[0] is not checked.params[0]


def graph() -> Any:
    x = weft.relay.var("x", shape=(3, 37))
    return weft.relay.Function([x], weft.relay.nn.softmax(weft.relay.exp(x)))


def test_passes_are_added_to_kernels_of_graphs_and_nothing_is_kept_of_them() -> None:
    """Two passes of one name, one after the other, in one process."""
    x = weft.relay.var("x", shape=(5,))
    kernel: Any = weft.relay.Function([x], weft.relay.abs(x))
    array = np.ones(5, np.float32)

    def compiled(change: Any) -> Any:
        def changed(func: Any, mod: Any, ctx: Any) -> Any:
            def store(found: tir.BufferStore) -> tir.BufferStore:
                return tir.BufferStore(found.buffer, change(found.value), found.indices)

            return func.with_body(stmt_functor.ir_transform(func.body, None, store, ["tir.BufferStore"]))

        added = tir.transform.prim_func_pass(changed, opt_level=0, name="changed")
        with weft.PassContext(config={"tir.add_lower_pass": [(1, added)]}):
            return weft.compile(kernel)

    assert compiled(lambda value: value * 2.0)(array).tolist() == [2] * 5
    assert compiled(lambda value: value + 4.0)(array).tolist() == [5] * 5
    assert np.asarray(weft.compile(kernel)(array)).tolist() == [1] * 5


def test_kernels_of_graphs_are_serial_where_that_is_asked_for() -> None:
    array = np.random.default_rng(1).standard_normal((3, 37)).astype(np.float32)
    exe = weft.compile(graph())
    assert "for vectorized" in exe.ir["schedule"]
    with weft.PassContext(config={"tir.disable_vectorize": True, "tir.disable_assert": True}):
        serial = weft.compile(graph())
    assert "for vectorized" not in serial.ir["schedule"]
    np.testing.assert_allclose(*(np.asarray(each(array), np.float32) for each in (serial, exe)), rtol=1e-5)


@T.prim_func
def branching(A: T.Buffer[(2, 3), "float32"], n: T.int32):
    for i, j in T.grid(2, 3):
        if 0 < n:
            A[i, j] = T.float32(1)


@pytest.mark.parametrize(
    ("config", "after"),
    [
        ({"tir.UnrollLoop": {"auto_max_step": 3}}, "for i in range(2)"),
        ({"tir.UnrollLoop": {"auto_max_extent": 3, "explicit_unroll": False}}, "T.unroll(3)"),
        ({"tir.HoistIfThenElse": {"support_block_scope_hosting": True}}, "T.where("),
    ],
)
def test_passes_run_where_they_have_options(config: dict[str, object], after: str) -> None:
    assert after not in weft.lower(branching)["main"].script()
    with weft.PassContext(config=config):
        lowered = weft.lower(branching)["main"]
        result = np.zeros((2, 3), np.float32)
        weft.build(branching)(result, 1)
    assert after in lowered.script()
    assert (result == 1).all()
