"""One `tir.prim_func`, compiled for a GPU by itself: run on arrays of whatever sizes its symbols have.

The arrays are the host's: they are copied to the GPU before a run, and what the function writes is copied back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType, ModuleOp, StringAttr

from .dialects.support.diagnostics import Diagnostic
from .dialects.support.dtypes import byte_width
from .dialects.support.hints import isa
from .dialects.tir.core import PrimFuncOp
from .dialects.tir.functions import TARGET
from .dialects.tir.symbols import with_sizes
from .kernel import lower_loops
from .lowering.check_sites import CHECKS
from .lowering.compiler import lower
from .lowering.loops_to_llvm.gpu import declared_launcher
from .lowering.machine.target import Target
from .lowering.prim_func_graph import written_arguments
from .lowering.tir_to_gpu.device_code import device_code, device_text
from .lowering.tir_to_loops.convert_tir_to_loops import workspace_shapes
from .runtime.devices import device_by_name
from .runtime.memory import address

if TYPE_CHECKING:
    from .lowering.abi import NDArray


class GPUKernel:
    """A `tir.prim_func` whose loops are bound to blocks and threads, compiled for the GPU of a target.

    Raises:
        Diagnostic: the function is not valid, or something in it cannot be lowered.
    """

    def __init__(self, prim_func: PrimFuncOp, target: Target):
        assert target.gpu is not None
        self.function = prim_func.clone()
        self.function.verify()
        name = prim_func.sym_name.data
        marked = self.function.clone()
        marked.attributes[TARGET] = StringAttr("cuda")
        module = ModuleOp([marked])
        lower(module, target, "loops", "schedule")
        lowered = next(f for f in module.ops if isinstance(f, func.FuncOp) and f.sym_name.data == name)
        if CHECKS in lowered.attributes:
            what = f"@{name} makes checks while it runs, of which a kernel by itself cannot tell"
            raise Diagnostic.at(prim_func, what, hint="let a graph call it, and compile that")
        types = lowered.function_type.inputs.data[len(prim_func.region.block.args) :]
        widths = [byte_width(type.element_type) for type in types if isa(type, MemRefType)]
        self._workspaces = list(zip(widths, workspace_shapes(lowered, types), strict=True))
        self._written = written_arguments(self.function)
        launcher = declared_launcher(lowered)
        lower_loops(module, target)
        module.body.block.add_op(launcher)  # which nothing calls, so that it has gone
        self.code = device_code(name, module, target.gpu)
        self.source: Mapping[str, str] = {"ll": device_text(module), "ptx": self.code.source}

    def update(self, buffers: Sequence[NDArray], sizes: Mapping[int, int]) -> None:
        """Run on arrays for all buffers, dense, of which what the function writes is written over; `sizes` are those
        of all symbols, by number. Nothing is checked.

        Raises:
            CudaError: there is no GPU, or a launch is larger than one takes.
            NotEnoughMemory: the GPU has not so much.
        """
        device = device_by_name("cuda:0")
        with ExitStack() as held:

            def allocated(size: int) -> tuple[int, int]:
                place = device.allocate(size)
                held.callback(device.free, place)
                return place, size

            places = [allocated(array.nbytes) for array in buffers]
            for array, (place, size) in zip(buffers, places, strict=True):
                device.write(address(array), place, size)
            arguments: list[tuple[int, int | None]] = [*places]
            arguments += [(sizes[n], None) for n in range(len(buffers), len(self.function.region.block.args))]
            for width, shape in self._workspaces:
                count = prod(max(0, with_sizes(extent, sizes).eval([], [])) for extent in shape)
                arguments.append(allocated(width * count))
            device.launch_code(self.code, arguments)
            for number in self._written:
                place, size = places[number]
                device.read(place, address(buffers[number]), size)
