"""Graphs in TVM's form: the graph executor, its JSON, and parameters in TVM's binary format."""

from .graph_creation import create as create
from .lowering.graph_json import GraphJson as GraphJson
from .lowering.graph_json import GraphJsonError as GraphJsonError
from .runtime.graph_executor import GraphModule as GraphModule
from .runtime.param_dict import ParamError as ParamError
from .runtime.param_dict import load_param_dict as load_param_dict
from .runtime.param_dict import save_param_dict as save_param_dict
