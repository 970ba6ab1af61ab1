from numpy import float32, int32
from numpy.typing import NDArray

def two_best(
    node: NDArray[float32], edge: NDArray[float32]
) -> list[tuple[NDArray[int32], float]]: ...
