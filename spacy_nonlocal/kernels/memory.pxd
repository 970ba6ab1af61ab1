from libc.stdlib cimport realloc


cdef inline void* grown(void* old, Py_ssize_t* room, Py_ssize_t needed, size_t size) except NULL nogil:
    """An array that has room for as many as needed, and twice as many as before if it had not."""
    cdef Py_ssize_t more
    cdef void* new = old
    if needed > room[0]:
        more = max(needed, 2 * room[0], 64)
        new = realloc(old, more * size)
        if new == NULL:
            with gil:
                raise MemoryError
        room[0] = more
    return new
