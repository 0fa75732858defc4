"""Random graphs of open extents: compiled once, they give at every size what the graph of that size means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import numpy as np
from mutate import run_cases
from open_graphs import arguments_of, opened, resized
from xdsl.dialects.builtin import ModuleOp

from weft.dialects.relay import Relay
from weft.dialects.support.checks import CheckError
from weft.dialects.support.diagnostics import Diagnostic
from weft.lowering.compiler import compile_graph
from weft.lowering.machine.target import Target
from weft.runtime.executable import Executable
from weft.runtime.tensors import InputError
from weft.testing import examples_of
from weft.testing.agreement import Expectation, Undetermined
from weft.testing.random_graphs import Choices, fuzzed, random_arrays, random_graph
from weft.transforms.infra import PassContext

EXAMPLES = fuzzed(examples_of(Relay))
LEVELS = 4
LARGEST = 30_000
"""Elements of an argument; sizes at which one has more are left out."""
NOT_OPEN = "cannot be computed where an extent is known only when it runs"

SIZES: Sequence[Callable[[int], int]] = (
    lambda n: n, lambda n: n + 1, lambda n: 3 * n + 1, lambda n: n + 17, lambda n: 1, lambda n: 0,
)  # fmt: skip


def graph_of(case: int) -> tuple[ModuleOp, ModuleOp] | None:
    """A graph, and the same with some extents of its arguments open, all of them or a third; `None` where its operators
    want to know them."""
    random = Random(case)
    known = random_graph(Choices(random.randint), EXAMPLES, 2).module
    share = random.choice([0.3, 0.6, 1.0])
    unknown = opened(known, lambda _: random.random() < share)
    return None if unknown is None else (known, unknown)


def run(case: int) -> None:
    if (graphs := graph_of(case)) is None:
        return
    known, unknown = graphs
    try:
        with PassContext(opt_level=case % LEVELS):
            made = compile_graph(unknown.clone(), Target.parse("llvm -mcpu=native"), codegen_level=1, jobs=1)
    except Diagnostic as error:
        assert NOT_OPEN in str(error), f"{error}\n{unknown}"
        return
    executable = Executable(made, threads=1)
    for size in SIZES:
        sized = resized(known, unknown, size)
        if sized is None:
            continue
        types = arguments_of(sized)
        if any(np.prod(type.get_shape(), dtype=np.int64) > LARGEST for type in types):
            continue
        given = random_arrays(types, case)
        with np.errstate(all="ignore"):
            try:
                expected = Expectation(sized, given)
            except Undetermined:
                continue
        for executable.threads in (1, 2):
            try:
                results = executable(*given)
            except (InputError, CheckError):  # of extents that broadcast, those that are open are taken to be equal
                continue
            difference = expected.difference(list(results) if isinstance(results, tuple) else [results])
            what = f"{[type.get_shape() for type in types]}, {executable.threads} threads: {difference}\n{unknown}"
            assert difference is None, what


def test_open_graphs_compute_at_every_size_what_their_operators_say(open_graph_cases: range) -> None:
    wrong = run_cases(open_graph_cases, run)
    assert not wrong, f"{len(wrong)} of {len(open_graph_cases)}:\n" + "\n".join(wrong[:20])


def test_most_graphs_can_be_opened() -> None:
    graphs = [graph_of(case) for case in range(60)]
    assert sum(each is not None and str(each[0]) != str(each[1]) for each in graphs) > 30
