"""Tags of formulas, where TVM defines them (`tvm.te.tag`)."""

from ..dialects.te.tags import tag_scope as tag_scope
