"""What tests of schedules need (`tvm.tir.schedule.testing`)."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from xdsl.dialects.builtin import ModuleOp

from ... import tir
from ...dialects.support.arguments import checked
from ...dialects.tir.core import PrimFuncOp
from ...dialects.tir.nodes.mismatch import assert_structural_equal
from ...transforms.tir.scheduling.schedule import Schedule
from ...transforms.tir.scheduling.trace import Trace

TextFormat: TypeAlias = Literal["python", "json"]


@checked
def verify_trace_roundtrip(
    sch: Schedule,
    mod: PrimFuncOp | ModuleOp,
    *,
    debug_mask: str | int = "all",
    text_format: TextFormat | Sequence[TextFormat] = ("python", "json"),
) -> Schedule:
    """Write the trace of a schedule as text, and apply what is read of it to `mod`, which the schedule began with.

    Returns:
        the schedule of the last format, in which `mod` has become what `sch.mod` is.

    Raises:
        AssertionError: what was done by the text differs, or its trace.
    """
    trace = sch.trace
    assert trace is not None
    again = Schedule(mod, debug_mask=debug_mask)
    for form in [text_format] if isinstance(text_format, str) else text_format:
        again = Schedule(mod, debug_mask=debug_mask)
        if form == "json":
            Trace.apply_json_to_schedule(trace.as_json(), again)
        else:
            exec("\n".join(trace.as_python()), {"tir": tir, "sch": again})
        assert_structural_equal(again.mod, sch.mod)
        assert again.trace is not None and again.trace.as_python() == trace.as_python()
    return again
