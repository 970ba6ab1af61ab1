import numpy as np
from numpy.typing import NDArray

FAMILIES: tuple[str, ...]
KEYS: int

def consistency(
    words: NDArray[np.uint64],
    connectives: NDArray[np.uint8],
    reference: NDArray[np.int32],
    first: NDArray[np.int64],
    positions: NDArray[np.int32],
    labels: NDArray[np.int32],
    kind: NDArray[np.int32],
    begins: NDArray[np.uint8],
    C: int,
    *,
    families: int,
    pairs: bool,
    by_length: bool,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]: ...
