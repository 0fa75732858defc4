"""Traces and instructions under TVM's names: built by hand, as Python, as JSON, and done again."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable

import pytest
from te_samples import dense
from tir_run import prim_func

from weft.dialects.schedule import blocks, loops, queries
from weft.dialects.support.diagnostics import UsageError
from weft.dialects.tir.core import BlockOp, ForOp
from weft.tir import (
    BlockRV,
    ExprRV,
    IndexMap,
    Instruction,
    InstructionKind,
    LoopRV,
    Schedule,
    ScheduleError,
    Trace,
    structural_equal,
)
from weft.transforms.tir.scheduling.instruction import COUNTED, INSTRUCTION_KINDS, PROPERTIES

STAGE = dense(8, 8, 8)


def get_block(name: str, output: BlockRV) -> Instruction:
    return Instruction(InstructionKind.get("GetBlock"), [], [name, "main"], [output])


def parallel_rows() -> Trace:
    """`relu` with its rows shared by threads, four each."""
    block, row, column, outer, inner = BlockRV(), LoopRV(), LoopRV(), LoopRV(), LoopRV()
    return Trace(
        [
            get_block("relu", block),
            Instruction(InstructionKind.get("GetLoops"), [block], [], [row, column]),
            Instruction(InstructionKind.get("Split"), [row, None, 4], [True], [outer, inner]),
            Instruction(InstructionKind.get("Parallel"), [outer], [], []),
            Instruction(InstructionKind.get("Annotate"), [column, 'a "word"'], ["note"], []),
        ]
    )


def recorded() -> Schedule:
    """A schedule with an instruction of each form that parameters have."""
    schedule = Schedule(prim_func(STAGE), seed=1)
    product, relu = schedule.get_block("dense"), schedule.get_block("relu")
    row, column = schedule.get_loops(relu)
    outer, inner = schedule.split(row, schedule.sample_perfect_tile(row, 2))
    width = schedule.sample_categorical([2, 4], [0.25, 0.75])
    schedule.split(column, [None, width])
    schedule.compute_at(product, outer, preserve_unit_loops=True)
    schedule.annotate(inner, "note", {"words": ["a", 1, 0.5], "none": None})
    copy = schedule.cache_read(product, 0, "global")
    schedule.transform_layout(copy, ("write", 0), lambda i, j: (i // 4, j, IndexMap.AXIS_SEPARATOR, i % 4))
    schedule.enter_postproc()
    schedule.unroll(inner)
    return schedule


def test_the_text_of_a_trace_is_a_python_function_that_does_it() -> None:
    assert str(Trace([])).splitlines()[1:] == ["def apply_trace(sch: tir.Schedule) -> None:", "  pass"]
    assert str(parallel_rows()).splitlines() == [
        "# from tvm import tir",
        "def apply_trace(sch: tir.Schedule) -> None:",
        '  b0 = sch.get_block(name="relu", func_name="main")',
        "  l1, l2 = sch.get_loops(block=b0)",
        "  l3, l4 = sch.split(loop=l1, factors=[None, 4], preserve_unit_iters=True)",
        "  sch.parallel(loop=l3)",
        '  sch.annotate(block_or_loop=l2, ann_val="a \\"word\\"", ann_key="note")',
    ]
    names: dict[str, Callable[[Schedule], None]] = {}
    exec(f"from weft import tir\n{parallel_rows()}", names)
    by_text, by_trace = Schedule(prim_func(STAGE)), Schedule(prim_func(STAGE))
    names["apply_trace"](by_text)
    parallel_rows().apply_to_schedule(by_trace)
    assert str(by_text.mod) == str(by_trace.mod)


def test_every_instruction_has_a_kind_that_names_all_of_its_properties() -> None:
    ops = [*queries.OPS, *loops.OPS, *blocks.OPS]
    assert {kind.op for kind in INSTRUCTION_KINDS} == set(ops)
    for kind in INSTRUCTION_KINDS:
        names = {name.rstrip("?") for name in kind.attrs} - {COUNTED}
        known = {PROPERTIES.get(name, name) for name in names} | {"decision"}
        known |= {PROPERTIES.get(name.rstrip("*"), name.rstrip("*")) for name in kind.inputs}
        assert set(kind.op.get_irdl_definition().properties) <= known, kind.name
        assert hasattr(Schedule, kind.method), kind.name


def test_an_instruction_shows_itself_as_a_call() -> None:
    assert str(parallel_rows().insts[2]) == "_, _ = sch.split(loop=_, factors=[None, 4], preserve_unit_iters=True)"


def test_a_trace_that_is_built_by_hand_is_applied() -> None:
    one, other = Schedule(prim_func(STAGE)), Schedule(prim_func(STAGE))
    parallel_rows().apply_to_schedule(one)
    row, column = other.get_loops("relu")
    other.parallel(other.split(row, [None, 4])[0])
    other.annotate(column, "note", 'a "word"')
    assert str(one.mod) == str(other.mod)


def test_a_trace_as_python_does_the_same() -> None:
    schedule = recorded()
    again = Schedule(prim_func(STAGE))
    exec("\n".join(schedule.trace.as_python()), {"sch": again})
    assert str(again.mod) == str(schedule.mod)
    assert again.trace.as_python() == schedule.trace.as_python()


@pytest.mark.parametrize("kind", INSTRUCTION_KINDS, ids=lambda kind: kind.name)
def test_what_is_written_in_python_of_an_instruction_are_parameters_of_the_method(kind: InstructionKind) -> None:
    parameters = inspect.signature(getattr(Schedule, kind.method)).parameters
    if kind.inputs == ("loops*",):
        assert any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in parameters.values())
    written = {name.rstrip("?*") for name in (*kind.inputs, *kind.attrs)} - {"loops"}
    if "buffer_index_type" in written:
        written = written - {"buffer_index", "buffer_index_type"} | {"buffer"}
    assert written <= set(parameters)


@pytest.mark.parametrize("made", [lambda: recorded().trace, parallel_rows])
def test_a_trace_as_json_does_the_same(made: object) -> None:
    trace = made() if callable(made) else None
    assert isinstance(trace, Trace)
    text = json.dumps(trace.as_json())
    read = Trace.from_json(json.loads(text))
    assert read.as_python() == trace.as_python()
    one, other = Schedule(prim_func(STAGE)), Schedule(prim_func(STAGE))
    trace.apply_to_schedule(one)
    Trace.apply_json_to_schedule(json_obj=json.loads(text), sch=other)
    assert str(one.mod) == str(other.mod)


def test_texts_of_a_trace_end_before_postprocessing_where_asked() -> None:
    schedule = Schedule(prim_func(STAGE))
    block = schedule.get_block("relu")
    schedule.enter_postproc()
    schedule.parallel(schedule.get_loops(block)[0])
    schedule.sample_categorical([2, 4], [0.5, 0.5])
    kept = Schedule(prim_func(STAGE))
    schedule.trace.apply_to_schedule(sch=kept, remove_postproc=True)
    assert schedule.trace.as_python(remove_postproc=True) == kept.trace.as_python() != schedule.trace.as_python()
    assert schedule.trace.as_json(remove_postproc=True) == kept.trace.as_json() != schedule.trace.as_json()


def test_parameters_of_traces_and_of_what_handles_stand_for_are_called_as_in_tvm() -> None:
    schedule = Schedule(prim_func(STAGE))
    block = schedule.get_block(name="relu")
    op = schedule.operation(rand_var_or_sref=block)
    assert isinstance(op, BlockOp) and schedule.operation(rand_var_or_sref=schedule.get_sref(rand_var_or_stmt=op)) is op
    assert schedule.state.get_sref(stmt=op).op is op
    schedule.remove_rv(rand_var=block)
    with pytest.raises(ScheduleError, match="it was removed"):
        schedule.operation(block)


@pytest.mark.parametrize("given", [3, [[["GetBlock", [], [], ["b0"]]], []], [[["Fuse", ["l0"], [True], ["l1"]]], []]])
def test_json_that_is_no_trace_is_refused(given: object) -> None:
    with pytest.raises(UsageError):
        Trace.from_json(given)


def test_instructions_are_appended_and_taken_away() -> None:
    trace = parallel_rows()
    last = trace.insts[-1]
    assert trace.pop() == last and len(trace.insts) == 4
    trace.append(get_block("dense", BlockRV()))
    assert trace.as_python()[-1] == 'b5 = sch.get_block(name="dense", func_name="main")'
    with pytest.raises(UsageError, match="no instruction before"):
        trace.append(Instruction(InstructionKind.get("ComputeInline"), [BlockRV()], [], []))
    assert Trace([]).pop() is None


def test_a_trace_of_instructions_of_another_has_its_own() -> None:
    schedule = recorded()
    trace = Trace(schedule.trace.insts[:-2], {schedule.trace.insts[3]: [4, 2]})
    assert trace.decisions[trace.insts[3]] == [4, 2]
    assert schedule.trace.decisions[schedule.trace.insts[3]] == schedule.trace.insts[3].decision
    assert trace.get_decision(trace.insts[3]) == [4, 2] and trace.get_decision(trace.insts[0]) is None
    again = Schedule(prim_func(STAGE))
    trace.apply_to_schedule(again)
    loop = again.operation(again.get_loops("relu")[0])
    assert isinstance(loop, ForOp) and loop.size == 4


@pytest.mark.parametrize("inputs, attrs, outputs", [([ExprRV()], [], []), ([], [], [])])
def test_an_instruction_of_the_wrong_form_is_refused(
    inputs: list[object], attrs: list[object], outputs: list[LoopRV]
) -> None:
    with pytest.raises((UsageError, ScheduleError)):
        Trace([Instruction(InstructionKind.get("Unroll"), inputs, attrs, outputs)])


def test_an_unknown_kind_of_instruction_is_refused() -> None:
    with pytest.raises(UsageError, match="did you mean"):
        InstructionKind.get("GetBlok")


@pytest.mark.parametrize("level, text", [("detail", "hint"), ("fast", "no block @rellu"), ("none", "not rendered")])
def test_an_error_says_as_much_as_is_asked_for(level: str, text: str) -> None:
    schedule = Schedule(prim_func(STAGE), error_render_level=level)
    with pytest.raises(ScheduleError) as error:
        schedule.get_block("rellu")
    assert text in str(error.value)
    assert level == "detail" or "hint" not in str(error.value)


def test_a_function_is_the_root_of_its_blocks() -> None:
    schedule = Schedule(prim_func(STAGE))
    root = schedule.get_block("root")
    inside = [schedule.operation(each) for each in schedule.get_child_blocks(root)]
    assert [each.block_name for each in inside if isinstance(each, BlockOp)] == ["dense", "relu"]
    assert schedule.get_loops(root) == []
    relu = schedule.get_sref(schedule.get_block("relu"))
    assert relu.parent is not None and relu.parent.same_as(schedule.get_sref(schedule.get_loops("relu")[-1]))
    with pytest.raises(ScheduleError, match="the function itself"):
        schedule.compute_inline(root)


def test_blocks_are_compared_with_each_other() -> None:
    schedule = Schedule(prim_func(STAGE))
    handle = schedule.get_block("relu")
    relu, product = schedule.operation(handle), schedule.operation(schedule.get_block("dense"))
    same = schedule.copy().operation(handle)
    assert isinstance(relu, BlockOp) and isinstance(product, BlockOp) and isinstance(same, BlockOp)
    assert structural_equal(relu, same)
    assert not structural_equal(relu, product) and not structural_equal(relu, schedule.mod)


def test_a_handle_that_was_removed_stands_for_nothing() -> None:
    schedule = Schedule(prim_func(STAGE))
    block = schedule.get_block("relu")
    schedule.remove_rv(block)
    with pytest.raises(IndexError, match="removed"):
        schedule.operation(block)


def test_a_place_whose_loop_is_gone_has_no_statement() -> None:
    schedule = Schedule(prim_func(STAGE))
    row, column = schedule.get_loops("relu")
    places = [schedule.get_sref(row), schedule.get_sref(column)]
    assert places[0].stmt is schedule.get(row)
    schedule.fuse(row, column)
    assert None in [place.stmt for place in places]
