// RUN: weft-opt %s -p storage-rewrite | filecheck %s

// CHECK-LABEL: tir.prim_func @a_buffer_that_is_dead_serves_again
// CHECK-NEXT:    %a = tir.alloc_buffer "global" : memref<8xf32>
// CHECK-NEXT:    %b = tir.alloc_buffer "global" : memref<8xf32>
// CHECK-NEXT:    %d = tir.alloc_buffer "global" : memref<8xf64>
// CHECK-NEXT:    tir.for
// CHECK:           @one{{.*}} reads(%x[%v{{.*}}] : memref<8xf32>) writes(%a[%v{{.*}}] : memref<8xf32>)
// CHECK:           @two{{.*}} reads(%a[{{.*}}] : memref<8xf32>) writes(%b[%v{{.*}}] : memref<8xf32>)
// CHECK:           @three{{.*}} reads(%b[{{.*}}] : memref<8xf32>) writes(%a[%v{{.*}}] : memref<8xf32>)
// CHECK:           @four{{.*}} reads(%a[%v{{.*}}] : memref<8xf32>) writes(%d[%v{{.*}}] : memref<8xf64>)
tir.prim_func @a_buffer_that_is_dead_serves_again(%x: memref<8xf32>, %y: memref<8xf64>) {
  %a = tir.alloc_buffer "global" : memref<8xf32>
  %b = tir.alloc_buffer "global" : memref<8xf32>
  %c = tir.alloc_buffer "global" : memref<8xf32>
  %d = tir.alloc_buffer "global" : memref<8xf64>
  tir.for %i = 0 to 8 {
    tir.block @one(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%a[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %a[%v] : memref<8xf32>
    }
  }
  tir.for %i = 0 to 8 {
    tir.block @two(%v: spatial 8) = [%i] reads(%a[7 - %v] : memref<8xf32>) writes(%b[%v] : memref<8xf32>) {
      %seven = arith.constant 7 : index
      %w = arith.subi %seven, %v : index
      %0 = memref.load %a[%w] : memref<8xf32>
      memref.store %0, %b[%v] : memref<8xf32>
    }
  }
  tir.for %i = 0 to 8 {
    tir.block @three(%v: spatial 8) = [%i] reads(%b[7 - %v] : memref<8xf32>) writes(%c[%v] : memref<8xf32>) {
      %c7 = arith.constant 7 : index
      %w = arith.subi %c7, %v : index
      %0 = memref.load %b[%w] : memref<8xf32>
      memref.store %0, %c[%v] : memref<8xf32>
    }
  }
  tir.for %i = 0 to 8 {
    tir.block @four(%v: spatial 8) = [%i] reads(%c[%v] : memref<8xf32>) writes(%d[%v] : memref<8xf64>) {
      %0 = memref.load %c[%v] : memref<8xf32>
      %1 = arith.extf %0 : f32 to f64
      memref.store %1, %d[%v] : memref<8xf64>
    }
  }
  tir.for %i = 0 to 8 {
    tir.block @five(%v: spatial 8) = [%i] reads(%d[%v] : memref<8xf64>) writes(%y[%v] : memref<8xf64>) {
      %0 = memref.load %d[%v] : memref<8xf64>
      memref.store %0, %y[%v] : memref<8xf64>
    }
  }
}

// CHECK-LABEL: tir.prim_func @what_each_iteration_alone_reads_is_overwritten
// CHECK-NEXT:    %a = tir.alloc_buffer "global" : memref<8xf32>
// CHECK-NEXT:    tir.for
// CHECK:           @one{{.*}} writes(%a[%v{{.*}}] : memref<8xf32>)
// CHECK:           @two{{.*}} reads(%a[%v{{.*}}] : memref<8xf32>) writes(%a[%v{{.*}}] : memref<8xf32>)
// CHECK:           @three{{.*}} reads(%a[%v{{.*}}] : memref<8xf32>) writes(%y[%v{{.*}}] : memref<8xf32>)
tir.prim_func @what_each_iteration_alone_reads_is_overwritten(%x: memref<8xf32>, %y: memref<8xf32>) {
  %a = tir.alloc_buffer "global" : memref<8xf32>
  %b = tir.alloc_buffer "global" : memref<8xf32>
  tir.for %i = 0 to 8 {
    tir.block @one(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%a[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %a[%v] : memref<8xf32>
    }
  }
  tir.for parallel %i = 0 to 8 {
    tir.block @two(%v: spatial 8) = [%i] reads(%a[%v] : memref<8xf32>) writes(%b[%v] : memref<8xf32>) {
      %0 = memref.load %a[%v] : memref<8xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %b[%v] : memref<8xf32>
    }
  }
  tir.for %i = 0 to 8 {
    tir.block @three(%v: spatial 8) = [%i] reads(%b[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %b[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}

// CHECK-LABEL: tir.prim_func @memory_of_the_same_dimensions_is_shared
// CHECK-NEXT:    %a = tir.alloc_buffer "global" {axis_separators = [1 : i64]} : memref<8x2xf32>
// CHECK-NEXT:    tir.for
tir.prim_func @memory_of_the_same_dimensions_is_shared(%x: memref<8x2xf32>, %y: memref<8x2xf32>) {
  %a = tir.alloc_buffer "global" {axis_separators = [1]} : memref<8x2xf32>
  %b = tir.alloc_buffer "global" {axis_separators = [1]} : memref<8x2xf32>
  tir.for %i = 0 to 8 {
    tir.for %j = 0 to 2 {
      tir.block @one(%v: spatial 8, %w: spatial 2) = [%i, %j] reads(%x[%v, %w] : memref<8x2xf32>) writes(%a[%v, %w] : memref<8x2xf32>) {
        %0 = memref.load %x[%v, %w] : memref<8x2xf32>
        memref.store %0, %a[%v, %w] : memref<8x2xf32>
      }
    }
  }
  tir.for %i = 0 to 8 {
    tir.for %j = 0 to 2 {
      tir.block @two(%v: spatial 8, %w: spatial 2) = [%i, %j] reads(%a[%v, %w] : memref<8x2xf32>) writes(%b[%v, %w] : memref<8x2xf32>) {
        %0 = memref.load %a[%v, %w] : memref<8x2xf32>
        %1 = arith.addf %0, %0 : f32
        memref.store %1, %b[%v, %w] : memref<8x2xf32>
      }
    }
  }
  tir.for %i = 0 to 8 {
    tir.for %j = 0 to 2 {
      tir.block @three(%v: spatial 8, %w: spatial 2) = [%i, %j] reads(%b[%v, %w] : memref<8x2xf32>) writes(%y[%v, %w] : memref<8x2xf32>) {
        %0 = memref.load %b[%v, %w] : memref<8x2xf32>
        memref.store %0, %y[%v, %w] : memref<8x2xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @memory_of_other_dimensions_is_not_shared
// CHECK-NEXT:    %a = tir.alloc_buffer "global" {axis_separators = [1 : i64]} : memref<8x2xf32>
// CHECK-NEXT:    %b = tir.alloc_buffer "global" {axis_separators = []} : memref<8x2xf32>
// CHECK-NEXT:    tir.for
tir.prim_func @memory_of_other_dimensions_is_not_shared(%x: memref<8x2xf32>, %y: memref<8x2xf32>) {
  %a = tir.alloc_buffer "global" {axis_separators = [1]} : memref<8x2xf32>
  %b = tir.alloc_buffer "global" {axis_separators = []} : memref<8x2xf32>
  tir.for %i = 0 to 8 {
    tir.for %j = 0 to 2 {
      tir.block @one(%v: spatial 8, %w: spatial 2) = [%i, %j] reads(%x[%v, %w] : memref<8x2xf32>) writes(%a[%v, %w] : memref<8x2xf32>) {
        %0 = memref.load %x[%v, %w] : memref<8x2xf32>
        memref.store %0, %a[%v, %w] : memref<8x2xf32>
      }
    }
  }
  tir.for %i = 0 to 8 {
    tir.for %j = 0 to 2 {
      tir.block @two(%v: spatial 8, %w: spatial 2) = [%i, %j] reads(%a[%v, %w] : memref<8x2xf32>) writes(%b[%v, %w] : memref<8x2xf32>) {
        %0 = memref.load %a[%v, %w] : memref<8x2xf32>
        %1 = arith.addf %0, %0 : f32
        memref.store %1, %b[%v, %w] : memref<8x2xf32>
      }
    }
  }
  tir.for %i = 0 to 8 {
    tir.for %j = 0 to 2 {
      tir.block @three(%v: spatial 8, %w: spatial 2) = [%i, %j] reads(%b[%v, %w] : memref<8x2xf32>) writes(%y[%v, %w] : memref<8x2xf32>) {
        %0 = memref.load %b[%v, %w] : memref<8x2xf32>
        memref.store %0, %y[%v, %w] : memref<8x2xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @what_an_iteration_allocates_is_shared_and_allocated_once
// CHECK-NEXT:    %a = tir.alloc_buffer "global.here" : memref<8xf32>
// CHECK-NEXT:    tir.for %i = 0 to 4 {
// CHECK-NEXT:      tir.for %j
// CHECK:             @one{{.*}} writes(%a[%v
// CHECK:             @two{{.*}} reads(%a[
// CHECK-NOT:       tir.alloc_buffer
// CHECK:             @three{{.*}} writes(%a[%v
// CHECK:             @four{{.*}} reads(%a[
tir.prim_func @what_an_iteration_allocates_is_shared_and_allocated_once(%x: memref<4x8xf32>, %y: memref<4x8xf32>, %z: memref<4x8xf32>) {
  tir.for %i = 0 to 4 {
    %a = tir.alloc_buffer "global.here" : memref<8xf32>
    tir.for %j = 0 to 8 {
      tir.block @one(%vi: opaque 4, %vj: opaque 8) = [%i, %j] reads(%x[%vi, %vj] : memref<4x8xf32>) writes(%a[%vj] : memref<8xf32>) {
        %0 = memref.load %x[%vi, %vj] : memref<4x8xf32>
        memref.store %0, %a[%vj] : memref<8xf32>
      }
    }
    tir.for %j = 0 to 8 {
      tir.block @two(%vi: opaque 4, %vj: opaque 8) = [%i, %j] reads(%a[7 - %vj] : memref<8xf32>) writes(%y[%vi, %vj] : memref<4x8xf32>) {
        %seven = arith.constant 7 : index
        %w = arith.subi %seven, %vj : index
        %0 = memref.load %a[%w] : memref<8xf32>
        memref.store %0, %y[%vi, %vj] : memref<4x8xf32>
      }
    }
    %b = tir.alloc_buffer "global.here" : memref<8xf32>
    tir.for %j = 0 to 8 {
      tir.block @three(%vi: opaque 4, %vj: opaque 8) = [%i, %j] reads(%x[%vi, %vj] : memref<4x8xf32>) writes(%b[%vj] : memref<8xf32>) {
        %0 = memref.load %x[%vi, %vj] : memref<4x8xf32>
        memref.store %0, %b[%vj] : memref<8xf32>
      }
    }
    tir.for %j = 0 to 8 {
      tir.block @four(%vi: opaque 4, %vj: opaque 8) = [%i, %j] reads(%b[7 - %vj] : memref<8xf32>) writes(%z[%vi, %vj] : memref<4x8xf32>) {
        %seven = arith.constant 7 : index
        %w = arith.subi %seven, %vj : index
        %0 = memref.load %b[%w] : memref<8xf32>
        memref.store %0, %z[%vi, %vj] : memref<4x8xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @what_an_iteration_may_leave_to_the_next_is_not_written_over
// CHECK-NEXT:    %a = tir.alloc_buffer
// CHECK-NEXT:    %b = tir.alloc_buffer
// CHECK-NEXT:    tir.for %i = 0 to 4 {
tir.prim_func @what_an_iteration_may_leave_to_the_next_is_not_written_over(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>) {
  tir.for %i = 0 to 4 {
    %a = tir.alloc_buffer "global" : memref<1xf32>
    tir.block @one(%v: opaque 4) = [%i] reads(%x[%v] : memref<4xf32>) writes(%a[0] : memref<1xf32>) {
      %zero = arith.constant 0 : index
      %first = arith.cmpi eq, %v, %zero : index
      scf.if %first {
        %0 = memref.load %x[%v] : memref<4xf32>
        memref.store %0, %a[%zero] : memref<1xf32>
      }
    }
    tir.block @two(%v: opaque 4) = [%i] reads(%a[0] : memref<1xf32>) writes(%y[%v] : memref<4xf32>) {
      %zero = arith.constant 0 : index
      %0 = memref.load %a[%zero] : memref<1xf32>
      memref.store %0, %y[%v] : memref<4xf32>
    }
    %b = tir.alloc_buffer "global" : memref<1xf32>
    tir.block @three(%v: opaque 4) = [%i] reads(%x[%v] : memref<4xf32>) writes(%b[0] : memref<1xf32>) {
      %zero = arith.constant 0 : index
      %0 = memref.load %x[%v] : memref<4xf32>
      memref.store %0, %b[%zero] : memref<1xf32>
    }
    tir.block @four(%v: opaque 4) = [%i] reads(%b[0] : memref<1xf32>) writes(%z[%v] : memref<4xf32>) {
      %zero = arith.constant 0 : index
      %0 = memref.load %b[%zero] : memref<1xf32>
      memref.store %0, %z[%v] : memref<4xf32>
    }
  }
}
