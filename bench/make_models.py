"""Write the models of bench/README.md: real sizes, random weights from a seed.

    python bench/make_models.py OUT_DIR [NAME ...]      # all of them without a name

Some networks come from the `onnx` package, all others are built (`weft/testing/models.py`, `networks.py`,
`further_networks.py`); nothing is downloaded.
"""

from __future__ import annotations

import sys
from pathlib import Path

from weft.testing.further_networks import FURTHER_NETWORKS
from weft.testing.models import make_model, model_names
from weft.testing.networks import NETWORKS


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    networks = NETWORKS | FURTHER_NETWORKS
    known = [*model_names(), *networks]
    directory, names = Path(sys.argv[1]), sys.argv[2:] or known
    if unknown := [name for name in names if name not in known]:
        print(f"unknown: {', '.join(unknown)}; models: {', '.join(known)}", file=sys.stderr)
        return 2
    directory.mkdir(parents=True, exist_ok=True)
    for name in names:
        path = directory / f"{name}.onnx"
        model = networks[name]() if name in networks else make_model(name)
        path.write_bytes(model.SerializeToString())
        print(f"{path}  {path.stat().st_size >> 20} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
