import itertools
import pickle
import signal
import threading
import time

import numpy as np
import pytest
import spacy
from spacy.strings import get_string_id
from spacy.tokens import Doc, Span

from spacy_nonlocal.candidates import Candidates
from spacy_nonlocal.codecs import Codec, SpanCodec
from spacy_nonlocal.features import user_features
from spacy_nonlocal.features.user_features import UserFeatures

VOCAB = spacy.blank("en").vocab
CODEC = SpanCodec(["LOC", "PER"])
B_LOC, I_LOC, B_PER, I_PER = 1, 2, 3, 4
WORDS = ["Ann", "Lee", "came", "to", "Rome", "with", "Bob"]
# Nothing; "Ann Lee" and "Rome".
LABELLINGS = [[0] * 7, [B_PER, I_PER, 0, 0, B_LOC, 0, 0]]
# What errors are to say about these.
FIRST = r"candidate 0 \(no spans\) of the document 'Ann Lee came to Rome with' …"
SECOND = r"candidate 1 \('Ann Lee' as PER, 'Rome' as LOC\) of the document 'Ann Lee came"

needs_alarms = pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="only Unix can interrupt a function"
)


def labels_and_lengths(doc, spans):
    """A dotted name leads here."""
    return [f"{span.label_}:{len(span)}" for span in spans]


NOT_CALLABLE = ["labels_and_lengths"]
DOTTED = f"{__name__}.labels_and_lengths"
NAME = "spacy-nonlocal-test.features"


def make_candidates(labellings):
    arrays = [np.array(labels, dtype=np.int32) for labels in labellings]
    nothing = np.zeros(0, dtype=np.int32)
    out = Candidates(arrays[0], np.zeros(1, dtype=np.int64), nothing, nothing, np.zeros(0))
    for labels in arrays:
        out = out.add(labels, 0.0)
    return out


def compare(block, labellings=LABELLINGS, codec=CODEC):
    return block.compare(Doc(VOCAB, words=WORDS), make_candidates(labellings), codec)


def found_by(block, **inputs):
    """{name: value} of each candidate."""
    differences = compare(block, **inputs)
    out = []
    for i in range(len(differences.first) - 1):
        keys, values = differences.of(i)
        out.append(dict(zip(block.names(keys), values.tolist(), strict=True)))
    return out


def registered(function):
    """Its name in spaCy's registry: always the same, so that one test's takes the place of another's."""
    spacy.registry.misc.register(NAME, func=function)
    return NAME


def refused(name, message, *, timeout=10.0, where=SECOND):
    """Whether asking raises, and the error says all that is needed; the function's name, too."""
    with pytest.raises(ValueError, match=rf"\[NL144\] .*{name} {message}.*{where}") as caught:
        compare(UserFeatures(name, timeout))
    return caught.value


# --- Functions ---------------------------------------------------------------------------------


def test_registered_name():
    name = registered(lambda doc, spans: [f"{len(doc)} words", f"{len(spans)} spans"])
    first, second = found_by(UserFeatures(name))
    assert first == {"7 words": 1, "0 spans": 1}
    assert second == {"7 words": 1, "2 spans": 1}


def test_dotted_name():
    assert found_by(UserFeatures(DOTTED)) == [{}, {"PER:2": 1, "LOC:1": 1}]


def test_registered_name_comes_first():
    name = f"{__name__}.make_candidates"
    spacy.registry.misc.register(name, func=labels_and_lengths)
    assert found_by(UserFeatures(name)) == [{}, {"PER:2": 1, "LOC:1": 1}]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("no_such_name", "Empty module name"),
        ("", "Empty module name"),
        ("no_such_package.features", "No module named 'no_such_package'"),
        ("spacy_nonlocal.no_such_module.features", "No module named"),
        (f"{__name__}.no_such_function", "has no attribute 'no_such_function'"),
        (f"{__name__}.NOT_CALLABLE", r"it is \['labels_and_lengths'\]"),
    ],
)
def test_name_of_no_function(name, why):
    with pytest.raises(ValueError, match=rf"\[NL145\] .*'{name}' cannot be found \(.*{why}"):
        UserFeatures(name)


def test_registered_thing_that_is_no_function():
    with pytest.raises(ValueError, match=r"\[NL145\] .*it is 7"):
        UserFeatures(registered(7))


@pytest.mark.parametrize("timeout", [0, -1, float("nan")])
def test_timeout_that_is_none(timeout):
    with pytest.raises(ValueError, match=rf"\[NL143\] .*labels_and_lengths.*is {timeout}"):
        UserFeatures(DOTTED, timeout)


def test_function_is_handed_document_and_spans():
    handed = []

    def remember(doc, spans):
        handed.append((doc, spans))
        return []

    differences = compare(UserFeatures(registered(remember)))
    (doc, first), (same_doc, second) = handed
    assert doc is same_doc
    assert [token.text for token in doc] == WORDS
    assert first == []
    assert all(isinstance(span, Span) and span.doc is doc for span in second)
    assert [(span.text, span.label_) for span in second] == [("Ann Lee", "PER"), ("Rome", "LOC")]
    assert differences.first.tolist() == [0, 0, 0]


def test_tags_are_spans_of_one_token():
    name = registered(lambda doc, spans: [f"{span.text}/{span.label_}" for span in spans])
    found = found_by(UserFeatures(name), labellings=[[0, 1, 0, 0, 0, 0, 1]], codec=Codec("NV"))
    tags = ["Ann/N", "Lee/V", "came/N", "to/N", "Rome/N", "with/N", "Bob/V"]
    assert found == [dict.fromkeys(tags, 1)]


# --- Strings -----------------------------------------------------------------------------------


def test_string_that_comes_twice_counts_twice():
    name = registered(lambda doc, spans: ["a", "b", "a", *("a" for _ in spans)])
    assert found_by(UserFeatures(name)) == [{"a": 2, "b": 1}, {"a": 4, "b": 1}]


@pytest.mark.parametrize("kind", [list, tuple, iter, dict.fromkeys, frozenset])
def test_anything_that_gives_strings_will_do(kind):
    name = registered(lambda doc, spans: kind(["a", "b"]))
    assert found_by(UserFeatures(name)) == [{"a": 1, "b": 1}] * 2


def test_generator():
    def generate(doc, spans):
        for span in spans:
            yield span.label_

    assert found_by(UserFeatures(registered(generate))) == [{}, {"PER": 1, "LOC": 1}]


def test_keys_are_hashes_of_strings():
    block = UserFeatures(DOTTED)
    differences = compare(block)
    assert (differences.keys.dtype, differences.values.dtype) == (np.uint64, np.float64)
    assert differences.keys.tolist() == [get_string_id("PER:2"), get_string_id("LOC:1")]
    assert block.names(np.array([1], dtype=np.uint64)) == [None]


def test_no_more_names_are_kept_than_there_is_room_for(monkeypatch):
    monkeypatch.setattr(user_features, "MAX_NAMES", 2)
    block = UserFeatures(registered(lambda doc, spans: ["a", "b", "c"]))
    differences = compare(block)
    assert block.names(differences.keys) == ["a", "b", None] * 2
    assert differences.keys[2] == get_string_id("c")


@pytest.mark.parametrize("wrong", [1, None, b"a", ["a"], ""])
def test_what_is_no_string(wrong):
    refused(registered(lambda doc, spans: ["a", wrong] if spans else []), "gave .* no string")


def test_first_candidate_is_named_too():
    refused(registered(lambda doc, spans: [1]), "gave 1, which is no string", where=FIRST)


def test_one_string_is_not_taken_for_its_letters():
    name = registered(lambda doc, spans: "letters" if spans else [])
    refused(name, "gave 'letters', which is one string")


def test_nothing_at_all():
    name = registered(lambda doc, spans: None if spans else [])
    error = refused(name, r"failed with TypeError\(.*NoneType")
    assert isinstance(error.__cause__, TypeError)


def test_strings_without_end(monkeypatch):
    monkeypatch.setattr(user_features, "MAX_STRINGS", 1000)
    name = registered(lambda doc, spans: itertools.repeat("a", 1001 if spans else 1000))
    refused(name, "gave more than 1,000 strings")
    name = registered(lambda doc, spans: map(str, itertools.count()) if spans else [])
    refused(name, "gave more than 1,000 strings")


# --- Failures ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("by zero"), ValueError("no"), StopIteration(), TimeoutError("own")]
)
def test_function_that_fails(error):
    def fail(doc, spans):
        if spans:
            raise error
        return []

    raised = refused(registered(fail), rf"failed with {type(error).__name__}\(")
    assert raised.__cause__ is error


def test_generator_that_fails_halfway():
    def fail(doc, spans):
        yield "a"
        raise KeyError(len(spans))

    refused(registered(fail), r"failed with KeyError\(0\)", where=FIRST)


def test_only_the_first_spans_are_shown():
    name = registered(lambda doc, spans: [0])
    with pytest.raises(ValueError, match=r"\('Ann' as N, .*'to' as N, …\) of") as caught:
        compare(UserFeatures(name), labellings=[[0] * 7], codec=Codec("N"))
    assert "Rome' as N" not in str(caught.value)


def test_users_who_interrupt_are_heard():
    def interrupt(doc, spans):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(UserFeatures(registered(interrupt)))


# --- Time --------------------------------------------------------------------------------------


@needs_alarms
def test_function_that_takes_too_long_is_interrupted():
    name = registered(lambda doc, spans: [time.sleep(60)] if spans else [])
    start = time.monotonic()
    error = refused(name, "took longer than 0.2 seconds", timeout=0.2)
    assert 0.2 <= time.monotonic() - start < 30
    assert error.__cause__ is None


@needs_alarms
def test_generator_that_takes_too_long_is_interrupted():
    def generate(doc, spans):
        yield "a"
        while spans:
            pass

    refused(registered(generate), "took longer than 0.2 seconds", timeout=0.2)


def test_time_is_for_each_candidate():
    name = registered(lambda doc, spans: [str(time.sleep(0.2))])
    assert len(found_by(UserFeatures(name, 0.5), labellings=LABELLINGS * 2)) == 4


def in_another_thread(function):
    """What it returns, or the exception it raises."""
    results = []

    def run():
        try:
            results.append(function())
        except Exception as error:
            results.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return results[0]


def test_in_another_thread_a_function_is_reported_after_it_ends():
    ended = []

    def sleep(doc, spans):
        time.sleep(0.3 if spans else 0)
        ended.append(len(spans))
        return []

    name = registered(sleep)
    error = in_another_thread(lambda: refused(name, "took longer than 0.2 seconds", timeout=0.2))
    assert isinstance(error, ValueError)
    assert "[NL144]" in str(error)
    assert ended == [0, 2]


def test_in_another_thread_features_are_the_same():
    block = UserFeatures(DOTTED)
    assert in_another_thread(lambda: found_by(block)) == found_by(block)


@pytest.fixture
def rings():
    """When an alarm of our own rang; it is off again when the test is over."""
    times = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: times.append(time.monotonic()))
    yield times
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@needs_alarms
def test_alarm_of_somebody_else_goes_on(rings):
    handler = signal.getsignal(signal.SIGALRM)
    signal.setitimer(signal.ITIMER_REAL, 500, 7)
    compare(UserFeatures(DOTTED))
    assert signal.getsignal(signal.SIGALRM) is handler
    left, interval = signal.getitimer(signal.ITIMER_REAL)
    assert 400 < left <= 500
    assert interval == 7
    assert rings == []


@needs_alarms
def test_alarm_of_somebody_else_rings_when_the_function_is_done(rings):
    ended = []

    def sleep(doc, spans):
        time.sleep(0.3)
        ended.append(time.monotonic())
        return []

    signal.setitimer(signal.ITIMER_REAL, 0.1)
    compare(UserFeatures(registered(sleep)), labellings=LABELLINGS[:1])
    time.sleep(0.05)
    assert len(rings) == 1
    assert rings[0] >= ended[0]


@needs_alarms
def test_no_alarm_is_left_behind():
    handler = signal.getsignal(signal.SIGALRM)
    name = registered(lambda doc, spans: [time.sleep(60)] if spans else [])
    refused(name, "took longer", timeout=0.1)
    compare(UserFeatures(DOTTED))
    assert signal.getsignal(signal.SIGALRM) is handler
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_pickle():
    for name in (DOTTED, registered(labels_and_lengths)):
        block = UserFeatures(name, 2.5)
        compare(block)
        restored = pickle.loads(pickle.dumps(block))  # noqa: S301 (our own)
        assert (restored.function, restored.timeout) == (name, 2.5)
        assert found_by(restored) == found_by(block)
