"""Time models that are compiled once for every size beside the same models compiled for each size.

    python bench/dynamic_sizes.py bert 1 8 17 64 128 197 384 512      # lengths, in one batch
    python bench/dynamic_sizes.py resnet 1 3 8 16                     # batches
    python bench/dynamic_sizes.py bert 17 128 --layers 2 --threads 2 --kernels

Both take turns, round by round, on the same inputs; the least time counts, and the outputs are compared. `--layers` is
the number of layers of BERT, which are all alike; `resnet` is ResNet-50, whose batch is open. `--kernels` lists the
kernels of both at each size, those that take longest first.
"""

from __future__ import annotations

import argparse
from time import perf_counter
from typing import Any

import numpy as np
import onnx

import weft
from weft.testing.models import light_model, transformer_encoder


def resnet() -> onnx.ModelProto:
    """ResNet-50 that takes any number of images at a time."""
    model = light_model("resnet50")
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = "batch"
    for weight in model.graph.initializer:
        if any(node.op_type == "Reshape" and node.input[1] == weight.name for node in model.graph.node):
            shape = onnx.numpy_helper.to_array(weight)
            weight.CopyFrom(onnx.numpy_helper.from_array(np.array([-1, *shape[1:]]), weight.name))
    del model.graph.value_info[:]
    return model


def least(executables: dict[str, Any], inputs: list[Any], rounds: int) -> dict[str, float]:
    """The least milliseconds of each, in turns."""
    bound = {name: executable.bind(inputs) for name, executable in executables.items()}
    found = dict.fromkeys(bound, float("inf"))
    for _ in range(rounds):
        for name, call in bound.items():
            call()
            begin = perf_counter()
            for _ in range(50):
                start = perf_counter()
                call()
                end = perf_counter()
                found[name] = min(found[name], (end - start) * 1e3)
                if end - begin > 0.15:
                    break
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=["bert", "resnet"])
    parser.add_argument("sizes", type=int, nargs="+")
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kernels", action="store_true")
    given = parser.parse_args()

    if given.model == "bert":
        model = transformer_encoder(layers=given.layers, tokens="length", batch="batch", vocabulary=1000)
    else:
        model = resnet()

    def compiled(size: str, shapes: dict[str, tuple[int, ...]] | None = None) -> weft.Executable:
        start = perf_counter()
        executable = weft.compile(model, threads=given.threads, shapes=shapes)
        print(f"compiled for {size} in {perf_counter() - start:.1f} s", flush=True)
        return executable

    open_size = compiled("every size")
    random, name = np.random.default_rng(0), model.graph.input[0].name
    for size in given.sizes:
        if given.model == "bert":
            inputs = [random.integers(0, 1000, (1, size))]
        else:
            inputs = [random.standard_normal((size, 3, 224, 224)).astype(np.float32)]
        pair = {"dynamic": open_size, "static": compiled(str(size), {name: inputs[0].shape})}
        first, second = (np.asarray(executable(*inputs), np.float32) for executable in pair.values())
        error = float(np.max(np.abs(first - second)) / np.max(np.abs(second)))
        times = least(pair, inputs, given.rounds)
        ratio = times["dynamic"] / times["static"]
        print(
            f"{given.model} {size:4}: dynamic {times['dynamic']:9.3f} ms, static {times['static']:9.3f} ms, "
            f"ratio {ratio:.3f}, difference {error:.1e}",
            flush=True,
        )
        if given.kernels:
            for kind, executable in pair.items():
                print(kind, executable.profile(*inputs, repeat=3), sep="\n", flush=True)


if __name__ == "__main__":
    main()
