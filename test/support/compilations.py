"""A small graph to compile, and an instrument that notes what it is told of a compilation."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from weft.transforms.infra import PassInfo, PassInstrument

CHAIN = """
relay.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relay.negative %x : tensor<8xf32>
  %1 = relay.nn.relu %0 : tensor<8xf32>
  relay.return %1 : tensor<8xf32>
}
"""


class Events(PassInstrument):
    """What an instrument is told, by name."""

    def __init__(self) -> None:
        self.log: list[str] = []

    def enter_pass_ctx(self) -> None:
        self.log.append("enter")

    def exit_pass_ctx(self) -> None:
        self.log.append("exit")

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        self.log.append(info.name)

    def times(self, name: str) -> int:
        return self.log.count(name)
