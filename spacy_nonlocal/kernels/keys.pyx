"""From attributes to feature keys: every template at every position becomes one 64-bit number."""

from libc.stdlib cimport calloc, free

from .typedefs cimport key_t, row_t
from .keys cimport Term, View, key_at

import numpy as np

from ..errors import Errors


cdef class Templates:
    """Feature templates in compiled form.

    seeds (Sequence[int]): One 64-bit number per template, never 0.
    terms (Sequence[Sequence[Tuple[int, int, int, int]]]): For each template its terms: column, offset, and
        either (-1, 0) or the column and offset it is compared with.
    n_lexical (int): How many columns belong to the word; the columns after them belong to the token.
    n_token (int): How many columns belong to the token.
    """

    def __cinit__(self, seeds, terms, Py_ssize_t n_lexical, Py_ssize_t n_token):
        cdef Py_ssize_t k, i = 0
        self.arguments = (list(seeds), [list(term) for term in terms], n_lexical, n_token)
        self.length = len(seeds)
        self.n_lexical = n_lexical
        self.n_token = n_token
        if len(terms) != self.length:
            raise ValueError(Errors.NL605.format(seeds=len(seeds), terms=len(terms)))
        n_terms = sum(len(each) for each in terms)
        self.seeds = <key_t*> calloc(self.length + 1, sizeof(key_t))
        self.first = <Py_ssize_t*> calloc(self.length + 1, sizeof(Py_ssize_t))
        self.terms = <Term*> calloc(n_terms + 1, sizeof(Term))
        if self.seeds == NULL or self.first == NULL or self.terms == NULL:
            raise MemoryError
        for k in range(self.length):
            if not seeds[k]:
                raise ValueError(Errors.NL603)
            self.seeds[k] = seeds[k]
            self.first[k] = i
            for attr, offset, other, other_offset in terms[k]:
                if not (0 <= attr < n_lexical + n_token and -1 <= other < n_lexical + n_token):
                    raise ValueError(Errors.NL606.format(column=(attr, other), columns=n_lexical + n_token))
                self.terms[i] = Term(attr, offset, other, other_offset)
                i += 1
        self.first[self.length] = i

    def __dealloc__(self):
        free(self.seeds)
        free(self.first)
        free(self.terms)

    def __len__(self):
        return self.length

    def __reduce__(self):
        return (Templates, self.arguments)

    cdef View view(self, const row_t[::1] ids, const key_t[:, ::1] lexical, const key_t[:, ::1] tokens) except *:
        """Check the shapes and ids of what the templates are about to look at."""
        cdef View view
        cdef Py_ssize_t t
        view.length = ids.shape[0]
        view.n_lexical = self.n_lexical
        view.n_token = self.n_token
        if lexical.shape[1] != self.n_lexical or tokens.shape[1] != self.n_token:
            raise ValueError(Errors.NL607.format(
                given=(lexical.shape[1], tokens.shape[1]), expected=(self.n_lexical, self.n_token)
            ))
        if tokens.shape[0] != view.length:
            raise ValueError(Errors.NL608.format(what="token attributes", given=tokens.shape[0], expected=view.length))
        for t in range(view.length):
            if ids[t] < 0 or ids[t] >= lexical.shape[0]:
                raise ValueError(Errors.NL609.format(id=ids[t], words=lexical.shape[0], position=t))
        # Empty arrays have no first element to point at; nothing is read from them either.
        view.ids = &ids[0] if view.length > 0 else NULL
        view.lexical = &lexical[0, 0] if lexical.shape[0] > 0 and self.n_lexical > 0 else NULL
        view.tokens = &tokens[0, 0] if view.length > 0 and self.n_token > 0 else NULL
        return view

    def keys(self, const row_t[::1] ids, const key_t[:, ::1] lexical, const key_t[:, ::1] tokens):
        """The key of every template at every position.

        ids (ndarray): int32[T], each token's word, a line of `lexical`.
        lexical (ndarray): uint64[words, n_lexical].
        tokens (ndarray): uint64[T, n_token].
        RETURNS (ndarray): uint64[T, K], never 0.
        """
        cdef View view = self.view(ids, lexical, tokens)
        cdef Py_ssize_t t, k, K = self.length
        out = np.empty((view.length, K), dtype=np.uint64)
        cdef key_t[:, ::1] key = out
        with nogil:
            for t in range(view.length):
                for k in range(K):
                    key[t, k] = key_at(
                        &view, t, self.seeds[k], &self.terms[self.first[k]], self.first[k + 1] - self.first[k]
                    )
        return out
