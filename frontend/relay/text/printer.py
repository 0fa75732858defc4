"""Expressions in Relay's text, as TVM's `expr.astext()` gives them and `relay.parse_expr` reads them:

    #[version = "0.0.5"]
    free_var %x: Tensor[(2), float32];
    %0 = add(%x, 1f);
    nn.softmax(%0, axis=0)

A value is a line of its own; attributes stand where they differ from their defaults. Arrays and devices are
`meta[relay.Constant][0]`, `meta[VirtualDevice][0]`: what these are stands behind the text, or is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from inspect import Parameter
from typing import cast

from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType, TupleType, UnitAttr
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from ....dialects.relay.base import DYNAMIC, RelayOp, tensor
from ....dialects.relay.control import ApplyOp, ClosureOp, FnOp, IfOp, RefCreateOp, RefReadOp, RefWriteOp
from ....dialects.relay.core import CallOp, ConstantOp, FuncOp, PrimitiveOp, TupleGetOp, TupleOp
from ....dialects.relay.data import DEFAULT, AdtOp, ConstructOp, MatchOp
from ....dialects.relay.devices import PARAMETER_DEVICES, RESULT_DEVICES, VirtualDevice, VirtualDeviceAttr
from ....dialects.relay.functions import name_of
from ....dialects.relay.types import AdtType, IncompleteType, ParamType, RefType, type_params
from ....dialects.support.dtypes import dtype_name
from ..attrs import Attrs
from ..base import span_of
from ..expr import free_vars
from ..function_values import region_function
from ..function_views import function_attrs
from ..made_of import operations_of
from ..operators import call_form
from ..state import may_hold_state
from .lexer import VERSION
from .metadata import Metadata


def function_text(function: FuncOp, with_metadata: bool = True) -> str:
    """The text of a function, without its name."""
    table = Metadata()
    text = _Printer(table, _has_references([function])).function(function, "fn ")
    return f"{_HEAD}\n{text}{_behind(table, with_metadata)}"


def module_text(module: ModuleOp, with_metadata: bool = True) -> str:
    """The text of a module; in MLIR's syntax, where it has what Relay's text has not, as loops."""
    ops = list(module.ops)
    if not all(isinstance(op, FuncOp | AdtOp) for op in ops):
        return str(module)
    parts, table, in_order = [_HEAD], Metadata(), _has_references(ops)
    for op in ops:
        if isinstance(op, AdtOp):
            parts.append(_data_type(op))
        elif isinstance(op, FuncOp):
            parts.append(_Printer(table, in_order).function(op, f"def @{op.sym_name.data}"))
    return "\n\n".join(parts) + _behind(table, with_metadata) + "\n"


_LEFT_OUT = "/* What 'meta' stands for is left out: astext(show_meta_data=True) has it. */"


def _behind(table: Metadata, shown: bool) -> str:
    """What stands behind a text."""
    if table.is_empty:
        return ""
    return table.text() if shown else f"\n\n{_LEFT_OUT}"


def _data_type(op: AdtOp) -> str:
    variables = f"[{', '.join(each.data for each in op.params)}]" if op.params.data else ""
    if not op.names:
        return f"extern type {op.sym_name.data}{variables}"
    constructors = [
        f"  {name}({', '.join(map(type_text, fields))})," if fields.data else f"  {name},"
        for name, fields in zip(op.names, op.fields, strict=True)
    ]
    return "\n".join([f"type {op.sym_name.data}{variables} {{", *constructors, "}"])


_HEAD = f'#[version = "{VERSION}"]'
_OF_REFERENCES = {RefCreateOp.name: "ref", RefReadOp.name: "ref_read", RefWriteOp.name: "ref_write"}


def expression_text(value: SSAValue, with_metadata: bool = True) -> str:
    """The text of an expression: its free variables, what it is made of, and itself."""
    table = Metadata()
    operations = operations_of([value])
    printer = _Printer(table, _has_references(operations))
    variables = [f"free_var {printer.name(each.value)}: {type_text(each.value.type)};" for each in free_vars(value)]
    lines = [_HEAD, *variables, *printer.lines(operations, [value], "")]
    return "\n".join(lines) + _behind(table, with_metadata)


def type_text(type: Attribute) -> str:
    """The text of a type."""
    match type:
        case TensorType():
            shape, dtype = tensor(type).get_shape(), dtype_name(tensor(type).element_type)
            extents = ", ".join("?" if extent == DYNAMIC else str(extent) for extent in shape)
            return f"Tensor[({extents}), {dtype}]" if shape else dtype
        case TupleType():
            return _fields([type_text(each) for each in type.types])
        case FunctionType():
            return f"fn ({', '.join(map(type_text, type.inputs))}) -> {type_text(type.outputs.data[0])}"
        case AdtType():
            arguments = ", ".join(map(type_text, type.arguments))
            return f"{type.symbol}[{arguments}]" if arguments else type.symbol
        case ParamType():
            return type.label.data
        case RefType():
            return f"ref({type_text(type.of)})"
        case IncompleteType():
            return "_"
        case _:
            return str(type)


def _fields(texts: Sequence[str]) -> str:
    return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"


class _Printer:
    """Names values, and writes what they are."""

    def __init__(self, table: Metadata, in_order: bool) -> None:
        self._table = table
        self._in_order = in_order
        """Whether there are references: then each thing that may be done to one is told by a `let`, in its place."""
        self._names: dict[SSAValue, str] = {}
        self._taken: set[str] = set()
        self._lines = 0

    def name(self, value: SSAValue) -> str:
        """What a value is called, where it stands for itself."""
        if value in self._names:
            return self._names[value]
        assert isinstance(value, BlockArgument), "what is computed is named by its line"
        return self._named(value)

    def _named(self, value: SSAValue) -> str:
        """What a value is called from here on."""
        text = self._names[value] = self._new(name_of(value))
        return text

    def _new(self, hint: str) -> str:
        """A name that nothing else has."""
        hint = "".join(each if each.isalnum() or each == "_" else "_" for each in hint) or "v"
        hint = hint if not hint[0].isdigit() else f"v{hint}"
        text, number = f"%{hint}", 0
        while text in self._taken:
            number += 1
            text = f"%{hint}_{number}"
        self._taken.add(text)
        return text

    def lines(self, operations: Sequence[Operation], results: Sequence[SSAValue], indent: str) -> list[str]:
        """What operations compute, and then what is given: of several values, a tuple."""
        result = results[0] if len(results) == 1 else None
        found: list[str] = []
        for op in operations:
            text = self._text(op, indent) + _place(op)
            if isinstance(op, RefWriteOp):
                found.append(f"{indent}{text};")
            elif (
                self._in_order
                and len(op.results) == 1
                and _happens(op)
                and (op.results[0] is not result or op is not operations[-1])
            ):
                named = self._named(op.results[0])
                found.append(f"{indent}let {named} = {text};")
                continue
            if len(op.results) > 1:
                self._names |= {value: f"%{self._lines}.{place}" for place, value in enumerate(op.results)}
            elif op.results and (op.results[0] is result or _is_word(op)):
                self._names[op.results[0]] = text
                continue
            elif op.results:
                self._names[op.results[0]] = f"%{self._lines}"
            if op.results:
                found.append(f"{indent}%{self._lines} = {text};")
                self._lines += 1
        given = self._list(results)
        return [*found, indent + (given[0] if len(given) == 1 else _fields(given))]

    def _block(self, block: Block, indent: str) -> str:
        """What a block computes, in braces."""
        end = block.last_op
        assert end is not None
        inner = self.lines([op for op in block.ops if op is not end], end.operands, indent + "  ")
        return "\n".join(["{", *inner, indent + "}"])

    def _list(self, values: Sequence[SSAValue]) -> list[str]:
        return [self.name(each) for each in values]

    def _text(self, op: Operation, indent: str) -> str:
        match op:
            case ConstantOp():
                return self._constant(op)
            case TupleOp():
                return _fields(self._list(op.fields))
            case TupleGetOp():
                return f"{self.name(op.tuple)}.{op.index.value.data}"
            case CallOp():
                return f"@{op.callee.string_value()}({', '.join(self._list(op.operands))})"
            case ClosureOp() if not op.captured:
                return f"@{op.callee.string_value()}"
            case ClosureOp():
                return self._closure(op)
            case ApplyOp():
                return f"{self.name(op.callee)}({', '.join(self._list(op.arguments))})"
            case FnOp():
                return self.function(op, "fn ", indent)
            case PrimitiveOp():
                made = region_function(op).owner
                assert isinstance(made, FnOp)
                return f"({self.function(made, 'fn ', indent)})({', '.join(self._list(op.operands))})"
            case IfOp():
                then, other = (self._block(region.block, indent) for region in op.regions)
                return f"if ({self.name(op.condition)}) {then} else {other}"
            case MatchOp():
                return self._match(op, indent)
            case ConstructOp():
                fields = self._list(op.fields)
                return op.constructor.data + (f"({', '.join(fields)})" if fields else "")
            case RefCreateOp() | RefReadOp() | RefWriteOp():
                return f"{_OF_REFERENCES[op.name]}({', '.join(self._list(op.operands))})"
            case RelayOp():
                return (
                    f"{op.name.removeprefix('relay.')}({', '.join([*self._list(op.operands), *self._attributes(op)])})"
                )
            case _:
                return f"{op.name.removeprefix('relay.')}({', '.join(self._list(op.operands))})"

    def _closure(self, op: ClosureOp) -> str:
        """A function of the module whose first arguments are given: a function of the others."""
        type = op.result.type
        assert isinstance(type, FunctionType)
        names = [self._new("x") for _ in type.inputs]
        params = ", ".join(f"{name}: {type_text(each)}" for name, each in zip(names, type.inputs, strict=True))
        given = ", ".join([*self._list(op.captured), *names])
        return f"fn ({params}) -> {type_text(type.outputs.data[0])} {{ @{op.callee.string_value()}({given}) }}"

    def _constant(self, op: ConstantOp) -> str:
        array = op.numpy()
        if array is None or array.ndim:
            return self._table.constant(array)
        dtype = dtype_name(tensor(op.results[0].type).element_type)
        if dtype == "bool":
            return str(bool(array))
        if dtype.startswith("int"):
            return f"{int(array)}{'' if dtype == 'int32' else 'i' + dtype.removeprefix('int')}"
        if dtype in ("float16", "float32", "float64") and (digits := str(array[()])) != "nan":
            return f"{digits.removesuffix('.0')}f{dtype.removeprefix('float').removesuffix('32')}"
        return self._table.constant(array)

    def function(self, op: FnOp | FuncOp, start: str, indent: str = "") -> str:
        """The text of a function, which begins as is said."""
        open_types = sorted(type_params(op.function_type)) if isinstance(op, FuncOp) else []
        variables = f"[{', '.join(open_types)}]" if open_types else ""
        said = dict(function_attrs(op))
        devices = [self._device(each) for each in _places(said.pop(PARAMETER_DEVICES, ()))]
        results = [self._device(each) for each in _places(said.pop(RESULT_DEVICES, ()))]
        args = list(op.body.block.args)
        shown = [f" {{{each}}}" if each else "" for each in devices] or [""] * len(args)
        params = [f"{self.name(arg)}{place}: {type_text(arg.type)}" for arg, place in zip(args, shown, strict=True)]
        attributes = [each for each in results if each]
        attributes += [f"{key}={self._value(each)}" for key, each in said.items()]
        outputs = [type_text(each) for each in op.function_type.outputs]
        result = outputs[0] if len(outputs) == 1 else _fields(outputs)
        body = self._block(op.body.block, indent)
        return f"{start}{variables}({', '.join([*params, *attributes])}) -> {result} {body}"

    def _device(self, device: VirtualDevice) -> str:
        """Where an argument or a result of a function is; nothing where that is free."""
        return "" if device.is_free else f"virtual_device={self._table.device(device)}"

    def _attributes(self, op: RelayOp) -> list[str]:
        """The attributes that differ from their defaults, by TVM's names."""
        form, given = call_form(op.name.removeprefix("relay.")), Attrs(op)
        found: list[str] = []
        for name, field in form.fields.items():
            if field not in given or (value := given[field]) is None:
                continue
            default = form.signature.parameters[name].default
            if default is not Parameter.empty and self._value(value) == self._value(default):
                continue
            found.append(f"{field}={self._value(value)}")
        return found

    def _value(self, value: object) -> str:
        match value:
            case str():
                return '"' + value.replace("\\", r"\\").replace('"', r"\"") + '"'
            case bool():
                return str(value)
            case float():
                return f"{value!r}f"
            case list() | tuple():
                return f"[{', '.join(map(self._value, cast('Sequence[object]', value)))}]"
            case UnitAttr():
                return "None"
            case VirtualDevice():
                return self._table.device(value)
            case _:
                return str(value)

    def _match(self, op: MatchOp, indent: str) -> str:
        clauses: list[str] = []
        for case, region in zip(op.names, op.regions, strict=True):
            fields = self._list(region.block.args)
            pattern = "_" if case == DEFAULT else case + (f"({', '.join(fields)})" if fields else "")
            clauses.append(f"{indent}  {pattern} => {self._block(region.block, indent + '  ')},")
        word = "match" if op.partial is None else "match?"
        return "\n".join([f"{word} ({self.name(op.data)}) {{", *clauses, indent + "}"])


def _place(op: Operation) -> str:
    """Where what a line computes was written, as a comment, where that is known."""
    span = None if _is_word(op) else span_of(op.location)
    return "" if span is None else f" /* span={span} */"


def _has_references(operations: Sequence[Operation]) -> bool:
    """Whether something is done to references in operations."""
    return any(isinstance(inner, RefReadOp | RefWriteOp | RefCreateOp) for op in operations for inner in op.walk())


def _happens(op: Operation) -> bool:
    """Whether it matters where, and how often, an operation is computed: it reads, changes or makes references, or
    calls what may do so."""
    seen: set[Operation] = set()
    pending = [] if isinstance(op, FnOp) else [op]
    while pending:
        for inner in pending.pop().walk():
            match inner:
                case RefReadOp() | RefWriteOp() | RefCreateOp():
                    return True
                case ApplyOp():
                    if not isinstance(called := inner.callee.owner, FnOp):
                        return True
                    if called not in seen:
                        seen.add(called)
                        pending.append(called)
                case CallOp() if any(may_hold_state(each.type) for each in (*inner.operands, *inner.results)):
                    return True
                case _:
                    pass
    return False


def _is_word(op: Operation) -> bool:
    """Whether an operation stands where it is used, and needs no line."""
    return isinstance(op, ConstantOp) or (isinstance(op, ClosureOp) and not op.captured)


def _places(said: object) -> Sequence[VirtualDevice]:
    """The devices of arguments, or of results."""
    return [
        each.data if isinstance(each, VirtualDeviceAttr) else each for each in cast("Sequence[VirtualDevice]", said)
    ]
