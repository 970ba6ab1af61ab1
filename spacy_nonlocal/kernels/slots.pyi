from numpy import int32, uint8
from numpy.typing import NDArray

def claim(
    rows: NDArray[int32], wanted: NDArray[uint8], slots: NDArray[int32], used: int
) -> int: ...
def look_up(rows: NDArray[int32], slots: NDArray[int32]) -> NDArray[int32]: ...
def renumber(
    rows: NDArray[int32], numbers: NDArray[int32]
) -> tuple[NDArray[int32], NDArray[int32]]: ...
