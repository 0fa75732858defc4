"""Write models of one operator each, at sizes of networks and at sizes that do not divide.

    python bench/make_operators.py OUT_DIR [WORD ...]   # those whose names have a word; all without one

Operands that are weights, indices or sizes are constants from a seed; all else is an input.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

Constant = np.ndarray[Any, Any]
Input = tuple[Sequence[int], str]
Case = tuple[str, str, Sequence["Input | Constant | None"], dict[str, Any], int]

_random = np.random.default_rng(0)


def weights(*shape: int, dtype: str = "float32") -> Constant:
    """Random constants."""
    if np.issubdtype(np.dtype(dtype), np.integer):
        return _random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype, endpoint=True)
    return (_random.standard_normal(shape) / 8).astype(dtype)


def places(extent: int, *shape: int) -> Constant:
    """Random indices below an extent."""
    return _random.integers(0, extent, shape, "int64")


def different(extent: int, count: int) -> Constant:
    """Indices below an extent, none of them twice."""
    return _random.permutation(extent)[:count].astype("int64")


def ints(*values: int) -> Constant:
    return np.array(values, "int64")


def scalar(value: float, dtype: str = "float32") -> Constant:
    return np.array(value, dtype)


def of(*shape: int, dtype: str = "float32") -> Input:
    return shape, dtype


def _elementwise() -> list[Case]:
    unary = (
        "Abs Acos Asin Atan Ceil Cos Elu Erf Exp Floor Gelu HardSigmoid HardSwish LeakyRelu Log Mish Neg Reciprocal "
        "Relu Round Selu Sigmoid Sign Sin Softplus Softsign Sqrt Tan Tanh"
    ).split()
    cases: list[Case] = [(f"{op.lower()}_128x777", op, [of(128, 777)], {}, 1) for op in unary]
    cases += [(f"{op.lower()}_rows", op, [of(128, 777), of(777)], {}, 1) for op in ("Add", "Mul", "Div", "Max", "Pow")]
    cases += [(f"{op.lower()}_columns", op, [of(16, 33, 1, 57), of(33, 20, 1)], {}, 1) for op in ("Add", "Sub")]
    for dtype in ("int32", "int64", "uint8", "float16", "float64"):
        cases += [(f"{op.lower()}_{dtype}", op, [of(100, 501, dtype=dtype)] * 2, {}, 1) for op in ("Add", "Mul", "Max")]
    for dtype in ("int32", "int64"):
        cases += [
            (f"{op.lower()}_{dtype}", op, [of(100, 501, dtype=dtype), weights(501, dtype=dtype) | 1], {}, 1)
            for op in ("Div", "Mod")
        ]
    cases += [
        ("pow_2", "Pow", [of(128, 777), scalar(2)], {}, 1),
        ("pow_half", "Pow", [of(128, 777), scalar(0.5)], {}, 1),
        ("clip", "Clip", [of(128, 777), scalar(-0.5), scalar(0.5)], {}, 1),
        ("prelu", "PRelu", [of(1, 33, 57, 61), weights(33, 1, 1)], {}, 1),
        ("where", "Where", [of(100, 501, dtype="bool"), of(100, 501), scalar(0)], {}, 1),
        ("less", "Less", [of(100, 501), of(501)], {}, 1),
        ("not", "Not", [of(100, 501, dtype="bool")], {}, 1),
        ("cast_u8_f32", "Cast", [of(100, 501, dtype="uint8")], {"to": 1}, 1),
        ("cast_f32_i64", "Cast", [of(100, 501)], {"to": 7}, 1),
        ("cast_f32_f16", "Cast", [of(100, 501)], {"to": 10}, 1),
        ("cast_i64_f32", "Cast", [of(100, 501, dtype="int64")], {"to": 1}, 1),
        ("quantize", "QuantizeLinear", [of(100, 501), scalar(0.02), scalar(128, "uint8")], {}, 1),
        ("quantize_i8", "QuantizeLinear", [of(100, 501), scalar(0.02), scalar(0, "int8")], {}, 1),
        ("dequantize", "DequantizeLinear", [of(100, 501, dtype="uint8"), scalar(0.02), scalar(128, "uint8")], {}, 1),
        ("dynamic_quantize", "DynamicQuantizeLinear", [of(100, 501)], {}, 3),
    ]
    return cases


def _reductions() -> list[Case]:
    cases: list[Case] = []
    for op in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceProd", "ReduceL2", "ReduceLogSumExp"):
        for axes, shape in (((1,), (300, 777)), ((0,), (300, 777)), ((2, 3), (8, 33, 19, 21)), ((1,), (8, 33, 400))):
            name = f"{op.lower()}_{'x'.join(map(str, shape))}_{'_'.join(map(str, axes))}"
            cases.append((name, op, [of(*shape), ints(*axes)], {"keepdims": 0}, 1))
    for op in ("ArgMax", "ArgMin"):
        cases += [(f"{op.lower()}_{axis}", op, [of(8, 21, 60, 61)], {"axis": axis}, 1) for axis in (0, 1, 3)]
    for op in ("Softmax", "LogSoftmax"):
        cases += [
            (f"{op.lower()}_{'x'.join(map(str, shape))}_{axis}", op, [of(*shape)], {"axis": axis}, 1)
            for shape, axis in (((12, 197, 197), 2), ((1, 1000), 1), ((4096, 10), 1), ((8, 33, 30, 41), 1))
        ]
    cases += [
        ("layer_norm", "LayerNormalization", [of(1, 197, 768), weights(768), weights(768)], {}, 1),
        ("layer_norm_97", "LayerNormalization", [of(33, 97), weights(97), weights(97)], {}, 1),
        ("rms_norm", "RMSNormalization", [of(1, 197, 768), weights(768)], {}, 1),
        ("instance_norm", "InstanceNormalization", [of(2, 33, 57, 61), weights(33), weights(33)], {}, 1),
        ("group_norm", "GroupNormalization", [of(2, 32, 57, 61), weights(32), weights(32)], {"num_groups": 8}, 1),
        (
            "batch_norm",
            "BatchNormalization",
            [of(2, 33, 57, 61), weights(33), weights(33), weights(33), abs(weights(33))],
            {},
            1,
        ),
        ("lrn", "LRN", [of(1, 64, 55, 55)], {"size": 5}, 1),
        ("lp_norm", "LpNormalization", [of(100, 501)], {"axis": 1, "p": 2}, 1),
        ("cumsum_rows", "CumSum", [of(64, 512), scalar(1, "int64")], {}, 1),
        ("cumsum_columns", "CumSum", [of(64, 512), scalar(0, "int64")], {}, 1),
        ("hardmax", "Hardmax", [of(100, 501)], {}, 1),
    ]
    return cases


def _convolutions() -> list[Case]:
    def conv(name: str, image: Sequence[int], kernel: Sequence[int], **attributes: Any) -> Case:
        pads = attributes.pop("pads", [each // 2 for each in kernel[2:]] * 2)
        return name, "Conv", [of(*image), weights(*kernel), weights(kernel[0])], {"pads": pads, **attributes}, 1

    def turned(name: str, image: Sequence[int], kernel: Sequence[int], **attributes: Any) -> Case:
        return name, "ConvTranspose", [of(*image), weights(*kernel), weights(kernel[1])], attributes, 1

    cases = [
        conv("conv_3x3_64", (1, 64, 56, 56), (64, 64, 3, 3)),
        conv("conv_3x3_128_s2", (1, 128, 28, 28), (128, 128, 3, 3), strides=[2, 2]),
        conv("conv_3x3_256_s2_14", (1, 128, 14, 14), (256, 128, 3, 3), strides=[2, 2]),
        conv("conv_1x1_256", (1, 256, 14, 14), (512, 256, 1, 1)),
        conv("conv_1x1_96_57", (1, 96, 57, 57), (24, 96, 1, 1)),
        conv("conv_1x1_s2", (1, 256, 56, 56), (512, 256, 1, 1), strides=[2, 2]),
        conv("conv_7x7_s2", (1, 3, 224, 224), (64, 3, 7, 7), strides=[2, 2]),
        conv("conv_3x3_s2_image", (1, 3, 224, 224), (32, 3, 3, 3), strides=[2, 2]),
        conv("conv_5x5_odd", (1, 17, 31, 29), (37, 17, 5, 5)),
        conv("conv_3x3_dilated", (1, 64, 33, 33), (64, 64, 3, 3), dilations=[2, 2], pads=[2] * 4),
        conv("conv_3x3_grouped", (1, 128, 28, 28), (128, 4, 3, 3), group=32),
        conv("conv_3x3_grouped_24", (1, 144, 28, 28), (144, 24, 3, 3), group=6),
        conv("conv_depthwise_3x3", (1, 144, 56, 56), (144, 1, 3, 3), group=144),
        conv("conv_depthwise_5x5_s2", (1, 72, 57, 57), (72, 1, 5, 5), group=72, strides=[2, 2]),
        conv("conv_depthwise_7x7", (1, 96, 56, 56), (96, 1, 7, 7), group=96),
        conv("conv_depthwise_twice", (1, 33, 40, 40), (66, 1, 3, 3), group=33),
        conv("conv_1d_3", (1, 64, 1000), (64, 64, 3)),
        conv("conv_1d_dilated", (1, 32, 4000), (64, 32, 3), dilations=[8], pads=[8, 8]),
        conv("conv_1d_depthwise", (1, 256, 200), (256, 1, 31), group=256),
        conv("conv_3d", (1, 16, 20, 33, 35), (24, 16, 3, 3, 3)),
        conv("conv_batch_8", (8, 32, 28, 28), (48, 32, 3, 3)),
        conv("conv_1x1_one_pixel", (1, 960, 1, 1), (240, 960, 1, 1)),
        turned("conv_transpose_4x4_s2", (1, 64, 28, 28), (64, 32, 4, 4), strides=[2, 2], pads=[1] * 4),
        turned("conv_transpose_2x2_s2", (1, 128, 28, 28), (128, 64, 2, 2), strides=[2, 2]),
        turned("conv_transpose_3x3_s2", (1, 33, 20, 21), (33, 17, 3, 3), strides=[2, 2], output_padding=[1, 1]),
        turned("conv_transpose_1d", (1, 128, 100), (128, 64, 16), strides=[8], pads=[4, 4]),
    ]
    pools: list[Case] = []
    for op in ("MaxPool", "AveragePool"):
        pools += [
            (
                f"{op.lower()}_3x3_s2",
                op,
                [of(1, 64, 112, 112)],
                {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4},
                1,
            ),
            (f"{op.lower()}_2x2_s2", op, [of(1, 33, 57, 61)], {"kernel_shape": [2, 2], "strides": [2, 2]}, 1),
            (f"{op.lower()}_5x5", op, [of(1, 64, 20, 20)], {"kernel_shape": [5, 5], "pads": [2] * 4}, 1),
        ]
    pools += [
        ("lppool", "LpPool", [of(1, 33, 57, 61)], {"kernel_shape": [3, 3], "strides": [2, 2]}, 1),
        ("global_average_pool", "GlobalAveragePool", [of(1, 512, 7, 7)], {}, 1),
        ("global_average_pool_56", "GlobalAveragePool", [of(4, 33, 56, 56)], {}, 1),
        ("global_max_pool", "GlobalMaxPool", [of(1, 512, 7, 7)], {}, 1),
    ]
    return cases + pools


def _products() -> list[Case]:
    cases: list[Case] = []
    for rows, inner, columns in (
        (1, 768, 768),
        (1, 1000, 4001),
        (8, 512, 512),
        (33, 257, 129),
        (128, 768, 3072),
        (197, 768, 768),
    ):
        cases.append((f"matmul_{rows}x{inner}x{columns}", "MatMul", [of(rows, inner), weights(inner, columns)], {}, 1))
    for shape in ((64, 64, 64), (512, 512, 512), (33, 257, 129), (1, 768, 768)):
        name = "x".join(map(str, shape))
        cases.append((f"matmul_inputs_{name}", "MatMul", [of(*shape[:2]), of(*shape[1:])], {}, 1))
        cases.append((f"gemm_transposed_{name}", "Gemm", [of(*shape[:2]), of(*shape[:0:-1])], {"transB": 1}, 1))
    for dtype in ("float16", "float64"):
        cases.append((f"matmul_{dtype}", "MatMul", [of(128, 256, dtype=dtype), weights(256, 512, dtype=dtype)], {}, 1))
    cases += [
        ("batch_matmul", "MatMul", [of(12, 128, 64), of(12, 64, 128)], {}, 1),
        ("batch_matmul_odd", "MatMul", [of(7, 33, 65), of(7, 65, 31)], {}, 1),
        ("batch_matmul_row", "MatMul", [of(12, 1, 64), of(12, 64, 256)], {}, 1),
        ("gemm_bias", "Gemm", [of(10, 512), weights(1000, 512), weights(1000)], {"transB": 1}, 1),
        ("matmul_integer_65", "MatMulInteger", [of(65, 512, dtype="uint8"), weights(512, 512, dtype="int8")], {}, 1),
        ("matmul_integer_1", "MatMulInteger", [of(1, 512, dtype="uint8"), weights(512, 512, dtype="int8")], {}, 1),
        ("einsum_bhqk", "Einsum", [of(2, 64, 8, 32), of(2, 64, 8, 32)], {"equation": "bqhd,bkhd->bhqk"}, 1),
        ("einsum_outer", "Einsum", [of(100), of(333)], {"equation": "i,j->ij"}, 1),
        ("det", "Det", [of(100, 4, 4)], {}, 1),
        ("lstm", "LSTM", [of(20, 1, 128), weights(1, 512, 128), weights(1, 512, 128)], {"hidden_size": 128}, 3),
        ("gru", "GRU", [of(20, 1, 128), weights(1, 384, 128), weights(1, 384, 128)], {"hidden_size": 128}, 2),
        ("rnn", "RNN", [of(20, 4, 65), weights(1, 65, 65), weights(1, 65, 65)], {"hidden_size": 65}, 2),
    ]
    return cases


def _movement() -> list[Case]:
    def resize(name: str, shape: Sequence[int], scales: Sequence[float], **attributes: Any) -> Case:
        operands = [of(*shape), np.array([], "float32"), np.array(scales, "float32")]
        return name, "Resize", operands, attributes, 1

    cases: list[Case] = [
        (
            f"transpose_{'x'.join(map(str, shape))}_{''.join(map(str, order))}",
            "Transpose",
            [of(*shape)],
            {"perm": order},
            1,
        )
        for shape, order in (
            ((512, 513), (1, 0)),
            ((1, 33, 57, 61), (0, 2, 3, 1)),
            ((1, 57, 61, 33), (0, 3, 1, 2)),
            ((1, 128, 12, 64), (0, 2, 1, 3)),
            ((8, 9, 10, 11, 12), (4, 2, 0, 3, 1)),
            ((4, 3, 200, 201), (0, 1, 3, 2)),
        )
    ]
    cases += [
        ("concat_channels", "Concat", [of(1, 33, 40, 41), of(1, 65, 40, 41)], {"axis": 1}, 1),
        ("concat_rows", "Concat", [of(100, 33), of(100, 65), of(100, 1)], {"axis": 1}, 1),
        ("split", "Split", [of(100, 768)], {"axis": 1, "num_outputs": 3}, 3),
        ("slice_step", "Slice", [of(100, 501), ints(1, 3), ints(99, 499), ints(0, 1), ints(2, 3)], {}, 1),
        ("slice_reversed", "Slice", [of(100, 501), ints(-1), ints(-1000), ints(1), ints(-1)], {}, 1),
        ("pad", "Pad", [of(1, 33, 57, 61), ints(0, 0, 1, 2, 0, 0, 3, 4)], {}, 1),
        ("pad_reflect", "Pad", [of(1, 33, 57, 61), ints(0, 0, 1, 2, 0, 0, 3, 4)], {"mode": "reflect"}, 1),
        ("pad_edge", "Pad", [of(1, 33, 57, 61), ints(0, 0, 1, 2, 0, 0, 3, 4)], {"mode": "edge"}, 1),
        ("tile", "Tile", [of(33, 64, 57), ints(2, 3, 2)], {}, 1),
        ("expand", "Expand", [of(33, 1, 57), ints(33, 64, 57)], {}, 1),
        ("gather_rows", "Gather", [of(1000, 64), places(1000, 200)], {}, 1),
        ("gather_columns", "Gather", [of(200, 1000), places(1000, 100)], {"axis": 1}, 1),
        ("gather_elements", "GatherElements", [of(200, 1000), places(1000, 200, 50)], {"axis": 1}, 1),
        ("gather_nd", "GatherND", [of(50, 60, 64), places(50, 200, 2)], {}, 1),
        ("embedding", "Gather", [weights(30000, 768), of(1, 128, dtype="int64")], {}, 1),
        ("scatter_nd", "ScatterND", [of(1000, 64), different(1000, 100)[:, None], of(100, 64)], {}, 1),
        ("scatter_nd_add", "ScatterND", [of(1000, 64), places(1000, 500, 1), of(500, 64)], {"reduction": "add"}, 1),
        (
            "scatter_elements",
            "ScatterElements",
            [of(1000, 64), np.tile(different(1000, 100)[:, None], (1, 64)), of(100, 64)],
            {"axis": 0},
            1,
        ),
        ("one_hot", "OneHot", [of(1000, dtype="int64"), scalar(64, "int64"), np.array([0, 1], "float32")], {}, 1),
        ("trilu", "Trilu", [of(16, 333, 333)], {"upper": 0}, 1),
        ("depth_to_space", "DepthToSpace", [of(1, 64, 57, 61)], {"blocksize": 2}, 1),
        ("space_to_depth", "SpaceToDepth", [of(1, 16, 58, 62)], {"blocksize": 2}, 1),
        ("reverse_sequence", "ReverseSequence", [of(100, 8, 33), places(100, 8)], {"time_axis": 0, "batch_axis": 1}, 1),
        ("nonzero", "NonZero", [of(100, 501)], {}, 1),
        ("compress", "Compress", [of(1000, 64), _random.random(1000) < 0.5], {"axis": 0}, 1),
        ("unique", "Unique", [of(5000, dtype="int64")], {"sorted": 1}, 1),
        ("eye_like", "EyeLike", [of(300, 301)], {}, 1),
        ("range", "Range", [scalar(0), scalar(10000), scalar(1)], {}, 1),
        ("topk_5", "TopK", [of(1, 1000), ints(5)], {}, 2),
        ("topk_1", "TopK", [of(32, 1000), ints(1)], {}, 2),
        ("topk_100_of_8400", "TopK", [of(1, 8400), ints(100)], {}, 2),
        ("topk_300_of_1000", "TopK", [of(1, 1000), ints(300)], {}, 2),
        ("topk_columns", "TopK", [of(100, 64), ints(5)], {"axis": 0}, 2),
        resize("resize_nearest_2", (1, 64, 40, 41), (1, 1, 2, 2), mode="nearest"),
        resize("resize_linear_2", (1, 64, 40, 41), (1, 1, 2, 2), mode="linear"),
        resize("resize_linear_1_7", (2, 24, 57, 61), (1, 1, 1.7, 1.7), mode="linear"),
        resize(
            "resize_corners",
            (1, 24, 57, 61),
            (1, 1, 2, 2),
            mode="linear",
            coordinate_transformation_mode="align_corners",
        ),
        resize("resize_cubic_2", (1, 16, 40, 41), (1, 1, 2, 2), mode="cubic"),
        resize("resize_half", (1, 24, 64, 64), (1, 1, 0.5, 0.5), mode="linear", antialias=1),
        ("grid_sample", "GridSample", [of(1, 32, 40, 41), weights(1, 30, 31, 2) * 4], {}, 1),
        ("grid_sample_nearest", "GridSample", [of(1, 32, 40, 41), weights(1, 30, 31, 2) * 4], {"mode": "nearest"}, 1),
        (
            "roi_align",
            "RoiAlign",
            [
                of(1, 64, 50, 51),
                np.sort(_random.random((50, 2, 2)) * 50, 1).reshape(50, 4).astype("float32"),
                places(1, 50),
            ],
            {"output_height": 7, "output_width": 7, "sampling_ratio": 2},
            1,
        ),
        (
            "max_roi_pool",
            "MaxRoiPool",
            [
                of(1, 64, 50, 51),
                np.c_[np.zeros(50), np.sort(_random.integers(0, 50, (50, 2, 2)), 1).reshape(50, 4)].astype("float32"),
            ],
            {"pooled_shape": [7, 7]},
            1,
        ),
        (
            "nms",
            "NonMaxSuppression",
            [
                np.sort(_random.random((1, 500, 2, 2)), 2).reshape(1, 500, 4).astype("float32"),
                of(1, 8, 500),
                scalar(20, "int64"),
                scalar(0.5),
                scalar(0.1),
            ],
            {},
            1,
        ),
        ("dft", "DFT", [of(1, 256, 1)], {"axis": 1}, 1),
    ]
    return cases


GROUPS: dict[str, Callable[[], list[Case]]] = {
    "elementwise": _elementwise,
    "reductions": _reductions,
    "convolutions": _convolutions,
    "products": _products,
    "movement": _movement,
}


def make_operator(case: Case) -> onnx.ModelProto:
    """A model of one operator: shapes of outputs are inferred."""
    _, op, operands, attributes, results = case
    inputs: list[onnx.ValueInfoProto] = []
    constants: list[onnx.TensorProto] = []
    for number, operand in enumerate(operands):
        if isinstance(operand, np.ndarray):
            constants.append(numpy_helper.from_array(operand, f"x{number}"))
        elif operand is not None:
            element = helper.np_dtype_to_tensor_dtype(np.dtype(operand[1]))
            inputs.append(helper.make_tensor_value_info(f"x{number}", element, operand[0]))
    names = ["" if operand is None else f"x{number}" for number, operand in enumerate(operands)]
    if op in ("LSTM", "GRU", "RNN"):
        names.insert(3, "")
    node = helper.make_node(op, names, [f"y{number}" for number in range(results)], **attributes)
    graph = helper.make_graph([node], op, inputs, [], constants)
    opset = 23 if op == "RMSNormalization" else 21
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    told = onnx.shape_inference.infer_shapes(model, data_prop=True)
    known = {each.name: each for each in told.graph.value_info} | {each.name: each for each in told.graph.output}
    model.graph.output.extend(known.get(name, onnx.ValueInfoProto(name=name)) for name in node.output)
    return model


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, metavar="OUT_DIR", help="where to; it is made if it is not there")
    parser.add_argument("words", nargs="*", metavar="WORD", help="parts of names")
    arguments = parser.parse_args()
    arguments.directory.mkdir(parents=True, exist_ok=True)
    for group in GROUPS.values():
        for case in group():
            if not arguments.words or any(word in case[0] for word in arguments.words):
                (arguments.directory / f"{case[0]}.onnx").write_bytes(make_operator(case).SerializeToString())
    return 0


if __name__ == "__main__":
    sys.exit(main())
