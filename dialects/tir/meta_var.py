"""`T.meta_var`: what Python computes with, in TVMScript and its builder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast


class meta_var:
    """`T.meta_var(x)`: what Python computes with, as it is; each of several, where they are taken apart."""

    def __init__(self, value: object):
        self.value = value

    def __iter__(self) -> Iterator[meta_var]:
        return iter([meta_var(each) for each in cast("Sequence[object]", self.value)])
