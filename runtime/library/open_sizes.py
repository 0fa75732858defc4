"""The C source of what follows from the shapes that an exported graph is called with: what `runtime/sizes.py` finds.

Every number is a range: what data decides is, before the graph has run, anything up to what it is at most. A graph
whose extents are all known has no symbols, and goes the same way.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.support.element_types import item_bytes
from ...lowering.abi import DYNAMIC, CompiledGraph, DeviceMemory, TensorSpec
from ...lowering.sizes import Size, read_extents
from ..sizes import TOO_MUCH, element_of, place_of
from .hosted import c_size, memories
from .text import c_string


def shape_text(spec: TensorSpec) -> str:
    """A shape as messages say it: `[?, 16]`."""
    return f"[{', '.join('?' if extent == DYNAMIC else str(extent) for extent in spec.shape)}]"


def _extents(spec: TensorSpec) -> Sequence[Size]:
    return spec.shape if spec.extents is None else spec.extents


def open_sizes(graph: CompiledGraph) -> str:
    """C11: `asked`, `sizes_of` and `run_at`, with all that they need of the graph. `run` is there already."""
    said = read_extents(graph.extents, len(graph.symbols))
    decided = len(said.read)
    outputs = graph.outputs[: len(graph.outputs) - decided]
    asked = [f"input '{spec.name}' has another shape than the model takes: {shape_text(spec)}" for spec in graph.inputs]
    asked += [f"the model takes inputs for which {words}" for _, _, words in said.at_most]
    asked += [
        f"element {element} of input '{graph.inputs[tensor].name}' is another number than fits the shapes"
        for tensor, element, _ in said.held
    ]
    texts = ", ".join(map(c_string, asked)) or "NULL"
    ranks = ", ".join(str(len(spec.shape)) for spec in outputs) or "0"
    found = ", ".join(str(int(spec.is_found)) for spec in outputs) or "0"
    return _SOURCE.format(
        ranges=RANGE_ARITHMETIC,
        texts=texts,
        too_much=TOO_MUCH,
        num_asked=len(asked),
        symbols=len(graph.symbols),
        inputs=len(graph.inputs),
        outputs=len(outputs),
        decided=decided,
        ranks=ranks,
        found=found,
        most_rank=max((len(spec.shape) for spec in outputs), default=0),
        given="\n".join(_given(graph)),
        follow="\n".join(_follow(graph)),
        checks="\n".join(_checks(graph)),
        input_extents=_table(graph.inputs, "input"),
        output_extents=_table(outputs, "output"),
        memories="\n".join(_memory(number, each) for number, each in enumerate(memories(graph))),
        input_items=", ".join(str(item_bytes(spec.dtype)) for spec in graph.inputs) or "0",
        output_items=", ".join(str(item_bytes(spec.dtype)) for spec in outputs) or "0",
        input_ranks=", ".join(str(len(spec.shape)) for spec in graph.inputs) or "0",
    )


def _given(graph: CompiledGraph) -> list[str]:
    """The symbols that the inputs say."""
    said = read_extents(graph.extents, len(graph.symbols))
    follows = {number for number, _ in (*said.defined, *said.read)}
    lines: list[str] = []
    for number in range(len(graph.symbols)):
        if number in follows:
            continue
        if (place := place_of(graph, number)) is not None:
            lines.append(f"  s[{number}] = exactly(shapes[{place[0]}][{place[1]}]);")
        else:
            tensor, element = element_of(graph, said, number)
            size = item_bytes(graph.inputs[tensor].dtype)
            lines.append(f"  s[{number}] = exactly(word_at(ins[{tensor}], {element}, {size}));")
    return lines


def _follow(graph: CompiledGraph) -> list[str]:
    """The symbols that follow from those, in order; of what data decides, `counts` says what it is, once it has run."""
    said = read_extents(graph.extents, len(graph.symbols))
    places = {number: place for place, (number, _) in enumerate(said.read)}
    lines: list[str] = []
    for number, size in sorted([*said.defined, *said.read]):
        lines.append(f"  s[{number}] = greatest({c_size(size)}, exactly(0));")
        if (place := places.get(number)) is not None:
            lines.append(f"  s[{number}] = decided(s[{number}].high, counts == NULL ? NULL : counts + {place});")
    return lines


def _checks(graph: CompiledGraph) -> list[str]:
    """What has to hold of the symbols, which are `s`, one number each."""
    said = read_extents(graph.extents, len(graph.symbols))
    number = len(graph.inputs)
    lines: list[str] = []
    for least, most, _ in said.at_most:
        lines.append(f"  if ({c_size(least)}.high > {c_size(most)}.high)\n    return REFUSED - {number};")
        number += 1
    for tensor, element, size in said.held:
        held = f"word_at(ins[{tensor}], {element}, {item_bytes(graph.inputs[tensor].dtype)})"
        lines.append(f"  if ({held} != {c_size(size)}.high)\n    return REFUSED - {number};")
        number += 1
    return lines


def _table(specs: Sequence[TensorSpec], what: str) -> str:
    """The function that says an extent of a tensor; -1 where nothing says it before the graph has run."""
    lines = [f"static range {what}_extent(const range *s, size_t tensor, size_t axis) {{", "  (void)s;"]
    lines.append("  switch (tensor) {")
    for number, spec in enumerate(specs):
        if not spec.shape:
            continue
        lines += [f"  case {number}:", "    switch (axis) {"]
        for axis, size in enumerate(_extents(spec)):
            value = "exactly(-1)" if size == DYNAMIC else f"greatest({c_size(size)}, exactly(0))"
            lines.append(f"    case {axis}:\n      return {value};")
        lines += ["    default:", "      break;", "    }", "    break;"]
    return "\n".join([*lines, "  default:", "    break;", "  }", "  (void)axis;", "  return exactly(0);", "}"])


def _memory(number: int, memory: DeviceMemory) -> str:
    """The memory of a device behind that of those before."""
    lines = [f"  if (starts != NULL)\n    starts[{number}] = bytes.high;"]
    lines += [
        f"  bytes = plus(bytes, {each});" for each in (f"exactly({memory.arena_bytes})", *map(_pool, memory.pools))
    ]
    lines.append(
        "  bytes = times(quotient(plus(bytes, exactly(ALIGNMENT - 1)), exactly(ALIGNMENT)), exactly(ALIGNMENT));"
    )
    return "\n".join(lines)


def _pool(pool: Sequence[Size]) -> str:
    """The bytes of a pool."""
    text = "exactly(1)"
    for size in pool:
        text = f"times({text}, greatest({c_size(size)}, exactly(1)))"
    return text


RANGE_ARITHMETIC = """typedef struct range {
  int64_t low, high;
} range;

static inline range exactly(int64_t number) {
  range made = {number, number};
  return made;
}

static inline int64_t sum(int64_t a, int64_t b) {
  int64_t made;
  return __builtin_add_overflow(a, b, &made) ? (a < 0 ? INT64_MIN : INT64_MAX) : made;
}

static inline int64_t product(int64_t a, int64_t b) {
  int64_t made;
  return __builtin_mul_overflow(a, b, &made) ? ((a < 0) != (b < 0) ? INT64_MIN : INT64_MAX) : made;
}

static inline int64_t floored(int64_t a, int64_t b) { return a / b - (a % b != 0 && a % b < 0); }

static inline int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }

static inline int64_t greater(int64_t a, int64_t b) { return a > b ? a : b; }

static inline range plus(range a, range b) {
  range made = {sum(a.low, b.low), sum(a.high, b.high)};
  return made;
}

static inline range times(range a, range b) {
  int64_t each[] = {product(a.low, b.low), product(a.low, b.high), product(a.high, b.low), product(a.high, b.high)};
  range made = {lesser(lesser(each[0], each[1]), lesser(each[2], each[3])),
                greater(greater(each[0], each[1]), greater(each[2], each[3]))};
  return made;
}

static inline range quotient(range a, range b) {
  range made = {lesser(floored(a.low, b.low), floored(a.low, b.high)),
                greater(floored(a.high, b.low), floored(a.high, b.high))};
  return made;
}

static inline range rest_of(range a, range b) {
  range made = {0, b.high - 1};
  return a.low == a.high && b.low == b.high ? exactly(a.low - product(floored(a.low, b.low), b.low)) : made;
}

static inline range least(range a, range b) {
  range made = {lesser(a.low, b.low), lesser(a.high, b.high)};
  return made;
}

static inline range greatest(range a, range b) {
  range made = {greater(a.low, b.low), greater(a.high, b.high)};
  return made;
}
"""
"""C11: `range`, between which numbers a size lies, and what sizes are made of; as `range_of` has it."""

_SOURCE = """/* What follows from shapes. */
{ranges}
enum {{ REFUSED = -16 }};

static const int64_t too_much = INT64_C({too_much});

static const char *const asked[] = {{{texts}}};
static const int64_t num_asked = {num_asked};
static const size_t num_inputs = {inputs}, num_outputs = {outputs}, num_symbols = {symbols}, num_decided = {decided};

static inline range decided(int64_t most, const int64_t *count) {{
  range made = {{0, most}};
  return count == NULL ? made : exactly(greater(0, lesser(*count, most)));
}}

static inline int64_t word_at(const void *tensor, size_t element, size_t bytes) {{
  int32_t narrow;
  int64_t wide;
  if (bytes == sizeof wide) {{
    memcpy(&wide, (const char *)tensor + element * bytes, sizeof wide);
    return wide;
  }}
  memcpy(&narrow, (const char *)tensor + element * bytes, sizeof narrow);
  return narrow;
}}

static void follow(range *s, const int64_t *counts) {{
  (void)s, (void)counts;
{follow}
}}

{input_extents}

{output_extents}

static const size_t input_ranks[] = {{{input_ranks}}}, output_ranks[] = {{{ranks}}};
static const int64_t input_items[] = {{{input_items}}}, output_items[] = {{{output_items}}};
static const int output_is_found[] = {{{found}}};

/* The bytes of a workspace, and where the memory of each device begins in it. */
static range workspace_of(const range *s, int64_t *starts) {{
  range bytes = exactly(0);
  (void)s;
{memories}
  return bytes;
}}

/* The symbols, or why there are none. */
static int64_t sizes_of(const int64_t *const *shapes, const void *const *ins, range *symbols) {{
  range *s = symbols, point[{symbols} + 1];
  if (is_missing((const void *const *)shapes, {inputs}))
    return BAD_TENSOR;
  (void)ins;
{given}
  follow(s, NULL);
  for (size_t i = 0; i < num_symbols; i++)
    point[i] = exactly(s[i].high);
  s = point;
  for (size_t i = 0; i < num_inputs; i++)
    for (size_t axis = 0; axis < input_ranks[i]; axis++)
      if (shapes[i][axis] < 0 || shapes[i][axis] != input_extent(s, i, axis).high)
        return REFUSED - (int64_t)i;
{checks}
  return 0;
}}

/* The bytes of a tensor of a shape; with room for one element of each extent that is none. */
static int64_t bytes_of(const int64_t *shape, size_t rank, int64_t item, int64_t smallest) {{
  int64_t bytes = item;
  for (size_t axis = 0; axis < rank; axis++)
    bytes = product(bytes, greater(shape[axis], smallest));
  return bytes;
}}

static int64_t measure(const int64_t *const *shapes, const void *const *ins, int64_t *const *output_shapes,
                       size_t *workspace) {{
  range s[{symbols} + 1];
  int64_t status = sizes_of(shapes, ins, s);
  if (status != 0)
    return status;
  if (is_missing((const void *const *)output_shapes, {outputs}))
    return BAD_TENSOR;
  for (size_t i = 0; i < num_outputs; i++) {{
    for (size_t axis = 0; axis < output_ranks[i]; axis++)
      output_shapes[i][axis] = output_extent(s, i, axis).high;
    if (!output_is_found[i] && bytes_of(output_shapes[i], output_ranks[i], output_items[i], 0) >= too_much)
      return NO_MEMORY;
  }}
  for (size_t i = 0; i < num_symbols; i++) {{ /* a size may fall with a symbol */
    s[i].low = s[i].high;
    s[i].high = greater(s[i].high, 1);
  }}
  int64_t bytes = workspace_of(s, NULL).high;
  if (bytes >= too_much)
    return NO_MEMORY;
  if (workspace != NULL)
    *workspace = (size_t)bytes;
  return 0;
}}

/* Memory for a tensor without elements: a failed check reads the first. */
static int make_room(void *at, const int64_t *shape, size_t rank, int64_t item, void **own) {{
  if (bytes_of(shape, rank, item, 0) != 0)
    return 1;
  int64_t bytes = bytes_of(shape, rank, item, 1);
  *own = bytes < too_much ? calloc((size_t)bytes, 1) : NULL;
  memcpy(at, own, sizeof *own);
  return *own != NULL;
}}

union word {{
  const void *at;
  int64_t number;
}};

static int64_t run_at(const int64_t *const *shapes, const void *const *ins, int64_t *const *output_shapes, void **outs,
                      void *workspace, int64_t threads) {{
  union word given[{inputs} + {symbols} + 1];
  void *own[{inputs} + {outputs} + 1] = {{NULL}}, *results[{outputs} + {decided} + 1];
  int64_t cells[{outputs} + 1][{most_rank} + 1], counts[{decided} + 1];
  range s[{symbols} + 1];
  int64_t status = num_inputs != 0 && ins == NULL ? BAD_TENSOR : sizes_of(shapes, ins, s);
  if (status == 0)
    status = measure(shapes, ins, output_shapes, NULL);
  if (status != 0)
    return status;
  if (num_outputs != 0 && outs == NULL)
    return BAD_TENSOR;
  int fits = 1;
  for (size_t i = 0; i < num_inputs; i++) {{
    given[i].at = ins[i];
    fits &= make_room(&given[i].at, shapes[i], input_ranks[i], input_items[i], &own[i]);
  }}
  for (size_t i = 0; i < num_symbols; i++)
    given[{inputs} + i].number = s[i].high;
  for (size_t i = 0; i < num_outputs; i++) {{
    results[i] = output_is_found[i] ? (void *)cells[i] : outs[i];
    if (!output_is_found[i])
      fits &= make_room(&results[i], output_shapes[i], output_ranks[i], output_items[i], &own[{inputs} + i]);
  }}
  for (size_t i = 0; i < num_decided; i++)
    results[{outputs} + i] = &counts[i];
  status = fits ? start((const void *const *)given, results, workspace, threads) : NO_MEMORY;
  for (size_t i = 0; i < num_inputs + num_outputs; i++)
    free(own[i]);
  if (status != 0)
    return status;
  follow(s, counts);
  for (size_t i = 0; i < num_outputs; i++)
    for (size_t axis = 0; axis < output_ranks[i]; axis++)
      output_shapes[i][axis] = output_is_found[i] ? cells[i][axis + 1] : output_extent(s, i, axis).high;
  for (size_t i = 0; i < num_outputs; i++)
    if (output_is_found[i])
      memcpy(&outs[i], &cells[i][0], sizeof outs[i]);
  return 0;
}}
"""
