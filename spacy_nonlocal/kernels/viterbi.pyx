"""The best labelling of a lattice (Viterbi).

    α[0, y] = node[0, y]
    α[t, y] = node[t, y] + max_p ( α[t-1, p] + edge[t, p, y] )           back[t, y] = the p that is largest

α is shifted at every position so that its maximum is 0: only differences matter, and on a document of a million
tokens they keep all their digits. Among equal scores the label with the lower number wins.
"""

from libc.float cimport FLT_MAX
from libc.math cimport INFINITY, isfinite
from libc.stdlib cimport free, malloc

from .typedefs cimport label_t, weight_t
from .viterbi cimport Chain

import numpy as np

from ..errors import Errors, LatticeError

cdef extern from "vector.h":
    void nl_step(
        weight_t* out, label_t* arg, const weight_t* last, const weight_t* edge, Py_ssize_t n_labels, Py_ssize_t width
    ) noexcept nogil


cdef bint all_scores(const weight_t* values, Py_ssize_t n) noexcept nogil:
    """Whether all are finite, or -inf for what is not allowed: no NaN, no +inf."""
    cdef Py_ssize_t i
    cdef int good = 1
    for i in range(n):
        good &= values[i] <= FLT_MAX
    return good


cdef Chain chain_of(const weight_t[:, ::1] node, const weight_t[:, :, ::1] edge) except *:
    """Check the shapes of a lattice and look at it as the decoders do."""
    cdef Chain chain
    chain.length = node.shape[0]
    chain.width = node.shape[1]
    chain.n_labels = edge.shape[1]
    if (
        chain.width < 1 or not 1 <= chain.n_labels <= chain.width or edge.shape[2] != chain.width
        or (edge.shape[0] != 1 and edge.shape[0] != chain.length)
    ):
        raise ValueError(Errors.NL615.format(
            node=(node.shape[0], node.shape[1]), edge=(edge.shape[0], edge.shape[1], edge.shape[2])
        ))
    chain.node = &node[0, 0] if chain.length > 0 else NULL
    chain.edge = &edge[0, 0, 0] if edge.shape[0] > 0 else NULL
    cdef Py_ssize_t size = chain.n_labels * chain.width, tables = edge.shape[0]
    chain.edge_step = 0 if tables == 1 else size
    if chain.length > 0 and not all_scores(chain.node, chain.length * chain.width):
        raise LatticeError(Errors.NL620)
    # The first of many tables is not used: nothing comes before the first position.
    if chain.length > 1 and not all_scores(&chain.edge[chain.edge_step], max(tables - 1, 1) * size):
        raise LatticeError(Errors.NL620)
    return chain


cdef void forward(
    const Chain* chain,       # in
    weight_t* alpha,          # out [keep, width]: position t is at t % keep
    Py_ssize_t keep,          # in: T to keep every position, 2 if only the last one is wanted
    label_t* back,            # out [T, width]
) noexcept nogil:
    cdef Py_ssize_t t, y, L = chain.n_labels, width = chain.width
    cdef weight_t top
    cdef const weight_t* node
    cdef const weight_t* last
    cdef weight_t* now
    cdef label_t* arg
    for t in range(chain.length):
        node = &chain.node[t * width]
        now = &alpha[(t % keep) * width]
        arg = &back[t * width]
        if t == 0:
            for y in range(width):
                now[y] = node[y]
                arg[y] = 0
        else:
            last = &alpha[((t - 1) % keep) * width]
            nl_step(now, arg, last, &chain.edge[t * chain.edge_step], L, width)
            for y in range(width):
                now[y] += node[y]
        top = now[0]
        for y in range(1, L):
            top = now[y] if now[y] > top else top
        if top > -INFINITY:
            for y in range(width):
                now[y] -= top


cdef label_t best_label(const weight_t* scores, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t y, best = 0
    for y in range(1, n):
        if scores[y] > scores[best]:
            best = y
    return <label_t> best


cdef double path_score(const Chain* chain, const label_t* path) noexcept nogil:
    """Σ node[t, path[t]] + Σ edge[t, path[t-1], path[t]]"""
    cdef double total = 0
    cdef Py_ssize_t t
    for t in range(chain.length):
        total += chain.node[t * chain.width + path[t]]
        if t > 0:
            total += chain.edge[t * chain.edge_step + path[t - 1] * chain.width + path[t]]
    return total


def viterbi(const weight_t[:, ::1] node, const weight_t[:, :, ::1] edge):
    """Find the best labelling.

    node (ndarray): float32[T, width], the score of every label at every position; -inf: not allowed.
    edge (ndarray): float32[1 or T, L, width], the score of every label after every label.
    RETURNS (Tuple[ndarray, float]): int32[T] labels, and their score.
    """
    cdef Chain chain = chain_of(node, edge)
    path = np.zeros(chain.length, dtype=np.int32)
    cdef label_t[::1] labels = path
    if chain.length == 0:
        return path, 0.0
    cdef weight_t* alpha = <weight_t*> malloc(2 * chain.width * sizeof(weight_t))
    cdef label_t* back = <label_t*> malloc(chain.length * chain.width * sizeof(label_t))
    cdef Py_ssize_t t
    cdef double score
    if alpha == NULL or back == NULL:
        free(alpha)
        free(back)
        raise MemoryError
    with nogil:
        forward(&chain, alpha, 2, back)
        t = chain.length - 1
        labels[t] = best_label(&alpha[(t % 2) * chain.width], chain.n_labels)
        while t > 0:
            labels[t - 1] = back[t * chain.width + labels[t]]
            t -= 1
        score = path_score(&chain, &labels[0])
    free(alpha)
    free(back)
    if not isfinite(score):
        raise LatticeError(Errors.NL616.format(score=score, length=chain.length))
    return path, score


def score_path(const weight_t[:, ::1] node, const weight_t[:, :, ::1] edge, const label_t[::1] path):
    """RETURNS (float): node[t, path[t]] and edge[t, path[t-1], path[t]], added up."""
    cdef Chain chain = chain_of(node, edge)
    check_path(path, chain.length, chain.n_labels)
    return path_score(&chain, &path[0]) if chain.length > 0 else 0.0


def check_path(const label_t[::1] path, Py_ssize_t length, Py_ssize_t n_labels):
    """Raise unless path gives each of so many positions one of so many labels."""
    cdef Py_ssize_t t
    if path.shape[0] != length:
        raise ValueError(Errors.NL608.format(what="labels", given=path.shape[0], expected=length))
    for t in range(length):
        if not 0 <= path[t] < n_labels:
            raise ValueError(Errors.NL617.format(label=path[t], labels=n_labels, position=t))
