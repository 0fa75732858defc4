"""Writes `relay` operations for one ONNX node after the other, and looks at constants on the way."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

from xdsl.dialects.builtin import (
    FileLineColLoc,
    IntAttr,
    LocationAttr,
    NameLoc,
    StringAttr,
    TensorType,
    TupleType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects import te
from ...dialects.relay.base import DYNAMIC, RelayOp, Stateful, flatten_types, is_static, tensor
from ...dialects.relay.core import ConstantOp, FuncOp, ReturnOp, TupleGetOp, TupleOp
from ...dialects.relay.extents import Extents, Known, results_of, unknown
from ...dialects.relay.graph_arguments import named_dim
from ...dialects.relay.reference import evaluate_op
from ...dialects.relay.types import tuple_type
from ...dialects.support.checks import CheckError
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.dtypes import numpy_dtype
from ...dialects.support.retyping import retype
from ...dialects.support.text import as_text
from ...dialects.te.assume import assuming
from ...dialects.te.contents import Number
from .tensors import check_fits, decode

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from onnx import TensorProto

    NDArray: TypeAlias = npt.NDArray[np.generic]

MAX_EVALUATED_ELEMENTS = 1 << 20
"""Constant expressions with larger operands or results are left to `fold-constant`."""


def identifier(name: str) -> str:
    """An ONNX value name as an SSA name or a resource key: `gpu_0/conv1:0` -> `gpu_0_conv1_0`."""
    name = re.sub(r"[^\w$.-]", "_", name, flags=re.ASCII)
    return name if re.match(r"[A-Za-z_$.-]", name) else f"v{name}"


class Emitter:
    """Appends operations to a block.

    Args:
        block: where to.
        file: name of the model's file, for locations.
        directory: the folder in which data outside the model's file is looked for.
    """

    def __init__(self, block: Block, file: str, directory: Path | None):
        self.block = block
        self._outermost = block
        self._around = [block]
        """The blocks that what is appended now stands in, from the outside inwards."""
        self.directory = directory
        self._file = FileLineColLoc(StringAttr(as_text(file)), IntAttr(0), IntAttr(0))
        self._location: LocationAttr = self._file
        self._evaluated: dict[SSAValue, list[NDArray] | None] = {}
        self.extents: Extents | None = None
        """What is known of extents, where an input has some that are open."""
        self.sources: dict[te.Var, tuple[SSAValue, int]] = {}
        """The value, and the axis of it, that a symbol is the extent of; or, with -1, what holds it."""
        self.parts: dict[SSAValue, tuple[SSAValue, SSAValue, int, bool, bool]] = {}
        """Sequences of the parts of one tensor: that, how long they are, along which axis, whether it is dropped."""
        self.growing: dict[SSAValue, tuple[SSAValue, ...]] = {}
        """Sequences that a loop makes longer: that with which a turn begins, and what it has put at the end so far."""
        self.add_function: Callable[[str, FuncOp], str] = _no_function
        """Adds a function to the module, under a name that is free; gives that."""

    def location_of(self, name: str) -> LocationAttr:
        """The location of the model's node or value `name`."""
        return NameLoc(StringAttr(name), self._file)

    def enter(self, name: str) -> None:
        """Place the operations that follow at the model's node `name`."""
        self._location = self.location_of(name)

    @property
    def location(self) -> LocationAttr:
        """Where what is inserted is placed."""
        return self._location

    @contextmanager
    def within(self, block: Block) -> Generator[Block]:
        """Append to another block meanwhile, which an operation will have that is appended afterwards. Constants stand
        outside, where all that follows sees them."""
        around, self.block = self.block, block
        self._around.append(block)
        try:
            yield block
        finally:
            self._around.pop()
            self.block = around

    def follow_extents(self) -> Extents:
        """Find out about extents from now on, if not yet."""
        if self.extents is None:
            self.extents = Extents(depth=self._depth)
        return self.extents

    def _depth(self, symbol: te.Var) -> int:
        """How many blocks are around what says a symbol; more than there are where nothing does that can be seen."""
        source = self.sources.get(symbol)
        block = None if source is None else _block_of(source[0])
        return len(self._around) if block is None or block not in self._around else self._around.index(block)

    def source_of(self, symbol: te.Var) -> tuple[SSAValue, int] | None:
        """What says a symbol, of what can be seen where operations are appended now."""
        found = self.sources.get(symbol)
        return found if found is not None and _block_of(found[0]) in self._around else None

    def insert(self, op: Operation) -> None:
        """Append `op`, with the current location.

        Raises:
            Malformed: its results fit into no memory.
        """
        for type in flatten_types([result.type for result in op.results]):
            check_fits(type)
        op.location = self._location
        self.block.add_op(op)
        if self.extents is None and isinstance(op, RelayOp) and (op.SAYS_EXTENT or _is_open(op)):
            self.follow_extents()
        if self.extents is not None:
            self._learn(op, self.extents)

    def __call__(self, op: RelayOp | ConstantOp | TupleOp | TupleGetOp) -> SSAValue:
        """Append an operation, and give its result."""
        self.insert(op)
        return op.results[0]

    def constant(self, array: NDArray, name: str) -> SSAValue:
        """A constant; `name` becomes part of a large one's key.

        Raises:
            TypeError: Weft has no element type for the array's dtype.
        """
        op = ConstantOp.from_numpy(array, identifier(name))
        with self.within(self._outermost):
            self.insert(op)
        return op.result

    def tuple(self, fields: Sequence[SSAValue]) -> SSAValue:
        op = TupleOp(*fields)
        self.insert(op)
        return op.result

    def tuple_get(self, value: SSAValue, index: int) -> SSAValue:
        op = TupleGetOp(value, index)
        self.insert(op)
        return op.result

    def decode(self, tensor: TensorProto) -> NDArray:
        """The array of a tensor that stands in the model, or in a file beside it."""
        return decode(tensor, self.directory)

    def evaluate(self, value: SSAValue) -> NDArray | None:
        """The tensor that `value` is, if that follows from constants; `None` otherwise.

        Operators are evaluated by their own meaning (`compute`), so that shape arithmetic needs no second definition.
        """
        pending = [value]
        while pending:
            current = pending[-1]
            op = current.owner
            if current in self._evaluated:
                pending.pop()
            elif not isinstance(op, ConstantOp | TupleOp | TupleGetOp | RelayOp) or not _is_small(op):
                self._evaluated[current] = None
            elif missing := [v for v in op.operands if v not in self._evaluated]:
                pending += missing
            else:
                self._evaluated[op.results[0]] = self._evaluate(op)
        arrays = self._evaluated[value]
        return arrays[0] if arrays else self._known(value)

    def _known(self, value: SSAValue) -> NDArray | None:
        """A tensor that does not depend on what symbols are, though it is computed of them."""
        import numpy as np

        numbers = self.contents(value)
        if numbers is None or any(number is None or isinstance(number, te.Expr) for number in numbers):
            return None
        type = tensor(value)
        return np.array(numbers, numpy_dtype(type.element_type)).reshape(type.get_shape())

    # Extents that are symbols

    def begin_symbols(self, arguments: Sequence[tuple[SSAValue, Sequence[Sequence[str]]]]) -> None:
        """Find out about extents from now on, for arguments whose `?` have names; what has none is a symbol of its
        own."""
        extents = self.follow_extents()
        symbols: dict[str, te.Dim] = {}
        given_names = {name for _, names in arguments for each in names for name in each}

        def symbol(name: str) -> te.Dim:
            return symbols.setdefault(name, te.var(name))

        for value, names in arguments:
            dims: list[list[te.Dim]] = []
            found = unknown(flatten_types([value.type]), value.name_hint or "in")
            for each, given in zip(found, names, strict=True):
                named = zip(each.dims, given, strict=True)
                dims.append([named_dim(name, given_names, symbol) if name else dim for dim, name in named])
            extents.known[value] = [Known(tuple(each)) for each in dims]
            for axis, dim in enumerate(dims[0] if isinstance(value.type, TensorType) else ()):
                if isinstance(dim, te.Var):
                    self.sources.setdefault(dim, (value, axis))

    def _learn(self, op: Operation, extents: Extents) -> None:
        """Note what follows for the results of an operation, and make their types as exact as that. What an extent is
        that does not follow from others, the result of which it is the extent says."""
        self._note(op, extents)
        for result in op.results:
            for axis, dim in enumerate(extents.of(result)[0].dims if isinstance(result.type, TensorType) else ()):
                if isinstance(dim, te.Var) and self.source_of(dim) is None:
                    self.sources[dim] = result, axis

    def _note(self, op: Operation, extents: Extents) -> None:
        """Note what is known of the results of an operation."""
        _note_operands(op, extents)
        types = [flatten_types([result.type]) for result in op.results]
        flat = [type for each in types for type in each]
        if not op.results:
            return
        if isinstance(op, RelayOp) and all(is_static(type) and prod(type.get_shape()) > MAX_CONTENTS for type in flat):
            extents.note(op, [Known(tuple(type.get_shape())) for type in flat])
            return
        try:
            extents.add(op)
        except (Diagnostic, NotImplementedError):
            extents.note(op, unknown(flat, op.name.rpartition(".")[2]))
            return
        if isinstance(op, RelayOp) and op.SAYS_EXTENT and (held := extents.of(op.results[0])[0].contents) is not None:
            if isinstance(held[0], te.Var):
                self.sources.setdefault(held[0], (op.results[0], -1))
        for result in op.results:
            retype(result, _exact(result.type, iter(extents.of(result))))

    def dims(self, value: SSAValue) -> tuple[te.Dim, ...]:
        """The extents of a tensor, which may be symbols."""
        if self.extents is None or value not in self.extents.known:
            return unknown(flatten_types([value.type]), "n")[0].dims
        return self.extents.of(value)[0].dims

    def contents(self, value: SSAValue) -> Sequence[Number] | None:
        """What a small tensor holds, as far as that is known."""
        if self.extents is None or value not in self.extents.known or not isinstance(value.type, TensorType):
            return None
        return self.extents.of(value)[0].contents

    def computes(self, op: RelayOp) -> bool:
        """Whether an operation can be computed with the extents that its operands have, whatever data decides. It is
        not inserted."""
        if self.extents is None:
            return True
        _note_operands(op, self.extents)
        try:
            given = [tensor for operand in op.operands for tensor in self.extents.tensors(operand)]
            with assuming() as asked:
                results_of(op, given)
            for a, b in asked.at_most:
                asks = self.extents.asked_of_inputs(op, a, b) is not None
                if asks and any(map(self.extents.depends_on_data, (a, b))):
                    return False  # data seldom makes an extent as large as it may be, which inputs would be asked for
        except Diagnostic:
            return False
        return True

    def _evaluate(self, op: Operation) -> list[NDArray] | None:
        """The result of an operation whose operands were evaluated; tuples are lists of tensors."""
        inputs: list[list[NDArray]] = []
        for operand in op.operands:
            arrays = self._evaluated[operand]
            if arrays is None:
                return None
            inputs.append(arrays)
        match op:
            case ConstantOp():
                array = op.numpy()
                return None if array is None else [array]
            case TupleOp():
                return [array for arrays in inputs for array in arrays]
            case TupleGetOp():
                return [inputs[0][op.index.value.data]]
            case RelayOp():
                try:
                    return evaluate_op(op, [array for arrays in inputs for array in arrays])
                except CheckError:  # it fails when it runs, if it does
                    return None
            case _:
                return None

    def finish(self, results: Sequence[SSAValue]) -> None:
        """Return `results`, and drop what only served to find out constants. What an operation has said of the extents
        of values before it, their types say from now on."""
        if self.extents is not None:
            for value in (*self.block.args, *(result for op in self.block.ops for result in op.results)):
                if value in self.extents.known:
                    retype(value, _exact(value.type, iter(self.extents.of(value))))
        self._location = self._file
        self.insert(ReturnOp(*results))
        for op in reversed(list(self.block.ops)):
            if op.results and not any(r.first_use for r in op.results) and not op.has_trait(Stateful):
                op.detach()
                op.erase()


def _block_of(value: SSAValue) -> Block | None:
    """The block that a value is made in."""
    return value.owner if isinstance(value.owner, Block) else value.owner.parent_block()


def _note_operands(op: Operation, extents: Extents) -> None:
    """Note what is known of the operands of an operation, as far as nothing is noted yet."""
    for operand in op.operands:
        if operand in extents.known:
            continue
        if isinstance(operand.owner, ConstantOp):
            extents.add(operand.owner)
        else:
            extents.known[operand] = unknown(flatten_types([operand.type]), operand.name_hint or "n")


def _no_function(name: str, function: FuncOp) -> str:
    raise AssertionError(f"there is no module that @{name} could be added to")


MAX_CONTENTS = 64
"""Of larger tensors the elements are not followed."""


def _exact(type: Attribute, known: Iterator[Known]) -> Attribute:
    """A type with the extents that are known."""
    if isinstance(type, TupleType):
        return tuple_type(*(_exact(field, known) for field in type.types))
    if not isinstance(type, TensorType):
        return type
    dims = next(known).dims
    return TensorType(
        tensor(cast("Attribute", type)).element_type, [dim if isinstance(dim, int) else DYNAMIC for dim in dims]
    )


def _is_open(op: Operation) -> bool:
    """Whether an operation has a result of an extent that is open."""
    return not all(map(is_static, flatten_types([result.type for result in op.results])))


def _is_small(op: Operation) -> bool:
    """Whether an operation may be evaluated while importing: neither what it reads nor what it makes is large."""
    if isinstance(op, ConstantOp):
        return True
    types = [value.type for value in (*op.operands, *op.results)]
    return all(map(is_static, types)) and all(
        prod(type.get_shape()) <= MAX_EVALUATED_ELEMENTS for type in flatten_types(types)
    )
