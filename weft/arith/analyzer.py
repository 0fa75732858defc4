"""The analyzer, where TVM defines it (`tvm.arith.analyzer`)."""

from ..dialects.te.arithmetic import Analyzer as Analyzer
from ..dialects.tir.analyzer.answers import ConstIntBound as ConstIntBound
from ..dialects.tir.analyzer.answers import ModularSet as ModularSet
