"""Layers of bytes, and bytes to multiply."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp

from weft.dialects.support.parser import parse_module
from weft.transforms.infra.registry import new_ir_context

DTYPES = {"ui8": np.dtype(np.uint8), "i8": np.dtype(np.int8)}
SIGNS = [(lhs, rhs) for lhs in DTYPES for rhs in DTYPES]
Bytes = npt.NDArray[np.integer]


def dense(lhs: str, rhs: str, rows: str, depth: int, units: int, op: str = "nn.dense") -> ModuleOp:
    """A layer of `units` columns; `rows` are the first extents of its data."""
    weight = f"{units}x{depth}" if op == "nn.dense" else f"{depth}x{units}"
    types = f"tensor<{rows}x{depth}x{lhs}>", f"tensor<{weight}x{rhs}>", f"tensor<{rows}x{units}xi32>"
    text = f"""
relay.func @main(%x: {types[0]}, %w: {types[1]}) -> {types[2]} {{
  %y = relay.{op} %x, %w {{out_dtype = "int32"}} : ({types[0]}, {types[1]}) -> {types[2]}
  relay.return %y : {types[2]}
}}"""
    return parse_module(text, new_ir_context(), "dense.mlir")


def bytes_of(dtype: np.dtype[np.integer], shape: tuple[int, ...], seed: int) -> Bytes:
    """Random bytes, the least and the greatest among them."""
    limits = np.iinfo(dtype)
    made = np.random.default_rng(seed).integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)
    made.flat[:4], made.flat[-4:] = limits.min, limits.max
    return made
