"""Values whose axes stand in another form: which ones there are, and how one gets a value in the form that it needs.

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
from xdsl.utils.exceptions import VerifyException

from ...dialects.relay.base import shape_of, shape_text
from ...dialects.relay.core import TupleGetOp, TupleOp
from ...dialects.relay.layout import LayoutTransformOp
from ...dialects.relay.ops.transform import ExpandDimsOp
from ...dialects.relay.reordering import Form, Order, fitted, form_text, is_split, order_of, shape_in

Forms: TypeAlias = tuple[Form, ...]
"""One form; for a tuple one for each field."""

LETTERS = "ABCDEFGHIJ"
"""The names of axes that no operator has named."""


def identity(rank: int) -> Order:
    """The order in which nothing moves."""
    return tuple(range(rank))


@dataclass
class ReorderedValues:
    """The values of one block, by the original value."""

    _main: dict[SSAValue, tuple[SSAValue, Forms]] = field(default_factory=dict[SSAValue, "tuple[SSAValue, Forms]"])
    _forms: dict[tuple[SSAValue, Form], SSAValue] = field(default_factory=dict["tuple[SSAValue, Form]", SSAValue])
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

    def orders(self, value: SSAValue) -> Forms:
        """The order, for a tuple those of the fields, in which an original value is computed."""
        return self._main[value][1]

    def order(self, value: SSAValue) -> Form:
        """The order in which a tensor of the original graph is computed."""
        return self._main[value][1][0] if value in self._main else identity(len(shape_of(value)))

    def computed(self, value: SSAValue) -> SSAValue:
        """What computes an original value, in its order."""
        return self._main[value][0] if value in self._main else value

    def assign(self, value: SSAValue, computed: SSAValue, orders: Sequence[Form]) -> None:
        """Say that the original `value` is now computed as `computed`."""
        self._main[value] = (computed, tuple(orders))
        if computed.name_hint is None:
            computed.name_hint = value.name_hint

    def add_form(self, value: SSAValue, order: Form, form: SSAValue) -> None:
        """Say that `form` is the original `value` in another order."""
        self._forms.setdefault((value, order), form)

    def insert(self, new: Operation, at: Operation) -> SSAValue:
        """Put an operation before `at`, with its location; return its result."""
        block = at.parent
        assert block is not None
        block.insert_op_before(new, at)
        new.location = at.location
        return new.results[0]

    def get(self, value: SSAValue, order: Form, at: Operation) -> SSAValue:
        """The original tensor `value` with its axes in `order`, for use in `at` or after it."""
        main, current = self.computed(value), self.order(value)
        if current == order:
            return main
        if (value, order) not in self._forms:
            self._forms[value, order] = self.transform(main, self.letters(value), current, order, at)
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
            plain = identity(len(order_of(order)))
            letters = self.letters(value, len(plain))
            fields.append(part if order == plain else self.transform(part, letters, order, plain, at))
        return self.insert(TupleOp(*fields), at)

    def fit(self, value: SSAValue, order: Form, letters: str, at: Operation) -> SSAValue:
        """The original `value` as it broadcasts against a tensor whose axes, called `letters`, are in `order`.

        Raises:
            VerifyException: blocks of that do not divide it.
        """
        shape, rank = shape_of(value), len(letters)
        if len(shape) == rank and (self.is_reordered(value) or any(n != 1 for n in shape)):
            self.name_axes(value, letters)
            return self.get(value, _whole(order, shape), at)
        plain = self.plain(value, at)
        if (all(n == 1 for n in shape) and len(shape) <= rank) or order == identity(rank):
            return plain
        wide = (1,) * (rank - len(shape)) + tuple(shape)
        form = _whole(order, wide)
        if len(shape) < rank:
            plain = self.insert(ExpandDimsOp(plain, axis=0, num_newaxis=rank - len(shape)), at)
        return self.transform(plain, letters, identity(rank), form, at)

    def transform(self, value: SSAValue, letters: str, source: Form, target: Form, at: Operation) -> SSAValue:
        """A value whose axes are called `letters`, brought from one form into another before `at`."""
        texts = [form_text(form, letters) for form in (source, target)]
        return self.insert(LayoutTransformOp(value, src_layout=texts[0], dst_layout=texts[1]), at)


def _whole(form: Form, shape: Sequence[int]) -> Form:
    """The form in which a tensor of `shape` broadcasts against one in `form`."""
    if not is_split(form):
        return form
    if shape_in(fit := fitted(form, shape), shape) is None:
        raise VerifyException(f"blocks do not divide {shape_text(shape)}")
    return fit
