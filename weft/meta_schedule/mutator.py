"""The mutators (`tvm.meta_schedule.mutator`)."""

from . import defaults as defaults
from .mutators import MutateComputeLocation as MutateComputeLocation
from .mutators import MutateThreadBinding as MutateThreadBinding
from .mutators import MutateTileSize as MutateTileSize
from .mutators import MutateUnroll as MutateUnroll
from .parallel_plans import MutateParallel as MutateParallel
from .rule import Mutator as Mutator

PyMutator = Mutator
"""TVM's name of what one's own are derived from."""
