import numpy as np
from numpy.typing import NDArray

def span_probabilities(
    node: NDArray[np.float32],
    edge: NDArray[np.float32],
    path: NDArray[np.int32],
    spans: NDArray[np.int32],
) -> NDArray[np.float64]: ...
