import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_nonlocal.kernels.gazetteer import build_table, longest_matches, word_values
from spacy_nonlocal.kernels.table import KeyTable

EXACT = settings(derandomize=True, deadline=None, max_examples=300)

# Where letters, digits and the rest meet, and before "n't": what gazetteer.pyx says in its header.
PIECES = re.compile(r"[^\W\d]+?(?=n't)|[^\W\d]+|\d+|\S")


def make_arrays(tokens, lower=False):
    values = [word_values(token, lower) for token in tokens]
    hashes = np.array([h for h, _ in values], dtype=np.uint64)
    powers = np.array([power for _, power in values], dtype=np.uint64)
    return hashes, powers


def find(entries, tokens, lower=False):
    table, is_entry = build_table(entries, lower)
    return longest_matches(*make_arrays(tokens, lower), table, is_entry).tolist()


def find_naively(entries, tokens, known=None):
    """Search by comparing strings. known: the prefixes that a run may be cut at, None for all."""
    names = {"".join(entry.split()) for entry in entries} - {""}
    texts = ["".join(token.split()) for token in tokens]
    out, start = [0] * len(tokens), 0
    while start < len(tokens):
        best = start
        for end in range(start + 1, len(tokens) + 1):
            cuts = {"".join(texts[start:i]) for i in range(start + 1, end)}
            if known is not None and not cuts <= known:
                continue
            if texts[start] and texts[end - 1] and "".join(texts[start:end]) in names:
                best = end
        if best > start:
            out[start:best] = [1] + [2] * (best - start - 1)
        start = max(best, start + 1)
    return out


def test_joined_words_have_the_hash_of_the_whole():
    whole, power = word_values("New York", False)
    (h1, p1), (h2, p2) = word_values("New", False), word_values("York", False)
    assert whole == (h1 * p2 + h2) % 2**64
    assert power == p1 * p2 % 2**64


@EXACT
@given(st.text(), st.text(), st.booleans())
def test_any_joined_words_have_the_hash_of_the_whole(a, b, lower):
    (h1, p1), (h2, p2) = word_values(a, lower), word_values(b, lower)
    expected = ((h1 * p2 + h2) % 2**64, p1 * p2 % 2**64)
    assert word_values(a + b, lower) == expected


def test_values_of_words_do_not_change():
    # Models store them.
    assert word_values("", False) == (0, 1)
    assert word_values("a", False) == (98, 15074714826142052245)
    assert word_values("\U0001f600b", True)[0] == (0x1F601 * 0xD1342543DE82EF95 + 99) % 2**64
    assert build_table(["a"], False)[0].keys().tolist() == [17360999193197444373]


def test_whitespace_has_no_values():
    assert word_values(" \n\t\u00a0", False) == word_values("", True) == (0, 1)


def test_words_differ_by_characters_case_and_order():
    words = ["a", "b", "ab", "ba", "A", "\0a", "\0\0a", "aa", ""]
    assert len({word_values(word, False)[0] for word in words}) == len(words)
    assert word_values("Ab", True) == word_values("aB", True)


@pytest.mark.parametrize(
    "tokens",
    [["U.S."], ["U.", "S."], ["U.S", "."], ["U", ".", "S", "."], ["U", ".S."]],
)
def test_entry_is_found_however_it_is_cut(tokens):
    assert find(["the", "U.S.", "U.S. Navy"], ["by", *tokens, "!"]) == [
        0,
        *[1] + [2] * (len(tokens) - 1),
        0,
    ]


@pytest.mark.parametrize(
    ("entry", "tokens"),
    [
        ("Rock 'n' Roll", ["Rock", "'", "n", "'", "Roll"]),
        ("don't know", ["do", "n't", "know"]),
        ("DON’T KNOW", ["DO", "N’T", "KNOW"]),
        ("St. Mary's", ["St.", "Mary", "'s"]),
        ("10km run", ["10", "km", "run"]),
        ("A1 Team", ["A", "1", "Team"]),
        ("Enterprise Rent-A-Car", ["Enterprise", "Rent", "-", "A-Car"]),
        ("New  \tYork", ["New", "York"]),
        ("New York", ["NewYork"]),
        ("東京都 大田区", ["東", "京都", "大田", "区"]),
        ("กรุงเทพ", ["กรุง", "เทพ"]),
        ("서울시", ["서울", "시"]),
        ("Kra\u0301l", ["Kra", "\u0301", "l"]),
    ],
)
def test_entry_may_be_cut_where_tokenizers_cut(entry, tokens):
    assert find([entry], tokens) == [1] + [2] * (len(tokens) - 1)


def test_entry_cut_inside_letters_is_found_only_at_known_prefixes():
    assert find(["cannot fly"], ["cannot", "fly"]) == [1, 2]
    assert find(["cannot fly"], ["can", "not", "fly"]) == [0, 0, 0]
    assert find(["cannot fly", "can fly"], ["can", "not", "fly"]) == [1, 2, 2]


def test_match_begins_and_ends_with_tokens():
    assert find(["York"], ["York-based"]) == [0]
    assert find(["York", "New York"], ["New", "Yorkers"]) == [0, 0]
    assert find(["York"], ["NewYork"]) == [0]


def test_longest_match_wins():
    entries = ["New York", "New York Times", "Times Square"]
    assert find(entries, ["New", "York", "Times", "Square"]) == [1, 2, 2, 0]


def test_shorter_match_is_kept_when_the_longer_one_breaks_off():
    entries = ["New York", "New York Stock Exchange"]
    assert find(entries, ["New", "York", "Stock", "New", "York"]) == [1, 2, 0, 1, 2]


def test_prefix_of_an_entry_is_no_match():
    assert find(["New York Times"], ["New", "York"]) == [0, 0]


def test_matches_side_by_side_are_told_apart():
    assert find(["Rome", "Paris"], ["Rome", "Paris", "Rome"]) == [1, 1, 1]


def test_whitespace_tokens_belong_to_matches_only_inside():
    assert find(["New York"], [" ", "New", "\n", "York", "\n\n", "York"]) == [0, 1, 2, 2, 0, 0]
    assert find(["New York"], ["New", " "]) == [0, 0]
    assert find(["New York"], ["\n"]) == [0]


def test_case_is_ignored_only_if_asked():
    assert find(["new york"], ["NEW", "York"]) == [0, 0]
    assert find(["new york"], ["NEW", "York"], lower=True) == [1, 2]
    assert find(["STRASSE"], ["Straße"], lower=True) == [1]
    # lower() would write the sigma of "ΟΔΟΣ" in two ways, by what follows it.
    assert find(["ΟΔΟΣ-Α"], ["οδος", "-", "α"], lower=True) == [1, 2, 2]


def test_blank_and_repeated_entries_change_nothing():
    table, is_entry = build_table(["Rome", "", " \t", "Rome", "R ome"], False)
    assert len(table) == len(is_entry) == 2
    assert is_entry.tolist() == [1, 0]


def test_no_tokens_no_entries_one_token():
    assert find(["Rome"], []) == []
    assert find([], ["Rome"]) == [0]
    assert find([], []) == []
    assert find(["Rome"], ["Rome"]) == [1]


def test_long_text_of_false_starts():
    entries = ["a " * 50 + "b"]
    tokens = ["a"] * 100_000
    assert find(entries, tokens) == [0] * 100_000
    assert find(entries, [*tokens, "b"])[-52:] == [0, 1] + [2] * 50


def test_arrays_that_may_not_be_written_are_read():
    table, is_entry = build_table(["Rome"], False)
    hashes, powers = make_arrays(["Rome"])
    for array in (is_entry, hashes, powers):
        array.flags.writeable = False
    assert longest_matches(hashes, powers, table, is_entry).tolist() == [1]


def test_result_is_a_column_of_attributes():
    table, is_entry = build_table(["Rome"], False)
    assert longest_matches(*make_arrays(["Rome"]), table, is_entry).dtype == np.uint64


def test_numbers_of_hashes_and_powers_must_agree():
    table, is_entry = build_table(["Rome"], False)
    hashes, powers = make_arrays(["in", "Rome"])
    with pytest.raises(ValueError, match=r"\[NL128\].* 2 hashes but 1 powers"):
        longest_matches(hashes, powers[:1], table, is_entry)


def test_every_prefix_must_be_marked():
    table, is_entry = build_table(["New York"], False)
    with pytest.raises(ValueError, match=r"\[NL129\].* 2 prefixes, but 1 "):
        longest_matches(*make_arrays(["New"]), table, is_entry[:1])
    with pytest.raises(ValueError, match=r"\[NL129\].* 0 prefixes, but 2 "):
        longest_matches(*make_arrays(["New"]), KeyTable(), is_entry)


def test_entries_must_be_text():
    with pytest.raises(TypeError):
        build_table([b"Rome"], False)


@st.composite
def entries_and_tokens(draw, alphabet):
    """Draw entries, and a text of entries and other things, cut anywhere."""
    entries = draw(st.lists(st.text(alphabet, min_size=1, max_size=8), min_size=1, max_size=5))
    parts = st.sampled_from(entries) | st.text(alphabet, max_size=3)
    text = "".join(draw(st.lists(parts, max_size=5)))
    cuts = draw(st.lists(st.integers(1, 4), min_size=len(text), max_size=len(text)))
    ends = np.cumsum([0, *cuts]).tolist()
    tokens = [text[start:end] for start, end in zip(ends, ends[1:], strict=False)]
    return entries, [token for token in tokens if token]


@EXACT
@given(entries_and_tokens("東京都.- "))
def test_finds_what_comparing_strings_finds(case):
    # Here every character stands for itself, so that every cut is possible.
    entries, tokens = case
    assert find(entries, tokens) == find_naively(entries, tokens)


@EXACT
@given(entries_and_tokens("ant1'. "))
def test_finds_what_comparing_strings_finds_between_known_prefixes(case):
    entries, tokens = case
    pieces = [PIECES.findall(entry) for entry in entries]
    known = {"".join(piece[:i]) for piece in pieces for i in range(len(piece) + 1)}
    assert find(entries, tokens) == find_naively(entries, tokens, known)


@EXACT
@given(st.data())
def test_entry_cut_into_its_pieces_is_found_whole(data):
    entry = data.draw(st.text("aB1'.-東 ", min_size=1).filter(str.strip))
    pieces = [piece for part in PIECES.findall(entry) for piece in re.findall("東|[^東]+", part)]
    cuts = data.draw(st.lists(st.booleans(), min_size=len(pieces), max_size=len(pieces)))
    tokens = [""]
    for piece, cut in zip(pieces, cuts, strict=True):
        if cut:
            tokens.append("")
        tokens[-1] += piece
    tokens = [token for token in tokens if token]
    assert find([entry], tokens) == [1] + [2] * (len(tokens) - 1)
