// RUN: weft-opt %s --emit=llvm | filecheck %s --check-prefix=LLVM
// RUN: weft-opt %s --emit=asm --target="llvm -mcpu=x86-64 -mtriple=x86_64-unknown-linux-gnu" | filecheck %s --check-prefix=ASM
// RUN: weft-opt %s --emit=obj -o %t.o
// RUN: not weft-opt %s --emit=lvm 2>&1 | filecheck %s --check-prefix=FORMAT
// RUN: not weft-opt %s --emit=asm --target=llwm 2>&1 | filecheck %s --check-prefix=TARGET

// LLVM:   define i32 @twice(i32 %{{.*}})
// LLVM:   add i32
// ASM:    twice:
// ASM:    leal (%rdi,%rdi), %eax
// FORMAT: --emit: error: there is no format 'lvm'
// FORMAT: hint: did you mean 'llvm'?
// TARGET: error: unknown target kind 'llwm'
llvm.func @twice(%a: i32) -> i32 {
  %b = llvm.add %a, %a : i32
  llvm.return %b : i32
}
