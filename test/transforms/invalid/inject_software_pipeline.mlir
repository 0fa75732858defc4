// RUN: weft-opt %s -p inject-software-pipeline --split-input-file --verify-diagnostics

tir.prim_func @a_read_before_its_write_is_refused(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 annotations {software_pipeline_stage = [1, 0], software_pipeline_order = [0, 1]} {
    %b = tir.alloc_buffer "global" : memref<1xf32>
    tir.block @copy(%v: opaque 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%b[0] : memref<1xf32>) {
      %c = arith.constant 0 : index
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %b[%c] : memref<1xf32>
    }
    // expected-error@+1 {{block @out uses %b after block @copy, and would run before it: at stage 0, place 1, and that one at stage 1, place 0}}
    tir.block @out(%v: opaque 8) = [%i] reads(%b[0] : memref<1xf32>) writes(%y[%v] : memref<8xf32>) {
      %c = arith.constant 0 : index
      %0 = memref.load %b[%c] : memref<1xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}

// -----

tir.prim_func @blocks_of_versions_speak_of_loops(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 4 annotations {software_pipeline_stage = [0, 1], software_pipeline_order = [0, 1]} {
    %b = tir.alloc_buffer "global" : memref<2xf32>
    tir.for %j = 0 to 2 {
      // expected-error@+1 {{block @copy has iterators of its own, and touches %b, of which the pipeline needs several versions}}
      tir.block @copy(%v: spatial 8, %w: opaque 2) = [%i * 2 + %j, %j] reads(%x[%v] : memref<8xf32>) writes(%b[%w] : memref<2xf32>) {
        %0 = memref.load %x[%v] : memref<8xf32>
        memref.store %0, %b[%w] : memref<2xf32>
      }
    }
    tir.for %j = 0 to 2 {
      tir.block @out(%v: spatial 8, %w: opaque 2) = [%i * 2 + %j, %j] reads(%b[%w] : memref<2xf32>) writes(%y[%v] : memref<8xf32>) {
        %0 = memref.load %b[%w] : memref<2xf32>
        memref.store %0, %y[%v] : memref<8xf32>
      }
    }
  }
}
