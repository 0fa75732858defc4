"""Kernels whose LLVM IR is alike up to numbers are compiled once, and compute what they did."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from weft import relay
from weft.lowering.llvm_ir.alike import CALLS, MOST_NUMBERS, PREFIX, Alike


def units(texts: dict[str, str]) -> dict[str, str]:
    """What is compiled of kernels."""
    found: dict[str, str] = {}
    alike = Alike(lambda name, text: found.__setitem__(name, text))
    for name, text in texts.items():
        alike.take(name, text)
    alike.finish()
    return found


def common(found: dict[str, str]) -> list[str]:
    return [name for name in found if name.startswith(PREFIX) and not name.endswith(CALLS)]


def kernel(name: str, count: int, stride: int = 16, divisor: int = 7, note: str = "", room: int = 64) -> str:
    return f"""define internal void @{name}.nest_0(ptr noalias %a0, i64 %a1) #0 {{
b0:
  %room.1 = alloca [{room} x float], align 64
  br label %b1
b1:
  %i.1 = phi i64 [ 0, %b0 ], [ %v.4, %b1 ]
  %v.1 = mul i64 %i.1, {stride}
  %v.2 = udiv i64 %v.1, {divisor}
  %v.3 = getelementptr inbounds float, ptr %a0, i64 %v.2
  store float 0x3FF0000000000000, ptr %v.3, align 4
  %v.4 = add nuw nsw i64 %i.1, 1
  %v.5 = icmp slt i64 %v.4, {count}
  br i1 %v.5, label %b1, label %b2{note}
b2:
  ret void
}}
define void @{name}(ptr %a0, i64 %a1) #0 {{
b0:
  call void @{name}.nest_0(ptr %a0, i64 %a1)
  ret void
}}
attributes #0 = {{ nounwind }}
!0 = distinct !{{!0, !1}}
!1 = !{{!"llvm.loop.unroll.full"}}
"""


def test_the_first_of_its_form_is_compiled_as_it_stands_and_the_others_call_what_they_have_in_common() -> None:
    texts = {f"k_{n}": kernel(f"k_{n}", n) for n in (10, 20, 30, 40)}
    found = units(texts)
    (name,) = common(found)
    assert list(found) == ["k_10", name, name + CALLS] and found["k_10"] == texts["k_10"]
    assert "%v.5 = icmp slt i64 %v.4, %n0" in found[name] and "mul i64 %i.1, 16" in found[name]
    assert f"call void @{name}.nest_0(ptr %a0, i64 %a1, i64 %n0)" in found[name]
    calls = found[name + CALLS].split("define ")
    assert calls[0] == f"declare void @{name}(ptr, i64, i64)\n"
    for count, call in zip((20, 30, 40), calls[1:], strict=True):
        assert call.startswith(f"void @k_{count}(ptr %a0, i64 %a1)")
        assert f"tail call void @{name}(ptr %a0, i64 %a1, i64 {count})" in call


def test_numbers_that_go_together_are_one_argument() -> None:
    found = units({f"k_{n}": kernel(f"k_{n}", n, stride=n) for n in (10, 20, 30)})
    assert f"define void @{common(found)[0]}(ptr %a0, i64 %a1, i64 %n0) " in found[common(found)[0]]


@pytest.mark.parametrize(
    "differing",
    [
        {"divisor": (7, 9, 11)},
        {"room": (64, 80, 96)},
        {"note": (", !llvm.loop !0",) * 3},
    ],
    ids=["divisors", "memory on the stack", "iterations that are unrolled"],
)
def test_kernels_are_not_alike_that_differ_in(differing: dict[str, tuple[object, ...]]) -> None:
    """In iterations too, which alone would not matter but where they are unrolled."""
    values = [{name: value[n] for name, value in differing.items()} for n in range(3)]
    texts = {f"k_{n}": kernel(f"k_{n}", 10 * n + 10, **given) for n, given in enumerate(values)}  # pyright: ignore
    assert units(texts) == texts


def test_two_kernels_and_equal_ones_are_compiled_as_they_stand() -> None:
    two = {f"k_{n}": kernel(f"k_{n}", n) for n in (10, 20)}
    assert units(two) == two
    equal = {f"k_{n}": kernel(f"k_{n}", 10) for n in range(4)}
    assert units(equal) == equal


def test_a_kernel_that_does_more_with_its_functions_than_to_call_them_is_compiled_as_it_stands() -> None:
    texts = {f"k_{n}": kernel(f"k_{n}", n) + f"@k_{n}.place = constant ptr @k_{n}.nest_0\n" for n in (10, 20, 30)}
    assert units(texts) == texts


def test_kernels_that_differ_in_many_numbers_are_compiled_as_they_stand() -> None:
    def many(name: str, first: int) -> str:
        lines = "".join(f"  %v.{n} = mul i64 %a1, {first + 5 + n * first}\n" for n in range(MOST_NUMBERS + 1))
        return f"define void @{name}(ptr %a0, i64 %a1) {{\nb0:\n{lines}  ret void\n}}\n"

    texts = {f"k_{n}": many(f"k_{n}", n) for n in (10, 21, 33)}
    assert units(texts) == texts


def test_a_name_that_begins_another_is_told_from_it() -> None:
    """`@k_1` stands in no other kernel's text for `@k_10`."""
    texts = {
        name: kernel(name, n) + f"declare void @{name}0()\n" for name, n in (("k_1", 10), ("k_2", 20), ("k_3", 30))
    }
    assert units(texts) == texts


def test_layers_that_differ_in_their_extents_compute_what_they_did() -> None:
    sizes = (48, 80, 112, 144, 176)
    xs = [relay.var(f"x{n}", shape=(3, n)) for n in sizes]
    graph = relay.Function(xs, relay.Tuple([relay.sqrt(x) for x in xs]))
    exe = weft.compile(graph, threads=1)
    assert PREFIX in exe.ir.llvm_ir()
    given = [np.linspace(0, 3, 3 * n, dtype=np.float32).reshape(3, n) for n in sizes]
    for array, result in zip(given, exe(*given), strict=True):
        np.testing.assert_allclose(result, np.sqrt(array), rtol=1e-5, atol=1e-6)
