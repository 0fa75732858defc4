"""TVMScript's words as functions, for `IRBuilder`: `with T.prim_func():`, `with T.serial(16) as i:`.

Words of values (`T.max`, `T.call_extern`) are those of `weft.tir`; `T.float32(0.5)` is a number of the type.
"""

from functools import partial
from typing import TYPE_CHECKING, Any

from ...dialects.support.lazy import lazy_names

if TYPE_CHECKING:
    from ...dialects.tir.nodes.frame_loops import Assert as Assert
    from ...dialects.tir.nodes.frame_loops import Buffer as Buffer
    from ...dialects.tir.nodes.frame_loops import Else as Else
    from ...dialects.tir.nodes.frame_loops import If as If
    from ...dialects.tir.nodes.frame_loops import Then as Then
    from ...dialects.tir.nodes.frame_loops import While as While
    from ...dialects.tir.nodes.frame_loops import allocate as allocate
    from ...dialects.tir.nodes.frame_loops import allocate_const as allocate_const
    from ...dialects.tir.nodes.frame_loops import attr as attr
    from ...dialects.tir.nodes.frame_loops import buffer_store as buffer_store
    from ...dialects.tir.nodes.frame_loops import decl_buffer as decl_buffer
    from ...dialects.tir.nodes.frame_loops import env_thread as env_thread
    from ...dialects.tir.nodes.frame_loops import evaluate as evaluate
    from ...dialects.tir.nodes.frame_loops import grid as grid
    from ...dialects.tir.nodes.frame_loops import handle as handle
    from ...dialects.tir.nodes.frame_loops import launch_thread as launch_thread
    from ...dialects.tir.nodes.frame_loops import let as let
    from ...dialects.tir.nodes.frame_loops import meta_var as meta_var
    from ...dialects.tir.nodes.frame_loops import parallel as parallel
    from ...dialects.tir.nodes.frame_loops import ptr as ptr
    from ...dialects.tir.nodes.frame_loops import realize as realize
    from ...dialects.tir.nodes.frame_loops import serial as serial
    from ...dialects.tir.nodes.frame_loops import thread_binding as thread_binding
    from ...dialects.tir.nodes.frame_loops import unroll as unroll
    from ...dialects.tir.nodes.frame_loops import var as var
    from ...dialects.tir.nodes.frame_loops import vectorized as vectorized
    from ...dialects.tir.nodes.frame_words import alloc_buffer as alloc_buffer
    from ...dialects.tir.nodes.frame_words import arg as arg
    from ...dialects.tir.nodes.frame_words import axis as axis
    from ...dialects.tir.nodes.frame_words import block as block
    from ...dialects.tir.nodes.frame_words import block_attr as block_attr
    from ...dialects.tir.nodes.frame_words import func_attr as func_attr
    from ...dialects.tir.nodes.frame_words import func_name as func_name
    from ...dialects.tir.nodes.frame_words import func_ret as func_ret
    from ...dialects.tir.nodes.frame_words import init as init
    from ...dialects.tir.nodes.frame_words import match_buffer as match_buffer
    from ...dialects.tir.nodes.frame_words import prim_func as prim_func
    from ...dialects.tir.nodes.frame_words import reads as reads
    from ...dialects.tir.nodes.frame_words import where as where
    from ...dialects.tir.nodes.frame_words import writes as writes

_find, _names, __all__ = lazy_names(__name__, __file__)

_DTYPES = frozenset("bool float16 float32 float64 int16 int32 int64 int8 uint16 uint32 uint64 uint8".split())


def __dir__() -> list[str]:
    return [*_names(), *sorted(_DTYPES)]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return _find(name)
    if name in _DTYPES:
        from ...dialects.tir.nodes.frame_loops import number

        return partial(number, name)
    from ... import tir

    return getattr(tir, name)
