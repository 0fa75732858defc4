"""Shorter forms of a function's text: variables that `T.let` gives values, several at once, and parts of own memory."""

import numpy as np
import pytest
from tvmscript_texts import function

import weft
from weft import tir
from weft.dialects.support.diagnostics import Diagnostic
from weft.tir import Interpreter, structural_equal
from weft.transforms.infra.sequential import Sequential
from weft.transforms.tir.convert_blocks_to_opaque import ConvertBlocksToOpaquePass
from weft.transforms.tir.lower_opaque_block import LowerOpaqueBlockPass

LET = """
@T.prim_func
def f(A: T.Buffer[(4, 4), "float32"], B: T.Buffer[(4, 4), "float32"]):
    {outside}
    for i, j in T.grid(4, 4):
        {inside}
        B[i, j] = T.Let(x, A[i, j] * 2.0, x * x + T.cast(j, "float32"))
"""


def test_a_variable_is_declared_before_it_is_given_its_value() -> None:
    at_loops = function(LET.format(outside="pass", inside='x = T.var("float32")'))
    at_the_beginning = function(LET.format(outside='x = T.var("float32")', inside="pass"))
    assert structural_equal(at_loops, at_the_beginning) and structural_equal(at_loops, function(at_loops.script()))
    a = np.arange(16, dtype=np.float32).reshape(4, 4)
    expected = (a * 2) ** 2 + np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(Interpreter(at_loops)([a])[0], expected)
    weft.build(at_loops)(a, found := np.zeros_like(a))
    np.testing.assert_array_equal(found, expected)


def test_the_value_of_a_variable_is_of_its_type() -> None:
    with pytest.raises(Diagnostic, match="'x' is a int8, and its value a float32"):
        function(LET.format(outside="pass", inside='x = T.var("int8")'))
    with pytest.raises(Diagnostic, match="there is no dtype 'float31'"):
        function(LET.format(outside="pass", inside='x = T.var("float31")'))


def test_a_literal_has_the_type_of_the_variable_that_it_is_the_value_of() -> None:
    func = function("""
@T.prim_func
def f(A: T.Buffer[(4,), "float32"]):
    for i in range(4):
        with T.block("b"):
            vi = T.axis.spatial(4, i)
            x, y = T.var("float32"), T.var("float32")
            A[vi] = T.let(x, 3, T.let(y, A[vi], x / 2.0 + y))
""")
    weft.build(func)(found := np.zeros(4, np.float32))
    np.testing.assert_array_equal(found, np.full(4, 1.5, np.float32))


def test_several_sizes_are_declared_at_once() -> None:
    text = """
@T.prim_func
def f(a: T.handle, b: T.handle):
    {}
    A = T.match_buffer(a, (n, m), "float32")
    B = T.match_buffer(b, (n, m), "float32")
    for i, j in T.grid(n, m):
        with T.block("b"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + 1.0
"""
    one = function(text.format('n, m = T.var("int32"), T.var("int32")'))
    assert structural_equal(one, function(text.format('n = T.var("int32"); m = T.var("int32")')))
    weft.build(one)(np.ones((2, 3), np.float32), found := np.zeros((2, 3), np.float32))
    assert (found == 2).all()


def test_a_part_of_memory_that_its_block_allocates_has_a_name() -> None:
    func = function("""
@T.prim_func
def f(A: T.Buffer[(8, 4), "float32"], B: T.Buffer[(8, 4), "float32"]):
    for i in range(8):
        with T.block("outer"):
            vi = T.axis.spatial(8, i)
            C = T.alloc_buffer((8, 4), "float32")
            row = T.match_buffer(C[vi, 0:4], (4))
            for j in range(4):
                with T.block("write"):
                    vj = T.axis.spatial(4, j)
                    row[vj] = A[vi, vj] * 3.0
            for j in range(4):
                with T.block("read"):
                    vj = T.axis.spatial(4, j)
                    B[vi, vj] = row[vj]
""")
    assert "C[" in func.script() and "row" not in func.script()
    a = np.arange(32, dtype=np.float32).reshape(8, 4)
    weft.build(func)(a, found := np.zeros_like(a))
    np.testing.assert_array_equal(found, a * 3)


PLAIN = """
@T.prim_func
def f(A: T.Buffer[(8, 8), "float32"], B: T.Buffer[(8, 8), "float32"]):
    for i in T.serial(2, 8):
        for j in T.parallel(8):
            B[i, j] = T.float32(0)
            if j < i:
                B[i, j] = B[i, j] + A[j, i]
            else:
                B[j, i] = A[i, j]
            assert A[i, 0] >= T.float32(0), "negative"
    for i in range(8):
        T.evaluate(T.call_extern("int32", "abs", T.cast(A[i, 0], "int32")))
"""


def test_a_statement_among_loops_is_printed_without_a_block() -> None:
    func = function(PLAIN)
    assert func.script().strip().endswith(PLAIN.strip()[len("@T.prim_func") :].strip())
    assert structural_equal(function(func.script()), func)


def test_statements_that_are_one_block_keep_it() -> None:
    """A value's name is seen by what follows it, and what is said of accesses is no more than what is done."""
    for text in (
        "for i in range(8): \n        x = A[i] \n        B[i] = x \n        A[i] = x + x",
        "for i in range(8): \n        with T.block(): \n            T.reads(A[0:8]) \n            B[i] = A[i]",
        'for i in range(8): \n        with T.block("other"): \n            B[i] = A[i]',
        'for i, j in T.grid(8, 8): \n        with T.block("statement"): \n'
        '            vi, vj = T.axis.remap("OO", [i, j]) \n            B[vi] = A[vi]',
    ):
        func = function(
            f'@T.prim_func\ndef f(A: T.Buffer[(8,), "float32"], B: T.Buffer[(8,), "float32"]):\n    {text}\n'
        )
        assert "T.block" in func.script() and structural_equal(function(func.script()), func)


def test_iterators_of_a_statement_are_the_loops_from_the_outermost_on() -> None:
    func = function("""
@T.prim_func
def f(A: T.Buffer[(8, 4), "float32"]):
    for i, j in T.grid(4, 8):
        A[j, i] = T.cast(j - i, "float32")
""")
    assert "statement(%i_1: opaque 4, %j_1: opaque 8) = [%i, %j]" in str(func)


NUMBER = """
@T.prim_func
def f(A: T.Buffer[(8,), "float32"], B: T.Buffer[(8,), "float32"], m: T.int32):
    {named}
"""


@pytest.mark.parametrize(
    ("named", "plain"),
    [
        (
            "with T.let(n, T.int32(8)): \n        for i in T.parallel(n): A[i] = 1.0",
            "for i in T.parallel(8): A[i] = 1.0",
        ),
        ("n = T.int32(4) \n    for i in T.parallel(8): A[i] = B[i // n]", "for i in T.parallel(8): A[i] = B[i // 4]"),
        (
            "n: T.int32 = m * 2 \n    for i in T.parallel(8): A[i] = T.cast(n + i, 'float32')",
            "for i in T.parallel(8): A[i] = T.cast(m * 2 + i, 'float32')",
        ),
        (
            "for j in range(2): \n        n = T.min(j, m)\n        for i in T.parallel(8): A[i] = T.cast(n, 'float32')",
            "for j in range(2): \n        for i in T.parallel(8): A[i] = T.cast(T.min(j, m), 'float32')",
        ),
        (
            "for j in range(2): \n        c = j < 1 and m > 2\n        if c:\n            for i in range(4): A[i] = 1.",
            "for j in range(2): \n        if j < 1 and m > 2:\n            for i in range(4): A[i] = 1.",
        ),
        (
            "for j in range(2): \n        with T.let(c, j < 1):\n            if c:\n"
            "                for i in T.parallel(4): A[j + i] = 1.0",
            "for j in range(2): \n        if j < 1:\n            for i in T.parallel(4): A[j + i] = 1.0",
        ),
    ],
)
def test_a_name_for_a_number_is_seen_by_loops_and_blocks(named: str, plain: str) -> None:
    func = function(NUMBER.format(named=named))
    assert structural_equal(func, function(NUMBER.format(named=plain)))


@pytest.mark.parametrize(
    "named",
    [
        "n = A[0] \n    for i in T.parallel(8): B[i] = n",
        "n = m * 2 \n    for i in T.parallel(8): B[i] = T.cast(n, 'float32') \n    n = m",
        "for j in range(2): \n        n = j + 1 \n        for j in T.parallel(4): B[j] = T.cast(n, 'float32')",
    ],
)
def test_a_name_for_an_element_or_one_that_changes_is_not(named: str) -> None:
    with pytest.raises(Diagnostic, match="what is known only when the function runs has its name in a block"):
        function(NUMBER.format(named=named))


def test_blocks_that_are_lowered_print_as_statements() -> None:
    func = function("""
@T.prim_func
def f(A: T.Buffer[(8, 4), "float32"]):
    for i, j in T.grid(4, 8):
        with T.block("a"):
            vj, vi = T.axis.remap("SS", [j, i])
            A[vj, vi] = T.cast(vj - vi, "float32")
""")
    passes = [ConvertBlocksToOpaquePass(), LowerOpaqueBlockPass()]
    module = tir.IRModule.of(Sequential(passes)(tir.IRModule({"f": func})))
    assert "    for i, j in T.grid(4, 8):\n" + " " * 12 + 'A[j, i] = T.cast(j - i, "float32")' in module.script()
