"""`relay.vm`: programs under the names of TVM's virtual machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import weft
from weft import relay
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.frontend.mlir import parse_mlir
from weft.runtime import profiler_vm

pytestmark = pytest.mark.sampled(3)

TEXT = """
relay.func @main(%n: tensor<i32>, %x: tensor<?xf32>) -> tensor<?xf32> {
  %zero = relay.constant dense<0> : tensor<i32>
  %more = relay.greater %n, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %y = relay.if %more : (tensor<i1>) -> tensor<?xf32> {
    %one = relay.constant dense<1> : tensor<i32>
    %m = relay.subtract %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %d = relay.add %x, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %0 = relay.call @main(%m, %d) : (tensor<i32>, tensor<?xf32>) -> tensor<?xf32>
    relay.yield %0 : tensor<?xf32>
  } else {
    relay.yield %x : tensor<?xf32>
  }
  relay.return %y : tensor<?xf32>
}
relay.func @both(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %a = relay.negative %x : tensor<2xf32>
  %b = relay.exp %x : tensor<2xf32>
  relay.return %a, %b : tensor<2xf32>, tensor<2xf32>
}
"""
X = np.array([1, 2, 3], np.float32)


@pytest.fixture(scope="module")
def exe() -> Any:
    return relay.vm.compile(parse_mlir(TEXT, "vm.mlir"))


def test_functions_are_invoked_by_name(exe: Any) -> None:
    machine: Any = relay.vm.VirtualMachine(exe)
    assert exe.globals == ["main", "both"] and exe.get_function_params("main") == ["n", "x"]
    np.testing.assert_array_equal(machine.invoke("main", np.array(3, np.int32), X), 8 * X)
    np.testing.assert_array_equal(machine.run(x=X[:1], n=np.array(1, np.int32)), 2 * X[:1])
    first, second = machine.invoke("both", X[:2])
    np.testing.assert_array_equal(first, -X[:2])
    np.testing.assert_allclose(second, np.exp(X[:2]), rtol=1e-6)
    assert len(machine.get_outputs()) == 2


def test_inputs_are_set_before(exe: Any) -> None:
    machine: Any = relay.vm.VirtualMachine(exe)
    with pytest.raises(UsageError, match="'main' has no n, x to be called with"):
        machine.run()
    machine.set_input("main", np.array(2, np.int32), X)
    np.testing.assert_array_equal(machine.run(), 4 * X)
    machine.set_one_input("main", "n", np.array(0, np.int32))
    machine.set_one_input("main", machine.get_input_index("x"), 5 * X)
    machine.invoke_stateful("main")
    np.testing.assert_array_equal(machine.get_outputs()[0], 5 * X)
    machine.set_one_input("main", "x", given := X.copy())
    given[...] = 0
    np.testing.assert_array_equal(machine.run(), X)
    machine.set_one_input("main", "x", given := weft.nd.array(X))
    given.copyfrom(3 * X)
    np.testing.assert_array_equal(machine.run(), 3 * X)
    assert machine.benchmark(repeat=1, number=1).mean > 0
    assert machine.profile(X[:2], func_name="both").steps
    assert profiler_vm.enabled() and profiler_vm.VirtualMachineProfiler is relay.vm.VirtualMachine


def test_parameters_are_bound_and_what_is_wrong_is_named(exe: Any) -> None:
    x, w = relay.var("x", shape=(2,)), relay.var("w", shape=(2,))
    module = relay.IRModule.from_expr(relay.Function([x, w], relay.Tuple([x * w, relay.Tuple([x])])))
    machine: Any = relay.vm.VirtualMachine(relay.vm.compile(module, "llvm", {"w": X[:2]}))
    product, (same,) = machine.run(X[1:])
    np.testing.assert_array_equal(product, X[:2] * X[1:])
    np.testing.assert_array_equal(same, X[1:])
    for wrong, message in (
        (lambda: machine.invoke("mian", X), "there is no function 'mian'"),
        (lambda: machine.run(y=X), "there is no parameter 'y'"),
        (lambda: machine.set_one_input("main", 7, X), "there is no input 7"),
        (lambda: machine.run(X), "input 'x' has shape"),
        (lambda: relay.vm.VirtualMachine(cast(Any, 5)), "'exe' of"),
    ):
        with pytest.raises(weft.Diagnostic, match=message):
            wrong()


def test_parameters_that_are_no_inputs_are_warned_of_and_left(capsys: pytest.CaptureFixture[str]) -> None:
    """They were refused: what partitioning for a backend had bound could not be built with its parameters."""
    x, w = relay.var("x", shape=(2,)), relay.var("w", shape=(2,))
    bound = relay.bind_params_by_name(relay.IRModule.from_expr(relay.Function([x, w], x * w)), {"w": X[:2]})
    graph: Any = relay.build(bound, "llvm", params={"w": X[:2]})["default"](weft.cpu())
    graph.set_input("x", X[:2])
    graph.run()
    machine: Any = relay.vm.VirtualMachine(relay.vm.compile(bound, "llvm", {"w": X[:2]}))
    for found in (graph.get_output(0), machine.run(X[:2])):
        np.testing.assert_array_equal(found, X[:2] * X[:2])
    assert capsys.readouterr().err.count("warning: @main has no input 'w'; inputs: x") == 2


def test_an_executor_gives_all_results_of_a_function() -> None:
    """It gave the first."""
    module = parse_mlir(TEXT[TEXT.index("relay.func @both") :].replace("@both", "@main"), "both.mlir")
    for kind in ("debug", "graph", "vm"):
        found: Any = relay.create_executor(kind, module).evaluate()
        first, second = found(X[:2])
        np.testing.assert_array_equal(first, -X[:2])
        np.testing.assert_allclose(second, np.exp(X[:2]), rtol=1e-6)


def test_a_virtual_machine_is_compiled_in_steps() -> None:
    x, w = relay.var("x", shape=(2,)), relay.var("w", shape=(2,))
    module, compiler = relay.IRModule.from_expr(relay.Function([x, w], x * w)), relay.vm.VMCompiler()
    with pytest.raises(UsageError, match="nothing was compiled"):
        compiler.get_exec()
    compiler.set_params({"w": np.array([2, 3], np.float32)})
    optimized, _ = compiler.optimize(module, "llvm")
    assert len(optimized["main"].params) == 1
    compiler.lower(module, "llvm")
    compiler.codegen()
    machine = relay.vm.VirtualMachine(compiler.get_exec(), weft.cpu())
    assert np.array_equal(cast(Any, machine.invoke("main", np.ones(2, np.float32))), [2, 3])


def test_one_input_is_set_by_number_or_name() -> None:
    x, y = relay.var("x", shape=()), relay.var("y", shape=())
    machine = relay.vm.VirtualMachine(relay.vm.compile(relay.Function([x, y], x - y)), weft.cpu())
    machine.set_one_input("main", 0, np.float32(5))
    machine.set_one_input("main", y=np.float32(2))
    assert machine.invoke("main") == 3
    machine.set_one_input("main", "x", np.float32(6))
    assert machine.invoke("main") == 4 and machine.get_input_index("y") == 1 and machine.get_input_index("z") == -1
    for args, kwargs in (((0,), {}), ((), {}), ((0, 1), {"x": 1}), ((), {"x": 1, "y": 2}), ((1.5, 2), {})):
        with pytest.raises(UsageError, match="one input is set by its number or name"):
            machine.set_one_input("main", *args, **kwargs)
    with pytest.raises(UsageError, match="there is no input 'z'"):
        machine.set_one_input("main", z=1)


def test_results_are_written_to_arrays_that_are_given() -> None:
    x = relay.var("x", shape=(2,))
    machine = relay.vm.VirtualMachine(relay.vm.compile(relay.Function([x], relay.Tuple([x + x, x * x]))), weft.cpu())
    twice, square = np.empty(2, np.float32), np.empty(2, np.float32)
    machine.invoke_with_outputs("main", {"x": np.array([1, 3], np.float32)}, [twice, square])
    assert twice.tolist() == [2, 6] and square.tolist() == [1, 9]
    with pytest.raises(UsageError, match=r"gives \[float32 \[2\], float32 \[2\]\], not \[float32 \[2\]\]"):
        machine.invoke_with_outputs("main", {"x": np.zeros(2, np.float32)}, [twice])


def test_a_benchmark_takes_a_device_before_the_arguments() -> None:
    x = relay.var("x", shape=(2,))
    machine = relay.vm.VirtualMachine(relay.vm.compile(relay.Function([x], x + x)), weft.cpu())
    result = machine.benchmark(weft.cpu(), np.ones(2, np.float32), repeat=2, number=1, end_to_end=True)
    assert len(result.results) == 2
    with pytest.raises(weft.Diagnostic, match="cuda"):
        machine.benchmark(weft.cuda(), np.ones(2, np.float32))


def test_an_executable_is_saved_and_loaded(tmp_path: Path) -> None:
    prelude = relay.Prelude()
    module = prelude.mod
    _, cons, nil = module.get_type("List")
    x, y = relay.var("x", shape=(relay.Any(),)), relay.var("y", shape=(2,))
    module["main"] = relay.Function([x, y], relay.Tuple([cons(x, cons(x + x, nil())), y]))
    module["twice"] = relay.Function([y], relay.GlobalVar("id")(y) + y)
    compiled = relay.vm.compile(module)
    code, library = compiled.save()
    assert isinstance(code, bytearray)
    library.export_library(tmp_path / "library", fcompile=False, options=["-O2"])
    read: Any = weft.runtime.load_module(tmp_path / "library")
    for again in (
        relay.vm.Executable.load_exec(code, library),
        relay.vm.Executable.load_exec(bytes(code), relay.vm.load_library(tmp_path / "library")),
        relay.vm.Executable.load_exec(bytes(code), read),
    ):
        assert set(again.globals) == {"main", "twice"} and again.get_function_params("main") == ["x", "y"]
        machine: Any = relay.vm.VirtualMachine(again, weft.cpu())
        (head, (second, tail)), last = machine.run(x=np.ones(3, np.float32), y=np.zeros(2, np.float32))
        assert [each.tolist() for each in (head, second, last)] == [[1] * 3, [2] * 3, [0] * 2] and len(tail) == 0
        assert machine.invoke("twice", np.ones(2, np.float32)).tolist() == [2, 2]
        assert again.save()[0] == code  # it may be saved again
        with pytest.raises(UsageError, match="there is no function 'twise'"):
            machine.invoke("twise", np.ones(2, np.float32))


def test_what_is_exported_of_an_executable_is_loaded_as_a_module(tmp_path: Path) -> None:
    module = relay.IRModule()
    x, y = relay.var("x", shape=(relay.Any(),)), relay.var("y", shape=(2,))
    module["main"] = relay.Function([x], relay.Tuple([x + x, x]))
    module["negated"] = relay.Function([y], relay.negative(y))
    relay.vm.compile(module).mod.export_library(tmp_path / "model.so")
    loaded: Any = weft.runtime.load_module(tmp_path / "model.so", threads=1)
    assert loaded["negated"](np.ones(2, np.float32)).tolist() == [-1, -1]
    machine: Any = relay.vm.VirtualMachine(loaded, weft.cpu())
    twice, once = machine.invoke("main", np.ones(3, np.float32))
    assert (twice.tolist(), once.tolist()) == ([2] * 3, [1] * 3)
    assert machine.invoke("negated", np.ones(2, np.float32)).tolist() == [-1, -1]
    with pytest.raises(UsageError, match="there is no function 'negate'"):
        loaded["negate"]


def test_a_library_alone_is_no_executable(tmp_path: Path) -> None:
    x = relay.var("x", shape=(2,))
    _, library = relay.vm.compile(relay.Function([x], x + x)).save()
    library.save(tmp_path / "library")
    loaded: Any = weft.runtime.load_module(tmp_path / "library")
    with pytest.raises(UsageError, match="does not say what its functions are"):
        relay.vm.VirtualMachine(loaded)
    with pytest.raises(UsageError, match="is of a virtual machine, and no object file"):
        weft.runtime.load_static_library(tmp_path / "library", ["main"])
    with pytest.raises(Diagnostic, match="cannot be written"):
        library.save(tmp_path / "no" / "folder")


def test_what_was_not_saved_together_is_refused(tmp_path: Path) -> None:
    x = relay.var("x", shape=(2,))
    code, library = relay.vm.compile(relay.Function([x], x + x)).save()
    library.functions["other"] = library.functions["main"]
    with pytest.raises(UsageError, match="not of one executable: one of them alone has other"):
        relay.vm.Executable.load_exec(code, library)
    with pytest.raises(Diagnostic, match="is no code of a virtual machine"):
        relay.vm.Executable.load_exec(b"builtin.module {}", library)
    with pytest.raises(Diagnostic):
        relay.vm.Executable.load_exec(b"\xff\x00", library)
    (tmp_path / "text").write_text("text")
    with pytest.raises(Diagnostic, match="is no library of a virtual machine"):
        relay.vm.load_library(tmp_path / "text")
    with pytest.raises(Diagnostic, match="cannot be read"):
        relay.vm.load_library(tmp_path / "nothing")


def test_an_empty_list_of_what_is_not_said_is_given() -> None:
    """It was refused, for no function could write what it has none of."""
    module = relay.Prelude().mod
    _, _, nil = module.get_type("List")
    x = relay.var("x", shape=(2,))
    module["main"] = relay.Function([x], relay.Tuple([nil(), x]))
    machine: Any = relay.vm.VirtualMachine(relay.vm.compile(module))
    empty, same = machine.run(X[:2])
    assert len(empty) == 0 and same.tolist() == [1, 2]


def test_a_data_type_that_holds_itself_with_ever_larger_types_is_refused() -> None:
    """It was looked through without an end."""
    module, nest, a = relay.IRModule(), relay.GlobalTypeVar("Nest"), relay.TypeVar("a")
    end = relay.Constructor("End", [], nest)
    more = relay.Constructor("More", [a, nest(relay.TupleType([a, a]))], nest)
    module[nest] = relay.TypeData(nest, [a], [end, more])
    x = relay.var("x", shape=(2,))
    module["main"] = relay.Function([x], more(x, more(relay.Tuple([x, x]), end())))
    with pytest.raises(Diagnostic, match="what is run takes and gives tensors"):
        relay.vm.compile(module)
