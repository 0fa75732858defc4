"""Virtual devices: what two say together, what fills what is free, and how they are written."""

from __future__ import annotations

import itertools

import pytest
from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Block

from weft.dialects.relay.devices import (
    DEVICE_TYPES,
    FREE,
    DeviceError,
    VirtualDevice,
    VirtualDeviceAttr,
    device,
    type_of_target,
)
from weft.dialects.relay.ops.annotation import DeviceCopyOp, OnDeviceOp
from weft.dialects.support.parser import parse_module
from weft.frontend import relay
from weft.frontend.relay.namespace import find
from weft.transforms.infra.registry import new_ir_context

SAMPLES = [
    VirtualDevice(type, id, target if type == "cpu" else None, scope)
    for type, id, target, scope in itertools.product((None, "cpu", "cuda"), (None, 0, 1), (None, "llvm"), (None, "a"))
]


@pytest.mark.parametrize("a", SAMPLES, ids=str)
def test_join_is_a_semilattice(a: VirtualDevice) -> None:
    assert a.join(a) == a
    assert a.join(FREE) == FREE.join(a) == a
    for b in SAMPLES:
        assert a.join(b) == b.join(a)
        for c in SAMPLES[::5]:
            left, right = a.join(b), b.join(c)
            assert (left and left.join(c)) == (right and a.join(right))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (VirtualDevice("cpu"), VirtualDevice("cuda")),
        (VirtualDevice("cpu", 0), VirtualDevice("cpu", 1)),
        (VirtualDevice("cpu", target="llvm"), VirtualDevice("cpu", target="c")),
        (VirtualDevice(memory_scope="a"), VirtualDevice(memory_scope="b")),
    ],
)
def test_what_differs_in_one_part_does_not_join(a: VirtualDevice, b: VirtualDevice) -> None:
    assert a.join(b) is None


def test_join_takes_each_part_from_where_it_is_known() -> None:
    joined = VirtualDevice("cuda", memory_scope="global").join(VirtualDevice("cuda", 1, "cuda -arch=sm_80"))
    assert joined == VirtualDevice("cuda", 1, "cuda -arch=sm_80", "global")
    assert joined is not None and joined.is_known and not joined.is_free
    assert not VirtualDevice("cpu", 0, "llvm").is_known


@pytest.mark.parametrize("a", SAMPLES, ids=str)
def test_a_default_keeps_what_is_known_and_fills_the_rest(a: VirtualDevice) -> None:
    for b in SAMPLES:
        filled = a.default(b)
        assert a.join(filled) == filled
        assert filled.id == (b.id if a.id is None else a.id)


def test_a_target_and_a_scope_fill_only_devices_of_their_type() -> None:
    known = VirtualDevice("cpu", 0, "llvm", "global")
    assert VirtualDevice("cuda").default(known) == VirtualDevice("cuda", 0, None, None)
    assert VirtualDevice("cpu").default(known) == known
    assert FREE.default(known) == known


@pytest.mark.parametrize("type", DEVICE_TYPES)
def test_every_device_type_has_a_name_and_a_number(type: str) -> None:
    assert device(type) == device(DEVICE_TYPES[type]) == VirtualDeviceAttr(VirtualDevice(type))


def test_a_target_says_the_type() -> None:
    assert device(target="nvptx -mcpu=sm_90").data.type == type_of_target("cuda") == "cuda"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("gpu",), "there is no device type 'gpu'; device types are cpu, cuda, "),
        ((99,), "there is no device type 99; device types are 1 .cpu., 2 .cuda."),
        (("cpu", -1), "an id from 0 on"),
        (("cuda", 0, "llvm"), "is for cpu devices, and this one has the type cuda"),
        (("cpu", 0, "llvm", ""), "a memory scope has a name"),
        ((None, None, "fpga"), "there is no target kind 'fpga'; target kinds are llvm, c, "),
    ],
)
def test_what_is_no_device_is_an_error_that_lists_the_known(arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(DeviceError, match=message):
        device(*arguments)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_the_text_of_a_device_is_read_as_it_is_written(sample: VirtualDevice) -> None:
    text = f'"test.op"() {{d = {VirtualDeviceAttr(sample)}}} : () -> ()'
    module = parse_module(text, new_ir_context())
    assert next(iter(module.ops)).attributes["d"] == VirtualDeviceAttr(sample)


def test_python_takes_devices_as_names_values_and_attributes() -> None:
    x = Block(arg_types=[TensorType(f32, [4])]).args[0]
    for given in ("cuda", 2, VirtualDevice("cuda"), device("cuda")):
        assert OnDeviceOp(x, virtual_device=given).virtual_device == device("cuda")
    copy = DeviceCopyOp(x, src_virtual_device="cpu", dst_virtual_device=VirtualDevice("cuda", 1))
    assert copy.src_virtual_device == device("cpu") and copy.dst_virtual_device == device("cuda", 1)
    with pytest.raises(DeviceError, match="is no device"):
        OnDeviceOp(x, virtual_device=0.5)


def test_the_functions_of_relay_take_devices_too() -> None:
    x = relay.var("x", shape=(4,))
    noted = find("on_device")(x, "cpu")
    text = str(relay.Function([x], find("device_copy")(noted, "cpu", device("cuda", 1))))
    assert "virtual_device = #relay.virtual_device<cpu>" in text
    assert "dst_virtual_device = #relay.virtual_device<cuda, id = 1>" in text
