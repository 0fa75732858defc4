"""Objects that are linked without a linker are what they are when LLVM links them."""

import ctypes
import gc
import sys
from collections.abc import Sequence

import pytest

from weft.lowering.machine.codegen import compile_module
from weft.lowering.machine.target import Target
from weft.runtime import image as images
from weft.runtime.elf.objects import Unlinkable, read_object
from weft.runtime.elf.shared import link_shared
from weft.runtime.image import SLOT, Image, open_image
from weft.runtime.jit import LoadedObjects, LoadError

X86 = Target.parse("llvm -mtriple=x86_64-unknown-linux-gnu")
HERE = sys.platform.startswith("linux") and Target.parse("llvm").resolved().triple.startswith("x86_64")
needs_here = pytest.mark.skipif(not HERE, reason="another machine's code")

FIRST = """
@table = global [2 x ptr] [ptr @seven, ptr @strlen]
@count = global i64 5
@zeros = global [100 x i64] zeroinitializer
@text = private constant [4 x i8] c"abc\\00"
declare i64 @strlen(ptr)
declare i64 @other(i64)
declare i64 @given(i64)
define i64 @seven() { ret i64 7 }
define i64 @run(i64 %x) {
  %a = call i64 @other(i64 %x)
  %b = call i64 @given(i64 %a)
  %c = call i64 @strlen(ptr @text)
  %n = load i64, ptr @count
  %m = add i64 %n, 1
  store i64 %m, ptr @count
  store i64 %m, ptr getelementptr (i64, ptr @zeros, i64 99)
  %p = load ptr, ptr @table
  %q = load ptr, ptr getelementptr (ptr, ptr @table, i64 1)
  %d = call i64 %p()
  %e = call i64 %q(ptr @text)
  %s = add i64 %b, %c
  %t = add i64 %s, %d
  %u = add i64 %t, %e
  %v = add i64 %u, %n
  ret i64 %v
}
"""
SECOND = """
declare i64 @seven()
@lone = internal global i64 3
define i64 @other(i64 %x) {
  %a = call i64 @seven()
  %b = load i64, ptr @lone
  %c = mul i64 %a, %x
  %d = add i64 %b, %c
  ret i64 %d
}
"""


@pytest.fixture(scope="module")
def objects() -> list[bytes]:
    return [compile_module(text, X86, 1) for text in (FIRST, SECOND)]


@ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
def doubled(value: int) -> int:
    return 2 * value


def opened(objects: Sequence[bytes]) -> Image:
    address = ctypes.cast(doubled, ctypes.c_void_p).value
    assert address is not None
    found = open_image(link_shared(objects, {"given"}, SLOT), {"given": address, "unused": 1})
    assert found is not None
    return found


def called(code: Image | LoadedObjects, value: int) -> int:
    address = code.find("run") if isinstance(code, Image) else code.address("run")
    assert address is not None
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)(value)


@needs_here
def test_functions_variables_and_pointers_find_each_other_and_the_process(objects: list[bytes]) -> None:
    first, second = opened(objects), opened(objects)
    address = ctypes.cast(doubled, ctypes.c_void_p).value
    assert address is not None
    linked_by_llvm = LoadedObjects(objects, {"given": address})
    for code in (first, second, linked_by_llvm):
        assert [called(code, 1), called(code, 10)] == [2 * 10 + 3 + 7 + 3 + 5, 2 * 73 + 3 + 7 + 3 + 6]
    assert first.find("zeros") != second.find("zeros"), "each has its own variables"
    zeros = first.find("zeros")
    assert zeros is not None and (ctypes.c_int64 * 100).from_address(zeros)[98:] == [0, 7]
    assert first.find("lone") is None and first.find("nowhere") is None
    assert first.uses("given") and not first.uses("seven")


@needs_here
def test_an_image_is_unloaded_with_its_last_user(objects: list[bytes]) -> None:
    def mapped() -> int:
        with open("/proc/self/maps") as file:
            return sum("memfd:weft" in line for line in file)

    before = mapped()
    found = [opened(objects) for _ in range(5)]
    assert mapped() >= before + 5
    found[0].keep()
    kept = mapped()
    found.clear()
    gc.collect()
    assert before < mapped() <= kept - 4 * ((kept - before) // 5)


@needs_here
def test_objects_are_linked_by_llvm_where_an_image_cannot_be_loaded(
    objects: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    address = ctypes.cast(doubled, ctypes.c_void_p).value
    assert address is not None
    image = link_shared(objects, {"given"}, SLOT)
    loaded = LoadedObjects(objects, {"given": address}, [image])
    assert called(loaded, 1) == 38
    with pytest.raises(LoadError, match="no address of 'nowhere'"):
        loaded.address("nowhere")
    assert open_image(image[:100]) is None and open_image(b"") is None

    def refused(*_: object) -> int:
        raise OSError

    monkeypatch.setattr(images.os, "memfd_create", refused)
    assert open_image(image) is None
    assert called(LoadedObjects(objects, {"given": address}, [image]), 1) == 38


def test_what_is_not_linked_here_is_left_to_others(objects: list[bytes]) -> None:
    for data in (b"", b"\x7fELF", objects[0][:200], b"#" * 1000):
        with pytest.raises(Unlinkable):
            read_object(data)
    arm = compile_module("define void @f() { ret void }", Target.parse("llvm -mtriple=aarch64-linux-gnu"), 1)
    with pytest.raises(Unlinkable, match="x86-64"):
        link_shared([arm])
    with pytest.raises(Unlinkable, match="is defined twice"):
        link_shared([objects[0], objects[0]])
    lazy = compile_module("@v = thread_local global i64 1\ndefine ptr @f() { ret ptr @v }", X86, 1)
    with pytest.raises(Unlinkable, match="thread-local"):
        link_shared([lazy])
    assert images.link_images([arm]) == () and len(images.link_images(objects)) == 1


def test_no_cut_object_is_more_than_refused(objects: list[bytes]) -> None:
    for end in range(0, len(objects[0]), 41):
        with pytest.raises(Unlinkable):
            link_shared([objects[0][:end]])
    for place in range(0, len(objects[0]), 23):
        changed = bytearray(objects[0])
        changed[place] ^= 0xFF
        try:
            link_shared([bytes(changed)])
        except Unlinkable:
            pass
