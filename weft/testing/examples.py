"""The example in the docstring of an operator, and what can be checked with it.

A docstring holds one ```` ```mlir ```` block, in which every value that is not defined is an input, and a formula
`` `y = ...` `` in terms of the example's values:

    class SoftcapOp(RelayOp):
        \"\"\"Squeeze every element smoothly into (-cap, cap).

        `y = 2.0 * np.tanh(x / 2.0)`

        ```mlir
        %y = softcap.softcap %x {cap = 2.0 : f64} : tensor<2x4xf32>
        ```
        \"\"\"

    @pytest.mark.parametrize("example", examples_of(Softcap), ids=str)
    def test_example(example: OperatorExample) -> None:
        example.check()
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, FunctionType, ModuleOp, TupleType, i1
from xdsl.ir import Block, Dialect, Operation, Region, SSAValue
from xdsl.parser import Parser

from ..dialects.relay.base import DYNAMIC, Pointwise, RelayOp, flatten_types, is_static, missing_facets, tensor
from ..dialects.relay.core import ConstantOp, FuncOp, ReturnOp, TupleOp
from ..dialects.relay.reference import evaluate_compute, evaluate_directly
from ..dialects.support.arguments import checked
from ..dialects.support.diagnostics import Diagnostic
from ..dialects.support.dtypes import numpy_dtype
from ..transforms.infra.registry import new_ir_context
from .operators import assert_close
from .values import random_array, special_array

NDArray = npt.NDArray[Any]


def docstring(op_type: type[Operation]) -> str:
    return inspect.cleandoc(op_type.__doc__ or "")


def class_place(cls: type) -> str:
    """Where a class stands, for messages: `class SoftcapOp (softcap/ops.py:12)`."""
    try:
        return f"class {cls.__name__} ({inspect.getsourcefile(cls)}:{inspect.getsourcelines(cls)[1]})"
    except (OSError, TypeError):
        return f"class {cls.__name__} of {cls.__module__}"


def example_text(op_type: type[Operation]) -> str:
    """The one ```` ```mlir ```` block of a docstring."""
    blocks = re.findall(r"```mlir\n(.*?)```", docstring(op_type), re.DOTALL)
    assert len(blocks) == 1, f"the docstring of {op_type.name} has {len(blocks)} examples: {class_place(op_type)}"
    return blocks[0]


def formula(op_type: type[Operation]) -> str | None:
    """The right-hand side of the docstring's `y = ...`, joined where it takes several lines."""
    found = re.search(r"^`\w+ = ([^`]+)`$", docstring(op_type), re.MULTILINE)
    return found[1].replace("\n", " ") if found else None


def parse_example(text: str, context: Context | None = None) -> ModuleOp:
    """A module whose only function, `@main`, consists of `text`; its arguments are what `text` does not define."""
    parser = Parser(context or new_ir_context(), text)
    block = Block()
    while (op := parser.parse_optional_operation()) is not None:
        block.add_op(op)
    for name, references in parser.forward_ssa_references.items():
        for reference in references.values():
            argument = block.insert_arg(reference.type, len(block.args))
            argument.name_hint = name
            reference.replace_all_uses_with(argument)
    results = block.last_op.results if block.last_op is not None else ()
    block.add_op(ReturnOp(*results))
    signature = FunctionType.from_lists([a.type for a in block.args], [r.type for r in results])
    return ModuleOp([FuncOp("main", signature, Region(block))])


@dataclass(frozen=True)
class OperatorExample:
    """The example of `op_type`; `dialects` are those that it needs beside the installed ones."""

    op_type: type[RelayOp]
    dialects: tuple[Dialect, ...] = ()

    def __str__(self) -> str:
        return self.op_type.name

    def context(self) -> Context:
        """A context that knows all installed dialects and `dialects`."""
        context = new_ir_context()
        for dialect in self.dialects:
            if context.get_optional_dialect(dialect.name) is None:
                context.load_dialect(dialect)
        return context

    @cached_property
    def module(self) -> ModuleOp:
        """The example, parsed. A fresh one is `parse()`."""
        return self.parse()

    def parse(self) -> ModuleOp:
        return parse_example(example_text(self.op_type), self.context())

    @cached_property
    def op(self) -> RelayOp:
        """The operation that the example is of."""
        found = [op for op in self.module.walk() if op.name == self.op_type.name]
        assert len(found) == 1, f"the example has {len(found)} of {self.op_type.name}: {class_place(self.op_type)}"
        assert isinstance(found[0], RelayOp)
        return found[0]

    def operands(self) -> list[SSAValue]:
        """The tensors that the operation reads; those of a tuple are what the `relay.tuple` is made of."""
        flat: list[SSAValue] = []
        for operand in self.op.operands:
            if isinstance(operand.type, TupleType):
                assert isinstance(operand.owner, TupleOp), "an example makes its tuples with relay.tuple"
                flat.extend(operand.owner.fields)
            else:
                flat.append(operand)
        return flat

    def inputs(self, seed: int = 0, *, special: bool = False) -> list[NDArray]:
        """An array for each tensor that the operation reads: its value, where the example makes it by a constant.

        Floats have both signs and zeros, integers where the operator is `Pointwise` (else they may be indices).
        """
        rng = np.random.default_rng(seed)
        signed = self.op_type.has_trait(Pointwise)
        inputs: list[NDArray] = []
        for value in self.operands():
            constant = value.owner.numpy() if isinstance(value.owner, ConstantOp) else None
            type = tensor(value)
            drawn = special_array(type, rng) if special else random_array(type, rng, signed_integers=signed)
            inputs.append(drawn if constant is None else constant)
        return inputs

    def trials(self) -> list[list[NDArray]]:
        """The inputs on which the operator is checked: a pointwise one on special values as well."""
        special = self.op_type.has_trait(Pointwise) and self.gives_floats()
        return [*map(self.inputs, range(2)), *(self.inputs(seed, special=True) for seed in range(3) if special)]

    # What can be checked

    def check(self) -> None:
        """All checks that this operator has what they need for."""
        self.check_round_trip()
        self.check_facets()
        self.check_types()
        for inputs in self.trials():
            self.check_direct(inputs)
            self.check_formula(inputs)
            if self.is_static():
                self.check_machine_code(inputs)

    def is_static(self) -> bool:
        """Whether the example has static shapes only, and so can be compiled."""
        return all(is_static(value.type) for value in (*self.op.operands, *self.op.results))

    def gives_floats(self) -> bool:
        """Whether all results are floats or truth values, which special values have a meaning for."""
        elements = [tensor(result).element_type for result in self.op.results]
        return all(isinstance(element, AnyFloat) or element == i1 for element in elements)

    def has_direct_evaluation(self) -> bool:
        """Whether the operator has a direct evaluation for its example."""
        return self.op_type.numpy is not RelayOp.numpy and evaluate_directly(self.op, self.inputs()) is not None

    def check_round_trip(self) -> None:
        """The example parses, verifies, and is printed as it is parsed again."""
        module = self.parse()
        module.verify()
        text = str(module)
        again = Parser(self.context(), text).parse_module()
        again.verify()
        assert str(again) == text, f"{self} does not round-trip: {class_place(self.op_type)}"

    def check_facets(self) -> None:
        """The operator has a type relation, a fusion pattern and a `compute`."""
        missing = missing_facets(self.op_type)
        assert not missing, f"{self} lacks {', '.join(missing)}: {class_place(self.op_type)}"

    def check_types(self) -> None:
        """`compute` gives the types and shapes that the type relation declares."""
        try:
            results = evaluate_compute(self.op, self.inputs())
        except Diagnostic as error:
            raise AssertionError(f"{self}: {error.message}: {class_place(self.op_type)}") from error
        types = flatten_types([r.type for r in self.op.results])
        assert len(results) == len(types), f"{self} computes {len(results)} results: {class_place(self.op_type)}"
        for result, type in zip(results, types, strict=True):
            fits = len(result.shape) == len(type.get_shape()) and all(
                n in (DYNAMIC, m) for n, m in zip(type.get_shape(), result.shape, strict=True)
            )
            assert fits and result.dtype == numpy_dtype(type.element_type), (
                f"{self} declares {type}, but computes {result.dtype} of shape {list(result.shape)}: "
                f"{class_place(self.op_type)}"
            )

    def check_direct(self, inputs: Sequence[NDArray] | None = None) -> bool:
        """The direct evaluation `numpy` equals `compute`; whether there is one."""
        inputs = self.inputs() if inputs is None else inputs
        if (direct := evaluate_directly(self.op, inputs)) is None:
            return False
        for found, expected in zip(direct, evaluate_compute(self.op, inputs), strict=True):
            assert found.dtype == expected.dtype
            assert_close(found, expected)
        return True

    def check_formula(self, inputs: Sequence[NDArray] | None = None) -> bool:
        """`compute` equals the docstring's formula; whether there is one that Python can evaluate."""
        text = formula(self.op_type)
        if text is None:
            return False
        inputs = self.inputs() if inputs is None else inputs
        names: dict[str, object] = {"np": np, "math": math}
        for value, array in zip(self.operands(), inputs, strict=True):
            names[value.name_hint or "?"] = array
        with np.errstate(all="ignore"):
            expected = eval(text, names)
        expected = list(expected) if isinstance(self.op.results[0].type, TupleType) else [expected]
        for found, wanted in zip(evaluate_compute(self.op, inputs), expected, strict=True):
            try:
                assert_close(found, wanted, 1e-5)
            except AssertionError as error:
                read = [(value.name_hint, array) for value, array in zip(self.operands(), inputs, strict=True)]
                given = ", ".join(f"{name} = {array!r}" for name, array in read)
                what = f"`compute` does not give what the formula `{text}` gives for {given}"
                raise AssertionError(f"{what}: {class_place(self.op_type)}\n{error}") from None
        return True

    def check_machine_code(self, inputs: Sequence[NDArray] | None = None, tolerance: float = 1e-5) -> None:
        """Machine code of the operator alone, through all phases, gives what `compute` says."""
        from ..compiler import compile

        inputs = self.inputs() if inputs is None else inputs
        operands = self.op.operands
        block = Block(arg_types=[operand.type for operand in operands])
        copy = self.op.clone()
        copy.operands = block.args
        block.add_ops([copy, ReturnOp(*copy.results)])
        signature = FunctionType.from_lists(block.arg_types, [r.type for r in copy.results])
        executable = compile(ModuleOp([FuncOp("main", signature, Region(block))]), threads=1)
        results = executable(*inputs)
        found = [results] if isinstance(results, np.ndarray) else list(results)
        for a, b in zip(found, evaluate_compute(self.op, inputs), strict=True):
            assert a.dtype == b.dtype
            assert_close(a, b, tolerance)


@checked
def examples_of(dialect: Dialect) -> list[OperatorExample]:
    """The example of every Relay operator (a `RelayOp`) of a dialect, in the dialect's order."""
    return [OperatorExample(op, (dialect,)) for op in dialect.operations if issubclass(op, RelayOp)]
