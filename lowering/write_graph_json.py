"""Write a graph of kernels as TVM's graph JSON, with its constants as parameters.

The graph is bufferised in the order in which TVM runs it, reshapes lie where what they reshape lies, and each storage
of `plan-memory{strategy=tvm-greedy}` is one of the JSON's. So storages are those that TVM's own planner gives. A node
has the names of the model's layers as an attribute of its own, `layers`; one that only copies says so by `joins`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ..dialects.mem.core import AliasOp, AllocOp, CallOp, ConstantOp, CopyOp, PoolOp, buffer_type
from ..dialects.mem.graph import GraphOp
from ..dialects.relay.attributes import attribute_to_array
from ..dialects.relay.base import flatten_types, is_dynamic
from ..dialects.relay.core import FuncOp
from ..dialects.relay.devices import DEVICE_TYPES, VirtualDeviceAttr
from ..dialects.relay.scan import ScanOp
from ..dialects.support.advice import give_shapes
from ..dialects.support.diagnostics import Diagnostic
from ..dialects.support.dtypes import dtype_name
from ..transforms.infra.config import UNROLL_SCANS
from ..transforms.mem.elide_copies import ElideCopiesPass
from ..transforms.mem.plan_memory import PlanMemoryPass
from ..transforms.relay.outline_segments import deciding
from .abi import RUNNING_DEVICES
from .graph_json import BEGINS, COPY, CPU_TYPE, HELD, JOINS, LAYERS, NOP, GraphJson, Node, Ref
from .graph_to_memory.bufferize_graph import BufferizeGraphPass
from .graph_to_memory.signature import names_of, names_of_memory
from .read_steps import layers_of
from .relay_to_tir.divide_by_target import divide_by_target
from .relay_to_tir.external import Externals
from .relay_to_tir.place_calls import place_calls

if TYPE_CHECKING:
    from .abi import NDArray


def write_graph_json(module: ModuleOp) -> tuple[GraphJson, dict[str, NDArray], tuple[str, ...]]:
    """The graph of a module of phase `fuse`, its parameters, and the names of its outputs. The module stays as it is.

    Raises:
        Diagnostic: there is no graph, something in it is no kernel call, the JSON of a graph cannot say it, or the data
            of a constant is missing.
    """
    _check_is_said(module)
    planned = module.clone()
    place_calls(planned, RUNNING_DEVICES)
    divide_by_target(planned)
    (externals := Externals(planned)).lower_static()
    planned = BufferizeGraphPass(depth_first=True)(planned)
    planned = ElideCopiesPass(slices=False, concatenations=False, outputs=False)(planned)
    planned = PlanMemoryPass(strategy="tvm-greedy")(planned)
    graphs = [op for op in planned.ops if isinstance(op, GraphOp)]
    if not graphs:
        raise Diagnostic("there is no graph of kernels in the module", hint="graph JSON is written of the phase 'fuse'")
    graph = next((g for g in graphs if g.sym_name.data == "main"), graphs[0])
    writing = _Writing(graph, externals.names)
    return writing.run(), writing.params, names_of_memory(graph)[1]


def _check_is_said(module: ModuleOp) -> None:
    """
    Raises:
        Diagnostic: a function branches or calls, or has open extents, which TVM's graph JSON has no words for.
    """
    for func in [op for op in module.ops if isinstance(op, FuncOp) and not op.is_primitive]:
        if (op := deciding(func)) is not None:
            what = "branches or calls, and the JSON of a graph is a list of kernels that all run"
            raise Diagnostic.at(op, what, hint=_OTHERWISE)
        for argument, name in zip(func.body.block.args, names_of(func)[0], strict=False):
            if is_dynamic(argument.type):
                shape = "x".join(str(max(1, extent)) for extent in flatten_types([argument.type])[0].get_shape())
                what = f"argument {name} has an open extent, and the JSON of a graph says one shape of each tensor"
                raise Diagnostic.at(func, what, hint=f"{give_shapes(name, shape)}; or {_OTHERWISE}")
        for op in func.body.block.ops:
            if isinstance(op, ScanOp):
                what = "is a loop, and the JSON of a graph is a list of kernels"
                raise Diagnostic.at(op, what, hint=f"write its turns out ({UNROLL_SCANS}=true); or {_OTHERWISE}")
            if any(is_dynamic(result.type) for result in op.results):
                what = "data decides an extent of its result, and the JSON of a graph says one shape of each tensor"
                raise Diagnostic.at(op, what, hint=_OTHERWISE)


_OTHERWISE = "use the executor 'aot'"


@dataclass
class _Writing:
    """The writing of one graph."""

    graph: GraphOp
    externals: Collection[str]
    """The kernels of other compilers."""
    nodes: list[Node] = field(default_factory=list[Node])
    shapes: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    dtypes: list[str] = field(default_factory=list[str])
    storages: list[int] = field(default_factory=list[int])
    devices: list[int] = field(default_factory=list[int])
    refs: dict[SSAValue, Ref] = field(default_factory=dict[SSAValue, Ref])
    ids: dict[object, int] = field(default_factory=dict[object, int])
    params: dict[str, NDArray] = field(default_factory=dict[str, "NDArray"])
    constants: dict[tuple[Attribute, Attribute], SSAValue] = field(
        default_factory=dict[tuple[Attribute, Attribute], SSAValue]
    )
    """Values and types of buffers, which say the device -> the first constant that is so."""
    names: dict[str, int] = field(default_factory=dict[str, int])
    counts: Counter[str] = field(default_factory=Counter[str])
    device_ids: dict[str, int] = field(default_factory=dict[str, int])
    """Types of devices -> the number of the one that is used."""

    def run(self) -> GraphJson:
        inputs, _ = names_of_memory(self.graph)
        for value, name in zip(self.graph.inputs, inputs, strict=True):
            self.refs[value] = self._null(self._unique(name), value)
        heads: dict[SSAValue, Ref] = {}
        for op in self.graph.body.block.ops:
            match op:
                case PoolOp() | AllocOp():
                    pass
                case ConstantOp():
                    self.refs[op.result] = self._constant(op)
                case AliasOp():
                    self._node(op, "reshape_nop", NOP, [op.source], [op.result])
                case CallOp():
                    kernel = op.callee.root_reference.data
                    self._node(op, kernel, kernel, op.inputs, op.outputs)
                case CopyOp() if isinstance(op.target, BlockArgument) and len(op.sources) == 1:
                    heads[op.target] = self.refs[op.sources[0]]
                case CopyOp():
                    kernel = COPY if op.callee is None else op.callee.root_reference.data
                    self._node(op, kernel.strip("_"), kernel, op.sources, [op.target])
                case _:
                    raise Diagnostic.at(op, "has no place in the JSON of a graph")
        return GraphJson(
            tuple(self.nodes),
            tuple(heads[output] for output in self.graph.outputs),
            tuple(self.shapes),
            tuple(self.dtypes),
            tuple(self.storages),
            tuple(self.devices),
        )

    def _unique(self, name: str) -> str:
        """`x`, then `x_1`, `x_2`, ..."""
        while name in self.names:
            self.names[name] += 1
            name = f"{name}_{self.names[name]}"
        self.names[name] = 0
        return name

    def _null(self, name: str, value: SSAValue) -> Ref:
        self.nodes.append(Node(name))
        self._entry(value, value)
        return Ref(len(self.nodes) - 1)

    def _constant(self, op: ConstantOp) -> Ref:
        """The parameter that holds a constant; equal ones are one."""
        key = (op.value, buffer_type(op.result))
        if (known := self.constants.get(key)) is not None:
            return self.refs[known]
        array = attribute_to_array(op.value, flatten_types([op.type])[0])
        if array is None:
            hint = "keep the .weights.npz file beside the .mlir file"
            raise Diagnostic.at(op, f"the data of {op.value} was not loaded", hint=hint)
        family = self._family(op)
        name = self._unique(f"{family}{self.counts[family]}")
        self.counts[family] += 1
        self.params[name] = array
        self.constants[key] = op.result
        return self._null(name, op.result)

    def _family(self, op: ConstantOp) -> str:
        """What the name of a constant begins with, which is another one where only other compilers' kernels read it."""
        readers = [use.operation for use in op.result.uses]
        kernels = [each.callee.root_reference.data for each in readers if isinstance(each, CallOp)]
        if len(kernels) == len(readers) and kernels and all(kernel in self.externals for kernel in kernels):
            return kernels[0] + HELD
        return "p"

    def _node(
        self, op: Operation, name: str, kernel: str, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]
    ) -> None:
        read = tuple(self.refs[value] for value in inputs)
        number = len(self.nodes)
        layers = " + ".join(layers_of(op.location))
        attributes = {LAYERS: layers} if layers else {}
        if isinstance(op, CopyOp) and op.callee is not None:
            attributes |= {JOINS: "1"} if op.offset is None else {BEGINS: str(op.offset.value.data)}
        self.nodes.append(Node(self._unique(name), kernel, read, len(outputs), attributes=attributes))
        for index, value in enumerate(outputs):
            self.refs[value] = Ref(number, index)
            self._entry(value, self._storage(value))

    def _entry(self, value: SSAValue, storage: object) -> None:
        """What is known of the next entry."""
        type = buffer_type(value)
        self.shapes.append(tuple(type.get_shape()))
        self.dtypes.append(dtype_name(type.element_type))
        self.devices.append(self._device_type(value, type.memory_space))
        self.storages.append(self.ids.setdefault(storage, len(self.ids)))

    def _device_type(self, value: SSAValue, space: Attribute) -> int:
        if not isinstance(space, VirtualDeviceAttr):
            return CPU_TYPE
        type, number = space.data.type or "cpu", space.data.id or 0
        if self.device_ids.setdefault(type, number) != number:
            what = f"a value is on {type}:{number}, and another on {type}:{self.device_ids[type]}: the JSON of a graph"
            op = value.owner if isinstance(value.owner, Operation) else self.graph
            raise Diagnostic.at(op, f"{what} says types of devices alone", hint=_OTHERWISE)
        return DEVICE_TYPES[type]

    def _storage(self, value: SSAValue) -> object:
        """What stands for the storage of a value: its pool, or the input or constant that it is."""
        while isinstance(alias := value.owner, AliasOp):
            value = alias.source
        match value.owner:
            case AllocOp(pool=pool) if pool is not None:
                return pool
            case ConstantOp() as constant:
                return self.constants[constant.value, buffer_type(constant.result)]
            case _:
                return value
