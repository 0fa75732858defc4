"""Maps of iterators, where TVM defines them (`tvm.arith.iter_affine_map`)."""

from ..dialects.te.arithmetic import detect_iter_map as detect_iter_map
from ..dialects.te.arithmetic import inverse_affine_iter_map as inverse_affine_iter_map
from ..dialects.te.arithmetic import subspace_divide as subspace_divide
from ..dialects.tir.analyzer.iter_forms import normalize_iter_map_to_expr as normalize_iter_map_to_expr
from ..dialects.tir.analyzer.iter_nodes import IterMapExpr as IterMapExpr
from ..dialects.tir.analyzer.iter_nodes import IterMark as IterMark
from ..dialects.tir.analyzer.iter_nodes import IterSplitExpr as IterSplitExpr
from ..dialects.tir.analyzer.iter_nodes import IterSumExpr as IterSumExpr
