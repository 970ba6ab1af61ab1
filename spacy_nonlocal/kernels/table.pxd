from .typedefs cimport count_t, key_t, row_t

# Open addressing with linear probing. Keys are hashes already, so their low bits are the address. Key and
# row lie side by side: one look-up touches one cache line. Key 0 marks an empty slot.

cdef struct Slot:
    key_t key
    row_t row


cdef inline row_t find_row(const Slot* slots, key_t mask, key_t key) noexcept nogil:
    cdef key_t i = key & mask
    while slots[i].key != 0:
        if slots[i].key == key:
            return slots[i].row
        i = (i + 1) & mask
    return -1


cdef class KeyTable:
    cdef Slot* slots         # [mask + 1]
    cdef key_t mask
    cdef row_t length
    cdef key_t* row_keys     # [capacity] the key of each row
    cdef count_t* counts     # [capacity] how often each row was added
    cdef row_t capacity

    cdef int reserve(self, row_t length) except -1 nogil
    cdef int rehash(self, key_t n_slots) except -1 nogil
    cdef row_t insert(self, key_t key) except -2 nogil
