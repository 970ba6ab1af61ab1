from .typedefs cimport label_t

# The spans of a labelling, read from its labels where they are needed. A label has a class (or none, -1), and may say
# that a span begins; a span also begins where the class is another than before.

cdef struct Spans:
    const label_t* labels        # [T]
    const int* kind              # [L] class, -1: none
    const unsigned char* begins  # [L]
    Py_ssize_t length

cdef enum:
    CROSSED = -2                 # what a stretch of tokens can be other than a span or a part of one
    UNMARKED = -1


cdef inline int kind_at(const Spans* self, Py_ssize_t t) noexcept nogil:
    return self.kind[self.labels[t]]


cdef inline bint begins_at(const Spans* self, Py_ssize_t t) noexcept nogil:
    cdef int kind = kind_at(self, t)
    return kind >= 0 and (self.begins[self.labels[t]] or t == 0 or kind_at(self, t - 1) != kind)


cdef inline bint goes_on_at(const Spans* self, Py_ssize_t t) noexcept nogil:
    return t < self.length and kind_at(self, t) >= 0 and not begins_at(self, t)


cdef inline int status(const Spans* self, Py_ssize_t start, Py_ssize_t end, bint* whole) noexcept nogil:
    """What tokens start to end are: the class of the span that they are (whole) or lie in (not whole), UNMARKED if none
    of them is in a span, CROSSED otherwise."""
    cdef int kind = kind_at(self, start)
    cdef Py_ssize_t t
    whole[0] = False
    for t in range(start + 1, end):
        if kind < 0 and kind_at(self, t) >= 0:
            return CROSSED
        if kind >= 0 and not goes_on_at(self, t):
            return CROSSED
    if kind < 0:
        return UNMARKED
    whole[0] = begins_at(self, start) and not goes_on_at(self, end)
    return kind
