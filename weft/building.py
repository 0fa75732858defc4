"""`weft.lower` and `weft.build`: from a te schedule, a `tir.prim_func` or a module to text, machine code or C."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp, StringAttr

from .dialects.relay.core import FuncOp
from .dialects.support.arguments import checked
from .dialects.support.diagnostics import UsageError
from .dialects.support.verifier import verify
from .dialects.te.expr import Slot, Var
from .dialects.te.tensor import Tensor
from .dialects.tir.core import PrimFuncOp
from .dialects.tir.functions import BOUND_TARGET
from .dialects.tir.nodes.buffers import Buffer
from .dialects.tir.script.modules import IRModule
from .dialects.tir.specialize import symbols_of
from .lowering.abi import CONSTANTS_TABLE, ENTRY
from .lowering.compiler import compile_graph
from .lowering.loops_to_c.compile import NoCompilerError
from .lowering.lower_passes import lower_passes
from .lowering.machine.target import Target, with_host
from .lowering.phase_texts import PhaseTexts
from .lowering.prim_func_graph import described_arguments, graph_of, result_place
from .lowering.te_schedule.schedule import Schedule
from .lowering.te_schedule.translation import translate
from .relay_backend import Runtime, check_runtime
from .runtime.executable import Executable
from .runtime.module import BITCODE, Argument, Function, Module
from .transforms.infra import PassContext
from .transforms.infra.execution import run
from .transforms.infra.sequential import Sequential
from .transforms.infra.walk import clone
from .transforms.tir.bind_target import BindTargetPass

Buildable: TypeAlias = Schedule | PrimFuncOp | ModuleOp


@checked
def lower(
    inp: Buildable,
    args: Sequence[Tensor | Var | Slot] | None = None,
    name: str = "main",
    binds: Mapping[Tensor, Buffer] | None = None,
    simple_mode: bool = False,
) -> IRModule:
    """The module of `tir.prim_func`s that `inp` stands for, as it will be compiled: loops in their final order.
    Counterpart of `tvm.lower`, whose `tir.add_lower_pass`, `tir.disable_vectorize` and `tir.disable_assert` the
    configuration may have.

    Args:
        inp: a te schedule, a function, or a module of functions; what is given stays as it is.
        args: the tensors that the function of a te schedule is from and to, in the order of its arguments; symbols
            (`te.var`, or a `tir.Var` that extents speak of) may stand among them.
        name: what that function is called.
        binds: buffers that tensors are: none, as each has one of its own.
        simple_mode: leave out `loop-partition`, which takes conditions out of loops: the text is shorter.

    Raises:
        UsageError: it is nothing that can be lowered, or `args` do not go with it.
        ScheduleError: a primitive of the te schedule does not apply.
        Diagnostic: a function is not valid.
    """
    _check_binds(binds)
    module = _module_of(inp, args, name)
    for op in module.ops:
        if not isinstance(op, PrimFuncOp):
            hint = "weft.compile and weft.build take graphs" if isinstance(op, FuncOp) else None
            raise UsageError(f"weft.lower takes modules of tir.prim_func, and here is a {op.name}", hint=hint)
    verify(module)
    run(Sequential(lower_passes(PassContext.current(), simple_mode), name="lower"), module)
    verify(module)
    return module


def _check_binds(binds: Mapping[Tensor, Buffer] | None) -> None:
    if binds:
        names = ", ".join(tensor.name for tensor in binds)
        hint = "te.SchedulePostProcToPrimFunc makes a function with buffers that are given"
        raise UsageError(f"each tensor has a buffer of its own, and none is bound to {names}", hint=hint)


def _module_of(inp: Buildable, args: Sequence[Tensor | Var | Slot] | None, name: str) -> IRModule:
    match inp:
        case Schedule():
            if args is None:
                raise UsageError("a te schedule is lowered for arguments", hint="weft.lower(s, [A, B, C])")
            return translate(inp, args, name).mod
        case PrimFuncOp() | ModuleOp():
            module = IRModule.of(inp)
    if args is not None:
        raise UsageError("arguments are given for a te schedule only; a function has its own")
    return module


@checked
def schedule_to_module(
    sch: Schedule,
    args: Sequence[Tensor | Var | Slot],
    name: str = "main",
    binds: Mapping[Tensor, Buffer] | None = None,
) -> IRModule:
    """The module of the function that a te schedule is, before any pass: `lower` runs passes on it. Counterpart of
    TVM's function of `tvm.driver.build_module`; the arguments are those of `lower`.

    Raises:
        UsageError, ScheduleError: as for `lower`.
    """
    _check_binds(binds)
    return translate(sch, args, name).mod


@checked
def build(
    inputs: Buildable | Sequence[PrimFuncOp | ModuleOp] | Mapping[str | Target, PrimFuncOp | ModuleOp],
    args: Sequence[Tensor | Var | Slot] | str | Target | None = None,
    target: str | Target | Sequence[str | Target] | None = None,
    target_host: str | Target | None = None,
    name: str = "main",
    *,
    runtime: Runtime | None = None,
    threads: int | None = None,
) -> Module:
    """What `inputs` stand for, compiled: functions that are called with NumPy arrays, which they write to.
    Counterpart of `tvm.build`. Nothing is scheduled but what `inputs` say; of a module of `relay` functions, which
    goes through all phases, the public one is built. A function with symbols is compiled once for all sizes.

    Args:
        inputs, args, name: as for `lower`; several functions or modules are one module of all their functions, and a
            mapping from targets has the `tir` functions of each. What has its arguments takes the target in their
            place, too: `weft.build(f, "llvm")`.
        target: `llvm`, `c` or `cuda`, with the options that `weft.compile` takes; that of the `with weft.Target(...)`
            around it, or `llvm`, unless given. A function that says its own (`with_attr("target", ...)`) is for that.
        target_host: the host of a GPU; of a processor it is of its own kind.
        runtime: `relay.backend.Runtime("cpp")`, which is what there is.
        threads: threads for a call; as many as there are processors, unless given.

    Raises:
        UsageError: it is nothing that can be built, for another runtime or for two targets.
        Diagnostic: something cannot be lowered.
    """
    check_runtime(runtime, "weft.build")
    if isinstance(args, str | Target):
        if target is not None:
            raise UsageError(f"weft.build: 'args' is a target, {args}, and 'target' is one, too")
        args, target = None, args
    resolved = _hosted(target or Target.current() or "llvm", target_host)
    if isinstance(inputs, Mapping):
        inputs = [_bound(each, _hosted(told, target_host)) for told, each in inputs.items()]
    if isinstance(inputs, Sequence):
        inputs = _merged(inputs)
    if isinstance(inputs, ModuleOp) and any(isinstance(op, FuncOp) for op in inputs.ops):
        return _build_graph(inputs, resolved, threads)
    module = lower(inputs, args, name)
    functions: dict[str, Function] = {}
    targets: list[Target] = []
    for function in module.ops:
        assert isinstance(function, PrimFuncOp)
        called, own = function.sym_name.data, _own_target(function, resolved)
        targets.append(own)
        if symbols_of(function):
            from .open_functions import OpenFunction

            functions[called] = OpenFunction(function, own, threads)
            continue
        graph = graph_of(function, own)
        texts = PhaseTexts(clone(graph), "schedule", own, PassContext.current())
        arguments = [Argument(*described) for described in described_arguments(function)]
        with texts.followed():
            executable = _executable(graph, own, threads, texts)
        functions[called] = Function(called, executable, arguments, source(texts), result_place(function))
    targets = targets or [resolved]
    return Module(functions, targets[0].kind, str(module), _llvm_file(targets))


def _hosted(target: str | Target | Sequence[str | Target], host: str | Target | None) -> Target:
    told = Target.parse(target)
    return told if host is None else with_host(told, Target.parse(host))


def _bound(inputs: PrimFuncOp | ModuleOp, target: Target) -> IRModule:
    """The functions that are given for a target, each of which says that it is for that, or for its own."""
    module = IRModule.of(inputs)
    if graph := next((op for op in module.ops if isinstance(op, FuncOp)), None):
        hint = "weft.compile takes a graph, and several targets: target=['llvm', 'cuda']"
        raise UsageError(
            f"@{graph.sym_name.data} is a graph, and functions of tir are built for a target each", hint=hint
        )
    return IRModule.of(BindTargetPass(str(target))(module))


def _own_target(function: PrimFuncOp, otherwise: Target) -> Target:
    """The target that a function says it is for.

    Raises:
        UsageError: there is no such target.
    """
    told = function.attributes.get(BOUND_TARGET)
    return Target.parse(told.data) if isinstance(told, StringAttr) else otherwise


def _merged(inputs: Sequence[PrimFuncOp | ModuleOp]) -> ModuleOp:
    functions = [op.clone() for each in inputs for op in (each.ops if isinstance(each, ModuleOp) else [each])]
    names = [function.sym_name.data for function in functions if isinstance(function, PrimFuncOp | FuncOp)]
    if twice := next((name for name in names if names.count(name) > 1), None):
        hint = 'with_attr("global_symbol", ...) calls one otherwise'
        raise UsageError(f"two functions are called '{twice}'", hint=hint)
    return ModuleOp(functions)


def _executable(
    graph: ModuleOp, target: Target, threads: int | None, texts: PhaseTexts
) -> Executable | NoCompilerError:
    """What runs; for the target `c`, of which the source is of use by itself, the reason where there is no compiler."""
    try:
        return Executable(compile_graph(graph, target, start="schedule"), threads, texts)
    except NoCompilerError as error:
        return error


def _build_graph(module: ModuleOp, target: Target, threads: int | None) -> Module:
    from .compiler import compile as compile_model

    executable = compile_model(module, target, threads=threads)
    arguments = [
        Argument(spec.name, number, is_output)
        for is_output, specs in ((False, executable.inputs), (True, executable.outputs))
        for number, spec in enumerate(specs)
    ]
    function = Function("main", executable, arguments, source(executable.ir))
    return Module({"main": function}, target.kind_of_code, str(module), _llvm_file([target]))


def source(texts: PhaseTexts) -> Callable[[str], str]:
    """What gives the text of a kind: `ll`, `asm`, `c`, `ptx`; `module` is `ll` as one module."""
    kinds = {
        "asm": texts.assembly, "c": texts.c_source, "ll": texts.llvm_ir, "ptx": texts.ptx, "module": texts.llvm_module,
    }  # fmt: skip
    return lambda kind: kinds[kind]()


def _llvm_file(targets: Sequence[Target]) -> Callable[[Mapping[str, str], str], bytes] | None:
    """What writes the LLVM modules of functions, by their names, as one: `ll` or `bc`; for processors only."""
    target = targets[0]
    if target.kind_of_code != "llvm":
        return None

    def written(texts: Mapping[str, str], kind: str) -> bytes:
        if other := next((each for each in targets if str(each) != str(target)), None):
            message = f"the functions are for several targets, and a file of LLVM is for one: {target}, {other}"
            raise UsageError(message, hint="build those of each target by themselves")
        machine = target.machine()
        own = re.compile(rf"@({ENTRY}|{CONSTANTS_TABLE})\b")
        renamed = [own.sub(rf"@{re.sub(r'[^A-Za-z0-9_]', '_', name)}_\1", text) for name, text in texts.items()]
        (text,) = texts.values() if len(texts) == 1 else [machine.linked(renamed or [""])]
        return machine.bitcode(text) if kind == BITCODE else text.encode()

    return written
