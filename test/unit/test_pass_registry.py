"""Names, configuration and pipelines: how passes are asked for."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr

from weft import transform
from weft.dialects.relay.core import FuncOp
from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.tir.core import PrimFuncOp
from weft.transforms.infra.adapt import get_pass
from weft.transforms.infra.config import register_config_option
from weft.transforms.infra.context import PassContext
from weft.transforms.infra.decorators import module_pass
from weft.transforms.infra.errors import ConfigError, PipelineError, UnknownPassError
from weft.transforms.infra.execution import run
from weft.transforms.infra.info import info_of
from weft.transforms.infra.passes import FunctionPass, ModulePass, Pass, PrimFuncPass
from weft.transforms.infra.pipeline import parse_pipeline
from weft.transforms.infra.registry import (
    all_passes,
    canonical_name,
    get_pass_type,
    kebab_case,
    own_passes,
    register_pass,
    registered,
)
from weft.transforms.infra.remarks import collect
from weft.transforms.infra.sequential import Sequential
from weft.transforms.infra.timing import PassTimingInstrument

seen: list[ModulePass] = []
"""Every tiling that ran."""


@register_pass
@dataclass(frozen=True)
class Tiling(ModulePass):
    name = "t-tiling"
    tvm_name = "TBlocking2D"

    size: int = 8
    ratio: float = 0.5
    fast: bool = False
    shape: tuple[int, ...] = ()
    kind: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        seen.append(self)
        op.attributes["tiling"] = StringAttr(str(info_of(self).spec))


@dataclass(frozen=True)
class OnRelay(FunctionPass):
    name = "t-on-relay"

    def apply_function(self, ctx: Context, func: FuncOp) -> None: ...


@dataclass(frozen=True)
class OnTir(PrimFuncPass):
    name = "t-on-tir"

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None: ...


@dataclass(frozen=True)
class Struct:
    max_step: int = 0
    explicit: bool = False


@pytest.fixture(autouse=True)
def test_passes() -> Iterator[None]:
    with registered(Tiling, OnRelay, OnTir):
        yield


@pytest.mark.parametrize(
    "name", ["t-tiling", "TTiling", "TBlocking2D", "relay._transform.TTiling", "tir.transform.TBlocking2D"]
)
def test_a_pass_is_found_by_its_name_and_by_tvms(name: str):
    assert canonical_name(name) == "t-tiling" and get_pass_type(name) is Tiling


def test_a_pass_is_made_with_options():
    assert get_pass("TTiling", size=3, shape=(1, 2)) == Tiling(3, shape=(1, 2))


def test_xdsl_passes_are_found_and_can_be_called():
    for name in ("canonicalize", "cse", "dce"):
        pass_ = get_pass(name)
        assert isinstance(pass_, Pass) and pass_.name == name and name in all_passes()
        assert str(pass_(ModuleOp([]))) == str(ModuleOp([]))


def test_an_unknown_pass_is_reported_with_near_names():
    with pytest.raises(UnknownPassError) as caught:
        get_pass("TTillin")
    assert caught.value.message == "no pass is named 'TTillin'" and caught.value.hint == "did you mean 't-tiling'?"


def test_registration_can_be_undone_and_replaced():
    class Other(Tiling):
        name = "t-tiling"

    with registered(Other):
        assert get_pass_type("TTiling") is Other
    assert get_pass_type("TTiling") is Tiling


def test_a_pass_can_be_registered_under_another_name():
    with registered():
        assert register_pass("t-other")(Tiling) is Tiling
        other = get_pass("t-other", size=4)
        assert isinstance(other, Tiling) and other.name == "t-other" and info_of(other).spec == "t-other{size=4}"
        module, before = ModuleOp([]), len(seen)
        with PassContext(disabled_pass=["t-other"]):
            assert not run(other, module) and len(seen) == before
        with PassContext(config={"t-other.size": 2}):
            run(get_pass("t-other"), module)
            run(Tiling(), module)
        assert [(p.name, p.size) for p in seen[before:] if isinstance(p, Tiling)] == [("t-other", 2), ("t-tiling", 8)]
    assert canonical_name("t-other") is None


def test_a_requirement_on_another_name_holds_once_it_has_run():
    @dataclass(frozen=True)
    class Reader(ModulePass):
        name = "t-reader"
        required = ("t-other",)
        preserves = ("*",)

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            pass

    with registered():
        register_pass("t-other")(Tiling)
        before = len(seen)
        run(Sequential([Reader(), Reader()]), ModuleOp([]))
        assert len(seen) == before + 1


def test_a_decorated_function_can_be_registered():
    @module_pass(opt_level=0, name="t-decorated")
    def decorated(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        return ModuleOp([])

    with registered():
        assert register_pass(cast("type[ModulePass]", decorated)) is decorated
        assert list(get_pass("t-decorated")(ModuleOp([ModuleOp([])])).ops) == []
    with pytest.raises(TypeError, match="register_pass takes a pass, got 3"):
        register_pass(3)  # pyright: ignore


def test_the_arguments_of_a_decorated_class_are_options():
    sizes: list[object] = []

    @module_pass(opt_level=0, name="t-sized")
    class Sized:
        def __init__(self, size: int = 1, tag="none"):  # pyright: ignore
            self.size, self.tag = size, tag

        def transform_module(self, mod: ModuleOp, ctx: PassContext) -> ModuleOp:
            sizes.append((self.size, self.tag))
            return mod

    with registered(cast("type[ModulePass]", Sized)):
        pipeline = parse_pipeline("t-sized{size=7},t-sized{tag=here}")
        assert str(pipeline) == 't-sized{size=7},t-sized{tag="here"}'
        with PassContext(config={"t-sized.size": 3}), collect() as remarks:
            pipeline(ModuleOp([]))
        assert sizes == [(7, "none"), (3, "here")]
        assert [each.message.partition(" is ")[2] for each in remarks] == ["passed over: it was made with 7"]
        with pytest.raises(PipelineError, match="has no option 'sise'"):
            parse_pipeline("t-sized{sise=7}")


def test_a_name_space_that_has_another_pass_of_the_name_is_refused():
    assert canonical_name("relay._transform.FuseOps") == canonical_name("transform.FuseOps") == "fuse-ops"
    for name in ("qnn.CanonicalizeOps", "a.b.c.FUSE-ops", "relay.fuse-ops", "relay.qnn.FuseOps"):
        assert canonical_name(name) is None, name


def test_an_option_that_was_given_is_not_overridden_even_if_it_is_the_default():
    module, before = ModuleOp([]), len(seen)
    with PassContext(config={"t-tiling.size": 2}):
        run(Sequential([Tiling(), Tiling(size=8), Tiling(8)]), module)
        run(parse_pipeline("t-tiling,t-tiling{size=8}"), module)
    assert [p.size for p in seen[before:] if isinstance(p, Tiling)] == [2, 8, 8, 2, 8]


@pytest.mark.parametrize("text", ["fuse-ops{max-depth=-3}", "fuse-ops{max-depth=0}", "fuse-ops{opt-level=99}"])
def test_an_option_out_of_its_range_is_refused(text: str):
    with pytest.raises(PipelineError, match="must be"):
        parse_pipeline(text)


def test_text_that_is_no_word_is_said_to_stand_in_quotes():
    with pytest.raises(PipelineError, match="the options of 'apply-schedule' cannot be read") as caught:
        parse_pipeline("apply-schedule{record=build/best.mlir}")
    assert caught.value.hint is not None and 'in quotes: {file="a.mlir"}' in caught.value.hint
    assert parse_pipeline('apply-schedule{record="build/best.mlir"}').passes


def test_a_number_that_is_too_long_is_refused():
    with pytest.raises(PipelineError, match="a number is too long"):
        parse_pipeline("fuse-ops{max-depth=" + "9" * 5000 + "}")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"opt_level": "3"}, TypeError, "'opt_level' of PassContext is an int, and not '3', a str"),
        ({"opt_level": True}, TypeError, "and not True, a bool"),
        ({"opt_level": 5}, ConfigError, "there is no opt level 5"),
        ({"opt_level": -1}, ConfigError, "there is no opt level -1"),
        ({"instruments": [PassTimingInstrument]}, TypeError, "and has the class PassTimingInstrument in it"),
        (
            {"instruments": PassTimingInstrument()},
            TypeError,
            "PassInstrument or None, and not .*, a PassTiming",
        ),
        ({"instruments": [3]}, TypeError, "has 3, an int in it"),
        ({"disabled_pass": ["fold-constnat"]}, ConfigError, "disabled_pass: no pass is named 'fold-constnat'"),
        ({"required_pass": ["MemoryPlan"]}, ConfigError, "required_pass: no pass is named 'MemoryPlan'"),
        ({"required_pass": ["FuseOpps"]}, ConfigError, "required_pass: no pass is named 'FuseOpps'"),
    ],
)
def test_a_context_refuses_what_it_cannot_use(arguments: dict[str, Any], error: type[Exception], message: str):
    with pytest.raises(error, match=message):
        PassContext(**arguments)


def test_a_pass_of_tvms_that_is_none_here_may_be_disabled():
    with PassContext(disabled_pass=["MemoryPlan", "relay.transform.ManifestAlloc"]) as context:
        assert "MemoryPlan" in context.disabled_pass
    with pytest.raises(ConfigError) as error:
        PassContext(required_pass=["MemoryPlan"])
    assert error.value.hint == "in place of TVM's MemoryPlan: plan-memory"


def test_a_misspelt_name_of_a_context_has_a_hint():
    with pytest.raises(ConfigError) as error:
        PassContext(disabled_pass=["fold-constnat"])
    assert error.value.hint == "did you mean 'fold-constant'?"


@pytest.mark.parametrize(
    "camel, kebab",
    [
        ("FuseOps", "fuse-ops"),
        ("CombineParallelConv2D", "combine-parallel-conv2d"),
        ("ToMixedPrecision", "to-mixed-precision"),
        ("FoldConstant", "fold-constant"),
        ("fuse-ops", "fuse-ops"),
    ],
)
def test_camel_case_becomes_kebab_case(camel: str, kebab: str):
    assert kebab_case(camel) == kebab


def test_passes_of_tvms_that_are_part_of_one_here_are_that_one():
    named = {each: get_pass(each).name for each in ("InsertHoistIfThenElse", "HoistIfThenElse")}
    assert set(named.values()) == {"hoist-if-then-else"}


def test_every_pass_in_the_tables_exists_and_has_its_name():
    import weft.universe  # noqa: F401  # pyright: ignore[reportUnusedImport]

    for name, factory in own_passes().items():
        pass_type = factory()
        assert pass_type.name == name and name == kebab_case(name), f"{pass_type} is registered as {name}"


def test_names_in_a_context_may_be_tvms():
    context = PassContext(disabled_pass=["TBlocking2D"])
    assert not context.enabled(Tiling().info)


def test_weft_transform_offers_passes_by_tvms_names():
    assert getattr(transform, "TTiling") is Tiling  # noqa: B009
    with pytest.raises(AttributeError, match=r"weft\.transform has no 'TTilling'.*did you mean 't-tiling'"):
        getattr(transform, "TTilling")  # noqa: B009
    with pytest.raises(AttributeError, match="has no attribute '__nothing__'"):
        getattr(transform, "__nothing__")  # noqa: B009


def test_weft_transform_knows_the_passes_of_every_package():
    code = "from weft import transform; print(transform.parse_pipeline('convert-tir-to-loops,FuseOps'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "convert-tir-to-loops,fuse-ops"


def test_import_weft_loads_no_heavy_modules():
    code = (
        "import sys, weft; print([m for m in ('numpy', 'llvmlite', 'onnx', 'xdsl', 'ml_dtypes') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_can_be_imported():
    import weft
    from weft import instrument
    from weft.transforms import infra

    for module in (weft, transform, instrument, infra):
        for name in module.__all__:
            assert getattr(module, name) is not None


# -- configuration ----------------------------------------------------------------------------------------------------


def tiling_with(config: dict[str, object], pass_: Tiling | None = None) -> str:
    with PassContext(config=config):
        attribute = (pass_ or Tiling())(ModuleOp([])).attributes["tiling"]
    assert isinstance(attribute, StringAttr)
    return attribute.data


def test_every_option_of_a_pass_is_a_configuration_key():
    assert tiling_with({"t-tiling.size": 4, "relay.TTiling.fast": True}) == "t-tiling{size=4 fast=true}"
    assert tiling_with({"TBlocking2D.shape": [1, 2], "t-tiling.ratio": 2}) == "t-tiling{ratio=2.0 shape=1,2}"


def test_tvms_configuration_key_of_fuse_ops_is_understood():
    context = PassContext(config={"relay.FuseOps.max_depth": 3, "relay.FuseOps.link_params": True})
    assert context.config == {"fuse-ops.max-depth": 3, "fuse-ops.link-params": True}


def test_an_option_given_to_the_pass_outweighs_the_configuration_and_a_remark_says_so():
    with collect() as remarks:
        assert tiling_with({"t-tiling.size": 4}, Tiling(size=16)) == "t-tiling{size=16}"
    assert [each.message for each in remarks] == [
        "the configuration's 't-tiling.size' is passed over: it was made with 16"
    ]
    with collect() as remarks:
        assert tiling_with({"t-tiling.size": 16}, Tiling(size=16)) == tiling_with({"t-tiling.size": 16})
    assert not remarks


def test_configurations_are_validated_when_the_context_is_made():
    with pytest.raises(ConfigError) as caught:
        PassContext(config={"t-tiling.sise": 4})
    assert caught.value.message == "there is no configuration option 't-tiling.sise'"
    assert caught.value.hint is not None and "'t-tiling.size'" in caught.value.hint
    with pytest.raises(ConfigError, match=r"'t-tiling\.size' has type int, but 'x' is of type str"):
        PassContext(config={"t-tiling.size": "x"})
    with pytest.raises(ConfigError, match=r"'t-tiling\.size' has type int, but True is of type bool"):
        PassContext(config={"t-tiling.size": True})
    with pytest.raises(ConfigError, match=r"'t-tiling\.size' is None"):
        PassContext(config={"t-tiling.size": None})


def test_options_of_their_own_are_registered_with_a_type():
    register_config_option("t.unroll", Struct)
    register_config_option("t.level", int)
    context = PassContext(config={"t.unroll": {"max_step": 3}, "t.level": 2})
    assert context.get_config("t.unroll", Struct()) == Struct(3)
    assert context.get_config("t.level", 0) == 2 and context.get_config("t.absent", 5) == 5
    with pytest.raises(ConfigError, match="already registered as int"):
        register_config_option("t.level", str)
    with pytest.raises(ConfigError, match=r"t\.unroll.*unexpected keyword"):
        PassContext(config={"t.unroll": {"no": 1}})


def test_configuration_keys_are_listed_with_types():
    configs = PassContext.list_configs()
    assert configs["t-tiling.size"].type is int and configs["t-tiling.shape"].type == tuple[int, ...]


# -- pipelines --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "",
        "cse",
        "cse,canonicalize",
        "t-tiling{size=4 ratio=0.25 fast=true shape=1,2}",
        't-tiling{kind="a b"}',
        "relay.func(t-on-relay)",
        "builtin.module(cse,relay.func(t-on-relay),tir.prim_func(t-on-tir))",
        "any(any(cse),any())",
    ],
)
def test_pipelines_print_as_they_are_written(text: str):
    assert str(parse_pipeline(text)) == text


def test_pipelines_are_read_with_some_latitude():
    text = " cse ,\n t-tiling{max-size=3}".replace("max-size", "size")
    assert list(parse_pipeline(text)) == [*parse_pipeline("cse"), Tiling(3)]
    assert list(parse_pipeline("TTiling{fast ratio=1}")) == [Tiling(ratio=1.0, fast=True)]
    assert list(parse_pipeline("t-tiling{}")) == [Tiling()]


def test_a_group_is_a_sequence_of_its_own():
    (group, last) = parse_pipeline("relay.func(t-on-relay,t-on-relay),cse")
    assert isinstance(group, Sequential) and len(group) == 2 and group.info.name == "relay.func"
    assert last.name == "cse"


@pytest.mark.parametrize(
    "text, column, message",
    [
        ("csee", 1, "no pass is named 'csee'"),
        ("cse,,cse", 5, "expected the name of a pass"),
        ("cse,", 5, "expected another pass after ','"),
        ("cse cse", 5, "expected ',' or the end of the pipeline"),
        ("cse)", 4, "expected ',' or the end of the pipeline"),
        ("any(cse", 1, "the group 'any' is not closed"),
        ("relay.fun(cse)", 1, "'relay.fun' cannot hold passes"),
        ("cse,relay.func(cse)", 16, "'cse' does not work on single functions"),
        ("tir.prim_func(t-on-relay)", 15, "'t-on-relay' does not work on single functions"),
        ("t-tiling{size=3", 9, "this '{' is not closed"),
        ("cse,t-tiling{sise=3}", 5, "the pass 't-tiling' has no option 'sise'"),
        ("t-tiling{size=x}", 10, "the option 'size' of 't-tiling' takes a whole number, not x"),
        ("cse,t-tiling{size=3,4}", 14, "the option 'size' of 't-tiling' takes a whole number, not 3 4"),
        ("fuse-ops{max-depth=0}", 1, "fuse-ops: the option 'max-depth' must be at least 1, not 0"),
        ("fuse-ops{opt-level=9}", 1, "fuse-ops: the option 'fuse-opt-level' must be -1 to 4, not 9"),
        ("t-tiling{size=}", 1, "the options of 't-tiling' cannot be read"),
    ],
)
def test_mistakes_in_a_pipeline_are_placed(text: str, column: int, message: str):
    with pytest.raises((PipelineError, UnknownPassError)) as caught:
        parse_pipeline(text)
    error = caught.value
    assert isinstance(error, Diagnostic) and error.message.startswith(message)
    assert error.place is not None and (error.place.line, error.place.column) == (1, column)


def test_mistakes_come_with_a_hint():
    with pytest.raises(PipelineError) as caught:
        parse_pipeline("t-tiling{sise=3}")
    assert caught.value.hint == "did you mean 'size'?"


def test_a_pipeline_may_be_nested_ten_thousand_deep():
    assert str(parse_pipeline("any(" * 10_000 + "cse" + ")" * 10_000)).count("any") == 10_000
