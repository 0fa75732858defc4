"""What a person sees who looks around in a Python shell."""

import subprocess
import sys
from importlib.metadata import version

import weft
from weft.transforms.infra import PassContext, PassTimingInstrument


def test_completion_offers_what_weft_has() -> None:
    """In an interpreter of its own: what tests have imported would be offered too."""
    code = "import weft, weft.transform, weft.instrument; print(dir(weft), dir(weft.transform), dir(weft.instrument))"
    names = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "'compile'" in names and "'FuseOps'" in names and "'PassTimingInstrument'" in names
    assert "lazy_names" not in names and "import_module" not in names


def test_every_name_that_is_offered_can_be_had() -> None:
    for module in (weft, weft.transform, weft.instrument):
        for name in dir(module):
            assert getattr(module, name) is not None


def test_the_version_is_the_packages() -> None:
    assert weft.__version__ == version("weft")


def test_a_pass_context_shows_what_it_sets() -> None:
    assert repr(PassContext()) == "PassContext(opt_level=2)"
    context = PassContext(3, disabled_pass=["fuse-ops"], instruments=[PassTimingInstrument()])
    assert repr(context) == (
        "PassContext(opt_level=3, disabled_pass=['fuse-ops'], instruments=['PassTimingInstrument'])"
    )
