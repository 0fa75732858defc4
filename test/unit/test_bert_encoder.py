"""A BERT encoder exported by PyTorch gives what ONNX Runtime gives. Skipped where torch or transformers is missing."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft

torch: Any = pytest.importorskip("torch")
transformers: Any = pytest.importorskip("transformers")
onnxruntime: Any = pytest.importorskip("onnxruntime")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """BERT base with random weights for one sequence of 128 tokens, as ONNX."""

    class LastHiddenState(torch.nn.Module):
        def __init__(self, model: Any):
            torch.nn.Module.__init__(self)
            self.model = model

        def forward(self, tokens: Any) -> Any:
            return self.model(input_ids=tokens).last_hidden_state

    torch.manual_seed(0)
    model = LastHiddenState(transformers.BertModel(transformers.BertConfig(attn_implementation="eager"))).eval()
    path = tmp_path_factory.mktemp("bert") / "bert.onnx"
    tokens = torch.randint(0, 1000, (1, 128))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter speaks of itself
        torch.onnx.export(model, (tokens,), str(path), input_names=["tokens"], dynamo=False, opset_version=17)
    return path


@pytest.mark.parametrize("threads", [1, 2])
def test_the_encoder_gives_what_onnx_runtime_gives(encoder: Path, threads: int) -> None:
    tokens = np.random.default_rng(0).integers(0, 1000, (1, 128))
    session = onnxruntime.InferenceSession(str(encoder), providers=["CPUExecutionProvider"])
    (expected,) = session.run(None, {"tokens": tokens})
    (found,) = weft.compile(encoder, threads=threads).run({"tokens": tokens}).values()
    np.testing.assert_allclose(found.astype(np.float32), expected, rtol=1e-4, atol=1e-4)
