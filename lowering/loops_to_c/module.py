"""A whole module of the `loops` phase as one file of C11, with the entry that programs call.

    int64_t matmul(const float *A, const float *B, float *C, int64_t num_threads);

gives 0 where all went well, -1 where there was no memory, else the number of the check that has failed. `weft_run` is
the same as the runtime calls it (`lowering/abi.py`), and all that there is where extents are known only then: a library
(`runtime/library`) says the sizes to programs. Threads are OpenMP's, where the file is compiled with it. A program that
branches and calls is what `control_to_llvm` makes of it (`control`), with the graphs that it runs above.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from xdsl.dialects import func, llvm, memref
from xdsl.dialects.builtin import ArrayAttr, IndexType, IntegerAttr, MemRefType, ModuleOp, i64
from xdsl.ir import Attribute, Operation

from ...dialects.mem.graph import GraphOp
from ...dialects.rt.sources import SourceOp
from ...dialects.support.checks import CHECK_FIELD, RECORD_BYTES
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.dominance import reached_blocks
from ...dialects.support.hints import isa
from ...transforms.relay.outline_segments import is_control
from ..abi import (
    ALIGNMENT,
    CONSTANTS_TABLE,
    COUNTER_BYTES,
    ENTRY,
    GRAPH_SYMBOLS,
    INPUTS,
    RUN_HOSTED,
    RUN_PART,
    SEGMENT_MARK,
    TensorSpec,
    thread_of_segment,
)
from ..check_sites import read_checks
from ..control_to_llvm.convert_control_to_llvm import described_hosted, program_functions, public_program
from ..entry.add_entry_point import entry_of_segment
from ..graph_to_memory.signature import read_signature
from ..loops_to_llvm.convert_loops_to_llvm import ARENA_BYTES
from ..read_steps import parameters_of
from .control import ControlText, address_of
from .function import FunctionText
from .scalars import helpers_of
from .types import Names, pointee
from .unit import Unit

FLAGS = ("-std=c11", "-O3", "-ffp-contract=fast", "-fno-math-errno", "-fno-strict-aliasing")
"""What Weft compiles such files with, besides the processor."""

GCC_FLAGS = ("-fno-tree-loop-if-convert",)
"""What Weft gives a compiler that knows it, besides: GCC 12.2 else takes some loops with conditional reads for others,
for AVX2 and AVX-512."""

HALF_FLAGS = ("-fno-if-conversion",)
"""The same, of what computes with halves: GCC 12.2 else stores some of those that it chooses by an instruction that
AVX512-FP16 does not have, which its assembler refuses."""

_UNROLL = """#if defined(__clang__)
#define WEFT_UNROLL _Pragma("clang loop unroll(full)")
#else
#define WEFT_UNROLL _Pragma("GCC unroll 64")
#endif"""

_APART = """/* No iteration reads what another one writes. */
#if defined(__clang__)
#define WEFT_APART _Pragma("clang loop vectorize(assume_safety)")
#else
#define WEFT_APART _Pragma("GCC ivdep")
#endif"""

_PARALLEL = """#ifdef _OPENMP
#define WEFT_PRAGMA(text) _Pragma(#text)
#define WEFT_PARALLEL(n) WEFT_PRAGMA(omp parallel for num_threads((int)(n)) if ((n) > 1) schedule(dynamic))
#else
#define WEFT_PARALLEL(n)
#endif"""

_RUN_PART = f"""/* Whoever takes the steps of a program one by one, to time them, puts a function here. */
void (*{RUN_PART})(void (*part)(void *context), void *context, int64_t num_threads);"""

_RUN_HOSTED = f"""/* Whoever loads this runs parts of the program on several devices. */
int64_t {RUN_HOSTED}(int64_t part, void *inputs, void *outputs, void *arena, int64_t num_threads);"""

_ALIGNED = f"#define WEFT_ALIGNED _Alignas({ALIGNMENT})"

_NUMPY_IN_C = {
    "float32": "float", "float64": "double", "float16": "_Float16", "bfloat16": "uint16_t", "bool": "bool",
}  # fmt: skip


@dataclass(frozen=True)
class GraphText:
    """A graph, or a program that runs some, in C."""

    text: str
    attributes: Mapping[str, Attribute]
    """What a caller must know: inputs and outputs, sizes, checks (`graph_to_memory.signature`, `check_sites`)."""
    arena_bytes: int
    """The memory that it works in."""
    kernels: tuple[str, ...]
    """What the graph's own function calls."""
    threads: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of a program: what a thread runs of each graph, by what that is called elsewhere (`thread_of_segment`)."""


def emit_c(module: ModuleOp) -> str:
    """The text of a module of the `loops` phase.

    Raises:
        Diagnostic: an operation has no counterpart in C, or there is no graph to run.
    """
    return emit_graph(list(module.ops)).text


def emit_kernels(ops: Sequence[Operation], kernels: Sequence[func.FuncOp]) -> str:
    """The text of functions that are called one by one, by their own names and with all of their arguments.

    Raises:
        Diagnostic: an operation has no counterpart in C.
    """
    unit = Unit(ops, (), kernels)
    reached = unit.reached(*(kernel.sym_name.data for kernel in kernels))
    texts = [FunctionText(unit, function).write() for function in reached]
    texts += [_entry_of_kernel(unit, kernel, name) for kernel, name in unit.entries.items()]
    body = "\n\n".join([*unit.declared.values(), *texts])
    return f"{file_head('kernels', unit, body)}\n\n{body}\n"


def emit_graph(
    ops: Sequence[Operation], entries: Sequence[func.FuncOp] = (), hosted: Sequence[GraphOp] = ()
) -> GraphText:
    """What stands in a module in C: functions, those that are called before those that call, and constants. The
    kernels `entries` can be called from outside, by their own names, with all of their arguments. The host runs the
    segments `hosted` of a program: their graphs are no code, and their kernels are among `entries`.

    Raises:
        Diagnostic: an operation has no counterpart in C, or there is no graph to run.
    """
    program = [op for op in ops if is_control(op)]
    ops = [op for op in ops if not is_control(op)]
    for op in ops:
        if not isinstance(op, func.FuncOp | memref.GlobalOp | SourceOp):
            raise Diagnostic.at(op, f"{op.name} has no counterpart in C", hint="C is made of a module at phase 'loops'")
    functions = [op for op in ops if isinstance(op, func.FuncOp) and op.body.blocks]
    graphs = [function for function in functions if INPUTS in function.attributes]
    segments = [each for each in graphs if SEGMENT_MARK in each.attributes] if program else []
    main = public_program(program)
    if main is None and not graphs:
        raise Diagnostic("there is no graph to run in this module", hint="C is made of a module at phase 'loops'")
    made: list[llvm.FuncOp] = []
    if main is None:
        segments = [next((each for each in graphs if each.sym_name.data == "main"), graphs[0])]
    else:
        stubs = {s.sym_name.data: described(s) for s in segments} | described_hosted(hosted)
        made = reached_from_entry(program_functions(main, program, stubs))
        called = {callee for each in made for callee in callees(each)}
        segments = [each for each in segments if entry_of_segment(each.sym_name.data) in called]
    unit = Unit(ops, segments, entries)
    name = unit.names.new((main or segments[0]).sym_name.data)
    called_apart = entries if hosted else ()
    reached = unit.reached(*(each.sym_name.data for each in (*segments, *called_apart)))
    texts = [FunctionText(unit, function).write() for function in reached]
    if unit.declared:
        texts.insert(0, "\n".join(unit.declared.values()))
    constants = sum(isinstance(op, memref.GlobalOp) for op in ops)
    if constants:
        what = "/* Addresses of the constants, which whoever loads this puts here. */"
        texts.insert(0, f"{what}\nconst void *{CONSTANTS_TABLE}[{constants}];")
    threads: dict[str, str] = {}
    if main is None:
        (graph,) = segments
        attributes, arena = graph.attributes, arena_bytes(graph)
        kernels = [op.callee.root_reference.data for op in graph.body.walk() if isinstance(op, func.CallOp)]
        texts.append(_run(unit, graph, ENTRY))
    else:
        threads = {each: unit.names.new(each) for s in segments if (each := thread_of_segment(s.sym_name.data))}
        texts += _program(unit, segments, functions, made, threads, hosted)
        attributes, arena = made[-1].attributes, _integer(made[-1].attributes[ARENA_BYTES])
        kernels = [each.sym_name.data for each in functions if parameters_of(each) is not None]
    if GRAPH_SYMBOLS not in attributes:
        texts.append(_entry(name, attributes, arena))
    texts += [_entry_of_kernel(unit, kernel, name) for kernel, name in unit.entries.items() if kernel in reached]
    for source in (op.text.data.strip("\n") for op in ops if isinstance(op, SourceOp)):
        texts.append(f"/* A file of its own, which defines what is declared above. */\n#if 0\n{source}\n#endif")
    body = "\n\n".join(texts)
    return GraphText(
        f"{file_head(name, unit, body)}\n\n{body}\n", attributes, arena, tuple(dict.fromkeys(kernels)), threads
    )


def described(segment: func.FuncOp) -> llvm.FuncOp:
    """What the code of a program asks of a graph that it runs. It is not part of the module."""
    stub = llvm.FuncOp(segment.sym_name.data, llvm.LLVMFunctionType([]), linkage=llvm.LinkageAttr("external"))
    stub.attributes |= segment.attributes
    stub.attributes[ARENA_BYTES] = IntegerAttr(arena_bytes(segment), i64)
    return stub


def _program(
    unit: Unit,
    segments: Sequence[func.FuncOp],
    functions: Sequence[func.FuncOp],
    made: Sequence[llvm.FuncOp],
    threads: Mapping[str, str],
    hosted: Sequence[GraphOp],
) -> list[str]:
    """The functions `made` of a program, with what runs the graphs that it calls; the last is its entry. `threads` are
    the names of what a thread runs of each graph. The host runs the graphs `hosted`."""
    calls: dict[str, Callable[[Sequence[str]], str]] = {}
    texts = [_RUN_PART] if segments else []
    if hosted:
        texts.append(_RUN_HOSTED)
    for number, graph in enumerate(hosted):
        calls[entry_of_segment(graph.sym_name.data)] = partial(_call_of_host, number)
    for segment in segments:
        runs = entry_of_segment(segment.sym_name.data)
        name, thread = unit.names.new(runs), threads[thread_of_segment(segment.sym_name.data)]
        calls[runs] = partial(_call_of_segment, name)
        texts.append(_thread(unit, segment, thread))
        texts.append(f"static {_run(unit, segment, name, thread)}")
    for function in functions:
        if (number := address_of(function, unit)) is not None:
            calls[function.sym_name.data] = partial(_address, number)
    for each in made:
        name = each.sym_name.data
        calls[name] = partial(_call, PROGRAM if name == ENTRY else name)
    for each in made:
        name = each.sym_name.data
        texts.append(ControlText(each, PROGRAM if name == ENTRY else name, calls).write())
    head = f"int64_t {ENTRY}(void *const *inputs, void *const *outputs, void *arena, int64_t num_threads) {{"
    call = f"{PROGRAM}((char *)inputs, (char *)outputs, arena, (uint64_t)num_threads)"
    return [*texts, f"{head}\n  return (int64_t){call};\n}}"]


def reached_from_entry(functions: Sequence[llvm.FuncOp]) -> list[llvm.FuncOp]:
    """The functions with bodies that a program's entry, the last of all, can come to, callees first."""
    bodies = {op.sym_name.data: op for op in functions if op.body.blocks}
    order: dict[str, None] = {}

    def visit(name: str) -> None:
        for callee in callees(bodies[name]):
            if callee in bodies:
                visit(callee)
        order[name] = None

    visit(ENTRY)
    return [bodies[name] for name in order]


def callees(function: llvm.FuncOp) -> list[str]:
    """The names of the functions that a function calls, where it can come to that."""
    calls = [op for block in reached_blocks(function.body) for op in block.ops if isinstance(op, llvm.CallOp)]
    return [op.callee.root_reference.data for op in calls if op.callee is not None]


PROGRAM = "weft_program"
"""The function of a program that branches, which `weft_run` calls."""


def _call(name: str, arguments: Sequence[str]) -> str:
    return f"{name}({', '.join(arguments)})"


def _call_of_segment(name: str, arguments: Sequence[str]) -> str:
    inputs, outputs, arena, threads = arguments
    tables = (f"(void *const *)(void *){table}" for table in (inputs, outputs))
    return f"{name}({', '.join(tables)}, {arena}, (int64_t){threads})"


def _call_of_host(number: int, arguments: Sequence[str]) -> str:
    inputs, outputs, arena, threads = arguments
    return f"(uint64_t){RUN_HOSTED}({number}, {inputs}, {outputs}, {arena}, (int64_t){threads})"


def _address(number: int, arguments: Sequence[str]) -> str:
    return f"(uint64_t)(uintptr_t){CONSTANTS_TABLE}[{number}]"


def _integer(value: Attribute) -> int:
    assert isinstance(value, IntegerAttr)
    return value.value.data


def flags_for_gcc(text: str) -> tuple[str, ...]:
    """What a compiler that knows it is given for a text, besides `FLAGS`."""
    return (*GCC_FLAGS, *HALF_FLAGS) if "_Float16" in text else GCC_FLAGS


def file_head(name: str, unit: Unit, body: str) -> str:
    """What stands above the functions of a file: how it is compiled, and what they make use of."""
    command = f"cc {' '.join(FLAGS)} -march=native -fopenmp -c {name}.c"
    more = flags_for_gcc(body)
    parts = [
        f"/* Made by Weft. Compile it with\n     {command}\n   (GCC: {' '.join(more)} too), and link it with -lm. */",
        "\n".join(f"#include <{header}.h>" for header in ("math", "stdbool", "stdint", "stdlib", "string")),
    ]
    words = {"UNROLL": _UNROLL, "APART": _APART, "PARALLEL": _PARALLEL, "ALIGNED": _ALIGNED}
    parts += [text for word, text in words.items() if f"WEFT_{word}" in body]
    if vectors := unit.vectors.definitions():
        parts.append(vectors)
    parts += helpers_of(body)
    return "\n\n".join(parts)


def _run(unit: Unit, graph: func.FuncOp, entry: str, thread: str | None = None) -> str:
    """The function `entry` that the runtime, or a program, calls for a graph; the graph is run by `thread`, if that is
    given."""
    call = _graph_call(unit, graph)
    lines = [f"int64_t {entry}(void *const *inputs, void *const *outputs, void *arena, int64_t num_threads) {{"]
    for parameter in ("inputs", "outputs", "num_threads"):
        if thread is None and parameter not in call:
            lines.append(f"  (void){parameter};")
    lines.append(f"  memset(arena, 0, {_integer(graph.attributes[COUNTER_BYTES])});")
    if thread is None:
        lines.append(f"  {call};")
    else:
        words = ("(uintptr_t)inputs", "(uintptr_t)outputs", "(uintptr_t)arena", "(uint64_t)num_threads")
        lines.append(f"  uint64_t context[] = {{{', '.join(words)}}};")
        lines.append(f"  if ({RUN_PART}) {RUN_PART}({thread}, context, num_threads);")
        lines.append(f"  else {thread}(context);")
    checks, start = read_checks(graph.attributes)
    for number in range(len(checks)):
        offset = start + number * RECORD_BYTES + CHECK_FIELD
        lines.append(f"  if (*(int64_t *)(void *)((char *)arena + {offset})) return {number + 1};")
    return "\n".join([*lines, "  return 0;", "}"])


def _thread(unit: Unit, graph: func.FuncOp, name: str) -> str:
    """The function `name` that runs a graph of a program, on the four words of its context."""
    call = _graph_call(unit, graph)
    lines = [f"void {name}(void *context) {{"]
    tables = ("void *const *", "void *const *", "void *")
    for number, (type, word) in enumerate(zip(tables, ("inputs", "outputs", "arena"), strict=True)):
        if word in call:
            lines.append(f"  {type}{word} = ({type})(uintptr_t)((const uint64_t *)context)[{number}];")
    if "num_threads" in call:
        lines.append("  int64_t num_threads = (int64_t)((const uint64_t *)context)[3];")
    if len(lines) == 1:
        lines.append("  (void)context;")
    return "\n".join([*lines, f"  {call};", "}"])


def _graph_call(unit: Unit, graph: func.FuncOp) -> str:
    """The call of a graph's own function, by `inputs`, `outputs`, `arena` and `num_threads`."""
    inputs, outputs = read_signature(graph.attributes)
    given = [*(f"inputs[{n}]" for n in range(len(inputs))), *(f"outputs[{n}]" for n in range(len(outputs)))]
    names = graph.attributes.get(GRAPH_SYMBOLS)
    symbols = len(names) if isa(names, ArrayAttr[Attribute]) else 0
    given += [f"(int64_t)(uintptr_t)inputs[{len(inputs) + n}]" for n in range(symbols)]
    given += ["arena", "num_threads"]
    name = graph.sym_name.data
    return f"{unit.functions[name]}({', '.join(given[place] for place in unit.taken(name))})"


def _entry(name: str, attributes: Mapping[str, Attribute], arena_bytes: int) -> str:
    """The function for programs: one argument for each tensor, and the threads."""
    inputs, outputs = read_signature(attributes)
    names = Names(["num_threads", "inputs", "outputs", "arena", "status"])
    taken = [(spec, names.new(spec.name), False) for spec in inputs] + [
        (spec, names.new(spec.name), True) for spec in outputs
    ]
    arguments = [f"{'' if written else 'const '}{_c_type(spec)} *{each}" for spec, each, written in taken]
    head = f"int64_t {name}({', '.join([*arguments, 'int64_t num_threads'])}) {{"
    if len(head) > 110:
        head = f"int64_t {name}(\n    " + ",\n    ".join([*arguments, "int64_t num_threads"]) + ") {"
    size = -(-arena_bytes // ALIGNMENT) * ALIGNMENT
    lines = ["/* The entry for programs: 0, -1 without memory, or the number of the check that has failed. */", head]
    for table, wanted in (("inputs", False), ("outputs", True)):
        given = [f"(void *){each}" for _, each, written in taken if written is wanted]
        lines.append(f"  void *{table}[] = {{{', '.join(given) or '0'}}};")
    lines += [
        f"  void *arena = aligned_alloc({ALIGNMENT}, {size});",
        "  if (!arena) return -1;",
        f"  int64_t status = {ENTRY}(inputs, outputs, arena, num_threads);",
        "  free(arena);",
        "  return status;",
        "}",
    ]
    return "\n".join(lines)


def _entry_of_kernel(unit: Unit, kernel: func.FuncOp, name: str) -> str:
    """The function that takes all arguments of a kernel."""
    types = [_c_parameter(type) for type in kernel.function_type.inputs.data]
    arguments = ", ".join(f"{type}a{place}" for place, type in enumerate(types))
    taken = unit.taken(kernel.sym_name.data)
    unused = [f"  (void)a{place};" for place in range(len(types)) if place not in taken]
    call = f"  {unit.functions[kernel.sym_name.data]}({', '.join(f'a{place}' for place in taken)});"
    return "\n".join([f"void {name}({arguments or 'void'}) {{", *unused, call, "}"])


def _c_parameter(type: Attribute) -> str:
    match type:
        case MemRefType():
            return f"{pointee(type)} *"
        case IndexType():
            return "int64_t "
        case _:  # of counters of shared work, which are OpenMP's, or of checks
            return "int64_t *"


def _c_type(spec: TensorSpec) -> str:
    return _NUMPY_IN_C.get(spec.dtype) or f"{spec.dtype}_t"


def arena_bytes(graph: func.FuncOp) -> int:
    """The bytes of memory that a graph's function works in: its argument before the last."""
    arena = graph.function_type.inputs.data[-2]
    assert isinstance(arena, MemRefType)
    return arena.get_shape()[0]
