"""What a tool loads for a small module: what the module needs."""

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "perceptron.mlir"

CODE = """
import sys
from xdsl.irdl.declarative_assembly_format import FormatProgram
read = []
from_str = FormatProgram.from_str
def noted(text, definition):
    read.append(definition.name)
    return from_str(text, definition)
FormatProgram.from_str = noted
from weft.tools.weft_opt import main
code = main([sys.argv[1]])
print(code, *sorted(name for name in read if name.startswith("relay.")), file=sys.stderr)
print(*(name for name in ("numpy", "onnx", "llvmlite", "ml_dtypes") if name in sys.modules), file=sys.stderr)
"""


def test_weft_opt_reads_no_weights_and_only_the_formats_that_a_module_uses() -> None:
    run = subprocess.run([sys.executable, "-c", CODE, EXAMPLE], capture_output=True, text=True, check=True)
    formats, imported = run.stderr.splitlines()
    used = {line.split("relay.")[1].split()[0] for line in EXAMPLE.read_text().splitlines() if " = relay." in line}
    assert formats.split()[0] == "0" and imported == ""
    early = {name.removeprefix("relay.") for name in formats.split()[1:]} - used - {"return"}
    assert not early, f"{early}: define them with `irdl_op_definition` of `dialects/support/operations.py`"
    assert len(formats.split()) > 3
