"""What a lattice believes: log Z, and the probabilities of labels and of label pairs (forward-backward).

With e[t, y] = exp(node[t, y]) and E[t, p, y] = exp(edge[t, p, y]), each up to a factor that log Z takes back,

    c[t] α[t, y] = e[t, y] Σ_p α[t-1, p] E[t, p, y]        c[t] so that Σ_y α[t, y] = 1
    β[T-1, y] = 1,   v[t, y] = e[t, y] β[t, y] / c[t],     β[t-1, p] = Σ_y E[t, p, y] v[t, y]

    log Z = Σ_t log c[t]                          p(y_t = y) = α[t, y] β[t, y]
    p(y_{t-1} = p, y_t = y) = α[t-1, p] E[t, p, y] v[t, y]
    p(y_t = y | y_{t-1} = p) = E[t, p, y] v[t, y] / β[t-1, p]

α and v are all that is kept. Everything is a product of doubles, scaled at each position (Rabiner 1989). Where a
factor is so small that it might vanish (1e-100) and could matter later, the whole sequence is done again with
logarithms. A small α matters only if it leads where larger ones may not: where every label may follow every other,
what the largest leads to is larger, whatever comes. In logarithms `a` holds log α, `v` holds log v, and sums of
products become "log Σ exp". Infeasible lattices are refused.
"""

from libc.math cimport INFINITY, NAN, exp, isfinite, log
from libc.stdlib cimport calloc, free, malloc

from .marginals cimport Beliefs
from .typedefs cimport weight_t
from .viterbi cimport chain_of

import numpy as np

from ..errors import Errors, LatticeError

cdef extern from "vector.h":
    int nl_exp(double* out, const weight_t* scores, double top, Py_ssize_t n) noexcept nogil
    int nl_normalise(double* a, double* e, double total, Py_ssize_t width) noexcept nogil
    void nl_onward(
        double* out, const double* start, const double* pair, Py_ssize_t n_labels, Py_ssize_t width
    ) noexcept nogil
    void nl_backward(
        double* out, const double* pair, const double* to, Py_ssize_t n_labels, Py_ssize_t width
    ) noexcept nogil
    void nl_outer(
        double* out, const double* start, const double* to, Py_ssize_t n_labels, Py_ssize_t width
    ) noexcept nogil

# log takes longer than everything else for few labels: products of c are taken as long as they stay above this.
cdef double PRODUCT = 1e-200

cdef double top_score(const weight_t* scores, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef weight_t top = -INFINITY
    for i in range(n):
        top = scores[i] if scores[i] > top else top
    return top


cdef double log_sum(const double* values, Py_ssize_t n) noexcept nogil:
    """log Σ exp(values)"""
    cdef Py_ssize_t i
    cdef double top = -INFINITY, total = 0
    for i in range(n):
        top = values[i] if values[i] > top else top
    if top == -INFINITY:
        return top
    for i in range(n):
        total += exp(values[i] - top)
    return top + log(total)


cdef double set_pair(Beliefs* self, Py_ssize_t t) noexcept nogil:
    """Compute E of a position; return the logarithm of the factor left out, NaN if logarithms are needed."""
    cdef Py_ssize_t size = self.chain.n_labels * self.chain.width
    cdef const weight_t* edge = &self.chain.edge[t * self.chain.edge_step]
    cdef double top = top_score(edge, size)
    if top == -INFINITY:
        top = 0
    cdef int found = nl_exp(self.pair, edge, top, size)
    self.masked = found & 2
    return NAN if found & 1 else top


cdef bint go_forward(Beliefs* self) noexcept nogil:
    """Compute α, e and log Z; return whether the numbers can be trusted."""
    cdef Py_ssize_t t, y, width = self.chain.width
    cdef bint shared = self.chain.edge_step == 0
    cdef double total, top, product = 1, log_z = 0, pair_top = 0
    cdef bint low = False, node_low
    cdef double* a
    cdef double* e
    for t in range(self.chain.length):
        a = &self.a[t * width]
        e = &self.v[t * width]
        top = top_score(&self.chain.node[t * width], width)
        if top == -INFINITY:
            return False
        node_low = nl_exp(e, &self.chain.node[t * width], top, width) & 1
        if t == 0:
            for y in range(width):
                a[y] = e[y]
        else:
            if not shared or t == 1:
                pair_top = set_pair(self, t)
            if low and self.masked:
                return False
            nl_onward(a, &self.a[(t - 1) * width], self.pair, self.chain.n_labels, width)
            for y in range(width):
                a[y] *= e[y]
            top += pair_top
        total = 0
        for y in range(width):
            total += a[y]
        if not total > 0:
            return False
        low = nl_normalise(a, e, total, width) | node_low
        log_z += top
        product *= total
        if product < PRODUCT:
            log_z += log(product)
            product = 1
    self.log_z = log_z + log(product)
    return isfinite(self.log_z)


cdef void go_backward(Beliefs* self, weight_t* node, weight_t* edge) noexcept nogil:
    """Turn e into v; write down the probabilities of labels [T, width] and of pairs, each if it is wanted."""
    cdef Py_ssize_t t, y, i, width = self.chain.width, L = self.chain.n_labels
    cdef bint shared = self.chain.edge_step == 0
    cdef double* beta = self.row
    cdef double* a
    cdef double* v
    for y in range(width):
        beta[y] = 1 if y < L else 0
    for t in range(self.chain.length - 1, -1, -1):
        a = &self.a[t * width]
        v = &self.v[t * width]
        if node != NULL:
            for y in range(width):
                node[t * width + y] = <weight_t> (a[y] * beta[y])
        if t == 0:
            break
        for y in range(width):
            # β of a label that nothing leads to may be anything, even too large for a number.
            v[y] = v[y] * beta[y] if a[y] > 0 else 0
        if not shared:
            set_pair(self, t)
        nl_backward(beta, self.pair, v, L, width)
        if edge == NULL:
            continue
        if shared:
            nl_outer(self.sums, &self.a[(t - 1) * width], v, L, width)
        else:
            for i in range(L):
                for y in range(width):
                    edge[(t * L + i) * width + y] = <weight_t> (
                        self.a[(t - 1) * width + i] * self.pair[i * width + y] * v[y]
                    )
    if edge != NULL and shared:
        for i in range(L * width):
            edge[i] = <weight_t> (self.sums[i] * self.pair[i])


cdef void go_forward_in_logs(Beliefs* self) noexcept nogil:
    """The same, slowly: a = log α, v = log e."""
    cdef Py_ssize_t t, p, y, width = self.chain.width, L = self.chain.n_labels
    cdef const weight_t* edge
    cdef double* a
    cdef double* v
    cdef double top, total, tops = 0, totals = 0
    self.logs = True
    for t in range(self.chain.length):
        edge = &self.chain.edge[t * self.chain.edge_step]
        a = &self.a[t * width]
        v = &self.v[t * width]
        top = top_score(&self.chain.node[t * width], width)
        if top == -INFINITY:
            self.log_z = -INFINITY
            return
        for y in range(width):
            v[y] = self.chain.node[t * width + y] - top
            a[y] = v[y]
            if t > 0:
                for p in range(L):
                    self.row[p] = self.a[(t - 1) * width + p] + edge[p * width + y]
                a[y] += log_sum(self.row, L)
        total = log_sum(a, width)
        # Apart: tops may be so large that the rest would be lost beside them, and may cancel each other.
        tops += top
        totals += total
        self.log_z = tops + totals
        if total == -INFINITY:
            return
        for y in range(width):
            a[y] -= total
            v[y] -= total


cdef void go_backward_in_logs(Beliefs* self, weight_t* node, weight_t* edge) noexcept nogil:
    cdef Py_ssize_t t, p, y, i, width = self.chain.width, L = self.chain.n_labels
    cdef bint shared = self.chain.edge_step == 0
    cdef double* beta = self.pair     # one row of it
    cdef double share
    cdef const weight_t* scores
    for y in range(width):
        beta[y] = 0 if y < L else -INFINITY
    for t in range(self.chain.length - 1, -1, -1):
        if node != NULL:
            for y in range(width):
                node[t * width + y] = <weight_t> exp(self.a[t * width + y] + beta[y])
        if t == 0:
            break
        for y in range(width):
            self.v[t * width + y] += beta[y]
        scores = &self.chain.edge[t * self.chain.edge_step]
        for p in range(L):
            for y in range(width):
                self.row[y] = scores[p * width + y] + self.v[t * width + y]
                if edge != NULL:
                    share = exp(self.a[(t - 1) * width + p] + self.row[y])
                    if shared:
                        self.sums[p * width + y] += share
                    else:
                        edge[(t * L + p) * width + y] = <weight_t> share
            beta[p] = log_sum(self.row, width)
    if edge != NULL and shared:
        for i in range(L * width):
            edge[i] = <weight_t> self.sums[i]


cdef int begin(Beliefs* self, const weight_t[:, ::1] node, const weight_t[:, :, ::1] edge) except -1:
    """Look at a lattice and find memory for it; the lattice has at least one position."""
    self.chain = chain_of(node, edge)
    cdef Py_ssize_t T = self.chain.length, width = self.chain.width, L = self.chain.n_labels
    self.logs = False
    self.log_z = 0
    self.a = <double*> malloc(T * width * sizeof(double))
    self.v = <double*> malloc(T * width * sizeof(double))
    self.pair = <double*> calloc(L * width, sizeof(double))
    self.sums = <double*> calloc(L * width, sizeof(double))
    self.row = <double*> calloc(width, sizeof(double))
    if self.a == NULL or self.v == NULL or self.pair == NULL or self.sums == NULL or self.row == NULL:
        end(self)
        raise MemoryError
    return 0


cdef void end(Beliefs* self) noexcept nogil:
    free(self.a)
    free(self.v)
    free(self.pair)
    free(self.sums)
    free(self.row)


cdef int believe(Beliefs* self, weight_t* node, weight_t* edge, bint backward) except -1 nogil:
    """Run both passes, or only the first."""
    if not go_forward(self):
        go_forward_in_logs(self)
    if isfinite(self.log_z) and backward:
        if self.logs:
            go_backward_in_logs(self, node, edge)
        else:
            go_backward(self, node, edge)
    return 0


def log_partition(const weight_t[:, ::1] node, const weight_t[:, :, ::1] edge):
    """RETURNS (float): log Σ exp(score), over all labellings of a lattice."""
    cdef Beliefs self
    if node.shape[0] == 0:
        chain_of(node, edge)
        return 0.0
    begin(&self, node, edge)
    with nogil:
        believe(&self, NULL, NULL, False)
        end(&self)
    return checked(self.log_z, node.shape[0])


def marginals(const weight_t[:, ::1] node, const weight_t[:, :, ::1] edge, bint pairs=True):
    """Find the probabilities of labels and label pairs.

    node (ndarray): float32[T, width], the score of every label at every position; -inf: not allowed.
    edge (ndarray): float32[1 or T, L, width], the score of every label after every label.
    pairs (bool): Whether pairs are wanted.
    RETURNS (Tuple[float, ndarray, ndarray]): log Z; float32[T, width]; and float32[1, L, width] with the sum over all
        positions, or float32[T, L, width] with nothing at the first, or [0, L, width] if pairs are not wanted.
    """
    cdef Beliefs self
    cdef Py_ssize_t T = node.shape[0], L = edge.shape[1], width = node.shape[1]
    labels = np.zeros((T, width), dtype=np.float32)
    both = np.zeros((edge.shape[0] if pairs else 0, L, width), dtype=np.float32)
    cdef weight_t[:, ::1] label_view = labels
    cdef weight_t[:, :, ::1] pair_view = both
    if T == 0:
        chain_of(node, edge)
        return 0.0, labels, both
    begin(&self, node, edge)
    with nogil:
        believe(&self, &label_view[0, 0], &pair_view[0, 0, 0] if pairs else NULL, True)
        end(&self)
    return checked(self.log_z, T), labels, both


cdef double checked(double log_z, Py_ssize_t length) except? -1:
    if not isfinite(log_z):
        raise LatticeError(Errors.NL616.format(score=log_z, length=length))
    return log_z
