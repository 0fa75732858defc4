"""What the entry point `xdsl.universe` names: dialects and passes by name, imported when they are first asked for."""

from __future__ import annotations

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe


def dialect() -> Dialect:
    from .ops import Softcap

    return Softcap


def recognise_softcap() -> type[ModulePass]:
    from .recognise_softcap import RecogniseSoftcapPass

    return RecogniseSoftcapPass


UNIVERSE = Universe(all_dialects={"softcap": dialect}, all_passes={"recognise-softcap": recognise_softcap})
