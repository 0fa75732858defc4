"""What says which candidates are worth measuring (`tvm.meta_schedule.cost_model`)."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from statistics import fmean
from typing import Any

import numpy as np
import numpy.typing as npt

from ..dialects.support.arguments import checked, checked_methods
from ..dialects.support.diagnostics import Diagnostic, UsageError, did_you_mean
from .feature_extractor import FeatureExtractor, FunctionFeatures
from .records import MeasureCandidate
from .rule import Context, Named
from .runner import RunnerResult

Array = npt.NDArray[np.float64]


class CostModel(Named):
    """Predicts how good candidates are, and learns from what they were. Counterpart of TVM's `CostModel`, of which
    one's own are subclasses."""

    def load(self, path: str) -> None:
        """Go on from what was saved."""
        raise NotImplementedError(f"{type(self).__name__} has no method load")

    def save(self, path: str) -> None:
        """Write what has been learned to a file."""
        raise NotImplementedError(f"{type(self).__name__} has no method save")

    def update(self, context: Context, candidates: Sequence[MeasureCandidate], results: Sequence[RunnerResult]) -> None:
        """Learn how long candidates took."""
        raise NotImplementedError(f"{type(self).__name__} has no method update")

    def predict(self, context: Context, candidates: Sequence[MeasureCandidate]) -> Array:
        """A number for each candidate: the more, the better."""
        raise NotImplementedError(f"{type(self).__name__} has no method predict")

    @staticmethod
    @checked
    def create(kind: str = "tree", **parameters: object) -> CostModel:
        """The model of a name: `"tree"`, `"random"`; `"xgb"`, TVM's, is `"tree"`.

        Raises:
            UsageError: there is none.
        """
        kinds: dict[str, type[CostModel]] = {"tree": TreeModel, "random": RandomModel, "xgb": TreeModel}
        if kind not in kinds:
            raise UsageError(f"there is no cost model '{kind}'", hint=did_you_mean(kind, kinds) or ", ".join(kinds))
        return kinds[kind](**parameters)


PyCostModel = CostModel
"""TVM's name of what one's own are derived from."""


def _saved(path: str | os.PathLike[str]) -> Any:
    """What the file of a cost model holds.

    Raises:
        Diagnostic: it cannot be read, or is no JSON.
    """
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError, RecursionError) as error:
        raise Diagnostic(f"'{path}' cannot be read: {error}") from None


@checked_methods
class RandomModel(CostModel):
    """Says anything from 0 to `max_range`, and learns nothing. Counterpart of TVM's `RandomModel`.

    Args:
        seed: for what it says.
        path: what was saved, to go on from.
        max_range: the most that it says.
    """

    def __init__(self, *, seed: int | None = None, path: str | None = None, max_range: int = 100):
        self.max_range = max_range
        self._random = np.random.default_rng(seed)
        if path is not None:
            self.load(path)

    def load(self, path: str | os.PathLike[str]) -> None:
        state = _saved(path)
        try:
            self._random.bit_generator.state = state
        except (KeyError, TypeError, ValueError):
            raise Diagnostic(f"'{path}' is no RandomModel that was saved") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self._random.bit_generator.state, file)

    def update(self, context: Context, candidates: Sequence[MeasureCandidate], results: Sequence[RunnerResult]) -> None:
        pass

    def predict(self, context: Context, candidates: Sequence[MeasureCandidate]) -> Array:
        return self._random.uniform(0, self.max_range, len(candidates))


@checked_methods
class TreeModel(CostModel):
    """Learns by boosted trees from the features of the functions that were run, as `weft.tune` does: for each task, the
    time of a candidate to that of the task's fastest. It takes the place of TVM's `XGBModel`.

    Args:
        extractor: gives the features; the rows of a candidate are added up. Those of `weft.tune`, unless given.
        num_warmup_samples: before so many runs all candidates are as good.
    """

    def __init__(self, *, extractor: FeatureExtractor | None = None, num_warmup_samples: int = 12):
        from ..tuning.cost_model import CostModel as Trees

        self.extractor = FunctionFeatures() if extractor is None else extractor
        self.num_warmup_samples = num_warmup_samples
        self._samples: dict[str, list[tuple[list[float], float]]] = {}
        self._trees = Trees()

    @property
    def data_size(self) -> int:
        """How many runs it has learned from."""
        return sum(map(len, self._samples.values()))

    def load(self, path: str | os.PathLike[str]) -> None:
        held = _saved(path)
        try:
            self._samples = {
                task: [([float(feature) for feature in x], float(y)) for x, y in samples]
                for task, samples in held.items()
            }
        except (AttributeError, TypeError, ValueError):
            raise Diagnostic(f"'{path}' is no TreeModel that was saved") from None
        self._fit()

    def save(self, path: str | os.PathLike[str]) -> None:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self._samples, file)

    def update(self, context: Context, candidates: Sequence[MeasureCandidate], results: Sequence[RunnerResult]) -> None:
        held = self._samples.setdefault(context.task_name, [])
        for features, result in zip(self._features(context, candidates), results, strict=True):
            if result.run_secs and fmean(result.run_secs) > 0:
                held.append((features, fmean(result.run_secs)))
        self._fit()

    def predict(self, context: Context, candidates: Sequence[MeasureCandidate]) -> Array:
        if not self._trees.is_fitted or not candidates:
            return np.zeros(len(candidates))
        return 1 / np.array(self._trees.predict(self._features(context, candidates)))

    def _features(self, context: Context, candidates: Sequence[MeasureCandidate]) -> list[list[float]]:
        """The features of each candidate.

        Raises:
            UsageError: the extractor gives those of other candidates, or other numbers of them.
        """
        found = [np.asarray(each, np.float64).sum(axis=0) for each in self.extractor.extract_from(context, candidates)]
        if len(found) != len(candidates) or len({each.shape for each in found}) > 1:
            raise UsageError("an extractor gives a matrix for each candidate, of as many columns for all")
        return [each.tolist() for each in found]

    def _fit(self) -> None:
        if self.data_size < self.num_warmup_samples:
            return
        xs: list[list[float]] = []
        ratios: list[float] = []
        for samples in self._samples.values():
            best = min((seconds for _, seconds in samples), default=1.0)
            xs += [features for features, _ in samples]
            ratios += [seconds / best for _, seconds in samples]
        self._trees.fit(xs, ratios)
