"""What Relay and TIR share, under TVM's names (`tvm.ir`): modules, types, operators, and whether two things are one.

weft.ir.assert_structural_equal(relay.transform.FastMath()(module), expected)
module = weft.ir.load_json(weft.ir.save_json(module))
"""

from typing import TYPE_CHECKING

from ..dialects.support.lazy import lazy_names

if TYPE_CHECKING:
    from ..dialects.tir.analyzer.answers import Range as Range
    from ..dialects.tir.nodes.expressions import PrimExpr as PrimExpr
    from ..dialects.tir.nodes.mismatch import get_first_structural_mismatch as get_first_structural_mismatch
    from ..dialects.tir.nodes.types import PointerType as PointerType
    from ..dialects.tir.nodes.types import PrimType as PrimType
    from ..frontend.relay.base import SourceName as SourceName
    from ..frontend.relay.base import Span as Span
    from ..frontend.relay.data import GlobalTypeVar as GlobalTypeVar
    from ..frontend.relay.data import TypeCall as TypeCall
    from ..frontend.relay.data import TypeKind as TypeKind
    from ..frontend.relay.data import TypeVar as TypeVar
    from ..frontend.relay.op_attrs import register_op_attr as register_op_attr
    from ..frontend.relay.op_class import Op as Op
    from ..frontend.relay.quantized_calls import TensorAffineType as TensorAffineType
    from ..frontend.relay.ty import FuncType as FuncType
    from ..frontend.relay.ty import IncompleteType as IncompleteType
    from ..frontend.relay.ty import TensorType as TensorType
    from ..frontend.relay.ty import TupleType as TupleType
    from ..frontend.relay.values import GlobalVar as GlobalVar
    from ..ir_json import load_json as load_json
    from ..ir_json import save_json as save_json
    from ..ir_module import IRModule as IRModule
    from ..structural import assert_structural_equal as assert_structural_equal
    from ..structural import structural_equal as structural_equal
    from ..structural import structural_hash as structural_hash
    from ..transforms.infra.context import PassContext as PassContext
    from . import base as base
    from . import container as container
    from . import expr as expr
    from . import instrument as instrument
    from . import memory_pools as memory_pools
    from . import module as module
    from . import op as op
    from . import tensor_type as tensor_type
    from . import transform as transform
    from . import type as type

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
