"""Phrases of a text, and all places where each of them stands.

A stretch of tokens has the hash

    hash(i, n) = prefix[i + n] - prefix[i] * B**n        with prefix[i + 1] = prefix[i] * B + word[i], modulo 2**64

so that looking up all stretches of one length takes one walk over the text. Stretches of equal hash are compared word
by word.
"""

from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcmp, memset

from .memory cimport grown
from .phrases cimport MAX_PHRASE, Phrase, Phrases, Place
from .typedefs cimport key_t

cdef key_t BASE = 0x9E3779B97F4A7C15


cdef inline key_t mixed(key_t h) noexcept nogil:
    h ^= h >> 32
    h *= <key_t> 0xD6E8FEB86659FD93
    return h ^ (h >> 32)


cdef inline key_t hash_of(const Phrases* self, Py_ssize_t start, Py_ssize_t length) noexcept nogil:
    return mixed(self.prefix[start + length] - self.prefix[start] * self.power[length] + <key_t> length)


cdef int begin_phrases(Phrases* self, const key_t* words, Py_ssize_t length) except -1 nogil:
    """Get ready; `end_phrases` has to be called, whatever happens here."""
    cdef Py_ssize_t t
    memset(self, 0, sizeof(Phrases))
    self.words = words
    self.text_length = length
    self.mask = 255
    self.prefix = <key_t*> malloc((length + 1) * sizeof(key_t))
    self.power = <key_t*> malloc((MAX_PHRASE + 1) * sizeof(key_t))
    self.first_place = <int*> malloc((length + 2) * sizeof(int))
    self.slots = <int*> malloc((self.mask + 1) * sizeof(int))
    if self.prefix == NULL or self.power == NULL or self.first_place == NULL or self.slots == NULL:
        with gil:
            raise MemoryError
    memset(self.slots, 0xff, (self.mask + 1) * sizeof(int))
    self.prefix[0] = 0
    for t in range(length):
        self.prefix[t + 1] = self.prefix[t] * BASE + words[t]
    self.power[0] = 1
    for t in range(MAX_PHRASE):
        self.power[t + 1] = self.power[t] * BASE
    return 0


cdef void end_phrases(Phrases* self) noexcept nogil:
    free(self.prefix)
    free(self.power)
    free(self.phrases)
    free(self.hashes)
    free(self.slots)
    free(self.places)
    free(self.begins)
    free(self.first_place)


cdef inline key_t slot_of(const Phrases* self, Py_ssize_t start, Py_ssize_t length, key_t key) noexcept nogil:
    """Where a phrase is, or would be, in the table."""
    cdef key_t i = key & self.mask
    cdef int number
    while self.slots[i] >= 0:
        number = self.slots[i]
        if self.hashes[number] == key and self.phrases[number].length == length and memcmp(
            &self.words[self.phrases[number].start], &self.words[start], length * sizeof(key_t)
        ) == 0:
            break
        i = (i + 1) & self.mask
    return i


cdef int make_room(Phrases* self) except -1 nogil:
    cdef key_t mask = 2 * self.mask + 1, i
    cdef int* slots = <int*> malloc((mask + 1) * sizeof(int))
    cdef Py_ssize_t number
    if slots == NULL:
        with gil:
            raise MemoryError
    memset(slots, 0xff, (mask + 1) * sizeof(int))
    for number in range(self.n):
        i = self.hashes[number] & mask
        while slots[i] >= 0:
            i = (i + 1) & mask
        slots[i] = <int> number
    free(self.slots)
    self.slots, self.mask = slots, mask
    return 0


cdef int add_phrase(Phrases* self, Py_ssize_t start, Py_ssize_t length) except -2 nogil:
    """RETURNS: The phrase's number, -1 if it is too long."""
    cdef key_t key, i
    if length > MAX_PHRASE:
        return -1
    key = hash_of(self, start, length)
    i = slot_of(self, start, length, key)
    if self.slots[i] >= 0:
        return self.slots[i]
    if 2 * self.n > <Py_ssize_t> self.mask:
        make_room(self)
        i = slot_of(self, start, length, key)
    self.phrases = <Phrase*> grown(self.phrases, &self.room, self.n + 1, sizeof(Phrase))
    self.hashes = <key_t*> grown(self.hashes, &self.hash_room, self.n + 1, sizeof(key_t))
    self.phrases[self.n] = Phrase(<int> start, <int> length, -1)
    self.hashes[self.n] = key
    self.slots[i] = <int> self.n
    self.longest = max(self.longest, <int> length)
    self.n += 1
    return <int> (self.n - 1)


cdef int find_places(Phrases* self) except -1 nogil:
    """Find all places of all phrases, in one walk over the text for each length there is."""
    cdef key_t mask = 4095, i
    cdef bint lengths[MAX_PHRASE + 1]
    cdef Py_ssize_t t, n
    cdef int number
    while mask < <key_t> (8 * self.n):
        mask = 2 * mask + 1
    self.begins = <unsigned char*> calloc(mask + 1, 1)
    if self.begins == NULL:
        with gil:
            raise MemoryError
    memset(lengths, 0, sizeof(lengths))
    for t in range(self.n):
        lengths[self.phrases[t].length] = True
        self.begins[self.words[self.phrases[t].start] & mask] = 1
    for t in range(self.text_length):
        self.first_place[t] = <int> self.n_places
        if not self.begins[self.words[t] & mask]:
            continue
        for n in range(1, min(self.longest, self.text_length - t) + 1):
            if not lengths[n]:
                continue
            i = slot_of(self, t, n, hash_of(self, t, n))
            number = self.slots[i]
            if number >= 0:
                self.places = <Place*> grown(self.places, &self.place_room, self.n_places + 1, sizeof(Place))
                self.places[self.n_places] = Place(number, <int> t)
                self.n_places += 1
                if self.phrases[number].first < 0:
                    self.phrases[number].first = <int> t
    self.first_place[self.text_length] = <int> self.n_places
    return 0
