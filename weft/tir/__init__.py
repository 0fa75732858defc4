"""TIR under TVM's names (`tvm.tir`): functions in TVMScript, nodes as Python values, and schedules.

from weft.script import tir as T

@T.prim_func
def double(A: T.Buffer[(8,), "float32"], B: T.Buffer[(8,), "float32"]):
    for i in range(8):
        with T.block("double"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] + A[vi]

schedule = T.Schedule(double)

The words of TVMScript (`T.grid`, `T.block`, ...) are read by `prim_func` from a function's text, and are no functions.
Functions of expressions, which TVM has here too, are those of `weft.te`.
"""

from typing import TYPE_CHECKING

from ..dialects.support.lazy import lazy_names

if TYPE_CHECKING:
    from ..dialects.te.expr import EqualOp as EqualOp
    from ..dialects.te.let import Let as Let
    from ..dialects.tir.analyzer.index_map import IndexMap as IndexMap
    from ..dialects.tir.interpreter import Interpreter as Interpreter
    from ..dialects.tir.loops import ForKind as ForKind
    from ..dialects.tir.meta_var import meta_var as meta_var
    from ..dialects.tir.nodes.blocks import AllocateConst as AllocateConst
    from ..dialects.tir.nodes.blocks import Block as Block
    from ..dialects.tir.nodes.blocks import BlockRealize as BlockRealize
    from ..dialects.tir.nodes.blocks import BufferRegion as BufferRegion
    from ..dialects.tir.nodes.blocks import IterVar as IterVar
    from ..dialects.tir.nodes.buffers import Allocate as Allocate
    from ..dialects.tir.nodes.buffers import BufferLoad as BufferLoad
    from ..dialects.tir.nodes.buffers import BufferStore as BufferStore
    from ..dialects.tir.nodes.buffers import decl_buffer as decl_buffer
    from ..dialects.tir.nodes.builtins import Call as Call
    from ..dialects.tir.nodes.builtins import TVMBackendAllocWorkspace as TVMBackendAllocWorkspace
    from ..dialects.tir.nodes.builtins import TVMBackendFreeWorkspace as TVMBackendFreeWorkspace
    from ..dialects.tir.nodes.builtins import address_of as address_of
    from ..dialects.tir.nodes.builtins import assume as assume
    from ..dialects.tir.nodes.builtins import lookup_param as lookup_param
    from ..dialects.tir.nodes.builtins import mma_fill as mma_fill
    from ..dialects.tir.nodes.builtins import mma_store as mma_store
    from ..dialects.tir.nodes.builtins import ptx_commit_group as ptx_commit_group
    from ..dialects.tir.nodes.builtins import ptx_cp_async as ptx_cp_async
    from ..dialects.tir.nodes.builtins import ptx_ldmatrix as ptx_ldmatrix
    from ..dialects.tir.nodes.builtins import ptx_mma as ptx_mma
    from ..dialects.tir.nodes.builtins import ptx_mma_sp as ptx_mma_sp
    from ..dialects.tir.nodes.builtins import ptx_wait_group as ptx_wait_group
    from ..dialects.tir.nodes.builtins import tvm_access_ptr as tvm_access_ptr
    from ..dialects.tir.nodes.builtins import tvm_bmma_sync as tvm_bmma_sync
    from ..dialects.tir.nodes.builtins import tvm_fill_fragment as tvm_fill_fragment
    from ..dialects.tir.nodes.builtins import tvm_load_matrix_sync as tvm_load_matrix_sync
    from ..dialects.tir.nodes.builtins import tvm_mma_sync as tvm_mma_sync
    from ..dialects.tir.nodes.builtins import tvm_stack_alloca as tvm_stack_alloca
    from ..dialects.tir.nodes.builtins import tvm_stack_make_array as tvm_stack_make_array
    from ..dialects.tir.nodes.builtins import tvm_stack_make_shape as tvm_stack_make_shape
    from ..dialects.tir.nodes.builtins import tvm_store_matrix_sync as tvm_store_matrix_sync
    from ..dialects.tir.nodes.builtins import tvm_struct_get as tvm_struct_get
    from ..dialects.tir.nodes.builtins import tvm_struct_set as tvm_struct_set
    from ..dialects.tir.nodes.builtins import tvm_thread_allreduce as tvm_thread_allreduce
    from ..dialects.tir.nodes.builtins import tvm_throw_last_error as tvm_throw_last_error
    from ..dialects.tir.nodes.builtins import tvm_tuple as tvm_tuple
    from ..dialects.tir.nodes.builtins import type_annotation as type_annotation
    from ..dialects.tir.nodes.builtins import undef as undef
    from ..dialects.tir.nodes.builtins import vectorcombine as vectorcombine
    from ..dialects.tir.nodes.builtins import vectorhigh as vectorhigh
    from ..dialects.tir.nodes.builtins import vectorlow as vectorlow
    from ..dialects.tir.nodes.declared import BufferRealize as BufferRealize
    from ..dialects.tir.nodes.declared import DeclBuffer as DeclBuffer
    from ..dialects.tir.nodes.declared import MatchBufferRegion as MatchBufferRegion
    from ..dialects.tir.nodes.equality import structural_equal as structural_equal
    from ..dialects.tir.nodes.equality import structural_hash as structural_hash
    from ..dialects.tir.nodes.expressions import EQ as EQ
    from ..dialects.tir.nodes.expressions import GE as GE
    from ..dialects.tir.nodes.expressions import GT as GT
    from ..dialects.tir.nodes.expressions import LE as LE
    from ..dialects.tir.nodes.expressions import LT as LT
    from ..dialects.tir.nodes.expressions import NE as NE
    from ..dialects.tir.nodes.expressions import Add as Add
    from ..dialects.tir.nodes.expressions import And as And
    from ..dialects.tir.nodes.expressions import Broadcast as Broadcast
    from ..dialects.tir.nodes.expressions import Cast as Cast
    from ..dialects.tir.nodes.expressions import Div as Div
    from ..dialects.tir.nodes.expressions import FloatImm as FloatImm
    from ..dialects.tir.nodes.expressions import FloorDiv as FloorDiv
    from ..dialects.tir.nodes.expressions import FloorMod as FloorMod
    from ..dialects.tir.nodes.expressions import IntImm as IntImm
    from ..dialects.tir.nodes.expressions import Max as Max
    from ..dialects.tir.nodes.expressions import Min as Min
    from ..dialects.tir.nodes.expressions import Mod as Mod
    from ..dialects.tir.nodes.expressions import Mul as Mul
    from ..dialects.tir.nodes.expressions import Not as Not
    from ..dialects.tir.nodes.expressions import Or as Or
    from ..dialects.tir.nodes.expressions import PrimExpr as PrimExpr
    from ..dialects.tir.nodes.expressions import ProducerLoad as ProducerLoad
    from ..dialects.tir.nodes.expressions import Ramp as Ramp
    from ..dialects.tir.nodes.expressions import Select as Select
    from ..dialects.tir.nodes.expressions import SizeVar as SizeVar
    from ..dialects.tir.nodes.expressions import StringImm as StringImm
    from ..dialects.tir.nodes.expressions import Sub as Sub
    from ..dialects.tir.nodes.expressions import Var as Var
    from ..dialects.tir.nodes.expressions import call_extern as call_extern
    from ..dialects.tir.nodes.expressions import call_llvm_intrin as call_llvm_intrin
    from ..dialects.tir.nodes.expressions import call_llvm_pure_intrin as call_llvm_pure_intrin
    from ..dialects.tir.nodes.expressions import call_packed as call_packed
    from ..dialects.tir.nodes.expressions import call_pure_extern as call_pure_extern
    from ..dialects.tir.nodes.functions import Any as Any
    from ..dialects.tir.nodes.functions import ceildiv as ceildiv
    from ..dialects.tir.nodes.functions import clz as clz
    from ..dialects.tir.nodes.functions import exp10 as exp10
    from ..dialects.tir.nodes.functions import hypot as hypot
    from ..dialects.tir.nodes.functions import infinity as infinity
    from ..dialects.tir.nodes.functions import isnullptr as isnullptr
    from ..dialects.tir.nodes.functions import ldexp as ldexp
    from ..dialects.tir.nodes.functions import likely as likely
    from ..dialects.tir.nodes.functions import nextafter as nextafter
    from ..dialects.tir.nodes.functions import popcount as popcount
    from ..dialects.tir.nodes.functions import q_multiply_shift as q_multiply_shift
    from ..dialects.tir.nodes.functions import q_multiply_shift_per_axis as q_multiply_shift_per_axis
    from ..dialects.tir.nodes.functions import reinterpret as reinterpret
    from ..dialects.tir.nodes.functions import ret as ret
    from ..dialects.tir.nodes.intrinsics import call_intrin as call_intrin
    from ..dialects.tir.nodes.mismatch import assert_structural_equal as assert_structural_equal
    from ..dialects.tir.nodes.mismatch import get_first_structural_mismatch as get_first_structural_mismatch
    from ..dialects.tir.nodes.object_path import ObjectPath as ObjectPath
    from ..dialects.tir.nodes.prim_func import PrimFunc as PrimFunc
    from ..dialects.tir.nodes.reductions import CommReducer as CommReducer
    from ..dialects.tir.nodes.reductions import Reduce as Reduce
    from ..dialects.tir.nodes.statements import AssertStmt as AssertStmt
    from ..dialects.tir.nodes.statements import AttrStmt as AttrStmt
    from ..dialects.tir.nodes.statements import Evaluate as Evaluate
    from ..dialects.tir.nodes.statements import For as For
    from ..dialects.tir.nodes.statements import IfThenElse as IfThenElse
    from ..dialects.tir.nodes.statements import LetStmt as LetStmt
    from ..dialects.tir.nodes.statements import SeqStmt as SeqStmt
    from ..dialects.tir.nodes.statements import Stmt as Stmt
    from ..dialects.tir.nodes.statements import While as While
    from ..dialects.tir.nodes.tree import tree_of as tree_of
    from ..dialects.tir.script.annotations import Buffer as Buffer
    from ..dialects.tir.script.annotations import Ptr as Ptr
    from ..dialects.tir.script.annotations import bool as bool
    from ..dialects.tir.script.annotations import boolean as boolean
    from ..dialects.tir.script.annotations import float16 as float16
    from ..dialects.tir.script.annotations import float32 as float32
    from ..dialects.tir.script.annotations import float64 as float64
    from ..dialects.tir.script.annotations import handle as handle
    from ..dialects.tir.script.annotations import int8 as int8
    from ..dialects.tir.script.annotations import int16 as int16
    from ..dialects.tir.script.annotations import int32 as int32
    from ..dialects.tir.script.annotations import int64 as int64
    from ..dialects.tir.script.annotations import uint8 as uint8
    from ..dialects.tir.script.annotations import uint16 as uint16
    from ..dialects.tir.script.annotations import uint32 as uint32
    from ..dialects.tir.script.annotations import uint64 as uint64
    from ..dialects.tir.script.modules import IRModule as IRModule
    from ..dialects.tir.script.modules import ir_module as ir_module
    from ..dialects.tir.script.parser import from_source as from_source
    from ..dialects.tir.script.parser import prim_func as prim_func
    from ..layouts import BijectiveLayout as BijectiveLayout
    from ..layouts import Layout as Layout
    from ..layouts import bijective_layout as bijective_layout
    from ..layouts import layout as layout
    from ..transforms.tir.analysis.block_scopes import CachedFlags as CachedFlags
    from ..transforms.tir.analysis.block_scopes import DepKind as DepKind
    from ..transforms.tir.analysis.suggest_index_map import suggest_index_map as suggest_index_map
    from ..transforms.tir.intrinsics.tensor_intrin import TensorIntrin as TensorIntrin
    from ..transforms.tir.schedule.errors import ScheduleError as ScheduleError
    from ..transforms.tir.scheduling.handles import BlockRV as BlockRV
    from ..transforms.tir.scheduling.handles import ExprRV as ExprRV
    from ..transforms.tir.scheduling.handles import LoopRV as LoopRV
    from ..transforms.tir.scheduling.instruction import Instruction as Instruction
    from ..transforms.tir.scheduling.instruction import InstructionKind as InstructionKind
    from ..transforms.tir.scheduling.schedule import Schedule as Schedule
    from ..transforms.tir.scheduling.schedule_state import ScheduleDebugMask as ScheduleDebugMask
    from ..transforms.tir.scheduling.schedule_state import ScheduleState as ScheduleState
    from ..transforms.tir.scheduling.state import BlockScope as BlockScope
    from ..transforms.tir.scheduling.state import Dependency as Dependency
    from ..transforms.tir.scheduling.state import StmtSRef as StmtSRef
    from ..transforms.tir.scheduling.tensorizing import AutoTensorizeMappingInfo as AutoTensorizeMappingInfo
    from ..transforms.tir.scheduling.tensorizing import TensorizeInfo as TensorizeInfo
    from ..transforms.tir.scheduling.tensorizing import (
        get_auto_tensorize_mapping_info as get_auto_tensorize_mapping_info,
    )
    from ..transforms.tir.scheduling.tensorizing import get_tensorize_loop_mapping as get_tensorize_loop_mapping
    from ..transforms.tir.scheduling.tensorizing import has_block as has_block
    from ..transforms.tir.scheduling.tensorizing import tile_with_tensor_intrin as tile_with_tensor_intrin
    from ..transforms.tir.scheduling.trace import Trace as Trace
    from . import analysis as analysis
    from . import buffer as buffer
    from . import data_layout as data_layout
    from . import expr as expr
    from . import function as function
    from . import generic as generic
    from . import ir_builder as ir_builder
    from . import op as op
    from . import schedule as schedule
    from . import stmt as stmt
    from . import stmt_functor as stmt_functor
    from . import tensor_intrin as tensor_intrin
    from . import transform as transform
    from . import usmp as usmp

__tvmscript__ = True

_find, _names, __all__ = lazy_names(__name__, __file__)


_EXPRESSIONS = frozenset(
    """
    Select abs acos acosh add all any asin asinh atan atan2 atanh bitwise_and bitwise_not bitwise_or bitwise_xor ceil
    comm_reducer const copysign cos cosh div erf exp exp2 floor floordiv floormod fmod if_then_else indexdiv indexmod
    isfinite isinf isnan log log10 log1p log2 max max_value min min_value multiply nearbyint pow power round rsqrt
    shift_left shift_right sigmoid sin sinh sqrt subtract sum tan tanh trunc truncdiv truncmod
    """.split()
)
"""The functions of `weft.te` that are here too; in a function's text they are words."""


def __dir__() -> list[str]:
    return [*_names(), *_EXPRESSIONS]


def __getattr__(name: str) -> object:
    if name in _EXPRESSIONS:
        from .. import te

        return getattr(te, name)
    return _find(name)
