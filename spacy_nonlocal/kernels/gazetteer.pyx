"""Find the entries of a word list in a text, however the text was cut into tokens.

An entry matches a run of tokens whose texts, written without whitespace, are the same. Strings are compared
by a rolling hash over their code points c_1 … c_n, modulo 2^64:

    H(c_1 … c_n) = Σ_i (c_i + 1) · B^(n - i),    so    H(ab) = H(a) · B^|b| + H(b)

A token is thus two numbers, (H(b), B^|b|), and one more token costs one multiplication. The table holds the
prefixes of all entries, up to the places where a tokenizer may cut: the search goes on as long as the prefix
is known. No longer than the longest entry, therefore, and for most tokens it ends at once.

A tokenizer may cut at whitespace, where letters, digits and other characters meet, around every character
that is neither letter nor digit, before "n't", and around every letter of a script written without spaces
between words. An entry that is cut elsewhere ("can|not") is not found, unless another entry has that prefix.
"""

from .typedefs cimport key_t, prefetch, row_t
from .keys cimport mix
from .table cimport KeyTable, find_row

import numpy as np

from ..errors import Errors

cdef enum:
    AHEAD = 12       # see table.pyx


cdef enum Kind:
    SPACE
    LETTER
    DIGIT
    SINGLE           # stands for itself: a cut may be on either side of it

# Any large odd number; 5 modulo 8 gives powers the longest period, 2^62, so that B^n = 1 only for n = 0.
cdef key_t BASE = 0xD1342543DE82EF95


cdef inline key_t extend(key_t h, Py_UCS4 c) noexcept nogil:
    # The 1 tells "\0a" from "a".
    return h * BASE + <key_t> c + 1


cdef inline key_t table_key(key_t h) noexcept nogil:
    h = mix(0, h)
    return h if h != 0 else 1


cdef inline bint is_unspaced(Py_UCS4 c) noexcept nogil:
    """Whether c belongs to a script whose words a tokenizer finds without the help of spaces."""
    if c < 0x0E00:
        return False
    return (
        c <= 0x109F                       # Thai, Lao, Tibetan, Burmese
        or 0x1780 <= c <= 0x17FF          # Khmer
        or 0x2E80 <= c <= 0x9FFF          # Chinese, kana
        or 0xAC00 <= c <= 0xD7FF          # Korean: tokenizers cut off its endings
        or 0xF900 <= c <= 0xFAFF          # Chinese
        or 0xFF66 <= c <= 0xFF9F          # narrow kana
        or 0x1B000 <= c <= 0x1B16F        # kana
        or 0x20000 <= c <= 0x3FFFF        # Chinese
    )


cdef inline Kind kind_of(Py_UCS4 c):
    if c.isspace():
        return SPACE
    if is_unspaced(c):
        return SINGLE
    if c.isalpha():
        return LETTER
    return DIGIT if c.isnumeric() else SINGLE


cdef inline bint is_contraction(str text, Py_ssize_t i):
    """Whether "n't" stands at i."""
    return (
        i + 2 < len(text)
        and text[i] in u"nN" and text[i + 1] in u"'\u2019" and text[i + 2] in u"tT"
    )


cdef row_t add_entry(KeyTable table, str text) except -2:
    """Add all prefixes of an entry. Gives the row of the whole, or -1 if it is nothing but whitespace."""
    cdef Py_ssize_t i, length = 0
    cdef Py_UCS4 c
    cdef Kind kind, previous = SPACE
    cdef key_t h = 0
    for i in range(len(text)):
        c = text[i]
        kind = kind_of(c)
        if kind != SPACE:
            if length > 0 and (kind != previous or kind == SINGLE or is_contraction(text, i)):
                table.insert(table_key(h))
            h = extend(h, c)
            length += 1
        previous = kind
    return table.insert(table_key(h)) if length > 0 else -1


def build_table(entries, bint lower):
    """Make the table of all prefixes.

    entries (Iterable[str]): The entries; those of whitespace alone are passed over.
    lower (bool): Whether to ignore case.
    RETURNS (Tuple[KeyTable, ndarray]): The prefixes, and uint8[R]: 1 for those that are whole entries.
    """
    cdef KeyTable table = KeyTable()
    cdef row_t row
    cdef str text
    rows = []
    for text in entries:
        row = add_entry(table, text.casefold() if lower else text)
        if row >= 0:
            rows.append(row)
    is_entry = np.zeros(len(table), dtype=np.uint8)
    is_entry[np.asarray(rows, dtype=np.int32)] = 1
    return table, is_entry


def word_values(str text, bint lower):
    """The two numbers that stand for a token.

    text (str): The token's text.
    lower (bool): Whether to ignore case. Case folding, not lower(), for it treats each character alone: what
        lower() makes of a Greek sigma depends on where the word ends.
    RETURNS (Tuple[int, int]): H(text) and B^|text|; (0, 1) for whitespace.
    """
    cdef key_t h = 0, power = 1
    cdef Py_UCS4 c
    if lower:
        text = text.casefold()
    for c in text:
        if not c.isspace():
            h = extend(h, c)
            power *= BASE
    return h, power


cdef Py_ssize_t match_end(
    const key_t* hashes,                 # [T]
    const key_t* powers,                 # [T]
    Py_ssize_t start,
    Py_ssize_t length,                   # T
    KeyTable table,
    const unsigned char* is_entry,       # [R]
) noexcept nogil:
    """Where the longest entry that begins at start ends; start, if none does."""
    cdef Py_ssize_t t, end = start
    cdef key_t h = 0
    cdef row_t row
    if powers[start] == 1:
        return start
    for t in range(start, length):
        if powers[t] == 1:
            continue  # whitespace: inside a match, but never at its end
        h = h * powers[t] + hashes[t]
        row = find_row(table.slots, table.mask, table_key(h))
        if row < 0:
            break
        if is_entry[row]:
            end = t + 1
    return end


def longest_matches(
    const key_t[::1] hashes,             # [T]
    const key_t[::1] powers,             # [T]
    KeyTable table,                      # R prefixes
    const unsigned char[::1] is_entry,   # [R]
):
    """Mark entries from left to right, the longest first, without overlap.

    hashes (ndarray): uint64[T], first values of the tokens (see word_values).
    powers (ndarray): uint64[T], second values.
    table (KeyTable): The prefixes of the entries.
    is_entry (ndarray): uint8[R], which of them are whole entries.
    RETURNS (ndarray): uint64[T]: 0 outside, 1 where an entry begins, 2 where it goes on.
    """
    cdef Py_ssize_t t = 0, end, i, T = hashes.shape[0]
    if powers.shape[0] != T:
        raise ValueError(Errors.NL128.format(hashes=T, powers=powers.shape[0]))
    if is_entry.shape[0] != table.length:
        raise ValueError(Errors.NL129.format(given=is_entry.shape[0], expected=table.length))
    out = np.zeros(T, dtype=np.uint64)
    if T == 0 or table.length == 0:
        return out
    cdef key_t[::1] tag = out
    with nogil:
        while t < T:
            if t + AHEAD < T:
                prefetch(&table.slots[table_key(hashes[t + AHEAD]) & table.mask])
            end = match_end(&hashes[0], &powers[0], t, T, table, &is_entry[0])
            if end == t:
                t += 1
                continue
            tag[t] = 1
            for i in range(t + 1, end):
                tag[i] = 2
            t = end
    return out
