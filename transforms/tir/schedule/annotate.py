"""`annotate` and `unannotate`: words on a loop or block for whoever reads them. They change nothing by themselves.

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

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Attribute

from ....dialects.tir.core import BlockOp, ForOp, OuterBlockOp
from .checks import check_live
from .errors import ScheduleError


def annotations_of(op: BlockOp | OuterBlockOp | ForOp) -> dict[str, Attribute]:
    """The words on a loop or block."""
    if isinstance(op, BlockOp | OuterBlockOp):
        return dict(op.attributes)
    return {} if op.annotations is None else dict(op.annotations.data)


def check_annotate(op: BlockOp | OuterBlockOp | ForOp, key: str) -> None:
    """Whether `op` can carry a word.

    Raises:
        ScheduleError: it has that word, or stands in no function any more.
    """
    check_live(op)
    if key in annotations_of(op):
        raise ScheduleError.at(op, f"has the annotation '{key}' already", hint="unannotate it first")


def annotate(op: BlockOp | OuterBlockOp | ForOp, key: str, value: Attribute) -> None:
    """Put a word on a loop or block. Counterpart of TVM's `annotate`.

    Raises:
        ScheduleError: as `check_annotate` says.
    """
    check_annotate(op, key)
    _set(op, {**annotations_of(op), key: value})


def check_unannotate(op: BlockOp | OuterBlockOp | ForOp, key: str) -> None:
    """Whether `op` can lose a word.

    Raises:
        ScheduleError: it has no such word, or stands in no function any more.
    """
    check_live(op)
    if key not in annotations_of(op):
        raise ScheduleError.at(op, f"has no annotation '{key}'")


def unannotate(op: BlockOp | OuterBlockOp | ForOp, key: str) -> None:
    """Take a word from a loop or block. Counterpart of TVM's `unannotate`.

    Raises:
        ScheduleError: as `check_unannotate` says.
    """
    check_unannotate(op, key)
    _set(op, {name: value for name, value in annotations_of(op).items() if name != key})


def _set(op: BlockOp | OuterBlockOp | ForOp, words: dict[str, Attribute]) -> None:
    if isinstance(op, BlockOp | OuterBlockOp):
        op.attributes = words
    elif words:
        op.properties["annotations"] = DictionaryAttr(words)
    else:
        op.properties.pop("annotations", None)
