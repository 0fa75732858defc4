"""Passes that are tried on a copy of something, and what is only proposed until they have been."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...dialects.support.diagnostics import Diagnostic, handled_by
from . import remarks
from .context import PassContext
from .execution import run, working_on_part


@dataclass(frozen=True)
class Proposals:
    """What is only proposed for parts, and whether it is of use."""

    without: Callable[[ModuleOp], ModuleOp | None]
    """A copy of a part's module without what is proposed; `None` where nothing is."""
    beyond: Sequence[ModulePass] = ()
    """The passes that parts will go through one day behind `each`, which have to get along with it as well."""


def try_passes(passes: Sequence[ModulePass], module: ModuleOp, ctx: Context) -> None:
    """Run passes on a copy of something. Nobody hears of it.

    Raises:
        Diagnostic: one cannot do its work.
    """
    context = PassContext.current()
    with (
        context.at_level(context.opt_level, unheard=True),
        handled_by(_say_nothing),
        remarks.unheard(),
        working_on_part(module),
    ):
        for pass_ in passes:
            run(pass_, module, ctx)


def _say_nothing(diagnostic: Diagnostic) -> None:
    """A warning is given when the same is done to the thing itself."""
