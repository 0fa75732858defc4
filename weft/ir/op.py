"""Operators (`tvm.ir.op`)."""

from ..frontend.relay.op_attrs import register_op_attr as register_op_attr
from ..frontend.relay.op_class import Op as Op
