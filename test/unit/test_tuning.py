"""Tuning: the design space, the search, the cost model, and the whole of it on a pool that measures nothing."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from imagined_pool import Imagined
from te_samples import batch_matmul, dense
from tir_run import assert_interprets, inputs_of, prim_func
from xdsl.dialects.builtin import StringAttr

import weft
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.dialects.te.evaluate import evaluate
from weft.lowering.machine.target import Target
from weft.tools.weft_tune import main
from weft.transforms.tir.attach_tuned_schedules import kernel_key
from weft.transforms.tir.scheduling.tuning_records import Status, TuningRecord, read_records
from weft.tuning.cost_model import CostModel, best_split, fit_tree
from weft.tuning.features import NAMES
from weft.tuning.fleet import Fleet
from weft.tuning.jobs import Job, Measurement, NoMeasurement
from weft.tuning.report import as_svg, as_table, reports
from weft.tuning.search import Search, next_search
from weft.tuning.space import Candidate, RuleSpace
from weft.tuning.tune import Progress, tune

HOST = Target.parse("llvm -mcpu=native")
MODEL = """relay.func @main(%x: tensor<12x32xf32>, %b: tensor<96xf32>) -> tensor<12x96xf32> {
  %w = relay.constant dense<0.5> : tensor<96x32xf32>
  %0 = relay.nn.dense %x, %w {units = 96 : i64} : (tensor<12x32xf32>, tensor<96x32xf32>) -> tensor<12x96xf32>
  %1 = relay.nn.bias_add %0, %b : (tensor<12x96xf32>, tensor<96xf32>) -> tensor<12x96xf32>
  relay.return %1 : tensor<12x96xf32>
}
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("tuning") / "dense.mlir"
    path.write_text(MODEL)
    return str(path)


# The design space


def test_every_candidate_computes_the_same_and_is_made_again_from_its_genes() -> None:
    stage = batch_matmul(2, 6, 16, 5)
    arrays = inputs_of(stage)
    wanted = evaluate(stage[1], dict(zip(stage[0], arrays, strict=True)))
    space, random = RuleSpace(prim_func(stage), HOST), Random(0)
    default = space.default()
    assert default is not None and default.genes
    found = {default.schedule: default}
    for _ in range(5):
        parents = list(found.values())
        for made in (
            space.drawn(random),
            space.mutated(random.choice(parents), random),
            space.crossed(default, random.choice(parents), random),
        ):
            assert made is not None and len(made.features) == len(NAMES)
            found[made.schedule] = made
    assert len(found) > 4 and space.invalid == 0
    for candidate in list(found.values())[:4]:
        assert space.crossed(candidate, candidate, random) == candidate
        func = scheduled(stage, candidate)
        assert_interprets(func, arrays, wanted, 1e-4)


def scheduled(stage: Any, candidate: Candidate) -> Any:
    from weft.dialects.support.parser import parse_module
    from weft.transforms.infra.registry import new_ir_context
    from weft.transforms.tir.apply_schedule import apply_sequence

    func = prim_func(stage)
    (sequence,) = parse_module(candidate.schedule, new_ir_context(), "candidate.mlir").ops
    apply_sequence(sequence, func)  # pyright: ignore[reportArgumentType]
    func.verify()
    return func


def test_kernels_are_known_by_what_they_compute_and_not_by_what_they_are_called() -> None:
    one, other, third = prim_func(dense(6, 5, 32)), prim_func(dense(6, 5, 32)), prim_func(dense(6, 5, 16))
    other.properties["sym_name"] = StringAttr("another")
    other.region.block.args[0].name_hint = "renamed"
    assert kernel_key(one) == kernel_key(other) != kernel_key(third)
    assert other.sym_name.data == "another"


# The cost model


def test_a_split_is_found_where_it_explains_most() -> None:
    x = np.array([[0.0, 3], [1, 1], [2, 4], [3, 1], [4, 5], [5, 9]])
    assert best_split(x, np.array([0.0, 0, 0, 8, 8, 8])) == (0, 2.5)
    assert best_split(x, np.zeros(6)) is None
    assert best_split(x[:3], np.array([1.0, 2, 3])) is None, "a leaf would be too small"


def test_a_tree_gives_the_means_of_its_leaves() -> None:
    x, y = np.arange(8.0)[:, None], np.array([1.0, 1, 1, 1, 5, 5, 9, 9])
    assert fit_tree(x, y).predict(x).tolist() == y.tolist()
    assert fit_tree(x, y, 0).predict(x).tolist() == [4.0] * 8


def test_what_was_learned_orders_what_was_not_seen() -> None:
    random = np.random.default_rng(0)
    x = random.uniform(0, 1, (120, 5))
    ratios = np.exp(x[:, 1] - 2 * (x[:, 3] > 0.5))
    model = CostModel()
    model.fit(x[:80].tolist(), ratios[:80].tolist())
    found = np.corrcoef(np.log(model.predict(x[80:].tolist())), np.log(ratios[80:]))[0, 1]
    assert model.is_fitted and found > 0.9
    assert not CostModel().is_fitted


# The whole, on an imagined machine


def test_tuning_finds_the_fastest_and_compiling_uses_it(model: str, tmp_path: Path) -> None:
    path, told = str(tmp_path / "r.jsonl"), list[Progress]()
    result = tune(model, path, pool=Imagined(), trials=16, threads=1, progress=told.append)
    records = read_records(path)
    assert [each.measured for each in told] == list(range(1, 17)) and [each.record for each in told] == records
    assert len({record.schedule for record in records}) == 16, "no schedule is measured twice"
    best = min(records, key=lambda record: record.ratio)
    (found,) = result.best.values()
    assert found == best and told[-1].saved == pytest.approx(1 - best.ratio) and result.before_ms > 0
    exe = weft.compile(model, threads=1, tuning_records=path)
    assert best.schedule.split("{", 1)[1].split("}")[0].strip() in exe.ir["tir"].replace("\n  ", "\n")


def test_tuning_goes_on_where_it_was_stopped(model: str, tmp_path: Path) -> None:
    path = str(tmp_path / "r.jsonl")

    def stop(progress: Progress) -> None:
        if progress.measured == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tune(model, path, pool=Imagined(), trials=12, threads=1, progress=stop)
    assert len(read_records(path)) == 5
    with Path(path).open("a") as file:
        file.write('{"format": 1, "kern')
    again = Imagined()
    assert tune(model, path, pool=again, trials=12, threads=1).measured == 7
    assert len({record.schedule for record in read_records(path)}) == 12 and len(again.jobs) == 7


def test_what_failed_is_a_record_and_never_the_best(model: str, tmp_path: Path) -> None:
    path = str(tmp_path / "r.jsonl")
    pool = Imagined(lambda _: Measurement(Status.WRONG, message="result 0 is off"))
    result = tune(model, path, pool=pool, trials=8, threads=1)
    assert result.best == {} and result.ratio == 1.0
    assert {record.status for record in read_records(path)} == {Status.WRONG}
    assert "8 wrong" in as_table(reports(read_records(path)))


def test_a_time_limit_ends_tuning(model: str, tmp_path: Path) -> None:
    result = tune(model, tmp_path / "r.jsonl", pool=Imagined(), seconds=1e-3, threads=1)
    assert result.measured == 0 and not result.is_exhausted


def test_a_job_whose_worker_was_lost_is_given_to_another() -> None:
    lost: list[Job] = []

    def losing(job: Job) -> Measurement:
        lost.append(job)
        if len(lost) in (1, 2, 5):
            raise ConnectionError("the worker is gone")
        return Imagined.by_length(job)

    jobs: list[Any] = [Job("", "\n" * n, "", "", 1, (), 1, None, weft_effort()) for n in range(4)]  # pyright: ignore
    with Fleet(Imagined(losing)) as fleet:
        found = dict(fleet.measure(jobs))
    assert sorted(found) == [0, 1, 2, 3] and len(lost) == 7
    assert [found[n].ratios for n in range(4)] == [Imagined.by_length(job).ratios for job in jobs]


def weft_effort() -> Any:
    from weft.tuning.jobs import Effort

    return Effort(limit_s=0.1)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ConnectionError("gone"), "3 workers were lost, one after the other: gone"),
        (NoMeasurement("no"), "cannot measure"),
    ],
)
def test_a_pool_that_cannot_measure_ends_tuning(model: str, tmp_path: Path, error: Exception, message: str) -> None:
    def fail(_: Job) -> Measurement:
        raise error

    with pytest.raises(Diagnostic, match=message):
        tune(model, tmp_path / "r.jsonl", pool=Imagined(fail), threads=1)


def test_the_kernel_that_promises_most_is_next() -> None:
    def search(us: float, ratios: list[float]) -> Search:
        records = [TuningRecord("k", "t", "n", str(r), Status.MEASURED, (r,)) for r in ratios]
        made = Search(type("T", (), {"us": us})(), None, Candidate((), "", ()), [])  # pyright: ignore
        for record in records:
            made.add(record)
        made.gained = 1 - made.ratio
        return made

    heavy, light, tried, gained = search(10, []), search(1, []), search(10, [1.5] * 60), search(10, [1.1] * 8 + [0.6])
    assert next_search([light, heavy, tried]) is heavy
    assert next_search([light, tried]) is light
    assert next_search([gained, tried]) is gained
    heavy.is_exhausted = True
    assert next_search([heavy]) is None


# The report and the tool


def test_the_report_draws_each_kernel_and_names_it(tmp_path: Path) -> None:
    from xml.etree import ElementTree

    def record(name: str, ratio: float) -> TuningRecord:
        spent = {"compile": 1.0, "time": 0.5}
        return TuningRecord(name, "t", f"<{name}>", str(ratio), Status.MEASURED, (ratio,), spent=spent)

    found = reports([record("a", 1.2), record("b", 0.9), record("a", 0.7), record("a", 0.8)])
    assert [kernel.curve for kernel in found] == [(1.0, 0.7, 0.7), (0.9,)]
    assert [kernel.used for kernel in found] == [0.7, 0.9]
    root = ElementTree.fromstring(as_svg(found, "a & b"))
    texts = [element.text or "" for element in root.iter() if element.tag.endswith("text")]
    assert any("<a>" in text for text in texts) and any("a & b" in text for text in texts)
    assert sum(element.tag.endswith("polyline") for element in root.iter()) == 2


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["none.onnx"], 1, "none.onnx"),
        (["model.txt"], 1, "model.txt: error: no such file or directory"),
        (["empty.txt"], 2, "unknown kind of model '.txt'"),
        ([], 2, "the following arguments are required: MODEL"),
        (["m.mlir", "--trials", "0"], 2, "--trials: error: 0: at least one is needed"),
        (["m.mlir", "--minutes", "-1"], 2, "--minutes: error: -1: more than nothing is needed"),
        (["m.mlir", "--records", "bad.jsonl", "--threads", "1"], 1, "bad.jsonl:1:1: error: this is no tuning record"),
        (["bad.jsonl"], 2, "these are records, and no model"),
        (["bad.jsonl", "--report", "-"], 1, "bad.jsonl:1:1: error: this is no tuning record"),
        (["empty.jsonl", "--report", "-"], 1, "empty.jsonl: error: there are no records yet"),
        (["none.jsonl", "--report", "-"], 2, "none.jsonl: error: the tuning records cannot be read"),
        (["m.mlir", "--target", "c", "--records", "r.jsonl"], 2, "not for the target 'c -mcpu=native'"),
        (["open.mlir", "--records", "r.jsonl"], 2, "--shape x="),
    ],
)
def test_mistakes_are_told_at_their_place(
    arguments: list[str], code: int, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("m.mlir").write_text(MODEL)
    Path("open.mlir").write_text(MODEL.replace("12x", "?x"))
    Path("bad.jsonl").write_text("hello\n")
    Path("empty.jsonl").write_text("")
    Path("empty.txt").touch()
    assert main(arguments) == code
    told = capsys.readouterr().err
    assert message in told and "Traceback" not in told


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"trials": 0}, "at least one of each is needed"),
        ({"seconds": 0.0}, "at least one of each is needed"),
        ({"pool": 3}, "a int is no pool"),
        ({"target": "c"}, "not for the target 'c"),
    ],
)
def test_mistakes_of_callers_are_told(model: str, tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        tune(model, tmp_path / "r.jsonl", **options)
