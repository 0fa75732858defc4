// RUN: weft-opt %s -p insert-loop-checks | filecheck %s

// The index that is data is checked, the one that is not shown to be wrong or right too; what is proved is left alone.
// Records stand behind the 256 bytes of counters, and the pool moves by one.
// CHECK-LABEL: func.func @main(%in0: memref<8xf32>, %in1: memref<3xi64>, %out: memref<3xf32>, %arena: memref<384xi8>, %num_threads: index)
// CHECK:         weft.counter_bytes = 320 : i64
// CHECK:         index {index} lies outside of dimension 0 of %x, whose extent is {extent}
// CHECK:         weft.records = 256 : i64
// CHECK:         %[[SHIFT:.*]] = arith.constant 320 : index
// CHECK-NEXT:    %pool = memref.view %arena[%[[SHIFT]]][] : memref<384xi8> to memref<8xf32>
// CHECK:         %record = rt.record %arena[256] : memref<384xi8> to !rt.record
// CHECK-NEXT:    func.call @gather(%pool, %in1, %out, %record, %slots_1, %num_threads)
// CHECK-LABEL: func.func private @gather.nest_0(%x: memref<8xf32>, %at: memref<3xi64>, %out: memref<3xf32>, %record: !rt.record) {
// CHECK:         %[[DATA:.*]] = memref.load %at[%i] : memref<3xi64>
// CHECK-NEXT:    %[[INDEX:.*]] = arith.index_cast %[[DATA]] : i64 to index
// CHECK-NEXT:    %[[CHECKED:.*]] = rt.check %[[INDEX]] of %[[INDEX]] in 8 else %record[0]
// CHECK-NEXT:    %{{.*}} = memref.load %x[%[[CHECKED]]] : memref<8xf32>
// CHECK-NEXT:    memref.store %{{.*}}, %out[%i] : memref<3xf32>
// CHECK-LABEL: func.func @gather(%x: memref<8xf32>, %at: memref<3xi64>, %out: memref<3xf32>, %record: !rt.record, %slots: !rt.slots<1>, %num_threads: index)
// CHECK:         func.call @gather.nest_0(%x, %at, %out, %record)
func.func @main(%in0: memref<8xf32>, %in1: memref<3xi64>, %out: memref<3xf32>, %arena: memref<320xi8>, %num_threads: index)
    attributes {weft.inputs = [{name = "x", type = tensor<8xf32>}, {name = "at", type = tensor<3xi64>}],
    weft.outputs = [{name = "out", type = tensor<3xf32>}], weft.counter_bytes = 256 : i64} {
  %0 = arith.constant 256 : index
  %pool = memref.view %arena[%0][] : memref<320xi8> to memref<8xf32>
  %slots = rt.slots %arena[0] : memref<320xi8> to !rt.slots<1>
  func.call @copy(%in0, %pool, %slots, %num_threads) : (memref<8xf32>, memref<8xf32>, !rt.slots<1>, index) -> ()
  %slots_1 = rt.slots %arena[128] : memref<320xi8> to !rt.slots<1>
  func.call @gather(%pool, %in1, %out, %slots_1, %num_threads) : (memref<8xf32>, memref<3xi64>, memref<3xf32>, !rt.slots<1>, index) -> ()
  func.return
}
func.func private @gather.nest_0(%x: memref<8xf32>, %at: memref<3xi64>, %out: memref<3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %0 = memref.load %at[%i] : memref<3xi64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = memref.load %x[%1] : memref<8xf32>
    memref.store %2, %out[%i] : memref<3xf32>
  }
  func.return
}
func.func @gather(%x: memref<8xf32>, %at: memref<3xi64>, %out: memref<3xf32>, %slots: !rt.slots<1>, %num_threads: index) {
  rt.share %slots[0] {
    func.call @gather.nest_0(%x, %at, %out) : (memref<8xf32>, memref<3xi64>, memref<3xf32>) -> ()
  } : !rt.slots<1>
  func.return
}
// CHECK-LABEL: func.func private @copy.nest_0(%x: memref<8xf32>, %y: memref<8xf32>)
// CHECK-NOT:     rt.check
func.func private @copy.nest_0(%x: memref<8xf32>, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %0 = memref.load %x[%i] : memref<8xf32>
    memref.store %0, %y[%i] : memref<8xf32>
  }
  func.return
}
func.func @copy(%x: memref<8xf32>, %y: memref<8xf32>, %slots: !rt.slots<1>, %num_threads: index) {
  rt.share %slots[0] {
    func.call @copy.nest_0(%x, %y) : (memref<8xf32>, memref<8xf32>) -> ()
  } : !rt.slots<1>
  func.return
}
