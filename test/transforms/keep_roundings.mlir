// RUN: weft-opt %s -p keep-roundings | filecheck %s

// CHECK-LABEL: tir.prim_func @a_place_is_rounded_step_by_step
// CHECK:         arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT:    memref.store
// CHECK:         arith.subf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT:    math.floor
tir.prim_func @a_place_is_rounded_step_by_step(%x: memref<100xf32>, %y: memref<100xf32>) {
  %t = tir.alloc_buffer "global" : memref<100xf32>
  tir.for %i = 0 to 100 {
    tir.block @scaled(%v: spatial 100) = [%i] reads(%x[%v] : memref<100xf32>) writes(%t[%v] : memref<100xf32>) {
      %c = arith.constant 0.3 : f32
      %0 = memref.load %x[%v] : memref<100xf32>
      %1 = arith.mulf %0, %c fastmath<contract> : f32
      memref.store %1, %t[%v] : memref<100xf32>
    }
  }
  tir.for %i = 0 to 100 {
    tir.block @place(%v: spatial 100) = [%i] reads(%t[%v] : memref<100xf32>) writes(%y[%v] : memref<100xf32>) {
      %h = arith.constant 0.5 : f32
      %0 = memref.load %t[%v] : memref<100xf32>
      %1 = arith.subf %0, %h fastmath<contract> : f32
      %2 = math.floor %1 : f32
      memref.store %2, %y[%v] : memref<100xf32>
    }
  }
}

// What nobody rounds may be contracted.

// CHECK-LABEL: tir.prim_func @values_are_contracted
// CHECK:         arith.mulf %{{.*}}, %{{.*}} fastmath<contract> : f32
// CHECK:         arith.addf %{{.*}}, %{{.*}} fastmath<contract> : f32
tir.prim_func @values_are_contracted(%x: memref<100xf32>, %y: memref<100xf32>) {
  tir.for %i = 0 to 100 {
    tir.block @y(%v: spatial 100) = [%i] reads(%x[%v] : memref<100xf32>) writes(%y[%v] : memref<100xf32>) {
      %0 = memref.load %x[%v] : memref<100xf32>
      %1 = arith.mulf %0, %0 fastmath<contract> : f32
      %2 = arith.addf %1, %0 fastmath<contract> : f32
      memref.store %2, %y[%v] : memref<100xf32>
    }
  }
}

// A few numbers may be rounded by another kernel.

// CHECK-LABEL: tir.prim_func @a_few_numbers_are_not
// CHECK:         arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK:         arith.addf %{{.*}}, %{{.*}} : f32
tir.prim_func @a_few_numbers_are_not(%x: memref<2xf32>, %y: memref<2xf32>) {
  tir.for %i = 0 to 2 {
    tir.block @y(%v: spatial 2) = [%i] reads(%x[%v] : memref<2xf32>) writes(%y[%v] : memref<2xf32>) {
      %0 = memref.load %x[%v] : memref<2xf32>
      %1 = arith.mulf %0, %0 fastmath<contract> : f32
      %2 = arith.addf %1, %0 fastmath<contract> : f32
      memref.store %2, %y[%v] : memref<2xf32>
    }
  }
}

// The terms of a sum stay what they are.

// CHECK-LABEL: tir.prim_func @a_sum_is_rounded
// CHECK:         arith.mulf %{{.*}}, %{{.*}} fastmath<contract> : f32
// CHECK:         arith.addf %{{.*}}, %{{.*}} fastmath<{{.*}}reassoc{{.*}}> : f32
// CHECK:         math.floor
tir.prim_func @a_sum_is_rounded(%x: memref<8xf32>, %s: memref<1xf32>, %y: memref<1xf32>) {
  tir.for %k = 0 to 8 {
    tir.block @sum(%vk: reduce 8) = [%k] reads(%x[%vk] : memref<8xf32>) writes(%s[0] : memref<1xf32>) {
      %z = arith.constant 0 : index
      %0 = memref.load %s[%z] : memref<1xf32>
      %1 = memref.load %x[%vk] : memref<8xf32>
      %2 = arith.mulf %1, %1 fastmath<contract> : f32
      %3 = arith.addf %0, %2 fastmath<contract,reassoc> : f32
      memref.store %3, %s[%z] : memref<1xf32>
    } init(%wk) {
      %z = arith.constant 0 : index
      %4 = arith.constant 0.0 : f32
      memref.store %4, %s[%z] : memref<1xf32>
    }
  }
  tir.block @y() = [] reads(%s[0] : memref<1xf32>) writes(%y[0] : memref<1xf32>) {
    %z = arith.constant 0 : index
    %0 = memref.load %s[%z] : memref<1xf32>
    %1 = math.floor %0 : f32
    memref.store %1, %y[%z] : memref<1xf32>
  }
}
