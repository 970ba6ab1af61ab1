"""Whether a labelling says the same of the same phrase everywhere: features that look at a whole document.

For each phrase that is a span in some labelling, all its places in the text are counted by what they are there;
features are functions of these counts (`agreement`), and of the spans on both sides of "," and "and":

    LIST (a, b)       spans of a and b with a connective between them (or two: ", and"), by connective

A labelling is given as what it has other than a reference. Only the places around those changes are looked at again, so
a labelling costs as much as it differs.
"""

from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from .agreement cimport (
    LIST,
    N_KEYS,
    TOKEN,
    Tally,
    add,
    add_phrase_features,
    begin_tally,
    end_tally,
)
from .changes cimport Changes, in_order, stretch, wrong_label
from .memory cimport grown
from .phrases cimport Phrase, Phrases, Place, add_phrase, begin_phrases, end_phrases, find_places
from .spans cimport CROSSED, UNMARKED, Spans, begins_at, goes_on_at, kind_at, status
from .typedefs cimport key_t, label_t

import numpy as np

from ..errors import Errors

# In the order of their numbers, for those who read codes.
FAMILIES = ("same", "none", "part", "majority", "token", "super", "first", "list")
KEYS = N_KEYS

cdef struct Found:         # the value of a feature, for output
    int code
    double value

cdef struct Document:
    Phrases book
    Spans reference
    Spans now              # the labelling at hand
    label_t* labels        # [T] its labels
    const unsigned char* connectives  # [T] 0: the token is none
    Tally tally
    int* counts            # [phrases, 2C + 1] n, in, none
    int* first             # [phrases] what the first place is: a class, or C
    int* saved             # [touched, 2C + 2] counts and first place under the reference
    int* touched           # [phrases] which were changed
    int* when              # [phrases] the labelling that changed them last
    Py_ssize_t n_touched
    Found* found
    Py_ssize_t n_found, found_room


cdef int column_of(int kind, bint whole, int C) noexcept nogil:
    """Where a place is counted, -1 if nowhere."""
    if kind == CROSSED:
        return -1
    if kind == UNMARKED:
        return 2 * C
    return kind if whole else C + kind


cdef int what_is(const Document* self, const Spans* spans, const Place* place) noexcept nogil:
    cdef bint whole
    cdef int kind = status(spans, place.start, place.start + self.book.phrases[place.phrase].length, &whole)
    return column_of(kind, whole, self.tally.C)


cdef void add_list_features(Document* self, const Spans* spans, Py_ssize_t t, double sign) noexcept nogil:
    """Spans that end at t and begin after the connective there."""
    cdef Py_ssize_t after = t + 1
    if t == 0 or after >= spans.length or not self.connectives[t]:
        return
    if kind_at(spans, t - 1) < 0 or kind_at(spans, t) >= 0:
        return
    if self.connectives[after] and kind_at(spans, after) < 0:
        after += 1
    if after < spans.length and begins_at(spans, after):
        add(&self.tally, LIST, self.connectives[after - 1], kind_at(spans, t - 1), kind_at(spans, after), sign)


cdef void change(Document* self, int phrase, int old, int new, bint first, int labelling) noexcept nogil:
    """Count a place of a phrase otherwise."""
    cdef int width = 2 * self.tally.C + 1
    cdef int* counts = &self.counts[<Py_ssize_t> phrase * width]
    cdef int* saved
    if self.when[phrase] != labelling:
        self.when[phrase] = labelling
        self.touched[self.n_touched] = phrase
        saved = &self.saved[self.n_touched * (width + 1)]
        memcpy(saved, counts, width * sizeof(int))
        saved[width] = self.first[phrase]
        self.n_touched += 1
    if old >= 0:
        counts[old] -= 1
    if new >= 0:
        counts[new] += 1
    if first:
        self.first[phrase] = new if 0 <= new < self.tally.C else self.tally.C


cdef int add_spans(Document* self, const Spans* spans, Py_ssize_t start, Py_ssize_t end) except -1 nogil:
    """Take note of all spans in a stretch, and of their words."""
    cdef Py_ssize_t t = start, after, word
    while t < end:
        if not begins_at(spans, t):
            t += 1
            continue
        after = t + 1
        while goes_on_at(spans, after):
            after += 1
        add_phrase(&self.book, t, after - t)
        if self.tally.families & (1 << TOKEN):
            for word in range(t, after):
                add_phrase(&self.book, word, 1)
        t = after
    return 0


cdef const int* apply(Document* self, const Changes* changes, Py_ssize_t k) noexcept nogil:
    """Make a labelling the one at hand; return where it differs."""
    cdef Py_ssize_t i
    for i in range(changes.first[k], changes.first[k + 1]):
        self.labels[changes.positions[i]] = changes.labels[i]
    return changes.positions + changes.first[k]


cdef void take_back(Document* self, const Changes* changes, Py_ssize_t k) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(changes.first[k], changes.first[k + 1]):
        self.labels[changes.positions[i]] = self.reference.labels[changes.positions[i]]


cdef int collect(Document* self, const Changes* changes) except -1 nogil:
    """Find the phrases of all labellings, their places, and their counts under the reference."""
    cdef Py_ssize_t k, i, n, start, end, width = 2 * self.tally.C + 1, room
    cdef const int* positions
    cdef int column
    cdef Place* place
    add_spans(self, &self.reference, 0, self.reference.length)
    for k in range(changes.m):
        positions, n = apply(self, changes, k), changes.first[k + 1] - changes.first[k]
        i = 0
        while i < n:
            end = stretch(&self.reference, &self.now, positions, n, &i, &start)
            add_spans(self, &self.now, start, end)
        take_back(self, changes, k)
    find_places(&self.book)
    room = max(self.book.n, 1)
    self.counts = <int*> calloc(room * width, sizeof(int))
    self.saved = <int*> malloc(room * (width + 1) * sizeof(int))
    self.first = <int*> malloc(room * sizeof(int))
    self.touched = <int*> malloc(room * sizeof(int))
    self.when = <int*> malloc(room * sizeof(int))
    if self.counts == NULL or self.saved == NULL or self.first == NULL or self.touched == NULL or self.when == NULL:
        with gil:
            raise MemoryError
    memset(self.when, 0xff, room * sizeof(int))
    for i in range(self.book.n_places):
        place = &self.book.places[i]
        column = what_is(self, &self.reference, place)
        if column >= 0:
            self.counts[place.phrase * width + column] += 1
        if self.book.phrases[place.phrase].first == place.start:
            self.first[place.phrase] = column if 0 <= column < self.tally.C else self.tally.C
    return 0


cdef void compare(Document* self, int labelling, const int* positions, Py_ssize_t n) noexcept nogil:
    """Add up what the features of a labelling, which was applied, have more than those of the reference."""
    cdef Py_ssize_t i = 0, start, end, t, p, next_place = 0, next_list = 0, width = 2 * self.tally.C + 1
    cdef const Phrase* phrase
    cdef Place* place
    cdef int* saved
    cdef int old, new
    self.n_touched = 0
    while i < n:
        end = stretch(&self.reference, &self.now, positions, n, &i, &start)
        for t in range(max(next_place, start - self.book.longest + 1), end):
            for p in range(self.book.first_place[t], self.book.first_place[t + 1]):
                place = &self.book.places[p]
                phrase = &self.book.phrases[place.phrase]
                if t + phrase.length <= start:
                    continue
                old, new = what_is(self, &self.reference, place), what_is(self, &self.now, place)
                if old != new:
                    change(self, place.phrase, old, new, phrase.first == t, labelling)
        next_place = end
        if self.tally.families & (1 << LIST):
            for t in range(max(next_list, start - 2), min(end + 1, self.reference.length)):
                add_list_features(self, &self.now, t, 1)
                add_list_features(self, &self.reference, t, -1)
            next_list = end + 1
    for i in range(self.n_touched):
        p = self.touched[i]
        phrase = &self.book.phrases[p]
        add_phrase_features(&self.tally, &self.counts[p * width], self.first[p], phrase.length, 1)
        saved = &self.saved[i * (width + 1)]
        add_phrase_features(&self.tally, saved, saved[width], phrase.length, -1)
        memcpy(&self.counts[p * width], saved, width * sizeof(int))
        self.first[p] = saved[width]


cdef int write_down(Document* self) except -1 nogil:
    """Take the sums that are not zero, and clear them."""
    cdef Tally* tally = &self.tally
    cdef Py_ssize_t i
    cdef int code
    for i in range(tally.n_codes):
        code = tally.codes[i]
        if tally.sums[code] != 0:
            self.found = <Found*> grown(self.found, &self.found_room, self.n_found + 1, sizeof(Found))
            self.found[self.n_found] = Found(code, tally.sums[code])
            self.n_found += 1
        tally.sums[code] = 0
        tally.listed[code] = False
    tally.n_codes = 0
    return 0


cdef void end_document(Document* self) noexcept nogil:
    end_phrases(&self.book)
    end_tally(&self.tally)
    free(self.labels)
    free(self.counts)
    free(self.saved)
    free(self.first)
    free(self.touched)
    free(self.when)
    free(self.found)


def consistency(
    const key_t[::1] words,
    const unsigned char[::1] connectives,
    const label_t[::1] reference,
    const long long[::1] first,
    const int[::1] positions,
    const label_t[::1] labels,
    const int[::1] kind,
    const unsigned char[::1] begins,
    int C,
    *,
    int families,
    bint pairs,
    bint by_length,
):
    """Find the features of labellings.

    words (ndarray): uint64[T], equal numbers for words that count as the same.
    connectives (ndarray): uint8[T], which connective each token is, below KEYS; 0: none.
    reference (ndarray): int32[T], a labelling.
    first, positions, labels (ndarray): int64[m + 1], int32[D], int32[D]: labelling i has, at
        positions[first[i]:first[i + 1]], other labels than the reference.
    kind (ndarray): int32[L], the class of each label, -1: none.
    begins (ndarray): uint8[L], whether a span surely begins with it.
    C (int): How many classes there are.
    families (int): Which families of features to find, as bits, in the order of FAMILIES.
    pairs (bool): Whether to count pairs of mentions, or mentions that go together.
    by_length (bool): Whether phrases of one, two, and more words have features of their own.
    RETURNS (Tuple[ndarray, ndarray, ndarray]): int64[m + 1], int32[E], float64[E]: by how much the features
        codes[offsets[i]:offsets[i + 1]] of labelling i are more than the reference's. A code is
        ((family * KEYS + key) * (C + 2) + a) * (C + 2) + b.
    """
    cdef Document self
    cdef Py_ssize_t T = words.shape[0], L = kind.shape[0], m = first.shape[0] - 1, k
    cdef Changes changes
    if not reference.shape[0] == connectives.shape[0] == T:
        raise ValueError(Errors.NL608.format(given=(len(reference), len(connectives)), what="labels", expected=T))
    if T == 0 or L == 0 or m < 0:
        return np.zeros(max(m, 0) + 1, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0)
    changes = Changes(&first[0], NULL, NULL, m, positions.shape[0])
    if changes.D and labels.shape[0] == changes.D:
        changes.positions, changes.labels = &positions[0], &labels[0]
    _check(&changes, reference, connectives, labels, kind, begins, C)
    offsets = np.zeros(m + 1, dtype=np.int64)
    cdef long long[::1] offset = offsets
    cdef int[::1] codes
    cdef double[::1] values
    memset(&self, 0, sizeof(Document))
    self.connectives = &connectives[0]
    self.reference = Spans(&reference[0], &kind[0], &begins[0], T)
    try:
        with nogil:
            begin_tally(&self.tally, C, families, pairs, by_length)
            begin_phrases(&self.book, &words[0], T)
            self.labels = <label_t*> malloc(T * sizeof(label_t))
            if self.labels == NULL:
                with gil:
                    raise MemoryError
            memcpy(self.labels, &reference[0], T * sizeof(label_t))
            self.now = Spans(self.labels, &kind[0], &begins[0], T)
            collect(&self, &changes)
            for k in range(m):
                compare(&self, <int> k, apply(&self, &changes, k), first[k + 1] - first[k])
                take_back(&self, &changes, k)
                write_down(&self)
                offset[k + 1] = self.n_found
        code_array, value_array = np.empty(self.n_found, dtype=np.int32), np.empty(self.n_found)
        codes, values = code_array, value_array
        for k in range(self.n_found):
            codes[k], values[k] = self.found[k].code, self.found[k].value
        return offsets, code_array, value_array
    finally:
        end_document(&self)


cdef int _check(
    const Changes* changes,
    const label_t[::1] reference,
    const unsigned char[::1] connectives,
    const label_t[::1] labels,
    const int[::1] kind,
    const unsigned char[::1] begins,
    int C,
) except -1:
    """Raise unless all of it fits together."""
    cdef Py_ssize_t T = reference.shape[0], L = kind.shape[0], i, wrong
    cdef bint fits = begins.shape[0] == L
    if labels.shape[0] != changes.D or not in_order(changes, T):
        raise ValueError(Errors.NL627.format(length=T))
    wrong = wrong_label(&reference[0], T, L)
    if wrong >= 0:
        raise ValueError(Errors.NL617.format(position=wrong, label=reference[wrong], labels=L))
    wrong = wrong_label(changes.labels, changes.D, L)
    if wrong >= 0:
        raise ValueError(Errors.NL617.format(position=changes.positions[wrong], label=labels[wrong], labels=L))
    for i in range(L):
        fits = fits and -1 <= kind[i] < C
    for i in range(T):
        fits = fits and connectives[i] < N_KEYS
    if not fits:
        raise ValueError(Errors.NL628.format(labels=L, classes=C, keys=N_KEYS))
    return 0
