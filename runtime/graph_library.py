"""What `relay.build` gives, and `load_module` of what was exported of it: a graph, its kernels and its parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING

from ..dialects.support.arguments import checked
from ..dialects.support.diagnostics import UsageError
from ..dialects.support.given_devices import Device, check_given
from ..dialects.support.nd import as_nd
from ..lowering.abi import CompiledGraph
from ..lowering.graph_json import GraphJson
from .graph_executor import GraphModule
from .library.exporting import Factory
from .library.interfaces import GraphInterface, Piece
from .module import Function

if TYPE_CHECKING:
    from ..lowering.abi import NDArray


class Library(Factory):
    """Kernels, the graph that calls them, and its constants. Counterpart of TVM's `GraphExecutorFactoryModule`.

    It unpacks as `graph_json, library, params = relay.build(...)`, and has functions by the names that TVM's has:
    `library["default"]`, `["get_graph_json"]`, `["get_graph_params"]`, `["remove_params"]`, `["debug_create"]`. Of
    functions that were exported with it, one has those too, by their names.

    Args:
        graph: the graph, as what runs it says it.
        kernels: what was compiled.
        params: values of inputs that are weights, by name.
        outputs: what `run` calls the outputs.
        name: what the graph is called.
        device_type: what runs the kernels, as TVM calls it: `cpu`.
        source: what gives the text of the code, of a kind; none where it was loaded.
        threads: threads for each kernel; as many as there are processors, unless given.
        functions: others, by name.
    """

    type_key = "GraphExecutorFactory"

    @checked
    def __init__(
        self,
        graph: GraphJson,
        kernels: CompiledGraph,
        params: Mapping[str, NDArray],
        outputs: Sequence[str],
        name: str,
        device_type: str,
        source: Callable[[str], str] | None,
        threads: int | None = None,
        functions: Mapping[str, Function] | None = None,
    ):
        super().__init__(name, device_type, source)
        self._graph, self._params, self._outputs = graph, dict(params), tuple(outputs)
        self.kernels = kernels
        """What was compiled, for a graph to be put together with."""
        self._threads = threads
        self.functions = dict(functions or {})
        """Functions that were exported with it, by name."""

    def named(self) -> Mapping[str, Callable[..., object]]:
        """TVM's names of functions of such a library, its own, and those of functions that were exported with it."""
        own: dict[str, Callable[..., object]] = {
            self.libmod_name: self.create,
            "get_graph_json": self.get_graph_json,
            "get_graph_params": self.get_params,
            "remove_params": self.remove_params,
            "debug_create": self.debug_create,
        }
        own[self.libmod_name] = self.create  # whatever it is called
        return own | {name: each for name, each in self.functions.items() if name not in own}

    def pieces(self, name: str) -> list[Piece]:
        """What it has for a library that is called `name`: its graph under this name, and functions under their own."""
        interface = GraphInterface(self.libmod_name, self.device_type, self.graph_json, self._outputs, self._params)
        own = Piece(self.kernels, name, interface.beside(self.kernels))
        return [own, *(function.piece() for function in self.functions.values())]

    def create(self, *devices: Device) -> GraphModule:
        """A graph to run, on memory of its own, and on the devices of the target.

        Raises:
            UsageError: another device is given.
        """
        check_given(devices, self.device_type, *(each.name.partition(":")[0] for each in self.kernels.devices))
        return GraphModule(self._graph, self.kernels, self._params, self._threads, self._outputs)

    def debug_create(self, name: str, *devices: Device) -> GraphModule:
        """The same, by the name of the graph: what runs has `run_debug` and `profile` anyway.

        Raises:
            UsageError: another name or device is given.
        """
        if name != self.libmod_name:
            raise UsageError(f"the library is called '{self.libmod_name}', not '{name}'")
        return self.create(*devices)

    def remove_params(self) -> Library:
        """The library without its parameters, which whoever runs it sets, with `load_params`. The constants that its
        code reads, where it is run as a whole, and those of other compilers' kernels remain."""
        bare = copy(self)
        held = self._graph.held
        bare._params = {name: value for name, value in self._params.items() if name in held}
        bare._imports = list(self._imports)
        return bare

    @property
    def graph(self) -> GraphJson:
        """The graph, as what runs it says it."""
        return self._graph

    @property
    def graph_json(self) -> str:
        """The graph as TVM writes it."""
        return self._graph.text()

    @property
    def params(self) -> dict[str, NDArray]:
        """The constants of the graph, by name. Those of other compilers' kernels are none of them: the library holds
        them."""
        held = self._graph.held
        return {name: as_nd(value) for name, value in self._params.items() if name not in held}

    @property
    def values(self) -> Mapping[str, NDArray]:
        """All that the graph takes besides what is set for each run: its parameters, and the constants of other
        compilers' kernels."""
        return self._params

    @property
    def lib(self) -> Library:
        """The kernels: the library itself."""
        return self

    @property
    def module(self) -> Library:
        """The library itself."""
        return self

    def get_lib(self) -> Library:
        """The kernels: the library itself."""
        return self

    def get_graph_json(self) -> str:
        """The graph as TVM writes it."""
        return self.graph_json

    get_executor_config = get_graph_json

    def get_params(self) -> dict[str, NDArray]:
        """The constants of the graph, by name."""
        return self.params

    def __iter__(self) -> Iterator[object]:
        return iter((self.graph_json, self, self.params))
