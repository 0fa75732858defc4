"""What constant folding does with large arrays and large graphs."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType, f32
from xdsl.ir import SSAValue

from weft.dialects.relay.core import ConstantOp, FuncOp, ReturnOp
from weft.dialects.relay.layout import LayoutTransformOp
from weft.dialects.relay.ops.broadcast import AddOp, MultiplyOp
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
