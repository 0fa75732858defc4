"""Machine code: objects that run, errors that say why, workers, the cache of kernels."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from weft.dialects.support import knobs
from weft.dialects.support.diagnostics import UsageError
from weft.lowering.machine.binding import holds_scalars
from weft.lowering.machine.codegen import CodegenError, CodegenPool, compile_module, compile_to_assembly
from weft.lowering.machine.emit import emit
from weft.lowering.machine.kernel_cache import KernelCache
from weft.lowering.machine.target import Target, TargetError
from weft.runtime.jit import LoadedObjects, LoadError

TARGET = Target()


def answer(number: int, name: str = "answer") -> str:
    return f"define i64 @{name}() {{\n  ret i64 {number}\n}}\n"


def call(objects: list[bytes], name: str = "answer") -> int:
    code = LoadedObjects(objects)
    return ctypes.CFUNCTYPE(ctypes.c_int64)(code.address(name))()


def test_an_object_is_loaded_and_called() -> None:
    assert call([compile_module(answer(42), TARGET)]) == 42


def test_constants_are_read_relative_to_the_code() -> None:
    """Not by addresses of 64 bits, which take an instruction and a register of their own at each use."""
    text = "define double @f(double %x) {\n  %y = fmul double %x, 3.5\n  ret double %y\n}\n"
    assembly = compile_to_assembly(text, Target.parse("llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=x86-64-v3"))
    assert "(%rip)" in assembly and "GOTOFF" not in assembly and "movabs" not in assembly


def test_objects_call_each_other() -> None:
    caller = "declare i64 @g()\ndefine i64 @answer() {\n  %r = call i64 @g()\n  ret i64 %r\n}\n"
    assert call([compile_module(caller, TARGET), compile_module(answer(7, "g"), TARGET)]) == 7


def test_a_symbol_can_be_given_by_address() -> None:
    callback = ctypes.CFUNCTYPE(ctypes.c_int64)(lambda: 11)
    address = ctypes.cast(callback, ctypes.c_void_p).value
    assert address is not None
    text = "declare i64 @given()\ndefine i64 @answer() {\n  %r = call i64 @given()\n  ret i64 %r\n}\n"
    code = LoadedObjects([compile_module(text, TARGET)], {"given": address})
    assert ctypes.CFUNCTYPE(ctypes.c_int64)(code.address("answer"))() == 11


@pytest.mark.parametrize("pages", [1, 2, 3])
def test_code_and_constants_are_linked_where_there_is_no_room_for_both_in_one_place(pages: int) -> None:
    """LLVM's older linker ended the process there, which large models in one process came to."""
    program = Path(__file__).parent.parent / "Inputs" / "crowded_addresses.py"
    done = subprocess.run([sys.executable, str(program), str(pages)], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_missing_symbol_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    declared = "declare i64 @weft_no_such_thing()\n"
    text = declared + "define i64 @f() {\n  %r = call i64 @weft_no_such_thing()\n  ret i64 %r\n}\n"
    code = LoadedObjects([compile_module(text, TARGET)])
    with pytest.raises(LoadError, match="no address of 'f'"):
        code.address("f")
    assert "weft_no_such_thing" in capfd.readouterr().err


def test_an_unknown_name_has_no_address() -> None:
    with pytest.raises(LoadError, match="nowhere"):
        LoadedObjects([compile_module(answer(1), TARGET)]).address("nowhere")


def test_a_module_that_llvm_refuses_is_shown_with_the_line() -> None:
    with pytest.raises(CodegenError, match=r"line 2 of the module.*\n.*ret i64 %x\n") as error:
        compile_module("define i64 @f() {\n  ret i64 %x\n}\n", TARGET)
    assert "%x" in error.value.message


def test_a_module_that_does_not_verify_is_refused() -> None:
    with pytest.raises(CodegenError, match="does not accept"):
        compile_module("define void @f() {\n  %a = add i64 %b, 1\n  %b = add i64 %a, 1\n  ret void\n}\n", TARGET)


def test_wide_vectors_are_used_where_there_are_any() -> None:
    assert Target.parse("llvm -mcpu=x86-64 -mtriple=x86_64-unknown-linux-gnu").vector_bytes() == 16
    assert Target.parse("llvm -mcpu=haswell -mtriple=x86_64-unknown-linux-gnu").vector_bytes() == 32
    assert Target.parse("llvm -mcpu=znver5 -mtriple=x86_64-unknown-linux-gnu").vector_bytes() == 64
    assert Target.parse("llvm -mcpu=skylake-avx512 -mtriple=x86_64-unknown-linux-gnu").vector_bytes() == 64


@pytest.mark.parametrize(
    ("stored", "scalars"),
    [
        ("<16 x float> %v, ptr", False),
        ("ptr %v, ptr", False),
        ("float %v, ptr", True),
        ("i8 %v, ptr", True),
        ("volatile i64 %v, ptr", True),
    ],
)
def test_llvm_is_asked_for_less_where_only_vectors_are_stored(stored: str, scalars: bool) -> None:
    text = f"define void @f(ptr %p) {{\n  store <4 x i8> %u, ptr %p\n  store {stored} %p\n  ret void\n}}\n"
    assert holds_scalars(text) is scalars


def test_vectors_on_the_stack_are_kept_in_registers() -> None:
    """A tile, in a loop that is to be unrolled; what is around it is left as it is."""
    text = """define void @f(ptr noalias %p, ptr noalias %q, i64 %n) {
b0:
  %tile = alloca [32 x float], align 64
  br label %outer
outer:
  %k = phi i64 [ 0, %b0 ], [ %more, %after ]
  br label %b1
b1:
  %i = phi i64 [ 0, %outer ], [ %next, %b1 ]
  %at = mul i64 %i, 16
  %held = getelementptr inbounds float, ptr %tile, i64 %at
  %old = load <16 x float>, ptr %held, align 4
  %from = getelementptr inbounds float, ptr %p, i64 %at
  %x = load <16 x float>, ptr %from, align 4
  %y = fadd <16 x float> %old, %x
  store <16 x float> %y, ptr %held, align 4
  %next = add nuw nsw i64 %i, 1
  %c = icmp ne i64 %next, 2
  br i1 %c, label %b1, label %after, !llvm.loop !0
after:
  %more = add nuw nsw i64 %k, 1
  %d = icmp ne i64 %more, %n
  br i1 %d, label %outer, label %end, !llvm.loop !2
end:
  %z = load <16 x float>, ptr %tile, align 4
  store <16 x float> %z, ptr %q, align 4
  ret void
}
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.full"}
!2 = distinct !{!2, !3}
!3 = !{!"llvm.loop.unroll.disable"}
"""
    optimized = Target.parse("llvm -mcpu=skylake-avx512 -mtriple=x86_64-unknown-linux-gnu").machine(3).optimized(text)
    assert "alloca" not in optimized and optimized.count("fadd") == 1  # of what is read afterwards
    assert optimized.count("phi i64") == 1


def test_a_loop_of_numbers_is_left_to_llvm_whole() -> None:
    text = """define void @f(ptr noalias %p, ptr noalias %q) {
b0:
  br label %b1
b1:
  %i = phi i64 [ 0, %b0 ], [ %n, %b1 ]
  %a = getelementptr float, ptr %p, i64 %i
  %x = load float, ptr %a
  %y = fadd float %x, 1.0
  %b = getelementptr float, ptr %q, i64 %i
  store float %y, ptr %b
  %n = add nuw nsw i64 %i, 1
  %c = icmp slt i64 %n, 4096
  br i1 %c, label %b1, label %b2
b2:
  ret void
}
"""
    assert "fadd <" in TARGET.machine(3).optimized(text)


def test_a_target_prints_as_it_is_read() -> None:
    text = "llvm -mcpu=haswell -mattr=-avx2"
    assert str(Target.parse(text)) == text
    assert Target.parse(Target.parse(text)) == Target.parse(text)


def test_an_unknown_target_option_is_refused_with_a_hint() -> None:
    with pytest.raises(TargetError, match="did you mean '-mcpu'"):
        Target.parse("llvm -cpu=native")
    with pytest.raises(TargetError, match="kinds are llvm, c"):
        Target.parse("pdp11")


def test_an_unknown_triple_is_refused() -> None:
    with pytest.raises(TargetError, match="pdp11"):
        Target.parse("llvm -mtriple=pdp11-none -mcpu=generic").machine()


def test_unknown_formats_are_refused() -> None:
    from xdsl.dialects.builtin import ModuleOp

    assert emit(ModuleOp([]), "llvm") == b"\n"
    with pytest.raises(Exception, match="formats are llvm, asm, obj"):
        emit(ModuleOp([]), "exe")


@pytest.mark.parametrize("jobs", [1, 2])
def test_many_modules_come_out_in_order(jobs: int) -> None:
    with CodegenPool(TARGET, jobs) as pool:
        for key, number in (("a", 3), ("b", 1), ("c", 2), ("d", 1)):
            pool.submit(key, answer(number))
        assert [call([pool.result(key)]) for key in "abcd"] == [3, 1, 2, 1]


def test_workers_compile_the_same_code_as_this_process() -> None:
    with CodegenPool(TARGET, 2) as pool:
        pool.submit("k", answer(5))
        assert pool.result("k") == compile_module(answer(5), TARGET)


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_in_a_worker_arrives_with_its_message(jobs: int) -> None:
    with CodegenPool(TARGET, jobs) as pool:
        pool.submit("good", answer(1))
        pool.submit("bad", "define nonsense")
        with pytest.raises(CodegenError, match="line 1"):
            pool.result("bad")
        assert call([pool.result("good")]) == 1


def test_one_key_cannot_stand_for_two_modules() -> None:
    with CodegenPool(TARGET, 1) as pool:
        pool.submit("k", answer(1))
        pool.submit("k", answer(1))
        with pytest.raises(ValueError, match="'k'"):
            pool.submit("k", answer(2))


def test_a_closed_pool_leaves_no_processes() -> None:
    with CodegenPool(TARGET, 2) as pool:
        pool.submit("k", answer(1))
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


@pytest.mark.parametrize(("jobs", "times"), [(1, 0), (2, 1)])
def test_what_is_to_be_done_beside_workers_is_done_once(jobs: int, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_CACHE_DIR", "")  # what is kept needs no workers
    done: list[int] = []

    def work() -> None:
        done.append(threading.get_ident())
        raise MemoryError

    with CodegenPool(TARGET, jobs, meanwhile=work) as pool:
        pool.submit("first", answer(1))
        pool.submit("second", answer(2))
        assert call([pool.result("first")]) == 1
    assert len(done) == times
    assert threading.get_ident() not in done


def test_a_kernel_is_compiled_once_for_one_cache(tmp_path: Path) -> None:
    cache = KernelCache(tmp_path)
    key = KernelCache.key(answer(9), TARGET, TARGET.codegen_level)
    assert cache.get(key) is None
    with CodegenPool(TARGET, 1, cache=cache) as pool:
        pool.submit("k", answer(9))
        image = pool.result("k")
    assert cache.get(key) == image
    cache.put(key, compile_module(answer(10), TARGET))
    with CodegenPool(TARGET, 1, cache=cache) as pool:
        pool.submit("k", answer(9))
        assert call([pool.result("k")]) == 10


def test_a_damaged_cache_entry_is_not_used(tmp_path: Path) -> None:
    cache = KernelCache(tmp_path)
    cache.put("0123", b"object")
    (stored,) = (path for path in tmp_path.rglob("*") if path.is_file())
    stored.write_bytes(stored.read_bytes()[:-1])
    assert cache.get("0123") is None


def test_target_level_and_text_make_different_keys() -> None:
    generic = Target.parse("llvm -mcpu=x86-64")
    keys = {KernelCache.key(answer(1), TARGET, 3), KernelCache.key(answer(1), TARGET, 2)}
    keys |= {KernelCache.key(answer(2), TARGET, 3), KernelCache.key(answer(1), generic, 3)}
    assert len(keys) == 4


def test_the_cache_is_where_the_environment_says(tmp_path: Path) -> None:
    with knobs.CACHE_DIR.set(""):
        assert KernelCache.from_environment() is None
    with knobs.CACHE_DIR.set(str(tmp_path)):
        cache = KernelCache.from_environment()
    assert cache is not None
    cache.put("abcd", b"object")
    assert (tmp_path / "kernels" / "ab" / "cd").is_file()


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = KernelCache(tmp_path / "file")
    cache.put("abcd", b"object")
    assert cache.get("abcd") is None


def test_a_store_that_fails_leaves_no_file(tmp_path: Path) -> None:
    cache = KernelCache(tmp_path)
    (tmp_path / "ab" / "cd").mkdir(parents=True)  # the entry is a directory
    cache.put("abcd", b"object")
    assert [path.name for path in tmp_path.rglob("*")] == ["ab", "cd"]


def test_without_a_word_objects_are_kept_where_the_user_keeps_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WEFT_CACHE_DIR")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    cache = KernelCache.from_environment()
    assert cache is not None and cache.directory == tmp_path / ".cache" / "weft" / "kernels"
    cache.put("abcd", b"object")
    assert cache.get("abcd") == b"object" and cache.directory.stat().st_mode & 0o777 == 0o700
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    cache = KernelCache.from_environment()
    assert cache is not None and cache.directory == tmp_path / "elsewhere" / "weft" / "kernels"
    monkeypatch.setenv("WEFT_CACHE_DIR", "")
    assert KernelCache.from_environment() is None


def test_nothing_is_kept_in_the_home_of_somebody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WEFT_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    assert KernelCache.from_environment() is None
    monkeypatch.setenv("WEFT_CACHE_DIR", str(tmp_path))  # whoever says so, has it so
    assert KernelCache.from_environment() is not None


def test_who_has_no_home_keeps_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("WEFT_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    assert KernelCache.from_environment() is None, "a home is not made"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    assert KernelCache.from_environment() is None, "it is to be absolute"
    monkeypatch.setenv("XDG_CACHE_HOME", "~no-such-user/cache")
    assert KernelCache.from_environment() is None


def test_a_home_that_is_not_there_is_refused() -> None:
    with knobs.CACHE_DIR.set("~no-such-user/cache"), pytest.raises(UsageError, match=r"\$WEFT_CACHE_DIR is '~no-such"):
        KernelCache.from_environment()
