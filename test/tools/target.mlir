// RUN: weft-opt %s -p schedule-rules --target='llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=haswell' | filecheck %s --check-prefix=AVX2
// RUN: weft-opt %s -p schedule-rules --target='llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=skylake-avx512' | filecheck %s --check-prefix=AVX512
// RUN: weft-opt %s -p schedule-rules --target='llvm -mtriple=aarch64-linux-gnu' | filecheck %s --check-prefix=NEON
// RUN: weft-opt %s -p 'schedule-rules{vector-bytes=32}' --target='llvm -mtriple=aarch64-linux-gnu' | filecheck %s --check-prefix=OPTION
// RUN: weft-opt %s -p schedule-rules | filecheck %s --check-prefix=NONE
// RUN: not weft-opt %s -p schedule-rules --target='llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=haswel' 2>&1 | filecheck %s --check-prefix=UNKNOWN

// AVX2: builtin.module attributes {weft.target = {vector_bytes = 32 : i64, vector_registers = 16 : i64, fma,
// AVX2-NEXT: machine = "fmas=2,loads=2,latency=5,line=64,l1=32K,l1-ways=8,l2=256K,{{.*}}"}}
// AVX2: tir.for vectorized {{.*}} = 0 to 8
// AVX512: builtin.module attributes {weft.target = {vector_bytes = 64 : i64, vector_registers = 32 : i64, fma, masked,
// AVX512-NEXT: machine = "{{.*}}l2-rate=36,{{.*}}"}}
// AVX512: tir.for vectorized {{.*}} = 0 to 16
// NEON: builtin.module attributes {weft.target = {vector_bytes = 16 : i64, vector_registers = 32 : i64, fma,
// NEON-NEXT: machine = "fmas=1,{{.*}}"}}
// NEON: tir.for vectorized {{.*}} = 0 to 4
// OPTION: builtin.module attributes {weft.target = {vector_bytes = 16 : i64, vector_registers = 32 : i64, fma,
// OPTION-NEXT: machine = "fmas=1,{{.*}}"}}
// OPTION: tir.for vectorized {{.*}} = 0 to 8
// NONE-NOT: weft.target
// NONE: tir.for vectorized {{.*}} = 0 to 4
// UNKNOWN: error: LLVM knows no processor 'haswel' of x86_64-unknown-linux-gnu
// UNKNOWN: hint: did you mean 'haswell'?

tir.prim_func @a_product_of_matrices_has_vectors_of_the_target(%x: memref<6x32xf32>, %w: memref<32x64xf32>, %y: memref<6x64xf32>) {
  %0 = tir.alloc_buffer "global" : memref<6x64xf32>
  tir.for %i = 0 to 6 {
    tir.for %j = 0 to 64 {
      tir.for %k = 0 to 32 {
        tir.block @dense(%vi: spatial 6, %vj: spatial 64, %vk: reduce 32) = [%i, %j, %k]
            reads(%x[%vi, %vk] : memref<6x32xf32>, %w[%vk, %vj] : memref<32x64xf32>)
            writes(%0[%vi, %vj] : memref<6x64xf32>) {
          %1 = memref.load %0[%vi, %vj] : memref<6x64xf32>
          %2 = memref.load %x[%vi, %vk] : memref<6x32xf32>
          %3 = memref.load %w[%vk, %vj] : memref<32x64xf32>
          %4 = arith.mulf %2, %3 : f32
          %5 = arith.addf %1, %4 : f32
          memref.store %5, %0[%vi, %vj] : memref<6x64xf32>
        } init(%wi, %wj, %wk) {
          %6 = arith.constant 0.0 : f32
          memref.store %6, %0[%wi, %wj] : memref<6x64xf32>
        }
      }
    }
  }
  tir.for %l = 0 to 6 {
    tir.for %m = 0 to 64 {
      tir.block @relu(%vl: spatial 6, %vm: spatial 64) = [%l, %m]
          reads(%0[%vl, %vm] : memref<6x64xf32>) writes(%y[%vl, %vm] : memref<6x64xf32>) {
        %c = arith.constant 0.0 : f32
        %7 = memref.load %0[%vl, %vm] : memref<6x64xf32>
        %8 = arith.maximumf %7, %c : f32
        memref.store %8, %y[%vl, %vm] : memref<6x64xf32>
      }
    }
  }
}
