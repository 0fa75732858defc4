"""Tensor intrinsics of x86 under TVM's names (`tvm.tir.tensor_intrin.x86`): four bytes times 16 columns of four."""

from __future__ import annotations

from ...transforms.tir.intrinsics.tensor_intrin import description

VNNI_DOT_16x4_INTRIN = "dot_16x4_vnni"
AVX512_DOT_16x4_INTRIN = "dot_16x4_avx512"
"""The same computation: the processor's instructions are chosen where code is generated."""


def __getattr__(name: str) -> object:
    return description(__name__, name, {"dot_product_16x4_u8i8i32_desc": VNNI_DOT_16x4_INTRIN})
