"""Imports go one way: tools -> weft -> frontend, runtime -> lowering -> transforms -> dialects; and in no circle."""

import ast
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import cast

import pytest

ROOT = Path(__file__).parents[2]

LAYERS = (("tools",), ("weft",), ("frontend", "runtime"), ("lowering",), ("transforms",), ("dialects",))
"""From the top; a folder may import from those of its own layer's folder and of layers below."""

EXCEPTIONS = {("frontend/onnx_backend.py", "weft")}
"""ONNX's interface to a whole compiler: it drives Weft as a tool does, but its place is fixed, `weft.frontend`. It may
import upward within functions, so that no circle arises."""

FOLDERS = tuple(folder for layer in LAYERS for folder in layer)
RANK = {folder: rank for rank, layer in enumerate(LAYERS) for folder in layer}


def module_of(path: Path) -> tuple[str, ...]:
    """`dialects/relay/core.py` -> `("dialects", "relay", "core")`; a package is the name of its folder."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


@cache
def sources() -> list[Path]:
    return sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py") if not is_linked(path))


def is_linked(path: Path) -> bool:
    """Whether a file of the package `weft` is reached through one of its links to another folder."""
    top, *inner = path.relative_to(ROOT).parts
    return top == "weft" and (ROOT / top / inner[0]).is_symlink()


def absolute(path: Path, node: ast.ImportFrom) -> tuple[str, ...] | None:
    """The module, with `weft` for its root left out, that a `from ... import` reads from; `None` for other packages."""
    named = tuple(node.module.split(".")) if node.module else ()
    if node.level == 0:
        if named[:1] != ("weft",):
            return None
        return in_a_room(named[1:])
    module = module_of(path)
    in_weft = module[:1] == ("weft",)
    package = ("weft", *module[in_weft:])  # all folders stand in the package `weft`
    package = package if path.name == "__init__.py" else package[:-1]
    return in_a_room((*package[: len(package) - node.level + 1], *named)[1:])


def in_a_room(inner: tuple[str, ...]) -> tuple[str, ...]:
    """The name of a module of the package `weft`, from its root on, as `module_of` gives it."""
    return inner if inner and inner[0] in RANK else ("weft", *inner)


@cache
def known_modules() -> set[tuple[str, ...]]:
    return {module_of(path) for path in sources()}


def imports(path: Path, *, at_load: bool) -> Sequence[tuple[tuple[str, ...], int]]:
    """What a file imports of Weft, and in which line. `at_load`: only what is imported when the file itself is."""
    return both_imports(path)[at_load]


@cache
def both_imports(path: Path) -> tuple[Sequence[tuple[tuple[str, ...], int]], Sequence[tuple[tuple[str, ...], int]]]:
    """All imports of a file, and those when it is loaded."""
    text = path.read_text()
    tree, by_name = ast.parse(text), "import_module" in text
    return tuple(imports_of(tree, path, by_name=by_name)), tuple(imports_of(tree, path, at_load=True))


def imports_of(
    tree: ast.Module, path: Path, *, at_load: bool = False, by_name: bool = True
) -> Iterator[tuple[tuple[str, ...], int]]:
    """The same of a tree that stands at a path. Only those `by_name` stand in expressions."""
    known = known_modules()
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.ImportFrom) and (base := absolute(path, node)) is not None:
            for alias in node.names:
                inner = in_a_room((alias.name,)) if base == ("weft",) else (*base, alias.name)
                yield (inner if inner in known else base), node.lineno
        elif isinstance(node, ast.Import):
            for alias in node.names:
                parts = tuple(alias.name.split("."))
                if parts[0] == "weft":
                    yield in_a_room(parts[1:]), node.lineno
        elif isinstance(node, ast.Call) and (named := import_by_name(path, node)) is not None:
            yield named, node.lineno
        if at_load and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for_types = at_load and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        children = list(cast(ast.If, node).orelse if for_types else ast.iter_child_nodes(node))
        if at_load or not by_name:
            children = [child for child in children if not isinstance(child, ast.expr)]
        pending.extend(reversed(children))


def import_by_name(path: Path, node: ast.Call) -> tuple[str, ...] | None:
    """What `import_module("..a.b", __package__)` imports; `None` of what is none, or of a name that is computed."""
    if not (isinstance(node.func, ast.Name) and node.func.id == "import_module"):
        return None
    match node.args[0]:
        case ast.Constant(value=str(name)) if name.startswith((".", "weft.")):
            inner = name.lstrip(".")
            return absolute(path, ast.ImportFrom(inner, [], len(name) - len(inner)))
        case _:
            return None


def folder_of(module: tuple[str, ...]) -> str:
    return module[0] if module[0] in RANK else "weft"


@pytest.mark.parametrize("folder", FOLDERS)
def test_nothing_imports_upward(folder: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {'.'.join(module)}"
        for path in sources()
        if module_of(path)[0] == folder
        for module, line in imports(path, at_load=(str(path.relative_to(ROOT)), "weft") in EXCEPTIONS)
        if folder_of(module) != folder and RANK[folder_of(module)] <= RANK[folder]
    ]
    assert not wrong, "\n".join(wrong)


RUNTIME_MAY_USE = (
    ("runtime",),
    ("dialects", "support"),
    *(("lowering", name) for name in ("abi", "graph_json", "manifest", "sizes")),
)
"""What runs saved graphs needs no compiler. (What it imports for type checkers only, it does not need.)"""


def test_the_runtime_imports_no_compiler() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {'.'.join(module)}"
        for path in sources()
        if module_of(path)[0] == "runtime"
        for module, line in [*imports(path, at_load=True), *imports_in_functions(path)]
        if not any(module[: len(allowed)] == allowed for allowed in RUNTIME_MAY_USE)
    ]
    assert not wrong, "\n".join(wrong)


def imports_in_functions(path: Path) -> Iterator[tuple[tuple[str, ...], int]]:
    """What a file imports of Weft while its functions run."""
    functions = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef))
    for function in functions:
        for node in ast.walk(function):
            if isinstance(node, ast.ImportFrom) and (base := absolute(path, node)) is not None:
                yield base, node.lineno


def circle(graph: dict[tuple[str, ...], set[tuple[str, ...]]]) -> list[tuple[str, ...]] | None:
    """Modules that import one another, the first one again at the end; `None` where there are none."""
    done: set[tuple[str, ...]] = set()
    for start in graph:
        path: list[tuple[str, ...]] = []
        pending: list[tuple[tuple[str, ...], bool]] = [(start, False)]
        while pending:
            module, leave = pending.pop()
            if leave:
                path.pop()
                done.add(module)
            elif module in path:
                return [*path[path.index(module) :], module]
            elif module not in done and module in graph:
                path.append(module)
                pending.append((module, True))
                pending.extend((m, False) for m in graph[module] if m != module)
    return None


def import_graph(*, at_load: bool, below: tuple[str, ...] = ()) -> dict[tuple[str, ...], set[tuple[str, ...]]]:
    """Module -> the modules that it imports, for the modules in a room."""
    modules = {module_of(path): path for path in sources() if module_of(path)[: len(below)] == below}
    return {module: {m for m, _ in imports(path, at_load=at_load)} for module, path in modules.items()}


def test_no_modules_import_one_another_in_a_circle() -> None:
    found = circle(import_graph(at_load=True))
    assert found is None, "a circle of imports: " + " -> ".join(".".join(m) for m in found or ())


@pytest.mark.parametrize("room", ["dialects", "frontend"])
def test_no_modules_of_a_room_import_one_another_even_lazily_or_for_types(room: str) -> None:
    found = circle(import_graph(at_load=False, below=(room,)))
    assert found is None, "a circle of imports: " + " -> ".join(".".join(m) for m in found or ())


def test_a_circle_is_found() -> None:
    assert circle({("a",): {("b",)}, ("b",): {("c",)}, ("c",): {("b",)}}) == [("b",), ("c",), ("b",)]


def circles(graph: dict[tuple[str, ...], set[tuple[str, ...]]]) -> set[frozenset[str]]:
    """The groups of modules that reach one another."""

    def reached(start: tuple[str, ...]) -> set[tuple[str, ...]]:
        found: set[tuple[str, ...]] = set()
        pending = [start]
        while pending:
            for module in graph.get(pending.pop(), set()) - found:
                found.add(module)
                pending.append(module)
        return found

    reach = {module: reached(module) for module in graph}
    groups = {frozenset(m for m in reach[module] if module in reach.get(m, ())) for module in graph}
    return {frozenset(".".join(module) for module in group) for group in groups if len(group) > 1}


def test_no_circle_is_hidden_in_functions_or_below_type_checking() -> None:
    graph = {module_of(path): {m for m, _ in imports(path, at_load=False)} - {module_of(path)} for path in sources()}
    graph.pop(("frontend", "onnx_backend"))  # see EXCEPTIONS
    found = circles(graph)
    assert not found, "\n".join(" <-> ".join(sorted(group)) for group in found)


def test_circles_are_found() -> None:
    graph = {("a",): {("b",)}, ("b",): {("c",)}, ("c",): {("b",), ("d",)}, ("d",): set[tuple[str, ...]]()}
    assert circles(graph) == {frozenset({"b", "c"})}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from .executors import EXECUTORS", ("weft", "executors")),
        ("from . import executors", ("weft", "executors")),
        ("from .dialects.support import knobs", ("dialects", "support", "knobs")),
        ("import weft.executors", ("weft", "executors")),
        ("def f():\n    import_module('.executors', __package__)", ("weft", "executors")),
    ],
)
def test_imports_of_modules_beside_the_rooms_are_seen(source: str, expected: tuple[str, ...]) -> None:
    path = ROOT / "weft" / "imagined.py"
    assert [module for module, _ in imports_of(ast.parse(source), path, at_load=False)] == [expected]


def test_the_layers_are_found() -> None:
    """This file would hold nothing if it read nothing."""
    found = {folder_of(m) for path in sources() for m, _ in imports(path, at_load=False)}
    assert {"dialects", "transforms"} <= found
    assert any(
        True for path in (ROOT / "tools").glob("*.py") for m, _ in imports(path, at_load=False) if m[0] == "dialects"
    )


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from ...dialects import knobs", ("dialects", "knobs")),
        ("from .registry import x", ("transforms", "infra", "registry")),
    ],
)
def test_relative_imports_are_resolved(source: str, expected: tuple[str, ...]) -> None:
    node = ast.parse(source).body[0]
    assert isinstance(node, ast.ImportFrom)
    base = absolute(ROOT / "transforms" / "infra" / "passes.py", node)
    assert base is not None and (base == expected or (*base, node.names[0].name) == expected)


MOST_LINES = 600


def test_files_are_short_enough_to_be_read() -> None:
    long = {
        str(path.relative_to(ROOT)): count
        for path in sources()
        if (count := len(path.read_text().split("\n"))) > MOST_LINES
    }
    assert not long, "look for the second thing that a file is about, and give it its own"
