"""What runs on functions whose loops are in their order, in `weft.lower` as in the compilation of a graph: passes of
Weft's own, and those that the configuration adds.

    with weft.PassContext(config={"tir.add_lower_pass": [(1, vectorize)]}):
        weft.lower(schedule, [A, B, C])

Of TVM's four phases, passes of the first two (0 and 1) run before conditions are taken out of loops, those of the
others (2 and 3) afterwards; of one phase, in the order in which they are given. Passes that TVM always runs, and that
Weft needs for no function, are run where the configuration has options of theirs:

    with weft.PassContext(config={"tir.UnrollLoop": {"auto_max_step": 16}}):
        weft.lower(schedule, [A, B, C])

Pragmas of loops are such options for these. So it is with `storage-rewrite` and `common-subexpr-elim-tir`, which run
where TVM's `tir.disable_storage_rewrite` and `tir.disable_cse_tir` are said to be false.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.passes import ModulePass

from ..dialects.support.diagnostics import UsageError
from ..transforms.infra import PassContext
from ..transforms.infra.config import (
    ADD_LOWER_PASS,
    BOUNDS_CHECKS,
    DISABLE_ASSERT,
    DISABLE_CSE_TIR,
    DISABLE_STORAGE_REWRITE,
    DISABLE_VECTORIZE,
)
from ..transforms.infra.registry import get_pass_type
from ..transforms.tir.insert_bounds_checks import InsertBoundsChecksPass
from ..transforms.tir.loop_partition import LoopPartitionPass

PHASES = range(4)
AFTER_LOOPS = ("unroll-loop",)
"""What TVM runs before the passes of phase 2."""
_BY_PRAGMAS = {"only_pragmas": True, "explicit_unroll": False}
"""How `unroll-loop` runs where the configuration has none of its options."""
AT_LAST = ("simplify", "remove-no-op", "hoist-if-then-else")
"""What TVM runs before those of phase 3."""


def lower_passes(context: PassContext, simple_mode: bool) -> list[ModulePass]:
    """The passes, in order; in `simple_mode` conditions stay in loops.

    Raises:
        UsageError: one that the configuration adds is none, or for a phase that there is not.
    """
    # What few ask for is imported for those who do.
    unvectorized = {"enable_vectorize": False}
    added = [_checked(each) for each in context.get_config(ADD_LOWER_PASS, cast("tuple[object, ...]", ()))]
    phases = [[each for phase, each in added if phase == number] for number in PHASES]
    return [
        *([get_pass_type("skip-assert")()] if context.get_config(DISABLE_ASSERT, False) else []),
        *phases[0],
        *phases[1],
        *([get_pass_type("vectorize-loop")(**unvectorized)] if context.get_config(DISABLE_VECTORIZE, False) else []),
        *([] if simple_mode else [LoopPartitionPass()]),
        *_not_disabled("storage-rewrite", DISABLE_STORAGE_REWRITE, context),
        *(_with_options(AFTER_LOOPS, context) or [get_pass_type("unroll-loop")(**_BY_PRAGMAS)]),
        *phases[2],
        *_with_options(AT_LAST, context),
        *phases[3],
        *_not_disabled("common-subexpr-elim-tir", DISABLE_CSE_TIR, context),
        *([InsertBoundsChecksPass()] if context.get_config(BOUNDS_CHECKS, False) else []),
    ]


def _with_options(names: Sequence[str], context: PassContext) -> list[ModulePass]:
    """Of passes of these names those of which the configuration has an option, in order."""
    asked = [name for name in names if any(key.startswith(f"{name}.") for key in context.config)]
    return [get_pass_type(name)() for name in asked]


def _not_disabled(name: str, key: str, context: PassContext) -> list[ModulePass]:
    """The pass of a name, where the configuration says that it is not disabled."""
    return [] if context.get_config(key, True) else [get_pass_type(name)()]


def _checked(given: object) -> tuple[int, ModulePass]:
    match given:
        case (int() as phase, ModulePass() as added) if phase in PHASES:
            return phase, added
        case Sequence():
            shown = ", ".join(map(str, cast("Sequence[object]", given)))
        case _:
            shown = str(given)
    hint = "a pass is what tir.transform.prim_func_pass makes of a function, or one of tir.transform"
    raise UsageError(f"'{ADD_LOWER_PASS}' takes pairs of a phase, 0 to 3, and a pass, and not ({shown})", hint=hint)
