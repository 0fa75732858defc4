"""Pass kinds. A pass is an xDSL `ModulePass`, so that `weft-opt`, stock `xdsl-opt` and Python drive the same object.

    @dataclass(frozen=True)
    class FooPass(FunctionPass):
        name = "foo"
        opt_level = 2
        required = ("infer-type",)
        depth: int = 4                                   # an option: foo{depth=4}

        def apply_function(self, ctx, func): ...         # in place

    module = FooPass(depth=2)(module)

Calling a pass gives a new module and leaves the one it was given alone, whether or not the pass succeeds.
`execution.run` works in place, and `apply` is the bare work, without levels, requirements or instruments.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Self, cast, get_type_hints

from xdsl import passes as xdsl_passes
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import RewritePattern
from xdsl.utils.arg_spec import ArgSpec

from ...dialects.relay.core import FuncOp
from ...dialects.support.arguments import ArgumentError, Rule, check_method, checked, refusal, rule_of
from ...dialects.support.diagnostics import Diagnostic
from . import remarks
from .driver import RewriteDriver
from .execution import report_changed, run
from .info import PassInfo, spec_text
from .registry import note_name
from .walk import clone

if TYPE_CHECKING:
    from ...dialects.tir.core import PrimFuncOp


@cache
def _option_rules(cls: type[Pass]) -> dict[str, Rule]:
    return {option: rule_of(type) for option, type in cls.option_types().items()}


@dataclass(frozen=True)
class Pass(xdsl_passes.ModulePass):
    """Base of all passes: PassInfo as class variables, options as dataclass fields."""

    opt_level: ClassVar[int] = 0
    """The pass runs where the context's level is at least this."""

    required: ClassVar[tuple[str, ...]] = ()
    """Names of passes whose result this one needs."""

    establishes: ClassVar[tuple[str, ...]] = ()
    """Names of passes whose result holds after this one, besides its own."""

    preserves: ClassVar[tuple[str, ...]] = ()
    """Names of passes whose result this one keeps; `("*",)` for all."""

    invalidates: ClassVar[tuple[str, ...]] = ()
    """Names of passes whose result this one undoes, even a persistent one."""

    persistent: ClassVar[bool] = False
    """This pass's result holds until another pass lists it in `invalidates`: true of what operations keep by
    construction, such as their types."""

    tvm_name: ClassVar[str | None] = None
    """TVM's CamelCase name of the same pass, accepted as an alias."""

    tvm_parts: ClassVar[tuple[str, ...]] = ()
    """TVM's names of other passes, all that they do being part of what this one does; accepted as well."""

    joins_phase: ClassVar[str | None] = None
    """The phase of a compilation at whose end this pass runs too. Weft's own phases name their passes themselves; this
    is for passes from elsewhere."""

    joins_after: ClassVar[str | None] = None
    """The pass of a compilation behind whose last place this pass runs too."""

    drops_declarations: ClassVar[bool] = False
    """Whether this pass drops declarations of functions that it has left without a call. What becomes of such functions
    in a compilation need not be known then (`apart`)."""

    option_aliases: ClassVar[dict[str, str]] = {}
    """Other names of options, for pipelines and the configuration."""

    config_keys: ClassVar[dict[str, str]] = {}
    """Other keys of the configuration that give options, in full, and the options that they give."""

    ranges: ClassVar[dict[str, tuple[int, int | None]]] = {}
    """Options that take whole numbers of a range only: the least, and the greatest if there is one."""

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        made = super().__new__(cls)
        names = [field.name for field in fields(cls) if field.init]
        object.__setattr__(made, "given_options", frozenset([*names[: len(args)], *kwargs]))
        return made

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if isinstance(name := getattr(cls, "name", None), str):
            note_name(name)
        check_method(cls, "holds_in")

    def __post_init__(self) -> None:
        for option, rule in _option_rules(type(self)).items():
            if isinstance(given := getattr(self, option), list):
                object.__setattr__(self, option, tuple(cast("list[object]", given)))
            if not rule.fits(value := getattr(self, option)):
                raise refusal(f"the option '{option.replace('_', '-')}' of {self.name}", rule, value)
        for option, (least, greatest) in self.ranges.items():
            value = getattr(self, option)
            if value < least or (greatest is not None and value > greatest):
                wanted = f"at least {least}" if greatest is None else f"{least} to {greatest}"
                raise ValueError(f"the option '{option.replace('_', '-')}' must be {wanted}, not {value}")

    @classmethod
    def option_types(cls) -> dict[str, object]:
        """The options by the names of their fields, and their types."""
        hints = get_type_hints(cls)
        return {field.name: hints[field.name] for field in fields(cls) if field.init and field.name != "name"}

    def with_options(self, options: Mapping[str, object]) -> Self:
        """The same pass with some options changed."""
        return replace(self, **options)

    @classmethod
    @checked
    def from_spec(cls, spec: ArgSpec) -> Self:
        """An instance from a pipeline element; options that the element does not name count as not given."""
        given = frozenset(spec.normalize_parameter_names().parameters)
        made = super().from_spec(spec)
        object.__setattr__(made, "given_options", given)
        return made

    @classmethod
    def holds_in(cls, module: ModuleOp) -> bool:
        """Whether it can be seen in `module` that this pass has nothing left to do there, so that a pass that requires
        it need not have it run. Cheap: at most a look at each operation of the functions."""
        return False

    @property
    def info(self) -> PassInfo:
        """Name, level, requirements."""
        if (known := vars(self).get("known_info")) is None:
            title = self.tvm_name or type(self).__name__.removesuffix("Pass")
            known = PassInfo(self.opt_level, self.name, self.required, spec_text(self), title)
            vars(self)["known_info"] = known  # a pass does not change, and is asked again and again
        return known

    def __call__(self, module: ModuleOp, *, ir_context: Context | None = None) -> ModuleOp:
        """Run the pass on a copy of `module` in the current `PassContext`, and return the copy.

        As in TVM, a pass that is called runs, whatever the context's level; `Sequential` asks which of its passes do.

        Args:
            ir_context: the xDSL context that the pass gets; that of the `PassContext` where none is given.

        Raises:
            ArgumentError: `module` is not a `builtin.module`.
            Exception: whatever the pass raises; `module` is as it was.
        """
        if not isinstance(module, ModuleOp):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ArgumentError(f"the pass {self.name} takes a builtin.module, got {type(module).__name__}")
        copy = clone(module)
        run(self, copy, ir_context, force=True)
        return copy


@dataclass(frozen=True)
class ModulePass(Pass):
    """A pass that sees the whole module: overrides `apply`."""


@dataclass(frozen=True)
class FunctionPass(Pass):
    """A pass that sees one `relay.func` at a time; functions marked `Compiler`, `Extern`, `SkipOptimization` are left
    alone, and so are primitive ones."""

    @abstractmethod
    def apply_function(self, ctx: Context, func: FuncOp) -> None: ...

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = relay_functions(op, self.name)
        if not functions:
            report_changed(False)
        before = list(op.ops)
        for func in functions:
            self.apply_function(ctx, func)
            now = list(op.ops)
            if len(now) != len(before) or any(a is not b and a is not func for a, b in zip(before, now, strict=True)):
                raise _functions_changed(self.name, func, before, now)
            before = now


def _functions_changed(name: str, func: FuncOp, before: Sequence[Operation], now: Sequence[Operation]) -> Diagnostic:
    """What is said of a function pass that has done more than change functions."""
    what = "added" if len(now) > len(before) else "deleted" if len(now) < len(before) else "exchanged"
    message = f"the function pass '{name}' has {what} functions of the module, which a function pass may not do"
    return Diagnostic.at(func if func in now else now[0] if now else func, message, hint="make it a module pass")


OUTSIDE = ("Compiler", "Extern", "SkipOptimization")
"""Marks of functions that are not looked into."""


def relay_functions(module: ModuleOp, pass_name: str) -> list[FuncOp]:
    """The functions of a module that a function pass may work on; the others are remarked on."""
    functions: list[FuncOp] = []
    for func in module.ops:
        if not isinstance(func, FuncOp) or func.is_primitive:
            continue
        marks = [mark for mark in OUTSIDE if mark in func.attributes]
        if marks:
            remarks.missed(pass_name, func, f"@{func.sym_name.data} is marked {marks[0]}", "remove the mark")
        else:
            functions.append(func)
    return functions


@dataclass(frozen=True)
class PrimFuncPass(Pass):
    """A pass that sees one `tir.prim_func` at a time."""

    @abstractmethod
    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None: ...

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from ...dialects.tir.core import PrimFuncOp

        functions = [func for func in op.ops if isinstance(func, PrimFuncOp)]
        if not functions:
            report_changed(False)
        for func in functions:
            self.apply_prim_func(ctx, func)


@dataclass(frozen=True)
class PatternPass(Pass):
    """A pass that is a table of rewrite patterns, applied until none of them matches.

    Relay functions that function passes leave alone are left alone by it too.
    """

    max_rewrites_per_op: ClassVar[int] = 64
    """The driver gives up, and says on which pattern, beyond this many rewrites for each operation there was."""

    @abstractmethod
    def patterns(self, ctx: Context) -> Sequence[RewritePattern]:
        """The patterns. They are tried in this order, but none may rely on that."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        driver = RewriteDriver(self.patterns(ctx), max_rewrites_per_op=self.max_rewrites_per_op)
        functions = set(relay_functions(op, self.name))
        if all(func in functions for func in op.ops if isinstance(func, FuncOp)):
            report_changed(driver.rewrite_module(op))
            return
        for inner in list(op.ops):
            if not isinstance(inner, FuncOp) or inner in functions:
                report_changed(driver.rewrite(inner))
