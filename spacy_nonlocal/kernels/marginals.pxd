from .typedefs cimport weight_t
from .viterbi cimport Chain


cdef struct Beliefs:
    Chain chain
    double* a         # [T, width] α, or log α
    double* v         # [T, width] e, then v; or log v
    double* pair      # [L, width] E of one position (of all, if they share a table)
    double* row       # [width] scratch
    double* sums      # [L, width] Σ_t α[t-1, p] v[t, y], for shared tables
    double log_z
    bint masked       # whether `pair` forbids anything
    bint logs         # whether a and v are logarithms


cdef int begin(Beliefs* self, const weight_t[:, ::1] node, const weight_t[:, :, ::1] edge) except -1

cdef int believe(Beliefs* self, weight_t* node, weight_t* edge, bint backward) except -1 nogil

cdef void end(Beliefs* self) noexcept nogil

cdef double set_pair(Beliefs* self, Py_ssize_t t) noexcept nogil

cdef double log_sum(const double* values, Py_ssize_t n) noexcept nogil

cdef double checked(double log_z, Py_ssize_t length) except? -1
