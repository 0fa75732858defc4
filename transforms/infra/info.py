"""What is known of a pass without running it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.passes import ModulePass

from ...dialects.support.arguments import checked_methods


@checked_methods
@dataclass(frozen=True)
class PassInfo:
    """Name, opt level and requirements of a pass: what the enable rule and instruments see. TVM's `PassInfo`.

    `spec` is the text that makes the same pass again in a pipeline (`fuse-ops{max-depth=4}`), `title` the name that
    dumps show (`FuseOps`), `is_sequence` says that it is a pass that runs others; none takes part in comparison.
    """

    opt_level: int
    name: str
    required: Sequence[str] = ()
    spec: str = field(default="", compare=False)
    title: str = field(default="", compare=False)
    is_sequence: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "required", tuple(self.required))
        object.__setattr__(self, "spec", self.spec or self.name)
        object.__setattr__(self, "title", self.title or self.name)

    def __str__(self) -> str:
        required = ", ".join(self.required)
        return f"PassInfo(name={self.name}, opt_level={self.opt_level}, required=[{required}])"


def spec_text(pass_: ModulePass) -> str:
    """The pipeline element that makes `pass_`, with option names in kebab case; default values are left out."""
    spec = pass_.spec()
    options = " ".join(
        name.replace("_", "-") + ("=" + ",".join(map(_value_text, values)) if values else "")
        for name, values in spec.parameters.items()
    )
    return f"{spec.name}{{{options}}}" if options else spec.name


def _value_text(value: str | bool | float) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


def info_of(pass_: ModulePass) -> PassInfo:
    """The `PassInfo` of any xDSL pass; one that declares no level or requirements has level 0 and none."""
    info: object = getattr(pass_, "info", None)
    if isinstance(info, PassInfo):
        return info
    return PassInfo(
        cast(int, getattr(pass_, "opt_level", 0)),
        pass_.name,
        cast("tuple[str, ...]", getattr(pass_, "required", ())),
        spec_text(pass_),
        cast("str | None", getattr(pass_, "tvm_name", None)) or type(pass_).__name__.removesuffix("Pass"),
    )
