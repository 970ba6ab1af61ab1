"""Labels against a second, naive reading of the schemes: by strings, and by trying everything."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_nonlocal.codecs import BEGINS, INSIDE, OUTSIDE, SCHEMES, UNKNOWN, Codec, SpanCodec

CLASSES = ("A", "B")
# A sequence is a list of pieces: a class and a length for a span, "O" or "?" and 1 for a single token.
SPAN = st.tuples(st.sampled_from(CLASSES), st.integers(1, 3))
OUT = st.just(("O", 1))
GAP = st.just(("?", 1))
KNOWN = st.lists(SPAN | OUT, max_size=8)
PARTLY_KNOWN = st.lists(SPAN | OUT | GAP, max_size=5)
ALL_SCHEMES = pytest.mark.parametrize("scheme", list(SCHEMES))
WITH_ORDER = pytest.mark.parametrize("scheme", ["BIO", "BILUO"])


def as_arrays(pieces):
    """What the codec is given."""
    iob, kind = [], []
    for name, length in pieces:
        if name in CLASSES:
            iob += [BEGINS] + [INSIDE] * (length - 1)
            kind += [CLASSES.index(name)] * length
        else:
            iob.append(OUTSIDE if name == "O" else UNKNOWN)
            kind.append(-1)
    return np.array(iob, dtype=np.uint64), np.array(kind, dtype=np.int64)


def as_strings(pieces, scheme):
    """The labels as people write them; None for unknown."""
    out = []
    for name, length in pieces:
        if name == "O":
            out.append("O")
        elif name == "?":
            out.append(None)
        elif scheme == "IO":
            out += [f"I-{name}"] * length
        elif scheme == "BIO":
            out += [f"B-{name}"] + [f"I-{name}"] * (length - 1)
        else:
            middle = [f"I-{name}"] * (length - 2)
            out += [f"U-{name}"] if length == 1 else [f"B-{name}", *middle, f"L-{name}"]
    return out


def spans(pieces):
    """(start, end, class) of each span."""
    out, start = [], 0
    for name, length in pieces:
        if name in CLASSES:
            out.append((start, start + length, name))
        start += length
    return out


def merged(found):
    """Spans of one class that touch become one: IO cannot tell them apart."""
    out = []
    for start, end, name in found:
        if out and out[-1][1] == start and out[-1][2] == name:
            out[-1] = (out[-1][0], end, name)
        else:
            out.append((start, end, name))
    return out


def spans_of_arrays(iob, kind, classes=CLASSES):
    out = []
    for t, value in enumerate(iob.tolist()):
        if value == BEGINS:
            out.append((t, t + 1, classes[kind[t]]))
        elif value == INSIDE:
            start, _, name = out[-1]
            assert name == classes[kind[t]]
            out[-1] = (start, t + 1, name)
    return out


def pieces_of_length(n):
    """Every way to fill n tokens with spans and what is outside."""
    if n == 0:
        yield []
    for length in range(1, n + 1):
        for rest in pieces_of_length(n - length):
            for name in CLASSES:
                yield [(name, length), *rest]
            if length == 1:
                yield [("O", 1), *rest]


def is_legal(codec, labels):
    return (
        not labels
        or codec.start[labels[0]]
        and codec.end[labels[-1]]
        and all(codec.transitions[a, b] for a, b in zip(labels, labels[1:], strict=False))
    )


def numbers(codec, strings):
    return [-1 if label is None else codec.labels.index(label) for label in strings]


@ALL_SCHEMES
@settings(derandomize=True, deadline=None)
@given(pieces=PARTLY_KNOWN)
def test_encode_writes_what_people_write(scheme, pieces):
    codec = SpanCodec(CLASSES, scheme)
    labels = codec.encode(*as_arrays(pieces))
    assert labels.dtype == np.int32
    assert labels.tolist() == numbers(codec, as_strings(pieces, scheme))


@ALL_SCHEMES
@settings(derandomize=True, deadline=None)
@given(pieces=KNOWN)
def test_decode_is_the_inverse_of_encode(scheme, pieces):
    codec = SpanCodec(CLASSES, scheme)
    iob, kind = codec.decode(codec.encode(*as_arrays(pieces)))
    expected = merged(spans(pieces)) if scheme == "IO" else spans(pieces)
    assert spans_of_arrays(iob, kind) == expected
    assert (kind[iob == OUTSIDE] == -1).all()


@ALL_SCHEMES
@pytest.mark.parametrize("length", range(5))
def test_legal_sequences_are_exactly_those_that_spans_give(scheme, length):
    codec = SpanCodec(CLASSES, scheme)
    everything = product(range(len(codec.labels)), repeat=length)
    legal = {labels for labels in everything if is_legal(codec, labels)}
    encoded = {
        tuple(codec.encode(*as_arrays(pieces)).tolist()) for pieces in pieces_of_length(length)
    }
    assert legal == encoded


@ALL_SCHEMES
def test_legal_sequences_survive_decoding_and_encoding(scheme):
    codec = SpanCodec(CLASSES, scheme)
    for labels in product(range(len(codec.labels)), repeat=3):
        if is_legal(codec, labels):
            array = np.array(labels, dtype=np.int32)
            assert codec.encode(*codec.decode(array)).tolist() == list(labels)


def legal_sequences(codec, length):
    everything = product(range(len(codec.labels)), repeat=length)
    return [labels for labels in everything if is_legal(codec, labels)]


def spans_of_labels(codec, labels):
    """(start, end, class) of each span, read from the labels' names."""
    out = []
    for t, label in enumerate(labels):
        part, _, name = codec.labels[label].partition("-")
        if part in "IL" and out and out[-1][1:] == (t, name):
            out[-1] = (out[-1][0], t + 1, name)
        elif part != "O":
            out.append((t, t + 1, name))
    return out


@ALL_SCHEMES
@pytest.mark.parametrize("length", range(5))
def test_spans_of_a_labelling(scheme, length):
    codec = SpanCodec(CLASSES, scheme)
    for labels in legal_sequences(codec, length):
        found = codec.spans(np.array(labels, dtype=np.int32))
        assert found.dtype == np.int32
        assert found.shape == (len(spans_of_labels(codec, labels)), 4)
        expected = [(start, end) for start, end, _ in spans_of_labels(codec, labels)]
        assert list(map(tuple, found[:, :2].tolist())) == expected


@ALL_SCHEMES
@pytest.mark.parametrize("length", range(1, 5))
def test_spans_name_the_labels_that_would_make_them_longer(scheme, length):
    """Of all labellings that agree with a span's labels, those without the span have such a label beside it."""
    codec = SpanCodec(CLASSES, scheme)
    sequences = legal_sequences(codec, length)
    decoded = {labels: set(spans_of_labels(codec, labels)) for labels in sequences}
    checked = set()
    for labels in sequences:
        names = spans_of_labels(codec, labels)
        rows = codec.spans(np.array(labels, dtype=np.int32)).tolist()
        for span, (start, end, before, after) in zip(names, rows, strict=True):
            case = (start, end, labels[start:end])
            if case in checked:
                continue
            checked.add(case)
            for other in sequences:
                if other[start:end] != labels[start:end]:
                    continue
                longer = (start > 0 and other[start - 1] == before) or (
                    end < length and other[end] == after
                )
                assert longer == (span not in decoded[other])


@ALL_SCHEMES
def test_labellings_without_spans(scheme):
    for classes in (CLASSES, ()):
        codec = SpanCodec(classes, scheme)
        for length in (0, 1, 3):
            assert codec.spans(np.zeros(length, dtype=np.int32)).shape == (0, 4)


def completions(pieces):
    """Every way to know what is unknown, and leave the rest as it is."""
    runs, i = [], 0
    while i < len(pieces):
        j = i
        while j < len(pieces) and pieces[j][0] == "?":
            j += 1
        runs.append(list(pieces_of_length(j - i)) if j > i else [[pieces[i]]])
        i = max(j, i + 1)
    for choice in product(*runs):
        yield [piece for run in choice for piece in run]


@ALL_SCHEMES
@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    pieces=st.lists(st.tuples(st.sampled_from(CLASSES), st.integers(1, 2)) | OUT | GAP, max_size=4)
)
def test_allowed_leaves_the_labellings_that_agree_with_what_is_known(scheme, pieces):
    codec = SpanCodec(CLASSES, scheme)
    known = spans(pieces)
    if scheme == "IO" and merged(known) != known:
        return  # IO cannot represent what is known
    labels = codec.encode(*as_arrays(pieces))
    allowed = codec.allowed(labels)
    choices = [np.flatnonzero(row).tolist() for row in allowed]
    found = {path for path in product(*choices) if is_legal(codec, path)}
    expected = set()
    for complete in completions(pieces):
        decoded = merged(spans(complete)) if scheme == "IO" else spans(complete)
        if set(known) <= set(decoded):
            expected.add(tuple(codec.encode(*as_arrays(complete)).tolist()))
    assert found == expected


@ALL_SCHEMES
@settings(derandomize=True, deadline=None)
@given(pieces=PARTLY_KNOWN, cut=st.integers(1, 15))
def test_spans_across_a_boundary_are_found_whole(scheme, pieces, cut):
    codec = SpanCodec(CLASSES, scheme)
    labels = codec.encode(*as_arrays(pieces))
    boundaries = [cut] if cut < len(labels) else []
    # IO does not tell one span from two of the same class side by side.
    known = merged(spans(pieces)) if scheme == "IO" else spans(pieces)
    expected = [
        (first, after) for first, after, _ in known for b in boundaries if first < b < after
    ]
    assert codec.crossing(labels, boundaries) == expected


def test_a_span_across_two_boundaries_is_found_for_each():
    codec = SpanCodec(("A",), "BIO")
    labels = codec.encode(*as_arrays([("O", 1), ("A", 3)]))
    assert codec.crossing(labels, [2, 3]) == [(1, 4), (1, 4)]


def test_tags_cross_nothing():
    assert Codec(("A", "B")).crossing(np.zeros(4, dtype=np.int32), [1, 2]) == []


@ALL_SCHEMES
def test_codecs_take_empty_sequences(scheme):
    codec = SpanCodec(CLASSES, scheme)
    empty = codec.encode(*as_arrays([]))
    assert empty.shape == (0,)
    assert [len(array) for array in codec.decode(empty)] == [0, 0]
    assert codec.allowed(empty).shape == (0, len(codec.labels))
    assert codec.crossing(empty, []) == []


@ALL_SCHEMES
def test_no_classes_leave_only_outside(scheme):
    codec = SpanCodec((), scheme)
    assert codec.labels == ("O",)
    assert is_legal(codec, [0, 0])
    iob, _ = codec.decode(np.zeros(2, dtype=np.int32))
    assert iob.tolist() == [OUTSIDE, OUTSIDE]


def test_tags_may_follow_each_other_freely():
    codec = Codec(("DT", "NN", "VB"))
    assert codec.labels == ("DT", "NN", "VB")
    assert codec.transitions.all()
    assert codec.start.all()
    assert codec.end.all()
    allowed = codec.allowed(np.array([1, -1], dtype=np.int32))
    assert allowed.tolist() == [[False, True, False], [True, True, True]]


def test_label_names_of_each_scheme():
    assert SpanCodec(("X",), "BIO").labels == ("O", "B-X", "I-X")
    assert SpanCodec(("X",), "BILUO").labels == ("O", "B-X", "I-X", "L-X", "U-X")
    assert SpanCodec(("X",), "IO").labels == ("O", "I-X")


def test_unknown_scheme():
    with pytest.raises(ValueError, match=r"\[NL401\].*'BMES'.*BIO, BILUO, IO"):
        SpanCodec(CLASSES, "BMES")
