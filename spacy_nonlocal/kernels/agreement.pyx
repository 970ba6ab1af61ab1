"""Features of a phrase, from how often it is what in a document.

    n[a]       spans of class a
    in[a]      parts of longer spans of class a
    none       outside of all spans

    SAME (a, b)       pairs of spans: n[a] * n[b], n[a] * (n[a] - 1) / 2; or, by mentions, min(n[a], n[b]), n[a] - 1
    NONE (a)          n[a] * none; or min(n[a], none)
    PART (a, b)       in[a] * n[b]; or min(in[a], n[b])
    MAJORITY (a, m)   n[a], m the class that most of n have
    TOKEN (a, m)      single words: n[a] + in[a], m the class (or none) that most of them have
    SUPER (a, m)      n[a], m the class that most of in have
    FIRST (m, a)      n[a] without the first place, m what the first place is

Where two classes have equally many, there is a tie. A feature's code is its family, a key (length or connective) and
two classes; "none" comes after all classes, and "tie" after that. (Kazama & Torisawa 2007; Krishnan & Manning 2006.)
"""

from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from .agreement cimport (
    FIRST,
    MAJORITY,
    N_FAMILIES,
    N_KEYS,
    NONE,
    PART,
    SAME,
    SUPER,
    TOKEN,
    Tally,
)


cdef int begin_tally(Tally* self, int C, int families, bint pairs, bint by_length) except -1 nogil:
    """Get ready; `end_tally` has to be called, whatever happens here."""
    cdef Py_ssize_t n = N_FAMILIES * N_KEYS * <Py_ssize_t> (C + 2) * (C + 2)
    memset(self, 0, sizeof(Tally))
    self.C, self.families = C, families
    self.pairs, self.by_length = pairs, by_length
    self.sums = <double*> calloc(n, sizeof(double))
    self.codes = <int*> malloc(n * sizeof(int))
    self.listed = <bint*> calloc(n, sizeof(bint))
    if self.sums == NULL or self.codes == NULL or self.listed == NULL:
        with gil:
            raise MemoryError
    return 0


cdef void end_tally(Tally* self) noexcept nogil:
    free(self.sums)
    free(self.codes)
    free(self.listed)


cdef void add(Tally* self, int family, int key, int a, int b, double value) noexcept nogil:
    cdef int K = self.C + 2
    cdef int code = ((family * N_KEYS + key) * K + a) * K + b
    if not self.listed[code]:
        self.listed[code] = True
        self.codes[self.n_codes] = code
        self.n_codes += 1
    self.sums[code] += value


cdef int majority(const int* counts, const int* more, int C, int none) noexcept nogil:
    """The class that has most, C if none has; C + 1 if two have equally many."""
    cdef int best = C, most = none, a, n
    for a in range(C):
        n = counts[a] + (more[a] if more != NULL else 0)
        if n > most:
            best, most = a, n
        elif n == most and n > 0:
            best = C + 1
    return best


cdef double together(const Tally* self, int a, int b) noexcept nogil:
    return <double> a * b if self.pairs else min(a, b)


cdef void add_phrase_features(Tally* self, const int* n, int first, int length, double sign) noexcept nogil:
    cdef int C = self.C, a, b, m, families = self.families, value
    cdef const int* inside = n + C
    cdef int none = n[2 * C]
    cdef int key = min(length, 3) if self.by_length else 0
    cdef int top = majority(n, NULL, C, 0), above = majority(inside, NULL, C, 0)
    for a in range(C):
        if n[a] == 0:
            continue
        if families & (1 << SAME):
            if n[a] > 1:
                value = n[a] - 1
                add(self, SAME, key, a, a, sign * (<double> value * n[a] / 2 if self.pairs else value))
            for b in range(a + 1, C):
                if n[b]:
                    add(self, SAME, key, a, b, sign * together(self, n[a], n[b]))
        if families & (1 << NONE) and none:
            add(self, NONE, key, a, C, sign * together(self, n[a], none))
        if families & (1 << PART):
            for b in range(C):
                if inside[b]:
                    add(self, PART, key, b, a, sign * together(self, n[a], inside[b]))
        if families & (1 << MAJORITY):
            add(self, MAJORITY, key, a, top, sign * n[a])
        if families & (1 << SUPER) and above != C:
            add(self, SUPER, key, a, above, sign * n[a])
        if families & (1 << FIRST) and n[a] > (first == a):
            add(self, FIRST, key, first, a, sign * (n[a] - (first == a)))
    if length == 1 and families & (1 << TOKEN):
        m = majority(n, inside, C, none)
        for a in range(C):
            if n[a] + inside[a]:
                add(self, TOKEN, 0, a, m, sign * (n[a] + inside[a]))
