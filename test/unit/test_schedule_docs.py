"""docs/schedules.md: its walk runs, and its table says which of TVM's primitives there are."""

from __future__ import annotations

import os
import re
from pathlib import Path

from weft.dialects.schedule.core import SequenceOp
from weft.dialects.support.parser import parse_module
from weft.tir import Schedule
from weft.transforms.infra.registry import new_ir_context
from weft.transforms.tir.scheduling.instructions import APPLY

PAGE = Path(__file__).parents[2] / "docs" / "schedules.md"

PRIMITIVES: dict[str, str] = {
    "fuse": "",
    "split": "predicates where the factors do not divide; bindings are always simplified",
    "reorder": "",
    "add_unit_loop": "",
    "parallel": "",
    "vectorize": "",
    "bind": "for `cuda`; lowering for processors refuses it. Threads of a block may share a reduction (`threadIdx`)",
    "unroll": "",
    "cache_read": "copies all that an iteration of loops which write the buffer reads, else the whole",
    "cache_write": "",
    "cache_inplace": "of a buffer that holds something before; not by a reduction that begins it",
    "cache_index": "of what is computed of iterators and numbers alone",
    "reindex": "",
    "compute_at": "of a block of blocks (`blockize`) too: as many of its tiles as are read",
    "reverse_compute_at": "",
    "compute_inline": "",
    "reverse_compute_inline": "into a producer that is no reduction, at plain indices",
    "decompose_reduction": "",
    "rfactor": "splits that leave no rest; which of several equal steps is chosen may change",
    "storage_align": "of intermediate buffers of known extents",
    "rolling_buffer": "in dimensions of which each moves with a loop of its own",
    "set_scope": "",
    "blockize": "an outer block has no iterators of its own: they follow from the blocks in it",
    "tensorize": "an intrinsic's implementation takes the place of what computes as its description",
    "annotate": "",
    "unannotate": "",
    "transform_layout": "of arguments too, where nothing in the module calls the function; gaps want a `pad_value`",
    "transform_block_layout": "",
    "decompose_padding": "of a choice between an element and a literal, by comparisons that hold together",
    "pad_einsum": "of sums of products whose factors all depend on what is padded; `padding` is added to extents",
    "set_axis_separator": "of intermediate buffers; a processor has memory of one dimension, and its lowering refuses",
}
"""TVM's 30 transforming primitives, and what is to be said of each; `no:` for those that are left out."""
OF_WEFT = {
    "fuse_iters": "two iterators and their loops as one",
    "fuse_buffer_dims": "then two dimensions of a buffer",
    "merge": "as in later TVM, of loops with dependences within an iteration, too",
    "unsafe_set_dtype": "as in later TVM",
}


def table() -> str:
    """The table of the page."""
    lines = ["| primitive | in Weft | |", "|---|---|---|"]
    for name, note in PRIMITIVES.items():
        built = "no" if note.startswith("no: ") else "yes"
        lines.append(f"| `{name}` | {built} | {note.removeprefix('no: ')} |")
    lines += [f"| `{name}` | of its own | {note} |" for name, note in OF_WEFT.items()]
    return "\n".join(lines) + "\n"


def test_the_walk_runs() -> None:
    namespace: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 7
    for block in blocks:
        exec(compile(block, str(PAGE), "exec", dont_inherit=True), namespace)


def test_the_schedule_that_is_shown_is_one() -> None:
    (text,) = re.findall(r"```mlir\n(schedule\..*?)```", PAGE.read_text(), re.DOTALL)
    module = parse_module(text, new_ir_context(), "page.mlir")
    module.verify()
    assert isinstance(module.body.block.first_op, SequenceOp)


def test_the_table_says_which_primitives_there_are() -> None:
    """Run with BLESS=1 to write it."""
    before, _, _ = PAGE.read_text().partition("| primitive |")
    if os.environ.get("BLESS"):
        PAGE.write_text(before + table())
    assert PAGE.read_text() == before + table()
    assert len(PRIMITIVES) == 31
    applied = {op.name.partition(".")[2] for op in APPLY}
    for name, note in PRIMITIVES.items():
        assert (name in applied) == hasattr(Schedule, name) == (not note.startswith("no: ")), name
    queries = {name for name in applied if name.startswith(("get_", "sample_")) or name == "enter_postproc"}
    assert applied == queries | {n for n, note in PRIMITIVES.items() if not note.startswith("no: ")} | set(OF_WEFT)
