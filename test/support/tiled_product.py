"""A matrix product as GPUs have it, for tests of them, and functions from texts."""

from __future__ import annotations

TILED = """
@T.prim_func
def matmul(A: T.Buffer[(8, 8), "float32"], B: T.Buffer[(8, 8), "float32"], C: T.Buffer[(8, 8), "float32"]):
    As = T.alloc_buffer((4, 4), "float32", scope="shared")
    Bs = T.alloc_buffer((4, 4), "float32", scope="shared")
    acc = T.alloc_buffer((8, 8), "float32", scope="local")
    for by in T.thread_binding(2, thread="blockIdx.y"):
        for bx in T.thread_binding(2, thread="blockIdx.x"):
            for ty in T.thread_binding(4, thread="threadIdx.y"):
                for tx in T.thread_binding(4, thread="threadIdx.x"):
                    with T.block("zero"):
                        vi = T.axis.spatial(8, by * 4 + ty)
                        vj = T.axis.spatial(8, bx * 4 + tx)
                        acc[vi, vj] = 0.0
                    for ko in range(2):
                        with T.block("load_a"):
                            vi = T.axis.spatial(8, by * 4 + ty)
                            vk = T.axis.spatial(8, ko * 4 + tx)
                            As[vi % 4, vk % 4] = A[vi, vk]
                        with T.block("load_b"):
                            vk = T.axis.spatial(8, ko * 4 + ty)
                            vj = T.axis.spatial(8, bx * 4 + tx)
                            Bs[vk % 4, vj % 4] = B[vk, vj]
                        for ki in range(4):
                            with T.block("update"):
                                vi = T.axis.spatial(8, by * 4 + ty)
                                vj = T.axis.spatial(8, bx * 4 + tx)
                                vk = T.axis.reduce(8, ko * 4 + ki)
                                acc[vi, vj] = acc[vi, vj] + As[vi % 4, vk % 4] * Bs[vk % 4, vj % 4]
                    with T.block("write"):
                        vi = T.axis.spatial(8, by * 4 + ty)
                        vj = T.axis.spatial(8, bx * 4 + tx)
                        C[vi, vj] = acc[vi, vj]
"""
"""A matrix product in tiles of shared memory; without barriers."""

CACHED = """
@T.prim_func
def matmul(A: T.Buffer[(8, 8), "float32"], B: T.Buffer[(8, 8), "float32"], C: T.Buffer[(8, 8), "float32"]):
    As = T.alloc_buffer((8, 8), "float32", scope="shared")
    Bs = T.alloc_buffer((8, 8), "float32", scope="shared")
    for by in T.thread_binding(2, thread="blockIdx.y"):
        for bx in T.thread_binding(2, thread="blockIdx.x"):
            for ty in T.thread_binding(4, thread="threadIdx.y"):
                for tx in T.thread_binding(4, thread="threadIdx.x"):
                    for ko in range(2):
                        for y in T.thread_binding(4, thread="threadIdx.y"):
                            for x in T.thread_binding(4, thread="threadIdx.x"):
                                with T.block("load_a"):
                                    vi = T.axis.spatial(8, by * 4 + y)
                                    vk = T.axis.spatial(8, ko * 4 + x)
                                    As[vi, vk] = A[vi, vk]
                        for y in T.thread_binding(4, thread="threadIdx.y"):
                            for x in T.thread_binding(4, thread="threadIdx.x"):
                                with T.block("load_b"):
                                    vk = T.axis.spatial(8, ko * 4 + y)
                                    vj = T.axis.spatial(8, bx * 4 + x)
                                    Bs[vk, vj] = B[vk, vj]
                        for ki in range(4):
                            with T.block("update"):
                                vi = T.axis.spatial(8, by * 4 + ty)
                                vj = T.axis.spatial(8, bx * 4 + tx)
                                vk = T.axis.reduce(8, ko * 4 + ki)
                                with T.init():
                                    C[vi, vj] = 0.0
                                C[vi, vj] = C[vi, vj] + As[vi, vk] * Bs[vk, vj]
"""
"""The same as schedules cache what they read: of buffers of which a tile is alive at one time."""
