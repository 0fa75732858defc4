"""Databases of traces: which modules are one workload, and files of JSON."""

# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportInvalidTypeForm=false

import json
from pathlib import Path

import numpy as np
import pytest
from tvmscript_texts import function
from xdsl.dialects.builtin import ModuleOp

import weft
from weft import meta_schedule as ms
from weft import relay
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.dialects.tir.core import PrimFuncOp
from weft.lowering.machine.target import Target
from weft.meta_schedule.arg_info import ArgInfo
from weft.meta_schedule.database import JSONDatabase, MemoryDatabase, ModuleEquality
from weft.tir import IRModule, Schedule, structural_equal

PRODUCT = """
@T.prim_func
def main(A: T.Buffer[(8, 8), "float32"], B: T.Buffer[(8, 8), "float32"], C: T.Buffer[(8, 8), "float32"]):
    K = T.allocate_const([1.0, 2.0], "float32", [2])
    D = T.alloc_buffer((8, 8))
    for i, j, k in T.grid(8, 8, 8):
        with T.block("product"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                D[vi, vj] = T.float32(0)
            D[vi, vj] = D[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(8, 8):
        with T.block("after"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = D[vi, vj] * K[vi // 4]
"""
OTHER_DATA = PRODUCT.replace("[1.0, 2.0]", "[3.0, 4.0]")
OTHER_END = PRODUCT.replace("D[vi, vj] * K[vi // 4]", "D[vi, vj] + K[vi // 4]")
OTHER_ANCHOR = PRODUCT.replace("+ A[vi, vk]", "- A[vi, vk]")


def module(text: str) -> IRModule:
    return IRModule.of(function(text))


def graph(value: float) -> ModuleOp:
    x = relay.var("x", shape=(4,))
    return relay.IRModule.from_expr(relay.Function([x], x + relay.const(np.full(4, value, np.float32))))


def record_of(text: str, seconds: list[float] | None) -> ms.TuningRecord:
    schedule = Schedule(function(text))
    i, *_ = schedule.get_loops("product")
    schedule.split(i, [None, 4])
    args = ArgInfo.from_prim_func(function(text))
    return ms.TuningRecord(schedule.trace, ms.Workload(module(text)), seconds, Target.parse("llvm"), args)


@pytest.mark.parametrize(
    "name, same",
    [
        ("structural", []),
        ("ignore-ndarray", [OTHER_DATA]),
        ("anchor-block", [OTHER_DATA, OTHER_END]),
    ],
)
def test_an_equality_says_which_modules_are_one(name: str, same: list[str]) -> None:
    equality = ModuleEquality(name)
    for other in (PRODUCT.replace("K", "Q"), OTHER_DATA, OTHER_END, OTHER_ANCHOR):
        wanted = other in same or "Q" in other
        assert equality.equal(module(PRODUCT), module(other)) == wanted
        assert not wanted or equality.hash(module(PRODUCT)) == equality.hash(module(other))
    assert equality.equal(graph(1.0), graph(2.0)) == (name != "structural")
    assert not equality.equal(graph(1.0), module(PRODUCT))


def test_there_are_three_equalities() -> None:
    with pytest.raises(UsageError, match="modules are not compared by 'anchor-blok'"):
        MemoryDatabase(module_equality="anchor-blok")


@pytest.mark.parametrize("kind", ["structural", "ignore-ndarray", "anchor-block"])
def test_records_are_those_of_the_modules_that_are_one(kind: str) -> None:
    database = MemoryDatabase(module_equality=kind)
    for text, seconds in ((PRODUCT, [2.0]), (OTHER_DATA, [1.0]), (OTHER_ANCHOR, [0.5])):
        database.commit_tuning_record(record_of(text, seconds))
    found = [each.seconds for each in database.get_top_k(ms.Workload(module(PRODUCT)), 5)]
    assert found == ([2.0] if kind == "structural" else [1.0, 2.0])


def test_runs_that_failed_are_no_measurement() -> None:
    database = MemoryDatabase()
    for seconds in ([1.5, 4.5], [], [0.0, 2.0], None, [2.0], [3.0, 1e10], [1e10]):
        database.commit_tuning_record(record_of(PRODUCT, seconds))
    found = database.get_top_k(ms.Workload(module(PRODUCT)), 9)
    assert [each.run_secs for each in found] == [[0.0, 2.0], [2.0], [1.5, 4.5], [3.0, 1e10]]
    assert len(database) == 7


def test_a_record_is_what_its_json_says() -> None:
    record = record_of(PRODUCT, [1.5, 2.5])
    again = ms.TuningRecord.from_json(json.loads(json.dumps(record.as_json())), record.workload)
    assert again.as_json() == record.as_json()
    assert again.run_secs == [1.5, 2.5] and again.target is not None and again.target.kind == "llvm"
    assert again.args_info == record.args_info
    bare = ms.TuningRecord(record.trace, record.workload)
    assert ms.TuningRecord.from_json(bare.as_json(), record.workload).as_json() == bare.as_json()
    with pytest.raises(UsageError, match="this is no tuning record as JSON"):
        ms.TuningRecord.from_json([1, 2], record.workload)
    with pytest.raises(UsageError, match="this is no workload as JSON"):
        ms.Workload.from_json(3)


@pytest.mark.parametrize("text", ["{", "[" * 100_000, "5", '["x"]'])
def test_a_file_that_is_no_database_is_refused_with_its_line(text: str, tmp_path: Path) -> None:
    workloads, records = tmp_path / "workloads.json", tmp_path / "records.json"
    workloads.write_text(f"{text}\n")
    records.write_text("")
    with pytest.raises(Diagnostic) as error:
        JSONDatabase(str(workloads), str(records))
    assert error.value.place is not None and error.value.place.line == 1


def test_a_database_of_files_is_read_again(tmp_path: Path) -> None:
    database = JSONDatabase(work_dir=tmp_path)
    for text, seconds in ((PRODUCT, [7.0]), (OTHER_END, [3.0]), (PRODUCT, [2.0])):
        database.commit_tuning_record(record_of(text, seconds))
    database.commit_workload(graph(1.0))
    again = JSONDatabase(database.path_workload, database.path_tuning_record, allow_missing=False)
    assert [each.seconds for each in again.get_all_tuning_records()] == [7.0, 3.0, 2.0]
    assert again.has_workload(module(OTHER_END)) and again.has_workload(graph(1.0))
    assert not again.has_workload(module(OTHER_DATA)) and not again.has_workload(graph(2.0))
    best = again.query_ir_module(module(PRODUCT), "llvm")
    assert structural_equal(best, record_of(PRODUCT, None).as_measure_candidate().sch.mod)
    again.commit_tuning_record(record_of(PRODUCT, [1.0]))
    assert len(Path(again.path_workload).read_text().splitlines()) == 3
    assert len(JSONDatabase(work_dir=tmp_path)) == 4


def test_files_that_hold_something_else_are_told_of_at_their_line(tmp_path: Path) -> None:
    database = JSONDatabase(work_dir=tmp_path)
    database.commit_tuning_record(record_of(PRODUCT, [7.0]))
    records = Path(database.path_tuning_record)
    for line, message in (
        ("{", "is no JSON"),
        ('{"format": 1}', "is no record of a workload"),
        ("[1, []]", "is no record of a workload"),
        ("[0, []]", "this is no tuning record as JSON"),
    ):
        records.write_text(line + "\n")
        with pytest.raises(Diagnostic, match=message) as error:
            JSONDatabase(work_dir=tmp_path)
        assert error.value.place is not None and error.value.place.line == 1
    with pytest.raises(Diagnostic, match="cannot be read"):
        JSONDatabase(work_dir=tmp_path / "none")
    with pytest.raises(Diagnostic, match="cannot be read"):
        JSONDatabase(tmp_path / "missing", records, allow_missing=False)
    with pytest.raises(UsageError, match="a database is two files, or in a folder"):
        JSONDatabase(records)


def test_constants_of_other_numbers_are_another_function() -> None:
    assert not structural_equal(function(PRODUCT), function(OTHER_DATA))
    assert structural_equal(function(PRODUCT), function(PRODUCT))
    splat = PRODUCT.replace("[1.0, 2.0]", "[2.0, 2.0]")
    assert structural_equal(function(splat), function(function(splat).script()))


def test_modules_of_tir_are_json_too() -> None:
    again = weft.ir.load_json(weft.ir.save_json(module(PRODUCT)))
    assert isinstance(again, IRModule) and structural_equal(again, module(PRODUCT))
    again = weft.ir.load_json(weft.ir.save_json(function(PRODUCT.replace("main", "product"))))
    assert isinstance(again, PrimFuncOp) and structural_equal(again, function(PRODUCT))


def test_a_function_that_schedules_is_a_database_that_answers_queries() -> None:
    def schedule_fn(schedule: Schedule) -> bool:
        if not weft.tir.has_block(schedule, "product"):
            return False
        schedule.parallel(schedule.get_loops("product")[0])
        return True

    database = ms.database.ScheduleFnDatabase(schedule_fn)
    found = database.query_schedule(module(PRODUCT), "llvm")
    assert found is not None and "T.parallel" in found.mod.script()
    assert database.query_ir_module(module(PRODUCT.replace("product", "sum")), "llvm") is None
    with pytest.raises(UsageError, match="a ScheduleFnDatabase answers queries only, and has no commit_workload"):
        database.commit_workload(module(PRODUCT))
    with pytest.raises(UsageError, match="modules are not compared by 'names'"):
        ms.database.ScheduleFnDatabase(schedule_fn, "names")


@ms.derived_object
class Marking(ms.schedule_rule.PyScheduleRule):
    """A rule as TVM's programs derive one."""

    def __init__(self) -> None:
        self.kind = ""

    def _initialize_with_tune_context(self, context: ms.TuneContext) -> None:
        self.kind = context.target.kind

    def apply(self, sch: Schedule, block: weft.tir.BlockRV) -> list[Schedule]:
        assert self._outer() is self
        if weft.tir.has_block(sch, "product"):
            sch.annotate(block, "of", self.kind)
        return [sch]


def test_what_is_derived_as_in_tvm_is_told_of_its_context() -> None:
    generator = ms.space_generator.PostOrderApply(sch_rules=[Marking()], postprocs=[], mutator_probs={})
    context = ms.TuneContext(module(PRODUCT), "llvm", space_generator=generator)
    (design,) = context.generate_design_space()
    assert "'of': 'llvm'" in design.mod.script()
    for mine, theirs in ((ms.mutator, "Mutator"), (ms.postproc, "Postproc"), (ms.space_generator, "SpaceGenerator")):
        assert getattr(mine, f"Py{theirs}") is getattr(mine, theirs)
