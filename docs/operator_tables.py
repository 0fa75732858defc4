"""What TVM's Relay has as operators and Weft has not: the second table of `docs/operators.md`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Other:
    """Operators of TVM's, whether something stands for them here, and what, or why nothing does."""

    names: tuple[str, ...]
    is_there: bool
    what: str


def folded(names: str, what: str) -> Other:
    return Other(tuple(names.split()), True, what)


def out(names: str, why: str) -> Other:
    return Other(tuple(names.split()), False, why)


OTHERS = (
    folded("annotation.checkpoint", "its operand: gradients keep what they need"),
    folded("contrib_reverse_reshape", "`relay.reverse_reshape`: a `reshape`"),
    folded("nn.fifo_buffer", "`relay.nn.fifo_buffer`: a slice of a concatenation"),
    folded(
        "qnn.simulated_quantize qnn.simulated_dequantize relay.op.annotation.simulated_quantize",
        "`relay.qnn.simulated_quantize`, `relay.qnn.simulated_dequantize`: arithmetic on floats",
    ),
    folded("sliding_window", "`relay.sliding_window`: slices"),
    folded("stft", "`relay.stft`: products with a matrix of waves"),
    folded("vision.yolo_reorg", "`relay.vision.yolo_reorg`: a `reshape` and a `transpose`"),
    folded(
        "auto_scheduler_layout_transform meta_schedule_layout_transform",
        "`layout_transform`: weights are packed by `alter-op-layout`, whoever tunes",
    ),
    folded(
        "nn.contrib_conv2d_gemm_weight_transform nn.contrib_conv2d_gemm_without_weight_transform "
        "nn.contrib_conv3d_winograd_weight_transform nn.contrib_conv3d_winograd_without_weight_transform "
        "nn.contrib_conv2d_winograd_nnpack_weight_transform",
        "forms that TVM's passes give convolutions for some processors; here those in blocks and in tiles, along one "
        "and three axes too (`conv-to-conv2d`)",
    ),
    folded("nn.internal.sparse_dense_padded", "`nn.sparse_dense`: TVM pads it for GPUs"),
    out("debug", "instruments and `exe.profile` look at values and times; an operator would end fusion"),
    folded("hardswish", "a name without a definition there; `qnn.hardswish`, and arithmetic"),
    folded("annotation.cast_hint", "written by TVM's quantizer for itself; `cast`"),
    out("dyn.sparse_to_dense", "of no importer and no tutorial; `dyn.full` and `scatter_nd` compute it"),
    folded("nn.bitpack", "`relay.nn.bitpack`: shifts and a sum"),
    folded(
        "nn.bitserial_conv2d nn.bitserial_dense",
        "`relay.nn.bitserial_conv2d`, `relay.nn.bitserial_dense`: products of bytes, which sums over bits give too",
    ),
    folded("annotation.bitpack_start annotation.bitpack_end", "their operand: parts that are packed have no bounds"),
    out("vision.proposal", "of MXNet's region networks; ONNX exports its parts"),
    out(
        "contrib.ethosu.binary_elementwise contrib.ethosu.conv2d contrib.ethosu.depthwise_conv2d "
        "contrib.ethosu.identity contrib.ethosu.pooling contrib.ethosu.unary_elementwise",
        "of an accelerator that Weft makes no code for",
    ),
    out("annotation.with_funcid", "of a search over partitions (Collage) that is not there"),
    out("parser.MetaRef", "of Relay's own text format"),
)
