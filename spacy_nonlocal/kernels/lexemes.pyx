"""Scores of whole words, for prediction.

While the weights stand still, all templates that look at one word at one offset add up to one vector. For every word
seen and every such offset ("group") that vector is kept:

    scores[word, g, y] = Σ_{k in group g} weights[table[key_k(word)], y]
    node[t, y] = base[y] + Σ_g scores[ids[t + offset_g], g, y]

so that a token costs one vector addition per group, however many templates the group has. Positions outside the
sequence have vectors of their own, one per distance. Spirit and gain are those of the precomputed first layer in
spaCy's parser.
"""

from .typedefs cimport prefetch, row_t, weight_t
from .keys cimport Templates, View, key_at
from .lattice cimport BLOCK, add_vector
from .table cimport KeyTable, find_row
from .typedefs cimport key_t

from ..errors import Errors


cdef void add_group(
    weight_t* out,                       # [width]
    const View* view,
    Py_ssize_t t,
    Templates templates,
    Py_ssize_t first,
    Py_ssize_t last,
    KeyTable table,
    const weight_t* weights,             # [R, width]
    Py_ssize_t width,
) noexcept nogil:
    """Add up what the templates first … last - 1 say at position t."""
    cdef Py_ssize_t k, i
    cdef row_t row
    for i in range(width):
        out[i] = 0
    for k in range(first, last):
        row = find_row(table.slots, table.mask, key_at(
            view, t, templates.seeds[k], &templates.terms[templates.first[k]],
            templates.first[k + 1] - templates.first[k]
        ))
        if row >= 0:
            add_vector(out, &weights[row * width], width)


def fill_words(
    Templates templates not None,
    const row_t[::1] groups,             # [G + 1]
    const row_t[::1] offsets,            # [G]
    KeyTable table not None,
    const weight_t[:, ::1] weights,      # [R, width]
    const key_t[:, ::1] lexical,         # [words, n_lexical]
    const row_t[::1] words,              # [n] which words to fill
    weight_t[:, :, ::1] out,             # [words, G, width]
):
    """Compute the vectors of some words."""
    check(templates, groups, offsets, table, weights, out.shape[1], out.shape[2])
    if out.shape[0] < lexical.shape[0] or lexical.shape[1] != templates.n_lexical:
        raise ValueError(Errors.NL613.format(given=(lexical.shape[0], lexical.shape[1])))
    cdef Py_ssize_t n, g, width = out.shape[2]
    cdef const weight_t* w = &weights[0, 0] if weights.shape[0] > 0 else NULL
    cdef row_t word
    cdef View view = View(NULL, NULL, NULL, templates.n_lexical, templates.n_token, 1)
    for n in range(words.shape[0]):
        word = words[n]
        if not 0 <= word < lexical.shape[0]:
            raise ValueError(Errors.NL609.format(id=word, words=lexical.shape[0], position=n))
        view.ids = &word
        view.lexical = &lexical[0, 0] if lexical.shape[1] > 0 else NULL
        for g in range(offsets.shape[0]):
            # A sequence of this one word, seen from where it lies at the group's offset.
            add_group(&out[word, g, 0], &view, -offsets[g], templates, groups[g], groups[g + 1], table, w, width)


def fill_outside(
    Templates templates not None,
    const row_t[::1] groups,             # [G + 1]
    const row_t[::1] offsets,            # [G]
    KeyTable table not None,
    const weight_t[:, ::1] weights,      # [R, width]
    weight_t[:, :, ::1] out,             # [G, D, width]: distance d is at [g, d - 1]
):
    """Compute the vectors of positions outside the sequence: before it for offsets < 0, after it for offsets > 0."""
    check(templates, groups, offsets, table, weights, out.shape[0], out.shape[2])
    cdef Py_ssize_t g, d, outside, width = out.shape[2]
    cdef const weight_t* w = &weights[0, 0] if weights.shape[0] > 0 else NULL
    cdef View view = View(NULL, NULL, NULL, templates.n_lexical, templates.n_token, 0)
    for g in range(offsets.shape[0]):
        for d in range(out.shape[1]):
            outside = -1 - d if offsets[g] < 0 else d
            add_group(&out[g, d, 0], &view, outside - offsets[g], templates, groups[g], groups[g + 1], table, w, width)


cdef int check(
    Templates templates, const row_t[::1] groups, const row_t[::1] offsets, KeyTable table,
    const weight_t[:, ::1] weights, Py_ssize_t n_groups, Py_ssize_t width
) except -1:
    cdef Py_ssize_t g, k, G = offsets.shape[0]
    if groups.shape[0] != G + 1 or n_groups != G or (G >= 0 and groups[0] != 0):
        raise ValueError(Errors.NL612.format(groups=list(groups), columns=templates.length))
    if weights.shape[1] != width or width % BLOCK or weights.shape[0] < table.length:
        raise ValueError(Errors.NL611.format(
            weights=weights.shape[1], base=width, out=(n_groups, width), length=table.length
        ))
    for g in range(G):
        if not groups[g] <= groups[g + 1] <= templates.length:
            raise ValueError(Errors.NL612.format(groups=list(groups), columns=templates.length))
        for k in range(templates.first[groups[g]], templates.first[groups[g + 1]]):
            # Only words may be looked at, and only at the group's own offset.
            if (
                templates.terms[k].offset != offsets[g] or templates.terms[k].attr >= templates.n_lexical
                or templates.terms[k].other >= templates.n_lexical
                or (templates.terms[k].other >= 0 and templates.terms[k].other_offset != offsets[g])
            ):
                raise ValueError(Errors.NL614.format(group=g, offset=offsets[g]))
    return 0


def score_words(
    const row_t[::1] ids,                # [T]
    const row_t[::1] offsets,            # [G]
    const weight_t[:, :, ::1] scores,    # [words, G, width]
    const weight_t[:, :, ::1] outside,   # [G, D, width]
    const weight_t[::1] base,            # [width]
    weight_t[:, ::1] out,                # [T, width]
):
    """base + sum over groups of the vector of the word at the group's offset"""
    cdef Py_ssize_t T = ids.shape[0], G = offsets.shape[0], width = base.shape[0]
    cdef Py_ssize_t t, g, at, i
    if out.shape[0] != T or out.shape[1] != width or width % BLOCK:
        raise ValueError(Errors.NL611.format(weights=width, base=width, out=(out.shape[0], out.shape[1]), length=T))
    if G and (scores.shape[1] != G or scores.shape[2] != width or outside.shape[0] != G or outside.shape[2] != width):
        raise ValueError(Errors.NL613.format(given=(scores.shape[1], scores.shape[2])))
    for g in range(G):
        if abs(offsets[g]) > outside.shape[1]:
            raise ValueError(Errors.NL614.format(group=g, offset=offsets[g]))
    for t in range(T):
        if not 0 <= ids[t] < scores.shape[0]:
            raise ValueError(Errors.NL609.format(id=ids[t], words=scores.shape[0], position=t))
    with nogil:
        for t in range(T):
            if t + 4 < T and G:
                prefetch(&scores[ids[t + 4], 0, 0])
            for i in range(width):
                out[t, i] = base[i]
            for g in range(G):
                at = t + offsets[g]
                if at < 0:
                    add_vector(&out[t, 0], &outside[g, -1 - at, 0], width)
                elif at >= T:
                    add_vector(&out[t, 0], &outside[g, at - T, 0], width)
                else:
                    add_vector(&out[t, 0], &scores[ids[at], g, 0], width)
