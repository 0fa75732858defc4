"""Types (`tvm.ir.type`)."""

from ..dialects.tir.nodes.types import PointerType as PointerType
from ..dialects.tir.nodes.types import PrimType as PrimType
from ..frontend.relay.data import GlobalTypeVar as GlobalTypeVar
from ..frontend.relay.data import TypeKind as TypeKind
from ..frontend.relay.data import TypeVar as TypeVar
from ..frontend.relay.ty import FuncType as FuncType
from ..frontend.relay.ty import IncompleteType as IncompleteType
from ..frontend.relay.ty import TupleType as TupleType
