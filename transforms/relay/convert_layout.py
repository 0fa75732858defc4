"""Compute operators in the layouts that are wanted of them, and what stands between them too.

    // convert-layout{desired-layouts="nn.conv2d:NCHW"}
    %1 = relay.nn.conv2d %x, %w {NHWC, HWIO}        %x1 = relay.layout_transform %x {NHWC -> NCHW}
    %2 = relay.add %1, %b                           %w1 = relay.layout_transform %w {HWIO -> OIHW}
    %3 = relay.nn.relu %2                     ->    %1 = relay.nn.conv2d %x1, %w1
    relay.return %3                                 %b1 = relay.layout_transform (relay.expand_dims %b) {NHWC -> NCHW}
                                                    %2 = relay.add %1, %b1
                                                    %3 = relay.nn.relu %2
                                                    %y = relay.layout_transform %3 {NCHW -> NHWC}
                                                    relay.return %y

Each operator's class says which properties name its layouts (`LAYOUTS`), and what it is where its operand's axes stand
in another order (`reordered`): pools, reductions, concatenation, padding, norms and all arithmetic go along. All else
gets its operands as they were. A transformation is made where producer and consumer differ, once for each value and
order (`reordered_values.py`); a transpose of the graph that undoes one goes with it. `fold-constant` should follow, for
the weights.

One walk forward, as in TVM: what follows an operator takes over its order, what stands before it does not.

Layouts may hold parts of axes as dimensions (`nn.conv2d:NCHW16c:OIHW16i16o`). What follows is computed so where its
class says how (`reblocked`) and the blocks divide what it reads and gives; an operator whose channels they do not
divide stays as it is. A rule that is registered (`layout_rules.py`) says itself what becomes of an operator.

Counterpart of TVM's `ConvertLayout`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

from xdsl.context import Context
from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...dialects.relay.base import Pointwise, RelayOp, Value, shape_of
from ...dialects.relay.core import FuncOp, TupleGetOp, TupleOp
from ...dialects.relay.interpreter import free_values
from ...dialects.relay.layout import LayoutTransformOp, parse_layout
from ...dialects.relay.ops.nn.convolution import Conv2dNCHWcOp, Conv2dOp, DepthwiseConv2dNCHWcOp
from ...dialects.relay.ops.nn.norm import BatchNormOp
from ...dialects.relay.ops.qnn.arithmetic import QnnConcatenateOp
from ...dialects.relay.ops.slicing import ConcatenateOp
from ...dialects.relay.ops.transform import TransposeOp
from ...dialects.relay.reordering import Form, Inner, Order, Reordered, is_split, order_of, shape_in
from ...dialects.support.arguments import refusal, rule_of
from ...dialects.support.diagnostics import Diagnostic
from ..infra import FunctionPass, remarks, report_changed
from ..infra.walk import walk
from .emitter import Emitter
from .layout_rules import LayoutEmitter, discard, skipped_layers
from .op_rules import CONVERT, Rule, rules_named
from .placed_layouts import PlacedRule, check_forms, form_in, layouts_of, reblocked, result_layout
from .reordered_values import ReorderedValues, identity
from .simplify_inference import by_statistics

NAME = "convert-layout"
DEFAULT = "default"


@dataclass(frozen=True)
class ConvertLayoutPass(FunctionPass):
    """Options: `desired-layouts` gives for each operator the layouts of its operands, `nn.conv2d:NCHW:OIHW`; that of
    the kernel may be left out, or `default`. In Python, a dictionary does: `{"nn.conv2d": ["NCHW", "default"]}`.
    `skip-layers` are the numbers of operators that stay, counted among those to be converted."""

    name = NAME
    opt_level: ClassVar[int] = 3
    required: ClassVar[tuple[str, ...]] = ("infer-type", "canonicalize-ops")
    tvm_name: ClassVar[str | None] = "ConvertLayout"

    desired_layouts: tuple[str, ...] = ()
    skip_layers: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        given = cast("object", self.desired_layouts)
        if isinstance(given, Mapping):
            rule = rule_of(Mapping[str, str | Sequence[str]])
            if not rule.fits(cast("object", given)):
                raise refusal(f"the option 'desired-layouts' of {NAME}", rule, cast("object", given))
            pairs = cast("Mapping[str, Iterable[str]]", given).items()
            lists = {name: [layouts] if isinstance(layouts, str) else layouts for name, layouts in pairs}
            texts = tuple(":".join((name, *layouts)) for name, layouts in lists.items())
            object.__setattr__(self, "desired_layouts", texts)
        super().__post_init__()
        self.by_name()

    def by_name(self) -> dict[str, list[str]]:
        """The layouts by the name of the operator.

        Raises:
            ValueError: an operator is given no layout for its data.
        """
        wanted: dict[str, list[str]] = {}
        for text in self.desired_layouts:
            name, *layouts = (part.strip() for part in text.split(":"))
            if not layouts or layouts[0] in ("", DEFAULT):
                raise ValueError(f"the option 'desired-layouts' gives {name} no layout of its data: '{text}'")
            wanted[name.removeprefix("relay.")] = layouts
        return wanted

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        skipped = frozenset((*self.skip_layers, *skipped_layers()))
        converter = LayoutConverter(self.by_name(), skipped, rules_named(CONVERT))
        for block in [block for op in walk(func) for region in op.regions for block in region.blocks]:
            converter.run(block)
        report_changed(converter.changed)


class LayoutConverter:
    """The walk over the blocks of one function."""

    def __init__(
        self,
        wanted: Mapping[str, list[str]] | None,
        skipped: frozenset[int] = frozenset(),
        rules: Mapping[type[RelayOp], Rule] | None = None,
    ):
        """Of the operators named in `wanted`; without it, of those that there are rules for."""
        self.wanted = wanted
        self.skipped = skipped
        self.rules = rules or {}
        self.seen = 0
        self.changed = False
        self.values = ReorderedValues()

    def new_values(self) -> ReorderedValues:
        """What values there are before the walk over a block."""
        return ReorderedValues()

    def run(self, block: Block) -> None:
        self.values = self.new_values()
        for op in list(block.ops):
            self.step(op)
        self.changed |= bool(self.values.replaced)
        for op in reversed(self.values.replaced):
            op.detach()
            op.erase()
        for value, used in self.values.transposed.items():
            if used and value.first_use is None and isinstance(op := value.owner, Operation):
                op.detach()
                op.erase()

    def step(self, op: Operation) -> None:
        """Put into an operation's place what computes it, or give it its operands as they were."""
        if isinstance(op, RelayOp) and self._is_asked(op) and not self._skips():
            if (rule := self.rules.get(type(op))) is not None:
                if self._by_rule(op, rule):
                    return
            else:
                self._convert(op)
                return
        if not self.follows(op):
            self.restore(op)

    def _is_asked(self, op: RelayOp) -> bool:
        return type(op) in self.rules if self.wanted is None else op.name.removeprefix("relay.") in self.wanted

    def _by_rule(self, op: RelayOp, rule: Rule) -> bool:
        """Let a rule say what is in the place of an operator; return whether it said anything."""
        emit = LayoutEmitter(op)
        wanted = () if self.wanted is None else tuple(self.wanted[op.name.removeprefix("relay.")])
        value = rule(op, wanted, emit)
        if value is None:
            discard(emit.ops)
            return False
        self._name_axes(op)
        placed = PlacedRule(self.values, op, dict(zip(emit.operands, op.operands, strict=True)))
        for made in emit.ops:
            placed.place(made)
        result, form = placed.result(value)
        discard(emit.ops)
        self.values.assign(op.results[0], result, [form])
        self.values.replaced.append(op)
        remarks.passed(NAME, op, "a rule says how it is computed")
        return True

    def _name_axes(self, op: RelayOp) -> None:
        """Say how the axes of what an operator reads and gives are called."""
        texts = layouts_of(op)
        named = [*zip(op.operands, texts, strict=False)]
        if texts and isinstance(op.results[0].type, TensorType):
            named.append((op.results[0], result_layout(op)))
        for value, text in named:
            if not parse_layout(text).is_blocked:
                self.values.name_axes(value, text)

    def _skips(self) -> bool:
        self.seen += 1
        return self.seen - 1 in self.skipped

    def _convert(self, op: RelayOp) -> None:
        """Compute an operator in the layouts that are wanted of it."""
        chosen = self._layouts(op)
        if not chosen:
            remarks.missed(NAME, op, "its layout cannot be chosen")
            if not self.follows(op):
                self.restore(op)
            return
        texts = [chosen[name] for name in op.LAYOUTS[: len(op.operands)]]
        old = [parse_layout(text) for text in layouts_of(op)]
        orders = [form_in(op, text, layout.names) for layout, text in zip(old, texts, strict=True)]
        result_order, out = orders[0], cast("StringAttr | None", op.properties.get("out_layout"))
        changed: dict[str, Value] = dict(chosen)
        if out is not None and out.data:
            if len(chosen) > 1:
                result_order = identity(len(old[0].names))
            else:
                changed["out_layout"] = texts[0]
        self._name_axes(op)
        if any(layout.is_blocked for layout in old):
            remarks.missed(NAME, op, f"it is in blocks already: {', '.join(layout.text for layout in old)}")
            self.restore(op)
            return
        if any(is_split(order) for order in orders):
            self._convert_to_blocks(op, changed, orders)
            return
        if all(order == identity(len(order)) for order in orders):
            self.restore(op)
            return
        operands = [
            self.values.get(value, orders[index], op) if index < len(orders) else self.values.plain(value, op)
            for index, value in enumerate(op.operands)
        ]
        new = type(op)(*operands, **{**op.properties, **changed})
        self._replace(op, new, [result_order])
        remarks.passed(NAME, new, ", ".join(f"{a.text} -> {b}" for a, b in zip(old, texts, strict=True)))

    def _convert_to_blocks(self, op: RelayOp, changed: Mapping[str, Value], forms: Sequence[Form]) -> None:
        """Compute an operator on operands in `forms`, if their blocks divide them."""
        values, candidates = self.values, [type(op)]
        if isinstance(op, Conv2dOp):
            candidates = [DepthwiseConv2dNCHWcOp if op.is_depthwise() else Conv2dNCHWcOp, Conv2dOp]
        shapes = [shape_in(form, shape_of(value)) for form, value in zip(forms, op.operands, strict=False)]
        if None in shapes:
            remarks.missed(
                NAME, op, f"the blocks of {', '.join(map(str, changed.values()))} do not divide its channels"
            )
            self.restore(op)
            return
        operands = [
            values.get(value, forms[index], op) if index < len(forms) else values.plain(value, op)
            for index, value in enumerate(op.operands)
        ]
        obstacle = ""
        for kind in candidates:
            try:
                new = kind(*operands, **{**op.properties, **changed})
                form = form_in(op, result_layout(new), parse_layout(result_layout(op)).names)
            except VerifyException as error:
                obstacle = str(error)
                continue
            if shape_in(form, shape_of(op.results[0])) == shape_of(new.results[0]):
                self._replace(op, new, [form])
                remarks.passed(NAME, new, f"-> {', '.join(map(str, changed.values()))}")
                return
            new.erase()
            obstacle = f"the result has {shape_of(op.results[0])[1]} channels, which are no blocks"
        remarks.missed(NAME, op, f"it cannot be computed in these blocks: {obstacle}")
        self.restore(op)

    def _layouts(self, op: RelayOp) -> dict[str, str]:
        """The layouts wanted of an operator by the properties that name them; none where it has none to choose.

        Raises:
            Diagnostic: there are too many layouts, or there is no default one.
        """
        name = op.name.removeprefix("relay.")
        assert self.wanted is not None
        properties = tuple(dict.fromkeys(op.LAYOUTS))
        given, count = list(self.wanted[name]), len(properties)
        if not count:
            return {}
        while len(given) > count and given[-1] == DEFAULT:
            given.pop()
        if len(given) > count:
            raise Diagnostic.at(op, f"{op.name} has {count} layouts to be chosen, not {len(given)}: {', '.join(given)}")
        texts = [*given, *[DEFAULT] * (count - len(given))]
        for index in range(1, count):
            if texts[index] == DEFAULT:
                if (default := op.default_layout(texts[0])) is None:
                    hint = f"name it: {name}:{texts[0]}:.."
                    raise Diagnostic.at(op, f"there is no default layout beside {texts[0]}", hint=hint)
                texts[index] = default
        return dict(zip(properties, texts, strict=True))

    def follows(self, op: Operation) -> bool:
        """Take over the order of operands, where an operator can; return whether it did."""
        values = self.values
        match op:
            case TupleOp() if is_joined(op):
                return any(map(values.is_reordered, op.fields))  # what joins it looks at the fields
            case TupleOp() if any(map(values.is_reordered, op.fields)) and _is_taken_apart(op):
                values.replaced.append(op)
                return True
            case TupleGetOp() if isinstance(fields := op.tuple.owner, TupleOp) and fields in values.replaced:
                field = fields.fields[op.index.value.data]
                values.name_axes(op.result, values.letters(field))
                values.assign(op.result, values.computed(field), [values.order(field)])
                values.replaced.append(op)
                return True
            case TupleGetOp() if values.is_reordered(op.tuple):
                order = values.orders(op.tuple)[op.index.value.data]
                values.name_axes(op.result, values.letters(op.tuple, len(order_of(order))))
                self._replace(op, TupleGetOp(values.computed(op.tuple), op.index.value.data), [order])
                return True
            case TransposeOp():
                return self._transpose(op, op.permutation(len(shape_of(op.data))))
            case LayoutTransformOp() if not (op.extents or any(layout.is_blocked for layout in op.layouts())):
                source, target = op.layouts()
                values.name_axes(op.data, source.text)
                values.name_axes(op.result, target.text)
                return self._transpose(op, tuple(source.names.index(name) for name in target.names))
            case ConcatenateOp() | QnnConcatenateOp() if isinstance(fields := op.data.owner, TupleOp):
                return self._concatenate(op, fields)
            case BatchNormOp() if self._only_infers(op):
                values.replaced.append(op)  # what takes its first result computes that
                return True
            case TupleGetOp() if isinstance(norm := op.tuple.owner, BatchNormOp) and norm in values.replaced:
                return self._normalize(op, norm)
            case RelayOp() if any(map(values.is_reordered, op.operands)):
                return self._take_over(op)
            case _:
                return False

    def _transpose(self, op: TransposeOp | LayoutTransformOp, axes: Order) -> bool:
        """Axis `i` of the result is axis `axes[i]` of the data: the data is the result, in another order."""
        values = self.values
        if values.has_names(op.data):
            values.name_axes(op.result, "".join(values.letters(op.data)[axis] for axis in axes))
        order = tuple(
            Inner(axes.index(part.axis), part.factor) if isinstance(part, Inner) else axes.index(part)
            for part in values.order(op.data)
        )
        if not values.is_reordered(op.data):
            values.add_form(op.result, order, op.data)
            values.transposed[op.result] = op.result.first_use is not None
            return False
        values.assign(op.result, values.computed(op.data), [order])
        values.replaced.append(op)
        return True

    def _concatenate(self, op: ConcatenateOp | QnnConcatenateOp, fields: TupleOp) -> bool:
        values = self.values
        first = next((value for value in fields.fields if values.is_reordered(value)), None)
        return first is not None and self.join(op, fields, values.order(first), values.letters(first))

    def join(self, op: ConcatenateOp | QnnConcatenateOp, fields: TupleOp, order: Form, letters: str) -> bool:
        """Join fields in an order, where that can be done; return whether it was."""
        values = self.values
        rule = reblocked(op, order)
        if rule is None or any(shape_in(order, shape_of(value)) is None for value in fields.fields):
            remarks.missed(NAME, op, "the blocks do not divide what is joined")
            return False
        for value in (*fields.fields, op.result):
            values.name_axes(value, letters)
        joined = values.insert(TupleOp(*(values.get(value, order, op) for value in fields.fields)), op)
        rest = (values.plain(value, op) for value in op.operands[1:])
        self._replace(op, type(op)(joined, *rest, **{**op.properties, **rule.properties}), rule.orders)
        self._drop(fields)
        return True

    def _drop(self, fields: TupleOp) -> None:
        """Let a tuple go, after all that has read it, if nothing else does."""
        replaced, users = self.values.replaced, [use.operation for use in fields.result.uses]
        if all(user in replaced for user in users):
            replaced.insert(min(map(replaced.index, users), default=len(replaced)), fields)

    def _only_infers(self, op: BatchNormOp) -> bool:
        """Whether a batch norm reads blocks, which its channels are not one axis of, and gives no statistics."""
        taken = [use.operation for use in op.results[0].uses]
        only_data = all(isinstance(each, TupleGetOp) and each.index.value.data == 0 for each in taken)
        return is_split(self.values.order(op.data)) and only_data

    def _normalize(self, op: TupleGetOp, norm: BatchNormOp) -> bool:
        emit = Emitter()
        value = by_statistics(emit, norm)
        for made in emit.ops:
            self.values.insert(made, op)
        for made in emit.ops:
            self.step(made)
        self.values.name_axes(op.result, self.values.letters(norm.data))
        self.values.assign(op.result, self.values.computed(value), [self.values.order(value)])
        self.values.replaced.append(op)
        return True

    def _take_over(self, op: RelayOp) -> bool:
        lead = lead_among(op, self.values.is_reordered)
        return lead is not None and self.compute_in(op, self.values.order(lead), self.values.letters(lead))

    def compute_in(self, op: RelayOp, order: Form, letters: str) -> bool:
        """Compute an operator on operands in an order, where that can be done; return whether it was."""
        values = self.values
        if (rule := reblocked(op, order)) is None:
            remarks.missed(NAME, op, "its operands have to have their axes as they are")
            return False
        for result, result_order in zip(op.results, rule.orders, strict=False):
            if len(order_of(result_order)) == len(letters):
                values.name_axes(result, letters)
        try:
            new = self._rebuilt(op, rule, order, letters)
            check_forms(op, new, rule.orders)
        except VerifyException as error:
            remarks.missed(NAME, op, f"it cannot be computed in this order: {error}")
            return False
        if isinstance(op.results[0].type, TensorType):
            for result, computed, result_order in zip(op.results, new.results, rule.orders, strict=True):
                values.assign(result, computed, [result_order])
        else:
            values.assign(op.results[0], new.results[0], rule.orders)
        values.insert(new, op)
        values.replaced.append(op)
        return True

    def _rebuilt(self, op: RelayOp, rule: Reordered, order: Form, letters: str) -> RelayOp:
        operands = [
            self.values.fit(value, order, letters, op) if index in rule.along else self.values.plain(value, op)
            for index, value in enumerate(op.operands)
        ]
        return type(op)(*operands, **{**op.properties, **rule.properties})

    def restore(self, op: Operation) -> None:
        """Give an operation its operands, and those of its branches, as they were."""
        for index, operand in enumerate(op.operands):
            fields = operand.owner
            if isinstance(fields, TupleOp) and any(map(self.values.is_reordered, fields.fields)):
                plain = TupleOp(*(self.values.plain(value, op) for value in fields.fields))
                op.operands[index] = self.values.insert(plain, op)
                self._drop(fields)
            else:
                op.operands[index] = self.values.plain(operand, op)
        if op.regions:
            for value in free_values(op):
                if self.values.is_reordered(value):
                    plain = self.values.plain(value, op)
                    value.replace_uses_with_if(plain, lambda use: op.is_ancestor(use.operation))

    def _replace(self, op: RelayOp | TupleGetOp, new: RelayOp | TupleGetOp, orders: Iterable[Form]) -> None:
        self.values.insert(new, op)
        self.values.assign(op.results[0], new.results[0], tuple(orders))
        self.values.replaced.append(op)


def lead_among(op: RelayOp, is_reordered: Callable[[SSAValue], bool]) -> SSAValue | None:
    """The operand whose order an operator takes over."""
    if not op.has_trait(Pointwise):
        first = op.operands[0] if op.operands else None
        return first if first is not None and isinstance(first.type, TensorType) and is_reordered(first) else None
    rank = len(shape_of(op.results[0]))
    return next((value for value in op.operands if is_reordered(value) and len(shape_of(value)) == rank), None)


def is_joined(op: TupleOp) -> bool:
    """Whether a tuple is there to be concatenated, in its own block."""
    users = [use.operation for use in op.result.uses]
    joins = all(isinstance(user, ConcatenateOp | QnnConcatenateOp) and user.data is op.result for user in users)
    return bool(users) and joins and all(user.parent is op.parent for user in users)


def _is_taken_apart(op: TupleOp) -> bool:
    """Whether all that is done with a tuple is to take its fields, tensors, in its own block."""
    takes = [use.operation for use in op.result.uses]
    whole = all(isinstance(each, TupleGetOp) and each.parent is op.parent for each in takes)
    return whole and all(isinstance(field.type, TensorType) for field in op.fields)
