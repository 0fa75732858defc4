"""What LLVM knows of a processor, asked of it in a process of its own.

LLVM prints its lists of names instead of giving them, prints about names that it does not know, and ends the process
for combinations that it does not like. So this file is also a script, which `ask` runs: it prints the names of the
processors and features of a triple, then the features that one processor has.

Which features a processor has is not to be had from LLVM directly. But it inlines a function into another only where
the features that the callee may use are among the caller's. So for each feature there is a function with it, called by
one without: the calls that go are of features that the processor has anyway.

The script imports nothing of Weft.
"""
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

X86 = """
adx aes amx-bf16 amx-int8 amx-tile avx avx10.1 avx10.2 avx2 avx512bf16 avx512bitalg avx512bw avx512cd avx512dq avx512f
avx512fp16 avx512ifma avx512vbmi avx512vbmi2 avx512vl avx512vnni avx512vp2intersect avx512vpopcntdq avxifma
avxneconvert avxvnni avxvnniint16 avxvnniint8 bmi bmi2 ccmp cf cmov cmpccxadd crc32 cx16 cx8 egpr f16c fma fma4 fxsr
gfni lzcnt mmx movbe ndd nf pclmul popcnt ppx prfchw push2pop2 raoint sahf sha sha512 sm3 sm4 sse sse2 sse3 sse4.1
sse4.2 sse4a ssse3 tbm vaes vpclmulqdq xop zu
""".split()
AARCH64 = """
aes bf16 complxnum crc cssc dotprod f32mm f64mm flagm fp-armv8 fp16fml fullfp16 i8mm jsconv lse lse2 mops neon rcpc rdm
sha2 sha3 sm4 sve sve2
""".split()
RISCV = "m a f d c v zba zbb zbs zfa zfh zfhmin zicond zvbb zvfh zvfhmin".split()
WASM = "bulk-memory multivalue nontrapping-fptoint relaxed-simd sign-ext simd128 tail-call".split()

USED: dict[str, Sequence[str]] = {
    **dict.fromkeys(("x86_64", "amd64", "i386", "i486", "i586", "i686"), X86),
    **dict.fromkeys(("aarch64", "arm64"), AARCH64),
    "riscv64": RISCV,
    **dict.fromkeys(("wasm32", "wasm64"), WASM),
}
"""Architecture -> features whose instructions LLVM may choose by itself, or Weft asks for by intrinsics. Others, such
as those for the system's use, do not matter to code that Weft makes."""

NEEDED = {
    "sse2": "LLVM would compute in registers of 80 bits, which do not round each operation as kernels count on",
    "cx8": "atomic operations would be calls of a library that programs do not have",
}
"""Features of the x86 family that no code is made without, and why."""


@dataclass(frozen=True)
class Facts:
    """What LLVM says of a triple, and of one processor with some attributes."""

    cpus: tuple[str, ...]
    known_features: tuple[str, ...]
    features: tuple[str, ...]
    """Those of `USED` that the processor has; empty where it is unknown, or LLVM refuses it."""
    complaint: str
    """What LLVM had to say before it gave up, or nothing."""


@lru_cache(maxsize=64)
def ask(triple: str, cpu: str, attributes: str) -> Facts:
    """What LLVM knows; one process is started for each question.

    Raises:
        OSError: no process can be started.
    """
    used = ",".join(USED.get(triple.split("-")[0], []))
    python = sys.executable or "python3"
    done = subprocess.run(
        [python, "-P", __file__, os.pathsep.join(sys.path), triple, cpu, attributes, used],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    cpus, _, features = done.stderr.partition("Available features")
    names = re.compile(r"^  (\S+) +- ", re.MULTILINE)
    complaint = "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["it died"])[-1]
    return Facts(tuple(names.findall(cpus)), tuple(names.findall(features)), tuple(done.stdout.split()), complaint)


def enabled(triple: str, cpu: str, attributes: str, features: Sequence[str]) -> list[str]:
    """Those of `features` that a processor has."""
    import llvmlite.binding as binding

    text: list[str] = []
    for number, feature in enumerate(features):
        caller = f'"target-cpu"="{cpu}" "target-features"="{attributes}"'
        callee = f'"target-cpu"="{cpu}" "target-features"="{",".join(filter(None, (attributes, "+" + feature)))}"'
        text.append(
            f"define internal void @with{number}() {callee} {{\n  store volatile i32 0, ptr null\n  ret void\n}}"
        )
        text.append(f"define void @without{number}() {caller} {{\n  call void @with{number}()\n  ret void\n}}")
    module = binding.parse_assembly("\n".join(text))
    module.triple = triple
    machine = binding.Target.from_triple(triple).create_target_machine(cpu=cpu, features=attributes)
    tuning = binding.create_pipeline_tuning_options(speed_level=1)
    tuning.inlining_threshold = 225
    builder = binding.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    called = set(re.findall(r"call .*@with(\d+)\(", str(module)))
    return [feature for number, feature in enumerate(features) if str(number) not in called]


def _main(triple: str, cpu: str, attributes: str, features: str) -> None:
    import llvmlite.binding as binding

    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    binding.Target.from_triple(triple).create_target_machine(features="+help")
    print(*enabled(triple, cpu, attributes, [feature for feature in features.split(",") if feature]))


if __name__ == "__main__":
    sys.path = sys.argv[1].split(os.pathsep)
    _main(*sys.argv[2:])
