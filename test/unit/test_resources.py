"""Large constants are told apart by their keys, which are made when somebody asks."""

import pickle
import threading

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Block, Region

from weft.dialects.relay import attributes
from weft.dialects.relay.attributes import Resource, ResourceAttr, resource
from weft.dialects.relay.core import ConstantOp, FuncOp, ReturnOp, TupleOp
from weft.lowering.memory_to_loops.constants import Constants
from weft.transforms.relay.eliminate_common_subexpr import EliminateCommonSubexprPass


def test_equal_arrays_of_one_name_are_equal() -> None:
    first, second = resource(np.arange(40.0), "w"), resource(np.arange(40.0), "w")
    assert first == second and hash(first) == hash(second)
    assert first.data.key == second.data.key


@pytest.mark.parametrize(
    "other",
    [
        resource(np.arange(40.0), "v"),
        resource(np.arange(40.0).reshape(4, 10), "w"),
        resource(np.arange(40.0, dtype=np.float32), "w"),
        resource(np.r_[np.arange(20.0), np.zeros(1), np.arange(21.0, 40.0)], "w"),
        resource(np.arange(39.0, -1, -1), "w"),
    ],
)
def test_what_differs_in_name_shape_type_or_content_differs(other: ResourceAttr) -> None:
    mine = resource(np.arange(40.0), "w")
    assert mine != other and mine.data.key != other.data.key


def test_a_key_that_was_read_is_that_of_the_array_it_was_made_of() -> None:
    made = resource(np.arange(40.0), "conv_1_w")
    read = ResourceAttr(Resource(made.data.key))
    assert read == made and hash(read) == hash(made)
    assert not read.data.is_known and made.data.is_known


def test_a_fill_has_one_key_whether_it_is_seen_or_written_out() -> None:
    seen, written = resource(np.broadcast_to(np.float32(3), (5, 8)), "w"), resource(np.full((5, 8), np.float32(3)), "w")
    assert seen == written and not any(np.asarray(written.data.array).strides)


def test_the_digest_of_a_weight_is_not_made_before_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    make = attributes._key  # pyright: ignore[reportPrivateUsage]

    def noted(array: npt.NDArray[np.generic], name: str) -> str:
        asked.append(name)
        return make(array, name)

    monkeypatch.setattr(attributes, "_key", noted)
    first, second = resource(np.arange(40.0), "a"), resource(np.arange(1.0, 41.0), "a")
    assert len({first, second, resource(np.arange(40.0), "b")}) == 3
    assert asked == []
    assert first.data.key.startswith("a_") and first.data.key == first.data.key
    assert asked == ["a"]


def test_a_transposed_weight_is_brought_into_its_own_order_when_somebody_asks() -> None:
    array = np.arange(24.0).reshape(2, 3, 4)
    seen, own = resource(array.transpose(2, 0, 1), "w"), resource(np.ascontiguousarray(array.transpose(2, 0, 1)), "w")
    assert seen.data.seen is not None and np.shares_memory(seen.data.seen, array)
    assert seen != resource(np.arange(1.0, 25.0).reshape(2, 3, 4).transpose(2, 0, 1), "w")
    made = seen.data.array
    assert made is not None and made.flags.c_contiguous and seen.data.array is made is seen.data.seen
    np.testing.assert_array_equal(made, array.transpose(2, 0, 1))
    assert seen == own and seen.data.key == own.data.key


@pytest.mark.parametrize("part", [np.s_[:, ::2], np.s_[1:, :3], np.s_[::-1]])
def test_a_part_of_an_array_does_not_hold_all_of_it(part: tuple[slice, ...]) -> None:
    array = np.arange(80.0).reshape(8, 10)
    made = resource(array[part], "w").data.seen
    assert made is not None and not np.shares_memory(made, array)
    np.testing.assert_array_equal(made, array[part])


def test_who_reads_one_keeps_nobody_from_another():
    """Nor does a process hang that is forked meanwhile: it has the locks as they were then."""
    begun, may_end = threading.Event(), threading.Event()

    def slowly() -> npt.NDArray[np.float32]:
        begun.set()
        assert may_end.wait(60)
        return np.zeros(2, np.float32)

    slow, quick = Resource("slow_1", later=slowly), Resource("quick_1", later=lambda: np.ones(2, np.float32))
    thread = threading.Thread(target=lambda: slow.array)
    thread.start()
    assert begun.wait(60)
    read: list[object] = []
    other = threading.Thread(target=lambda: read.append(quick.array), daemon=True)
    other.start()
    other.join(10)
    may_end.set()
    thread.join()
    assert len(read) == 1, "it waited for the slow one"
    assert slow.array is slow.array and pickle.loads(pickle.dumps(Resource("a_1", np.ones(2)))).key == "a_1"


def test_many_weights_of_one_name_and_shape_are_not_each_held_against_all_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = 0
    equal = Resource.__eq__

    def counted(self: Resource, other: object) -> bool:
        nonlocal held
        held += 1
        return equal(self, other)

    count = 300
    random = np.random.default_rng(0)
    weights = [ConstantOp.from_numpy(random.standard_normal((4, 8))) for _ in range(count)]
    twin = ConstantOp.from_numpy(np.array(weights[7].numpy()))
    result = TupleOp(*(weight.result for weight in (*weights, twin)))
    block = Block([*weights, twin, result, ReturnOp(result.result)])
    function = FuncOp("main", FunctionType.from_lists([], [result.result.type]), Region(block))
    monkeypatch.setattr(Resource, "__eq__", counted)
    EliminateCommonSubexprPass().apply(Context(), module := ModuleOp([function]))
    assert [op for op in block.ops if isinstance(op, ConstantOp)] == weights
    assert held <= 2 * count
    held = 0
    constants = Constants(module)
    assert len({constants.reference(weight) for weight in (*weights, twin, *weights)}) == count
    assert held <= 2 * count


def test_a_table_finds_a_weight_again_that_was_loaded_in_between() -> None:
    made = np.arange(32, dtype=np.float32).reshape(4, 8)
    weight = ConstantOp.from_numpy(made)
    weight.value = ResourceAttr(Resource("w_1", later=lambda: made))
    constants = Constants(ModuleOp([weight]))
    held = constants.reference(weight)
    assert weight.value.data.array is made
    assert constants.reference(weight) is held
