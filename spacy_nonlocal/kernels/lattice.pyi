from numpy import float32, int32
from numpy.typing import NDArray

def padded(n_labels: int) -> int: ...
def check_rows(rows: NDArray[int32], n_weights: int) -> None: ...
def score_rows(
    rows: NDArray[int32],
    groups: NDArray[int32],
    weights: NDArray[float32],
    base: NDArray[float32],
    out: NDArray[float32],
    slots: NDArray[int32] | None = None,
) -> None: ...
