"""A module on the interpreter, called, benchmarked and profiled as what was compiled is: the executor `interpreter`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter_ns
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from .dialects.relay.base import RelayOp
from .dialects.relay.control import SetRowOp
from .dialects.relay.core import CallLoweredOp, ConstantOp, FuncOp
from .dialects.relay.interpreter import RelayInterpreter, Value, check_is_program, flatten, unflatten
from .dialects.relay.scan import ScanOp
from .dialects.support.arguments import checked
from .dialects.support.diagnostics import Diagnostic, UsageError
from .lowering.module_phase import phase_of, signature_of
from .lowering.read_steps import layers_of
from .runtime.benchmark import BenchmarkResult, benchmark
from .runtime.profiling import Profile, Span, StepTimes
from .runtime.tensors import Input, Runnable

if TYPE_CHECKING:
    import numpy.typing as npt

    from .lowering.abi import NDArray

PHASES = ("import", "graph", "fuse", "tir", "schedule")
"""Those whose modules the interpreter runs."""


class Interpreted(Runnable):
    """A function of a module, run operator by operator in NumPy; kernels of `tir` operation by operation.

    It takes and gives what a `weft.Executable` of the same function does. Nothing is compiled, and no pass runs.

    Raises:
        UsageError: the module is at a phase that is not interpreted.
        Diagnostic: the function takes or gives what is no tensor.
    """

    def __init__(self, module: ModuleOp, function: str):
        if (phase := phase_of(module)) not in PHASES:
            what = f"the interpreter runs relay and tir, but this module is at the phase '{phase}'"
            raise UsageError(what, hint=f"interpret what it was made from; the phases are: {', '.join(PHASES)}")
        functions = [op for op in module.ops if isinstance(op, FuncOp)]
        self._module = module
        self._function = next(each for each in functions if each.sym_name.data == function)
        check_is_program(self._function)
        self.inputs, self.outputs = signature_of(module, function)
        self._takes = tuple(map(Input, self.inputs))
        self._interpreter = RelayInterpreter()

    def __call__(self, *arrays: npt.ArrayLike) -> NDArray | tuple[NDArray, ...]:
        """Run the function on its inputs in order. One output is given as an array, several as a tuple.

        Raises:
            InputError: the number of arrays, a shape or a dtype does not fit.
            CheckError: an index lies outside of an axis, where that is an error.
            Diagnostic: something in it has no reference evaluation.
        """
        outputs = self._results(self._interpreter, self._checked(arrays))
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    @checked
    def benchmark(
        self, *arrays: npt.ArrayLike, repeat: int = 5, number: int = 1, min_repeat_ms: float = 0
    ) -> BenchmarkResult:
        """Time calls, as `weft.Executable.benchmark` does."""
        given = self._checked(arrays or self.example_inputs())
        return benchmark(lambda: self._results(self._interpreter, given), repeat, number, min_repeat_ms)

    @checked
    def profile(self, *arrays: npt.ArrayLike, repeat: int = 1) -> Profile:
        """Time each operator, with the names of the model's layers; as `weft.Executable.profile` does.

        Raises:
            UsageError: `repeat` is not positive.
            InputError, CheckError, Diagnostic: as a call.
        """
        if repeat < 1:
            raise UsageError(f"{repeat} repetitions: at least one is needed")
        given = self._checked(arrays or self.example_inputs())
        interpreter = _Timed()
        self._results(interpreter, given)
        runs: list[dict[Operation, list[Span]]] = []
        for _ in range(repeat):
            interpreter.begin()
            self._results(interpreter, given)
            runs.append(interpreter.spans)
        return Profile(tuple(_step(op, [run.get(op, []) for run in runs]) for op in runs[-1]))

    def example_inputs(self) -> list[NDArray]:
        """Arrays that fit the inputs, the same each time."""
        return [taken.example(number) for number, taken in enumerate(self._takes)]

    def _checked(self, arrays: Sequence[npt.ArrayLike]) -> list[NDArray]:
        if len(arrays) != len(self._takes):
            raise self.wrong_number(len(arrays))
        return [wanted.checked(array) for array, wanted in zip(arrays, self._takes, strict=True)]

    def _results(self, interpreter: RelayInterpreter, inputs: Sequence[NDArray]) -> list[NDArray]:
        arrays = iter(inputs)
        given = [unflatten(type, arrays) for type in self._function.function_type.inputs]
        try:
            results = interpreter.run(self._function, given)
        except (NotImplementedError, ValueError) as error:
            raise Diagnostic(f"cannot be interpreted: {error}") from error
        return [array for result in results for array in flatten(result)]

    def __repr__(self) -> str:
        """Inputs and outputs, in one line each."""
        outputs = ", ".join(map(str, self.outputs))
        return f"weft.Interpreted\n  inputs:  {self.names()}\n  outputs: {outputs}"


class _Timed(RelayInterpreter):
    """An interpreter that notes when it computed what."""

    def __init__(self) -> None:
        super().__init__()
        self.begin()

    def begin(self) -> None:
        """Begin another repetition."""
        self.spans: dict[Operation, list[Span]] = {}
        self._start = perf_counter_ns()

    def results_of(self, op: Operation, operands: Sequence[Value], values: Mapping[SSAValue, Value]) -> Sequence[Value]:
        begin = perf_counter_ns()
        results = super().results_of(op, operands, values)
        if isinstance(op, RelayOp | CallLoweredOp | ScanOp | SetRowOp) and not isinstance(op, ConstantOp):
            held = sum(array.nbytes for value in (*operands, *results) for array in flatten(value))
            span = Span((begin - self._start) / 1e3, (perf_counter_ns() - begin) / 1e3, held)
            self.spans.setdefault(op, []).append(span)
        return results


def _step(op: Operation, runs: Sequence[Sequence[Span]]) -> StepTimes:
    """What an operation took, in each run: perhaps several times, or not at all."""
    name = op.callee.root_reference.data if isinstance(op, CallLoweredOp) else op.name.removeprefix("relay.")
    begins = tuple(spans[0].begin if spans else 0.0 for spans in runs)
    lasts = tuple(sum(span.lasts for span in spans) for spans in runs)
    bytes = max(span.bytes for span in runs[-1])
    return StepTimes(name, layers_of(op.location), "cpu", bytes, begins, lasts, tuple(runs[-1]))
