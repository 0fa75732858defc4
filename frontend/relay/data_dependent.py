"""Changes of graphs that the values of their parameters allow: TVM's `relay.data_dep_optimization`.

Each takes a function and its parameters, and gives both anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.ir import BlockArgument

from ...dialects.relay.core import FuncOp
from ...dialects.relay.ops.nn.dense import DenseOp
from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError
from ...transforms.infra.walk import walk
from ...transforms.relay.dense_to_sparse import DenseToSparsePass
from ...transforms.relay.simplify_fc_transpose import SimplifyFCTransposePass
from .analysis import search_fc_transpose
from .module import IRModule

NDArray: TypeAlias = npt.NDArray[np.generic]


@dataclass(frozen=True)
class SparseAnalysisResult:
    """The weights that are sparse, by name, and of each the extents of what stands for it: five numbers."""

    weight_name: list[str]
    weight_shape: list[list[int]]


def block_sparse(matrix: NDArray, block: tuple[int, int]) -> tuple[NDArray, NDArray, NDArray]:
    """A matrix `[n, k]` as its blocks that are not all zeros, `[count, r, c]`, the number of each in its row of blocks,
    `[count]`, and where each row of blocks begins, `[n / r + 1]`: the format BSR. Blocks of one element are `[count]`.

    Raises:
        UsageError: its extents are no multiples of those of a block.
    """
    (rows, columns), (height, width) = matrix.shape, block
    if rows % height or columns % width:
        raise UsageError(f"a matrix of {rows} x {columns} has no blocks of {height} x {width}")
    blocks = matrix.reshape(rows // height, height, columns // width, width).swapaxes(1, 2)
    there = blocks.any(axis=(2, 3))
    found = blocks[there]
    ends = np.cumsum(there.sum(axis=1), dtype=np.int32)
    elements = found.reshape(-1) if block == (1, 1) else found
    return elements, np.nonzero(there)[1].astype(np.int32), np.concatenate([np.zeros(1, np.int32), ends])


@checked
def process_params(
    expr: FuncOp, params: dict[str, NDArray], block_size: tuple[int, int], sparsity_threshold: float
) -> SparseAnalysisResult:
    """Find weights of dense layers that have at least a share of zeros, and put what stands for them into `params`:
    `w.data`, `w.indices` and `w.indptr` for `w`, as `block_sparse` gives them.

    Raises:
        UsageError: a weight has no blocks of that size.
    """
    result = SparseAnalysisResult([], [])
    arguments = {argument.name_hint: argument for argument in func_arguments(expr)}
    for name, argument in arguments.items():
        if name is None or name not in params or not any(_is_weight(use.operation, argument) for use in argument.uses):
            continue
        array = np.asarray(params[name])
        if 1 - np.count_nonzero(array) / max(1, array.size) < sparsity_threshold:
            continue
        data, indices, indptr = block_sparse(array, block_size)
        params.update({f"{name}.data": data, f"{name}.indices": indices, f"{name}.indptr": indptr})
        result.weight_name.append(name)
        result.weight_shape.append([len(data), *block_size, len(indices), len(indptr)])
    return result


def func_arguments(func: FuncOp) -> list[BlockArgument]:
    """The arguments of a function that are weights of dense layers in it, in their order."""
    weights = {op.weight for op in walk(func) if isinstance(op, DenseOp)}
    return [argument for argument in func.body.block.args if argument in weights]


def _is_weight(op: object, argument: BlockArgument) -> bool:
    return isinstance(op, DenseOp) and op.weight is argument


@checked
def convert_to_sparse(
    func: FuncOp, params: Mapping[str, NDArray], blocksize: tuple[int, int], sparsity_threshold: float
) -> tuple[FuncOp, dict[str, NDArray]]:
    """A function whose dense layers take weights of so many zeros as sparse matrices, and its parameters.

    Raises:
        UsageError: a weight has no blocks of that size.
    """
    given = dict(params)
    found = process_params(func, given, blocksize, sparsity_threshold)
    shapes = tuple(number for shape in found.weight_shape for number in shape)
    module = DenseToSparsePass(tuple(found.weight_name), shapes)(IRModule.from_expr(func))
    return IRModule.of(module)["main"], given


@checked
def convert_transposed(func: FuncOp, params: Mapping[str, NDArray]) -> tuple[FuncOp, dict[str, NDArray]]:
    """A function that takes weights transposed that it would transpose, and its parameters, `w.T` in place of `w`."""
    names = search_fc_transpose(func)
    given = {name: array for name, array in params.items() if name not in names}
    given |= {f"{name}.T": np.ascontiguousarray(np.asarray(params[name]).T) for name in names if name in params}
    module = SimplifyFCTransposePass(tuple(names))(IRModule.from_expr(func))
    return IRModule.of(module)["main"], given


bsr_dense = SimpleNamespace(convert=convert_to_sparse)
simplify_fc_transpose = SimpleNamespace(convert=convert_transposed)
sparse_dense = SimpleNamespace(process_params=process_params)
