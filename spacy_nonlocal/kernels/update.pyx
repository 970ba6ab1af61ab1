"""The one update kernel: w += step * (Φ(gold) - Φ(guess)), and what goes with it.

Features fire on the tokens where two labellings differ, and on the label pairs that end or begin there; all others
cancel. Averaging costs nothing extra: beside w += Δ it keeps u += clock·Δ, where the clock counts the examples seen
before; the mean of w over all examples is then w - u / clock.
"""

from .typedefs cimport label_t, row_t, sum_t, weight_t
from .viterbi import check_path
from .lattice import check_rows

import numpy as np

from ..errors import Errors


cdef inline void add(
    weight_t[:, ::1] w, sum_t[:, ::1] u, bint averaged, row_t row, Py_ssize_t column, weight_t step, sum_t clock
) noexcept nogil:
    w[row, column] += step
    if averaged:
        u[row, column] += clock * step


cdef int check(
    const row_t[:, ::1] rows, const label_t[::1] gold, const label_t[::1] guess, weight_t[:, ::1] w, sum_t[:, ::1] u,
    Py_ssize_t n_labels, Py_ssize_t width
) except -1:
    # width is that of an edge table's lines, or 0 for node features
    if width < 0 or 0 < width < n_labels:
        raise ValueError(Errors.NL619.format(width=width, labels=n_labels))
    cdef Py_ssize_t columns = n_labels * width if width else n_labels
    check_path(gold, rows.shape[0], n_labels)
    check_path(guess, rows.shape[0], n_labels)
    check_rows(rows, w.shape[0])
    if w.shape[1] < columns or (u.shape[0] and (u.shape[0] != w.shape[0] or u.shape[1] != w.shape[1])):
        raise ValueError(Errors.NL618.format(
            weights=(w.shape[0], w.shape[1]), sums=(u.shape[0], u.shape[1]), columns=columns
        ))
    return 0


def move_nodes(
    const row_t[:, ::1] rows,            # [T, K]
    const label_t[::1] gold,             # [T]
    const label_t[::1] guess,            # [T]
    weight_t step,
    weight_t[:, ::1] w,                  # [R, width] in and out
    sum_t[:, ::1] u,                     # [R, width] in and out, or [0, 0] if weights are not averaged
    sum_t clock,
    Py_ssize_t n_labels,
):
    """Move the weights of node features from the guess to the gold labelling."""
    check(rows, gold, guess, w, u, n_labels, 0)
    cdef Py_ssize_t t, k
    cdef bint averaged = u.shape[0] > 0
    cdef row_t row
    with nogil:
        for t in range(rows.shape[0]):
            if gold[t] == guess[t]:
                continue
            for k in range(rows.shape[1]):
                row = rows[t, k]
                if row >= 0:
                    add(w, u, averaged, row, gold[t], step, clock)
                    add(w, u, averaged, row, guess[t], -step, clock)


def move_edges(
    const row_t[:, ::1] rows,            # [T, K] text-dependent edge features; those of position 0 do not fire
    const label_t[::1] gold,             # [T]
    const label_t[::1] guess,            # [T]
    weight_t step,
    weight_t[:, ::1] w,                  # [R, L * width] in and out
    sum_t[:, ::1] u,                     # [R, L * width] in and out, or [0, 0]
    sum_t clock,
    Py_ssize_t n_labels,
    Py_ssize_t width,
):
    """Move the weights of edge features from the guess to the gold labelling."""
    if width == 0:
        raise ValueError(Errors.NL619.format(width=width, labels=n_labels))
    check(rows, gold, guess, w, u, n_labels, width)
    cdef Py_ssize_t t, k, right, wrong
    cdef bint averaged = u.shape[0] > 0
    cdef row_t row
    with nogil:
        for t in range(1, rows.shape[0]):
            right = gold[t - 1] * width + gold[t]
            wrong = guess[t - 1] * width + guess[t]
            if right == wrong:
                continue
            for k in range(rows.shape[1]):
                row = rows[t, k]
                if row >= 0:
                    add(w, u, averaged, row, right, step, clock)
                    add(w, u, averaged, row, wrong, -step, clock)


cdef inline double bump(weight_t[:, ::1] count, row_t row, Py_ssize_t column, weight_t amount) noexcept nogil:
    """Change one count; return by how much its square grows."""
    cdef weight_t before = count[row, column]
    count[row, column] = before + amount
    return amount * (2.0 * before + amount)


def squared_distance(
    const row_t[:, ::1] rows,            # [T, K]
    const label_t[::1] gold,             # [T]
    const label_t[::1] guess,            # [T]
    weight_t[:, ::1] count,              # [R, width] scratch: all zero before and after
    Py_ssize_t n_labels,
    Py_ssize_t width,                    # 0: node features; else edge features, with columns y' * width + y
):
    """‖Φ(gold) - Φ(guess)‖², over node features or over edge features."""
    cdef sum_t[:, ::1] no_sums = np.zeros((0, 0), dtype=np.float64)
    check(rows, gold, guess, count, no_sums, n_labels, width)
    cdef Py_ssize_t t, k, right, wrong, start = 1 if width else 0
    cdef double total = 0
    cdef int turn
    cdef weight_t sign = 1
    with nogil:
        # The second turn takes back what the first has counted, and leaves the scratch zero again.
        for turn in range(2):
            for t in range(start, rows.shape[0]):
                right = gold[t] if not width else gold[t - 1] * width + gold[t]
                wrong = guess[t] if not width else guess[t - 1] * width + guess[t]
                if right == wrong:
                    continue
                for k in range(rows.shape[1]):
                    if rows[t, k] < 0:
                        continue
                    if turn == 0:
                        total += bump(count, rows[t, k], right, sign)
                        total += bump(count, rows[t, k], wrong, -sign)
                    else:
                        bump(count, rows[t, k], right, -sign)
                        bump(count, rows[t, k], wrong, sign)
    return total
