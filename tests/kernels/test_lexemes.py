import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_nonlocal.kernels.keys import Templates
from spacy_nonlocal.kernels.lattice import score_rows
from spacy_nonlocal.kernels.lexemes import fill_outside, fill_words, score_words
from spacy_nonlocal.kernels.table import KeyTable

from .oracles import INF, bits, floats, ints, keys, quick, seeds, uints

# Two groups over words with two attributes: the word and the next one, and the word before.
SEEDS = [11, 12, 13]
TERMS = [[(0, 1, -1, 0)], [(0, 1, -1, 0), (1, 1, -1, 0)], [(1, -1, 0, -1)]]
GROUPS = ints([0, 2, 3])
OFFSETS = ints([1, -1])
LEXICAL = uints([[100, 101], [200, 200], [300, 301]])


def templates_with(term, n_token=1):
    """The templates above, but for one term of the last."""
    return Templates(SEEDS, [*TERMS[:2], [term]], 2, n_token)


def zeros(*shape):
    return np.zeros(shape, dtype=np.float32)


def by_rows(templates, groups, table, weights, base, lexical, ids):
    """The scores as in training: keys, rows, weights."""
    tokens = np.zeros((len(ids), templates.n_token), dtype=np.uint64)
    out = np.full((len(ids), len(base)), np.nan, dtype=np.float32)
    score_rows(table.find(templates.keys(ids, lexical, tokens)), groups, weights, base, out)
    return out


def by_words(templates, groups, offsets, table, weights, base, lexical, ids):
    """The scores as in prediction: sums kept for every word."""
    G, width = len(offsets), len(base)
    reach = max(map(abs, offsets.tolist()), default=0)
    scores = np.full((len(lexical), G, width), np.nan, dtype=np.float32)
    outside = np.full((G, reach, width), np.nan, dtype=np.float32)
    words = np.arange(len(lexical), dtype=np.int32)
    fill_words(templates, groups, offsets, table, weights, lexical, words, scores)
    fill_outside(templates, groups, offsets, table, weights, outside)
    out = np.full((len(ids), width), np.nan, dtype=np.float32)
    score_words(ids, offsets, scores, outside, base, out)
    return out


def learnt(templates, lexical, ids, width, seed):
    """A table that knows most of the features of a sequence, with weights of many magnitudes."""
    tokens = np.zeros((len(ids), templates.n_token), dtype=np.uint64)
    seen = np.unique(templates.keys(ids, lexical, tokens))
    rng = np.random.default_rng(seed)
    table = KeyTable(rng.permutation(seen[seen % np.uint64(5) != 0]))
    shape = (len(table), width)
    weights = rng.normal(size=shape) * 10.0 ** rng.integers(-4, 5, size=shape)
    return table, weights.astype(np.float32), rng.normal(size=width).astype(np.float32)


@st.composite
def models(draw):
    """Templates in groups with one offset each, what they learnt, and a sequence of words."""
    n_lexical = draw(st.integers(1, 3))
    column = st.integers(0, n_lexical - 1)
    offsets = draw(st.lists(st.integers(-3, 3), min_size=1, max_size=4))
    terms, groups = [], [0]
    for at in offsets:
        alone = st.tuples(column, st.just(at), st.just(-1), st.just(0))
        compared = st.tuples(column, st.just(at), column, st.just(at))
        terms += draw(st.lists(st.lists(alone | compared, max_size=2), max_size=4))
        groups.append(len(terms))
    some = draw(st.lists(seeds, min_size=len(terms), max_size=len(terms)))
    templates = Templates(some, terms, n_lexical, draw(st.integers(0, 1)))
    line = st.lists(keys, min_size=n_lexical, max_size=n_lexical)
    lexical = uints(draw(st.lists(line, min_size=1, max_size=4)))
    ids = ints(draw(st.lists(st.integers(0, len(lexical) - 1), max_size=7)))
    width = 4 * draw(st.integers(1, 2))
    table, weights, base = learnt(templates, lexical, ids, width, draw(st.integers(0, 1000)))
    base[draw(st.integers(1, width)) :] = -INF
    return templates, ints(groups), ints(offsets), table, weights, base, lexical, ids


@quick
@given(models())
def test_word_scores_equal_row_scores_bit_for_bit(model):
    templates, groups, offsets, *rest = model
    want = by_rows(templates, groups, *rest)
    got = by_words(templates, groups, offsets, *rest)
    assert np.array_equal(bits(got), bits(want))


def test_word_scores_equal_row_scores_on_a_long_text():
    rng = np.random.default_rng(3)
    terms, groups, offsets = [], [0], ints([-2, -1, 0, 1, 2])
    for at in offsets.tolist():
        terms += [[(column, at, -1, 0)] for column in range(6)]
        terms += [[(0, at, -1, 0), (3, at, -1, 0)], [(1, at, 2, at)]]
        groups.append(len(terms))
    templates = Templates(range(1, len(terms) + 1), terms, 6, 0)
    lexical = rng.integers(1, 30, size=(400, 6), dtype=np.uint64)
    ids = rng.integers(0, 400, size=3000, dtype=np.int32)
    table, weights, base = learnt(templates, lexical, ids, 12, 0)
    want = by_rows(templates, ints(groups), table, weights, base, lexical, ids)
    got = by_words(templates, ints(groups), offsets, table, weights, base, lexical, ids)
    assert np.array_equal(bits(got), bits(want))
    # With these weights the order of additions shows, so that the equality above says something.
    flat = by_rows(templates, ints([0, len(terms)]), table, weights, base, lexical, ids)
    assert not np.array_equal(bits(flat), bits(want))


def test_only_the_words_asked_for_are_filled():
    templates = Templates(SEEDS, TERMS, 2, 0)
    table, weights, _ = learnt(templates, LEXICAL, ints([0, 1, 2]), 4, 0)
    everything, some = np.full((2, 5, 2, 4), 7, dtype=np.float32)
    fill_words(templates, GROUPS, OFFSETS, table, weights, LEXICAL, ints([0, 1, 2]), everything)
    fill_words(templates, GROUPS, OFFSETS, table, weights, LEXICAL, ints([2, 0, 2]), some)
    assert np.array_equal(some[[0, 2]], everything[[0, 2]])
    assert np.all(some[[1, 3, 4]] == 7)
    assert np.all(everything[3:] == 7)
    fill_words(templates, GROUPS, OFFSETS, table, weights, LEXICAL, ints([]), some)
    assert np.all(some[[1, 3, 4]] == 7)


def test_words_of_an_empty_table_score_nothing():
    templates = Templates(SEEDS, TERMS, 2, 0)
    scores, outside = np.full((3, 2, 4), 7, np.float32), np.full((2, 2, 4), 7, np.float32)
    fill_words(
        templates, GROUPS, OFFSETS, KeyTable(), zeros(0, 4), LEXICAL, ints([0, 1, 2]), scores
    )
    fill_outside(templates, GROUPS, OFFSETS, KeyTable(), zeros(0, 4), outside)
    assert np.all(scores == 0)
    assert np.all(outside == 0)


def test_outside_has_one_vector_per_distance_and_side():
    templates = Templates([1, 1], [[(0, -2, -1, 0)], [(0, 2, -1, 0)]], 1, 0)
    groups, offsets, lexical = ints([0, 1, 2]), ints([-2, 2]), uints([[5]])
    found = templates.keys(ints([0]), lexical, np.zeros((1, 0), dtype=np.uint64))
    # In a sequence of one word, two before it is distance 2 and two after it is distance 2.
    table = KeyTable(found[0])
    outside = np.full((2, 3, 4), 7, dtype=np.float32)
    fill_outside(templates, groups, offsets, table, floats([[1] * 4, [2] * 4]), outside)
    assert outside[:, :, 0].tolist() == [[0, 1, 0], [0, 2, 0]]


def test_lengths():
    base = floats([1, 2, 3, 4])
    scores, outside = np.ones((1, 2, 4), np.float32), np.full((2, 1, 4), 10, np.float32)
    none = zeros(0, 4)
    score_words(ints([]), OFFSETS, scores, outside, base, none)
    # One word: both groups look outside of the sequence.
    one = zeros(1, 4)
    score_words(ints([0]), OFFSETS, scores, outside, base, one)
    assert one.tolist() == [[21, 22, 23, 24]]
    two = zeros(2, 4)
    score_words(ints([0, 0]), OFFSETS, scores, outside, base, two)
    assert two.tolist() == [[12, 13, 14, 15]] * 2


def test_no_groups_leave_the_base():
    templates = Templates([], [], 1, 0)
    arguments = (ints([0]), ints([]), KeyTable(), zeros(0, 4), floats([1, 2, 3, 4]), uints([[5]]))
    assert by_words(templates, *arguments, ints([0, 0])).tolist() == [[1, 2, 3, 4]] * 2


def test_groups_may_leave_out_the_last_templates():
    # What looks at more than one word is scored elsewhere.
    templates = Templates(SEEDS, [*TERMS[:2], [(0, 1, -1, 0), (0, 0, -1, 0)]], 2, 0)
    fill_words(
        templates,
        ints([0, 2]),
        ints([1]),
        KeyTable(),
        zeros(0, 4),
        LEXICAL,
        ints([0]),
        zeros(3, 1, 4),
    )


# --- What is refused ---------------------------------------------------------------------------


@pytest.fixture(params=["words", "outside"])
def fill(request):
    """fill_words or fill_outside, with arguments that fit unless the test gives others."""

    def call(
        templates=None,
        groups=GROUPS,
        offsets=OFFSETS,
        table=None,
        weights=None,
        n_groups=2,
        width=4,
    ):
        templates = templates or Templates(SEEDS, TERMS, 2, 1)
        weights = zeros(0, width) if weights is None else weights
        common = (templates, groups, offsets, table or KeyTable(), weights)
        if request.param == "words":
            fill_words(*common, LEXICAL, ints([0]), zeros(3, n_groups, width))
        else:
            fill_outside(*common, zeros(n_groups, 2, width))

    return call


def test_fitting_arguments_are_accepted(fill):
    fill()


@pytest.mark.parametrize(
    "groups", [[], [0, 3], [1, 2, 3], [0, 2, 1], [0, 4, 4], [0, -1, 3], [0, 2, 4]]
)
def test_groups_that_do_not_cut_the_templates(fill, groups):
    with pytest.raises(ValueError, match="NL612.* 3 columns"):
        fill(groups=ints(groups))


def test_groups_offsets_and_scores_of_different_number(fill):
    with pytest.raises(ValueError, match="NL612"):
        fill(offsets=ints([1, -1, 0]))
    with pytest.raises(ValueError, match="NL612"):
        fill(n_groups=3)
    with pytest.raises(ValueError, match="NL612"):
        fill(n_groups=1)


def test_weights_that_do_not_fit(fill):
    with pytest.raises(ValueError, match="NL611"):
        fill(weights=zeros(0, 8))
    with pytest.raises(ValueError, match="NL611"):
        fill(width=6)
    with pytest.raises(ValueError, match="NL611"):
        fill(table=KeyTable(uints([1, 2])), weights=zeros(1, 4))


@pytest.mark.parametrize(
    "term",
    [
        (0, 0, -1, 0),  # another word
        (2, -1, -1, 0),  # not a word's attribute
        (0, -1, 2, -1),
        (0, -1, 1, 0),  # compared with another word
    ],
)
def test_templates_that_look_elsewhere(fill, term):
    with pytest.raises(ValueError, match="NL614.*Group 1 has offset -1"):
        fill(templates_with(term))


def test_offset_of_another_group(fill):
    with pytest.raises(ValueError, match="NL614.*Group 0 has offset -1"):
        fill(offsets=ints([-1, 1]))


@pytest.mark.parametrize(
    ("lexical", "out"), [((3, 2), (2, 2, 4)), ((3, 1), (3, 2, 4)), ((3, 3), (3, 2, 4))]
)
def test_words_that_do_not_fit(lexical, out):
    templates = Templates(SEEDS, TERMS, 2, 0)
    lexical = np.ones(lexical, dtype=np.uint64)
    with pytest.raises(ValueError, match="NL613"):
        fill_words(
            templates, GROUPS, OFFSETS, KeyTable(), zeros(0, 4), lexical, ints([0]), zeros(*out)
        )


@pytest.mark.parametrize("word", [-1, 3, 2**31 - 1])
def test_unknown_word(word):
    templates = Templates(SEEDS, TERMS, 2, 0)
    message = f"NL609.*Token 1 .* {word}, .* 3 words"
    with pytest.raises(ValueError, match=message):
        fill_words(
            templates,
            GROUPS,
            OFFSETS,
            KeyTable(),
            zeros(0, 4),
            LEXICAL,
            ints([0, word]),
            zeros(3, 2, 4),
        )
    with pytest.raises(ValueError, match=message):
        score_words(ints([0, word]), OFFSETS, zeros(3, 2, 4), zeros(2, 1, 4), zeros(4), zeros(2, 4))


@pytest.mark.parametrize(("base", "out"), [(4, (1, 4)), (4, (3, 4)), (4, (2, 8)), (6, (2, 6))])
def test_output_that_does_not_fit(base, out):
    with pytest.raises(ValueError, match="NL611.* 2 tokens"):
        score_words(
            ints([0, 0]), OFFSETS, zeros(1, 2, base), zeros(2, 1, base), zeros(base), zeros(*out)
        )


@pytest.mark.parametrize(
    ("scores", "outside"),
    [
        ((1, 1, 4), (2, 1, 4)),
        ((1, 3, 4), (2, 1, 4)),
        ((1, 2, 8), (2, 1, 4)),
        ((1, 2, 4), (1, 1, 4)),
        ((1, 2, 4), (2, 1, 8)),
    ],
)
def test_kept_scores_that_do_not_fit(scores, outside):
    with pytest.raises(ValueError, match="NL613"):
        score_words(ints([0]), OFFSETS, zeros(*scores), zeros(*outside), zeros(4), zeros(1, 4))


@pytest.mark.parametrize("offset", [-2, 2, 2**31 - 1, -(2**31)])
def test_offset_beyond_the_distances_kept(offset):
    with pytest.raises(ValueError, match=f"NL614.*Group 1 has offset {offset}"):
        score_words(
            ints([0]), ints([1, offset]), zeros(1, 2, 4), zeros(2, 1, 4), zeros(4), zeros(1, 4)
        )
