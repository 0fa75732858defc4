"""Executables of the virtual machine on disk: what they say of their functions, apart from the native code of each.

    code, library = executable.save()
    library.export_library("model.vm")
    again = relay.vm.Executable.load_exec(code, weft.runtime.load_module("model.vm"))

The first is a module as text: data types, and, as an attribute, the parameters and results of each function.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, StringAttr
from xdsl.ir import Attribute

from .dialects.relay.data import AdtOp
from .dialects.support.diagnostics import Diagnostic, Place, UsageError
from .dialects.support.hints import isa
from .frontend.mlir import parse_mlir
from .frontend.relay.module import IRModule
from .relay_broadcasting import Program
from .relay_data_results import WrittenResults
from .relay_executors import Compiled
from .runtime.program_library import ProgramLibrary
from .transforms.infra.printing import module_text

FUNCTIONS, CODE = "weft.functions", "<code>"


@dataclass
class Callee:
    """A function that can be called: the names of its parameters, what its native code gives, and what calls it."""

    params: Sequence[str]
    compiled: Compiled
    call: Program


def code_of(module: ModuleOp, callees: Mapping[str, Callee]) -> bytearray:
    """What is said of functions of a module."""
    said: dict[str, Attribute] = {}
    for name, callee in callees.items():
        written = callee.compiled.written
        dtypes = [] if written is None else [StringAttr(each) for each in written.dtypes]
        results = FunctionType.from_lists([], list(callee.compiled.types))
        params = ArrayAttr([StringAttr(each) for each in callee.params])
        said[name] = ArrayAttr[Attribute]([params, results, ArrayAttr(dtypes)])
    types = [op.clone() for op in module.body.block.ops if isinstance(op, AdtOp)]
    return bytearray(module_text(ModuleOp(types, {FUNCTIONS: DictionaryAttr(said)}), debuginfo=False).encode())


def read_code(code: bytes | bytearray, library: ProgramLibrary) -> tuple[ModuleOp, dict[str, Callee]]:
    """A module with the data types of which code says, and the functions, by their names.

    Raises:
        Diagnostic: it is no such code, or the library is another's.
    """
    module = IRModule.of(parse_mlir(bytes(code), CODE))
    said = module.attributes.get(FUNCTIONS)
    if not isinstance(said, DictionaryAttr):
        raise Diagnostic(f"is no code of a virtual machine: it has no '{FUNCTIONS}'", Place(CODE))
    if missing := set(said.data) ^ set(library.functions):
        raise UsageError(
            f"code and library are not of one executable: one of them alone has {', '.join(sorted(missing))}"
        )
    found: dict[str, Callee] = {}
    for name, each in said.data.items():
        match each:
            case ArrayAttr(data=(params, FunctionType() as results, dtypes)) if isa(
                params, ArrayAttr[StringAttr]
            ) and isa(dtypes, ArrayAttr[StringAttr]):
                types = results.outputs.data
                streams = [dtype.data for dtype in dtypes]
                written = WrittenResults(module, name, types[0], streams) if streams else None
                compiled = Compiled(library.functions[name], types, written)
                found[name] = Callee([param.data for param in params], compiled, compiled.program)
            case _:
                raise Diagnostic(f"says nothing of '{name}' that is understood: {each}", Place(CODE))
    return module, found
