// RUN: weft-opt %s -p 'reduce-branching-through-overcompute{use-dataflow-analysis=true}' | filecheck %s
// RUN: weft-opt %s -p reduce-branching-through-overcompute | filecheck %s --check-prefix ALONE

// CHECK-LABEL: tir.prim_func @sides_that_do_the_same_are_one
// CHECK-NOT:     scf.if
// ALONE-LABEL: tir.prim_func @sides_that_do_the_same_are_one
// ALONE-NOT:     scf.if
tir.prim_func @sides_that_do_the_same_are_one(%x: memref<16xi32>) {
  tir.for %i = 0 to 16 {
    tir.block @b(%v: spatial 16) = [%i] reads() writes(%x[%v] : memref<16xi32>) {
      %n = arith.constant 14 : index
      %c = arith.cmpi slt, %v, %n : index
      scf.if %c {
        %one = arith.constant 1 : i32
        memref.store %one, %x[%v] : memref<16xi32>
      } else {
        %one = arith.constant 1 : i32
        memref.store %one, %x[%v] : memref<16xi32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @what_is_written_again_may_be_written
// CHECK:         tir.block @first
// CHECK-NOT:     scf.if
// CHECK:         tir.block @second
// CHECK:           scf.if
// ALONE-LABEL: tir.prim_func @what_is_written_again_may_be_written
// ALONE:         tir.block @first
// ALONE:           scf.if
// ALONE:         tir.block @second
tir.prim_func @what_is_written_again_may_be_written(%x: memref<16xi32>) {
  tir.for %i = 0 to 16 {
    tir.block @first(%v: spatial 16) = [%i] reads() writes(%x[%v] : memref<16xi32>) {
      %n = arith.constant 14 : index
      %c = arith.cmpi slt, %v, %n : index
      scf.if %c {
        %one = arith.constant 1 : i32
        memref.store %one, %x[%v] : memref<16xi32>
      }
    }
  }
  tir.for %i = 0 to 16 {
    tir.block @second(%v: spatial 16) = [%i] reads() writes(%x[%v] : memref<16xi32>) {
      %n = arith.constant 14 : index
      %c = arith.cmpi sge, %v, %n : index
      scf.if %c {
        %two = arith.constant 2 : i32
        memref.store %two, %x[%v] : memref<16xi32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @nothing_may_be_added_to_what_is_there
// CHECK-NOT:     scf.if
tir.prim_func @nothing_may_be_added_to_what_is_there(%x: memref<1xi32>) {
  tir.for %i = 0 to 16 {
    tir.block @b(%v: opaque 16) = [%i] reads(%x[0] : memref<1xi32>) writes(%x[0] : memref<1xi32>) {
      %z = arith.constant 0 : index
      %c = arith.cmpi sgt, %v, %z : index
      scf.if %c {
        %0 = memref.load %x[%z] : memref<1xi32>
        %1 = arith.muli %v, %v : index
        %2 = arith.index_cast %1 : index to i32
        %3 = arith.addi %0, %2 : i32
        memref.store %3, %x[%z] : memref<1xi32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @what_is_added_and_not_0_stays_in_its_branch
// CHECK:         scf.if
tir.prim_func @what_is_added_and_not_0_stays_in_its_branch(%x: memref<1xi32>) {
  tir.for %i = 0 to 16 {
    tir.block @b(%v: opaque 16) = [%i] reads(%x[0] : memref<1xi32>) writes(%x[0] : memref<1xi32>) {
      %z = arith.constant 0 : index
      %o = arith.constant 1 : index
      %c = arith.cmpi sgt, %v, %o : index
      scf.if %c {
        %0 = memref.load %x[%z] : memref<1xi32>
        %2 = arith.index_cast %v : index to i32
        %3 = arith.addi %0, %2 : i32
        memref.store %3, %x[%z] : memref<1xi32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @a_division_that_the_branch_guards_stays
// CHECK:         scf.if
tir.prim_func @a_division_that_the_branch_guards_stays(%x: memref<16xi32>, %y: memref<16xi32>) {
  tir.for %i = 0 to 16 {
    tir.block @b(%v: spatial 16) = [%i] reads(%x[%v] : memref<16xi32>) writes(%y[%v] : memref<16xi32>) {
      %z = arith.constant 0 : i32
      %n = arith.constant 8 : i32
      %0 = memref.load %x[%v] : memref<16xi32>
      %c = arith.cmpi ne, %0, %z : i32
      scf.if %c {
        %1 = arith.divsi %n, %0 : i32
        memref.store %1, %y[%v] : memref<16xi32>
      }
    }
  }
  tir.for %i = 0 to 16 {
    tir.block @again(%v: spatial 16) = [%i] reads() writes(%y[%v] : memref<16xi32>) {
      %one = arith.constant 1 : i32
      memref.store %one, %y[%v] : memref<16xi32>
    }
  }
}

// CHECK-LABEL: tir.prim_func @what_is_read_in_between_stays_in_its_branch
// CHECK:         tir.block @first
// CHECK:           scf.if
tir.prim_func @what_is_read_in_between_stays_in_its_branch(%x: memref<16xi32>, %y: memref<16xi32>) {
  tir.for %i = 0 to 16 {
    tir.block @first(%v: spatial 16) = [%i] reads() writes(%x[%v] : memref<16xi32>) {
      %n = arith.constant 14 : index
      %c = arith.cmpi slt, %v, %n : index
      scf.if %c {
        %one = arith.constant 1 : i32
        memref.store %one, %x[%v] : memref<16xi32>
      }
    }
  }
  tir.for %i = 0 to 16 {
    tir.block @read(%v: spatial 16) = [%i] reads(%x[%v] : memref<16xi32>) writes(%y[%v] : memref<16xi32>) {
      %0 = memref.load %x[%v] : memref<16xi32>
      memref.store %0, %y[%v] : memref<16xi32>
    }
  }
  tir.for %i = 0 to 16 {
    tir.block @second(%v: spatial 16) = [%i] reads() writes(%x[%v] : memref<16xi32>) {
      %two = arith.constant 2 : i32
      memref.store %two, %x[%v] : memref<16xi32>
    }
  }
}

// CHECK-LABEL: tir.prim_func @iterations_that_run_at_once_do_no_more
// CHECK:         scf.if
tir.prim_func @iterations_that_run_at_once_do_no_more(%x: memref<16xi32>) {
  tir.for parallel %i = 0 to 16 {
    tir.block @b(%v: spatial 16) = [%i] reads(%x[%v] : memref<16xi32>) writes(%x[%v] : memref<16xi32>) {
      %n = arith.constant 14 : index
      %c = arith.cmpi slt, %v, %n : index
      scf.if %c {
        %0 = memref.load %x[%v] : memref<16xi32>
        memref.store %0, %x[%v] : memref<16xi32>
      }
    }
  }
}
