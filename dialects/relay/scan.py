"""Turns of one function, as many as are known: what recurrent networks do."""

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
from .base import Fusion, FusionPattern, is_static, tensor
from .functions import FuncOp


class _ScanSymbolUser(SymbolUserOpInterface):
    def verify(self, op: Operation) -> None:
        assert isinstance(op, ScanOp)
        callee = lookup_symbol(op, op.callee)
        if not isinstance(callee, FuncOp):
            raise VerifyException(f"there is no relay.func {op.callee}")
        given = [*(value.type for value in op.captured), *map(_row, op.rows), *(value.type for value in op.carried)]
        outputs, count = callee.function_type.outputs.data, len(op.carried)
        made = [*(result.type for result in op.res[:count])]
        rows = dict(zip(op.gathered.get_values(), map(_row, op.res[count:]), strict=True))
        wanted = [made[n] if n < count else rows.get(n) for n in range(len(outputs))]
        if any(n < count and made[n] != row for n, row in rows.items()) or None in wanted:
            raise VerifyException("each result of a turn is carried or gathered, in rows of its type")
        if list(callee.function_type.inputs.data) != given or list(outputs) != wanted:
            raise VerifyException(f"a turn of {op.callee} is {callee.function_type}, and not what is scanned")


def _row(value: SSAValue) -> Attribute:
    """The type of a row of a tensor."""
    return TensorType(tensor(value).element_type, tensor(value).get_shape()[1:])


@irdl_op_definition
class ScanOp(IRDLOperation):
    """Call a function once for each turn, with what the turn before gave. Counterpart of ONNX's Scan and of JAX's scan.

    A turn takes what is captured, its row of each of `rows`, and what is carried; it gives what is carried on, and more
    if it likes. Those of its results whose numbers are `gathered` stand in tensors, a row for each turn. Where
    `directions` has a 1, first for the `rows`, then for what is gathered, the first turn's row is the last one.

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
    turns = prop_def(IntegerAttr.constr(i64))
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
        turns: int,
        gathered: Sequence[tuple[int, Attribute]],
        directions: Sequence[int],
    ):
        """`gathered` are numbers of the callee's results, and the types of a row of each."""
        types = [value.type for value in carried]
        for _, row in gathered:
            assert is_tensor(row)
            types.append(TensorType(row.element_type, [turns, *row.get_shape()]))
        super().__init__(
            operands=[captured, rows, carried],
            result_types=[types],
            properties={
                "callee": SymbolRefAttr(callee),
                "turns": IntegerAttr(turns, i64),
                "gathered": DenseArrayBase.from_list(i64, [number for number, _ in gathered]),
                "directions": DenseArrayBase.from_list(i64, list(directions)),
            },
        )

    def row_at(self, number: int, turn: int) -> int:
        """Where the row of a turn stands in one of `rows`, or of what is gathered, which comes behind them."""
        return self.turns.value.data - 1 - turn if self.directions.get_values()[number] else turn

    def verify_(self) -> None:
        turns, count = self.turns.value.data, len(self.carried)
        gathered, directions = self.gathered.get_values(), self.directions.get_values()
        if turns < 1:
            raise VerifyException(f"there is at least one turn, not {turns}")
        if len(self.res) != count + len(gathered) or len(set(gathered)) != len(gathered):
            raise VerifyException("its results are what is carried, and what is gathered, each once")
        if [value.type for value in self.carried] != [result.type for result in self.res[:count]]:
            raise VerifyException("what is carried has other types after the last turn than before the first")
        whole = [*self.rows, *self.res[count:]]
        if len(directions) != len(whole) or not set(directions) <= {0, 1}:
            raise VerifyException("each of its rows has a direction, 0 or 1")
        for value in whole:
            shape = tensor(value).get_shape()
            if not shape or shape[0] != turns:
                raise VerifyException(f"{value.type} has no row for each of {turns} turns")
        if not all(is_static(value.type) for value in (*self.operands, *self.res)):
            raise VerifyException("its extents are known")


OPS: list[type[Operation]] = [ScanOp]
"""Turns of a function."""
