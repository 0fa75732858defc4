"""Rows of several open extents as rows of one: what goes row by row through weights goes through them once for all.

A fully connected layer of `[batch, length, 768]` has the rows of a matrix, `batch * length` of them. Where these
extents are numbers, `alter-op-layout` sees them so. Where they are open, a kernel would take tiles of rows along the
innermost alone, and read all weights anew for each element of the others: of a batch of 8 sentences with one token each
there would be 8 walks through the weights. So the call of such a function becomes one of the same function of matrices,
and the graph sees memory otherwise before and after:

```mlir
%y = relay.call @f(%x, %w) : (tensor<?x?x768xf32>, ...) -> tensor<?x?x3072xf32>

%0 = relay.view %x : (tensor<?x?x768xf32>) -> tensor<?x768xf32>
%1 = relay.call @f_rows(%0, %w) : (tensor<?x768xf32>, ...) -> tensor<?x3072xf32>
%y = relay.view %1 : (tensor<?x3072xf32>) -> tensor<?x?x3072xf32>
```

It holds for functions of products with a matrix and of operators that are the same on tensors of any shape
(`Pointwise`), whose data has the same extents but for the last one, whatever they are; others stay as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xdsl.dialects.builtin import FunctionType, StringAttr, TensorType
from xdsl.ir import BlockArgument, SSAValue

from ...dialects import te
from ...dialects.relay.base import DYNAMIC, Pointwise, RelayOp, shape_of, tensor
from ...dialects.relay.core import ConstantOp, FuncOp
from ...dialects.relay.ops.nn.dense import DenseOp
from ...dialects.relay.ops.nn.dense_pack import DensePackOp
from ...dialects.support.retyping import retype
from ...dialects.support.shaped import is_tensor

Dims = tuple[te.Dim, ...]


def rows_within(function: FuncOp, inputs: Sequence[Dims], outputs: Sequence[Dims]) -> frozenset[int] | None:
    """The numbers of the inputs whose rows a function goes through, if for inputs and outputs of these extents it is
    the same function of matrices; `None` where it is not, or its rows are those of one extent already."""
    arguments = function.body.block.args
    if len(inputs) != len(arguments) or not outputs:
        return None
    leading = outputs[0][:-1]
    several = [n for n in leading if not isinstance(n, int) or n != 1]
    if len(leading) < 2 or len(several) < 2 or all(isinstance(n, int) for n in leading):
        return None
    if not all(_leads(leading, dims) for dims in outputs):
        return None
    found = frozenset(number for number, dims in enumerate(inputs) if _leads(leading, dims))
    rows: set[SSAValue] = {arguments[number] for number in found}
    products = 0
    for op in function.body.block.ops:
        if op is function.return_op:
            continue
        if isinstance(op, DensePackOp | DenseOp):
            products += 1
            by_rows = not op.transposed()[0] if isinstance(op, DenseOp) else not op.is_batched()
            if op.data not in rows or op.weight in rows or not by_rows:
                return None
        elif isinstance(op, ConstantOp):
            continue
        elif not (isinstance(op, RelayOp) and op.has_trait(Pointwise) and _is_by_rows(op, rows)):
            return None
        rows.update(op.results)
    results = function.return_op.arguments
    if not products or not all(value in rows and not isinstance(value, BlockArgument) for value in results):
        return None
    return found


def _leads(leading: Dims, dims: Dims) -> bool:
    """Whether extents are these, and one more."""
    return len(dims) == len(leading) + 1 and all(map(te.same, leading, dims))


def _is_by_rows(op: RelayOp, rows: Collection[SSAValue]) -> bool:
    """Whether the operands of a pointwise operator are rows, or the same for each row."""
    others = [value for value in op.operands if value not in rows]
    return len(others) < len(op.operands) and all(is_tensor(v.type) and len(shape_of(v)) <= 1 for v in others)


def of_matrices(function: FuncOp, inputs: Collection[int], name: str) -> FuncOp:
    """The same function, by this name, of which these inputs, and all results, are matrices."""
    made = function.clone()
    made.sym_name = StringAttr(name)
    block = made.body.block
    rows: set[SSAValue] = {block.args[number] for number in inputs}
    for value in rows:
        retype(value, _matrix(value))
    for op in block.ops:
        if isinstance(op, RelayOp) and any(operand in rows for operand in op.operands):
            for result, type in zip(op.results, op.infer(), strict=True):
                retype(result, type)
            rows.update(op.results)
    given, results = block.args, made.return_op.arguments
    made.function_type = FunctionType.from_lists([v.type for v in given], [v.type for v in results])
    return made


def _matrix(value: SSAValue) -> TensorType:
    return TensorType(tensor(value).element_type, [DYNAMIC, shape_of(value)[-1]])


def matrix_dims(dims: Dims) -> Dims:
    """The extents of a tensor as a matrix."""
    return (te.product(dims[:-1]), dims[-1])
