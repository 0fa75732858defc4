"""The graph executor: runs a graph of kernels node by node, as TVM's JSON describes it.

    module = weft.compile(model, executor="graph")
    module.set_input("data", x)
    module.run()
    y = module.get_output(0)

`module.graph_json`, `module.params` and `module.library` are what it is made of; a graph in TVM's JSON runs on the
kernels of any library that has kernels of those names and sizes. Names are those of TVM's `GraphModule`. A module has
memory of its own, so one thread may use it at a time, while calls that give all their inputs (`module(x)`,
`module.run({"data": x})`) wait for each other: on each device of the library, where the JSON says that its
tensors are elsewhere than on the host (`graph_tensors.py`). The debug mode (`run_debug`) times and keeps every node.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from ..dialects.support.arguments import checked_methods
from ..dialects.support.diagnostics import Diagnostic, UsageError, did_you_mean
from ..dialects.support.given_devices import Device, check_given
from ..dialects.support.nd import as_nd
from ..lowering.abi import CompiledGraph, Platform, TensorSpec
from ..lowering.graph_json import GraphJson
from . import artefact
from .benchmark import BenchmarkResult, benchmark
from .executable import Executable
from .graph_nodes import Nodes
from .graph_tensors import Tensor, allocated, copied, devices_of, in_place, on_host
from .host import why_not_here
from .jit import LoadedObjects
from .module import Function, Module
from .named_functions import NamedFunctions
from .param_dict import load_param_dict, save_param_dict
from .profiling import Profile
from .program import Program
from .tensors import Input, InputError, by_name_or_number, warn, warn_of_unset

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..lowering.abi import NDArray


def _check_function(name: str) -> None:
    if name != "run":
        raise UsageError(f"'{name}' cannot be timed", hint="the function that can be timed is 'run'")


@checked_methods
class GraphModule(NamedFunctions):
    """A graph that runs node by node on memory of its own.

    Args:
        graph: the graph, or its JSON; or a graph that runs, `library["default"]()`, which this is then another name of.
        library: kernels: what was compiled, as an executable, an artefact, or the path of one. A kernel `k` also serves
            a graph of TVM that calls it `tvmgen_default_k`. Or functions, a module that `weft.build` gives, each on its
            own number of threads: a node calls one on its inputs and outputs.
        params: the values of inputs that are weights.
        threads: threads for each kernel; as many as there are processors, unless given.
        output_names: what `run` calls the outputs; `out0`, `out1`, ..., unless given.

    Raises:
        GraphJsonError: the text is not the JSON of a graph.
        Diagnostic: a kernel is not in the library, or takes something else, or nobody knows what; or a tensor is on
            another device than the library's, or than the kernels that take it.
        PlatformError: the library is for another machine.
    """

    FUNCTIONS = (
        "set_input", "set_input_zero_copy", "set_output_zero_copy", "get_input", "get_output", "run", "load_params",
        "share_params", "get_num_inputs", "get_num_outputs", "get_input_index", "get_input_info", "execute_node",
        "debug_get_output", "get_node_output", "profile",
    )  # fmt: skip

    def __init__(
        self,
        graph: GraphJson | GraphModule | str,
        library: Executable | CompiledGraph | Module | str | os.PathLike[str] | None = None,
        params: Mapping[str, npt.ArrayLike] | None = None,
        threads: int | None = None,
        output_names: Sequence[str] | None = None,
    ):
        if isinstance(graph, GraphModule):
            if not (library is params is threads is output_names is None):
                raise UsageError("a graph that runs has its library, parameters, threads and names already")
            self.__dict__ |= graph.__dict__
            return
        if library is None:
            raise UsageError("a graph runs with a library of its kernels: GraphModule(graph_json, library)")
        self.graph = GraphJson.parse(graph) if isinstance(graph, str) else graph
        self.library = _library(library)
        if self.library.segments:
            raise Diagnostic("the library is of a program that branches, which has no nodes")
        if len(self.library.parameters) != len(self.library.kernels):
            raise Diagnostic(
                "it is not known what the kernels of this library take, so that they run as a whole alone",
                hint='compile the model again, or use the executor "aot"',
            )
        devices = devices_of(self.library)
        self.device_types = tuple(device.name.partition(":")[0] for device in devices.values())
        """The types of the devices that it runs on."""
        self._entries = allocated(self.graph, devices)
        self._inputs = {self.graph.nodes[number].name: number for number in self.graph.arg_nodes}
        self._threads = ctypes.c_uint64(Executable.usable(threads))
        self._program = _program(self.library)
        code = self._program.code if isinstance(self._program, Program) else self._program
        functions: Mapping[str, Function] = library if isinstance(library, Module) else {}
        self._turns: dict[int, threading.RLock] = {}
        """Held by who runs, in each process: a child that was forked meanwhile has one that is free."""
        self._nodes = Nodes(self.library, code, self.graph, self._entries, self._threads, functions)
        self._params: dict[str, None] = {}
        self._unset = dict.fromkeys(self._inputs)
        heads = [self.graph.entry(ref) for ref in self.graph.heads]
        names = output_names or (["out"] if len(heads) == 1 else [f"out{number}" for number in range(len(heads))])
        if len(names) != len(heads) or len(set(names)) != len(names):
            raise UsageError(f"{len(heads)} outputs have a name each, and not {', '.join(names) or 'none'}")
        self.outputs = tuple(self._spec(name, entry) for name, entry in zip(names, heads, strict=True))
        self._heads = heads
        for name, value in (params or {}).items():
            self._set_param(name, value)

    def __repr__(self) -> str:
        taken, given = (", ".join(spec.name for spec in specs) for specs in (self.inputs, self.outputs))
        return f"GraphModule({taken} -> {given}, {len(self.graph.nodes)} nodes)"

    def _spec(self, name: str, entry: int) -> TensorSpec:
        return TensorSpec(name, self.graph.dtypes[entry], self.graph.shapes[entry])

    @property
    def graph_json(self) -> str:
        """The graph as TVM writes it."""
        return self.graph.text()

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """The inputs that are no parameters."""
        starts = self.graph.row_ptr
        return tuple(self._spec(name, starts[n]) for name, n in self._inputs.items() if name not in self._params)

    @property
    def params(self) -> dict[str, NDArray]:
        """Copies of the inputs that are parameters, by name."""
        return {name: as_nd(self._entries[self._entry_of(name)].read()) for name in self._params}

    @property
    def threads(self) -> int:
        """Threads that share a kernel."""
        return self._threads.value

    @threads.setter
    def threads(self, count: int | None) -> None:
        self._threads.value = Executable.usable(count)

    def set_input(
        self, key: str | int | None = None, value: npt.ArrayLike | None = None, **params: npt.ArrayLike
    ) -> None:
        """Copy arrays into inputs, by name or by number, converted where an input's dtype holds their numbers.

        Raises:
            InputError: there is no such input, a key has no array, or a shape or dtype does not fit.
        """
        for each, given in by_name_or_number(key, value, params):
            name = self._name_of(each)
            entry = self._entry_of(name)
            self._entries[entry].write(Input(self._spec(name, entry)).converted(given))
            self._unset.pop(name, None)

    def _set_param(self, name: str, value: npt.ArrayLike) -> None:
        self.set_input(name, value)
        self._params[name] = None

    def _name_of(self, key: str | int) -> str:
        if isinstance(key, str):
            return key
        names = list(self._inputs)
        if not 0 <= key < len(names):
            raise InputError(f"there is no input {key}; there are {len(names)}")
        return names[key]

    def _entry_of(self, name: str) -> int:
        if name not in self._inputs:
            known = ", ".join(spec.name for spec in self.inputs)
            raise InputError(f"there is no input '{name}'; inputs: {known}", hint=did_you_mean(name, self._inputs))
        return self.graph.row_ptr[self._inputs[name]]

    def load_params(self, data: bytes | bytearray) -> None:
        """Set the inputs that a parameter list in TVM's format names; others in it are passed over, as in TVM, with a
        warning.

        Raises:
            ParamError: the bytes are no parameters.
            InputError: a shape or dtype does not fit.
        """
        given = load_param_dict(bytes(data))
        for name, array in given.items():
            if name in self._inputs:
                self._set_param(name, array)
        if others := [name for name in given if name not in self._inputs]:
            known = f"inputs: {', '.join(self._inputs)}"
            warn(f"the graph has no input {' and none '.join(map(repr, others))}, which is passed over; {known}")

    def save_params(self) -> bytes:
        """The parameters in TVM's format."""
        return bytes(save_param_dict(self.params))

    def run(self, inputs: Mapping[str, npt.ArrayLike] | None = None, **named: npt.ArrayLike) -> dict[str, NDArray]:
        """Set inputs, if any are given, and run the graph; its outputs by name. Threads that do so take turns. Inputs
        that nobody has set are zeros, with a warning.

        Raises:
            InputError: there is no such input, or a shape or dtype does not fit.
            CheckError: an index lies outside of an axis, where that is an error.
        """
        with self._turns.setdefault(os.getpid(), threading.RLock()):
            for name, array in {**(inputs or {}), **named}.items():
                self.set_input(name, array)
            warn_of_unset(self._unset)
            self._nodes.run()
            return {spec.name: self.get_output(number) for number, spec in enumerate(self.outputs)}

    def __call__(self, *arrays: npt.ArrayLike) -> NDArray | tuple[NDArray, ...]:
        """Run the graph on the inputs that are no parameters, in order.

        Raises:
            InputError: the number of arrays, a shape or a dtype does not fit.
            CheckError: an index lies outside of an axis, where that is an error.
        """
        specs = self.inputs
        if len(arrays) != len(specs):
            raise InputError(f"the graph takes {len(specs)} inputs ({', '.join(map(str, specs))}), got {len(arrays)}")
        outputs = tuple(self.run({spec.name: array for spec, array in zip(specs, arrays, strict=True)}).values())
        return outputs[0] if len(outputs) == 1 else outputs

    def get_output(self, number: int, out: NDArray | None = None) -> NDArray:
        """A copy of an output of the last run, or `out`, which it is written to.

        Raises:
            UsageError: there is no such output, or `out` is another array than it takes.
        """
        return copied(self._entries[self._head(number)], out)

    def get_input(self, key: str | int, out: NDArray | None = None) -> NDArray:
        """What an input is set to: the memory that `run` reads, or a read-only copy where that is on another device; or
        `out`, which it is copied to.

        Raises:
            InputError: there is no such input.
            UsageError: `out` is another array than it takes.
        """
        held = self._entries[self._entry_of(name := self._name_of(key))]
        if out is not None:
            return copied(held, out)
        if held.array is not None:
            self._unset.pop(name, None)  # it may be written to by what is given
            return as_nd(held.array)
        (found := as_nd(held.read())).flags.writeable = False
        return found

    def _head(self, number: int) -> int:
        if not 0 <= number < len(self._heads):
            raise UsageError(f"there is no output {number}; there are {len(self._heads)}")
        return self._heads[number]

    def set_input_zero_copy(
        self, key: str | int | None = None, value: NDArray | None = None, **params: NDArray
    ) -> None:
        """Have an input be an array from now on: what that holds when the graph runs is read. `set_input` writes to it.
        Inputs are given by name or by number.

        Raises:
            InputError: there is no such input, or a key has no array.
            UsageError: the array is another than the graph reads, its memory is not aligned, or the graph writes
                something to it.
        """
        for each, given in by_name_or_number(key, value, params):
            entry = self._entry_of(name := self._name_of(each))
            kept = self._nodes.seen_through(entry) | {self.graph.row_ptr[node] for node in self.graph.arg_nodes}
            self._check_apart(given, kept)
            self._nodes.move(entry, in_place(self._entries[entry], given, "the input", is_written=False))
            self._unset.pop(name, None)

    def set_output_zero_copy(self, number: int, value: NDArray) -> None:
        """Have the graph write an output to an array from now on.

        Raises:
            UsageError: there is no such output, it is an input as well, or the array is another than the graph writes,
                or has other tensors of it.
        """
        entry = self._head(number)
        places = self._nodes.seen_through(entry)
        given = {self.graph.row_ptr[node] for node in self.graph.arg_nodes}
        if places & given:
            raise UsageError(f"output {number} is what an input holds", hint="use set_input_zero_copy")
        self._check_apart(value, places)
        self._nodes.move(entry, in_place(self._entries[entry], value, "the output", is_written=True))

    def _check_apart(self, value: NDArray, places: Collection[int]) -> None:
        """
        Raises:
            UsageError: entries that are not at `places` are in the memory of an array.
        """
        others = [held.array for each, held in enumerate(self._entries) if each not in places]
        if any(np.may_share_memory(held, value) for held in others if held is not None):
            raise UsageError("the array is memory that the graph has for something else")

    def share_params(self, other: GraphModule, data: bytes | bytearray) -> None:
        """Have the parameters that a list in TVM's format names in the memory of another module of the same graph.

        Raises:
            ParamError: the bytes are no parameters.
            UsageError: a parameter of the other is of another shape or dtype.
        """
        for name in load_param_dict(bytes(data)):
            if name in self._inputs and name in other._inputs:
                self._share(self._entry_of(name), name, other._entries[other._entry_of(name)])
                self._params[name] = None
                self._unset.pop(name, None)

    def _share(self, entry: int, name: str, held: Tensor) -> None:
        """Have an input where a tensor of another module lies."""
        if held.array is not None:
            self.set_input_zero_copy(name, held.array)
            return
        own = self._entries[entry]
        if (own.device, own.shape, own.dtype) != (held.device, held.shape, held.dtype):
            raise UsageError(f"the input '{name}' is {own}, and of the other module {held}")
        self._nodes.move(entry, held)

    def debug_get_output(self, node: int | str, out: NDArray | None = None) -> NDArray:
        """What a node's first output holds, as `get_node_output`, or `out`, which it is written to.

        Raises:
            UsageError: there is no such node, or `out` is another array than it takes.
        """
        return copied(on_host(self.get_node_output(node)), out)

    def get_num_inputs(self) -> int:
        """The number of inputs, parameters among them."""
        return len(self._inputs)

    def get_num_outputs(self) -> int:
        """The number of outputs."""
        return len(self._heads)

    def get_input_index(self, name: str) -> int:
        """The number of an input; -1 where there is none, as in TVM."""
        return list(self._inputs).index(name) if name in self._inputs else -1

    def get_input_info(self) -> tuple[dict[str, tuple[int, ...]], dict[str, str]]:
        """The shapes and the dtypes of the inputs that are no parameters, by name."""
        specs = self.inputs
        return {spec.name: spec.shape for spec in specs}, {spec.name: spec.dtype for spec in specs}

    def benchmark(
        self,
        *args: Device | npt.ArrayLike,
        func_name: str = "run",
        repeat: int = 5,
        number: int = 5,
        min_repeat_ms: float = 0,
        end_to_end: bool = False,
        **inputs: npt.ArrayLike,
    ) -> BenchmarkResult:
        """Time runs, without setting inputs and reading outputs, unless `end_to_end`. Inputs may be given in their
        order or by their names, and, as in TVM, after the device that the graph runs on; those that nobody has set are
        what fits.

        Raises:
            UsageError: a number is not positive, the device is another, or the function is not `run`.
            InputError: there is no such input, or the number of arrays, a shape or a dtype does not fit.
        """
        _check_function(func_name)
        if args and isinstance(device := args[0], Device):
            check_given(device, *self.device_types)
            args = args[1:]
        arrays = cast("Sequence[npt.ArrayLike]", args)
        if arrays or not inputs:
            self._set(arrays)
        for name, array in inputs.items():
            self.set_input(name, array)

        def whole() -> None:
            for spec in self.inputs:
                self.set_input(spec.name, np.array(self.get_input(spec.name)))
            self._nodes.run()
            for place in range(self.get_num_outputs()):
                self.get_output(place)

        return benchmark(whole if end_to_end else self._nodes.run, repeat, number, min_repeat_ms)

    def time_evaluator(
        self, function: str = "run", number: int = 10, repeat: int = 1, min_repeat_ms: float = 0
    ) -> Callable[[], BenchmarkResult]:
        """What times `run` when it is called, as TVM's `module.time_evaluator` does.

        Raises:
            UsageError: the function is not `run`.
        """
        _check_function(function)
        return lambda: benchmark(self._nodes.run, repeat, number, min_repeat_ms)

    def _set(self, arrays: Sequence[npt.ArrayLike], named: Mapping[str, npt.ArrayLike] | None = None) -> None:
        """Set inputs: those that are no parameters in their order, or some by their names; where nothing is given,
        those that nobody has set, to what fits."""
        specs = self.inputs
        if arrays and len(arrays) != len(specs):
            raise InputError(f"the graph takes {len(specs)} inputs, got {len(arrays)}")
        for spec, array in zip(specs, arrays, strict=False):
            self.set_input(spec.name, array)
        for name, array in (named or {}).items():
            self.set_input(name, array)
        if not arrays and not named:
            for place, spec in enumerate(specs):
                if spec.name in self._unset:
                    self._entries[self._entry_of(spec.name)].write(Input(spec).example(place))

    def profile(self, *arrays: npt.ArrayLike, repeat: int = 10, **params: npt.ArrayLike) -> Profile:
        """Time every node. Inputs are given in their order, or by their names.

        Raises:
            UsageError: `repeat` is not positive.
            InputError: the number of arrays, a shape or a dtype does not fit.
            CheckError: an index lies outside of an axis, where that is an error.
        """
        if repeat < 1:
            raise UsageError(f"{repeat} repetitions: at least one is needed")
        self._set(arrays, params)
        return self._nodes.profile(repeat)

    def execute_node(self, number: int) -> None:
        """Run one node, on what its inputs hold.

        Raises:
            UsageError: there is no such node, or it is an input.
        """
        if number not in self._nodes.calls:
            raise UsageError(f"there is no node {number} that runs", hint=f"they are {list(self._nodes.calls)}")
        self._nodes.execute(number)

    def run_individual_node(
        self, index: int, number: int = 10, repeat: int = 1, min_repeat_ms: float = 0
    ) -> BenchmarkResult:
        """Time one node, on what its inputs hold; an input takes no time.

        Raises:
            UsageError: there is no such node, or a number is not positive.
        """
        if index not in self.graph.arg_nodes:
            self.execute_node(index)  # whose message tells which there are
            return benchmark(lambda: self._nodes.execute_to_end(index), repeat, number, min_repeat_ms)
        if repeat < 1:
            raise UsageError(f"{repeat} repetitions: at least one is needed")
        return BenchmarkResult((0.0,) * repeat)

    def get_node_output(self, node: int | str, number: int = 0) -> NDArray:
        """A copy of what a node's output holds: what it computed, until another node takes its storage.

        Raises:
            UsageError: there is no such node or output.
        """
        names = [each.name for each in self.graph.nodes]
        if isinstance(node, str):
            if node not in names:
                raise UsageError(f"there is no node '{node}'", hint=did_you_mean(node, names))
            node = names.index(node)
        if not 0 <= node < len(names) or not 0 <= number < self.graph.nodes[node].num_outputs:
            raise UsageError(f"there is no output {number} of node {node}")
        return self._entries[self.graph.row_ptr[node] + number].read()

    def run_debug(self, folder: str | os.PathLike[str], *arrays: npt.ArrayLike, **params: npt.ArrayLike) -> Profile:
        """Run the graph once and keep everything in a folder: `graph.json`, `outputs.params` with every node's outputs
        in TVM's format, `times.txt` and `trace.json`.

        Raises:
            Diagnostic: a file cannot be written.
            InputError: the number of arrays, a shape or a dtype does not fit.
            CheckError: an index lies outside of an axis, where that is an error.
        """
        if arrays or params:
            self._set(arrays, params)
        kept: dict[str, NDArray] = {}

        def keep(number: int) -> None:
            for output in range(self.graph.nodes[number].num_outputs):
                name = f"{self.graph.nodes[number].name}____topo-index:{number}____output-num:{output}"
                kept[name] = self.get_node_output(number, output)

        for number in self.graph.arg_nodes:
            keep(number)
        self._nodes.run(keep)
        profile = self._nodes.profile(1)
        try:
            place = Path(folder)
            place.mkdir(parents=True, exist_ok=True)
            (place / "graph.json").write_text(self.graph_json, "utf-8")
            (place / "outputs.params").write_bytes(save_param_dict(kept))
            (place / "times.txt").write_text(f"{profile}\n", "utf-8")
            (place / "trace.json").write_text(profile.chrome_trace(), "utf-8")
        except OSError as error:
            raise Diagnostic(f"'{folder}' cannot be written: {(error.strerror or str(error)).lower()}") from error
        return profile


def _program(library: CompiledGraph) -> Program | LoadedObjects:
    """A library in memory; of one on several devices the code alone, whose kernels are given their constants.

    Raises:
        PlatformError: the library is for another machine.
    """
    if not library.objects:
        return LoadedObjects(())
    if not library.devices:
        return Program(library)
    if (refusal := why_not_here(library.platform)) is not None:
        raise refusal
    return LoadedObjects(library.objects, images=library.images)


def _library(given: Executable | CompiledGraph | Module | str | os.PathLike[str]) -> CompiledGraph:
    if isinstance(given, Module):  # its functions are programs of their own
        return CompiledGraph((), (), (), (), 0, (), Platform("", "", ()))
    if isinstance(given, Executable):
        return given.graph
    return given if isinstance(given, CompiledGraph) else artefact.load(given)
