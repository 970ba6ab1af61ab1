from collections import Counter, defaultdict
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from spacy_nonlocal.codecs import BEGINS, INSIDE, OUTSIDE, Codec, SpanCodec
from spacy_nonlocal.kernels.consistency import FAMILIES, KEYS, consistency

from .oracles import ints, quick, uints

ALL = (1 << len(FAMILIES)) - 1
CLASSES = ["X", "Y", "Z"]
MAX_PHRASE = 16
NONE = 2  # what comes after two classes
BIO = SpanCodec(CLASSES[:2])
OUT, B_X, I_X, B_Y, I_Y = range(5)  # its labels


class Text(NamedTuple):
    words: np.ndarray  # uint64[T]
    connectives: np.ndarray  # uint8[T]
    codec: Codec
    labellings: list[np.ndarray]  # int32[T] each; there is at least one


# --- The oracle --------------------------------------------------------------------------------


def spans_of(labels, codec):
    """(start, end, class), where a span begins with a label that says so, and where the class is another."""
    spans, before = [], -1
    for t, label in enumerate(labels.tolist()):
        kind = int(codec.kinds[label])
        if kind >= 0 and (codec.begins[label] or kind != before):
            spans.append((t, t + 1, kind))
        elif kind >= 0:
            spans[-1] = (spans[-1][0], t + 1, kind)
        before = kind
    return spans


def what_is(start, end, owner):
    """What a stretch is: ("n", class), ("in", class), ("none", None), or ("crossed", None)."""
    owners = set(owner[start:end])
    if owners == {None}:
        return "none", None
    if len(owners) > 1:
        return "crossed", None
    (span,) = owners
    return "n" if span[:2] == (start, end) else "in", span[2]


def most(counts, C, none=0):
    """The class that has most, C if none has, C + 1 for a tie."""
    numbers = [*(counts[a] for a in range(C)), none]
    if not any(numbers):
        return C
    best = [a for a in range(C + 1) if numbers[a] == max(numbers)]
    return best[0] if len(best) == 1 else C + 1


def features_of_phrase(n, inside, none, first, length, key, C, pairs):
    """(family, key, a, b): value, for one phrase. None of the families is about phrases that are no span, but TOKEN."""

    def together(one, other):
        return one * other if pairs else min(one, other)

    found = Counter()
    for a, b in combinations_with_replacement(range(C), 2):
        alike = n[a] * (n[a] - 1) / 2 if pairs else max(n[a] - 1, 0)
        found["same", key, a, b] = alike if a == b else together(n[a], n[b])
    for a in range(C):
        found["none", key, a, C] = together(n[a], none)
        for b in range(C):
            found["part", key, a, b] = together(inside[a], n[b])
        found["majority", key, a, most(n, C)] = n[a]
        if length == 1:
            found["token", 0, a, most(n + inside, C, none)] = n[a] + inside[a]
        if inside.total():
            found["super", key, a, most(inside, C)] = n[a]
        # A first place that is no span, but crossed or a part of one, is nothing a mention could agree with.
        m = first[1] if first[0] == "n" else C
        found["first", key, m, a] = n[a] - (m == a)
    return found


def list_features(spans, connectives):
    """Neighbours with one or two connectives between them; two count as the last one."""
    found = Counter()
    starts = {start: kind for start, _, kind in spans}
    marked = {t for start, end, _ in spans for t in range(start, end)}
    joints = {t for t in np.flatnonzero(connectives).tolist() if t not in marked}
    for _, end, kind in spans:
        if end in joints:
            after = end + 2 if end + 1 in joints else end + 1
            if after in starts:
                found["list", int(connectives[after - 1]), kind, starts[after]] += 1
    return found


def features(text, labels, *, pairs, by_length):
    """All features of one labelling."""
    T, C = len(text.words), len(text.codec.classes)
    spans, words = spans_of(labels, text.codec), text.words.tolist()
    owner = [None] * T
    for span in spans:
        owner[span[0] : span[1]] = [span] * (span[1] - span[0])
    phrases = {tuple(words[start:end]) for start, end, _ in spans if end - start <= MAX_PHRASE}
    phrases |= {(words[t],) for t in range(T) if owner[t]}
    places = defaultdict(list)
    for length in {len(phrase) for phrase in phrases}:
        for t in range(T - length + 1):
            if (phrase := tuple(words[t : t + length])) in phrases:
                places[phrase].append(what_is(t, t + length, owner))
    found = list_features(spans, text.connectives)
    for phrase, kinds in places.items():
        n = Counter(kind[1] for kind in kinds if kind[0] == "n")
        inside = Counter(kind[1] for kind in kinds if kind[0] == "in")
        key = min(len(phrase), 3) if by_length else 0
        counts = (n, inside, kinds.count(("none", None)), kinds[0])
        found.update(features_of_phrase(*counts, len(phrase), key, C, pairs))
    return found


# --- The kernel --------------------------------------------------------------------------------


def arguments(text, reference):
    changed = [np.flatnonzero(labels != reference) for labels in text.labellings]
    changes = [labels[at] for labels, at in zip(text.labellings, changed, strict=True)]
    first = np.cumsum([0, *map(len, changed)], dtype=np.int64)
    kinds, begins = text.codec.kinds, text.codec.begins
    positions, labels = (np.concatenate(each).astype(np.int32) for each in (changed, changes))
    counts = (kinds, begins, len(text.codec.classes))
    return [text.words, text.connectives, reference, first, positions, labels, *counts]


def decode(codes, values, C):
    """{(family, key, a, b): value}."""
    shape = (len(FAMILIES), KEYS, C + 2, C + 2)
    columns = (column.tolist() for column in np.unravel_index(codes, shape))
    names = [(FAMILIES[family], *rest) for family, *rest in zip(*columns, strict=True)]
    assert len(set(names)) == len(names)
    return dict(zip(names, values.tolist(), strict=True))


def differences(text, reference, *, families=ALL, pairs=False, by_length=False):
    """What each labelling has more than the reference."""
    chosen = {"families": families, "pairs": pairs, "by_length": by_length}
    first, codes, values = consistency(*arguments(text, reference), **chosen)
    assert (first.dtype, codes.dtype, values.dtype) == (np.int64, np.int32, np.float64)
    assert (first[0], len(first)) == (0, len(text.labellings) + 1)
    assert first[-1] == len(codes) == len(values)
    bounds = list(zip(first[:-1], first[1:], strict=True))
    C = len(text.codec.classes)
    return [decode(codes[start:end], values[start:end], C) for start, end in bounds]


def less(one, other):
    """one - other, without zeros."""
    every = {name: one.get(name, 0) - other.get(name, 0) for name in {*one, *other}}
    return {name: value for name, value in every.items() if value}


# --- Random texts ------------------------------------------------------------------------------


def legal_labels(codec, kinds, breaks):
    """Spans of these classes: one ends where another class comes, and before each break."""
    if not isinstance(codec, SpanCodec):
        return ints(kinds)
    before = np.append(-1, kinds)[: len(kinds)]
    iob = np.where((kinds != before) | breaks, BEGINS, INSIDE)
    return codec.encode(np.where(kinds < 0, OUTSIDE, iob), kinds)


@st.composite
def texts(draw, *, schemes=("BIO", "BILUO", "IO", None)):
    """Few words, so that phrases repeat and overlap; labellings are new, or the first with another part."""
    T = draw(st.integers(0, 14) | st.integers(8, 14))
    C, scheme = draw(st.integers(1, 3)), draw(st.sampled_from(schemes))
    codec = SpanCodec(CLASSES[:C], scheme) if scheme else Codec(CLASSES[:C])
    words = draw(hnp.arrays(np.uint64, T, elements=st.integers(0, 2)))
    connectives = draw(hnp.arrays(np.uint8, T, elements=st.sampled_from([0, 0, 0, 1, 2])))
    classes = hnp.arrays(np.int64, T, elements=st.integers(-1 if scheme else 0, C - 1))
    kinds, breaks = draw(classes), draw(hnp.arrays(bool, T))
    if scheme and draw(st.booleans()):
        # Otherwise "A, and B" would hardly come up.
        kinds[connectives > 0] = -1
    labellings = [legal_labels(codec, kinds, breaks)]
    for _ in range(draw(st.integers(1, 3))):
        new, start, end = draw(classes), draw(st.integers(0, T)), draw(st.integers(0, T))
        inside = (np.arange(T) >= start) & ((np.arange(T) < end) | (end < start))
        labellings.append(legal_labels(codec, np.where(inside, new, kinds), breaks))
    return Text(words, connectives, codec, labellings)


@st.composite
def options(draw):
    one = st.sampled_from([1 << i for i in range(len(FAMILIES))])
    families = draw(one) if draw(st.booleans()) else ALL
    return {"families": families, "pairs": draw(st.booleans()), "by_length": draw(st.booleans())}


def random_text(rng, T, n_words):
    """The same without hypothesis, which does not care for long ones."""
    # Words as spaCy has them: any 64 bits.
    words = rng.integers(0, 2**64, size=n_words, dtype=np.uint64)[rng.integers(0, n_words, T)]
    connectives = rng.choice([0, 0, 0, 1, 2], size=T).astype(np.uint8)
    codec = SpanCodec(CLASSES[:2], rng.choice(["BIO", "BILUO", "IO"]))
    kinds, breaks = np.where(rng.random(T) < 0.4, -1, rng.integers(0, 2, T)), rng.random(T) < 0.3
    labellings = []
    for share in (0.0, 2 / T, 0.5):
        new = np.where(rng.random(T) < share, rng.integers(-1, 2, T), kinds)
        labellings.append(legal_labels(codec, new, breaks))
    return Text(words, connectives, codec, labellings)


def agree_with_the_oracle(text, *, families=ALL, pairs, by_length):
    on = {name for i, name in enumerate(FAMILIES) if families >> i & 1}
    want = []
    for labels in text.labellings:
        found = features(text, labels, pairs=pairs, by_length=by_length)
        want.append({name: value for name, value in found.items() if name[0] in on})
    # Each labelling is the reference once: differences between two of them are always the same.
    for reference, its_features in zip(text.labellings, want, strict=True):
        got = differences(text, reference, families=families, pairs=pairs, by_length=by_length)
        assert got == [less(each, its_features) for each in want]


@settings(quick, max_examples=800)
@given(texts(), options())
def test_features_of_small_texts(text, chosen):
    agree_with_the_oracle(text, **chosen)


@pytest.mark.parametrize(("times", "T", "n_words"), [(300, 40, 3), (30, 200, 12), (2, 3000, 40)])
def test_features_of_longer_texts(times, T, n_words):
    rng = np.random.default_rng(T)
    for i in range(times):
        agree_with_the_oracle(random_text(rng, T, n_words), pairs=i % 2 > 0, by_length=i % 3 > 0)


@quick
@given(texts())
def test_spans_are_those_of_the_codec(text):
    # If the oracle took others for spans, it would be about something else.
    for labels in text.labellings:
        spans = [(start, end, CLASSES[kind]) for start, end, kind in spans_of(labels, text.codec)]
        assert spans == text.codec.mentions(labels)


@quick
@given(texts(), options())
def test_labelling_that_is_the_reference_has_nothing(text, chosen):
    reference = text.labellings[-1]
    same = text._replace(labellings=[reference, reference])
    assert differences(same, reference, **chosen) == [{}, {}]


# --- By hand -----------------------------------------------------------------------------------


def text_of(words, *labellings, connectives=None):
    T = len(words)
    marks = np.zeros(T, dtype=np.uint8) if connectives is None else np.array(connectives, np.uint8)
    return Text(uints(words), marks, BIO, [ints(labels) for labels in labellings])


def features_by_hand(words, labels, **chosen):
    """Those of one labelling: without spans, there are none."""
    text = text_of(words, labels, connectives=chosen.pop("connectives", None))
    return differences(text, np.zeros(len(words), dtype=np.int32), **chosen)[0]


def only(family):
    return {"families": 1 << FAMILIES.index(family)}


def test_empty_text():
    assert differences(text_of([], [], []), ints([])) == [{}, {}]


def test_no_labellings():
    text = text_of([1, 1], [B_X, OUT])
    inputs = arguments(text, text.labellings[0])
    inputs[3:6] = offsets([0]), ints([]), ints([])
    found = consistency(*inputs, families=ALL, pairs=False, by_length=False)
    assert [each.tolist() for each in found] == [[0], [], []]


def test_two_connectives_in_a_row_count_as_the_last():
    words, labels = [1, 8, 9, 2], [B_X, OUT, OUT, B_Y]
    assert features_by_hand(words, labels, connectives=[0, 1, 2, 0], **only("list")) == {
        ("list", 2, 0, 1): 1
    }
    # The first word between them is none, or the second; or there are three.
    for connectives in ([0, 0, 2, 0], [0, 1, 0, 0]):
        assert not features_by_hand(words, labels, connectives=connectives, **only("list"))
    three = ([1, 8, 8, 8, 2], [B_X, OUT, OUT, OUT, B_Y])
    assert not features_by_hand(*three, connectives=[0, 1, 1, 1, 0], **only("list"))


def test_connective_in_a_span_joins_nothing():
    labels = [B_X, B_X, B_Y]
    assert not features_by_hand([1, 8, 2], labels, connectives=[0, 1, 0], **only("list"))
    # But a span may begin with one.
    assert features_by_hand(
        [1, 8, 8, 2], [B_X, OUT, B_Y, I_Y], connectives=[0, 1, 2, 0], **only("list")
    ) == {("list", 1, 0, 1): 1}


def test_phrases_that_are_too_long_have_only_words():
    for length, twice in ((MAX_PHRASE, 1), (MAX_PHRASE + 1, 0)):
        words = [*range(length)] * 2
        labels = [B_X, *[I_X] * (length - 1)] * 2
        found = features_by_hand(words, labels)
        assert found["token", 0, 0, 0] == 2 * length
        assert found.get(("same", 0, 0, 0), 0) == twice
        assert {name[0] for name in found} == (
            {"same", "majority", "first", "token"} if twice else {"token"}
        )


def test_part_of_a_phrase_that_is_too_long_is_a_part():
    words = [*range(MAX_PHRASE + 4), 50, 0]
    labels = [B_X, *[I_X] * (MAX_PHRASE + 3), OUT, B_Y]
    found = features_by_hand(words, labels)
    assert found["part", 0, 0, 1] == 1
    assert found["super", 0, 1, 0] == 1


def test_name_that_comes_very_often():
    n, name, nothing = 20_000, [B_X, I_X], [OUT, OUT]
    rest = [OUT, OUT, OUT]
    every = (name + rest) * n
    labellings = [
        every[:-5] + nothing + rest,  # the last one is none
        [B_Y, I_Y] + every[2:],  # the first one is another
        ([B_Y, I_Y] + rest) * n,
        (nothing + rest) * n,
    ]
    text = text_of([1, 2, 3, 4, 5] * n, *labellings)
    last, first, other, none = differences(text, ints(every), pairs=True)
    assert last == {
        ("same", 0, 0, 0): -(n - 1),
        ("none", 0, 0, NONE): n - 1,
        ("majority", 0, 0, 0): -1,
        ("first", 0, 0, 0): -1,
        ("token", 0, 0, 0): -2,
    }
    assert first == {
        ("same", 0, 0, 0): -(n - 1),
        ("same", 0, 0, 1): n - 1,
        ("majority", 0, 0, 0): -1,
        ("majority", 0, 1, 0): 1,
        ("first", 0, 0, 0): -(n - 1),
        ("first", 0, 1, 0): n - 1,
        ("token", 0, 0, 0): -2,
        ("token", 0, 1, 0): 2,
    }
    everything = {
        ("same", 0, 0, 0): n * (n - 1) / 2,
        ("majority", 0, 0, 0): n,
        ("first", 0, 0, 0): n - 1,
        ("token", 0, 0, 0): 2 * n,
    }
    assert none == less({}, everything)
    assert other == none | {(*name, 1, 1): value for (*name, _, _), value in everything.items()}


# --- What does not fit -------------------------------------------------------------------------

# "1 2 1", where the first or the last word is a name; or the last one, of another class.
FITS = text_of([1, 2, 1], [OUT, OUT, B_X], [B_X, OUT, B_Y])
REFERENCE = ints([B_X, OUT, OUT])
NAMES = ("words", "connectives", "reference", "first", "positions", "labels", "kind", "begins")


def offsets(values):
    return np.array(values, dtype=np.int64)


def octets(values):
    return np.array(values, dtype=np.uint8)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("reference", ints([0, 0]), r"NL608.*\(2, 3\) labels .* 3 tokens"),
        ("connectives", octets([0] * 4), r"NL608.*\(3, 4\) labels .* 3 tokens"),
        ("words", uints([]), r"NL608.*\(3, 3\) labels .* 0 tokens"),
        ("reference", ints([0, 5, 0]), "NL617.*Token 1 has label number 5, .* only 5"),
        ("reference", ints([0, 0, -1]), "NL617.*Token 2 has label number -1"),
        ("labels", ints([0, 1, 5]), "NL617.*Token 2 has label number 5"),
        ("labels", ints([-1, 1, 3]), "NL617.*Token 0 has label number -1"),
        ("labels", ints([0, 1]), "NL627.* below 3"),
        ("labels", ints([]), "NL627"),
        ("positions", ints([0, 2]), "NL627"),
        ("positions", ints([0, 3, 2]), "NL627"),
        ("positions", ints([-1, 2, 2]), "NL627"),
        ("positions", ints([2, 2, 2]), "NL627"),
        ("positions", ints([2, 0, 2]), "NL627"),
        ("first", offsets([1, 2, 3]), "NL627"),
        ("first", offsets([0, 2, 2]), "NL627"),
        ("first", offsets([0, 2, 4]), "NL627"),
        ("first", offsets([0, 3, 2, 3]), "NL627"),
        ("first", offsets([0, 2**40, 3]), "NL627"),
        ("first", offsets([0, -1, 3]), "NL627"),
        ("begins", octets([0, 1]), "NL628.* 5 labels, 2 classes"),
        ("begins", octets([]), "NL628"),
        ("kind", ints([-1, 0, 0, 1, 2]), "NL628"),
        ("kind", ints([-2, 0, 0, 1, 1]), "NL628"),
        ("connectives", octets([0, KEYS, 0]), f"NL628.* below {KEYS}"),
    ],
)
def test_what_does_not_fit_is_refused(name, value, message):
    inputs = arguments(FITS, REFERENCE)
    inputs[NAMES.index(name)] = value
    with pytest.raises(ValueError, match=message):
        consistency(*inputs, families=ALL, pairs=False, by_length=False)


def test_what_the_refused_ones_were_made_from_fits():
    first, second = differences(FITS, REFERENCE, **only("same"))
    assert (first, second) == ({}, {("same", 0, 0, 1): 1})
    with pytest.raises(ValueError, match="NL628.* 1 classes"):
        consistency(*arguments(FITS, REFERENCE)[:-1], 1, families=ALL, pairs=True, by_length=True)
