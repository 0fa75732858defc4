"""`te.scan`: what is computed in each step, and the schedules of that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pytest

import weft
from weft import te
from weft.dialects.te.evaluate import evaluate
from weft.dialects.tir.core import ForKind, ForOp, PrimFuncOp, blocks_under
from weft.dialects.tir.interpreter import Interpreter
from weft.lowering.te_schedule.infer_bound import InferBound
from weft.tir import ScheduleError

pytestmark = pytest.mark.sampled(3)

NDArray: TypeAlias = npt.NDArray[np.float32]
STEPS, WIDTH = 5, 8


@dataclass
class Network:
    """Each step a product of the step before, halved, added to itself turned around, and an input."""

    x: te.Tensor
    w: te.Tensor
    first: te.Tensor
    product: te.Tensor
    half: te.Tensor
    turned: te.Tensor
    update: te.Tensor
    result: te.Tensor

    @property
    def depth(self) -> te.IterVar:
        return self.product.op.reduce_axis[0]


def network() -> Network:
    x, s = (te.placeholder((STEPS, WIDTH), name=name) for name in "xs")
    w, k = te.placeholder((WIDTH, WIDTH), name="w"), te.reduce_axis((0, WIDTH), "k")
    first = te.compute((1, WIDTH), lambda _, i: x[0, i], name="first")
    product = te.compute((STEPS, WIDTH), lambda t, i: te.sum(s[t - 1, k] * w[k, i], axis=k, init=1.0), name="product")
    half = te.compute((STEPS, WIDTH), lambda t, i: product[t, i] * 0.5, name="half")
    turned = te.compute((STEPS, WIDTH), lambda t, i: half[t, i] + half[t, WIDTH - 1 - i], name="turned")
    update = te.compute((STEPS, WIDTH), lambda t, i: turned[t, i] + x[t, i], name="update")
    return Network(x, w, first, product, half, turned, update, te.scan(first, update, s, name="all"))


def expected(x: NDArray, w: NDArray) -> NDArray:
    found = x.copy()
    for t in range(1, len(x)):
        half = (1 + found[t - 1] @ w) * 0.5
        found[t] = half + half[::-1] + x[t]
    return found


def blocks(schedule: te.Schedule, net: Network) -> dict[str, list[ForOp]]:
    """The blocks by name, with the loops around; the schedule computes what it is to."""
    x = np.linspace(0, 1, STEPS * WIDTH, dtype=np.float32).reshape(STEPS, WIDTH)
    w = np.linspace(-0.2, 0.3, WIDTH * WIDTH, dtype=np.float32).reshape(WIDTH, WIDTH)
    result = np.zeros_like(x)
    arguments = [net.x, net.w, net.result]
    weft.build(schedule, arguments, threads=1)(x, w, result)
    np.testing.assert_allclose(result, expected(x, w), rtol=1e-5)
    found: dict[str, list[ForOp]] = {}
    for block in blocks_under(weft.lower(schedule, arguments)):
        around = block.parent_op()
        loops: list[ForOp] = []
        while isinstance(around, ForOp):
            loops.insert(0, around)
            around = around.parent_op()
        found.setdefault(block.block_name, loops)  # a rest has a block of its own
    return found


def test_each_formula_is_a_block_in_the_loop_over_steps_and_begins_as_it_says() -> None:
    net = network()
    found = blocks(te.create_schedule(net.result.op), net)
    assert [*found] == ["first", "all", "product_init", "product", "half", "turned", "update"]
    assert len({found[name][0] for name in ("product_init", "product", "half", "turned", "update")}) == 1


def test_loops_of_a_step_are_scheduled() -> None:
    net = network()
    schedule = te.create_schedule(net.result.op)
    stage = schedule[net.product]
    assert stage.leaf_iter_vars == [net.product.op.axis[1], net.depth]
    outer, inner = stage.split(net.product.op.axis[1], factor=4)
    stage.reorder(outer, net.depth, inner)
    stage.vectorize(inner)
    schedule[net.half].split(net.half.op.axis[1], nparts=3)  # leaves a rest
    schedule[net.update].parallel(net.update.op.axis[1])
    found = blocks(schedule, net)
    assert [loop.size for loop in found["product"]] == [STEPS - 1, 2, 8, 4]
    assert found["product"][-1].for_kind == ForKind.VECTORIZED
    assert [loop.size for loop in found["half"]] == [STEPS - 1, 2, 3]
    assert found["update"][-1].for_kind == ForKind.PARALLEL


def test_steps_are_computed_inline_and_in_one_another() -> None:
    net = network()
    schedule = te.create_schedule(net.result.op)
    schedule[net.half].compute_inline()
    schedule[net.turned].compute_inline()
    assert [*blocks(schedule, net)] == ["first", "all", "product_init", "product", "update"]
    net = network()
    schedule = te.create_schedule(net.result.op)
    copy = schedule.cache_read(net.w, "global", [net.result])
    assert copy.name == "w.global"
    schedule[net.half].compute_inline()
    schedule[net.turned].compute_at(schedule[net.update], net.update.op.axis[1])
    found = blocks(schedule, net)
    assert [*found] == ["first", "w.global", "all", "product_init", "product", "turned", "update"]
    assert found["turned"][: len(found["update"])] == found["update"]


def test_what_a_step_reads_is_copied_in_it() -> None:
    net = network()
    schedule = te.create_schedule(net.result.op)
    before = schedule.cache_read(net.x, "global", [net.result])
    with pytest.raises(ScheduleError, match="'update' does not read 'x'"):
        schedule.cache_read(net.x, "local", [net.update])
    copy = schedule.cache_read(before, "local", [net.update])
    assert (before.name, copy.name) == ("x.global", "x.global.local")
    schedule[net.half].compute_inline()
    outer, _ = schedule[net.update].split(net.update.op.axis[1], factor=4)
    schedule[copy].compute_at(schedule[net.update], outer)
    bounds = InferBound(schedule)
    assert [str(bounds[axis].extent) for axis in schedule[copy].op.axis] == ["T.index(1)", "T.index(4)"]
    assert [str(bounds[axis].extent) for axis in net.turned.op.axis] == [f"T.index({STEPS})", f"T.index({WIDTH})"]
    found = blocks(schedule, net)
    names = ["first", "x.global", "all", "product_init", "product", "turned", "x.global.local", "update"]
    assert [*found] == names
    assert [loop.size for loop in found["x.global.local"]] == [STEPS - 1, 2, 1, 4]
    assert found["x.global.local"][1] is found["update"][1]
    net = network()
    schedule = te.create_schedule(net.result.op)
    schedule[schedule.cache_read(net.x, "global", [net.update])].compute_inline()
    assert [*blocks(schedule, net)] == ["first", "all", "product_init", "product", "half", "turned", "update"]


REFUSED: list[tuple[Callable[[te.Schedule, Network], object], str]] = [
    (lambda s, net: s[net.product].compute_inline(), "'product' reduces, and cannot be computed inline"),
    (lambda s, net: s[net.update].compute_inline(), "'update' is what 'all' gives, and stays"),
    (lambda s, net: s[net.update].split(net.update.op.axis[0], factor=2), "t is no loop of 'update'"),
    (lambda s, net: s[net.product].parallel(net.depth), "the loop k reduces"),
    (lambda s, net: s.cache_read(net.x, "local", [net.half]), "'half' does not read 'x'"),
    (lambda s, net: s.cache_read(net.w, "local", [net.product]), "'product' reads 'w' at another time than its own"),
    (lambda s, net: s.cache_read(net.half, "local", [net.turned]), "there is no cache_read of it"),
    (lambda s, net: s.cache_read(net.x, "local", [net.update, net.first]), "there is no cache_read of it"),
    (lambda s, net: s.cache_read(net.half, "local", [net.result]), "there is no cache_read of it"),
    (lambda s, net: s.cache_write(net.update, "local"), "there is no cache_write of it"),
    (lambda s, net: s.rfactor(net.product, net.depth), "there is no rfactor of it"),
    (lambda s, net: s.create_group(outputs=net.turned, inputs=net.half), "there is no create_group of it"),
    (lambda s, net: s[net.half].set_scope("local"), "there is no set_scope of it"),
    (lambda s, net: s[net.half].transform_layout(lambda t, i: [i, t]), "there is no transform_layout of it"),
    (lambda s, net: s[net.half].rolling_buffer(), "there is no rolling_buffer of it"),
    (lambda s, net: s[net.half].storage_align(net.half.op.axis[1], 8, 0), "there is no storage_align of it"),
    (
        lambda s, net: s[net.half].compute_at(s[net.first], net.first.op.axis[1]),
        "is computed in each step of 'all', and not in a loop of 'first'",
    ),
]


@pytest.mark.parametrize(("ask", "message"), REFUSED)
def test_what_is_no_schedule_of_a_step_is_refused(ask: Callable[[te.Schedule, Network], object], message: str) -> None:
    net = network()
    schedule = te.create_schedule(net.result.op)
    with pytest.raises(ScheduleError, match=message):
        ask(schedule, net)
    assert [*blocks(schedule, net)] == ["first", "all", "product_init", "product", "half", "turned", "update"]


def test_what_reads_before_the_first_step_is_computed_in_steps() -> None:
    x, s = te.placeholder((3, 4), name="x"), te.placeholder((4, 4), name="s")
    before = te.compute((4, 4), lambda t, i: x[t - 1, i] * 2.0, name="before")
    more = te.compute((4, 4), lambda t, i: before[t, i] + 1.0, name="more")
    update = te.compute((4, 4), lambda t, i: s[t - 1, i] + more[t, i], name="update")
    result = te.scan(te.compute((1, 4), lambda *_: 0.0, name="first"), update, s)
    schedule = te.create_schedule(result.op)
    schedule[before].compute_inline()
    a, found = np.arange(12, dtype=np.float32).reshape(3, 4), np.zeros((4, 4), np.float32)
    weft.build(schedule, [x, result], threads=1)(a, found)
    wanted = np.concatenate([np.zeros((1, 4), np.float32), np.cumsum(a * 2 + 1, axis=0)])
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(evaluate([result], {x: a})[0], wanted)


def test_steps_of_open_sizes_and_of_one_name_are_scheduled() -> None:
    m, n = te.size_var("m"), te.size_var("n")
    x, s, r = te.placeholder((m, n), name="x"), te.placeholder((m, n)), te.placeholder((m, n))
    firsts = [te.compute((1, n), lambda _, i: x[0, i]) for _ in range(2)]
    mixed = te.compute((m, n), lambda t, i: s[t - 1, i] + r[t - 1, n - 1 - i])
    one = te.compute((m, n), lambda t, i: mixed[t, i] + x[t, i])
    other = te.compute((m, n), lambda t, i: mixed[t, i] * 0.5)
    results = te.scan(firsts, [one, other], [s, r])
    schedule = te.create_schedule([each.op for each in results])
    schedule[one].vectorize(schedule[one].split(one.op.axis[1], factor=4)[1])
    schedule[other].unroll(schedule[other].split(other.op.axis[1], factor=2)[1])
    kernel = weft.build(schedule, [x, *results], threads=1)
    for steps, width in ((4, 6), (1, 3), (3, 1)):
        a = np.linspace(0, 2, steps * width, dtype=np.float32).reshape(steps, width)
        found = [np.zeros_like(a), np.zeros_like(a)]
        kernel(a, *found)
        wanted = [a.copy(), a.copy()]
        for t in range(1, steps):
            both = wanted[0][t - 1] + wanted[1][t - 1][::-1]
            wanted[0][t], wanted[1][t] = both + a[t], both * 0.5
        np.testing.assert_allclose(found[0], wanted[0], rtol=1e-6)
        np.testing.assert_allclose(found[1][1:], wanted[1][1:], rtol=1e-6)


MOVES: list[Callable[[te.Schedule, te.Tensor, te.Tensor], object]] = [
    lambda s, steps, reader: s[steps].compute_at(s[reader], reader.op.axis[0]),
    lambda s, steps, reader: s[steps].compute_inline(),
    lambda s, steps, reader: s[steps].set_scope("local"),
    lambda s, steps, reader: s[steps].rolling_buffer(),
    lambda s, steps, reader: s[steps].fuse(),
    lambda s, steps, reader: s.cache_write(steps, "local"),
    lambda s, steps, reader: s.create_group(steps, s.stages[0].tensor),
]


@pytest.mark.parametrize("move", MOVES)
def test_what_statements_fill_is_filled_where_it_stands(
    move: Callable[[te.Schedule, te.Tensor, te.Tensor], object],
) -> None:
    """What is asked of it in vain is refused."""
    x = te.placeholder((STEPS, WIDTH), name="x")
    state = te.placeholder((STEPS, WIDTH), name="state")
    first = te.compute((1, WIDTH), lambda t, i: x[0, i], name="first")
    update = te.compute((STEPS, WIDTH), lambda t, i: state[t - 1, i] + x[t, i], name="update")
    steps = te.scan(first, update, state, name="steps")
    reader = te.compute((STEPS, WIDTH), lambda t, i: steps[t, i] * 2.0, name="reader")
    with pytest.raises(ScheduleError, match="'steps' is filled by statements: there is no "):
        move(te.create_schedule(reader.op), steps, reader)


@pytest.mark.parametrize("columns", [0, 2])
def test_rows_of_a_scan_may_be_without_elements(columns: int) -> None:
    x, state = te.placeholder((3, columns), "int32", "x"), te.placeholder((3, columns), "int32", "state")
    first = te.compute((1, columns), lambda t, i: x[0, i], name="first")
    step = te.compute((3, columns), lambda t, i: state[t - 1, i] + x[t, i], name="step")
    sums = te.scan(first, step, state, name="sums")
    given = np.arange(3 * columns, dtype=np.int32).reshape(3, columns)
    (func,) = weft.lower(te.create_schedule(sums.op), [x, sums]).ops
    assert isinstance(func, PrimFuncOp)
    (found,) = Interpreter(func)([given])
    np.testing.assert_array_equal(found, np.cumsum(given, axis=0))
