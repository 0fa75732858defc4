"""What a target answers of itself, under TVM's names: `target.attrs["arch"]`, `target.keys`, `target.features`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...dialects.relay.devices import DEVICE_TYPES, TARGET_KINDS
from ...dialects.support.diagnostics import UsageError
from .arm_features import arm_features
from .target_forms import TargetError
from .target_kinds import COMPOSITE, GPU_LIMITS, LISTED, kind_named


class MissingTargetError(UsageError, ValueError, AssertionError):
    """There is no target where there has to be one."""


class TargetFeatures:
    """What a processor has by its name and attributes: `features.has_dsp`; `None` for what nobody knows of.

    Of Arm's it is what TVM tells: `has_dsp` and `has_mve` of Cortex-M, `is_aarch64`, `has_asimd`, `has_dotprod` and
    `has_matmul_i8` of the others.
    """

    def __init__(self, known: Mapping[str, bool]):
        self._known = dict(known)

    def __getattr__(self, name: str) -> bool | None:
        return self._known.get(name)


class TargetAnswers:
    """The part of a `Target` that only reads what it says."""

    if TYPE_CHECKING:
        kind: str
        cpu: str
        attributes: str
        triple: str
        limits: tuple[tuple[str, int], ...]
        devices: tuple[Any, ...]
        options: tuple[tuple[str, str], ...]

    def option(self, name: str) -> str | None:
        """What it says of itself by an option that is no field: `model`, `device`, one of its kind's own."""
        return dict(self.options).get(name)

    @property
    def attrs(self) -> dict[str, object]:
        """Its options as values: numbers, truth values, lists, and texts. Of a GPU, the limits that hold, too."""
        if self.kind == COMPOSITE:
            return {"devices": list(self.devices)}
        told: dict[str, object] = {"mcpu": self.cpu if self.cpu != "native" else "", "mtriple": self.triple}
        if self.kind == "cuda":
            told = {"arch": self.cpu, **GPU_LIMITS, **dict(self.limits)}
            told |= {"max_num_threads": told["max_threads_per_block"], "registers_per_block": 65536}
        told["mattr"] = self.attributes.split(",") if self.attributes else ""
        told |= {name: _typed(name, text) for name, text in self.options if name != "keys"}
        return {name: value for name, value in told.items() if value != ""}

    @property
    def keys(self) -> tuple[str, ...]:
        """What it has in common with others: what `-keys=` says, then, of Arm's processors, `arm_cpu`, then its device
        and what all of its kind have."""
        given = (self.option("keys") or "").split(",")
        arm = ("arm_cpu", "cpu") if self._arm_features() is not None else ()
        of_kind = () if self.kind == COMPOSITE else kind_named(self.kind).keys
        found = (*given, *arm, self.device_name, *of_kind)
        return tuple(dict.fromkeys(filter(None, found)))

    @property
    def features(self) -> TargetFeatures:
        """What its processor has, by its name and attributes."""
        return TargetFeatures(self._arm_features() or {})

    def _arm_features(self) -> Mapping[str, bool] | None:
        if self.kind not in ("llvm", "c"):
            return None
        return arm_features(self.triple, "" if self.cpu == "native" else self.cpu, self.attributes)

    @property
    def model(self) -> str:
        """The model of the device, `unknown` where it says none."""
        return self.option("model") or "unknown"

    @property
    def device_name(self) -> str:
        """What device it is for, by `-device=`; nothing where it says none."""
        return self.option("device") or ""

    @property
    def libs(self) -> list[str]:
        """The libraries that implementations of operators may make use of."""
        return list(filter(None, (self.option("libs") or "").split(",")))

    @property
    def mcpu(self) -> str:
        """The name of the processor; nothing where it is this machine's."""
        return str(self.attrs.get("mcpu", ""))

    @property
    def mattr(self) -> list[str]:
        """The features that are added and taken away."""
        return self.attributes.split(",") if self.attributes else []

    @property
    def arch(self) -> str:
        """The architecture of a GPU of Nvidia; nothing of others."""
        return str(self.attrs.get("arch", ""))

    @property
    def max_num_threads(self) -> int:
        """How many threads a block may have.

        Raises:
            TargetError: it is not for a GPU.
        """
        return self._number("max_num_threads")

    @property
    def thread_warp_size(self) -> int:
        """How many threads run together.

        Raises:
            TargetError: it is not for a GPU.
        """
        return self._number("thread_warp_size")

    @property
    def max_function_args(self) -> int:
        """How many arguments a kernel may have; -1 for any number."""
        return self._number("max_function_args", -1)

    @property
    def vtcm_capacity(self) -> int:
        """Bytes of a Hexagon's fast memory; 0 where it says none."""
        return self._number("vtcm-capacity", 0)

    def _number(self, name: str, otherwise: int | None = None) -> int:
        found = self.attrs.get(name, otherwise)
        if not isinstance(found, int):
            raise TargetError(f"the target '{self}' has no '{name}'")
        return found

    @property
    def supports_integer_dot_product(self) -> bool:
        """Whether a GPU has products of bytes that are added up, by its architecture or because it says so."""
        if "supports_integer_dot_product" in self.attrs:
            return bool(self.attrs["supports_integer_dot_product"])
        version = self.arch.removeprefix("sm_").rstrip("af")
        return version.isdecimal() and int(version) >= 61

    def get_target_device_type(self) -> int:
        """DLPack's number of the devices that its code runs on."""
        return DEVICE_TYPES[TARGET_KINDS.get(self.kind, "cpu")]

    def get_kind_attr(self, attr_name: str) -> object:
        """An attribute of its kind: none has any."""
        return None


def _typed(name: str, text: str) -> object:
    """The value of an option, of its text."""
    if name in LISTED:
        return text.split(",")
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return int(text) if text.lstrip("-").isdecimal() else text
