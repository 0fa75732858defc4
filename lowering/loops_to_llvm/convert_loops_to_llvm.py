"""From loops to the llvm dialect: a complete conversion, one walk per function.

    func.func @scale(%x: memref<64xf32>, %s: f32) {        llvm.func @scale(%x: !llvm.ptr {llvm.noalias, ...}, %s: f32)
      scf.for %i = %c0 to %c64 step %c1 {                  attributes {no_unwind} {
        %0 = memref.load %x[%i] : memref<64xf32>     ->      llvm.br ^1(%c0 : i64)
        %1 = arith.mulf %0, %s : f32                       ^1(%i: i64):
        memref.store %1, %x[%i] : memref<64xf32>             %p = llvm.getelementptr inbounds %x[%i] : ... , f32
      }                                                      ...
      return                                                 llvm.cond_br %more, ^1(%next : i64), ^2
    }                                                      ^2: llvm.return }

Every operation class has one rule, in `control`, `sharing`, `checking`, `calling`, `arith`, `math`, `memref`, `tiles`,
`total` or `vector` beside this file. An operation without one is an error that names it; the module is then left as it
was.

Memref arguments are bare pointers to the first element that the memref reaches, and are `llvm.noalias` unless

* the function is defined elsewhere,
* the argument has the attribute `weft.may_alias`, or
* other threads may write what the function reads of it, while it runs (`thread_sharing`).

An argument with `weft.align = N` is known to be aligned to N bytes. A `memref.global` without value that has
`weft.constant_index = N` is found at run time at place N of the array `@weft_constants`, which the loader fills (what
the globals say of their data, `weft.value` and `weft.type`, the array says by place: `weft.values`, `weft.types`). What
else the attributes `weft.*` of a function say (`weft.inputs`: what a graph takes) stays on it.

Functions of `relay` that branch and call are left for `convert-control-to-llvm`. What it does not do: n-dimensional
vectors, dynamic strides, unranked memrefs. TVM's counterpart is `CodeGenLLVM`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import func, llvm, memref
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region

from ...dialects.mem.graph import GraphOp
from ...dialects.rt.core import ShareOp
from ...dialects.rt.sources import SourceOp
from ...dialects.support.dominance import reached_blocks
from ...dialects.support.vector_types import as_vector
from ...dialects.support.walking import all_within
from ...transforms.infra import remarks
from ...transforms.infra.passes import ModulePass
from ...transforms.relay.outline_segments import is_control
from ..abi import ALIGNMENT, COUNTER_BYTES, INPUTS
from ..graph_to_memory.signature import GRAPH_ATTRIBUTES
from ..threads.thread_sharing import changing_arguments
from ..tir_to_loops.in_place import MAY_ALIAS
from . import (
    arith as llvm_arith,
)
from . import (
    calling as llvm_calling,
)
from . import (
    checking as llvm_checking,
)
from . import (
    control as llvm_control,
)
from . import (
    gpu as llvm_gpu,
)
from . import (
    math as llvm_math,
)
from . import (
    memref as llvm_memref,
)
from . import (
    sharing as llvm_sharing,
)
from . import (
    tiles as llvm_tiles,
)
from . import (
    total as llvm_total,
)
from . import (
    vector as llvm_vector,
)
from .function import FunctionLowering, Rules
from .gpu import declared_launcher, is_kernel, kernel_attributes, launches_of
from .signature import check_signature
from .symbols import CONSTANT_INDEX, Symbols, stored_value, zeroed_global
from .types import LoweringError, array_type, as_memref, value_type

RULES = Rules(
    llvm_arith.RULES,
    llvm_calling.RULES,
    llvm_checking.RULES,
    llvm_control.RULES,
    llvm_gpu.RULES,
    llvm_math.RULES,
    llvm_memref.RULES,
    llvm_sharing.RULES,
    llvm_tiles.RULES,
    llvm_total.RULES,
    llvm_vector.RULES,
)

STACK_ALIGNMENT = 16
"""Bytes that the stack is aligned by anyhow. Where vectors are wider it has to be said: registers that are spilled to
it would lie across two lines of the cache, of which LLVM sees only once it is too late to align the stack."""

ALWAYS_INLINE = StringAttr("alwaysinline")
"""What a kernel's nests are marked with. LLVM puts them in their places anyhow, but late: it would take all pains with
each nest, and then take them again where it has been put."""

ALIGN = "weft.align"
ARENA_BYTES = "weft.arena_bytes"
"""Attribute of a graph's function: the bytes of memory that it works in."""


def _stays(op: Operation) -> bool:
    """Whether an operation is for somebody else: a function that branches, or a graph on several devices, which the
    host runs step by step; a source for another compiler."""
    return is_control(op) or isinstance(op, SourceOp) or (isinstance(op, GraphOp) and op.is_hosted)


@dataclass(frozen=True)
class ConvertLoopsToLLVMPass(ModulePass):
    """Lower func, scf, rt, memref, vector, arith and math to the llvm dialect."""

    name = "convert-loops-to-llvm"
    required: ClassVar[tuple[str, ...]] = ("materialize-memory",)

    cpu: str = ""
    """The processor that functions are marked for; none marks them for the target they are compiled for."""

    features: str = ""
    """The processor's features, as in `+avx2,-avx512f`."""

    vector_bytes: int = STACK_ALIGNMENT
    """The width of its vectors, by which functions align the stack."""

    float_divisions: bool = True
    """Whether integers are divided as floats, which are what most processors divide vectors of."""

    @classmethod
    def holds_in(cls, module: ModuleOp) -> bool:
        return all(op.dialect_name() == "llvm" or _stays(op) for op in module.ops)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        lowered = self.lower(op)
        block = op.body.block
        for old in list(block.ops):
            old.detach()
            old.erase(safe_erase=False)
        block.add_ops(lowered)

    def lower(self, module: ModuleOp) -> list[Operation]:
        """The operations of the lowered module; `module` stays as it is.

        Raises:
            LoweringError: an operation or a type has no translation.
            Diagnostic: what the graph's function says of itself does not hold.
        """
        symbols = Symbols(module, self.float_divisions)
        changing, shared = changing_arguments(module), _only_shared(module)
        lowered: list[Operation] = []
        for op in module.ops:
            if isinstance(op, memref.GlobalOp):
                lowered += _lower_global(symbols, op)
        for op in module.ops:
            if isinstance(op, func.FuncOp):
                if INPUTS in op.attributes and op.body.blocks:
                    check_signature(op)
                name = op.sym_name.data
                lowered.append(self._lower_function(symbols, op, changing.get(name, set()), name in shared))
            elif op.dialect_name() == "llvm" or _stays(op):
                lowered.append(op.clone())
            elif not isinstance(op, memref.GlobalOp):
                raise LoweringError(op, "stands at module level, where only functions and globals can be lowered")
        return [*symbols.made(), *lowered]

    def _lower_function(
        self, symbols: Symbols, source: func.FuncOp, changing: set[int], is_only_shared: bool
    ) -> llvm.FuncOp:
        name, type = source.sym_name.data, source.function_type
        private = _is_private(source)
        if launches_of(source):
            return declared_launcher(source)
        has_body = bool(source.body.blocks)
        properties: dict[str, Attribute | None] = {"arg_attrs": _argument_attributes(source, changing)}
        if has_body:
            properties["no_unwind"] = UnitAttr()
            properties["target_cpu"] = StringAttr(self.cpu) if self.cpu else None
            features = [StringAttr(feature) for feature in self.features.split(",") if feature]
            properties["target_features"] = llvm.TargetFeaturesAttr(ArrayAttr(features)) if features else None
            passed: list[Attribute] = [ALWAYS_INLINE] if is_only_shared else []
            if self.vector_bytes > STACK_ALIGNMENT and not is_kernel(source):
                passed.append(ArrayAttr([StringAttr("alignstack"), StringAttr(str(self.vector_bytes))]))
            properties["passthrough"] = ArrayAttr(passed) if passed else None
        try:
            inputs = [value_type(input) for input in type.inputs]
        except LoweringError as error:
            raise LoweringError(source, error.message) from None
        result = llvm.FuncOp(
            name,
            llvm.LLVMFunctionType(inputs, llvm_control.result_type(type.outputs.data)),
            linkage=llvm.LinkageAttr("internal" if private and has_body and not is_kernel(source) else "external"),
            other_props=properties,
            body=Region(),
        )
        result.location = source.location
        _tell_of_attributes(source)
        result.attributes |= kernel_attributes(source)
        if has_body:
            result.attributes |= {k: v for k, v in source.attributes.items() if k.startswith("weft.")}
            if (size := _arena_bytes(source)) is not None:
                result.attributes[ARENA_BYTES] = IntegerAttr(size, i64)
            _lower_body(symbols, source, result)
        return result


def _is_private(function: func.FuncOp) -> bool:
    return function.sym_visibility is not None and function.sym_visibility.data == "private"


def _only_shared(module: ModuleOp) -> set[str]:
    """The private functions with a single call, which a share makes: the nests of kernels."""
    calls = all_within(module, func.CallOp)
    counts = Counter(op.callee.string_value() for op in calls)
    shared = {op.callee.string_value() for op in calls if isinstance(op.parent_op(), ShareOp)}
    private = {f.sym_name.data for f in module.ops if isinstance(f, func.FuncOp) and _is_private(f)}
    return {name for name in shared & private if counts[name] == 1}


def _tell_of_attributes(source: func.FuncOp) -> None:
    """Say what is known of a function, its arguments or its results and has no effect."""
    known = (*GRAPH_ATTRIBUTES, *llvm_gpu.ATTRIBUTES)
    unknown = [key for key in source.attributes if not key.startswith("weft.") and key not in known]
    for attributes in source.arg_attrs or ():
        unknown += [key for key in attributes.data if not key.startswith("llvm.") and key not in (MAY_ALIAS, ALIGN)]
    for attributes in source.res_attrs or ():
        unknown += attributes.data
    for key in dict.fromkeys(unknown):
        remarks.missed("convert-loops-to-llvm", source, f"the attribute '{key}' has no effect")


def _arena_bytes(source: func.FuncOp) -> int | None:
    """The bytes of memory that a graph's function works in, which the type of its argument before the last says."""
    if COUNTER_BYTES not in source.attributes:
        return None
    arena = source.function_type.inputs.data[-2]
    return as_memref(arena).get_shape()[0]


def _lower_body(symbols: Symbols, source: func.FuncOp, result: llvm.FuncOp) -> None:
    order = reached_blocks(source.body)
    blocks = [Block(arg_types=[value_type(type) for type in block.arg_types]) for block in order]
    scalars = any(as_vector(op.value.type) is None for op in all_within(source, memref.StoreOp))
    lowering = FunctionLowering(symbols, result.body, blocks[0], RULES.table, scalars)
    lowering.blocks = dict(zip(order, blocks, strict=True))
    for old, new in lowering.blocks.items():
        for argument, lowered in zip(old.args, new.args, strict=True):
            lowering.set(argument, lowered)
    for old, new in lowering.blocks.items():
        lowering.start(new)
        for op in old.ops:
            lowering.lower_op(op)
    lowering.finish()


def _argument_attributes(source: func.FuncOp, changing: set[int]) -> ArrayAttr[DictionaryAttr]:
    given = source.arg_attrs or ArrayAttr([DictionaryAttr({})] * len(source.function_type.inputs))
    result: list[DictionaryAttr] = []
    for number, (type, attributes) in enumerate(zip(source.function_type.inputs, given, strict=True)):
        kept = {key: value for key, value in attributes.data.items() if key.startswith("llvm.")}
        if isinstance(type, MemRefType):
            if source.body.blocks and number not in changing and MAY_ALIAS not in attributes.data:
                kept["llvm.noalias"] = UnitAttr()
            align = attributes.data.get(ALIGN)
            if align is not None:
                kept["llvm.align"] = IntegerAttr(align.value.data if isinstance(align, IntegerAttr) else ALIGNMENT, i64)
        result.append(DictionaryAttr(kept))
    if changing:
        arguments = ", ".join(map(str, sorted(changing)))
        reason = f"arguments {arguments} are not noalias: other threads write them while the function runs"
        remarks.missed("convert-loops-to-llvm", source, reason)
    return ArrayAttr(result)


def _lower_global(symbols: Symbols, source: memref.GlobalOp) -> list[Operation]:
    """A global with its value, a zeroed one, or none where the data is found through the constants' table."""
    if llvm_gpu.is_shared_memory(source.type):
        return [llvm_gpu.shared_global(source)]
    name, type = source.sym_name.data, as_memref(source.type)
    index = source.attributes.get(CONSTANT_INDEX)
    if isinstance(index, IntegerAttr):
        symbols.constant_index[name] = index.value.data
        if "weft.value" in source.attributes and "weft.type" in source.attributes:
            symbols.constants[index.value.data] = source.attributes["weft.value"], source.attributes["weft.type"]
        return []
    stored = array_type(type)
    private = source.sym_visibility.data == "private"
    linkage = "internal" if private else "external"
    align = max(ALIGNMENT, source.alignment.value.data if source.alignment else 0)
    if isinstance(source.initial_value, UnitAttr):
        return [zeroed_global(name, stored, linkage, align)]
    result = llvm.GlobalOp(
        stored,
        name,
        linkage,
        constant=source.constant is not None,
        alignment=align,
        value=stored_value(type, source.initial_value),
    )
    result.location = source.location
    return [result]
