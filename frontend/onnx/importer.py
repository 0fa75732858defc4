"""ONNX models -> `relay` modules.

Every node becomes the Relay operators that its converter (`registry.converter`) writes; weights become constants;
shape arithmetic that follows from constants and static shapes is evaluated on the way. Names of nodes stay as
locations, names of values as SSA names. An operator without a converter that ONNX itself, or the model, defines by
other operators is expanded. What is left over is reported all at once.

Counterpart of TVM's `relay.frontend.from_onnx`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ArrayAttr, FunctionType, ModuleOp, StringAttr, TupleType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...dialects.relay.base import flatten_types, is_dynamic
from ...dialects.relay.core import FuncOp
from ...dialects.relay.graph_arguments import DIM_NAMES
from ...dialects.support.arguments import checked
from ...dialects.support.blame import OperandError
from ...dialects.support.diagnostics import Diagnostic, Note, Place, did_you_mean
from ...dialects.support.plugins import broken
from ...transforms.relay.infer_type import fit_turns
from .control import WITH_GRAPHS, convert_graphs
from .emitter import Emitter, identifier
from .errors import Malformed, Unsupported
from .files import Loaded, load
from .free_weights import free_weights
from .microsoft import DOMAIN, IN_ONNX_DOMAIN
from .microsoft.alike import OF_ONNX, as_of_onnx
from .node import Node, Outputs
from .ordering import in_order
from .parts import TOLD_SEQUENCE
from .registry import FIRST_OPSET, LAST_OPSET, LAST_REVISIONS, converter, is_known, outputs_of
from .schemas import (
    Schema,
    check,
    check_known,
    count,
    default_attributes,
    definition,
    domain_of,
    instantiate,
    newest_opset,
    operator_name,
    opsets,
    schema_of,
    values_read,
    way_round,
)
from .scope import POISON, Poison, Scope
from .sequences import ABSENT
from .signature import Shapes, check_declared, input_types, names_of_dims
from .soundness import check_sound
from .tensors import dense_of

if TYPE_CHECKING:
    from onnx import (
        AttributeProto,
        FunctionProto,
        GraphProto,
        ModelProto,
        NodeProto,
        SparseTensorProto,
    )

    from .tensors import NDArray


@checked
def from_onnx(model: str | os.PathLike[str] | ModelProto, shapes: Shapes | None = None) -> ModuleOp:
    """Import an ONNX model: a module with the function `@main`, from the model's inputs to its outputs.

    The attributes `input_names` and `output_names` of `@main` keep the model's names.

    Args:
        model: a file, or a model in memory.
        shapes: the shapes of inputs that the model leaves open, or its open dimensions by their names; what is still
            open becomes `?`.

    Raises:
        Diagnostic: the file cannot be read or is broken, or the model has operators that Weft cannot import: then all
            of them are named. Placed at the node.
    """
    return _run(model, shapes, free_weights=False)[0]


@checked
def from_onnx_with_weights(
    model: str | os.PathLike[str] | ModelProto, shapes: Shapes | None = None
) -> tuple[ModuleOp, dict[str, NDArray]]:
    """`from_onnx`, with the weights of the model's graph that operators read as further inputs of `@main`, behind the
    model's, rather than as constants; and their values by their names. What follows from weights alone, as shapes do,
    is found out all the same.

    Raises:
        Diagnostic: as `from_onnx`.
    """
    return _run(model, shapes, free_weights=True)


def _run(
    model: str | os.PathLike[str] | ModelProto, shapes: Shapes | None, *, free_weights: bool
) -> tuple[ModuleOp, dict[str, NDArray]]:
    loaded = load(model)
    file = loaded.name
    check_sound(loaded.proto, file)
    try:
        importer = _Importer(loaded, shapes or {}, free_weights)
        return importer.run(), importer.freed
    except RecursionError as error:
        raise Diagnostic("functions or graphs are nested too deeply to be imported", Place(file)) from error
    except MemoryError as error:
        raise Diagnostic("the model takes more memory than there is", Place(file)) from error


def _names(values: Iterable[tuple[str, Attribute]]) -> ArrayAttr[StringAttr]:
    """The names of tensors; those of a sequence are numbered."""
    names: list[StringAttr] = []
    for name, type in values:
        count = len(flatten_types([type]))
        names += [StringAttr(f"{name}.{i}" if isinstance(type, TupleType) else name) for i in range(count)]
    return ArrayAttr(names)


MAX_EXPANDED_NODES = 1 << 17
"""How many nodes the functions of a model may stand for: forty that each call the one before twice stand for 2^40."""


@dataclass(frozen=True)
class _Problem:
    """An operator that cannot be imported, and why."""

    operator: str
    reason: str
    hint: str | None


class _Importer:
    def __init__(self, loaded: Loaded, shapes: Shapes, free_weights: bool):
        self.model = loaded.proto
        self.file = loaded.name
        self.weights = loaded.weights
        self.shapes = shapes
        self.free_weights = free_weights
        self.freed: dict[str, NDArray] = {}
        """Weights that are inputs, by their names."""
        self.block = Block()
        self.emitter = Emitter(self.block, loaded.name, loaded.directory)
        self.functions = {(f.domain, f.name): f for f in loaded.proto.functions}
        self.problems: dict[_Problem, list[str]] = {}
        self.expanding: list[tuple[str, str]] = []
        """The model's functions whose definitions are being imported, outermost first."""
        self.expanded = 0
        """How many nodes of definitions were imported."""
        self.emitter.add_function = self.add_function
        self.made: list[FuncOp] = []
        """The functions beside `@main`."""

    # The whole model

    def run(self) -> ModuleOp:
        graph = self.model.graph
        imports = {DOMAIN: 1} | opsets(self.model.opset_import)  # ONNX Runtime imports its own operators, too
        if imports.get("", 0) > newest_opset():
            raise Diagnostic(
                f"the model is of opset {imports['']}, but the installed onnx package knows opsets to {newest_opset()}",
                Place(self.file),
                hint="pip install --upgrade onnx",
            )
        scope = self.open(graph, imports, None)
        scope.arrays = {**self.weights, **scope.arrays}
        inputs = [value for value in graph.input if value.name not in scope.weights]
        types = dict(zip([value.name for value in inputs], input_types(inputs, self.shapes, self.file), strict=True))
        for value in (value for value in inputs if types[value.name] == ABSENT):
            scope.values[value.name] = self.emitter.tuple([self.emitter.tuple([])])
        inputs = [value for value in inputs if types[value.name] != ABSENT]
        for value in inputs:
            type = types[value.name]
            argument = self.block.insert_arg(type, len(self.block.args))
            argument.location = self.emitter.location_of(value.name)
            argument.name_hint = identifier(value.name)
            scope.values[value.name] = argument
        dim_names = [names_of_dims(value, types[value.name]) for value in inputs]
        if any(map(is_dynamic, (types[value.name] for value in inputs))):
            self.emitter.begin_symbols(list(zip(self.block.args, dim_names, strict=True)))
        self.convert_all(graph.node, scope)
        outputs = [self.lookup(value.name, scope, "the graph's output") for value in graph.output]
        if self.problems:
            raise self.unsupported()
        results = [value for value in outputs if isinstance(value, SSAValue)]
        for value, result in zip(graph.output, results, strict=True):
            if result in self.emitter.parts:
                hint = "what a model gives are tensors: join them by ConcatFromSequence"
                raise self.error(f"output '{value.name}': {TOLD_SEQUENCE}", value.name, hint)
            check_declared(value, result, self.file)
        self.emitter.finish(results)
        if self.free_weights:
            self.freed = free_weights(self.block, scope, self.emitter)
        function = FuncOp(
            "main",
            FunctionType.from_lists([a.type for a in self.block.args], [r.type for r in results]),
            Region(self.block),
            attributes={
                "input_names": _names(
                    [
                        *((value.name, types[value.name]) for value in inputs),
                        *zip(self.freed, self.block.arg_types[len(inputs) :], strict=True),
                    ]
                ),
                "output_names": _names(
                    [(value.name, result.type) for value, result in zip(graph.output, results, strict=True)]
                ),
            },
        )
        if self.emitter.extents is not None:
            dim_names += [[[""] * array.ndim] for array in self.freed.values()]
            named = [ArrayAttr([StringAttr(name) for name in each]) for names in dim_names for each in names]
            function.attributes[DIM_NAMES] = ArrayAttr(named)
        function.location = self.emitter.location_of(graph.name or "main")
        module = ModuleOp([function, *self.made])
        module.location = function.location
        fit_turns(module)  # how many there are may have followed from what reads their results
        return module

    # Graphs and names

    def open(self, graph: GraphProto, opsets: Mapping[str, int], outer: Scope | None) -> Scope:
        """The scope of a graph, with its weights, which are read when they are first used."""
        made = {name for node in graph.node for name in node.output}
        read = values_read(graph.node) | {value.name for value in graph.output}
        arrays = {sparse.values.name: self.dense(sparse) for sparse in graph.sparse_initializer}
        weights = {t.name: t for t in (*graph.initializer, *(sparse.values for sparse in graph.sparse_initializer))}
        return Scope({}, weights, opsets, outer, made, read, arrays)

    def dense(self, sparse: SparseTensorProto) -> NDArray:
        """A weight of which only the elements are written down that are not 0."""
        name = sparse.values.name
        try:
            return dense_of(sparse, self.emitter.decode)
        except (Malformed, Unsupported) as error:
            raise self.error(f"sparse initializer '{name}': {error}", name, error.hint) from None

    def lookup(self, name: str, scope: Scope, what: str) -> SSAValue | Poison:
        """The value called `name`, or what its weight is once read."""
        inner: Scope | None = scope
        names: list[str] = []
        while inner is not None:
            value = inner.values.get(name)
            if value is not None:
                return value
            if name in inner.weights:
                return self.read_weight(name, inner)
            names += [*inner.values, *inner.weights]
            if name in inner.made:
                raise self.error(
                    f"{what} '{name}' is needed by the node that makes it",
                    name,
                    "it needs itself, by way of other nodes or at once",
                )
            inner = inner.outer
        raise self.error(f"{what} '{name}' is not defined", name, did_you_mean(name, names))

    def read_weight(self, name: str, scope: Scope) -> SSAValue:
        self.emitter.enter(name)
        try:
            array = scope.arrays.get(name)
            array = self.emitter.decode(scope.weights[name]) if array is None else array
            value = self.emitter.constant(array, name)
        except (Malformed, Unsupported) as error:
            raise self.error(str(error), name, error.hint) from None
        value.name_hint = identifier(name)
        scope.values[name] = value
        return value

    # Nodes

    def convert_all(self, nodes: Sequence[NodeProto], scope: Scope) -> None:
        for node in in_order(nodes):
            name = scope.place or node.name or next((n for n in node.output if n), node.op_type)
            inputs = [self.lookup(n, scope, f"input of {node.op_type}") if n else None for n in node.input]
            outputs = self.convert(node, name, inputs, scope)
            for output, value in zip_longest(node.output, outputs[: len(node.output)]):
                if output in scope.values:
                    raise self.error(f"value '{output}' is made twice", name)
                if output:
                    scope.values[output] = value
                if isinstance(value, SSAValue) and value.name_hint is None and output:
                    value.name_hint = identifier(output)

    def convert(
        self, node: NodeProto, name: str, inputs: list[SSAValue | Poison | None], scope: Scope
    ) -> Sequence[SSAValue | Poison | None]:
        """The outputs of one node; a node that cannot be imported is noted, and gives poison."""
        self.emitter.enter(name)
        imported = [value for value in inputs if not isinstance(value, Poison)]
        try:
            if node.domain == DOMAIN and node.op_type in OF_ONNX and (DOMAIN, node.op_type) not in self.functions:
                scope = replace(scope, opsets={**scope.opsets, "": OF_ONNX[node.op_type][0]})
                node = as_of_onnx(node)
            schema = self.find_schema(node, scope)
            if len(imported) == len(inputs):
                outputs = self.apply(node, name, imported, schema, scope)
                return [outputs] if isinstance(outputs, SSAValue) else outputs
        except Unsupported as error:
            problem = _Problem(operator_name(node), error.reason, error.hint)
            self.problems.setdefault(problem, []).append(name)
        except Malformed as error:
            raise self.error(f"{operator_name(node)}: {error.message}", name, error.hint) from None
        except VerifyException as error:
            known = self.error(f"{operator_name(node)}: {error}", name)
            known.notes = _of_operand(error, scope)
            raise known from None
        return [POISON] * len(node.output)

    def find_schema(self, node: NodeProto, scope: Scope) -> Schema | None:
        """ONNX's definition of the operator; `None` where the model or a converter for its domain defines it.

        Raises:
            Malformed: the model does not say which opset it means.
            Unsupported: neither is there a definition by other operators, nor does Weft know this one.
        """
        if (node.domain, node.op_type) in self.functions:
            return None
        domain = domain_of(node)
        if domain not in scope.opsets:
            raise Malformed(f"the model imports no opset of domain '{domain}'")
        if domain != "" and is_known(name := operator_name(node)):
            if converter(name, scope.opsets[domain]) is None:
                raise Unsupported(f"version {scope.opsets[domain]} of its domain is older than its converters")
            return None
        try:
            schema = schema_of(node, scope.opsets[domain])
        except Unsupported as error:
            if domain == "" and node.op_type in IN_ONNX_DOMAIN:
                return None
            raise Unsupported(error.reason, error.hint or way_round(node) or broken()) from None
        if schema.has_function or schema.has_context_dependent_function:
            return schema
        if domain != "" or not (is_known(node.op_type) or node.op_type in WITH_GRAPHS):
            raise Unsupported("there is no counterpart in relay", way_round(node) or broken())
        if node.op_type not in WITH_GRAPHS and converter(node.op_type, schema.since_version) is None:
            raise Unsupported(
                f"its revision {schema.since_version} is older than opset {FIRST_OPSET}",
                "convert the model with onnx.version_converter",
            )
        return schema

    def apply(
        self, node: NodeProto, name: str, inputs: list[SSAValue | None], schema: Schema | None, scope: Scope
    ) -> Outputs:
        """Convert a node by its converter, or expand its definition."""
        attributes = {a.name: a for a in node.attribute}
        if schema is None and (node.domain, node.op_type) not in self.functions:
            version = scope.opsets[domain_of(node)]
            convert = converter(operator_name(node), version)
            assert convert is not None
            return outputs_of(convert, Node(node, version, inputs, attributes, self.emitter, scope.read))
        if schema is None:
            return self.call(node, name, inputs, attributes, scope)
        check(node, attributes, schema)
        view = Node(node, schema.since_version, inputs, attributes, self.emitter, scope.read)
        if domain_of(node) == "":
            if node.op_type in WITH_GRAPHS:
                return convert_graphs(self, view, scope)
            if convert := converter(node.op_type, schema.since_version):
                check_known(node, attributes, schema, LAST_REVISIONS.get(node.op_type, LAST_OPSET))
                return outputs_of(convert, view)
        function = definition(schema, node, inputs, scope.opsets[domain_of(node)])
        return self.expand(function, replace(view, attributes=default_attributes(schema) | attributes), name, scope)

    def call(
        self,
        node: NodeProto,
        name: str,
        inputs: list[SSAValue | None],
        attributes: dict[str, AttributeProto],
        scope: Scope,
    ) -> Outputs:
        """Expand an operator that the model defines."""
        key = (node.domain, node.op_type)
        if key in self.expanding:
            raise Malformed(f"function '{node.op_type}' is defined by itself")
        function = self.functions[key]
        given = {a.name: a for a in function.attribute_proto} | attributes
        self.expanding.append(key)
        try:
            return self.expand(function, Node(node, 0, inputs, given, self.emitter, scope.read), name, scope)
        finally:
            self.expanding.pop()

    def expand(self, function: FunctionProto, call: Node, place: str, caller: Scope) -> list[SSAValue | None]:
        """The nodes that define an operator, in its place."""
        self.count_expanded(len(function.node), place)
        arguments = dict(zip_longest(function.input, call.inputs[: len(function.input)]))
        known = {k: v for k, v in arguments.items() if v is not None}
        versions = {**caller.opsets, **opsets(function.opset_import)}
        read = values_read(function.node) | {*function.output}
        scope = Scope(dict(known), {}, versions, read=read, place=place)
        absent = arguments.keys() - known
        before = {problem: len(names) for problem, names in self.problems.items()}
        self.convert_all([instantiate(node, call.attributes, absent) for node in function.node], scope)
        outputs = [
            self.lookup(name, scope, "the function's output") if wanted else None
            for name, wanted in zip(function.output, call.proto.output, strict=False)
        ]
        if any(isinstance(value, Poison) for value in outputs):
            inner = sorted({p.operator for p, names in self.problems.items() if len(names) > before.get(p, 0)})
            self.problems = {p: names[: before[p]] for p, names in self.problems.items() if p in before}
            raise Unsupported(f"it is defined by {', '.join(inner)}, which cannot be imported")
        return [None if isinstance(value, Poison) else value for value in outputs]

    # What operators that have graphs ask for

    def add_function(self, name: str, function: FuncOp) -> str:
        """Add a function to the module; gives the name that it has there."""
        if any(other.sym_name.data == name for other in self.made):
            name = f"{name}_{len(self.made)}"
        function.sym_name = StringAttr(name)
        function.location = self.emitter.location
        self.made.append(function)
        return name

    def count_expanded(self, nodes: int, place: str) -> None:
        """Note that so many nodes more are imported than stand in the model.

        Raises:
            Diagnostic: they are too many.
        """
        self.expanded += nodes
        if self.expanded > MAX_EXPANDED_NODES:
            raise self.error(f"the model's functions stand for more than {MAX_EXPANDED_NODES} nodes", place)

    # Reports

    def error(self, message: str, name: str, hint: str | None = None) -> Diagnostic:
        return Diagnostic(message, Place(f'{self.file}("{name}")'), hint=hint)

    def unsupported(self) -> Diagnostic:
        """One message for all operators that could not be imported."""
        operators = {problem.operator for problem in self.problems}
        nodes = sum(map(len, self.problems.values()))
        notes: list[Note] = []
        for problem, names in sorted(self.problems.items(), key=lambda item: (item[0].operator, -len(item[1]))):
            first = ", ".join(f"'{n}'" for n in names[:3]) + (", ..." if len(names) > 3 else "")
            hint = f"; {problem.hint}" if problem.hint else ""
            notes.append(Note(f"{problem.operator}, {count(len(names), 'node')} ({first}): {problem.reason}{hint}"))
        return Diagnostic(
            f"cannot import {count(len(operators), 'operator')} ({count(nodes, 'node')})",
            Place(self.file),
            notes=notes,
            hint="`weft-import --list-operators` shows what is supported",
        )


def _of_operand(error: VerifyException, scope: Scope) -> tuple[Note, ...]:
    """What there is to say of the operand that an operator fails because of, by the model's name of the value that it
    is, or is made of."""
    if not isinstance(error, OperandError) or (blame := error.blame) is None:
        return ()
    names = {id(value): name for name, value in scope.values.items()}
    value = error.value
    while value is not None and id(value) not in names:
        owner = value.owner
        value = owner.operands[0] if isinstance(owner, Operation) and owner.operands else None
    whose = "" if value is None else f"; it comes from '{names[id(value)]}'"
    return (Note(f"{blame}{whose}"),)
