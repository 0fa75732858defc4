"""Relay in Python, under TVM's names; see `weft.frontend.relay`."""

from __future__ import annotations

import sys
import typing
from functools import partial
from operator import attrgetter
from types import ModuleType

from . import (
    parser,
    relay_backend,
    relay_executors,
    relay_frontend,
    relay_quantize,
    relay_te_compiler,
    relay_testing,
    relay_transform,
    relay_vm,
)
from . import transform as _passes
from .dialects.support.packed import register_func
from .frontend import relay
from .frontend.relay import analysis as _analysis
from .frontend.relay import data_dependent as _data_dependent
from .frontend.relay.data import ConstructorValue, RefValue
from .frontend.relay.quantized_calls import TensorAffineType
from .relay_backend import Executor, Runtime
from .runtime import param_dict
from .transforms.relay.legalize import LegalizePass

if typing.TYPE_CHECKING:
    from .frontend.relay import Any as Any
    from .frontend.relay import Call as Call
    from .frontend.relay import Constant as Constant
    from .frontend.relay import Expr as Expr
    from .frontend.relay import ExprFunctor as ExprFunctor
    from .frontend.relay import ExprMutator as ExprMutator
    from .frontend.relay import ExprVisitor as ExprVisitor
    from .frontend.relay import Function as Function
    from .frontend.relay import FuncType as FuncType
    from .frontend.relay import GlobalVar as GlobalVar
    from .frontend.relay import If as If
    from .frontend.relay import IncompleteType as IncompleteType
    from .frontend.relay import IRModule as IRModule
    from .frontend.relay import Let as Let
    from .frontend.relay import RefCreate as RefCreate
    from .frontend.relay import RefRead as RefRead
    from .frontend.relay import RefType as RefType
    from .frontend.relay import RefWrite as RefWrite
    from .frontend.relay import ScopeBuilder as ScopeBuilder
    from .frontend.relay import SourceName as SourceName
    from .frontend.relay import Span as Span
    from .frontend.relay import TensorType as TensorType
    from .frontend.relay import Tuple as Tuple
    from .frontend.relay import TupleGetItem as TupleGetItem
    from .frontend.relay import TupleType as TupleType
    from .frontend.relay import TypeKind as TypeKind
    from .frontend.relay import Var as Var
    from .frontend.relay import analysis as analysis
    from .frontend.relay import assert_structural_equal as assert_structural_equal
    from .frontend.relay import bind as bind
    from .frontend.relay import bind_params_by_name as bind_params_by_name
    from .frontend.relay import const as const
    from .frontend.relay import dataflow_pattern as dataflow_pattern
    from .frontend.relay import free_vars as free_vars
    from .frontend.relay import fromtext as fromtext
    from .frontend.relay import loops as loops
    from .frontend.relay import op as op
    from .frontend.relay import parse as parse
    from .frontend.relay import parse_expr as parse_expr
    from .frontend.relay import scalar_type as scalar_type
    from .frontend.relay import structural_equal as structural_equal
    from .frontend.relay import structural_hash as structural_hash
    from .frontend.relay import testing as testing
    from .frontend.relay import ty as ty
    from .frontend.relay import var as var
    from .relay_executors import build as build
    from .relay_executors import create_executor as create_executor
    from .relay_executors import optimize as optimize
    from .runtime.param_dict import load_param_dict as load_param_dict
    from .runtime.param_dict import save_param_dict as save_param_dict

    vm = relay_vm
    frontend = relay_frontend
    quantize = relay_quantize

    def __getattr__(name: str) -> typing.Any: ...


transform = relay_transform
build_module = ModuleType(f"{__name__}.build_module", "Programs built, by the module that TVM has that in.")
build_module.__dict__.update(
    build=relay_executors.build,
    create_executor=relay_executors.create_executor,
    optimize=relay_executors.optimize,
    bind_params_by_name=relay.bind_params_by_name,
)
interpreter = ModuleType(f"{__name__}.backend.interpreter", "What the interpreter gives beside arrays.")
interpreter.__dict__.update(ConstructorValue=ConstructorValue, RefValue=RefValue)
backend = ModuleType(f"{__name__}.backend", "What runs programs, by the module that TVM has that in.")
backend.__dict__.update(
    interpreter=interpreter,
    executor=relay_backend,
    runtime=relay_backend,
    te_compiler=relay_te_compiler,
    vm=relay_vm,
    Executor=Executor,
    Runtime=Runtime,
)
fake_quantization = ModuleType(
    f"{__name__}.transform.fake_quantization_to_integer", "The decorator of rules, by the module that TVM has it in."
)
fake_quantization.__dict__.update(
    TensorAffineType=TensorAffineType,
    register_fake_quantization_to_integer=transform.register_fake_quantization_to_integer,
)
setattr(transform, "fake_quantization_to_integer", fake_quantization)  # noqa: B010  # a name that TVM has there
sys.modules[fake_quantization.__name__] = fake_quantization
qnn_transform = ModuleType(
    f"{__name__}.qnn.transform", "The passes on quantised operators: TVM's `relay.qnn.transform`."
)
qnn_transform.__dict__.update(
    CanonicalizeOps=partial(LegalizePass, "FTVMQnnCanonicalize"), Legalize=partial(LegalizePass, "FTVMQnnLegalize")
)
vars(relay.qnn).update(transform=qnn_transform)
sys.modules[f"{__name__}.transform.mixed_precision"] = relay_transform.mixed_precision
register_func("relay.transform.RecoverVirtualDeviceMap", _analysis.recover_virtual_device_map, override=True)
relay.__dict__.update(
    transform=transform,
    backend=backend,
    build=relay_executors.build,
    build_module=build_module,
    frontend=relay_frontend,
    quantize=relay_quantize,
    create_executor=relay_executors.create_executor,
    optimize=relay_executors.optimize,
    parser=parser,
    vm=relay_vm,
    build_config=_passes.PassContext,
    data_dep_optimization=_data_dependent,
    load_param_dict=param_dict.load_param_dict,
    save_param_dict=param_dict.save_param_dict,
)
relay.testing.__dict__.update(
    check_grad=relay_testing.check_grad,
    count_ops=relay_testing.count_ops,
    enabled_targets=relay_testing.enabled_targets,
    rand=relay_testing.rand,
    run_as_python=relay_testing.run_as_python,
    run_infer_type=relay_testing.run_infer_type,
    run_opt_pass=relay_testing.run_opt_pass,
    Prelude=relay.prelude.Prelude,
    _np_randn_from_type=relay_testing.np_randn_from_type,  # which TVM's users import all the same
)
sys.modules[f"{__name__}.parser"] = parser
sys.modules[f"{__name__}.transform"] = transform
sys.modules[f"{__name__}.vm"] = relay_vm
sys.modules[f"{__name__}.build_module"] = build_module
sys.modules[f"{__name__}.frontend"] = relay_frontend
sys.modules[f"{__name__}.quantize"] = relay_quantize
sys.modules[f"{__name__}.frontend.common"] = relay_frontend.common
sys.modules[f"{__name__}.backend"] = backend
sys.modules[f"{__name__}.backend.interpreter"] = interpreter
sys.modules[f"{__name__}.backend.te_compiler"] = relay_te_compiler
sys.modules[f"{__name__}.backend.vm"] = relay_vm
sys.modules[f"{__name__}.backend.executor"] = sys.modules[f"{__name__}.backend.runtime"] = relay_backend
sys.modules[f"{__name__}.qnn.transform"] = qnn_transform
sys.modules[f"{__name__}.analysis"] = _analysis
sys.modules[f"{__name__}.data_dep_optimization"] = _data_dependent
setattr(_analysis, "sparse_conv2d", _data_dependent.sparse_conv2d)  # noqa: B010  # names that TVM has there
setattr(_analysis, "sparse_dense", _data_dependent.sparse_dense)  # noqa: B010  # a name that TVM has there
expr_functor = ModuleType(
    f"{__name__}.expr_functor", "Classes that visit expressions, by the module that TVM has them in."
)
expr_functor.__dict__.update(
    ExprFunctor=relay.ExprFunctor, ExprMutator=relay.ExprMutator, ExprVisitor=relay.ExprVisitor
)
relay.__dict__.update(expr_functor=expr_functor)
for _part in (
    "adt", "annotation", "base", "dataflow_pattern", "dyn", "expr", "expr_functor", "image", "loops", "nn", "op",
    "prelude", "qnn", "qnn.op", "random", "scope_builder", "testing", "testing.init", "testing.temp_op_attr", "ty",
    "type_functor", "vision",
):  # fmt: skip
    sys.modules[f"{__name__}.{_part}"] = attrgetter(_part)(relay)
for _part in (
    "dcgan", "densenet", "dqn", "inception_v3", "lstm", "mlp", "mobilenet", "resnet", "squeezenet", "synthetic",
):  # fmt: skip
    _model = ModuleType(f"{__name__}.testing.{_part}", "A model, by the module that TVM has it in.")
    _model.__dict__.update(
        {_name: getattr(getattr(relay.testing, _part), _name) for _name in ("get_net", "get_workload")}
    )
    sys.modules[_model.__name__] = _model
for _part in ("annotation", "dyn", "image", "nn", "random", "vision"):
    sys.modules[f"{__name__}.op.{_part}"] = getattr(relay, _part)
for _part in ("algorithm", "op", "reduce", "tensor", "transform"):  # files of operators, which stand in `op` as well
    sys.modules[f"{__name__}.op.{_part}"] = relay.op
sys.modules[__name__] = relay
