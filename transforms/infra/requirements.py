"""Which passes a pass needs before it, and in which order. No pass runs here.

TVM's `Sequential` looks at one level of requirements, each time anew, and aborts where it should resolve them. Here the
closure is taken, depth first in the order in which requirements are listed, so that for one level the order is TVM's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.passes import ModulePass

from ...dialects.support.diagnostics import did_you_mean
from .errors import RequirementError, UnknownPassError
from .info import PassInfo
from .registry import all_passes, canonical_name, concluded, get_pass_type, kebab_case

if TYPE_CHECKING:
    from .registry import PassType


@dataclass(frozen=True)
class Effects:
    """What a pass declares about the effects of passes, its own among them; names may be TVM's."""

    establishes: tuple[str, ...] = ()
    preserves: tuple[str, ...] = ()
    invalidates: tuple[str, ...] = ()
    persistent: bool = False


def effects_of(pass_: ModulePass | type[ModulePass]) -> Effects:
    """What a pass declares; nothing for a pass that is not Weft's."""

    def names(attribute: str) -> tuple[str, ...]:
        given = cast("Sequence[str]", getattr(pass_, attribute, ()))
        return tuple(canonical_name(name) or name for name in given)

    return Effects(
        names("establishes"), names("preserves"), names("invalidates"), bool(getattr(pass_, "persistent", False))
    )


@dataclass(frozen=True)
class Requirement:
    """A pass to be run because another one requires it."""

    name: str
    required_by: str

    @staticmethod
    def of(name: str, required_by: str) -> Requirement:
        """A requirement that may be called by TVM's name.

        Raises:
            UnknownPassError: there is no such pass.
        """
        if (known := canonical_name(name)) is None:
            hint = did_you_mean(kebab_case(name), all_passes())
            raise UnknownPassError(f"no pass is named '{name}', which '{required_by}' requires", hint=hint)
        return Requirement(known, required_by)

    @property
    def pass_type(self) -> PassType:
        return get_pass_type(self.name)

    def instance(self) -> ModulePass:
        """The pass, with its default options.

        Raises:
            RequirementError: it has options without a default.
        """
        if missing := self.pass_type.required_fields() - {"name"}:
            raise RequirementError(
                f"'{self.required_by}' requires '{self.name}', which cannot be run without {', '.join(sorted(missing))}"
            )
        return self.pass_type()


def requirements_of(name: str) -> tuple[str, ...]:
    """The names of the passes that the pass `name` requires."""
    return tuple(cast("Sequence[str]", getattr(get_pass_type(name), "required", ())))


def order_requirements(info: PassInfo) -> Sequence[Requirement]:
    """Everything that `info` requires, directly and through others, each once and after what it requires itself.

    Raises:
        UnknownPassError: a required pass does not exist.
        RequirementError: passes require one another in a circle; the message shows it.
    """
    return _ordered(info.name, tuple(info.required)) if info.required else ()


@concluded
def _ordered(root: str, required: tuple[str, ...]) -> tuple[Requirement, ...]:
    ordered: dict[str, Requirement] = {}
    # An explicit stack: (name, who requires it, path from the root, whether its own requirements are done).
    stack: list[tuple[str, str, tuple[str, ...], bool]]
    stack = [(name, root, (root,), False) for name in reversed(required)]
    while stack:
        asked, required_by, path, done = stack.pop()
        name = Requirement.of(asked, required_by).name
        if name in ordered:
            continue
        if done:
            ordered[name] = Requirement(name, required_by)
            continue
        if name in path:
            circle = (*path[path.index(name) :], name)
            raise RequirementError(f"passes require one another in a circle: {' -> '.join(circle)}")
        stack.append((name, required_by, path, True))
        stack.extend((r, name, (*path, name), False) for r in reversed(requirements_of(name)))
    return tuple(ordered.values())
