# The fixed-width types of all kernels: what is in an array in Python has one name here.
from libc.stdint cimport int32_t, uint32_t, uint64_t

ctypedef uint64_t key_t      # a hashed feature, or the value of an attribute
ctypedef int32_t row_t       # a row of the weight matrix; -1: no such feature
ctypedef int32_t label_t     # a label id; -1: unknown
ctypedef uint32_t count_t
ctypedef float weight_t
ctypedef double sum_t        # sums over many examples or tokens

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define NL_PREFETCH(address) __builtin_prefetch(address)
    #else
    #define NL_PREFETCH(address)
    #endif
    """
    void prefetch "NL_PREFETCH"(const void* address) noexcept nogil
