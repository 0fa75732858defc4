# pyright: basic
# ruff: noqa: F821
import os

from weft.testing import bless
from weft.testing.lit_format import InProcessShTest

config.name, config.suffixes, config.test_format = "softcap", [".mlir"], InProcessShTest()
config.test_source_root = os.path.dirname(__file__)
lit_config.test_updaters.append(bless.update)
