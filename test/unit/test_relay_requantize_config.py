"""What `qnn.requantize` takes where a call does not say it: `relay.qnn.requantize_config`."""

from typing import Any

import numpy as np
import pytest

from weft import relay
from weft.dialects.support.diagnostics import UsageError


def requantize(data: relay.Expr, rounding: str | None = None) -> relay.Expr:
    scales = relay.const(1.0), relay.const(0), relay.const(2.0), relay.const(0)
    said = {} if rounding is None else {"rounding": rounding}
    return relay.qnn.op.requantize(data, *scales, out_dtype="int8", **said)


def test_a_call_takes_what_is_configured_unless_it_says_it() -> None:
    x = relay.var("x", shape=(2,), dtype="int32")
    with relay.qnn.op.requantize_config(rounding="TONEAREST"):
        inner, told = requantize(x), requantize(x, "UPWARD")
    outer = requantize(x)
    assert inner.attrs["rounding"] == "TONEAREST" and inner.attrs["compute_dtype"] == "int64"
    assert told.attrs["rounding"] == "UPWARD"
    assert outer.attrs["rounding"] == "None"
    given = np.array([-1, -3], np.int32)  # -0.5 and -1.5
    for expression, wanted in ((inner, [-1, -2]), (told, [0, -1]), (outer, [0, -1])):
        run: Any = relay.create_executor("debug").evaluate(relay.Function([x], expression))
        np.testing.assert_array_equal(run(given), np.array(wanted, np.int8))


def test_a_configuration_within_another_hides_it() -> None:
    with relay.qnn.requantize_config(compute_dtype="float32"):
        with relay.qnn.requantize_config(rounding="TONEAREST") as config:
            assert (config.rounding, config.compute_dtype) == ("TONEAREST", "int64")
        assert requantize(relay.var("x", shape=(2,), dtype="int32")).attrs["compute_dtype"] == "float32"


def test_what_there_is_not_is_refused() -> None:
    with pytest.raises(UsageError, match="TONEAREST"), relay.qnn.requantize_config(rounding="TONEARST"):
        pass
    with pytest.raises(UsageError, match="'compute_dtype' cannot be 'int32'"):
        relay.qnn.requantize_config(compute_dtype="int32").__enter__()
