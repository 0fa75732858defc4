"""Values whose axes stand in another order: which ones there are, and how one gets a value in the order that it needs.

While `convert-layout` walks over a block, every value of the original graph is looked up here. It has its axes as they
were, or has been computed with them in another order by the operator that took the original one's place. Whoever needs
it otherwise asks, and gets one `layout_transform`, the same for all who ask. A transposed value is the value that it is
made of, in another order: so a transpose that undoes a conversion goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.ir import Operation, SSAValue

from ...dialects.relay.base import shape_of
from ...dialects.relay.core import TupleGetOp, TupleOp
from ...dialects.relay.layout import LayoutTransformOp
from ...dialects.relay.ops.transform import ExpandDimsOp
from ...dialects.relay.reordering import Order

Orders: TypeAlias = tuple[Order, ...]
"""One order; for a tuple one for each field."""

LETTERS = "ABCDEFGHIJ"
"""The names of axes that no operator has named."""


def identity(rank: int) -> Order:
    """The order in which nothing moves."""
    return tuple(range(rank))


@dataclass
class ReorderedValues:
    """The values of one block, by the original value."""

    _main: dict[SSAValue, tuple[SSAValue, Orders]] = field(default_factory=dict[SSAValue, "tuple[SSAValue, Orders]"])
    _forms: dict[tuple[SSAValue, Order], SSAValue] = field(default_factory=dict["tuple[SSAValue, Order]", SSAValue])
    _letters: dict[SSAValue, str] = field(default_factory=dict[SSAValue, str])
    replaced: list[Operation] = field(default_factory=list[Operation])
    """Operations of the original graph whose place has been taken."""
    transposed: dict[SSAValue, bool] = field(default_factory=dict[SSAValue, bool])
    """The transposed values that stay for those who need them so, and whether anybody did at first."""

    def name_axes(self, value: SSAValue, letters: str) -> None:
        """Say how the axes of an original value are called, where that is not known yet."""
        self._letters.setdefault(value, letters)

    def letters(self, value: SSAValue, rank: int | None = None) -> str:
        """How the axes of an original value are called; of a tuple, those of its fields of that rank."""
        rank = len(shape_of(value)) if rank is None else rank
        known = self._letters.get(value, "")
        return known if len(known) == rank else LETTERS[:rank]

    def has_names(self, value: SSAValue) -> bool:
        return value in self._letters

    def is_reordered(self, value: SSAValue) -> bool:
        """Whether the original `value`, or a field of it, is computed with its axes in another order."""
        return value in self._main

    def orders(self, value: SSAValue) -> Orders:
        """The order, for a tuple those of the fields, in which an original value is computed."""
        return self._main[value][1]

    def order(self, value: SSAValue) -> Order:
        """The order in which a tensor of the original graph is computed."""
        return self._main[value][1][0] if value in self._main else identity(len(shape_of(value)))

    def computed(self, value: SSAValue) -> SSAValue:
        """What computes an original value, in its order."""
        return self._main[value][0] if value in self._main else value

    def assign(self, value: SSAValue, computed: SSAValue, orders: Sequence[Order]) -> None:
        """Say that the original `value` is now computed as `computed`."""
        self._main[value] = (computed, tuple(orders))
        if computed.name_hint is None:
            computed.name_hint = value.name_hint

    def add_form(self, value: SSAValue, order: Order, form: SSAValue) -> None:
        """Say that `form` is the original `value` in another order."""
        self._forms.setdefault((value, order), form)

    def insert(self, new: Operation, at: Operation) -> SSAValue:
        """Put an operation before `at`, with its location; return its result."""
        block = at.parent
        assert block is not None
        block.insert_op_before(new, at)
        new.location = at.location
        return new.results[0]

    def get(self, value: SSAValue, order: Order, at: Operation) -> SSAValue:
        """The original tensor `value` with its axes in `order`, for use in `at` or after it."""
        main, current = self.computed(value), self.order(value)
        if current == order:
            return main
        if (value, order) not in self._forms:
            self._forms[value, order] = self._transform(main, self.letters(value), current, order, at)
        return self._forms[value, order]

    def plain(self, value: SSAValue, at: Operation) -> SSAValue:
        """The original `value` as it was, also a tuple."""
        if value not in self._main:
            return value
        if isinstance(value.type, TensorType):
            return self.get(value, identity(len(shape_of(value))), at)
        assert isinstance(value.type, TupleType)
        main, orders = self._main[value]
        fields: list[SSAValue] = []
        for index, order in enumerate(orders):
            part = self.insert(TupleGetOp(main, index), at)
            plain = identity(len(order))
            letters = self.letters(value, len(order))
            fields.append(part if order == plain else self._transform(part, letters, order, plain, at))
        return self.insert(TupleOp(*fields), at)

    def fit(self, value: SSAValue, order: Order, letters: str, at: Operation) -> SSAValue:
        """The original `value` as it broadcasts against a tensor whose axes, called `letters`, are in `order`."""
        shape = shape_of(value)
        if len(shape) == len(order) and (self.is_reordered(value) or any(n != 1 for n in shape)):
            self.name_axes(value, letters)
            return self.get(value, order, at)
        plain = self.plain(value, at)
        if all(n == 1 for n in shape):
            return plain
        wide = self.insert(ExpandDimsOp(plain, axis=0, num_newaxis=len(order) - len(shape)), at)
        return self._transform(wide, letters, identity(len(order)), order, at)

    def _transform(self, value: SSAValue, letters: str, source: Order, target: Order, at: Operation) -> SSAValue:
        texts = ["".join(letters[axis] for axis in order) for order in (source, target)]
        return self.insert(LayoutTransformOp(value, src_layout=texts[0], dst_layout=texts[1]), at)
