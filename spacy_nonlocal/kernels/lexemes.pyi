from numpy import float32, int32, uint64
from numpy.typing import NDArray

from .keys import Templates
from .table import KeyTable

def fill_words(
    templates: Templates,
    groups: NDArray[int32],
    offsets: NDArray[int32],
    table: KeyTable,
    weights: NDArray[float32],
    lexical: NDArray[uint64],
    words: NDArray[int32],
    out: NDArray[float32],
) -> None: ...
def fill_outside(
    templates: Templates,
    groups: NDArray[int32],
    offsets: NDArray[int32],
    table: KeyTable,
    weights: NDArray[float32],
    out: NDArray[float32],
) -> None: ...
def score_words(
    ids: NDArray[int32],
    offsets: NDArray[int32],
    scores: NDArray[float32],
    outside: NDArray[float32],
    base: NDArray[float32],
    out: NDArray[float32],
) -> None: ...
