"""The compile engine: kernels that were lowered once are not lowered again, by this process, nor by another where
compiled kernels are kept on disk.

A kernel is known by what goes into its lowering: the fused function (`fingerprint`), the passes with their options, the
target, and the rules of the `PassContext`. What is kept is what the rest of a compilation needs: how the graph sees the
kernel (the declaration of its `func.func`), how it is linked (that of its `llvm.func`), and the LLVM IR, under which
the object code is found in turn (`machine/kernel_cache.py`). So what a compilation submits is the same, byte for byte,
whether it was lowered or found. On disk a kernel is known by the compiler that lowered it as well (`kept_kernels`).

Kernels that are not known are lowered by worker processes where there are several kernels and several processors. A
worker is forked when all kernels stand ready, so it has them already, and does with one just what would be done here;
what it sends is what is kept of a kernel. What it cannot do, because there is an
error or something to be told, is done once more here, where whoever is to hear of it does. Where a process has other
threads, all is lowered here: a worker has what they held when it was forked, a module half imported, a lock that nobody
will give back.

Nothing is kept or found, and all is lowered here, where somebody looks on (instruments, remarks), where passes from
elsewhere take part, where kernels' passes read or write files, or where kernels check their accesses, and tell of their
places in the model. TVM's counterpart is its `TECompiler`, whose cache is for one compilation, and keyed by function
and target.
"""

from __future__ import annotations

import pickle
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import Protocol

from xdsl.dialects import func, llvm
from xdsl.dialects.builtin import ModuleOp

from ..dialects.support.diagnostics import Diagnostic, handled_by
from ..dialects.support.fingerprint import fingerprint
from ..transforms.infra import remarks
from ..transforms.infra.config import ADD_LOWER_PASS, BOUNDS_CHECKS, DATABASE, FILES, RECORDS_THREADS, TUNING_RECORDS
from ..transforms.infra.context import PassContext
from ..transforms.infra.parts import Part, declared, is_declaration, is_private, symbol_name
from ..transforms.infra.registry import outside_passes
from .check_sites import CHECKS
from .lowered_kernel import LOWERED, LoweredKernel, received, sent
from .machine.kernel_cache import LOWERED_SUFFIX
from .machine.target import Target
from .machine.workers import Task

FEWEST = 2
"""So many kernels are worth other processes."""


def is_alone() -> bool:
    """Whether this is the only thread of Python."""
    return threading.active_count() == 1


class Works(Protocol):
    """What compiles kernels, perhaps in other processes, and keeps things beyond the end of this one."""

    def start(self, tasks: Mapping[str, Task] | None = None) -> bool:
        """Have other processes, forked now, begin with tasks; whether there are any."""
        ...

    def done(self, name: str) -> bytes | None:
        """What came of a task."""
        ...

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
    """What one compilation finds in `LOWERED`, on disk and with worker processes, and leaves there: see
    `infra.apart.Memo`.

    Args:
        rules: all that the lowering of a kernel depends on beside its function.
        submit: takes the name and the LLVM IR of a kernel that was found.
        finish: is told when all kernels are through.
        write: the LLVM IR of a kernel's module in the llvm dialect.
        works: who else lowers kernels, and where they are kept for other processes.
    """

    def __init__(
        self,
        rules: str,
        submit: Callable[[str, str], None],
        finish: Callable[[], None],
        write: Callable[[ModuleOp], str],
        works: Works | None = None,
    ):
        self.rules = rules
        self._submit = submit
        self.finish = finish
        self._write = write
        self._works = works
        self._keys: dict[str, str] = {}
        self._known: dict[str, LoweredKernel] = {}
        self._elsewhere: set[str] = set()
        self._pending: dict[str, tuple[str, func.FuncOp, llvm.FuncOp, tuple[tuple[str, str], ...]]] = {}
        self.found = 0
        """How many kernels did not have to be lowered."""

    def begin(self, parts: Sequence[Part], through: Callable[[Part], None]) -> None:
        """Look which kernels are known, and have the others lowered elsewhere, if that is possible."""
        tasks: dict[str, Task] = {}
        for part in parts:
            key = self._keys[part.name] = sha256(f"{self.rules}\0{fingerprint(part.module)}".encode()).hexdigest()
            if (kernel := LOWERED.get(key) or self._from_shelf(key)) is not None:
                self._known[part.name] = kernel
            else:
                tasks[part.name] = partial(self._lower, part, through)
        if self._works is not None and len(tasks) >= FEWEST and is_alone():
            if self._works.is_there:
                from . import kept_kernels as kept_kernels  # once, not by each worker
            if self._works.start(tasks):
                self._elsewhere.update(tasks)

    def find(self, part: Part, taken: dict[str, str]) -> tuple[func.FuncOp, llvm.FuncOp] | None:
        """The declarations of a kernel that was lowered before, or elsewhere, and is submitted. `taken` are the names
        and texts of private symbols of the kernels before it, which are told apart by their names in the module as a
        whole."""
        kernel, kept = self._known.pop(part.name, None), None
        known = kernel is not None
        if part.name in self._elsewhere:
            kernel, kept = self._done(part)
        if kernel is None or any(taken.get(name, text) != text for name, text in kernel.private):
            return None
        taken.update(kernel.private)
        self.found += known
        key = self._keys.pop(part.name)
        self._submit(part.name, kernel.text)
        if not known and CHECKS not in kernel.declaration.attributes:
            LOWERED.put(key, kernel)
            self._to_shelf(key, kept)
        return kernel.declaration.clone(), kernel.linked.clone()

    def _done(self, part: Part) -> tuple[LoweredKernel | None, bytes | None]:
        """What another process has made of a kernel: the kernel, and what is kept of it on disk."""
        assert self._works is not None
        if (data := self._works.done(part.name)) is None:
            return None, None
        kernel, kept = pickle.loads(data)
        return received(kernel, part.function.location), kept

    def _lower(self, part: Part, through: Callable[[Part], None]) -> bytes | None:
        """Lower a kernel, for another process; nothing where that one has to do it."""
        told: list[Diagnostic] = []
        try:
            with handled_by(told.append), warnings.catch_warnings(record=True) as warned:
                through(part)
                if not isinstance(part.function, llvm.FuncOp) or not isinstance(part.placeholder, func.FuncOp):
                    return None
                linked, private = declared(part.function), _private(part)
                assert isinstance(linked, llvm.FuncOp)
                kernel = LoweredKernel(part.placeholder, linked, self._write(part.module), private)
                if told or warned:
                    return None
                return pickle.dumps((sent(kernel), self._for_shelf(kernel)))
        except Exception:  # it is raised again by the process that does it over
            return None

    def lowered(self, part: Part, linked: llvm.FuncOp, renamed: bool) -> None:
        """Note the declarations of a kernel that has been lowered; `written` follows. `renamed`: a private symbol was
        given another name, for the sake of other kernels."""
        key, declaration = self._keys.pop(part.name, None), part.placeholder
        if key is None or renamed or not isinstance(declaration, func.FuncOp) or CHECKS in declaration.attributes:
            return
        self._pending[part.name] = (key, declaration.clone(), linked.clone(), _private(part))

    def written(self, name: str, text: str) -> None:
        """Keep a kernel, whose LLVM IR is known by now."""
        if (known := self._pending.pop(name, None)) is not None:
            key, declaration, linked, private = known
            LOWERED.put(key, kernel := LoweredKernel(declaration, linked, text, private))
            self._to_shelf(key, self._for_shelf(kernel))

    def _from_shelf(self, key: str) -> LoweredKernel | None:
        if self._works is None or not self._works.is_there:
            return None
        from .kept_kernels import compiler_digest, decoded

        if (compiler := compiler_digest()) is None or (data := self._works.kept(_place(key, compiler))) is None:
            return None
        if (kernel := decoded(data)) is not None:
            LOWERED.put(key, kernel)
        return kernel

    def _for_shelf(self, kernel: LoweredKernel) -> bytes | None:
        """What is kept of a kernel on disk, if anything is."""
        if self._works is None or not self._works.is_there:
            return None
        from .kept_kernels import encoded

        return encoded(kernel)

    def _to_shelf(self, key: str, data: bytes | None) -> None:
        if self._works is None or data is None:
            return
        from .kept_kernels import compiler_digest

        if (compiler := compiler_digest()) is not None:
            self._works.keep(_place(key, compiler), data)


def _private(part: Part) -> tuple[tuple[str, str], ...]:
    """The private symbols of a kernel, each with its text, but for those that are its own by their names."""
    private = [op for op in part.module.ops if is_private(op) and not is_declaration(op)]
    names = ((symbol_name(op) or "", op) for op in private)
    return tuple((name, "" if name.startswith(f"{part.name}.") else str(op)) for name, op in names)


def _place(key: str, compiler: str) -> str:
    """The name under which a kernel is kept that a compiler has lowered."""
    return sha256(f"{key}\0{compiler}".encode()).hexdigest() + LOWERED_SUFFIX


def kernel_memo(
    target: Target,
    passes: str,
    submit: Callable[[str, str], None],
    finish: Callable[[], None],
    write: Callable[[ModuleOp], str],
    works: Works | None = None,
) -> KernelMemo | None:
    """The memo of a compilation by the current `PassContext`; none where every kernel is to be lowered.

    `passes` is the text of those that a kernel goes through, with their options.
    """
    context = PassContext.current()
    shown = {TUNING_RECORDS, RECORDS_THREADS, DATABASE}  # by the schedules that stand beside the functions
    config = sorted((name, repr(value)) for name, value in context.config.items() if name not in shown)
    if target.gpu is not None:
        return None  # what a host launches is not kept
    if context.instruments or remarks.listening() or outside_passes() or context.get_config(BOUNDS_CHECKS, False):
        return None
    if not FILES.isdisjoint(context.config) or context.config.get(ADD_LOWER_PASS):
        return None
    from ..transforms.tir.intrinsics.tensor_intrin import TensorIntrin

    rules = (
        str(target.resolved()),
        passes,
        context.opt_level,
        context.required_pass,
        context.disabled_pass,
        config,
        TensorIntrin.foreign(),
    )
    return KernelMemo(repr(rules), submit, finish, write, works)
