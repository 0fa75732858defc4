"""Buffers, what is a buffer seen otherwise, and what reads and writes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod
from typing import ClassVar, TypeAlias

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    DenseArrayBase,
    FlatSymbolRefAttrConstr,
    IndexType,
    IntegerAttr,
    MemRefType,
    NoneAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    i8,
    i64,
)
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..support.dtypes import byte_width
from ..support.interned import segment_sizes
from ..support.shaped import is_memref, is_tensor

BufferType: TypeAlias = MemRefType[Attribute]
DYNAMIC = DYNAMIC_INDEX
CPU = NoneAttr()
"""The memory space of what is not on another device."""


def buffer_type(value: SSAValue) -> BufferType:
    """The type of a value that is a buffer."""
    assert is_memref(value.type)
    return value.type


def unit_bytes(type: BufferType) -> int:
    """The bytes of a buffer whose extents are all known, or of what it holds for each value of those that are not."""
    return prod(extent for extent in type.get_shape() if extent != DYNAMIC) * byte_width(type.element_type)


def byte_size(type: BufferType) -> int | None:
    """The bytes of a buffer; `None` where an extent is only known when it runs."""
    shape = type.get_shape()
    return None if DYNAMIC in shape else prod(shape) * byte_width(type.element_type)


@irdl_op_definition
class ExtentOp(IRDLOperation):
    """An extent that follows from the graph's symbols, which are its operands; never below 0. Of no symbols it is the
    number that stands there, of either sign: sizes are made of such.

    ```mlir
    %m = mem.extent affine_map<()[s0] -> (s0 * 4)>(%n)
    ```
    """

    name = "mem.extent"
    map = prop_def(AffineMapAttr)
    symbols = var_operand_def(IndexType())
    result = result_def(IndexType())
    traits = traits_def(Pure())
    assembly_format = "$map `(` $symbols `)` attr-dict"

    def __init__(self, map: AffineMapAttr, symbols: Sequence[SSAValue]):
        super().__init__(operands=[symbols], result_types=[IndexType()], properties={"map": map})

    def verify_(self) -> None:
        map = self.map.data
        if map.num_dims or map.num_symbols != len(self.symbols) or len(map.results) != 1:
            raise VerifyException(f"{map} does not lead from {len(self.symbols)} symbols to one number")


@irdl_op_definition
class SizeOp(IRDLOperation):
    """A number that is computed of two extents: `+`, `*`, `//`, `%`, `min` or `max` of them. Divisors are positive.

    ```mlir
    %m = mem.size "*"(%n, %k)
    ```
    """

    name = "mem.size"
    kind = prop_def(StringAttr)
    lhs = operand_def(IndexType())
    rhs = operand_def(IndexType())
    result = result_def(IndexType())
    traits = traits_def(Pure())
    assembly_format = "$kind `(` $lhs `,` $rhs `)` attr-dict"

    KINDS: ClassVar[tuple[str, ...]] = ("+", "*", "//", "%", "min", "max")

    def __init__(self, kind: str, lhs: SSAValue, rhs: SSAValue):
        super().__init__(operands=[lhs, rhs], result_types=[IndexType()], properties={"kind": StringAttr(kind)})

    def verify_(self) -> None:
        if self.kind.data not in self.KINDS:
            raise VerifyException(f'a size is computed by one of {", ".join(self.KINDS)}, not "{self.kind.data}"')


@irdl_op_definition
class ReadExtentOp(IRDLOperation):
    """The extent that data has decided, which stands in a buffer by now: not below 0, and not above `most`.

    The buffer is the caller's, so that nobody writes it again before all threads have read it.

    ```mlir
    %m = mem.read_extent %count most %n : memref<1xi64>
    ```
    """

    name = "mem.read_extent"
    source = operand_def(MemRefType)
    most = operand_def(IndexType())
    result = result_def(IndexType())
    assembly_format = "$source `most` $most attr-dict `:` type($source)"

    def __init__(self, source: SSAValue, most: SSAValue):
        super().__init__(operands=[source, most], result_types=[IndexType()])

    def verify_(self) -> None:
        type = buffer_type(self.source)
        if type.element_type != i64 or tuple(type.get_shape()) != (1,):
            raise VerifyException(f"an extent stands in a memref<1xi64>, not in {type}")
        if not isinstance(self.source, BlockArgument):
            raise VerifyException("what an extent is read from must be the caller's: threads may read it late")


@irdl_op_definition
class PoolOp(IRDLOperation):
    """Memory that buffers have places in. Its memory space is its device.

    One for buffers whose sizes are known when the graph runs holds as many bytes for each value of the extents that
    they have: `n` times 768 bytes, where a buffer at 448 of it begins at byte `n` times 448.

    ```mlir
    %arena = mem.pool : memref<768xi8>
    %other = mem.pool(%n) : memref<?x768xi8>
    ```
    """

    name = "mem.pool"
    extents = var_operand_def(IndexType())
    result = result_def(MemRefType)
    assembly_format = "(`(` $extents^ `)`)? attr-dict `:` type($result)"

    def __init__(self, size: int, device: Attribute = CPU, extents: Sequence[SSAValue] = ()):
        type = MemRefType(i8, [*([DYNAMIC] * len(extents)), size], memory_space=device)
        super().__init__(operands=[extents], result_types=[type])

    @property
    def size(self) -> int:
        """Bytes, for each value of the extents."""
        return buffer_type(self.result).get_shape()[-1]

    def verify_(self) -> None:
        type = buffer_type(self.result)
        if (
            type.element_type != i8
            or list(type.get_shape()[:-1]) != [DYNAMIC] * len(self.extents)
            or not type.get_shape()
            or type.get_shape()[-1] < 0
        ):
            raise VerifyException(f"a pool is so and so many bytes, not {type}")


@irdl_op_definition
class AllocOp(IRDLOperation):
    """A buffer of the graph's own; where it has been planned, with its place, `offset` bytes into a pool.

    An extent that is only known when the graph runs is an operand, as for `memref.alloc`.

    ```mlir
    %a = mem.alloc : memref<8x4xf32>
    %b = mem.alloc(%n) : memref<?x4xf32>
    %c = mem.alloc at %arena[448] : memref<8x4xf32> in memref<768xi8>
    ```
    """

    name = "mem.alloc"
    extents = var_operand_def(IndexType())
    pool = opt_operand_def(MemRefType)
    offset = opt_prop_def(IntegerAttr.constr(i64))
    result = result_def(MemRefType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = (
        "(`(` $extents^ `)`)? (`at` $pool^ `[` $offset `]`)? attr-dict `:` type($result) (`in` type($pool)^)?"
    )

    def __init__(self, type: BufferType, extents: Sequence[SSAValue] = ()):
        sizes = segment_sizes(len(extents), 0)
        Operation.__init__(self, operands=extents, result_types=[type], properties={"operandSegmentSizes": sizes})

    def place(self, pool: SSAValue, offset: int) -> None:
        """Say where the buffer lies."""
        self.properties["operandSegmentSizes"] = segment_sizes(len(self.extents), 1)
        self.operands = [*self.extents, pool]
        self.offset = IntegerAttr(offset, i64)

    def verify_(self) -> None:
        type = buffer_type(self.result)
        if len(self.extents) != (open := type.get_shape().count(DYNAMIC)):
            raise VerifyException(f"{type} leaves {open} extents open, and {len(self.extents)} are given")
        if (self.pool is None) is not (self.offset is None):
            raise VerifyException("a pool and an offset in it are given together or not at all")
        if self.pool is None or self.offset is None:
            return
        pool, start, size = buffer_type(self.pool), self.offset.value.data, unit_bytes(type)
        if not isinstance(self.pool.owner, PoolOp):
            raise VerifyException("its place is not in a mem.pool")
        if byte_size(type) is None and not self.pool.owner.extents:
            raise VerifyException(f"{type} has no place that is known now: its size is not")
        if Counter(self.extents) != Counter(self.pool.owner.extents):
            raise VerifyException(f"{type} has no place that is known now in a pool of other extents")
        if start < 0 or start + size > self.pool.owner.size:
            raise VerifyException(f"bytes {start} to {start + size} are outside of the pool's {self.pool.owner.size}")
        if pool.memory_space != type.memory_space:
            raise VerifyException(f"{type} is planned into memory of another device, {pool}")


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """A buffer whose contents are known at compile time; nothing may write it.

    ```mlir
    %w = mem.constant dense<2.0> : tensor<8xf32> as tensor<8xf32> : memref<8xf32>
    ```
    """

    name = "mem.constant"
    value = prop_def(AnyAttr())
    type = prop_def(TensorType)
    result = result_def(MemRefType)
    traits = traits_def(Pure())
    assembly_format = "$value `as` $type attr-dict `:` type($result)"

    def __init__(self, value: Attribute, type: TensorType[Attribute], result: BufferType):
        Operation.__init__(self, result_types=[result], properties={"value": value, "type": type})

    def verify_(self) -> None:
        assert is_tensor(self.type)
        held = buffer_type(self.result)
        if held.get_shape() != self.type.get_shape() or held.element_type != self.type.element_type:
            raise VerifyException(f"{held} does not hold {self.type}")


@irdl_op_definition
class AliasOp(IRDLOperation):
    """The same bytes under another shape.

    ```mlir
    %b = mem.alias %a : memref<8xf32> to memref<2x4xf32>
    ```
    """

    name = "mem.alias"
    source = operand_def(MemRefType)
    result = result_def(MemRefType)
    traits = traits_def(Pure())
    assembly_format = "$source attr-dict `:` type($source) `to` type($result)"

    def __init__(self, source: SSAValue, type: BufferType):
        super().__init__(operands=[source], result_types=[type])

    def verify_(self) -> None:
        given, seen = buffer_type(self.source), buffer_type(self.result)
        if given.element_type != seen.element_type or byte_size(given) != byte_size(seen):
            raise VerifyException(f"{given} and {seen} are not as many elements of one type")
        if given.memory_space != seen.memory_space:
            raise VerifyException(f"{given} and {seen} are not on the same device")


@irdl_op_definition
class PartOp(IRDLOperation):
    """Some of a buffer's bytes, from `offset` on, as a buffer.

    ```mlir
    %b = mem.part %a[32] : memref<16xf32> to memref<8xf32>
    ```
    """

    name = "mem.part"
    source = operand_def(MemRefType)
    offset = prop_def(IntegerAttr.constr(i64))
    result = result_def(MemRefType)
    traits = traits_def(Pure())
    assembly_format = "$source `[` $offset `]` attr-dict `:` type($source) `to` type($result)"

    def __init__(self, source: SSAValue, offset: int, type: BufferType):
        super().__init__(operands=[source], result_types=[type], properties={"offset": IntegerAttr(offset, i64)})

    def verify_(self) -> None:
        whole, part, start = buffer_type(self.source), buffer_type(self.result), self.offset.value.data
        size, room = byte_size(part), byte_size(whole)
        if size is None or room is None:
            raise VerifyException(f"whether {part} is a part of {whole} is not known: an extent is not")
        if start < 0 or start + size > room:
            raise VerifyException(f"bytes {start} to {start + size} are outside of {whole}, which has {room}")
        if whole.memory_space != part.memory_space:
            raise VerifyException(f"{whole} and {part} are not on the same device")


@irdl_op_definition
class CallOp(IRDLOperation):
    """Run a kernel: it reads its inputs, writes its outputs whole, and does in its workspaces what it likes.

    Outputs and workspaces overlap neither one another nor the inputs. `extents` are the kernel's symbols.

    ```mlir
    mem.call @k(%x) writes(%a) workspaces(%t) : (memref<8xf32>) writes(memref<8xf32>) workspaces(memref<32xf32>)
    ```
    """

    name = "mem.call"
    callee = prop_def(FlatSymbolRefAttrConstr)
    inputs = var_operand_def(MemRefType)
    outputs = var_operand_def(MemRefType)
    workspaces = var_operand_def(MemRefType)
    extents = var_operand_def(IndexType())
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = (
        "$callee `(` $inputs `)` (`writes` `(` $outputs^ `)`)? (`workspaces` `(` $workspaces^ `)`)?"
        " (`extents` `(` $extents^ `)`)? attr-dict"
        " `:` `(` type($inputs) `)` (`writes` `(` type($outputs)^ `)`)? (`workspaces` `(` type($workspaces)^ `)`)?"
    )

    def __init__(
        self,
        callee: str,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        workspaces: Sequence[SSAValue] = (),
        extents: Sequence[SSAValue] = (),
    ):
        super().__init__(operands=[inputs, outputs, workspaces, extents], properties={"callee": SymbolRefAttr(callee)})

    @property
    def reads(self) -> Sequence[SSAValue]:
        """The buffers whose contents it needs."""
        return self.inputs

    @property
    def writes(self) -> Sequence[SSAValue]:
        """The buffers whose contents it changes."""
        return (*self.outputs, *self.workspaces)

    def verify_(self) -> None:
        spaces = {buffer_type(value).memory_space for value in (*self.inputs, *self.writes)}
        if len(spaces) > 1:
            raise VerifyException(f"works on buffers of several devices: {', '.join(sorted(map(str, spaces)))}")


@irdl_op_definition
class CopyOp(IRDLOperation):
    """Lay the contents of one buffer after the other into another. A kernel that does just this may be named.

    ```mlir
    mem.copy %a to %out : memref<8xf32> to memref<2x4xf32>
    mem.copy %a, %b to %c by @fused_concatenate : memref<8xf32>, memref<8xf32> to memref<16xf32>
    mem.copy %c to %b by @fused_strided_slice {offset = 32 : i64} : memref<16xf32> to memref<8xf32>
    ```

    With `offset`, it is what one buffer has from that byte on, which a kernel copies. `extents` are the kernel's
    symbols.
    """

    name = "mem.copy"
    sources = var_operand_def(MemRefType)
    target = operand_def(MemRefType)
    extents = var_operand_def(IndexType())
    callee = opt_prop_def(FlatSymbolRefAttrConstr)
    offset = opt_prop_def(IntegerAttr.constr(i64))
    irdl_options = (ParsePropInAttrDict(), AttrSizedOperandSegments(as_property=True))
    assembly_format = (
        "$sources `to` $target (`by` $callee^)? (`extents` `(` $extents^ `)`)? attr-dict"
        " `:` type($sources) `to` type($target)"
    )

    def __init__(
        self,
        sources: Sequence[SSAValue],
        target: SSAValue,
        callee: str | None = None,
        offset: int | None = None,
        extents: Sequence[SSAValue] = (),
    ):
        super().__init__(operands=[sources, target, extents])
        if callee is not None:
            self.callee = SymbolRefAttr(callee)
        if offset is not None:
            self.offset = IntegerAttr(offset, i64)

    @property
    def reads(self) -> Sequence[SSAValue]:
        """The buffers whose contents it needs."""
        return self.sources

    @property
    def writes(self) -> Sequence[SSAValue]:
        """The buffers whose contents it changes."""
        return (self.target,)

    def verify_(self) -> None:
        sizes = [byte_size(buffer_type(source)) for source in self.sources]
        into = byte_size(buffer_type(self.target))
        if not self.sources:
            raise VerifyException("there is nothing to copy")
        if into is None or None in sizes:
            if len(sizes) == 1 and buffer_type(self.sources[0]).get_shape() == buffer_type(self.target).get_shape():
                return
            raise VerifyException("whether the target is filled is not known: an extent is not")
        if self.offset is not None:
            start = self.offset.value.data
            if self.callee is None or len(sizes) != 1 or start < 0 or start + into > (sizes[0] or 0):
                what = "a kernel copies a part of one buffer"
                raise VerifyException(f"{what}; of {sizes[0]} bytes, not {into} from byte {start} on")
            return
        if sum(size for size in sizes if size is not None) != into:
            raise VerifyException(f"{' and '.join(map(str, sizes))} bytes do not fill the target's {into}")


@irdl_op_definition
class ScanOp(IRDLOperation):
    """Run a graph once for each turn, with what the turn before gave.

    The graph reads `inputs`, its row of each of `rows`, and what is carried: `initial` at first, then what it wrote in
    the turn before. Each of its outputs is a row of one of `stores`. A store that has fewer rows than there are turns
    is written from its first row on again; what a turn carries on stands in the first of them, as many as there are
    `initial`. Where `directions` has a 1, first for the `rows`, then for the stores, rows go from the last one back.

    The number of turns is said, or is the first of `extents`; the others are the symbols of the graph of a turn. Where
    it is not said where the last turn's row stands, what is carried is copied to `lasts` in the end, without any turn
    what is there before.

    Rows and stores, and what is carried, are in the graph's own memory, since a row has no memref elsewhere.

    ```mlir
    mem.scan @turn turns 9 (%w) over(%x) from(%h) writes(%all) {directions = array<i64: 0, 0>}
      : (memref<4xf32>) over(memref<9x4xf32>) from(memref<4xf32>) writes(memref<9x4xf32>)
    mem.scan @turn extents(%n) (%w) over(%x) from(%h) writes(%all) lasts(%last) {directions = array<i64: 0, 0>}
      : (memref<4xf32>) over(memref<?x4xf32>) from(memref<4xf32>) writes(memref<?x4xf32>) lasts(memref<4xf32>)
    ```
    """

    name = "mem.scan"
    callee = prop_def(FlatSymbolRefAttrConstr)
    turns = opt_prop_def(IntegerAttr.constr(i64))
    directions = prop_def(DenseArrayBase.constr(i64))
    extents = var_operand_def(IndexType())
    inputs = var_operand_def(MemRefType)
    rows = var_operand_def(MemRefType)
    initial = var_operand_def(MemRefType)
    stores = var_operand_def(MemRefType)
    lasts = var_operand_def(MemRefType)
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = (
        "$callee (`turns` $turns^)? (`extents` `(` $extents^ `)`)? `(` $inputs `)` `over` `(` $rows `)`"
        " `from` `(` $initial `)` `writes` `(` $stores `)` (`lasts` `(` $lasts^ `)`)? attr-dict `:`"
        " `(` type($inputs) `)` `over` `(` type($rows) `)` `from` `(` type($initial) `)`"
        " `writes` `(` type($stores) `)` (`lasts` `(` type($lasts)^ `)`)?"
    )

    def __init__(
        self,
        callee: str,
        turns: int | None,
        inputs: Sequence[SSAValue],
        rows: Sequence[SSAValue],
        initial: Sequence[SSAValue],
        stores: Sequence[SSAValue],
        directions: Sequence[int],
        lasts: Sequence[SSAValue] = (),
        extents: Sequence[SSAValue] = (),
    ):
        super().__init__(
            operands=[extents, inputs, rows, initial, stores, lasts],
            properties={
                "callee": SymbolRefAttr(callee),
                "turns": None if turns is None else IntegerAttr(turns, i64),
                "directions": DenseArrayBase.from_list(i64, list(directions)),
            },
        )

    @property
    def known_turns(self) -> int | None:
        """How many turns there are; `None` where the first of `extents` says it."""
        return None if self.turns is None else self.turns.value.data

    @property
    def passed(self) -> Sequence[SSAValue]:
        """The symbols of the graph of a turn."""
        return self.extents[1:] if self.turns is None else self.extents

    @property
    def reads(self) -> Sequence[SSAValue]:
        """The buffers whose contents it needs."""
        return (*self.inputs, *self.rows, *self.initial)

    @property
    def writes(self) -> Sequence[SSAValue]:
        """The buffers whose contents it changes."""
        return (*self.stores, *self.lasts)

    @property
    def scanned(self) -> Sequence[SSAValue]:
        """The buffers that have to be in the graph's own memory."""
        return (*self.rows, *self.initial, *self.stores, *self.lasts)

    def verify_(self) -> None:
        turns, directions = self.known_turns, self.directions.get_values()
        whole = [*self.rows, *self.stores]
        if turns is None and not self.extents:
            raise VerifyException("nothing says how many turns there are")
        if turns is not None and turns < 0:
            raise VerifyException(f"there are 0 turns or more, not {turns}")
        if len(directions) != len(whole) or not set(directions) <= {0, 1}:
            raise VerifyException("each of its rows and stores has a direction, 0 or 1")
        if len(self.initial) > len(self.stores):
            raise VerifyException("what is carried from turn to turn is written by the turns")
        for number, value in enumerate(whole):
            type = buffer_type(value)
            shape = type.get_shape()
            carried = len(self.rows) <= number < len(self.rows) + len(self.initial)
            if not shape or not self._is_enough(shape[0], carried):
                each = "as many turns as a number says" if turns is None else f"{turns} turns"
                raise VerifyException(f"{type} has no rows for {each}")
        if self.lasts and len(self.lasts) != len(self.initial):
            raise VerifyException("of what is carried all or nothing is given behind the last turn")
        carries = [zip(values, self.stores, strict=False) for values in (self.initial, self.lasts)]
        for value, store in (*carries[0], *carries[1]):
            type = buffer_type(store)
            row = MemRefType(type.element_type, type.get_shape()[1:], memory_space=type.memory_space)
            if value.type != row:
                raise VerifyException(f"{value.type} is carried, whose rows are {row}")
        if len({buffer_type(value).memory_space for value in (*self.reads, *self.writes)}) > 1:
            raise VerifyException("works on buffers of several devices")

    def _is_enough(self, extent: int, is_carried: bool) -> bool:
        """Whether so many rows are one for each turn, or enough for what turns carry."""
        if (turns := self.known_turns) is None:
            return extent == DYNAMIC or (is_carried and extent >= 2)
        return (min(turns, 2) if is_carried else turns) <= extent <= turns


Access: TypeAlias = CallOp | CopyOp | ScanOp
"""What reads and writes buffers."""
View: TypeAlias = AliasOp | PartOp
"""What is another buffer, seen otherwise."""


def root_of(value: SSAValue) -> SSAValue:
    """The buffer that `value` is, or is a part of."""
    while isinstance(owner := value.owner, Operation) and isinstance(owner, AliasOp | PartOp):
        value = owner.source
    return value


def start_in_root(value: SSAValue) -> int:
    """The bytes from the start of `root_of(value)` to that of `value`."""
    start = 0
    while isinstance(owner := value.owner, Operation) and isinstance(owner, AliasOp | PartOp):
        if isinstance(owner, PartOp):
            start += owner.offset.value.data
        value = owner.source
    return start
