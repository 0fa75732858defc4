"""Tables hold what would be computed: for every byte, of either kind, and whoever reads it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import weft
from weft import relay
from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.relay.ops.gather import TakeOp
from weft.dialects.support.parser import parse_module
from weft.transforms.infra.registry import new_ir_context
from weft.transforms.relay.tabulate_bytes import TabulateBytesPass

pytestmark = pytest.mark.sampled(5)

ROWS = 16
ACTIVATIONS: dict[str, Callable[[relay.Expr], relay.Expr]] = {
    "sigmoid": lambda x: relay.sigmoid(x),
    "swish": lambda x: relay.multiply(x, relay.sigmoid(x)),
    "hard swish": lambda x: relay.divide(
        relay.multiply(x, relay.clip(relay.add(x, relay.const(3.0)), 0, 6)), relay.const(6.0)
    ),
    "not a number": lambda x: relay.log(x),
    "far outside": lambda x: relay.exp(relay.multiply(x, relay.const(9.0))),
}


def network(dtype: str, activation: str) -> FuncOp:
    """An activation on bytes, in numbers between: one byte after the other has the scale 0.03 and the zero 3."""
    x = relay.var("x", shape=(ROWS, 256), dtype=dtype)
    number = relay.multiply(
        relay.cast(relay.subtract(relay.cast(x, "int32"), relay.const(3)), "float32"), relay.const(0.03)
    )
    scaled = relay.round(relay.divide(ACTIVATIONS[activation](number), relay.const(0.03)))
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    y = relay.cast(relay.clip(relay.add(scaled, relay.const(3.0)), low, high), dtype)
    return relay.Function([x], y)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_compiled_tables_are_what_is_computed_without_them(dtype: str, activation: str) -> None:
    module = relay.IRModule.from_expr(network(dtype, activation))
    info = np.iinfo(dtype)
    x = np.tile(np.arange(info.min, info.max + 1, dtype=dtype), (ROWS, 1))
    with_table = weft.compile(module)
    assert "relay.take" in with_table.ir["graph"]
    with weft.transform.PassContext(opt_level=3, disabled_pass=["tabulate-bytes"]):
        without = weft.compile(module)
    assert "relay.take" not in without.ir["graph"]
    np.testing.assert_array_equal(with_table(x), without(x))


TWO_READERS = """
relay.func @main(%q: tensor<4x1024xi8>) -> (tensor<4x1024xi8>, tensor<4x1024xi8>, tensor<4xf32>) {
  %x = relay.cast %q {dtype = "float32"} : (tensor<4x1024xi8>) -> tensor<4x1024xf32>
  %0 = relay.sigmoid %x : tensor<4x1024xf32>
  %1 = relay.exp %0 : tensor<4x1024xf32>
  %a = relay.cast %1 {dtype = "int8"} : (tensor<4x1024xf32>) -> tensor<4x1024xi8>
  %2 = relay.cast %a {dtype = "float32"} : (tensor<4x1024xi8>) -> tensor<4x1024xf32>
  %3 = relay.exp %2 : tensor<4x1024xf32>
  %4 = relay.tanh %3 : tensor<4x1024xf32>
  %b = relay.cast %4 {dtype = "int8"} : (tensor<4x1024xf32>) -> tensor<4x1024xi8>
  %5 = relay.cast %b {dtype = "float32"} : (tensor<4x1024xi8>) -> tensor<4x1024xf32>
  %sum = relay.sum %5 {axis = array<i64: 1>} : (tensor<4x1024xf32>) -> tensor<4xf32>
  relay.return %a, %b, %sum : tensor<4x1024xi8>, tensor<4x1024xi8>, tensor<4xf32>
}
"""


def test_each_byte_that_somebody_reads_has_its_table() -> None:
    module = parse_module(TWO_READERS, new_ir_context())
    main = module.body.block.first_op
    assert isinstance(main, FuncOp)
    data = np.tile(np.arange(-128, 128, dtype=np.int8), (4, 4))
    expected = evaluate_function(main, [data])
    TabulateBytesPass().apply(new_ir_context(), module)
    assert sum(isinstance(op, TakeOp) for op in module.walk()) == 2
    for given, wanted in zip(evaluate_function(main, [data]), expected, strict=True):
        np.testing.assert_array_equal(given, wanted)
