"""Quantise models to bytes, as ONNX Runtime's tools do: `QuantizeLinear` and `DequantizeLinear` around operators.

    python bench/make_models.py DIR NAME ...
    python bench/quantize_models.py DIR NAME ...        # DIR/NAME.onnx -> DIR/NAME.quantized.onnx

Activations are `uint8` with one scale, weights `int8` with a scale for each channel; scales come from two random inputs
of a seed. Models of older opsets are brought to 13, since which scales of channels can be written down.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx as untyped_onnx
import onnxruntime as untyped_runtime
import onnxruntime.quantization as untyped_quantization
import onnxruntime.quantization.shape_inference as untyped_shape_inference
from onnx import version_converter
from onnxruntime.quantization import CalibrationDataReader

onnx: Any = untyped_onnx
onnxruntime: Any = untyped_runtime
quantization: Any = untyped_quantization
shape_inference: Any = untyped_shape_inference

OPSET = 13
INPUTS = 2


class RandomInputs(CalibrationDataReader):
    """Inputs from a normal distribution; integers are small indices."""

    def __init__(self, path: Path) -> None:
        random = np.random.default_rng(0)
        wanted = onnxruntime.InferenceSession(str(path)).get_inputs()
        self.left = [{each.name: _values(each, random) for each in wanted} for _ in range(INPUTS)]

    def get_next(self) -> Any:
        return self.left.pop() if self.left else None


def _values(input: Any, random: np.random.Generator) -> npt.NDArray[Any]:
    shape = [extent if isinstance(extent, int) else 1 for extent in input.shape]
    if input.type == "tensor(int64)":
        return random.integers(0, 2, shape)
    return random.standard_normal(shape).astype(np.float32)


def quantize(source: Path, target: Path) -> None:
    """Write `source` quantised to `target`."""
    model = onnx.load(source)
    if model.opset_import[0].version < OPSET:
        model = version_converter.convert_version(model, OPSET)
    with TemporaryDirectory() as directory:
        plain, prepared = Path(directory) / "plain.onnx", Path(directory) / "prepared.onnx"
        onnx.save(model, plain)
        shape_inference.quant_pre_process(plain, prepared, skip_symbolic_shape=True)
        quantization.quantize_static(
            prepared,
            target,
            RandomInputs(prepared),
            quant_format=quantization.QuantFormat.QDQ,
            activation_type=quantization.QuantType.QUInt8,
            weight_type=quantization.QuantType.QInt8,
            per_channel=True,
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, metavar="DIR", help="where the models are, and the quantised ones go")
    parser.add_argument("names", nargs="+", metavar="NAME")
    arguments = parser.parse_args()
    for name in arguments.names:
        source = arguments.directory / f"{name}.onnx"
        if not source.is_file():
            parser.error(f"there is no {source}: python bench/make_models.py {arguments.directory} {name}")
        target = source.with_suffix(".quantized.onnx")
        quantize(source, target)
        print(f"{target}  {target.stat().st_size >> 20} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
