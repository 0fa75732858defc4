"""Graphs as TVM's JSON, their parameters, and the same graphs in Relay."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import weft
from weft.frontend.mlir import parse_mlir
from weft.graph_executor import GraphModule, create

INPUTS = Path(__file__).parents[1] / "Inputs" / "graph_executor"
JSON = (INPUTS / "perceptron.json").read_text()
"""A graph as TVM v0.10 writes it, by the description of the format."""
PARAMS = (INPUTS / "perceptron.params").read_bytes()
WEIGHT = np.array([[0.5, -1, 2, 0.25], [1, 1, -1, -0.5], [3, 0, -2, 1]], np.float32)
BIAS = np.array([0.1, -0.2, 0.3], np.float32)

PERCEPTRON = """
relay.func @main(%data: tensor<2x4xf32>, %weight: tensor<3x4xf32>, %bias: tensor<3xf32>) -> tensor<3x2xf32> {
  %0 = relay.nn.dense %data, %weight {units = 3 : i64} : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %1 = relay.add %0, %bias : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %2 = relay.nn.relu %1 : tensor<2x3xf32>
  %3 = relay.reshape %2 {newshape = array<i64: 3, 2>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %4 = relay.nn.softmax %3 : tensor<3x2xf32>
  relay.return %4 : tensor<3x2xf32>
}
"""
BRANCHES = """
relay.func @main(%x: tensor<8x16xf32>) -> (tensor<8x32xf32>, tensor<8x16xf32>, tensor<8x16xf32>) {
  %c = relay.constant dense<2.0> : tensor<8x16xf32>
  %0 = relay.nn.softmax %x : tensor<8x16xf32>
  %1 = relay.nn.softmax %0 : tensor<8x16xf32>
  %t = relay.tuple(%0, %1) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tuple<tensor<8x16xf32>, tensor<8x16xf32>>
  %2 = relay.concatenate %t {axis = 1 : i64} : (tuple<tensor<8x16xf32>, tensor<8x16xf32>>) -> tensor<8x32xf32>
  %3 = relay.nn.softmax %2 : tensor<8x32xf32>
  relay.return %3, %c, %x : tensor<8x32xf32>, tensor<8x16xf32>, tensor<8x16xf32>
}
"""


def perceptron() -> weft.Executable:
    """The perceptron, compiled."""
    return weft.compile(parse_mlir(PERCEPTRON, "perceptron.mlir"), threads=2)


def perceptron_module(exe: weft.Executable) -> GraphModule:
    """TVM's JSON of it over the kernels of what was compiled, with its parameters."""
    made = create(JSON, exe, threads=2)
    made.load_params(PARAMS)
    return made
