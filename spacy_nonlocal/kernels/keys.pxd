from .typedefs cimport key_t, row_t

# A template is a seed and a list of terms; its key at a position mixes the seed with the terms' values.

cdef struct Term:
    row_t attr           # column: below n_lexical of the word's values, else of the token's
    row_t offset         # distance from the position looked at
    row_t other          # -1, or the column it is compared with: then the value is "same" or "different"
    row_t other_offset


cdef struct View:
    # What the templates look at. A token's word is a line of `lexical`; `tokens` has what changes from token to token.
    const row_t* ids          # [T]
    const key_t* lexical      # [words, n_lexical]
    const key_t* tokens       # [T, n_token]
    Py_ssize_t n_lexical
    Py_ssize_t n_token
    Py_ssize_t length         # T


cdef inline key_t mix(key_t h, key_t value) noexcept nogil:
    # splitmix64: every bit of the input reaches every bit of the output
    h = (h ^ value) + <key_t> 0x9E3779B97F4A7C15
    h = (h ^ (h >> 30)) * <key_t> 0xBF58476D1CE4E5B9
    h = (h ^ (h >> 27)) * <key_t> 0x94D049BB133111EB
    return h ^ (h >> 31)


cdef inline key_t value_at(const View* view, Py_ssize_t t, row_t attr) noexcept nogil:
    # Outside the sequence there is one value per distance, far from any that a token has.
    if t < 0:
        return <key_t> 0x9D8F3C1BE6A72500 + <key_t> t
    if t >= view.length:
        return <key_t> 0x51C4E0F7B3D68A00 + <key_t> (t - view.length)
    if attr < view.n_lexical:
        return view.lexical[view.ids[t] * view.n_lexical + attr]
    return view.tokens[t * view.n_token + attr - view.n_lexical]


cdef inline key_t key_at(const View* view, Py_ssize_t t, key_t seed, const Term* terms, Py_ssize_t n) noexcept nogil:
    cdef key_t h = seed
    cdef key_t value
    cdef Py_ssize_t i
    for i in range(n):
        value = value_at(view, t + terms[i].offset, terms[i].attr)
        if terms[i].other >= 0:
            value = value == value_at(view, t + terms[i].other_offset, terms[i].other)
        h = mix(h, value)
    return h if h != 0 else 1


cdef class Templates:
    cdef readonly Py_ssize_t length      # K
    cdef readonly Py_ssize_t n_lexical
    cdef readonly Py_ssize_t n_token
    cdef key_t* seeds                    # [K]
    cdef Py_ssize_t* first               # [K + 1] where each template's terms begin
    cdef Term* terms
    cdef object arguments                # for __reduce__

    cdef View view(self, const row_t[::1] ids, const key_t[:, ::1] lexical, const key_t[:, ::1] tokens) except *
