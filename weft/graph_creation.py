"""Graphs put together of their JSON and a library: `weft.graph_executor.create`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .dialects.relay.devices import VirtualDevice
from .dialects.support.arguments import checked
from .dialects.support.given_devices import check_given
from .lowering.graph_json import GraphJson
from .runtime.graph_executor import GraphModule

if TYPE_CHECKING:
    import numpy.typing as npt

    from .lowering.abi import CompiledGraph
    from .runtime.executable import Executable
    from .runtime.graph_library import Library
    from .runtime.module import Module
    from .runtime.system_library import SystemLibrary


@checked
def create(
    graph_json_str: GraphJson | str,
    libmod: Library | Executable | CompiledGraph | Module | SystemLibrary | str | os.PathLike[str],
    device: VirtualDevice | Sequence[VirtualDevice] | None = None,
    *,
    params: Mapping[str, npt.ArrayLike] | None = None,
    threads: int | None = None,
    output_names: Sequence[str] | None = None,
) -> GraphModule:
    """A graph to run, of its JSON and a library of its kernels, on its devices; the rest is as for `GraphModule`.

        graph_json, library, params = relay.build(module, params=params)
        graph = weft.graph_executor.create(graph_json, library, weft.cpu())
        graph.set_input(**params)

    Parameters that the library holds for this graph, constants of other compilers' kernels too, are set already.

    Raises:
        UsageError: another device is given.
        GraphJsonError: the text is not the JSON of a graph.
        Diagnostic: a kernel is not in the library, or takes something else.
    """
    from .runtime.graph_library import Library
    from .runtime.system_library import SystemLibrary

    kernels = libmod.kernels if isinstance(libmod, Library) else libmod
    if isinstance(kernels, SystemLibrary):
        kernels = kernels.kernels()
    graph = GraphJson.parse(graph_json_str) if isinstance(graph_json_str, str) else graph_json_str
    if isinstance(libmod, Library) and libmod.graph == graph:
        params = {**libmod.values, **(params or {})}
    module = GraphModule(graph, kernels, params, threads, output_names)
    check_given(device, *module.device_types)
    return module
