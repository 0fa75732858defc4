"""Dynamic inputs of modules are given shapes, from Python and on every command line."""

from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import weft
from weft.dialects.support.diagnostics import UsageError
from weft.dialects.support.parser import parse_module
from weft.tools.weft_bench import main as weft_bench
from weft.tools.weft_opt import main as weft_opt
from weft.tools.weft_run import main as weft_run
from weft.transforms.infra.printing import module_text
from weft.transforms.infra.registry import new_ir_context
from weft.transforms.relay.bind_shapes import bind_shapes

TEXT = """relay.func @main(%x: tensor<?x4xf32>, %w: tensor<4x4xf32>) -> tensor<?x4xf32> {
  %y = relay.nn.dense %x, %w : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  relay.return %y : tensor<?x4xf32>
}"""


def parsed() -> ModuleOp:
    return parse_module(TEXT, new_ir_context())


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "dyn.mlir"
    file.write_text(TEXT)
    return str(file)


def test_what_follows_from_an_input_becomes_static_with_it() -> None:
    module = parsed()
    bind_shapes(module, {"x": (3, 4)})
    assert "?" not in module_text(module) and "-> tensor<3x4xf32> {" in module_text(module)


def test_a_dimension_may_stay_open() -> None:
    module = parsed()
    bind_shapes(module, {"x": (-1, 4)})
    assert module_text(module) == module_text(parsed())


@pytest.mark.parametrize("shape", [(3, 5), (3,), (3, 4, 1)])
def test_a_shape_that_contradicts_the_declared_type_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match="does not fit input 'x' of type"):
        bind_shapes(parsed(), {"x": shape})


def test_an_extent_below_what_stands_for_an_open_one_is_refused() -> None:
    with pytest.raises(UsageError, match=r"input 'x' cannot have the shape \[-3, 4\]: an extent is at least 0"):
        bind_shapes(parsed(), {"x": (-3, 4)})


def test_an_unknown_input_has_its_near_ones_named() -> None:
    with pytest.raises(UsageError, match="no input 'xx'") as error:
        bind_shapes(parsed(), {"xx": (3, 4)})
    assert error.value.hint == "did you mean 'x'?"


def test_python_compiles_a_module_with_shapes(path: str) -> None:
    x, w = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32), -np.eye(4, dtype=np.float32)
    np.testing.assert_array_equal(weft.compile(path, shapes={"x": (3, 4)})(x, w), -x)
    np.testing.assert_array_equal(weft.compile(path)(x, w), -x)


def test_tools_take_shapes_of_modules_and_say_so(path: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert weft_opt([path, "--shape", "x=3x4"]) == 0
    assert "tensor<3x4xf32>" in capfd.readouterr().out
    assert weft_opt([path, "--compile-to=llvm"]) == 0
    assert "llvm.func @weft_run" in capfd.readouterr().out
    assert weft_run([path, "--shape", "x=3x4"]) == 0
    assert "tensor<3x4xf32>" in capfd.readouterr().out
    assert weft_run([path]) == 2 and weft_bench([path]) == 2
    assert capfd.readouterr().err.count("--shape x=1x4") == 2


def test_an_input_that_is_given_gives_its_shape(path: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert weft_run([path, "--input", "x=2x4xf32=1", "--compare", "interpreter"]) == 0
    assert "tensor<2x4xf32>" in capfd.readouterr().out


def test_more_random_numbers_than_memory_holds_are_refused(path: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert weft_run([path, "--shape", "x=1000000000000x4"]) == 1
    assert "memory holds" in capfd.readouterr().err
