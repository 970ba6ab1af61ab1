from collections.abc import Sequence
from typing import Any

from numpy import int32, uint64
from numpy.typing import NDArray

class Templates:
    length: int
    n_lexical: int
    n_token: int
    def __init__(
        self,
        seeds: Sequence[int],
        terms: Sequence[Sequence[tuple[int, int, int, int]]],
        n_lexical: int,
        n_token: int,
    ) -> None: ...
    def __len__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def keys(
        self, ids: NDArray[int32], lexical: NDArray[uint64], tokens: NDArray[uint64]
    ) -> NDArray[uint64]: ...
