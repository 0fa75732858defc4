"""What `relay.build` gives for the executor `aot`: one native function, and what runs it with memory of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..dialects.support.arguments import checked, checked_methods
from ..dialects.support.diagnostics import UsageError, did_you_mean
from ..dialects.support.given_devices import Device, check_given
from ..dialects.support.nd import NDArray, as_nd
from ..lowering.abi import DYNAMIC, CompiledGraph
from .executable import Executable
from .library.exporting import Factory
from .library.interfaces import Piece, ProgramInterface
from .named_functions import NamedFunctions
from .tensors import Input, InputError, by_name_or_number, warn_of_unset

if TYPE_CHECKING:
    import numpy.typing as npt


@checked_methods
class AotModule(NamedFunctions):
    """A program with its inputs and its last outputs, under the names of TVM's `AotModule`. One thread may use it at a
    time; any number of them may run one library.

    An input is found by its name, or by what C would call it: `input:0` by `input_0`, unless several are called so.

    Args:
        module: what `library["default"](device)` gives, which this is another name of; or an executable.
    """

    FUNCTIONS = (
        "set_input", "run", "get_input", "get_output", "get_num_inputs", "get_num_outputs", "get_input_index",
        "get_input_name",
    )  # fmt: skip

    def __init__(self, module: Executable | AotModule):
        if isinstance(module, AotModule):
            self.__dict__ |= module.__dict__
            return
        self._executable = module
        self._takes = [Input(spec) for spec in module.graph.inputs]
        self._names = [each.name for each in self._takes]
        self._inputs: list[NDArray | None] = [
            None if DYNAMIC in each.shape else as_nd(np.zeros(each.shape, each.dtype)) for each in self._takes
        ]
        self._outputs: list[NDArray] | None = None
        self._unset = dict.fromkeys(self._names)

    def __repr__(self) -> str:
        return f"AotModule({self._executable.names()})"

    def set_input(
        self, key: str | int | None = None, value: npt.ArrayLike | None = None, **params: npt.ArrayLike
    ) -> None:
        """Copy arrays into inputs, by name or by number, converted where an input's dtype holds their numbers.

        Raises:
            InputError: there is no such input, a key has no array, or a shape or dtype does not fit.
        """
        for each, given in by_name_or_number(key, value, params):
            number = self._number(each)
            array = self._takes[number].converted(given)
            self._unset.pop(self._names[number], None)
            known = self._inputs[number]
            if known is not None and known.shape == array.shape:
                known[...] = array
            else:
                self._inputs[number] = as_nd(np.array(array))

    def run(self, **params: npt.ArrayLike) -> None:
        """Compute the outputs of the inputs, of which some may be given here. Those that nobody has set are zeros, with
        a warning.

        Raises:
            InputError: there is no such input, a shape or dtype does not fit, or an input of open extents was not set.
            CheckError: an index lies outside of an axis, where that is an error.
        """
        for name, array in params.items():
            self.set_input(name, array)
        arrays = list(map(self._held, range(len(self._inputs))))
        warn_of_unset(self._unset)
        given = self._executable(*arrays)
        self._outputs = [as_nd(each) for each in (given if isinstance(given, tuple) else (given,))]

    def get_input(self, index: str | int, out: npt.NDArray[np.generic] | None = None) -> NDArray:
        """What an input holds, as the memory that `run` reads, or copied to `out`.

        Raises:
            InputError: there is no such input, or its extents are open, and it was not set.
        """
        held = self._held(number := self._number(index))
        if out is not None:
            return held.copyto(out)
        self._unset.pop(self._names[number], None)  # it may be written to by what is given
        return held

    def _held(self, number: int) -> NDArray:
        """
        Raises:
            InputError: the extents of an input are open, and it was not set.
        """
        if (held := self._inputs[number]) is None:
            raise InputError(f"the input '{self._names[number]}' has open extents, and was not set")
        return held

    def get_output(self, index: int, out: npt.NDArray[np.generic] | None = None) -> NDArray:
        """What an output was in the last run, or that copied to `out`.

        Raises:
            UsageError: there was none, or there is no such output.
        """
        if self._outputs is None:
            raise UsageError("nothing was computed yet", hint="call run() first")
        if not 0 <= index < len(self._outputs):
            raise UsageError(f"there is no output {index}; there are {len(self._outputs)}")
        return self._outputs[index] if out is None else self._outputs[index].copyto(out)

    def get_num_inputs(self) -> int:
        """How many inputs there are."""
        return len(self._names)

    def get_num_outputs(self) -> int:
        """How many outputs there are."""
        return len(self._executable.graph.outputs)

    def get_input_index(self, name: str) -> int:
        """The number of an input; -1, as in TVM, where there is none of the name."""
        if name in self._names:
            return self._names.index(name)
        found = [number for number, known in enumerate(self._names) if re.sub(r"\W", "_", known) == name]
        return found[0] if len(found) == 1 else -1

    def get_input_name(self, index: int) -> str:
        """The name of an input.

        Raises:
            InputError: there is no such input.
        """
        return self._names[self._number(index)]

    def _number(self, key: str | int) -> int:
        number = self.get_input_index(key) if isinstance(key, str) else key
        if not 0 <= number < len(self._names):
            hint = did_you_mean(key, self._names) if isinstance(key, str) else None
            raise InputError(f"there is no input '{key}'; inputs: {', '.join(self._names) or 'none'}", hint=hint)
        return number


class AotLibrary(Factory):
    """A program that is run as a whole. Counterpart of TVM's `AOTExecutorFactoryModule`.

    `library["default"](device)` gives an `AotModule`; `library["list_module_names"]()` the names by which there are.

    Args:
        graph: what was compiled.
        name: what the program is called.
        device_type: what runs it, as TVM calls it: `cpu`.
        source: what gives the text of the code, of a kind; none where it was loaded.
        threads: threads for a run; as many as there are processors, unless given.
    """

    type_key = "AotExecutorFactory"

    @checked
    def __init__(
        self,
        graph: CompiledGraph,
        name: str,
        device_type: str,
        source: Callable[[str], str] | None,
        threads: int | None = None,
    ):
        super().__init__(name, device_type, source)
        self.executable = Executable(graph, threads)
        """The program, as `weft.compile` gives it."""

    def named(self) -> Mapping[str, Callable[..., object]]:
        """TVM's names of functions of such a library, and its own."""
        own: dict[str, Callable[..., object]] = {
            self.libmod_name: self.create,
            "list_module_names": self.list_module_names,
            "get_params": self.get_params,
        }
        own[self.libmod_name] = self.create  # whatever it is called
        return own

    def pieces(self, name: str) -> list[Piece]:
        """What it has for a library that is called `name`."""
        beside = ProgramInterface(self.libmod_name, self.device_type).beside()
        return [Piece(self.executable.graph, name, beside)]

    def create(self, *devices: Device) -> AotModule:
        """A program with inputs and outputs of its own, on the devices of the target.

        Raises:
            UsageError: another device is given.
        """
        graph = self.executable.graph
        check_given(devices, self.device_type, *(each.name.partition(":")[0] for each in graph.devices))
        return AotModule(self.executable)

    def list_module_names(self) -> list[str]:
        """What programs there are in it, by name."""
        return [self.libmod_name]

    @property
    def params(self) -> Mapping[str, NDArray]:
        """The parameters that are to be set: none, for all are constants of the code."""
        return {}

    def get_params(self) -> Mapping[str, NDArray]:
        """The same."""
        return self.params

    @property
    def lib(self) -> AotLibrary:
        """The code: the library itself."""
        return self

    module = lib

    def get_lib(self) -> AotLibrary:
        """The code: the library itself."""
        return self
