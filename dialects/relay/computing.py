"""An operator's `compute`, called and held to what its type relation declares."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.utils.exceptions import VerifyException

from .. import te
from ..support.advice import give_shapes
from ..support.diagnostics import Diagnostic
from ..support.hints import listed
from ..te.dims import to_text
from .base import DYNAMIC, RelayOp, Tensor, compatible, flatten_types


def compute_results(
    op: RelayOp, inputs: Sequence[te.Tensor], compute: Callable[..., object] | None = None
) -> list[te.Tensor]:
    """The tensors that `op` computes from `inputs`, one for each tensor of its results (tuples are opened); or that
    another `compute` does in its place.

    Raises:
        Diagnostic: they are not as many as the operator declares, or one has another shape or element type; or the
            definition is no tensor expression: it reads outside of a tensor, or mixes types.
        NotImplementedError: the operator has no `compute`.
    """
    try:
        computed: object = (compute or op.compute)(*inputs)
    except (TypeError, ValueError, IndexError, VerifyException) as error:
        if not str(error).startswith("te: ") and not _is_of_symbols(error, inputs):
            raise
        what = str(error).removeprefix("te: ")
        if isinstance(error, TypeError) and what == str(error):
            what = "it asks for integers"
        if _is_symbolic(inputs) or op.told_extents():
            raise Diagnostic.at(
                op,
                f"cannot be computed where an extent is known only when it runs: {what}",
                hint=give_shapes(),
            ) from error
        raise Diagnostic.at(op, f"its compute is not sound: {what}") from error
    results = _sequence(op, computed)
    declared = flatten_types([result.type for result in op.results])
    if len(results) != len(declared):
        raise Diagnostic.at(op, f"its compute gives {len(results)} tensors, but it declares {len(declared)} results")
    for number, (result, type) in enumerate(zip(results, declared, strict=True)):
        if result.element_type != type.element_type or not _fits(result, type):
            which = f"result {number} of its compute" if len(results) > 1 else "its compute"
            raise Diagnostic.at(
                op,
                f"{which} has shape {_text(result)} and elements of type {result.element_type}, but it declares {type}",
                hint="compute must give what infer says",
            )
    return results


def _is_symbolic(inputs: Sequence[te.Tensor]) -> bool:
    return any(each.is_symbolic for each in inputs)


def _is_of_symbols(error: Exception, inputs: Sequence[te.Tensor]) -> bool:
    """Whether it is what extents that are symbols have led to: shapes that do not fit, as far as can be seen."""
    return isinstance(error, VerifyException | TypeError) and _is_symbolic(inputs)


def _sequence(op: RelayOp, computed: object) -> list[te.Tensor]:
    given = listed(computed)
    tensors = [each for each in given if isinstance(each, te.Tensor)]
    if len(tensors) != len(given):
        wrong = next(each for each in given if not isinstance(each, te.Tensor))
        raise Diagnostic.at(op, f"its compute gives {type(wrong).__name__}, not tensors: return te.compute(...)")
    return tensors


def _text(result: te.Tensor) -> str:
    return f"[{', '.join(map(to_text, result.dims))}]"


def _fits(result: te.Tensor, type: Tensor) -> bool:
    shape = [dim if isinstance(dim, int) else DYNAMIC for dim in result.dims]
    return compatible(type, TensorType(type.element_type, shape))
