"""Relay's own text, read by TVM's names: `tvm.parser`, and `relay.parser`.

module = weft.parser.fromtext('#[version = "0.0.5"] def @main(%x: Tensor[(2), float32]) { add(%x, 1f) }')
"""

from .frontend.relay.text import fromtext as fromtext
from .frontend.relay.text import parse as parse
from .frontend.relay.text import parse_expr as parse_expr
