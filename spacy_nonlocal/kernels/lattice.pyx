"""From rows to the lattice: the score of every label at every position.

    node[t, y] = base[y] + Σ_g ( Σ_{k in group g} weights[rows[t, k], y] )

The sum goes group by group because prediction keeps the inner sums of whole groups (see lexemes.pyx): with the same
order of additions both give the same floats, bit for bit. Labels are padded to a multiple of four ("width"); the base
of a padded label is -inf, so that no decoder ever takes it. Edge scores use the same function on rows of L * width
weights.
"""

from libc.stdlib cimport calloc, free

from .typedefs cimport prefetch, row_t, weight_t
from .lattice cimport BLOCK

import numpy as np

from ..errors import Errors

cdef extern from "vector.h":
    void nl_add_rows(
        weight_t* out, weight_t* part, const weight_t* weights, const row_t* rows, Py_ssize_t n_rows, Py_ssize_t width
    ) noexcept nogil


def padded(Py_ssize_t n_labels):
    """RETURNS (int): The number of labels, rounded up to whole blocks."""
    return (n_labels + BLOCK - 1) // BLOCK * BLOCK


def check_rows(const row_t[:, ::1] rows, Py_ssize_t n_weights):
    """Raise unless every row is -1 or a row of the weights."""
    cdef Py_ssize_t t, k
    for t in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            if rows[t, k] < -1 or rows[t, k] >= n_weights:
                raise ValueError(Errors.NL610.format(row=rows[t, k], rows=n_weights, position=t))


def score_rows(
    const row_t[:, ::1] rows,            # [T, K]
    const row_t[::1] groups,             # [G + 1] where each group of columns begins
    const weight_t[:, ::1] weights,      # [R, width]
    const weight_t[::1] base,            # [width]
    weight_t[:, ::1] out,                # [T, width]
):
    """base + sum over groups of weights[rows[:, group]].sum(axis=1)"""
    cdef Py_ssize_t T = rows.shape[0], K = rows.shape[1], G = groups.shape[0] - 1, width = base.shape[0]
    cdef Py_ssize_t t, g, k, i, n = T * K
    cdef const row_t* flat
    cdef const row_t* row
    if width % BLOCK or weights.shape[1] != width or out.shape[1] != width or out.shape[0] != T:
        raise ValueError(Errors.NL611.format(
            weights=weights.shape[1], base=width, out=(out.shape[0], out.shape[1]), length=T
        ))
    if G < 0 or groups[0] != 0 or groups[G] != K or np.any(np.diff(groups) < 0):
        raise ValueError(Errors.NL612.format(groups=list(groups), columns=K))
    if T == 0:
        return
    check_rows(rows, weights.shape[0])
    cdef const weight_t* w = &weights[0, 0] if weights.shape[0] > 0 else NULL
    cdef weight_t* part = <weight_t*> calloc(width, sizeof(weight_t))
    if part == NULL:
        raise MemoryError
    with nogil:
        for t in range(T):
            for i in range(width):
                out[t, i] = base[i]
            if K == 0:
                continue
            flat = &rows[0, 0]
            row = &rows[t, 0]
            for k in range(K):
                # What the next token needs is on its way while this one is added up.
                i = (t + 1) * K + k
                if i < n and flat[i] >= 0:
                    prefetch(&w[flat[i] * width])
            for g in range(G):
                nl_add_rows(&out[t, 0], part, w, &row[groups[g]], groups[g + 1] - groups[g], width)
    free(part)
