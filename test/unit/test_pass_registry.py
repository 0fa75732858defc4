"""Names, configuration and pipelines: how passes are asked for."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr

from weft import transform
from weft.dialects.relay.core import FuncOp
from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.tir.core import PrimFuncOp
from weft.transforms.infra.config import register_config_option
from weft.transforms.infra.context import PassContext
from weft.transforms.infra.errors import ConfigError, PipelineError, UnknownPassError
from weft.transforms.infra.info import info_of
from weft.transforms.infra.passes import FunctionPass, ModulePass, Pass, PrimFuncPass
from weft.transforms.infra.pipeline import parse_pipeline
from weft.transforms.infra.registry import (
    all_passes,
    canonical_name,
    get_pass,
    get_pass_type,
    kebab_case,
    own_passes,
    register_pass,
    registered,
)
from weft.transforms.infra.sequential import Sequential

seen: list[ModulePass] = []


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
        register_pass("t-other")(Tiling)
        assert get_pass_type("t-other") is Tiling
    assert canonical_name("t-other") is None


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


def test_an_option_given_to_the_pass_outweighs_the_configuration():
    assert tiling_with({"t-tiling.size": 4}, Tiling(size=16)) == "t-tiling{size=16}"


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
        ("t-tiling{size=x}", 1, "t-tiling: incompatible types: given ('x',), expected <class 'int'>"),
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
