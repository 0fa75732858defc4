"""What the tests of a package that extends Weft need; Weft's own tests are made with it.

* `OperatorExample` and `examples_of`: the example in an operator's docstring, parsed, verified, round-tripped,
  executed, compared with its NumPy formula and with machine code.
* `random_array`, `special_array`: values of both signs, with zeros; infinities, NaN, negative zero.
* `run_operator`, `assert_close`: one operator on NumPy arrays.
* `weft.testing.lit_format`: lit's format that runs the tools in lit's worker.
"""

from .examples import OperatorExample, examples_of
from .operators import assert_close, run_operator, run_results
from .values import random_array, special_array

__all__ = [
    "assert_close", "examples_of", "OperatorExample", "random_array", "run_operator", "run_results", "special_array",
]  # fmt: skip
