"""`weft.relay.vm`: programs under the names of TVM's virtual machine.

    machine = relay.vm.VirtualMachine(relay.vm.compile(module, "llvm", params))
    machine.set_input("main", x)
    y = machine.run()

There is no bytecode: each function is native code, as `weft.compile` makes it, which branches, calls and takes tensors
of open extents by itself. Functions other than `@main` are compiled when they are first asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp

from .compiler import compile as compile_model
from .devices import check_devices
from .dialects.relay.core import FuncOp
from .dialects.relay.devices import VirtualDevice
from .dialects.support.arguments import checked, checked_methods
from .dialects.support.diagnostics import UsageError, did_you_mean
from .dialects.support.nd import as_nd
from .lowering.machine.scoped_target import or_current
from .relay_executors import in_order, leaves, unflatten
from .transforms.infra.walk import clone
from .transforms.relay.bind_params import bind_params, input_names

if TYPE_CHECKING:
    from .lowering.machine.target import Target
    from .runtime.benchmark import BenchmarkResult
    from .runtime.executable import Executable as NativeExecutable
    from .runtime.profiling import Profile

    NDArray: TypeAlias = npt.NDArray[np.generic]
    Result: TypeAlias = "NDArray | tuple[Result, ...]"


class Executable:
    """The functions of a module as native code, by name; `compile` makes one."""

    def __init__(self, module: ModuleOp, target: str | Target):
        self._module, self.target = module, target
        self._functions = {
            op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp) and op.sym_visibility is None
        }
        self._programs: dict[str, NativeExecutable] = {}

    @property
    def globals(self) -> list[str]:
        """The names of the functions that can be called."""
        return list(self._functions)

    def get_function_params(self, func_name: str) -> list[str]:
        """The names of a function's parameters.

        Raises:
            UsageError: there is no such function.
        """
        return input_names(self.function(func_name))

    def function(self, name: str) -> FuncOp:
        """A function of the module.

        Raises:
            UsageError: there is no such function.
        """
        if (found := self._functions.get(name)) is None:
            hint = did_you_mean(name, self._functions) or f"they are: {', '.join(self._functions)}"
            raise UsageError(f"there is no function '{name}'", hint=hint)
        return found

    def program(self, name: str = "main") -> NativeExecutable:
        """The native code of a function: to save, to export, to look at.

        Raises:
            UsageError: there is no such function.
            Diagnostic: it cannot be lowered, or is not valid.
        """
        self.function(name)
        if (known := self._programs.get(name)) is None:
            known = self._programs[name] = compile_model(self._module, self.target, function=name)
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
        UsageError: there is no such parameter.
        Diagnostic: `@main` cannot be lowered, or something is not valid.
    """
    from .frontend.relay.module import IRModule

    module = clone(mod) if isinstance(mod, ModuleOp) else IRModule.from_expr(mod)
    if params:
        bind_params(module, params)
    made = Executable(module, or_current(target))
    if "main" in made.globals:
        made.program()
    return made


@checked_methods
class VirtualMachine:
    """Runs the functions of an `Executable`. It keeps inputs and results of its own: one thread uses it at a time."""

    def __init__(self, exe: Executable, device: VirtualDevice | Sequence[VirtualDevice] | None = None):
        """
        Args:
            exe: what `compile` gives.
            device: what it runs on, `weft.cpu()`; that of the target, unless given.

        Raises:
            UsageError: the device is not one of the target.
        """
        check_devices(device, exe.target)
        self._exe = exe
        self._inputs: dict[str, dict[int, object]] = {}
        self._outputs: list[NDArray] = []

    def set_input(self, func_name: str, *args: object, **kwargs: object) -> None:
        """What a function is called with by the next calls of it that say nothing else.

        Raises:
            UsageError: there is no such function, or arguments are missing, unknown or given twice.
        """
        names = self._exe.get_function_params(func_name)
        self._inputs[func_name] = dict(enumerate(in_order(names, args, kwargs)))

    def set_one_input(self, func_name: str, tag: int | str, value: object) -> None:
        """The same for one argument, by its number or name.

        Raises:
            UsageError: there is no such function or argument.
        """
        place = tag if isinstance(tag, int) else self.get_input_index(tag, func_name)
        count = len(self._exe.get_function_params(func_name))
        if not 0 <= place < count:
            raise UsageError(f"there is no input {tag}; '{func_name}' takes {count}")
        self._inputs.setdefault(func_name, {})[place] = value

    def get_input_index(self, input_name: str, func_name: str = "main") -> int:
        """The number of an argument.

        Raises:
            UsageError: there is none of this name.
        """
        names = self._exe.get_function_params(func_name)
        if input_name not in names:
            hint = did_you_mean(input_name, names)
            raise UsageError(f"there is no input '{input_name}'; inputs: {', '.join(names)}", hint=hint)
        return names.index(input_name)

    def invoke(self, func_name: str, *args: object, **kwargs: object) -> Result:
        """What a function gives, tuples as tuples; of what was set, where no arguments are given.

        Raises:
            UsageError: there is no such function, or arguments are missing, unknown or given twice.
            InputError: a shape or a dtype does not fit.
            CheckError: an index lies outside of an axis, where that is an error.
        """
        program, arrays = self._bound(func_name, args, kwargs)
        found = program(*arrays)
        self._outputs = [as_nd(each) for each in (found if isinstance(found, tuple) else (found,))]
        types = self._exe.function(func_name).function_type.outputs.data
        results = iter(self._outputs)
        given = tuple(unflatten(type, results) for type in types)
        return given[0] if len(given) == 1 else given

    def run(self, *args: object, **kwargs: object) -> Result:
        """What `@main` gives; see `invoke`."""
        return self.invoke("main", *args, **kwargs)

    def invoke_stateful(self, func_name: str, *args: object, **kwargs: object) -> None:
        """The same, with the results kept for `get_outputs`."""
        self.invoke(func_name, *args, **kwargs)

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
        **kwargs: object,
    ) -> BenchmarkResult:
        """Time calls of a function; see `weft.Executable.benchmark`."""
        program, arrays = self._bound(func_name, args, kwargs)
        return program.benchmark(*arrays, repeat=repeat, number=number, min_repeat_ms=min_repeat_ms)

    def profile(self, *args: object, func_name: str = "main", **kwargs: object) -> Profile:
        """Time each kernel of a function; see `weft.Executable.profile`."""
        program, arrays = self._bound(func_name, args, kwargs)
        return program.profile(*arrays)

    def _bound(
        self, func_name: str, args: tuple[object, ...], kwargs: Mapping[str, object]
    ) -> tuple[NativeExecutable, list[NDArray]]:
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
        return self._exe.program(func_name), [leaf for value in values for leaf in leaves(value)]
