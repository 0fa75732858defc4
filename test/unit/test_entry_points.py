"""Entry points are found as `importlib.metadata` finds them, which is not imported for Weft's own."""

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from weft.dialects.support.entry_points import OURS, OwnEntry, entry_points

ROOT = Path(__file__).parents[2]


def package(folder: Path, name: str, text: str) -> None:
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(text)


def declared(group: str) -> set[tuple[str, str]]:
    return {(entry.name, entry.value) for entry in entry_points(group)}


@pytest.mark.parametrize("group", ["xdsl.universe", "weft.importers", "no.such.group"])
def test_what_is_declared_is_what_importlib_says(group: str) -> None:
    assert declared(group) == {(entry.name, entry.value) for entry in metadata.entry_points(group=group)}


def test_the_entries_of_weft_and_xdsl_are_read_from_their_group_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "[console_scripts]\na = weft.a:main\n\n[my.group]\n# none\nb = weft.dialects.support.entry_points:OURS\n"
    package(tmp_path, "weft-more", f"{text}[my.group.of.others]\nc = weft.c:C\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path / "nothing")])
    (entry,) = entry_points("my.group")
    assert entry == OwnEntry("b", "weft.dialects.support.entry_points:OURS") and entry.load() == ("weft", "xdsl")


@pytest.mark.parametrize("value", ["theirs.module:THING", "weft_more.module:THING"])
def test_a_package_of_others_is_left_to_importlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    package(tmp_path, "theirs", f"[my.group]\nt = {value}\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    (entry,) = entry_points("my.group")
    assert isinstance(entry, metadata.EntryPoint) and entry.value == value
    assert entry.dist is not None and entry.dist.name == "theirs"


def test_other_finders_of_packages_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    class Finder:
        @staticmethod
        def find_spec(*_: object) -> None:
            return None

        @staticmethod
        def find_distributions(*_: object) -> list[metadata.Distribution]:
            return []

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder])
    assert all(isinstance(entry, metadata.EntryPoint) for entry in entry_points("xdsl.universe"))


def test_weft_opt_reads_a_module_without_importlib_metadata() -> None:
    code = "import sys\nfrom weft.tools.weft_opt import main\nmain(['examples/perceptron.mlir', '-o', '/dev/null'])\n"
    code += "from weft.dialects.support.plugins import installed_universes\n"
    code += "print(len(installed_universes()), 'importlib.metadata' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    installed = metadata.entry_points(group="xdsl.universe")
    foreign = any(entry.module.partition(".")[0] not in OURS for entry in installed)
    assert done.stdout.split() == [str(len(installed)), str(foreign)]
