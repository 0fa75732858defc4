// RUN: weft-opt %s -p "convert-tir-to-loops{dot=vnni vector-bytes=64}" | filecheck %s --check-prefix=VNNI
// RUN: weft-opt %s -p "convert-tir-to-loops{dot=dotprod vector-bytes=16}" | filecheck %s --check-prefix=NEON
// RUN: weft-opt %s -p "convert-tir-to-loops{dot=pmaddwd vector-bytes=64}" | filecheck %s --check-prefix=PAIRS
// RUN: weft-opt %s -p "convert-tir-to-loops{dot=pmaddwd vector-bytes=64},convert-loops-to-llvm" | filecheck %s --check-prefix=ADDED
// RUN: weft-opt %s -p convert-tir-to-loops | filecheck %s --check-prefix=NONE
// RUN: weft-opt %s -p "convert-tir-to-loops{dot=vnni vector-bytes=64},convert-loops-to-llvm" | filecheck %s --check-prefix=LLVM

// The bytes of %a are the same in all lanes, those of %b neighbours: both are read together.
// VNNI-LABEL: func.func private @unsigned_by_signed.nest_0
// VNNI: vector.load %a{{.*}} vector<4xi8>
// VNNI: vector.load %b{{.*}} vector<64xi8>
// VNNI: rt.dot "vnni" {{.*}} : vector<16xi32>, vector<64xi8>
// NEON-LABEL: func.func private @unsigned_by_signed.nest_0
// NEON-NOT: rt.dot
// NEON-LABEL: func.func @unsigned_by_signed
// Bytes are made 16 bits: the even ones of all lanes, and the odd ones.
// PAIRS-LABEL: func.func private @unsigned_by_signed.nest_0
// PAIRS: vector.load %b{{.*}} vector<64xi8>
// PAIRS: arith.andi {{.*}} : vector<32xi16>
// PAIRS: arith.shrui {{.*}} : vector<32xi16>
// PAIRS: arith.shli {{.*}} : vector<32xi16>
// PAIRS: arith.shrsi {{.*}} : vector<32xi16>
// PAIRS: arith.shrsi {{.*}} : vector<32xi16>
// PAIRS: rt.dot "pmaddwd" {{.*}} : vector<16xi32>, vector<32xi16>
// PAIRS: rt.dot "pmaddwd" {{.*}} : vector<16xi32>, vector<32xi16>
// ADDED-LABEL: @unsigned_by_signed.nest_0
// ADDED: llvm.call_intrinsic "llvm.x86.avx512.pmaddw.d.512"
// ADDED-NEXT: llvm.add {{.*}} : vector<16xi32>
// NONE-LABEL: func.func private @unsigned_by_signed.nest_0
// NONE-NOT: rt.dot
// NONE: arith.extui
// NONE: arith.extsi
// LLVM-LABEL: @unsigned_by_signed.nest_0
// LLVM: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
tir.prim_func @unsigned_by_signed(%a: memref<4xi8>, %b: memref<16x4xi8>, %c: memref<16xi32>) {
  tir.for vectorized %j = 0 to 16 {
    tir.block @dot(%v: spatial 16) = [%j] reads(%a : memref<4xi8>, %b : memref<16x4xi8>, %c[%v] : memref<16xi32>)
        writes(%c[%v] : memref<16xi32>) {
      %n0 = arith.constant 0 : index
      %n1 = arith.constant 1 : index
      %n2 = arith.constant 2 : index
      %n3 = arith.constant 3 : index
      %c0 = memref.load %c[%v] : memref<16xi32>
      %a0 = memref.load %a[%n0] : memref<4xi8>
      %a1 = memref.load %a[%n1] : memref<4xi8>
      %a2 = memref.load %a[%n2] : memref<4xi8>
      %a3 = memref.load %a[%n3] : memref<4xi8>
      %b0 = memref.load %b[%v, %n0] : memref<16x4xi8>
      %b1 = memref.load %b[%v, %n1] : memref<16x4xi8>
      %b2 = memref.load %b[%v, %n2] : memref<16x4xi8>
      %b3 = memref.load %b[%v, %n3] : memref<16x4xi8>
      %s = tir.dot %c0 + unsigned (%a0, %a1, %a2, %a3) * (%b0, %b1, %b2, %b3)
      memref.store %s, %c[%v] : memref<16xi32>
    }
  }
}

// Of two signed sides, 128 is added to the left one for x86; AArch64 has them.
// VNNI-LABEL: func.func private @signed_by_signed.nest_0
// VNNI: arith.xori
// VNNI: rt.dot "vnni"
// VNNI: rt.dot "vnni"
// VNNI: arith.subi
// NEON-LABEL: func.func private @signed_by_signed.nest_0
// NEON: rt.dot "sdot" {{.*}} : vector<4xi32>, vector<16xi8>
tir.prim_func @signed_by_signed(%a: memref<4xi8>, %b: memref<4x4xi8>, %c: memref<4xi32>) {
  tir.for vectorized %j = 0 to 4 {
    tir.block @dot(%v: spatial 4) = [%j] reads(%a : memref<4xi8>, %b : memref<4x4xi8>, %c[%v] : memref<4xi32>)
        writes(%c[%v] : memref<4xi32>) {
      %n0 = arith.constant 0 : index
      %n1 = arith.constant 1 : index
      %n2 = arith.constant 2 : index
      %n3 = arith.constant 3 : index
      %c0 = memref.load %c[%v] : memref<4xi32>
      %a0 = memref.load %a[%n0] : memref<4xi8>
      %a1 = memref.load %a[%n1] : memref<4xi8>
      %a2 = memref.load %a[%n2] : memref<4xi8>
      %a3 = memref.load %a[%n3] : memref<4xi8>
      %b0 = memref.load %b[%v, %n0] : memref<4x4xi8>
      %b1 = memref.load %b[%v, %n1] : memref<4x4xi8>
      %b2 = memref.load %b[%v, %n2] : memref<4x4xi8>
      %b3 = memref.load %b[%v, %n3] : memref<4x4xi8>
      %s = tir.dot %c0 + (%a0, %a1, %a2, %a3) * (%b0, %b1, %b2, %b3)
      memref.store %s, %c[%v] : memref<4xi32>
    }
  }
}
