"""Schedules of tensor expressions: recorded stage by stage, and translated to primitives on `tir`."""
