"""Lower fused functions to TIR: each primitive `relay.func` becomes a `tir.prim_func` by its operators' `compute`.

Before -> after:

```mlir
relay.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = relay.call @fused_nn_relu(%x) : (tensor<8xf32>) -> tensor<8xf32>
relay.func private @fused_nn_relu(%p0: tensor<8xf32>) -> tensor<8xf32> attributes {primitive} { ...

relay.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = relay.call_lowered @fused_nn_relu(%x) : (tensor<8xf32>) -> tensor<8xf32>
tir.prim_func @fused_nn_relu(%p0: memref<8xf32>, %out: memref<8xf32>) { ... one tir.block for each stage ...
```

Tuples are opened: a tuple operand becomes several buffers. A constant inside a function (`fuse-ops{link-params}`) is
its own: `tir.alloc_buffer "global" = dense<...>`. With `pass-extents`, functions that differ in outer extents alone
share a kernel, which is passed them (`alike_functions`). A function for another compiler (`Compiler`) becomes a
`tir.prim_func` that calls what its backend says (`external`). Does not: schedule anything; functions that are not
primitive stay. Counterpart of TVM's LowerTE (TECompiler, LowerToTECompute).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    LocationAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TupleType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects import te
from ...dialects.relay.attributes import is_uniform
from ...dialects.relay.base import RelayOp, Tensor, flatten_types, is_static
from ...dialects.relay.computing import compute_results
from ...dialects.relay.copying import copied_from
from ...dialects.relay.core import CallOp, ConstantOp, FuncOp, TupleGetOp, TupleOp
from ...dialects.relay.extents import Known, known_of_constant
from ...dialects.relay.functions import is_for
from ...dialects.relay.telling import is_telling
from ...dialects.relay.told import DynOp
from ...dialects.support.advice import give_shapes
from ...dialects.support.dense import dense_of
from ...dialects.support.diagnostics import Diagnostic, Place
from ...dialects.support.walking import all_within
from ...dialects.tir.core import PrimFuncOp
from ...dialects.tir.functions import TARGET
from ...transforms.infra import ModulePass
from ...transforms.relay.outline_primitives import OutlinePrimitivesPass
from ...transforms.relay.outline_segments import CONTROL
from ..abi import PROCESSORS
from . import strategies
from .alike_functions import shared_kernels
from .calls import lower_call
from .divide_by_target import divide_by_target
from .dynamic_calls import DynamicCalls
from .external import Externals
from .place_calls import place_calls
from .te_expressions import signless
from .te_symbols import opaque_extents
from .te_to_tir import create_prim_func

Compute: TypeAlias = Callable[[RelayOp, Sequence[te.Tensor]], list[te.Tensor]]


@dataclass(frozen=True)
class LowerTEPass(ModulePass):
    """Primitive `relay.func`s -> `tir.prim_func`s; calls of them -> `relay.call_lowered`. `gpu=cuda` says that there is
    code for GPUs too: what is called there becomes functions of its own, with `tir.target`. `target` and `gpu-target`
    are what implementations of operators are chosen for (`strategies`): this machine, unless given. With
    `pass-extents`, functions that are alike share a kernel."""

    name = "lower-te"
    required: ClassVar[tuple[str, ...]] = ("outline-primitives",)
    tvm_name = "LowerTE"

    gpu: str | None = None
    target: str | None = None
    gpu_target: str | None = None
    pass_extents: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gpu not in (None, "cuda"):
            raise ValueError(f"there is no code for GPUs of the kind '{self.gpu}'; there is for cuda")

    @classmethod
    def holds_in(cls, module: ModuleOp) -> bool:
        primitive = any(isinstance(op, FuncOp) and op.is_primitive for op in module.ops)
        return not primitive and OutlinePrimitivesPass.holds_in(module)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        place_calls(op, PROCESSORS if self.gpu is None else (*PROCESSORS, self.gpu))
        if self.gpu is not None:
            divide_by_target(op)
        copies: dict[str, int | None] = {}
        externals = Externals(op)
        externals.lower_static()
        dynamic = DynamicCalls(op, externals.lowering_by(lower_at))
        graphs = [f for f in op.ops if isinstance(f, FuncOp) and not f.is_primitive and CONTROL not in f.attributes]
        dynamic.lower_calls(graphs, externals.replace)
        left: dict[str, list[CallOp]] = {}
        for call in all_within(op, CallOp):
            left.setdefault(call.callee.root_reference.data, []).append(call)
        functions = [f for f in op.ops if isinstance(f, FuncOp) and f.is_primitive]
        sizes = self._share([f for f in functions if f.sym_name.data not in dynamic.called])
        for function in functions:
            name = function.sym_name.data
            if name in dynamic.called and name in left:
                function.sym_name = StringAttr(dynamic.free_name(name))
                for call in left[name]:  # in a graph without symbols
                    call.callee = SymbolRefAttr(function.sym_name)
            if name not in sizes and (name not in dynamic.called or name in left):
                op.body.block.insert_ops_before(self._lowered(function), function)
            copies[function.sym_name.data] = copied_from(function)
            function.detach()
            function.erase()
        for call in all_within(op, CallOp):
            callee = call.callee.root_reference.data
            if callee in sizes:
                kernel, numbers = sizes[callee]
                lower_call(call, copies[callee], kernel, sizes=numbers)
            elif callee in copies:
                lower_call(call, copies[callee])

    def _share(self, functions: Sequence[FuncOp]) -> dict[str, tuple[str, tuple[int, ...]]]:
        """Put the kernels beside `functions` that several of them share: by a function's name, its kernel's, and the
        numbers that this is passed."""
        if not self.pass_extents:
            return {}
        found: dict[str, tuple[str, tuple[int, ...]]] = {}
        by_name = {f.sym_name.data: f for f in functions}
        for shared in shared_kernels([f for f in functions if TARGET not in f.attributes], lower_at):
            name = shared.kernel.sym_name.data
            block = by_name[name].parent
            assert block is not None
            block.insert_op_before(shared.kernel, by_name[name])
            found |= {function: (name, numbers) for function, numbers in shared.sizes.items()}
        return found

    def _lowered(self, function: FuncOp) -> list[Operation]:
        """The `tir.prim_func` of a function, and the schedule beside it, if it has one."""
        if is_for(function):
            raise Diagnostic.at(function, "is for another compiler, and has extents that nothing says")
        if strategies.is_empty():
            return [lower_function(function)]
        from ..machine.target import Target

        kind = function.attributes.get(TARGET)
        target = Target.parse(self.target or "llvm") if kind is None else Target.parse(self.gpu_target or "cuda")
        if (given := strategies.lowered_by_hand(function, target, self.name)) is not None:
            return [_named(given, function)]
        chosen = strategies.Chosen(target, self.name)
        prim_func = lower_at(function, None, compute=chosen.compute)[0]
        if (sequence := strategies.scheduled(prim_func, chosen)) is None:
            return [prim_func]
        sequence.properties["function"] = SymbolRefAttr(function.sym_name.data)
        return [prim_func, sequence]


def lower_function(function: FuncOp) -> PrimFuncOp:
    """The `tir.prim_func` that computes what the primitive `function` says, from its operators' `compute`.

    Raises:
        Diagnostic: a shape is dynamic, or an operator has no `compute`.
    """
    return lower_at(function, None)[0]


def lower_at(
    function: FuncOp,
    known: Sequence[Known] | None,
    symbols: Sequence[te.Var] = (),
    compute: Compute = compute_results,
) -> tuple[PrimFuncOp, list[te.Tensor]]:
    """The same for inputs of which something is `known`, as extents that may be symbols, and its outputs; operators by
    `compute`. What is known whole is no argument of the kernel; `symbols` are its first.

    Raises:
        Diagnostic: an operator has no `compute`, or none for extents that are symbols.
    """
    locations: dict[te.Tensor, LocationAttr] = {}
    linked: dict[te.Tensor, DenseIntOrFPElementsAttr] = {}
    inputs, outputs = compute_function(function, locations, known, compute, linked)
    inputs = [tensor for tensor in inputs if tensor.producer is None]
    for tensor in te.topological_order(outputs) if compute is not compute_results else ():
        if tensor.producer is None and tensor not in inputs and tensor not in linked:
            raise Diagnostic.at(function, f"what computes it reads '{tensor.name}', which is none of its inputs")
    taken = [*symbols, *opaque_extents(outputs)] if symbols else symbols
    prim_func = create_prim_func(function.sym_name.data, inputs, outputs, locations, taken, constants=linked)
    return _named(prim_func, function), outputs


def _named(prim_func: PrimFuncOp, function: FuncOp) -> PrimFuncOp:
    """`prim_func` in the place of a `relay.func`."""
    prim_func.properties["sym_name"] = StringAttr(function.sym_name.data)
    prim_func.location = function.location
    prim_func.attributes |= {k: v for k, v in function.attributes.items() if k != "primitive"}
    return prim_func


def compute_function(
    function: FuncOp,
    locations: dict[te.Tensor, LocationAttr] | None = None,
    known: Sequence[Known] | None = None,
    compute: Compute = compute_results,
    linked: dict[te.Tensor, DenseIntOrFPElementsAttr] | None = None,
) -> tuple[list[te.Tensor], list[te.Tensor]]:
    """Placeholders for the function's inputs, and its outputs as tensor expressions of them; tuples are opened.
    `locations` is filled with where each tensor comes from: the place of its operator. `known` is what is known of the
    inputs, where extents may be symbols. `linked` is filled with what the constants inside the function hold, that are
    placeholders, too.

    Raises:
        Diagnostic: a shape is dynamic, or an operator has no `compute`.
    """
    tensors: dict[SSAValue, list[te.Tensor]] = {}
    inputs: list[te.Tensor] = []
    given = None if known is None else iter(known)
    for argument in function.body.block.args:
        types = _static_tensors(argument.type, function) if given is None else flatten_types([argument.type])
        tensors[argument] = [
            te.placeholder(type.get_shape(), type.element_type, name)
            if given is None
            else next(given).tensor(type, name)
            for type, name in zip(types, [argument.name_hint or "p"] * len(types), strict=True)
        ]
        inputs += tensors[argument]
    return inputs, compute_body(function, tensors, locations, known is not None, compute, linked)


def compute_body(
    function: FuncOp,
    tensors: dict[SSAValue, list[te.Tensor]],
    locations: dict[te.Tensor, LocationAttr] | None = None,
    symbolic: bool = False,
    compute: Compute = compute_results,
    linked: dict[te.Tensor, DenseIntOrFPElementsAttr] | None = None,
) -> list[te.Tensor]:
    """The outputs of a function whose arguments are these `tensors`, which are added to; where extents may be
    `symbolic` they are. `locations` and `linked` are filled as `compute_function` says.

    Raises:
        Diagnostic: a shape is dynamic, or an operator has no `compute`.
    """
    linked = {} if linked is None else linked
    for op in function.body.block.ops:
        if op is function.return_op:
            break
        computed = list(_compute(op, tensors, symbolic, compute, linked))
        tensors.update(zip(op.results, computed, strict=True))
        if locations is not None:
            _locate([t for each in computed for t in each], op.location, locations)
    return [t for value in function.return_op.arguments for t in tensors[value]]


def _locate(tensors: Sequence[te.Tensor], location: LocationAttr, locations: dict[te.Tensor, LocationAttr]) -> None:
    """Note `location` for `tensors` and what they are made of, as far as nothing is noted yet."""
    pending = list(tensors)
    while pending:
        tensor = pending.pop()
        if tensor.producer is not None and tensor not in locations:
            locations[tensor] = location
            pending += tensor.producer.inputs()


def _compute(
    op: Operation,
    tensors: dict[SSAValue, list[te.Tensor]],
    symbolic: bool,
    compute: Compute,
    linked: dict[te.Tensor, DenseIntOrFPElementsAttr],
) -> Iterator[list[te.Tensor]]:
    """The tensors of each result of one operation."""
    match op:
        case TupleOp():
            yield [t for field in op.fields for t in tensors[field]]
        case TupleGetOp():
            assert isinstance(op.tuple.type, TupleType)
            widths = [len(flatten_types([type])) for type in op.tuple.type.types]
            start = sum(widths[: op.index.value.data])
            yield tensors[op.tuple][start : start + widths[op.index.value.data]]
        case ConstantOp():
            yield [_constant(op, linked)]
        case RelayOp() if op.has_compute() or isinstance(op, DynOp):
            for result in op.results if not symbolic else ():
                _static_tensors(result.type, op)
            flat = compute(op, [t for operand in op.operands for t in tensors[operand]])
            position = 0
            for result in op.results:
                width = len(flatten_types([result.type]))
                yield flat[position : position + width]
                position += width
        case _:
            raise Diagnostic.at(op, "cannot become a loop nest: it has no compute")


def _static_tensors(type: Attribute, where: Operation) -> Sequence[Tensor]:
    if not is_static(type):
        raise Diagnostic(
            f"cannot lower {type} to a loop nest: it has a dynamic dimension",
            Place.of_location(where.location),
            hint=give_shapes(),
        )
    return flatten_types([type])


def _constant(op: ConstantOp, linked: dict[te.Tensor, DenseIntOrFPElementsAttr]) -> te.Tensor:
    """A constant inside a fused function: literals where it is one number throughout or may say extents, else a
    placeholder, of which `linked` is told the value.

    Raises:
        Diagnostic: its data was not loaded.
    """
    type = flatten_types([op.result.type])[0]
    if is_telling(type) and (known := known_of_constant(op)).contents is not None:
        return known.tensor(type, "constant")
    array = op.numpy()
    if array is None:
        raise Diagnostic.at(
            op, "the data of this constant was not loaded", hint="keep the .weights.npz file beside the .mlir file"
        )
    if is_uniform(array):
        value = array[(0,) * array.ndim].item()
        return te.compute(array.shape, lambda *_: te.const(value, type.element_type), "constant")
    tensor = te.placeholder(array.shape, type.element_type, op.result.name_hint or "constant")
    linked[tensor] = dense_of(array, signless(type.element_type))
    return tensor
