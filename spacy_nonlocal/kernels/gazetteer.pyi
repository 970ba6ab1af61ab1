from collections.abc import Iterable

from numpy import uint8, uint64
from numpy.typing import NDArray

from .table import KeyTable

def build_table(entries: Iterable[str], lower: bool) -> tuple[KeyTable, NDArray[uint8]]: ...
def word_values(text: str, lower: bool) -> tuple[int, int]: ...
def longest_matches(
    hashes: NDArray[uint64],
    powers: NDArray[uint64],
    table: KeyTable,
    is_entry: NDArray[uint8],
) -> NDArray[uint64]: ...
