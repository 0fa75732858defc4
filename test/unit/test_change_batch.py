"""Another batch size for a graph that was written for one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from weft import relay
from weft.dialects.support.diagnostics import Diagnostic, UsageError

relay: Any = relay
compiled: Any = weft.compile


def test_a_network_runs_at_another_size() -> None:
    module, params = relay.testing.mlp.get_workload(batch_size=1)
    changed = relay.transform.ChangeBatch({module["main"].params[0]: 0}, batch_size=3)(module)
    assert changed["main"].checked_type.ret_type.shape[0] == 3
    assert module["main"].checked_type.ret_type.shape[0] == 1, "what is given stays as it is"
    images = np.random.default_rng(0).standard_normal((3, 1, 28, 28)).astype(np.float32)
    one, three = (compiled(each, params=params) for each in (module, changed))
    expected = np.concatenate([np.asarray(one(image[None])) for image in images])
    np.testing.assert_allclose(np.asarray(three(images)), expected, rtol=1e-5, atol=1e-6)


def test_what_does_not_fit_the_new_size_is_refused() -> None:
    x = relay.var("x", shape=(1, 8))
    module = relay.IRModule.from_expr(relay.reshape(x, (2, 4)))
    with pytest.raises(Diagnostic, match="reshape"):
        relay.transform.ChangeBatch({"x": 0}, 4)(module)
    for data, text in (({"z": 0}, "no input 'z'"), ({"x": 2}, "no axis 2")):
        with pytest.raises(UsageError, match=text):
            relay.transform.ChangeBatch(data, 4)(module)
    fused = relay.transform.FuseOps()(relay.IRModule.from_expr(relay.exp(x)))
    with pytest.raises(UsageError, match="fused already"):
        relay.transform.ChangeBatch({"x": 0}, 4)(fused)
