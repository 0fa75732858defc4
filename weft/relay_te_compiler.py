"""What the compilations of this process share, under the name of TVM's engine: `relay.backend.te_compiler`.

relay.backend.te_compiler.get().clear()
"""

from __future__ import annotations

from .dialects.support.arguments import checked


class TECompiler:
    """The kernels that this process has compiled, which later compilations take as they are."""

    @checked
    def clear(self) -> None:
        """Forget them: what is compiled next is compiled again, or taken from the folder where kernels are kept."""
        from .lowering.lowered_kernel import LOWERED
        from .lowering.machine.kernel_cache import IN_MEMORY

        LOWERED.clear()
        IN_MEMORY.clear()


_ONE = TECompiler()


@checked
def get() -> TECompiler:
    """That of this process."""
    return _ONE
