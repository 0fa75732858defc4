"""How Relay's operators are called from Python: TVM's argument names, their order and their defaults.

One line for each operator whose call is not what its class says already (operands in order, then properties in order,
with the class's defaults). After a colon stands what Weft calls the argument where TVM has another name for it.
"""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass
from functools import cache

SIGNATURES = """
clip(a: data, a_min, a_max)
cast_like(data, dtype_like: like)
sum(data, axis=None, keepdims=False, exclude=False)
prod(data, axis=None, keepdims=False, exclude=False)
max(data, axis=None, keepdims=False, exclude=False)
min(data, axis=None, keepdims=False, exclude=False)
all(data, axis=None, keepdims=False, exclude=False)
any(data, axis=None, keepdims=False, exclude=False)
mean(data, axis=None, keepdims=False, exclude=False)
argmax(data, axis=None, keepdims=False, exclude=False, select_last_index=False)
argmin(data, axis=None, keepdims=False, exclude=False, select_last_index=False)
collapse_sum_like(data, collapse_type: like)
reshape(data, newshape, allowzero=False)
reshape_like(data, shape_like: like, lhs_begin=0, lhs_end=None, rhs_begin=0, rhs_end=None)
squeeze(data, axis=None)
expand_dims(data, axis, num_newaxis=1)
transpose(data, axes=None)
reverse(data, axis)
strided_slice(data, begin, end, strides=None, axes=None, slice_mode='end')
slice_like(data, shape_like: like, axes=None)
split(data, indices_or_sections, axis=0)
concatenate(data, axis)
stack(data, axis)
repeat(data, repeats, axis)
tile(data, reps)
broadcast_to_like(data, broadcast_type: like)
take(data, indices, axis=None, batch_dims=0, mode='clip')
gather(data, axis, indices)
gather_nd(data, indices, batch_dims=0, index_rank=None)
one_hot(indices, on_value, off_value, depth, axis, dtype)
zeros(shape, dtype)
ones(shape, dtype)
full(fill_value, shape=(), dtype='')
arange(start, stop=None, step=None, dtype='float32')
meshgrid(data, indexing='ij')
shape_of(data, dtype='int32')
ndarray_size(data, dtype='int32')
device_copy(data, src_device: src_virtual_device, dst_device: dst_virtual_device)
on_device(body, device: virtual_device, constrain_result=False, constrain_body=True)
sort(data, axis=-1, is_ascend=True)
argsort(data, axis=-1, is_ascend=True, dtype='int32')
topk(data, k=1, axis=-1, ret_type='both', is_ascend=False, dtype='int32')
searchsorted(sorted_sequence, values, right=False, dtype='int32')
scatter(data, indices, updates, axis)
scatter_add(data, indices, updates, axis)
scatter_nd(data, indices, updates, mode='update')
cumsum(data, axis=None, dtype=None, exclusive=None)
cumprod(data, axis=None, dtype=None, exclusive=None)
sequence_mask(data, valid_length: lengths, mask_value=0, axis=0)
reverse_sequence(data, seq_lengths: lengths, seq_axis=1, batch_axis=0)
unique(data, is_sorted: sorted=True, return_counts=False)
trilu(data, k, upper=True)
adv_index(inputs: data)
unravel_index(indices: data, shape)
layout_transform(data, src_layout, dst_layout)
image.resize1d(data, size, roi=None, layout='NCW', method='linear', coordinate_transformation_mode='half_pixel', rounding_method='', cubic_alpha=-0.5, cubic_exclude=0, extrapolation_value=0.0, out_dtype=None)
image.resize2d(data, size, roi=None, layout='NCHW', method='linear', coordinate_transformation_mode='half_pixel', rounding_method='', cubic_alpha=-0.5, cubic_exclude=0, extrapolation_value=0.0, out_dtype=None)
image.resize3d(data, size, roi=None, layout='NCDHW', method='linear', coordinate_transformation_mode='half_pixel', rounding_method='', cubic_alpha=-0.5, cubic_exclude=0, extrapolation_value=0.0, out_dtype=None)
image.crop_and_resize(data, boxes, box_indices, crop_size, layout, method='bilinear', extrapolation_value=0.0, out_dtype=None)
image.affine_grid(data, target_shape)
image.grid_sample(data, grid, method='bilinear', layout='NCHW', padding_mode='zeros', align_corners=True)
nn.leaky_relu(data, alpha=0.01)
nn.prelu(data, alpha, axis=1)
nn.softmax(data, axis=-1)
nn.fast_softmax(data, axis=-1)
nn.log_softmax(data, axis=-1)
nn.dropout(data, rate=0.5)
nn.conv1d(data, weight, strides=1, padding=0, dilation=1, groups=1, channels=None, kernel_size=None, data_layout='NCW', kernel_layout='OIW', out_layout='', out_dtype='')
nn.conv2d(data, weight, strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, channels=None, kernel_size=None, data_layout='NCHW', kernel_layout='OIHW', out_layout='', out_dtype='')
nn.conv3d(data, weight, strides=(1, 1, 1), padding=(0, 0, 0), dilation=(1, 1, 1), groups=1, channels=None, kernel_size=None, data_layout='NCDHW', kernel_layout='OIDHW', out_layout='', out_dtype='')
nn.conv1d_transpose(data, weight, strides=(1,), padding=(0,), dilation=(1,), groups=1, channels=None, kernel_size=None, data_layout='NCW', kernel_layout='OIW', out_layout='', output_padding=(0,), out_dtype='')
nn.conv2d_transpose(data, weight, strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, channels=None, kernel_size=None, data_layout='NCHW', kernel_layout='IOHW', out_layout='', output_padding=(0, 0), out_dtype='')
nn.conv3d_transpose(data, weight, strides=(1, 1, 1), padding=(0, 0, 0), dilation=(1, 1, 1), groups=1, channels=None, kernel_size=None, data_layout='NCDHW', kernel_layout='OIDHW', out_layout='', output_padding=(0, 0, 0), out_dtype='')
nn.contrib_conv2d_NCHWc(data, kernel: weight, strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, channels=None, kernel_size=None, data_layout='NCHW8c', kernel_layout='OIHW', out_layout='', out_dtype='', planes=())
nn.contrib_depthwise_conv2d_NCHWc(data, kernel: weight, strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, channels=None, kernel_size=None, data_layout='NCHW8c', kernel_layout='OIHW', out_layout='', out_dtype='')
nn.dense(data, weight, units=None, out_dtype='')
nn.contrib_dense_pack(data, weight, weight_layout='NC', units=None, out_dtype='')
nn.matmul(tensor_a: data, tensor_b: weight, units=None, out_dtype='', transpose_a=False, transpose_b=False)
nn.batch_matmul(tensor_a: x, tensor_b: y, out_dtype='', transpose_a=False, transpose_b=True)
nn.bias_add(data, bias, axis=1)
nn.batch_norm(data, gamma, beta, moving_mean, moving_var, axis=1, epsilon=1e-05, center=True, scale=True)
nn.instance_norm(data, gamma, beta, axis=1, epsilon=1e-05, center=True, scale=True)
nn.layer_norm(data, gamma, beta, axis=-1, epsilon=1e-05, center=True, scale=True)
nn.group_norm(data, gamma, beta, num_groups, axis=1, epsilon=1e-05, center=True, scale=True)
nn.l2_normalize(data, eps, axis=None)
nn.lrn(data, size=5, axis=1, bias=2, alpha=1e-05, beta=0.75)
nn.max_pool1d(data, pool_size=(1,), strides=(1,), dilation=(1,), padding=(0,), layout='NCW', out_layout='', ceil_mode=False)
nn.max_pool2d(data, pool_size=(1, 1), strides=(1, 1), dilation=(1, 1), padding=(0, 0), layout='NCHW', out_layout='', ceil_mode=False)
nn.max_pool3d(data, pool_size=(1, 1, 1), strides=(1, 1, 1), dilation=(1, 1, 1), padding=(0, 0, 0), layout='NCDHW', out_layout='', ceil_mode=False)
nn.avg_pool1d(data, pool_size=(1,), strides=(1,), dilation=(1,), padding=(0,), layout='NCW', out_layout='', ceil_mode=False, count_include_pad=False)
nn.avg_pool2d(data, pool_size=(1, 1), strides=(1, 1), dilation=(1, 1), padding=(0, 0), layout='NCHW', out_layout='', ceil_mode=False, count_include_pad=False)
nn.avg_pool3d(data, pool_size=(1, 1, 1), strides=(1, 1, 1), dilation=(1, 1, 1), padding=(0, 0, 0), layout='NCDHW', out_layout='', ceil_mode=False, count_include_pad=False)
nn.conv2d_backward_weight(grad, data, strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, channels=None, kernel_size=None, grad_layout='NCHW', data_layout='NCHW', kernel_layout='OIHW', out_dtype='')
nn.deformable_conv2d(data, offset, weight, strides=(1, 1), padding=(0, 0), dilation=(1, 1), deformable_groups=1, groups=1, channels=None, kernel_size=None, data_layout='NCHW', kernel_layout='OIHW', out_layout='', out_dtype='', mask=None, edges='cut')
nn.correlation(data1, data2, kernel_size, max_displacement, stride1, stride2, padding, is_multiply, layout)
nn.cross_entropy(predictions, targets)
nn.cross_entropy_with_logits(predictions, targets)
nn.nll_loss(predictions, targets, weights, reduction='mean', ignore_index=-100)
fixed_point_multiply(data, multiplier, shift)
strided_set(data, v, begin, end, strides)
image.dilation2d(data, weight, strides=(1, 1), padding=(0, 0), dilations=(1, 1), data_layout='NCHW', kernel_layout='IHW', out_dtype='')
nn.max_pool2d_grad(out_grad, data, pool_size=(1, 1), strides=(1, 1), padding=(0, 0), layout='NCHW', out_layout='', ceil_mode=False, dilation=(1, 1))
nn.avg_pool2d_grad(out_grad, data, pool_size=(1, 1), strides=(1, 1), padding=(0, 0), layout='NCHW', out_layout='', ceil_mode=False, count_include_pad=False, dilation=(1, 1))
nn.adaptive_max_pool1d(data, output_size=None, layout='NCW', out_layout='')
nn.adaptive_avg_pool1d(data, output_size=None, layout='NCW', out_layout='')
nn.adaptive_max_pool2d(data, output_size=None, layout='NCHW', out_layout='')
nn.adaptive_avg_pool2d(data, output_size=None, layout='NCHW', out_layout='')
nn.adaptive_max_pool3d(data, output_size=None, layout='NCDHW', out_layout='')
nn.adaptive_avg_pool3d(data, output_size=None, layout='NCDHW', out_layout='')
nn.global_max_pool2d(data, layout='NCHW', out_layout='')
nn.global_avg_pool2d(data, layout='NCHW', out_layout='')
nn.pad(data, pad_width, pad_value=0, pad_mode='constant')
nn.mirror_pad(data, pad_width, mode='SYMMETRIC')
nn.dilate(data, strides, dilation_value=0.0)
nn.upsampling(data, scale_h=1, scale_w=1, layout='NCHW', method='nearest_neighbor', align_corners=False)
nn.upsampling3d(data, scale_d=1, scale_h=1, scale_w=1, layout='NCDHW', method='nearest_neighbor', coordinate_transformation_mode='half_pixel')
nn.depth_to_space(data, block_size, layout='NCHW', mode='DCR')
nn.space_to_depth(data, block_size, layout='NCHW')
nn.space_to_batch_nd(data, block_shape, paddings, pad_value=0)
nn.batch_to_space_nd(data, block_shape, crops)
vision.roi_align(data, rois, pooled_size, spatial_scale, sample_ratio=-1, layout='NCHW', mode='avg', aligned=False)
vision.roi_pool(data, rois, pooled_size, spatial_scale, layout='NCHW')
reinterpret(data, dtype)
random.threefry_generate(key, shape: out_shape)
random.threefry_split(key)
random.multinomial(key, probs, num_samples)
sparse_reshape(sparse_indices, prev_shape, new_shape)
sparse_fill_empty_rows(sparse_indices, sparse_values, dense_shape, default_value)
vision.multibox_prior(data, sizes=(1.0,), ratios=(1.0,), steps=(-1.0, -1.0), offsets=(0.5, 0.5), clip=False)
vision.multibox_transform_loc(cls_prob, loc_pred, anchor, clip=True, threshold=0.01, variances=(0.1, 0.1, 0.2, 0.2), keep_background=False)
vision.get_valid_counts(data, score_threshold, id_index=0, score_index=1)
vision.non_max_suppression(data, valid_count, indices, max_output_size=-1, iou_threshold=0.5, force_suppress=False, top_k=-1, coord_start=2, score_index=1, id_index=0, return_indices=True, invalid_to_bottom=False)
vision.all_class_non_max_suppression(boxes, scores, max_output_boxes_per_class=-1, iou_threshold=-1.0, score_threshold=-1.0, output_format='onnx', box_format='corner')
qnn.quantize(data, output_scale, output_zero_point, axis=-1, out_dtype='int8')
qnn.dequantize(data, input_scale, input_zero_point, axis=-1, out_dtype='float32')
qnn.requantize(data, input_scale, input_zero_point, output_scale, output_zero_point, axis=-1, rounding='None', compute_dtype='None', out_dtype='int8')
qnn.concatenate(data, input_scales, input_zero_points, output_scale, output_zero_point, axis)
qnn.conv2d(data, kernel: weight, input_zero_point, kernel_zero_point, input_scale, kernel_scale, kernel_size, channels, strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, data_layout='NCHW', kernel_layout='OIHW', out_layout='', out_dtype='int32')
qnn.conv2d_transpose(data, weight, input_zero_point, kernel_zero_point, input_scale, kernel_scale, strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, channels=None, kernel_size=None, data_layout='NCHW', kernel_layout='IOHW', out_layout='', output_padding=(0, 0), out_dtype='int32')
qnn.dense(data, weight, input_zero_point, kernel_zero_point, input_scale, kernel_scale, units, out_dtype='int32')
qnn.batch_matmul(x, y, x_zero_point, y_zero_point, x_scale, y_scale, out_dtype='int32')
qnn.leaky_relu(x, alpha, input_scale: scale, input_zero_point: zero_point, output_scale, output_zero_point)
"""  # noqa: E501


@dataclass(frozen=True)
class CallForm:
    """How an operator is called: Python's signature, and for each parameter the operand or property that it is."""

    signature: inspect.Signature
    fields: dict[str, str]


@cache
def call_forms() -> dict[str, CallForm]:
    """The forms that are written down, by the operator's name without `relay.`."""
    return dict(_form(line) for line in SIGNATURES.strip().splitlines())


def _form(line: str) -> tuple[str, CallForm]:
    name, _, rest = line.partition("(")
    definition = ast.parse(f"def f({rest}: ...").body[0]
    assert isinstance(definition, ast.FunctionDef)
    arguments = definition.args
    without = len(arguments.args) - len(arguments.defaults)
    parameters: list[inspect.Parameter] = []
    fields: dict[str, str] = {}
    for position, argument in enumerate(arguments.args):
        default = inspect.Parameter.empty
        if position >= without:
            default = ast.literal_eval(arguments.defaults[position - without])
        parameters.append(inspect.Parameter(argument.arg, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default))
        fields[argument.arg] = argument.arg if argument.annotation is None else ast.unparse(argument.annotation)
    return name, CallForm(inspect.Signature(parameters), fields)
