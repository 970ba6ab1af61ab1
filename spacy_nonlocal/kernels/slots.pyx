"""Numbers for features that need them: a place among the weights, or a line in a small matrix.

A feature has a row in the table as soon as it is known, but weights only once a learner has moved it: most features
of a large label set never are.
"""

from .typedefs cimport row_t

import numpy as np

from ..errors import Errors
from .lattice import check_rows


def claim(
    const row_t[:, ::1] rows,            # [T, K]
    const unsigned char[::1] wanted,     # [T] whose features need weights
    row_t[::1] slots,                    # [R] in and out: the place of each feature's weights, -1 for none yet
    row_t used,                          # how many places are taken
):
    """Give places, in order, to features that have none.

    RETURNS (int): How many places are taken now.
    """
    cdef Py_ssize_t t, k
    cdef row_t row
    if wanted.shape[0] != rows.shape[0]:
        raise ValueError(Errors.NL608.format(what="flags", given=wanted.shape[0], expected=rows.shape[0]))
    check_rows(rows, slots.shape[0])
    with nogil:
        for t in range(rows.shape[0]):
            if not wanted[t]:
                continue
            for k in range(rows.shape[1]):
                row = rows[t, k]
                if row >= 0 and slots[row] < 0:
                    slots[row] = used
                    used += 1
    return used


def look_up(
    const row_t[:, ::1] rows,            # [T, K]
    const row_t[::1] slots,              # [R]
):
    """np.where(rows < 0, -1, slots[rows])"""
    cdef Py_ssize_t t, k
    cdef row_t row
    check_rows(rows, slots.shape[0])
    out = np.empty((rows.shape[0], rows.shape[1]), dtype=np.int32)
    cdef row_t[:, ::1] place = out
    with nogil:
        for t in range(rows.shape[0]):
            for k in range(rows.shape[1]):
                row = rows[t, k]
                place[t, k] = slots[row] if row >= 0 else -1
    return out


def renumber(
    const row_t[:, ::1] rows,            # [T, K]
    row_t[::1] numbers,                  # [R] scratch: all -1 before and after
):
    """Number the features that occur in a few tokens 0, 1, 2, ….

    RETURNS (Tuple[ndarray, ndarray]): int32[T, K], -1 where rows has it, and int32[n], the features in their new order.
    """
    cdef Py_ssize_t t, k
    cdef row_t row, n = 0
    check_rows(rows, numbers.shape[0])
    out = np.empty((rows.shape[0], rows.shape[1]), dtype=np.int32)
    distinct = np.empty(rows.shape[0] * rows.shape[1], dtype=np.int32)
    cdef row_t[:, ::1] number = out
    cdef row_t[::1] feature = distinct
    with nogil:
        for t in range(rows.shape[0]):
            for k in range(rows.shape[1]):
                row = rows[t, k]
                number[t, k] = -1
                if row < 0:
                    continue
                if numbers[row] < 0:
                    numbers[row] = n
                    feature[n] = row
                    n += 1
                number[t, k] = numbers[row]
        for t in range(n):
            numbers[feature[t]] = -1
    return out, distinct[:n].copy()
