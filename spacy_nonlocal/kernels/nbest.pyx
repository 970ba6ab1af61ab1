"""The best and the second best labelling of a lattice, exactly.

The second best path leaves the best one somewhere. Read backwards, it agrees with the best path y¹ down to a position
t, steps to another predecessor p there, and is a best prefix from then on. So after one Viterbi pass

    loss(t, p) = (α[t-1, y¹_{t-1}] + edge[t, y¹_{t-1}, y¹_t]) - (α[t-1, p] + edge[t, p, y¹_t]),    p != y¹_{t-1}

(and, at the end, α[T-1, y¹_{T-1}] - α[T-1, p]) has to be compared in T·L places only. This is the two-path case of
Soong & Huang's (1991) search that Kazama & Torisawa (2007) use for n-best lists.
"""

from libc.math cimport INFINITY, isfinite
from libc.stdlib cimport free, malloc

from .typedefs cimport label_t, weight_t
from .viterbi cimport Chain, best_label, chain_of, forward, path_score

import numpy as np

from ..errors import Errors, LatticeError


cdef void follow(const label_t* back, Py_ssize_t width, Py_ssize_t t, label_t* path) noexcept nogil:
    """Fill in path[0 … t-1] from path[t]."""
    while t > 0:
        path[t - 1] = back[t * width + path[t]]
        t -= 1


cdef Py_ssize_t cheapest_detour(
    const Chain* chain,
    const weight_t* alpha,    # [T, width]
    const label_t* path,      # [T] the best path
    label_t* detour,          # out: the label to take instead
) noexcept nogil:
    """The position whose label the second best path changes first (from the end), or -1 if there is only one path."""
    cdef Py_ssize_t t, best_t = -1, width = chain.width
    cdef label_t p
    cdef const weight_t* edge
    cdef weight_t here, loss, lowest = INFINITY
    for t in range(chain.length, 0, -1):
        edge = &chain.edge[t * chain.edge_step] if t < chain.length else NULL
        here = alpha[(t - 1) * width + path[t - 1]]
        if edge != NULL:
            here += edge[path[t - 1] * width + path[t]]
        for p in range(<label_t> chain.n_labels):
            if p == path[t - 1]:
                continue
            loss = here - alpha[(t - 1) * width + p]
            if edge != NULL:
                loss -= edge[p * width + path[t]]
            if loss < lowest:
                lowest = loss
                best_t = t - 1
                detour[0] = p
    return best_t


def two_best(const weight_t[:, ::1] node, const weight_t[:, :, ::1] edge):
    """Find the best and the second best labelling.

    node (ndarray): float32[T, width], the score of every label at every position; -inf: not allowed.
    edge (ndarray): float32[1 or T, L, width], the score of every label after every label.
    RETURNS (List[Tuple[ndarray, float]]): One or two pairs of int32[T] labels and their score, the best first; one if
        there is no other legal labelling.
    """
    cdef Chain chain = chain_of(node, edge)
    first = np.zeros(chain.length, dtype=np.int32)
    if chain.length == 0:
        return [(first, 0.0)]
    cdef label_t[::1] best = first
    cdef weight_t* alpha = <weight_t*> malloc(chain.length * chain.width * sizeof(weight_t))
    cdef label_t* back = <label_t*> malloc(chain.length * chain.width * sizeof(label_t))
    cdef Py_ssize_t T = chain.length, t
    cdef label_t detour = 0
    cdef double score
    if alpha == NULL or back == NULL:
        free(alpha)
        free(back)
        raise MemoryError
    with nogil:
        forward(&chain, alpha, T, back)
        best[T - 1] = best_label(&alpha[(T - 1) * chain.width], chain.n_labels)
        follow(back, chain.width, T - 1, &best[0])
        score = path_score(&chain, &best[0])
        t = cheapest_detour(&chain, alpha, &best[0], &detour)
    paths = [(first, score)]
    cdef label_t[::1] other
    if t >= 0:
        second = first.copy()
        other = second
        other[t] = detour
        follow(back, chain.width, t, &other[0])
        paths.append((second, path_score(&chain, &other[0])))
    free(alpha)
    free(back)
    if not isfinite(score):
        raise LatticeError(Errors.NL616.format(score=score, length=T))
    return paths
