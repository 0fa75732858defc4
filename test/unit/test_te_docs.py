"""docs/te.md: its walk runs, at a smaller size, and its table says which of te's primitives there are."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from weft import te
from weft.dialects.support.diagnostics import UsageError
from weft.dialects.te.left_out import LEFT_OUT
from weft.lowering.te_schedule.refused import REFUSED
from weft.lowering.te_schedule.schedule import Schedule
from weft.lowering.te_schedule.stage import Stage

PAGE = Path(__file__).parents[2] / "docs" / "te.md"

PRIMITIVES = {
    "split": "by a factor, which may be a size, or a number of parts; predicates where they do not divide",
    "fuse": "of loops that follow one another",
    "tile": "",
    "reorder": "",
    "vectorize": "",
    "unroll": "",
    "parallel": "",
    "bind": "checked and shown; lowering for a processor refuses it",
    "pragma": "`unroll`, `vectorize`, `parallel` set the kind; others are annotations",
    "compute_at": "",
    "compute_inline": "of what does not reduce",
    "compute_root": "",
    "set_scope": "`global` or `local`",
    "cache_read": "",
    "cache_write": "before it is said how its loops run; what they were made to be becomes the dimensions",
    "rfactor": "",
    "storage_align": "of a stage that is not an output",
    "transform_layout": "of known extents, without gaps, before what else is asked of the stage; callers see it too",
    "rolling_buffer": "of a stage that is computed in a loop of its readers",
    "normalize": "loops start at 0",
    "create_group": "of stages between others, which move together",
    "tensorize": "by `te.decl_tensor_intrin`; where rows of a tile lie apart, its strides are told",
}
"""What there is of TVM's primitives, and what is to be said of each."""


def table() -> str:
    """The table of the page."""
    lines = ["| primitive | in Weft | |", "|---|---|---|"]
    lines += [f"| `{name}` | yes | {note} |" for name, note in PRIMITIVES.items()]
    lines += [f"| `{name}` | no | {reason}; instead: {hint} |" for name, (reason, hint) in REFUSED.items()]
    lines += [
        "",
        "Of TVM's other names in `te`, these are left out; a call of one says why:",
        "",
        "| name | |",
        "|---|---|",
    ]
    lines += [f"| `{name}` | {reason}; instead: {hint} |" for name, (reason, hint) in LEFT_OUT.items()]
    return "\n".join(lines) + "\n"


def test_the_walk_runs() -> None:
    namespace: dict[str, object] = {}
    text = PAGE.read_text().replace("N = 1024", "N = 128")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 13
    for block in blocks:
        small = block.replace("number=100, repeat=20", "number=1, repeat=1").replace("repeat=3", "repeat=1")
        exec(compile(small, str(PAGE), "exec", dont_inherit=True), namespace)


def test_what_is_left_out_says_so() -> None:
    for name, (reason, _) in LEFT_OUT.items():
        with pytest.raises(UsageError, match=re.escape(f"te.{name} is left out: {reason}")):
            getattr(te, name)(None)


def test_the_table_says_which_primitives_there_are() -> None:
    """Run with BLESS=1 to write it."""
    before, _, _ = PAGE.read_text().partition("| primitive |")
    if os.environ.get("BLESS"):
        PAGE.write_text(before + table())
    assert PAGE.read_text() == before + table()
    assert all(hasattr(Stage, name) or hasattr(Schedule, name) for name in PRIMITIVES)
    public = {name for kind in (Stage, Schedule) for name, value in vars(kind).items() if callable(value)}
    ours = {
        "restart",
        "readers",
        "in_order",
        "check_leaf",
        "check_single",
        "check_formula",
        "first_loops",
        "root_loops",
        "current",
    }
    assert {name for name in public if not name.startswith("_")} - ours == {*PRIMITIVES, *REFUSED}
