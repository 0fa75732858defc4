"""Changes of graphs that the values of their parameters allow: TVM's `relay.data_dep_optimization`.

Each takes a function and its parameters, and gives both anew.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.ir import BlockArgument, SSAValue

from ...dialects.relay.core import FuncOp
from ...dialects.relay.functions import name_of
from ...dialects.relay.ops.nn.convolution import Conv2dOp
from ...dialects.relay.ops.nn.dense import DenseOp
from ...dialects.support.arguments import checked
from ...transforms.infra.walk import walk
from ...transforms.relay.conv2d_to_sparse import Conv2dToSparsePass, check_layout
from ...transforms.relay.conv2d_to_sparse2 import Conv2dToSparse2Pass
from ...transforms.relay.dense_to_sparse import DenseToSparsePass
from ...transforms.relay.simplify_fc_transpose import SimplifyFCTransposePass
from ...transforms.relay.sparse_weights import as_matrix, block_sparse, why_not_sparse
from .analysis import search_fc_transpose
from .module import IRModule

NDArray: TypeAlias = npt.NDArray[np.generic]


@dataclass(frozen=True)
class SparseAnalysisResult:
    """The weights that are sparse, by name, and of each the extents of what stands for it: five numbers."""

    weight_name: list[str]
    weight_shape: list[list[int]]


@checked
def process_params(
    expr: FuncOp, params: dict[str, NDArray], block_size: tuple[int, int], sparsity_threshold: float
) -> SparseAnalysisResult:
    """Find weights of dense layers that have at least a share of zeros, and put what stands for each into `params` in
    its place: `w.data`, `w.indices` and `w.indptr` for `w`.

    Raises:
        UsageError: a weight has no blocks of that size.
    """
    result = SparseAnalysisResult([], [])
    for name in _names_of(expr, {op.weight for op in walk(expr) if isinstance(op, DenseOp)}, params):
        array = np.asarray(params[name])
        if 1 - np.count_nonzero(array) / max(1, array.size) >= sparsity_threshold:
            _put(result, params, name, array, block_size, block_size == (1, 1))
    return result


@checked
def process_conv2d_params(
    expr: FuncOp,
    params: dict[str, NDArray],
    block_size: tuple[int, int],
    sparsity_threshold: float,
    layout: str = "NHWC",
    kernel_size: int = 1,
    reg_task_input: bool = True,
) -> SparseAnalysisResult:
    """Find weights of convolutions that have at least a share of zeros, of data in a layout and with `kernel_size` taps
    each way, and put what stands for each into `params` in its place, as `process_params` does. Of weights of one tap
    single zeros are counted, of others those in blocks of zeros. `reg_task_input` says nothing here.

    Raises:
        UsageError: a weight has no blocks of that size, or there is no such layout.
    """
    check_layout(layout)
    result = SparseAnalysisResult([], [])
    convs = {op.weight: op for op in walk(expr) if isinstance(op, Conv2dOp)}
    fitting = {weight: op for weight, op in convs.items() if why_not_sparse(op, layout, kernel_size) is None}
    for name, weight in _names_of(expr, fitting, params).items():
        matrix = as_matrix(np.asarray(params[name]), fitting[weight].layouts()[1].text, layout)
        count = np.count_nonzero(matrix) if kernel_size == 1 else block_sparse(matrix, block_size)[0].size
        if 1 - count / max(1, matrix.size) >= sparsity_threshold:
            _put(result, params, name, matrix, block_size, False)
    return result


def _names_of(func: FuncOp, weights: Collection[SSAValue], params: Mapping[str, NDArray]) -> dict[str, BlockArgument]:
    """Which parameters of a function are among weights, by their names, in their order."""
    arguments = [each for each in func.body.block.args if each in weights]
    return {name: each for each in arguments if (name := name_of(each)) in params}


def _put(
    result: SparseAnalysisResult,
    params: dict[str, NDArray],
    name: str,
    matrix: NDArray,
    block: tuple[int, int],
    whole_elements: bool,
) -> None:
    """Put the parts of a sparse matrix in the place of a parameter."""
    data, indices, indptr = block_sparse(matrix, block)
    del params[name]
    elements = data.reshape(-1) if whole_elements else data
    params.update({f"{name}.data": elements, f"{name}.indices": indices, f"{name}.indptr": indptr})
    result.weight_name.append(name)
    result.weight_shape.append([len(data), *block, len(indices), len(indptr)])


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
def convert_conv2d_to_sparse(
    func: FuncOp,
    params: Mapping[str, NDArray],
    blocksize: tuple[int, int],
    sparsity_threshold: float,
    layout: str = "NHWC",
    kernel_size: int = 1,
) -> tuple[FuncOp, dict[str, NDArray]]:
    """A function whose convolutions take weights of so many zeros as sparse matrices, and its parameters.

    Raises:
        UsageError: a weight has no blocks of that size, or there is no such layout.
    """
    given = dict(params)
    found = process_conv2d_params(func, given, blocksize, sparsity_threshold, layout, kernel_size)
    shapes = tuple(number for shape in found.weight_shape for number in shape)
    change = Conv2dToSparsePass(tuple(found.weight_name), shapes, layout, kernel_size)
    return IRModule.of(change(IRModule.from_expr(func)))["main"], given


@checked
def convert_constant_conv2d_to_sparse(
    func: FuncOp,
    params: Mapping[str, NDArray],
    blocksize: tuple[int, int],
    sparsity_threshold: float,
    layout: str,
    kernel_size: int,
) -> tuple[FuncOp, dict[str, NDArray]]:
    """A function whose convolutions are sparse where their weights are constants of so many zeros; and its parameters,
    as they are.

    Raises:
        UsageError: there is no such layout.
    """
    change = Conv2dToSparse2Pass(layout, kernel_size, blocksize, sparsity_threshold)
    return IRModule.of(change(IRModule.from_expr(func)))["main"], dict(params)


@checked
def convert_transposed(func: FuncOp, params: Mapping[str, NDArray]) -> tuple[FuncOp, dict[str, NDArray]]:
    """A function that takes weights transposed that it would transpose, and its parameters, `w.T` in place of `w`."""
    names = search_fc_transpose(func)
    given = {name: array for name, array in params.items() if name not in names}
    given |= {f"{name}.T": np.ascontiguousarray(np.asarray(params[name]).T) for name in names if name in params}
    module = SimplifyFCTransposePass(tuple(names))(IRModule.from_expr(func))
    return IRModule.of(module)["main"], given


bsr_dense = SimpleNamespace(convert=convert_to_sparse)
bsr_conv2d = SimpleNamespace(convert=convert_conv2d_to_sparse, convert2=convert_constant_conv2d_to_sparse)
simplify_fc_transpose = SimpleNamespace(convert=convert_transposed)
sparse_dense = SimpleNamespace(process_params=process_params)
sparse_conv2d = SimpleNamespace(process_params=process_conv2d_params)
