"""Sets of integers, where TVM defines them (`tvm.arith.int_set`)."""

from ..dialects.te.arithmetic import estimate_region_lower_bound as estimate_region_lower_bound
from ..dialects.te.arithmetic import estimate_region_strict_bound as estimate_region_strict_bound
from ..dialects.te.arithmetic import estimate_region_upper_bound as estimate_region_upper_bound
from ..dialects.te.arithmetic import neg_inf as neg_inf
from ..dialects.te.arithmetic import pos_inf as pos_inf
from ..dialects.tir.analyzer.answers import IntervalSet as IntervalSet
from ..dialects.tir.analyzer.answers import IntSet as IntSet
from ..dialects.tir.analyzer.regions import union_lower_bound as union_lower_bound
