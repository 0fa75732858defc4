"""Targets: what code is made for, written as TVM writes it: `llvm -mcpu=native -mattr=-avx512f`, JSON, or a tag."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from hashlib import sha256
from shlex import quote
from typing import TYPE_CHECKING, Any, Self, cast

from xdsl.dialects.builtin import StringAttr

from ...dialects.support import knobs
from ...dialects.support.arguments import checked, checked_methods
from ...dialects.support.diagnostics import UsageError, did_you_mean
from ...dialects.support.machine_model import MachineModel
from ...dialects.support.vector_unit import VectorUnit
from ..abi import Platform
from . import scoped_target
from .binding import LLVMError, Machine, host
from .known_machines import model_of, told_caches
from .llvm_facts import NEEDED, USED, X86, Facts, ask
from .target_answers import MissingTargetError, TargetAnswers
from .target_forms import Options, TargetError, read_object, read_text
from .target_kinds import COMPOSITE, CORES, OPT_LEVEL, UNHEARD, TargetKind, kind_named, kinds
from .target_kinds import GPU_LIMITS as GPU_LIMITS
from .vectors_of import describe_vectors

if TYPE_CHECKING:
    from .target_kinds import Generator

GPU_TRIPLE, GPU_ARCH = "nvptx64-nvidia-cuda", "sm_80"


class KindName(str):
    """The name of a target's kind, which is a text, and answers TVM's `target.kind.name`."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The text."""
        return str(self)


@checked_methods
@dataclass(frozen=True, init=False)
class Target(TargetAnswers):
    """What code is made for.

    `cpu` is a name that LLVM knows, or `native`; where a text gives a triple only, it is the least such machine.
    `attributes` are features to add or take away, `+avx2,-avx512f`, on
    top of those of the processor; `triple` is LLVM's, empty for this machine. Of a GPU, `cpu` is its architecture,
    `limits` are those that are not `GPU_LIMITS`, and `host` is what the rest of a program is for, of a processor its
    own kind. One of kind `composite` is for a program of its `host`, a processor, and `devices`, GPUs and such as are
    only named, which it makes use of where its graph says so; `options` is what else is told of it. A whole text, or
    another form that `parse` reads, may say it all: `Target("cuda -arch=sm_80", host="llvm")`.
    """

    kind: str = "llvm"
    cpu: str = "native"
    attributes: str = ""
    triple: str = ""
    limits: tuple[tuple[str, int], ...] = ()
    host: Target | None = None
    devices: tuple[Target, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    is_resolved: bool = field(default=False, compare=False, repr=False)
    """Whether `resolved` made it, so that nothing is left to ask LLVM; it stays so in another process."""

    def __init__(
        self,
        target: str | Target | Mapping[str, object] | None = None,
        host: str | Target | Mapping[str, object] | None = None,
        *,
        kind: str = "llvm",
        cpu: str = "native",
        attributes: str = "",
        triple: str = "",
        limits: tuple[tuple[str, int], ...] = (),
        devices: tuple[Target, ...] = (),
        options: tuple[tuple[str, str], ...] = (),
        is_resolved: bool = False,
    ):
        """
        Raises:
            TargetError: as `parse` and `with_host`; or more than a host is given beside what says all.
        """
        given: dict[str, object] = {
            "cpu": cpu, "attributes": attributes, "triple": triple, "limits": limits, "devices": devices,
            "options": options, "is_resolved": is_resolved,
        }  # fmt: skip
        said = kind if target is None else target
        more = [name for name, value in given.items() if value != getattr(Target, name)]
        is_kind = isinstance(said, str) and (said in kinds() or bool(devices)) and (said != "cuda" or triple != "")
        if is_kind and (target is None or more):
            given |= {"kind": KindName(str(said)), "host": None if host is None else Target.parse(host)}
        else:
            if more:
                hint = "say them in the text: Target('cuda -arch=sm_86')"
                raise TargetError(f"the target '{said}' says all but its host, and is given {more[0]}", hint=hint)
            made = Target.parse(said) if host is None else with_host(Target.parse(said), Target.parse(host))
            given = {each.name: getattr(made, each.name) for each in fields(Target)}
        for name, value in given.items():
            object.__setattr__(self, name, value)

    @staticmethod
    @checked
    def parse(text: str | Target | Mapping[str, object] | Sequence[str | Target | Mapping[str, object]]) -> Target:
        """Read `llvm -mcpu=native -mattr=+avx2`, the same as JSON or as a mapping, or a tag; a target is returned as it
        is. Of several, one is for a processor and the others are its devices.

        Raises:
            TargetError: unknown kind, tag or option, or several that do not go together.
        """
        if isinstance(text, Target):
            return text
        if isinstance(text, Sequence) and not isinstance(text, str):
            return _together([Target.parse(each) for each in text])
        read = read_text(text) if isinstance(text, str) else text
        if isinstance(read, Mapping):
            if read.get("kind") == COMPOSITE:
                return _together([Target.parse(each) for each in _composed(read)])
            read = read_object(read)
        return _made(*read)

    def __enter__(self) -> Self:
        """What is compiled within `with target:`, and told of no other, is for it."""
        scoped_target.enter(self)
        return self

    def __exit__(self, *raised: object) -> None:
        scoped_target.leave()

    @staticmethod
    def current(allow_none: bool = True) -> Target | None:
        """The target of the innermost `with`.

        Raises:
            MissingTargetError: there is none, and that is not allowed.
        """
        target = cast("Target | None", scoped_target.current())
        if target is None and not allow_none:
            raise MissingTargetError("no target is in scope", hint="with weft.Target('llvm'): ...")
        return target

    @staticmethod
    def list_kinds() -> list[str]:
        """The names of all kinds, those of users too, as TVM's `Target.list_kinds`."""
        return sorted(kinds())

    def with_host(self, host: str | Target | Mapping[str, object] | None = None) -> Target:
        """This target with a host, in the place of one that it has; as it is, where none is given.

        Raises:
            TargetError: as `parse`.
        """
        return self if host is None else replace(self, host=Target.parse(host))

    @staticmethod
    def canon_target(target: str | Target | Mapping[str, object] | None) -> Target | None:
        """`parse`, but nothing for nothing."""
        return None if target is None else Target.parse(target)

    @staticmethod
    def canon_target_and_host(
        target: str | Target | Mapping[str, object] | None,
        target_host: str | Target | Mapping[str, object] | None = None,
    ) -> tuple[Target | None, Target | None]:
        """A target with its host, which is `target_host` where it has none; and that host.

        Raises:
            MissingTargetError: there is a host for no target.
            TargetError: as `parse` and `with_host`.
        """
        if target is None:
            if target_host is not None:
                raise MissingTargetError(
                    "Target host is not empty when target is empty.", hint="target='cuda', host='llvm'"
                )
            return None, None
        found = Target.parse(target)
        found = found if found.host is not None else found.with_host(target_host)
        return found, found.host

    @staticmethod
    def canon_multi_target_and_host(
        target: str | Target | Mapping[Any, object] | Sequence[object] | None,
        target_host: str | Target | Mapping[str, object] | None = None,
    ) -> list[Target]:
        """The targets that one, several, or a mapping from types of devices stand for, each with the host.

        Raises:
            MissingTargetError: there is no target.
            TargetError: as `parse` and `with_host`.
        """
        found = Target.canon_multi_target(target)
        if not found:
            raise MissingTargetError("there is no target", hint="weft.Target('llvm') is this machine's processor")
        return found if found[0].host is not None else [each.with_host(target_host) for each in found]

    @staticmethod
    def canon_multi_target(
        multi_targets: str | Target | Mapping[Any, object] | Sequence[object] | None,
    ) -> list[Target] | None:
        """The targets that one, several, or a mapping from types of devices stand for; nothing for nothing.

        Raises:
            TargetError: as `parse`.
        """
        if multi_targets is None:
            return None
        listed: Sequence[object] = [multi_targets]
        if isinstance(multi_targets, Mapping) and "kind" not in multi_targets and "tag" not in multi_targets:
            listed = list(multi_targets.values())
        elif isinstance(multi_targets, Sequence) and not isinstance(multi_targets, str):
            listed = multi_targets
        return [Target.parse(cast("str | Target | Mapping[str, object]", each)) for each in listed]

    @staticmethod
    def target_or_current(target: str | Target | Mapping[str, object] | None) -> Target:
        """A target that is given, else that in scope.

        Raises:
            MissingTargetError: there is none.
        """
        found = Target.current() if target is None else Target.parse(target)
        if found is None:
            raise MissingTargetError("Target is not set in env or passed as argument.")
        return found

    @staticmethod
    @checked
    def canon_target_map_and_host(
        target_map: Mapping[Any, Any], target_host: str | Target | Mapping[str, object] | None = None
    ) -> tuple[dict[Target, Any], Target | None]:
        """What is mapped from targets, from targets that have the host: the first one's, or the one that is given.

        Raises:
            TargetError: as `parse` and `with_host`.
        """
        found = {Target.parse(target): value for target, value in target_map.items()}
        hosts = (target.host for target in found if target.host is not None)
        host = next(hosts, None) or (Target.canon_target(target_host) if found else None)
        return {each if each.host is not None else each.with_host(host): value for each, value in found.items()}, host

    def export(self) -> dict[str, object]:
        """The target as JSON has it, which `parse` reads."""
        if self.devices:
            return {"kind": COMPOSITE, "devices": [each.export() for each in (self.processor, *self.devices)]}
        told = {"arch" if self.is_gpu else "mcpu": self.cpu, "mtriple": "" if self.is_gpu else self.triple}
        listed = {"mattr": self.attributes.split(",")} if self.attributes else {}
        host = {} if self.host is None else {"host": self.host.export()}
        given = {name: value for name, value in told.items() if value}
        return {"kind": self.kind, **given, **listed, **dict(self.limits), **dict(self.options), **host}

    @property
    def scopes(self) -> Mapping[str, str]:
        """The memories that its kind has besides, each with the scope that it is to its code."""
        return kind_named(self.processor.kind).scopes

    @property
    def generator(self) -> Generator | None:
        """What makes code for its kind in place of LLVM."""
        return kind_named(self.kind_of_code).generator

    def __str__(self) -> str:
        if self.devices:
            return " and ".join(map(str, (self.processor, *self.devices)))
        values = {"-mcpu": quote(self.cpu), "-mattr": self.attributes, "-mtriple": self.triple}
        if self.is_gpu:
            values = {"-arch": self.cpu, "-mattr": self.attributes, **{f"-{name}": str(n) for name, n in self.limits}}
        values |= {f"-{name}": quote(value) for name, value in self.options}
        values["-host"] = quote(str(self.host)) if self.host is not None else ""
        return " ".join([self.kind, *(f"{option}={value}" for option, value in values.items() if value)])

    def as_attribute(self) -> StringAttr:
        """The text, as an attribute of what the target is for: `func.with_attr("target", target)`."""
        return StringAttr(str(self))

    @property
    def codegen_level(self) -> int:
        """How much LLVM or the C compiler does, 0 to 3: what the target says, else what `$WEFT_CODEGEN_LEVEL` does.

        Raises:
            UsageError: the variable holds something else.
        """
        if (said := self.processor.option(OPT_LEVEL)) is not None:
            return int(said)
        if not 0 <= (level := knobs.CODEGEN_LEVEL.get()) <= 3:
            raise UsageError(f"${knobs.CODEGEN_LEVEL.variable} is {level}, and not 0 to 3")
        return level

    @property
    def is_gpu(self) -> bool:
        """Whether all that can be is run by a GPU."""
        return self.kind == "cuda"

    @property
    def gpu(self) -> Target | None:
        """The GPU that a program makes use of, if it does."""
        return self if self.is_gpu else next((each for each in self.devices if each.is_gpu), None)

    @property
    def kind_of_code(self) -> str:
        """The kind of the code that is made: of several targets, that of the host's."""
        return self.processor.kind if self.kind == COMPOSITE else self.kind

    @property
    def processor(self) -> Target:
        """What code for the processor is made for."""
        if self.is_gpu or self.kind == COMPOSITE:
            return Target() if self.host is None else self.host
        return replace(self, devices=(), host=None) if self.devices or self.host is not None else self

    def limit(self, name: str) -> int:
        """One of `GPU_LIMITS`."""
        return dict(self.limits).get(name, GPU_LIMITS[name])

    def resolved(self) -> Target:
        """The same target without `native`: the processor and features of this machine by name.

        LLVM prefers vectors of 256 bits on some processors with wider ones; that preference is taken away, since Weft's
        kernels are laid out for the full width.

        Raises:
            TargetError: LLVM does not know the triple, the processor or a feature.
        """
        return self if self.is_resolved else _resolve(self)

    def platform(self) -> Platform:
        """The machine that code for this target needs, with the features that the code may use; of a GPU, its host."""
        resolved = self.processor.resolved()
        return Platform(resolved.triple, resolved.cpu, _features(self.processor))

    def name(self) -> str:
        """One line that two targets share only if code for them may use the same: `llvm x86_64-... znver4 #1a2b3c4d`,
        the last of which stands for the features."""
        platform = self.platform()
        features = sha256(",".join(sorted(platform.features)).encode()).hexdigest()[:8]
        return f"{self.kind_of_code} {platform.triple} {platform.cpu} #{features}"

    def vector_unit(self) -> VectorUnit:
        """The vectors that code for this target is laid out for, and what its processor takes for its work."""
        return _vector_unit(self.processor)

    def machine_model(self) -> MachineModel:
        """What its processor takes for its work: what is known of it by name, on this machine (`-mcpu=native`) with the
        caches that the system tells of, but for what `-machine=` says."""
        return self.vector_unit().machine

    def vector_bytes(self) -> int:
        """Bytes of the widest vector register."""
        return self.vector_unit().bytes

    def vector_registers(self) -> int:
        """How many vector registers there are."""
        return self.vector_unit().registers

    def machine(self, opt_level: int | None = None) -> Machine:
        """LLVM's target machine, made once per process, of the target's level unless one is given; its code is
        position-independent.

        Raises:
            TargetError: LLVM does not know the triple or the processor.
        """
        return _machine(self.resolved(), self.codegen_level if opt_level is None else opt_level)


_BASELINES = {
    "x86_64": ("x86-64", ""), "riscv64": ("generic-rv64", "+m,+a,+f,+d,+c"),
    **dict.fromkeys(("i386", "i486", "i586", "i686"), ("pentium4", "")),
}  # fmt: skip
"""Architecture -> the least processor that code is made for, and features that all of its machines with an operating
system have."""


def _made(kind: TargetKind, given: Options) -> Target:
    """A target of a kind by its options.

    Raises:
        TargetError: a limit, a level or a number of cores is no such number, the host is a GPU too, or a machine cannot
            be read.
    """
    options = {**kind.preset, **given}
    if "machine" in options:
        try:
            MachineModel().told(str(options["machine"]))
        except ValueError as error:
            raise TargetError(str(error), hint="-machine=l2=512K,fmas=1") from None
    if OPT_LEVEL in kind.options() and str(options.get(OPT_LEVEL, 3)) not in {"0", "1", "2", "3"}:
        raise TargetError(f"the target option '-{OPT_LEVEL}' is 0 to 3, not '{options[OPT_LEVEL]}'")
    if CORES in options:
        _positive(CORES, options[CORES])
    fields: dict[str, str] = {}
    rest: list[tuple[str, str]] = []
    limits: list[tuple[str, int]] = []
    where = kind.options()
    host = Target.parse(cast("str | Mapping[str, object]", options["host"])) if "host" in options else None
    for name, value in options.items():
        if name == "host":
            continue
        if name in GPU_LIMITS and kind.name == "cuda":
            if (limit := _positive(name, value)) != GPU_LIMITS[name]:
                limits.append((name, limit))
        elif where.get(name):
            fields[where[name]] = str(value)
        else:
            rest.append((name, str(value)))
    if kind.name == "cuda":
        ordered = sorted(limits, key=lambda limit: list(GPU_LIMITS).index(limit[0]))
        cpu, attributes = fields.get("cpu", GPU_ARCH), fields.get("attributes", "")
        return Target(
            kind="cuda", host=host, cpu=cpu, attributes=attributes, triple=GPU_TRIPLE, limits=tuple(ordered),
            options=tuple(sorted(rest)),
        )  # fmt: skip
    if "triple" in fields:
        cpu, attributes = _BASELINES.get(fields["triple"].split("-")[0], ("generic", ""))
        if fields.setdefault("cpu", cpu) == cpu:
            fields.setdefault("attributes", attributes)
    cpu, attributes, triple = fields.get("cpu", "native"), fields.get("attributes", ""), fields.get("triple", "")
    return Target(kind=kind.name, host=host, cpu=cpu, attributes=attributes, triple=triple, options=tuple(sorted(rest)))


def _positive(option: str, value: object) -> int:
    """The number that an option says.

    Raises:
        TargetError: it says no positive one.
    """
    text = str(value)
    if not text.isdecimal() or len(text) > 18 or not int(text):
        raise TargetError(f"the target option '-{option}' is a positive number, not '{text}'")
    return int(text)


def _composed(given: Mapping[str, object]) -> Sequence[str | Mapping[str, object]]:
    devices = given.get("devices")
    if set(given) != {"kind", "devices"} or not isinstance(devices, list | tuple) or not devices:
        raise TargetError("a composite target says its devices, and nothing else", hint='"devices": ["llvm", "cuda"]')
    return cast("Sequence[str | Mapping[str, object]]", devices)


def check_made(target: Target) -> None:
    """Refuse a target that names devices which no code is made for, or says of it what is not done.

    Raises:
        TargetError: it is such a target.
    """
    if target.kind == COMPOSITE:
        check_made(target.processor)
        return
    kind = kind_named(target.kind)
    if kind.only_described:
        made = ", ".join(name for name, each in kinds().items() if not each.only_described)
        raise TargetError(f"no code is made for '{target.kind}': it only names devices", hint=f"code is for {made}")
    if unheard := [name for name, _ in target.options if name in UNHEARD and name not in kind.attributes]:
        raise TargetError(f"no code is made as the target's option '-{unheard[0]}' says", hint="leave it out")
    if (host := target.host) is None:
        return
    if target.is_gpu and (host.kind != "llvm" or host.devices):
        raise TargetError(f"the host of a GPU is a processor that LLVM makes code for, and not '{host}'")
    if not target.is_gpu and host.kind != target.kind:
        raise TargetError(f"the host of '{target.processor}' is itself, and not '{host}'")


def with_host(target: Target, host: Target) -> Target:
    """A target with the host that is given beside it, as TVM's `CheckAndUpdateHostConsistency` has it.

    Raises:
        TargetError: it has another one.
    """
    if target.host is not None and target.host != host:
        raise TargetError(f"'{target}' has a host, which is not '{host}'")
    return replace(target, host=host)


def _together(targets: Sequence[Target]) -> Target:
    """One target, of kind `composite`, for a processor, which is its host, and devices.

    Raises:
        TargetError: there is no processor, several of a kind, or a device with another host.
    """
    if len(targets) == 1:
        return targets[0]
    processors = [each for each in targets if each.kind == "llvm"]
    devices = [each for each in targets if each.kind != "llvm"]
    kinds_of_devices = {each.kind for each in devices}
    if len(processors) != 1 or len(kinds_of_devices) != len(devices) or not all(map(_is_device, devices)):
        listed = ", ".join(f"'{each}'" for each in targets)
        raise TargetError(f"the targets {listed} do not go together", hint="give one 'llvm' and one 'cuda'")
    host = processors[0].processor
    if other := next((each for each in devices if each.host not in (None, host)), None):
        raise TargetError(f"'{other}' has a host, which is not '{host}'")
    return Target(kind=COMPOSITE, host=host, devices=tuple(replace(each, host=None) for each in devices))


def _is_device(target: Target) -> bool:
    """Whether a target is for what stands beside a processor: a GPU, or a device that is only named."""
    return target.is_gpu or (target.kind != COMPOSITE and kind_named(target.kind).only_described)


@lru_cache(maxsize=32)
def _resolve(target: Target) -> Target:
    check_made(target)
    if target.is_gpu:
        resolved = replace(target, host=target.processor.resolved(), is_resolved=True)
        _check(target, resolved)
        return resolved
    if target.devices:
        devices = tuple(each.resolved() if each.is_gpu else each for each in target.devices)
        return replace(target.processor.resolved(), devices=devices)
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
    resolved = Target(
        target.kind, cpu=cpu, attributes=",".join(dict.fromkeys(features)), triple=triple, is_resolved=True
    )
    told = [told_caches() if target.cpu == "native" else "", target.option("machine") or ""]
    words = dict(word.split("=") for text in told for word in text.split(",") if word)
    if words:
        machine = ",".join(f"{name}={value}" for name, value in words.items())
        resolved = replace(resolved, options=(("machine", machine),))
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
    if USED.get(resolved.triple.split("-")[0]) is X86:
        for feature in sorted(NEEDED.keys() - set(facts.features), reverse=True):
            raise TargetError(f"'{target}' has no {feature}: {NEEDED[feature]}", hint=f"-mattr=+{feature}")


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
def _vector_unit(target: Target) -> VectorUnit:
    platform = target.platform()
    unit = describe_vectors(platform)
    machine, told = model_of(platform.cpu, unit.bytes), target.resolved().option("machine")
    return replace(unit, machine=machine if told is None else machine.told(told))


@lru_cache(maxsize=32)
def _machine(target: Target, opt_level: int) -> Machine:
    try:
        return Machine(target.triple, target.cpu, target.attributes, opt_level)
    except LLVMError as error:
        raise TargetError(f"LLVM cannot make code for '{target.triple}': {error}") from None
