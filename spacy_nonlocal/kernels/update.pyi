from numpy import float32, float64, int32
from numpy.typing import NDArray

def move_nodes(
    rows: NDArray[int32],
    gold: NDArray[int32],
    guess: NDArray[int32],
    step: float,
    w: NDArray[float32],
    u: NDArray[float64],
    clock: float,
    n_labels: int,
) -> None: ...
def move_edges(
    rows: NDArray[int32],
    gold: NDArray[int32],
    guess: NDArray[int32],
    step: float,
    w: NDArray[float32],
    u: NDArray[float64],
    clock: float,
    n_labels: int,
    width: int,
) -> None: ...
def squared_distance(
    rows: NDArray[int32],
    gold: NDArray[int32],
    guess: NDArray[int32],
    count: NDArray[float32],
    n_labels: int,
    width: int,
) -> float: ...
def gather(numbers: NDArray[int32], beliefs: NDArray[float32], out: NDArray[float32]) -> None: ...
def add_rows(
    places: NDArray[int32],
    change: NDArray[float32],
    step: float,
    w: NDArray[float32],
    u: NDArray[float64],
    clock: float,
    rates: NDArray[float32],
) -> None: ...
def clip_rows(
    places: NDArray[int32], w: NDArray[float32], applied: NDArray[float32], total: float
) -> None: ...
