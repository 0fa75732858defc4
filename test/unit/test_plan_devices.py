"""`plan-devices`: what it says, what it is told, and what becomes of its plan in a compilation."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, TensorType, f32

import weft
from weft import PassContext
from weft.dialects.relay.core import CallOp, ConstantOp, FuncOp, PrimitiveOp
from weft.dialects.relay.devices import VirtualDevice
from weft.dialects.relay.ops.annotation import DeviceCopyOp, OnDeviceOp
from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.support.parser import parse_module
from weft.transforms.infra import remarks
from weft.transforms.infra.errors import ConfigError
from weft.transforms.infra.registry import new_ir_context
from weft.transforms.relay.bind_params import bind_params
from weft.transforms.relay.device_planning.devices import Devices
from weft.transforms.relay.device_planning.domains import Domain, Domains
from weft.transforms.relay.device_planning.planned import planned_devices
from weft.transforms.relay.eliminate_common_subexpr import EliminateCommonSubexprPass
from weft.transforms.relay.fuse_ops import FuseOpsPass
from weft.transforms.relay.outline_primitives import OutlinePrimitivesPass
from weft.transforms.relay.plan_devices import PlanDevicesPass

MATRIX = TensorType(f32, [4, 4])

TWO_DEVICES = """
relay.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %x : tensor<4xf32>
  %1 = relay.on_device %0 {virtual_device = #relay.virtual_device<cpu>} : tensor<4xf32>
  %2 = relay.on_device %0 {virtual_device = #relay.virtual_device<cpu>} : tensor<4xf32>
  %3 = relay.add %1, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = relay.subtract %3, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %4 : tensor<4xf32>
}
"""

PLAIN = """
relay.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %x : tensor<4xf32>
  %1 = relay.subtract %0, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %1 : tensor<4xf32>
}
"""


def module(text: str):
    return parse_module(text, new_ir_context(), "net.mlir")


def on_cpu(text: str) -> str:
    """`text` with its first result noted, and copied, to be on the CPU."""
    device = "#relay.virtual_device<cpu>"
    noted = f"""%0 = relay.exp %x : tensor<4xf32>
  %a = relay.on_device %0 {{virtual_device = {device}}} : tensor<4xf32>
  %b = relay.device_copy %a {{src_virtual_device = {device}, dst_virtual_device = {device}}} : tensor<4xf32>"""
    return text.replace("%0 = relay.exp %x : tensor<4xf32>", noted).replace("subtract %0", "subtract %b")


def test_a_module_that_says_nothing_of_devices_is_left_alone() -> None:
    plain = module(PLAIN)
    assert str(PlanDevicesPass(default_device="cuda")(plain)) == str(plain)
    assert PlanDevicesPass.holds_in(plain) and not PlanDevicesPass.holds_in(module(TWO_DEVICES))


def test_with_targets_a_plan_is_made_in_any_case() -> None:
    planned = PlanDevicesPass(targets=("cuda -arch=sm_80",))(module(PLAIN))
    device = VirtualDevice("cuda", 0, "cuda -arch=sm_80")
    assert set(planned_devices(planned).values()) == {device}
    assert f"result_virtual_devices = [#relay.virtual_device<{device}>]" in str(planned)


def test_each_copy_is_remarked_on_where_the_note_stands() -> None:
    with remarks.collect() as said:
        PlanDevicesPass(default_device="cuda")(module(TWO_DEVICES))
    (remark,) = [remark for remark in said if remark.pass_name == "plan-devices"]
    assert remark.message == (
        "a tensor<4xf32> is copied from <cpu, id = 0> to <cuda, id = 0> for relay.add, relay.subtract"
    )
    assert "net.mlir:4:" in str(remark)


def test_the_refusal_names_both_constraints_and_their_places() -> None:
    text = TWO_DEVICES.replace("%2 = relay.on_device %0 {virtual_device = #relay.virtual_device<cpu>}",
                               "%2 = relay.on_device %0 {virtual_device = #relay.virtual_device<cuda>}")  # fmt: skip
    broken = module(text)
    with pytest.raises(Diagnostic, match="on <cpu> and on <cuda> at once") as caught:
        PlanDevicesPass()(broken)
    first, second = caught.value.notes
    assert first.message == "'relay.on_device' asks for <cpu>: the operand is computed here"
    assert second.message == "'relay.on_device' asks for <cuda>: the operand is computed here"
    assert first.place is not None and second.place is not None
    assert (first.place.line, second.place.line) == (4, 5)
    assert str(broken) == str(module(text))


@pytest.mark.parametrize("given", ["cuda", 2])
def test_tvms_option_names_the_default_device(given: str | int) -> None:
    with PassContext(config={"relay.fallback_device_type": given}):
        planned = PlanDevicesPass()(module(TWO_DEVICES))
    assert {device.type for device in planned_devices(planned).values()} == {"cpu", "cuda"}
    with (
        pytest.raises(ConfigError, match=r"relay\.fallback_device_typ"),
        PassContext(config={"relay.fallback_device_typ": given}),
    ):
        pass


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"default_device": "gpu"}, "there is no device type 'gpu'"),
        ({"default_device": 0}, "there is no device type 0"),
        ({"targets": ("llvm",), "default_device": "cuda"}, "the default device is a cuda, which is none of those"),
        ({"targets": ("llvm", "c")}, "two targets are given for cpu devices"),
        ({"targets": ("banana",)}, "there is no target kind 'banana'"),
        ({"targets": ("cuda",), "default_device": "opencl"}, "which is none of those given: cuda"),
    ],
)
def test_options_that_fit_nothing_are_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(Diagnostic, match=message):
        PlanDevicesPass(**options)(module(TWO_DEVICES))  # pyright: ignore[reportArgumentType]


def test_a_host_need_not_be_among_the_targets() -> None:
    text = """relay.func @main(%x: tensor<4xf32>) -> tensor<1xi64> {
      %0 = relay.vm.shape_of %x : (tensor<4xf32>) -> tensor<1xi64>
      relay.return %0 : tensor<1xi64>
    }"""
    planned = planned_devices(PlanDevicesPass(targets=("cuda",))(module(text)))
    assert list(planned.values()) == [VirtualDevice("cpu", 0, "llvm")] * 2


def test_a_graph_on_one_cpu_runs_as_it_does_without_a_word_of_devices() -> None:
    x, y = np.arange(4, dtype=np.float32), np.ones(4, np.float32)
    plain, noted = weft.compile(module(PLAIN)), weft.compile(module(on_cpu(PLAIN)))
    assert noted.ir["tir"] == plain.ir["tir"]
    np.testing.assert_array_equal(noted(x, y), plain(x, y))


def test_a_graph_on_a_device_that_nothing_runs_on_is_not_compiled() -> None:
    with PassContext(config={"relay.fallback_device_type": "cuda"}):
        with pytest.raises(Diagnostic, match="argument 1 is on <cuda, id = 0>, but code is made for cpu and ext_dev"):
            weft.compile(module(TWO_DEVICES))


def test_a_copy_between_memories_of_one_cpu_is_not_compiled() -> None:
    inner = '#relay.virtual_device<cpu, memory_scope = "inner">'
    text = f"""relay.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
      %0 = relay.exp %x : tensor<4xf32>
      %1 = relay.device_copy %0 {{src_virtual_device = #relay.virtual_device<cpu, memory_scope = "global">, dst_virtual_device = {inner}}} : tensor<4xf32>
      %2 = relay.tanh %1 : tensor<4xf32>
      %3 = relay.device_copy %2 {{src_virtual_device = {inner}, dst_virtual_device = #relay.virtual_device<cpu, memory_scope = "global">}} : tensor<4xf32>
      relay.return %3 : tensor<4xf32>
    }}"""  # noqa: E501
    with pytest.raises(Diagnostic, match=r"cannot copy from .*: code is made for cpu and ext_dev"):
        weft.compile(module(text))


def test_without_the_pass_a_note_is_refused() -> None:
    with (
        PassContext(disabled_pass=["plan-devices"]),
        pytest.raises(Diagnostic, match="plan-devices, which has not run"),
    ):
        weft.compile(module(on_cpu(PLAIN)))


def test_notes_and_constants_of_a_graph_with_devices_are_not_merged() -> None:
    """Two equal constants are wanted on two devices; merged, they could be on neither."""
    text = """relay.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>> {
      %c = relay.constant dense<2.0> : tensor<4xf32>
      %d = relay.constant dense<2.0> : tensor<4xf32>
      %0 = relay.add %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %1 = relay.add %y, %d : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %2 = relay.on_device %0 {virtual_device = #relay.virtual_device<cpu>} : tensor<4xf32>
      %3 = relay.on_device %1 {virtual_device = #relay.virtual_device<cuda>} : tensor<4xf32>
      %4 = relay.tuple(%2, %3) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
      relay.return %4 : tuple<tensor<4xf32>, tensor<4xf32>>
    }"""
    shared = EliminateCommonSubexprPass()(module(text))
    assert sum(isinstance(op, ConstantOp) for op in shared.walk()) == 2
    planned = PlanDevicesPass()(shared)
    again = PlanDevicesPass()(EliminateCommonSubexprPass()(planned))
    assert str(again) == str(planned)
    notes = module(TWO_DEVICES)
    assert sum(isinstance(op, OnDeviceOp) for op in EliminateCommonSubexprPass()(notes).walk()) == 2


def test_what_is_unified_on_trial_is_undone_as_a_whole() -> None:
    """The arguments of two functions are unified before their results contradict one another."""
    (func,) = module(PLAIN).ops
    domains = Domains(Devices.of(ModuleOp([])))
    cpu, cuda = (domains.on(MATRIX, VirtualDevice(type), func, "") for type in ("cpu", "cuda"))
    x, y = Domain(), domains.on(MATRIX, VirtualDevice(memory_scope="a"), func, "")
    f, g = Domain(arguments=[x], results=[cpu]), Domain(arguments=[y], results=[cuda])
    with domains.on_trial():
        domains.unify(f, g)
    assert domains.find(f) is f and domains.find(g) is g
    assert domains.find(x) is x and domains.find(y) is y and x.device.is_free and not x.constraints
    assert domains.text(f) == "fn(?) : cpu"
    assert domains.text(g) == 'fn(?, memory_scope = "a") : cuda'
    with domains.on_trial():
        domains.unify(x, y)
    assert domains.find(x) is domains.find(y)


def test_a_plan_holds_after_fusion() -> None:
    """A copy is a kernel of its own, which may serve several calls, and is no place for both its sides."""
    plan = PlanDevicesPass(default_device="cuda")
    fused = FuseOpsPass()(plan(module(TWO_DEVICES)))
    assert [op.name for op in fused.walk() if isinstance(op, PrimitiveOp)] == ["relay.primitive"] * 3
    assert str(plan(fused)) == str(fused)
    outlined = OutlinePrimitivesPass()(fused)
    assert str(plan(outlined)) == str(outlined)
    places = [device.type for value, device in planned_devices(outlined).items() if isinstance(value.owner, CallOp)]
    assert places == ["cpu", "cuda", "cuda"]


def test_an_argument_that_is_bound_takes_its_place_with_it() -> None:
    planned = PlanDevicesPass(default_device="cuda")(module(TWO_DEVICES))
    bind_params(planned, {"y": np.ones(4, np.float32)})
    again = PlanDevicesPass()(planned)
    assert "param_virtual_devices = [#relay.virtual_device<cpu, id = 0>]" in str(again)
    (constant,) = [op for op in again.walk() if isinstance(op, ConstantOp)]
    assert planned_devices(again)[constant.result] == VirtualDevice("cuda", 0)
    assert not any(isinstance(op, OnDeviceOp) for op in again.walk())


def test_a_graph_of_thousands_of_notes_is_planned() -> None:
    lines = ["%v0 = relay.exp %x : tensor<4xf32>"]
    for i in range(1500):
        kind = ("cpu", "cuda")[i % 2]
        lines.append(
            f"%n{i} = relay.on_device %v{i} {{virtual_device = #relay.virtual_device<{kind}>}} : tensor<4xf32>"
        )
        lines.append(f"%v{i + 1} = relay.exp %n{i} : tensor<4xf32>")
    text = "relay.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n" + "\n".join(lines)
    planned = PlanDevicesPass()(module(text + "\nrelay.return %v1500 : tensor<4xf32>\n}"))
    assert sum(isinstance(op, DeviceCopyOp) for op in planned.walk()) == 1500


def test_a_copy_that_only_a_note_without_uses_needs_is_not_made() -> None:
    """What nothing needs is not planned anew either, which would be another plan."""
    noted = module("""
relay.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %x : tensor<4xf32>
  %1 = relay.on_device %0 {virtual_device = #relay.virtual_device<cpu>} : tensor<4xf32>
  %2 = relay.on_device %1 {virtual_device = #relay.virtual_device<cuda>} : tensor<4xf32>
  %3 = relay.on_device %2 {virtual_device = #relay.virtual_device<opencl>} : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
""")
    planned = PlanDevicesPass(default_device="cpu")(noted)
    assert all(op.result.first_use is not None for op in planned.walk() if isinstance(op, DeviceCopyOp))
    assert str(PlanDevicesPass()(planned)) == str(planned)


def test_a_configuration_says_which_targets_there_are_and_which_device_is_the_default() -> None:
    context = PassContext(config={"relay.fallback_device_type": 2})
    config = weft.targets.make_compilation_config(context, ["llvm -mcpu=x86-64-v3", "cuda -arch=sm_80"], "llvm")
    assert [target.kind for target in config.primitive_targets] == ["llvm", "cuda"]
    assert config.optional_homogeneous_target is None and str(config.host_target) == str(weft.Target("llvm"))
    assert (config.default_primitive_virtual_device.type, config.host_virtual_device.type) == ("cuda", "cpu")
    planned = weft.relay.transform.PlanDevices(config)(module(TWO_DEVICES))
    targets = {device.target for device in planned_devices(planned).values()}
    assert targets == {str(target) for target in config.primitive_targets}
    alone = weft.targets.make_compilation_config(PassContext(), "cuda -arch=sm_80")
    assert alone.optional_homogeneous_target == weft.Target("cuda -arch=sm_80")
    assert (alone.default_primitive_virtual_device.type, alone.host_target) == ("cuda", weft.Target())


def test_a_configuration_that_fits_nothing_is_refused() -> None:
    make, fallback = weft.targets.make_compilation_config, PassContext(config={"relay.fallback_device_type": "cuda"})
    with pytest.raises(Diagnostic, match="the default device is a cuda, which is none of those given: cpu"):
        make(fallback, "llvm")
    with pytest.raises(Diagnostic, match="two targets are given for cpu devices"):
        make(PassContext(), ["llvm", "c"])
    with pytest.raises(Diagnostic, match="a configuration says which targets there are"):
        weft.relay.transform.PlanDevices(make(PassContext(), "llvm"), default_device="cpu")


def test_a_note_around_a_function_leaves_its_types_to_its_calls() -> None:
    y = weft.relay.var("y", shape=(4,))
    a, x = weft.relay.var("a"), weft.relay.var("x", shape=(4,))
    noted = weft.relay.annotation.on_device(weft.relay.Function([a], a + y), "cpu", constrain_result=True)
    made = weft.IRModule.from_expr(weft.relay.Function([x, y], weft.relay.Call(noted, [x])))
    (main,) = (op for op in made.ops if isinstance(op, FuncOp))
    assert main.function_type.outputs.data == (TensorType(f32, [4]),)
    assert {device.type for device in planned_devices(PlanDevicesPass(default_device="cuda")(made)).values()} == {"cpu"}


@pytest.mark.parametrize(
    ("mark", "is_kernel"), [("primitive", True), ("Primitive = 1", True), ("Primitive = 0", False)]
)
def test_a_kernel_takes_and_gives_what_is_in_several_memories(mark: str, is_kernel: bool) -> None:
    scopes = [f'#relay.virtual_device<?, memory_scope = "{name}">' for name in ("global", "texture")]
    text = f"""relay.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
      %f = relay.fn(%a: tensor<4xf32>) -> tensor<4xf32>
          attributes {{{mark}, param_virtual_devices = [{scopes[0]}], result_virtual_devices = [{scopes[1]}]}} {{
        %0 = relay.exp %a : tensor<4xf32>
        relay.yield %0 : tensor<4xf32>
      }}
      %1 = relay.apply %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
      relay.return %1 : tensor<4xf32>
    }}"""
    plan = PlanDevicesPass(targets=("cuda -arch=sm_80",))
    if is_kernel:
        planned = planned_devices(plan(module(text)))
        assert {device.memory_scope for device in planned.values()} == {"global", "texture"}
    else:
        with pytest.raises(Diagnostic, match=r'"global"> and on .*"texture"> at once'):
            plan(module(text))


def test_a_memory_scope_that_is_found_late_is_that_of_all_that_follow_the_result() -> None:
    """Planned anew, it would be: `%x` is where the result is, whose scope a note on an unused value gives."""
    text = """relay.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
      %0 = relay.exp %y : tensor<4xf32>
      %1 = relay.on_device %0 {constrain_body = false, constrain_result = true,
          virtual_device = #relay.virtual_device<cpu, id = 1, memory_scope = "global">} : tensor<4xf32>
      %2 = relay.on_device %0 {constrain_result = true,
          virtual_device = #relay.virtual_device<cpu, id = 0>} : tensor<4xf32>
      %3 = relay.tanh %y : tensor<4xf32>
      relay.return %3 : tensor<4xf32>
    }"""
    once = PlanDevicesPass()(module(text))
    assert str(PlanDevicesPass()(once)) == str(once)
    assert str(once).count('memory_scope = "global"') == 3
