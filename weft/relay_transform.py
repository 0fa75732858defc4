"""Relay's passes under TVM's names (`tvm.relay.transform`), and gradients: `weft.relay.transform`.

module = relay.transform.FirstOrderGradient()(module)       # every function of a module
function = relay.transform.gradient(function)               # one function
(dx,) = relay.transform.gradients(relay.tanh(x), [x])       # expressions, to compute on
five = relay.transform.FoldConstantExpr(relay.const(2) + relay.const(3))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import overload

from xdsl.dialects.builtin import ModuleOp

from . import transform as _passes
from .dialects.relay.core import FuncOp
from .dialects.relay.precision import Precision
from .dialects.support.arguments import checked
from .dialects.support.diagnostics import UsageError
from .frontend.relay.dataflow_pattern import MatchedExpr
from .frontend.relay.expr import Expr, GlobalVar, Var, expr_of
from .frontend.relay.folding import FoldConstantExpr as FoldConstantExpr
from .frontend.relay.folding import InferTypeLocal as InferTypeLocal
from .frontend.relay.gradients import gradient as gradient
from .frontend.relay.gradients import gradients as gradients
from .frontend.relay.module import IRModule
from .frontend.relay.op_attrs import register_fake_quantization_to_integer as register_fake_quantization_to_integer
from .frontend.relay.recasting import recast as recast
from .targets import CompilationConfig
from .transforms.infra.registry import new_ir_context
from .transforms.relay.annotate_target import AnnotateTargetPass
from .transforms.relay.backends import PatternEntry, get_backend
from .transforms.relay.backward_fold_scale_axis import BackwardFoldScaleAxisPass
from .transforms.relay.change_batch import ChangeBatchPass
from .transforms.relay.conv2d_to_sparse import Conv2dToSparsePass
from .transforms.relay.conv2d_to_sparse2 import Conv2dToSparse2Pass
from .transforms.relay.dead_code_elimination import DeadCodeEliminationPass
from .transforms.relay.defunctionalization import DefunctionalizationPass
from .transforms.relay.dense_to_sparse import DenseToSparsePass
from .transforms.relay.eliminate_common_subexpr import EliminateCommonSubexprPass
from .transforms.relay.flexible_shape_dispatch import FlexibleShapeDispatchPass
from .transforms.relay.fold_scale_axis import FoldScaleAxisPass
from .transforms.relay.forward_fold_scale_axis import ForwardFoldScaleAxisPass
from .transforms.relay.inline import InlinePass
from .transforms.relay.inline_compiler_functions_bound_to import InlineCompilerFunctionsBoundToPass
from .transforms.relay.layout_rules import LayoutConfig as LayoutConfig
from .transforms.relay.merge_compiler_regions import MergeCompilerRegionsPass
from .transforms.relay.merge_composite import MergeCompositePass
from .transforms.relay.partition_graph import PartitionGraphPass
from .transforms.relay.plan_devices import PlanDevicesPass
from .transforms.relay.remove_unused_functions import RemoveUnusedFunctionsPass

mixed_precision = ModuleType(f"{__name__}.mixed_precision", "What `ToMixedPrecision` makes of operators.")
mixed_precision.__dict__.update({f"MIXED_PRECISION_{kind.name}": number for number, kind in enumerate(Precision)})


@checked
def MergeComposite(pattern_table: Sequence[PatternEntry]) -> MergeCompositePass:
    """The pass that finds the patterns of a table: names, patterns of `dataflow_pattern`, checks of what matches.

    A check is given the expression that matched, as in TVM; what a part of the pattern matched is `expr[part]`.
    """
    return MergeCompositePass.of([_checking_expressions(entry) for entry in pattern_table])


def _checking_expressions(entry: PatternEntry) -> PatternEntry:
    name, pattern, *check = entry
    if not check:
        return entry
    return name, pattern, lambda found: check[0](MatchedExpr(found, pattern))  # pyright: ignore[reportArgumentType]


@checked
def AnnotateTarget(targets: str | Sequence[str], include_non_call_ops: bool = True) -> AnnotateTargetPass:
    """The pass that bounds what backends take, the most wanted first."""
    return AnnotateTargetPass(targets if isinstance(targets, str) else tuple(targets), include_non_call_ops)


@checked
def DeadCodeElimination(inline_once: bool = False, ignore_impurity: bool = False) -> DeadCodeEliminationPass:
    """The pass that drops what nobody uses. `inline_once` says nothing here, since a value has no binding."""
    return DeadCodeEliminationPass(ignore_impurity)


@checked
def EliminateCommonSubexpr(
    fskip: Callable[[Expr], bool] | None = None, skip: Sequence[str] = ()
) -> EliminateCommonSubexprPass:
    """The pass that computes equal things once. Left alone are expressions of which `fskip` says so, or operators that
    `skip` names.

    Raises:
        UsageError: both are given.
    """
    if fskip is None:
        return EliminateCommonSubexprPass(tuple(skip))
    if skip:
        raise UsageError("either a function says what is left alone, or names do")
    return EliminateCommonSubexprPass.of(lambda op: any(fskip(expr_of(value)) for value in op.results))


@overload
def Defunctionalization() -> DefunctionalizationPass: ...
@overload
def Defunctionalization(func: FuncOp, mod: IRModule) -> FuncOp: ...
@checked
def Defunctionalization(func: FuncOp | None = None, mod: IRModule | None = None) -> DefunctionalizationPass | FuncOp:
    """The pass that writes function values as data. With a function and its module, as TVM has it: the function after
    the pass, whose data types and functions are put into the module.

    Raises:
        UsageError: the function is none of the module.
    """
    if func is None or mod is None:
        return DefunctionalizationPass()
    name = func.sym_name.data
    if not any(each is func for each in mod.ops):
        raise UsageError(f"@{name} is no function of the module")
    DefunctionalizationPass().apply(new_ir_context(), mod)
    return mod[name]


@checked
def FoldScaleAxis() -> FoldScaleAxisPass:
    """The passes that move factors into weights, and what is added; as in TVM into those given at run time too."""
    return FoldScaleAxisPass(always=True)


@checked
def ForwardFoldScaleAxis() -> ForwardFoldScaleAxisPass:
    """The pass that moves factors down into weights, and what is added; as in TVM into those given at run time too."""
    return ForwardFoldScaleAxisPass(always=True)


@checked
def BackwardFoldScaleAxis() -> BackwardFoldScaleAxisPass:
    """The pass that moves factors up into weights, and what is added; as in TVM into those given at run time too."""
    return BackwardFoldScaleAxisPass(always=True)


@checked
def InlineCompilerFunctionsBoundTo(global_vars: Sequence[GlobalVar | str]) -> InlineCompilerFunctionsBoundToPass:
    """The pass that puts functions for other compilers back where they are called: those that are named."""
    names = tuple(each if isinstance(each, str) else each.name_hint for each in global_vars)
    return InlineCompilerFunctionsBoundToPass(names)


@checked
def Inline() -> InlinePass:
    """The pass that puts functions marked `Inline` where they are called, and erases them."""
    return InlinePass(marked_only=True)


@checked
def FlexibleShapeDispatch(
    buckets: Sequence[int],
    axis: int = 0,
    auto_pad: bool = True,
    pad_value: int = 0,
    input_indices: Sequence[int] | None = None,
    affects_output: bool = True,
) -> FlexibleShapeDispatchPass:
    """The pass that lets a graph run at every size along an axis of its first input, or of those that are numbered. One
    program serves all sizes, so that `buckets` and `auto_pad` say nothing."""
    numbers = (0,) if input_indices is None else tuple(input_indices)
    return FlexibleShapeDispatchPass(tuple(buckets), axis, auto_pad, pad_value, numbers, affects_output)


@checked
def ChangeBatch(data: Mapping[Var | str, int], batch_size: int = 16) -> ChangeBatchPass:
    """The pass that gives inputs, each with the axis that is the batch, another batch size."""
    names = tuple(each if isinstance(each, str) else each.name_hint for each in data)
    return ChangeBatchPass(names, tuple(data.values()), batch_size)


@checked
def Conv2dToSparse(
    weight_name: Sequence[str], weight_shape: Sequence[Sequence[int]], layout: str = "NHWC", kernel_size: int = 1
) -> Conv2dToSparsePass:
    """The pass that takes weights of convolutions as sparse matrices; of each, five extents."""
    numbers = tuple(number for shape in weight_shape for number in shape)
    return Conv2dToSparsePass(tuple(weight_name), numbers, layout, kernel_size)


@checked
def Conv2dToSparse2(
    layout: str, kernel_size: int, blocksize: Sequence[int], sparsity_threshold: float
) -> Conv2dToSparse2Pass:
    """The pass that computes convolutions as sparse ones whose weights are constants of so many zeros."""
    return Conv2dToSparse2Pass(layout, kernel_size, tuple(blocksize), sparsity_threshold)


@checked
def DenseToSparse(weight_name: Sequence[str], weight_shape: Sequence[Sequence[int]]) -> DenseToSparsePass:
    """The pass that takes weights of dense layers as sparse matrices; of each, five extents."""
    return DenseToSparsePass(tuple(weight_name), tuple(number for shape in weight_shape for number in shape))


@checked
def PlanDevices(
    config: CompilationConfig | None = None, targets: Sequence[str] = (), default_device: str | int | None = None
) -> PlanDevicesPass:
    """The pass that decides where values are: on devices of a configuration (`targets.make_compilation_config`), or of
    `targets`, else of those that the module lists.

    Raises:
        UsageError: both a configuration and what it says are given.
    """
    if config is None:
        return PlanDevicesPass(tuple(targets), default_device)
    if targets or default_device is not None:
        raise UsageError("a configuration says which targets there are, and which device is the default")
    return PlanDevicesPass(tuple(map(str, config.primitive_targets)), config.default_primitive_virtual_device.type)


@checked
def RemoveUnusedFunctions(entry_functions: Sequence[str] = ("main",)) -> RemoveUnusedFunctionsPass:
    """The pass that drops functions that no entry calls, themselves or by others; `@main` is one unless given."""
    return RemoveUnusedFunctionsPass(tuple(entry_functions))


@checked
def partition_for(
    module: ModuleOp, *backends: str, mod_name: str = "default", bind_constants: bool = True, merge: bool = True
) -> ModuleOp:
    """A module with functions for all that some backends take, the most wanted first; `module` stays as it is.

    Without `merge`, each operator and composite is a region of its own.

    Raises:
        UsageError: there is no such backend.
    """
    table = [entry for name in backends for entry in get_backend(name).patterns()]
    if table:
        module = MergeCompositePass.of(table)(module)
    module = AnnotateTarget(backends)(module)
    if merge:
        module = MergeCompilerRegionsPass()(module)
    return PartitionGraphPass(mod_name, bind_constants)(module)


def __dir__() -> list[str]:
    named = {"FoldConstantExpr", "InferTypeLocal", "LayoutConfig", "gradient", "gradients", "partition_for", "recast"}
    return sorted({*named, *dir(_passes)})


def __getattr__(name: str) -> object:
    return getattr(_passes, name)
