"""Functions as trees of nodes: what they are made of, visited, changed, and made functions again."""

# The bodies of the functions here are read by @T.prim_func, and are no Python to be checked.
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportUndefinedVariable=false
# pyright: reportOperatorIssue=false, reportGeneralTypeIssues=false, reportInvalidTypeForm=false, reportCallIssue=false
# pyright: reportArgumentType=false
# ruff: noqa: F821

from typing import Any

import numpy as np
import pytest

import weft
from weft import te, tir
from weft.dialects.support.diagnostics import UsageError
from weft.script import tir as T
from weft.tir import assert_structural_equal, stmt_functor


@T.prim_func
def product(A: T.Buffer[(8, 16), "float32"], B: T.Buffer[(16, 4), "float32"], C: T.Buffer[(8, 4), "float32"]):
    D = T.alloc_buffer((8, 4), "float32")
    for i, j, k in T.grid(8, 4, 16):
        with T.block("product"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                D[vi, vj] = T.float32(0)
            D[vi, vj] = D[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(8, 4):
        with T.block("relu"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.max(D[vi, vj], T.float32(0))


@T.prim_func
def everything(a: T.handle, B: T.Buffer[(16,), "int32"], x: T.float32, n: T.int32):
    A = T.match_buffer(a, (n, 16), "float32")
    K = T.allocate_const([1, 2, 3, 4], "int32", (4,))
    for i in T.parallel(n, annotations={"pragma": [1, "two"]}):
        E = T.alloc_buffer((16,), "float32", scope="local")
        for j0, j1 in T.grid(4, 5):
            with T.block("first"):
                vi = T.axis.spatial(n, i)
                vj = T.axis.spatial(16, j0 * 5 + j1, partial=True)
                T.where(j0 * 5 + j1 < 16)
                T.block_attr({"said": True})
                y: T.float32 = T.exp2(A[vi, vj]) * x
                E[vj] = T.if_then_else(vj < 8, y, y * y) + T.Select(B[vj] > 0, T.float32(1), T.cast(vi, "float32"))
        for j in range(16):
            with T.block("second"):
                vi, vj = T.axis.remap("SS", [i, j])
                if (vj % 3 == 1) and not (B[vj] < 2):
                    A[vi, vj] = T.min(E[vj], -T.sqrt(T.abs(x)))
                else:
                    A[vi, vj] = E[vj] * T.cast(K[vj % 4], "float32")
                    assert B[vj] >= -5, "too small"
                while A[vi, vj] > T.float32(10):
                    A[vi, vj] = A[vi, vj] * T.float32(0.5)


@T.prim_func
def alone(A: T.Buffer[(16,), "float32"], B: T.Buffer[(1,), "int32"]):
    for i in range(16):
        if A[i] < T.float32(0):
            A[i] = T.float32(0)
    B[0] = B[0] + 1


def kinds(node: Any) -> list[str]:
    return [type(each).__name__ for each in stmt_functor.walk(node)]


def test_the_tree_of_a_function_has_the_nodes_that_tvm_has() -> None:
    root = product.body
    assert root.block.match_buffers == ()
    assert isinstance(root, tir.BlockRealize) and root.block.name_hint == "root"
    (d,) = root.block.alloc_buffers
    assert d.name == "D" and d.shape == (8, 4)
    first, second = root.block.body
    assert isinstance(first, tir.For) and isinstance(first.body, tir.For) and first.extent.value == 8
    realize = first.body.body.body
    assert isinstance(realize, tir.BlockRealize) and realize.block.name_hint == "product"
    assert realize.iter_values[0] is first.loop_var
    block = realize.block
    assert [each.iter_type for each in block.iter_vars] == [te.IterVar.DataPar] * 2 + [te.IterVar.CommReduce]
    assert [each.buffer.name for each in block.reads] == ["A", "B"] and block.writes[0].buffer is d
    assert isinstance(block.init, tir.BufferStore) and isinstance(block.body, tir.BufferStore)
    value = block.body.value
    assert isinstance(value, tir.Add) and isinstance(value.b, tir.Mul) and isinstance(value.b.a, tir.BufferLoad)
    assert value.b.a.buffer is product.buffer_map[product.params[0]]
    assert value.b.a.indices[1] is block.iter_vars[2].var
    assert isinstance(second.body.body.block.body.value, tir.Max)


def test_statements_among_loops_stand_in_the_tree_without_a_block() -> None:
    loop, store = alone.body
    assert isinstance(loop, tir.For) and isinstance(loop.body, tir.IfThenElse) and loop.body.else_case is None
    assert isinstance(store, tir.BufferStore) and "Block" not in kinds(alone.body)
    assert loop.body.then_case.indices[0] is loop.loop_var


def test_a_schedule_of_te_becomes_statements_that_do_the_same() -> None:
    A = te.placeholder((6, 4), name="A")
    stages = [A]
    for number in range(3):
        last = stages[-1]
        stages.append(te.compute((6, 4), lambda i, j: last[i, j] + (number + 1), name=f"S{number}"))  # noqa: B023
    k = te.reduce_axis((0, 4), name="k")
    C = te.compute((6,), lambda i: te.sum(stages[-1][i, k], axis=k), name="C")
    schedule = te.create_schedule(C.op)
    schedule[C].split(C.op.axis[0], factor=4)
    func = tir.transform.StorageFlatten(64)(weft.lower(schedule, [A, C], simple_mode=True))
    func = tir.transform.StorageRewrite()(tir.transform.Simplify()(func))["main"]
    assert isinstance(func.body, tir.Allocate) and kinds(func.body).count("Allocate") == 1
    assert "Block" not in kinds(func.body) and "IfThenElse" in kinds(func.body)
    memory = func.body.buffer_var.type_annotation
    assert (memory.element_type.dtype, memory.storage_scope) == ("float32", "global")
    assert_structural_equal(func.with_body(func.body), func)
    a, c = np.arange(24, dtype=np.float32).reshape(6, 4), np.zeros(6, np.float32)
    weft.build(func, target="llvm -opt-level=1")(a, c)
    np.testing.assert_array_equal(c, (a + 6).sum(axis=1))


def test_what_the_iterations_of_a_parallel_loop_allocate_stays_in_it() -> None:
    builder = tir.ir_builder.create()
    A = builder.buffer_ptr(tir.decl_buffer((4, 8), "float32", name="A"))
    with builder.for_range(0, 4, name="i", kind="parallel") as i:
        with builder.for_range(0, 8, name="j") as j:
            own = builder.allocate("float32", (1,), name="own", scope="global")
            own[0] = A[i, j]
            A[i, j] = own[0] + own[0]
    module = tir.IRModule({"main": tir.PrimFunc([], builder.get())})
    loop = tir.transform.StorageRewrite()(module)["main"].body
    assert isinstance(loop, tir.For) and isinstance(loop.body, tir.Allocate) and isinstance(loop.body.body, tir.For)


@pytest.mark.parametrize("function", [product, everything, alone], ids=lambda function: function.sym_name.data)
def test_a_function_is_made_of_its_tree_again(function: Any) -> None:
    assert_structural_equal(function.with_body(function.body), function)
    assert tir.structural_equal(function.body, function.body)
    assert tir.structural_hash(function.body) == tir.structural_hash(function.body)


def test_trees_of_different_functions_differ() -> None:
    other = stmt_functor.ir_transform(product.body, None, lambda add: add.a - add.b, ["tir.Add"])
    assert not tir.structural_equal(product.body, other)


def test_scheduled_functions_and_those_of_formulas_are_made_of_their_trees_again() -> None:
    schedule = tir.Schedule(product)
    i, _j, k = schedule.get_loops("product")
    outer, inner = schedule.split(i, [3, None])
    schedule.unroll(inner)
    schedule.parallel(outer)
    schedule.decompose_reduction("product", k)
    schedule.vectorize(schedule.get_loops("relu")[1])
    function = schedule.mod["main"]
    assert_structural_equal(function.with_body(function.body), function)
    n = te.var("n")
    x = te.placeholder((n, 4), name="x")
    formula = te.create_prim_func([x, te.compute((4, n), lambda i, j: te.sigmoid(x[j, i]) ** 2.0, name="y")])
    assert_structural_equal(formula.with_body(formula.body), formula)


def test_the_body_of_a_function_is_its_statements_and_its_region_the_operations() -> None:
    loop, store = alone.body
    assert isinstance(loop, tir.For) and isinstance(store, tir.BufferStore)
    assert [op.name for op in alone.region.block.ops] == ["tir.for", "tir.block"]


def test_a_function_stands_for_its_statements_where_nodes_are_visited() -> None:
    for given in (alone, alone.body):
        seen: list[Any] = []
        stmt_functor.post_order_visit(given, seen.append)
        assert list(map(kinds, seen)) == list(map(kinds, _visited(alone.body)))
        fewer = stmt_functor.ir_transform(given, None, lambda loop: loop.body, ["tir.For"])
        assert "For" not in kinds(fewer) and "IfThenElse" in kinds(fewer)
    assert tir.structural_equal(alone.body, alone.body) and not tir.structural_equal(alone.body, product.body)
    assert tir.structural_hash(alone.body) == tir.structural_hash(alone.body)
    assert tir.get_first_structural_mismatch(alone.body, product.body) is not None
    assert_structural_equal(product.body, product.clone().body, map_free_vars=True)


def _visited(tree: Any) -> list[Any]:
    seen: list[Any] = []
    stmt_functor.post_order_visit(tree, seen.append)
    return seen


def test_nodes_know_the_operations_that_they_were_read_from() -> None:
    schedule = tir.Schedule(product)
    blocks = [each for each in _visited(schedule.mod["main"].body) if isinstance(each, tir.Block)]
    assert [each.name_hint for each in blocks] == ["product", "relu", "root"]
    assert schedule.get_sref(blocks[0]) == schedule.get_sref(schedule.get_block("product"))
    assert schedule.get_sref(blocks[2]).op is schedule.mod["main"]
    loops = [each for each in _visited(schedule.mod["main"].body) if isinstance(each, tir.For)]
    inner = schedule.get_loops("product")[2]
    assert schedule.get_sref(loops[0]) == schedule.get_sref(inner)
    store = blocks[1].body
    with pytest.raises(tir.ScheduleError, match="read from no block or loop"):
        schedule.get_sref(store)
    other = tir.Schedule(product)
    with pytest.raises(tir.ScheduleError, match="no block or loop of what is scheduled"):
        other.get_sref(blocks[0])


def test_nodes_are_visited_with_their_parts_before_or_after_them() -> None:
    after: list[Any] = []
    stmt_functor.post_order_visit(alone.body, after.append)
    assert isinstance(after[-1], tir.SeqStmt)
    names = [type(each).__name__ for each in after]
    assert names.index("BufferStore") < names.index("IfThenElse") < names.index("For")
    before: list[str] = []

    def look(node: Any) -> bool:
        before.append(type(node).__name__)
        return not isinstance(node, tir.For)

    stmt_functor.pre_order_visit(alone.body, look)
    assert before[:2] == ["SeqStmt", "For"] and "IfThenElse" not in before
    blocks: list[str] = []
    stmt_functor.post_order_visit(
        product.body, lambda node: blocks.append(node.name_hint) if isinstance(node, tir.Block) else None
    )
    assert blocks == ["product", "relu", "root"]


def test_a_pass_of_ones_own_changes_functions_by_their_trees() -> None:
    """Each maximum becomes a minimum, and loops of four are unrolled."""

    def change(node: Any) -> Any:
        if isinstance(node, tir.Max):
            return tir.Min(node.a, node.b)
        if isinstance(node, tir.For) and node.extent.value == 4:
            return tir.For(node.loop_var, node.min, node.extent, "unroll", node.body)
        return None

    @weft.transform.prim_func_pass(opt_level=0, name="change")
    def apply(func: Any, module: Any, context: Any) -> Any:
        return func.with_body(stmt_functor.ir_transform(func.body, None, change))

    changed = apply(tir.IRModule({"product": product}))["product"]
    assert "T.unroll(4)" in changed.script() and "T.min(" in changed.script() and "T.max(" not in changed.script()
    a, b = (np.random.default_rng(n).standard_normal(shape, np.float32) for n, shape in enumerate([(8, 16), (16, 4)]))
    c = np.empty((8, 4), np.float32)
    weft.build(changed)(a, b, c)
    np.testing.assert_allclose(c, np.minimum(a @ b, 0), rtol=1e-4, atol=1e-5)


def test_what_is_replaced_before_is_not_transformed_inside() -> None:
    seen: list[str] = []

    def before(node: Any) -> Any:
        seen.append(type(node).__name__)
        return tir.SeqStmt(()) if isinstance(node, tir.For) else None

    left = stmt_functor.ir_transform(alone.body, before, None, ["tir.For", "tir.IfThenElse"])
    assert seen == ["For"] and kinds(left)[:2] == ["SeqStmt", "BufferStore"]


def test_a_statement_is_not_replaced_by_an_expression() -> None:
    with pytest.raises(UsageError, match=r"a For cannot be replaced by a Const"):
        stmt_functor.ir_transform(alone.body, None, lambda loop: loop.extent, ["tir.For"])


def test_variables_are_substituted_in_statements_and_expressions() -> None:
    x, y = tir.Var("x", "int32"), tir.Var("y", "int32")
    assert tir.structural_equal(stmt_functor.substitute(x * 2 + y, {x: y, y: 3}), y * 2 + 3)
    loop = alone.body[0]
    inner = stmt_functor.substitute(loop.body, {loop.loop_var: 5})
    assert isinstance(inner, tir.IfThenElse) and inner.then_case.indices[0].value == 5


@T.prim_func
def rows(a: T.handle, b: T.handle, n: T.int32, m: T.int32):
    A = T.match_buffer(a, (n, m), "float32")
    B = T.match_buffer(b, (n, m + 1), "float32")
    for i, j in T.grid(n, m):
        with T.block("rows"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + T.cast(m, "float32")


def test_a_function_is_specialized_to_some_of_its_sizes() -> None:
    a, _b, n, m = rows.params
    half = rows.specialize({m: 16})
    assert [each.name for each in half.params] == ["A", "B", "n"]
    assert half.buffer_map[half.params[0]].shape == (half.params[2], 16)
    assert half.buffer_map[half.params[1]].shape[1] == 17
    whole = rows.specialize({a: tir.decl_buffer((4, 8))})
    assert len(whole.params) == 2 and whole.buffer_map[whole.params[1]].shape == (4, 9)
    assert_structural_equal(whole, rows.specialize({n: 4, m: 8}))
    x, y = np.ones((4, 8), np.float32), np.zeros((4, 9), np.float32)
    weft.build(whole)(x, y)
    assert (y[:, :8] == 9).all() and (y[:, 8] == 0).all()
    square = rows.specialize({m: n})
    assert len(square.params) == 3
    ax, bx = np.ones((3, 3), np.float32), np.zeros((3, 4), np.float32)
    weft.build(square)(ax, bx, 3)
    assert (bx[:, :3] == 4).all()


def test_the_order_in_which_callers_give_arguments_stays_when_a_size_is_known() -> None:
    n, m = te.var("n"), te.var("m")
    x = te.placeholder((n, m), name="x")
    y = te.compute((n, m), lambda i, j: x[i, j] * 2.0, name="y")
    function = te.create_prim_func([m, y, n, x])
    sizes = {each.name: each for each in function.params}
    known = function.specialize({sizes["m"]: 3})
    a, b = np.ones((5, 3), np.float32), np.zeros((5, 3), np.float32)
    weft.build(known)(b, 5, a)
    assert (b == 2).all()


def test_what_no_size_can_be_is_refused() -> None:
    a, _, n, m = rows.params
    with pytest.raises(UsageError, match="no parameter"):
        rows.specialize({te.var("k"): 3})
    with pytest.raises(UsageError, match="is a buffer, and cannot be 3"):
        rows.specialize({a: 3})
    with pytest.raises(UsageError, match="cannot be -1"):
        rows.specialize({n: -1})
    with pytest.raises(UsageError, match=r"float32 of 2 dimensions, and cannot be float32 of 1"):
        rows.specialize({a: tir.decl_buffer((4,))})
    with pytest.raises(UsageError, match="cannot be both"):
        rows.specialize({a: tir.decl_buffer((4, 8)), m: 9})


def test_blocks_can_be_put_together_by_hand() -> None:
    a, b = tir.decl_buffer((16,), "float32", name="A"), tir.decl_buffer((1,), "float32", name="B")
    vk = tir.IterVar((0, 16), "vk", te.IterVar.CommReduce)
    k = tir.Var("k", "int32")
    block = tir.Block([vk], [], [], "sum", b.vstore([0], b[0] + a[vk.var]), b.vstore([0], 0.0), None, None, {})
    function = tir.PrimFunc([a, b], tir.For(k, 0, 16, "serial", tir.BlockRealize([k], True, block)))
    x, y = np.arange(16, dtype=np.float32), np.zeros(1, np.float32)
    weft.build(function)(x, y)
    assert y[0] == 120
    with pytest.raises(UsageError, match="has 1 iterators, and is given 2"):
        tir.BlockRealize([k, k], True, block)
    with pytest.raises(UsageError, match="begins at 0"):
        tir.IterVar((1, 5), "v")
    with pytest.raises(UsageError, match="sequence of MatchBufferRegion"):
        tir.Block([], [], [], "part", block.body, match_buffers=[a[0:4]])


def test_the_text_of_a_statement_is_its_tvmscript() -> None:
    loop = alone.body[0]
    text = "for i in range(16):\n    if A[i] < T.float32(0):\n        A[i] = T.float32(0)"
    assert str(loop) == loop.script() == text
    inside = str(product.body.block.body[0].body.body)
    assert "vi = T.axis.spatial(8, i)" in inside and "with T.init():\n            D[vi, vj] = T.float32(0)" in inside
    x = te.placeholder((4,), name="x")
    stored = tir.decl_buffer((4,), name="y").vstore([0], x[0] + x[1])
    assert str(stored) == "y[0] = x[0] + x[1]"


def test_a_sequence_that_is_a_list_is_changed_like_any() -> None:
    """What was substituted stayed, and numbers that Python gave were none of any type."""
    x, y = tir.Var("x", "int32"), tir.Var("y", "int32")
    A = tir.decl_buffer((4,), "int32", name="A")
    both = tir.SeqStmt([tir.BufferStore(A, x, [0]), tir.Evaluate(x)])
    changed = stmt_functor.substitute(both, {x: y})
    assert_structural_equal(changed, tir.SeqStmt((tir.BufferStore(A, y, [0]), tir.Evaluate(y))))
    assert isinstance(changed, tir.SeqStmt) and isinstance(changed.seq, tuple)
    assert tir.Evaluate(0).value.dtype == "int32"
    named = tir.LetStmt(x, 1, tir.Evaluate(x))
    assert named.value.dtype == "int32" and not tir.structural_equal(named, tir.LetStmt(x, 2, tir.Evaluate(x)))
    with pytest.raises(UsageError, match=r"'seq' of SeqStmt.* is a sequence of Stmt"):
        tir.SeqStmt([1])


def test_the_branch_of_a_predicate_stands_around_all_that_it_is_of() -> None:
    @T.prim_func
    def guarded(A: T.Buffer[(8, 4), "int32"], B: T.Buffer[(8, 4), "int32"], n: T.int32):
        for i in range(8):
            if i < n:
                for j in range(4):
                    A[i, j] = 0
                    if j < n and j < i:
                        B[i, j] = 1

    loop = guarded.body
    assert isinstance(loop, tir.For) and isinstance(loop.body, tir.IfThenElse)
    branch = loop.body
    assert str(branch.condition) == "i < n" and isinstance(branch.then_case, tir.For)
    zero, one = branch.then_case.body
    assert isinstance(zero, tir.BufferStore) and isinstance(one, tir.IfThenElse)
    assert_structural_equal(guarded.with_body(guarded.body), guarded)


def test_branches_leave_the_loops_that_they_do_not_speak_of() -> None:
    n = te.var("n")

    def made(kind: str = "serial") -> Any:
        builder = tir.ir_builder.create()
        A = builder.buffer_ptr(tir.decl_buffer((8, 8, 8), "int32", name="A"))
        with builder.for_range(0, 8, name="i", kind=kind) as i:
            with builder.for_range(0, 8, name="j") as j:
                with builder.for_range(0, 8, name="k") as k:
                    with builder.if_scope(k < j):
                        with builder.if_scope(i < n):
                            A[i, j, k] = 1
        return tir.PrimFunc([], builder.get())

    def nested(node: Any) -> list[str]:
        found: list[str] = []
        while isinstance(node, tir.For | tir.IfThenElse):
            found.append(node.loop_var.name if isinstance(node, tir.For) else str(node.condition))
            node = node.body if isinstance(node, tir.For) else node.then_case
        return found

    hoisted = tir.transform.HoistIfThenElse()(tir.IRModule.of(made()))["main"]
    assert nested(hoisted.body) == ["i", "i < n", "j", "k", "k < j"]
    given = made()
    for func in (given, hoisted):
        run = weft.build(func)
        run(a := np.zeros((8, 8, 8), np.int32), 3)
        expected = (np.arange(8)[:, None, None] < 3) & (np.arange(8)[None, None] < np.arange(8)[:, None])
        assert (a == expected).all()


def test_conditions_of_threads_leave_loops_on_request() -> None:
    n = te.var("n")
    builder = tir.ir_builder.create()
    A = builder.buffer_ptr(tir.decl_buffer((4, 8), "int32", name="A"))
    thread = te.thread_axis("threadIdx.x")
    builder.scope_attr(thread, "thread_extent", 4)
    with builder.for_range(0, n, name="i"):
        with builder.for_range(0, 8, name="j") as j:
            with builder.if_scope(thread < 3):
                A[thread, j] = A[thread, j] + 1
            with builder.else_scope():
                A[thread, j] = A[thread, j] + 2
    func = tir.PrimFunc([], builder.get())

    def hoisted(**options: bool) -> Any:
        return tir.transform.HoistIfThenElse(**options)(tir.IRModule.of(func))["main"]

    assert_structural_equal(hoisted(), func)
    outside = hoisted(support_block_scope_hoisting=True).body.body
    assert isinstance(outside, tir.IfThenElse) and isinstance(outside.else_case, tir.For)


def test_copies_of_a_function_and_what_passes_make_of_it_have_the_parameters_that_it_was_made_of() -> None:
    n = te.var("n")
    A = tir.decl_buffer((n, 4), "float32", name="A")
    builder = tir.ir_builder.create()
    pointer = builder.pointer("float32", name="P")
    with builder.for_range(0, n, name="i") as i:
        with builder.for_range(0, 4, name="j") as j:
            with builder.if_scope(i < 2):
                builder.emit(tir.BufferStore(A, pointer[i * 4 + j] + 1.0, [i, j]))
    statement = builder.get()
    func = tir.PrimFunc([A], statement)
    changed = tir.transform.HoistIfThenElse()(tir.IRModule.of(func))["main"]
    for each in (func, func.clone(), changed):
        assert each.buffer_map[each.params[0]] is A and n in each.params
    assert_structural_equal(func.clone().body, statement)
    assert not tir.structural_equal(changed.body, statement)


def test_memory_that_is_laid_out_in_its_own_way_is_another_node_in_a_function() -> None:
    A = tir.decl_buffer((4, 4), "float32", name="A", strides=[4, 1])
    func = tir.PrimFunc([A], tir.BufferStore(A, 1.0, [0, 0]))
    assert func.buffer_map[func.params[0]] is not A
    renamed = func.clone()
    before = renamed.params
    renamed.region.block.args[0].name_hint = "other"
    assert renamed.params[0] is not before[0] and func.params[0] is before[0]


def test_a_launch_is_the_loop_over_its_threads_and_its_statements_stand_in_no_block() -> None:
    m = te.var("m")
    builder = tir.ir_builder.create()
    pointer = builder.pointer("float32", name="P")
    thread = te.thread_axis("threadIdx.x")
    builder.scope_attr(thread, "thread_extent", 32)
    with builder.for_range(0, m, name="i") as i:
        pointer[thread * i] = pointer[thread * i] + 1.0
    statement = builder.get()
    body = tir.PrimFunc([], statement).body
    assert isinstance(body, tir.For) and isinstance(body.body.body, tir.BufferStore)
    assert_structural_equal(body, statement)
    wider = tir.AttrStmt(statement.node, "thread_extent", 64, statement.body)
    assert not tir.structural_equal(body, wider)


def test_what_is_said_around_a_loop_of_no_variable_is_an_annotation_of_it() -> None:
    i = tir.Var("i", "int32")
    A = tir.decl_buffer((4,), "float32", name="A")
    loop = tir.For(i, 0, 4, "serial", tir.BufferStore(A, 1.0, [i]), annotations={"own": 1})
    said = tir.AttrStmt(tir.const(0, "int32"), "pragma_auto_unroll_max_step", tir.const(4, "int32"), loop)
    said = tir.AttrStmt(tir.const(0, "int32"), "pragma_note", "text", said)
    func = tir.PrimFunc([], said)
    assert func.body.annotations == {"pragma_note": "text", "pragma_auto_unroll_max_step": 4, "own": 1}
    unrolled = tir.transform.UnrollLoop()(tir.IRModule({"main": func}))["main"].body
    assert isinstance(unrolled, tir.SeqStmt) and kinds(unrolled).count("BufferStore") == 4
    with pytest.raises(UsageError, match="is of no loop around"):
        tir.PrimFunc([], tir.AttrStmt(tir.const(0, "int32"), "pragma_note", 1, loop.body))


def test_the_nodes_of_a_function_stay_the_same_as_long_as_it_does() -> None:
    func = product.clone()
    before = func.body
    assert func.body is before
    next(op for op in func.walk() if op.name == "tir.for").body.block.args[0].name_hint = "renamed"
    assert func.body is not before and func.body is func.body


def test_the_loop_of_a_handle_has_its_variable_as_a_node() -> None:
    schedule = tir.Schedule(product)
    loops = schedule.get_loops(schedule.get_block("product"))
    assert [schedule.get(loop).loop_var.name for loop in loops] == ["i", "j", "k"]
    outer, inner = schedule.split(loops[0], factors=[None, 4])
    assert schedule.get(outer).loop_var is not schedule.get(inner).loop_var
    assert schedule.get(outer).loop_var is schedule.get(outer).loop_var
    assert schedule.get(outer).loop_var is schedule.mod["main"].body.block.body[0].loop_var
    alone = schedule.operation(outer)
    assert schedule.get(outer).operation is alone
    alone.detach()
    with pytest.raises(weft.Diagnostic, match="is in no function"):
        assert alone.loop_var


def test_an_iterator_with_a_threads_tag_is_the_thread() -> None:
    A, i = tir.decl_buffer((8,), "float32", name="A"), tir.Var("i", "int32")
    thread = tir.IterVar(None, tir.Var("", "int32"), tir.IterVar.ThreadIndex, "threadIdx.x")
    loop = tir.For(i, 0, 8, tir.ForKind.THREAD_BINDING, A.vstore([i], 1.0), thread_binding=thread)

    @T.prim_func
    def bound(A: T.Buffer[(8,), "float32"]):
        for i in T.thread_binding(8, thread="threadIdx.x"):
            A[i] = T.float32(1)

    assert loop.thread_binding == "threadIdx.x"
    assert_structural_equal(tir.PrimFunc([A], loop), bound)
    with pytest.raises(UsageError, match=r"te\.thread_axis takes the thread's name"):
        tir.IterVar((0, 8), "v", tir.IterVar.ThreadIndex)
    with pytest.raises(UsageError, match=r"an iterator of a block is no thread, as 'threadIdx\.x'"):
        tir.IterVar((0, 8), "v", tir.IterVar.DataPar, "threadIdx.x")
