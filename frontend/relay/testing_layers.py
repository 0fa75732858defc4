"""Layers that the models of `relay.testing` are made of."""

from __future__ import annotations

from ...dialects.relay.core import FuncOp
from .expr import Expr, Function, Var, free_vars, var
from .namespace import OperatorNamespace

nn = OperatorNamespace("nn")


class Layers:
    """Layers whose parameters are variables of their own, named after the layer."""

    def __init__(self, dtype: str):
        self.dtype = dtype

    def weight(self, name: str, *shape: int) -> Var:
        return var(name, shape=shape, dtype=self.dtype)

    def dense(self, x: Expr, units: int, name: str) -> Expr:
        y = nn.dense(x, self.weight(f"{name}_weight", units, x.shape[-1]), units=units)
        return nn.bias_add(y, self.weight(f"{name}_bias", units), axis=-1)

    def conv2d(self, x: Expr, channels: int, kernel: int, name: str, stride: int = 1, groups: int = 1) -> Expr:
        weight = self.weight(f"{name}_weight", channels, x.shape[1] // groups, kernel, kernel)
        padding = (kernel // 2, kernel // 2)
        return nn.conv2d(x, weight, (stride, stride), padding, groups=groups, channels=channels)

    def batch_norm(self, x: Expr, name: str, scale: bool = True) -> Expr:
        parts = ("gamma", "beta", "moving_mean", "moving_var")
        parameters = [self.weight(f"{name}_{part}", x.shape[1]) for part in parts]
        return nn.batch_norm(x, *parameters, epsilon=2e-5, scale=scale)[0]


def function_of(body: Expr, *data: Var) -> FuncOp:
    """A function of data, and of the parameters that it is made of."""
    return Function([*data, *(each for each in free_vars(body) if each not in data)], body)
