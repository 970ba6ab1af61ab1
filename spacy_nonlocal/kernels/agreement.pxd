cdef enum Family:
    SAME, NONE, PART, MAJORITY, TOKEN, SUPER, FIRST, LIST
    N_FAMILIES
    N_KEYS = 8             # lengths of phrases, or connectives


cdef struct Tally:         # what the features of a labelling add up to
    int C                  # classes
    int families           # those that count, as bits
    bint pairs             # whether to count pairs of mentions, or mentions that go together
    bint by_length         # whether phrases of one, two, and more words have features of their own
    double* sums           # [codes]
    int* codes             # [n_codes] those that were touched
    bint* listed           # [codes] whether a code is among them
    Py_ssize_t n_codes


cdef int begin_tally(Tally* self, int C, int families, bint pairs, bint by_length) except -1 nogil
cdef void end_tally(Tally* self) noexcept nogil
cdef void add(Tally* self, int family, int key, int a, int b, double value) noexcept nogil
cdef void add_phrase_features(Tally* self, const int* n, int first, int length, double sign) noexcept nogil
