"""What a cost model sees of candidates (`tvm.meta_schedule.feature_extractor`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .records import MeasureCandidate
from .rule import Context, Named, only_function

Features = npt.NDArray[Any]


class FeatureExtractor(Named):
    """Gives the features of candidates. Counterpart of TVM's `FeatureExtractor`, of which one's own are subclasses; a
    `TreeModel` takes them."""

    def extract_from(self, context: Context, candidates: Sequence[MeasureCandidate]) -> Sequence[Features]:
        """For each candidate a matrix, with a row for each part of it, which all have as many numbers."""
        raise NotImplementedError(f"{type(self).__name__} has no method extract_from")


PyFeatureExtractor = FeatureExtractor
"""TVM's name of what one's own are derived from."""


class FunctionFeatures(FeatureExtractor):
    """What `weft.tune` looks at: one row of numbers that are read off the loops and accesses of the function
    (`weft.tuning.features`)."""

    def extract_from(self, context: Context, candidates: Sequence[MeasureCandidate]) -> list[Features]:
        from ..tuning.features import features_of

        return [np.array([features_of(only_function(each.sch.mod))]) for each in candidates]


class RandomFeatureExtractor(FeatureExtractor):
    """Gives numbers that say nothing, to test a cost model with. Counterpart of TVM's class of that name.

    Args:
        feature_size: how many numbers are in a row.
        max_block_num: the most rows of a candidate.
        seed: of what is drawn.
    """

    def __init__(self, *, feature_size: int = 30, max_block_num: int = 5, seed: int = 0):
        self.feature_size, self.max_block_num = feature_size, max_block_num
        self._random = np.random.default_rng(seed)

    def extract_from(self, context: Context, candidates: Sequence[MeasureCandidate]) -> list[Features]:
        return [
            self._random.random((self._random.integers(1, self.max_block_num + 1), self.feature_size))
            for _ in candidates
        ]
