"""The text of LLVM IR: flags, constants, attributes, metadata, order of blocks; and how fast it is made."""

from __future__ import annotations

import re
import time

import pytest
from native import lower, parse
from xdsl.parser import Parser

from weft.lowering.llvm_ir.module import emit_llvm_ir
from weft.lowering.loops_to_llvm.types import LoweringError
from weft.lowering.machine.codegen import compile_module
from weft.lowering.machine.target import Target
from weft.transforms.infra.registry import new_ir_context


def emitted(body: str, signature: str = "") -> list[str]:
    """The lines of one function's LLVM IR, which LLVM accepts."""
    text = emit_llvm_ir(parse(f"llvm.func @f({signature}) {{\n{body}\n  llvm.return\n}}"))
    compile_module(text, Target(), 0)
    return [line.strip() for line in text.splitlines()]


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("%r = llvm.add %i, %j overflow<nsw, nuw> : i64", "%r.1 = add nuw nsw i64 %a0, %a1"),
        ("%r = llvm.sdiv exact %i, %j : i64", "%r.1 = sdiv exact i64 %a0, %a1"),
        (
            "%r = llvm.fadd %x, %x {fastmathFlags = #llvm.fastmath<fast>} : f32",
            "%r.1 = fadd fast float %a2, %a2",
        ),
        (
            "%r = llvm.fmul %x, %x {fastmathFlags = #llvm.fastmath<nnan, contract>} : f32",
            "%r.1 = fmul nnan contract float %a2, %a2",
        ),
        ("%r = llvm.fneg %x {fastmathFlags = #llvm.fastmath<nsz>} : f32", "%r.1 = fneg nsz float %a2"),
        (
            '%r = llvm.fcmp "olt" %x, %x {fastmathFlags = #llvm.fastmath<ninf>} : f32',
            "%r.1 = fcmp ninf olt float %a2, %a2",
        ),
        (
            "%r = llvm.intr.sqrt(%x) {fastmathFlags = #llvm.fastmath<afn>} : (f32) -> f32",
            "%r.1 = call afn float @llvm.sqrt.f32(float %a2)",
        ),
        (
            '%r = "llvm.intr.ctlz"(%i) <{is_zero_poison = true}> : (i64) -> i64',
            "%r.1 = call i64 @llvm.ctlz.i64(i64 %a0, i1 true)",
        ),
        (
            "%r = llvm.getelementptr inbounds %p[%i, 2] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<4 x f32>",
            "%r.1 = getelementptr inbounds [4 x float], ptr %a3, i64 %a0, i32 2",
        ),
        ("%r = llvm.load %p {alignment = 16 : i64} : !llvm.ptr -> f64", "%r.1 = load double, ptr %a3, align 16"),
        ("llvm.store %x, %p {nontemporal} : f32, !llvm.ptr", "store float %a2, ptr %a3, !nontemporal !0"),
        ("%r = llvm.fptrunc %x : f32 to bf16", "%r.1 = fptrunc float %a2 to bfloat"),
    ],
)
def test_an_operation_is_written_with_all_its_flags(line: str, written: str) -> None:
    assert written in emitted(line, "%i: i64, %j: i64, %x: f32, %p: !llvm.ptr")


@pytest.mark.parametrize(
    ("value", "type", "written"),
    [
        ("1.5 : f32", "f32", "float 0x3FF8000000000000"),
        ("0.1 : f32", "f32", "float 0x3FB99999A0000000"),
        ("0x7F800000 : f32", "f32", "float 0x7FF0000000000000"),
        ("-0.0 : f64", "f64", "double 0x8000000000000000"),
        ("1.5 : f16", "f16", "half 0xH3E00"),
        ("1.5 : bf16", "bf16", "bfloat 0xR3FC0"),
        ("true", "i1", "i1 true"),
        ("-7 : i8", "i8", "i8 -7"),
        ("dense<2.0> : vector<4xf32>", "vector<4xf32>", "<4 x float> splat (float 0x4000000000000000)"),
        ("dense<0> : vector<4xi32>", "vector<4xi32>", "<4 x i32> zeroinitializer"),
        ("dense<[1, 2]> : vector<2xi32>", "vector<2xi32>", "<2 x i32> <i32 1, i32 2>"),
        ("dense<[true, false]> : vector<2xi1>", "vector<2xi1>", "<2 x i1> <i1 true, i1 false>"),
    ],
)
def test_a_constant_is_written_where_it_is_used(value: str, type: str, written: str) -> None:
    lines = emitted(
        f"%c = llvm.mlir.constant({value}) : {type}\nllvm.store %c, %p : {type}, !llvm.ptr", "%p: !llvm.ptr"
    )
    assert f"store {written}, ptr %a0" in lines


def test_one_intrinsic_at_two_types_is_two_declarations() -> None:
    lines = emitted(
        "%a = llvm.intr.exp(%x) : (f32) -> f32\n%b = llvm.intr.exp(%v) : (vector<4xf32>) -> vector<4xf32>",
        "%x: f32, %v: vector<4xf32>",
    )
    assert "declare float @llvm.exp.f32(float)" in lines
    assert "declare <4 x float> @llvm.exp.v4f32(<4 x float>)" in lines


def test_every_annotated_loop_has_metadata_of_its_own() -> None:
    loop = """
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %x, %m[%i] : memref<8xf32>
  } {loop_annotation = #llvm.loop_annotation<HINTS>}"""
    text = emit_llvm_ir(
        lower(
            f"""
func.func @f(%m: memref<8xf32>, %x: f32) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  {loop.replace("HINTS", "unroll = <disable = false, full = true>")}
  {loop.replace("HINTS", "unroll = <disable = false, full = true>")}
  {loop.replace("HINTS", "vectorize = <disable = true>, unroll = <count = 2 : i32>, mustProgress = true")}
  func.return
}}"""
        )
    )
    compile_module(text, Target(), 3)
    branches = re.findall(r"!llvm.loop !(\d+)", text)
    assert len(set(branches)) == 3
    nodes = dict(re.findall(r"^!(\d+) = (.*)$", text, re.MULTILINE))
    first, second, third = (re.findall(r"!(\d+)", nodes[branch])[1:] for branch in branches)
    assert first == second
    assert [nodes[node] for node in first] == ['!{!"llvm.loop.unroll.enable"}', '!{!"llvm.loop.unroll.full"}']
    assert [nodes[node] for node in third] == [
        '!{!"llvm.loop.mustprogress"}',
        '!{!"llvm.loop.vectorize.enable", i1 false}',
        '!{!"llvm.loop.unroll.count", i32 2}',
    ]


def test_blocks_are_written_after_those_that_dominate_them() -> None:
    text = emit_llvm_ir(
        parse(
            """
llvm.func @f(%x: i64) -> i64 {
  llvm.br ^second
^first:
  llvm.return %y : i64
^second:
  %y = llvm.add %x, %x : i64
  llvm.br ^first
^nowhere:
  llvm.unreachable
}"""
        )
    )
    compile_module(text, Target(), 0)
    assert text.index("add i64") < text.index("ret i64")
    assert "unreachable" not in text


def test_attributes_of_functions_and_arguments() -> None:
    text = emit_llvm_ir(
        parse(
            """
llvm.func internal @g(%p: !llvm.ptr {llvm.noalias, llvm.align = 64 : i64, llvm.readonly}) -> i64 attributes {
    no_unwind, target_cpu = "haswell", target_features = #llvm.target_features<["+avx2", "-avx512f"]>,
    frame_pointer = #llvm.framePointerKind<all>} {
  %r = llvm.load %p : !llvm.ptr -> i64
  llvm.return %r : i64
}
llvm.func @h(!llvm.ptr, ...) -> i32"""
        )
    )
    compile_module(text, Target(), 0)
    assert "define internal i64 @g(ptr noalias align 64 readonly %a0) #0 {" in text
    assert '"target-cpu"="haswell" "target-features"="+avx2,-avx512f" "frame-pointer"="all"' in text
    assert "declare i32 @h(ptr, ...)" in text


def test_globals_are_written_with_their_bytes() -> None:
    text = emit_llvm_ir(
        parse(
            """
llvm.mlir.global private constant @s("a\\22b") : !llvm.array<3 x i8>
llvm.mlir.global internal @d(dense<[1, 2]> : tensor<2xi16>) {alignment = 64 : i64} : !llvm.array<2 x i16>
llvm.mlir.global external @n(7 : i64) : i64
llvm.mlir.global internal @z() : !llvm.array<4 x ptr> {
  %0 = llvm.mlir.zero : !llvm.array<4 x ptr>
  llvm.return %0 : !llvm.array<4 x ptr>
}
llvm.mlir.global external @e() : f32"""
        )
    )
    compile_module(text, Target(), 0)
    assert text.splitlines()[:5] == [
        '@s = private constant [3 x i8] c"a\\22b"',
        '@d = internal global [4 x i8] c"\\01\\00\\02\\00", align 64',
        "@n = global i64 7",
        "@z = internal global [4 x ptr] zeroinitializer",
        "@e = external global float",
    ]


def test_names_that_llvm_cannot_spell_are_quoted() -> None:
    text = emit_llvm_ir(parse('llvm.func @"a b"() {\n  llvm.return\n}'))
    assert 'define void @"a b"()' in text
    compile_module(text, Target(), 0)


def test_an_operation_without_llvm_ir_is_named() -> None:
    with pytest.raises(LoweringError, match=r"'test\.op'.*no LLVM IR"):
        emitted('"test.op"() : () -> ()')
    with pytest.raises(LoweringError, match="module level"):
        emit_llvm_ir(parse("func.func private @f()"))


def test_text_is_made_at_a_hundred_thousand_operations_a_second() -> None:
    lines = "\n".join(f"  %{number + 1} = llvm.add %{number}, %x : i64" for number in range(2000))
    module = parse(f"llvm.func @f(%x: i64) {{\n  %0 = llvm.add %x, %x : i64\n{lines}\n  llvm.return\n}}")

    def seconds() -> float:
        start = time.process_time()
        emit_llvm_ir(module)
        return time.process_time() - start

    assert min(seconds() for _ in range(5)) < 0.02


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("%r = llvm.load %q : !llvm.ptr<3> -> f32", "%r.1 = load float, ptr addrspace(3) %a1"),
        ("%r = llvm.load %p atomic acquire : !llvm.ptr -> i32", "%r.1 = load atomic i32, ptr %a0 acquire, align 4"),
        (
            "llvm.store %i, %q atomic release {alignment = 4 : i64} : i32, !llvm.ptr<3>",
            "store atomic i32 %a2, ptr addrspace(3) %a1 release, align 4",
        ),
        (
            '%r = llvm.atomicrmw volatile _and %p, %i syncscope("agent") acq_rel {alignment = 8 : i64} '
            ": !llvm.ptr, i32",
            '%r.1 = atomicrmw volatile and ptr %a0, i32 %a2 syncscope("agent") acq_rel, align 8',
        ),
        (
            "%r = llvm.cmpxchg weak %p, %i, %i seq_cst acquire : !llvm.ptr, i32",
            "%r.1 = cmpxchg weak ptr %a0, i32 %a2, i32 %a2 seq_cst acquire",
        ),
        ('llvm.fence syncscope("agent") seq_cst', 'fence syncscope("agent") seq_cst'),
        (
            '"llvm.intr.prefetch"(%q) <{rw = 0 : i32, hint = 2 : i32, cache = 1 : i32}> : (!llvm.ptr<3>) -> ()',
            "call void @llvm.prefetch.p3(ptr addrspace(3) %a1, i32 0, i32 2, i32 1)",
        ),
        (
            '"llvm.intr.memcpy"(%p, %q, %n) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr<3>, i64) -> ()',
            "call void @llvm.memcpy.p0.p3.i64(ptr %a0, ptr addrspace(3) %a1, i64 %a3, i1 false)",
        ),
        (
            "llvm.intr.masked.store %v, %q, %m {alignment = 4 : i32} : vector<4xf32>, vector<4xi1> into !llvm.ptr<3>",
            "call void @llvm.masked.store.v4f32.p3(<4 x float> %a4, ptr addrspace(3) align 4 %a1, <4 x i1> %a5)",
        ),
        (
            "%r = llvm.intr.masked.load %q, %m, %v {alignment = 4 : i32} "
            ": (!llvm.ptr<3>, vector<4xi1>, vector<4xf32>) -> vector<4xf32>",
            "%r.1 = call <4 x float> @llvm.masked.load.v4f32.p3(ptr addrspace(3) align 4 %a1, <4 x i1> %a5, "
            "<4 x float> %a4)",
        ),
        ("llvm.call tail @f(%p, %q, %i, %n, %v, %m) : (!llvm.ptr, !llvm.ptr<3>, i32, i64, vector<4xf32>, vector<4xi1>)"
         " -> ()", "tail call void @f("),
        ("%r = llvm.getelementptr %p[1] : (!llvm.ptr) -> !llvm.ptr, f32", "%r.1 = getelementptr float, ptr %a0, i32 1"),
        ('%r = llvm.icmp "ne" %q, %q : !llvm.ptr<3>', "%r.1 = icmp ne ptr addrspace(3) %a1, %a1"),
    ],
)  # fmt: skip
def test_atomics_and_address_spaces_are_written(line: str, written: str) -> None:
    signature = "%p: !llvm.ptr, %q: !llvm.ptr<3>, %i: i32, %n: i64, %v: vector<4xf32>, %m: vector<4xi1>"
    assert any(text.startswith(written) for text in emitted(line, signature))


def text_of(module: str) -> str:
    """The LLVM IR of a module, which LLVM accepts."""
    text = emit_llvm_ir(parse(module))
    compile_module(text, Target(), 0)
    return text


def test_linkage_visibility_and_convention_are_written() -> None:
    text = text_of("llvm.func weak fastcc hidden unnamed_addr @f(%x: i32) -> i32 {\n  llvm.return %x : i32\n}")
    assert "define weak hidden fastcc i32 @f(i32 %a0) unnamed_addr" in text


def test_a_pair_that_is_passed_through_is_a_string_but_for_llvms_own_numbers() -> None:
    text = text_of(
        'llvm.func @f() attributes {passthrough = [["alignstack", "64"], ["note", "64"]]} {\n  llvm.return\n}'
    )
    assert 'attributes #0 = { alignstack=64 "note"="64" }' in text


def test_what_is_known_of_a_result_is_written() -> None:
    text = text_of("llvm.func @f() -> (!llvm.ptr {llvm.noundef, llvm.align = 16 : i64})")
    assert "declare noundef align 16 ptr @f()" in text


def test_a_global_in_an_address_space_is_written_there() -> None:
    text = text_of("llvm.mlir.global internal @g(0 : i32) {addr_space = 3 : i32} : i32")
    assert "@g = internal addrspace(3) global i32 0" in text


def test_a_modules_triple_and_layout_are_written() -> None:
    text = emit_llvm_ir(
        parse('builtin.module attributes {llvm.target_triple = "x86_64-linux", llvm.data_layout = "e"} {}')
    )
    assert text == 'target datalayout = "e"\ntarget triple = "x86_64-linux"\n'


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        ("llvm.func @f() attributes {gpu.kernel}", "'llvm.func': the attribute 'gpu.kernel' has no LLVM IR"),
        ("llvm.func @f() attributes {target_cpu = 3 : i64}", "the attribute 'target_cpu' = 3 : i64 has no"),
        ("llvm.func @f(%p: !llvm.ptr {llvm.inreg}) {\n  llvm.return\n}", "argument attribute 'llvm.inreg' has no"),
        ('llvm.func @f(%p: !llvm.ptr {llvm.align = "x"}) {\n  llvm.return\n}', "'llvm.align' = \"x\" has no"),
        ("llvm.func @f(!llvm.struct<\"s\", (i32)>)", "the struct 's' has a name"),
        ("llvm.func @f() attributes {passthrough = [3 : i64]}", "3 : i64 is neither a word nor a pair"),
        ('llvm.func @f() attributes {passthrough = ["cold }"]}', 'the attribute "cold }" is no word of LLVM'),
        ('llvm.func @f() attributes {passthrough = [["alignstack", "7"]]}', "of two up to 256 bytes, not to 7"),
        ('llvm.func @f() attributes {passthrough = [["alignstack", "512"]]}', "up to 256 bytes, not to 512"),
        ("llvm.mlir.global internal @g(0 : i32) {made_up} : i32", "'llvm.mlir.global': the attribute 'made_up' has no"),
        ("builtin.module attributes {made_up} {}", "'builtin.module': the attribute 'made_up' has no LLVM IR"),
        (
            "llvm.func @f(%p: !llvm.ptr) {\n  %0 = llvm.load %p {made_up} : !llvm.ptr -> i32\n  llvm.return\n}",
            "'llvm.load': the attribute 'made_up' has no LLVM IR",
        ),
        (
            "llvm.func @f() {\n  %n = llvm.mlir.constant(-1) : i64\n  %a = llvm.alloca %n x i8 : (i64) -> !llvm.ptr\n"
            "  llvm.return\n}",
            "'llvm.alloca': takes -1 elements on the stack",
        ),
        (
            "llvm.func @f() {\n  llvm.br ^a {loop_annotation = 3 : i64}\n^a:\n  llvm.return\n}",
            "'llvm.br': 'loop_annotation' is not a loop annotation",
        ),
    ],
)  # fmt: skip
def test_what_has_no_llvm_ir_is_refused_with_its_place(module: str, reason: str) -> None:
    with pytest.raises(LoweringError, match=re.escape(reason)) as raised:
        emit_llvm_ir(Parser(new_ir_context(), module).parse_module())
    assert raised.value.op is not None


def test_every_property_of_an_operation_is_read_by_its_emitter() -> None:
    """The names that the emitters' sources mention, against what the operations declare."""
    import inspect

    from weft.dialects.extensions import llvm_atomics
    from weft.lowering.llvm_ir import memory, module, ops
    from weft.lowering.llvm_ir.rules import EMITTERS

    read = "".join(map(inspect.getsource, (llvm_atomics.AtomicRMWOp.kind, memory, module, ops)))
    implied = {"operandSegmentSizes", "position", "value"}  # by the operands' accessors; `position`, `value` are read
    for kind in EMITTERS:
        for name in kind.get_irdl_definition().properties:  # type: ignore[attr-defined]
            assert name in implied or re.search(rf"\b{name}\b", read), f"{kind.__name__}: '{name}' is not read"
