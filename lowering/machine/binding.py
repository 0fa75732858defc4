"""LLVM through llvmlite: the only module that calls it, with types that llvmlite does not have.

Importing this module does not load llvmlite; the first call does.
"""
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import llvmlite.binding as binding


class LLVMError(Exception):
    """What LLVM has to say against a triple, a module, or a link."""


@lru_cache(maxsize=1)
def initialize() -> None:
    """Prepare LLVM for the machine it runs on, once."""
    import llvmlite.binding as binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()


@lru_cache(maxsize=1)
def host() -> tuple[str, str, str]:
    """This machine's triple, processor, and features."""
    import llvmlite.binding as binding

    return binding.get_process_triple(), binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()


@lru_cache(maxsize=1)
def version() -> str:
    """Versions of llvmlite and LLVM: code of one is not code of another."""
    import llvmlite
    import llvmlite.binding as binding

    return f"llvmlite {llvmlite.__version__}, LLVM {'.'.join(map(str, binding.llvm_version_info))}"


class Machine:
    """Optimiser and code generator for one target; its code is position-independent."""

    def __init__(self, triple: str, cpu: str, features: str, opt_level: int):
        import llvmlite.binding as binding

        initialize()
        self._opt_level = opt_level
        try:
            target = binding.Target.from_triple(triple)
        except RuntimeError as error:
            raise LLVMError(str(error)) from None
        self._machine = target.create_target_machine(cpu=cpu, features=features, opt=opt_level, reloc="pic")

    def object(self, text: str) -> bytes:
        """Optimise a module and make an object file of it.

        Raises:
            LLVMError: the text is not a valid module.
        """
        return self._machine.emit_object(self._optimized(text))

    def assembly(self, text: str) -> str:
        """Optimise a module and print its assembly."""
        return self._machine.emit_assembly(self._optimized(text))

    def optimized(self, text: str) -> str:
        """The module after LLVM's pipeline."""
        return str(self._optimized(text))

    def _optimized(self, text: str) -> binding.ModuleRef:
        import llvmlite.binding as binding

        try:
            module = binding.parse_assembly(text)
            module.triple, module.data_layout = self._machine.triple, str(self._machine.target_data)
            module.verify()
        except RuntimeError as error:
            raise LLVMError(str(error)) from None
        tuning = binding.create_pipeline_tuning_options(speed_level=self._opt_level)
        tuning.loop_vectorization = tuning.slp_vectorization = self._opt_level > 1
        tuning.loop_interleaving = tuning.loop_unrolling = self._opt_level > 1
        builder = binding.create_pass_builder(self._machine, tuning)
        builder.getModulePassManager().run(module, builder)
        return module


class Linker:
    """Object files in memory, linked with each other and with this process. Code stays as long as this object does:
    LLVM unloads it when what a link or a lookup gave back is dropped.

    Args:
        objects: the bytes of object files.
        imported: symbols that are defined by address.

    Raises:
        LLVMError: an object file cannot be read, or a symbol is defined twice.
    """

    def __init__(self, objects: Sequence[bytes], imported: Mapping[str, int]):
        import llvmlite.binding as binding

        initialize()
        machine = binding.Target.from_default_triple().create_target_machine(jit=True)
        self._jit = binding.create_lljit_compiler(machine)
        builder = binding.JITLibraryBuilder()
        for image in objects:
            builder.add_object_img(image)
        for name, address in imported.items():
            builder.import_symbol(name, address)
        try:
            self._held = [builder.add_current_process().link(self._jit, _LIBRARY)]
        except RuntimeError as error:
            raise LLVMError(str(error)) from None

    def address(self, name: str) -> int:
        """The address of a symbol.

        Raises:
            LLVMError: there is none of that name, or what it needs is nowhere defined.
        """
        try:
            found = self._jit.lookup(_LIBRARY, name)
        except RuntimeError as error:
            raise LLVMError(str(error)) from None
        self._held.append(found)
        return int(found[name])


_LIBRARY = "weft"


def load_library(path: str) -> None:
    """Load a shared library for good, so that loaded code finds its symbols.

    Raises:
        LLVMError: there is no such library.
    """
    import llvmlite.binding as binding

    try:
        binding.load_library_permanently(path)
    except RuntimeError as error:
        raise LLVMError(str(error)) from None
