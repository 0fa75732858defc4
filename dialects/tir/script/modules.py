"""Modules that show themselves as TVMScript, and `@ir_module` on a class of `@T.prim_func`s."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation, Region

from ...support.arguments import checked
from ...support.diagnostics import Diagnostic, UsageError
from ...support.python_values import attribute_of, value_of
from ..functions import PrimFuncOp


class IRModule(ModuleOp):
    """A `builtin.module` with functions by name, and as TVMScript. Counterpart of TVM's `IRModule`."""

    @checked
    def __init__(
        self,
        ops: Sequence[Operation] | Region | Mapping[str, PrimFuncOp] = (),
        attributes: Mapping[str, Attribute] | None = None,
        sym_name: StringAttr | None = None,
    ):
        """A module of operations, or of copies of functions under the names that they are given."""
        if isinstance(ops, Mapping):
            ops = [_named(name, func) for name, func in ops.items()]
        super().__init__(ops if isinstance(ops, Region) else list(ops), attributes, sym_name)

    @staticmethod
    @checked
    def of(source: ModuleOp | PrimFuncOp) -> IRModule:
        """A copy of a module, or of a function in a module of its own."""
        if isinstance(source, PrimFuncOp):
            return IRModule([source.clone()])
        copy = source.clone()
        ops = list(copy.ops)
        for op in ops:
            op.detach()
        made = IRModule(ops, dict(copy.attributes), copy.sym_name)
        made.location = source.location
        return made

    @staticmethod
    @checked
    def from_expr(expr: PrimFuncOp | ModuleOp) -> IRModule:
        """A module of a function, under its own name (`global_symbol`)."""
        return IRModule.of(expr)

    @checked
    def update_func(self, name: str, func: PrimFuncOp) -> None:
        """Put a copy of a function in under a name, instead of one that has it: `module[name] = func`."""
        self[name] = func

    @checked
    def script(self, *, verbose_expr: bool = False) -> str:
        """The `tir` functions as TVMScript; others have no form in it, and are left out. They define all that they
        name, so that `verbose_expr`, which nodes take, leaves nothing to be added.

        Raises:
            Diagnostic: something in a function has no form in TVMScript.
        """
        return module_script(self)

    def show(self) -> None:
        """Print it as TVMScript."""
        print(self.script())

    def __getitem__(self, name: str) -> PrimFuncOp:
        """The `tir` function of a name; `"main"` is the only function too, as where TVM makes a module of a function.

        Raises:
            KeyError: there is none.
        """
        functions = self.functions
        if name == "main" and len(functions) == 1:
            return next(iter(functions.values()))
        return functions[name]

    def __contains__(self, name: object) -> bool:
        """Whether there is a `tir` function of a name."""
        return name in self.functions

    def __setitem__(self, name: str, func: PrimFuncOp) -> None:
        """Put a copy of a function in under a name, instead of one that has it."""
        for op in list(self.ops):
            if isinstance(op, PrimFuncOp) and op.sym_name.data == name:
                op.detach()
                op.erase()
        self.body.block.add_op(_named(name, func))

    @checked
    def with_attr(self, attr_key: str, attr_value: object) -> IRModule:
        """A copy of the module with an attribute.

        Raises:
            UsageError: the value has no form as an attribute.
        """
        try:
            attribute = attribute_of(attr_value)
        except TypeError as error:
            raise UsageError(f"the attribute '{attr_key}' cannot be {attr_value!r}: {error}") from error
        copy = IRModule.of(self)
        copy.attributes[attr_key] = attribute
        return copy

    @property
    def attrs(self) -> dict[str, object]:
        """The module's attributes, as Python's values."""
        return {name: value_of(each) for name, each in self.attributes.items()}

    @property
    def functions(self) -> dict[str, PrimFuncOp]:
        """The `tir` functions by name."""
        return {op.sym_name.data: op for op in self.ops if isinstance(op, PrimFuncOp)}


def _named(name: str, func: PrimFuncOp) -> PrimFuncOp:
    copy = func.clone()
    copy.sym_name = StringAttr(name)
    return copy


def module_script(module: ModuleOp) -> str:
    """The `tir` functions of a module as TVMScript.

    Raises:
        Diagnostic: something in a function has no form in TVMScript.
    """
    from .printer import HEADER, function_text  # compiling needs modules, and prints none

    functions = [function_text(op) for op in module.ops if isinstance(op, PrimFuncOp)]
    header = f"{HEADER.replace('import ', 'import ir_module, ')}\n\n@ir_module\nclass Module:\n"
    inner = "\n".join(functions) or "pass\n"
    return header + "".join(f"    {line}\n" if line else "\n" for line in inner.splitlines())


@checked
def ir_module(cls: type) -> IRModule:
    """A module of the functions of a class, in order.

    Raises:
        Diagnostic: the class holds something else.
    """
    functions: list[PrimFuncOp] = []
    for name, value in vars(cls).items():
        if isinstance(value, PrimFuncOp):
            functions.append(value)
        elif not name.startswith("__"):
            from .source import Source

            source = Source.of_function(cls)
            raise Diagnostic(
                f"a module holds functions only, and '{name}' is none",
                source.place(source.tree().body[0]),
                hint="is it marked as @T.prim_func?",
            )
    return IRModule([func.clone() for func in functions])
