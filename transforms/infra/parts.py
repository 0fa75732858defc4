"""A module in parts: functions that can be compiled by themselves, each in a module of its own, and the rest.

A part is a `tir.prim_func`, or a function of loops or of the llvm dialect that others may see (it is not private) and
that neither is the graph's own function nor runs it; with it go the private functions and globals that it uses. In the
rest a declaration stands for it. Taking a module apart and joining it are inverse: what one shows is what the other
gives.

Declarations stand first in a module that was joined, in the order of their names; and in a part where its text matters
(`settle`), so that one text belongs to one part, whatever it was taken out of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from xdsl.dialects import func, llvm
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Operation

from ...dialects.schedule.core import SequenceOp
from ...dialects.support.diagnostics import Diagnostic, did_you_mean
from ...dialects.support.unique_names import free_name
from ...dialects.tir.core import PrimFuncOp
from .walk import clone, erase, walk

Function: TypeAlias = func.FuncOp | llvm.FuncOp | PrimFuncOp
GRAPH_MARK = "weft.inputs"
"""The attribute of the graph's own function, which says what it takes."""
FUNCTIONS = (func.FuncOp, llvm.FuncOp, PrimFuncOp)


@dataclass
class Part:
    """A function with what it needs, in a module of its own; and what stands for it in the rest."""

    name: str
    module: ModuleOp
    placeholder: Operation

    @property
    def function(self) -> Function:
        """The function that the part is called by."""
        return next(op for op in self.module.ops if isinstance(op, FUNCTIONS) and op.sym_name.data == self.name)

    def become(self, module: ModuleOp) -> None:
        """Hold what is in `module`, which is left empty, and nothing else."""
        for op in list(self.module.ops):
            erase(op, safe_erase=False)
        for op in list(module.ops):
            op.detach()
            self.module.body.block.add_op(op)

    def declare(self) -> None:
        """Have the rest declare the function as it is now, where it is one that can be declared."""
        if isinstance(function := self.function, PrimFuncOp):
            return
        self.replace_placeholder(declared(function))

    def replace_placeholder(self, declaration: Operation) -> None:
        """Have `declaration` stand for the part in the rest."""
        block = self.placeholder.parent
        assert block is not None
        block.insert_op_before(declaration, self.placeholder)
        erase(self.placeholder, safe_erase=False)
        self.placeholder = declaration


def declared(function: func.FuncOp | llvm.FuncOp) -> func.FuncOp | llvm.FuncOp:
    """The declaration of a function that is defined elsewhere. What the definition says of its arguments is for whoever
    compiles it."""
    if isinstance(function, func.FuncOp):
        types = function.function_type
        declaration = func.FuncOp.external(function.sym_name.data, types.inputs.data, types.outputs.data)
        declaration.attributes |= function.attributes
    else:
        declaration = llvm.FuncOp(
            function.sym_name.data,
            function.function_type,
            linkage=llvm.LinkageAttr("external"),
            cconv=function.CConv,
        )
    declaration.location = function.location
    return declaration


def symbol_name(op: Operation) -> str | None:
    """The name that an operation at module level defines."""
    name = op.properties.get("sym_name", op.attributes.get("sym_name"))
    return name.data if isinstance(name, StringAttr) else None


def is_private(op: Operation) -> bool:
    """Whether only its own module can see what `op` defines."""
    if isinstance(op, llvm.FuncOp | llvm.GlobalOp):
        return op.linkage.linkage.data in ("internal", "private")
    visibility = op.properties.get("sym_visibility")
    return isinstance(visibility, StringAttr) and visibility.data == "private"


def is_declaration(op: Operation) -> bool:
    """Whether a function, or a global, is defined elsewhere."""
    if isinstance(op, llvm.GlobalOp):
        return op.value is None and not op.body.blocks
    return isinstance(op, func.FuncOp | llvm.FuncOp) and not op.body.blocks


def references(root: Operation) -> set[str]:
    """The symbols that `root`, or what is in it, refers to."""
    found: set[str] = set()
    for op in walk(root):
        for attribute in (*op.properties.values(), *op.attributes.values()):
            if isinstance(attribute, SymbolRefAttr):
                found.add(attribute.root_reference.data)
    return found


@dataclass
class _Symbols:
    """What the symbols of a module are, and which of them refer to which."""

    defined: dict[str, Operation]
    uses: dict[str, set[str]] = field(default_factory=dict[str, set[str]])

    @staticmethod
    def of(module: ModuleOp) -> _Symbols:
        defined = {name: op for op in module.ops if (name := symbol_name(op)) is not None}
        if all(isinstance(op, PrimFuncOp) or op.dialect_name() in ("relay", "schedule") for op in defined.values()):
            return _Symbols(defined, {name: set() for name in defined})
        return _Symbols(defined, {name: references(op) for name, op in defined.items()})

    def needed_by(self, name: str) -> set[str]:
        """`name`, the private symbols that it uses, directly or through one another, and all that these refer to."""
        needed, pending = {name}, [name]
        while pending:
            for used in self.uses[pending.pop()]:
                if used in needed or used not in self.defined:
                    continue
                needed.add(used)
                op = self.defined[used]
                if is_private(op) and not is_declaration(op):
                    pending.append(used)
        return needed

    def roots(self) -> list[str]:
        """The functions that are parts, in the module's order."""
        return [name for name, op in self.defined.items() if self._is_root(name, op)]

    def _is_root(self, name: str, op: Operation) -> bool:
        if isinstance(op, PrimFuncOp):
            return True
        if not isinstance(op, FUNCTIONS) or is_declaration(op) or is_private(op):
            return False
        needed = [self.defined[other] for other in self.needed_by(name)]
        alone = all(isinstance(o, FUNCTIONS) or is_private(o) or is_declaration(o) for o in needed)
        return alone and not any(GRAPH_MARK in o.attributes for o in needed)


def take_apart(module: ModuleOp) -> Iterator[Part]:
    """Take one function after the other out of `module`, which becomes the rest."""
    schedules = _take_schedules(module)
    symbols = _Symbols.of(module)
    roots = symbols.roots()
    needed = {root: symbols.needed_by(root) for root in roots}
    # What is private to parts goes with them; what the rest uses too stays there as well.
    inner = {name for root in roots for name in needed[root] - {root} if _is_inner(symbols.defined[name])}
    kept = _reached(symbols, [name for name in symbols.defined if name not in inner and name not in needed])
    order = {name: number for number, name in enumerate(symbols.defined)}
    left = {name: sum(name in names for names in needed.values()) for name in inner}
    for root in roots:
        ops: list[Operation] = []
        placeholder = func.FuncOp.external(root, [], [])
        for name in sorted(needed[root], key=order.__getitem__):
            op = symbols.defined[name]
            if name == root:
                module.body.block.insert_op_before(placeholder, op)
                op.detach()
                ops.append(op)
            elif name in inner:
                left[name] -= 1
                if left[name] == 0 and name not in kept:
                    op.detach()
                    ops.append(op)
                else:
                    ops.append(clone(op))
            else:
                ops.append(clone(op) if is_declaration(op) else declared(cast("func.FuncOp | llvm.FuncOp", op)))
        part = Part(root, ModuleOp([*schedules.get(root, ()), *ops], dict(module.attributes)), placeholder)
        part.declare()
        symbols.defined[root] = part.placeholder
        yield part


def _take_schedules(module: ModuleOp) -> dict[str, list[Operation]]:
    """Take the schedules of functions to be scheduled out of `module`, by the names of the functions.

    Raises:
        Diagnostic: a schedule is not for one of them.
    """
    found: dict[str, list[Operation]] = {}
    functions = [op.sym_name.data for op in module.ops if isinstance(op, PrimFuncOp)]
    for sequence in [op for op in module.ops if isinstance(op, SequenceOp)]:
        name = sequence.function_name or (functions[0] if len(functions) == 1 else None)
        if name not in functions:
            what = "names no function" if name is None else f"there is no function @{name} to schedule"
            hint = None if name is None else did_you_mean(f"@{name}", [f"@{known}" for known in functions])
            raise Diagnostic.at(sequence, what, hint=hint or "write `on` and the name of a tir.prim_func")
        sequence.detach()
        found.setdefault(name, []).append(sequence)
    return found


def _is_inner(op: Operation) -> bool:
    return is_private(op) and not is_declaration(op)


def _reached(symbols: _Symbols, names: Iterable[str]) -> set[str]:
    return {used for name in names for used in symbols.needed_by(name)}


def put_declarations_first(module: ModuleOp) -> None:
    """Put declarations in the order of their names before all else, each once and none of what is defined."""
    block = module.body.block
    defined = {symbol_name(op) for op in block.ops if not is_declaration(op)}
    declarations: dict[str, Operation] = {}
    for op in [op for op in block.ops if is_declaration(op)]:
        name = symbol_name(op)
        op.detach()
        if name is None or name in defined or name in declarations:
            op.erase(safe_erase=False)
        else:
            declarations[name] = op
    first = block.first_op
    for _, op in sorted(declarations.items()):
        if first is None:
            block.add_op(op)
        else:
            block.insert_op_before(op, first)


def settle(module: ModuleOp) -> None:
    """Leave no choice in how a part is written down: without declarations that nothing refers to, the others in
    order."""
    used = {name for op in module.ops if not is_declaration(op) for name in references(op)}
    for op in [op for op in module.ops if is_declaration(op) and symbol_name(op) not in used]:
        op.detach()
        op.erase(safe_erase=False)
    put_declarations_first(module)


def rename_what_is_taken(part: Part, taken: dict[str, str]) -> bool:
    """Give private symbols of a part names that no other one has for something else; whether there was a need to.

    `taken`: name -> text. A symbol called after its part (`part.symbol`) is that part's own: nothing is the same as it,
    and its text, mostly the whole kernel, is not asked for.
    """
    renamed = False
    for op in [op for op in part.module.ops if is_private(op) and not is_declaration(op)]:
        name = cast(str, symbol_name(op))
        text = "" if name.startswith(f"{part.name}.") else str(op)
        if name not in taken or (text and taken[name] == text):
            taken[name] = text
            continue
        new = free_name(f"{part.name}.{name}", taken, separator=".")
        taken[new] = text
        _rename(part.module, name, new)
        renamed = True
    return renamed


def _rename(module: ModuleOp, old: str, new: str) -> None:
    for op in walk(module):
        for where in (op.properties, op.attributes):
            for key, attribute in where.items():
                if key == "sym_name" and attribute == StringAttr(old):
                    where[key] = StringAttr(new)
                elif isinstance(attribute, SymbolRefAttr) and attribute.root_reference.data == old:
                    where[key] = SymbolRefAttr(new, attribute.nested_references.data)


def join(rest: ModuleOp, parts: Sequence[tuple[str, ModuleOp]]) -> None:
    """Put parts into the rest again, each where something of its name stands; the modules of the parts are used up."""
    by_name = dict(parts)
    present: set[str] = {name for op in rest.ops if (name := symbol_name(op)) is not None and name not in by_name}
    for op in list(rest.ops):
        part = by_name.pop(symbol_name(op) or "", None)
        if part is None:
            continue
        for new in list(part.ops):
            new.detach()
            name = symbol_name(new)
            if is_private(new) and not is_declaration(new):
                if name in present:  # two parts, or the rest, have the same
                    new.erase(safe_erase=False)
                    continue
                present.add(cast(str, name))
            rest.body.block.insert_op_before(new, op)
        erase(op, safe_erase=False)
    put_declarations_first(rest)


Sink: TypeAlias = Callable[[str | None, ModuleOp], None]
"""Takes each part by its name as soon as it is ready, and last the rest, which has none."""
