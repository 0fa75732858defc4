"""Write the models of bench/README.md: real sizes, random weights from a seed.

    python bench/make_models.py OUT_DIR [NAME ...]      # all of them without a name

Some networks come from the `onnx` package, all others are built (`weft/testing/models.py`, `networks.py`,
`further_networks.py`); nothing is downloaded.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from weft.testing.further_networks import FURTHER_NETWORKS
from weft.testing.models import make_model, model_names
from weft.testing.networks import NETWORKS


def main() -> int:
    networks = NETWORKS | FURTHER_NETWORKS
    known = [*model_names(), *networks]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, metavar="OUT_DIR", help="where to; it is made if it is not there")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}")
    arguments = parser.parse_args()
    directory, names = arguments.directory, arguments.names or known
    if unknown := [name for name in names if name not in known]:
        parser.error(f"unknown: {', '.join(unknown)}; models: {', '.join(known)}")
    directory.mkdir(parents=True, exist_ok=True)
    for name in names:
        path = directory / f"{name}.onnx"
        model = networks[name]() if name in networks else make_model(name)
        path.write_bytes(model.SerializeToString())
        print(f"{path}  {path.stat().st_size >> 20} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
