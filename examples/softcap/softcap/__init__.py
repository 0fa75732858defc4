"""Softcap: an extension of Weft. docs/extending.md of Weft builds it step by step."""
