"""Weft as a backend of ONNX (`onnx.backend.base`), so that ONNX's own tests and its users drive it.

    import weft.frontend.onnx_backend as backend
    outputs = backend.prepare(model).run([x])

A program of Weft has no sequences and no optional values: how many tensors of which shapes an input has is known when
it is compiled. A model with such inputs is compiled when it is first run on others than before.

The module itself is the backend: it has `prepare`, `run_model`, `run_node` and `supports_device`, as
`onnx.backend.test.BackendTest` expects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

import numpy as np
import onnx
from onnx.backend.base import Backend, BackendRep

from ..dialects.support.diagnostics import Diagnostic
from .onnx import from_onnx
from .onnx.sequences import is_open
from .onnx.signature import Shapes

if TYPE_CHECKING:
    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.generic]

Value: TypeAlias = "NDArray | Sequence[NDArray] | None"
"""A tensor, a sequence of them, or an optional value that is not there."""

Inputs: TypeAlias = "Sequence[Value] | Mapping[str, Value] | NDArray"
Outputs: TypeAlias = "tuple[NDArray | list[NDArray], ...]"


class Executable(Protocol):
    """What `weft.compile` gives."""

    def run(self, inputs: Mapping[str, NDArray], /) -> Mapping[str, NDArray]: ...


class WeftRep(BackendRep):
    """A compiled model, ready to be run many times."""

    def __init__(self, executable: Executable, input_names: Sequence[str], output_names: Sequence[str]):
        self.executable = executable
        self.input_names = tuple(input_names)
        self.output_names = tuple(output_names)

    def run(self, inputs: Inputs, **kwargs: object) -> Outputs:
        """Run the model on its inputs, in order or by name.

        Raises:
            Diagnostic: an input is missing, or has another shape or dtype than the model takes.
        """
        return self._outputs(self.executable.run(cast("Mapping[str, NDArray]", _named(inputs, self.input_names))))

    def _outputs(self, outputs: Mapping[str, NDArray]) -> Outputs:
        return tuple(_output(outputs, name) for name in self.output_names)


class OpenRep(WeftRep):
    """A model of which inputs are sequences or optional: a program for each number of tensors and their shapes."""

    def __init__(
        self,
        program: Callable[[Shapes], Executable],
        open_names: Sequence[str],
        input_names: Sequence[str],
        output_names: Sequence[str],
    ):
        self._program = program
        self._open_names = tuple(open_names)
        self._programs: dict[str, Executable] = {}
        self.input_names = tuple(input_names)
        self.output_names = tuple(output_names)

    def run(self, inputs: Inputs, **kwargs: object) -> Outputs:
        """Run the model on its inputs, in order or by name; a list is a sequence, `None` what is not there.

        Raises:
            Diagnostic: the model cannot be compiled for such inputs, or one is missing or does not fit it.
        """
        given = _named(inputs, self.input_names)
        shapes = {name: _shape(given.get(name)) for name in self._open_names}
        key = repr(shapes)
        if key not in self._programs:
            self._programs[key] = self._program(shapes)
        flat: dict[str, NDArray] = {}
        for name, value in given.items():
            if isinstance(value, list | tuple):
                flat |= {f"{name}.{i}": each for i, each in enumerate(value)}
            elif value is not None:
                flat[name] = cast("NDArray", value)
        return self._outputs(self._programs[key].run(flat))


def _shape(value: Value) -> Sequence[int] | Sequence[Sequence[int]] | None:
    """What `shapes` of an importer has for a value."""
    if isinstance(value, list | tuple):
        return [list(np.shape(each)) for each in value]
    return None if value is None else list(np.shape(cast("NDArray", value)))


def _output(outputs: Mapping[str, NDArray], name: str) -> NDArray | list[NDArray]:
    """An output of a model; a sequence is the list of its tensors, which are numbered."""
    if name in outputs:
        return outputs[name]
    return [outputs[each] for i in range(len(outputs)) if (each := f"{name}.{i}") in outputs]


def _named(inputs: Inputs, names: Sequence[str]) -> Mapping[str, Value]:
    """The inputs of a model by name."""
    if isinstance(inputs, Mapping):
        return inputs
    arrays = [inputs] if isinstance(inputs, np.ndarray) else inputs
    if len(arrays) != len(names):
        raise Diagnostic(f"{len(arrays)} inputs, but there are {len(names)}: {', '.join(names)}")
    return dict(zip(names, arrays, strict=True))


class WeftBackend(Backend):
    """`onnx.backend.base.Backend` on the CPU."""

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: object) -> WeftRep:
        """Compile a model.

        Raises:
            Diagnostic: the model cannot be imported or compiled.
            ValueError: there is no such device.
        """
        from weft.compiler import compile  # the one import upward: this module is used from outside, like weft itself

        if not cls.supports_device(device):
            raise ValueError(f"weft compiles for the device CPU, not {device}")
        weights = {tensor.name for tensor in model.graph.initializer}
        inputs = [value for value in model.graph.input if value.name not in weights]
        names, output_names = [value.name for value in inputs], [value.name for value in model.graph.output]
        if open_names := [value.name for value in inputs if is_open(value.type)]:
            return OpenRep(lambda shapes: compile(from_onnx(model, shapes)), open_names, names, output_names)
        return WeftRep(compile(model), names, output_names)

    @classmethod
    def run_model(cls, model: onnx.ModelProto, inputs: Inputs, device: str = "CPU", **kwargs: object) -> Outputs:
        """Compile a model and run it once."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Sequence[NDArray] | Mapping[str, NDArray] | NDArray,
        device: str = "CPU",
        outputs_info: Sequence[tuple[np.dtype[np.generic], tuple[int, ...]]] | None = None,
        **kwargs: object,
    ) -> Outputs:
        """Compile and run a single node; `opset_version` in `kwargs` says which revision of its operator is meant."""
        named = cast("Mapping[str, NDArray]", _named(inputs, [name for name in node.input if name]))
        make = onnx.helper.make_tensor_value_info
        code = onnx.helper.np_dtype_to_tensor_dtype
        values = [make(name, code(x.dtype), x.shape) for name, x in named.items()]
        names = [name for name in node.output if name]
        results = (
            [onnx.helper.make_value_info(name, onnx.TypeProto()) for name in names]
            if outputs_info is None
            else [make(n, code(dtype), shape) for n, (dtype, shape) in zip(names, outputs_info, strict=False)]
        )
        opset = kwargs.get("opset_version")
        imports = [onnx.helper.make_opsetid("", opset)] if isinstance(opset, int) else None
        graph = onnx.helper.make_graph([node], node.op_type, values, results)
        return cls.prepare(onnx.helper.make_model(graph, opset_imports=imports), device).run(named)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Weft compiles for the CPU."""
        return device.split(":")[0] == "CPU"


prepare = WeftBackend.prepare
run_model = WeftBackend.run_model
run_node = WeftBackend.run_node
supports_device = WeftBackend.supports_device
