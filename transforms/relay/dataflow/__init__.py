"""Relay's data-flow patterns: TVM's `DFPattern` language."""
