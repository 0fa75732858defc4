"""What several values make together: a tuple, or a value of a data type."""

from abc import ABC, abstractmethod


class ADT(ABC):
    """A tuple, or a value of a data type: it has a length, and fields by number (`tvm.runtime.container.ADT`)."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, index: int) -> object: ...


ADT.register(tuple)
