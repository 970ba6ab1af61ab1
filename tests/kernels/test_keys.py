import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_nonlocal.kernels.keys import Templates

from .oracles import U64, ints, key_at, keys, pickled, quick, seeds, uints

WORD = (0, 0, -1, 0)
NO_TOKENS = np.zeros((1, 0), dtype=np.uint64)


def one_key(seed, terms, value=0):
    """The key of one template on a sequence of one word with one attribute."""
    templates = Templates([seed], [terms], 1, 0)
    return int(templates.keys(ints([0]), uints([[value]]), NO_TOKENS)[0, 0])


@st.composite
def looks(draw):
    """Templates, and something to look at: arguments of Templates and of its keys()."""
    n_lexical, n_token = draw(st.integers(0, 3)), draw(st.integers(0, 3))
    columns = n_lexical + n_token
    terms = st.lists(st.nothing())
    if columns:
        column, offset = st.integers(0, columns - 1), st.integers(-4, 4)
        alone = st.tuples(column, offset, st.just(-1), st.just(0))
        terms = st.lists(alone | st.tuples(column, offset, column, offset), max_size=3)
    templates = draw(st.lists(st.tuples(seeds, terms), max_size=4))
    words = draw(st.integers(1, 4))
    T = draw(st.integers(0, 5))
    ids = draw(st.lists(st.integers(0, words - 1), min_size=T, max_size=T))

    def table(n, width):
        line = st.lists(keys, min_size=width, max_size=width)
        return uints(draw(st.lists(line, min_size=n, max_size=n))).reshape(n, width)

    compiled = (
        [seed for seed, _ in templates],
        [each for _, each in templates],
        n_lexical,
        n_token,
    )
    return compiled, (ints(ids), table(words, n_lexical), table(T, n_token))


@quick
@given(looks())
def test_keys_match_the_formula(example):
    arguments, (ids, lexical, tokens) = example
    templates = Templates(*arguments)
    got = templates.keys(ids, lexical, tokens)
    values = [[*lexical[word].tolist(), *tokens[t].tolist()] for t, word in enumerate(ids)]
    pairs = list(zip(*arguments[:2], strict=True))
    want = [[key_at(values, t, *pair) for pair in pairs] for t in range(len(ids))]
    assert got.dtype == np.uint64
    assert got.shape == (len(ids), len(arguments[0]))
    assert got.tolist() == want
    assert np.array_equal(pickled(templates).keys(ids, lexical, tokens), got)


def test_keys_are_splitmix64():
    # The first numbers of SplitMix64 from state 0 and from state 1234567, as published. Models
    # on disk hold such keys: they may never change.
    assert one_key(77, [WORD], 77) == 0xE220A8397B1DCDAF
    assert one_key(1, [WORD], 1234567 ^ 1) == 6457827717110365317


def test_key_zero_becomes_one():
    golden = 0x9E3779B97F4A7C15
    assert one_key(5, [WORD], 5 ^ (U64 - golden)) == 1
    # Only the end result: zero on the way there is a number like any other.
    assert one_key(5, [WORD, WORD], 5 ^ (U64 - golden)) == key_at(
        [[5 ^ (U64 - golden)]], 0, 5, [WORD, WORD]
    )


def test_template_without_terms_is_its_seed_everywhere():
    templates = Templates([9, U64 - 1], [[], []], 1, 0)
    got = templates.keys(ints([0, 1]), uints([[3], [4]]), np.zeros((2, 0), dtype=np.uint64))
    assert got.tolist() == [[9, U64 - 1]] * 2


def test_every_distance_outside_has_its_own_key():
    terms = [[(0, offset, -1, 0)] for offset in (-3, -2, -1, 1, 2, 3)]
    templates = Templates([1] * 6, terms, 1, 0)
    got = templates.keys(ints([0]), uints([[50]]), NO_TOKENS)
    assert len(set(got[0].tolist())) == 6
    # The same distance is the same key, from wherever it is seen and in a sequence of any length.
    longer = templates.keys(ints([0, 0]), uints([[50]]), np.zeros((2, 0), dtype=np.uint64))
    assert longer[0, 2] == longer[1, 1] == got[0, 2]
    assert longer[1, 3] == longer[0, 4] == got[0, 3]


def test_outside_is_the_same_for_every_column():
    templates = Templates([1, 1], [[(0, -1, -1, 0)], [(1, -1, -1, 0)]], 1, 1)
    got = templates.keys(ints([0]), uints([[50]]), uints([[60]]))
    assert got[0, 0] == got[0, 1]


def test_equality_terms_see_only_whether():
    templates = Templates([1], [[(0, 0, 0, 1)]], 1, 0)
    ids = ints([0, 1, 2, 2])
    tokens = np.zeros((4, 0), dtype=np.uint64)
    # Words 0 and 1 have the same value, though they are two words.
    same, differ, same_word, end = templates.keys(ids, uints([[8], [8], [9]]), tokens)[:, 0]
    assert same == same_word == key_at([[0], [0]], 0, 1, [(0, 0, 0, 1)])
    assert differ == end
    assert differ != same


def test_equality_across_word_and_token_columns():
    templates = Templates([1], [[(0, 0, 1, 0)]], 1, 1)
    got = templates.keys(ints([0, 1]), uints([[8], [9]]), uints([[8], [8]]))
    assert got[0, 0] == key_at([[8, 8]], 0, 1, [(0, 0, 1, 0)])
    assert got[1, 0] == key_at([[9, 8]], 0, 1, [(0, 0, 1, 0)])
    assert got[0, 0] != got[1, 0]


def test_order_of_terms_matters():
    lexical = uints([[3, 4]])
    templates = Templates(
        [1, 1], [[(0, 0, -1, 0), (1, 0, -1, 0)], [(1, 0, -1, 0), (0, 0, -1, 0)]], 2, 0
    )
    first, second = templates.keys(ints([0]), lexical, NO_TOKENS)[0]
    assert first != second


def test_lengths():
    templates = Templates([1, 2], [[WORD], [WORD]], 1, 2)
    assert len(templates) == templates.length == 2
    assert (templates.n_lexical, templates.n_token) == (1, 2)
    empty = np.zeros((0, 2), dtype=np.uint64)
    assert templates.keys(ints([]), uints([[1]]), empty).shape == (0, 2)
    assert templates.keys(ints([]), np.zeros((0, 1), dtype=np.uint64), empty).shape == (0, 2)
    assert Templates([], [], 1, 0).keys(ints([0]), uints([[1]]), NO_TOKENS).shape == (1, 0)


def test_every_template_needs_its_terms():
    with pytest.raises(ValueError, match="NL605.* 2 templates.* 1 list"):
        Templates([1, 2], [[WORD]], 1, 0)


@pytest.mark.parametrize("term", [(3, 0, -1, 0), (-1, 0, -1, 0), (0, 0, 3, 0), (0, 0, -2, 0)])
def test_column_out_of_range(term):
    with pytest.raises(ValueError, match="NL606.*only 3 columns"):
        Templates([1], [[WORD, term]], 2, 1)


def test_numbers_that_do_not_fit():
    with pytest.raises(OverflowError):
        Templates([U64], [[WORD]], 1, 0)
    with pytest.raises(OverflowError):
        Templates([-1], [[WORD]], 1, 0)
    with pytest.raises(OverflowError):
        Templates([1], [[(0, 2**31, -1, 0)]], 1, 0)


@pytest.mark.parametrize(
    ("lexical", "tokens"), [((1, 1), (1, 1)), ((1, 2), (1, 2)), ((1, 3), (1, 0))]
)
def test_columns_other_than_those_of_the_templates(lexical, tokens):
    templates = Templates([1], [[WORD]], 2, 1)
    with pytest.raises(ValueError, match=r"NL607.*\(2, 1\)"):
        templates.keys(ints([0]), np.ones(lexical, np.uint64), np.ones(tokens, np.uint64))


@pytest.mark.parametrize("n_tokens", [0, 1, 3])
def test_token_attributes_for_another_length(n_tokens):
    templates = Templates([1], [[WORD]], 1, 1)
    with pytest.raises(ValueError, match=f"NL608.* {n_tokens} token attributes.* 2 tokens"):
        templates.keys(ints([0, 0]), uints([[1]]), np.ones((n_tokens, 1), np.uint64))


@pytest.mark.parametrize("word", [-1, 2, 2**31 - 1])
def test_unknown_word(word):
    templates = Templates([1], [[WORD]], 1, 0)
    with pytest.raises(ValueError, match=f"NL609.*Token 1 .* {word}, .* 2 words"):
        templates.keys(ints([0, word]), uints([[1], [2]]), np.zeros((2, 0), dtype=np.uint64))
    with pytest.raises(ValueError, match="NL609.* 0 words"):
        templates.keys(ints([0]), np.zeros((0, 1), dtype=np.uint64), NO_TOKENS)
