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


cdef int place_rows(
    const row_t* rows,                   # [K]
    Py_ssize_t K,
    const row_t* slots,                  # [n_slots] or NULL
    Py_ssize_t n_slots,
    const weight_t* weights,
    Py_ssize_t n_weights,
    Py_ssize_t width,
    row_t* out,                          # [K]
) noexcept nogil:
    """Find where the weights of a token's features are, and ask memory for them; 0 if a row is out of range."""
    cdef Py_ssize_t k
    cdef row_t row
    cdef Py_ssize_t limit = n_weights if slots == NULL else n_slots
    for k in range(K):
        row = rows[k]
        if row < -1 or row >= limit:
            return 0
        if row >= 0 and slots != NULL:
            row = slots[row]
            if row >= n_weights:
                return 0
        if row >= 0:
            prefetch(&weights[row * width])
        out[k] = row
    return 1


def score_rows(
    const row_t[:, ::1] rows,            # [T, K]
    const row_t[::1] groups,             # [G + 1] where each group of columns begins
    const weight_t[:, ::1] weights,      # [R, width]
    const weight_t[::1] base,            # [width]
    weight_t[:, ::1] out,                # [T, width]
    const row_t[::1] slots=None,         # [features] which row of the weights a feature has; None: its own
):
    """base + sum over groups of weights[slots[rows[:, group]]].sum(axis=1)

    Rows are checked on the way: after an error, `out` is worth nothing.
    """
    cdef Py_ssize_t T = rows.shape[0], K = rows.shape[1], G = groups.shape[0] - 1, width = base.shape[0]
    cdef Py_ssize_t t = 0, g, i
    cdef int good = 1
    if width % BLOCK or weights.shape[1] != width or out.shape[1] != width or out.shape[0] != T:
        raise ValueError(Errors.NL611.format(
            weights=weights.shape[1], base=width, out=(out.shape[0], out.shape[1]), length=T
        ))
    if G < 0 or groups[0] != 0 or groups[G] != K or any(groups[g] > groups[g + 1] for g in range(G)):
        raise ValueError(Errors.NL612.format(groups=list(groups), columns=K))
    if T == 0:
        return
    cdef const weight_t* w = &weights[0, 0] if weights.shape[0] > 0 and width > 0 else NULL
    cdef Py_ssize_t n_slots = 0
    cdef const row_t* slot = NULL
    cdef row_t nothing = -1
    if slots is not None:
        n_slots = slots.shape[0]
        slot = &slots[0] if n_slots > 0 else &nothing
    cdef weight_t* part = <weight_t*> calloc(width + 1, sizeof(weight_t))
    # The places of this token's weights and of the next one's: those are on their way while these are added up.
    cdef row_t* places = <row_t*> calloc(2 * K + 1, sizeof(row_t))
    if part == NULL or places == NULL:
        free(part)
        free(places)
        raise MemoryError
    with nogil:
        if K > 0:
            good = place_rows(&rows[0, 0], K, slot, n_slots, w, weights.shape[0], width, places)
        for t in range(T):
            for i in range(width):
                out[t, i] = base[i]
            if K == 0:
                continue
            if t + 1 < T:
                good &= place_rows(
                    &rows[t + 1, 0], K, slot, n_slots, w, weights.shape[0], width, &places[(t + 1) % 2 * K]
                )
            if not good:
                break
            for g in range(G):
                nl_add_rows(
                    &out[t, 0], part, w, &places[t % 2 * K + groups[g]], groups[g + 1] - groups[g], width
                )
    free(part)
    free(places)
    if not good:
        check_rows(rows, weights.shape[0] if slots is None else n_slots)
        raise ValueError(Errors.NL610.format(row=np.max(slots), rows=weights.shape[0], position=t))
