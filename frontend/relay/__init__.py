"""Relay in Python, under TVM's names: `weft.relay`.

    from weft import relay

    x, w = relay.var("x", shape=(1, 64)), relay.var("w", shape=(32, 64))
    module = relay.IRModule.from_expr(relay.nn.relu(relay.nn.dense(x, w)))

`Expr`, `Var`, `var`, `const`, `Tuple`, `TupleGetItem`, `Let`, `If`, `Function`, `IRModule`, `TensorType`, `Any` and
every operator as a function (`relay.add`, `relay.nn.conv2d`, `relay.image.resize2d`, ...); `relay.testing` has whole
models. `weft.relay.transform` has the passes, and `gradient`; `weft.relay.analysis` the analyses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import adt as adt
from . import base as base
from . import dataflow_pattern as dataflow_pattern
from . import expr as expr
from . import function_views as function_views
from . import loops as loops
from . import prelude as prelude
from . import testing as testing
from . import ty as ty
from . import type_views as type_views
from .base import SourceName as SourceName
from .base import Span as Span
from .binding import bind as bind
from .binding import bind_params_by_name as bind_params_by_name
from .calls import RefWrite as RefWrite
from .data import Constructor as Constructor
from .data import GlobalTypeVar as GlobalTypeVar
from .data import TypeCall as TypeCall
from .data import TypeData as TypeData
from .data import TypeKind as TypeKind
from .data import TypeRelation as TypeRelation
from .data import TypeVar as TypeVar
from .equality import assert_structural_equal as assert_structural_equal
from .equality import structural_equal as structural_equal
from .equality import structural_hash as structural_hash
from .expr import AnyExtent as Any
from .expr import GlobalVar as GlobalVar
from .expr import Var as Var
from .expr import const as const
from .expr import free_vars as free_vars
from .expr import var as var
from .functors import ExprFunctor as ExprFunctor
from .functors import ExprMutator as ExprMutator
from .functors import ExprVisitor as ExprVisitor
from .kinds import Call as Call
from .kinds import Constant as Constant
from .kinds import Function as Function
from .kinds import If as If
from .kinds import Let as Let
from .kinds import Match as Match
from .kinds import RefCreate as RefCreate
from .kinds import RefRead as RefRead
from .kinds import Tuple as Tuple
from .kinds import TupleGetItem as TupleGetItem
from .matching import Clause as Clause
from .matching import PatternConstructor as PatternConstructor
from .matching import PatternTuple as PatternTuple
from .matching import PatternVar as PatternVar
from .matching import PatternWildcard as PatternWildcard
from .module import IRModule as IRModule
from .namespace import OperatorNamespace, find, operator_names
from .op_attrs import (
    register_alter_op_layout,
    register_convert_op_layout,
    register_legalize_rule,
    register_mixed_precision_conversion,
)
from .op_attrs import register_op_attr as register_op_attr
from .op_class import Op as Op
from .operators import Operator
from .prelude import Prelude as Prelude
from .ranked_tensor_arrays import TensorArrayOps
from .registering import OpPattern, register, register_compute, register_pattern, register_stateful
from .scope_builder import ScopeBuilder as ScopeBuilder
from .tensor_arrays import StaticTensorArrayOps
from .text import fromtext as fromtext
from .text import parse as parse
from .text import parse_expr as parse_expr
from .tuple_wrapper import TupleWrapper as TupleWrapper
from .ty import FuncType as FuncType
from .ty import IncompleteType as IncompleteType
from .ty import RefType as RefType
from .ty import TensorType as TensorType
from .ty import TupleType as TupleType
from .ty import scalar_type as scalar_type
from .type_functor import TypeFunctor as TypeFunctor
from .type_functor import TypeMutator as TypeMutator
from .type_functor import TypeVisitor as TypeVisitor

if TYPE_CHECKING:
    from .expr import Expr as Expr
else:
    from .kinds import AnyExpr as Expr  # by which functions are expressions, too

expr.__dict__.update(
    Call=Call, Constant=Constant, Function=Function, If=If, Let=Let, Match=Match, RefCreate=RefCreate, RefRead=RefRead,
    RefWrite=RefWrite, Tuple=Tuple, TupleGetItem=TupleGetItem, TupleWrapper=TupleWrapper,
)  # fmt: skip
prelude.__dict__.update(StaticTensorArrayOps=StaticTensorArrayOps, TensorArrayOps=TensorArrayOps)
ty.__dict__.update(
    GlobalTypeVar=GlobalTypeVar, TypeCall=TypeCall, TypeData=TypeData, TypeKind=TypeKind, TypeVar=TypeVar
)

_NAMESPACES = {
    prefix: OperatorNamespace(prefix) for prefix in ("nn", "image", "vision", "annotation", "qnn", "dyn", "random")
}
op = OperatorNamespace("")
vars(op).update(
    OpPattern=OpPattern,
    Op=Op,
    register=register,
    register_compute=register_compute,
    register_pattern=register_pattern,
    register_stateful=register_stateful,
    register_alter_op_layout=register_alter_op_layout,
    register_convert_op_layout=register_convert_op_layout,
    register_legalize=register_legalize_rule,
    register_mixed_precision_conversion=register_mixed_precision_conversion,
    register_op_attr=register_op_attr,
    const=const,
    op=op,
)

__all__ = [
    "Any", "Call", "Clause", "Constant", "Constructor", "Expr", "ExprFunctor", "ExprMutator", "ExprVisitor",
    "FuncType", "Function", "GlobalTypeVar", "GlobalVar", "IRModule", "If", "IncompleteType", "Let", "Match", "Op",
    "PatternConstructor", "PatternTuple", "PatternVar", "PatternWildcard", "Prelude", "RefCreate", "RefRead",
    "RefType", "RefWrite", "ScopeBuilder", "SourceName", "Span", "TensorType", "Tuple", "TupleGetItem", "TupleType",
    "TypeCall", "TypeData", "TypeKind", "TypeRelation", "TupleWrapper", "TypeFunctor", "TypeMutator", "TypeVar",
    "TypeVisitor", "Var", "adt", "base",
    "assert_structural_equal", "bind", "bind_params_by_name", "const", "dataflow_pattern", "expr",
    "free_vars", "fromtext", "loops", "op", "parse", "parse_expr", "register_op_attr",
    "scalar_type", "structural_equal", "structural_hash", "testing", "ty", "var",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted({*__all__, *_NAMESPACES, *(name for name in operator_names() if "." not in name)})


def __getattr__(name: str) -> Operator | OperatorNamespace:
    if name.startswith("__"):
        raise AttributeError(f"module 'weft.relay' has no attribute '{name}'")
    return _NAMESPACES[name] if name in _NAMESPACES else find(name)
