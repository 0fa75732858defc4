"""Equations and inequalities, where TVM defines them (`tvm.arith.int_solver`)."""

from ..dialects.te.arithmetic import solve_linear_equations as solve_linear_equations
from ..dialects.te.arithmetic import solve_linear_inequalities as solve_linear_inequalities
from ..dialects.tir.analyzer.constraints import IntConstraints as IntConstraints
from ..dialects.tir.analyzer.constraints import IntConstraintsTransform as IntConstraintsTransform
