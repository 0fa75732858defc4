"""Recorded programs with devices as modules, and where plan-devices has put what is in them.

A record's `let` is SSA: the variable is the value, and a note that it binds constrains both sides, as TVM's first phase
makes it. A note that is the result of a function by way of a `let` leaves the function's result free in TVM, unlike one
that is the result itself; in SSA a note that allows a copy says so. A node stands in the innermost function or branch
around all that uses it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias, cast

from oracle_records import Graph, Json, Node, Record, graph_of
from oracle_relay import ID, TRUE, operation, type_of
from xdsl.dialects.builtin import ArrayAttr, FunctionType, IntegerAttr, MemRefType, ModuleOp, StringAttr, f32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.parser import Parser

from weft.dialects.relay.control import ApplyOp, FnOp, IfOp, RefCreateOp, RefReadOp, RefWriteOp
from weft.dialects.relay.core import CallLoweredOp, CallOp, FuncOp, ReturnOp, TupleGetOp, YieldOp
from weft.dialects.relay.devices import (
    DEVICES,
    FREE,
    PARAMETER_DEVICES,
    RESULT_DEVICES,
    VirtualDevice,
    VirtualDeviceAttr,
)
from weft.dialects.relay.ops.annotation import DeviceCopyOp, OnDeviceOp
from weft.dialects.relay.vm import AllocStorageOp, AllocTensorOp, ReshapeTensorOp, ShapeOfOp, StorageType
from weft.transforms.infra.registry import new_ir_context
from weft.transforms.infra.walk import walk
from weft.transforms.relay.device_planning.planned import planned_devices

Scope: TypeAlias = tuple[str, int]
TARGETS = {"cpu": "llvm", "cuda": "cuda", "opencl": "opencl"}
ROOT: Scope = ("main", -1)


def device_of_text(text: Json) -> VirtualDevice:
    """`cuda`, `cpu@scope`, `@scope`, or nothing."""
    if text is None:
        return FREE
    type, _, scope = cast(str, text).partition("@")
    return VirtualDevice(type or None, 0 if type else None, None, scope or None)


def text_of_device(device: VirtualDevice) -> str:
    return (device.type or "") + (f"@{device.memory_scope}" if device.memory_scope else "")


@dataclass
class Program:
    """A record's graph of one function."""

    name: str
    graph: Graph
    raw: Mapping[int, Mapping[str, Json]]
    result_device: Json
    values: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])
    bound: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])
    """Note -> what a `let` binds, which is that note with both sides constrained."""

    @staticmethod
    def of(name: str, graph: Json) -> Program:
        fields = cast("Mapping[str, Json]", graph)
        raw = {cast(int, n["id"]): n for n in cast("Sequence[Mapping[str, Json]]", fields["nodes"])}
        return Program(name, graph_of({"graph": graph}), raw, fields.get("result_device"))

    @cached_property
    def nodes(self) -> dict[int, Node]:
        return {node.id: node for node in self.graph.nodes}

    @cached_property
    def aliases(self) -> dict[int, int]:
        """Variable -> what it is bound to; `let` -> its body."""
        lets = [node.inputs for node in self.graph.nodes if node.op == "let"]
        bodies = {node.id: node.inputs[2] for node in self.graph.nodes if node.op == "let"}
        return {var: value for var, value, _ in lets} | bodies

    def resolve(self, node: int) -> int:
        """The node that is what `node` stands for."""
        while node in self.aliases:
            node = self.aliases[node]
        return node

    def source(self, node: int) -> int:
        """The same, notes and copies seen through."""
        while (found := self.nodes[self.resolve(node)]).op in ("on_device", "device_copy"):
            node = found.inputs[0]
        return found.id

    def callee(self, node: Node) -> int:
        return cast(int, self.raw[node.id]["callee"])

    def params(self, node: Node) -> Sequence[int]:
        return cast("Sequence[int]", self.raw[node.id]["params"])

    def body(self, node: Node) -> int:
        return cast(int, self.raw[node.id]["body"])

    @cached_property
    def bound_notes(self) -> dict[int, bool]:
        """The notes, constraining their operands only, that a `let` binds, and fields of what they note, since a
        field is taken first and then noted; and whether others use them as well."""
        bound = [self.nodes[node.inputs[1]] for node in self.graph.nodes if node.op == "let"]
        used = {self.graph.output}
        for node in self.graph.nodes:
            used.update(node.inputs[::2][1:] if node.op == "let" else (*node.inputs, *node.inner[-1:]))

        def is_normal(node: Node) -> bool:
            if node.op == "tuple_getitem":
                return self.nodes[node.inputs[0]].op == "on_device" and is_normal(self.nodes[node.inputs[0]])
            flags = (node.attrs.get("constrain_body"), node.attrs.get("constrain_result"))
            return node.op == "on_device" and flags == (1, 0)

        return {node.id: node.id in used for node in bound if is_normal(node)}

    @cached_property
    def scopes(self) -> dict[Scope, list[Node]]:
        """The nodes of each region, in the order of their ids."""
        parent: dict[Scope, Scope] = {}
        uses: dict[int, list[Scope]] = {self.graph.output: [ROOT]}
        inside: dict[Scope, list[Node]] = {ROOT: []}

        def chain(scope: Scope) -> list[Scope]:
            found = [scope]
            while found[-1] in parent:
                found.append(parent[found[-1]])
            return found[::-1]

        for node in reversed(self.graph.nodes):
            chains = [chain(scope) for scope in uses.get(node.id, [ROOT])]
            home = [level[0] for level in zip(*chains, strict=False) if len(set(level)) == 1][-1]
            inside[home].append(node)
            used: list[tuple[int, Scope]] = []
            match node.op:
                case "if":
                    cond, *branches = node.inputs
                    used.append((cond, home))
                    used += [(branch, (arm, node.id)) for branch, arm in zip(branches, ("then", "else"), strict=True)]
                case "function":
                    used.append((self.body(node), ("fn", node.id)))
                case "let":
                    used += [(node.inputs[1], home), (node.inputs[2], home)]
                case "call":
                    used += [(i, home) for i in (self.callee(node), *node.inputs)]
                case _:
                    used += [(i, home) for i in node.inputs]
            for value, scope in used:
                if scope != home:
                    parent[scope] = home
                    inside.setdefault(scope, [])
                uses.setdefault(value, []).append(scope)
                if value in self.aliases and self.nodes[value].op == "var":
                    uses.setdefault(self.aliases[value], []).append(scope)
        return {scope: nodes[::-1] for scope, nodes in inside.items()}

    # Types.

    def type(self, i: int) -> Attribute:
        node = self.nodes[self.resolve(i)]
        raw = self.raw[node.id]
        if node.dtype == "FuncType":
            return self.function_type(node)
        if node.dtype == "TypeCall":
            return StorageType()
        if node.dtype == "RelayRefType":
            return RefCreateOp(self.values[self.resolve(node.inputs[0])]).result.type
        assert raw is not None
        return type_of(node)

    def function_type(self, node: Node) -> FunctionType:
        if node.op == "function":
            inputs = [self.type(i) for i in self.params(node)]
            return FunctionType.from_lists(inputs, [self.type(self.body(node))])
        if node.op == "call":
            called = self.function_type(self.nodes[self.resolve(self.callee(node))])
            (result,) = called.outputs.data
            assert isinstance(result, FunctionType)
            return result
        if node.op in ("on_device", "if"):
            return self.function_type(self.nodes[self.resolve(node.inputs[-1])])
        call = next(
            n for n in self.graph.nodes if n.op == "call" and self.callee(n) in (node.id, *self._names_of(node.id))
        )
        return FunctionType.from_lists([self.type(i) for i in call.inputs], [self.type(call.id)])

    def _names_of(self, value: int) -> list[int]:
        return [name for name in self.aliases if self.resolve(name) == value]

    # Operations.

    def value(self, i: int) -> SSAValue:
        while i in self.aliases:
            is_bound, i = self.nodes[i].op == "var", self.aliases[i]
            if is_bound and i in self.bound:
                return self.bound[i]
        return self.values[i]

    def emit(self, scope: Scope, block: Block) -> None:
        for node in self.scopes[scope]:
            if node.op in ("var", "let", "global_var") or node.id in self.values or self._is_argument_tuple(node):
                continue
            if node.op == "on_device" and self.nodes[node.inputs[0]].op == "ref_write":
                continue  # an effect is no value
            op = self.make(node)
            op.attributes[ID] = IntegerAttr(node.id, 64)
            block.add_op(op)
            if op.results:
                self.values[node.id] = op.results[0]
            if node.id in self.bound_notes:
                self.bound[node.id] = self.bind(op, block)
                if not self.bound_notes[node.id]:
                    op.detach()
                    op.erase()

    def bind(self, op: Operation, block: Block) -> SSAValue:
        """What a `let` binds where its value is the note or the field `op`."""
        note = op.tuple.owner if isinstance(op, TupleGetOp) else op
        assert isinstance(note, OnDeviceOp)
        value = note.body
        if isinstance(op, TupleGetOp):
            block.add_op(field := TupleGetOp(value, op.index.value.data))
            field.attributes |= op.attributes
            value = field.result
        block.add_op(bound := OnDeviceOp(value, **(note.properties | {"constrain_result": TRUE})))
        return bound.result

    def _is_argument_tuple(self, node: Node) -> bool:
        return node.op == "tuple" and any(n.op == "call_lowered" and node.id in n.inputs for n in self.graph.nodes)

    def region(self, scope: Scope, result: int, block: Block) -> Region:
        self.emit(scope, block)
        block.add_op(YieldOp(self.freed(result, block) if scope[0] == "fn" else self.value(result)))
        return Region(block)

    def freed(self, result: int, block: Block) -> SSAValue:
        """The result of a function."""
        value = self.value(result)
        if self.nodes[result].op != "let":
            return value
        while (body := self.nodes[result]).op == "let":
            result = body.inputs[2]
        while body.op == "tuple_getitem":  # a field of what is noted is taken first
            body = self.nodes[self.resolve(body.inputs[0])]
        if body.op == "on_device" and not body.attrs["constrain_result"]:
            block.add_op(free := OnDeviceOp(value, constrain_body=False, constrain_result=False))
            return free.result
        return value

    def make(self, node: Node) -> Operation:
        def device(name: str) -> VirtualDeviceAttr:
            return VirtualDeviceAttr(device_of_text(node.attrs[name]))

        match node.op:
            case "on_device":
                return OnDeviceOp(
                    self.value(node.inputs[0]),
                    virtual_device=None if node.attrs["virtual_device"] is None else device("virtual_device"),
                    constrain_body=bool(node.attrs["constrain_body"]),
                    constrain_result=bool(node.attrs["constrain_result"]),
                )
            case "device_copy":
                source, destination = device("src_virtual_device"), device("dst_virtual_device")
                value = self.value(node.inputs[0])
                return DeviceCopyOp(value, src_virtual_device=source, dst_virtual_device=destination)
            case "if":
                cond, then, otherwise = node.inputs
                arms = [self.region((arm, node.id), i, Block()) for arm, i in (("then", then), ("else", otherwise))]
                return IfOp(self.value(cond), [self.value(then).type], *arms)
            case "function":
                return self.make_function(node)
            case "call":
                values = [self.value(i) for i in node.inputs]
                callee = self.nodes[self.resolve(self.callee(node))]
                if callee.op == "global_var":
                    return CallOp(cast(str, self.raw[callee.id]["name"]), values, [self.type(node.id)])
                return ApplyOp(self.value(callee.id), values)
            case "call_lowered":
                kernel, operands = node.inputs
                values = [self.value(i) for i in self.nodes[operands].inputs]
                return CallLoweredOp(cast(str, self.raw[kernel]["name"]), values, [self.type(node.id)])
            case "ref_create":
                return RefCreateOp(self.value(node.inputs[0]))
            case "ref_read":
                return RefReadOp(self.value(node.inputs[0]))
            case "ref_write":
                return RefWriteOp(*(self.value(i) for i in node.inputs))
            case "vm.shape_of":
                return ShapeOfOp.create(operands=[self.value(node.inputs[0])], result_types=[self.type(node.id)])
            case "vm.reshape_tensor":
                operands_ = [self.value(i) for i in node.inputs]
                return ReshapeTensorOp.create(operands=operands_, result_types=[self.type(node.id)])
            case "memory.alloc_tensor":
                operands_ = [self.value(i) for i in node.inputs]
                return AllocTensorOp.create(operands=operands_, result_types=[self.type(node.id)])
            case "memory.alloc_storage":
                properties: dict[str, Attribute] = {"virtual_device": device("virtual_device")}
                return AllocStorageOp.create(
                    operands=[self.value(i) for i in node.inputs],
                    result_types=[StorageType()],
                    properties=properties | {"dtype": StringAttr(cast(str, node.attrs["dtype"]))},
                )
            case _:
                return operation(node, [self.value(i) for i in node.inputs])

    def make_function(self, node: Node) -> FnOp:
        params = self.params(node)
        block = Block(arg_types=[self.type(i) for i in params])
        self.values.update(zip(params, block.args, strict=True))
        region = self.region(("fn", node.id), self.body(node), block)
        op = FnOp(self.function_type(node), region)
        if self.raw[node.id].get("primitive"):
            op.attributes["primitive"] = IntegerAttr(1, i64)
        self.annotate(op, params, self.raw[node.id].get("virtual_device"))
        return op

    def annotate(self, op: Operation, params: Sequence[int], result: Json) -> None:
        given = [self.raw[i].get("virtual_device") for i in params]
        if any(text is not None for text in given):
            op.attributes[PARAMETER_DEVICES] = ArrayAttr([VirtualDeviceAttr(device_of_text(t)) for t in given])
        if result is not None:
            op.attributes[RESULT_DEVICES] = ArrayAttr([VirtualDeviceAttr(device_of_text(result))])

    def build(self) -> FuncOp:
        self.values, self.bound = {}, {}
        params = self.graph.params
        types = [self.type(i) for i in params]
        block = Block(arg_types=types)
        self.values.update(zip(params, block.args, strict=True))
        self.emit(ROOT, block)
        result = self.freed(self.graph.output, block)
        block.add_op(ReturnOp(result))
        func = FuncOp(self.name, FunctionType.from_lists(types, [result.type]), Region(block))
        self.annotate(func, params, self.result_device)
        return func


@dataclass
class Recorded:
    """A record of plan-devices."""

    record: Record

    @cached_property
    def programs(self) -> dict[str, Program]:
        graphs = cast("Mapping[str, Json]", self.record["input"])
        return {name: Program.of(name, graph) for name, graph in graphs.items()}

    @property
    def is_described(self) -> bool:
        """Whether the record describes the program; that with data types is text only."""
        return isinstance(self.record.get("input"), dict)

    @property
    def is_refused(self) -> bool:
        return "error" in self.record

    @property
    def is_clean(self) -> bool:
        nested, consistent = self.record.get("nested_on_device", False), self.record.get("output_consistent", True)
        return not self.is_refused and not nested and bool(consistent)

    @property
    def default(self) -> str:
        return cast(str, self.record["default"])

    def module(self) -> ModuleOp:
        listed = [VirtualDevice(t, None, TARGETS[t]) for t in cast("Sequence[str]", self.record["targets"])]
        functions = [program.build() for program in self.programs.values()]
        module = ModuleOp([*self._kernels(), *functions])
        module.attributes[DEVICES] = ArrayAttr([VirtualDeviceAttr(device) for device in listed])
        return module

    def _kernels(self) -> Iterator[Operation]:
        """The kernels that the text of a record defines: as many matrices in memory scopes as it says."""
        text = cast(str, self.record.get("text_in", ""))
        for name, buffers in re.findall(r"@(\w+) = primfn\(.*?buffers = \{(.*?)\}\n", text, re.DOTALL):
            scopes = re.findall(r"Pointer\((?:(\w+) )?float32\)", buffers)
            spaces = [StringAttr(scope) if scope else None for scope in scopes]
            yield _kernel(name, [_matrix(space) for space in spaces])

    # What TVM made of it.

    def summary(self, name: str) -> Mapping[str, Json]:
        return cast("Mapping[str, Mapping[str, Json]]", self.record["summary"])[name]

    def expected_copies(self, name: str) -> set[tuple[int, tuple[tuple[str, str], ...]]]:
        """Each value that is copied, and from where to where to where, the last copy first."""
        program = self.programs[name]
        copies = cast("Sequence[Mapping[str, Json]]", self.summary(name)["copies"])
        return {
            (
                program.source(cast(int, copy["value"])),
                tuple(
                    (cast(str, source), cast(str, destination))
                    for _, source, destination in cast("Sequence[Sequence[Json]]", copy["chain_outer_first"])
                ),
            )
            for copy in copies
        }

    def expected_devices(self, name: str) -> dict[int, str]:
        """Where TVM has put the operations and arguments of a function."""
        program = self.programs[name]
        devices = cast("Mapping[str, str | None]", self.summary(name)["device_of_input_node"])
        return {
            int(i): device
            for i, device in devices.items()
            if device is not None and int(i) not in program.aliases and program.nodes[int(i)].op != "global_var"
        }


def _kernel(name: str, types: Sequence[MemRefType]) -> Operation:
    """A kernel on matrices that copies the first to the last: what TVM's computes is nothing to the plan."""
    arguments = ", ".join(f"%a{n}: {type}" for n, type in enumerate(types))
    rows, columns = types[0].get_shape()
    last = len(types) - 1
    text = f"""tir.prim_func @{name}({arguments}) {{
      tir.for %i = 0 to {rows} {{
        tir.for %j = 0 to {columns} {{
          tir.block @copy(%vi: spatial {rows}, %vj: spatial {columns}) = [%i, %j]
              reads(%a0[%vi, %vj] : {types[0]}) writes(%a{last}[%vi, %vj] : {types[-1]}) {{
            %0 = memref.load %a0[%vi, %vj] : {types[0]}
            memref.store %0, %a{last}[%vi, %vj] : {types[-1]}
          }}
        }}
      }}
    }}"""
    (kernel,) = Parser(new_ir_context(), text).parse_module().ops
    kernel.detach()
    return kernel


def _matrix(scope: StringAttr | None) -> MemRefType:
    return MemRefType(f32, [128, 128]) if scope is None else MemRefType(f32, [128, 128], memory_space=scope)


@dataclass
class Planned:
    """What plan-devices has made of a function of a record."""

    program: Program
    func: FuncOp
    devices: Mapping[SSAValue, VirtualDevice]

    @staticmethod
    def of(recorded: Recorded, module: ModuleOp) -> dict[str, Planned]:
        devices = planned_devices(module)
        functions = {f.sym_name.data: f for f in module.ops if isinstance(f, FuncOp)}
        return {name: Planned(program, functions[name], devices) for name, program in recorded.programs.items()}

    @cached_property
    def values(self) -> dict[int, SSAValue]:
        """Node -> its value, of those that have one."""
        found: dict[int, SSAValue] = dict(zip(self.program.graph.params, self.func.body.block.args, strict=True))
        for op in walk(self.func):
            if isinstance(op, FuncOp | DeviceCopyOp | OnDeviceOp) or not op.results:
                continue
            node = cast("IntegerAttr", op.attributes[ID]).value.data
            found[node] = op.results[0]
            if isinstance(op, FnOp):
                found.update(zip(self.program.params(self.program.nodes[node]), op.body.block.args, strict=True))
        return found

    def parameters(self) -> list[str]:
        return self._listed(PARAMETER_DEVICES)

    def results(self) -> list[str]:
        return self._listed(RESULT_DEVICES)

    def _listed(self, name: str) -> list[str]:
        listed = cast("ArrayAttr[VirtualDeviceAttr]", self.func.attributes[name])
        return [text_of_device(device.data) for device in listed]

    def copies(self) -> list[tuple[int, tuple[tuple[str, str], ...]]]:
        """As `Recorded.expected_copies`, of each copy that something other than a copy uses."""
        nodes = {value: node for node, value in self.values.items()}
        found: list[tuple[int, tuple[tuple[str, str], ...]]] = []
        for op in walk(self.func):
            if not isinstance(op, DeviceCopyOp):
                continue
            if all(isinstance(use.operation, DeviceCopyOp) for use in op.result.uses):
                continue
            chain: list[tuple[str, str]] = []
            value: SSAValue = op.result
            while isinstance(made := value.owner, DeviceCopyOp | OnDeviceOp):
                if isinstance(made, DeviceCopyOp):
                    ends = (made.src_virtual_device.data, made.dst_virtual_device.data)
                    chain.append((text_of_device(ends[0]), text_of_device(ends[1])))
                value = made.operands[0]
            found.append((nodes[value], tuple(chain)))
        return found
