// RUN: not weft-import %inputs/unsupported.onnxtxt 2>&1 | filecheck %s --check-prefix=OPERATORS
// RUN: not weft-import %inputs/perceptron.onnxtxt --shape xx=3x4 2>&1 | filecheck %s --check-prefix=NAME
// RUN: not weft-import %inputs/perceptron.onnxtxt --shape x=3x5 2>&1 | filecheck %s --check-prefix=SHAPE
// RUN: not weft-import %inputs/perceptron.onnxtxt --shape x=threexfour 2>&1 | filecheck %s --check-prefix=TEXT
// RUN: not weft-import %s 2>&1 | filecheck %s --check-prefix=FILE
// RUN: not weft-import nowhere.onnx 2>&1 | filecheck %s --check-prefix=MISSING
// RUN: not weft-import 2>&1 | filecheck %s --check-prefix=NOTHING

// OPERATORS:      unsupported.onnxtxt: error: cannot import 2 operators (2 nodes)
// OPERATORS-NEXT: note: StringNormalizer, 1 node ('first'): there is no counterpart in relay
// OPERATORS-NEXT: note: Unique2, 1 node ('second'): ONNX has no such operator; did you mean 'Unique'?

// NAME:      perceptron.onnxtxt: error: the model has no input 'xx'
// NAME-NEXT: hint: did you mean 'x'?

// SHAPE: error: shape 3x5 does not fit input 'x' of shape Nx4

// TEXT:      error: 'x=threexfour' is not a shape
// TEXT-NEXT: hint: write it like `--shape x=1x3x224x224`

// FILE: import_errors.mlir: error: this is not an ONNX model

// MISSING: nowhere.onnx: error: no such file or directory

// NOTHING:      error: a model is needed
// NOTHING-NEXT: hint: weft-import MODEL.onnx -o MODEL.mlir
