"""Exported models, called as programs in C call them."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import weft

NDArray = npt.NDArray[Any]
BEHIND = 1 << 16
"""Bytes behind a workspace that nobody may write."""


class Tensor(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p), ("dtype", ctypes.c_char_p), ("rank", ctypes.c_size_t),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("bytes", ctypes.c_size_t),
    ]  # fmt: skip


class Model(ctypes.Structure):
    """`weft_model`, as the header has it."""

    _fields_ = [
        ("name", ctypes.c_char_p), ("machine", ctypes.c_char_p),
        ("num_inputs", ctypes.c_size_t), ("inputs", ctypes.POINTER(Tensor)),
        ("num_outputs", ctypes.c_size_t), ("outputs", ctypes.POINTER(Tensor)),
        ("workspace_bytes", ctypes.c_size_t), ("allocate", ctypes.CFUNCTYPE(ctypes.c_void_p)),
        ("run", ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 3, ctypes.c_int64)),
        ("message", ctypes.CFUNCTYPE(
            ctypes.c_size_t, ctypes.c_int64, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
        )),
        ("measure", ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 4)),
        ("run_at", ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 5, ctypes.c_int64)),
    ]  # fmt: skip


class Refused(Exception):
    """What a library says of a call."""


class Library:
    """An exported model, called as C programs call it."""

    def __init__(self, exe: weft.Executable, path: Path):
        exe.export_library(path)
        made = getattr(ctypes.CDLL(str(path)), f"{path.stem}_model")
        made.restype = ctypes.POINTER(Model)
        self.model = made().contents

    def __call__(self, *arrays: NDArray, threads: int = 1) -> list[NDArray]:
        model, words = self.model, [words_of(array.shape) for array in arrays]
        shapes, ins = table(words), table(arrays)
        found = [np.full(max(1, model.outputs[n].rank), -9, np.int64) for n in range(model.num_outputs)]
        bytes = ctypes.c_size_t()
        self.see(model.measure(shapes, ins, table(found), ctypes.byref(bytes)), None)
        given = [self._empty(n, shape) for n, shape in enumerate(found)]
        outs = table(given)
        room = np.full(bytes.value + 64 + BEHIND, 0x5A, np.uint8)
        workspace = room.ctypes.data + -room.ctypes.data % 64
        self.see(model.run_at(shapes, ins, table(found), outs, workspace, threads), workspace)
        assert (room[workspace - room.ctypes.data + bytes.value :] == 0x5A).all(), "it writes behind its workspace"
        return [self._taken(n, array, outs[n], found[n]) for n, array in enumerate(given)]

    def see(self, status: int, workspace: int | None) -> None:
        if status:
            text = ctypes.create_string_buffer(300)
            self.model.message(status, workspace, text, 300)
            raise Refused(text.value.decode())

    def _dtype(self, number: int) -> Any:
        return np.dtype(self.model.outputs[number].dtype.decode())

    def _empty(self, number: int, shape: NDArray) -> NDArray:
        shape = shape[: self.model.outputs[number].rank]
        return np.empty(0 if -1 in shape else shape, self._dtype(number))

    def _taken(self, number: int, given: NDArray, place: int, shape: NDArray) -> NDArray:
        shape, dtype = shape[: self.model.outputs[number].rank], self._dtype(number)
        count = int(np.prod(shape))
        if place == given.ctypes.data:
            return given.reshape(-1)[:count].reshape(shape)
        held = (ctypes.c_char * (count * dtype.itemsize)).from_address(place)
        array = np.frombuffer(held, dtype).reshape(shape).copy()
        free = ctypes.CDLL(None).free
        free.argtypes = [ctypes.c_void_p]
        free(place)
        return array


def words_of(shape: Sequence[int]) -> NDArray:
    return np.array(shape or (0,), np.int64)


def table(arrays: Sequence[NDArray]) -> Any:
    """Addresses, as C has them."""
    return (ctypes.c_void_p * max(1, len(arrays)))(*(array.ctypes.data for array in arrays))


def check(exe: weft.Executable, library: Library, *arrays: NDArray) -> None:
    wanted = exe(*arrays)
    for threads in (1, 2):
        got = library(*arrays, threads=threads)
        for one, other in zip(got, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
            np.testing.assert_array_equal(one, other)
