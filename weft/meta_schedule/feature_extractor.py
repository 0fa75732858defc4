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
