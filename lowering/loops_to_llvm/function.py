"""The state of one function's lowering to the llvm dialect, and the tables of its rules.

A rule is a function `(lowering, op)` registered for operation classes with `@RULES.rule(...)`; it reads the lowered
operands with `lowering.get`, appends llvm operations with `lowering.add`, and records results with `lowering.set`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar, cast

from xdsl.dialects import arith, llvm, scf
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    SymbolRefAttr,
    VectorType,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...dialects.extensions.llvm import PoisonOp
from ...dialects.extensions.llvm_loop_annotation import ACCESS_GROUPS, LOOP_ANNOTATION
from ...dialects.support.interned import UNIT, int_array, integer_attribute, segment_sizes
from ...dialects.support.vector_types import as_vector, element_type, with_element_type
from ...transforms.infra.remarks import missed
from .levels import Levels
from .symbols import Symbols
from .types import PTR, LoweringError, is_kept, memory_type, value_type

OpT = TypeVar("OpT", bound=Operation)
Rule = Callable[["FunctionLowering", Operation], None]


class Rules:
    """Operation class -> rule."""

    def __init__(self, *parts: Rules):
        self.table: dict[type[Operation], Rule] = {}
        for part in parts:
            self.table.update(part.table)

    def rule(
        self, *kinds: type[OpT]
    ) -> Callable[[Callable[[FunctionLowering, OpT], None]], Callable[[FunctionLowering, OpT], None]]:
        """Register the decorated function for these operation classes."""

        def register(function: Callable[[FunctionLowering, OpT], None]) -> Callable[[FunctionLowering, OpT], None]:
            for kind in kinds:
                self.table[kind] = cast(Rule, function)
            return function

        return register


class FunctionLowering:
    """Where the next llvm operation goes, what each value of the source has become, and which constants exist."""

    def __init__(
        self,
        symbols: Symbols,
        body: Region,
        entry: Block,
        rules: Mapping[type[Operation], Rule],
        stores_scalars: bool,
    ):
        self.symbols = symbols
        self.stores_scalars = stores_scalars
        """Whether there may be loops left of which LLVM is to make vectors: it wants addresses that are one sum, known
        to be inside of the memory, and loops whose order says how far they go."""
        self.body = body
        self.block = entry
        self.fills = 0
        """Fills of memory in one turn of the loop that is made, with those loops written out that LLVM may unroll."""
        self.blocks: dict[Block, Block] = {}
        """The blocks of a function that came with several."""
        self._rules = rules
        self._entry = entry
        self._levels = Levels(entry)
        self._prologue: list[Operation] = []
        self._values: dict[SSAValue, SSAValue] = {}
        self._static: dict[SSAValue, int] = {}
        self._constants: dict[tuple[Attribute, Attribute], SSAValue] = {}
        self._lazy: dict[SSAValue, tuple[Attribute, Attribute]] = {}
        self._extents: dict[tuple[SSAValue, int], SSAValue] = {}
        self._poison: dict[Attribute, SSAValue] = {}
        self._on_heap: list[SSAValue] = []
        self._source: Operation | None = None
        self._accesses: dict[str, Attribute] = {}
        """What loads and stores say of themselves where they stand."""

    def lower(self, block: Block) -> Operation:
        """Lower all operations of a structured block but its terminator, which is returned."""
        terminator = block.last_op
        if terminator is None:
            raise LoweringError(block.parent_op(), "a region's block has no terminator")
        for op in block.ops:
            if op is not terminator:
                self.lower_op(op)
        return terminator

    def lower_op(self, op: Operation) -> None:
        """Apply the rule of one operation.

        Raises:
            LoweringError: there is none, or it declines.
        """
        rule = self._rules.get(type(op))
        if rule is None:
            if op.dialect_name() != "llvm" or op.regions or op.successors:
                raise LoweringError(op, "has no lowering to the llvm dialect")
            rule = _keep
        self._source = op
        if op.attributes and rule is not _keep:
            _tell_of_attributes(op)
        try:
            rule(self, op)
        except LoweringError as error:
            raise error if error.op is not None else LoweringError(op, error.message) from None

    def finish(self) -> None:
        """Put constants and allocations in front of the function, and give back at its ends what is on the heap."""
        self._give_back()
        if self._entry.first_op is None:
            self._entry.add_ops(self._prologue)
        else:
            self._entry.insert_ops_before(self._prologue, self._entry.first_op)

    # Values

    def get(self, value: SSAValue) -> SSAValue:
        """The lowered value. A constant is made in the function's entry, once."""
        lowered = self._values.get(value)
        if lowered is None:
            attribute, type = self._lazy[value]
            lowered = self._values[value] = self.constant(attribute, type)
            if lowered.name_hint is None:
                lowered.name_hint = value.name_hint
        return lowered

    def get_all(self, values: Sequence[SSAValue]) -> list[SSAValue]:
        return [self.get(value) for value in values]

    def set(self, value: SSAValue, lowered: SSAValue) -> None:
        """Record what a value of the source has become; its name goes along."""
        self._values[value] = lowered
        if lowered.name_hint is None:
            lowered.name_hint = value.name_hint

    def set_constant(self, value: SSAValue, attribute: Attribute, type: Attribute) -> None:
        """Record a value that is made as a constant when something other than an address needs it."""
        self._lazy[value] = (attribute, type)
        if isinstance(attribute, IntegerAttr):
            self._static[value] = attribute.value.data

    def static(self, value: SSAValue) -> int | None:
        """The integer that a value of the source is known to be."""
        return self._static.get(value)

    def alias(self, value: SSAValue, same: SSAValue) -> None:
        """Record that a value of the source is another value of the source."""
        if same in self._lazy:
            self.set_constant(value, *self._lazy[same])
        else:
            self.set(value, self.get(same))

    def set_extent(self, memref: SSAValue, dimension: int, extent: SSAValue) -> None:
        """Record the value of a dynamic extent."""
        self._extents[memref, dimension] = extent

    def extent(self, memref: SSAValue, dimension: int) -> SSAValue | None:
        """The value of the source that is a dynamic extent, where it is known."""
        return self._extents.get((memref, dimension))

    # Operations

    def add(
        self,
        kind: type[Operation],
        operands: Sequence[SSAValue],
        type: Attribute,
        properties: Mapping[str, Attribute] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> SSAValue:
        """Append an operation with one result, which is returned; one on integers or addresses where what it depends
        on is known (`levels`), unless it is there."""
        level, key = None if attributes else self._levels.place(kind, operands, type), None
        if level is not None:
            # of types and properties by identity: the operation that is known keeps them
            key = (kind, id(type), *operands, *map(id, properties.values() if properties else ()))
            if (known := level.known.get(key)) is not None:
                return known
        op = kind.create(
            operands=operands,
            result_types=(type,),
            properties=properties or {},
            attributes=attributes or {},
            location=self._source and self._source.location,
        )
        if level is None:
            self.block.add_op(op)
            self._levels.made(op.results)
        else:
            level.append(op)
            level.known[key] = op.results[0]
            self._levels.made(op.results, level.depth)
        return op.results[0]

    def add_op(self, op: Operation) -> None:
        """Append an operation that was built elsewhere."""
        if self._source is not None:
            op.location = self._source.location
        self.block.add_op(op)
        self._levels.made(op.results)

    def add_op_with_result(self, op: Operation) -> SSAValue:
        """Append an operation that was built elsewhere; gives its result."""
        self.add_op(op)
        return op.results[0]

    def resume(self, op: Operation) -> None:
        """Go on with `op` after what is in its regions: new operations are at its place again."""
        self._source = op

    def in_prologue(self, op: Operation) -> SSAValue:
        """Put an operation without operands from the body into the function's entry, before everything else."""
        self._prologue.append(op)
        self._levels.made(op.results, depth=0)
        return op.results[0]

    def constant(self, attribute: Attribute, type: Attribute) -> SSAValue:
        """The value of a constant; equal ones are one value, made in the function's entry."""
        key = (attribute, type)
        value = self._constants.get(key)
        if value is None:
            op = llvm.ConstantOp.create(result_types=(type,), properties={"value": attribute})
            value = self._constants[key] = self.in_prologue(op)
            value.name_hint = _constant_name(attribute, type)
        return value

    def poison(self, type: Attribute) -> SSAValue:
        """The value of a type that must not be used, made once."""
        value = self._poison.get(type)
        if value is None:
            value = self._poison[type] = self.in_prologue(PoisonOp.create(result_types=(type,)))
        return value

    def integer(self, number: int, type: Attribute = i64) -> SSAValue:
        """An integer constant; on a vector type, the same in every lane."""
        element = element_type(type)
        return self.constant(uniform(integer_attribute(number, cast(IntegerType, element).bitwidth), type), type)

    def float(self, number: float, type: Attribute) -> SSAValue:
        """A floating-point constant; on a vector type, the same in every lane."""
        element = element_type(type)
        return self.constant(uniform(FloatAttr(number, cast(AnyFloat, element)), type), type)

    def call_runtime(self, name: str, operands: Sequence[SSAValue], result: Attribute) -> SSAValue:
        """Call a function of the run-time library and return its result."""
        self.symbols.declare(name, [operand.type for operand in operands], result)
        call = llvm.CallOp(name, *operands, return_type=result)
        self.add_op(call)
        return call.results[0]

    def call_runtime_procedure(self, name: str, operands: Sequence[SSAValue]) -> None:
        """Call a function of the run-time library that returns nothing."""
        self.symbols.declare(name, [operand.type for operand in operands], None)
        self.add_op(llvm.CallOp(name, *operands))

    # Memory

    def stack(self, type: Attribute, align: int) -> SSAValue:
        """Memory on the stack, made in the function's entry."""
        properties = {"elem_type": type, "alignment": integer_attribute(align, 64)}
        count = self.integer(1)
        op = llvm.AllocaOp.create(operands=(count,), result_types=(PTR,), properties=properties)
        return self.in_prologue(op)

    def heap(self, size: int, align: int) -> SSAValue:
        """Memory on the heap, made in the function's entry and given back where it returns."""
        types = [i64, i64]
        self.symbols.declare("aligned_alloc", types, PTR)
        operands = [self.integer(align), self.integer(size)]
        pointer = self.in_prologue(llvm.CallOp("aligned_alloc", *operands, return_type=PTR))
        self._on_heap.append(pointer)
        return pointer

    def _give_back(self) -> None:
        """Free the memory on the heap before each return: it was made in the entry, whichever is reached."""
        if self._on_heap:
            self.symbols.declare("free", [PTR], None)
        for block in self.body.blocks if self._on_heap else ():
            if isinstance(end := block.last_op, llvm.ReturnOp):
                for pointer in self._on_heap:
                    call = llvm.CallOp("free", pointer)
                    call.location = end.location
                    block.insert_op_before(call, end)

    def symbol_address(self, name: str) -> SSAValue:
        """The address of a global or function."""
        return self.add(llvm.AddressOfOp, (), PTR, {"global_name": SymbolRefAttr(name)})

    def load(self, pointer: SSAValue, type: Attribute, align: int | None = None) -> SSAValue:
        """Load a value of a source type; bits and integers of a few bits come out of bytes."""
        stored = memory_type(type)
        properties: dict[str, Attribute] = {"ordering": _NOT_ATOMIC}
        if align is not None:
            properties["alignment"] = integer_attribute(align, 64)
        return self.of_memory(self.add(llvm.LoadOp, (pointer,), stored, properties, self._accesses), type)

    def of_memory(self, value: SSAValue, type: Attribute) -> SSAValue:
        """A value of a source type, from what it is in memory: bits and integers of a few bits are bytes there."""
        wanted = value_type(type)
        if value.type == wanted:
            return value
        bits = element_type(wanted) == i1
        return self.nonzero(value) if bits else self.add(llvm.TruncOp, (value,), wanted)

    def store(
        self, value: SSAValue, pointer: SSAValue, type: Attribute, align: int | None = None, streaming: bool = False
    ) -> None:
        """Store a value of a source type; bits and integers of a few bits become bytes."""
        stored = memory_type(type)
        if stored != value.type:
            value = self.add(llvm.ZExtOp, (value,), stored)
        properties: dict[str, Attribute] = {"ordering": _NOT_ATOMIC}
        if align is not None:
            properties["alignment"] = integer_attribute(align, 64)
        if streaming:
            properties["nontemporal"] = UNIT
        self.add_op(llvm.StoreOp.create(operands=(value, pointer), properties=properties, attributes=self._accesses))

    @contextmanager
    def in_group(self, group: Attribute | None) -> Generator[None]:
        """Have the loads and stores that are lowered in the `with` block say that they are of a group of accesses, if
        one is given."""
        before = self._accesses
        self._accesses = before if group is None else {ACCESS_GROUPS: ArrayAttr([group])}
        yield
        self._accesses = before

    def nonzero(self, value: SSAValue) -> SSAValue:
        """`value != 0`, lane by lane."""
        zero = self.integer(0, value.type)
        result = with_element_type(value.type, i1)
        return self.add(llvm.ICmpOp, (value, zero), result, {"predicate": integer_attribute(1, 64)})

    def offset(self, pointer: SSAValue, index: int | SSAValue, type: Attribute) -> SSAValue:
        """The address `index` elements of `type` further on."""
        return self.element_pointer(pointer, [index], memory_type(type))

    def byte_offset(self, pointer: SSAValue, index: int | SSAValue) -> SSAValue:
        """The address `index` bytes further on."""
        return self.element_pointer(pointer, [index], i8)

    def element_pointer(
        self, pointer: SSAValue, indices: Sequence[int | SSAValue], stepped: Attribute, inside: bool = True
    ) -> SSAValue:
        """One `llvm.getelementptr`, `inbounds` where the element is known to be `inside` of the memory; none where all
        indices are zero. Where LLVM makes no vectors, what is the same in a loop is added in front of it, by one of its
        own."""
        raw: list[int] = []
        dynamic: list[SSAValue] = []
        for index in indices:
            if isinstance(index, int) and abs(index) < 1 << 31:
                raw.append(index)
            else:
                raw.append(llvm.GEP_USE_SSA_VAL)
                dynamic.append(self.integer(index) if isinstance(index, int) else index)
        if not any(raw):
            return pointer
        if (
            raw == [llvm.GEP_USE_SSA_VAL]
            and not self.stores_scalars
            and isinstance(sum := dynamic[0].owner, llvm.AddOp)
        ):
            for first, second in (sum.operands, sum.operands[::-1]):
                if self._levels.is_outside(first, second):
                    begin = self.element_pointer(pointer, [first], stepped, inside=False)
                    return self.element_pointer(begin, [second], stepped, inside=False)
        properties: dict[str, Attribute] = {
            "rawConstantIndices": int_array(*raw),
            "elem_type": stepped,
            "noWrapFlags": _NO_FLAGS,
            **({"inbounds": UNIT} if inside else {}),
        }
        return self.add(llvm.GEPOp, (pointer, *dynamic), pointer.type, properties)

    # Control flow

    def new_block(self, types: Sequence[Attribute] = ()) -> Block:
        """A block that is not yet placed in the function."""
        return Block(arg_types=types)

    def start(self, block: Block) -> None:
        """Place a block after those placed so far, and go on in it."""
        self.body.add_block(block)
        self.block = block
        self._levels.start(block)

    def begin_loop(self, body: Block) -> None:
        """Go on in the body of a loop, to which the block before it goes."""
        self._levels.begin_loop()
        self.start(body)

    def end_loop(self, after: Block) -> None:
        """Go on after the loop that was begun last."""
        self._levels.end_loop()
        self.start(after)

    def branch(self, to: Block, values: Sequence[SSAValue] = ()) -> None:
        self.add_op(llvm.BrOp.create(operands=values, successors=(to,)))

    def branch_if(
        self,
        condition: SSAValue,
        then: tuple[Block, Sequence[SSAValue]],
        otherwise: tuple[Block, Sequence[SSAValue]],
        attributes: Mapping[str, Attribute] | None = None,
    ) -> None:
        sizes = segment_sizes(1, len(then[1]), len(otherwise[1]))
        self.add_op(
            llvm.CondBrOp.create(
                operands=(condition, *then[1], *otherwise[1]),
                properties={"operandSegmentSizes": sizes},
                attributes=attributes or {},
                successors=(then[0], otherwise[0]),
            )
        )

    def loop_nest(self, extents: Sequence[int], body: Callable[[list[SSAValue]], None]) -> None:
        """Loops from 0 to each extent, outermost first, around what `body` appends for their indices."""
        if not extents:
            return body([])
        loop, after = self.new_block([i64]), self.new_block()
        self.branch(loop, [self.integer(0)])
        self.begin_loop(loop)
        self.loop_nest(extents[1:], lambda inner: body([loop.args[0], *inner]))
        following = self.add(llvm.AddOp, (loop.args[0], self.integer(1)), i64, OVERFLOW[3])
        more = self.add(llvm.ICmpOp, (following, self.integer(extents[0])), i1, {"predicate": integer_attribute(2, 64)})
        self.branch_if(more, (loop, [following]), (after, ()))
        self.end_loop(after)


def _tell_of_attributes(op: Operation) -> None:
    """Say which attributes no rule reads."""
    for key in op.attributes:
        if key != LOOP_ANNOTATION or not isinstance(op, scf.ForOp):
            missed("convert-loops-to-llvm", op, f"the attribute '{key}' has no effect")


def _keep(lowering: FunctionLowering, op: Operation) -> None:
    """An operation of the llvm dialect stays as it is, if what it takes and gives does, too."""
    for types, what in ((op.operand_types, "takes"), (op.result_types, "gives")):
        for type in types:
            if not is_kept(type):
                raise LoweringError(op, f"it {what} a value of type {type}, which is none of the llvm dialect's")
    kept = op.clone({operand: lowering.get(operand) for operand in op.operands})
    lowering.add_op(kept)
    for old, new in zip(op.results, kept.results, strict=True):
        lowering.set(old, new)


_NOT_ATOMIC = integer_attribute(0, 64)
_NO_FLAGS = IntegerAttr(0, i32)


def overflow(value: arith.IntegerOverflowAttr) -> Mapping[str, Attribute]:
    """arith's overflow flags as the llvm dialect keeps them."""
    flags = value.data
    bits = (1 if arith.IntegerOverflowFlag.NSW in flags else 0) | (2 if arith.IntegerOverflowFlag.NUW in flags else 0)
    return OVERFLOW[bits]


OVERFLOW: tuple[Mapping[str, Attribute], ...] = tuple({"overflowFlags": IntegerAttr(bits, i32)} for bits in range(4))
"""Properties of `llvm.add` and its like: none, nsw, nuw, both."""


def uniform(scalar: IntegerAttr | FloatAttr, type: Attribute) -> IntegerAttr | FloatAttr | DenseIntOrFPElementsAttr:
    """The attribute of a constant of `type` that is `scalar` in every lane."""
    vector = as_vector(type)
    if vector is None:
        return scalar
    if isinstance(scalar, IntegerAttr):
        return DenseIntOrFPElementsAttr.from_list(cast(VectorType[IntegerType], vector), [scalar.value.data])
    return DenseIntOrFPElementsAttr.from_list(cast(VectorType[AnyFloat], vector), [scalar.value.data])


def _constant_name(attribute: Attribute, type: Attribute) -> str:
    if not isinstance(attribute, IntegerAttr):
        return "cst"
    number = attribute.value.data
    name = f"c{number}" if number >= 0 else f"c_{-number}"
    return name if type == i64 else f"{name}_{type}"
