"""Every function of the tests of the graph passes gives the same results before and after its pass."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from evaluate import assert_same_results, functions
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.parser import Parser

from weft.dialects.relay.control import ClosureOp
from weft.dialects.relay.core import CallOp, ConstantOp, FuncOp
from weft.dialects.relay.data import AdtOp
from weft.dialects.relay.interpreter import is_first_order
from weft.dialects.relay.ops.nn.activation import DropoutOp
from weft.dialects.relay.scan import ScanOp
from weft.transforms.infra import PassContext, PassInstrument, get_pass
from weft.transforms.infra.execution import active_run
from weft.transforms.infra.info import PassInfo
from weft.transforms.infra.registry import new_ir_context
from weft.transforms.relay import PASSES as RELAY_PASSES

TESTS = Path(__file__).parents[1] / "transforms"
NOT_COMPARED = {
    "plan-devices", "outline-segments", "outline-open-segments", "first-order-gradient", "simplify-fc-transpose",
    "merge-composite", "dense-to-sparse", "change-batch",
    "conv2d-to-sparse", "flexible-shape-dispatch",
}  # fmt: skip
PASSES = [name for name in RELAY_PASSES if name not in NOT_COMPARED]
"""All but ten: notes of devices have no value, and what is planned is held against TVM's plans instead; segments are
of kernels, and held against the interpreter as machine code (`test/run/language.mlir`); a gradient gives other results,
and is held against finite differences (`test_gradients.py`); an argument that is given transposed is another one
(`test_simplify_fc_transpose.py`), as is one given sparse
(`test_data_dependent.py`); results are others of another batch size, and of a size that is left open
(`test_flexible_shape_dispatch.py`); patterns of composites are Python (`test_compiler_regions.py`)."""

NOT_EVALUATED = {
    "defunctionalization": {"a_data_type_of_functions_is_written_for_its_types", "from", "nth"},
    "dead-code-elimination": {
        "a_stateful_operator_stays",
        "a_call_of_an_impure_function_stays",
        "a_call_of_a_function_value_with_an_effect_stays",
    },
    "eliminate-common-subexpr": {"stateful_operators_and_calls_stay_two"},
    "fold-constant": {"a_resource_without_its_data_is_not_folded", "a_stateful_operator_is_not_folded"},
    "fuse-ops": {"a_stateful_operator_that_nothing_reads_stays", "what_stands_in_a_region_is_fused_by_itself"},
    "inline": {"circles", "again", "even", "odd", "a_function_value_that_is_given_away"},
    "partial-evaluate": {
        "forever", "reversed", "triangle", "recursion_on_a_number_that_is_known", "recursion_on_an_argument_stays",
        "recursion_on_data_that_are_known", "recursion_without_an_end_stays",
        "recursion_on_data_of_which_the_form_is_known", "total",
    },
    "remove-unused-functions": {"recursive_but_unused"},
    "specialize-functions": {"written_once_for_each_type", "map", "who_is_not_called_stays"},
    "simplify-inference": {"dropout_disappears", "dropout_whose_mask_is_used_stays"},
}  # fmt: skip
"""Functions in a pass's test that need data that is not there, have a random part, call themselves or give a function,
or call such. Those that call themselves are compared in `test/run/function_values.mlir`."""


OPTIONS: dict[str, dict[str, Any]] = {
    "combine-parallel-batch-matmul": {"min_num_branches": 2},
    "combine-parallel-conv2d": {"min_num_branches": 2},
    "combine-parallel-dense": {"min_num_branches": 2},
    "conv-to-conv2d": {"vector_bytes": 64},
    "convert-layout": {"desired_layouts": ("nn.conv2d:NCHW", "nn.max_pool3d:NDHWC", "qnn.conv2d:NCHW")},
    "eta-expand": {"expand_global_var": True},
    "split-args": {"max_function_args": 3},
    "to-mixed-precision": {"keep_orig_output_dtype": True},
    "unroll-scans": {"turns": 2},
}
"""Passes that do nothing, or less, without."""


OTHERS_TELL = {"batching-ops", "fold-scale-axis"}
"""Passes that run others, which tell what they have changed."""

ALL_CHANGE = {
    "mark-compiler-functions-as-extern", "merge-compiler-regions", "partition-conversions", "partition-graph",
    "outline-compiler-functions-with-existing-global-symbols",
}  # fmt: skip
"""Passes that divide functions, most of them for other compilers, whose tests have nothing else."""


def parse(path: Path) -> ModuleOp:
    return Parser(new_ir_context(), path.read_text(), str(path)).parse_module()


def drop_what_cannot_be_evaluated(module: ModuleOp) -> set[str]:
    """Drop the functions that need data that is not there, or have a random part, and those that call them.

    Returns their names.
    """
    all_dropped: set[str] = set()
    dropped = {""}
    while dropped:
        dropped.clear()
        for name, func in functions(module).items():
            if not all(can_be_evaluated(op, functions(module)) for op in func.walk()):
                dropped.add(name)
                func.detach()
                func.erase()
        all_dropped |= dropped
    return all_dropped


def can_be_evaluated(op: Operation, callees: dict[str, FuncOp]) -> bool:
    if isinstance(op, FuncOp):
        gives_values = op.sym_visibility is not None or all(map(is_first_order, op.function_type.outputs))
        return gives_values and op.sym_name.data not in reached(op, callees)
    if isinstance(op, CallOp | ScanOp):
        return op.callee.string_value() in callees
    if not op.name.startswith("relay.") or isinstance(op, DropoutOp):
        return False
    return not isinstance(op, ConstantOp) or op.numpy() is not None


def reached(func: FuncOp, callees: dict[str, FuncOp]) -> set[str]:
    """The functions that `func` calls, directly or through others."""
    found: set[str] = set()
    pending = [func]
    while pending:
        for op in pending.pop().walk():
            if isinstance(op, CallOp | ScanOp) and (name := op.callee.string_value()) not in found:
                found.add(name)
                pending += [callees[name]] if name in callees else []
    return found


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", PASSES)
def test_the_results_are_the_same_before_and_after(name: str):
    module = parse(TESTS / f"{name.replace('-', '_')}.mlir")
    assert drop_what_cannot_be_evaluated(module) == NOT_EVALUATED.get(name, set())
    with PassContext(opt_level=4):
        after = get_pass(name, **OPTIONS.get(name, {}))(module)
    assert functions(after)
    steps = {"to-mixed-precision": 2e-2, "fake-quantization-to-integer": 1, "quantize-annotate": 5e-2}
    tolerance = steps.get(name, 1e-4)
    assert_same_results(module, after, rtol=tolerance, atol=tolerance)


class _Reported(PassInstrument):
    """What the pass of a name reports: whether it has changed the module."""

    def __init__(self, name: str):
        self.name = name
        self.changed: bool | None = None

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        run = active_run()
        if info.name == self.name and run is not None:
            self.changed = run.changed


def with_callees(module: ModuleOp, name: str) -> ModuleOp:
    """A function and what it calls, in a module of their own."""
    known = functions(module)
    wanted = [name]
    for each in wanted:
        called = [op.callee.string_value() for op in known[each].walk() if isinstance(op, CallOp | ClosureOp | ScanOp)]
        wanted += [other for other in dict.fromkeys(called) if other in known and other not in wanted]
    types = [op.clone() for op in module.ops if isinstance(op, AdtOp)]
    return ModuleOp([*types, *(known[each].clone() for each in wanted)])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", PASSES)
def test_a_pass_that_reports_no_change_has_changed_nothing(name: str):
    """What is known of a module is kept over such a pass."""
    module = parse(TESTS / f"{name.replace('-', '_')}.mlir")
    quiet: list[str] = []
    for each in functions(module):
        alone = with_callees(module, each)
        with PassContext(opt_level=4):  # what the pass requires has been done
            for required in get_pass(name).info.required:
                alone = get_pass(required)(alone)
        before, reported = str(alone), _Reported(name)
        with PassContext(opt_level=4, instruments=[reported]):
            after = get_pass(name, **OPTIONS.get(name, {}))(alone)
        if reported.changed is False:
            quiet.append(each)
            assert str(after) == before, f"{name} has changed @{each} and says that it has not"
    assert quiet or name in OTHERS_TELL | ALL_CHANGE
