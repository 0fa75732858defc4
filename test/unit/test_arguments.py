"""Arguments of public functions: each is refused by name where it is not of its type, before anything happens."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import pytest
from public_names import NAMESPACES, callables

import weft
from weft import arith, relay, te, tir
from weft.dialects.support.arguments import ANYTHING, ArgumentError, checked, checked_methods, rules_of
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.runtime.graph_executor import GraphModule
from weft.transforms.relay.fuse_ops import FuseOpsPass
from weft.transforms.relay.merge_composite import MergeCompositePass

if TYPE_CHECKING:
    from weft.transforms.infra.timing import Profile

FIVE: Any = 5
WORD: Any = "x"
"""What the functions here do not take."""

PERCEPTRON = Path(__file__).parents[2] / "examples" / "perceptron.mlir"


@checked
def example(
    number: int = 0,
    share: float = 0.5,
    names: Sequence[str] = (),
    table: Mapping[str, Sequence[int]] | None = None,
    kind: Literal["a", "b"] = "a",
    call: Callable[..., object] | None = None,
    path: str | os.PathLike[str] = "",
    pair: tuple[int, str] = (1, ""),
    unknown: Profile | None = None,
    anything: Any = None,
    *rest: int,
) -> int:
    """An example.

    Args:
        number: how many there are.
        share, names: words
            over two lines.
    """
    return number


@pytest.mark.parametrize(
    "fitting",
    [
        {"number": np.int64(3)},
        {"share": 1},
        {"share": np.float32(1)},
        {"names": ["a", "b"]},
        {"table": {"a": (1, 2)}},
        {"call": len},
        {"path": Path("x")},
        {"pair": [1, "x"]},
        {"unknown": 5},
        {"anything": object()},
    ],
)
def test_what_fits_its_annotation_is_taken(fitting: dict[str, Any]) -> None:
    assert example(**fitting) == fitting.get("number", 0)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"number": "3"}, "'number' of example is an int, and not '3', a str"),
        ({"number": True}, "and not True, a bool"),
        ({"number": 2.0}, "and not 2.0, a float"),
        ({"share": "x"}, "'share' of example is a float"),
        ({"names": "abc"}, "'names' of example is a sequence of str, and not 'abc', a str"),
        ({"names": ["a", 5]}, "and has 5, an int in it"),
        ({"table": {"a": 5}}, "a mapping from str to sequence of int or None, and not {'a': 5}, a dict"),
        ({"table": [1]}, "and not [1], a list"),
        ({"kind": "c"}, "'kind' of example is 'a' or 'b', and not 'c'"),
        ({"call": 5}, "'call' of example is a function or None"),
        ({"path": b"x"}, "'path' of example is a str or a PathLike, and not b'x', a bytes"),
        ({"pair": (1,)}, "'pair' of example is (an int, a str)"),
        ({"number": int}, "and not the class int"),
        ({"number": None}, "and not None"),
    ],
)
def test_what_does_not_fit_is_told_with_the_argument(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        example(**wrong)
    assert told in caught.value.message


def test_arguments_by_position_are_checked_those_of_a_list_too() -> None:
    with pytest.raises(ArgumentError, match="'share' of example"):
        example(1, WORD)
    assert example(1, 2.0, (), None, "a", None, "", (1, ""), None, None, 7) == 1
    with pytest.raises(ArgumentError, match="'rest' of example is an int"):
        example(1, 2.0, (), None, "a", None, "", (1, ""), None, None, WORD)


def test_the_hint_is_what_the_docstring_says() -> None:
    with pytest.raises(ArgumentError) as caught:
        example(number=WORD)
    assert caught.value.hint == "number: how many there are"
    with pytest.raises(ArgumentError) as caught:
        example(names=FIVE)
    assert caught.value.hint == "names: words over two lines"


def test_a_refusal_is_a_diagnostic_and_a_type_error() -> None:
    assert issubclass(ArgumentError, UsageError) and issubclass(ArgumentError, TypeError)


def test_an_object_whose_text_fails_is_told_nevertheless() -> None:
    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError

    with pytest.raises(ArgumentError, match="and not something, an Odd"):
        example(Odd())  # pyright: ignore[reportArgumentType]


def test_public_methods_and_the_constructor_of_a_class_are_checked() -> None:
    @checked_methods
    class Sample:
        def __init__(self, size: int):
            self.size = size

        def grown(self, by: int) -> int:
            return self._grown(by)

        def _grown(self, by: int) -> int:
            return self.size + by

    with pytest.raises(ArgumentError, match="'size' of"):
        Sample(WORD)
    with pytest.raises(ArgumentError, match="'by' of"):
        Sample(1).grown(WORD)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"target": 5}, "'target' of compile is a str, a Target or a sequence of str or a Target"),
        ({"target": "llvm -mcpu='x"}, "cannot be read: no closing quotation"),
        ({"opt_level": "3"}, "'opt_level' of compile is an int or None"),
        ({"opt_level": 9}, "there is no opt level 9"),
        ({"threads": 2.5}, "'threads' of compile is an int or None"),
        ({"threads": 0}, "at least one is needed"),
        ({"params": ["x"]}, "'params' of compile is a mapping from str"),
        ({"params": {"x": [[1, 2], [3]]}}, "parameter 'x' is no array of numbers"),
        ({"params": {"x": None}}, "parameter 'x' is no array of numbers"),
        ({"params": {"z": [1.0]}}, "there is no input 'z'"),
        ({"shapes": {"x": 5}}, "'shapes' of compile is a mapping from str to sequence of int"),
        ({"function": 5}, "'function' of compile is a str or None"),
        ({"function": "mian"}, "there is no function @mian"),
        ({"phase": "object"}, "there is no phase 'object' to compile from"),
        ({"phase": "fusee"}, "there is no phase 'fusee' to compile from"),
        ({"phase": 5}, "'phase' of compile is a str or None"),
        ({"executor": 5}, "'executor' of compile is a str"),
        ({"executor": "vm"}, "there is no executor 'vm'"),
    ],
)
def test_compile_refuses_each_argument_by_its_name(arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(Diagnostic) as caught:
        weft.compile(PERCEPTRON, **arguments)
    assert told in caught.value.message


def test_an_argument_that_a_function_does_not_take_has_a_near_name() -> None:
    with pytest.raises(ArgumentError, match="compile has no argument 'thread'\nhint: did you mean 'threads'\\?"):
        weft.compile(PERCEPTRON, thread=2)  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="placeholder has no argument 'ndim'\nhint: it takes shape, dtype, name"):
        te.placeholder((8,), ndim=1)  # pyright: ignore[reportCallIssue]


def test_no_threads_are_refused_with_what_stands_for_all() -> None:
    with pytest.raises(Diagnostic) as caught:
        weft.compile(PERCEPTRON, threads=0)
    assert caught.value.hint == "None stands for all processors"


@pytest.mark.parametrize("name", ["missing.mlir", "folder.mlir", "empty.onnx", "bytes.mlir", "missing.onnx", "5"])
def test_models_that_cannot_be_read_are_told_of(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder.mlir").mkdir()
    (tmp_path / "empty.onnx").touch()
    (tmp_path / "bytes.mlir").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(Diagnostic):
        weft.compile(tmp_path / name)


A = te.placeholder((8, 8), name="A")
C = te.compute((8, 8), lambda i, j: A[i, j] + 1, name="C")


@pytest.mark.parametrize(
    "call",
    [
        lambda: weft.load(FIVE),
        lambda: weft.lower(te.create_schedule(C.op), FIVE),
        lambda: weft.build(te.create_schedule(C.op), [A, C], FIVE),
        lambda: te.exp(WORD),
        lambda: A[0, 0].__add__(WORD),
        lambda: te.const(float("nan"), "int32"),
        lambda: te.placeholder(WORD),
        lambda: te.create_schedule(FIVE),
        lambda: te.create_schedule(C.op)[C].split(FIVE, 2),
        lambda: tir.Schedule(FIVE),
        lambda: tir.Schedule(te.create_prim_func([A, C])).get_block(FIVE),
        lambda: tir.Schedule(te.create_prim_func([A, C])).parallel(FIVE),
        lambda: tir.structural_equal(FIVE, FIVE),
        lambda: tir.from_source(FIVE),
        lambda: weft.PassContext(config=FIVE),
        lambda: weft.transform.Sequential(FIVE),
        lambda: weft.transform.get_pass(FIVE),
        lambda: weft.transform.parse_pipeline(FIVE),
        lambda: FuseOpsPass(max_depth=WORD),
        lambda: weft.DumpIR(FIVE),
        lambda: weft.Target(cpu=FIVE),
        lambda: weft.graph_executor.create(FIVE, FIVE),
        lambda: weft.graph_executor.load_param_dict(FIVE),
    ],
)
def test_values_of_another_type_are_refused_in_one_family(call: Callable[[], object]) -> None:
    with pytest.raises(ArgumentError):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: tir.IRModule(FIVE),
        lambda: weft.Executable(FIVE),
        lambda: relay.Tuple(FIVE),
        lambda: relay.var(FIVE),
        lambda: arith.var("x", "string"),
        lambda: arith.floordiv(WORD, 2),
        lambda: arith.intersect(WORD),
        lambda: arith.Analyzer(WORD),
        lambda: relay.IRModule.of(FIVE),
        lambda: relay.Match(relay.const(1), FIVE),
        lambda: relay.Op.get(FIVE),
        lambda: relay.PatternConstructor(FIVE),
        lambda: relay.Prelude(FIVE),
        lambda: relay.TupleWrapper(FIVE, 2),
        lambda: relay.TypeData(WORD, WORD),
        lambda: relay.Function([], relay.const(1)).with_attr(FIVE),
        lambda: relay.Function([], relay.const(1)).with_attr("k", cast(Any, object())),
        lambda: te.create_prim_func([A, C]).with_attr(FIVE),
        lambda: tir.Instruction(FIVE, [], [], []),
        lambda: tir.InstructionKind.get(cast(Any, [])),
        lambda: tir.TensorIntrin.register(WORD, FIVE, FIVE),
        lambda: weft.Target.canon_target_map_and_host(FIVE),
        lambda: MergeCompositePass.of(FIVE),
    ],
)
def test_constructors_and_functions_of_every_namespace_refuse_what_they_do_not_take(call: Callable[[], object]) -> None:
    with pytest.raises(ArgumentError):
        call()


def test_powers_of_two_that_nobody_can_write_are_refused() -> None:
    assert str(arith.shift_left(1, 70)) == str(2**70)
    with pytest.raises(UsageError, match="too many digits"):
        arith.shift_left(1, 10**30)


def test_segments_of_a_number_are_refused() -> None:
    with pytest.raises(UsageError, match="data has none"):
        relay.segment_sum(relay.const(3), relay.const([0]))


def test_a_constant_holds_the_integers_that_it_is_given() -> None:
    for value, dtype in (
        (2**40, None),
        ([1, -(2**31) - 1], None),
        (300, "uint8"),
        (-1, "uint32"),
        (8, "int4"),
        (1.5, "int32"),
        (np.int8(-1), "uint8"),
        (np.uint8(200), "int8"),
        (np.array([1, 2**63], np.uint64), "int64"),
    ):
        with pytest.raises(UsageError, match="does not hold what it is given"):
            relay.const(value, dtype)
    for dtype, number in (("int32", 1.5), ("uint8", 300), ("uint8", -1), ("int8", float("nan"))):
        with pytest.raises(UsageError, match="does not hold what it is given"):
            _ = relay.var("x", shape=(2,), dtype=dtype) + number
    assert relay.const(2**40, "int64").value.type == relay.TensorType((), "int64")
    assert relay.const(2**24 + 1, "float32").value.type == relay.TensorType((), "float32")
    assert relay.const([-(2**31), 2**31 - 1]).value.type == relay.TensorType((2,), "int32")


def test_times_that_never_pass_are_refused() -> None:
    exe = weft.compile(PERCEPTRON)
    for endless in (float("nan"), float("inf")):
        with pytest.raises(UsageError, match="at least one of each"):
            exe.benchmark(min_repeat_ms=endless)


def public_functions() -> list[tuple[str, FunctionType]]:
    """The functions that Weft's namespaces offer, the static methods of their classes, and all methods of some."""
    found: dict[FunctionType, str] = {}
    for name in NAMESPACES:
        for called, value in callables(name):
            if isinstance(value := getattr(value, "__func__", value), FunctionType):
                found.setdefault(value, called)
    for cls in (tir.Schedule, te.Schedule, te.Stage, tir.IRModule, GraphModule, weft.PassContext, weft.Executable):
        for name, value in vars(cls).items():
            is_own = isinstance(value, FunctionType) and "<locals>" not in value.__qualname__
            if is_own and (not name.startswith("_") or name == "__init__"):
                found.setdefault(value, f"{cls.__name__}.{name}")
    return [(name, function) for function, name in found.items()]


HOW = "how expressions reach modules that know them"
OF_EXPRESSIONS = "shown scripted operator does_more matched_lanes converted_lanes as_integer".split()
UNCHECKED = {
    "weft.Executable.usable": "a number of threads has messages of its own",
    "Executable.run": "inputs have messages of their own",
    "Executable.bind": "inputs have messages of their own",
    "weft.te.decl_tensor_intrin": "what TVM has and Weft refuses, whatever it is given",
    "weft.te.gradient": "the same",
    "weft.te.hybrid": "the same",
    "weft.te.trace": "the same",
    "weft.CheckError.of": "what is told of is looked at by `Place.of_operation`",
    "weft.Diagnostic.at": "the same",
    "weft.transform.Pass.holds_in": "it says the same of everything; that of each pass is checked",
    "weft.tir.TensorIntrin.register": "the attributes of a class: the function of it is checked",
    "weft.relay.Op.get": "the function that it calls is checked",
    "weft.te.Tensor.arithmetic": HOW,
    "weft.tir.Allocate.of": "made by what has checked the buffer",
    "weft.tir.AllocateConst.of": "the same",
    **{f"weft.te.Expr.{name}": HOW for name in OF_EXPRESSIONS},
    "weft.pass_instrument": "decorators have messages of their own",
    "weft.transform.module_pass": "decorators have messages of their own",
    "weft.transform.function_pass": "decorators have messages of their own",
    "weft.transform.prim_func_pass": "decorators have messages of their own",
}


def test_every_public_function_checks_its_arguments() -> None:
    left: list[str] = []
    for name, function in public_functions():
        wrapped = getattr(function, "__wrapped__", None)
        takes = [rule for rule in rules_of(inspect.unwrap(function)).values() if rule is not ANYTHING]
        if wrapped is None and takes and name not in UNCHECKED:
            left.append(name)
    assert not left


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: te.sum(A[0, 0]), r"sum\(\) missing 1 required positional argument: 'axis'"),  # pyright: ignore
        (lambda: te.placeholder((8,), dtype="flot32"), "no element type for dtype 'flot32'; did you mean 'float32'"),
        (lambda: relay.var("x", shape=(1,), dtype="floot16"), "hint: did you mean 'float16' or 'bfloat16'?"),
        (lambda: weft.transform.FuseOps()(5), "the pass fuse-ops takes a builtin.module, got int"),  # pyright: ignore
    ],
)
def test_what_is_called_wrongly_is_told_in_the_callers_words(call: Callable[[], object], told: str) -> None:
    with pytest.raises((Diagnostic, TypeError), match=told.replace("?", r"\?")):
        call()


def test_an_array_that_does_not_fit_has_the_name_that_the_function_gives_it() -> None:
    built = weft.build(te.create_schedule(C.op), [A, C])
    with pytest.raises(Diagnostic, match="input 'C' has shape"):
        built(np.ones((8, 8), np.float32), np.ones((7, 8), np.float32))
