"""The vectors that a machine has, and the instructions for narrow numbers, by the features of its processor."""

from __future__ import annotations

from dataclasses import replace

from ...dialects.support.vector_unit import VectorUnit
from ..abi import Platform


def describe_vectors(platform: Platform) -> VectorUnit:
    """The vectors of a machine, by its architecture and features."""
    has = set(platform.features)
    match platform.architecture:
        case "x86_64":
            bytes = 64 if "avx512f" in has else 32 if "avx" in has else 16
            vnni = {"avx512vnni", "avx512vl"} <= has if "avx512f" in has else "avxvnni" in has
            integers = {64: "avx512bw", 32: "avx2", 16: "sse2"}[bytes] in has
            unit = VectorUnit(bytes, 32 if "avx512f" in has else 16, "fma" in has, "avx512f" in has, vnni=vnni)
            unit = replace(unit, pmaddwd=integers and not vnni)
            # Tiles lie beside vectors of 64 bytes: their columns are what fills one.
            tiles = {"amx-tile", "avx512f"} <= has
            on_tiles = tiles and "amx-bf16" in has
            # AMD's processors, which are those with sse4a, add up pairs as fast as they do multiply-adds of f32.
            # Intel's take four times as long for them, and do better without.
            pairs = {"avx512bf16", "avx512f", "sse4a"} <= has
            return replace(unit, amx_int8=tiles and "amx-int8" in has, amx_bf16=on_tiles, bf16_pairs=pairs)
        case "aarch64":
            return VectorUnit(16, 32, fma=True, masked="sve" in has, scalable="sve" in has, dotprod="dotprod" in has)
        case "riscv64":
            return VectorUnit(16, 32, fma="f" in has, masked="v" in has, scalable="v" in has)
        case _:
            return VectorUnit()


def divides_doubles(platform: Platform) -> bool:
    """Whether a machine divides vectors of floats of 64 bits. Where it has no such floats at all, each operation on one
    is a call."""
    has = set(platform.features)
    match platform.architecture:
        case "x86_64":
            return "sse2" in has
        case "aarch64":
            return True
        case "riscv64":
            return "v" in has
        case "wasm32" | "wasm64":
            return "simd128" in has
        case _:
            return False
