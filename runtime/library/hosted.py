"""The C source that takes the steps of a graph on several devices, as `runtime/hosted.py` does in Python.

All devices but GPUs are this processor. In a library for C they have no address spaces of their own: each has its part
of the workspace, and what is copied from one to another is copied there.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.support.checks import CHECK_FIELD, RECORD_BYTES
from ...dialects.support.diagnostics import Diagnostic
from ...lowering.abi import (
    ALIGNMENT,
    ENTRY,
    NUMBERS,
    RUN,
    TEAM,
    THREADS,
    Argument,
    CompiledGraph,
    DeviceMemory,
    Step,
    steps_within,
)
from ...lowering.sizes import Size, read_extents
from ..step_checks import misfit
from .text import c_string

_PROCESSORS = ("cpu", "ext_dev")


def runs_in_c(graph: CompiledGraph) -> bool:
    """Whether a program in C can run it: it is on processors alone, and nothing of it asks Python for parts."""
    on_processors = all(name.partition(":")[0] in _PROCESSORS for name in graph.device_names)
    return not graph.device_names or (on_processors and not graph.segments)


def memories(graph: CompiledGraph) -> Sequence[DeviceMemory]:
    """The parts of a workspace, one for each device."""
    return graph.devices or (DeviceMemory("cpu", graph.arena_bytes, graph.counter_bytes, graph.pools),)


def workspace_bytes(graph: CompiledGraph) -> int:
    """The bytes of a workspace, without what depends on symbols."""
    parts = [each.arena_bytes for each in memories(graph)]
    return sum(-(-bytes // ALIGNMENT) * ALIGNMENT for bytes in parts)


def hosted(graph: CompiledGraph, data: str, starts: Sequence[int]) -> str:
    """C11: the entry of a graph on several devices. `starts` says where in `data` the constants begin. What
    `open_sizes` makes is there already.

    Raises:
        Diagnostic: the steps would use what is not there.
    """
    if (reason := misfit(graph)) is not None:
        raise Diagnostic(reason)
    called = list(dict.fromkeys(step.kernel for step in steps_within(graph.steps) if step.kernel))
    kinds = {name: [each.kind for each in taken] for name, taken in zip(graph.kernels, graph.parameters, strict=True)}
    said = read_extents(graph.extents, len(graph.symbols))
    writer = _Steps(graph, called, {name for name in called if TEAM in kinds[name]}, [n for n, _ in said.read])
    clears = [
        f"  memset(arenas[{number}], 0, {each.counter_bytes});"
        for number, each in enumerate(graph.devices)
        if each.counter_bytes
    ]
    return _SOURCE.format(
        data=f"extern const unsigned char {data}[];" if graph.constants else "",
        constants="".join(
            f"static const unsigned char *const constant_{number} = {data} + {start};\n"
            for number, start in enumerate(starts)
        ),
        run=RUN,
        kernels="\n".join(_kernel(number, name, kinds[name]) for number, name in enumerate(called)),
        entry=ENTRY,
        devices=len(graph.devices),
        inputs=len(graph.inputs),
        symbols=len(graph.symbols),
        counts=len(said.read),
        least="\n".join(
            f"  s[{len(graph.symbols) + place}] = s[{number}];" for place, (number, _) in enumerate(said.read)
        ),
        clears="\n".join(clears),
        steps="\n".join(map(writer.step, steps_within(graph.steps))),
        records="\n".join(
            f"  if (told(arenas[{argument.device}] + {argument.at}, workspace))\n    return {number + 1};"
            for number, argument in enumerate(
                a for step in steps_within(graph.steps) for a in step.arguments if a.kind == "record"
            )
        ),
        record_bytes=RECORD_BYTES,
        check=CHECK_FIELD,
    )


def _kernel(number: int, name: str, kinds: Sequence[str]) -> str:
    """A kernel, and the function that the pool calls for it."""
    types = ", ".join("int64_t" if kind in NUMBERS else "void *" for kind in kinds) or "void"
    given: list[str] = []
    for place, kind in enumerate(kinds):
        if kind == THREADS:  # every second thread claims the last shares first
            given.append(f"(int64_t)((uint64_t)given[{place}].number | (uint64_t)thread << 63)")
        else:
            given.append(f"given[{place}].{'number' if kind in NUMBERS else 'at'}")
    return f"""extern void kernel_{number}({types}) __asm__({c_string(name)});

static void call_{number}(void *table, int64_t thread) {{
  const union argument *given = table;
  (void)given, (void)thread;
  kernel_{number}({", ".join(given)});
}}
"""


class _Steps:
    """What becomes of the steps: `alone` are kernels that one thread calls, `decided` the symbols that data says."""

    def __init__(self, graph: CompiledGraph, called: Sequence[str], alone: set[str], decided: Sequence[int]):
        self._called, self._alone = called, alone
        self._symbols, self._decided = len(graph.symbols), decided
        self._first_count = len(graph.outputs) - len(decided)

    def step(self, step: Step) -> str:
        if not step.kernel:
            source, target = step.arguments
            bytes = self._size(target, 1)
            text = f"  memcpy({self._value(target)}, {self._value(source)}, (size_t)({bytes}));"
        else:
            number = self._called.index(step.kernel)
            values = [
                f"{{.{'number' if each.kind in NUMBERS else 'at'} = {self._value(each)}}}" for each in step.arguments
            ]
            call = f"call_{number}(given, 0)" if step.kernel in self._alone else f"{RUN}(call_{number}, given, threads)"
            text = f"  {{\n    union argument given[] = {{{', '.join(values) or '{.number = 0}'}}};\n    {call};\n  }}"
        return "\n".join([text, *self._counted(step)])

    def _counted(self, step: Step) -> list[str]:
        """What a step has found out, which those behind it are as large as."""
        first, said = self._first_count, [each.at for each in step.arguments if each.kind == "output"]
        return [
            f"  s[{self._symbols + at - first}] = decided(s[{self._decided[at - first]}].high, outs[{at}]);"
            for at in said
            if at >= first
        ]

    def _size(self, argument: Argument, which: int) -> str:
        """Where an argument begins, or its bytes."""
        if argument.sizes is None:
            return str((argument.at, argument.bytes)[which])
        return f"{c_size(argument.sizes[which])}.high"

    def _value(self, argument: Argument) -> str:
        at = self._size(argument, 0)
        match argument.kind:
            case "input":
                return f"(void *)(uintptr_t)ins[{at}]"
            case "output":
                return f"outs[{at}]"
            case "constant":
                return f"(void *)(uintptr_t)constant_{at}"
            case "threads" | "team":
                return "threads"
            case "extent":
                return at
            case _:
                return f"arenas[{argument.device}] + {at}"


_CALLS = {"+": "plus", "*": "times", "//": "quotient", "%": "rest_of", "min": "least", "max": "greatest"}


def c_size(size: Size) -> str:
    """A size as an expression of C, over the ranges `s` of the symbols."""
    if isinstance(size, int):
        return f"exactly({size})"
    if len(size) == 2:
        return f"s[{size[1]}]"
    kind, lhs, rhs = size
    return f"{_CALLS[kind]}({c_size(lhs)}, {c_size(rhs)})"


_SOURCE = """/* The steps, on the parts of the workspace that are the devices' memory. */
{data}
{constants}
union argument {{
  void *at;
  int64_t number;
}};

extern void {run}(void (*)(void *, int64_t), void *, int64_t);

{kernels}
/* Whether a record tells of something; it is put where `message` looks for it. */
static int told(const char *record, char *workspace) {{
  int64_t check;
  memcpy(&check, record + {check}, sizeof check);
  if (check != 0)
    memmove(workspace, record, {record_bytes});
  return check != 0;
}}

int64_t {entry}(const void *const *ins, void *const *outs, void *memory, int64_t threads) {{
  char *workspace = memory, *arenas[{devices}];
  range s[{symbols} + {counts} + 1];
  int64_t starts[{devices}];
  for (size_t i = 0; i < num_symbols; i++) {{
    int64_t symbol;
    memcpy(&symbol, &ins[{inputs} + i], sizeof symbol);
    s[i] = exactly(greater(symbol, 1));
  }}
  workspace_of(s, starts);
  for (size_t i = 0; i < {devices}; i++)
    arenas[i] = workspace + starts[i];
  for (size_t i = 0; i < num_symbols; i++) {{
    int64_t symbol;
    memcpy(&symbol, &ins[{inputs} + i], sizeof symbol);
    s[i] = exactly(symbol);
  }}
{least}
  (void)told, (void)outs, (void)threads;
{clears}
{steps}
{records}
  return 0;
}}
"""
