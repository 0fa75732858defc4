"""What operations and values hold, without the views and checks that xDSL puts before it: for loops over whole modules,
which look at millions of them."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

from xdsl.ir import Attribute, Block, Operation, SSAValue

operands_of: Callable[[Operation], tuple[SSAValue, ...]] = attrgetter("_operands")
successors_of: Callable[[Operation], tuple[Block, ...]] = attrgetter("_successors")
next_of: Callable[[Operation], Operation | None] = attrgetter("_next_op")
type_of: Callable[[SSAValue], Attribute] = attrgetter("_type")
