"""Dialects of xDSL's with what they lack."""
