"""Train two small networks with Weft: a perceptron by stochastic gradient descent, a convolutional network by Adam.

    python examples/training.py [--steps N] [--svg loss.svg]

A step of training is one function that Weft compiles: the loss, its gradients (`relay.transform.gradients`), and what
the optimiser makes of the parameters. The same networks are trained by NumPy, with derivatives written by hand, from
the same parameters on the same data; both losses are shown, and drawn.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

import weft
from weft import relay

Array = npt.NDArray[Any]
Arrays = dict[str, Array]

BATCH, RATE, DECAY, DECAY_OF_SQUARES, SMALL = 48, 0.1, 0.9, 0.999, 1e-8


# The networks: parameters, and the scores of each class as a relay expression


def perceptron_parameters(rng: np.random.Generator) -> Arrays:
    return {
        "w1": rng.standard_normal((32, 2)).astype(np.float32),
        "b1": np.zeros(32, np.float32),
        "w2": rng.standard_normal((3, 32)).astype(np.float32) / 6,
        "b2": np.zeros(3, np.float32),
    }


def perceptron(x: relay.Expr, p: dict[str, relay.Var]) -> relay.Expr:
    hidden = relay.nn.relu(relay.nn.bias_add(relay.nn.dense(x, p["w1"]), p["b1"]))
    return relay.nn.bias_add(relay.nn.dense(hidden, p["w2"]), p["b2"])


def convnet_parameters(rng: np.random.Generator) -> Arrays:
    return {
        "k1": rng.standard_normal((4, 1, 3, 3)).astype(np.float32) / 3,
        "b1": np.zeros(4, np.float32),
        "w2": rng.standard_normal((3, 64)).astype(np.float32) / 8,
        "b2": np.zeros(3, np.float32),
    }


def convnet(x: relay.Expr, p: dict[str, relay.Var]) -> relay.Expr:
    maps = relay.nn.relu(relay.nn.bias_add(relay.nn.conv2d(x, p["k1"], padding=(1, 1)), p["b1"]))
    pooled = relay.nn.max_pool2d(maps, pool_size=(2, 2), strides=(2, 2))
    return relay.nn.bias_add(relay.nn.dense(relay.nn.batch_flatten(pooled), p["w2"]), p["b2"])


# Weft: a step as one compiled function


def loss_of(scores: relay.Expr, labels: relay.Expr) -> relay.Expr:
    """The mean cross entropy; `labels` has one class for each row of `scores`."""
    rows, classes = scores.shape
    hot = relay.one_hot(labels, 1.0, 0.0, classes, -1, "float32")
    return relay.sum(relay.nn.log_softmax(scores) * hot) / -float(rows)


def compiled_step(
    network: Callable[[relay.Expr, dict[str, relay.Var]], relay.Expr], parameters: Arrays, x: Array, *, adam: bool
) -> weft.Executable:
    """A function of the parameters, the state of the optimiser (for Adam the means of the gradients, those of their
    squares, and the number of the step), data and labels, which gives the loss, new parameters and new state."""
    names = list(parameters)
    p = {name: relay.var(name, shape=value.shape) for name, value in parameters.items()}
    data, labels = relay.var("data", shape=x.shape), relay.var("labels", shape=x.shape[:1], dtype="int32")
    loss = loss_of(network(data, p), labels)
    gradients = relay.transform.gradients(loss, list(p.values()))
    if not adam:
        state: list[relay.Var] = []
        results = [p[name] - gradient * RATE for name, gradient in zip(names, gradients, strict=True)]
    else:
        means = [relay.var(f"mean_{name}", shape=parameters[name].shape) for name in names]
        squares = [relay.var(f"square_{name}", shape=parameters[name].shape) for name in names]
        step = relay.var("step", shape=())
        state = [*means, *squares, step]
        next_means = [m * DECAY + g * (1 - DECAY) for m, g in zip(means, gradients, strict=True)]
        next_squares = [
            s * DECAY_OF_SQUARES + g * g * (1 - DECAY_OF_SQUARES) for s, g in zip(squares, gradients, strict=True)
        ]
        count = step + 1.0
        first, second = (1.0 - relay.power(relay.const(d), count) for d in (DECAY, DECAY_OF_SQUARES))
        moved = [
            p[name] - RATE / 10 * (m / first) / (relay.sqrt(s / second) + SMALL)
            for name, m, s in zip(names, next_means, next_squares, strict=True)
        ]
        results = [*moved, *next_means, *next_squares, count]
    function = relay.Function([*p.values(), *state, data, labels], relay.Tuple([loss, *results]))
    return weft.compile(relay.IRModule.from_expr(function))


def train_with_weft(task: Task, steps: int) -> list[float]:
    """The loss before each step."""
    step = compiled_step(task.network, task.parameters, task.x[:BATCH], adam=task.adam)
    values = list(task.parameters.values())
    if task.adam:
        values += [np.zeros_like(value) for value in (*values, *values)] + [np.zeros((), np.float32)]
    losses: list[float] = []
    for x, labels in task.batches(steps):
        loss, *values = cast("tuple[Array, ...]", step(*values, x, labels))
        losses.append(float(loss))
    return losses


# NumPy: the same by hand


def softmax_loss(scores: Array, labels: Array) -> tuple[float, Array]:
    """The mean cross entropy, and its gradient by the scores."""
    shifted = scores - scores.max(1, keepdims=True)
    chances = np.exp(shifted) / np.exp(shifted).sum(1, keepdims=True)
    rows = np.arange(len(labels))
    gradient = chances.copy()
    gradient[rows, labels] -= 1
    return float(-np.log(chances[rows, labels]).mean()), gradient / len(labels)


def perceptron_by_hand(p: Arrays, x: Array, labels: Array) -> tuple[float, Arrays]:
    hidden = np.maximum(x @ p["w1"].T + p["b1"], 0)
    loss, d = softmax_loss(hidden @ p["w2"].T + p["b2"], labels)
    back = (d @ p["w2"]) * (hidden > 0)
    return loss, {"w1": back.T @ x, "b1": back.sum(0), "w2": d.T @ hidden, "b2": d.sum(0)}


def convnet_by_hand(p: Arrays, x: Array, labels: Array) -> tuple[float, Arrays]:
    padded = np.pad(x[:, 0], [(0, 0), (1, 1), (1, 1)])
    views = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))  # [n, h, w, 3, 3]
    sums = np.einsum("nhwij,oij->nohw", views, p["k1"][:, 0]) + p["b1"][:, None, None]
    maps = np.maximum(sums, 0)
    count, channels, height, width = maps.shape
    windows = maps.reshape(count, channels, height // 2, 2, width // 2, 2).transpose(0, 1, 2, 4, 3, 5)
    windows = windows.reshape(count, channels, height // 2, width // 2, 4)
    flat = windows.max(-1).reshape(count, -1)
    loss, d = softmax_loss(flat @ p["w2"].T + p["b2"], labels)
    spread = np.zeros_like(windows)
    best = windows.argmax(-1)[..., None]
    np.put_along_axis(spread, best, (d @ p["w2"]).reshape(best.shape), -1)
    by_maps = spread.reshape(count, channels, height // 2, width // 2, 2, 2).transpose(0, 1, 2, 4, 3, 5)
    by_sums = by_maps.reshape(maps.shape) * (sums > 0)
    return loss, {
        "k1": np.einsum("nhwij,nohw->oij", views, by_sums)[:, None],
        "b1": by_sums.sum((0, 2, 3)),
        "w2": d.T @ flat,
        "b2": d.sum(0),
    }


def train_with_numpy(task: Task, steps: int) -> list[float]:
    """The loss before each step."""
    p = {name: value.astype(np.float64) for name, value in task.parameters.items()}
    means, squares = ({name: np.zeros_like(value) for name, value in p.items()} for _ in range(2))
    losses: list[float] = []
    for number, (x, labels) in enumerate(task.batches(steps), 1):
        loss, gradients = task.by_hand(p, x.astype(np.float64), labels)
        losses.append(loss)
        for name, g in gradients.items():
            if not task.adam:
                p[name] = p[name] - RATE * g
                continue
            means[name] = DECAY * means[name] + (1 - DECAY) * g
            squares[name] = DECAY_OF_SQUARES * squares[name] + (1 - DECAY_OF_SQUARES) * g * g
            mean, square = means[name] / (1 - DECAY**number), squares[name] / (1 - DECAY_OF_SQUARES**number)
            p[name] = p[name] - RATE / 10 * mean / (np.sqrt(square) + SMALL)
    return losses


# Data


def spirals(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Points on three arms of a spiral, and the arm of each."""
    labels = rng.integers(0, 3, count).astype(np.int32)
    radius = rng.uniform(0.1, 1.0, count)
    angle = labels * 2.1 + radius * 3 + rng.normal(0, 0.15, count)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).astype(np.float32), labels


def bars(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Noisy images of a bar that lies, stands, or leans, and which of these it does."""
    labels = rng.integers(0, 3, count).astype(np.int32)
    images = rng.normal(0, 0.3, (count, 1, 8, 8))
    for image, label, at in zip(images[:, 0], labels, rng.integers(1, 7, count), strict=True):
        if label == 0:
            image[at] += 1
        elif label == 1:
            image[:, at] += 1
        else:
            image += np.eye(8, k=int(at) - 4)
    return images.astype(np.float32), labels


@dataclass(frozen=True)
class Task:
    """A network, what it is to learn, and how."""

    title: str
    network: Callable[[relay.Expr, dict[str, relay.Var]], relay.Expr]
    by_hand: Callable[[Arrays, Array, Array], tuple[float, Arrays]]
    parameters: Arrays
    x: Array
    labels: Array
    adam: bool

    def batches(self, steps: int) -> list[tuple[Array, Array]]:
        """Data and labels for each step, round and round."""
        count = len(self.x) // BATCH
        cuts = [slice(k % count * BATCH, (k % count + 1) * BATCH) for k in range(steps)]
        return [(self.x[cut], self.labels[cut]) for cut in cuts]


def tasks() -> list[Task]:
    rng = np.random.default_rng(1)
    points, images = spirals(rng, 480), bars(rng, 480)
    return [
        Task("perceptron, SGD", perceptron, perceptron_by_hand, perceptron_parameters(rng), *points, adam=False),
        Task("convolutions, Adam", convnet, convnet_by_hand, convnet_parameters(rng), *images, adam=True),
    ]


def drawing(curves: dict[str, Sequence[float]]) -> str:
    """Losses over steps, as SVG."""
    width, height, margin = 640, 360, 40
    steps, most = max(map(len, curves.values())), max(map(max, curves.values()))
    colours = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728")
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif">']
    parts.append(f'<path d="M{margin} 10V{height - margin}H{width - 10}" fill="none" stroke="black"/>')
    for number, (title, losses) in enumerate(curves.items()):
        colour = colours[number % len(colours)]
        across = [margin + k * (width - margin - 10) / max(1, steps - 1) for k in range(len(losses))]
        down = [height - margin - loss / most * (height - margin - 10) for loss in losses]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, down, strict=True))
        dashes = ' stroke-dasharray="3 5"' if number % 2 else ""
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>')
        parts.append(f'<text x="{width - 260}" y="{24 + 18 * number}" fill="{colour}">{title}</text>')
    parts.append(f'<text x="{margin}" y="{height - 12}">step 0 to {steps - 1}; loss up to {most:.2f}</text></svg>')
    return "\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="train two small networks with Weft and with NumPy")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--svg", type=Path, help="where to draw the losses")
    options = parser.parse_args()
    curves: dict[str, Sequence[float]] = {}
    for task in tasks():
        ours, theirs = train_with_weft(task, options.steps), train_with_numpy(task, options.steps)
        curves |= {f"{task.title}, Weft": ours, f"{task.title}, NumPy": theirs}
        print(f"{task.title}: loss {ours[0]:.4f} -> {ours[-1]:.4f}, by NumPy {theirs[0]:.4f} -> {theirs[-1]:.4f}")
        print(f"  the greatest difference between the two on the way: {np.abs(np.subtract(ours, theirs)).max():.1e}")
    if options.svg is not None:
        options.svg.write_text(drawing(curves), "utf-8")


if __name__ == "__main__":
    main()
