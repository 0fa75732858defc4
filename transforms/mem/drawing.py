"""A picture of planned memory: buffers over time. `weft-opt --emit=memory.svg`.

Time goes to the right, one step for each kernel or copy; a rectangle is a buffer, from the step that needs it first to
the one that needs it last, and from its first byte to its last. Each pool has a field of its own; a line shows how
much is needed at the time.
"""

from __future__ import annotations

from xml.sax.saxutils import escape

from xdsl.dialects.builtin import ModuleOp

from ...dialects.mem.core import AllocOp, PoolOp, buffer_type, byte_size
from ...dialects.mem.graph import GraphOp
from ...dialects.mem.lifetimes import Timeline
from ...dialects.support.diagnostics import Diagnostic

WIDTH, HEIGHT, MARGIN, HEADER = 1200, 480, 16, 40
GOLDEN_ANGLE = 137.508


def memory_svg(module: ModuleOp) -> str:
    """The picture of all planned graphs of a module, as SVG.

    Raises:
        Diagnostic: there is no planned graph.
    """
    fields: list[str] = []
    top = 0
    for graph in module.ops:
        if not isinstance(graph, GraphOp):
            continue
        timeline = Timeline.of(graph.body.block)
        pools = [op for op in graph.body.block.ops if isinstance(op, PoolOp) and op.size]
        for pool in pools:
            fields.append(_field(graph, timeline, pool, top))
            top += HEADER + HEIGHT + MARGIN
        if not pools and all(op.pool is not None for op in graph.body.block.ops if isinstance(op, AllocOp)):
            title = f"@{graph.sym_name.data}: no memory but that of inputs and outputs"
            fields.append(f'<text x="{MARGIN}" y="{top + HEADER - MARGIN}">{escape(title)}</text>')
            top += HEADER
    if not fields:
        raise Diagnostic(
            "there is no graph whose memory is planned",
            hint="run -p convert-tir-to-loops,bufferize-graph,elide-copies,plan-memory on a module of phase schedule",
        )
    size = f'width="{WIDTH + 2 * MARGIN}" height="{top + MARGIN}"'
    style = "text{font:12px sans-serif}rect{stroke:#333;stroke-width:.5}.field{fill:#f6f6f6}path{fill:none;stroke:#c00}"
    return "\n".join(
        [f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', f"<style>{style}</style>", *fields, "</svg>", ""]
    )


def _field(graph: GraphOp, timeline: Timeline, pool: PoolOp, top: int) -> str:
    """One pool: its buffers, and the bytes that are needed at each step."""
    steps = max(1, len(timeline.steps))
    across, up = WIDTH / steps, HEIGHT / pool.size
    bottom = top + HEADER + HEIGHT
    live = [0] * steps
    lines: list[str] = []
    allocs = [use.operation for use in pool.result.uses if isinstance(use.operation, AllocOp)]
    allocs.sort(key=lambda alloc: timeline.lifetime(alloc).first)
    for number, alloc in enumerate(allocs):
        life, size = timeline.lifetime(alloc), byte_size(buffer_type(alloc.result)) or 0
        assert alloc.offset is not None
        start = alloc.offset.value.data
        for step in range(life.first, life.last + 1):
            live[step] += size
        name = f"%{alloc.result.name_hint}" if alloc.result.name_hint else "a buffer"
        title = f"{name} : {alloc.result.type}, {size} bytes at {start}, steps {life.first} to {life.last}"
        lines.append(
            f'<rect x="{MARGIN + life.first * across:.2f}" y="{bottom - (start + size) * up:.2f}"'
            f' width="{max(0, life.last - life.first + 1) * across:.2f}" height="{size * up:.2f}"'
            f' fill="hsl({number * GOLDEN_ANGLE % 360:.0f},60%,75%)"><title>{escape(title)}</title></rect>'
        )
    points = " ".join(
        f"{MARGIN + (step + side) * across:.2f},{bottom - bytes * up:.2f}"
        for step, bytes in enumerate(live)
        for side in (0, 1)
    )
    alone = sum(byte_size(buffer_type(alloc.result)) or 0 for alloc in allocs)
    told = (
        f"@{graph.sym_name.data}: {len(allocs)} buffers in {pool.size} bytes; {max(live)} are needed at one time, "
        f"{alone} without reuse; {steps} steps"
    )
    frame = f'<rect class="field" x="{MARGIN}" y="{top + HEADER}" width="{WIDTH}" height="{HEIGHT}"/>'
    text = f'<text x="{MARGIN}" y="{top + HEADER - 8}">{escape(told)}</text>'
    return "\n".join([text, frame, *lines, f'<path d="M{points}"/>'])
