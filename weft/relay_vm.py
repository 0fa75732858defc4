"""`weft.relay.vm`: programs under the names of TVM's virtual machine.

    machine = relay.vm.VirtualMachine(relay.vm.compile(module, "llvm", params))
    machine.set_input("main", x)
    y = machine.run()

There is no bytecode: each function is native code, as `weft.compile` makes it, which branches, calls and takes tensors
of open extents by itself. Functions other than `@main` are compiled when they are first asked for, and once more where
a call broadcasts along an open extent of 1; those of a file that was loaded refuse such a call.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp

from .devices import check_devices
from .dialects.relay.core import FuncOp
from .dialects.relay.devices import VirtualDevice
from .dialects.relay.interpreter import is_first_order
from .dialects.support.arguments import ArgumentError, checked, checked_methods
from .dialects.support.diagnostics import UsageError, did_you_mean
from .dialects.support.hints import is_tuple
from .dialects.support.nd import NDArray as NamedArray
from .dialects.support.nd import as_nd
from .lowering.machine.scoped_target import or_current
from .relay_executors import broadcasting, compiled, in_order, leaves, optimize
from .runtime import vm as _of_runtime
from .transforms.infra.walk import clone
from .transforms.relay.bind_params import bind_known, input_names

if TYPE_CHECKING:
    from .frontend.relay.module import IRModule
    from .lowering.machine.target import Target
    from .relay_vm_files import Callee
    from .runtime.benchmark import BenchmarkResult
    from .runtime.executable import Executable as NativeExecutable
    from .runtime.profiling import Profile
    from .runtime.program_library import ProgramLibrary

    NDArray: TypeAlias = npt.NDArray[np.generic]
    Result: TypeAlias = "NDArray | tuple[Result, ...]"


class Executable:
    """The functions of a module as native code, by name; `compile` makes one, `load_exec` again of what was saved."""

    def __init__(self, module: ModuleOp, target: str | Target, callees: Mapping[str, Callee] | None = None):
        """`callees` are functions that are compiled already, which need not be in the module."""
        self._module = module
        self.target = target
        self._functions = {
            op.sym_name.data: op for op in self._module.ops if isinstance(op, FuncOp) and op.sym_visibility is None
        }
        self._callees: dict[str, Callee] = dict(callees or {})

    @staticmethod
    def load_exec(bytecode: bytes | bytearray, lib: ProgramLibrary) -> Executable:
        """An executable of what `save` gave, or of what `weft.runtime.load_module` has read of it.

        Raises:
            Diagnostic: it is no code of an executable, or the library is another's.
        """
        from .relay_vm_files import read_code

        module, callees = read_code(bytecode, lib)
        return Executable(module, "llvm", callees)

    @property
    def mod(self) -> ProgramLibrary:
        """What is exported of it: the functions that can be called, and what is said of them, in one file.
        `export_library` writes it, and a `VirtualMachine` runs what `weft.runtime.load_module` reads.

        Raises:
            Diagnostic: a function cannot be lowered.
        """
        from .runtime.program_library import ProgramLibrary

        code, library = self.save()
        return ProgramLibrary(library.functions, code)

    def save(self) -> tuple[bytearray, ProgramLibrary]:
        """What is said of the functions that can be called, and their native code, which is compiled where it was not:
        `library.export_library(path)` writes it to a file.

        Raises:
            Diagnostic: a function cannot be lowered.
        """
        from .relay_vm_files import code_of
        from .runtime.program_library import ProgramLibrary

        callees = {name: self.callee(name) for name in self.globals if self._takes_tensors(name)}
        library = ProgramLibrary({name: each.compiled.program for name, each in callees.items()})
        return code_of(self._module, callees), library

    def _takes_tensors(self, name: str) -> bool:
        from .relay_data_results import is_given

        function = self._functions.get(name)
        return name in self._callees or (
            function is not None
            and all(map(is_first_order, function.function_type.inputs))
            and is_given(self._module, function)
        )

    @property
    def globals(self) -> list[str]:
        """The names of the functions that can be called."""
        return list(self._functions or self._callees)

    def get_function_params(self, func_name: str) -> list[str]:
        """The names of a function's parameters.

        Raises:
            UsageError: there is no such function.
        """
        if (known := self._callees.get(func_name)) is not None:
            return list(known.params)
        return input_names(self._function(func_name))

    def _function(self, name: str) -> FuncOp:
        if (found := self._functions.get(name)) is None:
            hint = did_you_mean(name, self.globals) or f"they are: {', '.join(self.globals)}"
            raise UsageError(f"there is no function '{name}'", hint=hint)
        return found

    def program(self, name: str = "main") -> NativeExecutable:
        """The native code of a function: to save, to export, to look at.

        Raises:
            UsageError: there is no such function.
            Diagnostic: it cannot be lowered, or is not valid.
        """
        return self.callee(name).compiled.program

    def results(self, name: str, arrays: Sequence[NDArray]) -> Result:
        """What a function gives, of the tensors that its native code does."""
        return self.callee(name).compiled.shown(arrays)

    def callee(self, name: str) -> Callee:
        """A function, compiled.

        Raises:
            UsageError: there is no such function.
            Diagnostic: it cannot be lowered, or is not valid.
        """
        if (known := self._callees.get(name)) is None:
            from .relay_vm_files import Callee

            function = self._function(name)
            native = compiled(self._module, self.target, name)
            call = broadcasting(native, self._module, self.target, function)
            known = self._callees[name] = Callee(input_names(function), native, call)
        return known


@checked
def compile(
    mod: ModuleOp | FuncOp,
    target: str | Target | None = None,
    params: Mapping[str, npt.ArrayLike] | None = None,
) -> Executable:
    """Compile a module for a `VirtualMachine`.

    Args:
        mod: the module, or a function, which becomes its `@main`.
        target: as for `weft.compile`.
        params: inputs of `@main` that become constants, by name.

    Raises:
        UsageError: a parameter does not fit.
        Diagnostic: `@main` cannot be lowered, or something is not valid.
    """
    from .frontend.relay.module import IRModule

    module = clone(mod) if isinstance(mod, ModuleOp) else IRModule.from_expr(mod)
    if params:
        bind_known(module, params)
    made = Executable(module, or_current(target))
    if "main" in made.globals:
        made.program()
    return made


@checked
def load_library(path: str | os.PathLike[str]) -> ProgramLibrary:
    """The library of an executable that was saved, which holds machine code: load only what you would run as a program.

    Raises:
        Diagnostic: the file cannot be read, or is none of these.
        PlatformError: it was made for another machine.
    """
    from .runtime.program_library import load_programs

    return load_programs(path)


class VMCompiler:
    """Compiles in steps: `lower`, `codegen`, then `get_exec`."""

    def __init__(self) -> None:
        self._params: dict[str, npt.ArrayLike] = {}
        self._made: Executable | None = None

    def set_params(self, params: Mapping[str, npt.ArrayLike]) -> None:
        """Inputs of `@main` that become constants in what is lowered from now on, by name."""
        self._params = dict(params)

    def lower(self, mod: ModuleOp | FuncOp, target: str | Target | None = None) -> None:
        """Compile a module; see `compile`."""
        self._made = compile(mod, target, self._params)

    def codegen(self) -> None:
        """What `lower` has done."""
        self.get_exec()

    def optimize(
        self,
        mod: ModuleOp | FuncOp,
        target: str | Target | None = None,
        params: Mapping[str, npt.ArrayLike] | None = None,
    ) -> tuple[IRModule, dict[str, NDArray]]:
        """The module as it is before its operators are fused; see `relay.optimize`."""
        return optimize(mod, target, {**self._params, **(params or {})})

    def get_exec(self) -> Executable:
        """The functions that were compiled.

        Raises:
            UsageError: nothing was lowered.
        """
        if self._made is None:
            raise UsageError("nothing was compiled: call lower(module, target) first")
        return self._made


def _listed(arrays: Sequence[NDArray]) -> str:
    return f"[{', '.join(f'{each.dtype} {list(each.shape)}' for each in arrays)}]"


def _executable_of(library: object) -> Executable:
    """What was exported to a library.

    Raises:
        UsageError: it is none, or does not say what its functions are.
    """
    from .runtime.program_library import ProgramLibrary

    if not isinstance(library, ProgramLibrary):
        raise ArgumentError(f"'exe' of VirtualMachine is an Executable, or what was exported of one, not {library!r}")
    if library.code is None:
        raise UsageError(
            "the library does not say what its functions are",
            hint="give what load_exec makes of it and the code that was saved with it",
        )
    return Executable.load_exec(library.code, library)


@checked_methods
class VirtualMachine:
    """Runs the functions of an `Executable`. It keeps inputs and results of its own: one thread uses it at a time."""

    def __init__(self, exe: Executable | ProgramLibrary, device: VirtualDevice | Sequence[VirtualDevice] | None = None):
        """
        Args:
            exe: what `compile` gives, or `weft.runtime.load_module` of what was exported of it.
            device: what it runs on, `weft.cpu()`; that of the target, unless given.

        Raises:
            UsageError: the device is not one of the target, or what was exported does not say what its functions are.
        """
        self._exe = exe if isinstance(exe, Executable) else _executable_of(exe)
        check_devices(device, self._exe.target)
        self._inputs: dict[str, dict[int, object]] = {}
        self._outputs: list[NDArray] = []

    def set_input(self, func_name: str, *args: object, **kwargs: object) -> None:
        """What a function is called with by the next calls of it that say nothing else: copies of arrays, and as it is
        what `nd.array` gave, which may be written to between calls, as in TVM.

        Raises:
            UsageError: there is no such function, or arguments are missing, unknown or given twice.
        """
        names = self._exe.get_function_params(func_name)
        self._inputs[func_name] = dict(enumerate(map(_own, in_order(names, args, kwargs))))

    def set_one_input(self, func_name: str, *args: object, **kwargs: object) -> None:
        """The same for one argument: its number or name, and its value, or `name=value`.

        Raises:
            UsageError: there is no such function or argument, or not one argument is given.
        """
        given = [tuple(args), *kwargs.items()] if args else list(kwargs.items())
        if len(given) != 1 or len(given[0]) != 2 or not isinstance(tag := given[0][0], int | str):
            raise UsageError("one input is set by its number or name and its value, or by name=value")
        names = self._exe.get_function_params(func_name)
        if isinstance(tag, str) and tag not in names:
            hint = did_you_mean(tag, names)
            raise UsageError(f"there is no input '{tag}'; inputs: {', '.join(names)}", hint=hint)
        place = tag if isinstance(tag, int) else names.index(tag)
        if not 0 <= place < len(names):
            raise UsageError(f"there is no input {tag}; '{func_name}' takes {len(names)}")
        self._inputs.setdefault(func_name, {})[place] = _own(given[0][1])

    def get_input_index(self, input_name: str, func_name: str = "main") -> int:
        """The number of an argument; `-1`, as in TVM, where there is none of this name.

        Raises:
            UsageError: there is no such function.
        """
        names = self._exe.get_function_params(func_name)
        return names.index(input_name) if input_name in names else -1

    def invoke(self, func_name: str, *args: object, **kwargs: object) -> Result:
        """What a function gives, tuples as tuples; of what was set, where no arguments are given.

        Raises:
            UsageError: there is no such function, or arguments are missing, unknown or given twice.
            InputError: a shape or a dtype does not fit.
            CheckError: an index lies outside of an axis, where that is an error.
        """
        callee, arrays = self._bound(func_name, args, kwargs)
        found = callee.call(*arrays)
        self._outputs = [as_nd(each) for each in (found if isinstance(found, tuple) else (found,))]
        return self._exe.results(func_name, self._outputs)

    def run(self, *args: object, **kwargs: object) -> Result:
        """What `@main` gives; see `invoke`."""
        return self.invoke("main", *args, **kwargs)

    def invoke_stateful(self, func_name: str, *args: object, **kwargs: object) -> None:
        """The same, with the results kept for `get_outputs`."""
        self.invoke(func_name, *args, **kwargs)

    def invoke_with_outputs(
        self, func_name: str, input_args: Mapping[str, object], output_args: Sequence[NDArray]
    ) -> None:
        """Call a function by the names of its arguments, and write the tensors that it gives to arrays.

        Raises:
            UsageError: arguments are missing or unknown, or the arrays are not those that the function gives.
        """
        self.invoke(func_name, **input_args)
        kinds = [[(each.shape, each.dtype) for each in arrays] for arrays in (self._outputs, output_args)]
        if kinds[0] != kinds[1]:
            raise UsageError(f"'{func_name}' gives {_listed(self._outputs)}, not {_listed(output_args)}")
        for array, result in zip(output_args, self._outputs, strict=True):
            np.copyto(array, result)

    def get_outputs(self) -> list[NDArray]:
        """The tensors that the last call has given, those of tuples one by one."""
        return list(self._outputs)

    def benchmark(
        self,
        *args: object,
        func_name: str = "main",
        repeat: int = 5,
        number: int = 5,
        min_repeat_ms: float = 0,
        end_to_end: bool = False,
        **kwargs: object,
    ) -> BenchmarkResult:
        """Time calls of a function; see `weft.Executable.benchmark`. As in TVM, a device may stand before the
        arguments. Arrays are on the host, so that calls are timed from end to end always.

        Raises:
            UsageError: the device is not one of the target.
        """
        if args and isinstance(args[0], VirtualDevice):
            check_devices(args[0], self._exe.target)
            args = args[1:]
        callee, arrays = self._bound(func_name, args, kwargs)
        return callee.compiled.program.benchmark(*arrays, repeat=repeat, number=number, min_repeat_ms=min_repeat_ms)

    def profile(self, *args: object, func_name: str = "main", **kwargs: object) -> Profile:
        """Time each kernel of a function; see `weft.Executable.profile`."""
        callee, arrays = self._bound(func_name, args, kwargs)
        return callee.compiled.program.profile(*arrays)

    def _bound(
        self, func_name: str, args: tuple[object, ...], kwargs: Mapping[str, object]
    ) -> tuple[Callee, list[NDArray]]:
        names = self._exe.get_function_params(func_name)
        if args or kwargs:
            values = in_order(names, args, kwargs)
        else:
            kept = self._inputs.get(func_name, {})
            if missing := [name for place, name in enumerate(names) if place not in kept]:
                raise UsageError(
                    f"'{func_name}' has no {', '.join(missing)} to be called with",
                    hint="give arguments, or set them before by `set_input`",
                )
            values = [kept[place] for place in range(len(names))]
        return self._exe.callee(func_name), [leaf for value in values for leaf in leaves(value)]


for _name in _of_runtime.NAMES:
    setattr(_of_runtime, _name, globals()[_name])


def _own(value: object) -> object:
    """An input that whoever set it does not change by writing to an array of NumPy's."""
    if is_tuple(value):
        return tuple(map(_own, value))
    if isinstance(value, np.ndarray) and not isinstance(value, NamedArray):
        return cast("npt.NDArray[np.generic]", value).copy()
    return value
