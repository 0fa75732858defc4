"""exp, tanh, erf and their like as polynomials over vectors."""
