"""One pass, one file, one test file of the same name (STYLE 7)."""

from pathlib import Path

import pytest

from weft import lowering
from weft.transforms import mem, relay, tir

ROOT = Path(__file__).parents[2]

PACKAGES = {
    "transforms/relay": relay.PASSES,
    "transforms/tir": tir.PASSES,
    "transforms/mem": mem.PASSES,
    "lowering": lowering.PASSES,
}

ENTRIES = [(folder, name, where) for folder, passes in PACKAGES.items() for name, where in passes.items()]


@pytest.mark.parametrize(("folder", "name", "where"), ENTRIES, ids=[name for _, name, _ in ENTRIES])
def test_a_pass_has_a_file_and_a_test_of_its_name(folder: str, name: str, where: str) -> None:
    stem = name.replace("-", "_")
    module = where.partition(":")[0]
    assert module.rpartition(".")[2] == stem, f"the pass {name} stands in {module}, not in {stem}.py"
    test = "lowering" if folder == "lowering" else "transforms"
    assert (ROOT / "test" / test / f"{stem}.mlir").is_file(), f"test/{test}/{stem}.mlir is missing"


@pytest.mark.parametrize("test", ["transforms", "lowering"])
def test_every_test_file_belongs_to_a_pass(test: str) -> None:
    stems = {name.replace("-", "_") for folder, name, _ in ENTRIES if folder.startswith(test)}
    stems |= {path.stem for path in (ROOT / test / "infra").glob("*.py")}
    orphans = [path.name for path in (ROOT / "test" / test).glob("*.mlir") if path.stem not in stems]
    assert not orphans, f"no pass is named like {', '.join(sorted(orphans))}"


def test_no_file_holds_two_passes() -> None:
    places = [(folder, where.partition(":")[0]) for folder, _, where in ENTRIES]
    assert len(set(places)) == len(places)
