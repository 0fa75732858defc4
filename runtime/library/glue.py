"""The C source that makes of object code what the header says."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.support.checks import CHECK_FIELD, EXTENT_FIELD, INDEX_FIELD, RECORD_BYTES
from ...dialects.support.matrix_unit import ARCH_PRCTL, ARCH_REQ_XCOMP_PERM, TILE_FEATURES, XFEATURE_XTILEDATA
from ...lowering.abi import ALIGNMENT, CALL_PACKED, CONSTANTS_TABLE, DYNAMIC, ENTRY, CompiledGraph, Site, TensorSpec
from ...lowering.sizes import read_extents
from .hosted import hosted, workspace_bytes
from .open_sizes import open_sizes
from .registry import SAID, registry
from .text import c_string

DATA = "weft_data"
"""Where the constants are, as they stand in the artefact."""


def glue(graph: CompiledGraph, name: str, header: str) -> str:
    """C11. `header` is the name of the file with the header."""
    decided = len(read_extents(graph.extents, len(graph.symbols)).read)
    outputs = graph.outputs[: len(graph.outputs) - decided]
    is_open = bool(graph.symbols) or any(spec.is_found for spec in outputs)
    parts = [
        f'#include "{header}"\n\n#include <stdatomic.h>\n#include <stdlib.h>\n#include <string.h>\n',
        f"extern int64_t {ENTRY}(const void *const *, void *const *, void *, int64_t);\n",
        _constants(graph),
        _TILES if TILE_FEATURES & set(graph.platform.features) else _NO_TILES,
        *(_tensors(specs, what) for specs, what in ((graph.inputs, "input"), (outputs, "output"))),
        _checks(graph.checks),
        _FUNCTIONS.format(
            alignment=ALIGNMENT,
            workspace=workspace_bytes(graph),
            is_open=int(is_open),
            inputs=len(graph.inputs),
            outputs=len(outputs),
            entry=ENTRY,
            open_sizes=open_sizes(graph),
            record="0" if graph.devices else f"{graph.records_at} + (record - 1) * {RECORD_BYTES}",
            check=CHECK_FIELD,
            index=INDEX_FIELD,
            extent=EXTENT_FIELD,
            num_records=len(graph.checks),
            exceptions=SAID,
        ),
        _MODEL.format(
            name=name,
            machine=c_string(str(graph.platform)),
            inputs=len(graph.inputs),
            input_table="inputs" if graph.inputs else "NULL",
            outputs=len(outputs),
            output_table="outputs" if outputs else "NULL",
            workspace=0 if is_open else workspace_bytes(graph) if graph.devices else graph.arena_bytes,
        ),
        registry(name, calls_functions(graph)),
        hosted(graph, DATA, _starts(graph)) if graph.devices else "",
    ]
    return "\n".join(part for part in parts if part)


def calls_functions(graph: CompiledGraph) -> bool:
    """Whether the code calls functions by name."""
    return any(CALL_PACKED.encode() in image for image in graph.objects)


def _constants(graph: CompiledGraph) -> str:
    """The table of constants, filled in when the library is loaded."""
    if not graph.constants or graph.devices:
        return ""
    starts = _starts(graph)
    return f"""extern const void *{CONSTANTS_TABLE}[{len(starts)}];
extern const unsigned char {DATA}[];

__attribute__((constructor)) static void place_constants(void) {{
  static const uint64_t starts[] = {{{", ".join(map(str, starts))}}};
  for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
    {CONSTANTS_TABLE}[i] = {DATA} + starts[i];
}}
"""


def _starts(graph: CompiledGraph) -> list[int]:
    """Where the constants begin, as they stand in the artefact."""
    starts, position = list[int](), 0
    for array in graph.constants:
        starts.append(position)
        position += array.nbytes + -array.nbytes % ALIGNMENT
    return starts


def _tensors(specs: Sequence[TensorSpec], what: str) -> str:
    if not specs:
        return ""
    extents = [", ".join("-1" if n == DYNAMIC else str(n) for n in spec.shape) or "0" for spec in specs]
    bytes = [0 if DYNAMIC in spec.shape else spec.bytes for spec in specs]
    shapes = [f"static const int64_t {what}_{number}[] = {{{each}}};" for number, each in enumerate(extents)]
    rows = [
        f"  {{{c_string(spec.name)}, {c_string(spec.dtype)}, {len(spec.shape)}, {what}_{number}, {bytes[number]}}},"
        for number, spec in enumerate(specs)
    ]
    return "\n".join([*shapes, f"static const weft_tensor {what}s[] = {{", *rows, "};\n"])


def _checks(checks: Sequence[Sequence[Site]]) -> str:
    """What each check of each record says: `{index}` and `{extent}` stand for the numbers, and `{exception}`
    for what a function gave."""
    if not checks:
        return "static const char *const *const records[] = {NULL};\n"
    lines: list[str] = []
    for number, sites in enumerate(checks):
        texts = ", ".join(c_string(_told(site)) for site in sites) or "NULL"
        lines.append(f"static const char *const record_{number}[] = {{{texts}}};")
    names = ", ".join(f"record_{number}" for number in range(len(checks)))
    return "\n".join([*lines, f"static const char *const *const records[] = {{{names}}};\n"])


def _told(site: Site) -> str:
    place = f"{site.file}:{site.line}:{site.column}: " if site.line else f"{site.file}: " if site.file else ""
    return place + site.text


_NO_TILES = "enum { tiles_are_refused = 0 };\n"

_TILES = f"""/* The tile registers of AMX belong to a process that asks for them. */
extern long syscall(long, ...);

static int tiles_are_refused;

__attribute__((constructor)) static void ask_for_tiles(void) {{
  tiles_are_refused = syscall({ARCH_PRCTL}, {ARCH_REQ_XCOMP_PERM}, {XFEATURE_XTILEDATA}) != 0;
}}
"""

_FUNCTIONS = """static void *allocate(void) {{ return {is_open} ? NULL : aligned_alloc({alignment}, {workspace}); }}

enum {{
  ALIGNMENT = {alignment},
  BAD_WORKSPACE = -1,
  BAD_TENSOR = -2,
  BAD_THREADS = -3,
  NO_TILES = -4,
  NO_MEMORY = -5,
  NO_SHAPES = -6
}};

static int is_missing(const void *const *tensors, size_t number) {{
  if (tensors == NULL)
    return number != 0;
  for (size_t i = 0; i < number; i++)
    if (tensors[i] == NULL)
      return 1;
  return 0;
}}

static int64_t start(const void *const *ins, void *const *outs, void *workspace, int64_t threads) {{
  if (workspace == NULL || (uintptr_t)workspace % {alignment} != 0)
    return BAD_WORKSPACE;
  if (threads < 1)
    return BAD_THREADS;
  if (is_missing(ins, {inputs}) || is_missing((const void *const *)outs, {outputs}))
    return BAD_TENSOR;
  if (tiles_are_refused)
    return NO_TILES;
  return {entry}(ins, outs, workspace, threads);
}}

static int64_t run(const void *const *ins, void *const *outs, void *workspace, int64_t threads) {{
  return {is_open} ? NO_SHAPES : start(ins, outs, workspace, threads);
}}

{open_sizes}

/* Text of which the first `size - 1` bytes are kept. */
struct text {{
  char *at;
  size_t size, length;
}};

static void put(struct text *text, const char *what, size_t length) {{
  for (size_t i = 0; i < length; i++, text->length++)
    if (text->length + 1 < text->size)
      text->at[text->length] = what[i];
}}

static void put_number(struct text *text, int64_t number) {{
  char digits[24];
  size_t start = sizeof digits;
  uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
  do
    digits[--start] = (char)('0' + rest % 10);
  while ((rest /= 10) != 0);
  if (number < 0)
    digits[--start] = '-';
  put(text, digits + start, sizeof digits - start);
}}

static void put_check(struct text *text, int64_t record, const unsigned char *workspace) {{
  const unsigned char *found = workspace + {record};
  int64_t check, index, extent;
  memcpy(&check, found + {check}, sizeof check);
  memcpy(&index, found + {index}, sizeof index);
  memcpy(&extent, found + {extent}, sizeof extent);
  const char *said = records[record - 1][check - 1];
  while (*said != 0) {{
    if (strncmp(said, "{{index}}", 7) == 0) {{
      put_number(text, index);
      said += 7;
    }} else if (strncmp(said, "{{extent}}", 8) == 0) {{
      put_number(text, extent);
      said += 8;
    {exceptions}}} else {{
      put(text, said++, 1);
    }}
  }}
}}

static size_t message(int64_t status, const void *workspace, char *at, size_t size) {{
  struct text text = {{at, size, 0}};
  if (status > 0 && status <= {num_records} && workspace != NULL) {{
    put_check(&text, status, workspace);
  }} else if (status <= REFUSED && status > REFUSED - num_asked) {{
    put(&text, asked[REFUSED - status], strlen(asked[REFUSED - status]));
  }} else {{
    const char *said = status == 0               ? "all went well"
                       : status == BAD_WORKSPACE ? "the workspace is none, or not at a multiple of {alignment} bytes"
                       : status == BAD_TENSOR    ? "an input or an output has no memory"
                       : status == BAD_THREADS   ? "at least one thread is needed"
                       : status == NO_TILES      ? "the system does not let this process use the tiles of AMX"
                       : status == NO_MEMORY    ? "there is no memory for so large tensors"
                       : status == NO_SHAPES    ? "the model takes several shapes: run_at says which"
                                                : "there is no such status";
    put(&text, said, strlen(said));
  }}
  if (size > 0)
    at[text.length < size ? text.length : size - 1] = 0;
  return text.length;
}}
"""

_MODEL = """const weft_model *{name}_model(void) {{
  static const weft_model model = {{
      "{name}", {machine}, {inputs}, {input_table}, {outputs}, {output_table}, {workspace},
      allocate, run, message, measure, run_at,
  }};
  return &model;
}}
"""
