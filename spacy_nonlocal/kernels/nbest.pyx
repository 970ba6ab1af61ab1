"""The n best labellings of a lattice, exactly, best first, none twice.

A path other than the best leaves it somewhere. Read backwards, it agrees with a path found before down to some state,
takes another predecessor there, and is a best prefix from then on. Every path is one series of such detours, each
further to the front than the one before, so the n best paths are the n cheapest series (Eppstein 1998; the lists are
those of Soong & Huang's 1991 search, which Kazama & Torisawa 2007 use). After one Viterbi pass, a path costs O(log n)
to find, and a copy of its parent to write down.
"""

from libc.math cimport isfinite
from libc.stdlib cimport free
from libc.string cimport memcpy

from .detours cimport Choice, Detour, Detours, begin, end, grown, heap_of
from .typedefs cimport label_t, weight_t
from .viterbi cimport Chain, chain_of, path_score

import numpy as np

from ..errors import Errors, LatticeError

# All labellings together have at most so many labels: 8 GB.
cdef Py_ssize_t MAX_LABELS = 2 ** 31

cdef struct Series:       # a series of detours that may come next: one more from a path that was found
    double loss
    int parent
    int detour
    int choice            # which of the detour's

cdef struct Search:
    Detours ways
    Series* queue         # a binary heap
    Py_ssize_t n_queue, room


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


cdef double change(const Detours* self, label_t* path, Py_ssize_t t, label_t label) noexcept nogil:
    """Give position t another label, and those before it what goes with it best; return by how much the score grows."""
    cdef const Chain* chain = &self.chain
    cdef Py_ssize_t width = chain.width
    cdef double gain = 0
    cdef label_t old, below
    if t + 1 < chain.length:
        gain += chain.edge[(t + 1) * chain.edge_step + label * width + path[t + 1]]
        gain -= chain.edge[(t + 1) * chain.edge_step + path[t] * width + path[t + 1]]
    while True:
        old, path[t] = path[t], label
        gain += <double> chain.node[t * width + label] - chain.node[t * width + old]
        if t == 0:
            break
        below = self.back[t * width + label]
        gain += chain.edge[t * chain.edge_step + below * width + label]
        gain -= chain.edge[t * chain.edge_step + path[t - 1] * width + old]
        t -= 1
        label = below
        if path[t] == label:
            # From here on both are the same best prefix.
            break
    return gain


cdef Py_ssize_t search(Search* self, Py_ssize_t n, label_t[:, ::1] paths, double[::1] scores) except -1 nogil:
    """RETURNS: How many paths were found."""
    cdef Detours* ways = &self.ways
    cdef Py_ssize_t T = ways.chain.length, width = ways.chain.width, found = 1, i
    cdef Series next_
    cdef Detour detour
    cdef Choice choice
    cdef double base
    paths[0, T - 1] = ways.last
    for i in range(T - 1, 0, -1):
        paths[0, i - 1] = ways.back[i * width + paths[0, i]]
    scores[0] = path_score(&ways.chain, &paths[0, 0])
    if not isfinite(scores[0]):
        return 1
    push(self, 0, 0, heap_of(ways, T, 0), 0)
    while found < n and self.n_queue > 0:
        next_ = pop(self)
        detour = ways.detours[next_.detour]
        choice = ways.choices[detour.first + next_.choice]
        memcpy(&paths[found, 0], &paths[next_.parent, 0], T * sizeof(label_t))
        scores[found] = scores[next_.parent] + change(ways, &paths[found, 0], detour.position, choice.label)
        # What may come next: another choice here, another detour from the same parent, or one more detour.
        base = next_.loss - choice.loss
        push(self, base, next_.parent, next_.detour, next_.choice + 1)
        if next_.choice == 0:
            push(self, base, next_.parent, detour.left, 0)
            push(self, base, next_.parent, detour.right, 0)
        push(self, next_.loss, <int> found, heap_of(ways, detour.position, choice.label), 0)
        found += 1
    return found


def n_best(const weight_t[:, ::1] node, const weight_t[:, :, ::1] edge, Py_ssize_t n):
    """Find the n best labellings.

    node (ndarray): float32[T, width], the score of every label at every position; -inf: not allowed.
    edge (ndarray): float32[1 or T, L, width], the score of every label after every label.
    n (int): How many; fewer come back if there are no more.
    RETURNS (Tuple[ndarray, ndarray]): int32[m, T] labels and float64[m] scores, the best first.
    """
    if n < 1:
        raise ValueError(Errors.NL624.format(n=n))
    cdef Search self
    cdef Chain chain = chain_of(node, edge)
    cdef Py_ssize_t found
    if chain.length == 0:
        return np.zeros((1, 0), dtype=np.int32), np.zeros(1)
    # No more than there are: room for others would be asked for in vain.
    labels_to_choose_from = int(chain.n_labels)
    n = min(n, labels_to_choose_from ** min(chain.length, 64))
    if n > MAX_LABELS // chain.length:
        raise LatticeError(Errors.NL625.format(n=n, length=chain.length, most=MAX_LABELS // chain.length))
    labels, values = np.empty((n, chain.length), dtype=np.int32), np.empty(n, dtype=np.float64)
    cdef label_t[:, ::1] paths = labels
    cdef double[::1] scores = values
    self.queue = NULL
    self.n_queue = self.room = 0
    try:
        with nogil:
            begin(&self.ways, &chain)
            found = search(&self, n, paths, scores)
    finally:
        end(&self.ways)
        free(self.queue)
    if not isfinite(scores[0]):
        raise LatticeError(Errors.NL616.format(score=scores[0], length=chain.length))
    labels, values = labels[:found], values[:found]
    # Where Viterbi has rounded, a path may come a trifle too late.
    if (np.diff(values) > 1e-9 * max(1.0, abs(values[0]))).any():
        order = np.argsort(-values, kind="stable")
        labels, values = labels[order], values[order]
    return labels, values
