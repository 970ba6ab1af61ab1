"""From feature keys to rows of the weight matrix: a hash table that numbers keys in order of arrival."""

from libc.stdlib cimport calloc, free, realloc

from .typedefs cimport count_t, key_t, prefetch, row_t
from .table cimport Slot, find_row

import numpy as np

from ..errors import Errors

# How many keys ahead memory is asked for: enough to hide its latency, few enough to stay in the cache.
cdef enum:
    AHEAD = 12


cdef class KeyTable:
    """Number distinct 64-bit keys 0, 1, 2, … and find them again.

    Not safe for `add` in one thread beside anything else in another.

    keys (Optional[ndarray]): uint64 keys, without repeats, that become rows 0, 1, 2, …
    counts (Optional[ndarray]): How often each of them was added; 1 if it is not said.
    """

    def __cinit__(self):
        self.slots = NULL
        self.row_keys = NULL
        self.counts = NULL
        self.length = 0
        self.capacity = 0
        self.rehash(16)

    def __init__(self, keys=None, counts=None):
        cdef row_t row
        if keys is not None:
            keys = np.ascontiguousarray(keys, dtype=np.uint64).ravel()
            self.reserve(<row_t> keys.size)
            self.add(keys)
            if self.length != keys.size:
                raise ValueError(Errors.NL602.format(given=keys.size, distinct=self.length))
        if counts is not None:
            if len(counts) != self.length:
                raise ValueError(Errors.NL608.format(what="counts", given=len(counts), expected=self.length))
            for row in range(self.length):
                self.counts[row] = counts[row]

    def __dealloc__(self):
        free(self.slots)
        free(self.row_keys)
        free(self.counts)

    def __len__(self):
        return self.length

    def __reduce__(self):
        return (KeyTable, (self.keys(), self.counts_of(np.arange(self.length, dtype=np.int32))))

    def keys(self):
        """RETURNS (ndarray): The uint64 key of every row, in order."""
        cdef row_t row
        out = np.empty(self.length, dtype=np.uint64)
        cdef key_t[::1] view = out
        for row in range(self.length):
            view[row] = self.row_keys[row]
        return out

    def counts_of(self, const row_t[::1] rows):
        """RETURNS (ndarray): uint32, how often the keys of these rows were added."""
        cdef Py_ssize_t i
        out = np.empty(rows.shape[0], dtype=np.uint32)
        cdef count_t[::1] count = out
        for i in range(rows.shape[0]):
            if not 0 <= rows[i] < self.length:
                raise ValueError(Errors.NL610.format(row=rows[i], rows=self.length, position=i))
            count[i] = self.counts[rows[i]]
        return out

    def find(self, keys):
        """[rows.get(key, -1) for key in keys]

        keys (ndarray): uint64 keys of any shape.
        RETURNS (ndarray): int32 rows of the same shape; -1 where the key is not in the table.
        """
        keys = np.ascontiguousarray(keys, dtype=np.uint64)
        out = np.empty(keys.shape, dtype=np.int32)
        cdef const key_t[::1] key = keys.reshape(-1)
        cdef row_t[::1] row = out.reshape(-1)
        cdef Py_ssize_t i, n = key.shape[0]
        with nogil:
            for i in range(n):
                if i + AHEAD < n:
                    prefetch(&self.slots[key[i + AHEAD] & self.mask])
                row[i] = find_row(self.slots, self.mask, key[i])
        return out

    def add(self, keys):
        """Like find, but a key that is not in the table gets the next row. Counts every sighting.

        keys (ndarray): uint64 keys of any shape.
        RETURNS (ndarray): int32 rows of the same shape.
        """
        keys = np.ascontiguousarray(keys, dtype=np.uint64)
        out = np.empty(keys.shape, dtype=np.int32)
        cdef const key_t[::1] key = keys.reshape(-1)
        cdef row_t[::1] row = out.reshape(-1)
        cdef Py_ssize_t i, n = key.shape[0]
        if n > 0 and not np.all(keys):
            raise ValueError(Errors.NL603)
        with nogil:
            for i in range(n):
                if i + AHEAD < n:
                    prefetch(&self.slots[key[i + AHEAD] & self.mask])
                row[i] = self.insert(key[i])
        return out

    cdef int reserve(self, row_t length) except -1 nogil:
        """Make room for so many rows."""
        if length <= self.capacity:
            return 0
        cdef row_t capacity = self.capacity + self.capacity // 2 + 16 if self.capacity < 1_000_000_000 else 0x7FFFFFFF
        if capacity < length:
            capacity = length
        cdef void* memory = realloc(self.row_keys, capacity * sizeof(key_t))
        if memory == NULL:
            with gil:
                raise MemoryError
        self.row_keys = <key_t*> memory
        memory = realloc(self.counts, capacity * sizeof(count_t))
        if memory == NULL:
            with gil:
                raise MemoryError
        self.counts = <count_t*> memory
        self.capacity = capacity
        return 0

    cdef int rehash(self, key_t n_slots) except -1 nogil:
        """Spread the keys over n_slots (a power of two, more than there are keys)."""
        cdef Slot* slots = <Slot*> calloc(n_slots, sizeof(Slot))
        cdef key_t i
        cdef row_t row
        if slots == NULL:
            with gil:
                raise MemoryError
        free(self.slots)
        self.slots = slots
        self.mask = n_slots - 1
        for row in range(self.length):
            i = self.row_keys[row] & self.mask
            while slots[i].key != 0:
                i = (i + 1) & self.mask
            slots[i].key = self.row_keys[row]
            slots[i].row = row
        return 0

    cdef row_t insert(self, key_t key) except -2 nogil:
        cdef key_t i = key & self.mask
        while self.slots[i].key != 0:
            if self.slots[i].key == key:
                self.counts[self.slots[i].row] += 1
                return self.slots[i].row
            i = (i + 1) & self.mask
        cdef row_t row = self.length
        if row == 0x7FFFFFFF:
            with gil:
                raise OverflowError(Errors.NL604)
        self.reserve(row + 1)
        self.row_keys[row] = key
        self.counts[row] = 1
        self.slots[i].key = key
        self.slots[i].row = row
        self.length = row + 1
        # At most two thirds full: probes stay short.
        if <key_t> self.length * 3 > (self.mask + 1) * 2:
            self.rehash((self.mask + 1) * 2)
        return row
