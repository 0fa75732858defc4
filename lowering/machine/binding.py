"""LLVM's optimiser and code generators through llvmlite, with types that llvmlite does not have.

Importing this module does not load llvmlite; the first call does.
"""
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from ...dialects.support.matrix_unit import allowed
from .half_floats import CONVERSIONS, calls_conversions

if TYPE_CHECKING:
    import llvmlite.binding as binding


class LLVMError(Exception):
    """What LLVM has to say against a triple or a module."""


@lru_cache(maxsize=1)
def initialize() -> None:
    """Prepare all of LLVM's code generators, once."""
    import llvmlite.binding as binding

    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()


@lru_cache(maxsize=1)
def host() -> tuple[str, str, str]:
    """This machine's triple, processor, and the features that this process may use."""
    import llvmlite.binding as binding

    features = binding.get_host_cpu_features()
    has = allowed({str(name) for name, present in features.items() if present})
    said = ",".join(f"{'+' if name in has else '-'}{name}" for name in sorted(features))
    return binding.get_process_triple(), binding.get_host_cpu_name(), said


@lru_cache(maxsize=1)
def version() -> str:
    """Versions of llvmlite and LLVM: code of one is not code of another."""
    import llvmlite

    return f"llvmlite {llvmlite.__version__}, LLVM {'.'.join(map(str, llvm_version()))}"


def llvm_version() -> tuple[int, ...]:
    """The numbers of LLVM's version."""
    import llvmlite.binding as binding

    return tuple(binding.llvm_version_info)


_STORED_SCALAR = re.compile(r"^ *store (?:volatile )?(?:i\d+|half|bfloat|float|double) ", re.MULTILINE)


def holds_scalars(text: str) -> bool:
    """Whether a module stores scalars, of which LLVM may make vectors."""
    return _STORED_SCALAR.search(text) is not None


_FOR_VECTORS = ("always_inliner", "loop_unroll", "sroa", "simplify_cfg", "instruction_combine", "loop_unroll")
"""LLVM's passes for modules that store vectors alone. Schedules have vectorized and tiled, `convert-loops-to-llvm` has
put what it could outside of inner loops, and what is left is to unroll, to keep in registers what is on the stack, and
to unroll loops that have become short by that. On 28 networks code is as fast as that of LLVM's pipeline of level 1,
which takes more than twice as long."""


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
        self._machine = target.create_target_machine(
            cpu=cpu,
            features=features,
            opt=opt_level,
            reloc="pic",
            codemodel="default",  # llvmlite's own has constants at 64-bit addresses, taken anew wherever they are read
        )

    def object(self, text: str) -> bytes:
        """Optimise a module and make an object file of it.

        Raises:
            LLVMError: the text is not a valid module.
        """
        made = self._machine.emit_object(self._optimized(text))
        if text != CONVERSIONS and calls_conversions(made, self._machine.triple):
            made = self._machine.emit_object(self._optimized(text + CONVERSIONS))
        return made

    def assembly(self, text: str) -> str:
        """Optimise a module and print its assembly."""
        made = self._machine.emit_assembly(self._optimized(text))
        if calls_conversions(made.encode(), self._machine.triple):
            made = self._machine.emit_assembly(self._optimized(text + CONVERSIONS))
        return made

    def optimized(self, text: str) -> str:
        """The module after LLVM's pipeline."""
        return str(self._optimized(text))

    def linked(self, texts: Sequence[str]) -> str:
        """One module of several, as they stand, which says that it is for this machine.

        Raises:
            LLVMError: a text is not a valid module, or two define one name.
        """
        module, *others = map(self._parsed, texts)
        try:
            for other in others:
                module.link_in(other)
        except RuntimeError as error:
            raise LLVMError(str(error)) from None
        return str(module)

    def bitcode(self, text: str) -> bytes:
        """A module as it stands in LLVM's binary form.

        Raises:
            LLVMError: the text is not a valid module.
        """
        return self._parsed(text).as_bitcode()

    def _parsed(self, text: str) -> binding.ModuleRef:
        import llvmlite.binding as binding

        try:
            module = binding.parse_assembly(text)
            module.triple, module.data_layout = self._machine.triple, str(self._machine.target_data)
            module.verify()
        except RuntimeError as error:
            raise LLVMError(str(error)) from None
        return module

    def _optimized(self, text: str) -> binding.ModuleRef:
        import llvmlite.binding as binding

        module = self._parsed(text)
        tuning = binding.create_pipeline_tuning_options(speed_level=self._opt_level)
        tuning.loop_vectorization = tuning.slp_vectorization = self._opt_level > 1
        tuning.loop_interleaving = tuning.loop_unrolling = self._opt_level > 1
        builder = binding.create_pass_builder(self._machine, tuning)
        if self._opt_level < 2 or holds_scalars(text):
            passes = builder.getModulePassManager()
        else:
            passes = binding.create_new_module_pass_manager()
            for name in _FOR_VECTORS:
                getattr(passes, f"add_{name}_pass")()
        passes.run(module, builder)
        return module
