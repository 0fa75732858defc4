"""What passes must know of a target's vectors, and how it stands on a module.

```mlir
builtin.module attributes {weft.target = {vector_bytes = 32 : i64, vector_registers = 16 : i64, fma, masked}} { ... }
```

A pass asks `vector_unit_of(op)`, which looks at the module around the operation. What the processor takes for its work
stands there too, where it is not what is taken for any: `machine = "fmas=1,..."` (`machine_model.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute, Operation

from .diagnostics import Diagnostic
from .machine_model import MachineModel

ATTRIBUTE = "weft.target"


@dataclass(frozen=True)
class VectorUnit:
    """The vector registers that code is made for."""

    bytes: int = 16
    """Of one register; of one whose length is found out when the code runs, the least that it can be."""
    registers: int = 16
    fma: bool = False
    """Whether a product and a sum are one instruction."""
    masked: bool = False
    """Whether loads, stores and arithmetic can leave lanes out."""
    scalable: bool = False
    """Whether the length is found out when the code runs."""
    vnni: bool = False
    """Whether x86's `vpdpbusd` sums products of bytes, the left ones without a sign, in vectors of all lengths."""
    dotprod: bool = False
    """Whether AArch64's `sdot` and `udot` do, of bytes with and without a sign."""
    pmaddwd: bool = False
    """Whether x86's `pmaddwd`, which sums pairs of products of 16 bits, is what there is for bytes, of all signs."""
    amx_int8: bool = False
    """Whether x86's AMX multiplies tiles of bytes of all signs."""
    amx_bf16: bool = False
    """Whether it multiplies tiles of bf16, and sums in f32."""
    bf16_pairs: bool = False
    """Whether x86's `vdpbf16ps` sums products of two bf16 in each lane, and that is worth while."""
    machine: MachineModel = field(default_factory=MachineModel)
    """What the processor takes for the work of kernels."""

    @property
    def dot(self) -> str | None:
        """Which of the instructions there are for dot products of bytes, by name."""
        return next((name for name in DOTS if getattr(self, name)), None)

    def with_dot(self, dot: str | None) -> VectorUnit:
        """The same unit with these instructions, if they are named.

        Raises:
            ValueError: there are none of the name.
        """
        if dot is None:
            return self
        if dot not in DOTS:
            raise ValueError(f"there are no dot products '{dot}'; known: {', '.join(DOTS)}")
        return replace(self, **{name: name == dot for name in DOTS})

    @property
    def matrix(self) -> tuple[str, ...]:
        """Of which narrow numbers the target adds up products in `MATRIX`: by tiles, or in lanes."""
        return tuple(name for name, field in MATRIX.items() if getattr(self, field))

    def with_matrix(self, matrix: Sequence[str] | None) -> VectorUnit:
        """The same unit with these products of narrow numbers, if they are named.

        Raises:
            ValueError: nothing of a name is known.
        """
        if matrix is None:
            return self
        if unknown := [name for name in matrix if name not in MATRIX]:
            raise ValueError(f"no matrix unit multiplies '{unknown[0]}'; known: {', '.join(MATRIX)}")
        return replace(self, **{field: name in matrix for name, field in MATRIX.items()})

    def with_machine(self, text: str | None) -> VectorUnit:
        """The same unit of a machine that is so (`MachineModel.told`), if that is said.

        Raises:
            ValueError: the text cannot be read.
        """
        return self if text is None else replace(self, machine=MachineModel().told(text))

    def attribute(self) -> DictionaryAttr:
        """The unit as an attribute."""
        fields: dict[str, Attribute] = {
            "vector_bytes": IntegerAttr(self.bytes, i64),
            "vector_registers": IntegerAttr(self.registers, i64),
        }
        for name in _FLAGS:
            if getattr(self, name):
                fields[name] = UnitAttr()
        if self.machine != MachineModel():
            fields["machine"] = StringAttr(str(self.machine))
        return DictionaryAttr(fields)


DOTS = ("vnni", "dotprod", "pmaddwd")
MATRIX = {"int8": "amx_int8", "bf16": "amx_bf16", "bf16_pairs": "bf16_pairs"}
"""Products of narrow numbers, by tiles and in lanes -> the field that says whether the target has them."""
_FLAGS = ("fma", "masked", "scalable", *DOTS, *MATRIX.values())


def set_vector_unit(module: ModuleOp, unit: VectorUnit) -> None:
    """Have `module` say what it is compiled for."""
    module.attributes[ATTRIBUTE] = unit.attribute()


def vector_unit_of(op: Operation) -> VectorUnit:
    """What the module around `op` says of its target; where it says nothing, the least that vectors are: 16 bytes.

    Raises:
        Diagnostic: it says what cannot be read.
    """
    root: Operation | None = op
    while root is not None:
        if ATTRIBUTE in root.attributes:
            return _read(root)
        root = root.parent_op()
    return VectorUnit()


def _read(op: Operation) -> VectorUnit:
    value = op.attributes[ATTRIBUTE]
    if not isinstance(value, DictionaryAttr):
        raise Diagnostic.at(op, f"{ATTRIBUTE} is {value}, not a dictionary")
    unknown = set(value.data) - {"vector_bytes", "vector_registers", "machine", *_FLAGS}
    if unknown:
        raise Diagnostic.at(op, f"{ATTRIBUTE} has no '{min(unknown)}'")

    def number(name: str) -> int:
        attribute = value.data.get(name)
        if not isinstance(attribute, IntegerAttr) or attribute.value.data < 1:
            raise Diagnostic.at(op, f"{ATTRIBUTE} needs a positive integer '{name}'")
        return attribute.value.data

    flags = {name: name in value.data for name in _FLAGS}
    unit = replace(VectorUnit(number("vector_bytes"), number("vector_registers")), **flags)
    machine = value.data.get("machine", StringAttr(str(MachineModel())))
    if not isinstance(machine, StringAttr):
        raise Diagnostic.at(op, f"{ATTRIBUTE} needs a text for 'machine'")
    try:
        return unit.with_machine(machine.data)
    except ValueError as error:
        raise Diagnostic.at(op, f"{ATTRIBUTE} cannot be read: {error}") from None
