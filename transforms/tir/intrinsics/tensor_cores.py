"""The tensor cores of NVIDIA's processors as tensor intrinsics: products of tiles of 16 x 16 in fragments.

`wmma_load_*` takes a tile of shared memory into a fragment, `wmma_sync_*` adds the product of two fragments to a
third, `wmma_fill_*` fills one with 0, and `wmma_store_*` puts it back. A fragment is a tile of a buffer of a scope
`wmma.*`, and is named by its first element. What computes is a call of TVM's for it (`tvm_mma_sync`): loops are
tensorized and replayed so, and targets for which nobody makes code of these calls refuse them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

SIZE = 16
"""Rows and columns of a tile."""

DTYPES = {"f16": "float16", "f32": "float32", "s8": "int8", "s32": "int32"}
"""The dtypes, by what they are called in the names of intrinsics."""

FACTOR, ACCUMULATOR = "wmma.matrix_{}", "wmma.accumulator"
"""The scopes of fragments: of a factor, `a` or `b`, and of a product."""

_TILE = f"({SIZE}, {SIZE})"
_ALL = f"0:{SIZE}, 0:{SIZE}"
_HEAD = "\n@T.prim_func\ndef {name}({params}):\n"

Strides: TypeAlias = "Sequence[tuple[int, ...]]"

DENSE = ((SIZE, 1), (SIZE, 1), (SIZE, 1))
"""How tiles lie that are whole buffers."""


@dataclass(frozen=True)
class TensorCoreText:
    """The two functions of an intrinsic: what it computes, and the calls that do, for tiles that lie so."""

    desc: str
    impl: Callable[[Strides], str]
    scopes: tuple[str, ...]
    """Where each of their buffers lies."""


def _head(name: str, **params: str) -> str:
    buffers = ", ".join(f'{each}: T.Buffer[{_TILE}, "{dtype}"]' for each, dtype in params.items())
    return _HEAD.format(name=name, params=buffers)


def _desc(head: str, loops: str, kinds: str, block: str, statement: str) -> str:
    sizes = ", ".join([str(SIZE)] * len(kinds))
    iters = ", ".join(f"v{each}" for each in loops)
    return (
        f"{head}    for {', '.join(loops)} in T.grid({sizes}):\n"
        f'        with T.block("{block}"):\n'
        f'            {iters} = T.axis.remap("{kinds}", [{", ".join(loops)}])\n'
        f"            {statement}\n"
    )


def _call(head: str, block: str, reads: str, writes: str, call: str) -> str:
    regions = (", ".join(f"{each}[{_ALL}]" for each in names) for names in (reads, writes))
    declared = "".join(f"        T.{word}({names})\n" for word, names in zip(("reads", "writes"), regions, strict=True))
    return f'{head}    with T.block("{block}"):\n{declared}        T.evaluate(T.{call})\n'


def _load(name: str, dtype: str, is_col_major: bool, scopes: tuple[str, str]) -> TensorCoreText:
    head, layout = _head(name, A=dtype, C=dtype), "col_major" if is_col_major else "row_major"

    def impl(strides: Strides) -> str:
        stride = strides[0][0]
        to, of = 'C.access_ptr("w")', 'A.access_ptr("r")'
        call = f'tvm_load_matrix_sync({to}, {SIZE}, {SIZE}, {SIZE}, 0, {of}, {stride}, "{layout}", dtype="handle")'
        return _call(head, "wmma_load", "A", "C", call)

    return TensorCoreText(_desc(head, "ij", "SS", "load", "C[vi, vj] = A[vi, vj]"), impl, scopes)


def _store(name: str, dtype: str, scope: str) -> TensorCoreText:
    head = _head(name, A=dtype, C=dtype)

    def impl(strides: Strides) -> str:
        stride = strides[1][0]
        of, to = 'A.access_ptr("r")', 'C.access_ptr("w")'
        call = f'tvm_store_matrix_sync({of}, {SIZE}, {SIZE}, {SIZE}, 0, {to}, {stride}, "row_major", dtype="handle")'
        return _call(head, "wmma_store", "A", "C", call)

    return TensorCoreText(_desc(head, "ij", "SS", "store", "C[vi, vj] = A[vi, vj]"), impl, (ACCUMULATOR, scope))


def _fill(name: str, dtype: str) -> TensorCoreText:
    head = _head(name, C=dtype)
    call = f'tvm_fill_fragment(C.access_ptr("w"), {SIZE}, {SIZE}, {SIZE}, 0, T.float32(0), dtype="handle")'
    text = _call(head, "wmma_fill", "", "C", call)
    desc = _desc(head, "ij", "SS", "init", f"C[vi, vj] = T.{dtype}(0)")
    return TensorCoreText(desc, lambda strides: text, (ACCUMULATOR,))


def _sync(name: str, in_dtype: str, out_dtype: str, is_b_transposed: bool) -> TensorCoreText:
    head = _head(name, A=in_dtype, B=in_dtype, C=out_dtype)
    factors = ("A[vi, vk]", "B[vj, vk]" if is_b_transposed else "B[vk, vj]")
    if in_dtype != out_dtype:
        factors = tuple(f'T.cast({each}, "{out_dtype}")' for each in factors)
    of = ", ".join(f'{each}.access_ptr("r"), 0' for each in "ABC")
    text = _call(head, "wmma_sync", "CAB", "C", f'tvm_mma_sync(C.access_ptr("w"), 0, {of}, dtype="handle")')
    statement = f"C[vi, vj] = C[vi, vj] + {' * '.join(factors)}"
    desc = _desc(head, "ijk", "SSR", "step", statement)
    return TensorCoreText(desc, lambda strides: text, (FACTOR.format("a"), FACTOR.format("b"), ACCUMULATOR))


def sync_name(in_dtype: str, out_dtype: str, is_b_transposed: bool) -> str:
    """The name of the intrinsic that adds a product, of dtypes as `DTYPES` has them."""
    return f"wmma_sync_16x16x16_{in_dtype}{in_dtype}{out_dtype}{'_trans' if is_b_transposed else ''}"


def load_name(dtype: str, matrix: str, is_transposed: bool, scope: str) -> str:
    """The name of the intrinsic that loads a tile of a matrix, `"a"` or `"b"`."""
    return f"wmma_load_16x16x16_{dtype}_{matrix}{'_trans' if is_transposed else ''}_{scope.replace('.', '_')}"


def fill_name(dtype: str) -> str:
    """The name of the intrinsic that fills a fragment with 0."""
    return f"wmma_fill_16x16x16_{dtype}"


def store_name(dtype: str, scope: str) -> str:
    """The name of the intrinsic that stores a tile."""
    return f"wmma_store_16x16x16_{dtype}_{scope.replace('.', '_')}"


def texts() -> dict[str, TensorCoreText]:
    """The intrinsics by name."""
    found: dict[str, TensorCoreText] = {}
    for (given, out), is_transposed in product((("f16", "f32"), ("f16", "f16"), ("s8", "s32")), (False, True)):
        name = sync_name(given, out, is_transposed)
        found[name] = _sync(name, DTYPES[given], DTYPES[out], is_transposed)
    for dtype, matrix, is_transposed, scope in product(("f16", "s8"), "ab", (False, True), ("shared", "shared.dyn")):
        name = load_name(dtype, matrix, is_transposed, scope)
        found[name] = _load(name, DTYPES[dtype], is_transposed, (scope, FACTOR.format(matrix)))
    for dtype in ("f32", "f16", "s32"):
        found[fill_name(dtype)] = _fill(fill_name(dtype), DTYPES[dtype])
        for scope in ("shared", "shared.dyn", "global"):
            found[store_name(dtype, scope)] = _store(store_name(dtype, scope), DTYPES[dtype], scope)
    return found
