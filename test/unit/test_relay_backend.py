"""What `relay.build` is told of how a program is to run."""

from typing import Any

import numpy as np
import pytest

import weft
from weft import relay
from weft.dialects.support.diagnostics import UsageError
from weft.relay_backend import Executor, Runtime

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
    with pytest.raises(UsageError, match="compiles for the executor 'graph', and not for 'aot'"):
        relay.build(module, executor=Executor("aot"))
    assert relay.build(module, runtime=Runtime("cpp", {"system-lib": True})).params
    with pytest.raises(UsageError, match="is linked to no"):
        relay.build(module, runtime=Runtime("crt"))
    with pytest.raises(UsageError, match=r"what weft\.build gives runs here, and is linked to no"):
        weft.build(module, runtime=Runtime("crt"))


def test_a_library_gives_its_kernels_by_tvms_name() -> None:
    x = relay.var("x", shape=(3,))
    library = relay.build(relay.IRModule.from_expr(relay.Function([x], x + x)))
    graph = weft.graph_executor.create(library.get_graph_json(), library.get_lib(), weft.cpu())
    graph.load_params(relay.save_param_dict({**library.get_params(), "unknown": np.ones(1, np.float32)}))
    assert np.asarray(graph.run(x=np.ones(3, np.float32))["out"]).tolist() == [2, 2, 2]
