"""TVM's builtin operators as functions that make calls, and `tir.Call`, which makes one by an operator's name.

    tir.ptx_commit_group()                      # T.ptx_commit_group()
    tir.Call("float32", "tir.exp", [x])         # tir.exp(x)
    isinstance(tir.exp(x), tir.Call)            # True

What only some devices have, and what TVM's own lowering calls, is written as it stands, and refused by what makes code
where there is none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.builtin import i1

from ...support.arguments import checked
from ...support.diagnostics import UsageError
from ...te.called import operator_of
from ...te.calls import Argument
from ...te.calls import Call as CallExpr
from ...te.element_types import element_type, vector_type
from ...te.expr import Expr, ExprLike, as_expr
from ...te.kinds import Operator, index
from ...te.spelled import Spelled
from . import expressions
from .buffers import BufferLoad
from .intrinsics import call_intrin

TYPED = frozenset(
    "ptx_mma ptx_mma_sp ptx_ldmatrix ptx_cp_async mma_store mma_fill vectorlow vectorhigh vectorcombine".split()
)
"""Builtins whose first argument is the dtype of what they give."""
GIVING: Mapping[str, str | None] = {
    **dict.fromkeys(
        """
        tvm_tuple lookup_param tvm_thread_allreduce tvm_access_ptr tvm_throw_last_error tvm_load_matrix_sync
        tvm_store_matrix_sync tvm_mma_sync tvm_bmma_sync tvm_fill_fragment ptx_commit_group ptx_wait_group
        TVMBackendAllocWorkspace tvm_stack_alloca tvm_stack_make_shape tvm_stack_make_array
        """.split()
    ),
    **dict.fromkeys("tvm_struct_set TVMBackendFreeWorkspace".split(), "int32"),
}
"""What other builtins give; `None` of those that give nothing, or an address."""


def builtin(name: str) -> Callable[..., CallExpr]:
    """The function that makes calls of a builtin."""

    def make(*args: Argument) -> CallExpr:
        result = GIVING.get(name)
        if name in TYPED:
            if not args or not isinstance(args[0], str):
                raise UsageError(f"tir.{name} takes first the dtype of what it gives")
            result = args[0]
            if result not in ("", "handle"):
                vector_type(result)
        return CallExpr(name, None if result in ("", "handle") else result, "", args)

    make.__name__ = name
    make.__doc__ = f"A call of TVM's builtin `tir.{name}`."
    return make


TVMBackendAllocWorkspace = builtin("TVMBackendAllocWorkspace")
TVMBackendFreeWorkspace = builtin("TVMBackendFreeWorkspace")
lookup_param = builtin("lookup_param")
mma_fill = builtin("mma_fill")
mma_store = builtin("mma_store")
ptx_commit_group = builtin("ptx_commit_group")
ptx_cp_async = builtin("ptx_cp_async")
ptx_ldmatrix = builtin("ptx_ldmatrix")
ptx_mma = builtin("ptx_mma")
ptx_mma_sp = builtin("ptx_mma_sp")
ptx_wait_group = builtin("ptx_wait_group")
tvm_access_ptr = builtin("tvm_access_ptr")
tvm_bmma_sync = builtin("tvm_bmma_sync")
tvm_fill_fragment = builtin("tvm_fill_fragment")
tvm_load_matrix_sync = builtin("tvm_load_matrix_sync")
tvm_mma_sync = builtin("tvm_mma_sync")
tvm_stack_alloca = builtin("tvm_stack_alloca")
tvm_stack_make_array = builtin("tvm_stack_make_array")
tvm_stack_make_shape = builtin("tvm_stack_make_shape")
tvm_store_matrix_sync = builtin("tvm_store_matrix_sync")
tvm_struct_set = builtin("tvm_struct_set")
tvm_thread_allreduce = builtin("tvm_thread_allreduce")
tvm_throw_last_error = builtin("tvm_throw_last_error")
tvm_tuple = builtin("tvm_tuple")
vectorcombine = builtin("vectorcombine")
vectorhigh = builtin("vectorhigh")
vectorlow = builtin("vectorlow")


@checked
def tvm_struct_get(arr: Argument, index: int, field: int, dtype: str) -> CallExpr:
    """A call of TVM's builtin that reads a field of an array's description."""
    return CallExpr("tvm_struct_get", None if dtype == "handle" else dtype, "", (arr, index, field))


@checked
def type_annotation(dtype: str) -> Expr:
    """A value of a type, which calls are told the type by."""
    return Spelled("type_annotation", (), (), element_type(dtype))


@checked
def address_of(buffer_load: BufferLoad) -> Expr:
    """Where an element stands, for a call."""
    return Spelled("address_of", (buffer_load,), (), index)


@checked
def assume(cond: ExprLike) -> Expr:
    """In `tir.Evaluate(tir.assume(x))`: the condition holds here, and passes may rely on it."""
    return Spelled("assume", (as_expr(cond, i1),), (), i1)


@checked
def undef(dtype: str = "int32") -> Expr:
    """A value that may be any; an element that it is stored to is as if nothing had been written."""
    return Spelled("undef", (), (("dtype", dtype),), element_type(dtype))


@checked
def _call(dtype: str, op: str | Operator, args: Sequence[Argument]) -> Expr:
    name = (op.name if isinstance(op, Operator) else op).removeprefix("tir.")
    if name == "tvm_call_packed":
        return expressions.call_packed(*args)
    if name in ("call_extern", "call_pure_extern", "call_llvm_intrin", "call_llvm_pure_intrin"):
        called, *rest = args
        return getattr(expressions, name)(dtype, called, *rest)
    if name in TYPED:
        return builtin(name)(dtype, *args)
    if name in GIVING:
        return builtin(name)(*args)
    numbers = [each for each in args if isinstance(each, Expr | int | float)]
    if len(numbers) != len(args):
        raise UsageError(f"the operator tir.{name} is of numbers")
    return call_intrin(dtype, f"tir.{name}", *numbers)


Call = expressions.Node(_call, lambda e: operator_of(e) is not None)
"""A call of an operator by its name; `isinstance` tells what TVM has as calls."""
