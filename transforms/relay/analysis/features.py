"""Which parts of the language a graph makes use of: TVM's `detect_feature`."""

from __future__ import annotations

from enum import Enum

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ....dialects.relay.base import RelayOp
from ....dialects.relay.calls import CallOp
from ....dialects.relay.control import ApplyOp, ClosureOp, FnOp, IfOp, RefCreateOp, RefReadOp, RefWriteOp
from ....dialects.relay.core import ConstantOp, FuncOp, PrimitiveOp, TupleGetOp, TupleOp
from ....dialects.relay.data import ConstructOp, MatchOp
from ....dialects.relay.scan import ScanOp
from ...infra.walk import walk
from .call_graph import CallGraph


class Feature(Enum):
    """The features, with TVM's names and numbers. A graph has no `let`: a value has a name by itself."""

    fVar = 0
    fGlobalVar = 1
    fConstant = 2
    fTuple = 3
    fTupleGetItem = 4
    fFunction = 5
    fOp = 6
    fCall = 7
    fLet = 8
    fIf = 9
    fRefCreate = 10
    fRefRead = 11
    fRefWrite = 12
    fConstructor = 13
    fMatch = 14
    fGraph = 15
    """A value that is not an argument is read more than once."""
    fLetRec = 16
    """A function reaches itself."""


BY_OPERATION: dict[type[Operation], tuple[Feature, ...]] = {
    CallOp: (Feature.fGlobalVar, Feature.fCall),
    ClosureOp: (Feature.fGlobalVar, Feature.fFunction),
    ScanOp: (Feature.fGlobalVar, Feature.fCall, Feature.fTuple),
    ApplyOp: (Feature.fCall,),
    FnOp: (Feature.fFunction,),
    FuncOp: (Feature.fFunction,),
    PrimitiveOp: (Feature.fFunction, Feature.fCall),
    ConstantOp: (Feature.fConstant,),
    TupleOp: (Feature.fTuple,),
    TupleGetOp: (Feature.fTupleGetItem,),
    IfOp: (Feature.fIf,),
    RefCreateOp: (Feature.fRefCreate,),
    RefReadOp: (Feature.fRefRead,),
    RefWriteOp: (Feature.fRefWrite,),
    ConstructOp: (Feature.fConstructor, Feature.fCall),
    MatchOp: (Feature.fMatch,),
}


def detect_features(root: Operation) -> set[Feature]:
    """The features of `root` and all that is in it."""
    found: set[Feature] = set()
    for op in walk(root):
        found.update(BY_OPERATION.get(type(op), ()))
        if isinstance(op, RelayOp):
            found.update((Feature.fOp, Feature.fCall))
        if any(block.args for region in op.regions for block in region.blocks):
            found.add(Feature.fVar)
        if not isinstance(op, ConstantOp) and any(result.has_more_than_one_use() for result in op.results):
            found.add(Feature.fGraph)
    if isinstance(root, ModuleOp):
        graph = CallGraph(root)
        if any(map(graph.is_recursive, graph.functions)):
            found.add(Feature.fLetRec)
    return found
