from .typedefs cimport weight_t

# Rows of weights are padded to whole blocks, so that the compiler turns a block into one vector instruction.
cdef enum:
    BLOCK = 4


cdef inline void add_vector(weight_t* out, const weight_t* values, Py_ssize_t width) noexcept nogil:
    """out += values; width is a multiple of BLOCK"""
    cdef Py_ssize_t b, i
    for b in range(width // BLOCK):
        for i in range(BLOCK):
            out[b * BLOCK + i] += values[b * BLOCK + i]
