"""What a processor takes for its work: how it is written and read, what it says, and that rules ask it."""

from __future__ import annotations

import pytest
from te_samples import blocked_conv
from tir_run import Stage, prim_func
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp, StringAttr, f32, i64

from weft.dialects import te
from weft.dialects.relay.winograd import Convolution3x3
from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.support.machine_model import STACK_BYTES, MachineModel
from weft.dialects.support.vector_unit import ATTRIBUTE, VectorUnit, set_vector_unit, vector_unit_of
from weft.dialects.tir.core import BlockOp
from weft.transforms.tir.rules.choose_tile import Tile, find_tile
from weft.transforms.tir.rules.registers import VectorRegisters
from weft.transforms.tir.schedule_rules import ScheduleRulesPass

ZEN_4 = MachineModel(fmas=1.0, loads=1.0)
SMALL = MachineModel(l1=3000, l1_ways=6, l2=1 << 18, l2_rate=1.0 / 3.0)


@pytest.mark.parametrize("machine", [MachineModel(), ZEN_4, SMALL])
def test_a_machine_is_read_as_it_is_written(machine: MachineModel) -> None:
    assert MachineModel().told(str(machine)) == SMALL.told(str(machine)) == machine


def test_sizes_have_units_and_what_is_not_said_stays() -> None:
    assert SMALL.told("l2=3M,l1-ways=4,fmas=1.5") == MachineModel(1.5, l1=3000, l1_ways=4, l2=3 << 20, l2_rate=1 / 3)
    assert str(SMALL).startswith("fmas=2,loads=2,latency=4,line=64,l1=3000,l1-ways=6,l2=256K,l3=8M,l2-rate=0.333")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "has no ''"),
        ("l9=1K", "has no 'l9'; what it has are fmas, loads"),
        ("l2", "has no 'l2'|'l2' of a machine"),
        ("l2=1K,l2=2K", "'l2' of a machine stands twice"),
        ("l1-ways=2.5", "'l1-ways' of a machine is a number of bytes or ways, such as 32K, not '2.5'"),
        ("fmas=-1", "'fmas' of a machine is a number, not '-1'"),
        ("fmas=nan", "'fmas' of a machine is a number"),
        ("line=4", "'line' of a machine is at least 16, not 4"),
        ("l2=0", "'l2' of a machine is a positive number, not 0"),
        ("fmas=1e999", "'fmas' of a machine is a positive number"),
    ],
)
def test_what_no_machine_can_be_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        MachineModel().told(text)
    with pytest.raises(ValueError, match=complaint):
        ScheduleRulesPass(machine=text)


def test_what_stays_near_is_a_part_of_the_second_cache_and_fits_the_stack() -> None:
    assert SMALL.kept_near == 1 << 16
    assert MachineModel(l2=64 << 20).kept_near == STACK_BYTES


def test_a_module_says_what_its_machine_is_unless_that_is_any() -> None:
    module = ModuleOp([])
    set_vector_unit(module, VectorUnit(32, 16, fma=True, machine=ZEN_4))
    assert f'machine = "{ZEN_4}"' in str(module)
    assert vector_unit_of(module).machine == ZEN_4
    set_vector_unit(module, VectorUnit(32, 16))
    assert "machine" not in str(module) and vector_unit_of(module).machine == MachineModel()
    wrong = ((StringAttr("l9=1"), "has no 'l9'"), (IntegerAttr(1, i64), "needs a text for 'machine'"))
    for machine, complaint in wrong:
        numbers = {"vector_bytes": IntegerAttr(16, i64), "vector_registers": IntegerAttr(16, i64)}
        module.attributes[ATTRIBUTE] = DictionaryAttr({**numbers, "machine": machine})
        with pytest.raises(Diagnostic, match=complaint):
            vector_unit_of(module)


def tile_of(stage: Stage, registers: VectorRegisters) -> Tile:
    block = next(op for op in prim_func(stage).walk() if isinstance(op, BlockOp) and op.is_reduction)
    tile = find_tile(block, registers)
    assert tile is not None
    return tile


def dense_of(rows: int, terms: int) -> Stage:
    """A product with weights in blocks of a vector, whose rows lie `4 * terms` bytes apart."""
    x, w = te.placeholder((rows, terms), f32, "x"), te.placeholder((48, terms, 16), f32, "w")
    k = te.reduce_axis(terms, "k")
    return [x, w], [te.compute((rows, 768), lambda i, j: te.sum(x[i, k] * w[j // 16, k, j % 16], k), "y")]


@pytest.mark.parametrize(
    ("registers", "pixels", "rows", "columns"),
    [
        (VectorRegisters(32, 64), 28, 14, 2),
        (VectorRegisters(32, 64, ZEN_4), 28, 14, 2),  # twice the cycles for each step, and room for what streams by
        (VectorRegisters(16, 32), 36, 6, 2),  # of 32 bytes a vector streams by in one cycle
        (VectorRegisters(16, 32, MachineModel(l2_rate=8.0)), 36, 12, 1),
    ],
)
def test_a_tile_computes_for_as_long_as_its_reads_take(
    registers: VectorRegisters, pixels: int, rows: int, columns: int
) -> None:
    tile = tile_of(blocked_conv(1, 4, 8, pixels + 2, pixels + 2, 3, registers.bytes // 4), registers)
    assert (tile.rows, tile.columns) == (rows, columns)


def test_rows_that_fall_into_one_set_of_the_nearest_cache_are_no_more_than_its_ways() -> None:
    """1024 floats are 4096 bytes, the distance of what one set of 8 lines can hold."""
    assert tile_of(dense_of(140, 1000), VectorRegisters()).rows == 14
    assert tile_of(dense_of(140, 1024), VectorRegisters()).rows <= 8
    assert tile_of(dense_of(140, 1024), VectorRegisters(machine=MachineModel(l1=56 << 10, l1_ways=14))).rows == 14


def test_minimal_filtering_pays_where_transformed_tiles_stay_near_enough() -> None:
    def tile(machine: MachineModel) -> int | None:
        best = Convolution3x3(1, 56, 56, 64, 64, 16, machine).best(4)
        return best.tile if best else None

    assert tile(MachineModel()) == 4
    assert tile(MachineModel(l3=1 << 20, memory_rate=0.5)) is None


def test_a_tensor_comes_from_the_nearest_cache_that_holds_it() -> None:
    machine = MachineModel(l2=1 << 20, l3=8 << 20, l2_rate=32, l3_rate=10, memory_rate=4)
    assert [machine.rate(held) for held in (1, 1 << 20, (1 << 20) + 1, 8 << 20, 9 << 20)] == [32, 32, 10, 10, 4]
