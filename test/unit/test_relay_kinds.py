"""What TVM's names are for beside operators and passes: kinds of types, places of values, models to try things on."""

import math
from typing import Any

import numpy as np
import pytest

import weft
from weft import relay as names
from weft.dialects.relay.types import AdtType
from weft.dialects.support.diagnostics import Diagnostic, UsageError

relay: Any = names
check_kind = relay.analysis.check_kind
KIND = relay.TypeKind
TENSOR = relay.TensorType((2, 3), "int8")


def test_types_are_instances_of_what_makes_them():
    pair, function = relay.TupleType([TENSOR, TENSOR]), relay.FuncType([TENSOR], TENSOR)
    makers = (relay.TensorType, relay.TupleType, relay.FuncType)
    for made, maker in zip((TENSOR, pair, function), makers, strict=True):
        assert [isinstance(made, each) for each in makers] == [each is maker for each in makers]
    assert isinstance(relay.var("x", shape=(2,)).checked_type, weft.ir.TensorType)


def test_kinds_of_types():
    assert {check_kind(each) for each in (TENSOR, relay.TupleType([TENSOR]), relay.RefType(TENSOR))} == {KIND.Type}
    assert check_kind(relay.GlobalTypeVar("list", KIND.AdtHandle)) == KIND.AdtHandle
    with pytest.raises(weft.Diagnostic, match="the data type 'list' is a name of kind AdtHandle"):
        relay.GlobalTypeVar("list", KIND.Type)
    relation = relay.TypeRelation(None, [TENSOR, TENSOR], 1)
    assert check_kind(relation) == KIND.Constraint
    assert relay.TypeMutator().visit(relation) == relation


def test_data_types_are_looked_up_in_the_module():
    name, module = relay.GlobalTypeVar("box"), relay.IRModule()
    module[name] = relay.TypeData(name, [relay.TypeVar("a")], [])
    box = AdtType("box", [TENSOR])
    assert check_kind(relay.TupleType([box]), module) == KIND.Type
    with pytest.raises(UsageError, match="'box' has 1 parameters, not 0"):
        check_kind(relay.TupleType([AdtType("box", [])]), module)
    with pytest.raises(UsageError, match="no data type 'box'"):
        check_kind(box, relay.IRModule())


def test_numbers_say_how_often_a_function_is_applied():
    prelude = relay.Prelude()
    prelude.mod.import_from_std("nat.rly")
    x = relay.var("x", shape=(2,))
    double, y = relay.Function([x], x + x), relay.var("y", shape=(2,))
    three = relay.testing.make_nat_expr(prelude, 3)
    iterated = relay.Function([y], prelude.mod.get_global_var("nat_iterate")(double, three)(y))
    prelude.mod["main"] = iterated
    found = relay.create_executor(mod=prelude.mod).evaluate()(np.array([1, 2], np.float32))
    assert found.tolist() == [8, 16]


def test_what_an_instrument_raises_is_caught_by_tvms_name():
    @weft.pass_instrument
    class Failing:
        def run_before_pass(self, mod: object, info: object) -> None:
            raise RuntimeError("stop")

    x = relay.var("x", shape=(2,))
    with pytest.raises(weft.TVMError, match="stop"), weft.transform.PassContext(instruments=[Failing()]):
        relay.transform.InferType()(weft.IRModule.from_expr(x + x))


def test_the_place_of_every_value_of_a_planned_module_is_known():
    a, b = relay.var("a", shape=(2,)), relay.var("b", shape=(2,))
    far = relay.annotation.on_device(a + b, weft.cpu(), constrain_result=False)
    module = weft.IRModule.from_expr(relay.Function([a, b], relay.tanh(far)))
    module = relay.transform.PlanDevices(targets=["llvm", "cuda"], default_device="cuda")(module)
    places = weft.get_global_func("relay.transform.RecoverVirtualDeviceMap")(module, module["main"])
    types = [device.type for device in places.values()]
    assert types == ["cpu", "cpu", "cpu", "cuda", "cuda"]
    with pytest.raises(UsageError, match="no function of the module"):
        relay.analysis.recover_virtual_device_map(relay.IRModule(), module["main"])


def test_a_rule_says_whether_an_operator_is_computed_in_short_floats():
    x = relay.var("x", shape=(2, 4))
    module = weft.IRModule.from_expr(relay.Function([x], relay.nn.softmax(x)))

    def kinds(given: list[int | str]) -> str:
        def rule(call: object, dtype: str) -> list[int | str]:
            return given

        with relay.testing.TempOpAttr("nn.softmax", "FTVMMixedPrecisionConversionType", rule):
            return str(relay.transform.ToMixedPrecision("float16")(module))

    mixed_precision = relay.transform.mixed_precision
    assert "f16" in kinds([mixed_precision.MIXED_PRECISION_ALWAYS, "float32", "float16"])
    assert "f16" not in kinds([mixed_precision.MIXED_PRECISION_NEVER, "float32", "float32"])
    for given, message in (([7, "", ""], "gives 7"), ([0, "float32", "float32"], "results of float32, not float16")):
        with pytest.raises(Diagnostic, match=message):
            kinds(given)


@pytest.mark.parametrize(
    ("name", "weights", "shape"),
    [
        ("dqn", 1_693_362, (1, 18)),
        ("squeezenet", 1_248_424, (1, 1000)),
        ("inception_v3", 23_851_784, (1, 1000)),
        ("dcgan", None, (1, 3, 64, 64)),
        ("densenet", 7_978_856, (1, 1000)),
    ],
)
def test_models_have_the_weights_and_the_results_of_the_papers(name: str, weights: int | None, shape: tuple[int, ...]):
    net = getattr(relay.testing, name).get_net(batch_size=1)
    assert tuple(net.ret_type.get_shape()) == shape
    if weights is not None:
        skipped = ("data", "_moving_mean", "_moving_var")
        total = sum(math.prod(each.shape) for each in net.params if not each.name_hint.endswith(skipped))
        assert abs(total - weights) / weights < 0.005
