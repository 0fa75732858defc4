"""TfIdfVectorizer: how often sequences of numbers that are known at import occur."""

from __future__ import annotations

from xdsl.dialects.builtin import f32, i64
from xdsl.ir import SSAValue

from .errors import Malformed, Unsupported
from .node import Node, Versions, rank_of


def count_ngrams(node: Node) -> SSAValue:
    """Every n-gram is compared at all places and with all skips at once; a matrix of ones adds counts to columns."""
    import numpy as np

    if "pool_strings" in node.attributes:
        raise Unsupported("n-grams of strings")
    x = node.cast(node.input(0), i64)
    rank = rank_of(x)
    if rank not in (1, 2):
        raise Malformed(f"input 0 has rank {rank}, but must have rank 1 or 2")
    *batch, length = node.static_shape(x)
    rows = node.reshape(x, [*batch, 1, length] if batch else [1, 1, length])
    pool, columns = node.integers("pool_int64s"), node.integers("ngram_indexes")
    least, most, skips = (node.integer(name) for name in ("min_gram_length", "max_gram_length", "max_skip_count"))
    groups = split_pool(pool, node.integers("ngram_counts"), len(columns))
    counts: list[SSAValue] = []
    kept: list[int] = []
    numbers: list[int] = []
    for size, first, grams in groups:
        if not least <= size <= most or not grams:
            continue
        if len(set(grams)) != len(grams):
            raise Unsupported("an n-gram that stands in the pool twice")
        kept += columns[first : first + len(grams)]
        numbers += range(first, first + len(grams))
        total = node.constant(np.zeros((batch[0] if batch else 1, len(grams)), np.float32))
        for skip in range(1, (1 if size == 1 else skips + 1) + 1):
            places = length - skip * (size - 1)
            if places < 1:
                break
            here: SSAValue | None = None
            for k in range(size):
                part = node.emit(
                    "strided_slice", rows, begin=[k * skip], end=[k * skip + places], strides=[1], axes=[2]
                )
                wanted = node.constant(np.array([gram[k] for gram in grams], np.int64).reshape(1, -1, 1))
                equal = node.emit("equal", part, wanted)
                here = equal if here is None else node.emit("logical_and", here, equal)
            assert here is not None
            total = node.emit("add", total, node.emit("sum", node.cast(here, f32), axis=[2]))
        counts.append(total)
    width = max(columns, default=-1) + 1
    if not counts:
        result = node.constant(np.zeros((batch[0] if batch else 1, width), np.float32))
    else:
        adds = np.zeros((width, len(kept)), np.float32)
        adds[kept, np.arange(len(kept))] = 1
        together = node.emit("concatenate", node.emitter.tuple(counts), axis=1)
        together = weighted(node, together, kept, numbers)
        result = node.emit("nn.dense", together, node.constant(adds), units=width)
    return result if batch else node.reshape(result, [width])


def weighted(node: Node, counts: SSAValue, columns: list[int], numbers: list[int]) -> SSAValue:
    """The counts of n-grams; whether there are any; or either times the weights. `columns` are those of the n-grams,
    `numbers` their places in the pool.

    Raises:
        Malformed: there is not a weight for each.
        Unsupported: n-grams share a column.
    """
    import numpy as np

    mode = node.choice("mode", {name: name for name in ("TF", "IDF", "TFIDF")})
    if mode == "TF":
        return counts
    if len(set(columns)) != len(columns):
        raise Unsupported(f"n-grams that share a column, in mode {mode}")
    if mode == "IDF":
        counts = node.cast(node.emit("greater", counts, node.scalar(0.0, counts)), f32)
    if "weights" not in node.attributes:
        return counts
    weights = np.array(node.attributes["weights"].floats, np.float32)
    if weights.size <= max(numbers):
        raise Malformed(f"{weights.size} weights for an n-gram at place {max(numbers)} of the pool")
    return node.emit("multiply", counts, node.constant(weights[numbers]))


def split_pool(pool: list[int], starts: list[int], count: int) -> list[tuple[int, int, list[tuple[int, ...]]]]:
    """The n-grams of each size: size, number of the first, numbers of each.

    Raises:
        Malformed: the pool does not hold as many.
    """
    groups: list[tuple[int, int, list[tuple[int, ...]]]] = []
    first = 0
    for size, (begin, end) in enumerate(zip(starts, [*starts[1:], len(pool)], strict=True), 1):
        if not 0 <= begin <= end <= len(pool) or (end - begin) % size:
            raise Malformed(f"ngram_counts {starts} do not divide a pool of {len(pool)}")
        grams = [tuple(pool[at : at + size]) for at in range(begin, end, size)]
        groups.append((size, first, grams))
        first += len(grams)
    if first != count:
        raise Malformed(f"{count} columns for {first} n-grams")
    return groups


CONVERTERS: dict[str, Versions] = {"TfIdfVectorizer": {9: count_ngrams}}
