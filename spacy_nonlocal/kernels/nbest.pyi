import numpy as np
from numpy.typing import NDArray

def n_best_changes(
    node: NDArray[np.float32], edge: NDArray[np.float32], n: int
) -> tuple[
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.float64],
]: ...
def n_best(
    node: NDArray[np.float32], edge: NDArray[np.float32], n: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]: ...
