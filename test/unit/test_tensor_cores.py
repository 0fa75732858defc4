"""Tensor cores and four products of bytes as tensor intrinsics, under TVM's names."""

# pyright: basic, reportAttributeAccessIssue=false

import numpy as np
import pytest

import weft
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.dialects.tir.core import PrimFuncOp
from weft.tir import Interpreter, Schedule, ScheduleError, TensorIntrin, from_source, tensor_intrin


def product(trans_b: bool) -> PrimFuncOp:
    shape, at = ("(32, 48)", "B[vj, vk]") if trans_b else ("(48, 32)", "B[vk, vj]")
    func = from_source(f"""
@T.prim_func
def f(A: T.Buffer[(64, 48), "float16"], B: T.Buffer[{shape}, "float16"], C: T.Buffer[(64, 32), "float32"]):
    for i, j, k in T.grid(64, 32, 48):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + T.cast(A[vi, vk], "float32") * T.cast({at}, "float32")
""")
    assert isinstance(func, PrimFuncOp)
    return func


def scheduled(trans_b: bool) -> Schedule:
    """The product by fragments, each step of it an intrinsic."""
    group = tensor_intrin.cuda.get_wmma_intrin_group("shared", "global", "float16", "float32", trans_b)
    sch = Schedule(product(trans_b), debug_mask="all")
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    i_0, i_1 = sch.split(i, [None, 16])
    j_0, j_1 = sch.split(j, [None, 16])
    k_0, k_1 = sch.split(k, [None, 16])
    sch.reorder(i_0, j_0, k_0, i_1, j_1, k_1)
    store = sch.cache_write(block, 0, "wmma.accumulator")
    loads = []
    for index, (word, matrix) in enumerate((("load_a", "a"), ("load_b", "b"))):
        sch.compute_at(sch.cache_read(block, index, "shared"), k_0)
        copy = sch.cache_read(block, index, f"wmma.matrix_{matrix}")
        sch.compute_at(copy, k_0)
        loads.append((sch.get_loops(copy)[-2], group[word]))
    sch.reverse_compute_at(store, j_0)
    init = sch.decompose_reduction(block, k_0)
    for loop, intrin in (
        *loads, (sch.get_loops(init)[-2], group["init"]), (i_1, group["compute"]),
        (sch.get_loops(store)[-2], group["store"]),
    ):  # fmt: skip
        sch.tensorize(loop, intrin)
    return sch


@pytest.mark.parametrize("trans_b", [False, True])
def test_a_product_becomes_calls_on_fragments(trans_b: bool) -> None:
    sch = scheduled(trans_b)
    text = sch.mod.script()
    calls = ("tvm_fill_fragment", "tvm_load_matrix_sync", "tvm_mma_sync", "tvm_store_matrix_sync")
    assert [text.count(call) for call in calls] == [1, 2, 1, 1]
    assert sch.trace.as_python()
    again = Schedule(product(trans_b))
    sch.trace.apply_to_schedule(again)
    assert str(again.mod) == str(sch.mod)


def test_a_tile_is_stored_as_far_apart_as_its_rows_lie() -> None:
    text = scheduled(False).mod.script()
    store = next(line for line in text.splitlines() if "tvm_store_matrix_sync" in line)
    assert ", 32, " in store  # C has 32 columns


def test_what_is_made_of_calls_on_fragments_is_refused_by_targets() -> None:
    for target in ("llvm", "cuda"):
        with pytest.raises(Diagnostic, match="wmma"):
            weft.build(scheduled(False).mod, target=target)


FRAGMENTS = ("wmma.matrix_a", "wmma.matrix_b", "wmma.accumulator")


def step(scopes: tuple[str, ...]) -> Schedule:
    """A step of a product whose buffers have these scopes."""
    of_a, of_b, of_c = scopes
    return Schedule(
        from_source(f"""
@T.prim_func
def f():
    A = T.alloc_buffer((16, 16), "float16", scope="{of_a}")
    B = T.alloc_buffer((16, 16), "float16", scope="{of_b}")
    C = T.alloc_buffer((16, 16), "float32", scope="{of_c}")
    for i, j in T.grid(16, 16):
        with T.block("fill"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = T.float16(1)
            B[vi, vj] = T.float16(2)
            C[vi, vj] = T.float32(0)
    for i, j, k in T.grid(16, 16, 16):
        with T.block("step"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            C[vi, vj] = C[vi, vj] + T.cast(A[vi, vk], "float32") * T.cast(B[vk, vj], "float32")
""")
    )


@pytest.mark.parametrize(
    ("scopes", "message"),
    [
        (FRAGMENTS, ""),
        (("global", *FRAGMENTS[1:]), "takes its %A in the scope wmma.matrix_a, and %A has the scope global"),
        ((FRAGMENTS[1], FRAGMENTS[0], FRAGMENTS[2]), "and %A has the scope wmma.matrix_b"),
        ((*FRAGMENTS[:2], "shared"), "takes its %C in the scope wmma.accumulator, and %C has the scope shared"),
    ],
)
def test_fragments_lie_where_tensor_cores_take_them(scopes: tuple[str, ...], message: str) -> None:
    sch = step(scopes)
    loop = sch.get_loops("step")[0]
    name = tensor_intrin.cuda.WMMA_SYNC_16x16x16_f16f16f32_INTRIN
    if not message:
        sch.tensorize(loop, name)
        return
    with pytest.raises(ScheduleError, match=message):
        sch.tensorize(loop, name)


def test_there_is_no_product_of_other_dtypes() -> None:
    with pytest.raises(UsageError, match="tensor cores have no wmma_fill_16x16x16_float64"):
        tensor_intrin.cuda.get_wmma_intrin_group("shared", "global", "float64", "float64", False)


def test_all_names_of_cuda_are_of_intrinsics() -> None:
    names = [name for name in tensor_intrin.cuda.__all__ if name.endswith("_INTRIN")]
    found = [TensorIntrin.get(getattr(tensor_intrin.cuda, name)) for name in names]
    assert len(found) == 35 and None not in found
    with pytest.raises(AttributeError, match="no attribute 'WMMA_INTRIN'"):
        tensor_intrin.cuda.WMMA_INTRIN  # noqa: B018


@pytest.mark.parametrize("name", [tensor_intrin.arm_cpu.DP4A_INTRIN, tensor_intrin.rocm.AMDGPU_SDOT4_INTRIN])
def test_four_products_of_bytes_are_added_to_a_number(name: str) -> None:
    func = from_source("""
@T.prim_func
def f(A: T.Buffer[(8, 16), "int8"], B: T.Buffer[(16,), "int8"], C: T.Buffer[(8,), "int32"]):
    for i, k in T.grid(8, 16):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + T.cast(A[vi, vk], "int32") * T.cast(B[vk], "int32")
""")
    sch = Schedule(func, debug_mask="all")
    k = sch.get_loops("C")[1]
    k_0, k_1 = sch.split(k, [None, 4])
    sch.decompose_reduction("C", k_0)
    sch.tensorize(k_1, name)
    assert "T.dot" in sch.mod.script()
    a = np.arange(-64, 64, dtype=np.int8).reshape(8, 16)
    b = np.arange(-8, 8, dtype=np.int8)
    (c,) = Interpreter(sch.mod["main"])([a, b])
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))
