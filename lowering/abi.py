"""What compiled code and the runtime agree on: names, layouts, and what a compilation gives.

Nothing here needs the compiler: a program that only runs saved graphs imports this file and no pass, dialect or xDSL.

The entry is `weft_run(inputs, outputs, arena, num_threads)`, which gives 0 where all went well. `inputs` and `outputs`
are tables of addresses, one for each tensor in the graph's order; the arena holds what lies between, and counters that
the entry clears itself. All state of a call is in its arena: calls on different arenas may run at once. Where the entry
gives another number than 0, a check has failed: the record of that number, counted from 1, tells which
(`dialects/support/checks.py`). Records stand in the arena from `records_at` on; what their checks say is in `checks`.
Behind the addresses in the table of inputs stand the extents that are known when it is called (`symbols`), one word
each. `weft_constants` is a table of addresses that the runtime fills in once, after linking.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from ..dialects.support.alignment import ALIGNMENT as ALIGNMENT
from ..dialects.support.element_types import MLIR_NAMES, item_bytes
from ..dialects.support.records import record
from .sizes import Size

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.generic]

ABI_VERSION = 2
"""Raised whenever code made before could not be called by the runtime after."""

FORMAT = 7
"""Raised whenever artefacts written before could not be read."""

ENTRY = "weft_run"
"""The function that the runtime calls."""

CONSTANTS_TABLE = "weft_constants"
"""The global array of pointers that is filled in when the object is loaded."""

CALL_PACKED = "weft_call_packed"
"""The function of the loader by which code calls Python: `(what, values)` gives 0, or the number of a failure."""
CONST = "const "
"""Stands in `what` in front of the type of a buffer that the function only reads."""
RUN_HOSTED = "weft_run_hosted"
"""What programs that branch call the host by, for a part of theirs that is on several devices: its number, tables of
its inputs and outputs, the arena and the number of threads; it gives 0, or that it failed."""
RUN_PART = "weft_run_part"
"""What programs that branch have in C: the pointer to a function that is called, where it is not null, to have a part
of theirs run, as that of the pool (`RUN`) is elsewhere: with what a thread runs, its context, and how many threads."""

INPUTS, OUTPUTS = "weft.inputs", "weft.outputs"
"""Attributes of the graph's own function: names and tensor types of what it takes and gives."""

LAST_FIRST = -(1 << 63)
"""Added to the number of threads that a graph's own function and kernels take: this thread claims the last shares of
loops first. Every second thread of an inference does, so that each goes on with what it wrote."""

COUNTER_BYTES = "weft.counter_bytes"
"""Attribute of the graph's own function: the bytes at its arena's start that are zero when an inference begins."""

SEGMENT_MARK = "weft.segment"
"""Attribute of a graph's function that a program runs as a part of it."""


def thread_of_segment(name: str) -> str:
    """What each thread runs of a part of a program; it takes the address of a context: tables of inputs and outputs,
    the arena, and the number of threads, a word each. Behind the inputs stand values of symbols."""
    return f"{name}_thread"


GRAPH_SYMBOLS, POOLS = "weft.symbols", "weft.pools"
"""Attributes of the graph's own function: the names of the extents that are known when it is called, and for each pool
of memory that depends on them a map to numbers whose product is its bytes."""

SYMBOL_EXTENTS = "weft.extents"
"""Attribute of the graph's own function: JSON with the symbols that follow from others, and what must hold."""

DYNAMIC = -(2**63)
"""An extent that is not known, as xDSL has it (`DYNAMIC_INDEX`)."""


@record
class TensorSpec:
    """A tensor that a graph takes or gives: its name, NumPy's name of its element type, its shape."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    extents: tuple[Size, ...] | None = field(default=None, repr=False)
    """The shape of a tensor of a graph with symbols: over them, where `shape` has `DYNAMIC`."""

    @property
    def type(self) -> str:
        """The type as MLIR writes it: `tensor<2x3xf32>`."""
        extents = ["?" if extent == DYNAMIC else str(extent) for extent in self.shape]
        return f"tensor<{'x'.join([*extents, MLIR_NAMES[self.dtype]])}>"

    @property
    def is_found(self) -> bool:
        """Whether the program finds what extents the tensor has, and memory for it: what the caller has for it is an
        address and these extents, one word each."""
        return self.extents is None and DYNAMIC in self.shape

    @property
    def bytes(self) -> int:
        """The room that the tensor takes."""
        return prod(self.shape) * item_bytes(self.dtype)

    def __str__(self) -> str:
        return f"{self.name}: {self.type}"


@record
class Site:
    """What a check says when it fails, with `{index}` and `{extent}` for the numbers, and the place in the model, or in
    a module, that it comes from: no file where none is known."""

    text: str
    file: str = ""
    line: int = 0
    column: int = 0


RUNNING_DEVICES = ("cpu", "ext_dev", "cuda")
"""The types of devices that programs run on."""
PROCESSORS = ("cpu", "ext_dev")
"""Those of them that run the code of the processor."""


@record
class Argument:
    """What a kernel is given in a step: memory, or a number.

    `kind` says what: the `input`, `output` or `constant` of number `at`; so many bytes of the `arena`, from byte `at`
    on; the counters that the kernel's threads share their work by (`slots`) or the `record` of its checks, which stand
    in the arena as well; the number of `threads`, or of a `team`; an `extent`, which is the number `at`. Of several
    devices, `device` is the number of that whose arena, or whose copy of a constant, is meant; inputs and outputs are
    the caller's, on the first.
    """

    kind: str
    at: int = 0
    bytes: int = 0
    device: int = 0
    sizes: tuple[Size, Size] | None = None
    """Of a graph with symbols, where they depend on those: `at` and `bytes`, which are 0 then."""


THREADS, TEAM = "threads", "team"
"""The number of threads: that call a kernel, all of them; or of one that a single thread calls, and that takes the
others itself."""
ARGUMENTS = ("input", "output", "constant", "arena", "slots", "record", THREADS, TEAM, "extent")
"""The kinds of arguments."""
NUMBERS = (THREADS, TEAM, "extent")
"""The kinds of arguments and parameters that are no memory."""
BUFFER, OPEN_BUFFER = "buffer", "open_buffer"
"""The kinds of a kernel's parameter that may be any memory: of so many bytes, or of as many as extents say."""
PARAMETERS = (BUFFER, OPEN_BUFFER, "slots", "record", *NUMBERS)
"""The kinds of a kernel's parameters."""


@record
class Step:
    """One kernel call of a graph, or one copy, which has no kernel: its arguments are what is copied, and where to; or,
    with one argument and no kernel, memory that becomes zero.

    The layers are the names that the model has for what was fused into the kernel. A kernel runs on the device of the
    number `device`; a copy is to it.
    """

    kernel: str
    layers: tuple[str, ...]
    arguments: tuple[Argument, ...]
    device: int = 0


@record
class Loop:
    """Steps that are taken one after the other in each turn, of which there are as many as `turns` say. The turn, from
    0 on, is a symbol of theirs: its number is behind those of the graph, of what data decides, and of the loops around.
    """

    turns: Size
    steps: tuple[Step | Loop, ...]


def steps_within(steps: Iterable[Step | Loop]) -> Iterator[Step]:
    """The steps, those of a loop once."""
    for step in steps:
        if isinstance(step, Loop):
            yield from steps_within(step.steps)
        else:
            yield step


@record
class DeviceMemory:
    """A device by name, and the bytes that a call of the graph takes in its memory, of which those at the start, so
    many, are zero when the call begins. Of a graph with symbols, `pools` stand behind those: numbers whose product is
    the bytes of each."""

    name: str
    arena_bytes: int
    counter_bytes: int
    pools: tuple[tuple[Size, ...], ...] = ()


@record
class Launch:
    """A launch of a kernel on a GPU: the blocks of its grid and the threads of a block, along x, y and z, and which of
    the arguments of the function that launches it are its own. The grid's sizes are over these arguments."""

    kernel: str
    grid: tuple[Size, Size, Size]
    block: tuple[int, int, int]
    arguments: tuple[int, ...]


@record
class DeviceCode:
    """A function that a GPU runs, by name: the text of its kernels (PTX), and its launches, one after the other."""

    function: str
    source: str
    launches: tuple[Launch, ...]


@record
class Parameter:
    """What a kernel takes: a `buffer`, or `slots`, of so many bytes, an `open_buffer`, a `record`, the number of
    `threads` or of its `team`, or an `extent`. `element` is what MLIR calls the elements of a buffer (`f32`, `i8` with
    or without a sign), and `shape` the one in which the kernel sees it, where that is known."""

    kind: str
    bytes: int = 0
    element: str = ""
    shape: tuple[int, ...] | None = None


@record
class Platform:
    """A machine that code is for: LLVM's triple and processor, and the features that the code may use."""

    triple: str
    cpu: str
    features: tuple[str, ...]

    @property
    def architecture(self) -> str:
        """`x86_64`, `aarch64`, ...: the first part of the triple, by its common name."""
        name = self.triple.split("-")[0]
        return _SAME_ARCHITECTURE.get(name, name)

    @property
    def system(self) -> str:
        """`linux`, `darwin`, ...: the operating system that the triple names, or nothing."""
        parts = self.triple.split("-")[1:]
        return next((system for part in parts for word, system in _SYSTEMS.items() if part.startswith(word)), "")

    def missing_features(self, available: Iterable[str]) -> list[str]:
        """The features that the code may use and a machine with those `available` has not."""
        return sorted(set(self.features) - set(available) - _NEVER_IN_KERNELS)

    def __str__(self) -> str:
        return f"{self.cpu} ({self.triple})"


_NEVER_IN_KERNELS = frozenset({
    "avx10.1", "cldemote", "clflushopt", "clwb", "clzero", "enqcmd", "fsgsbase", "fxsr", "hreset", "invpcid", "kl",
    "lwp", "mwaitx", "pconfig", "pku", "prefetchi", "ptwrite", "rdpid", "rdpru", "rtm", "serialize", "sgx", "shstk",
    "tsxldtrk", "uintr", "usermsr", "waitpkg", "wbnoinvd", "widekl", "xsave", "xsavec", "xsaveopt", "xsaves",
})  # fmt: skip
"""Features of x86-64 that give no instruction to code that only computes, or, as `avx10.1`, only another name to some
that stand beside it. Systems do not tell of all of them, and switch some off: no machine is refused for their sake."""

_SAME_ARCHITECTURE = {"amd64": "x86_64", "arm64": "aarch64"}
_SYSTEMS = {
    "linux": "linux", "darwin": "darwin", "macos": "darwin", "windows": "windows", "win32": "windows",
    "freebsd": "freebsd", "wasi": "wasi",
}  # fmt: skip


@record
class HostedSegment:
    """A part of a program that branches, on several devices: what the host does when the program comes to it."""

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    checks: tuple[tuple[Site, ...], ...]
    steps: tuple[Step, ...]
    devices: tuple[DeviceMemory, ...]
    symbols: tuple[str, ...] = ()
    """Those of the part: their words stand behind the addresses of its inputs."""
    extents: str = ""


@record
class ProgramPart:
    """A part of a program that branches, which its code runs on all threads: what each thread runs, by name; how many
    tensors the part takes and gives, of which the last `decided` say what data has decided; how many symbols it has;
    and its steps. Places in the arena are those of the arena that a call of the part is given."""

    thread: str
    inputs: int
    outputs: int
    symbols: int
    decided: int
    steps: tuple[Step | Loop, ...]


@record
class CompiledGraph:
    """The artefact of a compilation, for whatever machine: object code with what is needed to run it.

    That is the constants in the order of the constants' table, inputs, outputs, the arena's size in bytes, the names of
    the kernels, the machine it is for, the checks of each record, and where in the arena the records begin. What the
    entry does is there once more as steps, for those who want to do it one by one, with what each kernel takes, and how
    many bytes at the arena's start are zero before: no steps where the graph was written by hand in another form. Where
    a graph is on several devices, they are listed, the CPU first, and there is no entry: the steps are all there is.
    """

    objects: tuple[bytes, ...]
    constants: tuple[NDArray, ...]
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    arena_bytes: int
    kernels: tuple[str, ...]
    platform: Platform
    checks: tuple[tuple[Site, ...], ...] = ()
    records_at: int = 0
    counter_bytes: int = 0
    parameters: tuple[tuple[Parameter, ...], ...] = ()
    steps: tuple[Step | Loop, ...] = ()
    symbols: tuple[str, ...] = ()
    """Names of the extents that are known when the graph is called."""
    pools: tuple[tuple[Size, ...], ...] = ()
    """The memory behind `arena_bytes` in the arena, one pool after the other: numbers whose product is its bytes."""
    devices: tuple[DeviceMemory, ...] = ()
    device_code: tuple[DeviceCode, ...] = ()
    """The kernels that GPUs run, which are no object code."""
    images: tuple[bytes, ...] = ()
    """The objects linked to shared objects, for loading them without a linker: the program's, and the pool's; none
    where that was not done. They say nothing that the objects do not."""
    segments: tuple[HostedSegment, ...] = ()
    """Parts that the host runs for the program, by the numbers that it asks for them by."""
    code_constants: int | None = None
    """So many of the constants, the first, are those of the code; the others are of parts that the host runs. All,
    unless it is said."""
    extents: str = ""
    """JSON: the symbols that follow from others (`defined`: pairs of a number and a size), and pairs of sizes of which
    the first must not be above the second, with words for it (`at_most`)."""
    parts: tuple[ProgramPart, ...] = ()
    """Of a program that branches: what its code does in between, for those who want to do it one by one."""

    @property
    def device_names(self) -> tuple[str, ...]:
        """The devices that the host runs it on, step by step: none, where its code needs no host."""
        used = (each.name for part in (self, *self.segments) for each in part.devices)
        return tuple(dict.fromkeys(used))


def segment_graph(graph: CompiledGraph, segment: HostedSegment) -> CompiledGraph:
    """A part of a program that the host runs, as a graph of its own."""
    return replace(
        graph,
        inputs=segment.inputs,
        outputs=segment.outputs,
        checks=segment.checks,
        steps=segment.steps,
        devices=segment.devices,
        arena_bytes=segment.devices[0].arena_bytes,
        symbols=segment.symbols,
        pools=segment.devices[0].pools,
        extents=segment.extents,
        segments=(),
    )


def code_mark(manifest: bytes, objects: Iterable[str]) -> str:
    """The symbol that the last object of a graph defines which says this of itself (`manifest.py`), and whose other
    objects have these digests."""
    from hashlib import sha256

    return f"weft_made_{sha256(manifest + ''.join(objects).encode()).hexdigest()}"


POOL = "weft_pool_2"
"""The pointer to the state of the pool of threads. An object file that mentions this name is the pool's. The number is
the version of that state and of the functions below: pools of one version are one in a process, the first loaded."""

RUN, WAIT, WAKE, LIMIT = f"{POOL}_run", f"{POOL}_wait", f"{POOL}_wake", f"{POOL}_limit"
FUTEX = f"{POOL}_futex"

POOL_FUNCTIONS = (RUN, WAIT, WAKE, LIMIT)
"""What objects outside the pool may call."""
