"""Turns of one function, as many as a tensor has rows: what recurrent networks do."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DenseArrayBase,
    FlatSymbolRefAttrConstr,
    IntegerAttr,
    SymbolRefAttr,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    opt_prop_def,
    prop_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import SymbolUserOpInterface
from xdsl.utils.exceptions import VerifyException

from ..support.operations import irdl_op_definition
from ..support.shaped import is_tensor
from ..support.symbols import lookup_symbol
from .base import DYNAMIC, Fusion, FusionPattern, compatible, tensor
from .functions import FuncOp


class _ScanSymbolUser(SymbolUserOpInterface):
    def verify(self, op: Operation) -> None:
        assert isinstance(op, ScanOp)
        callee = lookup_symbol(op, op.callee)
        if not isinstance(callee, FuncOp):
            raise VerifyException(f"there is no relay.func {op.callee}")
        outputs, count = callee.function_type.outputs.data, len(op.carried)
        for number in op.gathered.get_values():
            if number not in range(len(outputs)):
                raise VerifyException(
                    f"what is gathered is a result of a turn, of which {op.callee} has {len(outputs)}: not {number}"
                )
        made = [*(result.type for result in op.res[:count])]
        rows = dict(zip(op.gathered.get_values(), map(row_type, op.res[count:]), strict=True))
        wanted = [made[n] if n < count else rows.get(n) for n in range(len(outputs))]
        if any(n < count and not compatible(made[n], row) for n, row in rows.items()) or None in wanted:
            raise VerifyException("each result of a turn is carried or gathered, in rows of its type")
        if not _fit(callee.function_type.inputs.data, op.taken_types()) or not _fit(outputs, wanted):
            raise VerifyException(f"a turn of {op.callee} is {callee.function_type}, and not what is scanned")


def row_type(value: SSAValue) -> TensorType[Attribute]:
    """The type of a row of a tensor."""
    return TensorType(tensor(value).element_type, tensor(value).get_shape()[1:])


def _fit(types: Sequence[Attribute], wanted: Sequence[Attribute | None]) -> bool:
    return len(types) == len(wanted) and all(
        other is not None and compatible(one, other) for one, other in zip(types, wanted, strict=True)
    )


@irdl_op_definition
class ScanOp(IRDLOperation):
    """Call a function once for each turn, with what the turn before gave. Counterpart of ONNX's Scan and of JAX's scan.

    A turn takes what is captured, its row of each of `rows`, and what is carried; it gives what is carried on, and more
    if it likes. Those of its results whose numbers are `gathered` stand in tensors, a row for each turn. Where
    `directions` has a 1, first for the `rows`, then for what is gathered, the first turn's row is the last one. Where
    no number of `turns` is said, there is one for each of the rows, whose number is open then; where there are none,
    what is carried stays as it is.

    `for x in rows: carried, *more = f(*captured, x, *carried)`

    ```mlir
    relay.func private @turn(%w: tensor<4xf32>, %x: tensor<4xf32>, %h: tensor<4xf32>) -> tensor<4xf32> {
      %0 = relay.multiply %h, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %1 = relay.add %0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      relay.return %1 : tensor<4xf32>
    }
    relay.func @main(%w: tensor<4xf32>, %x: tensor<9x4xf32>, %h: tensor<4xf32>) -> tensor<9x4xf32> {
      %last, %all = relay.scan @turn(%w) over(%x) from(%h)
        {turns = 9, gathered = array<i64: 0>, directions = array<i64: 0, 0>}
        : (tensor<4xf32>) over(tensor<9x4xf32>) from(tensor<4xf32>) -> tensor<4xf32>, tensor<9x4xf32>
      relay.return %all : tensor<9x4xf32>
    }
    ```
    """

    name = "relay.scan"

    callee = prop_def(FlatSymbolRefAttrConstr)
    turns = opt_prop_def(IntegerAttr.constr(i64))
    gathered = prop_def(DenseArrayBase.constr(i64))
    directions = prop_def(DenseArrayBase.constr(i64))
    captured = var_operand_def(TensorType)
    rows = var_operand_def(TensorType)
    carried = var_operand_def(TensorType)
    res = var_result_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = (
        "$callee `(` $captured `)` `over` `(` $rows `)` `from` `(` $carried `)` attr-dict"
        " `:` `(` type($captured) `)` `over` `(` type($rows) `)` `from` `(` type($carried) `)` `->` type($res)"
    )
    traits = traits_def(_ScanSymbolUser(), FusionPattern(Fusion.OPAQUE))

    def __init__(
        self,
        callee: str,
        captured: Sequence[SSAValue],
        rows: Sequence[SSAValue],
        carried: Sequence[SSAValue],
        turns: int | None,
        gathered: Sequence[tuple[int, Attribute]],
        directions: Sequence[int],
    ):
        """`gathered` are numbers of the callee's results, and the types of a row of each. `turns` are as many as rows
        where nothing is said."""
        types = [value.type for value in carried]
        for _, row in gathered:
            assert is_tensor(row)
            types.append(TensorType(row.element_type, [DYNAMIC if turns is None else turns, *row.get_shape()]))
        super().__init__(
            operands=[captured, rows, carried],
            result_types=[types],
            properties={
                "callee": SymbolRefAttr(callee),
                "turns": None if turns is None else IntegerAttr(turns, i64),
                "gathered": DenseArrayBase.from_list(i64, [number for number, _ in gathered]),
                "directions": DenseArrayBase.from_list(i64, list(directions)),
            },
        )

    @property
    def known_turns(self) -> int | None:
        """How many turns there are; `None` where that is known when the graph runs."""
        return None if self.turns is None else self.turns.value.data

    def taken_types(self) -> list[Attribute]:
        """The types of what a turn takes."""
        captured, carried = ([value.type for value in values] for values in (self.captured, self.carried))
        return [*captured, *map(row_type, self.rows), *carried]

    def row_at(self, number: int, turn: int, turns: int) -> int:
        """Where the row of a turn stands in one of `rows`, or of what is gathered, which comes behind them."""
        return turns - 1 - turn if self.directions.get_values()[number] else turn

    def verify_(self) -> None:
        turns, count = self.known_turns, len(self.carried)
        gathered, directions = self.gathered.get_values(), self.directions.get_values()
        if turns is not None and turns < 0:
            raise VerifyException(f"there are 0 turns or more, not {turns}")
        if turns is None and not self.rows:
            raise VerifyException("there are as many turns as rows, of which there are none")
        if len(self.res) != count + len(gathered) or len(set(gathered)) != len(gathered):
            raise VerifyException("its results are what is carried, and what is gathered, each once")
        if not _fit([value.type for value in self.carried], [result.type for result in self.res[:count]]):
            raise VerifyException("what is carried has other types after the last turn than before the first")
        whole = [*self.rows, *self.res[count:]]
        if len(directions) != len(whole) or not set(directions) <= {0, 1}:
            raise VerifyException("each of its rows has a direction, 0 or 1")
        for value in whole:
            shape = tensor(value).get_shape()
            if not shape or shape[0] != (DYNAMIC if turns is None else turns):
                each = "turn" if turns is None else f"of {turns} turns"
                raise VerifyException(f"{value.type} has no row for each {each}")


OPS: list[type[Operation]] = [ScanOp]
"""Turns of a function."""
