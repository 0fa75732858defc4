"""Write the models of bench/README.md: real sizes, random weights from a seed.

    python bench/make_models.py OUT_DIR [NAME ...]      # all of them without a name

Convolutional networks come from the `onnx` package, transformers and MobileNet v2 are built; nothing is downloaded.
"""

from __future__ import annotations

import sys
from pathlib import Path

from weft.testing.models import make_model, model_names


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    directory, names = Path(sys.argv[1]), sys.argv[2:] or model_names()
    if unknown := [name for name in names if name not in model_names()]:
        print(f"unknown: {', '.join(unknown)}; models: {', '.join(model_names())}", file=sys.stderr)
        return 2
    directory.mkdir(parents=True, exist_ok=True)
    for name in names:
        path = directory / f"{name}.onnx"
        path.write_bytes(make_model(name).SerializeToString())
        print(f"{path}  {path.stat().st_size >> 20} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
