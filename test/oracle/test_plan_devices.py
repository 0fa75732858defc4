"""`plan-devices` against TVM v0.10: where every value is, and what is copied."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache

import pytest
from oracle_devices import Planned, Recorded, text_of_device
from oracle_records import records
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from weft.dialects.relay.ops.annotation import DeviceCopyOp, OnDeviceOp
from weft.dialects.support.diagnostics import Diagnostic
from weft.transforms.infra.walk import walk
from weft.transforms.relay.plan_devices import PlanDevicesPass

Count = Callable[[str, int], None]

FILES = ("plan_devices", "plan_devices_tvmtests")


@cache
def loaded(name: str) -> list[Recorded]:
    return [Recorded(record) for record in records(name)]


def label(file: str, index: int, recorded: Recorded) -> str:
    record = recorded.record
    return "-".join(str(record[key]) for key in ("test", "kind", "seed", "mode") if key in record) + f"-{index}"


RECORDS = [
    pytest.param(file, recorded, id=label(file, index, recorded))
    for file in FILES
    for index, recorded in enumerate(loaded(file))
]


def those(condition: Callable[[Recorded], bool]) -> list[object]:
    return [param for param in RECORDS if condition(param.values[1])]  # pyright: ignore[reportArgumentType]


def planned_once_and_again(recorded: Recorded) -> ModuleOp:
    """The module of a record after planning, which another time changes nothing of."""
    once = PlanDevicesPass(default_device=recorded.default)(recorded.module())
    again = once.clone()
    PlanDevicesPass().apply(Context(), again)
    assert str(again) == str(once), "planned anew, it is another"
    return once


@pytest.mark.skipif(bool(os.environ.get("WEFT_ORACLE_DIR")), reason="other records take the place of the shipped ones")
def test_the_shipped_records_are_found() -> None:
    assert len(loaded("plan_devices")) == 120


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("file", "recorded"), those(lambda r: r.is_clean and r.is_described))
def test_every_value_is_where_tvm_has_it(file: str, recorded: Recorded, count: Count) -> None:
    module = planned_once_and_again(recorded)
    module.verify()
    for name, planned in Planned.of(recorded, module).items():
        summary = recorded.summary(name)
        assert planned.parameters() == summary["param_devices"]
        assert planned.results() == [summary["result_device"]]
        expected = recorded.expected_devices(name)
        found = {node: text_of_device(planned.devices[value]) for node, value in planned.values.items()}
        assert {node: found[node] for node in expected.keys() & found.keys()} == {
            node: expected[node] for node in expected.keys() & found.keys()
        }
        missing = {planned.program.nodes[node].op for node in expected.keys() - found.keys()}
        assert missing <= {"ref_write", "tuple", "var"}, missing
        copies = planned.copies()
        assert set(copies) == recorded.expected_copies(name)
        assert len(set(copies)) == len(copies)
        count(f"{file}: devices of values equal", len(expected.keys() & found.keys()))
        count(f"{file}: copies", len(copies))
    count(f"{file}: records equal", 1)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("file", "recorded"), those(lambda r: r.is_refused and r.is_described))
def test_what_tvm_refuses_is_refused_with_both_constraints(file: str, recorded: Recorded, count: Count) -> None:
    with pytest.raises(Diagnostic, match="at once") as caught:
        PlanDevicesPass(default_device=recorded.default)(recorded.module())
    assert len(caught.value.notes) == 2
    count(f"{file}: refusals equal", 1)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("file", "recorded"), those(lambda r: not (r.is_clean or r.is_refused) and r.is_described))
def test_a_note_on_a_note_makes_a_copy_where_tvm_loses_it(file: str, recorded: Recorded, count: Count) -> None:
    """Each use of a value finds it where it needs it: every operation but a copy is on one device with its operands."""
    module = planned_once_and_again(recorded)
    for planned in Planned.of(recorded, module).values():
        for op in walk(planned.func):
            if isinstance(op, DeviceCopyOp):
                assert planned.devices[op.data] == op.src_virtual_device.data != op.dst_virtual_device.data
                assert planned.devices[op.result] == op.dst_virtual_device.data
            assert not isinstance(op, OnDeviceOp) or planned.devices[op.body] == planned.devices[op.result]
    count(f"{file}: records planned that TVM plans wrongly", 1)
