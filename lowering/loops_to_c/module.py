"""A whole module of the `loops` phase as one file of C11, with the entry that programs call.

    int64_t matmul(const float *A, const float *B, float *C, int64_t num_threads);

gives 0 where all went well, -1 where there was no memory, else the number of the check that has failed. `weft_run` is
the same as the runtime calls it (`lowering/abi.py`), and all that there is where extents are known only then: a library
(`runtime/library`) says the sizes to programs. Threads are OpenMP's, where the file is compiled with it.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, MemRefType, ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from ...dialects.rt.sources import SourceOp
from ...dialects.support.checks import CHECK_FIELD, RECORD_BYTES
from ...dialects.support.diagnostics import Diagnostic
from ..abi import ALIGNMENT, CONSTANTS_TABLE, COUNTER_BYTES, ENTRY, GRAPH_SYMBOLS, INPUTS, TensorSpec
from ..check_sites import read_checks
from ..graph_to_memory.signature import read_signature
from .function import FunctionText
from .scalars import HELPERS
from .types import Names
from .unit import Unit

FLAGS = ("-std=c11", "-O3", "-ffp-contract=fast", "-fno-math-errno", "-fno-strict-aliasing")
"""What Weft compiles such files with, besides the processor."""

GCC_FLAGS = ("-fno-tree-loop-if-convert",)
"""What Weft gives a compiler that knows it, besides: GCC 12.2 else takes some loops with conditional reads for others,
for AVX2 and AVX-512."""

_UNROLL = """#if defined(__clang__)
#define WEFT_UNROLL _Pragma("clang loop unroll(full)")
#else
#define WEFT_UNROLL _Pragma("GCC unroll 64")
#endif"""

_PARALLEL = """#ifdef _OPENMP
#define WEFT_PRAGMA(text) _Pragma(#text)
#define WEFT_PARALLEL(n) WEFT_PRAGMA(omp parallel for num_threads((int)(n)) if ((n) > 1) schedule(dynamic))
#else
#define WEFT_PARALLEL(n)
#endif"""

_ALIGNED = f"#define WEFT_ALIGNED _Alignas({ALIGNMENT})"

_NUMPY_IN_C = {
    "float32": "float", "float64": "double", "float16": "_Float16", "bfloat16": "uint16_t", "bool": "bool",
}  # fmt: skip


def emit_c(module: ModuleOp) -> str:
    """The text of a module of the `loops` phase.

    Raises:
        Diagnostic: an operation has no counterpart in C, or there is no graph to run.
    """
    return emit_parts(list(module.ops))


def emit_parts(ops: Sequence[Operation]) -> str:
    """The text of what stands in a module: functions, those that are called before those that call, and constants.

    Raises:
        Diagnostic: an operation has no counterpart in C, or there is no graph to run.
    """
    for op in ops:
        if not isinstance(op, func.FuncOp | memref.GlobalOp | SourceOp):
            raise Diagnostic.at(op, f"{op.name} has no counterpart in C", hint="C is made of a module at phase 'loops'")
    functions = [op for op in ops if isinstance(op, func.FuncOp) and op.body.blocks]
    graphs = [function for function in functions if INPUTS in function.attributes]
    if not graphs:
        raise Diagnostic("there is no graph to run in this module", hint="C is made of a module at phase 'loops'")
    graph = next((each for each in graphs if each.sym_name.data == "main"), graphs[0])
    unit = Unit(ops, graph)
    name = unit.names.new(graph.sym_name.data)
    texts = [FunctionText(unit, function).write() for function in unit.reached(graph.sym_name.data)]
    if unit.declared:
        texts.insert(0, "\n".join(unit.declared.values()))
    constants = sum(isinstance(op, memref.GlobalOp) for op in ops)
    if constants:
        what = "/* Addresses of the constants, which whoever loads this puts here. */"
        texts.insert(0, f"{what}\nconst void *{CONSTANTS_TABLE}[{constants}];")
    texts.append(_run(unit, graph))
    if GRAPH_SYMBOLS not in graph.attributes:
        texts.append(_entry(name, graph))
    for source in (op.text.data.strip("\n") for op in ops if isinstance(op, SourceOp)):
        texts.append(f"/* A file of its own, which defines what is declared above. */\n#if 0\n{source}\n#endif")
    body = "\n\n".join(texts)
    return f"{_head(name, unit, body)}\n\n{body}\n"


def _head(name: str, unit: Unit, body: str) -> str:
    command = f"cc {' '.join(FLAGS)} -march=native -fopenmp -c {name}.c"
    parts = [
        f"/* Made by Weft. Compile it with\n     {command}\n"
        f"   (GCC: {' '.join(GCC_FLAGS)} too), and link it with -lm. */",
        "\n".join(f"#include <{header}.h>" for header in ("math", "stdbool", "stdint", "stdlib", "string")),
    ]
    for word, text in (("WEFT_UNROLL", _UNROLL), ("WEFT_PARALLEL", _PARALLEL), ("WEFT_ALIGNED", _ALIGNED)):
        if word in body:
            parts.append(text)
    if vectors := unit.vectors.definitions():
        parts.append(vectors)
    for text in HELPERS:
        words = [line.partition("(")[0].split()[-1] for line in text.splitlines() if line.startswith("static inline")]
        if any(f"{word}(" in body for word in words):
            parts.append(text)
    return "\n\n".join(parts)


def _run(unit: Unit, graph: func.FuncOp) -> str:
    """The function that the runtime calls."""
    inputs, outputs = read_signature(graph.attributes)
    counters = graph.attributes[COUNTER_BYTES]
    assert isinstance(counters, IntegerAttr)
    given = [*(f"inputs[{n}]" for n in range(len(inputs))), *(f"outputs[{n}]" for n in range(len(outputs)))]
    names = graph.attributes.get(GRAPH_SYMBOLS)
    symbols = len(names) if isa(names, ArrayAttr[Attribute]) else 0
    given += [f"(int64_t)(uintptr_t)inputs[{len(inputs) + n}]" for n in range(symbols)]
    given += ["arena", "num_threads"]
    name = graph.sym_name.data
    arguments = [given[place] for place in unit.taken(name)]
    lines = [f"int64_t {ENTRY}(void *const *inputs, void *const *outputs, void *arena, int64_t num_threads) {{"]
    for parameter in ("inputs", "outputs", "num_threads"):
        if not any(parameter in argument for argument in arguments):
            lines.append(f"  (void){parameter};")
    lines.append(f"  memset(arena, 0, {counters.value.data});")
    lines.append(f"  {unit.functions[name]}({', '.join(arguments)});")
    checks, start = read_checks(graph.attributes)
    for number in range(len(checks)):
        offset = start + number * RECORD_BYTES + CHECK_FIELD
        lines.append(f"  if (*(int64_t *)(void *)((char *)arena + {offset})) return {number + 1};")
    return "\n".join([*lines, "  return 0;", "}"])


def _entry(name: str, graph: func.FuncOp) -> str:
    """The function for programs: one argument for each tensor, and the threads."""
    inputs, outputs = read_signature(graph.attributes)
    names = Names(["num_threads", "inputs", "outputs", "arena", "status"])
    taken = [(spec, names.new(spec.name), False) for spec in inputs] + [
        (spec, names.new(spec.name), True) for spec in outputs
    ]
    arguments = [f"{'' if written else 'const '}{_c_type(spec)} *{each}" for spec, each, written in taken]
    head = f"int64_t {name}({', '.join([*arguments, 'int64_t num_threads'])}) {{"
    if len(head) > 110:
        head = f"int64_t {name}(\n    " + ",\n    ".join([*arguments, "int64_t num_threads"]) + ") {"
    size = arena_bytes(graph)
    lines = ["/* The entry for programs: 0, -1 without memory, or the number of the check that has failed. */", head]
    for table, wanted in (("inputs", False), ("outputs", True)):
        given = [f"(void *){each}" for _, each, written in taken if written is wanted]
        lines.append(f"  void *{table}[] = {{{', '.join(given) or '0'}}};")
    lines += [
        f"  void *arena = aligned_alloc({ALIGNMENT}, {-(-size // ALIGNMENT) * ALIGNMENT});",
        "  if (!arena) return -1;",
        f"  int64_t status = {ENTRY}(inputs, outputs, arena, num_threads);",
        "  free(arena);",
        "  return status;",
        "}",
    ]
    return "\n".join(lines)


def _c_type(spec: TensorSpec) -> str:
    return _NUMPY_IN_C.get(spec.dtype) or f"{spec.dtype}_t"


def arena_bytes(graph: func.FuncOp) -> int:
    """The bytes of memory that a graph's function works in: its argument before the last."""
    arena = graph.function_type.inputs.data[-2]
    assert isinstance(arena, MemRefType)
    return arena.get_shape()[0]
