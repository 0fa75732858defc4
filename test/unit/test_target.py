"""Targets: names that LLVM does not know, features, and the table of vector units against LLVM itself."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp, UnitAttr, i64

import weft
from weft import relay
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.dialects.support.vector_unit import ATTRIBUTE, VectorUnit, set_vector_unit, vector_unit_of
from weft.lowering.abi import Platform
from weft.lowering.machine import target as target_module
from weft.lowering.machine.codegen import compile_to_assembly
from weft.lowering.machine.llvm_facts import Facts
from weft.lowering.machine.target import Target, TargetError
from weft.lowering.machine.vectors_of import describe_vectors

pytestmark = pytest.mark.sampled(3)

LINUX = "-mtriple=x86_64-unknown-linux-gnu"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (f"llvm {LINUX} -mcpu=haswel", "knows no processor 'haswel'", "did you mean 'haswell'?"),
        (f"llvm {LINUX} -mcpu=haswell -mattr=+avx513f", "knows no feature 'avx513f'", "'avx512f'"),
        ("llvm -mattr=avx2", "'avx2' in -mattr neither adds nor takes away", "write +avx2"),
        ("llvm -mattr=+", "knows no feature ''", None),
        (f"llvm {LINUX} -mattr=-sse2", "has no sse2: LLVM would compute in registers of 80 bits", "-mattr=+sse2"),
        (f"llvm {LINUX} -mattr=-sse", "has no sse2", "-mattr=+sse2"),
        ("llvm -mattr=-sse2", "has no sse2", "-mattr=+sse2"),
        ("llvm -mtriple=i686-linux-gnu -mcpu=i686", "has no sse2", "-mattr=+sse2"),
        (f"llvm {LINUX} -mattr=-cx8", "has no cx8: atomic operations", "-mattr=+cx8"),
        (f"llvm {LINUX} -mcpu=pentium4", "64-bit code requested", None),
        ("llvm -mtriple=aarch64-linux-gnu -mcpu=haswell", "knows no processor 'haswell' of aarch64", None),
        ("llvm -mtriple=aarch64-linux-gnu -mcpu=native", "-mcpu=native is this machine's processor", None),
        ("llvm -mtriple=pdp11-none", "LLVM cannot make code for 'pdp11-none'", None),
        ("llvm -mcpu=", "'-mcpu' has no value", None),
        ("llvm -mtriple", "'-mtriple' has no value", None),
        ("cudo", "unknown target kind 'cudo'; kinds are llvm, c, cuda", "did you mean 'cuda'?"),
        ("cuda -arch=sm_8", "knows no processor 'sm_8' of nvptx64-nvidia-cuda", "did you mean"),
        ("cuda -max_threads_per_block=some", "is a positive number, not 'some'", None),
        ("cuda -host=c", "the host of a GPU is a processor that LLVM makes code for, and not 'c -mcpu=native'", None),
        (
            "metal -max_num_threads=64",
            "no code is made for 'metal': it only names devices",
            "code is for llvm, c, cuda",
        ),
        ("llvm -mfloat-abi=hard", "no code is made as the target's option '-mfloat-abi' says", "leave it out"),
        ("llvm -opt-level=4", "the target option '-opt-level' is 0 to 3, not '4'", None),
        ("c -fast-math=1", "no code is made as the target's option '-fast-math' says", None),
    ],
)
def test_what_llvm_does_not_know_is_refused_before_it_is_asked_for_code(
    text: str, message: str, hint: str | None, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(TargetError, match=message) as error:
        Target.parse(text).machine()
    if hint is not None:
        assert error.value.hint is not None and hint in error.value.hint
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("text", ["-mtriple=i686-linux-gnu", "-mtriple=amd64-linux-gnu", LINUX])
def test_processors_of_the_x86_family_have_what_code_needs(text: str) -> None:
    assert {"sse2", "cx8"} <= set(Target.parse(f"llvm {text}").platform().features)


def test_a_target_says_how_much_the_code_generator_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WEFT_CODEGEN_LEVEL", raising=False)
    x = relay.var("x", shape=(4, 64))
    graph = relay.Function([x], relay.nn.dense(x, relay.const(np.ones((32, 64), np.float32))))
    texts = {
        level: weft.compile(graph, f"llvm{level}", threads=1).asm for level in ("", " -opt-level=3", " -opt-level=0")
    }
    assert texts[""] == texts[" -opt-level=3"] != texts[" -opt-level=0"]
    monkeypatch.setenv("WEFT_CODEGEN_LEVEL", "0")
    assert weft.compile(graph, "llvm", threads=1).asm == texts[" -opt-level=0"]
    assert weft.compile(graph, "llvm -opt-level=3", threads=1).asm == texts[" -opt-level=3"]
    monkeypatch.setenv("WEFT_CODEGEN_LEVEL", "4")
    with pytest.raises(UsageError, match=r"\$WEFT_CODEGEN_LEVEL is 4, and not 0 to 3"):
        weft.compile(graph, "llvm")
    monkeypatch.undo()
    for target in ("llvm -opt-level=0", "c -opt-level=0"):
        exe = weft.compile(graph, target, threads=1)
        assert np.asarray(exe(np.ones((4, 64), np.float32))).sum() == 4 * 32 * 64


def test_a_compilation_refuses_an_unknown_processor() -> None:
    from xdsl.context import Context
    from xdsl.dialects.builtin import Builtin
    from xdsl.parser import Parser

    from weft.dialects.relay import Relay

    context = Context()
    for dialect in (Builtin, Relay):
        context.load_dialect(dialect)
    text = "relay.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { relay.return %x : tensor<2xf32> }"
    with pytest.raises(Diagnostic, match="knows no processor 'foo'"):
        weft.compile(Parser(context, text).parse_module(), target="llvm -mcpu=foo")


@pytest.mark.parametrize(
    ("cpu", "present", "absent"),
    [
        ("x86-64", {"sse2"}, {"sse3", "avx", "fma"}),
        ("x86-64-v3", {"avx2", "fma", "bmi2", "f16c"}, {"avx512f", "gfni"}),
        ("skylake-avx512", {"avx512f", "avx512bw", "avx512vl"}, {"avx512vnni", "gfni"}),
        ("znver4", {"avx512vnni", "avx512bf16", "gfni"}, {"avx512fp16"}),
        ("haswell -mattr=-avx", {"sse4.2", "bmi2"}, {"avx", "avx2", "fma"}),
        ("haswell -mattr=+gfni", {"avx2", "gfni"}, {"avx512f"}),
    ],
)
def test_the_features_of_a_processor_are_llvms(cpu: str, present: set[str], absent: set[str]) -> None:
    features = set(Target.parse(f"llvm {LINUX} -mcpu={cpu}").platform().features)
    assert present <= features
    assert not absent & features


def test_this_machine_has_what_its_name_stands_for() -> None:
    """What the system says of the processor and what LLVM says of one with all these features is the same."""
    native = Target()
    resolved = native.resolved()
    named = Target(cpu=resolved.cpu, attributes=resolved.attributes, triple=resolved.triple)
    assert set(native.platform().features) == set(named.platform().features)


PROBE = """
define void @f(ptr %p, ptr %q) {
  %a = load <16 x float>, ptr %p, align 64
  %b = fadd <16 x float> %a, %a
  store <16 x float> %b, ptr %q, align 64
  ret void
}
"""
"""A vector addition: its code shows the widest register that LLVM uses."""


@pytest.mark.parametrize(
    ("text", "registers"),
    [
        (f"llvm {LINUX} -mcpu=x86-64", "xmm"),
        (f"llvm {LINUX} -mcpu=nehalem", "xmm"),
        (f"llvm {LINUX} -mcpu=sandybridge", "ymm"),
        (f"llvm {LINUX} -mcpu=haswell", "ymm"),
        (f"llvm {LINUX} -mcpu=x86-64-v3", "ymm"),
        (f"llvm {LINUX} -mcpu=alderlake", "ymm"),
        (f"llvm {LINUX} -mcpu=skylake-avx512", "zmm"),
        (f"llvm {LINUX} -mcpu=skylake-avx512 -mattr=-avx512f", "ymm"),
        (f"llvm {LINUX} -mcpu=x86-64-v4", "zmm"),
        (f"llvm {LINUX} -mcpu=znver5", "zmm"),
        ("llvm -mtriple=aarch64-linux-gnu", ".4s"),
        ("llvm -mtriple=wasm32-unknown-unknown -mattr=+simd128", "f32x4"),
    ],
)
def test_the_table_of_vectors_says_what_llvm_uses(text: str, registers: str) -> None:
    target = Target.parse(text)
    widths = {"xmm": 16, "ymm": 32, "zmm": 64, ".4s": 16, "f32x4": 16}
    assembly = compile_to_assembly(PROBE, target)
    assert registers in assembly
    assert not any(wider in assembly for wider in ("ymm", "zmm") if widths[wider] > widths[registers])
    assert target.vector_bytes() == widths[registers]


MASKED = """
define void @f(ptr %p, <16 x i1> %mask, <16 x float> %v) {
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v, ptr %p, i32 4, <16 x i1> %mask)
  ret void
}
declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr, i32, <16 x i1>)
"""


@pytest.mark.parametrize("cpu", ["haswell", "skylake-avx512"])
def test_masks_are_registers_where_the_table_says_so(cpu: str) -> None:
    target = Target.parse(f"llvm {LINUX} -mcpu={cpu}")
    assert ("%k1" in compile_to_assembly(MASKED, target)) == target.vector_unit().masked


FMA = """
define float @f(float %a, float %b, float %c) {
  %r = call float @llvm.fma.f32(float %a, float %b, float %c)
  ret float %r
}
declare float @llvm.fma.f32(float, float, float)
"""


@pytest.mark.parametrize(
    "text",
    [
        f"llvm {LINUX} -mcpu=x86-64",
        f"llvm {LINUX} -mcpu=sandybridge",
        f"llvm {LINUX} -mcpu=haswell",
        "llvm -mtriple=aarch64-linux-gnu",
        "llvm -mtriple=riscv64-linux-gnu",
        "llvm -mtriple=wasm32-unknown-unknown",
    ],
)
def test_products_and_sums_are_one_instruction_where_the_table_says_so(text: str) -> None:
    target = Target.parse(text)
    assert ("fmaf" not in compile_to_assembly(FMA, target)) == target.vector_unit().fma


def test_vectors_are_counted_by_architecture() -> None:
    def unit(architecture: str, *features: str) -> VectorUnit:
        return describe_vectors(Platform(f"{architecture}-linux-gnu", "", features))

    assert (unit("x86_64", "avx").registers, unit("x86_64", "avx", "avx512f").registers) == (16, 32)
    assert unit("aarch64", "neon") == VectorUnit(16, 32, fma=True)
    assert unit("aarch64", "neon", "sve") == VectorUnit(16, 32, fma=True, masked=True, scalable=True)
    assert unit("riscv64", "f", "v") == VectorUnit(16, 32, fma=True, masked=True, scalable=True)
    assert unit("wasm32") == VectorUnit()


def test_a_module_says_what_it_is_compiled_for() -> None:
    inner = ModuleOp([])
    module = ModuleOp([inner])
    assert vector_unit_of(inner) == VectorUnit(16, 16)
    for unit in (VectorUnit(32, 16, fma=True), VectorUnit(64, 32, fma=True, masked=True, scalable=True)):
        set_vector_unit(module, unit)
        assert vector_unit_of(inner) == unit


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (IntegerAttr(3, i64), "not a dictionary"),
        (DictionaryAttr({"vector_bytes": IntegerAttr(16, i64)}), "positive integer 'vector_registers'"),
        (
            DictionaryAttr({"vector_bytes": IntegerAttr(0, i64), "vector_registers": IntegerAttr(16, i64)}),
            "positive integer 'vector_bytes'",
        ),
        (DictionaryAttr({"vector_byte": UnitAttr()}), "has no 'vector_byte'"),
    ],
)
def test_a_description_that_cannot_be_read_is_refused(
    value: IntegerAttr | DictionaryAttr,
    message: str,
) -> None:
    module = ModuleOp([], {ATTRIBUTE: value})
    with pytest.raises(Diagnostic, match=message):
        vector_unit_of(module)


def test_a_resolved_target_asks_llvm_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even in another process: every question to LLVM starts one."""
    resolved = Target.parse(f"llvm {LINUX} -mcpu=haswell").resolved()

    def unexpected(triple: str, cpu: str, attributes: str) -> Facts:
        raise AssertionError(f"LLVM is asked about {cpu}")

    monkeypatch.setattr(target_module, "ask", unexpected)
    target_module._resolve.cache_clear()  # pyright: ignore[reportPrivateUsage]
    sent = pickle.loads(pickle.dumps(resolved))
    assert sent.resolved() == resolved
    sent.machine()
    Target.parse("llvm -mcpu=native").resolved().machine()
