// RUN: weft-opt %s --verify-diagnostics --split-input-file

// What control flow hands over is of the types that are taken there.

func.func @while_count(%c: i1, %a: index) {
  // expected-error @+1 {{'scf.while': scf.condition passes (), but the second region takes (index)}}
  %r = "scf.while"(%a) ({
  ^bb0(%x: index):
    "scf.condition"(%c) : (i1) -> ()
  }, {
  ^bb1(%y: index):
    scf.yield %y : index
  }) : (index) -> index
  func.return
}

// -----

func.func @while_yields_none(%c: i1, %a: index) {
  // expected-error @+1 {{'scf.while': the second region yields (), but the first region takes (index)}}
  %r = "scf.while"(%a) ({
  ^bb0(%x: index):
    "scf.condition"(%c, %x) : (i1, index) -> ()
  }, {
  ^bb1(%y: index):
    scf.yield
  }) : (index) -> index
  func.return
}

// -----

func.func @while_type(%c: i1, %a: index, %f: f32) {
  // expected-error @+1 {{'scf.while': the second region yields (f32), but the first region takes (index)}}
  %r = "scf.while"(%a) ({
  ^bb0(%x: index):
    "scf.condition"(%c, %x) : (i1, index) -> ()
  }, {
  ^bb1(%y: index):
    scf.yield %f : f32
  }) : (index) -> index
  func.return
}

// -----

func.func @while_no_args(%c: i1, %a: index, %f: f32) {
  // expected-error @+1 {{'scf.while': is given (index), but the first region takes ()}}
  %r = "scf.while"(%a) ({
    "scf.condition"(%c, %a) : (i1, index) -> ()
  }, {
  ^bb1(%y: index):
    scf.yield %y : index
  }) : (index) -> index
  func.return
}

// -----

func.func @while_first_ends_in_yield(%c: i1, %a: index, %f: f32) {
  // expected-error @+1 {{'scf.while': a region of it must end with scf.condition}}
  "scf.while"() ({
    scf.yield
  }, {
    scf.yield
  }) : () -> ()
  func.return
}

// -----

func.func @execute_args(%a: index) {
  // expected-error @+1 {{'scf.execute_region': its regions are given (), but one takes (index)}}
  "scf.execute_region"() ({
  ^bb0(%x: index):
    %y = arith.addi %x, %a : index
    scf.yield
  }) : () -> ()
  func.return
}

// -----

func.func @execute_yields(%a: index) -> index {
  // expected-error @+1 {{'scf.execute_region': a region yields (), but the results are (index)}}
  %0 = "scf.execute_region"() ({
    scf.yield
  }) : () -> index
  func.return %0 : index
}

// -----

func.func @execute_type(%a: f32) -> index {
  // expected-error @+1 {{'scf.execute_region': a region yields (f32), but the results are (index)}}
  %0 = "scf.execute_region"() ({
    scf.yield %a : f32
  }) : () -> index
  func.return %0 : index
}

// -----

func.func @if_yields(%c: i1, %a: index) -> index {
  // expected-error @+1 {{'scf.if': a region yields (), but the results are (index)}}
  %0 = "scf.if"(%c) ({
    scf.yield
  }, { scf.yield %a : index
  }) : (i1) -> index
  func.return %0 : index
}

// -----

func.func @if_type(%c: i1, %a: f32) -> index {
  // expected-error @+1 {{'scf.if': a region yields (f32), but the results are (index)}}
  %0 = "scf.if"(%c) ({
    scf.yield %a : f32
  }, { scf.yield %a : f32
  }) : (i1) -> index
  func.return %0 : index
}

// -----

func.func @if_no_else(%c: i1, %a: index) -> index {
  // expected-error @+1 {{'scf.if': has results, but a region that is empty and yields none}}
  %0 = "scf.if"(%c) ({
    scf.yield %a : index
  }, {
  }) : (i1) -> index
  func.return %0 : index
}

// -----

func.func @if_args(%c: i1, %a: index) {
  // expected-error @+1 {{'scf.if': its regions are given (), but one takes (index)}}
  "scf.if"(%c) ({
  ^bb0(%x: index):
    %y = arith.addi %x, %a : index
    scf.yield
  }, {
  }) : (i1) -> ()
  func.return
}

// -----

func.func @br_count(%a: f32) {
  // expected-error @+1 {{'cf.br': hands over (f32), but the block takes ()}}
  "cf.br"(%a)[^bb1] : (f32) -> ()
^bb1:
  func.return
}

// -----

func.func @br_type(%a: f32) {
  // expected-error @+1 {{'cf.br': hands over (f32), but the block takes (index)}}
  "cf.br"(%a)[^bb1] : (f32) -> ()
^bb1(%x: index):
  func.return
}

// -----

func.func @cond_br_type(%c: i1, %a: f32) {
  // expected-error @+1 {{'cf.cond_br': hands over (f32), but the block takes (index)}}
  "cf.cond_br"(%c, %a)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i1, f32) -> ()
^bb1(%x: index):
  func.return
^bb2(%y: index):
  func.return
}

// -----

llvm.func @llvm_br(%a: f32) {
  // expected-error @+1 {{'llvm.br': hands over (f32), but the block takes (i64)}}
  "llvm.br"(%a)[^bb1] : (f32) -> ()
^bb1(%x: i64):
  llvm.return
}

// -----

llvm.func @llvm_cond_br(%c: i1, %a: f32) {
  // expected-error @+1 {{'llvm.cond_br': hands over (f32), but the block takes (i64)}}
  "llvm.cond_br"(%c, %a)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i1, f32) -> ()
^bb1(%x: i64):
  llvm.return
^bb2(%y: i64):
  llvm.return
}

// -----

llvm.func @llvm_return(%a: f32) -> i64 {
  // expected-error @+1 {{'llvm.return': returns (f32), but the function's type says (i64)}}
  llvm.return %a : f32
}

// -----

llvm.func @llvm_return_nothing(%a: f32) -> i64 {
  // expected-error @+1 {{'llvm.return': returns (), but the function's type says (i64)}}
  llvm.return
}

// -----

// expected-error @+1 {{'llvm.func': its type takes (i64), but its body takes (f32)}}
"llvm.func"() <{sym_name = "llvm_func_args", function_type = !llvm.func<void (i64)>, CConv = #llvm.cconv<ccc>, linkage = #llvm.linkage<"external">, visibility_ = 0 : i64}> ({
  ^bb0(%f: f32):
  llvm.return
}) : () -> ()
