"""Programs run in one line, and built as TVM's `relay.build` gives them.

f = relay.create_executor("graph").evaluate(relay.Function([x], relay.nn.relu(x)))
y = f(array)                                                 # also f(x=array)
three = relay.create_executor().evaluate(relay.const(1) + relay.const(2))

library = relay.build(module, "llvm", params=params)
graph = weft.graph_executor.GraphModule(library["default"]())
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.ir import Attribute

from .devices import check_devices
from .dialects.relay.base import flatten_types
from .dialects.relay.core import FuncOp
from .dialects.relay.devices import VirtualDevice, type_of_target
from .dialects.relay.interpreter import evaluate_function, is_first_order
from .dialects.relay.types import IncompleteType, is_complete
from .dialects.support.algebraic import ADT
from .dialects.support.arguments import checked, checked_methods
from .dialects.support.diagnostics import UsageError, did_you_mean
from .dialects.support.dtypes import dtype_name, numpy_dtype
from .dialects.support.hints import is_sequence
from .dialects.support.nd import as_nd
from .frontend.relay.binding import bind
from .frontend.relay.expr import Expr, Function, GlobalVar, Operand, Var, as_value, free_vars
from .frontend.relay.kinds import Constant
from .frontend.relay.module import IRModule
from .lowering.machine.scoped_target import or_current
from .relay_backend import Executor, Runtime, check_python_calls, check_runtime
from .relay_broadcasting import Broadcasting, Program, is_open
from .runtime.tensors import InputError
from .transforms.infra.context import PassContext
from .transforms.infra.walk import clone

if TYPE_CHECKING:
    from .lowering.machine.target import Target
    from .lowering.phase_texts import PhaseTexts
    from .relay_data_results import WrittenResults
    from .runtime.aot_library import AotLibrary
    from .runtime.executable import Executable as NativeExecutable
    from .runtime.graph_library import Library
    from .runtime.tensors import Input

NDArray: TypeAlias = npt.NDArray[np.generic]
Result: TypeAlias = "NDArray | tuple[Result, ...]"
"""An array; of an expression that is a tuple, the results of its fields."""
Run: TypeAlias = Callable[[Sequence[NDArray]], Sequence[NDArray]]

KINDS = ("debug", "graph", "vm", "aot")
"""What runs a program: the interpreter, kernels node by node, and, as one, native code."""


@checked_methods
class Evaluator:
    """What evaluates functions and expressions; `create_executor` makes one."""

    def __init__(
        self,
        kind: str,
        module: ModuleOp | None,
        target: str | Target,
        params: Mapping[str, npt.ArrayLike] | None,
    ):
        if kind not in KINDS:
            hint = did_you_mean(kind, KINDS) or f"they are: {', '.join(KINDS)}"
            raise UsageError(f"there is no executor '{kind}'", hint=hint)
        self.kind, self.module, self.target, self.params = kind, module, target, params

    def evaluate(
        self, expr: FuncOp | Operand | None = None, binds: Mapping[Var, npt.ArrayLike] | None = None
    ) -> Callable[..., Result] | Result:
        """A function is given as a callable of arrays, in order or by name; an expression as its value.

        Args:
            expr: a `relay.func`, the name of one of the executor's module, or an expression; `@main` of the module,
                unless given.
            binds: what variables of the expression are worth.

        Raises:
            UsageError: there is nothing to evaluate, or the expression has variables that nothing is bound to.
        """
        if expr is None:
            if self.module is None:
                raise UsageError("there is nothing to evaluate: give an expression, or the executor a module")
            return self._callable(self.module)
        if isinstance(expr, GlobalVar):
            if self.module is None:
                raise UsageError(f"there is no function {expr}: the executor has no module")
            expr = IRModule.of(self.module)[expr]
        if isinstance(expr, FuncOp):
            if binds:
                raise UsageError("a function binds its variables itself: give an expression, or the arrays by name")
            return self._callable(self._with_others(expr))
        bound = bind(Expr(as_value(expr)), dict(binds or {}))
        if missing := [each.name_hint for each in free_vars(bound)]:
            raise UsageError(
                f"the expression has variables that nothing is bound to: {', '.join(missing)}",
                hint="bind them, `binds={x: array}`, or evaluate a function of them",
            )
        return self._callable(self._with_others(Function([], bound)))()

    def _with_others(self, function: FuncOp) -> ModuleOp:
        """A module of the function as `@main` and the functions that it may call."""
        if self.module is None:
            return IRModule.from_expr(function)
        others = IRModule.of(self.module)
        module = IRModule(type_definitions={each.header: each for each in others.type_definitions.values()})
        module.update({name: op for name, op in others.functions.items() if name.name_hint != "main"})
        module["main"] = function
        return module

    def _callable(self, module: ModuleOp) -> Callable[..., Result]:
        from .transforms.relay.bind_params import bind_known, input_names

        if self.params or self.kind == "debug":  # what is interpreted stays as it is, whatever becomes of the module
            module = module.clone()
        if self.params:
            bind_known(module, self.params)
        main = _main(module)
        names = input_names(main)
        if self.kind == "debug" and not all(
            map(_is_tensors, [*main.function_type.inputs, *main.function_type.outputs])
        ):
            return _called_with_values(main, names)
        if not all(map(is_complete, main.function_type.outputs)):
            raise UsageError(
                "the type of what the function gives is not known",
                hint="give its variables types: relay.var('x', shape=(2, 3))",
            )
        shown: Callable[[Sequence[NDArray]], Result]
        if self.kind == "debug":
            run, shown = self._interpreted(main), partial(results_of, main.function_type.outputs.data)
        else:
            run, shown = self._compiled(module, main)
        takes = dtypes_of(main.function_type.inputs.data)

        def call(*args: object, **kwargs: object) -> Result:
            return shown(run(in_dtypes(in_order(names, args, kwargs), takes)))

        return call

    @staticmethod
    def _interpreted(main: FuncOp) -> Run:
        takes = checks_of(main.function_type.inputs.data)

        def run(arrays: Sequence[NDArray]) -> Sequence[NDArray]:
            return evaluate_function(main, checked_arrays(arrays, takes))

        return run

    def _compiled(self, module: ModuleOp, main: FuncOp) -> tuple[Run, Callable[[Sequence[NDArray]], Result]]:
        from .compiler import compile as compile_model

        program: Callable[..., NDArray | tuple[NDArray, ...]]
        shown: Callable[[Sequence[NDArray]], Result]
        if self.kind == "graph":
            program = compile_model(module, self.target, executor="graph")
            shown = partial(results_of, main.function_type.outputs.data)
        else:
            native = compiled(module, self.target, main.sym_name.data)
            program, shown = broadcasting(native, module, self.target, main), native.shown

        def run(arrays: Sequence[NDArray]) -> Sequence[NDArray]:
            found = program(*arrays)
            return found if isinstance(found, tuple) else [found]

        return run, shown


def _is_tensors(type: Attribute) -> bool:
    """Whether values of a type are tensors and tuples of such, as far as it is known."""
    if isinstance(type, TupleType):
        return all(map(_is_tensors, type.types))
    return is_first_order(type) or isinstance(type, IncompleteType)


def _called_with_values(main: FuncOp, names: Sequence[str]) -> Callable[..., Result]:
    """A function that takes or gives values of data types, references or functions, as Python has them."""
    from .relay_values import Values

    module = main.parent_op()
    values = Values(module if isinstance(module, ModuleOp) else None)

    def call(*args: object, **kwargs: object) -> Result:
        given = values.read(in_order(names, args, kwargs), main.function_type.inputs.data)
        results = tuple(map(values.shown, values.interpreter.run(main, given)))
        return cast(Result, results[0] if len(results) == 1 else results)

    return call


@dataclass(frozen=True)
class Compiled:
    """The native code of a function, and what it makes of values of data types, if it gives such."""

    program: NativeExecutable
    types: Sequence[Attribute]
    """Of what the function gives."""
    written: WrittenResults | None = None

    def shown(self, arrays: Sequence[NDArray]) -> Result:
        """What the function gives, of the tensors that its code does."""
        if self.written is None:
            return results_of(self.types, arrays)
        return cast(Result, self.written.read(arrays))


def compiled(module: ModuleOp, target: str | Target, name: str) -> Compiled:
    """Compile a function of a module, which may give values of data types.

    Raises:
        Diagnostic: it cannot be lowered, or is not valid.
    """
    from .compiler import compile as compile_model

    whole = IRModule.of(module)
    function = whole[name]
    if not all(map(is_first_order, function.function_type.outputs)):
        from .relay_data_results import WrittenResults

        if (written := WrittenResults.of(whole, name)) is not None:
            program = compile_model(written.module, target, function=written.name)
            return Compiled(program, function.function_type.outputs.data, written)
    program = compile_model(module, target, function=name)
    return Compiled(program, function.function_type.outputs.data)


def broadcasting(native: Compiled, module: ModuleOp, target: str | Target, function: FuncOp) -> Program:
    """What calls the native code of a function of a module, and that for open extents of 1 where it is called so."""
    if native.written is not None or not is_open(function):
        return native.program
    from .compiler import compile as compile_model

    kept, name = module.clone(), function.sym_name.data
    return Broadcasting(
        native.program, function, lambda shapes: compile_model(kept, target, shapes=shapes, function=name)
    )


def results_of(types: Sequence[Attribute], arrays: Sequence[NDArray]) -> Result:
    """The results of a function of some types, of the tensors that it gives: one, or a tuple of several."""
    found = map(as_nd, arrays)
    results = tuple(unflatten(type, found) for type in types)
    return results[0] if len(results) == 1 else results


def checks_of(types: Sequence[Attribute]) -> list[Input]:
    """What checks each tensor that a function of some types takes."""
    from .lowering.abi import TensorSpec
    from .runtime.tensors import Input

    return [
        Input(TensorSpec(f"in{number}", dtype_name(type.element_type), type.get_shape()))
        for number, type in enumerate(flatten_types(types))
    ]


def checked_arrays(arrays: Sequence[NDArray], takes: Sequence[Input]) -> list[NDArray]:
    """Arrays, each as a function takes it.

    Raises:
        UsageError: there are more or fewer.
        InputError: a shape or dtype does not fit.
    """
    if len(arrays) != len(takes):
        raise UsageError(f"the function takes {len(takes)} tensors, but {len(arrays)} are given")
    return [wanted.checked(array) for wanted, array in zip(takes, arrays, strict=True)]


@checked
def create_executor(
    kind: str = "debug",
    mod: ModuleOp | None = None,
    device: VirtualDevice | None = None,
    target: str | Target | None = None,
    params: Mapping[str, npt.ArrayLike] | None = None,
) -> Evaluator:
    """What evaluates functions and expressions: `create_executor("vm", module).evaluate()(x)`.

    Args:
        kind: `debug`, the interpreter; `graph`, kernels run node by node; `vm` and `aot`, which are one here, native
            code for the whole.
        mod: the module whose `@main` is evaluated, and whose functions are called.
        device: what it runs on, `weft.cpu()`; that of the target, unless given.
        target: as for `weft.compile`; the interpreter has none.
        params: inputs of `@main` that become constants, by name.

    Raises:
        UsageError: there is no such executor, or the device is not one of the target.
    """
    target = or_current(target)
    check_devices(device, target)
    return Evaluator(kind, mod, target, params)


_GRAPH, _CPP = Executor("graph"), Runtime("cpp")


def _linking(params: bool) -> AbstractContextManager[object]:
    """The rules in which constants stand in the kernels that read them, if they shall."""
    from .executors import DEFAULT_OPT_LEVEL
    from .transforms.infra.context import PassContext

    current = PassContext.current()
    level = DEFAULT_OPT_LEVEL if current.is_default else current.opt_level
    return current.at_level(level, {"relay.FuseOps.link_params": True}) if params else nullcontext()


@checked
def build(
    ir_mod: ModuleOp | FuncOp,
    target: str | Target | Mapping[Any, str | Target] | Sequence[str | Target] | None = None,
    target_host: str | Target | None = None,
    executor: Executor = _GRAPH,
    runtime: Runtime = _CPP,
    *,
    params: Mapping[str, npt.ArrayLike] | None = None,
    mod_name: str = "default",
) -> Library | AotLibrary:
    """Compile a module: for the graph executor, or as one native function, which is faster.

    Args:
        ir_mod: the module, or a function.
        target: what it is compiled for; that in scope, or this machine, unless given.
        target_host: the host of a GPU, where the target does not say one.
        executor: `Executor("graph")`; with its option `link-params`, constants stand in the kernels that read them. Or
            `Executor("aot")`, for one function, as `weft.compile` makes it: `library["default"](weft.cpu())` gives an
            `AotModule`.
        runtime: `Runtime("cpp")`.
        params: inputs of `@main` that become constants, by name.
        mod_name: what the library calls the graph.

    Raises:
        UsageError: a parameter does not fit, or it is to be for another executor or runtime.
        Diagnostic: it cannot be lowered, or is not valid.
    """
    from .compilation import texts_of
    from .compiler import compile as compile_model
    from .compiler import compile_parts
    from .lowering.machine.target import Target
    from .runtime.aot_library import AotLibrary
    from .runtime.graph_library import Library
    from .transforms.relay.bind_params import known_params

    check_runtime(runtime, "relay.build")
    check_python_calls(executor)
    if params:
        params = known_params(_main(ir_mod) if isinstance(ir_mod, ModuleOp) else ir_mod, params)
    listed = Target.canon_multi_target_and_host(or_current(target), target_host)
    target = listed[0] if len(listed) == 1 else Target.parse(listed)
    if executor.name == "aot":
        exe = compile_model(ir_mod, target, params=params)
        texts = partial(texts_of, clone(ir_mod), target, PassContext.current(), params, None, None, None)
        return AotLibrary(exe.graph, mod_name, type_of_target(str(target)), partial(_source, texts), exe.threads)
    with _linking(bool(executor["link-params"])):
        made = compile_parts(ir_mod, target, params)
        texts = partial(texts_of, clone(ir_mod), target, PassContext.current(), params, None, None, None)
    text, kernels, type = partial(_source, texts), made.exe.graph, type_of_target(str(target))
    return Library(made.graph, kernels, made.params, made.outputs, mod_name, type, text, made.exe.threads)


def _source(texts: Callable[[], PhaseTexts], fmt: str) -> str:
    """The text of a graph's code, as a module of its target has it."""
    from .building import source
    from .runtime.module import source_kind

    made = texts()
    return source(made)(source_kind(made.target.kind_of_code, fmt))


@checked
def optimize(
    mod: ModuleOp | FuncOp | Expr,
    target: str | Target | None = None,
    params: Mapping[str, npt.ArrayLike] | None = None,
) -> tuple[IRModule, dict[str, NDArray]]:
    """A module as it is before its operators are fused: with parameters bound, by the passes that a compilation has on
    graphs under the current `PassContext`, and those that it requires.

    Returns:
        The module, and the parameters that were not bound: none.

    Raises:
        UsageError: a parameter does not fit.
        Diagnostic: it is not valid.
    """
    from .lowering.compiler import lower
    from .lowering.machine.target import Target
    from .transforms.relay.bind_params import bind_known

    given = mod if isinstance(mod, ModuleOp | FuncOp) else Function(free_vars(mod), mod)
    module = IRModule.of(given.clone()) if isinstance(given, ModuleOp) else IRModule.from_expr(given)
    if params:
        bind_known(module, params, _main(module).sym_name.data)
    lower(module, Target.parse(or_current(target)), "graph")
    return module, {}


def _main(module: ModuleOp) -> FuncOp:
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    for op in functions:
        if op.sym_name.data == "main" or len(functions) == 1:
            return op
    raise UsageError("the module has no function @main")


def in_order(names: Sequence[str], args: Sequence[object], kwargs: Mapping[str, object]) -> list[object]:
    """The arguments of a call in the order of the parameters.

    Raises:
        UsageError: one is missing, unknown, or given twice.
    """
    given = dict(enumerate(args))
    for name, value in kwargs.items():
        if name not in names:
            hint = did_you_mean(name, names)
            raise UsageError(f"there is no parameter '{name}'; parameters: {', '.join(names)}", hint=hint)
        place = names.index(name)
        if place in given:
            raise UsageError(f"the parameter '{name}' is given twice")
        given[place] = value
    if set(given) != set(range(len(names))):
        raise UsageError(f"the function takes {len(names)} arguments, but {len(args) + len(kwargs)} are given")
    return [given[place] for place in range(len(names))]


def dtypes_of(types: Sequence[Attribute]) -> list[np.dtype[np.generic]]:
    """The dtype of each tensor that a function of some types takes."""
    tensors = flatten_types(types) if all(map(is_first_order, types)) else []
    return [numpy_dtype(type.element_type) for type in tensors]


def in_dtypes(values: Iterable[object], takes: Sequence[np.dtype[np.generic]]) -> list[NDArray]:
    """The tensors of values, each converted where the dtype that is taken holds its numbers."""
    from .dialects.support.held import held_as

    found = [leaf for value in values for leaf in leaves(value)]
    return [held_as(each, dtype) for each, dtype in zip(found, takes, strict=False)] + found[len(takes) :]


def leaves(value: object) -> Iterable[NDArray]:
    """The tensors of a value, which is one or a tuple; constants are expressions, too.

    Raises:
        InputError: it is of a data type.
    """
    if is_sequence(value):
        for field in value:
            yield from leaves(field)
    elif isinstance(value, Expr) and isinstance(value, Constant):
        yield value.data
    elif isinstance(value, ADT):
        raise InputError(f"tensors are taken, and no {type(value).__name__}")
    else:
        yield np.asarray(value)


def unflatten(type: Attribute, arrays: Iterator[NDArray]) -> Result:
    """A value of a type, of the tensors that are taken from `arrays`."""
    if isinstance(type, TupleType):
        return tuple(unflatten(field, arrays) for field in type.types)
    return next(arrays)
