"""TVMScript: `tir` functions as Python text in TVM's syntax, read (`parser`) and written (`printer`).

The Python is never run: it is parsed with the standard library's `ast`. `words` says which scalar operation each
spelling stands for, for both directions; what is printed parses back to the same function (`equality`).
"""
