"""Random programs that branch, loop, call and recurse: machine code gives what the interpreter gives."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import numpy as np
import numpy.typing as npt
from mutate import SECONDS, run_cases
from random_languages import random_language
from xdsl.dialects.builtin import ModuleOp

import weft
from weft import relay
from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.frontend.mlir import parse_mlir
from weft.lowering.compiler import compile_graph
from weft.lowering.machine.target import Target
from weft.runtime.executable import Executable
from weft.transforms.infra import PassContext

LEVELS = 4
CALLS = 3

Arrays = list[npt.NDArray[np.generic]]


def run(case: int, folder: Path) -> None:
    random = Random(case)
    element, dtype = random.choice([("f32", np.float32), ("i32", np.int32)])
    text = random_language(case, random.randint(3, 12), element)
    if case % 5 == 0:
        text = text.replace("tensor<3x", "tensor<?x")
    module = parse_mlir(text, f"program {case}")
    given: list[Arrays] = [[np.array(random.choices(range(-4, 5), k=3), dtype) for _ in "xy"] for _ in range(CALLS)]
    if (expected := interpreted(module, given)) is None:
        return
    call = compiled(module, case, folder)
    for arrays, wants in zip(given, expected, strict=True):
        for number, (got, want) in enumerate(zip(call(*arrays), wants, strict=True)):
            np.testing.assert_array_equal(np.asarray(got), want, f"result {number} of {arrays}:\n{text}")


def interpreted(module: ModuleOp, given: list[Arrays]) -> list[Arrays] | None:
    """What the interpreter gives; `None` where that takes it too long."""

    def too_long(*_: object) -> None:
        raise TimeoutError

    main = next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")
    signal.signal(signal.SIGPROF, too_long)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        return [list(evaluate_function(main, arrays)) for arrays in given]
    except TimeoutError:
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def compiled(module: ModuleOp, case: int, folder: Path) -> Callable[..., Sequence[object]]:
    """Machine code for one thread or two, as it is, saved and read again, or of the virtual machine."""
    with PassContext(opt_level=case % LEVELS):
        if case % 8 == 3:
            code, library = relay.vm.compile(module).save()
            loaded = relay.vm.Executable.load_exec(code, library)
            machine = relay.vm.VirtualMachine(loaded)
            return lambda *arrays: [*machine.run(*arrays)]
        graph = compile_graph(module.clone(), Target.parse("llvm -mcpu=native"), codegen_level=1, jobs=1)
        made = Executable(graph, threads=1 + case % 2)
    if case % 8 == 5:
        made.save(folder / f"{case}.weft")
        made = weft.load(folder / f"{case}.weft")
    return lambda *arrays: [*made(*arrays)]


def test_random_programs_give_what_the_interpreter_gives(program_cases: range, tmp_path: Path) -> None:
    wrong = run_cases(program_cases, lambda case: run(case, tmp_path))
    assert not wrong, f"{len(wrong)} of {len(program_cases)}:\n" + "\n".join(wrong[:20])
