"""Statements, where TVM defines them (`tvm.tir.stmt`)."""

from ..dialects.tir.loops import ForKind as ForKind
from ..dialects.tir.nodes.blocks import AllocateConst as AllocateConst
from ..dialects.tir.nodes.blocks import Block as Block
from ..dialects.tir.nodes.blocks import BlockRealize as BlockRealize
from ..dialects.tir.nodes.blocks import BufferRegion as BufferRegion
from ..dialects.tir.nodes.buffers import Allocate as Allocate
from ..dialects.tir.nodes.buffers import BufferStore as BufferStore
from ..dialects.tir.nodes.statements import AssertStmt as AssertStmt
from ..dialects.tir.nodes.statements import AttrStmt as AttrStmt
from ..dialects.tir.nodes.statements import Evaluate as Evaluate
from ..dialects.tir.nodes.statements import For as For
from ..dialects.tir.nodes.statements import IfThenElse as IfThenElse
from ..dialects.tir.nodes.statements import LetStmt as LetStmt
from ..dialects.tir.nodes.statements import SeqStmt as SeqStmt
from ..dialects.tir.nodes.statements import Stmt as Stmt
from ..dialects.tir.nodes.statements import While as While
