"""The one update kernel: w += step * (Φ(gold) - E[Φ]), and what goes with it.

Where the expectation is over one labelling, features fire on the tokens where two labellings differ, and on the label
pairs that end or begin there; all others cancel (`move_nodes`, `move_edges`). Where it is over all labellings, every
token has beliefs: they are summed up for each feature of a sequence first (`gather`), so that weights, which lie
scattered over memory, are touched once (`add_rows`).

Averaging costs nothing extra: beside w += Δ it keeps u += clock·Δ, where the clock counts the examples seen before;
the mean of w over all examples is then w - u / clock.
"""

from .typedefs cimport label_t, row_t, sum_t, weight_t
from .viterbi import check_path
from .lattice import check_rows

import numpy as np

from ..errors import Errors

cdef extern from "vector.h":
    void nl_add(weight_t* out, const weight_t* x, Py_ssize_t n) noexcept nogil
    void nl_add_scaled(
        weight_t* w, sum_t* u, const weight_t* change, weight_t step, const weight_t* rates, sum_t clock, Py_ssize_t n
    ) noexcept nogil


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


def gather(
    const row_t[:, ::1] numbers,         # [T, K] features, numbered from 0; -1 for none
    const weight_t[:, ::1] beliefs,      # [T, columns]
    weight_t[:, ::1] out,                # [features, columns] in and out
):
    """out[k] += Σ beliefs[t], over all t where feature k fires"""
    cdef Py_ssize_t t, k, columns = beliefs.shape[1]
    if beliefs.shape[0] != numbers.shape[0]:
        raise ValueError(Errors.NL608.format(what="beliefs", given=beliefs.shape[0], expected=numbers.shape[0]))
    check_rows(numbers, out.shape[0])
    check_columns(out, columns)
    if columns == 0:
        return
    with nogil:
        for t in range(numbers.shape[0]):
            for k in range(numbers.shape[1]):
                if numbers[t, k] >= 0:
                    nl_add(&out[numbers[t, k], 0], &beliefs[t, 0], columns)


def add_rows(
    const row_t[::1] places,             # [n] distinct
    const weight_t[:, ::1] change,       # [n, columns]
    weight_t step,
    weight_t[:, ::1] w,                  # [R, columns] in and out
    sum_t[:, ::1] u,                     # [R, columns] in and out, or [0, 0] if weights are not averaged
    sum_t clock,
    const weight_t[:, ::1] rates,        # [R, 1] a rate for each feature, [R, columns] for each weight, or [0, 0]
):
    """w[places] += step * rates[places] * change, and the sums for averaging"""
    cdef Py_ssize_t i, columns = change.shape[1]
    cdef bint averaged = u.shape[0] > 0
    check_places(places, change.shape[0], w, columns)
    if averaged and (u.shape[0] != w.shape[0] or u.shape[1] != columns):
        raise ValueError(Errors.NL618.format(
            weights=(w.shape[0], w.shape[1]), sums=(u.shape[0], u.shape[1]), columns=columns
        ))
    if rates.shape[0] and (rates.shape[0] < w.shape[0] or (rates.shape[1] != 1 and rates.shape[1] != columns)):
        raise ValueError(Errors.NL623.format(what="rates", given=(rates.shape[0], rates.shape[1]), columns=columns))
    cdef Py_ssize_t kind = 0 if not rates.shape[0] else (1 if rates.shape[1] == 1 else 2)
    if columns == 0:
        return
    with nogil:
        for i in range(places.shape[0]):
            nl_add_scaled(
                &w[places[i], 0], &u[places[i], 0] if averaged else NULL, &change[i, 0],
                step * rates[places[i], 0] if kind == 1 else step, &rates[places[i], 0] if kind == 2 else NULL,
                clock, columns
            )


def clip_rows(
    const row_t[::1] places,             # [n] distinct
    weight_t[:, ::1] w,                  # [R, columns] in and out
    weight_t[:, ::1] applied,            # [R, columns] in and out: the penalty that each weight has had, with its sign
    sum_t total,                         # the penalty that each weight could have had by now
):
    """Pull weights towards zero, but never across it: the cumulative L1 penalty (Tsuruoka et al. 2009).

        w > 0:  w' = max(0, w - (total + applied))        w < 0:  w' = min(0, w + (total - applied))
        applied' = applied + w' - w
    """
    cdef Py_ssize_t i, y
    cdef sum_t before, after
    check_places(places, places.shape[0], w, w.shape[1])
    if applied.shape[0] != w.shape[0] or applied.shape[1] != w.shape[1]:
        raise ValueError(Errors.NL623.format(
            what="penalties", given=(applied.shape[0], applied.shape[1]), columns=w.shape[1]
        ))
    with nogil:
        for i in range(places.shape[0]):
            for y in range(w.shape[1]):
                before = w[places[i], y]
                if before > 0:
                    after = max(0.0, before - (total + applied[places[i], y]))
                elif before < 0:
                    after = min(0.0, before + (total - applied[places[i], y]))
                else:
                    continue
                # What rounding takes from the penalty is not paid yet.
                w[places[i], y] = <weight_t> after
                applied[places[i], y] += <weight_t> (w[places[i], y] - before)


cdef int check_columns(const weight_t[:, ::1] w, Py_ssize_t columns) except -1:
    if w.shape[1] != columns:
        raise ValueError(Errors.NL623.format(what="weights", given=(w.shape[0], w.shape[1]), columns=columns))
    return 0


cdef int check_places(
    const row_t[::1] places, Py_ssize_t n, const weight_t[:, ::1] w, Py_ssize_t columns
) except -1:
    cdef Py_ssize_t i
    check_columns(w, columns)
    if places.shape[0] != n:
        raise ValueError(Errors.NL608.format(what="changes", given=n, expected=places.shape[0]))
    for i in range(n):
        if not 0 <= places[i] < w.shape[0]:
            raise ValueError(Errors.NL610.format(row=places[i], rows=w.shape[0], position=i))
    return 0
