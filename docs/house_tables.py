"""The folders of Weft, in the order in which a graph goes through them, and what each says that it is for."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]

FIRST = (
    "weft", "frontend", "dialects", "dialects/relay", "dialects/te", "dialects/tir", "dialects/schedule",
    "dialects/mem", "dialects/rt", "dialects/extensions", "dialects/support", "transforms", "transforms/infra",
    "transforms/relay", "transforms/tir", "transforms/mem", "lowering", "lowering/relay_to_tir",
    "lowering/te_schedule", "lowering/tir_to_loops", "lowering/tir_to_gpu", "lowering/graph_to_memory",
    "lowering/memory_to_loops", "lowering/math", "lowering/loops_to_llvm", "lowering/control_to_llvm",
    "lowering/loops_to_c", "lowering/entry", "lowering/llvm_ir", "lowering/threads", "lowering/machine", "runtime",
    "tools",
)  # fmt: skip
"""The order; folders within one of these follow it, by name."""


def folders() -> list[str]:
    """Every folder of code, by its path from the root, in order."""
    roots = [name for name in FIRST if "/" not in name]
    found = [
        path.parent.relative_to(ROOT).as_posix()
        for root in roots
        for path in (ROOT / root).rglob("__init__.py")
        if not _is_linked(path)
    ]
    return sorted(found, key=lambda folder: (_place(folder), folder))


def _is_linked(path: Path) -> bool:
    """Whether a file of `weft/` is that of another folder: a checkout has links there."""
    top, *inner = path.relative_to(ROOT).parts
    return top == "weft" and len(inner) > 1 and (ROOT / top / inner[0]).is_symlink()


def _place(folder: str) -> int:
    around = [place for place, name in enumerate(FIRST) if folder == name or folder.startswith(f"{name}/")]
    return max(around, key=lambda place: len(FIRST[place]))


def purpose(folder: str) -> str:
    """The first paragraph of what a folder says of itself."""
    doc = ast.get_docstring(ast.parse((ROOT / folder / "__init__.py").read_text())) or ""
    return " ".join(doc.split("\n\n")[0].split())
