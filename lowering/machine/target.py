"""Targets: what code is made for, written as TVM writes it: `llvm -mcpu=native -mattr=-avx512f`."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256

from ...dialects.support.arguments import checked, checked_methods
from ...dialects.support.diagnostics import UsageError, did_you_mean
from ...dialects.support.vector_unit import VectorUnit
from ..abi import Platform
from .binding import LLVMError, Machine, host
from .llvm_facts import USED, Facts, ask

KINDS = ("llvm", "c")
"""`c` is the same machines by way of C source, and the C compiler of the system."""
_OPTIONS = {"-mcpu": "cpu", "-mattr": "attributes", "-mtriple": "triple"}


class TargetError(UsageError):
    """A target text that cannot be read, or a processor that LLVM does not know."""


@checked_methods
@dataclass(frozen=True)
class Target:
    """What code is made for.

    `cpu` is a name that LLVM knows, or `native`; where a text gives a triple only, it is the least such machine.
    `attributes` are features to add or take away, `+avx2,-avx512f`, on
    top of those of the processor; `triple` is LLVM's, empty for this machine.
    """

    kind: str = "llvm"
    cpu: str = "native"
    attributes: str = ""
    triple: str = ""
    is_resolved: bool = field(default=False, compare=False, repr=False)
    """Whether `resolved` made it, so that nothing is left to ask LLVM; it stays so in another process."""

    @staticmethod
    @checked
    def parse(text: str | Target) -> Target:
        """Read `llvm -mcpu=native -mattr=+avx2`; a target is returned as it is.

        Raises:
            TargetError: unknown kind or option.
        """
        if isinstance(text, Target):
            return text
        try:
            kind, *words = shlex.split(text) or [""]
        except ValueError as error:
            raise TargetError(f"the target '{text}' cannot be read: {str(error).lower()}") from None
        if kind not in KINDS:
            hint = did_you_mean(kind, KINDS) or "'llvm -mcpu=native' stands for code for this machine"
            raise TargetError(f"unknown target kind '{kind}'; kinds are {', '.join(KINDS)}", hint=hint)
        fields: dict[str, str] = {}
        for word in words:
            option, equals, value = word.partition("=")
            if option not in _OPTIONS or not equals:
                known = ", ".join(f"{name}=" for name in _OPTIONS)
                raise TargetError(
                    f"unknown target option '{word}'; options are {known}", hint=did_you_mean(option, _OPTIONS)
                )
            if not value:
                raise TargetError(f"the target option '{option}' has no value")
            fields[_OPTIONS[option]] = value
        if "triple" in fields:
            cpu, attributes = _BASELINES.get(fields["triple"].split("-")[0], ("generic", ""))
            if fields.setdefault("cpu", cpu) == cpu:
                fields.setdefault("attributes", attributes)
        return Target(kind, fields.get("cpu", "native"), fields.get("attributes", ""), fields.get("triple", ""))

    def __str__(self) -> str:
        values = {"-mcpu": self.cpu, "-mattr": self.attributes, "-mtriple": self.triple}
        return " ".join([self.kind, *(f"{option}={value}" for option, value in values.items() if value)])

    def resolved(self) -> Target:
        """The same target without `native`: the processor and features of this machine by name.

        LLVM prefers vectors of 256 bits on some processors with wider ones; that preference is taken away, since Weft's
        kernels are laid out for the full width.

        Raises:
            TargetError: LLVM does not know the triple, the processor or a feature.
        """
        return self if self.is_resolved else _resolve(self)

    def platform(self) -> Platform:
        """The machine that code for this target needs, with the features that the code may use."""
        resolved = self.resolved()
        return Platform(resolved.triple, resolved.cpu, _features(self))

    def name(self) -> str:
        """One line that two targets share only if code for them may use the same: `llvm x86_64-... znver4 #1a2b3c4d`,
        the last of which stands for the features."""
        platform = self.platform()
        features = sha256(",".join(sorted(platform.features)).encode()).hexdigest()[:8]
        return f"{self.kind} {platform.triple} {platform.cpu} #{features}"

    def vector_unit(self) -> VectorUnit:
        """The vectors that code for this target is laid out for."""
        return describe_vectors(self.platform())

    def vector_bytes(self) -> int:
        """Bytes of the widest vector register."""
        return self.vector_unit().bytes

    def vector_registers(self) -> int:
        """How many vector registers there are."""
        return self.vector_unit().registers

    def machine(self, opt_level: int = 3) -> Machine:
        """LLVM's target machine, made once per process; its code is position-independent.

        Raises:
            TargetError: LLVM does not know the triple or the processor.
        """
        return _machine(self.resolved(), opt_level)


_BASELINES = {"x86_64": ("x86-64", ""), "riscv64": ("generic-rv64", "+m,+a,+f,+d,+c")}
"""Architecture -> the processor and the features that all of its machines with an operating system have."""


def describe_vectors(platform: Platform) -> VectorUnit:
    """The vectors of a machine, by its architecture and features."""
    has = set(platform.features)
    match platform.architecture:
        case "x86_64":
            bytes = 64 if "avx512f" in has else 32 if "avx" in has else 16
            vnni = {"avx512vnni", "avx512vl"} <= has if "avx512f" in has else "avxvnni" in has
            return VectorUnit(bytes, 32 if "avx512f" in has else 16, "fma" in has, "avx512f" in has, vnni=vnni)
        case "aarch64":
            return VectorUnit(16, 32, fma=True, masked="sve" in has, scalable="sve" in has, dotprod="dotprod" in has)
        case "riscv64":
            return VectorUnit(16, 32, fma="f" in has, masked="v" in has, scalable="v" in has)
        case _:
            return VectorUnit()


@lru_cache(maxsize=32)
def _resolve(target: Target) -> Target:
    host_triple, host_cpu, host_features = host()
    triple = target.triple or host_triple
    features = [feature for feature in target.attributes.split(",") if feature]
    for feature in features:
        if feature[0] not in "+-":
            raise TargetError(f"'{feature}' in -mattr neither adds nor takes away", hint=f"write +{feature}")
    cpu = target.cpu
    if cpu == "native":
        if target.triple and target.triple != host_triple:
            raise TargetError(f"-mcpu=native is this machine's processor, not one of {target.triple}")
        cpu = host_cpu
        features = [*host_features.split(","), *features]
    if triple.startswith("x86_64") and "+prefer-256-bit" not in features:
        features.append("-prefer-256-bit")
    resolved = Target(target.kind, cpu, ",".join(dict.fromkeys(features)), triple, is_resolved=True)
    if not _is_this_machine(target):
        _check(target, resolved)
    return resolved


def _is_this_machine(target: Target) -> bool:
    return target.cpu == "native" and not target.attributes


def _check(target: Target, resolved: Target) -> None:
    """Refuse what LLVM does not know, before it prints about it or ends the process."""
    facts = _ask(resolved)
    if not facts.cpus:
        raise TargetError(f"LLVM cannot make code for '{resolved.triple}': {facts.complaint}")
    if target.cpu != "native" and target.cpu not in facts.cpus:
        hint = did_you_mean(target.cpu, facts.cpus)
        raise TargetError(f"LLVM knows no processor '{target.cpu}' of {resolved.triple}", hint=hint)
    for feature in filter(None, target.attributes.split(",")):
        if feature[1:] not in facts.known_features:
            hint = did_you_mean(feature[1:], facts.known_features)
            raise TargetError(f"LLVM knows no feature '{feature[1:]}' of {resolved.triple}", hint=hint)
    if facts.complaint:
        raise TargetError(f"LLVM cannot make code for '{target}': {facts.complaint}")


def _ask(resolved: Target) -> Facts:
    try:
        return ask(resolved.triple, resolved.cpu, resolved.attributes)
    except OSError as error:
        raise TargetError(f"LLVM cannot be asked about '{resolved}': {error}") from None


@lru_cache(maxsize=32)
def _features(target: Target) -> tuple[str, ...]:
    """The features of a target that its code may use."""
    resolved = target.resolved()
    if not _is_this_machine(target):
        return _ask(resolved).features
    known = USED.get(resolved.triple.split("-")[0], [])
    has = set(resolved.attributes.split(","))
    return tuple(feature for feature in known if f"+{feature}" in has)


@lru_cache(maxsize=32)
def _machine(target: Target, opt_level: int) -> Machine:
    try:
        return Machine(target.triple, target.cpu, target.attributes, opt_level)
    except LLVMError as error:
        raise TargetError(f"LLVM cannot make code for '{target.triple}': {error}") from None
