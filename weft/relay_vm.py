"""Programs as TVM's virtual machine runs them: `weft.relay.vm`.

executable = relay.vm.compile(module, "llvm", params=params)
machine = relay.vm.VirtualMachine(executable)
y = machine.invoke("main", x)

There is no byte code: each function that is asked for is one native program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp

from .dialects.relay.core import FuncOp
from .dialects.support.arguments import checked, checked_methods
from .dialects.support.diagnostics import UsageError, did_you_mean
from .frontend.relay.module import IRModule
from .relay_executors import Evaluator, Result

if TYPE_CHECKING:
    from .lowering.machine.target import Target


@checked_methods
class Executable:
    """The functions of a module as programs; `compile` makes one. `@main` is compiled then, the others when they are
    first called."""

    def __init__(self, module: IRModule, target: str | Target, params: Mapping[str, npt.ArrayLike] | None):
        self._module, self._target = module, target
        self._programs: dict[str, Callable[..., Result]] = {}
        if "main" in self.function_names:
            self._programs["main"] = self._compiled("main", params)
        elif params:
            raise UsageError("the module has no @main, whose inputs the parameters would be")

    @property
    def function_names(self) -> list[str]:
        """The names of the functions that can be called."""
        return [name.name_hint for name in self._module.functions]

    def program(self, name: str) -> Callable[..., Result]:
        """A function as a callable of arrays, in order or by name.

        Raises:
            UsageError: there is no such function.
            Diagnostic: it cannot be compiled.
        """
        if name not in self._programs:
            if name not in self.function_names:
                known = ", ".join(self.function_names)
                hint = did_you_mean(name, self.function_names)
                raise UsageError(f"there is no function '{name}'; functions: {known}", hint=hint)
            self._programs[name] = self._compiled(name, None)
        return self._programs[name]

    def _compiled(self, name: str, params: Mapping[str, npt.ArrayLike] | None) -> Callable[..., Result]:
        function = None if name == "main" else self._module[name]
        found = Evaluator("vm", self._module, self._target, params).evaluate(function)
        assert callable(found)
        return found


@checked
def compile(
    mod: ModuleOp | FuncOp,
    target: str | Target = "llvm -mcpu=native",
    params: Mapping[str, npt.ArrayLike] | None = None,
) -> Executable:
    """Compile a module, or a function as its `@main`.

    Args:
        mod: the module.
        target: as for `weft.compile`.
        params: inputs of `@main` that become constants, by name.

    Raises:
        UsageError: there is no such parameter.
        Diagnostic: it cannot be compiled, or is not valid.
    """
    module = IRModule.of(mod) if isinstance(mod, ModuleOp) else IRModule.from_expr(mod)
    return Executable(module, target, params)


@checked_methods
class VirtualMachine:
    """What calls the functions of an executable.

    Args:
        exe: the executable.
        device: taken as TVM takes it; programs run on the devices of their target.
    """

    def __init__(self, exe: Executable, device: object = None):
        self._exe = exe
        self._inputs: dict[str, tuple[tuple[object, ...], dict[str, object]]] = {}
        self._outputs: Result = ()

    def set_input(self, func_name: str, *args: object, **kwargs: object) -> None:
        """Keep arrays, in order or by name, for the next calls of a function."""
        self._inputs[func_name] = args, kwargs

    def invoke(self, func_name: str, *args: object, **kwargs: object) -> Result:
        """Call a function on arrays, or, where none are given, on those that are kept for it.

        Raises:
            UsageError: there is no such function, or it takes other arrays.
        """
        if not args and not kwargs:
            args, kwargs = self._inputs.get(func_name, ((), {}))
        self._outputs = self._exe.program(func_name)(*args, **kwargs)
        return self._outputs

    def run(self, *args: object, **kwargs: object) -> Result:
        """Call `@main`."""
        return self.invoke("main", *args, **kwargs)

    def get_outputs(self) -> list[Result]:
        """What the last call gave; the fields of a tuple."""
        return list(self._outputs) if isinstance(self._outputs, tuple) else [self._outputs]
