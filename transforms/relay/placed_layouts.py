"""Operators in the layouts that they name: in which forms their operands and results stand.

What a rule of a user makes (`layout_rules.py`) is put in its place here: operands that are an operator's own are
brought into the layouts that the new operator names, in terms of how the axes of the old ones are called; all others
are plain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...dialects.relay.base import Pointwise, RelayOp, leaf_types, shape_of, shape_text, tensor
from ...dialects.relay.layout import LayoutTransformOp, parse_layout
from ...dialects.relay.ops.nn.convolution_base import ConvolutionBase
from ...dialects.relay.reordering import Form, Inner, Reordered, is_split, order_of, shape_in
from ...dialects.support.diagnostics import Diagnostic
from .reordered_values import ReorderedValues, identity


def layouts_of(op: RelayOp) -> list[str]:
    """The layouts of an operator's first operands."""
    return [cast(StringAttr, op.properties[name]).data for name in op.LAYOUTS[: len(op.operands)]]


def result_layout(op: RelayOp) -> str:
    """The layout of an operator's result, which has `LAYOUTS`."""
    if isinstance(op, ConvolutionBase):
        return op.layouts()[2].text
    out = op.properties.get("out_layout")
    return out.data if isinstance(out, StringAttr) and out.data else layouts_of(op)[0]


def form_in(op: Operation, text: str, names: Sequence[str]) -> Form:
    """The form that the layout `text` is of a tensor whose axes are called `names`.

    Raises:
        Diagnostic: it is no layout of these axes.
    """
    try:
        layout = parse_layout(text)
    except VerifyException as error:
        raise Diagnostic.at(op, str(error)) from None
    if sorted(layout.letters) != sorted(names):
        raise Diagnostic.at(op, f"the layout {text} is not an order of the axes of {''.join(names)}")
    return tuple(
        Inner(names.index(axis.name.upper()), axis.factor) if axis.factor else names.index(axis.name)
        for axis in layout.axes
    )


def reblocked(op: RelayOp, form: Form) -> Reordered | None:
    """What an operator is on operands in a form, blocks or none."""
    return op.reblocked(form) if is_split(form) else op.reordered(order_of(form))


def check_forms(op: RelayOp, new: RelayOp, forms: Sequence[Form]) -> None:
    """
    Raises:
        VerifyException: what `new` gives is not what `op` does, in these forms.
    """
    types = leaf_types([result.type for result in op.results])
    made = leaf_types([result.type for result in new.results])
    for old, type, form in zip(types, made, forms, strict=True):
        if is_split(form) and shape_in(form, shape_of(old)) != shape_of(type):
            raise VerifyException(f"{shape_text(shape_of(old))} is not made of whole blocks")


@dataclass
class PlacedRule:
    """What a rule makes in the place of `op`, while it is put there; `known` are the values of what stands in it."""

    values: ReorderedValues
    op: RelayOp
    known: dict[SSAValue, SSAValue]
    forms: dict[SSAValue, Form] = field(default_factory=dict[SSAValue, Form])
    """In which form a value stands that a made operator gives, in terms of the axes of what the old one does."""
    texts: dict[SSAValue, str] = field(default_factory=dict[SSAValue, str])
    """The layout of what a made operator gives, where that of the old one's result has blocks."""

    @cached_property
    def blocked(self) -> dict[SSAValue, str]:
        """The operands of the old operator that stood in blocks before, and in which layouts."""
        named = zip(self.op.operands, layouts_of(self.op), strict=False)
        return {value: text for value, text in named if parse_layout(text).is_blocked}

    @cached_property
    def blocked_result(self) -> str | None:
        """The layout of the old operator's result, if that has blocks."""
        text = result_layout(self.op) if self.op.LAYOUTS else ""
        return text if text and parse_layout(text).is_blocked else None

    def place(self, made: Operation) -> None:
        """Put an operation of the rule before the old one, on the operands that it names the layouts of.

        Raises:
            Diagnostic: they cannot be brought into these, or it cannot be computed from them.
        """
        if not isinstance(made, RelayOp):
            new: Operation = made.clone({value: self._plain(value) for value in made.operands})
            self.values.insert(new, self.op)
            self.known.update(zip(made.results, new.results, strict=True))
            return
        texts = layouts_of(made)
        operands = [
            self._in_layout(value, texts[index]) if index < len(texts) else self._plain(value)
            for index, value in enumerate(made.operands)
        ]
        try:
            new = type(made)(*operands, **made.properties)
        except VerifyException as error:
            raise Diagnostic.at(self.op, f"the rule for its layouts makes {made.name}, which {error}") from None
        self.values.insert(new, self.op)
        self.known.update(zip(made.results, new.results, strict=True))
        self._say_form(new)

    def result(self, value: SSAValue) -> tuple[SSAValue, Form]:
        """What stands for the result of the old operator, and in which form.

        Raises:
            Diagnostic: it is of another shape or type.
        """
        made, old = self.known.get(value, value), self.op.results[0]
        if (text := self.blocked_result) is not None and self.texts.get(made, text) != text:
            made = self._relaid(made, self.texts[made], text)
        wanted_type: Attribute = old.type
        if not isinstance(wanted_type, TensorType):
            form, right = identity(0), made.type == wanted_type
        else:
            form = self.forms.get(made, identity(len(shape_of(old))))
            wanted = shape_in(form, shape_of(old))
            right = wanted is not None and made.type == TensorType(tensor(old).element_type, wanted)
        if not right:
            raise Diagnostic.at(self.op, f"the rule for its layouts gives {made.type} for {wanted_type}")
        return made, form

    def _relaid(self, value: SSAValue, source: str, target: str) -> SSAValue:
        """A value brought from one layout with blocks to another."""
        try:
            made = LayoutTransformOp(value, src_layout=source, dst_layout=target)
        except VerifyException as error:
            raise Diagnostic.at(self.op, f"the rule for its layouts wants {target} of {source}: {error}") from None
        return self.values.insert(made, self.op)

    def _plain(self, value: SSAValue) -> SSAValue:
        return self.values.plain(self.known.get(value, value), self.op)

    def _in_layout(self, value: SSAValue, text: str) -> SSAValue:
        own = self.known.get(value, value)
        if own in self.blocked:
            plain = self.values.plain(own, self.op)
            return plain if self.blocked[own] == text else self._relaid(plain, self.blocked[own], text)
        if own in self.forms or not self.values.has_names(own):
            return self.values.plain(own, self.op)
        form = form_in(self.op, text, self.values.letters(own))
        if shape_in(form, shape_of(own)) is None:
            found = shape_text(shape_of(own))
            raise Diagnostic.at(self.op, f"the rule for its layouts wants {text} of {found}, which is no whole blocks")
        return self.values.get(own, form, self.op)

    def _say_form(self, new: RelayOp) -> None:
        """Note how the axes of a made operator's result stand, or are called."""
        result = new.results[0]
        if new.LAYOUTS and self.blocked_result is not None:
            self.texts[result] = result_layout(new)
        elif new.LAYOUTS:
            self.forms[result] = form_in(new, result_layout(new), self.values.letters(self.op.results[0]))
        elif new.has_trait(Pointwise):
            rank = len(shape_of(result))
            for value in new.operands:
                if value in self.blocked and len(shape_of(value)) == rank:
                    self.blocked[result] = self.blocked[value]
                elif value in self.forms and len(self.forms[value]) == rank:
                    self.forms[result] = self.forms[value]
                elif self.values.has_names(value) and len(shape_of(value)) == rank:
                    self.values.name_axes(result, self.values.letters(value))
