"""Loop annotations of the llvm dialect, spelled as upstream MLIR 22 spells them.

xDSL has no loop metadata. In the `loops` phase the annotation is a discardable attribute of `scf.for`; lowering moves
it to the `llvm.cond_br` of the loop's latch; the emitter of LLVM IR turns it into `!llvm.loop`.

```mlir
scf.for %i = %c0 to %c6 step %c1 {
  ...
} {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}
```
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, NoneAttr, i32, i64
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

Hint = bool | int | Attribute | None


class HintAttr(ParametrizedAttribute):
    """A record of optional named hints; hints that are not set are not printed."""

    KEYS: ClassVar[tuple[str, ...]] = ()
    """The upstream name of each parameter, in the order of the class's fields."""

    NESTED: ClassVar[dict[str, type[HintAttr]]] = {}
    """The type of the hints that are themselves records, printed without their `#llvm.` name."""

    @classmethod
    def of(cls, **hints: Hint) -> Self:
        """Build from upstream names: `LoopUnrollAttr.of(disable=False, full=True)`.

        Raises:
            ValueError: there is no hint of that name.
        """
        unknown = hints.keys() - set(cls.KEYS)
        if unknown:
            raise ValueError(f"#{cls.name} has no {', '.join(sorted(unknown))}; it has {', '.join(cls.KEYS)}")
        return cls.new([_as_attribute(hints.get(key)) for key in cls.KEYS])

    def hints(self) -> dict[str, Attribute]:
        """The hints that are set, by upstream name."""
        set_hints = zip(self.KEYS, self.parameters, strict=True)
        return {key: value for key, value in set_hints if not isinstance(value, NoneAttr)}

    def flag(self, key: str) -> bool | None:
        """The value of a boolean hint, None where it is not set."""
        value = self.hints().get(key)
        return bool(value.value.data) if isinstance(value, IntegerAttr) else None

    def number(self, key: str) -> int | None:
        """The value of an integer hint, None where it is not set."""
        value = self.hints().get(key)
        return value.value.data if isinstance(value, IntegerAttr) else None

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            for position, (key, value) in enumerate(self.hints().items()):
                printer.print_string(f"{', ' if position else ''}{key} = ")
                if isinstance(value, HintAttr):
                    value.print_parameters(printer)
                else:
                    printer.print_attribute(value)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        found: dict[str, Attribute] = {}

        def parse_hint() -> None:
            position = parser.pos
            key = parser.parse_identifier()
            if key not in cls.KEYS:
                parser.raise_error(f"#{cls.name} has no '{key}'; it has {', '.join(cls.KEYS)}", position)
            parser.parse_punctuation("=")
            record, value = cls.NESTED.get(key), parser.parse_optional_attribute()
            if value is None and record is not None:
                value = record.new(record.parse_parameters(parser))
            found[key] = parser.expect(lambda: value, f"expected the value of '{key}'")

        parser.parse_comma_separated_list(parser.Delimiter.ANGLE, parse_hint)
        return [found.get(key, NoneAttr()) for key in cls.KEYS]


def _as_attribute(hint: Hint) -> Attribute:
    if hint is None:
        return NoneAttr()
    if isinstance(hint, bool):
        return BoolAttr.from_bool(hint)
    return IntegerAttr(hint, i32) if isinstance(hint, int) else hint


@irdl_attr_definition
class LoopUnrollAttr(HintAttr):
    """How a loop is unrolled: `<disable = false, full = true>`, `<disable = false, count = 4 : i32>`."""

    name = "llvm.loop_unroll"
    KEYS: ClassVar[tuple[str, ...]] = ("disable", "count", "runtimeDisable", "full")

    disable: BoolAttr | NoneAttr
    count: IntegerAttr | NoneAttr
    runtime_disable: BoolAttr | NoneAttr
    full: BoolAttr | NoneAttr


@irdl_attr_definition
class LoopVectorizeAttr(HintAttr):
    """How a loop is vectorised by LLVM: `<disable = true>`, `<width = 16 : i32>`."""

    name = "llvm.loop_vectorize"
    KEYS: ClassVar[tuple[str, ...]] = ("disable", "predicateEnable", "scalableEnable", "width")

    disable: BoolAttr | NoneAttr
    predicate_enable: BoolAttr | NoneAttr
    scalable_enable: BoolAttr | NoneAttr
    width: IntegerAttr | NoneAttr


@irdl_attr_definition
class LoopInterleaveAttr(HintAttr):
    """How many iterations of a vectorised loop are interleaved: `<count = 2 : i32>`."""

    name = "llvm.loop_interleave"
    KEYS: ClassVar[tuple[str, ...]] = ("count",)

    count: IntegerAttr | NoneAttr


@irdl_attr_definition
class AccessGroupAttr(ParametrizedAttribute):
    """Accesses to memory, in loops of which no iteration reads what another one writes: `<id = distinct[0]<>>`."""

    name = "llvm.access_group"

    number: IntegerAttr

    @classmethod
    def numbered(cls, number: int) -> AccessGroupAttr:
        """The group with this number in a module."""
        return cls(IntegerAttr(number, i64))

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<id = distinct[{self.number.value.data}]<>>")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            parser.parse_keyword("id")
            parser.parse_punctuation("=")
            parser.parse_keyword("distinct")
            with parser.in_square_brackets():
                number = parser.parse_integer(allow_boolean=False, allow_negative=False)
            with parser.in_angle_brackets():
                pass
        return [IntegerAttr(number, i64)]


@irdl_attr_definition
class LoopAnnotationAttr(HintAttr):
    """What LLVM is told about a loop: `#llvm.loop_annotation<unroll = <disable = false, full = true>>`."""

    name = "llvm.loop_annotation"
    KEYS: ClassVar[tuple[str, ...]] = (
        "disableNonforced",
        "vectorize",
        "interleave",
        "unroll",
        "mustProgress",
        "isVectorized",
        "parallelAccesses",
    )
    NESTED: ClassVar[dict[str, type[HintAttr]]] = {
        "vectorize": LoopVectorizeAttr,
        "interleave": LoopInterleaveAttr,
        "unroll": LoopUnrollAttr,
    }

    disable_nonforced: BoolAttr | NoneAttr
    vectorize: LoopVectorizeAttr | NoneAttr
    interleave: LoopInterleaveAttr | NoneAttr
    unroll: LoopUnrollAttr | NoneAttr
    must_progress: BoolAttr | NoneAttr
    is_vectorized: BoolAttr | NoneAttr
    parallel_accesses: AccessGroupAttr | NoneAttr


ACCESS_GROUPS = "access_groups"
"""Name of the attribute of `llvm.load` and `llvm.store` that holds their groups."""

LOOP_ANNOTATION = "loop_annotation"
"""Name of the attribute, on `scf.for` and on the latch's `llvm.cond_br`."""
