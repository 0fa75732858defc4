"""What `pip install` copies is what stands in the folders."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
FOLDERS = ("dialects", "transforms", "lowering", "runtime", "frontend", "tools")


def folders_with_python() -> list[Path]:
    """The folders below the roots of the package, as paths from the repository's root."""
    own = [path.parent for path in (ROOT / "weft").glob("*/__init__.py") if not path.parent.is_symlink()]
    found = {path.parent for folder in (*(ROOT / name for name in FOLDERS), *own) for path in folder.rglob("*.py")}
    return sorted(path.relative_to(ROOT) for path in found)


def package_of(folder: Path) -> str:
    """`dialects/relay` -> `weft.dialects.relay`; the package's own folder stands in the repository under its name."""
    return ".".join(folder.parts if folder.parts[0] == "weft" else ("weft", *folder.parts))


@pytest.mark.parametrize("folder", folders_with_python(), ids=str)
def test_a_folder_with_python_files_is_a_package_that_is_installed(folder: Path) -> None:
    assert (ROOT / folder / "__init__.py").exists()
    assert package_of(folder) in PROJECT["tool"]["setuptools"]["packages"]


def test_every_installed_package_has_a_folder() -> None:
    packages = {package_of(folder) for folder in folders_with_python()}
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == packages | {"weft"}


def test_every_root_is_linked_and_mapped() -> None:
    mapping = PROJECT["tool"]["setuptools"]["package-dir"]
    for folder in FOLDERS:
        assert (ROOT / "weft" / folder).resolve() == ROOT / folder
        assert mapping[f"weft.{folder}"] == folder


def test_every_command_has_a_file_with_a_main() -> None:
    for target in PROJECT["project"]["scripts"].values():
        module, function = target.split(":")
        path = ROOT / Path(*module.split(".")[1:]).with_suffix(".py")
        assert f"def {function}(" in path.read_text()
