"""What two things have in common, and their text as JSON (`tvm.ir.base`)."""

from ..dialects.tir.nodes.mismatch import get_first_structural_mismatch as get_first_structural_mismatch
from ..frontend.relay.base import SourceName as SourceName
from ..frontend.relay.base import Span as Span
from ..ir_json import load_json as load_json
from ..ir_json import save_json as save_json
from ..structural import assert_structural_equal as assert_structural_equal
from ..structural import structural_equal as structural_equal
from ..structural import structural_hash as structural_hash
