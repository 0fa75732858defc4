"""What has no meaning in TVMScript is refused at its place."""

# The bodies of the functions here are read by @T.prim_func, and are no Python to be checked.
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportUndefinedVariable=false
# pyright: reportOperatorIssue=false, reportGeneralTypeIssues=false, reportInvalidTypeForm=false, reportCallIssue=false
# ruff: noqa: F821

import pytest
from tvmscript_texts import body

from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.support.parser import parse_module
from weft.dialects.tir.core import PrimFuncOp
from weft.script import tir as T
from weft.tir import from_source
from weft.transforms.infra.registry import new_ir_context

REFUSED = {
    "B[vi] = A[vj]": (6, 23, "'vj' is not defined"),
    "B[vi] = T.exq(A[vi])": (6, 21, "there is no T.exq in an expression"),
    "B[vi] = T.exp(vi)": (6, 21, "T.exp is of floats, not index"),
    "B[vi, vi] = A[vi]": (6, 13, "2 indices for a buffer of 1 dimensions"),
    "B[vi] = A": (6, 21, "'A' is a buffer"),
    "B[vi] = A[vi] & 3": (6, 21, "'&' is not defined on float32"),
    "B[A[vi]] = 1.0": (6, 15, "an index is an integer, not float32"),
    "B[vi] = print(A[vi])": (6, 21, "'print' cannot be called here"),
    "B[vi] = 1 // 0": (6, 21, "Python cannot compute this: ZeroDivisionError"),
    "B[vi] = A[vi] + 'x'": (6, 21, "a string is no scalar"),
    "T.reads(Q[vi])": (6, 21, "'Q' is no buffer"),
    "T.where(i)": (6, 21, "T.where takes comparisons"),
    "B[vi] = T.let(3, A[vi], A[vi])": (6, 27, "T.let gives a value a name"),
    "del A": (6, 13, "a block's body has no 'del A'"),
    "vj = T.axis.scam(16, i)": (6, 18, "there is no T.axis.scam"),
    "vj = T.axis.spatial(16, i / 2)": (6, 37, "an index multiplies and divides by numbers and sizes"),
    "vj = T.axis.remap('SR', [i])": (6, 18, "T.axis.remap gives 1 iterators"),
    "vj = T.axis.spatial(16, i, 3, 4)": (6, 18, "T.axis.spatial takes dom, value, partial"),
    "B[vi] = A[vi + 1]": (6, 23, "reads %A outside"),
}


@pytest.mark.parametrize("line", REFUSED)
def test_what_has_no_meaning_is_refused_at_its_place(line: str) -> None:
    row, column, message = REFUSED[line]
    with pytest.raises(Diagnostic) as error:
        from_source(body(line), "kernel.py", check_well_formed=True)
    assert message in error.value.message
    place = error.value.place
    assert place is not None and (place.file, place.line, place.column) == ("kernel.py", row, column)
    assert place.text is not None and line in place.text


FUNCTIONS_REFUSED = {
    "def f():\n    v = T.axis.S(0, 0)": "T.axis.S stands in a block, or nowhere",
    'def f(A: T.Buffer[(4,), "int8"]):\n    for i in range(4):\n        v = T.axis.spatial(4, i)\n'
    "        A[v] = T.int8(1)": "T.axis.spatial stands in a block, or nowhere",
    "def f(A): pass": "'A' has no type",
    "def f(A: int): pass": "a parameter is a buffer, not int",
    "def f(a: T.handle):\n    A = T.match_buffer(a, (m,))": "'m' is not defined",
    'def f(A: T.Buffer[(4,), "int8"]):\n    for i in range(A): pass': "'A' is neither a size known",
    "def f():\n    for i in range(3):\n        for j in T.parallel(i * i): pass": "in a block's body does not run over",
    "def f():\n    for i in range(3):\n        for j in range(i * i):\n            with T.block():\n"
    "                T.block_attr({'a': 1})": "a block that stands among statements has no attributes",
    "def f():\n    for i in range(3):\n        with T.block():\n            v = T.axis.S(3, i)\n"
    "            v = T.axis.S(3, i)": "the block has an iterator 'v' already",
    "def f():\n    for i, j in T.grid(3, 3):\n        with T.block():\n"
    "            v, v = T.axis.remap('SS', [i, j])": "the block has an iterator 'v' already",
    "def f():\n    for i in range(3):\n        with T.block():\n            T.where(i < 2)\n"
    "            T.where(i < 1)": "the block has T.where already",
    "def f():\n    for i in range(3):\n        with T.block():\n            T.block_attr({'a': 1})\n"
    "            T.block_attr({'a': 2})": "the block has T.block_attr already",
    "def f():\n    T.evaluate(T.ret(0))": "what the function gives is of no type",
    "def f(a: T.int32) -> T.int32:\n    T.evaluate(T.ret(a, 'int8'))": "what the function gives is of several types",
    "def f(a: T.int32) -> T.int32:\n    if a > 0:\n        T.evaluate(T.ret(a))": "gives one whatever way it takes",
    "def f(a: T.int32) -> T.int32:\n    for i in range(3):\n        T.evaluate(T.ret(a))": "a loop gives no result",
    "def f(a: T.int32) -> T.int32:\n    if a > 0:\n        if a > 1:\n            T.evaluate(T.ret(a))\n"
    "    T.evaluate(T.ret(1))": "one side of a branch that gives the result ends with it always",
    "def f(a: T.int32) -> T.int32:\n    x = T.ret(a) + 1\n    T.evaluate(T.ret(x))": "gives its result by a statement",
    "def f():\n    with T.attr(T.comm_reducer(lambda x, y: x + y, [0]), 'reduce_scope', 0):\n"
    "        T.evaluate(0)": "a reduction across threads is that of a block",
    "def f():\n    T.evaluate(T.tvm_thread_allreduce(1, 2))": "a reduction across threads is that of a block",
    "def f(a: T.handle): pass": "no T.match_buffer says what 'a' is",
    "def f(*a): pass": "a function takes buffers by position",
    'def f(A: T.Buffer[(4, -1), "int8"]): pass': "an extent is not negative: -1",
    'def f(A: T.Buffer[(4,), "int9"]): pass': "there is no dtype 'int9'",
    "def f():\n    for i in T.foo(3): pass": "a loop does not run over 'T.foo(3)'",
    "def f():\n    for i in T.grid(3, 4): pass": "T.grid has 2 extents for 1 loop variables",
    "def f():\n    for i in T.thread_binding(3): pass": "T.thread_binding names a thread",
    "def f():\n    C = T.alloc_buffer((4,), scope='attic')": 'unknown scope "attic"',
    "def f():\n    C = T.alloc_buffer((4,), strides=[2, 1])": "2 strides for 1 dimensions",
    "def f():\n    C = T.alloc_buffer((4,), strides=[-2])": "strides are numbers of elements",
    "def f():\n    C = T.alloc_buffer((4,), elem_offset=-2)": "an offset is a number of elements",
    "def f():\n    C = T.Buffer((4,))\n    C = T.Buffer((4,))": "there is a buffer 'C' already",
    "def f():\n    for i in range(4):\n        C = T.Buffer((i,))": "'i' is not defined",
    "def f():\n    C = T.decl_buffer((4,), data=3)": "this is the memory of no buffer",
    'def f(A: T.Buffer[(4,), "int8"]):\n    C = T.Buffer((2, 3), "int8", data=A.data)': "reaches number 5",
    'def f(A: T.Buffer[(4,), "int8"]):\n    C = T.Buffer((2, 2), "int16", data=A.data)': "elements of i8, not i16",
    "def f():\n    C = T.allocate([4], 'int8', 'global', False)": "memory is allocated always",
    'def f(A: T.Buffer[(4,), "int8"]):\n    C = T.Buffer((2, 2), "int8", data=A.data)\n    C[0] = T.int8(1)': (
        "1 indices for a buffer of 2 dimensions"
    ),
    'def f(A: T.Buffer[(4,), "int8"]):\n    A[T.ramp(0, 1, 4)] = T.int8(1)': "1 lanes are stored to 4",
    'def f(A: T.Buffer[(4,), "int8"]):\n    A[T.ramp(0, 1, 4)] = A[T.ramp(0, 1, 2)]': "2 lanes are stored to 4",
    'def f(A: T.Buffer[(4,), "int8"]):\n    A[T.ramp(0, 1, 4)] = A[T.ramp(0, 1, 4)] + T.broadcast(1, 2)': (
        "a vector of 2 lanes meets one of 4"
    ),
    'def f(A: T.Buffer[(4,), "int8"]):\n    A[0:4] = T.shuffle([A[1], A[2]], [1, 2, 0, 0])': "have not so many lanes",
    'def f(A: T.Buffer[(4,), "int8"]):\n    A[0:] = T.broadcast(T.int8(1), 4)': "a first element and an end",
    'def f(A: T.Buffer[(4,), "int8"]):\n    A[T.ramp(0, 1, A[0])] = A[T.ramp(0, 1, 2)]': "this must be known",
    'def f(A: T.Buffer[(4,), "int8"]):\n    A[0] = T.shuffle([A[1], A[2]], [1, 0])': "2 lanes are stored to 1",
    "def f():\n    C[0] = 3": "'C' is no buffer",
    "def f():\n    x = y": "'y' is not defined",
    'def f(A: T.Buffer[(4,), "int32"]):\n    x = A[0]\n    for i in T.parallel(3): A[i] = x': "has its name in a block",
    'def f(A: T.Buffer[(4,), "int8"]):\n    if A[0] < 3:\n        for i in T.parallel(3): A[i] = 0': "compares loop",
    'def f(A: T.Buffer[(4,), "int8"], n: T.int64):\n    for i in range(n):\n        if 1 <= i and i < n - 1:\n'
    "            for j in T.parallel(4): A[j] = 0\n        else:\n"
    "            for j in T.parallel(4): A[j] = 1": "an else is for several conditions of loops that are known to end",
    "def f():\n    return 3": "a function has no 'return 3'",
    "def f():\n    T.func_attr({'a': T.attribute('dense<')})": "this is no attribute",
    "def f(:": "this is no Python",
}


@pytest.mark.parametrize("text", FUNCTIONS_REFUSED)
def test_functions_without_meaning_are_refused(text: str) -> None:
    with pytest.raises(Diagnostic, match=FUNCTIONS_REFUSED[text].replace("(", r"\(").replace(")", r"\)")):
        from_source(f"@T.prim_func\n{text}\n")


def test_a_mistake_in_a_decorated_function_stands_in_this_file() -> None:
    with pytest.raises(Diagnostic) as error:

        @T.prim_func
        def _(A: T.Buffer[(4,), "float32"]):
            for i in range(4):
                with T.block("b"):
                    vi = T.axis.spatial(4, i)
                    A[vi] = mystery

    place = error.value.place
    assert place is not None and place.file == __file__
    assert open(__file__).read().splitlines()[place.line - 1].strip() == "A[vi] = mystery"
    assert place.text is not None and place.text[place.column - 1 :] == "mystery"


def test_what_has_no_form_in_tvmscript_is_refused_at_its_place() -> None:
    text = """tir.prim_func @f(%a: memref<4xf32>, %b: memref<4xf32>) {
  tir.block @b() = [] reads(%a : memref<4xf32>) writes(%b : memref<4xf32>) {
    %i = arith.constant 0 : index
    %c = arith.constant true
    %x = memref.load %a[%i] : memref<4xf32>
    %y = scf.if %c -> (f32) {
      memref.store %x, %b[%i] : memref<4xf32>
      scf.yield %x : f32
    } else {
      scf.yield %x : f32
    }
    memref.store %y, %b[%i] : memref<4xf32>
  }
}"""
    func = parse_module(text, new_ir_context(), "f.mlir").body.block.first_op
    assert isinstance(func, PrimFuncOp)
    with pytest.raises(Diagnostic, match=r"f.mlir:7:7: error: 'memref.store': stands in a branch with a result"):
        func.script()
