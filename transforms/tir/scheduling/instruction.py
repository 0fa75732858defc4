"""One step of a trace under TVM's names: its kind, what it is done to, how, and the handles that it gives.

get = Instruction(InstructionKind.get("GetBlock"), [], ["matmul", "main"], [block])

It is an operation of the `schedule` dialect, `instruction.op`, seen from Python. What stands among the inputs and what
among the attributes is said by a table, in which a parameter has the name that it has in `Schedule`'s method.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.ir import SSAValue

from ....dialects.schedule import blocks, loops, queries
from ....dialects.schedule.core import HANDLE
from ....dialects.schedule.core import Instruction as InstructionOp
from ....dialects.support.arguments import checked
from ....dialects.support.diagnostics import UsageError, did_you_mean
from ....dialects.support.python_values import attribute_of, value_of
from ..schedule.checks import LAST
from .handles import Handle, handle_of
from .values import python_of

PROPERTIES = {
    "name": "block", "func_name": "function", "max_innermost_factor": "max_innermost", "thread_axis": "thread",
    "read_buffer_index": "index", "write_buffer_index": "index", "buffer_index": "index", "buffer_index_type": "buffer",
    "storage_scope": "scope", "index_map": "map", "factor_axis": "axis", "axis_separators": "separators",
    "ann_key": "key", "ann_val": "value", "tensor_intrin": "intrin",
}  # fmt: skip
"""Parameters of `Schedule`'s methods that an operation's property has another name for."""
DEFAULTS: Mapping[str, object] = {
    "preserve_unit_iters": True, "preserve_unit_loops": False, "index": LAST, "cse_thresh": 0,
}  # fmt: skip
"""The values of parameters that an operation says only if they are others."""
COUNTED = "n"
"""The parameter that is the number of results."""
PURE = ("get_", "sample_")
"""How the names of instructions begin that change nothing."""


@dataclass(frozen=True)
class InstructionKind:
    """A primitive of schedules, as instructions name it.

    Args:
        name: TVM's name: `"ComputeAt"`.
        op: the operation.
        inputs: the parameters that are handles, or may be; a last one with `*` stands for any number.
        attrs: the others; one with `?` may be left out.
    """

    name: str
    op: type[InstructionOp]
    inputs: tuple[str, ...]
    attrs: tuple[str, ...]

    @staticmethod
    @checked
    def get(name: str) -> InstructionKind:
        """The kind of a name.

        Raises:
            UsageError: there is none.
        """
        if name not in _BY_NAME:
            raise UsageError(f"there is no kind of instruction '{name}'", hint=did_you_mean(name, list(_BY_NAME)))
        return _BY_NAME[name]

    @property
    def method(self) -> str:
        """The name of `Schedule`'s method."""
        return self.op.name.partition(".")[2]

    @property
    def is_pure(self) -> bool:
        """Whether it changes nothing."""
        return self.method.startswith(PURE)

    def same_as(self, other: object) -> bool:
        """Whether `other` is the same kind."""
        return self is other

    def build(self, inputs: Sequence[object], attrs: Sequence[object], results: int) -> InstructionOp:
        """The operation of inputs and attributes, that gives so many results.

        Raises:
            UsageError: there are others than it takes.
        """
        many = bool(self.inputs) and self.inputs[-1].endswith("*")
        if len(inputs) != len(self.inputs) and not (many and len(inputs) >= len(self.inputs)):
            raise UsageError(f"{self.name} takes the inputs {list(self.inputs)}, and not {list(inputs)}")
        least = sum(not name.endswith("?") for name in self.attrs)
        if not least <= len(attrs) <= len(self.attrs):
            raise UsageError(f"{self.name} takes the attributes {list(self.attrs)}, and not {list(attrs)}")
        given: dict[str, object] = {name.rstrip("?"): value for name, value in zip(self.attrs, attrs, strict=False)}
        handles = [each for each in inputs if isinstance(each, Handle)]
        if self.op is loops.SplitOp:
            given["factors"] = [HANDLE if isinstance(each, Handle) else each for each in inputs[1:]]
        elif self.op is blocks.AnnotateOp:
            given["ann_val"] = None if isinstance(inputs[1], Handle) else inputs[1]
        elif self.op in (blocks.CacheReadOp, blocks.CacheWriteOp):
            more = cast("Sequence[Handle]", inputs[1] or [])
            handles += [each for each in more if each.value is not handles[0].value]
        elif len(handles) != len(inputs):
            raise UsageError(f"{self.name} takes handles, and not {list(inputs)}")
        given.pop(COUNTED, None)
        properties = {
            PROPERTIES.get(name, name): value
            for name, value in given.items()
            if value is not None and value != DEFAULTS.get(name)
        }
        return self.op.of(*(each.value for each in handles), results=results, **cast(Any, properties))

    def inputs_of(self, op: InstructionOp) -> list[object]:
        """The inputs of an operation of this kind."""
        handles: list[object] = [handle_of(value) for value in op.inputs]
        if isinstance(op, loops.SplitOp):
            rest = iter(handles[1:])
            return [handles[0], *(next(rest) if factor == HANDLE else value_of(factor) for factor in op.factors)]
        if isinstance(op, blocks.AnnotateOp):
            return handles if op.value is None else [*handles, value_of(op.value)]
        if isinstance(op, blocks.CacheReadOp):
            return [handles[0], handles]  # to the method, none are all readers
        return [handles[0], handles[1:]] if isinstance(op, blocks.CacheWriteOp) else handles

    def attrs_of(self, op: InstructionOp) -> list[object]:
        """The attributes of an operation of this kind."""
        given = [self._attribute(op, name) for name in self.attrs]
        while given and given[-1] is None and self.attrs[len(given) - 1].endswith("?"):
            given.pop()
        return given

    def _attribute(self, op: InstructionOp, name: str) -> object:
        if name == COUNTED:
            return len(op.outputs)
        found = op.properties.get(PROPERTIES.get(name.rstrip("?"), name.rstrip("?")))
        return DEFAULTS.get(name) if found is None else value_of(found)


class Instruction:
    """One step of a trace. Counterpart of TVM's `Instruction`.

    Args:
        kind: what is done.
        inputs: the handles that it is done to, and what else may be a handle.
        attrs: how it is done.
        outputs: free handles for what it gives.

    Raises:
        UsageError: the kind takes others, or an output is given by another instruction.
    """

    @checked
    def __init__(
        self, kind: InstructionKind, inputs: Sequence[object], attrs: Sequence[object], outputs: Sequence[Handle]
    ):
        if any(not handle.is_free for handle in outputs):
            raise UsageError(f"an output of {kind.name} is given by another instruction already")
        self.op = kind.build(inputs, attrs, len(outputs))
        if len(self.op.outputs) != len(outputs):
            raise UsageError(f"{kind.name} gives {len(self.op.outputs)} handles, not {len(outputs)}")
        for handle, value in zip(outputs, self.op.outputs, strict=True):
            handle.give(value)

    @classmethod
    @checked
    def of(cls, op: InstructionOp) -> Instruction:
        """An operation as an instruction."""
        made = cls.__new__(cls)
        made.op = op
        return made

    @property
    def kind(self) -> InstructionKind:
        return _BY_OP[type(self.op)]

    @property
    def inputs(self) -> list[object]:
        return self.kind.inputs_of(self.op)

    @property
    def attrs(self) -> list[object]:
        return self.kind.attrs_of(self.op)

    @property
    def outputs(self) -> list[Handle]:
        return [handle_of(value) for value in self.op.outputs]

    @property
    def decision(self) -> object:
        """What a sampling instruction has chosen; `None` where nothing is, or there is nothing to choose."""
        found = self.op.properties.get("decision")
        return None if found is None else value_of(found)

    def decide(self, decision: object) -> None:
        """Let a sampling instruction choose that; with `None`, draw anew.

        Raises:
            UsageError: there is nothing to choose.
        """
        if "decision" not in self.op.get_irdl_definition().properties:
            raise UsageError(f"{self.kind.name} decides nothing")
        self.op.properties.pop("decision", None)
        if decision is not None:
            self.op.properties["decision"] = attribute_of(decision)

    def as_python(self, names: Callable[[SSAValue], str], with_decision: bool = True) -> str:
        """The call of `Schedule`'s method, with results and handles by name."""

        def text(value: object) -> str:
            match value:
                case Handle():
                    return names(value.value)
                case list():
                    return f"[{', '.join(map(text, cast('list[object]', value)))}]"
                case _:
                    return python_of(value)

        kind, inputs = self.kind, self.inputs
        if kind.inputs == ("loops*",):
            arguments = [text(each) for each in inputs]
        else:
            listed = kind.inputs[-1:] == ("factors*",)
            values = [inputs[0], inputs[1:]] if listed else inputs
            named = zip((name.rstrip("*") for name in kind.inputs), values, strict=True)
            arguments = [f"{name}={text(value)}" for name, value in named if value != []]
        attrs = {name.rstrip("?"): value for name, value in zip(kind.attrs, self.attrs, strict=False)}
        if "buffer_index_type" in attrs:
            which, number = attrs.pop("buffer_index_type"), attrs.pop("buffer_index")
            arguments.append(f"buffer=({text(which)}, {text(number)})")
        arguments += [f"{name}={text(value)}" for name, value in attrs.items() if value is not None]
        if with_decision and self.decision is not None:
            arguments.append(f"decision={text(self.decision)}")
        call = f"sch.{kind.method}({', '.join(arguments)})"
        given = [names(value) for value in self.op.outputs]
        if kind.op.GIVES.endswith("*"):
            return f"{', '.join(given)}{',' if len(given) == 1 else ''}{' = ' if given else ''}{call}"
        return f"{', '.join(given)} = {call}" if given else call

    def same_as(self, other: object) -> bool:
        """Whether `other` is this step, of the same trace."""
        return self == other

    def __str__(self) -> str:
        return self.as_python(lambda value: "_", with_decision=False)

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Instruction) and other.op is self.op

    def __hash__(self) -> int:
        return hash(self.op)


_TVM_NAMES = {"rfactor": "RFactor", "reindex": "ReIndex", "unsafe_set_dtype": "UnsafeSetDType"}
_PLACE = "preserve_unit_loops index"
_BUFFER = "buffer_index buffer_index_type"


def _kind(op: type[InstructionOp], inputs: str = "", attrs: str = "") -> InstructionKind:
    word = op.name.partition(".")[2]
    name = _TVM_NAMES.get(word) or "".join(part.capitalize() for part in re.split("_", word))
    return InstructionKind(name, op, tuple(inputs.split()), tuple(attrs.split()))


INSTRUCTION_KINDS: list[InstructionKind] = [
    _kind(queries.GetBlockOp, "", "name func_name number?"),
    _kind(queries.GetLoopsOp, "block"),
    _kind(queries.GetChildBlocksOp, "block_or_loop"),
    _kind(queries.GetProducersOp, "block"),
    _kind(queries.GetConsumersOp, "block"),
    _kind(queries.SamplePerfectTileOp, "loop", "n max_innermost_factor"),
    _kind(queries.SampleCategoricalOp, "", "candidates probs"),
    _kind(queries.SampleComputeLocationOp, "block"),
    _kind(queries.EnterPostprocOp),
    _kind(loops.SplitOp, "loop factors*", "preserve_unit_iters"),
    _kind(loops.FuseOp, "loops*", "preserve_unit_iters"),
    _kind(loops.MergeOp, "loops*"),
    _kind(loops.ReorderOp, "loops*"),
    _kind(loops.ParallelOp, "loop"),
    _kind(loops.VectorizeOp, "loop"),
    _kind(loops.UnrollOp, "loop"),
    _kind(loops.BindOp, "loop", "thread_axis"),
    _kind(loops.AddUnitLoopOp, "block_or_loop"),
    _kind(blocks.CacheReadOp, "block consumer_blocks", "read_buffer_index storage_scope"),
    _kind(blocks.CacheWriteOp, "block consumer_blocks", "write_buffer_index storage_scope"),
    _kind(blocks.CacheInplaceOp, "block", "read_buffer_index storage_scope"),
    _kind(blocks.CacheIndexOp, "block", "storage_scope cse_thresh"),
    _kind(blocks.ReindexOp, "block", _BUFFER),
    _kind(blocks.ComputeAtOp, "block loop", _PLACE),
    _kind(blocks.ReverseComputeAtOp, "block loop", _PLACE),
    _kind(blocks.ComputeInlineOp, "block"),
    _kind(blocks.ReverseComputeInlineOp, "block"),
    _kind(blocks.DecomposeReductionOp, "block loop"),
    _kind(blocks.DecomposePaddingOp, "block loop"),
    _kind(blocks.PadEinsumOp, "block", "padding"),
    _kind(blocks.RfactorOp, "loop", "factor_axis"),
    _kind(blocks.StorageAlignOp, "block", "buffer_index axis factor offset"),
    _kind(blocks.SetScopeOp, "block", "buffer_index storage_scope"),
    _kind(blocks.RollingBufferOp, "block", "write_buffer_index"),
    _kind(blocks.SetAxisSeparatorOp, "block", f"{_BUFFER} axis_separators"),
    _kind(blocks.UnsafeSetDtypeOp, "block", "buffer_index dtype"),
    _kind(blocks.TransformLayoutOp, "block", f"{_BUFFER} index_map axis_separators? pad_value?"),
    _kind(blocks.TransformBlockLayoutOp, "block", "index_map"),
    _kind(blocks.FuseItersOp, "block", "first"),
    _kind(blocks.FuseBufferDimsOp, "block", f"{_BUFFER} first"),
    _kind(blocks.BlockizeOp, "loop", "preserve_unit_iters"),
    _kind(blocks.TensorizeOp, "block_or_loop", "tensor_intrin preserve_unit_iters"),
    _kind(blocks.AnnotateOp, "block_or_loop ann_val", "ann_key"),
    _kind(blocks.UnannotateOp, "block_or_loop", "ann_key"),
]
"""Every instruction of the dialect is here."""

_BY_NAME = {kind.name: kind for kind in INSTRUCTION_KINDS}
_BY_OP = {kind.op: kind for kind in INSTRUCTION_KINDS}
