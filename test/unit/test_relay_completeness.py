"""Nothing that an operator needs is missing, unless a list here allows the gap."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from xdsl.dialects.builtin import FloatAttr

pytest.importorskip("onnx")

import onnx

from weft.dialects.relay import Relay
from weft.dialects.relay.base import Fusion, Pointwise, RelayOp, fusion_pattern
from weft.frontend.onnx.registry import CONVERTERS, LAST_OPSET

OPERATORS = {op.name: op for op in Relay.operations if issubclass(op, RelayOp)}
DIALECT_TESTS = Path(__file__).parents[1] / "dialects" / "relay"

WITHOUT_COMPUTE = {
    "relay.argwhere": "its result has as many rows as the data says",
    "relay.on_device": "a note to plan-devices, which may stand on any value",
    "relay.sparse_fill_empty_rows": "its results have as many elements as the data says",
    "relay.unique": "its results have as many elements as the data says",
    **{
        f"relay.dyn.{name}": "what tells it its shape has to be known, if only as made of extents"
        for name in (
            "broadcast_to", "expand_dims", "full", "image.resize2d", "nn.pad", "nn.upsampling", "nn.upsampling3d",
            "one_hot", "ones", "reshape", "squeeze", "strided_slice", "tile", "topk", "zeros",
        )
    },
}  # fmt: skip

WITHOUT_FUSION_PATTERN = {
    "relay.nn.group_norm": "decomposed before fusion, as in TVM",
    "relay.nn.instance_norm": "decomposed before fusion, as in TVM",
    "relay.nn.l2_normalize": "decomposed before fusion, as in TVM",
    "relay.nn.layer_norm": "decomposed before fusion, as in TVM",
    **{
        f"relay.qnn.{name}": "decomposed before fusion, as in TVM"
        for name in (
            "abs", "add", "batch_matmul", "concatenate", "conv2d", "conv2d_transpose", "dense", "erf", "exp",
            "hardswish", "leaky_relu", "log", "mul", "requantize", "rsqrt", "sigmoid", "sqrt", "subtract", "tanh",
        )
    },
}  # fmt: skip

TOTAL_TYPE_RELATIONS = {
    "relay.abs": "any tensor will do, here and for the operators that share the relation",
    "relay.annotation.compiler_begin": "any value will do",
    "relay.annotation.compiler_end": "any value will do",
    "relay.argwhere": "any tensor will do",
    "relay.device_copy": "any value will do",
    "relay.cast_like": "any two tensors will do",
    "relay.nn.dropout": "any tensor will do",
    "relay.nn.leaky_relu": "any tensor will do",
    "relay.nn.relu": "any tensor will do",
    "relay.ndarray_size": "any tensor will do",
    "relay.on_device": "any value will do",
}
"""Operators which no operand can fail to fit; that the declared result fits is checked for all of them alike."""


def for_each(reason: str, *names: str) -> dict[str, str]:
    """One reason for several operators."""
    return {f"relay.{name}": reason for name in names}


WITHOUT_LAYOUT_RULE = {
    **for_each(
        "its result has as many rows as the data says", "argwhere", "compact", "data_extent",
        "sparse_fill_empty_rows", "unique", "unique_rows",
    ),
    "relay.nn.contrib_see_planes": "its images and channels are those of the plain layout",
    **for_each(
        "it makes its data",
        "random.multinomial", "random.normal", "random.threefry_generate", "random.threefry_split", "random.uniform",
        "vision.multibox_prior",
    ),
    **for_each(
        "a matrix is given by vectors",
        "nn.sparse_add", "nn.sparse_conv2d", "nn.sparse_dense", "nn.sparse_transpose", "sparse_reshape",
        "sparse_to_dense",
    ),
    **for_each(
        "its shape is data",
        "dyn.broadcast_to", "dyn.expand_dims", "dyn.full", "dyn.image.resize2d", "dyn.nn.pad", "dyn.nn.upsampling",
        "dyn.nn.upsampling3d", "dyn.one_hot", "dyn.ones", "dyn.reshape", "dyn.squeeze", "dyn.strided_slice", "dyn.tile",
        "dyn.topk", "dyn.zeros",
    ),
    **for_each("a bound for partition-graph", "annotation.compiler_begin", "annotation.compiler_end"),
    **for_each(
        "it looks across channels, or along an axis that may be theirs",
        "adv_index", "argmax", "argmin", "argsort", "collapse_sum_like", "collapse_sum_to", "cumprod", "cumsum",
        "einsum", "gather", "gather_nd", "invert_permutation", "matrix_set_diag", "nn.fast_softmax", "nn.log_softmax",
        "nn.lrn", "nn.softmax", "one_hot", "repeat", "reverse", "reverse_sequence", "scatter", "scatter_add",
        "scatter_elements", "scatter_nd", "searchsorted", "sequence_mask", "slice_like", "sort", "stack",
        "strided_set", "take", "tile", "topk", "trilu", "unravel_index", "variance",
    ),
    **for_each(
        "it gives the data another shape",
        "broadcast_to", "broadcast_to_like", "expand_dims", "nn.batch_flatten", "nn.batch_to_space_nd",
        "nn.space_to_batch_nd", "nn.space_to_depth", "reshape", "reshape_like", "squeeze",
        "transpose",
    ),
    **for_each(
        "it makes its data, or only measures it",
        "arange", "full", "full_like", "meshgrid", "ndarray_size", "ones", "shape_of", "zeros",
    ),
    **for_each("a note, or a copy as it is", "annotation.stop_fusion", "device_copy", "on_device"),
    **for_each("the type is told by an operand that does not broadcast", "cast_like"),
    **for_each(
        "gradients are taken before channels are put into blocks",
        "nn.avg_pool1d_grad", "nn.avg_pool2d_grad", "nn.avg_pool3d_grad", "nn.max_pool1d_grad", "nn.max_pool2d_grad",
        "nn.conv2d_backward_weight", "nn.max_pool3d_grad",
    ),
    **for_each("it gives one number", "nn.cross_entropy", "nn.cross_entropy_with_logits", "nn.nll_loss"),
    **for_each("its data has not four dimensions", "nn.conv1d", "nn.conv3d"),
    **for_each(
        "the result of such a rule",
        "layout_transform", "nn.contrib_conv2d_NCHWc", "nn.contrib_dense_pack", "nn.contrib_depthwise_conv2d_NCHWc",
        "nn.contrib_conv2d_winograd_weight_transform", "nn.contrib_conv2d_winograd_without_weight_transform",
    ),
    **for_each(
        "decomposed before",
        "nn.batch_norm", "nn.dropout", "nn.group_norm", "nn.instance_norm", "nn.l2_normalize", "nn.layer_norm",
        "qnn.abs", "qnn.add", "qnn.batch_matmul", "qnn.concatenate", "qnn.conv2d", "qnn.conv2d_transpose", "qnn.dense",
        "qnn.dequantize", "qnn.erf", "qnn.exp", "qnn.hardswish", "qnn.leaky_relu", "qnn.log", "qnn.mul", "qnn.quantize",
        "qnn.requantize", "qnn.rsqrt", "qnn.sigmoid", "qnn.sqrt", "qnn.subtract", "qnn.tanh",
    ),
    **for_each(
        "not worth it so far: rare between convolutions",
        "image.dilation2d", "nn.correlation", "nn.deformable_conv2d",
        "image.affine_grid", "image.crop_and_resize", "image.grid_sample", "image.resize1d", "image.resize3d",
        "nn.conv1d_transpose", "nn.conv2d_transpose", "nn.conv3d_transpose", "nn.dilate",
        "nn.mirror_pad", "nn.prelu", "vision.all_class_non_max_suppression", "vision.get_valid_counts",
        "vision.multibox_transform_loc", "vision.non_max_suppression", "vision.roi_align", "vision.roi_pool",
    ),
}  # fmt: skip
"""Operators that `alter-op-layout` gives their operands in the plain layout."""


NOT_POINTWISE = {
    **for_each("the type is told by an operand that does not broadcast", "cast_like"),
    **for_each("it depends on an index", "nn.bias_add", "nn.prelu", "repeat", "tile", "trilu"),
    **for_each("it is told the result's shape", "broadcast_to", "broadcast_to_like", "expand_dims"),
    **for_each("it has no tensor to look at", "full", "full_like", "ones", "zeros"),
    **for_each("its shape is data", "dyn.broadcast_to", "dyn.full", "dyn.ones", "dyn.zeros"),
}
"""Operators that are fused as pointwise ones are, and are none."""


def invalid_tests() -> str:
    return "\n".join(path.read_text() for path in DIALECT_TESTS.glob("*invalid.mlir"))


def type_relation(op: type[RelayOp]) -> tuple[object, ...]:
    """What tells type relations apart: operators with the same one are tested together."""
    parts = (
        "infer",
        "result_shape",
        "checked_types",
        "reduction",
        "result_element",
        "check",
        "place",
        "parts",
        "fields",
    )
    return tuple(getattr(op, part, None) for part in parts)


def those(lacks: Callable[[type[RelayOp]], bool]) -> set[str]:
    """The names of the operators that lack something."""
    return {name for name, op in OPERATORS.items() if lacks(op)}


def test_operators_have_a_compute() -> None:
    assert those(lambda op: not op.has_compute()) == WITHOUT_COMPUTE.keys()


def test_operators_have_a_fusion_pattern() -> None:
    assert those(lambda op: fusion_pattern(op) is None) == WITHOUT_FUSION_PATTERN.keys()


def test_operators_have_a_layout_rule() -> None:
    assert those(lambda op: not op.has_layout_rule()) == WITHOUT_LAYOUT_RULE.keys()


def test_operators_that_are_fused_element_by_element_are_pointwise() -> None:
    """`ELEMWISE` and `BROADCAST` say how one is fused, `Pointwise` that nothing depends on where an element stands."""
    of_elements = those(lambda op: fusion_pattern(op) in (Fusion.ELEMWISE, Fusion.BROADCAST))
    pointwise = those(lambda op: op.has_trait(Pointwise))
    assert pointwise <= of_elements
    assert of_elements - pointwise <= NOT_POINTWISE.keys()


def test_operators_are_described() -> None:
    """By a docstring of their own that begins with a sentence."""

    def begins(op: type[RelayOp]) -> str:
        return inspect.cleandoc(op.__dict__.get("__doc__") or "").partition("\n")[0]

    assert those(lambda op: re.fullmatch(r"[A-Z`].+[.:;,\w`)]", begins(op)) is None) == set()


def test_every_type_relation_has_a_negative_test():
    """The operator stands on the line of which an error is expected."""
    tested = set(re.findall(r"expected-error@\+1[^\n]*\n[^\n]*?(relay\.(?!func)[\w.]+)", invalid_tests()))
    covered = {type_relation(op) for name, op in OPERATORS.items() if name in tested or name in TOTAL_TYPE_RELATIONS}
    missing = [name for name, op in OPERATORS.items() if type_relation(op) not in covered]
    assert not missing, f"no *invalid.mlir has a negative test of the type relation of: {', '.join(missing)}"


@pytest.mark.parametrize(
    "allowed", [WITHOUT_COMPUTE, WITHOUT_FUSION_PATTERN, WITHOUT_LAYOUT_RULE, NOT_POINTWISE, TOTAL_TYPE_RELATIONS]
)
def test_the_lists_of_gaps_name_operators(allowed: dict[str, str]):
    assert allowed.keys() <= OPERATORS.keys()


def test_no_onnx_operator_is_named_by_two_classes():
    named = [name for op in OPERATORS.values() for name in op.ONNX]
    assert len(named) == len(set(named))


@pytest.mark.parametrize("name", [name for name, op in OPERATORS.items() if op.ONNX])
def test_an_onnx_operator_that_a_class_names_is_one_to_one_with_it(name: str):
    """As many inputs as operands, all attributes are properties with the same default, and no converter takes it."""
    op = OPERATORS[name]
    for counterpart in op.ONNX:
        schema = onnx.defs.get_schema(counterpart, LAST_OPSET)
        assert schema.min_input == schema.max_input == len(op.get_irdl_definition().operands)
        properties = op.get_irdl_definition().properties
        for attribute, definition in schema.attributes.items():
            default = properties[attribute].default_value
            assert isinstance(default, FloatAttr)
            assert default.value.data == pytest.approx(definition.default_value.f)
        assert CONVERTERS[counterpart].keys() <= {1, 7}


def test_names_are_unique():
    names = [op.name for op in Relay.operations]
    assert len(set(names)) == len(names)


def test_every_operator_says_how_exactly_it_is_computed() -> None:
    assert [name for name, op in OPERATORS.items() if op.accuracy() is None] == []
