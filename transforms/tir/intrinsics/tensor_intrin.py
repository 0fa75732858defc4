"""`weft.tir.TensorIntrin`: pairs of functions, of which the second may take the place of what computes as the first.

    TensorIntrin.register("dot_16x4", desc, impl)
    schedule.tensorize(loop, "dot_16x4")

Calls of an implementation may be told how far apart the rows of a tile lie in the buffer that it is in: then it is made
anew for each place (`by_strides`).

Both are `tir.prim_func`s of the same buffers, such as `@T.prim_func` gives. Counterpart of TVM's `TensorIntrin`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from threading import Lock
from typing import ClassVar, TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from ....dialects.support.arguments import checked
from ....dialects.support.diagnostics import did_you_mean
from ....dialects.support.fingerprint import fingerprint
from ....dialects.support.forks import hold_over_forks
from ....dialects.support.verifier import verify
from ....dialects.tir.argument_scopes import GLOBAL, scopes_of_arguments
from ....dialects.tir.core import BlockOp, ForOp, PrimFuncOp, blocks_under
from ....dialects.tir.outer_blocks import dissolve
from . import dot_products, tensor_cores
from .tensor_cores import DENSE

Strides: TypeAlias = tuple[int, ...]
"""How many elements lie from one element to the next along each dimension."""

_NUMBERS = count()
_DOT_PRODUCTS = dot_products.texts()
_TENSOR_CORES = tensor_cores.texts()
_BUILT_IN = frozenset((*_DOT_PRODUCTS, *_TENSOR_CORES))
"""Those that are there without being registered, as text: they are read when they are first asked for."""


@dataclass(frozen=True)
class TensorIntrin:
    """A tensor intrinsic: `desc` says what it computes, one block in loops; `impl` computes that another way."""

    name: str
    desc: PrimFuncOp
    impl: PrimFuncOp
    by_strides: Callable[[Sequence[Strides]], PrimFuncOp] | None = None
    """Makes the implementation for tiles that lie so in their buffers, one entry for each of its own; refuses what it
    cannot be made for. Without it, tiles that calls are handed lie as a buffer of their own would."""
    scopes: tuple[str, ...] | None = None
    """The scope that each buffer is to have; `None` where any will do, as the functions say nothing of scopes."""

    _known: ClassVar[dict[str, TensorIntrin]] = {}
    _scoped: ClassVar[dict[str, TensorIntrin]] = {}
    _replaced: ClassVar[set[str]] = set()
    _lock: ClassVar[Lock] = Lock()

    @classmethod
    def register(cls, name: str, desc: PrimFuncOp, impl: PrimFuncOp, override: bool = False) -> TensorIntrin:
        """Make an intrinsic known by `name`.

        Raises:
            ValueError: the name is taken, and may not be given anew (`override`); the functions take other buffers; or
                `desc` is more than one block in loops.
            Diagnostic: a function does not verify.
        """
        return cls._register(cls.of(name, desc, impl), override)

    @classmethod
    def _register(cls, made: TensorIntrin, override: bool) -> TensorIntrin:
        name = made.name
        with cls._lock:
            if (name in cls._known or name in _BUILT_IN) and not override:
                raise ValueError(f"there is a tensor intrinsic {name} already; give override=True")
            cls._known[name] = made
            if name in _BUILT_IN:
                cls._replaced.add(name)
        return made

    @classmethod
    @checked
    def of(
        cls,
        name: str,
        desc: PrimFuncOp,
        impl: PrimFuncOp,
        by_strides: Callable[[Sequence[Strides]], PrimFuncOp] | None = None,
    ) -> TensorIntrin:
        """The intrinsic of two functions, without making it known.

        Raises:
            ValueError, Diagnostic: as `register` says.
        """
        desc, impl = desc.clone(), impl.clone()
        for func in (desc, impl):
            verify(ModuleOp([func.clone()]))
            if func.symbols:
                raise ValueError(f"@{func.sym_name.data} has symbols: an intrinsic's extents are known")
        dissolve(desc)
        if desc.function_type.inputs != impl.function_type.inputs:
            raise ValueError(f"the functions of {name} take other buffers: {desc.function_type}, {impl.function_type}")
        block_of(desc)
        if set(written(impl)) - set(written(desc)):
            raise ValueError(f"the implementation of {name} writes a buffer that is not to be written")
        return cls(name, desc, impl, by_strides, _scopes(name, desc, impl))

    @contextmanager
    def known(self) -> Generator[str]:
        """Let schedules know it meanwhile, by the name that this gives, which no other has."""
        with self._lock:
            name = f"{self.name}.{next(_NUMBERS)}"
            self._scoped[name] = self
        try:
            yield name
        finally:
            with self._lock:
                del self._scoped[name]

    def for_strides(self, strides: Sequence[Strides]) -> TensorIntrin:
        """The intrinsic with its implementation for tiles that lie so.

        Raises:
            ScheduleError: there is none.
        """
        assert self.by_strides is not None
        made = TensorIntrin.of(self.name, self.desc, self.by_strides(strides))
        return replace(self, impl=made.impl)

    @classmethod
    def foreign(cls) -> list[tuple[str, str, str]]:
        """Those that are not Weft's own, which schedules name, or which stand in place of its own, which its schedule
        rules use: names and what tells them apart."""
        with cls._lock:
            known = [
                each for name, each in sorted(cls._known.items()) if name not in _BUILT_IN or name in cls._replaced
            ]
        return [(each.name, fingerprint(each.desc), fingerprint(each.impl)) for each in known]

    @classmethod
    @checked
    def get(cls, name: str, allow_missing: bool = False) -> TensorIntrin | None:
        """The intrinsic of a name; `None` where there is none, if that may be.

        Raises:
            ValueError: there is none.
        """
        if name not in cls._known and name in _BUILT_IN:
            cls._register(cls._built_in(name), override=True)
            cls._replaced.discard(name)
        if (found := cls._known.get(name, cls._scoped.get(name))) is None and not allow_missing:
            hint = did_you_mean(name, [*cls._known, *_BUILT_IN])
            raise ValueError(f"there is no tensor intrinsic {name}" + (f"; {hint}" if hint else ""))
        return found

    @classmethod
    def _built_in(cls, name: str) -> TensorIntrin:
        if name in _DOT_PRODUCTS:
            desc, impl = _DOT_PRODUCTS[name]
            return cls.of(name, _read(desc), _read(impl))
        text = _TENSOR_CORES[name]
        made = cls.of(name, _read(text.desc), _read(text.impl(DENSE)), lambda strides: _read(text.impl(strides)))
        return replace(made, scopes=text.scopes)


def _read(text: str) -> PrimFuncOp:
    from ....dialects.tir.script.parser import from_source  # which takes long, and is seldom needed

    func = from_source(text)
    assert isinstance(func, PrimFuncOp)
    return func


hold_over_forks(TensorIntrin._lock)  # pyright: ignore[reportPrivateUsage]


def description(module: str, name: str, intrinsics: Mapping[str, str]) -> PrimFuncOp:
    """What the intrinsic computes that has its description under `name` in a module; read when it is asked for.

    Raises:
        AttributeError: the module has no such name.
    """
    if name not in intrinsics:
        raise AttributeError(f"module '{module}' has no attribute '{name}'")
    found = TensorIntrin.get(intrinsics[name])
    assert found is not None
    return found.desc


def _scopes(name: str, desc: PrimFuncOp, impl: PrimFuncOp) -> tuple[str, ...] | None:
    """The scopes of an intrinsic's buffers, if its functions say something of them.

    Raises:
        ValueError: they say different things.
    """
    if (told := scopes_of_arguments(desc)) != scopes_of_arguments(impl):
        raise ValueError(f"the functions of {name} take buffers of other scopes")
    if not told:
        return None
    return (*told, *(GLOBAL for _ in desc.region.block.args[len(told) :]))


def written(func: PrimFuncOp) -> list[int]:
    """The arguments that a function writes, by number."""
    arguments: list[SSAValue] = list(func.region.block.args)
    return [arguments.index(v) for block in blocks_under(func) for v in block.writes if v in arguments]


def block_of(func: PrimFuncOp) -> BlockOp:
    """The block of a function that is one block in loops.

    Raises:
        ValueError: it is something else.
    """
    ops = list(func.region.block.ops)
    while len(ops) == 1 and isinstance(loop := ops[0], ForOp):
        ops = list(loop.body.block.ops)
    if len(ops) != 1 or not isinstance(block := ops[0], BlockOp):
        raise ValueError(f"@{func.sym_name.data} describes no intrinsic: it is more than one block in loops")
    return block
