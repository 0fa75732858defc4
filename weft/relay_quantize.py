"""Networks of floats made such of bytes, under TVM's names (`tvm.relay.quantize`): `weft.relay.quantize`.

    with relay.quantize.qconfig(calibrate_mode="kl_divergence", weight_scale="max"):
        module = relay.quantize.quantize(module, params, dataset=[{"data": array}, ...])
    library = relay.build(module, "llvm")

Products are annotated (`quantize-annotate`), the scales of what they read are calibrated on data, and `sink-dequantize`
computes with the bytes: sums are exact, and what is between products are floats, in the same kernels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar, Token
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Self, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import SSAValue

from .dialects.relay.core import ConstantOp, FuncOp, ReturnOp
from .dialects.relay.ops.qnn.quantization import DequantizeOp, QuantizeOp
from .dialects.support.arguments import checked
from .dialects.support.diagnostics import Diagnostic, Place, Severity, UsageError, did_you_mean, emit
from .frontend.relay.module import IRModule
from .lowering.machine.scoped_target import or_current
from .relay_executors import create_executor
from .transforms.infra.passes import Pass
from .transforms.infra.walk import clone, erase, walk
from .transforms.relay.bind_params import bind_known
from .transforms.relay.dead_code_elimination import eliminate_dead_code
from .transforms.relay.fold_constant import FoldConstantPass
from .transforms.relay.fold_scale_axis import FoldScaleAxisPass
from .transforms.relay.partition_conversions import PartitionConversionsPass
from .transforms.relay.quantize_annotate import LEAST_SCALE, SIMULATED, STEPS, QuantizeAnnotatePass
from .transforms.relay.simplify_inference import SimplifyInferencePass
from .transforms.relay.sink_dequantize import SinkDequantizePass

if TYPE_CHECKING:
    Floats: TypeAlias = npt.NDArray[np.float64]

Dataset: TypeAlias = "Iterable[Mapping[str, npt.ArrayLike]]"

_FIXED = {
    "nbit_input": 8, "nbit_weight": 8, "nbit_activation": 32,
    "dtype_input": "int8", "dtype_weight": "int8", "dtype_activation": "int32",
}  # fmt: skip
"""What the bytes and their sums are."""

_CHOICES = {
    "calibrate_mode": ("global_scale", "kl_divergence", "percentile"),
    "weight_scale": ("power2", "max"),
    "partition_conversions": ("disabled", "enabled", "fully_integral"),
}


@dataclass(frozen=True)
class QConfig:
    """How networks are quantised; `qconfig` makes one, which counts within its `with`.

    Args:
        calibrate_mode: `global_scale`, one scale for all data; `kl_divergence` or `percentile`, by a dataset.
        global_scale: the largest magnitude of data.
        weight_scale: the largest magnitude of each weight (`max`), or the power of two above it (`power2`).
        skip_dense_layer: dense layers stay floats.
        skip_conv_layers: the convolutions that stay floats, by number.
        do_simulation: the network still computes with floats what it would with bytes.
        calibrate_chunk_by: how many values are looked at in one run, of which all data are held; all, unless given.
        partition_conversions: `enabled` divides the network into functions (`partition-conversions`), `fully_integral`
            refuses floats in the middle one.
        nbit_input, nbit_weight, nbit_activation, dtype_input, dtype_weight, dtype_activation: bytes, and sums of 32
            bits, and nothing else.
        round_for_shift, rounding, debug_enabled_ops: say nothing: factors are no shifts.

    Raises:
        UsageError: an option is none of what it can be.
    """

    nbit_input: int = 8
    nbit_weight: int = 8
    nbit_activation: int = 32
    dtype_input: str = "int8"
    dtype_weight: str = "int8"
    dtype_activation: str = "int32"
    calibrate_mode: str = "global_scale"
    global_scale: float = 8.0
    weight_scale: str = "power2"
    skip_dense_layer: bool = True
    skip_conv_layers: Sequence[int] | None = (0,)
    do_simulation: bool = False
    round_for_shift: bool = True
    debug_enabled_ops: Sequence[str] | None = None
    rounding: str = "UPWARD"
    calibrate_chunk_by: int = -1
    partition_conversions: str = "disabled"
    _tokens: list[Token[QConfig]] = field(default_factory=list["Token[QConfig]"], repr=False, compare=False)

    def __post_init__(self) -> None:
        for name, wanted in _FIXED.items():
            if (given := getattr(self, name)) != wanted:
                raise UsageError(f"'{name}' is {wanted!r}, and not {given!r}: products are of bytes")
        for name, choices in _CHOICES.items():
            if (given := getattr(self, name)) not in choices:
                hint = did_you_mean(str(given), choices)
                raise UsageError(f"'{name}' is one of {', '.join(choices)}, and not {given!r}", hint=hint)

    def __enter__(self) -> Self:
        self._tokens.append(_current.set(self))
        return self

    def __exit__(self, *error: object) -> None:
        _current.reset(self._tokens.pop())


_current: ContextVar[QConfig] = ContextVar("qconfig", default=QConfig())  # noqa: B039  # it is not written to


def qconfig(**kwargs: object) -> QConfig:
    """Options other than the defaults. Of names that are none it warns, where TVM passes over them in silence.

    Raises:
        UsageError: an option is none of what it can be.
    """
    names = [each.name for each in fields(QConfig) if not each.name.startswith("_")]
    for name in kwargs.keys() - set(names):
        hint = did_you_mean(name, names)
        emit(Diagnostic(f"relay.quantize has no option '{name}'", hint=hint, severity=Severity.WARNING))
    return QConfig(**{name: value for name, value in kwargs.items() if name in names})  # pyright: ignore[reportArgumentType]


def current_qconfig() -> QConfig:
    """The options that count here."""
    return _current.get()


@checked
def quantize(
    mod: ModuleOp, params: Mapping[str, npt.ArrayLike] | None = None, dataset: Dataset | None = None
) -> IRModule:
    """A network that computes with bytes what one computes with floats, as near as the options in force allow.

    Args:
        mod: the network, `@main`, which stays as it is.
        params: the weights, by name.
        dataset: inputs by name, one mapping for each run, where scales are calibrated by data.

    Raises:
        UsageError: scales are to be calibrated, and there are no data, or they give numbers that are not finite.
        PartitionError: the middle of the network has floats, and shall have none.
    """
    config = current_qconfig()
    network = IRModule.of(clone(mod))
    if params:
        bind_known(network, params)
    annotate = QuantizeAnnotatePass(
        global_scale=config.global_scale,
        weight_scale=config.weight_scale,
        skip_conv_layers=tuple(config.skip_conv_layers or ()),
        skip_dense_layer=config.skip_dense_layer,
    )
    before = [SimplifyInferencePass(), FoldConstantPass(), FoldScaleAxisPass(), FoldConstantPass()]
    network = _run([*before, annotate], network)
    if config.calibrate_mode != "global_scale":
        _calibrate(network, list(dataset or ()), config)
    for quantizer in _quantizers(network):
        del quantizer.attributes[SIMULATED]
    if not config.do_simulation:
        network = _run([SinkDequantizePass(), FoldConstantPass()], network)
    if config.partition_conversions != "disabled":
        network = _run([PartitionConversionsPass(config.partition_conversions == "fully_integral")], network)
    return network


def _run(passes: Sequence[Pass], network: IRModule) -> IRModule:
    """What passes make of a network, each of them whatever the level."""
    for each in passes:
        network = cast("IRModule", each(network))
    return network


def _quantizers(network: ModuleOp) -> list[QuantizeOp]:
    return [op for op in walk(network) if isinstance(op, QuantizeOp) and SIMULATED in op.attributes]


def _calibrate(network: IRModule, dataset: Sequence[Mapping[str, npt.ArrayLike]], config: QConfig) -> None:
    """Give what is quantised the scales that data say."""
    if not dataset:
        raise UsageError(
            f"{config.calibrate_mode} calibrates by data, and there are none",
            hint="quantize(module, params, dataset=[{'data': array}])",
        )
    find = magnitude_of_least_divergence if config.calibrate_mode == "kl_divergence" else magnitude_of_most
    quantizers = _quantizers(network)
    for quantizer, seen in zip(quantizers, _values(network, dataset, config.calibrate_chunk_by), strict=True):
        if not np.isfinite(seen).all():
            odd = np.count_nonzero(~np.isfinite(seen))
            raise UsageError(
                f"{odd} of the {seen.size} numbers that the data give to what is quantised here are NaN or infinite",
                Place.of_location(quantizer.location),
                hint="scales are calibrated by finite numbers",
            )
        scale = max((find(seen) or 1.0) / STEPS, LEAST_SCALE)
        constant = ConstantOp.from_numpy(np.asarray(scale, np.float32), "scale")
        block = quantizer.parent
        assert block is not None
        block.insert_op_before(constant, quantizer)
        quantizer.operands[1] = constant.result
        for use in list(quantizer.result.uses):
            assert isinstance(use.operation, DequantizeOp)
            use.operation.operands[1] = constant.result


def _values(network: IRModule, dataset: Sequence[Mapping[str, npt.ArrayLike]], chunk: int) -> Iterator[Floats]:
    """What each quantiser reads where the network computes with floats, of all data."""
    count = len(_quantizers(network))
    step = chunk if chunk > 0 else max(count, 1)
    for start in range(0, count, step):
        looking = clone(network)
        quantizers = _quantizers(looking)
        main = quantizers[0].parent_op()
        if not isinstance(main, FuncOp) or any(each.parent_op() is not main for each in quantizers):
            raise UsageError("what is calibrated by data stands in @main, outside of branches")
        for each in quantizers:
            for use in list(each.result.uses):
                use.operation.results[0].replace_all_uses_with(each.data)
        _return(main, [each.data for each in quantizers[start : start + step]])
        run = create_executor("vm", looking, target=or_current(None)).evaluate()
        assert callable(run)
        found: list[list[Floats]] = [[] for _ in quantizers[start : start + step]]
        for inputs in dataset:
            given = run(**inputs)
            for seen, array in zip(found, given if isinstance(given, tuple) else [given], strict=True):
                seen.append(np.abs(np.asarray(array, np.float64)).reshape(-1))
        yield from (np.concatenate(seen) for seen in found)


def _return(main: FuncOp, values: Sequence[SSAValue]) -> None:
    erase(main.return_op)
    main.body.block.add_op(ReturnOp(*values))
    main.function_type = FunctionType.from_lists(main.function_type.inputs.data, [value.type for value in values])
    main.attributes.pop("output_names", None)
    eliminate_dead_code(main)


def magnitude_of_most(magnitudes: Floats, part: float = 0.99999) -> float:
    """The magnitude that all but one in a hundred thousand do not exceed, as TVM's `percentile` has it; 0 of none."""
    if magnitudes.size == 0:
        return 0.0
    place = min(int(magnitudes.size * part), magnitudes.size - 1)
    return float(np.partition(magnitudes, place)[place])


def magnitude_of_least_divergence(magnitudes: Floats, bins: int = 4001, levels: int = STEPS) -> float:
    """The magnitude to which bytes reach if their distribution tells most of that of the floats: least is the
    divergence of Kullback and Leibler between the floats, what is larger being taken for the largest that is told, and
    the same in `levels` steps (Migacz, 8-bit Inference with TensorRT, 2017). Zeros do not count: bytes tell them
    whatever they reach to."""
    magnitudes = magnitudes[magnitudes > 0]
    largest = float(magnitudes.max(initial=0.0))
    if largest == 0.0:
        return 0.0
    counts, edges = np.histogram(magnitudes, bins=bins, range=(0.0, largest))
    best, chosen = np.inf, largest
    step = max(1, (bins - levels) // 128)
    for kept in (*range(levels, bins, step), bins):
        told = counts[:kept].astype(np.float64)
        if not told.any():
            continue
        clipped = told.copy()
        clipped[-1] += counts[kept:].sum()
        step = np.minimum(np.arange(kept) * levels // kept, levels - 1)
        present = told > 0
        sums, many = (np.bincount(step, weights, levels) for weights in (told, present.astype(np.float64)))
        spread = np.where(present, (sums / np.maximum(many, 1))[step], 0.0)
        divergence = _divergence(_smoothed(clipped), _smoothed(spread))
        if divergence < best:
            best, chosen = divergence, float(edges[kept])
    return chosen


def _smoothed(counts: Floats, least: float = 1e-4) -> Floats:
    """A distribution without zeros: what they are given, the others give."""
    zeros = counts == 0
    if zeros.all():
        return np.full(counts.shape, 1.0 / counts.size)
    given = np.where(zeros, least, counts - least * zeros.sum() / (~zeros).sum())
    return np.maximum(given, least) / np.maximum(given, least).sum()


def _divergence(p: Floats, q: Floats) -> float:
    return float(np.sum(p * np.log(p / q)))


__all__ = ["QConfig", "current_qconfig", "qconfig", "quantize"]
