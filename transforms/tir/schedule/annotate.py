"""`annotate` and `unannotate`: words on a loop or block for whoever reads them. They change nothing by themselves.
Those on the root block are its function's. A word may be said again, of the same value.

Before -> after `annotate(loop, "pragma_unroll", 4)`:

```mlir
tir.prim_func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block @copy(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}
```

```mlir
tir.prim_func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 annotations {pragma_unroll = 4 : i64} {
    tir.block @copy(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}
```
"""

from __future__ import annotations

from typing import TypeAlias

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from ....dialects.tir.annotation_keys import verify_annotations
from ....dialects.tir.core import BlockOp, ForOp, OuterBlockOp, PrimFuncOp
from ....dialects.tir.legality.loops import check_kind
from ....dialects.tir.loops import INDEPENDENT
from .checks import check_live
from .errors import ScheduleError

Annotated: TypeAlias = BlockOp | OuterBlockOp | ForOp | PrimFuncOp
"""What carries words: blocks, the root block among them, and loops."""


def annotations_of(op: Annotated) -> dict[str, Attribute]:
    """The words on a loop or block."""
    if not isinstance(op, ForOp):
        return dict(op.attributes)
    return {} if op.annotations is None else dict(op.annotations.data)


def check_annotate(op: Annotated, key: str, value: Attribute) -> None:
    """Whether `op` can carry a word.

    Raises:
        ScheduleError: it has that word with another value, or the word has other values, or it stands in no function
            any more.
    """
    if not isinstance(op, PrimFuncOp):
        check_live(op)
    if annotations_of(op).get(key, value) != value:
        raise ScheduleError.at(op, f"has the annotation '{key}' already, of another value", hint="unannotate it first")
    try:
        verify_annotations({key: value})
    except VerifyException as error:
        raise ScheduleError.at(op, str(error)) from None


def annotate(op: Annotated, key: str, value: Attribute) -> None:
    """Put a word on a loop or block. Counterpart of TVM's `annotate`.

    Raises:
        ScheduleError: as `check_annotate` says.
    """
    check_annotate(op, key, value)
    _set(op, {**annotations_of(op), key: value})


def check_unannotate(op: Annotated, key: str) -> None:
    """Whether `op` can lose a word.

    Raises:
        ScheduleError: it has no such word, stands in no function any more, or is a loop that may run as its kind says
            only because the word asserts it.
    """
    if not isinstance(op, PrimFuncOp):
        check_live(op)
    if key not in annotations_of(op):
        raise ScheduleError.at(op, f"has no annotation '{key}'")
    if isinstance(op, ForOp) and op.is_independent and key == INDEPENDENT:
        words = annotations_of(op)
        _set(op, _without(words, key))
        wrong = next((finding for finding in check_kind(op, op.for_kind) if finding.certain), None)
        _set(op, words)
        if wrong is not None:
            raise ScheduleError.at(wrong.op, wrong.message, hint="let the loop be serial first")


def unannotate(op: Annotated, key: str) -> None:
    """Take a word from a loop or block. Counterpart of TVM's `unannotate`.

    Raises:
        ScheduleError: as `check_unannotate` says.
    """
    check_unannotate(op, key)
    _set(op, _without(annotations_of(op), key))


def _without(words: dict[str, Attribute], key: str) -> dict[str, Attribute]:
    return {name: value for name, value in words.items() if name != key}


def _set(op: Annotated, words: dict[str, Attribute]) -> None:
    if not isinstance(op, ForOp):
        op.attributes = words
    elif words:
        op.properties["annotations"] = DictionaryAttr(words)
    else:
        op.properties.pop("annotations", None)
