from .spans cimport Spans, goes_on_at
from .typedefs cimport label_t

# Labellings, each as what it has other than a reference: labelling i has labels[k] at positions[k], for k from first[i]
# to first[i + 1].

cdef struct Changes:
    const long long* first       # [m + 1]
    const int* positions         # [D], rising within each labelling
    const label_t* labels        # [D]
    Py_ssize_t m, D


cdef inline bint in_order(const Changes* self, Py_ssize_t length) noexcept nogil:
    """Whether all changes are where changes can be."""
    cdef Py_ssize_t i, k
    if self.first[0] != 0 or self.first[self.m] != self.D:
        return False
    for i in range(self.m):
        if not self.first[i] <= self.first[i + 1] <= self.D:
            return False
        for k in range(self.first[i], self.first[i + 1]):
            if not 0 <= self.positions[k] < length:
                return False
            if k > self.first[i] and self.positions[k] <= self.positions[k - 1]:
                return False
    return True


cdef inline Py_ssize_t wrong_label(const label_t* labels, Py_ssize_t n, Py_ssize_t L) noexcept nogil:
    """Where the first label is that is none; -1 if all are."""
    cdef Py_ssize_t i
    for i in range(n):
        if not 0 <= labels[i] < L:
            return i
    return -1


cdef inline Py_ssize_t stretch(
    const Spans* a,              # in
    const Spans* b,              # in
    const int* positions,        # in: where the two differ
    Py_ssize_t n,                # in
    Py_ssize_t* i,               # in, out: the change to begin with, and the first one behind the stretch
    Py_ssize_t* start,           # out
) noexcept nogil:
    """RETURNS: The end of the stretch around a change in which all spans lie that only one of the labellings has."""
    cdef Py_ssize_t end = positions[i[0]] + 1
    start[0] = positions[i[0]]
    while start[0] > 0 and (goes_on_at(a, start[0]) or goes_on_at(b, start[0])):
        start[0] -= 1
    i[0] += 1
    while True:
        while goes_on_at(a, end) or goes_on_at(b, end):
            end += 1
        if i[0] == n or positions[i[0]] > end:
            return end
        end = max(end, <Py_ssize_t> positions[i[0]] + 1)
        i[0] += 1
