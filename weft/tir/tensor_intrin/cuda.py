"""Tensor intrinsics of NVIDIA's processors under TVM's names (`tvm.tir.tensor_intrin.cuda`): four products of bytes,
and products of tiles by tensor cores (`tensor_cores`)."""

from __future__ import annotations

from itertools import product

from ...dialects.support.diagnostics import UsageError
from ...transforms.tir.intrinsics.tensor_cores import DTYPES, fill_name, load_name, store_name, sync_name

DP4A_INTRIN = "dp4a"


def _names() -> dict[str, str]:
    found = {"DP4A_INTRIN": DP4A_INTRIN}
    for given, out in (("f16", "f32"), ("f16", "f16"), ("s8", "s32")):
        for is_transposed in (False, True):
            end = "_TRANS" if is_transposed else ""
            name = f"WMMA_SYNC_16x16x16_{given}{given}{out}{end}_INTRIN"
            found[name] = sync_name(given, out, is_transposed)
    for dtype, matrix, is_transposed, scope in product(("f16", "s8"), "ab", (False, True), ("shared", "shared.dyn")):
        end = ("_TRANS" if is_transposed else "") + ("_DYN" if scope == "shared.dyn" else "")
        name = f"WMMA_LOAD_16x16x16_{dtype.upper()}_{matrix.upper()}{end}_INTRIN"
        found[name] = load_name(dtype, matrix, is_transposed, scope)
    for dtype in ("f32", "f16", "s32"):
        found[f"WMMA_FILL_16x16x16_{dtype.upper()}_INTRIN"] = fill_name(dtype)
        for scope in ("shared", "shared.dyn", "global"):
            end = scope.upper().replace(".", "_")
            found[f"WMMA_STORE_16x16x16_{dtype.upper()}_{end}_INTRIN"] = store_name(dtype, scope)
    return found


_NAMES = _names()
__all__ = [*_NAMES, "get_wmma_intrin_group"]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> str:
    if name not in _NAMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return _NAMES[name]


def __dir__() -> list[str]:
    return __all__


def get_wmma_intrin_group(
    load_scope: str, store_scope: str, in_dtype: str, out_dtype: str, trans_b: bool
) -> dict[str, str]:
    """The intrinsics that a product of matrices takes: `init`, `load_a`, `load_b`, `compute` and `store`, by name.

    Args:
        load_scope: where tiles of the factors lie, `"shared"` or `"shared.dyn"`.
        store_scope: where tiles of the product go, or `"global"`.
        in_dtype, out_dtype: `"float16"` and `"float16"` or `"float32"`, or `"int8"` and `"int32"`.
        trans_b: whether the second factor lies column by column.

    Raises:
        UsageError: tensor cores have no such product, or take no tiles from there.
    """
    short = {dtype: name for name, dtype in DTYPES.items()}
    given, out = short.get(in_dtype, in_dtype), short.get(out_dtype, out_dtype)
    group = {
        "init": fill_name(out),
        "load_a": load_name(given, "a", False, load_scope),
        "load_b": load_name(given, "b", trans_b, load_scope),
        "compute": sync_name(given, out, trans_b),
        "store": store_name(out, store_scope),
    }
    if unknown := [name for name in group.values() if name not in _NAMES.values()]:
        raise UsageError(f"tensor cores have no {' and no '.join(unknown)}", hint="float16, or int8 with int32")
    return group
