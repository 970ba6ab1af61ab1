"""How probable a labelled span is: all its labels, and that it neither begins earlier nor goes on.

Given the text, labels are a Markov chain, so with the beliefs of marginals.pyx

    p(y_s … y_e) = p(y_s) Π_t p(y_{t+1} | y_t)

exactly. A label that must not follow (the span would go on) takes 1 - p(that label | y_e) with it, one that must not
come before 1 - p(that label | y_s, what came before).
"""

from libc.math cimport INFINITY, exp, isfinite

from .marginals cimport Beliefs, begin, believe, checked, end, log_sum, set_pair
from .typedefs cimport label_t, sum_t, weight_t
from .viterbi cimport chain_of
from .viterbi import check_path

import numpy as np

from ..errors import Errors


cdef double next_shares(Beliefs* self, Py_ssize_t t, label_t label) noexcept nogil:
    """Put p(y_{t+1} = y | y_t = label), times what is returned, into `row`; it is β[t, label] unless in logarithms."""
    cdef Py_ssize_t y, width = self.chain.width
    cdef const weight_t* edge = &self.chain.edge[(t + 1) * self.chain.edge_step + label * width]
    cdef const double* v = &self.v[(t + 1) * width]
    cdef double top = -INFINITY, total = 0
    if self.logs:
        for y in range(width):
            self.row[y] = edge[y] + v[y]
            top = self.row[y] if self.row[y] > top else top
        for y in range(width):
            self.row[y] = exp(self.row[y] - top) if top > -INFINITY else 0
    else:
        if self.chain.edge_step:
            set_pair(self, t + 1)
        for y in range(width):
            self.row[y] = self.pair[label * width + y] * v[y]
    for y in range(width):
        total += self.row[y]
    return total


cdef double share_before(Beliefs* self, Py_ssize_t t, label_t label, label_t before) noexcept nogil:
    """1 - p(y_{t-1} = before | y_0 … y_t, y_t = label)"""
    cdef Py_ssize_t p, width = self.chain.width
    cdef const weight_t* edge = &self.chain.edge[t * self.chain.edge_step]
    cdef const double* a = &self.a[(t - 1) * width]
    cdef double top = -INFINITY, total = 0, rest = 0, share
    if self.logs:
        for p in range(self.chain.n_labels):
            share = a[p] + edge[p * width + label]
            top = share if share > top else top
    elif self.chain.edge_step:
        set_pair(self, t)
    for p in range(self.chain.n_labels):
        if self.logs:
            share = exp(a[p] + edge[p * width + label] - top) if top > -INFINITY else 0
        else:
            share = a[p] * self.pair[p * width + label]
        total += share
        if p != before:
            rest += share
    return rest / total if total > 0 else 0


cdef double label_share(Beliefs* self, Py_ssize_t t, label_t label) noexcept nogil:
    """p(y_t = label)"""
    cdef Py_ssize_t y, width = self.chain.width
    cdef double a = self.a[t * width + label]
    if t == self.chain.length - 1:
        return exp(a) if self.logs else a
    if not self.logs:
        return a * next_shares(self, t, label)
    for y in range(width):
        self.row[y] = (
            self.chain.edge[(t + 1) * self.chain.edge_step + label * width + y] + self.v[(t + 1) * width + y]
        )
    return exp(a + log_sum(self.row, width))


cdef double span_share(
    Beliefs* self, const label_t* path, Py_ssize_t start, Py_ssize_t stop, label_t before, label_t after
) noexcept nogil:
    cdef Py_ssize_t t
    cdef double share = label_share(self, start, path[start]), total
    if start > 0 and before >= 0:
        share *= share_before(self, start, path[start], before)
    for t in range(start, stop - 1):
        total = next_shares(self, t, path[t])
        share *= self.row[path[t + 1]] / total if total > 0 else 0
    if stop < self.chain.length and after >= 0:
        total = next_shares(self, stop - 1, path[stop - 1])
        share *= (total - self.row[after]) / total if total > 0 else 0
    return share


def span_probabilities(
    const weight_t[:, ::1] node,         # [T, width]
    const weight_t[:, :, ::1] edge,      # [1 or T, L, width]
    const label_t[::1] path,             # [T] labels
    const label_t[:, ::1] spans,         # [S, 4] start, end, and the labels that must not be right before and right
):                                       # after it; -1: any may be
    """Find how probable it is that the labels of a path, from start to end, are all right.

    RETURNS (ndarray): float64[S].
    """
    cdef Beliefs self
    cdef Py_ssize_t i, T = node.shape[0], S = spans.shape[0]
    out = np.zeros(S, dtype=np.float64)
    cdef sum_t[::1] shares = out
    check_path(path, T, edge.shape[1])
    if spans.shape[1] != 4:
        raise ValueError(Errors.NL621.format(columns=spans.shape[1]))
    for i in range(S):
        if not (
            0 <= spans[i, 0] < spans[i, 1] <= T
            and -1 <= spans[i, 2] < edge.shape[1] and -1 <= spans[i, 3] < edge.shape[1]
        ):
            raise ValueError(Errors.NL622.format(span=list(spans[i]), length=T, labels=edge.shape[1]))
    if S == 0:
        chain_of(node, edge)
        return out
    begin(&self, node, edge)
    with nogil:
        believe(&self, NULL, NULL, True)
        if isfinite(self.log_z):
            for i in range(S):
                shares[i] = span_share(&self, &path[0], spans[i, 0], spans[i, 1], spans[i, 2], spans[i, 3])
        end(&self)
    checked(self.log_z, T)
    return out
