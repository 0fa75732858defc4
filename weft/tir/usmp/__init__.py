"""The static memory planner (`tvm.tir.usmp`)."""

from . import utils as utils
