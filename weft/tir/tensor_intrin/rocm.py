"""Tensor intrinsics of AMD's graphics processors under TVM's names (`tvm.tir.tensor_intrin.rocm`): four products of
bytes."""

AMDGPU_SDOT4_INTRIN = "sdot4"
