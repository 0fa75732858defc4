"""Layers (`tvm.topi.nn`): each is Relay's operator, which says what it computes, under the arguments of `topi`."""

from typing import TYPE_CHECKING

from ...dialects.support.lazy import lazy_names

if TYPE_CHECKING:
    from . import elemwise as elemwise
    from . import pooling as pooling
    from . import utils as utils
    from .convolution import conv1d as conv1d
    from .convolution import conv2d as conv2d
    from .convolution import conv2d_hwcn as conv2d_hwcn
    from .convolution import conv2d_nchw as conv2d_nchw
    from .convolution import conv2d_nhwc as conv2d_nhwc
    from .convolution import conv2d_transpose_nchw as conv2d_transpose_nchw
    from .convolution import conv3d_ncdhw as conv3d_ncdhw
    from .convolution import conv3d_ndhwc as conv3d_ndhwc
    from .convolution import depthwise_conv2d_nchw as depthwise_conv2d_nchw
    from .convolution import depthwise_conv2d_nhwc as depthwise_conv2d_nhwc
    from .convolution import group_conv2d_nchw as group_conv2d_nchw
    from .elemwise import leaky_relu as leaky_relu
    from .elemwise import prelu as prelu
    from .elemwise import relu as relu
    from .normalisation import batch_norm as batch_norm
    from .normalisation import fast_softmax as fast_softmax
    from .normalisation import layer_norm as layer_norm
    from .normalisation import log_softmax as log_softmax
    from .normalisation import lrn as lrn
    from .normalisation import scale_shift_nchw as scale_shift_nchw
    from .normalisation import scale_shift_nhwc as scale_shift_nhwc
    from .normalisation import softmax as softmax
    from .pooling import adaptive_pool as adaptive_pool
    from .pooling import adaptive_pool1d as adaptive_pool1d
    from .pooling import adaptive_pool3d as adaptive_pool3d
    from .pooling import global_pool as global_pool
    from .pooling import pool1d as pool1d
    from .pooling import pool2d as pool2d
    from .pooling import pool3d as pool3d
    from .products import batch_matmul as batch_matmul
    from .products import dense as dense
    from .transform import depth_to_space as depth_to_space
    from .transform import dilate as dilate
    from .transform import flatten as flatten
    from .transform import mirror_pad as mirror_pad
    from .transform import pad as pad
    from .transform import space_to_depth as space_to_depth
    from .transform import upsampling as upsampling

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
