"""Compiled graphs as libraries for C: a header, a little C around the object code, and the linker."""
