"""Forms of tensors, where TVM defines them (`tvm.te.operation`)."""

from ..dialects.te.dims import size_var as size_var
from ..dialects.te.extern import extern as extern
from ..dialects.te.extern import extern_primfunc as extern_primfunc
from ..dialects.te.forms import compute as compute
from ..dialects.te.forms import const as const
from ..dialects.te.forms import placeholder as placeholder
from ..dialects.te.forms import reduce_axis as reduce_axis
from ..dialects.te.forms import thread_axis as thread_axis
from ..dialects.te.forms import var as var
from ..dialects.te.scan import scan as scan
from ..lowering.te_schedule.prim_func import create_prim_func as create_prim_func
