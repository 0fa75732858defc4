"""Tensor intrinsics of AArch64 under TVM's names (`tvm.tir.tensor_intrin.arm_cpu`): four bytes times 4
columns of four."""

from __future__ import annotations

from ...transforms.tir.intrinsics.tensor_intrin import description
from .cuda import DP4A_INTRIN as DP4A_INTRIN

ARM_DOT_4x4_i8_NEON_INTRIN = "dot_4x4_i8i8s32_neon"
ARM_DOT_4x4_i8_SDOT_INTRIN = "dot_4x4_i8i8s32_sdot"
"""The same computation: the processor's instructions are chosen where code is generated."""


def __getattr__(name: str) -> object:
    return description(__name__, name, {"dot_product_4x4_i8i8i32_desc": ARM_DOT_4x4_i8_SDOT_INTRIN})
