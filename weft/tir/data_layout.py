"""Layouts by letters, where TVM defines them (`tvm.tir.data_layout`)."""

from ..layouts import BijectiveLayout as BijectiveLayout
from ..layouts import Layout as Layout
from ..layouts import bijective_layout as bijective_layout
from ..layouts import layout as layout
