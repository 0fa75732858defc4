"""LLVM's linker in memory, through llvmlite."""
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from ..dialects.support.diagnostics import Diagnostic

if TYPE_CHECKING:
    import llvmlite.binding as binding

_LIBRARY = "weft"


class LoadError(Diagnostic):
    """Object code cannot be linked: a symbol is missing, or defined twice."""


class Linker:
    """Object files in memory, linked with each other and with this process. Code stays as long as this object does:
    LLVM unloads it when what a link or a lookup gave back is dropped.

    Args:
        objects: the bytes of object files.
        imported: symbols that are defined by address.
        texts: modules of LLVM IR that are compiled and linked to them.

    Raises:
        LoadError: an object cannot be read, or a symbol is defined twice.
    """

    def __init__(self, objects: Sequence[bytes], imported: Mapping[str, int] | None = None, texts: Sequence[str] = ()):
        import llvmlite.binding as binding

        _initialize()
        machine = binding.Target.from_default_triple().create_target_machine(jit=True)
        # JITLink gives an object one piece of memory. LLVM's other linker asks for code and constants apart, and ends
        # the process where these come to lie too far from each other to be reached.
        self._jit = binding.create_lljit_compiler(machine, use_jit_link=True)
        builder = binding.JITLibraryBuilder()
        for image in objects:
            builder.add_object_img(image)
        for text in texts:
            builder.add_ir(text)
        for name, address in (imported or {}).items():
            builder.import_symbol(name, address)
        try:
            self._held: list[binding.ResourceTracker] = [builder.add_current_process().link(self._jit, _LIBRARY)]
        except RuntimeError as error:
            said = str(error).removeprefix("In , ")
            hint = "what only one C source needs is to be static" if said.startswith("duplicate") else None
            raise LoadError(f"the object code cannot be linked: {said}", hint=hint) from None

    def address(self, name: str) -> int:
        """The address of a symbol. LLVM names missing symbols on standard error.

        Raises:
            LoadError: there is none of that name, or it refers to something that is defined nowhere.
        """
        try:
            found = self._jit.lookup(_LIBRARY, name)
        except RuntimeError as error:
            hint = "a function of C that is called has to be in the process: weft.load_library(path)"
            raise LoadError(f"there is no address of '{name}': {error}", hint=hint) from None
        self._held.append(found)
        return int(found[name])


@lru_cache(maxsize=1)
def _initialize() -> None:
    """Prepare LLVM for the machine it runs on, once."""
    import llvmlite.binding as binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
