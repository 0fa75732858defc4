"""The compile engine: kernels that were lowered once are not lowered again, by this process, nor by another where
compiled kernels are kept on disk.

A kernel is known by what goes into its lowering: the fused function (`fingerprint`), the passes with their options, the
target, and the rules of the `PassContext`. What is kept is what the rest of a compilation needs: how the graph sees the
kernel (the declaration of its `func.func`), how it is linked (that of its `llvm.func`), and the LLVM IR, under which
the object code is found in turn (`machine/kernel_cache.py`). So what a compilation submits is the same, byte for byte,
whether it was lowered or found. On disk a kernel is known by the compiler that lowered it as well (`kept_kernels`).

Nothing is kept or found where somebody looks on (instruments, remarks), where passes from elsewhere take part, where
kernels' passes read or write files, or where a kernel makes checks, which tell of their places in the model. TVM's
counterpart is its `TECompiler`, whose cache is for one compilation, and keyed by function and target.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Protocol

from xdsl.dialects import func, llvm

from ..dialects.support.fingerprint import fingerprint
from ..transforms.infra import remarks
from ..transforms.infra.config import BOUNDS_CHECKS, FILES, RECORDS_THREADS, TUNING_RECORDS
from ..transforms.infra.context import PassContext
from ..transforms.infra.parts import Part, is_declaration, is_private, symbol_name
from ..transforms.infra.registry import outside_passes
from .check_sites import CHECKS
from .lowered_kernel import LOWERED, LoweredKernel
from .machine.kernel_cache import LOWERED_SUFFIX
from .machine.target import Target


class Shelf(Protocol):
    """Where something is kept beyond the end of the process."""

    @property
    def is_there(self) -> bool:
        """Whether anything is kept."""
        ...

    def kept(self, name: str) -> bytes | None:
        """What is kept under a name."""
        ...

    def keep(self, name: str, data: bytes) -> None:
        """Keep something."""
        ...


class KernelMemo:
    """What one compilation finds in `LOWERED` and on disk, and leaves there: see `infra.apart.Memo`.

    Args:
        rules: all that the lowering of a kernel depends on beside its function.
        submit: takes the name and the LLVM IR of a kernel that was found.
        shelf: where kernels are kept for other processes, if they are.
    """

    def __init__(self, rules: str, submit: Callable[[str, str], None], shelf: Shelf | None = None):
        self.rules = rules
        self._submit = submit
        self._shelf = shelf
        self._keys: dict[str, str] = {}
        self._pending: dict[str, tuple[str, func.FuncOp, llvm.FuncOp, tuple[tuple[str, str], ...]]] = {}
        self.found = 0
        """How many kernels did not have to be lowered."""

    def find(self, part: Part, taken: dict[str, str]) -> tuple[func.FuncOp, llvm.FuncOp] | None:
        """The declarations of a kernel that was lowered before, and is submitted. `taken` are the names and texts of
        private symbols of the kernels before it, which are told apart by their names in the module as a whole."""
        key = sha256(f"{self.rules}\0{fingerprint(part.module)}".encode()).hexdigest()
        kernel = LOWERED.get(key) or self._from_shelf(key)
        if kernel is None or any(taken.get(name, text) != text for name, text in kernel.private):
            self._keys[part.name] = key
            return None
        taken.update(kernel.private)
        self.found += 1
        self._submit(part.name, kernel.text)
        return kernel.declaration.clone(), kernel.linked.clone()

    def lowered(self, part: Part, linked: llvm.FuncOp, renamed: bool) -> None:
        """Note the declarations of a kernel that has been lowered; `written` follows. `renamed`: a private symbol was
        given another name, for the sake of other kernels."""
        key, declaration = self._keys.pop(part.name, None), part.placeholder
        if key is None or renamed or not isinstance(declaration, func.FuncOp) or CHECKS in declaration.attributes:
            return
        private = [op for op in part.module.ops if is_private(op) and not is_declaration(op)]
        names = ((symbol_name(op) or "", op) for op in private)
        texts = tuple((name, "" if name.startswith(f"{part.name}.") else str(op)) for name, op in names)
        self._pending[part.name] = (key, declaration.clone(), linked.clone(), texts)

    def written(self, name: str, text: str) -> None:
        """Keep a kernel, whose LLVM IR is known by now."""
        if (known := self._pending.pop(name, None)) is not None:
            key, declaration, linked, private = known
            LOWERED.put(key, kernel := LoweredKernel(declaration, linked, text, private))
            self._to_shelf(key, kernel)

    def _from_shelf(self, key: str) -> LoweredKernel | None:
        if self._shelf is None or not self._shelf.is_there:
            return None
        from .kept_kernels import compiler_digest, decoded

        if (compiler := compiler_digest()) is None or (data := self._shelf.kept(_place(key, compiler))) is None:
            return None
        if (kernel := decoded(data)) is not None:
            LOWERED.put(key, kernel)
        return kernel

    def _to_shelf(self, key: str, kernel: LoweredKernel) -> None:
        if self._shelf is None or not self._shelf.is_there:
            return
        from .kept_kernels import compiler_digest, encoded

        if (compiler := compiler_digest()) is not None and (data := encoded(kernel)) is not None:
            self._shelf.keep(_place(key, compiler), data)


def _place(key: str, compiler: str) -> str:
    """The name under which a kernel is kept that a compiler has lowered."""
    return sha256(f"{key}\0{compiler}".encode()).hexdigest() + LOWERED_SUFFIX


def kernel_memo(
    target: Target, passes: str, submit: Callable[[str, str], None], shelf: Shelf | None = None
) -> KernelMemo | None:
    """The memo of a compilation by the current `PassContext`; none where every kernel is to be lowered.

    `passes` is the text of those that a kernel goes through, with their options.
    """
    context = PassContext.current()
    shown = {TUNING_RECORDS, RECORDS_THREADS}  # by the schedules that stand beside the functions
    config = sorted((name, repr(value)) for name, value in context.config.items() if name not in shown)
    if target.gpu is not None:
        return None  # what a host launches is not kept
    if context.instruments or remarks.listening() or outside_passes() or context.get_config(BOUNDS_CHECKS, False):
        return None
    if not FILES.isdisjoint(context.config):
        return None
    from ..transforms.tir.intrinsics.tensor_intrin import TensorIntrin

    rules = (
        str(target.resolved()),
        passes,
        context.opt_level,
        context.required_pass,
        context.disabled_pass,
        config,
        TensorIntrin.replaced(),
    )
    return KernelMemo(repr(rules), submit, shelf)
