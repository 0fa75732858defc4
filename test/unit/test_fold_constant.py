"""What constant folding does with large arrays and large graphs."""

from __future__ import annotations

import copy
import gc
import pickle
import tracemalloc
import weakref
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType, f32
from xdsl.ir import Operation, SSAValue

from weft.dialects.relay import reference
from weft.dialects.relay.attributes import ResourceAttr
from weft.dialects.relay.base import RelayOp
from weft.dialects.relay.core import ConstantOp, FuncOp, ReturnOp
from weft.dialects.relay.layout import LayoutTransformOp
from weft.dialects.relay.ops.broadcast import AddOp, MultiplyOp, SubtractOp
from weft.dialects.relay.ops.elementwise import AbsOp
from weft.dialects.relay.ops.transform import TransposeOp
from weft.dialects.support import aligned_arrays
from weft.transforms.infra import PassContext, PassStatistics, run
from weft.transforms.relay.fold_constant import FoldConstantPass


def folded(array: npt.NDArray[np.float32], body: Callable[[SSAValue], list[AddOp | MultiplyOp | LayoutTransformOp]]):
    """The constant that a function returns which computes `body` on `array`."""
    constant = ConstantOp.from_numpy(array)
    operations = body(constant.result)
    result = operations[-1].result
    func = FuncOp("main", FunctionType.from_lists([], [result.type]))
    func.body.block.add_ops([constant, *operations, ReturnOp(result)])
    with PassContext(opt_level=3):
        module = FoldConstantPass()(ModuleOp([func]))
    (after,) = module.ops
    assert isinstance(after, FuncOp)
    first, last = after.body.block.ops
    assert isinstance(first, ConstantOp) and isinstance(last, ReturnOp)
    array_after = first.numpy()
    assert array_after is not None
    return array_after


def test_uniform_arrays_stay_one_element_in_memory():
    array = np.broadcast_to(np.float32(3), (512, 512, 3, 3))

    def body(value: SSAValue) -> list[AddOp | MultiplyOp | LayoutTransformOp]:
        square = MultiplyOp(value, value)
        return [square, LayoutTransformOp(square, src_layout="OIHW", dst_layout="OIHW16i16o")]

    result = folded(array, body)
    assert result.shape == (32, 32, 3, 3, 16, 16)
    assert not any(result.strides)
    assert result.flat[0] == 9


def test_intermediate_arrays_are_dropped_with_their_last_reader():
    array = np.random.default_rng(0).random((1 << 20,), np.float32)

    def body(value: SSAValue) -> list[AddOp | MultiplyOp | LayoutTransformOp]:
        chain = [AddOp(value, value)]
        for _ in range(15):
            chain.append(AddOp(chain[-1], value))
        return [*chain]

    tracemalloc.start()
    result = folded(array, body)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 6 * array.nbytes, "a chain of 16 operators must not keep 16 arrays"
    np.testing.assert_allclose(result.astype(np.float32), array * 17, rtol=1e-5)


@pytest.mark.parametrize("shape", [(3, 5), (64, 100), (100, 17)])
def test_transposed_matrices_are_stored_in_their_own_order(shape: tuple[int, int]):
    array = np.random.default_rng(0).random(shape, np.float32)
    constant = ConstantOp.from_numpy(array)
    transposed = TransposeOp(constant)
    func = FuncOp("main", FunctionType.from_lists([], [transposed.result.type]))
    func.body.block.add_ops([constant, transposed, ReturnOp(transposed.result)])
    module = FoldConstantPass()(ModuleOp([func]))
    (result,) = (op.numpy() for op in module.walk() if isinstance(op, ConstantOp))
    assert result is not None and result.flags.c_contiguous
    np.testing.assert_array_equal(result, array.T)


def test_a_chain_longer_than_the_limit_of_recursion_folds():
    constant = ConstantOp.from_numpy(np.array([1, -2], np.float32))
    chain = [AbsOp(constant)]
    for _ in range(1_100):
        chain.append(AbsOp(chain[-1]))
    func = FuncOp("main", FunctionType.from_lists([], [chain[-1].result.type]))
    func.body.block.add_ops([constant, *chain, ReturnOp(chain[-1].result)])
    module = FoldConstantPass()(ModuleOp([func]))
    assert sum(1 for _ in module.walk()) == 4


def test_what_is_only_erased_is_a_change_too() -> None:
    """Effects that erasing has undone must not count as held."""
    type = TensorType(f32, [4])
    func = FuncOp("main", FunctionType.from_lists([type], [type]))
    x = func.body.block.args[0]
    func.body.block.add_ops([AbsOp(x), ReturnOp(x)])
    with PassContext(opt_level=3, instruments=[statistics := PassStatistics()]):
        run(FoldConstantPass(), ModuleOp([func]))
        assert [record.changed for record in statistics.records] == [True]


def test_a_transposed_weight_that_is_packed_by_a_later_pass_is_copied_once(monkeypatch: pytest.MonkeyPatch) -> None:
    array = np.random.default_rng(0).random((64, 96), np.float32)
    constant = ConstantOp.from_numpy(array)
    transposed = TransposeOp(constant)
    func = FuncOp("main", FunctionType.from_lists([], [transposed.result.type]))
    func.body.block.add_ops([constant, transposed, ReturnOp(transposed.result)])
    copied: list[tuple[int, ...]] = []
    copy = aligned_arrays.contiguous

    def noted(given: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        copied.append(given.shape)
        return copy(given)

    monkeypatch.setattr(aligned_arrays, "contiguous", noted)
    module = FoldConstantPass()(ModuleOp([func]))
    (constant,) = (op for op in module.walk() if isinstance(op, ConstantOp))
    pack = LayoutTransformOp(constant, src_layout="NC", dst_layout="NC16n")
    (back,) = (op for op in module.walk() if isinstance(op, ReturnOp))
    block = back.parent_block()
    assert block is not None
    block.insert_op_before(pack, back)
    back.operands[0] = pack.result
    packed = FoldConstantPass()(module)
    (result,) = (op.numpy() for op in packed.walk() if isinstance(op, ConstantOp))
    assert copied == [(6, 64, 16)]
    np.testing.assert_array_equal(result, array.T.reshape(6, 16, 64).transpose(0, 2, 1))


def test_a_large_array_is_made_when_somebody_asks_for_it_and_its_steps_are_not_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    array = np.random.default_rng(0).random((128, 64, 3, 3), np.float32)
    made: list[str] = []
    evaluate = reference.evaluate_op

    def noted(op: RelayOp, inputs: Sequence[npt.NDArray[np.generic]]) -> list[npt.NDArray[np.generic]]:
        made.append(op.name)
        return evaluate(op, inputs)

    monkeypatch.setattr(reference, "evaluate_op", noted)
    weight = ConstantOp.from_numpy(array)
    scale = ConstantOp.from_numpy(np.arange(128, dtype=np.float32).reshape(128, 1, 1, 1))
    scaled = MultiplyOp(weight.result, scale.result)
    packed = LayoutTransformOp(scaled.result, src_layout="OIHW", dst_layout="OIHW16i16o")
    again = AddOp(packed.result, packed.result)
    constant = _returned(_fold(weight, scale, scaled, packed, again))
    assert made == [] and constant.pending is not None
    found = constant.numpy()
    assert made == ["relay.multiply", "relay.layout_transform", "relay.add"] and constant.pending is None
    expected = 2 * (array * np.arange(128, dtype=np.float32).reshape(128, 1, 1, 1))
    expected = expected.reshape(8, 16, 4, 16, 3, 3).transpose(0, 2, 4, 5, 3, 1)
    assert found is not None and found.flags.c_contiguous
    np.testing.assert_array_equal(found, expected)
    assert constant.numpy() is found and len(made) == 3


def test_what_later_passes_make_of_an_array_that_is_not_there_is_not_made_either() -> None:
    array = np.random.default_rng(0).random((256, 512), np.float32)
    weight = ConstantOp.from_numpy(array)
    first = _fold(weight, MultiplyOp(weight.result, weight.result))
    constant = _returned(first)
    func = constant.parent_op()
    assert isinstance(func, FuncOp)
    root = AbsOp(constant.result)
    end = func.body.block.last_op
    assert end is not None
    func.body.block.insert_op_before(root, end)
    end.operands = root.results
    with PassContext(opt_level=3):
        after = _returned(FoldConstantPass()(first))
    assert constant.pending is not None and after.pending is not None
    np.testing.assert_array_equal(np.asarray(after.numpy()), array * array)


@pytest.mark.parametrize("other, same", [(2.0, True), (3.0, False)])
def test_arrays_that_are_made_of_the_same_in_the_same_way_are_equal_before_they_are_there(
    other: float, same: bool
) -> None:
    def made(factor: float) -> ConstantOp:
        weight = ConstantOp.from_numpy(np.random.default_rng(0).random((256, 512), np.float32))
        scale = ConstantOp.from_numpy(np.full(512, factor, np.float32) + np.arange(512, dtype=np.float32))
        return _returned(_fold(weight, scale, MultiplyOp(weight.result, scale.result)))

    first, second = made(2.0), made(other)
    assert (first.value == second.value) is same
    assert first.pending is not None and second.pending is not None
    first.numpy()
    assert (first.value == second.value) is same
    second.numpy()
    assert (first.value == second.value) is same


def test_a_chain_of_large_arrays_longer_than_the_limit_of_recursion_folds() -> None:
    weight = ConstantOp.from_numpy(np.random.default_rng(0).random((1 << 16,), np.float32))
    chain: list[Operation] = [weight]
    for _ in range(1500):
        chain.append(AbsOp(chain[-1].results[0]))
    np.testing.assert_array_equal(np.asarray(_returned(_fold(*chain)).numpy()), np.asarray(weight.numpy()))


def test_what_a_large_array_was_made_of_goes_when_it_is_there() -> None:
    """At once: not when cycles are collected."""
    array = np.random.default_rng(0).random((256, 512), np.float32)
    weight = ConstantOp.from_numpy(array)
    squared = MultiplyOp(weight.result, weight.result)
    packed = LayoutTransformOp(squared.result, src_layout="OI", dst_layout="OI16o")
    constant = _returned(_fold(weight, squared, packed, AddOp(packed.result, packed.result)))
    assert isinstance(constant.value, ResourceAttr) and constant.pending is not None
    original, steps = weakref.ref(array), weakref.ref(constant.pending)
    del array, weight, squared, packed
    gc.collect()
    gc.disable()
    try:
        assert constant.numpy() is not None and steps() is None and original() is None
        made = weakref.ref(constant.value.data)
        constant.value = ConstantOp.from_numpy(np.zeros((16, 512, 16), np.float32)).value
        assert made() is None
    finally:
        gc.enable()


def test_large_arrays_that_are_made_of_each_other_twice_are_compared_in_few_steps() -> None:
    def doubled() -> ConstantOp:
        chain: list[Operation] = [ConstantOp.from_numpy(np.random.default_rng(0).random((1 << 16,), np.float32))]
        for _ in range(60):
            chain.append(AddOp(chain[-1].results[0], chain[-1].results[0]))
        return _returned(_fold(*chain))

    first, second = doubled(), doubled()
    assert first.pending is not None and first.value == second.value
    np.testing.assert_array_equal(np.asarray(first.numpy()), np.asarray(second.numpy()))


def test_a_large_array_that_is_not_made_yet_can_be_copied_and_sent() -> None:
    weight = ConstantOp.from_numpy(np.random.default_rng(0).random((256, 512), np.float32))
    constant = _returned(_fold(weight, AddOp(weight.result, weight.result)))
    assert isinstance(constant.value, ResourceAttr) and constant.pending is not None
    for other in (copy.deepcopy(constant.value.data), pickle.loads(pickle.dumps(constant.value.data))):
        assert other == constant.value.data
        np.testing.assert_array_equal(np.asarray(other.array), 2 * np.asarray(weight.numpy()))


def test_a_large_array_whose_elements_turn_out_equal_is_one_element_as_others_are() -> None:
    weight = ConstantOp.from_numpy(np.random.default_rng(0).random((256, 512), np.float32), "constant")
    constant = _returned(_fold(weight, SubtractOp(weight.result, weight.result)))
    assert constant.pending is not None
    found = constant.numpy()
    assert found is not None and not any(found.strides) and not found.any()
    assert constant.value == ConstantOp.from_numpy(np.zeros((256, 512), np.float32), "constant").value


def _fold(*operations: Operation) -> ModuleOp:
    """A function that returns the last of `operations`, folded."""
    result = operations[-1].results[0]
    func = FuncOp("main", FunctionType.from_lists([], [result.type]))
    func.body.block.add_ops([*operations, ReturnOp(result)])
    with PassContext(opt_level=3):
        return FoldConstantPass()(ModuleOp([func]))


def _returned(module: ModuleOp) -> ConstantOp:
    """The constant that is all the function returns."""
    (func,) = module.ops
    assert isinstance(func, FuncOp)
    end = func.body.block.last_op
    assert end is not None
    constant = end.operands[0].owner
    assert isinstance(constant, ConstantOp)
    return constant
