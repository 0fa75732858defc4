"""Which block waits for which (`tvm.tir.schedule.block_scope`)."""

from ...transforms.tir.analysis.block_scopes import DepKind as DepKind
from ...transforms.tir.scheduling.state import BlockScope as BlockScope
from ...transforms.tir.scheduling.state import Dependency as Dependency
from ...transforms.tir.scheduling.state import StmtSRef as StmtSRef
