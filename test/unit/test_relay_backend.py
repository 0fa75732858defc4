"""What `relay.build` is told of how a program is to run."""

import shutil
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import weft
from weft import relay
from weft.dialects.support.diagnostics import UsageError, handled_by
from weft.relay_backend import Executor, Runtime
from weft.runtime.host import PlatformError

relay: Any = relay


def test_executors_and_runtimes_have_options_with_types() -> None:
    assert (Executor("aot", {"interface-api": "c"})["interface-api"], Executor("graph")["link-params"]) == ("c", False)
    assert Runtime("crt", {"system-lib": True})["system-lib"] and "woof" not in Runtime("cpp")
    assert str(Runtime("cpp")) == "cpp" and Runtime("cpp") == Runtime("cpp") != Runtime("cpp", {"system-lib": True})
    assert "aot" in Executor.list_registered() and Runtime.list_registered_options("crt") == {"system-lib": "IntImm"}
    assert Executor.list_registered_options(Executor("aot"))["interface-api"] == "runtime.String"
    assert relay.backend.Executor is Executor and relay.backend.Runtime is Runtime
    for refused, message in (
        (lambda: Executor("woof"), 'Executor "woof" is not defined'),
        (lambda: Executor("aot", {"woof": "bark"}), 'Attribute "woof" is not available on this Executor'),
        (lambda: Runtime("crt", {"system-lib": "x"}), '"IntImm" but instead found "runtime.String"'),
        (lambda: Executor("aot", {"interface-api": True}), '"runtime.String" but instead found "IntImm"'),
    ):
        with pytest.raises(UsageError, match=message):
            refused()


def test_a_program_is_built_for_the_graph_executor_and_this_machine() -> None:
    x, w = relay.var("x", shape=(3,)), np.arange(3, dtype=np.float32)
    module = relay.IRModule.from_expr(relay.Function([x], relay.add(x, relay.const(w))))
    for executor, kept in ((Executor("graph"), 1), (Executor("graph", {"link-params": True}), 0)):
        library = relay.build(module, "llvm", None, executor, Runtime("cpp"), params={})
        assert len(library.params) == kept
        graph = weft.graph_executor.GraphModule(library["default"](weft.cpu()))
        graph.set_input("x", w)
        graph.run()
        assert np.asarray(graph.get_output(0)).tolist() == [0, 2, 4]
    assert relay.build(module, {weft.cpu(): "llvm"}, "llvm").params
    for options in ({"interface-api": "c"}, {"unpacked-api": True}):
        with pytest.raises(UsageError, match=r"interface-api == \"packed\""):
            relay.build(module, executor=Executor("aot", options))
    with pytest.raises(UsageError, match="a divisor of 64, to which all memory is aligned, and not 128"):
        relay.build(module, executor=Executor("aot", {"workspace-byte-alignment": 128}))
    assert relay.build(module, runtime=Runtime("cpp", {"system-lib": True})).params
    with pytest.raises(UsageError, match="is linked to no"):
        relay.build(module, runtime=Runtime("crt"))
    with pytest.raises(UsageError, match=r"what weft\.build gives runs here, and is linked to no"):
        weft.build(module, runtime=Runtime("crt"))


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_a_program_is_built_for_the_executor_aot_exported_and_loaded(tmp_path: Path) -> None:
    """It was refused."""
    x, w = relay.var("input:0", shape=(2, 3)), relay.var("w", shape=(3,))
    weight, array = np.arange(3, dtype=np.float32), np.ones((2, 3), np.float32)
    module = relay.IRModule.from_expr(relay.Function([x, w], relay.Tuple([x + w, x])))
    built = relay.build(module, "llvm", None, Executor("aot"), params={"w": weight}, mod_name="sum")
    assert built.get_params() == {} and "define" in built.get_source("ll")
    built.export_library(tmp_path / "sum.so", options=["-Wl,--defsym=weft_by_option=0"])
    assert b"weft_by_option" in (tmp_path / "sum.so").read_bytes()
    with pytest.raises(UsageError, match="options are for the compiler that links a shared library"):
        built.export_library(tmp_path / "sum.a", options=["-g"])
    loaded: Any = weft.runtime.load_module(tmp_path / "sum.so")
    for library in (built, loaded):
        assert library.get_function("list_module_names")() == ["sum"]
        program = weft.runtime.executor.AotModule(library["sum"](weft.cpu()))
        assert (program.get_num_inputs(), program.get_num_outputs(), program.get_input_name(0)) == (1, 2, "input:0")
        with pytest.raises(UsageError, match="nothing was computed yet"):
            program.get_output(0)
        for name in ("input_0", "input:0", 0):
            program.set_input(name, np.zeros((2, 3), np.float32))
            program.get_input("input_0").copyfrom(array)
            program.run()
            assert program.get_output(0).tolist() == (array + weight).tolist()
            assert program.get_output(1, np.empty((2, 3), np.float32)).tolist() == array.tolist()
        program["set_input"](0, 3 * array)
        program.get_function("run", query_imports=True)()
        assert np.array_equal(cast("np.ndarray[Any, Any]", program["get_output"](1)), 3 * array)
        with pytest.raises(UsageError, match="there is no function 'runs'"):
            program["runs"]
        program.run(input_0=array)
        other = library["sum"]()
        other.run(input_0=2 * array)
        assert program.get_output(1)[0, 0] == 1 and other.get_output(1)[0, 0] == 2
        assert program.get_input_index("x") == -1
    told: list[str] = []
    with handled_by(lambda diagnostic: told.append(diagnostic.message)):
        built["sum"]().run()
    assert told == ["input input:0 was not set"]
    program = built["sum"]()
    for wrong, message in (
        (lambda: program.run(x=array), "there is no input 'x'; inputs: input:0"),
        (lambda: program.run(input_0=array[:1]), "input 'input:0' has shape"),
        (lambda: program.set_input("input_0"), "there is no array for the input 'input_0'"),
        (lambda: program.set_input(value=array), "it is not said which input the array is of"),
        (lambda: program.run() or program.get_output(2), "there is no output 2; there are 2"),
        (lambda: built["default"], "the library is called 'sum', not 'default'"),
        (lambda: built["sum"](weft.cuda()), "the program is for cpu"),
    ):
        with pytest.raises(weft.Diagnostic, match=message):
            wrong()


def test_a_program_of_open_extents_takes_inputs_of_any() -> None:
    x = relay.var("x", shape=(relay.Any(), 2))
    program = relay.build(relay.Function([x], x + x), executor=Executor("aot"))["default"](weft.cpu())
    with pytest.raises(weft.Diagnostic, match="the input 'x' has open extents, and was not set"):
        program.run()
    for count in (1, 3):
        program.run(x=np.ones((count, 2), np.float32))
        assert program.get_output(0).tolist() == [[2, 2]] * count


def test_a_library_gives_its_kernels_by_tvms_name() -> None:
    x = relay.var("x", shape=(3,))
    library = relay.build(relay.IRModule.from_expr(relay.Function([x], x + x)))
    graph = weft.graph_executor.create(library.get_graph_json(), library.get_lib(), weft.cpu())
    graph.load_params(relay.save_param_dict({**library.get_params(), "unknown": np.ones(1, np.float32)}))
    assert np.asarray(graph.run(x=np.ones(3, np.float32))["out"]).tolist() == [2, 2, 2]


def test_a_program_for_another_machine_is_built_and_refuses_to_run_here() -> None:
    x = relay.var("x", shape=(1, 8))
    dense = relay.nn.dense(x, relay.const(np.ones((4, 8), np.float32)))
    library: Any = relay.build(relay.IRModule.from_expr(relay.Function([x], dense)), "llvm -mtriple=aarch64-linux-gnu")
    assert sum(value.size for value in library.params.values()) == 4 * 8
    assert '"nodes"' in library.get_graph_json() and library.get_source("ll")
    assert library.kernels.objects and library.kernels.platform.triple == "aarch64-linux-gnu"
    with pytest.raises(PlatformError, match="the code is for aarch64-linux-gnu"):
        library["default"](weft.cpu())
