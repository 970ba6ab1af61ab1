import numpy as np
from numpy.typing import NDArray

def log_partition(node: NDArray[np.float32], edge: NDArray[np.float32]) -> float: ...
def marginals(
    node: NDArray[np.float32], edge: NDArray[np.float32], pairs: bool = True
) -> tuple[float, NDArray[np.float32], NDArray[np.float32]]: ...
