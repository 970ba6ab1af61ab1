"""What the tests of the kernels share: random data, and slow, obvious versions of each kernel."""

from __future__ import annotations

import pickle
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

# Without randomness every run sees the same examples: what fails, fails again.
quick = settings(deadline=None, derandomize=True, max_examples=250)

INF = np.inf
U64 = 2**64

# A feature value or seed. Small numbers make equal values, and so ties and repeats, likely.
keys = st.integers(0, 3) | st.integers(0, U64 - 1)
seeds = st.integers(1, U64 - 1)


def ints(values: Any) -> np.ndarray:
    return np.array(values, dtype=np.int32)


def uints(values: Any) -> np.ndarray:
    return np.array(values, dtype=np.uint64)


def floats(values: Any) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def pickled(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))  # noqa: S301


def bits(array: np.ndarray) -> np.ndarray:
    """The floats as what they are in memory: equal only if every bit is."""
    return np.ascontiguousarray(array, dtype=np.float32).view(np.uint32)


def eighths(shape: Any, limit: int = 64) -> st.SearchStrategy[np.ndarray]:
    """Float32 arrays of multiples of 1/8: sums of a few are exact, so that ties are ties."""
    whole = hnp.arrays(np.int16, shape, elements=st.integers(-limit, limit))
    return whole.map(lambda array: (array / 8).astype(np.float32))


# --- Lattices ----------------------------------------------------------------------------------


@st.composite
def lattices(
    draw: st.DrawFn, *, masks: bool = False, exact: bool = True, least: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Node scores [T, width] and edge scores [1 or T, L, width], small enough to try everything.

    least (int): How many tokens and labels there are at least.
    """
    T, L = draw(st.integers(least, 5)), draw(st.integers(least, 4))
    width = L + draw(st.integers(0, 4))
    steps = draw(st.sampled_from([1, T]))
    if exact:
        scores = st.sampled_from([3, 64]).flatmap(lambda limit: eighths((T, width), limit))
        node = draw(scores)
        edge = draw(eighths((steps, L, width)))
    else:
        values = st.floats(-1000, 1000, width=32)
        node = draw(hnp.arrays(np.float32, (T, width), elements=values))
        edge = draw(hnp.arrays(np.float32, (steps, L, width), elements=values))
    if masks:
        node[draw(hnp.arrays(bool, node.shape))] = -INF
        edge[draw(hnp.arrays(bool, edge.shape))] = -INF
    node[:, L:] = -INF
    return node, edge


def labellings(T: int, L: int) -> np.ndarray:
    """Every labelling [L ** T, T]."""
    return np.array(list(product(range(L), repeat=T)), dtype=np.int32).reshape(L**T, T)


def path_scores(node: np.ndarray, edge: np.ndarray, paths: np.ndarray) -> np.ndarray:
    """The score of every labelling [N], in double precision."""
    T = node.shape[0]
    at = np.arange(T)
    node = node.astype(np.float64)
    edge = np.broadcast_to(edge, (T, *edge.shape[1:])).astype(np.float64)
    total = node[at, paths].sum(axis=1)
    return total + edge[at[1:], paths[:, :-1], paths[:, 1:]].sum(axis=1)


def best_path(node: np.ndarray, edge: np.ndarray) -> tuple[tuple[int, ...], float]:
    """The best labelling by trying all; of equals, that with the lowest labels from the end."""
    paths = labellings(node.shape[0], edge.shape[1])
    scores = path_scores(node, edge, paths)
    top = scores.max()
    ties = [tuple(path.tolist()) for path in paths[scores == top]]
    return min(ties, key=lambda path: path[::-1]), top


def second_path(
    node: np.ndarray, edge: np.ndarray, best: tuple[int, ...]
) -> tuple[tuple[int, ...], float] | None:
    """The best labelling but one, or None; of equals, that which leaves the best one latest."""
    paths = labellings(node.shape[0], edge.shape[1])
    paths = paths[(paths != best).any(axis=1)]
    scores = path_scores(node, edge, paths)
    if not len(paths) or scores.max() == -INF:
        return None
    ties = [tuple(path.tolist()) for path in paths[scores == scores.max()]]

    def detour(path: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        last = max(t for t in range(len(path)) if path[t] != best[t])
        return -last, path[last::-1]

    return min(ties, key=detour), scores.max()


def viterbi64(node: np.ndarray, edge: np.ndarray) -> np.ndarray:
    """Viterbi by the book, in double precision, with one edge table [L, L] for all positions."""
    node, edge = node.astype(np.float64), edge.astype(np.float64)
    back = np.zeros(node.shape, dtype=np.int32)
    alpha = node[0]
    for t in range(1, len(node)):
        scores = alpha[:, None] + edge
        back[t] = scores.argmax(axis=0)
        alpha = scores.max(axis=0) + node[t]
    path = np.zeros(len(node), dtype=np.int32)
    path[-1] = alpha.argmax()
    for t in range(len(node) - 1, 0, -1):
        path[t - 1] = back[t, path[t]]
    return path


def log_sum_exp(scores: np.ndarray, axis: int | None = None) -> Any:
    return np.logaddexp.reduce(scores, axis=axis)


def path_probabilities(node: np.ndarray, edge: np.ndarray, paths: np.ndarray) -> np.ndarray:
    """The probability of every labelling [N]; paths are all there are, and some are possible."""
    scores = path_scores(node, edge, paths)
    return np.exp(scores - log_sum_exp(scores))


def beliefs(node: np.ndarray, edge: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The probabilities of labels [T, width] and of pairs [T, L, width], from those of all labellings."""
    (T, width), L = node.shape, edge.shape[1]
    paths = labellings(T, L)
    shares = path_probabilities(node, edge, paths)
    labels, pairs = np.zeros((T, width)), np.zeros((T, L, width))
    for t in range(T):
        np.add.at(labels[t], paths[:, t], shares)
        if t > 0:
            np.add.at(pairs[t], (paths[:, t - 1], paths[:, t]), shares)
    return labels, pairs


def span_probability(paths: np.ndarray, shares: np.ndarray, path: Any, span: Any) -> float:
    """How probable the labellings are that agree with a path inside a span, and have no forbidden label around it."""
    start, end, before, after = span
    agree = (paths[:, start:end] == path[start:end]).all(axis=1)
    if start > 0:
        agree &= paths[:, start - 1] != before
    if end < len(path):
        agree &= paths[:, end] != after
    return shares[agree].sum()


def forward64(node: np.ndarray, edge: np.ndarray) -> np.ndarray:
    """log Σ exp(score), over all ways to reach each label at each position [T, L]; in logarithms."""
    T, L = len(node), edge.shape[1]
    node = node[:, :L].astype(np.float64)
    edge = np.broadcast_to(edge[:, :, :L], (T, L, L)).astype(np.float64)
    alpha = node.copy()
    for t in range(1, T):
        alpha[t] += log_sum_exp(alpha[t - 1, :, None] + edge[t], axis=0)
    return alpha


def unlikeliest_position(node: np.ndarray, edge: np.ndarray) -> float:
    """Of all positions, the least share that all labellings so far have, of what the best label and the best pair there
    would give them. Where it is tiny, products of probabilities lose their digits. No masks, please."""
    T = len(node)
    total = log_sum_exp(forward64(node, edge), axis=1)
    edge = np.broadcast_to(edge, (T, *edge.shape[1:]))
    best = node[1:].max(axis=1).astype(np.float64) + edge[1:].max(axis=(1, 2))
    return np.exp(np.diff(total) - best).min(initial=1)


def tilted(
    node: np.ndarray, edge: np.ndarray, label: int, by: float
) -> tuple[np.ndarray, np.ndarray]:
    """The same scores of all labellings, otherwise come by: a label that all think best, until the next position
    takes it back."""
    node, edge = node.copy(), edge.copy()
    node[:-1, label] += np.float32(by)
    edge[:, label] -= np.float32(by)
    return node, edge


# --- Keys --------------------------------------------------------------------------------------

Terms = list[list[tuple[int, int, int, int]]]


def splitmix(state: int) -> int:
    """The output of Steele, Lea & Flood's SplitMix64 from this state."""
    z = (state + 0x9E3779B97F4A7C15) % U64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % U64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % U64
    return z ^ (z >> 31)


def value_at(values: list[list[int]], t: int, column: int) -> int:
    """values[t][column], or a number that says how far outside of the sequence t is."""
    if t < 0:
        return (0x9D8F3C1BE6A72500 + t) % U64
    if t >= len(values):
        return (0x51C4E0F7B3D68A00 + t - len(values)) % U64
    return values[t][column]


def key_at(
    values: list[list[int]], t: int, seed: int, terms: list[tuple[int, int, int, int]]
) -> int:
    """The key of one template at one position; values [T][columns] are those of word and token."""
    key = seed
    for column, offset, other, other_offset in terms:
        value = value_at(values, t + offset, column)
        if other != -1:
            value = int(value == value_at(values, t + other_offset, other))
        key = splitmix(key ^ value)
    return key or 1


# --- Feature counts ----------------------------------------------------------------------------


def node_counts(rows: np.ndarray, path: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Φ(x, path) over node features, [R, columns]."""
    counts = np.zeros(shape)
    for t, label in enumerate(path):
        for row in rows[t][rows[t] >= 0]:
            counts[row, label] += 1
    return counts


def edge_counts(
    rows: np.ndarray, path: np.ndarray, shape: tuple[int, int], width: int
) -> np.ndarray:
    """Φ(x, path) over edge features, [R, columns]; label y after p is column p * width + y."""
    counts = np.zeros(shape)
    for t in range(1, len(path)):
        for row in rows[t][rows[t] >= 0]:
            counts[row, path[t - 1] * width + path[t]] += 1
    return counts


class Labelled(NamedTuple):
    rows: np.ndarray  # [T, K]
    gold: np.ndarray  # [T]
    guess: np.ndarray  # [T]
    n_labels: int
    width: int
    n_rows: int


@st.composite
def labelled(
    draw: st.DrawFn, *, n_rows: int | None = None, n_labels: int | None = None
) -> Labelled:
    """A sequence of features, with two labellings of it. Few rows, so that features repeat."""
    T, K = draw(st.integers(0, 6)), draw(st.integers(0, 4))
    L = n_labels or draw(st.integers(1, 5))
    R = n_rows or draw(st.integers(1, 4))
    labels = hnp.arrays(np.int32, T, elements=st.integers(0, L - 1))
    rows = draw(hnp.arrays(np.int32, (T, K), elements=st.integers(-1, R - 1)))
    gold, guess = draw(labels), draw(labels)
    if draw(st.booleans()):
        # Labellings that share a part, as in training.
        guess = np.where(draw(hnp.arrays(bool, T)), guess, gold).astype(np.int32)
    return Labelled(rows, gold, guess, L, L + draw(st.integers(0, 3)), R)
