"""Targets: what code is made for, written as TVM writes it: `llvm -mcpu=native -mattr=-avx512f`."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import lru_cache

from ...dialects.support.diagnostics import UsageError, did_you_mean
from .binding import LLVMError, Machine, host

KINDS = ("llvm", "c")
_OPTIONS = {"-mcpu": "cpu", "-mattr": "attributes", "-mtriple": "triple"}


class TargetError(UsageError):
    """A target text that cannot be read, or a processor that LLVM does not know."""


@dataclass(frozen=True)
class Target:
    """What code is made for.

    `cpu` is a name that LLVM knows, or `native`; `attributes` are features to add or take away, `+avx2,-avx512f`, on
    top of those of the processor; `triple` is LLVM's, empty for this machine.
    """

    kind: str = "llvm"
    cpu: str = "native"
    attributes: str = ""
    triple: str = ""

    @staticmethod
    def parse(text: str | Target) -> Target:
        """Read `llvm -mcpu=native -mattr=+avx2`; a target is returned as it is.

        Raises:
            TargetError: unknown kind or option.
        """
        if isinstance(text, Target):
            return text
        kind, *words = shlex.split(text) or [""]
        if kind not in KINDS:
            hint = did_you_mean(kind, KINDS)
            raise TargetError(f"unknown target kind '{kind}'; kinds are {', '.join(KINDS)}", hint=hint)
        fields: dict[str, str] = {}
        for word in words:
            option, equals, value = word.partition("=")
            if option not in _OPTIONS or not equals:
                known = ", ".join(f"{name}=" for name in _OPTIONS)
                raise TargetError(
                    f"unknown target option '{word}'; options are {known}", hint=did_you_mean(option, _OPTIONS)
                )
            fields[_OPTIONS[option]] = value
        return Target(kind, **fields)

    def __str__(self) -> str:
        values = {"-mcpu": self.cpu, "-mattr": self.attributes, "-mtriple": self.triple}
        return " ".join([self.kind, *(f"{option}={value}" for option, value in values.items() if value)])

    def resolved(self) -> Target:
        """The same target without `native`: the processor and features of this machine by name.

        LLVM prefers vectors of 256 bits on some processors with wider ones; that preference is taken away, since Weft's
        kernels are laid out for the full width.
        """
        return _resolve(self)

    def vector_bytes(self) -> int:
        """Bytes of the widest vector register that LLVM uses for floats on this target."""
        return _vector_bytes(self.resolved())

    def vector_registers(self) -> int:
        """How many vector registers there are: 32 with AVX-512 and on 64-bit Arm, 16 on other x86 processors."""
        return 16 if self.resolved().triple.startswith(("x86_64", "i")) and self.vector_bytes() < 64 else 32

    def machine(self, opt_level: int = 3) -> Machine:
        """LLVM's target machine, made once per process; its code is position-independent.

        Raises:
            TargetError: LLVM does not know the triple or the processor.
        """
        return _machine(self.resolved(), opt_level)


@lru_cache(maxsize=32)
def _resolve(target: Target) -> Target:
    host_triple, host_cpu, host_features = host()
    triple = target.triple or host_triple
    features = [feature for feature in target.attributes.split(",") if feature]
    cpu = target.cpu
    if cpu == "native":
        if target.triple and target.triple != host_triple:
            raise TargetError(f"-mcpu=native is this machine's processor, not one of {target.triple}")
        cpu = host_cpu
        features = [*host_features.split(","), *features]
    if triple.startswith("x86_64") and "+prefer-256-bit" not in features:
        features.append("-prefer-256-bit")
    return Target(target.kind, cpu, ",".join(dict.fromkeys(features)), triple)


@lru_cache(maxsize=32)
def _machine(target: Target, opt_level: int) -> Machine:
    try:
        return Machine(target.triple, target.cpu, target.attributes, opt_level)
    except LLVMError as error:
        raise TargetError(f"LLVM cannot make code for '{target.triple}': {error}") from None


_PROBE = """
define void @f(ptr %p, ptr %q) {
  %a = load <16 x float>, ptr %p, align 64
  %b = fadd <16 x float> %a, %a
  store <16 x float> %b, ptr %q, align 64
  ret void
}
"""


@lru_cache(maxsize=32)
def _vector_bytes(target: Target) -> int:
    """The widest register in the code of a vector addition: LLVM knows what a processor has."""
    assembly = _machine(target, 3).assembly(_PROBE)
    return next((width for register, width in (("zmm", 64), ("ymm", 32)) if register in assembly), 16)
