"""Functions in the middle of being scheduled: a thread's own buffer that several nests use is no mistake yet."""

import pytest
from tvmscript_texts import function
from xdsl.dialects.builtin import ModuleOp

from weft import Diagnostic
from weft.dialects.support.verifier import verify
from weft.dialects.tir.buffers import AllocBufferOp
from weft.dialects.tir.legality.midway import verify_midway
from weft.tir import from_source

TORN = """
@T.prim_func
def f(A: T.Buffer[(4,), "float32"], C: T.Buffer[(4,), "float32"]):
    B = T.alloc_buffer((4,), scope="local")
    for i in T.parallel(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            B[vi] = A[vi] * 2.0
    for i in T.parallel(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = B[vi] + {}
"""


def test_a_torn_buffer_passes_midway_stays_local_and_is_refused_at_the_end() -> None:
    func = function(TORN.format("1.0"))
    module = ModuleOp([func])
    verify_midway(module)
    (alloc,) = [op for op in module.walk() if isinstance(op, AllocBufferOp)]
    assert alloc.scope.data == "local"
    with pytest.raises(Diagnostic):
        verify(module)


def test_what_is_wrong_otherwise_is_refused_midway_too() -> None:
    with pytest.raises(Diagnostic, match=r"block @C reads %A outside"):
        from_source(TORN.format("A[vi + 1]"), check_well_formed=True)
