"""Tensor intrinsics of Hexagon under TVM's names (`tvm.tir.tensor_intrin.hexagon`), for any target: one row times 32
columns of four bytes, or of two 16-bit integers."""

VRMPY_u8u8i32_INTRIN = "dot_32x4_u8u8i32_vrmpy"
VRMPY_u8i8i32_INTRIN = "dot_32x4_u8i8i32_vrmpy"
VDMPY_i16i16i32_INTRIN = "dot_product_32x2_i16i16i32_vdmpy"
