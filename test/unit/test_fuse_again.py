"""`fuse-ops{strategy=weft}`: what kernels compute again instead of reading it, and why they read the rest."""

from __future__ import annotations

import numpy as np
import pytest
from evaluate import NDArray, functions
from fused import arrays, assert_close, kernels, module_of

import weft
from weft.dialects import te
from weft.dialects.relay import Relay
from weft.dialects.relay.base import Pointwise, RelayOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.testing import examples_of
from weft.testing.examples import example_text, parse_example
from weft.transforms.infra import remarks
from weft.transforms.relay.fuse_ops import FuseOpsPass
from weft.transforms.relay.fusion.again import formulas

pytestmark = pytest.mark.sampled(3)

SLOW = "l2-rate=2,l3-rate=2,memory-rate=2"
"""A machine whose memory is slow: it does much rather than read a tensor."""

T, H, R, C = "tensor<32x48xf32>", "tensor<32x48xf16>", "tensor<32xf32>", "tensor<48xf32>"
CAST = f'%0 = relay.cast %h {{dtype = "float32"}} : ({H}) -> {T}'
ROWS = f"%1 = relay.sum %0 {{axis = array<i64: 1>}} : ({T}) -> {R}"
COLUMNS = f"%2 = relay.sum %0 {{axis = array<i64: 0>}} : ({T}) -> {C}"
INPUTS = f"%h: {H}, %x: {T}, %y: {T}, %v: {C}"


def sums(*made: str, returned: str = f"%1, %2 : {R}, {C}") -> str:
    """The sums of the rows and of the columns of `%0`, which is made by these operators; no kernel computes both."""
    lines = "\n".join((*made, ROWS, COLUMNS))
    types = returned.partition(" : ")[2]
    return f"relay.func @main({INPUTS}) -> ({types}) {{\n{lines}\nrelay.return {returned}\n}}"


def written(text: str, machine: str = SLOW, max_depth: int = 256) -> list[str]:
    """What the pass says of values that are not computed again."""
    with remarks.collect() as found:
        FuseOpsPass(machine=machine, max_depth=max_depth)(module_of(text))
    start = "not computed again where it is read: "
    return [r.message.removeprefix(start) for r in found if r.message.startswith(start)]


def assert_same(text: str, target: str = f"llvm -mcpu=native -opt-level=1 -machine={SLOW}") -> None:
    """The fused graph, on the interpreter and as machine code, computes what the graph does."""
    inputs = arrays(text)
    expected = _evaluated(text, fused=False)
    for one, other in zip(_evaluated(text, fused=True), expected, strict=True):
        np.testing.assert_array_equal(one, other)
    given = weft.compile(module_of(text), target=target)(*inputs)
    assert_close([np.asarray(each) for each in (given if isinstance(given, tuple | list) else [given])], expected)


def _evaluated(text: str, fused: bool) -> list[NDArray]:
    module = FuseOpsPass(machine=SLOW)(module_of(text)) if fused else module_of(text)
    return [np.asarray(each) for each in evaluate_function(functions(module)["main"], arrays(text))]


def test_a_cast_is_computed_by_both_kernels_that_read_it() -> None:
    assert kernels(sums(CAST), machine=SLOW) == ["cast sum", "cast sum"]
    assert kernels(sums(CAST), "tvm", machine=SLOW) == ["cast", "sum", "sum"]
    assert written(sums(CAST)) == []
    assert_same(sums(CAST))


def test_the_pass_says_so() -> None:
    with remarks.collect() as found:
        FuseOpsPass(machine=SLOW)(module_of(sums(CAST)))
    message = "computed again in 1 kernel instead of read there"
    assert ("relay.cast", message) in [(r.op_name, r.message) for r in found]


def test_the_machine_decides() -> None:
    text = sums(CAST)
    assert kernels(text, machine="l2-rate=1e9") == ["cast sum -> 2", "sum"]
    assert written(text, machine="l2-rate=1e9") == ["to make it again would cost more than it saves ('relay.sum')"]
    with pytest.raises(ValueError, match="l2-rats"):
        FuseOpsPass(machine="l2-rats=1")


@pytest.mark.parametrize(
    "made",
    [
        (f"%0 = relay.nn.relu %x : {T}",),
        (f"%a = relay.multiply %x, %v : ({T}, {C}) -> {T}", f"%0 = relay.add %a, %v : ({T}, {C}) -> {T}"),
        (f"%0 = relay.zeros {{shape = array<i64: 32, 48>, dtype = \"float32\"}} : {T}",),
        (f"%0 = relay.broadcast_to %v {{shape = array<i64: 32, 48>}} : ({C}) -> {T}",),
        (f"%a = relay.nn.relu %x : {T}", f"%b = relay.abs %a : {T}", f"%0 = relay.maximum %b, %a : ({T}, {T}) -> {T}"),
    ],
    ids=["relu", "affine", "fill", "broadcast", "diamond"],
)  # fmt: skip
def test_what_is_cheap_is_computed_again(made: tuple[str, ...]) -> None:
    operators = " ".join(line.split(" = relay.")[1].split()[0] for line in made)
    assert kernels(sums(*made), machine=SLOW) == [f"{operators} sum"] * 2
    assert_same(sums(*made))


def test_a_slice_is_computed_again_and_one_with_a_step_along_the_rows_is_not() -> None:
    wide = "tensor<32x96xf32>"

    def text(begin: int, step: int) -> str:
        made = (
            f"%0 = relay.strided_slice %w {{begin = array<i64: 0, {begin}>, end = array<i64: 32, 96>, "
            f"strides = array<i64: 1, {step}>}} : ({wide}) -> {T}"
        )
        return sums(made).replace(f"%x: {T}", f"%w: {wide}")

    assert kernels(text(48, 1), machine=SLOW) == ["strided_slice sum"] * 2
    assert_same(text(48, 1))
    assert written(text(0, 2)) == [
        "an operator that it is made by reads its elements in another order ('relay.strided_slice')"
    ]


@pytest.mark.parametrize(
    ("made", "at"),
    [
        (f"%0 = relay.exp %x : {T}", "relay.exp"),
        (f"%0 = relay.divide %x, %y : ({T}, {T}) -> {T}", "relay.divide"),
        (f"%a = relay.tanh %x : {T}\n%0 = relay.nn.relu %a : {T}", "relay.tanh"),
        (f"%0 = relay.cumsum %x {{axis = 1 : i64}} : ({T}) -> {T}", "relay.cumsum"),
        (f"%a = relay.nn.softmax %x : {T}\n%0 = relay.nn.relu %a : {T}", "relay.nn.softmax"),
    ],
)
def test_what_is_expensive_is_read(made: str, at: str) -> None:
    reason = f"an operator that it is made by costs more than to read it ('{at}')"
    assert reason in written(sums(made))


def test_what_is_read_in_another_order_is_written_in_this_one() -> None:
    turned = "tensor<48x32xf32>"
    text = sums(f"%0 = relay.transpose %t : ({turned}) -> {T}").replace(f"%x: {T}", f"%t: {turned}")
    assert kernels(text, machine=SLOW) == ["transpose", "sum", "sum"]
    assert "an operator that it is made by reads its elements in another order ('relay.transpose')" in written(text)


def test_a_sum_of_two_tensors_is_read_as_cheaply_as_it_is_made() -> None:
    text = sums(f"%0 = relay.add %x, %y : ({T}, {T}) -> {T}")
    assert kernels(text, machine=SLOW) == ["add sum -> 2", "sum"]
    assert written(text) == ["to make it again would cost more than it saves ('relay.sum')"]


def test_what_is_a_result_is_written_and_computed_again_where_that_is_cheaper() -> None:
    text = sums(CAST, returned=f"%0, %2 : {T}, {C}")
    assert kernels(text, machine=SLOW) == ["cast", "cast sum"]
    assert_same(text)
    same = sums(f"%0 = relay.nn.relu %x : {T}", returned=f"%0, %2 : {T}, {C}")
    assert kernels(same, machine=SLOW) == ["nn.relu", "sum"]


def dense(name: str, operands: str) -> str:
    return f"{name} = relay.nn.dense {operands} : ({T}, tensor<48x48xf32>) -> {T}"


def products(*after: str) -> str:
    """A cast that two products read, or what follows them."""
    lines = "\n".join((CAST, *after))
    return f"relay.func @main({INPUTS}, %w: tensor<48x48xf32>) -> {T} {{\n{lines}\nrelay.return %4 : {T}\n}}"


def test_behind_products_it_is_computed_again() -> None:
    text = products(
        dense("%1", "%y, %w"), f"%2 = relay.add %1, %0 : ({T}, {T}) -> {T}",
        dense("%3", "%2, %w"), f"%4 = relay.add %3, %0 : ({T}, {T}) -> {T}",
    )  # fmt: skip
    assert kernels(text, machine=SLOW) == ["cast nn.dense add", "cast nn.dense add"]
    assert_same(text)


def test_before_products_it_is_read() -> None:
    text = products(dense("%1", "%0, %w"), dense("%3", "%0, %w"), f"%4 = relay.add %1, %3 : ({T}, {T}) -> {T}")
    assert kernels(text, machine=SLOW)[0] == "cast"
    assert "what reads it takes nothing in ('relay.nn.dense')" in written(text)


def test_in_front_of_a_product_within_a_kernel_it_is_read() -> None:
    """The mask of two attentions, each of which is one kernel."""
    t, k, s = "tensor<2x32x16xf32>", "tensor<2x16x32xf32>", "tensor<2x32x32xf32>"
    masks = s.replace("f32", "f16")

    def attention(number: int, query: str) -> list[str]:
        q, m, p, o = (f"%{name}{number}" for name in "qmpo")
        return [
            f"{q} = relay.nn.batch_matmul {query}, %k {{transpose_b = false}} : ({t}, {k}) -> {s}",
            f"{m} = relay.add {q}, %0 : ({s}, {s}) -> {s}",
            f"{p} = relay.nn.softmax {m} : {s}",
            f"{o} = relay.nn.batch_matmul {p}, %a {{transpose_b = false}} : ({s}, {t}) -> {t}",
        ]

    lines = "\n".join(
        (f'%0 = relay.cast %m {{dtype = "float32"}} : ({masks}) -> {s}', *attention(1, "%a"), *attention(2, "%b"))
    )
    inputs, returned = f"%a: {t}, %b: {t}, %k: {k}, %m: {masks}", f"%o1, %o2 : {t}, {t}"
    text = f"relay.func @main({inputs}) -> ({t}, {t}) {{\n{lines}\nrelay.return {returned}\n}}"
    found = kernels(text, machine=SLOW)
    assert found[0] == "cast" and len(found) == 3, found
    assert written(text)[0].startswith("a product reads what is made of it")


def test_a_tuple_that_is_put_together_reads_it() -> None:
    both = "tensor<64x48xf32>"
    text = sums(
        CAST,
        f"%t = relay.tuple(%0, %x) : ({T}, {T}) -> tuple<{T}, {T}>",
        f"%3 = relay.concatenate %t {{axis = 0 : i64}} : (tuple<{T}, {T}>) -> {both}",
        returned=f"%3, %2 : {both}, {C}",
    )
    assert "what reads it takes nothing in ('relay.concatenate')" in written(text)
    assert_same(text)


def test_a_reshape_alone_reads_it() -> None:
    flat = "tensor<1536xf32>"
    text = sums(
        f"%0 = relay.nn.relu %x : {T}",
        f"%3 = relay.reshape %0 {{newshape = array<i64: 1536>}} : ({T}) -> {flat}",
        returned=f"%3, %2 : {flat}, {C}",
    )
    assert "what reads it takes nothing in ('relay.reshape')" in written(text)


def test_a_kernel_does_not_read_too_many_tensors() -> None:
    made = [f"%a0 = relay.multiply %x, %v0 : ({T}, {C}) -> {T}"]
    for n in range(1, 12):
        made.append(f"%a{n} = relay.add %a{n - 1}, %v{n} : ({T}, {C}) -> {T}")
    rows = ", ".join(f"%v{n}: {C}" for n in range(12))
    text = sums(*made[:-1], made[-1].replace("%a11 =", "%0 =")).replace(f"%v: {C}", rows)
    machine = "l2-rate=0.1,l3-rate=0.1,memory-rate=0.1"
    assert written(text, machine) == ["the kernel would read too many tensors ('relay.sum')"]


def test_the_depth_limits_it() -> None:
    assert kernels(sums(CAST), machine=SLOW, max_depth=1) == ["cast", "sum", "sum"]
    assert any("the group would become larger than max-depth" in each for each in written(sums(CAST), max_depth=1))


def test_chains_of_values_that_several_read_become_one() -> None:
    """Of a cast and a function of it both are read by a sum of rows and of columns."""
    text = sums(
        f'%a = relay.cast %h {{dtype = "float32"}} : ({H}) -> {T}',
        f"%0 = relay.nn.relu %a : {T}",
        f"%3 = relay.sum %a {{axis = array<i64: 0>}} : ({T}) -> {C}",
        returned=f"%1, %2, %3 : {R}, {C}, {C}",
    )
    assert sorted(kernels(text, machine=SLOW)) == ["cast nn.relu sum", "cast nn.relu sum", "cast sum"]
    assert_same(text)


def test_open_extents_are_as_others() -> None:
    text = sums(CAST).replace("32x48", "?x48").replace(R, "tensor<?xf32>")
    assert kernels(text, machine=SLOW) == ["cast sum", "cast sum"]
    assert_same(text)


def test_a_kernel_of_several_results_gives_one_less() -> None:
    """Two functions of a tensor are one kernel, until another kernel computes the first for itself."""
    text = f"""relay.func @main({INPUTS}) -> ({T}, {C}) {{
      {CAST}
      %1 = relay.tanh %0 : {T}
      {COLUMNS}
      relay.return %1, %2 : {T}, {C}
    }}"""
    assert kernels(text, machine="l2-rate=1e9") == ["cast tanh -> 2", "sum"]
    assert kernels(text, machine=SLOW) == ["cast tanh", "cast sum"]
    assert_same(text)


POINTWISE = [str(e) for e in examples_of(Relay) if e.op_type.has_trait(Pointwise) and e.op_type.has_compute()]


@pytest.mark.parametrize("name", POINTWISE)
def test_the_formula_of_a_pointwise_operator_is_known_without_its_shape(name: str) -> None:
    (example,) = (e for e in examples_of(Relay) if str(e) == name)
    found = [op for op in parse_example(example_text(example.op_type)).walk() if op.name == example.op_type.name]
    assert isinstance(op := found[0], RelayOp)
    assert all(isinstance(body, te.Expr) for body in formulas(op)) and formulas(op)
