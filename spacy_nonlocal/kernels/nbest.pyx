"""The n best labellings of a lattice, exactly, best first, none twice.

A path other than the best leaves it somewhere. Read backwards, it agrees with a path found before down to some state,
takes another predecessor there, and is a best prefix from then on. Every path is one series of such detours, each
further to the front than the one before, so the n best paths are the n cheapest series (Eppstein 1998; the lists are
those of Soong & Huang's 1991 search, which Kazama & Torisawa 2007 use). After one Viterbi pass, a path costs O(log n)
to find.

A path is written down as what it has other than the best: its parent's changes behind the detour, then those on the way
from there to where it meets the best path again.

    changes(path) = {t in changes(parent): t > detour} + {t <= detour: back-pointers, until they meet the best path}
"""

from libc.math cimport isfinite
from libc.stdlib cimport free
from libc.string cimport memcpy

from .detours cimport Choice, Detour, Detours, begin, end, heap_of
from .memory cimport grown
from .typedefs cimport label_t, weight_t
from .viterbi cimport Chain, chain_of, path_score

import numpy as np

from ..errors import Errors, LatticeError

# All labellings together have at most so many labels (or changes): 8 GB.
cdef Py_ssize_t MAX_LABELS = 2 ** 31

cdef struct Change:       # another label than the best path's
    int position
    label_t label

cdef struct Series:       # a series of detours that may come next: one more from a path that was found
    double loss
    int parent
    int detour
    int choice            # which of the detour's

cdef struct Search:
    Detours ways
    Series* queue         # a binary heap
    Py_ssize_t n_queue, room
    Change* changes       # those of all paths found, one after the other, each from back to front
    Py_ssize_t n_changes, change_room


cdef bint sooner(const Series* a, const Series* b) noexcept nogil:
    """Of equal ones, that which was put in first."""
    if a.loss != b.loss:
        return a.loss < b.loss
    if a.parent != b.parent:
        return a.parent < b.parent
    return a.detour < b.detour if a.detour != b.detour else a.choice < b.choice


cdef int push(Search* self, double base, int parent, int detour, int choice) except -1 nogil:
    cdef Py_ssize_t i = self.n_queue, up
    cdef Series new
    if detour < 0 or choice >= self.ways.detours[detour].n:
        return 0
    new = Series(base + self.ways.choices[self.ways.detours[detour].first + choice].loss, parent, detour, choice)
    self.queue = <Series*> grown(self.queue, &self.room, i + 1, sizeof(Series))
    self.n_queue += 1
    while i > 0:
        up = (i - 1) // 2
        if not sooner(&new, &self.queue[up]):
            break
        self.queue[i] = self.queue[up]
        i = up
    self.queue[i] = new
    return 0


cdef Series pop(Search* self) noexcept nogil:
    cdef Series top = self.queue[0], last
    cdef Py_ssize_t i = 0, down
    self.n_queue -= 1
    last = self.queue[self.n_queue]
    while True:
        down = 2 * i + 1
        if down >= self.n_queue:
            break
        if down + 1 < self.n_queue and sooner(&self.queue[down + 1], &self.queue[down]):
            down += 1
        if not sooner(&self.queue[down], &last):
            break
        self.queue[i] = self.queue[down]
        i = down
    self.queue[i] = last
    return top


cdef int add_change(Search* self, int position, label_t label) except -1 nogil:
    self.changes = <Change*> grown(self.changes, &self.change_room, self.n_changes + 1, sizeof(Change))
    self.changes[self.n_changes] = Change(position, label)
    self.n_changes += 1
    return 0


cdef int write_down(
    Search* self,
    const label_t[::1] best,
    long long[::1] first,
    int parent,
    int position,
    label_t label,
) except -1 nogil:
    """Write down a path that leaves its parent: at this position it has this label."""
    cdef const Detours* ways = &self.ways
    cdef Py_ssize_t i
    for i in range(first[parent], first[parent + 1]):
        if self.changes[i].position <= position:
            break
        add_change(self, self.changes[i].position, self.changes[i].label)
    while label != best[position]:
        add_change(self, position, label)
        if position == 0:
            break
        label = ways.back[position * ways.chain.width + label]
        position -= 1
    if self.n_changes > MAX_LABELS:
        with gil:
            raise LatticeError(Errors.NL626.format(length=ways.chain.length))
    return 0


cdef Py_ssize_t search(
    Search* self, Py_ssize_t n, label_t[::1] best, long long[::1] first, double[::1] scores
) except -1 nogil:
    """RETURNS: How many paths were found; the changes of path i are numbers first[i] to first[i + 1]."""
    cdef Detours* ways = &self.ways
    cdef Py_ssize_t T = ways.chain.length, width = ways.chain.width, found = 1, i
    cdef Series next_
    cdef Detour detour
    cdef Choice choice
    cdef double base
    best[T - 1] = ways.last
    for i in range(T - 1, 0, -1):
        best[i - 1] = ways.back[i * width + best[i]]
    scores[0] = path_score(&ways.chain, &best[0])
    first[0] = first[1] = 0
    if not isfinite(scores[0]):
        return 1
    push(self, 0, 0, heap_of(ways, T, 0), 0)
    while found < n and self.n_queue > 0:
        next_ = pop(self)
        detour = ways.detours[next_.detour]
        choice = ways.choices[detour.first + next_.choice]
        write_down(self, best, first, next_.parent, detour.position, choice.label)
        first[found + 1] = self.n_changes
        scores[found] = scores[next_.parent] - choice.exact
        # What may come next: another choice here, another detour from the same parent, or one more detour.
        base = next_.loss - choice.loss
        push(self, base, next_.parent, next_.detour, next_.choice + 1)
        if next_.choice == 0:
            push(self, base, next_.parent, detour.left, 0)
            push(self, base, next_.parent, detour.right, 0)
        push(self, next_.loss, <int> found, heap_of(ways, detour.position, choice.label), 0)
        found += 1
    return found


def n_best_changes(const weight_t[:, ::1] node, const weight_t[:, :, ::1] edge, Py_ssize_t n):
    """Find the n best labellings, each as what it has other than the best one.

    node (ndarray): float32[T, width], the score of every label at every position; -inf: not allowed.
    edge (ndarray): float32[1 or T, L, width], the score of every label after every label.
    n (int): How many; fewer come back if there are no more.
    RETURNS (Tuple[ndarray, ndarray, ndarray, ndarray, ndarray]): int32[T] labels of one labelling; int64[m + 1],
        int32[D] and int32[D]: labelling i has, at positions[first[i]:first[i + 1]] (from front to back), other labels
        than that, namely labels[first[i]:first[i + 1]]; float64[m] scores, the best first.
    """
    if n < 1:
        raise ValueError(Errors.NL624.format(n=n))
    cdef Search self
    cdef Chain chain = chain_of(node, edge)
    cdef Py_ssize_t found, i, k
    cdef long long start, end_
    if chain.length == 0:
        none = np.zeros(0, dtype=np.int32)
        return none, np.zeros(2, dtype=np.int64), none, none, np.zeros(1)
    # No more than there are: room for others would be asked for in vain.
    labels_to_choose_from = int(chain.n_labels)
    n = min(n, labels_to_choose_from ** min(chain.length, 64))
    if n > MAX_LABELS:
        raise LatticeError(Errors.NL625.format(n=n, length=chain.length, most=MAX_LABELS))
    best_path, values = np.empty(chain.length, dtype=np.int32), np.empty(n, dtype=np.float64)
    offsets = np.empty(n + 1, dtype=np.int64)
    cdef label_t[::1] best = best_path
    cdef long long[::1] first = offsets
    cdef double[::1] scores = values
    cdef int[::1] positions
    cdef label_t[::1] labels
    self.queue = NULL
    self.changes = NULL
    self.n_queue = self.room = self.n_changes = self.change_room = 0
    try:
        with nogil:
            begin(&self.ways, &chain)
            found = search(&self, n, best, first, scores)
        if not isfinite(scores[0]):
            raise LatticeError(Errors.NL616.format(score=scores[0], length=chain.length))
        where, what = np.empty(self.n_changes, dtype=np.int32), np.empty(self.n_changes, dtype=np.int32)
        positions, labels = where, what
        with nogil:
            for i in range(found):
                start, end_ = first[i], first[i + 1]
                for k in range(end_ - start):
                    positions[start + k] = self.changes[end_ - 1 - k].position
                    labels[start + k] = self.changes[end_ - 1 - k].label
    finally:
        end(&self.ways)
        free(self.queue)
        free(self.changes)
    offsets, values = offsets[:found + 1], values[:found]
    # Where Viterbi has rounded, a path may come a trifle too late.
    if (np.diff(values) > 1e-9 * max(1.0, abs(values[0]))).any():
        return (best_path, *_in_order(offsets, where, what, values))
    return best_path, offsets, where, what, values


def _in_order(offsets, where, what, values):
    """Put labellings in order of their scores."""
    order = np.argsort(-values, kind="stable")
    lengths = np.diff(offsets)[order]
    moved = np.concatenate([[0], np.cumsum(lengths)])
    taken = np.repeat(offsets[order] - moved[: len(order)], lengths) + np.arange(len(where))
    return moved, where[taken], what[taken], values[order]


def n_best(const weight_t[:, ::1] node, const weight_t[:, :, ::1] edge, Py_ssize_t n):
    """Find the n best labellings, each as a whole.

    RETURNS (Tuple[ndarray, ndarray]): int32[m, T] labels and float64[m] scores, the best first.
    """
    cdef Py_ssize_t T = node.shape[0], m, i, k
    if n > 0 and T > 0 and min(n, int(edge.shape[1]) ** min(T, 64)) > MAX_LABELS // T:
        raise LatticeError(Errors.NL625.format(n=n, length=T, most=MAX_LABELS // T))
    best_path, offsets, where, what, values = n_best_changes(node, edge, n)
    m = len(values)
    out = np.empty((m, T), dtype=np.int32)
    cdef label_t[:, ::1] paths = out
    cdef const label_t[::1] best = best_path, labels = what
    cdef const int[::1] positions = where
    cdef const long long[::1] first = offsets
    with nogil:
        for i in range(m if T else 0):
            memcpy(&paths[i, 0], &best[0], T * sizeof(label_t))
            for k in range(first[i], first[i + 1]):
                paths[i, positions[k]] = labels[k]
    return out, values
