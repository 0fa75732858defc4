"""The dialects that Weft registers in place of xDSL's: what they add parses, prints and is checked."""

from __future__ import annotations

from io import StringIO

import pytest
from xdsl.context import Context
from xdsl.dialects import arith as xdsl_arith
from xdsl.dialects import memref
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.dialects.test import Test
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException

from weft.dialects.extensions.arith import Arith, SelectOp
from weft.dialects.extensions.llvm import Llvm
from weft.dialects.extensions.llvm_loop_annotation import (
    AccessGroupAttr,
    LoopAnnotationAttr,
    LoopUnrollAttr,
)
from weft.dialects.extensions.memref import MemRef


def context() -> Context:
    ctx = Context()
    for dialect in (Builtin, Test, Func, Arith, Llvm, MemRef):
        ctx.load_dialect(dialect)
    return ctx


def module(text: str) -> ModuleOp:
    return Parser(context(), text).parse_module()


VALUES = '%v, %m, %i, %s = "test.op"() : () -> (vector<4xf32>, vector<4xi1>, vector<4xi32>, f32)\n'


@pytest.mark.parametrize(
    "line",
    [
        "%0 = arith.cmpf olt, %v, %v : vector<4xf32>",
        "%0 = arith.cmpf une, %v, %v fastmath<nnan> : vector<4xf32>",
        "%0 = arith.cmpi slt, %i, %i : vector<4xi32>",
        "%0 = arith.select %m, %v, %v : vector<4xi1>, vector<4xf32>",
        "%0 = arith.sitofp %i : vector<4xi32> to vector<4xf32>",
        "%0 = arith.fptosi %v : vector<4xf32> to vector<4xi32>",
        "%0 = arith.extui %m : vector<4xi1> to vector<4xi8>",
        "%0 = arith.trunci %i : vector<4xi32> to vector<4xi8>",
        "%0 = arith.index_cast %i : vector<4xi32> to vector<4xindex>",
        "%0 = arith.fptoui %s : f32 to i32",
        "%0 = arith.remf %v, %v : vector<4xf32>",
        '%0 = llvm.fcmp "olt" %v, %v : vector<4xf32>',
        "%0 = llvm.select %m, %v, %v : vector<4xi1>, vector<4xf32>",
        "%0 = llvm.intr.maximum(%v, %v) : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>",
        "%0 = llvm.intr.umax(%i, %i) : (vector<4xi32>, vector<4xi32>) -> vector<4xi32>",
        '%0 = "llvm.intr.vector.reduce.smax"(%i) : (vector<4xi32>) -> i32',
        '%0 = "llvm.intr.abs"(%i) <{is_int_min_poison = false}> : (vector<4xi32>) -> vector<4xi32>',
        "%0 = llvm.intr.vector.reduce.fmax(%v) : (vector<4xf32>) -> f32",
        "%0 = llvm.mlir.poison : vector<4xf32>",
    ],
)
def test_vector_operations_print_as_they_were_parsed(line: str) -> None:
    parsed = module(VALUES + line)
    parsed.verify()
    assert line in str(parsed)


def test_a_scalar_comparison_is_parsed_as_xdsls_own_operation() -> None:
    parsed = module(VALUES + "%0 = arith.cmpf olt, %s, %s : f32\n%1 = arith.select %0, %s, %s : f32")
    kinds = [type(op) for op in parsed.ops]
    assert kinds[1:] == [xdsl_arith.CmpfOp, xdsl_arith.SelectOp]


def test_a_mask_with_the_wrong_number_of_lanes_is_rejected() -> None:
    text = '%m, %v = "test.op"() : () -> (vector<8xi1>, vector<4xf32>)\n'
    with pytest.raises(VerifyException, match="one bit per lane"):
        module(text + "%0 = arith.select %m, %v, %v : vector<8xi1>, vector<4xf32>").verify()


def test_an_extension_that_does_not_widen_is_rejected() -> None:
    with pytest.raises(VerifyException, match="not wider"):
        module(VALUES + "%0 = arith.extsi %i : vector<4xi32> to vector<4xi8>").verify()


def test_a_loop_annotation_prints_as_upstream_spells_it() -> None:
    text = "#llvm.loop_annotation<unroll = <disable = false, full = true>>"
    whole = LoopAnnotationAttr.of(unroll=LoopUnrollAttr.of(disable=False, full=True))
    assert str(whole) == text
    assert Parser(context(), text).parse_attribute() == whole


def test_a_group_of_accesses_prints_as_upstream_spells_it() -> None:
    group = AccessGroupAttr.numbered(3)
    text = "#llvm.access_group<id = distinct[3]<>>"
    assert str(group) == text and Parser(context(), text).parse_attribute() == group
    annotation = LoopAnnotationAttr.of(parallelAccesses=group)
    assert str(annotation) == f"#llvm.loop_annotation<parallelAccesses = {text}>"
    assert Parser(context(), str(annotation)).parse_attribute() == annotation


def test_an_unknown_hint_names_the_known_ones() -> None:
    with pytest.raises(ParseError, match="it has disable, count"):
        Parser(context(), "#llvm.loop_annotation<unroll = <fully = true>>").parse_attribute()
    with pytest.raises(ValueError, match="it has disable, count"):
        LoopUnrollAttr.of(fully=True)


def test_unset_hints_are_none() -> None:
    annotation = LoopAnnotationAttr.of(mustProgress=True)
    assert annotation.flag("mustProgress") is True
    assert annotation.flag("disableNonforced") is None


def test_select_on_vectors_is_wefts_class() -> None:
    parsed = module(VALUES + "%0 = arith.select %m, %v, %v : vector<4xi1>, vector<4xf32>")
    assert isinstance(parsed.body.block.last_op, SelectOp)


ATOMIC_VALUES = '%p, %v, %w, %f = "test.op"() : () -> (!llvm.ptr, i64, i32, f32)\n'


@pytest.mark.parametrize(
    "line",
    [
        "%0 = llvm.atomicrmw add %p, %v monotonic : !llvm.ptr, i64",
        '%0 = llvm.atomicrmw volatile _or %p, %w syncscope("agent") seq_cst {alignment = 4 : i64} : !llvm.ptr, i32',
        "%0 = llvm.atomicrmw fadd %p, %f acq_rel : !llvm.ptr, f32",
        "%0 = llvm.atomicrmw xchg %p, %p release : !llvm.ptr, !llvm.ptr",
        "%0 = llvm.cmpxchg %p, %v, %v acq_rel monotonic : !llvm.ptr, i64",
        '%0 = llvm.cmpxchg weak volatile %p, %w, %w syncscope("x") seq_cst acquire : !llvm.ptr, i32',
        "%0 = llvm.load %p atomic acquire {alignment = 8 : i64} : !llvm.ptr -> i64",
        "llvm.store %v, %p atomic release {alignment = 8 : i64} : i64, !llvm.ptr",
        "llvm.store volatile %v, %p {nontemporal} : i64, !llvm.ptr",
        'llvm.fence syncscope("agent") release',
        "llvm.fence seq_cst",
        '%0 = llvm.icmp "eq" %p, %p : !llvm.ptr',
    ],
)
def test_atomic_operations_print_as_they_were_parsed(line: str) -> None:
    parsed = module(ATOMIC_VALUES + line)
    parsed.verify()
    assert line in str(parsed)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("%0 = llvm.atomicrmw add %p, %f monotonic : !llvm.ptr, f32", "add does not work on f32"),
        ("%0 = llvm.atomicrmw fadd %p, %v monotonic : !llvm.ptr, i64", "fadd does not work on i64"),
        ("%0 = llvm.atomicrmw add %p, %p monotonic : !llvm.ptr, !llvm.ptr", "add does not work on !llvm.ptr"),
        ("%0 = llvm.atomicrmw add %p, %v unordered : !llvm.ptr, i64", "must be monotonic or stronger"),
        ("%0 = llvm.cmpxchg %p, %v, %v acq_rel release : !llvm.ptr, i64", "a failed exchange stores nothing"),
        ("%0 = llvm.cmpxchg %p, %v, %v unordered monotonic : !llvm.ptr, i64", "must be monotonic or stronger"),
        ("llvm.store %v, %p atomic acquire {alignment = 8 : i64} : i64, !llvm.ptr", "a store cannot be acquire"),
        ("llvm.store %v, %p atomic release : i64, !llvm.ptr", "must say its alignment"),
        ("llvm.fence monotonic", "must be acquire or stronger"),
    ],
)
def test_an_atomic_operation_that_llvm_lacks_is_refused(line: str, reason: str) -> None:
    with pytest.raises(VerifyException, match=reason):
        module(ATOMIC_VALUES + line).verify()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("llvm.fence relaxed", "'relaxed' is no atomic ordering; they are not_atomic, unordered, monotonic"),
        ("%0 = llvm.atomicrmw plus %p, %v monotonic : !llvm.ptr, i64", "'plus' is no atomic operation; they are xchg"),
    ],
)
def test_an_unknown_word_of_an_atomic_operation_is_named(line: str, reason: str) -> None:
    with pytest.raises(ParseError, match=reason):
        module(ATOMIC_VALUES + line)


@pytest.mark.parametrize(
    "line",
    [
        'memref.global "private" constant @w : memref<2xf32> = dense<[1.000000e+00, -2.000000e+00]>',
        'memref.global "private" constant @w : memref<512xf32> = uninitialized {weft.constant_index = 2 : i64}',
        'memref.global "public" @"a name" : memref<2x2xi8> = dense<7> {alignment = 64 : i64}',
    ],
)
def test_a_global_has_the_form_that_mlir_gives_it(line: str) -> None:
    first = module(line)
    (op,) = first.ops
    assert isinstance(op, memref.GlobalOp) and str(op) == line
    first.verify()
    stream = StringIO()
    Printer(stream, print_generic_format=True).print_op(first)
    assert str(module(stream.getvalue())) == str(first)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('memref.global "private" @w : tensor<2xf32> = uninitialized', "a memref is expected, not tensor<2xf32>"),
        ('memref.global "private" @w : memref<2xf32>', "uninitialized"),
        ('memref.global "private" @w : memref<2xf32> = dense<[1.0]>', "[Ss]hape|number of elements"),
    ],
)
def test_a_global_without_a_memref_or_a_value_is_refused(line: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        module(line)


PREFETCHED = '%m, %i = "test.op"() : () -> (memref<4x8xf32>, index)\n'


@pytest.mark.parametrize(
    "line",
    [
        "memref.prefetch %m[%i, %i], read, locality<3>, data : memref<4x8xf32>",
        "memref.prefetch %m[%i, %i], write, locality<0>, instr : memref<4x8xf32>",
    ],
)
def test_a_prefetch_has_the_form_that_mlir_gives_it(line: str) -> None:
    first = module(PREFETCHED + line)
    first.verify()
    assert line in str(first)
    stream = StringIO()
    Printer(stream, print_generic_format=True).print_op(first)
    assert str(module(stream.getvalue())) == str(first)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("memref.prefetch %m[%i], read, locality<3>, data : memref<4x8xf32>", "rank 2 has 2 indices, not 1"),
        ("memref.prefetch %m[%i, %i], read, locality<4>, data : memref<4x8xf32>", "from 0 to 3, not 4"),
    ],
)
def test_a_prefetch_of_no_element_or_of_no_kind_is_refused(line: str, message: str) -> None:
    with pytest.raises(VerifyException, match=message):
        module(PREFETCHED + line).verify()
