"""What is no dialect and all of them stand on: diagnostics, element types, the parser, the verifier, knobs."""
